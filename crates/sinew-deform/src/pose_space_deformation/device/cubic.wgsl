fn influence_at(squared: f32, rate: f32) -> f32 {
    let x = rate * sqrt(squared);
    return max(1.0 - x * x * x, 0.0);
}
