//! Strands that something else moves are led around solids: from root to tip, each segment towards where its end should be, and turned out
//! of what it then is in. Lengths stay, and what a turn moves dies away along the strand. What should be deep in a solid, or on both
//! sides of it, comes out on one side.

use super::look::UNKNOWN;
use super::math::{Turn, V};
use super::number::Number;
use super::strand::Step;
use super::vertex::Vertex;

/// Points of a segment that are looked at, at most.
const LOOKS: usize = 24;
/// How often a segment is turned.
const TURNS: usize = 8;
/// A segment that points straight at a surface (this sine and less) is turned aside any way.
const HEAD_ON: f64 = 0.05;
/// Depth that counts as none, metres.
const NONE: f64 = 1e-5;
/// Places closer than this are the same.
const SAME: f64 = 1e-7;

/// Surfaces that segments are in.
#[derive(Clone, Copy)]
struct Hit<N> {
    normal: V<N>,
    depth: N,
    /// From the beginning of the segment to the point that is so deep, metres.
    lever: N,
}

impl<N: Number> Step<'_, '_, N> {
    /// Leads the strands in `leads`.
    #[inline(never)]
    pub(super) fn lead(&self, vertices: &mut [Vertex<N::Stored>], leads: N::Mask) {
        N::apart(
            self.token,
            #[inline(always)]
            || {
                let mut pivot = V::zero(self.scale);
                for v in vertices {
                    pivot = self.lead_segment(v, pivot, leads);
                }
            },
        );
    }

    /// Turns the segments that begin at `pivot`; returns where they end.
    #[inline(always)]
    fn lead_segment(&self, v: &mut Vertex<N::Stored>, pivot: V<N>, leads: N::Mask) -> V<N> {
        let token = self.token;
        let length = N::load(token, &v.length) * self.scale;
        let x = V::load(token, &v.x);
        let moves = N::load(token, &v.free).is_on() & leads;
        let turned = moves & length.is_on();
        let turn = Turn::load(token, &v.turn);
        let was = turn.along();
        let to = self.held(v) - pivot;
        let size = to.norm();
        let is_somewhere = length.k(1e-12).lt(size);
        let mut along = V::pick(is_somewhere, to * (length.k(1.0) / size), was);
        // The surface that a blocked way met.
        let normal = V::<N>::load(token, &v.contact.normal);
        let gap = normal.dot(pivot + along * length) + N::load(token, &v.contact.offset);
        let hit = Hit {
            normal,
            depth: -gap,
            lever: length,
        };
        let is_in = length.k(NONE).lt(hit.depth) & N::load(token, &v.contact.on).is_on();
        along = V::pick(is_in, hit.turned_out(along), along);
        let way = N::load(token, &v.way) * self.scale - length;
        let mut active = turned;
        for _ in 0..TURNS {
            let hit = self.deepest((pivot, along), (way, length), active);
            active = active & hit.depth.is_on();
            if !N::any(active) {
                break;
            }
            along = V::pick(active, hit.turned_out(along), along);
        }
        let end = pivot + along * length;
        // What nothing turned keeps its bits.
        let turned = turned & length.k(SAME).lt((end - x).norm());
        let next = Turn::arc(was, along).times(turn);
        Turn::pick(turned, next, turn).store(&mut v.turn);
        let end = V::pick(turned, end, x);
        // Without a length.
        let end = V::pick(moves & !length.is_on(), pivot, end);
        end.store(&mut v.x);
        let room = N::load(token, &v.room);
        N::pick(turned, room.k(UNKNOWN), room).store(&mut v.room);
        end
    }

    /// Where vertices should be, less for what friction takes back of their way along the surface: up to its coefficient times the depth.
    #[inline(always)]
    fn held(&self, v: &Vertex<N::Stored>) -> V<N> {
        let token = self.token;
        let goal = V::<N>::load(token, &v.goal);
        let most = -(N::load(token, &v.contact.gap) * N::load(token, &v.contact.friction));
        let slide = goal - V::load(token, &v.anchor);
        let slide = slide.across(V::load(token, &v.contact.normal));
        let size = slide.norm();
        let holds = N::load(token, &v.contact.on).is_on() & most.is_on() & size.is_on();
        V::pick(holds, goal - slide * (most / size).min(most.k(1.0)), goal)
    }

    /// The deepest of some points of segments that begin `way` behind the last pin. Depth 0 for those that are in nothing.
    #[inline(always)]
    fn deepest(
        &self,
        (from, along): (V<N>, V<N>),
        (way, length): (N, N),
        wanted: N::Mask,
    ) -> Hit<N> {
        let zero = way.k(0.0);
        let mut out = Hit {
            normal: V::zero(way),
            depth: zero,
            lever: zero,
        };
        // From the end, with steps that the distance allows, or half of the smallest detail.
        let details = self.solids.iter().map(|s| s.detail);
        let least = way.k(0.5 * details.fold(f64::INFINITY, f64::min));
        let (mut lever, mut wanted) = (length, wanted);
        for _ in 0..LOOKS {
            if !N::any(wanted) {
                break;
            }
            let found = self.nearest(from + along * lever, way + lever, wanted);
            let deeper = out.depth.max(way.k(NONE)).lt(-found.gap) & wanted;
            out = Hit {
                normal: V::pick(deeper, found.normal, out.normal),
                depth: N::pick(deeper, -found.gap, out.depth),
                lever: N::pick(deeper, lever, out.lever),
            };
            lever = lever - found.gap.max(least);
            wanted = wanted & (length * way.k(0.1)).lt(lever);
        }
        out
    }
}

impl<N: Number> Hit<N> {
    /// A direction turned until it is out of the surface, taken for flat; as far as that goes.
    #[inline(always)]
    fn turned_out(&self, along: V<N>) -> V<N> {
        let one = self.depth.k(1.0);
        let sine = along.dot(self.normal);
        let level = along - self.normal * sine;
        let size = level.norm();
        let is_head_on = size.lt(one.k(HEAD_ON));
        let aside = V::pick(is_head_on, across(self.normal), level * (one / size));
        let rise = (sine + self.depth / self.lever).max(-one).min(one);
        let flat = (one - rise * rise).max(one.k(0.0)).sqrt();
        self.normal * rise + aside * flat
    }
}

/// Any unit vector across a unit vector.
#[inline(always)]
fn across<N: Number>(v: V<N>) -> V<N> {
    let (zero, one) = (v.x.k(0.0), v.x.k(1.0));
    let is_along_x = v.x.k(0.49).lt(v.x * v.x);
    let other = V::new(
        N::pick(is_along_x, zero, one),
        N::pick(is_along_x, one, zero),
        zero,
    );
    let out = v.cross(other);
    out * (one / out.norm())
}
