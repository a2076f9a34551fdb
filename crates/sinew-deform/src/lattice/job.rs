//! One frame of work.

use super::bind::LatticeBind;
use super::cage::Cage;
use super::reference::{Displacement, VertexBasis, apply, displacement};
use super::simd::{self, Plan};
use crate::{MaskWeight, MeshView, MeshViewMut, Par, for_each_chunk};
use sinew_geom::{Affine, Real, Vec3};
use std::ops::Range;

/// Vertices that are worked on in one go.
const CHUNK: usize = 4096;

/// Control points of one frame in the form of the kernels; belongs to one instance.
#[derive(Clone, Debug)]
pub struct LatticeScratch {
    pub(super) cage: Cage<f32>,
    /// Differences of the displacements along all three axes, for the kernels that sum over the whole grid.
    pub(super) differences: Vec<[f32; 3]>,
    /// Displacements with rows filled up, for the kernel of local lattices.
    pub(super) grid: Vec<[f32; 4]>,
    pub(super) plan: Plan,
    /// Displacements of control points that follow a mesh.
    pub(super) points: Vec<[f64; 3]>,
}

impl LatticeScratch {
    /// Scratch for the grid of `bind`. Allocates.
    pub fn new(bind: &LatticeBind) -> Self {
        let cage = Cage::new(bind);
        let plan = Plan::new(bind);
        let (differences, grid) = plan.room(cage.offsets.len());
        Self {
            differences: vec![[0.0; 3]; differences],
            grid: vec![[0.0; 4]; grid],
            cage,
            plan,
            points: vec![[0.0; 3]; bind.cage.as_ref().map_or(0, |_| bind.point_count())],
        }
    }

    /// Bytes that [`Self::new`] takes.
    pub fn bytes(bind: &LatticeBind) -> usize {
        let this = Self::new(bind);
        size_of_val(this.cage.offsets.as_slice())
            + size_of_val(this.differences.as_slice())
            + size_of_val(this.grid.as_slice())
            + size_of_val(this.points.as_slice())
            + size_of::<Self>()
    }
}

/// One frame of a lattice: `output = lattice(input)`, vertex by vertex, in scene space.
#[derive(Debug)]
pub struct LatticeJob<'a> {
    /// Setup.
    pub bind: &'a LatticeBind,
    /// Scene space from the space of the undeformed box. If it flattens the box, the output is the input.
    pub box_transform: Affine<f64>,
    /// Control points, x fastest, in the space and with the meaning of the configuration. With another number of them (for example none),
    /// the lattice is at rest and the output is the input.
    pub points: &'a [[f64; 3]],
    /// For [`super::Outside::Falloff`]: metres outside the box at which the effect ends. 0 leaves all vertices outside unchanged.
    pub falloff_distance: f64,
    /// From [`LatticeScratch::new`] of the same bind.
    pub scratch: &'a mut LatticeScratch,
    /// Strength for each vertex. Normals ignore the gradient of the mask.
    pub weight: MaskWeight<'a>,
    /// Mesh to deform.
    pub input: MeshView<'a>,
    /// Attributes to write, each with the length of the input.
    pub output: MeshViewMut<'a>,
    /// Threads.
    pub par: Par,
}

/// The vertices of one chunk and where they go.
pub(super) struct Chunk<'a> {
    pub(super) range: Range<usize>,
    pub(super) positions: Option<&'a mut [[f32; 3]]>,
    pub(super) normals: Option<&'a mut [[f32; 3]]>,
    pub(super) tangents: Option<&'a mut [[f32; 4]]>,
}

/// What all chunks share.
pub(super) struct Frame<'a> {
    pub(super) bind: &'a LatticeBind,
    pub(super) scratch: &'a LatticeScratch,
    pub(super) rest_stu: Option<&'a [[f32; 3]]>,
    pub(super) weight: MaskWeight<'a>,
    pub(super) input: MeshView<'a>,
}

impl LatticeJob<'_> {
    /// Runs the job. Attributes that the input lacks are not written.
    ///
    /// # Cost
    /// O(control points), and O(vertices * control points that act on one of them): all with Bernstein. It does not allocate. The result
    /// is the same bits for any [`Par`].
    pub fn run(self) {
        let Self {
            bind,
            box_transform,
            points,
            falloff_distance,
            scratch,
            weight,
            input,
            output,
            par,
        } = self;
        scratch
            .cage
            .set(bind, &box_transform, points, falloff_distance);
        if !scratch.cage.active || weight.weight == 0.0 {
            return copy_mesh(&input, output);
        }
        simd::prepare(bind, scratch);
        let frame = Frame {
            bind,
            scratch,
            rest_stu: bind
                .rest_stu
                .as_deref()
                .filter(|s| s.len() == input.positions.len()),
            weight,
            input,
        };
        let outputs = (
            output.positions,
            output.normals.filter(|_| input.normals.is_some()),
            output.tangents.filter(|_| input.tangents.is_some()),
        );
        for_each_chunk(
            par,
            input.positions.len(),
            CHUNK,
            outputs,
            &|range, (p, n, t)| {
                let chunk = Chunk {
                    range,
                    positions: p,
                    normals: n,
                    tangents: t,
                };
                match &frame.scratch.plan {
                    Plan::PerVertex => run_per_vertex(&frame, chunk),
                    _ => simd::run_chunk(&frame, chunk),
                }
            },
        );
    }
}

fn copy<T: Copy>(from: Option<&[T]>, to: Option<&mut [T]>) {
    if let (Some(from), Some(to)) = (from, to) {
        for (to, from) in to.iter_mut().zip(from) {
            *to = *from;
        }
    }
}

fn copy_mesh(input: &MeshView<'_>, output: MeshViewMut<'_>) {
    copy(Some(input.positions), output.positions);
    copy(input.normals, output.normals);
    copy(input.tangents, output.tangents);
}

/// Lattices whose control points act nearby: the reference, in single precision.
fn run_per_vertex(frame: &Frame<'_>, mut chunk: Chunk<'_>) {
    let mut basis = VertexBasis::<f32>::new();
    for (i, v) in chunk.range.clone().enumerate() {
        let weight = frame.weight.at(v);
        let reached = (weight != 0.0).then(|| {
            let stu = match frame.rest_stu {
                Some(s) => Vec3::from(s[v]),
                None => {
                    let p = f32::vec3(frame.input.positions[v]);
                    frame.scratch.cage.unit_from_scene.point(p)
                }
            };
            displacement(frame.bind, &frame.scratch.cage, &mut basis, stu)
        });
        let moved = reached.flatten();
        chunk.write(i, &frame.input, moved.as_ref(), weight);
    }
}

impl Chunk<'_> {
    /// Writes element `i`: the vertex moved, or as it came.
    fn write(
        &mut self,
        i: usize,
        input: &MeshView<'_>,
        moved: Option<&Displacement<f32>>,
        weight: f32,
    ) {
        let v = self.range.start + i;
        let p = f32::vec3(input.positions[v]);
        let n = input.normals.filter(|_| self.normals.is_some());
        let n = n.map(|n| f32::vec3(n[v]));
        let t = input.tangents.filter(|_| self.tangents.is_some());
        let t = t.map(|t| (Vec3::new(t[v][0], t[v][1], t[v][2]), t[v][3]));
        let (p, n, t) = match moved {
            Some(moved) => apply(moved, weight, (p, n, t)),
            None => (p, n, t),
        };
        if let Some(out) = &mut self.positions {
            out[i] = p.into();
        }
        if let (Some(out), Some(n)) = (&mut self.normals, n) {
            out[i] = n.into();
        }
        if let (Some(out), Some((t, sign))) = (&mut self.tangents, t) {
            out[i] = [t.x, t.y, t.z, sign];
        }
    }
}
