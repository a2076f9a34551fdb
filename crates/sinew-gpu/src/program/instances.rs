//! Characters on the GPU: frame buffers, parameters, frames.
//!
//! [`GpuInstances`] is any number of characters of one graph. Each array of a frame holds all characters one after another, and one dispatch
//! covers them all. Setup results are shared, in buffers of the graph. A frame has two halves:
//!
//! 1. [`GpuInstances::send`], for each character: checks pose and values, samples parameters, runs the steps of the CPU (`host.rs`), writes
//!    uniforms and arrays into one block (`frame_data.rs`). Then one upload. If anything is wrong, nothing was uploaded.
//! 2. [`GpuInstances::record`]: the launches, in order. Bind groups were made with the instances; nothing is made or looked up here.
//!
//! Arrays that keep their previous frame exist twice and are swapped by two sets of bind groups, for odd and even frames. The first frame of
//! a character is copied into the other one: its previous frame is itself.
//!
//! Where nodes skip passes by their parameters, characters that run the same passes form a batch. Its list of characters is a small uniform
//! buffer with a dynamic offset (`batches.rs`).

use super::batches::Batch;
use super::bounds::OutputBounds;
use super::frame_data::{FrameData, Moment};
use super::graph::{LaunchPlan, Shared, block_binding, bound, each_launch};
use super::group::Group;
use super::host::HostSide;
use super::launch::{self, Buffers, Launch};
use super::memory::{ArrayShape, Memory};
use super::outputs::output_memories;
use crate::buffer::{Buffer, BufferUse, Readback};
use crate::error::GpuError;
use crate::gpu::Submission;
use crate::pipeline::Access;
use crate::timestamps::Timestamps;
use sinew_deform::{ParameterValue, Phase};
use sinew_graph::{BoundGraph, Frame, ParameterState};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Any number of characters of one [`super::GpuGraph`], each with its own pose, parameters and frame buffers.
#[derive(Debug)]
pub struct GpuInstances {
    pub(super) shared: Arc<Shared>,
    pub(super) plan: Arc<LaunchPlan>,
    pub(super) count: usize,
    parameters: Vec<ParameterState>,
    pub(super) data: FrameData,
    block: Buffer<[u32; 4]>,
    pub(super) buffers: BTreeMap<Memory, Buffer<u32>>,
    /// Previous frame of the buffers that keep it; on odd frames they and `buffers` are swapped.
    pub(super) previous: BTreeMap<Memory, Buffer<u32>>,
    pub(super) launches: Vec<Launch>,
    /// Numbers of characters that run the same passes; `None` where no node needs them.
    batch: Option<Buffer<[u32; 4]>>,
    /// By output of the graph; empty until bounds are requested.
    pub(super) bounds: Vec<Option<OutputBounds>>,
    pub(super) frames_done: u64,
    /// By character: whether the next frame is the first one.
    pub(super) is_fresh: Vec<bool>,
    pub(super) readback: Readback,
    pub(super) moved: Vec<[f32; 3]>,
    pub(super) host: HostSide,
}

/// A kernel as plain data, for engines that do not use wgpu.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kernel {
    /// Names of the nodes that it runs.
    pub label: String,
    /// Complete WGSL text; the entry point is `main`.
    pub wgsl: String,
    /// Invocations of a workgroup in each dimension.
    pub workgroup_size: [u32; 3],
    /// Workgroups of a dispatch in each dimension.
    pub groups: [u32; 3],
    /// Its bindings.
    pub bindings: Vec<KernelBinding>,
}

/// A buffer that a kernel binds.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelBinding {
    /// Slot in bind group 0.
    pub slot: u32,
    /// How the kernel uses it.
    pub access: Access,
    /// Its content: `rest MESH ATTRIBUTE`, `setup N`, `frame N`, `NODE.ARRAY` or `values INPUT`. For [`Access::UniformAt`]: indices of
    /// characters.
    pub holds: String,
    /// Its size in bytes, for all characters.
    pub bytes: u64,
}

/// The shape of an array of characters that have `buffers` of their own.
fn shape(shared: &Shared, own: &BTreeMap<Memory, Buffer<u32>>, memory: Memory) -> ArrayShape {
    let mut shape = shared.shape(memory);
    shape.per_instance |= matches!(memory, Memory::Rest { .. }) && own.contains_key(&memory);
    shape
}

struct FrameBuffers<'a> {
    shared: &'a Shared,
    plan: &'a LaunchPlan,
    data: &'a FrameData,
    block: &'a Buffer<[u32; 4]>,
    buffers: &'a BTreeMap<Memory, Buffer<u32>>,
    previous: &'a BTreeMap<Memory, Buffer<u32>>,
    batch: Option<&'a Buffer<[u32; 4]>>,
}

impl Buffers for FrameBuffers<'_> {
    fn binding(&self, memory: Memory, odd: bool) -> Option<wgpu::BufferBinding<'_>> {
        let flipped = self.previous.get(&memory).filter(|_| odd);
        let own = flipped.or_else(|| self.buffers.get(&memory));
        let shared = || self.shared.buffers.get(&memory);
        let planned = || self.plan.buffers.get(&memory);
        match own.or_else(shared).or_else(planned) {
            Some(buffer) => Some(buffer.binding()),
            None => block_binding(self.block, self.data, memory),
        }
    }

    fn batch(&self) -> Option<(&wgpu::Buffer, usize)> {
        Some((self.batch?.raw(), self.data.batches().window()))
    }
}

impl GpuInstances {
    pub(super) fn new(shared: &Arc<Shared>, count: usize) -> Result<Self, GpuError> {
        let gpu = &shared.gpu;
        let shape = |memory| shared.shape(memory);
        let graph = &shared.graph;
        let (nodes, limits) = (&shared.nodes, gpu.limits());
        let data = FrameData::new(graph, nodes, Phase::Update, &shape, count, limits)?;
        let block = Buffer::from_slice(gpu, "frame data", data.block(), BufferUse::Storage)?;
        let plan = shared.plan(count)?;
        let batch = (count > 1 && plan.groups.iter().any(Group::varies)).then(|| {
            let vectors = data.batches().most_vectors();
            Buffer::new(
                gpu,
                "characters that run together",
                vectors,
                BufferUse::Uniform,
            )
        });
        let (mut buffers, mut previous) = (BTreeMap::new(), BTreeMap::new());
        let outputs = output_memories(graph);
        let mut needed = bound(&plan.groups, nodes);
        needed.extend(&outputs);
        for memory in needed {
            let shared_by_all =
                shared.buffers.contains_key(&memory) || plan.buffers.contains_key(&memory);
            // What the host makes is read from the block, unless others bind it.
            let in_block = data.range(memory).is_some() && !outputs.contains(&memory);
            if shared_by_all || in_block || buffers.contains_key(&memory) {
                continue;
            }
            let words = shape(memory).bytes(count).div_ceil(4);
            let make = |name: &str| Buffer::new(gpu, name, words, BufferUse::Drawn);
            match memory {
                Memory::Frame(i) => {
                    let name = shared.memory_name(memory);
                    buffers.insert(memory, make(&name)?);
                    let desc = graph.program().buffers(Phase::Update).get(i);
                    if desc.is_some_and(|d| d.previous) {
                        previous.insert(memory, make(&format!("{name}, the frame before"))?);
                    }
                }
                Memory::Scratch { .. } => {
                    buffers.insert(memory, make(&shared.memory_name(memory))?);
                }
                _ => {}
            }
        }
        let mut out = Self {
            parameters: vec![ParameterState::new(graph); count],
            host: HostSide::new(graph, count, &data, &buffers),
            shared: shared.clone(),
            plan,
            count,
            data,
            block,
            buffers,
            previous,
            launches: Vec::new(),
            batch: batch.transpose()?,
            bounds: Vec::new(),
            frames_done: 0,
            is_fresh: vec![true; count],
            readback: Readback::new(),
            moved: Vec::new(),
        };
        out.launches = out.make_launches(&out.buffers, &out.bounds)?;
        Ok(out)
    }

    /// The shape of an array of these characters: as in the graph, except for rest positions that each character has of its own.
    pub(super) fn shape(&self, memory: Memory) -> ArrayShape {
        shape(&self.shared, &self.buffers, memory)
    }

    /// Compiles and binds all launches of a frame to `buffers`, those of `bounds` last.
    pub(super) fn make_launches(
        &self,
        buffers: &BTreeMap<Memory, Buffer<u32>>,
        bounds: &[Option<OutputBounds>],
    ) -> Result<Vec<Launch>, GpuError> {
        let shared = &*self.shared;
        let gpu = &shared.gpu;
        let frame_buffers = FrameBuffers {
            shared,
            plan: &self.plan,
            data: &self.data,
            block: &self.block,
            buffers,
            previous: &self.previous,
            batch: self.batch.as_ref(),
        };
        let shape = |memory| shape(shared, buffers, memory);
        let launches = self
            .plan
            .groups
            .iter()
            .map(|g| launch::launch(gpu, shared, g, &shape, self.count, &frame_buffers));
        let mut launches: Vec<Launch> = launches.collect::<Result<_, _>>()?;
        for output in bounds.iter().flatten() {
            launches.extend(output.launches(gpu, &shape, self.count, &frame_buffers)?);
        }
        Ok(launches)
    }

    /// Number of characters.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The GPU that they run on.
    pub fn gpu(&self) -> &crate::Gpu {
        &self.shared.gpu
    }

    /// The graph that they share.
    pub fn graph(&self) -> &Arc<BoundGraph> {
        &self.shared.graph
    }

    /// Goes on with another binding of the graph, as [`sinew_graph::Instance::rebind`]: uploads it, and runs its setup launches. Bounds
    /// have to be requested again.
    ///
    /// # Errors
    /// As [`super::GpuGraph::new`] and [`super::GpuGraph::instances`]; nothing changes then.
    pub fn rebind(&mut self, graph: &Arc<BoundGraph>) -> Result<(), GpuError> {
        let new = super::GpuGraph::with_style(&self.shared.gpu, graph, self.shared.style)?;
        let mut new = new.instances(self.count)?;
        let own = &self.shared.graph;
        let parameters = self.parameters.iter();
        new.parameters = parameters.map(|p| p.carried(own, graph)).collect();
        *self = new;
        Ok(())
    }

    /// Sets a parameter of one character for the following frames.
    ///
    /// # Errors
    /// [`GpuError::NoInstance`], [`GpuError::Parameter`].
    pub fn set_parameter(
        &mut self,
        instance: usize,
        name: &str,
        value: &ParameterValue,
    ) -> Result<(), GpuError> {
        let count = self.count;
        let state = self.parameters.get_mut(instance);
        let state = state.ok_or(GpuError::NoInstance {
            found: instance,
            count,
        })?;
        Ok(state.set(&self.shared.graph, name, value)?)
    }

    /// Runs the CPU drivers and uploads the data of the frames of all characters: the first half of an update. If the frames do not fit,
    /// nothing changes. For drivers with state, each call counts as a frame.
    ///
    /// # Errors
    /// [`GpuError::FrameCount`]. [`GpuError::Frame`] if a pose or values do not fit, or if a driver reads something that it does not
    /// declare. [`GpuError::DeviceLost`].
    pub fn send(&mut self, frames: &[Frame<'_>]) -> Result<(), GpuError> {
        if frames.len() != self.count {
            return Err(GpuError::FrameCount {
                found: frames.len(),
                expected: self.count,
            });
        }
        for frame in frames {
            self.shared.graph.check_frame(frame)?;
        }
        self.data.begin_frame();
        for (instance, frame) in frames.iter().enumerate() {
            let parameters = &mut self.parameters[instance];
            parameters.sample(&self.shared.graph, frame.time_secs);
            let host = &mut self.host.characters[instance];
            host.update(frame, parameters)?;
            let nodes = &self.shared.nodes;
            let is_first = self.is_fresh[instance];
            let moment = Moment { frame, is_first };
            self.data
                .write(nodes, Phase::Update, instance, moment, parameters, host)?;
        }
        let gpu = &self.shared.gpu;
        if let (Some(numbers), Some(buffer)) = (self.data.end_frame(), &self.batch)
            && let Err(error) = buffer.write(gpu, 0, numbers)
        {
            self.data.batches_mut().forget_sent();
            return Err(error);
        }
        self.block.write(gpu, 0, self.data.block())
    }

    /// Records the work of the frame of the last [`Self::send`] into the caller's commands: the second half of an update.
    pub fn record(&mut self, encoder: &mut wgpu::CommandEncoder) {
        self.record_timed(encoder, None);
    }

    /// The same; with `times`, span `i` is dispatch `i` of [`Self::dispatches`].
    fn record_timed(&mut self, encoder: &mut wgpu::CommandEncoder, times: Option<&Timestamps>) {
        self.host.record(encoder, self.block.raw());
        let odd = self.is_odd();
        let mut span = 0_u32;
        match times {
            None => {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                self.each_launch(&mut |launch, batch| launch.record(&mut pass, odd, batch));
            }
            Some(times) => self.each_launch(&mut |launch, batch| {
                let writes = times.pass(span).ok();
                span = span.saturating_add(1);
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: Some(&launch.label),
                    timestamp_writes: writes,
                });
                launch.record(&mut pass, odd, batch);
            }),
        }
        self.record_first(encoder);
        self.frames_done += 1;
    }

    /// If the last recorded frame is the first of a character, copies it to the previous frame.
    fn record_first(&mut self, encoder: &mut wgpu::CommandEncoder) {
        let odd = self.is_odd();
        let characters = self.is_fresh.chunk_by(|a, b| a == b);
        let mut first = 0;
        for run in characters {
            let run_starts = first;
            first += run.len();
            if !run[0] {
                continue;
            }
            for (memory, other) in &self.previous {
                let Some(one) = self.buffers.get(memory) else {
                    continue;
                };
                let (now, before) = if odd { (other, one) } else { (one, other) };
                let each = now.bytes() / self.count as u64;
                let (start, bytes) = (run_starts as u64 * each, run.len() as u64 * each);
                encoder.copy_buffer_to_buffer(now.raw(), start, before.raw(), start, bytes);
            }
        }
        self.is_fresh.fill(false);
    }

    fn each_launch(&self, run: &mut dyn FnMut(&Launch, Option<Batch>)) {
        let launches = &self.launches;
        each_launch(launches, Phase::Update, &self.data, &mut |i, batch| {
            run(&launches[i], batch);
        });
    }

    /// Computes one frame of all characters: sends, records and submits. Does not wait.
    ///
    /// # Errors
    /// As [`Self::send`].
    pub fn update(&mut self, frames: &[Frame<'_>]) -> Result<Submission, GpuError> {
        self.send(frames)?;
        let gpu = self.shared.gpu.clone();
        gpu.submit("frame", |encoder| {
            self.record(encoder);
            Ok(())
        })
    }

    /// As [`Self::update`], and measures each dispatch: span `i` of `times` is dispatch `i` of [`Self::dispatches`]. `times` grows if it
    /// has too few spans.
    ///
    /// # Errors
    /// As [`Self::update`].
    pub fn update_timed(
        &mut self,
        frames: &[Frame<'_>],
        times: &mut Timestamps,
    ) -> Result<Submission, GpuError> {
        self.send(frames)?;
        let gpu = self.shared.gpu.clone();
        let spans = u32::try_from(self.dispatches().len()).unwrap_or(u32::MAX);
        if spans > times.capacity() {
            *times = Timestamps::new(&gpu, spans)?;
        }
        gpu.submit("frame", |encoder| {
            self.record_timed(encoder, Some(times));
            times.resolve(&gpu, encoder)
        })
    }

    /// The launch of each dispatch of the last sent frame, in order: indices into [`Self::launch_labels`]. A launch with passes that
    /// depend on parameters may run several times or not at all. Allocates.
    pub fn dispatches(&self) -> Vec<usize> {
        let mut out = Vec::new();
        each_launch(&self.launches, Phase::Update, &self.data, &mut |i, _| {
            out.push(i)
        });
        out
    }

    /// Names of the nodes that each launch runs, joined by ` + `.
    pub fn launch_labels(&self) -> impl ExactSizeIterator<Item = &str> {
        self.launches.iter().map(|l| l.label.as_str())
    }

    /// Lower bound of the bytes that a dispatch of each launch moves, for all characters: each bound array once.
    pub fn launch_bytes(&self) -> impl ExactSizeIterator<Item = u64> {
        self.launches.iter().map(|l| l.bytes)
    }

    /// The launches as data.
    pub fn kernels(&self) -> Vec<Kernel> {
        let kernel = |l: &Launch| Kernel {
            label: l.label.clone(),
            wgsl: l.text.clone(),
            workgroup_size: l.pipeline.workgroup_size(),
            groups: l.grid,
            bindings: l.bindings.clone(),
        };
        self.launches.iter().map(kernel).collect()
    }

    /// The bytes that a kernel of [`Self::kernels`] binds at a slot, after the last recorded frame. Engines use it to fill their own buffers
    /// with constant data. Waits for the GPU. `None` if there is no such kernel or slot.
    ///
    /// # Errors
    /// [`GpuError::DeviceLost`], [`GpuError::OutOfMemory`].
    pub fn read_binding(&mut self, kernel: usize, slot: u32) -> Result<Option<Vec<u8>>, GpuError> {
        let launch = self.launches.get(kernel);
        let Some(&memory) = launch.and_then(|l| l.memories.get(slot as usize)) else {
            return Ok(None);
        };
        if let Some(buffer) = self.buffer(memory, false).cloned() {
            let mut words = vec![0_u32; buffer.len()];
            let gpu = &self.shared.gpu;
            self.readback.read(gpu, &buffer, 0, &mut words)?;
            return Ok(Some(bytemuck::cast_slice(&words).to_vec()));
        }
        let block: &[u8] = bytemuck::cast_slice(self.data.block());
        let range = self.data.range(memory);
        Ok(range.and_then(|r| block.get(r)).map(<[u8]>::to_vec))
    }

    /// Forgets the previous frames: state restarts, and after the next frame the previous outputs equal the current ones. Parameters keep
    /// their values.
    pub fn reset(&mut self) {
        (0..self.count).for_each(|character| self.forget(character));
    }

    /// As [`Self::reset`], for one character.
    ///
    /// # Errors
    /// [`GpuError::NoInstance`].
    pub fn reset_one(&mut self, instance: usize) -> Result<(), GpuError> {
        self.check_instance(instance)?;
        self.forget(instance);
        Ok(())
    }

    pub(super) fn check_instance(&self, instance: usize) -> Result<(), GpuError> {
        let (found, count) = (instance, self.count);
        match found < count {
            true => Ok(()),
            false => Err(GpuError::NoInstance { found, count }),
        }
    }

    fn forget(&mut self, character: usize) {
        self.is_fresh[character] = true;
        self.host.characters[character].reset();
    }

    /// Bytes of GPU memory that are not shared.
    pub fn memory_bytes(&self) -> u64 {
        let own = self.buffers.values().chain(self.previous.values());
        let bounds = self.bounds.iter().flatten();
        own.map(Buffer::bytes).sum::<u64>()
            + self.block.bytes()
            + self.batch.as_ref().map_or(0, Buffer::bytes)
            + bounds.map(OutputBounds::bytes).sum::<u64>()
    }

    /// Whether the next frame writes the buffers of odd frames.
    pub(super) fn is_odd(&self) -> bool {
        self.frames_done % 2 == 1
    }
}
