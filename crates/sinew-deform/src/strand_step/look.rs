//! Where solids are near strands.
//!
//! A vertex keeps a bound of how far every solid is. Solids are looked up where that bound, less the way since, no longer says that nothing
//! is near: once a vertex and iteration. A vertex whose way may lead through something walks it with steps as long as the distance allows,
//! and takes the surface where it meets one.
//!
//! Between two vertices a segment may dip into a solid though its ends are outside. The slopes of the distance at both ends say where: in
//! the middle of a smooth surface, or on a ridge. There one more point is looked up, and once more between it and one end. Its contact fades
//! out near the ends and where it is hardly deeper than they are: there the vertices do.
//!
//! In a cavity of a cell or two, and where a strand is folded between walls, the surface at the next look is another one. Each step then
//! pushes hair away from a wall that is not there any more, and it whirls. A vertex that meets another surface look after look is held back, as by
//! a viscous fluid, more and more, until it stays: `doubt`.

use super::contact::LEAST_LAYER;
use super::math::{Motion, V};
use super::number::{Lanes, Number};
use super::solid::Solid;
use super::strand::Step;
use super::vertex::{Contact, Vertex};

/// Segments of strand behind the last pin over which margins grow: as the height of a slope of 14 degrees.
const SLOPE: f64 = 0.25;
/// Looks at a segment.
const SEGMENT_LOOKS: usize = 2;
/// Steps along a way at most.
const WALKED: usize = 64;
/// Cosine of the angle between normals that are of one surface.
const AGREES: f64 = 0.9;
/// How much a vertex is held back for a surface that is another one, and by how much more for the next, and the next; and how that fades from
/// look to look.
const LEAST_DOUBT: f64 = 0.02;
const DOUBTS_MORE: f64 = 3.0;
const MOST_DOUBT: f64 = 1e4;
const DOUBTS_LESS: f64 = 0.97;
/// Distance that counts as unknown.
pub(crate) const UNKNOWN: f64 = -1e9;

/// The surface nearest to a point of each strand.
#[derive(Clone, Copy)]
pub(super) struct Nearest<N> {
    pub(super) gap: N,
    pub(super) normal: V<N>,
    layer: N,
    friction: N,
}

/// One end of a segment, or of a part of it.
#[derive(Clone, Copy)]
struct End<N> {
    /// Fraction of the segment.
    share: N,
    gap: N,
    /// How fast the gap grows along the segment.
    slope: N,
}

impl<N: Number> End<N> {
    #[inline(always)]
    fn pick(mask: N::Mask, a: Self, b: Self) -> Self {
        Self {
            share: N::pick(mask, a.share, b.share),
            gap: N::pick(mask, a.gap, b.gap),
            slope: N::pick(mask, a.slope, b.slope),
        }
    }
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
        for v in vertices {
            self.hold_back(v);
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
        let is_another = self.is_another(&mut v.seen, &v.contact);
        N::pick(is_another, zero.k(1.0), zero).store(&mut v.is_another);
    }

    /// Whether a surface faces another way than the last one that was there; `seen` has the normal of that.
    #[inline(always)]
    fn is_another(&self, seen: &mut [N::Stored; 3], now: &Contact<N::Stored>) -> N::Mask {
        let (before, normal) = (
            V::<N>::load(self.token, seen),
            V::load(self.token, &now.normal),
        );
        let is_there = N::load(self.token, &now.on).is_on();
        V::pick(is_there, normal, before).store(seen);
        let agrees = normal.dot(before);
        agrees.lt(agrees.k(AGREES)) & is_there & before.squared().is_on()
    }

    /// Where planes do not hold until the next look, step after step, vertices are held back: else they are thrown from wall to wall.
    #[inline(always)]
    fn hold_back(&self, v: &mut Vertex<N::Stored>) {
        let doubt = N::load(self.token, &v.doubt);
        let more = (doubt * doubt.k(DOUBTS_MORE)).max(doubt.k(LEAST_DOUBT));
        let more = more.min(doubt.k(MOST_DOUBT));
        let is_another = N::load(self.token, &v.is_another).is_on();
        N::pick(is_another, more, doubt * doubt.k(DOUBTS_LESS)).store(&mut v.doubt);
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
        let found = self.look_up(solid, x, wanted);
        let first = room.k(self.laws.first);
        let way = (x - from) * room.k(1.0 / self.laws.first);
        let moved = way.norm();
        // Nothing is in the ball around `x` that holds the way of the whole step.
        let farthest = self.laws.first.max(1.0 - self.laws.first);
        let is_open = !found.0.lt(moved * room.k(farthest)) | moved.lt(room);
        let may_meet = wanted & moved.is_on() & !is_open;
        if !N::any(may_meet) {
            return (found.0, found.1, x);
        }
        let share = self.free_share(solid, (from, way), may_meet);
        let is_blocked = share.lt(first) & may_meet;
        if !N::any(is_blocked) {
            return (found.0, found.1, x);
        }
        let point = V::pick(is_blocked, from + way * share, x);
        let met = self.look_up(solid, point, is_blocked);
        (
            N::pick(is_blocked, met.0, found.0),
            V::pick(is_blocked, met.1, found.1),
            point,
        )
    }

    /// Distance and unit normal.
    #[inline(never)]
    fn look_up(&self, solid: &Solid<'_, N::Stored>, x: V<N>, wanted: N::Mask) -> (N, V<N>) {
        N::apart(
            self.token,
            #[inline(always)]
            || {
                let inward = Motion::<N>::load(self.token, &solid.inward);
                let mut points = Default::default();
                inward.point(x).store(&mut points);
                let found = Lanes::look_up(solid.shape, &points, N::bits(wanted));
                let gradient = inward.back(V::load(self.token, &found.1));
                let squared = gradient.squared();
                let factor = squared.k(1.0) / squared.max(squared.k(1e-20)).sqrt();
                (N::load(self.token, &found.0), gradient * factor)
            },
        )
    }

    /// The fraction of the step at which to look: that of the first look, or less where the way of a whole step is blocked.
    #[inline(never)]
    fn free_share(
        &self,
        solid: &Solid<'_, N::Stored>,
        (from, way): (V<N>, V<N>),
        may_meet: N::Mask,
    ) -> N {
        N::apart(
            self.token,
            #[inline(always)]
            || {
                let moved = way.norm();
                let (zero, one) = (moved.k(0.0), moved.k(1.0));
                let end = self.look_up(solid, from + way, may_meet).0;
                let begin = self.look_up(solid, from, may_meet).0;
                let is_open = !(begin + end).lt(moved) & !end.lt(zero.k(-solid.detail));
                let mut walking = may_meet & begin.is_on() & !is_open;
                let goes_through = walking & end.lt(zero);
                let mut met = !walking & walking;
                let least = moved.min(zero.k(solid.detail)) * zero.k(0.5);
                let (mut share, mut free, mut step) = (zero, zero, begin.max(least));
                for _ in 0..WALKED {
                    share = share + step / moved;
                    walking = walking & share.lt(one);
                    if !N::any(walking) {
                        break;
                    }
                    let distance = self.look_up(solid, from + way * share, walking).0;
                    let meets = walking & distance.lt(zero);
                    (met, walking) = (met | meets, walking & !meets);
                    free = N::pick(walking, share, free);
                    step = distance.max(least);
                }
                N::pick(met | goes_through, free, zero.k(self.laws.first))
            },
        )
    }

    #[inline(always)]
    fn look_at_segment(&self, before: &Vertex<N::Stored>, v: &mut Vertex<N::Stored>) {
        let token = self.token;
        let length = N::load(token, &v.length) * self.scale;
        let (a, b) = (V::<N>::load(token, &before.x), V::<N>::load(token, &v.x));
        let (zero, one, along) = (length.k(0.0), length.k(1.0), b - a);
        zero.store(&mut v.segment.on);
        let ends = [
            self.end(&before.contact, along, (zero, -length)),
            self.end(&v.contact, along, (one, length)),
        ];
        let both = N::load(token, &v.free) * N::load(token, &before.free);
        // It dips only where it goes down from both ends.
        let is_near = (ends[0].gap + ends[1].gap).lt(length) & both.is_on();
        let dips = ends[0].slope.lt(zero) & zero.lt(ends[1].slope) & is_near;
        if N::any(dips) {
            let way = N::load(token, &before.way) * self.scale;
            self.look_between((a, along), (way, length), ends, dips, &mut v.segment);
        }
        let is_another = N::load(token, &v.is_another);
        let is_another = N::pick(
            self.is_another(&mut v.segment_seen, &v.segment),
            one,
            is_another,
        );
        is_another.store(&mut v.is_another);
    }

    /// `unknown` is the slope where nothing was looked up.
    #[inline(always)]
    fn end(&self, contact: &Contact<N::Stored>, along: V<N>, (share, unknown): (N, N)) -> End<N> {
        let slope = V::load(self.token, &contact.normal).dot(along);
        let is_known = N::load(self.token, &contact.on).is_on();
        End {
            share,
            gap: N::load(self.token, &contact.gap),
            slope: N::pick(is_known, slope, unknown),
        }
    }

    /// Looks for the deepest point of segments that go `along` from `a`, which is `way` behind the last pin.
    #[inline(never)]
    fn look_between(
        &self,
        (a, along): (V<N>, V<N>),
        (way, length): (N, N),
        [mut low, mut high]: [End<N>; 2],
        dips: N::Mask,
        out: &mut Contact<N::Stored>,
    ) {
        N::apart(
            self.token,
            #[inline(always)]
            || {
                let (zero, shallower) = (way.k(0.0), low.gap.min(high.gap));
                let mut wanted = dips;
                let mut share = zero;
                let mut deepest = Nearest::nothing(way);
                for _ in 0..SEGMENT_LOOKS {
                    wanted = wanted & low.slope.lt(zero) & high.slope.is_on();
                    let span = high.share - low.share;
                    // Where the tangents of both ends meet, and how deep that is.
                    let falls = low.slope - high.slope;
                    let meet = high.gap - low.gap - high.slope * high.share + low.slope * low.share;
                    let meet = meet / falls;
                    let depth = low.gap + low.slope * (meet - low.share);
                    wanted = wanted & !depth.is_on();
                    if !N::any(wanted) {
                        break;
                    }
                    let steep = length * way.k(0.5);
                    let is_ridge = low.slope.lt(-steep) & steep.lt(high.slope);
                    let level = low.share + span * low.slope / falls;
                    let inset = span * way.k(0.02);
                    let at = N::pick(is_ridge, meet, level).max(low.share + inset);
                    let at = at.min(high.share - inset);
                    let found = self.nearest(a + along * at, way + at * length, wanted);
                    let is_deeper = found.gap.lt(deepest.gap) & wanted;
                    deepest = Nearest::pick(is_deeper, found, deepest);
                    share = N::pick(is_deeper, at, share);
                    let end = End {
                        share: at,
                        gap: found.gap,
                        slope: found.normal.dot(along),
                    };
                    let rises = end.slope.is_on();
                    high = End::pick(rises, end, high);
                    low = End::pick(rises, low, end);
                }
                let (eight, one) = (way.k(8.0), way.k(1.0));
                let between = (eight * share).min(eight * (one - share)).min(one);
                let deeper = (shallower - deepest.gap) * way.k(5.0) / deepest.layer;
                let height = deepest.normal.dot(a + along * share);
                deepest.normal.store(&mut out.normal);
                (deepest.gap - height).store(&mut out.offset);
                (between * deeper.max(zero).min(one)).store(&mut out.on);
                share.store(&mut out.share);
                deepest.layer.store(&mut out.layer);
                deepest.friction.store(&mut out.friction);
            },
        );
    }

    /// The surface nearest to points that are `way` behind the last pin.
    #[inline(always)]
    pub(super) fn nearest(&self, point: V<N>, way: N, wanted: N::Mask) -> Nearest<N> {
        let mut best = Nearest::nothing(way);
        for solid in self.solids.iter().filter(|solid| solid.is_near) {
            let (distance, normal) = self.look_up(solid, point, wanted);
            let gap = distance - self.margin(solid, way);
            let found = Nearest {
                gap,
                normal,
                layer: gap.k(solid.layer()),
                friction: gap.k(solid.friction),
            };
            best = Nearest::pick(gap.lt(best.gap), found, best);
        }
        best
    }
}

impl<N: Number> Nearest<N> {
    #[inline(always)]
    fn nothing(like: N) -> Self {
        Self {
            gap: like.k(f64::from(f32::MAX)),
            normal: V::zero(like),
            layer: like.k(LEAST_LAYER),
            friction: like.k(0.0),
        }
    }

    #[inline(always)]
    fn pick(mask: N::Mask, a: Self, b: Self) -> Self {
        Self {
            gap: N::pick(mask, a.gap, b.gap),
            normal: V::pick(mask, a.normal, b.normal),
            layer: N::pick(mask, a.layer, b.layer),
            friction: N::pick(mask, a.friction, b.friction),
        }
    }
}
