//! Functions that pack vectors into words, and floats of 16 bits.

use naga::MathFunction;

use super::code::{Mixed, Registers};
use super::component::f;
use super::math::clamp;
use super::run::{get, set};

type MixFn = fn(Registers<'_>, &Mixed);

/// The function that packs or unpacks.
pub(super) fn function(function: MathFunction) -> Option<MixFn> {
    use MathFunction as M;
    Some(match function {
        M::Pack4x8snorm => |r, on| pack::<8>(r, on, |a| norm(a, -1.0, 127.0)),
        M::Pack4x8unorm => |r, on| pack::<8>(r, on, |a| norm(a, 0.0, 255.0)),
        M::Pack2x16snorm => |r, on| pack::<16>(r, on, |a| norm(a, -1.0, 32767.0)),
        M::Pack2x16unorm => |r, on| pack::<16>(r, on, |a| norm(a, 0.0, 65535.0)),
        M::Pack2x16float => |r, on| pack::<16>(r, on, |a| u32::from(float_to_half(f(a)))),
        M::Pack4xI8 | M::Pack4xU8 => |r, on| pack::<8>(r, on, |a| a),
        M::Pack4xI8Clamp => {
            |r, on| pack::<8>(r, on, |a| a.cast_signed().clamp(-128, 127).cast_unsigned())
        }
        M::Pack4xU8Clamp => |r, on| pack::<8>(r, on, |a| a.min(255)),
        M::Unpack4x8snorm => |r, on| unpack::<8>(r, on, |a| signed_norm::<8>(a, 127.0)),
        M::Unpack4x8unorm => |r, on| unpack::<8>(r, on, |a| (a as f32 / 255.0).to_bits()),
        M::Unpack2x16snorm => |r, on| unpack::<16>(r, on, |a| signed_norm::<16>(a, 32767.0)),
        M::Unpack2x16unorm => |r, on| unpack::<16>(r, on, |a| (a as f32 / 65535.0).to_bits()),
        M::Unpack2x16float => |r, on| unpack::<16>(r, on, |a| half_to_float(a as u16).to_bits()),
        M::Unpack4xI8 => |r, on| unpack::<8>(r, on, |a| signed::<8>(a).cast_unsigned()),
        M::Unpack4xU8 => |r, on| unpack::<8>(r, on, |a| a),
        _ => return None,
    })
}

/// Components of `BITS` each, the first one lowest.
fn pack<const BITS: u32>(registers: Registers<'_>, on: &Mixed, part: fn(u32) -> u32) {
    let mask = (1_u32 << BITS) - 1;
    let packed = (0..32 / BITS).fold(0, |all, i| {
        all | (part(get(registers, on.args[0] + i)) & mask) << (i * BITS)
    });
    set(registers, on.to, packed);
}

fn unpack<const BITS: u32>(registers: Registers<'_>, on: &Mixed, whole: fn(u32) -> u32) {
    let mask = (1_u32 << BITS) - 1;
    let packed = get(registers, on.args[0]);
    for i in 0..32 / BITS {
        set(registers, on.to + i, whole(packed >> (i * BITS) & mask));
    }
}

/// As WGSL defines it: half is rounded up.
fn norm(a: u32, low: f32, scale: f32) -> u32 {
    let rounded = (0.5 + scale * clamp(f(a), low, 1.0)).floor();
    (rounded as i32).cast_unsigned()
}

fn signed<const BITS: u32>(part: u32) -> i32 {
    (part << (32 - BITS)).cast_signed() >> (32 - BITS)
}

fn signed_norm<const BITS: u32>(part: u32, scale: f32) -> u32 {
    (signed::<BITS>(part) as f32 / scale).max(-1.0).to_bits()
}

/// Rounded to nearest, ties to even; too large is infinite.
pub(super) fn float_to_half(a: f32) -> u16 {
    let bits = a.to_bits();
    let sign = (bits >> 16 & 0x8000) as u16;
    let size = bits & 0x7fff_ffff;
    let half = match size {
        0x7f80_0001.. => 0x7e00,
        // 65520 and more.
        0x477f_f000.. => 0x7c00,
        // Normal: the bias changes by 112, and 13 bits go.
        0x3880_0000.. => (size - (112 << 23) + 0xfff + (size >> 13 & 1)) >> 13,
        // Multiples of 2^-24.
        _ => (f32::from_bits(size) * 16_777_216.0).round_ties_even() as u32,
    };
    sign | half as u16
}

pub(super) fn half_to_float(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let (exponent, fraction) = (u32::from(half >> 10 & 31), u32::from(half & 0x3ff));
    let size = match exponent {
        0 => (fraction as f32 / 16_777_216.0).to_bits(),
        31 => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | size)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of IEEE 754 binary16.
    #[test]
    fn halves() {
        for (float, half) in [
            (0.0, 0),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (65504.0, 0x7bff),
            (65519.996, 0x7bff),
            (65520.0, 0x7c00),
            (f32::INFINITY, 0x7c00),
            (6.103_515_6e-5, 0x0400),
            (5.960_464_5e-8, 0x0001),
            (2.980_232_2e-8, 0x0000),
            (0.333_333_34, 0x3555),
            // Halfway: to even.
            (1.000_488_3, 0x3c00),
            (1.001_464_8, 0x3c02),
        ] {
            assert_eq!(float_to_half(float), half, "{float}");
        }
        assert!(half_to_float(float_to_half(f32::NAN)).is_nan());
        for half in (0..=0x7c00_u16).chain(0x8000..=0xfc00) {
            assert_eq!(float_to_half(half_to_float(half)), half);
        }
    }
}
