// Adds normal and tangent of each triangle to its three vertices, as integers. Their sum is the same in any order.

// `atan2(y, x)` for `y >= 0`. The error of WGSL's `atan2` may be a thousandth.
fn angle(y: f32, x: f32) -> f32 {
    let ax = abs(x);
    let low = min(ax, y);
    let high = max(ax, y);
    if (high == 0.0) {
        return 0.0;
    }
    let folded = low > high * 0.41421357;
    let t = select(low, low - high, folded) / select(high, low + high, folded);
    let z = t * t;
    let p = ((8.0537445e-2 * z - 1.3877686e-1) * z + 1.9977711e-1) * z - 3.333295e-1;
    var r = p * z * t + t;
    r = select(r, r + 0.78539816, folded);
    r = select(r, 1.57079633 - r, y > ax);
    return select(r, 3.14159265 - r, x < 0.0);
}

fn add_vector(first: u32, v: vec3f) {
    let whole = vec3i(v * RANGE);
    add_sums(first, whole.x);
    add_sums(first + 1u, whole.y);
    add_sums(first + 2u, whole.z);
}

fn kernel(triangle: u32) {
    // The graph runs this for existing triangles only. No bounds check is needed.
    let v = vec3u(mesh_triangle_vertex(triangle, 0u), mesh_triangle_vertex(triangle, 1u), mesh_triangle_vertex(triangle, 2u));
    let p = array(read_mesh_positions(v.x), read_mesh_positions(v.y), read_mesh_positions(v.z));
    let e01 = p[1] - p[0];
    let e02 = p[2] - p[0];
    // Counter-clockwise, seen from outside.
    let area = cross(e01, e02);
    let size = max(dot(e01, e01), dot(e02, e02));
    if (!(dot(area, area) > 1e-13 * size * size)) {
        // A triangle with zero area has no normal.
        return;
    }
    let normal = normalize(area);

    let uv = array(read_mesh_uvs(v.x), read_mesh_uvs(v.y), read_mesh_uvs(v.z));
    let a = uv[1] - uv[0];
    let b = uv[2] - uv[0];
    let uv_area = a.x * b.y - a.y * b.x;
    let longest = max(max(dot(a, a), dot(b, b)), dot(a - b, a - b));
    let has_tangent = abs(uv_area) > 1e-6 * longest;
    // The direction in which u grows.
    let along = (e01 * b.y - e02 * a.y) * sign(uv_area);
    let tangent = select(vec3f(0.0), along / max(length(along), 1e-30), has_tangent);

    for (var k = 0u; k < 3u; k++) {
        let to_next = p[(k + 1u) % 3u] - p[k];
        let to_last = p[(k + 2u) % 3u] - p[k];
        let weight = angle(length(cross(to_next, to_last)), dot(to_next, to_last));
        let first = SUMS * v[k];
        add_vector(first, normal * weight);
        // A triangle with the opposite texture orientation would only cancel tangents.
        if ((uv_area > 0.0) == (read_orientation(v[k]) > 0)) {
            add_vector(first + 3u, tangent * weight);
        }
    }
}
