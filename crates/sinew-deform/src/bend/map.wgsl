struct Map {
    curvature: f32,
    // Height that stays in place.
    center: f32,
    // Cosine and sine of the direction.
    toward: vec2f,
    unused: vec4f,
}

// `sin h / h` given `sin h`.
fn sinc(h: f32, sine: f32) -> f32 {
    let h2 = h * h;
    if (h2 < 0.01) {
        return 1.0 - h2 * (1.0 / 6.0 - h2 * (1.0 / 120.0 - h2 * (1.0 / 5040.0)));
    }
    return sine / h;
}

fn map_at(map: Map, region: Region, p: vec3f) -> Local {
    let b = dot(p.xy, map.toward);
    let inner = region_clamp(region, p.z);
    let s = inner - map.center;
    let beyond = p.z - inner;
    let h = 0.5 * map.curvature * s;
    // Half angles: 1 - cos a = 2 sin^2(a/2) has no cancellation.
    let half = sine_cosine(h);
    let sine = 2.0 * half.x * half.y;
    let versine = 2.0 * half.x * half.x;
    let half_sinc = sinc(h, half.x);
    // sin a / k = s sinc(a/2) cos(a/2), and (1 - cos a) / k = s sinc(a/2) sin(a/2).
    let along = s * (half_sinc * half.y - 1.0) - b * sine - beyond * versine;
    let across = s * half_sinc * half.x - b * versine + beyond * sine;
    let stretch = 1.0 - region_inside(region, p.z) * map.curvature * b;
    let by_b = vec3f(-versine * map.toward, -sine);
    let by_z = vec3f(sine * stretch * map.toward, (1.0 - versine) * stretch - 1.0);
    return Local(
        vec3f(across * map.toward, along),
        mat3x3f(by_b * map.toward.x, by_b * map.toward.y, by_z),
    );
}
