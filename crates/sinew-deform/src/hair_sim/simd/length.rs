//! Lengths; see `length.rs` of the reference for the formulas, and [`crate::collide::settle_lengths`] for the last pass.

use super::group::GroupStep;
use super::room::GroupVertex;
use crate::collide::simd::unit_or;
use crate::hair_sim::length::FARTHEST;
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, prelude::*};
use fearless_simd_macros::simd;
use sinew_geom::Vec3;

/// Moves all vertices so that segments have their lengths, to first order.
#[simd]
pub(super) fn restore_lengths<S: Simd>(
    simd: S,
    step: &GroupStep<'_>,
    vertices: &mut [GroupVertex],
) {
    let scale = f32x8::load_array_ref(simd, &step.scale);
    eliminate(simd, scale, vertices);
    substitute(simd, scale, vertices);
}

/// From the root to the tip.
#[inline(always)]
fn eliminate<S: Simd>(simd: S, scale: f32x8<S>, vertices: &mut [GroupVertex]) {
    let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    let Some((root, others)) = vertices.split_first_mut() else {
        return;
    };
    root.right = [[0.0; 8]; 3];
    root.known = [0.0; 8];
    let mut from = V3::load_lanes(simd, &root.x);
    let mut at_root = f32x8::load_array_ref(simd, &root.inverse_mass);
    let mut direction = V3::all(simd, Vec3::y());
    let (mut factor, mut known) = (zero, zero);
    for w in others {
        let x = V3::load_lanes(simd, &w.x);
        let segment = x - from;
        let old = direction;
        direction = unit_or(segment, old);
        let own = f32x8::load_array_ref(simd, &w.inverse_mass);
        let rest = f32x8::load_array_ref(simd, &w.length);
        let coupling = -(at_root * direction.dot(old));
        // The coupling was not known to the segment before.
        let ahead = coupling * factor;
        let both = at_root + own;
        let pivot = (-coupling).mul_add(ahead, both).max(1e-6);
        let stretch = segment.dot(segment).sqrt() - rest * scale;
        // Behind the tip nothing pulls.
        let held = both.simd_le(zero) | rest.simd_lt(zero);
        factor = held.select(zero, one / pivot);
        known = (-coupling).mul_add(known, stretch) * factor;
        known = held.select(zero, known);
        direction.store_lanes(&mut w.right);
        known.store_array(&mut w.known);
        ahead.store_array(&mut w.ahead);
        from = x;
        at_root = own;
    }
}

/// From the tip to the root.
#[inline(always)]
fn substitute<S: Simd>(simd: S, scale: f32x8<S>, vertices: &mut [GroupVertex]) {
    let zero = f32x8::splat(simd, 0.0);
    let mut pull = V3::splat(simd, 0.0);
    let (mut ahead, mut last, mut longer) = (zero, zero, zero);
    for w in vertices.iter_mut().rev() {
        let multiplier = (-ahead).mul_add(last, f32x8::load_array_ref(simd, &w.known));
        let own = V3::load_lanes(simd, &w.right) * multiplier;
        let inverse_mass = f32x8::load_array_ref(simd, &w.inverse_mass);
        let shift = (pull - own) * inverse_mass;
        let length = f32x8::load_array_ref(simd, &w.length) * scale;
        let shift = kept_short(shift, length.max(longer));
        let x = V3::load_lanes(simd, &w.x) + shift;
        x.store_lanes(&mut w.x);
        longer = length;
        pull = own;
        last = multiplier;
        ahead = f32x8::load_array_ref(simd, &w.ahead);
    }
}

#[inline(always)]
fn kept_short<S: Simd>(shift: V3<S>, length: f32x8<S>) -> V3<S> {
    let most = length * FARTHEST as f32;
    let squared = shift.dot(shift);
    let far = squared.simd_gt(most * most) & squared.simd_gt(0.0);
    if far.any_true() {
        return (shift * (most / squared.sqrt())).or(far, shift);
    }
    shift
}

/// Makes every segment as long as it should be, from the root to the tip, and notes where vertices were before.
#[simd]
pub(super) fn settle<S: Simd>(simd: S, step: &GroupStep<'_>, vertices: &mut [GroupVertex]) {
    let scale = f32x8::load_array_ref(simd, &step.scale);
    let mut direction = V3::all(simd, Vec3::y());
    let mut pivot = None;
    for w in vertices {
        let x = V3::load_lanes(simd, &w.x);
        w.goal = w.x;
        let Some(from) = pivot else {
            pivot = Some(x);
            continue;
        };
        direction = unit_or(x - from, direction);
        let free = f32x8::load_array_ref(simd, &w.inverse_mass).simd_gt(0.0);
        let length = f32x8::load_array_ref(simd, &w.length) * scale;
        let to = direction.scale_add(length, from).or(free, x);
        to.store_lanes(&mut w.x);
        pivot = Some(to);
    }
}
