//! The fast kernel for lattices in which all control points act on each vertex; lanes are vertices. Lattices with nearby control points
//! enter here too, and their sums come from `local.rs`.
//!
//! A weighted sum whose weights add up to one is `P_0 + sum W_i (P_i - P_(i-1))` with `W_i = w_i + w_(i+1) + ..`. The differences along all
//! three axes are taken once per frame; a row then takes one multiply-add less for each sum, a quarter of the work at four points.
//!
//! For each eight vertices: position in the box, fade outside it, weights and their derivatives along each axis (Bernstein by de
//! Casteljau's recurrence, or cubics fitted at setup to the reference's basis), and the sum (`tensor.rs`). With normals or tangents, the
//! derivatives of the sum give the Jacobian. Vertices of weight 0 are copied, so that they keep their bits. [`Plan`] chooses the kernel
//! once, at setup.
//!
//! Cost per vertex: O(n^2) for the Bernstein weights of `n` points on an axis, and O(all control points) for the sum. Weights are on the
//! stack: 48 KiB for Bernstein lattices of other resolutions than 4x4x4.

use super::basis::{AxisBasis, AxisKind, AxisRule};
use super::bind::{LatticeBind, MAX_POINTS, Outside};
use super::job::{Chunk, Frame, LatticeScratch};
use super::local::LocalLattice;
use super::tensor;
use crate::lanes::{load8x4_at, store8x4_at, strengths};
use crate::simd_vector::{V3, rows};
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};
use fearless_simd_macros::simd;
use sinew_geom::Mat3;

/// Which kernel fits the lattice.
#[expect(
    clippy::large_enum_variant,
    reason = "one a lattice, read in every kernel call; a box would cost a pointer chase and save nothing"
)]
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plan {
    /// Each vertex by itself, over the control points near it.
    PerVertex,
    /// Bernstein of any resolution.
    Bernstein,
    /// 4x4x4 control points, Bernstein.
    BernsteinFour,
    /// 4x4x4 control points, piecewise cubic.
    CubicFour([CubicAxis; 3]),
    /// Piecewise cubic over at most four control points along each axis, any number in all.
    Local(LocalLattice),
}

/// Summed weights `W_1..W_3` of an axis with four points: in each of its three cells a cubic of the place in the
/// cell, lowest power first.
pub(super) type CubicAxis = [[[f32; 4]; 3]; 3];

impl Plan {
    pub(super) fn new(bind: &LatticeBind) -> Self {
        let natural_border = |r: &AxisRule| r.low < 0.0;
        if bind
            .rules
            .iter()
            .all(|r| matches!(r.kind, AxisKind::Bernstein | AxisKind::One))
        {
            return match bind.resolution {
                [4, 4, 4] => Self::BernsteinFour,
                _ => Self::Bernstein,
            };
        }
        let cubic = |r: &AxisRule| {
            r.points == 4
                && !natural_border(r)
                && matches!(r.kind, AxisKind::Bspline(2 | 4) | AxisKind::Cardinal(_))
        };
        if bind.rules.iter().all(cubic) {
            return Self::CubicFour(bind.rules.map(|r| cubic_axis(&r)));
        }
        LocalLattice::new(bind).map_or(Self::PerVertex, Self::Local)
    }

    /// Room that [`prepare`] needs: differences, and the grid of a local lattice.
    pub(super) fn room(&self, points: usize) -> (usize, usize) {
        match self {
            Self::PerVertex => (0, 0),
            Self::Local(local) => (0, local.grid_len()),
            _ => (points, 0),
        }
    }
}

/// The cubics through the reference's weights at four places of each cell.
fn cubic_axis(rule: &AxisRule) -> CubicAxis {
    let mut basis = AxisBasis::<f64>::new();
    let mut sums_at = |r: f64| {
        basis.evaluate(rule, r / rule.scale, false);
        let mut w = [0.0; 4];
        w[basis.start..basis.start + basis.len].copy_from_slice(&basis.w[..basis.len]);
        [w[1] + w[2] + w[3], w[2] + w[3], w[3]]
    };
    [0.0, 1.0, 2.0].map(|cell| {
        // Just short of the cell's end, so that the sample lies in the cell: all basis functions are continuous.
        let samples = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0].map(|t| sums_at(cell + t));
        [0, 1, 2].map(|i| {
            let [a, b, c, d] = samples.map(|s| s[i]);
            // Newton's forward differences for nodes 0, 1/3, 2/3, 1, expanded.
            let (d1, d2, d3) = (b - a, c - 2.0 * b + a, d - 3.0 * c + 3.0 * b - a);
            [
                a,
                3.0 * (d1 - d2 / 2.0 + d3 / 3.0),
                9.0 * (d2 / 2.0 - d3 / 2.0),
                27.0 * d3 / 6.0,
            ]
            .map(|v| v as f32)
        })
    })
}

/// Takes the differences of this frame's control points.
pub(super) fn prepare(bind: &LatticeBind, scratch: &mut LatticeScratch) {
    match &scratch.plan {
        Plan::PerVertex => return,
        Plan::Local(local) => return local.fill(bind, &scratch.cage, &mut scratch.grid),
        _ => {}
    }
    let d = &mut scratch.differences;
    for (d, o) in d.iter_mut().zip(&scratch.cage.offsets) {
        *d = (*o).into();
    }
    let [nx, ny, _] = bind.resolution;
    for (stride, n) in [1, nx, nx * ny].into_iter().zip(bind.resolution) {
        for i in (stride..d.len()).rev() {
            if i / stride % n > 0 {
                let before = d[i - stride];
                for (v, b) in d[i].iter_mut().zip(before) {
                    *v -= b;
                }
            }
        }
    }
}

/// Works on one chunk.
pub(super) fn run_chunk(frame: &Frame<'_>, chunk: Chunk<'_>) {
    let frames = chunk.normals.is_some() || chunk.tangents.is_some();
    match (&frame.scratch.plan, frames) {
        (Plan::PerVertex, _) => {}
        (Plan::Local(_), false) => {
            dispatch!(simd => run::<_, 0, false>(simd, frame, chunk));
        }
        (Plan::Local(_), true) => dispatch!(simd => run::<_, 0, true>(simd, frame, chunk)),
        (Plan::Bernstein, false) => {
            dispatch!(simd => run::<_, MAX_POINTS, false>(simd, frame, chunk));
        }
        (Plan::Bernstein, true) => {
            dispatch!(simd => run::<_, MAX_POINTS, true>(simd, frame, chunk));
        }
        (_, false) => dispatch!(simd => run::<_, 4, false>(simd, frame, chunk)),
        (_, true) => dispatch!(simd => run::<_, 4, true>(simd, frame, chunk)),
    }
}

#[simd]
fn run<S: Simd, const CAP: usize, const FRAMES: bool>(
    simd: S,
    frame: &Frame<'_>,
    mut chunk: Chunk<'_>,
) {
    let zero = f32x8::splat(simd, 0.0);
    let mut w = [[zero; CAP]; 3];
    let mut d = [[zero; CAP]; 3];
    for first in (0..chunk.range.len()).step_by(8) {
        group::<S, CAP, FRAMES>(simd, frame, &mut chunk, first, &mut w, &mut d);
    }
}

/// The eight vertices `first..` of the chunk, or as many as there are.
#[inline(always)]
fn group<S: Simd, const CAP: usize, const FRAMES: bool>(
    simd: S,
    frame: &Frame<'_>,
    chunk: &mut Chunk<'_>,
    first: usize,
    w: &mut [[f32x8<S>; CAP]; 3],
    d: &mut [[f32x8<S>; CAP]; 3],
) {
    let begin = chunk.range.start + first;
    let count = (chunk.range.end - begin).min(8);
    let positions = V3::load_at(simd, frame.input.positions, begin);
    let strength = strengths(simd, &frame.weight, begin);
    if frame.weight.mask.is_some() && strength.simd_eq(0.0).all_true() {
        return keep(frame, chunk, first, count);
    }
    let cage = &frame.scratch.cage;
    let stu = match frame.rest_stu {
        Some(stu) => V3::load_at(simd, stu, begin),
        None => {
            let m = &cage.unit_from_scene;
            let [x, y, z] = columns(simd, &m.linear);
            let shift = V3::all(simd, m.translation);
            let z = z.scale_add(positions.z, shift);
            x.scale_add(positions.x, y.scale_add(positions.y, z))
        }
    };
    let stu = [stu.x, stu.y, stu.z];
    let (mut inside, mut beyond) = (stu, stu);
    let mut out = [strength.simd_eq(0.0); 3];
    for a in 0..3 {
        inside[a] = stu[a].max(0.0).min(1.0);
        beyond[a] = stu[a] - inside[a];
        out[a] = beyond[a].simd_eq(0.0);
    }
    let any_outside = !(out[0] & out[1] & out[2]).all_true();
    let fade = if any_outside {
        Some(fade_lanes(simd, frame, beyond))
    } else {
        None
    };
    if fade.is_some_and(|(f, _)| f.simd_eq(0.0).all_true()) {
        return keep(frame, chunk, first, count);
    }
    let mut sum = match &frame.scratch.plan {
        Plan::Local(local) if CAP == 0 => {
            let mut lanes = [[0.0; 8]; 3];
            for (lanes, stu) in lanes.iter_mut().zip(stu) {
                stu.store_array(lanes);
            }
            local.sum::<S, FRAMES>(simd, cage, &frame.scratch.grid, &lanes)
        }
        _ => whole_sum::<S, CAP, FRAMES>(simd, frame, inside, beyond, out, any_outside, w, d),
    };
    if let Some((fade, way)) = fade {
        let [value, slopes @ ..] = &mut sum;
        for (slope, way) in slopes.iter_mut().zip(way) {
            *slope = slope.scale_add(fade, *value * way);
        }
        *value = *value * fade;
    }
    let mut live = !strength.simd_eq(0.0);
    if let Some((fade, _)) = fade {
        live &= !fade.simd_eq(0.0);
    }
    if let Some(out) = &mut chunk.positions {
        let moved = sum[0].scale_add(strength, positions);
        moved.or(live, positions).store_at(out, first);
    }
    if FRAMES {
        let columns = jacobian(simd, frame, &sum, strength);
        turn(simd, frame, chunk, first, columns, live);
    }
}

/// The columns of a matrix, the same in every lane.
#[inline(always)]
fn columns<S: Simd>(simd: S, m: &Mat3<f32>) -> [V3<S>; 3] {
    rows(simd, &m.transpose())
}

/// The sum over all control points, which all act everywhere.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "inlined away")]
fn whole_sum<S: Simd, const CAP: usize, const FRAMES: bool>(
    simd: S,
    frame: &Frame<'_>,
    inside: [f32x8<S>; 3],
    beyond: [f32x8<S>; 3],
    out: [mask32x8<S>; 3],
    any_outside: bool,
    w: &mut [[f32x8<S>; CAP]; 3],
    d: &mut [[f32x8<S>; CAP]; 3],
) -> [V3<S>; 4] {
    for a in 0..3 {
        axis_weights::<S, CAP>(simd, frame, a, inside[a], &mut w[a], &mut d[a]);
        if any_outside {
            let n = if CAP == 4 {
                4
            } else {
                frame.bind.resolution[a]
            };
            for (w, d) in w[a].iter_mut().zip(&mut d[a]).take(n) {
                if frame.bind.rules[a].linear_outside {
                    *w = beyond[a].mul_add(*d, *w);
                } else {
                    *d = out[a].select(*d, f32x8::splat(simd, 0.0));
                }
            }
        }
    }
    let resolution = if CAP == 4 {
        [4; 3]
    } else {
        frame.bind.resolution
    };
    let points = &frame.scratch.differences;
    if CAP == 4 {
        tensor::sum_four::<S, CAP, FRAMES>(simd, points, w, d)
    } else {
        tensor::sum::<S, CAP, FRAMES>(simd, points, resolution, w, d)
    }
}

/// Leaves `count` vertices as they came.
#[inline(always)]
fn keep(frame: &Frame<'_>, chunk: &mut Chunk<'_>, first: usize, count: usize) {
    let from = chunk.range.start + first;
    let (from, to) = (from..from + count, first..first + count);
    if let Some(out) = &mut chunk.positions {
        out[to.clone()].copy_from_slice(&frame.input.positions[from.clone()]);
    }
    if let (Some(out), Some(n)) = (&mut chunk.normals, frame.input.normals) {
        out[to.clone()].copy_from_slice(&n[from.clone()]);
    }
    if let (Some(out), Some(t)) = (&mut chunk.tangents, frame.input.tangents) {
        out[to].copy_from_slice(&t[from]);
    }
}

/// Fade outside the box, and for each axis its derivative by the parameter. Mirrors the reference.
#[inline(always)]
fn fade_lanes<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    beyond: [f32x8<S>; 3],
) -> (f32x8<S>, [f32x8<S>; 3]) {
    let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    let cage = &frame.scratch.cage;
    let columns = columns(simd, &cage.scene_from_unit.linear);
    let way = columns[0] * beyond[0] + columns[1] * beyond[1] + columns[2] * beyond[2];
    let distance = (way.x * way.x + way.y * way.y + way.z * way.z).sqrt();
    let within = distance.simd_le(0.0);
    match frame.bind.config.outside {
        Outside::None => {
            let inside = |a: usize| beyond[a].abs().simd_le(cage.edge[a]);
            let inside = inside(0) & inside(1) & inside(2);
            (inside.select(one, zero), [zero; 3])
        }
        Outside::Falloff => {
            let reach = cage.falloff_distance;
            let x = distance / reach;
            let faded = one - x * x * (f32x8::splat(simd, 3.0) - x * 2.0);
            let near = distance.simd_lt(reach);
            let slope = x * (one - x) * -6.0 / (distance * reach);
            let fade = within.select(one, near.select(faded, zero));
            let mut along = [zero; 3];
            for a in 0..3 {
                let c = columns[a];
                let g = (way.x * c.x + way.y * c.y + way.z * c.z) * slope;
                let live = near & !within & !beyond[a].simd_eq(0.0);
                along[a] = live.select(g, zero);
            }
            (fade, along)
        }
        _ => (one, [zero; 3]),
    }
}

/// Summed weights of axis `a` at `s` (within 0..1) and their derivatives; `w[0]` is 1 and `d[0]` 0.
#[inline(always)]
fn axis_weights<S: Simd, const CAP: usize>(
    simd: S,
    frame: &Frame<'_>,
    a: usize,
    s: f32x8<S>,
    w: &mut [f32x8<S>; CAP],
    d: &mut [f32x8<S>; CAP],
) {
    match &frame.scratch.plan {
        Plan::CubicFour(axes) => cubic_weights::<S, CAP>(simd, &axes[a], s, w, d),
        _ if CAP == 4 => bernstein_four::<S, CAP>(simd, s, w, d),
        _ => {
            let n = frame.bind.resolution[a].min(CAP);
            bernstein_sums(simd, s, &mut w[..n], &mut d[..n]);
        }
    }
}

/// The same as [`bernstein_sums`] for four points, written out; positive terms only.
#[inline(always)]
fn bernstein_four<S: Simd, const CAP: usize>(
    simd: S,
    s: f32x8<S>,
    w: &mut [f32x8<S>; CAP],
    d: &mut [f32x8<S>; CAP],
) {
    let one = f32x8::splat(simd, 1.0);
    let (lower, squared) = (one - s, s * s);
    w[0] = one;
    w[1] = s * lower.mul_add(3.0, squared);
    w[2] = squared * lower.mul_add(2.0, one);
    w[3] = squared * s;
    d[0] = f32x8::splat(simd, 0.0);
    d[1] = lower * lower * 3.0;
    d[2] = s * lower * 6.0;
    d[3] = squared * 3.0;
}

/// Bernstein polynomials, summed from the end. The derivative of `W_i` is `n b^(n-1)_(i-1)`.
#[inline(always)]
fn bernstein_sums<S: Simd>(simd: S, s: f32x8<S>, w: &mut [f32x8<S>], d: &mut [f32x8<S>]) {
    let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    let lower = one - s;
    let n = w.len();
    w.fill(zero);
    w[0] = one;
    d[0] = zero;
    for k in 1..n {
        if k == n - 1 {
            for i in 1..n {
                d[i] = w[i - 1] * k as f32;
            }
        }
        for i in (1..=k).rev() {
            w[i] = lower * w[i] + s * w[i - 1];
        }
        w[0] *= lower;
    }
    for i in (1..n).rev() {
        if i + 1 < n {
            w[i] += w[i + 1];
        }
    }
    w[0] = one;
}

/// Piecewise cubics on three cells.
#[inline(always)]
fn cubic_weights<S: Simd, const CAP: usize>(
    simd: S,
    axis: &CubicAxis,
    s: f32x8<S>,
    w: &mut [f32x8<S>; CAP],
    d: &mut [f32x8<S>; CAP],
) {
    let r = s * 3.0;
    let cell = r.floor().min(2.0);
    let t = r - cell;
    let (first, second) = (cell.simd_eq(0.0), cell.simd_eq(1.0));
    w[0] = f32x8::splat(simd, 1.0);
    d[0] = f32x8::splat(simd, 0.0);
    for i in 1..4.min(CAP) {
        let mut a = [t; 4];
        for (p, a) in a.iter_mut().enumerate() {
            let value = f32x8::splat(simd, axis[2][i - 1][p]);
            let value = second.select(f32x8::splat(simd, axis[1][i - 1][p]), value);
            *a = first.select(f32x8::splat(simd, axis[0][i - 1][p]), value);
        }
        w[i] = a[3].mul_add(t, a[2]).mul_add(t, a[1]).mul_add(t, a[0]);
        d[i] = (a[3] * 3.0).mul_add(t, a[2] * 2.0).mul_add(t, a[1]) * 3.0;
    }
}

/// Columns of `1 + strength * (derivative by scene position)`.
#[inline(always)]
fn jacobian<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    sum: &[V3<S>; 4],
    strength: f32x8<S>,
) -> [V3<S>; 3] {
    let m = columns(simd, &frame.scratch.cage.unit_from_scene.linear);
    let one = rows(simd, &Mat3::identity());
    let mut columns = one;
    for c in 0..3 {
        let g = sum[1] * m[c].x;
        let g = sum[2].scale_add(m[c].y, g);
        let g = sum[3].scale_add(m[c].z, g);
        columns[c] = g.scale_add(strength, one[c]);
    }
    columns
}

/// Carries normals by the cofactor matrix and tangents by the Jacobian.
#[inline(always)]
fn turn<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    chunk: &mut Chunk<'_>,
    first: usize,
    jacobian: [V3<S>; 3],
    live: mask32x8<S>,
) {
    let begin = chunk.range.start + first;
    let [a, b, c] = jacobian;
    let cofactor = [b.cross(c), c.cross(a), a.cross(b)];
    let flips = a.dot(cofactor[0]).simd_lt(0.0);
    let sign = flips.select(f32x8::splat(simd, -1.0), f32x8::splat(simd, 1.0));
    if let (Some(out), Some(n)) = (&mut chunk.normals, frame.input.normals) {
        let n = V3::load_at(simd, n, begin);
        direction(n, combine(cofactor, n) * sign, live).store_at(out, first);
    }
    if let (Some(out), Some(t)) = (&mut chunk.tangents, frame.input.tangents) {
        let given = load8x4_at(simd, t, begin);
        let t = V3::of(given);
        let V3 { x, y, z } = direction(t, combine(jacobian, t), live);
        let sign = live.select(given[3] * sign, given[3]);
        store8x4_at([x, y, z, sign], out, first);
    }
}

/// The matrix of these columns times `v`.
#[inline(always)]
fn combine<S: Simd>([a, b, c]: [V3<S>; 3], v: V3<S>) -> V3<S> {
    a.scale_add(v.x, b.scale_add(v.y, c * v.z))
}

/// `to` with length 1, or `from` where it has no direction or the lane is not `live`.
#[inline(always)]
fn direction<S: Simd>(from: V3<S>, to: V3<S>, live: mask32x8<S>) -> V3<S> {
    let squared = to.dot(to);
    let usable = squared.simd_gt(1e-30) & squared.simd_lt(f32::INFINITY) & live;
    let inverse = f32x8::splat(squared.simd, 1.0) / squared.sqrt();
    (to * inverse).or(usable, from)
}
