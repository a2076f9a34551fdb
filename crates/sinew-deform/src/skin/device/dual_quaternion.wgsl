fn kernel(index: u32) {
    write_vertex(index, dual_quaternion(row_of(index), read_vertex(index)));
}
