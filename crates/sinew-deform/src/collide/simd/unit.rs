//! Directions of eight points.

use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, prelude::*};

/// Unit length, or `otherwise` where there is none; see [`crate::collide::unit_or`].
#[inline(always)]
pub(crate) fn unit_or<S: Simd>(v: V3<S>, otherwise: V3<S>) -> V3<S> {
    let squared = v.dot(v);
    let good = squared.simd_gt(1e-30) & squared.simd_le(f32::MAX);
    let inverse = f32x8::splat(squared.simd, 1.0) / squared.sqrt();
    (v * inverse).or(good, otherwise)
}
