//! Writer of binary glTF (GLB): evaluated frames as morph targets with an animation of their weights.
//!
//! The base mesh is frame 0. Target `k - 1` is frame `k` minus frame 0, for positions, normals and, if every frame has
//! them, tangents and changing colours. Targets are sparse if that is smaller; zero deltas are not stored. The weights
//! animation has one key per frame: all zeros for frame 0, else one for the target of the frame. Playback is exact at
//! the keys with `STEP` and blends linearly with `LINEAR`. Nodes have identity transforms, since positions are in scene
//! space. Parts of one source mesh become one mesh with several primitives.
//!
//! Memory does not grow with the file: the first pass over the frames finds bounds and sizes, the second one writes.
//! Equal input gives equal bytes.

mod character;
mod container;
mod geometry;
mod graph;
mod layout;
mod materials;
mod packed;
mod skins;
mod strands;
mod targets;

pub use character::character_glb;
pub use container::{Glb, read_glb_chunks};
pub use graph::{EXTENSION as GRAPH_EXTENSION, embed_graph, with_graph};
pub use packed::packed_glb;
pub use skins::{ClipKeys, HelperJoint, MeshSkin, SkinEdit, edit_skins};
pub use strands::add_strands;
pub use targets::{
    GraphTexts, NewTarget, TargetChange, add_morph_targets, delta_bytes, replace_morph_targets,
};

use crate::fault::{cannot_write, malformed, warning};
use crate::{AtomicFile, FrameCache, IoError};
use geometry::{Part, parts_of};
use layout::Document;
use materials::MaterialCopier;
use serde_json::{Value, json};
use sinew_geom::Warning;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Playback between two frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrameInterpolation {
    /// Each frame is shown until the next one.
    Step,
    /// Positions are interpolated linearly.
    #[default]
    Linear,
}

/// The source file of a character, to copy its materials and images.
#[derive(Clone, Debug, Default)]
pub struct GlbSource {
    /// The glTF document.
    pub json: Value,
    /// Bytes of each buffer of the document.
    pub buffers: Vec<Arc<[u8]>>,
    /// Folder of the file. Images inside it are embedded. Images outside it are not read.
    pub base_dir: PathBuf,
}

/// Options for GLB files.
#[derive(Clone, Debug, Default)]
pub struct GlbOptions<'a> {
    /// File of the materials that [`sinew_geom::MeshPart::material`] refers to.
    pub source: Option<&'a GlbSource>,
    /// Playback between two frames.
    pub interpolation: FrameInterpolation,
    /// A deformer graph (JSON text) to embed.
    pub graph: Option<&'a str>,
    /// Name of the writing program. Empty for `sinew` and its version.
    pub generator: &'a str,
}

/// Maximum number of morph targets per mesh in Bevy.
const BEVY_TARGETS: usize = 256;

/// Diameters of strands in metres: [`sinew_geom::THICKNESS`] as a glTF application attribute.
pub(crate) const GLTF_THICKNESS: &str = "_THICKNESS";

/// Writes frames as one GLB file. A single frame gives a mesh without targets.
///
/// # Errors
/// [`IoError::Malformed`] if counts of the cache do not match, a position is not finite, or the graph is not a JSON
/// object; [`IoError::Unsupported`] if the file would reach 4 GiB; [`IoError::Write`] if it cannot be written.
pub fn write_glb(
    path: &Path,
    cache: &FrameCache<'_>,
    options: &GlbOptions<'_>,
) -> Result<Vec<Warning>, IoError> {
    cache.check(path)?;
    let mut warnings = Vec::new();
    let mut document = Document::default();
    let mut copier = MaterialCopier::new(options.source);
    let targets = cache.times_secs.len() - 1;
    if targets > BEVY_TARGETS {
        let message = format!(
            "the file has {targets} morph targets per mesh; Bevy loads at most {BEVY_TARGETS}"
        );
        warnings.push(warning("many_morph_targets", message));
    }
    let (mut nodes, mut meshes) = (Vec::new(), Vec::new());
    for (index, cached) in cache.meshes.iter().enumerate() {
        if cached.mesh.vertex_count() == 0 {
            let message = format!("mesh '{}' has no vertices and is not written", cached.name);
            warnings.push(warning("empty_mesh", message));
            continue;
        }
        let parts = parts_of(cached, &mut warnings).map_err(cannot_write(path))?;
        for (name, parts) in group(parts) {
            let mut primitives = Vec::new();
            for part in &parts {
                let material = part.material.and_then(|m| {
                    copier.material(m, cached.mesh.uvs.len(), &mut document, &mut warnings)
                });
                let primitive = document.primitive((cache, index), part, material);
                primitives.push(primitive.map_err(cannot_write(path))?);
            }
            let mut mesh = json!({ "name": name, "primitives": primitives });
            let mut node = json!({ "name": name, "mesh": meshes.len() });
            if targets > 0 {
                let weights = vec![json!(0.0); targets];
                mesh["weights"] = weights.clone().into();
                let names: Vec<String> = (1..=targets).map(|k| format!("frame_{k:04}")).collect();
                mesh["extras"] = json!({ "targetNames": names });
                node["weights"] = weights.into();
            }
            meshes.push(mesh);
            nodes.push(node);
        }
    }
    let mut root =
        json!({ "asset": { "version": "2.0", "generator": generator(options) }, "scene": 0 });
    let mut scene = json!({});
    if !nodes.is_empty() {
        scene["nodes"] = (0..nodes.len()).collect::<Vec<_>>().into();
        if targets > 0 {
            root["animations"] =
                document.animation(&cache.times_secs, nodes.len(), options.interpolation);
        }
        root["nodes"] = nodes.into();
        root["meshes"] = meshes.into();
    }
    root["scenes"] = json!([scene]);
    copier.finish(&mut root);
    if let Some(text) = options.graph {
        graph::insert(&mut root, graph::parse(text, path)?);
    }
    let length = document.finish(&mut root);
    write(path, &root, length, cache, &document)?;
    Ok(warnings)
}

fn generator(options: &GlbOptions<'_>) -> String {
    if options.generator.is_empty() {
        concat!("sinew ", env!("CARGO_PKG_VERSION")).into()
    } else {
        options.generator.into()
    }
}

/// Groups parts by source mesh, in the order of first appearance.
fn group(parts: Vec<Part<'_>>) -> Vec<(String, Vec<Part<'_>>)> {
    let mut groups: Vec<(String, Vec<Part<'_>>)> = Vec::new();
    let mut known = BTreeMap::new();
    for part in parts {
        let group = *known.entry(part.source_mesh).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(g) => g.1.push(part),
            None => groups.push((part.name.clone(), vec![part])),
        }
    }
    groups
}

fn write(
    path: &Path,
    root: &Value,
    length: u64,
    cache: &FrameCache<'_>,
    document: &Document<'_>,
) -> Result<(), IoError> {
    let text = serde_json::to_vec(root)
        .map_err(|e| malformed(path, "document", e.to_string(), "valid JSON"))?;
    let mut out = AtomicFile::create(path)?;
    container::put_header(&mut out, &text, length)?;
    document
        .write_binary(&mut out, cache)
        .map_err(cannot_write(path))?;
    out.commit()
}

#[cfg(test)]
mod tests;

impl GlbSource {
    /// The source of a file that was just read from `path`. Compressed views become separate, uncompressed buffers.
    pub fn of(document: &crate::GltfSource, path: &Path) -> Self {
        let mut json = document.json.clone();
        let mut buffers: Vec<Arc<[u8]>> = document
            .buffers
            .iter()
            .map(|b| {
                b.as_ref()
                    .map_or_else(|| Arc::from([]), |b| Arc::from(b.bytes()))
            })
            .collect();
        for (index, bytes) in document.decompressed.iter().enumerate() {
            let Some(bytes) = bytes else { continue };
            let view = json.get_mut("bufferViews").and_then(|v| v.get_mut(index));
            if let Some(view) = view.and_then(Value::as_object_mut) {
                view.insert("buffer".into(), buffers.len().into());
                view.insert("byteOffset".into(), 0.into());
                view.insert("byteLength".into(), bytes.len().into());
                view.remove("extensions");
                buffers.push(Arc::from(bytes.as_slice()));
            }
        }
        let base_dir = path.parent().unwrap_or(Path::new("")).to_owned();
        Self {
            json,
            buffers,
            base_dir,
        }
    }
}
