//! Writes an asset as a new GLB file: nodes, skins, meshes with weights and morph targets, strands, clips.

use super::container::glb_bytes;
use super::strands::{columns, custom, floats};
use super::targets::{Appended, push};
use crate::IoError;
use crate::bytes::put_u32s;
use crate::fault::malformed;
use serde_json::{Value, json};
use sinew_geom::{
    Asset, Channel, ChannelTarget, Influences, Interpolation, LocalTransform, Mesh, MeshPart, Rig,
    index32,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

const U16: u32 = 5123;
const U32: u32 = 5125;
const PER_SET: usize = 4;

/// Gives the bytes of a GLB file for an asset. `path` appears in errors.
///
/// | content | in the file |
/// |---|---|
/// | nodes, clips | as they are, with their interpolation |
/// | meshes | all sets of joints and weights, texture coordinates, colours, morph targets; one skin per mesh |
/// | attributes | `_NAME` |
/// | materials, images | not written: they are not part of an asset; use [`packed_glb`](super::packed_glb) to keep them |
/// | strands | lines, as [`add_strands`](super::add_strands) writes them |
///
/// # Errors
/// [`IoError::Malformed`] if counts do not match, if a mesh follows two joints of one node, or if numbers are not
/// finite; [`IoError::Unsupported`] for 4 GiB or more.
pub fn character_glb(path: &Path, asset: &Asset) -> Result<Vec<u8>, IoError> {
    let root = json!({
        "asset": { "version": "2.0", "generator": concat!("sinew ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{}],
    });
    let mut work = Work {
        doc: Appended::new(root, path, 0, true)?,
        path,
        rig: &asset.rig,
    };
    work.nodes();
    for mesh in &asset.meshes {
        work.mesh(mesh)?;
    }
    let nodes: Vec<usize> = (0..asset.rig.nodes().len()).collect();
    for strands in &asset.strands {
        super::strands::append(&mut work.doc, &nodes, &asset.rig, strands, path)?;
    }
    for clip in &asset.clips {
        work.clip(&clip.name, clip.channels());
    }
    if let Some(graph) = &asset.graph {
        let graph = super::graph::parse(graph, path)?;
        super::graph::insert(&mut work.doc.root, graph);
    }
    let (root, _, mut binary) = work.doc.finish();
    if binary.is_empty() {
        return Err(malformed(path, "meshes", "none", "at least one"));
    }
    let text = serde_json::to_vec(&root)
        .map_err(|e| malformed(path, "document", e.to_string(), "valid JSON"))?;
    binary.resize(binary.len().next_multiple_of(4), 0);
    glb_bytes(path, &text, &binary)
}

struct Work<'a> {
    doc: Appended<'a>,
    path: &'a Path,
    rig: &'a Rig,
}

impl Work<'_> {
    fn nodes(&mut self) {
        for (index, node) in self.rig.nodes().iter().enumerate() {
            let mut entry = json!({ "name": node.name });
            match &node.local {
                LocalTransform::Matrix(m) => entry["matrix"] = json!(columns(m)),
                LocalTransform::Trs(t) => {
                    entry["translation"] = json!(single(t.translation.as_slice()));
                    entry["rotation"] = json!(single(t.rotation.coords.as_slice()));
                    entry["scale"] = json!(single(t.scale.as_slice()));
                }
            }
            self.doc.add("nodes", entry);
            let place = match node.parent {
                Some(parent) => &mut self.doc.root["nodes"][parent]["children"],
                None => &mut self.doc.root["scenes"][0]["nodes"],
            };
            push(place, index.into());
        }
    }

    fn mesh(&mut self, mesh: &Mesh) -> Result<(), IoError> {
        mesh.check().map_err(|e| {
            malformed(
                self.path,
                format!("mesh '{}'", mesh.name),
                e.to_string(),
                "one per vertex",
            )
        })?;
        let whole = [MeshPart {
            name: mesh.name.clone(),
            source_mesh: 0,
            material: None,
            vertices: 0..mesh.vertex_count(),
            triangles: 0..mesh.topology.triangles().len(),
            flat_shaded: false,
        }];
        let parts = if mesh.parts.is_empty() {
            &whole[..]
        } else {
            &mesh.parts
        };
        let skin = mesh.influences.as_ref().map(|i| self.skin(mesh, i));
        let skin = skin.transpose()?;
        let mut primitives = Vec::new();
        // Parts that use the same vertices share their attributes.
        let mut written = BTreeMap::new();
        for part in parts {
            let range = &part.vertices;
            let entry = written.entry((range.start, range.end, part.flat_shaded));
            let vertices = entry.or_insert_with(|| self.vertices(mesh, part, skin.as_ref()));
            let mut primitive = vertices.clone();
            primitive["indices"] = self.indices(mesh, part).into();
            primitives.push(primitive);
        }
        let mut entry = json!({ "name": mesh.name, "primitives": primitives });
        let names = mesh.morph_targets.iter().map(|t| t.name.as_str());
        let names: Vec<&str> = names.collect();
        let carrier = self.carrier(mesh);
        if !names.is_empty() {
            let weights = carrier.map(|n| self.rig.nodes()[n].morph_weights.clone());
            let weights = weights.unwrap_or_else(|| vec![0.0; names.len()]);
            entry["weights"] = json!(weights);
            entry["extras"] = json!({ "targetNames": names });
        }
        let index = self.doc.add("meshes", entry);
        let node = carrier.unwrap_or_else(|| {
            let node = self.doc.add("nodes", json!({ "name": mesh.name }));
            push(&mut self.doc.root["scenes"][0]["nodes"], node.into());
            node
        });
        self.doc.root["nodes"][node]["mesh"] = index.into();
        if let Some(skin) = skin {
            self.doc.root["nodes"][node]["skin"] = skin.index.into();
        }
        Ok(())
    }

    /// The node with the weights of a mesh's morph targets.
    fn carrier(&self, mesh: &Mesh) -> Option<usize> {
        let count = mesh.morph_targets.len();
        let mut nodes = self.rig.nodes().iter();
        let has = |n: &sinew_geom::Node| {
            n.morph_weights.len() == count && n.morph_offset == mesh.morph_offset
        };
        nodes.position(has).filter(|_| count > 0)
    }

    fn skin(&mut self, mesh: &Mesh, rows: &Influences) -> Result<Skin, IoError> {
        let mut used: Vec<u32> = rows.joints().to_vec();
        used.sort_unstable();
        used.dedup();
        let mut entries = BTreeMap::new();
        let (mut nodes, mut matrices) = (Vec::new(), Vec::new());
        let mut taken = BTreeSet::new();
        for joint in used {
            let Some(of) = self.rig.joints().get(joint as usize) else {
                let found = format!("a weight on joint {joint}");
                let expected = format!("a joint below {}", self.rig.joints().len());
                return Err(malformed(
                    self.path,
                    format!("mesh '{}'", mesh.name),
                    found,
                    expected,
                ));
            };
            if !taken.insert(of.node) {
                let found = format!("joint {joint}, whose node another joint also uses");
                return Err(malformed(
                    self.path,
                    format!("mesh '{}'", mesh.name),
                    found,
                    "one joint per node",
                ));
            }
            entries.insert(joint, nodes.len());
            nodes.push(of.node);
            matrices.extend(columns(&of.joint_from_bind));
        }
        let matrices = floats(&mut self.doc, &matrices, 16, "MAT4");
        let skin = json!({ "joints": nodes, "inverseBindMatrices": matrices });
        Ok(Skin {
            index: self.doc.add("skins", skin),
            entries,
        })
    }

    /// A primitive without indices.
    fn vertices(&mut self, mesh: &Mesh, part: &MeshPart, skin: Option<&Skin>) -> Value {
        let range = &part.vertices;
        let mut attributes = json!({});
        let positions = &mesh.positions[range.clone()];
        let accessor = floats(&mut self.doc, positions.as_flattened(), 3, "VEC3");
        if let Some((low, high)) = sinew_geom::bounds(positions) {
            self.doc.root["accessors"][accessor]["min"] = json!(low);
            self.doc.root["accessors"][accessor]["max"] = json!(high);
        }
        attributes["POSITION"] = accessor.into();
        // Readers compute the normals of flat parts.
        if let Some(normals) = mesh.normals.as_ref().filter(|_| !part.flat_shaded) {
            let numbers = normals[range.clone()].as_flattened();
            attributes["NORMAL"] = floats(&mut self.doc, numbers, 3, "VEC3").into();
        }
        if let Some(tangents) = mesh.tangents.as_ref().filter(|_| !part.flat_shaded) {
            let numbers = tangents[range.clone()].as_flattened();
            attributes["TANGENT"] = floats(&mut self.doc, numbers, 4, "VEC4").into();
        }
        for (set, uvs) in mesh.uvs.iter().enumerate() {
            let numbers = uvs[range.clone()].as_flattened();
            attributes[format!("TEXCOORD_{set}")] =
                floats(&mut self.doc, numbers, 2, "VEC2").into();
        }
        for (set, colors) in mesh.colors.iter().enumerate() {
            let numbers = colors[range.clone()].as_flattened();
            attributes[format!("COLOR_{set}")] = floats(&mut self.doc, numbers, 4, "VEC4").into();
        }
        for (name, attribute) in &mesh.attributes {
            attributes[format!("_{name}")] = custom(&mut self.doc, attribute, range.clone()).into();
        }
        if let (Some(skin), Some(rows)) = (skin, &mesh.influences) {
            self.weigh(&mut attributes, rows, range, skin);
        }
        let mut out = json!({ "attributes": attributes });
        let targets = mesh.morph_targets.iter();
        let targets: Vec<Value> = targets.map(|t| self.target(t, part)).collect();
        if !targets.is_empty() {
            out["targets"] = targets.into();
        }
        out
    }

    fn indices(&mut self, mesh: &Mesh, part: &MeshPart) -> usize {
        let first = index32(part.vertices.start);
        let triangles = &mesh.topology.triangles()[part.triangles.clone()];
        let indices: Vec<u32> = triangles.iter().flatten().map(|v| v - first).collect();
        let mut bytes = Vec::new();
        // Writing to memory cannot fail.
        let _ = put_u32s(&mut bytes, &indices);
        let view = self.doc.view(&bytes);
        let accessor = json!({ "bufferView": view, "componentType": U32, "count": indices.len(), "type": "SCALAR" });
        self.doc.add("accessors", accessor)
    }

    fn weigh(
        &mut self,
        attributes: &mut Value,
        rows: &Influences,
        range: &Range<usize>,
        skin: &Skin,
    ) {
        let sets = rows.max_per_vertex().div_ceil(PER_SET);
        let mut all = vec![(Vec::new(), Vec::new()); sets];
        for v in range.clone() {
            let mut row = rows.row(v);
            for (joints, weights) in &mut all {
                for _ in 0..PER_SET {
                    let (joint, weight) = row.next().unwrap_or((u32::MAX, 0.0));
                    let entry = skin.entries.get(&joint).copied().unwrap_or(0);
                    joints.extend(u16::try_from(entry).unwrap_or(0).to_le_bytes());
                    weights.push(weight);
                }
            }
        }
        for (set, (joints, weights)) in all.iter().enumerate() {
            let view = self.doc.view(joints);
            let accessor = json!({ "bufferView": view, "componentType": U16, "count": range.len(), "type": "VEC4" });
            attributes[format!("JOINTS_{set}")] = self.doc.add("accessors", accessor).into();
            attributes[format!("WEIGHTS_{set}")] =
                floats(&mut self.doc, weights, PER_SET, "VEC4").into();
        }
    }

    fn target(&mut self, target: &sinew_geom::MorphTarget, part: &MeshPart) -> Value {
        let range = &part.vertices;
        let mut out = json!({});
        let lists = [
            ("POSITION", &target.positions),
            ("NORMAL", &target.normals),
            ("TANGENT", &target.tangents),
        ];
        for (name, deltas) in lists {
            if (deltas.is_empty() || part.flat_shaded) && name != "POSITION" {
                continue;
            }
            let all = target.vertices.iter().zip(deltas);
            let inside = all.filter(|(v, _)| range.contains(&(**v as usize)));
            let shifted = inside.map(|(v, d)| (*v as usize - range.start, *d));
            let rows = shifted.filter_map(|(v, d)| Some((u32::try_from(v).ok()?, d)));
            let (rows, deltas): (Vec<u32>, Vec<[f32; 3]>) = rows.unzip();
            out[name] = self.doc.deltas(range.len(), &rows, &deltas).into();
        }
        out
    }

    fn clip(&mut self, name: &str, channels: &[Channel]) {
        let (mut samplers, mut entries) = (Vec::new(), Vec::new());
        for channel in channels {
            let (path, width, kind) = match channel.target {
                ChannelTarget::Translation => ("translation", 3, "VEC3"),
                ChannelTarget::Rotation => ("rotation", 4, "VEC4"),
                ChannelTarget::Scale => ("scale", 3, "VEC3"),
                ChannelTarget::Weights => ("weights", 1, "SCALAR"),
            };
            let interpolation = match channel.interpolation() {
                Interpolation::Step => "STEP",
                Interpolation::Linear => "LINEAR",
                Interpolation::CubicSpline => "CUBICSPLINE",
            };
            let input = self.doc.times(channel.times());
            let output = floats(&mut self.doc, channel.values(), width, kind);
            entries.push(json!({ "sampler": samplers.len(), "target": { "node": channel.node, "path": path } }));
            samplers
                .push(json!({ "input": input, "output": output, "interpolation": interpolation }));
        }
        if !entries.is_empty() {
            let clip = json!({ "name": name, "channels": entries, "samplers": samplers });
            self.doc.add("animations", clip);
        }
    }
}

/// A skin, and the index in it of each joint of the rig.
struct Skin {
    index: usize,
    entries: BTreeMap<u32, usize>,
}

fn single(numbers: &[f64]) -> Vec<f32> {
    numbers.iter().map(|n| *n as f32).collect()
}
