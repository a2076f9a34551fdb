// A group takes a brick: its values, its place in the table, its corners in the coarse level. `bricks.rs`.
// A brick's values are where its number says, so that no group waits for another one.

var<workgroup> is_near: atomic<u32>;

fn brick_counts() -> vec3u {
    return vec3u(BRICKS_X, BRICKS_Y, BRICKS_Z);
}

fn corner_counts() -> vec3u {
    return brick_counts() + 1u;
}

fn coarse_start() -> u32 {
    return HEADER + BRICKS;
}

fn values_start() -> u32 {
    let c = corner_counts();
    return coarse_start() + c.x * c.y * c.z;
}

fn unflatten(index: u32, counts: vec3u) -> vec3u {
    let row = index / counts.x;
    return vec3u(index % counts.x, row % counts.y, row / counts.y);
}

// In cells. The look-up of TressFX refuses the cells beside the last layer of nodes.
fn value_of(node: vec3u) -> f32 {
    if (any(node + 1u >= node_counts())) {
        return UNSET_IN_CELLS;
    }
    let key = ~read_keys(node_index(node));
    if (key >= UNSET_KEY) {
        return UNSET_IN_CELLS;
    }
    return bitcast<f32>((key >> 1u) | (key << 31u)) / CELL;
}

fn header_word(word: u32) -> u32 {
    switch word {
        // Its kind: single precision.
        case 0u: { return 1u; }
        // Rotation and scale of the scene's own frame.
        case 1u, 5u, 9u, 13u: { return bitcast<u32>(1.0); }
        case 14u, 15u, 16u: { return bitcast<u32>(uniforms().origin[word - 14u]); }
        case 17u: { return bitcast<u32>(CELL); }
        case 18u, 19u, 20u: { return brick_counts()[word - 18u]; }
        case 21u: { return BRICKS; }
        case 22u: { return HEADER; }
        case 23u: { return coarse_start(); }
        case 24u: { return values_start(); }
        default: { return 0u; }
    }
}

// Its lowest corner; beside the end of an axis also those there.
fn write_corner(brick: vec3u, k: u32) {
    let step = vec3u(k & 1u, (k >> 1u) & 1u, k >> 2u);
    if (all((step == vec3u(0u)) | (brick + 1u == brick_counts()))) {
        let at = brick + step;
        let counts = corner_counts();
        let index = at.x + counts.x * (at.y + counts.y * at.z);
        write_field(coarse_start() + index, bitcast<u32>(value_of(7u * at)));
    }
}

fn kernel(group: u32, local: u32) {
    let brick = unflatten(group, brick_counts());
    if (local == 0u) {
        atomicStore(&is_near, 0u);
    }
    workgroupBarrier();
    var values: array<f32, 8>;
    for (var k = 0u; k < 8u; k++) {
        values[k] = value_of(7u * brick + vec3u(local & 7u, local >> 3u, k));
        if (values[k] < UNSET_IN_CELLS) {
            atomicStore(&is_near, 1u);
        }
    }
    workgroupBarrier();
    let has_values = atomicLoad(&is_near) != 0u;
    if (has_values) {
        for (var k = 0u; k < 8u; k++) {
            write_field(values_start() + 512u * group + 64u * k + local, bitcast<u32>(values[k]));
        }
    }
    if (local == 0u) {
        write_field(HEADER + group, select(NO_BRICK, group, has_values));
    }
    if (local < 8u) {
        write_corner(brick, local);
    }
    if (group == 0u && local < HEADER) {
        write_field(local, header_word(local));
    }
}
