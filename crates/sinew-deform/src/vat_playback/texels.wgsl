struct Uniforms {
    // What is seen: two frames, and the share of the second.
    frame: u32,
    next: u32,
    weight: f32,
    unused: u32,
    place_scale: vec4f,
    place_offset: vec4f,
    normal_scale: vec4f,
    normal_offset: vec4f,
}

// Number of the texel of a vertex in a frame.
fn texel_of(vertex: u32, frame: u32) -> u32 {
    var column = vertex % BLOCK_WIDTH;
    var row = vertex / BLOCK_WIDTH;
    if (IN_COLUMNS) {
        row = row * FRAMES + frame;
    } else {
        column += (frame % BLOCKS_ACROSS) * BLOCK_WIDTH;
        row += (frame / BLOCKS_ACROSS) * BLOCK_HEIGHT;
    }
    return row * TEXTURE_WIDTH + column;
}

fn bytes_of(format: u32) -> u32 {
    switch format {
        case 0u: { return 1u; }
        case 4u: { return 4u; }
        default: { return 2u; }
    }
}

// A channel before its range, from the word that its first byte is in.
fn number_in(word: u32, byte: u32, format: u32) -> f32 {
    let bits = word >> (8u * (byte % 4u));
    switch format {
        case 0u: { return f32(bits & 0xffu) / 255.0; }
        case 1u: { return f32(bits & 0xffffu) / 65535.0; }
        case 2u: { return f32(bits & 0xffu) / 255.0 + f32((bits >> 8u) & 0xffu) / 255.0 * 0.01; }
        case 3u: { return unpack2x16float(bits).x; }
        default: { return bitcast<f32>(bits); }
    }
}
