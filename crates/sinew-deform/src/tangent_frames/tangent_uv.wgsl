// Along growing u. The signs are bits of words.
fn carried_tangent(index: u32, n: vec3f, sum: vec3f) -> vec4f {
    let negative = (read_signs(index >> 5u) >> (index & 31u)) & 1u;
    return vec4f(tangent_along(sum, index, n), select(1.0, -1.0, negative != 0u));
}
