//! What `sinew psd` accepts.

use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum PsdCommand {
    /// Say how well the poses of each driver can be solved; as JSON with --log-format json.
    Check(PsdCheckArgs),
    /// Convert pose drivers between graphs and other systems' files; says what could not be carried.
    Convert(PsdConvertArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct PsdCheckArgs {
    /// Graph document, or character with a graph in it.
    pub(crate) input: PathBuf,
}

/// Files of pose drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PsdFormat {
    /// A graph document: pose_driver, drive_joints, drive_morphs.
    Graph,
    /// JSON of document 004: solvers with DriverObject and Poses.
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
    /// Fail, and write nothing, where something cannot be carried.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// An axis that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Up {
    /// As here.
    Y,
    /// Frames are turned.
    Z,
}
