//! Ways through the tree of boxes.

use super::simd::{box_squares, from_point, least};
use super::surface::Surface;
use super::tree::{CLUSTER, TreeShape};
use super::triangle::P;
use fearless_simd::{Simd, prelude::*};

/// Eight entries for each of the at most eleven levels that 32-bit indices allow.
const STACK: usize = 96;

/// The nearest triangle of a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    pub(super) square: f32,
    /// Index, possibly that of a repetition behind the last one.
    pub(super) slot: usize,
    /// From the closest point of the surface to the point.
    pub(super) away: P,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    square: f32,
    level: u32,
    /// Block of that level.
    block: u32,
}

/// Depth first, nearest box first. `seed` is a cluster that is tried first: the nearer it is, the faster.
#[inline(always)]
pub(super) fn nearest<S: Simd>(
    simd: S,
    tree: &TreeShape,
    surface: &Surface,
    p: P,
    seed: usize,
) -> Nearest {
    let mut best = Nearest {
        square: f32::MAX,
        slot: usize::MAX,
        away: [0.0; 3],
    };
    try_cluster(simd, surface, p, seed, &mut best);
    let mut stack = [Entry::default(); STACK];
    stack[0].level = tree.levels.len() as u32 - 1;
    let mut len = 1;
    while len > 0 {
        len -= 1;
        let entry = stack[len];
        if entry.square > best.square {
            continue;
        }
        let level = entry.level as usize;
        let boxes = &surface.blocks[tree.levels[level] + entry.block as usize];
        let squares = box_squares(simd, boxes, p, p);
        let mut open = squares.simd_le(best.square).to_bitmask() as u32;
        let squares = squares.to_array();
        let from = len;
        while open != 0 {
            let lane = open.trailing_zeros() as usize;
            open &= open - 1;
            // Furthest first, so that the nearest is on top.
            let mut at = len;
            while at > from && stack[at - 1].square < squares[lane] {
                stack[at] = stack[at - 1];
                at -= 1;
            }
            stack[at] = Entry {
                square: squares[lane],
                level: entry.level.wrapping_sub(1),
                block: entry.block * CLUSTER as u32 + lane as u32,
            };
            len += 1;
        }
        if level == 0 {
            for e in stack[from..len].iter().rev() {
                if e.square <= best.square {
                    try_cluster(simd, surface, p, e.block as usize, &mut best);
                }
            }
            len = from;
        }
    }
    best
}

#[inline(always)]
fn try_cluster<S: Simd>(simd: S, surface: &Surface, p: P, c: usize, best: &mut Nearest) {
    let from = from_point(simd, &surface.clusters[c], p);
    if !from.square.simd_le(best.square).any_true() {
        return;
    }
    let (lane, square) = least(from.square);
    let slot = c * CLUSTER + lane;
    // The lowest of equals, whatever the order of visits.
    if square < best.square || slot < best.slot {
        *best = Nearest {
            square,
            slot,
            away: from.away.lane(lane),
        };
    }
}

/// Clusters near a box, in rising order.
pub(super) struct NearBox {
    low: P,
    high: P,
    /// Squared distance that still counts.
    limit: f32,
    stack: [(u32, u32); STACK],
    len: usize,
}

impl NearBox {
    pub(super) fn new(tree: &TreeShape, low: P, high: P, limit: f32) -> Self {
        let mut stack = [(0, 0); STACK];
        stack[0] = (tree.levels.len() as u32, 0);
        Self {
            low,
            high,
            limit,
            stack,
            len: 1,
        }
    }

    #[inline(always)]
    pub(super) fn next<S: Simd>(
        &mut self,
        simd: S,
        tree: &TreeShape,
        surface: &Surface,
    ) -> Option<usize> {
        while self.len > 0 {
            self.len -= 1;
            let (level, node) = self.stack[self.len];
            let Some(level) = level.checked_sub(1) else {
                return Some(node as usize);
            };
            let boxes = &surface.blocks[tree.levels[level as usize] + node as usize];
            let squares = box_squares(simd, boxes, self.low, self.high);
            let mut open = squares.simd_le(self.limit).to_bitmask() as u32;
            while open != 0 {
                let lane = 31 - open.leading_zeros();
                open ^= 1 << lane;
                self.stack[self.len] = (level, node * CLUSTER as u32 + lane);
                self.len += 1;
            }
        }
        None
    }
}
