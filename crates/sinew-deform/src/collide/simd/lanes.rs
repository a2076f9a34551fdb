//! One vertex of each of eight strands.

use super::super::MAX_COLLIDERS;
use super::super::contact::{ContactVertex, SegmentContact};
use super::bounds::UNKNOWN;
use crate::lanes::{Lanes, Lanes3, point, put};

/// Names are those of [`ContactVertex`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(crate) struct ContactLanes {
    pub(crate) x: Lanes3,
    pub(crate) start: Lanes3,
    pub(crate) inverse_mass: Lanes,
    pub(crate) length: Lanes,
    pub(crate) most_margin: Lanes,
    /// Zero where nothing is touched, as those of segments.
    pub(crate) normal: Lanes3,
    pub(crate) carried: Lanes3,
    pub(crate) segment_normal: Lanes3,
    pub(crate) segment_carried: Lanes3,
    pub(crate) share: Lanes,
    pub(crate) rub: Lanes,
    pub(crate) freed: Lanes3,
    pub(super) distance: Lanes,
    /// No less far from each of the first solids, where the vertex was at [`Self::noted`]; less than nothing where that is not known.
    pub(super) bounds: [Lanes; MAX_COLLIDERS],
    pub(super) noted: Lanes3,
    /// Whose distance is a bound, not what the solid answered, a bit for each strand.
    pub(super) guessed: u64,
    /// While strands settle: where nothing is left to do, a bit for each.
    pub(super) settled: u64,
}

impl ContactLanes {
    /// The vertex of one strand.
    pub(crate) fn get(&self, lane: usize) -> ContactVertex<f32> {
        ContactVertex {
            x: point(&self.x, lane),
            start: point(&self.start, lane),
            inverse_mass: self.inverse_mass[lane],
            length: self.length[lane],
            normal: point(&self.normal, lane),
            carried: point(&self.carried, lane),
            segment: SegmentContact {
                normal: point(&self.segment_normal, lane),
                carried: point(&self.segment_carried, lane),
                share: self.share[lane],
            },
            rub: self.rub[lane],
            freed: point(&self.freed, lane),
            distance: self.distance[lane],
            most_margin: self.most_margin[lane],
            is_settled: (self.settled >> lane) & 1 != 0,
        }
    }

    /// The way back, but for what solids do not change: mass, length, margin.
    pub(super) fn put(&mut self, lane: usize, v: &ContactVertex<f32>) {
        put(&mut self.x, lane, v.x);
        put(&mut self.start, lane, v.start);
        put(&mut self.normal, lane, v.normal);
        put(&mut self.carried, lane, v.carried);
        put(&mut self.segment_normal, lane, v.segment.normal);
        put(&mut self.segment_carried, lane, v.segment.carried);
        self.share[lane] = v.segment.share;
        self.rub[lane] = v.rub;
        put(&mut self.freed, lane, v.freed);
    }

    /// Forgets how far solids are.
    pub(crate) fn forget(&mut self) {
        self.bounds = [[UNKNOWN; 8]; MAX_COLLIDERS];
    }

    /// The same of one strand.
    pub(crate) fn forget_lane(&mut self, lane: usize) {
        for bound in &mut self.bounds {
            bound[lane] = UNKNOWN;
        }
    }

    /// The same of one contact.
    pub(super) fn forget_one(&mut self, contact: usize) {
        if let Some(bound) = self.bounds.get_mut(contact) {
            *bound = [UNKNOWN; 8];
        }
    }

    /// Forgets all contacts.
    pub(crate) fn free(&mut self) {
        self.normal = [[0.0; 8]; 3];
        self.segment_normal = [[0.0; 8]; 3];
        self.rub = [0.0; 8];
        self.freed = [[0.0; 8]; 3];
    }
}
