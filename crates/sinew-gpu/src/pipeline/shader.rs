//! From WGSL text to a shader module, with located errors.

use super::KernelSource;
use crate::error::GpuError;
use crate::gpu::{Gpu, Scopes};

/// One message of the compiler about a text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShaderMessage {
    /// The message.
    pub text: String,
    /// Line, from 1; 0 if the compiler gives no location.
    pub line: u32,
    /// Column in bytes, from 1; 0 if the compiler gives no location.
    pub column: u32,
    /// First byte of the located text.
    pub offset: u32,
    /// Number of bytes of the located text.
    pub length: u32,
}

/// A kernel's text does not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel '{label}' does not compile{}:\n{report}", place(messages))]
#[non_exhaustive]
pub struct ShaderError {
    /// Name of the kernel.
    pub label: String,
    /// Messages of the compiler, with locations.
    pub messages: Vec<ShaderMessage>,
    /// The compiler's readable report: message, lines of the text, location underlined.
    pub report: String,
}

fn place(messages: &[ShaderMessage]) -> String {
    match messages.iter().find(|m| m.line > 0) {
        Some(m) => format!(" at line {}, column {}", m.line, m.column),
        None => String::new(),
    }
}

/// Checks while a kernel runs: bounds of buffers if the driver does not check them, an end to every loop, no integer division by
/// zero. The counter that ends loops is expensive in short loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RuntimeChecks {
    bounds: bool,
    loops: bool,
}

impl RuntimeChecks {
    /// All checks.
    pub(crate) const ALL: Self = Self {
        bounds: true,
        loops: true,
    };

    /// All checks except the counter that ends loops.
    ///
    /// # Safety
    /// For every kernel compiled with this value and every content of its buffers: every loop ends. Never use it for custom kernels.
    #[expect(unsafe_code, reason = "the caller vouches for the text")]
    pub(crate) const unsafe fn loops_end() -> Self {
        Self {
            bounds: true,
            loops: false,
        }
    }

    /// No checks.
    ///
    /// # Safety
    /// For every kernel compiled with this value and every content of its buffers: it reads and writes only inside its bindings and
    /// arrays, every loop ends, and no integer is divided by zero. Never use it for custom kernels.
    #[expect(unsafe_code, reason = "the caller vouches for the text")]
    pub(crate) const unsafe fn none() -> Self {
        Self {
            bounds: false,
            loops: false,
        }
    }

    /// Whether all checks are on.
    pub(crate) const fn are_all_on(self) -> bool {
        self.bounds && self.loops
    }

    /// A number for each combination.
    pub(super) fn key(self) -> u8 {
        u8::from(self.bounds) | u8::from(self.loops) << 1
    }

    fn to_wgpu(self) -> wgpu::ShaderRuntimeChecks {
        wgpu::ShaderRuntimeChecks {
            bounds_checks: self.bounds,
            force_loop_bounding: self.loops,
            ..wgpu::ShaderRuntimeChecks::checked()
        }
    }
}

/// Compiles the text.
pub(super) fn compile(
    gpu: &Gpu,
    kernel: &KernelSource<'_>,
) -> Result<wgpu::ShaderModule, GpuError> {
    let what = format!("kernel '{}'", kernel.label);
    gpu.try_scoped(&what, |device| {
        let scopes = Scopes::push(device);
        let module = create(device, kernel);
        let caught = scopes.pop();
        let info = pollster::block_on(module.get_compilation_info());
        let messages = messages(&info);
        if messages.is_empty() {
            return match caught {
                Some(error) => Err(GpuError::caught(&what, error)),
                None => Ok(module),
            };
        }
        Err(GpuError::Shader(ShaderError {
            label: kernel.label.to_owned(),
            report: report(&messages),
            messages,
        }))
    })
}

#[expect(
    unsafe_code,
    reason = "checks are left out where the caller vouched for the text"
)]
fn create(device: &wgpu::Device, kernel: &KernelSource<'_>) -> wgpu::ShaderModule {
    let desc = wgpu::ShaderModuleDescriptor {
        label: Some(kernel.label),
        source: wgpu::ShaderSource::Wgsl(kernel.wgsl.into()),
    };
    if kernel.checks.are_all_on() {
        return device.create_shader_module(desc);
    }
    // SAFETY: checks are off only where the caller of an unsafe function of `RuntimeChecks` vouched for this text.
    unsafe { device.create_shader_module_trusted(desc, kernel.checks.to_wgpu()) }
}

fn messages(info: &wgpu::CompilationInfo) -> Vec<ShaderMessage> {
    let errors = info
        .messages
        .iter()
        .filter(|m| m.message_type == wgpu::CompilationMessageType::Error);
    errors
        .map(|m| ShaderMessage {
            text: m.message.trim().to_owned(),
            line: m.location.map_or(0, |l| l.line_number),
            column: m.location.map_or(0, |l| l.line_position),
            offset: m.location.map_or(0, |l| l.offset),
            length: m.location.map_or(0, |l| l.length),
        })
        .collect()
}

fn report(messages: &[ShaderMessage]) -> String {
    let texts: Vec<&str> = messages.iter().map(|m| m.text.as_str()).collect();
    texts.join("\n")
}
