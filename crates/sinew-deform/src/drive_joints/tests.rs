use super::follower::swing_twist;
use super::*;
use sinew_geom::nalgebra::Quaternion;
use sinew_geom::{Affine, Joint, Node, PackedAffine, Quat, Rig, Trs, Vec3};
use std::f64::consts::PI;

const IDENTITY: [f64; 3] = [0.0; 3];

fn trs(translation: [f64; 3], rotation: Quat<f64>, scale: [f64; 3]) -> Trs {
    Trs {
        translation: translation.into(),
        rotation,
        scale: scale.into(),
    }
}

fn turned(vector: [f64; 3]) -> Quat<f64> {
    Quat::from_scaled_axis(Vec3::from(vector))
}

fn turn(vector: [f64; 3]) -> Trs {
    trs([0.0; 3], turned(vector), [1.0; 3])
}

fn affine(t: &Trs) -> Affine<f64> {
    Affine::from_trs(t.translation, t.rotation, t.scale)
}

/// Nodes by name, parent and rest; all are joints, bound away from where they rest.
fn rig(nodes: &[(&str, Option<usize>, Trs)]) -> Rig {
    let node = |(name, parent, local): &(&str, Option<usize>, Trs)| Node {
        name: (*name).into(),
        parent: *parent,
        local: LocalTransform::Trs(*local),
        morph_weights: vec![0.25],
        morph_offset: 0,
    };
    let joint = |node| Joint {
        node,
        joint_from_bind: affine(&trs(
            [0.0, -1.0, node as f64],
            turned([0.1, 0.2, 0.3]),
            [1.0; 3],
        )),
    };
    let joints = (0..nodes.len()).map(joint).collect();
    Rig::new(nodes.iter().map(node).collect(), joints).expect("a rig")
}

fn arm() -> Rig {
    let away = |x| trs([x, 0.1, 0.0], turned([0.3, -0.2, 0.5]), [1.0, 1.5, 1.0]);
    rig(&[
        ("upper", None, away(1.0)),
        ("lower", Some(0), away(2.0)),
        ("helper", Some(0), away(1.5)),
        ("tip", Some(2), turn(IDENTITY)),
    ])
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|&n| n.to_owned()).collect()
}

fn bind(
    rig: &Rig,
    config: &DriveJointsConfig<'_>,
    count: usize,
) -> Result<DriveJointsBind, DriveJointsError> {
    DriveJointsBind::new(rig, config, count)
}

/// The pose behind the node, where the incoming one is at rest but for `change`.
fn run(
    rig: &Rig,
    config: &DriveJointsConfig<'_>,
    weights: &[f32],
    change: impl Fn(&mut Pose),
) -> Pose {
    let bind = bind(rig, config, weights.len()).unwrap_or_else(|e| panic!("{e}"));
    let mut input = rig.rest_pose();
    change(&mut input);
    rig.finish(&mut input);
    let mut output = rig.rest_pose();
    DriveJointsJob {
        bind: &bind,
        weights,
        input: &input,
        output: &mut output,
    }
    .run();
    output
}

fn local(pose: &Pose, node: usize) -> Trs {
    match pose.locals[node] {
        LocalTransform::Trs(trs) => trs,
        LocalTransform::Matrix(m) => panic!("{m:?} is a matrix"),
    }
}

fn apart(a: &Affine<f64>, b: &Affine<f64>) -> f64 {
    (a.linear - b.linear).norm() + (a.translation - b.translation).norm()
}

/// As transforms: quaternions of either sign are one rotation.
fn assert_same(found: &Trs, expected: &Trs, within: f64, what: &str) {
    let distance = apart(&affine(found), &affine(expected));
    assert!(
        distance < within,
        "{what}: {found:?}, expected {expected:?}, {distance:e} apart"
    );
}

fn three_poses() -> [Trs; 3] {
    [
        trs([0.0, 1.0, 2.0], turned([0.0, 1.2, 0.0]), [1.0, 2.0, 3.0]),
        trs([-4.0, 0.0, 0.5], turned([0.4, -2.0, 1.0]), [0.5, 1.0, 1.0]),
        trs([1.5, 0.1, 0.0], turned([-3.0, 0.1, 0.2]), [1.0, 1.5, 1.0]),
    ]
}

const BOTH: [RotationBlend; 2] = [RotationBlend::Log, RotationBlend::Nlerp];

/// A configuration that drives `helper` alone.
fn helper<'a>(
    joints: &'a [String],
    poses: &'a [Affine<f64>],
    neutral: &'a [Affine<f64>],
    rotation: RotationBlend,
) -> DriveJointsConfig<'a> {
    let pose = |joints| JointPose { name: "p", joints };
    DriveJointsConfig {
        joints,
        poses: poses.chunks(1).map(pose).collect(),
        neutral,
        rotation,
        space: JointSpace::Parent,
        ..DriveJointsConfig::default()
    }
}

#[test]
fn row_130_one_weight_gives_its_pose_and_none_gives_neutral() {
    let (rig, joints) = (arm(), texts(&["helper"]));
    let poses = three_poses();
    let matrices = poses.map(|p| affine(&p));
    let given = trs([9.0, 8.0, 7.0], turned([1.0, 1.0, 0.0]), [2.0; 3]);
    let LocalTransform::Trs(rest) = rig.nodes()[2].local else {
        panic!("the helper moves")
    };
    for rotation in BOTH {
        for (neutral, expected) in [(vec![], rest), (vec![affine(&given)], given)] {
            let config = helper(&joints, &matrices, &neutral, rotation);
            for (i, pose) in poses.iter().enumerate() {
                let mut weights = [0.0_f32; 3];
                weights[i] = 1.0;
                // Whatever the incoming pose says of the helper.
                let out = run(&rig, &config, &weights, |p| {
                    p.locals[2] = LocalTransform::Trs(turn([0.5, 0.5, 0.5]));
                });
                assert_same(&local(&out, 2), pose, 1e-12, &format!("{rotation:?} {i}"));
            }
            let out = run(&rig, &config, &[0.0; 3], |_| {});
            assert_same(&local(&out, 2), &expected, 1e-12, "neutral");
        }
    }
}

#[test]
fn half_way_is_half_of_each_channel() {
    let (rig, joints) = (arm(), texts(&["helper"]));
    let neutral = trs([1.0, 2.0, 3.0], turned([0.0, 0.3, 0.0]), [1.0, 2.0, 1.0]);
    let pose = trs([3.0, 0.0, 3.0], turned([0.0, 1.5, 0.0]), [2.0, 1.0, 1.0]);
    let (poses, neutrals) = ([affine(&pose)], [affine(&neutral)]);
    let blended = |w, rotation| {
        let config = helper(&joints, &poses, &neutrals, rotation);
        local(&run(&rig, &config, &[w], |_| {}), 2)
    };
    let half = trs([2.0, 1.0, 3.0], turned([0.0, 0.9, 0.0]), [1.5, 1.5, 1.0]);
    for rotation in BOTH {
        // Half way both are in the middle of the arc.
        assert_same(&blended(0.5, rotation), &half, 1e-12, "half");
    }
    let quarter = turned([0.0, 0.3 + 0.25 * 1.2, 0.0]);
    assert!(
        blended(0.25, RotationBlend::Log)
            .rotation
            .angle_to(&quarter)
            < 1e-12
    );
    // The chord of the arc of 0.6 (half the angle between) divided at a quarter.
    let chord = (0.25 * 0.6_f64.sin()).atan2(0.75 + 0.25 * 0.6_f64.cos()) * 2.0;
    let quarter = turned([0.0, 0.3 + chord, 0.0]);
    assert!(
        blended(0.25, RotationBlend::Nlerp)
            .rotation
            .angle_to(&quarter)
            < 1e-12
    );
    // Twice the pose is twice as far.
    let twice = turned([0.0, 0.3 + 2.4, 0.0]);
    assert!(blended(2.0, RotationBlend::Log).rotation.angle_to(&twice) < 1e-12);
}

/// Quaternions of matrices take sides: those of -1.0 and -3.5 radians lie apart, and half way is -2.25, not the long way round.
#[test]
fn both_signs_of_a_quaternion_are_one_rotation() {
    let (rig, joints) = (arm(), texts(&["helper"]));
    let poses = [affine(&turn([0.0, -3.5, 0.0]))];
    let neutral = [affine(&turn([0.0, -1.0, 0.0]))];
    for rotation in BOTH {
        let config = helper(&joints, &poses, &neutral, rotation);
        let out = local(&run(&rig, &config, &[0.5], |_| {}), 2);
        assert_same(
            &out,
            &turn([0.0, -2.25, 0.0]),
            1e-12,
            &format!("{rotation:?}"),
        );
    }
}

/// Half of a turn about x and half of one about y: the rotation vectors add up.
#[test]
fn two_poses_add_their_rotation_vectors() {
    let (rig, joints) = (arm(), texts(&["helper"]));
    let poses = [
        affine(&turn([1.0, 0.0, 0.0])),
        affine(&turn([0.0, 0.5, 0.0])),
    ];
    let neutral = [Affine::identity()];
    let config = helper(&joints, &poses, &neutral, RotationBlend::Log);
    let out = local(&run(&rig, &config, &[0.5, 0.5], |_| {}), 2);
    assert!(out.rotation.angle_to(&turned([0.5, 0.25, 0.0])) < 1e-12);
    let config = helper(&joints, &poses, &neutral, RotationBlend::Nlerp);
    let out = local(&run(&rig, &config, &[0.5, 0.5], |_| {}), 2);
    let (a, b) = (turned([1.0, 0.0, 0.0]), turned([0.0, 0.5, 0.0]));
    let sum = Quat::new_normalize(Quaternion::from(a.coords + b.coords));
    assert!(out.rotation.angle_to(&sum) < 1e-12);
}

/// A fixed rotation on either side of neutral and poses comes out as the same fixed rotation.
#[test]
fn row_154_joint_orients_and_rotate_axes_change_nothing() {
    let (rig, joints) = (arm(), texts(&["helper"]));
    let (orient, axis) = (turned([0.7, -1.1, 0.4]), turned([-0.2, 0.9, 2.0]));
    let neutral = turned([0.1, 0.2, 0.3]);
    let poses = three_poses().map(|p| p.rotation);
    let weights = [0.3, 0.45, 0.5];
    for rotation in BOTH {
        let blended = |around: &dyn Fn(Quat<f64>) -> Quat<f64>| {
            let place = |q| affine(&trs([0.0; 3], around(q), [1.0; 3]));
            let (poses, neutral) = (poses.map(place), [place(neutral)]);
            let config = helper(&joints, &poses, &neutral, rotation);
            local(&run(&rig, &config, &weights, |_| {}), 2).rotation
        };
        let plain = blended(&|q| q);
        let found = blended(&|q| orient * q * axis);
        let expected = orient * plain * axis;
        assert!(found.angle_to(&expected) < 1e-12, "{rotation:?}");
    }
}

#[test]
fn half_turns_stay_finite_and_sums_that_vanish_give_neutral() {
    let (rig, joints) = (arm(), texts(&["helper"]));
    let neutral = [affine(&turn([0.2, 0.0, 0.0]))];
    let poses = [
        affine(&turn([0.2 + PI, 0.0, 0.0])),
        affine(&turn([0.2 - PI, 0.0, 0.0])),
    ];
    for rotation in BOTH {
        let config = helper(&joints, &poses, &neutral, rotation);
        for weights in [[0.5, 0.0], [0.0, 0.5], [0.5, 0.5], [1.0, 0.0], [1.0, -1.0]] {
            let out = local(&run(&rig, &config, &weights, |_| {}), 2).rotation;
            assert!(out.coords.iter().all(|c| c.is_finite()), "{weights:?}");
            assert!((out.norm() - 1.0).abs() < 1e-12, "{weights:?}");
        }
    }
    // Both have half of their length along neutral: (1 - 2) n + n / 2 + n / 2 = 0, and their other halves cancel.
    let third = 2.0 / 3.0 * PI;
    let opposite = [0.2 + third, 0.2 - third].map(|x| affine(&turn([x, 0.0, 0.0])));
    let config = helper(&joints, &opposite, &neutral, RotationBlend::Nlerp);
    let out = local(&run(&rig, &config, &[1.0, 1.0], |_| {}), 2);
    assert_same(&out, &turn([0.2, 0.0, 0.0]), 1e-12, "neutral");
}

#[test]
fn everything_else_passes_and_the_palette_is_made_anew() {
    let (rig, joints) = (arm(), texts(&["helper"]));
    let poses = three_poses().map(|p| affine(&p));
    let config = helper(&joints, &poses, &[], RotationBlend::Log);
    let out = run(&rig, &config, &[0.0, 1.0, 0.0], |p| {
        p.locals[0] = LocalTransform::Trs(turn([0.0, 0.0, 1.0]));
        p.morph_weights[3] = 0.75;
    });
    assert_eq!(out.morph_weights, [0.25, 0.25, 0.25, 0.75]);
    // By hand: upper, then the helper in it, then its tip.
    let upper = affine(&turn([0.0, 0.0, 1.0]));
    let scene = upper * poses[1];
    assert!(apart(&out.scene_from_node[2], &scene) < 1e-12);
    assert!(
        apart(&out.scene_from_node[3], &scene) < 1e-12,
        "the tip is at its parent"
    );
    let rest_lower = rig.nodes()[1].local.to_affine();
    assert!(apart(&out.scene_from_node[1], &(upper * rest_lower)) < 1e-12);
    let palette: PackedAffine = (scene * rig.joints()[3].joint_from_bind).into();
    let rows = palette
        .rows
        .as_flattened()
        .iter()
        .zip(out.palette[3].rows.as_flattened());
    assert!(
        rows.into_iter().all(|(a, b)| (a - b).abs() < 1e-6),
        "{palette:?}"
    );
}

/// `hand` turns behind `forearm`, `twist` is its neighbour; frames as given.
fn forearm(hand_rest: Quat<f64>, twist_rest: Quat<f64>) -> Rig {
    let place = |rotation| trs([1.0, 0.0, 0.0], rotation, [1.0; 3]);
    rig(&[
        ("forearm", None, turn([0.3, 0.2, 0.1])),
        ("hand", Some(0), place(hand_rest)),
        ("twist", Some(0), place(twist_rest)),
    ])
}

fn following(twist: f64, swing: f64) -> DriveJointsConfig<'static> {
    DriveJointsConfig {
        followers: vec![Follower {
            joint: "twist",
            source: "hand",
            axis: TwistAxis::X,
            twist,
            swing,
        }],
        space: JointSpace::Parent,
        ..DriveJointsConfig::default()
    }
}

fn with_hand(rig: &Rig, hand: Quat<f64>, config: &DriveJointsConfig<'_>) -> Quat<f64> {
    let out = run(rig, config, &[], |p| {
        if let LocalTransform::Trs(trs) = &mut p.locals[1] {
            trs.rotation = hand;
        }
        // What a clip says of the follower does not count.
        if let LocalTransform::Trs(trs) = &mut p.locals[2] {
            trs.rotation = turned([0.0, 1.0, 1.0]);
        }
    });
    local(&out, 2).rotation
}

/// A hand that is twisted by 100 degrees and swung: the joint half way has 50 degrees and no swing.
#[test]
fn followers_take_half_of_the_twist() {
    let twist = 100_f64.to_radians();
    for rest in [IDENTITY, [0.4, 0.0, 0.0], [0.1, 0.2, 0.7]].map(turned) {
        let rig = forearm(rest, rest);
        let swing = turned([0.0, 0.8, -0.3]);
        let hand = rest * swing * turned([twist, 0.0, 0.0]);
        // q and -q are one rotation.
        let negated = Quat::new_unchecked(-hand.into_inner());
        for hand in [hand, negated] {
            let found = with_hand(&rig, hand, &following(0.5, 0.0));
            let expected = rest * turned([0.5 * twist, 0.0, 0.0]);
            assert!(found.angle_to(&expected) < 1e-9, "{found:?}");
            let found = with_hand(&rig, hand, &following(0.0, 0.5));
            let expected = rest * turned([0.0, 0.4, -0.15]);
            assert!(found.angle_to(&expected) < 1e-9, "{found:?}");
            let found = with_hand(&rig, hand, &following(1.0, 1.0));
            assert!(found.angle_to(&hand) < 1e-9, "all of it: {found:?}");
        }
    }
}

/// A caller gives poses as matrices; so does `spring_joints`.
#[test]
fn followers_follow_matrices() {
    let rig = forearm(turned([0.1, 0.2, 0.7]), turned([0.3, 0.0, -0.4]));
    let config = following(0.5, 0.25);
    for scale in [[1.0; 3], [2.0, 0.5, 3.0]] {
        let posed = |as_matrices: bool| {
            let out = run(&rig, &config, &[], |p| {
                p.locals[1] =
                    LocalTransform::Trs(trs([1.0, 0.2, 0.0], turned([1.2, 0.4, -0.6]), scale));
                p.locals[2] =
                    LocalTransform::Trs(trs([1.0, 0.0, 0.3], turned([0.0, 1.0, 1.0]), scale));
                if as_matrices {
                    for local in &mut p.locals {
                        *local = LocalTransform::Matrix(local.to_affine());
                    }
                }
            });
            out.locals[2].to_affine()
        };
        let off = apart(&posed(true), &posed(false));
        assert!(off < 1e-12, "{off}");
    }
}

/// Frames that lie differently turn about the same axis of space.
#[test]
fn followers_turn_about_the_axis_of_their_source() {
    let (hand_rest, twist_rest) = (turned([0.1, 0.2, 0.7]), turned([-1.0, 0.5, 0.2]));
    let rig = forearm(hand_rest, twist_rest);
    let hand = hand_rest * turned([1.0, 0.0, 0.0]);
    let found = with_hand(&rig, hand, &following(0.5, 0.0));
    // The x axis of the hand in the forearm, and half a radian about it.
    let axis = hand_rest * Vec3::x();
    let expected = Quat::from_scaled_axis(axis * 0.5) * twist_rest;
    assert!(found.angle_to(&expected) < 1e-12, "{found:?}");
    // At rest it rests.
    let found = with_hand(&rig, hand_rest, &following(0.5, 0.5));
    assert!(found.angle_to(&twist_rest) < 1e-12, "{found:?}");
}

#[test]
fn half_turns_of_swing_have_no_twist() {
    for axis in [TwistAxis::X, TwistAxis::Y, TwistAxis::Z].map(TwistAxis::vector) {
        let across = Vec3::new(axis.y, axis.z, axis.x);
        let half_turn = Quat::from_scaled_axis(across * PI);
        // Its projection is rounding: taken as it is, it would be any twist at all.
        let (swing, twist) = swing_twist(half_turn, axis);
        assert_eq!(twist, Quat::identity());
        assert!(swing.angle_to(&half_turn) < 1e-12);
        let (swing, twist) = swing_twist(Quat::identity(), axis);
        assert!(swing.angle() < 1e-12 && twist.angle() < 1e-12);
        // Twist first, then swing.
        let (s, t) = (
            Quat::from_scaled_axis(across * 2.5),
            Quat::from_scaled_axis(axis * 2.0),
        );
        let (swing, twist) = swing_twist(s * t, axis);
        assert!(swing.angle_to(&s) < 1e-12 && twist.angle_to(&t) < 1e-12);
    }
    let rig = forearm(Quat::identity(), Quat::identity());
    let found = with_hand(&rig, turned([0.0, PI, 0.0]), &following(0.5, 0.5));
    assert!(found.coords.iter().all(|c| c.is_finite()), "{found:?}");
}

/// Followers of driven joints see them driven, and turn on from where they were driven to.
#[test]
fn followers_come_after_driven_joints() {
    let rig = forearm(Quat::identity(), Quat::identity());
    let joints = texts(&["hand", "twist"]);
    let pose = [
        affine(&turn([0.6, 0.0, 0.0])),
        affine(&turn([0.0, 0.2, 0.0])),
    ];
    let config = DriveJointsConfig {
        joints: &joints,
        poses: vec![JointPose {
            name: "p",
            joints: &pose,
        }],
        ..following(0.5, 0.0)
    };
    let out = local(&run(&rig, &config, &[1.0], |_| {}), 2);
    let expected = turned([0.0, 0.2, 0.0]) * turned([0.3, 0.0, 0.0]);
    assert!(out.rotation.angle_to(&expected) < 1e-12);
}

#[test]
fn row_153_sheared_matrices_are_errors_unless_the_nearest_will_do() {
    let (rig, joints) = (arm(), texts(&["helper"]));
    let mut sheared = affine(&turn([0.0, 0.7, 0.0]));
    let mut shear = sheared;
    shear.linear = sinew_geom::Mat3::new(1.0, 0.5, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0);
    sheared.linear *= shear.linear;
    let poses = [sheared];
    let config = helper(&joints, &poses, &[], RotationBlend::Log);
    let error = bind(&rig, &config, 1).expect_err("sheared").to_string();
    assert!(
        error.starts_with("pose 'p': the matrix of joint 'helper' has shear: the cosine of two of its axes is 0.800000"),
        "{error}"
    );
    let nearest = DriveJointsConfig {
        sheared: Sheared::Nearest,
        ..config
    };
    let out = local(&run(&rig, &nearest, &[1.0], |_| {}), 2);
    assert_same(&out, &turn([0.0, 0.7, 0.0]), 1e-12, "nearest");
    // Digits of single precision are no shear.
    let m = affine(&three_poses()[1]);
    let single = [m.cast::<f32>().cast::<f64>()];
    let config = helper(&joints, &single, &[], RotationBlend::Log);
    assert!(bind(&rig, &config, 1).is_ok());
}

#[test]
fn what_does_not_fit_is_told() {
    let mut nodes = arm().nodes().to_vec();
    nodes[3].local = LocalTransform::Matrix(Affine::identity());
    let rig = Rig::new(nodes, vec![]).expect("a rig");
    let (one, wrong) = (texts(&["helper"]), texts(&["helpr"]));
    let (twice, fixed) = (texts(&["helper", "helper"]), texts(&["tip"]));
    let (place, both) = ([Affine::identity()], [Affine::identity(); 2]);
    let config = |joints, poses| helper(joints, poses, &[], RotationBlend::Log);
    let follower = |joint, source| DriveJointsConfig {
        followers: vec![Follower {
            joint,
            source,
            axis: TwistAxis::X,
            twist: 0.5,
            swing: 0.0,
        }],
        space: JointSpace::Parent,
        ..DriveJointsConfig::default()
    };
    let mut infinite = place;
    infinite[0].translation.x = f64::INFINITY;
    let cases = [
        (
            config(&wrong, &place),
            1,
            "parameter 'joints': the rig has no joint 'helpr'; did you mean 'helper'?",
        ),
        (
            follower("lower", "zzz"),
            0,
            "parameter 'followers': the rig has no joint 'zzz'; known: upper, lower, helper, tip",
        ),
        (
            config(&fixed, &place),
            1,
            "parameter 'joints': 'tip' has a fixed matrix in the rig, expected translation, rotation and scale",
        ),
        (
            follower("tip", "lower"),
            0,
            "parameter 'followers': 'tip' has a fixed matrix in the rig",
        ),
        (
            follower("lower", "lower"),
            0,
            "parameter 'followers': 'lower' follows itself, expected another joint as its source",
        ),
        (
            config(&one, &place),
            3,
            "found 1 poses, expected 3, one for each linked weight",
        ),
        (
            config(&twice, &place),
            1,
            "pose 'p' has 1 transforms, expected 2, one for each joint of 'joints'",
        ),
        (
            helper(&one, &place, &both, RotationBlend::Log),
            1,
            "'neutral' has 2 transforms, expected 1, one for each joint of 'joints'",
        ),
        (
            helper(&one, &infinite, &[], RotationBlend::Log),
            1,
            "pose 'p': the transform of joint 'helper' is not finite",
        ),
        (
            DriveJointsConfig {
                joints: &twice,
                space: JointSpace::Parent,
                ..DriveJointsConfig::default()
            },
            0,
            "parameter 'joints': found 'helper' twice, expected each joint once",
        ),
    ];
    for (config, count, expected) in cases {
        let error = bind(&rig, &config, count).expect_err(expected).to_string();
        assert!(error.starts_with(expected), "{error}\nnot {expected}");
    }
}

#[test]
fn poses_of_other_rigs_are_left_alone() {
    let rig = arm();
    let bind = bind(&rig, &DriveJointsConfig::default(), 0).expect("binds");
    let input = rig.rest_pose();
    let mut output = Pose::default();
    DriveJointsJob {
        bind: &bind,
        weights: &[],
        input: &input,
        output: &mut output,
    }
    .run();
    assert!(output.locals.is_empty());
}

/// A source whose scale is negative throughout, and a clip that has the same transforms with x negative alone: one half turn apart as
/// rotations, the same as matrices.
#[test]
fn followers_do_not_depend_on_the_signs_of_a_clip() {
    let rest = turned([0.1, 0.2, 0.7]);
    let signs = [-1.0; 3];
    let rig = rig(&[
        ("forearm", None, turn([0.3, 0.2, 0.1])),
        ("hand", Some(0), trs([1.0, 0.0, 0.0], rest, signs)),
        ("twist", Some(0), trs([1.0, 0.0, 0.0], rest, [1.0; 3])),
    ]);
    let hand = trs([1.0, 0.0, 0.0], rest * turned([1.2, 0.0, 0.0]), signs);
    for clip in [hand, hand.in_one_form()] {
        assert_same(&clip, &hand, 1e-12, "one transform");
        let out = run(&rig, &following(0.5, 0.0), &[], |p| {
            p.locals[1] = LocalTransform::Trs(clip);
        });
        let expected = rest * turned([0.6, 0.0, 0.0]);
        let found = local(&out, 2).rotation;
        assert!(found.angle_to(&expected) < 1e-9, "{found:?}");
    }
}

/// Relative to rest: the transforms that a pose adds, written out for the helper of the arm.
#[test]
fn poses_from_rest_are_added_to_it() {
    let rig = arm();
    let rest = trs([1.5, 0.1, 0.0], turned([0.3, -0.2, 0.5]), [1.0, 1.5, 1.0]);
    let added = trs([0.2, -0.1, 0.4], turned([0.0, 0.7, 0.2]), [2.0, 1.0, 0.5]);
    let names = texts(&["helper"]);
    let (still, moved) = (affine(&turn(IDENTITY)), affine(&added));
    let pose = |name, joint| JointPose {
        name,
        joints: std::slice::from_ref(joint),
    };
    let config = DriveJointsConfig {
        joints: &names,
        poses: vec![pose("still", &still), pose("moved", &moved)],
        space: JointSpace::Rest,
        ..DriveJointsConfig::default()
    };
    let expected = Trs {
        translation: rest.translation + rest.rotation * added.translation,
        rotation: rest.rotation * added.rotation,
        scale: Vec3::new(2.0, 1.5, 0.5),
    };
    let at = |weights: &[f32]| local(&run(&rig, &config, weights, |_| {}), 2);
    assert_same(&at(&[1.0, 0.0]), &rest, 1e-12, "still");
    assert_same(&at(&[0.0, 1.0]), &expected, 1e-12, "moved");
    assert_same(&at(&[0.0, 0.0]), &rest, 1e-12, "without weights");
    let bound = bind(&rig, &config, 2).expect("correct");
    assert_eq!(bound.far_from_rest().count(), 0);
    // What a file has, whole, would be added to rest.
    let whole = affine(&rest);
    let twice = DriveJointsConfig {
        joints: &names,
        poses: vec![pose("whole", &whole)],
        ..DriveJointsConfig::default()
    };
    let bound = bind(&rig, &twice, 1).expect("correct");
    let said: Vec<String> = bound.far_from_rest().collect();
    assert!(
        said.len() == 1 && said[0].contains("\"space\": \"parent\""),
        "{said:?}"
    );
    // In the other space `{}` is at the parent, 1.5033 m away and turned by the rest rotation.
    let absolute = DriveJointsConfig {
        poses: vec![pose("still", &still)],
        space: JointSpace::Parent,
        ..config
    };
    let bound = bind(&rig, &absolute, 1).expect("correct");
    let said: Vec<String> = bound.far_from_rest().collect();
    let metres = (1.5_f64 * 1.5 + 0.1 * 0.1).sqrt();
    let degrees = (0.3_f64 * 0.3 + 0.2 * 0.2 + 0.5 * 0.5).sqrt().to_degrees();
    assert_eq!(said.len(), 1, "{said:?}");
    for words in [
        "joint 'helper'".to_owned(),
        "pose 'still', the pose nearest to rest,".to_owned(),
        format!("{metres:.3} m and {degrees:.1} degrees"),
    ] {
        assert!(said[0].contains(&words), "{said:?} lacks {words}");
    }
}

#[test]
fn neutral_poses_far_from_rest_are_told_and_near_ones_are_not() {
    let rig = arm();
    let rest = trs([1.5, 0.1, 0.0], turned([0.3, -0.2, 0.5]), [1.0, 1.5, 1.0]);
    let names = texts(&["helper"]);
    let told = |neutral: Trs| {
        let neutral = [affine(&neutral)];
        let config = DriveJointsConfig {
            joints: &names,
            neutral: &neutral,
            space: JointSpace::Parent,
            ..DriveJointsConfig::default()
        };
        let bound = bind(&rig, &config, 0).expect("correct");
        bound.far_from_rest().collect::<Vec<_>>()
    };
    let turned_by = |degrees: f64| Trs {
        rotation: rest.rotation * turned([0.0, degrees.to_radians(), 0.0]),
        ..rest
    };
    let moved_by = |share: f64| Trs {
        translation: rest.translation * (1.0 + share),
        ..rest
    };
    for near in [rest, turned_by(44.0), moved_by(0.49)] {
        assert_eq!(told(near), [""; 0]);
    }
    // Centimetres are a hundred times too far.
    for far in [turned_by(46.0), moved_by(0.51), moved_by(99.0)] {
        let said = told(far);
        assert!(
            said.len() == 1 && said[0].contains("'neutral' is"),
            "{said:?}"
        );
    }
}
