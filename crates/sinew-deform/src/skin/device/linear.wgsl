fn kernel(index: u32) {
    write_vertex(index, through_rows(blend_palette(row_of(index)), read_vertex(index)));
}
