//! What `sinew psd` accepts.

use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum PsdCommand {
    /// Say how well the poses of each driver can be solved; as JSON with --log-format json.
    Check(PsdCheckArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct PsdCheckArgs {
    /// Graph document, or character with a graph in it.
    pub(crate) input: PathBuf,
}
