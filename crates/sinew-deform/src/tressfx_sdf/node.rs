//! The node `tressfx_sdf`.

use super::{CompatibilityField, TressFxLayout, device};
use crate::follow::{FOLLOW, Follow};
use crate::{
    BindContext, BoundNode, DeviceFrame, DeviceFrameData, DeviceNode, NodeDesc, NodeDocs,
    NodeError, NodeKind, NodeScratch, ParameterDesc, PortDesc, PortType, UpdateContext,
};
use sinew_geom::Topology;
use std::sync::Arc;

/// The node `tressfx_sdf`.
pub static DESC: NodeDesc = NodeDesc {
    name: "tressfx_sdf",
    kind: NodeKind::Field,
    summary: "TressFX-compatible distance field: the grid of TressFX 4.1 with its holes, for assets that were tuned with it.",
    docs: NodeDocs::page(include_str!("README.md")).pictures(include_str!("pictures.txt")),
    rows: &[68, 70, 71, 72],
    inputs: &[
        PortDesc::input(
            "mesh",
            PortType::Mesh,
            "Triangle mesh, skinned or not. Its triangles must face outward.",
        ),
        PortDesc::optional(
            "pose",
            PortType::Pose,
            "Pose of the rig that has the joint named in `follow`.",
        ),
    ],
    outputs: &[PortDesc::output(
        "field",
        PortType::Field,
        "Signed distances, positive outside, 1e10 where the grid has no distance.",
    )],
    parameters: &[
        ParameterDesc::int(
            "cells",
            50,
            1,
            4096,
            "Number of cells along x of the cube around the bounding sphere of the rest mesh. The grid adds 0.8 times as many on each side.",
        ),
        FOLLOW,
    ],
    bind: bind_node,
    restore: None,
};

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let mesh = context.mesh("mesh")?;
    let follow = Follow::bind(context)?;
    if mesh.topology.triangles().is_empty() {
        return Err(NodeError::Input {
            port: "mesh",
            message: "the mesh has no triangles, which a distance field needs".into(),
        });
    }
    let cells = u32::try_from(context.parameters.int("cells")).unwrap_or(1);
    let field = CompatibilityField::new(&mesh.positions, cells);
    let field = field.map_err(|source| NodeError::Bind(Box::new(source)))?;
    Ok(Box::new(TressFxSdf {
        layout: TressFxLayout::new(&field),
        topology: mesh.topology.clone(),
        follow,
        field,
    }))
}

#[derive(Debug)]
struct TressFxSdf {
    /// In the bind pose, without distances.
    field: CompatibilityField,
    layout: TressFxLayout,
    topology: Arc<Topology>,
    follow: Follow,
}

impl BoundNode for TressFxSdf {
    fn setup_bytes(&self) -> usize {
        size_of_val(self.field.values.as_slice())
    }
    fn output_len(&self, _port: &str) -> usize {
        self.layout.words()
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(self.field.clone())
    }
    fn scratch_bytes(&self) -> usize {
        size_of_val(self.field.values.as_slice())
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(device::node(&self.field, &self.layout, &self.topology))
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        let center = self.follow.point(&frame.inputs, self.field.center());
        device::write_frame(&self.field, center, data);
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let center = self.follow.point(&context.inputs, self.field.center());
        let (Some(field), Some(words)) = (
            context.scratch.downcast_mut::<CompatibilityField>(),
            context.outputs.field("field"),
        ) else {
            return;
        };
        field.move_to(center);
        field.build(&self.topology, context.inputs.mesh("mesh").positions);
        self.layout.write(field, words);
    }
}
