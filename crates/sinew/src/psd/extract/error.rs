//! Errors of extractions.

use crate::graph::{RestOffsetError, UpdateError};

/// Error of converting a sculpt to a corrective.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum ExtractError {
    /// The graph has no mesh output, or none with this name.
    #[error("the graph has no mesh output{}; known: {}", .asked.as_ref().map_or_else(String::new, |a| format!(" '{a}'")), listed(.known))]
    NoOutput {
        /// The requested name; `None` for any.
        asked: Option<String>,
        /// Names of the mesh outputs.
        known: Vec<String>,
    },
    /// The output shows the mesh of another input.
    #[error("output '{output}' shows the mesh of input '{shows}', not of '{input}'")]
    OtherInput {
        /// Name of the output.
        output: String,
        /// The input of its mesh.
        shows: String,
        /// The requested input.
        input: String,
    },
    /// A node has a state: one frame alone does not define its result.
    #[error(
        "node '{node}' ({kind}) has a state: its output depends on earlier frames, not only on the rest positions; remove it from the graph"
    )]
    State {
        /// Name of the node.
        node: String,
        /// Type of the node.
        kind: &'static str,
    },
    /// The vertex count of the sculpt differs from that of the mesh.
    #[error(
        "the sculpt has {found} vertices, expected {expected} as the mesh of input '{input}', in the same order"
    )]
    Count {
        /// The input of the mesh.
        input: String,
        /// Vertices of the sculpt.
        found: usize,
        /// Vertices of the mesh.
        expected: usize,
    },
    /// A position of the sculpt is infinite or NaN.
    #[error("vertex {vertex} of the sculpt is at {found:?}, expected finite numbers")]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
        /// Its position.
        found: [f32; 3],
    },
    /// The stack gave a position that is infinite or NaN.
    #[error("output '{output}': the position of vertex {vertex} is not finite")]
    OutputNotFinite {
        /// Name of the output.
        output: String,
        /// Index of the vertex.
        vertex: usize,
    },
    /// An option is out of range.
    #[error("{option} is {found}, expected a finite number, 0 or more")]
    Option {
        /// Field of [`super::ExtractOptions`].
        option: &'static str,
        /// Its value.
        found: f64,
    },
    /// The rest positions cannot have offsets, for example because no frame reads them.
    #[error(transparent)]
    Rest(#[from] RestOffsetError),
    /// The frame does not match the graph.
    #[error(transparent)]
    Update(#[from] UpdateError),
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
