// Sides of nodes from what their columns cross.

const KEEPS_SLOTS: bool = false;
const PI: f32 = 3.1415927;

// The four bytes of a word, signed.
fn bytes(word: u32) -> vec4i {
    return vec4i((vec4u(word + BIAS) >> vec4u(0u, 8u, 16u, 24u)) & vec4u(0xffu)) - 128;
}

// What a column crosses below its node `7 * brick`.
fn crossed_below(column: vec2u, brick: u32, bricks: vec3u) -> i32 {
    let first = column_start(column, bricks);
    let end = first + brick + 1u;
    var sum = vec4i(0);
    for (var word = first / 4u; word < (end + 3u) / 4u; word++) {
        let index = vec4u(4u * word) + vec4u(0u, 1u, 2u, 3u);
        let own = (index >= vec4u(first)) & (index < vec4u(end));
        sum += select(vec4i(0), bytes(read_crossed(COLUMN_WORDS * SLOTS + word)), own);
    }
    return sum.x + sum.y + sum.z + sum.w;
}

// What a node sees of the walls on the rim.
struct Rim {
    // Half of their solid angle: 2 pi is a winding number of one.
    angle: f32,
    // The most that this changes from here, in a cell (Biot and Savart).
    slope: f32,
    // No edge is nearer.
    distance: f32,
}

// A direction seen from its opposite, in the plane; (0, 0) is up.
fn stereographic(p: vec3f, length: f32) -> vec2f {
    if (p.z >= 0.0) {
        return p.xy / (length + p.z);
    }
    return p.xy * ((length - p.z) / dot(p.xy, p.xy));
}

// The edge `first` and each that is `step` further. Angles are summed as a product of directions and whole turns.
fn see_rim(p: vec3f, first: u32, step: u32) -> Rim {
    var out = Rim(0.0, 0.0, NOWHERE);
    var sum = vec2f(1.0, 0.0);
    var turns = 0.0;
    for (var i = first; i < RIM; i += step) {
        let low = read_rim(2u * i);
        let start = low.xyz - p - vec3f(ASIDE, 0.0);
        let end = read_rim(2u * i + 1u).xyz - p - vec3f(ASIDE, 0.0);
        let lengths = vec2f(length(start), length(end));
        let a = stereographic(start, lengths.x);
        let b = stereographic(end, lengths.y);
        // The side as `cross` sees it.
        let rises = end.y > start.y;
        let left = is_left(select(end.xy, start.xy, rises), select(start.xy, end.xy, rises));
        let across = abs(a.x * b.y - b.x * a.y);
        let own = vec2f(1.0 + dot(a, b), select(-across, across, left == rises));
        let next = vec2f(sum.x * own.x - sum.y * own.y, sum.x * own.y + sum.y * own.x);
        let is_left_turn = sum.y >= 0.0;
        if (is_left_turn == (own.y >= 0.0) && is_left_turn != (next.y >= 0.0)) {
            turns += select(-1.0, 1.0, is_left_turn);
        }
        sum = next * inverseSqrt(dot(next, next));
        let distance = max(0.5 * (lengths.x + lengths.y - low.w), 1e-3);
        out.slope += 0.5 * low.w / (distance * distance);
        out.distance = min(out.distance, distance);
    }
    out.angle = atan2(sum.y, sum.x) + 2.0 * PI * turns;
    return out;
}

// By how much the angle can change on a way.
fn most_change(seen: Rim, way: f32) -> f32 {
    if (way >= seen.distance) {
        return select(HUGE, 0.0, way == 0.0);
    }
    let nearer = seen.distance / (seen.distance - way);
    return seen.slope * way * nearer * nearer;
}

// The angle of mesh and walls less that of the walls, above a half.
fn above_half(crossed: i32, rim_angle: f32) -> f32 {
    return f32(crossed) * 2.0 * PI + rim_angle - PI;
}

fn column_inside(slot: u32, at: vec3u, local: u32) -> vec4<bool> {
    let block = block_of(local / LANES);
    let lane = local % LANES;
    let own = 4u * vec2u(block & 1u, (block >> 1u) & 1u) + vec2u(lane & 3u, lane >> 2u);
    let column = 7u * at.xy + own;
    let word = COLUMN_WORDS * slot + 2u * (own.x + 8u * own.y);
    var sum = crossed_below(column, at.z, known_shape().bricks);
    var between = bytes(read_crossed(word));
    if (block >= 4u) {
        sum += between.x + between.y + between.z + between.w;
        between = bytes(read_crossed(word + 1u));
    }
    var out = vec4<bool>(false);
    if (RIM == 0u) {
        for (var k = 0u; k < 4u; k++) {
            out[k] = sum > 0;
            sum += between[k];
        }
        return out;
    }
    // The walls stand along the column, so that their angle does not jump: most nodes need not look at them again.
    let low = vec3f(vec3u(column, 7u * at.z + 4u * (block >> 2u)));
    var seen = see_rim(low, 0u, 1u);
    var seen_at = 0u;
    for (var k = 0u; k < 4u; k++) {
        if (abs(above_half(sum, seen.angle)) < most_change(seen, f32(k - seen_at)) + 1e-4) {
            seen = see_rim(low + vec3f(0.0, 0.0, f32(k)), 0u, 1u);
            seen_at = k;
        }
        out[k] = above_half(sum, seen.angle) > 0.0;
        sum += between[k];
    }
    return out;
}

// By a team together.
fn corner_inside(nearest: u32, corner: vec3u, local: u32) -> bool {
    let bricks = known_shape().bricks;
    let at = min(corner, bricks);
    let crossed = crossed_below(7u * at.xy, at.z, bricks);
    if (RIM == 0u) {
        return crossed > 0;
    }
    bounds[local].x = see_rim(vec3f(7u * at), local % LANES, LANES).angle;
    workgroupBarrier();
    var angle = 0.0;
    for (var k = 0u; k < LANES; k++) {
        angle += bounds[local - local % LANES + k].x;
    }
    return above_half(crossed, angle) > 0.0;
}
