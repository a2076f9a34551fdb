//! The definition of a pose driver, before it is solved.

use super::metric::{DriverValue, Metric};
use super::radial::{Curve, RadialKernel};
use sinew_geom::Vec3;

/// A pose: the values of the driver joints in it, and its own settings.
#[derive(Clone, Debug, PartialEq)]
pub struct DriverPose {
    /// Name for messages and for the nodes that the pose drives.
    pub name: String,
    /// One per driver joint.
    pub values: Vec<DriverValue>,
    /// Factor of the width of this pose. For interpolative solvers by the rules of Unreal and `RigLogic`, factor of its weight.
    pub scale: f64,
    /// Metric instead of the driver's. The rules of other systems read it with additive solvers only.
    pub metric: Option<Metric>,
    /// Radial function instead of the driver's. The rules of other systems read it with additive solvers only.
    pub kernel: Option<RadialKernel>,
    /// Maps the limited weight to the one that is normalized.
    pub curve: Option<Curve>,
}

impl DriverPose {
    /// A pose without settings of its own.
    pub fn new(name: impl Into<String>, values: Vec<DriverValue>) -> Self {
        Self {
            name: name.into(),
            values,
            scale: 1.0,
            // No limits.
            metric: None,
            // Nothing. By the rules of Unreal and `RigLogic`, weights are still divided by a sum above 1.
            kernel: None,
            curve: None,
        }
    }
}

/// How weights follow from the influences of poses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// A linear system, solved once, makes each pose's weight 1 at that pose and 0 at the others.
    Interpolative,
    /// The influences themselves.
    Additive,
}

/// Width of the radial functions, in the unit of the metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Width {
    /// The same for all poses, times their scales.
    Given(f64),
    /// Mean of the distances of all pairs of poses.
    Automatic,
    /// For each pose, the distance to the nearest other pose.
    Nearest,
}

/// Limits of the weights before they are normalized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// Nothing.
    None,
    /// At least 0.
    Negative,
    /// 0 to 1.
    Unit,
}

/// What happens to the sum of the weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Normalize {
    /// Nothing. By Unreal's rules a sum above 1 is divided away all the same.
    None,
    /// Weights are divided by their sum if it is above 1.
    AboveOne,
    /// Weights are divided by their sum, by at least 1e-4 with [`Rules::Sinew`].
    Always,
    /// As `Always` near a pose, as `AboveOne` far from it.
    WithinMedian {
        /// The pose in the middle.
        reference: DriverValue,
        /// Distance up to which it is `Always`, in the unit of the metric.
        min: f64,
        /// Distance from which it is `AboveOne`; at least `min`.
        max: f64,
    },
}

/// The system whose rules apply, for drivers that were authored there. The page of the node lists the differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Our own: continuous and defined everywhere.
    Sinew,
    /// PSD JSON.
    PsdJson,
    /// Unreal's RBF solver, 4.26 to 5.
    Unreal,
    /// `RigLogic`, the runtime of `MetaHuman` characters.
    RigLogic,
}

/// The definition of a pose driver, before it is solved.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseDriver {
    /// Poses, all with the same number of joints. Weights are in this order.
    pub poses: Vec<DriverPose>,
    /// How weights follow from influences.
    pub solver: Solver,
    /// Distance between values.
    pub metric: Metric,
    /// Twist axis in the joint's space, of any length above 0.
    pub axis: Vec3<f64>,
    /// Radial function.
    pub kernel: RadialKernel,
    /// Width of the radial functions.
    pub width: Width,
    /// Added to the diagonal of the system, 0 or more. Above 0, weights are no longer exact at the poses, but vary less between them.
    pub regularization: f64,
    /// Limits of the weights.
    pub clamp: Clamp,
    /// What happens to their sum.
    pub normalize: Normalize,
    /// Weights up to this number become 0, after normalization.
    pub threshold: f64,
    /// The system whose rules apply.
    pub rules: Rules,
    /// Largest difference in swing between poses of a twist driver, radians.
    pub swing_tolerance: f64,
}

impl Default for PoseDriver {
    /// No poses; Gaussian of chords with automatic width, interpolated, not below 0, sum at most 1.
    fn default() -> Self {
        Self {
            poses: Vec::new(),
            solver: Solver::Interpolative,
            metric: Metric::Chord,
            axis: Vec3::x(),
            kernel: RadialKernel::Gaussian,
            width: Width::Automatic,
            regularization: 0.0,
            clamp: Clamp::Negative,
            normalize: Normalize::AboveOne,
            threshold: 0.0,
            rules: Rules::Sinew,
            swing_tolerance: 0.02,
        }
    }
}
