//! Node `blend`: moves a mesh towards another one with the same vertices.

mod reference;
#[cfg(test)]
mod tests;

use crate::{
    BindContext, BoundNode, DeviceFrame, DeviceFrameData, DeviceNode, DevicePass, Example,
    MASK_PORT, MASK_WEIGHT_WGSL, MaskWeight, MeshEffect, MeshReads, MeshView, MeshViewMut,
    NodeDesc, NodeDocs, NodeError, NodeKind, Par, ParameterDesc, PortDesc, PortType, UniformLayout,
    UpdateContext, for_each_chunk,
};

pub(crate) use reference::{blend_direction, blend_position};

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "blend",
    kind: NodeKind::Deformer,
    summary: "Moves a mesh towards another one with the same vertices.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "blend",
            graph: include_str!("blend.json"),
            sample: "arm",
            before: "linear",
            frame: 54,
        }]),
    rows: &[10, 11],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh at factor 0."),
        PortDesc::input(
            "target",
            PortType::Mesh,
            "Mesh at factor 1, with the same vertices in the same order.",
        )
        .reading(MeshReads::MIXED),
        MASK_PORT,
    ],
    outputs: &[PortDesc::mesh_output(
        MeshEffect::MOVES_FRAMES,
        "The blended mesh.",
    )],
    parameters: &[
        ParameterDesc::float(
            "factor",
            0.5,
            0.0,
            1.0,
            "0 gives the mesh, 1 the target. Multiplied by `weight` and the mask.",
        ),
        MaskWeight::WEIGHT,
        MaskWeight::INVERT,
    ],
    bind,
    restore: None,
};

/// One frame: linear interpolation between two meshes with the same vertices, in scene space.
#[derive(Debug)]
pub struct BlendJob<'a> {
    /// 0 gives the mesh, 1 the target; other numbers extrapolate.
    pub factor: f32,
    /// Multiplies the factor.
    pub weight: MaskWeight<'a>,
    /// Mesh.
    pub input: MeshView<'a>,
    /// Target, with the same vertex count. Normals and tangents that it lacks are those of the mesh.
    pub target: MeshView<'a>,
    /// Attributes to write, each with the length of the input.
    pub output: MeshViewMut<'a>,
    /// Threads.
    pub par: Par,
}

impl BlendJob<'_> {
    /// Runs the job. If the vertex counts differ, nothing is written. Attributes that the input lacks are not written. Directions are
    /// normalized; two that cancel give that of the mesh.
    pub fn run(self) {
        let Self {
            factor,
            weight,
            input,
            target,
            output,
            par,
        } = self;
        let n = input.positions.len();
        if target.positions.len() != n {
            return;
        }
        let outputs = (output.positions, output.normals, output.tangents);
        for_each_chunk(par, n, 4096, outputs, &|range, (mut p, mut n, mut t)| {
            for (i, v) in range.enumerate() {
                let w = factor * weight.at(v);
                if let Some(p) = &mut p {
                    p[i] = blend_position(input.positions[v], target.positions[v], w);
                }
                if let (Some(n), Some(a)) = (&mut n, input.normals) {
                    let b = target.normals.unwrap_or(a);
                    n[i] = blend_direction(a[v], b[v], w);
                }
                if let (Some(t), Some(a)) = (&mut t, input.tangents) {
                    let (a, b) = (a[v], target.tangents.unwrap_or(a)[v]);
                    let [x, y, z] = blend_direction([a[0], a[1], a[2]], [b[0], b[1], b[2]], w);
                    t[i] = [x, y, z, if w > 0.5 { b[3] } else { a[3] }];
                }
            }
        });
    }
}

fn bind(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let (a, b) = (context.mesh("mesh")?, context.mesh("target")?);
    if a.vertex_count() != b.vertex_count() {
        return Err(NodeError::Input {
            port: "target",
            message: format!(
                "has {} vertices, but the mesh has {}; blend meshes with the same vertices",
                b.vertex_count(),
                a.vertex_count()
            ),
        });
    }
    Ok(Box::new(Bound))
}

crate::uniform_struct! {
    /// As in `kernel.wgsl`.
    struct Uniforms {
        factor: f32,
        weight: f32,
        mask_invert: u32,
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
            shared: vec![MASK_WEIGHT_WGSL],
            uniforms: UniformLayout::of::<Uniforms>(),
            passes: vec![DevicePass::per_vertex("blend", include_str!("kernel.wgsl"))],
            ..DeviceNode::default()
        })
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        let (weight, mask_invert) = MaskWeight::uniforms(&frame.parameters);
        data.set_uniforms(&Uniforms {
            factor: frame.parameters.single("factor"),
            weight,
            mask_invert,
            unused: 0.0,
        });
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        BlendJob {
            factor: context.parameters.single("factor"),
            weight: MaskWeight::from_context(&context),
            input: context.inputs.mesh("mesh"),
            target: context.inputs.mesh("target"),
            output: context.outputs.mesh("mesh"),
            par: context.par,
        }
        .run();
    }
}
