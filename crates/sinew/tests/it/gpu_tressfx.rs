//! The TressFX-compatible nodes on GPUs: the numbers of the CPU, and closed forms.
//!
//! Keys of distances have no order of triangles, so that fields differ by rounding alone. Hair takes the same operations in the same order
//! on both sides; contacts with a grid magnify rounding, whose gradients are differences over a tenth of a cell.

#![expect(clippy::print_stdout, reason = "says how far both sides are apart")]

use sinew::deform::sdf::{FieldView, FieldWords, NO_BRICK, UNSET};
use sinew::deform::tressfx_sdf::CompatibilityField;
use sinew::deform::{Par, ParameterValue};
use sinew::geom::{
    Affine, Attribute, Influences, Joint, LocalTransform, Mesh, Node, Pose, Rig, Strands, Topology,
    Trs, Vec3,
};
use sinew::graph::{BoundGraph, Frame, InputBinding, InputType, Instance, NoNesting, compile};
use sinew_gpu::{GpuGraph, GpuInstances};
use sinew_testkit::meshes;
use std::sync::Arc;

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

/// The first joint turned by that angle about y, moved and scaled, the second the other way.
fn pose(angle: f32, moved: [f32; 3], size: f32) -> Pose {
    let mut pose = rig().rest_pose();
    for (joint, sign) in pose.palette.iter_mut().zip([1.0, -0.5_f32]) {
        let (sine, cosine) = (sign * angle).sin_cos();
        joint.rows[0] = [size * cosine, 0.0, size * sine, sign * moved[0]];
        joint.rows[1] = [0.0, size, 0.0, sign * moved[1]];
        joint.rows[2] = [-size * sine, 0.0, size * cosine, sign * moved[2]];
    }
    pose
}

fn swinging(n: u8) -> Pose {
    let t = f32::from(n);
    pose(0.07 * t, [0.02 * t, -0.01 * t, 0.004 * t], 1.0)
}

fn still(_: u8) -> Pose {
    pose(0.0, [0.0; 3], 1.0)
}

fn ball() -> Mesh {
    let mut ball = meshes::sphere(16, 32);
    for p in &mut ball.positions {
        *p = [0.3 * p[0], 0.5 + 0.3 * p[1], 0.3 * p[2]];
    }
    ball
}

/// Strands of these many vertices that lead down from a square of roots above [`ball`], two followers each. They follow both joints.
fn hair(counts: &[usize], spacing: f32) -> Mesh {
    let across = (counts.len() as f32).sqrt().ceil().max(2.0);
    let (mut lengths, mut leaders, mut positions, mut weights) = (vec![], vec![], vec![], vec![]);
    for (i, &count) in counts.iter().enumerate() {
        let at = |k: f32| 0.5 * (k / (across - 1.0) - 0.5);
        let (x, z) = (at((i as f32) % across), at((i as f32 / across).floor()));
        let leader = lengths.len() as u32;
        for f in 0..3_u8 {
            let (sine, cosine) = (2.4 * f32::from(f)).sin_cos();
            let beside = if f == 0 { 0.0 } else { 0.02 };
            lengths.push(count);
            leaders.push(leader);
            for k in 0..count {
                let k = k as f32;
                // Not straight, so that bends have something to keep.
                let curl = 0.3 * spacing * (0.9 * k + i as f32).sin();
                let [x, z] = [x + beside * cosine + curl, z + beside * sine];
                positions.push([x, 1.1 - spacing * k, z]);
                let share = 0.5 + 0.5 * (0.7 * i as f32).sin();
                weights.push([(0, share), (1, 1.0 - share)]);
            }
        }
    }
    let strands = Strands::new(lengths).expect("valid");
    let strands = strands.with_guides(leaders).expect("valid");
    let mut mesh = Mesh::new("hair", Topology::from_strands(strands), positions);
    let rows = weights.iter().map(|r| r.as_slice());
    mesh.influences = Influences::from_rows(rows, 2, 0).ok().map(|r| r.0);
    mesh
}

fn bind(text: &str, hair: &Mesh, body: &Mesh) -> Arc<BoundGraph> {
    let plan = compile("g.json", text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let input = |ty| match ty {
        InputType::Strands => InputBinding::Mesh(Arc::new(hair.clone())),
        InputType::Mesh => InputBinding::Mesh(Arc::new(body.clone())),
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
    frames_done: u8,
    time_secs: f64,
}

impl Twins {
    /// `None` without a device.
    fn new(graph: &Arc<BoundGraph>, count: usize) -> Option<Self> {
        let device = sinew_gpu::test_support::gpu()?;
        let shared = GpuGraph::new(&device, graph).unwrap_or_else(|e| panic!("{e}"));
        let instance = || graph.instance();
        Some(Self {
            cpu: std::iter::repeat_with(instance).take(count).collect(),
            gpu: shared.instances(count).unwrap_or_else(|e| panic!("{e}")),
            frames_done: 0,
            time_secs: 0.0,
        })
    }

    fn set(&mut self, instance: usize, name: &str, value: ParameterValue) {
        let gpu = self.gpu.set_parameter(instance, name, &value);
        gpu.expect("fits");
        let cpu = self.cpu[instance].set_parameter(name, &value);
        cpu.expect("fits");
    }

    /// A frame with a pose for each character.
    fn frame(&mut self, dt_secs: f64, poses: &[Pose]) {
        let dt_secs = if self.frames_done == 0 { 0.0 } else { dt_secs };
        self.time_secs += dt_secs;
        let at = |pose| Frame::at(self.time_secs).dt(dt_secs).pose(pose);
        let frames: Vec<Frame<'_>> = poses.iter().map(at).collect();
        self.gpu.update(&frames).unwrap_or_else(|e| panic!("{e}"));
        for (cpu, frame) in self.cpu.iter_mut().zip(&frames) {
            cpu.update(frame, Par::Seq).expect("fits");
        }
        self.frames_done += 1;
    }

    /// Largest distance of two vertices, and largest difference of two tangents.
    fn hair_differences(&mut self, character: usize) -> [f64; 2] {
        let found = self.gpu.read_mesh("hair", character).expect("reads");
        let found = found.expect("there");
        let expected = self.cpu[character].mesh_output("hair").expect("there");
        let apart = sinew_testkit::max_distance(&found.positions, expected.positions);
        let tangents = [found.tangents.as_deref(), expected.tangents];
        let [Some(a), Some(b)] = tangents else {
            panic!("tangents");
        };
        let mut worst = 0.0_f64;
        for (a, b) in a.as_flattened().iter().zip(b.as_flattened()) {
            worst = worst.max(f64::from((a - b).abs()));
        }
        assert!(found.positions.as_flattened().iter().all(|v| v.is_finite()));
        [apart, worst]
    }

    fn words(&mut self, character: usize) -> [Vec<u32>; 2] {
        let cpu = self.cpu[character].field_output("field").expect("there");
        let gpu = self.gpu.read_field("field", character).expect("reads");
        [cpu.to_vec(), gpu.expect("there")]
    }
}

const STEP: f64 = 1.0 / 60.0;

fn grid(words: &[u32]) -> FieldView<'_> {
    match FieldWords::read(words) {
        FieldWords::Grid(view) => view,
        other => panic!("{other:?}"),
    }
}

fn nodes(view: &FieldView<'_>) -> impl Iterator<Item = [u32; 3]> {
    let [nx, ny, nz] = view.shape.nodes();
    (0..nz).flat_map(move |k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])))
}

/// The device's field against the CPU's.
#[derive(Debug, Default)]
struct FieldDifferences {
    set: usize,
    /// Nodes with a distance on one side only.
    set_once: usize,
    inside: usize,
    /// Nodes with other bits than the CPU's.
    rounded: usize,
    /// Largest difference of two magnitudes, in cells.
    distances: f32,
    /// Nodes with another sign.
    signs: Vec<[u32; 3]>,
}

fn compare(gpu: &FieldView<'_>, expected: impl Fn([u32; 3]) -> f32) -> FieldDifferences {
    let mut out = FieldDifferences::default();
    for node in nodes(gpu) {
        let [a, b] = [expected(node), gpu.node(node)];
        let [is_set, also] = [a, b].map(|v| v < 0.9 * UNSET);
        out.set_once += usize::from(is_set != also);
        if is_set && also {
            out.set += 1;
            out.inside += usize::from(a < 0.0);
            out.rounded += usize::from(a.to_bits() != b.to_bits());
            let apart = (a.abs() - b.abs()).abs() / gpu.shape.cell;
            out.distances = out.distances.max(apart);
            if (a < 0.0) != (b < 0.0) && a.abs() > 1e-6 {
                out.signs.push(node);
            }
        }
    }
    out
}

/// Both sides' words of a character.
fn compare_words([cpu, gpu]: &[Vec<u32>; 2]) -> FieldDifferences {
    let [cpu, gpu] = [grid(cpu), grid(gpu)];
    assert_eq!((gpu.shape, gpu.frame), (cpu.shape, cpu.frame));
    let has_values = |view: &FieldView<'_>| -> Vec<bool> {
        let of = view.table.iter();
        of.map(|&slot| slot != NO_BRICK).collect()
    };
    assert_eq!(has_values(&gpu), has_values(&cpu));
    assert_eq!(gpu.coarse.len(), cpu.coarse.len());
    let mut corners = gpu.coarse.iter().zip(cpu.coarse);
    assert!(corners.all(|(a, b)| (a.abs() - b.abs()).abs() <= 1e-3));
    compare(&gpu, |node| cpu.node(node))
}

/// Drivers in software fuse nothing and divide exactly.
fn is_software() -> bool {
    let gpu = sinew_gpu::test_support::gpu();
    gpu.is_some_and(|gpu| gpu.info().kind == sinew_gpu::AdapterKind::Software)
}

const MOVING: &str = r#""moving": {"node": "transform", "mesh": "body", "weight": "$weight",
   "transform": {"translation": [0.11, 0.07, -0.13], "rotation_degrees": [13, 27, 41]}},"#;

fn field_document(nodes: &str, mesh: &str, more: &str) -> String {
    format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}}},
 "parameters": {{"weight": {{"type": "float", "default": 0.4}}}},
 "nodes": {{{nodes} "it": {{"node": "tressfx_sdf", "mesh": "{mesh}", {more}}}}},
 "outputs": {{"field": "it", "mesh": "{mesh}"}}}}"#
    )
}

/// A box with few triangles, each of which reaches much of the grid, and many nodes in the planes of its faces.
fn cuboid() -> Mesh {
    let mut out = meshes::cube();
    for p in &mut out.positions {
        *p = [1.03 * p[0], 0.61 * p[1], 0.37 * p[2]];
    }
    out
}

#[test]
fn fields_are_those_of_the_cpu() {
    for (name, mesh, cells) in [
        ("ball", ball(), 20),
        ("cuboid", cuboid(), 18),
        ("needles and points", meshes::degenerate(), 11),
    ] {
        let text = field_document(MOVING, "moving", &format!(r#""cells": {cells}"#));
        let graph = bind(&text, &mesh, &mesh);
        let Some(mut twins) = Twins::new(&graph, 2) else {
            return;
        };
        twins.set(1, "weight", ParameterValue::Float(1.0));
        // The second frame goes over what the first one left.
        for weight in [0.6, 0.0] {
            twins.set(0, "weight", ParameterValue::Float(weight));
            twins.frame(STEP, &[still(0), still(0)]);
        }
        for character in [0, 1] {
            let positions = twins.gpu.read_mesh("mesh", character).expect("reads");
            let positions = positions.expect("there").positions;
            let mut field = CompatibilityField::new(&mesh.positions, cells).expect("an extent");
            field.build(&mesh.topology, &positions);
            let [_, words] = twins.words(character);
            let found = compare(&grid(&words), |node| node_of(&field, node));
            println!("{name} {character}: {found:?}");
            assert!(found.set > 100 && found.set_once == 0, "{found:?}");
            assert!(found.distances < 1e-5, "{found:?}");
            assert!(found.rounded == 0 || !is_software(), "{found:?}");
            let triangles = triangles(&mesh, &positions);
            for &node in &found.signs {
                let p = Vec3::from(field.node_position(node).map(f64::from));
                // Where products are fused, more nodes are at a tie as far as roundings tell.
                assert!(is_tie(p, &triangles) || !is_software(), "{name}, {node:?}");
            }
            assert!(found.signs.len() < 8, "{name}: {:?}", found.signs);
        }
    }
}

/// A node as words hold it: in cells, and unset in the last layer of each axis.
fn node_of(field: &CompatibilityField, node: [u32; 3]) -> f32 {
    let is_inside = (0..3).all(|k| node[k] + 1 < field.nodes[k]);
    match is_inside.then(|| field.values[field.index(node)]) {
        Some(v) if v != UNSET => v / field.cell * field.cell,
        _ => UNSET,
    }
}

fn triangles(mesh: &Mesh, positions: &[[f32; 3]]) -> Vec<[Vec3<f64>; 3]> {
    let corner = |v: u32| Vec3::from(positions[v as usize].map(f64::from));
    let all = mesh.topology.triangles().iter();
    all.map(|t| t.map(corner)).collect()
}

/// Whether triangles that are equally far have the point on both of their sides: rounding decides between them.
fn is_tie(p: Vec3<f64>, triangles: &[[Vec3<f64>; 3]]) -> bool {
    let far = |t: &&[Vec3<f64>; 3]| distance_to(p, **t);
    let least = triangles
        .iter()
        .map(|t| far(&t))
        .fold(f64::INFINITY, f64::min);
    let side = |[a, b, c]: &[Vec3<f64>; 3]| (b - a).cross(&(c - a)).normalize().dot(&(p - a));
    let nearest = triangles.iter().filter(|t| far(t) < least + 1e-6);
    let sides: Vec<f64> = nearest.map(side).collect();
    sides.iter().any(|s| *s > -1e-6) && sides.iter().any(|s| *s < 1e-6)
}

/// What nothing moves is built in setup, on the device.
#[test]
fn meshes_at_rest_are_built_once() {
    let text = field_document("", "body", r#""cells": 20"#);
    let graph = bind(&text, &ball(), &ball());
    let Some(mut twins) = Twins::new(&graph, 1) else {
        return;
    };
    twins.frame(STEP, &[still(0)]);
    assert_eq!(twins.gpu.launch_labels().len(), 0, "nothing runs in frames");
    let found = compare_words(&twins.words(0));
    assert!(
        found.set > 1000 && found.inside > 100 && found.set_once == 0,
        "{found:?}"
    );
}

/// The box goes where the joint takes its centre, and neither turns nor grows; each character has its own.
#[test]
fn boxes_follow_their_joint() {
    let skin = r#""moving": {"node": "skin", "mesh": "body", "pose": "pose"},"#;
    let more = r#""cells": 16, "pose": "pose", "follow": "head""#;
    let mut body = ball();
    let rows = vec![[(0, 1.0)]; body.vertex_count()];
    let rows = rows.iter().map(|r| r.as_slice());
    body.influences = Influences::from_rows(rows, 2, 0).ok().map(|r| r.0);
    let graph = bind(&field_document(skin, "moving", more), &body, &body);
    let Some(mut twins) = Twins::new(&graph, 2) else {
        return;
    };
    let rest = CompatibilityField::new(&body.positions, 16).expect("an extent");
    for n in 0..3 {
        let poses = [swinging(n), pose(-0.3, [4.0, 0.0, f32::from(n)], 1.1)];
        twins.frame(STEP, &poses);
        for (character, pose) in poses.iter().enumerate() {
            let words = twins.words(character);
            let found = compare_words(&words);
            println!("follows {character}: {found:?}");
            assert!(found.set > 500 && found.set_once == 0, "{found:?}");
            // Up to 4 m away positions themselves are that far apart.
            assert!(
                found.distances < 1e-4 && found.signs.is_empty(),
                "{found:?}"
            );
            let center = Vec3::from(rest.center());
            let moved = pose.palette[0].unpack::<f32>().point(center) - center;
            let expected = Vec3::from(rest.origin) + moved;
            let off = (Vec3::from(grid(&words[1]).shape.origin) - expected).norm();
            assert!(off < 1e-5, "{off}");
        }
    }
}

/// Distance to a triangle in double precision: to its plane where that is inside of all edges, else to the nearest edge.
fn distance_to(p: Vec3<f64>, [a, b, c]: [Vec3<f64>; 3]) -> f64 {
    let normal = (b - a).cross(&(c - a));
    let edges = [(a, b), (b, c), (c, a)];
    let foot = p - normal * ((p - a).dot(&normal) / normal.norm_squared());
    let is_left = |(s, e): &(Vec3<f64>, Vec3<f64>)| (e - s).cross(&(foot - s)).dot(&normal) >= 0.0;
    if normal.norm() > 0.0 && edges.iter().all(is_left) {
        return (p - foot).norm();
    }
    let to_edge = |(s, e): (Vec3<f64>, Vec3<f64>)| {
        let along = e - s;
        let share = (p - s).dot(&along) / along.norm_squared().max(1e-300);
        (p - s - along * share.clamp(0.0, 1.0)).norm()
    };
    edges.map(to_edge).into_iter().fold(f64::INFINITY, f64::min)
}

/// All nodes within a cell of the surface have their distance, and no node has less than that.
#[test]
fn distances_are_the_truth() {
    let mesh = cuboid();
    let text = field_document(MOVING, "moving", r#""cells": 15"#);
    let Some(mut twins) = Twins::new(&bind(&text, &mesh, &mesh), 1) else {
        return;
    };
    twins.frame(STEP, &[still(0)]);
    let positions = twins.gpu.read_mesh("mesh", 0).expect("reads");
    let positions = positions.expect("there").positions;
    let [_, gpu] = twins.words(0);
    let view = grid(&gpu);
    let triangles = triangles(&mesh, &positions);
    let (mut near, mut set) = (0, 0);
    for node in nodes(&view) {
        let p = Vec3::from(view.shape.node_position(node).map(f64::from));
        let of = triangles.iter().map(|t| distance_to(p, *t));
        let expected = of.fold(f64::INFINITY, f64::min);
        let found = f64::from(view.node(node).abs());
        assert!(found > expected - 2e-6, "{node:?}: {found} for {expected}");
        set += usize::from(found < 1e9);
        if expected < f64::from(view.shape.cell) {
            assert!(
                (found - expected).abs() < 2e-6,
                "{node:?}: {found} for {expected}"
            );
            near += 1;
        }
    }
    assert!(near > 500 && set > near, "{near} {set}");
}

fn hair_document(nodes: &str, sim: &str) -> String {
    format!(
        r#"{{"sinew": "1.0",
 "inputs": {{"hair": {{"type": "strands"}}, "body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}}},
 "parameters": {{"reset": {{"type": "bool", "default": false}}}},
 "nodes": {{{nodes} "sim": {{"node": "tressfx_hair", "strands": "hair", "reset": "$reset" {sim}}}}},
 "outputs": {{"hair": "sim"}}}}"#
    )
}

/// Frames of a scene, and how far positions may be apart at their end, metres.
struct Scene<'a> {
    name: &'a str,
    nodes: &'a str,
    sim: &'a str,
    /// Parameters for collisions.
    colliders: &'a str,
    hair: Mesh,
    pose: fn(u8) -> Pose,
    frames: u8,
    positions: f64,
}

impl Scene<'_> {
    fn run(&self) {
        let text = hair_document(self.nodes, &format!("{} {}", self.sim, self.colliders));
        let Some(mut twins) = Twins::new(&bind(&text, &self.hair, &ball()), 1) else {
            return;
        };
        let free = hair_document("", self.sim);
        let mut free = bind(&free, &self.hair, &ball()).instance();
        let mut pushed = 0.0_f64;
        let (mut worst, mut moved) = ([0.0_f64; 2], 0.0_f64);
        for n in 0..self.frames {
            let pose = (self.pose)(n);
            twins.frame(STEP, std::slice::from_ref(&pose));
            let frame = Frame::at(twins.time_secs).dt(if n == 0 { 0.0 } else { STEP });
            free.update(&frame.pose(&pose), Par::Seq).expect("fits");
            let found = twins.hair_differences(0);
            worst = [0, 1].map(|i| worst[i].max(found[i]));
            let cpu = twins.cpu[0].mesh_output("hair").expect("there").positions;
            moved = moved.max(sinew_testkit::max_distance(cpu, &self.hair.positions));
            let free = free.mesh_output("hair").expect("there").positions;
            pushed = pushed.max(sinew_testkit::max_distance(cpu, free));
        }
        println!("{}: {worst:?} after a way of {moved}", self.name);
        assert!(
            (pushed > 0.02) != self.colliders.is_empty(),
            "{}: {pushed}",
            self.name
        );
        assert!(moved > 0.02, "{}: nothing moves", self.name);
        assert!(worst[0] < self.positions, "{}: {worst:?}", self.name);
        // Segments are a centimetre long and longer: a tangent turns by what their ends move by.
        assert!(
            worst[1] < 1e-5 + 200.0 * self.positions,
            "{}: {worst:?}",
            self.name
        );
    }
}

const STIFF: &str = r#""gravity": 4, "global_stiffness": 0.1, "global_range": 0.4, "local_iterations": 3, "length_iterations": 8,
 "tip_separation": 0.5"#;

#[test]
fn free_strands_are_those_of_the_cpu() {
    let wind = r#", "wind_magnitude": 4000, "wind_direction": [0.6, 0, 0.8]"#;
    let mut pinned = hair(&[12; 6], 0.03);
    // The root alone, and some in the middle.
    let masses =
        (0..pinned.vertex_count()).map(|v| if v % 12 == 0 || v % 12 == 5 { 0.0 } else { 1.0 });
    let masses = Attribute::Scalar(masses.collect());
    pinned.attributes.insert("inverse_mass".into(), masses);
    let lengths = [2, 3, 100, 4, 64, 17, 33, 5];
    for (name, sim, hair, pose) in [
        (
            "weights and wind",
            format!(r#", "pose": "pose", {STIFF} {wind}"#),
            hair(&[16; 25], 0.03),
            swinging as fn(u8) -> Pose,
        ),
        (
            "a joint that grows",
            format!(r#", "pose": "pose", "joint": "neck", {STIFF}"#),
            hair(&[8; 4], 0.05),
            |n| {
                pose(
                    -0.05 * f32::from(n),
                    [0.0, 0.01 * f32::from(n), 0.0],
                    1.0 + 0.01 * f32::from(n),
                )
            },
        ),
        (
            "nothing to follow",
            format!(", {STIFF}"),
            hair(&lengths, 0.02),
            still,
        ),
        (
            "pins",
            format!(r#", "pose": "pose", {STIFF}"#),
            pinned,
            swinging,
        ),
    ] {
        let sim = sim.as_str();
        Scene {
            name,
            nodes: "",
            sim,
            colliders: "",
            hair,
            pose,
            frames: 16,
            positions: 2e-5,
        }
        .run();
    }
}

#[test]
fn collisions_are_those_of_the_cpu() {
    // `mixed` takes differences over a tenth of a cell times the cell's edge in metres: few digits are left.
    let schemes = [("forward", 2e-5), ("mixed", 1e-3), ("analytic", 2e-5)];
    for (field, more, schemes) in [
        ("tressfx_sdf", "", &schemes[..]),
        ("sdf", r#", "band": 20"#, &schemes[..1]),
    ] {
        for &(gradient, positions) in schemes {
            Scene {
                name: &format!("{field}, {gradient}"),
                nodes: &format!(r#""field": {{"node": "{field}", "mesh": "body", "pose": "pose", "follow": "head", "cells": 30 {more}}},"#),
                sim: &format!(", {STIFF}"),
                colliders: &format!(r#", "colliders": "field", "margins": [0.5], "gradient": "{gradient}""#),
                hair: hair(&[16; 16], 0.03),
                pose: |n| pose(0.02 * f32::from(n), [0.001 * f32::from(n), 0.0, 0.0], 1.0),
                frames: 12,
                positions,
            }
            .run();
        }
    }
}

#[test]
fn solids_are_those_of_the_cpu() {
    let nodes = r#""capsule": {"node": "solids", "capsules": [{"from": [0.02, 0.55, 0.01], "to": [0, 0.6, 0], "radius": 0.3}]},
 "floor": {"node": "solids", "planes": [{"point": [0, 0.7, 0], "normal": [0.2, 1, 0]}]},"#;
    for gradient in ["forward", "mixed", "analytic"] {
        Scene {
            name: &format!("solids, {gradient}"),
            nodes,
            sim: &format!(r#", "pose": "pose", {STIFF}"#),
            colliders: &format!(r#", "colliders": ["capsule", "floor"], "margins": [0.1, 0.5], "gradient": "{gradient}""#),
            hair: hair(&[14; 16], 0.04),
            pose: swinging,
            frames: 12,
            positions: 1e-3,
        }
        .run();
    }
}

/// Without forces but gravity, n frames after the second one a vertex has fallen by gravity h^2 n (n + 1) / 2, and followers spread.
#[test]
fn free_fall_is_the_closed_form() {
    let hair = hair(&[8; 4], 0.05);
    let sim = r#", "gravity": 9.81, "damping": 0, "local_iterations": 0, "length_iterations": 0, "shock_coefficient": 0,
 "tip_separation": 0.75"#;
    let Some(mut twins) = Twins::new(&bind(&hair_document("", sim), &hair, &ball()), 1) else {
        return;
    };
    for n in 0..10_u8 {
        twins.frame(STEP, &[still(n)]);
        let found = twins
            .gpu
            .read_mesh("hair", 0)
            .expect("reads")
            .expect("there");
        // The first frame has no time.
        let n = f64::from(n);
        let fallen = 9.81 * STEP * STEP * 0.5 * n * (n + 1.0);
        for (v, p) in found.positions.iter().enumerate() {
            let (strand, i) = (v / 8, v % 8);
            let guide = hair.positions[v % 8 + strand / 3 * 24];
            let aside = [0, 1, 2]
                .map(|k| hair.positions[8 * strand][k] - hair.positions[strand / 3 * 24][k]);
            let spread = 1.0 + 0.75 * i as f32 / 8.0;
            let mut expected = [0, 1, 2].map(|k| guide[k] + spread * aside[k]);
            if i > 1 {
                expected[1] -= fallen as f32;
            }
            let off = (Vec3::from(*p) - Vec3::from(expected)).norm();
            assert!(off < 3e-6, "frame {n}, vertex {v}: {p:?} {expected:?}");
        }
    }
}

/// A plane has no margin: all but the first two vertices of strands that reach through it at rest are moved up to it, and stay above.
#[test]
fn nothing_is_below_a_plane() {
    let hair = hair(&[10; 4], 0.06);
    let floor =
        r#""floor": {"node": "solids", "planes": [{"point": [0, 0.8, 0], "normal": [0, 1, 0]}]},"#;
    let sim = format!(r#", "colliders": "floor", "margins": [0.5], {STIFF}"#);
    let Some(mut twins) = Twins::new(&bind(&hair_document(floor, &sim), &hair, &ball()), 1) else {
        return;
    };
    for n in 0..8 {
        twins.frame(STEP, &[still(n)]);
        let found = twins
            .gpu
            .read_mesh("hair", 0)
            .expect("reads")
            .expect("there");
        let heights = found.positions.iter().map(|p| p[1]);
        assert!(heights.clone().all(|y| y > 0.8 - 1e-6), "frame {n}");
        if n == 0 {
            let at_rest = hair.positions.iter().map(|p| p[1].max(0.8));
            let apart = heights.zip(at_rest).map(|(y, rest)| (y - rest).abs());
            assert!(apart.fold(0.0, f32::max) < 1e-5);
        }
    }
}

/// Two characters: one begins again, then one sees a moment twice, and a saved state goes on.
#[test]
fn characters_begin_again_stand_still_and_go_on() {
    let hair = hair(&[12; 9], 0.03);
    let ball_alone = r#""ball": {"node": "solids", "capsules": [{"from": [0, 0.5, 0], "to": [0, 0.52, 0], "radius": 0.3}]},"#;
    let sim = format!(r#", "pose": "pose", "colliders": "ball", "wind_magnitude": 500, {STIFF}"#);
    let graph = bind(&hair_document(ball_alone, &sim), &hair, &ball());
    let Some(mut twins) = Twins::new(&graph, 2) else {
        return;
    };
    let positions = |twins: &mut Twins, character| {
        let mesh = twins.gpu.read_mesh("hair", character).expect("reads");
        mesh.expect("there").positions
    };
    for n in 0..9_u8 {
        twins.set(1, "reset", ParameterValue::Bool(n == 5));
        let before = (n > 0).then(|| positions(&mut twins, 0));
        let dt_secs = if n == 7 { 0.0 } else { STEP };
        twins.frame(dt_secs, &[swinging(n), swinging(2 * n)]);
        for character in [0, 1] {
            let [apart, _] = twins.hair_differences(character);
            assert!(apart < 1e-4, "frame {n}, {character}: {apart}");
        }
        assert_eq!(
            Some(positions(&mut twins, 0)) == before,
            n == 7,
            "frame {n}"
        );
    }
    let state = twins.gpu.save_state(0).expect("saves");
    let mut others = Twins::new(&graph, 2).expect("a device");
    others.frame(STEP, &[still(0), still(0)]);
    others.gpu.restore_state(0, &state).expect("fits");
    for n in 9..12 {
        let poses = [swinging(n), still(n)];
        twins.frame(STEP, &poses);
        others.frame(STEP, &poses);
        let [expected, found] = [&mut twins, &mut others].map(|t| positions(t, 0));
        assert!(found == expected, "frame {n}");
    }
}

/// The example graph on the sample that it is for: the field of a skinned head, which the GPU skins, and its hair.
#[cfg(all(feature = "gpu", feature = "io"))]
#[test]
fn the_example_plays_alike() {
    use sinew::play::{Character, Document, Output, PlayInputs, Player, Runner};
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let node = sinew::deform::find_node("tressfx_hair").expect("registered");
    let document = Document::from_text("hair.json", node.docs.examples[0].graph, "");
    let plan = Arc::new(document.compile().expect("a correct document"));
    let head = Character::from_asset(sinew_samples::head().expect("a sample"));
    let cast = PlayInputs::load(Arc::new(head), &plan, &document.folders).expect("assembles");
    let graph = cast.bind(&plan, &[]).expect("binds");
    let runners = [Runner::gpu(&gpu, &graph), Ok(Runner::cpu(&graph))];
    let mut players = runners.map(|runner| {
        let runner = runner.unwrap_or_else(|e| panic!("{e}"));
        Player::new(runner, cast.clone(), Vec::new(), None, 30.0).expect("plays")
    });
    for frame in 0..8 {
        let [found, expected] = players.each_mut().map(|player| {
            player.advance(frame).unwrap_or_else(|e| panic!("{e}"));
            let outputs = player.read_outputs().unwrap_or_else(|e| panic!("{e}"));
            let hair = outputs.into_iter().find(|(name, _)| name == "hair");
            match hair {
                Some((_, Output::Mesh(mesh))) => mesh.positions,
                other => panic!("{other:?}"),
            }
        });
        let apart = found.iter().zip(&expected).map(|(a, b)| {
            let apart = Vec3::from(*a) - Vec3::from(*b);
            f64::from(apart.norm())
        });
        let mean = apart.clone().sum::<f64>() / expected.len() as f64;
        let far = apart.clone().filter(|d| *d > 1e-4).count();
        let largest = apart.fold(0.0, f64::max);
        println!(
            "frame {frame}: {largest} m, mean {mean}, {far} of {}",
            expected.len()
        );
        assert!(mean < 1e-5 && far * 1000 < expected.len(), "frame {frame}");
    }
}
