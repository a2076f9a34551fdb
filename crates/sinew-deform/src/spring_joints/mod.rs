//! Node `spring_joints`: joints that follow their animation with inertia.

mod follower;
#[cfg(test)]
mod tests;

use crate::collide::ports::RESET;
use crate::pose_driver::{choice, find_node};
use crate::spring::follower::Step;
use crate::spring::{DAMPING, FREQUENCY, PRESETS};
use crate::{
    BindContext, BoundNode, Choice, Example, NodeDesc, NodeDocs, NodeError, NodeKind, NodeScratch,
    ParameterDesc, PortDesc, PortType, UpdateContext,
};
use follower::{JointFollower, NUMBERS};
use sinew_geom::{Affine, LocalTransform, Pose, Rig};
use std::sync::Arc;

const MOTIONS: &[Choice] = &[
    choice("both", "Position and rotation lag behind."),
    choice(
        "rotation",
        "The rotation lags behind; the joint stays attached to its parent.",
    ),
    choice(
        "position",
        "The position lags behind; the rotation is that of the animation.",
    ),
];

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "spring_joints",
    kind: NodeKind::Solver,
    summary: "Joints that follow their animation like weights on damped springs: they lag, overshoot and settle.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "spring_joints",
            graph: include_str!("spring_joints.json"),
            sample: "arm",
            before: "linear",
            frame: 15,
        }])
        .presets(PRESETS),
    rows: &[],
    inputs: &[PortDesc::input(
        "pose",
        PortType::Pose,
        "The animated pose.",
    )],
    outputs: &[PortDesc::output(
        "pose",
        PortType::Pose,
        "The pose with the joints where they are by now, and what is attached to them.",
    )],
    parameters: &[
        ParameterDesc::texts("joints", "Names of the joints that swing."),
        ParameterDesc::choice("motion", "both", MOTIONS, "What lags behind."),
        FREQUENCY,
        DAMPING,
        RESET,
    ],
    bind: bind_node,
    restore: None,
};

#[derive(Debug)]
struct SpringJoints {
    rig: Arc<Rig>,
    /// Nodes in the order of the rig: parents first.
    joints: Vec<usize>,
    rotates: bool,
    moves: bool,
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let rig = context.rig("pose")?;
    let names = context.parameters.texts("joints").iter();
    let joints = names.map(|name| find_node(rig, "joints", name));
    let mut joints = joints.collect::<Result<Vec<usize>, _>>()?;
    joints.sort_unstable();
    joints.dedup();
    let motion = context.parameters.text("motion");
    Ok(Box::new(SpringJoints {
        rig: Arc::new(rig.clone()),
        joints,
        rotates: motion != "position",
        moves: motion != "rotation",
    }))
}

impl SpringJoints {
    /// Where the parent of a node is, by the locals of the pose.
    fn scene_from_parent(&self, pose: &Pose, node: usize) -> Affine<f64> {
        let parent = |node: usize| self.rig.nodes().get(node)?.parent;
        let mut out = Affine::identity();
        let mut next = parent(node);
        while let Some(above) = next {
            let local = pose.locals.get(above).map(LocalTransform::to_affine);
            out = local.unwrap_or_default() * out;
            next = parent(above);
        }
        out
    }

    /// Puts the joints where their followers are.
    fn place(&self, followers: &[JointFollower], input: &Pose, output: &mut Pose) {
        output.clone_from(input);
        for (&node, follower) in self.joints.iter().zip(followers) {
            let (Some(local), Some(target)) =
                (input.locals.get(node), input.scene_from_node.get(node))
            else {
                continue;
            };
            let scene_from_parent = self.scene_from_parent(output, node);
            let mut scene = scene_from_parent * local.to_affine();
            if self.rotates {
                scene.linear = follower.turn().to_rotation_matrix().into_inner() * target.linear;
            }
            if self.moves {
                scene.translation = follower.position();
            }
            // In a parent that is flat the joint stays as it is.
            if let Some(back) = scene_from_parent.inverse()
                && let Some(out) = output.locals.get_mut(node)
            {
                *out = LocalTransform::Matrix(back * scene);
            }
        }
        self.rig.finish(output);
    }
}

impl BoundNode for SpringJoints {
    fn setup_bytes(&self) -> usize {
        size_of_val(self.rig.nodes())
    }
    fn new_scratch(&self) -> Box<NodeScratch> {
        Box::new(vec![JointFollower::default(); self.joints.len()])
    }
    fn scratch_bytes(&self) -> usize {
        self.joints.len() * size_of::<JointFollower>()
    }
    fn save_state(&self, scratch: &NodeScratch) -> Vec<u8> {
        let followers = scratch.downcast_ref::<Vec<JointFollower>>();
        let numbers = followers.into_iter().flatten().flat_map(|f| f.numbers());
        numbers.flat_map(f64::to_le_bytes).collect()
    }
    fn restore_state(&self, bytes: &[u8], scratch: &mut NodeScratch) -> Result<(), NodeError> {
        let wrong = |message: String| Err(NodeError::Restore(message));
        let Some(followers) = scratch.downcast_mut::<Vec<JointFollower>>() else {
            return wrong("this node has no state".into());
        };
        let (numbers, rest) = bytes.as_chunks::<8>();
        let (groups, more) = numbers.as_chunks::<NUMBERS>();
        if groups.len() != followers.len() || !rest.is_empty() || !more.is_empty() {
            let expected = 8 * NUMBERS * followers.len();
            let found = bytes.len();
            return wrong(format!(
                "found {found} bytes of joints, expected {expected}"
            ));
        }
        let read: Option<Vec<JointFollower>> = groups
            .iter()
            .map(|group| JointFollower::read(group.map(f64::from_le_bytes)))
            .collect();
        match read {
            Some(read) => {
                *followers = read;
                Ok(())
            }
            None => wrong("the place, rotation or speed of a joint is not finite".into()),
        }
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let (Some(followers), Some(input), Some(output)) = (
            context.scratch.downcast_mut::<Vec<JointFollower>>(),
            context.inputs.pose("pose"),
            context.outputs.pose("pose"),
        ) else {
            return;
        };
        let p = context.parameters;
        let begins = context.is_first || context.dt_secs < 0.0 || p.bool("reset");
        let step = Step::new(p.float("frequency"), p.float("damping"), context.dt_secs);
        for (&node, follower) in self.joints.iter().zip(followers.iter_mut()) {
            match input.scene_from_node.get(node) {
                Some(target) if target.is_finite() && begins => {
                    *follower = JointFollower::at_rest(target);
                }
                Some(target) if target.is_finite() => follower.follow(target, &step),
                _ => {}
            }
        }
        self.place(followers, input, output);
    }
}
