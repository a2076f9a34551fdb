//! `sinew psd extract`.

use crate::args::LogFormat;
use crate::exit::{Code, Failure, Outcome};
use crate::frames;
use crate::load;
use crate::psd_args::PsdExtractArgs;
use crate::reporter::Reporter;
use crate::setup::{self, SetupFile};
use serde_json::json;
use sinew::deform::Par;
use sinew::geom::Selection;
use sinew::graph::{BoundGraph, Frame, Plan};
use sinew::io::IoError;
use sinew::play::{PlayInputs, Values};
use sinew::psd::{
    ExtractError, ExtractOptions, Extraction, Sculpt, extract_corrective, write_correctives,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) fn extract(args: &PsdExtractArgs, reporter: &Reporter) -> Outcome {
    load::check_glb_output(&args.output)?;
    load::check_glb(&args.character)?;
    let orders = orders(args)?;
    let character = load::character(&args.character, reporter)?;
    load::check_vrm_output(&args.output, &character)?;
    check_names(&orders, &character)?;
    let document = load::chosen_document(args.graph.as_deref(), &character, reporter)?;
    let plan = Arc::new(load::compile(&document, reporter)?);
    let parameters = load::settings(&plan, &args.set)?;
    load::check_values_names(&plan, &args.values)?;
    let clip = character.find_clip_name(args.clip.as_deref())?;
    let frames: Vec<i64> = orders.iter().map(|o| o.frame).collect();
    let played = character.asset.find_clip(clip.as_deref());
    if let (Some(played), Some(&last)) = (played, frames.iter().max()) {
        frames::tell_past(played, last, args.fps, reporter);
    }
    let values = load::values(&plan, &args.values, &frames)?;
    let mut cast = load::cast(
        character,
        &plan,
        &document,
        load::Given::default(),
        reporter,
    )?;
    let graph = setup::bind(&cast, &plan, &parameters, &SetupFile::default(), reporter)?;
    // A graph that is made for what the character has gets one, now that there are targets.
    let is_made = args.graph.is_none() && cast.main().asset.graph.is_none();
    if !is_made && plan.nodes().iter().all(|n| n.desc.name != "morph") {
        let message = format!(
            "{}: the graph has no node 'morph': it does not move the new targets. The reported distance to the sculpt holds after you add {{\"node\": \"morph\"}} before the skinning",
            document.name
        );
        reporter.warning("no_morph", &message);
    }
    let mut found = Vec::new();
    for order in &orders {
        reporter.check_interrupt()?;
        cast.pose(clip.as_deref(), time_secs(order.frame, args.fps));
        let extraction = run(order, &graph, &cast, &values, args, reporter)?;
        report(order, &extraction, reporter);
        found.push(extraction);
    }
    write(args, &plan, &cast, found)?;
    reporter.info("written", &format!("wrote {}", args.output.display()));
    Ok(())
}

/// Offsets that are longer than the corrected error by this factor are reported.
const WILD: f64 = 4.0;

/// A sculpt as the command line names it.
#[derive(Debug, PartialEq, Eq)]
struct Order {
    name: String,
    file: PathBuf,
    frame: i64,
}

fn orders(args: &PsdExtractArgs) -> Outcome<Vec<Order>> {
    if args.name.is_some() && args.sculpt.len() > 1 {
        return Err(Failure::usage(
            "--name is for one --sculpt; write --sculpt NAME=FILE@FRAME for several",
        ));
    }
    if !(args.fps.is_finite() && args.fps > 0.0) {
        let message = format!("--fps is {}, expected a number above 0", args.fps);
        return Err(Failure::usage(message));
    }
    let order = |text: &String| order(text, args.name.as_deref(), args.frame);
    args.sculpt.iter().map(order).collect()
}

/// `[NAME=]FILE[@FRAME]`.
fn order(text: &str, name: Option<&str>, frame: Option<i64>) -> Outcome<Order> {
    let (own_name, rest) = match text.split_once('=') {
        Some((name, rest)) => (Some(name), rest),
        None => (None, text),
    };
    let number = |(file, number): (_, &str)| Some((file, number.parse::<i64>().ok()?));
    let (file, own_frame) = match rest.rsplit_once('@').and_then(number) {
        Some((file, frame)) => (Path::new(file), Some(frame)),
        None => (Path::new(rest), None),
    };
    let stem = file.file_stem().and_then(|s| s.to_str());
    let found = own_name.or(name).or(stem).filter(|n| !n.is_empty());
    let wrong = |what: &str| Failure::usage(format!("--sculpt {text}: {what}"));
    Ok(Order {
        name: found
            .ok_or_else(|| wrong("the name is missing, expected NAME=FILE@FRAME"))?
            .to_owned(),
        file: file.to_owned(),
        frame: own_frame
            .or(frame)
            .ok_or_else(|| wrong("the frame is missing, expected FILE@FRAME or --frame"))?,
    })
}

fn check_names(orders: &[Order], character: &sinew::play::Character) -> Outcome {
    let meshes = character.asset.meshes.iter();
    let mut names: Vec<&str> = meshes
        .flat_map(|m| &m.morph_targets)
        .map(|t| t.name.as_str())
        .collect();
    for order in orders {
        if names.contains(&order.name.as_str()) {
            let message = format!(
                "there is a morph target '{}' already; choose another name",
                order.name
            );
            return Err(Failure::usage(message));
        }
        names.push(&order.name);
    }
    Ok(())
}

fn time_secs(frame: i64, fps: f64) -> f64 {
    frame as f64 / fps
}

/// One sculpt, in the pose that the cast has.
fn run(
    order: &Order,
    graph: &Arc<BoundGraph>,
    cast: &PlayInputs,
    values: &[Values],
    args: &PsdExtractArgs,
    reporter: &Reporter,
) -> Outcome<Extraction> {
    let file = load::character(&order.file, reporter)?;
    let mesh = file.asset.merged(&Selection::All).map_err(Failure::input)?;
    let poses: Vec<_> = cast.posed_inputs().collect();
    let rows: Vec<_> = values
        .iter()
        .map(|v| (v.input(), v.of_frame(order.frame)))
        .collect();
    let frame = Frame::at(time_secs(order.frame, args.fps))
        .dt(0.0)
        .pose(cast.poses().first())
        .poses(&poses)
        .values(&rows);
    let sculpt = Sculpt {
        name: &order.name,
        positions: &mesh.positions,
        output: args.of.as_deref(),
        input: None,
    };
    let mut options = ExtractOptions::default();
    options.tolerance = args.tolerance;
    options.drop_below = args.drop_below;
    options.damping = args.damping;
    options.par = Par::Rayon;
    let mut instance = graph.instance();
    extract_corrective(&mut instance, &frame, &sculpt, &options).map_err(|e| failure(order, &e))
}

fn failure(order: &Order, error: &ExtractError) -> Failure {
    let code = match error {
        ExtractError::Count { .. } | ExtractError::NotFinite { .. } => Code::Input,
        ExtractError::Option { .. } | ExtractError::NoOutput { .. } => Code::Usage,
        _ => Code::Bind,
    };
    let message = match error {
        // It is an option of the command, not of the sculpt.
        ExtractError::Option { .. } => format!("--{}", error.to_string().replace('_', "-")),
        _ => format!("{}: {error}", order.file.display()),
    };
    Failure::new(code, message)
}

/// Writes the character whose rest positions the targets move.
fn write(args: &PsdExtractArgs, plan: &Plan, cast: &PlayInputs, found: Vec<Extraction>) -> Outcome {
    // All come from one output, and so from one input.
    let input = found.first().map(|e| e.input.clone()).unwrap_or_default();
    let index = plan
        .inputs()
        .iter()
        .position(|i| i.name == input)
        .unwrap_or(0);
    let character = cast
        .character_of_input(index)
        .unwrap_or_else(|| cast.main());
    let selection = plan.inputs().get(index).map(|i| i.selection.clone());
    let targets: Vec<_> = found.into_iter().map(|e| e.target).collect();
    let written = write_correctives(
        character,
        &selection.unwrap_or(Selection::All),
        &targets,
        &args.output,
    );
    written.map_err(|e| match e {
        IoError::Write { .. } => Failure::output(e),
        e => Failure::input(e),
    })
}

fn report(order: &Order, extraction: &Extraction, reporter: &Reporter) {
    match reporter.format() {
        LogFormat::Text | LogFormat::Openjd => reporter.print(&text(order, extraction)),
        LogFormat::Json => reporter.print(&line(order, extraction)),
    }
}

fn text(order: &Order, extraction: &Extraction) -> String {
    let r = &extraction.report;
    let mut out = format!(
        "{} (frame {}): {} of {} vertices move, up to {:.3} mm; {} offsets too short to keep\n\
         \x20 distance to the sculpt: {:.4} mm at most (was {:.3}), {:.5} mm RMS (was {:.4}); {} steps, {} evaluated frames\n",
        order.name,
        order.frame,
        r.moved,
        r.vertices,
        r.longest_offset * 1e3,
        r.dropped,
        r.after.largest * 1e3,
        r.before.largest * 1e3,
        r.after.rms * 1e3,
        r.before.rms * 1e3,
        r.steps,
        r.evaluations,
    );
    if r.longest_offset > WILD * r.before.largest {
        out += &format!(
            "  offsets are up to {:.0} times longer than the error that they correct, because the graph smooths them away; a larger --damping \
             shortens them and leaves a larger error\n",
            r.longest_offset / r.before.largest
        );
    }
    if r.singular > 0 {
        let worst = r.worst_singular.iter();
        let worst: Vec<String> = worst.map(|s| s.vertex.to_string()).collect();
        out += &format!(
            "  {} vertices cannot be moved in every direction, because their influences cancel; the worst: {}\n",
            r.singular,
            worst.join(", ")
        );
    }
    if r.missed > 0 {
        let worst = r.worst_missed.iter();
        let worst: Vec<String> = worst
            .map(|m| format!("{} ({:.3} mm)", m.vertex, m.distance * 1e3))
            .collect();
        out += &format!(
            "  {} vertices stay above the tolerance; the worst: {}\n",
            r.missed,
            worst.join(", ")
        );
    }
    out
}

fn line(order: &Order, extraction: &Extraction) -> String {
    let r = &extraction.report;
    let distances = |d: &sinew::psd::Distances| json!({ "largest_m": d.largest, "rms_m": d.rms });
    let singular = r.worst_singular.iter();
    let singular: Vec<_> = singular
        .map(|s| json!({ "vertex": s.vertex, "ratio": s.ratio }))
        .collect();
    let missed = r.worst_missed.iter();
    let missed: Vec<_> = missed
        .map(|m| json!({ "vertex": m.vertex, "distance_m": m.distance }))
        .collect();
    json!({
        "name": order.name,
        "frame": order.frame,
        "reached": r.is_reached(),
        "vertices": r.vertices,
        "moved": r.moved,
        "dropped": r.dropped,
        "longest_offset_m": r.longest_offset,
        "steps": r.steps,
        "evaluations": r.evaluations,
        "before": distances(&r.before),
        "after": distances(&r.after),
        "singular": r.singular,
        "worst_singular": singular,
        "missed": r.missed,
        "worst_missed": missed,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sculpts_are_named_in_several_ways() {
        let order = |text: &str, name, frame| {
            let o = order(text, name, frame).ok()?;
            Some((o.name, o.file.display().to_string(), o.frame))
        };
        let some = |name: &str, file: &str, frame| Some((name.to_owned(), file.to_owned(), frame));
        assert_eq!(
            order("fist=a/b.obj@21", None, None),
            some("fist", "a/b.obj", 21)
        );
        assert_eq!(
            order("b.obj", Some("fist"), Some(3)),
            some("fist", "b.obj", 3)
        );
        assert_eq!(order("a/b.obj@4", None, Some(3)), some("b", "a/b.obj", 4));
        assert_eq!(order("a@b.obj", None, Some(3)), some("a@b", "a@b.obj", 3));
        assert_eq!(order("fist=b.obj", None, None), None);
        assert_eq!(order("=b.obj@1", None, None), None);
    }
}
