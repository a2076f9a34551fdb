//! What driver joints show in a pose.

use super::DriverValue;
use sinew_geom::{Affine, LocalTransform, ORTHOGONAL_TOLERANCE, Pose, Quat, Rig, Trs};

/// What a joint's rotation and place are relative to.
#[derive(Clone, Debug)]
pub(crate) enum Space {
    Parent,
    /// The inverse of each joint's rest transform.
    Rest(Vec<Trs>),
    /// Seen from the node of that index.
    Node(usize),
    Scene,
}

/// The driver joints of a rig.
#[derive(Clone, Debug)]
pub(crate) struct Joints {
    /// Indices of nodes.
    pub(crate) nodes: Vec<usize>,
    pub(crate) space: Space,
}

impl Joints {
    /// Reads `joint`, an index into [`Self::nodes`].
    pub(crate) fn value(&self, pose: &Pose, joint: usize) -> DriverValue {
        let node = self.nodes[joint];
        match &self.space {
            Space::Parent => value_of(&local(pose, node).in_one_form()),
            Space::Rest(rest) => {
                let rest = &rest[joint];
                // With the signs of rest: the turn is about the joint's axes as the file of the rig has them.
                let now = value_of(&local(pose, node).with_signs_of(rest.scale));
                let back = rest.rotation.inverse();
                DriverValue {
                    rotation: back * now.rotation,
                    translation: back * (now.translation - rest.translation),
                }
            }
            Space::Scene => {
                let here = pose.scene_from_node.get(node).copied();
                DriverValue::from(&here.unwrap_or_default())
            }
            Space::Node(reference) => {
                let from = pose.scene_from_node.get(*reference).copied();
                let to = pose.scene_from_node.get(node).copied();
                let back = from.unwrap_or_default().inverse();
                DriverValue::from(&(back.unwrap_or_default() * to.unwrap_or_default()))
            }
        }
    }
}

/// A node's transform in the space of its parent.
fn local(pose: &Pose, node: usize) -> Trs {
    pose.locals.get(node).map_or_else(Trs::default, trs_of)
}

/// Rest transform of a node.
pub(crate) fn rest_of(rig: &Rig, node: usize) -> Trs {
    let node = rig.nodes().get(node);
    node.map_or_else(Trs::default, |n| trs_of(&n.local))
}

/// Of a matrix the nearest one.
fn trs_of(local: &LocalTransform) -> Trs {
    let matrix = match local {
        LocalTransform::Trs(trs) => return *trs,
        LocalTransform::Matrix(matrix) => matrix,
    };
    let parts = matrix.decompose(ORTHOGONAL_TOLERANCE);
    parts.map_or_else(
        |_| Trs {
            translation: matrix.translation,
            ..Trs::default()
        },
        |d| Trs {
            translation: d.translation,
            rotation: d.rotation,
            scale: d.scale,
        },
    )
}

fn value_of(trs: &Trs) -> DriverValue {
    DriverValue {
        rotation: trs.rotation,
        translation: trs.translation,
    }
}

/// What a pose of the document says of each joint.
///
/// In the space of the parent a pose may leave out the scale of a joint that mirrors: then its rotation is meant as the file of the rig has
/// it, beside its negative scale.
pub(crate) fn pose_values(joints: &[Affine<f64>], driver: &Joints, rig: &Rig) -> Vec<DriverValue> {
    let values = joints.iter().enumerate().map(|(index, joint)| {
        let mut value = DriverValue::from(joint);
        let node = driver.nodes.get(index);
        let rest = node.map_or_else(Trs::default, |&node| rest_of(rig, node));
        let without_scale = joint.linear.determinant() > 0.0 && rest.mirrors();
        if matches!(driver.space, Space::Parent) && without_scale {
            let meant = Trs {
                rotation: value.rotation,
                ..rest
            };
            value.rotation = meant.in_one_form().rotation;
        }
        value
    });
    values.collect()
}

/// Place and rotation of a transform: its scale does not matter; one that shears has the nearest rotation, one that is not finite none.
impl From<&Affine<f64>> for DriverValue {
    fn from(a: &Affine<f64>) -> Self {
        let parts = a.decompose(ORTHOGONAL_TOLERANCE);
        Self {
            rotation: parts.map_or(Quat::identity(), |d| d.rotation),
            translation: a.translation,
        }
    }
}
