//! Look-ups of eight points side by side: what [`FieldView::sample_with_gradient`] does, in the same order, and without fused operations as
//! there.

use super::field::{BRICK_CELLS, FieldView, NO_BRICK};
use crate::lanes::{Lanes, Lanes3};
use fearless_simd::{Simd, f32x8, i32x8, prelude::*};
use fearless_simd_macros::simd;

/// Cells of a brick along each axis, and one part of it.
const CELLS: f32 = BRICK_CELLS as f32;
const SHARE: f32 = 1.0 / CELLS;

impl FieldView<'_> {
    /// [`Self::sample_with_gradient`] of eight points, given as their x, y and z. These and distances are in a unit that has `unit` of the
    /// field's. Those whose bit is not set in `wanted`, the lowest for the first, get anything. Cost: some three single ones.
    pub(crate) fn sample_eight(&self, points: &Lanes3, wanted: u8, unit: f32) -> (Lanes, Lanes3) {
        dispatch!(simd => sample(simd, self, points, wanted, unit))
    }
}

#[simd]
fn sample<S: Simd>(
    simd: S,
    view: &FieldView<'_>,
    points: &Lanes3,
    wanted: u8,
    unit: f32,
) -> (Lanes, Lanes3) {
    let zero = f32x8::splat(simd, 0.0);
    let inverse = 1.0 / view.shape.cell;
    let scale = 1.0 / unit;
    let mut found = Found::new(simd);
    let mut beyond = [zero; 3];
    let mut row = [1, 1];
    for (k, lanes) in points.iter().enumerate() {
        let count = view.shape.bricks[k];
        let point = f32x8::load_array_ref(simd, lanes) * scale;
        let at = (point - view.shape.origin[k]) * inverse;
        let inside = at.max(zero).min(f32x8::splat(simd, count as f32 * CELLS));
        beyond[k] = at - inside;
        let last = count.saturating_sub(1) as i32;
        let brick = (inside * SHARE).to_int::<i32x8<S>>();
        let brick = brick.min(i32x8::splat(simd, last));
        let within = inside - (brick * BRICK_CELLS as i32).to_float::<f32x8<S>>();
        found.go_along(k, brick, within, &mut row, count);
    }
    let mut cells = Cells::default();
    found.look_up(view, wanted, &mut cells);
    let (value, gradient) = interpolate(simd, &cells);
    let away = (beyond[0] * beyond[0] + beyond[1] * beyond[1] + beyond[2] * beyond[2]).sqrt();
    let is_in = away.simd_eq(zero);
    let farther = (value * value + away * away).sqrt();
    let is_out = value.simd_gt(zero);
    let total = is_in.select(value, is_out.select(farther, value + away));
    let (one, is_beyond) = (f32x8::splat(simd, 1.0), away.simd_gt(zero));
    let along = is_out.select(value / total, one);
    let off = one / is_out.select(total, away);
    let mut out = ([0.0; 8], [[0.0; 8]; 3]);
    (total * view.shape.cell * unit).store_array(&mut out.0);
    for (k, out) in out.1.iter_mut().enumerate() {
        let stays = beyond[k].simd_eq(zero);
        let outside = stays.select(gradient[k] * along, beyond[k] * off);
        is_beyond.select(outside, gradient[k]).store_array(out);
    }
    out
}

/// Cells around eight points: values at their corners, where the points are in them, and one over their size.
#[derive(Default)]
struct Cells {
    corners: [Lanes; 8],
    at: Lanes3,
    smaller: Lanes,
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

    /// The cells around those points that are wanted.
    #[inline(always)]
    fn look_up(&self, view: &FieldView<'_>, wanted: u8, out: &mut Cells) {
        let (mut bricks, mut nodes, mut coarse) = ([0; 8], [0; 8], [0; 8]);
        self.brick.store_array(&mut bricks);
        self.node.store_array(&mut nodes);
        self.coarse.store_array(&mut coarse);
        out.at = self.in_cell;
        out.smaller = [1.0; 8];
        for lane in 0..8 {
            if (wanted >> lane) & 1 == 0 {
                continue;
            }
            let slot = view.table.get(bricks[lane] as u32 as usize).copied();
            let slot = slot.unwrap_or(NO_BRICK);
            let values = if slot == NO_BRICK {
                for (at, within) in out.at.iter_mut().zip(&self.in_brick) {
                    at[lane] = within[lane] * SHARE;
                }
                out.smaller[lane] = SHARE;
                self.coarse_corners(view, coarse[lane] as u32 as usize)
            } else {
                view.values.cell(slot as usize, nodes[lane] as u32 as usize)
            };
            for (corner, value) in out.corners.iter_mut().zip(values) {
                corner[lane] = value;
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

/// Value and gradient, in cells.
#[inline(always)]
fn interpolate<S: Simd>(simd: S, cells: &Cells) -> (f32x8<S>, [f32x8<S>; 3]) {
    let x = f32x8::load_array_ref(simd, &cells.at[0]);
    let y = f32x8::load_array_ref(simd, &cells.at[1]);
    let z = f32x8::load_array_ref(simd, &cells.at[2]);
    let smaller = f32x8::load_array_ref(simd, &cells.smaller);
    let (mut rises, mut on_x) = ([x; 4], [x; 4]);
    for edge in 0..4 {
        let a = f32x8::load_array_ref(simd, &cells.corners[2 * edge]);
        rises[edge] = f32x8::load_array_ref(simd, &cells.corners[2 * edge + 1]) - a;
        on_x[edge] = rises[edge] * x + a;
    }
    let dy = [on_x[1] - on_x[0], on_x[3] - on_x[2]];
    let on_y = [dy[0] * y + on_x[0], dy[1] * y + on_x[2]];
    let dz = on_y[1] - on_y[0];
    let low = line(rises[0], rises[1], y);
    let dx = line(low, line(rises[2], rises[3], y), z);
    let gradient = [dx * smaller, line(dy[0], dy[1], z) * smaller, dz * smaller];
    (dz * z + on_y[0], gradient)
}

#[inline(always)]
fn line<S: Simd>(a: f32x8<S>, b: f32x8<S>, t: f32x8<S>) -> f32x8<S> {
    (b - a) * t + a
}
