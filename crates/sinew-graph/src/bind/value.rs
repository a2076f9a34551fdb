//! What is on a link while a graph is being bound.

use crate::plan::PlanNode;
use sinew_deform::{MESH_ATTRIBUTES, MeshEffect};
use sinew_geom::Mesh;

/// Where something is, before buffers are assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Location {
    /// An attribute of a rest mesh.
    Rest(usize),
    /// What a step writes: index into the layout's virtual buffers.
    Virtual(usize),
    /// Handed in with each frame: index into the plan's inputs.
    Input(usize),
}

/// A mesh on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeshValue {
    /// Index of its authored rest mesh.
    pub(super) rest: usize,
    /// `None` where it has none.
    pub(super) attributes: [Option<Location>; MESH_ATTRIBUTES],
    /// Whether the attribute no longer fits the positions.
    pub(super) stale: [bool; MESH_ATTRIBUTES],
}

/// A mask, values, lines or a field on a link.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrayValue {
    pub(super) location: Location,
    pub(super) len: usize,
}

/// What is on a link.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value {
    Mesh(MeshValue),
    Pose {
        /// The pose input whose rig it is of.
        input: usize,
        location: Location,
    },
    Array(ArrayValue),
    /// Nothing that steps read: setup has taken what it needs.
    VertexAnimation {
        /// The input that it is bound to.
        input: usize,
    },
}

impl MeshValue {
    /// A mesh input.
    pub(super) fn authored(rest: usize, mesh: &Mesh) -> Self {
        let has = [
            true,
            mesh.normals.is_some(),
            mesh.tangents.is_some(),
            !mesh.colors.is_empty(),
        ];
        Self {
            rest,
            attributes: has.map(|has| has.then_some(Location::Rest(rest))),
            stale: [false; MESH_ATTRIBUTES],
        }
    }

    pub(super) fn is_fresh(&self, attribute: usize) -> bool {
        self.attributes[attribute].is_some() && !self.stale[attribute]
    }
}

/// The mesh that passes through to an output.
pub(super) fn mesh_input(
    node: &PlanNode,
    inputs: &[Option<Value>],
    effect: &MeshEffect,
) -> Option<MeshValue> {
    let of_port = |port: &sinew_deform::PortDesc| port.name == effect.from;
    let index = node.desc.inputs.iter().position(of_port)?;
    match inputs.get(index)?.as_ref()? {
        Value::Mesh(m) => Some(*m),
        _ => None,
    }
}
