//! Adds morph targets to a GLB file. New bytes follow those of the binary chunk, new entries follow the existing ones.
//! Everything else stays.

pub(super) mod animations;
mod appended;
pub(super) mod replace;
pub(super) mod unused;

pub use appended::delta_bytes;
pub use replace::{GraphTexts, TargetChange, replace_morph_targets};

use super::container::{Glb, editable, put_grown, read_glb_chunks};
use crate::fault::malformed;
use crate::gltf::read::{PrimitiveVertices, plain_channels, target_names};
use crate::{AtomicFile, GltfSource, IoError};
pub(crate) use appended::Appended;
use serde_json::{Value, json};
use sinew_geom::{Mat3, MorphTarget, Real};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// A morph target for a mesh of a file.
#[derive(Clone, Debug)]
pub struct NewTarget {
    /// Index in [`sinew_geom::Asset::meshes`].
    pub mesh: usize,
    /// Vertices of that mesh, increasing; deltas in metres, scene space at bind. Normals and tangents are not written.
    pub target: MorphTarget,
}

/// Copies a GLB file, or an FBX file as GLB, and adds morph targets with weight 0, sparse if that is smaller. Clips that animate weights of
/// their meshes get zeros for the new targets. `source` is the result of reading the file.
///
/// # Errors
/// [`IoError::Read`], [`IoError::Write`]; [`IoError::Malformed`] if the file is not a GLB file, has changed since it
/// was read, or a target has a vertex out of range; [`IoError::Unsupported`] if nodes share the mesh, the first buffer
/// is external, or animated weights are stored in a form that cannot be extended.
pub fn add_morph_targets(
    glb_in: &Path,
    source: &GltfSource,
    targets: &[NewTarget],
    out: &Path,
) -> Result<(), IoError> {
    let bytes = editable(glb_in)?;
    let opened = open(&bytes, glb_in, source)?;
    let mut file = opened.file;
    for mesh in 0..source.node_of_mesh.len() {
        let of_mesh = targets.iter().filter(|t| t.mesh == mesh).map(|t| &t.target);
        let of_mesh: Vec<&MorphTarget> = of_mesh.collect();
        if !of_mesh.is_empty() {
            add_to_mesh(&mut file, source, mesh, &of_mesh)?;
        }
    }
    write(file, &opened.binary, opened.behind, out)
}

/// A GLB file and its changes.
pub(super) struct Opened<'a> {
    pub(super) file: Appended<'a>,
    /// Padded to a multiple of four bytes.
    pub(super) binary: Cow<'a, [u8]>,
    pub(super) behind: &'a [u8],
}

/// Splits a file that has not changed since it was read.
pub(super) fn open<'a>(
    bytes: &'a [u8],
    path: &'a Path,
    source: &GltfSource,
) -> Result<Opened<'a>, IoError> {
    let glb = read_glb_chunks(bytes, path)?;
    let mut root: Value = serde_json::from_slice(glb.json)
        .map_err(|e| malformed(path, "JSON chunk", e.to_string(), "valid JSON"))?;
    let Some((binary, behind)) = glb.split_binary() else {
        return Err(malformed(
            path,
            "BIN chunk",
            "a chunk longer than the file",
            "a chunk inside the file",
        ));
    };
    if root != source.json {
        return Err(malformed(
            path,
            "JSON chunk",
            "a document that has changed since it was read",
            "the same document",
        ));
    }
    plain_channels(&mut root);
    let binary = in_words(binary);
    Ok(Opened {
        file: Appended::new(root, path, binary.len(), has_binary(&glb))?,
        binary,
        behind,
    })
}

pub(super) fn write(
    file: Appended<'_>,
    binary: &[u8],
    behind: &[u8],
    out: &Path,
) -> Result<(), IoError> {
    let (root, gone, more) = file.finish();
    let text = serde_json::to_vec(&root)
        .map_err(|e| malformed(out, "document", e.to_string(), "valid JSON"))?;
    let binary = &*without(binary, &gone);
    let mut written = AtomicFile::create(out)?;
    put_grown(&mut written, &text, [binary, &more, behind])?;
    written.commit()
}

/// The bytes without some ranges, which are increasing.
pub(super) fn without<'b>(binary: &'b [u8], gone: &[std::ops::Range<usize>]) -> Cow<'b, [u8]> {
    if gone.is_empty() {
        return Cow::Borrowed(binary);
    }
    let mut kept = Vec::new();
    let mut from = 0;
    for range in gone {
        kept.extend_from_slice(&binary[from..range.start]);
        from = range.end;
    }
    kept.extend_from_slice(&binary[from..]);
    Cow::Owned(kept)
}

/// Binary chunks may have any length. New bytes start at a multiple of four.
fn in_words(binary: &[u8]) -> Cow<'_, [u8]> {
    let missing = binary.len().next_multiple_of(4) - binary.len();
    if missing == 0 {
        return Cow::Borrowed(binary);
    }
    let mut out = binary.to_vec();
    out.resize(binary.len() + missing, 0);
    Cow::Owned(out)
}

fn has_binary(glb: &Glb<'_>) -> bool {
    glb.split_binary()
        .is_some_and(|(_, behind)| behind.len() < glb.rest.len())
}

fn add_to_mesh(
    file: &mut Appended<'_>,
    source: &GltfSource,
    mesh: usize,
    targets: &[&MorphTarget],
) -> Result<(), IoError> {
    let index = own_mesh(file, source, mesh, "a new morph target")?;
    let bind_from_file = source.bind_from_file.get(mesh).copied().unwrap_or_default();
    let linear = f64::inverse_of(&bind_from_file.linear).unwrap_or_else(Mat3::identity);
    let places = primitives_of(file, source, mesh, index)?;
    add_to_primitives(file, index, &places, &linear, targets)?;
    let before = name_and_weigh(file, index, targets);
    animations::widen(file, source, index, before, targets.len())
}

/// The document mesh of an asset mesh, which only one node may use. `what` is the purpose, for the message.
fn own_mesh(
    file: &Appended<'_>,
    source: &GltfSource,
    mesh: usize,
    what: &str,
) -> Result<usize, IoError> {
    let mesh_of = |node: usize| source.json["nodes"][node]["mesh"].as_u64();
    let json_mesh = mesh_of(source.node_of_mesh[mesh]);
    let Some(index) = json_mesh.and_then(|m| usize::try_from(m).ok()) else {
        return Err(file.malformed("nodes", "a node without a mesh", "the mesh that was read"));
    };
    let sharing = source
        .node_of_mesh
        .iter()
        .filter(|&&n| mesh_of(n) == json_mesh)
        .count();
    if sharing > 1 {
        return Err(file.unsupported(
            format!("meshes[{index}]"),
            format!("{what} of a mesh that {sharing} nodes share"),
            "give each node its own mesh",
        ));
    }
    Ok(index)
}

/// Adds the accessors of each target to each primitive. All primitives must have the same number of targets.
fn add_to_primitives(
    file: &mut Appended<'_>,
    index: usize,
    places: &[PrimitiveVertices],
    linear: &Mat3<f64>,
    targets: &[&MorphTarget],
) -> Result<(), IoError> {
    let mut written = OfRange::default();
    for (p, place) in places.iter().enumerate() {
        let accessors = written.of(place, || {
            let accessor = |target: &&MorphTarget| {
                let (rows, deltas) = part_of(target, place, linear);
                file.deltas(place.stored, &rows, &deltas)
            };
            targets.iter().map(accessor).collect::<Vec<usize>>()
        });
        for accessor in accessors {
            let primitive = &mut file.root["meshes"][index]["primitives"][p];
            push(&mut primitive["targets"], json!({ "POSITION": accessor }));
        }
    }
    check_beyond(file, places, targets.iter().copied())
}

/// Checks for vertices out of range.
fn check_beyond<'t>(
    file: &Appended<'_>,
    places: &[PrimitiveVertices],
    mut targets: impl Iterator<Item = &'t MorphTarget>,
) -> Result<(), IoError> {
    let first = places.iter().map(|p| p.vertices.end).max().unwrap_or(0);
    let beyond = |t: &&MorphTarget| t.vertices.last().is_some_and(|&v| v as usize >= first);
    match targets.find(beyond) {
        Some(t) => Err(file.malformed(
            &format!("morph target '{}'", t.name),
            "a vertex out of range",
            &format!("vertices below {first}"),
        )),
        None => Ok(()),
    }
}

/// Data written for a vertex range, reused by primitives with the same range.
pub(super) struct OfRange<T>(BTreeMap<(usize, usize), T>);

impl<T> Default for OfRange<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Clone> OfRange<T> {
    /// The data for these vertices, written at the first call. Primitives without surface vertices share with no other.
    pub(super) fn of(&mut self, place: &PrimitiveVertices, write: impl FnOnce() -> T) -> T {
        let range = &place.vertices;
        if range.is_empty() {
            return write();
        }
        let entry = self.0.entry((range.start, range.end));
        entry.or_insert_with(write).clone()
    }
}

/// The vertices of the primitives of a mesh. `stored` is set for points and lines, too.
pub(super) fn primitives_of(
    file: &Appended<'_>,
    source: &GltfSource,
    mesh: usize,
    index: usize,
) -> Result<Vec<PrimitiveVertices>, IoError> {
    let mut out = source
        .primitives_of_mesh
        .get(mesh)
        .cloned()
        .unwrap_or_default();
    let primitives = file.root["meshes"][index]["primitives"].as_array();
    out.resize(primitives.map_or(0, Vec::len), PrimitiveVertices::default());
    for (p, (place, primitive)) in out
        .iter_mut()
        .zip(primitives.into_iter().flatten())
        .enumerate()
    {
        let accessor = primitive["attributes"]["POSITION"].as_u64();
        let accessor = accessor.and_then(|a| usize::try_from(a).ok());
        let vertices = accessor.and_then(|a| file.root["accessors"][a]["count"].as_u64());
        let vertices = vertices.and_then(|v| usize::try_from(v).ok());
        let Some(vertices) = vertices else {
            let place = format!("meshes[{index}].primitives[{p}]");
            return Err(file.malformed(&place, "no POSITION", "vertex positions"));
        };
        place.stored = vertices;
    }
    Ok(out)
}

/// Which of the increasing vertices are in `range`.
pub(super) fn within(vertices: &[u32], range: &std::ops::Range<usize>) -> std::ops::Range<usize> {
    let before = |end: usize| vertices.partition_point(|v| (*v as usize) < end);
    before(range.start)..before(range.end).max(before(range.start))
}

/// The vertices of a primitive, as rows of its accessors, and their deltas in file space.
fn part_of(
    target: &MorphTarget,
    place: &PrimitiveVertices,
    linear: &Mat3<f64>,
) -> (Vec<u32>, Vec<[f32; 3]>) {
    let inside = within(&target.vertices, &place.vertices);
    let all = target.vertices[inside.clone()]
        .iter()
        .zip(&target.positions[inside]);
    all.filter_map(|(&v, d)| {
        let row = u32::try_from(place.row_of(v as usize)?).ok()?;
        Some((row, f64::array3(linear * f64::vec3(*d))))
    })
    .unzip()
}

/// Adds names and weights of the new targets. Gives the number of targets before.
pub(super) fn name_and_weigh(
    file: &mut Appended<'_>,
    index: usize,
    targets: &[&MorphTarget],
) -> usize {
    let mesh = &mut file.root["meshes"][index];
    let now = mesh["primitives"][0]["targets"]
        .as_array()
        .map_or(0, Vec::len);
    let before = now.saturating_sub(targets.len());
    let mut names = target_names(mesh).clone();
    for k in names.as_array().map_or(0, Vec::len)..before {
        push(&mut names, format!("target_{k}").into());
    }
    for target in targets {
        push(&mut names, target.name.as_str().into());
    }
    set_names(mesh, names);
    fill(&mut mesh["weights"], now);
    for node in file.nodes_of_mesh(index) {
        let weights = &mut file.root["nodes"][node]["weights"];
        if weights.is_array() {
            fill(weights, now);
        } else if let Some(node) = file.root["nodes"][node].as_object_mut() {
            // The lookup above created it.
            node.remove("weights");
        }
    }
    before
}

/// Sets the target names of a mesh, and of its primitives that have some (VRM 0.x).
fn set_names(mesh: &mut Value, names: Value) {
    for primitive in mesh["primitives"].as_array_mut().into_iter().flatten() {
        let own = primitive
            .get_mut("extras")
            .and_then(|e| e.get_mut("targetNames"));
        if let Some(own) = own {
            *own = names.clone();
        }
    }
    if !mesh["extras"].is_object() {
        mesh["extras"] = json!({});
    }
    mesh["extras"]["targetNames"] = names;
}

/// Appends to a list. Creates it if it is missing.
pub(crate) fn push(list: &mut Value, item: Value) {
    match list.as_array_mut() {
        Some(list) => list.push(item),
        None => *list = json!([item]),
    }
}

/// Appends zeros up to `count` numbers.
fn fill(list: &mut Value, count: usize) {
    for _ in list.as_array().map_or(0, Vec::len)..count {
        push(list, json!(0.0));
    }
}

#[cfg(test)]
mod tests;
