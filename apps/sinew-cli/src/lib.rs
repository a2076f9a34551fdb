//! The command line of Sinew: parses arguments, calls the library, prints results.
//!
//! [`main`] is the program `sinew`. [`run_job`] runs a command inside another program.

mod args;
mod bake_args;
mod commands;
mod convention_args;
mod device;
mod exit;
mod frames;
mod graph_args;
mod hair_args;
mod host;
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

use clap::FromArgMatches;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

pub use host::{Host, JobError};

/// The program: parses the arguments of the process, runs the command, and reports on the terminal.
pub fn main() -> ExitCode {
    main_with(std::env::args_os().skip(1)).into()
}

/// As [`main`], with arguments without the program's name. Gives the exit code. Ends the process after wrong arguments, `--help` and
/// `--version`.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let name = [OsString::from("sinew")];
    let matches = args::command().get_matches_from(name.into_iter().chain(arguments));
    let args = args::Args::from_arg_matches(&matches).unwrap_or_else(|e| e.exit());
    let mut reporter = reporter::Reporter::new(args.log_format, args.quiet, allowed(&args));
    reporter.listen();
    match work(&matches, &args, &reporter) {
        Ok(()) => 0,
        Err(failure) => {
            reporter.failure(&failure);
            failure.code as u8
        }
    }
}

/// Runs a command inside another program. `arguments` are those of the command line, without the program's name.
///
/// Messages, progress and reports go to `host`, as the events and the text of `--log-format json`. Nothing goes to the terminal,
/// and signals of the process stay as they are. Several jobs can run at once, on different threads.
///
/// # Errors
/// [`JobError`], with the exit code that the program would end with. The event of the failure comes before.
pub fn run_job(
    arguments: impl IntoIterator<Item = OsString>,
    host: Arc<dyn Host>,
) -> Result<(), JobError> {
    let name = [OsString::from("sinew")];
    let parsed = args::command().try_get_matches_from(name.into_iter().chain(arguments));
    let matches = parsed.map_err(|e| JobError::usage(&e))?;
    let args = args::Args::from_arg_matches(&matches).map_err(|e| JobError::usage(&e))?;
    let reporter = reporter::Reporter::of_host(host, args.quiet, allowed(&args));
    work(&matches, &args, &reporter).map_err(|failure| {
        reporter.failure(&failure);
        failure.into()
    })
}

/// All commands and arguments, with their help, for programs that generate bindings.
pub fn definition() -> clap::Command {
    let mut command = args::command();
    command.build();
    command
}

fn allowed(args: &args::Args) -> reporter::Allowed {
    reporter::Allowed {
        folders: args.allowed_folders.clone(),
        kernels: args.trust,
    }
}

fn work(
    matches: &clap::ArgMatches,
    args: &args::Args,
    reporter: &reporter::Reporter,
) -> exit::Outcome {
    sinew::io::set_synced(!args.no_sync);
    threads::with_enough(|| {
        reporter.will_write(outputs::Outputs::of(matches, args.force)?);
        commands::dispatch(args, reporter)
    })?;
    reporter.printed()
}
