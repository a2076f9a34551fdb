//! The WGSL of one launch: bindings, the functions that its passes call, the passes, the entry point.

use super::group::{Group, PassText};
use super::memory::{ArrayShape, Kind, Memory};
use super::names::{Given, Part};
use crate::error::GpuError;
use crate::pipeline::Binding;
use sinew_deform::DeviceType;
use sinew_wgsl::{Module, ModuleBuilder, ModuleOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Name of the entry point.
pub(super) const ENTRY: &str = "main";

/// A launch as text.
#[derive(Debug)]
pub(super) struct LaunchText {
    pub(super) module: Module,
    pub(super) bindings: Vec<Binding>,
    /// What is bound at each slot.
    pub(super) memories: Vec<Memory>,
}

struct Writer<'a> {
    shape: &'a dyn Fn(Memory) -> ArrayShape,
    /// Whether there are several instances.
    many: bool,
    /// Whether a dispatch is for some of them.
    batched: bool,
    /// Slot and whether it is written.
    slots: BTreeMap<Memory, (usize, bool)>,
    /// Private variables that carry what earlier passes of the launch wrote.
    links: BTreeMap<Memory, String>,
    /// Arrays that are added to.
    atomic: BTreeSet<Memory>,
    out: String,
}

/// Puts the text together and checks it. With `batch`, the last binding lists the characters of a dispatch, that many vectors of four.
pub(super) fn launch_text(
    group: &Group,
    shape: &dyn Fn(Memory) -> ArrayShape,
    many: bool,
    batch: Option<usize>,
    workgroup_size: u32,
) -> Result<LaunchText, GpuError> {
    let bound = group.bound();
    let mut bindings = Vec::new();
    let mut memories = Vec::new();
    let mut slots = BTreeMap::new();
    for (slot, (&memory_key, &(memory, writes))) in bound.iter().enumerate() {
        slots.insert(memory_key, (slot, writes));
        memories.push(memory);
        // Slots are as many as bindings of a stage.
        let number = u32::try_from(slot).unwrap_or(u32::MAX);
        bindings.push(if writes {
            Binding::read_write(number)
        } else {
            Binding::read(number)
        });
    }
    let mut writer = Writer {
        shape,
        many,
        batched: false,
        slots,
        links: BTreeMap::new(),
        atomic: BTreeSet::new(),
        out: String::new(),
    };
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    let mut calls = String::new();
    let mut uniforms = BTreeMap::new();
    for (index, pass) in group.passes.iter().enumerate() {
        let prefix = format!("sinew_{index}_");
        let renames = writer.pass(pass, &prefix, &mut uniforms);
        let renames: Vec<(&str, &str)> = renames
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        if let Some(entry) = builder.add(&pass.snippet, &prefix, &renames)? {
            let _ = writeln!(calls, "    {entry}(sinew_index);");
        }
    }
    writer.bindings(&memories, &uniforms);
    if let Some(vectors) = batch {
        let slot = memories.len();
        let _ = writeln!(
            writer.out,
            "@group(0) @binding({slot}) var<uniform> sinew_batch: array<vec4u, {vectors}>;"
        );
        bindings.push(Binding::uniform_at(u32::try_from(slot).unwrap_or(u32::MAX)));
    }
    writer.batched = batch.is_some();
    writer.entry(group.count(), workgroup_size, &calls);
    builder.declare("generated", &writer.out);
    Ok(LaunchText {
        module: builder.finish()?,
        bindings,
        memories,
    })
}

impl Writer<'_> {
    /// Writes what a pass uses; gives the names in its text and the names in the module.
    fn pass(
        &mut self,
        pass: &PassText,
        prefix: &str,
        uniforms: &mut BTreeMap<Memory, String>,
    ) -> Vec<(String, String)> {
        let mut renames = Vec::new();
        // What the pass itself writes is linked only from the next pass on.
        let links = self.links.clone();
        for (name, given) in &pass.used {
            let full = format!("{prefix}{name}");
            match given {
                Given::Constant { ty, value } => {
                    let _ = writeln!(self.out, "const {full}: {ty} = {value};");
                }
                Given::Read { memory, part, ty } => match memory {
                    None => {
                        let _ =
                            writeln!(self.out, "fn {full}(i: u32) -> {ty} {{ return {ty}(); }}");
                    }
                    Some(memory) => match links.get(memory) {
                        Some(link) => {
                            let _ = writeln!(
                                self.out,
                                "fn {full}(i: u32) -> {ty} {{ return {link}; }}"
                            );
                        }
                        None => self.read(&full, *memory, *part, ty),
                    },
                },
                Given::Write { memory, ty } => self.write(&full, *memory, ty),
                Given::WriteLine { memory } => self.write_line(&full, *memory),
                Given::Scatter {
                    memory,
                    ty,
                    adds: true,
                } => self.add(&full, *memory, ty),
                Given::Scatter { memory, ty, .. } => self.write(&full, *memory, ty),
                Given::Uniforms { memory } => {
                    let struct_name = format!("{prefix}Uniforms");
                    let element = self.element(*memory, "0u");
                    let _ = writeln!(
                        self.out,
                        "fn {full}() -> {struct_name} {{ return {element}; }}"
                    );
                    uniforms.insert(*memory, struct_name);
                }
            }
            let called = if pass.guarded {
                self.guarded(&full, given)
            } else {
                full
            };
            renames.push((name.clone(), called));
        }
        renames
    }

    fn slot_name(&self, memory: Memory) -> String {
        let slot = self.slots.get(&memory).map_or(usize::MAX, |s| s.0);
        format!("sinew_m{slot}")
    }

    /// Index of element `i` among those of all instances.
    fn index(&self, memory: Memory, i: &str) -> String {
        let shape = (self.shape)(memory);
        if self.many && shape.per_instance {
            format!("(sinew_instance * {}u + {i})", shape.len)
        } else {
            i.to_owned()
        }
    }

    fn element(&self, memory: Memory, i: &str) -> String {
        format!("{}[{}]", self.slot_name(memory), self.index(memory, i))
    }

    fn read(&mut self, name: &str, memory: Memory, part: Part, ty: &str) {
        let shape = (self.shape)(memory);
        let text = match (shape.kind, part) {
            (Kind::Plain(DeviceType::Vec3F), _) => self.floats(name, memory, ty, 3, 0, 3),
            (Kind::Line, Part::LineFrom) => self.floats(name, memory, ty, 10, 0, 3),
            (Kind::Line, Part::LineTo) => self.floats(name, memory, ty, 10, 3, 3),
            (Kind::Line, _) => self.floats(name, memory, ty, 10, 6, 4),
            (Kind::Plain(_) | Kind::Uniforms { .. }, _) => {
                let element = self.element(memory, "i");
                format!("fn {name}(i: u32) -> {ty} {{ return {element}; }}")
            }
        };
        let _ = writeln!(self.out, "{text}");
    }

    /// Reads `count` floats from `first` on of an element of `stride` floats.
    fn floats(
        &self,
        name: &str,
        memory: Memory,
        ty: &str,
        stride: usize,
        first: usize,
        count: usize,
    ) -> String {
        let (slot, index) = (self.slot_name(memory), self.index(memory, "i"));
        let parts: Vec<String> = (first..first + count)
            .map(|c| format!("{slot}[b + {c}u]"))
            .collect();
        format!(
            "fn {name}(i: u32) -> {ty} {{ let b = {index} * {stride}u; return {ty}({}); }}",
            parts.join(", ")
        )
    }

    fn write(&mut self, name: &str, memory: Option<Memory>, ty: &str) {
        let Some(memory) = memory else {
            let _ = writeln!(self.out, "fn {name}(i: u32, v: {ty}) {{ }}");
            return;
        };
        let mut body = String::new();
        if matches!(memory, Memory::Frame(_) | Memory::Setup(_)) {
            let link = format!("{name}_link");
            let _ = writeln!(self.out, "var<private> {link}: {ty};");
            let _ = write!(body, "{link} = v; ");
            self.links.insert(memory, link);
        }
        if self.slots.get(&memory).is_some_and(|s| s.1) {
            let shape = (self.shape)(memory);
            if shape.kind == Kind::Plain(DeviceType::Vec3F) {
                let (slot, index) = (self.slot_name(memory), self.index(memory, "i"));
                let _ = write!(
                    body,
                    "let b = {index} * 3u; {slot}[b] = v.x; {slot}[b + 1u] = v.y; {slot}[b + 2u] = v.z; "
                );
            } else {
                let _ = write!(body, "{} = v; ", self.element(memory, "i"));
            }
        }
        let _ = writeln!(self.out, "fn {name}(i: u32, v: {ty}) {{ {body}}}");
    }

    /// `add_NAME(i, v)` on whole numbers.
    fn add(&mut self, name: &str, memory: Option<Memory>, ty: &str) {
        let mut body = String::new();
        if let Some(memory) = memory.filter(|m| self.slots.get(m).is_some_and(|s| s.1)) {
            self.atomic.insert(memory);
            let _ = write!(body, "atomicAdd(&{}, v); ", self.element(memory, "i"));
        }
        let _ = writeln!(self.out, "fn {name}(i: u32, v: {ty}) {{ {body}}}");
    }

    /// The same function for indices that nobody vouches for; gives its name.
    fn guarded(&mut self, name: &str, given: &Given) -> String {
        let checked = format!("{name}_guarded");
        let text = match given {
            Given::Read {
                memory: Some(memory),
                ty,
                ..
            } => {
                let len = (self.shape)(*memory).len;
                format!(
                    "fn {checked}(i: u32) -> {ty} {{ if (i < {len}u) {{ return {name}(i); }} return {ty}(); }}"
                )
            }
            Given::Write {
                memory: Some(memory),
                ty,
            }
            | Given::Scatter {
                memory: Some(memory),
                ty,
                ..
            } => {
                let len = (self.shape)(*memory).len;
                format!("fn {checked}(i: u32, v: {ty}) {{ if (i < {len}u) {{ {name}(i, v); }} }}")
            }
            _ => return name.to_owned(),
        };
        let _ = writeln!(self.out, "{text}");
        checked
    }

    fn write_line(&mut self, name: &str, memory: Option<Memory>) {
        let mut body = String::new();
        let stored = memory.filter(|m| self.slots.get(m).is_some_and(|s| s.1));
        if let Some(memory) = stored {
            let (slot, index) = (self.slot_name(memory), self.index(memory, "i"));
            let _ = write!(body, "let b = {index} * 10u; ");
            let parts = [
                "a.x", "a.y", "a.z", "z.x", "z.y", "z.z", "c.x", "c.y", "c.z", "c.w",
            ];
            for (offset, part) in parts.iter().enumerate() {
                let _ = write!(body, "{slot}[b + {offset}u] = {part}; ");
            }
        }
        let _ = writeln!(
            self.out,
            "fn {name}(i: u32, a: vec3f, z: vec3f, c: vec4f) {{ {body}}}"
        );
    }

    fn bindings(&mut self, memories: &[Memory], uniforms: &BTreeMap<Memory, String>) {
        for (slot, &memory) in memories.iter().enumerate() {
            let writes = self.slots.get(&memory).is_some_and(|s| s.1);
            let access = if writes { "read_write" } else { "read" };
            let element = match (self.shape)(memory).kind {
                Kind::Plain(DeviceType::Vec3F) | Kind::Line => "f32",
                Kind::Plain(DeviceType::I32) if self.atomic.contains(&memory) => "atomic<i32>",
                Kind::Plain(DeviceType::U32) if self.atomic.contains(&memory) => "atomic<u32>",
                Kind::Plain(ty) => ty.wgsl(),
                Kind::Uniforms { .. } => uniforms.get(&memory).map_or("f32", String::as_str),
            };
            let _ = writeln!(
                self.out,
                "@group(0) @binding({slot}) var<storage, {access}> sinew_m{slot}: array<{element}>;"
            );
        }
    }

    fn entry(&mut self, count: usize, workgroup_size: u32, calls: &str) {
        let instance = match (self.many, self.batched) {
            (false, _) => "",
            (true, false) => "    sinew_instance = sinew_group.z;\n",
            (true, true) => {
                "    sinew_instance = sinew_batch[sinew_group.z / 4u][sinew_group.z % 4u];\n"
            }
        };
        if self.many {
            self.out.push_str("var<private> sinew_instance: u32;\n");
        }
        let _ = write!(
            self.out,
            "@compute @workgroup_size({workgroup_size})
fn {ENTRY}(@builtin(workgroup_id) sinew_group: vec3u, @builtin(num_workgroups) sinew_groups: vec3u, @builtin(local_invocation_index) sinew_local: u32) {{
    let sinew_index = (sinew_group.x + sinew_group.y * sinew_groups.x) * {workgroup_size}u + sinew_local;
    if (sinew_index >= {count}u) {{ return; }}
{instance}{calls}}}
"
        );
    }
}
