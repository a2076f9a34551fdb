//! Why a skin cannot be baked.

use crate::BakeError;
use sinew_geom::InfluencesError;
use sinew_io::IoError;

/// Why a skin cannot be baked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkinError {
    /// There is nothing to fit.
    #[error("{samples} samples of {vertices} vertices, expected one of each at least")]
    Nothing {
        /// Moments.
        samples: usize,
        /// Vertices of the character.
        vertices: usize,
    },
    /// Lists do not fit each other.
    #[error("{found} {what}, expected {expected}")]
    Counts {
        /// What was counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A sample holds a number that is none.
    #[error("{group}, sample {frame}: {what} {index} is not finite")]
    NotFinite {
        /// The clip, or `joint ranges`, or `rest` of rest positions.
        group: String,
        /// The sample of it, from 0.
        frame: usize,
        /// `joint`, `vertex`, `rest position of vertex` or `time`.
        what: &'static str,
        /// Which one.
        index: usize,
    },
    /// Samples of a clip make no sense.
    #[error("samples of '{name}': {found}, expected {expected}")]
    Group {
        /// The clip, or `joint ranges`.
        name: String,
        /// What there is.
        found: String,
        /// What there should be.
        expected: &'static str,
    },
    /// A weight is on a joint that is not there.
    #[error("a weight on joint {joint}, there are {joints}")]
    Joint {
        /// The joint.
        joint: u32,
        /// How many there are.
        joints: usize,
    },
    /// A setting makes no sense.
    #[error("{setting} is {found}, expected {expected}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// What was given.
        found: String,
        /// What would do.
        expected: &'static str,
    },
    /// Weights came out as no weights.
    #[error("fitted weights: {source}")]
    Weights {
        /// What is wrong.
        source: InfluencesError,
    },
    /// A file that was read back holds something else than was written.
    #[error("{file}: {found}, expected {expected}")]
    File {
        /// The file.
        file: String,
        /// What is in it.
        found: String,
        /// What should be.
        expected: String,
    },
    /// A file cannot be read or written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A picture or frames of the report.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// Somebody stopped the work.
    #[error("stopped; nothing was written")]
    Cancelled,
}
