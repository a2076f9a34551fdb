//! Kernels of the user's own, on the device, against closed forms and built-in nodes.

mod common;

use common::bindings;
use sinew::deform::{Par, ParameterValue};
use sinew::geom::Asset;
use sinew::geom::Pose;
use sinew::graph::{
    BindError, BoundGraph, Frame, GraphSource, GraphText, Instance, NoNesting, compile,
};
use sinew_gpu::{Gpu, GpuGraph, GpuInstances, GpuMesh};
use sinew_testkit::max_distance;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files beside a document.
struct Files;

impl GraphSource for Files {
    fn graph_text(&self, from: &str, name: &str) -> Result<GraphText, String> {
        let path = Path::new(from).with_file_name(name);
        let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let name = path.display().to_string();
        Ok(GraphText { name, text })
    }
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn bound(asset: &Asset, text: &str) -> Arc<BoundGraph> {
    let plan = compile("test.json", text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let plan = Arc::new(plan);
    let inputs = bindings(asset, &plan);
    let graph = BoundGraph::bind(plan, &inputs, &[], Par::Seq);
    Arc::new(graph.unwrap_or_else(|e| panic!("{e}")))
}

fn instances(gpu: &Gpu, asset: &Asset, text: &str, count: usize) -> GpuInstances {
    let graph = GpuGraph::new(gpu, &bound(asset, text)).unwrap_or_else(|e| panic!("{e}"));
    graph.instances(count).unwrap_or_else(|e| panic!("{e}"))
}

fn update(instances: &mut GpuInstances, asset: &Asset, count: usize) {
    let pose = asset.rig.rest_pose();
    let frame = Frame {
        pose: Some(&pose),
        ..Frame::default()
    };
    instances.update(&vec![frame; count]).unwrap_or_else(|e| panic!("{e}"));
}

fn mesh(instances: &mut GpuInstances, name: &str, instance: usize) -> GpuMesh {
    let read = instances.read_mesh(name, instance).expect("reads");
    read.expect("a mesh output")
}

fn floats(instances: &mut GpuInstances, name: &str, instance: usize) -> Vec<f32> {
    let read = instances.read_floats(name, instance).expect("reads");
    read.expect("an output of floats")
}

fn sample(name: &str) -> Asset {
    let all = sinew_samples::all().expect("samples");
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
    moved.set_parameter(1, "up", &ParameterValue::Float(-2.0)).expect("a parameter");
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

#[test]
fn the_processor_says_that_it_cannot() {
    let asset = sample("arm_with_hand");
    let plan = Arc::new(compile("test.json", SHIFT, &NoNesting).unwrap_or_else(|e| panic!("{e}")));
    let inputs = bindings(&asset, &plan);
    let refused = Instance::bind(plan, &inputs, &[], Par::Seq).expect_err("no processor");
    assert!(matches!(refused, BindError::DeviceOnly { .. }));
    assert_eq!(
        refused.to_string(),
        "test.json:4:5: node 'shift' is a custom kernel, which runs on graphics devices only: run the graph there \
         (`--device gpu`, `sinew_gpu::GpuGraph`), or put built-in nodes in its place"
    );
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

/// Rest, and the first clip at some times.
fn poses(asset: &Asset) -> Vec<(f64, Pose)> {
    let range = asset.clips.first().map_or((0.0, 1.0), |c| c.range());
    let mut out = vec![(0.0, asset.rig.rest_pose())];
    for i in 0..4 {
        let time = f64::from(range.0) + f64::from(range.1 - range.0) * f64::from(i) / 4.0;
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
}

fn degrees(a: &[f32], b: &[f32]) -> f64 {
    let pairs = || a.iter().zip(b).map(|(a, b)| (f64::from(*a), f64::from(*b)));
    let apart: f64 = pairs().map(|(a, b)| (a - b) * (a - b)).sum();
    2.0 * (apart.sqrt() / 2.0).min(1.0).asin().to_degrees()
}

fn compare(gpu: &Gpu, asset: &Asset) -> Differences {
    let path = example("custom_kernels.json");
    let text = std::fs::read_to_string(&path).expect("the example");
    let name = path.display().to_string();
    let plan = compile(&name, &text, &Files).unwrap_or_else(|e| panic!("{e}"));
    let plan = Arc::new(plan);
    let inputs = bindings(asset, &plan);
    let graph = BoundGraph::bind(plan, &inputs, &[], Par::Seq).unwrap_or_else(|e| panic!("{e}"));
    let graph = GpuGraph::new(gpu, &Arc::new(graph)).unwrap_or_else(|e| panic!("{e}"));
    let mut kernels = graph.instances(1).unwrap_or_else(|e| panic!("{e}"));
    let mut nodes = common::instance(asset, BUILT_IN);
    let mut out = Differences::default();
    for (i, (time_secs, pose)) in poses(asset).iter().enumerate() {
        let blend = ParameterValue::Float(if i == 3 { 0.25 } else { 1.0 });
        kernels.set_parameter(0, "blend", &blend).expect("a parameter");
        nodes.set_parameter("blend", &blend).expect("a parameter");
        let frame = Frame {
            time_secs: *time_secs,
            pose: Some(pose),
            ..Frame::default()
        };
        kernels.update(&[frame]).unwrap_or_else(|e| panic!("{e}"));
        nodes.update(&frame, Par::Seq).unwrap_or_else(|e| panic!("{e}"));
        let got = mesh(&mut kernels, "body", 0);
        let expected = nodes.mesh_output("body").expect("a mesh");
        let size = f64::from(expected.rest.diagonal());
        let apart = max_distance(expected.positions, &got.positions) / size;
        out.positions = out.positions.max(apart);
        let colors = expected.colors.expect("colours").iter().zip(got.colors.as_ref().expect("colours"));
        for (a, b) in colors {
            let apart = (0..4).map(|c| f64::from((a[c] - b[c]).abs())).fold(0.0, f64::max);
            out.colors = out.colors.max(apart);
        }
        let normals = expected.normals.expect("normals").iter().zip(got.normals.as_ref().expect("normals"));
        for (a, b) in normals {
            out.normals = out.normals.max(degrees(a, b));
        }
        if let Some(tangents) = expected.tangents {
            for (a, b) in tangents.iter().zip(got.tangents.as_ref().expect("tangents")) {
                out.tangents = out.tangents.max(degrees(a, b));
            }
        }
    }
    out
}

#[test]
fn the_example_equals_the_built_in_nodes_on_samples() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    for asset in sinew_samples::all().expect("samples") {
        let found = compare(&gpu, &asset);
        println!("{}: {found:?}", asset.name);
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
    let found = compare(&gpu, &asset);
    println!("{}: {found:?}", asset.name);
}
