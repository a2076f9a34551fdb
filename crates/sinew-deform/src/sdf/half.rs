//! IEEE 754 half precision, without the hardware's help so that every machine gives the same bits.

/// The nearest half, ties to even; too large becomes infinity.
pub(super) fn half_from(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    let rounded = if magnitude >= 0x4780_0000 {
        // 65536 and more, infinity, NaN.
        if magnitude > 0x7f80_0000 {
            0x7e00
        } else {
            0x7c00
        }
    } else if magnitude < 0x3880_0000 {
        // Subnormal: adding a half lines the 10 bits up at the end of the single's mantissa.
        (f32::from_bits(magnitude) + 0.5).to_bits() - 0.5_f32.to_bits()
    } else {
        let odd = (magnitude >> 13) & 1;
        (magnitude + 0xfff + odd - (112 << 23)) >> 13
    };
    (sign | rounded) as u16
}

/// Exact.
#[inline]
pub(super) fn single_from(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7fff) << 13;
    if magnitude >= 0x0f80_0000 {
        // Infinity and NaN.
        return f32::from_bits(sign | (magnitude + (224 << 23)));
    }
    // Multiplying by 2^112 moves the exponent and makes subnormal halves normal.
    let scaled = f32::from_bits(magnitude) * f32::from_bits((112 + 127) << 23);
    f32::from_bits(scaled.to_bits() | sign)
}
