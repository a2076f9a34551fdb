//! Buffers of custom kernels on both devices, against closed forms.

#![allow(clippy::print_stdout, reason = "tests say what they skip")]

use crate::kernels::{Both, Files, example, floats, instances, poses, sample, update};
use sinew::deform::sdf::UNSET;
use sinew::deform::tressfx_sdf::CompatibilityField;
use sinew::deform::{Par, ParameterValue};
use sinew::graph::{BoundGraph, Frame, compile};
use std::sync::Arc;

/// Triangles give their corners the least and greatest of scrambled numbers, signed (`s`) and unsigned (`u`). The second element of each
/// vertex is never written: it holds the number from which a minimum or maximum starts. Numbers leave as two halves, each exact as a float.
const MINIMA_AND_MAXIMA: &str = r#"{ "sinew": "1.0", "nodes": {
  "combine": { "node": "kernel", "domain": "triangle",
    "inputs": { "mesh": { "type": "mesh", "link": "body" } },
    "outputs": {
      "s_min": { "type": "buffer", "element": "int", "count": 2, "write": "atomic_min" },
      "s_max": { "type": "buffer", "element": "int", "count": 2, "write": "atomic_max" },
      "u_min": { "type": "buffer", "element": "uint", "count": 2, "write": "atomic_min" },
      "u_max": { "type": "buffer", "element": "uint", "count": 2, "write": "atomic_max" } },
    "text": ["let v = index * 2654435761u;",
      "for (var k = 0u; k < 3u; k++) {",
      "  let i = 2u * mesh_triangle_vertex(index, k);",
      "  min_s_min(i, bitcast<i32>(v)); max_s_max(i, bitcast<i32>(v));",
      "  min_u_min(i, v); max_u_max(i, v);",
      "}",
      "min_s_min(4000000000u, -5); max_u_max(4000000000u, 5u);"] },
  "read": { "node": "kernel", "domain": "vertex",
    "inputs": { "mesh": { "type": "mesh", "link": "body" },
      "s_min": { "type": "buffer", "element": "int", "link": "combine.s_min" },
      "s_max": { "type": "buffer", "element": "int", "link": "combine.s_max" },
      "u_min": { "type": "buffer", "element": "uint", "link": "combine.u_min" },
      "u_max": { "type": "buffer", "element": "uint", "link": "combine.u_max" } },
    "outputs": { "halves": { "type": "buffer", "element": "float", "count": 16 } },
    "text": ["for (var k = 0u; k < 2u; k++) {",
      "  let i = 2u * index + k;",
      "  let found = vec4u(bitcast<u32>(read_s_min(i)), bitcast<u32>(read_s_max(i)), read_u_min(i), read_u_max(i));",
      "  for (var n = 0u; n < 4u; n++) {",
      "    write_halves(8u * i + 2u * n, f32(found[n] >> 16u));",
      "    write_halves(8u * i + 2u * n + 1u, f32(found[n] & 0xffffu));",
      "  }",
      "}"] } },
  "outputs": { "halves": "read.halves" } }"#;

#[test]
fn minima_and_maxima_of_triangles() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = sample("ball");
    let mesh = asset.merged(&Default::default()).expect("a mesh");
    let start = (i32::MAX, i32::MIN, u32::MAX, 0_u32);
    let mut expected = vec![start; 2 * mesh.vertex_count()];
    for (t, triangle) in mesh.topology.triangles().iter().enumerate() {
        let v = (t as u32).wrapping_mul(2_654_435_761);
        let s = v.cast_signed();
        for &corner in triangle {
            let found = &mut expected[2 * corner as usize];
            *found = (
                s.min(found.0),
                s.max(found.1),
                v.min(found.2),
                v.max(found.3),
            );
        }
    }
    let halves = |v: u32| [(v >> 16) as f32, (v & 0xffff) as f32];
    let four = |e: &(i32, i32, u32, u32)| [e.0.cast_unsigned(), e.1.cast_unsigned(), e.2, e.3];
    let expected: Vec<f32> = expected.iter().flat_map(four).flat_map(halves).collect();
    let mut out = instances(&gpu, &asset, MINIMA_AND_MAXIMA, 2);
    for _ in 0..2 {
        update(&mut out, &asset, 2);
        for instance in 0..2 {
            assert_eq!(floats(&mut out, "halves", instance), expected);
        }
    }
}

/// A graph with a past: each frame doubles what the frame before left and adds one, for half of the vertices. Sums go on over all frames.
const PAST: &str = r#"{ "sinew": "1.0",
  "parameters": { "reset": { "type": "bool", "default": false } },
  "nodes": {
    "past": { "node": "kernel", "domain": "vertex",
      "inputs": { "mesh": { "type": "mesh", "link": "body" } },
      "parameters": { "reset": { "type": "bool", "value": "$reset" } },
      "outputs": { "x": { "type": "buffer", "element": "float", "persistent": true },
        "at": { "type": "buffer", "element": "vec3", "persistent": true },
        "sum": { "type": "buffer", "element": "int", "per": "mesh", "write": "atomic_add", "persistent": true } },
      "text": ["if index % 2u == 0u { write_x(index, 2.0 * last_x(index) + 1.0); }",
        "write_at(index, last_at((index + 1u) % vertex_count) + vec3f(1.0, f32(index), f32(last_sum(0u))));",
        "add_sum(0u, 1);"] },
    "read": { "node": "kernel", "domain": "vertex",
      "inputs": { "mesh": { "type": "mesh", "link": "body" }, "at": { "type": "buffer", "element": "vec3", "link": "past.at" } },
      "outputs": { "z": { "type": "buffer", "element": "float" } },
      "text": "write_z(index, read_at(index).z);" } },
  "outputs": { "x": "past.x", "z": "read.z" } }"#;

/// Two characters on both devices: one is reset in frame 3, the other one goes on. Frame 5 begins with a saved state.
#[test]
fn persistent_buffers_keep_their_values() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = sample("ball");
    let mesh = asset.merged(&Default::default()).expect("a mesh");
    let vertices = mesh.vertex_count() as f32;
    let mut out = instances(&gpu, &asset, PAST, 2);
    // Each character's `x`, and how many frames it ran.
    let mut state = [(0.0_f32, 0_u8); 2];
    for frame in 0..7 {
        match frame {
            3 => {
                out.gpu.reset_one(0).expect("an instance");
                out.cpu[0].reset();
                state[0] = (0.0, 0);
            }
            5 => {
                let saved = [0, 1].map(|i| out.gpu.save_state(i).expect("saves"));
                let on_cpu: Vec<_> = out.cpu.iter().map(|c| c.save_state()).collect();
                out = instances(&gpu, &asset, PAST, 2);
                for i in 0..2 {
                    out.gpu.restore_state(i, &saved[i]).expect("fits");
                    out.cpu[i].restore_state(&on_cpu[i]).expect("fits");
                }
            }
            // As at a cut.
            6 => {
                out.set_parameter(1, "reset", &ParameterValue::Bool(true));
                state[1] = (0.0, 0);
            }
            _ => {}
        }
        update(&mut out, &asset, 2);
        for (i, (x, frames)) in state.iter_mut().enumerate() {
            (*x, *frames) = (2.0 * *x + 1.0, *frames + 1);
            let found = floats(&mut out, "x", i);
            let expected = |v: usize| if v.is_multiple_of(2) { *x } else { 0.0 };
            assert!(
                found.iter().enumerate().all(|(v, x)| *x == expected(v)),
                "{frame}"
            );
            // The sums of the frames before: 0, n, 2n ...
            let sums: f32 = (0..*frames).map(|f| vertices * f32::from(f)).sum();
            assert!(
                floats(&mut out, "z", i).iter().all(|z| *z == sums),
                "{frame}"
            );
        }
    }
}

/// How the distances of the example differ from those of `tressfx_sdf` for the same positions.
#[derive(Debug, Default)]
struct FieldDifferences {
    /// Nodes with a distance.
    set: usize,
    /// Nodes with a distance in one of the two only.
    set_once: usize,
    /// Largest difference of signed distances, over the diagonal of the mesh.
    distances: f32,
}

fn compare(field: &CompatibilityField, found: &[f32], diagonal: f32) -> FieldDifferences {
    let mut out = FieldDifferences::default();
    assert!(found[field.values.len()..].iter().all(|d| *d == UNSET));
    for (a, b) in field.values.iter().zip(found) {
        if *a == UNSET || *b == UNSET {
            out.set_once += usize::from(a != b);
        } else {
            out.set += 1;
            out.distances = out.distances.max((a - b).abs() / diagonal);
        }
    }
    out
}

/// The three passes of TressFX as kernels give the field of the built-in node, for a bent arm.
#[test]
fn the_field_by_kernels_equals_the_built_in_node() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = sample("arm_with_hand");
    let path = example("kernel_sdf.json").display().to_string();
    let text = std::fs::read_to_string(&path).expect("the example");
    let plan = Arc::new(compile(&path, &text, &Files).unwrap_or_else(|e| panic!("{e}")));
    let inputs = crate::common::bindings(&asset, &plan);
    let graph = BoundGraph::bind(plan, &inputs, &[], Par::Seq).unwrap_or_else(|e| panic!("{e}"));
    let mut both = Both::new(&gpu, &Arc::new(graph), 1);
    let mesh = asset.merged(&Default::default()).expect("a mesh");
    let mut field = CompatibilityField::new(&mesh.positions, 16).expect("an extent");
    let origin = field.origin.map(f64::from);
    both.set_parameter(0, "origin", &ParameterValue::Vec3(origin));
    both.set_parameter(0, "cell", &ParameterValue::Float(field.cell.into()));
    let nodes = field.nodes.map(i64::from);
    both.set_parameter(0, "nodes", &ParameterValue::Int3(nodes));
    let (time, pose) = poses(&asset).swap_remove(3);
    both.update(&[Frame::at(time).pose(&pose)]);
    let positions = both
        .gpu
        .read_mesh("body", 0)
        .expect("reads")
        .expect("a mesh")
        .positions;
    let distances = both.gpu.read_floats("distances", 0).expect("reads");
    field.build(&mesh.topology, &positions);
    let on_gpu = compare(&field, &distances.expect("floats"), mesh.diagonal());
    let positions = both.cpu[0].mesh_output("body").expect("a mesh").positions;
    field.build(&mesh.topology, positions);
    let distances = both.cpu[0].float_output("distances").expect("floats");
    let on_cpu = compare(&field, distances, mesh.diagonal());
    for found in [on_gpu, on_cpu] {
        println!("{found:?}");
        assert!(found.set > 500 && found.set_once == 0, "{found:?}");
        assert!(found.distances < 1e-5, "{found:?}");
    }
}
