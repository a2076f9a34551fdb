//! Node `transform`: moves the whole mesh by one affine transform.

#[cfg(test)]
mod reference;
mod simd;
#[cfg(test)]
mod tests;

use crate::{
    BindContext, BoundNode, DIRECTIONS_WGSL, DeviceFrame, DeviceFrameData, DeviceNode, DevicePass,
    Example, MASK_PORT, MASK_WEIGHT_WGSL, MaskWeight, MeshEffect, MeshView, MeshViewMut, NodeDesc,
    NodeDocs, NodeError, NodeKind, Par, ParameterDesc, PortDesc, PortType, UniformLayout,
    UpdateContext, for_each_chunk,
};
#[cfg(test)]
pub(crate) use reference::transform_vertex;
use sinew_geom::{Affine, PackedAffine, Vec3};

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "transform",
    kind: NodeKind::Deformer,
    summary: "Moves the whole mesh by one affine transform.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "masked_transform",
            graph: include_str!("masked_transform.json"),
            sample: "ball",
            before: "rest",
            frame: 24,
        }]),
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
        ParameterDesc::transform("transform", "Transform to apply, in scene space."),
        MaskWeight::WEIGHT,
        MaskWeight::INVERT,
    ],
    bind,
    restore: None,
};

/// One frame: `output = transform(input)`, vertex by vertex, in scene space.
#[derive(Debug)]
pub struct TransformJob<'a> {
    /// Transform of points at full strength. At a strength in between, a vertex is on the line between both positions.
    pub transform: Affine<f32>,
    /// Strength for each vertex.
    pub weight: MaskWeight<'a>,
    /// Mesh to move.
    pub input: MeshView<'a>,
    /// Attributes to write, each with the length of the input.
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
        for_each_chunk(par, input.positions.len(), 4096, outputs, &|range, out| {
            dispatch!(simd => simd::run(
                simd, &transform, &normal_matrix, &weight, &input, range, out));
        });
    }
}

fn bind(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    context.mesh("mesh")?;
    Ok(Box::new(Bound))
}

crate::uniform_struct! {
    /// As in `kernel.wgsl`.
    struct Uniforms {
        linear: PackedAffine,
        normal: PackedAffine,
        weight: f32,
        mask_invert: u32,
        determinant: f32,
        unused: f32,
    }
}

#[derive(Debug)]
struct Bound;

impl BoundNode for Bound {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(DeviceNode {
            shared: vec![MASK_WEIGHT_WGSL, DIRECTIONS_WGSL],
            uniforms: UniformLayout::of::<Uniforms>(),
            passes: vec![DevicePass::per_vertex(
                "transform",
                include_str!("kernel.wgsl"),
            )],
            ..DeviceNode::default()
        })
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        let transform: Affine<f32> = frame.parameters.transform("transform").cast();
        let (weight, mask_invert) = MaskWeight::uniforms(&frame.parameters);
        data.set_uniforms(&Uniforms {
            linear: PackedAffine::from(transform),
            normal: PackedAffine::from(Affine {
                linear: transform.normal_matrix(),
                translation: Vec3::zeros(),
            }),
            weight,
            mask_invert,
            determinant: transform.linear.determinant(),
            unused: 0.0,
        });
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
