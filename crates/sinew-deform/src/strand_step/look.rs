//! Where solids are near strands.
//!
//! A vertex keeps a bound of how far every solid is. Solids are looked up where that bound, less the way since, no longer says that nothing
//! is near: once a vertex and iteration. A vertex whose way may lead through something walks it with steps as long as the distance allows,
//! and takes the surface where it meets one.
//!
//! Between two vertices a segment may dip into a solid though its ends are outside. The slopes of the distance at both ends say where: in
//! the middle of a smooth surface, or on a ridge. There one more point is looked up, and once more between it and one end. Its contact fades
//! out near the ends and where it is hardly deeper than they are: there the vertices do.

use super::contact::LEAST_LAYER;
use super::math::{Motion, V};
use super::number::{Lanes, Number};
use super::solid::Solid;
use super::strand::Step;
use super::vertex::{Contact, Vertex};
use crate::collide::Distance;

/// Segments of strand behind the last pin over which margins grow: as the height of a slope of 14 degrees.
const SLOPE: f64 = 0.25;
/// Looks at a segment.
const SEGMENT_LOOKS: usize = 2;
/// Steps along a way at most.
const WALKED: usize = 64;
/// Distance that counts as unknown.
pub(crate) const UNKNOWN: f64 = -1e9;

/// The surface nearest to a point of one strand.
#[derive(Clone, Copy)]
pub(super) struct Nearest {
    pub(super) gap: f64,
    pub(super) normal: [f64; 3],
    pub(super) solid: usize,
}

impl<N: Number> Step<'_, '_, N> {
    /// Looks at all vertices, then at segments. In the first iteration vertices come from where the step found them.
    #[inline(never)]
    pub(super) fn look(&self, vertices: &mut [Vertex<N::Stored>], is_first: bool) {
        N::apart(
            self.token,
            #[inline(always)]
            || self.look_here(vertices, is_first),
        );
    }

    #[inline(always)]
    fn look_here(&self, vertices: &mut [Vertex<N::Stored>], is_first: bool) {
        for i in 0..vertices.len() {
            let next = vertices.get(i + 1).map(|v| v.length);
            self.look_at_vertex(&mut vertices[i], next, is_first);
        }
        if self.laws.segments {
            for i in 1..vertices.len() {
                let (before, after) = vertices.split_at_mut(i);
                self.look_at_segment(&before[i - 1], &mut after[0]);
            }
        }
    }

    #[inline(always)]
    fn look_at_vertex(&self, v: &mut Vertex<N::Stored>, next: Option<N::Stored>, is_first: bool) {
        let token = self.token;
        let x = V::<N>::load(token, &v.x);
        let (zero, free) = (N::splat(token, 0.0), N::load(token, &v.free));
        let mut length = N::load(token, &v.length);
        if let Some(next) = next {
            length = length.max(N::load(token, &next));
        }
        let reach = length * self.scale * zero.k(2.0);
        let room = N::load(token, &v.room);
        let way = N::load(token, &v.way) * self.scale;
        let mut nearest = zero.k(f64::from(f32::MAX));
        let mut normal = V::zero(zero);
        let (mut gap, mut solid_of) = (zero.k(1e6), zero.k(-1.0));
        let (mut looked, mut friction, mut layer) = (zero, zero, zero.k(LEAST_LAYER));
        for (number, solid) in self.solids.iter().enumerate() {
            let keeps = N::load(token, &solid.keeps);
            let margin = self.margin(solid, way);
            let (mut from, mut bound) = (x, keeps);
            if solid.is_near {
                if is_first {
                    from = Motion::<N>::load(token, &solid.carry).point(V::load(token, &v.before));
                }
                bound = bound.max(room - (x - from).norm());
            }
            let is_near = bound.lt(margin + reach) & free.is_on() & keeps.lt(zero);
            if !N::any(is_near) {
                nearest = nearest.min(bound);
                gap = gap.min(bound - margin);
                continue;
            }
            let (distance, n, point) = self.sample(solid, (x, from), room, is_near);
            // As the plane at the surface that a blocked way met says.
            let here = distance + n.dot(x - point);
            let least = distance - (x - point).norm();
            nearest = nearest.min(N::pick(is_near, least, bound));
            let above = N::pick(is_near, here, bound) - margin;
            let better = above.lt(gap) & is_near;
            gap = gap.min(above);
            normal = V::pick(better, n, normal);
            solid_of = N::pick(better, zero.k(number as f64), solid_of);
            looked = N::pick(better, zero.k(1.0), looked);
            friction = N::pick(better, zero.k(solid.friction), friction);
            layer = N::pick(better, zero.k(solid.layer()), layer);
        }
        nearest.store(&mut v.room);
        normal.store(&mut v.contact.normal);
        (gap - normal.dot(x)).store(&mut v.contact.offset);
        looked.store(&mut v.contact.on);
        layer.store(&mut v.contact.layer);
        friction.store(&mut v.contact.friction);
        solid_of.store(&mut v.contact.solid);
        gap.store(&mut v.contact.gap);
        // The surface at a pin is where it is.
        let pinned = !free.is_on();
        N::pick(pinned, zero, gap).store(&mut v.contact.gap);
    }

    /// Distance that a vertex keeps which is that far behind the last pin.
    #[inline(always)]
    fn margin(&self, solid: &Solid<'_, N::Stored>, way: N) -> N {
        let grown = N::load(self.token, &solid.base) + way * way.k(SLOPE);
        grown.min(way.k(solid.layer()))
    }

    /// Distance and normal at `x`, or where the way from `from` there is blocked, and that point.
    #[inline(always)]
    fn sample(
        &self,
        solid: &Solid<'_, N::Stored>,
        (x, from): (V<N>, V<N>),
        room: N,
        wanted: N::Mask,
    ) -> (N, V<N>, V<N>) {
        let token = self.token;
        let inward = Motion::<N>::load(token, &solid.inward);
        let (mut to, mut start) = (Default::default(), Default::default());
        inward.point(x).store(&mut to);
        inward.point(from).store(&mut start);
        let mut rooms = N::Stored::default();
        room.store(&mut rooms);
        let mut distances = N::Stored::default();
        let mut gradients = [N::Stored::default(); 3];
        let mut shares = N::Stored::default();
        let bits = N::bits(wanted);
        for lane in (0..N::Stored::LANES).filter(|lane| (bits >> lane) & 1 != 0) {
            let way = Way {
                solid,
                from: lane_of(&start, lane),
                to: lane_of(&to, lane),
                room: rooms.get(lane),
                first: self.laws.first,
            };
            let found = way.look();
            distances.set(lane, found.0);
            for (to, from) in gradients.iter_mut().zip(found.1) {
                to.set(lane, from);
            }
            shares.set(lane, found.2);
        }
        let gradient = inward.back(V::load(token, &gradients));
        let squared = gradient.squared();
        let factor = squared.k(1.0) / squared.max(squared.k(1e-20)).sqrt();
        let point = from + (x - from) * N::load(token, &shares);
        (N::load(token, &distances), gradient * factor, point)
    }

    #[inline(always)]
    fn look_at_segment(&self, before: &Vertex<N::Stored>, v: &mut Vertex<N::Stored>) {
        let token = self.token;
        let length = N::load(token, &v.length) * self.scale;
        let [(a, gap_a, slope_a), (b, gap_b, slope_b)] = self.ends(before, v, length);
        let zero = length.k(0.0);
        zero.store(&mut v.segment.on);
        let both = N::load(token, &v.free) * N::load(token, &before.free);
        let is_near = (gap_a + gap_b).lt(length) & both.is_on();
        // It dips only where it goes down from both ends.
        let dips = slope_a.lt(zero) & zero.lt(slope_b) & is_near;
        let bits = N::bits(dips);
        if bits == 0 {
            return;
        }
        let mut stored = SegmentEnds::<N::Stored>::default();
        a.store(&mut stored.a);
        b.store(&mut stored.b);
        gap_a.store(&mut stored.gaps[0]);
        gap_b.store(&mut stored.gaps[1]);
        slope_a.store(&mut stored.slopes[0]);
        slope_b.store(&mut stored.slopes[1]);
        length.store(&mut stored.length);
        (N::load(token, &before.way) * self.scale).store(&mut stored.way);
        for lane in (0..N::Stored::LANES).filter(|lane| (bits >> lane) & 1 != 0) {
            self.look_between(&stored, &mut v.segment, lane);
        }
    }

    /// Place of both ends, how far off each is, and how fast that grows towards the second one.
    #[inline(always)]
    fn ends(
        &self,
        before: &Vertex<N::Stored>,
        v: &Vertex<N::Stored>,
        length: N,
    ) -> [(V<N>, N, N); 2] {
        let token = self.token;
        let (a, b) = (V::<N>::load(token, &before.x), V::<N>::load(token, &v.x));
        let along = b - a;
        let slope = [
            V::load(token, &before.contact.normal).dot(along),
            V::load(token, &v.contact.normal).dot(along),
        ];
        let on = [
            N::load(token, &before.contact.on).is_on(),
            N::load(token, &v.contact.on).is_on(),
        ];
        [
            (
                a,
                N::load(token, &before.contact.gap),
                N::pick(on[0], slope[0], -length),
            ),
            (
                b,
                N::load(token, &v.contact.gap),
                N::pick(on[1], slope[1], length),
            ),
        ]
    }

    /// Looks for the deepest point of one segment.
    fn look_between(
        &self,
        ends: &SegmentEnds<N::Stored>,
        out: &mut Contact<N::Stored>,
        lane: usize,
    ) {
        let (a, b) = (lane_of(&ends.a, lane), lane_of(&ends.b, lane));
        let [mut gap_a, mut gap_b] = ends.gaps.map(|g| g.get(lane));
        let [mut slope_a, mut slope_b] = ends.slopes.map(|s| s.get(lane));
        let length = ends.length.get(lane);
        let shallower = gap_a.min(gap_b);
        let (mut low, mut high) = (0.0, 1.0);
        let mut deepest: Option<(f64, Nearest)> = None;
        for _ in 0..SEGMENT_LOOKS {
            if slope_a >= 0.0 || slope_b <= 0.0 {
                break;
            }
            let span = high - low;
            // Where the tangents of both ends meet, and how deep that is.
            let meet = (gap_b - gap_a - slope_b * high + slope_a * low) / (slope_a - slope_b);
            if gap_a + slope_a * (meet - low) > 0.0 {
                break;
            }
            let is_ridge = slope_a < -0.5 * length && slope_b > 0.5 * length;
            let level = low + span * slope_a / (slope_a - slope_b);
            let share = if is_ridge { meet } else { level };
            let share = share.clamp(low + 0.02 * span, high - 0.02 * span);
            let point = mixed(a, b, share);
            let way = ends.way.get(lane) + share * length;
            let found = self.nearest(point, way, lane);
            if deepest.is_none_or(|(_, d)| found.gap < d.gap) {
                deepest = Some((share, found));
            }
            let slope: f64 = (0..3).map(|k| found.normal[k] * (b[k] - a[k])).sum();
            if slope > 0.0 {
                (high, gap_b, slope_b) = (share, found.gap, slope);
            } else {
                (low, gap_a, slope_a) = (share, found.gap, slope);
            }
        }
        if let Some((share, found)) = deepest {
            self.keep_segment(out, lane, share, (found, shallower), mixed(a, b, share));
        }
    }

    fn keep_segment(
        &self,
        out: &mut Contact<N::Stored>,
        lane: usize,
        share: f64,
        (found, shallower): (Nearest, f64),
        point: [f64; 3],
    ) {
        let Some(solid) = self.solids.get(found.solid) else {
            return;
        };
        let layer = solid.layer();
        let between = (8.0 * share).min(8.0 * (1.0 - share)).min(1.0);
        let deeper = ((shallower - found.gap) * 5.0 / layer).clamp(0.0, 1.0);
        let height: f64 = (0..3).map(|k| found.normal[k] * point[k]).sum();
        for k in 0..3 {
            out.normal[k].set(lane, found.normal[k]);
        }
        out.offset.set(lane, found.gap - height);
        out.on.set(lane, between * deeper);
        out.share.set(lane, share);
        out.layer.set(lane, layer);
        out.friction.set(lane, solid.friction);
    }

    /// The surface nearest to a point of one strand.
    pub(super) fn nearest(&self, point: [f64; 3], way: f64, lane: usize) -> Nearest {
        let mut best = Nearest {
            gap: f64::MAX,
            normal: [0.0; 3],
            solid: 0,
        };
        for (number, solid) in self.solids.iter().enumerate() {
            let rows: [[f64; 3]; 4] = [0, 1, 2, 3].map(|r| lane_of(&solid.inward[r], lane));
            let local: [f64; 3] = [0, 1, 2].map(|r: usize| {
                rows[r][0] * point[0] + rows[r][1] * point[1] + rows[r][2] * point[2] + rows[3][r]
            });
            let (distance, gradient) = at(solid.shape, local);
            let margin = (solid.base.get(lane) + SLOPE * way).min(solid.layer());
            if distance - margin < best.gap {
                let size: f64 = gradient
                    .iter()
                    .map(|g| g * g)
                    .sum::<f64>()
                    .max(1e-20)
                    .sqrt();
                best = Nearest {
                    gap: distance - margin,
                    normal: [0, 1, 2].map(|c: usize| {
                        (0..3).map(|r| rows[r][c] * gradient[r]).sum::<f64>() / size
                    }),
                    solid: number,
                };
            }
        }
        best
    }
}

/// A segment of each strand.
#[derive(Default)]
struct SegmentEnds<L> {
    a: [L; 3],
    b: [L; 3],
    gaps: [L; 2],
    slopes: [L; 2],
    length: L,
    way: L,
}

pub(super) fn lane_of<L: Lanes>(v: &[L; 3], lane: usize) -> [f64; 3] {
    [0, 1, 2].map(|k: usize| v[k].get(lane))
}

fn mixed(a: [f64; 3], b: [f64; 3], share: f64) -> [f64; 3] {
    [0, 1, 2].map(|k: usize| a[k] + (b[k] - a[k]) * share)
}

fn at(shape: &dyn Distance, point: [f64; 3]) -> (f64, [f64; 3]) {
    let (distance, gradient) = shape.distance_and_gradient(point.map(|c| c as f32));
    (f64::from(distance), gradient.map(f64::from))
}

/// The way of a point in the solid's own places.
struct Way<'a, L> {
    solid: &'a Solid<'a, L>,
    from: [f64; 3],
    /// Where it is after the fraction `first` of the step.
    to: [f64; 3],
    first: f64,
    /// At its beginning no solid is nearer than this, if that is known.
    room: f64,
}

impl<L> Way<'_, L> {
    /// After that fraction of the step.
    fn at(&self, share: f64) -> [f64; 3] {
        mixed(self.from, self.to, share / self.first)
    }

    fn distance(&self, share: f64) -> f64 {
        f64::from(self.solid.shape.distance(self.at(share).map(|c| c as f32)))
    }

    /// Distance and gradient at `to`, and 1; or, if the way of a whole step that begins like that is blocked, where it is, and the
    /// fraction of the way to `to` there.
    fn look(&self) -> (f64, [f64; 3], f64) {
        let share = self.free();
        let (distance, gradient) = at(self.solid.shape, self.at(share));
        (distance, gradient, share / self.first)
    }

    /// The fraction of the step at which to look.
    fn free(&self) -> f64 {
        let away = (0..3).map(|k| (self.to[k] - self.from[k]).powi(2));
        let moved = away.sum::<f64>().sqrt() / self.first;
        if moved == 0.0 || self.room > moved {
            return self.first;
        }
        let detail = self.solid.detail;
        let least = 0.5 * detail.min(moved);
        let is_known = self.room > UNKNOWN;
        if is_known && self.room <= 0.0 {
            return self.first;
        }
        let end = self.distance(1.0);
        let room = if is_known {
            self.room
        } else {
            self.distance(0.0)
        };
        let is_open = room + end >= moved && end >= -detail;
        if is_open || room <= 0.0 {
            return self.first;
        }
        let (mut share, mut free, mut step) = (0.0, 0.0, room.max(least));
        for _ in 0..WALKED {
            share += step / moved;
            if share >= 1.0 {
                break;
            }
            let distance = self.distance(share);
            if distance < 0.0 {
                return free;
            }
            free = share;
            step = distance.max(least);
        }
        if end >= 0.0 { self.first } else { free }
    }
}
