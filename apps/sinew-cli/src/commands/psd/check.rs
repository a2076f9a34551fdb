//! `sinew psd check`.

use super::{document, no_driver};
use crate::args::LogFormat;
use crate::exit::{Code, Failure, Outcome};
use crate::load;
use crate::psd_args::PsdCheckArgs;
use crate::reporter::Reporter;
use serde_json::{Value, json};
use sinew::psd::GraphDriver;
use sinew::psd::check::{DriverReport, Severity, Solved, check as check_plan};

pub(super) fn check(args: &PsdCheckArgs, reporter: &Reporter) -> Outcome {
    let document = document(&args.input, reporter)?;
    let plan = load::compile(&document, reporter)?;
    let reports = reporter.follow("check", |watch| check_plan(&plan, watch));
    let Some(reports) = reports else {
        return reporter.check_interrupt();
    };
    if reports.is_empty() {
        return Err(no_driver(&document));
    }
    let lines = reports.iter().map(|report| match reporter.format() {
        LogFormat::Text | LogFormat::Openjd => as_text(report),
        LogFormat::Json => as_json(report).to_string(),
    });
    reporter.print(&lines.collect::<Vec<_>>().join("\n"));
    let limit = if args.strict {
        Severity::Warning
    } else {
        Severity::Error
    };
    let is_bad = |report: &&DriverReport| report.severity() >= Some(limit);
    match reports.iter().filter(is_bad).count() {
        0 => Ok(()),
        bad => {
            let message = format!("{bad} of {} drivers have problems", reports.len());
            Err(Failure::new(Code::Graph, message))
        }
    }
}

fn as_text(report: &DriverReport) -> String {
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut row = |label: &str, text: String| rows.push((label.to_owned(), text));
    if let Some(driver) = &report.driver {
        let definition = &driver.settings.driver;
        row("joints", driver.settings.joints.join(", "));
        row("poses", pose_names(driver));
        row("solver", definition.solver.name().into());
        row("metric", definition.metric.name().into());
        row("kernel", definition.kernel.name().into());
    }
    if let (Some(driver), Some(solved)) = (&report.driver, &report.solved) {
        row("width", widths_text(driver, solved));
        if let Some(condition) = solved.condition {
            row("condition", format!("{condition:.4}"));
        }
        if let Some(least) = solved.smallest_eigenvalue {
            let is = if least > 0.0 { "is" } else { "is not" };
            row(
                "eigenvalue",
                format!("{least:.6}: the kernel {is} positive definite for these poses"),
            );
        }
        row("weights", weights_text(driver, solved));
    }
    for finding in &report.findings {
        row(&finding.severity().to_string(), finding.to_string());
    }
    let mut out = format!("{} ({})\n", report.name, report.location);
    let widest = rows.iter().map(|r| r.0.len()).max().unwrap_or(0);
    for (label, text) in rows {
        out.push_str(&format!("  {label:<widest$}  {text}\n"));
    }
    out
}

fn pose_names(driver: &GraphDriver) -> String {
    let poses = &driver.settings.driver.poses;
    let names: Vec<&str> = poses.iter().map(|p| p.name.as_str()).collect();
    format!("{} ({})", names.len(), names.join(", "))
}

/// One width, or the least and the most; in degrees as well where that means something.
fn widths_text(driver: &GraphDriver, solved: &Solved) -> String {
    let unit = driver.settings.driver.metric.unit();
    let one = |width: f64| match unit {
        "" => format!("{width:.4}"),
        "rad" => format!("{width:.4} rad ({:.2} degrees)", width.to_degrees()),
        unit => format!("{width:.4} {unit}"),
    };
    let least = solved.widths.iter().copied().fold(f64::INFINITY, f64::min);
    let most = solved.widths.iter().copied().fold(0.0, f64::max);
    if most - least <= 1e-9 * most {
        one(most)
    } else {
        format!("{} to {}", one(least), one(most))
    }
}

/// The range of weights, and where not all pairs of poses were looked at how many.
fn weights_text(driver: &GraphDriver, solved: &Solved) -> String {
    let [least, most] = solved.range_on_arcs;
    let poses = driver.settings.driver.poses.len();
    let pairs = poses * (poses - 1) / 2;
    let arcs = if solved.arcs == pairs {
        "the arcs between poses".to_owned()
    } else {
        format!("the {} shortest of {pairs} arcs between poses", solved.arcs)
    };
    format!("{least:.3} to {most:.3} on {arcs}, before limits")
}

fn as_json(report: &DriverReport) -> Value {
    let findings = report.findings.iter().map(|f| {
        json!({ "severity": f.severity().to_string(), "code": f.code(), "message": f.to_string() })
    });
    let mut out = json!({
        "driver": report.name,
        "location": report.location,
        "severity": report.severity().map(|s| s.to_string()),
        "findings": findings.collect::<Vec<_>>(),
    });
    if let Some(driver) = &report.driver {
        let definition = &driver.settings.driver;
        let names: Vec<&str> = definition.poses.iter().map(|p| p.name.as_str()).collect();
        out["joints"] = json!(driver.settings.joints);
        out["space"] = json!(driver.settings.space);
        out["poses"] = json!(names);
        out["disabled"] = json!(driver.disabled);
        out["solver"] = json!(definition.solver.name());
        out["metric"] = json!(definition.metric.name());
        out["kernel"] = json!(definition.kernel.name());
    }
    if let Some(solved) = &report.solved {
        out["widths"] = json!(solved.widths);
        out["condition"] = json!(solved.condition);
        out["smallest_eigenvalue"] = json!(solved.smallest_eigenvalue);
        out["positive_definite"] = json!(solved.smallest_eigenvalue.map(|e| e > 0.0));
        out["range_on_arcs"] = json!(solved.range_on_arcs);
        out["arcs"] = json!(solved.arcs);
    }
    out
}
