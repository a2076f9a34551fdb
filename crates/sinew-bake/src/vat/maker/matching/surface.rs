//! One frame in an order that depends on its geometry alone.
//!
//! Triangles are sorted along a Morton curve and turned so that their least corner comes first, whatever their order in
//! the file: the same surface gives the same matches, and neighbours in space are neighbours in memory.

use super::tree::{Extent, Tree};
use super::{Triangles, Vector};
use std::cmp::Ordering;

/// A triangle of a [`Surface`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    /// The triangle in the frame's own list.
    pub(super) triangle: u32,
    /// Which corner of that triangle is corner 0 here.
    pub(super) first: u8,
    /// Places at the moment of comparison.
    pub(super) corners: [Vector; 3],
    /// Numbers of the places in the frame; corners at the same place have the same number.
    pub(super) places: [u32; 3],
    pub(super) centroid: Vector,
    /// Unit, or zero for a triangle without area.
    pub(super) normal: Vector,
    /// Square root of the area.
    pub(super) size: f32,
}

impl Piece {
    fn new(triangle: u32, corners: [Vector; 3], places: [u32; 3]) -> Self {
        let first = least_rotation(&corners);
        let corners = rotated(corners, first);
        let cross = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
        Self {
            triangle,
            first,
            corners,
            places: rotated(places, first),
            centroid: (corners[0] + corners[1] + corners[2]) / 3.0,
            normal: cross.try_normalize(0.0).unwrap_or_default(),
            size: (cross.norm() * 0.5).sqrt(),
        }
    }

    fn perimeter(&self) -> f32 {
        let [a, b, c] = &self.corners;
        (b - a).norm() + (c - b).norm() + (a - c).norm()
    }

    /// Corner of the frame's own triangle that is corner `corner` here.
    pub(super) fn own_corner(&self, corner: u8) -> u8 {
        (self.first + corner) % 3
    }
}

pub(super) fn rotated<T: Copy>(corners: [T; 3], first: u8) -> [T; 3] {
    [0, 1, 2].map(|corner| corners[(corner + first as usize) % 3])
}

fn compare_points(a: &Vector, b: &Vector) -> Ordering {
    a.x.total_cmp(&b.x)
        .then(a.y.total_cmp(&b.y))
        .then(a.z.total_cmp(&b.z))
}

fn compare_corners(a: &[Vector; 3], b: &[Vector; 3]) -> Ordering {
    compare_points(&a[0], &b[0])
        .then_with(|| compare_points(&a[1], &b[1]))
        .then_with(|| compare_points(&a[2], &b[2]))
}

fn least_rotation(corners: &[Vector; 3]) -> u8 {
    let mut least = 0;
    for first in 1..3 {
        if compare_corners(&rotated(*corners, first), &rotated(*corners, least)).is_lt() {
            least = first;
        }
    }
    least
}

/// Spreads 21 bits to every third of 63.
fn spread(bits: u64) -> u64 {
    let mut spread = bits & 0x1f_ffff;
    for (shift, mask) in [
        (32, 0x001f_0000_0000_ffff),
        (16, 0x001f_0000_ff00_00ff),
        (8, 0x100f_00f0_0f00_f00f),
        (4, 0x10c3_0c30_c30c_30c3),
        (2, 0x1249_2492_4924_9249),
    ] {
        spread = (spread | (spread << shift)) & mask;
    }
    spread
}

fn morton(point: &Vector, extent: &Extent) -> u64 {
    let side = extent.size().max().max(f32::MIN_POSITIVE);
    let cell = (point - extent.low()) * (1_048_575.0 / side);
    spread(cell.x as u64) | spread(cell.y as u64) << 1 | spread(cell.z as u64) << 2
}

/// For each point the least point at the very same place.
fn welded(points: &[[f32; 3]]) -> Vec<u32> {
    let place = |index: u32| points[index as usize].map(|x| (x + 0.0).to_bits());
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    order.sort_unstable_by_key(|&index| (place(index), index));
    let mut least = vec![0; points.len()];
    let mut current = 0;
    for (rank, &index) in order.iter().enumerate() {
        if rank == 0 || place(index) != place(order[rank - 1]) {
            current = index;
        }
        least[index as usize] = current;
    }
    least
}

/// A frame, sorted.
#[derive(Debug)]
pub(super) struct Surface {
    pub(super) pieces: Vec<Piece>,
    /// How many numbers of places there may be.
    pub(super) places: usize,
    /// Mean length of an edge, 0 without triangles.
    pub(super) edge: f32,
}

impl Surface {
    /// The frame as it is `time` frames later, if its points move as it says.
    pub(super) fn new(frame: &Triangles<'_>, time: f32) -> Self {
        let place = |index: u32| {
            let rest = Vector::from(frame.points[index as usize]);
            match frame.motion {
                Some(motion) if time != 0.0 => rest + Vector::from(motion[index as usize]) * time,
                _ => rest,
            }
        };
        let least = welded(frame.points);
        let pieces = frame
            .triangles
            .iter()
            .enumerate()
            .map(|(triangle, points)| {
                let places = points.map(|index| least[index as usize]);
                Piece::new(triangle as u32, points.map(place), places)
            });
        let pieces = sorted(pieces.collect());
        let perimeters: f64 = pieces
            .iter()
            .map(|piece| f64::from(piece.perimeter()))
            .sum();
        Self {
            edge: (perimeters / (3 * pieces.len()).max(1) as f64) as f32,
            places: frame.points.len(),
            pieces,
        }
    }

    /// A tree of the middles of the pieces.
    pub(super) fn centroids(&self) -> Tree {
        let extents = self
            .pieces
            .iter()
            .map(|piece| Extent::of(&[piece.centroid]));
        Tree::new(&extents.collect::<Vec<_>>())
    }

    /// A tree of the whole pieces.
    pub(super) fn boxes(&self) -> Tree {
        let extents = self.pieces.iter().map(|piece| Extent::of(&piece.corners));
        Tree::new(&extents.collect::<Vec<_>>())
    }
}

fn sorted(pieces: Vec<Piece>) -> Vec<Piece> {
    let centroids: Vec<Vector> = pieces.iter().map(|piece| piece.centroid).collect();
    let extent = Extent::of(&centroids);
    let mut keys: Vec<(u64, u32)> = centroids
        .iter()
        .zip(0..)
        .map(|(centroid, index)| (morton(centroid, &extent), index))
        .collect();
    keys.sort_unstable_by(|a, b| {
        let corners = |index: u32| &pieces[index as usize].corners;
        a.0.cmp(&b.0)
            .then_with(|| compare_corners(corners(a.1), corners(b.1)))
            .then(a.1.cmp(&b.1))
    });
    keys.iter()
        .map(|&(_, index)| pieces[index as usize])
        .collect()
}
