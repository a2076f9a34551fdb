//! `sinew doctor`: what this machine offers.

#[cfg(feature = "gpu")]
mod adapters;

use crate::args::LogFormat;
use crate::exit::{Failure, Outcome};
use crate::reporter::Reporter;
use serde_json::{Value, json};
use sinew::deform::simd_level;
use std::fmt::Write;

pub(super) fn doctor(reporter: &Reporter) -> Outcome {
    let machine = machine();
    let gpu = adapters::report(reporter);
    match reporter.format() {
        LogFormat::Text | LogFormat::Openjd => {
            reporter.print(&format!("{}{}", machine_text(&machine), gpu.text))
        }
        LogFormat::Json => {
            let mut report = machine;
            report["gpu"] = gpu.json;
            reporter.print(&serde_json::to_string_pretty(&report).map_err(Failure::output)?);
        }
    }
    Ok(())
}

#[cfg(not(feature = "gpu"))]
mod adapters {
    /// Nothing can be known here.
    pub(super) fn report(_: &crate::reporter::Reporter) -> super::GpuReport {
        let why = "this program was built without GPU support (feature 'gpu' of sinew-cli)";
        super::GpuReport {
            text: format!("adapters {why}\n"),
            json: serde_json::json!({ "adapters": [], "message": why }),
        }
    }
}

/// The report on GPU adapters, as text and as JSON.
struct GpuReport {
    text: String,
    json: Value,
}

fn machine() -> Value {
    json!({
        "sinew": env!("CARGO_PKG_VERSION"),
        "target": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        "threads": std::thread::available_parallelism().map_or(1, usize::from),
        "simd": simd(),
        "devices": if cfg!(feature = "gpu") { "cpu, gpu" } else { "cpu" },
        "nodes": sinew::deform::REGISTRY.len(),
    })
}

/// Name of the instruction set that kernels use.
fn simd() -> String {
    let level = format!("{:?}", simd_level());
    level.split('(').next().unwrap_or_default().to_owned()
}

fn machine_text(machine: &Value) -> String {
    let mut out = String::new();
    for (key, value) in machine.as_object().into_iter().flatten() {
        match value {
            Value::String(text) => _ = writeln!(out, "{key:<8}{text}"),
            other => _ = writeln!(out, "{key:<8}{other}"),
        }
    }
    out
}
