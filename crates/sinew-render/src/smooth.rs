//! Smooth normals computed on the GPU, for outputs without normals.

use crate::error::RenderError;
use crate::surface::Floats;
use sinew_geom::{CornerFans, Mesh, WeldMap};
use sinew_gpu::{Binding, Buffer, BufferUse, Gpu, GpuError, KernelSource, wgpu};

/// Invocations of a workgroup (smooth_normals.wgsl).
pub(crate) const GROUP: u32 = 64;

sinew_deform::uniform_struct! {
    /// `Sizes` of smooth_normals.wgsl.
    struct Sizes {
        vertices: u32,
        first_position: u32,
        row: u32,
        unused: u32,
    }
}

/// The triangles around each vertex, and a buffer for the normals.
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

/// For each vertex the offset and number of its triangles, then the triangles. Vertices at the same position share them, so that UV seams
/// are not visible.
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
    use crate::tests::checked;
    use sinew_deform::UniformLayout;
    use sinew_gpu::test_support::assert_layout;

    #[test]
    fn sizes_lie_as_the_kernel_says() {
        let module = checked(include_str!("wgsl/smooth_normals.wgsl"));
        assert_layout(&module, "Sizes", &UniformLayout::of::<Sizes>());
    }

    type Point = sinew_geom::Vec3<f64>;

    /// Area-weighted sums of the triangle normals around each position, in double precision. Corners at the same rest position count as one.
    fn reference(rest: &Mesh, positions: &[[f32; 3]]) -> Vec<Point> {
        let key = |v: u32| rest.positions[v as usize].map(f32::to_bits);
        let at = |v: u32| Point::from(positions[v as usize].map(f64::from));
        let mut sums = std::collections::BTreeMap::new();
        for &[a, b, c] in rest.topology.triangles() {
            let normal = (at(b) - at(a)).cross(&(at(c) - at(a)));
            for v in [a, b, c] {
                *sums.entry(key(v)).or_insert_with(Point::zeros) += normal;
            }
        }
        let vertices = 0..rest.vertex_count() as u32;
        vertices
            .map(|v| sums.get(&key(v)).copied().unwrap_or_default())
            .collect()
    }

    /// Two instances one behind the other, as graphs write them.
    fn on_device(gpu: &Gpu, rest: &Mesh, both: &[[f32; 3]], instance: usize) -> Vec<f32> {
        let smooth = Smooth::new(gpu, rest).expect("memory");
        let words: &[u32] = bytemuck::cast_slice(both);
        let positions = Floats {
            buffer: Buffer::from_slice(gpu, "positions", words, BufferUse::Drawn).expect("memory"),
            first: (3 * rest.vertex_count() * instance) as u32,
        };
        let triangles = rest.topology.triangles().as_flattened();
        let indices = Buffer::from_slice(gpu, "triangles", triangles, BufferUse::Drawn);
        let indices = indices.expect("memory");
        gpu.submit("normals", |e| smooth.record(gpu, e, &positions, &indices))
            .expect("a device");
        bytemuck::cast_slice(&smooth.normals.read(gpu).expect("a device")).to_vec()
    }

    #[test]
    fn normals_are_those_of_double_precision_across_seams() {
        let Some(gpu) = sinew_gpu::test_support::gpu() else {
            return;
        };
        let rest = &sinew_samples::arm_with_hand().expect("a sample").meshes[0];
        let weld = WeldMap::by_position(&rest.positions, 0.0);
        assert!(weld.class_count() < rest.vertex_count(), "there are seams");
        // The second instance is bent, so that places differ and seams stay closed.
        let bent = |p: &[f32; 3]| [p[0] + 0.3 * p[1] * p[1], p[1] * 1.2, p[2] - 0.1 * p[0]];
        let moved: Vec<[f32; 3]> = rest.positions.iter().map(bent).collect();
        let both = [rest.positions.as_slice(), &moved].concat();
        for (instance, positions) in [&rest.positions, &moved].into_iter().enumerate() {
            let found = on_device(&gpu, rest, &both, instance);
            for (v, expected) in reference(rest, positions).iter().enumerate() {
                let found =
                    Point::from_iterator(found[3 * v..3 * v + 3].iter().map(|c| f64::from(*c)));
                assert!((found.norm() - 1.0).abs() < 1e-5, "vertex {v}: {found}");
                let degrees = found
                    .cross(expected)
                    .norm()
                    .atan2(found.dot(expected))
                    .to_degrees();
                assert!(
                    degrees < 0.1,
                    "instance {instance}, vertex {v}: {degrees} degrees"
                );
            }
        }
    }

    #[test]
    fn vertices_without_triangles_have_no_normal() {
        let Some(gpu) = sinew_gpu::test_support::gpu() else {
            return;
        };
        let topology = sinew_geom::Topology::new(5, vec![[0, 1, 2], [2, 2, 3]]).expect("vertices");
        let places = [
            [0.0; 3],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [5.0; 3],
            [7.0; 3],
        ];
        let rest = Mesh::new("odd", topology, places.to_vec());
        let found = on_device(&gpu, &rest, &rest.positions, 0);
        let expected = [
            [0.0, 0.0, 1.0],
            [0.0, 0.0, 1.0],
            [0.0, 0.0, 1.0],
            [0.0; 3],
            [0.0; 3],
        ];
        assert_eq!(found, expected.as_flattened());
    }
}
