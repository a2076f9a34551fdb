//! What the inputs of a plan are bound to.

use sinew_geom::{Mesh, Rig};
use sinew_vat::animation::VertexAnimation;
use std::sync::Arc;

/// The data that an input of the plan is bound to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum InputBinding {
    /// A mesh at rest.
    Mesh(Arc<Mesh>),
    /// A mesh at rest whose positions come with each frame ([`Frame::positions`](crate::Frame::positions)). Nodes bind to the rest mesh. Normals and tangents are
    /// recomputed where something reads them.
    AnimatedMesh(Arc<Mesh>),
    /// The rig of the poses that later frames pass in.
    Pose(Arc<Rig>),
    /// Nothing: each frame passes in floats.
    Values,
    /// Baked animations.
    VertexAnimation(Arc<VertexAnimation>),
}

impl InputBinding {
    /// The rest mesh of a mesh or strands input, animated or not.
    pub fn mesh(&self) -> Option<&Arc<Mesh>> {
        match self {
            Self::Mesh(mesh) | Self::AnimatedMesh(mesh) => Some(mesh),
            Self::Pose(_) | Self::Values | Self::VertexAnimation(_) => None,
        }
    }

    /// Whether positions of the mesh come with each frame.
    pub fn is_animated_mesh(&self) -> bool {
        matches!(self, Self::AnimatedMesh(_))
    }
}
