//! Numbers of values outputs, frame by frame: a CSV file, and the range of each output for the summary.

use crate::exit::{Failure, Outcome};
use crate::output::ending_of;
use serde_json::{Value, json};
use sinew::deform::PortType;
use sinew::graph::Plan;
use sinew::io::AtomicFile;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Smallest and largest of each number of one output.
struct Ranges {
    output: String,
    ends: Vec<[f32; 2]>,
}

/// The values outputs of a graph, and the `.csv` files that their numbers go into.
pub(crate) struct ValueTable {
    ranges: Vec<Ranges>,
    files: Vec<AtomicFile>,
    line: String,
    has_heading: bool,
}

/// Names of the values outputs of a graph.
pub(crate) fn values_outputs(plan: &Plan) -> impl Iterator<Item = &str> {
    let outputs = plan.outputs().iter();
    let values = outputs.filter(|o| matches!(plan.source_type(o.source), PortType::Values));
    values.map(|o| o.name.as_str())
}

impl ValueTable {
    pub(crate) fn begin(paths: &[PathBuf], plan: &Plan) -> Outcome<Self> {
        let ranges = values_outputs(plan).map(|output| Ranges {
            output: output.to_owned(),
            ends: Vec::new(),
        });
        let ranges: Vec<Ranges> = ranges.collect();
        let csv: Vec<&PathBuf> = paths.iter().filter(|p| ending_of(p) == "csv").collect();
        if let (Some(path), []) = (csv.first(), &ranges[..]) {
            return Err(Failure::bind(format!(
                "{}: a .csv file holds values outputs, but the graph has none; link a node with values, such as pose_driver, in its outputs",
                path.display()
            )));
        }
        let files = csv
            .iter()
            .map(|path| AtomicFile::create(path).map_err(Failure::output));
        Ok(Self {
            ranges,
            files: files.collect::<Outcome<_>>()?,
            line: String::new(),
            has_heading: false,
        })
    }

    /// Takes the numbers of an output in the next frame, in the order of the outputs. Others than values outputs are passed over.
    pub(crate) fn add(&mut self, output: &str, numbers: &[f32]) {
        let Some(ranges) = self.ranges.iter_mut().find(|r| r.output == output) else {
            return;
        };
        ranges
            .ends
            .resize(numbers.len(), [f32::INFINITY, f32::NEG_INFINITY]);
        for ([min, max], n) in ranges.ends.iter_mut().zip(numbers) {
            (*min, *max) = (min.min(*n), max.max(*n));
        }
        if !self.files.is_empty() {
            // Writing into a string cannot fail.
            numbers.iter().for_each(|n| _ = write!(self.line, ",{n}"));
        }
    }

    /// Ends a frame: writes its row.
    pub(crate) fn end_frame(&mut self, number: i64, secs: f32) -> Outcome {
        if self.files.is_empty() {
            return Ok(());
        }
        let mut text = String::new();
        if !std::mem::replace(&mut self.has_heading, true) {
            text += &self.heading();
        }
        let _ = writeln!(text, "{number},{secs}{}", self.line);
        self.line.clear();
        let mut files = self.files.iter_mut();
        files.try_for_each(|f| f.put(text.as_bytes()).map_err(Failure::output))
    }

    fn heading(&self) -> String {
        let mut out = "frame,time".to_owned();
        for ranges in &self.ranges {
            for i in 0..ranges.ends.len() {
                let name = format!("{}[{i}]", ranges.output);
                let quoted = match name.contains([',', '"', '\n', '\r']) {
                    true => format!("\"{}\"", name.replace('"', "\"\"")),
                    false => name,
                };
                let _ = write!(out, ",{quoted}");
            }
        }
        out + "\n"
    }

    /// Makes the files visible.
    pub(crate) fn finish(self) -> Outcome<Vec<Value>> {
        for file in self.files {
            file.commit().map_err(Failure::output)?;
        }
        let all = self.ranges.iter().filter(|r| !r.ends.is_empty());
        let ends = |r: &Ranges, end: usize| -> Vec<f32> { r.ends.iter().map(|e| e[end]).collect() };
        Ok(all
            .map(|r| json!({ "output": r.output, "min": ends(r, 0), "max": ends(r, 1) }))
            .collect())
    }
}

/// The range of all numbers of an output, for people: `drive: 0 to 0.93`.
pub(crate) fn range_text(of_output: &Value) -> String {
    let numbers = |key: &str| -> Vec<f64> {
        let all = of_output[key].as_array().into_iter().flatten();
        all.filter_map(Value::as_f64).collect()
    };
    let min = numbers("min").into_iter().fold(f64::INFINITY, f64::min);
    let max = numbers("max").into_iter().fold(f64::NEG_INFINITY, f64::max);
    let name = of_output["output"].as_str().unwrap_or_default();
    let rounded = |x: f64| (x * 1e4).round() / 1e4 + 0.0;
    format!("'{name}' {} to {}", rounded(min), rounded(max))
}
