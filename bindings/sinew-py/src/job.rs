//! Commands of the command line inside the process, and what they are.

use crate::character::Character;
use crate::errors::{self, Details, Kind, Problem, exception};
use crate::graph::{Graph, json};
use crate::wait::interruptible;
use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Command};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde_json::{Value, json};
use sinew::play::Document;
use sinew_cli::{Host, JobError, run_job as run_command};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The nodes as JSON.
#[pyfunction]
pub(crate) fn node_list() -> String {
    sinew::graph::node_list().to_string()
}

/// The commands and their arguments as JSON.
#[pyfunction]
pub(crate) fn commands() -> String {
    let root = sinew_cli::definition();
    let mut out = Vec::new();
    leaves(&root, &[], &mut out);
    Value::Array(out).to_string()
}

fn leaves(command: &Command, path: &[&str], out: &mut Vec<Value>) {
    for below in command.get_subcommands().filter(|c| c.get_name() != "help") {
        let path = [path, &[below.get_name()]].concat();
        if below.has_subcommands() {
            leaves(below, &path, out);
            continue;
        }
        let args = below.get_arguments();
        let args = args.filter(|a| !["help", "version"].contains(&a.get_id().as_str()));
        out.push(json!({
            "path": path,
            "about": below.get_about().map(ToString::to_string),
            "long_about": below.get_long_about().map(ToString::to_string),
            "args": args.map(argument).collect::<Vec<_>>(),
        }));
    }
}

fn argument(a: &Arg) -> Value {
    let choices = a.get_possible_values();
    let choices = choices
        .iter()
        .filter(|_| !matches!(a.get_action(), ArgAction::SetTrue));
    let choice = |c: &clap::builder::PossibleValue| json!({ "name": c.get_name(), "help": c.get_help().map(ToString::to_string) });
    let values = a.get_num_args();
    json!({
        "id": a.get_id().as_str(),
        "long": a.get_long(),
        "short": a.get_short(),
        "position": a.get_index(),
        "required": a.is_required_set(),
        "help": a.get_help().map(ToString::to_string),
        "long_help": a.get_long_help().map(ToString::to_string),
        "action": match a.get_action() {
            ArgAction::Append => "append",
            ArgAction::SetTrue | ArgAction::SetFalse => "true",
            ArgAction::Count => "count",
            _ => "set",
        },
        "type": type_word(a.get_value_parser()),
        "value_names": a.get_value_names().unwrap_or_default().iter().map(|n| n.as_str()).collect::<Vec<_>>(),
        "default": a.get_default_values().iter().map(|v| v.to_string_lossy()).collect::<Vec<_>>(),
        "choices": choices.map(choice).collect::<Vec<_>>(),
        "delimiter": a.get_value_delimiter(),
        "min_values": values.map(|v| v.min_values()),
        "max_values": values.map(|v| v.max_values()).filter(|m| *m < usize::MAX),
        "global": a.is_global_set(),
    })
}

fn type_word(parser: &ValueParser) -> &'static str {
    let id = parser.type_id();
    let is = |all: &[TypeId]| all.iter().any(|t| id == *t);
    if is(&[TypeId::of::<PathBuf>()]) {
        "path"
    } else if is(&[
        TypeId::of::<u8>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<i32>(),
        TypeId::of::<i64>(),
    ]) {
        "int"
    } else if is(&[TypeId::of::<f32>(), TypeId::of::<f64>()]) {
        "float"
    } else {
        "text"
    }
}

/// A Python program that runs a command.
#[derive(Debug)]
struct Caller {
    events: Mutex<Vec<Value>>,
    printed: Mutex<String>,
    stop: Arc<AtomicBool>,
    characters: BTreeMap<String, Arc<sinew::play::Character>>,
    documents: BTreeMap<String, Document>,
}

impl Host for Caller {
    fn event(&self, event: &Value) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(event.clone());
    }

    fn print(&self, text: &str) {
        let mut printed = self.printed.lock().unwrap_or_else(PoisonError::into_inner);
        printed.push_str(text);
        printed.push('\n');
    }

    fn stop(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    fn character(&self, name: &str) -> Option<Arc<sinew::play::Character>> {
        self.characters.get(name).cloned()
    }

    fn document(&self, name: &str) -> Option<Document> {
        self.documents.get(name).cloned()
    }
}

impl Caller {
    /// Gives the events so far to the caller, and the errors of documents to `problems`.
    fn tell(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
        problems: &mut Vec<Problem>,
    ) -> PyResult<()> {
        let events = {
            let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *events)
        };
        for event in events {
            problems.extend(problem(&event));
            if let Some(progress) = progress {
                progress.call1((json(py, &event)?,))?;
            }
        }
        Ok(())
    }
}

/// The problem of a document that an event tells.
fn problem(event: &Value) -> Option<Problem> {
    let line = event["line"].as_u64()?;
    let text = |key: &str| event[key].as_str().map(str::to_owned);
    let number = |n: u64| usize::try_from(n).ok();
    Some(Problem {
        is_error: event["level"] == "error",
        code: text("event").unwrap_or_default(),
        message: text("message").unwrap_or_default(),
        help: text("help"),
        file: text("file"),
        line: number(line),
        column: event["column"].as_u64().and_then(number),
    })
}

/// Runs a command; gives what it prints.
#[pyfunction]
#[pyo3(signature = (arguments, characters, graphs, progress=None, cancel=None))]
pub(crate) fn run_job(
    py: Python<'_>,
    arguments: Vec<OsString>,
    characters: BTreeMap<String, Py<Character>>,
    graphs: BTreeMap<String, Py<Graph>>,
    progress: Option<&Bound<'_, PyAny>>,
    cancel: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let characters = characters.into_iter();
    let documents = graphs.into_iter();
    let caller = Arc::new(Caller {
        events: Mutex::default(),
        printed: Mutex::default(),
        stop: Arc::default(),
        characters: characters
            .map(|(name, c)| (name, c.get().inner.clone()))
            .collect(),
        documents: documents
            .map(|(name, g)| (name, g.get().document.clone()))
            .collect(),
    });
    let mut problems = Vec::new();
    let meanwhile = |py: Python<'_>| {
        if let Some(cancel) = cancel
            && cancel.call_method0("is_set")?.is_truthy()?
        {
            caller.stop.store(true, Ordering::Relaxed);
        }
        caller.tell(py, progress, &mut problems)
    };
    let work = || run_command(arguments, caller.clone());
    let done = interruptible(py, &caller.stop, work, meanwhile)?;
    done.map_err(|error| failed(py, &error, problems))?;
    let printed = caller
        .printed
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    Ok(printed.clone())
}

fn failed(py: Python<'_>, error: &JobError, problems: Vec<Problem>) -> PyErr {
    let first = problems
        .iter()
        .find(|p| p.is_error)
        .cloned()
        .unwrap_or_default();
    let message = match first.message.as_str() {
        "" => error.message.clone(),
        message => format!("{}: {message}", error.message),
    };
    let details = Details {
        code: match first.code.as_str() {
            "" => Kind::of_exit(error.exit).code().to_owned(),
            code => code.to_owned(),
        },
        file: first.file,
        line: first.line,
        column: first.column,
        help: first.help,
        diagnostics: problems,
        ..Details::default()
    };
    exception(py, Kind::of_exit(error.exit), &message, &details)
}

/// The command line, on the terminal of the process. Gives the exit code.
#[pyfunction]
pub(crate) fn cli(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    let code = py.detach(|| sinew_cli::main_with(arguments));
    // The exit code tells of Ctrl-C already.
    match py.check_signals() {
        Err(error) if !error.is_instance_of::<PyKeyboardInterrupt>(py) => Err(error),
        _ => Ok(code),
    }
}

/// The pixels of a PNG file, (height, width, 4).
#[pyfunction]
pub(crate) fn read_picture<'py>(py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
    let image = py.detach(|| sinew::io::read_png(&path));
    let image = image.map_err(|e| errors::io(py, &e))?;
    let pixels = PyArray1::from_slice(py, image.pixels().as_flattened());
    Ok(pixels
        .reshape([image.height(), image.width(), 4])?
        .into_any())
}
