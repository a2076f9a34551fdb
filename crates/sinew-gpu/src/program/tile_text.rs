//! What a launch over tiles adds to its text.

use super::memory::Memory;
use super::names::RelationId;
use super::schedule::{Load, Schedule};
use super::tiles::Tiles;
use sinew_deform::DeviceType;
use std::fmt::Write;

/// A launch that goes over tiles.
#[derive(Debug)]
pub(super) struct Tiling {
    pub(super) schedule: Schedule,
    pub(super) tiles: Tiles,
    /// The words of the tiles.
    pub(super) memory: Memory,
}

/// Where an element of an array is in workgroup memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArenaPlace {
    arena: usize,
    stride: usize,
}

impl ArenaPlace {
    /// The element at `row`, as a value.
    pub(super) fn element(self, row: &str) -> String {
        let Self { arena, stride } = self;
        if stride == 1 {
            return format!("sinew_w{arena}[{row}]");
        }
        let parts: Vec<String> = (0..stride)
            .map(|c| format!("sinew_w{arena}[{row} * {stride}u + {c}u]"))
            .collect();
        format!("vec{stride}f({})", parts.join(", "))
    }

    /// Statements that write `value` at `row`.
    pub(super) fn store(self, row: &str, value: &str) -> String {
        let Self { arena, stride } = self;
        if stride == 1 {
            return format!("sinew_w{arena}[{row}] = {value};");
        }
        let mut out = format!("{{ let sinew_v = {value}; let sinew_b = {row} * {stride}u; ");
        for (c, part) in ["x", "y", "z", "w"].iter().take(stride).enumerate() {
            let _ = write!(out, "sinew_w{arena}[sinew_b + {c}u] = sinew_v.{part}; ");
        }
        out.push('}');
        out
    }
}

/// The WGSL type of an array that is loaded.
pub(super) fn wgsl_type(memory: Memory, schedule: &Schedule) -> &'static str {
    let ty = schedule.residents.get(&memory).map(|r| r.ty);
    ty.unwrap_or(DeviceType::F32).wgsl()
}

impl Tiling {
    pub(super) fn place(&self, memory: Memory) -> ArenaPlace {
        ArenaPlace {
            arena: self.tiles.arena_of.get(&memory).copied().unwrap_or(0),
            stride: self.schedule.residents.get(&memory).map_or(1, |r| r.stride),
        }
    }

    pub(super) fn loads_before(&self, stage: usize) -> impl Iterator<Item = (usize, Load)> + '_ {
        let all = self.schedule.loads.iter().copied().enumerate();
        all.filter(move |(_, l)| l.stage == stage)
    }

    pub(super) fn rows_of_load(&self, load: usize, words: &str) -> String {
        let at = self.tiles.header.load_rows(load);
        format!("{words}[sinew_header + {at}u]")
    }

    pub(super) fn items(&self, domain: usize, words: &str) -> String {
        let at = self.tiles.header.items(domain);
        format!("{words}[sinew_header + {at}u]")
    }

    /// Where the heads of a relation begin, as a value.
    pub(super) fn relation_base(&self, relation: RelationId) -> String {
        let leads = &self.schedule.relations;
        let found = leads.iter().position(|r| r.id == relation).unwrap_or(0);
        format!("sinew_base_{found}")
    }

    /// Variables of the text.
    pub(super) fn declarations(&self) -> String {
        let mut out = String::from(
            "var<private> sinew_header: u32;
var<private> sinew_row: u32;
var<private> sinew_own: bool;
",
        );
        for r in 0..self.schedule.relations.len() {
            let _ = writeln!(out, "var<private> sinew_base_{r}: u32;");
        }
        for (arena, &floats) in self.tiles.arenas.iter().enumerate() {
            let floats = floats.max(1);
            let _ = writeln!(out, "var<workgroup> sinew_w{arena}: array<f32, {floats}u>;");
        }
        out
    }

    /// The loop of a stage.
    pub(super) fn stage(&self, index: usize, words: &str, calls: &str) -> String {
        let stage = &self.schedule.stages[index];
        let header = &self.tiles.header;
        let mut out = String::from("    {\n");
        for &r in &stage.relations {
            let at = header.relation(r);
            let _ = writeln!(out, "    sinew_base_{r} = {words}[sinew_header + {at}u];");
        }
        let rows = format!("{words}[sinew_header + {}u]", header.stage_rows(index));
        let owned = format!("{words}[sinew_header + {}u]", header.owned(stage.domain));
        let items = self.items(stage.domain, words);
        let size = self.tiles.workgroup;
        let _ = write!(
            out,
            "    let rows = {rows};
    let owned = {owned};
    let items = {items};
    for (var row = sinew_local; row < rows; row += {size}u) {{
        let sinew_index = {words}[items + row];
        sinew_row = row;
        sinew_own = row < owned;
{calls}    }}
    }}
"
        );
        out
    }
}
