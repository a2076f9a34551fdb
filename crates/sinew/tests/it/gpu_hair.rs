//! Hair on GPUs: the same numbers as on the processor.
//!
//! Both sides compute in single precision with the same steps, but sums and roots are rounded differently: a few 1e-7 of the lengths in the
//! scene a frame. Free strands keep such differences small. Contacts amplify them, at most where a vertex just touches on one side and just
//! misses on the other. So frames at the beginning are compared vertex by vertex, closely, and later ones by what hair does as a whole.

#![expect(
    clippy::print_stdout,
    reason = "says how far both sides are apart, and what was skipped"
)]

use sinew::deform::{Par, ParameterValue};
use sinew::geom::{
    Affine, Influences, Joint, LocalTransform, Mesh, Node, Pose, Rig, Strands, Topology, Trs, Vec3,
};
use sinew::graph::{BoundGraph, Frame, InputBinding, InputType, Instance, NoNesting, compile};
use sinew_gpu::{GpuGraph, GpuInstances};
use sinew_testkit::meshes;
use std::sync::Arc;

/// Strands of these many vertices that hang from a square of roots 0.4 m wide, each with so many followers beside it.
fn hair(counts: &[usize], followers: usize, spacing: f32) -> Mesh {
    let across = (counts.len() as f32).sqrt().ceil().max(2.0);
    let (mut lengths, mut leaders, mut positions) = (Vec::new(), Vec::new(), Vec::new());
    for (i, &count) in counts.iter().enumerate() {
        let at = |k: f32| 0.4 * (k / (across - 1.0) - 0.5);
        let (x, z) = (at((i as f32) % across), at((i as f32 / across).floor()));
        let leader = lengths.len() as u32;
        for f in 0..=followers {
            let (sine, cosine) = (2.4 * f as f32).sin_cos();
            let beside = if f == 0 { 0.0 } else { 0.02 };
            lengths.push(count);
            leaders.push(leader);
            positions.extend((0..count).map(|k| {
                let k = k as f32;
                // Not straight, so that bends have something to keep; followers are shorter and bend on their own.
                let own = f as f32;
                let curl = 0.3 * spacing * (0.9 * k + i as f32 + own).sin();
                [
                    x + beside * cosine + curl,
                    1.2 - spacing * k * (1.0 - 0.1 * own),
                    z + beside * sine,
                ]
            }));
        }
    }
    let strands = Strands::new(lengths).expect("valid");
    let strands = strands.with_guides(leaders).expect("valid");
    Mesh::new("hair", Topology::from_strands(strands), positions)
}

/// Two joints at the origin.
fn rig() -> Rig {
    let node = |name: &str| Node {
        name: name.into(),
        parent: None,
        local: LocalTransform::Trs(Trs::default()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let joint = |node| Joint {
        node,
        joint_from_bind: Affine::identity(),
    };
    Rig::new(vec![node("head"), node("neck")], vec![joint(0), joint(1)]).expect("valid")
}

/// The first joint turned by that angle about y and moved, the second the other way.
pub(crate) fn pose(angle: f32, moved: [f32; 3]) -> Pose {
    let mut pose = rig().rest_pose();
    for (joint, sign) in pose.palette.iter_mut().zip([1.0, -0.5_f32]) {
        let (sine, cosine) = (sign * angle).sin_cos();
        joint.rows[0] = [cosine, 0.0, sine, sign * moved[0]];
        joint.rows[1] = [0.0, 1.0, 0.0, sign * moved[1]];
        joint.rows[2] = [-sine, 0.0, cosine, sign * moved[2]];
    }
    pose
}

fn ball() -> Mesh {
    let mut ball = meshes::sphere(16, 32);
    for p in &mut ball.positions {
        *p = [0.3 * p[0], 0.5 + 0.3 * p[1], 0.3 * p[2]];
    }
    let rows = vec![[(0, 1.0)]; ball.vertex_count()];
    let rows = rows.iter().map(|row| row.as_slice());
    let cleaned = Influences::from_rows(rows, 2, 0).expect("valid");
    ball.influences = Some(cleaned.0);
    ball
}

pub(crate) fn document(nodes: &str, sim: &str) -> String {
    format!(
        r#"{{"sinew": "1.0",
 "inputs": {{"hair": {{"type": "strands"}}, "body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}}},
 "parameters": {{"damping": {{"type": "float", "default": 2}}}},
 "nodes": {{{nodes} "sim": {{"node": "hair_sim", "strands": "hair", "damping": "$damping" {sim}}}}}, "outputs": {{"hair": "sim"}}}}"#
    )
}

const BALL: &str = r#""ball": {"node": "solids", "capsules": [{"from": [0.02, 0.55, 0.01], "to": [0, 0.6, 0], "radius": 0.3}]},"#;

pub(crate) fn bind(text: &str, hair: &Mesh) -> Arc<BoundGraph> {
    let plan = compile("hair.json", text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let input = |ty| match ty {
        InputType::Strands => InputBinding::Mesh(Arc::new(hair.clone())),
        InputType::Mesh => InputBinding::Mesh(Arc::new(ball())),
        InputType::Pose => InputBinding::Pose(Arc::new(rig())),
        InputType::Values | InputType::VertexAnimation => InputBinding::Values,
    };
    let inputs: Vec<InputBinding> = plan.inputs().iter().map(|i| input(i.ty)).collect();
    let graph = BoundGraph::bind(Arc::new(plan), &inputs, &[], Par::Seq);
    Arc::new(graph.unwrap_or_else(|e| panic!("{e}")))
}

/// Characters on both sides.
struct Twins {
    cpu: Vec<Instance>,
    gpu: GpuInstances,
    time: f64,
}

/// Largest distance of two vertices, and the mean.
type Differences = (f32, f32);

impl Twins {
    /// `None` without a device.
    fn new(graph: &Arc<BoundGraph>, count: usize) -> Option<Self> {
        let device = sinew_gpu::test_support::gpu()?;
        let shared = GpuGraph::new(&device, graph).unwrap_or_else(|e| panic!("{e}"));
        let instance = |_| graph.instance();
        Some(Self {
            cpu: (0..count).map(instance).collect(),
            gpu: shared.instances(count).unwrap_or_else(|e| panic!("{e}")),
            time: 0.0,
        })
    }

    /// One frame of all characters with a pose each; gives how far they are apart.
    fn frame(&mut self, dt_secs: f64, poses: &[Pose]) -> Differences {
        self.time += dt_secs;
        let graph = self.cpu[0].graph().clone();
        let inputs = graph.plan().inputs();
        let slot = inputs.iter().position(|i| i.ty == InputType::Pose);
        let slot = slot.expect("a pose input");
        let frames: Vec<[(usize, &Pose); 1]> = poses.iter().map(|p| [(slot, p)]).collect();
        let frames: Vec<Frame<'_>> = frames
            .iter()
            .map(|poses| Frame::at(self.time).dt(dt_secs).poses(poses))
            .collect();
        for (cpu, frame) in self.cpu.iter_mut().zip(&frames) {
            cpu.update(frame, Par::Seq).expect("fits");
        }
        self.gpu.update(&frames).unwrap_or_else(|e| panic!("{e}"));
        let mut worst = (0.0_f32, 0.0_f32);
        for i in 0..poses.len() {
            let (largest, mean) = self.differences(i);
            worst = (worst.0.max(largest), worst.1.max(mean));
        }
        worst
    }

    fn differences(&mut self, character: usize) -> Differences {
        let read = self.gpu.read_mesh("hair", character);
        let found = read.expect("reads").expect("there");
        let expected = self.cpu[character].mesh_output("hair").expect("there");
        let mut worst = (0.0_f32, 0.0_f32);
        for (a, b) in found.positions.iter().zip(expected.positions) {
            let apart = (Vec3::from(*a) - Vec3::from(*b)).norm();
            assert!(apart.is_finite(), "{a:?} {b:?}");
            worst = (worst.0.max(apart), worst.1 + apart);
        }
        worst.1 /= found.positions.len() as f32;
        if let (Some(found), Some(expected)) = (&found.tangents, expected.tangents) {
            for (a, b) in found.iter().zip(expected) {
                // Segments are 0.01 m and longer: a tangent turns by what their ends move by, and more where a strand folds back.
                let apart = (0..4).map(|c| (a[c] - b[c]).abs()).fold(0.0, f32::max);
                assert!(apart <= 1e-2 + 300.0 * worst.0, "{a:?} {b:?}");
            }
        }
        worst
    }
}

const STEP: f64 = 1.0 / 60.0;

/// Of hair that begins in a solid: which way strands come out that go through its middle is decided by rounding. The mean of all tells.
const FROM_INSIDE: (u32, f32) = (0, 3e-2);

/// Frames of a scene: how many are compared closely, by how much their vertices may differ, and by how much those of all in the mean.
struct Scene<'a> {
    text: String,
    hair: Mesh,
    frames: u32,
    close: (u32, f32),
    mean: f32,
    poses: &'a dyn Fn(u32) -> Pose,
}

fn still(_: u32) -> Pose {
    pose(0.0, [0.0; 3])
}

impl Scene<'_> {
    fn run(&self, name: &str) {
        let graph = bind(&self.text, &self.hair);
        let Some(mut twins) = Twins::new(&graph, 1) else {
            return;
        };
        let mut begin = None;
        for number in 0..self.frames {
            let dt = if number == 0 { 0.0 } else { STEP };
            let (largest, mean) = twins.frame(dt, &[(self.poses)(number)]);
            println!("{name}, frame {number}: {largest:e}, mean {mean:e}");
            let (close, most) = self.close;
            assert!(
                number > close || largest < most,
                "frame {number}: {largest}"
            );
            assert!(mean < self.mean, "frame {number}: {mean}");
            begin.get_or_insert_with(|| positions(&twins));
        }
        let (begin, end) = (begin.unwrap_or_default(), positions(&twins));
        let moved = begin.iter().zip(&end);
        let moved = moved.map(|(a, b)| (Vec3::from(*a) - Vec3::from(*b)).norm());
        let most = moved.fold(0.0, f32::max);
        // Hair that hangs already sags by less than a millimetre.
        assert!(most > 3e-4, "nothing moved: {most}");
    }
}

fn positions(twins: &Twins) -> Vec<[f32; 3]> {
    let out = twins.cpu[0].mesh_output("hair").expect("there");
    out.positions.to_vec()
}

/// A software driver takes more than a minute to compile the step of each scene: there only three scenes run, which
/// reach grids, solids, followers, crowds, pre-roll and strands of all lengths. `cargo xtask soak` runs all of them.
fn is_left_to_hardware() -> bool {
    let Some(device) = sinew_gpu::test_support::gpu() else {
        return true;
    };
    let is_software = device.info().kind == sinew_gpu::AdapterKind::Software;
    let leaves = is_software && !sinew_testkit::is_soak();
    if leaves {
        println!("left to graphics adapters in hardware and to `cargo xtask soak`");
    }
    leaves
}

#[test]
fn free_strands_swing_alike() {
    if is_left_to_hardware() {
        return;
    }
    Scene {
        text: document(
            "",
            r#", "joint": "head", "pose": "pose", "root_motion": 0.3"#,
        ),
        hair: hair(&[12; 16], 0, 0.04),
        frames: 20,
        close: (20, 2e-5),
        mean: 5e-6,
        poses: &|n| pose(0.05 * n as f32, [0.02 * (0.4 * n as f32).sin(), 0.0, 0.0]),
    }
    .run("free");
}

#[test]
fn a_ball_holds_strands_alike() {
    if is_left_to_hardware() {
        return;
    }
    let mut hair = hair(&[16; 25], 0, 0.04);
    hair.positions.iter_mut().for_each(|p| p[0] += 0.003);
    Scene {
        text: document(
            BALL,
            r#", "colliders": "ball", "margins": [0.01], "frictions": [0.4], "local_stiffness": 0.5"#,
        ),
        hair,
        frames: 25,
        close: FROM_INSIDE,
        mean: 1e-3,
        poses: &still,
    }
    .run("ball");
}

#[test]
fn moving_colliders_carry_strands_alike() {
    if is_left_to_hardware() {
        return;
    }
    let nodes = r#""fin": {"node": "solids", "pose": "pose", "follow": "head", "capsules": [
  {"from": [-0.3, 0.8, 0], "to": [0.3, 0.75, 0.1], "radius": 0.12, "end_radius": 0.08}]},"#;
    Scene {
        text: document(
            nodes,
            r#", "colliders": "fin", "margins": [0.005], "frictions": [0.6]"#,
        ),
        hair: hair(&[14; 25], 0, 0.04),
        frames: 20,
        close: FROM_INSIDE,
        mean: 2e-3,
        poses: &|n| pose(0.12 * n as f32, [0.01 * n as f32, 0.0, 0.02]),
    }
    .run("moving");
}

/// The mesh stands still: its field is built by the host and uploaded once.
#[test]
fn grids_hold_strands_alike() {
    for storage in ["single", "half"] {
        if storage == "half" && is_left_to_hardware() {
            return;
        }
        let field = format!(
            r#""field": {{"node": "sdf", "mesh": "body", "cells": 32, "band": 20, "storage": "{storage}"}},"#
        );
        Scene {
            text: document(&field, r#", "colliders": "field", "margins": [0.01]"#),
            hair: hair(&[16; 16], 0, 0.04),
            frames: 20,
            close: FROM_INSIDE,
            mean: 2e-3,
            poses: &still,
        }
        .run(storage);
    }
}

/// A grid that follows a joint: its words come with each frame.
#[test]
fn grids_that_follow_joints_carry_strands_alike() {
    if is_left_to_hardware() {
        return;
    }
    Scene {
        text: document(
            r#""field": {"node": "sdf", "mesh": "body", "cells": 24, "band": 20, "pose": "pose", "follow": "head"},"#,
            r#", "colliders": "field", "margins": [0.01]"#,
        ),
        hair: hair(&[16; 16], 0, 0.04),
        frames: 12,
        // The grid is built twice, each time with roundings of its own: some contact flips early.
        close: (1, 5e-4),
        mean: 2e-3,
        poses: &|n| pose(0.1 * n as f32, [0.015 * n as f32, 0.0, 0.0]),
    }
    .run("following grid");
}

#[test]
fn margins_belong_to_pairs_and_followers_collide() {
    if is_left_to_hardware() {
        return;
    }
    let two = format!(
        r#"{BALL} "wall": {{"node": "solids", "planes": [{{"point": [0, 0.7, 0], "normal": [0.2, 1, 0]}}]}},"#
    );
    for followers in [true, false] {
        let sim = format!(
            r#", "colliders": ["ball", "wall"], "margins": [0.02, 0.05], "frictions": [0.1, 0.5], "collide_followers": {followers},
 "tip_separation": 0.5"#
        );
        Scene {
            text: document(&two, &sim),
            hair: hair(&[14; 16], 2, 0.04),
            frames: 12,
            close: FROM_INSIDE,
            mean: 8e-3,
            poses: &still,
        }
        .run(&format!("followers collide: {followers}"));
    }
}

/// Longer ones than fit the memory of an invocation, and the shortest.
#[test]
fn strands_of_any_length_are_alike() {
    let scenes = [
        (&[2, 100, 3, 17, 40, 31, 32, 33, 5][..], 0.003),
        (&[2, 7, 3, 12, 31, 32, 2, 2, 9], 0.009),
    ];
    // Compiling takes a software driver most of the time; scenes of the other tests are short, too.
    let scenes = &scenes[..if is_left_to_hardware() { 1 } else { 2 }];
    // All begin outside of the ball: what begins in it is compared elsewhere.
    for &(counts, spacing) in scenes {
        Scene {
            text: document(BALL, r#", "colliders": "ball", "margins": [0.01]"#),
            hair: hair(counts, 1, spacing),
            frames: 10,
            close: (5, 3e-4),
            mean: 3e-3,
            poses: &still,
        }
        .run(&format!("{counts:?}"));
    }
}

/// Strands of short segments that lie down on the upper end of [`BALL`]'s capsule as soon as they leave it, with a follower each.
pub(crate) fn lying() -> Mesh {
    let (count, vertices, spacing) = (9_u8, 14, 0.004);
    let (mut leaders, mut positions) = (Vec::new(), Vec::new());
    for k in 0..count {
        let turn = f32::from(k) * 2.399_963;
        let (sine, cosine) = turn.sin_cos();
        let out = Vec3::new(0.4 * cosine, 1.0, 0.4 * sine).normalize();
        let along = out.cross(&Vec3::new(sine, 0.2, -cosine)).normalize();
        for f in 0..2_u8 {
            leaders.push(2 * u32::from(k));
            let beside = out.cross(&along) * (0.002 * f32::from(f));
            let root = Vec3::new(0.0, 0.6, 0.0) + out * 0.3 + beside;
            positions.extend(
                (0..vertices).map(|i| <[f32; 3]>::from(root + along * (spacing * i as f32))),
            );
        }
    }
    let strands = Strands::new(vec![vertices; 2 * usize::from(count)]).expect("valid");
    let strands = strands.with_guides(leaders).expect("valid");
    Mesh::new("hair", Topology::from_strands(strands), positions)
}

/// Behind the skin margins grow along the strand: of guides, of followers, and of strands that something else moves. In the last frame all
/// jump, and the ball with them.
#[test]
fn margins_grow_alike() {
    let turned = r#", "pose": "pose", "joint": "head""#;
    let sim = r#", "pose": "pose", "joint": "head", "colliders": "ball", "margins": [0.01], "frictions": [0.2]"#;
    let ball = BALL.replace(
        r#""solids","#,
        r#""solids", "pose": "pose", "follow": "head","#,
    );
    let clear = format!(
        r#"{ball} "clear": {{"node": "collide", "strands": "sim", "colliders": "ball", "margins": [0.01]}},"#
    );
    let cleared = document(&clear, turned).replace(r#""hair": "sim"}"#, r#""hair": "clear"}"#);
    let jump = [3.0, 0.0, 1.0];
    for (name, text) in [("sim", document(&ball, sim)), ("collide", cleared)] {
        Scene {
            text,
            hair: lying(),
            frames: 4,
            close: (3, 2e-5),
            mean: 2e-5,
            poses: &|n| pose(0.01 * n as f32, if n == 3 { jump } else { [0.0; 3] }),
        }
        .run(name);
    }
}

/// The field of a mesh that jumps is at its end at once, as is hair that jumps with it: nothing is between them.
#[test]
fn hair_jumps_with_a_mesh_alike() {
    if is_left_to_hardware() {
        return;
    }
    let nodes = r#""skin": {"node": "skin", "mesh": "body", "pose": "pose"},
  "field": {"node": "sdf", "mesh": "skin", "cells": 24, "band": 20},"#;
    let sim = r#", "pose": "pose", "joint": "head", "colliders": "field", "margins": [0.01]"#;
    let mut hair = lying();
    hair.positions.iter_mut().for_each(|p| p[1] -= 0.1);
    Scene {
        text: document(nodes, sim),
        hair,
        frames: 12,
        close: (12, 3e-4),
        mean: 1e-4,
        poses: &|n| match n {
            ..6 => pose(0.0, [0.0; 3]),
            _ => pose(2.0, [3.0, 0.0, 1.0]),
        },
    }
    .run("jump");
}

/// Strands that something else moves: free ones swing, the node keeps them out of a grid that comes along with a joint and out of a capsule.
/// Once the lengths of teams differ (all strands fit one), once some are too long for memory of a workgroup.
#[test]
fn collide_keeps_strands_out_alike() {
    let nodes = r#""field": {"node": "sdf", "mesh": "body", "cells": 24, "band": 20, "pose": "pose", "follow": "head"},
  "bar": {"node": "solids", "capsules": [{"from": [-0.4, 0.9, 0.2], "to": [0.4, 0.9, 0.2], "radius": 0.05}]},
  "clear": {"node": "collide", "strands": "sim", "colliders": ["field", "bar"], "margins": [0.01, 0.02]},"#;
    for (counts, spacing) in [(&[16; 9][..], 0.04), (&[2, 40, 3, 9, 17], 0.02)] {
        if counts.len() == 5 && is_left_to_hardware() {
            return;
        }
        let text = document(nodes, "").replace(r#""hair": "sim"}"#, r#""hair": "clear"}"#);
        Scene {
            text,
            hair: hair(counts, 0, spacing),
            frames: 12,
            close: (2, 3e-4),
            mean: 2e-3,
            poses: &|n| pose(0.05 * n as f32, [0.01 * n as f32, 0.0, 0.0]),
        }
        .run("collide");
    }
}

/// Roots between joints that turn against each other: their blend is no rotation.
#[test]
fn skinned_roots_are_alike() {
    if is_left_to_hardware() {
        return;
    }
    let mut hair = hair(&[8, 9, 10, 8, 9, 10, 8, 9, 10], 1, 0.04);
    let rows: Vec<[(u32, f32); 2]> = (0..hair.vertex_count())
        .map(|v| {
            let share = (v % 7) as f32 / 6.0;
            [(0, share), (1, 1.0 - share)]
        })
        .collect();
    let rows = rows.iter().map(|row| row.as_slice());
    let cleaned = Influences::from_rows(rows, 2, 0).expect("valid");
    hair.influences = Some(cleaned.0);
    Scene {
        text: document("", r#", "pose": "pose", "root_motion": 0.8"#),
        hair,
        frames: 15,
        close: (15, 3e-5),
        mean: 1e-5,
        poses: &|n| pose(0.08 * n as f32, [0.01 * n as f32, 0.02, 0.0]),
    }
    .run("skinned");
}

#[test]
fn wind_blows_alike() {
    if is_left_to_hardware() {
        return;
    }
    Scene {
        text: document(
            "",
            r#", "wind": [3, 0.5, -1.5], "gusts": 1, "gust_frequency": 1.7, "seed": 77"#,
        ),
        hair: hair(&[10; 16], 1, 0.04),
        frames: 30,
        close: (30, 5e-5),
        mean: 1e-5,
        poses: &still,
    }
    .run("wind");
}

/// Strands that go, are away for some frames and come back, followers too, on a head that moves: whole workgroups are hidden, and parts of
/// others. A hidden strand is nothing but its root on both sides.
#[test]
fn levels_of_detail_are_alike() {
    let detail = r#""detail": {"keys": [[0, 1], [0.06, 0.3], [0.13, 0.3], [0.25, 1]]}, "pose": "pose", "joint": "head""#;
    let poses = &|n: u32| pose(0.03 * n as f32, [0.01 * n as f32, 0.0, 0.02]);
    Scene {
        text: document("", &format!(", {detail}")),
        hair: hair(&[8; 100], 2, 0.03),
        frames: 18,
        close: (18, 3e-5),
        mean: 1e-5,
        poses,
    }
    .run("detail");
    if is_left_to_hardware() {
        return;
    }
    Scene {
        text: document(
            BALL,
            &format!(r#", {detail}, "colliders": "ball", "margins": [0.01], "pre_roll": 0.1"#),
        ),
        hair: lying(),
        frames: 18,
        close: (18, 3e-4),
        mean: 2e-5,
        poses,
    }
    .run("detail on a ball");
}

/// Frames where `reset` is true begin as the first one does, on both sides.
#[test]
fn resets_are_alike() {
    if is_left_to_hardware() {
        return;
    }
    Scene {
        text: document(
            BALL,
            r#", "pose": "pose", "joint": "neck", "colliders": "ball", "pre_roll": 0.1, "reset": {"keys": [[0, false], [0.16, true], [0.18, false]]}"#,
        ),
        hair: hair(&[10; 9], 0, 0.04),
        frames: 16,
        close: FROM_INSIDE,
        mean: 5e-3,
        poses: &|n| pose(if n > 8 { 2.0 } else { 0.0 }, [0.01 * n as f32, 0.0, 0.0]),
    }
    .run("reset");
}

/// A root that jumps takes all hair along.
#[test]
fn cuts_are_alike() {
    if is_left_to_hardware() {
        return;
    }
    Scene {
        text: document(
            "",
            r#", "pose": "pose", "joint": "neck", "root_motion": 0.1, "teleport_distance": 0.04"#,
        ),
        hair: hair(&[10; 9], 0, 0.04),
        frames: 20,
        close: (20, 5e-5),
        mean: 2e-5,
        poses: &|n| pose(if n > 8 { 2.0 } else { 0.0 }, [0.01 * n as f32, 0.0, 0.0]),
    }
    .run("cuts");
}

/// A root that rotates by 57 degrees takes a part of the strand's motion along: the effect sets in at 50 and is full at 62.5.
#[test]
fn turns_of_a_frame_are_alike() {
    if is_left_to_hardware() {
        return;
    }
    Scene {
        text: document(
            "",
            r#", "pose": "pose", "joint": "neck", "root_motion": 0.1, "teleport_distance": 1000, "teleport_angle_degrees": 50"#,
        ),
        hair: hair(&[10; 9], 0, 0.04),
        frames: 20,
        close: (20, 5e-5),
        mean: 2e-5,
        poses: &|n| pose(if n > 8 { 2.0 } else { 0.0 }, [0.01 * n as f32, 0.0, 0.0]),
    }
    .run("turns");
}

#[test]
fn pre_roll_settles_alike() {
    if is_left_to_hardware() {
        return;
    }
    // 0.25 s: seven pieces of a thirtieth and a rest, 60 steps in two runs.
    Scene {
        text: document("", r#", "pre_roll": 0.25, "wind": [2, 0, 1], "gusts": 1"#),
        hair: hair(&[10; 9], 1, 0.04),
        frames: 10,
        close: (10, 5e-5),
        mean: 2e-5,
        poses: &still,
    }
    .run("pre-roll");
    Scene {
        text: document(
            BALL,
            r#", "pre_roll": 0.1, "colliders": "ball", "margins": [0.02]"#,
        ),
        hair: hair(&[14; 9], 1, 0.04),
        frames: 3,
        close: (2, 3e-4),
        mean: 2e-3,
        poses: &still,
    }
    .run("pre-roll onto a ball");
}

/// A broom that falls together: at rest its strands spread downwards.
fn broom() -> Mesh {
    let mut hair = hair(&[10; 64], 1, 0.04);
    for [x, y, z] in &mut hair.positions {
        let spread = 1.0 + 3.0 * (1.2 - *y);
        (*x, *z) = (*x * spread, *z * spread);
    }
    hair
}

#[test]
fn volume_pushes_alike() {
    if is_left_to_hardware() {
        return;
    }
    let text = |volume: f32| {
        let sim = format!(
            r#", "joint": "head", "pose": "pose", "local_stiffness": 0.5, "global_stiffness": 0, "pre_roll": 0.05, "volume": {volume}"#
        );
        document("", &sim)
    };
    let scene = Scene {
        text: text(3.0),
        hair: broom(),
        frames: 20,
        close: (20, 3e-4),
        mean: 3e-5,
        poses: &|n| pose(0.02 * n as f32, [0.02 * (0.4 * n as f32).sin(), 0.0, 0.0]),
    };
    scene.run("volume");
    let last = |volume| {
        let graph = bind(&text(volume), &broom());
        let mut twins = Twins::new(&graph, 1)?;
        for n in 0..20 {
            twins.frame(if n == 0 { 0.0 } else { STEP }, &[pose(0.0, [0.0; 3])]);
        }
        Some(positions(&twins))
    };
    let (Some(with), Some(without)) = (last(3.0), last(0.0)) else {
        return;
    };
    let apart = with
        .iter()
        .zip(&without)
        .map(|(a, b)| (Vec3::from(*a) - Vec3::from(*b)).norm());
    let most = apart.fold(0.0, f32::max);
    assert!(most > 0.02, "pressure did nothing: {most}");
}

/// Time that stands still moves nothing, but keeps where colliders are; a frame longer than a run of steps is several of them.
#[test]
fn frames_of_any_length_are_alike() {
    if is_left_to_hardware() {
        return;
    }
    let nodes = r#""fin": {"node": "solids", "pose": "pose", "follow": "head", "capsules": [
  {"from": [-0.3, 0.8, 0], "to": [0.3, 0.75, 0.1], "radius": 0.12}]},"#;
    let sim = r#", "colliders": "fin", "quality": "film", "pose": "pose", "joint": "neck", "wind": [1.5, 0, 0.5]"#;
    let graph = bind(&document(nodes, sim), &hair(&[12; 9], 1, 0.04));
    let Some(mut twins) = Twins::new(&graph, 1) else {
        return;
    };
    let times = [0.0, 0.1, 0.0, -0.3, 0.02, 0.5, 0.001, 0.0, 0.03];
    for (number, dt) in times.into_iter().enumerate() {
        let n = number as f32;
        let (largest, mean) = twins.frame(dt, &[pose(0.05 * n, [0.01 * n, 0.0, 0.0])]);
        println!("frame {number} of {dt} s: {largest:e}, mean {mean:e}");
        assert!(mean < 1e-3 && (number > 3 || largest < 5e-4), "{largest}");
    }
}

#[test]
fn characters_of_a_crowd_have_their_own_hair() {
    let sim = r#", "pose": "pose", "joint": "head", "colliders": "ball", "margins": [0.01], "wind": [1, 0, 0], "pre_roll": 0.05"#;
    let graph = bind(&document(BALL, sim), &hair(&[12, 5, 9, 12], 1, 0.04));
    let Some(mut twins) = Twins::new(&graph, 3) else {
        return;
    };
    let poses = |n: u32| [0.0, 0.07, -0.11].map(|a| pose(a * n as f32, [a, 0.0, 0.0]));
    let damping = |twins: &mut Twins, character: usize, value: f64| {
        let value = ParameterValue::Float(value);
        let cpu = &mut twins.cpu[character];
        cpu.set_parameter("damping", &value).expect("there");
        let gpu = &mut twins.gpu;
        gpu.set_parameter(character, "damping", &value)
            .expect("there");
    };
    damping(&mut twins, 1, 9.0);
    for number in 0..12 {
        if number == 5 {
            // Its next frame is a first one, beside frames of others that are not.
            twins.cpu[2].reset();
            twins.gpu.reset_one(2).expect("there");
        }
        let dt = if number == 0 { 0.0 } else { STEP };
        let (largest, mean) = twins.frame(dt, &poses(number));
        println!("crowd, frame {number}: {largest:e}, mean {mean:e}");
        assert!(mean < 1e-3 && (number > 6 || largest < 3e-4), "{largest}");
    }
    let own: Vec<_> = (0..3)
        .map(|i| twins.cpu[i].mesh_output("hair").expect("there").positions)
        .collect();
    assert!(own[0] != own[1] && own[1] != own[2], "one is like another");
}

/// After a reset the device gives what a new instance gives.
#[test]
fn resets_begin_anew() {
    if is_left_to_hardware() {
        return;
    }
    let graph = bind(
        &document(BALL, r#", "colliders": "ball", "wind": [1.5, 0, 0.5]"#),
        &hair(&[12; 9], 1, 0.04),
    );
    let Some(mut twins) = Twins::new(&graph, 1) else {
        return;
    };
    let run = |twins: &mut Twins| -> Vec<Vec<[f32; 3]>> {
        let frame = |n: u32| {
            twins.frame(if n == 0 { 0.0 } else { STEP }, &[still(n)]);
            let read = twins.gpu.read_mesh("hair", 0).expect("reads");
            read.expect("there").positions
        };
        (0..4).map(frame).collect()
    };
    let first = run(&mut twins);
    run(&mut twins);
    twins.gpu.reset();
    twins.cpu[0].reset();
    assert!(run(&mut twins) == first, "the same device, the same bits");
}
