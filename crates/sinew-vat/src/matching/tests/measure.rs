//! How far a blended frame is from the true one.

use super::super::collapse::closest_weights;
use super::super::tree::{Extent, Tree};
use super::super::{FrameEnd, FrameMatch, Unpaired, Vector};
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

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Distance {
    pub(super) square: f64,
    pub(super) weight: f64,
    pub(super) max: f64,
}

impl Distance {
    pub(super) fn rms(&self) -> f64 {
        (self.square / self.weight).sqrt()
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        Self {
            square: self.square + other.square,
            weight: self.weight + other.weight,
            max: self.max.max(other.max),
        }
    }
}

/// Distances of four points of each triangle from a surface, each standing for a quarter of the area.
pub(super) fn distance(triangles: &[Corners], surface: &[Corners]) -> Distance {
    let boxes: Vec<Extent> = surface.iter().map(|corners| Extent::of(corners)).collect();
    let tree = Tree::new(&boxes);
    let mut sum = Distance::default();
    for corners in triangles {
        let area = f64::from(
            (corners[1] - corners[0])
                .cross(&(corners[2] - corners[0]))
                .norm(),
        ) / 2.0;
        let middle = (corners[0] + corners[1] + corners[2]) / 3.0;
        let quarters = [0, 1, 2].map(|k| (middle + corners[k]) * 0.5);
        for point in [middle, quarters[0], quarters[1], quarters[2]] {
            let square = distance_squared(&point, surface, &tree);
            sum = sum.and(&Distance {
                square: square * area / 4.0,
                weight: area / 4.0,
                max: if area > 0.0 { square.sqrt() } else { 0.0 },
            });
        }
    }
    sum
}

fn distance_squared(point: &Vector, surface: &[Corners], tree: &Tree) -> f64 {
    let mut least = f32::MAX;
    tree.visit(point, &mut least, &mut |triangle, least| {
        let corners = &surface[triangle as usize];
        let [a, b, c] = closest_weights(point, corners);
        let place = corners[0] * a + corners[1] * b + corners[2] * c;
        *least = least.min((place - point).norm_squared());
    });
    f64::from(least)
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
