//! Drivers with memory and numbers from joints, in graphs: closed forms, both devices, saved states, no allocation.

use crate::common::allocations::counted_pool;
use crate::common::devices::{Worst, poses, run};
use crate::common::{instance, samples};
use sinew::deform::{Par, find_example};
use sinew::geom::{Asset, Pose};
use sinew::graph::{Frame, Instance};

const EXAMPLES: [&str; 3] = ["spring_speed", "spring_joints", "joint_transform"];

fn arm() -> Asset {
    let mut samples = samples().into_iter();
    samples.find(|a| a.name.starts_with("arm")).expect("arm")
}

fn example(name: &str) -> &'static str {
    find_example(name).expect("an example").graph
}

fn step(i: &mut Instance, pose: &Pose, number: u32) {
    let dt = if number == 0 { 0.0 } else { 0.1 };
    let frame = Frame::at(0.1 * f64::from(number)).dt(dt).pose(pose);
    i.update(&frame, Par::Seq).expect("fits");
}

/// Each joint stands still but for the forearm, which turns evenly: the angle is what was put in, and the follower is late by
/// `2 damping / omega` of its speed.
#[test]
fn a_joint_that_turns_evenly_gives_its_angle_and_its_speed() {
    let asset = arm();
    let document = r#"{"sinew": "1.0", "inputs": {"pose": {"type": "pose"}}, "nodes": {
  "elbow": {"node": "joint_transform", "pose": "pose", "joint": "forearm", "axis": [0, 0, 1]},
  "late": {"node": "spring", "values": "elbow.twist", "frequency": 2, "damping": 0.5},
  "sum": {"node": "expression", "values": ["late.values", "late.velocity", "elbow.twist"], "names": ["x", "v", "u"],
    "expressions": ["x + v * 2 * 0.5 / (tau * 2) - u", "10 * v", "time"]},
  "mapped": {"node": "curve", "values": "sum", "keys": [{"at": 0, "value": 1}, {"at": 10, "value": 2}]}},
 "outputs": {"twist": "elbow.twist", "sum": "sum", "mapped": "mapped"}}"#;
    let mut i = instance(&asset, document);
    let node = asset.rig.find_node("forearm").expect("a node");
    for number in 0..60 {
        let angle = 0.04 * f64::from(number);
        let mut pose = asset.rig.rest_pose();
        if let sinew::geom::LocalTransform::Trs(trs) = &mut pose.locals[node] {
            let turn = sinew::geom::Vec3::new(0.0, 0.0, angle);
            trs.rotation *= sinew::geom::Quat::from_scaled_axis(turn);
        }
        asset.rig.finish(&mut pose);
        step(&mut i, &pose, number);
        let of = |name: &str| i.float_output(name).expect("declared").to_vec();
        assert!((f64::from(of("twist")[0]) - angle).abs() < 1e-6, "{angle}");
        let sum = of("sum");
        assert!((f64::from(sum[2]) - 0.1 * f64::from(number)).abs() < 1e-6);
        if number > 50 {
            // 0.04 radians in 0.1 s.
            assert!(
                sum[0].abs() < 1e-5 && (sum[1] - 4.0).abs() < 1e-4,
                "{sum:?}"
            );
            assert!((of("mapped")[1] - 1.4).abs() < 1e-5);
        }
    }
}

/// A box on a joint that lags moves with the joint that lags, and not with the animation.
#[test]
fn parameters_follow_joints_that_lag() {
    let asset = arm();
    let document = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}}, "nodes": {
  "loose": {"node": "spring_joints", "pose": "pose", "joints": ["forearm"], "motion": "rotation", "frequency": 1},
  "skin": {"node": "skin", "mesh": "body", "pose": "loose"},
  "carried": {"node": "transform", "mesh": "body", "transform": {"joint": "forearm", "pose": "loose"}}},
 "outputs": {"body": "skin", "carried": "carried"}}"#;
    let mut i = instance(&asset, document);
    let joint = asset.rig.find_joint("forearm").expect("a joint") as u32;
    let influences = asset.meshes[0].influences.as_ref().expect("skinned");
    let rigid = (0..asset.meshes[0].vertex_count())
        .find(|v| influences.row(*v).any(|(j, w)| j == joint && w > 0.999_999))
        .expect("a vertex of the forearm");
    let mut apart = 0.0_f32;
    for (number, (_, pose)) in (0..).zip(poses(&asset, &[0.0, 0.1, 0.2, 0.3, 0.4])) {
        step(&mut i, &pose, number);
        let at = |name: &str| i.mesh_output(name).expect("declared").positions[rigid];
        let (skinned, carried) = (at("body"), at("carried"));
        for c in 0..3 {
            assert!(
                (skinned[c] - carried[c]).abs() < 2e-6,
                "{skinned:?} {carried:?}"
            );
        }
        let rest = sinew::geom::Vec3::from(asset.meshes[0].positions[rigid]);
        let animated: [f32; 3] = pose.palette[joint as usize]
            .unpack::<f32>()
            .point(rest)
            .into();
        apart = apart.max((animated[1] - skinned[1]).abs());
    }
    assert!(apart > 0.01, "the joint lags: {apart} m");
}

#[test]
fn springs_are_the_same_on_both_devices() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = arm();
    for name in EXAMPLES {
        let mut worst = Worst::default();
        let all = poses(&asset, &[0.0, 0.1, 0.2, 0.3]);
        run(&gpu, &asset, example(name), &all, &mut worst).expect("runs");
        println!("{}", worst.line(name));
        assert!(worst.fits(), "{name}");
    }
}

#[test]
fn springs_go_on_from_a_saved_state_and_begin_anew_after_a_reset() {
    let asset = arm();
    let all = poses(&asset, &[0.0, 0.1, 0.2, 0.3, 0.35, 0.4]);
    for name in ["spring_speed", "spring_joints"] {
        let mut whole = instance(&asset, example(name));
        let play = |i: &mut Instance, numbers: std::ops::Range<u32>| -> Vec<Vec<[f32; 3]>> {
            let frame = |n: u32| {
                step(i, &all[n as usize].1, n);
                i.mesh_output("body").expect("declared").positions.to_vec()
            };
            numbers.map(frame).collect()
        };
        let first = play(&mut whole, 0..3);
        let saved = whole.save_state();
        let expected = play(&mut whole, 3..6);
        let mut other = instance(&asset, example(name));
        play(&mut other, 4..5);
        other.restore_state(&saved).expect("of this graph");
        assert!(play(&mut other, 3..6) == expected, "{name}");
        other.reset();
        assert!(play(&mut other, 0..3) == first, "{name}");
        // Without the frames before, the same frame is another one.
        other.reset();
        assert!(
            play(&mut other, 3..4)[0] != expected[0],
            "{name} has a memory"
        );
    }
}

#[test]
fn updates_of_drivers_allocate_nothing() {
    let asset = arm();
    let graph = include_str!("../graphs/drivers.json");
    let all = poses(&asset, &[0.0, 0.2, 0.4]);
    let (pool, count) = counted_pool(1);
    for text in EXAMPLES.map(example).into_iter().chain([graph]) {
        let mut i = instance(&asset, text);
        pool.install(|| {
            (0..)
                .zip(&all)
                .for_each(|(n, (_, pose))| step(&mut i, pose, n));
            let before = count();
            (3..)
                .zip(&all)
                .for_each(|(n, (_, pose))| step(&mut i, pose, n));
            assert_eq!(count(), before, "{text}");
        });
    }
}
