//! The start of a step: the share of the root's motion, forces, and skinned rest positions.

use super::group::GroupStep;
use super::room::GroupVertex;
use super::turn::{Placement, limited};
use crate::collide::simd::unit_or;
use crate::simd_vector::V3;
use fearless_simd::{f32x8, prelude::*};
use fearless_simd_macros::simd;

/// Takes strands along with their roots, and integrates; pinned vertices are where the skin has them.
#[simd]
pub(super) fn begin<S: Simd>(simd: S, step: &GroupStep<'_>, vertices: &mut [GroupVertex]) {
    let c = step.constants;
    let root = Placement::load(simd, &step.root);
    let shared = Placement::load(simd, &step.shared);
    let scale = f32x8::load_array_ref(simd, &step.scale);
    let wind = V3::load_lanes(simd, &step.wind);
    let gravity = V3::all(simd, c.gravity);
    let h = f32x8::splat(simd, c.h);
    let kept = f32x8::splat(simd, c.kept);
    let fastest = f32x8::splat(simd, c.speed_limit);
    let zero = V3::splat(simd, 0.0);
    let mut before = None;
    for w in vertices {
        let x = V3::load_lanes(simd, &w.x);
        let free = f32x8::load_array_ref(simd, &w.inverse_mass).simd_gt(0.0);
        let goal = root.point(V3::load_lanes(simd, &w.offset) * scale);
        let moved = shared.point(x);
        let mut push = gravity;
        if step.windy
            && let Some(before) = before
        {
            let along = unit_or(x - before, zero);
            push = along.scale_add(-along.dot(wind), push + wind);
        }
        before = Some(x);
        let turned = shared.rotation.vector(V3::load_lanes(simd, &w.velocity));
        let velocity = limited(push.scale_add(h, turned * kept), fastest);
        x.store_lanes(&mut w.origin);
        x.store_lanes(&mut w.start);
        goal.store_lanes(&mut w.goal);
        moved.or(free, goal).store_lanes(&mut w.moved);
        let ahead = velocity.scale_add(h, moved);
        ahead.or(free, goal).store_lanes(&mut w.x);
    }
}
