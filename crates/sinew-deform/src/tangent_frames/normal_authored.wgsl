// The authored normal in the frame of the computed one and the reference edge.
fn carried_normal(index: u32, n: vec3f) -> vec3f {
    let local = read_local_normals(index);
    let t = reference_edge(index, n);
    let carried = unit_or_zero(t * local.x + cross(n, t) * local.y + n * local.z);
    if (is_zero(carried)) {
        return n;
    }
    return carried;
}
