struct Map {
    // Scale at the bottom.
    start: vec2f,
    // Logarithm of top over bottom.
    rise: vec2f,
    // Four times the curve.
    curve: f32,
    unused_0: f32,
    unused_1: vec2f,
}

fn map_at(map: Map, region: Region, p: vec3f) -> Local {
    let u = region_fraction(region, p.z);
    let hump = hump_at(map.curve, u.x);
    let scale = map.start * vec2f(exponential(map.rise.x * u.x), exponential(map.rise.y * u.x));
    return section(p, scale - 1.0 + hump.x, (scale * map.rise + hump.y) * u.y);
}
