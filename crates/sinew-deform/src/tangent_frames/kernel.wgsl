// Normal and tangent of a vertex. Beside what `corners.wgsl` says, moves 12 (normal) + 16 (tangent) bytes written.

fn kernel(index: u32) {
    let sums = vertex_sums(index);
    var normal = unit_or_zero(sums.normal);
    if (is_zero(normal)) {
        // No area around it.
        normal = read_rest_normals(index);
    } else {
        normal = carried_normal(index, normal);
    }
    write_mesh_normals(index, normal);
    if (wants_mesh_tangents) {
        write_mesh_tangents(index, carried_tangent(index, normal, sums.tangent));
    }
}
