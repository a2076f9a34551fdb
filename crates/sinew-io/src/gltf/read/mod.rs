//! Reader of glTF 2.0.
//!
//! Positions are in scene space at bind in metres. Node transforms, quantisation scales and skin units are baked into
//! the mesh and removed from the inverse bind matrices ([`sinew_geom::Joint::joint_from_bind`]). A mesh without a skin
//! gets its own joint. Thus every mesh has influences.
//!
//! Supported: triangles (lists, strips, fans, with and without indices), lines as strands, any number of influence, UV
//! and colour sets, `_CUSTOM` attributes (stored without the underscore), morph targets, sparse and interleaved
//! accessors, all component types, skins, node trees with matrices, animations, `KHR_animation_pointer` on transforms
//! and weights of nodes, `KHR_mesh_quantization`, `EXT_meshopt_compression`, `KHR_meshopt_compression`, and a deformer
//! graph under `extensions.SINEW_graph`.
//!
//! Cases with a warning:
//!
//! | found | result |
//! |---|---|
//! | weights that do not add up to 1 | normalised |
//! | vertices without weights | follow the first joint |
//! | points, lines of one vertex, meshes outside the scene | skipped |
//! | channels without a valid target | skipped |
//! | unsupported extensions that add geometry or motion | ignored; instances are read as one mesh |
//! | clips with the same name | later ones are renamed (`walk#2`) |
//!
//! VRM 0.x and 1.0: [`Asset::expressions`](sinew_geom::Asset::expressions) and [`Asset::humanoid`](sinew_geom::Asset::humanoid). Nothing
//! is rotated: avatars of 1.0 face +Z, those of 0.x face -Z.
//!
//! A joint index out of range is ignored if its weight is zero.

mod accessor;
mod appearance;
mod buffers;
mod clips;
#[cfg(feature = "meshopt")]
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
mod vrm;

pub(crate) use uri::named_file;

use crate::IoError;
pub use appearance::read_appearance;
pub(crate) use container::plain_channels;
pub(crate) use morphs::target_names;
pub(crate) use space::bake as bake_transform;

pub use super::source::{GltfBuffer, GltfSource, PrimitiveVertices};
use document::{Document, Warnings};
use sinew_geom::{Asset, Rig};
use std::path::Path;
use std::sync::Arc;

/// Maximum number of vertices in all meshes of a file. Nodes can share a mesh; without this limit, a small file could
/// require any number.
pub const MAX_VERTICES: usize = 1 << 28;

/// Root extension with a deformer graph: `{"version": "1.0", "graph": {...}}`.
pub const GRAPH_EXTENSION: &str = "SINEW_graph";

/// A glTF file.
#[derive(Clone, Debug, Default)]
pub struct GltfFile {
    /// Meshes, rig and clips.
    pub asset: Asset,
    /// The rest of the document.
    pub document: GltfSource,
}

/// Reads a `.gltf` or `.glb` file. External buffers must be in the same folder.
///
/// # Errors
/// [`IoError`] with the location of invalid or unsupported data.
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

/// Reads a `.gltf` or `.glb` file from memory. `name` is its file name, for errors and as the asset name. Without
/// `base_dir`, external buffers are an error.
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
        .map_err(|e| doc.malformed("nodes", e.to_string(), "a tree of nodes"))?;
    let meshes_and_nodes = meshes.iter_mut().zip(&node_of_mesh);
    for (mesh, &node) in meshes_and_nodes.chain(strands.iter_mut().zip(&strand_nodes)) {
        mesh.morph_offset = rig.nodes()[tree.rig_from_file[node]].morph_offset;
    }
    let vrm = vrm::read(&doc, &tree.rig_from_file, &rig, &mut warnings);
    Ok(GltfFile {
        asset: Asset {
            name,
            meshes,
            strands,
            rig: Arc::new(rig),
            clips,
            expressions: vrm.expressions,
            humanoid: vrm.humanoid,
            mesh_nodes: node_of_mesh
                .iter()
                .map(|&n| tree.rig_from_file[n])
                .collect(),
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

/// The deformer graph in the file.
fn graph(doc: &Document) -> Result<Option<String>, IoError> {
    let extension = &doc.json["extensions"][GRAPH_EXTENSION];
    if extension.is_null() {
        return Ok(None);
    }
    let location = format!("extensions.{GRAPH_EXTENSION}");
    match extension["version"].as_str() {
        Some(v) if v.split('.').next() == Some("1") => {}
        Some(v) => {
            return Err(IoError::Unsupported {
                path: doc.path.clone(),
                location: format!("{location}.version"),
                feature: format!("graph version {v}"),
                help: "update Sinew, or save the graph as version 1".into(),
            });
        }
        None => {
            return Err(doc.malformed(format!("{location}.version"), "no version", "\"1.0\""));
        }
    }
    if !extension["graph"].is_object() {
        return Err(doc.malformed(format!("{location}.graph"), "no object", "a graph"));
    }
    Ok(Some(extension["graph"].to_string()))
}
