//! One character that moves: frame buffers, state and parameter values of a [`BoundGraph`], and the executor on the
//! processor.

mod frame;
pub(crate) mod memory;
mod outputs;
pub(crate) mod run;

use crate::bind::{BindError, BoundGraph, InputBinding};
use crate::keyed::assign;
use crate::plan::{ParameterSource, Plan};
use crate::value::check_value;
use frame::Wanted;
pub use frame::{Frame, UpdateError};
use memory::{Buffer, Sources};
pub use outputs::OutputMesh;
use run::{Moment, StepState, Surroundings, run_step};
use sinew_deform::{Par, ParameterValue};
use std::sync::Arc;

/// Why a parameter could not be set.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterError {
    /// No such name.
    #[error("the graph has no parameter '{name}'; it has {}", if .known.is_empty() { "none".to_owned() } else { .known.join(", ") })]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The value does not fit.
    #[error("parameter '{name}': {message}")]
    Value {
        /// Name of the parameter.
        name: String,
        /// What was found and expected.
        message: String,
    },
    /// It is read in setup and cannot change afterwards.
    #[error("parameter '{name}' is read in setup only; bind again to change it")]
    SetupOnly {
        /// Name of the parameter.
        name: String,
    },
}

/// A bound graph at work: frame buffers, state and parameter values of one character.
#[derive(Debug)]
pub struct Instance {
    graph: Arc<BoundGraph>,
    /// As [`crate::Program::buffers`] of the update says.
    pub(crate) buffers: Vec<Buffer>,
    /// The frame before, of those buffers that keep it.
    pub(crate) previous: Vec<Option<Buffer>>,
    /// One for each update step.
    states: Vec<StepState>,
    /// Current value of each of the plan's parameters; an animated one follows its keys unless it is overridden.
    parameters: Vec<ParameterValue>,
    overridden: Vec<bool>,
    value_inputs: Vec<Vec<f32>>,
    /// What each input wants with a frame.
    wanted: Vec<Wanted>,
    frames_done: u64,
}

impl Instance {
    /// Binds a plan for one character: [`BoundGraph::bind`] and [`BoundGraph::instance`] in one.
    ///
    /// # Errors
    /// As [`BoundGraph::bind`].
    pub fn bind(
        plan: Arc<Plan>,
        inputs: &[InputBinding],
        parameters: &[(&str, ParameterValue)],
        par: Par,
    ) -> Result<Self, BindError> {
        Ok(Arc::new(BoundGraph::bind(plan, inputs, parameters, par)?).instance())
    }

    pub(crate) fn new(graph: Arc<BoundGraph>) -> Self {
        let program = &graph.program;
        let descs = program.frame_buffers.iter();
        let buffers: Vec<Buffer> = descs.map(|d| Buffer::new(d, &graph.inputs)).collect();
        let kept = buffers.iter().zip(&program.frame_buffers);
        let previous = kept.map(|(b, d)| d.previous.then(|| b.clone())).collect();
        // As roomy as the default and the first value, so that setting them back need not allocate.
        let declared = graph.plan.parameters().iter();
        let mut parameters: Vec<ParameterValue> = declared.map(|p| p.default.clone()).collect();
        for (parameter, value) in parameters.iter_mut().zip(&graph.parameters) {
            assign(parameter, value);
        }
        let inputs = graph.plan.inputs().iter();
        Self {
            buffers,
            previous,
            states: program.update_steps.iter().map(StepState::new).collect(),
            parameters,
            overridden: graph.overridden.clone(),
            value_inputs: inputs.map(|i| vec![0.0; i.count]).collect(),
            wanted: frame::wanted(&graph),
            frames_done: 0,
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
        let index = find_parameter(&self.graph.plan, name)?;
        let decl = &self.graph.plan.parameters()[index];
        check_value(decl.ty, value).map_err(|message| ParameterError::Value {
            name: name.to_owned(),
            message,
        })?;
        if decl.setup {
            return Err(ParameterError::SetupOnly {
                name: name.to_owned(),
            });
        }
        for step in &self.graph.program.update_steps {
            for (source, desc) in step.sources.iter().zip(step.desc.parameters) {
                if *source == ParameterSource::Parameter(index) {
                    let fits = step.bound.check_value(desc.name, value);
                    fits.map_err(|e| ParameterError::Value {
                        name: name.to_owned(),
                        message: format!("node '{}' ({}): {e}", step.name, step.desc.name),
                    })?;
                }
            }
        }
        assign(&mut self.parameters[index], value);
        self.overridden[index] = true;
        Ok(())
    }

    /// One frame. Allocates nothing with [`Par::Seq`], nor with [`Par::Rayon`] when called from inside a pool
    /// (`ThreadPool::install`); from outside, rayon's queue allocates now and then. Inputs that no step reads may
    /// be left out.
    ///
    /// # Errors
    /// [`UpdateError`] where a pose or values are missing or do not fit what was bound.
    pub fn update(&mut self, frame: &Frame<'_>, par: Par) -> Result<(), UpdateError> {
        frame::check(&self.graph.plan, &self.wanted, frame)?;
        self.swap_previous();
        self.sample_parameters(frame.time_secs);
        for (index, values) in self.value_inputs.iter_mut().enumerate() {
            if let Some(given) = frame.values_of(index) {
                values.copy_from_slice(given);
            }
        }
        let surroundings = Surroundings {
            meshes: &self.graph.program.meshes,
            setup: Some(&self.graph.setup),
            values: &self.value_inputs,
            given: Some(frame),
        };
        let moment = Moment {
            time_secs: frame.time_secs,
            dt_secs: frame.dt_secs,
            par,
        };
        let steps = self.graph.program.update_steps.iter();
        for (step, state) in steps.zip(&mut self.states) {
            for (value, source) in state.values.iter_mut().zip(&step.sources) {
                match source {
                    ParameterSource::Constant(_) => {}
                    ParameterSource::Parameter(p) => assign(value, &self.parameters[*p]),
                    ParameterSource::Keyed(k) => k.sample(frame.time_secs, value),
                }
            }
            let ran = run_step(step, state, moment, &surroundings, &mut self.buffers);
            ran.map_err(|source| UpdateError::Node {
                node: step.name.clone(),
                kind: step.desc.name,
                source,
            })?;
        }
        if self.frames_done == 0 {
            self.copy_to_previous();
        }
        self.frames_done += 1;
        Ok(())
    }

    /// Forgets the frames so far: solvers start anew, and after the next frame previous equals current.
    /// Parameters stay. Allocates.
    pub fn reset(&mut self) {
        let steps = self.graph.program.update_steps.iter();
        for (step, state) in steps.zip(&mut self.states) {
            state.scratch = step.bound.new_scratch();
        }
        self.frames_done = 0;
    }

    fn sample_parameters(&mut self, time_secs: f64) {
        let declared = self.graph.plan.parameters().iter();
        for ((decl, value), overridden) in declared.zip(&mut self.parameters).zip(&self.overridden)
        {
            if let (Some(keyed), false) = (&decl.keyed, overridden) {
                keyed.sample(time_secs, value);
            }
        }
    }

    fn swap_previous(&mut self) {
        for (now, before) in self.buffers.iter_mut().zip(&mut self.previous) {
            if let Some(before) = before {
                std::mem::swap(now, before);
            }
        }
    }

    fn copy_to_previous(&mut self) {
        for (now, before) in self.buffers.iter().zip(&mut self.previous) {
            if let Some(before) = before {
                before.copy_from(now);
            }
        }
    }

    /// Bytes of its own: frame buffers and scratch. What it shares counts in [`BoundGraph::memory_bytes`].
    pub fn memory_bytes(&self) -> usize {
        let steps = self.graph.program.update_steps.iter();
        let scratch: usize = steps.map(|s| s.bound.scratch_bytes()).sum();
        scratch + self.buffer_bytes()
    }

    pub(crate) fn buffer_bytes(&self) -> usize {
        let previous = self.previous.iter().flatten();
        self.buffers.iter().chain(previous).map(Buffer::bytes).sum()
    }

    fn sources(&self) -> Sources<'_> {
        Sources {
            meshes: &self.graph.program.meshes,
            setup: &self.graph.setup,
            frame: &self.buffers,
            values: &self.value_inputs,
            given: None,
        }
    }
}

pub(crate) fn find_parameter(plan: &Plan, name: &str) -> Result<usize, ParameterError> {
    plan.parameters()
        .iter()
        .position(|p| p.name == name)
        .ok_or_else(|| ParameterError::Unknown {
            name: name.to_owned(),
            known: plan.parameters().iter().map(|p| p.name.clone()).collect(),
        })
}
