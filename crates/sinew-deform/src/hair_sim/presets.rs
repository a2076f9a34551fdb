//! Values that suit kinds of hair.

use crate::{DefaultValue, Preset};

const fn number(name: &'static str, value: f64) -> (&'static str, DefaultValue) {
    (name, DefaultValue::Float(value))
}

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "short",
        doc: "Hair of up to a hand's breadth that keeps its shape.",
        values: &[
            number("local_stiffness", 2.0),
            number("damping", 6.0),
            number("pre_roll", 2.0),
        ],
    },
    Preset {
        name: "long_straight",
        doc: "Long hair that hangs and swings slowly.",
        values: &[
            number("local_stiffness", 0.3),
            number("damping", 6.0),
            number("pre_roll", 2.0),
        ],
    },
    Preset {
        name: "fur",
        doc: "Fur that hardly moves.",
        values: &[
            number("local_stiffness", 6.0),
            number("damping", 10.0),
            number("pre_roll", 1.0),
        ],
    },
];
