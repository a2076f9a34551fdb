//! Look-ups of eight points side by side: what [`FieldView::sample`] does, in the same order, and without fused operations as there.

use super::field::{BRICK_CELLS, FieldView, NO_BRICK};
use crate::lanes::{Lanes, Lanes3};
use fearless_simd::{Simd, f32x8, i32x8, prelude::*};
use fearless_simd_macros::simd;

/// Cells of a brick along each axis, and one part of it.
const CELLS: f32 = BRICK_CELLS as f32;
const SHARE: f32 = 1.0 / CELLS;

impl FieldView<'_> {
    /// [`Self::sample`] of eight points, given as their x, y and z. These and distances are in a unit that has `unit` of the field's. Those
    /// whose bit is not set in `wanted`, the lowest for the first, get anything. Cost: some three single ones.
    pub(crate) fn sample_eight(&self, points: &[[f32; 8]; 3], wanted: u8, unit: f32) -> [f32; 8] {
        dispatch!(simd => sample(simd, self, points, wanted, unit))
    }
}

#[simd]
fn sample<S: Simd>(simd: S, view: &FieldView<'_>, points: &Lanes3, wanted: u8, unit: f32) -> Lanes {
    let zero = f32x8::splat(simd, 0.0);
    let inverse = 1.0 / view.shape.cell;
    let scale = 1.0 / unit;
    let mut found = Found::new(simd);
    let mut squared = zero;
    let mut row = [1, 1];
    for (k, lanes) in points.iter().enumerate() {
        let count = view.shape.bricks[k];
        let point = f32x8::load_array_ref(simd, lanes) * scale;
        let at = (point - view.shape.origin[k]) * inverse;
        let inside = at.max(zero).min(f32x8::splat(simd, count as f32 * CELLS));
        let beyond = at - inside;
        squared += beyond * beyond;
        let last = count.saturating_sub(1) as i32;
        let brick = (inside * SHARE).to_int::<i32x8<S>>();
        let brick = brick.min(i32x8::splat(simd, last));
        let within = inside - (brick * BRICK_CELLS as i32).to_float::<f32x8<S>>();
        found.go_along(k, brick, within, &mut row, count);
    }
    let (mut corners, mut at) = ([[0.0; 8]; 8], [[0.0; 8]; 3]);
    found.look_up(view, wanted, &mut corners, &mut at);
    let value = interpolate(simd, &corners, &at);
    let away = squared.sqrt();
    let farther = (value * value + away * away).sqrt();
    let outside = value.simd_gt(zero).select(farther, value + away);
    let value = away.simd_eq(zero).select(value, outside);
    let mut out = [0.0; 8];
    (value * view.shape.cell * unit).store_array(&mut out);
    out
}

/// Where eight points are.
struct Found<S: Simd> {
    /// Of the brick, of the node of the coarse level at its lowest corner, of the lowest node of the cell in the brick.
    brick: i32x8<S>,
    coarse: i32x8<S>,
    node: i32x8<S>,
    /// In the brick, and in the cell.
    in_brick: Lanes3,
    in_cell: Lanes3,
    /// From a node of the coarse level to the next along y and z.
    coarse_rows: [usize; 2],
}

impl<S: Simd> Found<S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        let zero = i32x8::splat(simd, 0);
        Self {
            brick: zero,
            coarse: zero,
            node: zero,
            in_brick: [[0.0; 8]; 3],
            in_cell: [[0.0; 8]; 3],
            coarse_rows: [0; 2],
        }
    }

    /// Axis after axis. `row` has how many bricks and nodes of the coarse level there are in a row of the axes before.
    #[inline(always)]
    fn go_along(
        &mut self,
        axis: usize,
        brick: i32x8<S>,
        within: f32x8<S>,
        row: &mut [i32; 2],
        count: u32,
    ) {
        let simd = within.simd;
        let highest = i32x8::splat(simd, BRICK_CELLS as i32 - 1);
        let low = within.to_int::<i32x8<S>>().min(highest);
        self.brick += brick * row[0];
        self.coarse += brick * row[1];
        self.node += low * [1, 8, 64][axis];
        within.store_array(&mut self.in_brick[axis]);
        (within - low.to_float::<f32x8<S>>()).store_array(&mut self.in_cell[axis]);
        if axis > 0 {
            self.coarse_rows[axis - 1] = row[1] as usize;
        }
        row[0] = row[0].wrapping_mul(count as i32);
        row[1] = row[1].wrapping_mul(count as i32 + 1);
    }

    /// Corners of the cells around those points that are wanted, and where the points are in them.
    #[inline(always)]
    fn look_up(&self, view: &FieldView<'_>, wanted: u8, corners: &mut [Lanes; 8], at: &mut Lanes3) {
        let (mut bricks, mut nodes, mut coarse) = ([0; 8], [0; 8], [0; 8]);
        self.brick.store_array(&mut bricks);
        self.node.store_array(&mut nodes);
        self.coarse.store_array(&mut coarse);
        *at = self.in_cell;
        for lane in 0..8 {
            if (wanted >> lane) & 1 == 0 {
                continue;
            }
            let slot = view.table.get(bricks[lane] as u32 as usize).copied();
            let slot = slot.unwrap_or(NO_BRICK);
            let values = if slot == NO_BRICK {
                for (at, within) in at.iter_mut().zip(&self.in_brick) {
                    at[lane] = within[lane] * SHARE;
                }
                self.coarse_corners(view, coarse[lane] as u32 as usize)
            } else {
                view.values.cell(slot as usize, nodes[lane] as u32 as usize)
            };
            for corner in 0..8 {
                corners[corner][lane] = values[corner];
            }
        }
    }

    /// Cold beside those of bricks.
    fn coarse_corners(&self, view: &FieldView<'_>, base: usize) -> [f32; 8] {
        let [nx, nxy] = self.coarse_rows;
        let mut values = [f32::INFINITY; 8];
        let offsets = [0, 1, nx, nx + 1, nxy, nxy + 1, nxy + nx, nxy + nx + 1];
        for (value, offset) in values.iter_mut().zip(offsets) {
            if let Some(&found) = view.coarse.get(base + offset) {
                *value = found;
            }
        }
        values
    }
}

#[inline(always)]
fn interpolate<S: Simd>(simd: S, corners: &[Lanes; 8], at: &Lanes3) -> f32x8<S> {
    let x = f32x8::load_array_ref(simd, &at[0]);
    let y = f32x8::load_array_ref(simd, &at[1]);
    let z = f32x8::load_array_ref(simd, &at[2]);
    let low = line(edge(simd, corners, 0, x), edge(simd, corners, 2, x), y);
    let high = line(edge(simd, corners, 4, x), edge(simd, corners, 6, x), y);
    line(low, high, z)
}

/// Between a corner and the next one along x.
#[inline(always)]
fn edge<S: Simd>(simd: S, corners: &[Lanes; 8], first: usize, x: f32x8<S>) -> f32x8<S> {
    let a = f32x8::load_array_ref(simd, &corners[first]);
    line(a, f32x8::load_array_ref(simd, &corners[first + 1]), x)
}

#[inline(always)]
fn line<S: Simd>(a: f32x8<S>, b: f32x8<S>, t: f32x8<S>) -> f32x8<S> {
    (b - a) * t + a
}
