// What columns of nodes cross: sixteen invocations a triangle, each for one of the columns in its way. And the rim.

const LANES: u32 = 16u;

// In cells, as every triangle at the point sees it.
fn point(vertex: u32, shape: Shape) -> vec3f {
    let p = (read_built_for(vertex) - shape.origin) * (1.0 / shape.cell);
    return select(vec3f(0.0), clamp(p, vec3f(-1e7), vec3f(1e7)), is_number(p));
}

// How often an edge passes the origin on its right, upwards.
fn passes(start: vec2f, end: vec2f) -> i32 {
    let rises = end.y > 0.0;
    if ((start.y > 0.0) == rises) {
        return 0;
    }
    if (rises) {
        return select(0, 1, is_left(start, end));
    }
    return select(0, -1, is_left(end, start));
}

fn determinant(a: vec2f, b: vec2f) -> f32 {
    return a.x * b.y - b.x * a.y;
}

fn add_byte(index: u32, count: i32) {
    add_crossed(index / 4u, bitcast<u32>(count) << (8u * (index % 4u)));
}

// A crossing after the node `below` of the column, for each brick that has the column.
fn add_to_bricks(column: vec2u, below: u32, count: i32, bricks: vec3u) {
    for (var side = 0u; side < 4u; side++) {
        let beside = vec2u(side & 1u, side >> 1u);
        let brick = column / 7u - beside;
        let own = column - 7u * brick;
        // Below zero a number is large.
        if (any(brick >= bricks.xy) || any(own > vec2u(7u))) {
            continue;
        }
        let slot = read_bricks(2u * SLOTS + brick.x + bricks.x * (brick.y + bricks.y * (below / 7u)));
        if (slot > 0u) {
            add_byte(4u * COLUMN_WORDS * (slot - 1u) + 8u * (own.x + 8u * own.y) + below % 7u, count);
        }
    }
}

fn cross_column(corners: array<vec3f, 3>, column: vec2u, bricks: vec3u) {
    let at = vec2f(column);
    let a = corners[0].xy - at - ASIDE;
    let b = corners[1].xy - at - ASIDE;
    let c = corners[2].xy - at - ASIDE;
    let count = -(passes(a, b) + passes(b, c) + passes(c, a));
    if (count == 0) {
        return;
    }
    let weights = vec3f(determinant(b, c), determinant(c, a), determinant(a, b));
    let heights = vec3f(corners[0].z, corners[1].z, corners[2].z);
    let low = min(min(heights.x, heights.y), heights.z);
    let high = max(max(heights.x, heights.y), heights.z);
    let sum = weights.x + weights.y + weights.z;
    let height = select(low, clamp(dot(weights, heights) / sum, low, high), sum != 0.0);
    // The node below.
    let below = ceil(height) - 1.0;
    if (below >= f32(7u * bricks.z)) {
        return;
    }
    let start = 4u * COLUMN_WORDS * SLOTS + column_start(column, bricks);
    if (below < 0.0) {
        add_byte(start, count);
        return;
    }
    add_byte(start + 1u + u32(below) / 7u, count);
    add_to_bricks(column, u32(below), count, bricks);
}

fn kernel(group: u32, local: u32) {
    if (read_state(MOVED) == 0u) {
        return;
    }
    let shape = known_shape();
    let edge = MARKED * group + local;
    if (edge < RIM) {
        let start = point(read_mesh_words(RIM_POINTS + 2u * edge), shape);
        let end = point(read_mesh_words(RIM_POINTS + 2u * edge + 1u), shape);
        write_rim(2u * edge, vec4f(start, distance(start, end)));
        write_rim(2u * edge + 1u, vec4f(end, 0.0));
    }
    let triangle = 8u * (group / SHARES) + local / LANES;
    if (triangle >= TRIANGLES) {
        return;
    }
    var corners: array<vec3f, 3>;
    for (var k = 0u; k < 3u; k++) {
        corners[k] = point(read_mesh_words(POINTS_OF_TRIANGLES + 3u * triangle + k), shape);
    }
    let low = min(min(corners[0], corners[1]), corners[2]).xy - 1e-3;
    let high = max(max(corners[0], corners[1]), corners[2]).xy + 1e-3;
    let most = vec2f(7u * shape.bricks.xy);
    if (any(high < vec2f(0.0)) || any(low > most)) {
        return;
    }
    let first = vec2u(ceil(max(low, vec2f(0.0))));
    let across = vec2u(floor(min(high, most))) + 1u - first;
    for (var i = LANES * (group % SHARES) + local % LANES; i < across.x * across.y; i += LANES * SHARES) {
        cross_column(corners, first + vec2u(i % across.x, i / across.x), shape.bricks);
    }
}
