//! PSD JSON.

use super::{Losses, Solver as Whole, other_fields};
use crate::deform::pose_driver::{
    Clamp, DriverPose, DriverValue, Metric, Normalize, PoseDriver, RadialKernel, Rules, Solver,
    Width,
};
use crate::geom::{Affine, EulerOrder, Quat, Vec3};
use crate::io::pose_driver::psd::{
    BasisOrder, PsdDistance, PsdKernel, PsdMatrix, PsdNormalization, PsdPose, PsdSolver,
};
use crate::io::pose_driver::{MayaMatrix, MayaScene, PsdDocument};

/// Difference between the rotations in `RawPoseRotation` and in the matrix that is reported, radians.
const SAME_ROTATION: f64 = 2e-3;

/// The solvers of a file, and data that a solver cannot store. `scene` defines the meaning of its matrices, `order` the
/// numbers of its kernels.
pub fn from_psd(
    document: &PsdDocument,
    scene: &MayaScene,
    order: BasisOrder,
) -> (Vec<Whole>, Losses) {
    let mut losses = Losses::default();
    other_fields(&document.extra, "", &mut losses.of("the file"));
    let solvers = document.solvers.iter();
    let solvers = solvers
        .map(|s| read(s, scene, order, &mut losses))
        .collect();
    (solvers, losses)
}

/// Fields that a solver cannot store.
fn not_held(s: &PsdSolver, lost: &mut impl FnMut(String)) {
    let default = PsdSolver::default();
    let orients = s.driven_joint_orients_degrees.iter().flatten().flatten();
    if orients.into_iter().any(|angle| *angle != 0.0) {
        lost("DrivenJointOrientList; weights and transforms do not depend on it".into());
    }
    if s.psd_type != default.psd_type {
        lost(format!(
            "PSDType {}; {} is used instead",
            s.psd_type, default.psd_type
        ));
    }
    if s.is_automatic_radius && s.global_width_degrees != default.global_width_degrees {
        lost(format!(
            "GlobalWidth {}; the automatic radius replaces it",
            s.global_width_degrees
        ));
    }
    other_fields(&s.extra, "", lost);
    for pose in &s.poses {
        other_fields(&pose.extra, &format!("pose '{}': ", pose.name), lost);
    }
}

fn read(s: &PsdSolver, scene: &MayaScene, order: BasisOrder, losses: &mut Losses) -> Whole {
    let mut lost = losses.of(&s.name);
    not_held(s, &mut lost);
    let mut unknown = |field: &str, number: i64, instead: &str| {
        lost(format!(
            "{field} {number}, which is unknown; {instead} is used instead"
        ));
    };
    let kernel = s.kernel(order).unwrap_or_else(|| {
        unknown("BasisFunction", s.basis_function, "exponential");
        PsdKernel::Exponential
    });
    let distance = s.distance().unwrap_or_else(|| {
        unknown("DistanceMethod", s.distance_method, "quaternion");
        PsdDistance::Quaternion
    });
    let normalization = s.normalization().unwrap_or_else(|| {
        unknown("NormalizeMethod", s.normalize_method, "above one");
        PsdNormalization::OnlyAboveOne
    });
    let axis = s.axis().unwrap_or_else(|| {
        unknown("TwistAxis", s.twist_axis, "x");
        0
    });
    let transforms: Vec<Affine<f64>> = s
        .poses
        .iter()
        .map(|p| {
            let (transform, differs) = driver_transform(p, scene);
            if let Some(degrees) = differs {
                lost(format!("pose '{}': RawPoseRotation, which differs by {degrees:.3} degrees from outDriverLocalMatrix (joint orient or rotate axis); the matrix is used", p.name));
            }
            transform
        })
        .collect();
    let poses = s.poses.iter().zip(&transforms);
    let poses = poses.map(|(p, t)| DriverPose::new(&p.name, vec![DriverValue::from(t)]));
    let driven_transforms = driven_transforms(s, scene, &mut lost);
    Whole {
        name: s.name.clone(),
        joints: vec![s.driver.clone()],
        relative_to_rest: false,
        driver: PoseDriver {
            poses: poses.collect(),
            solver: Solver::Interpolative,
            metric: match distance {
                PsdDistance::Euclidean => Metric::Euler(EulerOrder::Xyz),
                PsdDistance::Quaternion => Metric::Arc,
                PsdDistance::Swing => Metric::Swing,
                PsdDistance::Twist => Metric::Twist,
            },
            axis: Vec3::ith(axis, 1.0),
            kernel: match kernel {
                PsdKernel::Linear => RadialKernel::Linear,
                PsdKernel::Exponential => RadialKernel::Exponential,
                PsdKernel::Cubic => RadialKernel::Cubic,
                PsdKernel::Gaussian => RadialKernel::GaussianOfDistance,
                PsdKernel::Quintic => RadialKernel::Quintic,
            },
            width: if s.is_automatic_radius {
                Width::Automatic
            } else {
                Width::Given(s.global_width_degrees.to_radians())
            },
            clamp: if s.clamp_negative_weight {
                Clamp::Negative
            } else {
                Clamp::None
            },
            normalize: match normalization {
                PsdNormalization::OnlyAboveOne => Normalize::AboveOne,
                PsdNormalization::Always => Normalize::Always,
            },
            rules: Rules::PsdJson,
            ..PoseDriver::default()
        },
        enabled: vec![true; s.poses.len()],
        driver_transforms: transforms.into_iter().map(|t| vec![t]).collect(),
        driven_joints: s.driven.clone(),
        driven_transforms,
        morph_targets: Vec::new(),
    }
}

/// Transforms of the driven joints in each pose. A pose without them uses those of the first pose that has them.
fn driven_transforms(
    s: &PsdSolver,
    scene: &MayaScene,
    lost: &mut impl FnMut(String),
) -> Vec<Vec<Affine<f64>>> {
    if s.driven.is_empty() {
        return Vec::new();
    }
    let of_pose = |p: &PsdPose| -> Vec<Affine<f64>> {
        let matrices = p.driven_matrices.iter().flatten();
        matrices.map(|m| m.matrix.to_affine(scene)).collect()
    };
    let count = s.driven.len();
    let said = s.poses.iter().map(of_pose).find(|list| list.len() == count);
    let first = said.unwrap_or_else(|| vec![Affine::identity(); count]);
    let mut filled = |p: &PsdPose| {
        let found = of_pose(p);
        if found.len() == count {
            return found;
        }
        lost(format!(
            "pose '{}' has no matrices of its {count} driven joints; those of the first pose that has them are used",
            p.name
        ));
        first.clone()
    };
    s.poses.iter().map(&mut filled).collect()
}

/// Transform of the driver, and the difference in degrees between the two rotations in the file.
fn driver_transform(p: &PsdPose, scene: &MayaScene) -> (Affine<f64>, Option<f64>) {
    let raw = p.raw_pose_rotation_degrees;
    let raw = raw.map(|d| EulerOrder::Xyz.rotation(d.map(f64::to_radians)));
    match (&p.driver_matrix, raw) {
        (Some(m), raw) => {
            let affine = m.matrix.to_affine(scene);
            let angle = raw.map_or(0.0, |r| apart(&r, &affine));
            let differs = (angle > SAME_ROTATION).then(|| angle.to_degrees());
            (affine, differs)
        }
        (None, Some(raw)) => (rotation(raw), None),
        (None, None) => (Affine::identity(), None),
    }
}

/// Angle between a rotation and that of a matrix. A mirroring matrix has several rotations; uses the nearest one.
fn apart(raw: &Quat<f64>, matrix: &Affine<f64>) -> f64 {
    let rotation = DriverValue::from(matrix).rotation;
    let own = raw.angle_to(&rotation);
    if matrix.linear.determinant() >= 0.0 {
        return own;
    }
    let half_turn = |axis| Quat::from_scaled_axis(Vec3::ith(axis, std::f64::consts::PI));
    let turned = (0..3).map(|axis| raw.angle_to(&(rotation * half_turn(axis))));
    turned.fold(own, f64::min)
}

fn rotation(q: Quat<f64>) -> Affine<f64> {
    Affine::from_trs(Vec3::zeros(), q, Vec3::repeat(1.0))
}

/// A file of these solvers.
pub fn to_psd(solvers: &[Whole], scene: &MayaScene, order: BasisOrder) -> (PsdDocument, Losses) {
    let mut losses = Losses::default();
    let solvers = solvers
        .iter()
        .filter_map(|s| write(s, scene, order, &mut losses));
    let document = PsdDocument {
        solvers: solvers.collect(),
        ..PsdDocument::default()
    };
    (document, losses)
}

fn write(
    s: &Whole,
    scene: &MayaScene,
    order: BasisOrder,
    losses: &mut Losses,
) -> Option<PsdSolver> {
    let mut lost = losses.of(&s.name);
    let [driver] = s.joints.as_slice() else {
        lost(format!(
            "the whole solver, since it has {} driver joints and the format allows one",
            s.joints.len()
        ));
        return None;
    };
    common_losses(s, &mut lost);
    let d = &s.driver;
    let default = PsdSolver::default();
    Some(PsdSolver {
        name: s.name.clone(),
        driver: driver.clone(),
        driven: s.driven_joints.clone(),
        driven_joint_orients_degrees: Some(vec![[0.0; 3]; s.driven_joints.len()]),
        psd_type: default.psd_type,
        basis_function: basis_function(d, order, &mut lost),
        normalize_method: match d.normalize {
            Normalize::AboveOne => 0,
            Normalize::Always => 1,
            Normalize::None | Normalize::WithinMedian { .. } => {
                lost("the normalization; above one is used instead".into());
                0
            }
        },
        distance_method: distance_method(d, &mut lost),
        global_width_degrees: match d.width {
            Width::Given(w) => w.to_degrees(),
            Width::Automatic | Width::Nearest => default.global_width_degrees,
        },
        clamp_negative_weight: {
            if d.clamp == Clamp::Unit {
                lost("the limit of weights at 1; only negative weights are clamped".into());
            }
            d.clamp != Clamp::None
        },
        is_automatic_radius: !matches!(d.width, Width::Given(_)),
        twist_axis: twist_axis(d, &mut lost),
        poses: s
            .poses()
            .filter(|(_, enabled)| *enabled)
            .map(|(i, _)| write_pose(s, i, scene))
            .collect(),
        extra: default.extra,
    })
}

fn common_losses(s: &Whole, lost: &mut impl FnMut(String)) {
    let d = &s.driver;
    for (is_there, what) in [
        (
            d.solver == Solver::Additive,
            "the additive solver; interpolative is used instead",
        ),
        (
            d.rules != Rules::PsdJson,
            "rules other than 'psd_json'; the format uses the PSD JSON rules",
        ),
        (d.threshold > 0.0, "the threshold"),
        (d.regularization > 0.0, "the regularization"),
        (
            d.width == Width::Nearest,
            "widths from the nearest pose; the mean distance of all pairs is used instead",
        ),
        (
            s.relative_to_rest,
            "poses relative to rest; the format stores them relative to the parent, which is only equal if the joint has no rotation at rest",
        ),
        (d.poses.iter().any(|p| p.scale != 1.0), "scales of poses"),
        (
            d.poses
                .iter()
                .any(|p| p.metric.is_some() || p.kernel.is_some() || p.curve.is_some()),
            "metrics, kernels and curves of single poses",
        ),
        (s.enabled.iter().any(|e| !e), "disabled poses"),
        (
            s.morph_targets.iter().any(|t| !t.is_empty()),
            "names of morph targets",
        ),
    ] {
        if is_there {
            lost(what.into());
        }
    }
}

fn basis_function(d: &PoseDriver, order: BasisOrder, lost: &mut impl FnMut(String)) -> i64 {
    let kernel = match d.kernel {
        RadialKernel::Linear => Some(PsdKernel::Linear),
        RadialKernel::Exponential => Some(PsdKernel::Exponential),
        RadialKernel::Cubic => Some(PsdKernel::Cubic),
        RadialKernel::GaussianOfDistance => Some(PsdKernel::Gaussian),
        RadialKernel::Quintic => Some(PsdKernel::Quintic),
        RadialKernel::Gaussian | RadialKernel::ExponentialPlain | RadialKernel::Curve(_) => None,
    };
    kernel.and_then(|k| order.number(k)).unwrap_or_else(|| {
        lost("the kernel; exponential is used instead".into());
        order.number(PsdKernel::Exponential).unwrap_or_default()
    })
}

fn distance_method(d: &PoseDriver, lost: &mut impl FnMut(String)) -> i64 {
    let (method, is_other) = match d.metric {
        Metric::Euler(order) | Metric::EulerTriples(order) => (0, order != EulerOrder::Xyz),
        Metric::Components | Metric::Position => (0, true),
        Metric::Arc => (1, false),
        Metric::Chord => (1, true),
        Metric::Swing | Metric::PsdJsonSwing => (2, false),
        Metric::SwingChord | Metric::Direction | Metric::DirectionChord => (2, true),
        Metric::Twist => (3, false),
        Metric::TwistChord => (3, true),
    };
    if is_other {
        let names = ["Euclidean", "quaternion", "swing", "twist"];
        lost(format!("the metric; {} is used instead", names[method]));
    }
    i64::try_from(method).unwrap_or_default()
}

/// 0, 1 or 2; other axes are losses.
pub(super) fn twist_axis(d: &PoseDriver, lost: &mut impl FnMut(String)) -> i64 {
    let axis = d.axis.normalize();
    let index = axis.iamax();
    if (axis[index] - 1.0).abs() > 1e-9 {
        lost(format!(
            "the twist axis; {} is used instead",
            ["x", "y", "z"][index]
        ));
    }
    i64::try_from(index).unwrap_or_default()
}

fn write_pose(s: &Whole, pose: usize, scene: &MayaScene) -> PsdPose {
    let matrix = |a: &Affine<f64>| PsdMatrix::from(MayaMatrix::from_affine(a, scene));
    let transform = s.driver_transforms[pose][0];
    let angles = EulerOrder::Xyz.angles(&s.driver.poses[pose].values[0].rotation);
    PsdPose {
        name: s.driver.poses[pose].name.clone(),
        driver_matrix: Some(matrix(&transform)),
        driven_matrices: (!s.driven_joints.is_empty())
            .then(|| s.driven_transforms[pose].iter().map(matrix).collect()),
        raw_pose_rotation_degrees: Some(angles.map(f64::to_degrees)),
        ..PsdPose::default()
    }
}
