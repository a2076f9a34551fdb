//! Writes an asset as a new GLB file: nodes, skins, meshes with weights and morph targets, materials, strands, clips.

mod clips;
mod parts;
mod placing;
mod roots;

use super::container::glb_bytes;
use super::joints::{NewSkin, weigh};
use super::materials::MaterialCopier;
use super::packed::packed_glb;
use super::strands::{columns, custom, floats};
use super::targets::{Appended, push};
use super::{GlbSource, geometry};
use crate::bytes::put_u32s;
use crate::fault::{malformed, warning};
use crate::surface::unit;
use crate::{GltfSource, IoError};
use parts::parts_of;
use serde_json::{Value, json};
use sinew_geom::{Asset, Influences, LocalTransform, Mesh, MeshPart, MorphTarget, Warning};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

const U32: u32 = 5125;
const POINTS: u32 = 0;

/// Gives any character as the bytes of a GLB file. `path` appears in errors.
///
/// If `source` is a whole glTF document ([`GltfSource::is_document`]), the file has everything that the document has, VRM and other
/// extensions included: see [`packed_glb`]. Otherwise the file is new, with the materials of `source`: see [`character_glb`].
///
/// # Errors
/// As [`packed_glb`] and [`character_glb`].
pub fn converted_glb(
    path: &Path,
    asset: &Asset,
    source: Option<&GltfSource>,
) -> Result<(Vec<u8>, Vec<Warning>), IoError> {
    match source {
        Some(source) if source.is_document() => packed_glb(source),
        Some(source) => character_glb(path, asset, Some(&GlbSource::of(source, &source.path))),
        None => character_glb(path, asset, None),
    }
}

/// Gives the bytes of a GLB file for an asset, and warnings about what is not in it. `path` appears in errors.
///
/// | content | in the file |
/// |---|---|
/// | nodes | as they are, in single precision |
/// | clips | as they are, with their interpolation; those that start before 0 s are moved to 0 s |
/// | meshes | all sets of joints and weights, texture coordinates, colours, morph targets |
/// | meshes that one node moves | unskinned, at that node |
/// | attributes | `_NAME` |
/// | materials, textures, images | those of `source` that [`MeshPart::material`] names |
/// | strands | lines, as [`add_strands`](super::add_strands) writes them |
/// | embedded graph | as it is |
///
/// # Errors
/// [`IoError::Malformed`] if counts do not match, if two meshes have the morph weights of one node, or if numbers are not finite;
/// [`IoError::Unsupported`] for a mesh with more than 65536 joints, and for 4 GiB or more.
pub fn character_glb(
    path: &Path,
    asset: &Asset,
    source: Option<&GlbSource>,
) -> Result<(Vec<u8>, Vec<Warning>), IoError> {
    let root = json!({
        "asset": { "version": "2.0", "generator": concat!("sinew ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{}],
    });
    let mut work = Work {
        doc: Appended::new(root, path, 0, true)?,
        copier: MaterialCopier::new(source),
        path,
        asset,
        warnings: Vec::new(),
        carries: vec![false; asset.rig.nodes().len()],
        skins: BTreeMap::new(),
    };
    work.nodes();
    if asset.joints_are_names {
        let message = "the joints have names only: they are written at the origin".to_owned();
        work.warnings.push(warning("joint_names_only", message));
    }
    for (index, mesh) in asset.meshes.iter().enumerate() {
        work.mesh(index, mesh)?;
    }
    work.strands()?;
    roots::join(&mut work.doc.root);
    for clip in &asset.clips {
        work.clip(clip);
    }
    work.copier.finish(&mut work.doc.root, &[]);
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
    Ok((glb_bytes(path, &text, &binary)?, work.warnings))
}

struct Work<'a> {
    doc: Appended<'a>,
    copier: MaterialCopier<'a>,
    path: &'a Path,
    asset: &'a Asset,
    warnings: Vec<Warning>,
    /// For each node of the rig: true if it carries a mesh.
    carries: Vec<bool>,
    /// Skins by their joints.
    skins: BTreeMap<Vec<u32>, NewSkin>,
}

/// A mesh as it is stored, and what moves it.
struct Placed<'m> {
    /// Node of the document.
    node: usize,
    mesh: Cow<'m, Mesh>,
    /// `None` if the node moves it.
    skin: Option<(NewSkin, Cow<'m, Influences>)>,
}

impl Work<'_> {
    fn nodes(&mut self) {
        for (index, node) in self.asset.rig.nodes().iter().enumerate() {
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

    fn mesh(&mut self, index: usize, mesh: &Mesh) -> Result<(), IoError> {
        let wrong = |found: String, expected: &str| {
            malformed(self.path, format!("mesh '{}'", mesh.name), found, expected)
        };
        mesh.check()
            .map_err(|e| wrong(e.to_string(), "one per vertex"))?;
        if !mesh.positions.as_flattened().iter().all(|c| c.is_finite()) {
            return Err(wrong("a position that is not finite".into(), "numbers"));
        }
        if mesh.vertex_count() == 0 {
            let message = format!("mesh '{}' has no vertices and is not written", mesh.name);
            self.warnings.push(warning("empty_mesh", message));
            return Ok(());
        }
        let weights = self.rest_weights(mesh);
        let placed = self.placed(index, mesh)?;
        let primitives = self.primitives(&placed);
        let name = match mesh.data_name.is_empty() {
            true => &mesh.name,
            false => &mesh.data_name,
        };
        let mut entry = json!({ "name": name, "primitives": primitives });
        if !mesh.morph_targets.is_empty() {
            let names = mesh.morph_targets.iter().map(|t| t.name.as_str());
            entry["weights"] = json!(weights);
            entry["extras"] = json!({ "targetNames": names.collect::<Vec<_>>() });
        }
        let index = self.doc.add("meshes", entry);
        let node = &mut self.doc.root["nodes"][placed.node];
        // Readers name a mesh after its node, except if the node has no name: the name of such a node is made up.
        if mesh.data_name.is_empty() && is_made_up(node["name"].as_str().unwrap_or_default()) {
            node["name"] = mesh.name.as_str().into();
        }
        node["mesh"] = index.into();
        if let Some((skin, _)) = &placed.skin {
            node["skin"] = skin.index.into();
        }
        Ok(())
    }

    fn primitives(&mut self, placed: &Placed<'_>) -> Vec<Value> {
        let mesh = placed.mesh.as_ref();
        let mut out = Vec::new();
        // Parts that use the same vertices share their attributes.
        let mut written = BTreeMap::new();
        for part in parts_of(mesh) {
            let range = &part.vertices;
            let entry = written.entry((range.start, range.end, part.flat_shaded));
            let vertices = entry.or_insert_with(|| self.vertices(placed, &part));
            let mut primitive: Value = vertices.clone();
            match part.triangles.is_empty() {
                true => primitive["mode"] = POINTS.into(),
                false => primitive["indices"] = self.indices(mesh, &part).into(),
            }
            if let Some(material) = part.material {
                let copy = self.copier.material(
                    material,
                    mesh.uvs.len(),
                    &mut self.doc,
                    &mut self.warnings,
                );
                if let Some(copy) = copy {
                    primitive["material"] = copy.into();
                }
            }
            out.push(primitive);
        }
        out
    }

    /// A primitive without indices.
    fn vertices(&mut self, placed: &Placed<'_>, part: &MeshPart) -> Value {
        let mesh = placed.mesh.as_ref();
        let range = &part.vertices;
        let mut attributes = json!({});
        let positions = &mesh.positions[range.clone()];
        let accessor = floats(&mut self.doc, positions.as_flattened(), 3, "VEC3");
        if let Some((low, high)) = sinew_geom::bounds(positions) {
            self.doc.root["accessors"][accessor]["min"] = json!(low);
            self.doc.root["accessors"][accessor]["max"] = json!(high);
        }
        attributes["POSITION"] = accessor.into();
        self.directions(&mut attributes, mesh, part);
        for (set, uvs) in mesh.uvs.iter().enumerate() {
            let numbers = uvs[range.clone()].as_flattened();
            let accessor = floats(&mut self.doc, numbers, 2, "VEC2");
            attributes[format!("TEXCOORD_{set}")] = accessor.into();
        }
        for (set, colors) in mesh.colors.iter().enumerate() {
            let numbers = colors[range.clone()].as_flattened();
            attributes[format!("COLOR_{set}")] = floats(&mut self.doc, numbers, 4, "VEC4").into();
        }
        for (name, attribute) in &mesh.attributes {
            attributes[format!("_{name}")] = custom(&mut self.doc, attribute, range.clone()).into();
        }
        if let Some((skin, rows)) = &placed.skin {
            weigh(&mut self.doc, &mut attributes, rows, range.clone(), skin);
        }
        let mut out = json!({ "attributes": attributes });
        let targets = mesh.morph_targets.iter();
        let targets: Vec<Value> = targets.map(|t| self.target(t, mesh, part)).collect();
        if !targets.is_empty() {
            out["targets"] = targets.into();
        }
        out
    }

    /// Unit normals and tangents. Readers compute the normals of flat parts.
    fn directions(&mut self, attributes: &mut Value, mesh: &Mesh, part: &MeshPart) {
        let Some(normals) = mesh.normals.as_ref().filter(|_| !part.flat_shaded) else {
            return;
        };
        let normals = normals[part.vertices.clone()].iter();
        let normals: Vec<[f32; 3]> = normals
            .map(|n| unit(*n).unwrap_or([0.0, 1.0, 0.0]))
            .collect();
        attributes["NORMAL"] = floats(&mut self.doc, normals.as_flattened(), 3, "VEC3").into();
        if let Some(tangents) = &mesh.tangents {
            let tangents = geometry::tangents(&tangents[part.vertices.clone()], &normals);
            let numbers = tangents.as_flattened();
            attributes["TANGENT"] = floats(&mut self.doc, numbers, 4, "VEC4").into();
        }
    }

    fn indices(&mut self, mesh: &Mesh, part: &MeshPart) -> usize {
        let first = part.vertices.start as u32;
        let triangles = &mesh.topology.triangles()[part.triangles.clone()];
        let indices: Vec<u32> = triangles.iter().flatten().map(|v| v - first).collect();
        let mut bytes = Vec::new();
        // Writing to memory cannot fail.
        let _ = put_u32s(&mut bytes, &indices);
        let view = self.doc.view(&bytes);
        let accessor = json!({ "bufferView": view, "componentType": U32, "count": indices.len(), "type": "SCALAR" });
        self.doc.add("accessors", accessor)
    }

    /// A target has the attributes of its primitive.
    fn target(&mut self, target: &MorphTarget, mesh: &Mesh, part: &MeshPart) -> Value {
        let range = &part.vertices;
        let has_normals = mesh.normals.is_some() && !part.flat_shaded;
        let has_tangents = mesh.tangents.is_some() && has_normals;
        let mut out = json!({});
        let lists = [
            ("POSITION", &target.positions, true),
            ("NORMAL", &target.normals, has_normals),
            ("TANGENT", &target.tangents, has_tangents),
        ];
        for (name, deltas, is_written) in lists {
            if !is_written || deltas.is_empty() && name != "POSITION" {
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

    fn strands(&mut self) -> Result<(), IoError> {
        let nodes: Vec<usize> = (0..self.asset.rig.nodes().len()).collect();
        for strands in &self.asset.strands {
            let rig = &self.asset.rig;
            super::strands::append(&mut self.doc, &nodes, rig, strands, self.path)?;
            let materials: Vec<_> = strands.parts.iter().filter_map(|p| p.material).collect();
            let Some(&first) = materials.first() else {
                continue;
            };
            if materials.iter().any(|m| *m != first) {
                let message = format!(
                    "strands '{}' have several materials; all of them get the first one",
                    strands.name
                );
                self.warnings.push(warning("materials_joined", message));
            }
            let sets = strands.uvs.len();
            let (doc, warnings) = (&mut self.doc, &mut self.warnings);
            if let Some(copy) = self.copier.material(first, sets, doc, warnings) {
                let last = doc.root["meshes"].as_array().map_or(0, Vec::len) - 1;
                doc.root["meshes"][last]["primitives"][0]["material"] = copy.into();
            }
        }
        Ok(())
    }
}

/// True for the names that readers give to nodes without a name.
fn is_made_up(name: &str) -> bool {
    let number = name.strip_prefix("node_").unwrap_or("?");
    number.bytes().all(|b| b.is_ascii_digit())
}

fn single(numbers: &[f64]) -> Vec<f32> {
    numbers.iter().map(|n| *n as f32).collect()
}

#[cfg(test)]
mod tests;
