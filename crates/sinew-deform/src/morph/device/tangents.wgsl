fn tangent_delta(at: u32) -> vec3f {
    return read_tangent_deltas(at);
}
