//! The last pass for eight strands side by side; see `settle.rs` for one strand.
//!
//! Lanes take part in a round as long as their strand has something left to do. The search for the deepest sample of a segment runs in
//! lanes; the rare rotation of a segment runs lane by lane, by the functions of the reference.

use super::super::MAX_COLLIDERS;
use super::super::contact::{ContactVertex, Hit, deepest, margins_along};
use super::super::placed::Placed;
use super::super::settle::{HitOn, ROUNDS, hit_at_end, turn_from};
use super::bounds::{self, Noted};
use super::push::skin_of;
use super::{ContactLanes, StrandGroup, WIDTH, lanes_of, unit_or};
use crate::lanes::{Lanes, Lanes3, point, put};
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};
use fearless_simd_macros::simd;
use sinew_geom::Vec3;

/// Makes every segment as long as it should be and turns those that are in a solid until they are out.
#[simd]
pub(super) fn settle<S: Simd>(simd: S, group: &StrandGroup<'_>, vertices: &mut [ContactLanes]) {
    let counts = f32x8::load_array_ref(simd, &group.lengths);
    for v in vertices.iter_mut() {
        v.settled = 0;
    }
    lay(simd, counts, vertices);
    bounds::go_on(simd, group, vertices);
    for _ in 0..ROUNDS {
        if !settle_round(simd, group, counts, vertices) {
            break;
        }
    }
    for v in vertices {
        v.noted = v.x;
    }
}

/// Makes segments as long as they should be, each in the direction that it has.
#[inline(always)]
fn lay<S: Simd>(simd: S, counts: f32x8<S>, vertices: &mut [ContactLanes]) {
    let Some((root, others)) = vertices.split_first_mut() else {
        return;
    };
    let (mut pivot, mut direction) = (V3::load_lanes(simd, &root.x), V3::all(simd, Vec3::y()));
    for (i, v) in others.iter_mut().enumerate() {
        let x = V3::load_lanes(simd, &v.x);
        direction = unit_or(x - pivot, direction);
        let to = direction.scale_add(f32x8::load_array_ref(simd, &v.length), pivot);
        let free = counts.simd_gt((i + 1) as f32) & free_of(simd, v);
        pivot = to.or(free, x);
        pivot.store_lanes(&mut v.x);
    }
}

#[inline(always)]
fn free_of<S: Simd>(simd: S, v: &ContactLanes) -> mask32x8<S> {
    f32x8::load_array_ref(simd, &v.inverse_mass).simd_gt(0.0)
}

/// One round; tells whether another one is needed.
#[inline(always)]
fn settle_round<S: Simd>(
    simd: S,
    group: &StrandGroup<'_>,
    counts: f32x8<S>,
    vertices: &mut [ContactLanes],
) -> bool {
    let Some(root) = vertices.first() else {
        return false;
    };
    let nowhere = f32x8::splat(simd, -1.0);
    let mut measured = Measured::new(skin_of(vertices, group.exempt));
    let (mut found, mut pivot) = (V3::load_lanes(simd, &root.x), V3::load_lanes(simd, &root.x));
    let mut direction = V3::all(simd, Vec3::y());
    let mut clearance = nowhere;
    let mut carried = mask32x8::splat(simd, false);
    let mut is_unfinished = false;
    for i in 1..vertices.len() {
        let v = &vertices[i];
        let x = V3::load_lanes(simd, &v.x);
        let length = f32x8::load_array_ref(simd, &v.length);
        let from = found;
        let pivot_before = pivot;
        found = x;
        let was = unit_or(x - from, direction);
        direction = unit_or(x - pivot, was).or(carried, was);
        let free = counts.simd_gt(i as f32) & free_of(simd, v);
        let settled = mask32x8::from_bitmask(simd, v.settled);
        clearance = (free & !settled).select(clearance - length, nowhere);
        carried &= free;
        measured.go_on();
        if i >= group.exempt {
            let asked = free & !settled & clearance.simd_lt(0.0);
            if asked.any_true() {
                let segment = Segment {
                    from,
                    was,
                    index: i,
                };
                let (nearest, hits) =
                    worst_of(simd, group, vertices, &segment, asked, &mut measured);
                clearance = asked.select(nearest, clearance);
                if hits.iter().any(Option::is_some) {
                    let turn = Turn {
                        from: stored(from),
                        pivot: stored(pivot),
                        was: stored(was),
                    };
                    let mut directions = stored(direction);
                    let turned = turn.turn(hits, &mut vertices[i], &mut directions);
                    direction = V3::load_lanes(simd, &directions);
                    carried |= mask32x8::from_bitmask(simd, turned);
                }
            }
        }
        // What was moved is looked at again.
        let v = &mut vertices[i];
        v.settled = (settled | free).to_bitmask();
        pivot = x;
        if carried.any_true() {
            pivot = direction.scale_add(length, pivot_before).or(carried, x);
            pivot.store_lanes(&mut v.x);
            v.settled &= !carried.to_bitmask();
            let way = pivot - x;
            bounds::take_way(simd, group, v, way.dot(way).sqrt());
            is_unfinished = true;
        }
    }
    is_unfinished
}

#[inline(always)]
fn stored<S: Simd>(v: V3<S>) -> Lanes3 {
    let mut out = [[0.0; 8]; 3];
    v.store_lanes(&mut out);
    out
}

/// Segments of all strands at one place along them, as the round found them.
#[derive(Clone, Copy)]
struct Segment<S: Simd> {
    from: V3<S>,
    was: V3<S>,
    /// Of the vertex that they lead to.
    index: usize,
}

/// Distances from the first solids, as far as they were asked for: those of the vertices where the segment at hand ends, those of where it
/// begins, and those of the last exempt vertices.
struct Measured {
    skin: Lanes3,
    at_skin: [Option<Lanes>; MAX_COLLIDERS],
    /// Of ends and of beginnings in turn, with a bit for each strand of which they are known.
    distances: [[Lanes; MAX_COLLIDERS]; 2],
    known: [[u8; MAX_COLLIDERS]; 2],
    /// Which of the two are of ends.
    ends: usize,
}

impl Measured {
    fn new(skin: Lanes3) -> Self {
        Self {
            skin,
            at_skin: [None; MAX_COLLIDERS],
            distances: [[[0.0; 8]; MAX_COLLIDERS]; 2],
            known: [[0; MAX_COLLIDERS]; 2],
            ends: 0,
        }
    }

    /// The end of a segment is where the next one begins.
    fn go_on(&mut self) {
        self.ends = 1 - self.ends;
        self.known[self.ends] = [0; MAX_COLLIDERS];
    }

    #[inline(always)]
    fn note_ends<S: Simd>(&mut self, contact: usize, asked: mask32x8<S>, distances: f32x8<S>) {
        if contact < MAX_COLLIDERS {
            self.known[self.ends][contact] = asked.to_bitmask() as u8;
            distances.store_array(&mut self.distances[self.ends][contact]);
        }
    }

    /// What is known of where segments begin.
    fn at_begin(&self, contact: usize) -> (u8, &Lanes) {
        let begins = 1 - self.ends;
        let lanes = self.distances[begins].get(contact);
        match lanes {
            Some(lanes) => (self.known[begins][contact], lanes),
            None => (0, &[0.0; 8]),
        }
    }
}

/// The deepest contact of each segment with any solid, and the least distance of its end beyond the full margins.
#[inline(always)]
fn worst_of<'s, S: Simd>(
    simd: S,
    group: &StrandGroup<'s>,
    vertices: &mut [ContactLanes],
    segment: &Segment<S>,
    asked: mask32x8<S>,
    measured: &mut Measured,
) -> (f32x8<S>, [Option<HitOn<'s, f32>>; WIDTH]) {
    let mut hits = [const { None }; WIDTH];
    let length = f32x8::load_array_ref(simd, &vertices[segment.index].length);
    let end = segment.was.scale_add(length, segment.from);
    let mut clearance = f32x8::splat(simd, 1e9);
    for (contact, solid) in group.solids.indexed() {
        let reaching = u64::from(group.reaching(contact));
        let asked = asked & mask32x8::from_bitmask(simd, reaching);
        if !asked.any_true() {
            continue;
        }
        let v = &mut vertices[segment.index];
        let noted = Noted::new(simd, contact, solid.at);
        let bound = noted.get(v);
        // Of segments with samples between their ends those must be clear, too.
        let long = length.simd_gt(solid.at.spacing);
        let room = long.select(length, f32x8::splat(simd, 0.0));
        let asked_now = asked & !(bound - solid.at.margin).simd_ge(room);
        let mut distance = bound;
        if asked_now.any_true() {
            distance = asked_now.select(solid.distances(end, asked_now), bound);
            noted.set(v, mask32x8::from_bitmask(simd, reaching), distance);
        }
        measured.note_ends(contact, asked_now, distance);
        let beyond = distance - solid.at.margin;
        clearance = asked.select(clearance.min(beyond), clearance);
        let near = asked_now & !beyond.simd_ge(length);
        if !near.any_true() {
            continue;
        }
        let margin = margins(simd, &solid, (contact, reaching), v, near, measured);
        let gap = distance - margin;
        let deep = near & gap.simd_lt(-solid.at.tolerance);
        let mut found = Found {
            solid,
            ends: stored(end),
            directions: stored(segment.was),
            hits: &mut hits,
        };
        if deep.any_true() {
            let mut gaps = [0.0; 8];
            gap.store_array(&mut gaps);
            found.note_ends(deep.to_bitmask(), &gaps);
        }
        let long = near & !deep & long;
        if long.any_true() {
            let from = begin_distances(simd, &solid, contact, segment, long, measured);
            let full = solid.at.margin + solid.at.margin;
            let close = long & !(from + distance - length).simd_ge(full);
            if close.any_true() {
                let mut distances = [[0.0; 8]; 2];
                from.store_array(&mut distances[0]);
                distance.store_array(&mut distances[1]);
                let along = Along {
                    index: segment.index,
                    exempt: group.exempt,
                    from: stored(segment.from),
                    distances,
                    skin: measured.skin,
                };
                found.note_segments(close.to_bitmask(), &along, vertices);
            }
        }
    }
    (clearance, hits)
}

/// How far the ends keep from a solid, which the strands `reaching` can touch; see [`ContactVertex::margin`].
#[inline(always)]
fn margins<S: Simd>(
    simd: S,
    solid: &Placed<'_, f32>,
    (contact, reaching): (usize, u64),
    v: &ContactLanes,
    near: mask32x8<S>,
    measured: &mut Measured,
) -> f32x8<S> {
    let full = f32x8::splat(simd, solid.at.margin);
    let most = f32x8::load_array_ref(simd, &v.most_margin);
    if !(near & most.simd_lt(full)).any_true() {
        return full;
    }
    let known = measured.at_skin.get(contact).copied().flatten();
    let at_skin = match known {
        Some(known) => f32x8::load_array(simd, known),
        None => {
            let skin = V3::load_lanes(simd, &measured.skin);
            let found = solid.distances(skin, mask32x8::from_bitmask(simd, reaching));
            if let Some(room) = measured.at_skin.get_mut(contact) {
                let mut lanes = [0.0; 8];
                found.store_array(&mut lanes);
                *room = Some(lanes);
            }
            found
        }
    };
    let rising = at_skin.max(0.0) + most;
    most.simd_ge(full).select(full, full.min(rising))
}

/// Distances of where segments begin.
#[inline(always)]
fn begin_distances<S: Simd>(
    simd: S,
    solid: &Placed<'_, f32>,
    contact: usize,
    segment: &Segment<S>,
    wanted: mask32x8<S>,
    measured: &Measured,
) -> f32x8<S> {
    let (known, lanes) = measured.at_begin(contact);
    let known = mask32x8::from_bitmask(simd, u64::from(known));
    let lanes = f32x8::load_array_ref(simd, lanes);
    let missing = wanted & !known;
    if missing.any_true() {
        return known.select(lanes, solid.distances(segment.from, missing));
    }
    lanes
}

/// What one solid has to say of the segments at hand.
struct Found<'s, 'h> {
    solid: Placed<'s, f32>,
    ends: Lanes3,
    directions: Lanes3,
    hits: &'h mut [Option<HitOn<'s, f32>>; WIDTH],
}

/// Where segments are that are longer than details of the solid.
struct Along {
    index: usize,
    exempt: usize,
    from: Lanes3,
    distances: [Lanes; 2],
    skin: Lanes3,
}

impl Found<'_, '_> {
    /// Ends that are too deep, by these gaps.
    fn note_ends(&mut self, deep: u64, gaps: &Lanes) {
        for lane in lanes_of(deep) {
            let (end, direction) = (point(&self.ends, lane), point(&self.directions, lane));
            let hit = hit_at_end(&self.solid, end, direction, -gaps[lane]);
            self.note(lane, hit);
        }
    }

    /// Places between ends.
    fn note_segments(&mut self, close: u64, along: &Along, vertices: &[ContactLanes]) {
        let i = along.index;
        for lane in lanes_of(close) {
            let ends: [ContactVertex<f32>; 2] = [vertices[i - 1].get(lane), vertices[i].get(lane)];
            let distances = along.distances.map(|d| d[lane]);
            let skin = point(&along.skin, lane);
            let leaves_skin = i <= along.exempt;
            let solid = &self.solid;
            let margins =
                margins_along(solid, [&ends[0], &ends[1]], leaves_skin, skin, distances[0]);
            let (from, end) = (point(&along.from, lane), point(&self.ends, lane));
            if let Some(hit) = deepest(solid, from, end, distances, margins) {
                self.note(lane, hit);
            }
        }
    }

    /// Keeps the deepest of each strand.
    fn note(&mut self, lane: usize, hit: Hit<f32>) {
        let worst = &mut self.hits[lane];
        if worst.as_ref().is_none_or(|(w, _)| w.depth < hit.depth) {
            *worst = Some((hit, self.solid));
        }
    }
}

/// Segments that are to be turned: where they began, where they begin now, and their directions before.
struct Turn {
    from: Lanes3,
    pivot: Lanes3,
    was: Lanes3,
}

impl Turn {
    /// Turns them one by one; returns which were turned.
    fn turn(
        &self,
        hits: [Option<HitOn<'_, f32>>; WIDTH],
        vertices: &mut ContactLanes,
        directions: &mut Lanes3,
    ) -> u64 {
        let mut turned = 0;
        for (lane, hit) in hits.into_iter().enumerate() {
            let Some(hit) = hit else { continue };
            let mut v = vertices.get(lane);
            let mut direction = point(directions, lane);
            let ways = [&self.from, &self.pivot].map(|p| point(p, lane));
            if turn_from(&mut v, hit, ways, point(&self.was, lane), &mut direction) {
                vertices.put(lane, &v);
                put(directions, lane, direction);
                turned |= 1 << lane;
            }
        }
        turned
    }
}
