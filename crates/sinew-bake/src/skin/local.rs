//! Morph targets of single regions: what bends there and nowhere else.
//!
//! A target of a whole sample mixes what all joints do in it, and says little about a pose in which some of them do something else. So the mesh is
//! divided by the joint that bends it most, and samples are chosen for each region by itself. With `w` the weight of a place on a joint and all joints
//! below it, `4 w (1 - w)` says how much the joint bends it: 1 where half of it follows, 0 where it is carried along or left behind as a whole.
//! Weights are the authored ones, spread over the mesh, as rigid ones say nothing and deformers reach farther than weights.

use super::candidates::{Neighbourhood, spread};
use super::correctives::{Skinned, extremes};
use super::helpers::free_samples;
use super::samples::{Row, SkinProblem};
use super::{SkinError, SkinFit};
use crate::Watch;
use sinew_geom::MorphTarget;
use std::collections::BTreeMap;

/// Joints of a place that are looked at.
const MOST: usize = 10;
/// Joints that turn less against their parents than this, as the distance of matrices, do not bend anything.
const STILL: f64 = 1e-3;

/// At most `most` targets, each of one region: what is left there in the samples that say most about it, of vertices that are off by more than `least`
/// metres. Regions in which more is left get more of them.
///
/// # Errors
/// [`SkinError::Cancelled`].
pub fn local_targets(
    problem: &SkinProblem<'_>,
    fit: &SkinFit,
    most: usize,
    least: f64,
    watch: &Watch<'_>,
) -> Result<Vec<MorphTarget>, SkinError> {
    let free = free_samples(problem);
    let free: Vec<usize> = (0..free.len()).filter(|s| free[*s]).collect();
    let regions = regions(problem, &free);
    let skinned = Skinned::new(problem, fit);
    let stage = watch.stage("correctives", regions.len());
    let mut found = Vec::new();
    for (region, vertices) in regions.iter().enumerate() {
        stage.go_on().map_err(|_| SkinError::Cancelled)?;
        let own = extremes(&skinned, &free, vertices, most, least / 10.0);
        found.extend(own.into_iter().map(|(sample, size)| (size, region, sample)));
        stage.step();
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let targets = found.into_iter();
    let targets =
        targets.map(|(_, region, sample)| skinned.target(sample, &regions[region], least));
    Ok(targets
        .filter(|t| !t.vertices.is_empty())
        .take(most)
        .collect())
}

/// Vertices by the joint that bends them most; by the one that carries them where none does.
fn regions(problem: &SkinProblem<'_>, samples: &[usize]) -> Vec<Vec<usize>> {
    let around = Neighbourhood::new(problem);
    let spread = spread(problem, &around, MOST);
    let joints = 0..problem.samples.joint_count();
    let moves: Vec<bool> = joints.map(|j| moves(problem, samples, j)).collect();
    let of_place: Vec<usize> = spread
        .iter()
        .map(|row| bending(problem, &moves, row))
        .collect();
    let mut out: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for vertex in 0..problem.rest.len() {
        let joint = of_place[around.class(vertex)];
        out.entry(joint).or_default().push(vertex);
    }
    out.into_values().collect()
}

/// Whether a joint does anything against its parent.
fn moves(problem: &SkinProblem<'_>, samples: &[usize], joint: usize) -> bool {
    let Some(parent) = problem.parents[joint] else {
        return false;
    };
    let (own, above) = (
        problem.samples.motion(joint),
        problem.samples.motion(parent),
    );
    let turned = |s: &usize| (own[*s].linear - above[*s].linear).norm() > STILL;
    samples.iter().any(turned)
}

fn bending(problem: &SkinProblem<'_>, moves: &[bool], row: &Row) -> usize {
    let mut below: BTreeMap<usize, f64> = BTreeMap::new();
    for (joint, weight) in row {
        let mut at = Some(*joint as usize);
        while let Some(j) = at {
            *below.entry(j).or_default() += weight;
            at = problem.parents[j];
        }
    }
    let bends = |(&j, w): (&usize, &f64)| moves[j].then(|| (j, w * (1.0 - w)));
    let strongest = |a: (usize, f64), b: (usize, f64)| if b.1 > a.1 { b } else { a };
    let found = below.iter().filter_map(bends).reduce(strongest);
    let carried = row.iter().map(|r| (r.0 as usize, r.1)).reduce(strongest);
    let found = found.filter(|f| f.1 > 1e-6).or(carried);
    found.map_or(0, |f| f.0)
}
