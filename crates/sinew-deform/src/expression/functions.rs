//! The functions that expressions can call.

use super::program::Op;

/// What a function takes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Function {
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
    Three(fn(f64, f64, f64) -> f64),
    /// Any number of arguments; each may be all numbers of a link.
    Many(fn(&[f64]) -> f64),
}

impl Function {
    /// How many arguments there must be; `None` for one or more.
    pub(super) fn count(&self) -> Option<usize> {
        match self {
            Self::One(_) => Some(1),
            Self::Two(_) => Some(2),
            Self::Three(_) => Some(3),
            Self::Many(_) => None,
        }
    }

    /// As a step, which takes `count` numbers.
    pub(super) fn op(&self, count: usize) -> Op {
        match *self {
            Self::One(f) => Op::One(f),
            Self::Two(f) => Op::Two(f),
            Self::Three(f) => Op::Three(f),
            Self::Many(f) => Op::Many(f, count),
        }
    }
}

/// By name, in the order of the docs.
pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("abs", Function::One(f64::abs)),
    ("sign", Function::One(sign)),
    ("floor", Function::One(f64::floor)),
    ("ceil", Function::One(f64::ceil)),
    ("round", Function::One(f64::round_ties_even)),
    ("fract", Function::One(|x| x - x.floor())),
    ("sqrt", Function::One(f64::sqrt)),
    ("exp", Function::One(f64::exp)),
    ("log", Function::One(f64::ln)),
    ("sin", Function::One(f64::sin)),
    ("cos", Function::One(f64::cos)),
    ("tan", Function::One(f64::tan)),
    ("asin", Function::One(f64::asin)),
    ("acos", Function::One(f64::acos)),
    ("atan", Function::One(f64::atan)),
    ("degrees", Function::One(f64::to_degrees)),
    ("radians", Function::One(f64::to_radians)),
    ("atan2", Function::Two(f64::atan2)),
    ("pow", Function::Two(f64::powf)),
    ("step", Function::Two(|edge, x| truth(x >= edge))),
    (
        "clamp",
        Function::Three(|x, low, high| x.max(low).min(high)),
    ),
    ("mix", Function::Three(|a, b, t| a + (b - a) * t)),
    ("smoothstep", Function::Three(smoothstep)),
    (
        "if",
        Function::Three(|test, yes, no| if test != 0.0 { yes } else { no }),
    ),
    (
        "min",
        Function::Many(|all| all.iter().copied().fold(f64::INFINITY, f64::min)),
    ),
    (
        "max",
        Function::Many(|all| all.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
    ),
    ("sum", Function::Many(|all| all.iter().sum())),
    (
        "mean",
        Function::Many(|all| all.iter().sum::<f64>() / all.len() as f64),
    ),
    (
        "length",
        Function::Many(|all| all.iter().map(|x| x * x).sum::<f64>().sqrt()),
    ),
];

/// The constants, by name.
pub(super) const CONSTANTS: &[(&str, f64)] =
    &[("pi", std::f64::consts::PI), ("tau", std::f64::consts::TAU)];

/// 1 if it holds, 0 if not.
pub(super) fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

fn sign(x: f64) -> f64 {
    truth(x > 0.0) - truth(x < 0.0)
}

fn smoothstep(from: f64, to: f64, x: f64) -> f64 {
    let s = ((x - from) / (to - from)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}
