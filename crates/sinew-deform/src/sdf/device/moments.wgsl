// First moments of clusters, for winding numbers.

fn add_triangle(slot: u32, k: u32) -> vec3f {
    let t = plane_of(slot);
    let along = t.x * (t.edge02.x * t.edge02.z) + t.y * (t.edge02.y * t.edge02.z);
    let ends = array(vec3f(0.0), t.x * t.length, along);
    return t.origin + ends[k];
}

fn kernel(cluster: u32) {
    if (read_state(MOVED) == 0u) {
        return;
    }
    let end = min(8u * cluster + 8u, TRIANGLES);
    var center = vec3f(0.0);
    var normal = vec3f(0.0);
    var area = 0.0;
    for (var slot = 8u * cluster; slot < end; slot++) {
        let a = add_triangle(slot, 0u);
        let b = add_triangle(slot, 1u);
        let c = add_triangle(slot, 2u);
        let n = cross(b - a, c - a) * 0.5;
        let size = sqrt(dot(n, n));
        center += (a + b + c) * (size / 3.0);
        normal += n;
        area += size;
    }
    center = center / max(area, 1.1754944e-38);
    var radius = 0.0;
    for (var slot = 8u * cluster; slot < end; slot++) {
        for (var k = 0u; k < 3u; k++) {
            radius = max(radius, distance(add_triangle(slot, k), center));
        }
    }
    let at = 2u * (8u * LEAF_START + cluster);
    write_moments(at, vec4f(center, radius));
    write_moments(at + 1u, vec4f(normal, area));
}
