//! Reading glTF 2.0.
//!
//! Positions come out in scene space at bind, whatever the file stores: a node transform, a quantisation scale or
//! the units of a skin are baked into the mesh and taken out of the inverse bind matrices again
//! ([`sinew_geom::Joint::joint_from_bind`]). A mesh without a skin follows a joint of its own, so that every mesh
//! has influences.
//!
//! Read: triangles (lists, strips, fans; with and without indices), any number of influence sets, UV and colour
//! sets, `_CUSTOM` attributes (stored without the underscore), morph targets, sparse and interleaved accessors, all component types, skins, node
//! trees with matrices, animations (also those of `KHR_animation_pointer` that lead to a node's transform or weights);
//! `KHR_mesh_quantization`, `EXT_meshopt_compression` and
//! `KHR_meshopt_compression`; a deformer graph under `extensions.SINEW_graph`.
//!
//! Repaired with a warning: weights that do not sum to one, vertices without weights. Skipped with a warning:
//! points, lines of one vertex, meshes outside the scene, channels that drive what cannot be driven, extensions that
//! move or make geometry and are not read (instances are read as one mesh). Of clips with one name the later ones are
//! renamed (`walk#2`), with a warning. Joint indices out of range are ignored where their weight is zero.

mod accessor;
mod appearance;
mod buffers;
mod clips;
mod compressed;
mod container;
mod document;
mod extensions;
mod lines;
mod meshes;
mod morphs;
mod nodes;
mod primitive;
mod sharing;
mod skins;
mod space;
#[cfg(test)]
mod tests;
mod uri;

pub(crate) use uri::named_file;

use crate::IoError;
pub use appearance::read_appearance;
pub(crate) use container::plain_channels;
pub(crate) use morphs::target_names;

use document::{Document, Warnings};
use serde_json::Value;
use sinew_geom::{Affine, Asset, Rig};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most vertices over all meshes of a file. Nodes may share a mesh, so a small file could ask for any number.
pub const MAX_VERTICES: usize = 1 << 28;

/// Root extension that carries a deformer graph: `{"version": "1.0", "graph": {...}}`.
pub const GRAPH_EXTENSION: &str = "SINEW_graph";

/// Bytes shared with the file they came from.
#[derive(Clone, Debug)]
pub struct GltfBuffer {
    owner: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl GltfBuffer {
    fn new(bytes: Vec<u8>) -> Self {
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

/// Where the vertices of a primitive of the document are in the mesh of the asset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrimitiveVertices {
    /// Number of vertices that its accessors hold; 0 for points and lines.
    pub stored: usize,
    /// Vertices of the mesh of the asset. Primitives over the same accessors have the same.
    pub vertices: Range<usize>,
    /// Which of the stored vertices these are, rising; `None` for all.
    pub rows: Option<Arc<[u32]>>,
}

impl PrimitiveVertices {
    /// The row of its accessors that a vertex of the mesh was read from, if it is of this primitive.
    pub fn row_of(&self, vertex: usize) -> Option<usize> {
        let place = vertex.checked_sub(self.vertices.start);
        let place = place.filter(|_| vertex < self.vertices.end)?;
        match &self.rows {
            None => Some(place),
            Some(rows) => rows.get(place).map(|r| *r as usize),
        }
    }

    /// For each row of the accessors a vertex of the mesh: the one that it became, or the next that was read.
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

/// The document that an asset came from: what a writer needs to carry materials, textures and images over.
#[derive(Clone, Debug, Default)]
pub struct GltfSource {
    /// The file, for messages.
    pub path: PathBuf,
    /// The folder in which external files are looked for, if any.
    pub base_dir: Option<PathBuf>,
    /// The JSON document as it was.
    pub json: Value,
    /// Bytes of each buffer; `None` for one that only reserves room for compressed data.
    pub buffers: Vec<Option<GltfBuffer>>,
    /// Decompressed bytes of each buffer view that is compressed.
    pub decompressed: Vec<Option<Arc<Vec<u8>>>>,
    /// Index into [`Rig::nodes`] of each node of the document.
    pub rig_node_of_node: Vec<usize>,
    /// Node of the document that carries each of [`Asset::meshes`].
    pub node_of_mesh: Vec<usize>,
    /// Scene space at bind from the space of the stored positions, of each of [`Asset::meshes`].
    pub bind_from_file: Vec<Affine<f64>>,
    /// For each of [`Asset::meshes`], where the vertices of each primitive of its mesh in the document are.
    pub primitives_of_mesh: Vec<Vec<PrimitiveVertices>>,
    /// Entries of [`Rig::joints`] that each skin of the document became.
    pub joints_of_skin: Vec<Range<usize>>,
}

/// A file, read.
#[derive(Clone, Debug, Default)]
pub struct GltfFile {
    /// Meshes, rig, clips.
    pub asset: Asset,
    /// The rest of the document.
    pub document: GltfSource,
}

/// Reads a `.gltf` or `.glb` file. External buffers must lie in its folder.
///
/// # Errors
/// [`IoError`] says where the file is broken, or what it uses that is not supported.
pub fn read_gltf(path: &Path) -> Result<GltfFile, IoError> {
    let bytes = std::fs::read(path).map_err(|source| IoError::Read {
        path: path.to_owned(),
        source,
    })?;
    let name = path
        .file_name()
        .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    read_gltf_bytes(bytes, path.parent(), &name)
}

/// Reads a `.gltf` or `.glb` file from memory. `name` is its file name, for errors and the name of the asset;
/// without `base_dir` external buffers are refused.
///
/// # Errors
/// As [`read_gltf`].
pub fn read_gltf_bytes(
    bytes: Vec<u8>,
    base_dir: Option<&Path>,
    name: &str,
) -> Result<GltfFile, IoError> {
    let path = container::display_path(name, base_dir);
    let container = container::open(bytes, &path)?;
    extensions::check_required(&container.root, &path)?;
    let doc = Document::new(container, path, base_dir)?;
    let stem = Path::new(name)
        .file_stem()
        .map_or_else(|| name.to_owned(), |s| s.to_string_lossy().into_owned());
    read_document(doc, stem, base_dir)
}

fn read_document(
    doc: Document,
    name: String,
    base_dir: Option<&Path>,
) -> Result<GltfFile, IoError> {
    let mut warnings = Warnings::default();
    extensions::warn_of_unread(&doc, &mut warnings);
    let mut tree = nodes::read(&doc)?;
    let mut palette = Vec::new();
    let skins = skins::read(&doc, &tree, &mut palette, &mut warnings)?;
    let clips = clips::read(&doc, &tree, &mut warnings)?;
    let meshes::Meshes {
        mut meshes,
        mut strands,
        strand_nodes,
        nodes: node_of_mesh,
        bind_from_file,
        primitives,
    } = meshes::read(&doc, &tree, &skins, &mut palette, &mut warnings)?;
    let graph = graph(&doc)?;
    let rig = Rig::new(std::mem::take(&mut tree.nodes), palette)
        .map_err(|e| doc.malformed("nodes", e.to_string(), "a tree"))?;
    let meshes_and_nodes = meshes.iter_mut().zip(&node_of_mesh);
    for (mesh, &node) in meshes_and_nodes.chain(strands.iter_mut().zip(&strand_nodes)) {
        mesh.morph_offset = rig.nodes()[tree.rig_from_file[node]].morph_offset;
    }
    Ok(GltfFile {
        asset: Asset {
            name,
            meshes,
            strands,
            rig: Arc::new(rig),
            clips,
            graph,
            warnings: warnings.0,
            ..Asset::default()
        },
        document: GltfSource {
            path: doc.path,
            base_dir: base_dir.map(Path::to_owned),
            json: doc.json,
            buffers: doc.buffers,
            decompressed: doc.decompressed,
            rig_node_of_node: tree.rig_from_file,
            node_of_mesh,
            bind_from_file,
            primitives_of_mesh: primitives,
            joints_of_skin: skins.into_iter().map(|s| s.joints).collect(),
        },
    })
}

/// The deformer graph that travels in the file.
fn graph(doc: &Document) -> Result<Option<String>, IoError> {
    let extension = &doc.json["extensions"][GRAPH_EXTENSION];
    if extension.is_null() {
        return Ok(None);
    }
    let place = format!("extensions.{GRAPH_EXTENSION}");
    match extension["version"].as_str() {
        Some(v) if v.split('.').next() == Some("1") => {}
        Some(v) => {
            return Err(IoError::Unsupported {
                path: doc.path.clone(),
                place: format!("{place}.version"),
                feature: format!("graph version {v}"),
                help: "update the program, or save the graph as version 1".into(),
            });
        }
        None => {
            return Err(doc.malformed(format!("{place}.version"), "no version", "\"1.0\""));
        }
    }
    if !extension["graph"].is_object() {
        return Err(doc.malformed(format!("{place}.graph"), "no object", "a graph"));
    }
    Ok(Some(extension["graph"].to_string()))
}
