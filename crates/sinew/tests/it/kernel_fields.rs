//! Fields as inputs of custom kernels on both devices: balls against the closed form, grids against `FieldView`.

#![allow(clippy::print_stdout, reason = "tests say what they skip")]

use crate::kernels::{floats, instances, poses, sample};
use sinew::deform::sdf::FieldWords;
use sinew::graph::Frame;

const FIELDS: &str = r#"{ "sinew": "1.0",
  "nodes": {
    "skin": { "node": "skin", "mesh": "body", "pose": "pose" },
    "ball": { "node": "solids", "pose": "pose", "follow": "JOINT",
      "capsules": [{ "from": [0.1, 0.2, -0.1], "to": [0.1, 0.2, -0.1], "radius": 0.25 }] },
    "grid": { "node": "sdf", "mesh": "skin", "cells": 20 },
    "look": { "node": "kernel", "domain": "vertex",
      "inputs": { "mesh": { "type": "mesh", "link": "skin" },
        "ball": { "type": "field", "link": "ball" }, "grid": { "type": "field", "link": "grid" } },
      "outputs": { "ball": { "type": "buffer", "element": "float", "count": 4 },
        "at": { "type": "buffer", "element": "float", "count": 3 }, "grid": { "type": "buffer", "element": "float" } },
      "text": ["let p = 1.2 * read_mesh_positions(index) + vec3f(0.01, 0.02, 0.03);",
        "let slope = gradient_ball(p);",
        "write_ball(4u * index, sample_ball(p));",
        "for (var k = 0u; k < 3u; k++) { write_ball(4u * index + k + 1u, slope[k]); write_at(3u * index + k, p[k]); }",
        "write_grid(index, sample_grid(p));"] }
  },
  "outputs": { "ball": "look.ball", "at": "look.at", "grid": "look.grid", "field": "grid" } }"#;

/// The grid of a device is compared with its own words: beyond the band, devices may fill grids differently.
#[track_caller]
fn check_grid(words: &[u32], at: &[f32], found: &[f32]) {
    let FieldWords::Grid(view) = FieldWords::read(words) else {
        panic!("no grid");
    };
    for (p, found) in at.as_chunks().0.iter().zip(found) {
        // No joint is followed: the field's space is that of the scene.
        assert!((found - view.sample(*p)).abs() < 1e-5, "{p:?}: {found}");
    }
}

#[test]
fn kernels_look_fields_up() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = sample("arm_with_hand");
    let joint = asset.rig.joints().len() - 1;
    let text = FIELDS.replace("JOINT", asset.rig.joint_name(joint));
    let mut out = instances(&gpu, &asset, &text, 1);
    for (time, pose) in poses(&asset).into_iter().step_by(3) {
        out.update(&[Frame::at(time).pose(&pose)]);
        let (ball, at) = (floats(&mut out, "ball", 0), floats(&mut out, "at", 0));
        let center = pose.palette[joint].rows;
        let center = center.map(|r| r[0] * 0.1 + r[1] * 0.2 - r[2] * 0.1 + r[3]);
        for (found, p) in ball.chunks_exact(4).zip(at.chunks_exact(3)) {
            let off: [f32; 3] = std::array::from_fn(|k| p[k] - center[k]);
            let length = off.iter().map(|v| v * v).sum::<f32>().sqrt();
            let expected = [
                length - 0.25,
                off[0] / length,
                off[1] / length,
                off[2] / length,
            ];
            let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-5;
            assert!(
                found.iter().zip(&expected).all(near),
                "{found:?}, {expected:?}"
            );
        }
        let grid = out.gpu.read_floats("grid", 0).expect("reads");
        let words = out.gpu.read_field("field", 0).expect("reads");
        check_grid(&words.expect("a field"), &at, &grid.expect("floats"));
        let grid = out.cpu[0].float_output("grid").expect("floats");
        check_grid(
            out.cpu[0].field_output("field").expect("a field"),
            &at,
            grid,
        );
    }
}
