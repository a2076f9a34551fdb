//! Errors of the GPU side.

use crate::adapter::AdapterError;
use crate::pipeline::ShaderError;

/// A request exceeds a limit of the GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {found} needed, but the adapter '{adapter}' allows {allowed}")]
pub struct LimitError {
    /// The limit in words, with its unit.
    pub what: String,
    /// Requested amount.
    pub found: u64,
    /// Allowed amount.
    pub allowed: u64,
    /// Name of the adapter.
    pub adapter: String,
}

/// All errors of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no adapter, or not the requested one.
    #[error(transparent)]
    Adapter(#[from] AdapterError),
    /// The driver of the adapter cannot create a device.
    #[error("the adapter '{adapter}' cannot create a device: {message}")]
    NoDevice {
        /// Name of the adapter.
        adapter: String,
        /// Message of the driver.
        message: String,
    },
    /// The device was lost: driver reset, unplugged, out of memory during work, or destroyed by its owner. Every later call
    /// on the same [`Gpu`](crate::Gpu) returns this error. Create a new one and bind again; the content of GPU memory is lost.
    #[error("the GPU device was lost ({reason}); create a new one and bind again")]
    DeviceLost {
        /// Message of the driver.
        reason: String,
    },
    /// There is not enough GPU memory.
    #[error("not enough GPU memory for {what}")]
    OutOfMemory {
        /// What was being created or run.
        what: String,
    },
    /// A request exceeds a limit of the GPU. This is checked before the call to wgpu.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A kernel does not compile.
    #[error(transparent)]
    Shader(#[from] ShaderError),
    /// An untrusted graph has custom kernels, which a hardware GPU does not run by default.
    #[error(
        "the graph is embedded in the character and has custom kernels ({}), which run on hardware ('{adapter}') only if you trust them: \
         inspect them with `sinew check CHARACTER`, then add --trust (in Rust: `Document::trusted`)",
        quoted(kernels)
    )]
    Distrusted {
        /// Names of the nodes with custom kernels.
        kernels: Vec<String>,
        /// Name of the adapter.
        adapter: String,
    },
    /// A custom kernel takes the driver too long to compile.
    #[error(
        "the kernel of node '{kernel}' did not compile within {seconds} s on '{adapter}'; make it shorter, with fewer calls and smaller arrays, or run it on another adapter"
    )]
    CompileTime {
        /// Names of the nodes that run in the launch.
        kernel: String,
        /// Time limit in seconds.
        seconds: f64,
        /// Name of the adapter.
        adapter: String,
    },
    /// The caller stopped waiting ([`CompileLimit::stop`](crate::CompileLimit::stop)). The GPU still finishes its work.
    #[error("stopped while {what}; nothing was written")]
    Stopped {
        /// What the call was waiting for.
        what: String,
    },
    /// The adapter lacks a feature.
    #[error("the adapter '{adapter}' does not support {what}")]
    Unsupported {
        /// The feature in words.
        what: String,
        /// Name of the adapter.
        adapter: String,
    },
    /// A range is outside the buffer, or does not begin or end at a multiple of four bytes.
    #[error(
        "buffer '{buffer}' has {len} elements of {element_bytes} bytes; elements {start}..{end} {problem}"
    )]
    Range {
        /// Label of the buffer.
        buffer: String,
        /// Number of elements in the buffer.
        len: usize,
        /// Size of one element in bytes.
        element_bytes: usize,
        /// First requested element.
        start: usize,
        /// One past the last requested element.
        end: usize,
        /// What is wrong with the range.
        problem: &'static str,
    },
    /// A time span does not exist.
    #[error("there is no time span {asked}; there are {spans}, counted from 0")]
    Span {
        /// Number of spans.
        spans: u32,
        /// Requested span.
        asked: u32,
    },
    /// wgpu refused a call, for example because a binding has the wrong type or a buffer lacks a usage. This is a bug of the caller.
    #[error("{what} is not valid: {message}")]
    Validation {
        /// What was being created or run.
        what: String,
        /// Message of wgpu.
        message: String,
    },
    /// A node of the graph has no GPU kernel, and is not a driver that the CPU can run beside the GPU.
    #[error("{}node '{node}' ({kind}) runs on the CPU only: {why}", if .location.is_empty() { String::new() } else { format!("{location}: ") })]
    NoDeviceSide {
        /// Name of the node.
        node: String,
        /// Kind of the node.
        kind: &'static str,
        /// Location of the node in the document, `file:line:column`; empty for a node that the binder added.
        location: String,
        /// Why neither the GPU nor the CPU beside it can run the node.
        why: String,
    },
    /// A kernel has errors; they point into the text of its author.
    #[error(transparent)]
    Kernel(#[from] sinew_wgsl::KernelErrors),
    /// A node needs too many arrays per frame.
    #[error("node kind '{kind}' needs {found} arrays per frame, but at most {allowed} are allowed")]
    FrameArrays {
        /// Kind of the node.
        kind: &'static str,
        /// Needed arrays.
        found: usize,
        /// Allowed arrays.
        allowed: usize,
    },
    /// A node reads something that it does not declare.
    #[error("node '{node}' ({kind}): {source}")]
    Misread {
        /// Name of the node.
        node: String,
        /// Kind of the node.
        kind: &'static str,
        /// What the node did wrong.
        source: sinew_deform::Misread,
    },
    /// A frame does not fit the bound inputs.
    #[error(transparent)]
    Frame(#[from] sinew_graph::UpdateError),
    /// A parameter cannot be set to this value.
    #[error(transparent)]
    Parameter(#[from] sinew_graph::ParameterError),
    /// Rest offsets do not fit.
    #[error(transparent)]
    RestOffsets(#[from] sinew_graph::RestOffsetError),
    /// A saved state cannot be used.
    #[error(transparent)]
    State(#[from] sinew_graph::StateError),
    /// The number of frames is not the number of instances.
    #[error("found {found} frames, expected {expected}, one for each instance")]
    FrameCount {
        /// Number of frames.
        found: usize,
        /// Number of instances.
        expected: usize,
    },
    /// There is no instance with this index.
    #[error("there is no instance {found}; there are {count}, counted from 0")]
    NoInstance {
        /// Requested index.
        found: usize,
        /// Number of instances.
        count: usize,
    },
    /// The driver failed with an error that wgpu does not classify.
    #[error("the driver failed at {what}: {message}")]
    Internal {
        /// What was being created or run.
        what: String,
        /// Message of wgpu.
        message: String,
    },
}

fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|n| format!("'{n}'")).collect();
    names.join(", ")
}

impl GpuError {
    /// Whether the device was lost and you need a new one.
    pub fn is_device_lost(&self) -> bool {
        matches!(self, Self::DeviceLost { .. })
    }

    /// An error that a scope caught while creating or running `what`.
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
