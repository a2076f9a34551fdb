fn kernel(index: u32) {
    write_mesh_positions(index, read_mesh_positions(index));
    write_mesh_normals(index, read_mesh_normals(index));
    write_mesh_tangents(index, read_mesh_tangents(index));
}
