//! A position and a rotation that follow others.
//!
//! Positions follow axis by axis. A rotation follows by its rotation vector from the target, which is the same as a number that follows
//! where both turn about one axis.

use crate::pose_driver::DriverValue;
use crate::spring::follower::{Follower, Step};
use sinew_geom::{Affine, Quat, Vec3};

/// Numbers of the state of a joint.
pub(super) const NUMBERS: usize = 20;

/// One joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct JointFollower {
    position: [Follower; 3],
    rotation: Quat<f64>,
    /// Of the rotation: a vector in scene space, radians per second.
    spin: Vec3<f64>,
    /// The rotation of the target at the end of the frame before.
    target: Quat<f64>,
}

impl JointFollower {
    pub(super) fn at_rest(target: &Affine<f64>) -> Self {
        let value = DriverValue::from(target);
        Self {
            position: <[f64; 3]>::from(value.translation).map(Follower::at_rest),
            rotation: value.rotation,
            spin: Vec3::zeros(),
            target: value.rotation,
        }
    }

    /// One frame, in which the target moves and turns evenly to `target`.
    pub(super) fn follow(&mut self, target: &Affine<f64>, step: &Step) {
        let value = DriverValue::from(target);
        let to: [f64; 3] = value.translation.into();
        for (axis, to) in self.position.iter_mut().zip(to) {
            axis.follow(to, step);
        }
        let moved = (value.rotation * self.target.inverse()).scaled_axis();
        // Beside the target where it is now, and thus by `moved` more beside where it was.
        let beside = (self.rotation * value.rotation.inverse()).scaled_axis() + moved;
        let mut after = Vec3::zeros();
        for axis in 0..3 {
            [after[axis], self.spin[axis]] = step.apply(beside[axis], self.spin[axis], moved[axis]);
        }
        self.rotation = Quat::from_scaled_axis(after) * value.rotation;
        self.target = value.rotation;
    }

    pub(super) fn position(&self) -> Vec3<f64> {
        Vec3::from(self.position.map(|axis| axis.place))
    }

    /// From the rotation of the target to that of the follower, in scene space.
    pub(super) fn turn(&self) -> Quat<f64> {
        self.rotation * self.target.inverse()
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = f64> {
        let position = self.position.into_iter().flat_map(|axis| axis.numbers());
        let rotation: [f64; 4] = self.rotation.coords.into();
        let target: [f64; 4] = self.target.coords.into();
        let spin: [f64; 3] = self.spin.into();
        position.chain(rotation).chain(spin).chain(target)
    }

    /// What [`Self::numbers`] gave; `None` if a number is not finite or a rotation has no length.
    pub(super) fn read(numbers: [f64; NUMBERS]) -> Option<Self> {
        let [position @ .., a, b, c, d, x, y, z, e, f, g, h] = numbers;
        let quaternion =
            |q: [f64; 4]| Quat::try_new(sinew_geom::nalgebra::Quaternion::from(q), 0.5);
        let finite = numbers.iter().all(|n| n.is_finite());
        let (axes, _) = position.as_chunks::<3>();
        let read = Self {
            position: <[[f64; 3]; 3]>::try_from(axes).ok()?.map(Follower::from),
            rotation: quaternion([a, b, c, d])?,
            spin: Vec3::new(x, y, z),
            target: quaternion([e, f, g, h])?,
        };
        finite.then_some(read)
    }
}
