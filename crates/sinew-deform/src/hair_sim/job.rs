//! One frame of all strands.

use super::bind::HairBind;
use super::settings::HairSettings;
use super::state::{CHUNK, Drive, HairState, Root};
use super::step::{StepConstants, StrandStep, WorkVertex};
use super::strands_out::{Out, write_strands};
use super::wind::Gusts;
use crate::collide::{Collider, Contact, PerChunk, PerStrand, Rigid, RigidMotion, Solids};
use crate::{Par, SplitMut, for_each_chunk};
use sinew_geom::{Affine, PackedAffine, Real, Vec3};
use std::ops::Range;

/// Why a frame was not simulated.
#[derive(Debug, thiserror::Error, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HairError {
    /// There is not one transform for each strand.
    #[error("{found} transforms for {expected} strands")]
    Transforms {
        /// Transforms given.
        found: usize,
        /// Strands bound.
        expected: usize,
    },
    /// An output does not have one entry for each vertex.
    #[error("output `{output}` has room for {found} vertices, the strands have {expected}")]
    Output {
        /// `positions` or `tangents`.
        output: &'static str,
        /// Entries it has.
        found: usize,
        /// Vertices bound.
        expected: usize,
    },
    /// The state belongs to other strands.
    #[error("the state was made for other strands")]
    State,
    /// A contact names a collider that is not there.
    #[error("contact {contact} refers to collider {found}, there are {expected}")]
    Collider {
        /// Index of the contact.
        contact: usize,
        /// What it names.
        found: usize,
        /// Colliders given.
        expected: usize,
    },
}

/// One frame of work.
///
/// Cost: each guide vertex and step some 150 operations without contacts, and sampling of distances near colliders; each vertex
/// of a follower is placed once a frame. Allocates nothing, except in the first frame with another number of contacts.
#[derive(Debug)]
pub struct HairJob<'a, R: Real = f32> {
    /// From setup.
    pub bind: &'a HairBind,
    /// For each strand the skin's transform at its root (scene from scene at bind): a blended joint matrix, scale
    /// allowed. Those of followers are not read. One that is not finite leaves the strand's root where it was.
    pub transforms: &'a [PackedAffine],
    /// Time since the last frame. Zero and less: nothing moves, and the motion of roots since then comes with the next frame.
    pub dt_secs: f32,
    /// Parameters.
    pub settings: &'a HairSettings,
    /// Solids, with their motion since the last frame.
    pub colliders: &'a [Collider<'a>],
    /// Which of them the hair meets.
    pub contacts: &'a [Contact],
    /// From [`HairState::new`] of the same bind.
    pub state: &'a mut HairState<R>,
    /// Positions of all vertices in the scene, guides and followers, strand after strand.
    pub positions: &'a mut [[f32; 3]],
    /// Unit tangents of all vertices, root to tip; `None`: not wanted.
    pub tangents: Option<&'a mut [[f32; 3]]>,
    /// Threads.
    pub par: Par,
}

impl<R: Real> HairJob<'_, R> {
    /// Simulates the frame and writes positions and tangents.
    ///
    /// # Errors
    /// [`HairError`] where something does not fit what was bound; nothing changes then.
    pub fn run(mut self) -> Result<(), HairError> {
        self.check()?;
        self.state.make_room(self.bind, self.contacts.len());
        if !self.state.started {
            self.start();
        }
        let (time, steps) = self.settings.substeps(self.dt_secs);
        if steps > 0 {
            self.aim(time);
            self.advance(time, steps, true);
        }
        let out = Out {
            bind: self.bind,
            state: self.state,
            settings: self.settings,
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
            };
            let range = self.bind.guide_range(guide);
            for i in range {
                let offset = R::vec3(self.bind.vertices[i].offset) * scale;
                self.state.positions[i] = frame.point(offset);
                self.state.velocities[i] = Vec3::zeros();
            }
        }
        self.state.started = true;
        let settings = self.settings;
        if !self.contacts.is_empty() {
            let time = settings.step_secs();
            self.for_each_task(&settings.calm(), (time, 1), false, &|frame, guides, out| {
                frame.free(guides, out);
            });
        }
        self.state.time_secs = -f64::from(settings.pre_roll_secs.clamp(0.0, 1e4));
        for piece in settings.pre_roll() {
            for _ in 0..piece.times {
                self.advance(piece.secs, piece.steps, false);
            }
        }
        self.state.time_secs = 0.0;
    }

    /// Where the roots go in this frame.
    fn aim(&mut self, time: f32) {
        let time = R::from_single(time);
        let limit = R::from_single(self.settings.root_acceleration_limit.max(1e-6));
        let least = R::from_single(self.settings.root_motion_share.clamp(0.0, 1.0));
        for guide in 0..self.bind.guide_count() {
            let root = self.state.roots[guide];
            let (frame, scale) = self.root(guide).unwrap_or((root.frame, root.scale));
            let velocity = (frame.translation - root.frame.translation) / time;
            let acceleration = (velocity - root.velocity).norm() / time;
            let over = ((acceleration - limit) / limit).clamp(R::zero(), R::one());
            self.state.drives[guide] = Drive {
                motion: RigidMotion::between(root.frame, frame),
                scales: [root.scale, scale],
                share: least + (R::one() - least) * over,
            };
            self.state.roots[guide] = Root {
                frame,
                scale,
                velocity,
            };
        }
    }

    /// Steps of equal length. Where the scene does not move, colliders stay where they are at the frame's beginning.
    fn advance(&mut self, time: f32, steps: usize, moving: bool) {
        let settings = self.settings;
        self.for_each_task(settings, (time, steps), moving, &|frame, guides, out| {
            frame.run(guides, out);
        });
        self.state.time_secs += f64::from(time);
    }

    /// Runs `task` for runs of guides.
    fn for_each_task(
        &mut self,
        settings: &HairSettings,
        (time, steps): (f32, usize),
        moving: bool,
        task: &(impl Fn(&Frame<'_, R>, Range<usize>, &mut Outputs<'_, R>) + Sync),
    ) {
        let step_secs = f64::from(time) / count(steps);
        let constants = settings.constants(step_secs);
        let frame = Frame {
            bind: self.bind,
            drives: &self.state.drives,
            constants,
            gusts: Gusts::new(settings),
            begin_secs: self.state.time_secs,
            step_secs,
            steps,
            moving,
            colliders: self.colliders,
            contacts: self.contacts,
        };
        let offsets = self.bind.offsets.as_slice();
        let room = |each| (CHUNK, each);
        let outputs = Outputs {
            positions: PerStrand {
                offsets,
                items: &mut self.state.positions,
            },
            velocities: PerStrand {
                offsets,
                items: &mut self.state.velocities,
            },
            work: per_chunk(room(self.bind.longest), &mut self.state.work),
            placements: per_chunk(room(self.contacts.len()), &mut self.state.placements),
        };
        let guides = self.bind.guide_count();
        for_each_chunk(self.par, guides, CHUNK, outputs, &|range, mut out| {
            task(&frame, range, &mut out);
        });
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

fn per_chunk<T>((strands, each): (usize, usize), items: &mut [T]) -> PerChunk<'_, T> {
    PerChunk {
        strands,
        each,
        items,
    }
}

#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52 steps")]
fn count(steps: usize) -> f64 {
    steps as f64
}

/// What tasks write.
struct Outputs<'a, R: Real> {
    positions: PerStrand<'a, Vec3<R>>,
    velocities: PerStrand<'a, Vec3<R>>,
    work: PerChunk<'a, WorkVertex<R>>,
    placements: PerChunk<'a, crate::collide::Placement<R>>,
}

impl<R: Real> SplitMut for Outputs<'_, R> {
    fn split(self, mid: usize) -> (Self, Self) {
        let (p, v) = (self.positions.split(mid), self.velocities.split(mid));
        let (w, c) = (self.work.split(mid), self.placements.split(mid));
        let part = |positions, velocities, work, placements| Self {
            positions,
            velocities,
            work,
            placements,
        };
        (part(p.0, v.0, w.0, c.0), part(p.1, v.1, w.1, c.1))
    }
}

/// What tasks read.
struct Frame<'a, R: Real> {
    bind: &'a HairBind,
    drives: &'a [Drive<R>],
    constants: StepConstants<R>,
    gusts: Gusts,
    begin_secs: f64,
    step_secs: f64,
    steps: usize,
    moving: bool,
    colliders: &'a [Collider<'a>],
    contacts: &'a [Contact],
}

impl<R: Real> Frame<'_, R> {
    /// All steps of a run of guides.
    fn run(&self, guides: Range<usize>, out: &mut Outputs<'_, R>) {
        for step in 0..self.steps {
            self.step(step, guides.clone(), out);
        }
    }

    /// One step of a run of guides.
    fn step(&self, step: usize, guides: Range<usize>, out: &mut Outputs<'_, R>) {
        self.for_each_strand(step, guides, out, |strand, x, v, work| {
            strand.run(x, v, work);
            if !all_finite(x, v) {
                strand.restart(x, v);
            }
        });
    }

    /// Brings a run of guides out of the colliders that they begin in.
    fn free(&self, guides: Range<usize>, out: &mut Outputs<'_, R>) {
        self.for_each_strand(0, guides, out, |strand, x, v, work| {
            strand.free(x, v, work);
            if !all_finite(x, v) {
                strand.restart(x, v);
            }
        });
    }

    fn for_each_strand(
        &self,
        step: usize,
        guides: Range<usize>,
        out: &mut Outputs<'_, R>,
        each: impl Fn(&StrandStep<'_, R>, &mut [Vec3<R>], &mut [Vec3<R>], &mut [WorkVertex<R>]),
    ) {
        let share = |s: usize| count(s) / count(self.steps);
        let span = [share(step), share(step + 1)];
        let placing = if self.moving {
            span.map(|s| s.to_single())
        } else {
            [0.0; 2]
        };
        let room = out.placements.each;
        let placements = &mut out.placements.items[..room];
        let solids = Solids::place(self.colliders, self.contacts, placements, placing);
        let now = self.begin_secs + self.step_secs * count(step + 1);
        for (i, guide) in guides.enumerate() {
            let range = self.bind.guide_range(guide);
            let (x, v) = (out.positions.strand(i), out.velocities.strand(i));
            let work = &mut out.work.items[..range.len()];
            let strand = StrandStep {
                bound: &self.bind.vertices[range],
                constants: &self.constants,
                drive: &self.drives[guide],
                span: span.map(R::from_double),
                wind: self.gusts.at(self.bind.guides[guide], now),
                solids: &solids,
                reach: self.bind.reaches[guide],
            };
            each(&strand, x, v, work);
        }
    }
}

/// Whether every number is finite: the sum of all is, then (or they are too large to go on with).
fn all_finite<R: Real>(x: &[Vec3<R>], v: &[Vec3<R>]) -> bool {
    let sum = x.iter().chain(v).fold(Vec3::zeros(), |s, p| s + p);
    sum.iter().all(|c| c.is_finite())
}
