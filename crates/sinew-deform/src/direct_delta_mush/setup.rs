//! Setup: the moments of a mesh at rest.
//!
//! For each joint the field "weight, weight times position, weight times position squared" is smoothed at once
//! ([`Filter`]); taken about the smoothed rest position these are the moments of the paper. Those that are too small are
//! dropped, and what is missing then goes to the strongest joint of the vertex: sums over the joints are exact, so that the
//! identity and rigid motions are, too.

use super::filter::{Carried, Filter, FilterScratch, Filtered, LANES, WEIGHT_LANE, coefficients};
use super::{Moments, PairMoments};
use crate::laplacian::{
    LaplacianConfig, MeanOperator, SmootherError, check_positions, class_positions,
};
use crate::skin::{SkinBindError, check_influences};
use crate::{BindWatch, Par, Stopped, for_each_chunk};
use sinew_geom::{Influences, Mesh, WeldMap, index32};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How the moments are smoothed, and which are kept. The names are those of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothingSettings {
    /// Strength of the smoothing that turns the vertices, 0 to 1000.
    pub lambda: f64,
    /// Strength of the smoothing of the weights, 0 to `lambda`.
    pub kappa: f64,
    /// How much of the smoothed weights takes the place of the moments, 0 to 0.95.
    pub alpha: f64,
    /// Exponent of both smoothings, 0 to 1000.
    pub iterations: u32,
    /// Neighbours and their weights. By default, borders are not pinned.
    pub laplacian: LaplacianConfig,
    /// Whether each vertex starts with its strongest joint alone, as for a rigid bind.
    pub strongest_only: bool,
    /// A joint whose weight and share of the second moments are both below this is dropped from a vertex, 0 to 0.01.
    pub tolerance: f64,
}

impl Default for SmoothingSettings {
    fn default() -> Self {
        Self {
            lambda: 3.0,
            kappa: 1.0,
            alpha: 0.8,
            iterations: 20,
            laplacian: LaplacianConfig {
                pin_border: false,
                ..LaplacianConfig::default()
            },
            strongest_only: false,
            tolerance: 1e-4,
        }
    }
}

/// Why direct delta mush could not be set up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirectDeltaMushError {
    /// The joint weights do not fit.
    #[error(transparent)]
    Influences(#[from] SkinBindError),
    /// The rest positions do not fit.
    #[error(transparent)]
    Positions(#[from] SmootherError),
    /// A setting is out of its range.
    #[error("{name} is {found}, expected {expected}")]
    Setting {
        /// Its name.
        name: &'static str,
        /// What was given.
        found: f64,
        /// What may be given.
        expected: String,
    },
    /// More pairs of vertices and joints than 32 bits can count.
    #[error(
        "the mesh needs {pairs} pairs of vertices and joints, but at most {most} are possible; raise the tolerance (found {tolerance})"
    )]
    TooManyPairs {
        /// Pairs found.
        pairs: usize,
        /// Pairs that can be counted.
        most: u32,
        /// The tolerance.
        tolerance: f64,
    },
    /// Setup was stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl SmoothingSettings {
    /// Checks every setting against its range.
    ///
    /// # Errors
    /// [`DirectDeltaMushError::Setting`] names the first setting out of its range.
    pub fn check(&self) -> Result<(), DirectDeltaMushError> {
        let settings = [
            ("lambda", self.lambda, 0.0, 1000.0),
            ("kappa", self.kappa, 0.0, self.lambda),
            ("alpha", self.alpha, 0.0, 0.95),
            ("iterations", f64::from(self.iterations), 0.0, 1000.0),
            ("tolerance", self.tolerance, 0.0, 0.01),
        ];
        for (name, found, least, most) in settings {
            if !(least..=most).contains(&found) {
                let and = if name == "kappa" { " (lambda)" } else { "" };
                let expected = format!("{least} to {most}{and}");
                return Err(DirectDeltaMushError::Setting {
                    name,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }
}

impl SmoothingSettings {
    /// The weight and share below which a joint is dropped: one joint of each vertex has more.
    fn dropped(&self, joint_count: usize) -> f64 {
        self.tolerance.min(0.5 / joint_count.max(1) as f64)
    }
}

/// The moments of a mesh at rest, for a rig of `joint_count` joints. Sums run in double precision. The result is the same bits for any
/// number of threads.
///
/// Joints with too small a share of a vertex are dropped there, and its strongest joint takes what they held: weights sum to 1 and first
/// moments to 0 without them.
///
/// # Errors
/// [`DirectDeltaMushError`]: weights or positions that do not fit, settings out of range, too many pairs, or a stop.
///
/// # Cost
/// Time grows linearly with the vertices that each joint reaches; memory with the pairs that are kept.
pub fn moments(
    mesh: &Mesh,
    joint_count: usize,
    settings: &SmoothingSettings,
    par: Par,
    watch: &BindWatch<'_>,
) -> Result<Moments, DirectDeltaMushError> {
    settings.check()?;
    check_positions(mesh)?;
    let influences = check_influences(mesh, joint_count)?;
    let (operator, weld, _) = MeanOperator::build(mesh, &settings.laplacian);
    let fields = Fields::new(
        mesh,
        &weld,
        influences,
        joint_count,
        settings.strongest_only,
    );
    let filter = Filter::new(
        &operator,
        &coefficients(settings.lambda, settings.iterations),
        &coefficients(settings.kappa, settings.iterations),
        settings.dropped(joint_count),
    );
    let mut scratch = FilterScratch::default();
    let whole = filter.run(&fields.whole(), &mut scratch, par, watch)?;
    // Fields of the whole mesh begin with all points, in their order.
    let centred = Centred::new(whole.carried, settings, joint_count);
    let pool = Mutex::new(Vec::new());
    // The whole mesh was the first of them.
    let count = joint_count + 1;
    (watch.report)(1.0 / count as f64);
    let done = AtomicUsize::new(1);
    let mut of_joint: Vec<Result<Vec<Entry>, Stopped>> = Vec::new();
    of_joint.resize_with(joint_count, || Ok(Vec::new()));
    // A joint at a time, and rows of a joint: many joints keep all threads busy, and so do a few of large meshes.
    for_each_chunk(
        par,
        joint_count,
        1,
        &mut of_joint[..],
        &|joints, out: &mut [_]| {
            for (joint, out) in joints.zip(out) {
                let mut scratch = pool
                    .lock()
                    .ok()
                    .and_then(|mut p| p.pop())
                    .unwrap_or_default();
                let filtered = filter.run(&fields.of_joint(joint), &mut scratch, par, watch);
                *out = filtered.map(|f| centred.entries(index32(joint), &f));
                if let Ok(mut pool) = pool.lock() {
                    pool.push(scratch);
                }
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                (watch.report)(done as f64 / count as f64);
            }
        },
    );
    let of_joint = of_joint.into_iter().collect::<Result<Vec<_>, _>>()?;
    let rows = centred.rows(&of_joint);
    rows.spread(&weld, fields.origin, settings.tolerance)
}

/// The fields to be smoothed, by weld classes.
struct Fields {
    /// Middle of the bounds.
    origin: [f64; 3],
    /// Positions less the origin.
    positions: Vec<[f64; 3]>,
    /// Classes and weights of each joint.
    of_joint: Vec<Vec<(u32, f64)>>,
}

impl Fields {
    fn new(
        mesh: &Mesh,
        weld: &WeldMap,
        influences: &Influences,
        joint_count: usize,
        strongest_only: bool,
    ) -> Self {
        let mut positions = class_positions(weld, &mesh.positions);
        let origin = middle(&positions);
        for p in &mut positions {
            for (p, o) in p.iter_mut().zip(origin) {
                *p -= o;
            }
        }
        let mut members = vec![0_u32; weld.class_count()];
        for &class in &weld.class_of_vertex {
            members[class as usize] += 1;
        }
        let mut of_joint: Vec<Vec<(u32, f64)>> = vec![Vec::new(); joint_count];
        for (v, &class) in weld.class_of_vertex.iter().enumerate() {
            let share = 1.0 / f64::from(members[class as usize]);
            let taken = if strongest_only { 1 } else { usize::MAX };
            let row = || influences.row(v).take(taken);
            let sum: f64 = row().map(|r| f64::from(r.1)).sum();
            for (joint, weight) in row() {
                of_joint[joint as usize].push((class, f64::from(weight) / sum * share));
            }
        }
        of_joint.iter_mut().for_each(joined);
        Self {
            origin,
            positions,
            of_joint,
        }
    }

    fn carried(&self, class: u32, w: f64) -> Carried {
        let [x, y, z] = self.positions[class as usize];
        let mut carried = [0.0; LANES];
        let values = [1.0, x, y, z, x * x, x * y, x * z, y * y, y * z, z * z];
        for (c, v) in carried.iter_mut().zip(values) {
            *c = w * v;
        }
        carried[WEIGHT_LANE] = w;
        carried
    }

    /// All joints together.
    fn whole(&self) -> Vec<(u32, Carried)> {
        (0..index32(self.positions.len()))
            .map(|class| (class, self.carried(class, 1.0)))
            .collect()
    }

    fn of_joint(&self, joint: usize) -> Vec<(u32, Carried)> {
        let classes = self.of_joint[joint].iter();
        classes
            .map(|&(class, w)| (class, self.carried(class, w)))
            .collect()
    }
}

/// Adds up what members of one class have.
fn joined(classes: &mut Vec<(u32, f64)>) {
    classes.sort_by_key(|c| c.0);
    classes.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
}

fn middle(points: &[[f64; 3]]) -> [f64; 3] {
    std::array::from_fn(|c| {
        let bounds = points.iter().fold(None, |b: Option<(f64, f64)>, p| {
            let (low, high) = b.unwrap_or((p[c], p[c]));
            Some((low.min(p[c]), high.max(p[c])))
        });
        bounds.map_or(0.0, |(low, high)| low / 2.0 + high / 2.0)
    })
}

/// Second moments, first moments and weight in double precision, in the order of [`PairMoments`].
type Pair = [f64; 10];

/// Moments about the smoothed position `p` of the class, from moments about the origin.
fn centred(carried: &Carried, p: [f64; 3], alpha: f64, weight: f64) -> Pair {
    let [w, x, y, z, xx, xy, xz, yy, yz, zz, ..] = *carried;
    let m = [x, y, z];
    let second = |s: f64, a: usize, b: usize| s - m[a] * p[b] - p[a] * m[b] + w * p[a] * p[b];
    let keep = 1.0 - alpha;
    [
        keep * second(xx, 0, 0),
        keep * second(xy, 0, 1),
        keep * second(xz, 0, 2),
        keep * second(yy, 1, 1),
        keep * second(yz, 1, 2),
        keep * second(zz, 2, 2),
        keep * (x - w * p[0]),
        keep * (y - w * p[1]),
        keep * (z - w * p[2]),
        keep * w + alpha * weight,
    ]
}

fn single(pair: &Pair) -> PairMoments {
    let v = pair.map(|v| v as f32);
    PairMoments {
        second: [v[0], v[1], v[2], v[3], v[4], v[5]],
        first: [v[6], v[7], v[8]],
        weight: v[9],
    }
}

fn double(pair: &PairMoments) -> Pair {
    let [xx, xy, xz, yy, yz, zz] = pair.second;
    let [x, y, z] = pair.first;
    [xx, xy, xz, yy, yz, zz, x, y, z, pair.weight].map(f64::from)
}

fn trace(pair: &Pair) -> f64 {
    pair[0] + pair[3] + pair[5]
}

/// What one joint means to one class.
#[derive(Clone, Copy)]
struct Entry {
    class: u32,
    joint: u32,
    pair: PairMoments,
}

/// What all joints of a class are together, and which pairs of a class and a joint matter.
struct Centred {
    alpha: f64,
    /// Least weight or share of the second moments that matters. One joint of each class has more weight.
    least: f64,
    centers: Vec<[f64; 3]>,
    /// Sum over all joints.
    sums: Vec<Pair>,
}

impl Centred {
    /// From the moments of all joints together, those of one class after another.
    fn new(whole: &[Carried], settings: &SmoothingSettings, joint_count: usize) -> Self {
        let classes = || whole.iter();
        let centers: Vec<[f64; 3]> = classes().map(|m| [m[1], m[2], m[3]]).collect();
        let sums = classes().zip(&centers);
        Self {
            alpha: settings.alpha,
            least: settings.dropped(joint_count),
            sums: sums
                .map(|(m, &p)| centred(m, p, settings.alpha, 1.0))
                .collect(),
            centers,
        }
    }

    /// The pairs of one joint that matter.
    fn entries(&self, joint: u32, filtered: &Filtered<'_>) -> Vec<Entry> {
        let values = filtered.points.iter().zip(filtered.carried);
        values
            .filter_map(|(&class, carried)| {
                let c = class as usize;
                let weight = carried[WEIGHT_LANE];
                let pair = centred(carried, self.centers[c], self.alpha, weight);
                let matters =
                    pair[9] >= self.least || trace(&pair) > self.least * trace(&self.sums[c]);
                (matters && pair[9] > 0.0).then(|| Entry {
                    class,
                    joint,
                    pair: single(&pair),
                })
            })
            .collect()
    }

    /// Rows of the classes, strongest joint first; what is not kept goes to it.
    fn rows(self, of_joint: &[Vec<Entry>]) -> ClassRows {
        let all = || of_joint.iter().flatten();
        let mut offsets = vec![0; self.sums.len() + 1];
        for entry in all() {
            offsets[entry.class as usize + 1] += 1;
        }
        for c in 0..self.sums.len() {
            offsets[c + 1] += offsets[c];
        }
        let none = (0, PairMoments::default());
        let mut next = offsets.clone();
        let mut entries = vec![none; offsets[self.sums.len()]];
        for entry in all() {
            let slot = &mut next[entry.class as usize];
            entries[*slot] = (entry.joint, entry.pair);
            *slot += 1;
        }
        for (sum, row) in self.sums.iter().zip(offsets.windows(2)) {
            let row = &mut entries[row[0]..row[1]];
            // Joints come in their order, which the sort keeps among equals.
            row.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight));
            if let [strongest, others @ ..] = row {
                let mut rest = *sum;
                for (r, p) in others.iter().flat_map(|o| (0..10).zip(double(&o.1))) {
                    rest[r] -= p;
                }
                strongest.1 = single(&rest);
            }
        }
        ClassRows {
            offsets,
            entries,
            centers: self.centers,
        }
    }
}

/// Rows of weld classes.
struct ClassRows {
    offsets: Vec<usize>,
    entries: Vec<(u32, PairMoments)>,
    centers: Vec<[f64; 3]>,
}

impl ClassRows {
    /// A row for each vertex.
    fn spread(
        &self,
        weld: &WeldMap,
        origin: [f64; 3],
        tolerance: f64,
    ) -> Result<Moments, DirectDeltaMushError> {
        let row = |class: u32| self.offsets[class as usize]..self.offsets[class as usize + 1];
        let classes = || weld.class_of_vertex.iter().copied();
        let pairs: usize = classes().map(|c| row(c).len()).sum();
        if u32::try_from(pairs).is_err() {
            return Err(DirectDeltaMushError::TooManyPairs {
                pairs,
                most: u32::MAX,
                tolerance,
            });
        }
        let mut out = Moments {
            offsets: Vec::with_capacity(weld.class_of_vertex.len() + 1),
            joints: Vec::with_capacity(pairs),
            pairs: Vec::with_capacity(pairs),
            centers: Vec::with_capacity(weld.class_of_vertex.len()),
            origin,
        };
        out.offsets.push(0);
        for class in classes() {
            let row = &self.entries[row(class)];
            out.joints.extend(row.iter().map(|e| e.0));
            out.pairs.extend(row.iter().map(|e| e.1));
            out.offsets.push(index32(out.pairs.len()));
            out.centers
                .push(self.centers[class as usize].map(|c| c as f32));
        }
        Ok(out)
    }
}
