//! Plays a character: takes frame numbers, gives outputs.

use super::profile::Profile;
use super::runner::not_finite;
use super::{FieldGrid, Output, PlayError, PlayInputs, RunError, Runner, StateFault, Values};
use crate::deform::Par;
use crate::geom::Pose;
use crate::graph::{BoundGraph, Frame, StateHome};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A runner with the data of its frames: inputs, values, clip and frame rate.
#[derive(Debug)]
pub struct Player {
    runner: Runner,
    inputs: PlayInputs,
    values: Vec<Values>,
    clip: Option<String>,
    fps: f64,
    last: Option<Moment>,
    /// Clocks, if frames are timed.
    profile: Option<Profile>,
    /// Empty between frames; keeps its memory.
    poses: Vec<(usize, &'static Pose)>,
    rows: Vec<(usize, &'static [f32])>,
    positions: Vec<(usize, &'static [[f32; 3]])>,
}

/// First bytes of saved states.
const STATE_MAGIC: &[u8; 8] = b"SNWPLAY2";

/// What a state of [`Player::save_state`] says of itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SavedFrame {
    /// Number of the last frame before it.
    pub number: i64,
    /// Its time in seconds.
    pub time_secs: f64,
    /// The clip that was played.
    pub clip: Option<String>,
    /// The device (CPU or GPU) on which it was saved and can be restored.
    pub home: StateHome,
}

/// What a state of [`Player::save_state`] says of itself; `None` if the bytes are not a state.
pub fn saved_frame(state: &[u8]) -> Option<SavedFrame> {
    split_state(state).map(|s| s.0)
}

/// Header and body.
fn split_state(state: &[u8]) -> Option<(SavedFrame, &[u8])> {
    let rest = state.strip_prefix(STATE_MAGIC)?;
    let (number, rest) = rest.split_first_chunk()?;
    let (time, rest) = rest.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    // No clip is written as a length that no name has.
    let (clip, body) = match u32::from_le_bytes(*length) {
        u32::MAX => (None, rest),
        length => {
            let (name, body) = rest.split_at_checked(length as usize)?;
            (Some(String::from_utf8(name.to_vec()).ok()?), body)
        }
    };
    let saved = SavedFrame {
        number: i64::from_le_bytes(*number),
        time_secs: f64::from_le_bytes(*time),
        clip,
        home: StateHome::of(body)?,
    };
    Some((saved, body))
}

#[derive(Clone, Copy, Debug)]
struct Moment {
    number: i64,
    time_secs: f64,
}

impl Player {
    /// Plays `clip` of the main character; without a name, its first clip. Frame n is at `n / fps` seconds. `cast` must
    /// be the one that the runner's graph was bound with, or a clone.
    ///
    /// # Errors
    /// [`PlayError::NoClip`]; [`PlayError::Values`] if a values input has no values; [`PlayError::Fps`].
    pub fn new(
        runner: Runner,
        inputs: PlayInputs,
        values: Vec<Values>,
        clip: Option<&str>,
        fps: f64,
    ) -> Result<Self, PlayError> {
        if !(fps.is_finite() && fps > 0.0) {
            return Err(PlayError::Fps { found: fps });
        }
        Values::check_complete(runner.graph().plan(), &values)?;
        Ok(Self {
            clip: inputs.main().find_clip_name(clip)?,
            runner,
            inputs,
            values,
            fps,
            last: None,
            profile: None,
            poses: Vec::new(),
            rows: Vec::new(),
            positions: Vec::new(),
        })
    }

    /// Replaces the numbers of a values input in all frames from the next one on. Allocates.
    ///
    /// # Errors
    /// [`PlayError::Values`] if the plan has no such input, or the input has another count.
    pub fn set_values(&mut self, input: &str, values: &[f32]) -> Result<(), PlayError> {
        let made = Values::of_all_frames(self.runner.graph().plan(), input, values)?;
        self.values.retain(|v| v.input() != made.input());
        self.values.push(made);
        Ok(())
    }

    /// As [`Runner::read_fields`].
    ///
    /// # Errors
    /// `PlayError::Device` if the GPU failed.
    pub fn read_fields(&mut self) -> Result<Vec<(String, FieldGrid)>, PlayError> {
        self.runner.read_fields()
    }

    /// Poses the cast and evaluates frame `number`, which may be any number. The time step is the difference to the
    /// previous frame (negative when going back), and 0 for the first frame.
    ///
    /// On the CPU, positions are checked. On the GPU, this does not wait or read back; [`Self::read_outputs`] does.
    /// Copies no mesh. Does not allocate from the second frame on. Point caches are the exception: a frame is read from the
    /// file, and OBJ and PLY files are parsed.
    ///
    /// # Errors
    /// [`PlayError::PointCache`] and [`PlayError::Update`], after which the previous frame stays the last one;
    /// [`PlayError::NotFinite`].
    pub fn advance(&mut self, number: i64) -> Result<(), PlayError> {
        let time_secs = self.time_secs(number);
        self.inputs.pose(self.clip.as_deref(), time_secs);
        self.evaluate_posed(number, time_secs)
    }

    /// As [`Self::advance`], with a given pose of the main character.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn advance_posed(&mut self, number: i64, pose: &Pose) -> Result<(), PlayError> {
        let time_secs = self.time_secs(number);
        self.inputs.pose(self.clip.as_deref(), time_secs);
        self.inputs.set_main_pose(pose);
        self.evaluate_posed(number, time_secs)
    }

    /// Plays another clip of the main character from the next frame, which counts as a first frame. Does not bind
    /// again.
    ///
    /// # Errors
    /// [`PlayError::NoClip`]; the clip then stays the same.
    pub fn set_clip(&mut self, clip: Option<&str>) -> Result<(), PlayError> {
        self.clip = self.inputs.main().find_clip_name(clip)?;
        self.restart();
        Ok(())
    }

    /// Sets the weight of an expression of the main character (VRM), 0 to 1, from the next frame on. It is added to the morph weights of
    /// clip or pose. The names are in [`Asset::expressions`](crate::geom::Asset::expressions). The next frame does not become a first frame.
    ///
    /// # Errors
    /// [`PlayError::NoExpression`] with the known names; [`PlayError::ExpressionWeight`] if the weight is not finite.
    pub fn set_expression(&mut self, name: &str, weight: f32) -> Result<(), PlayError> {
        self.inputs.set_expression(name, weight)
    }

    /// Moves the mesh or strands of an input: positions in scene space, in metres, one per vertex of the bound mesh, which has the vertices of
    /// all selected meshes one after the other. They replace the rest positions or the point cache from the next frame on, until the
    /// next call or [`Self::clear_positions`]. Normals and tangents are computed from them. Does not allocate from the second call on.
    ///
    /// If the input has no point cache, the first call binds the graph again. The next frame then counts as a first frame, and rest offsets
    /// are forgotten. Call it before [`Self::restore_state`]. Later calls keep the state of solvers.
    ///
    /// # Errors
    /// [`PlayError::NoMeshInput`] with the known names; [`PlayError::PositionCount`]; [`PlayError::PositionNotFinite`];
    /// [`PlayError::Bind`] and `PlayError::Device` of the first call. Nothing changes then.
    pub fn set_positions(&mut self, input: &str, positions: &[[f32; 3]]) -> Result<(), PlayError> {
        let plan = self.runner.graph().plan().clone();
        self.inputs.set_positions(&plan, input, positions)?;
        let bound = self.follow_bindings();
        if bound.is_err() {
            self.inputs.clear_positions(&plan, input)?;
        }
        bound
    }

    /// Goes back from [`Self::set_positions`] to the rest positions or the point cache of an input. Without a point cache, this binds the
    /// graph again, and the next frame counts as a first frame.
    ///
    /// # Errors
    /// [`PlayError::NoMeshInput`] with the known names; [`PlayError::Bind`]; `PlayError::Device`.
    pub fn clear_positions(&mut self, input: &str) -> Result<(), PlayError> {
        let plan = self.runner.graph().plan().clone();
        self.inputs.clear_positions(&plan, input)?;
        self.follow_bindings()
    }

    /// Binds the graph again if other inputs are animated than those that it was bound with.
    fn follow_bindings(&mut self) -> Result<(), PlayError> {
        let (graph, bindings) = (self.runner.graph(), self.inputs.bindings());
        let mut pairs = graph.inputs().iter().zip(bindings);
        if pairs.all(|(a, b)| a.is_animated_mesh() == b.is_animated_mesh()) {
            return Ok(());
        }
        let graph = Arc::new(graph.with_inputs(bindings, Par::Rayon)?);
        self.runner.rebind(&graph)?;
        self.last = None;
        self.set_profile(self.profile.is_some())
    }

    fn evaluate_posed(&mut self, number: i64, time_secs: f64) -> Result<(), PlayError> {
        let moment = Moment { number, time_secs };
        let frame = number;
        self.inputs.read_point_caches(number, time_secs)?;
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

    /// Evaluates frame `number` as in continuous playback. Without solvers, this is one [`Self::advance`]. A graph with
    /// solvers (hair) plays all frames since the last one, or from frame 0. Going back, or to the last frame again,
    /// starts again from frame 0. `before` gets the number of each frame before it is played, and can stop.
    ///
    /// # Errors
    /// Errors of [`Self::advance`] and of `before`.
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
        if self.graph().plan().solvers().next().is_none() {
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
        poses.extend(self.inputs.other_posed_inputs());
        let mut positions = emptied(std::mem::take(&mut self.positions));
        positions.extend(self.inputs.moved_positions());
        let values = self.values.iter();
        rows.extend(values.map(|v| (v.input(), v.of_frame(moment.number))));
        let frame = Frame::at(moment.time_secs)
            .dt(self.last.map_or(0.0, |l| moment.time_secs - l.time_secs))
            .pose(self.inputs.poses().first())
            .poses(&poses)
            .values(&rows)
            .positions(&positions);
        let updated = match &mut self.profile {
            None => self.runner.update(&frame),
            Some(profile) => profile.update(&mut self.runner, &frame),
        };
        (self.poses, self.rows) = (emptied(poses), emptied(rows));
        self.positions = emptied(positions);
        updated
    }

    /// Times the nodes of each frame from the next one on ([`Self::node_times`]), or stops that. While it is on, a frame on the GPU waits
    /// until it is done. Off by default; it costs nothing then.
    ///
    /// # Errors
    /// `PlayError::Device` if the GPU has no timestamps.
    pub fn set_profile(&mut self, on: bool) -> Result<(), PlayError> {
        self.profile = on.then(|| Profile::new(&self.runner)).transpose()?;
        Ok(())
    }

    /// Name and seconds of each node that the last frame ran, in running order; empty if nothing was timed. The list has the nodes that Sinew
    /// added, for example for normals, and no nodes that run once, in setup. On the GPU, nodes that run in one launch have one time, and
    /// their names are joined by ` + `.
    pub fn node_times(&self) -> &[(String, f64)] {
        self.profile.as_ref().map_or(&[], |p| &p.times)
    }

    /// True if frames are timed.
    pub fn is_profiled(&self) -> bool {
        self.profile.is_some()
    }

    /// Makes the next frame a first frame: the time step is 0, solvers start again, and the previous frame equals it.
    /// Parameters stay as set.
    pub fn restart(&mut self) {
        self.runner.reset();
        self.last = None;
    }

    /// Saves the state that later frames depend on ([`crate::graph::Instance::save_state`]), with the last frame
    /// number. Restore it with [`Self::restore_state`] of a player on the same device ([`saved_frame`]). Waits for the
    /// GPU. Allocates.
    ///
    /// # Errors
    /// [`PlayError::State`] before the first frame, and if the GPU failed.
    pub fn save_state(&self) -> Result<Vec<u8>, PlayError> {
        let last = self.last.ok_or(StateFault::NoFrame)?;
        let state = self.runner.save_state()?;
        let mut out = STATE_MAGIC.to_vec();
        out.extend_from_slice(&last.number.to_le_bytes());
        out.extend_from_slice(&last.time_secs.to_le_bytes());
        let clip = self.clip.as_deref();
        let length = clip.map_or(u32::MAX, |c| u32::try_from(c.len()).unwrap_or(0));
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(clip.unwrap_or_default().as_bytes());
        out.extend_from_slice(&state);
        Ok(out)
    }

    /// Restores a state of [`Self::save_state`], from a player of the same graph and character. The next frame is the
    /// same as in that player. Gives the number of the last frame before it.
    ///
    /// # Errors
    /// [`PlayError::State`] if the bytes are not a state, belong to another graph, or were saved on the CPU and are
    /// restored on the GPU or vice versa.
    pub fn restore_state(&mut self, bytes: &[u8]) -> Result<i64, PlayError> {
        let (saved, body) = split_state(bytes).ok_or(StateFault::Format)?;
        self.runner.restore_state(body)?;
        self.last = Some(Moment {
            number: saved.number,
            time_secs: saved.time_secs,
        });
        Ok(saved.number)
    }

    /// Copies of all outputs of the last frame except poses, with names, in document order. Waits for the GPU.
    ///
    /// # Errors
    /// [`PlayError::NotFinite`] as in [`Self::advance`]; `PlayError::Device` if the GPU failed.
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

    /// The runner. Match on it to read results without a copy.
    pub fn runner(&self) -> &Runner {
        &self.runner
    }

    /// The runner, to set parameters and to read back from the GPU.
    pub fn runner_mut(&mut self) -> &mut Runner {
        &mut self.runner
    }

    /// The played graph.
    pub fn graph(&self) -> &Arc<BoundGraph> {
        self.runner.graph()
    }

    /// Characters in the pose of the last frame.
    pub fn inputs(&self) -> &PlayInputs {
        &self.inputs
    }

    /// Name of the main character's clip; `None` without clips.
    pub fn clip(&self) -> Option<&str> {
        self.clip.as_deref()
    }

    /// Number of the last frame; `None` before the first.
    pub fn frame(&self) -> Option<i64> {
        self.last.map(|l| l.number)
    }

    /// Frames per second.
    pub fn fps(&self) -> f64 {
        self.fps
    }

    /// Time of a frame in seconds.
    pub fn time_secs(&self, number: i64) -> f64 {
        let number = number as f64;
        number / self.fps
    }
}

/// An empty list that reuses the memory of a list with another lifetime: collecting works in place.
fn emptied<'a, T: ?Sized>(mut list: Vec<(usize, &T)>) -> Vec<(usize, &'a T)> {
    list.clear();
    list.into_iter().map_while(|_| None).collect()
}
