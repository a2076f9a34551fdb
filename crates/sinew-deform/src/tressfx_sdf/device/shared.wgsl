// What all passes know: the box, and the keys of distances.

struct Uniforms {
    // First node; last is unused.
    origin: vec4f,
}

// As in `words.rs`.
const HEADER: u32 = 32u;
const NO_BRICK: u32 = 0xffffffffu;

fn node_counts() -> vec3u {
    return vec3u(NODES_X, NODES_Y, NODES_Z);
}

// Place of a node among all.
fn node_index(node: vec3u) -> u32 {
    return node.x + NODES_X * (node.y + NODES_Y * node.z);
}
