// Which triangles may be nearest to some node of a box: by a group of FILLED. Clusters near the box are gathered, then their triangles.
//
// Seen from a point c, a triangle whose closest point is q lies behind the plane through q across c - q, as it is convex. So
// |c - q| + o . u, with u the unit vector of c - q, is never more than its distance from c + o.

// Triangles of a batch.
const ROOM: u32 = 96u;
// Batches that a triangle for each invocation and what is left of the batch before can fill, and one more.
const BATCHES: u32 = (FILLED + ROOM - 1u) / ROOM + 1u;
// Leaves or clusters whose eight parts a group looks at in one go.
const EIGHTHS: u32 = FILLED / 8u;
// Closer than this a direction is rounding noise; the bound is then zero everywhere.
const TOUCHING: f32 = 0.05;
// Roundings of bounds, in cells.
const SLACK: f32 = 1e-3;

var<workgroup> leaves: array<u32, FILLED>;
var<workgroup> leaf_count: atomic<u32>;
var<workgroup> clusters: array<u32, FILLED>;
var<workgroup> cluster_count: atomic<u32>;
// Triangles of the batch: direction and distance as seen from the centre of the box.
var<workgroup> listed: array<vec4f, 96>;
var<workgroup> listed_slots: array<u32, 96>;
// Their planes, five words of four each.
var<workgroup> listed_planes: array<vec4f, 480>;
var<workgroup> listed_count: atomic<u32>;
// The nearest so far: a distance in the upper bits, a number in the lower ones.
var<workgroup> seed_key: atomic<u32>;

fn bound_of(away: vec3f) -> vec4f {
    let distance = sqrt(dot(away, away));
    if (distance > TOUCHING) {
        return vec4f(away / distance, distance);
    }
    return vec4f(0.0);
}

// The best that is known at the centre of a box of nodes.
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

// Whether a triangle may be the nearest of some node of the box; `distance` bounds its own from the centre.
fn keeps(limit: Limit, distance: f32, direction: vec3f) -> bool {
    if (limit.is_near) {
        let a = abs(direction);
        return distance - (a.x + a.y + a.z) * limit.reach <= limit.furthest;
    }
    let a = abs(direction - limit.direction);
    return distance - (a.x + a.y + a.z) * limit.reach <= limit.curved;
}

fn staged(i: u32) -> Plane {
    let a = listed_planes[5u * i];
    let b = listed_planes[5u * i + 1u];
    let c = listed_planes[5u * i + 2u];
    let d = listed_planes[5u * i + 3u];
    let e = listed_planes[5u * i + 4u];
    return Plane(a.xyz, a.w, b.xyz, c.xyz, d.xyz, vec3f(b.w, c.w, d.w), e.xyz, u32(e.w));
}

fn stage(i: u32, slot: u32) {
    for (var k = 0u; k < 5u; k++) {
        listed_planes[5u * i + k] = read_planes(6u * slot + k);
    }
}

// A triangle near a point, by the leaf whose box has the nearest middle: exact within that leaf.
fn find_seed(local: u32, p: vec3f) -> u32 {
    if (local == 0u) {
        atomicStore(&seed_key, NO_TRIANGLE);
    }
    workgroupBarrier();
    var leaf = 0u;
    if (LEVELS > 1u) {
        var key = NO_TRIANGLE;
        for (var i = local; i < LEAF_BLOCKS; i += FILLED) {
            let box = 2u * (8u * PARENT_START + i);
            let off = 0.5 * (read_boxes(box).xyz + read_boxes(box + 1u).xyz) - p;
            key = min(key, (bitcast<u32>(dot(off, off)) & ~SLOT_MASK) | i);
        }
        atomicMin(&seed_key, key);
        leaf = workgroupUniformLoad(&seed_key) & SLOT_MASK;
        if (local == 0u) {
            atomicStore(&seed_key, NO_TRIANGLE);
        }
        workgroupBarrier();
    }
    let slot = 64u * leaf + local;
    if (local < 64u && slot < 8u * CLUSTERS) {
        atomicMin(&seed_key, (bitcast<u32>(square_from(slot, p)) & ~63u) | local);
    }
    return 64u * leaf + (workgroupUniformLoad(&seed_key) & 63u);
}

// Leaves of the tree near the box, one looked at by each invocation.
fn find_leaves(first: u32, local: u32, center: vec3f, half_edge: f32, limit: f32) {
    let leaf = first + local;
    if (leaf < LEAF_BLOCKS && leaf_square(leaf, center, half_edge) <= limit) {
        leaves[atomicAdd(&leaf_count, 1u)] = leaf;
    }
}

fn leaf_square(leaf: u32, center: vec3f, half_edge: f32) -> f32 {
    if (LEVELS == 1u) {
        return 0.0;
    }
    return box_square(8u * PARENT_START + leaf, center - vec3f(half_edge), center + vec3f(half_edge));
}

// Clusters near the box, of some leaves.
fn find_clusters(first: u32, count: u32, local: u32, center: vec3f, half_edge: f32, limit: f32) {
    let i = first + local / 8u;
    if (i < count) {
        let cluster = 8u * leaves[i] + local % 8u;
        let square = box_square(8u * LEAF_START + cluster, center - vec3f(half_edge), center + vec3f(half_edge));
        if (square <= limit) {
            clusters[atomicAdd(&cluster_count, 1u)] = cluster;
        }
    }
}

// Lists triangles of some clusters that may be nearest; full batches are measured.
fn list_triangles(first: u32, count: u32, local: u32, box: Box, limit: Limit) {
    let i = first + local / 8u;
    var is_open = false;
    var slot = 0u;
    var bound = vec4f(0.0);
    if (i < count) {
        slot = 8u * clusters[i] + local % 8u;
        bound = bound_of(away_from(slot, box.center));
        is_open = keeps(limit, bound.w, bound.xyz);
    }
    for (var batch = 0u; batch < BATCHES; batch++) {
        if (is_open) {
            let at = atomicAdd(&listed_count, 1u);
            if (at < ROOM) {
                listed[at] = bound;
                listed_slots[at] = slot;
                stage(at, slot);
                is_open = false;
            }
        }
        if (workgroupUniformLoad(&listed_count) <= ROOM) {
            break;
        }
        measure_batch(ROOM, local, box);
        if (local == 0u) {
            atomicStore(&listed_count, 0u);
        }
        workgroupBarrier();
    }
}

// Everything in reach of the box, batch after batch.
fn search(local: u32, box: Box, away: vec3f) {
    let corner = abs(away) + vec3f(box.half_edge);
    let furthest = dot(corner, corner) * 1.00001 + SLACK;
    let limit = limit_of(away, box.half_edge);
    for (var first = 0u; first < LEAF_BLOCKS; first += FILLED) {
        if (local == 0u) {
            atomicStore(&leaf_count, 0u);
        }
        workgroupBarrier();
        find_leaves(first, local, box.center, box.half_edge, furthest);
        let near_leaves = workgroupUniformLoad(&leaf_count);
        for (var leaf = 0u; leaf < near_leaves; leaf += EIGHTHS) {
            if (local == 0u) {
                atomicStore(&cluster_count, 0u);
            }
            workgroupBarrier();
            find_clusters(leaf, near_leaves, local, box.center, box.half_edge, furthest);
            let near_clusters = workgroupUniformLoad(&cluster_count);
            for (var cluster = 0u; cluster < near_clusters; cluster += EIGHTHS) {
                list_triangles(cluster, near_clusters, local, box, limit);
            }
        }
    }
    let count = workgroupUniformLoad(&listed_count);
    if (count > 0u) {
        measure_batch(count, local, box);
    }
}
