//! WGSL's functions of numbers, one component at a time.
//!
//! Functions that are not exact in 32 bits (`sin`, `pow`) are computed in 64 bits and rounded once.

use naga::{MathFunction, ScalarKind};

use super::code::Component::{self, Four, One, Three, Two};
use super::component::f;
use super::packing;

/// The function of one component; `None` for those that mix components.
pub(super) fn component(function: MathFunction, kind: ScalarKind) -> Option<Component> {
    match kind {
        ScalarKind::Float => simple(function)
            .or_else(|| wide(function))
            .or_else(|| of_several(function)),
        ScalarKind::Sint => signed(function).or_else(|| bits(function)),
        ScalarKind::Uint => unsigned(function).or_else(|| bits(function)),
        _ => None,
    }
}

/// Exact in 32 bits.
fn simple(function: MathFunction) -> Option<Component> {
    use MathFunction as M;
    Some(One(match function {
        M::Abs => |a| f(a).abs().to_bits(),
        M::Saturate => |a| clamp(f(a), 0.0, 1.0).to_bits(),
        M::Ceil => |a| f(a).ceil().to_bits(),
        M::Floor => |a| f(a).floor().to_bits(),
        M::Round => |a| f(a).round_ties_even().to_bits(),
        M::Fract => |a| (f(a) - f(a).floor()).to_bits(),
        M::Trunc => |a| f(a).trunc().to_bits(),
        M::Sign => |a| sign(f(a)).to_bits(),
        M::Sqrt => |a| f(a).sqrt().to_bits(),
        M::Radians => |a| f(a).to_radians().to_bits(),
        M::Degrees => |a| f(a).to_degrees().to_bits(),
        M::QuantizeToF16 => |a| packing::half_to_float(packing::float_to_half(f(a))).to_bits(),
        _ => return None,
    }))
}

/// `$g` of 64-bit floats, for 32-bit ones.
macro_rules! in_64_bits {
    ($g:expr) => {
        One(|a| {
            let g: fn(f64) -> f64 = $g;
            (g(f64::from(f(a))) as f32).to_bits()
        })
    };
}

/// Rounded from 64 bits.
fn wide(function: MathFunction) -> Option<Component> {
    use MathFunction as M;
    Some(match function {
        M::Cos => in_64_bits!(f64::cos),
        M::Cosh => in_64_bits!(f64::cosh),
        M::Sin => in_64_bits!(f64::sin),
        M::Sinh => in_64_bits!(f64::sinh),
        M::Tan => in_64_bits!(f64::tan),
        M::Tanh => in_64_bits!(f64::tanh),
        M::Acos => in_64_bits!(f64::acos),
        M::Asin => in_64_bits!(f64::asin),
        M::Atan => in_64_bits!(f64::atan),
        M::Asinh => in_64_bits!(f64::asinh),
        M::Acosh => in_64_bits!(f64::acosh),
        M::Atanh => in_64_bits!(f64::atanh),
        M::Exp => in_64_bits!(f64::exp),
        M::Exp2 => in_64_bits!(f64::exp2),
        M::Log => in_64_bits!(f64::ln),
        M::Log2 => in_64_bits!(f64::log2),
        M::InverseSqrt => in_64_bits!(|a| 1.0 / a.sqrt()),
        _ => return None,
    })
}

/// Of several floats.
fn of_several(function: MathFunction) -> Option<Component> {
    use MathFunction as M;
    Some(match function {
        M::Min => Two(|a, b| least(f(a), f(b)).to_bits()),
        M::Max => Two(|a, b| most(f(a), f(b)).to_bits()),
        M::Clamp => Three(|a, low, high| clamp(f(a), f(low), f(high)).to_bits()),
        M::Atan2 => Two(|a, b| (f64::from(f(a)).atan2(f64::from(f(b))) as f32).to_bits()),
        M::Pow => Two(|a, b| pow(f(a), f(b)).to_bits()),
        M::Ldexp => Two(|a, b| ldexp(f(a), b.cast_signed()).to_bits()),
        M::Fma => Three(|a, b, c| f(a).mul_add(f(b), f(c)).to_bits()),
        M::Mix => Three(|a, b, t| (f(a) * (1.0 - f(t)) + f(b) * f(t)).to_bits()),
        M::Step => Two(|edge, a| f32::from(u8::from(f(a) >= f(edge))).to_bits()),
        M::SmoothStep => Three(|low, high, a| smooth_step(f(low), f(high), f(a)).to_bits()),
        _ => return None,
    })
}

fn signed(function: MathFunction) -> Option<Component> {
    use MathFunction as M;
    Some(match function {
        M::Abs => One(|a| a.cast_signed().wrapping_abs().cast_unsigned()),
        M::Sign => One(|a| a.cast_signed().signum().cast_unsigned()),
        M::Min => Two(|a, b| a.cast_signed().min(b.cast_signed()).cast_unsigned()),
        M::Max => Two(|a, b| a.cast_signed().max(b.cast_signed()).cast_unsigned()),
        M::Clamp => Three(|a, low, high| {
            let above = a.cast_signed().max(low.cast_signed());
            above.min(high.cast_signed()).cast_unsigned()
        }),
        M::FirstLeadingBit => One(|a| {
            let same = if a.cast_signed() < 0 { !a } else { a };
            31_u32.wrapping_sub(same.leading_zeros())
        }),
        M::ExtractBits => Three(|a, offset, count| {
            let (offset, count) = bit_range(offset, count);
            let above = 32 - offset - count;
            match count {
                0 => 0,
                _ => ((a << above).cast_signed() >> (above + offset)).cast_unsigned(),
            }
        }),
        _ => return None,
    })
}

fn unsigned(function: MathFunction) -> Option<Component> {
    use MathFunction as M;
    Some(match function {
        M::Abs => One(|a| a),
        M::Min => Two(u32::min),
        M::Max => Two(u32::max),
        M::Clamp => Three(|a, low, high| a.max(low).min(high)),
        M::FirstLeadingBit => One(|a| 31_u32.wrapping_sub(a.leading_zeros())),
        M::ExtractBits => Three(|a, offset, count| {
            let (offset, count) = bit_range(offset, count);
            a.checked_shr(offset).unwrap_or(0) & mask(count)
        }),
        M::Dot4U8Packed => Two(|a, b| {
            let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
            products.map(|(a, b)| u32::from(a) * u32::from(b)).sum()
        }),
        M::Dot4I8Packed => Two(|a, b| {
            let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
            let signed = |byte: u8| i32::from(byte.cast_signed());
            let sum: i32 = products.map(|(a, b)| signed(a) * signed(b)).sum();
            sum.cast_unsigned()
        }),
        _ => return None,
    })
}

/// The same for signed and unsigned integers.
fn bits(function: MathFunction) -> Option<Component> {
    use MathFunction as M;
    Some(match function {
        M::CountTrailingZeros => One(u32::trailing_zeros),
        M::CountLeadingZeros => One(u32::leading_zeros),
        M::CountOneBits => One(u32::count_ones),
        M::ReverseBits => One(u32::reverse_bits),
        M::FirstTrailingBit => One(|a| match a {
            0 => u32::MAX,
            _ => a.trailing_zeros(),
        }),
        M::InsertBits => Four(|a, inserted, offset, count| {
            let (offset, count) = bit_range(offset, count);
            let mask = mask(count).checked_shl(offset).unwrap_or(0);
            a & !mask | inserted.checked_shl(offset).unwrap_or(0) & mask
        }),
        _ => return None,
    })
}

/// A range of bits inside of the 32.
fn bit_range(offset: u32, count: u32) -> (u32, u32) {
    let offset = offset.min(32);
    (offset, count.min(32 - offset))
}

/// The lowest bits.
fn mask(count: u32) -> u32 {
    1_u32.checked_shl(count).unwrap_or(0).wrapping_sub(1)
}

/// Of a number and NaN, the number.
fn least(a: f32, b: f32) -> f32 {
    if b < a || a.is_nan() { b } else { a }
}

fn most(a: f32, b: f32) -> f32 {
    if b > a || a.is_nan() { b } else { a }
}

pub(super) fn clamp(a: f32, low: f32, high: f32) -> f32 {
    least(most(a, low), high)
}

fn sign(a: f32) -> f32 {
    f32::from(i8::from(a > 0.0) - i8::from(a < 0.0))
}

/// As `exp2(b * log2(a))`: NaN for negative bases.
fn pow(a: f32, b: f32) -> f32 {
    match a < 0.0 {
        true => f32::NAN,
        false => f64::from(a).powf(f64::from(b)) as f32,
    }
}

fn ldexp(a: f32, exponent: i32) -> f32 {
    (f64::from(a) * f64::from(exponent.clamp(-400, 400)).exp2()) as f32
}

fn smooth_step(low: f32, high: f32, a: f32) -> f32 {
    let t = clamp((a - low) / (high - low), 0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The two results of `modf` and `frexp`, in the order of naga's structures.
pub(super) fn pair(function: MathFunction) -> Option<[Component; 2]> {
    match function {
        MathFunction::Modf => Some([
            One(|a| (f(a) - f(a).trunc()).to_bits()),
            One(|a| f(a).trunc().to_bits()),
        ]),
        MathFunction::Frexp => Some([
            One(|a| frexp(f(a)).0.to_bits()),
            One(|a| frexp(f(a)).1.cast_unsigned()),
        ]),
        _ => None,
    }
}

/// A fraction from 0.5 to 1 and a power of two. Zero, NaN and infinity are fractions of their own.
fn frexp(a: f32) -> (f32, i32) {
    if a == 0.0 || !a.is_finite() {
        return (a, 0);
    }
    // Normal numbers of 64 bits include all of 32 bits.
    let bits = f64::from(a).to_bits();
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1022;
    let fraction = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52);
    (fraction as f32, exponent)
}
