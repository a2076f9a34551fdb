//! Animated mesh inputs: an implicit node writes the positions that each frame passes in. Nodes downstream read its output as they read
//! the output of any deformer, and bind to the rest mesh.

use super::BindError;
use super::binder::Binder;
use super::value::{ArrayValue, Location, MeshValue, Value};
use crate::plan::PlanNode;
use bytemuck::cast_slice;
use sinew_deform::{
    BindContext, BoundNode, DeviceArray, DeviceFrame, DeviceFrameData, DeviceNode, DevicePass,
    DeviceType, MeshEffect, MeshReads, NodeDesc, NodeDocs, NodeError, NodeKind, PortDesc, PortType,
    UpdateContext,
};
use sinew_geom::Mesh;

/// Kind of the implicit node.
pub(crate) const FRAME_POSITIONS: &str = "frame_positions";

/// Not in the registry: documents cannot use it.
static DESC: NodeDesc = NodeDesc {
    name: FRAME_POSITIONS,
    kind: NodeKind::Deformer,
    summary: "Positions that each frame passes in.",
    docs: NodeDocs::NONE,
    rows: &[],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Rest mesh.").reading(MeshReads::NOTHING),
        PortDesc::input(
            "points",
            PortType::Values,
            "Three floats per vertex: positions in scene space, in metres.",
        ),
    ],
    outputs: &[PortDesc::mesh_output(
        // Normals come from the triangles: caches of points have none.
        MeshEffect::MOVES_POINTS,
        "The mesh at these positions.",
    )],
    parameters: &[],
    bind,
    restore: None,
};

fn bind(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let vertices = context.mesh("mesh")?.vertex_count();
    Ok(Box::new(FramePositions { vertices }))
}

#[derive(Debug)]
struct FramePositions {
    vertices: usize,
}

impl BoundNode for FramePositions {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let points = context.inputs.floats("points").unwrap_or_default();
        if let Some(out) = context.outputs.mesh("mesh").positions
            && points.len() == 3 * out.len()
        {
            out.as_flattened_mut().copy_from_slice(points);
        }
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(DeviceNode {
            frame_arrays: vec![DeviceArray {
                name: "frame_points",
                ty: DeviceType::Vec3F,
                len: self.vertices,
                lasting: false,
            }],
            passes: vec![DevicePass::per_vertex(
                "frame_positions",
                include_str!("animated.wgsl"),
            )],
            ..DeviceNode::default()
        })
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        let points: &[u8] = cast_slice(frame.inputs.floats("points").unwrap_or_default());
        if let Some(out) = data.arrays.first_mut()
            && out.len() == points.len()
        {
            out.copy_from_slice(points);
        }
    }
}

impl Binder<'_> {
    /// The value of an animated mesh input: the output of an implicit node.
    pub(super) fn animated(
        &mut self,
        input: usize,
        name: &str,
        mesh: &Mesh,
    ) -> Result<Value, BindError> {
        let node = PlanNode {
            name: format!("points ({name})"),
            desc: &DESC,
            kernel: None,
            inputs: vec![None; DESC.inputs.len()],
            parameters: Vec::new(),
            parameter_inputs: Vec::new(),
            fit: None,
            runs_in_setup: false,
            implicit: true,
            location: String::new(),
        };
        let rest = MeshValue::authored(self.meshes.len() - 1, mesh);
        let points = ArrayValue {
            location: Location::Input(input),
            len: 3 * mesh.vertex_count(),
        };
        let inputs = vec![Some(Value::Mesh(rest)), Some(Value::Array(points))];
        let values = self.bind_with(&node, inputs)?;
        Ok(values.first().copied().unwrap_or(Value::Mesh(rest)))
    }
}
