// What has the texel of a vertex: the point that the lookup says, which has a texel for each vertex in each frame.
fn point_of(vertex: u32, frame: u32) -> u32 {
    let arranged = Arranged(LOOKUP_IN_COLUMNS, LOOKUP_WIDTH, LOOKUP_HEIGHT, LOOKUP_ACROSS, LOOKUP_TEXTURE_WIDTH);
    return read_lookup_points(texel_in(arranged, vertex, frame));
}
