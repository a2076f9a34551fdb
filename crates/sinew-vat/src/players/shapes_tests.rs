//! Players of pieces and particles.

use super::*;

fn channels(quantity: Quantity, format: TexelFormat, count: usize) -> TextureFile {
    let mut out = texture(quantity, format);
    out.spec.ranges.resize(
        count,
        Range {
            scale: 0.5,
            offset: 0.25,
        },
    );
    let file = |f: &String| f.replace("shape", &out.spec.quantity.file_name());
    out.files = out.files.iter().map(file).collect();
    out
}

/// Every combination of what their templates ask.
fn shapes_of_pieces_and_particles() -> Vec<Manifest> {
    use TexelFormat::{Float, TwoUnorm8, Unorm16};
    let mut out = Vec::new();
    for layout in layouts() {
        for place in [Unorm16, TwoUnorm8] {
            for other in [Float, TwoUnorm8] {
                for (uv_set, can_blend) in [(0, true), (1, false), (3, true)] {
                    let position = || texture(Quantity::Position, place);
                    let pieces = Manifest {
                        mode: Mode::Rigid,
                        can_blend,
                        uv_set,
                        ..shape(
                            layout,
                            position(),
                            Some(channels(Quantity::Rotation, other, 4)),
                        )
                    };
                    let particles = Manifest {
                        mode: Mode::Particles,
                        can_blend,
                        uv_set: 1,
                        ..shape(layout, position(), Some(channels(Quantity::Size, other, 1)))
                    };
                    out.extend([pieces, particles]);
                }
            }
        }
    }
    out
}

#[test]
fn everything_is_filled_in_and_textures_are_named() {
    for manifest in shapes_of_pieces_and_particles() {
        assert_eq!(manifest.check(), Ok(()));
        let files = players(&manifest);
        assert_eq!(files.len(), 6);
        for PlayerFile { name, text } in files {
            assert!(!text.contains("{{"), "{name}: {text}");
            assert!(text.is_ascii(), "{name} has letters that some tools mangle");
            if !name.ends_with(".html") {
                let mut named = manifest.textures.iter().flat_map(|t| &t.files);
                assert!(named.all(|f| text.contains(f.as_str())), "{name}");
            }
        }
    }
}

#[test]
fn wgsl_of_pieces_and_particles_is_valid() {
    for manifest in shapes_of_pieces_and_particles() {
        assert_wgsl_is_valid(&manifest);
    }
}

/// What the manual says a vertex costs: a texel for each frame that is seen, of a piece the pivot as well, which is its position in frame 0.
#[test]
fn a_piece_takes_one_position_more() {
    let fetches = |text: &str, function: &str, call: &str| {
        let body = text.split_once(function).expect("the function").1;
        let body = body.split("\n}").next().unwrap_or_default();
        body.matches(call).count()
    };
    for manifest in shapes_of_pieces_and_particles() {
        let frames = 1 + usize::from(manifest.can_blend);
        let files = players(&manifest);
        let text = |ending: &str| {
            let file = files.iter().find(|f| f.name.ends_with(ending));
            file.map(|f| f.text.as_str()).expect("a player")
        };
        if manifest.mode != Mode::Rigid {
            continue;
        }
        for (ending, function, call, count) in [
            (".wgsl", "fn vat_position(", "vat_place_in(", frames + 1),
            (".wgsl", "fn vat_rotation(", "vat_rotation_in(", frames),
            (".gdshader", "void vertex() {", "place_in(", frames + 1),
            (".gdshader", "void vertex() {", "rotation_in(", frames),
            (
                ".unity.hlsl",
                "float3 VatPosition(",
                "VatPlaceIn(",
                frames + 1,
            ),
            (
                ".unreal.ush",
                "float4 VatRotation(",
                "VatRotationIn(",
                frames,
            ),
        ] {
            let found = fetches(text(ending), function, call);
            assert_eq!(found, count, "{call} in {ending}");
        }
    }
}

#[test]
fn the_mode_decides_which_section_is_written() {
    let vertices = shape(
        layouts()[0],
        texture(Quantity::Position, TexelFormat::Unorm8),
        None,
    );
    for manifest in shapes_of_pieces_and_particles().into_iter().take(2) {
        for target in [Target::Wgsl, Target::Godot, Target::Unity, Target::Unreal] {
            let text = text_of(target, &manifest).to_lowercase();
            let of_vertices = text_of(target, &vertices).to_lowercase();
            for (mode, word) in [(Mode::Rigid, "pivot"), (Mode::Particles, "frommiddle")] {
                let has = |text: &str| text.replace('_', "").contains(word);
                assert_eq!(has(&text), manifest.mode == mode, "{target:?} {word}");
                assert!(!has(&of_vertices), "{target:?} {word}");
            }
        }
    }
}

#[test]
fn manifests_of_pieces_and_particles_need_their_textures() {
    let [mut pieces, mut particles] = shapes_of_pieces_and_particles()
        .into_iter()
        .take(2)
        .collect::<Vec<_>>()
        .try_into()
        .expect("two");
    pieces.textures.pop();
    let text = pieces.check().expect_err("no rotations").to_string();
    assert_eq!(text, "mode Rigid needs a texture of rotation");
    particles.textures[0].spec.quantity = Quantity::Offset;
    let text = particles.check().expect_err("offsets").to_string();
    assert_eq!(text, "mode Particles has no meaning for offset");
}

#[test]
fn pieces_and_particles_fit_engines_whose_axes_they_have() {
    for manifest in shapes_of_pieces_and_particles().into_iter().take(2) {
        for target in [Target::Unity, Target::Unreal] {
            let own = Manifest {
                space: target.player().space,
                ..manifest.clone()
            };
            let (fits, differs) = (text_of(target, &own), text_of(target, &manifest));
            assert!(!fits.contains("WARNING"), "{target:?}");
            assert!(differs.contains("Bake again for"), "{target:?}");
            // An OBJ has one set of texture coordinates; squares need two.
            let has_obj = target == Target::Unity && manifest.mode == Mode::Rigid;
            let mode = manifest.mode;
            assert_eq!(fits.contains(".obj is the same mesh"), has_obj, "{mode:?}");
        }
    }
}
