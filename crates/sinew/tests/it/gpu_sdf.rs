//! Distance fields on GPUs: the words that they leave against those of the processor, and against every triangle in double
//! precision.

use sinew::deform::sdf::{
    FieldFrame, FieldView, FieldWords, NO_BRICK, ReferenceMesh, SdfBind, SdfSettings,
};
use sinew::deform::{Par, ParameterValue};
use sinew::geom::{
    Affine, Influences, Joint, LocalTransform, Mesh, Node, Pose, Quat, Rig, Topology, Trs, Vec3,
};
use sinew::graph::{BoundGraph, Frame, InputBinding, InputType, Instance, NoNesting, compile};
use sinew_gpu::{GpuGraph, GpuInstances};
use sinew_testkit::meshes;
use std::sync::Arc;

/// Cells within which all values are exact.
const BAND: f32 = 3.0;

fn mesh(positions: Vec<[f32; 3]>, triangles: Vec<[u32; 3]>) -> Mesh {
    let topology = Topology::new(positions.len() as u32, triangles).expect("in range");
    Mesh::new("mesh", topology, positions)
}

fn torus(nu: u32, nv: u32) -> Mesh {
    let turn = |i: u32, n: u32| std::f32::consts::TAU * i as f32 / n as f32;
    let at = |n: u32| {
        let (u, v) = (turn(n / nv, nu), turn(n % nv, nv));
        let r = 0.6 + 0.2 * v.cos();
        [r * u.cos(), r * u.sin(), 0.2 * v.sin()]
    };
    let id = |i: u32, j: u32| (i % nu) * nv + j % nv;
    let triangles = (0..nu * nv).flat_map(|n| {
        let (i, j) = (n / nv, n % nv);
        let q = [id(i, j), id(i + 1, j), id(i + 1, j + 1), id(i, j + 1)];
        [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]
    });
    mesh((0..nu * nv).map(at).collect(), triangles.collect())
}

/// A box with edges of three lengths, none of them a multiple of a cell.
fn cuboid() -> Mesh {
    let mut out = meshes::cube();
    for p in &mut out.positions {
        *p = [1.03 * p[0], 0.61 * p[1], 0.37 * p[2]];
    }
    out
}

/// Two balls that cut through each other, in one mesh.
fn self_cutting() -> Mesh {
    let ball = meshes::sphere(12, 24);
    let moved = ball
        .positions
        .iter()
        .map(|p| [p[0] + 0.7, p[1] + 0.2, p[2]]);
    let count = ball.positions.len() as u32;
    let others = ball
        .topology
        .triangles()
        .iter()
        .map(|t| t.map(|v| v + count));
    mesh(
        ball.positions.iter().copied().chain(moved).collect(),
        ball.topology
            .triangles()
            .iter()
            .copied()
            .chain(others)
            .collect(),
    )
}

/// Two joints on the x axis, the second at `middle`.
fn rig(middle: f64) -> Rig {
    let node = |name: &str, parent, x| Node {
        name: name.into(),
        parent,
        local: LocalTransform::Trs(Trs {
            translation: Vec3::new(x, 0.0, 0.0),
            ..Trs::default()
        }),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let joint = |node, x: f64| Joint {
        node,
        joint_from_bind: Affine {
            translation: Vec3::new(-x, 0.0, 0.0),
            ..Affine::identity()
        },
    };
    let nodes = vec![node("root", None, 0.0), node("tip", Some(0), middle)];
    Rig::new(nodes, vec![joint(0, 0.0), joint(1, middle)]).expect("valid")
}

/// The root turned about y and moved, the tip turned about z, radians.
fn pose(rig: &Rig, turned: f64, bent: f64) -> Pose {
    let mut pose = rig.rest_pose();
    let middle = rig.joints()[1].joint_from_bind.translation * -1.0;
    let about = |axis: usize, angle: f64, center: Vec3<f64>| {
        let mut turn = Vec3::zeros();
        turn[axis] = angle;
        let linear = Quat::new(turn * 0.5).to_rotation_matrix().into_inner();
        Affine {
            linear,
            translation: center - linear * center,
        }
    };
    let mut root = about(1, turned, Vec3::zeros());
    root.translation += Vec3::new(0.21, 0.1, -0.3) * turned;
    let tip = about(2, bent, middle);
    let both = Affine {
        linear: root.linear * tip.linear,
        translation: root.linear * tip.translation + root.translation,
    };
    pose.palette[0] = root.into();
    pose.palette[1] = both.into();
    pose
}

const MOVING: &str = r#""moving": {"node": "transform", "mesh": "body", "weight": "$weight",
   "transform": {"translation": [0.31, 0.17, -0.23], "rotation_degrees": [13, 27, 41]}},"#;
const SKIN: &str = r#""moving": {"node": "skin", "mesh": "body", "pose": "pose"},"#;

fn document(nodes: &str, settings: &str) -> String {
    format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}}},
 "parameters": {{"weight": {{"type": "float", "default": 0.4}}}},
 "nodes": {{{nodes} "it": {{"node": "sdf", "mesh": "moving", {settings}}}}}, "outputs": {{"field": "it", "mesh": "moving"}}}}"#
    )
}

/// Characters on both devices.
struct Both {
    cpu: Vec<Instance>,
    gpu: GpuInstances,
    mesh: Mesh,
    rig: Rig,
    frames_done: u32,
}

impl Both {
    /// `None` without an adapter.
    fn new(mesh: Mesh, text: &str, count: usize) -> Option<Self> {
        let device = sinew_gpu::test_support::gpu()?;
        let plan = compile("g.json", text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
        let rig = rig(1.0);
        let bind = |ty| match ty {
            InputType::Mesh | InputType::Strands => InputBinding::Mesh(Arc::new(mesh.clone())),
            InputType::Pose => InputBinding::Pose(Arc::new(rig.clone())),
            InputType::Values | InputType::VertexAnimation => InputBinding::Values,
        };
        let inputs: Vec<InputBinding> = plan.inputs().iter().map(|i| bind(i.ty)).collect();
        let graph = BoundGraph::bind(Arc::new(plan), &inputs, &[], Par::Seq);
        let graph = Arc::new(graph.unwrap_or_else(|e| panic!("{e}")));
        let shared = GpuGraph::new(&device, &graph).unwrap_or_else(|e| panic!("{e}"));
        let instance = || graph.instance();
        Some(Self {
            cpu: std::iter::repeat_with(instance).take(count).collect(),
            gpu: shared.instances(count).unwrap_or_else(|e| panic!("{e}")),
            mesh,
            rig,
            frames_done: 0,
        })
    }

    fn set_weight(&mut self, instance: usize, weight: f64) {
        let value = ParameterValue::Float(weight);
        self.gpu
            .set_parameter(instance, "weight", &value)
            .expect("fits");
        self.cpu[instance]
            .set_parameter("weight", &value)
            .expect("fits");
    }

    /// A frame with these angles of the root and the tip, one pair a character, on both devices.
    fn frame(&mut self, angles: &[[f64; 2]]) {
        let poses: Vec<Pose> = angles.iter().map(|a| pose(&self.rig, a[0], a[1])).collect();
        let frames: Vec<Frame<'_>> = poses
            .iter()
            .map(|pose| {
                Frame::at(0.1 * f64::from(self.frames_done))
                    .dt(if self.frames_done == 0 { 0.0 } else { 0.1 })
                    .pose(pose)
            })
            .collect();
        self.gpu.update(&frames).unwrap_or_else(|e| panic!("{e}"));
        for (cpu, frame) in self.cpu.iter_mut().zip(&frames) {
            cpu.update(frame, Par::Seq)
                .unwrap_or_else(|e| panic!("{e}"));
        }
        self.frames_done += 1;
    }

    fn words(&mut self, instance: usize) -> [Vec<u32>; 2] {
        let cpu = self.cpu[instance].field_output("field").expect("there");
        let gpu = self.gpu.read_field("field", instance).expect("reads");
        [cpu.to_vec(), gpu.expect("there")]
    }

    /// Both fields of a character agree; gives their differences.
    fn compare(&mut self, instance: usize) -> Differences {
        let [cpu, gpu] = self.words(instance);
        let [cpu, gpu] = [grid(&cpu), grid(&gpu)];
        assert_eq!(gpu.shape, cpu.shape);
        let apart =
            |a: [f32; 3], b: [f32; 3]| (0..3).map(|k| (a[k] - b[k]).abs()).fold(0.0, f32::max);
        for p in [[0.0; 3], [1.0, -2.0, 3.0]] {
            let found = apart(gpu.frame.point_from_scene(p), cpu.frame.point_from_scene(p));
            assert!(found < 1e-5, "frames differ by {found}");
        }
        assert_eq!(gpu.table, cpu.table, "bricks and their slots");
        let out = Differences::of(&cpu, &gpu);
        assert!(out.coarse < 1e-4, "{out:?}");
        assert!(out.in_band < 1e-3, "{out:?}");
        // As far as the processor's may be off where it is not exact.
        assert!(out.above < 1e-3 && out.below < 2.0, "{out:?}");
        assert_eq!(out.wrong_signs, 0, "{out:?}");
        out
    }
}

fn grid(words: &[u32]) -> FieldView<'_> {
    match FieldWords::read(words) {
        FieldWords::Grid(view) => view,
        other => panic!("{other:?}"),
    }
}

/// The device's values against the processor's, in cells.
#[derive(Debug, Default)]
struct Differences {
    coarse: f32,
    in_band: f32,
    /// Beyond the band the processor's distances may be too large, the device's are exact.
    above: f32,
    below: f32,
    /// Further than 1e-4 from the surface.
    wrong_signs: usize,
    bricks: usize,
    inside: usize,
}

impl Differences {
    fn of(cpu: &FieldView<'_>, gpu: &FieldView<'_>) -> Self {
        let mut out = Self::default();
        for (&a, &b) in cpu.coarse.iter().zip(gpu.coarse) {
            out.coarse = larger(out.coarse, (a.abs() - b.abs()).abs() / a.abs().max(1.0));
            out.sign(a, b);
        }
        let slots = cpu.table.iter().filter(|&&s| s != NO_BRICK);
        for &slot in slots {
            out.bricks += 1;
            for node in 0..512 {
                let [a, b] = [cpu, gpu].map(|v| v.values.get(slot as usize, node));
                let more = b.abs() - a.abs();
                if a.abs() <= BAND {
                    out.in_band = larger(out.in_band, more.abs());
                } else {
                    out.above = larger(out.above, more);
                    out.below = larger(out.below, -more);
                }
                out.sign(a, b);
            }
        }
        out
    }

    fn sign(&mut self, a: f32, b: f32) {
        self.wrong_signs += usize::from((a < 0.0) != (b < 0.0) && a.abs() > 1e-4);
        self.inside += usize::from(b < 0.0);
    }
}

/// The larger one; no number counts as infinite.
fn larger(most: f32, next: f32) -> f32 {
    if next.is_nan() {
        f32::INFINITY
    } else {
        most.max(next)
    }
}

/// One frame of a mesh that a transform moves.
fn one_frame(mesh: Mesh, settings: &str) -> Option<(Both, Differences)> {
    let mut both = Both::new(mesh, &document(MOVING, settings), 1)?;
    both.frame(&[[0.0; 2]]);
    let found = both.compare(0);
    Some((both, found))
}

#[test]
fn closed_meshes_have_the_processors_field() {
    let few = meshes::sphere(5, 8);
    for (mesh, settings, bricks) in [
        (meshes::sphere(24, 48), r#""cells": 30"#, 50),
        (torus(64, 40), r#""cells": 41, "padding": 2.5"#, 50),
        // Some hundred triangles a brick: more than a batch, and a group for each block.
        (torus(64, 40), r#""cells": 11, "padding": 2.5"#, 10),
        (
            torus(64, 40),
            r#""cells": 11, "sign": "winding_number""#,
            10,
        ),
        (cuboid(), r#""cells": 37"#, 20),
        (
            cuboid(),
            r#""cells": 37, "box": "rest", "sign": "winding_number""#,
            20,
        ),
        (few, r#""cells": 9, "band": 4"#, 1),
    ] {
        let Some((_, found)) = one_frame(mesh, settings) else {
            return;
        };
        assert!(
            found.bricks >= bricks && found.inside > 50,
            "{settings}: {found:?}"
        );
    }
}

/// What nothing moves is built in setup, on the device.
#[test]
fn meshes_at_rest_are_built_once() {
    let text = document("", r#""cells": 22"#).replace("moving", "body");
    let Some(mut both) = Both::new(cuboid(), &text, 2) else {
        return;
    };
    both.frame(&[[0.0; 2]; 2]);
    assert_eq!(both.gpu.launch_labels().len(), 0, "nothing runs in frames");
    assert!(both.compare(1).bricks > 10);
}

/// Where two balls overlap the pseudonormals of one lie inside the other.
#[test]
fn winding_numbers_see_through_cuts() {
    let settings = r#""cells": 33, "sign": "winding_number""#;
    let Some((mut both, found)) = one_frame(self_cutting(), settings) else {
        return;
    };
    assert!(found.inside > 1000, "{found:?}");
    let [_, gpu] = both.words(0);
    let view = grid(&gpu);
    let positions = both.cpu[0].mesh_output("mesh").expect("there").positions;
    let centers = [0, both.mesh.vertex_count() / 2].map(|first| {
        let ball = &positions[first..first + both.mesh.vertex_count() / 2];
        let sum = ball
            .iter()
            .fold([0.0; 3], |s: [f32; 3], p| [0, 1, 2].map(|k| s[k] + p[k]));
        sum.map(|c| c / ball.len() as f32)
    });
    // Between the centres all is inside, however near the surfaces are.
    for step in 0..=20_u8 {
        let t = f32::from(step) / 20.0;
        let p = [0, 1, 2].map(|k| centers[0][k] * (1.0 - t) + centers[1][k] * t);
        assert!(view.sample(p) < 0.0, "{t}: {}", view.sample(p));
    }
}

/// A tube without ends, a cup that opens upwards, and one of many short rims: nodes away from the lids have the side of the solid angle
/// of all triangles in double precision. Unmoved, rims lie exactly above columns of nodes.
#[test]
fn open_meshes_have_the_sides_of_their_solid_angles() {
    let cup = without(meshes::sphere(12, 16), |c| c[2] > 0.3);
    let fine_cup = without(meshes::sphere(48, 96), |c| c[2] > 0.3);
    let torn = without(meshes::sphere(48, 96), |c| (c[0] * 997.0).sin() > 0.92);
    let tube = meshes::tube(8, 12, 2.0, 0.5);
    // Behind long rims far clusters are dipoles.
    for (mesh, cells, unsure, least) in [
        (tube, 20, 1e-3, 100),
        (cup, 20, 1e-3, 500),
        (fine_cup, 9, 1e-3, 100),
        (torn, 8, 0.05, 100),
    ] {
        let settings = format!(r#""cells": {cells}, "sign": "winding_number""#);
        let text = document(MOVING, &settings);
        let Some(mut both) = Both::new(mesh, &text, 1) else {
            return;
        };
        for weight in [0.0, 0.4] {
            both.set_weight(0, weight);
            both.frame(&[[0.0; 2]]);
            let inside = check_sides(&mut both, unsure);
            assert!(inside > least, "{inside}");
        }
    }
}

/// The mesh without the triangles whose centres have a property.
fn without(base: Mesh, leaves: impl Fn([f32; 3]) -> bool) -> Mesh {
    let center = |t: &[u32; 3]| {
        [0, 1, 2].map(|k| {
            t.iter()
                .map(|&v| base.positions[v as usize][k])
                .sum::<f32>()
                / 3.0
        })
    };
    let kept = base.topology.triangles().iter();
    let kept = kept.filter(|t| !leaves(center(t))).copied().collect();
    mesh(base.positions.clone(), kept)
}

/// Compares all nodes of bricks and corners of bricks that have a side; gives how many are inside.
fn check_sides(both: &mut Both, unsure: f64) -> usize {
    let moved = both.cpu[0].mesh_output("mesh").expect("there").positions;
    let truth = sinew_testkit::MeshTruth::new(moved, both.mesh.topology.triangles());
    let [_, words] = both.words(0);
    let view = grid(&words);
    let nodes = view.shape.bricks.map(|b| 7 * b + 1);
    let line = |k: usize| (0..nodes[k]).map(move |i| view.shape.node_position([i; 3])[k]);
    let windings = truth.windings(&[0, 1, 2].map(|k| line(k).map(f64::from).collect()));
    let (mut inside, mut wrong) = (0, Vec::new());
    for (i, winding) in (0..).zip(windings) {
        let node = [
            i % nodes[0],
            i / nodes[0] % nodes[1],
            i / (nodes[0] * nodes[1]),
        ];
        if !view.is_exact(node) && node.iter().any(|n| n % 7 != 0) {
            continue;
        }
        let value = view.node(node) / view.shape.cell;
        inside += usize::from(value < 0.0);
        if (winding > 0.5) != (value < 0.0) && (winding - 0.5).abs() > unsure && value.abs() > 1e-3
        {
            wrong.push((node, value, winding));
        }
    }
    assert!(wrong.is_empty(), "{} wrong: {:?}", wrong.len(), wrong[0]);
    inside
}

#[test]
fn halves_differ_by_their_rounding() {
    // Eight groups fill a brick of the second one.
    for cells in [30, 11] {
        let settings = format!(r#""cells": {cells}, "storage": "half""#);
        if let Some((_, found)) = one_frame(torus(64, 40), &settings) {
            assert!(found.in_band < 1e-3 && found.in_band > 0.0, "{found:?}");
        }
    }
}

/// A tube with both ends closed.
fn limb() -> Mesh {
    let (segments, around) = (24, 16);
    let tube = meshes::tube(segments, around, 2.0, 0.3);
    let [first, last] = [0, 1].map(|k| tube.positions.len() as u32 + k);
    let ring = segments * around;
    let caps = (0..around).flat_map(|s| {
        let next = (s + 1) % around;
        [[first, next, s], [last, ring + s, ring + next]]
    });
    let triangles = tube
        .topology
        .triangles()
        .iter()
        .copied()
        .chain(caps)
        .collect();
    let ends = [[0.0; 3], [2.0, 0.0, 0.0]];
    let mut out = mesh(
        tube.positions.iter().copied().chain(ends).collect(),
        triangles,
    );
    let share = |p: &[f32; 3]| ((p[0] / 2.0 - 0.4) / 0.2).clamp(0.0, 1.0);
    let rows: Vec<[(u32, f32); 2]> = (out.positions.iter())
        .map(|p| [(0, 1.0 - share(p)), (1, share(p))])
        .collect();
    let rows = rows.iter().map(|r| r.as_slice());
    out.influences = Influences::from_rows(rows, 2, 0).ok().map(|r| r.0);
    out
}

/// Two characters that bend on their own, their fields carried by the root.
#[test]
fn skinned_meshes_are_followed() {
    let settings = r#""cells": 40, "follow": "root", "pose": "pose""#;
    let Some(mut both) = Both::new(limb(), &document(SKIN, settings), 2) else {
        return;
    };
    for frame in 0..4_u8 {
        let t = f64::from(frame);
        both.frame(&[[0.3 * t, 0.25 * t], [-0.41 * t, 0.5 - 0.33 * t]]);
        let found = [both.compare(0), both.compare(1)];
        assert!(
            found.iter().all(|f| f.bricks > 20 && f.inside > 200),
            "{found:?}"
        );
    }
    // The joint turns, the mesh stands still in its frame: only the frame changes.
    let before = both.words(0)[1].clone();
    both.frame(&[[1.7, 0.75], [0.0, 0.0]]);
    let after = both.words(0)[1].clone();
    both.compare(0);
    assert_ne!(before[1..14], after[1..14]);
    assert!(before[14..] == after[14..], "it was built anew");
}

/// Less than a thousandth of a cell is not worth a build; after a reset everything is.
#[test]
fn meshes_that_stand_still_are_not_built_again() {
    let Some(mut both) = Both::new(torus(40, 24), &document(MOVING, r#""cells": 24"#), 2) else {
        return;
    };
    let still = [[0.0; 2]; 2];
    both.frame(&still);
    let first = [both.words(0)[1].clone(), both.words(1)[1].clone()];
    assert!(
        first[0] == first[1],
        "one scene, two runs, in whatever order invocations came: the same bits"
    );
    // About 4e-4 cells.
    let a_little = 0.4 + 3e-5;
    for instance in 0..2 {
        both.set_weight(instance, a_little);
    }
    both.frame(&still);
    for (i, first) in first.iter().enumerate() {
        assert!(both.words(i)[1] == *first, "character {i} was built anew");
    }
    both.gpu.reset_one(1).expect("there");
    both.cpu[1].reset();
    both.frame(&still);
    assert!(both.words(0)[1] == first[0], "the other one was not reset");
    assert!(
        both.words(1)[1] != first[1],
        "after a reset it is built anew"
    );
    both.compare(1);
    // Small steps add up.
    both.set_weight(0, 0.4 + 3e-4);
    both.frame(&still);
    assert!(
        both.words(0)[1] != first[0],
        "it moved by some thousandths of a cell"
    );
    both.compare(0);
}

/// The mesh grows until its bricks find no room, then until its box does not fit.
#[test]
fn what_outgrows_its_room_is_treated_alike() {
    let growing = r#""moving": {"node": "transform", "mesh": "body", "weight": "$weight", "transform": {"scale": [3, 3, 3]}},"#;
    let text = document(growing, r#""cells": 24, "padding": 3"#);
    let Some(mut both) = Both::new(meshes::sphere(16, 32), &text, 1) else {
        return;
    };
    let mut seen = [false; 2];
    for weight in [0.0, 0.27, 0.8] {
        both.set_weight(0, weight);
        both.frame(&[[0.0; 2]]);
        let [_, gpu] = both.words(0);
        let view = grid(&gpu);
        seen[1] |= view.shape.cell > 2.0 / 24.0 * 1.05;
        let surface = view.table.iter().zip(0..).filter(|(s, _)| **s == NO_BRICK);
        // Bricks without values whose corners are within the band of the surface.
        let left_out = surface.filter(|&(_, i)| {
            let at = view.shape.brick_at(i);
            (0..8).any(|c: u32| {
                let corner = [0, 1, 2].map(|k| at[k] + (c >> k & 1));
                view.coarse[view.shape.coarse_index(corner)].abs() < BAND
            })
        });
        seen[0] |= left_out.count() > 0;
        both.compare(0);
    }
    assert_eq!(seen, [true; 2], "bricks were left out; cells were enlarged");
}

/// All nodes of bricks and the coarse level against every triangle in double precision.
#[test]
fn values_are_the_truth() {
    let Some((mut both, _)) = one_frame(torus(40, 24), r#""cells": 31"#) else {
        return;
    };
    let [_, gpu] = both.words(0);
    let view = grid(&gpu);
    let moved = both.cpu[0].mesh_output("mesh").expect("there").positions;
    let settings = SdfSettings::default();
    let frame = FieldFrame::default();
    let bind = SdfBind::new(&both.mesh.topology, &both.mesh.positions, &frame, settings);
    let truth = ReferenceMesh::<f64>::new(&bind.expect("valid"), moved);
    let (mut worst, mut wrong, mut tried) = (0.0_f64, 0, 0);
    let mut check = |node: [u32; 3], found: f32| {
        let p = view.shape.node_position(node).map(f64::from);
        let near = truth.nearest(Vec3::from(p)).expect("triangles");
        let distance = near.distance / f64::from(view.shape.cell);
        worst = worst.max((f64::from(found.abs()) - distance).abs());
        let behind = truth.is_behind(Vec3::from(p), &near);
        wrong += usize::from(distance > 1e-3 && behind != (found < 0.0));
        tried += 1;
    };
    for (i, &value) in view.coarse.iter().enumerate() {
        check(view.shape.coarse_at(i).map(|c| 7 * c), value);
    }
    for (i, &slot) in view
        .table
        .iter()
        .enumerate()
        .filter(|(_, s)| **s != NO_BRICK)
    {
        let low = view.shape.brick_at(i).map(|b| 7 * b);
        for node in (0..512_u32).step_by(5) {
            let at = [node & 7, node >> 3 & 7, node >> 6];
            let value = view.values.get(slot as usize, node as usize);
            check([0, 1, 2].map(|k| low[k] + at[k]), value);
        }
    }
    assert!(tried > 2000, "{tried}");
    assert!(
        worst < 5e-4 && wrong == 0,
        "{worst} cells, {wrong} wrong signs"
    );
}
