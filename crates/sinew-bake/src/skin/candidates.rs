//! Which joints a vertex may follow: its authored ones, the strongest of its neighbourhood, and those above its own in the skeleton.

use super::{SkinProblem, samples::Row};
use rayon::prelude::*;
use sinew_geom::{OneRings, WeldMap};

/// How far weights are spread over the mesh to find the neighbourhood, in rings of triangles.
const RINGS: usize = 8;

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
) -> Vec<Vec<u32>> {
    let spread = spread(problem, around, most);
    let of_vertex = |vertex: usize| {
        let authored: Vec<u32> = problem.authored.row(vertex).map(|r| r.0).collect();
        let near = spread[around.class(vertex)].iter().map(|r| r.0);
        let above = authored.iter().filter_map(|j| problem.parents[*j as usize]);
        let above = above.filter_map(|j| u32::try_from(j).ok());
        let skin = problem.skin_of(vertex);
        let is_own = |j: &u32| problem.skins.get(*j as usize).copied() == skin;
        let all = authored.iter().copied().chain(near).chain(above);
        let mut out: Vec<u32> = all.filter(is_own).collect();
        out.sort_unstable();
        out.dedup();
        out
    };
    (0..problem.rest.len()).into_par_iter().map(of_vertex).collect()
}

/// Authored weights, spread over the mesh: the `most` strongest at each point.
fn spread(problem: &SkinProblem<'_>, around: &Neighbourhood, most: usize) -> Vec<Row> {
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
