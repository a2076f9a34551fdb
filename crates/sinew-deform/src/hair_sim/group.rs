//! Strands side by side: from the state to what steps work on, and back.

use super::bind::pinned;
use super::frame::{Frame, Guides, Moment};
use super::state::Kept;
use crate::collide::{MAX_COLLIDERS, Placed, Rigid};
use crate::strand_step::{
    Lanes as _, Motion, Number, PLACING, Places, Solid, Step, V, Vertex, base_of, seen, set_motion,
};
use arrayvec::ArrayVec;
use sinew_geom::{Real, Vec3};

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
    /// How far each solid is from roots at least, and from pins; found in the first step.
    off: ArrayVec<[N::Stored; 2], MAX_COLLIDERS>,
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
            off: ArrayVec::new(),
        }
    }

    /// Takes strands from the state. Behind tips, and in lanes without a strand, nothing moves and nothing has a length.
    pub(crate) fn load(&mut self, state: &mut Guides<'_, R>) {
        self.vertices.fill(Vertex::still());
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
        self.segments.set(lane, segments);
        let total = f64::from(self.frame.bind.reaches[guide]);
        self.mean.set(lane, total / segments);
        let pins = pinned(bound);
        let pushes = self.frame.pushes.get(self.frame.bind.guide_range(guide));
        for (v, push) in self.vertices.iter_mut().zip(pushes.unwrap_or_default()) {
            (0..3).for_each(|k| v.push[k].set(lane, push[k].to_double()));
        }
        for (i, (v, b)) in self.vertices.iter_mut().zip(bound).enumerate() {
            let set = |to: &mut N::Stored, value: f32| to.set(lane, f64::from(value));
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

    /// Leads strands around the solids that they begin in; a bit for each that is near one.
    #[inline(always)]
    pub(crate) fn place_outside(&mut self, moment: &Moment<'_, R>) -> u8 {
        let (lanes, solids) = self.place(moment);
        let step = Step {
            laws: &PLACING,
            ..self.stepper(&lanes, &solids)
        };
        step.free(self.vertices)
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
        let placed = moment.solids.iter().take(MAX_COLLIDERS);
        let placed: ArrayVec<Placed<'s, R>, MAX_COLLIDERS> = placed.collect();
        let ends = self.frame.ends.iter().take(MAX_COLLIDERS);
        let ends: ArrayVec<Placed<'_, R>, MAX_COLLIDERS> = ends.collect();
        let mut solids: ArrayVec<_, MAX_COLLIDERS> = placed.iter().map(Solid::new).collect();
        let is_new = self.off.len() < solids.len();
        if is_new {
            self.off = solids.iter().map(|_| Default::default()).collect();
        }
        for (lane, &guide) in self.members.iter().enumerate() {
            let drive = &self.frame.drives[guide];
            let [begin, end] = moment.span.map(|t| drive.motion.at(t));
            let scale = drive.scales[0] + (drive.scales[1] - drive.scales[0]) * moment.span[1];
            lanes.scale.set(lane, scale.to_double());
            let shared = drive.shared(moment.span);
            set_motion(&mut lanes.back, lane, &seen(&end, &shared, &begin));
            let inverse = end.rotation.conjugate();
            let strand = self.frame.bind.guides[guide];
            let wind = (self.frame.gusts).at(strand, end.translation, moment.now_secs);
            for (to, v) in [
                (&mut lanes.gravity, self.frame.gravity),
                (&mut lanes.wind, wind),
            ] {
                let v = inverse * v;
                (0..3).for_each(|k| to[k].set(lane, v[k].to_double()));
            }
            let bound = self.frame.bind.guide_vertices(guide);
            let pins = [0, pinned(bound) - 1].map(|i| R::vec3(bound[i].offset) * scale);
            let reach = f64::from(self.frame.bind.reaches[guide]) * scale.to_double();
            let found = if drive.jumps { &ends } else { &placed };
            for ((solid, off), placed) in solids.iter_mut().zip(&mut self.off).zip(found) {
                if is_new {
                    let [root, last] = pins.map(|p| placed.distance(end.point(p)));
                    off[0].set(lane, root.to_double());
                    off[1].set(lane, base_of(root, last));
                } else {
                    // What the root moved, as the solid sees it.
                    let moved = end.translation - placed.at.carry.point(begin.translation);
                    off[0].set(lane, off[0].get(lane) - moved.norm().to_double());
                }
                let [root, base] = [0, 1].map(|k| off[k].get(lane));
                solid.set(lane, placed, [&begin, &end], (root, base, reach));
            }
        }
        (lanes, solids)
    }
}

/// How strands move in one step.
#[derive(Default)]
struct Lanes<L> {
    scale: L,
    back: Places<L>,
    gravity: [L; 3],
    wind: [L; 3],
}

fn vector<R: Real, N: Number>(v: &[N::Stored; 3], lane: usize) -> Vec3<R> {
    Vec3::new(v[0].get(lane), v[1].get(lane), v[2].get(lane)).map(R::from_double)
}
