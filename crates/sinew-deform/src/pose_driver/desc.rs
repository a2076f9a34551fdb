//! Registry entry of the pose driver, and its words.

use super::node::bind_node;
use crate::{
    Choice, DefaultValue, NodeDesc, NodeKind, ParameterDesc, ParameterType, Phase, PortDesc,
    PortType,
};

pub(crate) const fn choice(name: &'static str, doc: &'static str) -> Choice {
    Choice { name, doc }
}

const SPACES: &[Choice] = &[
    choice(
        "rest",
        "Relative to where they rest in their parents' space: no rotation at rest.",
    ),
    choice("parent", "As they are in their parents' space."),
    choice("joint", "As seen from the joint named in `reference`."),
];
const SOLVERS: &[Choice] = &[
    choice(
        "interpolative",
        "Each weight is 1 at its pose and 0 at the others.",
    ),
    choice("additive", "The influences themselves."),
];
const METRICS: &[Choice] = &[
    choice("arc", "Angle of the rotation between two values."),
    choice("chord", "2 sin(angle / 2) of it: smooth."),
    choice("swing", "Angle between the rotations without their twists."),
    choice("swing_chord", "2 sin(angle / 2) of it."),
    choice("direction", "Angle between where the axis points."),
    choice("direction_chord", "2 sin(angle / 2) of it."),
    choice("twist", "Difference of twist angles; does not wrap."),
    choice("twist_chord", "2 sin(angle / 2) of it: wraps."),
    choice(
        "euler",
        "Distance of Euler angles: the least over equal triples. By the rules of Unreal it does not wrap.",
    ),
    choice("components", "Distance of the quaternions' numbers."),
    choice("position", "Distance of places."),
];
const POSE_METRICS: &[Choice] = &with_driver::<{ METRICS.len() + 1 }>(METRICS);
pub(crate) const KERNELS: &[Choice] = &[
    choice("gaussian", "exp(-(d/s)²)."),
    choice(
        "gaussian_of_distance",
        "exp(-d/s²): the Gaussian of Unreal, RigLogic and document 004.",
    ),
    choice("exponential", "exp(-2d/s)."),
    choice("exponential_plain", "exp(-d/s)."),
    choice("linear", "max(1 - d/s, 0)."),
    choice("cubic", "max(1 - (d/s)³, 0)."),
    choice("quintic", "max(1 - (d/s)⁵, 0)."),
];
const DRIVER_KERNELS: &[Choice] = &with_curve::<{ KERNELS.len() + 1 }>(KERNELS);
/// A curve of its own maps a pose's weight instead.
const POSE_KERNELS: &[Choice] = &with_driver::<{ KERNELS.len() + 1 }>(KERNELS);
const ORDERS: &[Choice] = &[
    choice("xyz", "About x first, then y, then z."),
    choice("yzx", "About y first."),
    choice("zxy", "About z first."),
    choice("xzy", "About x first, then z, then y."),
    choice("yxz", "About y first, then x, then z."),
    choice("zyx", "About z first, then y, then x."),
];
const AUTOMATIC_WIDTHS: &[Choice] = &[
    choice("mean", "Mean distance of all pairs of poses."),
    choice(
        "nearest",
        "For each pose the distance to the nearest other.",
    ),
];
const CLAMPS: &[Choice] = &[
    choice("none", "Not limited."),
    choice("negative", "Not below 0."),
    choice("unit", "0 to 1."),
];
const SUMS: &[Choice] = &[
    choice("none", "As it is."),
    choice("above_one", "Divided away where it is above 1."),
    choice(
        "always",
        "1, but for where all weights are next to nothing.",
    ),
    choice(
        "within_median",
        "`always` near the pose `median`, `above_one` far from it.",
    ),
];
const RULES: &[Choice] = &[
    choice("sinew", "Ours: nothing jumps, nothing is undefined."),
    choice("document_004", "As document 004 has it."),
    choice("unreal", "As Unreal's RBF solver has it."),
    choice("riglogic", "As RigLogic has it."),
];
const POSE: &[ParameterDesc] = &[
    ParameterDesc::text("name", "For messages and pictures.").required(),
    ParameterDesc::transforms(
        "joints",
        "Where each of the driver's joints is in this pose, in the driver's space.",
    )
    .required(),
    ParameterDesc::float(
        "scale",
        1.0,
        0.0,
        1e6,
        "Multiplies this pose's width; where Unreal or RigLogic interpolate, its weight.",
    )
    .in_setup(),
    ParameterDesc::choice(
        "metric",
        "driver",
        POSE_METRICS,
        "Instead of the driver's. Ignored where the rules of others interpolate.",
    ),
    ParameterDesc::choice(
        "kernel",
        "driver",
        POSE_KERNELS,
        "Instead of the driver's. Ignored where the rules of others interpolate.",
    ),
    ParameterDesc {
        name: "curve",
        ty: ParameterType::Floats,
        default: DefaultValue::Empty,
        unit: "",
        phase: Phase::Setup,
        count_is: None,
        doc: "Maps the weight: x0, y0, x1, y1, ... Ignored where the rules of others interpolate.",
    },
    ParameterDesc::bool(
        "enabled",
        true,
        "Whether it takes part; its weight is 0 if not.",
    ),
];

/// The words of a pose's own choice: `driver`, and those of the driver.
const fn with_driver<const N: usize>(words: &[Choice]) -> [Choice; N] {
    let mut out = [choice("driver", "The driver's."); N];
    let mut i = 0;
    while i < words.len() {
        out[i + 1] = words[i];
        i += 1;
    }
    out
}

const fn with_curve<const N: usize>(words: &[Choice]) -> [Choice; N] {
    let mut out = [choice("curve", "The parameter `curve` at d/s."); N];
    let mut i = 0;
    while i < words.len() {
        out[i] = words[i];
        i += 1;
    }
    out
}

pub(crate) const JOINTS: ParameterDesc =
    ParameterDesc::texts("joints", "Names of the driver joints.");
pub(crate) const SPACE: ParameterDesc = ParameterDesc::choice(
    "space",
    "rest",
    SPACES,
    "What the joints' rotations and places are relative to.",
);
pub(crate) const REFERENCE: ParameterDesc =
    ParameterDesc::text("reference", "The joint of space `joint`.");
pub(crate) const METRIC: ParameterDesc =
    ParameterDesc::choice("metric", "chord", METRICS, "How far values are apart.");
pub(crate) const AXIS: ParameterDesc = ParameterDesc {
    name: "axis",
    ty: ParameterType::Vec3,
    default: DefaultValue::Vec3([1.0, 0.0, 0.0]),
    unit: "",
    phase: Phase::Setup,
    count_is: None,
    doc: "Axis of twists, swings and directions, in the joints' own space.",
};
pub(crate) const ORDER: ParameterDesc = ParameterDesc::choice(
    "rotation_order",
    "xyz",
    ORDERS,
    "Order of the rotations of metric `euler`.",
);
pub(crate) const REGULARIZATION: ParameterDesc = ParameterDesc::float(
    "regularization",
    0.0,
    0.0,
    1e3,
    "Added to the diagonal of the system: above 0, weights are calmer and no longer exact at the poses.",
)
.in_setup();
pub(crate) const SWING_TOLERANCE: ParameterDesc = ParameterDesc::float(
    "swing_tolerance",
    0.02,
    0.0,
    10.0,
    "How much the poses of a twist driver may swing.",
)
.with_unit("rad")
.in_setup();

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "pose_driver",
    kind: NodeKind::Driver,
    summary: "Weights of poses from joints' rotations or places (radial basis functions).",
    page: include_str!("README.md"),
    rows: &[
        129, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 142, 143, 144, 145, 146, 147,
        148, 149, 155, 156,
    ],
    inputs: &[PortDesc::input(
        "pose",
        PortType::Pose,
        "Pose of the rig that has the driver joints.",
    )],
    outputs: &[PortDesc::output(
        "weights",
        PortType::Values,
        "One weight a pose, in their order.",
    )],
    parameters: &[
        JOINTS,
        SPACE,
        REFERENCE,
        ParameterDesc::choice(
            "solver",
            "interpolative",
            SOLVERS,
            "How weights come about.",
        ),
        METRIC,
        AXIS,
        ORDER,
        ParameterDesc::choice(
            "kernel",
            "gaussian",
            DRIVER_KERNELS,
            "How influence falls with distance.",
        ),
        ParameterDesc {
            name: "curve",
            ty: ParameterType::Floats,
            default: DefaultValue::Empty,
            unit: "",
            phase: Phase::Setup,
            count_is: None,
            doc: "Of kernel `curve`: x0, y0, x1, y1, ..., x rising; level before and behind.",
        },
        ParameterDesc::float(
            "width",
            0.0,
            0.0,
            1e6,
            "Width of the kernel, in the unit of the metric (radians, metres); 0: from the poses.",
        )
        .with_unit("rad or m")
        .in_setup(),
        ParameterDesc::choice(
            "automatic_width",
            "mean",
            AUTOMATIC_WIDTHS,
            "The width that comes from the poses.",
        ),
        REGULARIZATION,
        ParameterDesc::choice("clamp", "negative", CLAMPS, "Limits of each weight."),
        ParameterDesc::choice("normalize", "above_one", SUMS, "What becomes of the sum."),
        ParameterDesc::transform("median", "The middle of `within_median`.").in_setup(),
        ParameterDesc::float(
            "median_min",
            std::f64::consts::FRAC_PI_4,
            0.0,
            1e6,
            "Distance from the median up to which the sum is 1.",
        )
        .with_unit("rad")
        .in_setup(),
        ParameterDesc::float(
            "median_max",
            std::f64::consts::FRAC_PI_3,
            0.0,
            1e6,
            "Distance from which on it is left below 1.",
        )
        .with_unit("rad")
        .in_setup(),
        ParameterDesc::float(
            "threshold",
            0.0,
            0.0,
            1.0,
            "Weights up to this become 0, after normalising.",
        )
        .in_setup(),
        ParameterDesc::choice("rules", "sinew", RULES, "Whose order of steps to follow."),
        SWING_TOLERANCE,
        ParameterDesc::records("poses", POSE, "The poses."),
    ],
    bind: bind_node,
    restore: None,
};
