//! What `sinew psd` accepts.

use clap::Subcommand;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, Subcommand)]
pub(crate) enum PsdCommand {
    /// Say how well the poses of each driver can be solved; as JSON with --log-format json.
    Check(PsdCheckArgs),
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
