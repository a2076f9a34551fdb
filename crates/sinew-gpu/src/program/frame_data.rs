//! The data that the CPU uploads with each frame: one block with the uniforms and arrays of all instances, node by node, followed by
//! values from callers and results of CPU steps.
//!
//! ```text
//! | uniforms of node 0: instance 0, 1, .. | array 0 of node 0: instance 0, 1, .. | .. | values of input 0 | frame buffers of CPU steps |
//! ```
//!
//! Each part is a region. It begins where a storage binding may begin (`DeviceLimits::storage_alignment`), so that a launch binds just the
//! region that it reads. Within it, instances follow each other without padding (`stride`), as in every other array of a crowd. Sizes are
//! fixed when the instances are made: a frame only writes into the block, and one upload takes it all. A mesh buffer that CPU steps write has
//! a region here and no buffer of its own, unless something else binds it as a whole.

use super::batches::Batches;
use super::memory::{ArrayShape, Memory};
use super::nodes::NodeOnDevice;
use crate::adapter::DeviceLimits;
use crate::error::GpuError;
use arrayvec::ArrayVec;
use sinew_deform::sdf::FieldReaches;
use sinew_deform::{
    DeviceFrame, DeviceFrameData, InputValue, Inputs, MAX_FRAME_ARRAYS, ParameterValue, Parameters,
    Phase, ReadLog,
};
use sinew_graph::{BoundGraph, Frame, HostSteps, InputType, ParameterState};
use std::ops::Range;

/// Part of the block: one array of all instances, one after another.
#[derive(Clone, Copy, Debug)]
struct Region {
    memory: Memory,
    start: usize,
    /// Bytes of one instance.
    stride: usize,
    /// Bytes to the next region.
    room: usize,
}

/// The block on the host's side and what is where in it.
#[derive(Debug)]
pub(super) struct FrameData {
    regions: Vec<Region>,
    /// Regions of each node.
    of_node: Vec<Range<usize>>,
    /// Regions of each values input.
    of_input: Vec<Option<usize>>,
    /// Frame buffers that steps of the host write, and their regions.
    of_host: Vec<(usize, usize)>,
    /// Sixteen bytes each, so that any element is aligned.
    block: Vec<[u32; 4]>,
    /// Values of the node parameters, node after node; those of the instance that was written last.
    values: Vec<Vec<ParameterValue>>,
    /// Passes of the frame, for nodes whose passes vary.
    batches: Batches,
    /// Where fields are looked up: of each node, all instances.
    reaches: Vec<Vec<FieldReaches>>,
    log: ReadLog,
}

impl FrameData {
    /// Room for the nodes of a phase.
    pub(super) fn new(
        graph: &BoundGraph,
        nodes: &[NodeOnDevice],
        phase: Phase,
        shape: &dyn Fn(Memory) -> ArrayShape,
        instances: usize,
        limits: &DeviceLimits,
    ) -> Result<Self, GpuError> {
        let alignment = (limits.storage_alignment as usize).max(16);
        let mut end = 0;
        let mut regions = Vec::new();
        let mut add = |memory: Memory| {
            let shape = shape(memory);
            let stride = shape.kind.bytes() * shape.len;
            let room = (shape.bytes(instances).max(16)).next_multiple_of(alignment);
            regions.push(Region {
                memory,
                start: end,
                stride,
                room,
            });
            end += room;
            regions.len()
        };
        let mut of_node = Vec::new();
        let mut last = 0;
        for node in nodes {
            let first = last;
            if node.phase == phase {
                let arrays = node.device.frame_arrays.len();
                if arrays > MAX_FRAME_ARRAYS {
                    return Err(GpuError::FrameArrays {
                        kind: node.step.desc.name,
                        found: arrays,
                        allowed: MAX_FRAME_ARRAYS,
                    });
                }
                if node.device.uniforms.bytes > 0 {
                    last = add(Memory::Uniforms { node: node.index });
                }
                for index in 0..arrays {
                    last = add(Memory::FrameArray {
                        node: node.index,
                        index,
                    });
                }
            }
            of_node.push(first..last);
        }
        let inputs = graph.plan().inputs().iter().enumerate();
        let of_input = inputs
            .map(|(input, decl)| {
                let is_values = decl.ty == InputType::Values && phase == Phase::Update;
                is_values.then(|| add(Memory::Values { input }) - 1)
            })
            .collect();
        let of_host = match phase {
            Phase::Setup => Vec::new(),
            Phase::Update => super::host::arrays(graph, nodes),
        };
        let of_host = of_host
            .into_iter()
            .map(|i| (i, add(Memory::Frame(i)) - 1))
            .collect();
        let vary = nodes
            .iter()
            .map(|n| n.phase == phase && n.device.passes_vary);
        Ok(Self {
            block: vec![[0; 4]; end / 16],
            regions,
            of_node,
            of_input,
            of_host,
            values: nodes.iter().map(|n| n.step.values.clone()).collect(),
            batches: Batches::new(
                vary.collect(),
                instances,
                limits.uniform_alignment as usize,
                limits.uniform_binding_bytes,
            ),
            reaches: (nodes.iter())
                .map(|n| (0..instances).map(|_| n.step.field_reaches()).collect())
                .collect(),
            log: ReadLog::new(),
        })
    }

    /// After an instance went to another state.
    pub(super) fn forget_reaches(&mut self, instance: usize) {
        let of_nodes = self.reaches.iter_mut();
        of_nodes
            .filter_map(|r| r.get_mut(instance))
            .for_each(FieldReaches::forget);
    }

    /// All of it, to be sent.
    pub(super) fn block(&self) -> &[[u32; 4]] {
        &self.block
    }

    /// Bytes of the block where an array is.
    pub(super) fn range(&self, memory: Memory) -> Option<Range<usize>> {
        let region = self.regions.iter().find(|r| r.memory == memory)?;
        Some(region.start..region.start + region.room)
    }

    /// What was written of an array for one instance.
    pub(super) fn written(&self, memory: Memory, instance: usize) -> Option<&[u8]> {
        let region = self.regions.iter().find(|r| r.memory == memory)?;
        let first = region.start + instance * region.stride;
        bytemuck::cast_slice(&self.block).get(first..first + region.stride)
    }

    /// Before the instances of a frame are written, one after another.
    pub(super) fn begin_frame(&mut self) {
        self.batches.clear();
    }

    /// After them: which of them run together; gives their numbers to be sent where those changed.
    pub(super) fn end_frame(&mut self) -> Option<&[[u32; 4]]> {
        self.batches.arrange()
    }

    /// Writes what one instance needs of a frame; `host` has run its steps.
    pub(super) fn write(
        &mut self,
        nodes: &[NodeOnDevice],
        phase: Phase,
        instance: usize,
        moment: Moment<'_>,
        parameters: &ParameterState,
        host: &HostSteps,
    ) -> Result<(), GpuError> {
        let frame = moment.frame;
        for node in nodes.iter().filter(|n| n.phase == phase) {
            let values = &mut self.values[node.index];
            if phase == Phase::Update {
                parameters.write_step(&node.step, frame.time_secs, values);
                host.write_links(&node.step, frame, values);
            }
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut self.block);
            let regions = &self.regions[self.of_node[node.index].clone()];
            let mut data = slices(bytes, regions, instance);
            let inputs = host.inputs(&node.step, frame);
            let mut frame = device_frame(node, moment, values, &inputs, &self.log);
            let reaches = self.reaches.get_mut(node.index);
            frame.reach = reaches
                .and_then(|r| r.get_mut(instance))
                .and_then(|reaches| {
                    (node.step).field_reach(reaches, moment.frame, moment.is_first, &frame.inputs)
                });
            node.step.bound.write_device_frame(&frame, &mut data);
            if let Some(batches) = self.batches.node(node.index) {
                let passes = batches.begin_list();
                let mut note = |pass| passes.push(pass);
                let count = node.device.passes.len();
                node.step.bound.device_passes(&frame, count, &mut note);
                batches.end_list();
            }
            self.log.check().map_err(|source| GpuError::Misread {
                node: node.step.name.clone(),
                kind: node.step.desc.name,
                source,
            })?;
        }
        self.write_arrays(instance, frame, host);
        Ok(())
    }

    /// What the caller brought, and what steps of the host made.
    fn write_arrays(&mut self, instance: usize, frame: &Frame<'_>, host: &HostSteps) {
        let given = self.of_input.iter().enumerate().filter_map(|(i, region)| {
            let bytes: &[u8] = bytemuck::cast_slice(frame.values_of(i)?);
            Some(((*region)?, bytes))
        });
        let made = self.of_host.iter();
        let made = made.filter_map(|&(buffer, region)| Some((region, host.array_bytes(buffer)?)));
        let block: &mut [u8] = bytemuck::cast_slice_mut(&mut self.block);
        for (region, from) in given.chain(made) {
            let Some(region) = self.regions.get(region) else {
                continue;
            };
            let start = region.start + instance * region.stride;
            let out = block.get_mut(start..start + region.stride);
            if let Some(out) = out.filter(|out| out.len() == from.len()) {
                out.copy_from_slice(from);
            }
        }
    }

    /// Which instances run which passes, for nodes whose passes vary.
    pub(super) fn batches(&self) -> &Batches {
        &self.batches
    }

    /// The same, to be changed.
    pub(super) fn batches_mut(&mut self) -> &mut Batches {
        &mut self.batches
    }
}

/// A frame of one character.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment<'a> {
    pub(super) frame: &'a Frame<'a>,
    pub(super) is_first: bool,
}

/// What a node sees of a frame.
fn device_frame<'a>(
    node: &NodeOnDevice,
    Moment { frame, is_first }: Moment<'_>,
    values: &'a [ParameterValue],
    inputs: &'a [Option<InputValue<'a>>],
    log: &'a ReadLog,
) -> DeviceFrame<'a> {
    let desc = node.step.desc;
    DeviceFrame {
        time_secs: frame.time_secs,
        dt_secs: frame.dt_secs,
        is_first,
        reach: None,
        parameters: Parameters {
            descs: desc.parameters,
            values,
            log,
        },
        inputs: Inputs {
            values: inputs,
            ports: desc.inputs,
            log,
        },
    }
}

/// What one instance has of the regions of a node.
fn slices<'a>(bytes: &'a mut [u8], regions: &[Region], instance: usize) -> DeviceFrameData<'a> {
    let mut data = DeviceFrameData {
        uniforms: Default::default(),
        arrays: ArrayVec::new(),
    };
    let Some(first) = regions.first() else {
        return data;
    };
    let mut rest = bytes.get_mut(first.start..).unwrap_or_default();
    for region in regions {
        let (own, behind) = rest.split_at_mut(region.room.min(rest.len()));
        rest = behind;
        let start = instance * region.stride;
        let own = own
            .get_mut(start..start + region.stride)
            .unwrap_or_default();
        match region.memory {
            Memory::Uniforms { .. } => data.uniforms = own,
            _ => data.arrays.push(own),
        }
    }
    data
}
