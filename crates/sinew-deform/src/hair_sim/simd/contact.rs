//! Contacts of the strands of a group that solids can reach.

use super::group::{GroupStep, Strands};
use super::room::{GroupRoom, GroupVertex};
use crate::collide::simd::{ContactLanes, StrandGroup};
use crate::collide::{ContactVertex, most_margin};
use crate::lanes::{Lanes, point};
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};
use fearless_simd_macros::simd;

/// The solids that the strands of a group can touch in a step.
pub(super) struct Reach<'s> {
    group: StrandGroup<'s>,
    /// How far a vertex of each strand was brought out of a solid that it began in.
    pub(super) freed: Lanes,
    /// Largest coefficient of friction of what each strand touches.
    pub(super) rubs: Lanes,
}

impl<'s> Reach<'s> {
    /// Looks for solids, and copies strands to where contacts are found if one can touch any. The first `used` strands count, of at most
    /// `longest` vertices.
    pub(super) fn find(
        strands: &'s Strands<'s>,
        (used, longest): (usize, usize),
        step: &GroupStep<'_>,
        room: &mut GroupRoom,
    ) -> Self {
        // All strands of a step see the same solids.
        let solids = strands[0].solids;
        let mut group = StrandGroup::new(solids, step.constants.exempt);
        if !solids.is_empty() {
            for (lane, strand) in strands[..used].iter().enumerate() {
                let reach = strand.solids_in_reach(&root(room, lane), step.scale[lane]);
                if !reach.is_empty() {
                    group.add(lane, strand.bound.len(), &reach);
                }
            }
        }
        if group.is_empty() {
            room.forget(longest);
        } else {
            let reaches = strands.each_ref().map(|strand| strand.reach);
            room.knows_distances = true;
            let (vertices, contacts) = room.of(longest);
            // Strands that stay where they were are not where the last pass left them.
            for (c, w) in contacts.iter_mut().zip(&*vertices) {
                group.forget_others(c);
                c.x = w.origin;
            }
            group.go_on(contacts);
            let finite = dispatch!(simd => take(simd, step, &reaches, vertices, contacts));
            // What is lost begins anew at the end of the step; until then no walk along it would come to an end.
            group.leave_out(!finite);
        }
        Self {
            group,
            freed: [0.0; 8],
            rubs: [0.0; 8],
        }
    }

    /// Moves vertices and segments out of the solids; lengths change.
    pub(super) fn push_out(&mut self, room: &mut GroupRoom, longest: usize, is_first: bool) {
        if self.group.is_empty() {
            return;
        }
        let (vertices, contacts) = room.of(longest);
        copy_in(vertices, contacts);
        self.group.push_out(contacts, is_first);
        let freed = self.freed;
        self.freed = dispatch!(simd => copy_out(simd, freed, vertices, contacts));
    }

    /// The last pass of the strands that can touch something, beside the group.
    pub(super) fn settle(&self, room: &mut GroupRoom, longest: usize) {
        if !self.group.is_empty() {
            let (vertices, contacts) = room.of(longest);
            copy_in(vertices, contacts);
            self.group.settle(contacts);
        }
    }

    /// Takes its result over; returns what is touched, nothing where nothing can be.
    pub(super) fn take_over<'r>(
        &mut self,
        room: &'r mut GroupRoom,
        longest: usize,
    ) -> (&'r mut [GroupVertex], &'r [ContactLanes]) {
        let (vertices, contacts) = room.of(longest);
        if self.group.is_empty() {
            return (vertices, &[]);
        }
        let counts = self.group.lengths();
        self.rubs = dispatch!(simd => take_over(simd, counts, vertices, contacts));
        (vertices, contacts)
    }
}

/// The root of one strand.
fn root(room: &GroupRoom, lane: usize) -> ContactVertex<f32> {
    let w = &room.vertices[0];
    ContactVertex {
        x: point(&w.x, lane),
        start: point(&w.start, lane),
        inverse_mass: w.inverse_mass[lane],
        ..ContactVertex::default()
    }
}

/// Makes vertices that touch nothing yet; returns which strands are finite, a bit each. `reaches` are lengths of strands.
#[simd]
fn take<S: Simd>(
    simd: S,
    step: &GroupStep<'_>,
    reaches: &Lanes,
    vertices: &[GroupVertex],
    contacts: &mut [ContactLanes],
) -> u8 {
    let scale = f32x8::load_array_ref(simd, &step.scale);
    let reach = f32x8::load_array_ref(simd, reaches);
    let last_exempt = step.constants.exempt.checked_sub(1);
    let begins = last_exempt.and_then(|last| vertices.get(last));
    let begins = begins.map_or([1.0; 8], |w| w.arc);
    let begins = f32x8::load_array(simd, begins);
    let mut sum = V3::splat(simd, 0.0);
    for (w, c) in vertices.iter().zip(contacts) {
        sum = sum + V3::load_lanes(simd, &w.x);
        c.x = w.x;
        c.start = w.start;
        c.inverse_mass = w.inverse_mass;
        (f32x8::load_array_ref(simd, &w.length) * scale).store_array(&mut c.length);
        c.most_margin = [f32::INFINITY; 8];
        if last_exempt.is_some() {
            let arc = f32x8::load_array_ref(simd, &w.arc);
            let way = (arc - begins).max(0.0) * reach;
            (way * most_margin(1.0) * scale).store_array(&mut c.most_margin);
        }
        c.free();
    }
    let sum = sum.x.abs() + sum.y.abs() + sum.z.abs();
    sum.simd_le(f32::MAX).to_bitmask() as u8
}

/// Where vertices are now.
fn copy_in(vertices: &[GroupVertex], contacts: &mut [ContactLanes]) {
    for (c, w) in contacts.iter_mut().zip(vertices) {
        c.x = w.x;
    }
}

/// Where they were moved to; returns how far a vertex of each strand was brought out of a solid that it began in, or what it was before, if
/// that is more.
#[simd]
fn copy_out<S: Simd>(
    simd: S,
    freed: Lanes,
    vertices: &mut [GroupVertex],
    contacts: &mut [ContactLanes],
) -> Lanes {
    let mut most = f32x8::load_array(simd, freed);
    for (w, c) in vertices.iter_mut().zip(contacts) {
        w.x = c.x;
        w.start = c.start;
        let way = V3::load_lanes(simd, &c.freed);
        let length = way.dot(way).sqrt();
        if length.simd_gt(0.0).any_true() {
            most = most.max(length);
            let moved = V3::load_lanes(simd, &w.moved) + way;
            moved.store_lanes(&mut w.moved);
            c.freed = [[0.0; 8]; 3];
        }
    }
    let mut out = [0.0; 8];
    most.store_array(&mut out);
    out
}

/// Where the last pass took the strands of which `counts` vertices took part; returns the largest coefficient of friction of what each
/// touches.
#[simd]
fn take_over<S: Simd>(
    simd: S,
    counts: &Lanes,
    vertices: &mut [GroupVertex],
    contacts: &[ContactLanes],
) -> Lanes {
    let counts = f32x8::load_array_ref(simd, counts);
    let mut rubs = f32x8::splat(simd, 0.0);
    for (i, (w, c)) in vertices.iter_mut().zip(contacts).enumerate() {
        let part: mask32x8<S> = counts.simd_gt(i as f32);
        let x = V3::load_lanes(simd, &c.x).or(part, V3::load_lanes(simd, &w.x));
        x.store_lanes(&mut w.x);
        rubs = rubs.max(f32x8::load_array_ref(simd, &c.rub));
    }
    let mut out = [0.0; 8];
    rubs.store_array(&mut out);
    out
}
