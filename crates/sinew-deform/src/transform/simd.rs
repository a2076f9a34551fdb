//! The fast kernel: eight vertices side by side.

use crate::lanes::{load8x4_at, store8x4_at, strengths};
use crate::simd_vector::{V3, rows};
use crate::{MaskWeight, MeshView};
use fearless_simd::{Simd, f32x8, prelude::*};
use fearless_simd_macros::simd;
use sinew_geom::{Affine, Mat3};
use std::ops::Range;

/// What a kernel writes, cut to its range.
pub(super) type Out<'a> = (
    Option<&'a mut [[f32; 3]]>,
    Option<&'a mut [[f32; 3]]>,
    Option<&'a mut [[f32; 4]]>,
);

/// [`super::transform_vertex`] over a range.
#[simd]
pub(super) fn run<S: Simd>(
    simd: S,
    transform: &Affine<f32>,
    normal_matrix: &Mat3<f32>,
    weight: &MaskWeight<'_>,
    input: &MeshView<'_>,
    range: Range<usize>,
    out: Out<'_>,
) {
    let (mut positions, mut normals, mut tangents) = out;
    let shift = V3::all(simd, transform.translation);
    let (linear, normal_rows) = (rows(simd, &transform.linear), rows(simd, normal_matrix));
    let one = f32x8::splat(simd, 1.0);
    let sign = if transform.linear.determinant() < 0.0 {
        -one
    } else {
        one
    };
    for at in (0..range.len()).step_by(8) {
        let v = range.start + at;
        let w = strengths(simd, weight, v);
        if let Some(out) = &mut positions {
            let p = V3::load_at(simd, input.positions, v);
            let step = p.times(linear) + shift - p;
            step.scale_add(w, p).store_at(out, at);
        }
        if let (Some(out), Some(given)) = (&mut normals, input.normals) {
            let n = V3::load_at(simd, given, v);
            n.toward(n.times(normal_rows), w).store_at(out, at);
        }
        if let (Some(out), Some(given)) = (&mut tangents, input.tangents) {
            let given = load8x4_at(simd, given, v);
            let t = V3::of(given);
            let V3 { x, y, z } = t.toward(t.times(linear), w);
            let sign = w.simd_gt(0.5).select(sign, one) * given[3];
            store8x4_at([x, y, z, sign], out, at);
        }
    }
}
