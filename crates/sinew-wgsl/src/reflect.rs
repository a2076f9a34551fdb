//! Reflection of a module: entry points, bindings, layouts. Plain data, also for engines that do not use wgpu.
//!
//! Offsets, sizes and strides are those of WGSL's memory layout, as naga's `Layouter` computes them. Read and write access of a binding
//! include all functions that the entry point calls.

use naga::common::DiagnosticDisplay;
use naga::proc::Layouter;
use naga::valid::{FunctionInfo, GlobalUse, ModuleInfo};
use naga::{AddressSpace, GlobalVariable, Handle, Module, StorageAccess, Type, TypeInner};

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Bytes from the start of the structure.
    pub offset: u32,
    /// Size in bytes without trailing padding; for a runtime-sized array, one element.
    pub size: u32,
    /// Its type in WGSL.
    pub kind: String,
}

/// Memory layout of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructLayout {
    /// Its name.
    pub name: String,
    /// Size in bytes, including padding at the end.
    pub size: u32,
    /// Alignment in bytes.
    pub alignment: u32,
    /// Its members, in order.
    pub fields: Vec<Field>,
}

/// Kind of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BindingKind {
    /// `var<uniform>`.
    Uniform,
    /// `var<storage, read>`.
    StorageRead,
    /// `var<storage, read_write>`.
    StorageReadWrite,
    /// A texture.
    Texture,
    /// A sampler.
    Sampler,
    /// Anything else, such as an acceleration structure.
    Other,
}

/// A resource that an entry point uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Bind group.
    pub group: u32,
    /// Number in the group.
    pub binding: u32,
    /// Name of the variable in the module.
    pub name: String,
    /// Its kind.
    pub kind: BindingKind,
    /// Its type in WGSL.
    pub type_name: String,
    /// Minimum size of a buffer in bytes; a runtime-sized array counts with one element. 0 for textures and samplers.
    pub least_size: u32,
    /// Bytes from one array element to the next, if the variable is an array or ends with one.
    pub stride: Option<u32>,
    /// Whether the entry point reads it, directly or through functions.
    pub is_read: bool,
    /// Whether the entry point writes it, directly or through functions.
    pub is_written: bool,
}

/// An entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// Its name in the module.
    pub name: String,
    /// Threads of a workgroup along x, y and z; all 0 if it is not a compute shader. `override` constants have their defaults.
    pub workgroup_size: [u32; 3],
    /// Bytes of workgroup memory, as WebGPU counts them: each variable rounded up to 16.
    pub workgroup_bytes: u32,
    /// Its bindings, in order of group and number.
    pub bindings: Vec<Binding>,
}

struct Reflector<'a> {
    module: &'a Module,
    layouts: Layouter,
}

/// Memory layout of a structure.
pub(crate) fn struct_layout(module: &Module, name: &str) -> Option<StructLayout> {
    let reflector = Reflector::new(module)?;
    let (handle, _) = module.types.iter().find(|(_, t)| {
        t.name.as_deref() == Some(name) && matches!(t.inner, TypeInner::Struct { .. })
    })?;
    reflector.layout(handle)
}

/// All entry points.
pub(crate) fn entry_points(module: &Module, info: &ModuleInfo) -> Vec<EntryPoint> {
    let Some(reflector) = Reflector::new(module) else {
        return Vec::new();
    };
    module
        .entry_points
        .iter()
        .enumerate()
        .map(|(i, entry)| {
            let uses = info.get_entry_point(i);
            EntryPoint {
                name: entry.name.clone(),
                workgroup_size: entry.workgroup_size,
                workgroup_bytes: reflector.workgroup_bytes(uses),
                bindings: reflector.bindings(uses),
            }
        })
        .collect()
}

impl<'a> Reflector<'a> {
    fn new(module: &'a Module) -> Option<Self> {
        let mut layouts = Layouter::default();
        // A valid module can be laid out.
        layouts.update(module.to_ctx()).ok()?;
        Some(Self { module, layouts })
    }

    fn layout(&self, handle: Handle<Type>) -> Option<StructLayout> {
        let kind = &self.module.types[handle];
        let TypeInner::Struct { members, span } = &kind.inner else {
            return None;
        };
        let fields = members
            .iter()
            .map(|m| Field {
                name: m.name.clone().unwrap_or_default(),
                offset: m.offset,
                size: self.layouts[m.ty].size,
                kind: self.type_name(m.ty),
            })
            .collect();
        Some(StructLayout {
            name: kind.name.clone().unwrap_or_default(),
            size: *span,
            alignment: self.layouts[handle].alignment.round_up(1),
            fields,
        })
    }

    fn type_name(&self, handle: Handle<Type>) -> String {
        DiagnosticDisplay((handle, self.module.to_ctx())).to_string()
    }

    fn workgroup_bytes(&self, uses: &FunctionInfo) -> u32 {
        self.used(uses)
            .filter(|(_, v, _)| v.space == AddressSpace::WorkGroup)
            .map(|(_, v, _)| self.layouts[v.ty].size.next_multiple_of(16))
            .fold(0, u32::saturating_add)
    }

    fn used<'b>(
        &'b self,
        uses: &'b FunctionInfo,
    ) -> impl Iterator<Item = (Handle<GlobalVariable>, &'b GlobalVariable, GlobalUse)> {
        self.module
            .global_variables
            .iter()
            .map(|(handle, variable)| (handle, variable, uses[handle]))
            .filter(|(_, _, used)| !used.is_empty())
    }

    fn bindings(&self, uses: &FunctionInfo) -> Vec<Binding> {
        let mut out: Vec<Binding> = self
            .used(uses)
            .filter_map(|(_, variable, used)| self.binding(variable, used))
            .collect();
        out.sort_by_key(|b| (b.group, b.binding));
        out
    }

    fn binding(&self, variable: &GlobalVariable, used: GlobalUse) -> Option<Binding> {
        let place = variable.binding?;
        let kind = match variable.space {
            AddressSpace::Uniform => BindingKind::Uniform,
            AddressSpace::Storage { access } => match access.contains(StorageAccess::STORE) {
                true => BindingKind::StorageReadWrite,
                false => BindingKind::StorageRead,
            },
            _ => match self.module.types[variable.ty].inner {
                TypeInner::Image { .. } => BindingKind::Texture,
                TypeInner::Sampler { .. } => BindingKind::Sampler,
                _ => BindingKind::Other,
            },
        };
        let is_buffer = !matches!(variable.space, AddressSpace::Handle);
        Some(Binding {
            group: place.group,
            binding: place.binding,
            name: variable.name.clone().unwrap_or_default(),
            kind,
            type_name: self.type_name(variable.ty),
            least_size: if is_buffer {
                self.layouts[variable.ty].size
            } else {
                0
            },
            stride: self.stride(variable.ty),
            is_read: used.intersects(GlobalUse::READ | GlobalUse::ATOMIC),
            is_written: used.intersects(GlobalUse::WRITE | GlobalUse::ATOMIC),
        })
    }

    fn stride(&self, handle: Handle<Type>) -> Option<u32> {
        match &self.module.types[handle].inner {
            TypeInner::Array { stride, .. } => Some(*stride),
            TypeInner::Struct { members, .. } => {
                match self.module.types[members.last()?.ty].inner {
                    TypeInner::Array {
                        stride,
                        size: naga::ArraySize::Dynamic,
                        ..
                    } => Some(stride),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
