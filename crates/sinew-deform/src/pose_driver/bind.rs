//! Setup: distances between poses, widths, and the linear system, solved once.
//!
//! 1. Check: counts, finite numbers, ranges, poses that the metric cannot tell apart.
//! 2. Distances of all pairs of poses; from them, widths and one radial function per pose.
//! 3. Interpolative solvers: the matrix `K[i][j]`, the influence of pose `i` at pose `j`, is inverted by LU with pivoting. No definiteness
//!    is needed,
//!    because angles with a Gaussian have none. A condition number above 1e10 is an error.
//! 4. Coordinates of all poses in their metrics, packed for the kernel.
//!
//! Cost: O(n^3) for n poses.

use super::definition::{Clamp, Normalize, PoseDriver, Rules, Solver, Width};
use super::metric::{Coordinates, DriverValue, Form, Metric, SwingTwist};
use super::radial::{Curve, CurveError, Radial};
use super::recipe::{Recipe, SumRule};
use super::solve::{System, solve};
use sinew_geom::Vec3;
use sinew_geom::nalgebra::DMatrix;

/// Why a pose driver could not be set up.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum PoseDriverError {
    /// The driver has no poses.
    #[error("the driver has no poses; list at least the neutral pose")]
    NoPoses,
    /// Poses have different numbers of joints.
    #[error(
        "pose '{pose}' has {found} driver values, expected {expected}, one for each joint of the driver"
    )]
    ValueCount {
        /// Name of the pose.
        pose: String,
        /// Values it has.
        found: usize,
        /// Joints of the driver.
        expected: usize,
    },
    /// A value is NaN or infinite.
    #[error("pose '{pose}': {what} is not finite")]
    NotFinite {
        /// Name of the pose.
        pose: String,
        /// What.
        what: &'static str,
    },
    /// The metric cannot tell two poses apart.
    #[error(
        "poses '{first}' and '{second}' are the same for this metric (distance {distance:e}): no weight can be 1 at one and 0 at the other; remove one or use another metric"
    )]
    Duplicate {
        /// Name of one.
        first: String,
        /// Name of the other.
        second: String,
        /// Distance between them.
        distance: f64,
    },
    /// Poses of a twist driver differ in swing, which the driver ignores.
    #[error(
        "pose '{pose}' swings by {degrees:.2} degrees from pose '{first}', which a twist driver ignores; use two drivers, one for swing and one for twist"
    )]
    SwingInTwist {
        /// Name of the pose.
        pose: String,
        /// Name of the first pose.
        first: String,
        /// How far.
        degrees: f64,
    },
    /// A width is not above 0.
    #[error("the width of pose '{pose}' is {found}, expected a number greater than 0")]
    Width {
        /// Name of the pose.
        pose: String,
        /// What was found.
        found: f64,
    },
    /// A setting is out of range.
    #[error("{what} is {found}, expected {expected}")]
    Setting {
        /// Which.
        what: &'static str,
        /// Its value.
        found: f64,
        /// What is right.
        expected: &'static str,
    },
    /// The system has no solution with any correct digits.
    #[error(
        "the kernel matrix of these {poses} poses cannot be inverted (condition {condition:e}); use another kernel, a smaller width or some regularization"
    )]
    Singular {
        /// Number of poses.
        poses: usize,
        /// Condition number in the 1-norm; infinite where there is no inverse.
        condition: f64,
    },
    /// Negative weights could sum to 0, and cannot be divided by their sum.
    #[error(
        "normalization to a sum of 1 needs weights of 0 or more; clamp the weights, or normalize only above 1"
    )]
    NormalizeUnclamped,
    /// The points of a curve are invalid.
    #[error("curve: {0}")]
    Curve(#[from] CurveError),
}

/// Poses with the same metric.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) metric: Metric,
    pub(crate) form: Form,
}

/// A pose driver after setup. Immutable; instances share it. All numbers are in double precision.
#[derive(Clone, Debug)]
pub struct PoseDriverBind {
    pub(crate) joint_count: usize,
    pub(crate) pose_count: usize,
    pub(crate) axis: Vec3<f64>,
    /// Each metric that poses have, once.
    pub(crate) channels: Vec<Channel>,
    /// Index of each pose's channel.
    pub(crate) channel_of_pose: Vec<usize>,
    /// Joint after joint, pose after pose, each in its pose's channel.
    pub(crate) coordinates: Vec<Coordinates>,
    pub(crate) radials: Vec<Radial>,
    pub(crate) system: Option<System>,
    pub(crate) clamp: Clamp,
    pub(crate) gains: Vec<f64>,
    pub(crate) curves: Vec<Option<Curve>>,
    pub(crate) sum: SumRule,
    /// What the distance from the median is measured by: the driver's own metric, whatever those of its poses.
    pub(crate) median_metric: Metric,
    /// Of the median's reference pose.
    pub(crate) median: Vec<Coordinates>,
    pub(crate) threshold: f64,
    pub(crate) packed: Option<super::simd::Packed>,
    widths: Vec<f64>,
}

/// Nearer than this, poses are the same.
pub(crate) const SAME: f64 = 1e-6;
/// Beyond this condition even the weights at the poses themselves have no digits left.
const WORST_CONDITION: f64 = 1e10;

impl PoseDriverBind {
    /// Checks a definition and solves it.
    ///
    /// # Errors
    /// [`PoseDriverError`] names the first problem.
    ///
    /// # Cost
    /// O(n^3) for n poses. [`Self::bytes`] are kept, at most 24 bytes per pair of poses for interpolative solvers.
    pub fn new(driver: &PoseDriver) -> Result<Self, PoseDriverError> {
        let joint_count = check(driver)?;
        let recipe = Recipe::of(driver);
        let axis = driver.axis.normalize();
        let coordinates = coordinates(driver, &recipe.metrics, &axis, joint_count);
        let count = driver.poses.len();
        let distances = distances(driver, &recipe.metrics, &axis);
        let distance = |i: usize, j: usize| distances[i * count + j];
        let is_unreal = driver.rules == Rules::Unreal;
        check_different(driver, &distance, &|i, j| {
            !is_unreal && distance(i, j) < SAME
        })?;
        let widths = Recipe::widths(driver, &distance)?;
        let kernels = recipe.kernels.iter().zip(&widths);
        let mut radials: Vec<Radial> = kernels.map(|(k, &w)| k.with_width(w)).collect();
        if let ([only], Rules::Unreal, Solver::Interpolative) =
            (radials.as_mut_slice(), driver.rules, driver.solver)
        {
            // Unreal does not solve for one target: its weight is 1 everywhere.
            *only = Radial::Exponential { rate: 0.0 };
        }
        let system = match driver.solver {
            Solver::Additive => None,
            Solver::Interpolative => {
                let value = |i: usize, j: usize| radials[i].value(distance(i, j));
                check_different(driver, &distance, &|i, j| {
                    is_unreal && nearly_one(value(i, j))
                })?;
                let kernel = kernel_matrix(&radials, &distance);
                Some(solve(kernel, driver.regularization)?)
            }
        };
        let (channels, channel_of_pose) = channels(&recipe.metrics);
        let mut out = Self {
            joint_count,
            pose_count: count,
            axis,
            channels,
            channel_of_pose,
            coordinates,
            radials,
            system,
            clamp: recipe.clamp,
            gains: recipe.gains,
            curves: if recipe.curves {
                driver.poses.iter().map(|p| p.curve.clone()).collect()
            } else {
                vec![None; count]
            },
            sum: recipe.sum,
            median_metric: recipe.metric,
            median: median(driver, recipe.metric, &axis, joint_count),
            threshold: driver.threshold,
            packed: None,
            widths,
        };
        out.packed = super::simd::Packed::of(&out);
        Ok(out)
    }

    /// Number of poses, which is the number of weights.
    pub fn pose_count(&self) -> usize {
        self.pose_count
    }
    /// Number of driver joints, which is the number of values in each frame.
    pub fn joint_count(&self) -> usize {
        self.joint_count
    }
    /// Width of each pose, in the unit of its metric.
    pub fn widths(&self) -> &[f64] {
        &self.widths
    }
    /// Condition number of the system in the 1-norm; `None` for additive solvers. At a pose, weights are exact to about 1e-16 times this
    /// number.
    pub fn condition(&self) -> Option<f64> {
        self.system.as_ref().map(|s| s.condition)
    }
    /// Smallest eigenvalue of the symmetric part of the kernel matrix. If it is not positive, the kernel is not positive definite for these
    /// poses, and weights between poses may oscillate. `None` for additive solvers. O(n^3) in each call.
    pub fn smallest_eigenvalue(&self) -> Option<f64> {
        self.system.as_ref().map(|s| s.smallest_eigenvalue())
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        size_of_val(self.coordinates.as_slice())
            + self.system.as_ref().map_or(0, System::bytes)
            + self.packed.as_ref().map_or(0, super::simd::Packed::bytes)
            + self.pose_count * (size_of::<Radial>() + size_of::<f64>() * 2)
    }
}

/// Of each pose from each pose, in the metric of the first one, row after row.
pub(crate) fn distances(driver: &PoseDriver, metrics: &[Metric], axis: &Vec3<f64>) -> Vec<f64> {
    let count = driver.poses.len();
    let mut out = vec![0.0; count * count];
    let mut known: Option<(Metric, Vec<Vec<Coordinates>>)> = None;
    for (i, &metric) in metrics.iter().enumerate() {
        let coordinates = match known.take() {
            Some((same, coordinates)) if same == metric => coordinates,
            _ => driver
                .poses
                .iter()
                .map(|p| {
                    let of_joint = p.values.iter().map(|v| metric.coordinates(v, axis));
                    of_joint.collect()
                })
                .collect(),
        };
        for j in 0..count {
            // Distances are symmetric, metrics of poses need not be the same.
            out[i * count + j] = if j < i && metrics[j] == metric {
                out[j * count + i]
            } else {
                let joints = coordinates[i].iter().zip(&coordinates[j]);
                total(joints.map(|(a, b)| metric.form().distance(a, b)))
            };
        }
        known = Some((metric, coordinates));
    }
    out
}

/// Influence of each pose at each. Most such matrices are symmetric: half of it need not be computed.
fn kernel_matrix(radials: &[Radial], distance: &dyn Fn(usize, usize) -> f64) -> DMatrix<f64> {
    let count = radials.len();
    let mut kernel = DMatrix::zeros(count, count);
    for (i, radial) in radials.iter().enumerate() {
        for j in 0..count {
            let apart = distance(i, j);
            kernel[(i, j)] = if j < i && radials[j] == *radial && distance(j, i) == apart {
                kernel[(j, i)]
            } else {
                radial.value(apart)
            };
        }
    }
    kernel
}

/// Of the distances of several joints.
pub(crate) fn total(mut distances: impl ExactSizeIterator<Item = f64>) -> f64 {
    if distances.len() == 1 {
        return distances.next().unwrap_or_default();
    }
    distances.map(|d| d * d).sum::<f64>().sqrt()
}

/// Whether the poses and settings make sense; gives the number of joints.
pub(crate) fn check(driver: &PoseDriver) -> Result<usize, PoseDriverError> {
    let first = driver.poses.first().ok_or(PoseDriverError::NoPoses)?;
    let expected = first.values.len();
    for pose in &driver.poses {
        let not_finite = |what| PoseDriverError::NotFinite {
            pose: pose.name.clone(),
            what,
        };
        let found = pose.values.len();
        if found != expected || found == 0 {
            return Err(PoseDriverError::ValueCount {
                pose: pose.name.clone(),
                found,
                expected: expected.max(1),
            });
        }
        if !pose.values.iter().all(DriverValue::is_finite) {
            return Err(not_finite("a driver value"));
        }
        if !pose.scale.is_finite() {
            return Err(not_finite("the scale"));
        }
    }
    check_settings(driver)?;
    check_twists(driver)?;
    Ok(expected)
}

fn check_settings(driver: &PoseDriver) -> Result<(), PoseDriverError> {
    let at_least_zero = |what, found: f64| {
        if found.is_finite() && found >= 0.0 {
            return Ok(());
        }
        Err(PoseDriverError::Setting {
            what,
            found,
            expected: "a finite number of at least 0",
        })
    };
    at_least_zero("regularisation", driver.regularization)?;
    at_least_zero("threshold", driver.threshold)?;
    let length = driver.axis.norm();
    if !(length.is_finite() && length > 1e-9) {
        return Err(PoseDriverError::Setting {
            what: "length of the twist axis",
            found: length,
            expected: "a vector of any length except 0",
        });
    }
    if let Width::Given(found) = driver.width
        && !(found.is_finite() && found > 0.0)
    {
        return Err(PoseDriverError::Setting {
            what: "width",
            found,
            expected: "a finite number greater than 0",
        });
    }
    if let Normalize::WithinMedian { min, max, .. } = driver.normalize {
        at_least_zero("median_min", min)?;
        if !(max.is_finite() && max >= min) {
            return Err(PoseDriverError::Setting {
                what: "median_max",
                found: max,
                expected: "a finite number of at least median_min",
            });
        }
    }
    let to_one = matches!(
        driver.normalize,
        Normalize::Always | Normalize::WithinMedian { .. }
    );
    let interpolates = driver.solver == Solver::Interpolative;
    if driver.rules == Rules::Sinew && to_one && interpolates && driver.clamp == Clamp::None {
        return Err(PoseDriverError::NormalizeUnclamped);
    }
    Ok(())
}

/// By our rules and PSD JSON's a twist driver whose poses swing is a mistake.
fn check_twists(driver: &PoseDriver) -> Result<(), PoseDriverError> {
    let checked = matches!(driver.rules, Rules::Sinew | Rules::PsdJson);
    let Some((first, others)) = driver.poses.split_first() else {
        return Ok(());
    };
    if !checked || !driver.metric.is_twist() {
        return Ok(());
    }
    let axis = driver.axis.normalize();
    for pose in others {
        for (a, b) in first.values.iter().zip(&pose.values) {
            let swing = |v: &DriverValue| SwingTwist::of(&v.rotation, &axis).swing.coords.into();
            let apart = Form::QuaternionArc.distance(&swing(a), &swing(b));
            if apart > driver.swing_tolerance {
                return Err(PoseDriverError::SwingInTwist {
                    pose: pose.name.clone(),
                    first: first.name.clone(),
                    degrees: apart.to_degrees(),
                });
            }
        }
    }
    Ok(())
}

/// Refuses the first two poses for which `same` holds. With regularisation the system has a solution all the same: both get the
/// same weight.
pub(crate) fn check_different(
    driver: &PoseDriver,
    distance: &dyn Fn(usize, usize) -> f64,
    same: &dyn Fn(usize, usize) -> bool,
) -> Result<(), PoseDriverError> {
    if driver.solver == Solver::Additive || driver.regularization > 0.0 {
        return Ok(());
    }
    for (j, second) in driver.poses.iter().enumerate() {
        for (i, first) in driver.poses[..j].iter().enumerate() {
            if same(i, j) {
                return Err(PoseDriverError::Duplicate {
                    first: first.name.clone(),
                    second: second.name.clone(),
                    distance: distance(i, j),
                });
            }
        }
    }
    Ok(())
}

/// Within 32 single-precision steps of 1: what Unreal takes for the same pose.
fn nearly_one(influence: f64) -> bool {
    const STEP_BELOW_ONE: f64 = f32::EPSILON as f64 / 2.0;
    (1.0 - influence).abs() <= 32.0 * STEP_BELOW_ONE
}

/// Of all poses, each in its metric: joint after joint.
pub(crate) fn coordinates(
    driver: &PoseDriver,
    metrics: &[Metric],
    axis: &Vec3<f64>,
    joint_count: usize,
) -> Vec<Coordinates> {
    let of_joint = |joint: usize| {
        let poses = driver.poses.iter().zip(metrics);
        poses.map(move |(p, m)| m.coordinates(&p.values[joint], axis))
    };
    (0..joint_count).flat_map(of_joint).collect()
}

fn median(
    driver: &PoseDriver,
    metric: Metric,
    axis: &Vec3<f64>,
    joint_count: usize,
) -> Vec<Coordinates> {
    match &driver.normalize {
        Normalize::WithinMedian { reference, .. } => {
            vec![metric.coordinates(reference, axis); joint_count]
        }
        Normalize::None | Normalize::AboveOne | Normalize::Always => Vec::new(),
    }
}

fn channels(metrics: &[Metric]) -> (Vec<Channel>, Vec<usize>) {
    let mut channels: Vec<Channel> = Vec::new();
    let of_pose = metrics.iter().map(|&metric| {
        let known = channels.iter().position(|c| c.metric == metric);
        known.unwrap_or_else(|| {
            let form = metric.form();
            channels.push(Channel { metric, form });
            channels.len() - 1
        })
    });
    let of_pose = of_pose.collect();
    (channels, of_pose)
}

/// Refuses what has no solution worth the name.
pub(crate) fn check_condition(poses: usize, condition: f64) -> Result<(), PoseDriverError> {
    if condition < WORST_CONDITION {
        Ok(())
    } else {
        Err(PoseDriverError::Singular { poses, condition })
    }
}
