//! Sparse morph targets for what weights and helpers leave over.
//!
//! Targets act before skinning. So what is off in a sample is taken back through the blended transform of each vertex, as with sculpts of poses:
//! `(sum_j w_j L_j(s)) d = x(s) - sum_j w_j M_j(s) v`, with `L` the linear part. The samples that say most become
//! targets; they are then made better against all samples: weights of each sample and deltas of each vertex in turn, each by least squares. Weights are
//! not negative and one at most, since engines and programs keep them there (Blender and Unity by default); so targets are shapes at which the
//! character arrives, and stay where it moves, as singular vectors (EigenSkin, Kry, James and Pai 2002) do not.

use super::helpers::free_samples;
use super::samples::{Bones, Row, SkinProblem};
use super::settings::check_correctives;
use super::{SkinError, SkinFit};
use crate::Watch;
use rayon::prelude::*;
use sinew_geom::nalgebra::{DMatrix, DVector};
use sinew_geom::{Affine, Mat3, MorphTarget, Real, Vec3, index32};
use std::collections::BTreeMap;

/// Turns of weights and deltas.
const TURNS: usize = 12;
/// Rounds over the weights of a sample.
const SWEEPS: usize = 200;
/// How much of the largest eigenvalue systems are lifted by, so that they always have a solution.
const LIFT: f64 = 1e-9;
/// Vertices that decide which samples are extreme, at most: those that are farthest off.
const JUDGES: usize = 2000;

/// Targets and how much of each a sample has.
#[derive(Clone, Debug, Default)]
pub struct Correctives {
    /// Vertices and deltas, metres, scene space at bind; without normals.
    pub targets: Vec<MorphTarget>,
    /// A row for each sample, a number from zero to one for each target: the largest of a target is one. Zero in samples that are not free.
    pub weights: Vec<Vec<f32>>,
}

/// Weights and bones of a fit.
pub(crate) struct Skinned<'a> {
    problem: &'a SkinProblem<'a>,
    bones: Bones<'a>,
    rows: Vec<Row>,
}

impl<'a> Skinned<'a> {
    pub(crate) fn new(problem: &'a SkinProblem<'a>, fit: &SkinFit) -> Self {
        let mut bones = Bones::new(problem.samples);
        bones.helpers = fit.helpers.iter().map(|h| h.motion.clone()).collect();
        let row = |v: usize| {
            let row = fit.influences.row(v);
            row.map(|(j, w)| (j, f64::from(w))).collect()
        };
        Self {
            problem,
            bones,
            rows: (0..problem.rest.len()).map(row).collect(),
        }
    }

    /// The blended transform of a vertex, and how far off it leaves it.
    fn at(&self, sample: usize, vertex: usize) -> (Affine<f64>, Vec3<f64>) {
        let blend = self.bones.blend(&self.rows[vertex], sample);
        let shown = blend.point(self.problem.rest_at(sample, vertex));
        (blend, self.problem.wanted(sample, vertex) - shown)
    }

    /// What is left in a sample of some vertices, rising, where it is more than `least`, taken back before skinning.
    pub(crate) fn target(&self, sample: usize, vertices: &[usize], least: f64) -> MorphTarget {
        let mut out = MorphTarget::default();
        for &vertex in vertices {
            let (blend, off) = self.at(sample, vertex);
            if off.norm() > least {
                out.vertices.push(index32(vertex));
                out.positions
                    .push(f64::array3(before_skinning(&blend.linear, off)));
            }
        }
        out
    }
}

/// The delta before skinning that would take a vertex to where it is wanted; of least length where the blend is flat.
fn before_skinning(linear: &Mat3<f64>, off: Vec3<f64>) -> Vec3<f64> {
    let squares = linear.transpose() * linear;
    let lifted = squares + Mat3::identity() * (squares.trace() * 1e-6).max(f64::MIN_POSITIVE);
    let right = linear.transpose() * off;
    f64::inverse_of(&lifted).map_or_else(Vec3::zeros, |i| i * right)
}

/// What a fit leaves over in a sample, taken back before skinning, of vertices that are off by more than `least` metres.
pub fn left_over(
    problem: &SkinProblem<'_>,
    fit: &SkinFit,
    samples: &[usize],
    least: f64,
) -> Vec<MorphTarget> {
    let skinned = Skinned::new(problem, fit);
    let all: Vec<usize> = (0..problem.rest.len()).collect();
    let of_sample = |&sample: &usize| skinned.target(sample, &all, least);
    samples.par_iter().map(of_sample).collect()
}

/// The free samples that say most about what is left over: first the one that is farthest off, then the one that the ones before explain least
/// of, up to `most` or until less than `least` metres (root mean square over the vertices that count) is left of any.
pub fn extreme_samples(
    problem: &SkinProblem<'_>,
    fit: &SkinFit,
    most: usize,
    least: f64,
) -> Vec<usize> {
    let skinned = Skinned::new(problem, fit);
    let free = free_samples(problem);
    let free: Vec<usize> = (0..free.len()).filter(|s| free[*s]).collect();
    let all: Vec<usize> = (0..problem.rest.len()).collect();
    let found = extremes(&skinned, &free, &all, most, least);
    let mut out: Vec<usize> = found.into_iter().map(|f| f.0).collect();
    out.sort_unstable();
    out
}

/// The samples that say most about some vertices, and the square of what each adds; those never grow.
pub(crate) fn extremes(
    skinned: &Skinned<'_>,
    samples: &[usize],
    vertices: &[usize],
    most: usize,
    least: f64,
) -> Vec<(usize, f64)> {
    let judges = judges(skinned, samples, vertices);
    let of_sample = |&s: &usize| -> Vec<f64> {
        let off = judges.iter().map(|&v| skinned.at(s, v).1);
        off.flat_map(|d| [d.x, d.y, d.z]).collect()
    };
    let mut left: Vec<Vec<f64>> = samples.par_iter().map(of_sample).collect();
    let mut out = Vec::new();
    while out.len() < most {
        let sizes: Vec<f64> = left.iter().map(|d| d.iter().map(|x| x * x).sum()).collect();
        let Some(next) = (0..sizes.len()).reduce(|a, b| if sizes[b] > sizes[a] { b } else { a })
        else {
            break;
        };
        if sizes[next] <= least * least * judges.len().max(1) as f64 {
            break;
        }
        out.push((samples[next], sizes[next]));
        let length = sizes[next].sqrt();
        let direction: Vec<f64> = left[next].iter().map(|x| x / length).collect();
        left.par_iter_mut().for_each(|d| {
            let along: f64 = d.iter().zip(&direction).map(|(a, b)| a * b).sum();
            d.iter_mut()
                .zip(&direction)
                .for_each(|(a, b)| *a -= along * b);
        });
    }
    out
}

/// Those of some vertices that are farthest off, in rising order.
fn judges(skinned: &Skinned<'_>, samples: &[usize], vertices: &[usize]) -> Vec<usize> {
    let energy = |v: usize| -> f64 {
        let squares = samples.iter().map(|&s| skinned.at(s, v).1.norm_squared());
        squares.sum()
    };
    let all = vertices.par_iter();
    let mut all: Vec<(f64, usize)> = all.map(|&v| (energy(v), v)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut out: Vec<usize> = all.into_iter().take(JUDGES).map(|a| a.1).collect();
    out.sort_unstable();
    out
}

/// Weights of given targets in every sample, and their deltas made better; vertices of targets stay what they are.
///
/// # Errors
/// [`SkinError::Setting`] above 256 targets; [`SkinError::Counts`] where one moves a vertex that is not there; [`SkinError::Cancelled`].
pub fn fit_correctives(
    problem: &SkinProblem<'_>,
    fit: &SkinFit,
    targets: &[MorphTarget],
    watch: &Watch<'_>,
) -> Result<Correctives, SkinError> {
    check_correctives(targets.len())?;
    check_targets(problem, targets)?;
    let mut work = Work::new(problem, fit, targets);
    let stage = watch.stage("correctives", TURNS);
    for turn in 0..TURNS {
        stage.go_on().map_err(|_| SkinError::Cancelled)?;
        work.weigh();
        if turn + 1 < TURNS {
            work.shape();
        }
        stage.step();
    }
    Ok(work.finish())
}

fn check_targets(problem: &SkinProblem<'_>, targets: &[MorphTarget]) -> Result<(), SkinError> {
    for target in targets {
        let (found, expected) = (target.positions.len(), target.vertices.len());
        if found != expected {
            let what = "deltas of a morph target";
            return Err(SkinError::Counts {
                what,
                found,
                expected,
            });
        }
        let last = target.vertices.iter().max().map_or(0, |v| *v as usize + 1);
        if last > problem.rest.len() {
            return Err(SkinError::Counts {
                what: "vertices up to the last of a morph target",
                found: last,
                expected: problem.rest.len(),
            });
        }
    }
    Ok(())
}

struct Work<'a> {
    skinned: Skinned<'a>,
    free: Vec<bool>,
    targets: usize,
    /// For each vertex of any target, the targets that move it and its deltas.
    deltas: BTreeMap<usize, Vec<(usize, Vec3<f64>)>>,
    /// A row a sample.
    weights: Vec<Vec<f64>>,
}

impl<'a> Work<'a> {
    fn new(problem: &'a SkinProblem<'a>, fit: &SkinFit, targets: &[MorphTarget]) -> Self {
        let mut deltas: BTreeMap<usize, Vec<(usize, Vec3<f64>)>> = BTreeMap::new();
        for (k, target) in targets.iter().enumerate() {
            for (&v, d) in target.vertices.iter().zip(&target.positions) {
                let entry = deltas.entry(v as usize).or_default();
                entry.push((k, f64::vec3(*d)));
            }
        }
        let samples = problem.samples.len();
        Self {
            skinned: Skinned::new(problem, fit),
            free: free_samples(problem),
            targets: targets.len(),
            deltas,
            weights: vec![vec![0.0; targets.len()]; samples],
        }
    }

    /// The best weights of each sample.
    fn weigh(&mut self) {
        let n = self.targets;
        let of_sample = |s: usize| -> Vec<f64> {
            let (mut a, mut b) = (DMatrix::zeros(n, n), DVector::zeros(n));
            for (&v, deltas) in self.deltas.iter().filter(|_| self.free[s]) {
                let (blend, off) = self.skinned.at(s, v);
                let moved: Vec<(usize, Vec3<f64>)> =
                    deltas.iter().map(|(k, d)| (*k, blend.linear * d)).collect();
                for (k, d) in &moved {
                    b[*k] += d.dot(&off);
                    for (l, e) in &moved {
                        a[(*k, *l)] += d.dot(e);
                    }
                }
            }
            not_negative(&a, &b)
        };
        let samples = 0..self.weights.len();
        self.weights = samples.into_par_iter().map(of_sample).collect();
    }

    /// The best deltas of each vertex.
    fn shape(&mut self) {
        let (skinned, weights, free) = (&self.skinned, &self.weights, &self.free);
        let of_vertex = |(&v, deltas): (&usize, &mut Vec<(usize, Vec3<f64>)>)| {
            let n = deltas.len();
            let (mut a, mut b) = (DMatrix::zeros(3 * n, 3 * n), DVector::zeros(3 * n));
            for s in (0..weights.len()).filter(|s| free[*s]) {
                let (blend, off) = skinned.at(s, v);
                let squares = blend.linear.transpose() * blend.linear;
                let right = blend.linear.transpose() * off;
                for (i, (k, _)) in deltas.iter().enumerate() {
                    let w = weights[s][*k];
                    let mut part = b.fixed_rows_mut::<3>(3 * i);
                    part += right * w;
                    for (j, (l, _)) in deltas.iter().enumerate() {
                        let mut block = a.fixed_view_mut::<3, 3>(3 * i, 3 * j);
                        block += squares * (w * weights[s][*l]);
                    }
                }
            }
            let found = solved(a, &b);
            for (i, (_, d)) in deltas.iter_mut().enumerate() {
                *d = found.fixed_rows::<3>(3 * i).into_owned();
            }
        };
        self.deltas.par_iter_mut().for_each(of_vertex);
    }

    fn finish(self) -> Correctives {
        let largest = |k: usize| {
            let all = self.weights.iter().map(|w| w[k].abs());
            let most = all.fold(0.0, f64::max);
            if most > 0.0 { most } else { 1.0 }
        };
        let largest: Vec<f64> = (0..self.targets).map(largest).collect();
        let mut targets = vec![MorphTarget::default(); self.targets];
        for (&v, deltas) in &self.deltas {
            for (k, d) in deltas {
                targets[*k].vertices.push(index32(v));
                targets[*k].positions.push(f64::array3(d * largest[*k]));
            }
        }
        let row = |w: &Vec<f64>| {
            let all = w.iter().zip(&largest);
            all.map(|(w, most)| (w / most) as f32).collect()
        };
        Correctives {
            targets,
            weights: self.weights.iter().map(row).collect(),
        }
    }
}

/// The least value of `x' A x - 2 b' x` without negative numbers: one after another is set to its best, which converges for a convex quadratic.
fn not_negative(a: &DMatrix<f64>, b: &DVector<f64>) -> Vec<f64> {
    let n = b.len();
    let mut x = vec![0.0; n];
    let lift = (0..n).map(|i| a[(i, i)]).fold(0.0, f64::max) * LIFT;
    for _ in 0..SWEEPS {
        let mut moved = 0.0_f64;
        for i in 0..n {
            if a[(i, i)] <= lift {
                continue;
            }
            let others: f64 = (0..n).filter(|j| *j != i).map(|j| a[(i, j)] * x[j]).sum();
            let best = ((b[i] - others) / a[(i, i)]).max(0.0);
            moved = moved.max((best - x[i]).abs());
            x[i] = best;
        }
        if moved < 1e-12 {
            break;
        }
    }
    x
}

/// Gives targets the change that they make to normals over `triangles`, smooth ones: of the vertices that they move.
pub fn add_normals(targets: &mut [MorphTarget], rest: &[[f32; 3]], triangles: &[[u32; 3]]) {
    let normals = sinew_geom::smooth_normals(rest, triangles);
    targets.par_iter_mut().for_each(|target| {
        let mut moved = rest.to_vec();
        for (&v, d) in target.vertices.iter().zip(&target.positions) {
            let p = &mut moved[v as usize];
            *p = std::array::from_fn(|c| p[c] + d[c]);
        }
        let turned = sinew_geom::smooth_normals(&moved, triangles);
        let delta = |v: &u32| {
            let (a, b) = (normals[*v as usize], turned[*v as usize]);
            std::array::from_fn(|c| b[c] - a[c])
        };
        target.normals = target.vertices.iter().map(delta).collect();
    });
}

/// The solution of a symmetric system that may be singular: lifted a little.
fn solved(mut a: DMatrix<f64>, b: &DVector<f64>) -> DVector<f64> {
    let lift = (a.diagonal().max() * LIFT).max(f64::MIN_POSITIVE.sqrt());
    for i in 0..a.nrows() {
        a[(i, i)] += lift;
    }
    a.cholesky()
        .map_or_else(|| DVector::zeros(b.len()), |c| c.solve(b))
}
