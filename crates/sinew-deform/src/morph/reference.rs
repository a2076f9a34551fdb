//! The sum of one vertex, generic over precision. Also the CPU kernel: it is bound by memory as it is.

use super::bind::Delta;
use sinew_geom::{Real, Vec3};

/// `base + Σ w Δ`, or `None` where no weighted delta applies.
pub(crate) fn add_deltas<R: Real>(
    base: [f32; 3],
    row: &[Delta],
    weights: &[f32],
    scale: R,
    pick: impl Fn(&Delta) -> [f32; 3],
) -> Option<Vec3<R>> {
    let mut sum = Vec3::zeros();
    let mut any = false;
    for d in row {
        let w = weights[d.target as usize];
        if w != 0.0 {
            sum += R::vec3(pick(d)) * R::from_single(w);
            any = true;
        }
    }
    any.then(|| R::vec3(base) + sum * scale)
}

/// The same, normalised; the base where nothing applies or the sum has no length.
pub(crate) fn add_directions<R: Real>(
    base: [f32; 3],
    row: &[Delta],
    weights: &[f32],
    scale: R,
    pick: impl Fn(&Delta) -> [f32; 3],
) -> [f32; 3] {
    add_deltas(base, row, weights, scale, pick)
        .and_then(|v| v.try_normalize(R::from_double(1e-12)))
        .map_or(base, R::array3)
}
