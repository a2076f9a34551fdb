//! Steps that the CPU runs before the GPU: drivers without GPU kernels. Their results are uploaded with the data of the frame.

use super::frame_data::FrameData;
use super::memory::Memory;
use super::nodes::NodeOnDevice;
use super::outputs::output_memories;
use crate::buffer::Buffer;
use sinew_deform::Phase;
use sinew_graph::{BoundGraph, Content, HostSteps};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Arrays that steps of the host make in each frame, as places in the program's frame buffers, as far as the device or an output
/// needs them.
pub(super) fn arrays(graph: &BoundGraph, nodes: &[NodeOnDevice]) -> Vec<usize> {
    let outputs = output_memories(graph);
    let is_needed = |memory: Memory| {
        let mut read = nodes.iter().flat_map(|n| n.inputs.iter().flatten());
        outputs.contains(&memory) || read.any(|m| *m == Some(memory))
    };
    let buffers = graph.program().buffers(Phase::Update).iter().enumerate();
    let arrays = buffers.filter(|(_, b)| b.host && matches!(b.content, Content::Array { .. }));
    arrays
        .map(|(i, _)| i)
        .filter(|i| is_needed(Memory::Frame(*i)))
        .collect()
}

/// An output of the graph that the host makes: a buffer of its own, filled from the block.
#[derive(Debug)]
struct Output {
    buffer: Buffer<u32>,
    /// Where it begins in the block, in bytes.
    start: u64,
}

/// The host's share of all characters.
#[derive(Debug)]
pub(super) struct HostSide {
    pub(super) characters: Vec<HostSteps>,
    outputs: Vec<Output>,
}

impl HostSide {
    /// `buffers` has those of outputs.
    pub(super) fn new(
        graph: &Arc<BoundGraph>,
        count: usize,
        data: &FrameData,
        buffers: &BTreeMap<Memory, Buffer<u32>>,
    ) -> Self {
        let output = |(memory, buffer): (&Memory, &Buffer<u32>)| {
            Some(Output {
                buffer: buffer.clone(),
                start: data.range(*memory)?.start as u64,
            })
        };
        Self {
            characters: std::iter::repeat_with(|| HostSteps::new(graph))
                .take(count)
                .collect(),
            outputs: buffers.iter().filter_map(output).collect(),
        }
    }

    /// Records bringing outputs from the block to their buffers.
    pub(super) fn record(&self, encoder: &mut wgpu::CommandEncoder, block: &wgpu::Buffer) {
        for output in self.outputs.iter().filter(|o| !o.buffer.is_empty()) {
            let (to, bytes) = (&output.buffer, output.buffer.bytes());
            encoder.copy_buffer_to_buffer(block, output.start, to.raw(), 0, bytes);
        }
    }
}
