//! The steps of a program as the GPU runs them.

use super::memory::{ArrayShape, Kind, Memory};
use super::names::PortMemory;
use super::rows::RowShape;
use crate::error::GpuError;
use sinew_deform::{DeviceNode, MESH_ATTRIBUTES, MeshAttribute, Phase};
use sinew_graph::{BoundGraph, Content, NotOnHost, PortData, Step};

/// A step with its device side.
#[derive(Debug)]
pub(super) struct NodeOnDevice {
    /// Among all nodes, setup first.
    pub(super) index: usize,
    pub(super) phase: Phase,
    pub(super) step: Step,
    pub(super) device: DeviceNode,
    pub(super) vertex_count: usize,
    /// How relations are laid out.
    pub(super) rows: Vec<RowShape>,
    /// In the order of the description's inputs.
    pub(super) inputs: Vec<PortMemory>,
    /// In the order of the description's outputs.
    pub(super) outputs: Vec<PortMemory>,
}

const NOTHING: PortMemory = [None; MESH_ATTRIBUTES];

fn port_memory(port: &Option<PortData>) -> PortMemory {
    match port {
        None | Some(PortData::Pose(_)) => NOTHING,
        Some(PortData::Array(place)) => {
            let mut out = NOTHING;
            out[0] = Some(Memory::at(*place, MeshAttribute::Positions));
            out
        }
        Some(PortData::Mesh(places)) => MeshAttribute::ALL
            .map(|attribute| Some(Memory::at(places[attribute.index()]?, attribute))),
    }
}

/// Loop iterations for one element of a custom kernel; a thousand times those over a mesh's neighbours or joints.
const MOST_TURNS_IN_HARDWARE: u32 = 1 << 20;
/// The same for software adapters. Mesa silently ends all loops of a kernel after 65,535 iterations, partly counting those of
/// neighbours. Our own counter must end a loop first, because it leaves a mark.
const MOST_TURNS_IN_SOFTWARE: u32 = 1 << 15;

/// All steps of a graph that the GPU runs, setup first; `simple` for adapters that are slow to compile long kernels.
///
/// # Errors
/// [`GpuError::NoDeviceSide`] names the first node that neither the GPU nor the CPU beside it can run.
pub(super) fn nodes(
    graph: &BoundGraph,
    simple: bool,
    software: bool,
) -> Result<Vec<NodeOnDevice>, GpuError> {
    let most_turns = match software {
        true => MOST_TURNS_IN_SOFTWARE,
        false => MOST_TURNS_IN_HARDWARE,
    };
    let program = graph.program();
    let mut out = Vec::new();
    for phase in [Phase::Setup, Phase::Update] {
        let steps = program.steps(phase).iter();
        for step in steps.filter(|s| !s.runs_on_host()) {
            let mut device = device_node(graph, step)?;
            if device.guarded {
                let setting = sinew_deform::DeviceSetting::U32(most_turns);
                device
                    .settings
                    .push((sinew_deform::MAX_ITERATIONS, setting));
            }
            out.push(NodeOnDevice {
                index: out.len(),
                phase,
                vertex_count: step.vertex_count(program),
                inputs: step.inputs.iter().map(port_memory).collect(),
                outputs: step.outputs.iter().map(port_memory).collect(),
                rows: device
                    .relations
                    .iter()
                    .map(|r| RowShape::of(r, simple))
                    .collect(),
                device,
                step: step.clone(),
            });
        }
    }
    Ok(out)
}

fn device_node(graph: &BoundGraph, step: &Step) -> Result<DeviceNode, GpuError> {
    let refused = |why: String| GpuError::NoDeviceSide {
        node: step.name.clone(),
        kind: step.desc.name,
        location: step.location.clone(),
        why,
    };
    if let Some(parameter) = step.parameter_on_device(graph.program()) {
        return Err(refused(format!(
            "its parameter '{parameter}' is linked to data that the GPU computes; parameters are read by the CPU"
        )));
    }
    let why = || step.host.as_ref().err().map(NotOnHost::to_string);
    let device = graph
        .device_node(step)
        .ok_or_else(|| refused(why().unwrap_or_default()))?;
    let mut outputs = step.outputs.iter().zip(step.desc.outputs);
    match outputs.find(|(place, _)| matches!(place, Some(PortData::Pose(_)))) {
        None => Ok(device),
        Some((_, port)) => Err(refused(format!(
            "its output '{}' is a pose, which GPU kernels cannot compute",
            port.name
        ))),
    }
}

/// The shape of any array of the program.
pub(super) fn shape(graph: &BoundGraph, nodes: &[NodeOnDevice], memory: Memory) -> ArrayShape {
    let program = graph.program();
    let buffer = |phase, i: usize| match program.buffers(phase).get(i).map(|b| b.content) {
        Some(Content::Array { element, len }) => (Kind::of_element(element), len),
        Some(Content::Pose { .. }) | None => (Kind::of_element(sinew_deform::Element::Float), 0),
    };
    let per_node = |node: usize| nodes[node].phase == Phase::Update;
    let ((kind, len), per_instance) = match memory {
        Memory::Rest { mesh, attribute } => {
            let count = program.meshes()[mesh].vertex_count();
            ((Kind::of_element(attribute.element()), count), false)
        }
        Memory::Setup(i) => (buffer(Phase::Setup, i), false),
        Memory::Frame(i) => (buffer(Phase::Update, i), true),
        Memory::Constant { node, index } => {
            let c = &nodes[node].device.constants[index];
            ((Kind::Plain(c.ty), c.len()), false)
        }
        // Whoever packs them knows how many there are.
        Memory::Relation { .. } | Memory::Tiles { .. } => {
            ((Kind::Plain(sinew_deform::DeviceType::U32), 0), false)
        }
        Memory::TileVectors { .. } | Memory::RelationVectors { .. } => {
            ((Kind::Plain(sinew_deform::DeviceType::Vec4U), 0), false)
        }
        Memory::Scratch { node, index } => {
            let a = &nodes[node].device.scratch[index];
            ((Kind::Plain(a.ty), a.len), per_node(node))
        }
        Memory::Uniforms { node } => {
            let bytes = nodes[node].device.uniforms.bytes;
            ((Kind::Uniforms { bytes }, 1), per_node(node))
        }
        Memory::FrameArray { node, index } => {
            let a = &nodes[node].device.frame_arrays[index];
            ((Kind::Plain(a.ty), a.len), per_node(node))
        }
        Memory::Values { input } => {
            let count = graph.plan().inputs().get(input).map_or(0, |i| i.count);
            (
                (Kind::of_element(sinew_deform::Element::Float), count),
                true,
            )
        }
    };
    ArrayShape {
        kind,
        len,
        per_instance,
    }
}
