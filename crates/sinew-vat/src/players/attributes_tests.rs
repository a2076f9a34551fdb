//! Textures beside places and normals: colours, texture coordinates, thickness, tangents, velocities and attributes.

use super::tests::{assert_wgsl_is_valid, layouts, shape, text_of, texture};
use super::*;
use crate::manifest::{Mode, TextureFile};
use crate::quantity::Quantity;
use crate::texel::{Range, TexelFormat};

fn of(quantity: Quantity, format: TexelFormat, channels: usize) -> TextureFile {
    let mut out = texture(quantity, format);
    let range = |k: usize| Range {
        scale: 0.5 + k as f32,
        offset: 0.25 * k as f32,
    };
    out.spec.ranges = (0..channels).map(range).collect();
    out
}

fn all_of(format: TexelFormat) -> Vec<TextureFile> {
    let velocity = Quantity::Velocity("v".into());
    let attribute = |name: &str| Quantity::Attribute(name.into());
    vec![
        of(Quantity::Color(0), format, 4),
        of(Quantity::Uv(0), format, 2),
        of(Quantity::Uv(1), format, 2),
        of(Quantity::Thickness, format, 1),
        of(Quantity::Tangent, format, 4),
        of(velocity, format, 3),
        of(attribute("age"), format, 1),
        of(attribute("float"), format, 2),
        of(attribute("wind dir"), format, 3),
        of(attribute(""), format, 4),
    ]
}

/// Bakes that hold everything, in each mode, format and kind of blending.
fn bakes() -> Vec<Manifest> {
    use TexelFormat::{Half, TwoUnorm8, Unorm8};
    let mut out = Vec::new();
    for format in [Half, TwoUnorm8, Unorm8] {
        for (can_blend, has_ends) in [(false, false), (true, false), (true, true)] {
            for mode in [Mode::Remesh, Mode::Soft, Mode::Particles] {
                let other = match mode {
                    Mode::Particles => of(Quantity::Size, TexelFormat::Unorm8, 1),
                    _ => texture(Quantity::Normal, TexelFormat::Unorm8),
                };
                let places = texture(Quantity::Position, TexelFormat::Unorm16);
                let layout = crate::layout::Layout::rows(30, 10, 64).expect("fits");
                let mut bake = shape(layout, places, Some(other));
                bake.textures.extend(all_of(format));
                out.push(Manifest {
                    can_blend,
                    has_ends,
                    mode,
                    ..bake
                });
            }
        }
    }
    out
}

fn with_attributes(names: &[&str]) -> Manifest {
    let places = texture(Quantity::Position, TexelFormat::Half);
    let mut bake = shape(layouts()[0], places, None);
    let textures = names
        .iter()
        .map(|n| of(Quantity::Attribute((*n).into()), TexelFormat::Half, 1));
    bake.textures.extend(textures);
    bake
}

fn names_of(manifest: &Manifest) -> Vec<String> {
    attribute_names(manifest).into_iter().flatten().collect()
}

#[test]
fn everything_is_filled_in_and_no_texture_is_left_unread() {
    for manifest in bakes() {
        assert_eq!(manifest.check(), Ok(()));
        for PlayerFile { name, text } in players(&manifest) {
            assert!(!text.contains("{{"), "{name}: {text}");
            assert!(text.is_ascii(), "{name}");
            assert!(!text.contains("does not read"), "{name}: {text}");
        }
    }
}

#[test]
fn wgsl_of_attributes_is_valid_and_binds_every_file() {
    for manifest in bakes() {
        assert_wgsl_is_valid(&manifest);
    }
}

#[test]
fn each_engine_has_a_function_for_each_attribute() {
    for manifest in bakes() {
        for name in names_of(&manifest) {
            let joined = name.replace('_', "");
            for target in Target::ALL.into_iter().filter(|t| *t != Target::ThreeJs) {
                let text = text_of(target, &manifest).replace('_', "").to_lowercase();
                let called = match target {
                    Target::Godot => format!("{joined}at("),
                    _ => format!("vat{joined}("),
                }
                .to_lowercase();
                assert!(text.contains(&called), "{target:?} {name}");
            }
        }
    }
}

/// Fetches of one frame, two where frames are blended, twice that where a texel is in two files.
#[test]
fn frames_of_attributes_are_blended_as_those_of_places_are() {
    for manifest in bakes() {
        let text = text_of(Target::Wgsl, &manifest);
        let at = text.find("fn vat_color0(").expect("colours");
        let body = &text[at..at + text[at..].find("\n}").expect("an end")];
        let (now, next) = (body.contains("at.frame"), body.contains("at.next"));
        assert_eq!((now, next), (true, manifest.can_blend), "{body}");
        let fine = text.matches("textureLoad(vat_color0_fine_texture").count();
        let color = manifest.texture(&Quantity::Color(0)).expect("colours");
        assert_eq!(fine, manifest.textures[color].files.len() - 1);
    }
}

#[test]
fn engines_put_colours_and_texture_coordinates_where_they_have_a_place() {
    for manifest in bakes() {
        let godot = text_of(Target::Godot, &manifest);
        let is_particles = manifest.mode == Mode::Particles;
        assert!(godot.contains("\tCOLOR = color0_at("));
        assert!(godot.contains("ALBEDO = albedo.rgb * COLOR.rgb;"));
        assert_eq!(godot.contains("\tUV = uv0_at("), !is_particles);
        assert!(godot.contains("varying float attribute_age;"));
        assert!(godot.contains("TANGENT = tangent.xyz;"));
        assert!(!godot.contains("varying vec4 color0;"));
        let unity = text_of(Target::Unity, &manifest);
        assert!(unity.contains("out float4 color0, out float2 uv0,"));
        assert_eq!(unity.matches("value.y = 1.0 - value.y;").count(), 2);
        let unreal = text_of(Target::Unreal, &manifest);
        assert!(!unreal.contains("value.y = 1.0 - value.y;"));
        assert!(unreal.contains("float4 VatColor0ByUv("));
        let wgsl = text_of(Target::Wgsl, &manifest);
        assert!(wgsl.contains(" color0: vec4<f32>,"));
        assert!(wgsl.contains(", vat_color0(vertex, at), vat_uv0(vertex, at)"));
    }
}

#[test]
fn bakes_without_them_have_players_without_them() {
    let manifest = with_attributes(&[]);
    for PlayerFile { name, text } in players(&manifest) {
        let text = text.to_lowercase();
        // These two play any other bake, too.
        let plays_all = name.ends_with(".three.js") || name.ends_with(".html");
        assert!(plays_all || !text.contains("color0"), "{name}");
        assert!(!text.contains("colours and all else"), "{name}");
    }
}

#[test]
fn pieces_are_left_as_they_are() {
    let mut manifest = with_attributes(&["age"]);
    manifest.mode = Mode::Rigid;
    let rotations = of(Quantity::Rotation, TexelFormat::Half, 4);
    manifest.textures.push(rotations);
    assert_eq!(manifest.check(), Ok(()));
    assert!(names_of(&manifest).is_empty());
    for target in [Target::Wgsl, Target::Godot, Target::Unity, Target::Unreal] {
        let text = text_of(target, &manifest);
        assert!(text.contains("which this player does not read"));
    }
}

#[test]
fn names_become_identifiers_of_their_own() {
    let long = "x".repeat(500);
    for (given, expected) in [
        (vec!["age"], vec!["attribute_age"]),
        (
            vec!["float", "for"],
            vec!["attribute_float", "attribute_for"],
        ),
        (
            vec!["", "  ", "_", "\u{e4}\u{f6}"],
            vec![
                "attribute_unnamed",
                "attribute_unnamed_2",
                "attribute_unnamed_3",
                "attribute_unnamed_4",
            ],
        ),
        (
            vec!["a b", "a_b", "aB", "a--b"],
            vec![
                "attribute_a_b",
                "attribute_a_b_2",
                "attribute_aB_3",
                "attribute_a_b_4",
            ],
        ),
        // What a player calls the function that reads a texel, and the texture.
        (
            vec!["x", "x_in", "xTexture"],
            vec!["attribute_x", "attribute_x_in_2", "attribute_xTexture_2"],
        ),
        (vec!["x_in", "x"], vec!["attribute_x_in", "attribute_x_2"]),
        (
            vec!["a", "a", "a_2"],
            vec!["attribute_a", "attribute_a_2", "attribute_a_2_2"],
        ),
        (vec!["\n*/ }; __x__"], vec!["attribute_x"]),
    ] {
        assert_eq!(names_of(&with_attributes(&given)), expected, "{given:?}");
    }
    let name = &names_of(&with_attributes(&[&long]))[0];
    assert_eq!(name.len(), "attribute_".len() + 48);
}

#[test]
fn odd_names_do_not_become_code() {
    let odd = [
        "a\nfn main() {}",
        "b\\",
        "*/",
        "{{ATTRIBUTE}}",
        "fn",
        "x",
        "X",
        "x_texture",
        "\u{2028}#error",
        "",
    ];
    let manifest = with_attributes(&odd);
    let wgsl = text_of(Target::Wgsl, &manifest);
    if let Err(error) = naga::front::wgsl::parse_str(&wgsl) {
        panic!("{}", error.emit_to_string(&wgsl));
    }
    for file in players(&manifest) {
        let lines: Vec<_> = file.text.lines().collect();
        assert!(!lines.iter().any(|l| l.starts_with("fn main")));
        assert!(!lines.iter().any(|l| l.starts_with("#error")));
        assert!(!lines.iter().any(|l| l.ends_with('\\')), "{}", file.name);
    }
}
