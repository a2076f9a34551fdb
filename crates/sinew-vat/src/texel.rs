//! How numbers become texels, and texels numbers.

use serde::{Deserialize, Serialize};

/// What one channel of a texel is in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TexelFormat {
    /// 8 bits, 0 to 1: PNG.
    Unorm8,
    /// 16 bits, 0 to 1: PNG.
    Unorm16,
    /// Two textures of 8 bits: `first + second / 100`, as SideFX Labs do.
    TwoUnorm8,
    /// 16-bit float, values as they are: EXR.
    Half,
    /// 32-bit float, values as they are: EXR.
    Float,
}

/// As on the command line and in manifests: `two_unorm8`.
impl std::fmt::Display for TexelFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Unorm8 => "unorm8",
            Self::Unorm16 => "unorm16",
            Self::TwoUnorm8 => "two_unorm8",
            Self::Half => "half",
            Self::Float => "float",
        })
    }
}

impl TexelFormat {
    /// Whether values are stored as they are; otherwise a [`Range`] brings them to 0 to 1.
    pub fn is_float(self) -> bool {
        matches!(self, Self::Half | Self::Float)
    }

    /// Whether a value can be stored: halves end at 65504, what rounds to more is infinite.
    pub fn holds(self, value: f32) -> bool {
        match self {
            Self::Half => half::f16::from_f32(value).is_finite(),
            _ => true,
        }
    }

    /// Bytes of a channel, of both textures where there are two.
    pub fn bytes(self) -> usize {
        match self {
            Self::Unorm8 => 1,
            Self::Unorm16 | Self::TwoUnorm8 | Self::Half => 2,
            Self::Float => 4,
        }
    }

    /// Textures that together hold one quantity.
    pub fn file_count(self) -> usize {
        match self {
            Self::TwoUnorm8 => 2,
            _ => 1,
        }
    }

    /// How far a value between 0 and 1 may be from its texel, at most; zero where values are stored as they are, which is true of halves only as far
    /// as 11 bits go.
    pub fn half_step(self) -> f64 {
        match self {
            Self::Unorm8 => 0.5 / 255.0,
            Self::Unorm16 => 0.5 / 65535.0,
            // The second texture divides a hundredth.
            Self::TwoUnorm8 => 0.5 / 25500.0,
            Self::Half | Self::Float => 0.0,
        }
    }

    /// Largest code of a channel; 1 where values are stored as they are.
    fn largest(self) -> f32 {
        match self {
            Self::Unorm8 | Self::TwoUnorm8 => 255.0,
            Self::Unorm16 => 65535.0,
            Self::Half | Self::Float => 1.0,
        }
    }

    /// Appends the bytes of a channel (little endian; of two textures one behind the other).
    ///
    /// `value` is between 0 and 1 for formats that are not floats; what is outside goes to the nearest end.
    pub fn encode(self, value: f32, out: &mut Vec<u8>) {
        let unit = value.clamp(0.0, 1.0);
        match self {
            Self::Unorm8 => out.push(nearest(f64::from(unit * 255.0)) as u8),
            // In double precision: 65535 times a single is not exact, and a half would go the wrong way.
            Self::Unorm16 => {
                out.extend((nearest(f64::from(unit) * 65535.0) as u16).to_le_bytes());
            }
            Self::TwoUnorm8 => {
                let first = (unit * 255.0).floor();
                let rest = (unit - first / 255.0) * 100.0;
                out.push(first as u8);
                out.push((rest * 255.0).round().clamp(0.0, 255.0) as u8);
            }
            Self::Half => out.extend(half::f16::from_f32(value).to_le_bytes()),
            Self::Float => out.extend(value.to_le_bytes()),
        }
    }

    /// The number that [`Self::encode`] wrote, as a player sees it. `bytes` has [`Self::bytes`] of them; missing ones count
    /// as zero.
    pub fn decode(self, bytes: &[u8]) -> f32 {
        let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
        match self {
            Self::Unorm8 => f32::from(at(0)) / 255.0,
            Self::Unorm16 => f32::from(u16::from_le_bytes([at(0), at(1)])) / 65535.0,
            Self::TwoUnorm8 => f32::from(at(0)) / 255.0 + 0.01 * (f32::from(at(1)) / 255.0),
            Self::Half => half::f16::from_le_bytes([at(0), at(1)]).to_f32(),
            Self::Float => f32::from_le_bytes([at(0), at(1), at(2), at(3)]),
        }
    }
}

/// The whole number that is nearest to one that is not negative, halves upwards: [`f64::round`] without a call of a library. The sum is exact: numbers have 40
/// bits here at most, and a half more needs no more than 53, but for those that are nothing beside it.
fn nearest(value: f64) -> u32 {
    (value + 0.5) as u32
}

/// From the texel of a channel to its value: `texel * scale + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// Value at 1 less that at 0.
    pub scale: f32,
    /// Value at 0.
    pub offset: f32,
}

impl Range {
    /// Values as they are.
    pub const RAW: Self = Self {
        scale: 1.0,
        offset: 0.0,
    };

    /// For directions: -1 to 1.
    pub const DIRECTION: Self = Self {
        scale: 2.0,
        offset: -1.0,
    };

    /// The whole of what the format can say for values between `least` and `most`. With `zero_is_exact` one code means zero to
    /// the bit, if zero is between them, and the range is wider by less than one code.
    pub fn covering(least: f32, most: f32, format: TexelFormat, zero_is_exact: bool) -> Self {
        if format.is_float() {
            return Self::RAW;
        }
        let scale = most - least;
        // Not a number where nothing was seen: then all is zero.
        if !(scale > 0.0 && scale.is_finite()) {
            let offset = if least.is_finite() { least } else { 0.0 };
            return Self { scale: 0.0, offset };
        }
        if !zero_is_exact || least > 0.0 || most < 0.0 {
            return Self {
                scale,
                offset: least,
            };
        }
        Self::through_zero(least, scale, format.largest())
    }

    /// A range in which some code of `0..=largest` is zero, and that holds `least..=least + scale`.
    fn through_zero(least: f32, scale: f32, largest: f32) -> Self {
        let most = scale + least;
        // Where zero would fall is between two codes; either makes one side coarser.
        let steps = |code: f32| {
            let side = |reach: f32, codes: f32| match (reach > 0.0, codes > 0.0) {
                (false, _) => 0.0,
                (true, true) => reach / codes,
                (true, false) => f32::INFINITY,
            };
            side(-least, code).max(side(most, largest - code))
        };
        let near = (-least / scale * largest).clamp(0.0, largest);
        let (below, above) = (near.floor(), near.ceil());
        let code = if steps(below) <= steps(above) {
            below
        } else {
            above
        };
        // One part in a million more, so that rounding cuts nothing off.
        let scale = steps(code) * largest * (1.0 + 1e-6);
        Self {
            scale,
            // As a player computes it, so that the sum is zero to the bit.
            offset: -(code / largest * scale),
        }
    }

    /// The texel of a value, before [`TexelFormat::encode`] rounds it.
    pub fn texel(self, value: f32) -> f32 {
        if self.scale == 0.0 {
            return 0.0;
        }
        (value - self.offset) / self.scale
    }

    /// The value of a texel, in the order in which players compute it.
    pub fn value(self, texel: f32) -> f32 {
        texel * self.scale + self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// At every code, at every half between two, and at the numbers next to them.
    #[test]
    fn codes_are_those_of_rounding() {
        for (format, largest) in [(TexelFormat::Unorm8, 255), (TexelFormat::Unorm16, 65535)] {
            for halves in 0..=2 * largest {
                let at = (f64::from(halves) / 2.0 / f64::from(largest)) as f32;
                for unit in [at, at.next_down(), at.next_up(), at * 1e-9] {
                    let mut found = Vec::new();
                    format.encode(unit, &mut found);
                    let clamped = unit.clamp(0.0, 1.0);
                    let rounded = match format {
                        TexelFormat::Unorm8 => vec![(clamped * 255.0).round() as u8],
                        _ => ((f64::from(clamped) * 65535.0).round() as u16)
                            .to_le_bytes()
                            .to_vec(),
                    };
                    assert_eq!(found, rounded, "{format:?} of {unit:e}");
                }
            }
        }
    }

    const ALL: [TexelFormat; 5] = [
        TexelFormat::Unorm8,
        TexelFormat::Unorm16,
        TexelFormat::TwoUnorm8,
        TexelFormat::Half,
        TexelFormat::Float,
    ];

    fn through(format: TexelFormat, range: Range, value: f32) -> f32 {
        let mut bytes = Vec::new();
        format.encode(range.texel(value), &mut bytes);
        assert_eq!(bytes.len(), format.bytes());
        range.value(format.decode(&bytes))
    }

    /// Largest error over a box of 4 m around the origin, metres.
    fn worst(format: TexelFormat) -> f32 {
        let range = Range::covering(-2.0, 2.0, format, false);
        let values = (0..=400_000).map(|i| -2.0 + i as f32 * 1e-5);
        values
            .map(|v| (through(format, range, v) - v).abs())
            .fold(0.0, f32::max)
    }

    #[test]
    fn row_111_errors_of_a_box_of_four_metres_are_the_known_ones() {
        // Half a code of 255, of 65535, a hundredth of the first; a half has 11 bits, whose last is 1/1024 below 2.
        for (format, known, rounding) in [
            (TexelFormat::Unorm8, 4.0_f32 / 255.0 / 2.0, 4e-7),
            (TexelFormat::Unorm16, 4.0 / 65535.0 / 2.0, 4e-7),
            (TexelFormat::TwoUnorm8, 4.0 * 0.01 / 255.0 / 2.0, 4e-7),
            (TexelFormat::Half, 1.0 / 1024.0 / 2.0, 0.0),
            (TexelFormat::Float, 0.0, 0.0),
        ] {
            let found = worst(format);
            assert!(
                found <= known + rounding && found >= known * 0.98,
                "{format:?}: {found}, known {known}"
            );
        }
    }

    #[test]
    fn row_110_the_ends_of_a_range_are_the_ends_of_the_codes() {
        let range = Range::covering(-0.3, 1.7, TexelFormat::Unorm16, false);
        let mut bytes = Vec::new();
        TexelFormat::Unorm16.encode(range.texel(-0.3), &mut bytes);
        TexelFormat::Unorm16.encode(range.texel(1.7), &mut bytes);
        assert_eq!(bytes, [0, 0, 255, 255]);
        // A flat side of the box.
        let flat = Range::covering(2.5, 2.5, TexelFormat::Unorm8, true);
        assert_eq!(through(TexelFormat::Unorm8, flat, 2.5), 2.5);
        let nothing = Range::covering(f32::MAX, f32::MIN, TexelFormat::Unorm8, true);
        assert!(through(TexelFormat::Unorm8, nothing, 0.0).is_finite());
    }

    proptest! {
        #[test]
        fn zero_is_zero_to_the_bit(least in -1e6_f32..0.0, most in 0.0_f32..1e6, small in 0..2_u8) {
            let shrink = if small == 1 { 1e-9 } else { 1.0 };
            let (least, most) = (least * shrink, most * shrink);
            for format in ALL.into_iter().filter(|f| *f != TexelFormat::TwoUnorm8) {
                let range = Range::covering(least, most, format, true);
                prop_assert_eq!(through(format, range, 0.0), 0.0, "{:?} {:?}", format, range);
            }
        }

        #[test]
        fn every_value_comes_back_within_half_a_code(
            least in -1e4_f32..1e4, size in 0.0_f32..1e4, part in 0.0_f32..=1.0, zero in proptest::bool::ANY,
        ) {
            let most = least + size;
            let value = (least + size * part).clamp(least, most);
            for (format, codes) in [(TexelFormat::Unorm8, 255.0), (TexelFormat::Unorm16, 65535.0)] {
                let range = Range::covering(least, most, format, zero);
                let found = through(format, range, value);
                // A range through zero is wider by a code at most; rounding of the sum adds a little.
                let allowed = size / codes * 0.5 * (1.0 + 2.0 / codes) + (least.abs() + size) * 3e-7;
                prop_assert!((found - value).abs() <= allowed, "{:?}: {} for {}", format, found, value);
            }
        }
    }
}
