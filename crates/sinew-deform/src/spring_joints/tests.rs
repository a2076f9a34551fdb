use super::SpringJoints;
use super::follower::JointFollower;
use crate::spring::follower::{Follower, Step};
use sinew_geom::{Affine, LocalTransform, Node, Quat, Rig, Trs, Vec3};
use std::f64::consts::TAU;
use std::sync::Arc;

fn close(found: Vec3<f64>, expected: Vec3<f64>, what: &str) {
    assert!(
        (found - expected).norm() < 1e-9,
        "{what}: {found:?}, expected {expected:?}"
    );
}

/// Behind a target that turns and moves evenly it stays by `2 damping / omega` seconds, as the equation says.
#[test]
fn an_even_motion_is_followed_late_by_the_lag() {
    let axis = Vec3::new(1.0, -2.0, 2.0) / 3.0;
    let (speed, spin) = (Vec3::new(0.5, -1.0, 2.0), 3.0);
    let at = |t: f64| {
        Affine::from_trs(
            speed * t,
            Quat::from_scaled_axis(axis * (spin * t)),
            Vec3::new(2.0, 1.0, 0.5),
        )
    };
    for damping in [0.4, 1.0] {
        let step = Step::new(2.0, damping, 1.0 / 50.0);
        let mut follower = JointFollower::at_rest(&at(0.0));
        for frame in 1..=1000 {
            follower.follow(&at(f64::from(frame) / 50.0), &step);
        }
        let lag = 2.0 * damping / (TAU * 2.0);
        close(follower.position(), speed * (20.0 - lag), "position");
        close(follower.turn().scaled_axis(), axis * (-spin * lag), "turn");
    }
}

/// A target that turns about one axis: the angle is a number that follows.
#[test]
fn a_turn_about_an_axis_is_a_number_that_follows() {
    let step = Step::new(1.3, 0.2, 1.0 / 24.0);
    let mut number = Follower::at_rest(0.0);
    let of = |angle: f64| {
        Affine::from_trs(
            Vec3::zeros(),
            Quat::from_scaled_axis(Vec3::y() * angle),
            Vec3::repeat(1.0),
        )
    };
    let mut follower = JointFollower::at_rest(&of(0.0));
    for frame in 0..200 {
        let angle = (0.31 * f64::from(frame)).sin();
        number.follow(angle, &step);
        follower.follow(&of(angle), &step);
        close(
            follower.turn().scaled_axis(),
            Vec3::y() * (number.place - angle),
            "turn",
        );
    }
}

/// A root, a sheared arm on it, a hand on that.
fn rig() -> Rig {
    let local = |x: f64, angle: f64, scale: [f64; 3]| {
        LocalTransform::Trs(Trs {
            translation: Vec3::new(x, 0.1, 0.0),
            rotation: Quat::from_scaled_axis(Vec3::z() * angle),
            scale: scale.into(),
        })
    };
    let node = |name: &str, parent, local| Node {
        name: name.into(),
        parent,
        local,
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let nodes = vec![
        node("root", None, local(1.0, 0.4, [1.0, 2.0, 1.0])),
        node("arm", Some(0), local(0.5, -0.7, [1.0, 1.0, 3.0])),
        node("hand", Some(1), local(0.25, 0.2, [1.0; 3])),
    ];
    Rig::new(nodes, Vec::new()).expect("rig")
}

#[test]
fn joints_are_where_their_followers_are_and_children_hang_on_them() {
    let rig = Arc::new(rig());
    let at_rest = rig.rest_pose();
    let mut input = rig.rest_pose();
    if let LocalTransform::Trs(root) = &mut input.locals[0] {
        root.rotation = Quat::from_scaled_axis(Vec3::new(0.3, 1.0, -0.5));
        root.translation = Vec3::new(4.0, 5.0, 6.0);
    }
    rig.finish(&mut input);
    for (rotates, moves) in [(true, true), (true, false), (false, true)] {
        let node = SpringJoints {
            rig: rig.clone(),
            joints: vec![1],
            rotates,
            moves,
        };
        let mut follower = JointFollower::at_rest(&at_rest.scene_from_node[1]);
        follower.follow(&input.scene_from_node[1], &Step::new(1.0, 0.5, 0.05));
        let mut output = rig.rest_pose();
        node.place(&[follower], &input, &mut output);
        let (found, animated) = (output.scene_from_node[1], input.scene_from_node[1]);
        let position = if moves {
            follower.position()
        } else {
            animated.translation
        };
        close(found.translation, position, "position");
        let turn = follower.turn().to_rotation_matrix().into_inner();
        let linear = if rotates {
            turn * animated.linear
        } else {
            animated.linear
        };
        assert!((found.linear - linear).norm() < 1e-9, "{found:?}");
        let hand = found * input.locals[2].to_affine();
        close(
            output.scene_from_node[2].translation,
            hand.translation,
            "hand",
        );
        assert_eq!(output.scene_from_node[0], input.scene_from_node[0]);
    }
}

#[test]
fn state_that_is_wrong_is_refused() {
    let follower = JointFollower::at_rest(&Affine::from_trs(
        Vec3::new(1.0, 2.0, 3.0),
        Quat::from_scaled_axis(Vec3::x()),
        Vec3::repeat(1.0),
    ));
    let mut numbers = [0.0; super::NUMBERS];
    for (to, from) in numbers.iter_mut().zip(follower.numbers()) {
        *to = from;
    }
    let read = JointFollower::read(numbers).expect("good");
    close(read.position(), follower.position(), "position");
    let with = |index: usize, value: f64| {
        let mut numbers = numbers;
        numbers[index] = value;
        JointFollower::read(numbers)
    };
    for index in 0..super::NUMBERS {
        assert!(
            with(index, f64::NAN).is_none() && with(index, f64::INFINITY).is_none(),
            "{index}"
        );
    }
    let mut flat = numbers;
    flat[9..13].fill(0.0);
    assert!(JointFollower::read(flat).is_none());
}
