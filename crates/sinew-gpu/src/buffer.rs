//! Typed buffers: create, fill, copy, read back.

mod fill;
mod readback;

pub use readback::Readback;

use crate::error::GpuError;
use crate::gpu::Gpu;
use bytemuck::Pod;
use std::marker::PhantomData;
use std::ops::Range;

/// Use of a buffer. Every buffer can also be the source and the target of copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BufferUse {
    /// Kernels read and write it.
    #[default]
    Storage,
    /// Kernels read it as a uniform: small, the same for every invocation.
    Uniform,
    /// Kernels write it, a renderer draws from it as vertices or indices, or binds it as storage.
    Drawn,
    /// Kernels write the sizes of later dispatches or draws into it.
    Indirect,
}

impl BufferUse {
    fn flags(self) -> wgpu::BufferUsages {
        use wgpu::BufferUsages as U;
        let copies = U::COPY_SRC | U::COPY_DST;
        copies
            | match self {
                Self::Storage => U::STORAGE,
                Self::Uniform => U::UNIFORM,
                Self::Drawn => U::STORAGE | U::VERTEX | U::INDEX,
                Self::Indirect => U::STORAGE | U::INDIRECT,
            }
    }
}

/// A buffer of `len` elements of type `T` in GPU memory.
///
/// Clones are handles of the same memory. New buffers hold zeros. An empty buffer takes a few bytes, because a kernel cannot bind an
/// empty one.
#[derive(Clone, Debug)]
pub struct Buffer<T> {
    raw: wgpu::Buffer,
    label: String,
    len: usize,
    element: PhantomData<fn() -> T>,
}

/// Bytes of the smallest buffer: one `vec4<f32>`.
const SMALLEST: u64 = 16;

impl<T: Pod> Buffer<T> {
    /// A buffer of `len` zeroed elements.
    ///
    /// # Errors
    /// [`GpuError::Limit`] if it would be larger than the device allows, [`GpuError::OutOfMemory`], [`GpuError::DeviceLost`].
    pub fn new(gpu: &Gpu, label: &str, len: usize, usage: BufferUse) -> Result<Self, GpuError> {
        let bytes = Self::checked_bytes(gpu, label, len)?;
        let raw = gpu.scoped(&format!("buffer '{label}' of {bytes} bytes"), |_| {
            gpu.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size: bytes,
                usage: usage.flags(),
                mapped_at_creation: false,
            })
        })?;
        Ok(Self::wrap(raw, label, len))
    }

    /// A buffer with the content of `data`.
    ///
    /// # Errors
    /// As [`Buffer::new`].
    pub fn from_slice(
        gpu: &Gpu,
        label: &str,
        data: &[T],
        usage: BufferUse,
    ) -> Result<Self, GpuError> {
        let buffer = Self::new(gpu, label, data.len(), usage)?;
        buffer.write(gpu, 0, data)?;
        Ok(buffer)
    }

    fn wrap(raw: wgpu::Buffer, label: &str, len: usize) -> Self {
        Self {
            raw,
            label: label.to_owned(),
            len,
            element: PhantomData,
        }
    }

    fn checked_bytes(gpu: &Gpu, label: &str, len: usize) -> Result<u64, GpuError> {
        const { assert!(size_of::<T>() > 0, "elements of no size need no buffer") };
        let size = (len as u64).saturating_mul(size_of::<T>() as u64);
        let allowed = gpu.limits().buffer_bytes;
        gpu.limit(&format!("bytes of buffer '{label}'"), size, allowed)?;
        Ok(padded(size).max(SMALLEST))
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size of the elements in bytes.
    pub fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    /// Name in messages and debuggers.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The wgpu buffer, to bind it in your own code.
    pub fn raw(&self) -> &wgpu::Buffer {
        &self.raw
    }

    /// The whole buffer as a binding.
    pub fn binding(&self) -> wgpu::BufferBinding<'_> {
        self.raw.as_entire_buffer_binding()
    }

    /// Replaces the elements from `start` on. Copies the data immediately; it arrives before any work that is submitted later.
    ///
    /// # Errors
    /// [`GpuError::Range`] if the range is outside the buffer, [`GpuError::OutOfMemory`], [`GpuError::DeviceLost`].
    pub fn write(&self, gpu: &Gpu, start: usize, data: &[T]) -> Result<(), GpuError> {
        let bytes = self.byte_range(start, data.len())?;
        let Some(size) = wgpu::BufferSize::new(bytes.end - bytes.start) else {
            return Ok(());
        };
        let source: &[u8] = bytemuck::cast_slice(data);
        gpu.try_scoped("an upload", |_| {
            let view = gpu.queue().write_buffer_with(&self.raw, bytes.start, size);
            if let Some(mut view) = view {
                view.slice(..source.len()).copy_from_slice(source);
                let rest = view.len() - source.len();
                view.slice(source.len()..)
                    .copy_from_slice(&[0; 4][..rest.min(4)]);
            }
            Ok(())
        })
    }

    /// Reads all elements back and waits for the GPU. To read in every frame, use a [`Readback`].
    ///
    /// # Errors
    /// [`GpuError::DeviceLost`], [`GpuError::OutOfMemory`].
    pub fn read(&self, gpu: &Gpu) -> Result<Vec<T>, GpuError> {
        let mut out = vec![T::zeroed(); self.len];
        Readback::new().read(gpu, self, 0, &mut out)?;
        Ok(out)
    }

    /// Records a command that sets all bytes to zero.
    pub fn clear(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.clear_buffer(&self.raw, 0, None);
    }

    /// Bytes of `count` elements from `start` on, padded to four at the end of the buffer.
    fn byte_range(&self, start: usize, count: usize) -> Result<Range<u64>, GpuError> {
        let end = start.saturating_add(count);
        let size = size_of::<T>() as u64;
        if end > self.len {
            return Err(self.refuse(start, end, "are not all inside the buffer"));
        }
        let (first, last) = (start as u64 * size, end as u64 * size);
        let last_padded = if end == self.len { padded(last) } else { last };
        if !first.is_multiple_of(4) || !last_padded.is_multiple_of(4) {
            let problem = "do not begin and end at multiples of four bytes";
            return Err(self.refuse(start, end, problem));
        }
        Ok(first..last_padded)
    }

    fn refuse(&self, start: usize, end: usize, problem: &'static str) -> GpuError {
        GpuError::Range {
            buffer: self.label.clone(),
            len: self.len,
            element_bytes: size_of::<T>(),
            start,
            end,
            problem,
        }
    }
}

/// The next multiple of four: the alignment of copies on the GPU.
fn padded(bytes: u64) -> u64 {
    bytes.saturating_add(3) & !3
}
