//! What the node is called, takes and gives.

use super::bind_node;
use crate::pose_driver::{
    AXIS, JOINTS, KERNELS, METRIC, ORDER, REFERENCE, REGULARIZATION, SPACE, SWING_TOLERANCE, choice,
};
use crate::{
    Choice, MASK_PORT, MaskWeight, MeshEffect, NodeDesc, NodeKind, ParameterDesc, PortDesc,
    PortType,
};

const INFLUENCES: &[Choice] = &[
    choice(
        "skin",
        "As much as it is skinned to it, in relation to the other driver joints.",
    ),
    choice("equal", "Of each the same: plain pose space deformation."),
];

const POSE: &[ParameterDesc] = &[
    ParameterDesc::text("name", "For messages; each pose has its own.").required(),
    ParameterDesc::text(
        "target",
        "Name of the morph target that is full in this pose; \"\" for none, as in the neutral pose.",
    ),
    ParameterDesc::transforms(
        "joints",
        "Where each of the driver joints is in this pose, in their space.",
    )
    .required(),
];

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "pose_space_deformation",
    kind: NodeKind::Deformer,
    summary: "Adds shapes made for poses, interpolated for each vertex by the joints that it follows.",
    page: include_str!("README.md"),
    rows: &[157],
    inputs: &[
        PortDesc::input(
            "mesh",
            PortType::Mesh,
            "Mesh with a morph target for each shape.",
        ),
        PortDesc::input(
            "pose",
            PortType::Pose,
            "Pose of the rig that has the driver joints.",
        ),
        MASK_PORT,
    ],
    outputs: &[PortDesc::mesh_output(
        MeshEffect::MOVES_FRAMES,
        "The mesh with the shape of the pose, to be skinned.",
    )],
    parameters: &[
        JOINTS,
        SPACE,
        REFERENCE,
        ParameterDesc::choice(
            "influence",
            "skin",
            INFLUENCES,
            "How much a vertex sees of each driver joint.",
        ),
        METRIC,
        AXIS,
        ORDER,
        ParameterDesc::choice(
            "kernel",
            "gaussian",
            KERNELS,
            "How influence falls with distance.",
        ),
        ParameterDesc::float(
            "width",
            0.0,
            0.0,
            1e6,
            "Width of the kernel, in the unit of the metric (radians, metres); 0: from the poses.",
        )
        .with_unit("rad")
        .in_setup(),
        REGULARIZATION,
        SWING_TOLERANCE,
        ParameterDesc::records("poses", POSE, "The poses, the neutral one among them."),
        MaskWeight::WEIGHT,
        MaskWeight::INVERT,
    ],
    bind: bind_node,
    restore: None,
};
