struct Map {
    // Radians per metre.
    rate: f32,
    phase: f32,
    amplitude: f32,
    decay: f32,
    unused: vec4f,
}

fn map_at(map: Map, region: Region, p: vec3f) -> Local {
    let r = sqrt(p.x * p.x + p.y * p.y);
    let inner = region_clamp(region, r);
    let wave = sine_cosine(map.rate * (inner - region.low) + map.phase);
    let size = map.amplitude * exponential(-map.decay * inner);
    let slope = size * (map.rate * wave.y - map.decay * wave.x) * region_inside(region, r);
    // On the axis x and y are zero, and so is the slope.
    let per_radius = slope / max(r, 1e-20);
    return Local(
        vec3f(0.0, 0.0, size * wave.x),
        mat3x3f(vec3f(0.0, 0.0, p.x * per_radius), vec3f(0.0, 0.0, p.y * per_radius), vec3f(0.0)),
    );
}
