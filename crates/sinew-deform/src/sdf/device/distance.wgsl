// Distances to triangles and boxes.

// A triangle in its own plane: corner 0 is the origin, edge 0-1 the x axis.
struct Plane {
    origin: vec3f,
    length: f32,
    x: vec3f,
    y: vec3f,
    n: vec3f,
    // Direction and length.
    edge02: vec3f,
    edge12: vec3f,
    first: u32,
}

fn plane_of(slot: u32) -> Plane {
    let a = read_planes(6u * slot);
    let b = read_planes(6u * slot + 1u);
    let c = read_planes(6u * slot + 2u);
    let d = read_planes(6u * slot + 3u);
    let e = read_planes(6u * slot + 4u);
    return Plane(a.xyz, a.w, b.xyz, c.xyz, d.xyz, vec3f(b.w, c.w, d.w), e.xyz, u32(e.w));
}

fn in_plane(t: Plane, p: vec3f) -> vec3f {
    let rel = p - t.origin;
    return vec3f(dot(rel, t.x), dot(rel, t.y), dot(rel, t.n));
}

// Strictly inside all edges; never, where the triangle has no area.
fn contains(t: Plane, p: vec2f) -> bool {
    let right_of_02 = p.x * t.edge02.y - p.y * t.edge02.x > 0.0;
    let left_of_12 = (p.x - t.length) * t.edge12.y - p.y * t.edge12.x < 0.0;
    return p.y > 0.0 && right_of_02 && left_of_12;
}

// From the closest point of an edge through the origin.
fn from_edge(p: vec2f, edge: vec3f) -> vec2f {
    return p - edge.xy * clamp(dot(p, edge.xy), 0.0, edge.z);
}

// From the closest point of the triangle, in its plane.
fn off(t: Plane, p: vec2f) -> vec2f {
    if (contains(t, p)) {
        return vec2f(0.0);
    }
    let off01 = vec2f(p.x - clamp(p.x, 0.0, t.length), p.y);
    let off02 = from_edge(p, t.edge02);
    let off12 = from_edge(vec2f(p.x - t.length, p.y), t.edge12);
    let first = select(off02, off01, dot(off01, off01) <= dot(off02, off02));
    return select(off12, first, dot(first, first) <= dot(off12, off12));
}

// From the closest point of the triangle to `p`.
fn away_of(t: Plane, p: vec3f) -> vec3f {
    let at = in_plane(t, p);
    let o = off(t, at.xy);
    return t.x * o.x + t.y * o.y + t.n * at.z;
}

fn away_from(slot: u32, p: vec3f) -> vec3f {
    return away_of(plane_of(slot), p);
}

fn square_of(t: Plane, p: vec3f) -> f32 {
    let at = in_plane(t, p);
    let o = off(t, at.xy);
    return at.z * at.z + dot(o, o);
}

fn square_from(slot: u32, p: vec3f) -> f32 {
    return square_of(plane_of(slot), p);
}

struct Nearest {
    square: f32,
    slot: u32,
}

// The lowest of equals, whatever the order.
fn nearer(best: Nearest, square: f32, slot: u32) -> Nearest {
    if (square < best.square || (square == best.square && slot < best.slot)) {
        return Nearest(square, slot);
    }
    return best;
}

// Squared distance between a box of the tree and another one.
fn box_square(slot: u32, low: vec3f, high: vec3f) -> f32 {
    let below = read_boxes(2u * slot).xyz - high;
    let above = low - read_boxes(2u * slot + 1u).xyz;
    let gap = max(max(below, above), vec3f(0.0));
    return dot(gap, gap);
}
