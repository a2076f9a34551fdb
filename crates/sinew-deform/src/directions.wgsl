// Directions through linear maps.

// The unit vector along `v`; `otherwise` where it has no direction.
fn unit_or(v: vec3f, otherwise: vec3f) -> vec3f {
    let squared = dot(v, v);
    if (squared > 0.0) {
        return v / sqrt(squared);
    }
    return otherwise;
}

// From one unit vector part of the way towards the direction of `to`.
fn towards(from_direction: vec3f, to: vec3f, weight: f32) -> vec3f {
    let target_direction = unit_or(to, from_direction);
    return unit_or(mix(from_direction, target_direction, weight), from_direction);
}
