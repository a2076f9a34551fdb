//! Parameters of the node as a definition.

use super::desc;
use super::joints::value_of;
use super::{Curve, DriverPose, Normalize, PoseDriver, PoseDriverError, RadialKernel, Width};
use crate::{NodeError, Parameters};
use sinew_geom::Vec3;

/// Which poses take part: the solver's weight of each goes to that place of the output.
pub(super) type Places = Vec<usize>;

/// The definition of the poses that take part, and their places among all.
pub(super) fn definition(p: &Parameters<'_>) -> Result<(PoseDriver, Places), NodeError> {
    let order = desc::order(p.text("rotation_order"));
    let default = PoseDriver::default();
    let joints = p.texts("joints").len();
    let mut places = Places::new();
    let mut poses = Vec::new();
    for (place, pose) in p.records("poses").enumerate() {
        if pose.bool("enabled") {
            places.push(place);
            poses.push(read_pose(&pose, order, joints)?);
        }
    }
    let driver = PoseDriver {
        poses,
        solver: desc::solver(p.text("solver")),
        metric: desc::metric(p.text("metric"), order).unwrap_or(default.metric),
        axis: Vec3::from(p.vec3("axis")),
        kernel: read_kernel(p, "kernel")?.unwrap_or(default.kernel),
        width: match p.float("width") {
            width if width > 0.0 => Width::Given(width),
            _ if p.text("automatic_width") == "nearest" => Width::Nearest,
            _ => Width::Automatic,
        },
        regularization: p.float("regularization"),
        clamp: desc::clamp(p.text("clamp")),
        normalize: match p.text("normalize") {
            "none" => Normalize::None,
            "always" => Normalize::Always,
            "within_median" => Normalize::WithinMedian {
                reference: value_of(&p.transform("median")),
                min: p.float("median_min"),
                max: p.float("median_max"),
            },
            _ => Normalize::AboveOne,
        },
        threshold: p.float("threshold"),
        rules: desc::rules(p.text("rules")),
        swing_tolerance: p.float("swing_tolerance"),
    };
    Ok((driver, places))
}

fn read_pose(
    p: &Parameters<'_>,
    order: super::RotationOrder,
    joints: usize,
) -> Result<DriverPose, NodeError> {
    let name = p.text("name");
    let values: Vec<_> = p.transforms("joints").iter().map(value_of).collect();
    if values.len() != joints {
        return Err(NodeError::Bind(Box::new(PoseDriverError::ValueCount {
            pose: name.to_owned(),
            found: values.len(),
            expected: joints,
        })));
    }
    let curve = p.floats("curve");
    Ok(DriverPose {
        name: name.to_owned(),
        values,
        scale: p.float("scale"),
        metric: desc::metric(p.text("metric"), order),
        kernel: desc::kernel(p.text("kernel")),
        curve: (!curve.is_empty()).then(|| read_curve(curve)).transpose()?,
    })
}

fn read_kernel(p: &Parameters<'_>, name: &str) -> Result<Option<RadialKernel>, NodeError> {
    match p.text(name) {
        "curve" => Ok(Some(RadialKernel::Curve(read_curve(p.floats("curve"))?))),
        word => Ok(desc::kernel(word)),
    }
}

fn read_curve(numbers: &[f64]) -> Result<Curve, NodeError> {
    let wrapped = |e| NodeError::Bind(Box::new(PoseDriverError::Curve(e)));
    Curve::new(numbers).map_err(wrapped)
}
