//! How a run of passes goes over a tile: stages with barriers between them, and what stays in workgroup memory.
//!
//! A tile is a part of the mesh that one workgroup takes through all passes of a launch. Passes that read neighbours need them
//! computed, too, so a tile's first stages run over more elements than it owns (`tiles.rs` says which).

use super::group::PassText;
use super::memory::{ArrayShape, Kind, Memory};
use super::names::{Given, RelationId};
use super::nodes::NodeOnDevice;
use sinew_deform::{DeviceDomain, DeviceType, Locality, Phase};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What elements are numbers of, the same for all nodes of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Vertices(usize),
    Elements { node: usize, len: usize },
}

/// Passes that run one after another for each element, without a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stage {
    /// Among the passes of the launch.
    pub(super) passes: Range<usize>,
    /// Index of the domain.
    pub(super) domain: usize,
    /// Relations that its passes read through, as places in [`Schedule::relations`].
    pub(super) relations: Vec<usize>,
}

/// An array that comes from memory before a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Load {
    pub(super) memory: Memory,
    pub(super) domain: usize,
    /// The stage that it comes before.
    pub(super) stage: usize,
}

/// A relation between domains of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lead {
    pub(super) id: RelationId,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// An array that is in workgroup memory for a time. Stage `s` is time `2 s`, loads before it are time `2 s - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resident {
    pub(super) domain: usize,
    pub(super) first: isize,
    pub(super) last: isize,
    /// Floats of an element.
    pub(super) stride: usize,
    pub(super) ty: DeviceType,
}

/// A run of passes as tiles go through it.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    pub(super) stages: Vec<Stage>,
    pub(super) loads: Vec<Load>,
    pub(super) relations: Vec<Lead>,
    pub(super) residents: BTreeMap<Memory, Resident>,
    /// Elements of each domain.
    pub(super) domains: Vec<usize>,
    /// The domain of the vertices of the first node's first mesh.
    pub(super) vertices: usize,
    /// Relations between different domains, whether or not they are read through.
    pub(super) known: Vec<Lead>,
}

/// Time of a stage.
fn time(stage: usize) -> isize {
    isize::try_from(stage).unwrap_or(isize::MAX / 4) * 2
}

/// Floats of an element that may be in workgroup memory.
fn floats(kind: Kind) -> Option<(usize, DeviceType)> {
    let Kind::Plain(ty) = kind else { return None };
    match ty {
        DeviceType::F32 => Some((1, ty)),
        DeviceType::Vec2F => Some((2, ty)),
        DeviceType::Vec3F => Some((3, ty)),
        DeviceType::Vec4F => Some((4, ty)),
        _ => None,
    }
}

/// What is read through which relation, those apart that lead from each element to itself.
pub(super) fn gathers(pass: &PassText, nodes: &[NodeOnDevice]) -> Vec<(RelationId, Memory)> {
    let through = pass.used.iter().filter_map(|(_, given)| match given {
        Given::Through {
            relation, memory, ..
        } if !is_identity(nodes, *relation) => Some((*relation, (*memory)?)),
        _ => None,
    });
    through.collect()
}

pub(super) fn is_identity(nodes: &[NodeOnDevice], (node, index): RelationId) -> bool {
    nodes[node].rows[index].identity
}

/// What is read at the pass's own element.
fn own_reads(pass: &PassText, nodes: &[NodeOnDevice]) -> Vec<Memory> {
    let own = pass.used.iter().filter_map(|(_, given)| match given {
        Given::Read { memory, .. } => *memory,
        Given::Through {
            relation, memory, ..
        } if is_identity(nodes, *relation) => *memory,
        _ => None,
    });
    own.collect()
}

/// Domains that are one and the same share an index.
#[derive(Default)]
struct Domains {
    keys: Vec<Key>,
    index: Vec<usize>,
}

impl Domains {
    fn of(&mut self, key: Key) -> usize {
        let found = self.keys.iter().position(|&k| k == key);
        let at = found.unwrap_or_else(|| {
            self.keys.push(key);
            self.index.push(self.keys.len() - 1);
            self.keys.len() - 1
        });
        self.index[at]
    }
    fn unite(&mut self, a: Key, b: Key) {
        let (a, b) = (self.of(a), self.of(b));
        let (keep, gone) = (a.min(b), a.max(b));
        for i in &mut self.index {
            if *i == gone {
                *i = keep;
            }
        }
    }
}

fn key(nodes: &[NodeOnDevice], node: usize, domain: DeviceDomain) -> Key {
    match domain {
        DeviceDomain::Vertices => Key::Vertices(nodes[node].vertex_count),
        DeviceDomain::Elements(len) | DeviceDomain::Groups(len) => Key::Elements { node, len },
    }
}

fn len(key: Key) -> usize {
    match key {
        Key::Vertices(len) | Key::Elements { len, .. } => len,
    }
}

/// Relations from one domain to another.
fn known(passes: &[PassText], nodes: &[NodeOnDevice], domains: &mut Domains) -> Vec<Lead> {
    let mut out: Vec<Lead> = Vec::new();
    for node in passes.iter().map(|p| p.node) {
        for (index, r) in nodes[node].device.relations.iter().enumerate() {
            let [from, to] = [r.from, r.to].map(|d| domains.of(key(nodes, node, d)));
            let id = (node, index);
            if from != to && out.iter().all(|l| l.id != id) {
                out.push(Lead { id, from, to });
            }
        }
    }
    out
}

/// Whether a pass may run in tiles at all.
pub(super) fn may_tile(pass: &PassText) -> bool {
    pass.locality == Locality::Own
        && pass.phase == Phase::Update
        && !pass.varies
        && !pass.guarded
        && !pass.grouped
}

impl Schedule {
    /// For passes that [`may_tile`]. `None` where they cannot run together in tiles.
    pub(super) fn new(
        passes: &[PassText],
        nodes: &[NodeOnDevice],
        stores: &BTreeSet<Memory>,
        shape: &dyn Fn(Memory) -> ArrayShape,
    ) -> Option<Self> {
        let mut domains = Domains::default();
        let pass_key =
            |p: &PassText| key(nodes, p.node, nodes[p.node].device.passes[p.pass].domain);
        for pass in passes {
            domains.of(pass_key(pass));
            // Those that only other launches read through, too: they tell which elements belong together.
            for (index, r) in nodes[pass.node].device.relations.iter().enumerate() {
                let [from, to] = [r.from, r.to].map(|d| key(nodes, pass.node, d));
                domains.of(from);
                domains.of(to);
                if is_identity(nodes, (pass.node, index)) {
                    domains.unite(from, to);
                }
            }
        }
        let first = passes.first()?.node;
        let vertices = domains.of(Key::Vertices(nodes[first].vertex_count));
        let mut this = Self {
            domains: domains.keys.iter().map(|&k| len(k)).collect(),
            vertices,
            known: known(passes, nodes, &mut domains),
            ..Self::default()
        };
        this.find_stages(passes, nodes, &mut domains, &pass_key);
        this.find_residents(passes, nodes, shape)?;
        this.races(passes, nodes, stores).then_some(this)
    }

    fn find_stages(
        &mut self,
        passes: &[PassText],
        nodes: &[NodeOnDevice],
        domains: &mut Domains,
        pass_key: &dyn Fn(&PassText) -> Key,
    ) {
        let (mut written, mut gathered) = (BTreeSet::new(), BTreeSet::new());
        for (i, pass) in passes.iter().enumerate() {
            let domain = domains.of(pass_key(pass));
            let reads = gathers(pass, nodes);
            let writes: Vec<Memory> = pass.writes().collect();
            let joins = self.stages.last().is_some_and(|s| s.domain == domain)
                && reads.iter().all(|(_, m)| !written.contains(m))
                && writes.iter().all(|m| !gathered.contains(m));
            if !joins {
                written.clear();
                gathered.clear();
                self.stages.push(Stage {
                    passes: i..i,
                    domain,
                    relations: Vec::new(),
                });
            }
            let leads: Vec<usize> = reads
                .iter()
                .map(|&(id, _)| {
                    let found = self.relations.iter().position(|r| r.id == id);
                    found.unwrap_or_else(|| {
                        let r = &nodes[id.0].device.relations[id.1];
                        let [from, to] = [r.from, r.to].map(|d| domains.of(key(nodes, id.0, d)));
                        self.relations.push(Lead { id, from, to });
                        self.relations.len() - 1
                    })
                })
                .collect();
            if let Some(stage) = self.stages.last_mut() {
                stage.passes.end = i + 1;
                for lead in leads {
                    if !stage.relations.contains(&lead) {
                        stage.relations.push(lead);
                    }
                }
            }
            written.extend(writes);
            gathered.extend(reads.iter().map(|r| r.1));
        }
    }

    /// What must be in workgroup memory: what is gathered, and what is read in a later stage than it was written in.
    fn find_residents(
        &mut self,
        passes: &[PassText],
        nodes: &[NodeOnDevice],
        shape: &dyn Fn(Memory) -> ArrayShape,
    ) -> Option<()> {
        let mut written: BTreeMap<Memory, (usize, usize)> = BTreeMap::new();
        for s in 0..self.stages.len() {
            let stage = self.stages[s].clone();
            for pass in &passes[stage.passes.clone()] {
                for (id, memory) in gathers(pass, nodes) {
                    let to = self.relations.iter().find(|r| r.id == id)?.to;
                    match written.get(&memory) {
                        Some(&(from, domain)) if domain == to => {
                            self.hold(memory, to, time(from), time(s), shape)?;
                        }
                        Some(_) => return None,
                        None => {
                            if !self.loads.iter().any(|l| l.memory == memory) {
                                self.loads.push(Load {
                                    memory,
                                    domain: to,
                                    stage: s,
                                });
                            }
                            self.hold(memory, to, time(s) - 1, time(s), shape)?;
                        }
                    }
                }
                for memory in own_reads(pass, nodes) {
                    match written.get(&memory) {
                        Some(&(from, domain)) if from < s => {
                            if domain != stage.domain {
                                return None;
                            }
                            self.hold(memory, domain, time(from), time(s), shape)?;
                        }
                        None => {
                            if let Some(r) = self.residents.get_mut(&memory)
                                && r.domain == stage.domain
                            {
                                r.last = r.last.max(time(s));
                            }
                        }
                        Some(_) => {}
                    }
                }
                for memory in pass.writes() {
                    written.insert(memory, (s, stage.domain));
                }
            }
        }
        Some(())
    }

    fn hold(
        &mut self,
        memory: Memory,
        domain: usize,
        first: isize,
        last: isize,
        shape: &dyn Fn(Memory) -> ArrayShape,
    ) -> Option<()> {
        let (stride, ty) = floats(shape(memory).kind)?;
        let resident = self.residents.entry(memory).or_insert(Resident {
            domain,
            first,
            last,
            stride,
            ty,
        });
        resident.first = resident.first.min(first);
        resident.last = resident.last.max(last);
        (resident.domain == domain).then_some(())
    }

    /// Whether no tile stores what another may still read from memory.
    fn races(
        &self,
        passes: &[PassText],
        nodes: &[NodeOnDevice],
        stores: &BTreeSet<Memory>,
    ) -> bool {
        let mut written = BTreeSet::new();
        for pass in passes {
            let gathered = gathers(pass, nodes).into_iter().map(|g| g.1);
            let mut read = own_reads(pass, nodes).into_iter().chain(gathered);
            if read.any(|m| !written.contains(&m) && stores.contains(&m)) {
                return false;
            }
            written.extend(pass.writes());
        }
        true
    }

    /// Whether stages depend on each other through relations: else there is nothing to gain.
    pub(super) fn joins_gathers(&self, passes: &[PassText], nodes: &[NodeOnDevice]) -> bool {
        let mut written = BTreeSet::new();
        for pass in passes {
            if gathers(pass, nodes)
                .iter()
                .any(|(_, m)| written.contains(m))
            {
                return true;
            }
            written.extend(pass.writes());
        }
        false
    }

    /// Whether an array is read from workgroup memory by a pass of that stage at its own element.
    pub(super) fn resident_to_read(&self, memory: Memory, stage: usize) -> Option<&Resident> {
        let resident = self.residents.get(&memory)?;
        let now = time(stage);
        (resident.first < now && now <= resident.last).then_some(resident)
    }

    /// Whether a pass of that stage must write an array to workgroup memory.
    pub(super) fn resident_to_write(&self, memory: Memory, stage: usize) -> Option<&Resident> {
        let resident = self.residents.get(&memory)?;
        let now = time(stage);
        (resident.first <= now && now < resident.last).then_some(resident)
    }
}
