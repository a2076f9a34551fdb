// `curve u (1 - u)` and its derivative.
fn hump_at(curve: f32, u: f32) -> vec2f {
    return vec2f(curve * u * (1.0 - u), curve * (1.0 - u - u));
}

// From the scales minus one and their derivatives by z.
fn section(p: vec3f, scale: vec2f, by_z: vec2f) -> Local {
    return Local(
        vec3f(p.xy * scale, 0.0),
        mat3x3f(vec3f(scale.x, 0.0, 0.0), vec3f(0.0, scale.y, 0.0), vec3f(p.xy * by_z, 0.0)),
    );
}
