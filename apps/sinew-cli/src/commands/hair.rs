//! `sinew hair`.

use crate::exit::{Failure, Outcome};
use crate::hair_args::{HairCommand, HairGrowArgs};
use crate::load;
use crate::reporter::Reporter;
use sinew::deform::BindWatch;
use sinew::geom::{GrowAmount, Selection};
use sinew::graph::SetupProgress;
use sinew::hair::{GrowRequest, HAIR_ENDINGS, HairError, grow_hair, write_hair};
use sinew::io::tressfx::LOADABLE;
use std::path::Path;

pub(super) fn hair(command: &HairCommand, reporter: &Reporter) -> Outcome {
    match command {
        HairCommand::Grow(args) => grow(args, reporter),
    }
}

fn grow(args: &HairGrowArgs, reporter: &Reporter) -> Outcome {
    for path in &args.output {
        check_ending(path)?;
        check_vertices(path, args.vertices)?;
    }
    let character = load::character(&args.character, reporter)?;
    let grown = reporter.follow("growth", |watch| {
        let report = |done| (watch.report)(SetupProgress::new(done, "hair"));
        let is_stopped = watch.is_stopped;
        let watch = BindWatch {
            report: &report,
            is_stopped,
        };
        grow_hair(&character, &request(args), &watch)
    });
    reporter.check_interrupt()?;
    let hair = grown.map_err(|e| match e {
        HairError::Selection(_) | HairError::Attribute { .. } | HairError::Clearance(_) => {
            Failure::usage(e)
        }
        other => Failure::bind(format!("{}: {other}", args.character.display())),
    })?;
    let strands = hair.topology.strands().map_or(0, |s| s.len());
    reporter.info(
        "grown",
        &format!("{strands} strands of {} vertices", args.vertices),
    );
    for path in &args.output {
        reporter.check_interrupt()?;
        let warnings = write_hair(path, &character, &hair).map_err(Failure::output)?;
        for w in warnings {
            reporter.warning(w.code, &w.message);
        }
        reporter.wrote_file();
        reporter.info("written", &format!("wrote {}", path.display()));
    }
    Ok(())
}

fn check_ending(path: &Path) -> Outcome {
    let ending = path
        .extension()
        .and_then(|e| e.to_str())
        .unwrap_or_default();
    if HAIR_ENDINGS
        .iter()
        .any(|known| ending.eq_ignore_ascii_case(known))
    {
        return Ok(());
    }
    let known = HAIR_ENDINGS.join(", .");
    let message = format!(
        "{}: unknown file extension, expected .{known}",
        path.display()
    );
    Err(Failure::usage(message))
}

/// Refuses what a `.tfx` file cannot hold before strands grow.
fn check_vertices(path: &Path, vertices: usize) -> Outcome {
    let is_tfx = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("tfx"));
    if !is_tfx || LOADABLE.contains(&vertices) {
        return Ok(());
    }
    let path = path.display();
    Err(Failure::usage(format!(
        "{path}: a .tfx file cannot hold {vertices} vertices per strand; use 4, 8, 16, 32 or 64 (--vertices)"
    )))
}

fn request(args: &HairGrowArgs) -> GrowRequest {
    let mut request = GrowRequest::default();
    request.meshes = args.mesh.clone().map_or(Selection::All, Selection::Named);
    request.density = args.density.clone();
    request.length = args.length_map.clone();
    request.comb = args.comb.clone();
    request.clearance = (!args.no_clearance).then_some(args.clearance);
    let settings = &mut request.settings;
    settings.amount = match args.per_square_metre {
        Some(density) => GrowAmount::PerSquareMetre(density),
        None => GrowAmount::Strands(args.count),
    };
    settings.vertices = args.vertices;
    settings.length = args.length;
    settings.length_variation = args.length_variation;
    settings.lean = args.lean.to_radians();
    settings.comb = args.comb_strength;
    settings.droop = args.droop;
    settings.curl_radius = args.curl;
    settings.curl_length = args.curl_length;
    settings.seed = args.seed;
    request
}
