//! Symmetric edge weights between weld classes, in compressed rows.

use super::{EdgeWeights, class_positions, class_triangles, robust};
use sinew_geom::vec3::{cross, distance, dot, length, sub};
use sinew_geom::{Mesh, OneRings, WeldMap, index32};

/// Symmetric weights `w_ab = w_ba >= 0` between weld classes: minus the off-diagonal of a Laplacian.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct EdgeTable {
    /// `class_count + 1` offsets into the other two.
    pub offsets: Vec<u32>,
    /// Neighbour classes, rising in each row, never the class itself.
    pub indices: Vec<u32>,
    /// Weight of each neighbour, finite and not negative.
    pub weights: Vec<f64>,
}

impl EdgeTable {
    /// From a mesh at rest. `rings` must come from the same topology and weld map.
    pub(crate) fn build(
        mesh: &Mesh,
        weld: &WeldMap,
        rings: &OneRings,
        weights: EdgeWeights,
    ) -> Self {
        let positions = class_positions(weld, &mesh.positions);
        match weights {
            EdgeWeights::Uniform | EdgeWeights::UniformSelf => Self::from_rings(rings, |_, _| 1.0),
            EdgeWeights::EdgeLength => inverse_lengths(rings, &positions),
            EdgeWeights::Cotangent => cotangent(&class_triangles(mesh, weld), &positions),
            EdgeWeights::Robust => robust::robust(&class_triangles(mesh, weld), &positions),
        }
    }

    /// Neighbours and weights of class `c`.
    pub(crate) fn row(&self, c: usize) -> impl ExactSizeIterator<Item = (u32, f64)> + '_ {
        let r = self.offsets[c] as usize..self.offsets[c + 1] as usize;
        self.indices[r.clone()]
            .iter()
            .copied()
            .zip(self.weights[r].iter().copied())
    }

    /// Number of classes.
    pub(crate) fn class_count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    fn from_rings(rings: &OneRings, weight: impl Fn(usize, u32) -> f64) -> Self {
        let mut out = Self {
            offsets: vec![0],
            ..Self::default()
        };
        let mut row = Vec::new();
        for c in 0..rings.len() {
            row.clear();
            row.extend_from_slice(rings.row(c));
            row.sort_unstable();
            for &n in &row {
                out.indices.push(n);
                out.weights.push(weight(c, n));
            }
            out.offsets.push(index32(out.indices.len()));
        }
        out
    }

    /// Sums weights given for pairs in any order; each pair counts for both its ends. Loops are dropped, negative
    /// sums become zero.
    pub(super) fn from_pairs(class_count: usize, pairs: &[(u32, u32, f64)]) -> Self {
        let mut all: Vec<(u32, u32, f64)> = pairs
            .iter()
            .filter(|p| p.0 != p.1)
            .map(|&(a, b, w)| (a.min(b), a.max(b), w))
            .collect();
        // Stable, so that sums do not depend on anything but the order given.
        all.sort_by_key(|p| (p.0, p.1));
        let mut sums: Vec<(u32, u32, f64)> = Vec::with_capacity(all.len());
        for (a, b, w) in all {
            match sums.last_mut() {
                Some(last) if (last.0, last.1) == (a, b) => last.2 += w,
                _ => sums.push((a, b, w)),
            }
        }
        let mut both: Vec<(u32, u32, f64)> = sums
            .iter()
            .flat_map(|&(a, b, w)| [(a, b, w), (b, a, w)])
            .collect();
        both.sort_by_key(|p| (p.0, p.1));
        let mut offsets = vec![0_u32; class_count + 1];
        for p in &both {
            offsets[p.0 as usize + 1] += 1;
        }
        for c in 0..class_count {
            offsets[c + 1] += offsets[c];
        }
        Self {
            offsets,
            indices: both.iter().map(|p| p.1).collect(),
            weights: both.iter().map(|p| p.2.max(0.0)).collect(),
        }
    }
}

fn inverse_lengths(rings: &OneRings, positions: &[[f64; 3]]) -> EdgeTable {
    let length = |a: usize, b: u32| distance(positions[a], positions[b as usize]);
    let all = (0..rings.len()).flat_map(|c| rings.row(c).iter().map(move |&n| length(c, n)));
    let (sum, count) = all.fold((0.0, 0.0_f64), |(s, n), l| (s + l, n + 1.0));
    let shortest = (sum / count.max(1.0) * 1e-6).max(f64::MIN_POSITIVE.sqrt());
    EdgeTable::from_rings(rings, |c, n| 1.0 / length(c, n).max(shortest))
}

/// Largest cotangent taken at face value: an angle of 1/1000.
const CAP: f64 = 1e3;

fn cotangent(triangles: &[[u32; 3]], positions: &[[f64; 3]]) -> EdgeTable {
    let mut pairs = Vec::with_capacity(triangles.len() * 3);
    for t in triangles {
        for k in 0..3 {
            let [a, b, c] = [t[k], t[(k + 1) % 3], t[(k + 2) % 3]];
            let cot = corner_cotangent(
                positions[a as usize],
                positions[b as usize],
                positions[c as usize],
            );
            pairs.push((b, c, 0.5 * cot));
        }
    }
    EdgeTable::from_pairs(positions.len(), &pairs)
}

/// Cotangent of the angle at `p` of the triangle `p a b`, cut off at +-[`CAP`]; 0 where a side has no length.
fn corner_cotangent(p: [f64; 3], a: [f64; 3], b: [f64; 3]) -> f64 {
    let (u, v) = (sub(a, p), sub(b, p));
    let (dot, area) = (dot(u, v), length(cross(u, v)));
    if dot == 0.0 {
        return 0.0;
    }
    // A zero area gives an infinity, which the cut-off takes.
    (dot / area).clamp(-CAP, CAP)
}
