//! One strand against placed solids, vertex after vertex from the root.

use super::MAX_COLLIDERS;
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
    /// How far it was brought out of where it was too deep before the step: no motion.
    pub(crate) freed: Vec3<R>,
    /// No less far from the solid at hand.
    pub(crate) distance: R,
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
            freed: Vec3::zeros(),
            distance: R::zero(),
        }
    }
}

impl<R: Real> ContactVertex<R> {
    /// Forgets contacts.
    pub(crate) fn free(&mut self) {
        self.normal = Vec3::zeros();
        self.segment.normal = Vec3::zeros();
        self.freed = Vec3::zeros();
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

/// Steps out of a solid, at most.
const PUSHES: usize = 4;
/// Steps along a path, at most.
const SWEEP_STEPS: usize = 48;
/// Rotations of one segment, at most.
const ROTATIONS: usize = 12;
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
            let inside = clearance < solid.at.margin - solid.at.tolerance;
            let fast = moved > solid.at.spacing && clearance <= reach;
            if (inside || fast) && !held {
                clearance = resolve(solid, v, moved);
                before = v.x;
            }
        }
        v.distance = clearance;
    }
}

/// Moves one vertex out; returns its distance afterwards.
fn resolve<R: Real>(solid: &Placed<'_, R>, v: &mut ContactVertex<R>, moved: R) -> R {
    let mut push = R::zero();
    let mut normal = Vec3::zeros();
    if moved > solid.at.spacing
        && let Some((at, n)) = first_hit(solid, v)
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
        let lack = solid.at.margin - d;
        if lack <= solid.at.tolerance {
            break;
        }
        v.x += n * lack;
        push += lack;
        normal = n;
        // Over a short way the distance is nearly linear.
        distance = solid.at.margin - solid.at.tolerance;
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
fn first_hit<R: Real>(solid: &Placed<'_, R>, v: &ContactVertex<R>) -> Option<(Vec3<R>, Vec3<R>)> {
    let way = v.x - v.start;
    let (from, to) = (solid.at.motion.from(), solid.at.motion.to());
    let reach = (v.start - from.translation)
        .norm()
        .max((v.x - to.translation).norm());
    let speed = way.norm() + solid.sweep(reach);
    // Along a surface the distance stays small: no step is shorter than half the spacing of samples.
    let least = (solid.at.spacing * R::from_double(0.5) / speed).max(R::from_double(1e-3));
    let mut t = R::zero();
    for step in 0..SWEEP_STEPS {
        let (d, local) = solid.distance_during(v.start + way * t, t);
        let gap = d - solid.at.margin;
        if step == 0 && gap < -solid.at.tolerance {
            return None;
        }
        if gap < -solid.at.tolerance {
            let at = to.point(local);
            let (d, n) = solid.surface(at, Vec3::y());
            return Some((at + n * (solid.at.margin - d), n));
        }
        t += (gap / speed).max(least);
        if t >= R::one() {
            break;
        }
    }
    None
}

fn push_segments<R: Real, T: Touching<R>>(solid: &Placed<'_, R>, strand: &mut [T], exempt: usize) {
    for i in 1..strand.len() {
        let (a, b) = (*strand[i - 1].touch(), *strand[i].touch());
        let weight = |k: usize, v: &ContactVertex<R>| {
            if k < exempt {
                R::zero()
            } else {
                v.inverse_mass
            }
        };
        let (wa, wb) = (weight(i - 1, &a), weight(i, &b));
        if wa + wb <= R::zero() {
            continue;
        }
        let Some(hit) = deepest(solid, a.x, b.x, a.distance, b.distance) else {
            continue;
        };
        let (at_a, at_b) = (R::one() - hit.share, hit.share);
        let weights = at_a * at_a * wa + at_b * at_b * wb;
        if weights <= R::zero() {
            continue;
        }
        let carried = |v: &ContactVertex<R>| v.x - solid.at.carry.point(v.start);
        let out = hit.normal * hit.depth;
        let relative = carried(&a) * at_a + carried(&b) * at_b + out;
        let shift = (out - rubbed(relative, hit.normal, hit.depth * solid.at.friction)) / weights;
        // A contact close to an end that cannot move would throw the other end far away.
        let most = (b.x - a.x).norm() * R::from_double(0.5);
        move_by(strand[i - 1].touch_mut(), shift * (at_a * wa), most);
        move_by(strand[i].touch_mut(), shift * (at_b * wb), most);
        let point = a.x * at_a + b.x * at_b;
        strand[i].touch_mut().segment = SegmentContact {
            normal: hit.normal,
            carried: point - solid.at.carry.inverse_point(point),
            share: hit.share,
        };
    }
}

fn move_by<R: Real>(v: &mut ContactVertex<R>, shift: Vec3<R>, most: R) {
    let length = shift.norm();
    let shift = if length > most {
        shift * (most / length)
    } else {
        shift
    };
    v.x += shift;
    v.distance -= length.min(most);
}

/// A place of a segment that is too deep.
struct Hit<R: Real> {
    share: R,
    normal: Vec3<R>,
    depth: R,
}

/// That, and the solid.
type HitOn<'a, R> = (Hit<R>, Placed<'a, R>);

/// The deepest sample between two vertices with these (least) distances. Walks by what the distance allows, but no
/// less than the spacing of samples.
fn deepest<R: Real>(
    solid: &Placed<'_, R>,
    a: Vec3<R>,
    b: Vec3<R>,
    at_a: R,
    at_b: R,
) -> Option<Hit<R>> {
    let length = (b - a).norm();
    if at_a + at_b - length >= solid.at.margin + solid.at.margin || length <= R::zero() {
        return None;
    }
    // Where the root's side is too deep already, the segment leads out in a straight line.
    let lack = (solid.at.margin - at_a).max(R::zero());
    let (mut share, mut worst) = (R::zero(), solid.at.tolerance);
    let mut found = None;
    let mut walked = R::zero();
    let mut distance = at_a;
    let least = solid.at.spacing.max(length / R::from_double(SAMPLES));
    loop {
        walked += (distance - solid.at.margin).max(least);
        if walked >= length {
            break;
        }
        let s = walked / length;
        distance = solid.distance(a + (b - a) * s);
        let depth = solid.at.margin - lack * (R::one() - s) - distance;
        if depth > worst {
            worst = depth;
            share = s;
            found = Some(());
        }
    }
    found?;
    let along = unit_or(b - a, Vec3::y());
    let (_, normal) = solid.surface(a + (b - a) * share, across(along));
    Some(Hit {
        share,
        normal,
        depth: worst,
    })
}

/// Makes every segment as long as it should be, from the root to the tip, and turns those that are in a solid about
/// their root's side until they are out. Whatever remains is the solids'; lengths are exact.
pub(crate) fn settle_lengths<R: Real, T: Touching<R>>(
    solids: &Solids<'_, R>,
    strand: &mut [T],
    exempt: usize,
) {
    let mut direction = Vec3::y();
    // One bound for all solids: how far the nearest surface is beyond its margin.
    let mut clearance = -R::one();
    let mut at_pivot = Measured::new();
    for i in 1..strand.len() {
        let pivot = strand[i - 1].touch().x;
        let v = strand[i].touch_mut();
        direction = unit_or(v.x - pivot, direction);
        if v.inverse_mass <= R::zero() {
            clearance = -R::one();
            at_pivot = Measured::new();
            continue;
        }
        clearance -= v.length;
        if clearance < R::zero() && i >= exempt && !solids.is_empty() {
            clearance = turn_out(solids, v, pivot, &mut direction, &mut at_pivot);
        } else {
            at_pivot = Measured::new();
        }
        v.x = pivot + direction * v.length;
    }
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
    fn get_or(&mut self, contact: usize, measure: impl FnOnce() -> R) -> R {
        if let Some(Some(known)) = self.0.get(contact) {
            return *known;
        }
        let distance = measure();
        self.note(contact, distance);
        distance
    }
}

/// Turns one segment; returns by how much its end is free, and what is known about it in place of the pivot.
fn turn_out<R: Real>(
    solids: &Solids<'_, R>,
    v: &mut ContactVertex<R>,
    pivot: Vec3<R>,
    direction: &mut Vec3<R>,
    at_pivot: &mut Measured<R>,
) -> R {
    let mut free = R::zero();
    let mut at_end = Measured::new();
    for _ in 0..ROTATIONS {
        let (worst, clearance) = worst_of(solids, v, pivot, *direction, [at_pivot, &mut at_end]);
        free = clearance;
        let Some((hit, solid)) = worst else { break };
        let sideways = hit.normal - *direction * direction.dot(&hit.normal);
        let slope = sideways.norm();
        let arm = hit.share * v.length;
        let (toward, angle) = if slope < R::from_double(0.05) {
            (across(*direction), R::from_double(0.3))
        } else {
            let angle = hit.depth / (arm * slope).max(R::from_double(1e-9));
            (sideways / slope, angle.min(R::from_double(0.6)))
        };
        *direction = *direction * angle.cos() + toward * angle.sin();
        let carried = |x: Vec3<R>| x - solid.at.carry.inverse_point(x);
        if hit.share >= R::one() {
            v.normal = hit.normal;
            v.carried = carried(pivot + *direction * v.length);
        } else if v.segment.normal == Vec3::zeros() {
            v.segment = SegmentContact {
                normal: hit.normal,
                carried: carried(pivot + *direction * arm),
                share: hit.share,
            };
        }
        at_end = Measured::new();
    }
    *direction = unit_or(*direction, Vec3::y());
    *at_pivot = at_end;
    free
}

/// The deepest contact of a segment with any solid, and the least distance of its end beyond the margins.
fn worst_of<'s, R: Real>(
    solids: &Solids<'s, R>,
    v: &ContactVertex<R>,
    pivot: Vec3<R>,
    direction: Vec3<R>,
    [at_pivot, at_end]: [&mut Measured<R>; 2],
) -> (Option<HitOn<'s, R>>, R) {
    let end = pivot + direction * v.length;
    let mut worst: Option<HitOn<'_, R>> = None;
    let mut clearance = R::from_double(1e9);
    for (contact, solid) in solids.indexed() {
        let distance = solid.distance(end);
        at_end.note(contact, distance);
        let gap = distance - solid.at.margin;
        clearance = clearance.min(gap);
        if gap >= v.length {
            continue;
        }
        let hit = if gap < -solid.at.tolerance {
            let (_, normal) = solid.surface(end, across(direction));
            Some(Hit {
                share: R::one(),
                normal,
                depth: -gap,
            })
        } else if solid.at.spacing < v.length {
            let from = at_pivot.get_or(contact, || solid.distance(pivot));
            deepest(&solid, pivot, end, from, distance)
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

/// Any unit vector across a unit vector.
fn across<R: Real>(v: Vec3<R>) -> Vec3<R> {
    let other = if v.x.abs() < R::from_double(0.7) {
        Vec3::x()
    } else {
        Vec3::y()
    };
    unit_or(v.cross(&other), Vec3::z())
}
