//! Characters on a graphics device: launches, parameters of their own, wrong frames.

use sinew::deform::{Par, ParameterValue};
use sinew::geom::Mesh;
use sinew::graph::{BoundGraph, Frame, InputBinding, InputType, NoNesting, compile};
use sinew_gpu::{Gpu, GpuError, GpuGraph, GpuInstances};
use sinew_testkit::meshes;
use std::sync::Arc;

fn bound(text: &str, mesh: Mesh) -> Arc<BoundGraph> {
    let plan = compile("g.json", text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let mesh = Arc::new(mesh);
    let inputs: Vec<InputBinding> = plan
        .inputs()
        .iter()
        .map(|i| match i.ty {
            InputType::Mesh => InputBinding::Mesh(mesh.clone()),
            InputType::Pose => InputBinding::Pose(Arc::default()),
            InputType::Values => InputBinding::Values,
        })
        .collect();
    let graph = BoundGraph::bind(Arc::new(plan), &inputs, &[], Par::Seq);
    Arc::new(graph.unwrap_or_else(|e| panic!("{e}")))
}

/// A shift by 1 in x with weight `w`, then one by 10 in y and one by 100 in z.
const SHIFTS: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "parameters": {"w": {"type": "float", "default": 1, "min": 0, "max": 1}},
 "nodes": {
   "x": {"node": "transform", "mesh": "body", "transform": {"translation": [1, 0, 0]}, "weight": "$w"},
   "y": {"node": "transform", "mesh": "x", "transform": {"translation": [0, 10, 0]}, "weight": "$w"},
   "z": {"node": "transform", "mesh": "y", "transform": {"translation": [0, 0, 100]}, "weight": "$w"}},
 "outputs": {"body": "z"}}"#;

fn instances(gpu: &Gpu, text: &str, count: usize) -> GpuInstances {
    let graph = GpuGraph::new(gpu, &bound(text, meshes::grid(9, 6))).expect("all nodes run");
    graph.instances(count).expect("fits")
}

#[test]
fn nodes_that_read_their_own_vertex_share_a_launch() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let fused = instances(&gpu, SHIFTS, 1);
    let labels: Vec<&str> = fused.launch_labels().collect();
    assert_eq!(labels, ["x + y + z"]);
    // What only the next node reads never reaches memory: rest and result are there, and what comes with the frame.
    let bindings = &fused.kernels()[0].bindings;
    let names: Vec<&str> = bindings.iter().map(|b| b.2.as_str()).collect();
    let written = bindings.iter().filter(|b| b.1).count();
    assert_eq!(written, 2, "positions and normals of the output: {names:?}");
    // An output in between is stored.
    let between = SHIFTS.replace(r#""body": "z""#, r#""body": "z", "x": "x""#);
    let fused = instances(&gpu, &between, 1);
    assert_eq!(fused.launch_labels().len(), 1);
    let written = fused.kernels()[0].bindings.iter().filter(|b| b.1).count();
    assert_eq!(written, 4);
}

#[test]
fn characters_move_on_their_own_in_the_same_launches() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let count = 37;
    let mut crowd = instances(&gpu, SHIFTS, count);
    assert_eq!(crowd.launch_labels().len(), 1);
    for i in 0..count {
        let value = ParameterValue::Float(i as f64 / 36.0);
        crowd.set_parameter(i, "w", &value).expect("in range");
    }
    let frames = vec![Frame::default(); count];
    crowd.update(&frames).expect("runs");
    let compiled = gpu.pipelines_created();
    let bytes = crowd.memory_bytes();
    for _ in 0..3 {
        crowd.update(&frames).expect("runs");
    }
    assert_eq!(gpu.pipelines_created(), compiled, "no frame compiles");
    assert_eq!(crowd.memory_bytes(), bytes, "no frame makes buffers");
    let rest = meshes::grid(9, 6).positions;
    for i in [0, 1, 18, 36] {
        let w = i as f32 / 36.0;
        let mesh = crowd.read_mesh("body", i).expect("reads").expect("there");
        for (p, q) in mesh.positions.iter().zip(&rest) {
            let expected = [q[0] + w, q[1] + 10.0 * w, q[2] + 100.0 * w];
            for c in 0..3 {
                assert!((p[c] - expected[c]).abs() < 1e-4, "{i}: {p:?} {expected:?}");
            }
        }
    }
    assert_eq!(crowd.read_mesh("body", count).expect("reads"), None);
    assert_eq!(crowd.read_mesh("nobody", 0).expect("reads"), None);
}

#[test]
fn previous_is_the_frame_before() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let mut one = instances(&gpu, SHIFTS, 1);
    let mut before: Option<Vec<[f32; 3]>> = None;
    for i in 0..5 {
        if i == 3 {
            one.reset().expect("works");
            before = None;
        }
        let value = ParameterValue::Float(f64::from(i) / 4.0);
        one.set_parameter(0, "w", &value).expect("in range");
        one.update(&[Frame::default()]).expect("runs");
        let mesh = one.read_mesh("body", 0).expect("reads").expect("there");
        let expected = before.as_ref().unwrap_or(&mesh.positions);
        assert_eq!(&mesh.previous_positions, expected, "frame {i}");
        before = Some(mesh.positions);
    }
}

#[test]
fn frames_that_do_not_fit_are_refused() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let mut two = instances(&gpu, SHIFTS, 2);
    let error = two.update(&[Frame::default()]).expect_err("one frame");
    assert_eq!(
        error.to_string(),
        "found 1 frames, expected 2, one for each instance"
    );
    let error = two.set_parameter(2, "w", &ParameterValue::Float(0.0));
    assert_eq!(
        error.expect_err("no third").to_string(),
        "there is no instance 2, there are 2, counted from 0"
    );
    let error = two.set_parameter(0, "w", &ParameterValue::Float(2.0));
    assert!(matches!(error, Err(GpuError::Parameter(_))), "{error:?}");
    let values: [(usize, &[f32]); 1] = [(0, &[1.0])];
    let frame = Frame {
        values: &values,
        ..Frame::default()
    };
    let error = two.update(&[frame, frame]).expect_err("a mesh input");
    assert!(matches!(error, GpuError::Frame(_)), "{error}");
}

#[test]
fn characters_of_one_batch_run_the_same_passes() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let text = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
     "parameters": {"n": {"type": "int", "default": 2, "min": 0, "max": 9}},
     "nodes": {"soft": {"node": "smooth", "mesh": "body", "iterations": "$n", "pin_border": false}},
     "outputs": {"body": "soft"}}"#;
    let mut three = instances(&gpu, text, 3);
    let mut positions = |n: [i64; 3]| {
        for (i, n) in n.into_iter().enumerate() {
            let set = three.set_parameter(i, "n", &ParameterValue::Int(n));
            set.expect("in range");
        }
        three.update(&[Frame::default(); 3])?;
        Ok(three.read_mesh("body", 2)?.expect("there").positions)
    };
    let two = positions([2, 2, 2]).unwrap_or_else(|e: GpuError| panic!("{e}"));
    let five = positions([5, 5, 5]).unwrap_or_else(|e: GpuError| panic!("{e}"));
    assert_ne!(two, five, "the number of passes follows the parameter");
    let error = positions([2, 2, 5]).expect_err("another number");
    assert!(
        error
            .to_string()
            .starts_with("node 'soft' (smooth): instance 2 needs other passes than instance 0"),
        "{error}"
    );
}

#[test]
fn a_mesh_that_nothing_moves_is_there_once() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let text = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
     "nodes": {"x": {"node": "transform", "mesh": "body", "transform": {"translation": [1, 0, 0]}}},
     "outputs": {"moved": "x", "body": "body"}}"#;
    let mut three = instances(&gpu, text, 3);
    assert_eq!(three.launch_labels().len(), 0, "all of it ran in setup");
    three.update(&[Frame::default(); 3]).expect("runs");
    let rest = meshes::grid(9, 6).positions;
    let moved = three.read_mesh("moved", 2).expect("reads").expect("there");
    assert_eq!(moved.positions[0][0], rest[0][0] + 1.0);
    let body = three.read_mesh("body", 1).expect("reads").expect("there");
    assert_eq!(body.positions, rest);
    let output = three.mesh_output("moved").expect("there");
    assert_eq!(output.per_instance, [false; 4]);
    assert_eq!(output.positions.len(), 3 * rest.len());
}
