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
use crate::talk::Talk;
use sinew::graph::Plan;
use sinew::play::Document;
use sinew::psd::{GraphDriver, drivers_of};
use std::path::Path;

pub(super) fn psd(command: &PsdCommand, talk: &Talk) -> Outcome {
    match command {
        PsdCommand::Check(args) => check::check(args, talk),
        PsdCommand::Compress(args) => compress::compress(args, talk),
        PsdCommand::Convert(args) => convert::convert(args, talk),
        PsdCommand::Extract(args) => extract::extract(args, talk),
        PsdCommand::Fit(args) => fit::fit(args, talk),
        PsdCommand::Plot(args) => plot::plot(args, talk),
    }
}

/// A graph document, or the graph in a character.
fn document(path: &Path, talk: &Talk) -> Outcome<Document> {
    let is_document = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("json"));
    if is_document {
        return load::document(path, talk);
    }
    let character = load::character(path, talk)?;
    load::chosen_document(None, &character, talk)
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
fn one_driver(document: &Document, name: Option<&str>, talk: &Talk) -> Outcome<GraphDriver> {
    let plan = load::compile(document, talk)?;
    let mut found = drivers(document, &plan)?;
    let names: Vec<&str> = found.iter().map(|d| d.name.as_str()).collect();
    let index = match name {
        Some(name) => names.iter().position(|n| *n == name).ok_or_else(|| {
            let message = format!(
                "there is no driver '{name}'; the drivers are {}",
                names.join(", ")
            );
            Failure::usage(message)
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
