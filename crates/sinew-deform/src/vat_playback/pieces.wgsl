// The mesh is the first frame, where the position in a piece's texel is its pivot.
fn kernel(index: u32) {
    let u = uniforms();
    let piece = read_piece_of_vertex(index);
    var place = place_at(piece, u.frame, u);
    if (u.weight != 0.0) {
        place += (place_at(piece, u.next, u) - place) * u.weight;
    }
    let arm = read_mesh_positions(index) - place_at(piece, 0u, u);
    write_mesh_positions(index, turned(rotation_of(piece, u), arm) + place);
}
