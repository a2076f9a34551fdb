//! Pose space deformation as authors work on it: drivers of a graph looked at, posed sculpts turned into correctives.
//!
//! What plays is the graph, see the nodes `pose_driver`, `drive_morphs` and `drive_joints`; this is for the time before.

pub mod check;
#[cfg(feature = "io")]
pub mod convert;
mod drivers;
mod extract;
pub mod fit;
pub mod sample;
#[cfg(test)]
mod tests;
#[cfg(feature = "io")]
mod write;

pub use drivers::{GraphDriver, drivers_of};
pub use extract::{
    Distances, ExtractError, ExtractOptions, ExtractReport, Extraction, Sculpt, SingularVertex,
    VertexDistance, extract_corrective,
};
#[cfg(feature = "io")]
pub use write::write_correctives;
