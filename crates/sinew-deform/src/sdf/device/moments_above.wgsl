// Moments of the boxes of one level from those below: `LEVEL_START` is the first block of that level.

fn kernel(index: u32) {
    if (read_state(MOVED) == 0u) {
        return;
    }
    let block = LEVEL_START + index;
    var center = vec3f(0.0);
    var normal = vec3f(0.0);
    var area = 0.0;
    for (var k = 0u; k < 8u; k++) {
        if (8u * index + k < LEVEL_CHILDREN) {
            let low = read_moments(2u * (8u * block + k));
            let high = read_moments(2u * (8u * block + k) + 1u);
            center += low.xyz * high.w;
            normal += high.xyz;
            area += high.w;
        }
    }
    center = center / max(area, 1.1754944e-38);
    var radius = 0.0;
    for (var k = 0u; k < 8u; k++) {
        if (8u * index + k < LEVEL_CHILDREN) {
            let low = read_moments(2u * (8u * block + k));
            radius = max(radius, distance(low.xyz, center) + low.w);
        }
    }
    // Its own slot in the block above.
    let at = 2u * (block - 1u);
    write_moments(at, vec4f(center, radius));
    write_moments(at + 1u, vec4f(normal, area));
}
