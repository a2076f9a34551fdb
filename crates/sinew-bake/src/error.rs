//! Why a bake cannot go on.

use sinew_io::IoError;
use sinew_vat::layout::LayoutError;
use sinew_vat::matching::SlotsError;
use sinew_vat::plan::PlanError;
use sinew_vat::prepare::PrepareError;
use sinew_vat::quantity::Quantity;
use sinew_vat::soft::SoftError;
use std::path::PathBuf;

/// Why a bake cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BakeError {
    /// A file cannot be read or written, or is wrong.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A frame could not be made by what gives the frames.
    #[error("frame {number}: {message}")]
    Frame {
        /// Its number.
        number: i64,
        /// What happened.
        message: String,
    },
    /// A frame has a number that is none.
    #[error("frame {number}, vertex {vertex}: {found} is no finite {what}")]
    NotFinite {
        /// Number of the frame.
        number: i64,
        /// Index of the vertex.
        vertex: usize,
        /// `position` or the name of an attribute.
        what: String,
        /// What is there.
        found: f32,
    },
    /// The settings of the preparation make no sense.
    #[error("prepare: {0}")]
    Preparation(#[source] PrepareError),
    /// A frame could not be prepared.
    #[error("frame {number}: {source}")]
    Prepare {
        /// Its number.
        number: i64,
        /// Why.
        source: PrepareError,
    },
    /// The sequence has no frames.
    #[error("{name}: no frames, nothing to bake")]
    NoFrames {
        /// Name of the sequence.
        name: String,
    },
    /// There is no layout, or a frame does not fit the others.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The vertices fit into no texture.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// The mode asks for triangles that stay the same, and they do not.
    #[error("frame {number}: {source}; mode remesh takes frames whose triangles change")]
    NotSoft {
        /// Number of the frame.
        number: i64,
        /// What differs.
        source: SoftError,
    },
    /// A quantity that this mode does not have.
    #[error("mode {mode} has no texture of {quantity:?}: {help}")]
    Quantity {
        /// The mode.
        mode: &'static str,
        /// What was asked for.
        quantity: Quantity,
        /// What there is in place of it.
        help: &'static str,
    },
    /// Matches do not belong together; they were changed behind our back.
    #[error(transparent)]
    Slots(#[from] SlotsError),
    /// A job file that is no such thing, or a folder without a bake.
    #[error("{}: {message}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where and what.
        message: String,
    },
    /// A step before this one is not done.
    #[error("{}: no {what} of frames {frames}; run `{step}` for them first", folder.display())]
    Missing {
        /// The work folder.
        folder: PathBuf,
        /// Which records.
        what: &'static str,
        /// For which frames, by index from 0.
        frames: String,
        /// What makes them.
        step: &'static str,
    },
    /// A picture of the report could not be drawn.
    #[error("picture of the report: {0}")]
    Picture(#[from] sinew_picture::PictureError),
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
    /// Somebody stopped the work; what is done stays in the work folder.
    #[error("stopped; what is done is kept, the same command goes on from there")]
    Cancelled,
}
