//! The command line of Sinew: parses arguments, calls the library, prints results.

mod args;
mod bake_args;
mod commands;
mod convention_args;
mod device;
mod exit;
mod frames;
mod graph_args;
mod hair_args;
mod load;
mod output;
mod outputs;
mod psd_args;
mod render_args;
mod reporter;
mod results;
mod resume;
mod saved_state;
mod setup;
mod signals;
mod skin_args;
mod summary;
mod terminal;
mod threads;
mod value_table;

use clap::{CommandFactory, FromArgMatches};
use std::process::ExitCode;

fn main() -> ExitCode {
    let matches = args::Args::command().get_matches();
    let args = args::Args::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    sinew::io::set_synced(!args.no_sync);
    let allowed = reporter::Allowed {
        folders: args.allowed_folders.clone(),
        kernels: args.trust,
    };
    let mut reporter = reporter::Reporter::new(args.log_format, args.quiet, allowed);
    reporter.listen();
    let done = threads::with_enough(|| {
        reporter.will_write(outputs::Outputs::of(&matches, args.force)?);
        commands::dispatch(&args, &reporter)
    });
    match done.and_then(|()| reporter::printed()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            reporter.failure(&failure);
            failure.code.into()
        }
    }
}
