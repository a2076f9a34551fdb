//! One strand against placed solids, vertex after vertex from the root. Distances are positive outside.
//!
//! For each solid:
//!
//! 1. Vertices. A distance changes no faster than the position, hence the distance of one vertex bounds that of the next; those that are
//!    clear are skipped. A vertex that moved farther than the spacing of samples is followed along its path in the moving solid, by steps
//!    as long as the distance (conservative advancement, at most 48). Then it is pushed out along the gradient, up to four times, and
//!    friction takes back sliding.
//! 2. Segments, if the solid has details: a segment is clear if `D_a + D_b - L >= 2 margin`. Otherwise it is sampled, at least every half
//!    detail, and its deepest sample is pushed out; both ends move by their weights.
//!
//! What moved a vertex out of a solid that it started in is noted as `freed`: it does not count as motion.
//!
//! Cost: at most one evaluation of the distance for a clear vertex, about ten for others. The formulas are on the page of the node.

use super::placed::{Placed, Solids, unit_or};
use sinew_geom::{Real, Vec3};

/// A vertex of a strand while it collides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactVertex<R: Real> {
    /// Where it is.
    pub(crate) x: Vec3<R>,
    /// Where it was at the beginning of the step.
    pub(crate) start: Vec3<R>,
    /// How easily it is moved; zero: not at all.
    pub(crate) inverse_mass: R,
    /// Length of the segment that leads to it from the root's side.
    pub(crate) length: R,
    /// Touched surface: its normal (zero: none), and how far the step carried it.
    pub(crate) normal: Vec3<R>,
    pub(crate) carried: Vec3<R>,
    /// The same for the segment that leads to it, with the place along it.
    pub(crate) segment: SegmentContact<R>,
    /// Largest coefficient of friction of what it or the segment that leads to it touches.
    pub(crate) rub: R,
    /// How far it was brought out of where it was too deep before the step: no motion.
    pub(crate) freed: Vec3<R>,
    /// No less far from the solid at hand.
    pub(crate) distance: R,
    /// What margins grow to from the last exempt vertex to here ([`most_margin`]).
    pub(crate) most_margin: R,
    /// While the strand settles: nothing is left to do here.
    pub(crate) is_settled: bool,
}

/// A contact between two vertices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentContact<R: Real> {
    /// Zero: none.
    pub(crate) normal: Vec3<R>,
    pub(crate) carried: Vec3<R>,
    /// 0 at the root's side, 1 at the tip's.
    pub(crate) share: R,
}

impl<R: Real> Default for ContactVertex<R> {
    fn default() -> Self {
        Self {
            x: Vec3::zeros(),
            start: Vec3::zeros(),
            inverse_mass: R::zero(),
            length: R::zero(),
            normal: Vec3::zeros(),
            carried: Vec3::zeros(),
            segment: SegmentContact {
                normal: Vec3::zeros(),
                carried: Vec3::zeros(),
                share: R::zero(),
            },
            rub: R::zero(),
            freed: Vec3::zeros(),
            distance: R::zero(),
            most_margin: R::zero(),
            is_settled: false,
        }
    }
}

impl<R: Real> ContactVertex<R> {
    /// How far it keeps from the surface of a solid, with the last exempt vertex of the strand at `skin`.
    pub(super) fn margin(&self, solid: &Placed<'_, R>, skin: Vec3<R>) -> R {
        let full = solid.at.margin;
        if self.most_margin >= full {
            return full;
        }
        full.min(solid.distance(skin).max(R::zero()) + self.most_margin)
    }
    /// Forgets contacts.
    pub(crate) fn free(&mut self) {
        self.normal = Vec3::zeros();
        self.segment.normal = Vec3::zeros();
        self.rub = R::zero();
        self.freed = Vec3::zeros();
    }
    /// Notes that a solid turned the segment that leads here, at `point`; of contacts between its ends the first one counts.
    pub(super) fn note_contact(
        &mut self,
        solid: &Placed<'_, R>,
        normal: Vec3<R>,
        point: Vec3<R>,
        share: R,
    ) {
        let carried = point - solid.at.carry.inverse_point(point);
        if share >= R::one() {
            self.normal = normal;
            self.carried = carried;
            self.rub = self.rub.max(solid.at.friction);
        } else if self.segment.normal == Vec3::zeros() {
            self.segment = SegmentContact {
                normal,
                carried,
                share,
            };
            self.rub = self.rub.max(solid.at.friction);
        }
    }
}

/// What holds a colliding vertex, among other things.
pub(crate) trait Touching<R: Real> {
    /// That vertex.
    fn touch(&self) -> &ContactVertex<R>;
    /// That vertex, to be moved.
    fn touch_mut(&mut self) -> &mut ContactVertex<R>;
}

impl<R: Real> Touching<R> for ContactVertex<R> {
    fn touch(&self) -> &Self {
        self
    }
    fn touch_mut(&mut self) -> &mut Self {
        self
    }
}

/// Margins grow by this share of the way along the strand: the most by which they turn it away from the skin, 14 degrees.
const RISE: f64 = 0.25;

/// What a margin grows to in this way along the strand from the last exempt vertex, where that one is nearer to the surface than the
/// margin; as a rule it sits on the skin. Were all of the margin asked for behind it, short segments would have to stand up there, against
/// the shape of the strand, which then would not come to rest.
pub(crate) fn most_margin<R: Real>(way: R) -> R {
    way * R::from_double(RISE)
}

/// Steps out of a solid, at most.
const PUSHES: usize = 4;
/// Steps along a path, at most.
const SWEEP_STEPS: usize = 48;
/// Samples of one segment, at most: details may be as small as nothing.
const SAMPLES: f64 = 1024.0;

/// Moves vertices and segments out of the solids, whichever way is shortest; lengths change. `exempt` vertices at the
/// root are left alone.
pub(crate) fn push_out<R: Real, T: Touching<R>>(
    solids: &Solids<'_, R>,
    strand: &mut [T],
    exempt: usize,
) {
    for solid in solids.iter() {
        let solid = &solid;
        push_vertices(solid, strand, exempt);
        if solid.at.spacing.is_finite() {
            push_segments(solid, strand, exempt);
        }
    }
}

fn push_vertices<R: Real, T: Touching<R>>(solid: &Placed<'_, R>, strand: &mut [T], exempt: usize) {
    let two = R::from_double(2.0);
    let skin = skin_of(strand, exempt);
    let mut before = Vec3::zeros();
    let mut clearance = -R::one();
    for (i, vertex) in strand.iter_mut().enumerate() {
        let v = vertex.touch_mut();
        // Distances grow no faster than the way: where the last vertex was far enough, this one is, too.
        if clearance > solid.at.margin {
            clearance -= (v.x - before).norm();
        }
        before = v.x;
        let moved = (v.x - solid.at.carry.point(v.start)).norm();
        let reach = solid.at.margin + moved * two;
        if clearance <= reach {
            clearance = solid.distance(v.x);
            let held = i < exempt || v.inverse_mass <= R::zero();
            let fast = moved > solid.at.spacing && clearance <= reach;
            if !held && (fast || clearance < solid.at.margin - solid.at.tolerance) {
                let margin = v.margin(solid, skin);
                if fast || clearance < margin - solid.at.tolerance {
                    clearance = resolve(solid, v, moved, clearance, margin);
                    before = v.x;
                }
            }
        }
        v.distance = clearance;
    }
}

/// Where the last exempt vertex is.
pub(super) fn skin_of<R: Real, T: Touching<R>>(strand: &[T], exempt: usize) -> Vec3<R> {
    let last = exempt.checked_sub(1).and_then(|i| strand.get(i));
    last.map_or_else(Vec3::zeros, |v| v.touch().x)
}

/// Margins at both ends of a segment, the first of which has this distance. Where that one is exempt (`leaves_skin`), the segment begins as
/// deep as it is.
pub(super) fn margins_along<R: Real>(
    solid: &Placed<'_, R>,
    [start, end]: [&ContactVertex<R>; 2],
    leaves_skin: bool,
    skin: Vec3<R>,
    at_start: R,
) -> [R; 2] {
    let full = solid.at.margin;
    if leaves_skin {
        return [full, full.min(at_start.max(R::zero()) + end.most_margin)];
    }
    if start.most_margin >= full {
        return [full; 2];
    }
    let base = solid.distance(skin).max(R::zero());
    [start, end].map(|v| full.min(base + v.most_margin))
}

/// Moves one vertex out, whose distance is known, to where it has this margin; returns its distance afterwards.
pub(super) fn resolve<R: Real>(
    solid: &Placed<'_, R>,
    v: &mut ContactVertex<R>,
    moved: R,
    at_end: R,
    margin: R,
) -> R {
    let mut push = R::zero();
    let mut normal = Vec3::zeros();
    if moved > solid.at.spacing
        && let Some((at, n)) = first_hit(solid, v, at_end, margin)
    {
        let left = v.x - at;
        let inward = -left.dot(&n);
        if inward > R::zero() {
            v.x = at + left + n * inward;
            push += inward;
            normal = n;
        }
    }
    let toward_start = unit_or(solid.at.carry.point(v.start) - v.x, Vec3::y());
    let mut distance = R::zero();
    for _ in 0..PUSHES {
        let (d, n) = solid.surface(v.x, toward_start);
        distance = d;
        let lack = margin - d;
        if lack <= solid.at.tolerance {
            break;
        }
        v.x += n * lack;
        push += lack;
        normal = n;
        // Over a short way the distance is nearly linear.
        distance = margin - solid.at.tolerance;
        if lack < solid.at.spacing && solid.at.spacing.is_finite() {
            break;
        }
    }
    if push > R::zero() {
        let relative = v.x - solid.at.carry.point(v.start);
        // Only as much of the way out as the step led in is a response to motion.
        let outward = normal.dot(&relative);
        if outward > solid.at.tolerance {
            let freed = normal * outward;
            v.start += freed;
            v.freed += freed;
        }
        push = (push - outward.max(R::zero())).max(R::zero());
        v.x -= rubbed(relative, normal, push * solid.at.friction);
        v.normal = normal;
        v.carried = v.x - solid.at.carry.inverse_point(v.x);
        v.rub = v.rub.max(solid.at.friction);
    }
    distance
}

/// The part of a sliding motion that dry friction takes back.
fn rubbed<R: Real>(relative: Vec3<R>, normal: Vec3<R>, most: R) -> Vec3<R> {
    let sliding = relative - normal * normal.dot(&relative);
    let length = sliding.norm();
    if length <= most {
        sliding
    } else if length > R::zero() {
        sliding * (most / length)
    } else {
        Vec3::zeros()
    }
}

/// Where the vertex meets the moving solid, carried on to the end of the step, and the normal there. Goes along the path in
/// steps as long as the distance (conservative advancement); `None` where it meets nothing or begins inside.
fn first_hit<R: Real>(
    solid: &Placed<'_, R>,
    v: &ContactVertex<R>,
    at_end: R,
    margin: R,
) -> Option<(Vec3<R>, Vec3<R>)> {
    let path = solid.path(v.start, v.x);
    let speed = path.fastest();
    // Along a surface the distance stays small: no step is shorter than the spacing of samples.
    let least = (solid.at.spacing / speed).max(R::from_double(1e-3));
    let mut t = R::zero();
    for step in 0..SWEEP_STEPS {
        let local = path.at(t);
        let distance = solid.distance_at(local);
        // Both ends are so far away that nothing between them can touch.
        if step == 0 && distance + at_end - speed >= margin + margin {
            return None;
        }
        let gap = distance - margin;
        if gap < -solid.at.tolerance {
            if step == 0 {
                return None;
            }
            let at = solid.at.motion.to().point(local);
            let (d, n) = solid.surface(at, Vec3::y());
            return Some((at + n * (margin - d), n));
        }
        t += (gap / speed).max(least);
        if t >= R::one() {
            break;
        }
    }
    None
}

/// Every segment is looked at where its vertices were before any segment was moved, so that all can be looked at side by side; how far the
/// segment before took the common vertex along counts to first order.
fn push_segments<R: Real, T: Touching<R>>(solid: &Placed<'_, R>, strand: &mut [T], exempt: usize) {
    let Some(root) = strand.first() else { return };
    let skin = skin_of(strand, exempt);
    let mut found = (root.touch().x, root.touch().distance);
    for i in 1..strand.len() {
        let end = *strand[i].touch();
        let (from, from_distance) = std::mem::replace(&mut found, (end.x, end.distance));
        if is_clear(
            solid.at.margin,
            [from_distance, end.distance],
            (end.x - from).norm(),
        ) {
            continue;
        }
        let segment = FoundSegment {
            from,
            from_distance,
            end: i,
            exempt,
            skin,
        };
        segment.push(solid, &mut strand[i - 1..=i]);
    }
}

/// A segment as a pass found it, before any was moved.
pub(super) struct FoundSegment<R: Real> {
    /// Where its root's side was, and how far from the solid.
    pub(super) from: Vec3<R>,
    pub(super) from_distance: R,
    /// Index of the vertex that it leads to, and how many are exempt.
    pub(super) end: usize,
    pub(super) exempt: usize,
    /// Where the last exempt vertex is.
    pub(super) skin: Vec3<R>,
}

impl<R: Real> FoundSegment<R> {
    /// Moves its two ends so that its deepest place comes out of the solid.
    pub(super) fn push<T: Touching<R>>(&self, solid: &Placed<'_, R>, ends: &mut [T]) {
        let [start, end] = ends else { return };
        let (start, end) = (start.touch(), end.touch());
        let weight = |k: usize, v: &ContactVertex<R>| {
            if k < self.exempt {
                R::zero()
            } else {
                v.inverse_mass
            }
        };
        let weights = (weight(self.end - 1, start), weight(self.end, end));
        if weights.0 + weights.1 <= R::zero() {
            return;
        }
        let distances = [self.from_distance, end.distance];
        let leaves_skin = self.end <= self.exempt;
        let margins = margins_along(
            solid,
            [start, end],
            leaves_skin,
            self.skin,
            self.from_distance,
        );
        let Some(mut hit) = deepest(solid, self.from, end.x, distances, margins) else {
            return;
        };
        hit.depth -= hit.normal.dot(&(start.x - self.from)) * (R::one() - hit.share);
        if hit.depth > solid.at.tolerance {
            push_segment(solid, ends, weights, &hit);
        }
    }
}

/// Moves both ends of a segment, so that its deepest place comes out.
fn push_segment<R: Real, T: Touching<R>>(
    solid: &Placed<'_, R>,
    ends: &mut [T],
    (wa, wb): (R, R),
    hit: &Hit<R>,
) {
    let [first, last] = ends else { return };
    let (a, b) = (*first.touch(), *last.touch());
    let (at_a, at_b) = (R::one() - hit.share, hit.share);
    let weights = at_a * at_a * wa + at_b * at_b * wb;
    if weights <= R::zero() {
        return;
    }
    let carried = |v: &ContactVertex<R>| v.x - solid.at.carry.point(v.start);
    let out = hit.normal * hit.depth;
    let relative = carried(&a) * at_a + carried(&b) * at_b + out;
    let shift = (out - rubbed(relative, hit.normal, hit.depth * solid.at.friction)) / weights;
    // A contact close to an end that cannot move would throw the other end far away.
    let most = (b.x - a.x).norm() * R::from_double(0.5);
    move_by(first.touch_mut(), shift * (at_a * wa), most);
    move_by(last.touch_mut(), shift * (at_b * wb), most);
    let point = a.x * at_a + b.x * at_b;
    let last = last.touch_mut();
    last.rub = last.rub.max(solid.at.friction);
    last.segment = SegmentContact {
        normal: hit.normal,
        carried: point - solid.at.carry.inverse_point(point),
        share: hit.share,
    };
}

fn move_by<R: Real>(v: &mut ContactVertex<R>, shift: Vec3<R>, most: R) {
    let length = shift.norm();
    let shift = if length > most {
        shift * (most / length)
    } else {
        shift
    };
    v.x += shift;
}

/// A place of a segment that is too deep.
#[derive(Clone, Copy)]
pub(super) struct Hit<R: Real> {
    pub(super) share: R,
    pub(super) normal: Vec3<R>,
    pub(super) depth: R,
}

/// Whether everything between two points keeps a margin, by their distances.
pub(super) fn is_clear<R: Real>(margin: R, [at_a, at_b]: [R; 2], length: R) -> bool {
    at_a + at_b - length >= margin + margin
}

/// The deepest sample between two vertices with these (least) distances and margins. Walks by what the distance allows, but no
/// less than the spacing of samples.
pub(super) fn deepest<R: Real>(
    solid: &Placed<'_, R>,
    a: Vec3<R>,
    b: Vec3<R>,
    [at_a, at_b]: [R; 2],
    [margin_a, margin_b]: [R; 2],
) -> Option<Hit<R>> {
    let length = (b - a).norm();
    // Where the root's side is too deep already, the segment leads out in a straight line.
    let begins = margin_a.min(at_a);
    let margin = begins.max(margin_b);
    if is_clear(margin, [at_a, at_b], length) || length <= R::zero() {
        return None;
    }
    let (mut share, mut worst) = (R::zero(), solid.at.tolerance);
    let mut is_found = false;
    let mut walked = R::zero();
    let mut distance = at_a;
    let least = solid.at.spacing.max(length / R::from_double(SAMPLES));
    loop {
        walked += (distance - margin).max(least);
        let is_between = walked < length;
        if !is_between {
            // At the end, or no number.
            break;
        }
        let s = walked / length;
        distance = solid.distance(a + (b - a) * s);
        let depth = begins + (margin_b - begins) * s - distance;
        if depth > worst {
            worst = depth;
            share = s;
            is_found = true;
        }
    }
    if !is_found {
        return None;
    }
    let along = unit_or(b - a, Vec3::y());
    let (_, normal) = solid.surface(a + (b - a) * share, across(along));
    Some(Hit {
        share,
        normal,
        depth: worst,
    })
}

/// Any unit vector across a unit vector.
pub(super) fn across<R: Real>(v: Vec3<R>) -> Vec3<R> {
    let other = if v.x.abs() < R::from_double(0.7) {
        Vec3::x()
    } else {
        Vec3::y()
    };
    unit_or(v.cross(&other), Vec3::z())
}
