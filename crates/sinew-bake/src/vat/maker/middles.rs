//! Quads that some frames cut along the other diagonal, shown exactly by one list of triangles.
//!
//! The carrier has one vertex more in the middle of such a quad, and four triangles around it. The vertex is in the middle of the diagonal that a frame cuts
//! along: two of the four triangles are halves of one of the frame's, in its plane, and the other two of the other one. So each frame shows its own surface,
//! and its own normals at the corners, since the angles there are the same. Between two frames the vertex goes from one diagonal to the other, and the
//! surface stays closed.

use crate::vat::maker::retriangulated::{Retriangulated, least_first};
use serde::{Deserialize, Serialize};
use sinew_geom::{Attribute, Mesh, Topology};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Two triangles of the first frame that share an edge, in place of which other frames have the two at the other diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quad {
    /// Their numbers in the first frame, the lesser one first.
    pub triangles: [u32; 2],
    /// Its vertices, in the direction of the triangles. The first frame's diagonal is from corner 0 to 2; corner 1 belongs to the first triangle.
    pub around: [u32; 4],
}

impl Quad {
    /// Of two triangles of the first frame; `None` where there are none of these numbers, or they share no edge in opposite directions.
    pub fn new(first: &Topology, triangles: [u32; 2]) -> Option<Self> {
        let [t, other] = triangles.map(|t| first.triangles().get(t as usize).copied());
        let (t, other) = (t?, other?);
        let turned = |t: [u32; 3]| (0..3).map(move |k| [0, 1, 2].map(|i| t[(i + k) % 3]));
        let around = turned(t).find_map(|[a, b, c]| {
            let fits = turned(other).find(|o| o[0] == a && o[1] == c);
            fits.map(|o| [a, b, c, o[2]])
        })?;
        (triangles[0] < triangles[1]).then_some(Self { triangles, around })
    }

    /// Corners as the first frame cuts it, or as the others do.
    pub fn halves(&self, is_other: bool) -> [[u32; 3]; 2] {
        let [a, b, c, d] = self.around;
        match is_other {
            false => [[a, b, c], [a, c, d]],
            true => [[a, b, d], [b, c, d]],
        }
    }
}

/// The quads that a frame cuts otherwise than the first one, and what else is different ([`Retriangulated`] without the triangles of the quads): faces of
/// more corners, which may be cut in many ways. Linear time.
pub(crate) fn quads_of(first: &Topology, frame: &Topology) -> (Vec<Quad>, Retriangulated) {
    let (shown, own) = (first.triangles(), frame.triangles());
    let mut retriangulated = Retriangulated::between(shown, own);
    let first_of: HashMap<[u32; 3], u32> = retriangulated
        .shown
        .iter()
        .map(|&t| (least_first(shown[t as usize]), t))
        .collect();
    let mut edges: HashMap<[u32; 2], (u32, u32)> = HashMap::new();
    for &t in &retriangulated.own {
        let [a, b, c] = own[t as usize];
        for (edge, apex) in [([a, b], c), ([b, c], a), ([c, a], b)] {
            edges.insert(edge, (t, apex));
        }
    }
    let (mut quads, mut taken, mut taken_own) = (Vec::new(), HashSet::new(), HashSet::new());
    for &t in &retriangulated.own {
        let [a, b, c] = own[t as usize];
        for (from, to, apex) in [(a, b, c), (b, c, a), (c, a, b)] {
            let Some(&(other, far)) = edges.get(&[to, from]) else {
                continue;
            };
            // Around it: from, far, to, apex; the first frame's diagonal is from apex to far.
            let halves = [[apex, from, far], [far, to, apex]];
            let [Some(&x), Some(&y)] = halves.map(|h| first_of.get(&least_first(h))) else {
                continue;
            };
            let is_free = ![x, y].iter().any(|t| taken.contains(t))
                && ![t, other].iter().any(|t| taken_own.contains(t));
            if x == y || t == other || !is_free {
                continue;
            }
            taken.extend([x, y]);
            taken_own.extend([t, other]);
            quads.push(match x < y {
                true => Quad {
                    triangles: [x, y],
                    around: [apex, from, far, to],
                },
                false => Quad {
                    triangles: [y, x],
                    around: [far, to, apex, from],
                },
            });
        }
    }
    quads.sort_unstable_by_key(|q| q.triangles);
    retriangulated.shown.retain(|t| !taken.contains(t));
    retriangulated.own.retain(|t| !taken_own.contains(t));
    (quads, retriangulated)
}

/// What brings the frames of a sequence to vertices in the middles of quads.
#[derive(Clone, Debug)]
pub(crate) struct Middles {
    first: Arc<Topology>,
    refined: Arc<Topology>,
    quads: Vec<Quad>,
}

impl Middles {
    /// Of the first frame; no triangle is in two of the quads. Vertices of the middles come behind those of the frame, in the order of the quads. Of each quad
    /// two of its four triangles take the places of the first frame's, the other two come behind all, in the order of the quads.
    pub(crate) fn new(first: &Arc<Topology>, quads: Vec<Quad>) -> Self {
        let count = first.vertex_count() as u32;
        let mut triangles = first.triangles().to_vec();
        for (quad, middle) in quads.iter().zip(count..) {
            let [a, b, c, d] = quad.around;
            for (t, half) in quad.triangles.iter().zip([[a, b, middle], [c, d, middle]]) {
                triangles[*t as usize] = half;
            }
            triangles.extend([[b, c, middle], [d, a, middle]]);
        }
        // Every index is below the count, so there is always a topology.
        let refined = Topology::new(count + quads.len() as u32, triangles).unwrap_or_default();
        Self {
            first: first.clone(),
            refined: Arc::new(refined),
            quads,
        }
    }

    /// The triangles of the first frame.
    pub(crate) fn first(&self) -> &Topology {
        &self.first
    }

    /// A frame with a vertex more for each quad, in the middle of the diagonal that it cuts the quad along: all that vertices have is the mean of both ends.
    /// The frame has the first one's vertices, and its triangles but for the ways in which faces are cut.
    #[must_use]
    pub(crate) fn refine(&self, frame: &Mesh) -> Mesh {
        let others = match Arc::ptr_eq(&self.first, &frame.topology) {
            true => HashSet::new(),
            false => {
                let (found, _) = quads_of(&self.first, &frame.topology);
                found.into_iter().map(|q| q.triangles).collect()
            }
        };
        let ends = self.quads.iter().map(|quad| {
            let [a, b, c, d] = quad.around.map(|v| v as usize);
            match others.contains(&quad.triangles) {
                true => [b, d],
                false => [a, c],
            }
        });
        let ends: Vec<[usize; 2]> = ends.collect();
        let attribute = |a: &Attribute| match a {
            Attribute::Scalar(v) => {
                let mean = |[a, b]: &[usize; 2]| f32::midpoint(v[*a], v[*b]);
                Attribute::Scalar(v.iter().copied().chain(ends.iter().map(mean)).collect())
            }
            Attribute::Vec2(v) => Attribute::Vec2(with_means(v, &ends)),
            Attribute::Vec3(v) => Attribute::Vec3(with_means(v, &ends)),
            Attribute::Vec4(v) => Attribute::Vec4(with_means(v, &ends)),
        };
        let attributes = frame.attributes.iter();
        Mesh {
            name: frame.name.clone(),
            topology: self.refined.clone(),
            positions: with_means(&frame.positions, &ends),
            normals: frame.normals.as_ref().map(|n| with_means(n, &ends)),
            tangents: frame.tangents.as_ref().map(|t| with_means(t, &ends)),
            uvs: frame.uvs.iter().map(|s| with_means(s, &ends)).collect(),
            colors: frame.colors.iter().map(|s| with_means(s, &ends)).collect(),
            attributes: attributes.map(|(n, a)| (n.clone(), attribute(a))).collect(),
            ..Mesh::default()
        }
    }
}

/// Values of vertices, and behind them the means of both ends of each diagonal.
fn with_means<const N: usize>(values: &[[f32; N]], ends: &[[usize; 2]]) -> Vec<[f32; N]> {
    let mean =
        |[a, b]: &[usize; 2]| std::array::from_fn(|k| f32::midpoint(values[*a][k], values[*b][k]));
    values
        .iter()
        .copied()
        .chain(ends.iter().map(mean))
        .collect()
}

#[cfg(test)]
#[path = "middles_tests.rs"]
mod tests;
