// The lower and the upper half of a word, as whole numbers with a sign.
fn halves(word: u32) -> vec2f {
    let both = vec2i(bitcast<i32>(word << 16u), bitcast<i32>(word));
    return vec2f(both >> vec2u(16u));
}

// The weight of 24 bits: 16 in the upper half of one word, 8 at the top of the next, whose other bits are the joint.
fn weight_of(upper: u32, last: u32) -> f32 {
    return f32((upper >> 16u << 8u) | (last >> 24u)) * (1.0 / 16777215.0);
}
