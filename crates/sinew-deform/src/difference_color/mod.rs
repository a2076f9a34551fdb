//! Node `difference_color`: shows as colour how far two meshes lie apart.

mod reference;
#[cfg(test)]
mod tests;

use crate::{
    AttributeEffect, BindContext, BoundNode, DeviceFrame, DeviceFrameData, DeviceNode, DevicePass,
    Example, MeshEffect, NodeDesc, NodeDocs, NodeError, NodeKind, Par, ParameterDesc, PortDesc,
    PortType, UniformLayout, UpdateContext, for_each_chunk,
};

pub use reference::difference_color;

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "difference_color",
    kind: NodeKind::Deformer,
    summary: "Shows the distance between two meshes as vertex colours.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "difference",
            graph: include_str!("difference.json"),
            sample: "arm",
            before: "linear",
            frame: 54,
        }]),
    rows: &[20],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh to colour."),
        PortDesc::input(
            "reference",
            PortType::Mesh,
            "Mesh to compare with, with the same vertices in the same order.",
        ),
    ],
    outputs: &[PortDesc::mesh_output(
        MeshEffect {
            from: "mesh",
            positions: AttributeEffect::Keep,
            normals: AttributeEffect::Keep,
            tangents: AttributeEffect::Keep,
            colors: AttributeEffect::Recompute,
        },
        "The mesh with colour set 0 replaced.",
    )],
    parameters: &[ParameterDesc::float(
        "scale",
        10.0,
        0.0,
        1e6,
        "Colour per metre of difference. At 10, a difference of 10 cm gives full colour.",
    )
    .with_unit("1/m")],
    bind,
    restore: None,
};

/// One frame: colours by the distance between two positions of each vertex.
#[derive(Debug)]
pub struct DifferenceColorJob<'a> {
    /// Colour per metre of distance.
    pub scale: f32,
    /// Positions of the mesh.
    pub positions: &'a [[f32; 3]],
    /// Positions to compare with; same length.
    pub reference: &'a [[f32; 3]],
    /// Output, linear RGBA; same length.
    pub colors: &'a mut [[f32; 4]],
    /// Threads.
    pub par: Par,
}

impl DifferenceColorJob<'_> {
    /// Runs the job; nothing is written where the lengths differ.
    pub fn run(self) {
        let n = self.positions.len();
        if self.reference.len() != n || self.colors.len() != n {
            return;
        }
        let (p, q, scale) = (self.positions, self.reference, self.scale);
        for_each_chunk(self.par, n, 4096, self.colors, &|range, out| {
            for (v, c) in range.zip(out) {
                *c = difference_color(p[v], q[v], scale);
            }
        });
    }
}

fn bind(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let (a, b) = (context.mesh("mesh")?, context.mesh("reference")?);
    if a.vertex_count() != b.vertex_count() {
        return Err(NodeError::Input {
            port: "reference",
            message: format!(
                "has {} vertices, but the mesh has {}; compare meshes with the same vertices",
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
        scale: f32,
        unused: [f32; 3],
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
            uniforms: UniformLayout::of::<Uniforms>(),
            passes: vec![DevicePass::per_vertex(
                "difference_color",
                include_str!("kernel.wgsl"),
            )],
            ..DeviceNode::default()
        })
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        data.set_uniforms(&Uniforms {
            scale: frame.parameters.single("scale"),
            unused: [0.0; 3],
        });
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let Some(colors) = context.outputs.mesh("mesh").colors else {
            return;
        };
        DifferenceColorJob {
            scale: context.parameters.single("scale"),
            positions: context.inputs.mesh("mesh").positions,
            reference: context.inputs.mesh("reference").positions,
            colors,
            par: context.par,
        }
        .run();
    }
}
