// Mode `points`: each vertex hangs on points of its own, and moves by a similarity about their middle.
fn carried(index: u32, p: vec3f, origin: vec3f) -> Carried {
    var shift = vec3f(0.0);
    // Second moments.
    let diagonal = read_moments(2u * index).xyz;
    let beside = read_moments(2u * index + 1u).xyz;
    var a = mat3x3f(
        vec3f(diagonal.x, beside.x, beside.y),
        vec3f(beside.x, diagonal.y, beside.z),
        vec3f(beside.y, beside.z, diagonal.z),
    );
    for (var k = 0u; k < point_count; k++) {
        let at = k * vertex_count + index;
        let d = displacement(read_points(at));
        let g = read_gradients(at);
        shift += d * read_weights(at);
        a[0] += d * g.x;
        a[1] += d * g.y;
        a[2] += d * g.z;
    }
    let square = dot(a[0], a[0]) + dot(a[1], a[1]) + dot(a[2], a[2]);
    if (square < 1e-9) {
        // Points at one position differ by rounding only.
        return Carried(origin + shift, mat3x3f(vec3f(0.0), vec3f(0.0), vec3f(0.0)));
    }
    let b = a * (1.0 / sqrt(square));
    // Cofactors have the same nearest rotation, and they fix it where all points are in one plane.
    let both = b + mat3x3f(cross(b[1], b[2]), cross(b[2], b[0]), cross(b[0], b[1]));
    let r = nearest_rotation(both, mat3x3f(vec3f(1.0, 0.0, 0.0), vec3f(0.0, 1.0, 0.0), vec3f(0.0, 0.0, 1.0)));
    let jacobian = r * (dot(r[0], a[0]) + dot(r[1], a[1]) + dot(r[2], a[2]));
    return Carried(origin + shift + jacobian * (p - origin), jacobian);
}
