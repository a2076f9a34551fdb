//! How far a blended frame is from the true one.

use super::super::{FrameEnd, FrameMatch, SurfaceDistance, Unpaired, Vector, surface_distance};
use super::ply::Frame;

/// Corners of each drawn triangle, in two neighbouring frames.
pub(super) type Corners = [Vector; 3];

pub(super) fn corners(frame: &Frame) -> Vec<Corners> {
    let corners =
        |triangle: &[u32; 3]| triangle.map(|point| Vector::from(frame.points[point as usize]));
    frame.triangles.iter().map(corners).collect()
}

/// Start and end of every triangle of a match.
pub(super) fn paths(from: &Frame, to: &Frame, step: &FrameMatch) -> Vec<(Corners, Corners)> {
    let (before, after) = (corners(from), corners(to));
    let mut paths = Vec::new();
    for (end, predecessor) in after.iter().zip(&step.predecessors) {
        if let Some(predecessor) = predecessor {
            let start = before[predecessor.triangle as usize];
            paths.push((
                [0, 1, 2].map(|k| start[(k + predecessor.turn as usize) % 3]),
                *end,
            ));
        }
    }
    for birth in &step.births {
        paths.push((
            [Vector::from(birth.point); 3],
            after[birth.triangle as usize],
        ));
    }
    for death in &step.deaths {
        paths.push((
            before[death.triangle as usize],
            [Vector::from(death.point); 3],
        ));
    }
    paths
}

/// Start and end of every triangle of a frame whose points go to the next frame's surface, and of those that grow out of a point.
pub(super) fn closed(from: &Frame, to: &Frame, end: &FrameEnd) -> Vec<(Corners, Corners)> {
    let ends = Frame {
        points: end.points.clone(),
        triangles: from.triangles.clone(),
    };
    let after = corners(to);
    let grow = |a: &Unpaired| ([Vector::from(a.point); 3], after[a.triangle as usize]);
    let paths = corners(from).into_iter().zip(corners(&ends));
    paths.chain(end.appearing.iter().map(grow)).collect()
}

pub(super) fn unmatched(from: &Frame, to: &Frame) -> Vec<(Corners, Corners)> {
    corners(from).into_iter().zip(corners(to)).collect()
}

pub(super) fn halfway(paths: &[(Corners, Corners)]) -> Vec<Corners> {
    let half = |path: &(Corners, Corners)| [0, 1, 2].map(|k| (path.0[k] + path.1[k]) * 0.5);
    paths.iter().map(half).collect()
}

pub(super) fn distance(triangles: &[Corners], surface: &[Corners]) -> SurfaceDistance {
    let plain = |all: &[Corners]| all.iter().map(|t| t.map(Into::into)).collect::<Vec<_>>();
    surface_distance(&plain(triangles), &plain(surface))
}

/// Mean distance halfway of corners that were one point at the start, from their mean: how far cracks open.
pub(super) fn cracks(from: &Frame, to: &Frame, step: &FrameMatch) -> f64 {
    let (before, after) = (corners(from), corners(to));
    let mut ends = vec![Vec::new(); from.points.len()];
    for (end, predecessor) in after.iter().zip(&step.predecessors) {
        let Some(predecessor) = predecessor else {
            continue;
        };
        let triangle = predecessor.triangle as usize;
        for (k, place) in end.iter().enumerate() {
            let corner = (k + predecessor.turn as usize) % 3;
            let half = (before[triangle][corner] + place) * 0.5;
            ends[from.triangles[triangle][corner] as usize].push(half);
        }
    }
    let (mut sum, mut count) = (0.0, 0);
    for ends in ends.iter().filter(|ends| ends.len() > 1) {
        let mean = ends.iter().sum::<Vector>() / ends.len() as f32;
        sum += ends
            .iter()
            .map(|end| f64::from((end - mean).norm()))
            .sum::<f64>();
        count += ends.len();
    }
    sum / count.max(1) as f64
}
