//! One step of one strand: the reference, in single or double precision. It reads no other strand. Single precision runs in `simd`, eight
//! strands side by side, with these formulas.
//!
//! 1. `begin`: the share of the root's motion carries all vertices; the skinned rest positions are found.
//! 2. `integrate`: damping, gravity and wind; pinned vertices go to their rest positions.
//! 3. `restore_shape` (`shape.rs`): one implicit step for bends, pull to the rest position, and tensions.
//! 4. For each iteration: `push_out` (`collide/contact.rs`), then two Newton steps on all lengths (`length.rs`).
//! 5. `settle_lengths` (`collide/settle.rs`): exact lengths outside of solids.
//! 6. `take_velocities` and `finish`: velocity from the motion of the step, without what the last pass and contacts added.
//! 7. `come_to_rest` and `stay`: slow strands lose velocity, and static friction holds them.
//!
//! Each of these is one sweep over the vertices, from root to tip or back: O(vertices) per step. The page of the node has the formulas and
//! the reasons.

use super::bind::BoundVertex;
use super::length::restore_lengths;
use super::shape::restore_shape;
use super::state::Drive;
use crate::collide::{
    ContactVertex, Rigid, Solids, Touching, most_margin, push_out, settle_lengths, unit_or,
};
use sinew_geom::{Real, Vec3};

/// A vertex while a step works on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkVertex<R: Real> {
    pub(crate) contact: ContactVertex<R>,
    /// Where the step found it.
    pub(crate) origin: Vec3<R>,
    /// Where its share of the root's motion alone takes it.
    pub(crate) moved: Vec3<R>,
    /// Rest position as the skin has it; later, where the vertex is before the last pass.
    pub(crate) goal: Vec3<R>,
    /// Matrix and right-hand side of the solvers.
    pub(crate) diagonal: R,
    pub(crate) next: R,
    pub(crate) after_next: R,
    pub(crate) right: Vec3<R>,
    /// Direction of the segment that leads here, and the torque of its bend.
    pub(crate) along: Vec3<R>,
    pub(crate) torque: Vec3<R>,
    /// Tension of that segment.
    pub(crate) tension: R,
    /// How far it goes in the step by the velocity that it has.
    pub(crate) coasting: Vec3<R>,
}

impl<R: Real> Default for WorkVertex<R> {
    fn default() -> Self {
        Self {
            contact: ContactVertex::default(),
            origin: Vec3::zeros(),
            moved: Vec3::zeros(),
            goal: Vec3::zeros(),
            diagonal: R::zero(),
            next: R::zero(),
            after_next: R::zero(),
            right: Vec3::zeros(),
            along: Vec3::zeros(),
            torque: Vec3::zeros(),
            tension: R::zero(),
            coasting: Vec3::zeros(),
        }
    }
}

impl<R: Real> Touching<R> for WorkVertex<R> {
    fn touch(&self) -> &ContactVertex<R> {
        &self.contact
    }
    fn touch_mut(&mut self) -> &mut ContactVertex<R> {
        &mut self.contact
    }
}

/// What is the same for all strands and steps of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepConstants<R: Real> {
    /// Time of a step.
    pub(crate) h: R,
    /// Share of the velocity that damping leaves.
    pub(crate) kept: R,
    /// How much of its velocity a strand that hardly moves would lose in the step, over what is left of it.
    pub(crate) rest_drag: R,
    pub(crate) gravity: Vec3<R>,
    /// How far gravity takes a vertex in a step, from rest.
    pub(crate) weight: R,
    pub(crate) speed_limit: R,
    /// Squared angle that a vertex drawn to its rest position swings in a step: `(2 pi f h)^2`.
    pub(crate) global: R,
    pub(crate) global_range: R,
    /// The same for the strand's slowest bending mode.
    pub(crate) local: R,
    pub(crate) exempt: usize,
    pub(crate) collision_iterations: usize,
    /// Steps towards the tensions that keep lengths.
    pub(crate) tensions: usize,
}

impl<R: Real> StepConstants<R> {
    /// Whether vertices are drawn to their rest positions.
    pub(crate) fn pulls(&self) -> bool {
        self.global > R::zero() && self.global_range > R::zero()
    }
    /// Whether bends are drawn to those at rest.
    pub(crate) fn bends(&self) -> bool {
        self.local > R::zero()
    }
    /// Either.
    pub(crate) fn keeps_shape(&self) -> bool {
        self.pulls() || self.bends()
    }
}

/// One strand in one step.
#[derive(Clone, Copy)]
pub(crate) struct StrandStep<'a, R: Real> {
    pub(crate) bound: &'a [BoundVertex],
    pub(crate) constants: &'a StepConstants<R>,
    pub(crate) drive: &'a Drive<R>,
    /// Shares of the frame at which the step begins and ends.
    pub(crate) span: [R; 2],
    /// Acceleration by wind now.
    pub(crate) wind: Vec3<R>,
    pub(crate) solids: &'a Solids<'a, R>,
    /// Length of the strand at rest.
    pub(crate) reach: f32,
}

/// Length restorations a step: the first takes out what is linear in the stretch, the second what is quadratic.
pub(crate) const LENGTH_ITERATIONS: usize = 2;
/// Steps from rest to rest that smooth a strand which began in a solid.
pub(crate) const RELAXING_STEPS: usize = 8;
/// Corrections by the last pass up to this share of a segment's length are no motion.
pub(crate) const LAST_PASS: f64 = 0.02;
/// Strands of which no vertex is faster than this, in metres a second, lose their motion ([`REST_DRAG`]). That of rounding is up to a
/// millimetre a second.
pub(crate) const REST_SPEED: f64 = 0.003;
/// The same for what touches something, times the coefficient of friction. The drag is largest at `1 / sqrt(3)` of that speed,
/// `2 / sqrt(27)` of [`MOST_REST_DRAG`] and [`RUBBED_DRAG`] times it: the friction of a strand's weight.
pub(crate) const RUBBED_SPEED: f64 = 0.25;
/// How fast they do where they hardly move, in terms of damping, and at most, a second.
pub(crate) const REST_DRAG: f64 = 5.0;
pub(crate) const MOST_REST_DRAG: f64 = 10.0;
/// How many times as fast where friction has them do so. Curls that hang free would come back too slowly.
pub(crate) const RUBBED_DRAG: f64 = 10.0;
/// Strands that a step takes no farther than this, in metres a second and times the coefficient of friction of what they touch, stay where
/// they were: static friction. As [`RUBBED_DRAG`] has them, forces that would move them so are up to a tenth of the friction of their
/// weight.
pub(crate) const HELD_SPEED: f64 = 0.0125;
/// The same of any strand: a metre from the origin two roundings a step are as fast, and a 30,000th of gravity.
pub(crate) const UNMOVED_SPEED: f64 = 3e-5;
/// A strand of which a vertex is brought out of a solid by this share of its mean segment is at rest; by half of that, it keeps all
/// velocity.
const FREED: f64 = 0.5;

impl<R: Real> StrandStep<'_, R> {
    /// Moves the strand on by one step. `work` has as many vertices.
    pub(crate) fn run(
        &self,
        positions: &mut [Vec3<R>],
        velocities: &mut [Vec3<R>],
        work: &mut [WorkVertex<R>],
    ) {
        let at = self.drive.motion.at(self.span[1]);
        let scale = self.scale();
        self.begin(positions, work, &at, scale);
        self.integrate(velocities, work);
        restore_shape(
            self.bound,
            self.constants,
            &at,
            scale,
            self.drive.scales[1],
            work,
        );
        let solids = match work.first() {
            Some(root) => self.solids_in_reach(&root.contact, scale),
            None => *self.solids,
        };
        let exempt = self.constants.exempt;
        let mut freed = R::zero();
        for _ in 0..self.constants.collision_iterations.max(1) {
            push_out(&solids, work, exempt);
            for w in work.iter_mut() {
                freed = freed.max(take_freed(&mut w.contact, &mut w.moved));
            }
            for _ in 0..LENGTH_ITERATIONS {
                restore_lengths(work);
            }
        }
        for w in work.iter_mut() {
            w.goal = w.contact.x;
        }
        settle_lengths(&solids, work, exempt);
        self.take_velocities(velocities, work);
        self.finish(positions, velocities, work);
        self.come_to_rest(velocities, work);
        self.stay(positions, work);
        let kept = self.kept_when_freed(freed);
        if kept < R::one() {
            velocities.iter_mut().for_each(|v| *v *= kept);
        }
    }

    /// Share of its velocity that the strand keeps where a vertex of it was brought so far out of a solid: what the lengths then do to the
    /// rest is no motion. They do little where that is little beside a segment.
    pub(crate) fn kept_when_freed(&self, way: R) -> R {
        let share = FREED / (self.bound.len().max(2) - 1) as f64;
        let full = R::from_single(self.reach) * self.scale() * R::from_double(share);
        let taken = way / full.max(R::from_double(1e-30)) * R::from_double(2.0) - R::one();
        R::one() - taken.clamp(R::zero(), R::one())
    }

    /// Slow strands lose motion: all that is left of it may be rounding, or the trembling of what lies on a surface between contact,
    /// lengths and shape. Counts from the motion of the skin at the root.
    fn come_to_rest(&self, velocities: &mut [Vec3<R>], work: &[WorkVertex<R>]) {
        let c = self.constants;
        let skin = self.skin();
        let free = |w: &WorkVertex<R>| w.contact.inverse_mass > R::zero();
        let of_skin = |w: &WorkVertex<R>| (skin.point(w.contact.start) - w.moved) / c.h;
        let (mut fastest, mut rub) = (R::zero(), R::zero());
        for (w, v) in work.iter().zip(&*velocities) {
            rub = rub.max(w.contact.rub);
            if free(w) {
                fastest = fastest.max((v - of_skin(w)).norm_squared());
            }
        }
        let (least, rubbed) = (
            R::from_double(REST_SPEED),
            rub * R::from_double(RUBBED_SPEED),
        );
        let (limit, drag) = if rubbed > least {
            (rubbed, c.rest_drag * R::from_double(RUBBED_DRAG))
        } else {
            (least, c.rest_drag)
        };
        let slow = (R::one() - fastest / (limit * limit)).max(R::zero());
        if slow <= R::zero() {
            return;
        }
        let kept = R::one() / (R::one() + drag * slow);
        for (w, v) in work.iter().zip(velocities).filter(|(w, _)| free(w)) {
            let of_skin = of_skin(w);
            *v = of_skin + (*v - of_skin) * kept;
        }
    }

    /// Strands that hardly move stay where they were, on the skin at the root. Velocities go on: where they balance what contacts and
    /// lengths take back in each step, strands without them would set out anew.
    fn stay(&self, positions: &mut [Vec3<R>], work: &[WorkVertex<R>]) {
        let c = self.constants;
        let skin = self.skin();
        let free = |w: &WorkVertex<R>| w.contact.inverse_mass > R::zero();
        let (mut farthest, mut rub) = (R::zero(), R::zero());
        for (w, x) in work.iter().zip(&*positions) {
            rub = rub.max(w.contact.rub);
            if free(w) {
                farthest = farthest.max((x - skin.point(w.origin)).norm_squared());
            }
        }
        let held = rub * R::from_double(HELD_SPEED);
        let most = held.max(R::from_double(UNMOVED_SPEED)) * c.h;
        if c.rest_drag > R::zero() && farthest < most * most {
            for (x, w) in positions.iter_mut().zip(work).filter(|(_, w)| free(w)) {
                *x = skin.point(w.origin);
            }
        }
    }

    /// How the skin at the root moves in this step.
    fn skin(&self) -> Rigid<R> {
        let [begin, end] = self.span.map(|t| self.drive.motion.at(t));
        self.skin_motion(&begin, &end)
    }

    /// The same, from where the root is when the step begins and ends; nothing at all where it stands still.
    pub(crate) fn skin_motion(&self, begin: &Rigid<R>, end: &Rigid<R>) -> Rigid<R> {
        let motion = &self.drive.motion;
        if motion.from() == motion.to() {
            return Rigid::identity();
        }
        end.relative_to(begin)
    }

    /// Brings the strand out of the solids that it begins in, and lets it find a smooth shape there; it is at rest afterwards. Where it
    /// touches nothing it stays as it is.
    pub(crate) fn free(
        &self,
        positions: &mut [Vec3<R>],
        velocities: &mut [Vec3<R>],
        work: &mut [WorkVertex<R>],
    ) {
        if self.push_free(positions, work) {
            for _ in 0..RELAXING_STEPS {
                self.run(positions, velocities, work);
                velocities.fill(Vec3::zeros());
            }
        }
    }

    /// Moves what begins in a solid out of it; tells whether a vertex was moved.
    pub(crate) fn push_free(
        &self,
        positions: &mut [Vec3<R>],
        work: &mut [impl Touching<R>],
    ) -> bool {
        let scale = self.drive.scales[0];
        for ((w, b), &x) in work.iter_mut().zip(self.bound).zip(&*positions) {
            *w.touch_mut() = ContactVertex {
                x,
                start: x,
                inverse_mass: R::from_single(b.inverse_mass),
                length: R::from_single(b.length) * scale,
                most_margin: self.most_margin(b) * scale,
                ..ContactVertex::default()
            };
        }
        let Some(root) = work.first() else {
            return false;
        };
        let exempt = self.constants.exempt;
        let solids = self.solids_in_reach(root.touch(), scale);
        push_out(&solids, work, exempt);
        let mut pairs = work.iter().zip(&*positions);
        if pairs.all(|(w, x)| w.touch().x == *x) {
            return false;
        }
        settle_lengths(&solids, work, exempt);
        for (x, w) in positions.iter_mut().zip(work) {
            *x = w.touch().x;
        }
        true
    }

    /// What margins are at most at a vertex, where the strand has the size that it has at rest.
    pub(crate) fn most_margin(&self, b: &BoundVertex) -> R {
        let Some(last) = self.constants.exempt.checked_sub(1) else {
            return R::from_double(f64::INFINITY);
        };
        let begins = self.bound.get(last).map_or(1.0, |b| b.arc);
        most_margin(R::from_single((b.arc - begins).max(0.0) * self.reach))
    }

    /// Size of the strand at the end of the step.
    pub(crate) fn scale(&self) -> R {
        let [from, to] = self.drive.scales;
        from + (to - from) * self.span[1]
    }

    /// The solids that the strand can touch in this step; all of them where its root is not held.
    pub(crate) fn solids_in_reach(&self, root: &ContactVertex<R>, scale: R) -> Solids<'_, R> {
        if root.inverse_mass > R::zero() {
            return *self.solids;
        }
        let reach = R::from_single(self.reach) * scale;
        self.solids.in_reach(root.start, root.x, reach)
    }

    /// Puts the strand back to its rest position on the skin where numbers are too large to go on with.
    pub(crate) fn restart_lost(&self, positions: &mut [Vec3<R>], velocities: &mut [Vec3<R>]) {
        if all_finite(positions, velocities) {
            return;
        }
        for ((x, v), rest) in positions.iter_mut().zip(velocities).zip(self.at_rest()) {
            *x = rest;
            *v = Vec3::zeros();
        }
    }

    /// The rest position on the skin.
    pub(crate) fn at_rest(&self) -> impl Iterator<Item = Vec3<R>> + '_ {
        let at = self.drive.motion.at(self.span[1]);
        let scale = self.drive.scales[1];
        let points = self.bound.iter();
        points.map(move |b| at.point(R::vec3(b.offset) * scale))
    }

    /// Takes the strand along with the share of the root's motion, and finds where the skin wants it.
    fn begin(&self, positions: &[Vec3<R>], work: &mut [WorkVertex<R>], at: &Rigid<R>, scale: R) {
        let carry = self.shared(&self.drive.motion.at(self.span[0]));
        for ((w, b), &x) in work.iter_mut().zip(self.bound).zip(positions) {
            w.goal = at.point(R::vec3(b.offset) * scale);
            w.moved = carry.point(x);
            w.origin = x;
            let c = &mut w.contact;
            c.start = x;
            c.inverse_mass = R::from_single(b.inverse_mass);
            c.length = R::from_single(b.length) * scale;
            c.most_margin = self.most_margin(b) * scale;
            c.free();
        }
    }

    /// The part of the root's motion in this step that the strand takes part in. Motions about one screw axis add
    /// up, so that it is the whole motion over a shorter time. `root` is where the root is when the step begins.
    pub(crate) fn shared(&self, root: &Rigid<R>) -> Rigid<R> {
        let [begin, end] = self.span;
        let until = begin + (end - begin) * self.drive.share;
        self.drive.motion.at(until).relative_to(root)
    }

    fn integrate(&self, velocities: &[Vec3<R>], work: &mut [WorkVertex<R>]) {
        let c = self.constants;
        let turned = self.shared(&self.drive.motion.at(self.span[0]));
        let windy = self.wind != Vec3::zeros();
        let mut before = Vec3::zeros();
        for (i, (w, &v)) in work.iter_mut().zip(velocities).enumerate() {
            if w.contact.inverse_mass <= R::zero() {
                w.contact.x = w.goal;
                w.moved = w.goal;
                w.coasting = Vec3::zeros();
                before = w.contact.start;
                continue;
            }
            let mut push = c.gravity;
            if windy && i > 0 {
                let along = unit_or(w.contact.start - before, Vec3::zeros());
                push += self.wind - along * along.dot(&self.wind);
            }
            before = w.contact.start;
            let coasting = turned.vector(v) * c.kept;
            w.coasting = coasting * c.h;
            let v = limited(coasting + push * c.h, c.speed_limit);
            w.contact.x = w.moved + v * c.h;
        }
    }

    /// What the last pass changes is small and is no motion: through it, lengths would pump energy into the strand. Where it is
    /// not small, most of it is taken as motion, so that positions and velocities stay together.
    fn take_velocities(&self, velocities: &mut [Vec3<R>], work: &[WorkVertex<R>]) {
        for (v, w) in velocities.iter_mut().zip(work) {
            let most = w.contact.length * R::from_double(LAST_PASS);
            let unmoved = limited(w.goal - w.contact.x, most);
            *v = (w.contact.x + unmoved - w.moved) / self.constants.h;
        }
    }

    /// Takes from the velocities what leads into surfaces or came from being pushed out of them.
    fn finish(
        &self,
        positions: &mut [Vec3<R>],
        velocities: &mut [Vec3<R>],
        work: &[WorkVertex<R>],
    ) {
        let c = self.constants;
        let held = |i: usize| work[i].contact.inverse_mass <= R::zero();
        let drift = |i: usize| work[i].moved - work[i].contact.start;
        for i in 0..work.len() {
            let touch = &work[i].contact;
            positions[i] = touch.x;
            if held(i) {
                velocities[i] = Vec3::zeros();
                continue;
            }
            let n = touch.normal;
            if n != Vec3::zeros() {
                let relative = velocities[i] + (drift(i) - touch.carried) / c.h;
                velocities[i] -= n * n.dot(&relative);
            }
            let n = touch.segment.normal;
            if n != Vec3::zeros() && i > 0 {
                let (a, b) = (R::one() - touch.segment.share, touch.segment.share);
                let motion = |k: usize| velocities[k] + drift(k) / c.h;
                let point = motion(i - 1) * a + motion(i) * b;
                let relative = n.dot(&(point - touch.segment.carried / c.h));
                let weight = |k: usize| if held(k) { R::zero() } else { R::one() };
                let (wa, wb) = (weight(i - 1), weight(i));
                let impulse = n * (relative / (a * a * wa + b * b * wb).max(R::from_double(1e-3)));
                velocities[i - 1] -= impulse * (a * wa);
                velocities[i] -= impulse * (b * wb);
            }
            velocities[i] = limited(velocities[i], c.speed_limit);
        }
    }
}

/// What was brought out of a solid begins its step outside. Returns how far that was.
pub(crate) fn take_freed<R: Real>(contact: &mut ContactVertex<R>, moved: &mut Vec3<R>) -> R {
    let way = contact.freed.norm();
    *moved += contact.freed;
    contact.freed = Vec3::zeros();
    way
}

/// Whether every number is finite: the sum of all is, then (or they are too large to go on with).
fn all_finite<R: Real>(x: &[Vec3<R>], v: &[Vec3<R>]) -> bool {
    let sum = x.iter().chain(v).fold(Vec3::zeros(), |s, p| s + p);
    sum.iter().all(|c| c.is_finite())
}

/// No longer than `most`, the direction kept.
fn limited<R: Real>(v: Vec3<R>, most: R) -> Vec3<R> {
    let squared = v.norm_squared();
    if squared > most * most {
        v * (most / squared.sqrt())
    } else {
        v
    }
}
