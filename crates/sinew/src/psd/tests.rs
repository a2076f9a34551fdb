//! Samples, checks and fits against closed forms.

use super::check::{DriverReport, Finding, Severity, check};
use super::fit::{DrivenValues, Fit, FitError, FitOptions, Reason, fit, leave_one_out};
use super::sample::*;
use crate::deform::pose_driver::*;
use crate::geom::{Quat, Vec3};
use crate::graph::{NoNesting, SetupWatch, compile};

fn turned(axis: [f64; 3], degrees: f64) -> DriverValue {
    DriverValue::rotation(Quat::from_scaled_axis(
        Vec3::from(axis) * degrees.to_radians(),
    ))
}

/// Poses that turn about z.
fn on_a_line(degrees: &[f64], metric: Metric, kernel: RadialKernel, width: f64) -> PoseDriver {
    let pose = |d: &f64| DriverPose::new(format!("at {d}"), vec![turned([0.0, 0.0, 1.0], *d)]);
    PoseDriver {
        poses: degrees.iter().map(pose).collect(),
        metric,
        kernel,
        width: Width::Given(width),
        ..PoseDriver::default()
    }
}

fn bound(driver: &PoseDriver) -> PoseDriverBind {
    PoseDriverBind::new(driver).expect("can be solved")
}

#[track_caller]
fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{found}, expected {expected}"
    );
}

#[test]
fn linear_weights_between_two_poses_are_straight() {
    // (a - u) / a with a = D/s, u = x/s: the width drops out as long as it reaches from one to the other.
    let driver = on_a_line(&[0.0, 60.0], Metric::Arc, RadialKernel::Linear, 1.3);
    let samples = along_arcs(&driver, &bound(&driver), &[0, 1], 12, Stage::Final).expect("two");
    assert_eq!(samples.at.len(), 13);
    assert_near(samples.stops[1].1, 60_f64.to_radians(), 1e-12);
    for (i, &at) in samples.at.iter().enumerate() {
        let part = at / 60_f64.to_radians();
        assert_near(part, i as f64 / 12.0, 1e-12);
        assert_near(samples.weights[0][i], 1.0 - part, 1e-12);
        assert_near(samples.weights[1][i], part, 1e-12);
    }
}

#[test]
fn gaussian_weights_between_two_poses_follow_their_formula() {
    let width = 0.8_f64;
    let driver = on_a_line(
        &[0.0, 90.0, 0.0],
        Metric::Chord,
        RadialKernel::Gaussian,
        width,
    );
    let driver = PoseDriver {
        poses: driver.poses[..2].to_vec(),
        ..driver
    };
    let kernel = |radians: f64| (-(2.0 * (radians / 2.0).sin() / width).powi(2)).exp();
    let far = 90_f64.to_radians();
    let k = kernel(far);
    let samples = along_arcs(&driver, &bound(&driver), &[1, 0], 9, Stage::Solved).expect("two");
    for (i, &at) in samples.at.iter().enumerate() {
        let (here, there) = (kernel(at), kernel(far - at));
        let expected = (here - k * there) / (1.0 - k * k);
        assert_near(samples.weights[1][i], expected, 1e-12);
    }
}

#[test]
fn ways_lead_through_all_stops_the_short_way_and_places_in_metres() {
    let mut driver = on_a_line(
        &[0.0, 170.0, -170.0],
        Metric::Arc,
        RadialKernel::Linear,
        7.0,
    );
    let bind = bound(&driver);
    let samples = along_arcs(&driver, &bind, &[0, 1, 2], 4, Stage::Final).expect("three");
    let stops: Vec<f64> = samples.stops.iter().map(|s| s.1.to_degrees()).collect();
    assert_near(stops[1], 170.0, 1e-9);
    assert_near(stops[2], 190.0, 1e-9);
    let half = between(&driver.poses[1].values, &driver.poses[2].values, 0.5);
    assert_near(half[0].rotation.angle().to_degrees(), 180.0, 1e-9);
    driver.metric = Metric::Position;
    for (i, pose) in driver.poses.iter_mut().enumerate() {
        pose.values[0].translation = Vec3::new(0.0, i as f64 * 0.5, 0.0);
    }
    let samples = along_arcs(&driver, &bound(&driver), &[0, 2], 4, Stage::Final).expect("two");
    assert!(samples.in_metres);
    assert_near(samples.at[4], 1.0, 1e-12);
    let error = along_arcs(&driver, &bound(&driver), &[0, 3], 4, Stage::Final);
    assert_eq!(error, Err(SampleError::Pose { index: 3, poses: 3 }));
    let error = along_arcs(&driver, &bound(&driver), &[0], 4, Stage::Final);
    assert_eq!(error, Err(SampleError::Stops { found: 1 }));
    let error = over_directions(&driver, &bound(&driver), 0, 8);
    assert_eq!(error, Err(SampleError::Places));
}

#[test]
fn maps_of_directions_are_equal_area_and_centred_on_the_first_pose() {
    let width = 0.9_f64;
    let mut driver = on_a_line(
        &[30.0, 120.0, -60.0],
        Metric::Direction,
        RadialKernel::Gaussian,
        width,
    );
    driver.solver = Solver::Additive;
    driver.normalize = Normalize::None;
    let side = 21;
    let map = over_directions(&driver, &bound(&driver), 0, side).expect("directions");
    assert_near(map.poses[0][0].hypot(map.poses[0][1]), 0.0, 1e-9);
    // 90 degrees from the middle to either side.
    for pose in [1, 2] {
        let radius = map.poses[pose][0].hypot(map.poses[pose][1]);
        assert_near(radius, 45_f64.to_radians().sin(), 1e-12);
    }
    for row in 0..side {
        for column in 0..side {
            let [x, y] = [column, row].map(|i| (2 * i + 1) as f64 / side as f64 - 1.0);
            let radius = x.hypot(y);
            let found = map.weights[0][row * side + column];
            if radius > 1.0 {
                assert!(found.is_nan());
                continue;
            }
            // Lambert: the area inside is that of the cap, π(2 sin(θ/2))².
            let angle = 2.0 * radius.asin();
            assert_near(found, (-(angle / width).powi(2)).exp(), 1e-9);
        }
    }
    // They are on opposite sides.
    let [right, up] = map.poses[1];
    assert_near(map.poses[2][0], -right, 1e-9);
    assert_near(map.poses[2][1], -up, 1e-9);
}

const TWO: &str = r#"{ "sinew": "1.0", "inputs": { "rig": { "type": "pose" } },
 "nodes": {
  "bad": { "node": "pose_driver", "pose": "rig", "joints": ["a"], "poses": [
    { "name": "one", "joints": [{}] }, { "name": "two", "joints": [{}] }] },
  "wrong": { "node": "pose_driver", "pose": "rig", "joints": ["a", "b"], "poses": [
    { "name": "one", "joints": [{}] }] },
  "good": { "node": "pose_driver", "pose": "rig", "joints": ["a"], "space": "rest",
   "metric": "arc", "kernel": "linear", "width": 3, "poses": [
    { "name": "bent", "joints": [{ "rotation_degrees": [0, 0, 20] }] },
    { "name": "off", "joints": [{}], "enabled": false },
    { "name": "far", "joints": [{ "rotation_degrees": [0, 0, 90] }] }] } },
 "outputs": { "w": "good", "v": "bad", "u": "wrong" } }"#;

#[test]
fn each_driver_is_reported_whatever_the_others_are_like() {
    let plan = compile("two.json", TWO, &NoNesting).expect("a document");
    let reports = check(&plan, SetupWatch::NONE).expect("nobody stops it");
    let of = |name: &str| reports.iter().find(|r| r.name == name).expect("reported");
    assert_eq!(of("bad").severity(), Some(Severity::Error));
    assert!(matches!(
        of("bad").findings[0],
        Finding::CannotSolve {
            error: PoseDriverError::Duplicate { .. }
        }
    ));
    assert!(of("wrong").driver.is_none());
    assert!(
        of("wrong").findings[0]
            .to_string()
            .contains("has 1 driver values, expected 2, one for each joint")
    );
    let good = of("good");
    assert_eq!(good.severity(), Some(Severity::Information));
    let said: Vec<String> = good.findings.iter().map(ToString::to_string).collect();
    assert!(said[0].contains("pose 'off' is disabled"), "{said:?}");
    assert!(
        said[1].contains("the nearest pose 'bent' is 20.00 degrees away"),
        "{said:?}"
    );
    let solved = good.solved.as_ref().expect("solved");
    // 1 - k, k the influence of one at the other; the condition is (1 + k) / (1 - k).
    let k = 1.0 - 70_f64.to_radians() / 3.0;
    assert_near(
        solved.smallest_eigenvalue.expect("a system"),
        1.0 - k,
        1e-12,
    );
    assert_near(
        solved.condition.expect("a system"),
        (1.0 + k) / (1.0 - k),
        1e-9,
    );
    assert_near(solved.range_on_arcs[0], 0.0, 1e-9);
    assert_near(solved.range_on_arcs[1], 1.0, 1e-9);
}

fn report(driver: PoseDriver, watch: SetupWatch<'_>) -> Option<DriverReport> {
    let settings = PoseDriverSettings {
        joints: vec!["a".into()],
        space: "parent".into(),
        reference: String::new(),
        left_out: Vec::new(),
        places: (0..driver.poses.len()).collect(),
        pose_count: driver.poses.len(),
        driver,
    };
    let driver = super::GraphDriver {
        name: "d".into(),
        location: String::new(),
        settings,
        disabled: Vec::new(),
    };
    super::check::check_driver(&driver, watch)
}

fn findings(driver: PoseDriver) -> Vec<Finding> {
    let report = report(driver, SetupWatch::NONE);
    report.expect("nobody stops it").findings
}

#[test]
fn arcs_between_all_pairs_have_the_range_that_the_reference_finds() {
    let driver = scattered();
    let bind = bound(&driver);
    let [mut least, mut most] = [0.0_f64, 0.0];
    for to in 1..driver.poses.len() {
        for from in 0..to {
            let samples = along_arcs(&driver, &bind, &[from, to], 32, Stage::Solved);
            for weight in samples.expect("poses").weights.into_iter().flatten() {
                (least, most) = (least.min(weight), most.max(weight));
            }
        }
    }
    let report = report(driver, SetupWatch::NONE).expect("nobody stops it");
    let solved = report.solved.expect("has a solution");
    assert_eq!(solved.arcs, 15);
    assert!(least < -1e-3 && most > 1.001, "{least} {most}");
    assert_near(solved.range_on_arcs[0], least, 1e-9);
    assert_near(solved.range_on_arcs[1], most, 1e-9);
}

#[test]
fn many_poses_have_no_more_arcs_than_two_hundred_and_checking_them_can_be_stopped() {
    // Additive with a kernel of one degree: 1 at each pose, and next to nothing but near it.
    let many = |count: usize| {
        let degrees: Vec<f64> = (0..count)
            .map(|i| 170.0 * i as f64 / count as f64)
            .collect();
        let mut driver = on_a_line(&degrees, Metric::Arc, RadialKernel::Linear, 0.017);
        driver.solver = Solver::Additive;
        driver
    };
    let arcs = |count: usize| {
        let report = report(many(count), SetupWatch::NONE).expect("nobody stops it");
        let solved = report.solved.expect("nothing to solve");
        assert_near(solved.range_on_arcs[1], 1.0, 1e-9);
        solved.arcs
    };
    assert_eq!(arcs(200), 19_900);
    // Of 400 each has its nearest 49: about half of the pairs are found from both sides.
    let found = arcs(400);
    assert!((9_800..=19_600).contains(&found), "{found}");
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let is_stopped = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 3;
    let mut stopping = SetupWatch::NONE;
    stopping.is_stopped = &is_stopped;
    assert!(report(many(200), stopping).is_none());
    let asked = asked.into_inner();
    assert!(asked < 100, "asked {asked} times of 311, and went on");
}

#[test]
fn weights_that_are_not_one_at_their_poses_are_told_with_their_values() {
    let width = 0.7_f64;
    let mut driver = on_a_line(&[0.0, 40.0], Metric::Arc, RadialKernel::Gaussian, width);
    driver.solver = Solver::Additive;
    let k = (-(40_f64.to_radians() / width).powi(2)).exp();
    // Above one, so divided by the sum.
    let all = findings(driver.clone());
    let own = all.iter().find_map(|f| match f {
        Finding::OwnWeight {
            weight, severity, ..
        } => Some((*weight, *severity)),
        _ => None,
    });
    let (weight, severity) = own.expect("told");
    assert_near(weight, 1.0 / (1.0 + k), 1e-12);
    assert_eq!(severity, Severity::Information);
    let other = all.iter().find_map(|f| match f {
        Finding::OtherWeight { weight, .. } => Some(*weight),
        _ => None,
    });
    assert_near(other.expect("told"), k / (1.0 + k), 1e-12);
    // Regularised: K = [[1.1, k], [k, 1.1]], and the influences at the pose are [1, k].
    driver.solver = Solver::Interpolative;
    driver.regularization = 0.1;
    let own = findings(driver).into_iter().find_map(|f| match f {
        Finding::OwnWeight {
            weight, severity, ..
        } => Some((weight, severity)),
        _ => None,
    });
    let d = 1.1_f64 * 1.1 - k * k;
    let (weight, severity) = own.expect("told");
    assert_near(weight, (1.1 - k * k) / d, 1e-12);
    assert_eq!(severity, Severity::Warning);
}

#[test]
fn overlap_and_overshoot_are_found_where_they_are() {
    let near = on_a_line(
        &[0.0, 3.0, 90.0],
        Metric::Chord,
        RadialKernel::Gaussian,
        0.9,
    );
    let found = findings(near);
    let overlap = found.iter().find_map(|f| match f {
        Finding::Overlap {
            first,
            second,
            apart,
            influence,
        } => Some((first.clone(), second.clone(), *apart, *influence)),
        _ => None,
    });
    let (first, second, apart, influence) = overlap.expect("told");
    assert_eq!((first.as_str(), second.as_str()), ("at 0", "at 3"));
    assert_near(apart.amount.to_degrees(), 3.0, 1e-9);
    let chord = 2.0 * 1.5_f64.to_radians().sin();
    assert_near(influence, (-(chord / 0.9).powi(2)).exp(), 1e-12);
    // Two poses that nearly are one: between each and a third the difference of the two is blown up.
    let beyond = found
        .iter()
        .filter(|f| matches!(f, Finding::Overshoot { .. } | Finding::Undershoot { .. }));
    assert!(beyond.count() >= 2, "{found:?}");
    let calm = on_a_line(
        &[0.0, 45.0, 90.0],
        Metric::Chord,
        RadialKernel::Gaussian,
        0.6,
    );
    let calm = findings(calm);
    assert!(
        calm.iter().all(|f| f.severity() == Severity::Information),
        "{calm:?}"
    );
}

/// Poses here and there.
fn scattered() -> PoseDriver {
    let turns = [
        [0.0, 0.0, 0.0],
        [0.0, 50.0, 10.0],
        [30.0, -40.0, 20.0],
        [-60.0, 5.0, 35.0],
        [15.0, 70.0, -50.0],
        [0.0, -20.0, -80.0],
    ];
    let pose = |t: &[f64; 3]| {
        let value = turned(*t, 1.0);
        DriverPose::new(format!("{t:?}"), vec![value])
    };
    PoseDriver {
        poses: turns.iter().map(pose).collect(),
        width: Width::Given(0.8),
        ..PoseDriver::default()
    }
}

#[test]
fn leave_one_out_in_closed_form_is_leaving_one_out() {
    let driver = scattered();
    let numbers: Vec<f64> = (0..12).map(|i| (f64::from(i) * 1.7).sin()).collect();
    let values = DrivenValues {
        numbers,
        columns: 2,
    };
    let errors = leave_one_out(&bound(&driver), &values);
    assert_eq!(errors.len(), 12);
    for out in 0..6 {
        let mut without = driver.clone();
        let gone = without.poses.remove(out);
        let weights = bound(&without).unlimited_weights(&gone.values);
        for column in 0..2 {
            let rows = (0..6).filter(|r| *r != out);
            let predicted: f64 = rows
                .zip(&weights)
                .map(|(row, w)| w * values.numbers[row * 2 + column])
                .sum();
            let expected = values.numbers[out * 2 + column] - predicted;
            assert_near(errors[out * 2 + column], expected, 1e-10);
        }
    }
}

/// What values of that function of the degrees come to.
fn fitted(degrees: &[f64], value: impl Fn(f64) -> f64) -> Fit {
    let driver = on_a_line(degrees, Metric::Arc, RadialKernel::Linear, 1.0);
    let values = DrivenValues {
        numbers: degrees.iter().map(|d| value(*d)).collect(),
        columns: 1,
    };
    fit(&driver, Some(&values), &FitOptions::default()).expect("fitted")
}

#[test]
fn poses_on_a_line_that_drive_straight_lines_are_redundant() {
    let degrees = [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0];
    let straight = fitted(&degrees, |d| d / 60.0);
    assert_eq!(straight.kept, [0, 6]);
    assert!(straight.error.expect("known") < 1e-9);
    // A kink needs its pose.
    let kinked = fitted(&degrees, |d| (d - 20.0).max(0.0) / 40.0);
    assert_eq!(kinked.kept, [0, 2, 6]);
    let redundant = |f: &Fit| {
        let all = f.removed.iter();
        all.filter(|r| matches!(r.reason, Reason::Redundant { .. }))
            .count()
    };
    assert_eq!((redundant(&straight), redundant(&kinked)), (5, 4));
}

#[test]
fn errors_at_all_poses_stay_within_the_tolerance() {
    let degrees: Vec<f64> = (0..25).map(|i| f64::from(i) * 5.0).collect();
    let driver = PoseDriver {
        clamp: Clamp::None,
        normalize: Normalize::None,
        ..on_a_line(&degrees, Metric::Chord, RadialKernel::Gaussian, 1.0)
    };
    let value = |d: f64| (d.to_radians() * 1.5).sin().powi(2);
    let values = DrivenValues {
        numbers: degrees.iter().map(|d| value(*d)).collect(),
        columns: 1,
    };
    let options = FitOptions::default();
    let fitted = fit(&driver, Some(&values), &options).expect("fitted");
    assert!(fitted.kept.len() < 12, "{fitted:?}");
    assert_eq!(fitted.kept[0], 0);
    assert!(fitted.condition <= options.condition_limit);
    let reduced = PoseDriver {
        poses: fitted
            .kept
            .iter()
            .map(|&p| driver.poses[p].clone())
            .collect(),
        width: Width::Given(fitted.width),
        ..driver.clone()
    };
    let bind = bound(&reduced);
    for (pose, degrees) in driver.poses.iter().zip(&degrees) {
        let weights = bind.weights(&pose.values);
        let kept = fitted.kept.iter().zip(weights);
        let found: f64 = kept.map(|(&p, w)| w * values.numbers[p]).sum();
        assert_near(found, value(*degrees), options.tolerance);
    }
}

#[test]
fn without_values_only_the_same_poses_go() {
    let driver = on_a_line(
        &[0.0, 30.0, 30.2, 60.0, 90.0],
        Metric::Chord,
        RadialKernel::Gaussian,
        1.0,
    );
    let fitted = fit(&driver, None, &FitOptions::default()).expect("fitted");
    assert_eq!(fitted.kept, [0, 1, 3, 4]);
    assert!(matches!(
        fitted.removed[0].reason,
        Reason::Same { pose: 1, .. }
    ));
    assert_eq!(fitted.error, None);
    // What predicts the turn itself is wider than the poses are apart.
    assert!(fitted.width > 30_f64.to_radians(), "{fitted:?}");
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let mut driver = scattered();
    let options = FitOptions::default();
    let values = |numbers: Vec<f64>| DrivenValues {
        numbers,
        columns: 1,
    };
    let error = fit(&driver, Some(&values(vec![1.0; 5])), &options);
    assert!(matches!(
        error,
        Err(FitError::Shape {
            found: 5,
            poses: 6,
            ..
        })
    ));
    let error = fit(&driver, Some(&values(vec![f64::NAN; 6])), &options);
    assert!(matches!(error, Err(FitError::NotFinite { row: 0 })));
    let strict = FitOptions {
        condition_limit: 0.5,
        ..options
    };
    assert!(matches!(
        fit(&driver, None, &strict),
        Err(FitError::NoWidth { .. })
    ));
    let odd = FitOptions {
        merge: -1.0,
        ..options
    };
    assert!(matches!(
        fit(&driver, None, &odd),
        Err(FitError::Option { .. })
    ));
    driver.solver = Solver::Additive;
    assert_eq!(fit(&driver, None, &options), Err(FitError::Additive));
    driver.solver = Solver::Interpolative;
    driver.poses.truncate(2);
    assert_eq!(
        fit(&driver, None, &options),
        Err(FitError::TooFew { found: 2 })
    );
}
