//! Welding: groups vertices at the same position, for meshes that are split at UV seams or hard edges.
//!
//! Classes are kept as a union-find forest whose roots are the lowest vertices. Equal positions meet in a hash map over their bits;
//! positions within a tolerance are found by a hash grid (`close`).

mod close;

use std::collections::HashMap;

/// Maps each vertex to a weld class. Classes are numbered in the order of their first vertices.
///
/// Each vertex belongs to exactly one class; `class_of_vertex[first_vertex[c]] == c` for each class `c`.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WeldMap {
    /// Weld class of each vertex.
    pub class_of_vertex: Vec<u32>,
    /// Lowest vertex of each class.
    pub first_vertex: Vec<u32>,
}

impl WeldMap {
    /// Creates a map in which every vertex has its own class.
    pub fn identity(vertex_count: usize) -> Self {
        let all: Vec<u32> = (0..vertex_count as u32).collect();
        Self {
            class_of_vertex: all.clone(),
            first_vertex: all,
        }
    }

    /// Welds vertices with a distance of at most `tolerance` (metres). 0, a negative tolerance and NaN weld only equal positions
    /// (`0.0 == -0.0`). Closeness is transitive: if a-b and b-c are close, a and c are in one class.
    ///
    /// With a tolerance above 0, a position with NaN or infinity stays alone. Without one, positions with the same bits of NaN are equal.
    ///
    /// # Cost
    /// Expected O(V) for any tolerance, with one hash map entry per vertex at most.
    pub fn by_position(positions: &[[f32; 3]], tolerance: f32) -> Self {
        let mut parent: Vec<u32> = (0..positions.len() as u32).collect();
        if tolerance > 0.0 {
            close::join(positions, tolerance, &mut parent);
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
    /// Whether every vertex has its own class.
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

    /// Classes by the definition: grow until nothing changes.
    fn brute_force(points: &[[f32; 3]], tolerance: f32) -> Vec<u32> {
        let mut class: Vec<u32> = (0..points.len() as u32).collect();
        loop {
            let mut changed = false;
            for a in 0..points.len() {
                for b in 0..points.len() {
                    let d2: f64 = (0..3)
                        .map(|i| (f64::from(points[a][i]) - f64::from(points[b][i])).powi(2))
                        .sum();
                    if d2 <= f64::from(tolerance).powi(2) && class[b] < class[a] {
                        class[a] = class[b];
                        changed = true;
                    }
                }
            }
            if !changed {
                return class;
            }
        }
    }

    /// The class of a vertex as the lowest vertex in it.
    fn lowest(w: &WeldMap) -> Vec<u32> {
        let first = |&c: &u32| w.first_vertex[c as usize];
        w.class_of_vertex.iter().map(first).collect()
    }

    proptest::proptest! {
        #[test]
        fn the_partition_is_that_of_the_definition(
            points in proptest::collection::vec(proptest::array::uniform3(-1.0_f32..1.0), 1..120),
            tolerance in 0.001_f32..3.0,
            scale in -6_i32..12,
            grid in proptest::bool::ANY,
        ) {
            // Far from the origin, tiny and huge, and on a grid where distances equal the tolerance often.
            let scale = 10.0_f32.powi(scale);
            let step = tolerance / 2.0;
            let place = |c: f32| if grid { (c / step).round() * step } else { c };
            let points: Vec<[f32; 3]> = points.iter().map(|p| p.map(|c| place(c) * scale)).collect();
            let w = WeldMap::by_position(&points, tolerance * scale);
            proptest::prop_assert_eq!(lowest(&w), brute_force(&points, tolerance * scale));
        }
    }

    #[test]
    fn a_tolerance_of_any_size_takes_linear_time() {
        // Two parallel sheets farther apart than the tolerance, which is near the size of the mesh: every pair
        // within a sheet is close, none between them. Pair by pair this would take 10^10 steps.
        let n = 50_000_u32;
        let point = |i: u32| {
            let (sheet, k) = (i % 2, i / 2);
            let bump = (k % 7) as f32 * 1e-4;
            [
                sheet as f32 * 1.1 + if sheet == 0 { -bump } else { bump },
                (k % 159) as f32 / 2000.0,
                (k / 159) as f32 / 2000.0,
            ]
        };
        let points: Vec<[f32; 3]> = (0..2 * n).map(point).collect();
        let w = WeldMap::by_position(&points, 1.0);
        assert_eq!(w.class_count(), 2);
        assert!((0..2 * n as usize).all(|v| w.class_of_vertex[v] == (v % 2) as u32));
        let all = WeldMap::by_position(&points, 10.0);
        assert_eq!(all.class_count(), 1);
    }

    #[test]
    fn tiny_tolerances_far_away_join_equal_points_only() {
        let points = [
            [1e30, 0.0, 0.0],
            [1.0001e30, 0.0, 0.0],
            [1e30, -0.0, 0.0],
            [3e38, 3e38, 3e38],
        ];
        let w = WeldMap::by_position(&points, 1e-40);
        assert_eq!(w.class_of_vertex, [0, 1, 0, 2]);
    }
}
