//! Simulation of strands of hair.
#![doc = include_str!("README.md")]

mod bind;
mod device;
mod followers;
#[cfg(test)]
mod force_tests;
mod frame;
mod job;
mod length;
mod node;
mod precision;
#[cfg(test)]
mod rest_tests;
pub(crate) mod roots;
mod settings;
mod shape;
mod simd;
mod state;
mod step;
mod strands_out;
#[cfg(test)]
pub(crate) mod test_scene;
#[cfg(test)]
mod tests;
mod thickness;
mod wind;

pub use crate::documented_hair_sim::{DocumentedJob, DocumentedSettings, DocumentedState};
pub(crate) use bind::BoundVertex;
pub use bind::{HairBind, HairBindError};
#[cfg(test)]
pub(crate) use followers::mixed;
pub use followers::{FollowerSettings, FollowersError, RootSkin, place_followers};
pub use job::{HairError, HairJob};
pub use node::DESC;
pub use precision::HairReal;
pub use settings::HairSettings;
pub(crate) use shape::shortest_arc;
pub use state::{HairState, HairStateError};
pub(crate) use strands_out::write_tangents;
pub use thickness::{thickness, thickness_profile};
