//! Values that suit kinds of hair. The page `docs/hair.md` has the options of `sinew hair grow` that go with each.

use crate::{DefaultValue, Preset};

const fn number(name: &'static str, value: f64) -> (&'static str, DefaultValue) {
    (name, DefaultValue::Float(value))
}

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        name: "short",
        doc: "Short hair on a head, 3 to 8 cm: keeps its cut and moves little.",
        values: &[
            number("local_stiffness", 4.0),
            number("global_stiffness", 4.0),
            number("global_range", 0.4),
            number("damping", 8.0),
            number("root_motion", 0.7),
            number("pre_roll", 2.0),
        ],
    },
    Preset {
        name: "long_straight",
        doc: "Long straight hair, 20 to 50 cm: hangs down, swings slowly and comes to rest.",
        values: &[
            number("local_stiffness", 0.3),
            number("global_stiffness", 1.0),
            number("global_range", 0.1),
            number("damping", 6.0),
            number("root_motion", 0.4),
            number("pre_roll", 2.0),
        ],
    },
    Preset {
        name: "curly",
        doc: "Curly hair, 15 to 30 cm: keeps its curls and bounces a little.",
        values: &[
            number("local_stiffness", 1.2),
            number("global_stiffness", 1.0),
            number("global_range", 0.1),
            number("damping", 5.0),
            number("root_motion", 0.5),
            number("pre_roll", 2.0),
        ],
    },
    Preset {
        name: "fur",
        doc: "Fur of an animal, 1 to 5 cm: keeps its combing and trembles with fast motion.",
        values: &[
            number("local_stiffness", 12.0),
            number("global_stiffness", 15.0),
            number("global_range", 0.6),
            number("damping", 10.0),
            number("root_motion", 0.6),
            number("pre_roll", 0.5),
        ],
    },
    Preset {
        name: "ponytail",
        doc: "Hair combed back along a curve, 35 to 60 cm: the first 40 percent stay on the head, the rest swings.",
        values: &[
            number("local_stiffness", 0.4),
            number("global_stiffness", 20.0),
            number("global_range", 0.4),
            number("damping", 4.0),
            number("root_motion", 0.3),
            number("pre_roll", 2.0),
        ],
    },
];
