//! Global and local shape for eight strands side by side; `shape.rs` of the reference has the formulas. The matrix is the same in all steps
//! of a frame: `matrix.rs` has assembled and decomposed it.
//!
//! 1. Right-hand side: inertia, the pull to the rest position, and the resistance to rotations, which acts on changes of motion.
//! 2. `add_bends`, root to tip: the force of each bend on its own segment, with the frame carried along. `add_reactions`, tip to root: what
//!    bends do to the segments before, twist included.
//! 3. `divide`: the solution without tensions.
//! 4. `hold_lengths`: conjugate gradients for the tensions. Each step is one sweep in each direction for the preconditioner
//!    (`find_stretch`, `pull_along`) and one more `divide`.
//! 5. If a segment would rotate by more than about `TURN`, all displacements of the strand are scaled down.
//!
//! A vertex with inverse mass 0 does not move; a segment of length 0 has no bend. Cost per step: O(vertices), without allocation.

use super::group::GroupStep;
use super::room::GroupVertex;
use super::turn::{Placement, Turn};
use crate::collide::simd::unit_or;
use crate::hair_sim::shape::{SLACK, STRONGEST, TURN};
use crate::lanes::Lanes3;
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, prelude::*};
use fearless_simd_macros::simd;

/// What is less is nothing.
const SMALLEST: f32 = 1e-30;

/// Moves the strands towards their rest shape.
#[simd]
pub(super) fn restore_shape<S: Simd>(simd: S, step: &GroupStep<'_>, vertices: &mut [GroupVertex]) {
    let scale = f32x8::load_array_ref(simd, &step.scale);
    let shared = Placement::load(simd, &step.shared).rotation;
    let way = f32x8::splat(simd, step.constants.kept * step.constants.h);
    let none = V3::splat(simd, 0.0);
    let mut before = none;
    for i in 0..vertices.len() {
        let behind = vertices.get(i + 1).filter(|_| i > 0);
        let hold = behind.map_or([0.0; 8], |w| w.hold);
        let w = &mut vertices[i];
        let moved = V3::load_lanes(simd, &w.moved);
        let off = V3::load_lanes(simd, &w.goal) - moved;
        let wanted = V3::load_lanes(simd, &w.x) - moved;
        let pull = f32x8::load_array_ref(simd, &w.pull);
        let inverse_mass = f32x8::load_array_ref(simd, &w.inverse_mass);
        let free = inverse_mass.simd_gt(0.0);
        let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
        let mass = free.select(one / inverse_mass, zero);
        // What pushes it takes no part in that: all of it is motion.
        let velocity = shared.vector(V3::load_lanes(simd, &w.velocity));
        let coasting = (velocity * way).or(free, none);
        let hold = f32x8::load_array_ref(simd, &hold);
        let couple = (coasting - before) * hold;
        before = coasting;
        let right = off * pull + wanted * mass + couple;
        right.store_lanes(&mut w.right);
        w.x = w.moved;
        // What is left from lost strands may be no number.
        w.tension = [0.0; 8];
        if i > 0 {
            let right = V3::load_lanes(simd, &vertices[i - 1].right) - couple;
            right.store_lanes(&mut vertices[i - 1].right);
        }
    }
    if step.constants.bends() {
        let root = Placement::load(simd, &step.root);
        add_bends(simd, root.rotation, scale, vertices);
        add_reactions(simd, scale, vertices);
    }
    divide(simd, vertices, |w| &mut w.right);
    if step.constants.bends() {
        hold_lengths(simd, step.constants.tensions, vertices);
    }
    // The system holds for small rotations; where one is larger, all go part of the way.
    let turn = f32x8::splat(simd, TURN as f32);
    let share = turn / steepest(simd, scale, vertices).max(turn);
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
        let now = unit_or(x - from, goal);
        from = x;
        // Zero where the segment has no length.
        let strength = length * scale * f32x8::load_array_ref(simd, &w.stiffness);
        let torque = goal.cross(now) * (strength * (length * scale));
        torque.store_lanes(&mut w.torque);
        now.or(some, zero).store_lanes(&mut w.along);
        let bend = now * goal.dot(now) - goal;
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
        let torque = V3::load_lanes(simd, &vertices[i + 1].torque) + twist;
        let w = &mut vertices[i];
        let along = V3::load_lanes(simd, &w.along);
        twist = along * along.dot(torque);
        let length = f32x8::load_array_ref(simd, &w.length) * scale;
        let couple = torque.cross(along) * (one / length);
        let couple = couple.or(length.simd_gt(0.0), zero);
        let right = V3::load_lanes(simd, &w.right) + (couple - taken);
        right.store_lanes(&mut w.right);
        taken = couple;
    }
    if let Some(root) = vertices.first_mut() {
        let right = V3::load_lanes(simd, &root.right) - taken;
        right.store_lanes(&mut root.right);
    }
}

/// Replaces a right-hand side by its solution; the matrix is decomposed already. Returns the product of the two.
#[inline(always)]
fn divide<S: Simd>(
    simd: S,
    vertices: &mut [GroupVertex],
    side: impl Fn(&mut GroupVertex) -> &mut Lanes3,
) -> f32x8<S> {
    let zero = V3::splat(simd, 0.0);
    let mut product = f32x8::splat(simd, 0.0);
    // What the vertex at hand, and the one behind it, lose to those before.
    let (mut one, mut two) = (zero, zero);
    for w in &mut *vertices {
        let free = f32x8::load_array_ref(simd, &w.inverse_mass).simd_gt(0.0);
        let inverse = f32x8::load_array_ref(simd, &w.diagonal);
        let right = (V3::load_lanes(simd, side(w)) - one).or(free, zero);
        product = right.dot(right).mul_add(inverse, product);
        one = right.scale_add(f32x8::load_array_ref(simd, &w.next), two);
        two = right * f32x8::load_array_ref(simd, &w.after_next);
        (right * inverse).store_lanes(side(w));
    }
    let (mut one, mut two) = (zero, zero);
    for w in vertices.iter_mut().rev() {
        let next = f32x8::load_array_ref(simd, &w.next);
        let after_next = f32x8::load_array_ref(simd, &w.after_next);
        let right = V3::load_lanes(simd, side(w));
        let solution = two.scale_add(-after_next, one.scale_add(-next, right));
        solution.store_lanes(side(w));
        two = one;
        one = solution;
    }
    product
}

/// Takes from the corrections what stretches segments: conjugate gradients.
#[inline(always)]
fn hold_lengths<S: Simd>(simd: S, steps: usize, vertices: &mut [GroupVertex]) {
    let nothing = f32x8::splat(simd, 0.0);
    let mut before = nothing;
    for _ in 0..steps {
        let wanted = find_stretch(simd, vertices);
        let some = before.simd_gt(SMALLEST);
        let kept = some.select(wanted / before.max(SMALLEST), nothing);
        pull_along(simd, kept, vertices);
        let product = divide(simd, vertices, |w| &mut w.torque);
        let least = (wanted / STRONGEST as f32).max(SMALLEST);
        let strength = wanted / product.max(least);
        for w in &mut *vertices {
            let right = V3::load_lanes(simd, &w.right);
            let tension = V3::load_lanes(simd, &w.torque);
            tension.scale_add(strength, right).store_lanes(&mut w.right);
        }
        before = wanted;
    }
}

/// Elimination from the root to the tip of what takes the stretch out of the corrections where only masses resist. Returns the sum of
/// tension times stretch.
#[inline(always)]
fn find_stretch<S: Simd>(simd: S, vertices: &mut [GroupVertex]) -> f32x8<S> {
    let (nothing, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    let (mut factor, mut known, mut wanted) = (nothing, nothing, nothing);
    let Some((root, others)) = vertices.split_first_mut() else {
        return nothing;
    };
    root.along = [[0.0; 8]; 3];
    root.known = [0.0; 8];
    root.ahead = [0.0; 8];
    let mut at_root = f32x8::load_array_ref(simd, &root.inverse_mass);
    let mut old = V3::splat(simd, 0.0);
    let mut from = V3::load_lanes(simd, &root.right);
    for w in others {
        let along = V3::load_lanes(simd, &w.along);
        let to = V3::load_lanes(simd, &w.right);
        let own = f32x8::load_array_ref(simd, &w.inverse_mass);
        let coupling = -(at_root * along.dot(old));
        let ahead = coupling * factor;
        let both = at_root + own;
        let slack = both * (1.0 + SLACK as f32);
        let pivot = (-coupling).mul_add(ahead, slack).max(1e-6);
        factor = both.simd_le(nothing).select(nothing, one / pivot);
        let left = (-coupling).mul_add(known, along.dot(to - from));
        known = left * factor;
        wanted = left.mul_add(known, wanted);
        known.store_array(&mut w.known);
        ahead.store_array(&mut w.ahead);
        (old, from, at_root) = (along, to, own);
    }
    wanted
}

/// Substitution from the tip to the root, and the tensions of the next step; what they do to vertices takes the place of torques.
#[inline(always)]
fn pull_along<S: Simd>(simd: S, kept: f32x8<S>, vertices: &mut [GroupVertex]) {
    let nothing = f32x8::splat(simd, 0.0);
    let (mut ahead, mut last) = (nothing, nothing);
    let mut pull = V3::splat(simd, 0.0);
    for w in vertices.iter_mut().rev() {
        last = (-ahead).mul_add(last, f32x8::load_array_ref(simd, &w.known));
        ahead = f32x8::load_array_ref(simd, &w.ahead);
        let tension = f32x8::load_array_ref(simd, &w.tension).mul_add(kept, last);
        tension.store_array(&mut w.tension);
        let own = V3::load_lanes(simd, &w.along) * tension;
        (pull - own).store_lanes(&mut w.torque);
        pull = own;
    }
}

/// Largest angle, to first order, by which the corrections turn a segment.
#[inline(always)]
fn steepest<S: Simd>(simd: S, scale: f32x8<S>, vertices: &[GroupVertex]) -> f32x8<S> {
    let nothing = f32x8::splat(simd, 0.0);
    let mut steepest = nothing;
    for pair in vertices.windows(2) {
        let from = V3::load_lanes(simd, &pair[0].right);
        let off = V3::load_lanes(simd, &pair[1].right) - from;
        let length = f32x8::load_array_ref(simd, &pair[1].length) * scale;
        let slope = off.dot(off).sqrt() / length;
        steepest = length
            .simd_gt(nothing)
            .select(steepest.max(slope), steepest);
    }
    steepest
}
