//! Compute pipelines: a kernel's text with its bindings, compiled once per device.

mod in_time;
mod saved;
mod shader;
mod store;

pub use in_time::CompileLimit;
pub(crate) use in_time::LOOK;
pub(crate) use shader::RuntimeChecks;
pub use shader::{ShaderError, ShaderMessage};
pub(crate) use store::PipelineStore;

use crate::error::{GpuError, LimitError};
use crate::gpu::Gpu;
use std::sync::Arc;

/// How a kernel uses a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Access {
    /// `var<uniform>`.
    Uniform,
    /// `var<uniform>` with a dynamic offset for each dispatch ([`Pipeline::dispatch_at`]).
    UniformAt,
    /// `var<storage, read>`.
    Read,
    /// `var<storage, read_write>`.
    ReadWrite,
}

/// A buffer that a kernel declares, in bind group 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Binding {
    /// Its number: `@binding(slot)`.
    pub slot: u32,
    /// How the kernel uses it.
    pub access: Access,
}

impl Binding {
    /// `@binding(slot) var<uniform>`.
    pub const fn uniform(slot: u32) -> Self {
        Self::with(slot, Access::Uniform)
    }

    /// `@binding(slot) var<uniform>` with a dynamic offset.
    pub const fn uniform_at(slot: u32) -> Self {
        Self::with(slot, Access::UniformAt)
    }

    /// `@binding(slot) var<storage, read>`.
    pub const fn read(slot: u32) -> Self {
        Self::with(slot, Access::Read)
    }

    /// `@binding(slot) var<storage, read_write>`.
    pub const fn read_write(slot: u32) -> Self {
        Self::with(slot, Access::ReadWrite)
    }

    fn is_uniform(self) -> bool {
        matches!(self.access, Access::Uniform | Access::UniformAt)
    }

    const fn with(slot: u32, access: Access) -> Self {
        Self { slot, access }
    }

    fn layout(self) -> wgpu::BindGroupLayoutEntry {
        let ty = match self.access {
            Access::Uniform | Access::UniformAt => wgpu::BufferBindingType::Uniform,
            Access::Read => wgpu::BufferBindingType::Storage { read_only: true },
            Access::ReadWrite => wgpu::BufferBindingType::Storage { read_only: false },
        };
        wgpu::BindGroupLayoutEntry {
            binding: self.slot,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty,
                has_dynamic_offset: self.access == Access::UniformAt,
                min_binding_size: None,
            },
            count: None,
        }
    }
}

/// A kernel to compile: text, entry point and bindings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KernelSource<'a> {
    /// Name in messages and debuggers.
    pub label: &'a str,
    /// The complete WGSL text.
    pub wgsl: &'a str,
    /// Name of its `@compute` function.
    pub entry: &'a str,
    /// Its `@workgroup_size`, checked against the limits.
    pub workgroup_size: [u32; 3],
    /// Its bindings in bind group 0; the text may use fewer.
    pub bindings: &'a [Binding],
    /// Values of its `override` constants.
    pub constants: &'a [(&'a str, f64)],
    /// Bytes of its `var<immediate>`.
    pub immediate_bytes: u32,
    /// Bytes of its `var<workgroup>`, checked against the limits; with 0 the compiler checks them.
    pub workgroup_memory_bytes: u32,
    /// Whether workgroup memory is zeroed before the kernel runs. `false` saves time for a kernel that writes before it reads.
    pub zero_workgroup_memory: bool,
    /// Checks while the kernel runs.
    pub(crate) checks: RuntimeChecks,
    /// Whether it is a custom kernel of a user: its compile time is limited ([`Gpu::limit_compiling`]).
    pub(crate) is_users: bool,
}

impl<'a> KernelSource<'a> {
    /// A kernel without constants, immediates and declared workgroup memory; set those fields if you need them.
    pub const fn new(
        label: &'a str,
        wgsl: &'a str,
        entry: &'a str,
        workgroup_size: [u32; 3],
        bindings: &'a [Binding],
    ) -> Self {
        Self {
            label,
            wgsl,
            entry,
            workgroup_size,
            bindings,
            constants: &[],
            immediate_bytes: 0,
            workgroup_memory_bytes: 0,
            zero_workgroup_memory: true,
            checks: RuntimeChecks::ALL,
            is_users: false,
        }
    }

    /// Hash of everything that the compiled kernel depends on.
    fn key(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new();
        for text in [self.wgsl, self.entry] {
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
        for count in [self.constants.len(), self.bindings.len()] {
            hash.update(&(count as u64).to_le_bytes());
        }
        for (name, value) in self.constants {
            hash.update(&(name.len() as u64).to_le_bytes());
            hash.update(name.as_bytes());
            hash.update(&value.to_bits().to_le_bytes());
        }
        for binding in self.bindings {
            hash.update(&binding.slot.to_le_bytes());
            hash.update(&[binding.access as u8]);
        }
        for number in self.workgroup_size {
            hash.update(&number.to_le_bytes());
        }
        hash.update(&self.immediate_bytes.to_le_bytes());
        hash.update(&[self.zero_workgroup_memory.into(), self.checks.key()]);
        hash.finalize().into()
    }

    /// Checks limits first, because wgpu would report them later and with less detail.
    fn check_limits(&self, gpu: &Gpu) -> Result<(), LimitError> {
        let limits = gpu.limits();
        let of = |what: &str| format!("{what} of kernel '{}'", self.label);
        let uniform = self.bindings.iter().filter(|b| b.is_uniform());
        let uniform = uniform.count() as u64;
        let checks = [
            (
                "storage buffers",
                self.bindings.len() as u64 - uniform,
                limits.storage_buffers_per_stage,
            ),
            ("uniform buffers", uniform, limits.uniform_buffers_per_stage),
            (
                "bytes of immediates",
                u64::from(self.immediate_bytes),
                limits.immediate_bytes,
            ),
            (
                "bytes of workgroup memory",
                u64::from(self.workgroup_memory_bytes),
                limits.workgroup_memory_bytes,
            ),
            (
                "invocations per workgroup",
                self.workgroup_size.iter().map(|s| u64::from(*s)).product(),
                limits.invocations_per_workgroup,
            ),
        ];
        for (what, found, allowed) in checks {
            gpu.limit(&of(what), found, u64::from(allowed))?;
        }
        for (axis, (found, allowed)) in ["x", "y", "z"]
            .iter()
            .zip(self.workgroup_size.into_iter().zip(limits.workgroup_size))
        {
            let what = of(&format!("invocations along {axis}"));
            gpu.limit(&what, found.into(), allowed.into())?;
        }
        Ok(())
    }
}

/// A compiled kernel.
#[derive(Debug)]
pub struct Pipeline {
    label: String,
    raw: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    bindings: Vec<Binding>,
    workgroup_size: [u32; 3],
}

impl Pipeline {
    /// Invocations of a workgroup in each dimension.
    pub(crate) fn workgroup_size(&self) -> [u32; 3] {
        self.workgroup_size
    }

    /// Binds buffers to the kernel's slots. Every slot needs a buffer.
    ///
    /// # Errors
    /// [`GpuError::Limit`] if a buffer is too large for a binding, [`GpuError::Validation`] if a slot is missing or a buffer lacks the
    /// needed use, [`GpuError::DeviceLost`], [`GpuError::OutOfMemory`].
    pub fn bind(
        &self,
        gpu: &Gpu,
        buffers: &[(u32, wgpu::BufferBinding<'_>)],
    ) -> Result<wgpu::BindGroup, GpuError> {
        for (slot, binding) in buffers {
            self.check_binding(gpu, *slot, binding)?;
        }
        let entries: Vec<wgpu::BindGroupEntry<'_>> = buffers
            .iter()
            .map(|(slot, binding)| wgpu::BindGroupEntry {
                binding: *slot,
                resource: wgpu::BindingResource::Buffer(binding.clone()),
            })
            .collect();
        gpu.scoped(&format!("bindings of kernel '{}'", self.label), |device| {
            device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some(&self.label),
                layout: &self.layout,
                entries: &entries,
            })
        })
    }

    fn check_binding(
        &self,
        gpu: &Gpu,
        slot: u32,
        binding: &wgpu::BufferBinding<'_>,
    ) -> Result<(), LimitError> {
        let whole = binding.buffer.size().saturating_sub(binding.offset);
        let size = binding.size.map_or(whole, u64::from);
        let uniform = self
            .bindings
            .iter()
            .any(|b| b.slot == slot && b.is_uniform());
        let allowed = if uniform {
            gpu.limits().uniform_binding_bytes
        } else {
            gpu.limits().storage_binding_bytes
        };
        let what = format!("bytes at binding {slot} of kernel '{}'", self.label);
        gpu.limit(&what, size, allowed)
    }

    /// Records one dispatch of `groups` workgroups ([`Gpu::grid`]).
    pub fn dispatch(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bindings: &wgpu::BindGroup,
        groups: [u32; 3],
    ) {
        self.dispatch_with(pass, bindings, &[], groups);
    }

    /// Records one dispatch with `immediates`, the bytes of the kernel's `var<immediate>`. Their number is
    /// [`KernelSource::immediate_bytes`], a multiple of four.
    pub fn dispatch_with(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bindings: &wgpu::BindGroup,
        immediates: &[u8],
        groups: [u32; 3],
    ) {
        pass.set_pipeline(&self.raw);
        if !immediates.is_empty() {
            pass.set_immediates(0, immediates);
        }
        self.dispatch_bound(pass, bindings, &[], groups);
    }

    /// Records one dispatch with `offsets` for its bindings of [`Access::UniformAt`], in the order of their slots. Offsets are in bytes
    /// and multiples of [`DeviceLimits::uniform_alignment`](crate::DeviceLimits::uniform_alignment).
    pub fn dispatch_at(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bindings: &wgpu::BindGroup,
        offsets: &[u32],
        groups: [u32; 3],
    ) {
        pass.set_pipeline(&self.raw);
        self.dispatch_bound(pass, bindings, offsets, groups);
    }

    fn dispatch_bound(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        bindings: &wgpu::BindGroup,
        offsets: &[u32],
        [x, y, z]: [u32; 3],
    ) {
        pass.set_bind_group(0, bindings, offsets);
        pass.dispatch_workgroups(x, y, z);
    }
}

impl Gpu {
    /// The pipeline of a kernel. The first call compiles it, later calls return the same object.
    ///
    /// # Errors
    /// [`GpuError::Limit`] before anything is compiled. [`GpuError::Shader`] with the compiler's message if the text has an error.
    /// [`GpuError::Validation`] if text and bindings do not fit or the entry point is missing. [`GpuError::DeviceLost`].
    /// [`GpuError::CompileTime`] and [`GpuError::Stopped`] for custom kernels.
    pub fn pipeline(&self, kernel: &KernelSource<'_>) -> Result<Arc<Pipeline>, GpuError> {
        self.check()?;
        self.pipelines()
            .get_or_create(kernel.key(), || match kernel.is_users {
                true => self.compile_in_time(kernel),
                false => self.compile(kernel),
            })
    }

    /// Number of pipelines compiled so far. If it does not change during a frame, the frame compiled none.
    pub fn pipelines_created(&self) -> u64 {
        self.pipelines().created()
    }

    fn compile(&self, kernel: &KernelSource<'_>) -> Result<Pipeline, GpuError> {
        kernel.check_limits(self)?;
        let module = shader::compile(self, kernel)?;
        let what = format!("kernel '{}'", kernel.label);
        self.scoped(&what, |device| self.assemble(device, kernel, &module))
    }

    fn assemble(
        &self,
        device: &wgpu::Device,
        kernel: &KernelSource<'_>,
        module: &wgpu::ShaderModule,
    ) -> Pipeline {
        let entries: Vec<_> = kernel.bindings.iter().map(|b| b.layout()).collect();
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some(kernel.label),
            entries: &entries,
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(kernel.label),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: kernel.immediate_bytes,
        });
        let raw = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(kernel.label),
            layout: Some(&pipeline_layout),
            module,
            entry_point: Some(kernel.entry),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants: kernel.constants,
                zero_initialize_workgroup_memory: kernel.zero_workgroup_memory,
            },
            cache: self.pipelines().cache(),
        });
        Pipeline {
            label: kernel.label.to_owned(),
            raw,
            layout,
            bindings: kernel.bindings.to_vec(),
            workgroup_size: kernel.workgroup_size,
        }
    }
}
