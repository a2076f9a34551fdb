use super::*;
use crate::local_frame::test_support::{
    Random, check_continuous, check_identity, check_jacobian, check_kernels, jacobian, moved,
};
use std::f64::consts::TAU;

fn sine(wave: Wave) -> Sine {
    Sine {
        wave,
        amplitude: 0.2,
        wavelength: 0.7,
        phase: 0.4,
        direction: 0.9,
        decay: 0.8,
        region: Region::new(2.0, 0.1, 0.2),
    }
}

#[test]
fn plane_and_radial_waves_as_stated() {
    let mut random = Random(8);
    for _ in 0..1000 {
        let p = random.point();
        let wave = |at: f64| (TAU / 0.7 * (at - 0.2) + 0.4).sin();
        let side = 0.2 * wave(p[2].clamp(0.2, 1.6));
        let r = p[0].hypot(p[1]).clamp(0.2, 1.6);
        let rise = 0.2 * (-0.8 * r).exp() * wave(r);
        for (kind, expected) in [
            (
                Wave::Plane,
                [
                    p[0] + side * 0.9_f64.cos(),
                    p[1] + side * 0.9_f64.sin(),
                    p[2],
                ],
            ),
            (Wave::Radial, [p[0], p[1], p[2] + rise]),
        ] {
            let got = moved(&sine(kind), p);
            for c in 0..3 {
                assert!(
                    (got[c] - expected[c]).abs() < 1e-12,
                    "{p:?}: {got:?} {expected:?}"
                );
            }
            let det = jacobian(&sine(kind), p).determinant();
            assert!((det - 1.0).abs() < 1e-12, "volume is kept: {det}");
        }
    }
}

#[test]
fn jacobian_equals_central_differences() {
    check_jacobian(&sine(Wave::Plane), &[0.2, 1.6], false);
    check_continuous(&sine(Wave::Plane), &[0.2, 1.6]);
    check_jacobian(&sine(Wave::Radial), &[0.2, 1.6], true);
}

#[test]
fn radial_wave_is_finite_on_its_axis() {
    let s = Sine {
        region: Region::new(2.0, 0.0, 0.0),
        ..sine(Wave::Radial)
    };
    let j = jacobian(&s, [0.0, 0.0, 1.0]);
    assert_eq!(j, sinew_geom::Mat3::identity());
}

#[test]
fn identity_and_kernels() {
    for wave in [Wave::Plane, Wave::Radial] {
        check_identity(Sine {
            amplitude: 0.0,
            ..sine(wave)
        });
        check_kernels(sine(wave));
    }
}
