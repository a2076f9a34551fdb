//! What a pair of triangles costs, and the cheapest partners of each triangle.

use super::auction::{Offer, Offers};
use super::drift::Drift;
use super::surface::{Piece, Surface};
use super::tree::Tree;
use super::{AREA, CANDIDATES, NORMAL, RADIUS, Vector};

/// Units of integer cost in a squared mean edge.
const UNITS: f32 = 1024.0;
/// Costs and prices add up below 2³¹.
const MOST: f32 = 5.0e8;

/// Weights in units of length.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    normal: f32,
    limit: f32,
    per_unit: f32,
}

impl Scale {
    pub(super) fn new(before: &Surface, after: &Surface) -> Self {
        // Points alone have no scale; any will do.
        let edge = match (before.edge + after.edge) * 0.5 {
            0.0 => 1.0,
            edge => edge,
        };
        let square = edge * edge;
        let limit = RADIUS * RADIUS;
        Self {
            normal: NORMAL * square,
            limit: limit * square,
            per_unit: UNITS.min(MOST / limit) / square,
        }
    }

    /// The cost of having no partner.
    pub(super) fn alone(&self) -> i32 {
        self.units(self.limit)
    }

    fn units(&self, cost: f32) -> i32 {
        (cost * self.per_unit).round() as i32
    }

    /// What the pair costs, if less than `limit`. The cheap terms come first: most pairs fail on them.
    #[inline]
    fn cost(
        &self,
        piece: &Piece,
        moved: &[Vector; 3],
        middle: &Vector,
        partner: &Piece,
        limit: f32,
    ) -> Option<f32> {
        let apart = (partner.centroid - middle).norm_squared();
        if apart >= limit {
            return None;
        }
        let size = piece.size - partner.size;
        let turned = 0.5 * (1.0 - piece.normal.dot(&partner.normal));
        let rest = self.normal * turned + AREA * size * size;
        if apart + rest >= limit {
            return None;
        }
        let cost = best_turn(moved, &partner.corners).1 + rest;
        (cost < limit).then_some(cost)
    }
}

/// The turn with the least mean squared distance between corner k and corner `k + turn`, and that distance.
#[inline]
pub(super) fn best_turn(corners: &[Vector; 3], others: &[Vector; 3]) -> (u8, f32) {
    let square = |a: usize, b: usize| (corners[a] - others[b]).norm_squared();
    let mut best = (0, square(0, 0) + square(1, 1) + square(2, 2));
    let once = square(0, 1) + square(1, 2) + square(2, 0);
    if once < best.1 {
        best = (1, once);
    }
    let twice = square(0, 2) + square(1, 0) + square(2, 1);
    if twice < best.1 {
        best = (2, twice);
    }
    (best.0, best.1 / 3.0)
}

/// Looks for partners among the pieces of the later frame.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub(super) after: &'a Surface,
    /// The middles of the pieces.
    pub(super) tree: Tree,
    pub(super) scale: Scale,
}

impl Search<'_> {
    /// The cheapest free partners of every piece before that has none.
    pub(super) fn offers(
        &self,
        before: &Surface,
        drift: &Drift,
        partners: &[Option<u32>],
        free: &[bool],
    ) -> Offers {
        let mut offers = Offers::default();
        offers.starts.push(0);
        let mut cheapest = Vec::with_capacity(CANDIDATES + 1);
        for (piece, partner) in before.pieces.iter().zip(partners) {
            if partner.is_none() {
                let moved = drift.moved(piece);
                self.cheapest(piece, &moved, free, CANDIDATES, &mut cheapest);
                offers
                    .offers
                    .extend(cheapest.drain(..).map(|(cost, good)| Offer {
                        cost: self.scale.units(cost),
                        good,
                    }));
            }
            offers.starts.push(offers.offers.len() as u32);
        }
        offers
    }

    /// Gives each piece without partner the cheapest one that is still free: pieces whose few candidates all went to
    /// others, as in a crowd of copies.
    pub(super) fn pair_leftovers(
        &self,
        before: &Surface,
        drift: &Drift,
        partners: &mut [Option<u32>],
        free: &mut [bool],
    ) {
        let mut cheapest = Vec::with_capacity(2);
        for (piece, partner) in before.pieces.iter().zip(partners) {
            if partner.is_none() {
                self.cheapest(piece, &drift.moved(piece), free, 1, &mut cheapest);
                *partner = cheapest.pop().map(|(_, index)| index);
                if let Some(partner) = *partner {
                    free[partner as usize] = false;
                }
            }
        }
    }

    /// Fills `cheapest` in ascending order with at most `most` partners. A cost is never below the squared distance of
    /// the middles, so the tree of middles can leave out whatever is farther than the dearest one found.
    fn cheapest(
        &self,
        piece: &Piece,
        moved: &[Vector; 3],
        free: &[bool],
        most: usize,
        cheapest: &mut Vec<(f32, u32)>,
    ) {
        let middle = (moved[0] + moved[1] + moved[2]) / 3.0;
        let mut limit = self.scale.limit;
        self.tree.visit(&middle, &mut limit, &mut |index, limit| {
            if !free[index as usize] {
                return;
            }
            let partner = &self.after.pieces[index as usize];
            let Some(cost) = self.scale.cost(piece, moved, &middle, partner, *limit) else {
                return;
            };
            let rank = cheapest.partition_point(|other| (other.0, other.1) < (cost, index));
            cheapest.insert(rank, (cost, index));
            cheapest.truncate(most);
            if cheapest.len() == most {
                *limit = cheapest[most - 1].0;
            }
        });
    }
}
