//! Setup: the moments of a mesh at rest.
//!
//! For each joint the field "weight, weight times position, weight times position squared" is smoothed at once
//! ([`Filter`]); taken about the smoothed rest position these are the moments of the paper. Those that are too small are
//! dropped, and what is missing then goes to the strongest joint of the vertex: sums over the joints are exact, so that the
//! identity and rigid motions are, too.

use super::filter::{Carried, Filter, FilterScratch, LANES, coefficients};
use super::{Moments, PairMoments};
use crate::laplacian::{
    LaplacianConfig, MeanOperator, SmootherError, check_positions, class_positions, index32,
};
use crate::skin::{SkinBindError, check_influences};
use crate::{BindWatch, Par, Stopped};
use sinew_geom::{Influences, Mesh, WeldMap};

/// How the moments are smoothed, and which are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothingSettings {
    /// Strength of the smoothing that turns the vertices, 0 to 1000.
    pub lambda: f64,
    /// Strength of the smoothing of the weights, 0 to `lambda`.
    pub kappa: f64,
    /// How much of the smoothed weights takes the place of the moments, 0 to 0.95.
    pub alpha: f64,
    /// How often either is applied, 0 to 1000.
    pub iterations: u32,
    /// Who is averaged with whom.
    pub laplacian: LaplacianConfig,
    /// Whether each vertex starts with its strongest joint alone.
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
    /// More pairs of vertices and joints than 32 bits count.
    #[error(
        "{pairs} pairs of vertices and joints, at most {most} are possible: raise the tolerance (found {tolerance})"
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

/// The moments of a mesh at rest, for a rig of `joint_count` joints. Time grows linearly with the vertices that each joint reaches,
/// memory with the pairs that are kept; double precision inside. The same bits for any number of threads.
///
/// # Errors
/// [`DirectDeltaMushError`]: weights or positions that do not fit, settings out of range, or a stop.
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
        coefficients(settings.lambda, settings.iterations),
        coefficients(settings.kappa, settings.iterations),
    );
    let mut scratch = FilterScratch::default();
    let steps = joint_count as f64 + 1.0;
    let whole = filter.run(&fields.whole(), &mut scratch, par, watch)?;
    let mut gathered = Gathered::new(&whole.moments, settings, index_of(&whole.points));
    for joint in 0..joint_count {
        watch.step((joint as f64 + 1.0) / steps)?;
        let start = fields.of_joint(joint);
        if start.is_empty() {
            continue;
        }
        let filtered = filter.run(&start, &mut scratch, par, watch)?;
        let values = filtered.points.iter().zip(&filtered.moments);
        for ((&point, moments), &weight) in values.zip(&filtered.weight) {
            gathered.add(point, index32(joint), moments, weight);
        }
    }
    gathered
        .rows()
        .spread(&weld, fields.origin, settings.tolerance)
}

/// Place of each point in a list of all points.
fn index_of(points: &[u32]) -> Vec<u32> {
    let mut index = vec![0; points.len()];
    for (i, &p) in points.iter().enumerate() {
        index[p as usize] = index32(i);
    }
    index
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
    #[expect(
        clippy::cast_possible_truncation,
        reason = "kernels read single precision"
    )]
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
struct Entry {
    class: u32,
    joint: u32,
    pair: PairMoments,
}

/// Pairs joint by joint as they come.
struct Gathered {
    alpha: f64,
    tolerance: f64,
    centers: Vec<[f64; 3]>,
    /// Sum over all joints, less what was kept.
    missing: Vec<Pair>,
    /// Trace of the sum of the second moments.
    spread: Vec<f64>,
    strongest: Vec<f32>,
    entries: Vec<Entry>,
}

impl Gathered {
    /// From the moments of all joints together, `whole[place[class]]` for each class.
    fn new(whole: &[Carried], settings: &SmoothingSettings, place: Vec<u32>) -> Self {
        let classes = || place.iter().map(|&i| &whole[i as usize]);
        let centers: Vec<[f64; 3]> = classes().map(|m| [m[1], m[2], m[3]]).collect();
        let sums = classes().zip(&centers);
        let missing: Vec<Pair> = sums
            .map(|(m, &p)| centred(m, p, settings.alpha, 1.0))
            .collect();
        Self {
            alpha: settings.alpha,
            tolerance: settings.tolerance,
            spread: missing.iter().map(trace).collect(),
            strongest: vec![f32::NEG_INFINITY; centers.len()],
            missing,
            centers,
            entries: Vec::new(),
        }
    }

    fn add(&mut self, class: u32, joint: u32, carried: &Carried, weight: f64) {
        let c = class as usize;
        let pair = centred(carried, self.centers[c], self.alpha, weight);
        let kept = single(&pair);
        let matters = pair[9] >= self.tolerance || trace(&pair) > self.tolerance * self.spread[c];
        // The strongest is kept however weak it is, and what comes before it is not known to be weaker.
        if (matters && pair[9] > 0.0) || kept.weight > self.strongest[c] {
            self.strongest[c] = self.strongest[c].max(kept.weight);
            self.entries.push(Entry {
                class,
                joint,
                pair: kept,
            });
        }
    }

    /// Rows of the classes, strongest joint first; what is not kept goes to it.
    fn rows(mut self) -> ClassRows {
        let mut by_class = vec![0_u32; self.centers.len() + 1];
        for e in &self.entries {
            by_class[e.class as usize + 1] += 1;
        }
        for c in 1..by_class.len() {
            by_class[c] += by_class[c - 1];
        }
        // Stable: joints of a class stay in their order.
        self.entries.sort_by_key(|e| e.class);
        let mut rows = ClassRows {
            offsets: vec![0],
            joints: Vec::with_capacity(self.entries.len()),
            pairs: Vec::with_capacity(self.entries.len()),
            centers: Vec::new(),
        };
        for (c, range) in by_class.windows(2).enumerate() {
            let row = &mut self.entries[range[0] as usize..range[1] as usize];
            row.sort_by(|a, b| b.pair.weight.total_cmp(&a.pair.weight));
            let first = rows.pairs.len();
            for (i, entry) in row.iter().enumerate() {
                let pair = double(&entry.pair);
                let matters =
                    pair[9] >= self.tolerance || trace(&pair) > self.tolerance * self.spread[c];
                if i == 0 || matters {
                    for (m, p) in self.missing[c].iter_mut().zip(pair) {
                        *m -= p;
                    }
                    rows.joints.push(entry.joint);
                    rows.pairs.push(entry.pair);
                }
            }
            if let Some(strongest) = rows.pairs.get_mut(first) {
                let mut sum = double(strongest);
                for (s, m) in sum.iter_mut().zip(self.missing[c]) {
                    *s += m;
                }
                *strongest = single(&sum);
            }
            rows.offsets.push(rows.pairs.len());
        }
        rows.centers = self.centers;
        rows
    }
}

/// Rows of weld classes.
struct ClassRows {
    offsets: Vec<usize>,
    joints: Vec<u32>,
    pairs: Vec<PairMoments>,
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
            out.joints.extend_from_slice(&self.joints[row(class)]);
            out.pairs.extend_from_slice(&self.pairs[row(class)]);
            out.offsets.push(index32(out.pairs.len()));
            #[expect(
                clippy::cast_possible_truncation,
                reason = "kernels read single precision"
            )]
            out.centers
                .push(self.centers[class as usize].map(|c| c as f32));
        }
        Ok(out)
    }
}
