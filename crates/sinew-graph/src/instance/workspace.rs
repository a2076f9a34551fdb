//! Data of one character for steps on the CPU: all steps, or only the CPU steps beside the GPU.

use super::parameters::ParameterState;
use super::state::{NodeStates, StateError};
use crate::bind::BoundGraph;
use crate::execute::Buffer;
use crate::execute::{Frame, UpdateError};
use crate::execute::{Moment, StepState, Surroundings, run_step};
use crate::linked;
use crate::program::{DataRef, PortData, Step};
use sinew_deform::Par;

/// Which update steps run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Steps {
    All,
    /// The steps that the CPU runs beside the GPU.
    OnHost,
}

impl Steps {
    fn take(self, step: &Step) -> bool {
        self == Self::All || step.runs_on_host()
    }
}

/// Buffers, scratch and rest shapes of one character. Takes almost no memory if no step runs here.
#[derive(Debug)]
pub(super) struct Workspace {
    /// Update buffers of [`crate::Program::buffers`]; those that no step here writes are empty.
    pub(super) buffers: Vec<Buffer>,
    /// One for each update step; `None` for a step that does not run here.
    states: Vec<Option<StepState>>,
    /// Rest positions of this instance, by mesh of the program; an empty entry means those of the bound mesh.
    pub(super) moved_rest: Vec<Vec<[f32; 3]>>,
    /// Whether the next frame is the first one.
    pub(super) is_fresh: bool,
}

/// Data from outside for one frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given<'a> {
    pub(super) frame: &'a Frame<'a>,
    /// Values of earlier frames, by input.
    pub(super) values: &'a [Vec<f32>],
    pub(super) parameters: &'a ParameterState,
    pub(super) par: Par,
}

impl Workspace {
    pub(super) fn new(graph: &BoundGraph, steps: Steps) -> Self {
        let program = &graph.program;
        if steps == Steps::OnHost && !program.update_steps.iter().any(Step::runs_on_host) {
            return Self {
                buffers: Vec::new(),
                states: Vec::new(),
                moved_rest: Vec::new(),
                is_fresh: true,
            };
        }
        let buffer = |desc: &_| Buffer::new(desc, &graph.inputs);
        let buffers = program.frame_buffers.iter();
        let states = program.update_steps.iter();
        Self {
            buffers: buffers
                .map(|desc| match steps == Steps::All || desc.host {
                    true => buffer(desc),
                    false => Buffer::default(),
                })
                .collect(),
            states: states
                .map(|s| steps.take(s).then(|| StepState::new(s)))
                .collect(),
            moved_rest: vec![Vec::new(); program.meshes.len()],
            is_fresh: true,
        }
    }

    /// Runs its steps, in order; calls `done` with each.
    pub(super) fn run(
        &mut self,
        graph: &BoundGraph,
        given: Given<'_>,
        done: &mut dyn FnMut(&Step),
    ) -> Result<(), UpdateError> {
        let surroundings = Surroundings {
            meshes: &graph.program.meshes,
            setup: Some(&graph.setup),
            values: given.values,
            moved_rest: &self.moved_rest,
            given: Some(given.frame),
        };
        let time_secs = given.frame.time_secs;
        let moment = Moment {
            time_secs,
            dt_secs: given.frame.dt_secs,
            is_first: self.is_fresh,
            par: given.par,
        };
        let steps = graph.program.update_steps.iter().zip(&mut self.states);
        for (step, state) in steps.filter_map(|(step, state)| Some((step, state.as_mut()?))) {
            let values = &mut state.values;
            given.parameters.write_step(step, time_secs, values);
            linked::write(step, &surroundings.with(&self.buffers), values);
            let ran = run_step(step, state, moment, &surroundings, &mut self.buffers);
            ran.map_err(|source| UpdateError::Node {
                node: step.name.clone(),
                kind: step.desc.name,
                source,
            })?;
            done(step);
        }
        self.is_fresh = false;
        Ok(())
    }

    /// State of its nodes, by node name; nodes without state are left out.
    pub(super) fn save_state(&self, graph: &BoundGraph) -> NodeStates {
        let steps = graph.program.update_steps.iter().zip(&self.states);
        let of = |(step, state): (&Step, &Option<StepState>)| {
            let bytes = step.bound.save_state(state.as_ref()?.scratch.as_ref());
            (!bytes.is_empty()).then(|| (step.name.clone(), bytes))
        };
        steps.filter_map(of).collect()
    }

    /// Restores the state; nodes that are not in `saved` get no bytes.
    pub(super) fn restore_state(
        &mut self,
        graph: &BoundGraph,
        saved: &NodeStates,
    ) -> Result<(), StateError> {
        let steps = graph.program.update_steps.iter().zip(&mut self.states);
        for (step, state) in steps.filter_map(|(step, state)| Some((step, state.as_mut()?))) {
            state.reaches.forget();
            let bytes = saved.get(&step.name).map_or(&[][..], Vec::as_slice);
            let restored = step.bound.restore_state(bytes, state.scratch.as_mut());
            restored.map_err(|source| StateError::Node {
                node: step.name.clone(),
                source,
            })?;
        }
        Ok(())
    }

    /// Whether a step here reads the rest positions of a mesh.
    pub(super) fn reads_rest_positions(&self, graph: &BoundGraph, mesh: usize) -> bool {
        let steps = graph.program.update_steps.iter().zip(&self.states);
        let mut here = steps.filter(|(_, state)| state.is_some());
        let is_it = |port: &Option<PortData>| matches!(port, Some(PortData::Mesh(places)) if places[0] == Some(DataRef::Rest(mesh)));
        here.any(|(step, _)| step.inputs.iter().any(is_it))
    }

    pub(super) fn buffer_bytes(&self) -> usize {
        self.buffers.iter().map(Buffer::bytes).sum()
    }

    /// Buffers, scratch and rest shapes.
    pub(super) fn bytes(&self, graph: &BoundGraph) -> usize {
        let steps = graph.program.update_steps.iter().zip(&self.states);
        let here = steps.filter(|(_, state)| state.is_some());
        let scratch: usize = here.map(|(s, _)| s.bound.scratch_bytes()).sum();
        let moved = self.moved_rest.iter();
        let moved: usize = moved.map(|m| size_of_val(m.as_slice())).sum();
        scratch + moved + self.buffer_bytes()
    }
}
