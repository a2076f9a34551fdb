struct Map {
    // Cross scales minus one.
    cross_scale: vec2f,
    // Stretch minus one.
    stretch: f32,
    // One over the length over which the width fades back beyond the limits.
    fade: f32,
    unused: vec4f,
}

fn map_at(map: Map, region: Region, p: vec3f) -> Local {
    let height = region_clamp(region, p.z);
    let t = clamp((p.z - height) * map.fade, -1.0, 1.0);
    let outside = abs(t);
    let width = 1.0 - outside * outside * (3.0 - 2.0 * outside);
    let by_z = -6.0 * t * (1.0 - outside) * map.fade;
    let scale = map.cross_scale * width;
    return Local(
        vec3f(p.xy * scale, (height - region.low) * map.stretch),
        mat3x3f(
            vec3f(scale.x, 0.0, 0.0),
            vec3f(0.0, scale.y, 0.0),
            vec3f(p.xy * map.cross_scale * by_z, region_inside(region, p.z) * map.stretch),
        ),
    );
}
