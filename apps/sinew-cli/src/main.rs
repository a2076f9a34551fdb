//! The command line of Sinew: parse, call, print.

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
mod psd_args;
mod render_args;
mod setup;
mod skin_args;
mod talk;
mod threads;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = args::Args::parse();
    let allowed = talk::Allowed {
        folders: args.allowed_folders.clone(),
        kernels: args.trust,
    };
    let talk = talk::Talk::new(args.log_format, args.quiet, allowed);
    match commands::dispatch(&args, &talk) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            talk.failure(&failure);
            failure.code.into()
        }
    }
}
