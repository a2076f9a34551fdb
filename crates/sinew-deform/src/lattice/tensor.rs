//! Sums over control points: displacement and, if asked for, its derivatives by the three parameters.

use fearless_simd::{Simd, prelude::*};

/// An array of three values. Closures are not compiled for the instruction set of their caller, this is.
macro_rules! three {
    ($index:ident => $value:expr) => {
        [
            {
                let $index: usize = 0;
                $value
            },
            {
                let $index: usize = 1;
                $value
            },
            {
                let $index: usize = 2;
                $value
            },
        ]
    };
}

pub(super) use three;

/// Three vectors: the components of a vector in each lane.
pub(super) type Lanes<V> = [V; 3];

/// A row of control points: the sum by the weights and, for frames, by their derivatives.
#[inline(always)]
fn row<S: Simd, const CAP: usize, const FRAMES: bool>(
    simd: S,
    points: &[[f32; 3]; 4],
    w: &[S::f32s; CAP],
    d: &[S::f32s; CAP],
) -> [Lanes<S::f32s>; 2] {
    let [a, b, c, e] = points;
    let a = three!(i => S::f32s::splat(simd, a[i]));
    let b = three!(i => S::f32s::splat(simd, b[i]));
    let c = three!(i => S::f32s::splat(simd, c[i]));
    let e = three!(i => S::f32s::splat(simd, e[i]));
    let value = three!(i => e[i].mul_add(w[3], c[i].mul_add(w[2], b[i].mul_add(w[1], a[i]))));
    if !FRAMES {
        return [value, value];
    }
    let slope = three!(i => e[i].mul_add(d[3], c[i].mul_add(d[2], b[i] * d[1])));
    [value, slope]
}

/// A layer of control points: value, and its derivatives along the first and the second axis.
#[inline(always)]
fn layer<S: Simd, const CAP: usize, const FRAMES: bool>(
    simd: S,
    points: &[[[f32; 3]; 4]; 4],
    w: &[[S::f32s; CAP]; 3],
    d: &[[S::f32s; CAP]; 3],
) -> [Lanes<S::f32s>; 3] {
    let [mut value, mut slope] = row::<S, CAP, FRAMES>(simd, &points[0], &w[0], &d[0]);
    let mut along = [S::f32s::splat(simd, 0.0); 3];
    macro_rules! add_row {
        ($j:literal) => {
            let [v, s] = row::<S, CAP, FRAMES>(simd, &points[$j], &w[0], &d[0]);
            let (w, d) = (w[1][$j], d[1][$j]);
            value = three!(i => v[i].mul_add(w, value[i]));
            if FRAMES {
                slope = three!(i => s[i].mul_add(w, slope[i]));
                along = three!(i => v[i].mul_add(d, along[i]));
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
    w: &[[S::f32s; CAP]; 3],
    d: &[[S::f32s; CAP]; 3],
) -> [Lanes<S::f32s>; 4] {
    let zero = S::f32s::splat(simd, 0.0);
    let rows = points.as_chunks::<4>().0;
    let [first, rest @ ..] = rows.as_chunks::<4>().0 else {
        return [[zero; 3]; 4];
    };
    let [mut value, mut by_s, mut by_t] = layer::<S, CAP, FRAMES>(simd, first, w, d);
    let mut by_u = [zero; 3];
    for (k, points) in rest.iter().take(3).enumerate() {
        let [v, s, t] = layer::<S, CAP, FRAMES>(simd, points, w, d);
        let (w, d) = (w[2][k + 1], d[2][k + 1]);
        value = three!(i => v[i].mul_add(w, value[i]));
        if FRAMES {
            by_s = three!(i => s[i].mul_add(w, by_s[i]));
            by_t = three!(i => t[i].mul_add(w, by_t[i]));
            by_u = three!(i => v[i].mul_add(d, by_u[i]));
        }
    }
    [value, by_s, by_t, by_u]
}

#[inline(always)]
fn add<S: Simd>(to: &mut Lanes<S::f32s>, from: &Lanes<S::f32s>, by: S::f32s) {
    *to = three!(c => from[c].mul_add(by, to[c]));
}

/// The same for any resolution.
#[inline(always)]
pub(super) fn sum<S: Simd, const CAP: usize, const FRAMES: bool>(
    simd: S,
    points: &[[f32; 3]],
    [nx, ny, nz]: [usize; 3],
    w: &[[S::f32s; CAP]; 3],
    d: &[[S::f32s; CAP]; 3],
) -> [Lanes<S::f32s>; 4] {
    let zero = S::f32s::splat(simd, 0.0);
    let mut sum = [[zero; 3]; 4];
    for (k, plane_points) in points.chunks_exact(nx * ny).take(nz.min(CAP)).enumerate() {
        let mut plane = [[zero; 3]; 3];
        for (j, row_points) in plane_points.chunks_exact(nx).take(CAP).enumerate() {
            let mut row = three!(c => S::f32s::splat(simd, row_points[0][c]));
            let mut slope = [zero; 3];
            for ((p, &w), &d) in row_points.iter().zip(&w[0]).zip(&d[0]).skip(1) {
                let p = three!(c => S::f32s::splat(simd, p[c]));
                add::<S>(&mut row, &p, w);
                if FRAMES {
                    add::<S>(&mut slope, &p, d);
                }
            }
            if j == 0 {
                plane[0] = row;
                plane[1] = slope;
                continue;
            }
            add::<S>(&mut plane[0], &row, w[1][j]);
            if FRAMES {
                add::<S>(&mut plane[1], &slope, w[1][j]);
                add::<S>(&mut plane[2], &row, d[1][j]);
            }
        }
        if k == 0 {
            sum[..3].copy_from_slice(&plane);
            continue;
        }
        add::<S>(&mut sum[0], &plane[0], w[2][k]);
        if FRAMES {
            add::<S>(&mut sum[1], &plane[1], w[2][k]);
            add::<S>(&mut sum[2], &plane[2], w[2][k]);
            add::<S>(&mut sum[3], &plane[0], d[2][k]);
        }
    }
    sum
}
