//! Launches ready to be recorded: pipelines and what they bind.

use super::batches::Batch;
use super::crowd::Crowd;
use super::graph::Shared;
use super::group::{Group, PassText};
use super::instances::KernelBinding;
use super::memory::{ArrayShape, Memory};
use super::nodes::NodeOnDevice;
use super::text::{ENTRY, LaunchText, launch_text};
use crate::error::GpuError;
use crate::gpu::Gpu;
use crate::pipeline::{KernelSource, Pipeline, RuntimeChecks};
use sinew_deform::{Phase, REGISTRY};
use std::sync::Arc;

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
    /// Its last binding tells which characters a dispatch is for.
    pub(super) is_batched: bool,
    /// Of the arrays that it binds, each once.
    pub(super) bytes: u64,
    pub(super) text: String,
    pub(super) bindings: Vec<KernelBinding>,
    /// What is bound, by slot; without the list of characters.
    pub(super) memories: Vec<Memory>,
}

/// Where an array is bound from, on even (`false`) or odd frames.
pub(super) trait Buffers {
    /// The part of a buffer that holds it.
    fn binding(&self, memory: Memory, odd: bool) -> Option<wgpu::BufferBinding<'_>>;
    /// Numbers of characters that run together, and how many vectors of four a kernel sees of them.
    fn batch(&self) -> Option<(&wgpu::Buffer, usize)> {
        None
    }
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
    let mut names: Vec<(String, usize)> = Vec::new();
    for name in group.passes.iter().map(name) {
        match names.last_mut() {
            Some((last, times)) if *last == name => *times += 1,
            _ => names.push((name, 1)),
        }
    }
    let times = |(name, times): &(String, usize)| match times {
        1 => name.clone(),
        n => format!("{n} x {name}"),
    };
    names.iter().map(times).collect::<Vec<_>>().join(" + ")
}

/// Kernels of the registry need no counter in their loops: each is a `for` whose bound is known before it begins. Texts of other
/// nodes are checked in full.
#[expect(unsafe_code, reason = "the registry's kernels are vouched for")]
fn checks(group: &Group, nodes: &[NodeOnDevice]) -> RuntimeChecks {
    let of_registry = |p: &PassText| {
        let desc = nodes[p.node].step.desc;
        REGISTRY.iter().any(|known| std::ptr::eq(*known, desc))
    };
    if !group.passes.iter().all(of_registry) {
        return RuntimeChecks::ALL;
    }
    if group.tiling.is_some() {
        // SAFETY: as below for loops, and what `unroll` and `tile_text` write is counted, too. Workgroup memory is indexed with rows of
        // the tile and entries of its lists only, which `tiles::build` counted: each part has room for the most of all tiles.
        // Buffers are indexed with elements of the domains that relations and lists name, all of them checked when
        // the nodes were bound; no kernel of the registry divides whole numbers by anything but constants.
        return unsafe { RuntimeChecks::none() };
    }
    // SAFETY: the texts are those of `sinew_deform::REGISTRY`, in which `the_registrys_loops_are_counted` finds nothing but
    // counted loops; the loops of `crowd_entry` over characters and elements are counted, too.
    unsafe { RuntimeChecks::loops_end() }
}

/// What a launch binds, for people and engines.
fn describe(
    text: &LaunchText,
    shared: &Shared,
    shape: &dyn Fn(Memory) -> ArrayShape,
    instances: usize,
    buffers: &dyn Buffers,
) -> Vec<KernelBinding> {
    let bytes = |memory: Memory| match memory {
        // How long these are is known only once they are packed.
        Memory::Relation { .. }
        | Memory::RelationVectors { .. }
        | Memory::Tiles { .. }
        | Memory::TileVectors { .. } => buffers
            .binding(memory, false)
            .map_or(0, |b| b.size.map_or(b.buffer.size(), u64::from)),
        _ => shape(memory).bytes(instances) as u64,
    };
    let memories = text
        .memories
        .iter()
        .map(Some)
        .chain(std::iter::repeat(None));
    let bindings = text.bindings.iter().zip(memories);
    bindings
        .map(|(binding, memory)| KernelBinding {
            slot: binding.slot,
            access: binding.access,
            holds: memory.map_or_else(
                || "characters of the dispatch".to_owned(),
                |m| shared.memory_name(*m),
            ),
            bytes: memory.map_or(4 * instances as u64, |m| bytes(*m)),
        })
        .collect()
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
    let crowd = Crowd::of(group, shape, instances, shared.style, gpu.limits());
    let crowd = crowd.as_ref();
    let workgroup = crowd.map_or(group.workgroup(), |c| c.workgroup);
    let batch = buffers.batch().filter(|_| group.varies() && instances > 1);
    let batch_vectors = batch.map(|(_, vectors)| vectors);
    let text = launch_text(
        group,
        &shared.nodes,
        shape,
        instances > 1,
        crowd,
        batch_vectors,
    )?;
    let entries = text.module.entry_points();
    let entry = entries.iter().find(|e| e.name == ENTRY);
    let source = KernelSource {
        checks: checks(group, &shared.nodes),
        // In tiles and crowds every element is written before it is read, and nodes whose groups work together promise that; what else a text declares is its author's.
        workgroup_memory_bytes: entry.map_or(0, |e| e.workgroup_bytes),
        is_users: group.passes.iter().any(|p| p.guarded),
        zero_workgroup_memory: group.tiling.is_none() && crowd.is_none() && !group.is_grouped(),
        ..KernelSource::new(
            &label,
            text.module.text(),
            ENTRY,
            [workgroup, 1, 1],
            &text.bindings,
        )
    };
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
        if let (Some((buffer, vectors)), Some(binding)) = (batch, text.bindings.last()) {
            let window = wgpu::BufferBinding {
                buffer,
                offset: 0,
                size: wgpu::BufferSize::new(vectors as u64 * 16),
            };
            bound.push((binding.slot, window));
        }
        pipeline.bind(gpu, &bound)
    };
    let bind_groups = [bind_group(false)?, bind_group(true)?];
    let (turns, characters) = crowd.map_or((1, 1), |c| (c.turns, c.characters as usize));
    let [x, y, _] = gpu.grid(group.invocations(), workgroup * turns)?;
    let z = instances.div_ceil(characters);
    let most = gpu.limits().workgroups_per_dimension;
    gpu.limit("instances of one launch", z as u64, most.into())?;
    let first = group.passes.first().map(|p| (p.node, p.pass));
    let described = describe(&text, shared, shape, instances, buffers);
    // The words of tiles are bound twice.
    let twice = |m: &Memory| matches!(m, Memory::TileVectors { .. });
    let once = described
        .iter()
        .zip(text.memories.iter().map(Some).chain([None]));
    let once = once.filter(|(_, m)| !m.is_some_and(twice));
    Ok(Launch {
        bytes: once.map(|(b, _)| b.bytes).sum(),
        bindings: described,
        memories: text.memories,
        text: text.module.text().to_owned(),
        pipeline,
        bind_groups,
        grid: [x, y, u32::try_from(z).unwrap_or(u32::MAX)],
        phase: group.phase(),
        is_batched: batch.is_some(),
        varying: first.filter(|_| group.varies()),
        label,
    })
}

impl Launch {
    /// Records the dispatch, for `batch` or for all; nothing for meshes without vertices.
    pub(super) fn record(&self, pass: &mut wgpu::ComputePass<'_>, odd: bool, batch: Option<Batch>) {
        if self.grid.contains(&0) {
            return;
        }
        let bindings = &self.bind_groups[usize::from(odd)];
        match batch.filter(|_| self.is_batched) {
            None => self.pipeline.dispatch(pass, bindings, self.grid),
            Some(batch) => {
                let grid = [self.grid[0], self.grid[1], batch.count];
                let offsets = [batch.offset];
                self.pipeline.dispatch_at(pass, bindings, &offsets, grid);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use sinew_wgsl::tokens::{TokenKind, tokenize};
    use std::path::{Path, PathBuf};

    fn kernels(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("the nodes' sources") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                kernels(&path, out);
            } else if path.extension().is_some_and(|e| e == "wgsl") {
                out.push(path);
            }
        }
    }

    /// A loop is counted when its header declares a number, compares it and steps it.
    #[test]
    fn the_registrys_loops_are_counted() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sinew-deform/src");
        let mut files = Vec::new();
        kernels(&sources, &mut files);
        assert!(files.len() > 15, "{}", files.len());
        let mut loops = 0;
        for file in files {
            let text = std::fs::read_to_string(&file).expect("text");
            let words = tokenize(&text);
            let words = words.iter().filter(|t| t.kind == TokenKind::Keyword);
            for word in words.map(|t| t.text(&text)) {
                assert!(
                    word != "loop" && word != "while",
                    "{}: {word}",
                    file.display()
                );
            }
            for line in text.lines().filter(|l| l.trim_start().starts_with("for (")) {
                loops += 1;
                let header: Vec<&str> = line.split(';').collect();
                let name = header[0].trim().trim_start_matches("for (var ");
                let name = name.split_whitespace().next().expect("a name");
                let step = header[2].trim();
                let compares = ["<", "<=", ">"].map(|c| format!("{name} {c} "));
                let counted = header[1].trim();
                assert!(
                    compares.iter().any(|c| counted.starts_with(c.as_str())),
                    "{}: {line}",
                    file.display()
                );
                let steps = ["++", " += ", " -= "].map(|s| format!("{name}{s}"));
                assert!(
                    steps.iter().any(|s| step.starts_with(s.as_str())),
                    "{}: {line}",
                    file.display()
                );
            }
        }
        assert!(loops > 15, "{loops}");
    }
}
