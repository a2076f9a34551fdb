//! Errors of loading, binding and playing.

use super::values::ValuesError;
use crate::deform::hair_sim::FollowersError;
use crate::geom::SelectionError;
use crate::geom::names::{closest, instead_of};
use crate::graph::{BindError, ParameterError, StateError, UpdateError};
use crate::io::IoError;
use std::path::{Path, PathBuf};

/// Error of saving or restoring a player's state.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateFault {
    /// No frame was evaluated yet.
    #[error("no frame has been evaluated yet; there is no state to save")]
    NoFrame,
    /// The bytes are not a saved state.
    #[error("this is not a saved state of Sinew")]
    Format,
    /// The state does not match this graph, or is damaged.
    #[error(transparent)]
    Instance(#[from] StateError),
    /// GPU error.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Device(crate::gpu::GpuError),
}

/// One error for a state that does not match, on the CPU and the GPU.
#[cfg(feature = "gpu")]
impl From<crate::gpu::GpuError> for StateFault {
    fn from(error: crate::gpu::GpuError) -> Self {
        match error {
            crate::gpu::GpuError::State(why) => Self::Instance(why),
            other => Self::Device(other),
        }
    }
}

/// Error of loading, binding or playing a character.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// A file could not be read.
    #[error(transparent)]
    Io(#[from] IoError),
    /// A mesh input selects no mesh of its character.
    #[error("input '{input}': {source}")]
    Selection {
        /// Name of the input.
        input: String,
        /// What the character has.
        source: SelectionError,
    },
    /// A file was given for an input that the graph does not have.
    #[error("{}", no_input("input", .name, .known))]
    NoInput {
        /// The requested name.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// The character of a mesh input is a sequence in memory. Graphs read sequences from files.
    #[error(
        "input '{input}' takes one mesh, but '{}' is a sequence of {frames} frames in memory; load it from its files", .file.display()
    )]
    Sequence {
        /// Name of the input.
        input: String,
        /// Name of the character.
        file: PathBuf,
        /// Number of frames.
        frames: usize,
    },
    /// Positions or a point cache were given for an input that is no mesh or strands input of the graph.
    #[error("{}{}", prefix(.file.as_deref()), no_input("mesh input", .name, .known))]
    NoMeshInput {
        /// The requested name.
        name: String,
        /// The point cache; `None` for positions.
        file: Option<PathBuf>,
        /// The mesh and strands inputs.
        known: Vec<String>,
    },
    /// Too many or too few positions were given for an input.
    #[error("input '{input}': found {found} positions, expected {expected}, one for each vertex")]
    PositionCount {
        /// Name of the input.
        input: String,
        /// Positions given.
        found: usize,
        /// Vertices of the mesh.
        expected: usize,
    },
    /// A position that was given for an input is NaN or infinite.
    #[error(
        "input '{input}': the position of vertex {vertex} is {found:?}, expected finite numbers"
    )]
    PositionNotFinite {
        /// Name of the input.
        input: String,
        /// Index of the first such vertex.
        vertex: usize,
        /// Its position.
        found: [f32; 3],
    },
    /// A point cache was given for the main character, but no input takes a mesh of it.
    #[error(
        "{}: the graph takes no mesh from the main character; name the input that the point cache is for: INPUT={}", .file.display(), .file.display()
    )]
    UnusedPointCache {
        /// The point cache.
        file: PathBuf,
    },
    /// A point cache has other points than the mesh.
    #[error(
        "input '{input}': {} has {found} points, but the mesh of {} has {}; use the rest mesh that the point cache was exported with (export it as OBJ or PLY: a GLB has extra vertices at seams)",
        .file.display(), .mesh.display(), vertices_and_points(*.vertices, *.points)
    )]
    PointCount {
        /// Name of the input.
        input: String,
        /// The point cache.
        file: PathBuf,
        /// Points in the cache.
        found: usize,
        /// File of the rest mesh.
        mesh: PathBuf,
        /// Vertices of the rest mesh.
        vertices: usize,
        /// Points in the file of the rest mesh, before vertices were split at seams.
        points: usize,
    },
    /// An input for a vertex animation has no file, and no character contains one.
    #[error(
        "input '{input}' takes a vertex animation; set its \"file\" to a manifest (NAME.vat.json)"
    )]
    NoManifest {
        /// Name of the input.
        input: String,
    },
    /// A mesh or strands of one file follow the joints of another character, which lacks some of them.
    #[error(
        "input '{input}': {} follows joints that {} does not have: {}", .file.display(), .character.display(), listed(.missing)
    )]
    Joints {
        /// Name of the input.
        input: String,
        /// File of the mesh or strands.
        file: PathBuf,
        /// Names of missing joints with weights.
        missing: Vec<String>,
        /// File of the character with the joints.
        character: PathBuf,
    },
    /// Followers could not be created.
    #[error("input '{input}': {source}")]
    Followers {
        /// Name of the input.
        input: String,
        /// What was found and expected.
        source: FollowersError,
    },
    /// A state could not be saved or restored.
    #[error(transparent)]
    State(#[from] StateFault),
    /// The character has no clip with this name.
    #[error("{} has no clip '{name}'; {}", .character.display(), instead_of(name, .known.iter().map(String::as_str)))]
    NoClip {
        /// File of the character.
        character: PathBuf,
        /// The requested name.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// The main character has no expression with this name.
    #[error("{} has no expression '{name}'; {}", .character.display(), instead_of(name, .known.iter().map(String::as_str)))]
    NoExpression {
        /// File of the character.
        character: PathBuf,
        /// The requested name.
        name: String,
        /// The existing names.
        known: Vec<String>,
    },
    /// The weight of an expression is NaN or infinite.
    #[error("expression '{name}': found the weight {found}, expected a number from 0 to 1")]
    ExpressionWeight {
        /// Name of the expression.
        name: String,
        /// The weight.
        found: f32,
    },
    /// The value of a parameter is invalid.
    #[error("{name}={text}: {source}")]
    Setting {
        /// Name of the parameter.
        name: String,
        /// The value as given.
        text: String,
        /// What was found and expected.
        source: ParameterError,
    },
    /// Values of a values input are missing or do not match.
    #[error(transparent)]
    Values(#[from] ValuesError),
    /// Graph and characters do not match.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The frame rate is not above 0.
    #[error("found {found} frames per second, expected a number above 0")]
    Fps {
        /// The requested frame rate.
        found: f64,
    },
    /// A frame could not be read from a point cache.
    #[error("frame {frame}: {source}")]
    PointCache {
        /// Frame number.
        frame: i64,
        /// The reason.
        source: IoError,
    },
    /// A frame could not be evaluated.
    #[error("frame {frame}: {source}")]
    Update {
        /// Frame number.
        frame: i64,
        /// The reason.
        source: RunError,
    },
    /// An evaluated position is infinite or NaN.
    #[error(
        "frame {frame}: vertex {vertex} of output '{output}' is not finite; check scales and parameters of the graph, and loops in its kernels with too many iterations"
    )]
    NotFinite {
        /// Frame number.
        frame: i64,
        /// Name of the mesh output.
        output: String,
        /// The first such vertex.
        vertex: usize,
    },
    /// The GPU cannot run the graph, or failed.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Device(#[from] crate::gpu::GpuError),
}

/// Error of a runner that evaluates a frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Data of the frame does not match the bound graph, or a node failed.
    #[error(transparent)]
    Frame(#[from] UpdateError),
    /// GPU error.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Device(crate::gpu::GpuError),
}

/// One error for a frame that does not match, on the CPU and the GPU.
#[cfg(feature = "gpu")]
impl From<crate::gpu::GpuError> for RunError {
    fn from(error: crate::gpu::GpuError) -> Self {
        match error {
            crate::gpu::GpuError::Frame(why) => Self::Frame(why),
            other => Self::Device(other),
        }
    }
}

/// What is wrong with the name of an input. `what` is "input" or "values input".
pub(super) fn no_input(what: &str, name: &str, known: &[String]) -> String {
    if known.is_empty() {
        return format!("the graph has no {what}s, but '{name}' is given");
    }
    // The only name needs no guess.
    let close = closest(name, known.iter().map(String::as_str)).filter(|_| known.len() > 1);
    let meant = close.map_or(String::new(), |c| format!("did you mean '{c}'? "));
    let known = known.join(", ");
    format!("the graph has no {what} '{name}'; {meant}known: {known}")
}

/// The file in front of a message.
fn prefix(file: Option<&Path>) -> String {
    file.map_or(String::new(), |f| format!("{}: ", f.display()))
}

fn vertices_and_points(vertices: usize, points: usize) -> String {
    match vertices == points {
        true => format!("{vertices} vertices"),
        false => format!("{points} points and {vertices} vertices"),
    }
}

/// Names for a message.
fn listed(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
