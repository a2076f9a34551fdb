//! Replaces morph targets of a GLB file by others with the same playback.

use super::appended::Appended;
use super::{
    OfRange, animations, check_beyond, open, own_mesh, primitives_of, push, unused, within, write,
};
use crate::gltf::PrimitiveVertices;
use crate::gltf_write::container::editable;
use crate::gltf_write::{graph, vrm};
use crate::{AtomicFile, GltfSource, IoError};
use serde_json::{Value, json};
use sinew_geom::{Mat3, Mesh, MorphTarget, Real, Vec3, Warning};
use std::collections::BTreeSet;
use std::path::Path;

/// Change of the morph targets of one mesh.
#[derive(Clone, Debug)]
pub struct TargetChange<'a> {
    /// Index in [`sinew_geom::Asset::meshes`].
    pub mesh: usize,
    /// The mesh as it was read.
    pub base: &'a Mesh,
    /// Indices of the targets to remove, increasing.
    pub removed: Vec<usize>,
    /// Targets to append: vertices of the mesh, increasing; deltas in metres, scene space at bind.
    pub added: Vec<MorphTarget>,
    /// One row per added target: its share of the weight of each removed target, for all weights in the file.
    pub weights: Vec<Vec<f64>>,
}

impl TargetChange<'_> {
    fn is_kept(&self, target: usize) -> bool {
        self.removed.binary_search(&target).is_err()
    }

    /// New weights of the targets from the old ones.
    fn weights_of(&self, before: &[f64]) -> Vec<f32> {
        let kept = before.iter().enumerate().filter(|w| self.is_kept(w.0));
        let of_row = |row: &Vec<f64>| -> f64 {
            let removed = self.removed.iter().map(|&r| before.get(r).unwrap_or(&0.0));
            row.iter().zip(removed).map(|(c, w)| c * w).sum()
        };
        let added = self.weights.iter().map(of_row);
        kept.map(|w| *w.1).chain(added).map(|w| w as f32).collect()
    }
}

/// Graph documents that belong to a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphTexts<'a> {
    /// JSON text to embed, as with [`embed_graph`](crate::gltf_write::embed_graph).
    pub embedded: Option<&'a str>,
    /// Path and text of a separate graph file.
    pub beside: Option<(&'a Path, &'a str)>,
}

/// Copies a GLB file, or an FBX file as GLB, with some morph targets replaced and with the given graphs. `source` is the result of reading the
/// file.
///
/// All weights of meshes, nodes and clips are multiplied by [`TargetChange::weights`]. This is linear; keys, steps and
/// splines play as before, up to the error of the added targets. The bytes of removed targets are freed. Indices of all
/// remaining entries stay valid; unused entries inside lists become minimal entries. Expressions of VRM follow their targets; the
/// warnings are about those that cannot.
///
/// # Errors
/// On error, no file is written. [`IoError::Read`], [`IoError::Write`]; [`IoError::Malformed`] if the file is not a GLB
/// file, has changed since it was read, or a target has a vertex out of range; [`IoError::Unsupported`] if nodes share
/// the mesh, the first buffer is external, a removed target has attributes other than positions, normals and tangents,
/// an extension refers to targets by index, or a clip stores its weights in a form that cannot be changed (the message
/// contains its name).
pub fn replace_morph_targets(
    glb_in: &Path,
    source: &GltfSource,
    changes: &[TargetChange<'_>],
    graphs: GraphTexts<'_>,
    out: &Path,
) -> Result<Vec<Warning>, IoError> {
    let graph = graphs.embedded.map(|text| graph::parse(text, out));
    let graph = graph.transpose()?;
    // Created first, so that errors occur before any output appears.
    let beside = graphs.beside.map(|(path, text)| begun(path, text));
    let beside = beside.transpose()?;
    let bytes = editable(glb_in)?;
    let opened = open(&bytes, glb_in, source)?;
    let mut file = opened.file;
    check_extensions(&file)?;
    let mut loose = BTreeSet::new();
    let mut clips = Vec::new();
    let mut warnings = Vec::new();
    for change in changes {
        let index = own_mesh(&file, source, change.mesh, "replacing morph targets")?;
        let before = change.base.morph_targets.len();
        let of_row = |row: &[f64]| change.weights_of(row);
        clips.extend(animations::remix(
            &mut file, source, index, before, &of_row,
        )?);
        remove(&mut file, index, change, &mut loose)?;
        reweigh(&mut file, index, change);
        let nodes = file.nodes_of_mesh(index);
        warnings.extend(vrm::renumber(&mut file.root, index, &nodes, change));
    }
    for (place, _) in &clips {
        file.root["animations"][place.animation]["samplers"][place.sampler]["output"] = Value::Null;
        loose.insert(place.output);
    }
    let before: Vec<Value> = clips
        .iter()
        .map(|c| file.root["accessors"][c.0.output].clone())
        .collect();
    let free = unused::free(&mut file, &loose);
    file.reuse(free);
    for ((place, numbers), before) in clips.iter().zip(before) {
        let output = weights(&mut file, numbers, &before);
        file.root["animations"][place.animation]["samplers"][place.sampler]["output"] =
            output.into();
    }
    for change in changes {
        let index = own_mesh(&file, source, change.mesh, "replacing morph targets")?;
        let x = source.bind_from_file.get(change.mesh).copied();
        let places = primitives_of(&file, source, change.mesh, index)?;
        let turn = Turn::new(&x.unwrap_or_default());
        add(&mut file, index, &places, change, &turn)?;
    }
    if let Some(graph) = graph {
        graph::insert(&mut file.root, graph);
    }
    write(file, &opened.binary, opened.behind, out)?;
    beside.map_or(Ok(()), AtomicFile::commit)?;
    Ok(warnings)
}

/// Extensions that refer to morph targets, or their weights, by indices that change here.
const NUMBERING: [&str; 1] = ["KHR_animation_pointer"];

fn check_extensions(file: &Appended<'_>) -> Result<(), IoError> {
    let used = file.root["extensionsUsed"].as_array().into_iter().flatten();
    let mut used = used.filter_map(Value::as_str);
    match used.find(|name| NUMBERING.contains(name)) {
        None => Ok(()),
        Some(name) => Err(file.unsupported(
            "extensionsUsed".into(),
            format!("replacing morph targets in a file with {name}, which refers to them by index"),
            "export the character without this extension",
        )),
    }
}

/// A text file that is written except for its final name.
fn begun(path: &Path, text: &str) -> Result<AtomicFile, IoError> {
    let mut file = AtomicFile::create(path)?;
    file.put(text.as_bytes())?;
    Ok(file)
}

/// Removes targets from all primitives. Their accessors become unused.
fn remove(
    file: &mut Appended<'_>,
    index: usize,
    change: &TargetChange<'_>,
    loose: &mut BTreeSet<usize>,
) -> Result<(), IoError> {
    const KNOWN: [&str; 3] = ["POSITION", "NORMAL", "TANGENT"];
    let count = file.root["meshes"][index]["primitives"].as_array();
    for p in 0..count.map_or(0, Vec::len) {
        let targets = &mut file.root["meshes"][index]["primitives"][p]["targets"];
        let all = targets.as_array_mut().map(std::mem::take);
        let mut kept = Vec::new();
        for (k, target) in all.unwrap_or_default().into_iter().enumerate() {
            if change.is_kept(k) {
                kept.push(target);
                continue;
            }
            for (attribute, accessor) in target.as_object().into_iter().flatten() {
                if !KNOWN.contains(&attribute.as_str()) {
                    return Err(file.unsupported(
                        format!("meshes[{index}].primitives[{p}].targets[{k}]"),
                        format!("replacing a morph target with {attribute}"),
                        "export it with only positions, normals and tangents",
                    ));
                }
                loose.extend(accessor.as_u64().and_then(|a| usize::try_from(a).ok()));
            }
        }
        file.root["meshes"][index]["primitives"][p]["targets"] = kept.into();
    }
    Ok(())
}

/// Sets names, and the rest weights of mesh and nodes.
fn reweigh(file: &mut Appended<'_>, index: usize, change: &TargetChange<'_>) {
    let old = change.base.morph_targets.iter().enumerate();
    let kept = old.filter(|t| change.is_kept(t.0)).map(|t| t.1);
    let names = kept.chain(&change.added).map(|t| t.name.as_str());
    let names: Vec<&str> = names.collect();
    let mesh = &mut file.root["meshes"][index];
    super::set_names(mesh, json!(names));
    let change_in = |place: &mut Value| {
        let Some(list) = place.get("weights").and_then(Value::as_array) else {
            return;
        };
        let before: Vec<f64> = list.iter().filter_map(Value::as_f64).collect();
        place["weights"] = json!(change.weights_of(&before));
    };
    change_in(mesh);
    for node in file.nodes_of_mesh(index) {
        change_in(&mut file.root["nodes"][node]);
    }
}

/// An accessor of numbers that replaces another.
fn weights(file: &mut Appended<'_>, numbers: &[f32], before: &Value) -> usize {
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let mut accessor = json!({ "componentType": 5126, "count": numbers.len(), "type": "SCALAR" });
    if before["name"].is_string() {
        accessor["name"] = before["name"].clone();
    }
    accessor["bufferView"] = file.view(&bytes).into();
    file.add("accessors", accessor)
}

/// Transform from scene space at bind to file space, for deltas of positions, normals and tangents.
pub(in super::super) struct Turn {
    positions: Mat3<f64>,
    normals: Mat3<f64>,
}

impl Turn {
    pub(in super::super) fn new(bind_from_file: &sinew_geom::Affine<f64>) -> Self {
        let inverse = |m: &Mat3<f64>| f64::inverse_of(m).unwrap_or_else(Mat3::identity);
        Self {
            positions: inverse(&bind_from_file.linear),
            normals: inverse(&bind_from_file.normal_matrix()),
        }
    }
}

/// A delta of a direction. The reader divides it by the length of the transformed file direction, which has unit length
/// in the file. From the scene direction, this length is one over the length after the inverse transform.
fn direction(inverse: &Mat3<f64>, base: Option<Vec3<f64>>, delta: [f32; 3]) -> [f32; 3] {
    let length = base.map_or(1.0, |b| (inverse * b).norm());
    let length = if length > 0.0 { length } else { 1.0 };
    f64::array3(inverse * f64::vec3(delta) / length)
}

/// Adds the accessors of each target to each primitive.
pub(in super::super) fn add(
    file: &mut Appended<'_>,
    index: usize,
    places: &[PrimitiveVertices],
    change: &TargetChange<'_>,
    turn: &Turn,
) -> Result<(), IoError> {
    check_beyond(file, places, change.added.iter())?;
    for target in &change.added {
        let attributes = attributes(target, change.base, turn);
        let mut written = OfRange::default();
        for (p, place) in places.iter().enumerate() {
            let entry = written.of(place, || {
                let mut entry = json!({});
                // A target has the attributes of its primitive: without normals, the primitive is flat.
                let own = &file.root["meshes"][index]["primitives"][p]["attributes"];
                let own = attributes.iter().filter(|a| own.get(a.0).is_some());
                let own: Vec<_> = own.collect();
                for (name, deltas) in own {
                    let (rows, deltas) = moving(&target.vertices, deltas, place);
                    entry[*name] = file.deltas(place.stored, &rows, &deltas).into();
                }
                entry
            });
            let targets = &mut file.root["meshes"][index]["primitives"][p]["targets"];
            push(targets, entry);
        }
    }
    Ok(())
}

type Deltas = Vec<[f32; 3]>;

/// Attributes of a target in file space.
fn attributes(target: &MorphTarget, base: &Mesh, turn: &Turn) -> Vec<(&'static str, Deltas)> {
    let linear = |d: &[f32; 3]| f64::array3(turn.positions * f64::vec3(*d));
    let mut out = vec![("POSITION", target.positions.iter().map(linear).collect())];
    let rows = |deltas: &Deltas, inverse: &Mat3<f64>, base: &dyn Fn(usize) -> Option<[f32; 3]>| {
        let rows = deltas.iter().zip(&target.vertices);
        rows.map(|(&d, &v)| direction(inverse, base(v as usize).map(f64::vec3), d))
            .collect::<Deltas>()
    };
    if !target.normals.is_empty() {
        let base = |v: usize| base.normals.as_ref().and_then(|n| n.get(v)).copied();
        out.push(("NORMAL", rows(&target.normals, &turn.normals, &base)));
    }
    if !target.tangents.is_empty() {
        let xyz = |t: &[f32; 4]| [t[0], t[1], t[2]];
        let base = |v: usize| base.tangents.as_ref().and_then(|t| t.get(v)).map(xyz);
        out.push(("TANGENT", rows(&target.tangents, &turn.positions, &base)));
    }
    out
}

/// Vertices of a primitive with a delta, as rows of its accessors.
fn moving(vertices: &[u32], deltas: &[[f32; 3]], place: &PrimitiveVertices) -> (Vec<u32>, Deltas) {
    let inside = within(vertices, &place.vertices);
    let all = vertices[inside.clone()].iter().zip(&deltas[inside]);
    all.filter(|(_, d)| **d != [0.0; 3])
        .filter_map(|(&v, d)| Some((u32::try_from(place.row_of(v as usize)?).ok()?, *d)))
        .unzip()
}
