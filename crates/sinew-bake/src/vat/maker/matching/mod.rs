//! Which triangle of the next frame a triangle becomes.
//!
//! A sequence whose topology changes has no relation between triangle t of one frame and triangle t of the next, so
//! frames cannot be blended. Here a relation is made: [`match_triangles`] pairs triangles of two neighbouring frames
//! one to one, and [`SlotChain`] follows the pairs through the whole sequence and gives each chain a slot of the texture.
//!
//! 1. **Kept numbers.** Where a frame keeps most of the index triples of the frame before, as cloth that tears does,
//!    those triangles keep their identity whatever they do. Loose triangles, each with points of its own, are joined by
//!    place first: their own numbers say nothing.
//! 2. **Assignment.** All others are paired so that the sum of costs is least. Points are first carried along their velocity, if it is known. Solved by auction
//!    (Bertsekas 1992). The cost of a pair is the mean squared distance of its corners, in the better of three turns, plus `2 h² (1 - cos)/2` for the
//!    angle between the normals, plus `(√A - √B)²`, where `h` is the mean edge length of both frames and `A`, `B` are areas. A pair must cost less than
//!    `(3 h)²`; triangles without such a partner are born or die.
//! 3. **Coherence.** The displacements of the pairs, averaged around each point, predict where each corner goes; the
//!    assignment is repeated with distances from there. Neighbours go to neighbours, and cracks close.
//! 4. **Births and deaths.** A triangle without partner grows out of, or shrinks into, a point of the other surface.
//!
//! Each result is a function of two frames alone: neither threads nor the order of triangles change it, except between
//! triangles that coincide.

mod auction;
mod candidates;
mod collapse;
mod distance;
mod drift;
mod joined;
mod kept;
mod landing;
mod slots;
mod surface;
mod thin;
mod tree;

#[cfg(test)]
mod tests;

pub use distance::SurfaceDistance;
pub(crate) use distance::{NearTriangle, SurfaceTree, surface_deviation, surface_distance};
pub(crate) use joined::numbers_mean_the_same;
pub(crate) use landing::{FrameEnd, frame_end};
pub use slots::SlotsError;
pub(crate) use slots::{Slot, SlotChain};

use candidates::{Scale, Search};
use drift::Drift;
use joined::joined;
use serde::{Deserialize, Serialize};
use surface::Surface;

type Vector = sinew_geom::Vec3<f32>;

/// One frame.
///
/// Every index is below `points.len()`, and every number is finite: whoever reads the frames checks that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Triangles<'a> {
    /// Places of the points.
    pub points: &'a [[f32; 3]],
    /// Three indices of points for each triangle.
    pub triangles: &'a [[u32; 3]],
    /// Where each point goes until the next frame: units of `points` per frame, as many as `points`.
    pub motion: Option<&'a [[f32; 3]]>,
}

/// Weight of the angle between the normals.
const NORMAL: f32 = 2.0;
/// Weight of the difference of the areas.
const AREA: f32 = 1.0;
/// How far a partner may be, in mean edge lengths.
const RADIUS: f32 = 3.0;
/// How many partners are tried for each triangle: the cheapest ones.
const CANDIDATES: usize = 8;
/// How often triangles are assigned: first where they are, then where their neighbours say that they go.
const ROUNDS: usize = 2;
/// How often the prediction is averaged over neighbours in each round.
const SMOOTHING: usize = 3;

/// The triangle before that became a triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Predecessor {
    /// Index in the frame before.
    pub triangle: u32,
    /// Corner `k` of the triangle was corner `(k + turn) % 3` of the one before.
    pub turn: u8,
}

/// A triangle without partner, and the point it grows from or shrinks to in the other frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unpaired {
    /// Index in the frame that has the triangle.
    pub triangle: u32,
    /// Where its three corners are in the other frame: on the surface if it is near, else at the triangle's own place.
    pub point: [f32; 3],
}

/// How two neighbouring frames relate.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct FrameMatch {
    /// For each triangle of the next frame what it was before; no triangle of the frame before is named twice.
    pub predecessors: Vec<Option<Predecessor>>,
    /// Triangles of the next frame that were nothing before, in ascending order.
    pub births: Vec<Unpaired>,
    /// Triangles of the frame before that become nothing, in ascending order.
    pub deaths: Vec<Unpaired>,
}

/// Pairs the triangles of a frame with those of the next.
///
/// Motion comes from `from`; if only `to` has it, it is followed backwards. With equal lists of triangles the result is
/// the identity. Triangles without area take part like all others.
///
/// Cost: O(n log n) for n triangles, some 10 µs for each triangle; one thread. Run pairs of frames in parallel.
pub(crate) fn match_triangles(from: &Triangles<'_>, to: &Triangles<'_>) -> FrameMatch {
    let numbers = [from, to].map(joined);
    if numbers[0] == numbers[1] {
        return identity(to.triangles.len() as u32);
    }
    let backwards = from.motion.is_none() && to.motion.is_some();
    let kept = kept::by_numbers(&numbers[0], &numbers[1]);
    let pair = Pair {
        before: Surface::new(from, 1.0),
        after: Surface::new(to, if backwards { -1.0 } else { 0.0 }),
    };
    let partners = pair.partners(&kept);
    pair.result(from, to, &kept, &partners)
}

fn identity(triangles: u32) -> FrameMatch {
    let predecessors = (0..triangles).map(|triangle| Some(Predecessor { triangle, turn: 0 }));
    FrameMatch {
        predecessors: predecessors.collect(),
        ..FrameMatch::default()
    }
}

/// Two frames brought to the same moment.
#[derive(Debug)]
struct Pair {
    before: Surface,
    after: Surface,
}

impl Pair {
    /// For each piece before the piece after it.
    fn partners(&self, kept: &[Option<Predecessor>]) -> Vec<Option<u32>> {
        let fixed = self.fixed(kept);
        let search = Search {
            after: &self.after,
            tree: self.after.centroids(),
            scale: Scale::new(&self.before, &self.after),
        };
        let free = self.free_after(&fixed);
        let mut partners = fixed.clone();
        for _ in 0..ROUNDS {
            let drift = Drift::new(&self.before, &self.after, &partners, SMOOTHING);
            let offers = search.offers(&self.before, &drift, &fixed, &free);
            let assigned = auction::assign(&offers, free.len(), search.scale.alone());
            partners = fixed
                .iter()
                .zip(assigned)
                .map(|(fixed, new)| fixed.or(new))
                .collect();
        }
        let drift = Drift::new(&self.before, &self.after, &partners, SMOOTHING);
        let mut free = self.free_after(&partners);
        search.pair_leftovers(&self.before, &drift, &mut partners, &mut free);
        partners
    }

    /// For each piece before the piece after it that numbers name.
    fn fixed(&self, kept: &[Option<Predecessor>]) -> Vec<Option<u32>> {
        let mut successors = vec![None; self.before.pieces.len()];
        for (index, piece) in (0..).zip(&self.after.pieces) {
            if let Some(predecessor) = kept[piece.triangle as usize] {
                successors[predecessor.triangle as usize] = Some(index);
            }
        }
        let pieces = self.before.pieces.iter();
        pieces
            .map(|piece| successors[piece.triangle as usize])
            .collect()
    }

    /// Which pieces after are nobody's partner.
    fn free_after(&self, partners: &[Option<u32>]) -> Vec<bool> {
        let mut free = vec![true; self.after.pieces.len()];
        for partner in partners.iter().flatten() {
            free[*partner as usize] = false;
        }
        free
    }

    fn result(
        &self,
        from: &Triangles<'_>,
        to: &Triangles<'_>,
        kept: &[Option<Predecessor>],
        partners: &[Option<u32>],
    ) -> FrameMatch {
        let mut predecessors = kept.to_vec();
        let drift = Drift::new(&self.before, &self.after, partners, SMOOTHING);
        for (piece, partner) in self.before.pieces.iter().zip(partners) {
            let Some(partner) = partner else { continue };
            let partner = &self.after.pieces[*partner as usize];
            let (turn, _) = candidates::best_turn(&drift.moved(piece), &partner.corners);
            predecessors[partner.triangle as usize].get_or_insert(Predecessor {
                triangle: piece.triangle,
                turn: (3 + piece.first - partner.own_corner(turn)) % 3,
            });
        }
        let (births, deaths) = collapse::unpaired(self, [from, to], partners);
        FrameMatch {
            predecessors,
            births,
            deaths,
        }
    }
}
