//! Normals, tangents and the fast kernels against the double-precision reference.

use super::*;
use sinew_testkit::tolerance;

#[test]
fn gradient_agrees_with_central_differences() {
    for interpolation in ALL {
        for outside in [
            Outside::Falloff,
            Outside::Extrapolate,
            Outside::Clamp,
            Outside::Natural,
        ] {
            for border in [Border::Clamp, Border::Extrapolate] {
                let bind = bound(LatticeConfig {
                    outside,
                    border,
                    ..config(interpolation, [4, 3, 5])
                });
                let points = shaken(&bind, 0.2);
                let positions = points_in(40, 0.8, &box_transform());
                let case = Case::new(&bind, &points, &positions);
                let mut at = case.reference();
                for p in &positions {
                    let p = wide(*p);
                    let Some(here) = at(p) else { continue };
                    let h = 1e-5;
                    for c in 0..3 {
                        let mut step = Vec3::zeros();
                        step[c] = h;
                        let (Some(a), Some(b)) = (at(p + step), at(p - step)) else {
                            continue;
                        };
                        let expected = (a.offset - b.offset) / (2.0 * h);
                        let error = (expected - here.gradient.column(c)).norm();
                        let scale = 1.0 + here.gradient.norm();
                        assert!(
                            error < tolerance::JACOBIAN * scale,
                            "{interpolation:?} {outside:?} {border:?} at {p:?}: {error}"
                        );
                    }
                }
            }
        }
    }
}

/// Every kernel that `run` chooses, positions and frames, with a mask.
#[test]
fn fast_kernels_agree_with_the_reference() {
    let positions = points_in(203, 0.8, &box_transform());
    let mask: Vec<f32> = (0..203).map(|v| (v % 5) as f32 / 4.0).collect();
    for interpolation in ALL {
        for resolution in [[4, 4, 4], [8, 8, 8], [2, 5, 1], [4, 1, 3]] {
            for outside in [
                Outside::None,
                Outside::Clamp,
                Outside::Falloff,
                Outside::Extrapolate,
                Outside::Natural,
            ] {
                let border = if resolution[0] == 4 {
                    Border::Clamp
                } else {
                    Border::Extrapolate
                };
                let bind = bound(LatticeConfig {
                    outside,
                    border,
                    ..config(interpolation, resolution)
                });
                check_case(&bind, &positions, &mask);
            }
        }
    }
}

fn check_case(bind: &LatticeBind, positions: &[[f32; 3]], mask: &[f32]) {
    let points = shaken(bind, 0.1);
    let mut case = Case::new(bind, &points, positions);
    case.weight = MaskWeight {
        mask: Some(mask),
        invert: true,
        weight: 0.8,
    };
    let out = case.run();
    let (normals, tangents) = case.frames();
    let mut at = case.reference();
    for (v, p) in positions.iter().enumerate() {
        let weight = f64::from(case.weight.at(v));
        let t = Vec3::new(tangents[v][0], tangents[v][1], tangents[v][2]).map(f64::from);
        let vertex = (wide(*p), Some(wide(normals[v])), Some((t, -1.0)));
        let (p, n, t) = match at(wide(*p)) {
            Some(d) if weight != 0.0 => apply(&d, weight, vertex),
            _ => vertex,
        };
        let config = &bind.config;
        let message = format!("{config:?} vertex {v}");
        assert!(distance(p, out.positions[v]) < 4e-6, "position {message}");
        let n = n.expect("normal");
        assert!(
            distance(n, out.normals[v]) < tolerance::DIRECTION,
            "normal {message}"
        );
        let (t, sign) = t.expect("tangent");
        let [x, y, z, w] = out.tangents[v];
        assert!(
            distance(t, [x, y, z]) < tolerance::DIRECTION,
            "tangent {message}"
        );
        assert_eq!(f64::from(w), sign, "{message}");
    }
}

/// Under shear a normal carried like a tangent is no longer normal; and the directions are the scene's, not the
/// box's.
#[test]
fn defect_8_normals_stay_normal_under_shear() {
    let bind = bound(LatticeConfig {
        points_in_world: true,
        ..config(Interpolation::Bernstein, [3, 3, 3])
    });
    let shear = Mat3::new(1.0, 0.9, 0.0, 0.0, 1.0, 0.0, 0.0, 0.4, 1.0);
    let points: Vec<[f64; 3]> = rest_points(&bind)
        .iter()
        .map(|p| (shear * box_transform().point(Vec3::from(*p))).into())
        .collect();
    let positions = points_in(17, 0.5, &box_transform());
    let case = Case::new(&bind, &points, &positions);
    let out = case.run();
    let (normals, tangents) = case.frames();
    for v in 0..positions.len() {
        let n = wide(out.normals[v]);
        let [x, y, z, _] = tangents[v];
        let along = wide([x, y, z]);
        for surface in [along, wide(normals[v]).cross(&along)] {
            let carried = shear * surface;
            assert!(n.dot(&carried).abs() < 1e-5, "vertex {v}");
        }
        assert!(n.dot(&(shear * wide(normals[v]))) > 0.0, "same side");
        let [x, y, z, _] = out.tangents[v];
        assert!(
            distance((shear * along).normalize(), [x, y, z]) < 1e-5,
            "tangent {v}"
        );
    }
}

/// A millimetre box: a derivative taken over a fixed step would be useless.
#[test]
fn defect_9_frames_do_not_depend_on_the_size_of_the_box() {
    let outputs = [1.0, 0.001].map(|scale| {
        let bind = bound(LatticeConfig {
            size: [scale; 3],
            ..config(Interpolation::Bernstein, [4, 4, 4])
        });
        let points = shaken(&bind, 0.2 * scale);
        let space = Affine {
            linear: Mat3::identity() * scale,
            translation: Vec3::zeros(),
        };
        let positions = points_in(23, 0.5, &space);
        let mut case = Case::new(&bind, &points, &positions);
        case.transform = Affine::identity();
        case.run()
    });
    let [large, small] = &outputs;
    for v in 0..23 {
        let d = distance(wide(large.normals[v]), small.normals[v]);
        assert!(d < 1e-4, "vertex {v}: {d}");
    }
}

#[test]
fn mirroring_points_flips_tangent_signs_and_keeps_normals_outside() {
    let bind = bound(config(Interpolation::Bernstein, [2, 2, 2]));
    let points: Vec<[f64; 3]> = rest_points(&bind)
        .iter()
        .map(|p| [-p[0], p[1], p[2]])
        .collect();
    let positions = [[0.1, 0.2, 0.3]];
    let mut case = Case::new(&bind, &points, &positions);
    case.transform = Affine::identity();
    let out = case.run();
    let (normals, tangents) = case.frames();
    let [x, y, z] = normals[0];
    assert!(
        distance(wide([-x, y, z]), out.normals[0]) < 1e-6,
        "mirrored normal"
    );
    assert_eq!(out.tangents[0][3], -tangents[0][3]);
}

#[test]
fn collapsed_lattices_give_finite_frames() {
    for interpolation in ALL {
        for resolution in [[4, 4, 4], [3, 5, 4]] {
            let bind = bound(config(interpolation, resolution));
            let points = vec![[0.1, 0.2, 0.3]; bind.point_count()];
            let mesh = sinew_testkit::meshes::degenerate();
            let out = Case::new(&bind, &points, &mesh.positions).run();
            let all = out.positions.iter().chain(&out.normals).flatten();
            assert!(
                all.chain(out.tangents.iter().flatten())
                    .all(|v| v.is_finite())
            );
        }
    }
}
