//! Nodes with state, on every executor: first frames, resets, saved state, GPUs.

use crate::common::drivers;
use sinew::deform::{Par, ParameterValue};
use sinew::geom::{Affine, Vec3};
use sinew::graph::{
    BoundGraph, Frame, InputBinding, Instance, NoNesting, StateError, StateHome, compile_with_nodes,
};
use sinew_gpu::{GpuError, GpuGraph, GpuInstances, GpuMesh, LaunchStyle};
use sinew_testkit::meshes;
use std::sync::Arc;

/// A grid that is moved by `at`, and lags behind.
fn graph(nodes: &str, last: &str) -> Arc<BoundGraph> {
    let text = format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}}},
 "parameters": {{"at": {{"type": "transform", "default": {{}}}}}},
 "nodes": {{{nodes}}}, "outputs": {{"body": "{last}"}}}}"#
    );
    let plan = compile_with_nodes("g.json", &text, &NoNesting, &drivers::nodes());
    let plan = plan.unwrap_or_else(|e| panic!("{e}"));
    let mesh = InputBinding::Mesh(Arc::new(meshes::grid(37, 21)));
    let graph = BoundGraph::bind(Arc::new(plan), &[mesh], &[], Par::Seq);
    Arc::new(graph.unwrap_or_else(|e| panic!("{e}")))
}

const LAG: &str = r#""moved": {"node": "transform", "mesh": "body", "transform": "$at"},
 "lag": {"node": "lag", "mesh": "moved", "rate": 2}"#;

fn moved(frame: u32) -> Vec3<f64> {
    let f = f64::from(frame);
    Vec3::new(0.3 * f * f, -0.2 * f, 0.1)
}

fn at(frame: u32) -> ParameterValue {
    ParameterValue::Transform(Affine {
        translation: moved(frame),
        ..Affine::identity()
    })
}

fn frame(number: u32) -> Frame<'static> {
    Frame::at(0.1 * f64::from(number)).dt(if number == 0 { 0.0 } else { 0.1 })
}

fn step(instance: &mut Instance, number: u32) -> Vec<[f32; 3]> {
    instance.set_parameter("at", &at(number)).expect("there");
    instance.update(&frame(number), Par::Seq).expect("runs");
    let out = instance.mesh_output("body").expect("there");
    out.positions.to_vec()
}

fn run(instance: &mut Instance, numbers: std::ops::Range<u32>) -> Vec<Vec<[f32; 3]>> {
    numbers.map(|n| step(instance, n)).collect()
}

#[test]
fn a_solver_follows_its_closed_form() {
    let graph = graph(LAG, "lag");
    let mut instance = graph.instance();
    let rest = graph.program().meshes()[0].positions[5];
    let mut expected = f64::from(rest[0]);
    for (number, found) in (0..).zip(run(&mut instance, 0..8)) {
        let to = f64::from(rest[0]) + moved(number).x;
        let left = if number == 0 { 0.0 } else { (-0.2_f64).exp() };
        expected = to + (expected - to) * left;
        assert!(
            (f64::from(found[5][0]) - expected).abs() < 1e-5,
            "frame {number}"
        );
    }
}

#[test]
fn after_a_reset_all_is_as_in_a_new_instance() {
    let graph = graph(LAG, "lag");
    let mut instance = graph.instance();
    let fresh = run(&mut instance, 0..5);
    run(&mut instance, 9..12);
    instance.reset();
    assert_eq!(run(&mut instance, 0..5), fresh);
}

#[test]
fn a_run_goes_on_from_a_saved_state() {
    let graph = graph(LAG, "lag");
    let mut whole = graph.instance();
    run(&mut whole, 0..4);
    let saved = whole.save_state();
    let expected = run(&mut whole, 4..8);
    let mut other = graph.instance();
    run(&mut other, 2..3);
    other.restore_state(&saved).expect("of this graph");
    let found = step(&mut other, 4);
    assert_eq!(found, expected[0]);
    let before = other.mesh_output("body").expect("there").previous_positions;
    assert_ne!(before, found, "the frame before is that of the saved run");
    assert_eq!(run(&mut other, 5..8), expected[1..]);
}

#[test]
fn states_that_do_not_fit_are_refused() {
    let of_lag = graph(LAG, "lag");
    let mut instance = of_lag.instance();
    run(&mut instance, 0..2);
    let saved = instance.save_state();
    let mut refused = |bytes: &[u8]| instance.restore_state(bytes).expect_err("does not fit");
    assert!(matches!(refused(&saved[..20]), StateError::Format));
    assert!(matches!(
        refused(b"something else, long enough to hold a header of some seventy bytes .........."),
        StateError::Format
    ));
    assert!(matches!(
        refused(&saved[..saved.len() - 1]),
        StateError::Damaged
    ));
    let mut damaged = saved.clone();
    damaged[saved.len() / 2] ^= 4;
    assert!(matches!(refused(&damaged), StateError::Damaged));
    let other = graph(&LAG.replace("\"rate\": 2", "\"rate\": 3"), "lag");
    let mut other = other.instance();
    assert!(matches!(
        other.restore_state(&saved),
        Err(StateError::Stale)
    ));
}

/// Character `i` is one frame ahead of character `i + 1`.
struct Crowd {
    cpu: Vec<Instance>,
    gpu: GpuInstances,
    numbers: Vec<u32>,
}

impl Crowd {
    fn new(graph: &Arc<BoundGraph>, style: LaunchStyle, count: u32) -> Option<Self> {
        let device = sinew_gpu::test_support::gpu()?;
        let shared = GpuGraph::with_style(&device, graph, style);
        let shared = shared.unwrap_or_else(|e| panic!("{e}"));
        let instance = |_| graph.instance();
        Some(Self {
            cpu: (0..count).map(instance).collect(),
            gpu: shared.instances(count as usize).expect("fits"),
            numbers: (0..count).rev().collect(),
        })
    }

    fn restart(&mut self, character: usize) {
        self.cpu[character].reset();
        self.gpu.reset_one(character).expect("there");
    }

    fn advance(&mut self) {
        let frames: Vec<Frame<'_>> = self.numbers.iter().map(|&n| frame(n)).collect();
        for (i, &number) in self.numbers.iter().enumerate() {
            step(&mut self.cpu[i], number);
            self.gpu.set_parameter(i, "at", &at(number)).expect("there");
        }
        self.gpu.update(&frames).unwrap_or_else(|e| panic!("{e}"));
        for (i, number) in self.numbers.iter_mut().enumerate() {
            let read = self
                .gpu
                .read_mesh("body", i)
                .expect("reads")
                .expect("there");
            let expected = self.cpu[i].mesh_output("body").expect("there");
            let pairs = [
                (&read.positions, expected.positions, "now"),
                (
                    &read.previous_positions,
                    expected.previous_positions,
                    "before",
                ),
            ];
            for (found, expected, when) in pairs {
                let differs = |(a, b): (&[f32; 3], &[f32; 3])| {
                    a.iter().zip(b).any(|(a, b)| (a - b).abs() > 2e-5)
                };
                let bad = found.iter().zip(expected).position(differs);
                assert_eq!(bad, None, "{when}, frame {number} of character {i}");
            }
            *number += 1;
        }
    }
}

/// Lasting memory on the device: alone, between nodes that run together with it, in tiles, in crowds, with shapes of their own.
#[test]
fn devices_keep_the_state_of_each_character() {
    let soft = format!(
        r#"{LAG}, "soft": {{"node": "smooth", "mesh": "lag", "iterations": 4}}, "on": {{"node": "transform", "mesh": "soft", "transform": {{"translation": [1, 0, 0]}}}}"#
    );
    for (graph, what) in [
        (graph(LAG, "lag"), "alone"),
        (graph(&soft, "on"), "in front of smoothing"),
    ] {
        for style in [
            LaunchStyle::Auto,
            LaunchStyle::Compact,
            LaunchStyle::Plain,
            LaunchStyle::Tiled,
        ] {
            for count in [1, 5] {
                let Some(mut crowd) = Crowd::new(&graph, style, count) else {
                    return;
                };
                println!("{what}, {style:?}, {count}");
                (0..3).for_each(|_| crowd.advance());
                crowd.restart(count as usize / 2);
                (0..3).for_each(|_| crowd.advance());
                let vertices = graph.program().meshes()[0].vertex_count();
                let lifted = vec![[0.0, 0.25, 0.0]; vertices];
                crowd
                    .gpu
                    .set_rest_offsets(0, "body", &lifted)
                    .expect("fits");
                crowd.cpu[0]
                    .set_rest_offsets("body", &lifted)
                    .expect("fits");
                (0..2).for_each(|_| crowd.advance());
                crowd.gpu.reset();
                crowd.cpu.iter_mut().for_each(Instance::reset);
                (0..2).for_each(|_| crowd.advance());
            }
        }
    }
}

/// One frame of characters of which each is in a frame of its own.
fn step_on_device(gpu: &mut GpuInstances, numbers: &[u32]) {
    let frames: Vec<Frame<'_>> = numbers.iter().map(|&n| frame(n)).collect();
    for (i, &number) in numbers.iter().enumerate() {
        gpu.set_parameter(i, "at", &at(number)).expect("there");
    }
    gpu.update(&frames).unwrap_or_else(|e| panic!("{e}"));
}

fn body(gpu: &mut GpuInstances, character: usize) -> GpuMesh {
    let read = gpu.read_mesh("body", character).expect("reads");
    read.expect("there")
}

/// Whatever frame the crowd is in that a state comes to, and whatever buffers have changed places.
#[test]
fn devices_go_on_from_saved_states() {
    let soft = format!(r#"{LAG}, "soft": {{"node": "smooth", "mesh": "lag", "iterations": 4}}"#);
    let Some(device) = sinew_gpu::test_support::gpu() else {
        return;
    };
    for graph in [graph(LAG, "lag"), graph(&soft, "soft")] {
        for style in [LaunchStyle::Compact, LaunchStyle::Plain, LaunchStyle::Tiled] {
            let shared = GpuGraph::with_style(&device, &graph, style).expect("fits");
            let mut whole = shared.instances(3).expect("fits");
            for n in 0..4 {
                step_on_device(&mut whole, &[n + 2, n, n + 5]);
            }
            let saved = whole.save_state(1).expect("reads");
            let last = body(&mut whole, 1);
            let mut expected = Vec::new();
            for n in 4..7 {
                step_on_device(&mut whole, &[n + 2, n, n + 5]);
                expected.push(body(&mut whole, 1));
            }
            for frames_before in 0..3 {
                let mut other = shared.instances(3).expect("fits");
                let mut undisturbed = shared.instances(3).expect("fits");
                for n in 0..frames_before {
                    step_on_device(&mut other, &[n, 3 * n, n]);
                    step_on_device(&mut undisturbed, &[n, 3 * n, n]);
                }
                other.restore_state(2, &saved).expect("of this graph");
                assert_eq!(body(&mut other, 2).positions, last.positions);
                for (n, expected) in (4..7).zip(&expected) {
                    let others = frames_before + n - 4;
                    step_on_device(&mut other, &[others, 3 * others, n]);
                    step_on_device(&mut undisturbed, &[others, 3 * others, n]);
                    let found = body(&mut other, 2);
                    assert!(found == *expected, "{style:?}, frame {n}");
                    let beside = [0, 1].map(|i| body(&mut other, i) == body(&mut undisturbed, i));
                    assert_eq!(beside, [true; 2], "others of the crowd, frame {n}");
                }
            }
        }
    }
}

/// A state from before the first frame begins with one.
#[test]
fn devices_begin_from_states_before_the_first_frame() {
    let Some(device) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let shared = GpuGraph::new(&device, &graph(LAG, "lag")).expect("fits");
    let mut whole = shared.instances(1).expect("fits");
    let saved = whole.save_state(0).expect("reads");
    step_on_device(&mut whole, &[3]);
    let mut other = shared.instances(1).expect("fits");
    step_on_device(&mut other, &[7]);
    other.restore_state(0, &saved).expect("of this graph");
    step_on_device(&mut other, &[3]);
    assert!(body(&mut other, 0) == body(&mut whole, 0));
}

#[test]
fn states_that_do_not_fit_a_device_are_refused() {
    let Some(device) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let of_lag = graph(LAG, "lag");
    let mut gpu = GpuGraph::new(&device, &of_lag)
        .and_then(|g| g.instances(1))
        .expect("fits");
    let mut cpu = of_lag.instance();
    step_on_device(&mut gpu, &[0]);
    step_on_device(&mut gpu, &[1]);
    run(&mut cpu, 0..2);
    let saved = gpu.save_state(0).expect("reads");
    let mut refused = |bytes: &[u8]| match gpu.restore_state(0, bytes) {
        Err(GpuError::State(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(refused(&saved[..20]), StateError::Format));
    assert!(matches!(refused(&[7; 200]), StateError::Format));
    let cut = &saved[..saved.len() - 1];
    assert!(matches!(refused(cut), StateError::Damaged));
    for at in [45, saved.len() / 2, saved.len() - 1] {
        let mut damaged = saved.clone();
        damaged[at] ^= 4;
        assert!(matches!(refused(&damaged), StateError::Damaged), "{at}");
    }
    let mut version = saved.clone();
    version[4] = 9;
    assert!(matches!(refused(&version), StateError::Format));
    assert!(matches!(
        refused(&cpu.save_state()),
        StateError::Elsewhere {
            found: StateHome::Cpu,
            expected: StateHome::Gpu
        }
    ));
    assert!(matches!(
        cpu.restore_state(&saved),
        Err(StateError::Elsewhere {
            found: StateHome::Gpu,
            expected: StateHome::Cpu
        })
    ));
    assert!(matches!(
        gpu.save_state(1),
        Err(GpuError::NoInstance { found: 1, count: 1 })
    ));
    assert!(matches!(
        gpu.restore_state(1, &saved),
        Err(GpuError::NoInstance { found: 1, count: 1 })
    ));
    let faster = graph(&LAG.replace("\"rate\": 2", "\"rate\": 3"), "lag");
    let mut other = GpuGraph::new(&device, &faster)
        .and_then(|g| g.instances(1))
        .expect("fits");
    assert!(matches!(
        other.restore_state(0, &saved),
        Err(GpuError::State(StateError::Stale))
    ));
    // All the while the first one has gone on undisturbed.
    step_on_device(&mut gpu, &[2]);
    let expected = step(&mut cpu, 2);
    let found = body(&mut gpu, 0).positions;
    let pairs = found.as_flattened().iter().zip(expected.as_flattened());
    let apart = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(apart < 2e-5, "{apart}");
}

/// What the host runs beside the device has its part in the state.
#[test]
fn drivers_beside_devices_go_on_from_saved_states() {
    let text = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "numbers": {"type": "values", "count": 2}},
 "nodes": {"lag": {"node": "lag", "mesh": "body"}, "sum": {"node": "total", "values": "numbers"}},
 "outputs": {"body": "lag", "sum": "sum"}}"#;
    let Some(device) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let plan = compile_with_nodes("g.json", text, &NoNesting, &drivers::nodes());
    let plan = Arc::new(plan.unwrap_or_else(|e| panic!("{e}")));
    let mesh = InputBinding::Mesh(Arc::new(meshes::grid(5, 4)));
    let graph = BoundGraph::bind(plan, &[mesh, InputBinding::Values], &[], Par::Seq);
    let shared = GpuGraph::new(&device, &Arc::new(graph.expect("binds"))).expect("fits");
    let run = |gpu: &mut GpuInstances, number: u32| {
        let values = [(1, &[1.5, 0.0][..])];
        let frame = frame(number).values(&values);
        gpu.update(&[frame]).expect("runs");
        gpu.read_floats("sum", 0).expect("reads").expect("there")
    };
    let mut whole = shared.instances(1).expect("fits");
    (0..3).for_each(|n| assert_eq!(run(&mut whole, n)[0], 1.5 * (n + 1) as f32));
    let saved = whole.save_state(0).expect("reads");
    let mut other = shared.instances(1).expect("fits");
    other.restore_state(0, &saved).expect("of this graph");
    assert_eq!(run(&mut other, 3)[0], 6.0);
}
