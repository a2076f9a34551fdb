//! Where a surface is when the next frame begins, against shapes whose answer is known.

use super::{Frame, FrameEnd, Unpaired, Vector, ball, end_of, match_frames, shuffled};
use sinew_testkit::meshes::BOX_SIDES;

/// A sphere of `8 * side²` triangles; each eighth has points of its own, so that seams have two.
fn sphere(side: usize, radius: f32, middle: [f32; 3]) -> Frame {
    let mut frame = ball(side);
    for point in &mut frame.points {
        let direction = Vector::from(*point).normalize();
        *point = (direction * radius + Vector::from(middle)).into();
    }
    frame
}

fn both(mut a: Frame, b: Frame) -> Frame {
    let offset = a.points.len() as u32;
    a.points.extend(b.points);
    let shifted = b.triangles.iter().map(|t| t.map(|v| v + offset));
    a.triangles.extend(shifted);
    a
}

fn end(from: &Frame, to: &Frame) -> FrameEnd {
    end_of(from, to, &match_frames(from, to))
}

#[test]
fn a_sphere_that_grows_with_other_triangles_ends_on_the_larger_one() {
    let (before, after) = (sphere(12, 1.0, [0.0; 3]), sphere(15, 1.1, [0.0; 3]));
    let after = shuffled(&after, 7).0;
    let end = end(&before, &after);
    // No edge of an eighth of a turn in 15 steps is longer than twice the mean one: a chord sinks in by the cosine of half of it.
    let flattest = (std::f32::consts::FRAC_PI_2 / 15.0).cos();
    for (start, stop) in before.points.iter().zip(&end.points) {
        let (start, stop) = (Vector::from(*start), Vector::from(*stop));
        let radius = stop.norm();
        assert!(radius <= 1.1 + 1e-5 && radius >= 1.1 * flattest, "{radius}");
        let turned = start.angle(&stop);
        assert!(
            turned < 0.5 * std::f32::consts::FRAC_PI_2 / 12.0,
            "{turned} rad aside"
        );
    }
    for (triangle, normals) in before.triangles.iter().zip(&end.normals) {
        for (vertex, normal) in triangle.iter().zip(normals) {
            let radial = Vector::from(end.points[*vertex as usize]);
            let off = radial.angle(&Vector::from(*normal));
            assert!(off < 0.02, "{off} rad off");
        }
    }
    assert!(end.appearing.is_empty());
    assert!(end.landings.iter().all(Option::is_some));
}

/// Closed on the way: what is one place stays one place, to the bit.
#[test]
fn seams_stay_shut() {
    let (before, after) = (
        sphere(9, 1.0, [0.0; 3]),
        sphere(11, 1.05, [0.02, 0.0, 0.01]),
    );
    let end = end(&before, &after);
    let mut pairs = 0;
    for (i, a) in before.points.iter().enumerate() {
        for (j, b) in before.points.iter().enumerate().skip(i + 1) {
            if a == b {
                assert_eq!(end.points[i], end.points[j], "{a:?}");
                pairs += 1;
            }
        }
    }
    assert!(pairs > 90, "{pairs} seams");
}

#[test]
fn what_is_new_grows_out_of_a_point_and_what_is_gone_shrinks_into_one() {
    let stays = |radius| sphere(10, radius, [0.0; 3]);
    let before = both(stays(1.0), sphere(4, 0.2, [5.0, 0.0, 0.0]));
    let after = both(stays(1.0), sphere(6, 0.3, [0.0, -4.0, 0.0]));
    let end = end(&before, &after);
    let gone = &end.points[stays(1.0).points.len()..];
    assert!(gone.iter().all(|p| p == &gone[0]), "one point");
    let to_middle = (Vector::from(gone[0]) - Vector::new(5.0, 0.0, 0.0)).norm();
    assert!(to_middle < 0.02, "{to_middle} m from its middle");
    let first = stays(1.0).triangles.len() as u32;
    let expected: Vec<u32> = (first..after.triangles.len() as u32).collect();
    let found: Vec<u32> = end.appearing.iter().map(|a| a.triangle).collect();
    assert_eq!(found, expected);
    let points: Vec<[f32; 3]> = end.appearing.iter().map(|a: &Unpaired| a.point).collect();
    assert!(points.iter().all(|p| p == &points[0]), "one point");
    let to_middle = (Vector::from(points[0]) - Vector::new(0.0, -4.0, 0.0)).norm();
    assert!(to_middle < 0.03, "{to_middle} m from its middle");
}

/// A drop that falls into a larger one is no part that is lost: it flattens onto the surface.
#[test]
fn a_drop_that_is_swallowed_ends_on_the_surface() {
    let large = sphere(12, 1.0, [0.0; 3]);
    let before = both(large.clone(), sphere(4, 0.1, [1.12, 0.0, 0.0]));
    let end = end(&before, &large);
    for stop in &end.points[large.points.len()..] {
        let radius = Vector::from(*stop).norm();
        assert!((0.98..=1.0001).contains(&radius), "{radius}");
    }
}

/// A box with a point a corner: each side of an edge keeps the normal of its side.
fn block(low: f32, other_diagonals: bool) -> Frame {
    let points = (0..8).map(|i| [0, 1, 2].map(|k| low + (i >> k & 1) as f32));
    let cut = |[a, b, c, d]: [u32; 4]| match other_diagonals {
        false => [[a, b, c], [a, c, d]],
        true => [[b, c, d], [b, d, a]],
    };
    Frame {
        points: points.collect(),
        triangles: BOX_SIDES.into_iter().flat_map(cut).collect(),
    }
}

#[test]
fn hard_edges_keep_the_normals_of_their_sides() {
    let (before, after) = (block(0.0, false), block(0.1, true));
    let end = end(&before, &after);
    for (triangle, normals) in before.triangles.iter().zip(&end.normals) {
        let [a, b, c] = triangle.map(|v| Vector::from(before.points[v as usize]));
        let side = (b - a).cross(&(c - a)).normalize();
        for normal in normals {
            assert_eq!(Vector::from(*normal), side);
        }
    }
    for (start, stop) in before.points.iter().zip(&end.points) {
        let off = (Vector::from(*stop) - Vector::from(*start) - Vector::repeat(0.1)).norm();
        assert!(off < 1e-4, "{start:?} ends at {stop:?}");
    }
}
