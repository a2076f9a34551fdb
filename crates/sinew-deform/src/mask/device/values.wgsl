fn source(index: u32) -> f32 {
    return read_values(index);
}
