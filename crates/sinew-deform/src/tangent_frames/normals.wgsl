fn kernel(index: u32) {
    write_mesh_normals(index, vertex_normal(index, vertex_sums(index)));
}
