//! Collision alone, for strands that something else moves.

use super::chunks::{PerChunk, PerStrand};
use super::contact::{ContactVertex, most_margin, push_out};
use super::placed::{Collider, Contact, Placement, Solids};
use super::settle::settle_lengths;
use crate::{Par, for_each_chunk};
use sinew_geom::{Real, Strands};

/// Strands in one task.
pub(crate) const CHUNK: usize = 32;

/// How [`CollideJob`] works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollideSettings {
    /// Vertices at the root of each strand that stay where they are, on the skin.
    pub exempt: usize,
    /// How often vertices are pushed out and lengths restored. More helps in pockets.
    pub iterations: usize,
}

impl Default for CollideSettings {
    fn default() -> Self {
        Self {
            exempt: 2,
            iterations: 2,
        }
    }
}

/// Room to work in; belongs to one instance.
#[derive(Clone, Debug, Default)]
pub struct CollideScratch {
    vertices: Vec<ContactVertex<f32>>,
    placements: Vec<Placement<f32>>,
    longest: usize,
}

impl CollideScratch {
    /// Room for these strands and this many contacts.
    pub fn new(strands: &Strands, contacts: usize) -> Self {
        let longest = strands.longest();
        let tasks = strands.len().div_ceil(CHUNK);
        Self {
            vertices: vec![ContactVertex::default(); tasks * longest],
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
    pub(crate) fn parts(&mut self) -> (&mut [ContactVertex<f32>], &mut [Placement<f32>], usize) {
        (&mut self.vertices, &mut self.placements, self.longest)
    }
}

/// One frame: moves strands out of solids; every segment keeps the length it comes with, but for rounding.
///
/// Cost: a vertex farther from all surfaces than its neighbour's distance allows to tell costs a few operations, any
/// other one to some ten evaluations of the distance.
#[derive(Debug)]
pub struct CollideJob<'a> {
    /// Which vertices form which strands.
    pub strands: &'a Strands,
    /// How.
    pub settings: &'a CollideSettings,
    /// The solids.
    pub colliders: &'a [Collider<'a>],
    /// Which of them, with margins and friction. Entries that name no collider are skipped.
    pub contacts: &'a [Contact],
    /// Where each vertex was at the last frame: paths from there are tested too. `None`: only places are tested.
    pub previous: Option<&'a [[f32; 3]]>,
    /// In: where each vertex should be. Out: where it is.
    pub positions: &'a mut [[f32; 3]],
    /// From [`CollideScratch::new`] for the same strands and number of contacts.
    pub scratch: &'a mut CollideScratch,
    /// Threads.
    pub par: Par,
}

impl CollideJob<'_> {
    /// Runs the job. Nothing is written where lengths do not fit.
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
        let solids = Solids::place(self.colliders, self.contacts, placements, [0.0, 1.0]);
        let positions = PerStrand {
            offsets: self.strands.offsets(),
            items: self.positions,
        };
        let room = PerChunk {
            strands: CHUNK,
            each: longest,
            items: &mut self.scratch.vertices,
        };
        let (strands, settings) = (self.strands, self.settings);
        let outputs = (positions, room);
        for_each_chunk(
            self.par,
            strands.len(),
            CHUNK,
            outputs,
            &|range, (mut p, room)| {
                for (s, strand) in range.enumerate() {
                    let points = p.strand(s);
                    let old = previous.map(|o| &o[strands.range(strand)]);
                    collide_strand(settings, &solids, old, points, &mut *room.items);
                }
            },
        );
    }
}

/// Collides one strand; `room` has space for it.
pub(crate) fn collide_strand(
    settings: &CollideSettings,
    solids: &Solids<'_, f32>,
    previous: Option<&[[f32; 3]]>,
    points: &mut [[f32; 3]],
    room: &mut [ContactVertex<f32>],
) {
    let Some(room) = room.get_mut(..points.len()) else {
        return;
    };
    if points.iter().flatten().any(|c| !c.is_finite()) {
        return;
    }
    let mut way = if settings.exempt == 0 {
        f32::INFINITY
    } else {
        0.0
    };
    for (i, v) in room.iter_mut().enumerate() {
        let x = f32::vec3(points[i]);
        let length = if i == 0 {
            0.0
        } else {
            (x - f32::vec3(points[i - 1])).norm()
        };
        if i >= settings.exempt {
            way += length;
        }
        *v = ContactVertex {
            x,
            start: previous.map_or(x, |p| f32::vec3(p[i])),
            inverse_mass: if i < settings.exempt { 0.0 } else { 1.0 },
            length,
            most_margin: most_margin(way),
            ..ContactVertex::default()
        };
    }
    // Whose paths are not tested moves from where it is, with a length that stays.
    let near = match (previous, room.first()) {
        (None, Some(root)) => {
            let reach = room.iter().map(|v| v.length).sum();
            solids.in_reach(root.x, root.x, reach)
        }
        _ => *solids,
    };
    let solids = &near;
    for _ in 0..settings.iterations.max(1) {
        push_out(solids, room, settings.exempt);
        settle_lengths(solids, room, settings.exempt);
    }
    for (point, v) in points.iter_mut().zip(room.iter()) {
        *point = f32::array3(v.x);
    }
}
