//! The averaging operator in the order of the fast kernels.
//!
//! Classes are reordered into slots: within windows of 512, classes with the same number of neighbours come together. Then one loop with a
//! fixed number of neighbours serves a run of slots, while neighbours stay near each other in memory. Runs end at multiples of [`CHUNK`],
//! where tasks are cut.

use super::{EdgeWeights, MeanOperator};
use serde::{Deserialize, Serialize};
use sinew_geom::{WeldMap, index32};

/// Slots per task.
pub const CHUNK: usize = 1024;
/// Slots within which classes may change place: small enough that neighbours stay in the fastest cache.
const WINDOW: usize = 512;

/// Consecutive slots whose rows have the same number of neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) valence: u32,
    pub(super) first: u32,
}

/// A [`MeanOperator`] and a weld map in kernel order: each weld class has one slot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    slot_of_vertex: Vec<u32>,
    member_offsets: Vec<u32>,
    members: Vec<u32>,
    keep_offsets: bool,
    counts_itself: bool,
    pub(super) runs: Vec<Run>,
    pub(super) chunk_runs: Vec<u32>,
    pub(super) indices: Vec<u32>,
    /// Empty where all neighbours of a row count alike.
    pub(super) weights: Vec<f32>,
}

/// One row of a [`Layout`].
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Whose row it is.
    pub slot: usize,
    /// Neighbour slots; empty for a slot that keeps its position.
    pub neighbours: &'a [u32],
    /// Their weights, which sum to 1; empty if all neighbours count equally.
    pub weights: &'a [f32],
}

impl Layout {
    /// Reorders an operator. `weld` must be the map that it was made with; `rest` tells whether vertices of a class lie apart.
    pub fn new(operator: &MeanOperator, weld: &WeldMap, rest: &[[f32; 3]]) -> Self {
        let strip = |c: usize| operator.row(c).filter(move |e| e.0 as usize != c);
        let mut order: Vec<u32> = (0..index32(operator.class_count())).collect();
        for window in order.chunks_mut(WINDOW) {
            window.sort_by_key(|&c| strip(c as usize).count());
        }
        let mut slot_of_class = vec![0; order.len()];
        for (slot, &c) in order.iter().enumerate() {
            slot_of_class[c as usize] = index32(slot);
        }
        let uniform = matches!(
            operator.kind,
            EdgeWeights::Uniform | EdgeWeights::UniformSelf
        );
        let mut this = Self {
            counts_itself: operator.kind == EdgeWeights::UniformSelf,
            ..Self::default()
        };
        this.place_members(weld, &slot_of_class, rest);
        for (slot, &c) in order.iter().enumerate() {
            let first = index32(this.indices.len());
            for (n, w) in strip(c as usize) {
                this.indices.push(slot_of_class[n as usize]);
                if !uniform {
                    this.weights.push(w as f32);
                }
            }
            this.push_run(slot, index32(this.indices.len()) - first, first);
        }
        this.chunk_runs.push(index32(this.runs.len()));
        this
    }

    fn push_run(&mut self, slot: usize, valence: u32, first: u32) {
        if slot.is_multiple_of(CHUNK) {
            self.chunk_runs.push(index32(self.runs.len()));
        }
        match self.runs.last_mut() {
            Some(run) if run.valence == valence && !slot.is_multiple_of(CHUNK) => run.end += 1,
            _ => self.runs.push(Run {
                start: index32(slot),
                end: index32(slot) + 1,
                valence,
                first,
            }),
        }
    }

    fn place_members(&mut self, weld: &WeldMap, slot_of_class: &[u32], rest: &[[f32; 3]]) {
        self.slot_of_vertex = weld
            .class_of_vertex
            .iter()
            .map(|&c| slot_of_class[c as usize])
            .collect();
        let mut offsets = vec![0_u32; slot_of_class.len() + 1];
        for &s in &self.slot_of_vertex {
            offsets[s as usize + 1] += 1;
        }
        for s in 0..slot_of_class.len() {
            offsets[s + 1] += offsets[s];
        }
        let mut cursor = offsets.clone();
        self.members = vec![0; self.slot_of_vertex.len()];
        for (v, &s) in self.slot_of_vertex.iter().enumerate() {
            self.members[cursor[s as usize] as usize] = index32(v);
            cursor[s as usize] += 1;
        }
        self.member_offsets = offsets;
        self.keep_offsets = weld
            .class_of_vertex
            .iter()
            .zip(rest)
            .any(|(&c, p)| rest[weld.first_vertex[c as usize] as usize] != *p);
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.slot_of_vertex.len()
    }
    /// Number of slots, that is, weld classes.
    pub(crate) fn slot_count(&self) -> usize {
        self.member_offsets.len().saturating_sub(1)
    }
    /// Slot of each vertex.
    pub fn slot_of_vertex(&self) -> &[u32] {
        &self.slot_of_vertex
    }
    /// Vertices in slot `s`, in increasing order; never empty.
    ///
    /// # Panics
    /// If there is no slot `s`.
    #[inline(always)]
    pub fn members(&self, s: usize) -> &[u32] {
        &self.members[self.member_offsets[s] as usize..self.member_offsets[s + 1] as usize]
    }
    /// Vertices in all slots, slot by slot.
    pub(super) fn all_members(&self) -> &[u32] {
        &self.members
    }
    /// Whether some vertices that share a slot lie apart at rest.
    pub(crate) fn keeps_offsets(&self) -> bool {
        self.keep_offsets
    }

    /// Whether neighbours have weights; all count alike where not.
    pub(crate) fn is_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    /// Whether a point counts as one of its own neighbours.
    pub(crate) fn counts_itself(&self) -> bool {
        self.counts_itself
    }

    /// All rows, slot by slot.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> + '_ {
        self.runs.iter().flat_map(|run| {
            (run.start..run.end).map(|slot| {
                let from = (run.first + (slot - run.start) * run.valence) as usize;
                let range = from..from + run.valence as usize;
                Row {
                    slot: slot as usize,
                    neighbours: &self.indices[range.clone()],
                    weights: self.weights.get(range).unwrap_or_default(),
                }
            })
        })
    }

    /// Factors of one pass for a row with that many neighbours: of the point itself, and of the sum of its neighbours (weighted if there
    /// are weights).
    pub fn coefficients(&self, valence: u32, step: f32) -> (f32, f32) {
        if valence == 0 {
            return (1.0, 0.0);
        }
        if !self.weights.is_empty() {
            return (1.0 - step, step);
        }
        let n = valence as f32;
        if self.counts_itself {
            let each = step / (n + 1.0);
            (1.0 - step + each, each)
        } else {
            (1.0 - step, step / n)
        }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        4 * (self.slot_of_vertex.len()
            + self.member_offsets.len()
            + self.members.len()
            + self.chunk_runs.len()
            + self.indices.len()
            + self.weights.len())
            + self.runs.len() * size_of::<Run>()
    }

    /// Whether every length and index fits a mesh with that many vertices; for data from a file. O(size).
    pub fn is_valid(&self, vertex_count: usize) -> bool {
        let slots = self.slot_count();
        self.slot_of_vertex.len() == vertex_count
            && self.members.len() == vertex_count
            && slots <= vertex_count
            && offsets_fit(&self.member_offsets, vertex_count)
            && self.member_offsets.windows(2).all(|w| w[0] < w[1])
            && self.members.iter().all(|&v| (v as usize) < vertex_count)
            && self.slot_of_vertex.iter().all(|&s| (s as usize) < slots)
            && self.indices.iter().all(|&s| (s as usize) < slots)
            && (self.weights.is_empty() || self.weights.len() == self.indices.len())
            && self.weights.iter().all(|w| (0.0..=1.0).contains(w))
            && self.runs_fit(slots)
    }

    fn runs_fit(&self, slots: usize) -> bool {
        let mut slot = 0;
        let mut first = 0;
        for run in &self.runs {
            let crosses = run.start as usize / CHUNK != (run.end.max(1) - 1) as usize / CHUNK;
            if run.start != slot || run.end <= run.start || u64::from(run.first) != first || crosses
            {
                return false;
            }
            slot = run.end;
            first += u64::from(run.end - run.start) * u64::from(run.valence);
        }
        let chunk_starts_fit = (0..slots.div_ceil(CHUNK)).all(|chunk| {
            let run = self.chunk_runs.get(chunk).map(|&r| r as usize);
            run.and_then(|r| self.runs.get(r))
                .is_some_and(|run| run.start as usize == chunk * CHUNK)
        });
        slot as usize == slots
            && first == self.indices.len() as u64
            && chunk_starts_fit
            && self.chunk_runs.len() == slots.div_ceil(CHUNK) + 1
            && self.chunk_runs.last().map(|&r| r as usize) == Some(self.runs.len())
    }
}

/// Whether offsets start at zero, never fall, and end at `end`.
pub(crate) fn offsets_fit(offsets: &[u32], end: usize) -> bool {
    offsets.first() == Some(&0)
        && offsets.windows(2).all(|w| w[0] <= w[1])
        && offsets.last().map(|&o| o as usize) == Some(end)
}
