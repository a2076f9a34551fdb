//! Nodes of the document, and their rest pose.

use super::document::{Document, quoted};
use crate::IoError;
use crate::gltf_write::push;
use serde_json::json;
use sinew_geom::nalgebra::Quaternion;
use sinew_geom::{Affine, Mat3, Quat, Trs, Vec3};
use std::collections::BTreeMap;
use ufbx::{Matrix, Node, Scene, Transform};

/// Relative difference up to which the pose of the file is the bind pose.
const SAME: f64 = 1e-6;
/// Relative error up to which translation, rotation and scale can express a bind pose.
const EXACT: f64 = 1e-5;

/// The rest pose of the document, one entry per node of the FBX scene.
pub(super) struct Rest {
    pub(super) locals: Vec<Trs>,
    /// Whether the rest pose is not that of the file. Clips then need keys for the pose of the file.
    pub(super) moved: Vec<bool>,
}

/// Index in the document. The root of an FBX scene is not a node of its own.
pub(super) fn index(node: &Node) -> usize {
    (node.element.typed_id as usize).saturating_sub(1)
}

/// Writes all nodes.
///
/// # Errors
/// [`IoError::Malformed`] for a transform that is not finite.
pub(super) fn write(doc: &mut Document<'_>, scene: &Scene) -> Result<Rest, IoError> {
    let rest = rest(doc, scene)?;
    for node in scene.nodes.iter().filter(|n| !n.is_root) {
        let t = &rest.locals[node.element.typed_id as usize];
        let entry = json!({
            "name": name(node),
            "translation": t.translation.as_slice(),
            "rotation": t.rotation.coords.as_slice(),
            "scale": t.scale.as_slice(),
        });
        let at = doc.out.add("nodes", entry);
        let parent = node.parent.as_ref().filter(|p| !p.is_root);
        let list = match parent {
            Some(parent) => &mut doc.out.root["nodes"][index(parent)]["children"],
            None => &mut doc.out.root["scenes"][0]["nodes"],
        };
        push(list, at.into());
    }
    Ok(rest)
}

fn name(node: &Node) -> String {
    match &node.parent {
        // The node that carries the scale of its parent, which children do not inherit.
        Some(parent) if node.is_scale_helper => format!("{}_scale", parent.element.name),
        _ => node.element.name.to_string(),
    }
}

/// The bind pose where clusters have one, else the pose of the file.
fn rest(doc: &Document<'_>, scene: &Scene) -> Result<Rest, IoError> {
    let bind = bind_pose(scene);
    let reach = scene
        .nodes
        .iter()
        .map(|n| translation(&n.node_to_world).norm());
    let reach = reach.fold(1e-3, f64::max);
    let count = scene.nodes.len();
    let mut scene_from_node = vec![Affine::identity(); count];
    let mut out = Rest {
        locals: vec![Trs::default(); count],
        moved: vec![false; count],
    };
    for node in scene.nodes.iter() {
        let id = node.element.typed_id as usize;
        let mut local = trs(&node.local_transform);
        if !affine_of(&local).is_finite() {
            let place = quoted("node", &node.element.name);
            return Err(doc.malformed(place, "a transform that is not finite", "finite numbers"));
        }
        let parent = node.parent.as_ref().map(|p| p.element.typed_id as usize);
        let parent = parent.map_or_else(Affine::identity, |p| scene_from_node[p]);
        let bound = bind.get(&node.element.typed_id);
        if let Some(moved) = bound.and_then(|b| bound_local(&parent, &local, b, reach)) {
            local = moved;
            out.moved[id] = true;
        }
        scene_from_node[id] = parent * affine_of(&local);
        out.locals[id] = local;
    }
    Ok(out)
}

/// Scene transform of each bone at bind, by the number of its node.
fn bind_pose(scene: &Scene) -> BTreeMap<u32, Affine<f64>> {
    let mut out = BTreeMap::new();
    for cluster in scene.skin_clusters.iter() {
        if let Some(bone) = &cluster.bone_node {
            let bind = affine(&cluster.bind_to_world);
            if bind.is_finite() && bind.linear.determinant() != 0.0 {
                out.entry(bone.element.typed_id).or_insert(bind);
            }
        }
    }
    out
}

/// The local transform that puts a node to its bind pose, if `local` does not, and if there is one.
fn bound_local(parent: &Affine<f64>, local: &Trs, bind: &Affine<f64>, reach: f64) -> Option<Trs> {
    let off = |local: &Trs, by: f64| {
        let at = *parent * affine_of(local);
        (at.linear - bind.linear).norm() > by * bind.linear.norm()
            || (at.translation - bind.translation).norm() > by * reach
    };
    if !off(local, SAME) {
        return None;
    }
    let parts = (parent.inverse()? * *bind).decompose(EXACT).ok()?;
    let found = Trs {
        translation: parts.translation,
        rotation: parts.rotation,
        scale: parts.scale,
    };
    let found = found.with_signs_of(local.scale);
    (!off(&found, EXACT)).then_some(found)
}

pub(super) fn trs(t: &Transform) -> Trs {
    let r = &t.rotation;
    let rotation = Quat::try_new(Quaternion::new(r.w, r.x, r.y, r.z), 1e-12);
    Trs {
        translation: vec3(&t.translation),
        rotation: rotation.unwrap_or_else(Quat::identity),
        scale: vec3(&t.scale),
    }
}

pub(super) fn affine_of(t: &Trs) -> Affine<f64> {
    Affine::from_trs(t.translation, t.rotation, t.scale)
}

pub(super) fn vec3(v: &ufbx::Vec3) -> Vec3<f64> {
    Vec3::new(v.x, v.y, v.z)
}

fn translation(m: &Matrix) -> Vec3<f64> {
    Vec3::new(m.m03, m.m13, m.m23)
}

pub(super) fn affine(m: &Matrix) -> Affine<f64> {
    Affine {
        linear: Mat3::new(
            m.m00, m.m01, m.m02, m.m10, m.m11, m.m12, m.m20, m.m21, m.m22,
        ),
        translation: translation(m),
    }
}
