//! Looking at a bound driver, and the words of documents.

use super::published::{about, ask_bound, assert_near};
use crate::pose_driver::*;

fn driver(solver: Solver) -> PoseDriver {
    let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.6, 0.8]];
    let degrees = [0.0, 40.0, 75.0];
    let poses = axes.iter().zip(degrees).map(|(axis, degrees)| {
        let value = DriverValue::rotation(about(*axis, degrees));
        DriverPose::new(format!("{degrees}"), vec![value])
    });
    PoseDriver {
        poses: poses.collect(),
        solver,
        clamp: Clamp::Unit,
        ..PoseDriver::default()
    }
}

#[test]
fn what_is_shown_is_what_the_job_computes() {
    let query = [DriverValue::rotation(about([0.3, -0.8, 0.2], 33.0))];
    for kind in [Solver::Interpolative, Solver::Additive] {
        let driver = driver(kind);
        let bind = PoseDriverBind::new(&driver).expect("can be solved");
        assert_near(&bind.weights(&query), &ask_bound(&bind, &query), 1e-7);
        let many = [query.to_vec(), driver.poses[1].values.clone()];
        let one_by_one = many.iter().map(|q| bind.unlimited_weights(q));
        let one_by_one: Vec<f64> = one_by_one.flatten().collect();
        assert_near(&bind.unlimited_weights_of_many(&many), &one_by_one, 1e-10);
        let odd = [query.to_vec(), Vec::new()];
        assert!(bind.unlimited_weights_of_many(&odd).is_empty());
        assert!(bind.weights(&[]).is_empty() && bind.distances(&[]).is_empty());
        // Distances of a pose: 0 from itself, 2 sin(θ/2) from the first.
        let chord = 2.0 * 20_f64.to_radians().sin();
        let distances = bind.distances(&driver.poses[1].values);
        assert_near(&distances[..2], &[chord, 0.0], 1e-12);
        let influence = (-(chord / bind.widths()[0]).powi(2)).exp();
        let influences = bind.influences(&driver.poses[1].values);
        assert_near(&influences[..2], &[influence, 1.0], 1e-12);
    }
}

#[test]
fn coefficients_are_the_inverse_of_the_influences() {
    let driver = driver(Solver::Interpolative);
    let bind = PoseDriverBind::new(&driver).expect("can be solved");
    for (at, pose) in driver.poses.iter().enumerate() {
        let influences = bind.influences(&pose.values);
        for weight in 0..3 {
            let parts = influences.iter().enumerate();
            let sum: f64 = parts
                .map(|(i, v)| v * bind.coefficient(weight, i).expect("solved"))
                .sum();
            assert_near(&[sum], &[f64::from(u8::from(weight == at))], 1e-12);
        }
    }
    assert_eq!(bind.coefficient(0, 3), None);
    let bind = PoseDriverBind::new(&self::driver(Solver::Additive)).expect("nothing to solve");
    assert_eq!(bind.coefficient(0, 0), None);
}
