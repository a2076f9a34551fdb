//! The matrix of `shape.rs`, which is the same in all steps of a frame: made and decomposed once.

use super::room::GroupVertex;
use crate::hair_sim::shape::{CURL, FADE, SHARP, STIFFEST, TAUT};
use crate::hair_sim::step::StepConstants;
use crate::lanes::Lanes;
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};
use fearless_simd_macros::simd;

/// Makes what stiffness does the same way in every step.
#[simd]
pub(super) fn prepare<S: Simd>(
    simd: S,
    constants: &StepConstants<f32>,
    scale: &Lanes,
    vertices: &mut [GroupVertex],
) {
    let one = f32x8::splat(simd, 1.0);
    for w in &mut *vertices {
        let inverse_mass = f32x8::load_array_ref(simd, &w.inverse_mass);
        let mass = inverse_mass.simd_gt(0.0).select(one / inverse_mass, one);
        let pull = pull(constants, f32x8::load_array_ref(simd, &w.arc));
        pull.store_array(&mut w.pull);
        (mass + pull).store_array(&mut w.diagonal);
        w.next = [0.0; 8];
        w.after_next = [0.0; 8];
        w.stiffness = [0.0; 8];
        w.hold = [0.0; 8];
        w.rest_along = [[0.0; 8]; 3];
    }
    if constants.bends() {
        add_bends(simd, constants.local, vertices);
        let scale = f32x8::load_array_ref(simd, scale).max(1e-12);
        let weight = f32x8::splat(simd, constants.weight) / scale;
        hold_waves(simd, weight, vertices);
    }
    decompose(simd, vertices);
}

/// See [`crate::hair_sim::shape`].
#[inline(always)]
fn pull<S: Simd>(constants: &StepConstants<f32>, arc: f32x8<S>) -> f32x8<S> {
    let zero = f32x8::splat(arc.simd, 0.0);
    if !constants.pulls() {
        return zero;
    }
    let beyond = (arc - constants.global_range) / FADE as f32;
    (f32x8::splat(arc.simd, 1.0) - beyond).max(zero).min(1.0) * constants.global
}

/// Stiffness of bends, and what it adds to the matrix.
#[inline(always)]
fn add_bends<S: Simd>(simd: S, local: f32, vertices: &mut [GroupVertex]) {
    let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    // The first segment that has a length hangs on none before.
    let mut hangs = zero.simd_gt(zero);
    for i in 1..vertices.len() {
        let (a, b) = (&vertices[i - 1], &vertices[i]);
        let length = f32x8::load_array_ref(simd, &b.length);
        let before = f32x8::load_array_ref(simd, &a.length);
        let some = length.simd_gt(zero);
        let segment = V3::load_lanes(simd, &b.offset) - V3::load_lanes(simd, &a.offset);
        let rest_along = (segment * (one / length)).or(some, V3::splat(simd, 0.0));
        let lever = hangs.select(f32x8::load_array_ref(simd, &a.lever), zero);
        hangs |= some;
        let reach = lever + one;
        let most = f32x8::splat(simd, STIFFEST as f32) / (reach * reach).max(one);
        let wanted = f32x8::load_array_ref(simd, &a.bend) * local;
        let stiffness = some.select(wanted.min(most), zero);
        // The next segment's direction in units of this one's.
        let straight = lever * before / length;
        let curl = (one - straight * straight).max(zero);
        let hold = (curl * CURL as f32).min(SHARP as f32);
        let turning = some.select(stiffness * hold, zero);
        rest_along.store_lanes(&mut vertices[i].rest_along);
        stiffness.store_array(&mut vertices[i].stiffness);
        add_bend(simd, vertices, i - 1, lever, stiffness);
        hold_turning(simd, vertices, i - 1, turning);
        turning.store_array(&mut vertices[i].hold);
    }
}

/// Adds one bend to the matrix; pinned vertices take no part.
#[inline(always)]
fn add_bend<S: Simd>(
    simd: S,
    vertices: &mut [GroupVertex],
    i: usize,
    lever: f32x8<S>,
    stiffness: f32x8<S>,
) {
    let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    let middle = is_free(simd, &vertices[i]).select(-(lever + one), zero);
    let outer = is_free(simd, &vertices[i + 1]).select(one, zero);
    if i > 0 {
        let w = &mut vertices[i - 1];
        let inner = is_free(simd, w).select(lever, zero);
        let force = stiffness * inner;
        add(simd, &mut w.diagonal, force * inner);
        add(simd, &mut w.next, force * middle);
        add(simd, &mut w.after_next, force * outer);
    }
    let w = &mut vertices[i];
    let force = stiffness * middle;
    add(simd, &mut w.diagonal, force * middle);
    add(simd, &mut w.next, force * outer);
    add(simd, &mut vertices[i + 1].diagonal, stiffness * outer);
}

/// Makes the matrix hold back rotations of the segment before vertex `i`.
#[inline(always)]
fn hold_turning<S: Simd>(simd: S, vertices: &mut [GroupVertex], i: usize, k: f32x8<S>) {
    if i == 0 {
        return;
    }
    let zero = f32x8::splat(simd, 0.0);
    let (a, b) = (is_free(simd, &vertices[i - 1]), is_free(simd, &vertices[i]));
    add(simd, &mut vertices[i - 1].diagonal, a.select(k, zero));
    add(simd, &mut vertices[i].diagonal, b.select(k, zero));
    add(simd, &mut vertices[i - 1].next, (a & b).select(-k, zero));
}

/// Makes the matrix hold back waves of segments that hang taut.
#[inline(always)]
fn hold_waves<S: Simd>(simd: S, weight: f32x8<S>, vertices: &mut [GroupVertex]) {
    let (zero, one) = (f32x8::splat(simd, 0.0), f32x8::splat(simd, 1.0));
    let mut behind = zero;
    for i in (1..vertices.len()).rev() {
        let inverse_mass = f32x8::load_array_ref(simd, &vertices[i].inverse_mass);
        behind += inverse_mass.simd_gt(zero).select(one / inverse_mass, zero);
        let length = f32x8::load_array_ref(simd, &vertices[i].length);
        let taut = (weight * behind * TAUT as f32 / length).min(STIFFEST as f32);
        let taut = length.simd_gt(zero).select(taut, zero);
        hold_turning(simd, vertices, i, taut);
    }
}

#[inline(always)]
fn is_free<S: Simd>(simd: S, w: &GroupVertex) -> mask32x8<S> {
    f32x8::load_array_ref(simd, &w.inverse_mass).simd_gt(0.0)
}

#[inline(always)]
fn add<S: Simd>(simd: S, to: &mut [f32; 8], value: f32x8<S>) {
    (f32x8::load_array_ref(simd, to) + value).store_array(to);
}

/// Elimination from the root to the tip, of the matrix alone.
#[inline(always)]
fn decompose<S: Simd>(simd: S, vertices: &mut [GroupVertex]) {
    let one = f32x8::splat(simd, 1.0);
    for i in 0..vertices.len() {
        let (done, left) = vertices.split_at_mut(i + 1);
        let w = &mut done[i];
        let inverse = one / f32x8::load_array_ref(simd, &w.diagonal);
        let a = f32x8::load_array_ref(simd, &w.next);
        let b = f32x8::load_array_ref(simd, &w.after_next);
        let (la, lb) = (a * inverse, b * inverse);
        if let Some(v) = left.get_mut(0) {
            add(simd, &mut v.diagonal, -(la * a));
            add(simd, &mut v.next, -(la * b));
        }
        if let Some(v) = left.get_mut(1) {
            add(simd, &mut v.diagonal, -(lb * b));
        }
        inverse.store_array(&mut w.diagonal);
        la.store_array(&mut w.next);
        lb.store_array(&mut w.after_next);
    }
}
