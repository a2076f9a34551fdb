fn kernel(index: u32) {
    write_mesh_positions(index, read_frame_points(index));
}
