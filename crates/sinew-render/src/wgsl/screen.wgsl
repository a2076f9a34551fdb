// What passes over the whole picture share: one triangle that covers it, and the depths that the camera sees.

@group(1) @binding(0) var depths: texture_depth_2d;

@vertex
fn corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    let x = select(-1.0, 3.0, index == 1u);
    let y = select(-1.0, 3.0, index == 2u);
    return vec4f(x, y, 0.0, 1.0);
}

// Metres before the camera.
fn depth_at(pixel: vec2i) -> f32 {
    let z = textureLoad(depths, pixel, 0);
    if view.is_orthographic == 1u {
        return view.near + z * (view.far - view.near);
    }
    return view.near * view.far / (view.far - z * (view.far - view.near));
}
