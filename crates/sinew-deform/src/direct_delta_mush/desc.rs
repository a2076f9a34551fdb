//! The node as the registry knows it.

use crate::laplacian::{WEIGHTS, WELD_TOLERANCE};
use crate::{Choice, MeshEffect, NodeDesc, NodeKind, ParameterDesc, PortDesc, PortType, Restore};

const VARIANTS: &[Choice] = &[
    Choice {
        name: "v0",
        doc: "The full method: the rotation nearest to the moments.",
    },
    Choice {
        name: "v1",
        doc: "Cofactors in place of the nearest rotation.",
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
        doc: "Each vertex starts with its strongest joint alone; the smoothing makes the weights.",
    },
];

const STORAGES: &[Choice] = &[
    Choice {
        name: "full",
        doc: "Single precision.",
    },
    Choice {
        name: "quantized",
        doc: "First and second moments in 16 bits, with a scale each a vertex.",
    },
];

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "direct_delta_mush",
    kind: NodeKind::Deformer,
    summary: "Skins a mesh with the look of delta mush, without smoothing in the frame.",
    page: include_str!("README.md"),
    rows: &[21, 22, 24, 25, 26],
    inputs: &[
        PortDesc::input(
            "mesh",
            PortType::Mesh,
            "Mesh with joint weights; it may move in rest space (morph targets).",
        ),
        PortDesc::input("pose", PortType::Pose, "Pose of the rig it is bound to."),
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
    ParameterDesc::choice("variant", "v0", VARIANTS, "How a vertex moves, from full to cheap."),
    ParameterDesc::float(
        "lambda",
        3.0,
        0.0,
        1000.0,
        "How strongly rotations are smoothed.",
    )
    .in_setup(),
    ParameterDesc::float(
        "kappa",
        1.0,
        0.0,
        1000.0,
        "How strongly the weights behind translations are smoothed; at most `lambda`.",
    )
    .in_setup(),
    ParameterDesc::float(
        "alpha",
        0.8,
        0.0,
        0.95,
        "0 smooths rotations most; towards 1 joints bulge less and the skin follows its smoothed weights.",
    )
    .in_setup(),
    ParameterDesc::int(
        "iterations",
        20,
        0,
        1000,
        "Implicit smoothing steps; 0 is linear skinning.",
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
        "What the smoothing starts with.",
    ),
    ParameterDesc::float(
        "tolerance",
        1e-4,
        0.0,
        0.01,
        "Joints whose weight and share of a vertex are below this are left out.",
    )
    .in_setup(),
    ParameterDesc::choice("storage", "full", STORAGES, "How moments are stored."),
    ParameterDesc::int(
        "virtual_bones",
        0,
        0,
        65_536,
        "Bones between joints and vertices: only they move by the variant, vertices follow them by linear skinning. 0 is none.",
    ),
    ParameterDesc::int(
        "virtual_influences",
        4,
        1,
        8,
        "Virtual bones that a vertex follows at most.",
    ),
];
