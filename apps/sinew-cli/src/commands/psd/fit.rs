//! `sinew psd fit`.

use super::{document, one_driver};
use crate::args::LogFormat;
use crate::exit::{Code, Failure, Outcome};
use crate::load;
use crate::psd_args::PsdFitArgs;
use crate::reporter::Reporter;
use serde_json::json;
use sinew::deform::pose_driver::Metric;
use sinew::graph::{LineColumn, NodeEdit, edit_node};
use sinew::play::Document;
use sinew::psd::GraphDriver;
use sinew::psd::fit::{DrivenValues, Fit, FitError, FitOptions, Reason, fit as fit_driver};
use std::path::Path;

pub(super) fn fit(args: &PsdFitArgs, reporter: &Reporter) -> Outcome {
    let is_document = args.output.extension();
    if !is_document.is_some_and(|e| e.eq_ignore_ascii_case("json")) {
        let message = format!(
            "{}: expected a graph document, which ends in .json",
            args.output.display()
        );
        return Err(Failure::usage(message));
    }
    let document = document(&args.input, reporter)?;
    let driver = one_driver(&document, args.driver.as_deref(), reporter)?;
    let values = args.values.as_deref().map(|file| values(file, &driver));
    let values = values.transpose()?;
    let is_place = driver.settings.driver.metric == Metric::Position;
    let mut options = FitOptions::default();
    options.tolerance = args.tolerance;
    options.merge = if is_place {
        args.merge
    } else {
        args.merge.to_radians()
    };
    options.condition_limit = args.condition;
    let fitted = fit_driver(&driver.settings.driver, values.as_ref(), &options)
        .map_err(|e| failure(&driver, &e))?;
    let text = edited(&document, &driver, &fitted)?;
    // What is written can be read again.
    load::compile(
        &Document {
            text: text.clone(),
            ..document
        },
        reporter,
    )?;
    sinew::io::write_text(&args.output, &text).map_err(Failure::output)?;
    report(&driver, &fitted, reporter);
    reporter.info("written", &format!("wrote {}", args.output.display()));
    Ok(())
}

fn failure(driver: &GraphDriver, error: &FitError) -> Failure {
    let code = match error {
        FitError::Option { .. } => Code::Usage,
        FitError::Shape { .. } | FitError::NotFinite { .. } => Code::Bind,
        _ => Code::Graph,
    };
    Failure::new(code, format!("driver '{}': {error}", driver.name))
}

/// The rows of the poses that take part; the file has one for each pose of the node.
fn values(file: &Path, driver: &GraphDriver) -> Outcome<DrivenValues> {
    let table = sinew::io::read_values(file).map_err(Failure::input)?;
    let poses = driver.settings.pose_count;
    // A plain list has a number for each pose.
    let columns = if table.is_list { 1 } else { table.columns };
    if table.values.len() != poses * columns {
        let found = table.values.len() / columns.max(1);
        return Err(Failure::bind(format!(
            "{}: found {found} rows, expected {poses}: one for each pose of '{}'",
            file.display(),
            driver.name
        )));
    }
    let rows = driver.settings.places.iter();
    let numbers = rows.flat_map(|&row| &table.values[row * columns..(row + 1) * columns]);
    Ok(DrivenValues {
        numbers: numbers.map(|v| f64::from(*v)).collect(),
        columns,
    })
}

fn edited(document: &Document, driver: &GraphDriver, fitted: &Fit) -> Outcome<String> {
    let refused = |message: String| Failure::new(Code::Graph, message);
    let location = driver.location.strip_prefix(&document.name);
    let location = location.and_then(|rest| {
        let (line, column) = rest.strip_prefix(':')?.split_once(':')?;
        Some(LineColumn {
            line: line.parse().ok()?,
            column: column.parse().ok()?,
        })
    });
    let location = location.ok_or_else(|| {
        refused(format!(
            "driver '{}' is in another document ({}); run fit on that document",
            driver.name, driver.location
        ))
    })?;
    let settings = &driver.settings;
    let gone = |location: &usize| {
        let removed = fitted.removed.iter().map(|r| settings.places[r.pose]);
        removed.into_iter().any(|r| r == *location)
    };
    let kept: Vec<usize> = (0..settings.pose_count).filter(|p| !gone(p)).collect();
    let edits = [
        NodeEdit::KeepElements {
            key: "poses",
            kept: &kept,
        },
        NodeEdit::SetNumber {
            key: "width",
            number: rounded(fitted.width),
            before: "poses",
        },
    ];
    edit_node(&document.name, &document.text, location, &edits)
        .map_err(|e| refused(format!("{}: {e}", document.name)))
}

/// Six digits are more than a width needs.
fn rounded(width: f64) -> f64 {
    format!("{width:.5e}").parse().unwrap_or(width)
}

fn report(driver: &GraphDriver, fitted: &Fit, reporter: &Reporter) {
    let name = |pose: usize| driver.settings.driver.poses[pose].name.as_str();
    let removed = fitted.removed.iter().map(|r| (name(r.pose), r.reason));
    let lines: Vec<String> = match reporter.format() {
        LogFormat::Text | LogFormat::Openjd => removed
            .map(|(pose, reason)| match reason {
                Reason::Same {
                    pose: other,
                    apart,
                    values_differ,
                } => format!(
                    "  removed  {pose}: the same as {} (distance {apart:.2e}; driven numbers differ by {values_differ:.4})",
                    name(other)
                ),
                Reason::Redundant { error } => {
                    format!("  removed  {pose}: predicted by the other poses, error {error:.4}")
                }
            })
            .collect(),
        LogFormat::Json => removed
            .map(|(pose, reason)| match reason {
                Reason::Same {
                    pose: other,
                    apart,
                    values_differ,
                } => json!({ "removed": pose, "same_as": name(other), "apart": apart, "values_differ": values_differ }),
                Reason::Redundant { error } => json!({ "removed": pose, "error": error }),
            }.to_string())
            .collect(),
    };
    let kept: Vec<&str> = fitted.kept.iter().map(|&p| name(p)).collect();
    let unit = driver.settings.driver.metric.unit();
    let width = rounded(fitted.width);
    let last = match reporter.format() {
        LogFormat::Text | LogFormat::Openjd => {
            let error = fitted.error.map_or(String::new(), |e| {
                format!("  error    {e:.4} at most, over all original poses\n")
            });
            format!(
                "  kept     {} of {}: {}\n  width    {width} {unit}\n  leave-one-out error {:.4} (root mean square), condition {:.1}\n{error}",
                kept.len(),
                kept.len() + fitted.removed.len(),
                kept.join(", "),
                fitted.leave_one_out,
                fitted.condition
            )
        }
        LogFormat::Json => json!({
            "driver": driver.name, "kept": kept, "width": width, "leave_one_out": fitted.leave_one_out,
            "condition": fitted.condition, "error": fitted.error,
        })
        .to_string(),
    };
    if reporter.format() != LogFormat::Json {
        reporter.print(&format!("{} ({})", driver.name, driver.location));
    }
    lines.iter().for_each(|line| reporter.print(line));
    reporter.print(&last);
}
