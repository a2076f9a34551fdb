//! `sinew check`.

use crate::args::CheckArgs;
use crate::character::{Cast, Character};
use crate::document::Document;
use crate::exit::{Failure, Outcome};
use crate::talk::{Talk, print};
use sinew::deform::Par;
use sinew::graph::BoundGraph;
use std::sync::Arc;

pub(super) fn check(args: &CheckArgs, talk: &Talk) -> Outcome {
    let document = Document::from_file(&args.graph)?;
    let plan = Arc::new(document.compile(talk)?);
    if args.explain {
        print(&plan.explain());
    }
    if let Some(path) = &args.character {
        let character = Character::load(path, talk)?;
        let cast = Cast::assemble(character, &plan, &document.folder, talk)?;
        let graph = BoundGraph::bind(plan.clone(), &cast.bindings, &[], Par::Rayon);
        let graph = Arc::new(graph.map_err(Failure::bind)?);
        match (args.explain, graph.program().device_only()) {
            (true, None) => print(&graph.instance().map_err(Failure::bind)?.explain()),
            (true, Some(step)) => print(&format!(
                "runs on graphics devices only, because of the custom kernel '{}'\n",
                step.name
            )),
            (false, _) => {}
        }
    }
    talk.info(
        "checked",
        &format!(
            "{}: {} nodes, no problem",
            document.name,
            plan.nodes().len()
        ),
    );
    Ok(())
}
