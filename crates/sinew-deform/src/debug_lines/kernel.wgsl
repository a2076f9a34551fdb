struct Uniforms {
    // Rows of scene from the local frame.
    transform: array<vec4f, 3>,
    color: vec4f,
    size: f32,
    unused_x: f32,
    unused_y: f32,
    unused_z: f32,
}

fn in_scene(p: vec3f) -> vec3f {
    let u = uniforms();
    let h = vec4f(p, 1.0);
    return vec3f(dot(u.transform[0], h), dot(u.transform[1], h), dot(u.transform[2], h));
}

// Linked lines first, then the drawn ones: from and to lie `size` times their reach from an anchor.
fn kernel(index: u32) {
    if (index < count_lines) {
        write_lines(index, read_lines_from(index), read_lines_to(index), read_lines_color(index));
        return;
    }
    let drawn = index - count_lines;
    let anchor = read_anchors(drawn);
    let size = uniforms().size;
    let from_end = in_scene(anchor + read_reaches(2u * drawn) * size);
    let to_end = in_scene(anchor + read_reaches(2u * drawn + 1u) * size);
    var color = read_colors(drawn);
    // Lines without a colour of their own take the parameter's.
    if (color.w < 0.0) {
        color = uniforms().color;
    }
    write_lines(index, from_end, to_end, color);
}
