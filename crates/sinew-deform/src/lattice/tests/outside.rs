//! Outside the box, masks and weights, spaces.

use super::*;

fn unit_case(
    outside: Outside,
    positions: &[[f32; 3]],
    move_border: bool,
) -> (Vec<[f32; 3]>, LatticeBind) {
    let bind = bound(LatticeConfig {
        outside,
        ..config(Interpolation::Bernstein, [3, 3, 3])
    });
    let mut points = shaken(&bind, 0.2);
    if !move_border {
        points = rest_points(&bind);
        points[13] = [0.2, 0.3, -0.1];
    }
    let mut case = Case::new(&bind, &points, positions);
    case.transform = Affine::identity();
    (case.run().positions, bind)
}

#[test]
fn none_leaves_vertices_outside_untouched() {
    let positions = [[0.51, 0.0, 0.0], [0.0, -3.0, 0.2], [0.5, 0.5, 0.5]];
    let (out, _) = unit_case(Outside::None, &positions, true);
    assert_eq!(out[..2], positions[..2]);
    assert_ne!(out[2], positions[2], "the faces belong to the box");
}

#[test]
fn clamp_moves_like_the_nearest_point_of_the_box() {
    let (out, _) = unit_case(Outside::Clamp, &[[0.9, 0.1, -0.7], [0.5, 0.1, -0.5]], true);
    for (c, shift) in [0.4, 0.0, -0.2].into_iter().enumerate() {
        assert!(
            (out[0][c] - out[1][c] - shift).abs() < 1e-6,
            "component {c}"
        );
    }
}

/// Positions and slopes are continuous through the faces of the box and where the falloff ends; the document's
/// lattice has a jump or a crease there.
#[test]
fn falloff_and_extrapolation_have_no_crease() {
    for outside in [Outside::Falloff, Outside::Extrapolate] {
        for interpolation in ALL {
            let bind = bound(LatticeConfig {
                outside,
                ..config(interpolation, [4, 3, 5])
            });
            let points = shaken(&bind, 0.2);
            let mut case = Case::new(&bind, &points, &[]);
            case.transform = Affine::identity();
            let mut at = case.reference();
            // A path through a face, an edge region and the end of the falloff.
            for (place, axis) in [
                ([0.5, 0.1, 0.2], 0),
                ([0.7, 0.5, 0.6], 1),
                ([0.1, 0.2, 1.0], 2),
            ] {
                let mut sides = [-1e-7, 1e-7].map(|d| {
                    let mut p = Vec3::from(place);
                    p[axis] += d;
                    at(p).map_or((Vec3::zeros(), Mat3::zeros()), |d| (d.offset, d.gradient))
                });
                // The eased lattice is only continuous across its faces, being linear inside them.
                let (a, b) = (std::mem::take(&mut sides[0]), sides[1]);
                assert!(
                    (a.0 - b.0).norm() < 1e-6,
                    "{outside:?} {interpolation:?} jumps at {place:?}"
                );
                assert!(
                    (a.1 - b.1).norm() < 2e-5,
                    "{outside:?} {interpolation:?} creases at {place:?}"
                );
            }
        }
    }
}

#[test]
fn falloff_ends_at_its_distance() {
    let positions = [[1.0, 0.0, 0.0], [0.9, 0.9, 0.2], [0.75, 0.0, 0.0]];
    let (out, _) = unit_case(Outside::Falloff, &positions, true);
    assert_eq!(out[..2], positions[..2], "half a metre out and beyond");
    assert_ne!(out[2], positions[2]);
}

#[test]
fn interior_points_leave_the_faces_at_rest() {
    let positions = [[0.5, 0.1, 0.2], [0.0, 0.0, 0.0]];
    let (out, _) = unit_case(Outside::Falloff, &positions, false);
    assert!(distance(wide(positions[0]), out[0]) < 1e-7, "face");
    // B_1^2(1/2)^3 = 1/8 of the middle point's move.
    assert!(
        distance(Vec3::new(0.2, 0.3, -0.1) / 8.0, out[1]) < 1e-7,
        "middle"
    );
}

#[test]
fn mask_invert_and_weight_multiply() {
    let positions = points_in(45, 0.7, &box_transform());
    let mask: Vec<f32> = (0..45).map(|v| (v % 4) as f32 / 3.0).collect();
    for (interpolation, resolution) in [
        (Interpolation::Bernstein, [4, 4, 4]),
        (Interpolation::Bspline, [4, 4, 4]),
        (Interpolation::Bspline, [5, 4, 4]),
    ] {
        let bind = bound(config(interpolation, resolution));
        let points = shaken(&bind, 0.2);
        let run = |mask, invert, weight| {
            let mut case = Case::new(&bind, &points, &positions);
            case.weight = MaskWeight {
                mask,
                invert,
                weight,
            };
            case.run()
        };
        let full = run(None, false, 1.0);
        for invert in [false, true] {
            let out = run(Some(mask.as_slice()), invert, 0.5);
            for v in 0..45 {
                let m = if invert { 1.0 - mask[v] } else { mask[v] };
                let (p, q) = (wide(positions[v]), wide(full.positions[v]));
                let expected = p + (q - p) * f64::from(0.5 * m);
                assert!(distance(expected, out.positions[v]) < 1e-6, "vertex {v}");
            }
        }
        let (normals, tangents) = Case::new(&bind, &points, &positions).frames();
        let none = run(Some(mask.as_slice()), false, 0.0);
        assert_eq!(
            (none.positions, none.normals, none.tangents),
            (positions.clone(), normals.clone(), tangents)
        );
        let masked = run(Some(mask.as_slice()), false, 1.0);
        for v in (0..45).step_by(4) {
            assert_eq!(
                (masked.positions[v], masked.normals[v]),
                (positions[v], normals[v]),
                "mask 0 keeps every bit"
            );
        }
    }
}

#[test]
fn local_world_and_offset_points_agree() {
    let positions = points_in(21, 0.6, &box_transform());
    let base = config(Interpolation::Bernstein, [4, 3, 2]);
    let bind = bound(base);
    let local = shaken(&bind, 0.2);
    let rest = rest_points(&bind);
    let world: Vec<[f64; 3]> = local
        .iter()
        .map(|p| box_transform().point(Vec3::from(*p)).into())
        .collect();
    let moves = local
        .iter()
        .zip(&rest)
        .map(|(p, r)| Vec3::from(*p) - Vec3::from(*r));
    let offsets: Vec<[f64; 3]> = moves.clone().map(Into::into).collect();
    let world_offsets: Vec<[f64; 3]> = moves.map(|m| (box_transform().linear * m).into()).collect();
    let expected = Case::new(&bind, &local, &positions).run();
    for (points, points_in_world, points_are_offsets) in [
        (&world, true, false),
        (&offsets, false, true),
        (&world_offsets, true, true),
    ] {
        let bind = bound(LatticeConfig {
            points_in_world,
            points_are_offsets,
            ..base
        });
        let out = Case::new(&bind, points, &positions).run();
        let d = sinew_testkit::max_distance(&expected.positions, &out.positions);
        assert!(
            d < 1e-6,
            "world {points_in_world} offsets {points_are_offsets}: {d}"
        );
    }
}

/// One lattice described from its corner and from its centre.
#[test]
fn defect_29_corner_and_centred_boxes_agree() {
    let size = [1.0, 2.0, 0.5];
    let base = LatticeConfig {
        size,
        points_in_world: true,
        ..config(Interpolation::Bernstein, [3, 4, 2])
    };
    let corner = bound(LatticeConfig {
        origin: BoxOrigin::Corner,
        ..base
    });
    let centre = bound(base);
    let mut shifted = box_transform();
    shifted.translation += shifted.linear * Vec3::from(size) * 0.5;
    let points: Vec<[f64; 3]> = shaken(&corner, 0.2)
        .iter()
        .map(|p| box_transform().point(Vec3::from(*p)).into())
        .collect();
    let positions = points_in(31, 0.9, &box_transform());
    let a = Case::new(&corner, &points, &positions).run();
    let mut case = Case::new(&centre, &points, &positions);
    case.transform = shifted;
    let b = case.run();
    assert!(
        sinew_testkit::max_distance(&a.positions, &b.positions) < 1e-6,
        "same lattice"
    );
}

#[test]
fn bound_to_rest_the_lattice_sticks_to_the_mesh() {
    let positions = points_in(21, 0.5, &box_transform());
    let far: Vec<[f32; 3]> = positions.iter().map(|p| [p[0] + 8.0, p[1], p[2]]).collect();
    for resolution in [[4, 4, 4], [5, 3, 2]] {
        let bind = bound(config(Interpolation::Bspline, resolution));
        let stuck = bind
            .clone()
            .bind_to_rest(&positions, &box_transform())
            .expect("regular");
        let points = shaken(&bind, 0.2);
        let expected = Case::new(&bind, &points, &positions).run();
        let out = Case::new(&stuck, &points, &far).run();
        for (v, o) in out.positions.iter().enumerate() {
            let e = wide(expected.positions[v]) + Vec3::new(8.0, 0.0, 0.0);
            assert!(distance(e, *o) < 3e-6, "vertex {v}");
        }
        assert_eq!(
            Case::new(&bind, &points, &far).run().positions,
            far,
            "not bound: out of reach"
        );
    }
}

/// A box as somebody makes it for a mesh: its corner and size are smallest and largest coordinates in single precision. Points of its
/// faces move as the sum of Bernstein polynomials says, wherever rounding brings them; points beyond do not.
#[test]
fn points_on_the_faces_of_a_box_around_a_mesh_move() {
    let mut numbers = Numbers(11);
    for round in 0..40 {
        let offset = numbers.point(if round % 2 == 0 { 50.0 } else { 1000.0 });
        let mesh: Vec<[f32; 3]> = (0..30)
            .map(|_| {
                let p = numbers.point(3.0);
                std::array::from_fn(|c| (p[c] + offset[c]) as f32)
            })
            .collect();
        let (low, high) = sinew_geom::bounds(&mesh).expect("points");
        let size: [f64; 3] = std::array::from_fn(|c| f64::from(high[c] - low[c]));
        let bind = bound(LatticeConfig {
            outside: Outside::None,
            origin: BoxOrigin::Corner,
            size,
            ..config(Interpolation::Bernstein, [3, 2, 4])
        });
        let offsets: Vec<[f64; 3]> = (0..24).map(|_| numbers.point(1.0)).collect();
        let rest = rest_points(&bind);
        let moved = rest.iter().zip(&offsets);
        let points: Vec<[f64; 3]> = moved
            .map(|(r, o)| std::array::from_fn(|c| r[c] + o[c]))
            .collect();
        let mut case = Case::new(&bind, &points, &mesh);
        case.transform = Affine {
            translation: wide(low),
            ..Affine::identity()
        };
        let out = case.run().positions;
        let bernstein = |n: usize, i: usize, t: f64| {
            let choose = [1.0, 1.0, 2.0, 6.0];
            let (i, n) = (i as i32, n as i32 - 1);
            let binomial = choose[n as usize] / (choose[i as usize] * choose[(n - i) as usize]);
            binomial * t.powi(i) * (1.0 - t).powi(n - i)
        };
        for (p, found) in mesh.iter().zip(&out) {
            let t: [f64; 3] = std::array::from_fn(|c| {
                ((f64::from(p[c]) - f64::from(low[c])) / size[c]).clamp(0.0, 1.0)
            });
            let mut expected = wide(*p);
            for (k, o) in offsets.iter().enumerate() {
                let (i, j, l) = (k % 3, k / 3 % 2, k / 6);
                let weight = bernstein(3, i, t[0]) * bernstein(2, j, t[1]) * bernstein(4, l, t[2]);
                expected += Vec3::from(*o) * weight;
            }
            let off = distance(expected, *found);
            assert!(off < 1e-3, "{p:?} in {low:?} to {high:?}: {off:e}");
        }
        let beyond = [[high[0] + 0.01, high[1], high[2]]];
        let mut case = Case::new(&bind, &points, &beyond);
        case.transform.linear = Mat3::identity();
        case.transform.translation = wide(low);
        assert_eq!(case.run().positions, beyond);
    }
}
