//! The parameters and the pose that smoothing nodes share.

use crate::{Choice, ParameterDesc, PortDesc, PortType};

/// The input `pose`.
pub const POSE: PortDesc = PortDesc::optional(
    "pose",
    PortType::Pose,
    "The pose that moves the mesh; left open, that of the next node upstream with a pose.",
)
.of_mesh();

const CHOICES: &[Choice] = &[
    Choice {
        name: "uniform",
        doc: "All neighbours alike.",
    },
    Choice {
        name: "uniform_self",
        doc: "All neighbours alike, the point itself counting as one of them.",
    },
    Choice {
        name: "edge_length",
        doc: "Near neighbours count more: inverse distance at rest.",
    },
    Choice {
        name: "cotangent",
        doc: "Independent of the triangulation where triangles are well shaped.",
    },
    Choice {
        name: "robust",
        doc: "Cotangent weights for any triangle soup, also non-manifold (tufted Laplacian).",
    },
];

/// The parameter `weights`.
pub const WEIGHTS: ParameterDesc = ParameterDesc::choice(
    "weights",
    "uniform",
    CHOICES,
    "How strongly each neighbour pulls.",
);

/// The parameter `pin_border`.
pub const PIN_BORDER: ParameterDesc = ParameterDesc::bool(
    "pin_border",
    true,
    "Points on an open border keep the place that the incoming mesh gives them.",
);

/// The parameter `weld_tolerance`.
pub const WELD_TOLERANCE: ParameterDesc = ParameterDesc::float(
    "weld_tolerance",
    0.0,
    0.0,
    1e6,
    "Vertices at most this far apart at rest smooth as one; 0 joins those at the same position.",
)
.with_unit("m")
.in_setup();
