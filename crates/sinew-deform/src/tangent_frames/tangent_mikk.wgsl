// Step 6 of MikkTSpace: directions of growing u projected into the plane of the normal, weighted by the angle between
// the projected edges. Groups have corner lists of their own: 4 + 4 n bytes more.

fn flattened(v: vec3f, n: vec3f) -> vec3f {
    return unit_or_zero(v - n * dot(n, v));
}

fn mikk_terms(corner: u32, n: vec3f) -> vec3f {
    let t = read_triangles(corner >> 3u);
    let p0 = surface_position(t.x);
    let p1 = surface_position(t.y);
    let p2 = surface_position(t.z);
    let tangent = u_direction(t.w, p1 - p0, p2 - p0);
    var a = p1 - p0;
    var b = p2 - p0;
    if ((corner & 3u) == 1u) {
        a = p2 - p1;
        b = p0 - p1;
    } else if ((corner & 3u) == 2u) {
        a = p0 - p2;
        b = p1 - p2;
    }
    a = flattened(a, n);
    b = flattened(b, n);
    let across = cross(a, b);
    return flattened(tangent, n) * angle(sqrt(dot(across, across)), dot(a, b));
}

fn carried_tangent(index: u32, n: vec3f, unused_sum: vec3f) -> vec4f {
    let head = read_group_corners(index);
    var count = row_length(head);
    var at = row_start(head, index);
    var stride = ROW_STRIDE;
    if (count == LONG_ROW) {
        at = row_block(head);
        count = read_group_corners(at);
        at += 1u;
        stride = 1u;
    }
    var sum = vec3f(0.0);
    for (var k = 0u; k < count; k++) {
        sum += mikk_terms(read_group_corners(at + k * stride), n);
    }
    let negative = (read_signs(index >> 5u) >> (index & 31u)) & 1u;
    return vec4f(tangent_along(sum, index, n), select(1.0, -1.0, negative != 0u));
}
