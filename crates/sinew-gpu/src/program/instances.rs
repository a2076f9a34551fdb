//! Characters on the device: frame buffers, parameters, frames.

use super::frame_data::FrameData;
use super::graph::{Shared, block_binding, each_launch};
use super::launch::{self, Buffers, Launch};
use super::memory::Memory;
use super::outputs::output_memories;
use crate::buffer::{Buffer, BufferUse, Readback};
use crate::error::GpuError;
use crate::gpu::Submission;
use crate::timestamps::Timestamps;
use sinew_deform::{ParameterValue, Phase};
use sinew_graph::{BoundGraph, Frame, ParameterState};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Any number of characters of one [`super::GpuGraph`], each with its own pose, parameters and frame buffers.
#[derive(Debug)]
pub struct GpuInstances {
    pub(super) shared: Arc<Shared>,
    pub(super) count: usize,
    parameters: Vec<ParameterState>,
    data: FrameData,
    block: Buffer<[u32; 4]>,
    pub(super) buffers: BTreeMap<Memory, Buffer<u32>>,
    /// The frame before, of the buffers that keep it; on odd frames they and `buffers` have changed places.
    pub(super) previous: BTreeMap<Memory, Buffer<u32>>,
    launches: Vec<Launch>,
    pub(super) frames_done: u64,
    pub(super) readback: Readback,
}

/// A kernel as data, for engines that do not use wgpu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The nodes that it runs.
    pub label: String,
    /// WGSL, complete; the entry point is `main`.
    pub wgsl: String,
    /// Invocations of a workgroup.
    pub workgroup_size: [u32; 3],
    /// Workgroups of a dispatch.
    pub groups: [u32; 3],
    /// Slot in group 0, whether it is written, and what it holds.
    pub bindings: Vec<(u32, bool, String)>,
}

struct FrameBuffers<'a> {
    shared: &'a Shared,
    data: &'a FrameData,
    block: &'a Buffer<[u32; 4]>,
    buffers: &'a BTreeMap<Memory, Buffer<u32>>,
    previous: &'a BTreeMap<Memory, Buffer<u32>>,
}

impl Buffers for FrameBuffers<'_> {
    fn binding(&self, memory: Memory, odd: bool) -> Option<wgpu::BufferBinding<'_>> {
        let flipped = self.previous.get(&memory).filter(|_| odd);
        let own = flipped.or_else(|| self.buffers.get(&memory));
        match own.or_else(|| self.shared.buffers.get(&memory)) {
            Some(buffer) => Some(buffer.binding()),
            None => block_binding(self.block, self.data, memory),
        }
    }
}

impl GpuInstances {
    pub(super) fn new(shared: &Arc<Shared>, count: usize) -> Result<Self, GpuError> {
        let gpu = &shared.gpu;
        let shape = |memory| shared.shape(memory);
        let alignment = gpu.limits().storage_alignment as usize;
        let graph = &shared.graph;
        let data = FrameData::new(
            graph,
            &shared.nodes,
            Phase::Update,
            &shape,
            count,
            alignment,
        )?;
        let block = Buffer::from_slice(gpu, "frame data", data.block(), BufferUse::Storage)?;
        let (mut buffers, mut previous) = (BTreeMap::new(), BTreeMap::new());
        let mut needed = shared.bound(Phase::Update);
        needed.extend(output_memories(graph));
        for memory in needed {
            if shared.buffers.contains_key(&memory) || buffers.contains_key(&memory) {
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
        let frame_buffers = FrameBuffers {
            shared,
            data: &data,
            block: &block,
            buffers: &buffers,
            previous: &previous,
        };
        let mut launches = Vec::new();
        for group in shared.groups.iter().filter(|g| g.phase() == Phase::Update) {
            launches.push(launch::launch(
                gpu,
                shared,
                group,
                &shape,
                count,
                &frame_buffers,
            )?);
        }
        Ok(Self {
            parameters: vec![ParameterState::new(graph); count],
            shared: shared.clone(),
            count,
            data,
            block,
            buffers,
            previous,
            launches,
            frames_done: 0,
            readback: Readback::new(),
        })
    }

    /// How many characters there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The graph that they share.
    pub fn graph(&self) -> &Arc<BoundGraph> {
        &self.shared.graph
    }

    /// Sets a parameter of one character for the frames to come.
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

    /// Sends what the frames of all characters need: the first half of an update. Nothing changes where it fails.
    ///
    /// # Errors
    /// [`GpuError::FrameCount`], [`GpuError::Frame`] where a pose or values do not fit, [`GpuError::PassesDiffer`],
    /// [`GpuError::DeviceLost`].
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
        for (instance, frame) in frames.iter().enumerate() {
            let parameters = &mut self.parameters[instance];
            parameters.sample(&self.shared.graph, frame.time_secs);
            let nodes = &self.shared.nodes;
            self.data
                .write(nodes, Phase::Update, instance, frame, parameters)?;
        }
        self.block.write(&self.shared.gpu, 0, self.data.block())
    }

    /// Records the work of the frame that [`Self::send`] sent into the caller's commands: the second half of an update.
    pub fn record(&mut self, encoder: &mut wgpu::CommandEncoder) {
        self.record_timed(encoder, None);
    }

    /// The same; with `times`, span `i` is launch `i` of [`Self::launch_labels`].
    fn record_timed(&mut self, encoder: &mut wgpu::CommandEncoder, times: Option<&Timestamps>) {
        let odd = self.is_odd();
        match times {
            None => {
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
                self.each_launch(&mut |launch, _| launch.record(&mut pass, odd));
            }
            Some(times) => self.each_launch(&mut |launch, index| {
                let span = u32::try_from(index).unwrap_or(u32::MAX);
                let writes = times.pass(span).ok();
                let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                    label: Some(&launch.label),
                    timestamp_writes: writes,
                });
                launch.record(&mut pass, odd);
            }),
        }
        if self.frames_done == 0 {
            for (memory, before) in &self.previous {
                if let Some(now) = self.buffers.get(memory) {
                    let bytes = now.bytes();
                    encoder.copy_buffer_to_buffer(now.raw(), 0, before.raw(), 0, bytes);
                }
            }
        }
        self.frames_done += 1;
    }

    fn each_launch(&self, run: &mut dyn FnMut(&Launch, usize)) {
        let launches = &self.launches;
        each_launch(launches, Phase::Update, &self.data, &mut |i| {
            run(&launches[i], i);
        });
    }

    /// One frame of all characters: sends, records and submits; does not wait.
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

    /// As [`Self::update`], each launch measured: its span in `times` has its place in [`Self::launch_labels`].
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
        gpu.submit("frame", |encoder| {
            self.record_timed(encoder, Some(times));
            times.resolve(&gpu, encoder)
        })
    }

    /// What each launch runs: nodes joined by ` + `.
    pub fn launch_labels(&self) -> impl ExactSizeIterator<Item = &str> {
        self.launches.iter().map(|l| l.label.as_str())
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

    /// Forgets the frames so far: after the next one previous equals current. State of nodes becomes zero again.
    ///
    /// # Errors
    /// [`GpuError::DeviceLost`].
    pub fn reset(&mut self) -> Result<(), GpuError> {
        self.frames_done = 0;
        let scratch = self.buffers.iter();
        let scratch = scratch.filter(|(m, _)| matches!(m, Memory::Scratch { .. }));
        self.shared.gpu.submit("reset", |encoder| {
            scratch.for_each(|(_, buffer)| buffer.clear(encoder));
            Ok(())
        })?;
        Ok(())
    }

    /// Bytes on the device that are not shared.
    pub fn memory_bytes(&self) -> u64 {
        let own = self.buffers.values().chain(self.previous.values());
        own.map(Buffer::bytes).sum::<u64>() + self.block.bytes()
    }

    /// Whether the frame that comes next writes the buffers of odd frames.
    pub(super) fn is_odd(&self) -> bool {
        self.frames_done % 2 == 1
    }
}
