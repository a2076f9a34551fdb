//! Errors as exceptions of `sinew_deform._errors`.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use sinew::graph::{Diagnostic, Diagnostics, Severity};
use sinew::io::IoError;
use sinew::play::{ArraysError, PlayError, StateFault, ValuesError};
use std::fmt;

/// The exception class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Graph,
    File,
    Bind,
    Device,
    Usage,
    Cancelled,
}

impl Kind {
    /// The code of errors that have none of their own.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::File => "file",
            Self::Bind => "bind",
            Self::Device => "device",
            Self::Usage => "usage",
            Self::Cancelled => "cancelled",
        }
    }

    fn class(self) -> &'static str {
        match self {
            Self::Graph => "GraphError",
            Self::File => "FileError",
            Self::Bind => "BindError",
            Self::Device => "DeviceError",
            Self::Usage => "UsageError",
            Self::Cancelled => "Cancelled",
        }
    }

    /// The kind of a command's exit code.
    pub(crate) fn of_exit(exit: u8) -> Self {
        match exit {
            3 | 6 => Self::File,
            4 => Self::Graph,
            5 => Self::Bind,
            7 => Self::Device,
            130 => Self::Cancelled,
            _ => Self::Usage,
        }
    }
}

/// What an exception says besides its message.
#[derive(Debug, Default)]
pub(crate) struct Details {
    pub(crate) code: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<usize>,
    pub(crate) column: Option<usize>,
    pub(crate) location: Option<String>,
    pub(crate) found: Option<String>,
    pub(crate) expected: Option<String>,
    pub(crate) help: Option<String>,
    pub(crate) diagnostics: Vec<Problem>,
}

/// A diagnostic of a document, or another problem of a graph with a character.
#[derive(Clone, Debug, Default)]
pub(crate) struct Problem {
    pub(crate) is_error: bool,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<usize>,
    pub(crate) column: Option<usize>,
}

impl From<&Diagnostic> for Problem {
    fn from(d: &Diagnostic) -> Self {
        let location = d.location();
        Self {
            is_error: d.severity == Severity::Error,
            code: d.code.to_owned(),
            message: d.message.clone(),
            help: d.help.clone(),
            file: Some(d.file.to_string()),
            line: Some(location.line),
            column: Some(location.column),
        }
    }
}

impl Problem {
    /// `sinew_deform._errors.Diagnostic`.
    pub(crate) fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let severity = if self.is_error { "error" } else { "warning" };
        let named = PyDict::new(py);
        named.set_item("severity", severity)?;
        named.set_item("code", &self.code)?;
        named.set_item("message", &self.message)?;
        named.set_item("help", &self.help)?;
        named.set_item("file", &self.file)?;
        named.set_item("line", self.line)?;
        named.set_item("column", self.column)?;
        module(py)?.getattr("Diagnostic")?.call((), Some(&named))
    }
}

fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("sinew_deform._errors")
}

/// The exception of a kind.
pub(crate) fn exception(py: Python<'_>, kind: Kind, message: &str, details: &Details) -> PyErr {
    let made = || {
        let named = PyDict::new(py);
        named.set_item("code", &details.code)?;
        named.set_item("file", &details.file)?;
        named.set_item("line", details.line)?;
        named.set_item("column", details.column)?;
        named.set_item("location", &details.location)?;
        named.set_item("found", &details.found)?;
        named.set_item("expected", &details.expected)?;
        named.set_item("help", &details.help)?;
        let all = details.diagnostics.iter().map(|d| d.object(py));
        named.set_item(
            "diagnostics",
            PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)?,
        )?;
        module(py)?
            .getattr(kind.class())?
            .call((message,), Some(&named))
    };
    match made() {
        Ok(object) => PyErr::from_value(object),
        Err(error) => error,
    }
}

/// A wrong argument.
pub(crate) fn usage(py: Python<'_>, code: &str, message: impl fmt::Display) -> PyErr {
    let details = Details {
        code: code.to_owned(),
        ..Details::default()
    };
    exception(py, Kind::Usage, &message.to_string(), &details)
}

/// The name of an enum's variant, as `no_clip` for `NoClip`.
fn variant(error: &impl fmt::Debug) -> String {
    let text = format!("{error:?}");
    let name = text
        .split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default();
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// The number after a word in `line 12, column 4`.
fn number_after(text: &str, word: &str) -> Option<usize> {
    let rest = text.split(word).nth(1)?.trim_start();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

pub(crate) fn io(py: Python<'_>, error: &IoError) -> PyErr {
    exception(py, Kind::File, &error.to_string(), &io_details(error))
}

fn io_details(error: &IoError) -> Details {
    let mut details = Details {
        code: variant(error),
        ..Details::default()
    };
    match error {
        IoError::Malformed {
            path,
            location,
            found,
            expected,
        } => {
            details.file = Some(path.display().to_string());
            details.line = number_after(location, "line ");
            details.column = number_after(location, "column ");
            details.location = Some(location.clone());
            details.found = Some(found.clone());
            details.expected = Some(expected.clone());
        }
        IoError::Unsupported {
            path,
            location,
            feature,
            help,
        } => {
            details.file = Some(path.display().to_string());
            details.location = Some(location.clone());
            details.found = Some(feature.clone());
            details.help = Some(help.clone());
        }
        IoError::Read { path, .. }
        | IoError::Write { path, .. }
        | IoError::NoPlainFile { path }
        | IoError::NotBuilt { path, .. } => details.file = Some(path.display().to_string()),
        _ => {}
    }
    details
}

/// An error of binding. Its message begins with the location of the node, `FILE:LINE:COLUMN: `, if it has one.
pub(crate) fn bind_problem(message: String) -> Problem {
    let mut out = Problem {
        is_error: true,
        code: "bind".into(),
        message,
        ..Problem::default()
    };
    let located = out.message.split_once(": ").and_then(|(place, rest)| {
        let mut parts = place.rsplitn(3, ':');
        let column = parts.next()?.parse().ok()?;
        let line = parts.next()?.parse().ok()?;
        Some((parts.next()?.to_owned(), line, column, rest.to_owned()))
    });
    if let Some((file, line, column, rest)) = located {
        out.message = rest;
        (out.file, out.line, out.column) = (Some(file), Some(line), Some(column));
    }
    out
}

pub(crate) fn play(py: Python<'_>, error: &PlayError) -> PyErr {
    let details = match error {
        PlayError::Bind(error) => {
            let problem = bind_problem(error.to_string());
            Details {
                code: problem.code.clone(),
                file: problem.file.clone(),
                line: problem.line,
                column: problem.column,
                diagnostics: vec![problem],
                ..Details::default()
            }
        }
        PlayError::Io(error) | PlayError::PointCache { source: error, .. } => io_details(error),
        error => Details {
            code: variant(error),
            ..Details::default()
        },
    };
    exception(py, kind(error), &error.to_string(), &details)
}

fn kind(error: &PlayError) -> Kind {
    match error {
        PlayError::Io(_) | PlayError::PointCache { .. } => Kind::File,
        PlayError::NoClip { .. }
        | PlayError::NoExpression { .. }
        | PlayError::ExpressionWeight { .. }
        | PlayError::NoInput { .. }
        | PlayError::NoMeshInput { .. }
        | PlayError::PositionCount { .. }
        | PlayError::PositionNotFinite { .. }
        | PlayError::UnusedPointCache { .. }
        | PlayError::Setting { .. }
        | PlayError::Fps { .. }
        | PlayError::State(StateFault::NoFrame | StateFault::Format)
        | PlayError::Values(ValuesError::NoInput { .. } | ValuesError::Twice { .. }) => Kind::Usage,
        #[cfg(feature = "gpu")]
        PlayError::State(StateFault::Device(_)) => Kind::Device,
        #[cfg(feature = "gpu")]
        PlayError::Device(error)
        | PlayError::Update {
            source: sinew::play::RunError::Device(error),
            ..
        } => gpu_kind(error),
        _ => Kind::Bind,
    }
}

/// A graph that no GPU can run is not a failure of the GPU.
#[cfg(feature = "gpu")]
fn gpu_kind(error: &sinew::gpu::GpuError) -> Kind {
    use sinew::gpu::GpuError;
    match error {
        GpuError::Kernel(_) | GpuError::NoDeviceSide { .. } => Kind::Bind,
        GpuError::Distrusted { .. } => Kind::Usage,
        _ => Kind::Device,
    }
}

pub(crate) fn arrays(py: Python<'_>, error: &ArraysError) -> PyErr {
    let details = Details {
        code: "arrays".into(),
        location: Some(error.location.clone()),
        found: Some(error.found.clone()),
        expected: Some(error.expected.clone()),
        ..Details::default()
    };
    exception(py, Kind::Usage, &error.to_string(), &details)
}

/// The problems of a document: the first error is the message.
pub(crate) fn graph(py: Python<'_>, problems: &Diagnostics) -> PyErr {
    let all: Vec<Problem> = problems.0.iter().map(Problem::from).collect();
    let first = problems.0.iter().find(|d| d.severity == Severity::Error);
    let (message, problem) = match first.or(problems.0.first()) {
        Some(first) => (first.to_string(), Problem::from(first)),
        None => ("the graph has errors".to_owned(), Problem::default()),
    };
    let more = all.iter().filter(|p| p.is_error).count().saturating_sub(1);
    let message = match more {
        0 => message,
        1 => format!("{message} (and 1 more error)"),
        more => format!("{message} (and {more} more errors)"),
    };
    let details = Details {
        code: problem.code,
        file: problem.file,
        line: problem.line,
        column: problem.column,
        help: problem.help,
        diagnostics: all,
        ..Details::default()
    };
    exception(py, Kind::Graph, &message, &details)
}
