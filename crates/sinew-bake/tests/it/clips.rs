//! Several clips in one bake: nothing goes from one to another.

use crate::fixture::{Baked, with_textures};
use sinew_bake::vat::{Mode, VatSettings, read_animation};
use sinew_bake::{FrameSource, MeshFrames, NumberRange, RangedFrames};
use sinew_testkit::meshes::mesh_from;
use sinew_vat::animation::VertexAnimation;
use sinew_vat::playback::AtEnd;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;

/// Nine frames of triangles that drift; five to nine of them, in an order that changes.
fn drifting() -> MeshFrames {
    let frames = (0..9_u32).map(|f| {
        let count = 5 + f * 3 % 5;
        let place = |v: u32| {
            let (t, k) = ((v / 3 + f) % count, v % 3);
            let corner = [[0.0, 0.0], [0.4, 0.1], [0.1, 0.4]][k as usize];
            [t as f32 * 0.9 + corner[0], f as f32 * 0.05, corner[1]]
        };
        let triangles = (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
        mesh_from(
            "drift",
            (0..3 * count).map(place).collect(),
            triangles.collect(),
        )
    });
    MeshFrames::new("drift", frames.collect())
}

fn settings() -> VatSettings {
    VatSettings {
        // A clip of one frame alone would be one of constant triangles.
        mode: Some(Mode::Remesh),
        at_end: AtEnd::SeamlessLoop,
        ..with_textures(&[(Quantity::Position, TexelFormat::Float)])
    }
}

fn of(ranges: &[&str]) -> RangedFrames<MeshFrames> {
    let ranges: Vec<NumberRange> = ranges.iter().map(|t| t.parse().expect("a range")).collect();
    RangedFrames::new(drifting(), &ranges).expect("frames that are there")
}

fn baked(source: &dyn FrameSource) -> VertexAnimation {
    let baked = Baked::new(source, &settings());
    let found = baked.verified(source, &settings());
    assert!(found.is_same(1e-6), "{found:?}");
    read_animation(&baked.out()).expect("a bake")
}

/// Corners of the slots that show something, slot by slot.
fn shown(bake: &VertexAnimation, frame: u32) -> Vec<(u32, [[f32; 3]; 3])> {
    let corner = |s: u32, k: u32| bake.vector(0, 3 * s + k, frame);
    let slots = 0..bake.manifest().layout.vertices / 3;
    slots
        .map(|s| (s, [0, 1, 2].map(|k| corner(s, k))))
        .filter(|(_, c)| c[0] != c[1] || c[1] != c[2])
        .collect()
}

#[test]
fn clips_of_a_bake_are_as_if_each_were_alone() {
    let ranges = ["fall=4..8", "rise=0..5", "rest=2..2"];
    let together = baked(&of(&ranges));
    let clips = &together.manifest().clips;
    let found: Vec<_> = clips
        .iter()
        .map(|c| (c.name.as_str(), c.frames.first, c.frames.count))
        .collect();
    assert_eq!(found, [("fall", 0, 5), ("rise", 5, 6), ("rest", 11, 1)]);
    // What is blended over a seam is the first frame of the same clip.
    let end = clips[0].frames.at(4.5 / 24.0);
    assert_eq!((end.frame, end.next), (4, 0));
    for (clip, range) in clips.iter().zip(ranges) {
        let alone = baked(&of(&[range]));
        for frame in 0..clip.frames.count {
            // The frame, and its end.
            let step = together.manifest().frame_step();
            assert_eq!(step, 2);
            for part in 0..step {
                assert_eq!(
                    shown(&together, (clip.frames.first + frame) * step + part),
                    shown(&alone, frame * step + part),
                    "{range}, frame {frame}, part {part}"
                );
            }
        }
    }
}
