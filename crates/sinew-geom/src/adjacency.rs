//! Adjacency: one-rings and corner fans in compressed rows.
//!
//! All of it works on weld classes, not on vertices: a seam has one ring around it. Each face around a class gives the edge opposite to it,
//! from its next to its previous corner. Chained head to tail, these edges order the neighbours; a class where that fails (three faces at
//! an edge, two fans, a face with welded corners) is not manifold.

use crate::{Topology, WeldMap, index32};
use serde::{Deserialize, Serialize};

/// The one-ring of each weld class: its neighbours.
///
/// If the faces around a class form one fan (a manifold vertex), its neighbours are in counter-clockwise order seen from outside. The
/// order starts at the lowest neighbour for a closed fan, and at the open end for a border fan. Otherwise neighbours are in increasing
/// order.
///
/// A class without triangles has no neighbours and is neither on a border nor manifold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneRings {
    /// `class_count + 1` offsets into `neighbours`.
    pub offsets: Vec<u32>,
    /// Neighbouring weld classes.
    pub neighbours: Vec<u32>,
    /// Whether the class lies on an open border (an edge with one face).
    pub is_border: Vec<bool>,
    /// Whether the faces around the class form one fan.
    pub is_manifold: Vec<bool>,
}

impl OneRings {
    /// Builds one-rings from welded triangles. A triangle with welded corners contributes its remaining edges.
    /// `weld` has one class for each vertex of `topology`.
    ///
    /// # Cost
    /// O(T + sum of k log k) for `T` triangles and rings of `k` neighbours. Strands give empty rings.
    pub fn build(topology: &Topology, weld: &WeldMap) -> Self {
        let fans = CornerFans::build(topology, weld);
        let class = |v: u32| weld.class_of_vertex[v as usize];
        let mut out = Self {
            offsets: vec![0],
            ..Self::default()
        };
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let mut ring = Vec::new();
        for c in 0..weld.class_count() {
            edges.clear();
            for &corner in fans.corners_of(c) {
                let t = topology.triangles()[corner as usize / 3];
                let k = corner as usize % 3;
                edges.push((class(t[(k + 1) % 3]), class(t[(k + 2) % 3])));
            }
            let own = index32(c);
            let (border, manifold) = order_ring(own, &edges, &mut ring);
            out.neighbours.extend_from_slice(&ring);
            out.offsets.push(index32(out.neighbours.len()));
            out.is_border.push(border);
            out.is_manifold.push(manifold);
        }
        out
    }

    /// Neighbours of class `c`.
    ///
    /// # Panics
    /// If there is no class `c`.
    pub fn row(&self, c: usize) -> &[u32] {
        &self.neighbours[self.offsets[c] as usize..self.offsets[c + 1] as usize]
    }
    /// Number of classes.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }
    /// Whether there is no class.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Orders the neighbours of `own` given the opposite edge `(from, to)` of each face around it.
/// Returns (on a border, one fan).
fn order_ring(own: u32, edges: &[(u32, u32)], ring: &mut Vec<u32>) -> (bool, bool) {
    ring.clear();
    let proper = |e: &&(u32, u32)| e.0 != own && e.1 != own && e.0 != e.1;
    let mut all: Vec<u32> = edges
        .iter()
        .flat_map(|e| [e.0, e.1])
        .filter(|&n| n != own)
        .collect();
    all.sort_unstable();
    all.dedup();
    let degenerate = edges.iter().filter(proper).count() != edges.len();
    let mut next: Vec<(u32, u32)> = edges.iter().filter(proper).copied().collect();
    next.sort_unstable();
    let mut incoming: Vec<u32> = next.iter().map(|e| e.1).collect();
    incoming.sort_unstable();
    let outgoing: Vec<u32> = next.iter().map(|e| e.0).collect();
    // Both lists are sorted: equal entries stand together.
    let count = |sorted: &[u32], n: u32| {
        let first = sorted.partition_point(|&m| m < n);
        sorted[first..].partition_point(|&m| m == n)
    };
    let uses = |n: u32| (count(&outgoing, n), count(&incoming, n));
    let border = all.iter().any(|&n| {
        let (o, i) = uses(n);
        o + i == 1
    });
    let simple = !degenerate
        && all.iter().all(|&n| {
            let (o, i) = uses(n);
            o <= 1 && i <= 1
        });
    let starts: Vec<u32> = all.iter().copied().filter(|&n| uses(n) == (1, 0)).collect();
    if simple && !next.is_empty() && starts.len() <= 1 {
        let start = starts.first().copied().unwrap_or(all[0]);
        let mut at = start;
        ring.push(at);
        while let Ok(i) = next.binary_search_by_key(&at, |e| e.0) {
            at = next[i].1;
            if at == start {
                break;
            }
            ring.push(at);
        }
        if ring.len() == all.len() {
            return (border, true);
        }
    }
    ring.clear();
    ring.extend_from_slice(&all);
    (border, false)
}

/// Triangle corners (`3 * triangle + corner`) around each weld class, in increasing order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CornerFans {
    /// `class_count + 1` offsets into `corners`.
    pub offsets: Vec<u32>,
    /// Corner numbers.
    pub corners: Vec<u32>,
}

impl CornerFans {
    /// Builds corner fans from welded triangles, in linear time.
    /// `weld` has one class for each vertex of `topology`. A triangle with welded corners is listed once for each of them.
    pub fn build(topology: &Topology, weld: &WeldMap) -> Self {
        let mut offsets = vec![0_u32; weld.class_count() + 1];
        let classes = || {
            topology
                .triangles()
                .iter()
                .flatten()
                .map(|&v| weld.class_of_vertex[v as usize] as usize)
        };
        for c in classes() {
            offsets[c + 1] += 1;
        }
        for c in 0..weld.class_count() {
            offsets[c + 1] += offsets[c];
        }
        let mut cursor = offsets.clone();
        let mut corners = vec![0; topology.triangles().len() * 3];
        for (corner, c) in classes().enumerate() {
            corners[cursor[c] as usize] = index32(corner);
            cursor[c] += 1;
        }
        Self { offsets, corners }
    }

    /// Corners around class `c`.
    ///
    /// # Panics
    /// If there is no class `c`.
    pub fn corners_of(&self, c: usize) -> &[u32] {
        &self.corners[self.offsets[c] as usize..self.offsets[c + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rings(vertex_count: u32, triangles: &[[u32; 3]]) -> OneRings {
        let t = Topology::new(vertex_count, triangles.to_vec()).expect("valid");
        OneRings::build(&t, &WeldMap::identity(vertex_count as usize))
    }

    #[test]
    fn closed_fan_is_counter_clockwise_from_the_lowest() {
        // Vertex 0 in the middle of 1-2-3-4.
        let r = rings(5, &[[0, 3, 4], [0, 1, 2], [0, 4, 1], [0, 2, 3]]);
        assert_eq!(r.row(0), [1, 2, 3, 4]);
        assert!(!r.is_border[0] && r.is_manifold[0], "closed");
        assert!(r.is_border[1] && r.is_manifold[1], "open");
        assert_eq!(r.row(1), [2, 0, 4], "border fan starts at its open end");
    }

    #[test]
    fn bow_tie_and_fin_are_not_manifold() {
        let bow = rings(5, &[[0, 1, 2], [0, 3, 4]]);
        assert!(
            !bow.is_manifold[0] && bow.is_border[0],
            "two fans meet in 0"
        );
        assert_eq!(bow.row(0), [1, 2, 3, 4]);
        let fin = rings(5, &[[0, 1, 2], [1, 0, 3], [0, 1, 4]]);
        assert!(!fin.is_manifold[0], "edge 0-1 has three faces");
    }

    #[test]
    fn isolated_vertex_has_no_neighbour() {
        let r = rings(4, &[[0, 1, 2]]);
        assert!(
            r.row(3).is_empty() && !r.is_manifold[3],
            "vertex 3 is alone"
        );
    }

    #[test]
    fn welded_seam_closes_the_ring() {
        // The quad 0-1-2-3 as two triangles with all corners split.
        let t = Topology::new(6, vec![[0, 1, 2], [3, 4, 5]]).expect("valid");
        let weld = WeldMap {
            class_of_vertex: vec![0, 1, 2, 0, 2, 3],
            first_vertex: vec![0, 1, 2, 5],
        };
        let r = OneRings::build(&t, &weld);
        assert_eq!(r.row(0), [1, 2, 3]);
        assert!(r.is_manifold[0] && r.is_border[0], "half open");
    }
}
