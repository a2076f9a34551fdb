//! The outputs of a frame on the GPU.

use super::bounds::OutputBounds;
use super::instances::GpuInstances;
use super::memory::Memory;
use crate::buffer::Buffer;
use crate::error::GpuError;
use bytemuck::Pod;
use sinew_deform::{Line, MESH_ATTRIBUTES, MeshAttribute};
use sinew_graph::{BoundGraph, Bounds, DataRef, OutputData, Pose};

/// A mesh output in GPU memory: tightly packed, all instances one after another.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct GpuMeshOutput<'a> {
    /// Vertices of one instance.
    pub vertex_count: usize,
    /// Positions: three floats per vertex, scene space.
    pub positions: &'a Buffer<u32>,
    /// Unit normals: three floats per vertex.
    pub normals: Option<&'a Buffer<u32>>,
    /// Unit tangents with bitangent sign: four floats per vertex.
    pub tangents: Option<&'a Buffer<u32>>,
    /// Colours: four floats per vertex, linear RGBA.
    pub colors: Option<&'a Buffer<u32>>,
    /// Positions of the previous frame.
    pub previous_positions: &'a Buffer<u32>,
    /// Normals of the previous frame.
    pub previous_normals: Option<&'a Buffer<u32>>,
    /// Tangents of the previous frame.
    pub previous_tangents: Option<&'a Buffer<u32>>,
    /// Bounding boxes: two `vec4` per instance, lowest corner and highest corner, each followed by a zero. There is one box per
    /// instance even for a shared mesh. A mesh without vertices has zeros. `None` without [`GpuInstances::make_bounds`].
    pub bounds: Option<&'a Buffer<[f32; 4]>>,
    /// By attribute: whether every instance has its own array. Attributes that no node changes are stored once.
    pub per_instance: [bool; MESH_ATTRIBUTES],
}

/// A mask, values, lines or field output in GPU memory: tightly packed, all instances one after another.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct GpuArrayOutput<'a> {
    /// Mask or values: one float per element. Lines: ten floats per line (from, to, linear RGBA). Field: 32-bit words.
    pub buffer: &'a Buffer<u32>,
    /// Number of elements of one instance.
    pub len: usize,
    /// Whether every instance has its own array.
    pub per_instance: bool,
}

/// A mesh output of one instance, read back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GpuMesh {
    /// Positions in scene space.
    pub positions: Vec<[f32; 3]>,
    /// Unit normals.
    pub normals: Option<Vec<[f32; 3]>>,
    /// Unit tangents with bitangent sign.
    pub tangents: Option<Vec<[f32; 4]>>,
    /// Colour set 0, linear RGBA.
    pub colors: Option<Vec<[f32; 4]>>,
    /// Positions of the previous frame.
    pub previous_positions: Vec<[f32; 3]>,
}

/// What the outputs of a graph are made of, launches or not.
pub(super) fn output_memories(graph: &BoundGraph) -> Vec<Memory> {
    let mut out = Vec::new();
    for output in graph.program().outputs() {
        match output {
            OutputData::Mesh { attributes, .. } => {
                for attribute in MeshAttribute::ALL {
                    out.extend(attributes[attribute.index()].map(|p| Memory::at(p, attribute)));
                }
            }
            OutputData::Floats(place) | OutputData::Lines(place) | OutputData::Field(place) => {
                out.push(Memory::at(*place, MeshAttribute::Positions));
            }
            OutputData::Pose(_) => {}
        }
    }
    out
}

impl GpuInstances {
    /// The buffer of the last recorded frame, or of the frame before it.
    pub(super) fn buffer(&self, memory: Memory, before: bool) -> Option<&Buffer<u32>> {
        let written_odd = self.frames_done > 0 && !self.is_odd();
        let flipped = self.previous.get(&memory);
        flipped
            .filter(|_| written_odd != before)
            .or_else(|| self.buffers.get(&memory))
            .or_else(|| self.shared.buffers.get(&memory))
            .or_else(|| self.plan.buffers.get(&memory))
    }

    fn output(&self, name: &str) -> Option<&OutputData> {
        let outputs = self.shared.graph.plan().outputs();
        let index = outputs.iter().position(|o| o.name == name)?;
        self.shared.graph.program().outputs().get(index)
    }

    /// The buffers of a mesh output after the last recorded frame. Call it again after each frame: current and previous buffers are
    /// swapped.
    pub fn mesh_output(&self, name: &str) -> Option<GpuMeshOutput<'_>> {
        let Some(OutputData::Mesh {
            rest, attributes, ..
        }) = self.output(name)
        else {
            return None;
        };
        let of = |attribute: MeshAttribute| {
            attributes[attribute.index()].map(|place| Memory::at(place, attribute))
        };
        let now = |a| self.buffer(of(a)?, false);
        let before = |a| self.buffer(of(a)?, true);
        let per_instance =
            MeshAttribute::ALL.map(|a| of(a).is_some_and(|m| self.shape(m).per_instance));
        Some(GpuMeshOutput {
            vertex_count: self
                .shared
                .graph
                .program()
                .meshes()
                .get(*rest)?
                .vertex_count(),
            positions: now(MeshAttribute::Positions)?,
            normals: now(MeshAttribute::Normals),
            tangents: now(MeshAttribute::Tangents),
            colors: now(MeshAttribute::Colors),
            previous_positions: before(MeshAttribute::Positions)?,
            previous_normals: before(MeshAttribute::Normals),
            previous_tangents: before(MeshAttribute::Tangents),
            bounds: self.bounds_of(name).map(OutputBounds::buffer),
            per_instance,
        })
    }

    /// The buffer of a mask or values output after the last recorded frame. `None` if there is no such output, and for values from the
    /// caller, which no kernel writes: use [`Self::read_floats`] for those.
    pub fn floats_output(&self, name: &str) -> Option<GpuArrayOutput<'_>> {
        match self.output(name)? {
            OutputData::Floats(place) => self.array_output(*place),
            _ => None,
        }
    }

    /// The buffer of a lines output after the last recorded frame. `None` if there is no such output.
    pub fn lines_output(&self, name: &str) -> Option<GpuArrayOutput<'_>> {
        match self.output(name)? {
            OutputData::Lines(place) => self.array_output(*place),
            _ => None,
        }
    }

    /// The buffer of a field output after the last recorded frame, with words as in `sinew_deform::sdf::FieldWords`. `None` if there is no
    /// such output.
    pub fn field_output(&self, name: &str) -> Option<GpuArrayOutput<'_>> {
        match self.output(name)? {
            OutputData::Field(place) => self.array_output(*place),
            _ => None,
        }
    }

    /// A pose output of one character after the last sent frame, if a CPU driver computed it. `None` if there is no such output or
    /// character, and for a pose input that is also an output: the caller has it. Does not wait for the GPU.
    pub fn pose_output(&self, name: &str, instance: usize) -> Option<&Pose> {
        match self.output(name)? {
            OutputData::Pose(place) => self.host.characters.get(instance)?.pose(*place),
            _ => None,
        }
    }

    fn array_output(&self, place: DataRef) -> Option<GpuArrayOutput<'_>> {
        let memory = Memory::at(place, MeshAttribute::Positions);
        let shape = self.shape(memory);
        Some(GpuArrayOutput {
            buffer: self.buffer(memory, false)?,
            len: shape.len,
            per_instance: shape.per_instance,
        })
    }

    fn read<T: Pod>(
        &mut self,
        memory: Memory,
        before: bool,
        instance: usize,
    ) -> Result<Vec<T>, GpuError> {
        // What the host has need not come back from the device.
        if let Some(bytes) = self.data.written(memory, instance) {
            return Ok(bytemuck::cast_slice(bytes).to_vec());
        }
        let shape = self.shape(memory);
        let words = shape.kind.bytes() * shape.len / 4;
        let mut out = vec![0_u32; words];
        let start = if shape.per_instance {
            instance * words
        } else {
            0
        };
        if let Some(buffer) = self.buffer(memory, before).cloned() {
            self.readback
                .read(&self.shared.gpu, &buffer, start, &mut out)?;
        }
        Ok(bytemuck::cast_slice(&out).to_vec())
    }

    /// Reads a mesh output of one character back and waits for the GPU. `None` if there is no such output or character.
    ///
    /// # Errors
    /// [`GpuError::DeviceLost`], [`GpuError::OutOfMemory`].
    pub fn read_mesh(&mut self, name: &str, instance: usize) -> Result<Option<GpuMesh>, GpuError> {
        let Some(OutputData::Mesh { attributes, .. }) = self.output(name).copied() else {
            return Ok(None);
        };
        if instance >= self.count {
            return Ok(None);
        }
        let of = |a: MeshAttribute| attributes[a.index()].map(|place| Memory::at(place, a));
        let mut out = GpuMesh::default();
        if let Some(m) = of(MeshAttribute::Positions) {
            out.positions = self.read(m, false, instance)?;
            out.previous_positions = self.read(m, true, instance)?;
        }
        if let Some(m) = of(MeshAttribute::Normals) {
            out.normals = Some(self.read(m, false, instance)?);
        }
        if let Some(m) = of(MeshAttribute::Tangents) {
            out.tangents = Some(self.read(m, false, instance)?);
        }
        if let Some(m) = of(MeshAttribute::Colors) {
            out.colors = Some(self.read(m, false, instance)?);
        }
        Ok(Some(out))
    }

    /// Reads only the positions of a mesh output of one character back and waits for the GPU. `None` as for [`Self::read_mesh`].
    ///
    /// # Errors
    /// As [`Self::read_mesh`].
    pub fn read_positions(
        &mut self,
        name: &str,
        instance: usize,
    ) -> Result<Option<Vec<[f32; 3]>>, GpuError> {
        let Some(OutputData::Mesh { attributes, .. }) = self.output(name).copied() else {
            return Ok(None);
        };
        let place = attributes[MeshAttribute::Positions.index()];
        match place.filter(|_| instance < self.count) {
            Some(place) => {
                let memory = Memory::at(place, MeshAttribute::Positions);
                self.read(memory, false, instance).map(Some)
            }
            None => Ok(None),
        }
    }

    fn bounds_of(&self, name: &str) -> Option<&OutputBounds> {
        let outputs = self.shared.graph.plan().outputs();
        let index = outputs.iter().position(|o| o.name == name)?;
        self.bounds.get(index)?.as_ref()
    }

    /// Reads the bounding box of a mesh output of one character back and waits for the GPU. `None` if there is no such output or
    /// character, if the mesh has no vertices, or without [`Self::make_bounds`].
    ///
    /// # Errors
    /// As [`Self::read_mesh`].
    pub fn read_bounds(&mut self, name: &str, instance: usize) -> Result<Option<Bounds>, GpuError> {
        let bounds = self.bounds_of(name).filter(|b| !b.is_empty());
        let buffer = bounds
            .filter(|_| instance < self.count)
            .map(|b| b.buffer().clone());
        let Some(buffer) = buffer else {
            return Ok(None);
        };
        let mut out = [[0.0; 4]; 2];
        let gpu = &self.shared.gpu;
        self.readback.read(gpu, &buffer, 2 * instance, &mut out)?;
        let [lowest, highest] = out.map(|[x, y, z, _]| [x, y, z]);
        Ok(Some((lowest, highest)))
    }

    /// Reads a mask or values output of one character back and waits for the GPU. `None` if there is no such output or character.
    ///
    /// # Errors
    /// As [`Self::read_mesh`].
    pub fn read_floats(
        &mut self,
        name: &str,
        instance: usize,
    ) -> Result<Option<Vec<f32>>, GpuError> {
        let Some(OutputData::Floats(place)) = self.output(name).copied() else {
            return Ok(None);
        };
        if instance >= self.count {
            return Ok(None);
        }
        let memory = Memory::at(place, MeshAttribute::Positions);
        self.read(memory, false, instance).map(Some)
    }

    /// Reads a field output of one character back, with words as in `sinew_deform::sdf::FieldWords`, and waits for the GPU. `None` if there
    /// is no such output or character.
    ///
    /// # Errors
    /// As [`Self::read_mesh`].
    pub fn read_field(
        &mut self,
        name: &str,
        instance: usize,
    ) -> Result<Option<Vec<u32>>, GpuError> {
        let Some(OutputData::Field(place)) = self.output(name).copied() else {
            return Ok(None);
        };
        if instance >= self.count {
            return Ok(None);
        }
        let memory = Memory::at(place, MeshAttribute::Positions);
        self.read(memory, false, instance).map(Some)
    }

    /// Reads a lines output of one character back and waits for the GPU. `None` if there is no such output or character.
    ///
    /// # Errors
    /// As [`Self::read_mesh`].
    pub fn read_lines(
        &mut self,
        name: &str,
        instance: usize,
    ) -> Result<Option<Vec<Line>>, GpuError> {
        let Some(OutputData::Lines(place)) = self.output(name).copied() else {
            return Ok(None);
        };
        if instance >= self.count {
            return Ok(None);
        }
        let memory = Memory::at(place, MeshAttribute::Positions);
        self.read(memory, false, instance).map(Some)
    }
}
