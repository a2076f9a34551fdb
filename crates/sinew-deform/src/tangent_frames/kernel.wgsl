// Normal of a vertex. Beside what `corners.wgsl` says, moves 12 bytes written.

fn vertex_normal(index: u32, sums: Sums) -> vec3f {
    let normal = unit_or_zero(sums.normal);
    if (is_zero(normal)) {
        // No area around it.
        return read_rest_normals(index);
    }
    return carried_normal(index, normal);
}
