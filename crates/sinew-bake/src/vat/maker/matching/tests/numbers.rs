//! Frames that keep their numbers.

use super::super::*;
use super::match_frames;
use super::ply::{self, Frame};
use super::shapes::{Random, ball, moved, shuffled};

#[test]
fn equal_lists_of_triangles_are_the_identity() {
    let before = ball(6);
    let after = moved(&before, |p| {
        Vector::new(-p.z, p.x * 3.0, p.y) + Vector::repeat(7.0)
    });
    assert_eq!(
        match_frames(&before, &after),
        identity(288),
        "whatever the points do"
    );
}

/// Splits the first point of some triangles off.
fn torn(frame: &Frame, every: usize) -> Frame {
    let mut torn = frame.clone();
    for triangle in (0..torn.triangles.len()).step_by(every) {
        let corner = triangle % 3;
        let point = torn.triangles[triangle][corner];
        torn.triangles[triangle][corner] = torn.points.len() as u32;
        torn.points.push(torn.points[point as usize]);
    }
    torn
}

#[test]
fn cloth_that_tears_keeps_every_triangle() {
    let before = ball(8);
    let after = moved(&torn(&before, 15), |p| Vector::new(p.y, -p.x, p.z * 2.0));
    assert_eq!(
        match_frames(&before, &after),
        identity(512),
        "the motion is larger than any triangle"
    );
}

#[test]
fn kept_triples_keep_their_identity_in_any_order() {
    let before = ball(8);
    let after = moved(&torn(&before, 15), |p| p + Vector::repeat(0.01));
    let order = Random(3).order(512);
    let turned = |&old: &usize| {
        let [a, b, c] = after.triangles[old];
        [b, c, a]
    };
    let after = Frame {
        triangles: order.iter().map(turned).collect(),
        points: after.points.clone(),
    };
    let step = match_frames(&before, &after);
    for (predecessor, old) in step.predecessors.iter().zip(order) {
        let kept = Predecessor {
            triangle: old as u32,
            turn: 1,
        };
        assert_eq!(
            *predecessor,
            Some(kept),
            "triangle {old}, by triple or by place"
        );
    }
}

/// Each triangle with points of its own: 0 1 2, 3 4 5, ..
fn loose(frame: &Frame) -> Frame {
    let corners = frame.triangles.iter().flatten();
    let count = frame.triangles.len() as u32;
    Frame {
        points: corners.map(|v| frame.points[*v as usize]).collect(),
        triangles: (0..count).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
    }
}

#[test]
fn loose_triangles_are_matched_as_if_they_were_joined() {
    let before = ball(10);
    let (after, _) = shuffled(
        &moved(&before, |p| p * 1.03 + Vector::new(0.02, 0.0, -0.01)),
        9,
    );
    let joined = match_frames(&before, &after);
    let apart = match_frames(&loose(&before), &loose(&after));
    assert_eq!(apart, joined, "their numbers are all equal and say nothing");
    let found = apart.predecessors.iter().flatten();
    let equal = found.zip(0_u32..).filter(|(p, t)| p.triangle == *t).count();
    assert!(
        equal * 2 < before.triangles.len(),
        "{equal} stay at their number"
    );
}

#[test]
fn loose_triangles_of_one_mesh_keep_their_numbers_however_far_they_go() {
    let before = ball(6);
    let after = moved(&before, |p| {
        Vector::new(-p.z, p.x * 3.0, p.y) + Vector::repeat(7.0)
    });
    let [before, after] = [before, after].map(|frame| loose(&frame));
    assert_eq!(match_frames(&before, &after), identity(288));
    assert!(numbers_mean_the_same(&before.view(), &after.view()));
}

#[test]
fn loose_triangles_that_are_joined_in_another_way_are_others() {
    let before = ball(6);
    let (after, _) = shuffled(&before, 2);
    let [a, b] = [&before, &after].map(loose);
    assert_eq!(
        (a.points.len(), &a.triangles),
        (b.points.len(), &b.triangles)
    );
    assert!(!numbers_mean_the_same(&a.view(), &b.view()));
    // Of joined ones the numbers are theirs; a tear parts few of the loose ones.
    assert!(numbers_mean_the_same(&before.view(), &before.view()));
    let mut opened = a.clone();
    for point in opened.points.iter_mut().step_by(40) {
        point[1] += 0.01;
    }
    assert!(numbers_mean_the_same(&a.view(), &opened.view()));
}

#[test]
fn a_pattern_of_equal_triples_is_no_identity() {
    let before = ball(8);
    let mut after = before.clone();
    // A fifth names other points, as after an insertion; the rest is equal.
    for triangle in &mut after.triangles[..103] {
        *triangle = triangle.map(|point| point + 10_000);
    }
    let kept = kept::by_numbers(&before.triangles, &after.triangles);
    assert_eq!(kept.iter().flatten().count(), 0, "too few to be believed");
}

#[test]
fn sample_cloth_is_the_identity_and_a_cut_solid_stays_in_place() {
    if let Some(frames) = ply::sequence("cloth_drape") {
        for pair in frames.windows(2).step_by(10) {
            assert!(
                match_frames(&pair[0], &pair[1]) == identity(4608),
                "squares split along the other diagonal stay in their place"
            );
        }
    }
    if let Some(frames) = ply::sequence("boolean_cut") {
        for pair in frames.windows(2) {
            let step = match_frames(&pair[0], &pair[1]);
            let paired = step.predecessors.iter().flatten().count();
            assert!(
                paired * 10 > pair[1].triangles.len() * 8,
                "{paired} of {}",
                pair[1].triangles.len()
            );
        }
    }
}
