//! What templates may ask for: every value, flag and list, from the manifest.

use super::{attributes, shapes};
use crate::layout::{Arrangement, Layout};
use crate::manifest::{Lookup, Manifest, Mode, NamedClip, Space, TextureFile};
use crate::playback::AtEnd;
use crate::quantity::Quantity;
use crate::texel::{Range, TexelFormat};

/// Names and what stands for them.
pub(super) type Values = Vec<(&'static str, String)>;

/// All that is known of a bake.
pub(super) struct Facts {
    /// For the whole file.
    pub(super) values: Values,
    /// Whether lines are there.
    pub(super) flags: Vec<(&'static str, bool)>,
    /// Lines that are repeated.
    pub(super) lists: Vec<(&'static str, Vec<Values>)>,
    /// Lines and blocks that are repeated, with all that each copy may ask for.
    pub(super) items: Vec<(&'static str, Vec<Facts>)>,
}

impl Facts {
    /// `space` is that of the engine. `None` where no texture tells places.
    pub(super) fn new(manifest: &Manifest, space: Space) -> Option<Self> {
        let places = &manifest.textures[manifest.positions()?];
        let normals = manifest.texture(&Quantity::Normal);
        let normals = normals.map(|n| &manifest.textures[n]);
        let lookup = manifest.lookup.iter().map(lookup_values);
        let is_16_bit = |t: &TextureFile| t.spec.format == TexelFormat::Unorm16;
        let flags = vec![
            ("CAN_BLEND", manifest.can_blend),
            ("HAS_ENDS", manifest.has_ends),
            ("IS_OFFSET", places.spec.quantity == Quantity::Offset),
            ("IN_TWO", is_in_two(places)),
            ("HAS_NORMAL", normals.is_some()),
            ("NORMAL_IN_TWO", normals.is_some_and(is_in_two)),
            ("HAS_16_BIT_PNG", manifest.textures.iter().any(is_16_bit)),
            ("IS_REMESH", manifest.mode == Mode::Remesh),
            ("FITS_SPACE", manifest.space == space),
            // It has one set of texture coordinates, and squares of particles need two.
            ("HAS_OBJ", manifest.mode != Mode::Particles),
        ];
        let clips = manifest.clips.iter().enumerate().map(clip_values);
        let lists = vec![
            ("CLIP", clips.collect()),
            ("TEXTURE", lookup.chain(texture_list(manifest)).collect()),
        ];
        let values = [
            names(manifest, space),
            layout_values(manifest),
            range_values(places, normals),
        ];
        let values = [
            values.concat(),
            shapes::values(manifest),
            attributes::values(manifest),
        ];
        let mut facts = Self {
            values: values.concat(),
            flags: [flags, shapes::flags(manifest), attributes::flags(manifest)].concat(),
            lists,
            items: Vec::new(),
        };
        let items = attributes::items(manifest, space, &facts);
        facts.items.push(("ATTRIBUTE", items));
        Some(facts)
    }

    /// What a flag says; nothing where there is none of that name.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        self.flags.iter().find(|f| f.0 == name).map(|f| f.1)
    }

    /// What is repeated under a name; nothing where there is no such name.
    pub(super) fn items(&self, name: &str) -> Option<&[Self]> {
        let found = self.items.iter().find(|i| i.0 == name);
        found.map(|i| i.1.as_slice())
    }

    /// Whether a flag is set.
    pub(super) fn is_set(&self, name: &str) -> bool {
        self.flag(name) == Some(true)
    }
}

fn names(manifest: &Manifest, engine: Space) -> Values {
    vec![
        ("NAME", in_comment(&manifest.name)),
        ("NAME_IN_HTML", in_html(&manifest.name)),
        ("STEM_STRING", quoted(&file_stem(&manifest.name))),
        ("CARRIER", in_comment(&manifest.carrier)),
        ("UV_SET", manifest.uv_set.to_string()),
        ("SPACE", manifest.space.to_string()),
        ("ENGINE_SPACE", engine.to_string()),
        ("BOUNDS_LOW", manifest.bounds.0.map(float).join(", ")),
        ("BOUNDS_HIGH", manifest.bounds.1.map(float).join(", ")),
    ]
}

/// Both arrangements are one formula with other numbers: a frame is a step to the right and, every `ACROSS` frames, one down; a
/// vertex is a column and, every `COLUMNS` vertices, a step down.
fn layout_values(manifest: &Manifest) -> Values {
    let (layout, points) = (&manifest.layout, manifest.texture_layout());
    let [columns, across, frame_rows, line_rows] = steps(layout);
    let [
        point_columns,
        point_across,
        point_frame_rows,
        point_line_rows,
    ] = steps(points);
    let numbers = [
        ("VERTICES", layout.vertices),
        ("FRAMES", manifest.frame_count()),
        ("FRAME_STEP", manifest.frame_step()),
        ("WIDTH", layout.size[0]),
        ("HEIGHT", layout.size[1]),
        ("COLUMNS", columns),
        ("ACROSS", across),
        ("FRAME_ROWS", frame_rows),
        ("LINE_ROWS", line_rows),
        ("POINT_WIDTH", points.size[0]),
        ("POINT_HEIGHT", points.size[1]),
        ("POINT_COLUMNS", point_columns),
        ("POINT_ACROSS", point_across),
        ("POINT_FRAME_ROWS", point_frame_rows),
        ("POINT_LINE_ROWS", point_line_rows),
    ];
    let mut out: Values = numbers.map(|(name, n)| (name, n.to_string())).into();
    out.push(("SIZES", sizes(manifest)));
    out
}

/// Columns, frames side by side, rows of a frame, rows between two lines of vertices.
fn steps(layout: &Layout) -> [u32; 4] {
    match layout.arrangement {
        Arrangement::Blocks { block, across } => [block[0], across, block[1], 1],
        Arrangement::Columns { width } => [width, 1, 1, layout.frames],
    }
}

/// Width and height of the textures, in words.
fn sizes(manifest: &Manifest) -> String {
    let of = |layout: &Layout| format!("{} x {} texels", layout.size[0], layout.size[1]);
    match &manifest.lookup {
        None => of(&manifest.layout),
        Some(lookup) => format!(
            "{} (the lookup) and {} (the others)",
            of(&manifest.layout),
            of(&lookup.points)
        ),
    }
}

fn range_values(places: &TextureFile, normals: Option<&TextureFile>) -> Values {
    let raw = [Range::RAW; 3];
    let normals = normals.map_or(&raw[..], |n| &n.spec.ranges);
    let places = &places.spec.ranges;
    vec![
        ("PLACE_SCALE", floats(places, |r| r.scale)),
        ("PLACE_OFFSET", floats(places, |r| r.offset)),
        ("NORMAL_SCALE", floats(normals, |r| r.scale)),
        ("NORMAL_OFFSET", floats(normals, |r| r.offset)),
    ]
}

pub(super) fn floats(ranges: &[Range], number: impl Fn(&Range) -> f32) -> String {
    let literals: Vec<_> = ranges.iter().map(|r| float(number(r))).collect();
    literals.join(", ")
}

fn clip_values((index, clip): (usize, &NamedClip)) -> Values {
    let at_end = match clip.frames.at_end {
        AtEnd::Loop => 0,
        AtEnd::SeamlessLoop => 1,
        AtEnd::Clamp => 2,
    };
    vec![
        ("CLIP_INDEX", index.to_string()),
        ("CLIP_NAME", in_comment(&clip.name)),
        ("CLIP_FIRST", clip.frames.first.to_string()),
        ("CLIP_FRAMES", clip.frames.count.to_string()),
        ("CLIP_RATE", float(clip.frames.frames_per_second)),
        ("CLIP_AT_END", at_end.to_string()),
    ]
}

/// Of the lookup.
fn lookup_values(lookup: &Lookup) -> Values {
    vec![
        ("FILE", in_comment(&lookup.file)),
        ("HOLDS", "the lookup, which point a vertex shows".into()),
        ("FORMAT", "three channels of 8 bits, whole numbers".into()),
    ]
}

fn texture_list(manifest: &Manifest) -> Vec<Values> {
    let names = attributes::attribute_names(manifest);
    let named = manifest.textures.iter().zip(&names);
    let values = |(texture, name): (_, &Option<String>)| texture_values(texture, name.as_deref());
    named.flat_map(values).collect()
}

/// Of each file; `name` is what players call the texture where it is none of those that all have.
fn texture_values(texture: &TextureFile, name: Option<&str>) -> Vec<Values> {
    let spec = &texture.spec;
    let holds = match (&spec.quantity, name) {
        (Quantity::Position, _) => "positions".into(),
        (Quantity::Offset, _) => "offsets from the carrier".into(),
        (Quantity::Normal, _) => "normals".into(),
        (Quantity::Rotation, _) => "rotations".into(),
        (Quantity::Size, _) => "widths".into(),
        (other, Some(name)) => attributes::holds(other, name),
        (other, None) => in_comment(&format!("{other:?}, which this player does not read")),
    };
    let values = |(part, file): (usize, &String)| {
        let part = match (is_in_two(texture), part) {
            (false, _) => "",
            (true, 0) => "; the coarse part",
            (true, _) => "; the fine part, a hundredth",
        };
        vec![
            ("FILE", in_comment(file)),
            ("HOLDS", holds.clone()),
            ("FORMAT", format!("{}{part}", format_words(spec.format))),
        ]
    };
    texture.files.iter().enumerate().map(values).collect()
}

pub(super) fn is_in_two(texture: &TextureFile) -> bool {
    texture.spec.format == TexelFormat::TwoUnorm8
}

fn format_words(format: TexelFormat) -> &'static str {
    match format {
        TexelFormat::Unorm8 => "8 bits a channel, 0 to 1",
        TexelFormat::Unorm16 => "16 bits a channel, 0 to 1",
        TexelFormat::TwoUnorm8 => "two files of 8 bits a channel, 0 to 1",
        TexelFormat::Half => "16-bit floats",
        TexelFormat::Float => "32-bit floats",
    }
}

/// The shortest decimal that is this number to the bit, always with a point: `1.0e-7`, not `1e-7`, which some languages take for
/// something else.
pub(super) fn float(value: f32) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, power)) if !digits.contains('.') => format!("{digits}.0e{power}"),
        _ => text,
    }
}

/// For a comment up to the end of the line.
pub(super) fn in_comment(text: &str) -> String {
    let ends_line = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    // A backslash at the end would make the next line part of the comment.
    text.replace(|c| ends_line(c) || c == '\\', " ")
}

fn in_html(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// A string of JavaScript, also within a page.
fn quoted(text: &str) -> String {
    let escape = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | '.' | '_' | '-' => c.to_string(),
        _ => format!("\\u{{{:x}}}", u32::from(c)),
    };
    format!("'{}'", text.chars().map(escape).collect::<String>())
}

/// The name of a bake as the beginning of file names.
pub(super) fn file_stem(name: &str) -> String {
    let leads_away = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':');
    name.replace(leads_away, "_")
}
