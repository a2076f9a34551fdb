//! Sequences whose triangles stay the same: one texel a vertex.
//!
//! Vertices are those of the first frame, split where its edges are hard, so that each has one normal. What moves is stored as it is or as the offset
//! from the first frame; offsets need a smaller range, so that the same bits say more, and an engine without the textures shows the
//! first frame.
//!
//! Cloth that tears ([`crate::vat::maker::tearing`]) is taken the same way: [`SoftCarrier::tearing`] has the finest split that any frame shows, and frames are brought to
//! its vertices ([`SoftCarrier::adopt`]) before they are encoded. Normals are smoothed where corners meet in that frame, so that the sides of a tear
//! part when it opens.

use crate::vat::maker::carrier::texel_centers;
use crate::vat::maker::middles::{Middles, Quad};
use crate::vat::maker::normals::ShadingGroups;
use crate::vat::maker::retriangulated::Retriangulated;
use crate::vat::maker::tearing::{CornerClasses, cut_as_first};
use sinew_geom::{Attribute, Mesh, Topology, index32};
use sinew_vat::layout::Layout;
use sinew_vat::manifest::Space;
use sinew_vat::quantity::Quantity;
use sinew_vat::texture::{TextureSpec, encode_vertices};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The mesh that carries a sequence of constant topology, and where its vertices come from.
#[derive(Clone, Debug)]
pub(crate) struct SoftCarrier {
    source: Arc<Topology>,
    rest: Vec<[f32; 3]>,
    shading: Shading,
    /// Vertices in the middles of quads that frames cut in two ways.
    middles: Option<Arc<Middles>>,
    /// Vertex of the source, and a corner that it is at (triangle and place in it), for each vertex.
    vertices: Vec<(u32, u32, u8)>,
    triangles: Vec<[u32; 3]>,
}

/// Which corners share a normal.
#[derive(Clone, Debug)]
enum Shading {
    /// The same in all frames.
    Constant(ShadingGroups),
    /// Those that meet in a frame.
    Tearing(Tearing),
}

/// What brings a frame of cloth that tears to the carrier's vertices.
#[derive(Clone, Debug)]
struct Tearing {
    /// The first frame's own triangles.
    first: Arc<Topology>,
    /// A corner (triangle and place in it) of each vertex of the source.
    corners: Vec<(u32, u8)>,
    /// Edges sharper than that in the first frame are hard, radians.
    crease: f32,
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
    /// A triangle has the same vertices in the other direction.
    #[error("triangle {triangle} is turned over against the first frame")]
    TurnedOver {
        /// One of them.
        triangle: usize,
    },
    /// Another number of triangles than the carrier of cloth that tears.
    #[error("{found} triangles, the carrier has {expected}")]
    Triangles {
        /// Here.
        found: usize,
        /// Of the carrier.
        expected: usize,
    },
    /// A vertex of the carrier is at no corner.
    #[error("vertex {vertex} of the carrier is at no corner of a triangle")]
    Unused {
        /// One of them.
        vertex: usize,
    },
}

impl SoftCarrier {
    /// From the first frame; edges sharper than `crease` (radians) are hard. Vertices that no triangle uses are left out.
    pub(crate) fn new(first: &Mesh, crease: f32) -> Self {
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
            shading: Shading::Constant(groups),
            middles: None,
            vertices,
            triangles,
        }
    }

    /// [`Self::new`] with a vertex more in the middle of each quad ([`Middles`]), so that frames which cut it along the other diagonal show their own surface.
    /// What is called a vertex of the source is one of a frame that went through [`Self::adopt`].
    pub(crate) fn with_middles(first: &Mesh, crease: f32, quads: &[Quad]) -> Self {
        if quads.is_empty() {
            return Self::new(first, crease);
        }
        let middles = Middles::new(&first.topology, quads.to_vec());
        Self {
            middles: Some(Arc::new(middles.clone())),
            ..Self::new(&middles.refine(first), crease)
        }
    }

    /// Of cloth that tears, from the first frame and a vertex for each corner of its triangles: the refinement of the [`Self::corner_classes`] of all
    /// frames. What is called a vertex of the source is one of these, for frames that went through [`Self::adopt`]. Edges sharper than `crease`
    /// (radians) in the first frame are hard.
    ///
    /// # Errors
    /// [`SoftError::Triangles`] where there are more or fewer triangles than in the first frame, [`SoftError::Unused`] where a vertex is at no corner.
    pub(crate) fn tearing(
        first: &Mesh,
        crease: f32,
        triangles: &[[u32; 3]],
    ) -> Result<Self, SoftError> {
        let (found, expected) = (first.topology.triangles().len(), triangles.len());
        if found != expected {
            return Err(SoftError::Triangles { found, expected });
        }
        let count = triangles.iter().flatten().max();
        let count = count.map_or(0, |v| v.saturating_add(1));
        let corners = first_corners(count, triangles)?;
        // Every index is below the count, so there is always a topology.
        let source = Arc::new(Topology::new(count, triangles.to_vec()).unwrap_or_default());
        let at_corners = (0..count).zip(&corners).map(|(v, &(t, k))| (v, t, k));
        let vertices = at_corners.collect();
        let tearing = Tearing {
            first: first.topology.clone(),
            corners,
            crease,
        };
        Ok(Self {
            rest: tearing.picked(&first.topology, &first.positions),
            shading: Shading::Tearing(tearing),
            middles: None,
            vertices,
            triangles: triangles.to_vec(),
            source,
        })
    }

    /// Which corners of a frame share a vertex and a normal, where the triangles are those of `first`, or cut its surface in another way
    /// ([`is_same_surface`]). Edges sharper than `crease` (radians) in the first frame are hard.
    ///
    /// # Errors
    /// [`SoftError::Triangles`] where the frame has more or fewer triangles than the first one.
    pub(crate) fn corner_classes(
        first: &Mesh,
        frame: &Mesh,
        crease: f32,
    ) -> Result<CornerClasses, SoftError> {
        let topology = &*triangles_like_first(&first.topology, &frame.topology)?;
        let rest = (&*first.topology, &first.positions[..]);
        let groups = ShadingGroups::with_edges_of(rest, topology, &frame.positions, crease);
        Ok(CornerClasses::of_frame(topology, &groups))
    }

    /// The same carrier with its rest in another space, for frames whose positions are there. Its [`Self::normals`] mean nothing where that
    /// space mirrors: take those of the original.
    pub(crate) fn in_space(&self, space: Space) -> Self {
        Self {
            rest: self.rest.iter().map(|p| space.position(*p)).collect(),
            ..self.clone()
        }
    }

    /// The same carrier with its last vertex first (OpenVAT counts so).
    pub(crate) fn reversed(&self) -> Self {
        let last = self.vertices.len().saturating_sub(1) as u32;
        let triangles = self.triangles.iter();
        Self {
            vertices: self.vertices.iter().rev().copied().collect(),
            triangles: triangles.map(|t| t.map(|v| last - v)).collect(),
            ..self.clone()
        }
    }

    /// Vertices, those at hard edges once for each side.
    pub(crate) fn vertex_count(&self) -> usize {
        self.vertices.len()
    }

    /// Its triangles, in the order of the source.
    pub(crate) fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Vertex of the source that a vertex came from.
    pub(crate) fn source_vertex(&self, vertex: usize) -> usize {
        self.vertices[vertex].0 as usize
    }

    /// Where a vertex of the source is in the first frame.
    pub(crate) fn rest(&self, source_vertex: usize) -> [f32; 3] {
        self.rest[source_vertex]
    }

    /// Unit normals of all vertices in a frame.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub(crate) fn normals(&self, frame: &Mesh) -> Result<Vec<[f32; 3]>, SoftError> {
        self.check(frame)?;
        let corners = match &self.shading {
            Shading::Constant(groups) => groups.corner_normals(&self.source, &frame.positions),
            Shading::Tearing(tearing) => {
                let (source, crease) = (&*self.source, tearing.crease);
                let rest = (source, &self.rest[..]);
                ShadingGroups::with_edges_of(rest, source, &frame.positions, crease)
                    .corner_normals(source, &frame.positions)
            }
        };
        let of = |&(_, t, k): &(u32, u32, u8)| corners[t as usize][k as usize];
        Ok(self.vertices.iter().map(of).collect())
    }

    /// The carrier as a mesh: the first frame (of cloth that tears after [`Self::adopt`]) with its texture coordinates and colours, and behind them texture coordinates at
    /// the texel centres of the first frame of `layout`.
    pub(crate) fn mesh(&self, name: &str, first: &Mesh, layout: &Layout) -> Mesh {
        let count = index32(self.vertices.len());
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
    pub(crate) fn check(&self, frame: &Mesh) -> Result<(), SoftError> {
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
            Some(triangle) => Err(match turned_over(own, given) {
                Some(triangle) => SoftError::TurnedOver { triangle },
                None => SoftError::Triangle { triangle },
            }),
            None => Ok(()),
        }
    }

    /// Gives a frame the triangles of the first one where both are the same surface ([`is_same_surface`]): many programs cut a quad
    /// along its shorter diagonal, which is another one once it is bent. Where the carrier has vertices in the middles of quads ([`Self::with_middles`]), frames get
    /// these. Frames of cloth that tears get the carrier's vertices, each with all that
    /// the vertex has that is at its corners in that frame.
    ///
    /// # Errors
    /// As [`Self::check`]; of cloth that tears [`SoftError::Triangles`] where there are more or fewer than in the first frame.
    pub(crate) fn adopt(&self, frame: &mut Mesh) -> Result<(), SoftError> {
        if let Shading::Tearing(tearing) = &self.shading
            && !Arc::ptr_eq(&self.source, &frame.topology)
        {
            *frame = tearing.unified(frame, &self.source)?;
        }
        if let Some(middles) = &self.middles
            && !Arc::ptr_eq(&self.source, &frame.topology)
            && is_same_surface(middles.first(), &frame.topology)
        {
            *frame = middles.refine(frame);
        }
        if is_same_surface(&self.source, &frame.topology) {
            frame.topology = self.source.clone();
        }
        self.check(frame)
    }

    /// How far vertices of the source are from the first frame, metres.
    pub(crate) fn offset(&self, frame: &Mesh, source_vertex: usize) -> [f32; 3] {
        let (now, rest) = (frame.positions[source_vertex], self.rest[source_vertex]);
        std::array::from_fn(|k| now[k] - rest[k])
    }

    /// The texels of one frame: for each texture the bytes of all vertices.
    ///
    /// # Errors
    /// As [`Self::check`].
    #[cfg(test)]
    pub(crate) fn encode_frame(
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
    pub(crate) fn encode_frame_with(
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

impl Tearing {
    /// A frame with the vertices of the carrier.
    fn unified(&self, frame: &Mesh, source: &Arc<Topology>) -> Result<Mesh, SoftError> {
        let topology = &*triangles_like_first(&self.first, &frame.topology)?;
        let mut out = Mesh {
            name: frame.name.clone(),
            topology: source.clone(),
            positions: self.picked(topology, &frame.positions),
            ..Mesh::default()
        };
        let sets = |set: &Vec<[f32; 2]>| self.picked(topology, set);
        out.uvs = frame.uvs.iter().map(sets).collect();
        let sets = |set: &Vec<[f32; 4]>| self.picked(topology, set);
        out.colors = frame.colors.iter().map(sets).collect();
        out.tangents = frame.tangents.as_ref().map(sets);
        out.normals = frame.normals.as_ref().map(|n| self.picked(topology, n));
        let attribute = |a: &Attribute| match a {
            Attribute::Scalar(v) => Attribute::Scalar(self.picked(topology, v)),
            Attribute::Vec2(v) => Attribute::Vec2(self.picked(topology, v)),
            Attribute::Vec3(v) => Attribute::Vec3(self.picked(topology, v)),
            Attribute::Vec4(v) => Attribute::Vec4(self.picked(topology, v)),
        };
        let attributes = frame.attributes.iter();
        out.attributes = attributes.map(|(n, a)| (n.clone(), attribute(a))).collect();
        Ok(out)
    }

    fn picked<T: Copy>(&self, topology: &Topology, values: &[T]) -> Vec<T> {
        let triangles = topology.triangles();
        let vertex = |&(t, k): &(u32, u8)| triangles[t as usize][k as usize] as usize;
        self.corners.iter().map(|c| values[vertex(c)]).collect()
    }
}

/// The triangles of a frame of cloth that tears, with quads cut as in the first frame ([`is_same_surface`], [`cut_as_first`]).
///
/// # Errors
/// [`SoftError::Triangles`] where there are more or fewer than in the first frame.
pub(crate) fn triangles_like_first<'a>(
    first: &'a Topology,
    frame: &'a Topology,
) -> Result<Cow<'a, Topology>, SoftError> {
    let (found, expected) = (frame.triangles().len(), first.triangles().len());
    if found != expected {
        return Err(SoftError::Triangles { found, expected });
    }
    if is_same_surface(first, frame) {
        return Ok(Cow::Borrowed(first));
    }
    let cut = cut_as_first(first, frame);
    Ok(cut.map_or(Cow::Borrowed(frame), Cow::Owned))
}

/// The first corner of each vertex.
fn first_corners(count: u32, triangles: &[[u32; 3]]) -> Result<Vec<(u32, u8)>, SoftError> {
    if count as usize > 3 * triangles.len() {
        let vertex = 3 * triangles.len();
        return Err(SoftError::Unused { vertex });
    }
    let mut corners = vec![None; count as usize];
    for (t, triangle) in triangles.iter().enumerate() {
        for (k, v) in triangle.iter().enumerate() {
            corners[*v as usize].get_or_insert((t as u32, k as u8));
        }
    }
    match corners.iter().position(Option::is_none) {
        Some(vertex) => Err(SoftError::Unused { vertex }),
        None => Ok(corners.into_iter().flatten().collect()),
    }
}

/// The first triangle of `frame` that has the vertices of one of `first` in the other direction.
pub(crate) fn turned_over(first: &[[u32; 3]], frame: &[[u32; 3]]) -> Option<usize> {
    let turned = Retriangulated::between(first, frame).turned_over(first, frame);
    turned.map(|t| t as usize)
}

/// Whether two lists of triangles are one surface cut in two ways: as many vertices and triangles, what is different in one has the same
/// border as what is different in the other, and no triangle is turned over.
pub(crate) fn is_same_surface(a: &Topology, b: &Topology) -> bool {
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
    // Closed surfaces have no border, turned over or not.
    border.values().all(|sum| *sum == 0) && turned_over(first, second).is_none()
}

#[cfg(test)]
#[path = "soft_tests.rs"]
mod tests;
