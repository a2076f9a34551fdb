//! What the node is called, takes and gives.

use super::bind_node;
use crate::{Choice, MeshReads, NodeDesc, NodeKind, ParameterDesc, PortDesc, PortType};

const RULES: &[Choice] = &[
    Choice {
        name: "product",
        doc: "The weights of the parents multiplied.",
    },
    Choice {
        name: "minimum",
        doc: "The least of the weights of the parents.",
    },
];

const IN_BETWEENS: &[ParameterDesc] = &[
    ParameterDesc::text("target", "Morph target that is full in between.").required(),
    ParameterDesc::text("of", "Morph target on whose way it lies.").required(),
    ParameterDesc::float(
        "at",
        0.5,
        0.0,
        1.0,
        "Weight of that one at which it is full; above 0 and below 1.",
    )
    .in_setup(),
];

const COMBINATIONS: &[ParameterDesc] = &[
    ParameterDesc::text("target", "Morph target that corrects the combination.").required(),
    ParameterDesc::texts(
        "of",
        "Two or more other morph targets; those that are combinations themselves must be listed before.",
    )
    .required(),
    ParameterDesc::choice("rule", "product", RULES, "How the weights of those combine."),
];

const MIX: &[ParameterDesc] = &[
    ParameterDesc::text("target", "Morph target that gets the mixture.").required(),
    ParameterDesc::floats(
        "weights",
        "How much of each incoming weight it gets, in their order.",
    )
    .required(),
];

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "drive_morphs",
    kind: NodeKind::Driver,
    summary: "Turns weights of poses into weights of morph targets, with in-betweens and combinations.",
    page: include_str!("README.md"),
    rows: &[129, 158],
    inputs: &[
        PortDesc::input(
            "mesh",
            PortType::Mesh,
            "Mesh with the morph targets; only their names are read.",
        )
        .reading(MeshReads::NOTHING),
        PortDesc::input("weights", PortType::Values, "One weight a pose."),
        PortDesc::optional(
            "base",
            PortType::Values,
            "One weight a morph target to start from: those of another `drive_morphs`, say.",
        ),
        PortDesc::optional(
            "pose",
            PortType::Pose,
            "Pose whose morph weights (those animated in the file) are added.",
        )
        .of_morph_weights(),
    ],
    outputs: &[PortDesc::output(
        "weights",
        PortType::Values,
        "One weight a morph target, for `morph`.",
    )],
    parameters: &[
        ParameterDesc::texts(
            "targets",
            "For each incoming weight the name of the morph target that it drives; \"\" for none, as for the neutral pose. May be empty where 'mix' is not.",
        ),
        ParameterDesc::records(
            "mix",
            MIX,
            "Morph targets that get a mixture of all incoming weights: those of a basis that correctives were reduced to.",
        ),
        ParameterDesc::float(
            "gain",
            1.0,
            -100.0,
            100.0,
            "Multiplies the incoming weights.",
        ),
        ParameterDesc::records(
            "in_betweens",
            IN_BETWEENS,
            "Morph targets that are full on the way to another.",
        ),
        ParameterDesc::records(
            "combinations",
            COMBINATIONS,
            "Morph targets that appear where others meet.",
        ),
        ParameterDesc::bool("clamp", false, "Whether weights are kept within 0 to 1."),
        ParameterDesc::texts(
            "replaced",
            "Morph targets whose weights in the linked pose are not added: those that clips of the file animate and this graph drives.",
        ),
    ],
    bind: bind_node,
    restore: None,
};
