// The nodes of one brick, by a group of 64: each invocation has one node of each of the eight blocks of 4 x 4 x 4. Clusters near the brick
// are gathered, then their triangles, in batches; for each block those that no node of it can be nearest to are dropped again.
//
// Seen from a point c, a triangle whose closest point is q lies behind the plane through q across c - q, as it is convex. So
// |c - q| + o . u, with u the unit vector of c - q, is never more than its distance from c + o.

const ROOM: u32 = 192u;
// Closer than this a direction is rounding noise; the bound is then zero everywhere.
const TOUCHING: f32 = 0.05;
// Roundings of bounds, in cells.
const SLACK: f32 = 1e-3;
// Nodes of a block reach that far from its centre along each axis.
const REACH: f32 = 1.5;
// From the centre of a block to the furthest of its nodes, and a little more.
const BLOCK_RADIUS: f32 = 2.6;
const DROPPED: f32 = 1e30;

var<workgroup> brick: u32;
var<workgroup> leaves: array<u32, 256>;
var<workgroup> leaf_count: atomic<u32>;
var<workgroup> clusters: array<u32, 256>;
var<workgroup> cluster_count: atomic<u32>;
// Triangles of the batch: direction and distance as seen from the centre of the brick.
var<workgroup> listed: array<vec4f, 192>;
var<workgroup> listed_slots: array<u32, 192>;
var<workgroup> listed_count: atomic<u32>;
// The same from the centre of a block.
var<workgroup> seen: array<vec4f, 192>;
var<workgroup> kept: array<u32, 192>;
var<workgroup> kept_count: atomic<u32>;
// Nearest to the centre of each block: square in the upper bits, number in the list in the lower eight.
var<workgroup> nearest_keys: array<atomic<u32>, 8>;
// From the surface to the centre of each block, and the triangle there.
var<workgroup> block_away: array<vec3f, 8>;
var<workgroup> block_slots: array<u32, 8>;
// Where a block is far from a closed surface one sign serves it: 0 or 1; 2 where it does not.
var<workgroup> block_inside: array<u32, 8>;
// Nearest so far, by block and invocation.
var<workgroup> squares: array<f32, 512>;
var<workgroup> slots: array<u32, 512>;

fn bound_of(away: vec3f) -> vec4f {
    let distance = sqrt(dot(away, away));
    if (distance > TOUCHING) {
        return vec4f(away / distance, distance);
    }
    return vec4f(0.0);
}

// The best that is known at the centre of a block of nodes.
struct Limit {
    direction: vec3f,
    // Distance and what the curvature of the ball around the known point adds.
    curved: f32,
    // From the known point to the furthest node.
    furthest: f32,
    reach: f32,
    is_near: bool,
}

fn limit_of(away: vec3f, reach: f32) -> Limit {
    let distance = max(sqrt(dot(away, away)), 1e-6);
    let corner = abs(away) + vec3f(reach);
    let curve = 1.5 * reach * reach / distance;
    let furthest = sqrt(dot(corner, corner)) + SLACK;
    return Limit(away / distance, distance + curve + SLACK, furthest, reach, distance < reach);
}

// Whether a triangle may be the nearest of some node of the block; `distance` bounds its own from the centre.
fn keeps(limit: Limit, distance: f32, direction: vec3f) -> bool {
    if (limit.is_near) {
        let a = abs(direction);
        return distance - (a.x + a.y + a.z) * limit.reach <= limit.furthest;
    }
    let a = abs(direction - limit.direction);
    return distance - (a.x + a.y + a.z) * limit.reach <= limit.curved;
}

fn block_offset(block: u32) -> vec3f {
    return vec3f(f32(block & 1u), f32((block >> 1u) & 1u), f32(block >> 2u)) * 4.0 - vec3f(2.0);
}

// From the centre of its block to the node of an invocation.
fn node_offset(local: u32) -> vec3f {
    return vec3f(f32(local & 3u), f32((local >> 2u) & 3u), f32(local >> 4u)) - vec3f(1.5);
}

// Leaves of the tree near the box, 256 of them looked at.
fn find_leaves(first: u32, local: u32, center: vec3f, limit: f32) {
    for (var k = 0u; k < 4u; k++) {
        let leaf = first + 64u * k + local;
        let is_there = leaf < LEAF_BLOCKS;
        if (is_there && leaf_square(leaf, center) <= limit) {
            leaves[atomicAdd(&leaf_count, 1u)] = leaf;
        }
    }
}

fn leaf_square(leaf: u32, center: vec3f) -> f32 {
    if (LEVELS == 1u) {
        return 0.0;
    }
    return box_square(8u * PARENT_START + leaf, center - vec3f(HALF_EDGE), center + vec3f(HALF_EDGE));
}

// Clusters near the box, of 32 leaves.
fn find_clusters(first: u32, count: u32, local: u32, center: vec3f, limit: f32) {
    for (var k = 0u; k < 4u; k++) {
        let i = first + 8u * k + local / 8u;
        if (i < count) {
            let cluster = 8u * leaves[i] + local % 8u;
            let square = box_square(8u * LEAF_START + cluster, center - vec3f(HALF_EDGE), center + vec3f(HALF_EDGE));
            if (square <= limit) {
                clusters[atomicAdd(&cluster_count, 1u)] = cluster;
            }
        }
    }
}

// Triangles of eight clusters that may be nearest to a node of the brick.
fn list_triangles(first: u32, count: u32, local: u32, center: vec3f, limit: Limit) {
    let i = first + local / 8u;
    if (i < count) {
        let slot = 8u * clusters[i] + local % 8u;
        let bound = bound_of(away_from(slot, center));
        if (keeps(limit, bound.w, bound.xyz)) {
            let at = atomicAdd(&listed_count, 1u);
            listed[at] = bound;
            listed_slots[at] = slot;
        }
    }
}

// Looks at the batch from the centre of a block.
fn look(block: u32, count: u32, local: u32, center: vec3f) {
    let offset = block_offset(block);
    let limit = limit_of(block_away[block], REACH);
    for (var i = local; i < count; i += 64u) {
        let bound = listed[i];
        var here = vec4f(0.0, 0.0, 0.0, DROPPED);
        if (keeps(limit, bound.w + dot(bound.xyz, offset), bound.xyz)) {
            let away = away_from(listed_slots[i], center);
            here = bound_of(away);
            atomicMin(&nearest_keys[block], (bitcast<u32>(dot(away, away)) & 0xffffff00u) | i);
        }
        seen[i] = here;
    }
}

// The known point of a block, the batch's if that is nearer.
fn known_away(block: u32, center: vec3f) -> vec3f {
    let known = block_away[block];
    let key = atomicLoad(&nearest_keys[block]);
    if (key == NO_TRIANGLE) {
        return known;
    }
    let away = away_from(listed_slots[min(key & 0xffu, ROOM - 1u)], center);
    return select(known, away, dot(away, away) < dot(known, known));
}

fn keep_some(count: u32, local: u32, away: vec3f) {
    let limit = limit_of(away, REACH);
    for (var i = local; i < count; i += 64u) {
        let bound = seen[i];
        if (bound.w < DROPPED && keeps(limit, bound.w, bound.xyz)) {
            kept[atomicAdd(&kept_count, 1u)] = i;
        }
    }
}

// Exact distances of a node to what is left.
fn measure(block: u32, count: u32, local: u32, center: vec3f) {
    let offset = node_offset(local);
    let p = center + offset;
    let own = 64u * block + local;
    var best = Nearest(squares[own], slots[own]);
    // The nearest at the centre first: it spares most of the others.
    let first = listed_slots[min(atomicLoad(&nearest_keys[block]) & 0xffu, ROOM - 1u)];
    if (count > 0u) {
        best = nearer(best, square_from(first, p), first);
    }
    for (var k = 0u; k < count; k++) {
        let i = kept[k];
        let bound = seen[i];
        let least = bound.w + dot(bound.xyz, offset) - SLACK;
        let slot = listed_slots[i];
        if (least * abs(least) <= best.square && slot != first) {
            best = nearer(best, square_from(slot, p), slot);
        }
    }
    squares[own] = best.square;
    slots[own] = best.slot;
}

// The batch against all nodes of the brick.
fn measure_batch(count: u32, local: u32, brick_center: vec3f) {
    if (local < 8u) {
        atomicStore(&nearest_keys[local], NO_TRIANGLE);
    }
    for (var block = 0u; block < 8u; block++) {
        let center = brick_center + block_offset(block);
        if (local == 0u) {
            atomicStore(&kept_count, 0u);
        }
        workgroupBarrier();
        look(block, count, local, center);
        workgroupBarrier();
        let away = known_away(block, center);
        keep_some(count, local, away);
        let left = workgroupUniformLoad(&kept_count);
        if (local == 0u) {
            note_block(block, away, center);
        }
        measure(block, left, local, center);
    }
    workgroupBarrier();
}

fn note_block(block: u32, away: vec3f, center: vec3f) {
    let key = atomicLoad(&nearest_keys[block]);
    let known = block_away[block];
    if (key != NO_TRIANGLE && dot(away, away) < dot(known, known)) {
        block_away[block] = away;
        block_slots[block] = listed_slots[min(key & 0xffu, ROOM - 1u)];
    }
}

// Everything in reach of the brick, batch after batch.
fn search(local: u32, center: vec3f, away: vec3f) {
    let corner = abs(away) + vec3f(HALF_EDGE);
    let furthest = dot(corner, corner) * 1.00001 + SLACK;
    let limit = limit_of(away, HALF_EDGE);
    for (var first = 0u; first < LEAF_BLOCKS; first += 256u) {
        if (local == 0u) {
            atomicStore(&leaf_count, 0u);
        }
        workgroupBarrier();
        find_leaves(first, local, center, furthest);
        let near_leaves = workgroupUniformLoad(&leaf_count);
        for (var leaf = 0u; leaf < near_leaves; leaf += 32u) {
            if (local == 0u) {
                atomicStore(&cluster_count, 0u);
            }
            workgroupBarrier();
            find_clusters(leaf, near_leaves, local, center, furthest);
            let near_clusters = workgroupUniformLoad(&cluster_count);
            for (var cluster = 0u; cluster < near_clusters; cluster += 8u) {
                list_triangles(cluster, near_clusters, local, center, limit);
                let count = workgroupUniformLoad(&listed_count);
                if (count > ROOM - 64u) {
                    measure_batch(count, local, center);
                    if (local == 0u) {
                        atomicStore(&listed_count, 0u);
                    }
                    workgroupBarrier();
                }
            }
        }
    }
    let count = workgroupUniformLoad(&listed_count);
    if (count > 0u) {
        measure_batch(count, local, center);
    }
}

fn prepare(local: u32, away: vec3f, seed: u32) {
    if (local < 8u) {
        block_away[local] = away + block_offset(local);
        block_slots[local] = seed;
    }
    if (local == 0u) {
        atomicStore(&listed_count, 0u);
    }
    for (var block = 0u; block < 8u; block++) {
        squares[64u * block + local] = HUGE;
        slots[64u * block + local] = seed;
    }
}

fn sign_blocks(local: u32, center: vec3f) {
    if (local < 8u) {
        var inside = 2u;
        let away = block_away[local];
        if (IS_CLOSED && dot(away, away) > BLOCK_RADIUS * BLOCK_RADIUS) {
            inside = select(0u, 1u, is_inside(block_slots[local], center + block_offset(local)));
        }
        block_inside[local] = inside;
    }
}

// Roots and signs, to where the node is in the brick.
fn sign_nodes(local: u32, center: vec3f) {
    for (var block = 0u; block < 8u; block++) {
        let own = 64u * block + local;
        let distance = sqrt(squares[own]);
        var inside = block_inside[block] == 1u;
        if (block_inside[block] == 2u) {
            inside = is_inside(slots[own], center + block_offset(block) + node_offset(local));
        }
        squares[own] = select(distance, -distance, inside);
    }
}

// Value of a node of the brick.
fn value_at(node: u32) -> f32 {
    let x = node & 7u;
    let y = (node >> 3u) & 7u;
    let z = node >> 6u;
    let block = (x >> 2u) + 2u * (y >> 2u) + 4u * (z >> 2u);
    return squares[64u * block + (x & 3u) + 4u * (y & 3u) + 16u * (z & 3u)];
}

fn store(first: u32, slot: u32, local: u32) {
    if (IS_HALF) {
        for (var k = 0u; k < 4u; k++) {
            let word = 64u * k + local;
            let two = clamp(vec2f(value_at(2u * word), value_at(2u * word + 1u)), vec2f(-65504.0), vec2f(65504.0));
            write_field(first + 256u * slot + word, pack2x16float(two));
        }
        return;
    }
    for (var k = 0u; k < 8u; k++) {
        let node = 64u * k + local;
        write_field(first + 512u * slot + node, bitcast<u32>(value_at(node)));
    }
}

fn kernel(group: u32, local: u32) {
    if (local == 0u) {
        brick = NO_BRICK;
        if (group < read_state(BUILT)) {
            brick = read_bricks(group);
        }
    }
    let index = workgroupUniformLoad(&brick);
    if (index == NO_BRICK) {
        return;
    }
    let bricks = known_shape().bricks;
    let center = vec3f(unflatten(index, bricks) * 7u) + vec3f(HALF_EDGE);
    let seed = read_near(index) >> 2u;
    let away = away_from(seed, center);
    prepare(local, away, seed);
    workgroupBarrier();
    search(local, center, away);
    workgroupBarrier();
    sign_blocks(local, center);
    workgroupBarrier();
    sign_nodes(local, center);
    workgroupBarrier();
    store(HEADER + brick_count(bricks) + corner_count(bricks), group, local);
}
