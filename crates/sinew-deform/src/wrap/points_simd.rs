//! The fast kernel of modes with points: eight vertices side by side, one point of each after the other.
//!
//! It sums displacements of the driver, times weights and times gradients; the gradients are skipped where nothing reads them. Rotations of
//! mode `points` come from Newton's method, which `direct_delta_mush` has. Cost: O(points of all vertices), without allocation.

use super::Out;
use super::points::{LANES, PointBind};
use super::reference::{COLLAPSED, Frame};
use super::simd::{combine, store};
use crate::direct_delta_mush::newton;
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, prelude::*};
use fearless_simd_macros::simd;
use std::ops::Range;

/// Moves the vertices of a range, which begins at a multiple of eight; `frames`: whether normals or tangents are wanted.
#[simd]
pub(super) fn run<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    points: &PointBind,
    frames: bool,
    range: Range<usize>,
    mut out: Out<'_>,
) {
    let one = f32x8::splat(simd, 1.0);
    for at in (0..range.len()).step_by(LANES) {
        let v = range.start + at;
        let p = V3::load_at(simd, frame.input.positions, v);
        let origin = V3::load_at(simd, &points.origins, v);
        let offset = p - origin;
        let moved = if points.is_dense() {
            let is_off = !offset.taxi().simd_eq(0.0).all_true();
            let (shift, [x, y, z]) = dense_sum(simd, frame, points, frames || is_off, v);
            let moved = p + shift + combine([x, y, z], offset);
            let unit = identity(simd);
            let jacobian = [x + unit[0], y + unit[1], z + unit[2]];
            let some = square(jacobian).simd_ge(COLLAPSED);
            let none = V3::splat(simd, 0.0);
            let [x, y, z] = jacobian;
            (
                moved,
                [x.or(some, none), y.or(some, none), z.or(some, none)],
            )
        } else {
            let (shift, gradient) = sparse_sum(simd, frame, points, v);
            let linear = similarity(simd, rest_moments(simd, points, v), gradient);
            (origin + shift + combine(linear, offset), linear)
        };
        store(simd, frame, &moved, v, one, p, at, &mut out);
    }
}

/// The weighted displacement, and the columns of the gradient's sum; zeros unless it is wanted.
#[inline(always)]
fn dense_sum<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    points: &PointBind,
    gradients: bool,
    v: usize,
) -> (V3<S>, [V3<S>; 3]) {
    let block = v / LANES * points.count;
    let weights = &points.weights[block..block + points.count];
    let zero = V3::splat(simd, 0.0);
    let (mut shift, mut sum) = (zero, [zero; 3]);
    for (w, point) in weights.iter().zip(&points.points) {
        let d = V3::all(simd, frame.displacements[*point as usize]);
        shift = d.scale_add(f32x8::load_array_ref(simd, w), shift);
    }
    if gradients {
        let rows = &points.gradients[block..block + points.count];
        for (g, point) in rows.iter().zip(&points.points) {
            let d = V3::all(simd, frame.displacements[*point as usize]);
            let g = V3::load_lanes(simd, g);
            sum[0] = d.scale_add(g.x, sum[0]);
            sum[1] = d.scale_add(g.y, sum[1]);
            sum[2] = d.scale_add(g.z, sum[2]);
        }
    }
    (shift, sum)
}

/// The same where each vertex has points of its own.
#[inline(always)]
fn sparse_sum<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    points: &PointBind,
    v: usize,
) -> (V3<S>, [V3<S>; 3]) {
    let last = points.origins.len() - 1;
    let block = v / LANES * points.count;
    let zero = V3::splat(simd, 0.0);
    let (mut shift, mut sum) = (zero, [zero; 3]);
    for k in 0..points.count {
        let mut d = [[0.0; 3]; LANES];
        for (lane, d) in d.iter_mut().enumerate() {
            let point = points.points[(v + lane).min(last) * points.count + k];
            *d = frame.displacements[point as usize];
        }
        let d = V3::load(simd, &d);
        let g = V3::load_lanes(simd, &points.gradients[block + k]);
        shift = d.scale_add(
            f32x8::load_array_ref(simd, &points.weights[block + k]),
            shift,
        );
        sum[0] = d.scale_add(g.x, sum[0]);
        sum[1] = d.scale_add(g.y, sum[1]);
        sum[2] = d.scale_add(g.z, sum[2]);
    }
    (shift, sum)
}

/// Columns of the second moments at rest.
#[inline(always)]
fn rest_moments<S: Simd>(simd: S, points: &PointBind, v: usize) -> [V3<S>; 3] {
    let last = points.moments.len() - 1;
    let mut lanes = [[0.0; LANES]; 6];
    for lane in 0..LANES {
        let m = &points.moments[(v + lane).min(last)];
        for (row, m) in lanes.iter_mut().zip(m) {
            row[lane] = *m;
        }
    }
    let [xx, xy, xz, yy, yz, zz] = lanes;
    [
        V3::load_lanes(simd, &[xx, xy, xz]),
        V3::load_lanes(simd, &[xy, yy, yz]),
        V3::load_lanes(simd, &[xz, yz, zz]),
    ]
}

/// Sum of the squares of all elements.
#[inline(always)]
fn square<S: Simd>(a: [V3<S>; 3]) -> f32x8<S> {
    a[0].dot_add(a[0], a[1].dot_add(a[1], a[2].dot(a[2])))
}

/// The rotation nearest to the moved moments, times their scale.
#[inline(always)]
fn similarity<S: Simd>(simd: S, rest: [V3<S>; 3], gradient: [V3<S>; 3]) -> [V3<S>; 3] {
    let a = [
        rest[0] + gradient[0],
        rest[1] + gradient[1],
        rest[2] + gradient[2],
    ];
    let square = square(a);
    let one = f32x8::splat(simd, 1.0);
    let inverse = one / square.max(1e-30).sqrt();
    let unit = [a[0] * inverse, a[1] * inverse, a[2] * inverse];
    // Cofactors have the same nearest rotation, and they fix it where all points are in one plane.
    let both = [
        unit[0] + unit[1].cross(unit[2]),
        unit[1] + unit[2].cross(unit[0]),
        unit[2] + unit[0].cross(unit[1]),
    ];
    let r = newton(simd, both, identity(simd));
    let scale = r[0].dot_add(a[0], r[1].dot_add(a[1], r[2].dot(a[2])));
    // Points at one position differ by rounding only.
    let zero = f32x8::splat(simd, 0.0);
    let scale = square.simd_lt(COLLAPSED).select(zero, scale);
    [r[0] * scale, r[1] * scale, r[2] * scale]
}

#[inline(always)]
fn identity<S: Simd>(simd: S) -> [V3<S>; 3] {
    [
        V3::all(simd, [1.0, 0.0, 0.0]),
        V3::all(simd, [0.0, 1.0, 0.0]),
        V3::all(simd, [0.0, 0.0, 1.0]),
    ]
}
