// No vertex follows more than four joints.
const HAS_TAIL = false;

fn more_joints(index: u32, any: bool) -> vec2u {
    return vec2u(0u);
}

struct Influence {
    joint: u32,
    weight: f32,
}

fn influence(at: u32) -> Influence {
    return Influence(0u, 0.0);
}
