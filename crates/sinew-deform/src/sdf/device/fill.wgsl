// Values of bricks and of the coarse level, by groups of 128: eight teams of 16. In a brick each has a block of 4 x 4 x 4 nodes, and each
// of the team a column of four; on the coarse level it has one corner of a brick that has no values. Where triangles are small,
// a brick has eight groups (`SPLITS`), one for each block: each team takes an eighth of the triangles for the same 16 columns.
//
// For each block those triangles are kept that may be nearest to one of its nodes, and bounded as seen from its centre. Each column
// measures the one that its bounds say is nearest, and of the others only those that their bounds say may be nearer still.

// Invocations of a team.
const LANES: u32 = FILLED / 8u;
// From the centre of a brick to those of its blocks along each axis, and from there to its outermost nodes.
const TO_BLOCK: f32 = 2.0;
const BLOCK_EDGE: f32 = 1.5;
// Of those kept, as many are looked at together.
const CHUNK: u32 = 32u;

// Ends of what there is to do: bricks or their blocks, parts of the coarse level.
var<workgroup> parts: array<u32, 2>;
// A brick and its first triangle.
var<workgroup> brick: array<u32, 2>;
// Triangles that are left, numbers in the batch, ROOM bytes for each block.
var<workgroup> kept: array<atomic<u32>, 128>;
var<workgroup> kept_counts: array<atomic<u32>, 8>;
var<workgroup> most_kept: atomic<u32>;
// Of some of these: direction and distance as seen from the centre of the block. In the end values, a column each.
var<workgroup> bounds: array<vec4f, 256>;
// Nearest to the centre of each block: distance in the upper bits, number in the list in the lower eight. Of the coarse level, squares.
var<workgroup> nearest_keys: array<atomic<u32>, 8>;
// Distances of a triangle from the corners of each block, and a little more: the nearest of the batch, and what was known before.
var<workgroup> fresh: array<vec4f, 16>;
var<workgroup> before: array<vec4f, 16>;

// Groups of a brick.
const SHARED_BY: u32 = select(1u, 8u, SPLITS);
// The block that a group of these fills.
var<private> only_block: u32;

fn block_of(team: u32) -> u32 {
    return select(team, only_block, SPLITS);
}

// From the centre of the box to that of a team's block.
fn to_block(team: u32) -> vec3f {
    return select(side_of(team) * TO_BLOCK, vec3f(0.0), SPLITS);
}

// Nearest so far of the nodes of the invocation's column.
var<private> squares: vec4f;
var<private> slots: vec4u;

// From the centre of a block to the lowest node of a column.
fn column_offset(lane: u32) -> vec3f {
    return vec3f(f32(lane & 3u), f32(lane >> 2u), 0.0) - vec3f(1.5);
}

// A triangle of the batch that is near the block, as seen from the centre of the box.
fn guess(block: u32, lane: u32, count: u32) {
    let offset = to_block(block);
    var key = NO_TRIANGLE;
    for (var i = lane; i < count; i += LANES) {
        let far = listed[i];
        let distance = max(far.w + dot(far.xyz, offset), 0.0);
        key = min(key, (bitcast<u32>(distance) & 0xffffff00u) | i);
    }
    atomicMin(&nearest_keys[block], key);
}

// Its distances from the corners of the block, by two of the team.
fn look(block: u32, lane: u32, center: vec3f) {
    let t = staged(min(atomicLoad(&nearest_keys[block]) & 0xffu, ROOM - 1u));
    if (lane < 2u) {
        var out = vec4f(0.0);
        for (var k = 0u; k < 4u; k++) {
            let p = center + side_of(4u * lane + k) * BLOCK_EDGE;
            out[k] = sqrt(square_at(t, in_flat(t, p))) * 1.00001 + SLACK;
        }
        fresh[2u * block + lane] = out;
    }
}

// The nearer one of what the batch has and what was known.
fn nearer_corners(block: u32) -> Corners {
    let now = Corners(fresh[2u * block], fresh[2u * block + 1u]);
    let was = Corners(before[2u * block], before[2u * block + 1u]);
    if (dot(now.low + now.high, vec4f(1.0)) < dot(was.low + was.high, vec4f(1.0))) {
        return now;
    }
    return was;
}

// What later batches have to reach, where the corners of the box are those of the block. All of one triangle: its distance is convex, the
// least of several is not.
fn bring_nearer(known: Corners) {
    let was = known_corners();
    if (dot(known.low + known.high, vec4f(1.0)) < dot(was.low + was.high, vec4f(1.0))) {
        for (var k = 0u; k < 4u; k++) {
            atomicStore(&corner_bounds[k], bitcast<u32>(known.low[k]));
            atomicStore(&corner_bounds[4u + k], bitcast<u32>(known.high[k]));
        }
    }
}

// Keeps triangles that may be nearest to a node of the block.
fn keep_some(block: u32, lane: u32, count: u32, known: Corners) {
    let offset = to_block(block);
    // Of a single block, an eighth.
    let first = select(lane, LANES * block + lane, SPLITS);
    let step = select(LANES, FILLED, SPLITS);
    for (var i = first; i < count; i += step) {
        let far = listed[i];
        if (reaches(vec4f(far.xyz, far.w + dot(far.xyz, offset)), BLOCK_EDGE, known)) {
            let at = atomicAdd(&kept_counts[block], 1u);
            atomicMax(&most_kept, at + 1u);
            atomicOr(&kept[(ROOM * block + at) / 4u], i << (8u * (at % 4u)));
        }
    }
}

fn kept_at(block: u32, k: u32) -> u32 {
    return (atomicLoad(&kept[(ROOM * block + k) / 4u]) >> (8u * (k % 4u))) & 0xffu;
}

// Bounds of a chunk, as seen from the centre of the block; out of reach where no node of it can be nearest.
fn bound_chunk(block: u32, lane: u32, first: u32, count: u32, center: vec3f, known: Corners) {
    for (var k = lane; k < count; k += LANES) {
        let bound = bound_of(away_of_flat(staged(kept_at(block, first + k)), center));
        var out = vec4f(0.0, 0.0, 0.0, NOWHERE);
        if (reaches(bound, BLOCK_EDGE, known)) {
            out = vec4f(bound.xyz, bound.w - SLACK);
        }
        bounds[CHUNK * block + k] = out;
    }
}

// Exact distances of a column to a triangle of the batch.
fn measure(i: u32, p: vec3f) {
    let t = staged(i);
    let slot = vec4u(t.slot);
    let at = in_flat(t, p);
    let up = vec3f(t.x.z, t.y.z, t.n.z);
    let here = vec4f(square_at(t, at), square_at(t, at + up), square_at(t, at + up * 2.0), square_at(t, at + up * 3.0));
    if (!KEEPS_SLOTS) {
        squares = min(squares, here);
        return;
    }
    // The lowest of equals, whatever the order.
    let is_nearer = (here < squares) | ((here == squares) & (slot < slots));
    squares = select(squares, here, is_nearer);
    slots = select(slots, slot, is_nearer);
}

// What may be nearest to a column: by bounds first, exactly where these leave it open.
fn measure_chunk(block: u32, lane: u32, first: u32, count: u32, center: vec3f) {
    if (count == 0u) {
        return;
    }
    let low = column_offset(lane);
    var done = 0u;
    if (squares.x >= HUGE) {
        let middle = low + vec3f(0.0, 0.0, 1.5);
        var least = NOWHERE;
        var best = 0u;
        for (var k = 0u; k < count; k++) {
            let bound = bounds[CHUNK * block + k];
            let distance = bound.w + dot(bound.xyz, middle);
            best = select(best, k, distance < least);
            least = min(least, distance);
        }
        measure(kept_at(block, first + best), center + low);
        done = 1u << best;
    }
    var open = 0u;
    for (var k = 0u; k < count; k++) {
        let bound = bounds[CHUNK * block + k];
        let lowest = bound.w + dot(bound.xyz, low);
        let here = max(vec4f(lowest) + bound.z * vec4f(0.0, 1.0, 2.0, 3.0), vec4f(0.0));
        open |= select(0u, 1u << k, any(here * here <= squares));
    }
    open &= ~done;
    for (var turn = 0u; turn < CHUNK; turn++) {
        if (open == 0u) {
            break;
        }
        measure(kept_at(block, first + firstTrailingBit(open)), center + low);
        open &= open - 1u;
    }
}

// The batch against all nodes of the brick.
fn measure_nodes(count: u32, local: u32, box: Box) {
    let block = local / LANES;
    let lane = local % LANES;
    let center = box.center + to_block(block);
    for (var i = local; i < 2u * ROOM; i += FILLED) {
        atomicStore(&kept[i], 0u);
    }
    if (local < 8u) {
        atomicStore(&nearest_keys[local], NO_TRIANGLE);
        atomicStore(&kept_counts[local], 0u);
    }
    if (local == 0u) {
        atomicStore(&most_kept, 0u);
    }
    workgroupBarrier();
    guess(block, lane, count);
    workgroupBarrier();
    look(block, lane, center);
    workgroupBarrier();
    let known = nearer_corners(block);
    keep_some(block, lane, count, known);
    let most = workgroupUniformLoad(&most_kept);
    if (lane == 0u) {
        before[2u * block] = known.low;
        before[2u * block + 1u] = known.high;
        if (SPLITS && block == 0u) {
            bring_nearer(known);
        }
    }
    let all = atomicLoad(&kept_counts[block]);
    for (var first = 0u; first < most; first += CHUNK) {
        let here = min(max(all, first) - first, CHUNK);
        bound_chunk(block, lane, first, here, center, known);
        workgroupBarrier();
        measure_chunk(block, lane, first, here, center);
        workgroupBarrier();
    }
}

// The batch against the corners of a part of the coarse level, a team each.
fn measure_corners(count: u32, local: u32, box: Box) {
    let block = local / LANES;
    let offset = side_of(block) * HALF_EDGE;
    let known = corner_bound(block);
    for (var i = local % LANES; i < count; i += LANES) {
        let far = listed[i];
        if (far.w + dot(far.xyz, offset) <= known) {
            let t = staged(i);
            let best = nearer(Nearest(squares.x, slots.x), square_at(t, in_flat(t, box.center + offset)), t.slot);
            squares.x = best.square;
            slots.x = best.slot;
        }
    }
    if (slots.x != NO_TRIANGLE) {
        atomicMin(&corner_bounds[block], bitcast<u32>(sqrt(squares.x) * 1.00001 + SLACK));
    }
    workgroupBarrier();
}

fn measure_batch(count: u32, local: u32, box: Box, is_coarse: bool) {
    if (is_coarse) {
        measure_corners(count, local, box);
    } else {
        measure_nodes(count, local, box);
    }
}

fn begin(local: u32) {
    if (local < 16u) {
        before[local] = vec4f(NOWHERE);
    }
    squares = vec4f(HUGE);
    slots = vec4u(NO_TRIANGLE);
}

// The nearest of all teams, the lowest of equals.
fn gather_teams(lane: u32, local: u32) {
    atomicStore(&kept[local], NO_TRIANGLE);
    workgroupBarrier();
    for (var k = 0u; k < 4u; k++) {
        atomicMin(&kept[4u * lane + k], bitcast<u32>(squares[k]));
    }
    workgroupBarrier();
    for (var k = 0u; k < 4u; k++) {
        let least = atomicLoad(&kept[4u * lane + k]);
        if (KEEPS_SLOTS && bitcast<u32>(squares[k]) == least) {
            atomicMin(&kept[64u + 4u * lane + k], slots[k]);
        }
        squares[k] = bitcast<f32>(least);
    }
    if (KEEPS_SLOTS) {
        workgroupBarrier();
        for (var k = 0u; k < 4u; k++) {
            slots[k] = atomicLoad(&kept[64u + 4u * lane + k]);
        }
    }
}

fn put_values(slot: u32, at: vec3u, local: u32) {
    let distances = sqrt(squares);
    bounds[local] = select(distances, -distances, column_inside(slot, at, local));
    workgroupBarrier();
}

// Of a node of the brick, x fastest.
fn value_at(node: u32) -> f32 {
    let n = vec3u(node & 7u, (node >> 3u) & 7u, node >> 6u);
    let block = (n.x >> 2u) + 2u * (n.y >> 2u) + 4u * (n.z >> 2u);
    let column = bounds[LANES * block + (n.x & 3u) + 4u * (n.y & 3u)];
    return column[n.z & 3u];
}

fn store(first: u32, slot: u32, local: u32) {
    if (IS_HALF) {
        for (var i = local; i < 256u; i += FILLED) {
            let two = clamp(vec2f(value_at(2u * i), value_at(2u * i + 1u)), vec2f(-65504.0), vec2f(65504.0));
            write_field(first + 256u * slot + i, pack2x16float(two));
        }
        return;
    }
    for (var i = local; i < 512u; i += FILLED) {
        write_field(first + 512u * slot + i, bitcast<u32>(value_at(i)));
    }
}

// Of the block, x fastest.
fn block_value(node: u32) -> f32 {
    let z = node >> 4u;
    let column = bounds[LANES * z + (node & 15u)];
    return column[z];
}

// In the brick.
fn node_of(node: u32) -> u32 {
    let n = vec3u(node & 3u, (node >> 2u) & 3u, node >> 4u) + 4u * vec3u(only_block & 1u, (only_block >> 1u) & 1u, only_block >> 2u);
    return n.x + 8u * n.y + 64u * n.z;
}

fn store_block(first: u32, slot: u32, local: u32) {
    if (IS_HALF) {
        if (local < 32u) {
            let two = vec2f(block_value(2u * local), block_value(2u * local + 1u));
            let packed = pack2x16float(clamp(two, vec2f(-65504.0), vec2f(65504.0)));
            write_field(first + 256u * slot + node_of(2u * local) / 2u, packed);
        }
    } else if (local < 64u) {
        write_field(first + 512u * slot + node_of(local), bitcast<u32>(block_value(local)));
    }
}

fn fill_block(slot: u32, at: vec3u, local: u32, bricks: vec3u) {
    half_edge = BLOCK_EDGE;
    let box = Box(vec3f(at * 7u) + vec3f(HALF_EDGE) + side_of(only_block) * TO_BLOCK);
    search(local, box, find_seed(local, box.center), false);
    workgroupBarrier();
    gather_teams(local % LANES, local);
    workgroupBarrier();
    put_values(slot, at, local);
    store_block(HEADER + brick_count(bricks) + corner_count(bricks), slot, local);
    // Its corner of the brick, where the brick stands for that.
    if (local == 0u && all((at & vec3u(1u)) == vec3u(0u))) {
        let bits = vec3u(only_block & 1u, (only_block >> 1u) & 1u, only_block >> 2u);
        put_corner(at + bits, bricks, block_value(3u * (bits.x + 4u * bits.y + 16u * bits.z)));
    }
    half_edge = HALF_EDGE;
}

fn fill_brick(part: u32, local: u32, bricks: vec3u) {
    let slot = part / SHARED_BY;
    only_block = part % SHARED_BY;
    if (local < 2u) {
        brick[local] = read_bricks(2u * slot + local);
    }
    workgroupBarrier();
    let at = unflatten(brick[0], bricks);
    let known = workgroupUniformLoad(&brick[1]);
    begin(local);
    if (SPLITS) {
        fill_block(slot, at, local, bricks);
        return;
    }
    search(local, Box(vec3f(at * 7u) + vec3f(HALF_EDGE)), known, false);
    put_values(slot, at, local);
    store(HEADER + brick_count(bricks) + corner_count(bricks), slot, local);
    // Its corners, where it stands for those.
    if (local < 8u && all((at & vec3u(1u)) == vec3u(0u))) {
        let bits = vec3u(local & 1u, (local >> 1u) & 1u, local >> 2u);
        put_corner(at + bits, bricks, value_at(7u * (bits.x + 8u * bits.y + 64u * bits.z)));
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
    if (workgroupUniformLoad(&brick[0]) > 0u) {
        // The brick writes its corners itself.
        return;
    }
    let box = Box(vec3f(first * 7u) + vec3f(HALF_EDGE));
    begin(local);
    if (local < 8u) {
        atomicStore(&nearest_keys[local], NO_TRIANGLE);
        atomicStore(&kept_counts[local], NO_TRIANGLE);
    }
    search(local, box, find_seed(local, box.center), true);
    // The nearest of each team, the lowest of equals.
    let block = local / LANES;
    atomicMin(&nearest_keys[block], bitcast<u32>(squares.x));
    workgroupBarrier();
    let square = atomicLoad(&nearest_keys[block]);
    if (bitcast<u32>(squares.x) == square) {
        atomicMin(&kept_counts[block], slots.x);
    }
    workgroupBarrier();
    let corner = first + vec3u(block & 1u, (block >> 1u) & 1u, block >> 2u);
    let inside = corner_inside(atomicLoad(&kept_counts[block]), corner, local);
    if (local % LANES == 0u && all(corner <= bricks)) {
        let distance = sqrt(bitcast<f32>(square));
        put_corner(corner, bricks, select(distance, -distance, inside));
    }
}

fn kernel(group: u32, local: u32) {
    for (var i = FILLED * group + local; i < count_tally; i += FILLED * FILLING_GROUPS) {
        write_tally(i, 0u);
    }
    if (local == 0u) {
        let has_moved = read_state(MOVED) != 0u;
        let coarse = select(0u, brick_count(coarse_groups(known_shape().bricks)), has_moved);
        parts[0] = SHARED_BY * read_state(BUILT);
        parts[1] = parts[0] + coarse;
    }
    workgroupBarrier();
    let built = workgroupUniformLoad(&parts[0]);
    let all_parts = workgroupUniformLoad(&parts[1]);
    let bricks = known_shape().bricks;
    half_edge = HALF_EDGE;
    for (var part = group; part < all_parts; part += FILLING_GROUPS) {
        if (part < built) {
            fill_brick(part, local, bricks);
        } else {
            fill_coarse(part - built, local, bricks);
        }
        workgroupBarrier();
    }
}
