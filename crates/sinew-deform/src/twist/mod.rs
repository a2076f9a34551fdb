//! Node `twist`: rotates each section about an axis.

mod reference;
#[cfg(test)]
mod tests;

use crate::local_frame::{self, Placement, Region};
use crate::{
    Choice, Example, MASK_PORT, MaskWeight, MeshEffect, NodeDesc, NodeDocs, NodeKind,
    ParameterDesc, PortDesc, PortType,
};

pub use reference::Twist;

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "twist",
    kind: NodeKind::Deformer,
    summary: "Rotates each section about an axis.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "twist",
            graph: include_str!("twist.json"),
            sample: "ball",
            before: "rest",
            frame: 24,
        }]),
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
        ParameterDesc::float(
            "angle",
            0.0,
            -1e4,
            1e4,
            "Rotation angle at the top of the region.",
        )
        .with_unit("rad"),
        ParameterDesc::float(
            "start_angle",
            0.0,
            -1e4,
            1e4,
            "Rotation angle at the bottom of the region.",
        )
        .with_unit("rad"),
        ParameterDesc::choice(
            "profile",
            "linear",
            &[
                Choice {
                    name: "linear",
                    doc: "Evenly.",
                },
                Choice {
                    name: "smooth",
                    doc: "Without a crease at the limits.",
                },
            ],
            "How the angle rises along the region.",
        ),
        Region::LENGTH,
        Region::LIMIT_BOTTOM,
        Region::LIMIT_TOP,
        MaskWeight::WEIGHT,
        MaskWeight::INVERT,
    ],
    bind: local_frame::bind::<Twist>,
    restore: None,
};
