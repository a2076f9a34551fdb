//! Smoothing as the formula says, generic over precision.

use super::{Layout, Row};
use sinew_geom::{Real, Vec3};

/// The point of each slot: the mean of its vertices. `positions` has one position per vertex.
pub fn gather<R: Real>(layout: &Layout, positions: &[[f32; 3]]) -> Vec<Vec3<R>> {
    (0..layout.slot_count())
        .map(|s| {
            let members = layout.members(s);
            let first = R::vec3(positions[members[0] as usize]);
            // Relative to the first, so that equal positions give exactly that position.
            let sum = members.iter().fold(Vec3::zeros(), |sum, &v| {
                sum + (R::vec3(positions[v as usize]) - first)
            });
            first + sum / R::from_double(members.len() as f64)
        })
        .collect()
}

/// Where one pass brings the point of a row.
pub(crate) fn smooth_row<R: Real>(
    layout: &Layout,
    row: &Row<'_>,
    points: &[Vec3<R>],
    step: f64,
) -> Vec3<R> {
    let own = points[row.slot];
    if row.neighbours.is_empty() {
        return own;
    }
    let step = R::from_double(step);
    let at = |n: u32| points[n as usize];
    let mean = if row.weights.is_empty() {
        let sum: Vec3<R> = row.neighbours.iter().fold(Vec3::zeros(), |s, &n| s + at(n));
        let n = R::from_double(row.neighbours.len() as f64);
        if layout.counts_itself() {
            (sum + own) / (n + R::one())
        } else {
            sum / n
        }
    } else {
        row.neighbours
            .iter()
            .zip(row.weights)
            .fold(Vec3::zeros(), |s, (&n, &w)| s + at(n) * R::from_single(w))
    };
    own * (R::one() - step) + mean * step
}

/// One pass over all slots.
pub(crate) fn smooth_once<R: Real>(layout: &Layout, points: &[Vec3<R>], step: f64) -> Vec<Vec3<R>> {
    let mut out = points.to_vec();
    for row in layout.rows() {
        out[row.slot] = smooth_row(layout, &row, points, step);
    }
    out
}

/// This number of passes over all slots. `points` has one point per slot. Allocates in each pass.
pub fn smooth<R: Real>(
    layout: &Layout,
    points: &[Vec3<R>],
    step: f64,
    iterations: u32,
) -> Vec<Vec3<R>> {
    let mut points = points.to_vec();
    for _ in 0..iterations {
        points = smooth_once(layout, &points, step);
    }
    points
}

/// The result for a vertex: from `input` towards `target`, the smoothed point of its slot, by `weight`. Where vertices of a slot lie apart
/// at rest, they keep their offsets: each moves as its slot does, from the mean `from`.
pub fn place<R: Real>(
    layout: &Layout,
    input: Vec3<R>,
    from: Vec3<R>,
    target: Vec3<R>,
    weight: R,
) -> Vec3<R> {
    if layout.keeps_offsets() {
        input + (target - from) * weight
    } else {
        input * (R::one() - weight) + target * weight
    }
}
