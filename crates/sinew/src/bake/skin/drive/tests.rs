//! Known functions of poses, found again by poses and a width.

use super::*;
use crate::geom::Quat;

fn turned(degrees: f64) -> DriverValue {
    DriverValue::rotation(Quat::from_euler_angles(0.0, 0.0, degrees.to_radians()))
}

/// Samples of a function of some angles, one a joint.
fn table(angles: &[Vec<f64>], of: impl Fn(&[f64]) -> f64) -> Table {
    Table {
        values: angles
            .iter()
            .map(|a| a.iter().map(|d| turned(*d)).collect())
            .collect(),
        rows: angles.iter().map(|a| vec![of(a)]).collect(),
        rest: vec![turned(0.0); angles[0].len()],
    }
}

/// What the poses say of all samples.
fn shown(table: &Table, knots: &Knots) -> Vec<f64> {
    let bind = PoseDriverBind::new(&driver_of(&knots.values, knots.width)).expect("solved");
    let mut scratch = PoseDriverScratch::new(&bind);
    let mut weights = vec![0.0; knots.samples.len()];
    let mut of = |values: &Vec<DriverValue>| {
        PoseDriverJob {
            bind: &bind,
            values,
            scratch: &mut scratch,
            weights: &mut weights,
        }
        .run();
        let parts = knots.samples.iter().zip(&weights);
        parts
            .map(|(k, w)| k.map_or(0.0, |k| table.rows[k][0]) * f64::from(*w))
            .sum()
    };
    table.values.iter().map(&mut of).collect()
}

/// A corrective of an elbow, sin²(angle / 2) of the bend: 0 at rest, half at a right angle. Made from every fourth degree, measured at all of them.
#[test]
fn a_known_function_of_a_joint_is_exact_at_poses_and_near_between() {
    let angles: Vec<Vec<f64>> = (0..=140).map(|d| vec![f64::from(d)]).collect();
    let table = table(&angles, |a| (a[0].to_radians() / 2.0).sin().powi(2));
    let training: Vec<usize> = (0..=140).step_by(4).collect();
    let knots = knots_of(&table, &training, 16, 1e-6, &|| false).expect("poses");
    let shown = shown(&table, &knots);
    let truth = |s: usize| table.rows[s][0];
    for k in knots.samples.iter().flatten() {
        assert!(training.contains(k), "poses are samples that are fitted");
        let off = (shown[*k] - truth(*k)).abs();
        assert!(off < 1e-5, "pose at {k} degrees: off by {off:e}");
    }
    let most = |all: &[usize]| {
        all.iter()
            .map(|&s| (shown[s] - truth(s)).abs())
            .fold(0.0, f64::max)
    };
    let between: Vec<usize> = (0..=140).filter(|d| d % 4 != 0).collect();
    println!(
        "{} poses, width {}: {:e} at samples, {:e} between",
        knots.samples.len(),
        knots.width,
        most(&training),
        most(&between)
    );
    assert!(
        most(&training) <= 1e-3,
        "within the tolerance: {:e}",
        most(&training)
    );
    assert!(most(&between) < 2e-3, "between: {:e}", most(&between));
}

/// A function of two joints that no sum of functions of one gives.
#[test]
fn a_product_of_two_joints_is_found() {
    let grid = |step: usize| (0..=80).step_by(step);
    let angles: Vec<Vec<f64>> = grid(5)
        .flat_map(|a| grid(5).map(move |b| vec![a as f64, b as f64]))
        .collect();
    let table = table(&angles, |a| {
        a[0].to_radians().sin() * a[1].to_radians().sin()
    });
    let is_trained = |s: &usize| angles[*s].iter().all(|d| d % 10.0 == 0.0);
    let (training, others): (Vec<usize>, Vec<usize>) = (0..angles.len()).partition(is_trained);
    let knots = knots_of(&table, &training, 40, 1e-4, &|| false).expect("poses");
    let shown = shown(&table, &knots);
    let off = |s: &usize| (shown[*s] - table.rows[*s][0]).abs();
    let most = others.iter().map(off).fold(0.0, f64::max);
    println!("{} poses: {most:e} between", knots.samples.len());
    assert!(most < 0.03, "{most:e}");
}

/// Asked once a pose: what was begun ends with as many as there were.
#[test]
fn stopped_work_seeks_no_more_poses() {
    let angles: Vec<Vec<f64>> = (0..=140).map(|d| vec![f64::from(d)]).collect();
    let table = table(&angles, |a| (a[0].to_radians() / 2.0).sin().powi(2));
    let all: Vec<usize> = (0..=140).collect();
    assert!(knots_of(&table, &all, 16, 1e-12, &|| true).is_none());
    let asked = std::cell::Cell::new(0);
    let third = || {
        asked.set(asked.get() + 1);
        asked.get() == 3
    };
    let knots = knots_of(&table, &all, 16, 1e-12, &third).expect("poses");
    assert_eq!(knots.samples.len(), 3, "the rest pose and two");
}

#[test]
fn what_needs_no_pose_gets_none_and_samples_that_agree_are_one() {
    let angles: Vec<Vec<f64>> = (0..20).map(|d| vec![f64::from(d)]).collect();
    let all: Vec<usize> = (0..20).collect();
    let still = table(&angles, |_| 1e-4);
    assert!(knots_of(&still, &all, 16, 1e-6, &|| false).is_none());
    // The same pose with other numbers, as a jiggle has them: one of them, and no fault.
    let same = table(&[vec![30.0], vec![30.0], vec![30.0]], |a| a[0]);
    let knots = knots_of(&same, &[0, 1, 2], 16, 1e-6, &|| false).expect("poses");
    assert_eq!(knots.samples, [None, Some(0)]);
    assert!(
        knots_of(&same, &[], 16, 1e-6, &|| false).is_none(),
        "nothing known"
    );
}
