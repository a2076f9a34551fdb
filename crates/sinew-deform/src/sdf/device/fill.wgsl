// Values of bricks and of the coarse level, by groups of 128: eight blocks of nodes, a team of 16 for each. In a brick a block has 4 x 4 x 4
// nodes, a column of four for each of its team; on the coarse level it is one corner of a brick that has no values. For each block those
// triangles that no node of it can be nearest to are dropped once more.

// What a group fills: cells from the centre to the outermost nodes along each axis, from there to the middle of each
// block, and from that to its own outermost ones.
struct Box {
    center: vec3f,
    half_edge: f32,
    to_block: f32,
    reach: f32,
    is_coarse: bool,
}

// Invocations of a team.
const LANES: u32 = FILLED / 8u;
// Of the team, the one whose column has a node in the middle of the block, its second.
const MIDDLE: u32 = 5u;
// The furthest that a node of the block is from that one, and a little more.
const BLOCK_RADIUS: f32 = 3.6;

// Work of all groups: parts of the coarse level, then bricks.
var<workgroup> parts: array<u32, 2>;
// A brick and its first triangle.
var<workgroup> brick: array<u32, 2>;
// Triangles that are left, ROOM for each block.
var<workgroup> kept: array<u32, 768>;
var<workgroup> kept_counts: array<atomic<u32>, 8>;
// Of a brick in the end, x fastest.
var<workgroup> values: array<f32, 512>;
// Nearest to the centre of each block: square in the upper bits, number in the list in the lower eight.
var<workgroup> nearest_keys: array<atomic<u32>, 8>;
// From the surface to the centre of each block.
var<workgroup> block_away: array<vec3f, 8>;
// Where a block is far from a closed surface one sign serves it: 0 or 1; 2 where it does not.
var<workgroup> block_inside: array<u32, 8>;

// Nearest so far of the nodes of the invocation's column.
var<private> squares: vec4f;
var<private> slots: vec4u;

fn block_offset(block: u32) -> vec3f {
    return vec3f(f32(block & 1u), f32((block >> 1u) & 1u), f32(block >> 2u)) * 2.0 - 1.0;
}

// From the centre of a block to the lowest node of a column.
fn column_offset(lane: u32) -> vec3f {
    return vec3f(f32(lane & 3u), f32(lane >> 2u), 0.0) - vec3f(1.5);
}

// Looks at the batch from the centre of a block.
fn look(block: u32, lane: u32, count: u32, box: Box) {
    let offset = block_offset(block) * box.to_block;
    let limit = limit_of(block_away[block], box.reach);
    var key = NO_TRIANGLE;
    for (var i = lane; i < count; i += LANES) {
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
    for (var i = lane; i < count; i += LANES) {
        let far = listed[i];
        if (keeps(limit, far.w + dot(far.xyz, offset), far.xyz)) {
            let bound = bound_of(away_of(staged(i), box.center + offset));
            if (keeps(limit, bound.w, bound.xyz)) {
                kept[ROOM * block + atomicAdd(&kept_counts[block], 1u)] = i;
            }
        }
    }
}

// A triangle in its plane, so that clamps are to one and cost nothing: edges as they are, and over the squares of their lengths.
struct Flat {
    length: f32,
    per_length: f32,
    edge02: vec2f,
    along02: vec2f,
    edge12: vec2f,
    along12: vec2f,
}

fn inverse(length: f32) -> f32 {
    return select(0.0, 1.0 / length, length > 0.0);
}

fn flat_of(t: Plane) -> Flat {
    let a = t.edge02;
    let b = t.edge12;
    return Flat(t.length, inverse(t.length), a.xy * a.z, a.xy * inverse(a.z), b.xy * b.z, b.xy * inverse(b.z));
}

fn square_at(t: Flat, at: vec3f) -> f32 {
    let p = at.xy;
    let q = vec2f(p.x - t.length, p.y);
    let off01 = vec2f(p.x - t.length * saturate(p.x * t.per_length), p.y);
    let off02 = p - t.edge02 * saturate(dot(p, t.along02));
    let off12 = q - t.edge12 * saturate(dot(q, t.along12));
    let beside = min(dot(off01, off01), min(dot(off02, off02), dot(off12, off12)));
    let right_of_02 = p.x * t.edge02.y - p.y * t.edge02.x > 0.0;
    let left_of_12 = q.x * t.edge12.y - q.y * t.edge12.x < 0.0;
    return at.z * at.z + select(beside, 0.0, (p.y > 0.0) & right_of_02 & left_of_12);
}

// Exact distances of a column, or of a corner, which all of its team measure, to what is left.
fn measure(block: u32, p: vec3f) {
    let count = atomicLoad(&kept_counts[block]);
    for (var k = 0u; k < count; k++) {
        let i = kept[ROOM * block + k];
        let slot = vec4u(listed_slots[i]);
        let t = staged(i);
        let at = in_plane(t, p);
        let up = vec3f(t.x.z, t.y.z, t.n.z);
        let f = flat_of(t);
        let here = vec4f(square_at(f, at), square_at(f, at + up), square_at(f, at + up * 2.0), square_at(f, at + up * 3.0));
        // The lowest of equals, whatever the order.
        let is_nearer = (here < squares) | ((here == squares) & (slot < slots));
        squares = select(squares, here, is_nearer);
        slots = select(slots, slot, is_nearer);
    }
}

// The batch against all nodes of the box.
fn measure_batch(count: u32, local: u32, box: Box) {
    let block = local / LANES;
    let lane = local % LANES;
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
    let center = box.center + block_offset(block) * box.to_block;
    if (box.is_coarse) {
        measure(block, center);
    } else {
        measure(block, center + column_offset(lane));
    }
    workgroupBarrier();
}

fn begin(local: u32, box: Box, away: vec3f) {
    if (local < 8u) {
        block_away[local] = away + block_offset(local) * box.to_block;
    }
    if (local == 0u) {
        atomicStore(&listed_count, 0u);
    }
    squares = vec4f(HUGE);
    slots = vec4u(NO_TRIANGLE);
    workgroupBarrier();
}

fn signed(square: f32, slot: u32, p: vec3f) -> f32 {
    let distance = sqrt(square);
    return select(distance, -distance, is_inside(min(slot, TRIANGLES - 1u), p));
}

fn put_values(local: u32, box: Box) {
    let block = local / LANES;
    let lane = local % LANES;
    let offset = block_offset(block) * box.to_block + column_offset(lane);
    let p = box.center + offset;
    let up = vec3f(0.0, 0.0, 1.0);
    if (lane == MIDDLE) {
        var inside = 2u;
        if (IS_CLOSED && squares.y > BLOCK_RADIUS * BLOCK_RADIUS) {
            inside = select(0u, 1u, signed(squares.y, slots.y, p + up) < 0.0);
        }
        block_inside[block] = inside;
    }
    workgroupBarrier();
    let n = vec3u(offset + HALF_EDGE + 0.25);
    let inside = block_inside[block];
    for (var k = 0u; k < 4u; k++) {
        var value = sqrt(squares[k]);
        if (inside == 2u) {
            value = signed(squares[k], slots[k], p + up * f32(k));
        } else if (inside == 1u) {
            value = -value;
        }
        values[n.x + 8u * n.y + 64u * (n.z + k)] = value;
    }
    workgroupBarrier();
}

fn store(first: u32, slot: u32, local: u32) {
    if (IS_HALF) {
        for (var i = local; i < 256u; i += FILLED) {
            let two = clamp(vec2f(values[2u * i], values[2u * i + 1u]), vec2f(-65504.0), vec2f(65504.0));
            write_field(first + 256u * slot + i, pack2x16float(two));
        }
        return;
    }
    for (var i = local; i < 512u; i += FILLED) {
        write_field(first + 512u * slot + i, bitcast<u32>(values[i]));
    }
}

fn fill_brick(slot: u32, local: u32, bricks: vec3u) {
    if (local < 2u) {
        brick[local] = read_bricks(2u * slot + local);
    }
    workgroupBarrier();
    let at = unflatten(brick[0], bricks);
    let center = vec3f(at * 7u) + vec3f(HALF_EDGE);
    let box = Box(center, HALF_EDGE, 2.0, 1.5, false);
    let away = away_from(brick[1], center);
    begin(local, box, away);
    search(local, box, away);
    put_values(local, box);
    store(HEADER + brick_count(bricks) + corner_count(bricks), slot, local);
    // Its corners, where it stands for those.
    if (local < 8u && all((at & vec3u(1u)) == vec3u(0u))) {
        let bits = vec3u(local & 1u, (local >> 1u) & 1u, local >> 2u);
        put_corner(at + bits, bricks, values[7u * (bits.x + 8u * bits.y + 64u * bits.z)]);
    }
}

fn put_corner(corner: vec3u, bricks: vec3u, value: f32) {
    let index = corner.x + (bricks.x + 1u) * (corner.y + (bricks.y + 1u) * corner.z);
    write_field(HEADER + brick_count(bricks) + index, bitcast<u32>(value));
}

fn fill_coarse(part: u32, local: u32, bricks: vec3u) {
    let first = COARSE_NODES * unflatten(part, coarse_groups(bricks));
    if (local == 0u) {
        brick[0] = 0u;
        if (all(first < bricks)) {
            brick[0] = read_bricks(2u * SLOTS + first.x + bricks.x * (first.y + bricks.y * first.z));
        }
    }
    if (workgroupUniformLoad(&brick[0]) == 1u) {
        // The brick writes its corners itself.
        return;
    }
    let center = vec3f(first * 7u) + vec3f(HALF_EDGE);
    let box = Box(center, HALF_EDGE, HALF_EDGE, 0.0, true);
    let away = away_from(find_seed(local, center), center);
    begin(local, box, away);
    search(local, box, away);
    let block = local / LANES;
    let corner = first + vec3u(block & 1u, (block >> 1u) & 1u, block >> 2u);
    if (local % LANES == 0u && all(corner <= bricks)) {
        put_corner(corner, bricks, signed(squares.x, slots.x, vec3f(corner * 7u)));
    }
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
