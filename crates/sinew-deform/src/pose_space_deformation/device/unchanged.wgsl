fn kernel(index: u32) {
    write_mesh_positions(index, read_mesh_positions(index));
    if (has_mesh_normals && wants_mesh_normals) {
        write_mesh_normals(index, read_mesh_normals(index));
    }
    if (has_mesh_tangents && wants_mesh_tangents) {
        write_mesh_tangents(index, read_mesh_tangents(index));
    }
}
