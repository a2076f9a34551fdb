//! What can go wrong on the way to a graphics device and back.

use crate::adapter::AdapterError;
use crate::pipeline::ShaderError;

/// Something asked for is more than the device allows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {found} asked for, the adapter '{adapter}' allows {allowed}")]
pub struct LimitError {
    /// Which limit, in words, with its unit.
    pub what: String,
    /// How much was asked for.
    pub found: u64,
    /// How much is allowed.
    pub allowed: u64,
    /// Whose limit it is.
    pub adapter: String,
}

/// Every way in which a call of this crate can fail.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no adapter, or not the one that was asked for.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
    /// The adapter gives no device.
    #[error("the adapter '{adapter}' gives no device: {message}")]
    NoDevice {
        /// Name of the adapter.
        adapter: String,
        /// What the driver says.
        message: String,
    },
    /// The device is gone: driver reset, unplugged, out of memory in the middle of work, or destroyed by its owner. Every later call
    /// on the same [`Gpu`](crate::Gpu) returns this. Make a new one and bind again; what was in device memory is lost.
    #[error("the graphics device was lost ({reason}); make a new one and bind again")]
    DeviceLost {
        /// What the driver says.
        reason: String,
    },
    /// Device memory does not suffice.
    #[error("not enough device memory for {what}")]
    OutOfMemory {
        /// What was being made or run.
        what: String,
    },
    /// More than the device allows; checked before wgpu is asked.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A kernel's text does not compile.
    #[error(transparent)]
    Shader(#[from] ShaderError),
    /// A graph from a stranger has kernels of its own, which hardware does not run unasked.
    #[error(
        "the graph came within its character and has kernels of its own ({}), which run on hardware ('{adapter}') only where you trust them: \
         look at them with `sinew check CHARACTER`, then add --trust (in Rust: `Document::trusted`)",
        quoted(kernels)
    )]
    Distrusted {
        /// Nodes with such kernels.
        kernels: Vec<String>,
        /// Name of the adapter.
        adapter: String,
    },
    /// A user's kernel takes the driver too long.
    #[error(
        "the kernel of node '{kernel}' was not compiled after {seconds} s by '{adapter}'; make its text shorter, with fewer calls and smaller arrays, or run it on another adapter"
    )]
    CompileTime {
        /// Nodes that run in the launch.
        kernel: String,
        /// Time that it had.
        seconds: f64,
        /// Name of the adapter.
        adapter: String,
    },
    /// Somebody asked to stop ([`CompileLimit::stop`](crate::CompileLimit::stop)); the device still works at what it was given.
    #[error("stopped while {what}; nothing was written")]
    Stopped {
        /// What was waited for.
        what: String,
    },
    /// The adapter lacks a feature.
    #[error("the adapter '{adapter}' has no {what}")]
    Unsupported {
        /// Which feature, in words.
        what: String,
        /// Name of the adapter.
        adapter: String,
    },
    /// A range of elements that the buffer does not have, or that does not begin or end at a multiple of four bytes.
    #[error(
        "buffer '{buffer}' has {len} elements of {element_bytes} bytes; elements {start}..{end} {problem}"
    )]
    Range {
        /// Label of the buffer.
        buffer: String,
        /// Elements that it has.
        len: usize,
        /// Size of one.
        element_bytes: usize,
        /// First element asked for.
        start: usize,
        /// One past the last element asked for.
        end: usize,
        /// What is wrong with them.
        problem: &'static str,
    },
    /// A time was read that no command wrote.
    #[error("there are {spans} time spans; {asked} was asked for")]
    Span {
        /// Spans that there are.
        spans: u32,
        /// The one asked for.
        asked: u32,
    },
    /// wgpu refused a call: a binding of the wrong kind, a buffer used in a way that it was not made for. A mistake of the caller.
    #[error("{what} is not valid: {message}")]
    Validation {
        /// What was being made or run.
        what: String,
        /// wgpu's message.
        message: String,
    },
    /// A node of the graph has no kernels, and is no driver that the host could run beside the device.
    #[error("{}node '{node}' ({kind}) runs on the processor only: {why}", if .place.is_empty() { String::new() } else { format!("{place}: ") })]
    NoDeviceSide {
        /// Name of the node.
        node: String,
        /// Kind of the node.
        kind: &'static str,
        /// Where it stands in the document, `file:line:column`; empty where the binder added it.
        place: String,
        /// Why neither the device nor the host beside it can run it.
        why: String,
    },
    /// A kernel is wrong; the errors point into its author's text.
    #[error(transparent)]
    Kernel(#[from] sinew_wgsl::KernelErrors),
    /// A node wants too many arrays with each frame.
    #[error("node kind '{kind}': {found} arrays with each frame, at most {allowed} can be")]
    FrameArrays {
        /// Kind of the node.
        kind: &'static str,
        /// How many it wants.
        found: usize,
        /// How many there can be.
        allowed: usize,
    },
    /// A node reads what it does not declare.
    #[error("node '{node}' ({kind}): {source}")]
    Misread {
        /// Name of the node.
        node: String,
        /// Kind of the node.
        kind: &'static str,
        /// What is wrong.
        source: sinew_deform::Misread,
    },
    /// A frame does not fit what was bound.
    #[error(transparent)]
    Frame(#[from] sinew_graph::UpdateError),
    /// A parameter cannot be set so.
    #[error(transparent)]
    Parameter(#[from] sinew_graph::ParameterError),
    /// Offsets of rest positions do not fit.
    #[error(transparent)]
    RestOffsets(#[from] sinew_graph::RestOffsetError),
    /// A saved state was refused.
    #[error(transparent)]
    State(#[from] sinew_graph::StateError),
    /// Not one frame for each character.
    #[error("found {found} frames, expected {expected}, one for each instance")]
    FrameCount {
        /// Frames given.
        found: usize,
        /// Instances that there are.
        expected: usize,
    },
    /// There is no such character.
    #[error("there is no instance {found}, there are {count}, counted from 0")]
    NoInstance {
        /// The one asked for.
        found: usize,
        /// How many there are.
        count: usize,
    },
    /// The driver failed in a way that wgpu does not know.
    #[error("the driver failed at {what}: {message}")]
    Internal {
        /// What was being made or run.
        what: String,
        /// wgpu's message.
        message: String,
    },
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|n| format!("'{n}'")).collect();
    names.join(", ")
}

impl GpuError {
    /// Whether the device is gone, so that only a new one helps.
    pub fn is_device_lost(&self) -> bool {
        matches!(self, Self::DeviceLost { .. })
    }

    /// An error that a scope caught while making or running `what`.
    pub(crate) fn caught(what: &str, error: wgpu::Error) -> Self {
        let what = what.to_owned();
        match error {
            wgpu::Error::OutOfMemory { .. } => Self::OutOfMemory { what },
            wgpu::Error::Validation { description, .. } => Self::Validation {
                what,
                message: description.trim().to_owned(),
            },
            wgpu::Error::Internal { description, .. } => Self::Internal {
                what,
                message: description.trim().to_owned(),
            },
        }
    }
}
