//! A bound graph on one GPU: the data that all its instances share.

use super::batches::Batch;
use super::frame_data::{FrameData, Moment};
use super::group::{self, Group, PassText};
use super::instances::GpuInstances;
use super::launch::{self, Buffers};
use super::memory::{ArrayShape, Memory};
use super::nodes::{self, NodeOnDevice};
use super::planning::{Choices, LaunchStyle, Planner};
use super::rows;
use super::schedule::may_tile;
use super::tiles::TileLimits;
use crate::adapter::{AdapterInfo, AdapterKind};
use crate::buffer::{Buffer, BufferUse};
use crate::error::GpuError;
use crate::gpu::Gpu;
use bytemuck::cast_slice;
use sinew_deform::{MeshAttribute, Phase};
use sinew_graph::{BoundGraph, Frame, HostSteps, ParameterState};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A bound graph on a GPU: setup results, rest meshes and kernels. Clones share them.
#[derive(Clone, Debug)]
pub struct GpuGraph {
    pub(super) shared: Arc<Shared>,
}

/// Data that instances share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) gpu: Gpu,
    pub(super) graph: Arc<BoundGraph>,
    pub(super) nodes: Vec<NodeOnDevice>,
    passes: Vec<PassText>,
    pub(super) style: LaunchStyle,
    /// Setup buffers, and the data that setup and outputs read.
    pub(super) buffers: BTreeMap<Memory, Buffer<u32>>,
    /// Launches of a frame, for numbers of characters that want them differently.
    plans: Mutex<Vec<(Choices, Arc<LaunchPlan>)>>,
}

/// Launches of a phase with their constant data.
#[derive(Debug)]
pub(super) struct LaunchPlan {
    pub(super) groups: Vec<Group>,
    pub(super) buffers: BTreeMap<Memory, Buffer<u32>>,
}

/// Bytes as 32-bit words; the last one is padded with zeros.
pub(super) fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 4];
        word[..chunk.len()].copy_from_slice(chunk);
        u32::from_ne_bytes(word)
    };
    bytes.chunks(4).map(word).collect()
}

/// Untrusted kernels run on software adapters only, where the process can be ended. A hardware GPU that hangs blocks the screen.
fn check_trust(adapter: &AdapterInfo, distrusted: &[&str]) -> Result<(), GpuError> {
    if distrusted.is_empty() || adapter.kind == AdapterKind::Software {
        return Ok(());
    }
    Err(GpuError::Distrusted {
        kernels: distrusted.iter().map(|k| (*k).to_owned()).collect(),
        adapter: adapter.name.clone(),
    })
}

impl GpuGraph {
    /// Uploads a bound graph to a GPU, compiles its setup launches and runs them. Drivers without a GPU kernel run on the CPU if it has
    /// their inputs ([`sinew_graph::Step::host`]).
    ///
    /// # Errors
    /// [`GpuError::NoDeviceSide`] names a node that neither the GPU nor the CPU beside it can run. [`GpuError::Distrusted`] names untrusted
    /// kernels. Other errors are limits, memory and lost devices.
    pub fn new(gpu: &Gpu, graph: &Arc<BoundGraph>) -> Result<Self, GpuError> {
        Self::with_style(gpu, graph, LaunchStyle::Auto)
    }

    /// As [`Self::new`], with a launch style that the caller chooses. All styles give the same results, except for rounding.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn with_style(
        gpu: &Gpu,
        graph: &Arc<BoundGraph>,
        style: LaunchStyle,
    ) -> Result<Self, GpuError> {
        check_trust(gpu.info(), &graph.plan().distrusted_kernels())?;
        let software = gpu.info().kind == AdapterKind::Software;
        let style = match style {
            LaunchStyle::Auto if software => LaunchStyle::Compact,
            style => style,
        };
        let nodes = nodes::nodes(graph, style == LaunchStyle::Compact, software)?;
        let passes = group::texts(&nodes, &|memory| nodes::shape(graph, &nodes, memory))?;
        let mut shared = Shared {
            gpu: gpu.clone(),
            graph: graph.clone(),
            nodes,
            passes,
            style,
            buffers: BTreeMap::new(),
            plans: Mutex::new(Vec::new()),
        };
        shared.run_setup()?;
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Creates `count` characters of this graph, each with its own pose and parameters.
    ///
    /// # Errors
    /// Limits, memory, lost devices.
    pub fn instances(&self, count: usize) -> Result<GpuInstances, GpuError> {
        GpuInstances::new(&self.shared, count)
    }

    /// Bytes of GPU memory that all instances share.
    pub fn memory_bytes(&self) -> u64 {
        let plans = self.shared.plans();
        let mut all: Vec<&Buffer<u32>> = Vec::new();
        let of_plans = plans.iter().flat_map(|(_, p)| p.buffers.values());
        for buffer in self.shared.buffers.values().chain(of_plans) {
            if all.iter().all(|b| b.raw() != buffer.raw()) {
                all.push(buffer);
            }
        }
        all.into_iter().map(Buffer::bytes).sum()
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

    fn plans(&self) -> MutexGuard<'_, Vec<(Choices, Arc<LaunchPlan>)>> {
        // Nothing that holds the lock panics, and a list of plans is whole at any time.
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The launches of a frame of that many characters.
    pub(super) fn plan(&self, instances: usize) -> Result<Arc<LaunchPlan>, GpuError> {
        let shape = |memory| self.shape(memory);
        let kept = |memory| is_kept(&self.graph, &self.nodes, memory);
        let planner = self.planner(&shape, &kept, instances);
        let choices = planner.choices(&self.passes);
        let mut plans = self.plans();
        if let Some((_, plan)) = plans.iter().find(|(c, _)| *c == choices) {
            return Ok(plan.clone());
        }
        let mut groups = planner.groups(&self.passes, &choices);
        groups.retain(|g| g.phase() == Phase::Update);
        let mut buffers = BTreeMap::new();
        self.upload(&bound(&groups, &self.nodes), &groups, &plans, &mut buffers)?;
        let plan = Arc::new(LaunchPlan { groups, buffers });
        plans.push((choices, plan.clone()));
        Ok(plan)
    }

    fn planner<'a>(
        &'a self,
        shape: &'a dyn Fn(Memory) -> ArrayShape,
        is_kept: &'a dyn Fn(Memory) -> bool,
        instances: usize,
    ) -> Planner<'a> {
        let limits = self.gpu.limits();
        Planner {
            graph: &self.graph,
            nodes: &self.nodes,
            shape,
            is_kept,
            most_bindings: limits.storage_buffers_per_stage as usize,
            limits: TileLimits {
                bytes: limits.workgroup_memory_bytes as usize,
                invocations: limits.invocations_per_workgroup,
            },
            instances,
            style: self.style,
        }
    }

    /// Name for messages and for engines that bind by name.
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

    /// Makes the buffers that do not change with frames and fills those that hold constants; those that are there already
    /// are shared.
    fn upload(
        &self,
        needed: &[Memory],
        groups: &[Group],
        plans: &[(Choices, Arc<LaunchPlan>)],
        out: &mut BTreeMap<Memory, Buffer<u32>>,
    ) -> Result<(), GpuError> {
        for &memory in needed {
            if self.buffers.contains_key(&memory) || out.contains_key(&memory) {
                continue;
            }
            let of_launch = matches!(memory, Memory::Tiles { .. } | Memory::TileVectors { .. });
            let known = plans.iter().find_map(|(_, p)| p.buffers.get(&memory));
            if let Some(buffer) = known.filter(|_| !of_launch) {
                out.insert(memory, buffer.clone());
                continue;
            }
            let data = match memory {
                Memory::Rest { mesh, attribute } => self.rest(mesh, attribute),
                Memory::Constant { node, index } => {
                    let constant = &self.nodes[node].device.constants[index];
                    out.insert(memory, self.constant(memory, &constant.bytes)?);
                    continue;
                }
                Memory::Relation { node, index } | Memory::RelationVectors { node, index } => {
                    let node = &self.nodes[node];
                    let relation = &node.device.relations[index];
                    rows::words(relation, &node.rows[index]).ok_or_else(|| GpuError::Internal {
                        what: format!("relation '{}' of '{}'", relation.name, node.step.name),
                        message: "it has more entries than a 32-bit count allows".into(),
                    })?
                }
                Memory::Tiles { launch } => {
                    let tilings = groups.iter().filter_map(|g| g.tiling.as_ref());
                    let tiling = tilings.into_iter().find(|t| t.launch == launch);
                    tiling.map(|t| t.tiles.words.clone()).unwrap_or_default()
                }
                Memory::Setup(i) => match self.graph.host_setup_bytes(i) {
                    Some(bytes) => words(bytes),
                    None => vec![0; self.shape(memory).bytes(1).div_ceil(4)],
                },
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
                out.insert(same, buffer.clone());
            }
            out.insert(memory, buffer);
        }
        Ok(())
    }

    /// The buffer of a constant. Bytes that are whole words are not copied: textures take many megabytes.
    fn constant(&self, memory: Memory, bytes: &[u8]) -> Result<Buffer<u32>, GpuError> {
        let name = self.memory_name(memory);
        let allowed = self.gpu.limits().storage_binding_bytes;
        let what = format!("bytes of array '{name}' in one binding");
        self.gpu.limit(&what, bytes.len() as u64, allowed)?;
        match bytemuck::try_cast_slice(bytes) {
            Ok(whole) => Buffer::from_slice(&self.gpu, &name, whole, BufferUse::Drawn),
            Err(_) => Buffer::from_slice(&self.gpu, &name, &words(bytes), BufferUse::Drawn),
        }
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

    /// Makes what setup and outputs read, and runs the setup steps.
    fn run_setup(&mut self) -> Result<(), GpuError> {
        let groups = {
            let shape = |memory| self.shape(memory);
            let kept = |memory| is_kept(&self.graph, &self.nodes, memory);
            let planner = self.planner(&shape, &kept, 1);
            let plain = self.passes.chunk_by(|a, b| may_tile(a) == may_tile(b));
            let mut groups = planner.groups(&self.passes, &vec![Vec::new(); plain.count()]);
            groups.retain(|g| g.phase() == Phase::Setup);
            groups
        };
        let mut needed = bound(&groups, &self.nodes);
        needed.extend(super::outputs::output_memories(&self.graph));
        let mut buffers = BTreeMap::new();
        self.upload(&needed, &groups, &[], &mut buffers)?;
        self.buffers = buffers;
        if groups.is_empty() {
            return Ok(());
        }
        let shape = |memory| self.shape(memory);
        let limits = self.gpu.limits();
        let mut data = FrameData::new(&self.graph, &self.nodes, Phase::Setup, &shape, 1, limits)?;
        let parameters = ParameterState::new(&self.graph);
        let frame = Frame::default();
        data.begin_frame();
        let host = HostSteps::new(&self.graph);
        let moment = Moment {
            frame: &frame,
            is_first: true,
        };
        data.write(&self.nodes, Phase::Setup, 0, moment, &parameters, &host)?;
        data.end_frame();
        let block = Buffer::from_slice(&self.gpu, "setup data", data.block(), BufferUse::Storage)?;
        let buffers = SetupBuffers {
            shared: self,
            data: &data,
            block: &block,
        };
        let mut launches = Vec::new();
        for group in &groups {
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

/// Every array that launches bind.
pub(super) fn bound(groups: &[Group], nodes: &[NodeOnDevice]) -> Vec<Memory> {
    let all = groups.iter().flat_map(|g| g.bound(nodes).into_keys());
    let unique: BTreeSet<Memory> = all.collect();
    unique.into_iter().collect()
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
                // Passes that make nothing anybody wants have no launch.
                let launch = |pass: usize| {
                    let mut of_node = launches[first..first + count].iter();
                    of_node.position(|l| l.varying == Some((node, pass)))
                };
                let runs = data.batches().runs(node);
                let runs = runs.filter_map(|(pass, batch)| Some((launch(pass)?, batch)));
                runs.for_each(|(offset, batch)| run(first + offset, Some(batch)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::software_info;

    #[test]
    fn kernels_of_strangers_run_in_software_only() {
        let adapter = |kind| AdapterInfo {
            kind,
            ..software_info("an adapter")
        };
        use AdapterKind as K;
        for kind in [K::Discrete, K::Integrated, K::Virtual, K::Other] {
            check_trust(&adapter(kind), &[]).expect("nobody to distrust");
            let error = check_trust(&adapter(kind), &["wave", "a/b"]).expect_err("hardware");
            let said = error.to_string();
            assert!(
                said.contains("'wave', 'a/b'") && said.contains("--trust"),
                "{said}"
            );
        }
        check_trust(&adapter(K::Software), &["wave"]).expect("software");
    }
}
