//! Distances and angles against closed forms.

use super::published::about;
use crate::pose_driver::metric::Form;
use crate::pose_driver::*;
use sinew_geom::nalgebra::{Quaternion, Unit};
use sinew_geom::{EulerOrder, Quat, Vec3};
use std::f64::consts::PI;

fn between(metric: Metric, a: Quat<f64>, b: Quat<f64>) -> f64 {
    let x = Vec3::x();
    let of = |q| metric.coordinates(&DriverValue::rotation(q), &x);
    metric.form().distance(&of(a), &of(b))
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-12,
        "{found}, expected {expected}"
    );
}

#[test]
fn arcs_at_all_angles() {
    let start = about([0.3, -0.5, 0.8], 77.0);
    for degrees in [
        0.0_f64,
        1e-9,
        1e-5,
        0.1,
        30.0,
        90.0,
        179.0,
        179.999_999,
        180.0,
    ] {
        let q = start * about([0.6, 0.0, -0.8], degrees);
        let angle = degrees.to_radians();
        for q in [q, Unit::new_unchecked(-q.into_inner())] {
            assert_close(between(Metric::Arc, start, q), angle);
            assert_close(between(Metric::Chord, start, q), 2.0 * (angle / 2.0).sin());
        }
    }
}

#[test]
fn identical_poses_are_zero_apart() {
    // Rounding makes the squared dot product of this one with itself greater than 1: acos of that is no number.
    let q = about(
        [
            0.267_261_241_912_424_4,
            0.534_522_483_824_848_8,
            0.801_783_725_737_273_2,
        ],
        100.0,
    );
    for metric in [
        Metric::Arc,
        Metric::Swing,
        Metric::Direction,
        Metric::Twist,
        Metric::Chord,
    ] {
        assert_close(between(metric, q, q), 0.0);
    }
    assert_eq!(
        Form::PsdJsonArc.distance(&[0.0, 0.0, 0.0, 1.1], &[0.0, 0.0, 0.0, 1.0]),
        0.0
    );
}

#[test]
fn swing_and_twist_are_taken_apart() {
    let axis = Vec3::new(1.0, 2.0, -2.0) / 3.0;
    let across = axis.cross(&Vec3::z()).normalize();
    for (swing, twist) in [
        (0.0, 0.0),
        (50.0, 120.0),
        (-100.0, 170.0),
        (179.0, -60.0),
        (30.0, 180.0),
    ] {
        let s = Quat::from_scaled_axis(across * f64::to_radians(swing));
        let t = Quat::from_scaled_axis(axis * f64::to_radians(twist));
        for q in [s * t, Unit::new_unchecked(-(s * t).into_inner())] {
            let parts = SwingTwist::of(&q, &axis);
            assert!(
                parts.swing.angle_to(&s) < 1e-12,
                "swing of {swing}, {twist}"
            );
            assert!(
                parts.twist.angle_to(&t) < 1e-12,
                "twist of {swing}, {twist}"
            );
            assert_close(parts.twist_angle, f64::to_radians(twist));
            assert_close(parts.swing.norm(), 1.0);
        }
    }
}

#[test]
fn half_turn_swings_have_no_twist() {
    let q = about([0.0, 1.0, 0.0], 180.0);
    let parts = SwingTwist::of(&q, &Vec3::x());
    assert_close(parts.twist_angle, 0.0);
    assert!(parts.swing.angle_to(&q) < 1e-12);
}

/// The swing is the shortest turn that brings the axis where the rotation brings it.
#[test]
fn swings_about_any_axis_are_shortest_turns() {
    let axes = [[0.0, 0.0, 1.0], [0.48, -0.6, 0.64], [-1.0, 0.0, 0.0]].map(Vec3::from);
    let rotations = [
        about([0.3, -0.5, 0.8], 77.0),
        about([-0.9, 0.1, 0.4], 160.0),
        about([0.2, 0.7, -0.1], -130.0),
        about([0.0, 0.6, 0.8], 12.0),
    ];
    for axis in axes {
        let shortest =
            |q: &Quat<f64>| Quat::rotation_between(&axis, &(q * axis)).expect("not opposite");
        for (i, a) in rotations.iter().enumerate() {
            for b in &rotations[..i] {
                let of =
                    |q: &Quat<f64>| Metric::Swing.coordinates(&DriverValue::rotation(*q), &axis);
                let found = Metric::Swing.form().distance(&of(a), &of(b));
                assert_close(found, shortest(a).angle_to(&shortest(b)));
            }
        }
    }
}

/// Next to half a turn of swing there is next to nothing of a twist left: none is taken out.
#[test]
fn swings_next_to_half_a_turn_are_whole() {
    let axis = Vec3::x();
    for tiny in [0.0, 1e-12, 3e-10] {
        let q = Unit::new_normalize(Quaternion::new(tiny, 2.0 * tiny, 0.6, 0.8));
        let found = Metric::Swing.coordinates(&DriverValue::rotation(q), &axis);
        let expected: [f64; 4] = q.coords.into();
        for (f, e) in found.into_iter().zip(expected) {
            assert_close(f, e);
        }
    }
}

/// Half a turn is +180 degrees to either side of either axis.
#[test]
fn twists_of_half_a_turn_are_positive() {
    for axis in [Vec3::x(), -Vec3::x()] {
        for q in [
            about([1.0, 0.0, 0.0], 180.0),
            about([1.0, 0.0, 0.0], -180.0),
        ] {
            let q = Unit::new_unchecked(Quaternion::new(0.0, q.i, q.j, q.k));
            assert_close(SwingTwist::of(&q, &axis).twist_angle, PI);
        }
    }
}

#[test]
fn directions_and_swings_differ() {
    // Swings of 60 degrees about y and about z: the axis points to places that are acos(cos² 60°) apart.
    let a = about([0.0, 1.0, 0.0], 60.0);
    let b = about([0.0, 0.0, 1.0], 60.0);
    assert_close(between(Metric::Direction, a, b), 0.25_f64.acos());
    let half = (PI / 6.0).cos();
    assert_close(between(Metric::Swing, a, b), 2.0 * (half * half).acos());
    // On one great circle they agree, whatever the twist.
    let c = about([0.0, 1.0, 0.0], 150.0) * about([1.0, 0.0, 0.0], 70.0);
    assert_close(between(Metric::Direction, a, c), PI / 2.0);
    assert_close(between(Metric::Swing, a, c), PI / 2.0);
}

#[test]
fn twists_do_not_wrap_but_their_chords_do() {
    let [a, b] = [170.0, -170.0].map(|d| about([1.0, 0.0, 0.0], d));
    assert_close(between(Metric::Twist, a, b), f64::to_radians(340.0));
    assert_close(
        between(Metric::TwistChord, a, b),
        2.0 * f64::to_radians(10.0).sin(),
    );
}

#[test]
fn euler_angles_are_points() {
    let order = EulerOrder::Zxy;
    let [a, b] = [[0.1, -0.4, 2.0], [0.3, 0.2, -3.0]];
    let apart = (0.04_f64 + 0.36 + 25.0).sqrt();
    let metric = Metric::EulerTriples(order);
    assert_close(between(metric, order.rotation(a), order.rotation(b)), apart);
}

/// The least distance between two triples, by trying all that give the second rotation: both triples, and full turns of each angle.
fn least(order: EulerOrder, a: [f64; 3], b: [f64; 3]) -> f64 {
    let name = format!("{order:?}").to_lowercase();
    let second = "xyz".find(&name[1..2]).expect("an axis");
    let other: [f64; 3] = std::array::from_fn(|axis| {
        if axis == second {
            PI - b[axis]
        } else {
            b[axis] + PI
        }
    });
    let mut best = f64::INFINITY;
    for triple in [b, other] {
        for turns in 0..343 {
            let turn = |axis: u32| f64::from(turns / 7_i32.pow(axis) % 7 - 3) * 2.0 * PI;
            let square = (0..3_u32).map(|axis| {
                let index = axis as usize;
                (a[index] - triple[index] - turn(axis)).powi(2)
            });
            best = best.min(square.sum::<f64>());
        }
    }
    best.sqrt()
}

#[test]
fn euler_distances_are_the_least_of_all_triples_in_every_order() {
    let triples = [
        [0.0, 0.0, 0.0],
        [0.1, -0.4, 2.0],
        [0.3, 2.2, -3.0],
        [-2.8, 1.1, 3.1],
        [5.0, -2.0, 0.7],
    ];
    for order in EulerOrder::ALL {
        for a in triples {
            for b in triples {
                let found = between(Metric::Euler(order), order.rotation(a), order.rotation(b));
                let expected = least(order, a, b);
                assert!(
                    (found - expected).abs() < 1e-9,
                    "{order:?} {a:?} {b:?}: {found}, expected {expected}"
                );
            }
        }
    }
}

/// Poses at 0 and 120 degrees about y, as their author typed them. A rotation about y has the distances of its angle, on both sides of 90
/// degrees, where the triple with the second angle within a quarter turn is another one: (180, 60, 180) for 120.
#[test]
fn euler_distances_about_one_axis_are_its_angles() {
    let metric = Metric::Euler(EulerOrder::Xyz);
    let y = |degrees: f64| about([0.0, 1.0, 0.0], degrees);
    for degrees in [
        0.0, 30.0, 60.0, 87.0, 89.999, 90.0, 93.0, 105.0, 135.0, 150.0,
    ] {
        for pose in [0.0_f64, 120.0] {
            let expected = (degrees - pose).abs().to_radians();
            let found = between(metric, y(degrees), y(pose));
            assert!(
                (found - expected).abs() < 1e-7,
                "{degrees} from {pose}: {}, expected {}",
                found.to_degrees(),
                expected.to_degrees()
            );
        }
    }
}
