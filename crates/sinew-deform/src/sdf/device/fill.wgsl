// Values of bricks and of the coarse level, by groups of 256: eight blocks of nodes, a team of 32 for each. In a brick a block has
// 4 x 4 x 4 nodes, two for each of its team; on the coarse level 2 x 2 x 2, each measured by four of its team that share the triangles.
// For each block those triangles that no node of it can be nearest to are dropped once more.

// What a group fills: cells from the centre to the outermost nodes along each axis, from there to the middle of each
// block, and from that to its own outermost ones.
struct Box {
    center: vec3f,
    half_edge: f32,
    to_block: f32,
    reach: f32,
    is_coarse: bool,
}

// The furthest that a node of a block of a brick is from the node of the first invocation of its team, which is one in the middle, and a little
// more.
const BLOCK_RADIUS: f32 = 3.6;

// Work of all groups: parts of the coarse level, then bricks.
var<workgroup> parts: array<u32, 2>;
// A brick and its first triangle.
var<workgroup> brick: array<u32, 2>;
// Places in the batch that are left, ROOM for each block; in the end values and triangles.
var<workgroup> kept: array<u32, 768>;
var<workgroup> kept_counts: array<atomic<u32>, 8>;
// Nearest to the centre of each block: square in the upper bits, number in the list in the lower eight.
var<workgroup> nearest_keys: array<atomic<u32>, 8>;
// From the surface to the centre of each block.
var<workgroup> block_away: array<vec3f, 8>;
// Where a block is far from a closed surface one sign serves it: 0 or 1; 2 where it does not.
var<workgroup> block_inside: array<u32, 8>;

// Nearest so far of the invocation's nodes; the first one alone on the coarse level.
var<private> best_a: Nearest;
var<private> best_b: Nearest;

fn block_offset(block: u32) -> vec3f {
    return vec3f(f32(block & 1u), f32((block >> 1u) & 1u), f32(block >> 2u)) * 2.0 - 1.0;
}

// From the centre of its block to the first node of an invocation; the second one of a brick is two cells further along z.
fn node_offset(lane: u32, is_coarse: bool) -> vec3f {
    if (is_coarse) {
        return block_offset(lane & 7u) * HALF_EDGE;
    }
    // The first invocation has a node in the middle.
    let x = (lane + 1u) & 3u;
    let y = ((lane >> 2u) + 1u) & 3u;
    return vec3f(f32(x), f32(y), f32(1u - (lane >> 4u))) - vec3f(1.5);
}

// Looks at the batch from the centre of a block.
fn look(block: u32, lane: u32, count: u32, box: Box) {
    let offset = block_offset(block) * box.to_block;
    let limit = limit_of(block_away[block], box.reach);
    var key = NO_TRIANGLE;
    for (var i = lane; i < count; i += 32u) {
        let bound = listed[i];
        if (keeps(limit, bound.w + dot(bound.xyz, offset), bound.xyz)) {
            let away = away_of(staged(i), box.center + offset);
            key = min(key, (bitcast<u32>(dot(away, away)) & 0xffffff00u) | i);
        }
    }
    atomicMin(&nearest_keys[block], key);
}

// The known point of a block, the batch's if that is nearer.
fn known_away(block: u32, box: Box) -> vec3f {
    let known = block_away[block];
    let key = atomicLoad(&nearest_keys[block]);
    if (key == NO_TRIANGLE) {
        return known;
    }
    let center = box.center + block_offset(block) * box.to_block;
    let away = away_of(staged(min(key & 0xffu, ROOM - 1u)), center);
    return select(known, away, dot(away, away) < dot(known, known));
}

fn keep_some(block: u32, lane: u32, count: u32, away: vec3f, box: Box) {
    let offset = block_offset(block) * box.to_block;
    let limit = limit_of(away, box.reach);
    for (var i = lane; i < count; i += 32u) {
        let far = listed[i];
        if (keeps(limit, far.w + dot(far.xyz, offset), far.xyz)) {
            let bound = bound_of(away_of(staged(i), box.center + offset));
            if (keeps(limit, bound.w, bound.xyz)) {
                kept[ROOM * block + atomicAdd(&kept_counts[block], 1u)] = i;
            }
        }
    }
}

// Exact distances of nodes to what is left.
fn measure(block: u32, lane: u32, box: Box) {
    let p = box.center + block_offset(block) * box.to_block + node_offset(lane, box.is_coarse);
    let count = atomicLoad(&kept_counts[block]);
    var a = best_a;
    if (box.is_coarse) {
        for (var k = lane >> 3u; k < count; k += 4u) {
            let i = kept[ROOM * block + k];
            a = nearer(a, square_of(staged(i), p), listed_slots[i]);
        }
    } else {
        var b = best_b;
        for (var k = 0u; k < count; k++) {
            let i = kept[ROOM * block + k];
            let slot = listed_slots[i];
            let t = staged(i);
            a = nearer(a, square_of(t, p), slot);
            b = nearer(b, square_of(t, p + vec3f(0.0, 0.0, 2.0)), slot);
        }
        best_b = b;
    }
    best_a = a;
}

// The batch against all nodes of the box.
fn measure_batch(count: u32, local: u32, box: Box) {
    let block = local / 32u;
    let lane = local % 32u;
    if (local < 8u) {
        atomicStore(&nearest_keys[local], NO_TRIANGLE);
        atomicStore(&kept_counts[local], 0u);
    }
    workgroupBarrier();
    look(block, lane, count, box);
    workgroupBarrier();
    let away = known_away(block, box);
    keep_some(block, lane, count, away, box);
    workgroupBarrier();
    if (lane == 0u) {
        block_away[block] = away;
    }
    measure(block, lane, box);
    workgroupBarrier();
}

fn begin(local: u32, box: Box, away: vec3f) {
    if (local < 8u) {
        block_away[local] = away + block_offset(local) * box.to_block;
    }
    if (local == 0u) {
        atomicStore(&listed_count, 0u);
    }
    best_a = Nearest(HUGE, NO_TRIANGLE);
    best_b = best_a;
    workgroupBarrier();
}

fn signed(best: Nearest, p: vec3f) -> f32 {
    let distance = sqrt(best.square);
    return select(distance, -distance, is_inside(min(best.slot, TRIANGLES - 1u), p));
}

fn put_value(node: vec3u, value: f32) {
    kept[node.x + 8u * node.y + 64u * node.z] = bitcast<u32>(value);
}

// Values of a brick, from where its nodes are known to where they lie side by side.
fn put_values(local: u32, box: Box) {
    let block = local / 32u;
    let lane = local % 32u;
    let center = box.center + block_offset(block) * box.to_block;
    let a = center + node_offset(lane, false);
    if (lane == 0u) {
        var inside = 2u;
        if (IS_CLOSED && best_a.square > BLOCK_RADIUS * BLOCK_RADIUS) {
            inside = select(0u, 1u, is_inside(min(best_a.slot, TRIANGLES - 1u), a));
        }
        block_inside[block] = inside;
    }
    workgroupBarrier();
    let first = vec3u(vec3i(round(a - box.center + vec3f(HALF_EDGE))));
    let inside = block_inside[block];
    var values = sqrt(vec2f(best_a.square, best_b.square));
    if (inside == 2u) {
        values = vec2f(signed(best_a, a), signed(best_b, a + vec3f(0.0, 0.0, 2.0)));
    } else if (inside == 1u) {
        values = -values;
    }
    put_value(first, values.x);
    put_value(first + vec3u(0u, 0u, 2u), values.y);
    workgroupBarrier();
}

fn store(first: u32, slot: u32, local: u32) {
    if (IS_HALF) {
        let two = vec2f(bitcast<f32>(kept[2u * local]), bitcast<f32>(kept[2u * local + 1u]));
        write_field(first + 256u * slot + local, pack2x16float(clamp(two, vec2f(-65504.0), vec2f(65504.0))));
        return;
    }
    write_field(first + 512u * slot + local, kept[local]);
    write_field(first + 512u * slot + 256u + local, kept[256u + local]);
}

fn fill_brick(slot: u32, local: u32, bricks: vec3u) {
    if (local < 2u) {
        brick[local] = read_bricks(2u * slot + local);
    }
    workgroupBarrier();
    let center = vec3f(unflatten(brick[0], bricks) * 7u) + vec3f(HALF_EDGE);
    let box = Box(center, HALF_EDGE, 2.0, 1.5, false);
    let away = away_from(brick[1], center);
    begin(local, box, away);
    search(local, box, away);
    put_values(local, box);
    store(HEADER + brick_count(bricks) + corner_count(bricks), slot, local);
}

// The least of four invocations is that of a node.
fn store_coarse(first: vec3u, local: u32, bricks: vec3u) {
    kept[local] = bitcast<u32>(best_a.square);
    kept[256u + local] = best_a.slot;
    workgroupBarrier();
    if (local % 32u >= 8u) {
        return;
    }
    var best = best_a;
    for (var k = 8u; k < 32u; k += 8u) {
        best = nearer(best, bitcast<f32>(kept[local + k]), kept[256u + local + k]);
    }
    let block = local / 32u;
    let bits = vec3u(0u, 1u, 2u);
    let node = first + 2u * ((vec3u(block) >> bits) & vec3u(1u)) + ((vec3u(local) >> bits) & vec3u(1u));
    if (all(node <= bricks)) {
        let index = node.x + (bricks.x + 1u) * (node.y + (bricks.y + 1u) * node.z);
        write_field(HEADER + brick_count(bricks) + index, bitcast<u32>(signed(best, vec3f(node * 7u))));
    }
}

fn fill_coarse(part: u32, local: u32, bricks: vec3u) {
    let first = COARSE_NODES * unflatten(part, coarse_groups(bricks));
    let center = vec3f(first * 7u) + vec3f(10.5);
    let box = Box(center, 10.5, 7.0, 3.5, true);
    let away = away_from(find_seed(local, center), center);
    begin(local, box, away);
    search(local, box, away);
    store_coarse(first, local, bricks);
}

fn kernel(group: u32, local: u32) {
    for (var i = FILLED * group + local; i < count_tally; i += FILLED * FILLING_GROUPS) {
        write_tally(i, 0u);
    }
    if (local == 0u) {
        let has_moved = read_state(MOVED) != 0u;
        let coarse = select(0u, brick_count(coarse_groups(known_shape().bricks)), has_moved);
        parts[0] = coarse;
        parts[1] = coarse + read_state(BUILT);
    }
    workgroupBarrier();
    let coarse = workgroupUniformLoad(&parts[0]);
    let all_parts = workgroupUniformLoad(&parts[1]);
    let bricks = known_shape().bricks;
    for (var part = group; part < all_parts; part += FILLING_GROUPS) {
        if (part < coarse) {
            fill_coarse(part, local, bricks);
        } else {
            fill_brick(part - coarse, local, bricks);
        }
        workgroupBarrier();
    }
}
