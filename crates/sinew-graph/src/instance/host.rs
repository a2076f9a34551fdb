//! Steps that the CPU runs beside the GPU.

use super::parameters::ParameterState;
use super::state::StateError;
use super::workspace::{Given, Steps, Workspace};
use crate::bind::BoundGraph;
use crate::execute::Sources;
use crate::execute::input_value;
use crate::execute::{Frame, UpdateError};
use crate::linked;
use crate::program::{DataRef, PortData, Step};
use arrayvec::ArrayVec;
use sinew_deform::{InputValue, MAX_PORTS, Par, ParameterValue};
use sinew_geom::Pose;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::sync::Arc;

/// The CPU part of one character when the GPU runs the graph: results and state of the steps that run on the CPU ([`Step::host`]).
///
/// These steps run first in each frame. Their results are uploaded with the frame ([`Self::array_bytes`]), or go into data that the
/// CPU writes for a GPU node ([`Self::inputs`]). Takes almost no memory for graphs without such steps.
///
/// For GPU executors; [`crate::Instance`] runs every step on the CPU.
#[derive(Debug)]
pub struct HostSteps {
    graph: Arc<BoundGraph>,
    work: Workspace,
}

impl HostSteps {
    /// Creates the state of one character. Allocates.
    pub fn new(graph: &Arc<BoundGraph>) -> Self {
        Self {
            work: Workspace::new(graph, Steps::OnHost),
            graph: graph.clone(),
        }
    }

    /// Runs the steps for a frame that [`BoundGraph::check_frame`] accepted. The caller must have sampled `parameters` at its time.
    /// Uses one thread and does not allocate.
    ///
    /// # Errors
    /// [`UpdateError::Node`] if a node reads something that it does not declare.
    pub fn update(
        &mut self,
        frame: &Frame<'_>,
        parameters: &ParameterState,
    ) -> Result<(), UpdateError> {
        let given = Given {
            frame,
            values: &[],
            parameters,
            par: Par::Seq,
        };
        self.work.run(&self.graph, given, &mut |_| {})
    }

    /// The inputs of a step that the CPU has, in the order of its description: poses and arrays from the caller, and results of CPU
    /// steps. `None` for all other inputs, including meshes.
    pub fn inputs<'a>(
        &'a self,
        step: &Step,
        frame: &'a Frame<'a>,
    ) -> impl Deref<Target = [Option<InputValue<'a>>]> + use<'a> {
        let sources = self.sources(frame);
        let ports = step.inputs.iter().zip(step.desc.inputs);
        let input = |(port, desc): (&Option<PortData>, &sinew_deform::PortDesc)| {
            let here = port.as_ref().filter(|port| match port {
                PortData::Mesh(_) => false,
                PortData::Pose(place) | PortData::Array(place) => {
                    self.graph.program.is_on_host(*place)
                }
            });
            input_value(&sources, here?, desc.ty)
        };
        ports.map(input).collect::<ArrayVec<_, MAX_PORTS>>()
    }

    /// Writes the linked parameters of a step to `out`, once [`Self::update`] has run. `out` holds what [`ParameterState::write_step`]
    /// wrote for this frame. Does not allocate.
    pub fn write_links(&self, step: &Step, frame: &Frame<'_>, out: &mut [ParameterValue]) {
        linked::write(step, &self.sources(frame), out);
    }

    fn sources<'a>(&'a self, frame: &'a Frame<'a>) -> Sources<'a> {
        Sources {
            meshes: &[],
            setup: &self.graph.setup,
            frame: &self.work.buffers,
            values: &[],
            moved_rest: &[],
            given: Some(frame),
        }
    }

    /// The tightly packed content of a frame buffer that a CPU step wrote; `None` for other buffers and for poses.
    pub fn array_bytes(&self, buffer: usize) -> Option<&[u8]> {
        let is_there = self.graph.program.is_on_host(DataRef::Frame(buffer));
        let buffer = self.work.buffers.get(buffer).filter(|_| is_there);
        buffer?.array_bytes()
    }

    /// The pose that a CPU step wrote to `place`; `None` if there is none, and for poses from the caller.
    pub fn pose(&self, place: DataRef) -> Option<&Pose> {
        match place {
            DataRef::Frame(i) => self.work.buffers.get(i)?.pose(),
            DataRef::Setup(i) => self.graph.setup.get(i)?.pose(),
            DataRef::Rest(_) | DataRef::Input(_) => None,
        }
    }

    /// Sets other rest positions, computed by [`BoundGraph::offset_rest`], for a mesh of [`crate::Program::meshes`]. Keeps a copy if a CPU
    /// step reads them.
    pub fn set_rest_positions(&mut self, mesh: usize, positions: &[[f32; 3]]) {
        if !self.work.reads_rest_positions(&self.graph, mesh) {
            return;
        }
        if let Some(own) = self.work.moved_rest.get_mut(mesh) {
            own.clear();
            own.extend_from_slice(positions);
        }
    }

    /// Forgets the previous frames: nodes with state restart.
    pub fn reset(&mut self) {
        self.work.is_fresh = true;
    }

    /// State of its nodes after the last frame, by node name; nodes without state are left out. Allocates.
    pub fn save_state(&self) -> BTreeMap<String, Vec<u8>> {
        self.work.save_state(&self.graph)
    }

    /// Restores a state of [`Self::save_state`]. Set `is_first` if the next frame is the first one.
    ///
    /// # Errors
    /// [`StateError::Node`] if a node refused its state. All nodes restart then.
    pub fn restore_state(
        &mut self,
        nodes: &BTreeMap<String, Vec<u8>>,
        is_first: bool,
    ) -> Result<(), StateError> {
        self.work.is_fresh = true;
        self.work.restore_state(&self.graph, nodes)?;
        self.work.is_fresh = is_first;
        Ok(())
    }
}
