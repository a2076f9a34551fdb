//! Reduces correctives of a pose driver to a few basis targets.
//!
//! Kry, James and Pai, "EigenSkin: real time large deformation character skinning in hardware", SCA 2002: the
//! displacements of all poses of a joint form a matrix. Mixes of its leading singular vectors approximate all
//! displacements; a pose is a few coefficients. As in the paper, each driver has its own basis, which is as sparse as
//! the motion of its joint. Differences:
//!
//! - The number of components follows from the largest allowed distance of any vertex in any pose, instead of a fixed
//!   number or a share of the energy.
//! - Displacements between the poses are mixes of those at the poses. This is linear and becomes part of the
//!   coefficients (`mix` of `drive_morphs`). The basis costs the same as ordinary targets.
//! - The mean of the poses is not subtracted: zero weights must give zero displacement.

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
#[cfg(feature = "bake")]
pub(crate) use groups::parts;
#[cfg(feature = "io")]
pub use made::{Compression, GraphPlaces, TargetMix, compress, compress_with};
#[cfg(feature = "io")]
pub use report::{GroupBasis, GroupReport, Kept, Unchanged};

/// Options of the compression.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompressOptions {
    /// Maximum distance of any vertex in any original target at weight 1, metres.
    pub tolerance: f64,
    /// Maximum number of components, even if the tolerance is not reached.
    pub components: Option<usize>,
    /// Offsets of basis targets shorter than this share of the tolerance are dropped, as long as the tolerance is kept.
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
