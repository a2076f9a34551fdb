fn rotation_number(texel: u32, channel: u32) -> f32 {
    let byte = (texel * TURN_CHANNELS + channel) * bytes_of(TURN_FORMAT);
    return number_in(read_turn_texels(byte / 4u), byte, TURN_FORMAT);
}

fn rotation_in(piece: u32, frame: u32, u: Uniforms) -> vec4f {
    let texel = texel_of(piece, frame);
    let xy = vec2f(rotation_number(texel, 0u), rotation_number(texel, 1u));
    let zw = vec2f(rotation_number(texel, 2u), rotation_number(texel, 3u));
    return vec4f(xy, zw) * u.turn_scale + u.turn_offset;
}

// Unit quaternion of a piece, mixed the shorter way round; one without length turns nothing.
fn rotation_of(piece: u32, u: Uniforms) -> vec4f {
    var rotation = rotation_in(piece, u.frame, u);
    if (u.weight != 0.0) {
        let next = rotation_in(piece, u.next, u);
        let nearer = select(next, -next, dot(rotation, next) < 0.0);
        rotation += (nearer - rotation) * u.weight;
    }
    let size = sqrt(dot(rotation, rotation));
    if (size > 1e-6) {
        return rotation / size;
    }
    return vec4f(0.0, 0.0, 0.0, 1.0);
}

fn turned(rotation: vec4f, v: vec3f) -> vec3f {
    let q = rotation.xyz;
    return v + cross(q, cross(q, v) + v * rotation.w) * 2.0;
}
