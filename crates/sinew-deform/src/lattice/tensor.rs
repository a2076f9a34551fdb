//! Sums over control points: displacement and, if asked for, its derivatives by the three parameters.

use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8};

/// A row of control points: the sum by the weights and, for frames, by their derivatives.
#[inline(always)]
fn row<S: Simd, const CAP: usize, const FRAMES: bool>(
    simd: S,
    points: &[[f32; 3]; 4],
    w: &[f32x8<S>; CAP],
    d: &[f32x8<S>; CAP],
) -> [V3<S>; 2] {
    let [a, b] = [V3::all(simd, points[0]), V3::all(simd, points[1])];
    let [c, e] = [V3::all(simd, points[2]), V3::all(simd, points[3])];
    let value = e.scale_add(w[3], c.scale_add(w[2], b.scale_add(w[1], a)));
    if !FRAMES {
        return [value, value];
    }
    [value, e.scale_add(d[3], c.scale_add(d[2], b * d[1]))]
}

/// A layer of control points: value, and its derivatives along the first and the second axis.
#[inline(always)]
fn layer<S: Simd, const CAP: usize, const FRAMES: bool>(
    simd: S,
    points: &[[[f32; 3]; 4]; 4],
    w: &[[f32x8<S>; CAP]; 3],
    d: &[[f32x8<S>; CAP]; 3],
) -> [V3<S>; 3] {
    let [mut value, mut slope] = row::<S, CAP, FRAMES>(simd, &points[0], &w[0], &d[0]);
    let mut along = V3::splat(simd, 0.0);
    macro_rules! add_row {
        ($j:literal) => {
            let [v, s] = row::<S, CAP, FRAMES>(simd, &points[$j], &w[0], &d[0]);
            value = v.scale_add(w[1][$j], value);
            if FRAMES {
                slope = s.scale_add(w[1][$j], slope);
                along = v.scale_add(d[1][$j], along);
            }
        };
    }
    add_row!(1);
    add_row!(2);
    add_row!(3);
    [value, slope, along]
}

/// The sum over 4x4x4 control points, without a loop inside a layer.
#[inline(always)]
pub(super) fn sum_four<S: Simd, const CAP: usize, const FRAMES: bool>(
    simd: S,
    points: &[[f32; 3]],
    w: &[[f32x8<S>; CAP]; 3],
    d: &[[f32x8<S>; CAP]; 3],
) -> [V3<S>; 4] {
    let zero = V3::splat(simd, 0.0);
    let rows = points.as_chunks::<4>().0;
    let [first, rest @ ..] = rows.as_chunks::<4>().0 else {
        return [zero; 4];
    };
    let [mut value, mut by_s, mut by_t] = layer::<S, CAP, FRAMES>(simd, first, w, d);
    let mut by_u = zero;
    for (k, points) in rest.iter().take(3).enumerate() {
        let [v, s, t] = layer::<S, CAP, FRAMES>(simd, points, w, d);
        let (w, d) = (w[2][k + 1], d[2][k + 1]);
        value = v.scale_add(w, value);
        if FRAMES {
            by_s = s.scale_add(w, by_s);
            by_t = t.scale_add(w, by_t);
            by_u = v.scale_add(d, by_u);
        }
    }
    [value, by_s, by_t, by_u]
}

/// The same for any resolution.
#[inline(always)]
pub(super) fn sum<S: Simd, const CAP: usize, const FRAMES: bool>(
    simd: S,
    points: &[[f32; 3]],
    [nx, ny, nz]: [usize; 3],
    w: &[[f32x8<S>; CAP]; 3],
    d: &[[f32x8<S>; CAP]; 3],
) -> [V3<S>; 4] {
    let zero = V3::splat(simd, 0.0);
    let mut sum = [zero; 4];
    for (k, plane_points) in points.chunks_exact(nx * ny).take(nz.min(CAP)).enumerate() {
        let mut plane = [zero; 3];
        for (j, row_points) in plane_points.chunks_exact(nx).take(CAP).enumerate() {
            let mut row = V3::all(simd, row_points[0]);
            let mut slope = zero;
            for ((&p, &w), &d) in row_points.iter().zip(&w[0]).zip(&d[0]).skip(1) {
                let p = V3::all(simd, p);
                row = p.scale_add(w, row);
                if FRAMES {
                    slope = p.scale_add(d, slope);
                }
            }
            if j == 0 {
                plane = [row, slope, zero];
                continue;
            }
            plane[0] = row.scale_add(w[1][j], plane[0]);
            if FRAMES {
                plane[1] = slope.scale_add(w[1][j], plane[1]);
                plane[2] = row.scale_add(d[1][j], plane[2]);
            }
        }
        if k == 0 {
            sum[..3].copy_from_slice(&plane);
            continue;
        }
        sum[0] = plane[0].scale_add(w[2][k], sum[0]);
        if FRAMES {
            sum[1] = plane[1].scale_add(w[2][k], sum[1]);
            sum[2] = plane[2].scale_add(w[2][k], sum[2]);
            sum[3] = plane[0].scale_add(d[2][k], sum[3]);
        }
    }
    sum
}
