//! A character that plays: frame number in, outputs out.

use super::runner::not_finite;
use super::{Cast, FieldGrid, Output, PlayError, RunError, Runner, StateFault, Values};
use crate::deform::NodeKind;
use crate::geom::Pose;
use crate::graph::{BoundGraph, Frame, StateHome};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A runner with all that its frames need: the cast, numbers for values inputs, a clip and its speed.
#[derive(Debug)]
pub struct Player {
    runner: Runner,
    cast: Cast,
    values: Vec<Values>,
    clip: Option<String>,
    fps: f64,
    last: Option<Moment>,
    /// Empty between frames; their memory is used again.
    poses: Vec<(usize, &'static Pose)>,
    rows: Vec<(usize, &'static [f32])>,
}

/// What saved states begin with.
const STATE_MAGIC: &[u8; 8] = b"SNWPLAY1";

/// Where a state of [`Player::save_state`] was saved and can go on; `None` where the bytes are no such state.
pub fn state_home(state: &[u8]) -> Option<StateHome> {
    let (_, body) = state.strip_prefix(STATE_MAGIC)?.split_at_checked(16)?;
    StateHome::of(body)
}

#[derive(Clone, Copy, Debug)]
struct Moment {
    number: i64,
    time_secs: f64,
}

impl Player {
    /// Plays `clip` of the main character, without a name its first. Frame n is at `n / fps` seconds. `cast` is the one that the
    /// runner's graph was bound with, or a clone of it.
    ///
    /// # Errors
    /// [`PlayError::NoClip`], [`PlayError::Values`] where a values input has no numbers, [`PlayError::Fps`].
    pub fn new(
        runner: Runner,
        cast: Cast,
        values: Vec<Values>,
        clip: Option<&str>,
        fps: f64,
    ) -> Result<Self, PlayError> {
        if !(fps.is_finite() && fps > 0.0) {
            return Err(PlayError::Fps { found: fps });
        }
        Values::check_complete(runner.graph().plan(), &values)?;
        Ok(Self {
            clip: cast.main().find_clip_name(clip)?,
            runner,
            cast,
            values,
            fps,
            last: None,
            poses: Vec::new(),
            rows: Vec::new(),
        })
    }

    /// As [`Runner::read_fields`].
    ///
    /// # Errors
    /// `PlayError::Device` where a graphics device failed.
    pub fn read_fields(&mut self) -> Result<Vec<(String, FieldGrid)>, PlayError> {
        self.runner.read_fields()
    }

    /// Poses the cast and evaluates frame `number`, any one. The time since the frame before is that between their
    /// numbers (less than zero where it goes back), zero for the first.
    ///
    /// On the processor positions are checked; on a graphics device nothing is waited for or brought back, so that
    /// [`Self::read_outputs`] does that. Copies no mesh; from the second frame on it allocates nothing of its own.
    ///
    /// # Errors
    /// [`PlayError::Update`], after which the frame before is still the last; [`PlayError::NotFinite`].
    pub fn advance(&mut self, number: i64) -> Result<(), PlayError> {
        let time_secs = self.time_secs(number);
        self.cast.pose(self.clip.as_deref(), time_secs);
        self.evaluate_posed(number, time_secs)
    }

    /// As [`Self::advance`], with the main character in a pose that no clip has.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn advance_posed(&mut self, number: i64, pose: &Pose) -> Result<(), PlayError> {
        let time_secs = self.time_secs(number);
        self.cast.pose(self.clip.as_deref(), time_secs);
        self.cast.set_main_pose(pose);
        self.evaluate_posed(number, time_secs)
    }

    /// Plays another clip of the main character from the next frame on, which is a first one; nothing is bound anew.
    ///
    /// # Errors
    /// [`PlayError::NoClip`], after which the clip is the one that it was.
    pub fn set_clip(&mut self, clip: Option<&str>) -> Result<(), PlayError> {
        self.clip = self.cast.main().find_clip_name(clip)?;
        self.restart();
        Ok(())
    }

    fn evaluate_posed(&mut self, number: i64, time_secs: f64) -> Result<(), PlayError> {
        let moment = Moment { number, time_secs };
        let frame = number;
        let evaluated = self.evaluate(moment);
        evaluated.map_err(|source| PlayError::Update { frame, source })?;
        self.last = Some(moment);
        match self.runner.not_finite() {
            None => Ok(()),
            Some((output, vertex)) => Err(PlayError::NotFinite {
                frame,
                output: output.to_owned(),
                vertex,
            }),
        }
    }

    /// Shows `number` as it is in play: [`Self::advance`] to that frame alone where no node remembers anything. A graph with solvers (hair)
    /// plays all frames since the last one, or all from frame 0 on, which is the first one; going back, or to the last frame again, starts
    /// anew. `before` is given the number of each frame before it is played, to stop there.
    ///
    /// # Errors
    /// Those of [`Self::advance`] and of `before`.
    pub fn seek<E: From<PlayError>>(
        &mut self,
        number: i64,
        mut before: impl FnMut(i64) -> Result<(), E>,
    ) -> Result<(), E> {
        for number in self.way_to(number) {
            before(number)?;
            self.advance(number)?;
        }
        Ok(())
    }

    fn way_to(&mut self, number: i64) -> RangeInclusive<i64> {
        let mut nodes = self.graph().plan().nodes().iter();
        if !nodes.any(|n| n.desc.kind == NodeKind::Solver) {
            return number..=number;
        }
        match self.last {
            Some(last) if last.number < number => last.number + 1..=number,
            Some(_) => {
                self.restart();
                number.min(0)..=number
            }
            None => number.min(0)..=number,
        }
    }

    fn evaluate(&mut self, moment: Moment) -> Result<(), RunError> {
        let mut poses = emptied(std::mem::take(&mut self.poses));
        let mut rows = emptied(std::mem::take(&mut self.rows));
        poses.extend(self.cast.other_posed_inputs());
        let values = self.values.iter();
        rows.extend(values.map(|v| (v.input(), v.of_frame(moment.number))));
        let updated = self.runner.update(&Frame {
            time_secs: moment.time_secs,
            dt_secs: self.last.map_or(0.0, |l| moment.time_secs - l.time_secs),
            pose: self.cast.poses().first(),
            poses: &poses,
            values: &rows,
        });
        (self.poses, self.rows) = (emptied(poses), emptied(rows));
        updated
    }

    /// Makes the next frame a first one: no time has passed, solvers start anew, and the frame before equals it. Parameters that were
    /// set stay.
    pub fn restart(&mut self) {
        self.runner.reset();
        self.last = None;
    }

    /// What the frames to come depend on ([`crate::graph::Instance::save_state`]), with the last frame's number, for [`Self::restore_state`] of a
    /// player that runs at the same place ([`state_home`]). Waits for a graphics device. Allocates.
    ///
    /// # Errors
    /// [`PlayError::State`] before the first frame, and where a graphics device failed.
    pub fn save_state(&self) -> Result<Vec<u8>, PlayError> {
        let last = self.last.ok_or(StateFault::NoFrame)?;
        let state = self.runner.save_state()?;
        let mut out = STATE_MAGIC.to_vec();
        out.extend_from_slice(&last.number.to_le_bytes());
        out.extend_from_slice(&last.time_secs.to_le_bytes());
        out.extend_from_slice(&state);
        Ok(out)
    }

    /// Brings back what [`Self::save_state`] gave, of a player of the same graph and character: the next frame is what it would have been there. Gives the number
    /// of the last frame before it.
    ///
    /// # Errors
    /// [`PlayError::State`] where the bytes are no state, one of something else, or one that was saved on the processor and comes to a graphics
    /// device, or the other way round.
    pub fn restore_state(&mut self, bytes: &[u8]) -> Result<i64, PlayError> {
        let body = bytes.strip_prefix(STATE_MAGIC);
        let (number, body) = body
            .and_then(<[u8]>::split_first_chunk)
            .ok_or(StateFault::Format)?;
        let (time, body) = body.split_first_chunk().ok_or(StateFault::Format)?;
        self.runner.restore_state(body)?;
        let number = i64::from_le_bytes(*number);
        let time_secs = f64::from_le_bytes(*time);
        self.last = Some(Moment { number, time_secs });
        Ok(number)
    }

    /// Copies of all outputs of the last frame but poses, with their names, in document order. Waits for a graphics device.
    ///
    /// # Errors
    /// [`PlayError::NotFinite`] as [`Self::advance`]; `PlayError::Device` where a graphics device failed.
    pub fn read_outputs(&mut self) -> Result<Vec<(String, Output)>, PlayError> {
        let outputs = self.runner.read_outputs()?;
        for (name, output) in &outputs {
            let Output::Mesh(mesh) = output else { continue };
            if let (Some(last), Some(vertex)) = (self.last, not_finite(&mesh.positions)) {
                return Err(PlayError::NotFinite {
                    frame: last.number,
                    output: name.clone(),
                    vertex,
                });
            }
        }
        Ok(outputs)
    }

    /// Where frames are evaluated; match on it to look at results without a copy.
    pub fn runner(&self) -> &Runner {
        &self.runner
    }

    /// The same, to set parameters and to read back from a device.
    pub fn runner_mut(&mut self) -> &mut Runner {
        &mut self.runner
    }

    /// The graph that is played.
    pub fn graph(&self) -> &Arc<BoundGraph> {
        self.runner.graph()
    }

    /// Characters, posed as in the last frame.
    pub fn cast(&self) -> &Cast {
        &self.cast
    }

    /// Name of the main character's clip that is played; `None` where it has none.
    pub fn clip(&self) -> Option<&str> {
        self.clip.as_deref()
    }

    /// Number of the last frame; `None` before the first.
    pub fn frame(&self) -> Option<i64> {
        self.last.map(|l| l.number)
    }

    /// Frames a second.
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// When a frame is, in seconds.
    pub fn time_secs(&self, number: i64) -> f64 {
        let number = number as f64;
        number / self.fps
    }
}

/// An empty list in the memory of another one, whose elements were borrowed from elsewhere: collecting works in place.
fn emptied<'a, T: ?Sized>(mut list: Vec<(usize, &T)>) -> Vec<(usize, &'a T)> {
    list.clear();
    list.into_iter().map_while(|_| None).collect()
}
