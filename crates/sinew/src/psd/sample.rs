//! Samples a driver's weights between its poses: along arcs, and over the directions of a joint.

use crate::deform::pose_driver::{DriverValue, Metric, PoseDriver, PoseDriverBind};
use crate::geom::{Quat, Vec3};
use std::f64::consts::PI;

/// Error of sampling a driver.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// The pose does not exist.
    #[error("found no pose {index}; the driver has {poses} poses")]
    Pose {
        /// Its index.
        index: usize,
        /// Number of poses.
        poses: usize,
    },
    /// The joint does not exist.
    #[error("found no driver joint {index}; the driver has {joints} joints")]
    Joint {
        /// Its index.
        index: usize,
        /// Number of joints.
        joints: usize,
    },
    /// An arc needs two poses.
    #[error("found {found} poses for an arc, expected 2 or more")]
    Stops {
        /// Number of poses.
        found: usize,
    },
    /// Positions have no directions.
    #[error("metric 'position' has no directions; sample along arcs instead")]
    Places,
}

/// Interpolates two sets of driver values: rotations by slerp on the shortest arc, positions linearly. `part` is 0 at
/// `from` and 1 at `to`. For rotations 180 degrees apart, chooses one of the possible axes.
pub(crate) fn between(from: &[DriverValue], to: &[DriverValue], part: f64) -> Vec<DriverValue> {
    let pairs = from.iter().zip(to);
    pairs
        .map(|(a, b)| DriverValue {
            rotation: a.rotation * part_of(&shortest(a, b), part),
            translation: a.translation + (b.translation - a.translation) * part,
        })
        .collect()
}

/// The rotation from `a` to `b`, by at most 180 degrees.
fn shortest(a: &DriverValue, b: &DriverValue) -> Quat<f64> {
    let turn = a.rotation.inverse() * b.rotation;
    if turn.w < 0.0 {
        Quat::new_unchecked(-turn.into_inner())
    } else {
        turn
    }
}

fn part_of(turn: &Quat<f64>, part: f64) -> Quat<f64> {
    Quat::from_scaled_axis(turn.scaled_axis() * part)
}

/// Distance between two sets of values: the angle in radians, or metres for metric `position`. With several joints, the
/// root of the sum of squares.
pub(crate) fn travel(driver: &PoseDriver, from: &[DriverValue], to: &[DriverValue]) -> f64 {
    let is_place = driver.metric == Metric::Position;
    let of_joint = |(a, b): (&DriverValue, &DriverValue)| {
        if is_place {
            (b.translation - a.translation).norm()
        } else {
            shortest(a, b).angle()
        }
    };
    let squares = from.iter().zip(to).map(of_joint).map(|d| d * d);
    squares.sum::<f64>().sqrt()
}

/// Weights along arcs from pose to pose.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ArcSamples {
    /// Indices of the poses along the path, with their distance from its start.
    pub stops: Vec<(usize, f64)>,
    /// Distance of each sample from the start, increasing; radians, or metres if [`Self::in_metres`].
    pub at: Vec<f64>,
    /// True if distances are in metres.
    pub in_metres: bool,
    /// For each pose, its weight at each sample.
    pub weights: Vec<Vec<f64>>,
}

/// Stage at which weights are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Weights of the solver, before limits, curves, normalization and threshold.
    Solved,
    /// Weights of the node.
    Final,
}

impl Stage {
    fn weights(self, bind: &PoseDriverBind, values: &[DriverValue]) -> Vec<f64> {
        match self {
            Self::Solved => bind.unlimited_weights(values),
            Self::Final => bind.weights(values),
        }
    }
}

/// Samples the path through `stops` (indices of the driver's poses), with `steps` equal steps per arc (1 if 0). `bind`
/// is `driver`, bound. Cost: `O(stops steps n²)`.
///
/// # Errors
/// [`SampleError::Stops`], [`SampleError::Pose`].
pub fn along_arcs(
    driver: &PoseDriver,
    bind: &PoseDriverBind,
    stops: &[usize],
    steps: usize,
    stage: Stage,
) -> Result<ArcSamples, SampleError> {
    let poses = driver.poses.len();
    if let Some(&index) = stops.iter().find(|&&s| s >= poses) {
        return Err(SampleError::Pose { index, poses });
    }
    let [first, ..] = stops else {
        return Err(SampleError::Stops { found: 0 });
    };
    if stops.len() < 2 {
        return Err(SampleError::Stops { found: 1 });
    }
    let mut out = ArcSamples {
        stops: vec![(*first, 0.0)],
        at: Vec::new(),
        in_metres: driver.metric == Metric::Position,
        weights: vec![Vec::new(); poses],
    };
    let mut start = 0.0;
    out.push(start, &stage.weights(bind, &driver.poses[*first].values));
    for (&from, &to) in stops.iter().zip(&stops[1..]) {
        let ends = [from, to].map(|pose| driver.poses[pose].values.as_slice());
        let length = travel(driver, ends[0], ends[1]);
        for step in 1..=steps.max(1) {
            let part = share(step, steps.max(1));
            let values = between(ends[0], ends[1], part);
            out.push(start + length * part, &stage.weights(bind, &values));
        }
        start += length;
        out.stops.push((to, start));
    }
    Ok(out)
}

fn share(step: usize, steps: usize) -> f64 {
    step as f64 / steps as f64
}

impl ArcSamples {
    fn push(&mut self, at: f64, weights: &[f64]) {
        self.at.push(at);
        for (curve, weight) in self.weights.iter_mut().zip(weights) {
            curve.push(*weight);
        }
    }
}

/// Weights over the directions of a joint's axis, on an equal-area map (Lambert's azimuthal projection) of the whole
/// sphere.
///
/// The centre is the direction of the axis in the first pose. A direction at an angle θ from it is `sin(θ/2)` away from
/// the centre; the rim, at 1, is the opposite direction. The view is from outside towards the joint, with y up (z up if
/// the centre is along y).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DirectionSamples {
    /// Samples along each side of the square around the map.
    pub side: usize,
    /// For each pose, its weight at each sample, row by row from the top; NaN outside the map.
    pub weights: Vec<Vec<f64>>,
    /// Direction of each pose, `[right, up]`, each -1 to 1.
    pub poses: Vec<[f64; 2]>,
}

/// Distance from the centre of a direction at an angle (radians) from the centre direction.
pub fn map_radius(angle: f64) -> f64 {
    (angle * 0.5).sin()
}

/// Samples all directions of one driver joint. It swings from its first pose without twist; all other joints stay in
/// their first pose. `side` is the number of samples across the map. `bind` is `driver`, bound. Cost: `O(side² n²)`.
///
/// # Errors
/// [`SampleError::Joint`], [`SampleError::Places`]; without poses, [`SampleError::Stops`].
pub fn over_directions(
    driver: &PoseDriver,
    bind: &PoseDriverBind,
    joint: usize,
    side: usize,
) -> Result<DirectionSamples, SampleError> {
    let first = driver.poses.first();
    let first = first.ok_or(SampleError::Stops { found: 0 })?;
    if driver.metric == Metric::Position {
        return Err(SampleError::Places);
    }
    let joints = first.values.len();
    let rest = first.values.get(joint).copied();
    let rest = rest.ok_or(SampleError::Joint {
        index: joint,
        joints,
    })?;
    let axis = driver.axis.normalize();
    let view = View::towards(rest.rotation * axis);
    let mut values = first.values.clone();
    let mut weights = vec![Vec::with_capacity(side * side); driver.poses.len()];
    for row in 0..side {
        for column in 0..side {
            let center = |i: usize| (share(2 * i + 1, side) - 1.0).clamp(-1.0, 1.0);
            let Some(to) = view.direction([center(column), -center(row)]) else {
                weights.iter_mut().for_each(|w| w.push(f64::NAN));
                continue;
            };
            values[joint].rotation = view.swing(&to) * rest.rotation;
            let all = bind.weights(&values);
            weights.iter_mut().zip(all).for_each(|(w, v)| w.push(v));
        }
    }
    let place = |p: &crate::deform::pose_driver::DriverPose| {
        let value = p.values.get(joint).copied().unwrap_or(rest);
        view.place(&(value.rotation * axis))
    };
    Ok(DirectionSamples {
        side,
        weights,
        poses: driver.poses.iter().map(place).collect(),
    })
}

/// A map of the sphere.
struct View {
    middle: Vec3<f64>,
    right: Vec3<f64>,
    up: Vec3<f64>,
}

impl View {
    fn towards(middle: Vec3<f64>) -> Self {
        let up = if middle.y.abs() > 0.9 {
            Vec3::z()
        } else {
            Vec3::y()
        };
        let right = up.cross(&middle).normalize();
        Self {
            middle,
            right,
            up: middle.cross(&right),
        }
    }

    /// `None` outside the map.
    fn direction(&self, [x, y]: [f64; 2]) -> Option<Vec3<f64>> {
        let radius = x.hypot(y);
        if radius > 1.0 {
            return None;
        }
        // sin θ = 2 sin(θ/2) cos(θ/2): the lateral component is the map position times 2 cos(θ/2).
        let across = 2.0 * (1.0 - radius * radius).sqrt();
        let along = 1.0 - 2.0 * radius * radius;
        Some(self.middle * along + (self.right * x + self.up * y) * across)
    }

    fn place(&self, direction: &Vec3<f64>) -> [f64; 2] {
        let [x, y] = [&self.right, &self.up].map(|a| a.dot(direction));
        let across = x.hypot(y);
        let radius = map_radius(across.atan2(self.middle.dot(direction)));
        if across < 1e-12 {
            // At the centre, or at the opposite direction, which is the whole rim.
            return [0.0, -radius];
        }
        [x, y].map(|v| v / across * radius)
    }

    /// The shortest rotation from the centre to a direction.
    fn swing(&self, to: &Vec3<f64>) -> Quat<f64> {
        Quat::rotation_between(&self.middle, to)
            .unwrap_or_else(|| Quat::from_scaled_axis(self.up * PI))
    }
}
