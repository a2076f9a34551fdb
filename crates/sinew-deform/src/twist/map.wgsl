struct Map {
    // Half the angle at the bottom, and half of what the top adds.
    half_start: f32,
    half_turn: f32,
    unused_0: vec2f,
    unused_1: vec4f,
}

fn map_at(map: Map, region: Region, p: vec3f) -> Local {
    let u = region_fraction(region, p.z);
    let rise = profile_at(u.x);
    let half = sine_cosine(map.half_start + map.half_turn * rise.x);
    let rate = 2.0 * map.half_turn * rise.y * u.y;
    // cos a - 1 and sin a by the half angle: exact at rest.
    let turn = -2.0 * half.x * half.x;
    let sine = 2.0 * half.x * half.y;
    let d = vec2f(turn * p.x - sine * p.y, sine * p.x + turn * p.y);
    return Local(
        vec3f(d, 0.0),
        mat3x3f(
            vec3f(turn, sine, 0.0),
            vec3f(-sine, turn, 0.0),
            vec3f(-(p.y + d.y) * rate, (p.x + d.x) * rate, 0.0),
        ),
    );
}
