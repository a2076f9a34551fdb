//! `sinew psd`.

mod check;
mod convert;
mod extract;

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
        PsdCommand::Convert(args) => convert::convert(args, talk),
        PsdCommand::Extract(args) => extract::extract(args, talk),
    }
}

/// The plan of a graph document, or of the graph in a character, and its document's name.
fn plan(path: &Path, talk: &Talk) -> Outcome<(Plan, String)> {
    let is_document = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let document = if is_document {
        load::document(path)?
    } else {
        let character = load::character(path, talk)?;
        Document::of_character(&character)
    };
    Ok((load::compile(&document, talk)?, document.name))
}

/// The drivers of a graph document, or of the graph in a character; one or more.
fn drivers(path: &Path, talk: &Talk) -> Outcome<Vec<GraphDriver>> {
    let (plan, name) = plan(path, talk)?;
    let found = drivers_of(&plan)
        .map_err(|(node, e)| Failure::new(Code::Graph, format!("{name}: node '{node}': {e}")))?;
    if found.is_empty() {
        return Err(no_drivers(&name));
    }
    Ok(found)
}

fn no_drivers(document: &str) -> Failure {
    let message = format!("{document} has no node 'pose_driver'");
    Failure::new(Code::Graph, message)
}
