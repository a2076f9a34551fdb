//! Global and local shape; see `shape.rs` of the reference for the formulas.

use super::group::GroupStep;
use super::room::GroupVertex;
use super::turn::{Placement, Turn, unit_or};
use crate::hair_sim::shape::TURN;
use crate::lanes::V3;
use fearless_simd::{Simd, f32x8, prelude::*};
use fearless_simd_macros::simd;

/// Moves the strands towards their rest shape.
#[simd]
pub(super) fn restore_shape<S: Simd>(simd: S, step: &GroupStep<'_>, vertices: &mut [GroupVertex]) {
    let scale = f32x8::load_array_ref(simd, &step.scale);
    for w in &mut *vertices {
        let off = V3::load_lanes(simd, &w.goal).minus(V3::load_lanes(simd, &w.x));
        let pull = f32x8::load_array_ref(simd, &w.pull);
        off.scale(pull).store_lanes(&mut w.right);
    }
    if step.constants.bends() {
        let root = Placement::load(simd, &step.root);
        add_bends(simd, root.rotation, scale, vertices);
        add_reactions(simd, scale, vertices);
    }
    eliminate(simd, vertices);
    let share = substitute(simd, scale, vertices);
    for w in vertices {
        let free = f32x8::load_array_ref(simd, &w.inverse_mass).simd_gt(0.0);
        let x = V3::load_lanes(simd, &w.x);
        let to = V3::load_lanes(simd, &w.right).scale_add(share, x);
        to.or(free, x).store_lanes(&mut w.x);
    }
}

/// What each bend does to its own segment, with the frame carried along the strand.
#[inline(always)]
fn add_bends<S: Simd>(simd: S, mut frame: Turn<S>, scale: f32x8<S>, vertices: &mut [GroupVertex]) {
    let zero = V3::splat(simd, 0.0);
    let Some(root) = vertices.first() else { return };
    let mut from = V3::load_lanes(simd, &root.x);
    let mut right = V3::load_lanes(simd, &root.right);
    for i in 1..vertices.len() {
        let w = &mut vertices[i];
        let length = f32x8::load_array_ref(simd, &w.length);
        let some = length.simd_gt(0.0);
        let goal = frame.vector(V3::load_lanes(simd, &w.rest_along));
        let x = V3::load_lanes(simd, &w.x);
        let now = unit_or(x.minus(from), goal);
        from = x;
        // Zero where the segment has no length.
        let strength = length * scale * f32x8::load_array_ref(simd, &w.stiffness);
        let torque = goal.cross(now).scale(strength * (length * scale));
        torque.store_lanes(&mut w.torque);
        now.or(some, zero).store_lanes(&mut w.along);
        let bend = now.scale(goal.dot(now)).minus(goal);
        let next = bend.scale_add(-strength, V3::load_lanes(simd, &w.right));
        let own = bend.scale_add(strength, right);
        own.store_lanes(&mut vertices[i - 1].right);
        right = next;
        frame = Turn::shortest_arc(goal, now).after(frame).or(some, frame);
    }
    if let Some(tip) = vertices.last_mut() {
        right.store_lanes(&mut tip.right);
    }
}

/// What bends do to the segments before, from the tip to the root.
#[inline(always)]
fn add_reactions<S: Simd>(simd: S, scale: f32x8<S>, vertices: &mut [GroupVertex]) {
    let (zero, one) = (V3::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    let mut twist = zero;
    // What the segment behind takes from the next vertex on the way.
    let mut taken = zero;
    for i in (1..vertices.len().saturating_sub(1)).rev() {
        let torque = V3::load_lanes(simd, &vertices[i + 1].torque).plus(twist);
        let w = &mut vertices[i];
        let along = V3::load_lanes(simd, &w.along);
        twist = along.scale(along.dot(torque));
        let length = f32x8::load_array_ref(simd, &w.length) * scale;
        let couple = torque.cross(along).scale(one / length);
        let couple = couple.or(length.simd_gt(0.0), zero);
        let right = V3::load_lanes(simd, &w.right).plus(couple.minus(taken));
        right.store_lanes(&mut w.right);
        taken = couple;
    }
    if let Some(root) = vertices.first_mut() {
        let right = V3::load_lanes(simd, &root.right).minus(taken);
        right.store_lanes(&mut root.right);
    }
}

/// Elimination from the root to the tip, of the right-hand side; the matrix is decomposed already.
#[inline(always)]
fn eliminate<S: Simd>(simd: S, vertices: &mut [GroupVertex]) {
    let zero = V3::splat(simd, 0.0);
    // What the vertex at hand, and the one behind it, lose to those before.
    let (mut one, mut two) = (zero, zero);
    for w in vertices {
        let free = f32x8::load_array_ref(simd, &w.inverse_mass).simd_gt(0.0);
        let right = V3::load_lanes(simd, &w.right).minus(one).or(free, zero);
        let inverse = f32x8::load_array_ref(simd, &w.diagonal);
        right.scale(inverse).store_lanes(&mut w.right);
        one = right.scale_add(f32x8::load_array_ref(simd, &w.next), two);
        two = right.scale(f32x8::load_array_ref(simd, &w.after_next));
    }
}

/// Substitution from the tip to the root; returns which share of the solution turns no segment too far.
#[inline(always)]
fn substitute<S: Simd>(simd: S, scale: f32x8<S>, vertices: &mut [GroupVertex]) -> f32x8<S> {
    let nothing = f32x8::splat(simd, 0.0);
    let (mut one, mut two) = (V3::splat(simd, 0.0), V3::splat(simd, 0.0));
    let (mut steepest, mut longer) = (nothing, nothing);
    for w in vertices.iter_mut().rev() {
        let next = f32x8::load_array_ref(simd, &w.next);
        let after_next = f32x8::load_array_ref(simd, &w.after_next);
        let right = V3::load_lanes(simd, &w.right);
        let correction = two.scale_add(-after_next, one.scale_add(-next, right));
        correction.store_lanes(&mut w.right);
        let off = one.minus(correction);
        let slope = off.dot(off).sqrt() / longer;
        steepest = longer
            .simd_gt(nothing)
            .select(steepest.max(slope), steepest);
        longer = f32x8::load_array_ref(simd, &w.length) * scale;
        two = one;
        one = correction;
    }
    // The system holds for small rotations; where one is larger, all go part of the way.
    let turn = f32x8::splat(simd, TURN as f32);
    turn / steepest.max(turn)
}
