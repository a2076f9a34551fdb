//! Topology: the vertices of triangles or strands. It is constant for the life of a mesh.

use crate::Strands;
use serde::{Deserialize, Serialize};

/// Why a [`Topology`] was refused.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopologyError {
    /// A triangle refers to a vertex that does not exist.
    #[error(
        "triangle {triangle} refers to vertex {vertex}, but the mesh has {vertex_count} vertices"
    )]
    VertexOutOfRange {
        /// Index of the triangle.
        triangle: usize,
        /// Index of the vertex.
        vertex: u32,
        /// Number of vertices.
        vertex_count: u32,
    },
    /// A polygon has fewer than three corners or refers to a vertex that does not exist.
    #[error("polygon {polygon} is invalid: {what}")]
    Polygon {
        /// Index of the polygon.
        polygon: usize,
        /// What is wrong with it.
        what: String,
    },
}

/// Index of a vertex, class, triangle or corner as 32 bits. A topology has fewer than 2^32 of each; a larger index saturates.
#[inline]
pub fn index32(i: usize) -> u32 {
    u32::try_from(i).unwrap_or(u32::MAX)
}

/// Faces with any number of corners, kept besides the triangles for files and tangent spaces that need them.
///
/// Offsets start at 0, do not decrease, and end at `indices.len()`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Polygons {
    /// `face_count + 1` offsets into `indices`.
    pub offsets: Vec<u32>,
    /// Vertex of each corner.
    pub indices: Vec<u32>,
}

impl Polygons {
    /// Number of faces.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }
    /// Whether there is no face.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Corners of face `f`.
    /// Vertices in counter-clockwise order.
    ///
    /// # Panics
    /// If there is no face `f`, or its offsets do not fit.
    pub fn face(&self, f: usize) -> &[u32] {
        &self.indices[self.offsets[f] as usize..self.offsets[f + 1] as usize]
    }
}

/// Vertex count, and triangles or strands. Indices are checked on construction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    vertex_count: u32,
    triangles: Vec<[u32; 3]>,
    polygons: Option<Polygons>,
    strands: Option<Strands>,
}

impl Topology {
    /// Creates a topology of triangles and checks every index.
    /// Triangles may repeat vertices, and vertices may have no triangle.
    ///
    /// # Errors
    /// [`TopologyError::VertexOutOfRange`] names the first bad triangle.
    pub fn new(vertex_count: u32, triangles: Vec<[u32; 3]>) -> Result<Self, TopologyError> {
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&v| v >= vertex_count) {
                return Err(TopologyError::VertexOutOfRange {
                    triangle,
                    vertex,
                    vertex_count,
                });
            }
        }
        Ok(Self {
            vertex_count,
            triangles,
            ..Self::default()
        })
    }

    /// Creates a topology from polygons. Each polygon becomes a triangle fan from its first corner, in face order.
    /// A face of `n` corners gives `n - 2` triangles. Those of a concave face may overlap or lie outside of it.
    ///
    /// The polygons are kept only if one has more than three corners. Their offsets must be valid: see [`Polygons`].
    ///
    /// # Errors
    /// [`TopologyError`] names the first bad face.
    pub fn from_polygons(vertex_count: u32, polygons: Polygons) -> Result<Self, TopologyError> {
        let mut triangles = Vec::new();
        for polygon in 0..polygons.len() {
            let face = polygons.face(polygon);
            let bad = |what: String| TopologyError::Polygon { polygon, what };
            if face.len() < 3 {
                return Err(bad(format!(
                    "it has {} corners, but needs at least 3",
                    face.len()
                )));
            }
            if let Some(v) = face.iter().find(|&&v| v >= vertex_count) {
                return Err(bad(format!(
                    "it refers to vertex {v}, but the mesh has {vertex_count} vertices"
                )));
            }
            triangles.extend((1..face.len() - 1).map(|k| [face[0], face[k], face[k + 1]]));
        }
        let only_triangles = triangles.len() == polygons.len();
        Ok(Self {
            vertex_count,
            triangles,
            polygons: (!only_triangles).then_some(polygons),
            strands: None,
        })
    }

    /// Creates a topology of strands without triangles. Each vertex belongs to one strand.
    pub fn from_strands(strands: Strands) -> Self {
        Self {
            vertex_count: strands.vertex_count() as u32,
            strands: Some(strands),
            ..Self::default()
        }
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count as usize
    }
    /// Vertex indices of the triangles, counter-clockwise.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }
    /// The faces that the triangles came from, if any had more than three corners.
    pub fn polygons(&self) -> Option<&Polygons> {
        self.polygons.as_ref()
    }
    /// The strands, if the mesh has strands instead of triangles.
    pub fn strands(&self) -> Option<&Strands> {
        self.strands.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn out_of_range_is_named() {
        let error = Topology::new(3, vec![[0, 1, 2], [0, 1, 7]]).expect_err("vertex 7");
        assert_eq!(
            error.to_string(),
            "triangle 1 refers to vertex 7, but the mesh has 3 vertices"
        );
    }

    #[test]
    fn polygons_become_fans() {
        let polygons = Polygons {
            offsets: vec![0, 4, 7],
            indices: vec![0, 1, 2, 3, 1, 4, 2],
        };
        let t = Topology::from_polygons(5, polygons).expect("valid");
        assert_eq!(t.triangles(), [[0, 1, 2], [0, 2, 3], [1, 4, 2]]);
        assert!(t.polygons().is_some(), "the quad is kept");
    }
}
