//! Node `bend`: Bends a region into a circular arc; the rest follows rigidly.

mod reference;
#[cfg(test)]
mod tests;

use crate::local_frame::{self, Placement, Region};
use crate::{
    Example, MASK_PORT, MaskWeight, MeshEffect, NodeDesc, NodeDocs, NodeKind, ParameterDesc,
    PortDesc, PortType,
};

pub use reference::Bend;

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "bend",
    kind: NodeKind::Deformer,
    summary: "Bends a region into a circular arc; the rest follows rigidly.",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[
            Example {
                name: "bend",
                graph: include_str!("bend.json"),
                sample: "arm",
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
        ParameterDesc::float(
            "angle",
            0.0,
            -1e4,
            1e4,
            "Angle of the arc over the whole region.",
        )
        .with_unit("rad"),
        ParameterDesc::float(
            "direction",
            0.0,
            -1e4,
            1e4,
            "Direction of the bend, as an angle about the axis. At 0 the mesh bends towards the first cross axis.",
        )
        .with_unit("rad"),
        ParameterDesc::float(
            "center",
            0.0,
            0.0,
            1.0,
            "Height in the region that does not move, as a fraction: 0 is the bottom, 0.5 the middle.",
        ),
        Region::LENGTH,
        Region::LIMIT_BOTTOM,
        Region::LIMIT_TOP,
        MaskWeight::WEIGHT,
        MaskWeight::INVERT,
    ],
    bind: local_frame::bind::<Bend>,
    restore: None,
};
