//! Node `taper`: Scales each section along an axis: taper and flare.

mod reference;
#[cfg(test)]
mod tests;

use crate::local_frame::{self, Placement, Region};
use crate::{
    Choice, Example, MASK_PORT, MaskWeight, MeshEffect, NodeDesc, NodeDocs, NodeKind,
    ParameterDesc, PortDesc, PortType,
};

pub use reference::{Shape, Taper};

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "taper",
    kind: NodeKind::Deformer,
    summary: "Scales each section along an axis: taper and flare.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[
            Example {
                name: "taper",
                graph: include_str!("taper.json"),
                sample: "ball",
                before: "rest",
                frame: 24,
            },
            Example {
                name: "taper_follows",
                graph: include_str!("taper_follows.json"),
                sample: "arm",
                before: "skin_dual_quaternion",
                frame: 54,
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
        scale(
            "start_scale_x",
            "Scale of the first cross axis at the bottom.",
        ),
        scale(
            "start_scale_y",
            "Scale of the second cross axis at the bottom.",
        ),
        scale("end_scale_x", "Scale of the first cross axis at the top."),
        scale("end_scale_y", "Scale of the second cross axis at the top."),
        ParameterDesc::choice(
            "profile",
            "linear",
            &[
                Choice {
                    name: "linear",
                    doc: "Evenly: a cone.",
                },
                Choice {
                    name: "smooth",
                    doc: "Without a crease at the limits.",
                },
                Choice {
                    name: "exponential",
                    doc: "By equal factors: a flare.",
                },
            ],
            "How the scale changes from the bottom to the top.",
        ),
        ParameterDesc::float(
            "curve",
            0.0,
            -100.0,
            100.0,
            "Added to the scale in the middle of the region: positive bulges, negative pinches.",
        ),
        Region::LENGTH,
        Region::LIMIT_BOTTOM,
        Region::LIMIT_TOP,
        MaskWeight::WEIGHT,
        MaskWeight::INVERT,
    ],
    bind: local_frame::bind::<Taper>,
    restore: None,
};

const fn scale(name: &'static str, doc: &'static str) -> ParameterDesc {
    ParameterDesc::float(name, 1.0, -100.0, 100.0, doc)
}
