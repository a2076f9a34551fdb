//! Kernels of the user's own, on the device, against closed forms and built-in nodes.

#![allow(
    clippy::print_stdout,
    reason = "tests say what they measure and what they skip"
)]

use crate::common;
use crate::common::bindings;
use sinew::deform::{Par, ParameterValue};
use sinew::geom::{Asset, Mesh, Pose, Vec3};
use sinew::graph::{BoundGraph, Frame, GraphSource, GraphText, Instance, NoNesting, compile};
use sinew_gpu::{Gpu, GpuGraph, GpuInstances, GpuMesh, LaunchStyle};
use sinew_testkit::max_distance;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files beside a document.
pub(crate) struct Files;

impl GraphSource for Files {
    fn graph_text(&self, from: &str, name: &str) -> Result<GraphText, String> {
        let path = Path::new(from).with_file_name(name);
        let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let name = path.display().to_string();
        Ok(GraphText::new(name, text))
    }
}

pub(crate) fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples")
        .join(name)
}

pub(crate) fn bound(asset: &Asset, text: &str) -> Arc<BoundGraph> {
    let plan = compile("test.json", text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let plan = Arc::new(plan);
    let inputs = bindings(asset, &plan);
    let graph = BoundGraph::bind(plan, &inputs, &[], Par::Seq);
    Arc::new(graph.unwrap_or_else(|e| panic!("{e}")))
}

/// The same characters on the GPU and on the CPU. What is read from one is compared with the other.
pub(crate) struct Both {
    pub(crate) gpu: GpuInstances,
    pub(crate) cpu: Vec<Instance>,
}

impl Both {
    pub(crate) fn new(gpu: &Gpu, graph: &Arc<BoundGraph>, count: usize) -> Self {
        let shared = GpuGraph::new(gpu, graph).and_then(|g| g.instances(count));
        Self {
            gpu: shared.unwrap_or_else(|e| panic!("{e}")),
            cpu: (0..count).map(|_| graph.instance()).collect(),
        }
    }

    pub(crate) fn set_parameter(&mut self, instance: usize, name: &str, value: &ParameterValue) {
        let set = self.gpu.set_parameter(instance, name, value);
        set.expect("a parameter");
        let set = self.cpu[instance].set_parameter(name, value);
        set.expect("a parameter");
    }

    /// Odd characters take threads.
    pub(crate) fn update(&mut self, frames: &[Frame<'_>]) {
        self.gpu.update(frames).unwrap_or_else(|e| panic!("{e}"));
        for (i, (cpu, frame)) in self.cpu.iter_mut().zip(frames).enumerate() {
            let par = [Par::Seq, Par::Rayon][i % 2];
            cpu.update(frame, par).unwrap_or_else(|e| panic!("{e}"));
        }
    }
}

pub(crate) fn instances(gpu: &Gpu, asset: &Asset, text: &str, count: usize) -> Both {
    Both::new(gpu, &bound(asset, text), count)
}

pub(crate) fn update(both: &mut Both, asset: &Asset, count: usize) {
    let pose = asset.rig.rest_pose();
    let frame = Frame::default().pose(&pose);
    both.update(&vec![frame; count]);
}

/// Floats of two devices are the same up to rounding, or both no numbers.
#[track_caller]
fn same(what: &str, gpu: &[f32], cpu: &[f32]) {
    assert_eq!(gpu.len(), cpu.len(), "{what}");
    for (i, (a, b)) in gpu.iter().zip(cpu).enumerate() {
        let near = (a - b).abs() <= 4e-6 * a.abs().max(1.0);
        let alike = near || a == b || a.is_nan() && b.is_nan();
        assert!(alike, "{what} {i}: GPU {a}, CPU {b}");
    }
}

pub(crate) fn mesh(both: &mut Both, name: &str, instance: usize) -> GpuMesh {
    let read = both.gpu.read_mesh(name, instance).expect("reads");
    let read = read.expect("a mesh output");
    let cpu = both.cpu[instance].mesh_output(name).expect("a mesh output");
    let (a, b) = (read.positions.as_flattened(), cpu.positions.as_flattened());
    same("positions", a, b);
    read
}

pub(crate) fn floats(both: &mut Both, name: &str, instance: usize) -> Vec<f32> {
    let read = both.gpu.read_floats(name, instance).expect("reads");
    let read = read.expect("an output of floats");
    let cpu = both.cpu[instance].float_output(name);
    same(name, &read, cpu.expect("an output of floats"));
    read
}

pub(crate) fn sample(name: &str) -> Asset {
    let all = crate::common::samples();
    let found = all.into_iter().find(|a| a.name == name);
    found.unwrap_or_else(|| panic!("no sample {name}"))
}

const SHIFT: &str = r#"{ "sinew": "1.0",
  "parameters": { "up": { "type": "float", "default": 0.5 } },
  "nodes": {
    "shift": {
      "node": "kernel",
      "domain": "vertex",
      "inputs": { "mesh": { "type": "mesh", "link": "body" } },
      "outputs": { "mesh": { "type": "mesh", "writes": ["positions"] } },
      "parameters": { "up": { "type": "float", "value": "$up" } },
      "text": "write_mesh_positions(index, read_mesh_positions(index) + vec3f(0.0, up(), 0.0));"
    }
  },
  "outputs": { "body": "shift" }
}"#;

#[test]
fn a_kernel_in_one_line() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = sample("arm_with_hand");
    let mut moved = instances(&gpu, &asset, SHIFT, 2);
    moved.set_parameter(1, "up", &ParameterValue::Float(-2.0));
    update(&mut moved, &asset, 2);
    let rest = asset.merged(&Default::default()).expect("a mesh");
    for (instance, up) in [(0, 0.5_f32), (1, -2.0)] {
        let out = mesh(&mut moved, "body", instance);
        assert_eq!(out.positions.len(), rest.positions.len());
        for (p, q) in rest.positions.iter().zip(&out.positions) {
            assert_eq!([p[0], p[1] + up, p[2]], *q);
        }
        // Moved points ask for normals that fit.
        assert!(out.normals.is_some());
    }
}

/// The same as `examples/custom_kernels.json` made of built-in nodes.
const BUILT_IN: &str = r#"{ "sinew": "1.0",
  "parameters": { "blend": { "type": "float", "default": 1.0, "min": 0.0, "max": 1.0 } },
  "nodes": {
    "skin": { "node": "skin", "mesh": "body", "pose": "pose", "method": "rigid" },
    "mush": { "node": "delta_mush", "mesh": "skin", "iterations": 8, "weights": "uniform_self", "step": 1.0,
      "frame": "two_edges", "pin_border": false, "blend": "$blend" },
    "frames": { "node": "tangent_frames", "mesh": "mush", "normals": "fixed_point", "hard_edges": "split", "tangents": "uv" },
    "color": { "node": "difference_color", "mesh": "frames", "reference": "skin", "scale": 1.0 }
  },
  "outputs": { "body": "color" }
}"#;

/// Rest, and the first clip at some times: clips that come back to rest do so at quarters.
pub(crate) fn poses(asset: &Asset) -> Vec<(f64, Pose)> {
    let range = asset.clips.first().map_or((0.0, 1.0), |c| c.range());
    let mut out = vec![(0.0, asset.rig.rest_pose())];
    for i in [0, 1, 3, 4] {
        let time = f64::from(range.0) + f64::from(range.1 - range.0) * f64::from(i) / 6.0;
        let mut pose = asset.rig.rest_pose();
        asset.rig.evaluate(asset.clips.first(), time, &mut pose);
        out.push((time, pose));
    }
    out
}

/// Largest differences between the example and the built-in nodes: positions over the bounding box, colours, degrees of normals
/// and tangents.
#[derive(Debug, Default)]
struct Differences {
    positions: f64,
    colors: f64,
    normals: f64,
    tangents: f64,
    /// How far the character moves from rest, over the bounding box.
    moved: f64,
}

impl Differences {
    fn check(&self, name: &str) {
        println!("{name}: {self:?}");
        assert!(self.positions < 1e-5, "{name}: {self:?}");
        assert!(self.colors < 1e-5, "{name}: {self:?}");
        assert!(self.normals < 0.1, "{name}: {self:?}");
        assert!(self.tangents < 0.1, "{name}: {self:?}");
    }
}

fn degrees(a: &[f32], b: &[f32]) -> f64 {
    let pairs = || a.iter().zip(b).map(|(a, b)| (f64::from(*a), f64::from(*b)));
    let apart: f64 = pairs().map(|(a, b)| (a - b) * (a - b)).sum();
    2.0 * (apart.sqrt() / 2.0).min(1.0).asin().to_degrees()
}

/// Vertices with a triangle that says where u grows. Others take any tangent: the longest edge, or an axis.
fn textured(mesh: &Mesh) -> Vec<bool> {
    let mut out = vec![false; mesh.vertex_count()];
    let Some(uvs) = mesh.uvs.first() else {
        return out;
    };
    for t in mesh.topology.triangles() {
        let [a, b, c] = t.map(|v| uvs[v as usize].map(f64::from));
        let edge = |a: [f64; 2], b: [f64; 2]| [b[0] - a[0], b[1] - a[1]];
        let (ab, ac, bc) = (edge(a, b), edge(a, c), edge(b, c));
        let square = |e: [f64; 2]| e[0] * e[0] + e[1] * e[1];
        let longest = square(ab).max(square(ac)).max(square(bc));
        if (ab[0] * ac[1] - ab[1] * ac[0]).abs() > 1e-6 * longest {
            t.iter().for_each(|&v| out[v as usize] = true);
        }
    }
    out
}

/// By how many degrees rounding may turn the normal of each vertex: what its triangles add to the sum changes with positions, and sums of
/// whole numbers fall to either side of steps of 1 / 32767. Where triangles cancel, little is left that this could be small beside.
fn unsure(rest: &Mesh, a: &[[f32; 3]], b: &[[f32; 3]]) -> Vec<f64> {
    let mut sums = vec![Vec3::zeros(); rest.vertex_count()];
    let mut changes = vec![0.0_f64; rest.vertex_count()];
    for t in rest.topology.triangles() {
        // Unit normal times the angle at each corner.
        let terms = |points: &[[f32; 3]]| -> [Vec3<f64>; 3] {
            let at = |k: usize| Vec3::from(points[t[k % 3] as usize].map(f64::from));
            [0, 1, 2].map(|k| {
                let (next, last) = (at(k + 1) - at(k), at(k + 2) - at(k));
                let across = next.cross(&last);
                across / across.norm().max(1e-30) * next.angle(&last)
            })
        };
        for ((&v, a), b) in t.iter().zip(terms(a)).zip(terms(b)) {
            sums[v as usize] += a;
            changes[v as usize] += (a - b).norm() + 2.0 / 32767.0;
        }
    }
    let degrees = |(sum, change): (Vec3<f64>, f64)| (change / sum.norm().max(1e-9)).to_degrees();
    sums.into_iter().zip(changes).map(degrees).collect()
}

fn compare(gpu: &Gpu, asset: &Asset) -> Differences {
    let path = example("custom_kernels.json");
    let text = std::fs::read_to_string(&path).expect("the example");
    let name = path.display().to_string();
    let plan = compile(&name, &text, &Files).unwrap_or_else(|e| panic!("{e}"));
    let plan = Arc::new(plan);
    let inputs = bindings(asset, &plan);
    let graph = BoundGraph::bind(plan, &inputs, &[], Par::Seq).unwrap_or_else(|e| panic!("{e}"));
    let mut kernels = Both::new(gpu, &Arc::new(graph), 1);
    let mut nodes = common::instance(asset, BUILT_IN);
    let mut out = Differences::default();
    let textured = textured(&asset.merged(&Default::default()).expect("a mesh"));
    for (i, (time_secs, pose)) in poses(asset).iter().enumerate() {
        let blend = ParameterValue::Float(if i == 3 { 0.25 } else { 1.0 });
        kernels.set_parameter(0, "blend", &blend);
        nodes.set_parameter("blend", &blend).expect("a parameter");
        let frame = Frame::at(*time_secs).pose(pose);
        kernels.update(&[frame]);
        nodes
            .update(&frame, Par::Seq)
            .unwrap_or_else(|e| panic!("{e}"));
        let got = mesh(&mut kernels, "body", 0);
        let expected = nodes.mesh_output("body").expect("a mesh");
        let size = f64::from(expected.rest.diagonal());
        let apart = max_distance(expected.positions, &got.positions) / size;
        out.positions = out.positions.max(apart);
        let moved = max_distance(expected.positions, &expected.rest.positions) / size;
        out.moved = out.moved.max(moved);
        let colors = expected
            .colors
            .expect("colours")
            .iter()
            .zip(got.colors.as_ref().expect("colours"));
        for (a, b) in colors {
            let apart = (0..4)
                .map(|c| f64::from((a[c] - b[c]).abs()))
                .fold(
                    0.0,
                    |m: f64, d| if d.is_nan() { f64::INFINITY } else { m.max(d) },
                );
            out.colors = out.colors.max(apart);
        }
        let normals = expected.normals.expect("normals");
        let normals = normals.iter().zip(got.normals.as_ref().expect("normals"));
        let unsure = unsure(expected.rest, expected.positions, &got.positions);
        for ((a, b), unsure) in normals.zip(&unsure) {
            out.normals = out.normals.max(degrees(a, b) - unsure);
        }
        if let Some(tangents) = expected.tangents {
            let pairs = tangents
                .iter()
                .zip(got.tangents.as_ref().expect("tangents"));
            let pairs = pairs.zip(&unsure).zip(&textured);
            let pairs = pairs.filter(|(_, textured)| **textured);
            // They lie in the planes of the normals.
            let mut apart: Vec<f64> = pairs.map(|(((a, b), u), _)| degrees(a, b) - u).collect();
            apart.sort_by(f64::total_cmp);
            // Of a thousand vertices one may be where directions of the texture cancel.
            let most = apart.len().saturating_sub(1 + apart.len() / 1000);
            out.tangents = out.tangents.max(apart.get(most).copied().unwrap_or(0.0));
        }
    }
    out
}

#[test]
fn the_example_equals_the_built_in_nodes_on_samples() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    for asset in crate::common::samples() {
        compare(&gpu, &asset).check(&asset.name);
    }
}

#[test]
fn the_example_equals_the_built_in_nodes_on_a_character() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let Some(data) = sinew_testkit::shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let path = data.join("characters/mh_male_ge53.glb");
    let asset = sinew::io::read_gltf(&path).expect("a character").asset;
    let differences = compare(&gpu, &asset);
    differences.check(&asset.name);
    assert!(differences.moved > 0.1, "{differences:?}");
}

/// A kernel that writes buffers, and what comes out; `pins` and `text` as in a document.
fn buffer_graph(pins: &str, text: &str, outputs: &str) -> String {
    format!(
        r#"{{ "sinew": "1.0", "inputs": {{ "body": {{ "type": "mesh" }}, "pose": {{ "type": "pose" }},
             "numbers": {{ "type": "values", "count": 3 }} }},
  "nodes": {{ {pins}, "text": {text} }} }}, "outputs": {{ {outputs} }} }}"#
    )
}

/// One instance, one frame with values 2, 3, 4.
pub(crate) fn run(gpu: &Gpu, asset: &Asset, text: &str) -> Both {
    let mut out = instances(gpu, asset, text, 1);
    let pose = asset.rig.rest_pose();
    let values = [(2_usize, &[2.0_f32, 3.0, 4.0][..])];
    let frame = Frame::default().pose(&pose).values(&values);
    out.update(&[frame]);
    out
}

/// Defect 3: a launch has whole workgroups, and what lies beyond the last element does nothing. Each invocation adds one to the same
/// number; groups of all sizes divide the vertices unevenly.
#[test]
fn defect_3_no_invocation_runs_past_the_last_element() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = sample("ball");
    let mesh = asset.merged(&Default::default()).expect("a mesh");
    let vertices = mesh.vertex_count();
    for size in [1, 32, 64, 100, 256] {
        let text = r#"{ "sinew": "1.0", "nodes": {
    "count": { "node": "kernel", "domain": "vertex", "group_size": SIZE,
      "inputs": { "mesh": { "type": "mesh", "link": "body" } },
      "outputs": { "visits": { "type": "buffer", "element": "int", "per": "vertex", "write": "atomic_add" } },
      "text": ["add_visits(0u, 1);"] },
    "read": { "node": "kernel", "domain": "vertex",
      "inputs": { "mesh": { "type": "mesh", "link": "body" }, "visits": { "type": "buffer", "element": "int", "link": "count" } },
      "outputs": { "out": { "type": "buffer", "element": "float" } },
      "text": ["write_out(index, f32(read_visits(index)));"] } },
  "outputs": { "out": "read.out" } }"#
            .replace("SIZE", &size.to_string());
        let mut expected = vec![0.0_f32; vertices];
        expected[0] = vertices as f32;
        let mut out = instances(&gpu, &asset, &text, 2);
        for _ in 0..2 {
            update(&mut out, &asset, 2);
            for instance in 0..2 {
                let found = floats(&mut out, "out", instance);
                assert!(found == expected, "groups of {size}: {:?}", found.first());
            }
        }
    }
}

/// Rows 27, 29 and 35: triangles add to their corners, from zero in each frame, in groups as large as asked for.
#[test]
fn triangles_add_to_vertices() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = sample("ball");
    let text = r#"{ "sinew": "1.0",
  "parameters": { "by": { "type": "int", "default": 1 } },
  "nodes": {
    "count": { "node": "kernel", "domain": "triangle", "group_size": 32,
      "inputs": { "mesh": { "type": "mesh", "link": "body" } },
      "outputs": { "sums": { "type": "buffer", "element": "int", "per": "vertex", "count": 2, "write": "atomic_add" } },
      "parameters": { "by": { "type": "int", "value": "$by" } },
      "text": ["for (var k = 0u; k < 3u; k++) {",
        "  let v = mesh_triangle_vertex(index, k);",
        "  add_sums(2u * v, by());",
        "  add_sums(2u * v + 1u, -i32(index));",
        "}"] },
    "read": { "node": "kernel", "domain": "vertex",
      "inputs": { "mesh": { "type": "mesh", "link": "body" }, "sums": { "type": "buffer", "element": "int", "link": "count" } },
      "outputs": { "corners": { "type": "buffer", "element": "float" }, "indices": { "type": "buffer", "element": "float" } },
      "text": ["write_corners(index, f32(read_sums(2u * index)));", "write_indices(index, f32(read_sums(2u * index + 1u)));"] }
  },
  "outputs": { "corners": "read.corners", "indices": "read.indices" } }"#;
    let mut out = instances(&gpu, &asset, text, 2);
    out.set_parameter(1, "by", &ParameterValue::Int(-3));
    let mesh = asset.merged(&Default::default()).expect("a mesh");
    let (mut corners, mut indices) = (
        vec![0.0_f32; mesh.vertex_count()],
        vec![0.0_f32; mesh.vertex_count()],
    );
    for (t, triangle) in mesh.topology.triangles().iter().enumerate() {
        for &v in triangle {
            corners[v as usize] += 1.0;
            indices[v as usize] -= t as f32;
        }
    }
    for _ in 0..3 {
        update(&mut out, &asset, 2);
        assert_eq!(floats(&mut out, "corners", 0), corners);
        assert_eq!(floats(&mut out, "indices", 0), indices);
        let other: Vec<f32> = corners.iter().map(|c| -3.0 * c).collect();
        assert_eq!(floats(&mut out, "corners", 1), other);
    }
    let kernels = out.gpu.kernels();
    let count = kernels
        .iter()
        .find(|k| k.label.contains("count.kernel"))
        .expect("a launch");
    assert_eq!(count.workgroup_size, [32, 1, 1]);
    assert!(count.wgsl.contains("atomicAdd"));
}

/// A kernel that reads only its own vertex runs together with its neighbours; one that looks around does not.
#[test]
fn kernels_run_together_with_their_neighbours() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = sample("ball");
    let graph = |read: &str| {
        format!(
            r#"{{ "sinew": "1.0", "parameters": {{ "by": {{ "type": "float", "default": 2 }} }}, "nodes": {{
  "before": {{ "node": "bend", "mesh": "body", "angle": {{ "keys": [[0, 0.5], [1, 1]] }} }},
  "mine": {{ "node": "kernel", "domain": "vertex", "inputs": {{ "mesh": {{ "type": "mesh", "link": "before" }} }},
    "outputs": {{ "mesh": {{ "type": "mesh", "writes": ["positions"] }} }},
    "parameters": {{ "by": {{ "type": "float", "value": "$by" }} }},
    "text": "write_mesh_positions(index, {read} * by());" }},
  "behind": {{ "node": "twist", "mesh": "mine", "angle": 1.0 }} }},
  "outputs": {{ "body": "behind" }} }}"#
        )
    };
    let labels = |text: &str| -> Vec<String> {
        // In tiles, what is behind might run with the normals instead.
        let graph = GpuGraph::with_style(&gpu, &bound(&asset, text), LaunchStyle::Plain);
        let out = graph.and_then(|g| g.instances(1));
        let out = out.unwrap_or_else(|e| panic!("{e}"));
        out.launch_labels().map(str::to_owned).collect()
    };
    let own = labels(&graph("read_mesh_positions(index)"));
    assert!(own.iter().any(|l| l == "before + mine + behind"), "{own:?}");
    let gathers = labels(&graph("read_mesh_positions(vertex_count - 1u - index)"));
    assert!(gathers.iter().any(|l| l == "mine + behind"), "{gathers:?}");
    assert_eq!(gathers.len(), own.len() + 1, "{own:?} {gathers:?}");
}

/// Row 28: what depends on nothing that changes runs once.
#[test]
fn the_examples_setup_runs_in_setup() {
    let path = example("custom_kernels.json");
    let text = std::fs::read_to_string(&path).expect("the example");
    let plan =
        compile(&path.display().to_string(), &text, &Files).unwrap_or_else(|e| panic!("{e}"));
    let once = |n: &&sinew::graph::PlanNode| n.runs_in_setup;
    let names: Vec<&str> = plan
        .nodes()
        .iter()
        .filter(once)
        .map(|n| n.name.as_str())
        .collect();
    for name in ["smooth_rest/1", "smooth_rest", "detail", "orientation"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert_eq!(names.len(), 10, "{names:?}");
    assert!(plan.nodes().iter().all(|n| n.desc.name == "kernel"));
}

/// Masks, values and buffers of floats are the same floats.
#[test]
fn buffers_are_masks_and_values() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = sample("ball");
    let text = r#"{ "sinew": "1.0",
  "inputs": { "body": { "type": "mesh" }, "pose": { "type": "pose" }, "numbers": { "type": "values", "count": 3 } },
  "nodes": {
    "half": { "node": "kernel", "domain": "vertex",
      "inputs": { "mesh": { "type": "mesh", "link": "body" }, "given": { "type": "values", "link": "numbers" },
        "more": { "type": "buffer", "element": "float", "link": "numbers" },
        "none": { "type": "mask", "optional": true } },
      "outputs": { "weights": { "type": "buffer", "element": "float" } },
      "text": ["var w = select(0.0, 0.25, index % 2u == 1u);",
        "if (has_none || !has_given) { w = 9.0; }",
        "w += read_given(2u) + f32(count_given) + read_more(0u) + read_none(index);",
        "write_weights(index, select(0.0, 1.0, w == 9.25));"] },
    "moved": { "node": "transform", "mesh": "body", "mask": "half", "transform": { "translation": [0, 0, 1] } },
    "painted": { "node": "mask", "mesh": "body", "value": 0.75 },
    "seen": { "node": "kernel", "domain": "vertex",
      "inputs": { "mesh": { "type": "mesh", "link": "body" }, "mask": { "type": "mask", "link": "painted" },
        "same": { "type": "buffer", "element": "float", "link": "painted" } },
      "outputs": { "out": { "type": "buffer", "element": "float" } },
      "text": "write_out(index, read_mask(index) + read_same(index));" } },
  "outputs": { "body": "moved", "seen": "seen" } }"#;
    let plan = compile("test.json", text, &NoNesting);
    if let Err(e) = &plan {
        panic!("{e}");
    }
    let mut out = run(&gpu, &asset, text);
    let rest = asset.merged(&Default::default()).expect("a mesh");
    let moved = mesh(&mut out, "body", 0);
    for (v, (p, q)) in rest.positions.iter().zip(&moved.positions).enumerate() {
        let up = if v % 2 == 1 { 1.0 } else { 0.0 };
        assert!((q[2] - p[2] - up).abs() < 1e-6, "{v}: {p:?} {q:?}");
    }
    assert!(floats(&mut out, "seen", 0).iter().all(|v| *v == 1.5));
}

/// Every type of parameter and constant arrives as it is.
#[test]
fn parameters_and_constants_arrive() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = sample("ball");
    let text = buffer_graph(
        r#""it": { "node": "kernel", "domain": "vertex", "inputs": { "mesh": { "type": "mesh", "link": "body" } },
    "outputs": { "out": { "type": "buffer", "element": "float", "per": "mesh", "count": 32 } },
    "parameters": { "on": { "type": "bool", "value": true }, "whole": { "type": "int", "value": -7 },
      "number": { "type": "float", "value": 0.5 }, "three": { "type": "vec3", "value": [1, 2, 3] },
      "four": { "type": "vec4", "value": [4, 5, 6, 7] }, "places": { "type": "int3", "value": [-1, 0, 8] },
      "place": { "type": "transform", "value": { "translation": [1, 2, 3], "scale": [2, 3, 4] } },
      "keyed": { "type": "float", "value": { "keys": [[0, 9], [1, 10]] } } },
    "constants": { "PAIR": [11, 12], "TRUE": true, "PI_ISH": 3.25, "MANY": 4000000000 }"#,
        r#"["fn put(at: u32, v: vec3f) { write_out(at, v.x); write_out(at + 1u, v.y); write_out(at + 2u, v.z); }",
        "fn kernel(i: u32) {",
        "  if (i != 0u) { return; }",
        "  let number = number();",
        "  write_out(0u, select(0.0, 1.0, on())); write_out(1u, f32(whole())); write_out(2u, number);",
        "  put(3u, three()); put(6u, four().yzw); put(9u, vec3f(places())); put(12u, place() * vec4f(1.0, 1.0, 1.0, 1.0));",
        "  write_out(15u, keyed()); put(16u, vec3f(PAIR, select(0.0, 1.0, TRUE))); write_out(19u, PI_ISH);",
        "  write_out(20u, f32(mesh_vertex_count)); write_out(21u, f32(mesh_triangle_count)); write_out(22u, f32(vertex_count));",
        "  write_out(23u, MANY);",
        "  write_out(99u, 1.0); write_out(4294967295u, 1.0);",
        "}"]"#,
        r#""out": "it""#,
    );
    let mut out = run(&gpu, &asset, &text);
    let rest = asset.merged(&Default::default()).expect("a mesh");
    let (vertices, triangles) = (
        rest.vertex_count() as f32,
        rest.topology.triangles().len() as f32,
    );
    let expected = [
        1.0, -7.0, 0.5, 1.0, 2.0, 3.0, 5.0, 6.0, 7.0, -1.0, 0.0, 8.0, 3.0, 5.0, 7.0, 9.0, 11.0,
        12.0, 1.0, 3.25, vertices, triangles, vertices, 4e9,
    ];
    let found = floats(&mut out, "out", 0);
    assert_eq!(found[..24], expected);
    // What nobody writes is zero.
    assert!(found[24..].iter().all(|v| *v == 0.0));
}

/// Elements that a kernel leaves out keep what came in, or are zero.
#[test]
fn what_is_not_written_is_defined() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = sample("ball");
    let text = r#"{ "sinew": "1.0", "nodes": {
  "before": { "node": "bend", "mesh": "body", "angle": { "keys": [[0, 0.5], [1, 1]] } },
  "mine": { "node": "kernel", "domain": "vertex", "inputs": { "mesh": { "type": "mesh", "link": "before" } },
    "outputs": { "mesh": { "type": "mesh", "writes": ["positions", "colors"] }, "some": { "type": "buffer", "element": "vec4" } },
    "text": ["if (index % 3u == 0u) { return; }", "write_mesh_positions(index, vec3f(1.0));",
      "if (index % 3u == 1u) { write_mesh_colors(index, vec4f(0.5)); write_some(index, vec4f(2.0)); }"] },
  "sum": { "node": "kernel", "domain": "vertex",
    "inputs": { "mesh": { "type": "mesh", "link": "body" }, "some": { "type": "buffer", "element": "vec4", "link": "mine.some" } },
    "outputs": { "out": { "type": "buffer", "element": "float" } },
    "text": "write_out(index, dot(read_some(index), vec4f(1.0)));" } },
  "outputs": { "body": "mine", "before": "before", "out": "sum" } }"#;
    let mut out = instances(&gpu, &asset, text, 1);
    for _ in 0..3 {
        update(&mut out, &asset, 1);
        let (before, after) = (mesh(&mut out, "before", 0), mesh(&mut out, "body", 0));
        let colors = after.colors.expect("colours");
        let sums = floats(&mut out, "out", 0);
        for v in 0..before.positions.len() {
            let expected = if v % 3 == 0 {
                before.positions[v]
            } else {
                [1.0; 3]
            };
            assert_eq!(after.positions[v], expected, "{v}");
            let written = v % 3 == 1;
            assert_eq!(sums[v], if written { 8.0 } else { 0.0 }, "{v}");
            if written {
                assert_eq!(colors[v], [0.5; 4]);
            }
        }
    }
}

/// Whatever index a text computes, it stays within its own character's arrays.
#[test]
fn indices_out_of_range_reach_nothing() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = sample("ball");
    let text = r#"{ "sinew": "1.0", "parameters": { "by": { "type": "float", "default": 1 } }, "nodes": {
  "first": { "node": "kernel", "domain": "vertex", "inputs": { "mesh": { "type": "mesh", "link": "body" } },
    "outputs": { "some": { "type": "buffer", "element": "float" } },
    "parameters": { "by": { "type": "float", "value": "$by" } },
    "text": ["write_some(index, by());", "write_some(index + vertex_count, 100.0);", "write_some(index - vertex_count, 100.0);"] },
  "second": { "node": "kernel", "domain": "vertex",
    "inputs": { "mesh": { "type": "mesh", "link": "body" }, "pose": { "type": "pose", "link": "pose" },
      "some": { "type": "buffer", "element": "float", "link": "first" } },
    "outputs": { "out": { "type": "buffer", "element": "float" } },
    "text": ["let far = vertex_count + index;",
      "var sum = read_some(index) + read_some(far) + read_some(0u - far) + read_mesh_positions(far).x + read_mesh_uvs(far).y;",
      "sum += read_mesh_rest_positions(far).z + f32(mesh_connected_count(far)) + f32(mesh_influence_count(far));",
      "sum += f32(mesh_triangle_vertex(mesh_triangle_count + index, 0u)) + read_pose_matrix(pose_joint_count + index)[0].x;",
      "if (mesh_connected_vertex(index, 4000000000u) != index) { sum += 1.0; }",
      "sum += mesh_influence_weight(index, 4000000000u);",
      "write_out(index, sum);"] } },
  "outputs": { "out": "second" } }"#;
    let mut out = instances(&gpu, &asset, text, 3);
    for instance in 0..3 {
        let by = ParameterValue::Float(instance as f64);
        out.set_parameter(instance, "by", &by);
    }
    update(&mut out, &asset, 3);
    for instance in 0..3 {
        let found = floats(&mut out, "out", instance);
        let expected = instance as f32;
        assert!(
            found.iter().all(|v| *v == expected),
            "{instance}: {:?}",
            &found[..8]
        );
    }
}

/// Rings, influences and triangles are those of the mesh, also where seams split it.
#[test]
fn the_mesh_is_as_it_is() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = sample("arm_with_hand");
    let text = buffer_graph(
        r#""it": { "node": "kernel", "domain": "vertex", "inputs": { "mesh": { "type": "mesh", "link": "body" } },
    "outputs": { "ring": { "type": "buffer", "element": "float" }, "weights": { "type": "buffer", "element": "float" },
      "joints": { "type": "buffer", "element": "float" }, "uvs": { "type": "buffer", "element": "float" } }"#,
        r#"["var ring = vec3f(0.0);",
        "for (var k = 0u; k < mesh_connected_count(index); k++) { ring += read_mesh_rest_positions(mesh_connected_vertex(index, k)); }",
        "write_ring(index, ring.x + 3.0 * ring.y + 7.0 * ring.z);",
        "var weight = 0.0; var last = 2.0; var joint = 0.0;",
        "for (var k = 0u; k < mesh_influence_count(index); k++) {",
        "  let w = mesh_influence_weight(index, k);",
        "  if (w > last) { weight = 100.0; }",
        "  weight += w; last = w; joint += f32(mesh_influence_joint(index, k));",
        "}",
        "write_weights(index, weight); write_joints(index, joint);",
        "write_uvs(index, read_mesh_uvs(index).x + 2.0 * read_mesh_uvs(index).y);"]"#,
        r#""ring": "it.ring", "weights": "it.weights", "joints": "it.joints", "uvs": "it.uvs""#,
    );
    let mut out = run(&gpu, &asset, &text);
    let rest = asset.merged(&Default::default()).expect("a mesh");
    // Neighbours by place, from the triangles.
    let key = |v: u32| rest.positions[v as usize].map(f32::to_bits);
    let mut around: std::collections::HashMap<[u32; 3], std::collections::BTreeSet<[u32; 3]>> =
        Default::default();
    for t in rest.topology.triangles() {
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            if key(t[a]) != key(t[b]) {
                around.entry(key(t[a])).or_default().insert(key(t[b]));
                around.entry(key(t[b])).or_default().insert(key(t[a]));
            }
        }
    }
    let found = floats(&mut out, "ring", 0);
    for (v, found) in found.iter().enumerate() {
        let ring = &around[&key(v as u32)];
        let points = ring.iter().map(|p| p.map(|c| f64::from(f32::from_bits(c))));
        let expected: f64 = points.map(|p| p[0] + 3.0 * p[1] + 7.0 * p[2]).sum();
        assert!(
            (f64::from(*found) - expected).abs() < 1e-4,
            "{v}: {found} {expected}"
        );
    }
    let influences = rest.influences.as_ref().expect("skinned");
    let (weights, joints) = (
        floats(&mut out, "weights", 0),
        floats(&mut out, "joints", 0),
    );
    for v in 0..rest.vertex_count() {
        let joint: f32 = influences.row(v).map(|r| r.0 as f32).sum();
        assert!((weights[v] - 1.0).abs() < 1e-5 && joints[v] == joint, "{v}");
    }
    let uvs = floats(&mut out, "uvs", 0);
    for (uv, found) in rest.uvs[0].iter().zip(uvs) {
        assert!((uv[0] + 2.0 * uv[1] - found).abs() < 1e-6);
    }
}

/// A kernel over vertices that writes positions.
fn node(text: &str, link: &str) -> serde_json::Value {
    serde_json::json!({
        "node": "kernel", "domain": "vertex", "text": text,
        "inputs": { "mesh": { "type": "mesh", "link": link } },
        "outputs": { "mesh": { "type": "mesh", "writes": ["positions"] } },
    })
}

/// The first coordinate of each vertex, as a kernel writes it.
fn first_coordinates(gpu: &Gpu, text: &str) -> Vec<f32> {
    let asset = sample("ball");
    let document = serde_json::json!({
        "sinew": "1.0", "nodes": { "k": node(text, "body") }, "outputs": { "body": "k" },
    });
    let mut run = instances(gpu, &asset, &document.to_string(), 1);
    update(&mut run, &asset, 1);
    let out = mesh(&mut run, "body", 0);
    out.positions.iter().map(|p| p[0]).collect()
}

/// Counting loops changes nothing of kernels that end: as many turns as in closed form, in loops of all kinds.
#[test]
fn loops_that_end_take_all_their_turns() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    for (text, expected) in [
        (
            "for (var i = 0u; i < 30000u; i++) { a += 1u; }",
            Some(30_000.0),
        ),
        (
            "for (var i = 0u; i < 150u; i++) { for (var j = 0u; j < 200u; j++) { a += 1u; } }",
            Some(30_000.0),
        ),
        (
            "loop { a += 1u; if a >= 500u { break; } continuing { a += 1u; } }",
            Some(501.0),
        ),
        (
            "a = 7u; while a != 1u { a = select(3u * a + 1u, a / 2u, a % 2u == 0u); }",
            Some(1.0),
        ),
        // Each vertex its own number of turns.
        ("loop { if a == index % 900u { break; } a += 1u; }", None),
    ] {
        let text = format!("var a = 0u; {text} write_mesh_positions(index, vec3f(f32(a)));");
        for (i, x) in first_coordinates(&gpu, &text).into_iter().enumerate() {
            assert_eq!(x, expected.unwrap_or((i % 900) as f32), "{text}");
        }
    }
}

/// A loop without end leaves a mark in the positions of the vertices that it ran for, and in no others.
#[test]
fn loops_without_end_mark_positions() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let one = "if index == 5u { loop { } } write_mesh_positions(index, vec3f(2.0));";
    for (index, x) in first_coordinates(&gpu, one).into_iter().enumerate() {
        match index {
            5 => assert!(x.is_nan(), "{x}"),
            _ => assert_eq!(x, 2.0, "{index}"),
        }
    }
    // In a function, and in a kernel that would keep what came in.
    let callee = "fn f(n: u32) -> u32 { var a = n; while a > 0u { a = max(a, 1u); } return a; }
fn kernel(index: u32) { if f(index) == 7u { write_mesh_positions(index, vec3f(2.0)); } }";
    let found = first_coordinates(&gpu, callee);
    assert!(!found[0].is_nan());
    assert!(found[1..].iter().all(|x| x.is_nan()));
}

/// Kernels that are heavy together do not share a launch, and those that are light still do.
#[test]
fn heavy_kernels_run_by_themselves() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let launches = |array: usize| {
        let text = format!(
            "var t: array<f32, {array}>; t[index % 4u] = 1.0; let p = read_mesh_positions(index); write_mesh_positions(index, p + vec3f(t[index % 4u]));"
        );
        // What follows a parameter runs in each frame.
        let mut first = node(&text.replace("1.0", "up()"), "body");
        first["parameters"] = serde_json::json!({ "up": { "type": "float", "value": "$up" } });
        let document = serde_json::json!({
            "sinew": "1.0",
            "parameters": { "up": { "type": "float", "default": 0.5 } },
            "nodes": { "one": first, "two": node(&text, "one") },
            "outputs": { "body": "two" },
        });
        let asset = sample("arm_with_hand");
        let text = document.to_string();
        let graph = GpuGraph::with_style(&gpu, &bound(&asset, &text), LaunchStyle::Compact);
        let all = graph.expect("runs").instances(1).expect("fits").kernels();
        let labels = all.into_iter().map(|k| k.label);
        let own = labels.filter(|l| l.contains("one") || l.contains("two"));
        own.collect::<Vec<_>>()
    };
    assert_eq!(launches(8), ["one + two"]);
    assert_eq!(launches(300), ["one", "two"]);
}

/// A graph that is not trusted runs in software.
#[test]
fn kernels_of_a_character_run_in_software() {
    let asset = sample("arm_with_hand");
    let mut plan = compile("test.json", SHIFT, &NoNesting).expect("a graph");
    assert!(plan.distrusted_kernels().is_empty());
    plan.distrust_kernels();
    assert_eq!(plan.distrusted_kernels(), ["shift"]);
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let plan = Arc::new(plan);
    let graph = BoundGraph::bind(plan.clone(), &bindings(&asset, &plan), &[], Par::Seq);
    let made = GpuGraph::new(&gpu, &Arc::new(graph.expect("binds")));
    let software = gpu.info().kind == sinew_gpu::AdapterKind::Software;
    assert_eq!(made.is_ok(), software);
}
