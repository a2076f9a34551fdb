struct Map {
    // First coordinate of the control point of the curve.
    m: f32,
    // Stretch minus one.
    stretch: f32,
    // Widest cross scales minus one, before the bulge.
    cross_scale: vec2f,
    unused: vec4f,
}

fn map_at(map: Map, region: Region, p: vec3f) -> Local {
    let u = region_fraction(region, p.z);
    let sigma = bezier_sigma(map.m, u.x);
    // The slope, infinite at u = m = 0, is kept below 1e4.
    let curve_slope = (1.0 - sigma) / max(sigma, 1e-4);
    let wave = sine_cosine(3.1415927 * bezier_height(map.m, u.x, sigma));
    let bulge = 1.5707964 * wave.x;
    let slope = 4.934802 * wave.y * curve_slope * u.y;
    let scale = map.cross_scale * bulge;
    return Local(
        vec3f(p.xy * scale, (region_clamp(region, p.z) - region.low) * map.stretch),
        mat3x3f(
            vec3f(scale.x, 0.0, 0.0),
            vec3f(0.0, scale.y, 0.0),
            vec3f(p.xy * map.cross_scale * slope, region_inside(region, p.z) * map.stretch),
        ),
    );
}
