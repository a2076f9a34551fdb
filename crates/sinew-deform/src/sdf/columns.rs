//! Winding numbers of closed surfaces from what columns of nodes cross, without a tree.
//!
//! Where a column rises through a triangle that faces down, the winding number grows by one; where it faces up, it falls by one. The
//! number of a node is the sum of what its column crosses below it. The side of an edge is decided once for both triangles at it, so that
//! sums are right, whatever the rounding. `device/columns.wgsl` is the same on the GPU.

use super::bind::SdfBind;
use super::brick::Frame;
use super::field::{BRICK_CELLS, BRICK_NODES, BRICK_VALUES, GridShape};
use super::surface::Surface;
use super::tree::CLUSTER;
use super::triangle::P;
use super::walk::NearBox;
use crate::{Par, for_each_chunk};
use fearless_simd::Simd;
use fearless_simd_macros::simd;

/// Counts of the grid for each entry of the coarse level: a column has one for each brick and one more.
pub(super) const COUNTS: usize = BRICK_CELLS * BRICK_CELLS;
/// Rows of columns in one task.
const ROWS: usize = 8;
/// Columns stand this far beside their nodes: seldom on an edge or a corner.
const ASIDE: [f32; 2] = [2e-6, 3e-6];

/// One vertex at each point.
pub(super) fn vertices_of_classes(bind: &SdfBind) -> Vec<u32> {
    let mut out = vec![0; bind.class_count()];
    let classes = bind.edges_and_classes().1;
    for (c, v) in classes.iter().flatten().zip(bind.triangles.as_flattened()) {
        out[*c as usize] = *v;
    }
    out
}

/// Edges that triangles use more often in one direction than in the other, as points in that direction; as often as that.
pub(super) fn rim(bind: &SdfBind) -> Vec<[u32; 2]> {
    let (edges, classes) = bind.edges_and_classes();
    let mut uses = vec![(0_i32, [0; 2]); bind.edge_count()];
    for (edges, points) in edges.iter().zip(classes) {
        for k in 0..3 {
            let (from, to) = (points[k], points[(k + 1) % 3]);
            let (count, ends) = &mut uses[edges[k] as usize];
            *count += if from < to { 1 } else { -1 };
            *ends = [from.min(to), from.max(to)];
        }
    }
    let open = uses.iter().filter(|(_, [from, to])| from < to);
    open.flat_map(|&(count, [from, to])| {
        let edge = if count > 0 { [from, to] } else { [to, from] };
        std::iter::repeat_n(edge, count.unsigned_abs() as usize)
    })
    .collect()
}

/// What columns cross, in the grid of a frame.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    /// A vertex for each of a triangle's points.
    triangles: Vec<[u32; 3]>,
    /// Lowest and highest y of each cluster of triangles.
    bounds: Vec<[f32; 2]>,
    /// Columns along x, and counts of a column.
    size: [usize; 2],
    /// Of all columns, x fastest: what is crossed below the grid, then in each brick.
    counts: Vec<i8>,
}

impl Columns {
    pub(super) fn new(bind: &SdfBind) -> Self {
        let vertex_of = vertices_of_classes(bind);
        let classes = bind.edges_and_classes().1.iter();
        Self {
            triangles: classes.map(|t| t.map(|c| vertex_of[c as usize])).collect(),
            bounds: vec![[0.0; 2]; bind.tree.clusters],
            size: [0; 2],
            counts: vec![0; COUNTS * bind.table_capacity().max(8)],
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.triangles) + size_of_val(&*self.bounds) + size_of_val(&*self.counts)
    }

    /// Counts of the frame. Each task takes some rows of columns and all triangles in them.
    pub(super) fn prepare(&mut self, surface: &Surface, shape: &GridShape, par: Par) {
        let [across, rows, layers] = shape.bricks.map(|b| b as usize);
        self.size = [BRICK_CELLS * across + 1, layers + 1];
        let row = self.size[0] * self.size[1];
        for (bounds, triangles) in self.bounds.iter_mut().zip(self.triangles.chunks(CLUSTER)) {
            let ys = triangles
                .iter()
                .flat_map(|t| corners(surface, t))
                .map(|c| c[1]);
            let wider = |[low, high]: [f32; 2], y: f32| [low.min(y), high.max(y)];
            *bounds = ys.fold([f32::INFINITY, f32::NEG_INFINITY], wider);
        }
        let mut counts = std::mem::take(&mut self.counts);
        let len = (row * (BRICK_CELLS * rows + 1)).min(counts.len());
        let this = &*self;
        for_each_chunk(
            par,
            len,
            ROWS * row,
            &mut counts[..len],
            &|range, out: &mut [i8]| {
                out.fill(0);
                let first = range.start / row;
                let low = [0.0, first as f32];
                let high = [(this.size[0] - 1) as f32, (range.end / row - 1) as f32];
                let clusters = this.triangles.chunks(CLUSTER).zip(&this.bounds);
                let near = clusters.filter(|(_, b)| b[0] - 1.0 < high[1] && b[1] + 1.0 > low[1]);
                for triangle in near.flat_map(|(triangles, _)| triangles) {
                    let corners = corners(surface, triangle);
                    cross(&corners, low, high, &mut |[x, y], below, count| {
                        // Below the grid, then in each brick.
                        let layer = (below / BRICK_CELLS as f32 + 1.0).floor().max(0.0) as usize;
                        if layer < this.size[1] {
                            let at = &mut out[(y - first) * row + x * this.size[1] + layer];
                            *at = at.wrapping_add(count);
                        }
                    });
                }
            },
        );
        self.counts = counts;
    }

    /// The winding number at node `7 * brick` of a column.
    fn below(&self, [x, y]: [usize; 2], brick: usize) -> i32 {
        let first = (x + self.size[0] * y) * self.size[1];
        let counts = &self.counts[first..=first + brick];
        counts.iter().map(|&c| i32::from(c)).sum()
    }

    /// Whether a corner of bricks is inside.
    pub(super) fn corner_inside(&self, corner: [u32; 3]) -> bool {
        let [x, y, z] = corner.map(|c| c as usize);
        self.below([x, y].map(|c| BRICK_CELLS * c), z) > 0
    }
}

/// Gives the distances of a brick whose lowest node is `low` their signs.
#[simd]
pub(super) fn sign<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    columns: &Columns,
    low: P,
    values: &mut [f32; BRICK_VALUES],
) {
    let mut between = [[0_i8; BRICK_CELLS]; BRICK_NODES * BRICK_NODES];
    let high = low.map(|c| c + BRICK_CELLS as f32);
    let first = low.map(|c| c as usize);
    // Points that are one in setup may lie apart a little.
    let mut walk = NearBox::new(frame.tree, low, high, 1.0);
    while let Some(c) = walk.next(simd, frame.tree, frame.surface) {
        for triangle in columns.triangles.iter().skip(c * CLUSTER).take(CLUSTER) {
            let corners = corners(frame.surface, triangle);
            let [low, high] = [[low[0], low[1]], [high[0], high[1]]];
            cross(&corners, low, high, &mut |[x, y], below, count| {
                let cell = below - first[2] as f32;
                if (0.0..BRICK_CELLS as f32).contains(&cell) {
                    let column = x - first[0] + BRICK_NODES * (y - first[1]);
                    let at = &mut between[column][cell as usize];
                    *at = at.wrapping_add(count);
                }
            });
        }
    }
    for (column, between) in between.iter().enumerate() {
        let at = [column % BRICK_NODES, column / BRICK_NODES];
        let at = [first[0] + at[0], first[1] + at[1]];
        let mut number = columns.below(at, first[2] / BRICK_CELLS);
        for z in 0..BRICK_NODES {
            let value = &mut values[column + z * BRICK_NODES * BRICK_NODES];
            *value = if number > 0 { -*value } else { *value };
            number += between.get(z).map_or(0, |&c| i32::from(c));
        }
    }
}

fn corners(surface: &Surface, triangle: &[u32; 3]) -> [P; 3] {
    triangle.map(|v| surface.point(v as usize))
}

/// Whether the origin is to the left of an edge that rises from `low` to `high`.
fn is_left(low: [f32; 2], high: [f32; 2]) -> bool {
    low[0] * high[1] > high[0] * low[1]
}

/// How often an edge passes the origin on its right, upwards.
fn passes(start: [f32; 2], end: [f32; 2]) -> i8 {
    let rises = end[1] > 0.0;
    if (start[1] > 0.0) == rises {
        0
    } else if rises {
        i8::from(is_left(start, end))
    } else {
        -i8::from(is_left(end, start))
    }
}

/// Calls `put` for each column from `low` to `high` that crosses the triangle, with the number of the node below and what the winding
/// number grows by.
#[inline(always)]
fn cross(
    corners: &[P; 3],
    low: [f32; 2],
    high: [f32; 2],
    put: &mut impl FnMut([usize; 2], f32, i8),
) {
    let least = |k: usize| corners.iter().fold(f32::INFINITY, |m, c| m.min(c[k]));
    let most = |k: usize| corners.iter().fold(f32::NEG_INFINITY, |m, c| m.max(c[k]));
    let first = [0, 1].map(|k| (least(k) - 1e-3).ceil().max(low[k]));
    let last = [0, 1].map(|k| (most(k) + 1e-3).floor().min(high[k]));
    if first[0] > last[0] || first[1] > last[1] {
        return;
    }
    let [first, last] = [first, last].map(|ends| ends.map(|c| c as usize));
    for y in first[1]..=last[1] {
        for x in first[0]..=last[0] {
            let at = [x as f32, y as f32];
            let seen = corners.map(|c| [0, 1].map(|k| c[k] - at[k] - ASIDE[k]));
            let [a, b, c] = seen;
            let count = -(passes(a, b) + passes(b, c) + passes(c, a));
            if count != 0 {
                let height = height(corners, seen).clamp(least(2), most(2));
                put([x, y], height.ceil() - 1.0, count);
            }
        }
    }
}

/// Where the column through the origin crosses a triangle.
fn height(corners: &[P; 3], [a, b, c]: [[f32; 2]; 3]) -> f32 {
    let determinant = |a: [f32; 2], b: [f32; 2]| a[0] * b[1] - b[0] * a[1];
    let weights = [determinant(b, c), determinant(c, a), determinant(a, b)];
    let sum: f32 = weights.iter().sum();
    let heights: f32 = weights.iter().zip(corners).map(|(w, c)| w * c[2]).sum();
    if sum == 0.0 {
        corners[0][2]
    } else {
        heights / sum
    }
}
