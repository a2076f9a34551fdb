// First moments and weight of a pair, in 16 and 24 bits.
struct Pair {
    joint: u32,
    weight: f32,
    first: vec3f,
}

fn pair_of(index: u32, row: PairRow, at: u32) -> Pair {
    let word = at * 3u * SLICE + row.lane;
    let a = halves(read_pairs(word));
    let mixed = read_pairs(word + SLICE);
    let last = read_pairs(word + 2u * SLICE);
    let first = vec3f(a, halves(mixed).x) * read_scales(index).y;
    return Pair(last & 0xffffffu, weight_of(mixed, last), first);
}
