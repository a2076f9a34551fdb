//! The fast kernel for lattices whose control points all act everywhere: one vertex a lane.
//!
//! A weighted sum whose weights add up to one is `P_0 + sum W_i (P_i - P_(i-1))` with `W_i = w_i + w_(i+1) + ..`.
//! The differences along all three axes are taken once a frame; a row then takes one multiply-add less for each
//! sum, a quarter of the work at four points.

use super::basis::{AxisBasis, AxisKind, AxisRule};
use super::bind::{LatticeBind, MAX_POINTS, Outside};
use super::job::{Chunk, Frame, LatticeScratch};
use super::local::{LocalLattice, WIDEST};
use super::tensor::{self, Lanes, three};
use crate::lanes::V3;
use fearless_simd::{f32x8, prelude::*};
use fearless_simd_macros::simd;
use std::ops::Range;

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
    let zero = S::f32s::splat(simd, 0.0);
    let mut w = [[zero; CAP]; 3];
    let mut d = [[zero; CAP]; 3];
    let len = chunk.range.len();
    let mut first = 0;
    while first < len {
        group::<S, CAP, FRAMES>(simd, frame, &mut chunk, first, &mut w, &mut d);
        first += S::f32s::LEN;
    }
}

/// The vertices `first..` of the chunk, as many as there are lanes.
#[inline(always)]
fn group<S: Simd, const CAP: usize, const FRAMES: bool>(
    simd: S,
    frame: &Frame<'_>,
    chunk: &mut Chunk<'_>,
    first: usize,
    w: &mut [[S::f32s; CAP]; 3],
    d: &mut [[S::f32s; CAP]; 3],
) {
    let begin = chunk.range.start + first;
    let count = S::f32s::LEN.min(chunk.range.end - begin);
    let all = begin..begin + count;
    let positions = load::<S, 3>(simd, &frame.input.positions[all.clone()]);
    let mut strength = S::f32s::splat(simd, frame.weight.weight);
    if frame.weight.mask.is_some() {
        strength = S::f32s::from_fn(simd, |l| frame.weight.at(begin + l.min(count - 1)));
        if strength.simd_eq(0.0).all_true() {
            return keep(frame, chunk, first, count);
        }
    }
    let cage = &frame.scratch.cage;
    let m = &cage.unit_from_scene;
    let stu: Lanes<S::f32s> = match frame.rest_stu {
        Some(stu) => load::<S, 3>(simd, &stu[all.clone()]),
        None => three!(r => {
            let [x, y, z] = positions;
            let shift = S::f32s::splat(simd, m.translation[r]);
            let z = z.mul_add(m.linear[(r, 2)], shift);
            x.mul_add(m.linear[(r, 0)], y.mul_add(m.linear[(r, 1)], z))
        }),
    };
    let inside = three!(a => stu[a].max(0.0).min(1.0));
    let beyond = three!(a => stu[a] - inside[a]);
    let out = three!(a => beyond[a].simd_eq(0.0));
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
            let mut columns = [[0.0; WIDEST]; 3];
            for (column, lane) in columns.iter_mut().zip(stu) {
                lane.store_slice(&mut column[..S::f32s::LEN]);
            }
            local.sum::<S, FRAMES>(simd, cage, &frame.scratch.grid, &columns)
        }
        _ => whole_sum::<S, CAP, FRAMES>(simd, frame, inside, beyond, out, any_outside, w, d),
    };
    if let Some((fade, way)) = fade {
        let [value, slopes @ ..] = &mut sum;
        for (c, value) in value.iter_mut().enumerate() {
            for (slope, way) in slopes.iter_mut().zip(way) {
                slope[c] = slope[c].mul_add(fade, *value * way);
            }
            *value *= fade;
        }
    }
    let mut live = !strength.simd_eq(0.0);
    if let Some((fade, _)) = fade {
        live &= !fade.simd_eq(0.0);
    }
    if let Some(out) = &mut chunk.positions {
        let moved = three!(c => {
            let moved = sum[0][c].mul_add(strength, positions[c]);
            live.select(moved, positions[c])
        });
        store::<S, _>(simd, &mut out[first..first + count], moved);
    }
    if FRAMES {
        let columns = jacobian(simd, frame, &sum, strength);
        turn::<S>(simd, frame, chunk, first..first + count, &columns, live);
    }
}

/// The sum over all control points, which all act everywhere.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "inlined away")]
fn whole_sum<S: Simd, const CAP: usize, const FRAMES: bool>(
    simd: S,
    frame: &Frame<'_>,
    inside: Lanes<S::f32s>,
    beyond: Lanes<S::f32s>,
    out: [S::mask32s; 3],
    any_outside: bool,
    w: &mut [[S::f32s; CAP]; 3],
    d: &mut [[S::f32s; CAP]; 3],
) -> [Lanes<S::f32s>; 4] {
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
                    *d = out[a].select(*d, S::f32s::splat(simd, 0.0));
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
    beyond: Lanes<S::f32s>,
) -> (S::f32s, Lanes<S::f32s>) {
    let (zero, one) = (S::f32s::splat(simd, 0.0), S::f32s::splat(simd, 1.0));
    let cage = &frame.scratch.cage;
    let l = &cage.scene_from_unit.linear;
    let way = three!(r => beyond[0] * l[(r, 0)] + beyond[1] * l[(r, 1)] + beyond[2] * l[(r, 2)]);
    let distance = (way[0] * way[0] + way[1] * way[1] + way[2] * way[2]).sqrt();
    let within = distance.simd_le(0.0);
    match frame.bind.config.outside {
        Outside::None => (within.select(one, zero), [zero; 3]),
        Outside::Falloff => {
            let reach = cage.falloff_distance;
            let x = distance / reach;
            let faded = one - x * x * (S::f32s::splat(simd, 3.0) - x * 2.0);
            let near = distance.simd_lt(reach);
            let slope = x * (one - x) * -6.0 / (distance * reach);
            let fade = within.select(one, near.select(faded, zero));
            let along = three!(a => {
                let g = (way[0] * l[(0, a)] + way[1] * l[(1, a)] + way[2] * l[(2, a)]) * slope;
                let live = near & !within & !beyond[a].simd_eq(0.0);
                live.select(g, zero)
            });
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
    s: S::f32s,
    w: &mut [S::f32s; CAP],
    d: &mut [S::f32s; CAP],
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
    s: S::f32s,
    w: &mut [S::f32s; CAP],
    d: &mut [S::f32s; CAP],
) {
    let one = S::f32s::splat(simd, 1.0);
    let (lower, squared) = (one - s, s * s);
    w[0] = one;
    w[1] = s * lower.mul_add(3.0, squared);
    w[2] = squared * lower.mul_add(2.0, one);
    w[3] = squared * s;
    d[0] = S::f32s::splat(simd, 0.0);
    d[1] = lower * lower * 3.0;
    d[2] = s * lower * 6.0;
    d[3] = squared * 3.0;
}

/// Bernstein polynomials, summed from the end. The derivative of `W_i` is `n b^(n-1)_(i-1)`.
#[inline(always)]
fn bernstein_sums<S: Simd>(simd: S, s: S::f32s, w: &mut [S::f32s], d: &mut [S::f32s]) {
    let (zero, one) = (S::f32s::splat(simd, 0.0), S::f32s::splat(simd, 1.0));
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
    s: S::f32s,
    w: &mut [S::f32s; CAP],
    d: &mut [S::f32s; CAP],
) {
    let r = s * 3.0;
    let cell = r.floor().min(2.0);
    let t = r - cell;
    let (first, second) = (cell.simd_eq(0.0), cell.simd_eq(1.0));
    w[0] = S::f32s::splat(simd, 1.0);
    d[0] = S::f32s::splat(simd, 0.0);
    for i in 1..4.min(CAP) {
        let mut a = [t; 4];
        for (p, a) in a.iter_mut().enumerate() {
            let values = three!(m => S::f32s::splat(simd, axis[m][i - 1][p]));
            *a = first.select(values[0], second.select(values[1], values[2]));
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
    sum: &[Lanes<S::f32s>; 4],
    strength: S::f32s,
) -> [Lanes<S::f32s>; 3] {
    let m = &frame.scratch.cage.unit_from_scene.linear;
    three!(column => {
        three!(c => {
            let g = sum[1][c] * m[(0, column)];
            let g = sum[2][c].mul_add(m[(1, column)], g);
            let g = sum[3][c].mul_add(m[(2, column)], g);
            let one = S::f32s::splat(simd, if c == column { 1.0 } else { 0.0 });
            g.mul_add(strength, one)
        })
    })
}

#[inline(always)]
fn cross<S: Simd>(a: &Lanes<S::f32s>, b: &Lanes<S::f32s>) -> Lanes<S::f32s> {
    three!(c => a[(c + 1) % 3].mul_sub(b[(c + 2) % 3], a[(c + 2) % 3] * b[(c + 1) % 3]))
}

/// Carries normals by the cofactor matrix and tangents by the Jacobian.
#[inline(always)]
fn turn<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    chunk: &mut Chunk<'_>,
    to: Range<usize>,
    [a, b, c]: &[Lanes<S::f32s>; 3],
    live: S::mask32s,
) {
    let base = chunk.range.start;
    let from = base + to.start..base + to.end;
    let cofactor = [cross::<S>(b, c), cross::<S>(c, a), cross::<S>(a, b)];
    let [x, y, z] = cofactor[0];
    let determinant = a[0].mul_add(x, a[1].mul_add(y, a[2] * z));
    let flips = determinant.simd_lt(0.0);
    let sign = flips.select(S::f32s::splat(simd, -1.0), S::f32s::splat(simd, 1.0));
    if let (Some(out), Some(n)) = (&mut chunk.normals, frame.input.normals) {
        let n = load::<S, 3>(simd, &n[from.clone()]);
        let turned = combine::<S>(&cofactor, &n);
        let turned = three!(c => turned[c] * sign);
        store::<S, _>(
            simd,
            &mut out[to.clone()],
            direction::<S>(simd, n, turned, live),
        );
    }
    if let (Some(out), Some(t)) = (&mut chunk.tangents, frame.input.tangents) {
        let [x, y, z, w] = load::<S, 4>(simd, &t[from]);
        let t = [x, y, z];
        let turned = combine::<S>(&[*a, *b, *c], &t);
        let [x, y, z] = direction::<S>(simd, t, turned, live);
        store::<S, _>(simd, &mut out[to], [x, y, z, live.select(w * sign, w)]);
    }
}

/// The matrix of these columns times `v`.
#[inline(always)]
fn combine<S: Simd>(columns: &[Lanes<S::f32s>; 3], v: &Lanes<S::f32s>) -> Lanes<S::f32s> {
    three!(r => {
        let s = columns[2][r] * v[2];
        columns[0][r].mul_add(v[0], columns[1][r].mul_add(v[1], s))
    })
}

/// `to` with length 1, or `from` where it has no direction or the lane is not `live`.
#[inline(always)]
fn direction<S: Simd>(
    simd: S,
    from: Lanes<S::f32s>,
    to: Lanes<S::f32s>,
    live: S::mask32s,
) -> Lanes<S::f32s> {
    let squared = to[0].mul_add(to[0], to[1].mul_add(to[1], to[2] * to[2]));
    let usable = squared.simd_gt(1e-30) & squared.simd_lt(f32::INFINITY) & live;
    let inverse = S::f32s::splat(simd, 1.0) / squared.sqrt();
    three!(c => usable.select(to[c] * inverse, from[c]))
}

/// Elements of a slice to lanes; a short slice repeats its last element.
#[inline(always)]
fn load<S: Simd, const D: usize>(simd: S, from: &[[f32; D]]) -> [S::f32s; D] {
    let mut lanes = [S::f32s::splat(simd, 0.0); D];
    if D == 3
        && S::f32s::LEN == 8
        && let Some(points) = from.as_flattened().first_chunk::<24>()
    {
        let points: &[[f32; 3]; 8] = bytemuck::cast_ref(points);
        let V3 { x, y, z } = V3::load(simd, points);
        for (lane, column) in lanes.iter_mut().zip([x, y, z]) {
            let column: [f32; 8] = column.into();
            *lane = S::f32s::from_slice(simd, &column);
        }
    } else if from.len() == S::f32s::LEN {
        for (c, lane) in lanes.iter_mut().enumerate() {
            *lane = S::f32s::from_fn(simd, |l| from[l][c]);
        }
    } else if let Some(last) = from.len().checked_sub(1) {
        for (c, lane) in lanes.iter_mut().enumerate() {
            *lane = S::f32s::from_fn(simd, |l| from[l.min(last)][c]);
        }
    }
    lanes
}

/// Lanes to the elements of a slice.
#[inline(always)]
fn store<S: Simd, const D: usize>(simd: S, to: &mut [[f32; D]], lanes: [S::f32s; D]) {
    if D == 3
        && S::f32s::LEN == 8
        && let Some(points) = to.as_flattened_mut().first_chunk_mut::<24>()
    {
        let [x, y, z] = three!(c => f32x8::from_slice(simd, lanes[c].as_slice()));
        V3 { x, y, z }.store(bytemuck::cast_mut(points));
        return;
    }
    for (l, to) in to.iter_mut().enumerate().take(S::f32s::LEN) {
        for (value, lane) in to.iter_mut().zip(&lanes) {
            *value = lane.as_slice()[l];
        }
    }
}
