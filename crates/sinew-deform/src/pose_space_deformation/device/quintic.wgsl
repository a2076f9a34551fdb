fn influence_at(squared: f32, rate: f32) -> f32 {
    let x = rate * sqrt(squared);
    let square = x * x;
    return max(1.0 - square * square * x, 0.0);
}
