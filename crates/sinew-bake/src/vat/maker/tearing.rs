//! Cloth that tears: triangles stay the same, vertices are split.
//!
//! Simulators number vertices anew where they split them, so that two frames share neither the number of vertices nor any index. What stays is
//! the list of triangles: triangle `t` is the same piece of cloth in each frame, with the same corners in the same order. A frame's indices are
//! then nothing but a *partition of the corners*: those that have the same vertex belong together. The common refinement of the partitions of
//! all frames has the fewest classes that can show every one of them exactly, since corners of a class share a vertex in each frame. These classes are
//! the carrier's vertices: the two sides of a tear have vertices of their own from the first frame on, which lie on each other to the bit
//! until it opens.
//!
//! Nothing of that depends on whether triangle `t` is indeed the same piece of cloth: a list of unrelated triangles comes back exactly, too, yet
//! with hardly two corners in a class, and with blends that mean nothing. [`SharedEdges`] tells the two apart. Edges at which two triangles are joined go
//! when cloth tears, and none comes; of remeshed surfaces with equally many triangles some pairs are joined at the same edges by chance, and
//! as many at others.

use crate::vat::maker::normals::ShadingGroups;
use serde::{Deserialize, Serialize};
use sinew_geom::{Topology, index32};
use std::collections::HashMap;

/// Of 100 edges of the frame that has fewer of them, how many the other must have.
const KEPT_PERCENT: u64 = 98;

/// Where triangles are joined: pairs of edges with the same two vertices. An edge is `3 * triangle + k`, from corner `k` to the next one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SharedEdges(Vec<[u32; 2]>);

impl SharedEdges {
    /// Of a list of triangles, in ascending order. Where more than two triangles meet at an edge each is joined to the next. Cost: one sort of the edges.
    pub(crate) fn new(topology: &Topology) -> Self {
        let triangles = topology.triangles().iter().enumerate();
        let mut edges: Vec<[u32; 3]> = triangles
            .flat_map(|(t, corners)| {
                (0..3).map(move |k| {
                    let (a, b) = (corners[k], corners[(k + 1) % 3]);
                    [a.min(b), a.max(b), (3 * t + k) as u32]
                })
            })
            .collect();
        edges.sort_unstable();
        let joined = edges.windows(2).filter(|e| e[0][..2] == e[1][..2]);
        let mut pairs: Vec<[u32; 2]> = joined.map(|e| [e[0][2], e[1][2]]).collect();
        pairs.sort_unstable();
        Self(pairs)
    }

    /// How many of the edges of `self` (the first frame) are edges of `other`, too.
    pub(crate) fn compared_with(&self, other: &Self) -> KeptEdges {
        let mut rest = other.0.iter().peekable();
        let is_kept = |pair: &&[u32; 2]| {
            while rest.next_if(|r| r < pair).is_some() {}
            rest.next_if_eq(pair).is_some()
        };
        KeptEdges {
            kept: self.0.iter().filter(is_kept).count() as u64,
            first: self.0.len() as u64,
            here: other.0.len() as u64,
        }
    }
}

/// Edges at which two triangles are joined, in the first frame and in another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptEdges {
    /// How many both have.
    pub kept: u64,
    /// How many the first frame has.
    pub first: u64,
    /// How many the other frame has.
    pub here: u64,
}

impl KeptEdges {
    /// Whether the difference is one of tears (or of seams that close): the edges of one frame are those of the other, but for one in fifty, and fewer.
    pub(crate) fn is_tearing(&self) -> bool {
        let fewer = self.first.min(self.here);
        self.kept * 100 >= fewer * KEPT_PERCENT
    }

    /// Whether that is certain enough to be believed unasked: most edges of both frames are kept. Cloth in shreds is not, nor is what has no edges.
    pub(crate) fn is_surely_tearing(&self) -> bool {
        let more = self.first.max(self.here);
        self.is_tearing() && self.kept * 2 > more
    }
}

/// The triangles of a frame with quads cut along the same diagonal as in the first frame: many programs cut a quad along its shorter one, which
/// is another one once it is bent. A quad is two triangles that follow each other in both lists and are joined in both; its corners are counted from
/// the first corner of the first one. `None` where nothing is to be changed. Linear time.
pub(crate) fn cut_as_first(first: &Topology, frame: &Topology) -> Option<Topology> {
    let mut triangles = frame.triangles().to_vec();
    let mut is_other = false;
    let mut t = 1;
    while t < triangles.len().min(first.triangles().len()) {
        let own = [triangles[t - 1], triangles[t]];
        let rest = [first.triangles()[t - 1], first.triangles()[t]];
        match (Quad::new(rest), Quad::new(own)) {
            (Some(rest_quad), Some(quad)) if rest_quad.diagonal != quad.diagonal => {
                let cut = rest.map(|corners| corners.map(|v| quad.corner_like(&rest_quad, v)));
                triangles[t - 1..=t].copy_from_slice(&cut);
                is_other = true;
                t += 2;
            }
            _ => t += 1,
        }
    }
    // The same vertices in other triples.
    let count = u32::try_from(frame.vertex_count()).ok()?;
    is_other.then(|| Topology::new(count, triangles).ok())?
}

/// Two triangles that are joined at an edge.
struct Quad {
    /// Vertices around it, from the first corner of the first triangle on.
    around: [u32; 4],
    /// Corner of the first triangle at which the diagonal begins.
    diagonal: usize,
}

impl Quad {
    fn new([a, b]: [[u32; 3]; 2]) -> Option<Self> {
        for k in 0..3 {
            let (from, to) = (a[k], a[(k + 1) % 3]);
            for j in 0..3 {
                if (b[j], b[(j + 1) % 3]) == (to, from) {
                    let apex = b[(j + 2) % 3];
                    let around = match k {
                        0 => [a[0], apex, a[1], a[2]],
                        1 => [a[0], a[1], apex, a[2]],
                        _ => [a[0], a[1], a[2], apex],
                    };
                    return Some(Self {
                        around,
                        diagonal: k,
                    });
                }
            }
        }
        None
    }

    /// The vertex at the corner where `other` has `vertex`, which is one of its four.
    fn corner_like(&self, other: &Self, vertex: u32) -> u32 {
        let corner = other.around.iter().position(|v| *v == vertex);
        self.around[corner.unwrap_or(0)]
    }
}

/// A partition of the corners of a list of triangles.
///
/// Classes are numbered by their first corner, so that equal partitions are equal values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CornerClasses {
    /// Class of each corner.
    triangles: Vec<[u32; 3]>,
    count: u32,
}

impl CornerClasses {
    /// Of one frame: corners that share a vertex and a normal. `groups` are those of the same triangles.
    pub(crate) fn of_frame(topology: &Topology, groups: &ShadingGroups) -> Self {
        let triangles = topology.triangles();
        Self::numbered(triangles.len(), |t, k| {
            (triangles[t][k], groups.of_corner(t, k) as u32)
        })
    }

    /// Corners that are in one class of both. Where `other` has fewer triangles the rest is as in `self`.
    #[must_use]
    pub(crate) fn refined_by(&self, other: &Self) -> Self {
        Self::numbered(self.triangles.len(), |t, k| {
            let there = other.triangles.get(t).map_or(0, |corners| corners[k]);
            (self.triangles[t][k], there)
        })
    }

    fn numbered(count: usize, key: impl Fn(usize, usize) -> (u32, u32)) -> Self {
        let mut seen: HashMap<(u32, u32), u32> = HashMap::new();
        let triangles = (0..count).map(|t| {
            [0, 1, 2].map(|k| {
                let next = index32(seen.len());
                *seen.entry(key(t, k)).or_insert(next)
            })
        });
        Self {
            triangles: triangles.collect(),
            count: index32(seen.len()),
        }
    }

    /// Number of classes.
    #[cfg(test)]
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Classes of the corners of each triangle: indices of a mesh with a vertex a class.
    pub(crate) fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// How many classes of `self` are two or more in its refinement `finer`.
    pub(crate) fn split_in(&self, finer: &Self) -> u32 {
        let mut parts = vec![0_u32; self.count as usize];
        let mut is_known = vec![false; finer.count as usize];
        let corners = self.triangles.iter().flatten();
        for (&class, &part) in corners.zip(finer.triangles.iter().flatten()) {
            if !std::mem::replace(&mut is_known[part as usize], true) {
                parts[class as usize] += 1;
            }
        }
        let split = parts.iter().filter(|p| **p > 1).count();
        index32(split)
    }
}

#[cfg(test)]
#[path = "tearing_tests.rs"]
mod tests;
