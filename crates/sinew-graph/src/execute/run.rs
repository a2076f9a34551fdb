//! Runs one step on the CPU, in setup or in update.

use super::frame::Frame;
use super::memory::{Buffer, Sources};
use crate::program::{DataRef, Link, PortData, Step};
use arrayvec::ArrayVec;
use sinew_deform::sdf::FieldReaches;
use sinew_deform::{
    InputValue, Inputs, MAX_PORTS, MESH_ATTRIBUTES, MeshAttribute, MeshView, MeshViewMut, Misread,
    NodeScratch, OutputValue, Outputs, Par, ParameterValue, Parameters, PortType, ReadLog,
    UpdateContext,
};
use sinew_geom::Mesh;
use std::sync::Arc;

/// Mutable data of a step.
#[derive(Debug)]
pub(crate) struct StepState {
    pub(crate) scratch: Box<NodeScratch>,
    pub(crate) values: Vec<ParameterValue>,
    pub(crate) reaches: FieldReaches,
    pub(crate) log: ReadLog,
}

impl StepState {
    pub(crate) fn new(step: &Step) -> Self {
        Self {
            scratch: step.bound.new_scratch(),
            values: step.values.clone(),
            reaches: step.field_reaches(),
            log: ReadLog::new(),
        }
    }
}

/// When a step runs and on how many threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) time_secs: f64,
    pub(crate) dt_secs: f64,
    pub(crate) is_first: bool,
    pub(crate) par: Par,
}

/// What steps read besides the buffers of their own phase.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) meshes: &'a [Arc<Mesh>],
    /// Results of setup; `None` during setup.
    pub(crate) setup: Option<&'a [Buffer]>,
    pub(crate) values: &'a [Vec<f32>],
    /// As in [`Sources`].
    pub(crate) moved_rest: &'a [Vec<[f32; 3]>],
    pub(crate) given: Option<&'a Frame<'a>>,
}

impl<'a> Surroundings<'a> {
    pub(crate) fn with<'t>(&self, buffers: &'t [Buffer]) -> Sources<'t>
    where
        'a: 't,
    {
        let (setup, frame) = match self.setup {
            Some(setup) => (setup, buffers),
            None => (buffers, [].as_slice()),
        };
        Sources {
            meshes: self.meshes,
            setup,
            frame,
            values: self.values,
            moved_rest: self.moved_rest,
            given: self.given,
        }
    }
}

/// Buffers taken out of the pool while a step writes them, with their index in the pool.
enum Taken {
    Mesh([Option<(DataRef, Buffer)>; MESH_ATTRIBUTES]),
    One(DataRef, Buffer),
}

/// Runs a step that writes to `buffers`, those of its phase.
pub(crate) fn run_step(
    step: &Step,
    state: &mut StepState,
    moment: Moment,
    surroundings: &Surroundings<'_>,
    buffers: &mut [Buffer],
) -> Result<(), Misread> {
    // The step's output buffers leave the pool while it runs, so that it can read the others.
    let mut taken: ArrayVec<Option<Taken>, MAX_PORTS> = step
        .outputs
        .iter()
        .map(|port| port.map(|port| take(buffers, port)))
        .collect();
    call(step, state, moment, &surroundings.with(buffers), &mut taken);
    for taken in taken.into_iter().flatten() {
        match taken {
            Taken::Mesh(all) => {
                for (place, buffer) in all.into_iter().flatten() {
                    give_back(buffers, place, buffer);
                }
            }
            Taken::One(place, buffer) => give_back(buffers, place, buffer),
        }
    }
    state.log.check()
}

fn call(
    step: &Step,
    state: &mut StepState,
    moment: Moment,
    sources: &Sources<'_>,
    taken: &mut [Option<Taken>],
) {
    let outputs = taken.iter_mut().zip(step.desc.outputs);
    let outputs = outputs.map(|(taken, port)| output_value(taken.as_mut()?, port.ty));
    let inputs = step.inputs.iter().zip(step.desc.inputs).zip(&step.links);
    let inputs: ArrayVec<Option<InputValue<'_>>, MAX_PORTS> = inputs
        .map(|((place, port), link)| {
            let value = input_value(sources, place.as_ref()?, port.ty)?;
            Some(with_rest(value, sources, *link))
        })
        .collect();
    let log = &state.log;
    let inputs = Inputs {
        values: &inputs,
        ports: step.desc.inputs,
        log,
    };
    let reach = sources
        .given
        .and_then(|frame| step.field_reach(&mut state.reaches, frame, moment.is_first, &inputs));
    step.bound.update(UpdateContext {
        time_secs: moment.time_secs,
        dt_secs: moment.dt_secs,
        is_first: moment.is_first,
        par: moment.par,
        parameters: Parameters {
            descs: step.desc.parameters,
            values: &state.values,
            log,
        },
        inputs,
        reach,
        outputs: Outputs {
            values: outputs.collect(),
            ports: step.desc.outputs,
            log,
        },
        scratch: state.scratch.as_mut(),
    });
}

/// A mesh with the rest positions of the instance; other values as they are.
fn with_rest<'a>(
    value: InputValue<'a>,
    sources: &Sources<'a>,
    link: Option<Link>,
) -> InputValue<'a> {
    match (value, link) {
        (InputValue::Mesh(mesh), Some(Link::Mesh(index))) => {
            let rest = sources.vec3(DataRef::Rest(index), MeshAttribute::Positions);
            InputValue::Mesh(MeshView {
                rest: rest.unwrap_or_default(),
                ..mesh
            })
        }
        (value, _) => value,
    }
}

/// The buffer that a step writes.
fn slot(buffers: &mut [Buffer], place: DataRef) -> Option<&mut Buffer> {
    match place {
        DataRef::Setup(i) | DataRef::Frame(i) => buffers.get_mut(i),
        DataRef::Rest(_) | DataRef::Input(_) => None,
    }
}

fn take(buffers: &mut [Buffer], port: PortData) -> Taken {
    let mut take = |place| {
        (
            place,
            slot(buffers, place).map(std::mem::take).unwrap_or_default(),
        )
    };
    match port {
        PortData::Mesh(attributes) => Taken::Mesh(attributes.map(|place| place.map(&mut take))),
        PortData::Pose(place) | PortData::Array(place) => {
            let (place, buffer) = take(place);
            Taken::One(place, buffer)
        }
    }
}

fn give_back(buffers: &mut [Buffer], place: DataRef, buffer: Buffer) {
    if let Some(slot) = slot(buffers, place) {
        *slot = buffer;
    }
}

fn output_value(taken: &mut Taken, ty: PortType) -> Option<OutputValue<'_>> {
    match taken {
        Taken::Mesh([positions, normals, tangents, colors]) => {
            fn vec3(of: &mut Option<(DataRef, Buffer)>) -> Option<&mut [[f32; 3]]> {
                match of {
                    Some((_, Buffer::Vec3(v))) => Some(v),
                    _ => None,
                }
            }
            fn vec4(of: &mut Option<(DataRef, Buffer)>) -> Option<&mut [[f32; 4]]> {
                match of {
                    Some((_, Buffer::Vec4(v))) => Some(v),
                    _ => None,
                }
            }
            Some(OutputValue::Mesh(MeshViewMut {
                positions: vec3(positions),
                normals: vec3(normals),
                tangents: vec4(tangents),
                colors: vec4(colors),
            }))
        }
        Taken::One(_, buffer) => output_array(buffer, ty),
    }
}

fn output_array(buffer: &mut Buffer, ty: PortType) -> Option<OutputValue<'_>> {
    Some(match (ty, buffer) {
        (PortType::Buffer(_), buffer) => OutputValue::Buffer(buffer.array_words_mut()),
        (_, Buffer::Pose(pose)) => OutputValue::Pose(pose),
        (_, Buffer::Line(v)) => OutputValue::Lines(v),
        (_, Buffer::Uint(v)) => OutputValue::Field(v),
        (PortType::Mask, Buffer::Float(v)) => OutputValue::Mask(v),
        (_, Buffer::Float(v)) => OutputValue::Values(v),
        (_, Buffer::Vec3(_) | Buffer::Vec4(_)) => return None,
    })
}

pub(crate) fn input_value<'a>(
    sources: &Sources<'a>,
    place: &PortData,
    ty: PortType,
) -> Option<InputValue<'a>> {
    Some(match *place {
        PortData::Mesh(places) => InputValue::Mesh(sources.mesh(&places)),
        PortData::Pose(place) => InputValue::Pose(sources.pose(place)?),
        PortData::Array(place) => match ty {
            PortType::Lines => InputValue::Lines(sources.lines(place)?),
            PortType::Field => InputValue::Field(sources.words(place)?),
            PortType::Mask => InputValue::Mask(sources.floats(place)?),
            PortType::VertexAnimation => return None,
            PortType::Buffer(_) => InputValue::Buffer(sources.array_words(place)?),
            PortType::Values | PortType::Mesh | PortType::Pose => {
                InputValue::Values(sources.floats(place)?)
            }
        },
    })
}
