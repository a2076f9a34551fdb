//! What the command line accepts.

use crate::graph_args::{DeviceArg, GraphArgs, GraphInputs, OnlyArg};
use crate::threads::Threads;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use std::any::TypeId;
use std::path::PathBuf;
use std::str::FromStr;

pub(crate) use crate::render_args::RenderArgs;

/// Format of messages on standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Plain text, with a progress bar on a terminal.
    #[default]
    Text,
    /// One JSON object per line.
    Json,
    /// Plain text, with progress and failure as lines that render farms read (Open Job Description).
    Openjd,
}

/// Sinew: an open deformer graph.
#[derive(Debug, Parser)]
#[command(
    name = "sinew",
    version,
    arg_required_else_help = true,
    after_help = "\
Environment:
  SINEW_ADAPTER  the GPU to use: `software`, or part of its name, driver or graphics API

Exit codes:
    0  done
    2  wrong command line
    3  an input file is missing or wrong
    4  the graph document is missing or wrong
    5  the graph or the settings of a bake do not fit the character or the values, or a comparison failed
    6  the output cannot be written
    7  there is no GPU, it failed, or the graph needs one
  130  stopped by Ctrl-C, SIGTERM or SIGHUP"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Set the format of messages on standard error.
    ///
    /// With `json`, the reports of `nodes`, `bench`, `doctor`, `bake skin` and `psd` on standard output are JSON, too.
    #[arg(long, global = true, value_enum, default_value_t)]
    pub(crate) log_format: LogFormat,
    /// Print errors only: no warnings, notes or progress.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Allow graphs to read files from this folder. Repeat for more folders.
    ///
    /// By default a graph reads files only from its own folder and the folders below. For a graph that is embedded in a
    /// character, that is the folder of the character.
    #[arg(long = "allow-folder", global = true, value_name = "DIR")]
    pub(crate) allowed_folders: Vec<PathBuf>,
    /// Overwrite files that Sinew refuses to overwrite by default.
    ///
    /// Without --force, Sinew does not overwrite a file that the command reads, a file of another kind than the output, or a graph that
    /// exists already (`sinew init`).
    #[arg(long, global = true)]
    pub(crate) force: bool,
    /// Do not wait until written files are on the disk. Faster on slow disks, but a power failure can lose the files.
    #[arg(long, global = true)]
    pub(crate) no_sync: bool,
    /// Allow the custom kernels of an embedded graph to run on a hardware GPU.
    ///
    /// An embedded graph is a graph inside a character file. Without this option, its custom kernels run on the CPU and on software
    /// adapters only. Check the kernels first with `sinew check CHARACTER`.
    #[arg(long, global = true)]
    pub(crate) trust: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Deform a character and write the frames.
    Run(RunArgs),
    /// Draw pictures of a character or a mesh sequence.
    Render(Box<RenderArgs>),
    /// Check a graph document for errors.
    Check(CheckArgs),
    /// Show what a file contains.
    Inspect(InspectArgs),
    /// List the nodes, or describe one. For JSON use --log-format json.
    Nodes(NodesArgs),
    /// Print the JSON Schema of graph documents.
    Schema,
    /// Write a commented starter graph.
    Init(InitArgs),
    /// Pose space deformation: check, plot, fit and convert pose drivers; make correctives from posed sculpts.
    #[command(subcommand)]
    Psd(crate::psd_args::PsdCommand),
    /// Grow strands of hair on a mesh.
    #[command(subcommand)]
    Hair(crate::hair_args::HairCommand),
    /// Draw a slice of a signed distance field, or write its surface as a mesh.
    Field(FieldArgs),
    /// Bake for game engines: vertex animation textures, or plain skin weights.
    #[command(subcommand)]
    Bake(crate::bake_args::BakeCommand),
    /// Vertex animation textures: bake in steps, inspect, measure and verify.
    #[command(subcommand)]
    Vat(crate::bake_args::VatCommand),
    /// Write a graph into a GLB, so that character and graph are one file.
    Embed(EmbedArgs),
    /// Write any character as one GLB file, with its materials, clips, morph targets and everything else that GLB can hold.
    Convert(ConvertArgs),
    /// Run every deformer on the built-in samples and write GLB files and pictures.
    Demo(DemoArgs),
    /// Time a graph node by node on the CPU and the GPU. For a JSON report use --log-format json.
    Bench(BenchArgs),
    /// Show what this machine offers: threads, SIMD level, GPUs and their limits. For JSON use --log-format json.
    Doctor,
    /// Print completions for a shell.
    Completions {
        /// Shell to print completions for.
        shell: Shell,
    },
    /// Print the manual page.
    Man,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// Character to deform: a GLB, glTF, VRM, FBX, OBJ or PLY file, or a built-in sample (sample:arm, sample:creature, sample:ball, sample:head).
    ///
    /// Or numbered OBJ or PLY files (sim_####.obj): the first file is the rest mesh, and all files are the point cache.
    pub(crate) character: PathBuf,
    #[command(flatten)]
    pub(crate) played: GraphArgs,
    #[command(flatten)]
    pub(crate) chosen: OnlyArg,
    /// Play this clip. Default: the first clip.
    #[arg(short, long)]
    pub(crate) clip: Option<String>,
    /// Evaluate these frames: 21, 0-120, 0-120/2 for every second frame, or a list such as 0,5,10-20.
    ///
    /// Default: the frames of the point cache; without one the whole clip.
    #[arg(short, long, allow_hyphen_values = true)]
    pub(crate) frames: Option<String>,
    /// Set the frame rate, in frames per second. Frame n is at n / fps seconds.
    #[arg(long, default_value_t = 30.0, value_parser = number)]
    pub(crate) fps: f64,
    /// Write the result to this file: .glb, .npz, .pc2, .mdd, .obj, .ply, .tfx (strands) or .csv (values outputs). Repeat for more files.
    ///
    /// A CSV file has the columns frame, time (in seconds) and one for each number: NAME[0], NAME[1], ...
    /// OBJ, PLY and TFX have one file per frame, for example NAME_0021.ply. In NAME_####.ply the # say where the number goes.
    #[arg(short, long, required = true)]
    pub(crate) output: Vec<PathBuf>,
    /// Set how a GLB moves between frames.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) interpolation: Interpolation,
    /// Make a GLB smaller. Positions are rounded; the log names the largest error.
    ///
    /// The viewer must support the glTF extension that the value names.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) compress: Compress,
    #[command(flatten)]
    pub(crate) threads: Threads,
    #[command(flatten)]
    pub(crate) evaluated: DeviceArg,
    /// Start a simulation from a saved state. Frames up to the saved one are skipped.
    ///
    /// For example `--frames 0-49 --save-state s.state`, then `--frames 50-99 --state s.state`. Use the same --device, --fps, --clip and
    /// caches in both. `--device auto` chooses the device of the state.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Save the state of simulations (hair) after the last frame, for --state in a later run. The file is written last.
    #[arg(long, value_name = "FILE")]
    pub(crate) save_state: Option<PathBuf>,
    /// Continue an interrupted run with the same --frames: keep the complete files. For OBJ, PLY and TFX.
    ///
    /// Use it from the first run on, since this run lists the files. It does not shorten simulations: see --state.
    ///
    /// During the run, the file NAME.ply.0-120.run.txt beside the output lists the complete frames
    /// and a hash of each file. The next run keeps a frame only if its files still have these hashes.
    /// If the character, the graph or an option changed, all frames are written again.
    #[arg(long)]
    pub(crate) resume: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// Graph document to time.
    #[arg(required_unless_present = "crossover", requires = "character")]
    pub(crate) graph: Option<PathBuf>,
    /// Character to deform: a GLB, glTF, VRM, FBX, OBJ or PLY file, or a built-in sample.
    pub(crate) character: Option<PathBuf>,
    /// Play this clip. Default: the first clip.
    #[arg(short, long)]
    pub(crate) clip: Option<String>,
    /// Time this many frames; the report shows medians. A measurement stops after 10 seconds.
    #[arg(short, long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) frames: u32,
    #[command(flatten)]
    pub(crate) inputs: GraphInputs,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Find the mesh size from which the GPU is faster than the CPU.
    ///
    /// Times skinning, delta mush and normals on meshes of growing size, up to VERTICES (default: 1000000).
    #[arg(long, value_name = "VERTICES", num_args = 0..=1, require_equals = true, default_missing_value = "1000000")]
    pub(crate) crossover: Option<u32>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FieldArgs {
    /// Character to read: a GLB, glTF, VRM, FBX, OBJ or PLY file, or a built-in sample (sample:arm, sample:creature, sample:ball, sample:head).
    pub(crate) character: PathBuf,
    /// Use this graph document, which must output a field. Default: a field made from the meshes of the character.
    #[arg(short, long)]
    pub(crate) graph: Option<PathBuf>,
    /// Select a field output of the graph. Required if there are several.
    #[arg(long, value_name = "OUTPUT")]
    pub(crate) field: Option<String>,
    /// Play this clip. Default: the first clip.
    #[arg(short, long)]
    pub(crate) clip: Option<String>,
    /// Evaluate this frame.
    #[arg(long, default_value_t = 0)]
    pub(crate) frame: i64,
    /// Set the frame rate, in frames per second. Frame n is at n / fps seconds.
    #[arg(long, default_value_t = 30.0, value_parser = number)]
    pub(crate) fps: f64,
    /// Set the number of cells along the longest side of the mesh. Only without --graph.
    #[arg(long, default_value_t = 100, conflicts_with = "graph", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) cells: u32,
    /// Set a graph parameter. VALUE is JSON or plain text. Repeat for more.
    #[arg(short, long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Use FILE for a graph input instead of the file in the document. Repeat for more.
    #[arg(long = "input", value_name = "NAME=FILE")]
    pub(crate) input_files: Vec<String>,
    /// Move a mesh by a point cache: .pc2, .mdd, .npz, or numbered .obj or .ply files (sim_####.obj). Repeat for more.
    #[arg(long = "point-cache", value_name = "[INPUT=]FILE")]
    pub(crate) point_caches: Vec<String>,
    /// Show an expression of a VRM character, with a weight from 0 to 1. Repeat for more.
    #[arg(long = "expression", value_name = "NAME=WEIGHT")]
    pub(crate) expressions: Vec<String>,
    /// Set the axis perpendicular to the slice, in the axes of the field.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) axis: Axis,
    /// Set the position of the slice along that axis: 0 is the low side of the grid, 1 the high side.
    #[arg(long, default_value_t = 0.5)]
    pub(crate) at: f32,
    /// Set the distance at which the surface is extracted, in metres.
    #[arg(long, default_value_t = 0.0, value_name = "METRES")]
    pub(crate) level: f32,
    /// Set the longer side of the slice picture, in pixels.
    #[arg(long, default_value_t = 600, value_parser = clap::value_parser!(u32).range(8..=8192))]
    pub(crate) size: u32,
    /// Write the result to this file: .png for a slice; .glb, .ply or .obj for a surface. Repeat for more files.
    #[arg(short, long, required = true)]
    pub(crate) output: Vec<PathBuf>,
}

/// An axis of the scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Axis {
    /// View along x: z points right, y points up.
    X,
    /// View from above: x points right, z points down.
    Y,
    /// View along z: x points right, y points up.
    #[default]
    Z,
}

/// The command line. All options that take numbers take those below zero, too: whether they are in range is for the command to say.
pub(crate) fn command() -> clap::Command {
    with_negative_numbers(Args::command())
}

fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let numbers = [
        TypeId::of::<f32>(),
        TypeId::of::<f64>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<i64>(),
        TypeId::of::<Numbers<2>>(),
        TypeId::of::<Numbers<3>>(),
        TypeId::of::<Numbers<6>>(),
    ];
    let accepted = |argument: clap::Arg| {
        let found = argument.get_value_parser().type_id();
        let takes_number =
            argument.get_action().takes_values() && numbers.iter().any(|n| found == *n);
        match takes_number && !argument.is_positional() {
            true => argument.allow_hyphen_values(true),
            false => argument,
        }
    };
    command
        .mut_args(accepted)
        .mut_subcommands(with_negative_numbers)
}

/// A number, for a message in the words of users.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    text.parse()
        .map_err(|_| "expected a number, for example 24".into())
}

/// `N` finite numbers, separated by commas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Numbers<const N: usize>(pub(crate) [f32; N]);

impl<const N: usize> FromStr for Numbers<N> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected {N} finite numbers, separated by commas");
        let numbers = text.split(',').map(|n| n.trim().parse::<f32>());
        let numbers: Vec<f32> = numbers.collect::<Result<_, _>>().map_err(|_| expected())?;
        if numbers.iter().any(|n| !n.is_finite()) {
            return Err(expected());
        }
        numbers.try_into().map(Self).map_err(|_| expected())
    }
}

/// The bytes of a colour `#rrggbb`.
pub(crate) fn parse_hex(text: &str) -> Option<[u8; 3]> {
    let digits = text
        .strip_prefix('#')
        .filter(|d| d.len() == 6 && d.is_ascii())?;
    let byte = |i: usize| u8::from_str_radix(&digits[2 * i..2 * i + 2], 16).ok();
    Some([byte(0)?, byte(1)?, byte(2)?])
}

/// Where frames are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    /// CPU. The results of all runs are identical, bit for bit.
    #[default]
    Cpu,
    /// The GPU that SINEW_ADAPTER names. If it is not set, Sinew prefers a discrete GPU, then integrated, virtual, other, software.
    Gpu,
    /// A hardware GPU if it can run the graph, otherwise the CPU.
    Auto,
}

/// How a GLB moves between frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Interpolation {
    /// Hold each frame until the next one.
    Step,
    /// Interpolate linearly between frames.
    #[default]
    Linear,
}

/// How a GLB stores numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compress {
    /// Exact floats. Every program reads them.
    #[default]
    None,
    /// Integers of 8 and 16 bits: about 2 times smaller. KHR_mesh_quantization.
    Quantize,
    /// Compressed streams: 3 to 5 times smaller. EXT_meshopt_compression, which Blender 5.0 does not open.
    Meshopt,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Graph document to check, or a GLB, glTF or VRM file with an embedded graph.
    pub(crate) graph: PathBuf,
    /// Print the compiled graph: nodes that run once (setup), nodes that run in each frame (update), their order and links.
    #[arg(long)]
    pub(crate) explain: bool,
    /// Bind the graph to this character as well. With --explain, also print added steps, buffers and memory.
    ///
    /// This checks what the document alone cannot tell: names of joints, indices of links, counts of weights and points, and whether the
    /// graph reads what the clips animate. The errors of all nodes are listed.
    #[arg(long)]
    pub(crate) character: Option<PathBuf>,
    /// Check that the character has this clip.
    #[arg(short, long, requires = "character")]
    pub(crate) clip: Option<String>,
    /// Warn if the clip or the point cache ends before these frames: 21, 0-120, 0-120/2, or a list such as 0,5,10-20.
    #[arg(short, long, requires = "character", allow_hyphen_values = true)]
    pub(crate) frames: Option<String>,
    /// Set the frame rate for --frames, in frames per second.
    #[arg(long, default_value_t = 30.0, value_parser = number)]
    pub(crate) fps: f64,
    /// Use FILE for a graph input (strands, another character) instead of the file in the document. Repeat for more.
    #[arg(long = "input", value_name = "NAME=FILE", requires = "character")]
    pub(crate) input_files: Vec<String>,
    /// Move a mesh by a point cache: .pc2, .mdd, .npz, or numbered .obj or .ply files (sim_####.obj). Repeat for more.
    #[arg(
        long = "point-cache",
        value_name = "[INPUT=]FILE",
        requires = "character"
    )]
    pub(crate) point_caches: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// File to inspect: any format that Sinew reads, a built-in sample, or a bake (its folder or .vat.json).
    ///
    /// Of a character it lists meshes, the tree of joints, clips, materials, warnings, and expressions and bones of VRM. Positions and
    /// lengths are in metres, at rest, in scene space. `weight` is the sum of the skin weights that a joint has, `vertices` the number
    /// of vertices with such a weight. Long trees of joints are cut: `joints_below` counts the joints that are left out.
    pub(crate) file: PathBuf,
    /// Describe this joint alone: parent, children, rest transform, weights, the box of the vertices it moves, and clips that move it.
    ///
    /// `scene` is the rest transform in scene space, `local` in the space of the parent node. `rotation_degrees` rotates about x, then y,
    /// then z, as in graphs; `rotation` is the quaternion x, y, z, w. `bounds_center` and `bounds_size` fit `rest_transform` and `size` of
    /// a lattice. A clip shows how far it moves the joint from rest in the space of its parent: degrees, metres, change of scale.
    /// `rotation_axis` is the axis of the largest rotation of a clip, in the space of the parent, and `rotation_secs` its time.
    #[arg(long, value_name = "NAME")]
    pub(crate) joint: Option<String>,
    /// Print JSON, with the same keys as the text, nothing left out, and all digits.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NodesArgs {
    /// Node to describe. Without it, all nodes are listed.
    pub(crate) node: Option<String>,
    /// Write the documentation pages of all nodes into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) pages: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// File to write.
    #[arg(default_value = "graph.json")]
    pub(crate) file: PathBuf,
    /// Make the graph for this character, with nodes for its skin, morph targets and strands.
    #[arg(long = "for", value_name = "CHARACTER")]
    pub(crate) character: Option<PathBuf>,
    /// What the graph is for.
    #[arg(long, value_enum, requires = "character", conflicts_with = "example")]
    pub(crate) template: Option<TemplateName>,
    /// For the template `driver`: the joint whose poses drive. Without it, an elbow, knee or shoulder by its name.
    #[arg(long, value_name = "NAME", requires = "template")]
    pub(crate) joint: Option<String>,
    /// Write this built-in example instead, for example `bend`. `sinew nodes bend` shows the examples of a node.
    #[arg(long, value_name = "NAME", conflicts_with = "character")]
    pub(crate) example: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TemplateName {
    /// Morph targets, skinning, and delta mush with as many iterations as the mesh needs (the default).
    Body,
    /// Morph targets, skinning, and a head to squash.
    Face,
    /// A garment that follows the skinned body.
    Cloth,
    /// Strands that swing and stay out of the body.
    Hair,
    /// Skinning with full delta mush, to bake with `sinew bake vat`.
    Vat,
    /// Weights of the poses of a joint, which drive a delta mush around it.
    Driver,
}

#[derive(Debug, clap::Args)]
pub(crate) struct EmbedArgs {
    /// Character: a GLB or VRM file, or a built-in sample (sample:arm, sample:creature, sample:ball, sample:head).
    pub(crate) character: PathBuf,
    /// Embed this graph document.
    #[arg(short, long)]
    pub(crate) graph: PathBuf,
    /// Write this GLB file. A VRM avatar may be written as .vrm.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConvertArgs {
    /// Character to convert: a GLB, glTF, VRM, FBX, OBJ, PLY or TFX file, or a built-in sample.
    ///
    /// A glTF file is packed into one file: everything in it stays, extensions and extras included; compressed buffers are unpacked.
    pub(crate) character: PathBuf,
    /// Write this GLB file. A VRM avatar may be written as .vrm.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// Write into this folder.
    #[arg(short, long, default_value = "sinew-demo")]
    pub(crate) output: PathBuf,
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;
    use std::any::TypeId;

    /// Options of text that is numbers.
    const TEXTS: [&str; 4] = ["frames", "comb", "guide", "ranges"];
    /// One number, and lists of them.
    const NUMBERS: [&str; 4] = ["1", "1,1", "1,1,1", "1,1,1,1,1,1"];

    /// Whether parsing a command with an option refuses the command line for this reason.
    fn is_refused(words: &[&str], option: &str, value: &str, why: &[ErrorKind]) -> bool {
        let all = words.iter().copied().chain([option, value]);
        let parsed = super::command().try_get_matches_from(all);
        parsed.is_err_and(|e| why.contains(&e.kind()))
    }

    fn check(command: &clap::Command, words: &mut Vec<String>, tried: &mut Vec<String>) {
        for argument in command.get_arguments() {
            let Some(option) = argument.get_long().map(|l| format!("--{l}")) else {
                continue;
            };
            let found = argument.get_value_parser().type_id();
            let is_text = found == TypeId::of::<String>();
            let is_path = found == TypeId::of::<std::path::PathBuf>();
            if is_path || is_text && !TEXTS.contains(&argument.get_id().as_str()) {
                continue;
            }
            if !argument.get_action().takes_values() || argument.is_require_equals_set() {
                continue;
            }
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let invalid = [ErrorKind::InvalidValue, ErrorKind::ValueValidation];
            let accepts = |value: &&&str| !is_refused(&words, &option, value, &invalid);
            for number in NUMBERS.iter().filter(accepts) {
                for below in [format!("-{number}"), "-1e-5".into(), "-.5".into()] {
                    let unknown = [ErrorKind::UnknownArgument];
                    assert!(
                        !is_refused(&words, &option, &below, &unknown),
                        "{words:?} {option} {below}"
                    );
                }
                tried.push(option.clone());
            }
        }
        for below in command.get_subcommands() {
            words.push(below.get_name().to_owned());
            check(below, words, tried);
            words.pop();
        }
    }

    /// A number below zero is never taken for another option.
    #[test]
    fn all_options_with_numbers_take_those_below_zero() {
        let mut tried = Vec::new();
        check(&super::command(), &mut vec!["sinew".into()], &mut tried);
        for option in [
            "--clump",
            "--thickness",
            "--fps",
            "--frames",
            "--at",
            "--cells",
            "--threads",
        ] {
            assert!(tried.iter().any(|t| t == option), "{option}: {tried:?}");
        }
        assert!(tried.len() > 80, "{}: {tried:?}", tried.len());
    }
}
