// Distance to the cube from -1 to 1.
fn distance_at(local: vec3f, u: Uniforms) -> f32 {
    let away = local - clamp(local, vec3f(-1.0), vec3f(1.0));
    return length_of(vec3f(dot(u.transform[0].xyz, away), dot(u.transform[1].xyz, away), dot(u.transform[2].xyz, away)));
}
