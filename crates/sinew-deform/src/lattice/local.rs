//! Lattices of any size whose control points act nearby: along each axis, at most four of them act on a vertex, with weights that are
//! cubics of its position in the cell.
//!
//! Setup turns the basis of each cell into coefficients of `1, t, t^2, t^3`, with the border rule folded in. A frame copies the
//! displacements into a grid of four floats per point. A vertex then looks up its cell on each axis, evaluates 12 cubics and their
//! derivatives, and sums over at most 4x4x4 points, with the three components side by side.

use super::basis::{AxisBasis, AxisKind, AxisRule};
use super::bind::LatticeBind;
use super::cage::Cage;
use crate::lanes::Lanes3;
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x4, prelude::*};
use sinew_geom::nalgebra::{Matrix4, Vector4};

/// Weights of one cell: coefficients of `1, t, t^2, t^3` for each control point from `start` on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cell {
    start: usize,
    plain: [[f32; 4]; 4],
    /// Where components move along other axes than this one; differs in the eased lattice only.
    across: [[f32; 4]; 4],
}

/// How an axis turns a parameter into weights; see [`AxisRule`].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LocalAxis {
    cells: Vec<Cell>,
    /// Index of `cells[0]` and of the last cell.
    first: f32,
    last: f32,
    shift: f32,
    scale: f32,
    offset: f32,
    low: f32,
    high: f32,
    linear_outside: bool,
}

/// A lattice of such axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LocalLattice {
    axes: [LocalAxis; 3],
    /// Control points along each axis in the grid of the kernel, where rows of fewer than `taps` are filled up.
    stride: [usize; 3],
    taps: usize,
    eased: bool,
}

impl LocalAxis {
    /// None where the weights are no cubics.
    fn new(rule: &AxisRule, taps: usize) -> Option<Self> {
        let shift = match rule.kind {
            AxisKind::Bspline(k) if k <= taps => 0.5 * (k % 2) as f64,
            AxisKind::Cardinal(_) if taps == 4 => 0.0,
            AxisKind::Eased | AxisKind::One => 0.0,
            _ => return None,
        };
        let end = if shift > 0.0 {
            rule.high
        } else {
            rule.high - 1.0
        };
        let first = (rule.low + shift).floor();
        let last = end.floor().max(first);
        let mut cells = Vec::new();
        for cell in first as i64..=last as i64 {
            cells.push(new_cell(rule, taps, shift, cell as f64)?);
        }
        Some(Self {
            cells,
            first: first as f32,
            last: last as f32,
            shift: shift as f32,
            scale: rule.scale as f32,
            offset: rule.offset as f32,
            low: rule.low as f32,
            high: rule.high as f32,
            linear_outside: rule.linear_outside,
        })
    }
}

/// The cubics through the reference's weights at four places within a cell.
fn new_cell(rule: &AxisRule, taps: usize, shift: f64, cell: f64) -> Option<Cell> {
    let from = (cell - shift).max(rule.low);
    let to = (cell + 1.0 - shift).min(rule.high).max(from + 1e-3);
    let places = [0.1, 0.4, 0.6, 0.9].map(|f| from + f * (to - from));
    let powers = Matrix4::from_fn(|r, p| (places[r] + shift - cell).powi(p as i32));
    let solve = powers.lu();
    let mut basis = AxisBasis::<f64>::new();
    let mut sides = [[[0.0_f32; 4]; 4]; 2];
    let mut start = 0;
    for (side, eased) in [false, true].into_iter().enumerate() {
        let mut samples = [[0.0; 4]; 4];
        for (sample, place) in samples.iter_mut().zip(places) {
            let s = if rule.scale == 0.0 {
                0.0
            } else {
                (place - rule.offset) / rule.scale
            };
            basis.evaluate(rule, s, eased);
            start = basis.start.min(rule.points.saturating_sub(taps));
            for (i, w) in basis.w[..basis.len].iter().enumerate() {
                *sample.get_mut(basis.start + i - start)? = *w;
            }
        }
        for tap in 0..4 {
            let values = Vector4::from_fn(|r, _| samples[r][tap]);
            let cubic = solve.solve(&values)?;
            for power in 0..4 {
                let coefficient = cubic[power] as f32;
                sides[side][power][tap] = coefficient;
            }
        }
    }
    Some(Cell {
        start,
        plain: sides[0],
        across: sides[1],
    })
}

impl LocalLattice {
    /// None where the weights along some axis are no cubics over at most four control points.
    pub(super) fn new(bind: &LatticeBind) -> Option<Self> {
        let narrow = |r: &AxisRule| {
            matches!(
                r.kind,
                AxisKind::One | AxisKind::Eased | AxisKind::Bspline(0..=2)
            )
        };
        let taps = if bind.rules.iter().all(narrow) { 2 } else { 4 };
        let [x, y, z] = &bind.rules;
        Some(Self {
            axes: [
                LocalAxis::new(x, taps)?,
                LocalAxis::new(y, taps)?,
                LocalAxis::new(z, taps)?,
            ],
            stride: [x, y, z].map(|r| r.points.max(taps)),
            taps,
            eased: bind.rules.iter().any(|r| r.kind == AxisKind::Eased),
        })
    }

    /// Control points in the grid of the kernel.
    pub(super) fn grid_len(&self) -> usize {
        self.stride.iter().product()
    }

    /// Copies this frame's control points.
    pub(super) fn fill(&self, bind: &LatticeBind, cage: &Cage<f32>, grid: &mut [[f32; 4]]) {
        let [nx, ny, _] = [0, 1, 2].map(|a| bind.rules[a].points);
        for (i, p) in cage.offsets.iter().enumerate() {
            let (x, y, z) = (i % nx, i / nx % ny, i / (nx * ny));
            let at = x + self.stride[0] * (y + self.stride[1] * z);
            if let Some(to) = grid.get_mut(at) {
                *to = [p.x, p.y, p.z, 0.0];
            }
        }
    }

    /// Displacements and, if asked for, their derivatives by the three parameters, of the vertices whose parameters
    /// are in the columns of `stu`.
    #[inline(always)]
    pub(super) fn sum<S: Simd, const FRAMES: bool>(
        &self,
        simd: S,
        cage: &Cage<f32>,
        grid: &[[f32; 4]],
        stu: &Lanes3,
    ) -> [V3<S>; 4] {
        let mut columns = [[[0.0; 8]; 3]; 4];
        for lane in 0..8 {
            let place = [stu[0][lane], stu[1][lane], stu[2][lane]];
            let sums = if self.taps == 2 {
                self.vertex::<S, 2, FRAMES>(simd, cage, grid, place)
            } else {
                self.vertex::<S, 4, FRAMES>(simd, cage, grid, place)
            };
            for (columns, sum) in columns.iter_mut().zip(sums) {
                let sum: [f32; 4] = sum.into();
                for c in 0..3 {
                    columns[c][lane] = sum[c];
                }
            }
        }
        let mut result = [V3::splat(simd, 0.0); 4];
        for (result, columns) in result.iter_mut().zip(&columns) {
            *result = V3::load_lanes(simd, columns);
        }
        result
    }

    #[inline(always)]
    fn vertex<S: Simd, const TAPS: usize, const FRAMES: bool>(
        &self,
        simd: S,
        cage: &Cage<f32>,
        grid: &[[f32; 4]],
        place: [f32; 3],
    ) -> [f32x4<S>; 4] {
        let zero = f32x4::splat(simd, 0.0);
        let mut w = [[zero; TAPS]; 3];
        let mut d = [[zero; TAPS]; 3];
        let mut start = [0; 3];
        for a in 0..3 {
            start[a] = self.weights::<S, TAPS>(simd, a, place[a], &mut w[a], &mut d[a]);
        }
        let [nx, ny, _] = self.stride;
        let mut sum = [zero; 4];
        for k in 0..TAPS {
            let mut plane = [zero; 3];
            for j in 0..TAPS {
                let first = start[0] + nx * (start[1] + j + ny * (start[2] + k));
                let Some(points) = grid.get(first..).and_then(|g| g.first_chunk::<TAPS>()) else {
                    continue;
                };
                let (mut row, mut slope) = (zero, zero);
                for i in 0..TAPS {
                    let p = f32x4::load_array(simd, points[i]);
                    row = p.mul_add(w[0][i], row);
                    if FRAMES {
                        slope = p.mul_add(d[0][i], slope);
                    }
                }
                plane[0] = row.mul_add(w[1][j], plane[0]);
                if FRAMES {
                    plane[1] = slope.mul_add(w[1][j], plane[1]);
                    plane[2] = row.mul_add(d[1][j], plane[2]);
                }
            }
            sum[0] = plane[0].mul_add(w[2][k], sum[0]);
            if FRAMES {
                sum[1] = plane[1].mul_add(w[2][k], sum[1]);
                sum[2] = plane[2].mul_add(w[2][k], sum[2]);
                sum[3] = plane[0].mul_add(d[2][k], sum[3]);
            }
        }
        if self.eased {
            for sum in &mut sum {
                *sum = in_scene(simd, cage, (*sum).into());
            }
        }
        sum
    }

    /// Weights along axis `a` and their derivatives by the parameter, a lane for each component; returns the first
    /// control point.
    #[inline(always)]
    fn weights<S: Simd, const TAPS: usize>(
        &self,
        simd: S,
        a: usize,
        place: f32,
        w: &mut [f32x4<S>; TAPS],
        d: &mut [f32x4<S>; TAPS],
    ) -> usize {
        let axis = &self.axes[a];
        let r = place * axis.scale + axis.offset;
        let c = r.max(axis.low).min(axis.high);
        let cell = (c + axis.shift).floor().min(axis.last);
        let t = c + axis.shift - cell;
        let index = (cell - axis.first) as usize;
        let Some(cell) = axis.cells.get(index) else {
            return 0;
        };
        let beyond = f32x4::splat(simd, r - c);
        let held = r != c && !axis.linear_outside;
        let scale = f32x4::splat(simd, if held { 0.0 } else { axis.scale });
        let t = f32x4::splat(simd, t);
        let (plain, plain_slope) = cubic(simd, &cell.plain, t);
        let plain = if held {
            plain
        } else {
            plain_slope.mul_add(beyond, plain)
        };
        spread(simd, plain, w);
        spread(simd, plain_slope * scale, d);
        if self.eased {
            let (across, across_slope) = cubic(simd, &cell.across, t);
            let across = if held {
                across
            } else {
                across_slope.mul_add(beyond, across)
            };
            let (mut other_w, mut other_d) = (*w, *d);
            spread(simd, across, &mut other_w);
            spread(simd, across_slope * scale, &mut other_d);
            // The component along this axis is linear, the others are eased.
            let mut own = [0.0; 4];
            own[a] = 1.0;
            let own = f32x4::load_array(simd, own).simd_gt(0.5);
            for i in 0..TAPS {
                w[i] = own.select(w[i], other_w[i]);
                d[i] = own.select(d[i], other_d[i]);
            }
        }
        cell.start
    }
}

/// Value and derivative of four cubics.
#[inline(always)]
fn cubic<S: Simd>(simd: S, coefficients: &[[f32; 4]; 4], t: f32x4<S>) -> (f32x4<S>, f32x4<S>) {
    let [a, b, c, e] = coefficients;
    let a = f32x4::load_array(simd, *a);
    let b = f32x4::load_array(simd, *b);
    let c = f32x4::load_array(simd, *c);
    let e = f32x4::load_array(simd, *e);
    let value = e.mul_add(t, c).mul_add(t, b).mul_add(t, a);
    let slope = (e * 3.0).mul_add(t, c * 2.0).mul_add(t, b);
    (value, slope)
}

/// Each number to a vector of its own.
#[inline(always)]
fn spread<S: Simd, const TAPS: usize>(simd: S, from: f32x4<S>, to: &mut [f32x4<S>; TAPS]) {
    let from: [f32; 4] = from.into();
    for (to, from) in to.iter_mut().zip(from) {
        *to = f32x4::splat(simd, from);
    }
}

/// From the box's axes to the scene's.
#[inline(always)]
fn in_scene<S: Simd>(simd: S, cage: &Cage<f32>, v: [f32; 4]) -> f32x4<S> {
    let l = &cage.scene_from_unit.linear;
    let x = f32x4::load_array(simd, [l[(0, 0)], l[(1, 0)], l[(2, 0)], 0.0]);
    let y = f32x4::load_array(simd, [l[(0, 1)], l[(1, 1)], l[(2, 1)], 0.0]);
    let z = f32x4::load_array(simd, [l[(0, 2)], l[(1, 2)], l[(2, 2)], 0.0]);
    x.mul_add(v[0], y.mul_add(v[1], z * v[2]))
}
