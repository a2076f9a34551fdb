//! Custom kernels compile on their own thread: a driver cannot be stopped, but the caller need not wait for it.

use super::{Binding, KernelSource, Pipeline};
use crate::error::GpuError;
use crate::gpu::Gpu;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Time between two checks of the stop flag.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// Stack of the thread, as large as that of a main thread: drivers recurse into nested blocks.
const STACK: usize = 8 << 20;

/// How long a custom kernel may take to compile.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompileLimit {
    /// The longest time for one kernel.
    pub longest: Duration,
    /// Set this flag to stop waiting for the compiler or for the work of the GPU.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Default for CompileLimit {
    /// 30 seconds.
    fn default() -> Self {
        Self {
            longest: Duration::from_secs(30),
            stop: None,
        }
    }
}

/// A kernel that a thread can keep.
struct Owned {
    label: String,
    wgsl: String,
    entry: String,
    bindings: Vec<Binding>,
    constants: Vec<(String, f64)>,
    /// The fields that are not references.
    numbers: KernelSource<'static>,
}

impl Owned {
    fn of(kernel: &KernelSource<'_>) -> Self {
        let constants = kernel.constants.iter();
        Self {
            label: kernel.label.to_owned(),
            wgsl: kernel.wgsl.to_owned(),
            entry: kernel.entry.to_owned(),
            bindings: kernel.bindings.to_vec(),
            constants: constants.map(|(n, v)| ((*n).to_owned(), *v)).collect(),
            numbers: KernelSource {
                immediate_bytes: kernel.immediate_bytes,
                workgroup_memory_bytes: kernel.workgroup_memory_bytes,
                zero_workgroup_memory: kernel.zero_workgroup_memory,
                checks: kernel.checks,
                is_users: kernel.is_users,
                ..KernelSource::new("", "", "", kernel.workgroup_size, &[])
            },
        }
    }

    fn compile(&self, gpu: &Gpu) -> Result<Pipeline, GpuError> {
        let constants = self.constants.iter();
        let constants: Vec<(&str, f64)> = constants.map(|(n, v)| (n.as_str(), *v)).collect();
        gpu.compile(&KernelSource {
            label: &self.label,
            wgsl: &self.wgsl,
            entry: &self.entry,
            bindings: &self.bindings,
            constants: &constants,
            ..self.numbers
        })
    }
}

impl Gpu {
    /// Limits how long custom kernels may take to compile from now on, for all clones of this device. Software adapters compile at the
    /// first launch: only [`CompileLimit::stop`] ends that wait.
    pub fn limit_compiling(&self, limit: CompileLimit) {
        *self.compile_limit() = limit;
    }

    /// Compiles within the limit. After the limit the thread continues until the driver is done or the process ends.
    pub(super) fn compile_in_time(&self, kernel: &KernelSource<'_>) -> Result<Pipeline, GpuError> {
        let limit = self.compile_limit().clone();
        let (owned, gpu) = (Owned::of(kernel), self.clone());
        let (done, result) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new().name("sinew compile".to_owned());
        let internal = |message: String| GpuError::Internal {
            what: format!("compiling kernel '{}'", kernel.label),
            message,
        };
        thread
            .stack_size(STACK)
            .spawn(move || {
                // The caller may have stopped waiting.
                let _ = done.send(owned.compile(&gpu));
            })
            .map_err(|e| internal(e.to_string()))?;
        let begun = Instant::now();
        loop {
            let left = limit.longest.saturating_sub(begun.elapsed());
            match result.recv_timeout(left.min(LOOK)) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(internal("the compiler panicked".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let stop = limit.stop.as_ref();
            if stop.is_some_and(|s| s.load(Ordering::Relaxed)) {
                return Err(GpuError::Stopped {
                    what: format!("compiling the kernel of node '{}'", kernel.label),
                });
            }
            if left.is_zero() {
                return Err(GpuError::CompileTime {
                    kernel: kernel.label.to_owned(),
                    seconds: limit.longest.as_secs_f64(),
                    adapter: self.info().name.clone(),
                });
            }
        }
    }
}
