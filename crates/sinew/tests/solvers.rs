//! Nodes with state, on every executor: first frames, resets, saved state, graphics devices.

mod drivers;

use sinew::deform::{Par, ParameterValue};
use sinew::geom::{Affine, Vec3};
use sinew::graph::{
    BoundGraph, Frame, InputBinding, Instance, NoNesting, StateError, compile_with_nodes,
};
use sinew_gpu::{GpuGraph, GpuInstances, LaunchStyle};
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
    Frame {
        time_secs: 0.1 * f64::from(number),
        dt_secs: if number == 0 { 0.0 } else { 0.1 },
        ..Frame::default()
    }
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
    let mut instance = graph.instance().expect("nodes of the processor");
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
    let mut instance = graph.instance().expect("nodes of the processor");
    let fresh = run(&mut instance, 0..5);
    run(&mut instance, 9..12);
    instance.reset();
    assert_eq!(run(&mut instance, 0..5), fresh);
}

#[test]
fn a_run_goes_on_from_a_saved_state() {
    let graph = graph(LAG, "lag");
    let mut whole = graph.instance().expect("nodes of the processor");
    run(&mut whole, 0..4);
    let saved = whole.save_state();
    let expected = run(&mut whole, 4..8);
    let mut other = graph.instance().expect("nodes of the processor");
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
    let mut instance = of_lag.instance().expect("nodes of the processor");
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
    let mut other = other.instance().expect("nodes of the processor");
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
        let instance = |_| graph.instance().expect("nodes of the processor");
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
