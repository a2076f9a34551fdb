use super::{BoundJointTransform, Measures};
use crate::pose_driver::{Joints, Space, rest_of};
use sinew_geom::{EulerOrder, LocalTransform, Node, Pose, Quat, Rig, Trs, Vec3};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_3};

fn trs(translation: [f64; 3], rotation: Quat<f64>, scale: f64) -> LocalTransform {
    LocalTransform::Trs(Trs {
        translation: translation.into(),
        rotation,
        scale: Vec3::repeat(scale),
    })
}

fn turn(axis: [f64; 3], angle: f64) -> Quat<f64> {
    Quat::from_scaled_axis(Vec3::from(axis).normalize() * angle)
}

/// A root that is turned and twice as large, an upper arm on it, and a hand half a metre along x of the arm.
fn rig() -> Rig {
    let node = |name: &str, parent, local| Node {
        name: name.into(),
        parent,
        local,
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let nodes = vec![
        node(
            "root",
            None,
            trs([1.0, 2.0, 3.0], turn([0.0, 1.0, 0.0], FRAC_PI_2), 2.0),
        ),
        node(
            "arm",
            Some(0),
            trs([0.0, 1.0, 0.0], turn([0.0, 0.0, 1.0], 0.3), 1.0),
        ),
        node("hand", Some(1), trs([0.5, 0.0, 0.0], Quat::identity(), 1.0)),
    ];
    Rig::new(nodes, Vec::new()).expect("rig")
}

fn measured(rig: &Rig, pose: &Pose, joint: usize, space: Space, target: usize) -> Measures {
    let mut bound = BoundJointTransform {
        joint: Some(Joints {
            nodes: vec![joint],
            space,
        }),
        target: Some(target),
        axis: Vec3::x(),
        order: EulerOrder::Xyz,
        rest_distance: 0.0,
    };
    bound.rest_distance = bound.measure(&rig.rest_pose()).distance;
    bound.measure(pose)
}

fn posed(rig: &Rig, node: usize, local: LocalTransform) -> Pose {
    let mut pose = rig.rest_pose();
    pose.locals[node] = local;
    rig.finish(&mut pose);
    pose
}

fn close(found: &[f64], expected: &[f64]) {
    let far = found
        .iter()
        .zip(expected)
        .any(|(a, b)| (a - b).abs() > 1e-9);
    assert!(
        !far && found.len() == expected.len(),
        "{found:?}, expected {expected:?}"
    );
}

#[test]
fn nothing_has_moved_at_rest() {
    let rig = rig();
    let m = measured(
        &rig,
        &rig.rest_pose(),
        1,
        Space::Rest(vec![rest_of(&rig, 1)]),
        2,
    );
    close(&m.rotation, &[0.0; 3]);
    close(&m.translation, &[0.0; 3]);
    close(
        &[m.angle, m.twist, m.swing, m.stretch],
        &[0.0, 0.0, 0.0, 1.0],
    );
    // Half a metre of the arm, which is twice as large in the scene.
    close(&[m.distance], &[1.0]);
    close(&m.aim, &[1.0, 0.0, 0.0]);
}

/// A twist about x, and after it a swing about an axis across x.
#[test]
fn twist_and_swing_are_those_that_were_put_in() {
    let rig = rig();
    let (swing, twist) = (turn([0.0, 0.6, 0.8], 0.7), turn([1.0, 0.0, 0.0], -2.9));
    let rest = rest_of(&rig, 1);
    let now = trs([0.0, 1.5, 0.0], rest.rotation * swing * twist, 1.0);
    let pose = posed(&rig, 1, now);
    let m = measured(&rig, &pose, 1, Space::Rest(vec![rest]), 0);
    close(&[m.twist, m.swing], &[-2.9, 0.7]);
    // cos(angle / 2) of a swing and a twist about axes at right angles is the product of their cosines.
    close(
        &[m.angle],
        &[2.0 * ((0.35_f64).cos() * (1.45_f64).cos()).acos()],
    );
    // Up by half a metre in the parent; the joint's own axes are turned by 0.3 about z.
    close(
        &m.translation,
        &[0.5 * (0.3_f64).sin(), 0.5 * (0.3_f64).cos(), 0.0],
    );
    // The arm is 1.5 m above the root instead of 1 m, in a root of size 2.
    close(&[m.distance, m.stretch], &[3.0, 1.5]);
}

#[test]
fn angles_come_in_the_order_and_space_asked_for() {
    let rig = rig();
    let pose = posed(
        &rig,
        1,
        trs(
            [0.0, 1.0, 0.0],
            EulerOrder::Xyz.rotation([0.2, -0.4, 1.1]),
            1.0,
        ),
    );
    let parent = measured(&rig, &pose, 1, Space::Parent, 0);
    close(&parent.rotation, &[0.2, -0.4, 1.1]);
    close(&parent.translation, &[0.0, 1.0, 0.0]);
    let scene = measured(&rig, &pose, 0, Space::Scene, 1);
    close(&scene.rotation, &[0.0, FRAC_PI_2, 0.0]);
    close(&scene.translation, &[1.0, 2.0, 3.0]);
    // The hand seen from the root: through the arm.
    let hand = measured(&rig, &pose, 2, Space::Node(0), 1);
    close(&hand.rotation, &[0.2, -0.4, 1.1]);
    let along = EulerOrder::Xyz.rotation([0.2, -0.4, 1.1]) * Vec3::new(0.5, 0.0, 0.0);
    close(&hand.translation, (along + Vec3::y()).as_slice());
}

/// The direction is seen from the joint as it is now.
#[test]
fn aim_turns_against_the_joint() {
    let rig = rig();
    let rest = rest_of(&rig, 1);
    let pose = posed(
        &rig,
        1,
        trs([0.0, 1.0, 0.0], turn([0.0, 0.0, 1.0], FRAC_PI_3), 1.0),
    );
    let m = measured(&rig, &pose, 1, Space::Rest(vec![rest]), 0);
    // The root is straight below.
    close(&m.aim, &[-FRAC_PI_3.sin(), -FRAC_PI_3.cos(), 0.0]);
    let same = measured(&rig, &pose, 1, Space::Parent, 1);
    close(&same.aim, &[0.0; 3]);
    close(&[same.distance, same.stretch], &[0.0, 1.0]);
}
