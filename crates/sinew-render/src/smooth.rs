//! Smooth normals on the device, for outputs that bring none.

use crate::error::RenderError;
use crate::surface::Floats;
use sinew_geom::{CornerFans, Mesh, WeldMap};
use sinew_gpu::{Binding, Buffer, BufferUse, Gpu, GpuError, KernelSource, wgpu};

/// Invocations of a workgroup (smooth_normals.wgsl).
pub(crate) const GROUP: u32 = 64;

/// `Sizes` of smooth_normals.wgsl.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
struct Sizes {
    vertices: u32,
    first_position: u32,
    row: u32,
    unused: u32,
}

/// The triangles around each vertex, and room for the normals.
#[derive(Clone, Debug)]
pub(crate) struct Smooth {
    around: Buffer<u32>,
    pub(crate) normals: Buffer<u32>,
    vertices: u32,
}

impl Smooth {
    pub(crate) fn new(gpu: &Gpu, rest: &Mesh) -> Result<Self, RenderError> {
        let vertices = rest.vertex_count();
        let around =
            Buffer::from_slice(gpu, "triangles around", &around(rest), BufferUse::Storage)?;
        let normals = Buffer::new(gpu, "smooth normals", 3 * vertices, BufferUse::Drawn)?;
        Ok(Self {
            around,
            normals,
            vertices: vertices as u32,
        })
    }

    /// Records their computation from these positions.
    pub(crate) fn record(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        positions: &Floats,
        indices: &Buffer<u32>,
    ) -> Result<(), GpuError> {
        let bindings = [
            Binding::uniform(0),
            Binding::read(1),
            Binding::read(2),
            Binding::read(3),
            Binding::read_write(4),
        ];
        let text = include_str!("wgsl/smooth_normals.wgsl");
        let kernel = gpu.pipeline(&KernelSource::new(
            "smooth normals",
            text,
            "smooth_normals",
            [GROUP, 1, 1],
            &bindings,
        ))?;
        let groups = gpu.grid(self.vertices as usize, GROUP)?;
        let sizes = Sizes {
            vertices: self.vertices,
            first_position: positions.first,
            row: groups[0] * GROUP,
            unused: 0,
        };
        let sizes = Buffer::from_slice(gpu, "sizes", &[sizes], BufferUse::Uniform)?;
        let bound = kernel.bind(
            gpu,
            &[
                (0, sizes.binding()),
                (1, positions.buffer.binding()),
                (2, indices.binding()),
                (3, self.around.binding()),
                (4, self.normals.binding()),
            ],
        )?;
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        kernel.dispatch(&mut pass, &bound, groups);
        Ok(())
    }
}

/// For each vertex where its triangles begin and how many there are, then the triangles. Vertices at one place share theirs, so that seams of
/// texture coordinates do not show.
fn around(rest: &Mesh) -> Vec<u32> {
    let weld = WeldMap::by_position(&rest.positions, 0.0);
    let fans = CornerFans::build(&rest.topology, &weld);
    let vertices = rest.vertex_count();
    let mut first_of_class = Vec::with_capacity(weld.class_count());
    let mut triangles = Vec::new();
    for class in 0..weld.class_count() {
        let first = 2 * vertices + triangles.len();
        triangles.extend(fans.corners_of(class).iter().map(|corner| corner / 3));
        let count = 2 * vertices + triangles.len() - first;
        first_of_class.push([first as u32, count as u32]);
    }
    let classes = weld.class_of_vertex.iter();
    let mut out: Vec<u32> = classes
        .flat_map(|&class| first_of_class[class as usize])
        .collect();
    out.extend(triangles);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{assert_layout, checked, fields};

    #[test]
    fn sizes_lie_as_the_kernel_says() {
        let module = checked(include_str!("wgsl/smooth_normals.wgsl"));
        let fields = fields!(Sizes, vertices: u32, first_position: u32, row: u32);
        assert_layout(&module, "Sizes", size_of::<Sizes>(), fields);
    }
}
