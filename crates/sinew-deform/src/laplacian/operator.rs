//! The averaging operator: each row has the neighbours whose weighted mean a class moves to.

use super::{EdgeTable, EdgeWeights, LaplacianConfig};
use sinew_geom::{Mesh, OneRings, Real, Vec3, WeldMap, index32};

/// Weighted means in compressed rows, one row per weld class. Weights are not negative and sum to 1 in each row.
///
/// A class that keeps its position (isolated, pinned, or with zero weights only) has the row `(itself, 1)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeanOperator {
    /// `class_count + 1` offsets into the other two.
    pub offsets: Vec<u32>,
    /// Weld classes.
    pub indices: Vec<u32>,
    /// Weight of each class in the mean.
    pub weights: Vec<f64>,
    /// What the weights are made of.
    pub kind: EdgeWeights,
}

impl MeanOperator {
    /// Builds the operator of a mesh at rest. Also returns the weld map of the configuration and its one-rings.
    ///
    /// All weights are computed in double precision. Positions must be finite.
    ///
    /// # Cost
    /// O(V + T log T); robust weights add the edge flips that reach a Delaunay triangulation.
    pub fn build(mesh: &Mesh, config: &LaplacianConfig) -> (Self, WeldMap, OneRings) {
        let weld = WeldMap::by_position(&mesh.positions, config.weld_tolerance);
        let rings = OneRings::build(&mesh.topology, &weld);
        let edges = EdgeTable::build(mesh, &weld, &rings, config.weights);
        let pinned = |c: usize| config.pin_border && rings.is_border[c];
        let operator = Self::from_edges(&edges, config.weights, pinned);
        (operator, weld, rings)
    }

    /// From edge weights; classes for which `pinned` holds keep their place.
    pub(crate) fn from_edges(
        edges: &EdgeTable,
        kind: EdgeWeights,
        pinned: impl Fn(usize) -> bool,
    ) -> Self {
        let mut out = Self {
            offsets: vec![0],
            indices: Vec::with_capacity(edges.indices.len()),
            weights: Vec::with_capacity(edges.indices.len()),
            kind,
        };
        for c in 0..edges.class_count() {
            let own = if kind == EdgeWeights::UniformSelf {
                1.0
            } else {
                0.0
            };
            let sum: f64 = edges.row(c).map(|e| e.1).sum();
            if pinned(c) || sum <= 0.0 {
                out.indices.push(index32(c));
                out.weights.push(1.0);
            } else {
                if own > 0.0 {
                    out.indices.push(index32(c));
                    out.weights.push(own / (sum + own));
                }
                for (n, w) in edges.row(c).filter(|e| e.1 > 0.0) {
                    out.indices.push(n);
                    out.weights.push(w / (sum + own));
                }
            }
            out.offsets.push(index32(out.indices.len()));
        }
        out
    }

    /// Number of classes.
    pub fn class_count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Classes and weights of row `c`.
    ///
    /// # Panics
    /// If there is no class `c`.
    pub fn row(&self, c: usize) -> impl ExactSizeIterator<Item = (u32, f64)> + '_ {
        let r = self.offsets[c] as usize..self.offsets[c + 1] as usize;
        self.indices[r.clone()]
            .iter()
            .copied()
            .zip(self.weights[r].iter().copied())
    }

    /// One pass: `(1 - step) p + step mean`. `points` has one point per class. Allocates the result.
    ///
    /// # Panics
    /// If there are fewer points than classes.
    pub fn apply<R: Real>(&self, points: &[Vec3<R>], step: R) -> Vec<Vec3<R>> {
        (0..self.class_count())
            .map(|c| {
                let mean = self.row(c).fold(Vec3::zeros(), |sum: Vec3<R>, (n, w)| {
                    sum + points[n as usize] * R::from_double(w)
                });
                points[c] * (R::one() - step) + mean * step
            })
            .collect()
    }
}
