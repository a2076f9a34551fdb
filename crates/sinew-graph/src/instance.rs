//! One character that moves: frame buffers, state and parameter values of a [`BoundGraph`], and the executor on the
//! processor.

mod frame;
mod host;
pub(crate) mod memory;
mod outputs;
mod parameters;
mod rest_offsets;
pub(crate) mod run;
mod state;
mod workspace;

use crate::bind::{BindError, BindOptions, BoundGraph, InputBinding};
use crate::plan::Plan;
use crate::program::Step;
pub use frame::{Frame, UpdateError};
pub(crate) use frame::{Wanted, check as check_frame, wanted};
pub use host::HostSteps;
use memory::{Buffer, Sources};
pub use outputs::OutputMesh;
pub(crate) use parameters::find_parameter;
pub use parameters::{ParameterError, ParameterState};
pub use rest_offsets::RestOffsetError;
use sinew_deform::{Par, ParameterValue};
pub use state::{DeviceState, StateError, StateHome};
use std::sync::Arc;
use workspace::{Given, Steps, Workspace};

/// A bound graph at work: frame buffers, state and parameter values of one character.
#[derive(Debug)]
pub struct Instance {
    graph: Arc<BoundGraph>,
    work: Workspace,
    /// The frame before, of those buffers that keep it.
    previous: Vec<Option<Buffer>>,
    parameters: ParameterState,
    value_inputs: Vec<Vec<f32>>,
}

impl Instance {
    /// Binds a plan for one character: [`BoundGraph::bind`] and [`BoundGraph::instance`] in one.
    ///
    /// # Errors
    /// As [`BoundGraph::bind`] and [`BoundGraph::instance`].
    pub fn bind<'o>(
        plan: Arc<Plan>,
        inputs: &[InputBinding],
        parameters: &[(&str, ParameterValue)],
        options: impl Into<BindOptions<'o>>,
    ) -> Result<Self, BindError> {
        Arc::new(BoundGraph::bind(plan, inputs, parameters, options)?).instance()
    }

    pub(crate) fn new(graph: Arc<BoundGraph>) -> Self {
        let work = Workspace::new(&graph, Steps::All);
        let kept = work.buffers.iter().zip(&graph.program.frame_buffers);
        let previous = kept.map(|(b, d)| d.previous.then(|| b.clone())).collect();
        let inputs = graph.plan.inputs().iter();
        Self {
            previous,
            parameters: ParameterState::new(&graph),
            value_inputs: inputs.map(|i| vec![0.0; i.count]).collect(),
            work,
            graph,
        }
    }

    /// What it shares with other instances.
    pub fn graph(&self) -> &Arc<BoundGraph> {
        &self.graph
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.graph.plan
    }

    /// Sets a parameter for the frames to come; an animated one stops following its keys.
    ///
    /// # Errors
    /// [`ParameterError`] where there is no such parameter, the value does not fit, or it is for setup only.
    pub fn set_parameter(
        &mut self,
        name: &str,
        value: &ParameterValue,
    ) -> Result<(), ParameterError> {
        self.parameters.set(&self.graph, name, value)
    }

    /// Gives this instance a rest mesh of another shape: `offsets`, one a vertex, are added to the rest positions that nodes and
    /// outputs read as current positions, in the frames to come. Zeros bring the shape back that was bound.
    ///
    /// What setup made stays that of the mesh that was bound: joints, weights and details, normals and tangents at rest, results of
    /// nodes that run in setup. Where normals should fit the other shape, put `tangent_frames` behind. Takes 12 bytes a vertex, from the first call on.
    ///
    /// # Errors
    /// [`RestOffsetError`]; nothing has changed then.
    pub fn set_rest_offsets(
        &mut self,
        input: &str,
        offsets: &[[f32; 3]],
    ) -> Result<(), RestOffsetError> {
        let mut moved = Vec::new();
        let mesh = self.graph.offset_rest(input, offsets, &mut moved)?;
        self.work.moved_rest[mesh] = moved;
        Ok(())
    }

    /// One frame. Allocates nothing with [`Par::Seq`], nor with [`Par::Rayon`] when called from inside a pool
    /// (`ThreadPool::install`); from outside, rayon's queue allocates now and then. Inputs that no step reads may
    /// be left out.
    ///
    /// # Errors
    /// [`UpdateError`] where a pose or values are missing or do not fit what was bound.
    pub fn update(&mut self, frame: &Frame<'_>, par: Par) -> Result<(), UpdateError> {
        self.update_watched(frame, par, &mut |_| {})
    }

    /// As [`Self::update`]; calls `done` with each step once it has run, so that the caller can take times.
    ///
    /// # Errors
    /// As [`Self::update`].
    pub fn update_watched(
        &mut self,
        frame: &Frame<'_>,
        par: Par,
        done: &mut dyn FnMut(&Step),
    ) -> Result<(), UpdateError> {
        self.graph.check_frame(frame)?;
        self.swap_previous();
        self.parameters.sample(&self.graph, frame.time_secs);
        for (index, values) in self.value_inputs.iter_mut().enumerate() {
            if let Some(given) = frame.values_of(index) {
                values.copy_from_slice(given);
            }
        }
        let given = Given {
            frame,
            values: &self.value_inputs,
            parameters: &self.parameters,
            par,
        };
        let is_first = self.work.is_fresh;
        self.work.run(&self.graph, given, done)?;
        if is_first {
            self.copy_to_previous();
        }
        Ok(())
    }

    /// Forgets the frames so far: solvers start anew, and after the next frame previous equals current.
    /// Parameters stay.
    pub fn reset(&mut self) {
        self.work.is_fresh = true;
    }

    fn swap_previous(&mut self) {
        for (now, before) in self.work.buffers.iter_mut().zip(&mut self.previous) {
            if let Some(before) = before {
                std::mem::swap(now, before);
            }
        }
    }

    fn copy_to_previous(&mut self) {
        for (now, before) in self.work.buffers.iter().zip(&mut self.previous) {
            if let Some(before) = before {
                before.copy_from(now);
            }
        }
    }

    /// Bytes of its own: frame buffers and scratch. What it shares counts in [`BoundGraph::memory_bytes`].
    pub fn memory_bytes(&self) -> usize {
        self.work.bytes(&self.graph) + self.previous_bytes()
    }

    pub(crate) fn buffer_bytes(&self) -> usize {
        self.work.buffer_bytes() + self.previous_bytes()
    }

    fn previous_bytes(&self) -> usize {
        self.previous.iter().flatten().map(Buffer::bytes).sum()
    }

    fn sources(&self) -> Sources<'_> {
        Sources {
            meshes: &self.graph.program.meshes,
            setup: &self.graph.setup,
            frame: &self.work.buffers,
            values: &self.value_inputs,
            moved_rest: &self.work.moved_rest,
            given: None,
        }
    }
}
