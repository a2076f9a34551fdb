//! Registry entry of the mask node.

use super::{Combine, Curve};
use crate::{
    Choice, DefaultValue, NodeDesc, NodeDocs, NodeKind, ParameterDesc, ParameterType, Phase,
    PortDesc, PortType, Role,
};

const fn choice(name: &'static str, doc: &'static str) -> Choice {
    Choice { name, doc }
}

const SOURCES: &[Choice] = &[
    choice("constant", "The parameter `value` everywhere."),
    choice("attribute", "A painted attribute of the mesh."),
    choice("color", "A channel of a colour set."),
    choice("box", "A box with falloff."),
    choice("sphere", "A sphere with falloff."),
    choice("plane", "One side of a plane with falloff."),
    choice("joint", "Sum of the vertex's weights for the named joints."),
];
const CURVES: &[Choice] = &[
    choice("linear", "Linear."),
    choice("smooth", "Smoothstep: flat at both ends."),
    choice("smoother", "Flat and without curvature at both ends."),
    choice("square", "Falls fast, then slowly."),
    choice("root", "Falls slowly, then fast."),
];
const COMBINATIONS: &[Choice] = &[
    choice("multiply", "Product."),
    choice("minimum", "The smaller weight."),
    choice("maximum", "The larger weight."),
    choice("add", "Sum."),
    choice("subtract", "This weight minus the other."),
    choice("screen", "1 - (1 - this) (1 - other)."),
    choice("difference", "Absolute difference."),
];
const CHANNELS: &[Choice] = &[
    choice("r", "Red."),
    choice("g", "Green."),
    choice("b", "Blue."),
    choice("a", "Alpha."),
];
const SPACES: &[Choice] = &[
    choice("rest", "Rest positions: the mask sticks to the surface."),
    choice(
        "current",
        "Current positions of the linked mesh: the surface moves through the shape.",
    ),
];

pub(super) fn curve(name: &str) -> Curve {
    match name {
        "linear" => Curve::Linear,
        "smoother" => Curve::Smoother,
        "square" => Curve::Square,
        "root" => Curve::Root,
        _ => Curve::Smooth,
    }
}

pub(super) fn combine(name: &str) -> Combine {
    match name {
        "minimum" => Combine::Minimum,
        "maximum" => Combine::Maximum,
        "add" => Combine::Add,
        "subtract" => Combine::Subtract,
        "screen" => Combine::Screen,
        "difference" => Combine::Difference,
        _ => Combine::Multiply,
    }
}

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "mask",
    kind: NodeKind::Driver,
    summary: "Makes one weight per vertex from attributes, colours, joints or volumes.",
    docs: NodeDocs::page(include_str!("README.md")).pictures(include_str!("pictures.txt")),
    rows: &[10, 50, 51],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh to make weights for."),
        PortDesc::optional(
            "pose",
            PortType::Pose,
            "For source `joint`: pose of the rig that has the joints.",
        ),
        PortDesc::optional(
            "with",
            PortType::Mask,
            "Another mask to combine with this one.",
        ),
    ],
    outputs: &[PortDesc::output(
        "mask",
        PortType::Mask,
        "One weight per vertex, 0 to 1.",
    )],
    parameters: &[
        ParameterDesc::choice("source", "constant", SOURCES, "Source of the weights."),
        ParameterDesc::float("value", 1.0, 0.0, 1.0, "For source `constant`: the weight."),
        ParameterDesc {
            name: "attribute",
            ty: ParameterType::Text,
            default: DefaultValue::Text(""),
            unit: "",
            phase: Phase::Setup,
            role: Role::Plain,
            doc: "For source `attribute`: name of the attribute.",
        },
        ParameterDesc::int(
            "component",
            0,
            0,
            3,
            "For source `attribute`: index of the component.",
        ),
        ParameterDesc::int(
            "color_set",
            0,
            0,
            255,
            "For source `color`: index of the colour set.",
        ),
        ParameterDesc::choice(
            "channel",
            "r",
            CHANNELS,
            "For source `color`: channel of the colour set.",
        ),
        ParameterDesc {
            name: "joints",
            ty: ParameterType::Texts,
            default: DefaultValue::Empty,
            unit: "",
            phase: Phase::Setup,
            role: Role::Plain,
            doc: "For source `joint`: names of the joints.",
        },
        ParameterDesc::placement(
            "transform",
            crate::Region::UnitBox,
            "For box, sphere and plane: transform from the space of the shape to scene space.",
        ),
        ParameterDesc::float(
            "falloff",
            0.1,
            0.0,
            1e6,
            "For box, sphere and plane: distance over which the weight falls to 0.",
        )
        .with_unit("m"),
        ParameterDesc::choice("curve", "smooth", CURVES, "Shape of the falloff."),
        ParameterDesc::choice(
            "space",
            "rest",
            SPACES,
            "For box, sphere and plane: positions that are tested.",
        ),
        ParameterDesc::float(
            "low",
            0.0,
            -1e6,
            1e6,
            "Number of the source that becomes weight 0.",
        ),
        ParameterDesc::float(
            "high",
            1.0,
            -1e6,
            1e6,
            "Number of the source that becomes weight 1.",
        ),
        ParameterDesc::bool(
            "invert",
            false,
            "Uses 1 minus the weight. This happens before `combine`.",
        )
        .in_update(),
        ParameterDesc::choice(
            "combine",
            "multiply",
            COMBINATIONS,
            "How the weight combines with the mask at `with`.",
        ),
    ],
    bind: super::bind_node,
    restore: None,
};
