//! What one morph target weighs: mixtures, and piecewise linear weights along the way to another.

/// Sum of the weights, each times its coefficient, in their order.
pub(super) fn mixture(coefficients: &[f32], weights: &[f32]) -> f32 {
    let pairs = coefficients.iter().zip(weights);
    pairs.fold(0.0, |sum, (c, w)| sum + c * w)
}

/// Weight of a shape that is full at the middle knot and gone at both others, where the parent's weight is `x`.
pub(super) fn in_between(x: f32, [before, at, after]: [f32; 3]) -> f32 {
    let rising = (x - before) / (at - before);
    let falling = (after - x) / (after - at);
    rising.min(falling).max(0.0)
}

/// What is left to the parent, whose last in-between is full at `last`: it rises from there and goes on above 1.
pub(super) fn rest_of_parent(x: f32, last: f32) -> f32 {
    ((x - last) / (1.0 - last)).max(0.0)
}
