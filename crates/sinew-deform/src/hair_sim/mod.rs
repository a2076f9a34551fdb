//! Simulation of strands of hair.
#![doc = include_str!("README.md")]

mod bind;
mod device;
mod documented;
mod followers;
mod job;
mod length;
mod node;
mod settings;
mod shape;
mod state;
mod step;
mod strands_out;
#[cfg(test)]
pub(crate) mod test_scene;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_documented;
mod wind;

pub use bind::{HairBind, HairBindError, thickness};
pub use documented::{DocumentedJob, DocumentedSettings, DocumentedState};
pub use followers::{FollowersError, place_followers};
pub use job::{HairError, HairJob};
pub use node::DESC;
pub use settings::HairSettings;
pub use state::{HairState, HairStateError};
pub(crate) use strands_out::write_tangents;
