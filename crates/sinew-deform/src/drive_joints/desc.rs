//! What the node is called, takes and gives.

use super::bind_node;
use crate::{Choice, NodeDesc, NodeDocs, NodeKind, ParameterDesc, PortDesc, PortType};

const SPACES: &[Choice] = &[
    Choice {
        name: "parent",
        doc: "Relative to the parent joint, as in files of pose drivers.",
    },
    Choice {
        name: "rest",
        doc: "Relative to the rest transform: `{}` is the rest pose of any rig.",
    },
];

const ROTATIONS: &[Choice] = &[
    Choice {
        name: "log",
        doc: "Weighted sum of rotation vectors relative to neutral.",
    },
    Choice {
        name: "nlerp",
        doc: "Weighted sum of quaternions, normalised. Neutral gets the weight that is missing to 1.",
    },
];

const SHEARED: &[Choice] = &[
    Choice {
        name: "error",
        doc: "Setup fails.",
    },
    Choice {
        name: "nearest",
        doc: "Uses the nearest rotation and ignores the shear.",
    },
];

const AXES: &[Choice] = &[
    Choice {
        name: "x",
        doc: "The first axis of the source's frame.",
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
    ParameterDesc::text("name", "Name of the pose, for messages.").required(),
    ParameterDesc::transforms(
        "joints",
        "Transform of each driven joint in this pose, in the space of `space`.",
    )
    .required(),
];

const FOLLOWERS: &[ParameterDesc] = &[
    ParameterDesc::text("joint", "The joint that follows.").required(),
    ParameterDesc::text("source", "The joint that drives it.").required(),
    ParameterDesc::choice(
        "axis",
        "x",
        AXES,
        "Twist axis, in the rest frame of the source.",
    ),
    ParameterDesc::float(
        "twist",
        0.5,
        -10.0,
        10.0,
        "Fraction of the twist that the follower takes over.",
    )
    .in_setup(),
    ParameterDesc::float(
        "swing",
        0.0,
        -10.0,
        10.0,
        "Fraction of the swing that the follower takes over.",
    )
    .in_setup(),
];

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "drive_joints",
    kind: NodeKind::Driver,
    summary: "Moves helper joints by pose weights, or by a fraction of another joint's twist and swing.",
    docs: NodeDocs::page(include_str!("README.md")),
    rows: &[130, 153, 154],
    inputs: &[
        PortDesc::input("pose", PortType::Pose, "Pose to start from."),
        PortDesc::optional(
            "weights",
            PortType::Values,
            "One weight for each pose. Required if `poses` is not empty.",
        ),
    ],
    outputs: &[PortDesc::output(
        "pose",
        PortType::Pose,
        "The pose with its helper joints moved.",
    )],
    parameters: &[
        ParameterDesc::texts(
            "joints",
            "Names of the driven joints, or of other nodes of the rig.",
        ),
        ParameterDesc::records("poses", POSES, "The poses, one for each linked weight."),
        ParameterDesc::transforms(
            "neutral",
            "Transform of each driven joint if all weights are 0, in the space of `space`. Empty means the rest pose.",
        ),
        ParameterDesc::choice(
            "space",
            "rest",
            SPACES,
            "Space of the transforms in `poses` and `neutral`.",
        ),
        ParameterDesc::choice("rotation", "log", ROTATIONS, "How rotations are blended."),
        ParameterDesc::choice(
            "sheared",
            "error",
            SHEARED,
            "What happens if a pose is given as a matrix with shear.",
        ),
        ParameterDesc::records(
            "followers",
            FOLLOWERS,
            "Joints that rotate with other joints, evaluated in this order. Example: forearm twist joints.",
        ),
    ],
    bind: bind_node,
    restore: None,
};
