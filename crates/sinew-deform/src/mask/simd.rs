//! The fast kernel of the volumes: eight vertices side by side. The rest of a mask's arithmetic needs no hand: its
//! loops become SIMD code as they are.

use super::{Combine, Curve, MaskSettings, Shape, falloff_weight, remap};
use crate::simd_vector::{V3, rows};
use fearless_simd::{Simd, f32x8, prelude::*};
use fearless_simd_macros::simd;
use sinew_geom::Affine;

/// [`Shape::distance`] of each point.
#[simd]
pub(super) fn distances<S: Simd>(
    simd: S,
    shape: Shape,
    transform: &Affine<f32>,
    inverse: &Affine<f32>,
    points: &[[f32; 3]],
    out: &mut [f32],
) {
    let (forth, back) = (rows(simd, &transform.linear), rows(simd, &inverse.linear));
    let shift = V3::all(simd, inverse.translation);
    let slope = inverse.linear.row(1).norm();
    let (one, zero) = (f32x8::splat(simd, 1.0), f32x8::splat(simd, 0.0));
    for (i, out) in out.chunks_mut(8).enumerate() {
        let local = V3::load_at(simd, points, 8 * i).times(back) + shift;
        let distance = match shape {
            Shape::Box => {
                let nearest = V3 {
                    x: local.x.max(-one).min(one),
                    y: local.y.max(-one).min(one),
                    z: local.z.max(-one).min(one),
                };
                let beyond = (local - nearest).times(forth);
                beyond.dot(beyond).sqrt()
            }
            Shape::Sphere => {
                let radius = local.dot(local).sqrt();
                let beyond = (local * (one - one / radius)).times(forth);
                // Asked this way round, numbers that are none stay so and weigh nothing.
                let inside = radius.simd_le(one);
                inside.select(zero, beyond.dot(beyond).sqrt())
            }
            Shape::Plane => {
                let below = local.y.simd_le(zero);
                let height = if slope > 0.0 { local.y / slope } else { zero };
                below.select(zero, height)
            }
        };
        let distance: [f32; 8] = distance.into();
        out.copy_from_slice(&distance[..out.len()]);
    }
}

/// Distances to weights.
#[simd]
pub(super) fn fall_off<S: Simd>(_: S, falloff: f32, curve: Curve, values: &mut [f32]) {
    // One loop a curve: a choice inside would keep it from becoming SIMD code.
    match curve {
        Curve::Linear => fall_off_by(falloff, Curve::Linear, values),
        Curve::Smooth => fall_off_by(falloff, Curve::Smooth, values),
        Curve::Smoother => fall_off_by(falloff, Curve::Smoother, values),
        Curve::Square => fall_off_by(falloff, Curve::Square, values),
        Curve::Root => fall_off_by(falloff, Curve::Root, values),
    }
}

#[inline(always)]
fn fall_off_by(falloff: f32, curve: Curve, values: &mut [f32]) {
    for x in values {
        *x = falloff_weight(*x, falloff, curve);
    }
}

/// Remap, inversion, and the other mask.
#[simd]
pub(super) fn finish<S: Simd>(
    _: S,
    settings: &MaskSettings,
    with: Option<&[f32]>,
    values: &mut [f32],
) {
    let (low, high) = (settings.low, settings.high);
    for x in values.iter_mut() {
        *x = remap(*x, low, high);
    }
    if settings.invert {
        for x in values.iter_mut() {
            *x = 1.0 - *x;
        }
    }
    let Some(with) = with else {
        return;
    };
    match settings.combine {
        Combine::Multiply => combine(Combine::Multiply, with, values),
        Combine::Minimum => combine(Combine::Minimum, with, values),
        Combine::Maximum => combine(Combine::Maximum, with, values),
        Combine::Add => combine(Combine::Add, with, values),
        Combine::Subtract => combine(Combine::Subtract, with, values),
        Combine::Screen => combine(Combine::Screen, with, values),
        Combine::Difference => combine(Combine::Difference, with, values),
    }
}

#[inline(always)]
fn combine(how: Combine, with: &[f32], values: &mut [f32]) {
    for (x, &other) in values.iter_mut().zip(with) {
        *x = how.apply(*x, other);
    }
}
