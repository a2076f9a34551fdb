fn kernel(index: u32) {
    let u = uniforms();
    var place = place_at(index, u.frame, u);
    if (u.weight != 0.0) {
        place += (place_at(index, u.next, u) - place) * u.weight;
    }
    if (HAS_OFFSETS) {
        place += read_mesh_positions(index);
    }
    write_mesh_positions(index, place);
}
