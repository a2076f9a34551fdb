//! Exit codes, and failures that carry one.

use sinew::graph::BindError;
use sinew::play::{PlayError, ValuesError};
#[cfg(feature = "gpu")]
use sinew::play::{RunError, StateFault};
use std::fmt;

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
    /// There is no GPU, or it failed.
    Device = 7,
    /// Stopped by Ctrl-C.
    Interrupted = 130,
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

impl From<PlayError> for Failure {
    /// In the words of the command line: with the flag that a setting or values came by.
    fn from(error: PlayError) -> Self {
        let code = code_of(&error);
        match error {
            PlayError::Setting { .. } => Self::new(code, format!("--set {error}")),
            PlayError::NoInput { .. } => Self::new(code, format!("--input: {error}")),
            PlayError::Selection { ref input, .. } => Self::new(
                code,
                format!("{error}; --input {input}=FILE names another file"),
            ),
            PlayError::NoMeshInput { .. } | PlayError::UnusedPointCache { .. } => {
                Self::new(code, format!("--point-cache: {error}"))
            }
            PlayError::NoExpression { .. } | PlayError::ExpressionWeight { .. } => {
                Self::new(code, format!("--expression: {error}"))
            }
            PlayError::Values(error) => Self::new(code, values_message(&error)),
            error => Self::new(code, error),
        }
    }
}

fn code_of(error: &PlayError) -> Code {
    match error {
        PlayError::Io(_) | PlayError::PointCache { .. } => Code::Input,
        PlayError::NoClip { .. }
        | PlayError::NoInput { .. }
        | PlayError::NoMeshInput { .. }
        | PlayError::UnusedPointCache { .. }
        | PlayError::NoExpression { .. }
        | PlayError::ExpressionWeight { .. }
        | PlayError::Setting { .. }
        | PlayError::Fps { .. } => Code::Usage,
        PlayError::Values(ValuesError::Columns { .. } | ValuesError::Rows { .. }) => Code::Bind,
        PlayError::Values(_) => Code::Usage,
        #[cfg(feature = "gpu")]
        PlayError::State(StateFault::Device(_)) => Code::Device,
        PlayError::Bind(BindError::Stopped { .. }) => Code::Interrupted,
        #[cfg(feature = "gpu")]
        PlayError::Device(error)
        | PlayError::Update {
            source: RunError::Device(error),
            ..
        } => device_code(error),
        _ => Code::Bind,
    }
}

/// A graph that no GPU can run is not a failure of the GPU.
#[cfg(feature = "gpu")]
fn device_code(error: &sinew::gpu::GpuError) -> Code {
    use sinew::gpu::GpuError;
    match error {
        GpuError::Kernel(_) | GpuError::NoDeviceSide { .. } => Code::Bind,
        // What lacks is a flag.
        GpuError::Distrusted { .. } => Code::Usage,
        GpuError::Stopped { .. } => Code::Interrupted,
        _ => Code::Device,
    }
}

fn values_message(error: &ValuesError) -> String {
    match error {
        ValuesError::NoInput { .. } | ValuesError::Twice { .. } => format!("--values {error}"),
        ValuesError::Missing { name, .. } => {
            format!("{error}; add --values {name}=FILE (.json or .npy)")
        }
        _ => error.to_string(),
    }
}

#[cfg(all(test, feature = "gpu"))]
mod tests {
    use super::*;
    use sinew::gpu::GpuError;

    #[test]
    fn kernels_that_are_not_trusted_ask_for_a_flag() {
        let distrusted = GpuError::Distrusted {
            kernels: vec!["wave".into()],
            adapter: "a card".into(),
        };
        assert_eq!(code_of(&PlayError::Device(distrusted)), Code::Usage);
        let stopped = GpuError::Stopped {
            what: "a test ran".into(),
        };
        assert_eq!(code_of(&PlayError::Device(stopped)), Code::Interrupted);
    }

    #[test]
    fn a_device_that_is_lost_in_a_frame_is_the_devices_failure() {
        let lost = GpuError::DeviceLost {
            reason: "unplugged".into(),
        };
        let error = PlayError::Update {
            frame: 3,
            source: RunError::Device(lost),
        };
        assert_eq!(code_of(&error), Code::Device);
    }
}
