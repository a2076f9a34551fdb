struct Uniforms {
    scale: f32,
    unused_x: f32,
    unused_y: f32,
    unused_z: f32,
}

fn kernel(index: u32) {
    let d = (read_mesh_positions(index) - read_reference_positions(index)) * uniforms().scale;
    write_mesh_colors(index, min(vec4f(abs(d), sqrt(dot(d, d))), vec4f(1.0)));
}
