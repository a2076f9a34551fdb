// The rest tangent in the frame of the normal and the reference edge.
fn carried_tangent(index: u32, n: vec3f, sum: vec3f) -> vec4f {
    let local = read_local_tangents(index);
    let edge = reference_edge(index, n);
    let t = gram_schmidt(edge * local.x + cross(n, edge) * local.y + n * local.z, n);
    return vec4f(select(t, edge, is_zero(t)), local.w);
}
