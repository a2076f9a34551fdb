#![doc = include_str!("../README.md")]
//!
//! # How they are made
//!
//! Arm, creature and head are smooth unions of round cones and ellipsoids (a signed distance field), polygonised by surface nets.
//! Their joint weights are the label of the nearest bone, diffused along the surface.

mod arm;
mod ball;
mod build;
mod creature;
mod drops;
mod field;
mod head;
mod nets;
mod sheet;
mod skeleton;

#[cfg(test)]
mod tests;

pub use arm::arm_with_hand;
pub use ball::ball;
pub use creature::creature;
pub use drops::{bending_blob, parting_drop};
pub use head::head;
pub use sheet::sheet;

use sinew_geom::Asset;

/// Why a sample could not be made; would be a mistake in this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// The triangles are wrong.
    #[error(transparent)]
    Topology(#[from] sinew_geom::TopologyError),
    /// The joint weights are wrong.
    #[error(transparent)]
    Influences(#[from] sinew_geom::InfluencesError),
    /// The node tree is wrong.
    #[error(transparent)]
    Rig(#[from] sinew_geom::RigError),
    /// The animation is wrong.
    #[error(transparent)]
    Clip(#[from] sinew_geom::ClipError),
    /// No hair grows.
    #[error(transparent)]
    Grow(#[from] sinew_geom::GrowError),
    /// Hair has nothing that tells it where to grow.
    #[error("the mesh is not painted")]
    NotPainted,
}

/// The samples without hair: arm, creature, ball.
///
/// # Errors
/// See [`SampleError`].
pub fn all() -> Result<Vec<Asset>, SampleError> {
    Ok(vec![arm_with_hand()?, creature()?, ball()?])
}
