// Step 6 of MikkTSpace: directions of growing u projected into the plane of the normal, weighted by the angle between
// the projected edges. Groups have corner lists of their own: 4 + 12 n bytes more at most.

fn flattened(v: vec3f, n: vec3f) -> vec3f {
    return unit_or_zero(v - n * dot(n, v));
}

fn mikk_terms(c: u32, n: vec3f) -> vec3f {
    let first = group_mesh_positions(3u * c);
    let next = group_mesh_positions(3u * c + 1u) - first;
    let previous = group_mesh_positions(3u * c + 2u) - first;
    let tangent = u_direction(group_extra(3u * c), next, previous);
    let a = flattened(next, n);
    let b = flattened(previous, n);
    let across = cross(a, b);
    return flattened(tangent, n) * angle(sqrt(dot(across, across)), dot(a, b));
}

fn carried_tangent(index: u32, n: vec3f, unused_sum: vec3f) -> vec4f {
    let count = open_group(index);
    var sum = vec3f(0.0);
    for (var c = 0u; c < group_groups(); c++) {
        sum += mikk_terms(c, n);
    }
    let negative = (read_signs(index >> 5u) >> (index & 31u)) & 1u;
    return vec4f(tangent_along(sum, index, n), select(1.0, -1.0, negative != 0u));
}
