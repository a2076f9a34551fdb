//! Which passes run together: a pass that reads only its own element joins the launch before it.

use super::memory::{ArrayShape, Memory};
use super::names::{self, NamedGiven};
use super::nodes::NodeOnDevice;
use crate::error::GpuError;
use sinew_deform::{DeviceDomain, Locality, Phase};
use sinew_wgsl::Snippet;
use std::collections::{BTreeMap, BTreeSet};

/// A pass, its text and what the text uses.
#[derive(Debug)]
pub(super) struct PassText {
    pub(super) node: usize,
    pub(super) pass: usize,
    pub(super) snippet: Snippet,
    pub(super) used: Vec<NamedGiven>,
    /// Elements that it runs over.
    pub(super) count: usize,
    locality: Locality,
    phase: Phase,
    /// Runs by itself: whether it runs is known with the frame.
    varies: bool,
    /// Whether indices are checked against the lengths of arrays.
    pub(super) guarded: bool,
    /// Invocations of a workgroup that its author asks for.
    pub(super) group_size: Option<u32>,
}

impl PassText {
    fn reads(&self) -> impl Iterator<Item = Memory> {
        self.used.iter().filter_map(|(_, given)| given.reads())
    }
    fn writes(&self) -> impl Iterator<Item = Memory> {
        self.used.iter().filter_map(|(_, given)| given.writes())
    }
}

/// Passes that run in one launch, element by element.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) passes: Vec<PassText>,
    /// Arrays written in this launch that something outside of it reads.
    pub(super) stores: BTreeSet<Memory>,
}

impl Group {
    pub(super) fn phase(&self) -> Phase {
        self.passes.first().map_or(Phase::Update, |p| p.phase)
    }
    /// Elements that it runs over.
    pub(super) fn count(&self) -> usize {
        self.passes.first().map_or(0, |p| p.count)
    }
    /// Invocations of a workgroup that somebody asks for.
    pub(super) fn group_size(&self) -> Option<u32> {
        self.passes.iter().find_map(|p| p.group_size)
    }
    pub(super) fn varies(&self) -> bool {
        self.passes.first().is_some_and(|p| p.varies)
    }
    /// Every array that is bound: read from memory, or written for others.
    pub(super) fn bound(&self) -> BTreeMap<Memory, (Memory, bool)> {
        let mut out = BTreeMap::new();
        let mut linked: BTreeSet<Memory> = BTreeSet::new();
        for pass in &self.passes {
            for memory in pass.reads().filter(|m| !linked.contains(m)) {
                out.entry(memory).or_insert((memory, false));
            }
            for memory in pass.writes() {
                linked.insert(memory);
                if self.stores.contains(&memory) {
                    out.insert(memory, (memory, true));
                }
            }
        }
        out
    }

    /// Whether `next` may run element by element behind what is here.
    fn takes(&self, next: &PassText, most_bindings: usize) -> bool {
        let fits = next.locality == Locality::Own
            && next.count == self.count()
            && next.phase == self.phase()
            && !next.varies
            && !self.varies();
        // Others still gather from it while this one is done already.
        let gathered = self
            .passes
            .iter()
            .filter(|p| p.locality == Locality::Gather);
        let gathered: BTreeSet<Memory> = gathered.flat_map(PassText::reads).collect();
        let overwrites = next.writes().any(|m| gathered.contains(&m));
        let used = self.passes.iter().chain([next]);
        let bound: BTreeSet<Memory> = used.flat_map(|p| p.reads().chain(p.writes())).collect();
        let scatters = self.passes.iter().any(|p| p.locality == Locality::Scatter);
        let sizes = self.group_size().zip(next.group_size);
        let fits = fits && !scatters && sizes.is_none_or(|(a, b)| a == b);
        fits && !overwrites && bound.len() <= most_bindings
    }
}

/// The texts of all passes, in order.
fn texts(
    nodes: &[NodeOnDevice],
    shape: &dyn Fn(Memory) -> ArrayShape,
) -> Result<Vec<PassText>, GpuError> {
    let mut out = Vec::new();
    for node in nodes {
        let given = names::all_given(node, shape);
        for (index, pass) in node.device.passes.iter().enumerate() {
            let file = format!("{}: {}", node.step.desc.name, pass.name);
            let mut text = node.device.shared.join("\n");
            text.push('\n');
            text.push_str(pass.text);
            text.push_str(node.device.written.get(index).map_or("", String::as_str));
            let snippet = Snippet::parse(&file, &text)?;
            let used = names::used(pass, &snippet, &given);
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
                },
                locality: pass.locality,
                phase: node.phase,
                varies: node.device.passes_vary,
                guarded: node.device.guarded,
                group_size: node.device.group_size,
            });
        }
    }
    Ok(out)
}

/// All launches of a program, in order. `is_kept` tells which buffers are read after their phase.
pub(super) fn groups(
    nodes: &[NodeOnDevice],
    shape: &dyn Fn(Memory) -> ArrayShape,
    is_kept: &dyn Fn(Memory) -> bool,
    most_bindings: usize,
) -> Result<Vec<Group>, GpuError> {
    let mut groups: Vec<Group> = Vec::new();
    for pass in texts(nodes, shape)? {
        match groups.last_mut() {
            Some(group) if group.takes(&pass, most_bindings) => group.passes.push(pass),
            _ => groups.push(Group {
                passes: vec![pass],
                stores: BTreeSet::new(),
            }),
        }
    }
    for i in 0..groups.len() {
        let (now, after) = groups[i..].split_first().unwrap_or((&groups[i], &[]));
        let written: Vec<Memory> = now.passes.iter().flat_map(PassText::writes).collect();
        let needed = written
            .into_iter()
            .filter(|&m| is_kept(m) || is_read(m, now.phase(), after));
        groups[i].stores = needed.collect();
    }
    Ok(groups)
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
