fn source(index: u32) -> f32 {
    return uniforms().value;
}
