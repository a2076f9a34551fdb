//! Strands that something else moves, brought out of solids.

use super::look::UNKNOWN;
use super::math::{Motion, V};
use super::number::Number;
use super::solid::{Solid, base_of};
use super::strand::{Laws, Step};
use super::vertex::{Vertex, VertexOfEight};
use crate::collide::{MAX_COLLIDERS, PerStrand, Placed, Rigid, Solids};
use arrayvec::ArrayVec;
use fearless_simd::{Simd, f32x8};
use sinew_geom::Real;

/// Strands that are placed side by side.
pub(crate) const WIDTH: usize = 8;
/// Of a step without time: only what is looked at counts.
pub(crate) const PLACING: Laws = Laws {
    h: 1.0,
    drag: 0.0,
    dry: 0.0,
    dry_speed: 1.0,
    pull_hz: 0.0,
    bend_hz: 0.0,
    iterations: 0,
    segments: false,
    first: 1.0,
};

/// What strands are placed with.
#[derive(Clone, Copy)]
pub(crate) struct Placing<'a> {
    pub(crate) solids: &'a Solids<'a, f32>,
    /// Vertices at the root that stay, at least one.
    pub(crate) pins: usize,
}

/// Places up to [`WIDTH`] strands: those of `points` that `members` says. `previous` has where their vertices were, if ways from there are
/// tested; `work` has room for the longest. Strands with numbers that are not finite stay as they are.
pub(crate) fn place_strands<'p>(
    placing: &Placing<'_>,
    members: &[usize],
    previous: impl Fn(usize) -> Option<&'p [[f32; 3]]>,
    points: &mut PerStrand<'_, [f32; 3]>,
    work: &mut [VertexOfEight],
) {
    let placed: ArrayVec<_, MAX_COLLIDERS> = placing.solids.iter().take(MAX_COLLIDERS).collect();
    let mut solids: ArrayVec<_, MAX_COLLIDERS> = placed.iter().map(Solid::new).collect();
    let mut group = Group {
        pins: placing.pins.max(1),
        lanes: ArrayVec::new(),
    };
    let longest = members.iter().map(|&m| points.strand(m).len()).max();
    let work = match work.get_mut(..longest.unwrap_or(0)) {
        Some(work) => work,
        None => return,
    };
    work.fill(Vertex::still());
    for (lane, &member) in members.iter().take(WIDTH).enumerate() {
        let strand = Strand {
            points: points.strand(member),
            previous: previous(member),
        };
        if group.add(lane, &strand, (&placed, &mut solids), work) {
            group.lanes.push((lane, member));
        }
    }
    if group.lanes.is_empty() {
        return;
    }
    let placed = dispatch!(simd => run(simd, &solids, work));
    for &(lane, member) in group
        .lanes
        .iter()
        .filter(|(lane, _)| (placed >> lane) & 1 != 0)
    {
        let points = points.strand(member);
        let root = points[0];
        for (point, v) in points.iter_mut().zip(&*work).skip(group.pins) {
            *point = [0, 1, 2].map(|k| root[k] + v.x[k][lane]);
        }
    }
}

#[inline(always)]
fn run<S: Simd>(simd: S, solids: &[Solid<'_, [f32; 8]>], work: &mut [VertexOfEight]) -> u8 {
    let one = <f32x8<S> as Number>::splat(simd, 1.0);
    let step = Step {
        token: simd,
        laws: &PLACING,
        scale: one,
        back: Motion::still(one),
        gravity: V::zero(one),
        wind: V::zero(one),
        segments: one,
        mean: one,
        solids,
    };
    step.place(work)
}

/// A strand that is placed.
struct Strand<'a> {
    points: &'a [[f32; 3]],
    previous: Option<&'a [[f32; 3]]>,
}

/// Strands side by side.
struct Group {
    pins: usize,
    /// Lanes with the strand that each has.
    lanes: ArrayVec<(usize, usize), WIDTH>,
}

impl Group {
    /// Adds a strand; false if there is nothing to do for it.
    fn add(
        &mut self,
        lane: usize,
        strand: &Strand<'_>,
        (placed, solids): (&[Placed<'_, f32>], &mut [Solid<'_, [f32; 8]>]),
        work: &mut [VertexOfEight],
    ) -> bool {
        let points = strand.points;
        if points.len() <= self.pins || !points.iter().flatten().all(|c| c.is_finite()) {
            return false;
        }
        let (root, reach) = (f32::vec3(points[0]), length_of(points));
        let at = Rigid {
            translation: root,
            ..Rigid::identity()
        };
        let mut is_near = false;
        for (solid, placed) in solids.iter_mut().zip(placed) {
            // What moves farther than its strand's root and length allow is not seen.
            let mut longest = reach;
            if let Some(before) = strand.previous {
                let moved = (root - placed.at.carry.point(f32::vec3(before[0]))).norm();
                longest = reach.max(moved + length_of(before));
            }
            let distance = placed.distance(root);
            let base = base_of(distance, placed.distance(f32::vec3(points[self.pins - 1])));
            let off = (f64::from(distance), base, f64::from(longest));
            solid.set(lane, placed, [&at, &at], off);
            is_near |= solid.keeps[lane] < 0.0;
        }
        if !is_near {
            return false;
        }
        self.load(lane, strand, work);
        true
    }

    /// Makes the vertices of a strand.
    fn load(&self, lane: usize, strand: &Strand<'_>, work: &mut [VertexOfEight]) {
        let points = strand.points;
        let root = f32::vec3(points[0]);
        let mut way = 0.0;
        for (i, v) in work.iter_mut().enumerate().take(points.len()) {
            let is_free = i >= self.pins;
            let x = f32::vec3(points[i]) - root;
            let before = strand.previous.map_or(x, |p| f32::vec3(p[i]) - root);
            let segment = x - f32::vec3(points[i.saturating_sub(1)]) + root;
            let length = segment.norm();
            for k in 0..3 {
                v.x[k][lane] = x[k];
                v.goal[k][lane] = x[k];
                v.before[k][lane] = before[k];
            }
            v.length[lane] = length;
            v.room[lane] = UNKNOWN as f32;
            if is_free {
                way += length;
                v.way[lane] = way;
                v.free[lane] = 1.0;
            }
        }
    }
}

fn length_of(points: &[[f32; 3]]) -> f32 {
    let lengths = points
        .windows(2)
        .map(|w| (f32::vec3(w[1]) - f32::vec3(w[0])).norm());
    lengths.sum()
}
