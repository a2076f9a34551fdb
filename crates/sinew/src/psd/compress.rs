//! Correctives of a pose driver reduced to a few basis targets.
//!
//! Kry, James and Pai, "EigenSkin: real time large deformation character skinning in hardware", SCA 2002: the displacements of all poses of
//! a joint make a matrix; its leading singular vectors are shapes whose mixtures give all of them, and a pose is a few
//! coefficients. As there, each driver has a basis of its own, so that a basis stays as sparse as what its joint moves. Where we differ:
//!
//! - How many components stay follows from the largest distance that any vertex may be off in any of the poses, not from a number
//!   or a share of the energy.
//! - Displacements between the poses are mixtures of those at the poses, as the driver has it; since all of that is linear, it goes into the
//!   coefficients (`mix` of `drive_morphs`), and the basis costs nothing more than targets do.
//! - The mean of the poses stays in: without weights there must be no displacement.

mod basis;
#[cfg(feature = "io")]
mod error;
#[cfg(feature = "io")]
mod groups;
#[cfg(feature = "io")]
mod made;
#[cfg(feature = "io")]
mod report;

pub use basis::{Basis, BasisReport, find_basis};
#[cfg(feature = "io")]
pub use error::CompressError;
#[cfg(feature = "io")]
pub(crate) use groups::parts;
#[cfg(feature = "io")]
pub use made::{Compression, GraphPlaces, TargetMix, compress, compress_with};
#[cfg(feature = "io")]
pub use report::{GroupBasis, GroupReport, Kept, Unchanged};

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompressOptions {
    /// How far any vertex may be off in any of the original targets at weight 1, metres.
    pub tolerance: f64,
    /// Components at most, even where the tolerance is not reached with so few.
    pub components: Option<usize>,
    /// Offsets of basis targets shorter than this share of the tolerance are left out, as long as the tolerance is kept.
    pub drop_share: f64,
}

impl Default for CompressOptions {
    fn default() -> Self {
        Self {
            tolerance: 1e-4,
            components: None,
            drop_share: 0.1,
        }
    }
}
