// Modes `rbf` and `cage`: all vertices hang on the same points.
fn carried(index: u32, p: vec3f, origin: vec3f) -> Carried {
    let offset = p - origin;
    let has_gradients = wants_mesh_normals || wants_mesh_tangents || any(offset != vec3f(0.0));
    var shift = vec3f(0.0);
    var x = vec3f(0.0);
    var y = vec3f(0.0);
    var z = vec3f(0.0);
    for (var k = 0u; k < point_count; k++) {
        let at = k * vertex_count + index;
        let d = displacement(read_points(k));
        shift += d * read_weights(at);
        if (has_gradients) {
            let g = read_gradients(at);
            x += d * g.x;
            y += d * g.y;
            z += d * g.z;
        }
    }
    let moved = p + shift + x * offset.x + y * offset.y + z * offset.z;
    let j = mat3x3f(x + vec3f(1.0, 0.0, 0.0), y + vec3f(0.0, 1.0, 0.0), z + vec3f(0.0, 0.0, 1.0));
    if (dot(j[0], j[0]) + dot(j[1], j[1]) + dot(j[2], j[2]) < 1e-9) {
        // Points at one position differ by rounding only.
        return Carried(moved, mat3x3f(vec3f(0.0), vec3f(0.0), vec3f(0.0)));
    }
    return Carried(moved, j);
}
