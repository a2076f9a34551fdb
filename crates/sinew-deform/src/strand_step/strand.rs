//! The step of a group of strands.

use super::contact::{CONTACT_HZ, DRAGGED, LEAST_HAIR, OVER_BENDS, SLACK, Touch};
use super::joint::Joint;
use super::local::Local;
use super::math::{Motion, Turn, V};
use super::number::Number;
use super::solid::Solid;
use super::solve::{Ahead, Behind, rotated};
use super::vertex::Vertex;
use std::f64::consts::TAU;

/// Lengths of a step to try, each this fraction of the one before.
const SHORTER: f64 = 0.4;
const TRIES: usize = 5;
/// Further iterations for strands with a vertex inside of a solid.
const MORE: usize = 4;

/// Constants of all strands and steps of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Laws {
    /// Time of a step, seconds.
    pub(crate) h: f64,
    /// Drag of the air, 1/s.
    pub(crate) drag: f64,
    /// Dry drag against the motion of the root, m/s^2, and the speed below which it fades, m/s.
    pub(crate) dry: f64,
    pub(crate) dry_speed: f64,
    /// Frequencies of the pull to the rest position and of bends, hertz.
    pub(crate) pull_hz: f64,
    pub(crate) bend_hz: f64,
    pub(crate) iterations: usize,
    /// Whether points between vertices are tested.
    pub(crate) segments: bool,
    /// A strand is first looked at where it would be after this fraction of a step at its speed.
    pub(crate) first: f64,
}

impl Laws {
    /// Of a swing, in one step.
    pub(crate) fn angle_squared(&self, hz: f64) -> f64 {
        (TAU * hz * self.h).powi(2)
    }
}

/// One step of a group of strands. Places are relative to the root at its end, and along its axes.
pub(crate) struct Step<'a, 's, N: Number> {
    pub(crate) token: N::Token,
    pub(crate) laws: &'a Laws,
    /// Size of the skin at the root.
    pub(crate) scale: N,
    /// From where a point was to where it is, for an observer at the root: what the strand does not share of the root's motion.
    pub(crate) back: Motion<N>,
    /// Acceleration of vertices, and of those that the wind hits squarely.
    pub(crate) gravity: V<N>,
    pub(crate) wind: V<N>,
    /// Segments of the strand, and their mean length at scale 1.
    pub(crate) segments: N,
    pub(crate) mean: N,
    pub(crate) solids: &'a [Solid<'s, N::Stored>],
}

/// What follows from laws and strands.
struct Terms<N> {
    h: N,
    bend: N,
    pull: N,
    contact: N,
    slack: N,
    segment_slack: N,
    /// 1 + drag of a step.
    heavier: N,
    dry: N,
    dry_slack: N,
}

impl<N: Number> Step<'_, '_, N> {
    #[inline(always)]
    fn terms(&self) -> Terms<N> {
        let (laws, s) = (self.laws, self.scale);
        let h = laws.h;
        let mean = self.mean * s;
        let bends = self.segments * self.segments;
        // Of a joint over its length squared, as in `bind.rs`.
        let bends = bends * bends * s.k(laws.angle_squared(laws.bend_hz) / super::CANTILEVER);
        let most = s.k(LEAST_HAIR) / mean.max(s.k(1e-6));
        Terms {
            h: s.k(h),
            bend: s * s * s.k(laws.angle_squared(laws.bend_hz)),
            pull: s.k(laws.angle_squared(laws.pull_hz)),
            contact: s.k(laws.angle_squared(CONTACT_HZ)) * most.max(s.k(1.0))
                + bends * s.k(OVER_BENDS),
            slack: s.k(SLACK),
            segment_slack: s.k(laws.dry_speed * h),
            heavier: s.k(1.0 + laws.drag * h),
            dry: s.k(laws.dry * h * h),
            dry_slack: s.k(laws.dry_speed * h),
        }
    }

    /// Goes through the step.
    #[inline(always)]
    pub(crate) fn run(&self, vertices: &mut [Vertex<N::Stored>]) {
        let terms = self.terms();
        self.begin(vertices, &terms);
        let mut active = self.scale.k(1.0);
        for iteration in 0..self.laws.iterations + MORE {
            if iteration >= self.laws.iterations {
                active = self.inside(vertices);
            }
            if !N::any(active.is_on()) {
                break;
            }
            self.iterate(vertices, &terms, (active, iteration == 0));
        }
        self.finish(vertices, &terms);
    }

    /// Leads strands that are at rest around the solids that they begin in. A bit for each that is near one.
    #[inline(always)]
    pub(crate) fn free(&self, vertices: &mut [Vertex<N::Stored>]) -> u8 {
        let terms = self.terms();
        self.begin(vertices, &terms);
        let moved = self.place(vertices);
        self.finish(vertices, &terms);
        for v in vertices {
            v.velocity = Default::default();
        }
        moved
    }

    /// Brings strands out of solids that are where they should be. Those that are near none stay; a bit for each of the others.
    #[inline(always)]
    pub(crate) fn place(&self, vertices: &mut [Vertex<N::Stored>]) -> u8 {
        self.look(vertices, true);
        let mut near = self.scale.k(0.0);
        for v in &mut *vertices {
            // Friction begins where the vertex was.
            (v.touched, v.anchor) = (v.contact.solid, v.before);
            self.carry_anchor(v);
            let gap = N::load(self.token, &v.contact.gap);
            let length = N::load(self.token, &v.length) * self.scale;
            let is_near = gap.lt(length) & N::load(self.token, &v.free).is_on();
            near = N::pick(is_near, near.k(1.0), near);
        }
        self.lead(vertices, near.is_on());
        N::bits(near.is_on())
    }

    /// Looks, and moves the strands that are `active`.
    #[inline(never)]
    fn iterate(
        &self,
        vertices: &mut [Vertex<N::Stored>],
        terms: &Terms<N>,
        (active, is_first): (N, bool),
    ) {
        N::apart(
            self.token,
            #[inline(always)]
            || {
                self.look(vertices, is_first);
                let energy = self.solve(vertices, terms, is_first);
                self.search(vertices, terms, (energy, active));
            },
        );
    }

    /// Where the step begins, where inertia leads, and where strands are first looked at.
    #[inline(always)]
    fn begin(&self, vertices: &mut [Vertex<N::Stored>], terms: &Terms<N>) {
        let token = self.token;
        let (mut before, mut drift) = (V::zero(self.scale), V::zero(self.scale));
        let mut x = before;
        let (first, mut leads) = (self.scale.k(self.laws.first), self.scale.k(0.0).is_on());
        for v in vertices.iter_mut() {
            let free = N::load(token, &v.free).is_on();
            let length = N::load(token, &v.length) * self.scale;
            let turn = Turn::load(token, &v.turn);
            let rest = V::load(token, &v.rest) * self.scale;
            let along = turn.along();
            let now = V::pick(free, before + along * length, rest);
            let moved = self.back.point(now);
            let velocity = self.back.vector(V::load(token, &v.velocity));
            let wind = self.wind.across(along);
            let force = self.gravity + wind + V::load(token, &v.push);
            let push = velocity * terms.h + force * (terms.h * terms.h);
            (moved + push * (terms.h.k(1.0) / terms.heavier)).store(&mut v.goal);
            now.store(&mut v.before);
            (moved + velocity * terms.h).store(&mut v.trial);
            // The direction to begin with; that of the first free segment is kept.
            let coasting = moved + velocity * terms.h - now;
            let to = along * length + (coasting - drift) * first;
            let to = to * (first.k(1.0) / to.norm().max(first.k(1e-9)));
            let start = Turn::arc(along, to).times(turn).unit();
            let turns = free & leads;
            let start = Turn::pick(turns, start, turn);
            start.store(&mut v.turn);
            x = V::pick(free, x + start.along() * length, rest);
            x.store(&mut v.x);
            (before, drift, leads) = (now, coasting, free);
            self.carry_anchor(v);
        }
    }

    /// The anchor goes with the solid that it is on.
    #[inline(always)]
    fn carry_anchor(&self, v: &mut Vertex<N::Stored>) {
        let token = self.token;
        let touched = N::load(token, &v.touched);
        for (number, solid) in self.solids.iter().enumerate() {
            let off = touched - touched.k(number as f64);
            let is_on = (off * off).lt(off.k(0.25));
            let anchor = V::load(token, &v.anchor);
            let moved = Motion::<N>::load(token, &solid.carry).point(anchor);
            V::pick(is_on, moved, anchor).store(&mut v.anchor);
        }
    }

    /// All energies of a vertex at `x`. With `is_new`, friction is that of the contact as it is now. In the first iteration it is as stiff as where
    /// speed alone leads.
    #[inline(always)]
    fn at_vertex(
        &self,
        terms: &Terms<N>,
        v: &Vertex<N::Stored>,
        x: V<N>,
        (is_new, is_first): (bool, bool),
    ) -> (Local<N>, N) {
        let token = self.token;
        let mass = N::load(token, &v.mass);
        let mut out = Local::zero(mass);
        out.spring(x - V::load(token, &v.goal), mass * terms.heavier);
        let way = x - V::load(token, &v.before);
        let further = if is_first {
            V::load(token, &v.trial) - x
        } else {
            V::zero(mass)
        };
        out.dry(way, further, mass * terms.dry, terms.dry_slack);
        let rest = V::load(token, &v.rest) * self.scale;
        let pull = N::load(token, &v.pull) * terms.pull;
        out.spring(x - rest, pull + N::load(token, &v.hold) * terms.contact);
        let touch = Touch::load(token, &v.contact);
        out.spring(way, N::load(token, &v.doubt) * terms.contact);
        let anchor = V::load(token, &v.anchor);
        let rub = touch.add(
            &mut out,
            terms.contact,
            (x, anchor, further),
            terms.slack,
            is_new,
        );
        (out, rub)
    }

    /// Those of the point of a segment that touches something. Its friction has no memory.
    #[inline(always)]
    fn at_segment(
        &self,
        terms: &Terms<N>,
        v: &Vertex<N::Stored>,
        (x, before): ([V<N>; 2], V<N>),
        (is_new, is_first): (bool, bool),
    ) -> (Local<N>, N) {
        let token = self.token;
        let touch = Touch::load(token, &v.segment);
        let share = N::load(token, &v.segment.share);
        let mut out = Local::zero(share);
        let from = before + (V::load(token, &v.before) - before) * share;
        let point = x[0] + (x[1] - x[0]) * share;
        let further = if is_first {
            (V::load(token, &v.trial) - x[1]) * share
        } else {
            V::zero(share)
        };
        let rub = touch.add(
            &mut out,
            terms.contact,
            (point, from, further),
            terms.segment_slack,
            is_new,
        );
        (out, rub)
    }

    #[inline(always)]
    fn joint(&self, terms: &Terms<N>, v: &Vertex<N::Stored>, [a, b]: [Turn<N>; 2]) -> Joint<N> {
        let bend = N::load(self.token, &v.bend) * terms.bend;
        Joint::new(
            &a.axes(),
            &b.axes(),
            bend,
            V::load(self.token, &v.direction),
        )
    }

    /// From tip to root: how each segment's rotation follows from those before. Returns the energy.
    #[inline(always)]
    fn solve(&self, vertices: &mut [Vertex<N::Stored>], terms: &Terms<N>, is_first: bool) -> N {
        let token = self.token;
        let mut behind = Behind::nothing(self.scale);
        for i in (1..vertices.len()).rev() {
            let (before, after) = vertices.split_at_mut(i);
            let (before, v) = (&before[i - 1], &mut after[0]);
            let x = V::load(token, &v.x);
            let (local, rub) = self.at_vertex(terms, v, x, (true, is_first));
            rub.store(&mut v.contact.rub);
            behind.add_vertex(&local);
            let length = N::load(token, &v.length) * self.scale;
            let turn = Turn::load(token, &v.turn);
            let axes = turn.axes();
            let p = behind.pass_segment(&axes, length);
            let ends = [V::load(token, &before.x), x];
            let from = V::load(token, &before.before);
            let on = N::load(token, &v.segment.on);
            let (mut at_point, share) = (V::zero(length), N::load(token, &v.segment.share));
            if N::any(on.is_on()) {
                let (local, rub) = self.at_segment(terms, v, (ends, from), (true, is_first));
                rub.store(&mut v.segment.rub);
                behind.add_point(&local, &p, share);
                at_point = local.gradient;
            }
            behind.add_tension(axes[0], length, (at_point, share));
            let joint = self.joint(terms, v, [Turn::load(token, &before.turn), turn]);
            behind.pass_joint(&joint, length, v);
        }
        behind.energy
    }

    /// From root to tip: rotates segments, by less where that does not lower the energy. Strands that are not `active` stay.
    #[inline(always)]
    fn search(
        &self,
        vertices: &mut [Vertex<N::Stored>],
        terms: &Terms<N>,
        (energy, active): (N, N),
    ) {
        let mut ahead = Ahead::still(self.scale);
        for v in vertices.iter_mut() {
            let length = N::load(self.token, &v.length) * self.scale;
            ahead.pass(v, length);
        }
        let most = energy + energy * energy.k(N::ROUNDING);
        let mut share = active;
        for _ in 0..TRIES {
            let tried = self.attempt(vertices, terms, share);
            let is_worse = most.lt(tried) & share.is_on();
            if !N::any(is_worse) {
                break;
            }
            share = N::pick(is_worse, share * share.k(SHORTER), share);
        }
        for v in vertices {
            let way = V::<N>::load(self.token, &v.trial) - V::load(self.token, &v.x);
            let way = way.norm();
            (N::load(self.token, &v.room) - way).store(&mut v.room);
            v.x = v.trial;
            v.turn = v.trial_turn;
        }
    }

    /// The strands after that share of the step, and their energy.
    #[inline(always)]
    fn attempt(&self, vertices: &mut [Vertex<N::Stored>], terms: &Terms<N>, share: N) -> N {
        let token = self.token;
        let mut energy = share.k(0.0);
        let (mut x, mut from) = (V::zero(share), V::zero(share));
        let mut turn: Option<Turn<N>> = None;
        for v in vertices {
            let free = N::load(token, &v.free).is_on();
            let next = rotated(Turn::load(token, &v.turn), V::load(token, &v.step) * share);
            let length = N::load(token, &v.length) * self.scale;
            let rest = V::load(token, &v.rest) * self.scale;
            let there = V::pick(free, x + next.along() * length, rest);
            there.store(&mut v.trial);
            next.store(&mut v.trial_turn);
            if let Some(turn) = turn {
                let (local, _) = self.at_vertex(terms, v, there, (false, false));
                energy = energy + local.energy;
                if N::any(N::load(token, &v.segment.on).is_on()) {
                    let (local, _) = self.at_segment(terms, v, ([x, there], from), (false, false));
                    energy = energy + local.energy;
                }
                energy = energy + self.joint(terms, v, [turn, next]).energy;
            }
            (x, from, turn) = (there, V::load(token, &v.before), Some(next));
        }
        energy
    }

    /// 1 for strands with a vertex inside of a solid, as far as the last look tells.
    #[inline(always)]
    fn inside(&self, vertices: &[Vertex<N::Stored>]) -> N {
        let token = self.token;
        let mut out = self.scale.k(0.0);
        for v in vertices {
            let touch = Touch::<N>::load(token, &v.contact);
            let gap = touch.normal.dot(V::load(token, &v.x)) + touch.offset;
            let deep = (gap + touch.layer).lt(gap.k(0.0));
            out = N::pick(deep & touch.on.is_on(), out.k(1.0), out);
        }
        out
    }

    /// Velocities, anchors, and how far solids still are at least.
    #[inline(always)]
    fn finish(&self, vertices: &mut [Vertex<N::Stored>], terms: &Terms<N>) {
        let token = self.token;
        let faster = terms.h.k(1.0) / terms.h;
        for v in vertices {
            let x = V::load(token, &v.x);
            let free = N::load(token, &v.free);
            let moved = self.back.point(V::load(token, &v.before));
            ((x - moved) * (faster * free)).store(&mut v.velocity);
            let touch = Touch::<N>::load(token, &v.contact);
            let holds = (touch.rub * touch.on).is_on();
            let dragged = (x - V::load(token, &v.anchor)).across(touch.normal);
            let most = x.x.k(SLACK * DRAGGED) / dragged.norm().max(x.x.k(1e-12));
            let held = x - dragged * most.min(x.x.k(1.0));
            V::pick(holds, held, x).store(&mut v.anchor);
            let solid = N::load(token, &v.contact.solid);
            N::pick(holds, solid, solid.k(-1.0)).store(&mut v.touched);
        }
    }
}
