// Joints past the fourth. The list of a vertex begins with its first joint and what the others take away from its
// weight.
const HAS_TAIL = true;

fn more_joints(index: u32, any: bool) -> vec2u {
    if (any) {
        return vec2u(read_tail_offsets(index), read_tail_offsets(index + 1u));
    }
    return vec2u(0u);
}

struct Influence {
    joint: u32,
    weight: f32,
}

fn influence(at: u32) -> Influence {
    let words = read_tail(at);
    return Influence(words.x, bitcast<f32>(words.y));
}
