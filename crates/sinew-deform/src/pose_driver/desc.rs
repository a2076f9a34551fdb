//! Registry entry of the pose driver, and its words.

use super::node::bind_node;
use crate::{
    Choice, DefaultValue, Example, NodeDesc, NodeDocs, NodeKind, ParameterDesc, ParameterType,
    Phase, PortDesc, PortType,
};

pub(crate) const fn choice(name: &'static str, doc: &'static str) -> Choice {
    Choice { name, doc }
}

const SPACES: &[Choice] = &[
    choice(
        "rest",
        "Relative to the rest transform of the joint: no rotation at rest.",
    ),
    choice("parent", "Relative to the parent joint."),
    choice("joint", "Relative to the joint named in `reference`."),
];
const SOLVERS: &[Choice] = &[
    choice(
        "interpolative",
        "Each weight is 1 at its pose and 0 at the others.",
    ),
    choice(
        "additive",
        "Each weight is the influence of its pose: the kernel at its distance.",
    ),
];
const METRICS: &[Choice] = &[
    choice("arc", "Angle between two rotations."),
    choice("chord", "2 sin(angle / 2) of that angle: smooth."),
    choice("swing", "Angle between the rotations without their twist."),
    choice("swing_chord", "2 sin(angle / 2) of that angle."),
    choice("direction", "Angle between the directions of the axis."),
    choice("direction_chord", "2 sin(angle / 2) of that angle."),
    choice("twist", "Difference of twist angles. Does not wrap."),
    choice("twist_chord", "2 sin(angle / 2) of that angle. Wraps."),
    choice(
        "euler",
        "Distance of Euler angles, the smallest over equivalent triples. With `rules` `unreal` it does not wrap.",
    ),
    choice("components", "Distance of the quaternion components."),
    choice("position", "Distance of positions."),
];
const POSE_METRICS: &[Choice] = &with_driver::<{ METRICS.len() + 1 }>(METRICS);
pub(crate) const KERNELS: &[Choice] = &[
    choice("gaussian", "exp(-(d/s)²)."),
    choice(
        "gaussian_of_distance",
        "exp(-d/s²): the Gaussian of Unreal, RigLogic and PSD JSON.",
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
pub(crate) const ORDERS: &[Choice] = &[
    choice("xyz", "About x first, then y, then z."),
    choice("yzx", "About y first, then z, then x."),
    choice("zxy", "About z first, then x, then y."),
    choice("xzy", "About x first, then z, then y."),
    choice("yxz", "About y first, then x, then z."),
    choice("zyx", "About z first, then y, then x."),
];
const AUTOMATIC_WIDTHS: &[Choice] = &[
    choice("mean", "Mean distance over all pairs of poses."),
    choice(
        "nearest",
        "For each pose, the distance to the nearest other pose.",
    ),
];
const CLAMPS: &[Choice] = &[
    choice("none", "No limits."),
    choice("negative", "At least 0."),
    choice("unit", "0 to 1."),
];
const SUMS: &[Choice] = &[
    choice("none", "Unchanged."),
    choice(
        "above_one",
        "If the sum is above 1, weights are divided by it.",
    ),
    choice(
        "always",
        "The sum is 1, except where all weights are close to 0.",
    ),
    choice(
        "within_median",
        "`always` near the pose `median`, `above_one` far from it.",
    ),
];
const RULES: &[Choice] = &[
    choice("sinew", "Rules of Sinew: no jumps, nothing undefined."),
    choice("psd_json", "As PSD JSON defines it."),
    choice("unreal", "As Unreal's RBF solver computes it."),
    choice("riglogic", "As RigLogic computes it."),
];
const POSE: &[ParameterDesc] = &[
    ParameterDesc::text("name", "Name of the pose, for messages and plots.").required(),
    ParameterDesc::transforms(
        "joints",
        "Transform of each driver joint in this pose, in the space of `space`.",
    )
    .required(),
    ParameterDesc::float(
        "scale",
        1.0,
        0.0,
        1e6,
        "Multiplies the width of this pose. With the rules `unreal` or `riglogic` and solver `interpolative`: multiplies its weight.",
    )
    .in_setup(),
    ParameterDesc::choice(
        "metric",
        "driver",
        POSE_METRICS,
        "Metric of this pose. Ignored by solver `interpolative` with rules other than `sinew`.",
    ),
    ParameterDesc::choice(
        "kernel",
        "driver",
        POSE_KERNELS,
        "Kernel of this pose. Ignored by solver `interpolative` with rules other than `sinew`.",
    ),
    ParameterDesc {
        name: "curve",
        ty: ParameterType::Floats,
        default: DefaultValue::Empty,
        unit: "",
        phase: Phase::Setup,
        role: crate::Role::Plain,
        doc: "Maps the weight of this pose: x0, y0, x1, y1, ... Ignored by solver `interpolative` with rules other than `sinew`.",
    },
    ParameterDesc::bool(
        "enabled",
        true,
        "If false, the pose takes no part and its weight is 0.",
    ),
];

/// The words of a pose's own choice: `driver`, and those of the driver.
const fn with_driver<const N: usize>(words: &[Choice]) -> [Choice; N] {
    let mut out = [choice("driver", "As the driver."); N];
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
    "Space of the joints' rotations and positions.",
);
pub(crate) const REFERENCE: ParameterDesc = ParameterDesc::text(
    "reference",
    "For space `joint`: name of the reference joint.",
);
pub(crate) const METRIC: ParameterDesc = ParameterDesc::choice(
    "metric",
    "chord",
    METRICS,
    "How the distance between two poses is measured.",
);
pub(crate) const AXIS: ParameterDesc = ParameterDesc {
    name: "axis",
    ty: ParameterType::Vec3,
    default: DefaultValue::Vec3([1.0, 0.0, 0.0]),
    unit: "",
    phase: Phase::Setup,
    role: crate::Role::Plain,
    doc: "Axis of twist, swing and direction, in the joint's own space.",
};
pub(crate) const ORDER: ParameterDesc = ParameterDesc::choice(
    "rotation_order",
    "xyz",
    ORDERS,
    "For metric `euler`: order of the rotations.",
);
pub(crate) const REGULARIZATION: ParameterDesc = ParameterDesc::float(
    "regularization",
    0.0,
    0.0,
    1e3,
    "Added to the diagonal of the system. Above 0, weights are smoother but no longer exact at the poses.",
)
.in_setup();
pub(crate) const SWING_TOLERANCE: ParameterDesc = ParameterDesc::float(
    "swing_tolerance",
    0.02,
    0.0,
    10.0,
    "Largest swing that the poses of a twist driver may have.",
)
.with_unit("rad")
.in_setup();

/// Registry entry.
pub static DESC: NodeDesc = NodeDesc {
    name: "pose_driver",
    kind: NodeKind::Driver,
    summary: "Computes pose weights from joint rotations or positions (radial basis functions).",
    docs: NodeDocs::page(include_str!("README.md"))
        .pictures(include_str!("pictures.txt"))
        .examples(&[Example {
            name: "pose_driver",
            graph: include_str!("pose_driver.json"),
            sample: "arm",
            before: "linear",
            frame: 54,
        }]),
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
        "One weight for each pose, in the order of `poses`.",
    )],
    parameters: &[
        JOINTS,
        SPACE,
        REFERENCE,
        ParameterDesc::choice(
            "solver",
            "interpolative",
            SOLVERS,
            "How weights are computed.",
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
            role: crate::Role::Plain,
            doc: "For kernel `curve`: x0, y0, x1, y1, ... with increasing x. Constant before and after them.",
        },
        ParameterDesc::float(
            "width",
            0.0,
            0.0,
            1e6,
            "Width of the kernel, in the unit of the metric. 0 derives it from the poses.",
        )
        .with_unit("rad or m")
        .in_setup(),
        ParameterDesc::choice(
            "automatic_width",
            "mean",
            AUTOMATIC_WIDTHS,
            "How `width` 0 derives the width from the poses.",
        ),
        REGULARIZATION,
        ParameterDesc::choice("clamp", "negative", CLAMPS, "Limits of each weight."),
        ParameterDesc::choice(
            "normalize",
            "above_one",
            SUMS,
            "How the sum of the weights is normalised.",
        ),
        ParameterDesc::transform("median", "For `within_median`: centre of the region.").in_setup(),
        ParameterDesc::float(
            "median_min",
            std::f64::consts::FRAC_PI_4,
            0.0,
            1e6,
            "For `within_median`: distance from `median` up to which the sum is 1.",
        )
        .with_unit("rad")
        .in_setup(),
        ParameterDesc::float(
            "median_max",
            std::f64::consts::FRAC_PI_3,
            0.0,
            1e6,
            "For `within_median`: distance from `median` beyond which a sum below 1 is kept.",
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
        ParameterDesc::choice(
            "rules",
            "sinew",
            RULES,
            "System whose rules the node follows.",
        ),
        SWING_TOLERANCE,
        ParameterDesc::records("poses", POSE, "The poses."),
    ],
    bind: bind_node,
    restore: None,
};
