//! Identity, affine maps, sample values of the bases, degenerate grids.

use super::*;

fn resolutions() -> [[i64; 3]; 5] {
    [[4, 4, 4], [2, 3, 5], [1, 4, 2], [9, 1, 6], [1, 1, 1]]
}

#[test]
fn rest_lattice_is_the_identity() {
    let positions = points_in(37, 0.8, &box_transform());
    for interpolation in ALL {
        for resolution in resolutions() {
            for outside in [Outside::Natural, Outside::Falloff, Outside::Extrapolate] {
                let bind = bound(LatticeConfig {
                    outside,
                    ..config(interpolation, resolution)
                });
                let rest = rest_points(&bind);
                let out = Case::new(&bind, &rest, &positions).run();
                for (o, p) in out.positions.iter().zip(&positions) {
                    assert!(
                        distance(wide(*p), *o) < 1e-6,
                        "{interpolation:?} {resolution:?} {outside:?}"
                    );
                }
            }
        }
    }
}

/// Interpolations with linear precision carry any affine map of the points over to the mesh, in and outside the box.
#[test]
fn affine_maps_of_the_points_are_exact() {
    let map = Affine {
        linear: Mat3::new(0.9, -0.4, 0.1, 0.3, 1.2, 0.2, -0.1, 0.5, 0.7),
        translation: Vec3::new(0.3, 0.1, -0.6),
    };
    let positions = points_in(61, 0.75, &box_transform());
    for interpolation in ALL {
        if matches!(
            interpolation,
            Interpolation::Cardinal | Interpolation::CellEased
        ) {
            continue;
        }
        for resolution in [[4, 4, 4], [2, 3, 5], [7, 6, 9]] {
            let bind = bound(LatticeConfig {
                outside: Outside::Extrapolate,
                points_in_world: true,
                influence: [5, 4, 3],
                ..config(interpolation, resolution)
            });
            let points: Vec<[f64; 3]> = rest_points(&bind)
                .iter()
                .map(|p| map.point(box_transform().point(Vec3::from(*p))).into())
                .collect();
            let out = Case::new(&bind, &points, &positions).run();
            let normal_matrix = map.normal_matrix();
            let (normals, _) = Case::new(&bind, &points, &positions).frames();
            for v in 0..positions.len() {
                let expected = map.point(wide(positions[v]));
                assert!(
                    distance(expected, out.positions[v]) < 5e-6,
                    "{interpolation:?} {resolution:?} vertex {v}"
                );
                let n = (normal_matrix * wide(normals[v])).normalize();
                assert!(
                    distance(n, out.normals[v]) < 5e-5,
                    "normal {v} {interpolation:?}"
                );
            }
        }
    }
}

/// Sums of `i * weight_i` and of `weight_i` at grid parameter `r`: how a linear ramp 0, 1, 2, .. is read.
fn ramp(interpolation: Interpolation, border: Border, r: f64, points: i64) -> (f64, f64) {
    let bind = bound(LatticeConfig {
        border,
        ..config(interpolation, [points; 3])
    });
    let rule: AxisRule = bind.rules[1];
    let mut basis = AxisBasis::<f64>::new();
    basis.evaluate(&rule, r / (points - 1) as f64, false);
    let w = &basis.w[..basis.len];
    let sum = w.iter().sum();
    let weighted = w.iter().enumerate();
    (
        weighted.map(|(i, w)| (i + basis.start) as f64 * w).sum(),
        sum,
    )
}

#[test]
fn published_values_of_the_linear_ramp() {
    use Interpolation::{Bspline, Cardinal, CatmullRom};
    for (interpolation, r, expected, tolerance) in [
        (Bspline, 0.0, 1.0 / 6.0, 1e-12),
        (CatmullRom, 0.5, 0.4375, 1e-12),
        (Cardinal, 1.25, 1.289, 5e-4),
    ] {
        let (found, _) = ramp(interpolation, Border::Clamp, r, 4);
        assert!(
            (found - expected).abs() < tolerance,
            "{interpolation:?}: {found}"
        );
    }
    // With an extrapolated border, all but the cardinal spline read the ramp exactly.
    for interpolation in [Bspline, CatmullRom, Interpolation::LocalBspline] {
        for r in [0.0, 0.2, 0.5, 1.25, 2.9, 3.0] {
            let (found, _) = ramp(interpolation, Border::Extrapolate, r, 4);
            assert!(
                (found - r).abs() < 1e-12,
                "{interpolation:?} at {r}: {found}"
            );
        }
    }
}

#[test]
fn weights_sum_to_one() {
    for interpolation in ALL {
        for border in [Border::Clamp, Border::Extrapolate] {
            for points in [2, 3, 4, 17] {
                for step in -4..=40 {
                    let r = f64::from(step) / 36.0 * (points - 1) as f64;
                    let (_, sum) = ramp(interpolation, border, r, points);
                    assert!(
                        (sum - 1.0).abs() < 1e-9,
                        "{interpolation:?} {points} at {r}: {sum}"
                    );
                }
            }
        }
    }
}

/// Bernstein's polynomial as the article has it, with binomials and powers, in double precision.
fn bernstein(n: i32, i: i32, s: f64) -> f64 {
    let binomial = (1..=i).fold(1.0, |b, k| b * f64::from(n - i + k) / f64::from(k));
    binomial * s.powi(i) * (1.0 - s).powi(n - i)
}

fn check_against_article(resolution: [i64; 3]) {
    let bind = bound(config(Interpolation::Bernstein, resolution));
    let points = shaken(&bind, 0.2);
    let positions = points_in(19, 0.5, &box_transform());
    let case = Case::new(&bind, &points, &positions);
    let out = case.run();
    let inverse = box_transform().inverse().expect("regular");
    let [nx, ny, nz] = resolution.map(|n| n as i32);
    for (v, p) in positions.iter().enumerate() {
        let s = inverse.point(wide(*p)).add_scalar(0.5);
        let mut sum = Vec3::zeros();
        for k in 0..nz {
            for j in 0..ny {
                for i in 0..nx {
                    let weight = bernstein(nx - 1, i, s.x)
                        * bernstein(ny - 1, j, s.y)
                        * bernstein(nz - 1, k, s.z);
                    sum += Vec3::from(points[(i + nx * (j + ny * k)) as usize]) * weight;
                }
            }
        }
        let d = distance(box_transform().point(sum), out.positions[v]);
        assert!(d < 3e-6, "{resolution:?} vertex {v}: off by {d}");
    }
}

/// Each axis has its own count, so a mixed-up axis shows.
#[test]
fn defect_5_every_axis_uses_its_own_degree_and_parameter() {
    check_against_article([2, 3, 5]);
    check_against_article([4, 4, 4]);
}

#[test]
fn defect_6_more_than_eight_points_on_an_axis() {
    check_against_article([12, 2, 9]);
}

#[test]
fn defect_7_pow_zero_zero_on_lattice_faces() {
    let bind = bound(config(Interpolation::Bernstein, [4, 3, 5]));
    let points = shaken(&bind, 0.3);
    let corners: Vec<[f32; 3]> = (0..8)
        .map(|c| [0, 1, 2].map(|a| if c >> a & 1 == 1 { 0.5 } else { -0.5 }))
        .collect();
    let mut case = Case::new(&bind, &points, &corners);
    case.transform = Affine::identity();
    let out = case.run();
    for (c, o) in out.positions.iter().enumerate() {
        let (i, j, k) = (3 * (c & 1), 2 * (c >> 1 & 1), 4 * (c >> 2));
        let corner = Vec3::from(points[i + 4 * (j + 3 * k)]);
        assert!(
            distance(corner, *o) < 2e-7,
            "corner {c} follows its control point"
        );
    }
}

#[test]
fn thirty_points_an_axis_are_stable() {
    let map = Mat3::new(0.9, -0.4, 0.1, 0.3, 1.2, 0.2, -0.1, 0.5, 0.7);
    for interpolation in [Interpolation::Bernstein, Interpolation::LocalBspline] {
        let bind = bound(LatticeConfig {
            influence: [30; 3],
            ..config(interpolation, [30; 3])
        });
        let points: Vec<[f64; 3]> = rest_points(&bind)
            .iter()
            .map(|p| (map * Vec3::from(*p)).into())
            .collect();
        // The widest local splines are slow: few vertices, well inside, where they need no stand-ins.
        let positions = points_in(9, 0.01, &Affine::identity());
        let mut case = Case::new(&bind, &points, &positions);
        case.transform = Affine::identity();
        for (o, p) in case.run().positions.iter().zip(&positions) {
            let d = distance(map * wide(*p), *o);
            assert!(d < 2e-6, "{interpolation:?}: off by {d}");
        }
    }
}

#[test]
fn defect_10_one_point_on_an_axis_holds_the_whole_axis() {
    for interpolation in ALL {
        let bind = bound(LatticeConfig {
            points_are_offsets: true,
            ..config(interpolation, [1, 2, 1])
        });
        let points = [[0.0, 0.0, 0.0], [0.3, 0.1, -0.2]];
        let positions = [[-0.5, -0.5, 0.2], [0.1, 0.5, 0.0], [0.4, 0.5, 0.5]];
        let mut case = Case::new(&bind, &points, &positions);
        case.transform = Affine::identity();
        let out = case.run().positions;
        let moved = |p: [f32; 3]| wide(p) + Vec3::from(points[1]);
        assert!(
            distance(wide(positions[0]), out[0]) < 1e-7,
            "{interpolation:?}"
        );
        assert!(
            distance(moved(positions[1]), out[1]) < 1e-7,
            "{interpolation:?}"
        );
        assert!(
            distance(moved(positions[2]), out[2]) < 1e-7,
            "{interpolation:?}"
        );
    }
}

#[test]
fn no_points_on_an_axis_switch_the_lattice_off() {
    let bind = bound(config(Interpolation::Bernstein, [4, 0, 4]));
    let positions = points_in(5, 0.5, &box_transform());
    let out = Case::new(&bind, &[], &positions).run();
    assert_eq!(out.positions, positions);
    assert_eq!(bind.edge_count(), 0);
}

#[test]
fn what_setup_refuses() {
    let base = LatticeConfig::default();
    let refused = |c: LatticeConfig| LatticeBind::new(c).expect_err("refused").to_string();
    assert!(
        refused(LatticeConfig {
            resolution: [4, -1, 4],
            ..base
        })
        .contains("[4, -1, 4]")
    );
    assert!(
        refused(LatticeConfig {
            resolution: [4, 257, 4],
            ..base
        })
        .contains("256")
    );
    assert!(
        refused(LatticeConfig {
            size: [1.0, 0.0, 1.0],
            ..base
        })
        .contains("above 0")
    );
    assert!(
        refused(LatticeConfig {
            size: [1.0, f64::NAN, 1.0],
            ..base
        })
        .contains("size")
    );
    assert!(
        refused(LatticeConfig {
            influence: [1, 2, 2],
            ..base
        })
        .contains("2 to 30")
    );
    let bind = bound(base);
    let message = bind
        .check_points(&[[0.0; 3]; 63])
        .expect_err("refused")
        .to_string();
    assert!(
        message.contains("63") && message.contains("64"),
        "{message}"
    );
    let mut points = vec![[0.0; 3]; 64];
    points[5][1] = f64::NAN;
    let message = bind.check_points(&points).expect_err("refused").to_string();
    assert!(message.contains("point 5"), "{message}");
    let flat = Affine {
        linear: Mat3::from_diagonal(&Vec3::new(1.0, 0.0, 1.0)),
        translation: Vec3::zeros(),
    };
    assert!(bind.bind_to_rest(&[], &flat).is_err(), "flat box");
}
