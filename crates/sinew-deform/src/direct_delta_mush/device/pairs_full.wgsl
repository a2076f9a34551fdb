// Second and first moments and weight of a pair, in single precision.
struct Pair {
    joint: u32,
    weight: f32,
    first: vec3f,
    second: mat3x3f,
}

fn pair_of(index: u32, row: PairRow, at: u32) -> Pair {
    let place = at * SLICE + row.lane;
    let joint = unpacked(read_pair_joints(place / PAIR_JOINTS_PER_WORD), place, PAIR_JOINTS_PER_WORD);
    let word = at * 5u * SLICE + row.lane;
    let a = read_pairs(word);
    let b = read_pairs(word + SLICE);
    let c = read_pairs(word + 2u * SLICE);
    let d = read_pairs(word + 3u * SLICE);
    let e = read_pairs(word + 4u * SLICE);
    let second = mat3x3f(vec3f(a, b.x), vec3f(a.y, b.y, c.x), vec3f(b.x, c));
    return Pair(joint, e.y, vec3f(d, e.x), second);
}
