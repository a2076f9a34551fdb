//! What a character has that graphs deform.

use super::draft::Draft;
use crate::geom::{Asset, Mesh};

/// Data of a character that a graph can deform.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    pub(super) has_mesh: bool,
    pub(super) is_morphed: bool,
    pub(super) is_skinned: bool,
    /// True if a vertex has weight on several joints. A mesh without a skin only follows its node.
    pub(super) is_blended: bool,
    pub(super) has_strands: bool,
    /// True if strands follow joints.
    pub(super) strands_follow: bool,
}

impl Shape {
    pub(super) fn of(asset: &Asset) -> Self {
        Self {
            has_mesh: !asset.meshes.is_empty(),
            is_morphed: is_morphed(asset),
            is_skinned: is_skinned(asset),
            is_blended: asset.meshes.iter().any(is_blended),
            has_strands: !asset.strands.is_empty(),
            strands_follow: follow_joints(asset, &asset.strands),
        }
    }

    /// Adds what the character has: inputs, morph targets, skinning, and outputs. Returns the name of the last node of the body.
    pub(super) fn add_to(&self, draft: &mut Draft) -> &'static str {
        let is_posed = self.is_morphed || self.is_skinned || self.strands_follow;
        let has_body = self.has_mesh || !self.has_strands;
        let inputs = [
            (has_body, r#""body": { "type": "mesh" }"#),
            (self.has_strands, r#""hair": { "type": "strands" }"#),
            (is_posed, r#""pose": { "type": "pose" }"#),
        ];
        let inputs = inputs.iter().filter(|i| i.0);
        draft.inputs.extend(inputs.map(|i| i.1.to_owned()));
        let mut body = "body";
        if self.is_morphed {
            draft.node(
                &[],
                r#""morph": { "node": "morph", "mesh": "body", "pose": "pose" }"#,
            );
            body = "morph";
        }
        if self.is_skinned {
            let text = format!(
                r#""skin": {{ "node": "skin", "method": "linear", "mesh": "{body}", "pose": "pose" }}"#
            );
            draft.node(&[], text);
            body = "skin";
        }
        let mut hair = "hair";
        if self.strands_follow {
            draft.node(&[], r#""hair_skin": { "node": "skin", "method": "linear", "mesh": "hair", "pose": "pose" }"#);
            hair = "hair_skin";
        }
        if self.has_strands {
            draft.outputs.push(format!(r#""hair": "{hair}""#));
        }
        if has_body {
            draft.outputs.push(format!(r#""body": "{body}""#));
        }
        body
    }
}

/// True if several joints share a vertex.
fn is_blended(mesh: &Mesh) -> bool {
    let influences = mesh.influences.as_ref();
    influences.is_some_and(|i| i.max_per_vertex() > 1)
}

/// True if node `skin` can bind: merged meshes keep joint weights only if all have them.
fn is_skinned(asset: &Asset) -> bool {
    follow_joints(asset, &asset.meshes)
}

fn follow_joints(asset: &Asset, meshes: &[Mesh]) -> bool {
    let all_bound = meshes.iter().all(|m| m.influences.is_some());
    // Joints that are only names have no position.
    let has_joints = !asset.rig.joints().is_empty() && !asset.joints_are_names;
    all_bound && !meshes.is_empty() && has_joints
}

/// True if node `morph` can bind: there are targets, and poses have a weight for each.
fn is_morphed(asset: &Asset) -> bool {
    let weights = asset.rig.morph_weight_count();
    let indices = |m: &Mesh| {
        (0..m.morph_targets.len())
            .map(|t| m.morph_weight_index(t))
            .max()
    };
    let last = asset.meshes.iter().filter_map(indices).max();
    last.is_some_and(|last| last < weights)
}
