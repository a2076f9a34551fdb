//! The WGSL of one launch: bindings, functions that its passes call, passes, entry point.
//!
//! Kernel texts of nodes name no buffers. They call functions: `read_mesh_positions(i)`, `write_mesh_positions(i, p)`. [`launch_text`] writes
//! these functions and puts the texts of all passes of a launch into one module:
//!
//! 1. For each pass, [`Writer::pass`] gives every name that the text uses a function of its own (`names.rs` says what the name means), and a
//!    map of renames: two passes of one node kind then live in one module.
//! 2. What a function does depends on where the data is. Written by an earlier pass of this launch at the same element: a private variable, no
//!    memory. Made in this tile: workgroup memory. Else a binding, by its type, stride and character. Not linked: the default.
//! 3. In tiles, uniforms are read once into private variables.
//! 4. Loops over padded rows of known length are written out (`unroll.rs`).
//! 5. The entry point calls the passes in order: element by element, element by element for all characters of a crowd, or tile by tile with
//!    barriers between stages (`tile_text.rs` has the rows of tiles).
//!
//! `sinew-wgsl` checks the result with naga. The order of bindings is that of [`Memory`], so that equal launches are equal texts and compile
//! once. Names of this file begin with `sinew_`, which kernel texts may not use.

use super::crowd::Crowd;
use super::group::{Group, PassText, relation_memory};
use super::memory::{ArrayShape, Kind, Memory};
use super::names::{Given, Part, RelationId, Scatter};
use super::nodes::NodeOnDevice;
use super::rows::RowShape;
use super::schedule::is_identity;
use super::tile_text::{RowNames, Tiling};
use super::unroll::{Bound, unroll};
use crate::error::GpuError;
use crate::pipeline::Binding;
use sinew_deform::DeviceType;
use sinew_wgsl::tokens::{TokenKind, tokenize};
use sinew_wgsl::{Module, ModuleBuilder, ModuleOptions, Snippet};
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
    group: &'a Group,
    nodes: &'a [NodeOnDevice],
    shape: &'a dyn Fn(Memory) -> ArrayShape,
    /// Whether there are several instances.
    many: bool,
    /// Whether a dispatch is for some of them.
    batched: bool,
    /// Slot and whether it is written.
    slots: BTreeMap<Memory, (usize, bool)>,
    /// Private variables that carry what earlier passes of the launch (of the stage, in tiles) wrote.
    links: BTreeMap<Memory, String>,
    /// Arrays that are added to.
    atomic: BTreeSet<Memory>,
    /// Where invocations take several characters.
    crowd: Option<&'a Crowd>,
    /// Stage whose passes are written, in tiles.
    stage: usize,
    /// Variables that hold uniforms.
    cached: BTreeMap<Memory, String>,
    /// Functions that read relations, by the name in front of them.
    relations: BTreeMap<RelationId, String>,
    out: String,
}

/// Puts the text together and checks it. With `batch`, the last binding lists the characters of a dispatch, that many vectors of four.
pub(super) fn launch_text(
    group: &Group,
    nodes: &[NodeOnDevice],
    shape: &dyn Fn(Memory) -> ArrayShape,
    many: bool,
    crowd: Option<&Crowd>,
    batch: Option<usize>,
) -> Result<LaunchText, GpuError> {
    let bound = group.bound(nodes);
    let mut bindings = Vec::new();
    let mut memories = Vec::new();
    let mut slots = BTreeMap::new();
    for (slot, (&memory, &writes)) in bound.iter().enumerate() {
        slots.insert(memory, (slot, writes));
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
        group,
        nodes,
        shape,
        many,
        batched: batch.is_some(),
        crowd,
        slots,
        links: BTreeMap::new(),
        atomic: BTreeSet::new(),
        stage: 0,
        cached: BTreeMap::new(),
        relations: BTreeMap::new(),
        out: String::new(),
    };
    let mut builder = ModuleBuilder::new(ModuleOptions::default());
    let mut calls: Vec<String> = vec![String::new(); group.stage_count()];
    let mut uniforms = BTreeMap::new();
    for (index, pass) in group.passes.iter().enumerate() {
        let stage = group.stage_of(index);
        if stage != writer.stage {
            writer.stage = stage;
            writer.links.clear();
        }
        let prefix = format!("sinew_{index}_");
        let renames = writer.pass(index, pass, &prefix, &mut uniforms);
        let renames: Vec<(&str, &str)> = renames
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect();
        let unrolled = unrolled(&pass.snippet, &nodes[pass.node], group.tiling.is_some())?;
        if let Some(entry) = builder.add(&unrolled, &prefix, &renames)? {
            let arguments = if pass.grouped {
                "sinew_index, sinew_local"
            } else {
                "sinew_index"
            };
            let _ = writeln!(calls[stage], "    {entry}({arguments});");
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
    if let Some(tiling) = &group.tiling {
        writer.tile_entry(tiling, &calls);
    } else if let Some(crowd) = crowd {
        writer.crowd_entry(crowd, group.count(), &calls.concat());
    } else {
        writer.entry(group.count(), group.workgroup(), &calls.concat());
    }
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
        index: usize,
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
                Given::Read { memory, part, ty } => {
                    self.read_own(&full, *memory, *part, ty, &links, "i", "i");
                }
                Given::Write { memory, ty } => self.write(index, &full, *memory, ty),
                Given::WriteLine { memory } => self.write_line(&full, *memory),
                Given::Scatter {
                    memory,
                    ty,
                    how: Scatter::Write,
                } => self.write(index, &full, *memory, ty),
                Given::Scatter { memory, ty, how } => self.atomic(&full, *memory, ty, *how),
                Given::Uniforms { memory } => {
                    let struct_name = format!("{prefix}Uniforms");
                    let element = if self.group.tiling.is_some() {
                        self.cached_uniforms(*memory, &struct_name, uniforms)
                    } else {
                        self.element(*memory, "0u")
                    };
                    // Each text declares the type for itself; the array is of the first one's.
                    let value = if uniforms.contains_key(memory) {
                        let members = uniform_members(pass.snippet.text());
                        let members = members.iter().map(|m| format!("u.{m}"));
                        format!("{struct_name}({})", members.collect::<Vec<_>>().join(", "))
                    } else {
                        "u".into()
                    };
                    let _ = writeln!(
                        self.out,
                        "fn {full}() -> {struct_name} {{ let u = {element}; return {value}; }}"
                    );
                    uniforms.entry(*memory).or_insert(struct_name);
                }
                Given::Open { relation } => {
                    let rows = self.rows(*relation);
                    let _ = writeln!(
                        self.out,
                        "fn {full}(i: u32) -> u32 {{ return {rows}_open(i); }}"
                    );
                }
                Given::Extra { relation } => {
                    let rows = self.rows(*relation);
                    let _ = writeln!(
                        self.out,
                        "fn {full}(k: u32) -> u32 {{ return {rows}_extra(k); }}"
                    );
                }
                Given::Count { relation, groups } => {
                    let rows = self.rows(*relation);
                    let group = self.nodes[relation.0].device.relations[relation.1].group;
                    let divisor = if *groups { group } else { 1 };
                    let _ = writeln!(
                        self.out,
                        "fn {full}() -> u32 {{ return {rows}_count / {divisor}u; }}"
                    );
                }
                Given::Through {
                    relation,
                    memory,
                    part,
                    ty,
                } => {
                    let rows = self.rows(*relation);
                    if is_identity(self.nodes, *relation) {
                        let at = format!("{rows}_row");
                        self.read_own(&full, *memory, *part, ty, &links, "k", &at);
                    } else {
                        self.read_through(&full, &rows, *memory, *part, ty);
                    }
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

    /// A variable that holds uniforms for the whole launch.
    fn cached_uniforms(
        &mut self,
        memory: Memory,
        struct_name: &str,
        known: &BTreeMap<Memory, String>,
    ) -> String {
        let ty = known.get(&memory).map_or(struct_name, String::as_str);
        let name = format!("sinew_u{}", self.cached.len());
        let found = self.cached.get(&memory).cloned();
        found.unwrap_or_else(|| {
            let _ = writeln!(self.out, "var<private> {name}: {ty};");
            self.cached.insert(memory, name.clone());
            name
        })
    }

    /// Functions that read a relation, written once; gives the name in front of them.
    fn rows(&mut self, relation: RelationId) -> String {
        if let Some(name) = self.relations.get(&relation) {
            return name.clone();
        }
        let name = format!("sinew_r{}", self.relations.len());
        let shape = self.nodes[relation.0].rows[relation.1];
        let text = if shape.identity {
            shape.wgsl(&name, [""; 2], "", "")
        } else if let Some(tiling) = &self.group.tiling {
            let base = tiling.relation_base(relation);
            let words = self.slot_name(tiling.memory());
            let vectors = self.slot_name(tiling.vectors());
            shape
                .local()
                .wgsl(&name, [&words, &vectors], &base, "sinew_row")
        } else {
            let words = self.slot_name(relation_memory(self.nodes, relation));
            shape.wgsl(&name, [&words, &words], "0u", "i")
        };
        self.out.push_str(&text);
        self.relations.insert(relation, name.clone());
        name
    }

    /// Reads the pass's own element: `at` is its index, given the parameter `parameter`.
    #[expect(clippy::too_many_arguments, reason = "one function is written")]
    fn read_own(
        &mut self,
        full: &str,
        memory: Option<Memory>,
        part: Part,
        ty: &str,
        links: &BTreeMap<Memory, String>,
        parameter: &str,
        at: &str,
    ) {
        let Some(memory) = memory else {
            let _ = writeln!(
                self.out,
                "fn {full}({parameter}: u32) -> {ty} {{ return {ty}(); }}"
            );
            return;
        };
        let value = match (
            links.get(&memory),
            self.group.place_to_read(memory, self.stage),
        ) {
            (Some(link), _) => link.clone(),
            (None, Some(place)) => place.element("sinew_place"),
            (None, None) => {
                self.read(full, memory, part, ty, parameter, at);
                return;
            }
        };
        let _ = writeln!(
            self.out,
            "fn {full}({parameter}: u32) -> {ty} {{ return {value}; }}"
        );
    }

    /// Reads the element that entry `k` of the open row names.
    fn read_through(
        &mut self,
        full: &str,
        rows: &str,
        memory: Option<Memory>,
        part: Part,
        ty: &str,
    ) {
        let Some(memory) = memory else {
            let _ = writeln!(self.out, "fn {full}(k: u32) -> {ty} {{ return {ty}(); }}");
            return;
        };
        let entry = format!("{rows}_entry(k)");
        match self.group.place_to_read(memory, self.stage) {
            Some(place) => {
                let value = place.element("e");
                let _ = writeln!(
                    self.out,
                    "fn {full}(k: u32) -> {ty} {{ let e = {entry}; return {value}; }}"
                );
            }
            None => self.read(full, memory, part, ty, "k", &entry),
        }
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
        if self.crowd.is_some_and(|c| c.arrays.contains(&memory)) {
            let len = (self.shape)(memory).len;
            let shared = self.crowd_name(memory);
            return format!("{shared}[sinew_member * {len}u + {i}]");
        }
        format!("{}[{}]", self.slot_name(memory), self.index(memory, i))
    }

    /// A function that reads from memory the element whose index is `at`.
    fn read(
        &mut self,
        name: &str,
        memory: Memory,
        part: Part,
        ty: &str,
        parameter: &str,
        at: &str,
    ) {
        let shape = (self.shape)(memory);
        let (stride, first, count) = match (shape.kind, part) {
            (Kind::Plain(DeviceType::Vec3F), _) => (3, 0, 3),
            (Kind::Line, Part::LineFrom) => (10, 0, 3),
            (Kind::Line, Part::LineTo) => (10, 3, 3),
            (Kind::Line, _) => (10, 6, 4),
            (Kind::Plain(_) | Kind::Uniforms { .. }, _) => {
                let element = self.element(memory, at);
                let _ = writeln!(
                    self.out,
                    "fn {name}({parameter}: u32) -> {ty} {{ return {element}; }}"
                );
                return;
            }
        };
        let (slot, index) = (self.slot_name(memory), self.index(memory, at));
        let parts: Vec<String> = (first..first + count)
            .map(|c| format!("{slot}[b + {c}u]"))
            .collect();
        let _ = writeln!(
            self.out,
            "fn {name}({parameter}: u32) -> {ty} {{ let b = {index} * {stride}u; return {ty}({}); }}",
            parts.join(", ")
        );
    }

    fn write(&mut self, pass: usize, name: &str, memory: Option<Memory>, ty: &str) {
        let Some(memory) = memory else {
            let _ = writeln!(self.out, "fn {name}(i: u32, v: {ty}) {{ }}");
            return;
        };
        let mut body = String::new();
        if matches!(
            memory,
            Memory::Frame(_) | Memory::Setup(_) | Memory::Scratch { .. }
        ) {
            let link = format!("{name}_link");
            let _ = writeln!(self.out, "var<private> {link}: {ty};");
            let _ = write!(body, "{link} = v; ");
            self.links.insert(memory, link);
        }
        if let Some(place) = self.group.place_to_write(memory, self.stage) {
            let _ = write!(body, "{} ", place.store("sinew_place", "v"));
        }
        if self.group.stores_in(pass, memory) {
            let store = self.store(memory, "i", "v");
            if self.group.tiling.is_some() {
                let _ = write!(body, "if (sinew_own) {{ {store} }} ");
            } else {
                body.push_str(&store);
            }
        }
        let _ = writeln!(self.out, "fn {name}(i: u32, v: {ty}) {{ {body}}}");
    }

    /// Statements that write a value to memory.
    fn store(&self, memory: Memory, at: &str, value: &str) -> String {
        let shape = (self.shape)(memory);
        if shape.kind != Kind::Plain(DeviceType::Vec3F) {
            return format!("{} = {value}; ", self.element(memory, at));
        }
        let (slot, index) = (self.slot_name(memory), self.index(memory, at));
        format!(
            "let b = {index} * 3u; {slot}[b] = {value}.x; {slot}[b + 1u] = {value}.y; {slot}[b + 2u] = {value}.z; "
        )
    }

    /// `add_NAME(i, v)`, `min_NAME(i, v)` or `max_NAME(i, v)` on whole numbers.
    fn atomic(&mut self, name: &str, memory: Option<Memory>, ty: &str, how: Scatter) {
        let function = match how {
            Scatter::Min => "atomicMin",
            Scatter::Max => "atomicMax",
            Scatter::Add | Scatter::Write => "atomicAdd",
        };
        let stored = memory.filter(|m| self.slots.get(m).is_some_and(|s| s.1));
        let before = match stored {
            Some(memory) => {
                self.atomic.insert(memory);
                format!("{function}(&{}, v)", self.element(memory, "i"))
            }
            None => format!("{ty}()"),
        };
        let _ = writeln!(
            self.out,
            "fn {name}(i: u32, v: {ty}) -> {ty} {{ return {before}; }}"
        );
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
            Given::Scatter {
                memory: Some(memory),
                ty,
                how: Scatter::Add | Scatter::Min | Scatter::Max,
            } => {
                let len = (self.shape)(*memory).len;
                format!(
                    "fn {checked}(i: u32, v: {ty}) -> {ty} {{ if (i < {len}u) {{ return {name}(i, v); }} return {ty}(); }}"
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
            if self.group.tiling.is_some() {
                body.push_str("if (!sinew_own) { return; } ");
            }
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
        // Where workgroups work together, all of a group leave or none.
        let (count, of_group) = match self.group.is_grouped() {
            true => (
                count.div_ceil(workgroup_size.max(1) as usize),
                String::new(),
            ),
            false => (count, format!(" * {workgroup_size}u + sinew_local")),
        };
        let _ = write!(
            self.out,
            "@compute @workgroup_size({workgroup_size})
fn {ENTRY}(@builtin(workgroup_id) sinew_group: vec3u, @builtin(num_workgroups) sinew_groups: vec3u, @builtin(local_invocation_index) sinew_local: u32) {{
    let sinew_index = (sinew_group.x + sinew_group.y * sinew_groups.x){of_group};
    if (sinew_index >= {count}u) {{ return; }}
{instance}{calls}}}
"
        );
    }

    /// Workgroup memory that holds an array of several characters.
    fn crowd_name(&self, memory: Memory) -> String {
        format!("{}_shared", self.slot_name(memory))
    }

    /// The entry point where each invocation takes several elements of several characters.
    fn crowd_entry(&mut self, crowd: &Crowd, count: usize, calls: &str) {
        let (size, turns, characters) = (crowd.workgroup, crowd.turns, crowd.characters);
        let instances = crowd.instances;
        self.out
            .push_str("var<private> sinew_instance: u32;\nvar<private> sinew_member: u32;\n");
        let mut loads = String::new();
        for &memory in &crowd.arrays {
            let (shape, slot) = ((self.shape)(memory), self.slot_name(memory));
            let Kind::Plain(ty) = shape.kind else {
                continue;
            };
            let (shared, ty, len) = (self.crowd_name(memory), ty.wgsl(), shape.len);
            let room = len * characters as usize;
            let _ = writeln!(self.out, "var<workgroup> {shared}: array<{ty}, {room}>;");
            let _ = writeln!(
                loads,
                "    for (var i = sinew_local; i < sinew_members * {len}u; i += {size}u) {{ {shared}[i] = {slot}[sinew_first * {len}u + i]; }}"
            );
        }
        let _ = write!(
            self.out,
            "@compute @workgroup_size({size})
fn {ENTRY}(@builtin(workgroup_id) sinew_group: vec3u, @builtin(num_workgroups) sinew_groups: vec3u, @builtin(local_invocation_index) sinew_local: u32) {{
    let sinew_first = sinew_group.z * {characters}u;
    let sinew_members = min({characters}u, {instances}u - sinew_first);
{loads}    workgroupBarrier();
    let sinew_begin = (sinew_group.x + sinew_group.y * sinew_groups.x) * {turns}u * {size}u + sinew_local;
    for (var turn = 0u; turn < {turns}u; turn++) {{
    let sinew_index = sinew_begin + turn * {size}u;
    if (sinew_index < {count}u) {{
    for (var member = 0u; member < sinew_members; member++) {{
    sinew_member = member;
    sinew_instance = sinew_first + member;
{calls}    }} }} }}
}}
"
        );
    }

    /// The entry point where each workgroup takes a tile through all stages.
    fn tile_entry(&mut self, tiling: &Tiling, calls: &[String]) {
        let words = self.slot_name(tiling.memory());
        let size = tiling.tiles.workgroup;
        self.out.push_str(&tiling.declarations());
        let instance = if self.many {
            self.out.push_str("var<private> sinew_instance: u32;\n");
            "    sinew_instance = sinew_group.z;\n"
        } else {
            ""
        };
        let relations = self.relations.clone();
        let vectors = self.slot_name(tiling.vectors());
        let names = RowNames {
            words: &words,
            vectors: &vectors,
            of: &relations,
        };
        let [kept, keep] = tiling.keep_rows(self.nodes, &names);
        self.out.push_str(&kept);
        let mut body = String::new();
        for (stage, calls) in calls.iter().enumerate() {
            let mut loads = String::new();
            for (place, load) in tiling.loads_before(stage) {
                let ty = super::tile_text::wgsl_type(load.memory, &tiling.schedule);
                let read = format!("sinew_load_{place}");
                self.read(&read, load.memory, Part::Whole, ty, "i", "i");
                let store = tiling
                    .place(load.memory)
                    .store("row + 1u", &format!("{read}(sinew_index)"));
                let domain = load.domain;
                let body = |_| {
                    format!(
                        "        let sinew_index = {words}[sinew_items_{domain} + row];
        {store}
"
                    )
                };
                let rows = format!("sinew_load_rows_{place}");
                let most = tiling.tiles.most_of_load[place];
                loads.push_str(&tiling.each_row(&rows, most, &body));
            }
            if !loads.is_empty() {
                body.push_str(&loads);
                body.push_str("    workgroupBarrier();\n");
            }
            body.push_str(&tiling.stage(stage, self.nodes, &names, calls));
            if stage + 1 < tiling.schedule.stages.len() {
                body.push_str("    workgroupBarrier();\n");
            }
        }
        let head = tiling.header(&words);
        let zeros = tiling.zeros();
        let mut uniforms = String::new();
        for (memory, name) in &self.cached {
            let _ = writeln!(uniforms, "    {name} = {};", self.element(*memory, "0u"));
        }
        let (count, header) = (tiling.tiles.count, tiling.tiles.header.len());
        let _ = write!(
            self.out,
            "@compute @workgroup_size({size})
fn {ENTRY}(@builtin(workgroup_id) sinew_group: vec3u, @builtin(num_workgroups) sinew_groups: vec3u, @builtin(local_invocation_index) sinew_local: u32) {{
    let sinew_tile = sinew_group.x + sinew_group.y * sinew_groups.x;
    if (sinew_tile < {count}u) {{
    sinew_header = sinew_tile * {header}u;
{instance}{head}{keep}{uniforms}{zeros}{body}    }}
}}
"
        );
    }
}

/// The text with its loops over padded rows written out.
fn unrolled(snippet: &Snippet, node: &NodeOnDevice, tiled: bool) -> Result<Snippet, GpuError> {
    let relations = node.device.relations.iter().zip(&node.rows);
    let shape = |rows: &RowShape| if tiled { rows.local() } else { *rows };
    let bounds: Vec<Bound> = relations
        .filter(|(_, rows)| shape(rows).fixed_vectors().is_some())
        .flat_map(|(r, rows)| {
            let bound = |word: &str, entries: usize| Bound {
                function: format!("{}_{word}", r.name),
                turns: rows.most.div_ceil(entries),
                guarded_from: shape(rows).free_turns(entries),
            };
            [bound("count", 1), bound("groups", r.group.max(1) as usize)]
        })
        .collect();
    if bounds.is_empty() {
        return Ok(snippet.clone());
    }
    let text = unroll(snippet.text(), &bounds);
    let entry = snippet.entry().clone();
    Ok(Snippet::parse_with(snippet.file(), &text, entry)?)
}

/// Members of the text's `struct Uniforms`.
fn uniform_members(text: &str) -> Vec<&str> {
    let tokens = tokenize(text);
    let declared = tokens
        .windows(2)
        .position(|w| w[0].text(text) == "struct" && w[1].text(text) == "Uniforms");
    let inside = tokens[declared.unwrap_or(tokens.len())..].iter();
    inside
        .take_while(|t| t.text(text) != "}")
        .filter(|t| t.kind == TokenKind::Member)
        .map(|t| t.text(text))
        .collect()
}
