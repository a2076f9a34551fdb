//! One frame of all strands.
//!
//! 1. Check: nothing changes if an input does not fit.
//! 2. First frame: all strands are placed at rest on the skin, those that start in a solid are moved out, and the pre-roll runs in that
//!    pose.
//! 3. Roots: each guide gets the motion of its root from the last frame to this one, as a screw, and the share of it that the whole strand
//!    follows.
//! 4. Steps: tasks of 32 guides go through all steps of the frame on their own, up to 16 at a time, because that many positions of the
//!    colliders are
//!    kept. Guides do not see each other, thus tasks need no order, and the number of threads changes no bits.
//! 5. Output: guides are copied, followers are placed beside them, tangents are written.

use super::bind::HairBind;
use super::frame::{Frame, Guides, Moment, RUN, Task};
use super::precision::HairReal;
use super::settings::HairSettings;
use super::state::{CHUNK, Drive, HairState, Kept, Root};
use super::strands_out::{Out, write_strands};
use super::volume::{HairVolume, Stretch};
use super::wind::Gusts;
use crate::collide::{
    Collider, Contact, PerChunk, PerStrand, Placement, Rigid, RigidMotion, Solids,
};
use crate::{Par, for_each_chunk};
use arrayvec::ArrayVec;
use sinew_geom::{Affine, PackedAffine, Real, Vec3};
use std::ops::Range;

/// Why a frame was not simulated.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HairError {
    /// The number of transforms is not the number of strands.
    #[error("found {found} transforms, expected one for each of {expected} strands")]
    Transforms {
        /// Transforms given.
        found: usize,
        /// Strands bound.
        expected: usize,
    },
    /// An output does not have one entry per vertex.
    #[error("output `{output}` has a length of {found} vertices, but the strands have {expected}")]
    Output {
        /// `positions` or `tangents`.
        output: &'static str,
        /// Entries it has.
        found: usize,
        /// Vertices bound.
        expected: usize,
    },
    /// The state belongs to other strands.
    #[error("the state belongs to other strands")]
    State,
    /// A contact names a collider that does not exist.
    #[error("contact {contact} refers to collider {found}, but there are {expected} colliders")]
    Collider {
        /// Index of the contact.
        contact: usize,
        /// What it names.
        found: usize,
        /// Colliders given.
        expected: usize,
    },
}

/// Simulation of one frame. Everything is in scene space, metres and seconds.
///
/// # Cost
/// A few hundred operations per guide vertex and step without contacts, in single precision on eight strands at once. Near colliders,
/// distances are sampled. Followers are placed once per frame. It allocates nothing, except in the first frame with another number of
/// contacts.
#[derive(Debug)]
pub struct HairJob<'a, R: HairReal = f32> {
    /// From setup.
    pub bind: &'a HairBind,
    /// For each strand, the skin's transform at its root (scene space now, from scene space at bind): a blended joint matrix, scale
    /// allowed. Those of followers are read if `HairBind::with_own_roots` says so. A transform that is not finite leaves the root where it
    /// was.
    pub transforms: &'a [PackedAffine],
    /// Seconds since the last frame. With 0 or less nothing moves; the motion of the roots then comes with the next frame.
    pub dt_secs: f32,
    /// Parameters.
    pub settings: &'a HairSettings,
    /// Solids, with their motion since the last frame.
    pub colliders: &'a [Collider<'a>],
    /// Which of the colliders the hair touches, with margin and friction.
    pub contacts: &'a [Contact],
    /// From [`HairState::new`] of the same bind. It carries the motion from frame to frame.
    pub state: &'a mut HairState<R>,
    /// Output: positions of all vertices in scene space, guides and followers, strand after strand.
    pub positions: &'a mut [[f32; 3]],
    /// Output: unit tangents of all vertices, from root to tip.
    pub tangents: Option<&'a mut [[f32; 3]]>,
    /// Threads.
    pub par: Par,
}

impl<R: HairReal> HairJob<'_, R> {
    /// Simulates the frame and writes positions and tangents. The result is the same bits for any [`Par`].
    ///
    /// A strand whose numbers become infinite restarts at rest on the skin.
    ///
    /// # Errors
    /// [`HairError`] if an input does not fit what was bound; nothing changes then.
    pub fn run(mut self) -> Result<(), HairError> {
        self.check()?;
        self.state.make_room(self.bind, self.contacts.len());
        if !self.state.started {
            self.start();
        }
        let (time, steps) = self.settings.substeps(self.dt_secs);
        if steps > 0 {
            self.aim(time);
            self.advance((time, steps), true);
        }
        let out = Out {
            bind: self.bind,
            state: self.state,
            settings: self.settings,
            transforms: self.transforms,
            colliders: self.colliders,
            contacts: self.contacts,
            par: self.par,
        };
        write_strands(out, self.positions, self.tangents);
        Ok(())
    }

    fn check(&self) -> Result<(), HairError> {
        let (found, expected) = (self.transforms.len(), self.bind.strands.len());
        if found != expected {
            return Err(HairError::Transforms { found, expected });
        }
        let expected = self.bind.vertex_count();
        let tangents = self.tangents.as_ref().map_or(expected, |t| t.len());
        for (output, found) in [("positions", self.positions.len()), ("tangents", tangents)] {
            if found != expected {
                return Err(HairError::Output {
                    output,
                    found,
                    expected,
                });
            }
        }
        if !self.state.fits(self.bind) {
            return Err(HairError::State);
        }
        let expected = self.colliders.len();
        match self.contacts.iter().position(|c| c.collider >= expected) {
            Some(contact) => Err(HairError::Collider {
                contact,
                found: self.contacts[contact].collider,
                expected,
            }),
            None => Ok(()),
        }
    }

    /// The root's frame and scale as the skin has it now.
    fn root(&self, guide: usize) -> Option<(Rigid<R>, R)> {
        let transform = self.transforms[self.bind.guides[guide] as usize].unpack::<R>();
        root_of(&transform, R::vec3(self.bind.roots[guide]))
    }

    /// All strands at rest on the skin, out of what they begin in; then the pre-roll.
    fn start(&mut self) {
        for guide in 0..self.bind.guide_count() {
            let (frame, scale) = self.root(guide).unwrap_or((Rigid::identity(), R::one()));
            self.state.roots[guide] = Root {
                frame,
                scale,
                velocity: Vec3::zeros(),
            };
            self.state.drives[guide] = Drive {
                motion: RigidMotion::still(frame),
                scales: [scale; 2],
                share: R::zero(),
                jumps: false,
            };
            let range = self.bind.guide_range(guide);
            Kept::at_rest(
                self.bind.guide_vertices(guide),
                &mut self.state.kept[range.clone()],
            );
            for i in range {
                let offset = R::vec3(self.bind.vertices[i].offset) * scale;
                self.state.positions[i] = frame.point(offset);
            }
        }
        self.state.started = true;
        let settings = self.settings;
        if !self.contacts.is_empty() {
            let time = settings.step_secs();
            let frame = Timing {
                time,
                steps: 1,
                moving: false,
            };
            self.for_each_task(Task::Free, &settings.calm(), &frame);
        }
        self.state.time_secs = -f64::from(settings.pre_roll_secs.clamp(0.0, 1e4));
        for piece in settings.pre_roll() {
            for _ in 0..piece.times {
                self.advance((piece.secs, piece.steps), false);
            }
        }
        self.state.time_secs = 0.0;
    }

    /// Where the roots go in this frame.
    fn aim(&mut self, time: f32) {
        let time = R::from_single(time);
        let limit = R::from_single(self.settings.teleport_distance.max(1e-6));
        let [angle, more] = self.settings.teleport_turn().map(R::from_single);
        let least = R::from_single(self.settings.root_motion_share.clamp(0.0, 1.0));
        for guide in 0..self.bind.guide_count() {
            let root = self.state.roots[guide];
            let (frame, scale) = self.root(guide).unwrap_or((root.frame, root.scale));
            let velocity = (frame.translation - root.frame.translation) / time;
            let jump = (velocity - root.velocity).norm() * time;
            let turn = root.frame.rotation.angle_to(&frame.rotation);
            let over = ((jump - limit) / limit).max((turn - angle) / more);
            let over = over.clamp(R::zero(), R::one());
            let jumps = over >= R::one();
            let from = if jumps { frame } else { root.frame };
            self.state.drives[guide] = Drive {
                motion: RigidMotion::between(from, frame),
                scales: [root.scale, scale],
                share: least + (R::one() - least) * over,
                jumps,
            };
            self.state.roots[guide] = Root {
                frame,
                scale,
                velocity,
            };
        }
    }

    /// Steps of equal length. Where the scene does not move, colliders stay where they are at the frame's beginning.
    fn advance(&mut self, (time, steps): (f32, usize), moving: bool) {
        let frame = Timing {
            time,
            steps,
            moving,
        };
        self.for_each_task(Task::Advance, self.settings, &frame);
        self.state.time_secs += f64::from(time);
    }

    /// Does `task` for all guides, up to [`RUN`] steps at a time.
    fn for_each_task(&mut self, task: Task, settings: &HairSettings, timing: &Timing) {
        let state = &mut *self.state;
        let volume = self.bind.volume.as_ref();
        let volume = volume.filter(|_| settings.volume > 0.0 && task == Task::Advance);
        let run = volume.map_or(RUN, |_| HairVolume::steps(timing.step_secs()).min(RUN));
        for first in (0..timing.steps).step_by(run) {
            if let Some(volume) = volume {
                let last = timing.steps.min(first + run);
                let stretch = Stretch {
                    span: [first, last].map(|s| R::from_double(count(s) / count(timing.steps))),
                    secs: timing.step_secs() * count(last - first),
                    detail: settings.shown_detail(),
                    par: self.par,
                };
                let strands = (state.drives.as_slice(), state.kept.as_slice());
                let out = (&mut state.grid, state.pushes.as_mut_slice());
                volume.push(self.bind, (settings.volume, &stretch), strands, out);
            }
            let (ends, placements) = state.placements.split_at_mut(self.contacts.len());
            let end = if timing.moving { 1.0 } else { 0.0 };
            let frame = Frame {
                bind: self.bind,
                drives: &state.drives,
                laws: settings.laws(timing.step_secs()),
                gravity: R::vec3(settings.gravity),
                pulled: settings.global_range,
                detail: settings.shown_detail(),
                gusts: Gusts::new(settings),
                pushes: volume.map_or(&[], |_| state.pushes.as_slice()),
                moments: timing.moments(
                    first..timing.steps.min(first + run),
                    state.time_secs,
                    (self.colliders, self.contacts),
                    placements,
                ),
                ends: Solids::place(self.colliders, self.contacts, ends, [end; 2]),
            };
            let offsets = self.bind.offsets.as_slice();
            let guides = Guides {
                kept: PerStrand {
                    offsets,
                    items: &mut state.kept,
                },
                positions: PerStrand {
                    offsets,
                    items: &mut state.positions,
                },
            };
            let rooms = PerChunk {
                strands: CHUNK,
                each: self.bind.longest,
                items: &mut state.work,
            };
            let (count, outputs) = (self.bind.guide_count(), (guides, rooms));
            for_each_chunk(self.par, count, CHUNK, outputs, &|range, outputs| {
                let (mut guides, rooms) = outputs;
                R::run(task, &frame, range, &mut guides, rooms.items);
            });
        }
    }
}

/// A frame's steps.
struct Timing {
    time: f32,
    steps: usize,
    /// Whether colliders move.
    moving: bool,
}

impl Timing {
    fn step_secs(&self) -> f64 {
        f64::from(self.time) / count(self.steps)
    }

    /// Up to [`RUN`] steps, with the colliders where they are then; `placements` is room for them.
    fn moments<'a, R: Real>(
        &self,
        run: Range<usize>,
        begin_secs: f64,
        (colliders, contacts): (&'a [Collider<'a>], &'a [Contact]),
        mut placements: &'a mut [Placement<R>],
    ) -> ArrayVec<Moment<'a, R>, RUN> {
        let mut moments = ArrayVec::new();
        for step in run {
            let span = [step, step + 1].map(|s| count(s) / count(self.steps));
            let placing = if self.moving {
                span.map(|s| s.to_single())
            } else {
                [0.0; 2]
            };
            let (room, left) = placements.split_at_mut(contacts.len());
            placements = left;
            moments.push(Moment {
                span: span.map(R::from_double),
                now_secs: begin_secs + self.step_secs() * count(step + 1),
                solids: Solids::place(colliders, contacts, room, placing),
            });
        }
        moments
    }
}

/// Rigid part and size of a skin transform at a root; `None` where it is not finite.
pub(crate) fn root_of<R: Real>(transform: &Affine<R>, root: Vec3<R>) -> Option<(Rigid<R>, R)> {
    let scale = transform.linear.determinant().abs().cbrt();
    let frame = Rigid {
        translation: transform.point(root),
        ..Rigid::of(transform)
    };
    (frame.is_finite() && scale.is_finite()).then_some((frame, scale))
}

fn count(steps: usize) -> f64 {
    steps as f64
}
