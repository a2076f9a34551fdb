fn length_of(v: vec3f) -> f32 {
    return sqrt(dot(v, v));
}

// Shape of the falloff, from 0 to 1.
fn curve(t: f32) -> f32 {
    switch (CURVE) {
        case 0u: { return t; }
        case 2u: { return t * t * t * (t * (t * 6.0 - 15.0) + 10.0); }
        case 3u: { return t * t; }
        case 4u: { return sqrt(t); }
        default: { return t * t * (3.0 - 2.0 * t); }
    }
}

// 1 inside, 0 from `falloff` on.
fn falloff_weight(distance: f32, falloff: f32) -> f32 {
    if (distance <= 0.0) {
        return 1.0;
    }
    if (falloff <= 0.0) {
        return 0.0;
    }
    return curve(clamp(1.0 - distance / falloff, 0.0, 1.0));
}

fn source(index: u32) -> f32 {
    let u = uniforms();
    if (u.has_inside == 0u) {
        return 0.0;
    }
    let p = vec4f(place(index), 1.0);
    let local = vec3f(dot(u.inverse[0], p), dot(u.inverse[1], p), dot(u.inverse[2], p));
    return falloff_weight(distance_at(local, u), u.falloff);
}
