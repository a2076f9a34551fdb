//! `sinew psd`.

mod check;
mod extract;

use crate::exit::{Code, Failure, Outcome};
use crate::load;
use crate::psd_args::PsdCommand;
use crate::talk::Talk;
use sinew::play::Document;
use sinew::psd::{GraphDriver, drivers_of};
use std::path::Path;

pub(super) fn psd(command: &PsdCommand, talk: &Talk) -> Outcome {
    match command {
        PsdCommand::Check(args) => check::check(args, talk),
        PsdCommand::Extract(args) => extract::extract(args, talk),
    }
}

/// The drivers of a graph document, or of the graph in a character.
fn drivers(path: &Path, talk: &Talk) -> Outcome<Vec<GraphDriver>> {
    let is_document = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let document = if is_document {
        load::document(path)?
    } else {
        let character = load::character(path, talk)?;
        Document::of_character(&character)
    };
    let plan = load::compile(&document, talk)?;
    let found = drivers_of(&plan).map_err(|(node, e)| {
        Failure::new(
            Code::Graph,
            format!("{}: node '{node}': {e}", document.name),
        )
    })?;
    if found.is_empty() {
        let message = format!("{} has no node 'pose_driver'", document.name);
        return Err(Failure::new(Code::Graph, message));
    }
    Ok(found)
}
