//! Fields that only hair looks up have values where hair can be: hair gets the same bits as from the whole field.

use crate::gpu_hair::{bind, document, lying, pose};
use sinew::deform::{Par, Phase};
use sinew::geom::{Influences, Mesh, Pose};
use sinew::graph::{BoundGraph, Frame, InputType};
use sinew_gpu::GpuGraph;
use std::sync::Arc;

/// A ball that moves with the pose, and hair that lies on it.
const FIELD: &str = r#""skin": {"node": "skin", "mesh": "body", "pose": "pose"},
  "field": {"node": "sdf", "mesh": "skin", "cells": 40"#;

fn hair(has_weights: bool) -> Mesh {
    let mut hair = lying();
    hair.positions.iter_mut().for_each(|p| p[1] -= 0.1);
    if has_weights {
        let rows: Vec<[(u32, f32); 2]> = (0..hair.vertex_count())
            .map(|v| (v % 5) as f32 / 4.0)
            .map(|share| [(0, share), (1, 1.0 - share)])
            .collect();
        let rows = rows.iter().map(|row| row.as_slice());
        hair.influences = Some(Influences::from_rows(rows, 2, 0).expect("valid").0);
    }
    hair
}

/// Steps that tell how far they look up each field.
fn lookers(graph: &BoundGraph) -> usize {
    let steps = graph.program().steps(Phase::Update).iter();
    steps.map(|step| step.lookers.len()).sum()
}

/// Hair of each frame.
fn frames(graph: &Arc<BoundGraph>, poses: &[(f64, Pose)]) -> Vec<Vec<[f32; 3]>> {
    let mut instance = graph.instance();
    let inputs = graph.plan().inputs();
    let slot = inputs.iter().position(|i| i.ty == InputType::Pose);
    let slot = slot.expect("a pose");
    let mut time = 0.0;
    let mut out = Vec::new();
    for (dt, pose) in poses {
        time += dt;
        let pose = [(slot, pose)];
        let frame = Frame::at(time).dt(*dt).poses(&pose);
        instance.update(&frame, Par::Seq).expect("fits");
        let hair = instance.mesh_output("hair").expect("there");
        out.push(hair.positions.to_vec());
    }
    out
}

/// Still, slow, fast, a turn by more than a right angle, a jump, time that stands still or goes back, still again.
fn poses() -> Vec<(f64, Pose)> {
    const STEP: f64 = 1.0 / 60.0;
    let still = |angle: f32, at: [f32; 3]| (0..4).map(move |_| (STEP, pose(angle, at)));
    let mut out = vec![(0.0, pose(0.0, [0.0; 3]))];
    out.extend(still(0.0, [0.0; 3]));
    out.extend((1..8).map(|n| (STEP, pose(0.04 * n as f32, [0.01 * n as f32, 0.0, 0.0]))));
    out.extend((1..4).map(|n| {
        (
            STEP,
            pose(0.3 + 0.5 * n as f32, [0.1, 0.15 * n as f32, 0.0]),
        )
    }));
    out.push((STEP, pose(-0.5, [0.1, 0.4, 0.3])));
    out.extend(still(-0.5, [0.1, 0.4, 0.3]));
    out.push((STEP, pose(0.5, [4.0, 0.0, 1.0])));
    out.push((0.0, pose(0.7, [3.8, 0.0, 1.0])));
    out.push((-0.3, pose(0.9, [3.7, 0.1, 1.0])));
    out.push((0.25, pose(0.6, [3.8, 0.2, 1.0])));
    out.extend(still(0.6, [3.8, 0.2, 1.0]));
    out
}

#[test]
fn hair_gets_the_same_bits_as_from_the_whole_field() {
    let sim =
        r#", "colliders": "field", "margins": [0.01], "frictions": [0.3], "local_stiffness": 0.5"#;
    for (follow, joint, has_weights) in [
        ("", r#", "pose": "pose", "joint": "head""#, false),
        (
            r#", "pose": "pose", "follow": "head""#,
            r#", "pose": "pose", "joint": "head""#,
            false,
        ),
        (
            r#", "pose": "pose", "follow": "neck""#,
            r#", "pose": "pose""#,
            true,
        ),
        ("", "", false),
    ] {
        let nodes = format!("{FIELD}{follow}}},");
        let limited = document(&nodes, &format!("{joint}{sim}"));
        let whole = limited.replace(r#""hair": "sim"}"#, r#""hair": "sim", "field": "field"}"#);
        let hair = hair(has_weights);
        let [limited, whole] = [limited, whole].map(|text| bind(&text, &hair));
        assert_eq!((lookers(&limited), lookers(&whole)), (1, 0));
        let poses = poses();
        let [found, expected] = [&limited, &whole].map(|graph| frames(graph, &poses));
        for (n, (a, b)) in found.iter().zip(&expected).enumerate() {
            assert!(a == b, "frame {n} with {follow} {joint}");
        }
        let touched = expected.last().expect("frames");
        assert!(touched.iter().flatten().all(|c| c.is_finite()));
    }
}

/// The same on the GPU, between fields of the GPU: of a mesh that moves, and of one that stands still while hair reaches elsewhere.
#[test]
fn hair_on_the_gpu_gets_the_same_bits_as_from_the_whole_field() {
    let Some(device) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let sim = r#", "colliders": "field", "margins": [0.01], "local_stiffness": 0.5"#;
    let with_head = r#", "pose": "pose", "follow": "head""#;
    for (follow, posed) in [("", ""), (with_head, r#", "pose": "pose""#)] {
        let nodes = format!("{FIELD}{follow}}},");
        let limited = document(&nodes, &format!("{posed}{sim}"));
        let whole = limited.replace(r#""hair": "sim"}"#, r#""hair": "sim", "field": "field"}"#);
        let [mut limited, mut whole] = [limited, whole].map(|text| {
            let graph = bind(&text, &hair(true));
            let shared = GpuGraph::new(&device, &graph).unwrap_or_else(|e| panic!("{e}"));
            shared.instances(1).unwrap_or_else(|e| panic!("{e}"))
        });
        let mut time = 0.0;
        for (n, (dt, pose)) in poses().iter().enumerate() {
            time += dt;
            let found = [&mut limited, &mut whole].map(|gpu| {
                let frame = Frame::at(time).dt(*dt).pose(pose);
                gpu.update(&[frame]).unwrap_or_else(|e| panic!("{e}"));
                let hair = gpu.read_mesh("hair", 0).expect("reads");
                hair.expect("there").positions
            });
            assert!(found[0] == found[1], "frame {n}{follow}");
        }
    }
}

/// What looks up the field everywhere, or gets its pose from another step, asks for all of it.
#[test]
fn fields_that_others_look_up_are_whole() {
    let nodes = format!("{FIELD}}},");
    let hair = hair(false);
    let sim = r#", "colliders": "field""#;
    let one = document(&nodes, sim);
    let other = format!(
        r#"{nodes} "clear": {{"node": "collide", "strands": "sim", "colliders": "field"}},"#
    );
    let other = document(&other, sim).replace(r#""hair": "sim"}"#, r#""hair": "clear"}"#);
    let springs = format!(
        r#"{nodes} "swing": {{"node": "spring_joints", "pose": "pose", "joints": ["neck"]}},"#
    );
    let springs = document(
        &springs,
        r#", "pose": "swing", "joint": "neck", "colliders": "field""#,
    );
    for (text, expected) in [(one, 1), (other, 0), (springs, 0)] {
        assert_eq!(lookers(&bind(&text, &hair)), expected, "{text}");
    }
}
