//! What other systems publish: `RigLogic`'s unit tests, Unreal's rules, PSD JSON's formulas.

use crate::pose_driver::*;
use sinew_geom::Quat;
use sinew_geom::nalgebra::{Quaternion, Unit};
use std::f64::consts::{PI, TAU};

fn quat([x, y, z, w]: [f64; 4]) -> DriverValue {
    DriverValue::rotation(Unit::new_normalize(Quaternion::new(w, x, y, z)))
}

pub(super) fn about(axis: [f64; 3], degrees: f64) -> Quat<f64> {
    Quat::from_scaled_axis(sinew_geom::Vec3::from(axis) * degrees.to_radians())
}

pub(super) fn ask(driver: &PoseDriver, value: DriverValue) -> Vec<f64> {
    let bind = PoseDriverBind::new(driver).expect("a driver that can be solved");
    ask_bound(&bind, &[value])
}

pub(super) fn ask_bound(bind: &PoseDriverBind, values: &[DriverValue]) -> Vec<f64> {
    let mut weights = vec![f32::NAN; bind.pose_count()];
    let mut scratch = PoseDriverScratch::new(bind);
    PoseDriverJob {
        bind,
        values,
        scratch: &mut scratch,
        weights: &mut weights,
    }
    .run();
    weights.into_iter().map(f64::from).collect()
}

#[track_caller]
pub(super) fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (f, e)) in found.iter().zip(expected).enumerate() {
        assert!(
            (f - e).abs() <= tolerance,
            "weight {i}: {found:?}, expected {expected:?}"
        );
    }
}

fn driver(rules: Rules, poses: Vec<DriverValue>) -> PoseDriver {
    let names = (0..).map(|i: usize| format!("T{i}"));
    PoseDriver {
        poses: names
            .zip(poses)
            .map(|(name, value)| DriverPose::new(name, vec![value]))
            .collect(),
        rules,
        clamp: Clamp::None,
        normalize: Normalize::AboveOne,
        ..PoseDriver::default()
    }
}

const TARGETS: [[f64; 4]; 4] = [
    [0.0, 0.0, 0.0, 1.0],
    [-0.0936718, -0.12003, 0.663135, 0.732851],
    [0.123443, 0.0891258, -0.199695, 0.967957],
    [-0.12003, 0.0936719, -0.732851, 0.663135],
];

fn riglogic() -> PoseDriver {
    PoseDriver {
        metric: Metric::Swing,
        kernel: RadialKernel::GaussianOfDistance,
        width: Width::Automatic,
        normalize: Normalize::Always,
        ..driver(Rules::RigLogic, TARGETS.map(quat).to_vec())
    }
}

#[test]
fn riglogic_automatic_radius() {
    let bind = PoseDriverBind::new(&riglogic()).expect("published");
    let degrees: Vec<f64> = bind.widths().iter().map(|w| w.to_degrees()).collect();
    assert_near(&degrees, &[94.6492; 4], 1e-4);
}

#[test]
fn riglogic_interpolative() {
    let d = riglogic();
    assert_near(&ask(&d, quat(TARGETS[1])), &[0.0, 1.0, 0.0, 0.0], 1e-5);
    let between = quat([0.0, 0.0, -0.47362, 0.880729]);
    assert_near(
        &ask(&d, between),
        &[0.0657254, 0.0, 0.453696, 0.480578],
        1e-5,
    );
}

#[test]
fn riglogic_additive() {
    let d = PoseDriver {
        solver: Solver::Additive,
        ..riglogic()
    };
    let expected = [0.242209, 0.41645, 0.20938, 0.131961];
    assert_near(&ask(&d, quat(TARGETS[1])), &expected, 1e-5);
    // The squared form would give these: far away.
    let squared = PoseDriver {
        kernel: RadialKernel::Gaussian,
        ..d
    };
    let expected = [0.2562, 0.5711, 0.1572, 0.0155];
    assert_near(&ask(&squared, quat(TARGETS[1])), &expected, 6e-5);
}

/// Linear weights of 180 degrees with poses at 0 and 120 degrees about y: `K = [[1, 1/3], [1/3, 1]]`. Unreal compares triples with the
/// second angle within a quarter turn: (0, 60, 0) is sqrt(2) * 180 degrees from (180, 60, 180), and (180, 60, 180) is that pose.
#[test]
fn euler_angles_by_the_rules_of_unreal_and_of_psd_json() {
    let poses = [0.0, 120.0].map(|d| DriverValue::rotation(about([0.0, 1.0, 0.0], d)));
    let of = |rules| PoseDriver {
        metric: Metric::Euler(sinew_geom::EulerOrder::Xyz),
        kernel: RadialKernel::Linear,
        width: Width::Given(PI),
        clamp: Clamp::Negative,
        ..driver(rules, poses.to_vec())
    };
    for rules in [Rules::PsdJson, Rules::Sinew] {
        for degrees in [
            0.0, 15.0, 30.0, 60.0, 87.0, 90.0, 93.0, 105.0, 120.0, 135.0, 150.0,
        ] {
            let influence = |pose: f64| 1.0 - (f64::abs(degrees - pose)) / 180.0;
            let (a, b) = (influence(0.0), influence(120.0));
            // The inverse of K is [[9, -3], [-3, 9]] / 8.
            let solved = [(9.0 * a - 3.0 * b) / 8.0, (9.0 * b - 3.0 * a) / 8.0];
            let limited = solved.map(|w| w.max(0.0));
            let sum = (limited[0] + limited[1]).max(1.0);
            let at = DriverValue::rotation(about([0.0, 1.0, 0.0], degrees));
            assert_near(&ask(&of(rules), at), &limited.map(|w| w / sum), 1e-6);
        }
    }
    let at = DriverValue::rotation(about([0.0, 1.0, 0.0], 60.0));
    // The poses are sqrt(2 * 180² + 60²) degrees apart, past the width: K is the identity.
    assert_near(
        &ask(&of(Rules::Unreal), at),
        &[1.0 - 60.0 / 180.0, 0.0],
        1e-6,
    );
}

/// Its Euclidean distance is that of the quaternions' numbers: 1 - |qa - qb| / width.
#[test]
fn riglogic_euclidean_is_of_components() {
    let poses = [0.0, 80.0].map(|d| DriverValue::rotation(about([0.0, 1.0, 0.0], d)));
    let d = PoseDriver {
        metric: Metric::Euler(sinew_geom::EulerOrder::Xyz),
        kernel: RadialKernel::Linear,
        width: Width::Given(1.5),
        normalize: Normalize::None,
        solver: Solver::Additive,
        ..driver(Rules::RigLogic, poses.to_vec())
    };
    // The chord of half the angle; all weights of engines that add up to more than 1 are divided by the sum.
    let weight = |degrees: f64| 1.0 - 2.0 * (degrees.to_radians() / 4.0).sin() / 1.5;
    let raw = [weight(50.0), weight(30.0)];
    let expected = raw.map(|w| w / (raw[0] + raw[1]));
    let at = DriverValue::rotation(about([0.0, 1.0, 0.0], 50.0));
    assert_near(&ask(&d, at), &expected, 1e-6);
}

fn half_joint() -> PoseDriver {
    let poses =
        [0.0, 120.0, -120.0, -20.0].map(|d| DriverValue::rotation(about([0.0, 0.0, 1.0], d)));
    PoseDriver {
        metric: Metric::Twist,
        axis: sinew_geom::Vec3::z(),
        kernel: RadialKernel::Linear,
        width: Width::Given(TAU),
        normalize: Normalize::Always,
        ..driver(Rules::RigLogic, poses.to_vec())
    }
}

#[test]
fn riglogic_half_joint() {
    let d = half_joint();
    let at = |degrees| ask(&d, DriverValue::rotation(about([0.0, 0.0, 1.0], degrees)));
    assert_near(&at(90.0), &[0.25, 0.75, 0.0, 0.0], 1e-6);
    assert_near(&at(40.0), &[2.0 / 3.0, 1.0 / 3.0, 0.0, 0.0], 1e-6);
    assert_near(&at(-90.0), &[0.0, 0.0, 0.7, 0.3], 1e-6);
}

#[test]
fn riglogic_twists_do_not_wrap() {
    let only = DriverValue::rotation(about([0.0, 0.0, 1.0], -120.0));
    let d = PoseDriver {
        solver: Solver::Additive,
        normalize: Normalize::AboveOne,
        ..half_joint()
    };
    let d = PoseDriver {
        poses: vec![DriverPose::new("only", vec![only])],
        ..d
    };
    let other = DriverValue::rotation(about([0.0, 0.0, 1.0], 120.0));
    assert_near(&ask(&d, other), &[1.0 / 3.0], 1e-6);
}

#[test]
fn riglogic_negated_quaternion() {
    let target = about([0.0, 0.0, 1.0], 90.0);
    let d = PoseDriver {
        poses: vec![DriverPose::new("only", vec![DriverValue::rotation(target)])],
        solver: Solver::Additive,
        ..half_joint()
    };
    let q = about([1.0, 0.0, 0.0], 60.0) * target;
    let negated = Unit::new_unchecked(-q.into_inner());
    assert_near(&ask(&d, DriverValue::rotation(negated)), &[1.0], 1e-6);
}

/// Unreal, additive: the sheet's formulas in degrees, written out.
#[test]
fn unreal_additive_kernels() {
    let (radius, scale, at) = (40.0, 1.5, 25.0_f64);
    let x: f64 = at / (radius * scale);
    for (kernel, expected) in [
        (RadialKernel::GaussianOfDistance, (-x * x).exp()),
        (RadialKernel::Exponential, (-x).exp()),
        (RadialKernel::Linear, 1.0 - x),
        (RadialKernel::Cubic, 1.0 - x * x * x),
        (RadialKernel::Quintic, 1.0 - x.powi(5)),
    ] {
        let mut d = driver(Rules::Unreal, vec![quat([0.0, 0.0, 0.0, 1.0])]);
        d.poses[0].scale = scale;
        let d = PoseDriver {
            solver: Solver::Additive,
            metric: Metric::Arc,
            width: Width::Given(f64::to_radians(radius)),
            kernel,
            ..d
        };
        let found = ask(&d, DriverValue::rotation(about([0.6, 0.8, 0.0], at)));
        assert_near(&found, &[expected], 1e-6);
    }
}

#[test]
fn unreal_radius_has_a_least() {
    let mut d = driver(Rules::Unreal, vec![quat([0.0, 0.0, 0.0, 1.0])]);
    d.poses[0].scale = 0.0;
    let d = PoseDriver {
        solver: Solver::Additive,
        metric: Metric::Arc,
        width: Width::Given(1.0),
        kernel: RadialKernel::Linear,
        ..d
    };
    let found = ask(&d, DriverValue::rotation(about([1.0, 0.0, 0.0], 0.25e-4)));
    assert_near(&found, &[0.75], 1e-4);
}

fn unreal_two(normalize: Normalize) -> PoseDriver {
    let poses = [0.0, 60.0].map(|d| DriverValue::rotation(about([0.0, 1.0, 0.0], d)));
    PoseDriver {
        solver: Solver::Additive,
        metric: Metric::Arc,
        kernel: RadialKernel::Linear,
        width: Width::Given(90_f64.to_radians()),
        normalize,
        threshold: 1e-4,
        ..driver(Rules::Unreal, poses.to_vec())
    }
}

#[test]
fn unreal_normalisation() {
    // At 30 degrees both are 2/3: the sum is above one and divided away in every mode.
    let middle = DriverValue::rotation(about([0.0, 1.0, 0.0], 30.0));
    let far = DriverValue::rotation(about([0.0, 1.0, 0.0], 130.0));
    let reference = quat([0.0, 0.0, 0.0, 1.0]);
    let within = |min: f64, max: f64| Normalize::WithinMedian {
        reference,
        min: min.to_radians(),
        max: max.to_radians(),
    };
    for mode in [
        Normalize::None,
        Normalize::AboveOne,
        Normalize::Always,
        within(45.0, 60.0),
    ] {
        assert_near(&ask(&unreal_two(mode), middle), &[0.5, 0.5], 1e-6);
    }
    // At 130 degrees only the second is left: 1 - 70/90.
    let left = 1.0 - 70.0 / 90.0;
    for (mode, expected) in [
        (Normalize::None, left),
        (Normalize::AboveOne, left),
        (Normalize::Always, 1.0),
        (within(45.0, 60.0), left),
        (within(140.0, 150.0), 1.0),
        // A fifth of the way from dividing to keeping.
        (within(120.0, 170.0), 1.0 + (left - 1.0) * 0.2),
    ] {
        assert_near(&ask(&unreal_two(mode), far), &[0.0, expected], 1e-6);
    }
}

#[test]
fn unreal_gives_nothing_for_a_sum_of_nothing() {
    let far = DriverValue::rotation(about([0.0, 1.0, 0.0], 179.0));
    assert_eq!(ask(&unreal_two(Normalize::Always), far), [0.0, 0.0]);
}

#[test]
fn unreal_threshold_comes_after_normalising() {
    let at = DriverValue::rotation(about([0.0, 1.0, 0.0], 130.0));
    let d = PoseDriver {
        threshold: 0.5,
        ..unreal_two(Normalize::Always)
    };
    assert_near(&ask(&d, at), &[0.0, 1.0], 1e-6);
    let d = PoseDriver {
        threshold: 0.5,
        ..unreal_two(Normalize::AboveOne)
    };
    assert_near(&ask(&d, at), &[0.0, 0.0], 0.0);
}

#[test]
fn unreal_interpolative_scales_clamped_weights() {
    let mut d = PoseDriver {
        solver: Solver::Interpolative,
        kernel: RadialKernel::Exponential,
        ..unreal_two(Normalize::None)
    };
    d.poses[1].scale = 0.5;
    let at = |degrees| DriverValue::rotation(about([0.0, 1.0, 0.0], degrees));
    assert_near(&ask(&d, at(60.0)), &[0.0, 0.5], 1e-6);
    // Solved by hand: K = [[1, k], [k, 1]], a query beyond the second pose.
    let s = PI / 2.0;
    let value = |degrees: f64| (-2.0 * degrees.to_radians() / s).exp();
    let (k, v) = (value(60.0), [value(90.0), value(30.0)]);
    let det = 1.0 - k * k;
    let w = [(v[0] - k * v[1]) / det, (v[1] - k * v[0]) / det];
    let expected = [w[0].clamp(0.0, 1.0), w[1].clamp(0.0, 1.0) * 0.5];
    assert_near(&ask(&d, at(90.0)), &expected, 1e-6);
}

#[test]
fn unreal_one_target_and_duplicates() {
    let one = PoseDriver {
        solver: Solver::Interpolative,
        ..driver(Rules::Unreal, vec![quat(TARGETS[0])])
    };
    assert_near(&ask(&one, quat(TARGETS[3])), &[1.0], 0.0);
    // exp(-2d/s) is within 32 steps of one for d below 1e-6 of the width.
    let poses = [0.0, 5e-5].map(|d| DriverValue::rotation(about([1.0, 0.0, 0.0], d)));
    let two = PoseDriver {
        metric: Metric::Arc,
        kernel: RadialKernel::Exponential,
        width: Width::Given(1.0),
        ..driver(Rules::Unreal, poses.to_vec())
    };
    let e = PoseDriverBind::new(&two).expect_err("duplicates");
    assert!(matches!(e, PoseDriverError::Duplicate { .. }), "{e}");
    // 32 steps of one are 1.9e-6: 1e-5 of the width are 2e-5 away from it.
    let apart = PoseDriver {
        width: Width::Given(1.0),
        poses: vec![
            two.poses[0].clone(),
            DriverPose::new(
                "T1",
                vec![DriverValue::rotation(about([1.0, 0.0, 0.0], 5e-4))],
            ),
        ],
        ..two
    };
    assert!(PoseDriverBind::new(&apart).is_ok());
}

/// PSD JSON solves `KᵀK a = Kᵀ y`: the same weights, from its own system, by another way (Cholesky).
#[test]
fn psd_json_normal_equations() {
    use sinew_geom::nalgebra::{Cholesky, DMatrix, DVector};
    let degrees = [0.0, 35.0, 80.0, -50.0];
    let width = 90_f64.to_radians();
    let phi = |d: f64| (-d / (width * width)).exp();
    let angle = |a: f64, b: f64| (a - b).abs().to_radians();
    let poses = degrees.map(|d| DriverValue::rotation(about([0.0, 0.0, 1.0], d)));
    let d = PoseDriver {
        metric: Metric::Arc,
        kernel: RadialKernel::GaussianOfDistance,
        width: Width::Given(width),
        clamp: Clamp::Negative,
        normalize: Normalize::Always,
        ..driver(Rules::PsdJson, poses.to_vec())
    };
    let k = DMatrix::from_fn(4, 4, |i, j| phi(angle(degrees[i], degrees[j])));
    for query in [-70.0, -10.0, 20.0, 60.0, 110.0] {
        let v = DVector::from_fn(4, |i, _| phi(angle(degrees[i], query)));
        let normal = Cholesky::new(k.transpose() * &k).expect("positive definite");
        let w = normal.solve(&(k.transpose() * v)).map(|w| w.max(0.0));
        let expected: Vec<f64> = (&w / w.sum()).iter().copied().collect();
        let at = DriverValue::rotation(about([0.0, 0.0, 1.0], query));
        assert_near(&ask(&d, at), &expected, 1e-6);
    }
}

#[test]
fn psd_json_above_one_keeps_smaller_sums() {
    let poses = [0.0, 60.0].map(|d| DriverValue::rotation(about([0.0, 0.0, 1.0], d)));
    let d = PoseDriver {
        metric: Metric::Arc,
        kernel: RadialKernel::Linear,
        width: Width::Given(PI / 2.0),
        clamp: Clamp::Negative,
        normalize: Normalize::AboveOne,
        ..driver(Rules::PsdJson, poses.to_vec())
    };
    let far = DriverValue::rotation(about([0.0, 0.0, 1.0], 105.0));
    let k: f64 = 1.0 - 60.0 / 90.0;
    let v = [0.0, 0.5];
    let expected = [
        (v[0] - k * v[1]) / (1.0 - k * k),
        (v[1] - k * v[0]) / (1.0 - k * k),
    ];
    assert!(expected[0] < 0.0, "to be clamped");
    assert_near(&ask(&d, far), &[0.0, expected[1]], 1e-6);
    let nowhere = DriverValue::rotation(about([0.0, 0.0, 1.0], 170.0));
    assert_eq!(ask(&d, nowhere), [0.0, 0.0], "the natural pose");
}

/// Ours fades to nothing far from all poses, PSD JSON divides whatever is left.
#[test]
fn psd_json_normalises_the_smallest_sum() {
    let d = |rules| PoseDriver {
        metric: Metric::Arc,
        kernel: RadialKernel::ExponentialPlain,
        width: Width::Given(0.2),
        clamp: Clamp::Negative,
        normalize: Normalize::Always,
        solver: Solver::Additive,
        threshold: 0.0,
        ..driver(rules, vec![DriverValue::rotation(Quat::identity())])
    };
    let angle = 120_f64.to_radians();
    let far = DriverValue::rotation(about([0.0, 0.0, 1.0], 120.0));
    let sum = (-angle / 0.2).exp();
    assert!(sum < 5e-5, "below the least sum of ours, which is 1e-4");
    assert_near(&ask(&d(Rules::PsdJson), far), &[1.0], 1e-6);
    assert_near(&ask(&d(Rules::Sinew), far), &[sum / 1e-4], 1e-6);
}

/// The numbers of the defect list: at 90 degrees with a width of 90 degrees.
#[test]
fn psd_json_gaussian_is_of_the_distance() {
    let right = PI / 2.0;
    let documented = RadialKernel::GaussianOfDistance.value(right, right);
    let squared = RadialKernel::Gaussian.value(right, right);
    assert_near(&[documented, squared], &[0.529, 0.368], 5e-4);
}

/// A twist that keeps its length makes swings of other lengths, and distances that are none.
#[test]
fn psd_json_twist_is_not_normalised() {
    let twisted = about([1.0, 0.0, 0.0], 60.0);
    let swung = about([0.0, 1.0, 0.0], 50.0) * twisted;
    let poses = vec![DriverValue::rotation(twisted), DriverValue::rotation(swung)];
    let d = PoseDriver {
        metric: Metric::Swing,
        kernel: RadialKernel::Linear,
        width: Width::Given(PI),
        solver: Solver::Additive,
        normalize: Normalize::None,
        ..driver(Rules::PsdJson, poses.clone())
    };
    // Swing lengths 1 and cos(25°): the dot product of the swings is cos²(25°) instead of cos(25°).
    let c = 25_f64.to_radians().cos();
    let wrong = (2.0 * c.powi(4) - 1.0).acos();
    let right = 50_f64.to_radians();
    assert!(wrong > right + 0.1, "worth a test");
    assert_near(&ask(&d, poses[0]), &[1.0, 1.0 - wrong / PI], 1e-6);
    let ours = PoseDriver {
        rules: Rules::Sinew,
        ..d
    };
    assert_near(&ask(&ours, poses[0]), &[1.0, 1.0 - right / PI], 1e-6);
}
