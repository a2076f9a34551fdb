use super::*;
use crate::local_frame::test_support::{
    Random, check_continuous, check_identity, check_jacobian, check_kernels, eval, jacobian, moved,
};
use std::f64::consts::{FRAC_PI_2, PI};

fn bend(angle: f64) -> Bend {
    Bend {
        angle,
        direction: 0.0,
        center: 0.0,
        region: Region::new(2.0, 0.0, 0.0),
    }
}

#[test]
fn a_rod_becomes_an_arc_of_the_same_length() {
    for angle in [FRAC_PI_2, PI, -1.2, 4.0] {
        let radius = 2.0 / angle;
        let mut length = 0.0;
        let n = 2000;
        let mut before = moved(&bend(angle), [0.0; 3]);
        for i in 1..=n {
            let s = 2.0 * f64::from(i) / f64::from(n);
            let p = moved(&bend(angle), [0.0, 0.0, s]);
            // A circle about (radius, 0, 0).
            let expected = [
                radius * (1.0 - (s / radius).cos()),
                0.0,
                radius * (s / radius).sin(),
            ];
            for c in 0..3 {
                assert!(
                    (p[c] - expected[c]).abs() < 1e-12,
                    "{angle} {s}: {p:?} {expected:?}"
                );
            }
            length += (0..3)
                .map(|c| (p[c] - before[c]).powi(2))
                .sum::<f64>()
                .sqrt();
            before = p;
        }
        assert!((length - 2.0).abs() < 2e-6, "{angle}: {length}");
    }
}

#[test]
fn barr_formula_with_center_limits_and_direction() {
    let b = Bend {
        angle: 1.1,
        direction: 0.7,
        center: 0.5,
        region: Region::new(2.0, 0.1, 0.2),
    };
    let (low, high) = (0.2, 1.6);
    let (k, center) = (1.1 / (high - low), 0.9);
    let mut random = Random(11);
    for _ in 0..1000 {
        let p = random.point();
        let (along, aside) = (
            p[0] * 0.7_f64.cos() + p[1] * 0.7_f64.sin(),
            -p[0] * 0.7_f64.sin() + p[1] * 0.7_f64.cos(),
        );
        // Barr's y is our height, his z the coordinate towards the bend.
        let inner = p[2].clamp(low, high);
        let theta = k * (inner - center);
        let y = -theta.sin() * (along - 1.0 / k) + center + (p[2] - inner) * theta.cos();
        let z = theta.cos() * (along - 1.0 / k) + 1.0 / k + (p[2] - inner) * theta.sin();
        let expected = [
            z * 0.7_f64.cos() - aside * 0.7_f64.sin(),
            z * 0.7_f64.sin() + aside * 0.7_f64.cos(),
            y,
        ];
        let got = moved(&b, p);
        for c in 0..3 {
            assert!(
                (got[c] - expected[c]).abs() < 1e-11,
                "{p:?}: {got:?} {expected:?}"
            );
        }
    }
}

#[test]
fn determinant_is_one_minus_curvature_times_height() {
    let b = Bend {
        direction: 0.4,
        ..bend(1.0)
    };
    let mut random = Random(2);
    for _ in 0..1000 {
        let p = random.point();
        let toward = p[0] * 0.4_f64.cos() + p[1] * 0.4_f64.sin();
        let inside = (0.0..=2.0).contains(&p[2]);
        let expected = if inside { 1.0 - 0.5 * toward } else { 1.0 };
        let det = jacobian(&b, p).determinant();
        assert!((det - expected).abs() < 1e-12, "{p:?}: {det} {expected}");
    }
}

#[test]
fn small_angles_are_smooth_down_to_zero() {
    for e in 0..14 {
        let angle = 10.0_f64.powi(-e);
        let single = eval::<f32, _>(&bend(angle), [0.3, 0.2, 1.5]);
        let exact = {
            // First terms of the series in the angle, where it is small.
            let (k, s, b) = (angle / 2.0, 1.5, 0.3);
            let t: f64 = k * s;
            if angle < 0.02 {
                [
                    0.5 * k * s * s - b * t * t / 2.0,
                    0.0,
                    -b * t - t * t * s / 6.0,
                ]
            } else {
                [
                    b * (t.cos() - 1.0) + (1.0 - t.cos()) / k,
                    0.0,
                    -b * t.sin() + t.sin() / k - s,
                ]
            }
        };
        for c in 0..3 {
            let error = (f64::from(single.offset[c]) - exact[c]).abs();
            assert!(
                error < 3e-7_f64.max(angle * 1e-5),
                "{angle}: {single:?} {exact:?}"
            );
        }
    }
    assert_eq!(eval::<f32, _>(&bend(0.0), [0.3, 0.2, 1.5]).offset, [0.0; 3]);
}

#[test]
fn jacobian_equals_central_differences() {
    for angle in [0.0, 1e-4, 0.3, -2.0, 6.0] {
        let region = Region::new(2.0, 0.1, 0.2);
        let b = Bend {
            angle,
            direction: 0.9,
            center: 0.3,
            region,
        };
        check_jacobian(&b, &[0.2, 1.6], false);
        check_continuous(&b, &[0.2, 1.6]);
    }
}

#[test]
fn beyond_the_limits_is_rigid() {
    let b = Bend {
        center: 0.5,
        ..bend(2.0)
    };
    for z in [-0.3, 2.4] {
        let j = jacobian(&b, [0.5, 0.2, z]);
        assert!(
            (j.transpose() * j - sinew_geom::Mat3::identity()).norm() < 1e-12,
            "{j}"
        );
    }
}

#[test]
fn identity_and_kernels() {
    check_identity(bend(0.0));
    check_kernels(Bend {
        angle: 1.0,
        direction: 0.5,
        center: 0.5,
        region: Region::new(2.0, 0.1, 0.2),
    });
    check_kernels(Bend {
        direction: 2.0,
        ..bend(0.02)
    });
}
