//! Sinew on the GPU: adapters, devices, buffers, pipelines, timings, and the executor of bound graphs. This is the only crate
//! that depends on wgpu directly; it re-exports wgpu.
//!
//! ```
//! use sinew_gpu::{Binding, Buffer, BufferUse, Gpu, GpuError, GpuOptions, KernelSource};
//!
//! # fn main() -> Result<(), GpuError> {
//! let gpu = match Gpu::new(&GpuOptions::from_env()) {
//!     Ok(gpu) => gpu,
//!     // The message says what to install, or lists the adapters.
//!     Err(GpuError::Adapter(why)) => {
//!         eprintln!("{why}");
//!         return Ok(());
//!     }
//!     Err(error) => return Err(error),
//! };
//! let text = "
//!     @group(0) @binding(0) var<storage, read_write> values: array<f32>;
//!     @compute @workgroup_size(64)
//!     fn double(@builtin(global_invocation_id) id: vec3<u32>) {
//!         if id.x < arrayLength(&values) {
//!             values[id.x] *= 2.0;
//!         }
//!     }";
//! let bindings = [Binding::read_write(0)];
//! let kernel = gpu.pipeline(&KernelSource::new("double", text, "double", [64, 1, 1], &bindings))?;
//!
//! let values = Buffer::from_slice(&gpu, "values", &[1.0_f32, 2.0, 3.0, 4.0], BufferUse::Storage)?;
//! let bound = kernel.bind(&gpu, &[(0, values.binding())])?;
//! let groups = gpu.grid(values.len(), 64)?;
//! gpu.submit("double", |encoder| {
//!     let mut pass = encoder.begin_compute_pass(&Default::default());
//!     kernel.dispatch(&mut pass, &bound, groups);
//!     Ok(())
//! })?;
//! assert_eq!(values.read(&gpu)?, [2.0, 4.0, 6.0, 8.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Sharing the device of an engine
//!
//! [`Gpu::from_parts`] takes the device and the queue of an engine. The engine then uses Sinew's buffers without a copy:
//! [`Buffer::raw`] gives the wgpu buffer. The engine's error handlers stay in place.
//!
//! # Errors instead of panics
//!
//! By default, wgpu panics if a call is not valid. This crate runs every call inside error scopes and returns a [`GpuError`]. It
//! compares sizes with the limits of the device before it calls wgpu; [`LimitError`] names the requested and the allowed amount.
//! A lost device is also an error ([`GpuError::DeviceLost`]): create a new [`Gpu`] and bind again.
//!
//! # Choosing an adapter
//!
//! The environment variable `SINEW_ADAPTER` ([`ADAPTER_VARIABLE`]) selects the adapter: `software`, or part of a name, driver or
//! interface. The variables of wgpu (`WGPU_BACKEND`, `WGPU_VALIDATION`) also apply.

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
    DeviceLimits, INSTALL_HINT, Preference,
};
pub use bandwidth::{CopyBandwidth, copy_bandwidth, largest_copy};
pub use buffer::{Buffer, BufferUse, Readback};
pub use error::{GpuError, LimitError};
pub use gpu::{Gpu, GpuOptions, Submission};
pub use pipeline::{
    Access, Binding, CompileLimit, KernelSource, Pipeline, RuntimeChecks, ShaderError,
    ShaderMessage,
};
pub use program::{
    GpuArrayOutput, GpuGraph, GpuInstances, GpuMesh, GpuMeshOutput, Kernel, KernelBinding,
    LaunchStyle,
};
pub use samples::{Samples, SpanSamples, Stopwatch};
pub use timestamps::{Span, Timestamps};
/// The version of wgpu that this crate uses in its API.
pub use wgpu;
