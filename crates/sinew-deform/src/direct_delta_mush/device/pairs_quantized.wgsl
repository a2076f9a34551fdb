// Second and first moments and weight of a pair, in 16 and 24 bits.
struct Pair {
    joint: u32,
    weight: f32,
    first: vec3f,
    second: mat3x3f,
}

fn pair_of(index: u32, row: PairRow, at: u32) -> Pair {
    let word = at * 6u * SLICE + row.lane;
    let scale = read_scales(index);
    let a = halves(read_pairs(word)) * scale.x;
    let b = halves(read_pairs(word + SLICE)) * scale.x;
    let c = halves(read_pairs(word + 2u * SLICE)) * scale.x;
    let d = halves(read_pairs(word + 3u * SLICE));
    let mixed = read_pairs(word + 4u * SLICE);
    let last = read_pairs(word + 5u * SLICE);
    let first = vec3f(d, halves(mixed).x) * scale.y;
    let second = mat3x3f(vec3f(a, b.x), vec3f(a.y, b.y, c.x), vec3f(b.x, c));
    return Pair(last & 0xffffffu, weight_of(mixed, last), first, second);
}
