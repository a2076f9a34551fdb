//! Values of one brick: from the brick to its eight blocks of 4x4x4 nodes to their eight groups of 2x2x2, dropping at each
//! step the triangles that no node of the block can be nearest to. What is left for a group (some five triangles)
//! is measured exactly.

use super::field::{BRICK_CELLS, BRICK_VALUES};
use super::simd::{
    Best, Bound, Limit, SLACK, Signs, V3, behind, corner_offsets, from_nodes, from_point, least,
    local_point, splat_u32,
};
use super::surface::Surface;
use super::tree::{CLUSTER, TreeShape};
use super::triangle::{P, dot, scaled};
use super::walk::NearBox;
use super::winding::{Winding, is_inside};
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};

/// Clusters that are looked at in one go. Any number of them comes in batches, as the least of all is the least of
/// the batches' least.
const BATCH: usize = 64;
/// Groups of eight nodes in a brick.
const GROUPS: usize = 64;

/// What all bricks of a frame share.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) tree: &'a TreeShape,
    pub(super) surface: &'a Surface,
    pub(super) signs: Signs<'a>,
    /// Where signs come from winding numbers.
    pub(super) winding: Option<&'a Winding>,
    /// Whether the surface separates inside from outside, so that one sign holds wherever it is far.
    pub(super) is_closed: bool,
    /// Distances up to this many cells are exact.
    pub(super) band: f32,
    /// Triangles without the repetitions of the last one.
    pub(super) triangle_count: usize,
}

/// Bounds of a batch's clusters at the centre of a block.
struct Batch<S: Simd> {
    clusters: [u32; BATCH],
    bounds: [Bound<S>; BATCH],
    len: usize,
}

impl<S: Simd> Batch<S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        let none = Bound {
            distance: f32x8::splat(simd, 0.0),
            direction: V3::splat(simd, [0.0; 3]),
        };
        Self {
            clusters: [0; BATCH],
            bounds: [none; BATCH],
            len: 0,
        }
    }
    #[inline(always)]
    fn push(&mut self, cluster: u32, bound: Bound<S>) {
        if self.len < BATCH {
            self.clusters[self.len] = cluster;
            self.bounds[self.len] = bound;
            self.len += 1;
        }
    }
}

/// A group's candidates.
struct Candidates<S: Simd> {
    clusters: [u32; BATCH],
    bounds: [Bound<S>; BATCH],
    locals: [V3<S>; BATCH],
    len: usize,
}

/// The nearest triangles so far, group by group.
struct Found {
    squares: [[f32; 8]; GROUPS],
    slots: [[u32; 8]; GROUPS],
    /// From the surface to the centre of each block, and the triangle there.
    blocks: [P; 8],
    block_slots: [u32; 8],
    /// Groups that lie outside the band as a whole.
    far: [bool; GROUPS],
}

/// Everything one brick works with, kept from brick to brick.
pub(super) struct Work<S: Simd> {
    brick: Batch<S>,
    block: Batch<S>,
    group: Candidates<S>,
    found: Found,
}

impl<S: Simd> Work<S> {
    #[inline(always)]
    pub(super) fn new(simd: S) -> Self {
        let batch = Batch::new(simd);
        Self {
            group: Candidates {
                clusters: batch.clusters,
                bounds: batch.bounds,
                locals: [V3::splat(simd, [0.0; 3]); BATCH],
                len: 0,
            },
            brick: batch,
            block: Batch::new(simd),
            found: Found {
                squares: [[f32::MAX; 8]; GROUPS],
                slots: [[0; 8]; GROUPS],
                blocks: [[0.0; 3]; 8],
                block_slots: [0; 8],
                far: [false; GROUPS],
            },
        }
    }
}

/// Offset of one of eight parts from the centre of the whole.
#[inline(always)]
fn part(index: usize, step: f32) -> P {
    let side = |bit: usize| if index >> bit & 1 == 1 { step } else { -step };
    [side(0), side(1), side(2)]
}

#[inline(always)]
fn plus(a: P, b: P) -> P {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// Fills a brick whose lowest node is `low`; `seed` is the triangle nearest to its centre.
#[inline(always)]
pub(super) fn fill<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    work: &mut Work<S>,
    low: P,
    seed: usize,
    out: &mut [f32; BRICK_VALUES],
) {
    const HALF: f32 = BRICK_CELLS as f32 / 2.0;
    let center = plus(low, [HALF; 3]);
    let from = from_point(simd, &frame.surface.clusters[seed / CLUSTER], center);
    let lane = seed % CLUSTER;
    let away = from.away.lane(lane);
    let best = Best { away, reach: HALF };
    work.found.squares.fill([f32::MAX; 8]);
    work.found.far.fill(false);
    work.found.block_slots.fill(seed as u32);
    for (block, known) in work.found.blocks.iter_mut().enumerate() {
        *known = plus(away, part(block, 2.0));
    }
    let [x, y, z] = away;
    let furthest = [x.abs() + HALF, y.abs() + HALF, z.abs() + HALF];
    let limit = dot(furthest, furthest) * 1.000_01 + SLACK;
    let high = plus(low, [BRICK_CELLS as f32; 3]);
    let mut walk = NearBox::new(frame.tree, low, high, limit);
    let keep = Limit::new(simd, &best);
    loop {
        work.brick.len = 0;
        while work.brick.len < BATCH {
            let Some(c) = walk.next(simd, frame.tree, frame.surface) else {
                break;
            };
            let bound = Bound::new(&from_point(simd, &frame.surface.clusters[c], center));
            if keep.keeps(bound.distance, bound.direction).any_true() {
                work.brick.push(c as u32, bound);
            }
        }
        if work.brick.len == 0 {
            break;
        }
        for block in 0..8 {
            fill_block(simd, frame, work, center, block);
        }
        if work.brick.len < BATCH {
            break;
        }
    }
    store(simd, frame, work, center, out);
}

/// The 4x4x4 nodes of one block against the batch.
#[inline(always)]
fn fill_block<S: Simd>(simd: S, frame: &Frame<'_>, work: &mut Work<S>, brick: P, block: usize) {
    let offset = part(block, 2.0);
    let center = plus(brick, offset);
    let offset = V3::splat(simd, offset);
    let reach = 1.5;
    let mut away = work.found.blocks[block];
    let mut square = dot(away, away);
    let limit = Limit::new(simd, &Best { away, reach });
    work.block.len = 0;
    for i in 0..work.brick.len {
        let bound = &work.brick.bounds[i];
        if !limit.keeps(bound.at(offset), bound.direction).any_true() {
            continue;
        }
        let c = work.brick.clusters[i];
        let from = from_point(simd, &frame.surface.clusters[c as usize], center);
        if from.square.simd_lt(square).any_true() {
            let (lane, least) = least(from.square);
            square = least;
            away = from.away.lane(lane);
            work.found.block_slots[block] = c * CLUSTER as u32 + lane as u32;
        }
        work.block.push(c, Bound::new(&from));
    }
    work.found.blocks[block] = away;
    // Once more with the best of the batch.
    let limit = Limit::new(simd, &Best { away, reach });
    let mut kept = 0;
    for i in 0..work.block.len {
        let bound = work.block.bounds[i];
        if limit.keeps(bound.distance, bound.direction).any_true() {
            work.block.clusters[kept] = work.block.clusters[i];
            work.block.bounds[kept] = bound;
            kept += 1;
        }
    }
    work.block.len = kept;
    if kept == 0 {
        return;
    }
    for group in 0..8 {
        if frame.is_closed && measure_far(simd, frame, work, center, block * 8 + group) {
            continue;
        }
        collect_group(simd, frame, work, center, away, group);
        measure_group(simd, frame, work, block * 8 + group);
    }
}

/// From the centre of a group to its nodes.
const GROUP_RADIUS: f32 = 0.8661;

/// Where no triangle of the batch reaches the band around a group, the one with the least bound stands for the nearest.
/// Returns whether that is so.
#[inline(always)]
fn measure_far<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    work: &mut Work<S>,
    block: P,
    group: usize,
) -> bool {
    let offset = part(group % 8, 1.0);
    let at = V3::splat(simd, offset);
    let limit = frame.band + GROUP_RADIUS + SLACK;
    let mut least_so_far = f32x8::splat(simd, f32::MAX);
    let mut clusters = splat_u32(simd, 0);
    for i in 0..work.block.len {
        let bound = work.block.bounds[i].at(at);
        let less = bound.simd_lt(least_so_far);
        least_so_far = less.select(bound, least_so_far);
        clusters = less.select(splat_u32(simd, work.block.clusters[i]), clusters);
    }
    // An earlier batch that reached the band was measured exactly; so must all be, then.
    let known = work.found.squares[group][0] < f32::MAX && !work.found.far[group];
    if known || least_so_far.simd_le(limit).any_true() {
        work.found.far[group] = false;
        return false;
    }
    let (lane, _) = least(least_so_far);
    let c = clusters[lane];
    let cluster = &frame.surface.clusters[c as usize];
    let local = local_point(cluster, lane, plus(block, offset));
    let square = from_nodes(simd, cluster, lane, local, corner_offsets(simd));
    let squares = f32x8::load_array_ref(simd, &work.found.squares[group]);
    let slots = fearless_simd::u32x8::load_array_ref(simd, &work.found.slots[group]);
    let nearer = square.simd_lt(squares);
    let slot = splat_u32(simd, c * CLUSTER as u32 + lane as u32);
    work.found.squares[group] = nearer.select(square, squares).to_array();
    work.found.slots[group] = nearer.select(slot, slots).to_array();
    work.found.far[group] = true;
    true
}

/// Candidates of the 2x2x2 nodes of one group.
#[inline(always)]
fn collect_group<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    work: &mut Work<S>,
    block: P,
    away: P,
    group: usize,
) {
    let offset = part(group, 1.0);
    let center = plus(block, offset);
    let reach = 0.5;
    let known = Best {
        away: plus(away, offset),
        reach,
    };
    let limit = Limit::new(simd, &known);
    let offset = V3::splat(simd, offset);
    let list = &mut work.group;
    list.len = 0;
    for i in 0..work.block.len {
        let bound = &work.block.bounds[i];
        if !limit.keeps(bound.at(offset), bound.direction).any_true() {
            continue;
        }
        let c = work.block.clusters[i];
        let from = from_point(simd, &frame.surface.clusters[c as usize], center);
        list.clusters[list.len] = c;
        list.bounds[list.len] = Bound::new(&from);
        list.locals[list.len] = from.local;
        list.len += 1;
    }
}

/// Exact distances of a group's nodes to the candidates that are left.
#[inline(always)]
fn measure_group<S: Simd>(simd: S, frame: &Frame<'_>, work: &mut Work<S>, group: usize) {
    let list = &work.group;
    // The nearest at the centre gives the others something to be measured against.
    let mut best = (f32::MAX, 0, 0);
    let mut least_so_far = f32x8::splat(simd, f32::MAX);
    for i in 0..list.len {
        let distance = list.bounds[i].distance;
        if distance.simd_lt(least_so_far).any_true() {
            let (lane, least) = least(distance);
            if least < best.0 {
                best = (least, i, lane);
                least_so_far = f32x8::splat(simd, least);
            }
        }
    }
    if list.len == 0 {
        return;
    }
    let direction = &list.bounds[best.1].direction;
    let away = scaled(direction.lane(best.2), best.0);
    let limit = Limit::new(simd, &Best { away, reach: 0.5 });
    let offsets = corner_offsets(simd);
    let mut squares = f32x8::load_array_ref(simd, &work.found.squares[group]);
    let mut slots = fearless_simd::u32x8::load_array_ref(simd, &work.found.slots[group]);
    // The nearest at the centre first: it spares most of the others.
    let mut nearest_first = true;
    let (mut i, mut open) = (best.1, 1_u32 << best.2);
    loop {
        while open != 0 {
            let lane = open.trailing_zeros() as usize;
            open &= open - 1;
            if !nearest_first && !may_be_nearer(simd, &list.bounds[i], lane, offsets, squares) {
                continue;
            }
            let c = list.clusters[i];
            let cluster = &frame.surface.clusters[c as usize];
            let square = from_nodes(simd, cluster, lane, list.locals[i].lane(lane), offsets);
            let slot = splat_u32(simd, c * CLUSTER as u32 + lane as u32);
            // The lowest of equals, whatever the order.
            let nearer = square.simd_lt(squares) | (square.simd_eq(squares) & slot.simd_lt(slots));
            squares = nearer.select(square, squares);
            slots = nearer.select(slot, slots);
        }
        i = if nearest_first { 0 } else { i + 1 };
        nearest_first = false;
        if i >= list.len {
            break;
        }
        let bound = &list.bounds[i];
        open = limit.keeps(bound.distance, bound.direction).to_bitmask() as u32;
        if i == best.1 {
            open &= !(1 << best.2);
        }
    }
    work.found.squares[group] = squares.to_array();
    work.found.slots[group] = slots.to_array();
}

/// Whether the bound of one triangle is below what some node of the group has.
#[inline(always)]
fn may_be_nearer<S: Simd>(
    simd: S,
    bound: &Bound<S>,
    lane: usize,
    offsets: V3<S>,
    squares: f32x8<S>,
) -> bool {
    let d = &bound.direction;
    let one = Bound {
        distance: f32x8::splat(simd, bound.distance[lane]),
        direction: V3::splat(simd, d.lane(lane)),
    };
    let least = one.at(offsets) - SLACK;
    (least * least.abs()).simd_le(squares).any_true()
}

/// From the centre of a block to the furthest of its nodes, and a little more.
const BLOCK_RADIUS: f32 = 2.6;

/// Roots, signs, and into place.
#[inline(always)]
fn store<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    work: &Work<S>,
    brick: P,
    out: &mut [f32; BRICK_VALUES],
) {
    let offsets = corner_offsets(simd);
    let zero = f32x8::splat(simd, 0.0);
    let still = V3::splat(simd, [0.0; 3]);
    for block in 0..8 {
        let block_center = plus(brick, part(block, 2.0));
        let away = work.found.blocks[block];
        // Where no closed surface comes near, all nodes are on the same side.
        let one_side = frame.is_closed && dot(away, away) > BLOCK_RADIUS * BLOCK_RADIUS;
        let mut inside = mask32x8::splat(simd, false);
        for group in 0..8 {
            let g = block * 8 + group;
            let center = plus(block_center, part(group, 1.0));
            if !one_side && work.found.far[g] {
                let slots = [work.found.block_slots[block]; 8];
                let middle = signs(simd, frame, &slots, block_center, still);
                inside = mask32x8::splat(simd, middle.test(0));
            } else if !one_side {
                inside = signs(simd, frame, &work.found.slots[g], center, offsets);
            } else if group == 0 {
                let slots = [work.found.block_slots[block]; 8];
                let middle = signs(simd, frame, &slots, block_center, still);
                inside = mask32x8::splat(simd, middle.test(0));
            }
            let distance = f32x8::load_array_ref(simd, &work.found.squares[g]).sqrt();
            let values = inside.select(zero - distance, distance).to_array();
            scatter(block, group, &values, out);
        }
    }
}

#[inline(always)]
fn signs<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    slots: &[u32; 8],
    center: P,
    offsets: V3<S>,
) -> mask32x8<S> {
    match frame.winding {
        Some(winding) => is_inside(simd, frame, winding, center, offsets),
        None => behind_nearest(simd, frame, slots, center, offsets),
    }
}

/// A group's values to their places in the brick.
#[inline(always)]
fn scatter(block: usize, group: usize, values: &[f32; 8], out: &mut [f32; BRICK_VALUES]) {
    let x = 4 * (block & 1) + 2 * (group & 1);
    let y = 4 * (block >> 1 & 1) + 2 * (group >> 1 & 1);
    let z = 4 * (block >> 2) + 2 * (group >> 2);
    let base = x + 8 * y + 64 * z;
    for (lane, value) in values.iter().enumerate() {
        out[base + (lane & 1) + 8 * (lane >> 1 & 1) + 64 * (lane >> 2)] = *value;
    }
}

/// Signs of a group, once for each triangle that is nearest to one of its nodes.
#[inline(always)]
pub(super) fn behind_nearest<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    slots: &[u32; 8],
    center: P,
    offsets: V3<S>,
) -> mask32x8<S> {
    let all = fearless_simd::u32x8::load_array_ref(simd, slots);
    let mut inside = mask32x8::splat(simd, false);
    let mut open = 0xff_u32;
    while open != 0 {
        let slot = slots[open.trailing_zeros() as usize];
        let mine = all.simd_eq(splat_u32(simd, slot));
        open &= !(mine.to_bitmask() as u32);
        let triangle = (slot as usize).min(frame.triangle_count - 1);
        inside |= mine & behind(simd, &frame.signs, triangle, center, offsets);
    }
    inside
}
