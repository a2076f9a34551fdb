//! What a pose driver is, before it is solved.

use super::metric::{DriverValue, Metric};
use super::radial::{Curve, RadialKernel};
use sinew_geom::Vec3;

/// A pose with what the driver joints show in it.
#[derive(Clone, Debug, PartialEq)]
pub struct DriverPose {
    /// For messages and for targets to refer to.
    pub name: String,
    /// One a driver joint.
    pub values: Vec<DriverValue>,
    /// Multiplies the width of this pose; for interpolation by the rules of Unreal and `RigLogic` its weight instead.
    pub scale: f64,
    /// Instead of the driver's; for additive solvers.
    pub metric: Option<Metric>,
    /// Instead of the driver's; for additive solvers.
    pub kernel: Option<RadialKernel>,
    /// Maps the solver's weight to the one that is normalised.
    pub curve: Option<Curve>,
}

impl DriverPose {
    /// A pose without settings of its own.
    pub fn new(name: impl Into<String>, values: Vec<DriverValue>) -> Self {
        Self {
            name: name.into(),
            values,
            scale: 1.0,
            metric: None,
            kernel: None,
            curve: None,
        }
    }
}

/// How weights come from influences.
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
    /// The same for all poses, but for their scales.
    Given(f64),
    /// Mean of the distances of all pairs of poses.
    Automatic,
    /// Each pose's own: distance to the nearest other pose.
    Nearest,
}

/// What weights are limited to before they are normalised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// Nothing.
    None,
    /// Not below 0.
    Negative,
    /// 0 to 1.
    Unit,
}

/// What happens to the sum of the weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Normalize {
    /// Nothing. By Unreal's rules a sum above 1 is divided away all the same.
    None,
    /// Weights are divided by their sum where that is above 1.
    AboveOne,
    /// Weights are divided by their sum.
    Always,
    /// Always near a pose, above one far from it.
    WithinMedian {
        /// The pose in the middle.
        reference: DriverValue,
        /// Up to here always; in the unit of the metric.
        min: f64,
        /// From here on above one only; not below `min`.
        max: f64,
    },
}

/// Whose order of steps and whose slips to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Ours: nothing jumps, nothing is undefined.
    Sinew,
    /// PSD JSON.
    PsdJson,
    /// Unreal's RBF solver, 4.26 to 5.
    Unreal,
    /// `RigLogic`, the runtime of `MetaHuman` characters.
    RigLogic,
}

/// A pose driver, before it is solved.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseDriver {
    /// Poses; the weights are in their order.
    pub poses: Vec<DriverPose>,
    /// How weights come from influences.
    pub solver: Solver,
    /// What values are compared by.
    pub metric: Metric,
    /// Twist axis; any length but zero.
    pub axis: Vec3<f64>,
    /// How influence falls with distance.
    pub kernel: RadialKernel,
    /// How wide.
    pub width: Width,
    /// Added to the diagonal of the system: above 0 the weights are no longer exact at the poses, but calmer.
    pub regularization: f64,
    /// Limits.
    pub clamp: Clamp,
    /// Sum.
    pub normalize: Normalize,
    /// Weights up to this are 0, after normalising.
    pub threshold: f64,
    /// Whose rules.
    pub rules: Rules,
    /// How much swing, in radians, the poses of a twist driver may differ by.
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
