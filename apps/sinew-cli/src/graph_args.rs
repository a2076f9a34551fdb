//! What all commands accept that evaluate a graph.

use crate::args::Device;
use std::path::PathBuf;

/// A graph document, and what its inputs and parameters are.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub(crate) struct GraphArgs {
    /// Use this graph document: a JSON file, or a built-in example (example:bend; `sinew nodes bend` shows the examples of a node).
    ///
    /// Default: the graph that is embedded in the character. Without one: morph targets and linear skinning.
    #[arg(short, long)]
    pub(crate) graph: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) inputs: GraphInputs,
}

/// What inputs and parameters of a graph are, and where its setup is kept.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub(crate) struct GraphInputs {
    /// Set a graph parameter. VALUE is JSON or plain text. Repeat for more.
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Show an expression of a VRM character, with a weight from 0 to 1. Repeat for more.
    ///
    /// It is added to the morph weights of the clip. `sinew inspect` lists the expressions.
    #[arg(long = "expression", value_name = "NAME=WEIGHT")]
    pub(crate) expressions: Vec<String>,
    /// Read numbers for a `values` input of the graph from a .json or .npy file. Repeat for more.
    ///
    /// The file holds one list for all frames, or one row per frame: row n for frame n.
    #[arg(long, value_name = "NAME=FILE")]
    pub(crate) values: Vec<String>,
    /// Use FILE for a graph input (strands, another character) instead of the file in the document. Repeat for more.
    #[arg(long = "input", value_name = "NAME=FILE")]
    pub(crate) input_files: Vec<String>,
    /// Move a mesh by a point cache: .pc2, .mdd, .npz, or numbered .obj or .ply files (sim_####.obj). Repeat for more.
    ///
    /// The character is the rest mesh, which setup uses. The cache has one point for each of its vertices, in the same order. INPUT is a
    /// mesh or strands input of the graph. Default: all inputs that take their mesh from the character. PC2 and numbered files are played
    /// by frame number, MDD and NPZ by time (--fps). Frames outside the cache show its first or last frame, with a warning.
    #[arg(long = "point-cache", value_name = "[INPUT=]FILE")]
    pub(crate) point_caches: Vec<String>,
    /// Reuse setup results from this file. Missing results are computed and added to it.
    ///
    /// Setup results are what nodes compute once before the first frame, such as weights and neighbours (bind data).
    #[arg(long, value_name = "FILE")]
    pub(crate) cache: Option<PathBuf>,
}

/// `--device`, of all commands whose work is evaluating.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct DeviceArg {
    /// Set where the graph is evaluated.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) device: Device,
}

/// `--only`, of commands that show or write outputs of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct OnlyArg {
    /// Use only these outputs of the graph. Default: all. Nodes that they do not need are not evaluated.
    #[arg(long, value_name = "OUTPUT,...", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}
