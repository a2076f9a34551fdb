//! Meshes whose neighbours kernels find in other ways than usual: very many around one point, very far away in memory.

use sinew::deform::Par;
use sinew::geom::{Mesh, Topology};
use sinew::graph::{BoundGraph, Frame, InputBinding, NoNesting, OutputMesh, compile};
use sinew_gpu::{GpuGraph, GpuMesh, LaunchStyle};
use sinew_testkit::{max_distance, meshes};
use std::sync::Arc;

/// Nodes whose kernels read rows of neighbours.
const NODES: [&str; 6] = [
    r#"{"node": "smooth", "mesh": "sheared", "iterations": 3}"#,
    r#"{"node": "smooth", "mesh": "sheared", "iterations": 3, "weights": "edge_length"}"#,
    r#"{"node": "delta_mush", "mesh": "sheared", "iterations": 3}"#,
    r#"{"node": "delta_mush", "mesh": "sheared", "iterations": 3, "frame": "uv", "weights": "edge_length"}"#,
    r#"{"node": "tangent_frames", "mesh": "sheared"}"#,
    r#"{"node": "tangent_frames", "mesh": "sheared", "normals": "fixed_point", "tangents": "mikktspace"}"#,
];

/// The node on a sheared mesh. The parameter may change from frame to frame, so that nothing is done in setup.
fn document(node: &str) -> String {
    format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}}}, "parameters": {{"weight": {{"type": "float", "default": 1}}}}, "nodes": {{
 "sheared": {{"node": "transform", "mesh": "body", "weight": "$weight",
   "transform": {{"rotation_degrees": [30, 40, 50], "scale": [1, 2, 0.7]}}}},
 "it": {node}}}, "outputs": {{"body": "it"}}}}"#
    )
}

/// Compares the processor with the device, in every style of launches: positions over the bounding box, directions. `tiles`: whether they
/// hold these rows.
fn compare(mut mesh: Mesh, tiles: bool) {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let bump = 0.02 / (mesh.positions.len() as f32).sqrt();
    for (i, p) in mesh.positions.iter_mut().enumerate() {
        // Not quite smooth, so that smoothing has something to do; not so rough that normals around a point cancel.
        p[2] += bump * (i % 7) as f32;
    }
    mesh.uvs = vec![mesh.positions.iter().map(|p| [p[0], p[1] + p[2]]).collect()];
    mesh.tangents = Some(vec![[1.0, 0.0, 0.0, 1.0]; mesh.positions.len()]);
    let mesh = Arc::new(mesh);
    for node in NODES {
        let plan = compile("g.json", &document(node), &NoNesting).unwrap_or_else(|e| panic!("{e}"));
        let inputs = [InputBinding::Mesh(mesh.clone())];
        let graph = BoundGraph::bind(Arc::new(plan), &inputs, &[], Par::Seq);
        let graph = Arc::new(graph.unwrap_or_else(|e| panic!("{e}")));
        let mut cpu = graph.instance();
        cpu.update(&Frame::default(), Par::Seq)
            .unwrap_or_else(|e| panic!("{e}"));
        let expected = cpu.mesh_output("body").expect("a mesh");
        for style in [LaunchStyle::Compact, LaunchStyle::Plain, LaunchStyle::Tiled] {
            let shared = GpuGraph::with_style(&gpu, &graph, style).expect("runs");
            let mut on_gpu = shared.instances(1).expect("fits");
            let in_tiles = on_gpu
                .kernels()
                .iter()
                .any(|k| k.wgsl.contains("sinew_tile"));
            assert_eq!(
                in_tiles,
                tiles && style == LaunchStyle::Tiled,
                "{style:?}: {node}"
            );
            on_gpu.update(&[Frame::default()]).expect("runs");
            let found = on_gpu.read_mesh("body", 0).expect("reads");
            same(
                &expected,
                &found.expect("a mesh"),
                &format!("{style:?}: {node}"),
            );
        }
    }
}

fn same(expected: &OutputMesh<'_>, found: &GpuMesh, what: &str) {
    let size = f64::from(expected.rest.diagonal());
    let apart = max_distance(expected.positions, &found.positions) / size;
    assert!(apart < 1e-6, "{what}: positions {apart:.1e}");
    if let (Some(a), Some(b)) = (expected.normals, &found.normals) {
        let apart = max_distance(a, b);
        assert!(apart < 1e-3, "{what}: normals {apart:.1e}");
    }
    if let (Some(a), Some(b)) = (expected.tangents, &found.tangents) {
        for (a, b) in a.iter().zip(b) {
            assert_eq!(a[3], b[3], "{what}");
            let xyz = |t: &[f32; 4]| [t[0], t[1], t[2]];
            let apart = max_distance(&[xyz(a)], &[xyz(b)]);
            assert!(apart < 1e-3, "{what}: tangents {apart:.1e}");
        }
    }
}

#[test]
fn poles_with_a_hundred_neighbours() {
    compare(meshes::sphere(8, 100), true);
}

/// Rows of two vectors beside rows of one.
#[test]
fn poles_with_a_dozen_neighbours() {
    compare(meshes::sphere(8, 12), true);
}

#[test]
fn neighbours_far_away_in_memory() {
    let mut mesh = meshes::grid(299, 235);
    let n = mesh.positions.len();
    // Neighbours in a row come to lie half of all vertices apart, which sixteen bits with a sign do not hold.
    let step = n / 2 + 1;
    assert!(n - step > 1 << 15 && n.is_multiple_of(2));
    let place = |v: usize| v * step % n;
    let old = mesh.positions.clone();
    for (v, [x, y, _]) in old.into_iter().enumerate() {
        // Curved everywhere, so that a triangle too many turns the normal.
        let [u, v_] = [3.0 * (x - 0.3), 2.0 * (y + 0.2)];
        mesh.positions[place(v)] = [x, y, 0.2 * (u * u - v_ * v_)];
    }
    let triangles: Vec<[u32; 3]> = mesh
        .topology
        .triangles()
        .iter()
        .map(|t| t.map(|v| place(v as usize) as u32))
        .collect();
    mesh.topology = Arc::new(Topology::new(n as u32, triangles).expect("valid"));
    compare(mesh, true);
}
