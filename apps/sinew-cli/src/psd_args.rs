//! What `sinew psd` accepts.

use clap::{Subcommand, ValueEnum};
use sinew::io::pose_driver::psd::BasisOrder;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, Subcommand)]
pub(crate) enum PsdCommand {
    /// Say how well the poses of each driver can be solved; as JSON with --log-format json.
    Check(PsdCheckArgs),
    /// Reduce the correctives of each driver to a few basis targets; the report as JSON lines with --log-format json.
    Compress(PsdCompressArgs),
    /// Convert pose drivers between graphs and other systems' files; says what could not be carried. To its own format a file is copied with every field.
    Convert(PsdConvertArgs),
    /// Turn posed sculpts into morph targets; the report as JSON lines with --log-format json.
    Extract(PsdExtractArgs),
    /// Draw what the weights of a driver do between its poses.
    Plot(PsdPlotArgs),
    /// Remove poses that the others predict, and propose a width; as JSON with --log-format json.
    Fit(PsdFitArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct PsdCheckArgs {
    /// Graph document, or character with a graph in it.
    pub(crate) input: PathBuf,
    /// Warnings count as errors.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PsdPlotArgs {
    /// Graph document, or character with a graph in it.
    pub(crate) input: PathBuf,
    /// Picture to write: .svg or .png.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
    /// Name of the driver's node; needed where there are several.
    #[arg(long, value_name = "NAME")]
    pub(crate) driver: Option<String>,
    /// Pose where the way starts; without --from and --to it goes through all poses in their order.
    #[arg(long, value_name = "POSE", requires = "to")]
    pub(crate) from: Option<String>,
    /// Pose where the way ends.
    #[arg(long, value_name = "POSE", requires = "from")]
    pub(crate) to: Option<String>,
    /// Draw weights over all directions that the joint can point in, instead of along a way.
    #[arg(long, conflicts_with_all = ["from", "to"])]
    pub(crate) sphere: bool,
    /// Driver joint that --sphere swings; without it the first.
    #[arg(long, value_name = "NAME", requires = "sphere")]
    pub(crate) joint: Option<String>,
    /// Weights as the solver gives them, before they are limited.
    #[arg(long, conflicts_with = "sphere")]
    pub(crate) solved: bool,
    /// Width and height of the picture, pixels.
    #[arg(long, default_value = "900x500", value_name = "WxH")]
    pub(crate) size: PlotSize,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PsdFitArgs {
    /// Graph document, or character with a graph in it.
    pub(crate) input: PathBuf,
    /// Graph document to write.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
    /// Name of the driver's node; needed where there are several.
    #[arg(long, value_name = "NAME")]
    pub(crate) driver: Option<String>,
    /// The numbers that each pose drives, a row for each pose of the node, from a .json or .npy file; without it only poses that
    /// are the same go.
    #[arg(long, value_name = "FILE")]
    pub(crate) values: Option<PathBuf>,
    /// How much any of these numbers may be off at any pose.
    #[arg(long, default_value_t = 0.02)]
    pub(crate) tolerance: f64,
    /// Poses nearer than this are the same: degrees, or metres for metric 'position'.
    #[arg(long, default_value_t = 0.5)]
    pub(crate) merge: f64,
    /// Widths with a larger condition number are not taken.
    #[arg(long, default_value_t = 1e6)]
    pub(crate) condition: f64,
}

/// Pixels of a plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlotSize {
    pub(crate) width: u32,
    pub(crate) height: u32,
}

impl PlotSize {
    /// Labels need room.
    const LEAST: u32 = 200;
    const MOST: u32 = 4000;
}

impl FromStr for PlotSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (least, most) = (Self::LEAST, Self::MOST);
        let side = |s: &str| {
            let number = s.trim().parse::<u32>().ok();
            number.filter(|n| (least..=most).contains(n))
        };
        let sides = text.split_once('x');
        let sides = sides.and_then(|(w, h)| Some((side(w)?, side(h)?)));
        sides
            .map(|(width, height)| Self { width, height })
            .ok_or_else(|| format!("expected WxH, each {least} to {most} pixels"))
    }
}

/// Files of pose drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PsdFormat {
    /// A graph document: pose_driver, drive_joints, drive_morphs.
    Graph,
    /// PSD JSON: solvers with DriverObject and Poses.
    Psd,
    /// JSON of PoseWrangler and Pose Driver Connect.
    PoseWrangler,
    /// Plain samples: rotations of joints by name; read only.
    Samples,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PsdConvertArgs {
    /// JSON file of any of the formats, or a character with a graph in it.
    pub(crate) input: PathBuf,
    /// Result, a JSON file.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
    /// Format of the result.
    #[arg(long, value_enum, default_value = "graph")]
    pub(crate) to: PsdFormat,
    /// Format of the input; without it told by what is in it.
    #[arg(long, value_enum)]
    pub(crate) from: Option<PsdFormat>,
    /// Metres in one unit of the scene that the matrices come from, or go to.
    #[arg(long, default_value_t = 0.01)]
    pub(crate) unit_metres: f64,
    /// Which axis points up in every joint's frame of that scene.
    #[arg(long, value_enum, default_value = "y")]
    pub(crate) up: Up,
    /// Which kernel each number of BasisFunction is, in PSD JSON that is read or written; without it `published`.
    #[arg(long, value_enum)]
    pub(crate) basis_order: Option<Basis>,
    /// Fail, and write nothing, where something cannot be carried.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Orders of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Basis {
    /// 0 linear, 1 exponential, 2 cubic, 3 Gaussian: as the format's description lists them.
    Published,
    /// 0 Gaussian, 1 exponential, 2 linear, 3 cubic, 4 quintic.
    Unreal,
}

impl From<Basis> for BasisOrder {
    fn from(basis: Basis) -> Self {
        match basis {
            Basis::Published => Self::Published,
            Basis::Unreal => Self::Unreal,
        }
    }
}

/// An axis that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Up {
    /// As here.
    Y,
    /// Frames are turned.
    Z,
}

/// A sculpt is the character's mesh as it shall be in a pose: in metres and scene space, with the vertices in the order in which
/// Sinew reads and writes them (all meshes of the input, one after another). Programs that split or reorder vertices on export,
/// at texture seams say, break that order: start from what `sinew run -o pose.ply` writes and keep vertex order and count.
#[derive(Debug, clap::Args)]
pub(crate) struct PsdExtractArgs {
    /// GLB file of the character.
    pub(crate) character: PathBuf,
    /// Graph document; without it the one in the character file, else morph targets and linear skinning.
    #[arg(short, long)]
    pub(crate) graph: Option<PathBuf>,
    /// Sculpt (.obj, .ply, .glb, .gltf), the name of its morph target and the frame it was made on; may be given often.
    #[arg(short, long, required = true, value_name = "[NAME=]FILE[@FRAME]")]
    pub(crate) sculpt: Vec<String>,
    /// Name of the morph target, for a sculpt without; else it is the file's.
    #[arg(short, long)]
    pub(crate) name: Option<String>,
    /// Frame, for sculpts without.
    #[arg(short, long)]
    pub(crate) frame: Option<i64>,
    /// Clip that has the pose; without it the first one.
    #[arg(short, long)]
    pub(crate) clip: Option<String>,
    /// Frames a second: frame n is at n / fps seconds.
    #[arg(long, default_value_t = 30.0)]
    pub(crate) fps: f64,
    /// Set a parameter, name=value (JSON, or plain text); may be given often.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Numbers for a values input, from a .json or .npy file; may be given often.
    #[arg(long, value_name = "NAME=FILE")]
    pub(crate) values: Vec<String>,
    /// The graph's mesh output that the sculpts were made on; without it the first one.
    #[arg(long, value_name = "NAME")]
    pub(crate) of: Option<String>,
    /// Largest distance to the sculpt that counts as reached, metres.
    #[arg(long, default_value_t = 1e-5, value_name = "METRES")]
    pub(crate) tolerance: f64,
    /// Offsets shorter than this are left out, metres.
    #[arg(long, default_value_t = 1e-6, value_name = "METRES")]
    pub(crate) drop_below: f64,
    /// Keeps offsets short where the graph smooths them away: 0 comes nearest to the sculpt, with offsets that may be wild.
    #[arg(long, default_value_t = 0.005)]
    pub(crate) damping: f64,
    /// GLB file to write: the character with the morph targets.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
}

/// Correctives that a pose driver brings in are reduced to the fewest basis targets whose mixtures give each of them up to the tolerance, each
/// node drive_morphs by itself. Targets that take part in in-betweens or combinations, or that something else drives, stay.
#[derive(Debug, clap::Args)]
pub(crate) struct PsdCompressArgs {
    /// GLB file of the character.
    pub(crate) character: PathBuf,
    /// Graph document; without it the one in the character file.
    #[arg(short, long)]
    pub(crate) graph: Option<PathBuf>,
    /// GLB file to write: the character with basis targets, and with the graph where that was in the file.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
    /// Graph document to write; without it, where --graph gave one, beside the GLB file with the ending .json.
    #[arg(long, value_name = "FILE")]
    pub(crate) graph_output: Option<PathBuf>,
    /// How far any vertex may be off in any of the poses, metres.
    #[arg(long, value_name = "METRES")]
    pub(crate) tolerance: f64,
    /// Basis targets at most for each driver, even where the tolerance is not reached with so few.
    #[arg(long, value_name = "N")]
    pub(crate) components: Option<usize>,
    /// Offsets of basis targets shorter than this share of the tolerance are left out.
    #[arg(long, default_value_t = 0.1, value_name = "SHARE")]
    pub(crate) drop_share: f64,
}
