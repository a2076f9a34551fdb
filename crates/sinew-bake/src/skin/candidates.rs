//! Which joints a vertex may follow: its authored ones, the strongest of its neighbourhood, and those above its own in the skeleton.

use super::{SkinProblem, samples::Row};
use rayon::prelude::*;
use sinew_geom::{OneRings, WeldMap};

/// How far weights are spread over the mesh to find the neighbourhood, in rings of triangles.
const RINGS: usize = 8;

/// The least share that a joint is taken to have in a vertex that may follow it.
const LEAST_SHARE: f64 = 0.01;

/// A bone that a vertex may follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) bone: u32,
    /// How much of the vertex it has by the authored weights, here or around here. Where samples do not tell joints apart, what one loses goes to the
    /// others in these shares: a joint of the other side of a limb gets next to nothing.
    pub(crate) share: f64,
}

/// Neighbours over the mesh, seams of texture coordinates closed.
pub(crate) struct Neighbourhood {
    pub(crate) weld: WeldMap,
    pub(crate) rings: OneRings,
}

impl Neighbourhood {
    pub(crate) fn new(problem: &SkinProblem<'_>) -> Self {
        let weld = WeldMap::by_position(problem.rest, 0.0);
        let rings = OneRings::build(problem.topology, &weld);
        Self { weld, rings }
    }

    pub(crate) fn class(&self, vertex: usize) -> usize {
        self.weld.class_of_vertex[vertex] as usize
    }
}

/// Bones that each vertex may follow, rising.
pub(crate) fn candidates(
    problem: &SkinProblem<'_>,
    around: &Neighbourhood,
    most: usize,
) -> Vec<Vec<Candidate>> {
    let spread = spread(problem, around, most);
    let of_vertex = |vertex: usize| {
        let authored = problem.authored.row(vertex);
        let authored: Row = authored.map(|(j, w)| (j, f64::from(w))).collect();
        let near = &spread[around.class(vertex)];
        let above = authored
            .iter()
            .filter_map(|r| problem.parents[r.0 as usize]);
        let above = above.filter_map(|j| Some((u32::try_from(j).ok()?, 0.0)));
        let skin = problem.skin_of(vertex);
        let is_own = |r: &(u32, f64)| problem.skins.get(r.0 as usize).copied() == skin;
        let all = authored.iter().chain(near).copied().chain(above);
        let mut all: Row = all.filter(is_own).collect();
        // The largest of each joint first.
        all.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        all.dedup_by_key(|r| r.0);
        let candidate = |(bone, share): (u32, f64)| Candidate {
            bone,
            share: share.max(LEAST_SHARE),
        };
        all.into_iter().map(candidate).collect()
    };
    (0..problem.rest.len())
        .into_par_iter()
        .map(of_vertex)
        .collect()
}

/// Authored weights, spread over the mesh: the `most` strongest at each point.
pub(crate) fn spread(problem: &SkinProblem<'_>, around: &Neighbourhood, most: usize) -> Vec<Row> {
    let first = |class: usize| around.weld.first_vertex[class] as usize;
    let authored = |class| -> Row {
        let row = problem.authored.row(first(class));
        row.map(|(j, w)| (j, f64::from(w))).collect()
    };
    let mut rows: Vec<Row> = (0..around.weld.class_count()).map(authored).collect();
    for _ in 0..RINGS {
        let next = |class: usize| {
            let neighbours = around.rings.row(class).iter().map(|n| *n as usize);
            strongest(neighbours.chain([class]).map(|c| &rows[c]), most)
        };
        rows = (0..rows.len()).into_par_iter().map(next).collect();
    }
    rows
}

/// The mean of some rows, without the weakest.
fn strongest<'a>(rows: impl Iterator<Item = &'a Row>, most: usize) -> Row {
    let mut all: Row = rows.flatten().copied().collect();
    all.sort_by_key(|r| r.0);
    let mut out: Row = Vec::new();
    for (joint, weight) in all {
        match out.last_mut() {
            Some(last) if last.0 == joint => last.1 += weight,
            _ => out.push((joint, weight)),
        }
    }
    if out.len() > most {
        out.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        out.truncate(most);
    }
    let sum: f64 = out.iter().map(|r| r.1).sum();
    if sum > 0.0 {
        out.iter_mut().for_each(|r| r.1 /= sum);
    }
    out
}
