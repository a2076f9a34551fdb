//! Authoring tools for pose space deformation: checks of drivers, correctives from posed sculpts, compression of
//! correctives, and conversion of pose-driver files.
//!
//! The graph plays the result, with the nodes `pose_driver`, `drive_morphs` and `drive_joints`.

pub mod check;
mod compress;
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

#[cfg(feature = "bake")]
pub(crate) use compress::parts;
pub use compress::{Basis, BasisReport, CompressOptions, find_basis};
#[cfg(feature = "io")]
pub use compress::{
    CompressError, Compression, GraphPlaces, GroupBasis, GroupReport, Kept, TargetMix, Unchanged,
    compress, compress_with,
};
pub use drivers::{GraphDriver, drivers_of};
pub use extract::{
    Distances, ExtractError, ExtractOptions, ExtractReport, Extraction, Sculpt, SingularVertex,
    VertexDistance, extract_corrective,
};
#[cfg(feature = "io")]
pub use write::{write_compressed, write_correctives};
