//! Helpers and morph targets as functions of the pose: pose drivers for the graph in the file.
//!
//! A corrective has a weight in every sample, a helper a transform relative to its parent. Both blend linearly over the
//! poses of a driver (`mix` of node `drive_morphs`, channels of `drive_joints`). Thus a driver that interpolates some
//! samples exactly is enough:
//!
//! 1. Select the relevant joints ([`relevance`]): rotating them moves the vertices relative to each other; or
//!    neighbouring joints, if the samples show it.
//! 2. Select poses among the samples greedily: the rest pose, then the sample with the largest error, until all are
//!    within the tolerance or the maximum is reached. The samples decide if poses are close together. Each added pose
//!    updates the errors of all other samples.
//! 3. Choose the width with the smallest error at the samples that are not poses, as long as the system is well
//!    conditioned.
//!
//! Sources: Lewis, Cordner and Fong, "Pose space deformation", 2000 (weights from poses by radial functions); Schaback and Wendland, "Adaptive greedy
//! techniques for approximate solution of large RBF systems", 2000 (one sample after another, where the rest is largest).

mod document;
mod relevance;
#[cfg(test)]
mod tests;

use super::edit::moment;
use super::source::Collected;
use super::{Correctives, Helper, SkinDriver, SkinError, SkinFit, SkinProblem};
use crate::bake::Watch;
use crate::deform::pose_driver::{
    Clamp, DriverPose, DriverValue, Normalize, PoseDriver, PoseDriverBind, PoseDriverJob,
    PoseDriverScratch, Width,
};
use crate::geom::{Asset, Real, Trs};
use relevance::Relevance;
use std::collections::BTreeMap;

pub(super) use document::Names;

/// Poses closer than this are equal: half a degree, as a chord.
const SAME: f64 = 0.0087;
/// Maximum condition of the system of poses: single precision must hold the weights.
const CONDITION: f64 = 1e7;
/// Candidate widths, as multiples of the median distance from a pose to its nearest neighbour.
const WIDTHS: [f64; 6] = [0.75, 1.0, 1.5, 2.0, 3.0, 4.5];

/// An item that follows the pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    Helper(usize),
    Corrective(usize),
}

/// Joints, their poses, and the items that they drive.
#[derive(Clone, Debug)]
pub(super) struct Driver {
    /// Indices of joints of the rig.
    pub(super) joints: Vec<usize>,
    pub(super) items: Vec<Item>,
    pub(super) knots: Knots,
}

/// Poses of a driver.
#[derive(Clone, Debug)]
pub(super) struct Knots {
    /// The sample of each pose; `None` for the rest pose, in which nothing is driven.
    pub(super) samples: Vec<Option<usize>>,
    /// Joint values of the driver in each pose.
    pub(super) values: Vec<Vec<DriverValue>>,
    /// Width of the Gaussian, in chords.
    pub(super) width: f64,
    /// Mean squared error over the samples.
    pub(super) left: f64,
}

/// Input of a driver.
pub(super) struct Table {
    /// For each sample, the joint values of the driver.
    pub(super) values: Vec<Vec<DriverValue>>,
    /// For each sample, the driven numbers. They blend linearly, and are scaled so that their squares are square metres
    /// over the vertices.
    pub(super) rows: Vec<Vec<f64>>,
    /// Joint values at rest, where all driven numbers are zero.
    pub(super) rest: Vec<DriverValue>,
}

/// Limits of the pose selection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Maximum number of poses of a driver, including the rest pose.
    pub(super) poses: usize,
    /// Distance at which a vertex counts as reached, metres.
    pub(super) tolerance: f64,
}

impl Limits {
    /// The sum of squares that is allowed for this number of vertices.
    fn enough(self, vertices: usize) -> f64 {
        self.tolerance * self.tolerance * vertices as f64
    }
}

/// All driven items and their data.
pub(super) struct Drive<'a> {
    pub(super) asset: &'a Asset,
    pub(super) collected: &'a Collected,
    pub(super) fit: &'a SkinFit,
    pub(super) correctives: &'a Correctives,
}

impl Drive<'_> {
    /// All items that can be driven.
    fn items(&self) -> impl Iterator<Item = Item> {
        let helpers = (0..self.fit.helpers.len()).map(Item::Helper);
        helpers.chain((0..self.correctives.targets.len()).map(Item::Corrective))
    }

    /// Drivers of helpers and correctives. Items of the same joints share a driver. Items that no joint moves have
    /// none: see [`Self::undriven`].
    ///
    /// # Errors
    /// [`SkinError::Cancelled`].
    pub(super) fn drivers(
        &self,
        limits: Limits,
        watch: &Watch<'_>,
    ) -> Result<Vec<Driver>, SkinError> {
        let problem = self.collected.problem();
        let training = training(&problem);
        let rest = self.rest();
        let relevance = Relevance::new(
            self.asset,
            &problem,
            self.fit,
            &self.collected.locals,
            &rest,
            &training,
        );
        let is_stopped = watch.is_cancelled;
        let search = |table: &Table, vertices: usize| {
            let enough = limits.enough(vertices);
            knots_of(table, &training, limits.poses, enough, is_stopped)
        };
        let mut sets: BTreeMap<Vec<usize>, Vec<Item>> = BTreeMap::new();
        for item in self.items() {
            let vertices = self.vertices(item);
            let left = |joints: &[usize]| {
                let table = self.table(joints, &[item], &rest);
                let all = mean(training.iter().map(|&s| squares(&table.rows[s])));
                search(&table, vertices.len()).map_or(all, |k| k.left)
            };
            let joints = relevance.joints(&vertices, &left);
            if is_stopped() {
                return Err(SkinError::Cancelled);
            }
            if !joints.is_empty() {
                sets.entry(joints).or_default().push(item);
            }
        }
        let mut made = Vec::new();
        for (joints, items) in sets {
            let table = self.table(&joints, &items, &rest);
            let vertices: usize = items.iter().map(|i| self.vertices(*i).len()).sum();
            let found = search(&table, vertices);
            if is_stopped() {
                return Err(SkinError::Cancelled);
            }
            made.extend(found.map(|knots| Driver {
                joints,
                items,
                knots,
            }));
        }
        Ok(made)
    }

    /// Names of items without a driver.
    pub(super) fn undriven(&self, drivers: &[Driver], names: &Names) -> Vec<String> {
        let is_driven = |item: &Item| drivers.iter().any(|d| d.items.contains(item));
        let others = self.items().filter(|item| !is_driven(item));
        others.map(|item| names.of(item).to_owned()).collect()
    }

    fn rest(&self) -> Vec<DriverValue> {
        super::sampler::joint_values(self.asset, &self.asset.rig.rest_pose())
    }

    /// The vertices that an item moves, and their weights.
    fn vertices(&self, item: Item) -> Vec<(usize, f64)> {
        match item {
            Item::Corrective(k) => {
                let target = &self.correctives.targets[k];
                let rows = target.vertices.iter().zip(&target.positions);
                rows.map(|(&v, d)| (v as usize, f64::vec3(*d).norm_squared()))
                    .collect()
            }
            Item::Helper(h) => {
                let joints = self.asset.rig.joints().len();
                let rows = &self.fit.influences;
                let weight = |v: usize| {
                    let found = rows.row(v).find(|r| r.0 as usize == joints + h);
                    found.map(|r| (v, f64::from(r.1) * f64::from(r.1)))
                };
                (0..rows.vertex_count()).filter_map(weight).collect()
            }
        }
    }

    fn table(&self, joints: &[usize], items: &[Item], rest: &[DriverValue]) -> Table {
        let of = |all: &[DriverValue]| joints.iter().map(|&j| all[j]).collect();
        let scales: Vec<[f64; 2]> = items.iter().map(|i| self.scales(*i)).collect();
        let row = |s: usize| {
            let parts = items.iter().zip(&scales);
            parts
                .flat_map(|(item, scale)| self.numbers(*item, s, *scale))
                .collect()
        };
        Table {
            values: self.collected.locals.iter().map(|l| of(l)).collect(),
            rows: (0..self.collected.locals.len()).map(row).collect(),
            rest: of(rest),
        }
    }

    /// Displacement of vertices per unit of the driven numbers: root of the sum of squares, for translations and
    /// rotations.
    fn scales(&self, item: Item) -> [f64; 2] {
        let vertices = self.vertices(item);
        let sum: f64 = vertices.iter().map(|v| v.1).sum();
        match item {
            Item::Corrective(_) => [sum.sqrt(), 0.0],
            Item::Helper(h) => {
                let center = self.fit.helpers[h].bind.translation;
                let rest = self.collected.problem().rest;
                let far = |v: usize| (f64::vec3(rest[v]) - center).norm_squared();
                let turned: f64 = vertices.iter().map(|(v, w)| w * far(*v)).sum();
                [sum.sqrt(), turned.sqrt()]
            }
        }
    }

    fn numbers(&self, item: Item, sample: usize, [shift, turn]: [f64; 2]) -> Vec<f64> {
        match item {
            Item::Corrective(k) => vec![f64::from(self.correctives.weights[sample][k]) * shift],
            Item::Helper(h) => {
                let (now, rest) = (self.helper_at(h, sample), self.helper_at_rest(h));
                let moved = (now.translation - rest.translation) * shift;
                let turned = (rest.rotation.inverse() * now.rotation).scaled_axis() * turn;
                let scaled = (now.scale - rest.scale) * turn;
                [moved, turned, scaled]
                    .iter()
                    .flat_map(|v| [v.x, v.y, v.z])
                    .collect()
            }
        }
    }

    fn helper(&self, helper: usize) -> &Helper {
        &self.fit.helpers[helper]
    }

    pub(super) fn helper_at(&self, helper: usize, sample: usize) -> Trs {
        moment(
            self.asset,
            &self.collected.samples,
            self.helper(helper),
            sample,
        )
    }

    pub(super) fn helper_at_rest(&self, helper: usize) -> Trs {
        super::edit::at_rest(self.asset, self.helper(helper))
    }

    /// Driver entries of a report.
    pub(super) fn reports(&self, drivers: &[Driver], names: &Names) -> Vec<SkinDriver> {
        let report = |driver: &Driver| {
            let joints = driver
                .joints
                .iter()
                .map(|&j| relevance::name(self.asset, j));
            let vertices = driver.items.iter().map(|i| self.vertices(*i).len());
            let mean = driver.knots.left / vertices.sum::<usize>().max(1) as f64;
            let drives = driver.items.iter().map(|i| names.of(*i).to_owned());
            let mut out = SkinDriver::default();
            out.joints = joints.map(str::to_owned).collect();
            out.drives = drives.collect();
            out.poses = driver.knots.samples.len();
            out.rms_mm = mean.sqrt() * 1e3;
            out
        };
        drivers.iter().map(report).collect()
    }
}

/// Samples with driven values.
fn training(problem: &SkinProblem<'_>) -> Vec<usize> {
    let groups = problem.samples.groups().iter().filter(|g| g.is_free);
    groups.flat_map(|g| g.samples.clone()).collect()
}

/// Distance of poses: chords of the rotations between their joints, `2 sin(angle / 2)`, as one length.
fn apart(a: &[DriverValue], b: &[DriverValue]) -> f64 {
    let of_joint = |(a, b): (&DriverValue, &DriverValue)| {
        let between = a.rotation.inverse() * b.rotation;
        4.0 * between.imag().norm_squared()
    };
    a.iter().zip(b).map(of_joint).sum::<f64>().sqrt()
}

/// Selects poses for a table: see the module documentation. `None` if nothing needs to be driven. `enough` is a sum of
/// squares. Stops early if work is cancelled.
pub(super) fn knots_of(
    table: &Table,
    training: &[usize],
    most: usize,
    enough: f64,
    is_stopped: &dyn Fn() -> bool,
) -> Option<Knots> {
    let norm = |s: usize| squares(&table.rows[s]);
    // A rest sample is better data than zeros.
    let near = |s: &usize| apart(&table.values[*s], &table.rest) < SAME;
    let first = training.iter().copied().find(near);
    let mut knots = Knots {
        samples: vec![first],
        values: vec![first.map_or_else(|| table.rest.clone(), |s| table.values[s].clone())],
        width: 1.0,
        left: mean(training.iter().map(|&s| norm(s))),
    };
    let mut left: Vec<f64> = training.iter().map(|&s| norm(s)).collect();
    while knots.samples.len() < most && !is_stopped() {
        let is_new = |s: usize| {
            let value = &table.values[s];
            knots.values.iter().all(|k| apart(k, value) >= SAME)
        };
        let open = (0..training.len()).filter(|&i| left[i] > enough && is_new(training[i]));
        let Some(worst) = open.reduce(|a, b| if left[b] > left[a] { b } else { a }) else {
            break;
        };
        let mut more = knots.clone();
        more.samples.push(Some(training[worst]));
        more.values.push(table.values[training[worst]].clone());
        let Some(found) = solved(table, training, &mut more) else {
            break;
        };
        (knots, left) = (more, found);
    }
    (knots.samples.len() > 1).then_some(knots)
}

fn squares(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum()
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0_usize);
    for n in numbers {
        sum += n;
        count += 1;
    }
    sum / count.max(1) as f64
}

/// Sets the width with the smallest error, and gives the error of each sample. `None` if no width can be solved.
fn solved(table: &Table, training: &[usize], knots: &mut Knots) -> Option<Vec<f64>> {
    let values = knots.values.iter().enumerate();
    let nearest = values.map(|(i, a)| {
        let others = knots.values.iter().enumerate().filter(|o| o.0 != i);
        others.map(|o| apart(a, o.1)).fold(f64::INFINITY, f64::min)
    });
    let mut nearest: Vec<f64> = nearest.collect();
    nearest.sort_by(f64::total_cmp);
    let median = nearest[nearest.len() / 2];
    let mut best: Option<(f64, f64, Vec<f64>)> = None;
    for factor in WIDTHS {
        let width = factor * median;
        let Ok(bind) = PoseDriverBind::new(&driver_of(&knots.values, width)) else {
            continue;
        };
        if bind.condition().is_some_and(|c| c > CONDITION) {
            continue;
        }
        let left = left_of(table, training, knots, &bind);
        let sum = mean(left.iter().copied());
        if best.as_ref().is_none_or(|b| sum < b.0) {
            best = Some((sum, width, left));
        }
    }
    let (sum, width, left) = best?;
    (knots.width, knots.left) = (width, sum);
    Some(left)
}

/// Remaining error of each sample: sums of squares.
fn left_of(table: &Table, training: &[usize], knots: &Knots, bind: &PoseDriverBind) -> Vec<f64> {
    let mut scratch = PoseDriverScratch::new(bind);
    let mut weights = vec![0.0; knots.samples.len()];
    let of_sample = |&s: &usize| {
        PoseDriverJob {
            bind,
            values: &table.values[s],
            scratch: &mut scratch,
            weights: &mut weights,
        }
        .run();
        let mut off = table.rows[s].clone();
        for (knot, w) in knots.samples.iter().zip(&weights) {
            let row = knot.map_or(&[][..], |k| &table.rows[k]);
            for (o, x) in off.iter_mut().zip(row) {
                *o -= x * f64::from(*w);
            }
        }
        squares(&off)
    };
    training.iter().map(of_sample).collect()
}

/// An interpolating driver without limits: driven values blend linearly, including negative weights.
fn driver_of(values: &[Vec<DriverValue>], width: f64) -> PoseDriver {
    let pose =
        |(i, values): (usize, &Vec<DriverValue>)| DriverPose::new(i.to_string(), values.clone());
    PoseDriver {
        poses: values.iter().enumerate().map(pose).collect(),
        width: Width::Given(width),
        clamp: Clamp::None,
        normalize: Normalize::None,
        ..PoseDriver::default()
    }
}
