//! Operators and conversions, one component at a time. Floats travel as their bits, booleans as 0 and 1.

use naga::{BinaryOperator, ScalarKind, UnaryOperator};

use super::code::Component::{self, One, Three, Two};

pub(super) fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

fn i(bits: u32) -> i32 {
    bits.cast_signed()
}

pub(super) fn unary(op: UnaryOperator, kind: ScalarKind) -> Option<Component> {
    Some(One(match (op, kind) {
        (UnaryOperator::Negate, ScalarKind::Float) => |a| (-f(a)).to_bits(),
        (UnaryOperator::Negate, _) => u32::wrapping_neg,
        (UnaryOperator::LogicalNot, _) => |a| a ^ 1,
        (UnaryOperator::BitwiseNot, _) => |a| !a,
    }))
}

pub(super) fn binary(op: BinaryOperator, kind: ScalarKind) -> Option<Component> {
    let f = match kind {
        ScalarKind::Float => of_floats(op)?,
        ScalarKind::Sint => of_signed(op)?,
        ScalarKind::Uint | ScalarKind::Bool => of_words(op)?,
        _ => return None,
    };
    Some(Two(f))
}

fn of_floats(op: BinaryOperator) -> Option<fn(u32, u32) -> u32> {
    use BinaryOperator as B;
    Some(match op {
        B::Add => |a, b| (f(a) + f(b)).to_bits(),
        B::Subtract => |a, b| (f(a) - f(b)).to_bits(),
        B::Multiply => |a, b| (f(a) * f(b)).to_bits(),
        B::Divide => |a, b| (f(a) / f(b)).to_bits(),
        B::Modulo => |a, b| (f(a) - f(b) * (f(a) / f(b)).trunc()).to_bits(),
        B::Equal => |a, b| u32::from(f(a) == f(b)),
        B::NotEqual => |a, b| u32::from(f(a) != f(b)),
        B::Less => |a, b| u32::from(f(a) < f(b)),
        B::LessEqual => |a, b| u32::from(f(a) <= f(b)),
        B::Greater => |a, b| u32::from(f(a) > f(b)),
        B::GreaterEqual => |a, b| u32::from(f(a) >= f(b)),
        _ => return None,
    })
}

fn of_signed(op: BinaryOperator) -> Option<fn(u32, u32) -> u32> {
    use BinaryOperator as B;
    Some(match op {
        B::Divide => |a, b| match b {
            0 => a,
            _ => i(a).wrapping_div(i(b)).cast_unsigned(),
        },
        B::Modulo => |a, b| match b {
            0 => 0,
            _ => i(a).wrapping_rem(i(b)).cast_unsigned(),
        },
        B::Less => |a, b| u32::from(i(a) < i(b)),
        B::LessEqual => |a, b| u32::from(i(a) <= i(b)),
        B::Greater => |a, b| u32::from(i(a) > i(b)),
        B::GreaterEqual => |a, b| u32::from(i(a) >= i(b)),
        B::ShiftRight => |a, b| i(a).wrapping_shr(b).cast_unsigned(),
        other => return of_words(other),
    })
}

fn of_words(op: BinaryOperator) -> Option<fn(u32, u32) -> u32> {
    use BinaryOperator as B;
    Some(match op {
        B::Add => u32::wrapping_add,
        B::Subtract => u32::wrapping_sub,
        B::Multiply => u32::wrapping_mul,
        B::Divide => |a, b| a.checked_div(b).unwrap_or(a),
        B::Modulo => |a, b| a.checked_rem(b).unwrap_or(0),
        B::Equal => |a, b| u32::from(a == b),
        B::NotEqual => |a, b| u32::from(a != b),
        B::Less => |a, b| u32::from(a < b),
        B::LessEqual => |a, b| u32::from(a <= b),
        B::Greater => |a, b| u32::from(a > b),
        B::GreaterEqual => |a, b| u32::from(a >= b),
        B::And | B::LogicalAnd => |a, b| a & b,
        B::InclusiveOr | B::LogicalOr => |a, b| a | b,
        B::ExclusiveOr => |a, b| a ^ b,
        B::ShiftLeft => u32::wrapping_shl,
        B::ShiftRight => u32::wrapping_shr,
    })
}

/// `select`: condition, value if true, value if false.
pub(super) const SELECT: Component = Three(|c, yes, no| if c == 0 { no } else { yes });

/// NaN stays NaN.
fn at_most(value: f32, most: f32) -> f32 {
    if value > most { most } else { value }
}

/// Conversion between kinds of 32 bits; `None` if nothing is to do.
pub(super) fn conversion(from: ScalarKind, to: ScalarKind) -> Option<Component> {
    use ScalarKind as K;
    Some(One(match (from, to) {
        (K::Float, K::Sint) => |a| (at_most(f(a), 2_147_483_520.0) as i32).cast_unsigned(),
        (K::Float, K::Uint) => |a| at_most(f(a), 4_294_967_040.0) as u32,
        (K::Sint, K::Float) => |a| (i(a) as f32).to_bits(),
        (K::Uint | K::Bool, K::Float) => |a| (a as f32).to_bits(),
        (K::Float, K::Bool) => |a| u32::from(f(a) != 0.0),
        (K::Sint | K::Uint, K::Bool) => |a| u32::from(a != 0),
        _ => return None,
    }))
}
