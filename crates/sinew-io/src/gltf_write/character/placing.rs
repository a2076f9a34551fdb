//! Which node carries a mesh, and what moves it.

use super::super::joints::{NewSkin, add_child, add_skin, used_joints};
use super::super::targets::push;
use super::{Placed, Work};
use crate::IoError;
use crate::fault::malformed;
use crate::gltf::read::bake_transform;
use serde_json::json;
use sinew_geom::{Affine, ChannelTarget, Influences, Mat3, Mesh, Rig};
use std::borrow::Cow;

/// Difference from the identity, relative to the distance from the origin, that is rounding.
const SAME: f64 = 1e-5;

impl Work<'_> {
    /// Rest weights of the targets of a mesh.
    pub(super) fn rest_weights(&self, mesh: &Mesh) -> Vec<f32> {
        let node = weights_node(&self.asset.rig, mesh);
        let weights = node.map(|n| self.asset.rig.nodes()[n].morph_weights.clone());
        weights.unwrap_or_else(|| vec![0.0; mesh.morph_targets.len()])
    }

    /// Finds the node of a mesh, or adds one, and the skin that moves the mesh, if the node does not.
    pub(super) fn placed<'m>(
        &mut self,
        index: usize,
        mesh: &'m Mesh,
    ) -> Result<Placed<'m>, IoError> {
        let wanted = self.carrier(index, mesh)?;
        let Some(rows) = &mesh.influences else {
            return self.unbound(mesh, wanted);
        };
        if let Some((node, node_from_bind)) = rigid(&self.asset.rig, rows)
            && wanted.is_none_or(|w| w == node)
        {
            // Readers name a mesh after its node.
            let is_own = wanted.is_some() || self.asset.rig.nodes()[node].name == mesh.name;
            return self.at_node(mesh, (node, is_own), &node_from_bind);
        }
        let used = used_joints(&self.doc, &self.asset.rig, rows, &mesh.name)?;
        let skin = match self.skins.get(&used) {
            Some(known) => known.clone(),
            None => {
                let skin = add_skin(&mut self.doc, Some, &self.asset.rig, &used)?;
                self.skins.entry(used).or_insert(skin).clone()
            }
        };
        Ok(Placed {
            node: self.node_or_new(wanted, mesh),
            mesh: Cow::Borrowed(mesh),
            skin: Some((skin, Cow::Borrowed(rows))),
        })
    }

    /// The node of the rig that carries a mesh, if the asset has one that is free.
    fn carrier(&self, index: usize, mesh: &Mesh) -> Result<Option<usize>, IoError> {
        let of_weights = weights_node(&self.asset.rig, mesh);
        if of_weights.is_some_and(|n| self.carries[n]) {
            return Err(malformed(
                self.path,
                format!("mesh '{}'", mesh.name),
                "the morph weights of a node that carries another mesh",
                "one node per mesh with morph targets",
            ));
        }
        let nodes = &self.asset.mesh_nodes;
        let is_whole = nodes.len() == self.asset.meshes.len();
        let known = nodes.get(index).filter(|_| is_whole).copied();
        let known = known.filter(|n| self.carries.get(*n) == Some(&false));
        Ok(of_weights.or(known))
    }

    /// A mesh that no joint moves. A node that moves only gives it weights.
    fn unbound<'m>(
        &mut self,
        mesh: &'m Mesh,
        wanted: Option<usize>,
    ) -> Result<Placed<'m>, IoError> {
        let wanted = wanted.filter(|_| !mesh.morph_targets.is_empty());
        let moves = wanted.is_some_and(|n| !self.is_still(n));
        let skin = match moves {
            true => Some((self.still_skin(), Influences::rigid(mesh.vertex_count(), 0))),
            false => None,
        };
        Ok(Placed {
            node: self.node_or_new(wanted, mesh),
            mesh: Cow::Borrowed(mesh),
            skin: skin.map(|(skin, rows)| (skin, Cow::Owned(rows))),
        })
    }

    /// A mesh in the space of the node that moves it: at this node if it is the mesh's own and free, else at a child.
    fn at_node<'m>(
        &mut self,
        mesh: &'m Mesh,
        (node, is_own): (usize, bool),
        node_from_bind: &Affine<f64>,
    ) -> Result<Placed<'m>, IoError> {
        let mut mesh = Cow::Borrowed(mesh);
        if *node_from_bind != Affine::identity() {
            bake_transform(mesh.to_mut(), node_from_bind).map_err(|what| {
                let place = format!("mesh '{}'", mesh.name);
                let found = format!("{what} that are not finite in the space of its node");
                malformed(self.path, place, found, "finite numbers")
            })?;
        }
        let node = match is_own && !self.carries[node] {
            true => {
                self.carries[node] = true;
                node
            }
            false => add_child(&mut self.doc, node, &mesh.name),
        };
        Ok(Placed {
            node,
            mesh,
            skin: None,
        })
    }

    fn node_or_new(&mut self, wanted: Option<usize>, mesh: &Mesh) -> usize {
        if let Some(node) = wanted {
            self.carries[node] = true;
            return node;
        }
        let node = self.doc.add("nodes", json!({ "name": mesh.name }));
        push(&mut self.doc.root["scenes"][0]["nodes"], node.into());
        node
    }

    /// True if a node is at the origin in all clips.
    fn is_still(&self, node: usize) -> bool {
        let nodes = self.asset.rig.nodes();
        let channels = self.asset.clips.iter().flat_map(|c| c.channels());
        let moved = |n: usize| {
            let mut of_node = channels.clone().filter(|c| c.node == n);
            of_node.any(|c| c.target != ChannelTarget::Weights)
        };
        let mut at = Some(node);
        while let Some(n) = at {
            if nodes[n].local.to_affine() != Affine::identity() || moved(n) {
                return false;
            }
            at = nodes[n].parent;
        }
        true
    }

    /// A skin of one joint that never moves.
    fn still_skin(&mut self) -> NewSkin {
        let node = self.doc.add("nodes", json!({ "name": "still" }));
        push(&mut self.doc.root["scenes"][0]["nodes"], node.into());
        NewSkin::of_node(&mut self.doc, node)
    }
}

/// The node with the weights of a mesh's morph targets.
fn weights_node(rig: &Rig, mesh: &Mesh) -> Option<usize> {
    let count = mesh.morph_targets.len();
    let has = |n: &sinew_geom::Node| {
        n.morph_weights.len() == count && n.morph_offset == mesh.morph_offset
    };
    let found = rig.nodes().iter().position(has);
    found.filter(|_| count > 0)
}

/// The node that moves all vertices, and node space from scene space at bind; `None` if there are several, or if the rest pose of the
/// node differs from its bind pose.
fn rigid(rig: &Rig, rows: &Influences) -> Option<(usize, Affine<f64>)> {
    let (&first, others) = rows.joints().split_first()?;
    if others.iter().any(|j| *j != first) || rows.max_per_vertex() != 1 {
        return None;
    }
    let joint = rig.joints().get(first as usize)?;
    let mut scene_from_node = Affine::identity();
    let mut at = Some(joint.node);
    while let Some(n) = at {
        scene_from_node = rig.nodes()[n].local.to_affine() * scene_from_node;
        at = rig.nodes()[n].parent;
    }
    let is_flat = scene_from_node.inverse().is_none_or(|i| !i.is_finite());
    let rest = scene_from_node * joint.joint_from_bind;
    let reach = 1.0 + scene_from_node.translation.norm();
    let is_rest =
        (rest.linear - Mat3::identity()).norm() <= SAME && rest.translation.norm() <= SAME * reach;
    // A node without extent cannot be inverted: its mesh stays in its space.
    let stays = is_flat && joint.joint_from_bind == Affine::identity();
    (is_rest || stays).then_some((joint.node, joint.joint_from_bind))
}
