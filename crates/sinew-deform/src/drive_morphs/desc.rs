//! What the node is called, takes and gives.

use super::bind_node;
use crate::{Choice, MeshReads, NodeDesc, NodeDocs, NodeKind, ParameterDesc, PortDesc, PortType};

const RULES: &[Choice] = &[
    Choice {
        name: "product",
        doc: "Product of the weights of the parents.",
    },
    Choice {
        name: "minimum",
        doc: "Smallest of the weights of the parents.",
    },
];

const IN_BETWEENS: &[ParameterDesc] = &[
    ParameterDesc::text(
        "target",
        "Morph target that is full on the way to its parent.",
    )
    .required(),
    ParameterDesc::text("of", "Parent: morph target that the in-between leads to.").required(),
    ParameterDesc::float(
        "at",
        0.5,
        0.0,
        1.0,
        "Weight of the parent at which the in-between is full. Above 0 and below 1.",
    )
    .in_setup(),
];

const COMBINATIONS: &[ParameterDesc] = &[
    ParameterDesc::text("target", "Morph target that corrects the combination.").required(),
    ParameterDesc::texts(
        "of",
        "Parents: two or more other morph targets. Parents that are combinations themselves must come earlier in the list.",
    )
    .required(),
    ParameterDesc::choice("rule", "product", RULES, "How the weights of the parents combine."),
];

const MIX: &[ParameterDesc] = &[
    ParameterDesc::text("target", "Morph target that receives the mixture.").required(),
    ParameterDesc::floats(
        "weights",
        "Coefficient for each incoming weight, in their order.",
    )
    .required(),
];

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "drive_morphs",
    kind: NodeKind::Driver,
    summary: "Turns pose weights into morph target weights, with in-betweens and combinations.",
    docs: NodeDocs::page(include_str!("README.md")),
    rows: &[129, 158],
    inputs: &[
        PortDesc::input(
            "mesh",
            PortType::Mesh,
            "Mesh with the morph targets. Only their names are read.",
        )
        .reading(MeshReads::NOTHING),
        PortDesc::input("weights", PortType::Values, "One weight for each pose."),
        PortDesc::optional(
            "base",
            PortType::Values,
            "Weights to start from, one for each morph target, for example from another `drive_morphs`.",
        ),
        PortDesc::optional(
            "pose",
            PortType::Pose,
            "Pose whose morph weights are added: those that the file animates.",
        )
        .of_morph_weights(),
    ],
    outputs: &[PortDesc::output(
        "weights",
        PortType::Values,
        "One weight for each morph target, for `morph`.",
    )],
    parameters: &[
        ParameterDesc::texts(
            "targets",
            "Name of the morph target that each incoming weight drives; \"\" for none, as for the neutral pose. May be empty if `mix` is not.",
        ),
        ParameterDesc::records(
            "mix",
            MIX,
            "Morph targets that receive a mixture of all incoming weights: the basis that correctives were reduced to.",
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
            "Morph targets that are full on the way to another target.",
        ),
        ParameterDesc::records(
            "combinations",
            COMBINATIONS,
            "Morph targets that correct combinations of other targets.",
        ),
        ParameterDesc::bool("clamp", false, "Clamps weights to 0..1."),
        ParameterDesc::texts(
            "replaced",
            "Morph targets whose weights in the linked pose are ignored: this graph drives them instead of the clips of the file.",
        ),
    ],
    bind: bind_node,
    restore: None,
};
