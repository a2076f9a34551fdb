#[path = "shapes_tests.rs"]
mod shapes_tests;

#[path = "lookup_tests.rs"]
mod lookup_tests;

use super::*;
use crate::layout::Layout;
use crate::manifest::{Mode, NamedClip, TextureFile};
use crate::playback::AtEnd;
use crate::quantity::Quantity;
use crate::texel::{Range, TexelFormat};
use crate::texture::TextureSpec;

pub(super) fn texture(quantity: Quantity, format: TexelFormat) -> TextureFile {
    let range = Range {
        scale: 1.0e-7,
        offset: -3.25,
    };
    TextureFile {
        files: (0..format.file_count())
            .map(|i| format!("shape_{i}.png"))
            .collect(),
        spec: TextureSpec {
            quantity,
            format,
            ranges: vec![range; 3],
        },
    }
}

fn clip(name: &str, first: u32, count: u32, at_end: AtEnd) -> NamedClip {
    NamedClip::new(name, first, count, 23.976, at_end)
}

pub(super) fn shape(layout: Layout, places: TextureFile, normals: Option<TextureFile>) -> Manifest {
    let mut textures = vec![places];
    textures.extend(normals);
    let clips = vec![
        clip("all", 0, 5, AtEnd::Loop),
        clip("around", 1, 3, AtEnd::SeamlessLoop),
        clip("once", 0, 2, AtEnd::Clamp),
    ];
    let bounds = ([-1.0; 3], [1.0; 3]);
    Manifest::new("shape", Mode::Remesh, layout, bounds, textures, clips)
}

pub(super) fn layouts() -> [Layout; 3] {
    [
        Layout::rows(30, 5, 64),
        Layout::blocks(30, 5, [9, 4], 2, 64),
        Layout::columns(100, 5, 1),
    ]
    .map(|l| l.expect("fits"))
}

/// Every combination of what templates ask.
fn shapes() -> Vec<Manifest> {
    use TexelFormat::{Float, Half, TwoUnorm8, Unorm8, Unorm16};
    let mut out = Vec::new();
    for layout in layouts() {
        for place_format in [Unorm8, Unorm16, TwoUnorm8, Half, Float] {
            for normal_format in [None, Some(Unorm8), Some(TwoUnorm8)] {
                for quantity in [Quantity::Position, Quantity::Offset] {
                    let normals = normal_format.map(|f| texture(Quantity::Normal, f));
                    let shape = shape(layout, texture(quantity, place_format), normals);
                    let blends = Manifest {
                        can_blend: true,
                        has_ends: false,
                        mode: Mode::Soft,
                        space: Space::ZUpLeftHandedCentimeters,
                        ..shape.clone()
                    };
                    out.extend([shape, blends]);
                }
            }
        }
    }
    out
}

pub(super) fn text_of(target: Target, manifest: &Manifest) -> String {
    target.files(manifest)[0].text.clone()
}

#[test]
fn every_bake_has_all_files_and_nothing_is_left_to_fill_in() {
    let names = [
        "shape.wgsl",
        "shape.three.js",
        "shape.html",
        "shape.gdshader",
        "shape.unity.hlsl",
        "shape.unreal.ush",
    ];
    for manifest in shapes() {
        assert_eq!(manifest.check(), Ok(()));
        let files = players(&manifest);
        assert_eq!(
            files.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(),
            names
        );
        for PlayerFile { name, text } in files {
            assert!(!text.contains("{{"), "{name}: {text}");
            assert!(text.is_ascii(), "{name} has letters that some tools mangle");
        }
    }
}

#[test]
fn a_bake_without_places_has_no_players() {
    let normals = texture(Quantity::Normal, TexelFormat::Unorm8);
    assert!(players(&shape(layouts()[0], normals, None)).is_empty());
}

/// The player of WGSL is one, and binds every file of the bake.
pub(super) fn assert_wgsl_is_valid(manifest: &Manifest) {
    use naga::valid::{Capabilities, ValidationFlags, Validator};
    let text = text_of(Target::Wgsl, manifest);
    let module = match naga::front::wgsl::parse_str(&text) {
        Ok(module) => module,
        Err(error) => panic!("{}", error.emit_to_string(&text)),
    };
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    if let Err(error) = validator.validate(&module) {
        panic!("{}", error.emit_to_string(&text));
    }
    let bindings = module.global_variables.iter();
    let textures = bindings.filter(|(_, g)| g.space == naga::AddressSpace::Handle);
    let files: usize = manifest.textures.iter().map(|t| t.files.len()).sum();
    let lookups = usize::from(manifest.lookup.is_some());
    assert_eq!(textures.count(), files + lookups);
}

#[test]
fn wgsl_is_valid() {
    for manifest in shapes() {
        assert_wgsl_is_valid(&manifest);
    }
}

/// Where a player says which stage does what: the fragments of Godot and of three.js read no texture of places or normals.
#[test]
fn row_122_fragments_decode_nothing() {
    let mut with_normals = 0;
    for manifest in shapes() {
        let godot = text_of(Target::Godot, &manifest);
        let (vertices, fragments) = godot.split_once("void fragment()").expect("two stages");
        assert!(!fragments.contains("_texture") && !fragments.contains("texel"));
        let three = text_of(Target::ThreeJs, &manifest);
        assert!(!three.contains("fragmentShader"));
        if manifest
            .textures
            .iter()
            .any(|t| t.spec.quantity == Quantity::Normal)
        {
            with_normals += 1;
            assert!(vertices.contains("NORMAL = normalize("));
            assert!(three.contains("objectNormal = vatNormal("));
        }
    }
    assert!(with_normals > 10, "{with_normals}");
}

#[test]
fn one_formula_finds_the_texels_of_all_arrangements() {
    for layout in layouts() {
        let position = texture(Quantity::Position, TexelFormat::Unorm8);
        let facts = Facts::new(&shape(layout, position, None), Space::default()).expect("places");
        let number = |name: &str| -> u32 {
            let found = facts.values.iter().find(|v| v.0 == name);
            found.expect(name).1.parse().expect(name)
        };
        let (columns, across) = (number("COLUMNS"), number("ACROSS"));
        let (frame_rows, line_rows) = (number("FRAME_ROWS"), number("LINE_ROWS"));
        for frame in 0..layout.frames {
            for vertex in 0..layout.vertices {
                let x = (frame % across) * columns + vertex % columns;
                let y = (frame / across) * frame_rows + (vertex / columns) * line_rows;
                assert_eq!(
                    [x, y],
                    layout.texel(vertex, frame),
                    "{layout:?} {vertex} {frame}"
                );
            }
        }
    }
}

#[test]
fn frames_are_blended_only_where_that_means_something() {
    let position = || texture(Quantity::Position, TexelFormat::Unorm16);
    let steps = shape(layouts()[0], position(), None);
    let blends = Manifest {
        can_blend: true,
        has_ends: false,
        ..steps.clone()
    };
    for target in [Target::Wgsl, Target::Godot, Target::Unity, Target::Unreal] {
        let reads = |m: &Manifest| {
            let text = text_of(target, m).to_lowercase();
            text.matches("next)").count()
        };
        assert_eq!(reads(&steps), 0, "{target:?}");
        assert!(reads(&blends) > 0, "{target:?}");
    }
}

#[test]
fn headers_name_files_clips_and_spaces() {
    for manifest in shapes() {
        for target in Target::ALL {
            let text = text_of(target, &manifest);
            for file in manifest.textures.iter().flat_map(|t| &t.files) {
                assert!(text.contains(file.as_str()), "{target:?} has no {file}");
            }
            let fits = manifest.space == target.player().space;
            let differs = text.contains("these two differ");
            assert_eq!(fits, !differs, "{target:?} {:?}", manifest.space);
            assert!(text.contains(&manifest.space.to_string()), "{target:?}");
        }
        let text = text_of(Target::Godot, &manifest);
        assert!(text.contains("// Clip 1: around"));
        let is_16_bit = manifest.textures[0].spec.format == TexelFormat::Unorm16;
        assert_eq!(
            text.contains("Godot reads PNG of 16 bits as 8 bits"),
            is_16_bit
        );
    }
}

/// Materials of Unreal find vertices by texture coordinates; a mesh with coordinates of its own has those of the textures behind them.
#[test]
fn the_set_of_texture_coordinates_is_named() {
    let position = texture(Quantity::Position, TexelFormat::Unorm8);
    let manifest = Manifest {
        uv_set: 3,
        space: Space::YUpLeftHanded,
        ..shape(layouts()[0], position, None)
    };
    assert!(text_of(Target::Unreal, &manifest).contains("Uv is TexCoord 3,"));
    assert!(text_of(Target::Unity, &manifest).contains("3 of the GLB"));
}

#[test]
fn literals_come_back_to_the_bit_and_have_a_point() {
    for value in [
        0.0,
        -0.0,
        1.0,
        -3.25,
        1.0e-7,
        1.5e-9,
        f32::MAX,
        f32::MIN_POSITIVE,
        0.1,
        1.0e16,
        23.976,
    ] {
        let literal = facts::float(value);
        assert!(literal.contains('.'), "{literal}");
        let back: f32 = literal.parse().expect("a number");
        assert_eq!(back.to_bits(), value.to_bits(), "{literal}");
    }
}

#[test]
fn names_do_not_become_code() {
    let position = texture(Quantity::Position, TexelFormat::Unorm8);
    let mut manifest = shape(layouts()[0], position, None);
    manifest.name = "../a'b</script>\n}{{VERTICES}}\\".into();
    manifest.clips[0].name = "clip\u{2028}\nfn main() {}\\".into();
    manifest.carrier = "carrier\n#error".into();
    let files = players(&manifest);
    let wgsl = &files[0];
    assert_eq!(wgsl.name, ".._a'b<_script>_}{{VERTICES}}_.wgsl");
    assert!(naga::front::wgsl::parse_str(&wgsl.text).is_ok());
    for file in &files {
        let lines: Vec<_> = file.text.lines().collect();
        assert!(!lines.iter().any(|l| l.starts_with("fn main")));
        assert!(!lines.iter().any(|l| l.starts_with("#error")));
        assert!(!lines.iter().any(|l| l.ends_with('\\')), "{}", file.name);
    }
    let page = &files[2].text;
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains(r"'.._a\u{27}b\u{3c}_script\u{3e}_"));
}
