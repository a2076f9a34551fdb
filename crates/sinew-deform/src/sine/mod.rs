//! Node `sine`: Waves along an axis, or in rings around it.

mod reference;
#[cfg(test)]
mod tests;

use crate::local_frame::{self, Placement, Region};
use crate::{
    Choice, Example, MASK_PORT, MaskWeight, MeshEffect, NodeDesc, NodeDocs, NodeKind,
    ParameterDesc, PortDesc, PortType,
};

pub use reference::{Sine, Wave};

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "sine",
    kind: NodeKind::Deformer,
    summary: "Waves along an axis, or in rings around it.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[
            Example {
                name: "sine",
                graph: include_str!("sine.json"),
                sample: "ball",
                before: "rest",
                frame: 24,
            },
        ]),
    rows: &[66],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh to deform."),
        MASK_PORT,
    ],
    outputs: &[PortDesc::mesh_output(
        MeshEffect::MOVES_FRAMES,
        "The deformed mesh.",
    )],
    parameters: &[
        Placement::TRANSFORM,
        Placement::AXIS,
        ParameterDesc::choice(
            "mode",
            "plane",
            &[
                Choice {
                    name: "plane",
                    doc: "Each section moves sideways by a sine of its height.",
                },
                Choice {
                    name: "radial",
                    doc: "Rings: points move along the axis by a sine of their distance from it.",
                },
            ],
            "Shape of the wave.",
        ),
        ParameterDesc::float("amplitude", 0.0, -1e6, 1e6, "Largest displacement.").with_unit("m"),
        ParameterDesc::float("wavelength", 0.5, 1e-4, 1e6, "Distance between two crests.")
            .with_unit("m"),
        ParameterDesc::float("phase", 0.0, -1e4, 1e4, "Phase at the start of the region.")
            .with_unit("rad"),
        ParameterDesc::float(
            "direction",
            0.0,
            -1e4,
            1e4,
            "For `plane`: direction of the displacement, as an angle about the axis. 0 is the first cross axis.",
        )
        .with_unit("rad"),
        ParameterDesc::float(
            "decay",
            0.0,
            0.0,
            1e3,
            "For `radial`: how fast the wave fades with distance from the axis.",
        )
        .with_unit("1/m"),
        Region::LENGTH,
        Region::LIMIT_BOTTOM,
        Region::LIMIT_TOP,
        MaskWeight::WEIGHT,
        MaskWeight::INVERT,
    ],
    bind: local_frame::bind::<Sine>,
    restore: None,
};
