//! Node `drive_joints`: weights of poses, and other joints, move helper joints.

mod bind;
mod decompose;
mod desc;
mod follower;
mod reference;
#[cfg(test)]
mod tests;

use crate::{BindContext, BoundNode, NodeError, Parameters, UpdateContext};
use sinew_geom::{LocalTransform, Pose};

#[cfg(test)]
pub(crate) use bind::DriveJointsError;
pub(crate) use bind::{
    DriveJointsBind, DriveJointsConfig, JointPose, JointSpace, RotationBlend, SHEAR_TOLERANCE,
    Sheared,
};
pub use desc::DESC;
pub use follower::{Follower, TwistAxis};

/// One frame of work.
#[derive(Debug)]
pub(crate) struct DriveJointsJob<'a> {
    /// From setup.
    pub bind: &'a DriveJointsBind,
    /// As many as [`DriveJointsConfig::poses`], in that order; 1 is the whole pose.
    pub weights: &'a [f32],
    /// A pose of the rig that was bound; of driven joints and followers only what they keep of it is read.
    pub input: &'a Pose,
    /// Another one of that rig, to write.
    pub output: &'a mut Pose,
}

impl DriveJointsJob<'_> {
    /// Runs the job, in time linear in nodes and in poses times driven joints; allocates nothing. Nothing is written where
    /// counts do not fit what was bound.
    pub(crate) fn run(self) {
        let Self {
            bind,
            weights,
            input,
            output,
        } = self;
        if weights.len() != bind.weight_count || !bind.fits(input) || !bind.fits(output) {
            return;
        }
        output.locals.copy_from_slice(&input.locals);
        output.morph_weights.copy_from_slice(&input.morph_weights);
        for joint in &bind.joints {
            output.locals[joint.node] = LocalTransform::Trs(joint.blend(weights));
        }
        for &(node, rest) in &bind.followers_at_rest {
            let mut trs = decompose::trs_of(&output.locals[node]).with_signs_of(rest.scale);
            trs.rotation = rest.rotation;
            output.locals[node] = LocalTransform::Trs(trs);
        }
        for follower in &bind.followers {
            follower.follow(&mut output.locals);
        }
        bind.rig.finish(output);
    }
}

fn bind_node(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let rig = context.rig("pose")?;
    let weight_count = context.value_count("weights");
    let bind = DriveJointsBind::new(rig, &config(context), weight_count.unwrap_or(0));
    let bind = bind.map_err(|e| NodeError::Bind(Box::new(e)))?;
    for far in bind.far_from_rest() {
        context.warn(far);
    }
    Ok(Box::new(BoundDriveJoints(bind)))
}

fn config<'a>(context: &BindContext<'a>) -> DriveJointsConfig<'a> {
    let p = context.parameters;
    let pose = |r: Parameters<'a>| JointPose {
        name: r.text("name"),
        joints: r.transforms("joints"),
    };
    let follower = |r: Parameters<'a>| Follower {
        joint: r.text("joint"),
        source: r.text("source"),
        axis: match r.text("axis") {
            "y" => TwistAxis::Y,
            "z" => TwistAxis::Z,
            _ => TwistAxis::X,
        },
        twist: r.float("twist"),
        swing: r.float("swing"),
    };
    DriveJointsConfig {
        joints: p.texts("joints"),
        poses: p.records("poses").map(pose).collect(),
        neutral: p.transforms("neutral"),
        space: match p.text("space") {
            "parent" => JointSpace::Parent,
            _ => JointSpace::Rest,
        },
        rotation: match p.text("rotation") {
            "nlerp" => RotationBlend::Nlerp,
            _ => RotationBlend::Log,
        },
        sheared: match p.text("sheared") {
            "nearest" => Sheared::Nearest,
            _ => Sheared::Error,
        },
        followers: p.records("followers").map(follower).collect(),
    }
}

#[derive(Debug)]
struct BoundDriveJoints(DriveJointsBind);

impl BoundNode for BoundDriveJoints {
    fn setup_bytes(&self) -> usize {
        self.0.bytes()
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let (Some(input), Some(output)) =
            (context.inputs.pose("pose"), context.outputs.pose("pose"))
        else {
            return;
        };
        DriveJointsJob {
            bind: &self.0,
            weights: context.inputs.floats("weights").unwrap_or_default(),
            input,
            output,
        }
        .run();
    }
}
