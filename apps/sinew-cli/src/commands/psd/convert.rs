//! `sinew psd convert`.

use super::{document, no_driver};
use crate::exit::{Code, Failure, Outcome};
use crate::load;
use crate::psd_args::{PsdConvertArgs, PsdFormat, Up};
use crate::reporter::{Reporter, counted};
use sinew::geom::Warning;
use sinew::io::pose_driver::psd::BasisOrder;
use sinew::io::pose_driver::{
    MayaScene, PoseWranglerDocument, PsdDocument, SamplesDocument, UpAxis, read_pose_wrangler,
    read_psd, read_samples, write_pose_wrangler, write_psd,
};
use sinew::psd::convert::{
    Losses, Solver, from_pose_wrangler, from_psd, from_samples, graph_text, solvers_of_plan,
    to_pose_wrangler, to_psd,
};
use std::path::Path;

pub(super) fn convert(args: &PsdConvertArgs, reporter: &Reporter) -> Outcome {
    let scene = scene(args)?;
    if args.to == PsdFormat::Samples {
        let message = "--to samples: this format can only be read; use graph, psd or pose-wrangler";
        return Err(Failure::usage(message));
    }
    let from = match args.from {
        Some(format) => format,
        None => format_of(&args.input)?,
    };
    let read = read(&args.input, from, reporter)?;
    let (count, losses, written) = if from == args.to {
        // The document itself has all that the file has, fields of other programs, too.
        (read.count(), Losses::default(), read.into_written())
    } else {
        let order = args.basis_order.map_or(BasisOrder::Published, Into::into);
        if args.basis_order.is_none() {
            assume_order(&read, reporter);
        }
        let (solvers, mut losses) = solvers(&read, &scene, order);
        let (written, lost) = other_format(&solvers, args.to, &scene, order);
        losses.0.extend(lost.0);
        (solvers.len(), losses, written)
    };
    for loss in &losses.0 {
        let (code, words) = match loss.assumed {
            true => ("assumed", "assumed"),
            false => ("not_carried", "cannot be converted"),
        };
        reporter.warning(code, &format!("{words}: {}: {}", loss.solver, loss.what));
    }
    let lost = losses.lost().count();
    if args.strict && lost > 0 {
        let message = format!(
            "{} cannot be converted (--strict); nothing was written",
            counted(lost as u64, "item")
        );
        return Err(Failure::new(Code::Output, message));
    }
    written(&args.output).map_err(Failure::output)?;
    let solvers = if count == 1 { "solver" } else { "solvers" };
    let message = format!("wrote {}: {count} {solvers}", args.output.display());
    reporter.info("written", &message);
    Ok(())
}

/// A file that was read, in its own format.
enum Read {
    Graph {
        text: String,
        solvers: Vec<Solver>,
        losses: Losses,
    },
    Psd(PsdDocument),
    PoseWrangler(PoseWranglerDocument),
    Samples(SamplesDocument),
}

impl Read {
    fn count(&self) -> usize {
        match self {
            Self::Graph { solvers, .. } => solvers.len(),
            Self::Psd(document) => document.solvers.len(),
            Self::PoseWrangler(document) => document.solvers().len(),
            Self::Samples(document) => document.solvers.len(),
        }
    }

    /// What writes it as it is. Samples are read only, which is refused before.
    fn into_written(self) -> Written {
        match self {
            Self::Graph { text, .. } => Box::new(move |path| sinew::io::write_text(path, &text)),
            Self::Psd(document) => Box::new(move |path| write_psd(path, &document)),
            Self::PoseWrangler(document) => {
                Box::new(move |path| write_pose_wrangler(path, &document))
            }
            Self::Samples(_) => Box::new(|_| Ok(())),
        }
    }
}

/// The solvers of a file, and the fields that no solver holds.
fn solvers(read: &Read, scene: &MayaScene, order: BasisOrder) -> (Vec<Solver>, Losses) {
    match read {
        Read::Graph {
            solvers, losses, ..
        } => (solvers.clone(), losses.clone()),
        Read::Psd(document) => from_psd(document, scene, order),
        Read::PoseWrangler(document) => from_pose_wrangler(document, scene),
        Read::Samples(document) => from_samples(document),
    }
}

/// Says which kernel a number was taken for, where another order would give another one.
fn assume_order(read: &Read, reporter: &Reporter) {
    let Read::Psd(document) = read else { return };
    for s in &document.solvers {
        let [published, unreal] =
            [BasisOrder::Published, BasisOrder::Unreal].map(|order| s.kernel(order));
        if let (Some(taken), true) = (published, published != unreal) {
            let message = format!(
                "assumed: {}: BasisFunction {} is {taken:?}; with --basis-order unreal it is {}",
                s.name,
                s.basis_function,
                unreal.map_or_else(|| "none".into(), |k| format!("{k:?}"))
            );
            reporter.warning("assumed", &message);
        }
    }
}

fn other_format(
    solvers: &[Solver],
    to: PsdFormat,
    scene: &MayaScene,
    order: BasisOrder,
) -> (Written, Losses) {
    match to {
        PsdFormat::Psd => {
            let (document, lost) = to_psd(solvers, scene, order);
            (Box::new(move |path| write_psd(path, &document)), lost)
        }
        PsdFormat::PoseWrangler => {
            let (document, lost) = to_pose_wrangler(solvers, scene);
            let written = move |path: &Path| write_pose_wrangler(path, &document);
            (Box::new(written), lost)
        }
        PsdFormat::Graph | PsdFormat::Samples => {
            let (text, lost) = graph_text(solvers);
            let written = move |path: &Path| sinew::io::write_text(path, &text);
            (Box::new(written), lost)
        }
    }
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

fn read(path: &Path, format: PsdFormat, reporter: &Reporter) -> Outcome<Read> {
    let warn = |warnings: &[Warning]| {
        for w in warnings {
            reporter.warning(w.code, &format!("{}: {}", path.display(), w.message));
        }
    };
    match format {
        PsdFormat::Graph => {
            let document = document(path, reporter)?;
            let found = solvers_of_plan(&load::compile(&document, reporter)?);
            let (solvers, losses) = found.map_err(|(node, e)| {
                Failure::new(
                    Code::Graph,
                    format!("{}: node '{node}': {e}", document.name),
                )
            })?;
            if solvers.is_empty() {
                return Err(no_driver(&document));
            }
            Ok(Read::Graph {
                text: document.text,
                solvers,
                losses,
            })
        }
        PsdFormat::Psd => {
            let document = read_psd(path).map_err(Failure::input)?;
            warn(&document.warnings);
            Ok(Read::Psd(document))
        }
        PsdFormat::PoseWrangler => {
            let document = read_pose_wrangler(path).map_err(Failure::input)?;
            warn(&document.warnings);
            Ok(Read::PoseWrangler(document))
        }
        PsdFormat::Samples => {
            let document = read_samples(path).map_err(Failure::input)?;
            Ok(Read::Samples(document))
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
            "{}: cannot detect the format (graph, psd, pose-wrangler or samples); set it with --from",
            path.display()
        );
        return Err(Failure::input(message));
    })
}
