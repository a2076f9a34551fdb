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
    /// Among all launches.
    pub(super) launch: usize,
}

/// Turns of a loop over rows that compilers may unroll.
const MOST_UNROLLED: usize = 8;

/// Where an element of an array is in workgroup memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArenaPlace {
    arena: usize,
    stride: usize,
}

impl ArenaPlace {
    /// The element at `place`, as a value.
    pub(super) fn element(self, place: &str) -> String {
        let Self { arena, stride } = self;
        let part = match stride {
            2 => ".xy",
            3 => ".xyz",
            _ => "",
        };
        format!("sinew_w{arena}[{place}]{part}")
    }

    /// A statement that writes `value` at `place`.
    pub(super) fn store(self, place: &str, value: &str) -> String {
        let Self { arena, stride } = self;
        let value = match stride {
            2 => format!("vec4f({value}, 0.0, 0.0)"),
            3 => format!("vec4f({value}, 0.0)"),
            _ => value.to_owned(),
        };
        format!("sinew_w{arena}[{place}] = {value};")
    }
}

/// The WGSL type of an array that is loaded.
pub(super) fn wgsl_type(memory: Memory, schedule: &Schedule) -> &'static str {
    let ty = schedule.residents.get(&memory).map(|r| r.ty);
    ty.unwrap_or(DeviceType::F32).wgsl()
}

impl Tiling {
    /// The words of the tiles.
    pub(super) fn memory(&self) -> Memory {
        Memory::Tiles {
            launch: self.launch,
        }
    }
    /// The same as vectors.
    pub(super) fn vectors(&self) -> Memory {
        Memory::TileVectors {
            launch: self.launch,
        }
    }

    /// A loop over rows: `body` sees `row`. The number of turns is in the text where it is small, so that compilers unroll it.
    pub(super) fn each_row(&self, rows: &str, most: usize, body: &str) -> String {
        let size = self.tiles.workgroup;
        let turns = most.div_ceil(size as usize);
        if turns > MOST_UNROLLED {
            return format!(
                "    for (var row = sinew_local; row < {rows}; row += {size}u) {{
{body}    }}
"
            );
        }
        format!(
            "    for (var turn = 0u; turn < {turns}u; turn++) {{
        let row = sinew_local + turn * {size}u;
        if (row < {rows}) {{
{body}        }}
    }}
"
        )
    }

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

    /// Reads the header of the tile, once.
    pub(super) fn header(&self, words: &str) -> String {
        let header = &self.tiles.header;
        let word = |at: usize| format!("{words}[sinew_header + {at}u]");
        let mut out = String::new();
        for (r, _) in self.schedule.relations.iter().enumerate() {
            let _ = writeln!(out, "    sinew_base_{r} = {};", word(header.relation(r)));
        }
        for l in 0..self.schedule.loads.len() {
            let _ = writeln!(
                out,
                "    let sinew_load_rows_{l} = {};",
                word(header.load_rows(l))
            );
        }
        let mut domains: Vec<usize> = self.schedule.stages.iter().map(|s| s.domain).collect();
        domains.extend(self.schedule.loads.iter().map(|l| l.domain));
        domains.sort_unstable();
        domains.dedup();
        for d in domains {
            let _ = writeln!(out, "    let sinew_items_{d} = {};", word(header.items(d)));
            let _ = writeln!(out, "    let sinew_owned_{d} = {};", word(header.owned(d)));
        }
        for s in 0..self.schedule.stages.len() {
            let _ = writeln!(
                out,
                "    let sinew_rows_{s} = {};",
                word(header.stage_rows(s))
            );
        }
        out
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
var<private> sinew_place: u32;
var<private> sinew_own: bool;
",
        );
        for r in 0..self.schedule.relations.len() {
            let _ = writeln!(out, "var<private> sinew_base_{r}: u32;");
        }
        for (number, arena) in self.tiles.arenas.iter().enumerate() {
            let (ty, len) = (arena.wgsl(), arena.len);
            let _ = writeln!(out, "var<workgroup> sinew_w{number}: array<{ty}, {len}u>;");
        }
        out
    }

    /// Writes the first element of every array, which is zero and belongs to nobody.
    pub(super) fn zeros(&self) -> String {
        let mut out = String::from("    if (sinew_local == 0u) {\n");
        for (number, arena) in self.tiles.arenas.iter().enumerate() {
            let _ = writeln!(out, "    sinew_w{number}[0u] = {}();", arena.wgsl());
        }
        out.push_str("    }\n");
        out
    }

    /// The loop of a stage.
    pub(super) fn stage(&self, index: usize, words: &str, calls: &str) -> String {
        let domain = self.schedule.stages[index].domain;
        let body = format!(
            "        let sinew_index = {words}[sinew_items_{domain} + row];
        sinew_row = row;
        sinew_place = row + 1u;
        sinew_own = row < sinew_owned_{domain};
{calls}"
        );
        let rows = format!("sinew_rows_{index}");
        self.each_row(&rows, self.tiles.most_of_stage[index], &body)
    }
}
