//! Commands inside another program.

use crate::exit::{Code, Failure};
use serde_json::Value;
use sinew::play::{Character, Document};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A program that runs commands ([`crate::run_job`]).
pub trait Host: fmt::Debug + Send + Sync {
    /// A message, a warning, an error or progress: a line of `--log-format json`. Called from any thread.
    fn event(&self, event: &Value);
    /// Text of a report, that the program would print on standard output.
    fn print(&self, text: &str);
    /// Set to stop the command, as Ctrl-C does.
    fn stop(&self) -> Arc<AtomicBool>;
    /// The character that an argument names, if the host has one of that name. Else it is a file.
    fn character(&self, _name: &str) -> Option<Arc<Character>> {
        None
    }
    /// The graph document that an argument names, if the host has one of that name. Else it is a file.
    fn document(&self, _name: &str) -> Option<Document> {
        None
    }
}

/// Why a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobError {
    /// The exit code of the program, as `sinew --help` lists them.
    pub exit: u8,
    /// What was found, where, and what was expected.
    pub message: String,
}

impl JobError {
    pub(crate) fn usage(error: &clap::Error) -> Self {
        let message = error.to_string();
        Self {
            exit: Code::Usage as u8,
            message: message
                .strip_prefix("error: ")
                .unwrap_or(&message)
                .to_owned(),
        }
    }
}

impl From<Failure> for JobError {
    fn from(failure: Failure) -> Self {
        Self {
            exit: failure.code as u8,
            message: failure.message,
        }
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for JobError {}
