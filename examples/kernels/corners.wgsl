// Orientation of the texture on each triangle, summed at its corners. It is positive if u, v and the normal are
// right-handed. It does not depend on the pose and runs once.

fn angle_between(a: vec3f, b: vec3f) -> f32 {
    return atan2(length(cross(a, b)), dot(a, b));
}

fn kernel(triangle: u32) {
    let v = vec3u(mesh_triangle_vertex(triangle, 0u), mesh_triangle_vertex(triangle, 1u), mesh_triangle_vertex(triangle, 2u));
    let uv = array(read_mesh_uvs(v.x), read_mesh_uvs(v.y), read_mesh_uvs(v.z));
    let a = uv[1] - uv[0];
    let b = uv[2] - uv[0];
    let area = a.x * b.y - a.y * b.x;
    let longest = max(max(dot(a, a), dot(b, b)), dot(a - b, a - b));
    // Relative to the size of the triangle, so that small texture islands count like large ones.
    if (!(abs(area) > 1e-6 * longest)) {
        return;
    }
    let p = array(read_mesh_positions(v.x), read_mesh_positions(v.y), read_mesh_positions(v.z));
    for (var k = 0u; k < 3u; k++) {
        let weight = angle_between(p[(k + 1u) % 3u] - p[k], p[(k + 2u) % 3u] - p[k]);
        add_orientation(v[k], i32(sign(area) * weight * RANGE));
    }
}
