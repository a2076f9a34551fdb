struct Uniforms {
    // Rows of scene from shape, then of shape from scene.
    transform: array<vec4f, 3>,
    inverse: array<vec4f, 3>,
    value: f32,
    falloff: f32,
    low: f32,
    high: f32,
    invert: u32,
    // Whether the transform has an inverse.
    has_inside: u32,
    unused_x: u32,
    unused_y: u32,
}

fn is_nan(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

// `low` to 0, `high` to 1; a step where both are equal. No number counts as 0.
fn remap(x: f32, low: f32, high: f32) -> f32 {
    if (is_nan(x)) {
        return 0.0;
    }
    if (low == high) {
        return select(0.0, 1.0, x >= low);
    }
    return clamp((x - low) / (high - low), 0.0, 1.0);
}

fn combine(x: f32, other: f32) -> f32 {
    switch (COMBINE) {
        case 1u: { return min(x, other); }
        case 2u: { return max(x, other); }
        case 3u: { return x + other; }
        case 4u: { return x - other; }
        case 5u: { return 1.0 - (1.0 - x) * (1.0 - other); }
        case 6u: { return abs(x - other); }
        default: { return x * other; }
    }
}

fn kernel(index: u32) {
    let u = uniforms();
    var x = remap(source(index), u.low, u.high);
    if (u.invert != 0u) {
        x = 1.0 - x;
    }
    if (has_with) {
        x = clamp(combine(x, read_with(index)), 0.0, 1.0);
    }
    write_mask(index, x);
}
