//! Moves vertices and segments of eight strands out of one solid; `contact.rs` has the method.
//!
//! Most vertices are proved clear without evaluating the solid, since a distance changes no faster than the position: by the distance of
//! the previous vertex of the strand, or by a bound from an earlier pass (`bounds.rs`). Only the others are evaluated, eight lanes at once,
//! and only those that are too deep or may have passed through a detail go to the reference's functions, lane by lane.
//!
//! A distance that was bounded instead of measured is marked in `guessed`; segments measure their ends before they rely on it.

use super::super::contact::{FoundSegment, resolve};
use super::super::motion::Rigid;
use super::super::placed::Placed;
use super::bounds::{Noted, take_way};
use super::{ContactLanes, StrandGroup, lanes_of};
use crate::lanes::{Lanes, Lanes3, point};
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};
use fearless_simd_macros::simd;
use sinew_geom::Vec3;

/// One solid, and who meets it.
pub(super) struct Pass<'p, 's> {
    pub(super) group: &'p StrandGroup<'s>,
    pub(super) solid: Placed<'s, f32>,
    pub(super) contact: usize,
    /// Strands that can touch it, a bit each.
    pub(super) lanes: u8,
    /// Whether bounds of distances are from where vertices start.
    pub(super) is_first: bool,
}

#[simd]
pub(super) fn push_out<S: Simd>(simd: S, pass: &Pass<'_, '_>, vertices: &mut [ContactLanes]) {
    push_vertices(simd, pass, vertices);
    if pass.solid.at.spacing.is_finite() {
        push_segments(simd, pass, vertices);
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
    let t = half + half;
    let turned = t.scale_add(f32x8::splat(simd, q.w), p) + axis.cross(t);
    turned + V3::all(simd, carry.translation)
}

#[inline(always)]
fn push_vertices<S: Simd>(simd: S, pass: &Pass<'_, '_>, vertices: &mut [ContactLanes]) {
    let (solid, exempt) = (&pass.solid, pass.group.exempt);
    let at = solid.at;
    let lanes = mask32x8::from_bitmask(simd, u64::from(pass.lanes));
    let counts = f32x8::load_array_ref(simd, &pass.group.lengths);
    let noted = Noted::new(simd, pass.contact, at);
    let skin = skin_of(vertices, exempt);
    let mut before = V3::splat(simd, 0.0);
    let mut clearance = f32x8::splat(simd, -1.0);
    for (i, v) in vertices.iter_mut().enumerate() {
        let x = V3::load_lanes(simd, &v.x);
        // Distances grow no faster than the way: where the last vertex was far enough, this one is, too.
        let way = length(x - before);
        clearance = clearance
            .simd_gt(at.margin)
            .select(clearance - way, clearance);
        before = x;
        let start = V3::load_lanes(simd, &v.start);
        let moved = length(x - carried(simd, &at.carry, start));
        let reach = moved + moved + at.margin;
        let part = lanes & counts.simd_gt(i as f32);
        let near = part & clearance.simd_le(reach);
        let bound = noted.get(v);
        let bound = if pass.is_first { bound - moved } else { bound };
        let mut known_clearance = clearance.max(bound);
        let mut resolved = mask32x8::splat(simd, false);
        v.guessed = part.to_bitmask();
        if near.any_true() {
            let quick = moved.simd_gt(at.spacing);
            // Of those on their way for long, all of the way has to be clear.
            let known = quick.select(bound - moved, bound).simd_ge(at.margin);
            let known = if pass.is_first { known } else { known & !quick };
            let asked = near & !known;
            clearance = near.select(bound, clearance);
            if asked.any_true() {
                v.guessed &= !asked.to_bitmask();
                clearance = asked.select(solid.distances(x, asked), clearance);
                let fast = quick & clearance.simd_le(reach);
                let deep = fast | clearance.simd_lt(at.margin - at.tolerance);
                let free = f32x8::load_array_ref(simd, &v.inverse_mass).simd_gt(0.0);
                let ways_out = asked & deep & free;
                if i >= exempt && ways_out.any_true() {
                    let (mut distances, mut ways) = ([0.0; 8], [0.0; 8]);
                    clearance.store_array(&mut distances);
                    moved.store_array(&mut ways);
                    let found = Deep {
                        found: ways_out.to_bitmask(),
                        fast: fast.to_bitmask(),
                        moved: ways,
                    };
                    found.resolve(solid, &skin, v, &mut distances);
                    clearance = f32x8::load_array(simd, distances);
                    before = V3::load_lanes(simd, &v.x);
                    take_way(simd, pass.group, v, length(before - x));
                    v.noted = v.x;
                    resolved = ways_out;
                }
                known_clearance = asked.select(clearance, known_clearance);
            }
        }
        clearance.store_array(&mut v.distance);
        // After a way out, and along the surface, the distance is no bound.
        noted.set(v, part & !resolved, known_clearance);
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
fn push_segments<S: Simd>(simd: S, pass: &Pass<'_, '_>, vertices: &mut [ContactLanes]) {
    let Some(root) = vertices.first() else { return };
    let (solid, exempt) = (&pass.solid, pass.group.exempt);
    let lanes = mask32x8::from_bitmask(simd, u64::from(pass.lanes));
    let counts = f32x8::load_array_ref(simd, &pass.group.lengths);
    let skin = skin_of(vertices, exempt);
    let mut from = End::new(root);
    for i in 1..vertices.len() {
        let mut to = End::new(&vertices[i]);
        let x = V3::load_lanes(simd, &to.x);
        let way = length(x - V3::load_lanes(simd, &from.x));
        // Shorter ones have no samples between their ends.
        let long = !way.simd_le(solid.at.spacing);
        let part = lanes & counts.simd_gt(i as f32) & long;
        let mut close = part & !is_clear(simd, solid, &from, &to, way);
        let guessed = mask32x8::from_bitmask(simd, from.guessed | to.guessed);
        if (close & guessed).any_true() {
            from.measure(simd, solid, close);
            to.measure(simd, solid, close);
            close = part & !is_clear(simd, solid, &from, &to, way);
        }
        if close.any_true() {
            for lane in lanes_of(close.to_bitmask()) {
                let segment = FoundSegment {
                    from: point(&from.x, lane),
                    from_distance: from.distance[lane],
                    end: i,
                    exempt,
                    skin: point(&skin, lane),
                };
                vertices[i].distance[lane] = to.distance[lane];
                push_segment(solid, &segment, &mut vertices[i - 1..=i], lane);
            }
        }
        from = to;
    }
}

/// Ends of segments as the pass found them.
struct End {
    x: Lanes3,
    distance: Lanes,
    guessed: u64,
}

impl End {
    fn new(v: &ContactLanes) -> Self {
        Self {
            x: v.x,
            distance: v.distance,
            guessed: v.guessed,
        }
    }

    /// Asks for those distances that are guessed and wanted.
    #[inline(always)]
    fn measure<S: Simd>(&mut self, simd: S, solid: &Placed<'_, f32>, wanted: mask32x8<S>) {
        let wanted = wanted & mask32x8::from_bitmask(simd, self.guessed);
        if wanted.any_true() {
            let found = solid.distances(V3::load_lanes(simd, &self.x), wanted);
            let known = f32x8::load_array_ref(simd, &self.distance);
            wanted.select(found, known).store_array(&mut self.distance);
            self.guessed &= !wanted.to_bitmask();
        }
    }
}

/// Whether everything between two ends keeps the margin, by their distances.
#[inline(always)]
fn is_clear<S: Simd>(
    simd: S,
    solid: &Placed<'_, f32>,
    from: &End,
    to: &End,
    way: f32x8<S>,
) -> mask32x8<S> {
    let from = f32x8::load_array_ref(simd, &from.distance);
    let to = f32x8::load_array_ref(simd, &to.distance);
    (from + to - way).simd_ge(solid.at.margin + solid.at.margin)
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
