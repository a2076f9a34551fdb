//! The parameters of the node as a definition.

use super::DriverValue;
use super::words;
use super::{
    Clamp, Curve, DriverPose, Metric, Normalize, PoseDriver, PoseDriverError, RadialKernel, Rules,
    Solver, Width,
};
use crate::{NodeError, Parameters};
use sinew_geom::{EulerOrder, Vec3};

/// The parameters of a node: the definition, and the joints that it reads.
#[derive(Clone, Debug)]
pub struct PoseDriverSettings {
    /// Names of the driver joints.
    pub joints: Vec<String>,
    /// Space of the values: `parent`, `rest` or `joint`.
    pub space: String,
    /// The joint for space `joint`.
    pub reference: String,
    /// The definition, with the enabled poses.
    pub driver: PoseDriver,
    /// The disabled poses, in their order.
    pub left_out: Vec<DriverPose>,
    /// For each enabled pose, its index among all poses of the node, which is the index of its weight.
    pub places: Vec<usize>,
    /// Number of all poses, which is the length of the node's output.
    pub pose_count: usize,
}

impl PoseDriverSettings {
    /// Reads the parameters of the node.
    ///
    /// # Errors
    /// [`NodeError`] if a pose has another number of joints than the node, or a curve is invalid. [`super::PoseDriverBind::new`] checks the
    /// rest.
    pub fn read(parameters: &Parameters<'_>) -> Result<Self, NodeError> {
        let (driver, left_out, places) = definition(parameters)?;
        Ok(Self {
            joints: parameters.texts("joints").to_vec(),
            space: parameters.text("space").to_owned(),
            reference: parameters.text("reference").to_owned(),
            driver,
            left_out,
            places,
            pose_count: parameters.records("poses").len(),
        })
    }
}

/// The definition of the poses that take part, the other poses, and the places of the first among all.
fn definition(p: &Parameters<'_>) -> Result<(PoseDriver, Vec<DriverPose>, Vec<usize>), NodeError> {
    let order = words::order(p.text("rotation_order"));
    let default = PoseDriver::default();
    let joints = p.texts("joints").len();
    let mut places = Vec::new();
    let (mut poses, mut left_out) = (Vec::new(), Vec::new());
    for (place, record) in p.records("poses").enumerate() {
        let pose = read_pose(&record, order, joints)?;
        if record.bool("enabled") {
            places.push(place);
            poses.push(pose);
        } else {
            left_out.push(pose);
        }
    }
    let driver = PoseDriver {
        poses,
        solver: Solver::from_word(p.text("solver")),
        metric: Metric::from_word(p.text("metric"), order).unwrap_or(default.metric),
        axis: Vec3::from(p.vec3("axis")),
        kernel: read_kernel(p, "kernel")?.unwrap_or(default.kernel),
        width: match p.float("width") {
            width if width > 0.0 => Width::Given(width),
            _ if p.text("automatic_width") == "nearest" => Width::Nearest,
            _ => Width::Automatic,
        },
        regularization: p.float("regularization"),
        clamp: Clamp::from_word(p.text("clamp")),
        normalize: match p.text("normalize") {
            "none" => Normalize::None,
            "always" => Normalize::Always,
            "within_median" => Normalize::WithinMedian {
                reference: DriverValue::from(&p.transform("median")),
                min: p.float("median_min"),
                max: p.float("median_max"),
            },
            _ => Normalize::AboveOne,
        },
        threshold: p.float("threshold"),
        rules: Rules::from_word(p.text("rules")),
        swing_tolerance: p.float("swing_tolerance"),
    };
    Ok((driver, left_out, places))
}

fn read_pose(
    p: &Parameters<'_>,
    order: EulerOrder,
    joints: usize,
) -> Result<DriverPose, NodeError> {
    let name = p.text("name");
    let values: Vec<_> = p
        .transforms("joints")
        .iter()
        .map(DriverValue::from)
        .collect();
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
        metric: Metric::from_word(p.text("metric"), order),
        kernel: RadialKernel::from_word(p.text("kernel")),
        curve: (!curve.is_empty()).then(|| read_curve(curve)).transpose()?,
    })
}

fn read_kernel(p: &Parameters<'_>, name: &str) -> Result<Option<RadialKernel>, NodeError> {
    match p.text(name) {
        "curve" => Ok(Some(RadialKernel::Curve(read_curve(p.floats("curve"))?))),
        word => Ok(RadialKernel::from_word(word)),
    }
}

fn read_curve(numbers: &[f64]) -> Result<Curve, NodeError> {
    let wrapped = |e| NodeError::Bind(Box::new(PoseDriverError::Curve(e)));
    Curve::new(numbers).map_err(wrapped)
}
