//! `sinew psd convert`.

use super::{document, no_driver};
use crate::exit::{Code, Failure, Outcome};
use crate::load;
use crate::psd_args::{PsdConvertArgs, PsdFormat, Up};
use crate::talk::Talk;
use sinew::geom::Warning;
use sinew::io::pose_driver::{
    MayaScene, UpAxis, read_pose_wrangler, read_psd, read_samples, write_pose_wrangler, write_psd,
};
use sinew::psd::convert::{
    Losses, Solver, from_pose_wrangler, from_psd, from_samples, graph_text, solvers_of_plan,
    to_pose_wrangler, to_psd,
};
use std::path::Path;

pub(super) fn convert(args: &PsdConvertArgs, talk: &Talk) -> Outcome {
    let scene = scene(args)?;
    let from = match args.from {
        Some(format) => format,
        None => format_of(&args.input)?,
    };
    let (solvers, mut losses) = read(&args.input, from, &scene, talk)?;
    let written: Written = match args.to {
        PsdFormat::Graph => {
            let (text, lost) = graph_text(&solvers);
            losses.0.extend(lost.0);
            Box::new(move |path| sinew::io::write_text(path, &text))
        }
        PsdFormat::Psd => {
            let (document, lost) = to_psd(&solvers, &scene);
            losses.0.extend(lost.0);
            Box::new(move |path| write_psd(path, &document))
        }
        PsdFormat::PoseWrangler => {
            let (document, lost) = to_pose_wrangler(&solvers, &scene);
            losses.0.extend(lost.0);
            Box::new(move |path| write_pose_wrangler(path, &document))
        }
        PsdFormat::Samples => {
            return Err(Failure::usage("--to samples: this format is read only"));
        }
    };
    for loss in &losses.0 {
        talk.warning("not_carried", &format!("{}: {}", loss.solver, loss.what));
    }
    if args.strict && !losses.0.is_empty() {
        let message = format!(
            "{} things cannot be carried; nothing was written",
            losses.0.len()
        );
        return Err(Failure::new(Code::Output, message));
    }
    written(&args.output).map_err(Failure::output)?;
    let message = format!("{}: {} solvers", args.output.display(), solvers.len());
    talk.info("written", &message);
    Ok(())
}

type Written = Box<dyn Fn(&Path) -> Result<(), sinew::io::IoError>>;

fn scene(args: &PsdConvertArgs) -> Outcome<MayaScene> {
    let unit_metres = args.unit_metres;
    if !(unit_metres.is_finite() && unit_metres > 0.0) {
        let message = format!("--unit-metres {unit_metres}: expected a number greater than 0");
        return Err(Failure::usage(message));
    }
    let up = match args.up {
        Up::Y => UpAxis::Y,
        Up::Z => UpAxis::Z,
    };
    Ok(MayaScene { unit_metres, up })
}

fn read(
    path: &Path,
    format: PsdFormat,
    scene: &MayaScene,
    talk: &Talk,
) -> Outcome<(Vec<Solver>, Losses)> {
    let warn = |warnings: &[Warning]| {
        for w in warnings {
            talk.warning(w.code, &format!("{}: {}", path.display(), w.message));
        }
    };
    match format {
        PsdFormat::Graph => {
            let document = document(path, talk)?;
            let found = solvers_of_plan(&load::compile(&document, talk)?);
            let found = found.map_err(|(node, e)| {
                Failure::new(
                    Code::Graph,
                    format!("{}: node '{node}': {e}", document.name),
                )
            })?;
            if found.0.is_empty() {
                return Err(no_driver(&document));
            }
            Ok(found)
        }
        PsdFormat::Psd => {
            let document = read_psd(path).map_err(Failure::input)?;
            warn(&document.warnings);
            Ok(from_psd(&document, scene))
        }
        PsdFormat::PoseWrangler => {
            let document = read_pose_wrangler(path).map_err(Failure::input)?;
            warn(&document.warnings);
            Ok(from_pose_wrangler(&document, scene))
        }
        PsdFormat::Samples => {
            let document = read_samples(path).map_err(Failure::input)?;
            Ok((from_samples(&document), Losses::default()))
        }
    }
}

/// Told by keys that only one of the formats has.
fn format_of(path: &Path) -> Outcome<PsdFormat> {
    let is_json = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("json"));
    if !is_json {
        return Ok(PsdFormat::Graph);
    }
    let text = sinew::io::read_text(path).map_err(Failure::input)?;
    let has = |key: &str| text.contains(&format!("\"{key}\""));
    Ok(if has("sinew") {
        PsdFormat::Graph
    } else if has("DriverObject") {
        PsdFormat::Psd
    } else if has("rest_rotation_xyzw") {
        PsdFormat::Samples
    } else if has("drivers") {
        PsdFormat::PoseWrangler
    } else {
        let message = format!(
            "{}: none of the formats graph, psd, pose-wrangler, samples; --from says which it is meant to be",
            path.display()
        );
        return Err(Failure::input(message));
    })
}
