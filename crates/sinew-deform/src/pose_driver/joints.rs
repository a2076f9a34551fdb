//! What driver joints show in a pose.

use super::DriverValue;
use sinew_geom::nalgebra::Rotation3;
use sinew_geom::{Affine, LocalTransform, Mat3, Pose, Quat, Rig, Trs};

/// What a joint's rotation and place are relative to.
#[derive(Clone, Debug)]
pub(super) enum Space {
    Parent,
    /// The inverse of each joint's rest transform.
    Rest(Vec<Trs>),
    /// Seen from the node of that index.
    Node(usize),
}

/// The driver joints of a rig.
#[derive(Clone, Debug)]
pub(super) struct Joints {
    /// Indices of nodes.
    pub(super) nodes: Vec<usize>,
    pub(super) space: Space,
}

impl Joints {
    /// Reads `joint`, an index into [`Self::nodes`].
    pub(super) fn value(&self, pose: &Pose, joint: usize) -> DriverValue {
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
                value_of(&(back.unwrap_or_default() * to.unwrap_or_default()))
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
        Some(LocalTransform::Matrix(m)) => value_of(m),
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
            } = value_of(&m);
            Trs {
                rotation,
                translation,
                ..Trs::default()
            }
        }
        None => Trs::default(),
    }
}

/// Place and rotation of a transform; the rotation is that of its first axis and of the plane of the first two, so that scale does not
/// matter.
pub(super) fn value_of(a: &Affine<f64>) -> DriverValue {
    DriverValue {
        rotation: rotation_of(&a.linear),
        translation: a.translation,
    }
}

fn rotation_of(m: &Mat3<f64>) -> Quat<f64> {
    const FLAT: f64 = 1e-12;
    // A mirrored transform has its rotation after the mirror of all axes.
    let m = if m.determinant() < 0.0 { -m } else { *m };
    let x = m.column(0).into_owned().try_normalize(FLAT);
    let y = x.and_then(|x| {
        let y = m.column(1).into_owned();
        (y - x * x.dot(&y)).try_normalize(FLAT)
    });
    let (Some(x), Some(y)) = (x, y) else {
        return Quat::identity();
    };
    let axes = Mat3::from_columns(&[x, y, x.cross(&y)]);
    Quat::from_rotation_matrix(&Rotation3::from_matrix_unchecked(axes))
}
