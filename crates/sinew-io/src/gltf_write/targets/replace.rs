//! Morph targets of a GLB file replaced by others that play the same.

use super::appended::Appended;
use super::{
    OfRange, animations, check_beyond, open, own_mesh, primitives_of, push, unused, within, write,
};
use crate::fault::cannot_read;
use crate::gltf::read::PrimitiveVertices;
use crate::gltf_write::graph;
use crate::{AtomicFile, GltfSource, IoError};
use serde_json::{Value, json};
use sinew_geom::{Mat3, Mesh, MorphTarget, Real, Vec3};
use std::collections::BTreeSet;
use std::path::Path;

/// What becomes of the morph targets of one mesh.
#[derive(Clone, Debug)]
pub struct TargetChange<'a> {
    /// Index into [`sinew_geom::Asset::meshes`].
    pub mesh: usize,
    /// That mesh as it was read.
    pub base: &'a Mesh,
    /// Indices of the targets that go, rising.
    pub removed: Vec<usize>,
    /// Targets behind those that stay: vertices of that mesh, ascending; deltas in metres, scene space at bind.
    pub added: Vec<MorphTarget>,
    /// A row for each added target: how much it gets of the weight of each removed one, wherever the file has weights.
    pub weights: Vec<Vec<f64>>,
}

impl TargetChange<'_> {
    fn is_kept(&self, target: usize) -> bool {
        self.removed.binary_search(&target).is_err()
    }

    /// Weights of the targets afterwards from those before.
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

/// Graph documents that go with a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct GraphTexts<'a> {
    /// JSON text that goes into the file, as [`embed_graph`](crate::gltf_write::embed_graph) puts it.
    pub embedded: Option<&'a str>,
    /// A file of its own, and its text.
    pub beside: Option<(&'a Path, &'a str)>,
}

/// Copies a GLB file with some morph targets replaced, and with the graphs that are given. Weights of meshes, nodes and clips go
/// through [`TargetChange::weights`]: linear, so that keys, steps and splines all play what they played, up to what the added targets
/// cannot show. The bytes of the removed targets go. Indices of all that stays are kept; unused entries in the middle
/// of the lists stay as small ones. `source` is what reading the file gave.
///
/// # Errors
/// No file appears then. [`IoError::Read`], [`IoError::Write`]; [`IoError::Malformed`] where the file is no GLB file, has changed since it was read,
/// or a target names a vertex that is not there; [`IoError::Unsupported`] where nodes share the mesh, the file has its first
/// buffer elsewhere, a removed target has more than positions, normals and tangents, an extension names targets by their number, or a clip packs its
/// weights in ways that cannot be changed (the message names it).
pub fn replace_morph_targets(
    glb_in: &Path,
    source: &GltfSource,
    changes: &[TargetChange<'_>],
    graphs: GraphTexts<'_>,
    out: &Path,
) -> Result<(), IoError> {
    let graph = graphs.embedded.map(|text| graph::parse(text, out));
    let graph = graph.transpose()?;
    // Begun first: what cannot be created is found out before anything appears.
    let beside = graphs.beside.map(|(path, text)| begun(path, text));
    let beside = beside.transpose()?;
    let bytes = std::fs::read(glb_in).map_err(cannot_read(glb_in))?;
    let opened = open(&bytes, glb_in, source)?;
    let mut file = opened.file;
    check_extensions(&file)?;
    let mut loose = BTreeSet::new();
    let mut clips = Vec::new();
    for change in changes {
        let index = own_mesh(&file, source, change.mesh, "replacing morph targets")?;
        let before = change.base.morph_targets.len();
        let of_row = |row: &[f64]| change.weights_of(row);
        clips.extend(animations::remix(
            &mut file, source, index, before, &of_row,
        )?);
        remove(&mut file, index, change, &mut loose)?;
        reweigh(&mut file, index, change);
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
    beside.map_or(Ok(()), AtomicFile::commit)
}

/// Extensions that name morph targets, or their weights, by numbers which change here.
const NUMBERING: [&str; 3] = ["VRM", "VRMC_vrm", "KHR_animation_pointer"];

fn check_extensions(file: &Appended<'_>) -> Result<(), IoError> {
    let used = file.root["extensionsUsed"].as_array().into_iter().flatten();
    let mut used = used.filter_map(Value::as_str);
    match used.find(|name| NUMBERING.contains(name)) {
        None => Ok(()),
        Some(name) => Err(file.unsupported(
            "extensionsUsed".into(),
            format!("replacing morph targets beside {name}, which names them by number"),
            "export the character without it",
        )),
    }
}

/// A text file that is written but for its name.
fn begun(path: &Path, text: &str) -> Result<AtomicFile, IoError> {
    let mut file = AtomicFile::create(path)?;
    file.put(text.as_bytes())?;
    Ok(file)
}

/// Takes targets out of all primitives; their accessors become loose.
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
                        "export it with positions, normals and tangents only",
                    ));
                }
                loose.extend(accessor.as_u64().and_then(|a| usize::try_from(a).ok()));
            }
        }
        file.root["meshes"][index]["primitives"][p]["targets"] = kept.into();
    }
    Ok(())
}

/// Names, and the weights that mesh and nodes have at rest.
fn reweigh(file: &mut Appended<'_>, index: usize, change: &TargetChange<'_>) {
    let old = change.base.morph_targets.iter().enumerate();
    let kept = old.filter(|t| change.is_kept(t.0)).map(|t| t.1);
    let names = kept.chain(&change.added).map(|t| t.name.as_str());
    let names: Vec<&str> = names.collect();
    let mesh = &mut file.root["meshes"][index];
    if !mesh["extras"].is_object() {
        mesh["extras"] = json!({});
    }
    mesh["extras"]["targetNames"] = json!(names);
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

/// An accessor of numbers in place of another.
fn weights(file: &mut Appended<'_>, numbers: &[f32], before: &Value) -> usize {
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let mut accessor = json!({ "componentType": 5126, "count": numbers.len(), "type": "SCALAR" });
    if before["name"].is_string() {
        accessor["name"] = before["name"].clone();
    }
    accessor["bufferView"] = file.view(&bytes).into();
    file.add("accessors", accessor)
}

/// From scene space at bind to the space of the file, for what adds to positions, normals and tangents.
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

/// A delta of a direction. Reading divides it by the length that the direction, of unit length in the file, has after its matrix; from the
/// direction in scene space that length follows as one over the length that the inverse makes of it.
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
                // A target has what its primitive has: one without normals is flat.
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

/// What a target has, in the space of the file.
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

/// The vertices of a primitive that have a delta, as rows of its accessors.
fn moving(vertices: &[u32], deltas: &[[f32; 3]], place: &PrimitiveVertices) -> (Vec<u32>, Deltas) {
    let inside = within(vertices, &place.vertices);
    let all = vertices[inside.clone()].iter().zip(&deltas[inside]);
    all.filter(|(_, d)| **d != [0.0; 3])
        .filter_map(|(&v, d)| Some((u32::try_from(place.row_of(v as usize)?).ok()?, *d)))
        .unzip()
}
