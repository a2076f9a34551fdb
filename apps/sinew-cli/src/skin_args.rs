//! What `sinew bake skin` accepts.

use crate::graph_args::{DeviceArg, GraphArgs};
use crate::threads::Threads;
use clap::ValueEnum;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct BakeSkinArgs {
    /// GLB, glTF, or a built-in sample (sample:arm, sample:creature, sample:ball).
    pub(crate) character: PathBuf,
    #[command(flatten)]
    pub(crate) played: GraphArgs,
    /// GLB to write.
    #[arg(short, long, required_unless_present = "verify")]
    pub(crate) output: Option<PathBuf>,
    /// Clip to fit; without it all of them. May be given often.
    #[arg(short, long)]
    pub(crate) clip: Vec<String>,
    /// Fit no clip, joint ranges only. Helpers and morph targets need --drive pose then.
    #[arg(long, conflicts_with = "clip", requires = "ranges")]
    pub(crate) no_clips: bool,
    /// Frames to fit of each clip: 21, 0-120 or 0-120/2; without it all of each.
    #[arg(short, long)]
    pub(crate) frames: Option<String>,
    /// Frames a second: frame n is at n / fps seconds.
    #[arg(long, default_value_t = 30.0)]
    pub(crate) fps: f64,
    /// Fit turns of single joints, too: each joint about each of its axes by so many degrees both ways, or what a JSON file says
    /// ({"elbow": {"x": [-10, 60, 120]}, "*": {"z": [-30, 30]}}).
    #[arg(long, value_name = "DEGREES|FILE")]
    pub(crate) ranges: Option<String>,
    /// Where weights come from.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) method: MethodArg,
    /// Joints of a vertex, at most.
    #[arg(long, default_value_t = 4)]
    pub(crate) influences: usize,
    /// Clip to play and measure, and not to fit: how the file does in motion that it was not made from. May be given often.
    #[arg(long, value_name = "CLIP")]
    pub(crate) hold_out: Vec<String>,
    /// Do not fit every so manieth frame of the clips that are fitted, but measure them, as --hold-out does.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) hold_every: Option<u32>,
    /// Joints to add where weights do not do, at most 256; they have keys in the clips that are fitted, and follow their parents elsewhere; see --drive.
    #[arg(long, default_value_t = 0)]
    pub(crate) helpers: usize,
    /// Morph targets to add for what is left, at most 256; their weights have keys in the clips that are fitted; see --drive.
    #[arg(long, default_value_t = 0)]
    pub(crate) correctives: usize,
    /// What moves helpers and morph targets.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) drive: DriveArg,
    /// Poses of a pose driver, at most.
    #[arg(long, default_value_t = 24, value_name = "NUMBER")]
    pub(crate) drive_poses: usize,
    /// How far off a vertex must be for a morph target to move it, millimetres.
    #[arg(long, default_value_t = 0.1, value_name = "MILLIMETRES")]
    pub(crate) tolerance: f64,
    /// How strongly authored weights hold: how far a joint must move a vertex for the frames to count as much, as a share of the character's size.
    #[arg(long, default_value_t = 2e-3, value_name = "SHARE")]
    pub(crate) hold: f64,
    #[command(flatten)]
    pub(crate) smoothing: SmoothingArgs,
    /// Mesh output of the graph; without it all that show meshes of the character.
    #[arg(long, value_name = "NAME")]
    pub(crate) mesh_output: Option<String>,
    #[command(flatten)]
    pub(crate) evaluated: DeviceArg,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Folder for report.json and report.html: distances of each clip, pictures before and after.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) report: Option<PathBuf>,
    /// A second GLB whose vertices are coloured by how far off they are, blue to red.
    #[arg(long, value_name = "FILE", conflicts_with = "verify")]
    pub(crate) color: Option<PathBuf>,
    /// Fit nothing: compare this baked GLB with the graph's frames; ends with 5 where it is farther off than the report (--report) says, or than --limit.
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub(crate) verify: Option<PathBuf>,
    /// With --verify: the largest root mean square of a clip that is taken, millimetres, as engines play the file and as its graph shows it; with --drive pose
    /// what the graph shows alone.
    #[arg(long, value_name = "MILLIMETRES", requires = "verify")]
    pub(crate) limit: Option<f64>,
}

/// Where weights come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    /// Those that show the frames best.
    #[default]
    Fit,
    /// Authored weights smoothed over the mesh: direct delta mush, variant 5. Frames are for measuring, helpers and morph targets.
    Smoothed,
}

/// What moves helpers and morph targets that were added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DriveArg {
    /// Keys in the fitted clips, which every engine plays.
    #[default]
    Clips,
    /// The pose: the file carries a graph with pose drivers, which Sinew plays in any pose; others see the weights alone. Joint ranges count, too.
    Pose,
    /// Both: keys for engines, and the graph for Sinew.
    Both,
}

/// How `--method smoothed` smooths; see node `direct_delta_mush`.
#[derive(Clone, Copy, Debug, PartialEq, clap::Args)]
pub(crate) struct SmoothingArgs {
    /// With --method smoothed: strength of the smoothing.
    #[arg(long, default_value_t = 3.0)]
    pub(crate) lambda: f64,
    /// With --method smoothed: strength of the smoothing of the second part, lambda at most.
    #[arg(long, default_value_t = 1.0)]
    pub(crate) kappa: f64,
    /// With --method smoothed: how much of the second part there is, 0 to 0.95.
    #[arg(long, default_value_t = 0.8)]
    pub(crate) alpha: f64,
    /// With --method smoothed: how often either is applied.
    #[arg(long, default_value_t = 20)]
    pub(crate) iterations: u32,
}
