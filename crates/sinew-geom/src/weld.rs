//! Vertices that share a position: the welded view of a mesh that is split at texture seams or hard edges.

use std::collections::HashMap;

/// Maps each vertex to a weld class; classes are numbered by their first vertex.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WeldMap {
    /// Weld class of each vertex.
    pub class_of_vertex: Vec<u32>,
    /// Lowest vertex of each class.
    pub first_vertex: Vec<u32>,
}

impl WeldMap {
    /// Every vertex its own class.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "vertex counts fit 32 bits by construction of Topology"
    )]
    pub fn identity(vertex_count: usize) -> Self {
        let all: Vec<u32> = (0..vertex_count as u32).collect();
        Self {
            class_of_vertex: all.clone(),
            first_vertex: all,
        }
    }

    /// Joins vertices whose distance is at most `tolerance` (metres); zero joins equal positions only
    /// (`0.0 == -0.0`). Closeness chains: a-b and b-c close puts a and c in one class. Expected linear time.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "vertex counts fit 32 bits by construction of Topology"
    )]
    pub fn by_position(positions: &[[f32; 3]], tolerance: f32) -> Self {
        let mut parent: Vec<u32> = (0..positions.len() as u32).collect();
        if tolerance > 0.0 {
            join_close(positions, tolerance, &mut parent);
        } else {
            let mut seen: HashMap<[u32; 3], u32> = HashMap::with_capacity(positions.len());
            for (v, p) in positions.iter().enumerate() {
                // Adding zero turns -0.0 into 0.0.
                let key = p.map(|c| (c + 0.0).to_bits());
                parent[v] = *seen.entry(key).or_insert(v as u32);
            }
        }
        Self::from_parents(parent)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "vertex counts fit 32 bits by construction of Topology"
    )]
    fn from_parents(mut parent: Vec<u32>) -> Self {
        let mut first_vertex = Vec::new();
        let mut class_of_vertex = vec![0; parent.len()];
        for v in 0..parent.len() {
            let root = find(&mut parent, v as u32) as usize;
            // Roots are the smallest member, so they are met first.
            if root == v {
                class_of_vertex[v] = first_vertex.len() as u32;
                first_vertex.push(v as u32);
            } else {
                class_of_vertex[v] = class_of_vertex[root];
            }
        }
        Self {
            class_of_vertex,
            first_vertex,
        }
    }

    /// Number of classes.
    pub fn class_count(&self) -> usize {
        self.first_vertex.len()
    }
    /// Whether no two vertices share a class.
    pub fn is_identity(&self) -> bool {
        self.class_count() == self.class_of_vertex.len()
    }
}

fn find(parent: &mut [u32], v: u32) -> u32 {
    let mut root = v;
    while parent[root as usize] != root {
        root = parent[root as usize];
    }
    let mut v = v;
    while parent[v as usize] != root {
        v = std::mem::replace(&mut parent[v as usize], root);
    }
    root
}

/// Hash grid with cells of the tolerance: a close pair is in the same or a touching cell.
#[expect(
    clippy::cast_possible_truncation,
    reason = "cells saturate, which only costs speed; vertex counts fit 32 bits"
)]
fn join_close(positions: &[[f32; 3]], tolerance: f32, parent: &mut [u32]) {
    let cell = |p: &[f32; 3]| p.map(|c| (f64::from(c) / f64::from(tolerance)).floor() as i64);
    let mut grid: HashMap<[i64; 3], Vec<u32>> = HashMap::with_capacity(positions.len());
    let limit = f64::from(tolerance) * f64::from(tolerance);
    for (v, p) in positions.iter().enumerate() {
        let c = cell(p);
        for offset in 0..27_i64 {
            let at = [
                c[0].saturating_add(offset % 3 - 1),
                c[1].saturating_add(offset / 3 % 3 - 1),
                c[2].saturating_add(offset / 9 - 1),
            ];
            for &other in grid.get(&at).map(Vec::as_slice).unwrap_or_default() {
                let q = positions[other as usize];
                let d2: f64 = (0..3)
                    .map(|i| (f64::from(p[i]) - f64::from(q[i])).powi(2))
                    .sum();
                if d2 <= limit {
                    let (a, b) = (find(parent, v as u32), find(parent, other));
                    parent[a.max(b) as usize] = a.min(b);
                }
            }
        }
        grid.entry(c).or_default().push(v as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_positions_join_and_negative_zero_counts_as_zero() {
        let w = WeldMap::by_position(&[[0.0; 3], [1.0, 0.0, 0.0], [-0.0, 0.0, -0.0]], 0.0);
        assert_eq!(w.class_of_vertex, [0, 1, 0]);
        assert_eq!(w.first_vertex, [0, 1]);
    }

    #[test]
    fn tolerance_agrees_with_brute_force() {
        let points: Vec<[f32; 3]> = (0..200_u32)
            .map(|i| {
                std::array::from_fn(|c| {
                    (i.wrapping_mul(2_654_435_761).rotate_left(7 * c as u32) % 1000) as f32 / 1000.0
                })
            })
            .collect();
        let w = WeldMap::by_position(&points, 0.08);
        // Brute force: grow classes until nothing changes.
        let mut class: Vec<usize> = (0..points.len()).collect();
        loop {
            let mut changed = false;
            for a in 0..points.len() {
                for b in 0..points.len() {
                    let d2: f64 = (0..3)
                        .map(|i| f64::from(points[a][i] - points[b][i]).powi(2))
                        .sum();
                    if d2 <= f64::from(0.08_f32).powi(2) && class[b] < class[a] {
                        class[a] = class[b];
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        for a in 0..points.len() {
            for b in 0..points.len() {
                assert_eq!(
                    class[a] == class[b],
                    w.class_of_vertex[a] == w.class_of_vertex[b],
                    "{a} {b}"
                );
            }
        }
    }
}
