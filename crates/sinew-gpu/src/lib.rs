#![doc = include_str!("../README.md")]
//! ## Errors instead of panics
//!
//! By default, wgpu panics if a call is not valid. This crate runs every call inside error scopes and returns a [`GpuError`]. It
//! compares sizes with the limits of the device before it calls wgpu; [`LimitError`] names the requested and the allowed amount.
//! A lost device is also an error ([`GpuError::DeviceLost`]): create a new [`Gpu`] and bind again.
//!
//! ## The variables of wgpu
//!
//! [`ADAPTER_VARIABLE`] (`SINEW_ADAPTER`) selects the adapter. The variables of wgpu (`WGPU_BACKEND`, `WGPU_VALIDATION`) also apply.

mod adapter;
mod bandwidth;
mod buffer;
mod error;
mod gpu;
mod pipeline;
mod program;
mod samples;
#[cfg(any(test, feature = "test-support"))]
pub mod test_support;
#[cfg(test)]
mod tests;
mod timestamps;

pub use adapter::{
    ADAPTER_VARIABLE, Adapter, AdapterError, AdapterInfo, AdapterKind, Adapters, Capabilities,
    DeviceLimits, Preference,
};
pub use bandwidth::{CopyBandwidth, copy_bandwidth, largest_copy};
pub use buffer::{Buffer, BufferUse, Readback};
pub use error::{GpuError, LimitError};
pub use gpu::{Gpu, GpuOptions, Submission};
pub use pipeline::{
    Access, Binding, CompileLimit, KernelSource, Pipeline, ShaderError, ShaderMessage,
};
pub use program::{
    GpuArrayOutput, GpuGraph, GpuInstances, GpuMesh, GpuMeshOutput, Kernel, KernelBinding,
    LaunchStyle,
};
pub use samples::{Samples, SpanSamples, Stopwatch};
pub use timestamps::{Span, Timestamps};
/// The version of wgpu that this crate uses in its API.
pub use wgpu;
