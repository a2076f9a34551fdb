//! The device: created here or passed in by an engine, shared by clones, checked for loss.

mod guard;
mod lost;

pub(crate) use guard::Scopes;

use crate::adapter::{
    Adapter, AdapterInfo, Adapters, Capabilities, DeviceLimits, Preference, wanted_features,
};
use crate::error::{GpuError, LimitError};
use crate::pipeline::{CompileLimit, LOOK, PipelineStore};
use lost::Lost;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Options of [`Gpu::new`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct GpuOptions {
    /// Adapter to use.
    pub adapter: Preference,
    /// Data of [`Gpu::pipeline_cache_data`] from an earlier run. Data of another adapter or version is ignored.
    pub pipeline_cache: Option<Vec<u8>>,
}

impl GpuOptions {
    /// Options with the adapter that the environment variable `SINEW_ADAPTER` names.
    pub fn from_env() -> Self {
        Self {
            adapter: Preference::from_env(),
            ..Self::default()
        }
    }
}

/// A GPU device and its queue. Clones share both; any number of threads may use it at once.
///
/// Every call to the device catches the errors of wgpu and returns them as a [`GpuError`]; no call panics. After the device is
/// lost, every call returns [`GpuError::DeviceLost`].
#[derive(Clone, Debug)]
pub struct Gpu {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    info: AdapterInfo,
    raw_info: wgpu::AdapterInfo,
    device: wgpu::Device,
    queue: wgpu::Queue,
    lost: Lost,
    uncaptured: Arc<Mutex<Option<String>>>,
    pipelines: PipelineStore,
    compile_limit: Mutex<CompileLimit>,
    buffers_created: AtomicU64,
}

/// Submitted GPU work that you can wait for.
#[derive(Clone, Debug)]
pub struct Submission(wgpu::SubmissionIndex);

impl Gpu {
    /// Creates a device on the adapter that `options` names, with the limits of the adapter and the optional features that Sinew uses.
    ///
    /// # Errors
    /// [`GpuError::Adapter`] if there is no such adapter, [`GpuError::NoDevice`] if its driver fails.
    pub fn new(options: &GpuOptions) -> Result<Self, GpuError> {
        let adapters = Adapters::enumerate();
        Self::on_adapter(
            adapters.choose(&options.adapter)?,
            options.pipeline_cache.as_deref(),
        )
    }

    /// Creates a device on this adapter; `pipeline_cache` as in [`GpuOptions`].
    ///
    /// # Errors
    /// [`GpuError::NoDevice`] if its driver fails.
    pub fn on_adapter(
        adapter: Adapter<'_>,
        pipeline_cache: Option<&[u8]>,
    ) -> Result<Self, GpuError> {
        let raw = adapter.raw;
        let mut limits = raw.limits();
        // Direct3D reserves memory for as many bindings as are asked for.
        limits.max_non_sampler_bindings = limits.max_non_sampler_bindings.min(1_000_000);
        let request = raw.request_device(&wgpu::DeviceDescriptor {
            label: Some("sinew"),
            required_features: raw.features() & wanted_features(),
            required_limits: limits,
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        });
        let (device, queue) = pollster::block_on(request).map_err(|e| GpuError::NoDevice {
            adapter: adapter.info().name.clone(),
            message: e.to_string(),
        })?;
        let gpu = Self::build(device, queue, pipeline_cache)?;
        gpu.inner.lost.listen(&gpu.inner.device);
        let uncaptured = gpu.inner.uncaptured.clone();
        // Without a handler wgpu would panic.
        gpu.inner
            .device
            .on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
                let mut first = uncaptured.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert_with(|| error.to_string());
            }));
        Ok(gpu)
    }

    /// Uses the device and queue of an engine. The engine and Sinew then share buffers, and Sinew creates no device.
    ///
    /// The engine's handlers for lost devices and uncaptured errors stay in place: Sinew catches its own errors with error scopes,
    /// and notices a lost device at its next call. Sinew uses the limits and optional features that the engine requested for the
    /// device: see [`Gpu::wanted_features`].
    ///
    /// # Errors
    /// [`GpuError::DeviceLost`] if the device is already lost.
    pub fn from_parts(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self, GpuError> {
        Self::build(device, queue, None)
    }

    fn build(
        device: wgpu::Device,
        queue: wgpu::Queue,
        pipeline_cache: Option<&[u8]>,
    ) -> Result<Self, GpuError> {
        let raw_info = device.adapter_info();
        let info = AdapterInfo::from_wgpu(raw_info.clone(), &device.limits(), device.features());
        let lost = Lost::default();
        lost.probe(&device)?;
        let cached = info.capabilities.pipeline_cache;
        let pipelines = PipelineStore::new(&device, &info, cached, pipeline_cache);
        let inner = Inner {
            info,
            raw_info,
            device,
            queue,
            lost,
            uncaptured: Arc::default(),
            pipelines,
            compile_limit: Mutex::default(),
            buffers_created: AtomicU64::new(0),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// The optional features that Sinew uses. An engine that creates its own device should request
    /// `adapter.features() & Gpu::wanted_features()`.
    pub fn wanted_features() -> wgpu::Features {
        wanted_features()
    }

    /// Description of the device. Limits and features are those of the device, not of its adapter.
    pub fn info(&self) -> &AdapterInfo {
        &self.inner.info
    }

    /// The device's limits.
    pub fn limits(&self) -> &DeviceLimits {
        &self.inner.info.limits
    }

    /// The device's optional features.
    pub fn capabilities(&self) -> &Capabilities {
        &self.inner.info.capabilities
    }

    /// The wgpu device. Sinew's error handling does not cover direct calls on it; see [`Gpu::scoped`].
    pub fn device(&self) -> &wgpu::Device {
        &self.inner.device
    }

    /// The wgpu queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.inner.queue
    }

    pub(crate) fn pipelines(&self) -> &PipelineStore {
        &self.inner.pipelines
    }

    pub(crate) fn compile_limit(&self) -> MutexGuard<'_, CompileLimit> {
        let limit = self.inner.compile_limit.lock();
        limit.unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of buffers that Sinew has created on the device. If it does not change during a frame, the frame created no buffer.
    pub fn buffers_created(&self) -> u64 {
        self.inner.buffers_created.load(Ordering::Relaxed)
    }

    /// Creates a buffer and counts it; inside of [`Gpu::scoped`].
    pub(crate) fn create_buffer(&self, desc: &wgpu::BufferDescriptor<'_>) -> wgpu::Buffer {
        self.inner.buffers_created.fetch_add(1, Ordering::Relaxed);
        self.inner.device.create_buffer(desc)
    }

    pub(crate) fn raw_info(&self) -> &wgpu::AdapterInfo {
        &self.inner.raw_info
    }

    /// Fails if the device is known to be lost. Costs one atomic load.
    ///
    /// # Errors
    /// [`GpuError::DeviceLost`].
    pub(crate) fn check(&self) -> Result<(), GpuError> {
        self.inner.lost.check()
    }

    /// Takes the first error that no scope caught, from direct calls on [`Gpu::device`] without [`Gpu::scoped`]. Always `None` for the
    /// device of an engine: its errors go to the engine's handler.
    pub fn take_uncaptured(&self) -> Option<String> {
        let first = self.inner.uncaptured.lock();
        first.unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Runs `f`, which creates `what`, and returns its wgpu errors as a typed error.
    ///
    /// # Errors
    /// [`GpuError::DeviceLost`], [`GpuError::OutOfMemory`], [`GpuError::Validation`], [`GpuError::Internal`].
    pub fn scoped<R>(&self, what: &str, f: impl FnOnce(&wgpu::Device) -> R) -> Result<R, GpuError> {
        self.try_scoped(what, |device| Ok(f(device)))
    }

    /// As [`Gpu::scoped`], for work that returns errors itself. An error of `f` takes precedence over one of wgpu.
    ///
    /// # Errors
    /// Those of `f` and those of [`Gpu::scoped`].
    pub(crate) fn try_scoped<R>(
        &self,
        what: &str,
        f: impl FnOnce(&wgpu::Device) -> Result<R, GpuError>,
    ) -> Result<R, GpuError> {
        self.check()?;
        let scopes = Scopes::push(&self.inner.device);
        let result = f(&self.inner.device);
        let caught = scopes.pop();
        let result = result?;
        if let Some(error) = caught {
            return Err(GpuError::caught(what, error));
        }
        // wgpu does not report calls on a lost device.
        self.inner.lost.probe(&self.inner.device)?;
        Ok(result)
    }

    /// Records commands named `what` and submits them.
    ///
    /// # Errors
    /// Those of `f`, then those of [`Gpu::scoped`]. If `f` fails, nothing is submitted.
    pub fn submit(
        &self,
        what: &str,
        f: impl FnOnce(&mut wgpu::CommandEncoder) -> Result<(), GpuError>,
    ) -> Result<Submission, GpuError> {
        self.try_scoped(what, |device| {
            let mut encoder = device
                .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(what) });
            f(&mut encoder)?;
            Ok(Submission(self.inner.queue.submit([encoder.finish()])))
        })
    }

    /// Waits until the device has finished this work and everything before it.
    ///
    /// # Errors
    /// [`GpuError::DeviceLost`], [`GpuError::Validation`] for work of another device.
    pub fn wait(&self, submission: &Submission) -> Result<(), GpuError> {
        self.poll(wgpu::PollType::Wait {
            submission_index: Some(submission.0.clone()),
            timeout: None,
        })
    }

    /// Waits until the device has finished all work.
    ///
    /// # Errors
    /// [`GpuError::DeviceLost`].
    pub fn wait_idle(&self) -> Result<(), GpuError> {
        self.poll(wgpu::PollType::wait_indefinitely())
    }

    pub(crate) fn poll(&self, how: wgpu::PollType) -> Result<(), GpuError> {
        self.check()?;
        let stop = self.compile_limit().stop.clone();
        let (lost, device) = (&self.inner.lost, &self.inner.device);
        let (Some(stop), wgpu::PollType::Wait { timeout: None, .. }) = (stop, &how) else {
            return lost.poll(device, how).map(|_| ());
        };
        let wgpu::PollType::Wait {
            submission_index, ..
        } = how
        else {
            return Ok(());
        };
        // Software adapters compile at the first launch, which this call waits for.
        loop {
            let slice = wgpu::PollType::Wait {
                submission_index: submission_index.clone(),
                timeout: Some(LOOK),
            };
            if lost.poll(device, slice)? {
                return Ok(());
            }
            if stop.load(Ordering::Relaxed) {
                // Dropping a device would wait for its work.
                std::mem::forget(self.clone());
                return Err(GpuError::Stopped {
                    what: "waiting for the GPU".to_owned(),
                });
            }
        }
    }

    /// An error if `found` is more than `allowed`.
    pub(crate) fn limit(&self, what: &str, found: u64, allowed: u64) -> Result<(), LimitError> {
        if found <= allowed {
            return Ok(());
        }
        Err(LimitError {
            what: what.to_owned(),
            found,
            allowed,
            adapter: self.info().name.clone(),
        })
    }

    pub(crate) fn unsupported(&self, what: &str) -> GpuError {
        GpuError::Unsupported {
            what: what.to_owned(),
            adapter: self.info().name.clone(),
        }
    }

    /// Workgroups for `items` invocations in groups of `group`: one row if possible, otherwise several rows. A kernel computes its index
    /// as `id.x + id.y * row` with `row = num_workgroups.x * group`. It must skip indices from `items` on.
    ///
    /// # Errors
    /// If there are more items than two dimensions of workgroups can cover.
    pub fn grid(&self, items: usize, group: u32) -> Result<[u32; 3], LimitError> {
        let groups = (items as u64).div_ceil(u64::from(group.max(1)));
        let most = u64::from(self.limits().workgroups_per_dimension);
        self.limit(
            "workgroups of one dispatch",
            groups,
            most.saturating_mul(most),
        )?;
        let rows = groups.div_ceil(most.max(1)).max(1);
        let columns = groups.div_ceil(rows).min(most);
        let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        Ok([narrow(columns), narrow(rows), 1])
    }
}
