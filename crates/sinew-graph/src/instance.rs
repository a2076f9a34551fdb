//! A plan bound to its inputs: setup results, buffers, state; and the CPU executor.
//!
//! Setup walks the nodes in order, binds each, and runs at once those that depend on nothing that changes. What
//! remains are steps. Each attribute of each mesh on a link is a virtual buffer; those that nobody reads are
//! dropped, those whose lives do not overlap share memory, those of outputs are kept twice (current, previous).

pub(crate) mod buffers;
mod frame;
mod layout;
mod made;
mod outputs;
mod refresh;
mod setup;

use crate::cache::CacheError;
use crate::keyed::assign;
use crate::plan::{ParameterSource, Plan};
use crate::value::check_value;
use arrayvec::ArrayVec;
use buffers::{ArrayRef, AttributeRef, Buffers, Taken};
use frame::Wanted;
pub use frame::{Frame, UpdateError};
pub use outputs::OutputMesh;
use outputs::OutputSlot;
use sinew_deform::{
    BoundNode, InputValue, Inputs, MAX_PORTS, MeshView, NodeDesc, NodeError, OutputValue, Outputs,
    Par, ParameterValue, Parameters, ReadLog, UpdateContext,
};
use sinew_geom::{Mesh, MeshError, Rig};
use std::any::Any;
use std::sync::Arc;

/// What an input of the plan is bound to.
#[derive(Clone, Debug)]
pub enum InputBinding {
    /// A mesh at rest.
    Mesh(Arc<Mesh>),
    /// The rig whose poses will come.
    Pose(Arc<Rig>),
    /// Floats come with each frame.
    Values,
}

/// Why a plan could not be bound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The number of bindings is not the number of inputs.
    #[error("the graph has {expected} inputs, {found} were bound")]
    InputCount {
        /// Bindings given.
        found: usize,
        /// Inputs of the plan.
        expected: usize,
    },
    /// A binding has another type than its input.
    #[error("input '{name}' takes a {expected}")]
    InputType {
        /// Name of the input.
        name: String,
        /// Its type.
        expected: &'static str,
    },
    /// A mesh does not hold together.
    #[error("input '{name}': {source}")]
    Mesh {
        /// Name of the input.
        name: String,
        /// What was found and expected.
        source: MeshError,
    },
    /// A node gives more or fewer values than the nested graph behind it declares.
    #[error("{what} takes {expected} values, found {found}")]
    ValueCount {
        /// Place and name of the input.
        what: String,
        /// Values that the node gives.
        found: usize,
        /// Values that the nested graph declares.
        expected: usize,
    },
    /// A node refused its inputs or parameters.
    #[error("{}node '{node}' ({kind}): {source}", if .place.is_empty() { String::new() } else { format!("{place}: ") })]
    Node {
        /// Where it stands in the document, `file:line:column`; empty where the binder added it.
        place: String,
        /// Name of the node.
        node: String,
        /// Kind of the node.
        kind: &'static str,
        /// Why.
        source: Box<NodeError>,
    },
    /// A parameter was set to something it cannot be.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Saved setup does not fit or is damaged.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

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

#[derive(Debug)]
enum StepInput {
    Mesh([Option<AttributeRef>; 4]),
    Pose(usize),
    Mask(ArrayRef),
    Values(ArrayRef),
    Lines(ArrayRef),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum StepOutput {
    Mesh([Option<usize>; 4]),
    Mask(usize),
    Values(usize),
    Lines(usize),
}

#[derive(Debug)]
struct Step {
    name: String,
    desc: &'static NodeDesc,
    bound: Box<dyn BoundNode>,
    scratch: Box<dyn Any + Send>,
    inputs: Vec<Option<StepInput>>,
    outputs: Vec<Option<StepOutput>>,
    sources: Vec<ParameterSource>,
    values: Vec<ParameterValue>,
    log: ReadLog,
}

/// A plan bound to its inputs.
#[derive(Debug)]
pub struct Instance {
    plan: Arc<Plan>,
    /// Rest meshes of the inputs, then attributes that setup computed.
    constants: Vec<Arc<Mesh>>,
    constant_arrays: buffers::ConstantArrays,
    steps: Vec<Step>,
    pub(crate) buffers: Buffers,
    outputs: Vec<OutputSlot>,
    /// Current value of each of the plan's parameters; `None` where its animation rules.
    parameters: Vec<ParameterValue>,
    overridden: Vec<bool>,
    value_inputs: Vec<Vec<f32>>,
    /// What each input wants with a frame.
    wanted: Vec<Wanted>,
    frames_done: u64,
    pub(crate) report: setup::Report,
}

impl Instance {
    /// Binds every node: checks, precomputes, runs what is constant, assigns buffers. `parameters` are set
    /// before setup, by name.
    ///
    /// # Errors
    /// [`BindError`] names the input, parameter or node that does not fit.
    pub fn bind(
        plan: Arc<Plan>,
        inputs: &[InputBinding],
        parameters: &[(&str, ParameterValue)],
        par: Par,
    ) -> Result<Self, BindError> {
        setup::bind(plan, inputs, parameters, par, None)
    }

    /// Like [`Self::bind`], with setup results that [`Self::setup_cache`] gave for the same plan, inputs and
    /// parameters.
    ///
    /// # Errors
    /// [`BindError::Cache`] where the bytes are damaged or belong to other content; as [`Self::bind`] otherwise.
    pub fn bind_cached(
        plan: Arc<Plan>,
        inputs: &[InputBinding],
        parameters: &[(&str, ParameterValue)],
        par: Par,
        cache: &[u8],
    ) -> Result<Self, BindError> {
        let key = crate::cache::content_key(&plan, inputs, parameters);
        let saved = crate::cache::decode(cache, &key)?;
        setup::bind(plan, inputs, parameters, par, Some(&saved))
    }

    /// Setup results to keep beside the asset.
    pub fn setup_cache(
        &self,
        inputs: &[InputBinding],
        parameters: &[(&str, ParameterValue)],
    ) -> Vec<u8> {
        let key = crate::cache::content_key(&self.plan, inputs, parameters);
        let blobs = self
            .steps
            .iter()
            .filter_map(|s| s.bound.save().map(|b| (s.name.clone(), b)));
        crate::cache::encode(&key, blobs.collect())
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
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
        let index = find_parameter(&self.plan, name)?;
        let decl = &self.plan.parameters()[index];
        check_value(decl.ty, value).map_err(|message| ParameterError::Value {
            name: name.to_owned(),
            message,
        })?;
        if decl.setup {
            return Err(ParameterError::SetupOnly {
                name: name.to_owned(),
            });
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
        frame::check(&self.plan, &self.wanted, frame)?;
        self.buffers.swap_previous();
        for (i, decl) in self.plan.parameters().iter().enumerate() {
            if let (Some(keyed), false) = (&decl.keyed, self.overridden[i]) {
                keyed.sample(frame.time_secs, &mut self.parameters[i]);
            }
        }
        for (index, values) in self.value_inputs.iter_mut().enumerate() {
            if let Some(given) = frame.values_of(index) {
                values.copy_from_slice(given);
            }
        }
        let Self {
            constants,
            constant_arrays,
            steps,
            buffers,
            parameters,
            value_inputs,
            ..
        } = self;
        for step in steps {
            for (value, source) in step.values.iter_mut().zip(&step.sources) {
                match source {
                    ParameterSource::Constant(_) => {}
                    ParameterSource::Parameter(p) => assign(value, &parameters[*p]),
                    ParameterSource::Keyed(k) => k.sample(frame.time_secs, value),
                }
            }
            run_step(
                step,
                frame,
                par,
                constants,
                constant_arrays,
                buffers,
                value_inputs,
            );
            step.log.check().map_err(|source| UpdateError::Node {
                node: step.name.clone(),
                kind: step.desc.name,
                source,
            })?;
        }
        if self.frames_done == 0 {
            self.buffers.copy_to_previous();
        }
        self.frames_done += 1;
        Ok(())
    }

    /// Bytes of setup results, frame buffers and scratch.
    pub fn memory_bytes(&self) -> usize {
        let bound: usize = self
            .steps
            .iter()
            .map(|s| s.bound.setup_bytes() + s.bound.scratch_bytes())
            .sum();
        bound + self.buffers.bytes()
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

fn run_step(
    step: &mut Step,
    frame: &Frame<'_>,
    par: Par,
    constants: &[Arc<Mesh>],
    constant_arrays: &buffers::ConstantArrays,
    buffers: &mut Buffers,
    value_inputs: &[Vec<f32>],
) {
    // Buffers to write leave the pool for the length of the step, so that the rest can be read.
    let mut taken: ArrayVec<Option<Taken>, MAX_PORTS> = step
        .outputs
        .iter()
        .map(|o| o.map(|o| buffers.take(o)))
        .collect();
    let outputs: ArrayVec<Option<OutputValue<'_>>, MAX_PORTS> = taken
        .iter_mut()
        .map(|t| t.as_mut().map(Taken::value))
        .collect();
    let arrays = buffers::Arrays {
        constant: constant_arrays,
        slots: buffers,
        inputs: value_inputs,
    };
    let inputs: ArrayVec<Option<InputValue<'_>>, MAX_PORTS> = step
        .inputs
        .iter()
        .map(|i| {
            Some(match i.as_ref()? {
                StepInput::Mesh(refs) => InputValue::Mesh(mesh_view(refs, constants, buffers)),
                StepInput::Pose(input) => InputValue::Pose(frame.pose_of(*input)?),
                StepInput::Mask(a) => InputValue::Mask(arrays.floats(*a)),
                StepInput::Values(a) => InputValue::Values(arrays.floats(*a)),
                StepInput::Lines(a) => InputValue::Lines(arrays.lines(*a)),
            })
        })
        .collect();
    step.bound.update(UpdateContext {
        time_secs: frame.time_secs,
        dt_secs: frame.dt_secs,
        par,
        parameters: Parameters {
            descs: step.desc.parameters,
            values: &step.values,
            log: &step.log,
        },
        inputs: Inputs {
            values: &inputs,
            ports: step.desc.inputs,
            log: &step.log,
        },
        outputs: Outputs {
            values: outputs,
            ports: step.desc.outputs,
            log: &step.log,
        },
        scratch: step.scratch.as_mut(),
    });
    drop(inputs);
    for (t, o) in taken.into_iter().zip(&step.outputs) {
        if let (Some(t), Some(o)) = (t, o) {
            buffers.give_back(*o, t);
        }
    }
}

fn mesh_view<'a>(
    refs: &[Option<AttributeRef>; 4],
    constants: &'a [Arc<Mesh>],
    buffers: &'a Buffers,
) -> MeshView<'a> {
    MeshView {
        positions: refs[0]
            .and_then(|r| buffers.threes(r, 0, constants))
            .unwrap_or_default(),
        normals: refs[1].and_then(|r| buffers.threes(r, 1, constants)),
        tangents: refs[2].and_then(|r| buffers.fours(r, 2, constants)),
        colors: refs[3].and_then(|r| buffers.fours(r, 3, constants)),
    }
}
