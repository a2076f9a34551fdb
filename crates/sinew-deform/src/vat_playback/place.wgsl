fn place_number(texel: u32, channel: u32) -> f32 {
    let byte = (texel * PLACE_CHANNELS + channel) * bytes_of(PLACE_FORMAT);
    return number_in(read_place_texels(byte / 4u), byte, PLACE_FORMAT);
}

fn place_at(vertex: u32, frame: u32, u: Uniforms) -> vec3f {
    let texel = texel_of(vertex, frame);
    let numbers = vec3f(place_number(texel, 0u), place_number(texel, 1u), place_number(texel, 2u));
    return numbers * u.place_scale.xyz + u.place_offset.xyz;
}
