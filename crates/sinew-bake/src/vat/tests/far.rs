//! Sequences far from the origin: single precision loses more there, and halves end.

use super::*;
use crate::vat::settings::Space;

/// The flag, that far along all axes; loose where its triangles are asked to be.
fn far_flag(metres: f32, is_loose: bool) -> MeshFrames {
    let mut frames = meshes_of(&flag());
    for (f, mesh) in frames.iter_mut().enumerate() {
        let places = mesh.positions.iter_mut();
        places.for_each(|place| *place = place.map(|c| c + metres));
        if is_loose {
            let triangles = mesh.topology.triangles();
            let fewer = triangles[..triangles.len() - f].to_vec();
            mesh.topology = Topology::new(30, fewer).expect("in range").into();
        }
    }
    MeshFrames::new("flag", frames)
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
                let verify_with = |source: &MeshFrames| folders.verified(source, &settings);
                let found = verify_with(&source);
                let promised = sinew_geom::vec3::length(found.promised);
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
    let settings = unreal(TexelFormat::Half);
    // 65600 centimetres are more than a half holds.
    let error = refused(&far_flag(655.0, false), &settings);
    let is_said =
        matches!(error, BakeError::TooLargeForHalf { found, .. } if (found - 65600.0).abs() < 1.0);
    assert!(is_said, "{error}");
    let words = error.to_string();
    let begin = "position: the largest number is 6.56";
    assert!(words.starts_with(begin), "{words}");
    for part in ["65504", "position:float"] {
        assert!(words.contains(part), "{words}");
    }
    baked(&far_flag(640.0, false), &settings);
}
