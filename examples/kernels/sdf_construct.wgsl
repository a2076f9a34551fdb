// Each triangle gives its signed distance to the nodes of a grid near it. The smallest magnitude wins.

// Unsigned integers in the order of magnitudes: the sign bit becomes the lowest one.
fn key(distance: f32) -> u32 {
    let bits = bitcast<u32>(distance);
    return (bits << 1u) | (bits >> 31u);
}

fn closest_of_edge(p: vec3f, a: vec3f, b: vec3f) -> vec3f {
    let ab = b - a;
    let square = dot(ab, ab);
    return a + ab * select(0.0, saturate(dot(p - a, ab) / square), square > 0.0);
}

// The closest point of a triangle (Ericson, Real-Time Collision Detection, 5.1.5). One without area is its three edges.
fn closest(p: vec3f, a: vec3f, b: vec3f, c: vec3f) -> vec3f {
    let ab = b - a;
    let ac = c - a;
    let d1 = dot(ab, p - a);
    let d2 = dot(ac, p - a);
    if (d1 <= 0.0 && d2 <= 0.0) { return a; }
    let d3 = dot(ab, p - b);
    let d4 = dot(ac, p - b);
    if (d3 >= 0.0 && d4 <= d3) { return b; }
    let d5 = dot(ab, p - c);
    let d6 = dot(ac, p - c);
    if (d6 >= 0.0 && d5 <= d6) { return c; }
    let vc = d1 * d4 - d3 * d2;
    let vb = d5 * d2 - d1 * d6;
    let va = d3 * d6 - d5 * d4;
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) { return a + ab * (d1 / (d1 - d3)); }
    if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) { return a + ac * (d2 / (d2 - d6)); }
    if (va <= 0.0 && d4 >= d3 && d5 >= d6) {
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    let sum = va + vb + vc;
    return a + ab * (vb / sum) + ac * (vc / sum);
}

fn signed_distance(p: vec3f, a: vec3f, b: vec3f, c: vec3f) -> f32 {
    let normal = cross(b - a, c - a);
    var q = closest(p, a, b, c);
    if (all(normal == vec3f())) {
        q = closest_of_edge(p, a, b);
        let r = closest_of_edge(p, b, c);
        if (distance(p, r) < distance(p, q)) { q = r; }
        let s = closest_of_edge(p, c, a);
        if (distance(p, s) < distance(p, q)) { q = s; }
    }
    return select(-1.0, 1.0, dot(normal, p - a) >= 0.0) * distance(p, q);
}

fn kernel(index: u32) {
    let a = read_mesh_positions(mesh_triangle_vertex(index, 0u));
    let b = read_mesh_positions(mesh_triangle_vertex(index, 1u));
    let c = read_mesh_positions(mesh_triangle_vertex(index, 2u));
    // The box of the triangle, grown by one cell and one more node.
    let low = vec3i((min(min(a, b), c) - cell() - origin()) / cell());
    let high = vec3i((max(max(a, b), c) + cell() - origin()) / cell());
    let first = max(low - 1, vec3i());
    let last = min(high + 1, nodes() - 1);
    for (var z = first.z; z <= last.z; z++) {
        for (var y = first.y; y <= last.y; y++) {
            for (var x = first.x; x <= last.x; x++) {
                let p = fma(vec3f(cell()), vec3f(vec3i(x, y, z)), origin());
                let node = x + nodes().x * (y + nodes().y * z);
                min_keys(u32(node), key(signed_distance(p, a, b, c)));
            }
        }
    }
}
