//! Words of documents for what a definition is made of, in both directions.

use super::{Clamp, Metric, RadialKernel, Rules, Solver};
use sinew_geom::EulerOrder;

type Table<T> = &'static [(&'static str, T)];

const ORDERS: Table<EulerOrder> = &[
    ("xyz", EulerOrder::Xyz),
    ("yzx", EulerOrder::Yzx),
    ("zxy", EulerOrder::Zxy),
    ("xzy", EulerOrder::Xzy),
    ("yxz", EulerOrder::Yxz),
    ("zyx", EulerOrder::Zyx),
];
/// All but `euler`, which has an order.
const METRICS: Table<Metric> = &[
    ("arc", Metric::Arc),
    ("chord", Metric::Chord),
    ("swing", Metric::Swing),
    ("swing_chord", Metric::SwingChord),
    ("direction", Metric::Direction),
    ("direction_chord", Metric::DirectionChord),
    ("twist", Metric::Twist),
    ("twist_chord", Metric::TwistChord),
    ("components", Metric::Components),
    ("position", Metric::Position),
];
/// All but `curve`, which has one.
const KERNELS: Table<RadialKernel> = &[
    ("gaussian", RadialKernel::Gaussian),
    ("gaussian_of_distance", RadialKernel::GaussianOfDistance),
    ("exponential", RadialKernel::Exponential),
    ("exponential_plain", RadialKernel::ExponentialPlain),
    ("linear", RadialKernel::Linear),
    ("cubic", RadialKernel::Cubic),
    ("quintic", RadialKernel::Quintic),
];
const SOLVERS: Table<Solver> = &[
    ("interpolative", Solver::Interpolative),
    ("additive", Solver::Additive),
];
const CLAMPS: Table<Clamp> = &[
    ("none", Clamp::None),
    ("negative", Clamp::Negative),
    ("unit", Clamp::Unit),
];
const RULES: Table<Rules> = &[
    ("sinew", Rules::Sinew),
    ("psd_json", Rules::PsdJson),
    ("unreal", Rules::Unreal),
    ("riglogic", Rules::RigLogic),
];

fn meaning<T: Clone>(table: Table<T>, word: &str) -> Option<T> {
    let found = table.iter().find(|(known, _)| *known == word);
    found.map(|(_, value)| value.clone())
}

fn word<T: PartialEq>(table: Table<T>, value: &T) -> Option<&'static str> {
    let found = table.iter().find(|(_, known)| known == value);
    found.map(|(word, _)| *word)
}

/// The order of that name.
pub(crate) fn order(word: &str) -> EulerOrder {
    meaning(ORDERS, word).unwrap_or_default()
}

impl Metric {
    /// The metric of that name in documents; `order` is for `euler`.
    pub(crate) fn from_word(word: &str, order: EulerOrder) -> Option<Self> {
        match word {
            "euler" => Some(Self::Euler(order)),
            _ => meaning(METRICS, word),
        }
    }
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            // What the rules of Unreal make of this word is among them.
            Self::Euler(_) | Self::EulerTriples(_) => "euler",
            // What the rules of PSD JSON make of this word.
            Self::PsdJsonSwing => "swing",
            other => word(METRICS, &other).unwrap_or_default(),
        }
    }
    /// What its distances are measured in: `rad`, `m`, or nothing for chords and components, which are ratios.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Arc | Self::Swing | Self::PsdJsonSwing | Self::Direction => "rad",
            Self::Twist | Self::Euler(_) | Self::EulerTriples(_) => "rad",
            Self::Position => "m",
            Self::Chord
            | Self::SwingChord
            | Self::DirectionChord
            | Self::TwistChord
            | Self::Components => "",
        }
    }
    /// The name of the order of its Euler angles.
    pub fn order_name(self) -> Option<&'static str> {
        match self {
            Self::Euler(order) | Self::EulerTriples(order) => word(ORDERS, &order),
            _ => None,
        }
    }
}

impl RadialKernel {
    /// The kernel of that name in documents, but for `curve`.
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        meaning(KERNELS, word)
    }
    /// Its name in documents.
    pub fn name(&self) -> &'static str {
        word(KERNELS, self).unwrap_or("curve")
    }
}

macro_rules! words {
    ($($ty:ident in $table:ident, default $default:ident;)*) => {
        $(impl $ty {
            /// What that word of documents means.
            pub(crate) fn from_word(word: &str) -> Self {
                meaning($table, word).unwrap_or(Self::$default)
            }
            /// Its word in documents.
            pub fn name(self) -> &'static str {
                word($table, &self).unwrap_or_default()
            }
        })*
    };
}

words! {
    Solver in SOLVERS, default Interpolative;
    Clamp in CLAMPS, default Negative;
    Rules in RULES, default Sinew;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParameterType;
    use crate::pose_driver::DESC;

    /// Every word that documents may use has a meaning of its own.
    #[test]
    fn words_are_those_of_the_description() {
        let words = |name: &str| -> Vec<&'static str> {
            match DESC.parameter(name).map(|p| p.ty) {
                Some(ParameterType::Choice(c)) => c.iter().map(|c| c.name).collect(),
                other => panic!("{name}: {other:?}"),
            }
        };
        for w in words("metric") {
            let order = EulerOrder::Yxz;
            assert_eq!(Metric::from_word(w, order).map(Metric::name), Some(w));
        }
        for w in words("kernel") {
            let kernel = RadialKernel::from_word(w);
            assert_eq!(kernel.map_or("curve", |k| k.name()), w);
        }
        for w in words("solver") {
            assert_eq!(Solver::from_word(w).name(), w);
        }
        for w in words("clamp") {
            assert_eq!(Clamp::from_word(w).name(), w);
        }
        for w in words("rules") {
            assert_eq!(Rules::from_word(w).name(), w);
        }
        for w in words("rotation_order") {
            assert_eq!(Metric::Euler(order(w)).order_name(), Some(w));
        }
    }
}
