//! Joins points within a tolerance, in near-linear time for any tolerance: single linkage, as a union of all pairs whose distance is at
//! most the tolerance.
//!
//! 1. Points go into a hash grid of cells with a diagonal just below the tolerance. All points of one cell are close and are joined without
//!    a test.
//! 2. For each cell and each of the 62 others within reach on one side (half of the 5x5x5 neighbours), only one question is left: whether
//!    the two cells have a close pair. Cells that are joined already are skipped.
//! 3. A pair of cells is decided by bounding boxes. If these do not decide, the larger side is split at its median, down to eight points
//!    each, which are compared one by one.
//!
//! Distances are computed in double precision. Points with NaN or infinite coordinates stay alone. The representative of a set is its
//! lowest index.

use super::find;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Cell coordinates; floating point, so that they neither overflow nor saturate. Beyond 2^53 a step of one is
/// absorbed, but there different single precision coordinates are more than a few cells apart.
type Cell = [u64; 3];

/// Points of a cell that are left for brute force.
const FEW: usize = 8;

pub(super) fn join(positions: &[[f32; 3]], tolerance: f32, parent: &mut [u32]) {
    // A hair below tolerance / sqrt(3), more than the rounding of cell coordinates can add.
    let size = f64::from(tolerance) / 3.0_f64.sqrt() * (1.0 - 1e-6);
    let limit = f64::from(tolerance) * f64::from(tolerance);
    let coordinates = |p: &[f32; 3]| p.map(|c| (f64::from(c) / size).floor());
    let mut cell_of: HashMap<Cell, usize, BuildHasherDefault<Mix>> =
        HashMap::with_capacity_and_hasher(positions.len(), BuildHasherDefault::default());
    let mut cells: Vec<([f64; 3], Vec<u32>)> = Vec::new();
    for (v, p) in (0_u32..).zip(positions) {
        let at = coordinates(p);
        if !at.iter().all(|c| c.is_finite()) {
            continue;
        }
        let index = *cell_of.entry(key(at)).or_insert_with(|| {
            cells.push((at, Vec::new()));
            cells.len() - 1
        });
        cells[index].1.push(v);
    }
    for (_, points) in &cells {
        for pair in points.windows(2) {
            unite(parent, pair[0], pair[1]);
        }
    }
    for index in 0..cells.len() {
        for offset in half_neighbourhood() {
            let at = cells[index].0;
            let other = [at[0] + offset[0], at[1] + offset[1], at[2] + offset[2]];
            let Some(&other) = cell_of.get(&key(other)).filter(|&&o| o != index) else {
                continue;
            };
            let (a, b) = (cells[index].1[0], cells[other].1[0]);
            if find(parent, a) == find(parent, b) {
                continue;
            }
            if let Ok([x, y]) = cells.get_disjoint_mut([index, other])
                && any_close(positions, limit, &mut x.1, &mut y.1)
            {
                unite(parent, a, b);
            }
        }
    }
}

fn key(at: [f64; 3]) -> Cell {
    // Adding zero turns -0.0 into 0.0.
    at.map(|c| (c + 0.0).to_bits())
}

fn unite(parent: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(parent, a), find(parent, b));
    parent[a.max(b) as usize] = a.min(b);
}

/// One of each two opposite offsets within the reach of a tolerance, which is less than two cells.
fn half_neighbourhood() -> impl Iterator<Item = [f64; 3]> {
    (63..125_u8).map(|i| [i / 25, i / 5 % 5, i % 5].map(|c| f64::from(c) - 2.0))
}

/// Whether a point of `a` is close to one of `b`. Reorders both.
fn any_close(positions: &[[f32; 3]], limit: f64, a: &mut [u32], b: &mut [u32]) -> bool {
    let (box_a, box_b) = (bounds(positions, a), bounds(positions, b));
    let gap2: f64 = (0..3)
        .map(|c| {
            let gap = (box_a.0[c] - box_b.1[c]).max(box_b.0[c] - box_a.1[c]);
            gap.max(0.0).powi(2)
        })
        .sum();
    // The gap is rounded like the distances are, and no distance is below it.
    if gap2 > limit {
        return false;
    }
    if a.len() <= FEW && b.len() <= FEW {
        return a
            .iter()
            .any(|&v| b.iter().any(|&w| distance2(positions, v, w) <= limit));
    }
    if distance2(positions, a[0], b[0]) <= limit {
        return true;
    }
    let (large, small, extent) = if a.len() >= b.len() {
        (a, b, box_a)
    } else {
        (b, a, box_b)
    };
    let axis = (0..3)
        .max_by(|&x, &y| (extent.1[x] - extent.0[x]).total_cmp(&(extent.1[y] - extent.0[y])))
        .unwrap_or(0);
    let middle = large.len() / 2;
    let coordinate = |v: &u32| positions[*v as usize][axis];
    large.select_nth_unstable_by(middle, |v, w| coordinate(v).total_cmp(&coordinate(w)));
    let (left, right) = large.split_at_mut(middle);
    any_close(positions, limit, left, small) || any_close(positions, limit, right, small)
}

fn distance2(positions: &[[f32; 3]], v: u32, w: u32) -> f64 {
    let (p, q) = (positions[v as usize], positions[w as usize]);
    (0..3)
        .map(|c| (f64::from(p[c]) - f64::from(q[c])).powi(2))
        .sum()
}

fn bounds(positions: &[[f32; 3]], points: &[u32]) -> ([f64; 3], [f64; 3]) {
    let start = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    points.iter().fold(start, |(lo, hi), &v| {
        let p = positions[v as usize].map(f64::from);
        (
            std::array::from_fn(|c| lo[c].min(p[c])),
            std::array::from_fn(|c| hi[c].max(p[c])),
        )
    })
}

/// A cheap hash: 62 look-ups a cell must not cost more than the geometry.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for w in words {
            self.write_u64(u64::from_ne_bytes(*w));
        }
        for &b in rest {
            self.write_u64(u64::from(b));
        }
    }
    fn write_u64(&mut self, v: u64) {
        // Cell coordinates differ in high bits only; the multiplication carries upwards, the rotation brings down.
        let mixed = (self.0 ^ v.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed.rotate_left(29);
    }
    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}
