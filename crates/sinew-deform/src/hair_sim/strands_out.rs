//! From simulated guides to all strands: followers, tangents.
//!
//! A follower starts beside its guide's root. Each of its segments is rotated as the guide's is, and is as long as at rest. Followers then
//! collide, by position only: their paths are not tested. Tasks of 32 strands run on their own.

use super::bind::HairBind;
use super::detail::fade;
use super::precision::HairReal;
use super::settings::HairSettings;
use super::state::{HairState, Kept, Root};
use crate::collide::{Collider, Contact, PerChunk, PerStrand, Solids, turn, unit_or};
use crate::simd_vector::V3;
use crate::strand_step::{Placing, VertexOfEight, WIDTH, place_strands};
use crate::{Par, for_each_chunk};
use arrayvec::ArrayVec;
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};
use fearless_simd_macros::simd;
use sinew_geom::{PackedAffine, Real, Vec3};

/// Vertices of followers that solids do not move.
const FOLLOWER_PINS: usize = 2;
/// Strands in one task.
const CHUNK: usize = crate::collide::CHUNK;

/// What a frame's outputs are made from.
pub(crate) struct Out<'a, R: HairReal> {
    pub(crate) bind: &'a HairBind,
    pub(crate) state: &'a mut HairState<R>,
    pub(crate) settings: &'a HairSettings,
    /// One a strand, as in the job.
    pub(crate) transforms: &'a [PackedAffine],
    pub(crate) colliders: &'a [Collider<'a>],
    pub(crate) contacts: &'a [Contact],
    pub(crate) par: Par,
}

/// Writes positions and tangents of all strands.
pub(crate) fn write_strands<R: HairReal>(
    out: Out<'_, R>,
    positions: &mut [[f32; 3]],
    tangents: Option<&mut [[f32; 3]]>,
) {
    let strands = &out.bind.strands;
    let state = &mut *out.state;
    let (room, placements, each) = state.followers.parts();
    let solids = Solids::place(out.colliders, out.contacts, placements, [1.0, 1.0]);
    let layout = Layout {
        bind: out.bind,
        positions: &state.positions,
        kept: &state.kept,
        roots: &state.roots,
        transforms: out.transforms,
        separation: R::from_single(out.settings.tip_separation),
        detail: out.settings.shown_detail(),
        collide: (out.settings.collide_followers && !solids.is_empty()).then_some(Placing {
            solids: &solids,
            pins: FOLLOWER_PINS,
        }),
    };
    let offsets = strands.offsets();
    let per_strand = |items| PerStrand { offsets, items };
    let room = PerChunk {
        strands: CHUNK,
        each,
        items: room,
    };
    let outputs = (per_strand(positions), tangents.map(per_strand), room);
    for_each_chunk(out.par, strands.len(), CHUNK, outputs, &|range, outputs| {
        let (mut p, mut t, room) = outputs;
        let mut followers: ArrayVec<usize, CHUNK> = ArrayVec::new();
        for (i, strand) in range.clone().enumerate() {
            if layout.place(strand, p.strand(i)) {
                followers.push(i);
            }
        }
        layout.collide(&followers, &mut p, &mut *room.items);
        if let Some(t) = &mut t {
            for i in 0..range.len() {
                write_tangents(p.strand(i), t.strand(i));
            }
        }
        for (i, strand) in range.enumerate() {
            shorten(p.strand(i), layout.fade(strand));
        }
    });
}

struct Layout<'a, R: Real> {
    bind: &'a HairBind,
    positions: &'a [Vec3<R>],
    kept: &'a [Kept<R>],
    roots: &'a [Root<R>],
    transforms: &'a [PackedAffine],
    separation: R,
    detail: f32,
    collide: Option<Placing<'a>>,
}

impl<R: Real> Layout<'_, R> {
    /// Share of its length that a strand shows.
    fn fade(&self, strand: usize) -> f32 {
        fade(self.detail, self.bind.shown_from[strand])
    }

    /// A guide is copied; a follower is laid beside it. A hidden strand is at its root. Tells whether it is a follower that is shown.
    fn place(&self, strand: usize, points: &mut [[f32; 3]]) -> bool {
        let bind = self.bind;
        let guide = bind.guide_of[strand] as usize;
        let lead = &self.positions[bind.guide_range(guide)];
        if self.fade(strand) <= 0.0 {
            let beside = match bind.strands.is_guide(strand) {
                true => Vec3::zeros(),
                false => self.beside(strand, guide),
            };
            points.fill(R::array3(lead[0] + beside));
            return false;
        }
        if bind.strands.is_guide(strand) {
            for (point, &x) in points.iter_mut().zip(lead) {
                *point = R::array3(x);
            }
            return false;
        }
        self.lay(strand, guide, points);
        true
    }

    /// Brings followers out of solids.
    fn collide(
        &self,
        followers: &[usize],
        points: &mut PerStrand<'_, [f32; 3]>,
        room: &mut [VertexOfEight],
    ) {
        let Some(placing) = &self.collide else {
            return;
        };
        for members in followers.chunks(WIDTH) {
            place_strands(placing, members, |_| None, points, room);
        }
    }

    /// The root goes with the skin, its own or the guide's. Each segment is rotated as the guide's is; the spread leads it aside. It is as
    /// long as at rest.
    fn lay(&self, strand: usize, guide: usize, points: &mut [[f32; 3]]) {
        let bind = self.bind;
        let range = bind.guide_range(guide);
        let own = &bind.segments[bind.strands.range(strand)];
        let root = &self.roots[guide];
        let turned = |v: Vec3<R>| turn(&root.frame.rotation, v);
        let aside = turned(R::vec3(own[0]));
        let mut at = self.positions[range.start] + self.beside(strand, guide);
        points[0] = R::array3(at);
        for i in 1..points.len() {
            let rest = R::vec3(own[i]);
            let kept = &self.kept[range.start + i];
            let mut wanted = turned(kept.turned(rest));
            if self.separation != R::zero() {
                let [from, to] = [i - 1, i].map(|k| bind.vertices[range.start + k].arc);
                let spread = aside * (R::from_single(to - from) * self.separation);
                wanted += across(spread, turned(kept.turned(Vec3::x())));
            }
            at += unit_or(wanted, Vec3::y()) * (rest.norm() * root.scale);
            points[i] = R::array3(at);
        }
    }

    /// From the guide's root to the follower's.
    fn beside(&self, strand: usize, guide: usize) -> Vec3<R> {
        let root = &self.roots[guide];
        let aside = || R::vec3(self.bind.segments[self.bind.strands.range(strand).start]);
        let own = self.own_place(strand, guide);
        own.unwrap_or_else(|| turn(&root.frame.rotation, aside()) * root.scale)
    }

    /// The same where joints of its own take the follower's root; `None` if it has none, or they take it to no place.
    fn own_place(&self, strand: usize, guide: usize) -> Option<Vec3<R>> {
        let bind = self.bind;
        if !bind.has_own_root(strand) {
            return None;
        }
        let place = |strand: usize, at_rest| {
            let transform = self.transforms[strand].unpack::<R>();
            transform.point(R::vec3(at_rest))
        };
        let own = place(strand, bind.follower_root(strand));
        let beside = own - place(bind.guides[guide] as usize, bind.roots[guide]);
        beside.iter().all(|c| c.is_finite()).then_some(beside)
    }
}

/// Brings the points of a strand nearer to its root.
fn shorten(points: &mut [[f32; 3]], fade: f32) {
    if fade >= 1.0 {
        return;
    }
    let root = points[0];
    for point in points {
        *point = [0, 1, 2].map(|k| root[k] + (point[k] - root[k]) * fade);
    }
}

/// The part of a vector that is across a unit vector.
fn across<R: Real>(v: Vec3<R>, along: Vec3<R>) -> Vec3<R> {
    v - along * along.dot(&v)
}

/// Unit tangents: at each vertex the mean direction of its two segments, at the ends that of the one. Where a strand has no
/// direction, that of the vertex before, else up.
pub(crate) fn write_tangents(points: &[[f32; 3]], tangents: &mut [[f32; 3]]) {
    let whole = inner_tangents(points, tangents);
    let last = points.len().saturating_sub(1);
    let end =
        |a: usize, b: usize| unit_or(f32::vec3(points[b]) - f32::vec3(points[a]), Vec3::zeros());
    if whole && last > 0 {
        let (first, other) = (end(0, 1), end(last - 1, last));
        if first != Vec3::zeros() && other != Vec3::zeros() {
            tangents[0] = first.into();
            tangents[last] = other.into();
            return;
        }
    }
    write_tangents_in_order(points, tangents);
}

/// Tangents between the ends, eight at a time; false where one has no direction of its own.
pub(super) fn inner_tangents(points: &[[f32; 3]], tangents: &mut [[f32; 3]]) -> bool {
    dispatch!(simd => write_inner_tangents(simd, points, tangents))
}

#[simd]
fn write_inner_tangents<S: Simd>(simd: S, points: &[[f32; 3]], tangents: &mut [[f32; 3]]) -> bool {
    let zero = V3::splat(simd, 0.0);
    let lanes = f32x8::load_array(simd, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let inner = points.len().saturating_sub(1);
    for at in (1..inner).step_by(8) {
        let here = V3::load_at(simd, points, at);
        let before = here - V3::load_at(simd, points, at - 1);
        let after = V3::load_at(simd, points, at + 1) - here;
        let mean = before.unit_or(zero) + after.unit_or(zero);
        let directed = has_direction(before) & has_direction(after) & has_direction(mean);
        // Behind the last one lanes hold anything.
        let is_behind = lanes.simd_ge((inner - at).min(8) as f32);
        if !(directed | is_behind).all_true() {
            return false;
        }
        let mean = mean.unit_or(zero);
        mean.store_at(&mut tangents[..inner], at);
    }
    true
}

/// Where [`unit_or`] finds one.
#[inline(always)]
fn has_direction<S: Simd>(v: V3<S>) -> mask32x8<S> {
    let squared = v.dot(v);
    squared.simd_gt(1e-30) & squared.simd_le(f32::MAX)
}

/// From the root to the tip, for strands with places that have no direction.
fn write_tangents_in_order(points: &[[f32; 3]], tangents: &mut [[f32; 3]]) {
    let point = |i: usize| f32::vec3(points[i]);
    let segment = |i: usize| unit_or(point(i + 1) - point(i), Vec3::zeros());
    let mut before = Vec3::zeros();
    let mut last = Vec3::y();
    for (i, tangent) in tangents.iter_mut().enumerate() {
        let after = if i + 1 < points.len() {
            segment(i)
        } else {
            Vec3::zeros()
        };
        let mean = unit_or(before + after, Vec3::zeros());
        last = if mean == Vec3::zeros() {
            unit_or(after, unit_or(before, last))
        } else {
            mean
        };
        before = after;
        *tangent = last.into();
    }
}
