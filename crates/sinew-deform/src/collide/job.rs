//! Collision alone, for strands that other nodes move.

use super::chunks::{PerChunk, PerStrand};
use super::placed::{Collider, Contact, Placement, Solids};
use crate::strand_step::{Placing, Vertex, VertexOfEight, WIDTH, place_strands};
use crate::{Par, for_each_chunk};
use arrayvec::ArrayVec;
use sinew_geom::Strands;

/// Strands in one task.
pub(crate) const CHUNK: usize = 32;

/// Settings of [`CollideJob`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollideSettings {
    /// Number of vertices at the root of each strand that are not moved, because they sit on the skin; 0 counts as 1.
    pub exempt: usize,
}

impl Default for CollideSettings {
    fn default() -> Self {
        Self { exempt: 2 }
    }
}

/// Working memory of one instance: 2.7 KB for each vertex of the longest strand and task of 32 strands.
#[derive(Clone, Debug, Default)]
pub struct CollideScratch {
    vertices: Vec<VertexOfEight>,
    placements: Vec<Placement<f32>>,
    longest: usize,
}

impl CollideScratch {
    /// Scratch for these strands and this number of contacts. Allocates.
    pub fn new(strands: &Strands, contacts: usize) -> Self {
        let longest = strands.longest();
        let tasks = strands.len().div_ceil(CHUNK);
        Self {
            vertices: vec![Vertex::default(); tasks * longest],
            placements: vec![Placement::default(); contacts],
            longest,
        }
    }
    /// Makes room for this many contacts; allocates only for more than ever before.
    pub(crate) fn make_room(&mut self, contacts: usize) {
        self.placements.resize(contacts, Placement::default());
    }
    /// Bytes held.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.vertices) + size_of_val(&*self.placements)
    }
    /// How many contacts there is room for.
    pub(crate) fn contacts(&self) -> usize {
        self.placements.len()
    }
    /// Room for the vertices of each task, room for contacts, vertices a task.
    pub(crate) fn parts(&mut self) -> (&mut [VertexOfEight], &mut [Placement<f32>], usize) {
        (&mut self.vertices, &mut self.placements, self.longest)
    }
}

/// Collision of one frame: moves strands out of solids. Every segment keeps the length that it comes with, up to rounding.
///
/// # Cost
/// A few operations for a strand that is far from all solids. Others take six to ten iterations of Newton's method, with at most one
/// evaluation of the distance for a vertex in each. It does not allocate.
#[derive(Debug)]
pub struct CollideJob<'a> {
    /// Which vertices form which strands.
    pub strands: &'a Strands,
    /// Exempt vertices.
    pub settings: &'a CollideSettings,
    /// The solids.
    pub colliders: &'a [Collider<'a>],
    /// Contacts with them. Entries that name no collider are skipped, and of the others those after the eighth.
    pub contacts: &'a [Contact],
    /// Positions in the last frame, one per vertex: paths from there are tested, too. `None`, or another length: only positions are tested.
    pub previous: Option<&'a [[f32; 3]]>,
    /// One per vertex, scene space. In: where each vertex should be. Out: where it is.
    pub positions: &'a mut [[f32; 3]],
    /// From [`CollideScratch::new`] for the same strands and the same number of contacts.
    pub scratch: &'a mut CollideScratch,
    /// Threads.
    pub par: Par,
}

impl CollideJob<'_> {
    /// Runs the job. If lengths do not fit, nothing is written. A strand with a position that is not finite is left as it is. The result is
    /// the same bits for any [`Par`].
    pub fn run(self) {
        let count = self.strands.vertex_count();
        let longest = self.scratch.longest;
        let tasks = self.strands.len().div_ceil(CHUNK);
        if self.positions.len() != count
            || longest != self.strands.longest()
            || self.scratch.vertices.len() != tasks * longest
            || self.scratch.placements.len() != self.contacts.len()
        {
            return;
        }
        let previous = self.previous.filter(|p| p.len() == count);
        let placements = &mut self.scratch.placements;
        // Without ways solids are where they are.
        let begin = if previous.is_some() { 0.0 } else { 1.0 };
        let solids = Solids::place(self.colliders, self.contacts, placements, [begin, 1.0]);
        let placing = Placing {
            solids: &solids,
            pins: self.settings.exempt,
        };
        let positions = PerStrand {
            offsets: self.strands.offsets(),
            items: self.positions,
        };
        let room = PerChunk {
            strands: CHUNK,
            each: longest,
            items: &mut self.scratch.vertices,
        };
        let (strands, outputs) = (self.strands, (positions, room));
        for_each_chunk(
            self.par,
            strands.len(),
            CHUNK,
            outputs,
            &|range, (mut p, room)| {
                let members: ArrayVec<usize, CHUNK> = (0..range.len()).collect();
                let old = |s: usize| previous.map(|o| &o[strands.range(range.start + s)]);
                for members in members.chunks(WIDTH) {
                    place_strands(&placing, members, old, &mut p, &mut *room.items);
                }
            },
        );
    }
}
