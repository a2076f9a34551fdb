// Ways through the tree. The blocks of the tree are numbered from the root, the children of block b from 8b + 1; which children of the
// blocks above are still to be seen fits eight bits a level.

// Twelve levels in three words.
fn open_at(open: vec3u, depth: u32) -> u32 {
    let word = select(select(open.z, open.y, depth < 8u), open.x, depth < 4u);
    return (word >> (8u * (depth % 4u))) & 0xffu;
}

fn with_open(open: vec3u, depth: u32, mask: u32) -> vec3u {
    let shift = 8u * (depth % 4u);
    let words = (open & vec3u(~(0xffu << shift))) | vec3u(mask << shift);
    let word = vec3u(depth / 4u);
    return select(open, words, word == vec3u(0u, 1u, 2u));
}
