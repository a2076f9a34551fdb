//! Blending of joints for eight vertices at a time, from blocks or from a row for each vertex.

use super::bind::many_row;
use super::blocks::{Blocks, LANES};
use crate::lanes::transpose8x4;
use fearless_simd::{Simd, f32x4, f32x8, prelude::*};
use sinew_geom::{Influences, PackedAffine};

/// Three rows of four numbers, of eight matrices.
pub(crate) type Matrices<S> = [[f32x8<S>; 4]; 3];
/// `N` quaternions as x y z w, of eight vertices.
pub(super) type Quaternions<S, const N: usize> = [[f32x8<S>; 4]; N];

/// Where the weights of a block of eight vertices come from.
pub(super) trait BlendSource: Copy {
    /// Weighted sums of matrices.
    fn matrices<S: Simd>(self, simd: S, block: usize, palette: &[PackedAffine]) -> Matrices<S>;
    /// Weighted sums of `N` quaternions a joint. The first of them is its rotation; where it points away from the strongest joint's, all
    /// change sign.
    fn quaternions<S: Simd, const N: usize>(
        self,
        simd: S,
        block: usize,
        of_joints: &[[[f32; 4]; N]],
    ) -> Quaternions<S, N>;
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
    fn quaternions<S: Simd, const N: usize>(
        self,
        simd: S,
        block: usize,
        of_joints: &[[[f32; 4]; N]],
    ) -> Quaternions<S, N> {
        let block = self.block(block);
        let zero = f32x8::splat(simd, 0.0);
        let pivot = pivots(simd, block.strongest, of_joints);
        let mut sum = [[zero; 4]; N];
        for (&joint, weights) in block.joints.iter().zip(block.weights) {
            let q = &of_joints[joint as usize];
            let real = q[0].map(|x| f32x8::splat(simd, x));
            let dot = real[0].mul_add(pivot[0], real[1] * pivot[1]);
            // Plus zero: minus zero must not count as negative.
            let dot = real[2].mul_add(pivot[2], real[3].mul_add(pivot[3], dot)) + zero;
            let w = f32x8::load_array(simd, *weights).copysign(dot);
            for (sum, q) in sum.iter_mut().zip(q) {
                for c in 0..4 {
                    sum[c] = f32x8::splat(simd, q[c]).mul_add(w, sum[c]);
                }
            }
        }
        sum
    }
}

/// Rotations of the strongest joints.
#[inline(always)]
fn pivots<S: Simd, const N: usize>(
    simd: S,
    strongest: &[u32; LANES],
    of_joints: &[[[f32; 4]; N]],
) -> [f32x8<S>; 4] {
    let j = strongest;
    let same = (j[0] ^ j[1]) | (j[0] ^ j[2]) | (j[0] ^ j[3]) | (j[0] ^ j[4]);
    let same = same | (j[0] ^ j[5]) | (j[0] ^ j[6]) | (j[0] ^ j[7]);
    if same == 0 {
        return of_joints[j[0] as usize][0].map(|x| f32x8::splat(simd, x));
    }
    let rotation = |k: usize| f32x4::load_array(simd, of_joints[j[k] as usize][0]);
    transpose8x4(
        [rotation(0), rotation(1), rotation(2), rotation(3)],
        [rotation(4), rotation(5), rotation(6), rotation(7)],
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
    fn quaternions<S: Simd, const N: usize>(
        self,
        simd: S,
        block: usize,
        of_joints: &[[[f32; 4]; N]],
    ) -> Quaternions<S, N> {
        let (first, last) = (block * LANES, self.vertex_count() - 1);
        let mut m = [[f32x4::splat(simd, 0.0); N]; LANES];
        for (lane, m) in m.iter_mut().enumerate() {
            *m = quaternions_of_one(simd, self, (first + lane).min(last), of_joints);
        }
        let mut out = [[f32x8::splat(simd, 0.0); 4]; N];
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
fn quaternions_of_one<S: Simd, const N: usize>(
    simd: S,
    influences: &Influences,
    v: usize,
    of_joints: &[[[f32; 4]; N]],
) -> [f32x4<S>; N] {
    let (joints, weights) = many_row(influences, v);
    let zero = f32x4::splat(simd, 0.0);
    let pivot = f32x4::load_array(simd, of_joints[joints[0] as usize][0]);
    let mut sum = [zero; N];
    for (&joint, &w) in joints.iter().zip(weights) {
        let q = &of_joints[joint as usize];
        let m = f32x4::load_array(simd, q[0]) * pivot;
        let m = m + m.slide::<2>(m);
        // Plus zero: minus zero must not count as negative.
        let dot = m + m.slide::<1>(m) + zero;
        let w = f32x4::splat(simd, w).copysign(dot);
        for (sum, q) in sum.iter_mut().zip(q) {
            *sum = f32x4::load_array(simd, *q).mul_add(w, *sum);
        }
    }
    sum
}
