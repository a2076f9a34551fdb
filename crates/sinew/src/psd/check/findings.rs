//! Findings about a driver.

use super::super::GraphDriver;
use super::super::sample::{between, travel};
use crate::deform::pose_driver::{
    DriverValue, Metric, PoseDriver, PoseDriverBind, PoseDriverError, Solver,
};
use crate::geom::Quat;
use crate::graph::{SetupProgress, SetupWatch};
use rayon::prelude::*;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Information; may be intended.
    Information,
    /// Works, but probably not as intended.
    Warning,
    /// Does not work.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Information => "information",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// Distance of two poses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    /// Distance in radians, or in metres.
    pub amount: f64,
    /// True for metres (metric `position`).
    pub in_metres: bool,
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.in_metres {
            write!(f, "{:.4} m", self.amount)
        } else {
            write!(f, "{:.2} degrees", self.amount.to_degrees())
        }
    }
}

/// A finding about a driver. Displayed as a sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Finding {
    /// Its parameters contradict each other.
    #[error("{message}")]
    Unreadable {
        /// The error.
        message: String,
    },
    /// The system has no solution.
    #[error("{error}")]
    CannotSolve {
        /// The error.
        error: PoseDriverError,
    },
    /// The system is close to having no solution.
    #[error(
        "condition number {condition:.1e}: small changes of the poses cause large changes of the weights between them; use a smaller width or fewer poses"
    )]
    IllConditioned {
        /// Condition number.
        condition: f64,
    },
    /// Two poses have nearly full influence at each other.
    #[error(
        "poses '{first}' and '{second}' overlap: they are {apart} apart and have {influence:.3} of their full influence at each other; remove one or use a smaller width"
    )]
    Overlap {
        /// Name of one pose.
        first: String,
        /// Name of the other.
        second: String,
        /// The smaller one of the two influences.
        influence: f64,
        /// Distance of the poses.
        apart: Apart,
    },
    /// The weight of a pose is not 1 at the pose itself.
    #[error("pose '{pose}' has weight {weight:.4} at the pose itself, expected 1")]
    OwnWeight {
        /// Name of the pose.
        pose: String,
        /// Its weight there.
        weight: f64,
        /// Severity: for an additive solver, this is normal.
        severity: Severity,
    },
    /// The weight of a pose is not 0 at another pose.
    #[error("pose '{other}' has weight {weight:.4} at pose '{pose}', expected 0")]
    OtherWeight {
        /// Name of the pose at which the weight is measured.
        pose: String,
        /// Name of the other pose with the largest weight there.
        other: String,
        /// Its weight.
        weight: f64,
        /// Severity: for an additive solver, this is normal.
        severity: Severity,
    },
    /// A weight falls below 0 between poses.
    #[error(
        "the weight of '{pose}' falls to {weight:.3} between '{from}' and '{to}', before limits; use another kernel or width, or add a pose there"
    )]
    Undershoot {
        /// Name of the pose with this weight.
        pose: String,
        /// The smallest weight on all arcs.
        weight: f64,
        /// Name of the pose where the arc starts.
        from: String,
        /// Name of the pose where the arc ends.
        to: String,
    },
    /// A weight rises above 1 between poses.
    #[error(
        "the weight of '{pose}' rises to {weight:.3} between '{from}' and '{to}', before limits; use another kernel or width, or add a pose there"
    )]
    Overshoot {
        /// Name of the pose with this weight.
        pose: String,
        /// The largest weight on all arcs.
        weight: f64,
        /// Name of the pose where the arc starts.
        from: String,
        /// Name of the pose where the arc ends.
        to: String,
    },
    /// The weight between two neighbours is not monotone.
    #[error(
        "between the neighbours '{from}' and '{to}', the weight of '{pose}' is not monotone: it reverses by {by:.3}"
    )]
    NotMonotone {
        /// Name of the pose with this weight, one of the two.
        pose: String,
        /// Name of the pose where the arc starts.
        from: String,
        /// Name of the pose where the arc ends.
        to: String,
        /// The largest rise where it should fall, or fall where it should rise.
        by: f64,
    },
    /// No pose is at rest.
    #[error(
        "no pose is at rest, and weights do not fall to 0 there: the nearest pose '{nearest}' is {apart} away; add the neutral pose"
    )]
    NoRestPose {
        /// Name of the pose that is nearest to rest.
        nearest: String,
        /// Its distance from rest.
        apart: Apart,
    },
    /// A pose is disabled.
    #[error("pose '{pose}' is disabled: its weight is 0 everywhere")]
    Disabled {
        /// Its name.
        pose: String,
    },
}

impl Finding {
    /// The severity.
    pub fn severity(&self) -> Severity {
        match self {
            Self::Unreadable { .. } | Self::CannotSolve { .. } => Severity::Error,
            Self::IllConditioned { .. }
            | Self::Overlap { .. }
            | Self::Undershoot { .. }
            | Self::Overshoot { .. } => Severity::Warning,
            Self::OwnWeight { severity, .. } | Self::OtherWeight { severity, .. } => *severity,
            Self::NotMonotone { .. } | Self::NoRestPose { .. } | Self::Disabled { .. } => {
                Severity::Information
            }
        }
    }

    /// Stable code for machine-readable reports.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "unreadable",
            Self::CannotSolve { .. } => "cannot_solve",
            Self::IllConditioned { .. } => "ill_conditioned",
            Self::Overlap { .. } => "overlap",
            Self::OwnWeight { .. } => "own_weight",
            Self::OtherWeight { .. } => "other_weight",
            Self::Undershoot { .. } => "undershoot",
            Self::Overshoot { .. } => "overshoot",
            Self::NotMonotone { .. } => "not_monotone",
            Self::NoRestPose { .. } => "no_rest_pose",
            Self::Disabled { .. } => "disabled",
        }
    }
}

/// Condition number above which single-precision errors of the poses reach the sixth digit of weights. This limit for
/// authors is far below that of the solver.
const HIGH_CONDITION: f64 = 1e6;
/// Influence of one pose at another above which they count as duplicates.
const OVERLAP: f64 = 0.95;
/// Tolerance of weights that should be 1 or 0 at a pose.
const AT_POSES: f64 = 1e-3;
/// Tolerance of weights outside 0 to 1 between poses.
const BEYOND: f64 = 0.1;
/// Reversal of a weight that still counts as monotone.
const TURN: f64 = 0.01;
/// Steps per arc.
const STEPS: usize = 32;
/// Maximum number of sampled arcs: all pairs of 200 poses.
const MOST_ARCS: usize = 19_900;
/// Arcs per matrix product; cancellation is checked after each.
const ARCS_AT_ONCE: usize = 64;
/// Distance up to which a pose counts as at rest: one degree, or one millimetre.
const AT_REST: [f64; 2] = [std::f64::consts::PI / 180.0, 1e-3];

fn apart(driver: &PoseDriver, a: &[DriverValue], b: &[DriverValue]) -> Apart {
    Apart {
        amount: travel(driver, a, b),
        in_metres: driver.metric == Metric::Position,
    }
}

pub(super) fn of_settings(driver: &GraphDriver) -> Vec<Finding> {
    let settings = &driver.settings;
    let mut out: Vec<Finding> = Vec::new();
    let disabled = driver.disabled.iter().cloned();
    out.extend(disabled.map(|pose| Finding::Disabled { pose }));
    if settings.space == "rest" {
        out.extend(no_rest_pose(&settings.driver));
    }
    out
}

fn no_rest_pose(driver: &PoseDriver) -> Option<Finding> {
    let from_rest = |pose: &crate::deform::pose_driver::DriverPose| {
        let rest = vec![DriverValue::rotation(Quat::identity()); pose.values.len()];
        apart(driver, &rest, &pose.values)
    };
    let poses = driver.poses.iter().map(|p| (p, from_rest(p)));
    let (pose, apart) = poses.min_by(|a, b| a.1.amount.total_cmp(&b.1.amount))?;
    (apart.amount > AT_REST[usize::from(apart.in_metres)]).then(|| Finding::NoRestPose {
        nearest: pose.name.clone(),
        apart,
    })
}

pub(super) fn of_system(bind: &PoseDriverBind) -> Option<Finding> {
    let condition = bind.condition().filter(|c| *c > HIGH_CONDITION)?;
    Some(Finding::IllConditioned { condition })
}

/// Poses that overlap, each with the one that it overlaps most.
pub(super) fn of_pairs(driver: &PoseDriver, bind: &PoseDriverBind) -> Vec<Finding> {
    let poses = &driver.poses;
    let influences: Vec<Vec<f64>> = poses.iter().map(|p| bind.influences(&p.values)).collect();
    let both = |i: usize, j: usize| influences[i][j].min(influences[j][i]);
    let mut out = Vec::new();
    for (j, second) in poses.iter().enumerate() {
        let before = (0..j).map(|i| (i, both(i, j)));
        let Some((i, influence)) = before.max_by(|a, b| a.1.total_cmp(&b.1)) else {
            continue;
        };
        if influence > OVERLAP {
            out.push(Finding::Overlap {
                first: poses[i].name.clone(),
                second: second.name.clone(),
                influence,
                apart: apart(driver, &poses[i].values, &second.values),
            });
        }
    }
    out
}

/// Weights at the poses.
pub(super) fn at_poses(driver: &PoseDriver, bind: &PoseDriverBind) -> Vec<Finding> {
    let severity = match driver.solver {
        Solver::Interpolative => Severity::Warning,
        Solver::Additive => Severity::Information,
    };
    let mut out = Vec::new();
    for (i, pose) in driver.poses.iter().enumerate() {
        let weights = bind.weights(&pose.values);
        let own = weights.get(i).copied().unwrap_or(f64::NAN);
        let off = (own - 1.0).abs();
        if off.is_nan() || off > AT_POSES {
            out.push(Finding::OwnWeight {
                pose: pose.name.clone(),
                weight: own,
                severity,
            });
        }
        let others = weights.iter().enumerate().filter(|(j, _)| *j != i);
        let most = others.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        if let Some((j, &weight)) = most.filter(|m| m.1.abs() > AT_POSES) {
            out.push(Finding::OtherWeight {
                pose: pose.name.clone(),
                other: driver.poses[j].name.clone(),
                weight,
                severity,
            });
        }
    }
    out
}

/// The smallest and largest weight of one pose, and the arcs where they occur.
#[derive(Clone, Copy)]
struct Range {
    least: (f64, [usize; 2]),
    most: (f64, [usize; 2]),
}

/// Weights on arcs: number of sampled arcs, smallest and largest weight, and findings.
pub(super) struct OnArcs {
    pub(super) sampled: usize,
    pub(super) range: [f64; 2],
    pub(super) findings: Vec<Finding>,
}

/// Samples the weights of all poses on [`arcs`], `O(n²)` per query. `None` if `watch` stops it.
pub(super) fn on_arcs(
    driver: &PoseDriver,
    bind: &PoseDriverBind,
    (watch, node): (SetupWatch<'_>, &str),
) -> Option<OnArcs> {
    let distances: Vec<Vec<f64>> = driver
        .poses
        .iter()
        .map(|p| bind.distances(&p.values))
        .collect();
    let arcs = arcs(&distances);
    let done = Mutex::new(0);
    let sample = |some: &[[usize; 2]]| {
        if (watch.is_stopped)() {
            return None;
        }
        let samples = sample_arcs(driver, bind, some, &distances);
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += some.len();
        let share = *done as f64 / arcs.len() as f64;
        (watch.report)(SetupProgress::new(share, node));
        Some(samples)
    };
    let parts = arcs.par_chunks(ARCS_AT_ONCE).map(sample);
    let parts = parts.collect::<Option<Vec<_>>>()?;
    let mut ranges = vec![Range::NONE; driver.poses.len()];
    let mut turns = Vec::new();
    for (of_part, turned) in parts {
        for (range, part) in ranges.iter_mut().zip(of_part) {
            range.widen(part.least.0, part.least.1);
            range.widen(part.most.0, part.most.1);
        }
        turns.extend(turned);
    }
    let least = ranges.iter().map(|r| r.least.0).fold(0.0, f64::min);
    let most = ranges.iter().map(|r| r.most.0).fold(0.0, f64::max);
    let mut findings: Vec<Finding> = Vec::new();
    for (pose, range) in driver.poses.iter().zip(&ranges) {
        findings.extend(range.findings(driver, &pose.name));
    }
    findings.extend(turns);
    Some(OnArcs {
        sampled: arcs.len(),
        range: [least, most],
        findings,
    })
}

/// Pairs of poses between which weights are sampled: all pairs, or above [`MOST_ARCS`], each pose with the same number
/// of nearest poses. Ordered by the second pose, then the first, which has the smaller index.
fn arcs(distances: &[Vec<f64>]) -> Vec<[usize; 2]> {
    let count = distances.len();
    if count * count.saturating_sub(1) / 2 <= MOST_ARCS {
        return (0..count)
            .flat_map(|to| (0..to).map(move |from| [from, to]))
            .collect();
    }
    let nearest = (MOST_ARCS / count).max(1);
    let mut out = Vec::with_capacity(nearest * count);
    for (pose, distances) in distances.iter().enumerate() {
        let mut others: Vec<usize> = (0..count).filter(|other| *other != pose).collect();
        let by_distance = |a: &usize, b: &usize| {
            let order = distances[*a].total_cmp(&distances[*b]);
            order.then(a.cmp(b))
        };
        others.select_nth_unstable_by(nearest - 1, by_distance);
        let chosen = others[..nearest].iter();
        out.extend(chosen.map(|&other| [pose.min(other), pose.max(other)]));
    }
    out.sort_unstable_by_key(|&[from, to]| (to, from));
    out.dedup();
    out
}

/// Samples the weights of all poses on some arcs. Gives the range of each weight, and reversals between neighbours.
fn sample_arcs(
    driver: &PoseDriver,
    bind: &PoseDriverBind,
    arcs: &[[usize; 2]],
    distances: &[Vec<f64>],
) -> (Vec<Range>, Vec<Finding>) {
    let count = driver.poses.len();
    let on_arc = |ends: &[usize; 2]| {
        let [from, to] = ends.map(|pose| driver.poses[pose].values.as_slice());
        let steps = (0..=STEPS).map(|step| step as f64 / STEPS as f64);
        steps.map(move |part| between(from, to, part))
    };
    let queries: Vec<_> = arcs.iter().flat_map(on_arc).collect();
    let weights = bind.unlimited_weights_of_many(&queries);
    let mut ranges = vec![Range::NONE; count];
    let mut turns = Vec::new();
    for (&ends, of_arc) in arcs.iter().zip(weights.chunks_exact(count * (STEPS + 1))) {
        for weights in of_arc.chunks_exact(count) {
            for (range, weight) in ranges.iter_mut().zip(weights) {
                range.widen(*weight, ends);
            }
        }
        if are_neighbours(distances, ends) {
            let curve = |end: usize| of_arc[end..].iter().step_by(count).copied();
            let curves = ends.map(|end| curve(end).collect::<Vec<_>>());
            turns.extend(turned_back(driver, &curves, ends));
        }
    }
    (ranges, turns)
}

impl Range {
    const NONE: Self = Self {
        least: (0.0, [0, 0]),
        most: (0.0, [0, 0]),
    };

    fn widen(&mut self, weight: f64, ends: [usize; 2]) {
        if weight < self.least.0 {
            self.least = (weight, ends);
        }
        if weight > self.most.0 {
            self.most = (weight, ends);
        }
    }

    fn findings(&self, driver: &PoseDriver, pose: &str) -> Vec<Finding> {
        let name = |end: usize| driver.poses[end].name.clone();
        let mut out = Vec::new();
        let (weight, [from, to]) = self.least;
        if weight < -BEYOND {
            out.push(Finding::Undershoot {
                pose: pose.to_owned(),
                weight,
                from: name(from),
                to: name(to),
            });
        }
        let (weight, [from, to]) = self.most;
        if weight > 1.0 + BEYOND {
            out.push(Finding::Overshoot {
                pose: pose.to_owned(),
                weight,
                from: name(from),
                to: name(to),
            });
        }
        out
    }
}

/// True if no third pose is nearer to both than they are to each other (relative neighbourhood graph, Toussaint 1980).
fn are_neighbours(distances: &[Vec<f64>], [a, b]: [usize; 2]) -> bool {
    let apart = distances[a][b];
    let thirds = (0..distances.len()).filter(|&k| k != a && k != b);
    thirds
        .map(|k| distances[a][k].max(distances[b][k]))
        .all(|further| further >= apart)
}

/// Largest rise of the weight of the arc's first pose, or fall of that of its last pose.
fn turned_back(
    driver: &PoseDriver,
    [start, end]: &[Vec<f64>; 2],
    ends: [usize; 2],
) -> Option<Finding> {
    let falls: Vec<f64> = start.iter().map(|w| -w).collect();
    let (pose, by) = if drop_of(&falls) > drop_of(end) {
        (ends[0], drop_of(&falls))
    } else {
        (ends[1], drop_of(end))
    };
    (by > TURN).then(|| Finding::NotMonotone {
        pose: driver.poses[pose].name.clone(),
        from: driver.poses[ends[0]].name.clone(),
        to: driver.poses[ends[1]].name.clone(),
        by,
    })
}

/// Largest fall of a curve that should rise.
fn drop_of(curve: &[f64]) -> f64 {
    let mut highest = f64::NEG_INFINITY;
    let mut most = 0.0_f64;
    for &height in curve {
        highest = highest.max(height);
        most = most.max(highest - height);
    }
    most
}
