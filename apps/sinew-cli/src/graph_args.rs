//! What all commands accept that evaluate a graph.

use crate::args::Device;
use std::path::PathBuf;

/// A graph document, and what its inputs and parameters are.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub(crate) struct GraphArgs {
    /// Graph document; without it the one in the character's file, or morph targets and linear skinning.
    #[arg(short, long)]
    pub(crate) graph: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) inputs: GraphInputs,
}

/// What inputs and parameters of a graph are, and where its setup is kept.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub(crate) struct GraphInputs {
    /// Set a parameter of the graph, name=value (JSON, or plain text); may be given often.
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Numbers for a values input of the graph, from a .json or .npy file: one list for all frames, or row n for frame n; may be given often.
    #[arg(long, value_name = "NAME=FILE")]
    pub(crate) values: Vec<String>,
    /// File for an input of the graph, in place of the one in the document (strands, another character); may be given often.
    #[arg(long = "input", value_name = "NAME=FILE")]
    pub(crate) input_files: Vec<String>,
    /// Setup results: read where they fit, written where any were made.
    #[arg(long, value_name = "FILE")]
    pub(crate) cache: Option<PathBuf>,
}

/// `--device`, of all commands whose work is evaluating.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct DeviceArg {
    /// Where the graph is evaluated.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) device: Device,
}
