// Adds the detail to the smoothed mesh, rotated by the current frame of the same two neighbours.

// Below this squared length of their cross product, two edges make no frame.
const TINY = 1e-30;

fn mushed(index: u32) -> vec3f {
    let smoothed = read_smooth_positions(index);
    let detail = read_detail(index);
    let a = read_pair(2u * index);
    let b = read_pair(2u * index + 1u);
    if (a == b) {
        return smoothed + detail;
    }
    let edge = read_smooth_positions(a) - smoothed;
    let area = cross(edge, read_smooth_positions(b) - smoothed);
    if (dot(area, area) < TINY) {
        return smoothed;
    }
    let normal = normalize(area);
    let tangent = normalize(edge);
    return smoothed + tangent * detail.x + cross(normal, tangent) * detail.y + normal * detail.z;
}

fn kernel(index: u32) {
    let before = read_mesh_positions(index);
    let after = mix(before, mushed(index), blend());
    write_mesh_positions(index, after);
    // Shows as colour how far each vertex moved. Full colour is 1 m.
    let moved = abs(after - before);
    write_mesh_colors(index, saturate(vec4f(moved, length(moved))));
}
