//! Registry entry of the mask node.

use super::{Combine, Curve};
use crate::{
    Choice, DefaultValue, NodeDesc, NodeKind, ParameterDesc, ParameterType, Phase, PortDesc,
    PortType,
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
    choice("joint", "Weights of named joints."),
];
const CURVES: &[Choice] = &[
    choice("linear", "Straight."),
    choice("smooth", "Smoothstep: level at both ends."),
    choice("smoother", "Level and without curvature at both ends."),
    choice("square", "Falls fast, then slowly."),
    choice("root", "Falls slowly, then fast."),
];
const COMBINATIONS: &[Choice] = &[
    choice("multiply", "Product."),
    choice("minimum", "The smaller one."),
    choice("maximum", "The larger one."),
    choice("add", "Sum."),
    choice("subtract", "This one minus the other."),
    choice("screen", "One minus the product of what is missing."),
    choice("difference", "Absolute difference."),
];
const CHANNELS: &[Choice] = &[
    choice("r", "Red."),
    choice("g", "Green."),
    choice("b", "Blue."),
    choice("a", "Alpha."),
];
const SPACES: &[Choice] = &[
    choice(
        "rest",
        "Where the vertices are at rest: the mask sticks to the surface.",
    ),
    choice(
        "current",
        "Where the linked mesh has them now: the surface moves through the shape.",
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
    summary: "Makes one weight a vertex from attributes, colours, joints or volumes.",
    page: include_str!("README.md"),
    rows: &[10, 50, 51],
    inputs: &[
        PortDesc::input("mesh", PortType::Mesh, "Mesh to make weights for."),
        PortDesc::optional(
            "pose",
            PortType::Pose,
            "Rig whose joints source `joint` names.",
        ),
        PortDesc::optional("with", PortType::Mask, "Another mask to combine with."),
    ],
    outputs: &[PortDesc::output(
        "mask",
        PortType::Mask,
        "One weight a vertex, 0 to 1.",
    )],
    parameters: &[
        ParameterDesc::choice(
            "source",
            "constant",
            SOURCES,
            "Where the weights come from.",
        ),
        ParameterDesc::float("value", 1.0, 0.0, 1.0, "Weight of source `constant`."),
        ParameterDesc {
            name: "attribute",
            ty: ParameterType::Text,
            default: DefaultValue::Text(""),
            unit: "",
            phase: Phase::Setup,
            count_is: None,
            doc: "Name of the attribute for source `attribute`.",
        },
        ParameterDesc::int("component", 0, 0, 3, "Which component of the attribute."),
        ParameterDesc::int(
            "color_set",
            0,
            0,
            255,
            "Number of the colour set for source `color`.",
        ),
        ParameterDesc::choice("channel", "r", CHANNELS, "Channel of the colour set."),
        ParameterDesc {
            name: "joints",
            ty: ParameterType::Texts,
            default: DefaultValue::Empty,
            unit: "",
            phase: Phase::Setup,
            count_is: None,
            doc: "Names of the joints for source `joint`.",
        },
        ParameterDesc::transform(
            "transform",
            "Where box, sphere or plane lies: scene from shape.",
        ),
        ParameterDesc::float(
            "falloff",
            0.1,
            0.0,
            1e6,
            "Distance over which the weight falls to 0.",
        )
        .with_unit("m"),
        ParameterDesc::choice("curve", "smooth", CURVES, "Shape of the falloff."),
        ParameterDesc::choice("space", "rest", SPACES, "Which positions a volume reads."),
        ParameterDesc::float("low", 0.0, -1e6, 1e6, "Source value that becomes 0."),
        ParameterDesc::float("high", 1.0, -1e6, 1e6, "Source value that becomes 1."),
        ParameterDesc::bool("invert", false, "One minus the weight, before combining.").in_update(),
        ParameterDesc::choice(
            "combine",
            "multiply",
            COMBINATIONS,
            "How the mask at `with` comes in.",
        ),
    ],
    bind: super::bind_node,
    restore: None,
};
