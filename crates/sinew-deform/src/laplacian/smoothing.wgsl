struct Uniforms {
    step: f32,
    displacement: f32,
    blend: f32,
    weight: f32,
    mask_invert: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}
