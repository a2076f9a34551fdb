//! `sinew check`.

use super::run::solvers;
use crate::args::CheckArgs;
use crate::exit::{Code, Failure, Outcome};
use crate::frames::{frame_list, tell_held};
use crate::load;
use crate::reporter::{Reporter, counted};
use crate::setup::{self, SetupFile};
use serde_json::json;
use sinew::deform::Par;
use sinew::graph::{BindOptions, BoundGraph, Plan};
use sinew::play::{Document, PlayError, PlayInputs};
use std::path::Path;
use std::sync::Arc;

pub(super) fn check(args: &CheckArgs, reporter: &Reporter) -> Outcome {
    let ending = args
        .graph
        .extension()
        .map(std::ffi::OsStr::to_ascii_lowercase);
    let document = match ending {
        Some(e) if e == "glb" || e == "gltf" || e == "vrm" => {
            load::embedded_document(&args.graph, reporter)?
        }
        _ => load::document(&args.graph, reporter)?,
    };
    let plan = Arc::new(load::compile(&document, reporter)?);
    match &args.character {
        Some(path) => check_with(args, path, &document, &plan, reporter)?,
        None if args.explain => reporter.print(&plan.explain()),
        None => {}
    }
    tell_checked(args, &document.name, &plan, reporter);
    Ok(())
}

/// Binds the graph to a character; tells the errors of all nodes.
fn check_with(
    args: &CheckArgs,
    path: &Path,
    document: &Document,
    plan: &Arc<Plan>,
    reporter: &Reporter,
) -> Outcome {
    let character = load::character(path, reporter)?;
    let clip = character.find_clip_name(args.clip.as_deref())?;
    let given = load::Given {
        files: &args.input_files,
        point_caches: &args.point_caches,
        expressions: &[],
    };
    let cast = load::cast(character, plan, document, given, reporter)?;
    if args.frames.is_some() {
        let clip = cast.main().asset.find_clip(clip.as_deref());
        let numbers = frame_list(args.frames.as_deref(), clip, None, args.fps, reporter)?;
        tell_held(&cast, &numbers, args.fps, reporter);
    }
    let bound = setup::bind(&cast, plan, &[], &SetupFile::default(), reporter);
    let graph = bound.map_err(|first| all_errors(first, &cast, plan, reporter))?;
    if args.explain {
        reporter.print(&graph.instance().explain());
    }
    Ok(())
}

/// Tells every error of the nodes if there are several; `first` is the one that binding stopped at.
fn all_errors(first: Failure, cast: &PlayInputs, plan: &Arc<Plan>, reporter: &Reporter) -> Failure {
    if first.code != Code::Bind {
        return first;
    }
    let options = BindOptions::from(Par::Rayon);
    let all = BoundGraph::problems(plan.clone(), cast.bindings(), &[], options);
    if all.len() < 2 {
        return first;
    }
    for error in all {
        reporter.error("node", &Failure::from(PlayError::from(error)).message);
    }
    Failure {
        shown: true,
        ..first
    }
}

/// Says that there are no errors, what was not looked at, and whether frames depend on earlier ones: who splits a run into chunks must know.
fn tell_checked(args: &CheckArgs, name: &str, plan: &Plan, reporter: &Reporter) {
    let nodes = counted(plan.nodes().len() as u64, "node");
    let simulates = match &*solvers(plan) {
        "" => String::new(),
        nodes => format!("; simulates ({nodes}): each frame depends on the frames before it"),
    };
    let is_bound = args.character.is_some();
    let unchecked = match is_bound {
        true => "",
        false => {
            "; without a character, names of joints, indices of links and counts of weights and points are not checked: add --character FILE"
        }
    };
    let names: Vec<&str> = plan.solvers().map(|n| &*n.name).collect();
    reporter.info_with(
        "checked",
        &format!("{name}: {nodes}, no errors{simulates}{unchecked}"),
        json!({ "solvers": names, "bound": is_bound }),
    );
}
