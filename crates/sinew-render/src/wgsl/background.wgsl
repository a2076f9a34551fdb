// What is behind everything: one triangle over the whole picture.

@vertex
fn corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let x = select(-1.0, 3.0, index == 1u);
    let y = select(-1.0, 3.0, index == 2u);
    return vec4f(x, y, 1.0, 1.0);
}

@fragment
fn color(@builtin(position) pixel: vec4f) -> @location(0) vec4f {
    return mix(view.background_top, view.background_bottom, pixel.y / view.size.y);
}
