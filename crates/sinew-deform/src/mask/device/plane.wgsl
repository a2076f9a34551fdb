// Distance to the half space below y = 0.
fn distance_at(local: vec3f, u: Uniforms) -> f32 {
    let slope = length_of(u.inverse[1].xyz);
    if (local.y <= 0.0 || slope <= 0.0) {
        return 0.0;
    }
    return local.y / slope;
}
