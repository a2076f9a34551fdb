//! Reduces the poses of a driver and chooses a width: removes poses that the others predict.
//!
//! An artist who exports every frame of a clip as a pose needs only a few of them. The input are the numbers that each
//! pose drives (weights of morph targets, channels of helper joints). A pose is redundant if the driver without it
//! still gives these numbers at every original pose, within a tolerance.

use crate::deform::pose_driver::{
    DriverValue, Metric, PoseDriver, PoseDriverBind, PoseDriverError, Rules, Solver, Width,
};

/// The numbers that each pose drives, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct DrivenValues {
    /// One row per pose.
    pub numbers: Vec<f64>,
    /// Numbers per row.
    pub columns: usize,
}

impl DrivenValues {
    /// The values of the poses themselves, three numbers per joint: rotation vectors relative to the first pose in
    /// radians, or positions in metres for metric `position`. Driven values usually follow them smoothly. Thus a width
    /// that predicts them is a good guess without other data.
    pub(crate) fn of_poses(driver: &PoseDriver) -> Self {
        let first = driver.poses.first().map_or(&[][..], |p| &p.values);
        let is_place = driver.metric == Metric::Position;
        let of_joint = |(rest, value): (&DriverValue, &DriverValue)| -> [f64; 3] {
            if is_place {
                (value.translation - rest.translation).into()
            } else {
                (rest.rotation.inverse() * value.rotation)
                    .scaled_axis()
                    .into()
            }
        };
        let poses = driver.poses.iter();
        let numbers = poses.flat_map(|p| first.iter().zip(&p.values).flat_map(of_joint));
        Self {
            numbers: numbers.collect(),
            columns: 3 * first.len(),
        }
    }

    fn row(&self, row: usize) -> &[f64] {
        let start = row * self.columns;
        self.numbers
            .get(start..start + self.columns)
            .unwrap_or_default()
    }

    fn of_rows(&self, rows: &[usize]) -> Self {
        Self {
            numbers: rows.iter().flat_map(|&r| self.row(r)).copied().collect(),
            columns: self.columns,
        }
    }
}

/// Options of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FitOptions {
    /// Maximum error of any driven number at any original pose, in its own unit.
    pub tolerance: f64,
    /// Poses closer than this count as equal, in the unit of the metric.
    pub merge: f64,
    /// Maximum condition number of a width.
    pub condition_limit: f64,
}

impl Default for FitOptions {
    /// 0.02, half a degree, a million.
    fn default() -> Self {
        Self {
            tolerance: 0.02,
            merge: 0.5_f64.to_radians(),
            condition_limit: 1e6,
        }
    }
}

/// Error of fitting a driver.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// Additive solvers have no system to fit.
    #[error(
        "found an additive solver, expected an interpolative one; additive solvers do not keep weights at their poses"
    )]
    Additive,
    /// At least two poses must remain after leaving one out.
    #[error("found {found} different poses, expected 3 or more")]
    TooFew {
        /// Number of different poses.
        found: usize,
    },
    /// The table has another size.
    #[error("found {found} driven values, expected {poses} rows of {columns}")]
    Shape {
        /// Numbers found.
        found: usize,
        /// Number of poses.
        poses: usize,
        /// Numbers per row.
        columns: usize,
    },
    /// A number is not finite.
    #[error("row {row} of the driven values has a number that is not finite")]
    NotFinite {
        /// Index of the row.
        row: usize,
    },
    /// An option is out of range.
    #[error("{what} is {found}, expected a finite number, 0 or greater")]
    Option {
        /// Name of the option.
        what: &'static str,
        /// Its value.
        found: f64,
    },
    /// No width is possible.
    #[error(
        "no width gives a condition number below {limit:e}; raise the limit or merge more poses"
    )]
    NoWidth {
        /// The limit.
        limit: f64,
    },
    /// The driver itself is invalid.
    #[error(transparent)]
    Driver(#[from] PoseDriverError),
}

/// Reason why a pose was removed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// It is close to a pose that stays.
    Same {
        /// Index of that pose.
        pose: usize,
        /// Their distance, in the unit of the metric.
        apart: f64,
        /// Largest difference of their driven values; 0 without driven values.
        values_differ: f64,
    },
    /// The other poses predict it.
    Redundant {
        /// Largest error of the driven numbers at any original pose after its removal.
        error: f64,
    },
}

/// A removed pose.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Removed {
    /// Its index in the driver.
    pub pose: usize,
    /// The reason.
    pub reason: Reason,
}

/// Result of a fit.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fit {
    /// Indices of the remaining poses, increasing.
    pub kept: Vec<usize>,
    /// Removed poses, in the order of removal.
    pub removed: Vec<Removed>,
    /// Proposed width, in the unit of the metric.
    pub width: f64,
    /// Condition number of the remaining poses with this width.
    pub condition: f64,
    /// Root mean square of the leave-one-out errors of the remaining poses.
    pub leave_one_out: f64,
    /// Largest error of the driven numbers at any original pose; `None` without driven values.
    pub error: Option<f64>,
}

/// Fits a driver. `values` has one row per pose. Without it, only equal poses are removed, and the width is chosen with the
/// values of the poses: three numbers per joint, rotation vectors in radians, or positions in metres for metric `position`.
///
/// Steps:
///
/// 1. Remove poses closer than `merge` to an earlier one.
/// 2. Choose the width that predicts each pose best from the others ([`Fit::leave_one_out`]).
/// 3. Remove poses one by one, best predicted first, as long as every number stays within the tolerance at all original
///    poses. Never remove the first pose. Errors are those of the node's weights, with limits and normalization.
/// 4. After a removal, choose the width again by the largest such error, and try to remove more.
///
/// Cost: `O(n⁴)` for n poses if many are removed.
///
/// # Errors
/// [`FitError`].
pub fn fit(
    driver: &PoseDriver,
    values: Option<&DrivenValues>,
    options: &FitOptions,
) -> Result<Fit, FitError> {
    check(driver, values, options)?;
    let own = DrivenValues::of_poses(driver);
    let (mut kept, mut removed) = merge(driver, values, options.merge)?;
    if kept.len() < 3 {
        return Err(FitError::TooFew { found: kept.len() });
    }
    let merged = of_poses(driver, &kept);
    let table = values.unwrap_or(&own).of_rows(&kept);
    let predicted = |bind: &PoseDriverBind| root_mean_square(&leave_one_out(bind, &table));
    let (width, _) = best_width(&merged, 0.0, options.condition_limit, &predicted)?;
    let mut search = Search {
        driver: driver.clone(),
        width,
        values,
    };
    search.set_width(width);
    search.reduce(&mut kept, &mut removed, options.tolerance)?;
    search.widen(&mut kept, &mut removed, options)?;
    let bind = search.bind(&kept)?;
    let table = values.unwrap_or(&own).of_rows(&kept);
    Ok(Fit {
        error: values.map(|v| search.error(&bind, &kept, v)),
        condition: bind.condition().unwrap_or(1.0),
        leave_one_out: root_mean_square(&leave_one_out(&bind, &table)),
        width: search.width,
        kept,
        removed,
    })
}

fn check(
    driver: &PoseDriver,
    values: Option<&DrivenValues>,
    options: &FitOptions,
) -> Result<(), FitError> {
    if driver.solver == Solver::Additive {
        return Err(FitError::Additive);
    }
    for (what, found) in [
        ("tolerance", options.tolerance),
        ("merge distance", options.merge),
        ("condition limit", options.condition_limit),
    ] {
        if !(found.is_finite() && found >= 0.0) {
            return Err(FitError::Option { what, found });
        }
    }
    let Some(values) = values else {
        return Ok(());
    };
    let (poses, columns) = (driver.poses.len(), values.columns);
    let found = values.numbers.len();
    if columns == 0 || poses.checked_mul(columns) != Some(found) {
        return Err(FitError::Shape {
            found,
            poses,
            columns,
        });
    }
    let bad = values.numbers.iter().position(|v| !v.is_finite());
    match bad {
        Some(index) => Err(FitError::NotFinite {
            row: index / columns,
        }),
        None => Ok(()),
    }
}

fn of_poses(driver: &PoseDriver, kept: &[usize]) -> PoseDriver {
    PoseDriver {
        poses: kept.iter().map(|&p| driver.poses[p].clone()).collect(),
        ..driver.clone()
    }
}

/// The different poses, and the duplicates.
fn merge(
    driver: &PoseDriver,
    values: Option<&DrivenValues>,
    nearest: f64,
) -> Result<(Vec<usize>, Vec<Removed>), FitError> {
    let distances = distances(driver)?;
    let mut kept: Vec<usize> = Vec::new();
    let mut removed = Vec::new();
    for (pose, row) in distances.iter().enumerate() {
        let near = kept.iter().copied().find(|&k| row[k] < nearest);
        let Some(other) = near else {
            kept.push(pose);
            continue;
        };
        let values_differ = values.map_or(0.0, |v| largest_difference(v.row(pose), v.row(other)));
        removed.push(Removed {
            pose,
            reason: Reason::Same {
                pose: other,
                apart: row[other],
                values_differ,
            },
        });
    }
    Ok((kept, removed))
}

/// Distances of all poses. Poses without a solution are allowed.
fn distances(driver: &PoseDriver) -> Result<Vec<Vec<f64>>, FitError> {
    let mut asked = driver.clone();
    asked.solver = Solver::Additive;
    asked.width = Width::Given(1.0);
    if asked.rules != Rules::Sinew {
        // Poses of interpolative solvers have no metrics of their own.
        asked.poses.iter_mut().for_each(|p| p.metric = None);
    }
    let bind = PoseDriverBind::new(&asked)?;
    let poses = asked.poses.iter();
    Ok(poses.map(|p| bind.distances(&p.values)).collect())
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    let differences = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

/// Error of each driven number at each pose if the driver is solved without that pose, before limits. Row by row as in
/// `values`, which has one row per pose of `bind`. Closed form from the inverse of the kernel matrix (Rippa, Advances
/// in Computational Mathematics 11, 1999): `(C^T Y)_j / C_jj`. Empty for additive solvers, and if the number of rows
/// differs from that of poses. Cost: `O(n² m)` for m numbers per row.
///
/// Exact if leaving out a pose does not change widths: with [`Width::Given`].
pub(crate) fn leave_one_out(bind: &PoseDriverBind, values: &DrivenValues) -> Vec<f64> {
    let count = bind.pose_count();
    if count.checked_mul(values.columns) != Some(values.numbers.len()) {
        return Vec::new();
    }
    let mut out = Vec::with_capacity(values.numbers.len());
    for pose in 0..count {
        let Some(own) = bind.coefficient(pose, pose) else {
            return Vec::new();
        };
        for column in 0..values.columns {
            let parts = (0..count).map(|weight| {
                let coefficient = bind.coefficient(weight, pose).unwrap_or(0.0);
                coefficient * values.numbers[weight * values.columns + column]
            });
            out.push(parts.sum::<f64>() / own);
        }
    }
    out
}

/// Number of candidate widths before refinement.
const WIDTHS: usize = 48;
/// Refinement steps; each one reduces the range by a third.
const REFINEMENTS: usize = 20;

/// The width of at least `narrowest` with the smallest error by this measure, and its error.
fn best_width(
    driver: &PoseDriver,
    narrowest: f64,
    condition_limit: f64,
    measure: &dyn Fn(&PoseDriverBind) -> f64,
) -> Result<(f64, f64), FitError> {
    let mut trial = driver.clone();
    let mut error_of = |logarithm: f64| -> f64 {
        trial.width = Width::Given(logarithm.exp());
        let bind = PoseDriverBind::new(&trial).ok();
        let bind = bind.filter(|b| b.condition().is_some_and(|c| c <= condition_limit));
        bind.map_or(f64::INFINITY, |b| measure(&b))
    };
    let [low, high] = range(driver)?.map(|width| width.max(narrowest).ln());
    let step = (high - low) / float(WIDTHS - 1);
    let tried = (0..WIDTHS).map(|i| low + step * float(i));
    let tried = tried.map(|width| (width, error_of(width)));
    let best = tried.min_by(|a, b| a.1.total_cmp(&b.1));
    let best = best.filter(|(_, error)| error.is_finite());
    let (best, least) = best.ok_or(FitError::NoWidth {
        limit: condition_limit,
    })?;
    let (refined, error) = refine(&mut error_of, (best - step).max(low), best + step);
    let (width, error) = if error < least {
        (refined, error)
    } else {
        (best, least)
    };
    Ok((width.exp(), error))
}

/// Golden section search.
fn refine(error_of: &mut dyn FnMut(f64) -> f64, mut low: f64, mut high: f64) -> (f64, f64) {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let mut best = (low, f64::INFINITY);
    for _ in 0..REFINEMENTS {
        let at = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
        let errors = at.map(&mut *error_of);
        for (at, error) in at.into_iter().zip(errors) {
            if error < best.1 {
                best = (at, error);
            }
        }
        if errors[0] <= errors[1] {
            high = at[1];
        } else {
            low = at[0];
        }
    }
    best
}

/// Smallest and largest candidate width: from a quarter of the smallest distance to eight times the largest, and
/// accordingly for kernels with a squared width.
fn range(driver: &PoseDriver) -> Result<[f64; 2], FitError> {
    let distances = distances(driver)?;
    let all = || distances.iter().flatten().copied().filter(|d| *d > 0.0);
    let least = all().fold(f64::INFINITY, f64::min) * 0.25;
    let most = all().fold(0.0, f64::max) * 8.0;
    if !(least.is_finite() && most > 0.0) {
        return Err(FitError::TooFew { found: 1 });
    }
    Ok([least.min(least.sqrt()), most.max(most.sqrt())])
}

fn root_mean_square(errors: &[f64]) -> f64 {
    if errors.is_empty() {
        return f64::INFINITY;
    }
    (errors.iter().map(|e| e * e).sum::<f64>() / float(errors.len())).sqrt()
}

fn float(number: usize) -> f64 {
    number as f64
}

/// A driver with a width, and the driven numbers of its poses.
struct Search<'a> {
    driver: PoseDriver,
    width: f64,
    values: Option<&'a DrivenValues>,
}

/// Number of new searches for a width after removals.
const ROUNDS: usize = 8;

impl Search<'_> {
    fn set_width(&mut self, width: f64) {
        self.width = width;
        self.driver.width = Width::Given(width);
    }

    fn bind(&self, kept: &[usize]) -> Result<PoseDriverBind, PoseDriverError> {
        PoseDriverBind::new(&of_poses(&self.driver, kept))
    }

    /// Fewer poses allow a wider kernel: chooses the width with the smallest error at all original poses and removes
    /// redundant poses, until there are none.
    fn widen(
        &mut self,
        kept: &mut Vec<usize>,
        removed: &mut Vec<Removed>,
        options: &FitOptions,
    ) -> Result<(), FitError> {
        let Some(values) = self.values else {
            return Ok(());
        };
        for _ in 0..ROUNDS {
            if kept.len() < 2 {
                break;
            }
            let before = self.error(&self.bind(kept)?, kept, values);
            let rest = of_poses(&self.driver, kept);
            let measure = |bind: &PoseDriverBind| self.error(bind, kept, values);
            let best = best_width(&rest, self.width, options.condition_limit, &measure);
            let Some((width, _)) = best.ok().filter(|b| b.1 < before) else {
                break;
            };
            self.set_width(width);
            let count = kept.len();
            self.reduce(kept, removed, options.tolerance)?;
            if kept.len() == count {
                break;
            }
        }
        Ok(())
    }

    /// Removes poses from `kept` as long as the error is within the tolerance.
    fn reduce(
        &self,
        kept: &mut Vec<usize>,
        removed: &mut Vec<Removed>,
        tolerance: f64,
    ) -> Result<(), FitError> {
        let Some(values) = self.values else {
            return Ok(());
        };
        while kept.len() > 1 {
            let bind = self.bind(kept)?;
            let order = predicted_best_first(&bind, &values.of_rows(kept));
            let without = |place: &usize| {
                let mut rest = kept.clone();
                let pose = rest.remove(*place);
                let bind = self.bind(&rest).ok()?;
                let error = self.error(&bind, &rest, values);
                (error <= tolerance).then_some((rest, pose, error))
            };
            let Some((rest, pose, error)) = order.iter().find_map(without) else {
                break;
            };
            *kept = rest;
            let reason = Reason::Redundant { error };
            removed.push(Removed { pose, reason });
        }
        Ok(())
    }

    /// Largest error of the driven numbers at any original pose, with only the poses in `kept`.
    fn error(&self, bind: &PoseDriverBind, kept: &[usize], values: &DrivenValues) -> f64 {
        let poses = self.driver.poses.iter().enumerate();
        let errors = poses.map(|(row, pose)| {
            let weights = bind.weights(&pose.values);
            let mut sum = vec![0.0; values.columns];
            for (weight, &pose) in weights.iter().zip(kept) {
                for (sum, value) in sum.iter_mut().zip(values.row(pose)) {
                    *sum += weight * value;
                }
            }
            largest_difference(&sum, values.row(row))
        });
        errors.fold(0.0, f64::max)
    }
}

/// Indices of all poses but the first, ordered by leave-one-out error.
fn predicted_best_first(bind: &PoseDriverBind, values: &DrivenValues) -> Vec<usize> {
    let errors = leave_one_out(bind, values);
    let largest = |place: usize| {
        let row = errors.chunks(values.columns.max(1)).nth(place);
        row.map_or(f64::INFINITY, |row| {
            row.iter().fold(0.0_f64, |m, e| m.max(e.abs()))
        })
    };
    let mut order: Vec<(usize, f64)> = (1..bind.pose_count()).map(|p| (p, largest(p))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    order.into_iter().map(|o| o.0).collect()
}
