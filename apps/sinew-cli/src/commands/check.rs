//! `sinew check`.

use super::run::solvers;
use crate::args::CheckArgs;
use crate::exit::Outcome;
use crate::load;
use crate::reporter::{Reporter, counted, print};
use crate::setup::{self, SetupFile};
use serde_json::json;
use sinew::graph::Plan;
use std::sync::Arc;

pub(super) fn check(args: &CheckArgs, reporter: &Reporter) -> Outcome {
    let ending = args
        .graph
        .extension()
        .map(std::ffi::OsStr::to_ascii_lowercase);
    let document = match ending {
        Some(e) if e == "glb" || e == "gltf" => load::embedded_document(&args.graph, reporter)?,
        _ => load::document(&args.graph, reporter)?,
    };
    let plan = Arc::new(load::compile(&document, reporter)?);
    if args.explain {
        print(&plan.explain());
    }
    if let Some(path) = &args.character {
        let character = load::character(path, reporter)?;
        let cast = load::cast(
            character,
            &plan,
            &document.folders,
            load::Given {
                files: &args.input_files,
                point_caches: &args.point_caches,
            },
            reporter,
        )?;
        let graph = setup::bind(&cast, &plan, &[], &SetupFile::default(), reporter)?;
        if args.explain {
            print(&graph.instance().explain());
        }
    }
    tell_checked(&document.name, &plan, reporter);
    Ok(())
}

/// Says that there are no errors, and whether frames depend on earlier ones: who splits a run into chunks must know.
fn tell_checked(name: &str, plan: &Plan, reporter: &Reporter) {
    let nodes = counted(plan.nodes().len() as u64, "node");
    let simulates = match &*solvers(plan) {
        "" => String::new(),
        nodes => format!("; simulates ({nodes}): each frame depends on the frames before it"),
    };
    let names: Vec<&str> = plan.solvers().map(|n| &*n.name).collect();
    reporter.info_with(
        "checked",
        &format!("{name}: {nodes}, no errors{simulates}"),
        json!({ "solvers": names }),
    );
}
