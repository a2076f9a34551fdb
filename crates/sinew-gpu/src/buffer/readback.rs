//! Reads GPU memory back into a slice of the caller.

use super::{Buffer, padded};
use crate::error::GpuError;
use crate::gpu::{Gpu, Submission};
use bytemuck::Pod;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Staging memory for readbacks, reused from one readback to the next. It grows if a readback needs more.
///
/// [`Readback::read`] does everything in one call and waits. To avoid waiting, record the copy with [`Readback::record`] among the
/// commands of a frame, and fetch the elements with [`Readback::take`] one or two frames later. Use one `Readback` per frame in flight.
#[derive(Debug, Default)]
pub struct Readback {
    staging: Option<wgpu::Buffer>,
    /// Bytes of the last recorded copy.
    pending: u64,
    mapped: Arc<AtomicBool>,
}

impl Readback {
    /// Creates a readback without memory; the first use allocates it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads `out.len()` elements from `start` on and waits for the GPU.
    ///
    /// # Errors
    /// [`GpuError::Range`] if the range is outside the buffer, [`GpuError::DeviceLost`], [`GpuError::OutOfMemory`].
    pub fn read<T: Pod>(
        &mut self,
        gpu: &Gpu,
        buffer: &Buffer<T>,
        start: usize,
        out: &mut [T],
    ) -> Result<(), GpuError> {
        let elements = start..start.saturating_add(out.len());
        let submission = gpu.submit("a readback", |encoder| {
            self.record(gpu, encoder, buffer, elements)
        })?;
        self.take(gpu, &submission, out)
    }

    /// Records a copy of `elements` into the commands of the caller.
    ///
    /// # Errors
    /// As [`Readback::read`].
    pub fn record<T: Pod>(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        buffer: &Buffer<T>,
        elements: Range<usize>,
    ) -> Result<(), GpuError> {
        let count = elements.end.saturating_sub(elements.start);
        let bytes = buffer.byte_range(elements.start, count)?;
        self.record_bytes(gpu, encoder, buffer.raw(), bytes)
    }

    pub(crate) fn record_bytes(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        source: &wgpu::Buffer,
        bytes: Range<u64>,
    ) -> Result<(), GpuError> {
        self.pending = bytes.end - bytes.start;
        if self.pending == 0 {
            return Ok(());
        }
        let staging = self.staging(gpu, self.pending)?;
        encoder.copy_buffer_to_buffer(source, bytes.start, &staging, 0, self.pending);
        Ok(())
    }

    /// Waits for `submission`, which holds the recorded copy, and writes the elements to `out`.
    ///
    /// # Errors
    /// [`GpuError::Range`] if `out` is not as long as the recorded range, [`GpuError::DeviceLost`].
    pub fn take<T: Pod>(
        &mut self,
        gpu: &Gpu,
        submission: &Submission,
        out: &mut [T],
    ) -> Result<(), GpuError> {
        let out: &mut [u8] = bytemuck::cast_slice_mut(out);
        if padded(out.len() as u64) != self.pending {
            return Err(GpuError::Range {
                buffer: "a readback".into(),
                len: usize::try_from(self.pending).unwrap_or(usize::MAX),
                element_bytes: 1,
                start: 0,
                end: out.len(),
                problem: "differ from the recorded range",
            });
        }
        let Some(staging) = self.staging.clone().filter(|_| self.pending > 0) else {
            return gpu.wait(submission);
        };
        let result = self.copy_out(gpu, submission, &staging, out);
        // Also where it failed: a buffer that stays mapped cannot be copied to.
        staging.unmap();
        result
    }

    fn copy_out(
        &self,
        gpu: &Gpu,
        submission: &Submission,
        staging: &wgpu::Buffer,
        out: &mut [u8],
    ) -> Result<(), GpuError> {
        self.mapped.store(false, Ordering::Release);
        let mapped = self.mapped.clone();
        gpu.scoped("mapping a readback", |_| {
            staging.map_async(wgpu::MapMode::Read, 0..self.pending, move |result| {
                mapped.store(result.is_ok(), Ordering::Release);
            });
        })?;
        gpu.wait(submission)?;
        if !self.mapped.load(Ordering::Acquire) {
            // The work is done, yet another thread's poll may still be on its way to the callback.
            gpu.wait_idle()?;
        }
        let internal = |message: String| GpuError::Internal {
            what: "mapping a readback".into(),
            message,
        };
        if !self.mapped.load(Ordering::Acquire) {
            return Err(internal("the memory was not mapped".into()));
        }
        let view = staging
            .get_mapped_range(0..self.pending)
            .map_err(|e| internal(e.to_string()))?;
        out.copy_from_slice(&view[..out.len()]);
        Ok(())
    }

    /// The staging buffer, enlarged if needed.
    fn staging(&mut self, gpu: &Gpu, bytes: u64) -> Result<wgpu::Buffer, GpuError> {
        if let Some(staging) = self.staging.as_ref().filter(|s| s.size() >= bytes) {
            return Ok(staging.clone());
        }
        let allowed = gpu.limits().buffer_bytes;
        gpu.limit("bytes to read back at once", bytes, allowed)?;
        let staging = gpu.scoped(&format!("a readback of {bytes} bytes"), |_| {
            gpu.create_buffer(&wgpu::BufferDescriptor {
                label: Some("sinew readback"),
                size: bytes,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        })?;
        Ok(self.staging.insert(staging).clone())
    }
}
