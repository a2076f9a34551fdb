//! Strands side by side: from the state to what steps work on, and back.

use super::bind::pinned;
use super::frame::{Frame, Guides, Moment};
use super::state::Kept;
use super::step::{Motion, Number, Solid, Step, V, Vertex};
use crate::collide::{MAX_COLLIDERS, Placed, Rigid};
use arrayvec::ArrayVec;
use sinew_geom::{Mat3, Quat, Real, Vec3};

/// Motions whose numbers are all closer to the identity than this are none but for roundings.
const STILL: f64 = 5e-7;
/// Over this part of the arc length the pull to the rest position fades out.
const FADE: f32 = 0.1;

/// Up to [`Number::LANES`] strands.
pub(crate) struct Group<'a, 'f, R: Real, N: Number> {
    frame: &'a Frame<'f, R>,
    members: &'a [usize],
    /// First guide of the task.
    first: usize,
    token: N::Token,
    vertices: &'a mut [Vertex<N::Stored>],
    segments: N::Stored,
    mean: N::Stored,
    /// How far pins are from each solid; found in the first step.
    bases: ArrayVec<N::Stored, MAX_COLLIDERS>,
}

impl<'a, 'f, R: Real, N: Number> Group<'a, 'f, R, N> {
    /// The guides `members`, in a task whose first guide is `first`. `work` has room for the longest strand.
    #[inline(always)]
    pub(crate) fn new(
        frame: &'a Frame<'f, R>,
        members: &'a [usize],
        first: usize,
        token: N::Token,
        work: &'a mut [Vertex<N::Stored>],
    ) -> Self {
        let longest = members.iter().map(|&g| frame.bind.guide_range(g).len());
        let longest = longest.max().unwrap_or(0).min(work.len());
        Self {
            frame,
            members,
            first,
            token,
            vertices: &mut work[..longest],
            segments: N::Stored::default(),
            mean: N::Stored::default(),
            bases: ArrayVec::new(),
        }
    }

    /// Takes strands from the state. Behind tips, and in lanes without a strand, nothing moves and nothing has a length.
    pub(crate) fn load(&mut self, state: &mut Guides<'_, R>) {
        self.vertices.fill(Vertex::default());
        for lane in 0..N::LANES {
            for v in &mut *self.vertices {
                N::set_lane(&mut v.turn[3], lane, 1.0);
                N::set_lane(&mut v.direction[0], lane, 1.0);
                N::set_lane(&mut v.contact.layer, lane, 1.0);
                N::set_lane(&mut v.segment.layer, lane, 1.0);
            }
        }
        for (lane, &guide) in self.members.iter().enumerate() {
            self.load_setup(lane, guide);
            let kept = state.kept.strand(guide - self.first);
            for (v, kept) in self.vertices.iter_mut().zip(kept) {
                kept.load::<N>(v, lane);
            }
        }
    }

    fn load_setup(&mut self, lane: usize, guide: usize) {
        let bound = self.frame.bind.guide_vertices(guide);
        let segments = (bound.len() - 1) as f64;
        N::set_lane(&mut self.segments, lane, segments);
        let total = f64::from(self.frame.bind.reaches[guide]);
        N::set_lane(&mut self.mean, lane, total / segments);
        let pins = pinned(bound);
        for (i, (v, b)) in self.vertices.iter_mut().zip(bound).enumerate() {
            let set = |to: &mut N::Stored, value: f32| N::set_lane(to, lane, f64::from(value));
            for k in 0..3 {
                set(&mut v.rest[k], b.offset[k]);
                set(&mut v.direction[k], b.direction[k]);
            }
            set(&mut v.length, b.length);
            set(&mut v.mass, b.mass);
            set(&mut v.bend, b.bend);
            set(&mut v.way, b.way);
            if i >= pins {
                let over = (b.arc - self.frame.pulled) / FADE;
                set(&mut v.free, 1.0);
                set(&mut v.pull, b.mass * (1.0 - over).clamp(0.0, 1.0));
                set(&mut v.hold, if b.inverse_mass > 0.0 { 0.0 } else { 1.0 });
            }
        }
    }

    /// Gives back the strands whose bit is set.
    pub(crate) fn store(&mut self, state: &mut Guides<'_, R>, lanes: u8) {
        for (lane, &guide) in self.members.iter().enumerate() {
            if (lanes >> lane) & 1 == 0 {
                continue;
            }
            let kept = state.kept.strand(guide - self.first);
            let positions = state.positions.strand(guide - self.first);
            let drive = &self.frame.drives[guide];
            let end = self.frame.moments.last().map_or(R::one(), |m| m.span[1]);
            let at = drive.motion.at(end);
            for ((v, kept), x) in self.vertices.iter().zip(&mut *kept).zip(&mut *positions) {
                *kept = Kept::of::<N>(v, lane);
                *x = at.point(vector::<R, N>(&v.x, lane));
            }
            if !kept.iter().all(Kept::is_finite) {
                self.restart(lane, guide, (kept, positions), &at);
            }
        }
    }

    /// Puts a strand back to its rest position on the skin: numbers too large to go on with.
    fn restart(
        &self,
        _lane: usize,
        guide: usize,
        (kept, positions): (&mut [Kept<R>], &mut [Vec3<R>]),
        at: &Rigid<R>,
    ) {
        let scale = self.frame.drives[guide].scales[1];
        let bound = self.frame.bind.guide_vertices(guide);
        Kept::at_rest(bound, kept);
        for (x, b) in positions.iter_mut().zip(bound) {
            *x = at.point(R::vec3(b.offset) * scale);
        }
    }

    /// One step.
    #[inline(always)]
    pub(crate) fn step(&mut self, moment: &Moment<'_, R>) {
        let (lanes, solids) = self.place(moment);
        let step = self.stepper(&lanes, &solids);
        step.run(self.vertices);
    }

    /// A bit for each strand that begins in a solid or nearer to it than its margin.
    #[inline(always)]
    pub(crate) fn touching(&mut self, moment: &Moment<'_, R>) -> u8 {
        let (lanes, solids) = self.place(moment);
        let step = self.stepper(&lanes, &solids);
        step.touching(self.vertices)
    }

    /// Takes all motion out.
    pub(crate) fn stop(&mut self) {
        for v in &mut *self.vertices {
            v.velocity = Default::default();
        }
    }

    #[inline(always)]
    fn stepper<'s>(
        &self,
        lanes: &Lanes<N::Stored>,
        solids: &'s [Solid<'s, N::Stored>],
    ) -> Step<'s, 's, N>
    where
        'a: 's,
    {
        let token = self.token;
        Step {
            token,
            laws: &self.frame.laws,
            scale: N::load(token, &lanes.scale),
            back: Motion::load(token, &lanes.back),
            gravity: V::load(token, &lanes.gravity),
            wind: V::load(token, &lanes.wind),
            segments: N::load(token, &self.segments),
            mean: N::load(token, &self.mean),
            solids,
        }
    }

    /// Where roots and solids are.
    fn place<'s>(
        &mut self,
        moment: &Moment<'s, R>,
    ) -> (
        Lanes<N::Stored>,
        ArrayVec<Solid<'s, N::Stored>, MAX_COLLIDERS>,
    ) {
        let mut lanes = Lanes::<N::Stored>::default();
        let mut solids: ArrayVec<_, MAX_COLLIDERS> = moment
            .solids
            .indexed()
            .take(MAX_COLLIDERS)
            .map(|(_, placed)| Solid {
                shape: placed.shape,
                inward: Default::default(),
                carry: Default::default(),
                margin: placed.at.margin.to_double(),
                friction: placed.at.friction.to_double(),
                detail: placed.at.detail.to_double(),
                base: N::Stored::default(),
            })
            .collect();
        let is_new = self.bases.len() < solids.len();
        if is_new {
            self.bases = solids.iter().map(|_| N::Stored::default()).collect();
        }
        for (lane, &guide) in self.members.iter().enumerate() {
            let drive = &self.frame.drives[guide];
            let [begin, end] = moment.span.map(|t| drive.motion.at(t));
            let scale = drive.scales[0] + (drive.scales[1] - drive.scales[0]) * moment.span[1];
            N::set_lane(&mut lanes.scale, lane, scale.to_double());
            let shared = drive.shared(moment.span);
            set_motion::<R, N>(&mut lanes.back, lane, &local(&end, &shared, &begin));
            let inverse = end.rotation.conjugate();
            let wind: Vec3<R> = (self.frame.gusts).at(self.frame.bind.guides[guide], moment.now_secs);
            for (to, v) in [(&mut lanes.gravity, self.frame.gravity), (&mut lanes.wind, wind)] {
                let v = inverse * v;
                (0..3).for_each(|k| N::set_lane(&mut to[k], lane, v[k].to_double()));
            }
            let bound = self.frame.bind.guide_vertices(guide);
            let pins = [0, pinned(bound) - 1].map(|i| R::vec3(bound[i].offset) * scale);
            for (i, (_, placed)) in moment.solids.indexed().take(MAX_COLLIDERS).enumerate() {
                let carry = local(&end, &placed.at.carry, &begin);
                set_motion::<R, N>(&mut solids[i].carry, lane, &carry);
                set_matrix::<R, N>(&mut solids[i].inward, lane, &inward(&placed, &end));
                if is_new {
                    let base = base_of(&placed, pins.map(|p| end.point(p)));
                    N::set_lane(&mut self.bases[i], lane, base.to_double());
                }
                solids[i].base = self.bases[i];
            }
        }
        for solid in &mut solids {
            for lane in self.members.len()..N::LANES {
                for k in 0..3 {
                    N::set_lane(&mut solid.inward[k][k], lane, 1.0);
                    N::set_lane(&mut solid.carry[k][k], lane, 1.0);
                }
            }
        }
        (lanes, solids)
    }
}

/// How strands move in one step.
#[derive(Default)]
struct Lanes<L> {
    scale: L,
    back: [[L; 3]; 4],
    gravity: [L; 3],
    wind: [L; 3],
}

/// A motion of the scene as an observer sees it who was at `begin` and is at `end`.
fn local<R: Real>(end: &Rigid<R>, motion: &Rigid<R>, begin: &Rigid<R>) -> Rigid<R> {
    let moved = Rigid {
        rotation: motion.rotation * begin.rotation,
        translation: motion.point(begin.translation),
    };
    let inverse = end.rotation.conjugate();
    let out = Rigid {
        rotation: inverse * moved.rotation,
        translation: inverse * (moved.translation - end.translation),
    };
    let turned = out.rotation.coords.xyz().amax();
    let off = turned.max(out.translation.amax());
    if off < R::from_double(STILL) { Rigid::identity() } else { out }
}

/// Solid's own places from those of a strand whose root is at `end`: a rotation, and where the root is.
fn inward<R: Real>(placed: &Placed<'_, R>, end: &Rigid<R>) -> (Mat3<R>, Vec3<R>) {
    let turn: Mat3<R> = end.rotation.to_rotation_matrix().into_inner();
    let inverse = &placed.at.inverse;
    (inverse * turn, inverse * (end.translation - placed.at.origin))
}

/// How far pins are from a solid: the larger of both, and 0 inside.
fn base_of<R: Real>(placed: &Placed<'_, R>, pins: [Vec3<R>; 2]) -> R {
    let [a, b] = pins.map(|p| placed.distance(p));
    a.max(b).max(R::zero())
}

fn set_motion<R: Real, N: Number>(to: &mut [[N::Stored; 3]; 4], lane: usize, m: &Rigid<R>) {
    let turn: Mat3<R> = m.rotation.to_rotation_matrix().into_inner();
    set_matrix::<R, N>(to, lane, &(turn, m.translation));
}

fn set_matrix<R: Real, N: Number>(
    to: &mut [[N::Stored; 3]; 4],
    lane: usize,
    (turn, translation): &(Mat3<R>, Vec3<R>),
) {
    for k in 0..3 {
        for c in 0..3 {
            N::set_lane(&mut to[k][c], lane, turn[(k, c)].to_double());
        }
        N::set_lane(&mut to[3][k], lane, translation[k].to_double());
    }
}

fn vector<R: Real, N: Number>(v: &[N::Stored; 3], lane: usize) -> Vec3<R> {
    Vec3::new(N::lane(&v[0], lane), N::lane(&v[1], lane), N::lane(&v[2], lane)).map(R::from_double)
}

/// The rotation of a unit quaternion's numbers.
pub(crate) fn turn_of<R: Real>(turn: [R; 4]) -> Quat<R> {
    Quat::new_unchecked(sinew_geom::nalgebra::Quaternion::from(turn))
}
