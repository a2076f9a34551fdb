//! Face terms, eight triangles at a time.

use super::reference::{FaceTerms, SLIVER};
use crate::simd_vector::V3;
use fearless_simd::prelude::*;
use fearless_simd::{f32x8, mask32x8};

/// Unlike [`V3::dot`] and [`V3::cross`] without fused operations: the same bits at every SIMD level.
#[inline(always)]
fn dot<S: Simd>(a: V3<S>, b: V3<S>) -> f32x8<S> {
    a.x * b.x + a.y * b.y + a.z * b.z
}
#[inline(always)]
fn cross<S: Simd>(a: V3<S>, b: V3<S>) -> V3<S> {
    V3 {
        x: a.y * b.z - a.z * b.y,
        y: a.z * b.x - a.x * b.z,
        z: a.x * b.y - a.y * b.x,
    }
}
#[inline(always)]
fn amax<S: Simd>(a: V3<S>) -> f32x8<S> {
    a.x.abs().max(a.y.abs()).max(a.z.abs())
}

/// `atan2(y, x)` for `y >= 0`, both not zero: the odd polynomial of Cephes' `atanf` after folding to `tan(pi/8)`;
/// within 3e-7 of the exact value.
#[inline(always)]
pub(super) fn angle<S: Simd>(simd: S, y: f32x8<S>, x: f32x8<S>) -> f32x8<S> {
    let ax = x.abs();
    let (lo, hi) = (ax.min(y), ax.max(y));
    // lo / hi beyond tan(pi/8): atan(t) = pi/4 + atan((t - 1) / (t + 1)), with one division for both.
    let folded: mask32x8<S> = lo.simd_gt(hi * f32x8::splat(simd, 0.414_213_57));
    let t = folded.select(lo - hi, lo) / folded.select(lo + hi, hi);
    let z = t * t;
    let p = f32x8::splat(simd, 8.053_744_5e-2) * z - f32x8::splat(simd, 1.387_768_6e-1);
    let p = p * z + f32x8::splat(simd, 1.997_771_1e-1);
    let p = p * z - f32x8::splat(simd, 3.333_295e-1);
    let r = p * z * t + t;
    let r = folded.select(r + f32x8::splat(simd, std::f32::consts::FRAC_PI_4), r);
    let r = y
        .simd_gt(ax)
        .select(f32x8::splat(simd, std::f32::consts::FRAC_PI_2) - r, r);
    x.simd_lt(f32x8::splat(simd, 0.0))
        .select(f32x8::splat(simd, std::f32::consts::PI) - r, r)
}

/// Face terms of `triangles`; lanes past the end repeat the last triangle and are dropped.
#[inline(always)]
pub(super) fn face_terms<S: Simd>(
    simd: S,
    positions: &[[f32; 3]],
    triangles: &[[u32; 3]],
    out: &mut [FaceTerms<f32>],
) {
    for (triangles, out) in triangles.chunks(8).zip(out.chunks_mut(8)) {
        let mut lanes = [[[0.0_f32; 8]; 3]; 3];
        for i in 0..8 {
            let t = triangles[i.min(triangles.len() - 1)];
            for (corner, v) in lanes.iter_mut().zip(t) {
                let p = positions[v as usize];
                corner[0][i] = p[0];
                corner[1][i] = p[1];
                corner[2][i] = p[2];
            }
        }
        // Written out: `array::map` is compiled without the instruction set and would not be inlined.
        let load = [
            V3::load_lanes(simd, &lanes[0]),
            V3::load_lanes(simd, &lanes[1]),
            V3::load_lanes(simd, &lanes[2]),
        ];
        let [mut normal, mut weights] = [[[0.0; 8]; 3]; 2];
        let (n, w) = eight(simd, load);
        n.store_lanes(&mut normal);
        w.store_lanes(&mut weights);
        for (i, o) in out.iter_mut().enumerate() {
            o.normal = [normal[0][i], normal[1][i], normal[2][i]];
            o.weights = [weights[0][i], weights[1][i], weights[2][i]];
        }
    }
}

#[inline(always)]
fn eight<S: Simd>(simd: S, p: [V3<S>; 3]) -> (V3<S>, V3<S>) {
    let (e01, e02, e12) = (p[1] - p[0], p[2] - p[0], p[2] - p[1]);
    let largest = amax(e01).max(amax(e02));
    let scale = f32x8::splat(simd, 1.0) / largest;
    let (e01, e02, e12) = (e01 * scale, e02 * scale, e12 * scale);
    let n = cross(e01, e02);
    let square = dot(n, n);
    let healthy = square.simd_gt(f32x8::splat(simd, SLIVER as f32))
        & largest.simd_gt(f32x8::splat(simd, 1e-30))
        & largest.simd_lt(f32x8::splat(simd, 1e30));
    let length = square.sqrt();
    let inverse = f32x8::splat(simd, 1.0) / length;
    let zero = f32x8::splat(simd, 0.0);
    let weights = V3 {
        x: angle(simd, length, dot(e01, e02)),
        y: angle(simd, length, zero - dot(e01, e12)),
        z: angle(simd, length, dot(e02, e12)),
    };
    let none = V3::splat(simd, 0.0);
    ((n * inverse).or(healthy, none), weights.or(healthy, none))
}
