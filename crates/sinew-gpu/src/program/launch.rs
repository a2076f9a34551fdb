//! Launches ready to be recorded: pipelines and what they bind.

use super::graph::Shared;
use super::group::{Group, PassText};
use super::memory::{ArrayShape, Memory};
use super::nodes::NodeOnDevice;
use super::text::{ENTRY, launch_text};
use crate::error::GpuError;
use crate::gpu::Gpu;
use crate::pipeline::{KernelSource, Pipeline};
use sinew_deform::Phase;
use std::sync::Arc;

/// Invocations of a workgroup.
const WORKGROUP: u32 = 128;

/// One dispatch.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) label: String,
    pub(super) pipeline: Arc<Pipeline>,
    /// For even and odd frames: buffers that keep the frame before change places.
    pub(super) bind_groups: [wgpu::BindGroup; 2],
    pub(super) grid: [u32; 3],
    pub(super) phase: Phase,
    /// Set where the frame decides whether it runs: node and pass.
    pub(super) varying: Option<(usize, usize)>,
    pub(super) text: String,
    pub(super) bindings: Vec<(u32, bool, String)>,
}

/// Where an array is bound from, on even (`false`) or odd frames.
pub(super) trait Buffers {
    /// The part of a buffer that holds it.
    fn binding(&self, memory: Memory, odd: bool) -> Option<wgpu::BufferBinding<'_>>;
}

pub(super) fn label(group: &Group, nodes: &[NodeOnDevice]) -> String {
    let name = |p: &PassText| {
        let node = &nodes[p.node];
        let pass = &node.device.passes[p.pass];
        if node.device.passes.len() == 1 {
            node.step.name.clone()
        } else {
            format!("{}.{}", node.step.name, pass.name)
        }
    };
    let names: Vec<String> = group.passes.iter().map(name).collect();
    names.join(" + ")
}

/// Compiles a group and binds its buffers.
pub(super) fn launch(
    gpu: &Gpu,
    shared: &Shared,
    group: &Group,
    shape: &dyn Fn(Memory) -> ArrayShape,
    instances: usize,
    buffers: &dyn Buffers,
) -> Result<Launch, GpuError> {
    let label = label(group, &shared.nodes);
    let instances = match group.phase() {
        Phase::Setup => 1,
        Phase::Update => instances,
    };
    let text = launch_text(group, shape, instances > 1, WORKGROUP)?;
    let source = KernelSource::new(
        &label,
        text.module.text(),
        ENTRY,
        [WORKGROUP, 1, 1],
        &text.bindings,
    );
    let pipeline = gpu.pipeline(&source)?;
    let bind_group = |odd: bool| {
        let mut bound = Vec::new();
        for (binding, &memory) in text.bindings.iter().zip(&text.memories) {
            let buffer = buffers
                .binding(memory, odd)
                .ok_or_else(|| GpuError::Internal {
                    what: format!("launch '{label}'"),
                    message: format!("{memory:?} has no buffer"),
                })?;
            bound.push((binding.slot, buffer));
        }
        pipeline.bind(gpu, &bound)
    };
    let bind_groups = [bind_group(false)?, bind_group(true)?];
    let [x, y, _] = gpu.grid(group.count(), WORKGROUP)?;
    let most = gpu.limits().workgroups_per_dimension;
    gpu.limit("instances of one launch", instances as u64, most.into())?;
    let first = group.passes.first().map(|p| (p.node, p.pass));
    Ok(Launch {
        bindings: text
            .bindings
            .iter()
            .zip(&text.memories)
            .map(|(b, m)| {
                (
                    b.slot,
                    b.access == crate::Access::ReadWrite,
                    shared.memory_name(*m),
                )
            })
            .collect(),
        text: text.module.text().to_owned(),
        pipeline,
        bind_groups,
        grid: [x, y, u32::try_from(instances).unwrap_or(u32::MAX)],
        phase: group.phase(),
        varying: first.filter(|_| group.varies()),
        label,
    })
}

impl Launch {
    /// Records the dispatch; nothing for meshes without vertices.
    pub(super) fn record(&self, pass: &mut wgpu::ComputePass<'_>, odd: bool) {
        if self.grid.contains(&0) {
            return;
        }
        let bindings = &self.bind_groups[usize::from(odd)];
        self.pipeline.dispatch(pass, bindings, self.grid);
    }
}
