//! The adapters of this machine, their capabilities, and how to choose one.
//!
//! An adapter is a GPU together with a driver for it. A software driver, which runs on the CPU, is an adapter too. The environment
//! variable [`ADAPTER_VARIABLE`] (`SINEW_ADAPTER`) chooses one: `software` selects a software driver. Any other text selects the first
//! adapter whose name, driver or graphics API contains the text, ignoring case.

use std::fmt;

/// Name of the environment variable that [`Preference::from_env`] reads.
pub const ADAPTER_VARIABLE: &str = "SINEW_ADAPTER";

/// Which adapter to use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preference {
    /// The fastest kind: a discrete GPU, then an integrated GPU, then a virtual GPU, then software.
    #[default]
    Any,
    /// The first adapter whose name, driver or graphics API (`vulkan`, `metal`, `dx12`) contains this text, ignoring case.
    Named(String),
    /// A software driver, such as Mesa's lavapipe or Microsoft's WARP.
    Software,
}

impl Preference {
    /// The value of `SINEW_ADAPTER`; [`Preference::Any`] if it is not set or empty.
    pub fn from_env() -> Self {
        std::env::var(ADAPTER_VARIABLE).map_or(Self::Any, |text| Self::from_text(&text))
    }

    /// Reads `software` or part of a name; empty text is [`Preference::Any`].
    pub fn from_text(text: &str) -> Self {
        match text.trim() {
            "" => Self::Any,
            t if t.eq_ignore_ascii_case("software") => Self::Software,
            t => Self::Named(t.to_owned()),
        }
    }
}

/// Kind of an adapter, in the order of [`Preference::Any`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AdapterKind {
    /// A GPU with its own memory.
    Discrete,
    /// A GPU that shares the main memory.
    Integrated,
    /// A GPU of a virtual machine.
    Virtual,
    /// The driver does not tell the kind.
    Other,
    /// A software driver that runs on the CPU.
    Software,
}

impl AdapterKind {
    /// The kind as one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Other => "other",
            Self::Software => "software",
        }
    }
}

impl AdapterKind {
    fn from_wgpu(ty: wgpu::DeviceType) -> Self {
        match ty {
            wgpu::DeviceType::DiscreteGpu => Self::Discrete,
            wgpu::DeviceType::IntegratedGpu => Self::Integrated,
            wgpu::DeviceType::VirtualGpu => Self::Virtual,
            wgpu::DeviceType::Other => Self::Other,
            wgpu::DeviceType::Cpu => Self::Software,
        }
    }
}

/// The limits that Sinew checks. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceLimits {
    /// Storage buffers that one kernel may bind.
    pub storage_buffers_per_stage: u32,
    /// Uniform buffers that one kernel may bind.
    pub uniform_buffers_per_stage: u32,
    /// Bind groups.
    pub bind_groups: u32,
    /// Largest storage binding.
    pub storage_binding_bytes: u64,
    /// Largest uniform binding.
    pub uniform_binding_bytes: u64,
    /// Largest buffer.
    pub buffer_bytes: u64,
    /// Alignment of the start of a storage binding inside a buffer.
    pub storage_alignment: u32,
    /// Alignment of the start of a uniform binding inside a buffer.
    pub uniform_alignment: u32,
    /// Memory that the invocations of a workgroup share.
    pub workgroup_memory_bytes: u32,
    /// Invocations per workgroup.
    pub invocations_per_workgroup: u32,
    /// Size of a workgroup in each dimension.
    pub workgroup_size: [u32; 3],
    /// Workgroups of one dispatch in each dimension.
    pub workgroups_per_dimension: u32,
    /// Immediate data of a dispatch; 0 if the adapter does not support it.
    pub immediate_bytes: u32,
}

impl DeviceLimits {
    pub(crate) fn from_wgpu(l: &wgpu::Limits) -> Self {
        Self {
            storage_buffers_per_stage: l.max_storage_buffers_per_shader_stage,
            uniform_buffers_per_stage: l.max_uniform_buffers_per_shader_stage,
            bind_groups: l.max_bind_groups,
            storage_binding_bytes: l.max_storage_buffer_binding_size,
            uniform_binding_bytes: l.max_uniform_buffer_binding_size,
            buffer_bytes: l.max_buffer_size,
            storage_alignment: l.min_storage_buffer_offset_alignment,
            uniform_alignment: l.min_uniform_buffer_offset_alignment,
            workgroup_memory_bytes: l.max_compute_workgroup_storage_size,
            invocations_per_workgroup: l.max_compute_invocations_per_workgroup,
            workgroup_size: [
                l.max_compute_workgroup_size_x,
                l.max_compute_workgroup_size_y,
                l.max_compute_workgroup_size_z,
            ],
            workgroups_per_dimension: l.max_compute_workgroups_per_dimension,
            immediate_bytes: l.max_immediate_size,
        }
    }
}

/// The optional features that Sinew uses if they are available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Timestamps at the begin and end of compute passes.
    pub timestamps: bool,
    /// Timestamps between commands of an encoder.
    pub timestamps_in_encoders: bool,
    /// Timestamps between the dispatches of one pass.
    pub timestamps_in_passes: bool,
    /// Operations across the invocations of a subgroup.
    pub subgroups: bool,
    /// Half-precision floats in kernels (`enable f16;`).
    pub shader_f16: bool,
    /// 16-bit integers in kernels.
    pub shader_i16: bool,
    /// Immediate data of a dispatch (`var<immediate>`).
    pub immediates: bool,
    /// Saving and loading of compiled kernels ([`Gpu::pipeline_cache_data`](crate::Gpu::pipeline_cache_data)).
    pub pipeline_cache: bool,
}

impl Capabilities {
    pub(crate) fn from_wgpu(f: wgpu::Features) -> Self {
        use wgpu::Features as F;
        Self {
            timestamps: f.contains(F::TIMESTAMP_QUERY),
            timestamps_in_encoders: f.contains(F::TIMESTAMP_QUERY_INSIDE_ENCODERS),
            timestamps_in_passes: f.contains(F::TIMESTAMP_QUERY_INSIDE_PASSES),
            subgroups: f.contains(F::SUBGROUP),
            shader_f16: f.contains(F::SHADER_F16),
            shader_i16: f.contains(F::SHADER_I16),
            immediates: f.contains(F::IMMEDIATES),
            pipeline_cache: f.contains(F::PIPELINE_CACHE),
        }
    }

    /// All features with their names, in a fixed order.
    pub fn each(&self) -> [(&'static str, bool); 8] {
        [
            ("timestamps", self.timestamps),
            ("timestamps_in_encoders", self.timestamps_in_encoders),
            ("timestamps_in_passes", self.timestamps_in_passes),
            ("subgroups", self.subgroups),
            ("shader_f16", self.shader_f16),
            ("shader_i16", self.shader_i16),
            ("immediates", self.immediates),
            ("pipeline_cache", self.pipeline_cache),
        ]
    }
}

/// The wgpu features behind [`Capabilities`].
pub(crate) fn wanted_features() -> wgpu::Features {
    use wgpu::Features as F;
    F::TIMESTAMP_QUERY
        | F::TIMESTAMP_QUERY_INSIDE_ENCODERS
        | F::TIMESTAMP_QUERY_INSIDE_PASSES
        | F::SUBGROUP
        | F::SHADER_F16
        | F::SHADER_I16
        | F::IMMEDIATES
        | F::PIPELINE_CACHE
}

/// Description of an adapter or device.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdapterInfo {
    /// Name from the driver.
    pub name: String,
    /// Graphics API: `vulkan`, `metal`, `dx12`.
    pub backend: String,
    /// Name of the driver.
    pub driver: String,
    /// Version of the driver, as the driver reports it.
    pub driver_version: String,
    /// Its kind.
    pub kind: AdapterKind,
    /// Smallest subgroup (invocations that run in lockstep).
    pub subgroup_min: u32,
    /// Largest subgroup.
    pub subgroup_max: u32,
    /// Its limits.
    pub limits: DeviceLimits,
    /// Its features.
    pub capabilities: Capabilities,
}

impl AdapterInfo {
    pub(crate) fn from_wgpu(
        info: wgpu::AdapterInfo,
        limits: &wgpu::Limits,
        features: wgpu::Features,
    ) -> Self {
        Self {
            name: info.name,
            backend: info.backend.to_string(),
            driver: info.driver,
            driver_version: info.driver_info,
            kind: AdapterKind::from_wgpu(info.device_type),
            subgroup_min: info.subgroup_min_size,
            subgroup_max: info.subgroup_max_size,
            limits: DeviceLimits::from_wgpu(limits),
            capabilities: Capabilities::from_wgpu(features),
        }
    }

    fn contains(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        [&self.name, &self.driver, &self.backend]
            .iter()
            .any(|t| t.to_lowercase().contains(&text))
    }
}

impl fmt::Display for AdapterInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} ({}, {}, {} {})",
            self.name,
            self.kind.as_str(),
            self.backend,
            self.driver,
            self.driver_version
        )
    }
}

/// What to install if no adapter is found.
pub(crate) const INSTALL_HINT: &str = "install the driver of your GPU; without a GPU, install a software driver: \
    on Debian and Ubuntu 'apt install mesa-vulkan-drivers libvulkan1', on Fedora 'dnf install mesa-vulkan-drivers \
    vulkan-loader'; macOS and Windows include drivers";

/// There is no adapter, or not the requested one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdapterError {
    /// There is no adapter.
    #[error("no GPU adapter found; {INSTALL_HINT}")]
    None,
    /// No adapter has the requested text in its name, driver or graphics API.
    #[error(
        "no GPU adapter has '{wanted}' in its name, driver or graphics API; known: {}",
        found.join(", ")
    )]
    NoSuchName {
        /// Requested text.
        wanted: String,
        /// All adapters.
        found: Vec<String>,
    },
    /// There are adapters, but no software driver.
    #[error("no software GPU adapter; known: {}; {INSTALL_HINT}", found.join(", "))]
    NoSoftware {
        /// All adapters.
        found: Vec<String>,
    },
}

/// The adapters of this machine.
#[derive(Debug)]
pub struct Adapters {
    found: Vec<(wgpu::Adapter, AdapterInfo)>,
}

impl Adapters {
    /// Lists the adapters of all drivers. Takes some ten milliseconds. An empty list is not an error.
    ///
    /// The environment variables of wgpu apply, for example `WGPU_BACKEND=vulkan` and `WGPU_VALIDATION=1`.
    pub fn enumerate() -> Self {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::PRIMARY.with_env(),
            // The same in every build; wgpu would check more in debug builds.
            flags: wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL.with_env(),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let found = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
        Self {
            found: found
                .into_iter()
                .map(|a| {
                    let info = AdapterInfo::from_wgpu(a.get_info(), &a.limits(), a.features());
                    (a, info)
                })
                .collect(),
        }
    }

    /// All adapters, in the order of the drivers.
    pub fn infos(&self) -> impl ExactSizeIterator<Item = &AdapterInfo> {
        self.found.iter().map(|(_, info)| info)
    }

    /// The adapter to use.
    ///
    /// # Errors
    /// [`AdapterError`] if there is no adapter, or not the requested one.
    pub fn choose(&self, preference: &Preference) -> Result<Adapter<'_>, AdapterError> {
        let infos: Vec<&AdapterInfo> = self.infos().collect();
        let index = choose_index(&infos, preference)?;
        let (raw, info) = &self.found[index];
        Ok(Adapter { raw, info })
    }
}

/// One of [`Adapters`].
#[derive(Clone, Copy, Debug)]
pub struct Adapter<'a> {
    pub(crate) raw: &'a wgpu::Adapter,
    info: &'a AdapterInfo,
}

impl<'a> Adapter<'a> {
    /// Description of the adapter.
    pub fn info(&self) -> &'a AdapterInfo {
        self.info
    }

    /// The wgpu adapter, to create a device of your own.
    pub fn raw(&self) -> &'a wgpu::Adapter {
        self.raw
    }
}

/// The index of the adapter that `preference` selects.
pub(crate) fn choose_index(
    infos: &[&AdapterInfo],
    preference: &Preference,
) -> Result<usize, AdapterError> {
    let names = || infos.iter().map(|i| i.to_string()).collect::<Vec<_>>();
    if infos.is_empty() {
        return Err(AdapterError::None);
    }
    match preference {
        Preference::Any => {
            let best = (0..infos.len()).min_by_key(|i| infos[*i].kind);
            best.ok_or(AdapterError::None)
        }
        Preference::Named(text) => {
            let named = infos.iter().position(|i| i.contains(text));
            named.ok_or_else(|| AdapterError::NoSuchName {
                wanted: text.clone(),
                found: names(),
            })
        }
        Preference::Software => {
            let software = infos.iter().position(|i| i.kind == AdapterKind::Software);
            software.ok_or_else(|| AdapterError::NoSoftware { found: names() })
        }
    }
}
