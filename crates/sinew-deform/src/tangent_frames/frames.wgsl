// Tangents, too: 16 bytes more.
fn kernel(index: u32) {
    let sums = vertex_sums(index);
    let normal = vertex_normal(index, sums);
    write_mesh_normals(index, normal);
    write_mesh_tangents(index, carried_tangent(index, normal, sums.tangent));
}
