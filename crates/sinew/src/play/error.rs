//! What can go wrong on the way from files to frames.

use super::values::ValuesError;
use crate::deform::hair_sim::FollowersError;
use crate::geom::SelectionError;
use crate::geom::names::instead_of;
use crate::graph::{BindError, ParameterError, StateError, UpdateError};
use crate::io::IoError;
use std::path::PathBuf;

/// Why a player's state could not be saved or brought back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateFault {
    /// There is nothing to save yet.
    #[error("no frame has been evaluated, so that there is no state to save")]
    NoFrame,
    /// The bytes are something else.
    #[error("this is not the saved state of a run")]
    Format,
    /// It does not belong here, or is damaged.
    #[error(transparent)]
    Instance(#[from] StateError),
    /// The graphics device failed.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Device(crate::gpu::GpuError),
}

/// One error for a state that does not fit, whichever device refused it.
#[cfg(feature = "gpu")]
impl From<crate::gpu::GpuError> for StateFault {
    fn from(error: crate::gpu::GpuError) -> Self {
        match error {
            crate::gpu::GpuError::State(why) => Self::Instance(why),
            other => Self::Device(other),
        }
    }
}

/// Why a character could not be loaded, bound or played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// A file could not be read.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A mesh input selects no mesh of its character.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// A file was given for an input that the graph does not have.
    #[error("the graph has no input '{name}'; it has {}", listed(.known))]
    NoInput {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A mesh input takes one mesh for all frames, not another one in each.
    #[error(
        "input '{input}' takes one mesh, {} is a sequence of {frames} frames: give it one of them; `sinew bake vat` takes all", .file.display()
    )]
    Sequence {
        /// Name of the input.
        input: String,
        /// The folder or the pattern.
        file: PathBuf,
        /// Meshes there are.
        frames: usize,
    },
    /// An input for a vertex animation names no file, and no character holds one.
    #[error(
        "input '{input}' takes a vertex animation: give it the \"file\" of a manifest (NAME.vat.json)"
    )]
    NoManifest {
        /// Name of the input.
        input: String,
    },
    /// A mesh or strands of one file are to follow the joints of another, which lacks some of them.
    #[error(
        "input '{input}': {} follows joints that {} does not have: {}", .file.display(), .character.display(), listed(.missing)
    )]
    Joints {
        /// Name of the input.
        input: String,
        /// File of the mesh or strands.
        file: PathBuf,
        /// Names of joints with weights that are not there.
        missing: Vec<String>,
        /// File of the character with the joints.
        character: PathBuf,
    },
    /// Followers could not be placed beside guides.
    #[error("input '{input}': {source}")]
    Followers {
        /// Name of the input.
        input: String,
        /// What was found and expected.
        source: FollowersError,
    },
    /// A state could not be saved or brought back.
    #[error(transparent)]
    State(#[from] StateFault),
    /// The character has no clip of that name.
    #[error("{} has no clip '{name}'; {}", .character.display(), instead_of(name, .known.iter().map(String::as_str)))]
    NoClip {
        /// File of the character.
        character: PathBuf,
        /// What was asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// A parameter cannot be set so.
    #[error("{name}={text}: {source}")]
    Setting {
        /// Name of the parameter.
        name: String,
        /// The value as given.
        text: String,
        /// What was found and expected.
        source: ParameterError,
    },
    /// Numbers for a values input are missing or do not fit.
    #[error(transparent)]
    Values(#[from] ValuesError),
    /// Graph and characters do not fit each other, or the processor cannot run the graph ([`BindError::DeviceOnly`]).
    #[error(transparent)]
    Bind(#[from] BindError),
    /// Frames cannot come that fast.
    #[error("{found} frames a second, expected a number above 0")]
    Fps {
        /// What was asked for.
        found: f64,
    },
    /// A frame was not evaluated.
    #[error("frame {frame}: {source}")]
    Update {
        /// Number of the frame.
        frame: i64,
        /// Why.
        source: RunError,
    },
    /// A frame was evaluated, but a position in it is infinite or not a number.
    #[error(
        "frame {frame}: vertex {vertex} of output '{output}' is not finite; check scales and parameters of the graph, and loops of its kernels that take too many turns"
    )]
    NotFinite {
        /// Number of the frame.
        frame: i64,
        /// Name of the mesh output.
        output: String,
        /// The first such vertex.
        vertex: usize,
    },
    /// The graphics device cannot run the graph, or failed.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Device(#[from] crate::gpu::GpuError),
}

/// Why a runner did not evaluate a frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// What came with the frame does not fit what was bound, or a node failed.
    #[error(transparent)]
    Frame(#[from] UpdateError),
    /// The graphics device failed.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Device(crate::gpu::GpuError),
}

/// One error for a frame that does not fit, whichever device refused it.
#[cfg(feature = "gpu")]
impl From<crate::gpu::GpuError> for RunError {
    fn from(error: crate::gpu::GpuError) -> Self {
        match error {
            crate::gpu::GpuError::Frame(why) => Self::Frame(why),
            other => Self::Device(other),
        }
    }
}

/// Names for a message.
pub(super) fn listed(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
