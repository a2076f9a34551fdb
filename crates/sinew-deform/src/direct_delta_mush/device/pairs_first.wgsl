// First moments and weight of a pair, in single precision.
struct Pair {
    joint: u32,
    weight: f32,
    first: vec3f,
}

fn pair_of(index: u32, row: PairRow, at: u32) -> Pair {
    let place = at * SLICE + row.lane;
    let joint = unpacked(read_pair_joints(place / PAIR_JOINTS_PER_WORD), place, PAIR_JOINTS_PER_WORD);
    let moments = read_pairs(place);
    return Pair(joint, moments.w, moments.xyz);
}
