// Which triangles may be nearest to some node of a box: by a group of FILLED. Clusters near the box are gathered, then their triangles.
//
// Seen from a point c, a triangle whose closest point is q lies behind the plane through q across c - q, as it is convex. So
// |c - q| + o . u, with u the unit vector of c - q, is never more than its distance from c + o. The distance to another triangle is a
// convex function: where it is less than such a plane's at the corners of a box, it is less in all of the box.

// Triangles of a batch.
const ROOM: u32 = 64u;
// Batches that a triangle for each invocation and what is left of the batch before can fill, and one more.
const BATCHES: u32 = (FILLED + ROOM - 1u) / ROOM + 1u;
// Leaves or clusters whose eight parts a group looks at in one go.
const EIGHTHS: u32 = FILLED / 8u;
// Closer than this a direction is rounding noise; the bound is then zero everywhere.
const TOUCHING: f32 = 0.05;
// Makes small whole numbers floats that are not denormal.
const NUMBER: u32 = 0x40000000u;
// Roundings of bounds, in cells.
const SLACK: f32 = 1e-3;

// What a group fills: around its centre, cells to the outermost nodes along each axis are `half_edge`.
struct Box {
    center: vec3f,
}

var<private> half_edge: f32;

// Of the corners of a box, at lower z and at upper z: x fastest.
struct Corners {
    low: vec4f,
    high: vec4f,
}

var<workgroup> leaves: array<u32, FILLED>;
var<workgroup> leaf_count: atomic<u32>;
var<workgroup> clusters: array<u32, FILLED>;
var<workgroup> cluster_count: atomic<u32>;
// Triangles of the batch: direction and distance as seen from the centre of the box.
var<workgroup> listed: array<vec4f, ROOM>;
// What `Flat` is made of: corner 0 and the length of edge 0-1; the x axis and the inverse of that; the y axis and where corner 2 is along x;
// its height, inverse squares of edges 0-2 and 1-2, the triangle's number.
var<workgroup> listed_origins: array<vec4f, ROOM>;
var<workgroup> listed_xs: array<vec4f, ROOM>;
var<workgroup> listed_ys: array<vec4f, ROOM>;
var<workgroup> listed_rest: array<vec4f, ROOM>;
var<workgroup> listed_count: atomic<u32>;
// The nearest so far: a distance in the upper bits, a number in the lower ones.
var<workgroup> seed_key: atomic<u32>;
// Bits of the distances of a known triangle from the corners of the box, and a little more.
var<workgroup> corner_bounds: array<atomic<u32>, 8>;

fn bound_of(away: vec3f) -> vec4f {
    let distance = sqrt(dot(away, away));
    if (distance > TOUCHING) {
        return vec4f(away / distance, distance);
    }
    return vec4f(0.0);
}

// Corner or block, x fastest: -1 or 1 along each axis.
fn side_of(corner: u32) -> vec3f {
    return vec3f(f32(corner & 1u), f32((corner >> 1u) & 1u), f32(corner >> 2u)) * 2.0 - 1.0;
}

fn corner_bound(corner: u32) -> f32 {
    return bitcast<f32>(atomicLoad(&corner_bounds[corner]));
}

fn known_corners() -> Corners {
    let low = vec4f(corner_bound(0u), corner_bound(1u), corner_bound(2u), corner_bound(3u));
    return Corners(low, vec4f(corner_bound(4u), corner_bound(5u), corner_bound(6u), corner_bound(7u)));
}

// Whether the plane of a bound is nearer than what is known at some corner, that far from the middle along each axis.
fn reaches(bound: vec4f, far: f32, known: Corners) -> bool {
    let u = bound.xyz * far;
    let around = vec4f(-u.x - u.y, u.x - u.y, u.y - u.x, u.x + u.y) + bound.w;
    return any((around - u.z <= known.low) | (around + u.z <= known.high));
}

// A triangle in its plane, corner 0 the origin and edge 0-1 the x axis; corner 2 is at (`along`, `height`). Edges over the squares of
// their lengths, so that clamps are to one and cost nothing.
struct Flat {
    origin: vec3f,
    length: f32,
    x: vec3f,
    per_length: f32,
    y: vec3f,
    along: f32,
    n: vec3f,
    height: f32,
    along02: vec2f,
    along12: vec2f,
    slot: u32,
}

// Its square is finite, too: what is shorter counts as a point.
fn inverse(length: f32) -> f32 {
    return select(0.0, 1.0 / length, length > 1e-15);
}

fn stage(i: u32, slot: u32, t: Plane) {
    listed_origins[i] = vec4f(t.origin, t.length);
    listed_xs[i] = vec4f(t.x, inverse(t.length));
    listed_ys[i] = vec4f(t.y, t.edge02.x * t.edge02.z);
    let rest = vec3f(t.edge02.y * t.edge02.z, inverse(t.edge02.z), inverse(t.edge12.z));
    listed_rest[i] = vec4f(rest.x, rest.yz * rest.yz, bitcast<f32>(slot | NUMBER));
}

fn staged(i: u32) -> Flat {
    let a = listed_origins[i];
    let b = listed_xs[i];
    let c = listed_ys[i];
    let d = listed_rest[i];
    let along02 = vec2f(c.w, d.x) * d.y;
    let along12 = vec2f(c.w - a.w, d.x) * d.z;
    return Flat(a.xyz, a.w, b.xyz, b.w, c.xyz, c.w, cross(b.xyz, c.xyz), d.x, along02, along12, bitcast<u32>(d.w) & ~NUMBER);
}

fn in_flat(t: Flat, p: vec3f) -> vec3f {
    let rel = p - t.origin;
    return vec3f(dot(rel, t.x), dot(rel, t.y), dot(rel, t.n));
}

fn covers(t: Flat, p: vec2f) -> bool {
    let right_of_02 = p.x * t.height - p.y * t.along > 0.0;
    let left_of_12 = (p.x - t.length) * t.height - p.y * (t.along - t.length) < 0.0;
    return (p.y > 0.0) & right_of_02 & left_of_12;
}

fn square_at(t: Flat, at: vec3f) -> f32 {
    let p = at.xy;
    let q = vec2f(p.x - t.length, p.y);
    let off01 = vec2f(p.x - t.length * saturate(p.x * t.per_length), p.y);
    let off02 = p - vec2f(t.along, t.height) * saturate(dot(p, t.along02));
    let off12 = q - vec2f(t.along - t.length, t.height) * saturate(dot(q, t.along12));
    let beside = min(dot(off01, off01), min(dot(off02, off02), dot(off12, off12)));
    return at.z * at.z + select(beside, 0.0, covers(t, p));
}

fn away_of_flat(t: Flat, p: vec3f) -> vec3f {
    let at = in_flat(t, p);
    let q = vec2f(at.x - t.length, at.y);
    let off01 = vec2f(at.x - t.length * saturate(at.x * t.per_length), at.y);
    let off02 = at.xy - vec2f(t.along, t.height) * saturate(dot(at.xy, t.along02));
    let off12 = q - vec2f(t.along - t.length, t.height) * saturate(dot(q, t.along12));
    let first = select(off02, off01, dot(off01, off01) <= dot(off02, off02));
    let beside = select(off12, first, dot(first, first) <= dot(off12, off12));
    let o = select(beside, vec2f(0.0), covers(t, at.xy));
    return t.x * o.x + t.y * o.y + t.n * at.z;
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

// What a box of the tree must be near to: `furthest` is a square.
struct Target {
    box: Box,
    known: Corners,
    furthest: f32,
}

fn larger(known: Corners) -> f32 {
    let most = max(known.low, known.high);
    return max(max(most.x, most.y), max(most.z, most.w));
}

fn target_of(box: Box) -> Target {
    let known = known_corners();
    let most = larger(known);
    return Target(box, known, most * most);
}

// Whether some triangle in a box of the tree may be near.
fn is_near(slot: u32, t: Target, is_coarse: bool) -> bool {
    let low = read_boxes(2u * slot).xyz;
    let high = read_boxes(2u * slot + 1u).xyz;
    if (!is_coarse) {
        let gap = max(max(low - (t.box.center + half_edge), (t.box.center - half_edge) - high), vec3f(0.0));
        return dot(gap, gap) <= t.furthest;
    }
    let a = t.box.center - half_edge;
    let b = t.box.center + half_edge;
    let below = max(max(low - a, a - high), vec3f(0.0));
    let above = max(max(low - b, b - high), vec3f(0.0));
    let first = below * below;
    let other = above * above;
    let around = vec4f(first.x + first.y, other.x + first.y, first.x + other.y, other.x + other.y);
    let known_low = t.known.low * t.known.low;
    let known_high = t.known.high * t.known.high;
    return any((around + first.z <= known_low) | (around + other.z <= known_high));
}

// Leaves of the tree near the box, FILLED apart, in bits.
fn near_leaves(first: u32, t: Target, is_coarse: bool) -> u32 {
    if (LEVELS == 1u) {
        return select(0u, 1u, first == 0u);
    }
    var out = 0u;
    for (var k = 0u; k < 32u; k++) {
        let leaf = first + FILLED * k;
        if (leaf >= LEAF_BLOCKS) {
            break;
        }
        if (is_near(8u * PARENT_START + leaf, t, is_coarse)) {
            out |= 1u << k;
        }
    }
    return out;
}

// Lists as many leaves as find room; which are left.
fn list_leaves(first: u32, near: u32) -> u32 {
    var open = near;
    for (var k = 0u; k < 32u; k++) {
        if (open == 0u) {
            break;
        }
        let at = atomicAdd(&leaf_count, 1u);
        if (at >= FILLED) {
            break;
        }
        leaves[at] = first + FILLED * firstTrailingBit(open);
        open &= open - 1u;
    }
    return open;
}

// Clusters near the box, of some leaves.
fn find_clusters(first: u32, count: u32, local: u32, t: Target, is_coarse: bool) {
    let i = first + local / 8u;
    if (i < count) {
        let cluster = 8u * leaves[i] + local % 8u;
        if (is_near(8u * LEAF_START + cluster, t, is_coarse)) {
            clusters[atomicAdd(&cluster_count, 1u)] = cluster;
        }
    }
}

// Lists triangles of some clusters that may be nearest; full batches are measured.
fn list_triangles(first: u32, count: u32, local: u32, box: Box, is_coarse: bool) {
    let i = first + local / 8u;
    var is_open = false;
    var slot = 0u;
    var bound = vec4f(0.0);
    var plane: Plane;
    if (i < count) {
        slot = 8u * clusters[i] + local % 8u;
        plane = plane_of(slot);
        bound = bound_of(away_of(plane, box.center));
        is_open = reaches(bound, half_edge, known_corners());
    }
    for (var batch = 0u; batch < BATCHES; batch++) {
        if (is_open) {
            let at = atomicAdd(&listed_count, 1u);
            if (at < ROOM) {
                listed[at] = bound;
                stage(at, slot, plane);
                is_open = false;
            }
        }
        if (workgroupUniformLoad(&listed_count) <= ROOM) {
            break;
        }
        measure_batch(ROOM, local, box, is_coarse);
        if (local == 0u) {
            atomicStore(&listed_count, 0u);
        }
        workgroupBarrier();
    }
}

fn search_leaves(count: u32, local: u32, t: Target, is_coarse: bool) {
    for (var leaf = 0u; leaf < count; leaf += EIGHTHS) {
        if (local == 0u) {
            atomicStore(&cluster_count, 0u);
        }
        workgroupBarrier();
        find_clusters(leaf, count, local, t, is_coarse);
        let near_clusters = workgroupUniformLoad(&cluster_count);
        for (var cluster = 0u; cluster < near_clusters; cluster += EIGHTHS) {
            list_triangles(cluster, near_clusters, local, t.box, is_coarse);
        }
    }
}

// Everything that may be nearer than the triangle `known`, batch after batch.
fn search(local: u32, box: Box, known: u32, is_coarse: bool) {
    if (local < 8u) {
        let distance = sqrt(square_from(known, box.center + side_of(local) * half_edge));
        atomicStore(&corner_bounds[local], bitcast<u32>(distance * 1.00001 + SLACK));
    }
    if (local == 0u) {
        atomicStore(&listed_count, 0u);
    }
    workgroupBarrier();
    let t = target_of(box);
    for (var first = 0u; first < LEAF_BLOCKS; first += 32u * FILLED) {
        var open = near_leaves(first + local, t, is_coarse);
        // A full list each, and what is left.
        for (var turn = 0u; turn < 33u; turn++) {
            if (local == 0u) {
                atomicStore(&leaf_count, 0u);
            }
            workgroupBarrier();
            open = list_leaves(first + local, open);
            let found = workgroupUniformLoad(&leaf_count);
            search_leaves(min(found, FILLED), local, t, is_coarse);
            if (found <= FILLED) {
                break;
            }
        }
    }
    let count = workgroupUniformLoad(&listed_count);
    if (count > 0u) {
        measure_batch(count, local, box, is_coarse);
    }
}
