struct Map {
    // Radians per metre.
    rate: f32,
    phase: f32,
    // Along both cross axes.
    amplitude: vec2f,
    unused: vec4f,
}

fn map_at(map: Map, region: Region, p: vec3f) -> Local {
    let height = region_clamp(region, p.z) - region.low;
    let wave = sine_cosine(map.rate * height + map.phase);
    let slope = map.rate * wave.y * region_inside(region, p.z);
    return Local(
        vec3f(map.amplitude * wave.x, 0.0),
        mat3x3f(vec3f(0.0), vec3f(0.0), vec3f(map.amplitude * slope, 0.0)),
    );
}
