//! The parameters and the pose that smoothing nodes share.

use crate::{Choice, ParameterDesc, PortDesc, PortType};

/// The input `pose`.
pub const POSE: PortDesc = PortDesc::optional(
    "pose",
    PortType::Pose,
    "Pose that moves the mesh. Without a link, the node uses the pose of the nearest upstream node that has one.",
)
.of_mesh();

const CHOICES: &[Choice] = &[
    Choice {
        name: "uniform",
        doc: "All neighbours count equally.",
    },
    Choice {
        name: "uniform_self",
        doc: "All neighbours count equally, and the point itself counts as one of them.",
    },
    Choice {
        name: "edge_length",
        doc: "Inverse distance at rest: near neighbours count more.",
    },
    Choice {
        name: "cotangent",
        doc: "Cotangent weights: independent of the triangulation if triangles are well shaped.",
    },
    Choice {
        name: "robust",
        doc: "Cotangent weights for any triangle soup, including non-manifold meshes (tufted Laplacian).",
    },
];

/// The parameter `weights`.
pub const WEIGHTS: ParameterDesc = ParameterDesc::choice(
    "weights",
    "uniform",
    CHOICES,
    "Weight of each neighbour in the mean.",
);

/// The parameter `pin_border`.
pub(crate) const PIN_BORDER: ParameterDesc = ParameterDesc::bool(
    "pin_border",
    true,
    "Points on an open border keep their incoming positions.",
);

/// The parameter `weld_tolerance`.
pub(crate) const WELD_TOLERANCE: ParameterDesc = ParameterDesc::float(
    "weld_tolerance",
    0.0,
    0.0,
    1e6,
    "Vertices at most this far apart at rest are smoothed as one point. 0 joins only vertices at equal positions.",
)
.with_unit("m")
.in_setup();
