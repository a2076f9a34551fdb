struct Map {
    // Scale at the bottom minus one.
    start: vec2f,
    // Top minus bottom.
    rise: vec2f,
    // Four times the curve.
    curve: f32,
    unused_0: f32,
    unused_1: vec2f,
}

fn map_at(map: Map, region: Region, p: vec3f) -> Local {
    let u = region_fraction(region, p.z);
    let rise = profile_at(u.x);
    let hump = hump_at(map.curve, u.x);
    return section(p, map.start + map.rise * rise.x + hump.x, (map.rise * rise.y + hump.y) * u.y);
}
