//! Values of one brick: from the brick to its eight blocks of 4x4x4 nodes to their eight groups of 2x2x2, dropping at each step the
//! triangles that no node of the block can be nearest to. What is left for a group (some eight triangles) is measured exactly.
//!
//! 1. The caller gives the triangle nearest to the centre of the brick. Its distances from the centres of the blocks limit the walk through
//!    the tree of boxes, which yields clusters of eight triangles, in batches of 128 clusters.
//! 2. Brick, then block, then group: each cluster is measured from the centre, eight triangles at once. That gives a lower bound `d + o .
//!    u` of each triangle's distance from any node at offset `o` (`simd.rs`). The nearest triangle so far, at distance `L` in direction
//!    `v`, gives an upper bound: `L + o . v + |o|^2 / (2 L)`. With nodes at most `r` away along each axis, a triangle goes if `d - r |u -
//!    v|_1 > L + 1.5 r^2 / L`. If `L` is below `r`, the distance to the furthest node takes the place of the right side.
//! 3. Group: one triangle at a time is measured from all eight nodes, the nearest to the centre first, since it excludes most others. Of
//!    equal distances the lowest triangle wins, so that the order does not matter.
//! 4. Signs: of nodes that the surface cannot separate from the centre of their block, one for all of them; otherwise each node's own, from
//!    the pseudonormal at its nearest triangle or from winding numbers.
//!
//! Groups of a closed surface that lie outside the band as a whole are not measured exactly: the better of two likely triangles gives their
//! distances, which are never below the exact ones.

use super::columns::{Columns, sign};
use super::field::{BRICK_CELLS, BRICK_VALUES};
use super::simd::{
    Best, Bound, Limit, SLACK, Signs, behind, corner_offsets, from_nodes, from_point, from_points,
    least, local_point, splat_u32,
};
use super::surface::Surface;
use super::tree::{CLUSTER, TreeShape};
use super::triangle::{P, dot};
use super::walk::NearBox;
use super::winding::{Winding, is_inside};
use crate::simd_vector::V3;
use fearless_simd::{Simd, f32x8, mask32x8, prelude::*};
use fearless_simd_macros::simd;
use sinew_geom::vec3::add;

/// Clusters that are looked at in one go. Any number of them comes in batches, as the least of all is the least of
/// the batches' least.
const BATCH: usize = 128;
/// Groups of eight nodes in a brick.
const GROUPS: usize = 64;

/// What all bricks of a frame share.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) tree: &'a TreeShape,
    pub(super) surface: &'a Surface,
    pub(super) signs: Signs<'a>,
    /// Where signs come from winding numbers: of open surfaces, and of closed ones.
    pub(super) winding: Option<&'a Winding>,
    pub(super) columns: Option<&'a Columns>,
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
            direction: V3::all(simd, [0.0; 3]),
        };
        Self {
            clusters: [0; BATCH],
            bounds: [none; BATCH],
            len: 0,
        }
    }
    #[inline(always)]
    fn put(&mut self, place: usize, cluster: u32, bound: Bound<S>) {
        self.clusters[place] = cluster;
        self.bounds[place] = bound;
    }
}

/// A group's candidates.
struct Candidates<S: Simd> {
    clusters: [u32; BATCH],
    bounds: [Bound<S>; BATCH],
    locals: [V3<S>; BATCH],
    len: usize,
    /// Triangles that are left to be measured: places in the lists above, times eight, plus the lane.
    open: [u32; BATCH * CLUSTER],
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
    /// Places in a batch that are looked at next.
    places: [u32; BATCH],
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
                locals: [V3::all(simd, [0.0; 3]); BATCH],
                len: 0,
                open: [0; BATCH * CLUSTER],
            },
            brick: batch,
            places: [0; BATCH],
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
    let center = add(low, [HALF; 3]);
    let from = from_point(simd, &frame.surface.clusters[seed / CLUSTER], center);
    let away = from.away.lane(seed % CLUSTER);
    let best = Best { away, reach: HALF };
    work.found.squares.fill([f32::MAX; 8]);
    work.found.far.fill(false);
    let furthest = guess_blocks(simd, frame, &mut work.found, center, seed) + BLOCK_RADIUS;
    let limit = furthest * furthest + SLACK;
    let high = add(low, [BRICK_CELLS as f32; 3]);
    let mut walk = NearBox::new(frame.tree, low, high, limit);
    let keep = Limit::new(simd, &best);
    loop {
        let seen = collect_clusters(simd, frame, &mut walk, &mut work.places);
        keep_clusters(simd, frame, work, center, &keep, seen);
        for block in 0..8 {
            fill_block(simd, frame, work, center, block);
        }
        if seen < BATCH {
            break;
        }
    }
    store(simd, frame, work, center, out);
    if let Some(columns) = frame.columns {
        sign(simd, frame, columns, low, out);
    }
}

/// From the triangle that is nearest to the centre of a brick to the centres of its blocks: a first guess for each. Returns
/// the largest distance.
#[inline(always)]
fn guess_blocks<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    found: &mut Found,
    center: P,
    seed: usize,
) -> f32 {
    let offsets = corner_offsets(simd) * f32x8::splat(simd, 4.0);
    let cluster = &frame.surface.clusters[seed / CLUSTER];
    let from = from_points(simd, cluster, seed % CLUSTER, center, offsets);
    found.block_slots.fill(seed as u32);
    let mut furthest = 0.0_f32;
    for (block, known) in found.blocks.iter_mut().enumerate() {
        *known = from.away.lane(block);
        furthest = furthest.max(dot(*known, *known));
    }
    furthest.sqrt()
}

/// The next clusters of a walk. Returns how many.
#[inline(always)]
fn collect_clusters<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    walk: &mut NearBox,
    clusters: &mut [u32; BATCH],
) -> usize {
    let mut len = 0;
    while len < BATCH {
        let Some(c) = walk.next(simd, frame.tree, frame.surface) else {
            break;
        };
        clusters[len] = c as u32;
        len += 1;
    }
    len
}

/// Bounds at the centre of a brick, of the clusters that may be near.
#[simd]
fn keep_clusters<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    work: &mut Work<S>,
    center: P,
    limit: &Limit<S>,
    seen: usize,
) {
    let mut kept = 0;
    for &c in &work.places[..seen] {
        let bound = Bound::new(&from_point(
            simd,
            &frame.surface.clusters[c as usize],
            center,
        ));
        work.brick.put(kept, c, bound);
        kept += usize::from(limit.keeps(bound.distance, bound.direction).any_true());
    }
    work.brick.len = kept;
}

/// Places of the batch whose triangles may be near, seen from an offset. Nothing branches on what is unpredictable.
#[inline(always)]
fn keep_places<S: Simd>(
    batch: &Batch<S>,
    limit: &Limit<S>,
    offset: V3<S>,
    places: &mut [u32; BATCH],
) -> usize {
    let mut kept = 0;
    for (i, bound) in batch.bounds[..batch.len].iter().enumerate() {
        places[kept] = i as u32;
        kept += usize::from(limit.keeps(bound.at(offset), bound.direction).any_true());
    }
    kept
}

/// The least of what was seen so far, lane by lane.
struct Least<S: Simd> {
    values: f32x8<S>,
    away: V3<S>,
    places: fearless_simd::u32x8<S>,
}

impl<S: Simd> Least<S> {
    #[inline(always)]
    fn new(simd: S) -> Self {
        Self {
            values: f32x8::splat(simd, f32::MAX),
            away: V3::all(simd, [0.0; 3]),
            places: splat_u32(simd, 0),
        }
    }
    #[inline(always)]
    fn take(&mut self, simd: S, values: f32x8<S>, away: &V3<S>, place: u32) {
        let less = values.simd_lt(self.values);
        self.values = less.select(values, self.values);
        self.away.x = less.select(away.x, self.away.x);
        self.away.y = less.select(away.y, self.away.y);
        self.away.z = less.select(away.z, self.away.z);
        self.places = less.select(splat_u32(simd, place), self.places);
    }
}

/// Looks at what was nearest to the block beside: a first guess that spares most of the batch.
#[inline(always)]
fn approach<S: Simd>(simd: S, frame: &Frame<'_>, found: &mut Found, center: P, block: usize) {
    let c = found.block_slots[block & block.saturating_sub(1)] as usize / CLUSTER;
    let from = from_point(simd, &frame.surface.clusters[c], center);
    let (lane, square) = least(from.square);
    let away = found.blocks[block];
    if square < dot(away, away) {
        found.blocks[block] = from.away.lane(lane);
        found.block_slots[block] = (c * CLUSTER + lane) as u32;
    }
}

/// Reach of a block's nodes from its centre along an axis.
const BLOCK_REACH: f32 = 1.5;

/// Measures from the centre of a block what of the batch may be near, and keeps the clusters that may hold the nearest of
/// some node.
#[simd]
fn keep_near<S: Simd>(simd: S, frame: &Frame<'_>, work: &mut Work<S>, center: P, block: usize) {
    let reach = BLOCK_REACH;
    let away = work.found.blocks[block];
    let limit = Limit::new(simd, &Best { away, reach });
    let offset = V3::all(simd, part(block, 2.0));
    let kept = keep_places(&work.brick, &limit, offset, &mut work.places);
    let mut nearest = Least::new(simd);
    for (n, &place) in work.places[..kept].iter().enumerate() {
        let c = work.brick.clusters[place as usize];
        let from = from_point(simd, &frame.surface.clusters[c as usize], center);
        nearest.take(simd, from.square, &from.away, c);
        work.block.put(n, c, Bound::new(&from));
    }
    let (lane, square) = least(nearest.values);
    if square < dot(away, away) {
        work.found.blocks[block] = nearest.away.lane(lane);
        work.found.block_slots[block] = nearest.places[lane] * CLUSTER as u32 + lane as u32;
    }
    // Once more with the best of the batch.
    let away = work.found.blocks[block];
    let limit = Limit::new(simd, &Best { away, reach });
    let mut left = 0;
    for i in 0..kept {
        let (c, bound) = (work.block.clusters[i], work.block.bounds[i]);
        work.block.put(left, c, bound);
        left += usize::from(limit.keeps(bound.distance, bound.direction).any_true());
    }
    work.block.len = left;
}

/// The 4x4x4 nodes of one block against the batch.
#[inline(always)]
fn fill_block<S: Simd>(simd: S, frame: &Frame<'_>, work: &mut Work<S>, brick: P, block: usize) {
    let center = add(brick, part(block, 2.0));
    approach(simd, frame, &mut work.found, center, block);
    keep_near(simd, frame, work, center, block);
    if work.block.len == 0 {
        return;
    }
    let away = work.found.blocks[block];
    let guess = guess_groups(simd, frame, &work.found, center, block);
    // Near the surface no group can lie outside the band.
    let may_be_far = frame.is_closed && dot(away, away) > near_block(frame.band);
    for group in 0..8 {
        if may_be_far && measure_far(simd, frame, work, center, block * 8 + group) {
            continue;
        }
        work.found.far[block * 8 + group] = false;
        let nearest = collect_group(simd, frame, work, center, guess.lane(group), group);
        measure_group(simd, frame, work, block * 8 + group, nearest);
    }
}

/// From the triangle that is nearest to the centre of a block to the centres of its groups: a first guess for each.
#[inline(always)]
fn guess_groups<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    found: &Found,
    center: P,
    block: usize,
) -> V3<S> {
    let offsets = corner_offsets(simd) * f32x8::splat(simd, 2.0);
    let slot = found.block_slots[block] as usize;
    let cluster = &frame.surface.clusters[slot / CLUSTER];
    from_points(simd, cluster, slot % CLUSTER, center, offsets).away
}

/// From the centre of a group to its nodes.
const GROUP_RADIUS: f32 = 0.8661;

/// Squared distance of a block's centre up to which each of its groups reaches into the band.
#[inline(always)]
fn near_block(band: f32) -> f32 {
    // The centre of a group is 1.7321 from that of its block.
    let distance = (band + GROUP_RADIUS - 1.7321).max(0.0);
    distance * distance
}

/// Where no triangle of the batch reaches the band around a group, the one with the least bound and the one nearest to the centre
/// of the block stand for the nearest.
/// Returns whether that is so.
#[simd]
fn measure_far<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    work: &mut Work<S>,
    block: P,
    group: usize,
) -> bool {
    let offset = part(group % 8, 1.0);
    let at = V3::all(simd, offset);
    // An earlier batch that reached the band was measured exactly; so must all be, then.
    let known = work.found.squares[group][0] < f32::MAX && !work.found.far[group];
    let mut lowest = f32x8::splat(simd, f32::MAX);
    for bound in &work.block.bounds[..work.block.len] {
        lowest = lowest.min(bound.at(at));
    }
    if known || lowest.simd_le(frame.band + GROUP_RADIUS + SLACK).any_true() {
        return false;
    }
    let (lane, lowest) = least(lowest);
    let mut place = 0;
    while place + 1 < work.block.len && work.block.bounds[place].at(at)[lane] > lowest {
        place += 1;
    }
    let slot = work.block.clusters[place] * CLUSTER as u32 + lane as u32;
    let center = add(block, offset);
    measure_at(simd, frame, &mut work.found, group, center, slot);
    let slot = work.found.block_slots[group / 8];
    measure_at(simd, frame, &mut work.found, group, center, slot);
    work.found.far[group] = true;
    true
}

/// Measures one triangle from the nodes of a group.
#[inline(always)]
fn measure_at<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    found: &mut Found,
    group: usize,
    center: P,
    slot: u32,
) {
    let (c, lane) = (slot as usize / CLUSTER, slot as usize % CLUSTER);
    let cluster = &frame.surface.clusters[c];
    let local = local_point(cluster, lane, center);
    let square = from_nodes(simd, cluster, lane, local, corner_offsets(simd));
    let squares = f32x8::load_array_ref(simd, &found.squares[group]);
    let slots = fearless_simd::u32x8::load_array_ref(simd, &found.slots[group]);
    let nearer = square.simd_lt(squares);
    found.squares[group] = nearer.select(square, squares).to_array();
    found.slots[group] = nearer.select(splat_u32(simd, slot), slots).to_array();
}

/// Candidates of the 2x2x2 nodes of one group.
#[simd]
fn collect_group<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    work: &mut Work<S>,
    block: P,
    away: P,
    group: usize,
) -> (usize, P) {
    let offset = part(group, 1.0);
    let center = add(block, offset);
    let reach = 0.5;
    let known = Best { away, reach };
    let limit = Limit::new(simd, &known);
    let kept = keep_places(&work.block, &limit, V3::all(simd, offset), &mut work.places);
    let list = &mut work.group;
    let mut nearest = Least::new(simd);
    for (n, &place) in work.places[..kept].iter().enumerate() {
        let c = work.block.clusters[place as usize];
        let from = from_point(simd, &frame.surface.clusters[c as usize], center);
        let bound = Bound::new(&from);
        nearest.take(simd, from.square, &from.away, n as u32);
        list.clusters[n] = c;
        list.bounds[n] = bound;
        list.locals[n] = from.local;
    }
    list.len = kept;
    let (lane, _) = least(nearest.values);
    (
        nearest.places[lane] as usize * CLUSTER + lane,
        nearest.away.lane(lane),
    )
}

/// Exact distances of a group's nodes to the candidates that are left; `first` is the nearest to the centre, `away` from it.
#[simd]
fn measure_group<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    work: &mut Work<S>,
    group: usize,
    (first, away): (usize, P),
) {
    if work.group.len == 0 {
        return;
    }
    let list = &mut work.group;
    let limit = Limit::new(simd, &Best { away, reach: 0.5 });
    let offsets = corner_offsets(simd);
    let mut squares = f32x8::load_array_ref(simd, &work.found.squares[group]);
    let mut slots = fearless_simd::u32x8::load_array_ref(simd, &work.found.slots[group]);
    // The nearest at the centre first: it spares most of the others.
    measure(simd, frame, list, first, offsets, &mut squares, &mut slots);
    let mut kept = 0;
    for i in 0..list.len {
        let bound = &list.bounds[i];
        let mut open = limit.keeps(bound.distance, bound.direction).to_bitmask() as u32;
        while open != 0 {
            let lane = open.trailing_zeros() as usize;
            open &= open - 1;
            list.open[kept] = (i * CLUSTER + lane) as u32;
            let again = list.open[kept] as usize == first;
            kept += usize::from(!again & may_be_nearer(simd, bound, lane, offsets, squares));
        }
    }
    for n in 0..kept {
        let place = list.open[n] as usize;
        measure(simd, frame, list, place, offsets, &mut squares, &mut slots);
    }
    work.found.squares[group] = squares.to_array();
    work.found.slots[group] = slots.to_array();
}

/// Measures one triangle of a group's list.
#[inline(always)]
fn measure<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    list: &Candidates<S>,
    place: usize,
    offsets: V3<S>,
    squares: &mut f32x8<S>,
    slots: &mut fearless_simd::u32x8<S>,
) {
    let (i, lane) = (place / CLUSTER, place % CLUSTER);
    let c = list.clusters[i];
    let cluster = &frame.surface.clusters[c as usize];
    let square = from_nodes(simd, cluster, lane, list.locals[i].lane(lane), offsets);
    let slot = splat_u32(simd, c * CLUSTER as u32 + lane as u32);
    // The lowest of equals, whatever the order.
    let nearer = square.simd_lt(*squares) | (square.simd_eq(*squares) & slot.simd_lt(*slots));
    *squares = nearer.select(square, *squares);
    *slots = nearer.select(slot, *slots);
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
        direction: V3::all(simd, d.lane(lane)),
    };
    let least = one.at(offsets) - SLACK;
    (least * least.abs()).simd_le(squares).any_true()
}

/// From the centre of a block to the furthest of its nodes, and a little more.
const BLOCK_RADIUS: f32 = 2.6;

/// Roots, signs, and into place.
#[simd]
fn store<S: Simd>(
    simd: S,
    frame: &Frame<'_>,
    work: &Work<S>,
    brick: P,
    out: &mut [f32; BRICK_VALUES],
) {
    let offsets = corner_offsets(simd);
    let zero = f32x8::splat(simd, 0.0);
    let still = V3::all(simd, [0.0; 3]);
    for block in 0..8 {
        let block_center = add(brick, part(block, 2.0));
        let mut middle = None;
        for group in 0..8 {
            let g = block * 8 + group;
            let with_middle = is_with_middle(frame, &work.found, block, group);
            let inside = match middle {
                // Signs come later.
                _ if frame.columns.is_some() => mask32x8::splat(simd, false),
                Some(known) if with_middle => known,
                _ if with_middle => {
                    let slots = [work.found.block_slots[block]; 8];
                    let all = signs(simd, frame, &slots, block_center, still);
                    let known = mask32x8::splat(simd, all.test(0));
                    middle = Some(known);
                    known
                }
                _ => {
                    let center = add(block_center, part(group, 1.0));
                    signs(simd, frame, &work.found.slots[g], center, offsets)
                }
            };
            let distance = f32x8::load_array_ref(simd, &work.found.squares[g]).sqrt();
            let values = inside.select(zero - distance, distance).to_array();
            scatter(block, group, &values, out);
        }
    }
}

/// Whether a closed surface cannot come between the nodes of a group and the centre of its block.
#[inline(always)]
fn is_with_middle(frame: &Frame<'_>, found: &Found, block: usize, group: usize) -> bool {
    let away = found.blocks[block];
    let g = block * 8 + group;
    if !frame.is_closed {
        false
    } else if found.far[g] || dot(away, away) > BLOCK_RADIUS * BLOCK_RADIUS {
        true
    } else {
        // Pseudonormals of a surface that cuts itself disagree in places without a surface between them, winding
        // numbers do not.
        frame.winding.is_some() && sees_middle(&found.squares[g], group)
    }
}

/// Whether one node of a group is so far from the surface that none comes between it and the others, and the one next to
/// the centre of the block so far that none comes between these two.
#[inline(always)]
fn sees_middle(squares: &[f32; 8], group: usize) -> bool {
    let furthest = squares.iter().fold(0.0_f32, |m, &s| m.max(s));
    furthest > 3.01 && squares[7 - group] > 1.0
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
        inside |= mine & behind(simd, &frame.signs, triangle, center, offsets, mine);
    }
    inside
}
