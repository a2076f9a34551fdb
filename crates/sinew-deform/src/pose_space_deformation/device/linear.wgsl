fn influence_at(squared: f32, rate: f32) -> f32 {
    return max(1.0 - rate * sqrt(squared), 0.0);
}
