//! `sinew psd`.

mod check;
mod compress;
mod convert;
mod extract;
mod fit;
mod plot;

use crate::exit::{Code, Failure, Outcome};
use crate::load;
use crate::psd_args::PsdCommand;
use crate::reporter::Reporter;
use sinew::graph::Plan;
use sinew::play::Document;
use sinew::psd::{GraphDriver, drivers_of};
use std::path::Path;

pub(super) fn psd(command: &PsdCommand, reporter: &Reporter) -> Outcome {
    match command {
        PsdCommand::Check(args) => check::check(args, reporter),
        PsdCommand::Compress(args) => compress::compress(args, reporter),
        PsdCommand::Convert(args) => convert::convert(args, reporter),
        PsdCommand::Extract(args) => extract::extract(args, reporter),
        PsdCommand::Fit(args) => fit::fit(args, reporter),
        PsdCommand::Plot(args) => plot::plot(args, reporter),
    }
}

/// A graph document, or the graph in a character.
fn document(path: &Path, reporter: &Reporter) -> Outcome<Document> {
    if load::is_document(path) {
        return load::document(path, reporter);
    }
    let character = load::character(path, reporter)?;
    load::chosen_document(None, &character, reporter)
}

/// Its drivers; at least one.
fn drivers(document: &Document, plan: &Plan) -> Outcome<Vec<GraphDriver>> {
    let found = drivers_of(plan).map_err(|(node, e)| {
        Failure::new(
            Code::Graph,
            format!("{}: node '{node}': {e}", document.name),
        )
    })?;
    if found.is_empty() {
        return Err(no_driver(document));
    }
    Ok(found)
}

fn no_driver(document: &Document) -> Failure {
    let message = format!(
        "{}: the graph has no node 'pose_driver', expected at least one",
        document.name
    );
    Failure::new(Code::Graph, message)
}

/// The driver of that name, or the only one.
fn one_driver(
    document: &Document,
    name: Option<&str>,
    reporter: &Reporter,
) -> Outcome<GraphDriver> {
    let plan = load::compile(document, reporter)?;
    let mut found = drivers(document, &plan)?;
    let names: Vec<&str> = found.iter().map(|d| d.name.as_str()).collect();
    let index = match name {
        Some(name) => names.iter().position(|n| *n == name).ok_or_else(|| {
            let known = names.join(", ");
            Failure::usage(format!("there is no driver '{name}'; known: {known}"))
        })?,
        None if names.len() == 1 => 0,
        None => {
            let message = format!(
                "{}: the graph has several drivers; select one with --driver: {}",
                document.name,
                names.join(", ")
            );
            return Err(Failure::usage(message));
        }
    };
    Ok(found.swap_remove(index))
}
