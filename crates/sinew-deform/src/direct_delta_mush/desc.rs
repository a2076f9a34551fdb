//! The node as the registry knows it.

use crate::laplacian::{WEIGHTS, WELD_TOLERANCE};
use crate::{
    Choice, Example, MeshEffect, NodeDesc, NodeDocs, NodeKind, ParameterDesc, PortDesc, PortType,
    Restore,
};

const VARIANTS: &[Choice] = &[
    Choice {
        name: "v0",
        doc: "The full method: the rotation nearest to the moment matrix.",
    },
    Choice {
        name: "v1",
        doc: "Cofactors instead of the nearest rotation.",
    },
    Choice {
        name: "v2",
        doc: "Blended quaternions, translation from first moments.",
    },
    Choice {
        name: "v3",
        doc: "Blended matrices, translation from first moments.",
    },
    Choice {
        name: "v4",
        doc: "Blended quaternions about the smoothed rest position.",
    },
];

const SKIN_WEIGHTS: &[Choice] = &[
    Choice {
        name: "authored",
        doc: "The weights of the mesh.",
    },
    Choice {
        name: "strongest",
        doc: "Only the strongest joint of each vertex. The smoothing creates the blended weights.",
    },
];

const STORAGES: &[Choice] = &[
    Choice {
        name: "full",
        doc: "Single precision.",
    },
    Choice {
        name: "quantized",
        doc: "First and second moments in 16 bits, with one scale each per vertex.",
    },
];

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "direct_delta_mush",
    kind: NodeKind::Deformer,
    summary: "Skins a mesh with the look of delta mush, without smoothing each frame.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[
            Example {
                name: "direct_delta_mush",
                graph: include_str!("direct_delta_mush.json"),
                sample: "arm",
                before: "skin_rigid",
                frame: 54,
            },
            Example {
                name: "direct_delta_mush_soft",
                graph: include_str!("direct_delta_mush_soft.json"),
                sample: "arm",
                before: "skin_rigid",
                frame: 54,
            },
        ]),
    rows: &[21, 22, 24, 25, 26],
    inputs: &[
        PortDesc::input(
            "mesh",
            PortType::Mesh,
            "Mesh with joint weights. Nodes before this one may move it in rest space, for example `morph`.",
        ),
        PortDesc::input(
            "pose",
            PortType::Pose,
            "Pose of the rig that the mesh is bound to.",
        ),
    ],
    outputs: &[PortDesc::mesh_output(
        MeshEffect::MOVES_FRAMES,
        "The skinned mesh.",
    )],
    parameters: PARAMETERS,
    bind: super::bind_node,
    restore: Some(Restore {
        version: 2,
        restore: super::restore_node,
    }),
};

const PARAMETERS: &[ParameterDesc] = &[
    ParameterDesc::choice("variant", "v0", VARIANTS, "Formula that moves a vertex, from exact to cheap."),
    ParameterDesc::float(
        "lambda",
        3.0,
        0.0,
        1000.0,
        "Smoothing strength for rotations.",
    )
    .in_setup(),
    ParameterDesc::float(
        "kappa",
        1.0,
        0.0,
        1000.0,
        "Smoothing strength for the weights of translations, at most `lambda`.",
    )
    .in_setup(),
    ParameterDesc::float(
        "alpha",
        0.8,
        0.0,
        0.95,
        "At 0, rotations are smoothed most. Towards 1, joints bulge less and the skin follows its smoothed weights.",
    )
    .in_setup(),
    ParameterDesc::int(
        "iterations",
        20,
        0,
        1000,
        "Number of implicit smoothing steps. 0 gives linear skinning.",
    ),
    WEIGHTS,
    ParameterDesc::bool(
        "pin_border",
        false,
        "Points on an open border are not smoothed.",
    ),
    WELD_TOLERANCE,
    ParameterDesc::choice(
        "skin_weights",
        "authored",
        SKIN_WEIGHTS,
        "Joint weights that the smoothing starts with.",
    ),
    ParameterDesc::float(
        "tolerance",
        1e-4,
        0.0,
        0.01,
        "A vertex drops the joints whose weight and share of its second moments are both below this.",
    )
    .in_setup(),
    ParameterDesc::choice("storage", "full", STORAGES, "How moments are stored."),
    ParameterDesc::int(
        "virtual_bones",
        0,
        0,
        65_536,
        "Number of virtual bones between joints and vertices. They move by `variant`, and vertices follow them by linear skinning. 0 uses none.",
    ),
    ParameterDesc::int(
        "virtual_influences",
        4,
        1,
        8,
        "Maximum number of virtual bones per vertex.",
    ),
];
