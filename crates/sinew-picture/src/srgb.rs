//! The transfer function of sRGB (IEC 61966-2-1).

/// The linear value, 0 to 1, of an 8-bit sRGB value.
pub fn linear_from_srgb(value: u8) -> f32 {
    let v = f32::from(value) / 255.0;
    if v <= 0.04045 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    }
}

/// The nearest 8-bit sRGB value of a linear value, which is limited to 0 to 1. NaN gives 0.
pub fn srgb_from_linear(value: f32) -> u8 {
    let v = if value <= 0.003_130_8 {
        value * 12.92
    } else {
        1.055 * value.powf(1.0 / 2.4) - 0.055
    };
    (v * 255.0 + 0.5).clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for value in 0..=255 {
            assert_eq!(srgb_from_linear(linear_from_srgb(value)), value);
        }
        // The middle grey of the standard: 18 percent of the light.
        assert_eq!(srgb_from_linear(0.18), 118);
        assert_eq!(srgb_from_linear(2.0), 255);
        assert_eq!(srgb_from_linear(-1.0), 0);
    }
}
