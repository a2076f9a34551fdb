//! Bounding boxes of mesh outputs, computed on the GPU after the nodes of a frame.

use super::graph::Shared;
use super::instances::{GpuInstances, KernelBinding};
use super::launch::{Buffers, Launch};
use super::memory::{ArrayShape, Memory};
use super::text::ENTRY;
use crate::buffer::{Buffer, BufferUse};
use crate::error::GpuError;
use crate::gpu::Gpu;
use crate::pipeline::{Access, Binding, KernelSource};
use sinew_deform::{MeshAttribute, Phase};
use sinew_graph::OutputData;

/// Invocations of a workgroup.
const GROUP: u32 = 256;
/// Up to so many points of a character one workgroup does all: cheaper than a second launch.
const POINTS_OF_ONE_GROUP: usize = 16_384;
/// Points of a part of a larger one.
const POINTS_OF_A_PART: usize = 4096;
/// More parts would be more than the second launch takes at a time.
const MOST_PARTS: usize = 256;

/// The bounds of one output of all characters.
#[derive(Debug)]
pub(super) struct OutputBounds {
    label: String,
    positions: Memory,
    points: usize,
    /// Bounds of parts of each character; `None` where one workgroup takes all points.
    parts: Option<Buffer<[f32; 4]>>,
    part_count: usize,
    bounds: Buffer<[f32; 4]>,
}

impl GpuInstances {
    /// Makes each following frame compute the bounding box of every mesh output of every character on the GPU:
    /// [`super::GpuMeshOutput::bounds`]. Call it before the first frame, because it creates buffers and compiles kernels.
    ///
    /// # Errors
    /// Limits, memory, lost devices. No frame computes bounds then.
    pub fn make_bounds(&mut self) -> Result<(), GpuError> {
        if !self.bounds.is_empty() {
            return Ok(());
        }
        let bounds = of_outputs(&self.shared, self.count)?;
        self.launches = self.make_launches(&self.buffers, &bounds)?;
        self.bounds = bounds;
        Ok(())
    }
}

/// For each output of the graph; `None` for those that are no meshes.
fn of_outputs(shared: &Shared, instances: usize) -> Result<Vec<Option<OutputBounds>>, GpuError> {
    let program = shared.graph.program();
    let outputs = program.outputs().iter().zip(shared.graph.plan().outputs());
    let make = |(place, output): (&OutputData, &sinew_graph::OutputDecl)| {
        let OutputData::Mesh {
            rest, attributes, ..
        } = place
        else {
            return Ok(None);
        };
        let Some(positions) = attributes[MeshAttribute::Positions.index()] else {
            return Ok(None);
        };
        let points = program.meshes().get(*rest).map_or(0, |m| m.vertex_count());
        let positions = Memory::at(positions, MeshAttribute::Positions);
        let name = format!("bounds of {}", output.name);
        OutputBounds::new(&shared.gpu, &name, positions, points, instances).map(Some)
    };
    outputs.map(make).collect()
}

impl OutputBounds {
    fn new(
        gpu: &Gpu,
        label: &str,
        positions: Memory,
        points: usize,
        instances: usize,
    ) -> Result<Self, GpuError> {
        let part_count = match points {
            0..=POINTS_OF_ONE_GROUP => 1,
            _ => points.div_ceil(POINTS_OF_A_PART).min(MOST_PARTS),
        };
        let make = |name: &str, boxes: usize| Buffer::new(gpu, name, 2 * boxes, BufferUse::Drawn);
        let parts = (part_count > 1)
            .then(|| make(&format!("{label}, in parts"), part_count * instances))
            .transpose()?;
        Ok(Self {
            label: label.to_owned(),
            positions,
            points,
            parts,
            part_count,
            bounds: make(label, instances)?,
        })
    }

    /// Two vectors a character.
    pub(super) fn buffer(&self) -> &Buffer<[f32; 4]> {
        &self.bounds
    }

    /// Whether the mesh has no vertices.
    pub(super) fn is_empty(&self) -> bool {
        self.points == 0
    }

    /// Bytes on the device.
    pub(super) fn bytes(&self) -> u64 {
        self.bounds.bytes() + self.parts.as_ref().map_or(0, Buffer::bytes)
    }

    /// One launch, or two where a character has many points; none without points.
    pub(super) fn launches(
        &self,
        gpu: &Gpu,
        shape: &dyn Fn(Memory) -> ArrayShape,
        instances: usize,
        buffers: &dyn Buffers,
    ) -> Result<Vec<Launch>, GpuError> {
        if self.points == 0 {
            return Ok(Vec::new());
        }
        let per_instance = shape(self.positions).per_instance;
        let stride = if per_instance { 3 * self.points } else { 0 };
        let common = include_str!("bounds.wgsl");
        let text = format!(
            "const GROUP = {GROUP}u;\nconst POINTS = {}u;\nconst PARTS = {}u;\nconst STRIDE = {stride}u;\n{common}\n{}",
            self.points,
            self.part_count,
            include_str!("bounds_of_points.wgsl")
        );
        let missing = || GpuError::Internal {
            what: self.label.clone(),
            message: format!("{:?} has no buffer", self.positions),
        };
        let even = buffers.binding(self.positions, false).ok_or_else(missing)?;
        let odd = buffers.binding(self.positions, true).ok_or_else(missing)?;
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let (parts, characters) = (narrow(self.part_count), narrow(instances));
        let read = shape(self.positions).bytes(instances) as u64;
        let Some(of_parts) = &self.parts else {
            let to = &self.bounds;
            let launch = self.launch(
                gpu,
                text,
                [even, odd],
                to,
                [1, 1, characters],
                read + to.bytes(),
            )?;
            return Ok(vec![launch]);
        };
        let first = self.launch(
            gpu,
            text,
            [even, odd],
            of_parts,
            [parts, 1, characters],
            read + of_parts.bytes(),
        )?;
        let text = format!(
            "const GROUP = {GROUP}u;\nconst PARTS = {parts}u;\n{common}\n{}",
            include_str!("bounds_of_parts.wgsl")
        );
        let from = [of_parts.binding(), of_parts.binding()];
        let second = self.launch(
            gpu,
            text,
            from,
            &self.bounds,
            [1, 1, characters],
            self.bytes(),
        )?;
        Ok(vec![first, second])
    }

    /// `from` on even and odd frames.
    fn launch(
        &self,
        gpu: &Gpu,
        text: String,
        from: [wgpu::BufferBinding<'_>; 2],
        to: &Buffer<[f32; 4]>,
        grid: [u32; 3],
        bytes: u64,
    ) -> Result<Launch, GpuError> {
        let slots = [Binding::read(0), Binding::read_write(1)];
        let source = KernelSource {
            zero_workgroup_memory: false,
            workgroup_memory_bytes: 2 * 16 * GROUP,
            ..KernelSource::new(&self.label, &text, ENTRY, [GROUP, 1, 1], &slots)
        };
        let pipeline = gpu.pipeline(&source)?;
        let [even, odd] = from.map(|from| pipeline.bind(gpu, &[(0, from), (1, to.binding())]));
        let binding = |slot, access, holds: &str, bytes| KernelBinding {
            slot,
            access,
            holds: holds.to_owned(),
            bytes,
        };
        Ok(Launch {
            label: self.label.clone(),
            bind_groups: [even?, odd?],
            pipeline,
            grid,
            phase: Phase::Update,
            varying: None,
            memories: Vec::new(),
            is_batched: false,
            bytes,
            bindings: vec![
                binding(0, Access::Read, "positions", bytes - to.bytes()),
                binding(1, Access::ReadWrite, to.label(), to.bytes()),
            ],
            text,
        })
    }
}
