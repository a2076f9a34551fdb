use super::*;
use crate::Par;
use crate::local_frame::test_support::{
    Kernel, Random, check_continuous, check_identity, check_jacobian, check_kernels, eval,
    jacobian, moved, run,
};
use sinew_geom::Vec3;

fn stretched(stretch: f64) -> SquashStretch {
    SquashStretch {
        mode: Mode::Published,
        stretch,
        ..SquashStretch::default()
    }
}

/// First published sample: factor 1, length 2, limits 0.1.
pub(super) fn sample() -> SquashStretch {
    SquashStretch {
        length: 2.0,
        limit_bottom: 0.1,
        limit_top: 0.1,
        ..stretched(2.0)
    }
}

fn assert_close(got: [f64; 3], expected: [f64; 3], tolerance: f64) {
    for c in 0..3 {
        assert!(
            (got[c] - expected[c]).abs() < tolerance,
            "{got:?}, expected {expected:?}"
        );
    }
}

#[test]
fn published_samples() {
    for (p, expected) in [
        ([1.0, 1.0, 0.5], [0.7444, 0.7444, 0.8]),
        ([1.0, 1.0, 1.0], [0.5399, 0.5399, 1.8]),
        ([1.0, 1.0, 2.1], [1.0, 1.0, 3.7]),
    ] {
        assert_close(moved(&sample(), p), expected, 6e-5);
    }
    let second = SquashStretch {
        length: 2.0,
        axis_bias: 0.2,
        cross_bias: 0.25,
        ..stretched(0.5)
    };
    assert_close(
        moved(&second, [1.0, 1.0, 0.5]),
        [2.0251, 1.3232, 0.2501],
        6e-5,
    );
}

/// The published map in double precision, written from its description: `factor` is 0.5 at rest, z runs from `low` to `high`, `bias` moves
/// the bulge along the axis and `cross` shares it between both other axes.
fn published(p: [f64; 3], factor: f64, [low, high]: [f64; 2], bias: f64, cross: f64) -> [f64; 3] {
    let ratio = 2.0 * factor;
    let inside = p[2].clamp(low, high);
    let u = (inside - low) / (high - low);
    let curve = if bias == 0.5 {
        u
    } else {
        let t = (bias - (u - 2.0 * u * bias + bias * bias).sqrt()) / (2.0 * bias - 1.0);
        2.0 * (1.0 - t) * t * (1.0 - bias) + t * t
    };
    let bulge = std::f64::consts::FRAC_PI_2 * (std::f64::consts::PI * curve).sin();
    let plain = ratio.recip().sqrt();
    let even = 1.0 - (cross - 0.5).abs() * 2.0;
    let most = plain.recip() * (1.0 - even) + even;
    let [x, y] = if cross < 0.5 {
        [plain / most, plain * most]
    } else {
        [plain * most, plain / most]
    };
    [
        p[0] * (1.0 + (x - 1.0) * bulge),
        p[1] * (1.0 + (y - 1.0) * bulge),
        (p[2] - high).max(0.0) + (inside - low) * ratio + p[2].min(low),
    ]
}

#[test]
fn rows_58_and_62_factors_and_biases_are_those_of_the_published_map() {
    let region = [0.2, 1.8];
    for factor in [0.2, 0.5, 0.75, 1.4] {
        for (bias, cross) in [(0.5, 0.5), (0.3, 0.1), (0.7, 0.9), (0.5, 0.25), (0.2, 0.6)] {
            let s = SquashStretch {
                axis_bias: bias,
                cross_bias: cross,
                length: 2.0,
                limit_bottom: 0.1,
                limit_top: 0.1,
                prevent_fold: false,
                ..stretched(2.0 * factor)
            };
            for z in [-0.3, 0.1, 0.2, 0.6, 1.0, 1.5, 1.8, 2.4] {
                let p = [0.7, -0.4, z];
                assert_close(
                    moved(&s, p),
                    published(p, factor, region, bias, cross),
                    1e-9,
                );
            }
        }
    }
}

#[test]
fn published_samples_of_the_axis_bias() {
    for (m, expected) in [
        (0.2, [0.0, 0.5363, 0.777, 0.9167, 1.0]),
        (0.8, [0.0, 0.0833, 0.223, 0.4637, 1.0]),
    ] {
        let curve = published::Bezier::<f64>::new(m);
        for (i, e) in expected.iter().enumerate() {
            let (b, _) = curve.at(i as f64 / 4.0);
            assert!((b - e).abs() < 6e-5, "m {m}, u {}: {b}", i as f64 / 4.0);
        }
    }
}

#[test]
fn defect_11_axis_bias_is_stable_near_one_half() {
    for m in [0.5, 0.500_000_1, 0.499_999_9, 0.500_001, 0.51] {
        for i in 0..=10 {
            let u = f64::from(i) / 10.0;
            let (single, _) = published::Bezier::<f32>::new(m).at(u as f32);
            // The curve by bisection of its first coordinate, in double precision.
            let (mut a, mut b) = (0.0_f64, 1.0_f64);
            for _ in 0..60 {
                let t = 0.5 * (a + b);
                if 2.0 * t * (1.0 - t) * m + t * t < u {
                    a = t
                } else {
                    b = t
                }
            }
            let expected = 2.0 * a * (1.0 - a) * (1.0 - m) + a * a;
            assert!(
                (f64::from(single) - expected).abs() < 1e-6,
                "m {m}, u {u}: {single}, {expected}"
            );
        }
    }
}

/// Volume of the region after over before, by the midpoint rule over the section scales.
fn region_volume(s: &SquashStretch) -> f64 {
    let (region, n) = (s.region(), 4000);
    (0..n)
        .map(|i| {
            let z = region.low + (f64::from(i) + 0.5) / f64::from(n) * (region.high - region.low);
            jacobian(s, [0.0, 0.0, z]).determinant() / f64::from(n)
        })
        .sum()
}

#[test]
fn published_volume_is_kept_only_roughly() {
    for (factor, expected) in [
        (0.05, 1.109),
        (0.25, 1.02),
        (0.5, 1.0),
        (1.0, 1.040),
        (2.0, 1.234),
        (4.0, 1.78),
        (8.0, 3.10),
    ] {
        let s = SquashStretch {
            prevent_fold: false,
            ..stretched(2.0 * factor)
        };
        let v = region_volume(&s);
        assert!(
            (v - expected).abs() < 6e-3,
            "factor {factor}: {v}, {expected}"
        );
    }
}

#[test]
fn defect_30_published_mode_does_not_turn_inside_out() {
    let middle = [1.0, 1.0, 0.5];
    for (factor, bias, folds) in [
        (3.75, 0.5, false),
        (3.82, 0.5, true),
        (1.36, 0.0, false),
        (1.40, 0.0, true),
        (50.0, 0.3, true),
    ] {
        let free = SquashStretch {
            cross_bias: bias,
            prevent_fold: false,
            ..stretched(2.0 * factor)
        };
        let least = |s: &SquashStretch| {
            let g = eval::<f64, _>(s, middle).gradient;
            1.0 + g[0][0].min(g[1][1])
        };
        assert_eq!(
            least(&free) < 0.0,
            folds,
            "factor {factor}, bias {bias}: {}",
            least(&free)
        );
        let safe = SquashStretch {
            prevent_fold: true,
            ..free
        };
        assert!(
            least(&safe) > 0.0199,
            "factor {factor}, bias {bias}: {}",
            least(&safe)
        );
    }
}

fn random_volume(random: &mut Random) -> SquashStretch {
    let (low, high) = (0.05_f64.ln(), 20.0_f64.ln());
    SquashStretch {
        mode: Mode::VolumePreserving,
        stretch: random.within(low, high).exp(),
        length: random.within(0.5, 3.0),
        limit_bottom: random.within(0.0, 0.4),
        limit_top: random.within(0.0, 0.4),
        axis_bias: random.next(),
        cross_bias: random.next(),
        ..SquashStretch::default()
    }
}

#[test]
fn volume_mode_has_determinant_one_everywhere_and_never_folds() {
    let mut random = Random(3);
    for _ in 0..20_000 {
        let s = random_volume(&mut random);
        let j = jacobian(&s, random.point());
        assert!(
            (j.determinant() - 1.0).abs() < 1e-9,
            "{s:?}: {}",
            j.determinant()
        );
        assert!(
            j[(0, 0)] > 0.0 && j[(1, 1)] > 0.0 && j[(2, 2)] > 0.0,
            "{s:?}: {j}"
        );
    }
}

#[test]
fn volume_mode_reaches_the_stretched_length_and_is_smooth_at_the_limits() {
    let mut random = Random(5);
    for _ in 0..500 {
        let s = random_volume(&mut random);
        let region = s.region();
        let top = moved(&s, [0.0, 0.0, region.high + 0.5])[2];
        let expected = region.low + s.stretch * (region.high - region.low) + 0.5;
        assert!((top - expected).abs() < 1e-9, "{s:?}: {top} {expected}");
        for z in [region.low + 1e-11, region.high - 1e-11] {
            let slope = jacobian(&s, [0.0, 0.0, z])[(2, 2)];
            assert!((slope - 1.0).abs() < 1e-5, "{s:?}: {slope}");
        }
        check_continuous(&s, &[region.low, region.high]);
    }
}

/// A ball of radius 1 with its lowest point at the origin.
fn ball() -> sinew_geom::Mesh {
    let mut mesh = sinew_testkit::meshes::sphere(96, 160);
    for p in &mut mesh.positions {
        p[1] += 1.0;
    }
    mesh
}

fn volume(mesh: &sinew_geom::Mesh, positions: &[[f32; 3]]) -> f64 {
    let corner = |v: u32| Vec3::from(positions[v as usize].map(f64::from));
    let six = |t: &[u32; 3]| corner(t[0]).dot(&corner(t[1]).cross(&corner(t[2])));
    mesh.topology.triangles().iter().map(six).sum::<f64>() / 6.0
}

/// Every vertex lies on the ellipsoid with the axes S, a and b where a b = 1 / S, with the ellipsoid's normal.
#[test]
fn even_mode_makes_an_ellipsoid_of_the_same_volume_of_a_ball() {
    let mesh = ball();
    let before = volume(&mesh, &mesh.positions);
    for stretch in [0.3, 0.7, 1.0, 1.6, 3.0] {
        for (cross_bias, first) in [(0.5, 0.5), (0.0, 1.0), (1.0, 0.0)] {
            let s = SquashStretch {
                stretch,
                length: 2.0,
                cross_bias,
                ..SquashStretch::default()
            };
            let out = run(
                s,
                Placement::default(),
                MaskWeight::ONE,
                &mesh,
                Kernel::Fast(Par::Seq),
            );
            // Along y the first cross axis is z, the second x.
            let axes = Vec3::new(stretch.powf(first - 1.0), stretch, stretch.powf(-first));
            let near = if cross_bias == 0.5 { 2e-6 } else { 1e-3 };
            for (p, n) in out.positions.iter().zip(&out.normals) {
                let from_center = Vec3::from(p.map(f64::from)) - Vec3::new(0.0, stretch, 0.0);
                let unit = from_center.component_div(&axes);
                assert!((unit.norm() - 1.0).abs() < near, "{s:?}: {unit}");
                let normal = unit.component_div(&axes).normalize();
                let off = (normal - Vec3::from(n.map(f64::from))).norm();
                assert!(off < near.max(1e-4), "{s:?}: {off}");
            }
            let ratio = volume(&mesh, &out.positions) / before;
            assert!((ratio - 1.0).abs() < 1e-5, "{s:?}: {ratio}");
        }
    }
}

/// Beyond the limits the width fades back over a quarter of the region by smoothstep, and heights move rigidly.
#[test]
fn even_mode_fades_beyond_the_limits() {
    let s = SquashStretch {
        mode: Mode::Even,
        stretch: 0.25,
        ..sample()
    };
    // The region is 0.2 to 1.8: the fades are 0.4 long, and the region loses 1.2.
    for (z, width) in [
        (1.0, 1.0),
        (1.8, 1.0),
        (1.9, 0.84375),
        (2.0, 0.5),
        (2.2, 0.0),
    ] {
        let expected = [
            0.7 * (1.0 + width),
            -0.4 * (1.0 + width),
            (z - 1.8_f64).max(0.0) + 0.2 + (z.min(1.8) - 0.2) * 0.25,
        ];
        assert_close(moved(&s, [0.7, -0.4, z]), expected, 1e-12);
        let below = moved(&s, [0.7, -0.4, 2.0 - z]);
        assert_close(
            [below[0], below[1], 0.0],
            [expected[0], expected[1], 0.0],
            1e-12,
        );
    }
    assert_close(
        moved(&s, [0.7, -0.4, 0.1]),
        [0.7 * 1.84375, -0.4 * 1.84375, 0.1],
        1e-12,
    );
    check_continuous(&s, &[-0.2, 0.2, 1.8, 2.2]);
    check_jacobian(&s, &[-0.2, 0.2, 1.8, 2.2], false);
    check_kernels(SquashStretch {
        cross_bias: 0.3,
        ..s
    });
    check_kernels(SquashStretch { stretch: 2.0, ..s });
}

#[test]
fn volume_mode_keeps_a_sphere_mesh_volume() {
    let mesh = ball();
    let before = volume(&mesh, &mesh.positions);
    for stretch in [0.5, 0.8, 1.5, 2.0, 3.0] {
        for bias in [0.5, 0.3] {
            let s = SquashStretch {
                mode: Mode::VolumePreserving,
                stretch,
                length: 2.0,
                axis_bias: bias,
                cross_bias: 0.7,
                ..SquashStretch::default()
            };
            let out = run(
                s,
                Placement::default(),
                MaskWeight::ONE,
                &mesh,
                Kernel::Fast(Par::Seq),
            );
            let ratio = volume(&mesh, &out.positions) / before;
            assert!(
                (ratio - 1.0).abs() < 4e-3,
                "stretch {stretch}, bias {bias}: {ratio}"
            );
        }
    }
}

#[test]
fn jacobians_equal_central_differences() {
    for m in [0.5, 0.2, 0.8, 0.500_000_1] {
        for bias in [0.5, 0.1, 0.9] {
            let s = SquashStretch {
                axis_bias: m,
                cross_bias: bias,
                ..sample()
            };
            check_jacobian(&s, &[0.2, 1.8], false);
            for stretch in [0.3, 2.0] {
                let s = SquashStretch {
                    mode: Mode::VolumePreserving,
                    stretch,
                    ..s
                };
                check_jacobian(&s, &[0.2, 1.8], false);
            }
        }
    }
}

#[test]
fn rigid_outside_the_limits() {
    for mode in [Mode::Published, Mode::VolumePreserving] {
        let s = SquashStretch {
            mode,
            axis_bias: 0.3,
            cross_bias: 0.2,
            ..sample()
        };
        assert_close(moved(&s, [0.7, -0.4, 0.1]), [0.7, -0.4, 0.1], 1e-12);
        // The region is 1.6 m long and becomes 3.2 m.
        assert_close(moved(&s, [0.7, -0.4, 2.0]), [0.7, -0.4, 3.6], 1e-9);
        for z in [0.1, 2.0] {
            let g = eval::<f64, _>(&s, [0.7, -0.4, z]).gradient;
            assert!(
                g.iter().flatten().all(|v| v.abs() < 1e-9),
                "{mode:?} {z}: {g:?}"
            );
        }
        check_continuous(&s, &[0.2, 1.8]);
    }
}

#[test]
fn length_scales_the_region() {
    for mode in [Mode::Even, Mode::Published, Mode::VolumePreserving] {
        let unit = SquashStretch {
            mode,
            length: 1.0,
            ..sample()
        };
        let triple = SquashStretch {
            length: 3.0,
            ..unit
        };
        let (a, b) = (
            moved(&unit, [1.0, 1.0, 0.4]),
            moved(&triple, [1.0, 1.0, 1.2]),
        );
        assert_close([b[0], b[1], b[2] / 3.0], a, 1e-12);
    }
}

#[test]
fn biases_move_and_share_the_bulge() {
    for mode in [Mode::Published, Mode::VolumePreserving] {
        let s = SquashStretch {
            mode,
            stretch: 0.5,
            ..SquashStretch::default()
        };
        let width = |s: &SquashStretch, z: f64| moved(s, [1.0, 1.0, z]);
        let low = SquashStretch {
            axis_bias: 0.2,
            ..s
        };
        assert!(
            width(&low, 0.25)[0] > width(&low, 0.75)[0] + 0.1,
            "{mode:?}: bulges at the bottom"
        );
        let first = width(
            &SquashStretch {
                cross_bias: 0.1,
                ..s
            },
            0.5,
        );
        assert!(first[0] > first[1] + 0.1, "{mode:?}: {first:?}");
        let second = width(
            &SquashStretch {
                cross_bias: 0.9,
                ..s
            },
            0.5,
        );
        assert_close([second[1], second[0], second[2]], first, 1e-9);
    }
}

#[test]
fn limits_that_meet_or_cross_stay_finite() {
    for mode in [Mode::Even, Mode::Published, Mode::VolumePreserving] {
        for (bottom, top) in [(0.5, 0.5), (0.9, 0.8), (1.0, 1.0), (0.0, 1.0)] {
            let s = SquashStretch {
                mode,
                limit_bottom: bottom,
                limit_top: top,
                ..sample()
            };
            for i in 0..100 {
                let p = moved(&s, [1.0, -1.0, f64::from(i) * 0.03 - 0.5]);
                assert!(
                    p.iter().all(|c| c.is_finite() && c.abs() < 20.0),
                    "{s:?}: {p:?}"
                );
            }
        }
    }
}

#[test]
fn extremes_stay_finite_in_single_precision() {
    for mode in [Mode::Even, Mode::Published, Mode::VolumePreserving] {
        for stretch in [0.0, 1e-4, 0.05, 20.0, 1000.0, 2000.0] {
            for bias in [0.0, 0.5, 1.0] {
                let s = SquashStretch {
                    mode,
                    stretch,
                    axis_bias: bias,
                    cross_bias: bias,
                    ..sample()
                };
                for i in 0..=200 {
                    let l = eval::<f32, _>(&s, [1.0, -1.0, i as f32 * 0.0125 - 0.2]);
                    let all = l.offset.iter().chain(l.gradient.iter().flatten());
                    assert!(all.clone().all(|c| c.is_finite()), "{s:?} {i}: {l:?}");
                }
            }
        }
    }
}

#[test]
fn identity_at_rest() {
    check_identity(stretched(1.0));
    check_identity(SquashStretch::default());
    for mode in [Mode::Even, Mode::VolumePreserving] {
        check_identity(SquashStretch {
            mode,
            axis_bias: 0.2,
            cross_bias: 0.1,
            ..SquashStretch::default()
        });
    }
}

#[test]
fn kernels_agree() {
    check_kernels(SquashStretch {
        axis_bias: 0.3,
        cross_bias: 0.3,
        ..sample()
    });
    let s = SquashStretch {
        mode: Mode::VolumePreserving,
        stretch: 0.6,
        ..sample()
    };
    check_kernels(SquashStretch {
        axis_bias: 0.4,
        cross_bias: 0.3,
        ..s
    });
    check_kernels(SquashStretch { stretch: 2.0, ..s });
}
