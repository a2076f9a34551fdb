//! What a launch over tiles adds to its text.

use super::memory::Memory;
use super::names::RelationId;
use super::nodes::NodeOnDevice;
use super::rows::RowShape;
use super::schedule::{Load, Schedule};
use super::tiles::Tiles;
use sinew_deform::DeviceType;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A launch that goes over tiles.
#[derive(Debug)]
pub(super) struct Tiling {
    pub(super) schedule: Schedule,
    pub(super) tiles: Tiles,
    /// Among all launches.
    pub(super) launch: usize,
}

/// Turns of a loop over rows that are written out.
const MOST_UNROLLED: usize = 4;
/// Vectors of rows that a thread keeps in registers.
const MOST_KEPT: usize = 4;

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

    /// A loop over rows: the body sees `row`. Written out where the turns are few; then the body knows which one it is in.
    pub(super) fn each_row(
        &self,
        rows: &str,
        most: usize,
        body: &dyn Fn(Option<usize>) -> String,
    ) -> String {
        let size = self.tiles.workgroup;
        let turns = most.div_ceil(size as usize);
        if turns > MOST_UNROLLED {
            return format!(
                "    for (var row = sinew_local; row < {rows}; row += {size}u) {{
{}    }}
",
                body(None)
            );
        }
        let turn = |turn: usize| {
            format!(
                "    if (sinew_local + {first}u < {rows}) {{
        let row = sinew_local + {first}u;
{}    }}
",
                body(Some(turn)),
                first = turn * size as usize
            )
        };
        (0..turns).map(turn).collect()
    }

    /// Stages that read through a relation, and elements that the first of them runs over at most.
    fn uses(&self, relation: usize) -> (usize, usize) {
        let stages = self.schedule.stages.iter().zip(&self.tiles.most_of_stage);
        let mut users = stages
            .filter(|(s, _)| s.relations.contains(&relation))
            .map(|s| *s.1);
        let most = users.clone().max().unwrap_or(0);
        (users.by_ref().count(), most)
    }

    /// Turns for which the rows of a relation stay in registers from stage to stage; 0 where they do not.
    fn kept_turns(&self, relation: usize, shape: RowShape) -> usize {
        let (stages, most) = self.uses(relation);
        let turns = most.div_ceil(self.tiles.workgroup as usize);
        match shape.fixed_vectors() {
            Some(vectors) if stages > 1 && turns * vectors <= MOST_KEPT => turns,
            _ => 0,
        }
    }

    /// Reads the rows that stay in registers, before anything else so that nobody waits for them.
    pub(super) fn keep_rows(&self, nodes: &[NodeOnDevice], names: &RowNames<'_>) -> [String; 2] {
        let (mut variables, mut code) = (String::new(), String::new());
        for (r, lead) in self.schedule.relations.iter().enumerate() {
            let shape = nodes[lead.id.0].rows[lead.id.1].local();
            let users = self
                .schedule
                .stages
                .iter()
                .position(|s| s.relations.contains(&r));
            let (Some(stage), Some(vectors)) = (users, shape.fixed_vectors()) else {
                continue;
            };
            for turn in 0..self.kept_turns(r, shape) {
                let name = format!("sinew_kept_{r}_{turn}");
                for v in 0..vectors {
                    let _ = writeln!(variables, "var<private> {name}_v{v}: vec4u;");
                }
                let row = format!("(sinew_local + {}u)", turn * self.tiles.workgroup as usize);
                let base = format!("sinew_base_{r}");
                let fetch = shape.fetch(&name, names.vectors, &base, &row);
                let _ = writeln!(code, "    if ({row} < sinew_rows_{stage}) {{ {fetch} }}");
            }
        }
        [variables, code]
    }

    /// Brings the rows that a stage reads through to where its passes find them.
    fn fetch_rows(
        &self,
        stage: usize,
        turn: Option<usize>,
        nodes: &[NodeOnDevice],
        names: &RowNames<'_>,
    ) -> String {
        let mut out = String::new();
        for &r in &self.schedule.stages[stage].relations {
            let lead = self.schedule.relations[r];
            let shape = nodes[lead.id.0].rows[lead.id.1].local();
            let (Some(vectors), Some(name)) = (shape.fixed_vectors(), names.of.get(&lead.id))
            else {
                continue;
            };
            match turn {
                Some(turn) if turn < self.kept_turns(r, shape) => {
                    for v in 0..vectors {
                        let _ = writeln!(out, "        {name}_v{v} = sinew_kept_{r}_{turn}_v{v};");
                    }
                }
                _ => {
                    let base = format!("sinew_base_{r}");
                    let fetch = shape.fetch(name, names.vectors, &base, "row");
                    let _ = writeln!(out, "        {fetch}");
                }
            }
        }
        out
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
    pub(super) fn stage(
        &self,
        index: usize,
        nodes: &[NodeOnDevice],
        names: &RowNames<'_>,
        calls: &str,
    ) -> String {
        let domain = self.schedule.stages[index].domain;
        let words = names.words;
        let body = |turn: Option<usize>| {
            let fetch = self.fetch_rows(index, turn, nodes, names);
            format!(
                "        let sinew_index = {words}[sinew_items_{domain} + row];
        sinew_row = row;
        sinew_place = row + 1u;
        sinew_own = row < sinew_owned_{domain};
{fetch}{calls}"
            )
        };
        let rows = format!("sinew_rows_{index}");
        self.each_row(&rows, self.tiles.most_of_stage[index], &body)
    }
}

/// Names in the text.
pub(super) struct RowNames<'a> {
    /// The tiles' words.
    pub(super) words: &'a str,
    /// The same as vectors.
    pub(super) vectors: &'a str,
    /// What is in front of each relation's functions.
    pub(super) of: &'a BTreeMap<RelationId, String>,
}
