//! Vertices and segments out of one solid; see `contact.rs`.

use super::super::contact::{FoundSegment, resolve};
use super::super::motion::Rigid;
use super::super::placed::Placed;
use super::{ContactLanes, StrandGroup, lanes_of};
use crate::lanes::{Lanes, Lanes3, V3, point};
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};
use fearless_simd_macros::simd;
use sinew_geom::Vec3;

/// `lanes` has the bits of strands that can touch the solid.
#[simd]
pub(super) fn push_out<S: Simd>(
    simd: S,
    group: &StrandGroup<'_>,
    solid: &Placed<'_, f32>,
    lanes: u8,
    vertices: &mut [ContactLanes],
) {
    let lanes = mask32x8::from_bitmask(simd, u64::from(lanes));
    let counts = f32x8::load_array_ref(simd, &group.lengths);
    push_vertices(simd, group, solid, (lanes, counts), vertices);
    if solid.at.spacing.is_finite() {
        push_segments(simd, group, solid, (lanes, counts), vertices);
    }
}

/// Where the last exempt vertices are.
pub(super) fn skin_of(vertices: &[ContactLanes], exempt: usize) -> Lanes3 {
    let last = exempt.checked_sub(1).and_then(|i| vertices.get(i));
    last.map_or([[0.0; 8]; 3], |v| v.x)
}

#[inline(always)]
fn length<S: Simd>(v: V3<S>) -> f32x8<S> {
    v.dot(v).sqrt()
}

/// Where a placement takes points.
#[inline(always)]
fn carried<S: Simd>(simd: S, carry: &Rigid<f32>, p: V3<S>) -> V3<S> {
    let q = &carry.rotation;
    let axis = V3::all(simd, Vec3::new(q.i, q.j, q.k));
    let half = axis.cross(p);
    let t = half.plus(half);
    let turned = t
        .scale_add(f32x8::splat(simd, q.w), p)
        .plus(axis.cross(t));
    turned.plus(V3::all(simd, carry.translation))
}

#[inline(always)]
fn push_vertices<S: Simd>(
    simd: S,
    group: &StrandGroup<'_>,
    solid: &Placed<'_, f32>,
    (lanes, counts): (mask32x8<S>, f32x8<S>),
    vertices: &mut [ContactLanes],
) {
    let at = solid.at;
    let skin = skin_of(vertices, group.exempt);
    let mut before = V3::splat(simd, 0.0);
    let mut clearance = f32x8::splat(simd, -1.0);
    for (i, v) in vertices.iter_mut().enumerate() {
        let x = V3::load_lanes(simd, &v.x);
        // Distances grow no faster than the way: where the last vertex was far enough, this one is, too.
        let way = length(x.minus(before));
        clearance = clearance
            .simd_gt(at.margin)
            .select(clearance - way, clearance);
        before = x;
        let moved = length(x.minus(carried(simd, &at.carry, V3::load_lanes(simd, &v.start))));
        let reach = moved + moved + at.margin;
        let asked = lanes & counts.simd_gt(i as f32) & clearance.simd_le(reach);
        if asked.any_true() {
            clearance = asked.select(solid.distances(x, asked), clearance);
            let fast = moved.simd_gt(at.spacing) & clearance.simd_le(reach);
            let deep = fast | clearance.simd_lt(at.margin - at.tolerance);
            let free = f32x8::load_array_ref(simd, &v.inverse_mass).simd_gt(0.0);
            let found = asked & deep & free;
            if i >= group.exempt && found.any_true() {
                let (mut known, mut ways) = ([0.0; 8], [0.0; 8]);
                clearance.store_array(&mut known);
                moved.store_array(&mut ways);
                let found = Deep {
                    found: found.to_bitmask(),
                    fast: fast.to_bitmask(),
                    moved: ways,
                };
                found.resolve(solid, &skin, v, &mut known);
                clearance = f32x8::load_array(simd, known);
                before = V3::load_lanes(simd, &v.x);
            }
        }
        clearance.store_array(&mut v.distance);
    }
}

/// Vertices that may be too deep.
struct Deep {
    found: u64,
    /// Those that may have passed through something.
    fast: u64,
    /// How far the solid saw each move.
    moved: Lanes,
}

impl Deep {
    /// Moves them out, one by one, and brings their distances up to date.
    fn resolve(
        &self,
        solid: &Placed<'_, f32>,
        skin: &Lanes3,
        vertices: &mut ContactLanes,
        distances: &mut Lanes,
    ) {
        for lane in lanes_of(self.found) {
            let mut v = vertices.get(lane);
            let margin = v.margin(solid, point(skin, lane));
            let distance = &mut distances[lane];
            let is_fast = (self.fast >> lane) & 1 != 0;
            if is_fast || *distance < margin - solid.at.tolerance {
                *distance = resolve(solid, &mut v, self.moved[lane], *distance, margin);
                vertices.put(lane, &v);
            }
        }
    }
}

#[inline(always)]
fn push_segments<S: Simd>(
    simd: S,
    group: &StrandGroup<'_>,
    solid: &Placed<'_, f32>,
    (lanes, counts): (mask32x8<S>, f32x8<S>),
    vertices: &mut [ContactLanes],
) {
    let Some(root) = vertices.first() else { return };
    let skin = skin_of(vertices, group.exempt);
    let (mut from, mut from_distance) = (root.x, root.distance);
    for i in 1..vertices.len() {
        let (x, distance) = (vertices[i].x, vertices[i].distance);
        let way = V3::load_lanes(simd, &x).minus(V3::load_lanes(simd, &from));
        let both = f32x8::load_array_ref(simd, &from_distance)
            + f32x8::load_array_ref(simd, &distance);
        let clear = (both - length(way)).simd_ge(at_both_ends(solid));
        let close = lanes & counts.simd_gt(i as f32) & !clear;
        for lane in lanes_of(close.to_bitmask()) {
            let segment = FoundSegment {
                from: point(&from, lane),
                from_distance: from_distance[lane],
                end: i,
                exempt: group.exempt,
                skin: point(&skin, lane),
            };
            push_segment(solid, &segment, &mut vertices[i - 1..=i], lane);
        }
        (from, from_distance) = (x, distance);
    }
}

fn at_both_ends(solid: &Placed<'_, f32>) -> f32 {
    solid.at.margin + solid.at.margin
}

/// One segment of one strand.
fn push_segment(
    solid: &Placed<'_, f32>,
    segment: &FoundSegment<f32>,
    ends: &mut [ContactLanes],
    lane: usize,
) {
    let [first, last] = ends else { return };
    let mut pair = [first.get(lane), last.get(lane)];
    segment.push(solid, &mut pair);
    first.put(lane, &pair[0]);
    last.put(lane, &pair[1]);
}
