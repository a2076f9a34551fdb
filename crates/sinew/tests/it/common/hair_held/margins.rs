//! Two hair objects with margins of their own against one field, in one graph and one update.

use sinew::deform::Par;
use sinew::geom::{Mesh, Strands, Topology, Vec3};
use sinew::graph::{BoundGraph, Frame, InputBinding, InputType, NoNesting, compile};
use sinew::play::{Output, Runner};
use sinew_testkit::meshes;
use std::sync::Arc;

/// The ball that the field is made of.
const CENTER: [f32; 3] = [0.0, 0.5, 0.0];
const RADIUS: f32 = 0.3;
const FRAMES: u32 = 30;

/// Strands that hang from a square of roots, through the ball.
fn hair() -> Mesh {
    const VERTICES: usize = 20;
    let strands = Strands::new(std::iter::repeat_n(VERTICES, 16)).expect("valid");
    let at = |i: u8| 0.4 * (f32::from(i) / 3.0 - 0.5);
    let roots = (0..4_u8).flat_map(|x| (0..4_u8).map(move |z| [at(x), 1.2, at(z)]));
    let down = |[x, y, z]: [f32; 3]| (0..VERTICES).map(move |k| [x, y - 0.04 * k as f32, z]);
    let positions = roots.flat_map(down).collect();
    Mesh::new("hair", Topology::from_strands(strands), positions)
}

fn ball() -> Mesh {
    let mut ball = meshes::sphere(48, 96);
    for p in &mut ball.positions {
        *p = [0, 1, 2].map(|k| CENTER[k] + RADIUS * p[k]);
    }
    ball
}

/// A graph in which as many hairs as there are margins collide with one field.
pub(crate) fn graph(margins: &[f32]) -> Arc<BoundGraph> {
    let nodes: String = margins.iter().enumerate().map(|(i, margin)| format!(
        r#", "sim{i}": {{"node": "hair_sim", "strands": "hair", "local_stiffness": 0, "damping": 8, "colliders": "field", "margins": [{margin}]}}"#
    )).collect();
    let outputs: Vec<String> = (0..margins.len())
        .map(|i| format!(r#""hair{i}": "sim{i}""#))
        .collect();
    let text = format!(
        r#"{{"sinew": "1.0", "inputs": {{"hair": {{"type": "strands"}}, "body": {{"type": "mesh"}}}},
 "nodes": {{"field": {{"node": "sdf", "mesh": "body", "cells": 48, "band": 8}}{nodes}}}, "outputs": {{{}}}}}"#,
        outputs.join(", ")
    );
    let plan = compile("margins.json", &text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let input = |ty| match ty {
        InputType::Strands => InputBinding::Mesh(Arc::new(hair())),
        InputType::Mesh => InputBinding::Mesh(Arc::new(ball())),
        other => panic!("{other:?}"),
    };
    let inputs: Vec<InputBinding> = plan.inputs().iter().map(|i| input(i.ty)).collect();
    let graph = BoundGraph::bind(Arc::new(plan), &inputs, &[], Par::Seq);
    Arc::new(graph.unwrap_or_else(|e| panic!("{e}")))
}

/// Where all hairs are after some frames, one list each.
fn run(mut runner: Runner) -> Vec<Vec<[f32; 3]>> {
    for number in 0..FRAMES {
        let frame =
            Frame::at(f64::from(number) / 60.0).dt(if number == 0 { 0.0 } else { 1.0 / 60.0 });
        runner.update(&frame).unwrap_or_else(|e| panic!("{e}"));
    }
    let outputs = runner.read_outputs().unwrap_or_else(|e| panic!("{e}"));
    let positions = |(_, output)| match output {
        Output::Mesh(mesh) => mesh.positions,
        other => panic!("{other:?}"),
    };
    outputs.into_iter().map(positions).collect()
}

/// How near the ball the hair comes: vertices and what is between them, but for the first two of a strand.
fn nearest(hair: &[[f32; 3]]) -> f32 {
    let place = |p: &[f32; 3]| Vec3::from(*p) - Vec3::from(CENTER);
    let strand = |strand: &[[f32; 3]]| {
        let pairs = strand[2..]
            .windows(2)
            .map(|pair| [place(&pair[0]), place(&pair[1])]);
        let samples =
            pairs.flat_map(|[a, b]| [0.0, 0.25, 0.5, 0.75].map(|t| a * (1.0 - t) + b * t));
        samples
            .map(|p| p.norm() - RADIUS)
            .fold(f32::INFINITY, f32::min)
    };
    hair.chunks(20).map(strand).fold(f32::INFINITY, f32::min)
}

/// Each hair keeps its own margin whichever comes first, and is where it would be if there were no other.
pub(crate) fn each_keeps_its_own(runner: impl Fn(&Arc<BoundGraph>) -> Runner) {
    let margins = [0.01, 0.06];
    let both = run(runner(&graph(&margins)));
    let swapped = run(runner(&graph(&[margins[1], margins[0]])));
    for (i, margin) in margins.into_iter().enumerate() {
        let found = nearest(&both[i]);
        println!("margin {margin} m: {found} m away");
        // The mesh and what is interpolated between nodes lie up to a millimetre inside the ball.
        assert!((found - margin).abs() < 2e-3, "margin {margin}: {found}");
        assert!(both[i] == swapped[1 - i], "{margin}: the order matters");
        let alone = run(runner(&graph(&[margin])));
        assert!(both[i] == alone[0], "{margin}: the other one matters");
    }
}
