fn normal_coefficient(at: u32) -> vec3f {
    return vec3f(0.0);
}
