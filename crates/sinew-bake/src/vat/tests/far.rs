//! Sequences far from the origin: single precision loses more there, and halves end.

use super::*;
use crate::vat::settings::Space;

/// The flag, that far along all axes; loose where its triangles are asked to be.
fn far_flag(metres: f32, is_loose: bool) -> MeshFrames {
    let near = flag();
    let frames = (0..near.frame_count()).map(|f| {
        let mut mesh = near.load(f).expect("a frame").mesh;
        for place in &mut mesh.positions {
            *place = place.map(|c| c + metres);
        }
        if is_loose {
            let mut triangles = mesh.topology.triangles().to_vec();
            triangles.truncate(triangles.len() - f);
            let topology = Topology::new(30, triangles).expect("in range");
            mesh.topology = topology.into();
        }
        mesh
    });
    MeshFrames::new("flag", frames.collect())
}

fn unreal(format: TexelFormat) -> VatSettings {
    VatSettings {
        space: Space::ZUpLeftHandedCentimeters,
        ..with_format(Quantity::Position, format)
    }
}

#[test]
fn bakes_far_from_the_origin_are_right_and_a_little_more_is_wrong() {
    for metres in [10.0, 300.0, 5000.0] {
        for is_loose in [false, true] {
            let source = far_flag(metres, is_loose);
            for format in [TexelFormat::Float, TexelFormat::Unorm16] {
                let settings = unreal(format);
                let (folders, _) = baked(&source, &settings);
                let verify_with = |source: &MeshFrames| {
                    verify(&folders.out(), source, &settings, &Watch::NOBODY).expect("verifies")
                };
                let found = verify_with(&source);
                let promised = found.promised.iter().map(|p| p * p).sum::<f64>().sqrt();
                let allowed = promised * 1.001 + found.rounding.max(1e-6);
                assert!(found.is_same(allowed), "{metres} {format:?}: {found:?}");
                // Four units in the last place of three coordinates.
                let ulps = 4.0 * f64::from(f32::EPSILON) * f64::from(metres + 1.2) * 3_f64.sqrt();
                assert!(found.rounding <= ulps, "{metres}: {}", found.rounding);
                let moved = far_flag(metres + 4.0 * allowed as f32, is_loose);
                assert!(!verify_with(&moved).is_same(allowed), "{metres} {format:?}");
            }
        }
    }
}

#[test]
fn halves_that_would_be_infinite_are_refused() {
    let refused = |metres: f32| {
        let (source, folders) = (far_flag(metres, false), Folders::new());
        let settings = unreal(TexelFormat::Half);
        let (work, out) = (folders.work(), folders.out());
        bake(&source, &settings, &work, &out, &Watch::NOBODY).err()
    };
    let error = refused(655.0).expect("65600 centimetres are more than a half holds");
    assert!(
        matches!(error, BakeError::TooLargeForHalf { found, .. } if (found - 65600.0).abs() < 1.0),
        "{error}"
    );
    let words = error.to_string();
    assert!(
        words.starts_with("position: the largest number is 6.56"),
        "{words}"
    );
    assert!(
        words.contains("65504") && words.contains("position:float"),
        "{words}"
    );
    assert!(refused(640.0).is_none());
}
