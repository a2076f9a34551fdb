//! Collision alone, for strands that other nodes move.

use super::chunks::{PerChunk, PerStrand};
use super::contact::most_margin;
use super::placed::{Collider, Contact, Placement, Solids};
use super::simd::{ContactLanes, StrandGroup, WIDTH};
use crate::lanes::{point as lane_point, put};
use crate::{Par, for_each_chunk};
use arrayvec::ArrayVec;
use sinew_geom::{Real, Strands, Vec3};

/// Strands in one task.
pub(crate) const CHUNK: usize = 32;

/// Settings of [`CollideJob`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CollideSettings {
    /// Number of vertices at the root of each strand that are not moved, because they sit on the skin.
    pub exempt: usize,
    /// Passes that push vertices out and restore lengths. More help in pockets.
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

/// Working memory of one instance: 1,248 bytes for each vertex of the longest strand and task of 32 strands.
#[derive(Clone, Debug, Default)]
pub struct CollideScratch {
    vertices: Vec<ContactLanes>,
    placements: Vec<Placement<f32>>,
    longest: usize,
}

impl CollideScratch {
    /// Scratch for these strands and this number of contacts. Allocates.
    pub fn new(strands: &Strands, contacts: usize) -> Self {
        let longest = strands.longest();
        let tasks = strands.len().div_ceil(CHUNK);
        Self {
            vertices: vec![ContactLanes::default(); tasks * longest],
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
    pub(crate) fn parts(&mut self) -> (&mut [ContactLanes], &mut [Placement<f32>], usize) {
        (&mut self.vertices, &mut self.placements, self.longest)
    }
}

/// Collision of one frame: moves strands out of solids. Every segment keeps the length that it comes with, up to rounding.
///
/// # Cost
/// A few operations for a vertex that is far from all surfaces, about ten evaluations of the distance for others. It does not allocate.
#[derive(Debug)]
pub struct CollideJob<'a> {
    /// Which vertices form which strands.
    pub strands: &'a Strands,
    /// Exempt vertices and iterations.
    pub settings: &'a CollideSettings,
    /// The solids.
    pub colliders: &'a [Collider<'a>],
    /// Contacts with them. Entries that name no collider are skipped.
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
                let members: ArrayVec<usize, CHUNK> = (0..range.len()).collect();
                let old = |s: usize| previous.map(|o| &o[strands.range(range.start + s)]);
                for members in members.chunks(WIDTH) {
                    collide_strands(settings, &solids, members, old, &mut p, &mut *room.items);
                }
            },
        );
    }
}

/// Collides up to [`WIDTH`] strands side by side: those of `points` that `members` says. `previous` has where their vertices were; `room`
/// has space for the longest.
pub(crate) fn collide_strands<'p>(
    settings: &CollideSettings,
    solids: &Solids<'_, f32>,
    members: &[usize],
    previous: impl Fn(usize) -> Option<&'p [[f32; 3]]>,
    points: &mut PerStrand<'_, [f32; 3]>,
    room: &mut [ContactLanes],
) {
    let mut group = StrandGroup::new(solids, settings.exempt);
    room.iter_mut().for_each(ContactLanes::free);
    room.iter_mut().for_each(ContactLanes::forget);
    for (lane, &member) in members.iter().take(WIDTH).enumerate() {
        let points = &*points.strand(member);
        let is_finite = points.iter().flatten().all(|c| c.is_finite());
        let (Some(room), true) = (room.get_mut(..points.len()), is_finite) else {
            continue;
        };
        let previous = previous(member);
        let reach = load(settings, lane, points, previous, room);
        // Whose paths are not tested moves from where it is, with a length that stays.
        let near = match (previous, points.first()) {
            (None, Some(&root)) => solids.in_reach(f32::vec3(root), f32::vec3(root), reach),
            _ => *solids,
        };
        if !near.is_empty() {
            group.add(lane, points.len(), &near);
        }
    }
    if group.is_empty() {
        return;
    }
    for i in 0..settings.iterations.max(1) {
        group.push_out(room, i == 0);
        group.settle(room);
    }
    for (lane, &member) in members.iter().take(WIDTH).enumerate() {
        let count = group.counts()[lane];
        let points = points.strand(member);
        for (point, v) in points.iter_mut().zip(&room[..count]) {
            *point = lane_point(&v.x, lane).into();
        }
    }
}

/// Makes vertices of one strand that touch nothing yet; returns its length.
fn load(
    settings: &CollideSettings,
    lane: usize,
    points: &[[f32; 3]],
    previous: Option<&[[f32; 3]]>,
    room: &mut [ContactLanes],
) -> f32 {
    let mut way = if settings.exempt == 0 {
        f32::INFINITY
    } else {
        0.0
    };
    let mut reach = 0.0;
    let mut before: Option<Vec3<f32>> = None;
    for (i, (v, &x)) in room.iter_mut().zip(points).enumerate() {
        let x = f32::vec3(x);
        let length = before.map_or(0.0, |before| (x - before).norm());
        before = Some(x);
        reach += length;
        if i >= settings.exempt {
            way += length;
        }
        put(&mut v.x, lane, x);
        put(&mut v.start, lane, previous.map_or(x, |p| f32::vec3(p[i])));
        v.inverse_mass[lane] = if i < settings.exempt { 0.0 } else { 1.0 };
        v.length[lane] = length;
        v.most_margin[lane] = most_margin(way);
    }
    reach
}
