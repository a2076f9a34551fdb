//! Contacts of eight strands side by side: what `contact.rs` and `settle.rs` do, in the same order. Solids are asked for eight distances at
//! once; what few vertices need (ways out, paths, turns of segments) is found lane by lane, by the functions of those files.

mod bounds;
mod lanes;
mod push;
mod settle;
mod unit;

use super::placed::Solids;
use crate::lanes::Lanes;
pub(crate) use lanes::ContactLanes;
pub(crate) use unit::unit_or;

/// Strands side by side.
pub(crate) const WIDTH: usize = 8;

/// Eight strands, their vertices apart.
#[derive(Clone, Copy)]
pub(crate) struct StrandGroup<'a> {
    solids: &'a Solids<'a, f32>,
    /// How many contacts there are.
    contacts: usize,
    /// Vertices of each strand; none of what takes no part.
    counts: [usize; WIDTH],
    /// The same as numbers that kernels compare with.
    lengths: Lanes,
    /// Contacts that each strand cannot reach, a bit each.
    out_of_reach: [u32; WIDTH],
    exempt: usize,
}

impl<'a> StrandGroup<'a> {
    /// No strands yet. `exempt` vertices at the root of each are left alone.
    pub(crate) fn new(solids: &'a Solids<'a, f32>, exempt: usize) -> Self {
        Self {
            solids,
            contacts: solids.indexed().last().map_or(0, |(i, _)| i + 1),
            counts: [0; WIDTH],
            lengths: [0.0; WIDTH],
            out_of_reach: [0; WIDTH],
            exempt,
        }
    }

    /// Adds a strand of so many vertices, all of them finite, that can touch these of the group's solids.
    pub(crate) fn add(&mut self, lane: usize, vertices: usize, reach: &Solids<'_, f32>) {
        self.counts[lane] = vertices;
        self.lengths[lane] = vertices as f32;
        self.out_of_reach[lane] = reach.out_of_reach();
    }

    /// Takes those strands out again whose bits are set.
    pub(crate) fn leave_out(&mut self, lanes: u8) {
        for lane in lanes_of(u64::from(lanes)) {
            self.counts[lane] = 0;
            self.lengths[lane] = 0.0;
        }
    }

    /// Forgets how far vertices of strands that were not added are from solids.
    pub(crate) fn forget_others(&self, vertex: &mut ContactLanes) {
        for lane in (0..WIDTH).filter(|&lane| self.counts[lane] == 0) {
            vertex.forget_lane(lane);
        }
    }

    /// Follows vertices that were moved since the last pass, so that what is known of their distances holds.
    pub(crate) fn go_on(&self, vertices: &mut [ContactLanes]) {
        dispatch!(simd => bounds::go_on(simd, self, vertices));
    }

    /// Vertices of each strand that was added, zero of others.
    pub(crate) fn counts(&self) -> [usize; WIDTH] {
        self.counts
    }

    /// The same as numbers that kernels compare with.
    pub(crate) fn lengths(&self) -> &Lanes {
        &self.lengths
    }

    /// Whether no strand was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.counts == [0; WIDTH]
    }

    /// See [`super::push_out`]. `vertices` are as many as those of the longest strand, or more. What is known of their distances is from
    /// where they start where this is the first pass of a step (`is_first`), else from the end of the pass before.
    pub(crate) fn push_out(&self, vertices: &mut [ContactLanes], is_first: bool) {
        let vertices = self.used(vertices);
        if is_first {
            vertices.iter_mut().for_each(|v| v.noted = v.x);
        }
        for (contact, solid) in self.solids.indexed() {
            let lanes = self.reaching(contact);
            if lanes == 0 {
                vertices.iter_mut().for_each(|v| v.forget_one(contact));
                continue;
            }
            dispatch!(simd => bounds::go_on(simd, self, vertices));
            let pass = push::Pass {
                group: self,
                solid,
                contact,
                lanes,
                is_first,
            };
            dispatch!(simd => push::push_out(simd, &pass, vertices));
        }
    }

    /// See [`super::settle_lengths`].
    pub(crate) fn settle(&self, vertices: &mut [ContactLanes]) {
        let vertices = self.used(vertices);
        dispatch!(simd => settle::settle(simd, self, vertices));
    }

    /// Those that a strand has.
    fn used<'v>(&self, vertices: &'v mut [ContactLanes]) -> &'v mut [ContactLanes] {
        let longest = self.counts.into_iter().max().unwrap_or(0);
        let len = longest.min(vertices.len());
        &mut vertices[..len]
    }

    /// The strands that a contact can reach, a bit each.
    fn reaching(&self, contact: usize) -> u8 {
        let mut lanes = 0;
        for lane in 0..WIDTH {
            let is_out = contact < 32 && (self.out_of_reach[lane] >> contact) & 1 != 0;
            if self.counts[lane] > 0 && !is_out {
                lanes |= 1 << lane;
            }
        }
        lanes
    }
}

/// The lanes whose bits are set, the lowest first.
fn lanes_of(bits: u64) -> impl Iterator<Item = usize> {
    (0..WIDTH).filter(move |lane| (bits >> lane) & 1 != 0)
}
