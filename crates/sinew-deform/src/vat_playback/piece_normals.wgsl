fn kernel(index: u32) {
    let u = uniforms();
    let rotation = rotation_of(read_piece_of_vertex(index), u);
    write_mesh_normals(index, turned(rotation, read_carrier_normals(index)));
}
