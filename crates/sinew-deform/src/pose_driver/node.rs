//! The node: joints in, weights out.

use super::joints::{Joints, Space, pose_values, rest_of};
use super::{
    DriverPose, DriverValue, PoseDriverBind, PoseDriverJob, PoseDriverScratch, PoseDriverSettings,
};
use crate::names::instead_of;
use crate::{BindContext, BoundNode, NodeError, NodeScratch, Parameters, UpdateContext};
use sinew_geom::{Quat, Rig};

pub(super) fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let rig = context.rig("pose")?;
    if context.parameters.texts("joints").is_empty() {
        return without_joints(context);
    }
    let mut settings = PoseDriverSettings::read(&context.parameters)?;
    let joints = driver_joints(rig, &context.parameters)?;
    let records: Vec<Parameters<'_>> = context.parameters.records("poses").collect();
    for (pose, &place) in settings.driver.poses.iter_mut().zip(&settings.places) {
        if let Some(record) = records.get(place) {
            pose.values = pose_values(record.transforms("joints"), &joints, rig);
        }
    }
    for far in far_from_rest(&settings.driver.poses, &joints, rig) {
        context.warn(far);
    }
    let bind = PoseDriverBind::new(&settings.driver).map_err(|e| NodeError::Bind(Box::new(e)))?;
    Ok(Box::new(BoundPoseDriver {
        bind,
        joints,
        places: settings.places,
        pose_count: settings.pose_count,
    }))
}

/// Rotations further from rest are far.
const FAR_DEGREES: f64 = 45.0;

/// Warnings about joints that no pose has near rest: mostly poses in the other space.
pub(super) fn far_from_rest(poses: &[DriverPose], joints: &Joints, rig: &Rig) -> Vec<String> {
    let other = match joints.space {
        Space::Rest(_) => "relative to rest; with \"space\": \"parent\", relative to the parent",
        Space::Parent => "relative to the parent; with \"space\": \"rest\", relative to rest",
        Space::Node(_) | Space::Scene => return Vec::new(),
    };
    let at_rest = rig.rest_pose();
    let far = joints.nodes.iter().enumerate().filter_map(|(joint, &node)| {
        let rest = joints.value(&at_rest, joint).rotation;
        let away = |p: &DriverPose| p.values.get(joint).map(|v| rest.angle_to(&v.rotation));
        let all = poses.iter().filter_map(|p| Some((away(p)?.to_degrees(), &p.name)));
        let (degrees, pose) = all.min_by(|a, b| a.0.total_cmp(&b.0))?;
        let name = &rig.nodes().get(node)?.name;
        (degrees > FAR_DEGREES).then(|| {
            format!("joint '{name}': pose '{pose}' is the pose nearest to rest and is {degrees:.1} degrees away from it, expected a neutral pose near rest; rotations are {other}")
        })
    });
    far.collect()
}

/// What the parameters `joints`, `space` and `reference` name in the rig.
pub(crate) fn driver_joints(rig: &Rig, parameters: &Parameters<'_>) -> Result<Joints, NodeError> {
    let nodes = parameters.texts("joints").iter();
    let nodes: Vec<usize> = nodes
        .map(|name| find_node(rig, "joints", name))
        .collect::<Result<_, _>>()?;
    let space = match parameters.text("space") {
        "rest" => Space::Rest(nodes.iter().map(|&n| rest_of(rig, n)).collect()),
        "joint" => Space::Node(find_node(rig, "reference", parameters.text("reference"))?),
        _ => Space::Parent,
    };
    Ok(Joints { nodes, space })
}

/// Without poses, too, there is nothing to weigh: what a document begins with.
fn without_joints(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    if context.parameters.records("poses").len() == 0 {
        return Ok(Box::new(NoWeights));
    }
    Err(NodeError::Parameter {
        name: "joints",
        found: "none".into(),
        expected: "the names of one or more driver joints".into(),
    })
}

/// The node of that name.
pub(crate) fn find_node(
    rig: &Rig,
    parameter: &'static str,
    name: &str,
) -> Result<usize, NodeError> {
    let names = rig.nodes().iter().map(|n| n.name.as_str());
    rig.find_node(name).ok_or_else(|| NodeError::Parameter {
        name: parameter,
        found: format!("'{name}'"),
        expected: format!("a joint of the rig; {}", instead_of(name, names)),
    })
}

/// A driver without joints and poses.
#[derive(Debug)]
struct NoWeights;

impl BoundNode for NoWeights {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn update(&self, _context: UpdateContext<'_>) {}
}

#[derive(Debug)]
struct BoundPoseDriver {
    bind: PoseDriverBind,
    joints: Joints,
    places: Vec<usize>,
    /// Those that do not take part, too.
    pose_count: usize,
}

#[derive(Debug)]
struct Scratch {
    values: Vec<DriverValue>,
    driver: PoseDriverScratch,
    weights: Vec<f32>,
}

impl BoundNode for BoundPoseDriver {
    fn setup_bytes(&self) -> usize {
        self.bind.bytes()
    }
    fn output_len(&self, _port: &str) -> usize {
        self.pose_count
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(Scratch {
            values: vec![DriverValue::rotation(Quat::identity()); self.bind.joint_count()],
            driver: PoseDriverScratch::new(&self.bind),
            weights: vec![0.0; self.bind.pose_count()],
        })
    }
    fn scratch_bytes(&self) -> usize {
        self.bind.joint_count() * size_of::<DriverValue>()
            + PoseDriverScratch::new(&self.bind).bytes()
            + self.bind.pose_count() * size_of::<f32>()
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let (Some(scratch), Some(pose), Some(out)) = (
            context.scratch.downcast_mut::<Scratch>(),
            context.inputs.pose("pose"),
            context.outputs.floats("weights"),
        ) else {
            return;
        };
        for (joint, value) in scratch.values.iter_mut().enumerate() {
            *value = self.joints.value(pose, joint);
        }
        PoseDriverJob {
            bind: &self.bind,
            values: &scratch.values,
            scratch: &mut scratch.driver,
            weights: &mut scratch.weights,
        }
        .run();
        out.fill(0.0);
        for (&place, weight) in self.places.iter().zip(&scratch.weights) {
            if let Some(out) = out.get_mut(place) {
                *out = *weight;
            }
        }
    }
}
