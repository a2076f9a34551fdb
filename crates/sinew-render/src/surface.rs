//! A triangle mesh on the GPU: its constant data, and the current location of its attributes.

use crate::error::RenderError;
use crate::smooth::Smooth;
use sinew_deform::MeshAttribute;
use sinew_geom::{Mesh, MeshPart};
use sinew_gpu::{Buffer, BufferUse, Gpu, GpuMeshOutput};
use std::ops::Range;

/// Floats in GPU memory, from an offset on.
#[derive(Clone, Debug)]
pub(crate) struct Floats {
    pub(crate) buffer: Buffer<u32>,
    pub(crate) first: u32,
}

impl Floats {
    fn upload<T: bytemuck::Pod>(gpu: &Gpu, name: &str, data: &[T]) -> Result<Self, RenderError> {
        let words: &[u32] = bytemuck::cast_slice(data);
        let buffer = Buffer::from_slice(gpu, name, words, BufferUse::Drawn)?;
        Ok(Self { buffer, first: 0 })
    }

    fn of_instance(buffer: &Buffer<u32>, floats: usize, instance: usize) -> Self {
        Self {
            buffer: buffer.clone(),
            first: (floats * instance) as u32,
        }
    }
}

/// Part of a surface with one material.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) triangles: Range<u32>,
    pub(crate) material: Option<usize>,
    /// Whether it is drawn with the normals of its triangles.
    pub(crate) is_flat: bool,
}

/// A mesh to draw. Topology and texture coordinates are uploaded once. Positions, normals and colours are either uploaded with each frame
/// ([`Surface::upload`]), or read from the buffers of a graph ([`Surface::bind`]).
#[derive(Clone, Debug)]
pub struct Surface {
    name: String,
    vertex_count: usize,
    triangle_count: usize,
    pub(crate) indices: Buffer<u32>,
    pub(crate) uvs: Vec<Buffer<u32>>,
    pub(crate) positions: Floats,
    pub(crate) normals: Option<Floats>,
    pub(crate) colors: Option<Floats>,
    /// Colours that [`crate::Paint::Colors`] shows instead of the mesh's own.
    pub(crate) painted: Option<Floats>,
    pub(crate) values: Option<Floats>,
    pub(crate) other_positions: Option<Floats>,
    pub(crate) smooth: Option<Smooth>,
    pub(crate) parts: Vec<Part>,
    /// Own buffers of positions, normals, colours and so on. They are kept while other buffers are bound.
    own: Own,
}

/// Buffers that uploads reuse.
#[derive(Clone, Debug, Default)]
struct Own {
    positions: Option<Buffer<u32>>,
    normals: Option<Buffer<u32>>,
    colors: Option<Buffer<u32>>,
    values: Option<Buffer<u32>>,
    other_positions: Option<Buffer<u32>>,
}

fn parts(mesh: &Mesh) -> Vec<Part> {
    let part = |p: &MeshPart| Part {
        triangles: p.triangles.start as u32..p.triangles.end as u32,
        material: p.material,
        is_flat: p.flat_shaded,
    };
    if mesh.parts.is_empty() {
        return vec![Part {
            triangles: 0..mesh.topology.triangles().len() as u32,
            material: None,
            is_flat: false,
        }];
    }
    mesh.parts.iter().map(part).collect()
}

impl Surface {
    /// Uploads a mesh at rest with its normals, colours and texture coordinates, if it has them.
    ///
    /// # Errors
    /// Limits, memory, lost devices; [`RenderError::Length`] for an invalid mesh.
    pub fn new(gpu: &Gpu, mesh: &Mesh) -> Result<Self, RenderError> {
        let triangles = mesh.topology.triangles();
        let index_words = triangles.as_flattened();
        let indices = Buffer::from_slice(gpu, "triangles", index_words, BufferUse::Drawn)?;
        let uvs = mesh.uvs.iter().map(|uvs| {
            let words: &[u32] = bytemuck::cast_slice(uvs);
            Buffer::from_slice(gpu, "texture coordinates", words, BufferUse::Drawn)
        });
        let mut surface = Self {
            name: mesh.name.clone(),
            vertex_count: mesh.vertex_count(),
            triangle_count: triangles.len(),
            indices,
            uvs: uvs.collect::<Result<_, _>>()?,
            positions: Floats::upload(gpu, "positions", &mesh.positions)?,
            normals: None,
            colors: None,
            painted: None,
            values: None,
            other_positions: None,
            smooth: None,
            parts: parts(mesh),
            own: Own::default(),
        };
        surface.own.positions = Some(surface.positions.buffer.clone());
        for uvs in &mesh.uvs {
            surface.check("texture coordinates", uvs.len())?;
        }
        let colors = mesh.colors.first().map(Vec::as_slice);
        surface.upload(gpu, mesh, &mesh.positions, mesh.normals.as_deref(), colors)?;
        Ok(surface)
    }

    /// Name of the mesh.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
    /// Number of triangles.
    pub fn triangle_count(&self) -> usize {
        self.triangle_count
    }
    /// Whether it has texture coordinates.
    pub fn has_uvs(&self) -> bool {
        !self.uvs.is_empty()
    }
    /// Whether it has colours.
    pub fn has_colors(&self) -> bool {
        self.shown_colors(true).is_some()
    }

    /// Colours for a paint: the painted colours if requested, otherwise those of the mesh.
    pub(crate) fn shown_colors(&self, painted: bool) -> Option<&Floats> {
        let painted = self.painted.as_ref().filter(|_| painted);
        painted.or(self.colors.as_ref())
    }

    fn check(&self, what: &'static str, found: usize) -> Result<(), RenderError> {
        if found == self.vertex_count {
            return Ok(());
        }
        Err(RenderError::Length {
            surface: self.name.clone(),
            what,
            found,
            expected: self.vertex_count,
        })
    }

    /// Uploads the attributes of a frame, one element per vertex: positions in metres, unit normals, linear RGBA. Without normals, the GPU
    /// computes smooth ones. `rest` must be the mesh of this surface: for smooth normals, its vertices at the same position count as one.
    ///
    /// # Errors
    /// [`RenderError::Length`], memory, lost devices.
    pub fn upload(
        &mut self,
        gpu: &Gpu,
        rest: &Mesh,
        positions: &[[f32; 3]],
        normals: Option<&[[f32; 3]]>,
        colors: Option<&[[f32; 4]]>,
    ) -> Result<(), RenderError> {
        self.check("positions", positions.len())?;
        normals.map_or(Ok(()), |n| self.check("normals", n.len()))?;
        colors.map_or(Ok(()), |c| self.check("colors", c.len()))?;
        self.positions = write(gpu, "positions", &mut self.own.positions, positions)?;
        self.normals = match normals {
            Some(normals) => Some(write(gpu, "normals", &mut self.own.normals, normals)?),
            None => None,
        };
        self.colors = match colors {
            Some(colors) => Some(write(gpu, "colors", &mut self.own.colors, colors)?),
            None => None,
        };
        self.prepare_smooth(gpu, rest)
    }

    /// Uses a graph's output on the same device from now on, without a copy. Call it again after each frame: current and previous buffers
    /// are swapped.
    ///
    /// # Errors
    /// [`RenderError::Length`] if the output belongs to another mesh; memory, lost devices.
    pub fn bind(
        &mut self,
        gpu: &Gpu,
        rest: &Mesh,
        output: &GpuMeshOutput<'_>,
        instance: usize,
    ) -> Result<(), RenderError> {
        self.check("positions", output.vertex_count)?;
        self.check_instance(output, instance)?;
        let instance_of = |a: MeshAttribute| {
            if output.per_instance[a.index()] {
                instance
            } else {
                0
            }
        };
        let count = self.vertex_count;
        let floats = |buffer: &Buffer<u32>, a: MeshAttribute, width: usize| {
            Floats::of_instance(buffer, width * count, instance_of(a))
        };
        self.positions = floats(output.positions, MeshAttribute::Positions, 3);
        self.normals = output.normals.map(|b| floats(b, MeshAttribute::Normals, 3));
        self.colors = output.colors.map(|b| floats(b, MeshAttribute::Colors, 4));
        self.prepare_smooth(gpu, rest)
    }

    /// Sets the colours (linear RGBA) that [`crate::Paint::Colors`] shows from now on instead of the colours of frames.
    ///
    /// # Errors
    /// [`RenderError::Length`], memory, lost devices.
    pub fn paint_over(&mut self, gpu: &Gpu, colors: &[[f32; 4]]) -> Result<(), RenderError> {
        self.check("colors", colors.len())?;
        self.painted = Some(Floats::upload(gpu, "painted colors", colors)?);
        Ok(())
    }

    /// Uploads one float per vertex for [`crate::Paint::Values`].
    ///
    /// # Errors
    /// [`RenderError::Length`], memory, lost devices.
    pub fn upload_values(&mut self, gpu: &Gpu, values: &[f32]) -> Result<(), RenderError> {
        self.check("values", values.len())?;
        self.values = Some(write(gpu, "values", &mut self.own.values, values)?);
        Ok(())
    }

    /// Uses one float per vertex that a kernel wrote, from float `first` on, without a copy.
    ///
    /// # Errors
    /// [`RenderError::Length`] if there are too few floats.
    pub fn bind_values(&mut self, buffer: &Buffer<u32>, first: usize) -> Result<(), RenderError> {
        let there = buffer.len().saturating_sub(first).min(self.vertex_count);
        self.check("values", there)?;
        self.values = Some(Floats {
            buffer: buffer.clone(),
            first: first as u32,
        });
        Ok(())
    }

    /// Uploads the positions in metres that [`crate::Paint::Distance`] measures the distance to.
    ///
    /// # Errors
    /// [`RenderError::Length`], memory, lost devices.
    pub fn upload_other_positions(
        &mut self,
        gpu: &Gpu,
        positions: &[[f32; 3]],
    ) -> Result<(), RenderError> {
        self.check("other positions", positions.len())?;
        let own = &mut self.own.other_positions;
        self.other_positions = Some(write(gpu, "other positions", own, positions)?);
        Ok(())
    }

    /// As [`Surface::upload_other_positions`], from an output on this device, without a copy.
    ///
    /// # Errors
    /// [`RenderError::Length`] if it belongs to another mesh.
    pub fn bind_other_positions(
        &mut self,
        output: &GpuMeshOutput<'_>,
        instance: usize,
    ) -> Result<(), RenderError> {
        self.check("other positions", output.vertex_count)?;
        self.check_instance(output, instance)?;
        let own = output.per_instance[MeshAttribute::Positions.index()];
        let instance = if own { instance } else { 0 };
        let floats = 3 * self.vertex_count;
        self.other_positions = Some(Floats::of_instance(output.positions, floats, instance));
        Ok(())
    }

    /// Whether the crowd has such a character.
    fn check_instance(
        &self,
        output: &GpuMeshOutput<'_>,
        instance: usize,
    ) -> Result<(), RenderError> {
        let floats = 3 * self.vertex_count;
        let own = output.per_instance[MeshAttribute::Positions.index()];
        let last = if own { instance.saturating_add(1) } else { 1 };
        let found = output.positions.len() / floats.max(1);
        if last > found && floats > 0 {
            return Err(RenderError::NoInstance {
                surface: self.name.clone(),
                instance,
                found,
            });
        }
        Ok(())
    }

    /// Makes what smooth normals need, once, where there are no normals and not all parts are flat.
    fn prepare_smooth(&mut self, gpu: &Gpu, rest: &Mesh) -> Result<(), RenderError> {
        self.check("vertices of the mesh at rest", rest.vertex_count())?;
        if self.normals.is_none() && self.smooth.is_none() && !self.parts.iter().all(|p| p.is_flat)
        {
            self.smooth = Some(Smooth::new(gpu, rest)?);
        }
        Ok(())
    }
}

/// Writes into `own`, which is made at the first time.
fn write<T: bytemuck::Pod>(
    gpu: &Gpu,
    name: &str,
    own: &mut Option<Buffer<u32>>,
    data: &[T],
) -> Result<Floats, RenderError> {
    let words: &[u32] = bytemuck::cast_slice(data);
    if let Some(buffer) = own.as_ref().filter(|b| b.len() == words.len()) {
        buffer.write(gpu, 0, words)?;
        return Ok(Floats {
            buffer: buffer.clone(),
            first: 0,
        });
    }
    let made = Floats::upload(gpu, name, data)?;
    *own = Some(made.buffer.clone());
    Ok(made)
}
