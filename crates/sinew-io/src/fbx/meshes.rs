//! One mesh of the document per node with a mesh.

use super::document::{Document, quoted};
use super::geometry::{Layers, Vertices};
use super::shapes::{self, Targets};
use super::{nodes, reverse, skins};
use crate::IoError;
use crate::bytes::put_u32s;
use crate::polygon;
use serde_json::{Value, json};
use sinew_geom::{Affine, Polygons, Topology, index32};
use std::ops::Range;
use std::sync::Arc;
use ufbx::{Mesh, Node, Scene};

const U32: u32 = 5125;
/// Least bytes of an instance: its entries in the document.
const LEAST: usize = 1024;

/// A mesh of the document.
pub(super) struct Written {
    /// Index of its node in the document.
    pub(super) node: usize,
    pub(super) faces: Faces,
    pub(super) targets: Targets,
}

/// What glTF cannot express.
pub(super) struct Faces {
    pub(super) topology: Arc<Topology>,
    /// Point of each vertex; empty if each vertex is a point.
    pub(super) points: Vec<u32>,
}

/// Faces that are not read, over all meshes.
#[derive(Default)]
struct Skipped {
    thin: usize,
    holes: usize,
}

/// Writes the meshes of all nodes.
///
/// # Errors
/// [`IoError::Malformed`] with the name of a mesh.
pub(super) fn write(doc: &mut Document<'_>, scene: &Scene) -> Result<Vec<Written>, IoError> {
    let mut out = Vec::new();
    let mut skipped = Skipped::default();
    for node in scene.nodes.iter() {
        if let Some(mesh) = &node.mesh {
            out.extend(instance(doc, node, mesh, &mut skipped)?);
        }
    }
    if skipped.thin > 0 {
        let message = format!(
            "{} faces with fewer than three corners were skipped",
            skipped.thin
        );
        doc.warn("faces_skipped", message);
    }
    if skipped.holes > 0 {
        let message = format!("{} hidden faces (holes) were skipped", skipped.holes);
        doc.warn("holes_skipped", message);
    }
    Ok(out)
}

fn instance(
    doc: &mut Document<'_>,
    node: &Node,
    mesh: &Mesh,
    skipped: &mut Skipped,
) -> Result<Option<Written>, IoError> {
    let place = quoted("mesh", &node.element.name);
    doc.spend(&place, 1, LEAST)?;
    let skin = skins::Skin::of(doc, node, mesh)?;
    // The matrices of a skin include the geometric transform.
    let into_node = match &skin {
        Some(_) => Affine::identity(),
        None => nodes::affine(&node.geometry_to_node),
    };
    let layers = Layers::of(mesh, &into_node);
    let vertices = Vertices::of(mesh, &layers).ok_or_else(|| {
        doc.malformed(
            place.as_str(),
            "a face corner without a vertex",
            "vertex indices in range, and fewer than 2^32 vertices",
        )
    })?;
    doc.spend(&place, vertices.len(), 12 + 12 + 16)?;
    doc.spend(
        &place,
        vertices.len(),
        8 * layers.uvs.len() + 16 * layers.colors.len(),
    )?;
    let positions = positions(doc, &place, mesh, &vertices, &into_node)?;
    let mirrors = into_node.linear.determinant() < 0.0;
    let (polygons, slots) = faces(mesh, &vertices, mirrors, skipped);
    if polygons.is_empty() {
        doc.warn(
            "mesh_without_faces",
            format!("{place} has no faces; it was skipped"),
        );
        return Ok(None);
    }
    let topology = polygon::topology(&positions, polygons, &mut doc.warnings)
        .map_err(|e| doc.malformed(place.as_str(), e.to_string(), "valid faces"))?;
    let attributes = attributes(doc, &positions, &layers, &vertices);
    let targets = shapes::write(doc, &place, mesh, &vertices, &into_node)?;
    let attributes = match &skin {
        Some(skin) => skin.weigh(doc, &place, attributes, &vertices)?,
        None => attributes,
    };
    let primitives = primitives(doc, node, &topology, &slots, &attributes, &targets);
    entries(doc, node, mesh, primitives, &targets);
    if let Some(skin) = skin {
        let skin = skin.write(doc, &node.element.name);
        doc.out.root["nodes"][nodes::index(node)]["skin"] = skin.into();
    }
    let is_split = vertices.len() > mesh.num_vertices;
    Ok(Some(Written {
        node: nodes::index(node),
        faces: Faces {
            topology: Arc::new(topology),
            points: if is_split {
                vertices.points
            } else {
                Vec::new()
            },
        },
        targets,
    }))
}

fn positions(
    doc: &Document<'_>,
    place: &str,
    mesh: &Mesh,
    vertices: &Vertices,
    into_node: &Affine<f64>,
) -> Result<Vec<[f32; 3]>, IoError> {
    let mut points = Vec::with_capacity(mesh.num_vertices);
    for (at, point) in mesh.vertices.iter().enumerate() {
        let p = into_node.point(nodes::vec3(point));
        let single = [p.x as f32, p.y as f32, p.z as f32];
        if !single.iter().all(|c| c.is_finite()) {
            let found = format!("{:?} as vertex {at}", [point.x, point.y, point.z]);
            return Err(doc.malformed(place, found, "finite coordinates"));
        }
        points.push(single);
    }
    let of = |point: &u32| points.get(*point as usize).copied();
    let all: Option<Vec<_>> = vertices.points.iter().map(of).collect();
    all.ok_or_else(|| doc.malformed(place, "a vertex without a position", "one per vertex"))
}

/// Polygons sorted by material, and the polygons of each material.
fn faces(
    mesh: &Mesh,
    vertices: &Vertices,
    mirrors: bool,
    skipped: &mut Skipped,
) -> (Polygons, Vec<(usize, Range<usize>)>) {
    let mut kept = Vec::with_capacity(mesh.faces.len());
    for (f, face) in mesh.faces.iter().enumerate() {
        if face.num_indices < 3 {
            skipped.thin += 1;
        } else if mesh.face_hole.get(f).is_some_and(|hole| *hole) {
            skipped.holes += 1;
        } else {
            kept.push((
                mesh.face_material.get(f).copied().unwrap_or(0) as usize,
                face,
            ));
        }
    }
    // Stable: the order of the file within a material.
    kept.sort_by_key(|k| k.0);
    let mut polygons = Polygons {
        offsets: vec![0],
        indices: Vec::with_capacity(mesh.num_indices),
    };
    let mut slots: Vec<(usize, Range<usize>)> = Vec::new();
    for (at, (slot, face)) in kept.into_iter().enumerate() {
        let start = face.index_begin as usize;
        let corners = start..start.saturating_add(face.num_indices as usize);
        let corners = vertices.of_corner.get(corners).unwrap_or_default();
        polygons.indices.extend_from_slice(corners);
        polygons.offsets.push(index32(polygons.indices.len()));
        match slots.last_mut() {
            Some((last, range)) if *last == slot => range.end = at + 1,
            _ => slots.push((slot, at..at + 1)),
        }
    }
    if mirrors {
        reverse(&mut polygons);
    }
    // Ranges of triangles: a polygon of n corners has n - 2.
    for (_, range) in &mut slots {
        let triangles = |face: usize| polygons.offsets[face] as usize - 2 * face;
        *range = triangles(range.start)..triangles(range.end);
    }
    (polygons, slots)
}

fn attributes(
    doc: &mut Document<'_>,
    positions: &[[f32; 3]],
    layers: &Layers<'_>,
    vertices: &Vertices,
) -> Value {
    let accessor = doc.floats(positions.as_flattened(), 3, "VEC3");
    if let Some((low, high)) = sinew_geom::bounds(positions) {
        doc.out.root["accessors"][accessor]["min"] = json!(low);
        doc.out.root["accessors"][accessor]["max"] = json!(high);
    }
    let mut out = json!({ "POSITION": accessor });
    if let Some(normals) = vertices.normals(layers) {
        out["NORMAL"] = doc.floats(&normals, 3, "VEC3").into();
    }
    if let Some(tangents) = vertices.tangents(layers) {
        out["TANGENT"] = doc.floats(&tangents, 4, "VEC4").into();
    }
    for (set, layer) in layers.uvs.iter().enumerate() {
        out[format!("TEXCOORD_{set}")] = doc.floats(&vertices.uvs(layer), 2, "VEC2").into();
    }
    for (set, layer) in layers.colors.iter().enumerate() {
        out[format!("COLOR_{set}")] = doc.floats(&vertices.colors(layer), 4, "VEC4").into();
    }
    out
}

/// One primitive per material. All share their vertices.
fn primitives(
    doc: &mut Document<'_>,
    node: &Node,
    topology: &Topology,
    slots: &[(usize, Range<usize>)],
    attributes: &Value,
    targets: &Targets,
) -> Vec<Value> {
    let mut out = Vec::new();
    for (slot, range) in slots {
        let triangles = &topology.triangles()[range.clone()];
        let mut bytes = Vec::with_capacity(triangles.len() * 12);
        // Writing to memory cannot fail.
        let _ = put_u32s(&mut bytes, triangles.as_flattened());
        let view = doc.out.view(&bytes);
        let accessor = json!({ "bufferView": view, "componentType": U32, "count": 3 * triangles.len(), "type": "SCALAR" });
        let accessor = doc.out.add("accessors", accessor);
        let mut primitive = json!({ "attributes": attributes, "indices": accessor });
        if let Some(material) = node.materials.get(*slot) {
            primitive["material"] = material.element.typed_id.into();
        }
        if !targets.entries.is_empty() {
            primitive["targets"] = json!(targets.entries);
        }
        out.push(primitive);
    }
    out
}

/// The mesh, and its node.
fn entries(
    doc: &mut Document<'_>,
    node: &Node,
    mesh: &Mesh,
    primitives: Vec<Value>,
    targets: &Targets,
) {
    let of_data = mesh.element.name.as_ref();
    let name = if of_data.is_empty() {
        node.element.name.as_ref()
    } else {
        of_data
    };
    let mut entry = json!({ "name": name, "primitives": primitives });
    if !targets.entries.is_empty() {
        entry["weights"] = json!(targets.defaults());
        entry["extras"] = json!({ "targetNames": targets.names });
    }
    let at = doc.out.add("meshes", entry);
    doc.out.root["nodes"][nodes::index(node)]["mesh"] = at.into();
}
