struct Uniforms {
    step: f32,
    displacement: f32,
    blend: f32,
    weight: f32,
    mask_invert: u32,
    // What points count from, and in what unit: metres, and one over it.
    origin_x: f32,
    origin_y: f32,
    origin_z: f32,
    unit: f32,
    per_unit: f32,
    unused_0: u32,
    unused_1: u32,
}

fn enter_space(p: vec3f) -> vec3f {
    let u = uniforms();
    return (p - vec3f(u.origin_x, u.origin_y, u.origin_z)) * u.per_unit;
}

fn leave_space(p: vec3f) -> vec3f {
    let u = uniforms();
    return p * u.unit + vec3f(u.origin_x, u.origin_y, u.origin_z);
}
