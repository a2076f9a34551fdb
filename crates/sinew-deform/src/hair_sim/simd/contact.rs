//! Contacts, strand by strand: solids are asked for distances at one point at a time.

use super::WIDTH;
use super::group::GroupStep;
use super::room::{GroupRoom, GroupTouch, Lanes, point, put};
use crate::collide::{ContactVertex, Solids, push_out, settle_lengths};
use crate::hair_sim::step::{StrandStep, take_freed};
use sinew_geom::Vec3;

/// The solids that the strands of a group can touch in a step.
pub(super) struct Reach<'s> {
    /// Strands that can touch some, with those.
    strands: [Option<InReach<'s>>; WIDTH],
    exempt: usize,
    /// How far a vertex of each strand was brought out of a solid that it began in.
    pub(super) freed: Lanes,
    /// Largest coefficient of friction of what each strand touches.
    pub(super) rubs: Lanes,
}

#[derive(Clone, Copy)]
struct InReach<'s> {
    solids: Solids<'s, f32>,
    vertices: usize,
}

impl<'s> Reach<'s> {
    /// Looks for solids, and copies the strands that can touch some to where contacts are found.
    pub(super) fn find(
        strands: &'s [StrandStep<'s, f32>],
        step: &GroupStep<'_>,
        room: &mut GroupRoom,
    ) -> Self {
        let mut found = [None; WIDTH];
        for (lane, strand) in strands.iter().enumerate() {
            if strand.solids.is_empty() {
                continue;
            }
            let (scale, vertices) = (step.scale[lane], strand.bound.len());
            take_vertex(room, lane, 0, scale);
            let root = contacts(room, lane, 1)[0];
            let solids = strand.solids_in_reach(&root, scale);
            if solids.is_empty() {
                continue;
            }
            let mut sum = Vec3::zeros();
            for (i, b) in strand.bound.iter().enumerate() {
                sum += take_vertex(room, lane, i, scale);
                contacts(room, lane, vertices)[i].most_margin = strand.most_margin(b) * scale;
            }
            // What is lost begins anew at the end of the step; until then no walk along it would come to an end.
            if sum.iter().all(|c| c.is_finite()) {
                found[lane] = Some(InReach { solids, vertices });
            }
        }
        Self {
            strands: found,
            exempt: step.constants.exempt,
            freed: [0.0; WIDTH],
            rubs: [0.0; WIDTH],
        }
    }

    /// Moves vertices and segments out of the solids; lengths change.
    pub(super) fn push_out(&mut self, room: &mut GroupRoom) {
        for (lane, strand) in self.strands.iter().enumerate() {
            let Some(InReach { solids, vertices }) = strand else {
                continue;
            };
            copy_in(room, lane, *vertices);
            let strand = contacts(room, lane, *vertices);
            push_out(solids, strand, self.exempt);
            self.freed[lane] = self.freed[lane].max(copy_out(room, lane, *vertices));
        }
    }

    /// The last pass of the strands that can touch something, beside the group.
    pub(super) fn settle(&self, room: &mut GroupRoom) {
        for (lane, strand) in self.strands.iter().enumerate() {
            if let Some(InReach { solids, vertices }) = strand {
                copy_in(room, lane, *vertices);
                settle_lengths(solids, contacts(room, lane, *vertices), self.exempt);
            }
        }
    }

    /// Takes its result over, with what is touched; tells whether anything may be.
    pub(super) fn take_over(&mut self, room: &mut GroupRoom, longest: usize) -> bool {
        if self.strands.iter().all(Option::is_none) {
            return false;
        }
        room.touches[..longest].fill(GroupTouch::default());
        for (lane, strand) in self.strands.iter().enumerate() {
            let Some(InReach { vertices, .. }) = strand else {
                continue;
            };
            for i in 0..*vertices {
                let c = contacts(room, lane, *vertices)[i];
                put(&mut room.vertices[i].x, lane, c.x);
                self.rubs[lane] = self.rubs[lane].max(c.rub);
                let touch = &mut room.touches[i];
                if c.normal != Vec3::zeros() {
                    put(&mut touch.normal, lane, c.normal);
                    put(&mut touch.carried, lane, c.carried);
                }
                if c.segment.normal != Vec3::zeros() {
                    put(&mut touch.segment_normal, lane, c.segment.normal);
                    put(&mut touch.segment_carried, lane, c.segment.carried);
                    touch.share[lane] = c.segment.share;
                }
            }
        }
        true
    }
}

/// One strand's vertices that collide.
fn contacts(room: &mut GroupRoom, lane: usize, vertices: usize) -> &mut [ContactVertex<f32>] {
    let longest = room.contacts.len() / WIDTH;
    &mut room.contacts[lane * longest..][..vertices]
}

/// Makes a vertex one that touches nothing yet; returns where it is.
fn take_vertex(room: &mut GroupRoom, lane: usize, i: usize, scale: f32) -> Vec3<f32> {
    let longest = room.contacts.len() / WIDTH;
    let (c, w) = (&mut room.contacts[lane * longest + i], &room.vertices[i]);
    c.x = point(&w.x, lane);
    c.start = point(&w.start, lane);
    c.inverse_mass = w.inverse_mass[lane];
    c.length = w.length[lane] * scale;
    c.free();
    c.x
}

/// Where vertices are now.
fn copy_in(room: &mut GroupRoom, lane: usize, vertices: usize) {
    let longest = room.contacts.len() / WIDTH;
    let strand = &mut room.contacts[lane * longest..][..vertices];
    for (c, w) in strand.iter_mut().zip(&room.vertices) {
        c.x = point(&w.x, lane);
    }
}

/// Where they were moved to; returns how far a vertex was brought out of a solid that it began in.
fn copy_out(room: &mut GroupRoom, lane: usize, vertices: usize) -> f32 {
    let longest = room.contacts.len() / WIDTH;
    let strand = &mut room.contacts[lane * longest..][..vertices];
    let mut freed = 0.0_f32;
    for (c, w) in strand.iter_mut().zip(&mut room.vertices) {
        let mut moved = point(&w.moved, lane);
        freed = freed.max(take_freed(c, &mut moved));
        put(&mut w.moved, lane, moved);
        put(&mut w.x, lane, c.x);
        put(&mut w.start, lane, c.start);
    }
    freed
}
