//! Steps on the host beside a graphics device.

use super::frame::{Frame, UpdateError};
use super::memory::Sources;
use super::parameters::ParameterState;
use super::run::input_value;
use super::state::StateError;
use super::workspace::{Given, Steps, Workspace};
use crate::bind::BoundGraph;
use crate::program::{Place, PortPlace, Step};
use arrayvec::ArrayVec;
use sinew_deform::{InputValue, MAX_PORTS, Par};
use sinew_geom::Pose;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One character's share of the host where a graphics device runs the graph: results and state of the steps that run on the host
/// ([`Step::host`]). They run first in each frame; what they make goes to the device with the frame ([`Self::array_bytes`]), or to
/// what the host writes for a node of the device ([`Self::inputs`]).
///
/// For executors on other devices; [`crate::Instance`] runs every step on the processor. Takes next to nothing for graphs
/// without such steps.
#[derive(Debug)]
pub struct HostSteps {
    graph: Arc<BoundGraph>,
    work: Workspace,
}

impl HostSteps {
    /// Room for one character. Allocates.
    pub fn new(graph: &Arc<BoundGraph>) -> Self {
        Self {
            work: Workspace::new(graph, Steps::OnHost),
            graph: graph.clone(),
        }
    }

    /// Runs the steps for a frame that [`BoundGraph::check_frame`] accepted; `parameters` have been brought to its time. One thread. Allocates
    /// nothing.
    ///
    /// # Errors
    /// [`UpdateError::Node`] where a node does not do what it declares.
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

    /// What the host has of a step's inputs in a frame, in the order of its description's: poses and arrays that the caller brought, and
    /// those that steps of the host made. `None` for all others, meshes among them.
    pub fn inputs<'a>(
        &'a self,
        step: &Step,
        frame: &'a Frame<'a>,
    ) -> ArrayVec<Option<InputValue<'a>>, MAX_PORTS> {
        let sources = Sources {
            meshes: &[],
            setup: &self.graph.setup,
            frame: &self.work.buffers,
            values: &[],
            moved_rest: &[],
            given: Some(frame),
        };
        let ports = step.inputs.iter().zip(step.desc.inputs);
        let input = |(port, desc): (&Option<PortPlace>, &sinew_deform::PortDesc)| {
            let here = port.as_ref().filter(|port| match port {
                PortPlace::Mesh(_) => false,
                PortPlace::Pose(place) | PortPlace::Array(place) => {
                    self.graph.program.is_on_host(*place)
                }
            });
            input_value(&sources, here?, desc.ty)
        };
        ports.map(input).collect()
    }

    /// What a step of the host left in a frame buffer, tightly packed; `None` for buffers that no such step writes, and for poses.
    pub fn array_bytes(&self, buffer: usize) -> Option<&[u8]> {
        let is_there = self.graph.program.is_on_host(Place::Frame(buffer));
        let buffer = self.work.buffers.get(buffer).filter(|_| is_there);
        buffer?.array_bytes()
    }

    /// The pose that a step of the host left at a place; `None` where none is, and for poses that the caller brings.
    pub fn pose(&self, place: Place) -> Option<&Pose> {
        match place {
            Place::Frame(i) => self.work.buffers.get(i)?.pose(),
            Place::Setup(i) => self.graph.setup.get(i)?.pose(),
            Place::Rest(_) | Place::Input(_) => None,
        }
    }

    /// Gives a mesh of [`crate::Program::meshes`] other rest positions, those of [`BoundGraph::offset_rest`]. Keeps a copy where a step here
    /// reads them.
    pub fn set_rest_positions(&mut self, mesh: usize, positions: &[[f32; 3]]) {
        if !self.work.reads_rest_positions(&self.graph, mesh) {
            return;
        }
        if let Some(own) = self.work.moved_rest.get_mut(mesh) {
            own.clear();
            own.extend_from_slice(positions);
        }
    }

    /// Forgets the frames so far: nodes with state start anew.
    pub fn reset(&mut self) {
        self.work.is_fresh = true;
    }

    /// State of its nodes after the last frame, by name; those without are not in it. Allocates.
    pub fn save_state(&self) -> BTreeMap<String, Vec<u8>> {
        self.work.save_state(&self.graph)
    }

    /// Brings back what [`Self::save_state`] gave; `is_first` says whether the frame that comes next is a first one.
    ///
    /// # Errors
    /// [`StateError::Node`] where a node refused its part: all start anew then.
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

    /// Bytes of the host's memory.
    pub fn memory_bytes(&self) -> usize {
        self.work.bytes(&self.graph)
    }
}
