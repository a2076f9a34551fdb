//! Errors of the compression.

use crate::graph::{Diagnostics, EditError};
use crate::play::PlayError;

/// Error of reducing correctives to a basis.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompressError {
    /// An option is out of range.
    #[error("option '{option}' is {found}, expected {expected}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// The given value.
        found: f64,
        /// The valid range.
        expected: &'static str,
    },
    /// The document is invalid before or after the change.
    #[error("{0}")]
    Graph(Diagnostics),
    /// Graph and character do not match.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// The graph has no suitable node.
    #[error("{document} has no node 'drive_morphs' whose weights come from a 'pose_driver'")]
    NoDriver {
        /// Name of the document.
        document: String,
    },
    /// The text of a node could not be changed.
    #[error("{document}: node '{node}': {source}")]
    Edit {
        /// Name of the document.
        document: String,
        /// Name of the node.
        node: String,
        /// The reason.
        source: EditError,
    },
    /// The file contains another graph than the given one, which uses a target that would be removed.
    #[error(
        "{file} contains another graph, which uses the morph target '{target}'; compress that graph, or remove it from the file first"
    )]
    OtherGraph {
        /// The character's file.
        file: String,
        /// The target that would be removed.
        target: String,
    },
}
