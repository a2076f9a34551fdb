// Distances from keys: the sign goes back to the highest bit. Nodes that no triangle is near get one large distance.

fn kernel(index: u32) {
    let key = read_keys(index);
    let distance = bitcast<f32>((key >> 1u) | (key << 31u));
    write_distances(index, select(distance, UNSET, key == 0xffffffffu));
}
