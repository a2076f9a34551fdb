//! Rotations of single joints, as samples in addition to clips.

use crate::geom::{Asset, LocalTransform, Pose, Quat, Vec3};
use serde_json::Value;
use std::collections::BTreeSet;

/// One joint rotated about one of its own axes, all others at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointRange {
    /// Index into [`crate::geom::Rig::nodes`].
    pub node: usize,
    /// 0 x, 1 y, 2 z.
    pub axis: usize,
    /// Rotation in degrees.
    pub degrees: f64,
}

/// Error of joint ranges.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum RangesError {
    /// The text is not a JSON object of joints.
    #[error("{location}: found {found}, expected {expected}")]
    Malformed {
        /// Name of the file and the joint.
        location: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// No vertices follow such a joint.
    #[error("no vertices follow a joint '{name}'; joints with vertices are {}", known.join(", "))]
    Joint {
        /// The requested name.
        name: String,
        /// Names of joints that vertices follow.
        known: Vec<String>,
    },
}

impl JointRange {
    /// Rotates a node of a pose, including one with a matrix.
    pub(super) fn apply(&self, node: usize, pose: &mut Pose) {
        let mut axis = Vec3::zeros();
        axis[self.axis.min(2)] = 1.0;
        let turn = Quat::new(axis * self.degrees.to_radians());
        match pose.locals.get_mut(node) {
            Some(LocalTransform::Trs(trs)) => trs.rotation *= turn,
            Some(LocalTransform::Matrix(m)) => m.linear *= turn.to_rotation_matrix().into_inner(),
            None => {}
        }
    }
}

/// Nodes of joints that vertices follow.
fn used_nodes(asset: &Asset) -> Vec<usize> {
    let rows = asset.meshes.iter().filter_map(|m| m.influences.as_ref());
    let joints = asset.rig.joints();
    let nodes = rows.flat_map(|i| i.joints().iter().map(|j| joints[*j as usize].node));
    let nodes: BTreeSet<usize> = nodes.collect();
    nodes.into_iter().collect()
}

/// Each joint that vertices follow, rotated by this angle about each of its axes in both directions; in the order of
/// joints and axes.
pub fn ranges_of(asset: &Asset, degrees: f64) -> Vec<JointRange> {
    let mut out = Vec::new();
    for node in used_nodes(asset) {
        for axis in 0..3 {
            let both = [degrees, -degrees].map(|degrees| JointRange {
                node,
                axis,
                degrees,
            });
            out.extend(both);
        }
    }
    out
}

/// Ranges from JSON: `{"elbow": {"x": [-10, 60, 120]}, "*": {"z": [-30, 30]}}`, degrees about each axis. `*` means all
/// joints that are not listed. `name` appears in errors.
///
/// # Errors
/// [`RangesError`].
pub fn ranges_from_json(
    asset: &Asset,
    text: &str,
    name: &str,
) -> Result<Vec<JointRange>, RangesError> {
    let malformed = |location: String, found: String, expected| RangesError::Malformed {
        location,
        found,
        expected,
    };
    let root: Value = serde_json::from_str(text)
        .map_err(|e| malformed(name.into(), e.to_string(), "a JSON object of joints"))?;
    let Some(joints) = root.as_object() else {
        let found = "no object".into();
        return Err(malformed(name.into(), found, "a JSON object of joints"));
    };
    let nodes = used_nodes(asset);
    let name_of = |n: usize| asset.rig.nodes()[n].name.as_str();
    let mut out = Vec::new();
    for (joint, axes) in joints {
        let is_meant = |n: usize| match joint.as_str() {
            "*" => !joints.contains_key(name_of(n)),
            named => name_of(n) == named,
        };
        let meant: Vec<usize> = nodes.iter().copied().filter(|n| is_meant(*n)).collect();
        if meant.is_empty() && joint != "*" {
            let known = nodes.iter().map(|n| name_of(*n).to_owned()).collect();
            let name = joint.clone();
            return Err(RangesError::Joint { name, known });
        }
        let location = || format!("{name}: '{joint}'");
        let Some(axes) = axes.as_object() else {
            return Err(malformed(location(), axes.to_string(), "an object of axes"));
        };
        for (axis, angles) in axes {
            let Some(number) = ["x", "y", "z"].iter().position(|a| a == axis) else {
                return Err(malformed(location(), format!("axis '{axis}'"), "x, y or z"));
            };
            let Some(angles) = numbers(angles) else {
                let found = format!("axis '{axis}' of {angles}");
                return Err(malformed(location(), found, "a list of degrees"));
            };
            for &node in &meant {
                out.extend(angles.iter().map(|&degrees| JointRange {
                    node,
                    axis: number,
                    degrees,
                }));
            }
        }
    }
    if out.is_empty() {
        return Err(malformed(
            name.into(),
            "no rotations".into(),
            "at least one",
        ));
    }
    Ok(out)
}

fn numbers(list: &Value) -> Option<Vec<f64>> {
    list.as_array()?.iter().map(Value::as_f64).collect()
}
