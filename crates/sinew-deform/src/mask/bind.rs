//! Setup: reads the sources that never change.

use super::reference::Shape;
use sinew_geom::names::expected_joint;
use sinew_geom::{Mesh, Rig};

/// Why a mask could not be set up.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum MaskBindError {
    /// No attribute of that name.
    #[error("mesh '{mesh}' has no attribute '{name}'; its attributes: {found}")]
    NoAttribute {
        /// Name of the mesh.
        mesh: String,
        /// What was asked for.
        name: String,
        /// The names there are.
        found: String,
    },
    /// The attribute has fewer components, or does not cover every vertex.
    #[error(
        "attribute '{name}' has no component {component} at every one of the {vertex_count} vertices"
    )]
    NoComponent {
        /// Name of the attribute.
        name: String,
        /// Which component.
        component: usize,
        /// Vertices of the mesh.
        vertex_count: usize,
    },
    /// No colour set of that number.
    #[error("colour set {set} does not exist; the mesh has {found} colour sets, counted from 0")]
    NoColorSet {
        /// What was asked for.
        set: usize,
        /// How many there are.
        found: usize,
    },
    /// No joint names.
    #[error("'joints' is empty; list the joints whose weights form the mask")]
    NoJoints,
    /// No joint of that name.
    #[error("the skeleton has no joint '{name}'; expected {expected}")]
    UnknownJoint {
        /// What was asked for.
        name: String,
        /// Similar names.
        expected: String,
    },
    /// The mesh has no joint weights.
    #[error("mesh '{mesh}' has no joint weights for a mask")]
    NoInfluences {
        /// Name of the mesh.
        mesh: String,
    },
}

/// Source of a mask.
#[derive(Clone, Debug)]
pub enum MaskSource {
    /// One weight for all vertices, given in each frame.
    Constant,
    /// One weight per vertex, read in setup.
    Values(Vec<f32>),
    /// A volume, placed in each frame.
    Shape(Shape),
}

/// Component `component` of attribute `name`.
///
/// # Errors
/// Where there is no such attribute or component.
pub(crate) fn from_attribute(
    mesh: &Mesh,
    name: &str,
    component: usize,
) -> Result<Vec<f32>, MaskBindError> {
    let attribute = mesh
        .attributes
        .get(name)
        .ok_or_else(|| MaskBindError::NoAttribute {
            mesh: mesh.name.clone(),
            name: name.to_owned(),
            found: list(mesh.attributes.keys().map(String::as_str)),
        })?;
    (0..mesh.vertex_count())
        .map(|v| attribute.component(v, component))
        .collect::<Option<Vec<f32>>>()
        .ok_or_else(|| MaskBindError::NoComponent {
            name: name.to_owned(),
            component,
            vertex_count: mesh.vertex_count(),
        })
}

/// Channel `channel` (0 red to 3 alpha) of colour set `set`.
///
/// # Errors
/// Where there is no such set.
pub(crate) fn from_color(
    mesh: &Mesh,
    set: usize,
    channel: usize,
) -> Result<Vec<f32>, MaskBindError> {
    let colors = mesh
        .colors
        .get(set)
        .filter(|c| c.len() == mesh.vertex_count())
        .ok_or(MaskBindError::NoColorSet {
            set,
            found: mesh.colors.len(),
        })?;
    Ok(colors.iter().map(|c| c[channel.min(3)]).collect())
}

/// Sum of each vertex's weights for the named joints.
///
/// # Errors
/// Where a joint or the weights are missing.
pub(crate) fn from_joints(
    mesh: &Mesh,
    rig: &Rig,
    names: &[String],
) -> Result<Vec<f32>, MaskBindError> {
    if names.is_empty() {
        return Err(MaskBindError::NoJoints);
    }
    let mut chosen = vec![false; rig.joints().len()];
    for name in names {
        // Several skins over one tree list a joint several times.
        let mut found = false;
        for (joint, chosen) in chosen.iter_mut().enumerate() {
            if rig.joint_name(joint) == name {
                (*chosen, found) = (true, true);
            }
        }
        if !found {
            return Err(MaskBindError::UnknownJoint {
                name: name.clone(),
                expected: expected_joint(name, (0..chosen.len()).map(|j| rig.joint_name(j))),
            });
        }
    }
    let influences = mesh
        .influences
        .as_ref()
        .filter(|i| i.vertex_count() == mesh.vertex_count())
        .ok_or_else(|| MaskBindError::NoInfluences {
            mesh: mesh.name.clone(),
        })?;
    let is_chosen = |j: u32| chosen.get(j as usize).copied().unwrap_or(false);
    Ok((0..mesh.vertex_count())
        .map(|v| {
            let row = influences.row(v).filter(|r| is_chosen(r.0));
            row.map(|r| r.1).sum()
        })
        .collect())
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = names.collect();
    if all.is_empty() {
        "none".to_owned()
    } else {
        all.join(", ")
    }
}
