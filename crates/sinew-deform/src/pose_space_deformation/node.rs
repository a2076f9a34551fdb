//! The node: a pose and a mesh in, the mesh out.

use super::simd::Out;
use super::{
    JointInfluence, PoseSpace, PoseSpaceBind, PoseSpaceError, PoseSpaceJob, PoseSpaceScratch,
    SculptedPose, device,
};
use crate::pose_driver::{
    DriverValue, Joints, Metric, RadialKernel, driver_joints, order, pose_values,
};
use crate::{
    BindContext, BoundNode, DeviceFrame, DeviceFrameData, DeviceNode, MaskWeight, MeshView,
    NodeError, NodeScratch, Parameters, UpdateContext, for_each_chunk,
};
use sinew_geom::{Quat, Rig, Vec3};
use std::ops::Range;

pub(super) fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let (mesh, rig) = (context.mesh("mesh")?, context.rig("pose")?);
    let parameters = &context.parameters;
    if parameters.texts("joints").is_empty() {
        return without_joints(parameters);
    }
    let joints = driver_joints(rig, parameters)?;
    let space = read(parameters, &joints, rig);
    let skin_joints = skin_joints(rig, &joints, space.influence)?;
    let bind = PoseSpaceBind::new_watched(mesh, &space, &skin_joints, &context.watch);
    let bind = bind.map_err(|error| match error {
        PoseSpaceError::Stopped(stopped) => stopped.into(),
        other => NodeError::Bind(Box::new(other)),
    })?;
    Ok(Box::new(Bound { bind, joints }))
}

/// Without poses, too, nothing moves: what a document begins with.
fn without_joints(parameters: &Parameters<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    if parameters.records("poses").len() == 0 {
        return Ok(Box::new(Unchanged));
    }
    Err(NodeError::Parameter {
        name: "joints",
        found: "none".into(),
        expected: "the names of one or more driver joints".into(),
    })
}

fn read(p: &Parameters<'_>, joints: &Joints, rig: &Rig) -> PoseSpace {
    let default = PoseSpace::default();
    let pose = |record: Parameters<'_>| SculptedPose {
        name: record.text("name").to_owned(),
        values: pose_values(record.transforms("joints"), joints, rig),
        target: record.text("target").to_owned(),
    };
    let order = order(p.text("rotation_order"));
    PoseSpace {
        poses: p.records("poses").map(pose).collect(),
        metric: Metric::from_word(p.text("metric"), order).unwrap_or(default.metric),
        axis: Vec3::from(p.vec3("axis")),
        kernel: RadialKernel::from_word(p.text("kernel")).unwrap_or(default.kernel),
        width: Some(p.float("width")).filter(|width| *width > 0.0),
        regularization: p.float("regularization"),
        swing_tolerance: p.float("swing_tolerance"),
        influence: JointInfluence::from_word(p.text("influence")),
    }
}

/// The joints of the skin that each driver joint is; of several skins, each may have it.
fn skin_joints(
    rig: &Rig,
    joints: &Joints,
    influence: JointInfluence,
) -> Result<Vec<Vec<u32>>, NodeError> {
    let of_node = |&node: &usize| {
        let all = (0_u32..).zip(rig.joints());
        let same: Vec<u32> = all
            .filter(|(_, j)| j.node == node)
            .map(|(i, _)| i)
            .collect();
        if same.is_empty() && influence == JointInfluence::Skin {
            let name = rig.nodes().get(node).map_or("", |n| n.name.as_str());
            return Err(NodeError::Parameter {
                name: "joints",
                found: format!("'{name}', which is not a joint of the skin"),
                expected: "joints of the skin; or set 'influence' to 'equal'".into(),
            });
        }
        Ok(same)
    };
    joints.nodes.iter().map(of_node).collect()
}

/// Hands the input on.
pub(super) fn copy(input: &MeshView<'_>, range: Range<usize>, out: &mut Out<'_>) {
    let (positions, normals, tangents) = out;
    if let Some(out) = positions {
        out.copy_from_slice(&input.positions[range.clone()]);
    }
    if let (Some(out), Some(given)) = (normals, input.normals) {
        out.copy_from_slice(&given[range.clone()]);
    }
    if let (Some(out), Some(given)) = (tangents, input.tangents) {
        out.copy_from_slice(&given[range]);
    }
}

/// Without joints and poses.
#[derive(Debug)]
struct Unchanged;

impl BoundNode for Unchanged {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(device::unchanged())
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let (input, output) = (context.inputs.mesh("mesh"), context.outputs.mesh("mesh"));
        let outputs = (output.positions, output.normals, output.tangents);
        let count = input.positions.len();
        for_each_chunk(context.par, count, 4096, outputs, &|range, mut out| {
            copy(&input, range, &mut out);
        });
    }
}

#[derive(Debug)]
struct Bound {
    bind: PoseSpaceBind,
    joints: Joints,
}

#[derive(Debug)]
struct Scratch {
    values: Vec<DriverValue>,
    frame: PoseSpaceScratch,
}

impl BoundNode for Bound {
    fn setup_bytes(&self) -> usize {
        self.bind.bytes()
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(Scratch {
            values: vec![DriverValue::rotation(Quat::identity()); self.bind.joint_count()],
            frame: PoseSpaceScratch::new(&self.bind),
        })
    }
    fn scratch_bytes(&self) -> usize {
        self.bind.joint_count() * size_of::<DriverValue>()
            + PoseSpaceScratch::new(&self.bind).bytes()
    }
    fn device(&self, _context: &BindContext<'_>) -> Option<DeviceNode> {
        Some(device::node(&self.bind))
    }
    fn write_device_frame(&self, frame: &DeviceFrame<'_>, data: &mut DeviceFrameData<'_>) {
        device::write_frame(&self.bind, &self.joints, frame, data);
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let weight = MaskWeight::from_context(&context);
        let (Some(scratch), Some(pose)) = (
            context.scratch.downcast_mut::<Scratch>(),
            context.inputs.pose("pose"),
        ) else {
            return;
        };
        for (joint, value) in scratch.values.iter_mut().enumerate() {
            *value = self.joints.value(pose, joint);
        }
        PoseSpaceJob {
            bind: &self.bind,
            values: &scratch.values,
            weight,
            scratch: &mut scratch.frame,
            input: context.inputs.mesh("mesh"),
            output: context.outputs.mesh("mesh"),
            par: context.par,
        }
        .run();
    }
}
