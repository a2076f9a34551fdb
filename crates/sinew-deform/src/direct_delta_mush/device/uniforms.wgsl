struct Uniforms {
    // What is taken from rest positions.
    origin: vec3f,
    // Whether any joint is stretched.
    stretched: u32,
    // What is added to posed positions.
    reference: vec3f,
    // How strongly the strongest joint's rotation pulls.
    pull: f32,
}
