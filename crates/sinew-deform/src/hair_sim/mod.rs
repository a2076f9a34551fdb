//! Simulation of strands of hair.
#![doc = include_str!("README.md")]
//!
//! # For developers
//!
//! In Rust, names in [`HairSettings`] end in their units, and the longest frame can be set.
//!
//! The step is in `strand_step`, whose head compares it with the one before; this module takes strands from the state to it and back:
//! `job.rs` a frame, `frame.rs` its tasks, `group.rs` strands side by side, `settings.rs` the laws, `bind.rs` what follows from the rest
//! shape, `detail.rs` which strands are shown. On the GPU see `device.rs`.

mod bind;
mod detail;
#[cfg(test)]
mod detail_tests;
mod device;
#[cfg(test)]
mod drive_tests;
mod followers;
mod frame;
mod group;
mod job;
mod node;
mod precision;
mod presets;
mod reach;
#[cfg(test)]
mod rest_tests;
pub(crate) mod roots;
mod settings;
mod state;
mod strands_out;
#[cfg(test)]
pub(crate) mod test_scene;
#[cfg(test)]
mod tests;
mod thickness;
mod volume;
#[cfg(test)]
mod volume_tests;
mod wind;
pub(crate) use bind::BoundVertex;
pub use bind::HairBind;
pub use bind::HairBindError;
pub use followers::{FollowerSettings, FollowersError, RootSkin, place_followers};
pub use job::{HairError, HairJob};
pub use node::DESC;
pub use precision::HairReal;
pub use settings::{HairQuality, HairSettings};
pub use state::HairState;
pub use state::HairStateError;
pub(crate) use strands_out::write_tangents;
pub use thickness::{thickness, thickness_profile};
