mod assignment;
mod chains;
mod landing;
mod measure;
mod numbers;
mod ply;
mod quality;
mod shapes;

use super::*;
use ply::Frame;
use shapes::{Random, ball, moved, sheet, shuffled};
use sinew_geom::nalgebra::Rotation3;

fn match_frames(from: &Frame, to: &Frame) -> FrameMatch {
    let step = match_triangles(&from.view(), &to.view());
    assert_one_to_one(&step, from.triangles.len());
    assert_eq!(
        step.predecessors.len(),
        to.triangles.len(),
        "one entry a triangle"
    );
    step
}

fn end_of(from: &Frame, to: &Frame, step: &FrameMatch) -> FrameEnd {
    let normals = [from, to].map(|frame| {
        let vertices = frame.points.len() as u32;
        let topology = sinew_geom::Topology::new(vertices, frame.triangles.clone()).unwrap();
        crate::vat::maker::normals::corner_normals(
            &topology,
            &frame.points,
            crate::vat::maker::normals::DEFAULT_CREASE,
        )
    });
    frame_end([&from.view(), &to.view()], [&normals[0], &normals[1]], step)
}

/// Every triangle of both frames is paired once or listed as a birth or a death.
fn assert_one_to_one(step: &FrameMatch, triangles_before: usize) {
    let mut before = vec![0; triangles_before];
    for predecessor in step.predecessors.iter().flatten() {
        before[predecessor.triangle as usize] += 1;
        assert!(predecessor.turn < 3, "a turn is 0, 1 or 2");
    }
    for death in &step.deaths {
        before[death.triangle as usize] += 1;
    }
    assert!(
        before.iter().all(|&count| count == 1),
        "each triangle before goes one way"
    );
    let born: Vec<u32> = step.births.iter().map(|birth| birth.triangle).collect();
    let alone = (0..)
        .zip(&step.predecessors)
        .filter(|(_, predecessor)| predecessor.is_none());
    assert_eq!(
        born,
        alone.map(|(index, _)| index).collect::<Vec<u32>>(),
        "births in order"
    );
}

fn expected(origins: &[(u32, u8)]) -> Vec<Option<Predecessor>> {
    let predecessors = origins
        .iter()
        .map(|&(triangle, turn)| Predecessor { triangle, turn });
    predecessors.map(Some).collect()
}

#[test]
fn a_small_rigid_motion_of_a_renumbered_surface_is_recovered() {
    let before = ball(12);
    let turn = Rotation3::from_scaled_axis(Vector::new(0.01, 0.02, -0.01));
    let (after, origins) = shuffled(
        &moved(&before, |p| turn * p + Vector::new(0.03, -0.02, 0.01)),
        5,
    );
    assert_eq!(
        match_frames(&before, &after).predecessors,
        expected(&origins),
        "all recovered"
    );
}

#[test]
fn a_large_rigid_motion_is_recovered_from_the_velocity_of_either_frame() {
    let before = ball(12);
    let turn = Rotation3::from_scaled_axis(Vector::new(0.3, 0.8, -0.4));
    let place = |p: Vector| turn * p + Vector::new(3.0, -2.0, 1.0);
    let (after, origins) = shuffled(&moved(&before, place), 6);
    let motion = |points: &[[f32; 3]], of: &dyn Fn(Vector) -> Vector| -> Vec<[f32; 3]> {
        points
            .iter()
            .map(|&point| of(point.into()).into())
            .collect()
    };
    let forwards = motion(&before.points, &|p| place(p) - p);
    let backwards = motion(&after.points, &|p| {
        p - turn.inverse() * (p - Vector::new(3.0, -2.0, 1.0))
    });
    for (first, second) in [(Some(&forwards[..]), None), (None, Some(&backwards[..]))] {
        let from = Triangles {
            motion: first,
            ..before.view()
        };
        let to = Triangles {
            motion: second,
            ..after.view()
        };
        let step = match_triangles(&from, &to);
        assert_eq!(step.predecessors, expected(&origins), "all recovered");
    }
}

#[test]
fn the_order_of_triangles_and_points_does_not_matter() {
    let larger = moved(&ball(14), |p| p * 1.02 + Vector::new(0.02, 0.0, 0.0));
    assert_order_is_free(&ball(10), &larger);
    assert_order_is_free(&sheet(8), &sheet(16));
    // Each triangle between two sheets is equally far from one of either.
    let mut sheets = moved(&sheet(8), |p| p + Vector::new(0.0, 0.0, 0.0625));
    let below = moved(&sheet(8), |p| p - Vector::new(0.0, 0.0, 0.0625));
    let above = sheets.points.len() as u32;
    sheets.points.extend(&below.points);
    let numbered = below.triangles.iter();
    sheets
        .triangles
        .extend(numbered.map(|triangle| triangle.map(|point| point + above)));
    let mut between = sheet(8);
    between.triangles.reverse();
    assert_order_is_free(&sheets, &between);
    assert_order_is_free(&between, &sheets);
}

fn assert_order_is_free(before: &Frame, after: &Frame) {
    let plain = match_frames(before, after);
    assert!(
        plain.predecessors.iter().flatten().count() > 100,
        "many pairs"
    );
    let (before_shuffled, before_origins) = shuffled(before, 1);
    let (after_shuffled, after_origins) = shuffled(after, 2);
    let step = match_frames(&before_shuffled, &after_shuffled);
    for (predecessor, &(origin, turn)) in step.predecessors.iter().zip(&after_origins) {
        let back = predecessor.map(|predecessor| {
            let (triangle, before_turn) = before_origins[predecessor.triangle as usize];
            // Corner k here is corner k + turn there, on both sides.
            let turn = (predecessor.turn + before_turn + 3 - turn) % 3;
            Predecessor { triangle, turn }
        });
        assert_eq!(
            back, plain.predecessors[origin as usize],
            "triangle {origin}"
        );
    }
    for birth in &step.births {
        let origin = after_origins[birth.triangle as usize].0;
        let index = plain
            .births
            .binary_search_by_key(&origin, |birth| birth.triangle)
            .unwrap();
        let apart = Vector::from(birth.point) - Vector::from(plain.births[index].point);
        assert!(
            apart.norm() < 1e-5,
            "birth {origin} grows from the same point"
        );
    }
}

#[test]
fn threads_do_not_matter() {
    let frames: Vec<Frame> = (8..14).map(ball).collect();
    let pairs: Vec<_> = frames.windows(2).collect();
    let alone: Vec<_> = pairs
        .iter()
        .map(|pair| match_frames(&pair[0], &pair[1]))
        .collect();
    let together = std::thread::scope(|scope| {
        let threads: Vec<_> = pairs
            .iter()
            .map(|pair| scope.spawn(|| match_frames(&pair[0], &pair[1])))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert_eq!(alone, together, "bit for bit");
}

fn single(points: [[f32; 3]; 3]) -> Frame {
    Frame {
        points: points.to_vec(),
        triangles: vec![[0, 1, 2]],
    }
}

const CORNER: [[f32; 3]; 3] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];

#[test]
fn empty_frames_give_births_and_deaths_in_place() {
    let (nothing, one) = (Frame::default(), single(CORNER));
    assert_eq!(
        match_frames(&nothing, &nothing),
        FrameMatch::default(),
        "nothing to do"
    );
    let third = 1.0_f32 / 3.0;
    let in_place = vec![Unpaired {
        triangle: 0,
        point: [third, third, 0.0],
    }];
    assert_eq!(
        match_frames(&nothing, &one).births,
        in_place,
        "grows where it is"
    );
    assert_eq!(
        match_frames(&one, &nothing).deaths,
        in_place,
        "shrinks where it is"
    );
}

#[test]
fn surfaces_out_of_reach_have_no_pairs() {
    let before = ball(4);
    let (after, _) = shuffled(&moved(&before, |p| p + Vector::repeat(100.0)), 3);
    let step = match_frames(&before, &after);
    assert_eq!(step.births.len(), after.triangles.len(), "all are born");
    for birth in &step.births {
        let point = Vector::from(birth.point);
        assert!(
            (point - Vector::repeat(100.0)).norm() < 2.0,
            "in their own place, not across the gap"
        );
    }
}

#[test]
fn deaths_shrink_to_the_surface_that_stays() {
    let before = ball(8);
    let mut after = before.clone();
    after.triangles.retain(|triangle| triangle[0] % 5 != 0);
    let (after, _) = shuffled(&after, 4);
    let step = match_frames(&before, &after);
    assert!(!step.deaths.is_empty(), "some are gone");
    let surface = measure::corners(&after);
    for death in &step.deaths {
        let point = [Vector::from(death.point); 3];
        let near = |corners: &measure::Corners| {
            let [a, b, c] = collapse::closest_weights(&point[0], corners);
            (corners[0] * a + corners[1] * b + corners[2] * c - point[0]).norm()
        };
        let least = surface.iter().map(near).fold(f32::MAX, f32::min);
        assert!(
            least < 1e-5,
            "triangle {} ends {least} from the surface",
            death.triangle
        );
    }
}

#[test]
fn degenerate_triangles_are_paired_like_others_and_stay_finite() {
    let mut random = Random(9);
    let mut soup = |count: usize, spread: usize| Frame {
        points: (0..count)
            .map(|_| [0; 3].map(|_| random.below(spread) as f32))
            .collect(),
        triangles: (0..count * 2)
            .map(|_| [0; 3].map(|_| random.below(count) as u32))
            .collect(),
    };
    for spread in [1, 2, 4] {
        let step = match_frames(&soup(40, spread), &soup(30, spread));
        for unpaired in step.births.iter().chain(&step.deaths) {
            assert!(unpaired.point.iter().all(|x| x.is_finite()), "{unpaired:?}");
        }
        assert!(
            step.predecessors.iter().flatten().count() > 20,
            "near enough to pair"
        );
    }
}

#[test]
fn copies_of_one_triangle_are_paired_one_to_one() {
    let copies = |count: usize| Frame {
        points: CORNER.to_vec(),
        triangles: vec![[0, 1, 2]; count],
    };
    let step = match_frames(&copies(300), &copies(200));
    assert_eq!(
        (step.births.len(), step.deaths.len()),
        (0, 100),
        "as many as there are"
    );
}
