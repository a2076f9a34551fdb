//! Data that clips animate but no node of a plan reads.

use super::Character;
use crate::geom::{ChannelTarget, Clip, LocalTransform, Mesh, Rig, Warning};
use crate::graph::{ParameterSource, Plan, PlanNode, Takes};
use sinew_deform::{ParameterValue, PortType, drive_morphs, morph};
use std::collections::BTreeSet;

/// Parts of poses that the nodes of a plan read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PosesRead {
    joints: bool,
    morph_weights: bool,
    /// True if a node applies morph targets.
    morphs: bool,
    /// Morph targets whose weights drivers set instead of the clip.
    driven: BTreeSet<String>,
}

impl PosesRead {
    pub(super) fn of(plan: &Plan) -> Self {
        let linked = |node: &PlanNode, morph_weights: bool| {
            let ports = node.desc.inputs.iter().zip(&node.inputs);
            ports
                .filter(|(_, source)| source.is_some())
                .any(|(port, _)| port.ty == PortType::Pose && port.morph_weights == morph_weights)
        };
        let any = |weights| plan.nodes().iter().any(|n| linked(n, weights));
        let of_kind = |name| plan.nodes().iter().filter(move |n| n.desc.name == name);
        Self {
            joints: any(false) || plan.nodes().iter().any(follows_joints),
            morph_weights: any(true),
            morphs: of_kind(morph::DESC.name).next().is_some(),
            driven: of_kind(drive_morphs::DESC.name).flat_map(targets).collect(),
        }
    }
}

/// Whether a parameter of the node follows a joint.
fn follows_joints(node: &PlanNode) -> bool {
    node.parameters.iter().any(|source| match source {
        ParameterSource::Linked(link) => matches!(link.takes, Takes::Joint { .. }),
        _ => false,
    })
}

/// The morph targets of a `drive_morphs` node.
fn targets(node: &PlanNode) -> Vec<String> {
    let parameters = node.desc.parameters.iter().zip(&node.parameters);
    let own = parameters.filter(|(desc, _)| desc.name == "targets");
    own.filter_map(|(_, source)| match source {
        ParameterSource::Constant(ParameterValue::Texts(names)) => Some(names.to_vec()),
        _ => None,
    })
    .flatten()
    .collect()
}

/// Warnings about data that clips of `character` animate in `meshes` (its inputs of the plan) but the plan does not
/// read.
///
/// Searches clips until it finds one. Keys that equal the rest state do not count.
pub(super) fn warnings(character: &Character, meshes: &[&Mesh], read: &PosesRead) -> Vec<Warning> {
    let (asset, rig) = (&character.asset, &character.asset.rig);
    let mut out = Vec::new();
    if !read.morph_weights {
        for mesh in meshes {
            let found = asset.clips.iter().find_map(|clip| {
                let count = animated_targets(rig, clip, mesh, &read.driven);
                (count > 0).then_some((clip, count))
            });
            out.extend(found.map(|(clip, count)| Warning {
                code: "unread_morph_targets",
                message: format!(
                    "clip '{}' animates {count} of the {} morph targets of mesh '{}', but no node reads them; {}",
                    clip.name,
                    mesh.morph_targets.len(),
                    mesh.name,
                    match read.morphs {
                        true => "to use the clip, add \"pose\": \"pose\" to the node that gives the weights",
                        false => "add { \"node\": \"morph\" } before the skinning",
                    }
                ),
            }));
        }
    }
    if !read.joints {
        for mesh in meshes {
            let found = asset.clips.iter().find(|clip| moves(rig, clip, mesh));
            out.extend(found.map(|clip| Warning {
                code: "unread_joints",
                message: format!(
                    "clip '{}' moves joints of mesh '{}', but no node reads them; add {{ \"node\": \"skin\" }}",
                    clip.name, mesh.name
                ),
            }));
        }
    }
    out
}

/// A warning about expressions that were set although no node reads morph weights.
pub(super) fn expressions<'e>(
    read: &PosesRead,
    set: impl Iterator<Item = &'e str>,
) -> Option<Warning> {
    let names: Vec<String> = set.map(|name| format!("'{name}'")).collect();
    (!names.is_empty() && !read.morph_weights).then(|| Warning {
        code: "unread_expressions",
        message: format!(
            "expressions {} have no effect: no node reads morph weights; add {{ \"node\": \"morph\" }} before the skinning",
            names.join(", ")
        ),
    })
}

/// Number of morph targets with a key that differs from their rest weight, except driven ones.
fn animated_targets(rig: &Rig, clip: &Clip, mesh: &Mesh, driven: &BTreeSet<String>) -> usize {
    let mut animated = vec![false; rig.morph_weight_count()];
    for channel in clip.channels() {
        if channel.target != ChannelTarget::Weights {
            continue;
        }
        let node = &rig.nodes()[channel.node];
        let mut weights = node.morph_weights.clone();
        for &time in channel.times() {
            channel.sample_weights(f64::from(time), &mut weights);
            for (i, (now, rest)) in weights.iter().zip(&node.morph_weights).enumerate() {
                animated[node.morph_offset + i] |= (now - rest).abs() > 1e-6;
            }
        }
    }
    let targets = 0..mesh.morph_targets.len();
    let is_animated = |t: &usize| {
        animated.get(mesh.morph_weight_index(*t)) == Some(&true)
            && !driven.contains(&mesh.morph_targets[*t].name)
    };
    targets.filter(is_animated).count()
}

/// True if a joint with weight in the mesh, or one of its ancestors, has a key that differs from rest.
fn moves(rig: &Rig, clip: &Clip, mesh: &Mesh) -> bool {
    let Some(influences) = &mesh.influences else {
        return false;
    };
    let mut moved = vec![false; rig.nodes().len()];
    for channel in clip.channels() {
        if let LocalTransform::Trs(rest) = rig.nodes()[channel.node].local
            && channel.target != ChannelTarget::Weights
        {
            moved[channel.node] |= channel.times().iter().any(|&time| {
                let mut now = rest;
                channel.sample_trs(f64::from(time), &mut now);
                (now.translation - rest.translation).norm() > 1e-6 * (1.0 + rest.translation.norm())
                    || (now.scale - rest.scale).norm() > 1e-6
                    || now.rotation.angle_to(&rest.rotation) > 1e-6
            });
        }
    }
    for (i, node) in rig.nodes().iter().enumerate() {
        moved[i] |= node.parent.is_some_and(|p| moved[p]);
    }
    let joint_moves = |j: &u32| rig.joints().get(*j as usize).is_some_and(|j| moved[j.node]);
    let weighted = (0..mesh.vertex_count()).flat_map(|v| influences.row(v));
    weighted
        .filter(|(_, weight)| *weight > 0.0)
        .any(|(joint, _)| joint_moves(&joint))
}
