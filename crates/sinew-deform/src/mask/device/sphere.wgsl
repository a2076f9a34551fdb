// Distance to the unit sphere.
fn distance_at(local: vec3f, u: Uniforms) -> f32 {
    let radius = length_of(local);
    if (radius <= 1.0) {
        return 0.0;
    }
    let away = local * (1.0 - 1.0 / radius);
    return length_of(vec3f(dot(u.transform[0].xyz, away), dot(u.transform[1].xyz, away), dot(u.transform[2].xyz, away)));
}
