//! Which attribute lives in which memory: virtual buffers, their lives, and the buffers that they share.

use super::value::{ArrayValue, Location, MeshValue, Value};
use crate::program::{BufferDesc, Content, DataRef, OutputData, PortData};
use sinew_deform::{
    AttributeEffect, AttributeRead, Element, MESH_ATTRIBUTES, MeshEffect, Phase, PortDesc, PortType,
};

/// A buffer before it has memory.
#[derive(Clone, Debug)]
struct Virtual {
    content: Content,
    /// Phase of the step that writes it.
    phase: Phase,
    live: bool,
    /// Index of the last step of its phase that reads it.
    last_use: usize,
    /// Read after its phase.
    kept: bool,
    output: bool,
    /// Written by a step that the CPU runs beside the GPU.
    host: bool,
    buffer: Option<usize>,
}

/// A step before its buffers have memory.
#[derive(Debug)]
pub(super) struct PendingStep {
    pub(super) phase: Phase,
    pub(super) inputs: Vec<Option<Value>>,
    /// What those are linked to.
    pub(super) ports: &'static [PortDesc],
    /// What its parameters are linked to.
    pub(super) parameter_inputs: Vec<Value>,
    /// Which attributes of each input the step reads; known once liveness is.
    pub(super) reads: Vec<[bool; MESH_ATTRIBUTES]>,
    pub(super) outputs: Vec<PendingOutput>,
    /// Runs even if nobody reads it (solvers).
    pub(super) always: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PendingOutput {
    Mesh {
        effect: MeshEffect,
        written: [Option<usize>; MESH_ATTRIBUTES],
    },
    Pose(usize),
    Array(usize),
}

impl PendingOutput {
    pub(super) fn written(&self) -> impl Iterator<Item = usize> {
        match *self {
            Self::Mesh { written, .. } => written,
            Self::Pose(id) | Self::Array(id) => [Some(id), None, None, None],
        }
        .into_iter()
        .flatten()
    }
}

/// Which attributes of the mesh at `port` are read, for outputs of which `written` are written.
fn attributes_read(
    port: &PortDesc,
    outputs: &[(MeshEffect, [bool; MESH_ATTRIBUTES])],
) -> [bool; MESH_ATTRIBUTES] {
    let reads = port.reads.all();
    std::array::from_fn(|a| {
        let any = |wanted: &dyn Fn(&MeshEffect) -> bool| {
            outputs.iter().any(|(e, written)| written[a] && wanted(e))
        };
        let transformed =
            |e: &MeshEffect| e.from == port.name && e.all()[a] == AttributeEffect::Transform;
        match reads[a] {
            AttributeRead::Always => true,
            AttributeRead::WithOutput => any(&|_| true),
            AttributeRead::Never => any(&transformed),
        }
    })
}

/// All virtual buffers of a graph.
#[derive(Debug, Default)]
pub(super) struct Layout {
    virtuals: Vec<Virtual>,
}

impl Layout {
    pub(super) fn add(&mut self, content: Content, phase: Phase) -> usize {
        self.virtuals.push(Virtual {
            content,
            phase,
            live: false,
            last_use: 0,
            // No other content may share the buffer of persistent content.
            kept: content.lasts(),
            output: false,
            host: false,
            buffer: None,
        });
        self.virtuals.len() - 1
    }

    /// Whether it is the same in every frame.
    pub(super) fn is_constant(&self, location: Location) -> bool {
        match location {
            Location::Rest(_) => true,
            Location::Virtual(id) => self.virtuals[id].phase == Phase::Setup,
            Location::Input(_) => false,
        }
    }

    fn read(&mut self, location: Location, step: usize, phase: Phase) {
        if let Location::Virtual(id) = location {
            let v = &mut self.virtuals[id];
            v.live = true;
            if v.phase == phase {
                v.last_use = v.last_use.max(step);
            } else {
                v.kept = true;
            }
        }
    }

    /// Marks what an output of the graph needs.
    pub(super) fn read_output(&mut self, value: &Value) {
        let mut keep = |location: Location| {
            if let Location::Virtual(id) = location {
                let v = &mut self.virtuals[id];
                (v.live, v.kept, v.output) = (true, true, true);
            }
        };
        match value {
            Value::Mesh(m) => {
                for (attribute, stale) in m.attributes.iter().zip(m.stale) {
                    if let (Some(location), false) = (attribute, stale) {
                        keep(*location);
                    }
                }
            }
            Value::Pose { location, .. } => keep(*location),
            Value::Array(a) => keep(a.location),
            Value::VertexAnimation { .. } => {}
        }
    }

    /// Walks the steps backwards and marks what each needs. Returns which of them run.
    pub(super) fn mark_live(&mut self, steps: &mut [PendingStep]) -> Vec<bool> {
        let mut runs = vec![false; steps.len()];
        for (index, step) in steps.iter_mut().enumerate().rev() {
            let live = |id: usize| self.virtuals[id].live;
            let any = step.outputs.iter().any(|o| o.written().any(live));
            let meshes: Vec<_> = step
                .outputs
                .iter()
                .filter_map(|output| match output {
                    PendingOutput::Mesh { effect, written } => {
                        Some((*effect, written.map(|id| id.is_some_and(live))))
                    }
                    PendingOutput::Pose(_) | PendingOutput::Array(_) => None,
                })
                .collect();
            step.reads = step
                .ports
                .iter()
                .map(|port| attributes_read(port, &meshes))
                .collect();
            runs[index] = any || step.always;
            if runs[index] {
                self.read_inputs(step, index);
            }
        }
        runs
    }

    fn read_inputs(&mut self, step: &PendingStep, index: usize) {
        for (value, reads) in step.inputs.iter().zip(&step.reads) {
            match value {
                Some(Value::Mesh(m)) => {
                    for (a, &read) in reads.iter().enumerate() {
                        if let (Some(location), false, true) = (m.attributes[a], m.stale[a], read) {
                            self.read(location, index, step.phase);
                        }
                    }
                }
                Some(Value::Pose { location, .. }) => self.read(*location, index, step.phase),
                Some(Value::Array(a)) => self.read(a.location, index, step.phase),
                Some(Value::VertexAnimation { .. }) | None => {}
            }
        }
        for value in &step.parameter_inputs {
            if let Value::Pose { location, .. } | Value::Array(ArrayValue { location, .. }) = value
            {
                self.read(*location, index, step.phase);
            }
        }
    }

    /// Marks the outputs of a CPU step.
    pub(super) fn mark_host(&mut self, step: &PendingStep) {
        for id in step.outputs.iter().flat_map(PendingOutput::written) {
            self.virtuals[id].host = true;
        }
    }

    /// The virtual buffer at a location, if only the GPU has it.
    pub(super) fn on_device(&self, location: Location) -> Option<usize> {
        match location {
            Location::Virtual(id) if !self.virtuals[id].host => Some(id),
            Location::Virtual(_) | Location::Rest(_) | Location::Input(_) => None,
        }
    }

    /// Gives every live virtual buffer of a phase a buffer, which is free again after the last read of what it
    /// held.
    pub(super) fn assign(
        &mut self,
        steps: &[PendingStep],
        runs: &[bool],
        phase: Phase,
    ) -> Vec<BufferDesc> {
        let mut buffers: Vec<BufferDesc> = Vec::new();
        // Last use of the current content of each.
        let mut busy_until: Vec<usize> = Vec::new();
        let of_phase = |(index, step): &(usize, &PendingStep)| runs[*index] && step.phase == phase;
        for (index, step) in steps.iter().enumerate().filter(of_phase) {
            for id in step.outputs.iter().flat_map(PendingOutput::written) {
                let v = &mut self.virtuals[id];
                if !v.live {
                    continue;
                }
                let fits = |b: usize| {
                    !v.kept
                        && !v.host
                        && !buffers[b].kept
                        && !buffers[b].host
                        && buffers[b].content == v.content
                        && busy_until[b] < index
                };
                let free = (0..buffers.len()).find(|&b| fits(b));
                let buffer = free.unwrap_or_else(|| {
                    buffers.push(BufferDesc {
                        content: v.content,
                        kept: v.kept,
                        previous: v.output && phase == Phase::Update && is_attribute(v.content),
                        host: v.host,
                    });
                    busy_until.push(0);
                    buffers.len() - 1
                });
                busy_until[buffer] = v.last_use.max(index);
                v.buffer = Some(buffer);
            }
        }
        buffers
    }

    fn place(&self, location: Location) -> Option<DataRef> {
        Some(match location {
            Location::Rest(mesh) => DataRef::Rest(mesh),
            Location::Input(input) => DataRef::Input(input),
            Location::Virtual(id) => self.written_place(id)?,
        })
    }

    fn written_place(&self, id: usize) -> Option<DataRef> {
        let v = &self.virtuals[id];
        v.buffer.map(match v.phase {
            Phase::Setup => DataRef::Setup,
            Phase::Update => DataRef::Frame,
        })
    }

    fn attributes(&self, m: &MeshValue) -> [Option<DataRef>; MESH_ATTRIBUTES] {
        std::array::from_fn(|a| {
            m.attributes[a]
                .filter(|_| !m.stale[a])
                .and_then(|l| self.place(l))
        })
    }

    /// A step sees only what it declares to read: other buffers may hold something else by then.
    pub(super) fn input_place(
        &self,
        value: &Value,
        reads: [bool; MESH_ATTRIBUTES],
    ) -> Option<PortData> {
        Some(match value {
            Value::Mesh(m) => {
                let all = self.attributes(m);
                PortData::Mesh(std::array::from_fn(|a| all[a].filter(|_| reads[a])))
            }
            Value::Pose { location, .. } => PortData::Pose(self.place(*location)?),
            Value::Array(ArrayValue { location, .. }) => PortData::Array(self.place(*location)?),
            Value::VertexAnimation { .. } => return None,
        })
    }

    /// `None` where nobody reads it.
    pub(super) fn output_place(&self, output: &PendingOutput) -> Option<PortData> {
        let place = |id: usize| self.written_place(id);
        Some(match output {
            PendingOutput::Mesh { written, .. } => {
                PortData::Mesh(written.map(|id| id.and_then(place)))
            }
            PendingOutput::Pose(id) => PortData::Pose(place(*id)?),
            PendingOutput::Array(id) => PortData::Array(place(*id)?),
        })
    }

    /// Where an output of the graph is; its buffers are live, so that it is somewhere.
    pub(super) fn graph_output(
        &self,
        value: &Value,
        ty: PortType,
        is_smooth: bool,
    ) -> Option<OutputData> {
        Some(match value {
            Value::Mesh(m) => OutputData::Mesh {
                rest: m.rest,
                is_smooth,
                attributes: self.attributes(m),
            },
            Value::Pose { location, .. } => OutputData::Pose(self.place(*location)?),
            Value::Array(a) if ty == PortType::Lines => OutputData::Lines(self.place(a.location)?),
            Value::Array(a) if ty == PortType::Field => OutputData::Field(self.place(a.location)?),
            Value::Array(a) => OutputData::Floats(self.place(a.location)?),
            Value::VertexAnimation { .. } => return None,
        })
    }
}

/// Attributes of meshes are what renderers want of two frames.
fn is_attribute(content: Content) -> bool {
    match content {
        Content::Array { element, .. } => matches!(element, Element::Vec3 | Element::Vec4),
        Content::Pose { .. } => false,
    }
}
