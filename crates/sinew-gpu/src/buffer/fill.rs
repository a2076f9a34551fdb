//! Fills a buffer with one value on the GPU.

use super::{Buffer, BufferUse};
use crate::error::GpuError;
use crate::gpu::Gpu;
use crate::pipeline::{Binding, KernelSource};
use bytemuck::Pod;

const WGSL: &str = include_str!("fill.wgsl");
const GROUP: u32 = 256;

impl<T: Pod> Buffer<T> {
    /// Sets every element to `value`, after all work submitted earlier. For zeros, [`Buffer::clear`] is cheaper.
    ///
    /// # Errors
    /// [`GpuError::Range`] if the element size is not a multiple of four bytes, [`GpuError::Limit`] if the buffer is larger than a kernel
    /// may bind or has no storage use, [`GpuError::OutOfMemory`], [`GpuError::DeviceLost`].
    pub fn fill(&self, gpu: &Gpu, value: T) -> Result<(), GpuError> {
        let element: &[u8] = bytemuck::bytes_of(&value);
        if element.is_empty() || !element.len().is_multiple_of(4) {
            let problem = "cannot be filled: the element size is not a multiple of four bytes";
            return Err(self.refuse(0, self.len, problem));
        }
        let pattern: Vec<u32> = bytemuck::pod_collect_to_vec(element);
        let words = self.len * pattern.len();
        let mut head = vec![
            u32::try_from(words).unwrap_or(u32::MAX),
            u32::try_from(pattern.len()).unwrap_or(u32::MAX),
        ];
        head.extend(pattern);
        let head = Buffer::from_slice(gpu, "fill value", &head, BufferUse::Storage)?;
        let bindings = [Binding::read(0), Binding::read_write(1)];
        let kernel = KernelSource::new("fill", WGSL, "fill", [GROUP, 1, 1], &bindings);
        let pipeline = gpu.pipeline(&kernel)?;
        let group = pipeline.bind(gpu, &[(0, head.binding()), (1, self.binding())])?;
        let grid = gpu.grid(words, GROUP)?;
        gpu.submit("fill", |encoder| {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pipeline.dispatch(&mut pass, &group, grid);
            Ok(())
        })?;
        Ok(())
    }
}
