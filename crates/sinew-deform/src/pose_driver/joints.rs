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
            Space::Parent => local_value(pose, node),
            Space::Rest(rest) => {
                let (now, rest) = (local_value(pose, node), &rest[joint]);
                let back = rest.rotation.inverse();
                DriverValue {
                    rotation: back * now.rotation,
                    translation: back * (now.translation - rest.translation),
                }
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

fn local_value(pose: &Pose, node: usize) -> DriverValue {
    match pose.locals.get(node) {
        Some(LocalTransform::Trs(t)) => DriverValue {
            rotation: t.rotation,
            translation: t.translation,
        },
        Some(LocalTransform::Matrix(m)) => DriverValue::from(m),
        None => DriverValue::rotation(Quat::identity()),
    }
}

/// Rest transform of a node, without scale.
pub(super) fn rest_of(rig: &Rig, node: usize) -> Trs {
    match rig.nodes().get(node).map(|n| n.local) {
        Some(LocalTransform::Trs(t)) => t,
        Some(LocalTransform::Matrix(m)) => {
            let DriverValue {
                rotation,
                translation,
            } = DriverValue::from(&m);
            Trs {
                rotation,
                translation,
                ..Trs::default()
            }
        }
        None => Trs::default(),
    }
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
