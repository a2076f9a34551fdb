//! What the node is called, takes and gives.

use super::bind_node;
use crate::pose_driver::{
    AXIS, JOINTS, KERNELS, METRIC, ORDER, REFERENCE, REGULARIZATION, SPACE, SWING_TOLERANCE, choice,
};
use crate::{
    Choice, Example, MASK_PORT, MaskWeight, MeshEffect, NodeDesc, NodeDocs, NodeKind,
    ParameterDesc, PortDesc, PortType,
};

const INFLUENCES: &[Choice] = &[
    choice(
        "skin",
        "By the joint weights of the vertex, normalised over the driver joints.",
    ),
    choice(
        "equal",
        "All driver joints equally: plain pose space deformation.",
    ),
];

const POSE: &[ParameterDesc] = &[
    ParameterDesc::text(
        "name",
        "Name of the pose, for messages. Each pose needs its own.",
    )
    .required(),
    ParameterDesc::text(
        "target",
        "Name of the morph target that is full in this pose; \"\" for none, as in the neutral pose.",
    ),
    ParameterDesc::transforms(
        "joints",
        "Transform of each driver joint in this pose, in the space of `space`.",
    )
    .required(),
];

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "pose_space_deformation",
    kind: NodeKind::Deformer,
    summary: "Adds shapes sculpted for poses, interpolated at each vertex by the joints that it follows.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "pose_space_deformation",
            graph: include_str!("pose_space_deformation.json"),
            sample: "arm",
            before: "linear",
            frame: 54,
        }]),
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
        "The mesh with the shape of the pose, before skinning.",
    )],
    parameters: &[
        JOINTS,
        SPACE,
        REFERENCE,
        ParameterDesc::choice(
            "influence",
            "skin",
            INFLUENCES,
            "How much each driver joint counts for a vertex.",
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
            "Width of the kernel, in the unit of the metric. 0 derives it from the poses.",
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
