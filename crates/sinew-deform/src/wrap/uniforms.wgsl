struct Uniforms {
    weight: f32,
    mask_invert: u32,
    unused_0: u32,
    unused_1: u32,
}
