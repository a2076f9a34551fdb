//! A glTF document as data: what a reader leaves for writers.

use serde_json::Value;
use sinew_geom::Affine;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Root extension of VRM 1.0.
pub(crate) const VRM_1: &str = "VRMC_vrm";
/// Root extension of VRM 0.x.
pub(crate) const VRM_0: &str = "VRM";

/// Bytes of a buffer, shared with the file that contains it.
#[derive(Clone, Debug)]
pub struct GltfBuffer {
    pub(super) owner: Arc<Vec<u8>>,
    pub(super) range: Range<usize>,
}

impl GltfBuffer {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        let range = 0..bytes.len();
        Self {
            owner: Arc::new(bytes),
            range,
        }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.owner[self.range.clone()]
    }
}

/// Maps the vertices of a primitive in the document to vertices of the asset's mesh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrimitiveVertices {
    /// Number of vertices in its accessors; 0 for points and lines.
    pub stored: usize,
    /// Vertex range in the asset's mesh. Primitives with the same accessors have the same range.
    pub vertices: Range<usize>,
    /// Rows of the accessors that were read, increasing; `None` for all.
    pub rows: Option<Arc<[u32]>>,
}

impl PrimitiveVertices {
    /// Accessor row of a mesh vertex; `None` if the vertex belongs to another primitive.
    pub fn row_of(&self, vertex: usize) -> Option<usize> {
        let place = vertex.checked_sub(self.vertices.start);
        let place = place.filter(|_| vertex < self.vertices.end)?;
        match &self.rows {
            None => Some(place),
            Some(rows) => rows.get(place).map(|r| *r as usize),
        }
    }

    /// For each accessor row: the mesh vertex of this row, or of the next row that was read.
    pub fn vertex_of_rows(&self) -> impl Iterator<Item = usize> + '_ {
        let last = self.vertices.end.saturating_sub(1);
        (0..self.stored).map(move |row| match &self.rows {
            None => self.vertices.start + row,
            Some(rows) => {
                let place = rows.partition_point(|r| (*r as usize) < row);
                last.min(self.vertices.start + place)
            }
        })
    }
}

/// The document of an asset. Writers copy materials, textures and images from it.
///
/// A reader of another format may leave a document that has materials, textures and images only.
#[derive(Clone, Debug, Default)]
pub struct GltfSource {
    /// The file, for messages.
    pub path: PathBuf,
    /// Folder of external files, if any.
    pub base_dir: Option<PathBuf>,
    /// The original JSON document.
    pub json: Value,
    /// Bytes of each buffer; `None` for a placeholder for compressed data.
    pub buffers: Vec<Option<GltfBuffer>>,
    /// Decompressed bytes of each compressed buffer view.
    pub decompressed: Vec<Option<Arc<Vec<u8>>>>,
    /// Index in [`Rig::nodes`](sinew_geom::Rig::nodes) of each node of the document.
    pub rig_node_of_node: Vec<usize>,
    /// Document node of each of [`Asset::meshes`](sinew_geom::Asset::meshes).
    pub node_of_mesh: Vec<usize>,
    /// For each of [`Asset::meshes`](sinew_geom::Asset::meshes): scene space at bind from the space of the stored positions.
    pub bind_from_file: Vec<Affine<f64>>,
    /// For each of [`Asset::meshes`](sinew_geom::Asset::meshes): the vertex ranges of the primitives of its document mesh.
    pub primitives_of_mesh: Vec<Vec<PrimitiveVertices>>,
    /// Range in [`Rig::joints`](sinew_geom::Rig::joints) of each skin of the document.
    pub joints_of_skin: Vec<Range<usize>>,
}

impl GltfSource {
    /// True if this is a whole glTF document: it has the entry `asset`, which glTF requires.
    pub fn is_document(&self) -> bool {
        self.json["asset"].is_object()
    }

    /// True if the document is a VRM avatar, 0.x or 1.0.
    pub fn is_vrm(&self) -> bool {
        self.vrm_version().is_some()
    }

    /// `0.x` or `1.0` if the document is a VRM avatar.
    pub fn vrm_version(&self) -> Option<&'static str> {
        let extensions = &self.json["extensions"];
        let versions = [(VRM_1, "1.0"), (VRM_0, "0.x")];
        let found = versions.iter().find(|(e, _)| extensions[*e].is_object());
        found.map(|(_, version)| *version)
    }
}
