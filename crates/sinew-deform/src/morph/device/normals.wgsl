fn normal_delta(at: u32) -> vec3f {
    return read_normal_deltas(at);
}
