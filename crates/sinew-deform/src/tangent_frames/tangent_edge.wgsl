// Not from the surface: along the reference edge.
fn carried_tangent(index: u32, n: vec3f, sum: vec3f) -> vec4f {
    return vec4f(reference_edge(index, n), 1.0);
}
