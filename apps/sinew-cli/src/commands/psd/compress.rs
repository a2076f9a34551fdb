//! `sinew psd compress`.

use crate::args::LogFormat;
use crate::exit::{Code, Failure, Outcome};
use crate::load;
use crate::psd_args::PsdCompressArgs;
use crate::reporter::Reporter;
use serde_json::json;
use sinew::deform::Par;
use sinew::graph::BindOptions;
use sinew::io::IoError;
use sinew::psd::{
    CompressError, CompressOptions, Distances, GraphPlaces, GroupBasis, GroupReport, compress_with,
    write_compressed,
};
use std::path::{Path, PathBuf};

pub(super) fn compress(args: &PsdCompressArgs, reporter: &Reporter) -> Outcome {
    check_endings(args)?;
    load::check_glb(&args.character)?;
    let character = load::character(&args.character, reporter)?;
    load::check_vrm_output(&args.output, &character)?;
    let document = load::chosen_document(args.graph.as_deref(), &character, reporter)?;
    // Problems are shown at their locations.
    load::compile(&document, reporter)?;
    let mut options = CompressOptions::default();
    options.tolerance = args.tolerance;
    options.components = args.components;
    options.drop_share = args.drop_share;
    let found = reporter.follow_setup(|watch| {
        let bind = BindOptions::from(Par::Rayon).watch(watch);
        compress_with(&character, &document, &options, bind)
    });
    let found = found.map_err(failure)?;
    let embed = args.graph.is_none();
    let beside = match (&args.graph_output, embed) {
        (Some(path), _) => Some(path.clone()),
        (None, false) => Some(args.output.with_extension("json")),
        (None, true) => None,
    };
    let mut places = GraphPlaces::default();
    places.embed = embed;
    places.beside = beside.as_deref();
    reporter.check_interrupt()?;
    let written = write_compressed(&character, &found, &args.output, places);
    let warnings = written.map_err(|e| match e {
        IoError::Write { .. } => Failure::output(e),
        e => Failure::input(e),
    })?;
    for w in warnings {
        reporter.warning(w.code, &w.message);
    }
    for group in &found.groups {
        match reporter.format() {
            LogFormat::Text | LogFormat::Openjd => reporter.print(text(group).trim_end()),
            LogFormat::Json => reporter.print(&line(group)),
        }
        warn(group, args, reporter);
    }
    said_written(args, beside.as_ref(), reporter);
    Ok(())
}

fn check_endings(args: &PsdCompressArgs) -> Outcome {
    load::check_glb_output(&args.output)?;
    let is_json = |path: &Path| {
        path.extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("json"))
    };
    match &args.graph_output {
        Some(path) if !is_json(path) => {
            let path = path.display();
            let message = format!("{path}: expected a file that ends in .json");
            Err(Failure::usage(message))
        }
        _ => Ok(()),
    }
}

fn failure(error: CompressError) -> Failure {
    let code = match error {
        CompressError::Play(error) => return error.into(),
        CompressError::Option { .. } => Code::Usage,
        CompressError::OtherGraph { .. } => Code::Input,
        _ => Code::Graph,
    };
    Failure::new(code, error)
}

/// A number of components that was asked for may be too few, and rounding may be more than the tolerance.
fn warn(group: &GroupReport, args: &PsdCompressArgs, reporter: &Reporter) {
    let missed = group.basis.as_ref().filter(|b| !b.report.reached);
    if let (Some(basis), None) = (missed, &group.unchanged) {
        let message = format!(
            "{}: the error is {:.3e} m with {} components, above the tolerance of {:e} m; allow more components or a larger --tolerance",
            group.node,
            basis.report.error.largest,
            basis.names.len(),
            args.tolerance
        );
        reporter.warning("not_reached", &message);
    }
}

fn said_written(args: &PsdCompressArgs, beside: Option<&PathBuf>, reporter: &Reporter) {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |m| m.len());
    let message = format!(
        "wrote {} ({} bytes, {} before)",
        args.output.display(),
        size(&args.output),
        size(&args.character)
    );
    reporter.info("written", &message);
    if let Some(path) = beside {
        reporter.info("written", &format!("wrote {}", path.display()));
    }
}

fn text(group: &GroupReport) -> String {
    let mut out = format!("{} (driver '{}')\n", group.node, group.driver);
    for (name, why) in &group.kept {
        out += &format!("  kept     {name}: {why}\n");
    }
    if let Some(basis) = &group.basis {
        out += &basis_text(group, basis);
    }
    if let Some(why) = &group.unchanged {
        out += &format!("  unchanged: {why}\n");
    }
    out
}

fn basis_text(group: &GroupReport, basis: &GroupBasis) -> String {
    let r = &basis.report;
    let values = r.singular_values.iter().map(|s| format!("{s:.3e}"));
    let worst = group.targets.get(r.worst).map_or("", String::as_str);
    let normals = r.normal_error.map_or_else(String::new, |n| {
        format!(
            "  normals  error {:.2e} at most, {:.2e} RMS\n",
            n.largest, n.rms
        )
    });
    format!(
        "  targets  {} become {} ({} .. {}), over {} vertices\n\
         \x20 bytes    {} become {}; {} offsets too short to keep\n\
         \x20 error    {:.3e} m at most (in {worst}), {:.3e} m RMS\n{normals}\
         \x20 singular values (m): {}\n",
        group.targets.len(),
        basis.names.len(),
        basis.names.first().map_or("", String::as_str),
        basis.names.last().map_or("", String::as_str),
        r.vertices,
        basis.bytes_before,
        basis.bytes_after,
        r.dropped,
        r.error.largest,
        r.error.rms,
        values.collect::<Vec<_>>().join(" "),
    )
}

fn line(group: &GroupReport) -> String {
    let distances = |d: &Distances| json!({ "largest": d.largest, "rms": d.rms });
    let kept = group.kept.iter();
    let kept: Vec<_> = kept
        .map(|(name, why)| json!({ "target": name, "why": why.to_string() }))
        .collect();
    let mut out = json!({
        "node": group.node,
        "driver": group.driver,
        "changed": group.unchanged.is_none(),
        "unchanged": group.unchanged.as_ref().map(ToString::to_string),
        "targets": group.targets,
        "kept": kept,
    });
    if let Some(basis) = &group.basis {
        let r = &basis.report;
        out["basis"] = json!({
            "targets": basis.names,
            "vertices": r.vertices,
            "bytes_before": basis.bytes_before,
            "bytes_after": basis.bytes_after,
            "singular_values_m": r.singular_values,
            "rank": r.rank,
            "reached": r.reached,
            "largest_m": r.error.largest,
            "rms_m": r.error.rms,
            "worst": group.targets.get(r.worst),
            "normals": r.normal_error.as_ref().map(distances),
            "dropped": r.dropped,
        });
    }
    out.to_string()
}
