//! Joints that are relevant for vertices.
//!
//! A joint bends the skin if part of a vertex follows it and part does not. `w` is the weight of a vertex on the joint
//! and all its descendants. `4 w (1 - w)` is 1 for half of the weight. It is 0 if rotating the joint moves the vertex
//! fully or not at all. Both authored and fitted weights count, since authored ones may be rigid.

use super::super::{SkinFit, SkinProblem};
use super::{SAME, apart};
use crate::deform::pose_driver::DriverValue;
use crate::geom::{Asset, Influences};
use std::collections::BTreeMap;

/// Joints below this share of the most relevant one are ignored.
const LEAST: f64 = 0.1;
/// Maximum number of joints of a driver: with more, poses are far apart and few.
const MOST: usize = 8;

pub(super) struct Relevance<'a> {
    problem: &'a SkinProblem<'a>,
    fit: &'a SkinFit,
    /// True if a joint moves in the samples and its name is unique.
    is_usable: Vec<bool>,
    /// Joints with the same node.
    nodes: Vec<usize>,
}

/// Name of a joint's node.
pub(super) fn name(asset: &Asset, joint: usize) -> &str {
    let node = asset.rig.joints()[joint].node;
    &asset.rig.nodes()[node].name
}

impl<'a> Relevance<'a> {
    pub(super) fn new(
        asset: &Asset,
        problem: &'a SkinProblem<'a>,
        fit: &'a SkinFit,
        locals: &[Vec<DriverValue>],
        rest: &[DriverValue],
        training: &[usize],
    ) -> Self {
        let moves = |j: usize| {
            let is_off = |s: &usize| apart(&locals[*s][j..=j], &rest[j..=j]) > SAME;
            training.iter().any(is_off)
        };
        let nodes = asset.rig.nodes();
        let has_name = |j: usize| {
            let name = name(asset, j);
            !name.is_empty() && nodes.iter().filter(|n| n.name == name).count() == 1
        };
        let joints = asset.rig.joints();
        let usable = |j: usize| moves(j) && has_name(j);
        Self {
            problem,
            fit,
            is_usable: (0..joints.len()).map(usable).collect(),
            nodes: joints.iter().map(|j| j.node).collect(),
        }
    }

    /// The relevant joints of weighted vertices; increasing, at most [`MOST`]. `left` gives the share of the samples
    /// that poses of some joints do not explain. If joints that bend the skin leave more than twice the error of joints
    /// that carry it and their neighbours, uses the latter (such as a muscle of the upper arm, which bulges when the
    /// elbow bends).
    pub(super) fn joints(
        &self,
        vertices: &[(usize, f64)],
        left: &dyn Fn(&[usize]) -> f64,
    ) -> Vec<usize> {
        let bends = |w: f64| (4.0 * w * (1.0 - w)).max(0.0);
        let found = self.strongest(vertices, &bends, &|j| self.is_usable[j]);
        let wider = self.beside(vertices, &found);
        match found.is_empty() || 2.0 * left(&wider) < left(&found) {
            true => wider,
            false => found,
        }
    }

    /// Joints that carry vertices, their parents and children, in addition to those found.
    fn beside(&self, vertices: &[(usize, f64)], found: &[usize]) -> Vec<usize> {
        let own = self.strongest_of(vertices, &|w| w, &|_| true, false);
        let parents = &self.problem.parents;
        let near = |j: usize| {
            let child = parents[j].is_some_and(|p| own.contains(&p));
            let parent = own.iter().any(|&o| parents[o] == Some(j));
            found.contains(&j) || own.contains(&j) || child || parent
        };
        let mut out: Vec<usize> = found.to_vec();
        for joint in (0..parents.len()).filter(|j| self.is_usable[*j] && near(*j)) {
            let is_known = out.iter().any(|&o| self.nodes[o] == self.nodes[joint]);
            if !is_known && out.len() < MOST {
                out.push(joint);
            }
        }
        out.sort_unstable();
        out
    }

    fn strongest(
        &self,
        vertices: &[(usize, f64)],
        of: &dyn Fn(f64) -> f64,
        is_meant: &dyn Fn(usize) -> bool,
    ) -> Vec<usize> {
        self.strongest_of(vertices, of, is_meant, true)
    }

    /// By sums of `of` over weights, with or without descendants.
    fn strongest_of(
        &self,
        vertices: &[(usize, f64)],
        of: &dyn Fn(f64) -> f64,
        is_meant: &dyn Fn(usize) -> bool,
        with_below: bool,
    ) -> Vec<usize> {
        let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
        for &(vertex, matters) in vertices {
            let mut here: BTreeMap<usize, f64> = BTreeMap::new();
            for rows in [self.problem.authored, &self.fit.influences] {
                for (joint, w) in self.weights(rows, vertex, with_below) {
                    let value = of(w);
                    let most = here.entry(joint).or_default();
                    *most = most.max(value);
                }
            }
            for (joint, value) in here {
                *sums.entry(joint).or_default() += matters * value;
            }
        }
        let mut all: Vec<(f64, usize)> = sums
            .into_iter()
            .filter(|s| is_meant(s.0))
            .map(|(joint, sum)| (sum, joint))
            .collect();
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let least = all.first().map_or(0.0, |a| a.0 * LEAST);
        let mut out: Vec<usize> = Vec::new();
        for (sum, joint) in all {
            let is_known = out.iter().any(|&o| self.nodes[o] == self.nodes[joint]);
            if sum > 0.0 && sum >= least && !is_known && out.len() < MOST {
                out.push(joint);
            }
        }
        out.sort_unstable();
        out
    }

    /// For each joint that a vertex follows, directly or (`with_below`) through a descendant, the sum of weights.
    /// Helpers count as their parents.
    fn weights(&self, rows: &Influences, vertex: usize, with_below: bool) -> BTreeMap<usize, f64> {
        let joints = self.problem.parents.len();
        let mut out: BTreeMap<usize, f64> = BTreeMap::new();
        for (bone, w) in rows.row(vertex) {
            let helper = (bone as usize).checked_sub(joints);
            let parent = |h: usize| self.fit.helpers.get(h).map(|h| h.parent);
            let mut at = helper.map_or(Some(bone as usize), parent);
            while let Some(joint) = at {
                *out.entry(joint).or_default() += f64::from(w);
                at = self.problem.parents[joint].filter(|_| with_below);
            }
        }
        out
    }
}
