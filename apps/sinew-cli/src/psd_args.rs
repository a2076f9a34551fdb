//! What `sinew psd` accepts.

use clap::{Subcommand, ValueEnum};
use sinew::io::pose_driver::psd::BasisOrder;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, Subcommand)]
pub(crate) enum PsdCommand {
    /// Check how well the poses of each driver can be solved. For JSON use --log-format json.
    Check(PsdCheckArgs),
    /// Reduce the correctives of each driver to a few basis targets. For a JSON report use --log-format json.
    ///
    /// Each node drive_morphs is reduced by itself: its correctives are replaced by the fewest basis targets whose mixtures
    /// reproduce them within the tolerance.
    ///
    /// Targets of in-betweens and combinations, and targets that something else drives, stay.
    Compress(PsdCompressArgs),
    /// Convert pose drivers between graphs and files of other tools.
    ///
    /// Warnings name what could not be converted. If the format stays the same, the file is copied with all its fields.
    Convert(PsdConvertArgs),
    /// Turn posed sculpts into morph targets. For a JSON report use --log-format json.
    ///
    /// A sculpt is the mesh of the character as it should look in a pose, in metres and in scene space. Its vertices have the
    /// order in which Sinew reads and writes them: all meshes of the input, one after another.
    ///
    /// Start from the file that `sinew run -o pose.ply` writes, and keep the order and number of vertices. Programs that split
    /// or reorder vertices on export, for example at texture seams, break the order.
    Extract(PsdExtractArgs),
    /// Plot the weights of a driver between its poses.
    Plot(PsdPlotArgs),
    /// Remove poses that the others predict, and set a better width. For a JSON report use --log-format json.
    Fit(PsdFitArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct PsdCheckArgs {
    /// Graph document, or a character with an embedded graph.
    pub(crate) input: PathBuf,
    /// Treat warnings as errors.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PsdPlotArgs {
    /// Graph document, or a character with an embedded graph.
    pub(crate) input: PathBuf,
    /// Write the plot to this file: .svg or .png.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
    /// Select the driver by the name of its node. Required if there are several.
    #[arg(long, value_name = "NAME")]
    pub(crate) driver: Option<String>,
    /// Start the plot at this pose. Default, without --from and --to: through all poses in their order.
    #[arg(long, value_name = "POSE", requires = "to")]
    pub(crate) from: Option<String>,
    /// End the plot at this pose.
    #[arg(long, value_name = "POSE", requires = "from")]
    pub(crate) to: Option<String>,
    /// Draw the weights for all directions of the joint, instead of along a path of poses.
    #[arg(long, conflicts_with_all = ["from", "to"])]
    pub(crate) sphere: bool,
    /// Swing this driver joint for --sphere. Default: the first joint.
    #[arg(long, value_name = "NAME", requires = "sphere")]
    pub(crate) joint: Option<String>,
    /// Plot the weights of the solver before they are limited.
    #[arg(long, conflicts_with = "sphere")]
    pub(crate) solved: bool,
    /// Set the width and height of the picture, in pixels.
    #[arg(long, default_value = "900x500", value_name = "WxH")]
    pub(crate) size: PlotSize,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PsdFitArgs {
    /// Graph document, or a character with an embedded graph.
    pub(crate) input: PathBuf,
    /// Write this graph document.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
    /// Select the driver by the name of its node. Required if there are several.
    #[arg(long, value_name = "NAME")]
    pub(crate) driver: Option<String>,
    /// Read the numbers that each pose drives from a .json or .npy file, one row per pose of the node.
    ///
    /// Without it, only duplicate poses are removed.
    #[arg(long, value_name = "FILE")]
    pub(crate) values: Option<PathBuf>,
    /// Allow this error of any of the numbers at any pose.
    #[arg(long, default_value_t = 0.02)]
    pub(crate) tolerance: f64,
    /// Merge poses that are nearer than this: in degrees, or in metres for metric 'position'.
    #[arg(long, default_value_t = 0.5)]
    pub(crate) merge: f64,
    /// Reject widths with a larger condition number than this.
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
    /// Labels need space.
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
    /// Graph document: nodes pose_driver, drive_joints and drive_morphs.
    Graph,
    /// PSD JSON: solvers with DriverObject and Poses.
    Psd,
    /// JSON of PoseWrangler or Pose Driver Connect.
    PoseWrangler,
    /// Plain samples: joint rotations by name. Input only.
    Samples,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PsdConvertArgs {
    /// JSON file in one of the formats, or a character with an embedded graph.
    pub(crate) input: PathBuf,
    /// Write this JSON file.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
    /// Set the format of the result.
    #[arg(long, value_enum, default_value = "graph")]
    pub(crate) to: PsdFormat,
    /// Set the format of the input. Default: detected from its content.
    #[arg(long, value_enum)]
    pub(crate) from: Option<PsdFormat>,
    /// Set the size of one scene unit in the other tool, in metres.
    #[arg(long, default_value_t = 0.01)]
    pub(crate) unit_metres: f64,
    /// Set the up axis of the joint frames in the other tool.
    #[arg(long, value_enum, default_value = "y")]
    pub(crate) up: Up,
    /// Set which kernel each BasisFunction number of PSD JSON means. Default: published.
    #[arg(long, value_enum)]
    pub(crate) basis_order: Option<Basis>,
    /// Fail and write nothing if something cannot be converted.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Orders of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Basis {
    /// 0 linear, 1 exponential, 2 cubic, 3 Gaussian: the order in the description of the format.
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
    /// +Y, as in Sinew.
    Y,
    /// +Z. Joint frames are rotated.
    Z,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PsdExtractArgs {
    /// GLB or VRM file of the character.
    pub(crate) character: PathBuf,
    /// Use this graph document.
    ///
    /// Default: the graph that is embedded in the character. Without one: morph targets and linear skinning.
    #[arg(short, long)]
    pub(crate) graph: Option<PathBuf>,
    /// Extract this sculpt (.obj, .ply, .glb or .gltf) as morph target NAME, made on frame FRAME. Repeat for more.
    #[arg(short, long, required = true, value_name = "[NAME=]FILE[@FRAME]")]
    pub(crate) sculpt: Vec<String>,
    /// Set the name of the morph target for a sculpt without NAME. Default: the name of the file.
    #[arg(short, long)]
    pub(crate) name: Option<String>,
    /// Set the frame for sculpts without FRAME.
    #[arg(short, long)]
    pub(crate) frame: Option<i64>,
    /// Take the pose from this clip. Default: the first clip.
    #[arg(short, long)]
    pub(crate) clip: Option<String>,
    /// Set the frame rate, in frames per second. Frame n is at n / fps seconds.
    #[arg(long, default_value_t = 30.0, value_parser = crate::args::number)]
    pub(crate) fps: f64,
    /// Set a graph parameter. VALUE is JSON or plain text. Repeat for more.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) set: Vec<String>,
    /// Read numbers for a `values` input from a .json or .npy file. Repeat for more.
    #[arg(long, value_name = "NAME=FILE")]
    pub(crate) values: Vec<String>,
    /// Name the mesh output that the sculpts were made on. Default: the first one.
    #[arg(long, value_name = "NAME")]
    pub(crate) of: Option<String>,
    /// Stop when all vertices are this near to the sculpt, in metres. The report lists those that stay farther away.
    #[arg(long, default_value_t = 1e-5, value_name = "METRES")]
    pub(crate) tolerance: f64,
    /// Leave out offsets that are shorter than this, in metres.
    #[arg(long, default_value_t = 1e-6, value_name = "METRES")]
    pub(crate) drop_below: f64,
    /// Keep offsets short where the graph smooths them away.
    ///
    /// 0 comes nearest to the sculpt, but can give very long offsets.
    #[arg(long, default_value_t = 0.005)]
    pub(crate) damping: f64,
    /// Write this GLB file: the character with the morph targets. A VRM avatar may be written as .vrm.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PsdCompressArgs {
    /// GLB or VRM file of the character.
    pub(crate) character: PathBuf,
    /// Use this graph document. Default: the graph that is embedded in the character.
    #[arg(short, long)]
    pub(crate) graph: Option<PathBuf>,
    /// Write this GLB file: the character with basis targets, and the new graph if the graph was embedded. A VRM avatar may be
    /// written as .vrm.
    #[arg(short, long)]
    pub(crate) output: PathBuf,
    /// Write the new graph to this document. Default, with --graph: beside the GLB file, with extension .json.
    #[arg(long, value_name = "FILE")]
    pub(crate) graph_output: Option<PathBuf>,
    /// Allow this error of any vertex in any pose, in metres.
    #[arg(long, value_name = "METRES")]
    pub(crate) tolerance: f64,
    /// Set the largest number of basis targets per driver, even if the tolerance is not reached.
    #[arg(long, value_name = "N")]
    pub(crate) components: Option<usize>,
    /// Leave out offsets of basis targets that are shorter than this share of the tolerance.
    #[arg(long, default_value_t = 0.1, value_name = "SHARE")]
    pub(crate) drop_share: f64,
}
