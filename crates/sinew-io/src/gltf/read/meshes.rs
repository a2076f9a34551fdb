//! One mesh per node with geometry: primitives joined, in scene space at bind.

use super::document::{Document, Warnings};
use super::nodes::Tree;
use super::primitive::{self, Primitive};
use super::sharing;
use super::skins::Skin;
use super::{PrimitiveVertices, morphs, space};
use crate::IoError;
use crate::file_box::is_lossy;
use crate::strand_checks::repeated_points;
use sinew_geom::{
    Affine, Attribute, Influences, InfluencesError, Joint, Mesh, MeshPart, Strands, Topology,
    index32, smooth_normals, vec3,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The meshes of all nodes.
#[derive(Debug, Default)]
pub(super) struct Meshes {
    pub(super) meshes: Vec<Mesh>,
    /// Content of line primitives.
    pub(super) strands: Vec<Mesh>,
    /// File node of each entry of `strands`.
    pub(super) strand_nodes: Vec<usize>,
    /// File node of each entry of `meshes`.
    pub(super) nodes: Vec<usize>,
    /// Per mesh: scene space at bind from the space of the stored positions.
    pub(super) bind_from_file: Vec<Affine<f64>>,
    /// Per mesh: the vertices of each primitive.
    pub(super) primitives: Vec<Vec<PrimitiveVertices>>,
}

/// Repairs of skin weights, over all meshes.
#[derive(Debug)]
struct Hygiene {
    unnormalised: usize,
    smallest_sum: f64,
    empty: usize,
}

/// Reads the meshes of all nodes. Nodes without a skin get their own joint in `palette`.
pub(super) fn read(
    doc: &Document,
    tree: &Tree,
    skins: &[Skin],
    palette: &mut Vec<Joint>,
    warnings: &mut Warnings,
) -> Result<Meshes, IoError> {
    let mut hygiene = Hygiene {
        unnormalised: 0,
        smallest_sum: f64::INFINITY,
        empty: 0,
    };
    let mut all = Meshes::default();
    let mut budget = super::MAX_VERTICES;
    check_meshes(doc)?;
    let runs = sharing::runs(doc);
    for (rig, &file) in tree.file_from_rig.iter().enumerate() {
        let Some(mesh) = doc.root.nodes[file].mesh else {
            continue;
        };
        if !tree.in_scene[rig] {
            warnings.push(
                "mesh_outside_scene",
                format!(
                    "node '{}' is not part of the scene; its mesh was skipped",
                    tree.nodes[rig].name
                ),
            );
            continue;
        }
        let mut primitives = Vec::new();
        for run in &runs[mesh.value()] {
            primitives.extend(primitive::read(
                doc,
                mesh.value(),
                run,
                &mut budget,
                warnings,
            )?);
        }
        if primitives.is_empty() {
            continue;
        }
        let skin = skin_of(doc, file, &primitives, skins, warnings)?;
        let placing = Placing::new(tree, rig, skin, palette);
        let (lines, faces): (Vec<_>, Vec<_>) =
            primitives.into_iter().partition(|p| p.strands.is_some());
        for mut primitives in [lines, faces] {
            if primitives.is_empty() {
                continue;
            }
            let influences = influences(doc, &mut primitives, &placing, &mut hygiene)?;
            // Users know the name of the node. The name of the data is often generated (`Cube.125`).
            let data_name = doc.root.meshes[mesh.value()].name.clone();
            let data_name = data_name.unwrap_or_else(|| format!("mesh_{}", mesh.value()));
            let of_node = doc.root.nodes[file].name.as_ref().filter(|n| !n.is_empty());
            let name = of_node.unwrap_or(&data_name).clone();
            let places = places(doc, mesh.value(), &primitives);
            let mut out = join(doc, mesh.value(), name, primitives, warnings)?;
            if out.name != data_name {
                out.data_name = data_name;
            }
            out.influences = Some(influences);
            let baked = space::bake(&mut out, &placing.bind_from_file).map_err(|what| {
                doc.malformed(
                    format!("nodes[{file}].mesh"),
                    format!("{what} that are not finite in scene space"),
                    "finite numbers; reduce the scale of the nodes",
                )
            })?;
            warn_of_rounding(&out, baked, &tree.nodes[rig].name, warnings);
            if out.topology.strands().is_some() {
                warnings.0.extend(repeated_points(&out));
                all.strands.push(out);
                all.strand_nodes.push(file);
                continue;
            }
            all.meshes.push(out);
            all.nodes.push(file);
            all.primitives.push(places);
            all.bind_from_file.push(placing.bind_from_file);
        }
    }
    report(&hygiene, warnings);
    Ok(all)
}

/// Warns if a node is so far from the origin that single precision is coarse. `loss` is the largest rounding error in
/// metres.
fn warn_of_rounding(mesh: &Mesh, loss: f64, node: &str, warnings: &mut Warnings) {
    let Some((low, high)) = sinew_geom::bounds(&mesh.positions) else {
        return;
    };
    let diagonal = vec3::distance(low.map(f64::from), high.map(f64::from));
    if is_lossy(loss, diagonal) {
        let farthest = low.iter().chain(&high).fold(0.0_f32, |m, c| m.max(c.abs()));
        warnings.push(
            "positions_rounded",
            format!(
                "node '{node}' places '{}' up to {farthest:.0} m from the origin; in single precision, its vertices move by up to {:.3} mm; move the node to the origin",
                mesh.name,
                loss * 1e3
            ),
        );
    }
}

/// Checks for every mesh, used or not.
fn check_meshes(doc: &Document) -> Result<(), IoError> {
    for (index, mesh) in doc.root.meshes.iter().enumerate() {
        let targets = |p: &gltf_json::mesh::Primitive| p.targets.as_ref().map_or(0, Vec::len);
        let Some(first) = mesh.primitives.first() else {
            return Err(doc.malformed(
                format!("meshes[{index}].primitives"),
                "no primitives",
                "at least one",
            ));
        };
        let odd = |p: &gltf_json::mesh::Primitive| targets(p) != targets(first);
        if let Some(k) = mesh.primitives.iter().position(odd) {
            return Err(doc.malformed(
                format!("meshes[{index}].primitives[{k}].targets"),
                format!("{} targets", targets(&mesh.primitives[k])),
                format!("{} as in the first primitive", targets(first)),
            ));
        }
    }
    Ok(())
}

/// Space of a mesh and the joints that move it.
struct Placing {
    bind_from_file: Affine<f64>,
    /// First joint and joint count of the skin; `None` if a single joint carries the mesh.
    skin: Option<Skin>,
    rigid_joint: u32,
}

impl Placing {
    fn new(tree: &Tree, rig: usize, skin: Option<&Skin>, palette: &mut Vec<Joint>) -> Self {
        if let Some(skin) = skin {
            return Self {
                bind_from_file: skin.bind_from_file,
                skin: Some(skin.clone()),
                rigid_joint: 0,
            };
        }
        let scene_from_node = tree.scene_from_node[rig];
        // A node with scale zero at rest cannot be inverted: its mesh stays in node space.
        let inverse = scene_from_node.inverse().filter(Affine::is_finite);
        let rigid_joint = index32(palette.len());
        palette.push(Joint {
            node: rig,
            joint_from_bind: inverse.unwrap_or_default(),
        });
        Self {
            bind_from_file: inverse.map_or_else(Affine::identity, |_| scene_from_node),
            skin: None,
            rigid_joint,
        }
    }
}

/// The skin of a mesh, if both the node and the vertices have skin data.
fn skin_of<'a>(
    doc: &Document,
    file: usize,
    primitives: &[Primitive],
    skins: &'a [Skin],
    warnings: &mut Warnings,
) -> Result<Option<&'a Skin>, IoError> {
    let bound = primitives.iter().filter(|p| !p.joints.is_empty()).count();
    let Some(index) = doc.root.nodes[file].skin else {
        if bound > 0 {
            warnings.push(
                "joints_without_skin",
                format!(
                    "nodes[{file}] has a mesh with JOINTS_0 but no skin; the weights are ignored"
                ),
            );
        }
        return Ok(None);
    };
    let Some(skin) = skins.get(index.value()) else {
        let location = format!("nodes[{file}].skin");
        return Err(doc.no_such(&location, "skins", index.value(), skins.len()));
    };
    if bound == 0 {
        warnings.push(
            "skin_without_joints",
            format!(
                "nodes[{file}] has a skin, but its mesh has no JOINTS_0; the mesh follows the node"
            ),
        );
        return Ok(None);
    }
    if let Some(p) = primitives.iter().find(|p| p.joints.is_empty()) {
        return Err(doc.malformed(
            format!("{}.attributes", p.location),
            "no JOINTS_0",
            "joints and weights as in the other primitives of the skinned mesh",
        ));
    }
    Ok(Some(skin))
}

fn influences(
    doc: &Document,
    primitives: &mut [Primitive],
    placing: &Placing,
    hygiene: &mut Hygiene,
) -> Result<Influences, IoError> {
    let Some(skin) = &placing.skin else {
        let vertices = primitives.iter().map(|p| p.positions.len()).sum();
        return Ok(Influences::rigid(vertices, placing.rigid_joint));
    };
    let first = index32(skin.joints.start);
    let mut out: Option<Influences> = None;
    for p in primitives {
        let (joints, weights) = (
            std::mem::take(&mut p.joints),
            std::mem::take(&mut p.weights),
        );
        let (rows, unnormalised, empty) =
            Influences::from_sets(&joints, &weights, first, skin.joints.len())
                .map_err(|e| weight_error(doc, &p.location, &e))?;
        hygiene.unnormalised += unnormalised.len();
        hygiene.empty += empty.len();
        for &v in &unnormalised {
            let row = weights.iter().flat_map(|set| set[v as usize]);
            let sum: f64 = row.map(|w| f64::from(w.max(0.0))).sum();
            hygiene.smallest_sum = hygiene.smallest_sum.min(sum);
        }
        match &mut out {
            None => out = Some(rows),
            Some(all) => all.extend(&rows),
        }
    }
    Ok(out.unwrap_or_default())
}

fn weight_error(doc: &Document, location: &str, error: &InfluencesError) -> IoError {
    match error {
        InfluencesError::JointOutOfRange {
            vertex,
            joint,
            joint_count,
        } => doc.malformed(
            format!("{location}.attributes.JOINTS_n"),
            format!("joint {joint} at vertex {vertex}"),
            format!("a joint below {joint_count}"),
        ),
        other => doc.malformed(
            format!("{location}.attributes.WEIGHTS_n"),
            other.to_string(),
            "finite weights",
        ),
    }
}

fn report(hygiene: &Hygiene, warnings: &mut Warnings) {
    if hygiene.unnormalised > 0 {
        warnings.push(
            "weights_not_normalised",
            format!(
                "the weights of {} vertices do not add up to 1 (smallest sum {:.3}); they were normalised",
                hygiene.unnormalised, hygiene.smallest_sum
            ),
        );
    }
    if hygiene.empty > 0 {
        warnings.push(
            "weights_zero",
            format!(
                "{} vertices have no weight above 0; they follow the first joint of their skin",
                hygiene.empty
            ),
        );
    }
}

/// The vertices of each primitive of a mesh after joining; empty for primitives that are not read.
fn places(doc: &Document, mesh: usize, primitives: &[Primitive]) -> Vec<PrimitiveVertices> {
    let mut out = vec![PrimitiveVertices::default(); doc.root.meshes[mesh].primitives.len()];
    let mut base = 0;
    for p in primitives {
        let end = base + p.positions.len();
        for face in &p.faces {
            out[face.index] = PrimitiveVertices {
                stored: p.stored,
                vertices: base..end,
                rows: p.rows.clone(),
            };
        }
        base = end;
    }
    out
}

/// Appends. Moves the first list without a copy.
fn append<T>(to: &mut Vec<T>, mut from: Vec<T>) {
    if to.is_empty() {
        *to = from;
    } else {
        to.append(&mut from);
    }
}

/// Joins all primitives to one mesh. Primitives that share their vertices become parts over one vertex range. Attribute
/// sets that some primitives lack are filled (UV 0, colour white). Primitives without normals are flat: next to others
/// they get smooth normals, which nodes can transform. Tangents and user attributes that some primitives lack are
/// dropped with a warning.
fn join(
    doc: &Document,
    mesh: usize,
    name: String,
    mut primitives: Vec<Primitive>,
    warnings: &mut Warnings,
) -> Result<Mesh, IoError> {
    let mut out = Mesh {
        name: name.clone(),
        ..Mesh::default()
    };
    out.morph_targets = morphs::read(doc, mesh, &primitives)?;
    drop_partial(mesh, &mut primitives, warnings);
    let uv_sets = primitives.iter().map(|p| p.uvs.len()).max().unwrap_or(0);
    let color_sets = primitives.iter().map(|p| p.colors.len()).max().unwrap_or(0);
    out.uvs.resize(uv_sets, Vec::new());
    out.colors.resize(color_sets, Vec::new());
    let (mut faces, mut strands) = (Vec::new(), Vec::new());
    let any_normals = primitives.iter().any(|p| p.normals.is_some());
    for mut p in primitives {
        let (base, count) = (out.positions.len(), p.positions.len());
        let base32 = index32(base);
        let flat_shaded = p.strands.is_none() && p.normals.is_none();
        if flat_shaded && any_normals {
            doc.spend(&p.location, count, 12)?;
            let triangles: Vec<[u32; 3]> = p
                .faces
                .iter()
                .flat_map(|f| f.triangles.iter().copied())
                .collect();
            p.normals = Some(smooth_normals(&p.positions, &triangles));
        }
        for mut face in std::mem::take(&mut p.faces) {
            if base > 0 {
                let shift = |t: &mut [u32; 3]| *t = t.map(|v| v + base32);
                face.triangles.iter_mut().for_each(shift);
            }
            faces.push((face, base..base + count, flat_shaded));
        }
        if p.strands.is_some() {
            out.parts.push(MeshPart {
                name: name.clone(),
                source_mesh: mesh,
                material: p.material,
                vertices: base..base + count,
                triangles: 0..0,
                flat_shaded: false,
            });
        }
        let missing = (uv_sets - p.uvs.len()) * 8 + (color_sets - p.colors.len()) * 16;
        doc.spend(&p.location, count, missing)?;
        p.uvs.resize(uv_sets, vec![[0.0; 2]; count]);
        p.colors.resize(color_sets, vec![[1.0; 4]; count]);
        strands.extend(p.strands.into_iter().flatten());
        append(&mut out.positions, p.positions);
        if let Some(normals) = p.normals {
            append(out.normals.get_or_insert_default(), normals);
        }
        if let Some(tangents) = p.tangents {
            append(out.tangents.get_or_insert_default(), tangents);
        }
        for (to, from) in out.uvs.iter_mut().zip(p.uvs) {
            append(to, from);
        }
        for (to, from) in out.colors.iter_mut().zip(p.colors) {
            append(to, from);
        }
        for (name, from) in p.attributes {
            match (out.attributes.get_mut(&name), from) {
                (Some(Attribute::Scalar(to)), Attribute::Scalar(v)) => append(to, v),
                (Some(Attribute::Vec2(to)), Attribute::Vec2(v)) => append(to, v),
                (Some(Attribute::Vec3(to)), Attribute::Vec3(v)) => append(to, v),
                (Some(Attribute::Vec4(to)), Attribute::Vec4(v)) => append(to, v),
                (Some(_), _) => {}
                (None, from) => {
                    out.attributes.insert(name, from);
                }
            }
        }
    }
    // Parts stay in the order of the file.
    faces.sort_by_key(|f| f.0.index);
    let mut triangles = Vec::new();
    for (face, vertices, flat_shaded) in faces {
        out.parts.push(MeshPart {
            name: name.clone(),
            source_mesh: mesh,
            material: face.material,
            vertices,
            triangles: triangles.len()..triangles.len() + face.triangles.len(),
            flat_shaded,
        });
        append(&mut triangles, face.triangles);
    }
    let vertices = index32(out.positions.len());
    let wrong =
        |found: String| doc.malformed(format!("meshes[{mesh}]"), found, "indices of its vertices");
    out.topology = Arc::new(if strands.is_empty() {
        Topology::new(vertices, triangles).map_err(|e| wrong(e.to_string()))?
    } else {
        Topology::from_strands(Strands::new(strands).map_err(|e| wrong(e.to_string()))?)
    });
    Ok(out)
}

/// User attributes that a primitive lacks, or has in another shape than the first primitive that has it.
fn partial_attributes(primitives: &[Primitive]) -> BTreeSet<String> {
    // In one pass: thousands of primitives may each have different names.
    let mut found: BTreeMap<&String, (std::mem::Discriminant<Attribute>, usize)> = BTreeMap::new();
    for (name, attribute) in primitives.iter().flat_map(|p| &p.attributes) {
        let shape = std::mem::discriminant(attribute);
        let entry = found.entry(name).or_insert((shape, 0));
        entry.1 += usize::from(entry.0 == shape);
    }
    found
        .into_iter()
        .filter(|(_, (_, count))| *count < primitives.len())
        .map(|(name, _)| name.clone())
        .collect()
}

/// Removes attributes that not every primitive has in the same shape.
fn drop_partial(mesh: usize, primitives: &mut [Primitive], warnings: &mut Warnings) {
    let mut dropped = Vec::new();
    let in_all = |has: fn(&Primitive) -> bool| primitives.iter().all(has);
    let in_any = |has: fn(&Primitive) -> bool| primitives.iter().any(has);
    let mixed = |has: fn(&Primitive) -> bool| in_any(has) && !in_all(has);
    if mixed(|p| p.tangents.is_some()) {
        primitives.iter_mut().for_each(|p| p.tangents = None);
        dropped.push("TANGENT".to_owned());
    }
    let partial = partial_attributes(primitives);
    if !partial.is_empty() {
        for p in primitives {
            p.attributes.retain(|name, _| !partial.contains(name));
        }
    }
    dropped.extend(partial);
    if !dropped.is_empty() {
        warnings.push(
            "attributes_dropped",
            format!(
                "some primitives of meshes[{mesh}] lack {}; dropped from the mesh",
                dropped.join(", ")
            ),
        );
    }
}
