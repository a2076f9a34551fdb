//! Joints that are added where weights alone do not do.
//!
//! Le and Deng, "Smooth Skinning Decomposition with Rigid Bones", 2012: weights and rigid motions in turn, each the best for the others as they are,
//! so that the sum of squares never grows. What differs: joints that the character has keep their motion; a helper starts in the region that is
//! farthest off; and it hangs below the joint in whose frame it moves least (as in Le and Deng, "Robust and accurate skeletal rigging from mesh
//! sequences", 2014, where the hierarchy follows from the motion), so that it follows that joint wherever it has no keys.

use super::candidates::Neighbourhood;
use super::rigid::Pairs;
use super::samples::{Bones, SkinProblem};
use super::weights::Fitted;
use rayon::prelude::*;
use sinew_geom::{Affine, Mat3, Real, Vec3};
use std::collections::BTreeSet;

/// A region ends where vertices are this much less off than its worst one, as a share of squares.
const REGION: f64 = 0.1;
/// How many rings beyond its region a helper may take vertices.
const BEYOND: usize = 3;

/// A joint that was added.
#[derive(Clone, Debug, PartialEq)]
pub struct Helper {
    /// The joint that it hangs below.
    pub parent: usize,
    /// Scene space at bind from its own space: a place, not turned.
    pub bind: Affine<f64>,
    /// Where it takes rest positions, one transform a sample. Rigid in free samples, those of clips say; its parent's in others.
    pub motion: Vec<Affine<f64>>,
}

/// Where a helper may act.
pub(crate) struct Region {
    /// Welded points that are off, the worst first.
    pub(crate) core: Vec<usize>,
    /// With those around them.
    pub(crate) whole: BTreeSet<usize>,
}

impl Region {
    /// Around the vertex that is farthest off, but for points in `closed`. `None` where all are within `least`, a sum of squares.
    pub(crate) fn worst(
        problem: &SkinProblem<'_>,
        around: &Neighbourhood,
        fitted: &[Fitted],
        closed: &BTreeSet<usize>,
        least: f64,
    ) -> Option<Self> {
        let classes = 0..around.weld.class_count();
        let vertex = |class: usize| around.weld.first_vertex[class] as usize;
        let energy = |class: usize| fitted[vertex(class)].energy;
        let open = classes.filter(|c| !closed.contains(c));
        // The first of equals.
        let seed = open.reduce(|a, b| if energy(b) > energy(a) { b } else { a })?;
        if energy(seed) <= least {
            return None;
        }
        let skin = problem.skin_of(vertex(seed));
        let is_own = |class: usize| problem.skin_of(vertex(class)) == skin;
        let neighbours = |class: usize| around.rings.row(class).iter().map(|n| *n as usize);
        let mut core = vec![seed];
        let mut seen = BTreeSet::from([seed]);
        let mut next = 0;
        while let Some(&class) = core.get(next) {
            next += 1;
            for n in neighbours(class).filter(|n| is_own(*n)) {
                let is_off = energy(n) >= REGION * energy(seed) || class == seed;
                if is_off && seen.insert(n) {
                    core.push(n);
                }
            }
        }
        let mut whole = seen;
        for _ in 0..BEYOND {
            let more: Vec<usize> = whole.iter().flat_map(|&c| neighbours(c)).collect();
            whole.extend(more.into_iter().filter(|c| is_own(*c)));
        }
        Some(Self { core, whole })
    }

    /// Vertices of all its points.
    pub(crate) fn vertices(&self, problem: &SkinProblem<'_>, around: &Neighbourhood) -> Vec<usize> {
        let all = 0..problem.rest.len();
        all.filter(|v| self.whole.contains(&around.class(*v)))
            .collect()
    }
}

/// Whether helpers move by themselves in a sample.
pub(crate) fn free_samples(problem: &SkinProblem<'_>) -> Vec<bool> {
    let groups = problem.samples.groups().iter();
    let flags = groups.flat_map(|g| g.samples.clone().map(move |_| g.is_free));
    flags.collect()
}

/// A helper as the best rigid motion of a region.
pub(crate) fn begin(
    problem: &SkinProblem<'_>,
    around: &Neighbourhood,
    region: &Region,
    fitted: &[Fitted],
) -> Option<Helper> {
    let free = free_samples(problem);
    let vertices: Vec<usize> = region
        .core
        .iter()
        .map(|&c| around.weld.first_vertex[c] as usize)
        .collect();
    let motion = |s: usize| {
        let mut pairs = Pairs::default();
        for &v in &vertices {
            pairs.add(problem.rest_at(s, v), problem.wanted(s, v), 1.0);
        }
        pairs.motion(&Affine::identity())
    };
    let samples = 0..problem.samples.len();
    let mut motion: Vec<Affine<f64>> = samples.into_par_iter().map(motion).collect();
    let sum: Vec3<f64> = vertices.iter().map(|&v| f64::vec3(problem.rest[v])).sum();
    let center = sum / vertices.len() as f64;
    let far = |v: &usize| (f64::vec3(problem.rest[*v]) - center).norm();
    let reach = vertices.iter().map(far).fold(0.0, f64::max);
    let joints = fitted_joints(problem, &vertices, fitted);
    let apart = |&j: &usize| spread(problem.samples.motion(j), &motion, &free, center, reach);
    let parent = joints
        .iter()
        .filter_map(|j| Some((*j, apart(j)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))?
        .0;
    tie(problem, &free, parent, &mut motion);
    let bind = Affine {
        linear: Mat3::identity(),
        translation: center,
    };
    Some(Helper {
        parent,
        bind,
        motion,
    })
}

/// Where it is not free a helper does what its parent does.
fn tie(problem: &SkinProblem<'_>, free: &[bool], parent: usize, motion: &mut [Affine<f64>]) {
    let parents = problem.samples.motion(parent);
    for ((m, p), free) in motion.iter_mut().zip(parents).zip(free) {
        if !free {
            *m = *p;
        }
    }
}

/// Joints that vertices follow, and those above them.
fn fitted_joints(
    problem: &SkinProblem<'_>,
    vertices: &[usize],
    fitted: &[Fitted],
) -> BTreeSet<usize> {
    let joints = problem.samples.joint_count();
    let bones = vertices.iter().flat_map(|&v| fitted[v].row.iter());
    let mut out: BTreeSet<usize> = bones
        .map(|r| r.0 as usize)
        .filter(|b| *b < joints)
        .collect();
    let mut above: Vec<usize> = out.iter().copied().collect();
    while let Some(joint) = above.pop() {
        if let Some(parent) = problem.parents[joint]
            && out.insert(parent)
        {
            above.push(parent);
        }
    }
    out
}

/// How much a helper moves in the frame of a joint: sum of squared distances of four points from their mean. `None` where the joint is flat at some
/// moment.
fn spread(
    joint: &[Affine<f64>],
    helper: &[Affine<f64>],
    free: &[bool],
    center: Vec3<f64>,
    reach: f64,
) -> Option<f64> {
    let axes = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
    let points = axes.map(|a| center + a * reach);
    let mut seen: Vec<[Vec3<f64>; 4]> = Vec::new();
    for ((j, h), _) in joint.iter().zip(helper).zip(free).filter(|m| *m.1) {
        let back = j.inverse().filter(Affine::is_finite)?;
        seen.push(points.map(|p| back.point(h.point(p))));
    }
    let count = seen.len().max(1) as f64;
    let of_point = |k: usize| {
        let mean = seen.iter().map(|p| p[k]).sum::<Vec3<f64>>() / count;
        let squares = seen.iter().map(|p| (p[k] - mean).norm_squared());
        squares.sum::<f64>()
    };
    Some((0..4).map(of_point).sum())
}

/// The best rigid motion of a helper in each free sample, weights and all other bones as they are.
pub(crate) fn best_motion(
    problem: &SkinProblem<'_>,
    bones: &Bones<'_>,
    fitted: &[Fitted],
    helper: usize,
) -> Vec<Affine<f64>> {
    let index = problem.samples.joint_count() + helper;
    let free = free_samples(problem);
    let weight = |f: &Fitted| f.row.iter().find(|r| r.0 as usize == index).map(|r| r.1);
    let carried = fitted.iter().enumerate();
    let carried: Vec<(usize, f64)> = carried.filter_map(|(v, f)| Some((v, weight(f)?))).collect();
    let motion = |s: usize| {
        let before = bones.helpers[helper][s];
        if !free[s] {
            return before;
        }
        let mut pairs = Pairs::default();
        for &(v, w) in &carried {
            let rest = problem.rest_at(s, v);
            let others = fitted[v].row.iter().filter(|r| r.0 as usize != index);
            let moved = others.map(|&(b, w)| bones.motion(b)[s].point(rest) * w);
            let left = problem.wanted(s, v) - moved.sum::<Vec3<f64>>();
            pairs.add(rest, left / w, w * w);
        }
        pairs.motion(&before)
    };
    let samples = 0..problem.samples.len();
    samples.into_par_iter().map(motion).collect()
}
