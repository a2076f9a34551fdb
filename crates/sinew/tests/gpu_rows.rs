//! Meshes whose neighbours kernels find in other ways than usual: very many around one point, very far away in memory.

use sinew::deform::Par;
use sinew::geom::{Mesh, Topology};
use sinew::graph::{BoundGraph, Frame, InputBinding, InputType, NoNesting, compile};
use sinew_gpu::{GpuGraph, LaunchStyle};
use sinew_testkit::{max_distance, meshes};
use std::sync::Arc;

/// Every node whose kernels read rows of neighbours, on a sheared mesh.
const NODES: &str = r#"{"sinew": "1.0", "nodes": {
 "sheared": {"node": "transform", "mesh": "body", "transform": {"rotation_degrees": [30, 40, 50], "scale": [1, 2, 0.7]}},
 "smooth": {"node": "smooth", "mesh": "sheared", "iterations": 3},
 "weighted": {"node": "smooth", "mesh": "sheared", "iterations": 3, "weights": "edge_length"},
 "mush": {"node": "delta_mush", "mesh": "sheared", "iterations": 3},
 "mush_uv": {"node": "delta_mush", "mesh": "sheared", "iterations": 3, "frame": "uv", "weights": "edge_length"},
 "frames": {"node": "tangent_frames", "mesh": "sheared"},
 "fixed": {"node": "tangent_frames", "mesh": "sheared", "normals": "fixed_point", "tangents": "mikktspace"}},
 "outputs": {"smooth": "smooth", "weighted": "weighted", "mush": "mush", "mush_uv": "mush_uv", "frames": "frames",
  "fixed": "fixed"}}"#;

/// Largest differences between the processor and the device: positions over the bounding box, directions.
fn differences(mut mesh: Mesh) -> Option<(f64, f64)> {
    let gpu = sinew_gpu::test_support::gpu()?;
    for (i, p) in mesh.positions.iter_mut().enumerate() {
        // Not quite smooth, so that smoothing has something to do; not so rough that normals around a point cancel.
        p[2] += 0.001 * (i % 7) as f32;
    }
    mesh.uvs = vec![mesh.positions.iter().map(|p| [p[0], p[1] + p[2]]).collect()];
    mesh.tangents = Some(vec![[1.0, 0.0, 0.0, 1.0]; mesh.positions.len()]);
    let mesh = Arc::new(mesh);
    let plan = compile("g.json", NODES, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let bind = |ty: InputType| match ty {
        InputType::Mesh => InputBinding::Mesh(mesh.clone()),
        InputType::Pose => InputBinding::Pose(Arc::default()),
        InputType::Values => InputBinding::Values,
    };
    let inputs: Vec<InputBinding> = plan.inputs().iter().map(|i| bind(i.ty)).collect();
    let graph = BoundGraph::bind(Arc::new(plan), &inputs, &[], Par::Seq);
    let graph = Arc::new(graph.unwrap_or_else(|e| panic!("{e}")));
    let mut cpu = graph.instance().expect("nodes of the processor");
    let frame = Frame::default();
    cpu.update(&frame, Par::Seq)
        .unwrap_or_else(|e| panic!("{e}"));
    let (mut positions, mut directions) = (0.0_f64, 0.0_f64);
    let styles = [LaunchStyle::Compact, LaunchStyle::Plain, LaunchStyle::Tiled];
    let outputs = cpu.plan().outputs().iter();
    for (style, output) in styles
        .iter()
        .flat_map(|s| outputs.clone().map(move |o| (s, o)))
    {
        let shared = GpuGraph::with_style(&gpu, &graph, *style).expect("runs");
        let mut on_gpu = shared.instances(1).expect("fits");
        on_gpu.update(&[frame]).expect("runs");
        let (a, b) = (
            cpu.mesh_output(&output.name).expect("a mesh"),
            on_gpu
                .read_mesh(&output.name, 0)
                .expect("reads")
                .expect("a mesh"),
        );
        let apart = max_distance(a.positions, &b.positions) / f64::from(mesh.diagonal());
        positions = positions.max(apart);
        if let (Some(a), Some(b)) = (a.normals, &b.normals) {
            directions = directions.max(max_distance(a, b));
        }
        if let (Some(a), Some(b)) = (a.tangents, &b.tangents) {
            for (a, b) in a.iter().zip(b) {
                assert_eq!(a[3], b[3], "{}", output.name);
                let xyz = |t: &[f32; 4]| [t[0], t[1], t[2]];
                directions = directions.max(max_distance(&[xyz(a)], &[xyz(b)]));
            }
        }
    }
    Some((positions, directions))
}

#[test]
fn poles_with_a_hundred_neighbours() {
    let Some((positions, directions)) = differences(meshes::sphere(8, 100)) else {
        return;
    };
    assert!(
        positions < 1e-6 && directions < 1e-3,
        "{positions} {directions}"
    );
}

#[test]
fn neighbours_far_away_in_memory() {
    let mut mesh = meshes::grid(200, 170);
    let n = mesh.positions.len();
    assert!(n > 1 << 15, "distances that do not fit sixteen bits");
    // No divisor of the count: every vertex gets a place of its own, neighbours far apart.
    let place = |v: usize| v * 10_007 % n;
    let old = mesh.positions.clone();
    for (v, p) in old.into_iter().enumerate() {
        mesh.positions[place(v)] = p;
    }
    let triangles: Vec<[u32; 3]> = mesh
        .topology
        .triangles()
        .iter()
        .map(|t| t.map(|v| place(v as usize) as u32))
        .collect();
    mesh.topology = Arc::new(Topology::new(n as u32, triangles).expect("valid"));
    let Some((positions, directions)) = differences(mesh) else {
        return;
    };
    assert!(
        positions < 1e-6 && directions < 1e-3,
        "{positions} {directions}"
    );
}
