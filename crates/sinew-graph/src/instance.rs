//! One animated character: frame buffers, state and parameter values of a [`BoundGraph`], and the CPU executor.

mod host;
mod outputs;
mod parameters;
mod rest_offsets;
mod state;
mod workspace;

use crate::bind::{BindError, BindOptions, BoundGraph};
use crate::execute::{Buffer, Frame, Sources, UpdateError};
use crate::input::InputBinding;
use crate::plan::{ParameterError, Plan};
use crate::program::Step;
pub use host::HostSteps;
pub use outputs::OutputMesh;
pub use parameters::ParameterState;
pub use rest_offsets::RestOffsetError;
use sinew_deform::{Par, ParameterValue};
pub use state::{DeviceState, StateError, StateHome};
use std::sync::Arc;
use workspace::{Given, Steps, Workspace};

/// One character of a bound graph: frame buffers, state and parameter values.
#[derive(Debug)]
pub struct Instance {
    graph: Arc<BoundGraph>,
    work: Workspace,
    /// The frame before, of those buffers that keep it.
    previous: Vec<Option<Buffer>>,
    parameters: ParameterState,
    value_inputs: Vec<Vec<f32>>,
}

impl BoundGraph {
    /// Creates the instance of one character: frame buffers, state and parameter values.
    pub fn instance(self: &Arc<Self>) -> Instance {
        Instance::new(self.clone())
    }
}

impl Instance {
    /// Binds a plan for one character: [`BoundGraph::bind`] and [`BoundGraph::instance`] in one call.
    ///
    /// # Errors
    /// As [`BoundGraph::bind`].
    pub fn bind<'o>(
        plan: Arc<Plan>,
        inputs: &[InputBinding],
        parameters: &[(&str, ParameterValue)],
        options: impl Into<BindOptions<'o>>,
    ) -> Result<Self, BindError> {
        Ok(Arc::new(BoundGraph::bind(plan, inputs, parameters, options)?).instance())
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

    /// The bound graph that it shares with other instances.
    pub fn graph(&self) -> &Arc<BoundGraph> {
        &self.graph
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.graph.plan
    }

    /// Goes on with another binding, such as [`BoundGraph::with_inputs`]. The next frame is a first frame. Parameters of the same name
    /// keep their values; rest offsets are forgotten.
    pub fn rebind(&mut self, graph: &Arc<BoundGraph>) {
        let parameters = self.parameters.carried(&self.graph, graph);
        *self = Self::new(graph.clone());
        self.parameters = parameters;
    }

    /// Sets a parameter for the following frames. The value replaces the animation of the parameter, if any.
    ///
    /// # Errors
    /// [`ParameterError`] if there is no such parameter, the value does not fit, or the parameter is read in setup only.
    pub fn set_parameter(
        &mut self,
        name: &str,
        value: &ParameterValue,
    ) -> Result<(), ParameterError> {
        self.parameters.set(&self.graph, name, value)
    }

    /// Gives this instance another rest shape. `offsets` has one vector per vertex, added to the rest positions that nodes and
    /// outputs read as current positions in the following frames. Zeros restore the bound shape.
    ///
    /// Setup results stay those of the bound mesh: joints, weights and details, rest normals and tangents, results of nodes that run in
    /// setup. To get normals of the new shape, add `tangent_frames` downstream. Takes 12 bytes per vertex from the first call on.
    ///
    /// # Errors
    /// [`RestOffsetError`]; nothing changes then.
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

    /// Computes one frame. You may leave out inputs that no step reads.
    ///
    /// Does not allocate with [`Par::Seq`], nor with [`Par::Rayon`] inside a thread pool (`ThreadPool::install`). From outside a pool,
    /// the queue of rayon allocates sometimes.
    ///
    /// # Errors
    /// [`UpdateError`] if a pose or values are missing or do not fit the bound inputs.
    pub fn update(&mut self, frame: &Frame<'_>, par: Par) -> Result<(), UpdateError> {
        self.update_watched(frame, par, &mut |_| {})
    }

    /// As [`Self::update`], and calls `done` after each step. Use it to measure times.
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

    /// Forgets the previous frames: solvers restart, and after the next frame the previous outputs equal the current ones.
    /// Parameters keep their values.
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

    /// Bytes of this instance: frame buffers and scratch. [`BoundGraph::memory_bytes`] counts the shared data.
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
