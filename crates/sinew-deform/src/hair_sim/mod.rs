//! Simulation of strands of hair.
#![doc = include_str!("README.md")]
//!
//! # For developers
//!
//! In Rust, names in [`HairSettings`] end in their units, and the longest frame can be set.
//!
//! - `shape.rs` has the formulas of point 4, `length.rs` those of point 6, `step.rs` the constants of point 9. On the GPU see `device.rs`.
//! - The fast kernel runs eight strands side by side (`simd`). Double precision runs one strand at a time (`step.rs`): it is the reference.
//! - Directions, bends and tensions of point 4 are those from before `h v`, which goes to the right-hand side. Gravity alone takes a
//!   vertex 0.17 mm in a step, a good part of a short segment.
//! - Without point 9, strands that are held by the root and by a contact near the tip tremble, and some creep along a contact for a
//!   fifth of a second, snap over and creep again. A longer memory of the contact does not help: they touch all the time.
//! - `rest_tests.rs` asserts what comes to rest. Known cases that do not: on a ball of 10 cm, strands of 20 cm and 16 vertices that
//!   lead in by 30 degrees and more whirl at 5 to 9 m/s (with 32 vertices from 20 degrees on). With margins of 10 mm, some of 100
//!   strands of 64 vertices that lie flat on it go on at up to 2 m/s. Straight strands of 10 cm and 512 vertices go on at some metres a
//!   second.
//! - Strands of 0.1 to 0.2 m in the wind, on a ball that is shaken for two seconds, end at most 1.5 mm (60 Hz) and 4.5 mm (30 Hz) from
//!   those at 120 Hz: heads go by arcs between fewer poses.

mod bind;
mod device;
mod followers;
mod frame;
mod group;
mod job;
mod node;
mod precision;
mod presets;
pub(crate) mod roots;
mod settings;
mod state;
mod step;
mod strands_out;
#[cfg(test)]
pub(crate) mod test_scene;
#[cfg(test)]
mod tests;
mod thickness;
mod wind;
pub(crate) use bind::BoundVertex;
pub use bind::HairBind;
pub use bind::HairBindError;
#[cfg(test)]
pub(crate) use followers::mixed;
pub use followers::{FollowerSettings, FollowersError, RootSkin, place_followers};
pub use job::{HairError, HairJob};
pub use node::DESC;
pub use precision::HairReal;
pub use settings::{HairQuality, HairSettings};
pub use state::HairState;
pub use state::HairStateError;
pub(crate) use strands_out::write_tangents;
pub use thickness::{thickness, thickness_profile};
