//! Poses from matrices.

use crate::arrays::{TRANSPOSE, from_rows, is_affine};
use crate::character::joint_nodes;
use crate::errors::usage;
use numpy::{AllowTypeChange, PyArrayLikeDyn};
use pyo3::prelude::*;
use sinew::geom::{Affine, LocalTransform, Pose, Rig};

/// The space that matrices map joint space to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Space {
    /// Scene space.
    Scene,
    /// The space of the parent.
    Local,
    /// From rest positions to posed positions, both in scene space.
    Skin,
}

impl Space {
    pub(crate) fn parse(py: Python<'_>, word: &str) -> PyResult<Self> {
        match word {
            "scene" => Ok(Self::Scene),
            "local" => Ok(Self::Local),
            "skin" => Ok(Self::Skin),
            _ => {
                let message = format!("space: found '{word}', expected scene, local or skin");
                Err(usage(py, "space", message))
            }
        }
    }
}

/// Matrices of any float type, (..., joints, 4, 4).
pub(crate) type Matrices<'py> = PyArrayLikeDyn<'py, f64, AllowTypeChange>;

/// The joints that the matrices of a caller are for.
#[derive(Debug, Default)]
pub(crate) struct Joints {
    /// Their names; `None` for all.
    names: Option<Vec<String>>,
    nodes: Vec<usize>,
    /// Index of the matrix of each node.
    of_node: Vec<Option<usize>>,
}

impl Joints {
    /// Finds the joints, unless they are those of the last call.
    pub(crate) fn find(
        &mut self,
        py: Python<'_>,
        rig: &Rig,
        names: Option<Vec<String>>,
    ) -> PyResult<()> {
        if !self.of_node.is_empty() && self.names == names {
            return Ok(());
        }
        let nodes = match &names {
            None => joint_nodes(rig),
            Some(names) => {
                let find = |name: &String| {
                    let unknown = || {
                        let all = joint_nodes(rig);
                        let known = all.iter().map(|n| rig.nodes()[*n].name.as_str());
                        let help = sinew::geom::names::instead_of(name, known);
                        usage(
                            py,
                            "no_joint",
                            format!("there is no joint '{name}'; {help}"),
                        )
                    };
                    rig.find_node(name).ok_or_else(unknown)
                };
                names.iter().map(find).collect::<PyResult<Vec<_>>>()?
            }
        };
        self.of_node = vec![None; rig.nodes().len()];
        for (index, node) in nodes.iter().enumerate() {
            self.of_node[*node] = Some(index);
        }
        (self.names, self.nodes) = (names, nodes);
        Ok(())
    }

    pub(crate) fn count(&self) -> usize {
        self.nodes.len()
    }

    /// Sets the joints in a pose. `numbers` are 16 for each joint, row after row.
    pub(crate) fn set(&self, rig: &Rig, numbers: &[f64], space: Space, pose: &mut Pose) {
        let given = |node: usize| {
            let index = self.of_node[node]?;
            Some(from_rows(&numbers[index * 16..index * 16 + 16]))
        };
        match space {
            Space::Scene => rig.pose_in_scene(given, pose),
            Space::Skin => rig.pose_in_scene(|node| Some(given(node)? * bind(rig, node)?), pose),
            Space::Local => {
                for &node in &self.nodes {
                    if let Some(local) = given(node) {
                        pose.locals[node] = LocalTransform::Matrix(local);
                    }
                }
                rig.finish(pose);
            }
        }
    }
}

/// Maps joint space to scene space at bind.
fn bind(rig: &Rig, node: usize) -> Option<Affine<f64>> {
    let joint = rig.joints().iter().find(|j| j.node == node)?;
    joint.joint_from_bind.inverse()
}

/// One transform.
pub(crate) fn one_matrix(py: Python<'_>, matrix: &Matrices<'_>) -> PyResult<Affine<f64>> {
    let array = matrix.as_array();
    let flat: Vec<f64> = array.iter().copied().collect();
    let found = match array.shape() {
        [4, 4] if flat.iter().any(|n| !n.is_finite()) => "numbers that are not finite".to_owned(),
        [4, 4] if !is_affine(&flat) => format!("the last row {:?}", &flat[12..]),
        [4, 4] => return Ok(from_rows(&flat)),
        shape => format!("an array of shape {shape:?}"),
    };
    let message =
        format!("transform: found {found}, expected a (4, 4) matrix with the last row {TRANSPOSE}");
    Err(usage(py, "transform", message))
}

/// The numbers of matrices of this shape, row after row, whatever the layout of the array.
pub(crate) fn numbers(
    py: Python<'_>,
    matrices: &Matrices<'_>,
    shape: &[usize],
) -> PyResult<Vec<f64>> {
    let array = matrices.as_array();
    let found = array.shape();
    if found != shape {
        let expected = format!("an array of shape {shape:?}");
        let message = format!("matrices: found an array of shape {found:?}, expected {expected}");
        return Err(usage(py, "matrices", message));
    }
    let flat: Vec<f64> = array.iter().copied().collect();
    if let Some(i) = flat.iter().position(|n| !n.is_finite()) {
        let joint = i / 16 % shape[shape.len() - 3].max(1);
        let message = format!(
            "matrices: found {} in the matrix of joint {joint}, expected finite numbers",
            flat[i]
        );
        return Err(usage(py, "matrices", message));
    }
    let mut matrices = flat.chunks_exact(16);
    if let Some(i) = matrices.position(|m| !is_affine(m)) {
        let joint = i % shape[shape.len() - 3].max(1);
        let row = &flat[i * 16 + 12..i * 16 + 16];
        let message = format!(
            "matrices: found the last row {row:?} in the matrix of joint {joint}, expected {TRANSPOSE}"
        );
        return Err(usage(py, "matrices", message));
    }
    Ok(flat)
}

/// One name, or a list of names.
#[derive(FromPyObject)]
pub(crate) enum Names {
    One(String),
    Many(Vec<String>),
}

impl Names {
    pub(crate) fn list(self) -> Vec<String> {
        match self {
            Self::One(name) => vec![name],
            Self::Many(names) => names,
        }
    }
}
