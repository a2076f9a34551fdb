//! Node `transform`: moves the whole mesh by one affine transform.

mod reference;
mod simd;
#[cfg(test)]
mod tests;

use crate::{
    BindContext, BoundNode, MASK_PORT, MaskWeight, MeshEffect, MeshView, MeshViewMut, NodeDesc,
    NodeError, NodeKind, Par, ParameterDesc, PortDesc, PortType, UpdateContext, for_each_chunk,
};
use sinew_geom::Affine;

pub use reference::transform_vertex;

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "transform",
    kind: NodeKind::Deformer,
    summary: "Moves the whole mesh by one affine transform.",
    page: include_str!("README.md"),
    rows: &[],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh to move."),
        MASK_PORT,
    ],
    outputs: &[PortDesc::mesh_output(
        MeshEffect::MOVES_FRAMES,
        "The moved mesh.",
    )],
    parameters: &[
        ParameterDesc::transform("transform", "Where the mesh goes, scene space."),
        MaskWeight::WEIGHT,
        MaskWeight::INVERT,
    ],
    bind,
    restore: None,
};

/// One frame of work: `output = transform(input)`, vertex by vertex.
#[derive(Debug)]
pub struct TransformJob<'a> {
    /// Where the mesh goes.
    pub transform: Affine<f32>,
    /// Strength for each vertex.
    pub weight: MaskWeight<'a>,
    /// Mesh to move.
    pub input: MeshView<'a>,
    /// Same vertex count as the input; must not overlap it.
    pub output: MeshViewMut<'a>,
    /// Threads.
    pub par: Par,
}

impl TransformJob<'_> {
    /// Runs the job. Attributes that the input lacks are not written.
    pub fn run(self) {
        let Self {
            transform,
            weight,
            input,
            output,
            par,
        } = self;
        let normal_matrix = transform.normal_matrix();
        let outputs = (output.positions, output.normals, output.tangents);
        let level = crate::simd_level();
        for_each_chunk(par, input.positions.len(), 4096, outputs, &|range, out| {
            fearless_simd::dispatch!(level, simd => simd::run(
                simd, &transform, &normal_matrix, &weight, &input, range, out));
        });
    }
}

fn bind(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    context.mesh("mesh")?;
    Ok(Box::new(Bound))
}

#[derive(Debug)]
struct Bound;

impl BoundNode for Bound {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        TransformJob {
            transform: context.parameters.transform("transform").cast(),
            weight: MaskWeight::from_context(&context),
            input: context.inputs.mesh("mesh"),
            output: context.outputs.mesh("mesh"),
            par: context.par,
        }
        .run();
    }
}
