fn influence_at(squared: f32, rate: f32) -> f32 {
    return exponential(-(rate * sqrt(squared)));
}
