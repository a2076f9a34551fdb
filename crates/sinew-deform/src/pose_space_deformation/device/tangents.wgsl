fn tangent_coefficient(at: u32) -> vec3f {
    return read_tangent_coefficients(at);
}
