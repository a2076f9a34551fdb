// The quadratic Bezier curve through (0, 0) and (1, 1) with the middle control point (m, 1 - m), as a function of its first
// coordinate.

// The root of the discriminant at u: it runs from m to 1 - m, and the slope of the curve is (1 - sigma) / sigma.
fn bezier_sigma(m: f32, u: f32) -> f32 {
    return sqrt(max(u * (1.0 - 2.0 * m) + m * m, 0.0));
}

// Height at u from its sigma. The root t = u / (m + sigma) has no cancellation, near 1/2 or elsewhere.
fn bezier_height(m: f32, u: f32, sigma: f32) -> f32 {
    let t = u / max(m + sigma, 1e-30);
    return t * (t + 2.0 * (1.0 - t) * (1.0 - m));
}
