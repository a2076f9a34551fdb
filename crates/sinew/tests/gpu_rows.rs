//! Meshes whose neighbours kernels find in other ways than usual: very many around one point, very far away in memory.

use sinew::deform::Par;
use sinew::geom::{Mesh, Topology};
use sinew::graph::{BoundGraph, Frame, InputBinding, InputType, NoNesting, compile};
use sinew_gpu::{GpuGraph, LaunchStyle};
use sinew_testkit::{max_distance, meshes};
use std::sync::Arc;

/// Every node whose kernels read rows of neighbours, on a sheared mesh.
/// The parameter may change from frame to frame, so that nothing is done in setup.
const NODES: &str = r#"{"sinew": "1.0", "parameters": {"weight": {"type": "float", "default": 1}}, "nodes": {
 "sheared": {"node": "transform", "mesh": "body", "weight": "$weight", "transform": {"rotation_degrees": [30, 40, 50], "scale": [1, 2, 0.7]}},
 "smooth": {"node": "smooth", "mesh": "sheared", "iterations": 3},
 "weighted": {"node": "smooth", "mesh": "sheared", "iterations": 3, "weights": "edge_length"},
 "mush": {"node": "delta_mush", "mesh": "sheared", "iterations": 3},
 "mush_uv": {"node": "delta_mush", "mesh": "sheared", "iterations": 3, "frame": "uv", "weights": "edge_length"},
 "frames": {"node": "tangent_frames", "mesh": "sheared"},
 "fixed": {"node": "tangent_frames", "mesh": "sheared", "normals": "fixed_point", "tangents": "mikktspace"}},
 "outputs": {"smooth": "smooth", "weighted": "weighted", "mush": "mush", "mush_uv": "mush_uv", "frames": "frames",
  "fixed": "fixed"}}"#;

/// Compares the processor with the device, in every style of launches: positions over the bounding box, directions.
fn compare(mut mesh: Mesh) {
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
    for style in [LaunchStyle::Compact, LaunchStyle::Plain, LaunchStyle::Tiled] {
        let shared = GpuGraph::with_style(&gpu, &graph, style).expect("runs");
        let mut on_gpu = shared.instances(1).expect("fits");
        assert!(
            on_gpu.launch_labels().len() > 5,
            "nodes that run each frame"
        );
        on_gpu.update(&[frame]).expect("runs");
        for output in cpu.plan().outputs() {
            let a = cpu.mesh_output(&output.name).expect("a mesh");
            let b = on_gpu.read_mesh(&output.name, 0).expect("reads");
            let b = b.expect("a mesh");
            let what = format!("{style:?}, {}", output.name);
            let apart = max_distance(a.positions, &b.positions) / f64::from(mesh.diagonal());
            assert!(apart < 1e-6, "{what}: positions {apart:.1e}");
            if let (Some(a), Some(b)) = (a.normals, &b.normals) {
                let apart = max_distance(a, b);
                assert!(apart < 1e-3, "{what}: normals {apart:.1e}");
            }
            if let (Some(a), Some(b)) = (a.tangents, &b.tangents) {
                for (a, b) in a.iter().zip(b) {
                    assert_eq!(a[3], b[3], "{what}");
                    let xyz = |t: &[f32; 4]| [t[0], t[1], t[2]];
                    let apart = max_distance(&[xyz(a)], &[xyz(b)]);
                    assert!(apart < 1e-3, "{what}: tangents {apart:.1e}");
                }
            }
        }
    }
}

#[test]
fn poles_with_a_hundred_neighbours() {
    compare(meshes::sphere(8, 100));
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
    compare(mesh);
}
