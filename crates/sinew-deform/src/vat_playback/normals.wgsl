fn normal_number(texel: u32, channel: u32) -> f32 {
    let byte = (texel * TURN_CHANNELS + channel) * bytes_of(TURN_FORMAT);
    return number_in(read_turn_texels(byte / 4u), byte, TURN_FORMAT);
}

fn normal_at(vertex: u32, frame: u32, u: Uniforms) -> vec3f {
    let texel = texel_of(vertex, frame);
    let numbers = vec3f(normal_number(texel, 0u), normal_number(texel, 1u), normal_number(texel, 2u));
    return numbers * u.turn_scale.xyz + u.turn_offset.xyz;
}

fn kernel(index: u32) {
    let u = uniforms();
    var normal = normal_at(index, u.frame, u);
    if (u.weight != 0.0) {
        normal += (normal_at(index, u.next, u) - normal) * u.weight;
    }
    let size = sqrt(dot(normal, normal));
    if (size > 1e-6) {
        normal = normal / size;
    } else {
        normal = vec3f(0.0, 1.0, 0.0);
    }
    write_mesh_normals(index, normal);
}
