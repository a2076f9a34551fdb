//! Pose space deformation as authors work on it: drivers of a graph looked at, posed sculpts turned into correctives.
//!
//! What plays is the graph, see the nodes `pose_driver`, `drive_morphs` and `drive_joints`; this is for the time before.

pub mod check;
mod drivers;
pub mod fit;
pub mod sample;

pub use drivers::{GraphDriver, drivers_of};

#[cfg(test)]
mod tests;
