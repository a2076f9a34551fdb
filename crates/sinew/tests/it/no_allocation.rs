//! Updates allocate nothing: a counting allocator watches every node of the registry.

use crate::common::allocations::counted_pool;
use crate::common::{assets, forms, middle, numbers, running_with};
use sinew::deform::Par;
use sinew::graph::Frame;

#[test]
fn update_allocates_nothing() {
    let (pool, count) = counted_pool(2);
    for asset in assets() {
        let mut pose = asset.rig.rest_pose();
        for (desc, more) in forms(&asset) {
            let mut i = running_with(&asset, desc, more);
            let values = numbers(i.plan());
            let values: Vec<(usize, &[f32])> = values.iter().map(|(i, v)| (*i, &**v)).collect();
            let mut frame = |par: Par| {
                asset
                    .rig
                    .evaluate(asset.clips.first(), middle(&asset), &mut pose);
                i.update(&Frame::at(0.5).pose(&pose).values(&values), par)
                    .expect("fits");
            };
            pool.install(|| {
                // Before frames are counted, rayon grows its queue once.
                for (par, first, counted, threads) in [
                    (Par::Seq, 1, 3, "one thread"),
                    (Par::Rayon, 3, 5, "two threads"),
                ] {
                    (0..first).for_each(|_| frame(par));
                    let before = count();
                    (0..counted).for_each(|_| frame(par));
                    assert_eq!(
                        count(),
                        before,
                        "{} on {}, {threads}",
                        desc.name,
                        asset.name
                    );
                }
            });
        }
    }
}

/// A custom kernel with all that it can read and write.
#[cfg(feature = "kernels")]
const KERNEL: &str = r#"{ "sinew": "1.0",
  "parameters": { "by": { "type": "float", "default": 0.5 } },
  "nodes": {
    "sums": { "node": "kernel", "domain": "triangle", "inputs": { "mesh": { "type": "mesh", "link": "body" } },
      "outputs": { "sums": { "type": "buffer", "element": "int", "write": "atomic_add" } },
      "text": "for (var k = 0u; k < 3u; k++) { add_sums(mesh_triangle_vertex(index, k), 1); }" },
    "past": { "node": "kernel", "domain": "triangle", "inputs": { "mesh": { "type": "mesh", "link": "body" } },
      "outputs": { "least": { "type": "buffer", "element": "uint", "write": "atomic_min" },
        "count": { "type": "buffer", "element": "int", "per": "triangle", "persistent": true } },
      "text": "min_least(mesh_triangle_vertex(index, 0u), index); write_count(index, last_count(index) + 1);" },
    "move": { "node": "kernel", "domain": "vertex",
      "inputs": { "mesh": { "type": "mesh", "link": "body" }, "pose": { "type": "pose", "link": "pose" },
        "sums": { "type": "buffer", "element": "int", "link": "sums" },
        "least": { "type": "buffer", "element": "uint", "link": "past.least" }, "count": { "type": "buffer", "element": "int", "link": "past.count" } },
      "outputs": { "mesh": { "type": "mesh", "writes": ["positions", "colors"] } },
      "parameters": { "by": { "type": "float", "value": "$by" } },
      "text": ["var p = vec3f();",
        "for (var k = 0u; k < mesh_influence_count(index); k++) {",
        "  p += mesh_influence_weight(index, k) * (read_pose_matrix(mesh_influence_joint(index, k)) * vec4f(read_mesh_positions(index), 1.0));",
        "}",
        "write_mesh_positions(index, p + by() * read_mesh_normals(index) + f32(mesh_connected_count(index)) * 1e-3);",
        "write_mesh_colors(index, vec4f(f32(read_sums(index)), read_mesh_uvs(index), f32(read_least(index)) + 1e-9 * f32(read_count(index))));"] } },
  "outputs": { "body": "move" } }"#;

#[cfg(feature = "kernels")]
#[test]
fn custom_kernels_allocate_nothing() {
    let (pool, count) = counted_pool(2);
    for asset in assets() {
        let mut i = crate::common::instance(&asset, KERNEL);
        let pose = asset.rig.rest_pose();
        let frame = Frame::at(0.5).pose(&pose);
        let mut bits = Vec::new();
        for par in [Par::Seq, Par::Rayon] {
            pool.install(|| {
                (0..3).for_each(|_| i.update(&frame, par).expect("fits"));
                let before = count();
                (0..3).for_each(|_| i.update(&frame, par).expect("fits"));
                assert_eq!(count(), before, "{} {par:?}", asset.name);
            });
            let out = i.mesh_output("body").expect("a mesh");
            let floats = out.positions.as_flattened().iter();
            bits.push(floats.map(|f| f.to_bits()).collect::<Vec<_>>());
        }
        assert_eq!(bits[0], bits[1], "{}: threads change nothing", asset.name);
    }
}
