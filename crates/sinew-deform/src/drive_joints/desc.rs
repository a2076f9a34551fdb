//! What the node is called, takes and gives.

use super::bind_node;
use crate::{Choice, NodeDesc, NodeKind, ParameterDesc, PortDesc, PortType};

const SPACES: &[Choice] = &[
    Choice {
        name: "parent",
        doc: "Relative to their parents, as a file has them.",
    },
    Choice {
        name: "rest",
        doc: "Relative to where they rest: `{}` is the rest pose, whatever the rig.",
    },
];

const ROTATIONS: &[Choice] = &[
    Choice {
        name: "log",
        doc: "Rotation vectors relative to neutral are added by weight.",
    },
    Choice {
        name: "nlerp",
        doc: "Quaternions are added by weight and normalised; what is left to 1 goes to neutral.",
    },
];

const SHEARED: &[Choice] = &[
    Choice {
        name: "error",
        doc: "It is an error.",
    },
    Choice {
        name: "nearest",
        doc: "The nearest rotation is taken and the shear left out.",
    },
];

const AXES: &[Choice] = &[
    Choice {
        name: "x",
        doc: "The first axis of its frame.",
    },
    Choice {
        name: "y",
        doc: "The second axis.",
    },
    Choice {
        name: "z",
        doc: "The third axis.",
    },
];

const POSES: &[ParameterDesc] = &[
    ParameterDesc::text("name", "What it is called, for messages.").required(),
    ParameterDesc::transforms(
        "joints",
        "For each driven joint where it is in this pose, in the node's space.",
    )
    .required(),
];

const FOLLOWERS: &[ParameterDesc] = &[
    ParameterDesc::text("joint", "The joint that follows.").required(),
    ParameterDesc::text("source", "The joint that it follows.").required(),
    ParameterDesc::choice(
        "axis",
        "x",
        AXES,
        "Axis of the twist, in the frame of the source at rest.",
    ),
    ParameterDesc::float(
        "twist",
        0.5,
        -10.0,
        10.0,
        "How much of the twist it takes over.",
    )
    .in_setup(),
    ParameterDesc::float(
        "swing",
        0.0,
        -10.0,
        10.0,
        "How much of the swing it takes over.",
    )
    .in_setup(),
];

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "drive_joints",
    kind: NodeKind::Driver,
    summary: "Moves helper joints by weights of poses, or with a share of another joint's twist and swing.",
    page: include_str!("README.md"),
    rows: &[130, 153, 154],
    inputs: &[
        PortDesc::input("pose", PortType::Pose, "Pose to start from."),
        PortDesc::optional(
            "weights",
            PortType::Values,
            "One weight a pose; needed where there are poses.",
        ),
    ],
    outputs: &[PortDesc::output(
        "pose",
        PortType::Pose,
        "The pose with its helper joints moved.",
    )],
    parameters: &[
        ParameterDesc::texts("joints", "Names of the driven joints (or other nodes)."),
        ParameterDesc::records("poses", POSES, "One for each of the linked weights."),
        ParameterDesc::transforms(
            "neutral",
            "For each driven joint where it is without any weight, in the node's space; empty means at rest.",
        ),
        ParameterDesc::choice(
            "space",
            "rest",
            SPACES,
            "What transforms of `poses` and `neutral` are relative to.",
        ),
        ParameterDesc::choice("rotation", "log", ROTATIONS, "How rotations are blended."),
        ParameterDesc::choice(
            "sheared",
            "error",
            SHEARED,
            "What a matrix means that is no rotation times a scale.",
        ),
        ParameterDesc::records(
            "followers",
            FOLLOWERS,
            "Joints that turn with others, in order: forearm twist joints, say.",
        ),
    ],
    bind: bind_node,
    restore: None,
};
