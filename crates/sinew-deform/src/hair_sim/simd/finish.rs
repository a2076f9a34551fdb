//! Velocities at the end of a step, for eight strands side by side; `step.rs` has the formulas and constants.
//!
//! A velocity is the motion of the step over its duration, relative to what the root hands on, without the part that leads into a touched
//! surface, and limited to the largest speed. Slow strands then lose velocity relative to the skin (`come_to_rest`), and strands that
//! hardly moved keep their positions relative to the skin exactly (`stay`): static friction.

use super::group::GroupStep;
use super::room::GroupVertex;
use super::turn::{Placement, limited};
use crate::collide::simd::ContactLanes;
use crate::hair_sim::step::{
    HELD_SPEED, LAST_PASS, REST_SPEED, RUBBED_DRAG, RUBBED_SPEED, UNMOVED_SPEED,
};
use crate::lanes::{Lanes, Lanes3};
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};
use fearless_simd_macros::simd;

/// Velocities from positions, without what leads into surfaces; `touches` is empty where nothing is touched, with coefficients of friction
/// `rubs` of each strand. Returns the sum of all positions and velocities: it is finite where they are.
#[simd]
pub(super) fn finish<S: Simd>(
    simd: S,
    step: &GroupStep<'_>,
    vertices: &mut [GroupVertex],
    touches: &[ContactLanes],
    rubs: &Lanes,
) -> Lanes3 {
    let fastest = f32x8::splat(simd, step.constants.speed_limit);
    let zero = V3::splat(simd, 0.0);
    let skin = Placement::load(simd, &step.skin);
    let mut fastest_squared = f32x8::splat(simd, 0.0);
    let mut farthest_squared = f32x8::splat(simd, 0.0);
    let mut sum = zero;
    let mut touches = touches.iter();
    let mut before: Option<(Ending<S>, &mut GroupVertex)> = None;
    for w in vertices.iter_mut() {
        let mut end = Ending::new(simd, step, skin, w);
        farthest_squared = farthest_squared.max(end.way_squared(simd, skin, w));
        sum = sum + V3::load_lanes(simd, &w.x);
        if let Some(touch) = touches.next() {
            end.leave_surface(simd, touch);
            if let Some((root_end, _)) = &mut before {
                end.leave_segment(simd, root_end, touch);
            }
        }
        end.velocity = limited(end.velocity, fastest).or(end.free, zero);
        if let Some((end, w)) = before.replace((end, w)) {
            sum = sum + end.velocity;
            fastest_squared = fastest_squared.max(end.speed_squared(zero));
            end.velocity.store_lanes(&mut w.velocity);
        }
    }
    if let Some((end, w)) = before {
        sum = sum + end.velocity;
        fastest_squared = fastest_squared.max(end.speed_squared(zero));
        end.velocity.store_lanes(&mut w.velocity);
    }
    come_to_rest(simd, step, vertices, fastest_squared, rubs);
    stay(simd, step, vertices, farthest_squared, rubs);
    let mut out = [[0.0; 8]; 3];
    sum.store_lanes(&mut out);
    out
}

/// What slow strands lose of their motion; see [`crate::hair_sim::step`].
#[inline(always)]
fn come_to_rest<S: Simd>(
    simd: S,
    step: &GroupStep<'_>,
    vertices: &mut [GroupVertex],
    fastest_squared: f32x8<S>,
    rubs: &Lanes,
) {
    let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    let least = f32x8::splat(simd, REST_SPEED as f32);
    let rubbed = f32x8::load_array_ref(simd, rubs) * RUBBED_SPEED as f32;
    let limit = rubbed.max(least);
    let drag = f32x8::splat(simd, step.constants.rest_drag);
    let drag = rubbed
        .simd_gt(least)
        .select(drag * RUBBED_DRAG as f32, drag);
    let slow = (one - fastest_squared / (limit * limit)).max(zero);
    let is_slow = slow.simd_gt(0.0);
    if !is_slow.any_true() {
        return;
    }
    let kept = one / (slow * drag + one);
    let per_time = f32x8::splat(simd, 1.0 / step.constants.h);
    let skin = Placement::load(simd, &step.skin);
    for w in vertices {
        let velocity = V3::load_lanes(simd, &w.velocity);
        let of_skin = skin_velocity(simd, skin, per_time, w);
        let slower = (velocity - of_skin).scale_add(kept, of_skin);
        let free = f32x8::load_array_ref(simd, &w.inverse_mass).simd_gt(0.0);
        let velocity = slower.or(is_slow & free, velocity);
        velocity.store_lanes(&mut w.velocity);
    }
}

/// Strands that the step hardly moved stay where they were; see [`crate::hair_sim::step`].
#[inline(always)]
fn stay<S: Simd>(
    simd: S,
    step: &GroupStep<'_>,
    vertices: &mut [GroupVertex],
    farthest_squared: f32x8<S>,
    rubs: &Lanes,
) {
    let held = f32x8::load_array_ref(simd, rubs) * HELD_SPEED as f32;
    let most = held.max(UNMOVED_SPEED as f32) * step.constants.h;
    let stays = farthest_squared.simd_lt(most * most);
    if step.constants.rest_drag <= 0.0 || !stays.any_true() {
        return;
    }
    let skin = Placement::load(simd, &step.skin);
    for w in vertices {
        let free = f32x8::load_array_ref(simd, &w.inverse_mass).simd_gt(0.0);
        let x = V3::load_lanes(simd, &w.x);
        let there = skin.point(V3::load_lanes(simd, &w.origin));
        there.or(stays & free, x).store_lanes(&mut w.x);
    }
}

/// How fast the skin at the root would take a vertex along, beyond what it hands on.
#[inline(always)]
fn skin_velocity<S: Simd>(
    simd: S,
    skin: Placement<S>,
    per_time: f32x8<S>,
    w: &GroupVertex,
) -> V3<S> {
    let start = V3::load_lanes(simd, &w.start);
    let moved = V3::load_lanes(simd, &w.moved);
    (skin.point(start) - moved) * per_time
}

/// A vertex at the end of a step.
#[derive(Clone, Copy)]
struct Ending<S: Simd> {
    /// Relative to what the root hands on.
    velocity: V3<S>,
    /// Of the skin, the same way.
    of_skin: V3<S>,
    /// What the root hands on.
    drift: V3<S>,
    per_time: f32x8<S>,
    free: mask32x8<S>,
}

impl<S: Simd> Ending<S> {
    /// What the last pass changes is small and is no motion; see [`crate::hair_sim::step`].
    #[inline(always)]
    fn new(simd: S, step: &GroupStep<'_>, skin: Placement<S>, w: &GroupVertex) -> Self {
        let scale = f32x8::load_array_ref(simd, &step.scale);
        let per_time = f32x8::splat(simd, 1.0 / step.constants.h);
        let x = V3::load_lanes(simd, &w.x);
        let moved = V3::load_lanes(simd, &w.moved);
        let start = V3::load_lanes(simd, &w.start);
        let most = f32x8::load_array_ref(simd, &w.length) * scale * LAST_PASS as f32;
        let unmoved = limited(V3::load_lanes(simd, &w.goal) - x, most);
        let free = f32x8::load_array_ref(simd, &w.inverse_mass).simd_gt(0.0);
        let velocity = (x + unmoved - moved) * per_time;
        Self {
            velocity: velocity.or(free, V3::splat(simd, 0.0)),
            of_skin: skin_velocity(simd, skin, per_time, w),
            drift: moved - start,
            per_time,
            free,
        }
    }

    /// Squared way of the step, as the skin sees it; zero of what is held.
    #[inline(always)]
    fn way_squared(&self, simd: S, skin: Placement<S>, w: &GroupVertex) -> f32x8<S> {
        let there = skin.point(V3::load_lanes(simd, &w.origin));
        let way = V3::load_lanes(simd, &w.x) - there;
        let way = way.or(self.free, V3::splat(simd, 0.0));
        way.dot(way)
    }

    /// Squared speed, as the skin sees it; zero of what is held.
    #[inline(always)]
    fn speed_squared(&self, zero: V3<S>) -> f32x8<S> {
        let seen = (self.velocity - self.of_skin).or(self.free, zero);
        seen.dot(seen)
    }

    /// Takes out what leads into the surface that the vertex touches.
    #[inline(always)]
    fn leave_surface(&mut self, simd: S, touch: &ContactLanes) {
        let n = V3::load_lanes(simd, &touch.normal);
        let carried = V3::load_lanes(simd, &touch.carried);
        let drift = self.drift - carried;
        let relative = drift.scale_add(self.per_time, self.velocity);
        // Without a contact the normal is zero.
        let velocity = n.scale_add(-n.dot(relative), self.velocity);
        self.velocity = velocity.or(self.free & some(n), self.velocity);
    }

    /// The same for the segment that leads here from `root`, shared between its ends.
    #[inline(always)]
    fn leave_segment(&mut self, simd: S, root: &mut Self, touch: &ContactLanes) {
        let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
        let n = V3::load_lanes(simd, &touch.segment_normal);
        let carried = V3::load_lanes(simd, &touch.segment_carried);
        let b = f32x8::load_array_ref(simd, &touch.share);
        let a = one - b;
        let at_root = root.drift.scale_add(self.per_time, root.velocity);
        let at_tip = self.drift.scale_add(self.per_time, self.velocity);
        let point = at_root.scale_add(a, at_tip * b);
        let relative = n.dot(carried.scale_add(-self.per_time, point));
        let (wa, wb) = (root.free.select(one, zero), self.free.select(one, zero));
        let weights = (a * a).mul_add(wa, b * b * wb).max(1e-3);
        let touched = self.free & some(n);
        let impulse = n * touched.select(relative / weights, zero);
        let velocity = impulse.scale_add(-(a * wa), root.velocity);
        root.velocity = velocity.or(touched, root.velocity);
        let velocity = impulse.scale_add(-(b * wb), self.velocity);
        self.velocity = velocity.or(touched, self.velocity);
    }
}

/// Where a vector is not zero.
#[inline(always)]
fn some<S: Simd>(v: V3<S>) -> mask32x8<S> {
    let zero = f32x8::splat(v.x.simd, 0.0);
    (v.x.abs().max(v.y.abs()).max(v.z.abs())).simd_gt(zero)
}
