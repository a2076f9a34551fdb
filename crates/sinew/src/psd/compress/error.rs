//! Why correctives could not be reduced to a basis.

use crate::graph::{Diagnostics, EditError};
use crate::play::PlayError;

/// Why correctives could not be reduced to a basis.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompressError {
    /// A number that makes no sense.
    #[error("option '{option}' is {found}, expected {expected}")]
    Option {
        /// Which.
        option: &'static str,
        /// What was given.
        found: f64,
        /// What would be right.
        expected: &'static str,
    },
    /// The document, or what became of it, is wrong.
    #[error("{0}")]
    Graph(Diagnostics),
    /// Graph and character do not fit each other.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// Nothing to do.
    #[error("{document} has no node 'drive_morphs' whose weights come from a 'pose_driver'")]
    NoDriver {
        /// Name of the document.
        document: String,
    },
    /// A node's text could not be changed.
    #[error("{document}: node '{node}': {source}")]
    Edit {
        /// Name of the document.
        document: String,
        /// Name of the node.
        node: String,
        /// What is in the way.
        source: EditError,
    },
    /// The file carries another graph than the one given, which would miss a target.
    #[error(
        "{file} carries a graph of its own that names the morph target '{target}'; reduce that graph, or take it out of the file first"
    )]
    OtherGraph {
        /// The character's file.
        file: String,
        /// The target that would go.
        target: String,
    },
}
