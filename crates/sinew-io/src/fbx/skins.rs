//! Skins: clusters as joints and weights.
//!
//! Source for the link modes: Autodesk, *FBX SDK Help*, `FbxCluster::ELinkMode`, and the sample program `ViewScene`.

use super::document::{Document, quoted};
use super::geometry::Vertices;
use super::nodes;
use crate::IoError;
use crate::gltf_write::columns;
use serde_json::{Value, json};
use sinew_geom::Affine;
use std::collections::BTreeMap;
use ufbx::{Element, Mesh, Node, SkinCluster, SkinDeformer, SkinningMethod};

const U16: u32 = 5123;
const PER_SET: usize = 4;
/// Deviation of a sum of weights from 1 that is rounding.
const ROUNDING: f64 = 1e-4;

/// Whether the weights of some vertex do not add up to 1.
pub(super) fn is_uneven(skin: &SkinDeformer) -> bool {
    skin.vertices.iter().any(|v| {
        let start = v.weight_begin as usize;
        let row = skin
            .weights
            .get(start..start.saturating_add(v.num_weights as usize));
        let sum: f64 = row.unwrap_or_default().iter().map(|w| w.weight).sum();
        v.num_weights > 0 && (sum - 1.0).abs() > ROUNDING
    })
}

/// Joints of a mesh, and the weights of its points.
pub(super) struct Skin {
    /// Node in the document and joint space from the space of the stored positions.
    joints: Vec<(usize, Affine<f64>)>,
    /// `points + 1` offsets.
    offsets: Vec<usize>,
    weights: Vec<(u16, f32)>,
}

/// How the weights of a cluster count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LinkMode {
    /// They are divided by the sum of the vertex.
    Normalize,
    /// The rest up to 1 follows the node of the mesh.
    TotalOne,
    Additive,
}

impl Skin {
    /// All skins of a mesh as one; `None` without clusters.
    ///
    /// # Errors
    /// [`IoError`] with the name of the mesh.
    pub(super) fn of(
        doc: &mut Document<'_>,
        node: &Node,
        mesh: &Mesh,
    ) -> Result<Option<Self>, IoError> {
        let place = quoted("mesh", &node.element.name);
        let clusters: Vec<&SkinCluster> = mesh
            .skin_deformers
            .iter()
            .flat_map(|s| s.clusters.iter().map(AsRef::as_ref))
            .filter(|c| c.bone_node.is_some())
            .collect();
        warn(doc, &place, mesh, &clusters);
        if clusters.is_empty() {
            return Ok(None);
        }
        let (mut joints, mut joint_of) = (Vec::new(), Vec::new());
        let mut of_nodes = BTreeMap::new();
        for cluster in &clusters {
            let joint = (
                cluster.bone_node.as_ref().map_or(0, |b| nodes::index(b)),
                nodes::affine(&cluster.geometry_to_bone),
            );
            if !joint.1.is_finite() {
                let found = format!(
                    "a bind matrix of '{}' that is not finite",
                    cluster.element.name
                );
                return Err(doc.malformed(place, found, "finite numbers"));
            }
            let of_node: &mut Vec<usize> = of_nodes.entry(joint.0).or_default();
            let known = of_node.iter().find(|k| joints[**k] == joint).copied();
            let known = known.unwrap_or_else(|| {
                joints.push(joint);
                of_node.push(joints.len() - 1);
                joints.len() - 1
            });
            joint_of.push(known);
        }
        let rows = rows(doc, &place, mesh, &clusters, &joint_of)?;
        Ok(Some(rows.skin(doc, &place, node, joints)?))
    }

    /// Adds joints and weights to the attributes of a mesh.
    ///
    /// # Errors
    /// [`IoError::Malformed`] at the limit for unpacked data.
    pub(super) fn weigh(
        &self,
        doc: &mut Document<'_>,
        place: &str,
        mut attributes: Value,
        vertices: &Vertices,
    ) -> Result<Value, IoError> {
        let most = self.offsets.windows(2).map(|w| w[1] - w[0]).max();
        let sets = most.unwrap_or(0).max(1).div_ceil(PER_SET);
        doc.spend(place, vertices.len(), sets * PER_SET * 6)?;
        for set in 0..sets {
            let mut joints = Vec::with_capacity(vertices.len() * PER_SET * 2);
            let mut weights = Vec::with_capacity(vertices.len() * PER_SET);
            for &point in &vertices.points {
                let row = self.row(point as usize);
                for k in set * PER_SET..(set + 1) * PER_SET {
                    let (joint, weight) = row.get(k).copied().unwrap_or((0, 0.0));
                    joints.extend(joint.to_le_bytes());
                    weights.push(weight);
                }
            }
            let view = doc.out.view(&joints);
            let accessor = json!({ "bufferView": view, "componentType": U16, "count": vertices.len(), "type": "VEC4" });
            attributes[format!("JOINTS_{set}")] = doc.out.add("accessors", accessor).into();
            attributes[format!("WEIGHTS_{set}")] = doc.floats(&weights, PER_SET, "VEC4").into();
        }
        Ok(attributes)
    }

    fn row(&self, point: usize) -> &[(u16, f32)] {
        let ends = self.offsets.get(point).zip(self.offsets.get(point + 1));
        ends.map_or(&[], |(start, end)| &self.weights[*start..*end])
    }

    /// Adds the skin to the document, with the name of its mesh.
    pub(super) fn write(&self, doc: &mut Document<'_>, name: &str) -> usize {
        let nodes: Vec<usize> = self.joints.iter().map(|j| j.0).collect();
        let matrices: Vec<f32> = self.joints.iter().flat_map(|j| columns(&j.1)).collect();
        let matrices = doc.floats(&matrices, 16, "MAT4");
        let skin = json!({ "name": name, "joints": nodes, "inverseBindMatrices": matrices });
        doc.out.add("skins", skin)
    }
}

/// Weights of each point, before those of the node of the mesh.
struct Rows {
    offsets: Vec<usize>,
    weights: Vec<(usize, f64)>,
    is_total_one: bool,
}

fn rows(
    doc: &mut Document<'_>,
    place: &str,
    mesh: &Mesh,
    clusters: &[&SkinCluster],
    joint_of: &[usize],
) -> Result<Rows, IoError> {
    let count = mesh.num_vertices;
    let pairs = |c: &'_ SkinCluster| c.vertices.len().min(c.weights.len());
    let total = clusters.iter().map(|c| pairs(c)).sum();
    doc.spend(place, total, size_of::<(usize, f64)>())?;
    let mut offsets = vec![0_usize; count + 1];
    let mut beyond = 0_usize;
    for vertex in clusters
        .iter()
        .flat_map(|c| c.vertices.iter().take(pairs(c)))
    {
        match offsets.get_mut(*vertex as usize + 1) {
            Some(next) => *next += 1,
            None => beyond += 1,
        }
    }
    for k in 0..count {
        offsets[k + 1] += offsets[k];
    }
    let mut next = offsets.clone();
    let mut weights = vec![(0, 0.0); offsets[count]];
    for (cluster, joint) in clusters.iter().zip(joint_of) {
        for (&vertex, &weight) in cluster.vertices.iter().zip(cluster.weights.iter()) {
            if (vertex as usize) < count {
                let at = &mut next[vertex as usize];
                weights[*at] = (*joint, weight);
                *at += 1;
            }
        }
    }
    if beyond > 0 {
        let message = format!(
            "{place}: {beyond} weights belong to vertices that the mesh does not have; they are ignored"
        );
        doc.warn("weights_out_of_range", message);
    }
    let is_total_one = clusters
        .iter()
        .all(|c| link_mode(&c.element) == LinkMode::TotalOne);
    Ok(Rows {
        offsets,
        weights,
        is_total_one,
    })
}

impl Rows {
    /// Vertices without weights, and with total-one the rest up to 1, follow the node of the mesh.
    fn skin(
        self,
        doc: &Document<'_>,
        place: &str,
        node: &Node,
        mut joints: Vec<(usize, Affine<f64>)>,
    ) -> Result<Skin, IoError> {
        let own = joints.len();
        let mut out = Skin {
            joints: Vec::new(),
            offsets: vec![0],
            weights: Vec::with_capacity(self.weights.len()),
        };
        let mut uses_own = false;
        for (point, ends) in self.offsets.windows(2).enumerate() {
            let row = &self.weights[ends[0]..ends[1]];
            let mut sum = 0.0;
            for &(joint, weight) in row {
                if !weight.is_finite() {
                    let found = format!("the weight {weight} at vertex {point}");
                    return Err(doc.malformed(place, found, "finite weights"));
                }
                sum += weight.max(0.0);
                out.push(joint, weight);
            }
            let rest = if sum <= 0.0 { 1.0 } else { 1.0 - sum };
            if sum <= 0.0 || (self.is_total_one && rest > ROUNDING) {
                out.push(own, rest);
                uses_own = true;
            }
            out.offsets.push(out.weights.len());
        }
        if uses_own {
            joints.push((nodes::index(node), nodes::affine(&node.geometry_to_node)));
        }
        if joints.len() > usize::from(u16::MAX) {
            return Err(IoError::Unsupported {
                path: doc.path().to_owned(),
                location: place.to_owned(),
                feature: format!("a skin of {} joints", joints.len()),
                help: format!("use at most {} joints per mesh", u16::MAX),
            });
        }
        out.joints = joints;
        Ok(out)
    }
}

impl Skin {
    fn push(&mut self, joint: usize, weight: f64) {
        self.weights
            .push((u16::try_from(joint).unwrap_or(u16::MAX), weight as f32));
    }
}

fn link_mode(cluster: &Element) -> LinkMode {
    let mode = cluster.dom_node.as_ref().and_then(|dom| {
        let mode = dom.children.iter().find(|c| c.name.as_ref() == "Mode")?;
        mode.values.first()
    });
    match mode.map(|m| m.value_str.as_ref()) {
        Some("Total1" | "TotalOne") => LinkMode::TotalOne,
        Some("Additive") => LinkMode::Additive,
        _ => LinkMode::Normalize,
    }
}

fn warn(doc: &mut Document<'_>, place: &str, mesh: &Mesh, clusters: &[&SkinCluster]) {
    let uses = |method: fn(&SkinningMethod) -> bool| {
        mesh.skin_deformers
            .iter()
            .any(|s| method(&s.skinning_method))
    };
    if uses(|m| {
        matches!(
            m,
            SkinningMethod::DualQuaternion | SkinningMethod::BlendedDqLinear
        )
    }) {
        let message = format!(
            "{place} is skinned with dual quaternions in its program; the file's choice is not read: set `\"method\": \"dual_quaternion\"` at the node `skin`"
        );
        doc.warn("dual_quaternion_skin", message);
    }
    if mesh.skin_deformers.len() > 1 {
        let count = mesh.skin_deformers.len();
        let message = format!("{place} has {count} skins; their weights are combined");
        doc.warn("skins_combined", message);
    }
    if clusters
        .iter()
        .any(|c| link_mode(&c.element) == LinkMode::Additive)
    {
        let message = format!(
            "{place} has clusters of the link mode 'additive', which skins of joints and weights cannot express; their weights are normalised"
        );
        doc.warn("additive_clusters", message);
    }
    if clusters.is_empty() && !mesh.skin_deformers.is_empty() {
        let message = format!("{place} has a skin without bones; the mesh follows its node");
        doc.warn("skin_without_joints", message);
    }
}
