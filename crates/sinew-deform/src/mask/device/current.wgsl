fn place(index: u32) -> vec3f {
    return read_mesh_positions(index);
}
