//! One-hot at the poses, calm everywhere.

use super::published::{about, ask_bound, assert_near};
use crate::pose_driver::reference;
use crate::pose_driver::*;
use proptest::prelude::*;
use sinew_geom::nalgebra::{Quaternion, Unit};
use sinew_geom::{EulerOrder, Quat, Vec3};

const METRICS: [Metric; 11] = [
    Metric::Arc,
    Metric::Chord,
    Metric::Swing,
    Metric::SwingChord,
    Metric::Direction,
    Metric::DirectionChord,
    Metric::Twist,
    Metric::TwistChord,
    Metric::Euler(EulerOrder::Zxy),
    Metric::EulerTriples(EulerOrder::Zxy),
    Metric::Position,
];

fn kernels() -> Vec<RadialKernel> {
    let curve = Curve::new(&[0.0, 1.0, 0.5, 0.4, 2.0, 0.0]).expect("a curve");
    vec![
        RadialKernel::Gaussian,
        RadialKernel::GaussianOfDistance,
        RadialKernel::Exponential,
        RadialKernel::ExponentialPlain,
        RadialKernel::Linear,
        RadialKernel::Cubic,
        RadialKernel::Quintic,
        RadialKernel::Curve(curve),
    ]
}

fn rotation() -> impl Strategy<Value = Quat<f64>> {
    let number = || -1.0..1.0_f64;
    (number(), number(), number(), number()).prop_filter_map("no direction", |(x, y, z, w)| {
        Unit::try_new(Quaternion::new(w, x, y, z), 0.1)
    })
}

fn value() -> impl Strategy<Value = DriverValue> {
    let place = (-1.0..1.0_f64, -1.0..1.0_f64, -1.0..1.0_f64);
    (rotation(), place).prop_map(|(rotation, (x, y, z))| DriverValue {
        rotation,
        translation: Vec3::new(x, y, z),
    })
}

fn random_driver() -> impl Strategy<Value = PoseDriver> {
    let poses = prop::collection::vec(prop::collection::vec(value(), 2), 1..9);
    let settings = (0..METRICS.len(), 0..8_usize, any::<bool>(), 1..3_usize);
    (poses, settings).prop_map(|(poses, (metric, kernel, one_width, joints))| PoseDriver {
        poses: poses
            .into_iter()
            .enumerate()
            .map(|(i, values)| DriverPose::new(format!("p{i}"), values[..joints].to_vec()))
            .collect(),
        metric: METRICS[metric],
        kernel: kernels().swap_remove(kernel),
        width: if one_width {
            Width::Automatic
        } else {
            Width::Nearest
        },
        swing_tolerance: 10.0,
        ..PoseDriver::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn one_hot_at_the_poses(driver in random_driver()) {
        // Kernels that are no kernel for this set are refused, which is what the condition is for.
        let Ok(bind) = PoseDriverBind::new(&driver) else { return Ok(()) };
        prop_assume!(bind.condition().is_some_and(|c| c < 1e6));
        for (i, pose) in driver.poses.iter().enumerate() {
            let expected: Vec<f64> = (0..driver.poses.len()).map(|j| f64::from(u8::from(i == j))).collect();
            assert_near(&ask_bound(&bind, &pose.values), &expected, 1e-4);
        }
    }

    #[test]
    fn signs_of_quaternions_mean_nothing(driver in random_driver(), queries in prop::collection::vec(value(), 2)) {
        let Ok(bind) = PoseDriverBind::new(&driver) else { return Ok(()) };
        let queries = &queries[..bind.joint_count()];
        let negated: Vec<DriverValue> = queries.iter().map(|v| DriverValue {
            rotation: Unit::new_unchecked(-v.rotation.into_inner()), ..*v
        }).collect();
        let condition = bind.condition().unwrap_or(1.0);
        assert_near(&ask_bound(&bind, queries), &ask_bound(&bind, &negated), 1e-6 + 1e-14 * condition);
    }

    #[test]
    fn fast_and_reference_agree(driver in random_driver(), queries in prop::collection::vec(value(), 2)) {
        let Ok(bind) = PoseDriverBind::new(&driver) else { return Ok(()) };
        let queries = &queries[..bind.joint_count()];
        let mut influences = vec![0.0; bind.pose_count()];
        let mut expected = influences.clone();
        reference::weights(&bind, queries, &mut influences, &mut expected);
        let largest = expected.iter().fold(1.0_f64, |m, w| m.max(w.abs()));
        // Root and arc are good to 1e-11, times what the system makes of it.
        let system = bind.condition().unwrap_or(1.0);
        assert_near(&ask_bound(&bind, queries), &expected, largest * (1e-6 + 1e-10 * system));
    }

    #[test]
    fn weights_are_finite_and_sum_to_one(driver in random_driver(), queries in prop::collection::vec(value(), 2)) {
        let Ok(bind) = PoseDriverBind::new(&PoseDriver { normalize: Normalize::Always, ..driver }) else { return Ok(()) };
        let weights = ask_bound(&bind, &queries[..bind.joint_count()]);
        prop_assert!(weights.iter().all(|w| w.is_finite() && *w >= 0.0), "{weights:?}");
        let sum: f64 = weights.iter().sum();
        // Below the least sum weights fade instead.
        prop_assert!(sum < 1.0 + 1e-5);
        let mut influences = vec![0.0; bind.pose_count()];
        let mut raw = influences.clone();
        reference::influences(&bind, &queries[..bind.joint_count()], &mut influences);
        reference::solved(&bind, &influences, &mut raw);
        let before: f64 = raw.iter().map(|w| w.max(0.0)).sum();
        prop_assert!(before < 1e-3 || (sum - 1.0).abs() < 1e-5, "sum {sum} of {before}");
    }
}

fn two(metric: Metric, degrees: f64) -> PoseDriver {
    let pose = |name: &str, d: f64| {
        DriverPose::new(name, vec![DriverValue::rotation(about([0.0, 1.0, 0.0], d))])
    };
    PoseDriver {
        poses: vec![pose("rest", 0.0), pose("bent", degrees)],
        metric,
        ..PoseDriver::default()
    }
}

#[test]
fn identical_poses_are_refused_by_name() {
    let e = PoseDriverBind::new(&two(Metric::Arc, 0.0)).expect_err("two of one");
    let text = e.to_string();
    assert!(text.contains("'rest'") && text.contains("'bent'"), "{text}");
    // Half a turn is as far as poses get.
    let bind = PoseDriverBind::new(&two(Metric::Chord, 180.0)).expect("far apart");
    assert_near(
        &ask_bound(&bind, &two(Metric::Chord, 180.0).poses[1].values),
        &[0.0, 1.0],
        1e-6,
    );
}

#[test]
fn regularisation_takes_identical_poses() {
    let d = PoseDriver {
        regularization: 0.1,
        ..two(Metric::Arc, 0.0)
    };
    let bind = PoseDriverBind::new(&PoseDriver {
        width: Width::Given(1.0),
        ..d
    })
    .expect("regular");
    // (1 + l) w0 + w1 = 1 and the other way round: both 1 / (2 + l).
    let rest = DriverValue::rotation(Quat::identity());
    assert_near(&ask_bound(&bind, &[rest]), &[1.0 / 2.1; 2], 1e-6);
}

#[test]
fn a_swing_in_a_twist_driver_is_an_error() {
    let e =
        PoseDriverBind::new(&two(Metric::Twist, 30.0)).expect_err("swings about y, twists about x");
    assert!(
        matches!(e, PoseDriverError::SwingInTwist { degrees, .. } if (degrees - 30.0).abs() < 1e-6),
        "{e}"
    );
}

#[test]
fn twist_drivers_take_as_much_swing_as_they_are_told() {
    let with = |degrees: f64| {
        PoseDriverBind::new(&PoseDriver {
            swing_tolerance: degrees.to_radians(),
            ..two(Metric::Twist, 30.0)
        })
    };
    assert!(matches!(
        with(29.9),
        Err(PoseDriverError::SwingInTwist { .. })
    ));
    // Without twist the two are the same, which is the next error.
    assert!(matches!(with(30.1), Err(PoseDriverError::Duplicate { .. })));
}

/// Influence of pose i at pose j is by the metric of i, that of j at i by the metric of j.
#[test]
fn metrics_of_poses_may_differ() {
    let mut d = two(Metric::Arc, 70.0);
    d.poses.push(DriverPose::new(
        "turned",
        vec![DriverValue::rotation(
            about([0.0, 1.0, 0.0], 40.0) * about([1.0, 0.0, 0.0], 50.0),
        )],
    ));
    d.poses[0].metric = Some(Metric::Direction);
    let bind = PoseDriverBind::new(&PoseDriver {
        kernel: RadialKernel::Linear,
        width: Width::Given(4.0),
        ..d.clone()
    })
    .expect("three poses");
    for (i, pose) in d.poses.iter().enumerate() {
        let expected: Vec<f64> = (0..3).map(|j| f64::from(u8::from(i == j))).collect();
        assert_near(&ask_bound(&bind, &pose.values), &expected, 1e-6);
    }
}

/// At the median the sum is one, far from it it is what it is: by the driver's metric, whatever the first pose or the rules make of theirs.
#[test]
fn the_median_is_measured_by_the_metric_of_the_driver() {
    let turned = about([0.0, 1.0, 0.0], 35.0) * about([1.0, 0.0, 0.0], 20.0);
    let reference = DriverValue::rotation(turned);
    let within = |max: f64| Normalize::WithinMedian {
        reference,
        min: 0.05,
        max,
    };
    let mut of_its_own = two(Metric::Arc, 70.0);
    of_its_own.poses[0].metric = Some(Metric::DirectionChord);
    let components = PoseDriver {
        rules: Rules::RigLogic,
        ..two(Metric::Euler(EulerOrder::Zxy), 70.0)
    };
    for driver in [of_its_own, components] {
        let driver = PoseDriver {
            solver: Solver::Additive,
            kernel: RadialKernel::ExponentialPlain,
            width: Width::Given(0.3),
            normalize: within(0.1),
            threshold: 0.0,
            ..driver
        };
        let sum = |value: DriverValue| -> f64 {
            let bind = PoseDriverBind::new(&driver).expect("two poses");
            ask_bound(&bind, &[value]).iter().sum()
        };
        assert!((sum(reference) - 1.0).abs() < 1e-5, "{:?}", driver.rules);
        let far = DriverValue::rotation(turned * about([0.0, 1.0, 0.0], 60.0));
        assert!(sum(far) < 0.9, "{:?}", driver.rules);
    }
}

#[test]
fn values_that_are_no_numbers_give_no_weights() {
    let bind = PoseDriverBind::new(&two(Metric::Chord, 90.0)).expect("two poses");
    let bad = DriverValue::rotation(Unit::new_unchecked(Quaternion::new(
        f64::NAN,
        0.0,
        0.0,
        1.0,
    )));
    assert_eq!(ask_bound(&bind, &[bad]), [0.0, 0.0]);
    let none = DriverValue::rotation(Unit::new_unchecked(Quaternion::new(0.0, 0.0, 0.0, 0.0)));
    assert!(ask_bound(&bind, &[none]).iter().all(|w| w.is_finite()));
}

#[test]
fn wrong_settings_are_refused() {
    let good = two(Metric::Chord, 90.0);
    let wrong = |change: &dyn Fn(&mut PoseDriver)| {
        let mut d = good.clone();
        change(&mut d);
        PoseDriverBind::new(&d).expect_err("wrong").to_string()
    };
    for (text, words) in [
        (wrong(&|d| d.poses.clear()), "no poses"),
        (
            wrong(&|d| d.poses[1].values.clear()),
            "pose 'bent' has 0 driver values, expected 1",
        ),
        (wrong(&|d| d.width = Width::Given(-1.2)), "width is -1.2"),
        (wrong(&|d| d.width = Width::Given(f64::NAN)), "width is NaN"),
        (
            wrong(&|d| d.poses[1].scale = 0.0),
            "width of pose 'bent' is 0",
        ),
        (wrong(&|d| d.axis = Vec3::zeros()), "twist axis is 0"),
        (wrong(&|d| d.threshold = -1.0), "threshold is -1"),
        (
            wrong(&|d| d.regularization = f64::INFINITY),
            "regularisation is inf",
        ),
        (
            wrong(&|d| d.poses[0].values[0].translation.x = f64::NAN),
            "pose 'rest': a driver value is not finite",
        ),
        (
            wrong(&|d| (d.normalize, d.clamp) = (Normalize::Always, Clamp::None)),
            "needs weights of 0 or more",
        ),
    ] {
        assert!(text.contains(words), "'{text}' lacks '{words}'");
    }
}

fn additive(poses: Vec<DriverPose>, kernel: RadialKernel) -> PoseDriver {
    PoseDriver {
        poses,
        kernel,
        solver: Solver::Additive,
        metric: Metric::Arc,
        width: Width::Given(1.0),
        normalize: Normalize::None,
        ..PoseDriver::default()
    }
}

#[test]
fn row_137_kernels_have_their_formulas() {
    let pose = || {
        vec![DriverPose::new(
            "rest",
            vec![DriverValue::rotation(Quat::identity())],
        )]
    };
    let d: f64 = 0.6;
    for (kernel, expected) in [
        (RadialKernel::Linear, 0.4),
        (RadialKernel::Exponential, (-1.2_f64).exp()),
        (RadialKernel::ExponentialPlain, (-0.6_f64).exp()),
        (RadialKernel::Cubic, 1.0 - 0.216),
        (RadialKernel::Quintic, 1.0 - 0.077_76),
        (RadialKernel::Gaussian, (-0.36_f64).exp()),
    ] {
        let bind = PoseDriverBind::new(&additive(pose(), kernel)).expect("one pose");
        let at = |angle| DriverValue::rotation(about([0.0, 0.0, 1.0], angle));
        assert_near(&ask_bound(&bind, &[at(d.to_degrees())]), &[expected], 1e-6);
        // Nothing is below 0 far away.
        let far = ask_bound(&bind, &[at(170.0)]);
        assert!((0.0..0.06).contains(&far[0]), "{far:?}");
    }
}

#[test]
fn row_139_scales_of_poses_multiply_the_width() {
    let at = |degrees| vec![DriverValue::rotation(about([0.0, 0.0, 1.0], degrees))];
    let mut poses = vec![DriverPose::new("a", at(0.0)), DriverPose::new("b", at(0.0))];
    poses[1].scale = 2.0;
    let bind = PoseDriverBind::new(&additive(poses, RadialKernel::Linear)).expect("additive");
    assert_near(bind.widths(), &[1.0, 2.0], 1e-12);
    assert_near(
        &ask_bound(&bind, &at(0.5_f64.to_degrees())),
        &[0.5, 0.75],
        1e-6,
    );
}

#[test]
fn row_136_swing_and_twist_drivers_of_one_joint_do_not_see_each_other() {
    let (swing, twist) = ([0.0, 1.0, 0.0], [1.0, 0.0, 0.0]);
    let driver = |metric, axis| {
        let pose =
            |name: &str, d| DriverPose::new(name, vec![DriverValue::rotation(about(axis, d))]);
        let poses = vec![pose("rest", 0.0), pose("turned", 80.0)];
        PoseDriverBind::new(&PoseDriver {
            poses,
            metric,
            ..PoseDriver::default()
        })
        .expect("two poses")
    };
    let [swings, twists] = [
        driver(Metric::SwingChord, swing),
        driver(Metric::TwistChord, twist),
    ];
    for (s, t) in [(0.0, 50.0), (80.0, 110.0), (35.0, 0.0), (80.0, -70.0)] {
        let both = [DriverValue::rotation(about(swing, s) * about(twist, t))];
        let [only_swing, only_twist] =
            [about(swing, s), about(twist, t)].map(|q| [DriverValue::rotation(q)]);
        assert_near(
            &ask_bound(&swings, &both),
            &ask_bound(&swings, &only_swing),
            1e-6,
        );
        assert_near(
            &ask_bound(&twists, &both),
            &ask_bound(&twists, &only_twist),
            1e-6,
        );
    }
}

/// Poses 0.03 degrees apart: the condition is about 1e4 with this kernel; that of `KᵀK` would be its square.
#[test]
fn row_141_close_poses_keep_their_digits() {
    let at = |degrees| vec![DriverValue::rotation(about([0.0, 0.0, 1.0], degrees))];
    let poses = [0.0, 0.03, 40.0, 40.03].map(|d| DriverPose::new(format!("{d}"), at(d)));
    let driver = PoseDriver {
        poses: poses.to_vec(),
        metric: Metric::Arc,
        kernel: RadialKernel::Cubic,
        ..PoseDriver::default()
    };
    let bind = PoseDriverBind::new(&driver).expect("four poses that differ");
    let condition = bind.condition().expect("interpolative");
    assert!(condition > 1e8, "not worth the test: {condition:e}");
    for (i, p) in driver.poses.iter().enumerate() {
        let one = std::array::from_fn::<f64, 4, _>(|j| f64::from(u8::from(i == j)));
        assert_near(&ask_bound(&bind, &p.values), &one, 1e-5);
    }
}
