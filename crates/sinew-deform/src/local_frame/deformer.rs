//! From a map to a node: the job, and the bound node that runs it.

use super::{DeviceMap, Frame, LaneReal, LocalMap, MapUniforms, Placement, device, kernel};
#[cfg(test)]
use super::{VertexIn, move_vertex};
use crate::{
    BindContext, BoundNode, DeviceFrame, DeviceFrameData, DeviceNode, Line, MaskWeight, MeshView,
    MeshViewMut, NodeError, Par, Parameters, UpdateContext, for_each_chunk,
};
#[cfg(test)]
use sinew_geom::Real;
use std::fmt::Debug;
use std::marker::PhantomData;

/// Receives the map that the settings of a deformer select. Each map has a type of its own, which the kernel is compiled for.
pub trait MapVisitor<R: LaneReal> {
    /// Result of the visit.
    type Output;
    /// Called once.
    fn visit<M: LocalMap<R>>(self, map: M) -> Self::Output;
}

/// Settings of a deformer along an axis. This is all that such a node has to implement.
pub trait LocalDeformer: Copy + Debug + Send + Sync + 'static {
    /// Number of segments of the output port `debug`; 0 for deformers without one.
    const DEBUG_LINES: usize = 0;

    /// Reads the node's parameters.
    fn from_parameters(parameters: &Parameters<'_>) -> Self;
    /// Calls `visitor` with the selected map.
    fn with_map<R: LaneReal, V: MapVisitor<R>>(&self, visitor: V) -> V::Output;
    /// Its part of the GPU kernel. It may depend only on settings that setup knows.
    fn device_map(&self) -> DeviceMap;
    /// The numbers of that part for a frame.
    fn map_uniforms(&self) -> MapUniforms;
    /// Writes [`Self::DEBUG_LINES`] segments in scene space.
    fn debug_lines(&self, _placement: &Placement, _parameters: &Parameters<'_>, _out: &mut [Line]) {
    }
}

/// One frame of any [`LocalDeformer`]. Positions, normals and tangents are in scene space.
#[derive(Debug)]
pub struct LocalJob<'a, D> {
    /// Settings of the deformer.
    pub deformer: D,
    /// Frame and axis of the deformation.
    pub placement: Placement,
    /// Strength for each vertex.
    pub weight: MaskWeight<'a>,
    /// Mesh to deform.
    pub input: MeshView<'a>,
    /// Attributes to write, each with the length of the input.
    pub output: MeshViewMut<'a>,
    /// Threads.
    pub par: Par,
}

impl<D: LocalDeformer> LocalJob<'_, D> {
    /// Runs the job. Attributes that the input lacks are not written. A singular transform copies the input.
    ///
    /// # Cost
    /// O(vertices). It does not allocate. The result is the same bits for any [`Par`] and any SIMD level.
    pub fn run(self) {
        let deformer = self.deformer;
        match self.placement.frame::<f32>() {
            Some(frame) => deformer.with_map::<f32, _>(Fast { frame, job: self }),
            None => copy(&self.input, self.output),
        }
    }

    /// The same by the reference in precision `R`, one vertex at a time on the calling thread: the truth that
    /// [`Self::run`] is tested against.
    #[cfg(test)]
    pub(crate) fn run_reference<R: LaneReal>(self) {
        let deformer = self.deformer;
        match self.placement.frame::<R>() {
            Some(frame) => deformer.with_map::<R, _>(Plain { frame, job: self }),
            None => copy(&self.input, self.output),
        }
    }
}

fn copy(input: &MeshView<'_>, output: MeshViewMut<'_>) {
    fn copy_all<T: Copy>(from: Option<&[T]>, to: Option<&mut [T]>) {
        if let (Some(from), Some(to)) = (from, to) {
            for (to, from) in to.iter_mut().zip(from) {
                *to = *from;
            }
        }
    }
    copy_all(Some(input.positions), output.positions);
    copy_all(input.normals, output.normals);
    copy_all(input.tangents, output.tangents);
}

struct Fast<'a, D> {
    frame: Frame<f32>,
    job: LocalJob<'a, D>,
}

impl<D: LocalDeformer> MapVisitor<f32> for Fast<'_, D> {
    type Output = ();
    fn visit<M: LocalMap<f32>>(self, map: M) {
        let Self { frame, job } = self;
        let LocalJob {
            weight,
            input,
            output,
            par,
            ..
        } = job;
        let outputs = (
            output.positions,
            output.normals.filter(|_| input.normals.is_some()),
            output.tangents.filter(|_| input.tangents.is_some()),
        );
        let tangents = outputs.2.is_some();
        let normals = tangents || outputs.1.is_some();
        for_each_chunk(par, input.positions.len(), 4096, outputs, &|range, out| {
            // The `true, true` form also serves tangents without normals: missing normals are zero.
            dispatch!(simd => match (normals, tangents) {
                (_, true) => kernel::run::<_, M, true, true>(
                    simd, &frame, &map, &weight, &input, range, out),
                (true, false) => kernel::run::<_, M, true, false>(
                    simd, &frame, &map, &weight, &input, range, out),
                (false, false) => kernel::run::<_, M, false, false>(
                    simd, &frame, &map, &weight, &input, range, out),
            });
        });
    }
}

#[cfg(test)]
struct Plain<'a, R, D> {
    frame: Frame<R>,
    job: LocalJob<'a, D>,
}

#[cfg(test)]
impl<R: LaneReal, D: LocalDeformer> MapVisitor<R> for Plain<'_, R, D> {
    type Output = ();
    fn visit<M: LocalMap<R>>(self, map: M) {
        let Self { frame, job } = self;
        let mut output = job.output;
        let wide = |v: [f32; 3]| v.map(R::from_single);
        let narrow = |v: [R; 3]| v.map(Real::to_single);
        for (v, &position) in job.input.positions.iter().enumerate() {
            let given = job.input.tangents.map_or([0.0; 4], |t| t[v]);
            let moved = move_vertex::<R, M, true, true>(
                &frame,
                &map,
                VertexIn {
                    position: wide(position),
                    normal: wide(job.input.normals.map_or([0.0; 3], |n| n[v])),
                    tangent: wide([given[0], given[1], given[2]]),
                    weight: R::from_single(job.weight.at(v)),
                },
            );
            if let Some(p) = &mut output.positions {
                p[v] = narrow(moved.position);
            }
            if let (Some(n), Some(_)) = (&mut output.normals, job.input.normals) {
                n[v] = narrow(moved.normal);
            }
            if let (Some(t), Some(_)) = (&mut output.tangents, job.input.tangents) {
                let [x, y, z] = narrow(moved.tangent);
                t[v] = [x, y, z, given[3]];
            }
        }
    }
}

/// Setup of the node of a [`LocalDeformer`]: nothing but a check, everything may change each frame.
pub(crate) fn bind<D: LocalDeformer>(
    context: &BindContext<'_>,
) -> Result<Box<dyn BoundNode>, NodeError> {
    context.mesh("mesh")?;
    Ok(Box::new(Bound::<D>(PhantomData)))
}

#[derive(Debug)]
struct Bound<D>(PhantomData<D>);

impl<D: LocalDeformer> BoundNode for Bound<D> {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn output_len(&self, port: &str) -> usize {
        if port == "debug" { D::DEBUG_LINES } else { 0 }
    }
    fn device(&self, context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(device::node(&D::from_parameters(&context.parameters)))
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::write_frame::<D>(frame, data);
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let deformer = D::from_parameters(&context.parameters);
        let placement = Placement::from_parameters(&context.parameters);
        if D::DEBUG_LINES > 0
            && let Some(lines) = context.outputs.lines("debug")
        {
            deformer.debug_lines(&placement, &context.parameters, lines);
        }
        LocalJob {
            deformer,
            placement,
            weight: MaskWeight::from_context(&context),
            input: context.inputs.mesh("mesh"),
            output: context.outputs.mesh("mesh"),
            par: context.par,
        }
        .run();
    }
}
