//! Exact lengths, outside of solids: the last pass of a strand.
//!
//! Segments are laid from the root to the tip, each towards its previous end. Then, in up to six rounds, all segments are measured in their
//! current position, and from root to tip each is rotated out of the surface that it is deepest in, which is taken for flat. The next round
//! tests again what was rotated or carried along. A strand that touches nothing ends after one round.

use super::MAX_COLLIDERS;
use super::contact::{ContactVertex, Hit, Touching, across, deepest, margins_along, skin_of};
use super::placed::{Placed, Solids, unit_or};
use sinew_geom::{Real, Vec3};

/// Rounds, at most.
pub(super) const ROUNDS: usize = 6;
/// A segment that points straight at a surface (this sine and less) is turned aside any way.
const HEAD_ON: f64 = 0.05;
/// What points away from a surface with this cosine has no better way out.
const STRAIGHT_OUT: f64 = 0.998;

/// Makes every segment as long as it should be and turns those that are in a solid about their root's side until they are
/// out. Where both cannot be, lengths are exact.
pub(crate) fn settle_lengths<R: Real, T: Touching<R>>(
    solids: &Solids<'_, R>,
    strand: &mut [T],
    exempt: usize,
) {
    for v in strand.iter_mut() {
        v.touch_mut().is_settled = false;
    }
    lay(strand);
    for _ in 0..ROUNDS {
        if !settle_round(solids, strand, exempt) {
            break;
        }
    }
}

/// Makes segments as long as they should be, each in the direction that it has.
fn lay<R: Real, T: Touching<R>>(strand: &mut [T]) {
    let Some(root) = strand.first() else { return };
    let (mut pivot, mut direction) = (root.touch().x, Vec3::y());
    for vertex in strand.iter_mut().skip(1) {
        let v = vertex.touch_mut();
        direction = unit_or(v.x - pivot, direction);
        if v.inverse_mass > R::zero() {
            v.x = pivot + direction * v.length;
        }
        pivot = v.x;
    }
}

/// One round; tells whether another one is needed. Every segment is measured where the round found it; how far those before take it along
/// counts to first order.
fn settle_round<R: Real, T: Touching<R>>(
    solids: &Solids<'_, R>,
    strand: &mut [T],
    exempt: usize,
) -> bool {
    let Some(root) = strand.first() else {
        return false;
    };
    let skin = skin_of(strand, exempt);
    let mut is_unfinished = false;
    let (mut found, mut direction) = (root.touch().x, Vec3::y());
    // One bound for all solids: how far the nearest surface is from the vertex before, beyond its margin.
    let mut clearance = -R::one();
    let mut at_pivot = Measured::new();
    let mut is_carried = false;
    for i in 1..strand.len() {
        let before = *strand[i - 1].touch();
        let pivot = before.x;
        let v = strand[i].touch_mut();
        let from = std::mem::replace(&mut found, v.x);
        let from_measured = std::mem::replace(&mut at_pivot, Measured::new());
        let was = unit_or(v.x - from, direction);
        // Towards where its end was: what a turn moves dies away along the strand.
        direction = if is_carried {
            unit_or(v.x - pivot, was)
        } else {
            was
        };
        if v.inverse_mass <= R::zero() {
            clearance = -R::one();
            is_carried = false;
            continue;
        }
        let mut hit = None;
        if v.is_settled {
            clearance = -R::one();
        } else {
            clearance -= v.length;
            if clearance < R::zero() && i >= exempt {
                let begin = SegmentBegin {
                    pivot: from,
                    before: &before,
                    leaves_skin: i <= exempt,
                    skin,
                };
                let measured = (from_measured, &mut at_pivot);
                (hit, clearance) = worst_of(solids, v, &begin, was, measured);
            }
        }
        v.is_settled = true;
        let mut is_turned = false;
        if let Some(hit) = hit {
            is_turned = turn_from(v, hit, [from, pivot], was, &mut direction);
        }
        // What was moved is looked at again.
        is_carried |= is_turned;
        if is_carried {
            v.x = pivot + direction * v.length;
            v.is_settled = false;
            is_unfinished = true;
        }
    }
    is_unfinished
}

/// Turns a segment out of what it is deepest in, where it still is after its root's side went from one place to another and it turned away
/// from where it `was`; tells whether.
pub(super) fn turn_from<R: Real>(
    v: &mut ContactVertex<R>,
    (mut hit, solid): HitOn<'_, R>,
    [from, pivot]: [Vec3<R>; 2],
    was: Vec3<R>,
    direction: &mut Vec3<R>,
) -> bool {
    let arm = (*direction - was) * (hit.share * v.length);
    hit.depth -= hit.normal.dot(&(pivot - from + arm));
    let is_turned = hit.depth > solid.at.tolerance && turn_out(direction, &hit, v.length);
    if is_turned {
        let point = pivot + *direction * (hit.share * v.length);
        v.note_contact(&solid, hit.normal, point, hit.share);
    }
    is_turned
}

/// Distances of one point from the first solids, as far as they were asked for: the end of a segment is where the next one begins.
struct Measured<R: Real>([Option<R>; MAX_COLLIDERS]);

impl<R: Real> Measured<R> {
    fn new() -> Self {
        Self([None; MAX_COLLIDERS])
    }
    fn note(&mut self, contact: usize, distance: R) {
        if let Some(known) = self.0.get_mut(contact) {
            *known = Some(distance);
        }
    }
    fn get(&self, contact: usize) -> Option<R> {
        self.0.get(contact).copied().flatten()
    }
}

/// A place that is too deep, and in which solid.
pub(super) type HitOn<'a, R> = (Hit<R>, Placed<'a, R>);

/// Where a segment begins, the vertex there, whether that is exempt, and where the last exempt vertex is.
struct SegmentBegin<'a, R: Real> {
    pivot: Vec3<R>,
    before: &'a ContactVertex<R>,
    leaves_skin: bool,
    skin: Vec3<R>,
}

/// The deepest contact of a segment with any solid, and the least distance of its end beyond the full margins.
fn worst_of<'s, R: Real>(
    solids: &Solids<'s, R>,
    v: &ContactVertex<R>,
    begin: &SegmentBegin<'_, R>,
    direction: Vec3<R>,
    (at_pivot, at_end): (Measured<R>, &mut Measured<R>),
) -> (Option<HitOn<'s, R>>, R) {
    let pivot = begin.pivot;
    let end = pivot + direction * v.length;
    let mut worst: Option<HitOn<'_, R>> = None;
    let mut clearance = R::from_double(1e9);
    for (contact, solid) in solids.indexed() {
        let distance = solid.distance(end);
        at_end.note(contact, distance);
        let beyond = distance - solid.at.margin;
        clearance = clearance.min(beyond);
        if beyond >= v.length {
            continue;
        }
        let margin = v.margin(&solid, begin.skin);
        let gap = distance - margin;
        let hit = if gap < -solid.at.tolerance {
            Some(hit_at_end(&solid, end, direction, -gap))
        } else if solid.at.spacing < v.length {
            let from = at_pivot.get(contact);
            let from = from.unwrap_or_else(|| solid.distance(pivot));
            let SegmentBegin {
                before,
                leaves_skin,
                skin,
                ..
            } = *begin;
            let margins = margins_along(&solid, [before, v], leaves_skin, skin, from);
            deepest(&solid, pivot, end, [from, distance], margins)
        } else {
            None
        };
        if let Some(hit) = hit
            && worst.as_ref().is_none_or(|(w, _)| w.depth < hit.depth)
        {
            worst = Some((hit, solid));
        }
    }
    (worst, clearance)
}

/// A segment whose end is this deep.
pub(super) fn hit_at_end<R: Real>(
    solid: &Placed<'_, R>,
    end: Vec3<R>,
    direction: Vec3<R>,
    depth: R,
) -> Hit<R> {
    let (_, normal) = solid.surface(end, across(direction));
    Hit {
        share: R::one(),
        normal,
        depth,
    }
}

/// Turns the direction of a segment until it is out of a surface, taken for flat; tells whether there is a way.
fn turn_out<R: Real>(direction: &mut Vec3<R>, hit: &Hit<R>, length: R) -> bool {
    let now = direction.dot(&hit.normal);
    if now >= R::from_double(STRAIGHT_OUT) {
        return false;
    }
    // Along the surface; any way where the segment points straight at it.
    let along = *direction - hit.normal * now;
    let level = if along.norm_squared() < R::from_double(HEAD_ON * HEAD_ON) {
        across(hit.normal)
    } else {
        unit_or(along, Vec3::x())
    };
    let arm = (hit.share * length).max(R::from_double(1e-9));
    let rise = (now + hit.depth / arm).min(R::one());
    let run = (R::one() - rise * rise).max(R::zero()).sqrt();
    *direction = unit_or(hit.normal * rise + level * run, Vec3::y());
    true
}
