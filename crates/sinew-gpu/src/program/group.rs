//! Which passes run together: in tiles where they read neighbours of what passes before them wrote, else element by
//! element behind a first pass that may read anything.

use super::memory::{ArrayShape, Memory};
use super::names::{self, Given, NamedGiven, Part, RelationId};
use super::nodes::NodeOnDevice;
use super::schedule::{gathers, is_identity};
use super::tile_text::{ArenaPlace, Tiling};
use crate::error::GpuError;
use sinew_deform::{DeviceDomain, Locality, Phase};
use sinew_wgsl::{EntryFunction, Snippet};
use std::collections::{BTreeMap, BTreeSet};

/// Invocations of a workgroup, unless tiles say otherwise.
const WORKGROUP: u32 = 128;

/// A pass, its text and what the text uses.
#[derive(Clone, Debug)]
pub(super) struct PassText {
    pub(super) node: usize,
    pub(super) pass: usize,
    pub(super) snippet: Snippet,
    pub(super) used: Vec<NamedGiven>,
    /// Elements that it runs over.
    pub(super) count: usize,
    pub(super) locality: Locality,
    pub(super) phase: Phase,
    /// Runs by itself: whether it runs is known with the frame.
    pub(super) varies: bool,
    /// Whether indices are checked against the lengths of arrays.
    pub(super) guarded: bool,
    /// As in `DeviceNode`.
    pub(super) compile_share: f64,
    /// Invocations of a workgroup that its author asks for.
    pub(super) group_size: Option<u32>,
    /// Whether workgroups work together: it shares a launch with nothing.
    pub(super) grouped: bool,
}

impl PassText {
    pub(super) fn reads(&self) -> impl Iterator<Item = Memory> {
        self.used.iter().filter_map(|(_, given)| given.reads())
    }
    pub(super) fn writes(&self) -> impl Iterator<Item = Memory> {
        self.used.iter().filter_map(|(_, given)| given.writes())
    }
    /// Relations whose rows it opens.
    pub(super) fn relations(&self) -> impl Iterator<Item = RelationId> {
        self.used.iter().filter_map(|(_, given)| match given {
            Given::Open { relation } => Some(*relation),
            _ => None,
        })
    }
}

/// Passes that run in one launch.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) passes: Vec<PassText>,
    /// Arrays written in this launch that something outside of it reads.
    pub(super) stores: BTreeSet<Memory>,
    /// Where it goes over tiles; element by element where not.
    pub(super) tiling: Option<Tiling>,
}

impl Group {
    pub(super) fn new(passes: Vec<PassText>) -> Self {
        Self {
            passes,
            stores: BTreeSet::new(),
            tiling: None,
        }
    }
    pub(super) fn phase(&self) -> Phase {
        self.passes.first().map_or(Phase::Update, |p| p.phase)
    }
    /// Elements that it runs over.
    pub(super) fn count(&self) -> usize {
        self.passes.first().map_or(0, |p| p.count)
    }
    pub(super) fn varies(&self) -> bool {
        self.passes.first().is_some_and(|p| p.varies)
    }
    /// Whether its workgroups work together.
    pub(super) fn is_grouped(&self) -> bool {
        self.passes.iter().any(|p| p.grouped)
    }
    /// Invocations of a workgroup that somebody asks for.
    pub(super) fn group_size(&self) -> Option<u32> {
        self.passes.iter().find_map(|p| p.group_size)
    }
    /// Invocations of a workgroup.
    pub(super) fn workgroup(&self) -> u32 {
        let plain = || self.group_size().unwrap_or(WORKGROUP);
        let tiled = self.tiling.as_ref().map(|t| t.tiles.workgroup);
        tiled.unwrap_or_else(plain)
    }
    /// Invocations of the launch, before they are rounded up to whole workgroups.
    pub(super) fn invocations(&self) -> usize {
        match &self.tiling {
            Some(t) => t.tiles.count * t.tiles.workgroup as usize,
            None => self.count(),
        }
    }
    pub(super) fn stage_count(&self) -> usize {
        self.tiling.as_ref().map_or(1, |t| t.schedule.stages.len())
    }
    pub(super) fn stage_of(&self, pass: usize) -> usize {
        let stages = self.tiling.as_ref().map(|t| &t.schedule.stages);
        let found = stages.and_then(|s| s.iter().position(|s| s.passes.contains(&pass)));
        found.unwrap_or(0)
    }
    /// Where passes of a stage find an array in workgroup memory.
    pub(super) fn place_to_read(&self, memory: Memory, stage: usize) -> Option<ArenaPlace> {
        let tiling = self.tiling.as_ref()?;
        tiling.schedule.resident_to_read(memory, stage)?;
        Some(tiling.place(memory))
    }
    /// Where passes of a stage must leave an array in workgroup memory.
    pub(super) fn place_to_write(&self, memory: Memory, stage: usize) -> Option<ArenaPlace> {
        let tiling = self.tiling.as_ref()?;
        tiling.schedule.resident_to_write(memory, stage)?;
        Some(tiling.place(memory))
    }
    /// Whether a pass writes an array to memory: it is needed outside, and no later pass of a tile writes it again.
    pub(super) fn stores_in(&self, pass: usize, memory: Memory) -> bool {
        let again = || {
            self.passes[pass + 1..]
                .iter()
                .any(|p| p.writes().any(|m| m == memory))
        };
        self.stores.contains(&memory) && !(self.tiling.is_some() && again())
    }

    /// Every array that is bound, and whether it is written.
    pub(super) fn bound(&self, nodes: &[NodeOnDevice]) -> BTreeMap<Memory, bool> {
        let mut out = BTreeMap::new();
        let mut linked: BTreeSet<Memory> = BTreeSet::new();
        let mut stage = 0;
        for (index, pass) in self.passes.iter().enumerate() {
            if self.stage_of(index) != stage {
                stage = self.stage_of(index);
                linked.clear();
            }
            for memory in pass.reads() {
                if !linked.contains(&memory) && self.place_to_read(memory, stage).is_none() {
                    out.entry(memory).or_insert(false);
                }
            }
            if self.tiling.is_none() {
                let relations = pass.relations().filter(|r| !is_identity(nodes, *r));
                out.extend(relations.map(|id| (relation_memory(nodes, id), false)));
            }
            for memory in pass.writes() {
                linked.insert(memory);
                if self.stores.contains(&memory) {
                    out.insert(memory, true);
                }
            }
        }
        if let Some(tiling) = &self.tiling {
            out.insert(tiling.memory(), false);
            out.insert(tiling.vectors(), false);
            for load in &tiling.schedule.loads {
                out.entry(load.memory).or_insert(false);
            }
        }
        out
    }

    /// Whether `next` may run element by element behind what is here.
    fn takes(&self, next: &PassText, nodes: &[NodeOnDevice], most_bindings: usize) -> bool {
        let fits = next.locality == Locality::Own
            && !next.grouped
            && !self.is_grouped()
            && next.count == self.count()
            && next.phase == self.phase()
            && !next.varies
            && !self.varies();
        // Others have not written yet what this one would gather.
        let written: BTreeSet<Memory> = self.passes.iter().flat_map(PassText::writes).collect();
        let too_early = gathers(next, nodes)
            .iter()
            .any(|(_, m)| written.contains(m));
        // Others still gather from it while this one is done already.
        let mut gathered = BTreeSet::new();
        for pass in &self.passes {
            if pass.locality == Locality::Gather {
                gathered.extend(pass.reads());
            }
            gathered.extend(gathers(pass, nodes).into_iter().map(|g| g.1));
        }
        // A variable carries a line's parts no further.
        let reads_lines = next.used.iter().any(|(_, given)| {
            matches!(given, Given::Read { memory: Some(m), part, .. } if *part != Part::Whole && written.contains(m))
        });
        let overwrites = next.writes().any(|m| gathered.contains(&m));
        let used = self.passes.iter().chain([next]);
        let bound: BTreeSet<Memory> = used.flat_map(|p| p.reads().chain(p.writes())).collect();
        let relations: BTreeSet<RelationId> = self
            .passes
            .iter()
            .chain([next])
            .flat_map(PassText::relations)
            .collect();
        let scatters = self.passes.iter().any(|p| p.locality == Locality::Scatter);
        let sizes = self.group_size().zip(next.group_size);
        let fits = fits && !scatters && sizes.is_none_or(|(a, b)| a == b);
        let compiled: f64 = self.passes.iter().map(|p| p.compile_share).sum();
        let fits = fits && (next.compile_share == 0.0 || compiled + next.compile_share <= 1.0);
        fits && !too_early
            && !reads_lines
            && !overwrites
            && bound.len() + relations.len() <= most_bindings
    }
}

/// The texts of all passes, in order.
pub(super) fn texts(
    nodes: &[NodeOnDevice],
    shape: &dyn Fn(Memory) -> ArrayShape,
) -> Result<Vec<PassText>, GpuError> {
    let mut out = Vec::new();
    for node in nodes {
        let given = names::all_given(node, shape);
        let relations: Vec<&str> = node.device.relations.iter().map(|r| r.name).collect();
        for (index, pass) in node.device.passes.iter().enumerate() {
            if !runs(pass.when, &given) {
                continue;
            }
            let file = format!("{}: {}", node.step.desc.name, pass.name);
            let mut text = node.device.shared.join("\n");
            text.push('\n');
            text.push_str(pass.text);
            text.push_str(node.device.written.get(index).map_or("", String::as_str));
            let grouped = matches!(pass.domain, DeviceDomain::Groups(_));
            let entry = if grouped {
                in_groups()
            } else {
                EntryFunction::default()
            };
            let snippet = Snippet::parse_with(&file, &text, entry)?;
            let used = names::used(pass, &relations, &snippet, &given);
            let group_size = pass.group_size.or(node.device.group_size);
            let writes = used.iter().any(|(_, given)| given.writes().is_some());
            if !writes && !node.device.passes_vary {
                // Nobody wants what it makes.
                continue;
            }
            out.push(PassText {
                node: node.index,
                pass: index,
                used,
                snippet,
                count: match pass.domain {
                    DeviceDomain::Vertices => node.vertex_count,
                    DeviceDomain::Elements(n) => n,
                    DeviceDomain::Groups(n) => n * group_size.unwrap_or(WORKGROUP) as usize,
                },
                locality: pass.locality,
                phase: node.phase,
                varies: node.device.passes_vary,
                guarded: node.device.guarded,
                compile_share: node.device.compile_share,
                group_size,
                grouped,
            });
        }
    }
    Ok(out)
}

/// How passes whose workgroups work together are called.
fn in_groups() -> EntryFunction {
    EntryFunction {
        parameters: ["group", "local"]
            .map(|n| (n.into(), "u32".into()))
            .to_vec(),
        ..EntryFunction::default()
    }
}

/// Whether the constant has the value that a pass asks for.
fn runs(when: Option<(&str, bool)>, given: &[NamedGiven]) -> bool {
    let Some((name, wanted)) = when else {
        return true;
    };
    let value = given.iter().find_map(|(n, g)| match g {
        Given::Constant { value, .. } if n == name => Some(value.as_str()),
        _ => None,
    });
    value == Some(if wanted { "true" } else { "false" })
}

/// Launches of passes one after another, none in tiles.
pub(super) fn plain_groups(
    passes: Vec<PassText>,
    nodes: &[NodeOnDevice],
    most_bindings: usize,
) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for pass in passes {
        match groups.last_mut() {
            Some(group) if group.takes(&pass, nodes, most_bindings) => group.passes.push(pass),
            _ => groups.push(Group::new(vec![pass])),
        }
    }
    groups
}

/// Finds out which arrays each launch leaves for others. `is_kept` tells which buffers are read after their phase.
pub(super) fn find_stores(groups: &mut [Group], is_kept: &dyn Fn(Memory) -> bool) {
    for i in 0..groups.len() {
        let (now, after) = groups[i..].split_first().unwrap_or((&groups[i], &[]));
        let written: Vec<Memory> = now.passes.iter().flat_map(PassText::writes).collect();
        let needed = written
            .into_iter()
            .filter(|&m| is_kept(m) || is_read(m, now.phase(), after));
        groups[i].stores = needed.collect();
    }
}

/// Whether something in later launches reads what a memory holds now.
fn is_read(memory: Memory, phase: Phase, after: &[Group]) -> bool {
    for pass in after.iter().flat_map(|g| &g.passes) {
        if pass.phase == phase && pass.reads().any(|m| m == memory) {
            return true;
        }
        if pass.phase == phase && !pass.varies && pass.writes().any(|m| m == memory) {
            return false;
        }
    }
    false
}

/// What holds the rows of a relation outside of tiles.
pub(super) fn relation_memory(nodes: &[NodeOnDevice], (node, index): RelationId) -> Memory {
    match nodes[node].rows[index].fixed_vectors() {
        Some(_) => Memory::RelationVectors { node, index },
        None => Memory::Relation { node, index },
    }
}
