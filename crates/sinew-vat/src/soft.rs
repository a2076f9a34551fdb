//! Sequences whose triangles stay the same: one texel a vertex.
//!
//! Vertices are those of the first frame, split where its edges are hard, so that each has one normal. What moves is stored as it is or as the offset
//! from the first frame; offsets need a smaller range, so that the same bits say more, and an engine without the textures shows the
//! first frame.

use crate::carrier::texel_centers;
use crate::layout::Layout;
use crate::manifest::Space;
use crate::normals::ShadingGroups;
use crate::quantity::Quantity;
use crate::texture::{TextureSpec, encode_vertices};
use sinew_geom::{Mesh, Topology};
use std::collections::HashMap;
use std::sync::Arc;

/// The mesh that carries a sequence of constant topology, and where its vertices come from.
#[derive(Clone, Debug)]
pub struct SoftCarrier {
    source: Arc<Topology>,
    rest: Vec<[f32; 3]>,
    groups: ShadingGroups,
    /// Vertex of the source, and a corner that it is at (triangle and place in it), for each vertex.
    vertices: Vec<(u32, u32, u8)>,
    triangles: Vec<[u32; 3]>,
}

/// Why a frame is not one of the sequence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SoftError {
    /// Another number of vertices.
    #[error("{found} vertices, the first frame has {expected}")]
    Vertices {
        /// Here.
        found: usize,
        /// In the first frame.
        expected: usize,
    },
    /// Other triangles.
    #[error("triangle {triangle} is not that of the first frame")]
    Triangle {
        /// The first that differs.
        triangle: usize,
    },
}

impl SoftCarrier {
    /// From the first frame; edges sharper than `crease` (radians) are hard. Vertices that no triangle uses are left out.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "no more vertices than corners, whose number fits"
    )]
    pub fn new(first: &Mesh, crease: f32) -> Self {
        let groups = ShadingGroups::new(&first.topology, &first.positions, crease);
        let mut seen = HashMap::new();
        let mut vertices = Vec::new();
        let corners = first.topology.triangles().iter().enumerate();
        let triangles = corners
            .map(|(t, corners)| {
                std::array::from_fn(|k| {
                    let key = (corners[k], groups.of_corner(t, k));
                    *seen.entry(key).or_insert_with(|| {
                        vertices.push((corners[k], t as u32, k as u8));
                        vertices.len() as u32 - 1
                    })
                })
            })
            .collect();
        Self {
            source: first.topology.clone(),
            rest: first.positions.clone(),
            groups,
            vertices,
            triangles,
        }
    }

    /// The same carrier with its rest in another space, for frames whose positions are there. Its [`Self::normals`] mean nothing where that
    /// space mirrors: take those of the original.
    pub fn in_space(&self, space: Space) -> Self {
        Self {
            rest: self.rest.iter().map(|p| space.place(*p)).collect(),
            ..self.clone()
        }
    }

    /// The same carrier with its last vertex first (OpenVAT counts so).
    #[expect(
        clippy::cast_possible_truncation,
        reason = "no more vertices than corners, whose number fits"
    )]
    pub fn reversed(&self) -> Self {
        let last = self.vertices.len().saturating_sub(1) as u32;
        let triangles = self.triangles.iter();
        Self {
            vertices: self.vertices.iter().rev().copied().collect(),
            triangles: triangles.map(|t| t.map(|v| last - v)).collect(),
            ..self.clone()
        }
    }

    /// Vertices, those at hard edges once for each side.
    pub fn vertex_count(&self) -> usize {
        self.vertices.len()
    }

    /// Its triangles, in the order of the source.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Vertex of the source that a vertex came from.
    pub fn source_vertex(&self, vertex: usize) -> usize {
        self.vertices[vertex].0 as usize
    }

    /// Where a vertex of the source is in the first frame.
    pub fn rest(&self, source_vertex: usize) -> [f32; 3] {
        self.rest[source_vertex]
    }

    /// Unit normals of all vertices in a frame.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn normals(&self, frame: &Mesh) -> Result<Vec<[f32; 3]>, SoftError> {
        self.check(frame)?;
        let corners = self.groups.corner_normals(&self.source, &frame.positions);
        let of = |&(_, t, k): &(u32, u32, u8)| corners[t as usize][k as usize];
        Ok(self.vertices.iter().map(of).collect())
    }

    /// The carrier as a mesh: the first frame with its texture coordinates and colours, and behind them texture coordinates at
    /// the texel centres of the first frame of `layout`.
    pub fn mesh(&self, name: &str, first: &Mesh, layout: &Layout) -> Mesh {
        let count = u32::try_from(self.vertices.len()).unwrap_or(u32::MAX);
        // Every index was counted, so there is always a topology.
        let topology = Topology::new(count, self.triangles.clone()).unwrap_or_default();
        let sources = || self.vertices.iter().map(|v| v.0 as usize);
        let mut mesh = Mesh::new(name, topology, sources().map(|v| self.rest[v]).collect());
        mesh.normals = self.normals(first).ok();
        let picked = |set: &Vec<[f32; 2]>| sources().map(|v| set[v]).collect();
        mesh.uvs = first.uvs.iter().map(picked).collect();
        mesh.uvs.push(texel_centers(count, layout));
        let picked = |set: &Vec<[f32; 4]>| sources().map(|v| set[v]).collect();
        mesh.colors = first.colors.iter().map(picked).collect();
        mesh
    }

    /// Whether a mesh has the same vertices and triangles.
    ///
    /// # Errors
    /// [`SoftError`] says what differs first.
    pub fn check(&self, frame: &Mesh) -> Result<(), SoftError> {
        let (found, expected) = (frame.positions.len(), self.rest.len());
        if found != expected {
            return Err(SoftError::Vertices { found, expected });
        }
        if Arc::ptr_eq(&self.source, &frame.topology) {
            return Ok(());
        }
        let (own, given) = (self.source.triangles(), frame.topology.triangles());
        let differs = own.iter().zip(given).position(|(a, b)| a != b);
        match differs.or((own.len() != given.len()).then(|| own.len().min(given.len()))) {
            Some(triangle) => Err(SoftError::Triangle { triangle }),
            None => Ok(()),
        }
    }

    /// Gives a frame the triangles of the first one where both are the same surface ([`is_same_surface`]): many programs cut a quad
    /// along its shorter diagonal, which is another one once it is bent.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn adopt(&self, frame: &mut Mesh) -> Result<(), SoftError> {
        if is_same_surface(&self.source, &frame.topology) {
            frame.topology = self.source.clone();
        }
        self.check(frame)
    }

    /// How far vertices of the source are from the first frame, metres.
    pub fn offset(&self, frame: &Mesh, source_vertex: usize) -> [f32; 3] {
        let (now, rest) = (frame.positions[source_vertex], self.rest[source_vertex]);
        std::array::from_fn(|k| now[k] - rest[k])
    }

    /// The texels of one frame: for each texture the bytes of all vertices.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn encode_frame(
        &self,
        frame: &Mesh,
        textures: &[TextureSpec],
    ) -> Result<Vec<Vec<u8>>, SoftError> {
        let wants_normals = textures.iter().any(|t| t.quantity == Quantity::Normal);
        let normals = match wants_normals {
            true => self.normals(frame)?,
            false => Vec::new(),
        };
        self.encode_frame_with(frame, textures, &normals)
    }

    /// The same with normals that are known: those of [`Self::normals`] for this frame, or none where no texture holds any.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn encode_frame_with(
        &self,
        frame: &Mesh,
        textures: &[TextureSpec],
        normals: &[[f32; 3]],
    ) -> Result<Vec<Vec<u8>>, SoftError> {
        self.check(frame)?;
        let value = |quantity: &Quantity, vertex: usize, channel: usize| {
            let v = self.vertices[vertex].0;
            match quantity {
                Quantity::Normal => normals[vertex][channel],
                Quantity::Offset => self.offset(frame, v as usize)[channel],
                other => other
                    .of_vertex(frame, v as usize, channel)
                    .unwrap_or_default(),
            }
        };
        Ok(encode_vertices(textures, self.vertices.len(), value))
    }
}

/// Whether two lists of triangles are one surface cut in two ways: as many vertices and triangles, and what is different in one has the same
/// border as what is different in the other.
pub fn is_same_surface(a: &Topology, b: &Topology) -> bool {
    let (first, second) = (a.triangles(), b.triangles());
    if a.vertex_count() != b.vertex_count() || first.len() != second.len() {
        return false;
    }
    let mut border: HashMap<(u32, u32), i32> = HashMap::new();
    let mut add = |triangle: &[u32; 3], sign: i32| {
        for k in 0..3 {
            let (from, to) = (triangle[k], triangle[(k + 1) % 3]);
            // An edge that is gone through both ways is inside.
            let (edge, sign) = if from < to {
                ((from, to), sign)
            } else {
                ((to, from), -sign)
            };
            *border.entry(edge).or_insert(0) += sign;
        }
    };
    for (a, b) in first.iter().zip(second).filter(|(a, b)| a != b) {
        add(a, 1);
        add(b, -1);
    }
    border.values().all(|sum| *sum == 0)
}

#[cfg(test)]
#[path = "soft_tests.rs"]
mod tests;
