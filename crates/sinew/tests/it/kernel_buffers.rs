//! Buffers of custom kernels on both devices, against closed forms.

#![allow(clippy::print_stdout, reason = "tests say what they skip")]

use crate::kernels::{floats, instances, sample, update};

/// Triangles give their corners the least and the greatest of scrambled numbers, signed (`s`) and unsigned (`u`). The second element of each
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
