//! Copy bandwidth of the GPU: a lower bound for the time of every kernel that reads and writes memory.
//!
//! Each invocation of the test kernel reads a `vec4<f32>` and writes it elsewhere. Both the read and the written bytes count.

use crate::buffer::{Buffer, BufferUse};
use crate::error::GpuError;
use crate::gpu::Gpu;
use crate::pipeline::{Binding, KernelSource, Pipeline};
use crate::samples::{Samples, Stopwatch};
use crate::timestamps::Timestamps;
use std::sync::Arc;

const WGSL: &str = include_str!("bandwidth.wgsl");
const GROUP: u32 = 256;
/// Bytes of one `vec4<f32>`.
const ELEMENT: u64 = 16;
/// Copies one after the other in the second measurement.
const IN_A_ROW: u32 = 16;

/// Copy bandwidth for one size.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CopyBandwidth {
    /// Copied bytes: this number is read and this number is written.
    pub bytes: u64,
    /// Median nanoseconds of one copy in its own pass, including the cost of starting a dispatch.
    pub single_ns: f64,
    /// Median nanoseconds per copy for sixteen copies in one pass.
    pub row_ns: f64,
    /// Whether these are GPU timestamps; otherwise CPU time, including recording and waiting.
    pub device_time: bool,
}

impl CopyBandwidth {
    /// GB/s read plus written, from the copies in a row.
    pub fn gb_per_s(&self) -> f64 {
        2.0 * self.bytes as f64 / self.row_ns
    }

    /// GB/s read plus written, from single copies.
    pub fn single_gb_per_s(&self) -> f64 {
        2.0 * self.bytes as f64 / self.single_ns
    }
}

/// Copies `bytes` (rounded up to 16) `repeats` times after a warm-up and takes medians. Each of the two measurements stops early after
/// half a second.
///
/// # Errors
/// [`GpuError::Limit`] if the device does not allow such buffers or bindings, [`GpuError::OutOfMemory`], [`GpuError::DeviceLost`].
pub fn copy_bandwidth(gpu: &Gpu, bytes: u64, repeats: usize) -> Result<CopyBandwidth, GpuError> {
    let copy = Copy::new(gpu, bytes)?;
    let mut clock = Clock::new(gpu)?;
    let mut median = |copies| {
        let mut samples = Samples::new(repeats);
        let begun = Stopwatch::start();
        for i in 0..repeats.max(1) + WARM_UP {
            let ns = clock.time(gpu, &copy, copies)?;
            let late = begun.elapsed_ns() > LONGEST_NS;
            if i >= WARM_UP || late {
                // A clock that is too coarse must not end in a division by zero.
                samples.push(ns.max(1.0) / f64::from(copies));
            }
            if late {
                break;
            }
        }
        Ok::<_, GpuError>(samples.median().unwrap_or(f64::INFINITY))
    };
    Ok(CopyBandwidth {
        bytes: copy.elements * ELEMENT,
        single_ns: median(1)?,
        row_ns: median(IN_A_ROW)?,
        device_time: clock.times.is_some(),
    })
}

/// Tries before the measured ones: the device leaves its sleep, memory is backed by pages.
const WARM_UP: usize = 3;
/// No more tries after this time: software drivers are slow, and their times need no large samples.
const LONGEST_NS: f64 = 5e8;

/// The largest size that [`copy_bandwidth`] accepts on this device. Free memory is not taken into account.
pub fn largest_copy(gpu: &Gpu) -> u64 {
    let limits = gpu.limits();
    limits.buffer_bytes.min(limits.storage_binding_bytes) / ELEMENT * ELEMENT
}

/// Two buffers and the kernel between them.
struct Copy {
    elements: u64,
    pipeline: Arc<Pipeline>,
    bindings: wgpu::BindGroup,
    grid: [u32; 3],
    /// The bindings hold the buffers, too; these are for clearing.
    source: Buffer<[f32; 4]>,
}

impl Copy {
    fn new(gpu: &Gpu, bytes: u64) -> Result<Self, GpuError> {
        let elements = bytes.div_ceil(ELEMENT).max(1);
        gpu.limit("bytes to copy", elements * ELEMENT, largest_copy(gpu))?;
        let len = usize::try_from(elements).unwrap_or(usize::MAX);
        let source = Buffer::new(gpu, "copy source", len, BufferUse::Storage)?;
        let target = Buffer::<[f32; 4]>::new(gpu, "copy target", len, BufferUse::Storage)?;
        let slots = [Binding::read(0), Binding::read_write(1)];
        let kernel = KernelSource::new("copy", WGSL, "copy", [GROUP, 1, 1], &slots);
        let pipeline = gpu.pipeline(&kernel)?;
        let bindings = pipeline.bind(gpu, &[(0, source.binding()), (1, target.binding())])?;
        let copy = Self {
            elements,
            grid: gpu.grid(len, GROUP)?,
            pipeline,
            bindings,
            source,
        };
        // Memory that was never written may cost the driver nothing to read.
        copy.source.fill(gpu, [1.0, 2.0, 3.0, 4.0])?;
        Ok(copy)
    }

    fn record(&self, pass: &mut wgpu::ComputePass<'_>, copies: u32) {
        for _ in 0..copies {
            self.pipeline.dispatch(pass, &self.bindings, self.grid);
        }
    }
}

/// GPU timestamps if available, otherwise CPU time.
struct Clock {
    times: Option<Timestamps>,
}

impl Clock {
    fn new(gpu: &Gpu) -> Result<Self, GpuError> {
        let times = gpu.capabilities().timestamps;
        let times = times.then(|| Timestamps::new(gpu, 1)).transpose()?;
        Ok(Self { times })
    }

    /// Nanoseconds of `copies` copies in one pass.
    fn time(&mut self, gpu: &Gpu, copy: &Copy, copies: u32) -> Result<f64, GpuError> {
        let watch = Stopwatch::start();
        let submission = gpu.submit("copies", |encoder| {
            let timestamp_writes = self.times.as_ref().map(|t| t.pass(0)).transpose()?;
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("copies"),
                timestamp_writes,
            });
            copy.record(&mut pass, copies);
            drop(pass);
            match &mut self.times {
                Some(times) => times.resolve(gpu, encoder),
                None => Ok(()),
            }
        })?;
        let Some(times) = &mut self.times else {
            gpu.wait(&submission)?;
            return Ok(watch.elapsed_ns());
        };
        let span = times.read(gpu, &submission)?.first().copied().flatten();
        Ok(span.map_or(0.0, |s| s.duration_ns()))
    }
}
