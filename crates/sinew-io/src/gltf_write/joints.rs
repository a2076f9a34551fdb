//! Skins of new meshes: joints, inverse bind matrices, weights of vertices.

use super::strands::{columns, floats};
use super::targets::{Appended, push};
use crate::IoError;
use serde_json::{Value, json};
use sinew_geom::{Influences, Rig};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

const U16: u32 = 5123;
/// Influences per attribute set.
const PER_SET: usize = 4;
/// Joints that the integers of `JOINTS_n` can tell apart.
const MOST_JOINTS: usize = 1 << 16;

/// A skin of the document.
#[derive(Clone, Debug)]
pub(super) struct NewSkin {
    pub(super) index: usize,
    /// For each joint of the rig that it has: its index in the skin.
    entries: BTreeMap<u32, u16>,
}

impl NewSkin {
    /// A skin of one joint, number 0, whose bind space is the space of the scene.
    pub(super) fn of_node(file: &mut Appended<'_>, node: usize) -> Self {
        let skin = json!({ "joints": [node] });
        Self {
            index: file.add("skins", skin),
            entries: BTreeMap::from([(0, 0)]),
        }
    }
}

/// The joints that a mesh follows, increasing.
///
/// # Errors
/// [`IoError::Malformed`] for joints that the rig lacks; [`IoError::Unsupported`] for more than glTF can number.
pub(super) fn used_joints(
    file: &Appended<'_>,
    rig: &Rig,
    rows: &Influences,
    mesh: &str,
) -> Result<Vec<u32>, IoError> {
    let used: BTreeSet<u32> = rows.joints().iter().copied().collect();
    let place = format!("mesh '{mesh}'");
    let count = rig.joints().len();
    if let Some(joint) = used.last().filter(|j| **j as usize >= count) {
        let found = format!("a weight on joint {joint}");
        return Err(file.malformed(&place, &found, &format!("a joint below {count}")));
    }
    if used.len() > MOST_JOINTS {
        return Err(file.unsupported(
            place,
            format!(
                "a mesh that follows {} joints (glTF allows {MOST_JOINTS})",
                used.len()
            ),
            "split the mesh",
        ));
    }
    Ok(used.into_iter().collect())
}

/// Adds a skin of these joints. A node can be in a skin once: further joints of a node get a child that stays at its parent.
///
/// # Errors
/// [`IoError::Malformed`] if the document lacks the node of a joint.
pub(super) fn add_skin(
    file: &mut Appended<'_>,
    node_of_rig: impl Fn(usize) -> Option<usize>,
    rig: &Rig,
    used: &[u32],
) -> Result<NewSkin, IoError> {
    let (mut nodes, mut matrices) = (Vec::new(), Vec::new());
    let mut taken = BTreeSet::new();
    let mut entries = BTreeMap::new();
    for (&joint, entry) in used.iter().zip(0_u32..) {
        let of = &rig.joints()[joint as usize];
        let Some(mut node) = node_of_rig(of.node) else {
            let found = format!("node {} of the rig, which the file lacks", of.node);
            return Err(file.malformed(&format!("joint {joint}"), &found, "a node of the file"));
        };
        if !taken.insert(node) {
            node = add_child(file, node, &format!("{}#2", rig.nodes()[of.node].name));
        }
        // The number of joints was checked.
        entries.insert(joint, u16::try_from(entry).unwrap_or(u16::MAX));
        nodes.push(node);
        matrices.extend(columns(&of.joint_from_bind));
    }
    let matrices = floats(file, &matrices, 16, "MAT4");
    let skin = json!({ "joints": nodes, "inverseBindMatrices": matrices });
    Ok(NewSkin {
        index: file.add("skins", skin),
        entries,
    })
}

/// Adds a node that stays at its parent.
pub(super) fn add_child(file: &mut Appended<'_>, parent: usize, name: &str) -> usize {
    let node = file.add("nodes", json!({ "name": name }));
    push(&mut file.root["nodes"][parent]["children"], node.into());
    node
}

/// Adds joints and weights of the vertices in `range`, four per set.
pub(super) fn weigh(
    file: &mut Appended<'_>,
    attributes: &mut Value,
    rows: &Influences,
    range: Range<usize>,
    skin: &NewSkin,
) {
    let most = rows.max_per_vertex();
    for set in 0..most.div_ceil(PER_SET) {
        let (mut joints, mut weights) = (Vec::new(), Vec::new());
        for v in range.clone() {
            let mut row = rows.row(v).skip(set * PER_SET);
            for _ in 0..PER_SET {
                let (joint, weight) = row.next().unwrap_or((u32::MAX, 0.0));
                let entry = skin.entries.get(&joint).copied().unwrap_or(0);
                joints.extend(entry.to_le_bytes());
                weights.push(weight);
            }
        }
        let view = file.view(&joints);
        let accessor = json!({ "bufferView": view, "componentType": U16, "count": range.len(), "type": "VEC4" });
        attributes[format!("JOINTS_{set}")] = file.add("accessors", accessor).into();
        attributes[format!("WEIGHTS_{set}")] = floats(file, &weights, PER_SET, "VEC4").into();
    }
}
