//! Blending of joints for eight vertices at a time, from blocks or from a row for each vertex.

use super::bind::many_row;
use super::blocks::{Blocks, LANES};
use super::simd::PackedMotion;
use crate::lanes::transpose8x4;
use fearless_simd::{Simd, f32x4, f32x8, prelude::*};
use sinew_geom::{Influences, PackedAffine};

/// Three rows of four numbers, of eight matrices.
pub(crate) type Matrices<S> = [[f32x8<S>; 4]; 3];
/// Real and dual part as x y z w, of eight dual quaternions.
pub(super) type Motions<S> = [[f32x8<S>; 4]; 2];

/// Where the weights of a block of eight vertices come from.
pub(super) trait BlendSource: Copy {
    /// Weighted sums of matrices.
    fn matrices<S: Simd>(self, simd: S, block: usize, palette: &[PackedAffine]) -> Matrices<S>;
    /// Weighted sums of dual quaternions, each on the side of the strongest joint's.
    fn motions<S: Simd>(self, simd: S, block: usize, motions: &[PackedMotion]) -> Motions<S>;
}

impl BlendSource for &Blocks {
    #[inline(always)]
    fn matrices<S: Simd>(self, simd: S, block: usize, palette: &[PackedAffine]) -> Matrices<S> {
        let block = self.block(block);
        let mut sum = [[f32x8::splat(simd, 0.0); 4]; 3];
        for (&joint, weights) in block.joints.iter().zip(block.weights) {
            let w = f32x8::load_array(simd, *weights);
            let rows = &palette[joint as usize].rows;
            for r in 0..3 {
                for c in 0..4 {
                    sum[r][c] = f32x8::splat(simd, rows[r][c]).mul_add(w, sum[r][c]);
                }
            }
        }
        sum
    }

    #[inline(always)]
    fn motions<S: Simd>(self, simd: S, block: usize, motions: &[PackedMotion]) -> Motions<S> {
        let block = self.block(block);
        let zero = f32x8::splat(simd, 0.0);
        let pivot = pivots(simd, block.strongest, motions);
        let mut sum = [[zero; 4]; 2];
        for (&joint, weights) in block.joints.iter().zip(block.weights) {
            let q = &motions[joint as usize];
            let real = [
                f32x8::splat(simd, q.real[0]),
                f32x8::splat(simd, q.real[1]),
                f32x8::splat(simd, q.real[2]),
                f32x8::splat(simd, q.real[3]),
            ];
            let dot = real[0].mul_add(pivot[0], real[1] * pivot[1]);
            // Plus zero: minus zero must not count as negative.
            let dot = real[2].mul_add(pivot[2], real[3].mul_add(pivot[3], dot)) + zero;
            let w = f32x8::load_array(simd, *weights).copysign(dot);
            for c in 0..4 {
                sum[0][c] = real[c].mul_add(w, sum[0][c]);
                sum[1][c] = f32x8::splat(simd, q.dual[c]).mul_add(w, sum[1][c]);
            }
        }
        sum
    }
}

/// Rotations of the strongest joints.
#[inline(always)]
fn pivots<S: Simd>(simd: S, strongest: &[u32; LANES], motions: &[PackedMotion]) -> [f32x8<S>; 4] {
    let j = strongest;
    let same = (j[0] ^ j[1]) | (j[0] ^ j[2]) | (j[0] ^ j[3]) | (j[0] ^ j[4]);
    let same = same | (j[0] ^ j[5]) | (j[0] ^ j[6]) | (j[0] ^ j[7]);
    if same == 0 {
        let [x, y, z, w] = motions[j[0] as usize].real;
        return [
            f32x8::splat(simd, x),
            f32x8::splat(simd, y),
            f32x8::splat(simd, z),
            f32x8::splat(simd, w),
        ];
    }
    transpose8x4(
        [
            f32x4::load_array(simd, motions[j[0] as usize].real),
            f32x4::load_array(simd, motions[j[1] as usize].real),
            f32x4::load_array(simd, motions[j[2] as usize].real),
            f32x4::load_array(simd, motions[j[3] as usize].real),
        ],
        [
            f32x4::load_array(simd, motions[j[4] as usize].real),
            f32x4::load_array(simd, motions[j[5] as usize].real),
            f32x4::load_array(simd, motions[j[6] as usize].real),
            f32x4::load_array(simd, motions[j[7] as usize].real),
        ],
    )
}

/// A row for each vertex; past the end, the last vertex's again.
impl BlendSource for &Influences {
    #[inline(always)]
    fn matrices<S: Simd>(self, simd: S, block: usize, palette: &[PackedAffine]) -> Matrices<S> {
        let (first, last) = (block * LANES, self.vertex_count() - 1);
        let mut m = [[f32x4::splat(simd, 0.0); 3]; LANES];
        for (lane, m) in m.iter_mut().enumerate() {
            *m = one_matrix(simd, self, (first + lane).min(last), palette);
        }
        let mut out = [[f32x8::splat(simd, 0.0); 4]; 3];
        for (r, row) in out.iter_mut().enumerate() {
            *row = transpose8x4(
                [m[0][r], m[1][r], m[2][r], m[3][r]],
                [m[4][r], m[5][r], m[6][r], m[7][r]],
            );
        }
        out
    }

    #[inline(always)]
    fn motions<S: Simd>(self, simd: S, block: usize, motions: &[PackedMotion]) -> Motions<S> {
        let (first, last) = (block * LANES, self.vertex_count() - 1);
        let mut m = [[f32x4::splat(simd, 0.0); 2]; LANES];
        for (lane, m) in m.iter_mut().enumerate() {
            *m = one_motion(simd, self, (first + lane).min(last), motions);
        }
        let mut out = [[f32x8::splat(simd, 0.0); 4]; 2];
        for (r, row) in out.iter_mut().enumerate() {
            *row = transpose8x4(
                [m[0][r], m[1][r], m[2][r], m[3][r]],
                [m[4][r], m[5][r], m[6][r], m[7][r]],
            );
        }
        out
    }
}

#[inline(always)]
fn one_matrix<S: Simd>(
    simd: S,
    influences: &Influences,
    v: usize,
    palette: &[PackedAffine],
) -> [f32x4<S>; 3] {
    let (joints, weights) = many_row(influences, v);
    let zero = f32x4::splat(simd, 0.0);
    let (mut a, mut b, mut c) = (zero, zero, zero);
    for (&joint, &w) in joints.iter().zip(weights) {
        let m = &palette[joint as usize].rows;
        let w = f32x4::splat(simd, w);
        a = f32x4::load_array(simd, m[0]).mul_add(w, a);
        b = f32x4::load_array(simd, m[1]).mul_add(w, b);
        c = f32x4::load_array(simd, m[2]).mul_add(w, c);
    }
    [a, b, c]
}

#[inline(always)]
fn one_motion<S: Simd>(
    simd: S,
    influences: &Influences,
    v: usize,
    motions: &[PackedMotion],
) -> [f32x4<S>; 2] {
    let (joints, weights) = many_row(influences, v);
    let zero = f32x4::splat(simd, 0.0);
    let pivot = f32x4::load_array(simd, motions[joints[0] as usize].real);
    let (mut real, mut dual) = (zero, zero);
    for (&joint, &w) in joints.iter().zip(weights) {
        let q = &motions[joint as usize];
        let r = f32x4::load_array(simd, q.real);
        let m = r * pivot;
        let m = m + m.slide::<2>(m);
        // Plus zero: minus zero must not count as negative.
        let dot = m + m.slide::<1>(m) + zero;
        let w = f32x4::splat(simd, w).copysign(dot);
        real = r.mul_add(w, real);
        dual = f32x4::load_array(simd, q.dual).mul_add(w, dual);
    }
    [real, dual]
}
