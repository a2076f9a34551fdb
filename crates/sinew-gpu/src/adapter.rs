//! Which adapters there are, what they can do, and which one to take.
//!
//! An adapter is a graphics processor together with the driver that reaches it; a software driver counts, too. The environment
//! variable [`ADAPTER_VARIABLE`] (`SINEW_ADAPTER`) chooses one without a change of code: `software` takes a software driver,
//! any other text the first adapter whose name, driver or interface contains it, upper and lower case alike.

use std::fmt;

/// Name of the environment variable that [`Preference::from_env`] reads.
pub const ADAPTER_VARIABLE: &str = "SINEW_ADAPTER";

/// Which adapter to take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// The fastest kind: a card of its own, then a graphics processor that shares memory, then a virtual one, then software.
    #[default]
    Any,
    /// The first whose name, driver or interface (`vulkan`, `metal`, `dx12`) contains this text, upper and lower case alike.
    Named(String),
    /// A software driver, such as Mesa's lavapipe or Microsoft's WARP.
    Software,
}

impl Preference {
    /// What `SINEW_ADAPTER` says; [`Preference::Any`] where it is not set or empty.
    pub fn from_env() -> Self {
        std::env::var(ADAPTER_VARIABLE).map_or(Self::Any, |text| Self::from_text(&text))
    }

    /// `software`, or part of a name; empty text is [`Preference::Any`].
    pub fn from_text(text: &str) -> Self {
        match text.trim() {
            "" => Self::Any,
            t if t.eq_ignore_ascii_case("software") => Self::Software,
            t => Self::Named(t.to_owned()),
        }
    }
}

/// What kind of thing an adapter is. In the order in which [`Preference::Any`] takes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AdapterKind {
    /// A graphics processor with memory of its own.
    Discrete,
    /// A graphics processor that shares the main memory.
    Integrated,
    /// A graphics processor of a virtual machine.
    Virtual,
    /// The driver does not say.
    Other,
    /// No graphics processor: the processor computes.
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

impl From<wgpu::DeviceType> for AdapterKind {
    fn from(ty: wgpu::DeviceType) -> Self {
        match ty {
            wgpu::DeviceType::DiscreteGpu => Self::Discrete,
            wgpu::DeviceType::IntegratedGpu => Self::Integrated,
            wgpu::DeviceType::VirtualGpu => Self::Virtual,
            wgpu::DeviceType::Other => Self::Other,
            wgpu::DeviceType::Cpu => Self::Software,
        }
    }
}

/// The limits that matter to Sinew. Sizes are in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceLimits {
    /// Storage buffers that one kernel may bind.
    pub storage_buffers_per_stage: u32,
    /// Uniform buffers that one kernel may bind.
    pub uniform_buffers_per_stage: u32,
    /// Groups of bindings.
    pub bind_groups: u32,
    /// Largest piece of a buffer bound as storage.
    pub storage_binding_bytes: u64,
    /// Largest piece of a buffer bound as uniform.
    pub uniform_binding_bytes: u64,
    /// Largest buffer.
    pub buffer_bytes: u64,
    /// Multiple at which a storage binding may begin inside a buffer.
    pub storage_alignment: u32,
    /// The same of a uniform binding.
    pub uniform_alignment: u32,
    /// Memory that the invocations of a workgroup share.
    pub workgroup_memory_bytes: u32,
    /// Invocations of a workgroup.
    pub invocations_per_workgroup: u32,
    /// Size of a workgroup in each dimension.
    pub workgroup_size: [u32; 3],
    /// Workgroups of one dispatch in each dimension.
    pub workgroups_per_dimension: u32,
    /// Values given with a dispatch, without a buffer; 0 where there are none.
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

/// The optional features that Sinew uses where they are present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// Times at the begin and end of compute passes.
    pub timestamps: bool,
    /// Times between commands of an encoder.
    pub timestamps_in_encoders: bool,
    /// Times between the dispatches of one pass.
    pub timestamps_in_passes: bool,
    /// Operations across the invocations of a subgroup.
    pub subgroups: bool,
    /// Half precision numbers in kernels (`enable f16;`).
    pub shader_f16: bool,
    /// 16 bit integers in kernels.
    pub shader_i16: bool,
    /// Values given with a dispatch (`var<immediate>`).
    pub immediates: bool,
    /// Compiled kernels can be saved and loaded ([`Gpu::pipeline_cache_data`](crate::Gpu::pipeline_cache_data)).
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

    /// Every feature with its name, in a fixed order.
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

/// An adapter or device in words and numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterInfo {
    /// Name that the driver gives.
    pub name: String,
    /// Interface through which it is reached: `vulkan`, `metal`, `dx12`.
    pub backend: String,
    /// Name of the driver.
    pub driver: String,
    /// Version of the driver, as it gives it.
    pub driver_version: String,
    /// What kind of thing it is.
    pub kind: AdapterKind,
    /// Smallest subgroup (invocations that run in step).
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
            kind: info.device_type.into(),
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

/// What to install where no adapter is found.
pub const INSTALL_HINT: &str = "install the driver of your graphics processor; without one, a software driver \
    does: on Debian and Ubuntu 'apt install mesa-vulkan-drivers libvulkan1', on Fedora 'dnf install mesa-vulkan-drivers \
    vulkan-loader'; macOS and Windows bring theirs";

/// There is no adapter, or not the one that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AdapterError {
    /// No adapter at all.
    #[error("no graphics adapter found; {INSTALL_HINT}")]
    None,
    /// Adapters, but none with this text in its name.
    #[error("no graphics adapter is called '{wanted}'; there {}", there_is(found))]
    NoSuchName {
        /// Text asked for.
        wanted: String,
        /// Adapters that there are.
        found: Vec<String>,
    },
    /// Adapters, but no software driver.
    #[error(
        "no software graphics adapter; there {}; {INSTALL_HINT}",
        there_is(found)
    )]
    NoSoftware {
        /// Adapters that there are.
        found: Vec<String>,
    },
}

fn there_is(found: &[String]) -> String {
    let verb = if found.len() == 1 { "is" } else { "are" };
    format!("{verb} {}", found.join(", "))
}

/// The adapters of this machine.
#[derive(Debug)]
pub struct Adapters {
    found: Vec<(wgpu::Adapter, AdapterInfo)>,
}

impl Adapters {
    /// Asks the drivers. Takes some ten milliseconds; an empty list is not an error here.
    ///
    /// wgpu's own variables count, among them `WGPU_BACKEND=vulkan` and `WGPU_VALIDATION=1`.
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

    /// Every adapter, in the order in which the drivers name them.
    pub fn infos(&self) -> impl ExactSizeIterator<Item = &AdapterInfo> {
        self.found.iter().map(|(_, info)| info)
    }

    /// The adapter to take.
    ///
    /// # Errors
    /// [`AdapterError`]: there is none, or not the one asked for.
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
    /// What it is and can do.
    pub fn info(&self) -> &'a AdapterInfo {
        self.info
    }

    /// wgpu's own object, to ask for a device of your own.
    pub fn raw(&self) -> &'a wgpu::Adapter {
        self.raw
    }
}

/// The index of the adapter that `preference` means.
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
