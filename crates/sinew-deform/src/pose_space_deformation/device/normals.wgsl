fn normal_coefficient(at: u32) -> vec3f {
    return read_normal_coefficients(at);
}
