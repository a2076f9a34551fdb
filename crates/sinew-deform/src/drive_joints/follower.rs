//! Joints that follow a share of another joint's twist and swing.

use sinew_geom::nalgebra::Quaternion;
use sinew_geom::{LocalTransform, Quat, Rig, Vec3};

/// Axis of a joint's own frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TwistAxis {
    /// `(1, 0, 0)`.
    #[default]
    X,
    /// `(0, 1, 0)`.
    Y,
    /// `(0, 0, 1)`.
    Z,
}

impl TwistAxis {
    /// As a unit vector.
    pub fn vector(self) -> Vec3<f64> {
        match self {
            Self::X => Vec3::x(),
            Self::Y => Vec3::y(),
            Self::Z => Vec3::z(),
        }
    }
}

/// A joint that follows the rotation of another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Follower<'a> {
    /// The joint that follows.
    pub joint: &'a str,
    /// Name of the joint whose rotation it follows.
    pub source: &'a str,
    /// Axis of the twist, in the frame of the source at rest.
    pub axis: TwistAxis,
    /// Share of the twist; 1 is all of it, negative numbers rotate the other way.
    pub twist: f64,
    /// Share of the swing.
    pub swing: f64,
}

/// Projections on the twist axis that are shorter say no angle: the swing is half a turn.
const SHORTEST_TWIST: f64 = 1e-9;

/// `q = swing * twist`, twist first: `twist` turns about the unit vector `axis`, the axis of `swing` is at a right angle to it.
/// Neither depends on the sign of `q` as a rotation.
pub(super) fn swing_twist(q: Quat<f64>, axis: Vec3<f64>) -> (Quat<f64>, Quat<f64>) {
    let along = axis * q.imag().dot(&axis);
    let twist = Quat::try_new(Quaternion::from_parts(q.w, along), SHORTEST_TWIST)
        .unwrap_or(Quat::identity());
    (q * twist.inverse(), twist)
}

/// A share of a rotation along the shorter way.
fn share(q: Quat<f64>, of: f64) -> Quat<f64> {
    Quat::from_scaled_axis(q.scaled_axis() * of)
}

#[derive(Clone, Debug)]
pub(super) struct BoundFollower {
    pub(super) node: usize,
    pub(super) source: usize,
    /// Inverse of the source's local rotation at rest.
    pub(super) rest_from_source: Quat<f64>,
    /// The source's local scale at rest, for its signs.
    pub(super) source_scale: Vec3<f64>,
    /// From the frame of the source to that of the follower, both at rest.
    pub(super) follower_from_source: Quat<f64>,
    pub(super) axis: Vec3<f64>,
    pub(super) twist: f64,
    pub(super) swing: f64,
}

impl BoundFollower {
    /// Turns the follower on from where it is.
    pub(super) fn follow(&self, locals: &mut [LocalTransform]) {
        let source = super::decompose::trs_of(&locals[self.source]);
        // A clip may have other signs of scale than the rest pose for one and the same transform.
        let turn = self.rest_from_source * source.with_signs_of(self.source_scale).rotation;
        let (swing, twist) = swing_twist(turn, self.axis);
        let turn = share(swing, self.swing) * share(twist, self.twist);
        let change = self.follower_from_source * turn * self.follower_from_source.inverse();
        let mut trs = super::decompose::trs_of(&locals[self.node]);
        trs.rotation *= change;
        locals[self.node] = LocalTransform::Trs(trs);
    }
}

/// Rotation of a node's frame at rest, in the scene; scales do not count.
pub(super) fn rest_rotation(rig: &Rig, node: usize) -> Quat<f64> {
    let mut rotation = Quat::identity();
    let mut next = Some(node);
    while let Some(node) = next.and_then(|n| rig.nodes().get(n)) {
        rotation = super::decompose::trs_of(&node.local).rotation * rotation;
        next = node.parent;
    }
    rotation
}
