//! Exit codes, and failures that carry one.

use std::fmt;
use std::process::ExitCode;

/// What the process ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// The command line itself is wrong (clap uses the same number).
    Usage = 2,
    /// An input file cannot be read or is wrong.
    Input = 3,
    /// The graph document is wrong.
    Graph = 4,
    /// Graph and character do not fit each other.
    Bind = 5,
    /// The output cannot be written.
    Output = 6,
    /// There is no graphics device, or it failed.
    Device = 7,
    /// Stopped by Ctrl-C.
    Interrupted = 130,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

/// A message for the user and the code to end with.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
    /// Already shown (graph problems are rendered one by one).
    pub(crate) shown: bool,
}

impl Failure {
    pub(crate) fn new(code: Code, message: impl fmt::Display) -> Self {
        Self {
            code,
            message: message.to_string(),
            shown: false,
        }
    }

    pub(crate) fn input(message: impl fmt::Display) -> Self {
        Self::new(Code::Input, message)
    }
    pub(crate) fn output(message: impl fmt::Display) -> Self {
        Self::new(Code::Output, message)
    }
    pub(crate) fn bind(message: impl fmt::Display) -> Self {
        Self::new(Code::Bind, message)
    }
    pub(crate) fn usage(message: impl fmt::Display) -> Self {
        Self::new(Code::Usage, message)
    }
}

pub(crate) type Outcome<T = ()> = Result<T, Failure>;
