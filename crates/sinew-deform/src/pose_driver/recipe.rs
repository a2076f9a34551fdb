//! The rules of one system as steps that are the same for all.
//!
//! Systems differ in what a pose's scale means, in limits, and in the handling of sums. A recipe states these choices as data, so that
//! setup and kernels need no cases for systems.

use super::bind::PoseDriverError;
use super::definition::{Clamp, DriverPose, Normalize, PoseDriver, Rules, Solver, Width};
use super::metric::Metric;
use super::radial::RadialKernel;

/// What is left of the rules once they are worked in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Recipe {
    /// Metric of each pose.
    pub(crate) metrics: Vec<Metric>,
    /// Metric of the driver itself, for the median.
    pub(crate) metric: Metric,
    /// Radial function of each pose.
    pub(crate) kernels: Vec<RadialKernel>,
    /// Limits of weights.
    pub(crate) clamp: Clamp,
    /// Multiplies each pose's weight after the limits; empty: 1.
    pub(crate) gains: Vec<f64>,
    /// Whether curves of poses are applied.
    pub(crate) curves: bool,
    pub(crate) sum: SumRule,
}

/// What is done with the sum of the weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SumRule {
    pub(crate) mode: Normalize,
    /// Sums up to this count as nothing: all weights are 0 then. With `fades`, weights are divided by no less than this instead.
    pub(crate) least: f64,
    pub(crate) fades: bool,
    /// Whether a sum above 1 is divided away in every mode.
    pub(crate) never_above_one: bool,
}

/// Unreal and `RigLogic` give nothing where the sum is no more than this; ours fades to nothing below it.
const LEAST_SUM: f64 = 1e-4;
/// Unreal's additive solver takes no smaller radius, in degrees for rotations.
const LEAST_RADIUS_DEGREES: f64 = 1e-4;

impl Recipe {
    pub(crate) fn of(driver: &PoseDriver) -> Self {
        let additive = driver.solver == Solver::Additive;
        let own = driver.rules == Rules::Sinew || additive;
        let metric = |p: &DriverPose| p.metric.filter(|_| own).unwrap_or(driver.metric);
        let kernel = |p: &DriverPose| {
            let own = p.kernel.as_ref().filter(|_| own);
            let kernel = own.unwrap_or(&driver.kernel).clone();
            additive_form(kernel, driver)
        };
        let is_engine = matches!(driver.rules, Rules::Unreal | Rules::RigLogic);
        Self {
            metrics: driver
                .poses
                .iter()
                .map(|p| as_ruled(metric(p), driver.rules))
                .collect(),
            metric: as_ruled(driver.metric, driver.rules),
            kernels: driver.poses.iter().map(kernel).collect(),
            clamp: if is_engine && !additive {
                Clamp::Unit
            } else if is_engine {
                Clamp::None
            } else {
                driver.clamp
            },
            gains: if is_engine && !additive {
                driver.poses.iter().map(|p| p.scale).collect()
            } else {
                Vec::new()
            },
            curves: driver.rules == Rules::Sinew || additive,
            sum: SumRule {
                mode: driver.normalize,
                least: match driver.rules {
                    Rules::Sinew | Rules::Unreal | Rules::RigLogic => LEAST_SUM,
                    Rules::PsdJson => 0.0,
                },
                fades: driver.rules == Rules::Sinew,
                never_above_one: is_engine,
            },
        }
    }

    /// Width of each pose.
    pub(crate) fn widths(
        driver: &PoseDriver,
        distance: &dyn Fn(usize, usize) -> f64,
    ) -> Result<Vec<f64>, PoseDriverError> {
        let scales_weight = matches!(driver.rules, Rules::Unreal | Rules::RigLogic)
            && driver.solver == Solver::Interpolative;
        let common = common_width(driver, distance);
        let poses = driver.poses.iter().enumerate();
        poses
            .map(|(i, pose)| {
                let base = match driver.width {
                    Width::Nearest => nearest(driver.poses.len(), i, distance).unwrap_or(1.0),
                    Width::Given(_) | Width::Automatic => common,
                };
                let width = base * if scales_weight { 1.0 } else { pose.scale };
                let least = if driver.rules == Rules::Unreal && !scales_weight {
                    LEAST_RADIUS_DEGREES.to_radians()
                } else {
                    0.0
                };
                let width = width.max(least);
                if width.is_finite() && width > 0.0 {
                    Ok(width)
                } else {
                    Err(PoseDriverError::Width {
                        pose: pose.name.clone(),
                        found: width,
                    })
                }
            })
            .collect()
    }
}

/// Unreal's additive solver has functions of its own: its Gaussian squares, its exponential is slower.
fn additive_form(kernel: RadialKernel, driver: &PoseDriver) -> RadialKernel {
    if driver.rules != Rules::Unreal || driver.solver != Solver::Additive {
        return kernel;
    }
    match kernel {
        RadialKernel::GaussianOfDistance => RadialKernel::Gaussian,
        RadialKernel::Exponential => RadialKernel::ExponentialPlain,
        other => other,
    }
}

/// What the metric of that name is in the system.
fn as_ruled(metric: Metric, rules: Rules) -> Metric {
    match (rules, metric) {
        (Rules::PsdJson, Metric::Swing) => Metric::PsdJsonSwing,
        (Rules::Unreal, Metric::Euler(order)) => Metric::EulerTriples(order),
        (Rules::RigLogic, Metric::Euler(_) | Metric::EulerTriples(_)) => Metric::Components,
        _ => metric,
    }
}

fn common_width(driver: &PoseDriver, distance: &dyn Fn(usize, usize) -> f64) -> f64 {
    let count = driver.poses.len();
    let pairs = || (0..count).flat_map(|i| (0..i).map(move |j| (i, j)));
    let number = pairs().count();
    match driver.width {
        Width::Given(width) => width,
        // With one pose there is no pair; a right angle, or a metre.
        Width::Automatic | Width::Nearest if number == 0 => std::f64::consts::FRAC_PI_2,
        Width::Automatic | Width::Nearest => {
            pairs().map(|(i, j)| distance(i, j)).sum::<f64>() / number as f64
        }
    }
}

fn nearest(count: usize, i: usize, distance: &dyn Fn(usize, usize) -> f64) -> Option<f64> {
    let others = (0..count).filter(|&j| j != i);
    others.map(|j| distance(i, j)).reduce(f64::min)
}
