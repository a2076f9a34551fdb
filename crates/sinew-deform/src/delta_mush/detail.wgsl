// The point of a class plus its detail, turned by a frame made of neighbours.
// Moves, for a fan of n entries: 12 (point) + 4 (head) + 2 n near or 4 n far (entries) + 4 n (factors of frames from UV)
// + 16 (detail) + 12 (written) bytes. The entries' points, 12 n more, come from caches or workgroup memory.

const TINY = 1e-36;
// Inverse square of the sine between tangent and normal below which a frame fades.
const SINE = 1e6;

fn unit(v: vec3f) -> vec3f {
    return v / sqrt(max(dot(v, v), TINY));
}

fn kernel(class_index: u32) {
    let smoothed = read_points(class_index);
    let stored = read_details(class_index);
    // The sign says where the frame comes from.
    let before = stored.w < 0.0;
    let count = open_fan(class_index);
    var area = vec3f(0.0, 0.0, 1.0);
    var edge = vec3f(1.0, 0.0, 0.0);
    if (count >= 2u) {
        let base = fan_point(0u, before);
        area = vec3f(0.0);
        edge = fan_point(1u, before) - base;
        if (fan_factored) {
            edge *= bitcast<f32>(fan_extra(1u));
        }
        var last = vec3f(0.0);
        for (var k = 2u; k < fan_count(); k++) {
            let next = fan_point(k, before) - base;
            area += cross(last, next);
            if (fan_factored) {
                edge += next * bitcast<f32>(fan_extra(k));
            }
            last = next;
        }
    }
    let normal = unit(area);
    let across = edge - normal * dot(normal, edge);
    let tangent = unit(across);
    let sine = dot(across, across) * SINE / max(dot(edge, edge), TINY);
    // Limited before the multiplication: factors go up to 1e37.
    let rest = abs(stored.w);
    let left = min(dot(area, area), 1.0 / rest) * rest * min(sine, 1.0);
    let bitangent = cross(normal, tangent);
    let share = left * uniforms().displacement;
    let detail = tangent * stored.x + bitangent * stored.y + normal * stored.z;
    write_goal(class_index, smoothed + detail * share);
    keep_axes(class_index, tangent * share, bitangent * share, normal * share);
}
