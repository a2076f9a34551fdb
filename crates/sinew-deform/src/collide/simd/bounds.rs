//! How far vertices are from solids at least, so that most need not be asked for again.
//!
//! Distances grow no faster than the way ([`crate::collide::Distance`]): what was found at one place, less the way from there, is a lower
//! bound. It holds from pass to pass and, as solids are rigid during a frame, from step to step, with ways as the solid sees them.

use super::super::MAX_COLLIDERS;
use super::super::placed::Placement;
use super::{ContactLanes, StrandGroup};
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};
use fearless_simd_macros::simd;

/// Where nothing is known.
pub(super) const UNKNOWN: f32 = -1e9;
/// No more than this is noted beyond margins, in spacings of samples: between bricks, farther than the band, distances of grids are off.
const FARTHEST: f32 = 4.0;

/// What may be noted of a contact: the strands that can reach its solid.
#[derive(Clone, Copy)]
pub(super) struct Noted<S: Simd> {
    pub(super) contact: usize,
    pub(super) most: f32x8<S>,
}

impl<S: Simd> Noted<S> {
    #[inline(always)]
    pub(super) fn new(simd: S, contact: usize, at: &Placement<f32>) -> Self {
        Self {
            contact,
            most: f32x8::splat(simd, at.margin + FARTHEST * at.spacing),
        }
    }

    /// What is known of these vertices.
    #[inline(always)]
    pub(super) fn get(&self, v: &ContactLanes) -> f32x8<S> {
        let simd = self.most.simd;
        match v.bounds.get(self.contact) {
            Some(bound) => f32x8::load_array_ref(simd, bound),
            None => f32x8::splat(simd, UNKNOWN),
        }
    }

    /// Notes distances of those that `know`; of others nothing is known any more.
    #[inline(always)]
    pub(super) fn set(&self, v: &mut ContactLanes, know: mask32x8<S>, distances: f32x8<S>) {
        if let Some(bound) = v.bounds.get_mut(self.contact) {
            let unknown = f32x8::splat(self.most.simd, UNKNOWN);
            // What is no number stays none, so that it is asked for again.
            let capped = distances.simd_ge(self.most).select(self.most, distances);
            let bounds = know.select(capped, unknown);
            bounds.store_array(bound);
        }
    }
}

/// Takes what vertices moved since bounds were noted from all of these.
#[simd]
pub(super) fn go_on<S: Simd>(simd: S, group: &StrandGroup<'_>, vertices: &mut [ContactLanes]) {
    for v in vertices {
        let x = V3::load_lanes(simd, &v.x);
        let way = x - V3::load_lanes(simd, &v.noted);
        take_way(simd, group, v, way.dot(way).sqrt());
        v.noted = v.x;
    }
}

/// Takes ways from the bounds of a vertex.
#[inline(always)]
pub(super) fn take_way<S: Simd>(
    simd: S,
    group: &StrandGroup<'_>,
    v: &mut ContactLanes,
    way: f32x8<S>,
) {
    let count = group.contacts.min(MAX_COLLIDERS);
    for bound in &mut v.bounds[..count] {
        (f32x8::load_array_ref(simd, bound) - way).store_array(bound);
    }
}
