struct Uniforms {
    // What is seen: two frames, and the share of the second.
    frame: u32,
    next: u32,
    weight: f32,
    unused: u32,
    place_scale: vec4f,
    place_offset: vec4f,
    // Of normals; of rotations, where pieces have texels.
    turn_scale: vec4f,
    turn_offset: vec4f,
}

// Where texels are: in columns (1) or in blocks, width and height of a block, blocks side by side, width of the texture.
struct Arranged {
    in_columns: bool,
    width: u32,
    height: u32,
    across: u32,
    texture_width: u32,
}

// Number of the texel of a vertex, piece or point in a frame.
fn texel_in(arranged: Arranged, vertex: u32, frame: u32) -> u32 {
    var column = vertex % arranged.width;
    var row = vertex / arranged.width;
    if (arranged.in_columns) {
        row = row * FRAMES + frame;
    } else {
        column += (frame % arranged.across) * arranged.width;
        row += (frame / arranged.across) * arranged.height;
    }
    return row * arranged.texture_width + column;
}

fn texel_of(vertex: u32, frame: u32) -> u32 {
    let arranged = Arranged(IN_COLUMNS, BLOCK_WIDTH, BLOCK_HEIGHT, BLOCKS_ACROSS, TEXTURE_WIDTH);
    return texel_in(arranged, point_of(vertex, frame), frame);
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
