//! Edits skins of a GLB file in place: weights, new joints and their keys, morph targets. Everything else stays.

use super::GRAPH_EXTENSION;
use super::container::glb_bytes;
use super::packed::forget;
use super::strands::{columns, floats};
use super::targets::replace::{TargetChange, Turn, add};
use super::targets::{self, Appended, OfRange, animations, primitives_of, push, unused};
use super::vrm;
use crate::fault::malformed;
use crate::gltf::PrimitiveVertices;
use crate::{GltfSource, IoError};
use serde_json::{Value, json};
use sinew_geom::{Affine, Asset, ChannelTarget, Influences, Mesh, MorphTarget, Trs};
use std::collections::{BTreeMap, BTreeSet};

const U8: u32 = 5121;
const U16: u32 = 5123;
/// Influences per attribute set.
const PER_SET: usize = 4;
/// Values of `target` in views of vertex attributes.
const VERTICES: u32 = 34962;

/// A mesh with new weights.
#[derive(Clone, Debug)]
pub struct MeshSkin {
    /// Index in [`sinew_geom::Asset::meshes`].
    pub mesh: usize,
    /// Weights of its vertices on joints of its skin, as indices in [`sinew_geom::Rig::joints`]. Indices of helpers
    /// follow those of all joints.
    pub influences: Influences,
    /// Morph targets to append: deltas in metres, scene space at bind.
    pub targets: Vec<MorphTarget>,
    /// Colours that replace the first colour set and all materials, to visualise data.
    pub colors: Option<Vec<[f32; 4]>>,
}

/// A joint to add.
#[derive(Clone, Debug, PartialEq)]
pub struct HelperJoint {
    /// Its name. A number is appended if the name is taken.
    pub name: String,
    /// Its parent node, an index in [`sinew_geom::Rig::nodes`].
    pub parent: usize,
    /// Its rest transform relative to the parent.
    pub rest: Trs,
    /// Joint space from scene space at bind.
    pub joint_from_bind: Affine<f64>,
}

/// Keys to add to a clip. Interpolation between them is linear.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipKeys {
    /// Index in [`sinew_geom::Asset::clips`].
    pub clip: usize,
    /// Key times in seconds, increasing.
    pub times_secs: Vec<f32>,
    /// For each helper, one transform per key time.
    pub helpers: Vec<Vec<Trs>>,
    /// For each of [`SkinEdit::meshes`], one row per key time: weights of its added targets. Empty if it has none.
    pub weights: Vec<Vec<Vec<f32>>>,
}

/// All changes to a file.
#[derive(Clone, Debug, Default)]
pub struct SkinEdit {
    /// Meshes with new weights, each at most once.
    pub meshes: Vec<MeshSkin>,
    /// Joints to add.
    pub helpers: Vec<HelperJoint>,
    /// Keys to add.
    pub clips: Vec<ClipKeys>,
}

/// Gives the bytes of a GLB file with edited skins. The first buffer of `glb` must be its binary chunk, as in a file of
/// [`packed_glb`](super::packed_glb). `asset` and `source` are the result of reading it.
///
/// A graph in the file is removed, since it would deform the result again. A mesh that several nodes share is
/// duplicated per node. Morph weights that a clip animates and that get new keys are linear between all keys.
///
/// # Errors
/// [`IoError::Malformed`] if counts do not match or the file has changed; [`IoError::Unsupported`] if a clip stores
/// animated weights in a form that cannot be extended, and for 4 GiB or more.
pub fn edit_skins(
    glb: &[u8],
    asset: &Asset,
    source: &GltfSource,
    edit: &SkinEdit,
) -> Result<Vec<u8>, IoError> {
    let path = source.path.as_path();
    let opened = targets::open(glb, path, source)?;
    let mut work = Work {
        doc: opened.file,
        asset,
        source,
        edit,
        node_of_rig: source.rig_node_of_node.iter().copied().zip(0..).collect(),
        meshes: Vec::new(),
        skins: BTreeMap::new(),
    };
    work.check()?;
    work.own_meshes()?;
    work.take_away()?;
    work.add_helpers()?;
    work.add_skins()?;
    for place in 0..edit.meshes.len() {
        work.add_weights(place)?;
        work.add_targets(place)?;
    }
    for keys in &edit.clips {
        work.add_keys(keys);
    }
    forget_graph(&mut work.doc.root);
    let (root, gone, more) = work.doc.finish();
    let text = serde_json::to_vec(&root)
        .map_err(|e| malformed(path, "document", e.to_string(), "valid JSON"))?;
    let mut binary = targets::without(&opened.binary, &gone).into_owned();
    binary.extend_from_slice(&more);
    glb_bytes(path, &text, &binary)
}

fn forget_graph(root: &mut Value) {
    if let Some(extensions) = root.get_mut("extensions").and_then(Value::as_object_mut) {
        extensions.shift_remove(GRAPH_EXTENSION);
        if extensions.is_empty()
            && let Some(root) = root.as_object_mut()
        {
            root.shift_remove("extensions");
        }
    }
    for key in ["extensionsUsed", "extensionsRequired"] {
        forget(root, key, &[GRAPH_EXTENSION]);
    }
}

struct Work<'a> {
    doc: Appended<'a>,
    asset: &'a Asset,
    source: &'a GltfSource,
    edit: &'a SkinEdit,
    /// Document node of each rig node.
    node_of_rig: BTreeMap<usize, usize>,
    /// One entry per mesh with new weights.
    meshes: Vec<Place>,
    /// Nodes of helpers by document skin, in the order of the joints that follow the existing ones.
    skins: BTreeMap<usize, Vec<usize>>,
}

/// A mesh in the document.
struct Place {
    node: usize,
    mesh: usize,
    /// Its skin; `None` until it gets one.
    skin: Option<usize>,
    primitives: Vec<PrimitiveVertices>,
    /// For each joint (and helper) in its rows: its index in the skin.
    entries: BTreeMap<u32, usize>,
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|n| usize::try_from(n).ok())
}

impl<'a> Work<'a> {
    fn wrong(&self, place: &str, found: impl Into<String>, expected: &str) -> IoError {
        malformed(&self.source.path, place, found, expected)
    }

    fn source_mesh(&self, place: usize) -> &'a Mesh {
        &self.asset.meshes[self.edit.meshes[place].mesh]
    }

    /// Checks counts that later steps rely on.
    fn check(&self) -> Result<(), IoError> {
        for (place, change) in self.edit.meshes.iter().enumerate() {
            let rows = change.influences.vertex_count();
            if change.colors.as_ref().is_some_and(|c| c.len() != rows) {
                let found = format!("a number of colours that is not {rows}");
                return Err(self.wrong("colors", found, "one per vertex"));
            }
            let before = self.edit.meshes.iter().take(place);
            if before.clone().any(|m| m.mesh == change.mesh) {
                let found = format!("mesh {} twice", change.mesh);
                return Err(self.wrong("meshes", found, "each mesh at most once"));
            }
        }
        self.edit.clips.iter().try_for_each(|k| self.check_keys(k))
    }

    fn check_keys(&self, keys: &ClipKeys) -> Result<(), IoError> {
        let clips = self.asset.clips.len();
        if keys.clip >= clips {
            let found = format!("clip {}", keys.clip);
            return Err(self.wrong("animations", found, "a clip of the file"));
        }
        let times = keys.times_secs.len();
        let rising = keys.times_secs.windows(2).all(|t| t[0] < t[1]);
        if times == 0 || !rising {
            let found = format!("{times} key times that do not increase");
            return Err(self.wrong("keys", found, "increasing times"));
        }
        let helpers = keys.helpers.len() == self.edit.helpers.len()
            && keys.helpers.iter().all(|h| h.len() == times);
        let counts = keys.weights.iter().zip(&self.edit.meshes);
        let mut rows = counts.flat_map(|(rows, m)| rows.iter().map(|r| (r, m.targets.len())));
        let weights = keys.weights.len() == self.edit.meshes.len()
            && keys.weights.iter().all(|r| r.len() == times)
            && rows.all(|(row, targets)| row.len() == targets);
        match helpers && weights {
            true => Ok(()),
            false => {
                let found = format!("a number of keys of clip {} that is not {times}", keys.clip);
                Err(self.wrong("keys", found, "one key per time for each helper and mesh"))
            }
        }
    }

    /// Finds the meshes. Duplicates those that other nodes also use.
    fn own_meshes(&mut self) -> Result<(), IoError> {
        for change in &self.edit.meshes {
            let node = self.source.node_of_mesh.get(change.mesh).copied();
            let found = node.and_then(|n| Some((n, index(&self.doc.root["nodes"][n]["mesh"])?)));
            let Some((node, mut mesh)) = found else {
                let found = format!("mesh {}", change.mesh);
                return Err(self.wrong("nodes", found, "a mesh of the file"));
            };
            if self.doc.nodes_of_mesh(mesh).len() > 1 {
                let copy = self.doc.root["meshes"][mesh].clone();
                let shared = std::mem::replace(&mut mesh, self.doc.add("meshes", copy));
                vrm::follow_copy(&mut self.doc.root, shared, mesh);
                self.doc.root["nodes"][node]["mesh"] = mesh.into();
            }
            let primitives = primitives_of(&self.doc, self.source, change.mesh, mesh)?;
            let count = primitives.iter().map(|p| p.vertices.end).max().unwrap_or(0);
            let rows = change.influences.vertex_count();
            let read = self.asset.meshes[change.mesh].positions.len();
            if count != rows || count != read {
                let found = format!("{rows} weight rows for {count} vertices");
                return Err(self.wrong(&format!("meshes[{mesh}]"), found, "one per vertex"));
            }
            let first = primitives.iter().position(|p| !p.vertices.is_empty());
            let is_bound = first.is_some_and(|p| {
                let primitive = &self.doc.root["meshes"][mesh]["primitives"][p];
                primitive["attributes"]["JOINTS_0"].is_u64()
            });
            let skin = index(&self.doc.root["nodes"][node]["skin"]).filter(|_| is_bound);
            self.meshes.push(Place {
                node,
                mesh,
                skin,
                primitives,
                entries: BTreeMap::new(),
            });
        }
        Ok(())
    }

    /// Removes old joints and weights, and their bytes if nothing else uses them.
    fn take_away(&mut self) -> Result<(), IoError> {
        let mut loose = BTreeSet::new();
        for (place, change) in self.meshes.iter().zip(&self.edit.meshes) {
            let primitives = &mut self.doc.root["meshes"][place.mesh]["primitives"];
            for (p, of) in place.primitives.iter().enumerate() {
                if of.vertices.is_empty() {
                    continue;
                }
                let primitive = &mut primitives[p];
                if change.colors.is_some()
                    && let Some(primitive) = primitive.as_object_mut()
                {
                    primitive.shift_remove("material");
                }
                let Some(attributes) = primitive["attributes"].as_object_mut() else {
                    continue;
                };
                attributes.retain(|name, accessor| {
                    let goes = name.starts_with("JOINTS_")
                        || name.starts_with("WEIGHTS_")
                        || name == "COLOR_0" && change.colors.is_some();
                    loose.extend(index(accessor).filter(|_| goes));
                    !goes
                });
            }
        }
        let free = unused::free(&mut self.doc, &loose);
        self.doc.reuse(free);
        Ok(())
    }

    /// Adds nodes for helpers below their parents.
    fn add_helpers(&mut self) -> Result<(), IoError> {
        for helper in &self.edit.helpers {
            let Some(parent) = self.node_of_rig(helper.parent) else {
                let found = format!("node {} of the rig", helper.parent);
                return Err(self.wrong(&helper.name, found, "a node of the file"));
            };
            let name = self.free_name(&helper.name);
            let Trs {
                translation,
                rotation,
                scale,
            } = helper.rest;
            let mut node = json!({
                "name": name,
                "translation": single(&translation.into()),
                "rotation": single(&rotation.coords.into()),
            });
            if !is_one(&scale.into()) {
                node["scale"] = json!(single(&scale.into()));
            }
            let node = self.doc.add("nodes", node);
            push(&mut self.doc.root["nodes"][parent]["children"], node.into());
        }
        Ok(())
    }

    fn node_of_rig(&self, node: usize) -> Option<usize> {
        self.node_of_rig.get(&node).copied()
    }

    /// The node of a helper.
    fn node_of_helper(&self, helper: usize) -> usize {
        self.source.rig_node_of_node.len() + helper
    }

    fn free_name(&self, wanted: &str) -> String {
        let nodes = self.doc.root["nodes"].as_array().into_iter().flatten();
        let taken: BTreeSet<&str> = nodes.filter_map(|n| n["name"].as_str()).collect();
        let numbered = (2_u64..).map(|n| format!("{wanted}_{n}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        let free = names.find(|n| !taken.contains(n.as_str()));
        free.unwrap_or_else(|| wanted.to_owned())
    }

    /// Extends skins with the helpers that their meshes follow. Adds a skin for a mesh without one.
    fn add_skins(&mut self) -> Result<(), IoError> {
        let joints = self.asset.rig.joints().len();
        for place in 0..self.meshes.len() {
            let rows = &self.edit.meshes[place].influences;
            let used: BTreeSet<u32> = rows.joints().iter().copied().collect();
            let (own, helpers): (Vec<u32>, Vec<u32>) =
                used.into_iter().partition(|j| (*j as usize) < joints);
            let skin = match self.meshes[place].skin {
                Some(skin) => skin,
                None => self.new_skin(place, &own)?,
            };
            self.meshes[place].skin = Some(skin);
            self.enter(place, skin, &own)?;
            for helper in helpers {
                let number = helper as usize - joints;
                if number >= self.edit.helpers.len() {
                    let found = format!("helper {number}");
                    return Err(self.wrong("weights", found, "an existing helper"));
                }
                let entry = self.helper_in(skin, number);
                self.meshes[place].entries.insert(helper, entry);
            }
        }
        let skins: Vec<usize> = self.skins.keys().copied().collect();
        skins.into_iter().try_for_each(|s| self.rebind(s))
    }

    /// Sets the skin indices of joints.
    fn enter(&mut self, place: usize, skin: usize, own: &[u32]) -> Result<(), IoError> {
        let range = self.source.joints_of_skin.get(skin).cloned();
        let entry = |joint: usize, k: usize| match &range {
            Some(range) => range.contains(&joint).then(|| joint - range.start),
            None => Some(k),
        };
        for (k, &joint) in own.iter().enumerate() {
            let Some(entry) = entry(joint as usize, k) else {
                let found = format!("a weight on joint {joint}, which belongs to another skin");
                return Err(self.wrong(&format!("skins[{skin}]"), found, "a joint of this skin"));
            };
            self.meshes[place].entries.insert(joint, entry);
        }
        Ok(())
    }

    /// A skin for a mesh that followed its node.
    fn new_skin(&mut self, place: usize, own: &[u32]) -> Result<usize, IoError> {
        let (mut nodes, mut taken) = (Vec::new(), BTreeSet::new());
        for &joint in own {
            let rig_node = self.asset.rig.joints()[joint as usize].node;
            match self.node_of_rig(rig_node) {
                Some(node) if taken.insert(node) => nodes.push(node),
                _ => {
                    let found = format!("joint {joint}, whose node another joint also uses");
                    return Err(self.wrong("weights", found, "one joint per node"));
                }
            }
        }
        let matrices = own.iter().map(|&j| self.inverse_bind(place, j as usize));
        let matrices: Vec<f32> = matrices.flatten().collect();
        let matrices = floats(&mut self.doc, &matrices, 16, "MAT4");
        let skin = json!({ "joints": nodes, "inverseBindMatrices": matrices });
        let skin = self.doc.add("skins", skin);
        let node = self.meshes[place].node;
        self.doc.root["nodes"][node]["skin"] = skin.into();
        self.skins.entry(skin).or_default();
        Ok(skin)
    }

    /// Inverse bind matrix of a joint for the stored positions of a mesh.
    fn inverse_bind(&self, place: usize, joint: usize) -> [f32; 16] {
        let joints = self.asset.rig.joints();
        let of_helper = |h: usize| self.edit.helpers[h].joint_from_bind;
        let joint_from_bind = match joint.checked_sub(joints.len()) {
            None => joints[joint].joint_from_bind,
            Some(helper) => of_helper(helper),
        };
        columns(&(joint_from_bind * self.bind_from_file(place)))
    }

    fn bind_from_file(&self, place: usize) -> Affine<f64> {
        let mesh = self.edit.meshes[place].mesh;
        let all = &self.source.bind_from_file;
        all.get(mesh).copied().unwrap_or_default()
    }

    /// Index of a helper in a skin. Adds it if it is missing.
    fn helper_in(&mut self, skin: usize, helper: usize) -> usize {
        let count = self.doc.root["skins"][skin]["joints"].as_array();
        let count = count.map_or(0, Vec::len);
        let helpers = self.skins.entry(skin).or_default();
        let found = helpers.iter().position(|h| *h == helper);
        count
            + found.unwrap_or_else(|| {
                helpers.push(helper);
                helpers.len() - 1
            })
    }

    /// Adds the helpers of a skin to its joints and matrices.
    fn rebind(&mut self, skin: usize) -> Result<(), IoError> {
        let helpers = self.skins.get(&skin).cloned().unwrap_or_default();
        if helpers.is_empty() {
            return Ok(());
        }
        let Some(place) = self.meshes.iter().position(|m| m.skin == Some(skin)) else {
            return Ok(());
        };
        let range = self.source.joints_of_skin.get(skin).cloned();
        // A new skin has its joints in index order.
        let joints = self.asset.rig.joints().len();
        let entries = self.meshes[place].entries.keys();
        let own = entries.map(|j| *j as usize).filter(|j| *j < joints);
        let own: Vec<usize> = range.map_or_else(|| own.collect(), Iterator::collect);
        let all = own.into_iter().chain(helpers.iter().map(|h| joints + h));
        let matrices: Vec<f32> = all.flat_map(|j| self.inverse_bind(place, j)).collect();
        let matrices = floats(&mut self.doc, &matrices, 16, "MAT4");
        for helper in helpers {
            let node = self.node_of_helper(helper);
            push(&mut self.doc.root["skins"][skin]["joints"], node.into());
        }
        self.doc.root["skins"][skin]["inverseBindMatrices"] = matrices.into();
        Ok(())
    }

    /// Writes joints and weights of the vertices, four per set.
    fn add_weights(&mut self, place: usize) -> Result<(), IoError> {
        let change = &self.edit.meshes[place];
        let rows = &change.influences;
        let sets = rows.max_per_vertex().div_ceil(PER_SET);
        let last = self.meshes[place].entries.values().max().copied();
        let last = last.unwrap_or(0);
        if u16::try_from(last).is_err() {
            let found = format!("{last} joints");
            return Err(self.wrong("skins", found, "at most 65536 joints per skin"));
        }
        let mut written = OfRange::default();
        for p in 0..self.meshes[place].primitives.len() {
            let of = self.meshes[place].primitives[p].clone();
            if of.vertices.is_empty() {
                continue;
            }
            let mesh = self.meshes[place].mesh;
            let attributes = written.of(&of, || self.new_attributes(place, &of, sets, last <= 255));
            let primitive = &mut self.doc.root["meshes"][mesh]["primitives"][p];
            for (name, accessor) in attributes {
                primitive["attributes"][name] = accessor.into();
            }
        }
        Ok(())
    }

    /// Accessors of joints and weights, and of colours, for the vertices of a primitive.
    fn new_attributes(
        &mut self,
        place: usize,
        of: &PrimitiveVertices,
        sets: usize,
        short: bool,
    ) -> Vec<(String, usize)> {
        let mut out = Vec::new();
        for set in 0..sets {
            let (joints, weights) = self.set(place, of, set, short);
            let joints = self.attribute(&joints, if short { U8 } else { U16 }, of.stored);
            let weights = floats(&mut self.doc, &weights, PER_SET, "VEC4");
            self.mark_vertices(weights);
            out.push((format!("JOINTS_{set}"), joints));
            out.push((format!("WEIGHTS_{set}"), weights));
        }
        if let Some(colors) = &self.edit.meshes[place].colors {
            let colors: Vec<[f32; 4]> = of.vertex_of_rows().map(|v| colors[v]).collect();
            let colors = floats(&mut self.doc, colors.as_flattened(), 4, "VEC4");
            self.mark_vertices(colors);
            out.push(("COLOR_0".into(), colors));
        }
        out
    }

    fn attribute(&mut self, bytes: &[u8], component: u32, count: usize) -> usize {
        let view = self.doc.view(bytes);
        self.doc.root["bufferViews"][view]["target"] = VERTICES.into();
        let accessor = json!({ "bufferView": view, "componentType": component, "count": count, "type": "VEC4" });
        self.doc.add("accessors", accessor)
    }

    fn mark_vertices(&mut self, accessor: usize) {
        if let Some(view) = index(&self.doc.root["accessors"][accessor]["bufferView"]) {
            self.doc.root["bufferViews"][view]["target"] = VERTICES.into();
        }
    }

    /// One set of some vertices: joints as bytes, weights.
    fn set(
        &self,
        place: usize,
        of: &PrimitiveVertices,
        set: usize,
        short: bool,
    ) -> (Vec<u8>, Vec<f32>) {
        let (mut joints, mut weights) = (Vec::new(), Vec::new());
        let rows = &self.edit.meshes[place].influences;
        let entries = &self.meshes[place].entries;
        for v in of.vertex_of_rows() {
            let row = summing_to_one(rows, v);
            let mut row = row.into_iter().skip(set * PER_SET);
            for _ in 0..PER_SET {
                let (joint, weight) = row.next().unwrap_or((u32::MAX, 0.0));
                let entry = entries.get(&joint).copied().unwrap_or(0);
                let bytes = u16::try_from(entry).unwrap_or(0).to_le_bytes();
                joints.extend_from_slice(if short { &bytes[..1] } else { &bytes });
                weights.push(weight);
            }
        }
        (joints, weights)
    }

    /// Adds targets to a mesh, with zero weights in clips that have no new keys for them.
    fn add_targets(&mut self, place: usize) -> Result<(), IoError> {
        let change = &self.edit.meshes[place];
        if change.targets.is_empty() {
            return Ok(());
        }
        let base = self.source_mesh(place);
        let turn = Turn::new(&self.bind_from_file(place));
        let mesh = self.meshes[place].mesh;
        let add_all = TargetChange {
            mesh: change.mesh,
            base,
            removed: Vec::new(),
            added: change.targets.clone(),
            weights: Vec::new(),
        };
        let places = &self.meshes[place].primitives;
        add(&mut self.doc, mesh, places, &add_all, &turn)?;
        let added: Vec<&MorphTarget> = change.targets.iter().collect();
        let before = targets::name_and_weigh(&mut self.doc, mesh, &added);
        for keys in &self.edit.clips {
            self.drop_weights(keys.clip, self.meshes[place].node);
        }
        animations::widen(&mut self.doc, self.source, mesh, before, added.len())
    }

    /// Removes the channel of a node's weights from a clip. A new one replaces it.
    fn drop_weights(&mut self, clip: usize, node: usize) {
        let channels = &mut self.doc.root["animations"][clip]["channels"];
        if let Some(channels) = channels.as_array_mut() {
            channels.retain(|c| {
                !(c["target"]["path"] == "weights" && index(&c["target"]["node"]) == Some(node))
            });
        }
    }

    fn add_keys(&mut self, keys: &ClipKeys) {
        let mut times = None;
        for (helper, moments) in keys.helpers.iter().enumerate() {
            let input = *times.get_or_insert_with(|| self.doc.times(&keys.times_secs));
            self.add_motion(keys.clip, self.node_of_helper(helper), moments, input);
        }
        for (place, rows) in keys.weights.iter().enumerate() {
            if !self.edit.meshes[place].targets.is_empty() {
                self.add_target_weights(keys, place, rows);
            }
        }
    }

    /// Channels of one node. Scale only if it is animated.
    fn add_motion(&mut self, clip: usize, node: usize, moments: &[Trs], input: usize) {
        let translations = moments.iter().flat_map(|t| single(&t.translation.into()));
        let translations: Vec<f32> = translations.collect();
        let rotations = turned_shortest(moments);
        self.channel(clip, node, "translation", input, &translations, "VEC3");
        self.channel(
            clip,
            node,
            "rotation",
            input,
            rotations.as_flattened(),
            "VEC4",
        );
        if moments.iter().any(|t| !is_one(&t.scale.into())) {
            let scales = moments.iter().flat_map(|t| single(&t.scale.into()));
            let scales: Vec<f32> = scales.collect();
            self.channel(clip, node, "scale", input, &scales, "VEC3");
        }
    }

    fn channel(
        &mut self,
        clip: usize,
        node: usize,
        path: &str,
        input: usize,
        numbers: &[f32],
        kind: &str,
    ) {
        let width = match kind {
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 1,
        };
        let output = floats(&mut self.doc, numbers, width, kind);
        let animation = &mut self.doc.root["animations"][clip];
        let sampler = animation["samplers"].as_array().map_or(0, Vec::len);
        let entry = json!({ "input": input, "output": output, "interpolation": "LINEAR" });
        push(&mut animation["samplers"], entry);
        let channel = json!({ "sampler": sampler, "target": { "node": node, "path": path } });
        push(&mut animation["channels"], channel);
    }

    /// Weights of all targets of a mesh at the union of old and new key times.
    fn add_target_weights(&mut self, keys: &ClipKeys, place: usize, rows: &[Vec<f32>]) {
        let node = self.meshes[place].node;
        let rig_node = self.source.rig_node_of_node[node];
        let before = self.source_mesh(place).morph_targets.len();
        let rest = self.asset.rig.nodes()[rig_node].morph_weights.clone();
        let channels = self.asset.clips[keys.clip].channels().iter();
        let is_it =
            |c: &&sinew_geom::Channel| c.node == rig_node && c.target == ChannelTarget::Weights;
        let old = channels.into_iter().find(is_it);
        let mut times = keys.times_secs.clone();
        times.extend(old.iter().flat_map(|c| c.times()));
        times.sort_by(f32::total_cmp);
        times.dedup();
        times.retain(|t| *t >= 0.0);
        let mut numbers = Vec::new();
        for &time in &times {
            let mut weights = rest.clone();
            weights.resize(before, 0.0);
            if let Some(old) = old {
                old.sample_weights(f64::from(time), &mut weights);
            }
            numbers.extend(weights);
            numbers.extend(between(&keys.times_secs, rows, time));
        }
        let input = self.doc.times(&times);
        self.channel(keys.clip, node, "weights", input, &numbers, "SCALAR");
    }
}

impl Appended<'_> {
    /// An accessor of key times.
    pub(super) fn times(&mut self, times: &[f32]) -> usize {
        let accessor = floats(self, times, 1, "SCALAR");
        self.root["accessors"][accessor]["min"] = json!([times.first().unwrap_or(&0.0)]);
        self.root["accessors"][accessor]["max"] = json!([times.last().unwrap_or(&0.0)]);
        accessor
    }
}

/// Linear interpolation of rows at a time.
fn between(times: &[f32], rows: &[Vec<f32>], time: f32) -> Vec<f32> {
    let next = times.partition_point(|t| *t < time);
    let at = |k: usize| {
        rows.get(k)
            .or_else(|| rows.last())
            .cloned()
            .unwrap_or_default()
    };
    let (Some(a), Some(b)) = (next.checked_sub(1).map(|k| times[k]), times.get(next)) else {
        return at(next);
    };
    let share = (time - a) / (b - a);
    let pairs = at(next - 1).into_iter().zip(at(next));
    pairs.map(|(x, y)| x + (y - x) * share).collect()
}

/// A weight row whose sum is one in single precision. The rounding error goes to the largest weight.
fn summing_to_one(rows: &Influences, vertex: usize) -> Vec<(u32, f32)> {
    let mut row: Vec<(u32, f32)> = rows.row(vertex).collect();
    let sum: f64 = row.iter().map(|r| f64::from(r.1)).sum();
    if sum <= 0.0 {
        return row;
    }
    row.iter_mut()
        .for_each(|r| r.1 = (f64::from(r.1) / sum) as f32);
    let rest: f64 = row.iter().skip(1).map(|r| f64::from(r.1)).sum();
    if let Some(first) = row.first_mut() {
        first.1 = (1.0 - rest) as f32;
    }
    row
}

/// Quaternions with signs that give the shortest path from key to key.
fn turned_shortest(moments: &[Trs]) -> Vec<[f32; 4]> {
    let mut out: Vec<[f32; 4]> = Vec::new();
    for moment in moments {
        let mut q: [f32; 4] = single(&moment.rotation.coords.into());
        let dot = out.last().map_or(1.0, |l: &[f32; 4]| {
            l.iter().zip(&q).map(|(a, b)| a * b).sum::<f32>()
        });
        if dot < 0.0 {
            q = q.map(|c| -c);
        }
        out.push(q);
    }
    out
}

fn is_one(scale: &[f64; 3]) -> bool {
    scale.iter().all(|s| (s - 1.0).abs() < 1e-6)
}

fn single<const N: usize>(numbers: &[f64; N]) -> [f32; N] {
    numbers.map(|n| n as f32)
}

#[cfg(test)]
mod tests;
