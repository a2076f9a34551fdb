use super::*;
use crate::local_frame::Profile;
use crate::local_frame::test_support::{
    Random, check_continuous, check_identity, check_jacobian, check_kernels, jacobian, moved,
};

const SHAPES: [Shape; 3] = [
    Shape::Profile(Profile::Linear),
    Shape::Profile(Profile::Smooth),
    Shape::Exponential,
];

fn taper(shape: Shape) -> Taper {
    Taper {
        start_scale: [0.8, 1.1],
        end_scale: [2.0, 0.4],
        shape,
        curve: 0.3,
        region: Region::new(2.0, 0.1, 0.2),
    }
}

#[test]
fn sections_scale_as_stated() {
    let mut random = Random(6);
    for _ in 0..1000 {
        let p = random.point();
        let u = ((p[2] - 0.2) / 1.4).clamp(0.0, 1.0);
        for shape in SHAPES {
            let r = |a: f64, b: f64| {
                0.3 * 4.0 * u * (1.0 - u)
                    + match shape {
                        Shape::Exponential => a * (b / a).powf(u),
                        Shape::Profile(Profile::Linear) => a + (b - a) * u,
                        Shape::Profile(Profile::Smooth) => a + (b - a) * u * u * (3.0 - 2.0 * u),
                    }
            };
            let (rx, ry) = (r(0.8, 2.0), r(1.1, 0.4));
            let (got, expected) = (moved(&taper(shape), p), [rx * p[0], ry * p[1], p[2]]);
            for c in 0..3 {
                assert!(
                    (got[c] - expected[c]).abs() < 1e-12,
                    "{p:?}: {got:?} {expected:?}"
                );
            }
            let det = jacobian(&taper(shape), p).determinant();
            assert!((det - rx * ry).abs() < 1e-12, "volume factor {det}");
        }
    }
}

#[test]
fn jacobian_equals_central_differences() {
    for shape in SHAPES {
        check_jacobian(&taper(shape), &[0.2, 1.6], false);
        check_continuous(&taper(shape), &[0.2, 1.6]);
    }
}

#[test]
fn identity_and_kernels() {
    for shape in SHAPES {
        check_identity(Taper {
            start_scale: [1.0; 2],
            end_scale: [1.0; 2],
            curve: 0.0,
            ..taper(shape)
        });
        check_kernels(taper(shape));
    }
}

#[test]
fn a_point_and_a_mirrored_end_are_finite() {
    for shape in SHAPES {
        for end in [0.0, -1.0] {
            crate::local_frame::test_support::check_finite(Taper {
                end_scale: [end; 2],
                ..taper(shape)
            });
        }
    }
}
