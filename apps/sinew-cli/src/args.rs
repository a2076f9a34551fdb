//! What the command line accepts.

use crate::graph_args::{DeviceArg, GraphArgs, GraphInputs};
use crate::threads::Threads;
use clap::{Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::path::PathBuf;
use std::str::FromStr;

pub(crate) use crate::render_args::RenderArgs;

/// How messages on standard error look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people; with a progress bar on a terminal.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// Sinew: an open deformer graph.
#[derive(Debug, Parser)]
#[command(
    name = "sinew",
    version,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 done, 2 wrong command line, 3 input file, 4 graph document, 5 graph and character (or values) do not fit, 6 output, 7 graphics device, 130 stopped by Ctrl-C, SIGTERM or SIGHUP."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// How messages on standard error look.
    #[arg(long, global = true, value_enum, default_value_t)]
    pub(crate) log_format: LogFormat,
    /// Say nothing but errors.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Files that a graph names lie in its folder (a graph in a character: the character's), or in this one; may be given often.
    #[arg(long = "allow-folder", global = true, value_name = "DIR")]
    pub(crate) allowed_folders: Vec<PathBuf>,
    /// Replace files that the same command reads, or that are of another kind than it writes.
    #[arg(long, global = true)]
    pub(crate) force: bool,
    /// Do not wait until files are on the disk: faster on slow disks, but a machine that loses its power may lose them.
    #[arg(long, global = true)]
    pub(crate) no_sync: bool,
    /// Run kernels of a graph that came within its character on hardware, too: look at them first, with `sinew check CHARACTER`.
    #[arg(long, global = true)]
    pub(crate) trust: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Deform a character and write the frames.
    Run(RunArgs),
    /// Draw a character, with or without a graph, or a mesh sequence.
    Render(Box<RenderArgs>),
    /// Check a graph document.
    Check(CheckArgs),
    /// Say what is in a file.
    Inspect(InspectArgs),
    /// List the node kinds, or describe one.
    Nodes(NodesArgs),
    /// Print the JSON Schema of graph documents.
    Schema,
    /// Write a commented starter graph.
    Init(InitArgs),
    /// Pose space deformation: look at drivers, make correctives from posed sculpts.
    #[command(subcommand)]
    Psd(crate::psd_args::PsdCommand),
    /// Hair: grow strands on a mesh.
    #[command(subcommand)]
    Hair(crate::hair_args::HairCommand),
    /// Look at a signed distance field: a slice as a picture, or the surface where it has a given value as a mesh.
    Field(FieldArgs),
    /// Bake frames into files that engines play.
    #[command(subcommand)]
    Bake(crate::bake_args::BakeCommand),
    /// Vertex animation textures: bake them step by step, look at them, compare them with their sequence.
    #[command(subcommand)]
    Vat(crate::bake_args::VatCommand),
    /// Write a graph into a GLB, so that character and deformation are one file.
    Embed(EmbedArgs),
    /// Run every deformer on the built-in samples: GLB files and pictures.
    Demo(DemoArgs),
    /// Time a graph, node by node, on the processor and on a graphics device; as JSON with --log-format json.
    Bench(BenchArgs),
    /// Say what this machine offers: threads, SIMD level, graphics adapters with their limits; as JSON with --log-format json.
    Doctor,
    /// Print a shell's completions.
    Completions {
        /// Which shell.
        shell: Shell,
    },
    /// Print the manual page.
    Man,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// GLB, glTF, OBJ or PLY file, or a built-in sample (sample:arm, sample:creature, sample:ball, sample:head).
    pub(crate) character: PathBuf,
    #[command(flatten)]
    pub(crate) played: GraphArgs,
    /// Clip to play; without it the first one.
    #[arg(short, long)]
    pub(crate) clip: Option<String>,
    /// Frames to evaluate: 21, 0-120 or 0-120/2; without it the whole clip.
    #[arg(short, long)]
    pub(crate) frames: Option<String>,
    /// Frames a second: frame n is at n / fps seconds.
    #[arg(long, default_value_t = 30.0)]
    pub(crate) fps: f64,
    /// Result: .glb, .npz, .pc2, .mdd, .obj, .ply or .tfx (strands); may be given often.
    #[arg(short, long, required = true)]
    pub(crate) output: Vec<PathBuf>,
    /// How a GLB moves from frame to frame.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) interpolation: Interpolation,
    #[command(flatten)]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) evaluated: DeviceArg,
    /// Go on behind the frame after which this state was saved: frames up to it are left out.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Save the state after the last frame: what solvers (hair) remember, for --state of a later run.
    #[arg(long, value_name = "FILE")]
    pub(crate) save_state: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// Graph document.
    #[arg(required_unless_present = "crossover", requires = "character")]
    pub(crate) graph: Option<PathBuf>,
    /// GLB, glTF, OBJ or PLY file.
    pub(crate) character: Option<PathBuf>,
    /// Clip to play; without it the first one.
    #[arg(short, long)]
    pub(crate) clip: Option<String>,
    /// Frames to time; medians are shown. Stops after ten seconds for each measurement.
    #[arg(short, long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) frames: u32,
    #[command(flatten)]
    pub(crate) inputs: GraphInputs,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Run skinning, delta mush and normals on meshes of growing size, a million vertices or VERTICES at most, and say from which size on the
    /// graphics device is faster.
    #[arg(long, value_name = "VERTICES", num_args = 0..=1, require_equals = true, default_missing_value = "1000000")]
    pub(crate) crossover: Option<u32>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FieldArgs {
    /// GLB, glTF, OBJ or PLY file, or a built-in sample (sample:arm, sample:creature, sample:ball, sample:head).
    pub(crate) character: PathBuf,
    /// Graph document with a field among its outputs; without it the field of the character's meshes.
    #[arg(short, long)]
    pub(crate) graph: Option<PathBuf>,
    /// Which of the graph's fields; needed where there are several.
    #[arg(long, value_name = "OUTPUT")]
    pub(crate) field: Option<String>,
    /// Clip to play; without it the first one.
    #[arg(short, long)]
    pub(crate) clip: Option<String>,
    /// Frame to look at.
    #[arg(long, default_value_t = 0)]
    pub(crate) frame: i64,
    /// Frames a second: frame n is at n / fps seconds.
    #[arg(long, default_value_t = 30.0)]
    pub(crate) fps: f64,
    /// Cells along the longest side of the mesh, where there is no graph.
    #[arg(long, default_value_t = 100, conflicts_with = "graph", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) cells: u32,
    /// Set a parameter, name=value (JSON, or plain text); may be given often.
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// File for an input of the graph, in place of the one in the document; may be given often.
    #[arg(long = "input", value_name = "NAME=FILE")]
    pub(crate) input_files: Vec<String>,
    /// Axis across the slice, of the field's frame.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) axis: Axis,
    /// Where the slice is along that axis: 0 on the low side of the grid, 1 on the high one.
    #[arg(long, default_value_t = 0.5)]
    pub(crate) at: f32,
    /// Distance at which to take the surface, in metres.
    #[arg(
        long,
        default_value_t = 0.0,
        value_name = "METRES",
        allow_negative_numbers = true
    )]
    pub(crate) level: f32,
    /// Pixels of the longer side of the slice.
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u32).range(8..=8192))]
    pub(crate) size: u32,
    /// Result: .png for a slice, .glb, .ply or .obj for a surface; may be given often.
    #[arg(short, long, required = true)]
    pub(crate) output: Vec<PathBuf>,
}

/// An axis of the scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Axis {
    /// Seen along x: z to the right, y up.
    X,
    /// Seen from above: x to the right, z down.
    Y,
    /// Seen along z: x to the right, y up.
    #[default]
    Z,
}

/// `N` finite numbers with commas between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Numbers<const N: usize>(pub(crate) [f32; N]);

impl<const N: usize> FromStr for Numbers<N> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected {N} numbers with commas between them");
        let numbers = text.split(',').map(|n| n.trim().parse::<f32>());
        let numbers: Vec<f32> = numbers.collect::<Result<_, _>>().map_err(|_| expected())?;
        if numbers.iter().any(|n| !n.is_finite()) {
            return Err(expected());
        }
        numbers.try_into().map(Self).map_err(|_| expected())
    }
}

/// Where frames are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    /// On the processor: the same bits on every run.
    #[default]
    Cpu,
    /// On the graphics adapter that SINEW_ADAPTER names, or the first one.
    Gpu,
    /// On a graphics card, or the processor where there is none; a graph with custom kernels runs on any adapter.
    Auto,
}

/// How a GLB moves from frame to frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Interpolation {
    /// A frame stays until the next.
    Step,
    /// Straight from frame to frame.
    #[default]
    Linear,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Graph document, or a GLB or glTF file with a graph in it.
    pub(crate) graph: PathBuf,
    /// Print what the compiler derived: phases, order, links.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Bind it to this character as well, and print buffers and memory with --explain.
    #[arg(long)]
    pub(crate) character: Option<PathBuf>,
    /// File for an input of the graph, in place of the one in the document (strands, another character); may be given often.
    #[arg(long = "input", value_name = "NAME=FILE", requires = "character")]
    pub(crate) input_files: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// Any file that Sinew reads, or a built-in sample; of a bake (.vat.json, or its folder) what `sinew vat inspect` says.
    pub(crate) file: PathBuf,
    /// As JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NodesArgs {
    /// Node kind to describe.
    pub(crate) node: Option<String>,
    /// Write one page a node into this folder (the docs).
    #[arg(long, value_name = "DIR")]
    pub(crate) pages: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// File to write.
    #[arg(default_value = "graph.json")]
    pub(crate) file: PathBuf,
    /// Make the graph for what this character has: a skin, morph targets, strands.
    #[arg(long = "for", value_name = "CHARACTER")]
    pub(crate) character: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EmbedArgs {
    /// GLB file.
    pub(crate) character: PathBuf,
    /// Graph document.
    #[arg(short, long)]
    pub(crate) graph: PathBuf,
    /// GLB to write.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Folder to write.
    #[arg(short, long, default_value = "sinew-demo")]
    pub(crate) output: PathBuf,
}
