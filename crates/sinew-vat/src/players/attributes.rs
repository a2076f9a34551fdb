//! What templates may ask for of textures beside places, normals, rotations and sizes: texture coordinates, colours, thickness, tangents,
//! velocities and attributes, which only bakes hold whose texels are vertices or particles.

use super::facts::{Facts, Values, floats, in_comment, is_in_two};
use super::shapes::{arguments, graph, parameters};
use crate::manifest::{Manifest, Mode, Space, TextureFile};
use crate::quantity::Quantity;
use std::collections::HashSet;

/// What players put behind a name for functions, textures and numbers of their own; without `_`, since languages join words in other ways.
const DERIVED: [&str; 10] = [
    "",
    "at",
    "in",
    "texture",
    "fine",
    "finetexture",
    "scale",
    "offset",
    "byuv",
    "graph",
];

/// Letters of an attribute's name that players keep.
const LONGEST: usize = 48;

/// The first binding of WGSL that no texture of places, normals, rotations and sizes has.
fn first_binding(manifest: &Manifest) -> usize {
    match manifest.lookup {
        None => 8,
        // That one is the lookup's.
        Some(_) => 10,
    }
}

/// Types of one to four numbers.
const HLSL: [&str; 4] = ["float", "float2", "float3", "float4"];

/// One texture that a player reads.
struct Attribute<'a> {
    texture: &'a TextureFile,
    name: String,
    index: usize,
}

/// What the players call the textures of a bake that are neither places nor normals: for each of [`Manifest::textures`] a name such as `color0`, `uv0`, `thickness`,
/// `tangent`, `velocity_wind` or `attribute_age`, `None` for those that have none.
///
/// Names are identifiers in every language of the players, and so are those that are made of them (`vat_color0_texture`, `VatColor0`): no two differ only in `_` and the size of letters. An attribute
/// keeps its ASCII letters and digits, the first 48; `_2`, `_3` and so on are put behind names that are taken. Pieces ([`Mode::Rigid`]) have none.
pub fn attribute_names(manifest: &Manifest) -> Vec<Option<String>> {
    let mut taken = HashSet::new();
    let textures = manifest.textures.iter();
    let name = |texture: &TextureFile| {
        let wanted = wanted(&texture.spec.quantity).filter(|_| manifest.mode != Mode::Rigid)?;
        Some(free(&wanted, &mut taken))
    };
    textures.map(name).collect()
}

fn wanted(quantity: &Quantity) -> Option<String> {
    match quantity {
        Quantity::Uv(set) => Some(format!("uv{set}")),
        Quantity::Color(set) => Some(format!("color{set}")),
        Quantity::Thickness => Some("thickness".into()),
        Quantity::Tangent => Some("tangent".into()),
        Quantity::Velocity(name) => Some(format!("velocity_{}", plain(name))),
        Quantity::Attribute(name) => Some(format!("attribute_{}", plain(name))),
        Quantity::Position
        | Quantity::Offset
        | Quantity::Normal
        | Quantity::Rotation
        | Quantity::Size => None,
    }
}

/// Words of ASCII letters and digits, one `_` between them: two are reserved in GLSL.
fn plain(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|w| !w.is_empty()).collect();
    let joined = words.join("_");
    let kept = joined.get(..LONGEST).unwrap_or(&joined);
    match kept.trim_end_matches('_') {
        "" => "unnamed".into(),
        kept => kept.into(),
    }
}

/// The wanted name, or the first one with a number behind it, of which nothing is taken.
fn free(wanted: &str, taken: &mut HashSet<String>) -> String {
    let candidates = (2_u32..).map(|n| format!("{wanted}_{n}"));
    let mut candidates = std::iter::once(wanted.to_owned()).chain(candidates);
    let keys = |name: &str| {
        let joined = name.replace('_', "").to_ascii_lowercase();
        DERIVED.map(|behind| format!("{joined}{behind}"))
    };
    let is_free = |name: &String| keys(name).iter().all(|k| !taken.contains(k));
    // There are more numbers than textures.
    let name = candidates.find(is_free).unwrap_or_default();
    taken.extend(keys(&name));
    name
}

fn attributes(manifest: &Manifest) -> Vec<Attribute<'_>> {
    let named = manifest.textures.iter().zip(attribute_names(manifest));
    let named = named.filter_map(|(texture, name)| Some((texture, name?)));
    let attribute = |(index, (texture, name))| Attribute {
        texture,
        name,
        index,
    };
    named.enumerate().map(attribute).collect()
}

/// For the header of a player: what a texture holds and what the player calls it.
pub(super) fn holds(quantity: &Quantity, name: &str) -> String {
    in_comment(&format!("{}: `{name}` below", words(quantity, None)))
}

fn words(quantity: &Quantity, space: Option<Space>) -> String {
    let v = match space {
        Some(Space::YUpLeftHanded) => ", v up as Unity has it",
        Some(_) => ", v down",
        None => "",
    };
    match quantity {
        Quantity::Uv(set) => format!("texture coordinates {set}{v}"),
        Quantity::Color(set) => format!("colours {set}, linear RGBA"),
        Quantity::Thickness => "thickness, the distance to the opposite side".into(),
        Quantity::Tangent => {
            "tangents, unit vectors, and the hand of the bitangent (1 or -1)".into()
        }
        Quantity::Velocity(name) => format!("velocities \"{name}\", a second"),
        Quantity::Attribute(name) => format!("attribute \"{name}\""),
        other => format!("{other:?}"),
    }
}

/// Whether lines are there, in the whole file.
pub(super) fn flags(manifest: &Manifest) -> Vec<(&'static str, bool)> {
    let all = attributes(manifest);
    let has = |quantity: Quantity| all.iter().any(|a| a.texture.spec.quantity == quantity);
    vec![
        ("HAS_ATTRIBUTES", !all.is_empty()),
        ("HAS_COLOR0", has(Quantity::Color(0))),
    ]
}

/// What finds texels, and what examples of WGSL and the function for Unity's shader graph add to what a vertex gives.
pub(super) fn values(manifest: &Manifest) -> Values {
    let call = |a: Attribute<'_>| format!(", vat_{}(vertex, at)", a.name);
    let calls = attributes(manifest).into_iter().map(call);
    let outputs = attributes(manifest)
        .into_iter()
        .map(|a| a.output_of_unity());
    // What finds a texel, and what functions of HLSL are given for that.
    let [wgsl, godot, hlsl, parameter, argument, input, graph] = match manifest.lookup {
        None => ["vat_texel", "texel_of", "VatTexel(", "", "", "", ""],
        Some(_) => [
            "vat_point_texel",
            "point_texel",
            "VatLookup(lookup, ",
            "Texture2D<float4> lookup, ",
            "lookup, ",
            "Lookup, ",
            "lookupTexture.tex, ",
        ],
    };
    vec![
        ("FIRST_BINDING", first_binding(manifest).to_string()),
        ("TEXEL_IN_WGSL", wgsl.into()),
        ("TEXEL_IN_GODOT", godot.into()),
        ("TEXEL_IN_HLSL", hlsl.into()),
        ("LOOKUP_PARAMETER", parameter.into()),
        ("LOOKUP_ARGUMENT", argument.into()),
        ("LOOKUP_INPUT", input.into()),
        ("LOOKUP_GRAPH", graph.into()),
        ("ATTRIBUTE_RESULTS", calls.collect()),
        ("UNITY_OUTPUTS", outputs.collect()),
    ]
}

/// For each texture what templates may ask for in lines and blocks of `ATTRIBUTE`, beside all that `of_file` has.
pub(super) fn items(manifest: &Manifest, engine: Space, of_file: &Facts) -> Vec<Facts> {
    let item = |a: Attribute<'_>| Facts {
        values: [
            a.names(manifest, engine),
            a.languages(),
            of_file.values.clone(),
        ]
        .concat(),
        flags: [a.flags(manifest, engine), of_file.flags.clone()].concat(),
        lists: of_file.lists.clone(),
        items: Vec::new(),
    };
    attributes(manifest).into_iter().map(item).collect()
}

impl Attribute<'_> {
    fn flags(&self, manifest: &Manifest, engine: Space) -> Vec<(&'static str, bool)> {
        let quantity = &self.texture.spec.quantity;
        let is_uv = matches!(quantity, Quantity::Uv(_));
        let is_tangent = *quantity == Quantity::Tangent;
        vec![
            ("ATTRIBUTE_IN_TWO", is_in_two(self.texture)),
            ("IS_TANGENT", is_tangent),
            ("TURNS_V", is_uv && engine == Space::YUpLeftHanded),
            (
                "IS_VARYING",
                !is_tangent && self.built_in(manifest.mode).is_none(),
            ),
        ]
    }

    /// Where Godot has a place of its own for it.
    fn built_in(&self, mode: Mode) -> Option<&'static str> {
        match self.texture.spec.quantity {
            Quantity::Color(0) => Some("COLOR"),
            // The texture coordinates of a particle's square are those of the picture on it.
            Quantity::Uv(0) if mode != Mode::Particles => Some("UV"),
            _ => None,
        }
    }

    fn names(&self, manifest: &Manifest, engine: Space) -> Values {
        let is_particles = manifest.mode == Mode::Particles;
        let number = if is_particles {
            "vertex / 4u"
        } else {
            "vertex"
        };
        let godot_number = if is_particles {
            "VERTEX_ID / 4"
        } else {
            "VERTEX_ID"
        };
        let first_location = if is_particles { 1 } else { 2 };
        let binding = first_binding(manifest) + 2 * self.index;
        let words = words(&self.texture.spec.quantity, Some(engine));
        let built_in = self.built_in(manifest.mode).unwrap_or(&self.name);
        vec![
            ("ATTRIBUTE", self.name.clone()),
            ("ATTRIBUTE_HOLDS", in_comment(&words)),
            ("ATTRIBUTE_NUMBER", number.into()),
            ("ATTRIBUTE_NUMBER_IN_GODOT", godot_number.into()),
            ("ATTRIBUTE_IN_GODOT", built_in.into()),
            ("ATTRIBUTE_BINDING", binding.to_string()),
            ("ATTRIBUTE_FINE_BINDING", (binding + 1).to_string()),
            (
                "ATTRIBUTE_LOCATION",
                (first_location + self.index).to_string(),
            ),
        ]
    }

    fn output_of_unity(&self) -> String {
        let hlsl = HLSL[self.last_channel()];
        format!(", out {hlsl} {}", camel_case(&pascal_case(&self.name)))
    }

    fn last_channel(&self) -> usize {
        self.texture.spec.ranges.len().clamp(1, 4) - 1
    }

    fn languages(&self) -> Values {
        let ranges = &self.texture.spec.ranges;
        let last = self.last_channel();
        let pascal = pascal_case(&self.name);
        let camel = camel_case(&pascal);
        let in_two = is_in_two(self.texture);
        let swizzle = [".x", ".xy", ".xyz", ".xyzw"][last];
        let wgsl = ["f32", "vec2<f32>", "vec3<f32>", "vec4<f32>"][last];
        let glsl = ["float", "vec2", "vec3", "vec4"][last];
        vec![
            ("ATTRIBUTE_SCALE", floats(ranges, |r| r.scale)),
            ("ATTRIBUTE_OFFSET", floats(ranges, |r| r.offset)),
            ("ATTRIBUTE_SWIZZLE", swizzle.into()),
            ("ATTRIBUTE_WGSL", wgsl.into()),
            ("ATTRIBUTE_GLSL", glsl.into()),
            ("ATTRIBUTE_HLSL", HLSL[last].into()),
            ("ATTRIBUTE_PARAMETERS", parameters(&camel, in_two)),
            ("ATTRIBUTE_ARGUMENTS", arguments(&camel, in_two)),
            ("ATTRIBUTE_GRAPH", graph(&camel, in_two)),
            ("ATTRIBUTE_INPUTS", arguments(&pascal, in_two)),
            ("ATTRIBUTE_PASCAL", pascal),
            ("ATTRIBUTE_CAMEL", camel),
        ]
    }
}

fn pascal_case(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        let first = letters.next().map(|c| c.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    };
    name.split('_').map(word).collect()
}

fn camel_case(pascal: &str) -> String {
    let mut letters = pascal.chars();
    let first = letters.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}
