//! JSON of `PoseWrangler` and Pose Driver Connect.

use super::psd_json::twist_axis;
use super::{Losses, Solver as Whole, other_fields};
use crate::deform::pose_driver::{
    Clamp, DriverPose, DriverValue, Metric, Normalize, PoseDriver, RadialKernel, Rules, Solver,
    Width,
};
use crate::geom::{Affine, EulerOrder, Vec3};
use crate::io::pose_driver::pose_wrangler::{
    MayaEnum, PoseWranglerBlendshape, PoseWranglerContent, PoseWranglerPose, PoseWranglerSolver,
};
use crate::io::pose_driver::{MayaMatrix, MayaScene, PoseWranglerDocument};

/// Names of an enumeration in Unreal's order. Maya's numbers are not published; this order is assumed.
type Words = &'static [&'static str];
const MODES: Words = &["Additive", "Interpolative"];
const DISTANCES: Words = &["Euclidean", "Quaternion", "SwingAngle", "TwistAngle"];
const FUNCTIONS: Words = &["Gaussian", "Exponential", "Linear", "Cubic", "Quintic"];
const SUMS: Words = &[
    "OnlyNormalizeAboveOne",
    "AlwaysNormalize",
    "NormalizeWithinMedian",
    "NoNormalization",
];
const AXES: Words = &["X", "Y", "Z"];
const INPUTS: Words = &["Rotation", "Translation"];
/// Placeholders for the solver's value.
const DEFAULT_FUNCTION: &str = "DefaultFunctionType";
const DEFAULT_DISTANCE: &str = "DefaultMethod";
/// Weights up to this are 0 if the file has no threshold, as in Unreal.
const THRESHOLD: f64 = 1e-4;

/// Index of a name. Names of Maya and Unreal have different endings ("Swing", "SwingAngle").
fn index(word: &str, words: Words) -> Option<usize> {
    let word = word.to_lowercase();
    words.iter().position(|w| {
        let known = w.to_lowercase();
        !word.is_empty() && (known.starts_with(&word) || word.starts_with(&known))
    })
}

fn choice(
    field: &str,
    value: Option<&MayaEnum>,
    words: Words,
    default: usize,
    lost: &mut impl FnMut(String),
) -> usize {
    let found = match value {
        None => return default,
        Some(MayaEnum::Index(i)) => usize::try_from(*i).ok().filter(|i| *i < words.len()),
        Some(MayaEnum::Name(name)) => index(name, words),
    };
    found.unwrap_or_else(|| {
        lost(format!(
            "{field} {value:?}, which is unknown; {} is used instead",
            words[default]
        ));
        default
    })
}

fn metric(index: usize) -> Metric {
    match index {
        0 => Metric::Euler(EulerOrder::Xyz),
        1 => Metric::Arc,
        2 => Metric::Swing,
        _ => Metric::Twist,
    }
}

fn kernel(index: usize) -> RadialKernel {
    match index {
        0 => RadialKernel::GaussianOfDistance,
        1 => RadialKernel::Exponential,
        2 => RadialKernel::Linear,
        3 => RadialKernel::Cubic,
        _ => RadialKernel::Quintic,
    }
}

/// The solvers of a file, and data that a solver cannot store. `scene` defines the meaning of its matrices.
pub fn from_pose_wrangler(
    document: &PoseWranglerDocument,
    scene: &MayaScene,
) -> (Vec<Whole>, Losses) {
    let mut losses = Losses::default();
    match &document.content {
        PoseWranglerContent::Solvers { extra, .. } => {
            other_fields(extra, "", &mut losses.of("the file"));
        }
        PoseWranglerContent::Sidecar(sidecar) => {
            let mut lost = losses.of(&sidecar.solver.solver_name);
            for (field, value) in [
                ("export_fbx", &sidecar.export_fbx),
                ("asset_name", &sidecar.asset_name),
            ] {
                if value.is_some() {
                    lost(format!("the field '{field}'"));
                }
            }
        }
    }
    let solvers = document.solvers().iter();
    let solvers = solvers.map(|s| read(s, scene, &mut losses)).collect();
    (solvers, losses)
}

fn read(s: &PoseWranglerSolver, scene: &MayaScene, losses: &mut Losses) -> Whole {
    let name = if s.solver_name.is_empty() {
        &s.key
    } else {
        &s.solver_name
    };
    if let Some(mode @ MayaEnum::Index(_)) = &s.mode {
        let taken = choice("mode", Some(mode), MODES, 1, &mut |_| {});
        let what = format!(
            "mode is a number without a published meaning; Sinew uses {}",
            MODES[taken]
        );
        losses.push(name, what, true);
    }
    let mut lost = losses.of(name);
    not_held(s, &mut lost);
    let input = choice("inputMode", s.input_mode.as_ref(), INPUTS, 0, &mut lost);
    let distance = choice(
        "distanceMethod",
        s.distance_method.as_ref(),
        DISTANCES,
        2,
        &mut lost,
    );
    let function = choice(
        "functionType",
        s.function_type.as_ref(),
        FUNCTIONS,
        0,
        &mut lost,
    );
    let mode = choice("mode", s.mode.as_ref(), MODES, 1, &mut lost);
    let sum = choice(
        "normalizeMethod",
        s.normalize_method.as_ref(),
        SUMS,
        0,
        &mut lost,
    );
    let axis = choice("twistAxis", s.twist_axis.as_ref(), AXES, 0, &mut lost);
    let transforms: Vec<Vec<Affine<f64>>> = s
        .poses
        .iter()
        .map(|p| p.drivers.iter().map(|m| m.to_affine(scene)).collect())
        .collect();
    let poses = s.poses.iter().zip(&transforms);
    let poses: Vec<DriverPose> = poses.map(|(p, t)| read_pose(p, t, &mut lost)).collect();
    Whole {
        name: name.clone(),
        joints: s.drivers.clone(),
        relative_to_rest: false,
        driver: PoseDriver {
            solver: if mode == 0 {
                Solver::Additive
            } else {
                Solver::Interpolative
            },
            metric: if input == 1 {
                Metric::Position
            } else {
                metric(distance)
            },
            axis: Vec3::ith(axis, 1.0),
            kernel: kernel(function),
            width: match (s.automatic_radius, input) {
                (true, _) => Width::Automatic,
                (false, 1) => Width::Given(s.radius * scene.unit_metres),
                (false, _) => Width::Given(s.radius.to_radians()),
            },
            clamp: Clamp::None,
            normalize: match sum {
                0 => Normalize::AboveOne,
                1 => Normalize::Always,
                2 => Normalize::WithinMedian {
                    reference: DriverValue::rotation(crate::geom::Quat::identity()),
                    min: 45_f64.to_radians(),
                    max: 60_f64.to_radians(),
                },
                _ => Normalize::None,
            },
            threshold: s.weight_threshold.unwrap_or(THRESHOLD),
            rules: Rules::Unreal,
            poses,
            ..PoseDriver::default()
        },
        enabled: s.poses.iter().map(|p| p.target_enable).collect(),
        driver_transforms: transforms,
        driven_joints: s.driven_transforms.clone(),
        driven_transforms: driven(s, scene, &mut lost),
        morph_targets: morph_targets(s, &mut lost),
    }
}

/// Fields that a solver cannot store.
fn not_held(s: &PoseWranglerSolver, lost: &mut impl FnMut(String)) {
    if !s.key.is_empty() && !s.solver_name.is_empty() && s.key != s.solver_name {
        lost(format!(
            "the key '{}', which differs from 'solver_name'",
            s.key
        ));
    }
    if !s.controllers.is_empty() || s.poses.iter().any(|p| !p.controllers.is_empty()) {
        lost("controllers; no other format has them".into());
    }
    if s.driven_attrs.iter().any(|list| !list.is_empty()) {
        lost("driven_attrs; they only exist in a Maya scene".into());
    }
    if s.automatic_radius && s.radius != PoseWranglerSolver::default().radius {
        lost(format!(
            "radius {}; the automatic radius replaces it",
            s.radius
        ));
    }
    other_fields(&s.extra, "", lost);
    for p in &s.poses {
        let of = format!("pose '{}': ", p.name);
        let others = p
            .driven
            .iter()
            .filter(|(joint, _)| !s.driven_transforms.contains(joint));
        for (joint, _) in others {
            lost(format!(
                "{of}the matrix of '{joint}', which is not in 'driven_transforms'"
            ));
        }
        other_fields(&p.extra, &of, lost);
    }
    shapes_not_held(s, lost);
}

/// Fields of the first shape of each pose except its name, each with the number of poses. [`morph_targets`] reports the
/// other shapes.
fn shapes_not_held(s: &PoseWranglerSolver, lost: &mut impl FnMut(String)) {
    let mut counts: Vec<(String, usize)> = Vec::new();
    let mut count = |field: &str| match counts.iter_mut().find(|(known, _)| known == field) {
        Some((_, count)) => *count += 1,
        None => counts.push((field.to_owned(), 1)),
    };
    for shape in s.poses.iter().filter_map(|p| p.blendshapes.first()) {
        let is_named = shape.blendshape_mesh.is_some();
        for (field, is_there) in [
            (
                "blendshape_mesh_shape",
                shape.blendshape_mesh_shape.is_some(),
            ),
            ("orig_mesh", shape.orig_mesh.is_some()),
            ("blendshape", shape.blendshape.is_some()),
            (
                "blendshape_mesh_orig_index",
                shape.blendshape_mesh_orig_index.is_some(),
            ),
            ("mesh_index", shape.mesh_index.is_some()),
            ("pose_attr", is_named && shape.pose_attr.is_some()),
            ("pose_index", shape.pose_index.is_some()),
        ] {
            if is_there {
                count(field);
            }
        }
        let extra = shape.extra.values.iter().filter(|(_, v)| !v.is_null());
        extra.for_each(|(key, _)| count(key));
    }
    for (field, poses) in counts {
        let of = if poses == 1 { "pose" } else { "poses" };
        lost(format!(
            "blendshape_data: the field '{field}' of {poses} {of}"
        ));
    }
}

fn read_pose(
    p: &PoseWranglerPose,
    transforms: &[Affine<f64>],
    lost: &mut impl FnMut(String),
) -> DriverPose {
    let mut own = |field: &str, word: &str, default: &str, words: Words| {
        if word.is_empty() || word == default {
            return None;
        }
        let found = index(word, words);
        if found.is_none() {
            lost(format!(
                "pose '{}': {field} {word}, which is unknown; that of the solver is used instead",
                p.name
            ));
        }
        found
    };
    let function = own(
        "function_type",
        &p.function_type,
        DEFAULT_FUNCTION,
        FUNCTIONS,
    );
    let distance = own(
        "distance_method",
        &p.distance_method,
        DEFAULT_DISTANCE,
        DISTANCES,
    );
    DriverPose {
        scale: p.scale_factor,
        kernel: function.map(kernel),
        metric: distance.map(metric),
        ..DriverPose::new(&p.name, transforms.iter().map(DriverValue::from).collect())
    }
}

/// If a pose has no matrix of a driven joint, uses that of the first pose.
fn driven(
    s: &PoseWranglerSolver,
    scene: &MayaScene,
    lost: &mut impl FnMut(String),
) -> Vec<Vec<Affine<f64>>> {
    if s.driven_transforms.is_empty() {
        return Vec::new();
    }
    let find = |p: &PoseWranglerPose, joint: &str| {
        let named = p.driven.iter().find(|(name, _)| name == joint);
        named.map(|(_, m)| m.to_affine(scene))
    };
    let mut of_pose = |p: &PoseWranglerPose| {
        let joints = s.driven_transforms.iter();
        joints
            .map(|joint| {
                find(p, joint).unwrap_or_else(|| {
                    lost(format!(
                        "pose '{}' has no matrix of '{joint}'; that of the first pose is used",
                        p.name
                    ));
                    let first = s.poses.first().and_then(|first| find(first, joint));
                    first.unwrap_or_default()
                })
            })
            .collect()
    };
    s.poses.iter().map(&mut of_pose).collect()
}

fn morph_targets(s: &PoseWranglerSolver, lost: &mut impl FnMut(String)) -> Vec<String> {
    if s.poses.iter().all(|p| p.blendshapes.is_empty()) {
        return Vec::new();
    }
    let mut name = |p: &PoseWranglerPose| {
        if p.blendshapes.len() > 1 {
            lost(format!(
                "pose '{}' drives {} shapes; only the first one is converted",
                p.name,
                p.blendshapes.len()
            ));
        }
        let shape = p.blendshapes.first()?;
        shape.blendshape_mesh.clone().or(shape.pose_attr.clone())
    };
    s.poses
        .iter()
        .map(|p| name(p).unwrap_or_default())
        .collect()
}

/// A file of these solvers.
pub fn to_pose_wrangler(solvers: &[Whole], scene: &MayaScene) -> (PoseWranglerDocument, Losses) {
    let mut losses = Losses::default();
    let solvers = solvers.iter();
    let solvers = solvers.map(|s| write(s, scene, &mut losses)).collect();
    let document = PoseWranglerDocument {
        content: PoseWranglerContent::Solvers {
            solvers,
            extra: crate::io::pose_driver::ExtraFields::default(),
        },
        warnings: Vec::new(),
    };
    (document, losses)
}

fn write(s: &Whole, scene: &MayaScene, losses: &mut Losses) -> PoseWranglerSolver {
    let mut lost = losses.of(&s.name);
    let d = &s.driver;
    for (is_there, what) in [
        (
            d.rules != Rules::Unreal,
            "rules other than 'unreal'; the format uses Unreal's rules",
        ),
        (d.regularization > 0.0, "the regularization"),
        (
            d.width == Width::Nearest,
            "widths from the nearest pose; the mean distance of all pairs is used instead",
        ),
        (
            s.relative_to_rest,
            "poses relative to rest; the format stores them relative to the parent, which is only equal if the joints have no rotation at rest",
        ),
        (
            d.poses.iter().any(|p| p.curve.is_some()),
            "curves of single poses",
        ),
        (
            matches!(d.normalize, Normalize::WithinMedian { .. }),
            "the pose and the angles of the median",
        ),
    ] {
        if is_there {
            lost(what.into());
        }
    }
    let is_position = d.metric == Metric::Position;
    let radius = match d.width {
        Width::Given(w) if is_position => w / scene.unit_metres,
        Width::Given(w) => w.to_degrees(),
        Width::Automatic | Width::Nearest => PoseWranglerSolver::default().radius,
    };
    let number = |i: usize| Some(MayaEnum::Index(i64::try_from(i).unwrap_or_default()));
    PoseWranglerSolver {
        key: s.name.clone(),
        solver_name: s.name.clone(),
        drivers: s.joints.clone(),
        driven_transforms: s.driven_joints.clone(),
        poses: s
            .poses()
            .map(|(i, enabled)| write_pose(s, i, enabled, scene, &mut lost))
            .collect(),
        driven_attrs: vec![Vec::new(); d.poses.len()],
        mode: number(usize::from(d.solver == Solver::Interpolative)),
        radius,
        automatic_radius: !matches!(d.width, Width::Given(_)),
        weight_threshold: Some(d.threshold),
        distance_method: number(distance_index(d.metric, &mut lost)),
        normalize_method: number(match d.normalize {
            Normalize::AboveOne => 0,
            Normalize::Always => 1,
            Normalize::WithinMedian { .. } => 2,
            Normalize::None => 3,
        }),
        function_type: number(function_index(&d.kernel, &mut lost)),
        twist_axis: Some(MayaEnum::Index(twist_axis(d, &mut lost))),
        input_mode: number(usize::from(is_position)),
        ..PoseWranglerSolver::default()
    }
}

fn distance_index(metric: Metric, lost: &mut impl FnMut(String)) -> usize {
    let (index, is_other) = match metric {
        Metric::Euler(order) | Metric::EulerTriples(order) => (0, order != EulerOrder::Xyz),
        // The input mode stores it.
        Metric::Position => (0, false),
        Metric::Components => (0, true),
        Metric::Arc => (1, false),
        Metric::Chord => (1, true),
        Metric::Swing => (2, false),
        Metric::SwingChord | Metric::Direction | Metric::DirectionChord | Metric::PsdJsonSwing => {
            (2, true)
        }
        Metric::Twist => (3, false),
        Metric::TwistChord => (3, true),
    };
    if is_other {
        lost(format!("the metric; {} is used instead", DISTANCES[index]));
    }
    index
}

fn function_index(kernel: &RadialKernel, lost: &mut impl FnMut(String)) -> usize {
    let index = match kernel {
        RadialKernel::GaussianOfDistance => return 0,
        RadialKernel::Exponential => return 1,
        RadialKernel::Linear => return 2,
        RadialKernel::Cubic => return 3,
        RadialKernel::Quintic => return 4,
        RadialKernel::Gaussian | RadialKernel::Curve(_) => 0,
        RadialKernel::ExponentialPlain => 1,
    };
    lost(format!("the kernel; {} is used instead", FUNCTIONS[index]));
    index
}

fn write_pose(
    s: &Whole,
    pose: usize,
    enabled: bool,
    scene: &MayaScene,
    lost: &mut impl FnMut(String),
) -> PoseWranglerPose {
    let p = &s.driver.poses[pose];
    let matrix = |a: &Affine<f64>| MayaMatrix::from_affine(a, scene);
    let default = PoseWranglerPose::default();
    let driven = s.driven_transforms.get(pose).into_iter().flatten();
    let target = s.morph_targets.get(pose).filter(|t| !t.is_empty());
    let shape = |t: &String| PoseWranglerBlendshape {
        blendshape_mesh: Some(t.clone()),
        ..PoseWranglerBlendshape::default()
    };
    PoseWranglerPose {
        name: p.name.clone(),
        drivers: s.driver_transforms[pose].iter().map(matrix).collect(),
        driven: s
            .driven_joints
            .iter()
            .cloned()
            .zip(driven.map(matrix))
            .collect(),
        function_type: p.kernel.as_ref().map_or(default.function_type, |k| {
            FUNCTIONS[function_index(k, lost)].into()
        }),
        scale_factor: p.scale,
        distance_method: p.metric.map_or(default.distance_method, |m| {
            DISTANCES[distance_index(m, lost)].into()
        }),
        target_enable: enabled,
        blendshapes: target.map(shape).into_iter().collect(),
        ..PoseWranglerPose::default()
    }
}
