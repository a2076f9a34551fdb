// Many small things that only need the triangles: normals of edges and points, boxes higher up; and which bricks come near which
// clusters of triangles.
//
// A brick is near where it comes within the band of the box of a cluster, and of the plane in front of one of its triangles. Bricks keep
// the highest key: whether the surface may run through them, how near the triangle is to their centre, its number.

fn own_normal(triangle: u32) -> vec3f {
    return read_planes(6u * triangle + 3u).xyz;
}

fn is_flat(triangle: u32) -> bool {
    return read_planes(6u * triangle + 5u).w != 0.0;
}

// A triangle without area stands for its neighbours, so that the surface has no gap in signs.
fn face_normal(triangle: u32) -> vec3f {
    if (!is_flat(triangle)) {
        return own_normal(triangle);
    }
    var sum = vec3f(0.0);
    for (var k = 0u; k < 3u; k++) {
        let edge = read_mesh_words(FEATURES + 6u * triangle + k);
        let end = read_mesh_words(EDGE_STARTS + edge + 1u);
        for (var i = read_mesh_words(EDGE_STARTS + edge); i < end; i++) {
            let other = read_mesh_words(EDGE_LISTS + i);
            if (!is_flat(other)) {
                sum += own_normal(other);
            }
        }
    }
    let length = sqrt(dot(sum, sum));
    return select(vec3f(0.0), sum / length, length > 1.1754944e-38);
}

fn of_edge(edge: u32) {
    var sum = vec3f(0.0);
    let end = read_mesh_words(EDGE_STARTS + edge + 1u);
    for (var i = read_mesh_words(EDGE_STARTS + edge); i < end; i++) {
        sum += face_normal(read_mesh_words(EDGE_LISTS + i));
    }
    write_normals(edge, vec4f(sum, 0.0));
}

fn of_point(point: u32) {
    var sum = vec3f(0.0);
    let end = read_mesh_words(POINT_STARTS + point + 1u);
    for (var i = read_mesh_words(POINT_STARTS + point); i < end; i++) {
        let corner = read_mesh_words(POINT_LISTS + i);
        let angles = read_planes(2u * (corner - corner % 3u) + 5u);
        sum += face_normal(corner / 3u) * angles[corner % 3u];
    }
    write_normals(EDGES + point, vec4f(sum, 0.0));
}

// A box higher up than those of the leaves' parents: around all leaves below it.
fn of_box(slot: u32) {
    var width = 8u;
    for (var level = 3u; level < LEVELS; level++) {
        width *= 8u;
    }
    var index = slot;
    var count = 8u;
    for (var level = 3u; level < LEVELS; level++) {
        if (index < count) {
            break;
        }
        index -= count;
        count *= 8u;
        width /= 8u;
    }
    var low = vec3f(NOWHERE);
    var high = vec3f(-NOWHERE);
    let end = min((index + 1u) * width, LEAF_BLOCKS);
    for (var i = index * width; i < end; i++) {
        low = min(low, read_boxes(2u * (8u * PARENT_START + i)).xyz);
        high = max(high, read_boxes(2u * (8u * PARENT_START + i) + 1u).xyz);
    }
    write_boxes(2u * slot, vec4f(low, 0.0));
    write_boxes(2u * slot + 1u, vec4f(high, 0.0));
}

fn small_thing(index: u32) {
    var i = index;
    if (i < UPPER_BOXES) {
        of_box(i);
        return;
    }
    i -= UPPER_BOXES;
    if (i < EDGES) {
        of_edge(i);
        return;
    }
    i -= EDGES;
    if (i < POINTS) {
        of_point(i);
    }
}

// How near a brick can come to a triangle with this distance and direction from its centre: no nearer than the plane in front
// of it.
fn least_distance(away: vec3f) -> f32 {
    let distance = sqrt(dot(away, away));
    if (distance <= 0.0) {
        return 0.0;
    }
    let a = abs(away);
    return distance - HALF_EDGE * (a.x + a.y + a.z) / distance;
}

fn mark(brick: u32, slot: u32, away: vec3f) {
    let side = least_distance(away);
    if (side > BAND) {
        return;
    }
    let is_on = side <= 0.0;
    let nearness = (0x7fffffffu - bitcast<u32>(dot(away, away))) & ~SLOT_MASK;
    let before = max_near(brick, select(0u, SURFACE, is_on) | nearness | slot);
    // How many are wanted, by who comes first: on the surface in the lower half, all of them in the upper one.
    let more = select(0u, 0x10000u, before == 0u) + select(0u, 1u, is_on && (before & SURFACE) == 0u);
    if (more != 0u) {
        add_tally(WANTED + brick / 256u, more);
    }
}

struct Box {
    low: vec3f,
    high: vec3f,
}

// A corner of the box in which bricks get values, in cells.
fn reach_at(word: u32, shape: Shape) -> vec3f {
    let words = vec3u(read_state(REACH + word), read_state(REACH + word + 1u), read_state(REACH + word + 2u));
    return (bitcast<vec3f>(words) - shape.origin) / shape.cell;
}

// A part of the bricks around a cluster.
fn mark_around(cluster: u32, share: u32, local: u32) {
    let shape = known_shape();
    let bricks = shape.bricks;
    let box = 8u * LEAF_START + cluster;
    let most = vec3f(bricks) - 1.0;
    // A little more than is near; each brick is looked at. None out of reach, as in `FieldBuffers::build`.
    // A look-up of a point outside of the grid takes the closest point of the grid.
    let last = vec3f(bricks * 7u);
    let reach = Box(min(reach_at(0u, shape) - 1.0, last), max(reach_at(3u, shape) + 1.0, vec3f(0.0)));
    let low = floor(max((read_boxes(2u * box).xyz - BAND - 0.01) / 7.0, reach.low / 7.0 - 1e-3));
    let high = floor(min((read_boxes(2u * box + 1u).xyz + BAND + 0.01) / 7.0, reach.high / 7.0 + 1e-3));
    if (any(high < vec3f(0.0)) || any(low > most) || any(high < low)) {
        return;
    }
    let first = vec3u(max(low, vec3f(0.0)));
    let across = vec3u(min(high, most)) - first + 1u;
    let end = 8u * brick_count(across);
    for (var i = MARKED * share + local; i < end; i += MARKED * SHARES) {
        let at = first + unflatten(i / 8u, across);
        let center = vec3f(at * 7u) + vec3f(HALF_EDGE);
        if (box_square(box, center - vec3f(HALF_EDGE), center + vec3f(HALF_EDGE)) <= BAND * BAND) {
            let slot = 8u * cluster + i % 8u;
            mark(at.x + bricks.x * (at.y + bricks.y * at.z), slot, away_from(slot, center));
        }
    }
}

fn kernel(group: u32, local: u32) {
    if (read_state(MOVED) == 0u) {
        return;
    }
    if (group < MARKING_GROUPS) {
        for (var i = MARKED * group + local; i < COLUMN_COUNTS; i += MARKED * MARKING_GROUPS) {
            write_crossed(i, 0u);
        }
        mark_around(group / SHARES, group % SHARES, local);
    } else {
        small_thing(MARKED * (group - MARKING_GROUPS) + local);
    }
}
