//! A bound graph on one device: what all its instances share.

use super::batches::Batch;
use super::frame_data::FrameData;
use super::group::{self, Group};
use super::instances::GpuInstances;
use super::launch::{self, Buffers};
use super::memory::{ArrayShape, Memory};
use super::nodes::{self, NodeOnDevice};
use super::planning::Planner;
use super::rows;
use super::tiles::TileLimits;
use crate::adapter::AdapterKind;
use crate::buffer::{Buffer, BufferUse};
use crate::error::GpuError;
use crate::gpu::Gpu;
use bytemuck::cast_slice;
use sinew_deform::{MeshAttribute, Phase};
use sinew_graph::{BoundGraph, Frame, ParameterState};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Setup results, rest meshes and texts of a graph on a device. Clones share them.
#[derive(Clone, Debug)]
pub struct GpuGraph {
    pub(super) shared: Arc<Shared>,
}

/// What instances share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) gpu: Gpu,
    pub(super) graph: Arc<BoundGraph>,
    pub(super) nodes: Vec<NodeOnDevice>,
    pub(super) groups: Vec<Group>,
    /// Constants, rest attributes, setup buffers.
    pub(super) buffers: BTreeMap<Memory, Buffer<u32>>,
}

/// Whatever bytes, as words; the last one is filled up with zeros.
pub(super) fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_ne_bytes(word)
    };
    bytes.chunks(4).map(word).collect()
}

impl GpuGraph {
    /// Brings a bound graph to a device: uploads what setup bound, compiles the launches of setup and runs them.
    ///
    /// # Errors
    /// [`GpuError::NoDeviceSide`] names a node that runs on the processor only; limits, memory and lost devices otherwise.
    pub fn new(gpu: &Gpu, graph: &Arc<BoundGraph>) -> Result<Self, GpuError> {
        let simple =
            gpu.info().kind == AdapterKind::Software && std::env::var_os("SINEW_TILES").is_none();
        let nodes = nodes::nodes(graph, simple)?;
        let limits = gpu.limits();
        let groups = {
            let shape = |memory| nodes::shape(graph, &nodes, memory);
            let is_kept = |memory| is_kept(graph, &nodes, memory);
            let passes = group::texts(&nodes, &shape)?;
            let planner = Planner {
                graph,
                nodes: &nodes,
                shape: &shape,
                is_kept: &is_kept,
                most_bindings: limits.storage_buffers_per_stage as usize,
                limits: TileLimits {
                    bytes: limits.workgroup_memory_bytes as usize,
                    invocations: limits.invocations_per_workgroup,
                },
                instances: 1,
                tiles: !simple && std::env::var_os("SINEW_PLAIN").is_none(),
            };
            planner.groups(passes)
        };
        let mut shared = Shared {
            gpu: gpu.clone(),
            graph: graph.clone(),
            nodes,
            groups,
            buffers: BTreeMap::new(),
        };
        shared.upload()?;
        shared.run_setup()?;
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// `count` characters that share this graph and move on their own.
    ///
    /// # Errors
    /// Limits, memory, lost devices.
    pub fn instances(&self, count: usize) -> Result<GpuInstances, GpuError> {
        GpuInstances::new(&self.shared, count)
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<BoundGraph> {
        &self.shared.graph
    }
    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.shared.gpu
    }
    /// Bytes on the device that all instances share.
    pub fn memory_bytes(&self) -> u64 {
        let buffers = self.shared.buffers.iter();
        let once = buffers.filter(|(m, _)| !matches!(m, Memory::TileVectors { .. }));
        once.map(|(_, b)| b.bytes()).sum()
    }
}

fn is_kept(graph: &BoundGraph, nodes: &[NodeOnDevice], memory: Memory) -> bool {
    let kept = |phase, i: usize| {
        graph
            .program()
            .buffers(phase)
            .get(i)
            .is_some_and(|b| b.kept)
    };
    match memory {
        Memory::Setup(i) => kept(Phase::Setup, i),
        Memory::Frame(i) => kept(Phase::Update, i),
        // Varying passes read it in an order that only the frame knows.
        Memory::Scratch { node, index } => {
            let device = &nodes[node].device;
            device.passes_vary || device.scratch[index].lasting
        }
        _ => false,
    }
}

impl Shared {
    pub(super) fn shape(&self, memory: Memory) -> ArrayShape {
        nodes::shape(&self.graph, &self.nodes, memory)
    }

    /// Every array that launches of a phase bind.
    pub(super) fn bound(&self, phase: Phase) -> Vec<Memory> {
        let mut out: Vec<Memory> = Vec::new();
        for group in self.groups.iter().filter(|g| g.phase() == phase) {
            for memory in group.bound(&self.nodes).into_keys() {
                if !out.contains(&memory) {
                    out.push(memory);
                }
            }
        }
        out
    }

    /// For people and for engines that bind by name.
    pub(super) fn memory_name(&self, memory: Memory) -> String {
        let node = |n: usize| &self.nodes[n].step.name;
        let device = |n: usize| &self.nodes[n].device;
        match memory {
            Memory::Rest { mesh, attribute } => format!("rest {mesh} {}", attribute.as_str()),
            Memory::Setup(i) => format!("setup {i}"),
            Memory::Frame(i) => format!("frame {i}"),
            Memory::Constant { node: n, index } => {
                format!("{}.{}", node(n), device(n).constants[index].name)
            }
            Memory::Relation { node: n, index } | Memory::RelationVectors { node: n, index } => {
                format!("{}.{}", node(n), device(n).relations[index].name)
            }
            Memory::Tiles { launch } | Memory::TileVectors { launch } => {
                format!("tiles of launch {launch}")
            }
            Memory::Scratch { node: n, index } => {
                format!("{}.{}", node(n), device(n).scratch[index].name)
            }
            Memory::Uniforms { node: n } => format!("{}.uniforms", node(n)),
            Memory::FrameArray { node: n, index } => {
                format!("{}.{}", node(n), device(n).frame_arrays[index].name)
            }
            Memory::Values { input } => format!("values {input}"),
        }
    }

    /// Makes the buffers that do not change with frames and fills those that hold constants.
    fn upload(&mut self) -> Result<(), GpuError> {
        let mut needed = self.bound(Phase::Setup);
        needed.extend(self.bound(Phase::Update));
        needed.extend(super::outputs::output_memories(&self.graph));
        for memory in needed {
            if self.buffers.contains_key(&memory) {
                continue;
            }
            let data = match memory {
                Memory::Rest { mesh, attribute } => self.rest(mesh, attribute),
                Memory::Constant { node, index } => {
                    words(&self.nodes[node].device.constants[index].bytes)
                }
                Memory::Relation { node, index } | Memory::RelationVectors { node, index } => {
                    let node = &self.nodes[node];
                    let relation = &node.device.relations[index];
                    rows::words(relation, &node.rows[index]).ok_or_else(|| GpuError::Internal {
                        what: format!("relation '{}' of '{}'", relation.name, node.step.name),
                        message: "it has more entries than 32 bits count".into(),
                    })?
                }
                Memory::Tiles { launch } => {
                    let tiling = self.groups.get(launch).and_then(|g| g.tiling.as_ref());
                    tiling.map(|t| t.tiles.words.clone()).unwrap_or_default()
                }
                Memory::Setup(_) => vec![0; self.shape(memory).bytes(1).div_ceil(4)],
                Memory::Scratch { node, .. } if self.nodes[node].phase == Phase::Setup => {
                    vec![0; self.shape(memory).bytes(1).div_ceil(4)]
                }
                _ => continue,
            };
            let name = self.memory_name(memory);
            let same = match memory {
                Memory::Tiles { launch } => Some(Memory::TileVectors { launch }),
                _ => None,
            };
            let buffer = Buffer::from_slice(&self.gpu, &name, &data, BufferUse::Drawn)?;
            if let Some(same) = same {
                self.buffers.insert(same, buffer.clone());
            }
            self.buffers.insert(memory, buffer);
        }
        Ok(())
    }

    fn rest(&self, mesh: usize, attribute: MeshAttribute) -> Vec<u32> {
        let mesh = &self.graph.program().meshes()[mesh];
        let bytes: &[u8] = match attribute {
            MeshAttribute::Positions => cast_slice(&mesh.positions),
            MeshAttribute::Normals => cast_slice(mesh.normals.as_deref().unwrap_or_default()),
            MeshAttribute::Tangents => cast_slice(mesh.tangents.as_deref().unwrap_or_default()),
            MeshAttribute::Colors => mesh.colors.first().map_or(&[], |c| cast_slice(c)),
        };
        words(bytes)
    }

    fn run_setup(&self) -> Result<(), GpuError> {
        let setup = || self.groups.iter().filter(|g| g.phase() == Phase::Setup);
        if setup().next().is_none() {
            return Ok(());
        }
        let shape = |memory| self.shape(memory);
        let limits = self.gpu.limits();
        let mut data = FrameData::new(&self.graph, &self.nodes, Phase::Setup, &shape, 1, limits)?;
        let parameters = ParameterState::new(&self.graph);
        let frame = Frame::default();
        data.begin_frame();
        data.write(&self.nodes, Phase::Setup, 0, &frame, &parameters)?;
        data.end_frame();
        let block = Buffer::from_slice(&self.gpu, "setup data", data.block(), BufferUse::Storage)?;
        let buffers = SetupBuffers {
            shared: self,
            data: &data,
            block: &block,
        };
        let mut launches = Vec::new();
        for group in setup() {
            launches.push(launch::launch(&self.gpu, self, group, &shape, 1, &buffers)?);
        }
        self.gpu.submit("setup", |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            each_launch(&launches, Phase::Setup, &data, &mut |i, batch| {
                launches[i].record(&mut pass, false, batch);
            });
            Ok(())
        })?;
        Ok(())
    }
}

/// Calls `run` with each launch of a frame, in order, and the characters that it is for; `None` stands for all.
pub(super) fn each_launch(
    launches: &[launch::Launch],
    phase: Phase,
    data: &FrameData,
    run: &mut dyn FnMut(usize, Option<Batch>),
) {
    let mut i = 0;
    while let Some(launch) = launches.get(i) {
        match launch.varying {
            _ if launch.phase != phase => i += 1,
            None => {
                run(i, None);
                i += 1;
            }
            Some((node, _)) => {
                let first = i;
                let of_node = |l: &launch::Launch| l.varying.is_some_and(|v| v.0 == node);
                let count = launches[first..].iter().take_while(|l| of_node(l)).count();
                let runs = data.batches().runs(node).filter(|(pass, _)| *pass < count);
                runs.for_each(|(pass, batch)| run(first + pass, Some(batch)));
                i += count.max(1);
            }
        }
    }
}

struct SetupBuffers<'a> {
    shared: &'a Shared,
    data: &'a FrameData,
    block: &'a Buffer<[u32; 4]>,
}

impl Buffers for SetupBuffers<'_> {
    fn binding(&self, memory: Memory, _odd: bool) -> Option<wgpu::BufferBinding<'_>> {
        match self.shared.buffers.get(&memory) {
            Some(buffer) => Some(buffer.binding()),
            None => block_binding(self.block, self.data, memory),
        }
    }
}

/// The part of the frame's block that holds an array.
pub(super) fn block_binding<'a>(
    block: &'a Buffer<[u32; 4]>,
    data: &FrameData,
    memory: Memory,
) -> Option<wgpu::BufferBinding<'a>> {
    let range = data.range(memory)?;
    Some(wgpu::BufferBinding {
        buffer: block.raw(),
        offset: range.start as u64,
        size: wgpu::BufferSize::new((range.end - range.start) as u64),
    })
}
