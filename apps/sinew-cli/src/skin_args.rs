//! What `sinew bake skin` accepts.

use crate::graph_args::{DeviceArg, GraphArgs};
use crate::threads::Threads;
use clap::ValueEnum;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct BakeSkinArgs {
    /// Character to bake: a GLB, glTF, VRM or FBX file, or a built-in sample (sample:arm, sample:creature, sample:ball).
    pub(crate) character: PathBuf,
    #[command(flatten)]
    pub(crate) played: GraphArgs,
    /// Write this GLB file. A VRM avatar may be written as .vrm.
    #[arg(short, long, required_unless_present = "verify")]
    pub(crate) output: Option<PathBuf>,
    /// Fit this clip. Repeat for more. Default: all clips.
    #[arg(short, long)]
    pub(crate) clip: Vec<String>,
    /// Fit joint ranges only, no clips. Helpers and morph targets then need --drive pose.
    #[arg(long, conflicts_with = "clip", requires = "ranges")]
    pub(crate) no_clips: bool,
    /// Fit these frames of each clip: 21, 0-120, or 0-120/2 for every second frame. Default: all frames.
    #[arg(short, long, allow_hyphen_values = true)]
    pub(crate) frames: Option<String>,
    /// Set the frame rate, in frames per second. Frame n is at n / fps seconds.
    #[arg(long, default_value_t = 30.0, value_parser = crate::args::number)]
    pub(crate) fps: f64,
    /// Fit rotations of single joints as well.
    ///
    /// DEGREES rotates each joint about each of its axes, both ways.
    ///
    /// FILE is JSON with angles in degrees: {"elbow": {"x": [-10, 60, 120]}, "*": {"z": [-30, 30]}}.
    #[arg(long, value_name = "DEGREES|FILE", allow_hyphen_values = true)]
    pub(crate) ranges: Option<String>,
    /// Set how weights are computed.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) method: MethodArg,
    /// Set the largest number of joints per vertex.
    #[arg(long, default_value_t = 4)]
    pub(crate) influences: usize,
    /// Measure this clip without fitting it, to see the error in motion that was not fitted. Repeat for more.
    #[arg(long, value_name = "CLIP")]
    pub(crate) hold_out: Vec<String>,
    /// Measure one of NUMBER frames of each fitted clip without fitting it, as --hold-out does for clips.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) hold_every: Option<u32>,
    /// Add up to this number of helper joints where weights are not enough, at most 256.
    ///
    /// Helper joints have keys in the fitted clips and follow their parents elsewhere; see --drive.
    #[arg(long, default_value_t = 0)]
    pub(crate) helpers: usize,
    /// Add up to this number of morph targets for the remaining error, at most 256.
    ///
    /// Their weights have keys in the fitted clips; see --drive.
    #[arg(long, default_value_t = 0)]
    pub(crate) correctives: usize,
    /// Set what moves helper joints and morph targets.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) drive: DriveArg,
    /// Set the largest number of poses per pose driver.
    #[arg(long, default_value_t = 24, value_name = "NUMBER")]
    pub(crate) drive_poses: usize,
    /// Move a vertex by morph targets only if its error is larger than this, in millimetres.
    #[arg(long, default_value_t = 0.1, value_name = "MILLIMETRES")]
    pub(crate) tolerance: f64,
    /// Set how strongly authored weights are kept, as a share of the character's size.
    ///
    /// A joint must move a vertex this far for the frames to count as much as the authored weight.
    #[arg(long, default_value_t = 2e-3, value_name = "SHARE")]
    pub(crate) hold: f64,
    #[command(flatten)]
    pub(crate) smoothing: SmoothingArgs,
    /// Bake this mesh output of the graph. Default: all outputs that show meshes of the character.
    #[arg(long, value_name = "NAME")]
    pub(crate) mesh_output: Option<String>,
    #[command(flatten)]
    pub(crate) evaluated: DeviceArg,
    #[command(flatten)]
    pub(crate) threads: Threads,
    /// Write report.json and report.html into this folder: errors of each clip, pictures before and after.
    ///
    /// With --verify: the folder of the report to compare with.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) report: Option<PathBuf>,
    /// Write a second GLB with vertices coloured by their error, blue to red.
    #[arg(long, value_name = "FILE", conflicts_with = "verify")]
    pub(crate) color: Option<PathBuf>,
    /// Compare this baked GLB with the frames of the graph, without fitting.
    ///
    /// The exit code is 5 if the error is larger than in the report (--report), or larger than --limit.
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub(crate) verify: Option<PathBuf>,
    /// Allow this root mean square error per clip, in millimetres. Needs --verify.
    ///
    /// It applies to the file as engines play it and as its own graph shows it; with --drive pose to the graph only.
    #[arg(long, value_name = "MILLIMETRES", requires = "verify")]
    pub(crate) limit: Option<f64>,
}

/// Where weights come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodArg {
    /// Fit weights to the frames.
    #[default]
    Fit,
    /// Smooth the authored weights over the mesh (direct delta mush, variant 5). Frames are used for errors, helpers and morph
    /// targets.
    Smoothed,
}

/// What moves helpers and morph targets that were added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum DriveArg {
    /// Keys in the fitted clips. Every engine plays them.
    #[default]
    Clips,
    /// Pose drivers in a graph in the file. Sinew plays them in any pose; other engines show weights only. Joint ranges are
    /// fitted, too.
    Pose,
    /// Keys for engines, and the graph for Sinew.
    Both,
}

/// How `--method smoothed` smooths; see node `direct_delta_mush`.
#[derive(Clone, Copy, Debug, PartialEq, clap::Args)]
pub(crate) struct SmoothingArgs {
    /// Set the strength of the smoothing. Needs --method smoothed.
    #[arg(long, default_value_t = 3.0)]
    pub(crate) lambda: f64,
    /// Set the strength of the smoothing of the second part, at most lambda. Needs --method smoothed.
    #[arg(long, default_value_t = 1.0)]
    pub(crate) kappa: f64,
    /// Set the share of the second part, 0 to 0.95. Needs --method smoothed.
    #[arg(long, default_value_t = 0.8)]
    pub(crate) alpha: f64,
    /// Set the number of iterations of both parts. Needs --method smoothed.
    #[arg(long, default_value_t = 20)]
    pub(crate) iterations: u32,
}
