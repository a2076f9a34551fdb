fn tangent_delta(at: u32) -> vec3f {
    return vec3f(0.0);
}
