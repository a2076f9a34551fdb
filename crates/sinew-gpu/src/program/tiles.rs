//! Meshes cut into tiles: what each workgroup owns, what it computes beside that, and where its neighbours are.

use super::memory::Memory;
use super::nodes::NodeOnDevice;
use super::rows::{Row, RowShape};
use super::schedule::Schedule;
use std::collections::BTreeMap;

/// What is not in a tile.
const NONE: u32 = u32::MAX;

/// The tiles of a launch as one array of words: first a header for each tile, then lists and rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Tiles {
    pub(super) words: Vec<u32>,
    pub(super) count: usize,
    pub(super) header: Header,
    /// Parts of workgroup memory.
    pub(super) arenas: Vec<Arena>,
    /// Which part an array is in.
    pub(super) arena_of: BTreeMap<Memory, usize>,
    pub(super) workgroup: u32,
    /// Elements that all stages of all tiles run over.
    pub(super) row_steps: u64,
    /// Most elements that a tile runs over in each stage.
    pub(super) most_of_stage: Vec<usize>,
    /// Most elements of each load.
    pub(super) most_of_load: Vec<usize>,
}

/// A part of workgroup memory. Its first element is zero; row `r` of a tile is element `r + 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Arena {
    /// Vectors of four floats, or single floats.
    vectors: bool,
    pub(super) len: usize,
}

impl Arena {
    pub(super) fn wgsl(self) -> &'static str {
        if self.vectors { "vec4f" } else { "f32" }
    }
    fn bytes(self) -> usize {
        self.len * element_bytes(self.vectors)
    }
}

fn element_bytes(vectors: bool) -> usize {
    if vectors { 16 } else { 4 }
}

/// What is where in a tile's header.
#[derive(Clone, Debug, Default)]
pub(super) struct Header {
    stages: usize,
    loads: usize,
    domains: usize,
    relations: usize,
}

impl Header {
    fn of(schedule: &Schedule) -> Self {
        Self {
            stages: schedule.stages.len(),
            loads: schedule.loads.len(),
            domains: schedule.domains.len(),
            relations: schedule.relations.len(),
        }
    }
    pub(super) fn stage_rows(&self, stage: usize) -> usize {
        stage
    }
    pub(super) fn load_rows(&self, load: usize) -> usize {
        self.stages + load
    }
    /// Where the list of elements begins.
    pub(super) fn items(&self, domain: usize) -> usize {
        self.stages + self.loads + domain
    }
    /// How many of them the tile owns; they come first.
    pub(super) fn owned(&self, domain: usize) -> usize {
        self.items(self.domains) + domain
    }
    /// Where the heads of a relation begin.
    pub(super) fn relation(&self, relation: usize) -> usize {
        self.owned(self.domains) + relation
    }
    pub(super) fn len(&self) -> usize {
        self.relation(self.relations).next_multiple_of(4)
    }
}

/// Cuts points into parts of about `size` each, compact in space. Gives the part of each point and how many there are.
pub(super) fn partition(points: &[[f32; 3]], size: usize) -> (Vec<u32>, usize) {
    let count = points.len().div_ceil(size.max(1)).max(1);
    let mut order: Vec<u32> = (0..points.len()).map(number).collect();
    let mut out = vec![0; points.len()];
    cut(points, &mut order, 0, count, &mut out);
    (out, count)
}

fn cut(points: &[[f32; 3]], order: &mut [u32], first: usize, count: usize, out: &mut [u32]) {
    if count <= 1 || order.len() <= 1 {
        for &i in order.iter() {
            out[i as usize] = number(first);
        }
        return;
    }
    let axis = longest_axis(points, order);
    let left = count / 2;
    let middle = order.len() * left / count;
    let by = |&a: &u32, &b: &u32| {
        let (pa, pb) = (points[a as usize][axis], points[b as usize][axis]);
        pa.total_cmp(&pb).then(a.cmp(&b))
    };
    order.select_nth_unstable_by(middle, by);
    let (low, high) = order.split_at_mut(middle);
    cut(points, low, first, left, out);
    cut(points, high, first + left, count - left, out);
}

fn longest_axis(points: &[[f32; 3]], order: &[u32]) -> usize {
    let (mut low, mut high) = ([f32::MAX; 3], [f32::MIN; 3]);
    for &i in order {
        for ((l, h), p) in low.iter_mut().zip(&mut high).zip(points[i as usize]) {
            *l = l.min(p);
            *h = h.max(p);
        }
    }
    let width = |a: usize| high[a] - low[a];
    let wider = |a: &usize, b: &usize| width(*a).total_cmp(&width(*b)).then(b.cmp(a));
    (0..3).max_by(wider).unwrap_or(0)
}

fn number(i: usize) -> u32 {
    // Meshes have fewer than 2^32 vertices.
    u32::try_from(i).unwrap_or(NONE)
}

/// What each tile owns of a domain: elements, tile by tile.
struct Owned {
    offsets: Vec<usize>,
    elements: Vec<u32>,
}

impl Owned {
    fn new(tile_of: &[u32], count: usize) -> Self {
        let mut offsets = vec![0; count + 1];
        for &t in tile_of {
            offsets[t as usize + 1] += 1;
        }
        for t in 0..count {
            offsets[t + 1] += offsets[t];
        }
        let mut cursor = offsets.clone();
        let mut elements = vec![0; tile_of.len()];
        for (i, &t) in tile_of.iter().enumerate() {
            let at = &mut cursor[t as usize];
            elements[*at] = number(i);
            *at += 1;
        }
        Self { offsets, elements }
    }
    fn of(&self, tile: usize) -> &[u32] {
        &self.elements[self.offsets[tile]..self.offsets[tile + 1]]
    }
}

/// Limits of the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileLimits {
    /// Workgroup memory.
    pub(super) bytes: usize,
    /// Invocations of a workgroup.
    pub(super) invocations: u32,
}

/// Cuts the mesh and finds out what each tile needs. `None` where a tile does not fit into workgroup memory, or a domain is not
/// reached from the vertices.
pub(super) fn build(
    schedule: &Schedule,
    nodes: &[NodeOnDevice],
    points: &[[f32; 3]],
    size: usize,
    limits: TileLimits,
) -> Option<Tiles> {
    let (tile_of_vertex, count) = partition(points, size);
    let owned = owned(schedule, nodes, tile_of_vertex, count)?;
    let header = Header::of(schedule);
    let mut tiles = Tiles {
        words: vec![0; count * header.len()],
        count,
        header,
        ..Tiles::default()
    };
    let mut most = Most::new(schedule);
    let mut tile = Tile::new(schedule, nodes);
    for t in 0..count {
        tile.collect(&owned, t);
        tile.check(&mut most, limits)?;
        tiles.row_steps += tile.stage_rows.iter().map(|&r| r as u64).sum::<u64>();
        tile.write(t, &mut tiles)?;
    }
    tiles.assign(schedule, &most);
    tiles.words.resize(tiles.words.len().next_multiple_of(4), 0);
    if tiles.arenas.iter().map(|a| a.bytes()).sum::<usize>() > limits.bytes {
        return None;
    }
    let most_rows = most.of_stage.iter().copied().max().unwrap_or(0);
    tiles.most_of_stage = most.of_stage;
    tiles.most_of_load = most.of_load;
    tiles.workgroup = workgroup(most_rows, limits);
    Some(tiles)
}

/// Invocations for tiles of that many rows: each runs over few, as more at once hide how long memory takes.
pub(super) fn workgroup(rows: usize, limits: TileLimits) -> u32 {
    let all = u32::try_from(rows.next_multiple_of(128)).unwrap_or(u32::MAX);
    all.clamp(64, limits.invocations.clamp(64, 1024))
}

/// Each domain's elements by tile, as the vertices say.
fn owned(
    schedule: &Schedule,
    nodes: &[NodeOnDevice],
    of_vertex: Vec<u32>,
    count: usize,
) -> Option<Vec<Owned>> {
    let mut found: Vec<Option<Vec<u32>>> = vec![None; schedule.domains.len()];
    let vertices = schedule.vertices;
    if of_vertex.len() != schedule.domains[vertices] {
        return None;
    }
    found[vertices] = Some(of_vertex);
    // Through relations, either way, as long as something new is reached.
    for _ in 0..schedule.domains.len() {
        for lead in &schedule.known {
            let relation = &nodes[lead.id.0].device.relations[lead.id.1];
            let next = match (&found[lead.from], &found[lead.to]) {
                (Some(from), None) => {
                    let mut to = vec![0; schedule.domains[lead.to]];
                    for i in (0..relation.len()).rev() {
                        for &e in relation.row(i) {
                            to[e as usize] = from[i];
                        }
                    }
                    Some((lead.to, to))
                }
                (None, Some(to)) => {
                    let first = |i: usize| relation.row(i).first().map_or(0, |&e| to[e as usize]);
                    Some((lead.from, (0..relation.len()).map(first).collect()))
                }
                _ => None,
            };
            if let Some((domain, tiles)) = next {
                found[domain] = Some(tiles);
            }
        }
    }
    let used = |d: usize| {
        schedule.stages.iter().any(|s| s.domain == d)
            || schedule.relations.iter().any(|r| r.from == d || r.to == d)
    };
    let of_domain = found
        .into_iter()
        .enumerate()
        .map(|(d, tile_of)| match tile_of {
            Some(tile_of) => Some(Owned::new(&tile_of, count)),
            None if used(d) => None,
            None => Some(Owned::new(&[], count)),
        });
    of_domain.collect()
}

/// Most elements over all tiles.
struct Most {
    /// By place in the residents' order.
    residents: Vec<usize>,
    of_stage: Vec<usize>,
    of_load: Vec<usize>,
}

impl Most {
    fn new(schedule: &Schedule) -> Self {
        Self {
            residents: vec![0; schedule.residents.len()],
            of_stage: vec![0; schedule.stages.len()],
            of_load: vec![0; schedule.loads.len()],
        }
    }
}

/// One tile while it is made.
struct Tile<'a> {
    schedule: &'a Schedule,
    nodes: &'a [NodeOnDevice],
    shapes: Vec<RowShape>,
    /// Elements of each domain, those owned first, then ring by ring.
    lists: Vec<Vec<u32>>,
    owned: Vec<usize>,
    /// DataRef of each element in the list.
    local: Vec<Vec<u32>>,
    stage_rows: Vec<usize>,
    load_rows: Vec<usize>,
    relation_rows: Vec<usize>,
}

impl<'a> Tile<'a> {
    fn new(schedule: &'a Schedule, nodes: &'a [NodeOnDevice]) -> Self {
        let leads = schedule.relations.iter();
        Self {
            schedule,
            nodes,
            shapes: leads.map(|r| nodes[r.id.0].rows[r.id.1].local()).collect(),
            lists: vec![Vec::new(); schedule.domains.len()],
            owned: vec![0; schedule.domains.len()],
            local: schedule.domains.iter().map(|&n| vec![NONE; n]).collect(),
            stage_rows: vec![0; schedule.stages.len()],
            load_rows: vec![0; schedule.loads.len()],
            relation_rows: vec![0; schedule.relations.len()],
        }
    }

    /// From the last stage to the first: what each must run over so that those behind it find what they read.
    fn collect(&mut self, owned: &[Owned], tile: usize) {
        for (domain, own) in owned.iter().enumerate() {
            for &e in &self.lists[domain] {
                self.local[domain][e as usize] = NONE;
            }
            self.lists[domain].clear();
            self.extend(domain, own.of(tile));
            self.owned[domain] = self.lists[domain].len();
        }
        self.relation_rows.fill(0);
        for s in (0..self.schedule.stages.len()).rev() {
            let stage = &self.schedule.stages[s];
            let rows = self.lists[stage.domain].len();
            self.stage_rows[s] = rows;
            let mut found: Vec<(usize, Vec<u32>)> = Vec::new();
            for &r in &stage.relations {
                let lead = self.schedule.relations[r];
                let relation = &self.nodes[lead.id.0].device.relations[lead.id.1];
                let from = self.relation_rows[r];
                let new = self.lists[lead.from][from.min(rows)..rows].iter();
                let entries = new.flat_map(|&e| relation.row(e as usize));
                let outside = entries.filter(|&&e| self.local[lead.to][e as usize] == NONE);
                found.push((lead.to, outside.copied().collect()));
                self.relation_rows[r] = from.max(rows);
            }
            for (domain, mut elements) in found {
                elements.sort_unstable();
                elements.dedup();
                elements.retain(|&e| self.local[domain][e as usize] == NONE);
                self.extend(domain, &elements);
            }
            for (l, load) in self.schedule.loads.iter().enumerate() {
                if load.stage == s {
                    self.load_rows[l] = self.lists[load.domain].len();
                }
            }
        }
    }

    fn extend(&mut self, domain: usize, elements: &[u32]) {
        let list = &mut self.lists[domain];
        for &e in elements {
            self.local[domain][e as usize] = number(list.len());
            list.push(e);
        }
    }

    /// Notes how much room arrays take. `None` where a tile alone is too large.
    fn check(&self, most: &mut Most, limits: TileLimits) -> Option<()> {
        let larger = |most: &mut Vec<usize>, rows: &[usize]| {
            for (m, &r) in most.iter_mut().zip(rows) {
                *m = (*m).max(r);
            }
        };
        larger(&mut most.of_stage, &self.stage_rows);
        larger(&mut most.of_load, &self.load_rows);
        for (place, (memory, resident)) in self.schedule.residents.iter().enumerate() {
            let loads = self.schedule.loads.iter().zip(&self.load_rows);
            let loaded = loads.filter(|(l, _)| l.memory == *memory).map(|l| *l.1);
            let stages = self.schedule.stages.iter().enumerate();
            let written = stages
                .filter(|(s, stage)| {
                    stage.domain == resident.domain
                        && self.schedule.resident_to_write(*memory, *s).is_some()
                })
                .map(|(s, _)| self.stage_rows[s]);
            let rows = loaded.chain(written).max().unwrap_or(0);
            let bytes = (rows + 1) * element_bytes(resident.stride > 1);
            if bytes > limits.bytes || rows >= 0xffff {
                return None;
            }
            most.residents[place] = most.residents[place].max(rows);
        }
        Some(())
    }

    fn write(&self, tile: usize, tiles: &mut Tiles) -> Option<()> {
        let header = tiles.header.clone();
        let start = tile * header.len();
        let words = &mut tiles.words;
        for (s, &rows) in self.stage_rows.iter().enumerate() {
            words[start + header.stage_rows(s)] = number(rows);
        }
        for (l, &rows) in self.load_rows.iter().enumerate() {
            words[start + header.load_rows(l)] = number(rows);
        }
        for (d, list) in self.lists.iter().enumerate() {
            words[start + header.items(d)] = u32::try_from(words.len()).ok()?;
            words[start + header.owned(d)] = number(self.owned[d]);
            words.extend_from_slice(list);
            words.resize(words.len().next_multiple_of(32), 0);
        }
        for (r, lead) in self.schedule.relations.iter().enumerate() {
            let relation = &self.nodes[lead.id.0].device.relations[lead.id.1];
            let elements = &self.lists[lead.from][..self.relation_rows[r]];
            let entries: Vec<Vec<u32>> = elements
                .iter()
                .map(|&e| {
                    let row = relation.row(e as usize).iter();
                    row.map(|&n| self.local[lead.to][n as usize] + 1).collect()
                })
                .collect();
            let rows: Vec<Row<'_>> = elements
                .iter()
                .zip(&entries)
                .map(|(&e, n)| (&n[..], relation.extras_of(e as usize)))
                .collect();
            words[start + header.relation(r)] = self.shapes[r].pack(&rows, words)?;
            words.resize(words.len().next_multiple_of(32), 0);
        }
        Some(())
    }
}

impl Tiles {
    /// Puts arrays into parts of workgroup memory; those whose times do not overlap share one.
    fn assign(&mut self, schedule: &Schedule, most: &Most) {
        let mut order: Vec<(usize, (&Memory, &super::schedule::Resident))> =
            schedule.residents.iter().enumerate().collect();
        order.sort_by_key(|(_, (_, r))| r.first);
        // When each part is free again.
        let mut free: Vec<isize> = Vec::new();
        for (place, (memory, resident)) in order {
            let (len, vectors) = (most.residents[place] + 1, resident.stride > 1);
            let fits = |a: &usize| free[*a] < resident.first && self.arenas[*a].vectors == vectors;
            // The one that wastes least.
            let best = (0..free.len())
                .filter(fits)
                .min_by_key(|&a| self.arenas[a].len.abs_diff(len));
            let arena = best.unwrap_or_else(|| {
                free.push(isize::MIN);
                self.arenas.push(Arena { vectors, len: 0 });
                free.len() - 1
            });
            free[arena] = resident.last;
            self.arenas[arena].len = self.arenas[arena].len.max(len);
            self.arena_of.insert(*memory, arena);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_compact_and_alike() {
        let points: Vec<[f32; 3]> = (0..1000)
            .map(|i| [(i % 40) as f32, (i / 40) as f32, 0.0])
            .collect();
        let (part_of, count) = partition(&points, 64);
        assert_eq!(count, 16);
        let owned = Owned::new(&part_of, count);
        for part in 0..count {
            let own = owned.of(part);
            assert!((60..=64).contains(&own.len()), "{}", own.len());
            // No wider than two squares of that many points.
            for axis in [0, 1] {
                let along = own.iter().map(|&i| points[i as usize][axis]);
                let (low, high) =
                    along.fold((f32::MAX, f32::MIN), |(l, h), x| (l.min(x), h.max(x)));
                assert!(high - low <= 16.0, "{low} {high}");
            }
        }
        let (part_of, count) = partition(&[[1.0; 3]; 5], 2);
        assert_eq!(count, 3);
        assert!(part_of.iter().all(|&p| p < 3));
        assert_eq!(partition(&[], 64), (Vec::new(), 1));
    }
}
