//! `sinew check`.

use crate::args::CheckArgs;
use crate::character::{Cast, Character};
use crate::document::Document;
use crate::exit::{Failure, Outcome};
use crate::talk::{Talk, print};
use sinew::deform::Par;
use sinew::graph::Instance;
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
        let instance =
            Instance::bind(plan.clone(), &cast.bindings, &[], Par::Rayon).map_err(Failure::bind)?;
        if args.explain {
            print(&instance.explain());
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
