//! Why nothing can be extracted.

use crate::graph::{RestOffsetError, UpdateError};

/// Why a sculpt could not be turned into a corrective.
#[derive(Debug, thiserror::Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum ExtractError {
    /// The graph has no mesh output, or none of that name.
    #[error("the graph has no mesh output{}; its mesh outputs are {}", .asked.as_ref().map_or_else(String::new, |a| format!(" '{a}'")), listed(.known))]
    NoOutput {
        /// What was asked for; `None` for any.
        asked: Option<String>,
        /// The mesh outputs that there are.
        known: Vec<String>,
    },
    /// The output shows another mesh than that of the input.
    #[error("output '{output}' shows the mesh of input '{shows}', not of '{input}'")]
    OtherInput {
        /// Name of the output.
        output: String,
        /// The input whose mesh it shows.
        shows: String,
        /// The input that was asked for.
        input: String,
    },
    /// A node keeps a state from frame to frame, so that a frame alone says nothing.
    #[error(
        "node '{node}' ({kind}) has a state, so that its output is no function of the rest positions; leave it out"
    )]
    State {
        /// Name of the node.
        node: String,
        /// Kind of the node.
        kind: &'static str,
    },
    /// The sculpt does not have the vertices of the mesh.
    #[error(
        "the sculpt has {found} vertices, expected {expected} as the mesh of input '{input}', in the same order"
    )]
    Count {
        /// The input whose mesh it must fit.
        input: String,
        /// Vertices of the sculpt.
        found: usize,
        /// Vertices of the mesh.
        expected: usize,
    },
    /// A position of the sculpt is infinite or not a number.
    #[error("vertex {vertex} of the sculpt is at {found:?}, expected finite numbers")]
    NotFinite {
        /// Which vertex.
        vertex: usize,
        /// Where it is.
        found: [f32; 3],
    },
    /// The stack gave a position that is infinite or not a number.
    #[error("output '{output}': the position of vertex {vertex} is not finite")]
    OutputNotFinite {
        /// Name of the output.
        output: String,
        /// Which vertex.
        vertex: usize,
    },
    /// An option is out of range.
    #[error("{option} is {found}, expected a finite number, 0 or more")]
    Option {
        /// Field of [`super::ExtractOptions`].
        option: &'static str,
        /// What it is.
        found: f64,
    },
    /// The rest positions cannot be offset: no frame reads them, say.
    #[error(transparent)]
    Rest(#[from] RestOffsetError),
    /// The frame does not fit the graph.
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
