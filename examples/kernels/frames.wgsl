// Unit normal and tangent of each vertex, from the sums of its triangles.

fn sum_at(first: u32) -> vec3f {
    return vec3f(vec3i(read_sums(first), read_sums(first + 1u), read_sums(first + 2u)));
}

// A unit vector perpendicular to `n`.
fn perpendicular(n: vec3f) -> vec3f {
    let axis = select(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 0.0, 1.0), abs(n.z) < 0.5);
    return normalize(axis - n * dot(n, axis));
}

fn kernel(index: u32) {
    let sum = sum_at(SUMS * index);
    var normal = read_rest_normals(index);
    if (any(sum != vec3f(0.0))) {
        normal = normalize(sum);
    }
    write_mesh_normals(index, normal);

    let along = sum_at(SUMS * index + 3u);
    let flat = along - normal * dot(normal, along);
    var tangent = perpendicular(normal);
    if (dot(flat, flat) > 1e-10 * dot(along, along)) {
        tangent = normalize(flat);
    }
    // v points down: a texture that is right-handed on the surface has a mirrored frame.
    let side = select(1.0, -1.0, read_orientation(index) > 0);
    write_mesh_tangents(index, vec4f(tangent, side));
}
