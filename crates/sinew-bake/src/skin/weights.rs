//! Weights of a vertex for the samples: least squares over weights that are not negative and sum to one.

use super::candidates::Candidate;
use super::samples::{Bones, Row, SkinProblem};
use sinew_fit::Quadratic;
use sinew_geom::Vec3;

/// Where the candidates of one vertex take it, relative to where it is wanted: column after column, three numbers a sample.
pub(crate) struct Columns {
    bones: Vec<u32>,
    numbers: Vec<f64>,
    rows: usize,
}

impl Columns {
    pub(crate) fn new(
        problem: &SkinProblem<'_>,
        bones: &Bones<'_>,
        vertex: usize,
        candidates: &[Candidate],
    ) -> Self {
        let samples = problem.samples.len();
        let rows = samples * 3;
        let mut numbers = vec![0.0; rows * candidates.len()];
        let places = (0..samples).map(|s| (problem.rest_at(s, vertex), problem.wanted(s, vertex)));
        let places: Vec<(Vec3<f64>, Vec3<f64>)> = places.collect();
        for (column, candidate) in numbers.chunks_exact_mut(rows.max(1)).zip(candidates) {
            let motion = bones.motion(candidate.bone);
            let moments = column.as_chunks_mut::<3>().0.iter_mut().zip(motion);
            for ((out, m), (rest, wanted)) in moments.zip(&places) {
                let off = m.linear * rest + (m.translation - wanted);
                *out = [off.x, off.y, off.z];
            }
        }
        Self {
            bones: candidates.iter().map(|c| c.bone).collect(),
            numbers,
            rows,
        }
    }

    fn column(&self, k: usize) -> &[f64] {
        &self.numbers[k * self.rows..(k + 1) * self.rows]
    }

    /// The sum of squared distances as a function of the weights, which sum to one.
    fn squares(&self) -> Quadratic {
        let n = self.bones.len();
        let mut out = Quadratic::zeros(n);
        for i in 0..n {
            for j in 0..=i {
                out.set(i, j, dot(self.column(i), self.column(j)));
            }
        }
        out
    }

    fn weights(&self, row: &[(u32, f64)]) -> Vec<f64> {
        let of = |bone: &u32| row.iter().find(|r| r.0 == *bone).map_or(0.0, |r| r.1);
        self.bones.iter().map(of).collect()
    }
}

/// Sums in eight lanes, so that they vectorise; always in the same order.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 8];
    let (a_whole, a_rest) = a.as_chunks::<8>();
    let (b_whole, b_rest) = b.as_chunks::<8>();
    for (a, b) in a_whole.iter().zip(b_whole) {
        for ((lane, a), b) in lanes.iter_mut().zip(a).zip(b) {
            *lane += a * b;
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    lanes.iter().sum::<f64>() + rest
}

/// How strongly the authored weight of a joint that has all of a vertex holds, see [`super::SkinSettings::hold`].
pub(crate) fn strength(problem: &SkinProblem<'_>, hold: f64) -> f64 {
    let reach = hold * problem.size().max(f64::MIN_POSITIVE);
    reach * reach * problem.samples.len() as f64
}

/// Weights of a vertex and how good they are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fitted {
    pub(crate) row: Row,
    /// Sum of squared distances over the samples.
    pub(crate) energy: f64,
    /// The same with the pull of the authored weights.
    pub(crate) objective: f64,
}

/// What holds for all vertices.
#[derive(Clone, Copy)]
pub(crate) struct Fit<'a> {
    pub(crate) problem: &'a SkinProblem<'a>,
    pub(crate) bones: &'a Bones<'a>,
    pub(crate) most: usize,
    pub(crate) strength: f64,
}

impl Fit<'_> {
    fn authored(&self, vertex: usize) -> Row {
        let row = self.problem.authored.row(vertex);
        row.map(|(j, w)| (j, f64::from(w))).collect()
    }

    /// The best weights on the candidates that are found; those of `before` where they are better still, so that no step is one back.
    pub(crate) fn fit(
        &self,
        vertex: usize,
        candidates: &[Candidate],
        before: Option<&Row>,
    ) -> Fitted {
        let columns = Columns::new(self.problem, self.bones, vertex, candidates);
        let squares = columns.squares();
        let authored = columns.weights(&self.authored(vertex));
        let strengths = candidates.iter().map(|c| self.strength / c.share);
        let strengths: Vec<f64> = strengths.collect();
        let mut pulled = squares.clone();
        pulled.pull(&authored, &strengths);
        let squared = authored.iter().zip(&strengths).map(|(w, s)| w * w * s);
        let constant: f64 = squared.sum();
        let found = pulled.minimise_with(self.most);
        let mut best = (pulled.value(&found), found);
        // Weights on joints that are no candidates cannot be judged here.
        let known = |row: &&Row| row.iter().all(|r| columns.bones.contains(&r.0));
        if let Some(before) = before.filter(known) {
            let before = columns.weights(before);
            let value = pulled.value(&before);
            if value <= best.0 {
                best = (value, before);
            }
        }
        let row = columns.bones.iter().copied().zip(best.1.iter().copied());
        Fitted {
            row: row.filter(|r| r.1 > 0.0).collect(),
            energy: squares.value(&best.1).max(0.0),
            objective: (best.0 + constant).max(0.0),
        }
    }

    /// How good given weights are.
    pub(crate) fn judge(&self, vertex: usize, candidates: &[Candidate], row: &Row) -> Fitted {
        let samples = 0..self.problem.samples.len();
        let squared = |s: usize| {
            let at = self.problem.rest_at(s, vertex);
            let found = self.bones.blend(row, s).point(at);
            (found - self.problem.wanted(s, vertex)).norm_squared()
        };
        let energy: f64 = samples.map(squared).sum();
        let authored = self.authored(vertex);
        let weight = |row: &Row, bone: u32| row.iter().find(|r| r.0 == bone).map_or(0.0, |r| r.1);
        let apart = candidates.iter().map(|c| {
            let apart = weight(row, c.bone) - weight(&authored, c.bone);
            apart * apart / c.share
        });
        Fitted {
            row: row.clone(),
            energy,
            objective: energy + self.strength * apart.sum::<f64>(),
        }
    }
}
