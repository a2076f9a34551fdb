//! Writer of binary glTF (GLB): evaluated frames as morph targets with an animation of their weights.
//!
//! The base mesh is frame 0. Target `k - 1` is frame `k` minus frame 0, for positions, normals and, if every frame has
//! them, tangents and changing colours. Tangents are written only if the material reads them. Targets are sparse if that
//! is smaller; zero deltas are not stored. The weights animation has one key per frame: all zeros for frame 0, else one
//! for the target of the frame. Playback is exact at the keys with `STEP` and blends linearly with `LINEAR`. Parts of one
//! source mesh become one mesh with several primitives.
//!
//! Positions are in scene space and nodes have identity transforms, except in quantised files, where the node of a mesh
//! moves and scales its integers to scene space ([`GlbCompression`]).
//!
//! Memory does not grow with the file: the binary chunk waits in a temporary file until the document is complete. Equal
//! input gives equal bytes.

mod blocks;
mod character;
mod container;
mod forms;
mod geometry;
mod graph;
mod joints;
mod layout;
mod materials;
mod packed;
mod skins;
mod strands;
mod targets;
mod vrm;

#[cfg(feature = "fbx")]
pub(crate) use container::glb_bytes;
#[cfg(feature = "fbx")]
pub(crate) use strands::{columns, floats};
#[cfg(feature = "fbx")]
pub(crate) use targets::{Appended, push};

pub use character::{character_glb, converted_glb};
pub use container::{Glb, read_glb_chunks};
pub use graph::{EXTENSION as GRAPH_EXTENSION, embed_graph, with_graph};
pub use packed::packed_glb;
pub use skins::{ClipKeys, HelperJoint, MeshSkin, SkinEdit, edit_skins};
pub use strands::{add_strands, add_strands_to};
pub use targets::{
    GraphTexts, NewTarget, TargetChange, add_morph_targets, delta_bytes, replace_morph_targets,
};

use crate::fault::{cannot_write, malformed, warning};
use crate::{AtomicFile, FrameCache, IoError};
use forms::Places;
use geometry::{Part, parts_of};
use layout::{Document, Written};
use materials::MaterialCopier;
use serde_json::{Value, json};
use sinew_geom::Warning;
use std::collections::BTreeMap;
use std::io;
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

/// How numbers are stored.
///
/// Rounded targets count from the rounded frame 0, so that rounding does not add up. [`GlbWritten::error_metres`] has the
/// error of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GlbCompression {
    /// Floats.
    #[default]
    None,
    /// Integers (`KHR_mesh_quantization`): positions of 16 bits for the larger of half the mesh and its way from frame 0;
    /// normals and tangents of 16 bits, in targets of 8 bits where these are within 0.5 degrees; colours and texture
    /// coordinates in 0 to 1 of 16 bits.
    Quantize,
    /// Streams of meshoptimizer's codecs (`EXT_meshopt_compression`), which decode to floats: positions in steps of a power
    /// of two, at least 16384 of them along the longest side of the mesh; normals and tangents within 0.4 degrees.
    /// Triangles may start with another corner.
    Meshopt,
}

/// What [`write_glb`] has written.
#[derive(Clone, Debug, Default)]
pub struct GlbWritten {
    /// What was left out or may not load.
    pub warnings: Vec<Warning>,
    /// Largest distance of a position at a key to the true one, measured over all frames, in metres. It includes float
    /// rounding by readers. Zero without compression.
    pub error_metres: f64,
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
    /// How numbers are stored.
    pub compression: GlbCompression,
    /// Name of the animation. Empty for `frames`.
    pub clip: &'a str,
    /// A deformer graph (JSON text) to embed.
    pub graph: Option<&'a str>,
    /// Name of the writing program. Empty for `sinew` and its version.
    pub generator: &'a str,
}

/// Maximum number of morph targets per mesh in Bevy.
const BEVY_TARGETS: usize = 256;

/// A mesh with fewer steps along its longest side is quantised coarsely: a step is a quarter of a pixel of a 4K picture.
const COARSE: f32 = 16_384.0;

/// Diameters of strands in metres: [`sinew_geom::THICKNESS`] as a glTF application attribute.
pub(crate) const GLTF_THICKNESS: &str = "_THICKNESS";

/// Writes frames as one GLB file. A single frame gives a mesh without targets.
///
/// # Errors
/// [`IoError::Malformed`] if counts of the cache do not match, a position is not finite, or the graph is not a JSON
/// object; [`IoError::Unsupported`] if the file would reach 4 GiB; [`IoError::NotBuilt`] for meshopt compression without the
/// feature `meshopt`; [`IoError::Write`] if it cannot be written.
pub fn write_glb(
    path: &Path,
    cache: &FrameCache<'_>,
    options: &GlbOptions<'_>,
) -> Result<GlbWritten, IoError> {
    #[cfg(not(feature = "meshopt"))]
    if options.compression == GlbCompression::Meshopt {
        return Err(crate::fault::not_built(
            path,
            "meshopt compression",
            "meshopt",
        ));
    }
    cache.check(path)?;
    let mut file = File {
        cache,
        document: Document::new(path, options.compression)?,
        copier: MaterialCopier::new(options.source),
        warnings: Vec::new(),
        nodes: Vec::new(),
        meshes: Vec::new(),
    };
    let targets = cache.times_secs.len() - 1;
    if targets > BEVY_TARGETS {
        let message = format!(
            "the file has {targets} morph targets per mesh; Bevy loads at most {BEVY_TARGETS}"
        );
        file.warnings.push(warning("many_morph_targets", message));
    }
    for (index, cached) in cache.meshes.iter().enumerate() {
        if cached.mesh.vertex_count() == 0 {
            let message = format!("mesh '{}' has no vertices and is not written", cached.name);
            file.warnings.push(warning("empty_mesh", message));
            continue;
        }
        let parts = parts_of(cached, &mut file.warnings).map_err(cannot_write(path))?;
        for (name, parts) in group(parts) {
            file.mesh(index, name, &parts, options.compression)
                .map_err(cannot_write(path))?;
            // Before the disk is full of it.
            container::check_length(path, file.document.len())?;
        }
    }
    file.write(path, options)
}

/// A file in the making.
struct File<'a> {
    cache: &'a FrameCache<'a>,
    document: Document,
    copier: MaterialCopier<'a>,
    warnings: Vec<Warning>,
    nodes: Vec<Value>,
    meshes: Vec<Value>,
}

impl File<'_> {
    /// Adds a mesh and its node.
    fn mesh(
        &mut self,
        index: usize,
        name: String,
        parts: &[Part<'_>],
        compression: GlbCompression,
    ) -> io::Result<()> {
        let cached = &self.cache.meshes[index];
        let vertices: Vec<_> = parts.iter().map(|p| p.vertices.clone()).collect();
        let places = Places::of(compression, cached, &vertices)?;
        let mut primitives = Vec::new();
        for part in parts {
            let sets = cached.mesh.uvs.len();
            let material = part.material.and_then(|m| {
                let warnings = &mut self.warnings;
                self.copier.material(m, sets, &mut self.document, warnings)
            });
            let written = Written {
                part,
                material,
                tangents: material.is_some_and(|m| self.copier.reads_tangents(m)),
                places: &places,
            };
            let place = (self.cache, index);
            primitives.push(self.document.primitive(place, &written)?);
        }
        let mut mesh = json!({ "name": name, "primitives": primitives });
        let mut node = json!({ "name": name, "mesh": self.meshes.len() });
        if compression == GlbCompression::Quantize {
            node["translation"] = json!(places.center.map(f64::from));
            node["scale"] = json!([places.scale; 3].map(f64::from));
            self.warnings.extend(coarse(&name, &places));
        }
        let targets = self.cache.times_secs.len() - 1;
        if targets > 0 {
            let weights = vec![json!(0.0); targets];
            mesh["weights"] = weights.clone().into();
            let names: Vec<String> = (1..=targets).map(|k| format!("frame_{k:04}")).collect();
            mesh["extras"] = json!({ "targetNames": names });
            node["weights"] = weights.into();
        }
        self.meshes.push(mesh);
        self.nodes.push(node);
        Ok(())
    }

    fn write(mut self, path: &Path, options: &GlbOptions<'_>) -> Result<GlbWritten, IoError> {
        let mut root =
            json!({ "asset": { "version": "2.0", "generator": generator(options) }, "scene": 0 });
        let mut scene = json!({});
        let times = &self.cache.times_secs;
        if !self.nodes.is_empty() {
            scene["nodes"] = (0..self.nodes.len()).collect::<Vec<_>>().into();
            if times.len() > 1 {
                let name = if options.clip.is_empty() {
                    "frames"
                } else {
                    options.clip
                };
                let (nodes, how) = (self.nodes.len(), options.interpolation);
                let animation = self.document.animation(name, times, nodes, how);
                root["animations"] = animation.map_err(cannot_write(path))?;
            }
            root["nodes"] = self.nodes.into();
            root["meshes"] = self.meshes.into();
        }
        root["scenes"] = json!([scene]);
        let required = match options.compression {
            _ if self.document.len() == 0 => &[][..],
            GlbCompression::None => &[],
            GlbCompression::Quantize => &["KHR_mesh_quantization"],
            GlbCompression::Meshopt => &[blocks::EXTENSION],
        };
        self.copier.finish(&mut root, required);
        if let Some(text) = options.graph {
            graph::insert(&mut root, graph::parse(text, path)?);
        }
        let error = self.document.error();
        let content = self.document.finish(&mut root);
        let content = content.map_err(cannot_write(path))?;
        let text = serde_json::to_vec(&root)
            .map_err(|e| malformed(path, "document", e.to_string(), "valid JSON"))?;
        let mut out = AtomicFile::create(path)?;
        container::put_header(&mut out, &text, content.len())?;
        content.copy_to(&mut out).map_err(cannot_write(path))?;
        out.commit()?;
        Ok(GlbWritten {
            warnings: self.warnings,
            error_metres: error,
        })
    }
}

/// A warning if 16 bits are few for the way that a mesh moves.
fn coarse(name: &str, places: &Places) -> Option<Warning> {
    let step = places.scale / 32_767.0;
    (step * COARSE > places.side).then(|| {
        let message = format!(
            "mesh '{name}' is {:.3} m large, but moves {:.3} m from its first frame: its positions are rounded to steps of {:.3} mm; \
             meshopt compression has finer steps",
            places.side,
            places.scale,
            step * 1e3
        );
        warning("coarse_positions", message)
    })
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
