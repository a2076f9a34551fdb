//! The conformance loop on the GPU: every node of the registry and every graph in `graphs/`, on every sample and on awkward
//! meshes, against the processor.

use crate::common::devices::{Worst, angle_degrees, distance, graph_files, poses, run};
use crate::common::{assets, document, on_devices, one_mesh};
use sinew_gpu::{AdapterKind, GpuError};

/// Where in a clip.
const THIRDS: [f64; 3] = [0.0, 1.0 / 3.0, 2.0 / 3.0];

/// A name and a document: the registry's nodes with their defaults, then the files.
fn documents() -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = on_devices()
        .map(|desc| (desc.name.to_owned(), document(desc)))
        .collect();
    out.extend(graph_files());
    out
}

/// What is no direction is never the same as one.
#[test]
fn wrong_directions_are_noticed() {
    let up = [0.0, 1.0, 0.0];
    for wrong in [
        [0.0; 3],
        [0.0, 2.0, 0.0],
        [f32::NAN, 1.0, 0.0],
        [0.0, f32::INFINITY, 0.0],
    ] {
        assert!(angle_degrees(up, wrong).is_infinite(), "{wrong:?}");
        assert!(angle_degrees(wrong, up).is_infinite(), "{wrong:?}");
    }
    assert!(distance(up, [f32::NAN; 3]).is_infinite());
    assert!((angle_degrees(up, [1.0, 0.0, 0.0]) - 90.0).abs() < 1e-9);
}

#[test]
fn every_node_gives_the_same_numbers_on_both_devices() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let only = std::env::var("SINEW_ONLY").ok();
    let mut table = String::new();
    let mut wrong = Vec::new();
    let assets = assets();
    // A software driver compiles the kernels of a node for each mesh anew: there each node has the one that holds most, and one of the others in turn.
    let has_all = gpu.info().kind != AdapterKind::Software || sinew_testkit::is_soak();
    for (turn, (name, text)) in documents().into_iter().enumerate() {
        if only
            .as_ref()
            .is_some_and(|only| !name.contains(only.as_str()))
        {
            continue;
        }
        let mut worst = Worst::default();
        for (i, asset) in assets.iter().enumerate() {
            let holds_most = asset.name == "dressed";
            if !(has_all || holds_most || i == turn % assets.len()) {
                continue;
            }
            match run(&gpu, asset, &text, &poses(asset, &THIRDS), &mut worst) {
                Ok(()) => {}
                Err(error @ GpuError::NoDeviceSide { .. }) => {
                    wrong.push(format!("{name}: {error}"));
                    break;
                }
                Err(error) => {
                    wrong.push(format!("{name} on {}: {error}", asset.name));
                    break;
                }
            }
        }
        table += &worst.line(&name);
        if !worst.fits() {
            wrong.push(format!("{name}: differs by more than it may"));
        }
    }
    println!("{}\n{table}", gpu.info().name);
    assert!(wrong.is_empty(), "{}\n{table}", wrong.join("\n"));
}

/// Drivers that are small and closed: no other mesh serves these modes.
#[test]
fn wraps_with_cages_give_the_same_numbers_on_both_devices() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let document = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "driver": {"type": "mesh"}, "pose": {"type": "pose"}}, "nodes": {
"bent": {"node": "bend", "mesh": "driver", "angle": 1.5, "length": 1, "transform": {"translation": [0.1, 0.2, 0], "rotation_degrees": [10, 20, 30]}},
"moved": {"node": "transform", "mesh": "body", "transform": {"scale": [1.05, 1.02, 1.04], "translation": [0.01, 0.02, 0]}},
"part": {"node": "mask", "mesh": "body", "source": "sphere"},
"rbf": {"node": "wrap", "mesh": "moved", "driver": "bent", "mode": "rbf"},
"cage": {"node": "wrap", "mesh": "moved", "driver": "bent", "mode": "cage"},
"rest": {"node": "wrap", "mesh": "body", "driver": "bent", "mode": "cage", "max_distance": 0.3, "falloff": 0.1, "weight": 0.7, "mask": "part"}},
"outputs": {"rbf": "rbf", "cage": "cage", "rest": "rest"}}"#;
    for mesh in [
        sinew_testkit::meshes::cube(),
        sinew_testkit::meshes::sphere(9, 12),
    ] {
        let asset = one_mesh(mesh);
        let mut worst = Worst::default();
        let poses = poses(&asset, &THIRDS);
        run(&gpu, &asset, document, &poses, &mut worst).expect("runs");
        let line = worst.line(&asset.name);
        println!("{line}");
        assert!(worst.fits(), "{line}");
    }
}

/// A lattice whose outer control points are vertices of the mesh that it deforms.
#[test]
fn lattices_follow_cages_alike_on_both_devices() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let nodes: Vec<String> = [
        r#""interpolation": "bernstein""#,
        r#""interpolation": "linear", "border": "clamp", "outside": "natural""#,
        r#""interpolation": "bspline", "points_space": "world", "rest_transform": {"joint": "tip", "offset": {}}"#,
        r#""interpolation": "catmull_rom", "rest_transform": {"keys": [[0, {}], [1, {"translation": [0.2, 0.1, 0], "rotation_degrees": [0, 30, 0]}]]}"#,
        r#""interpolation": "cell_eased", "outside": "natural""#,
    ]
    .iter()
    .enumerate()
    .map(|(i, more)| format!(r#""it_{i}": {{"node": "lattice", "mesh": "body", "cage": "bent", "resolution": [4, 3, 3], {more}}}"#))
    .collect();
    let outputs =
        (0..nodes.len()).map(|i| format!(r#""out_{i}": "it_{i}", "lines_{i}": "it_{i}.cage""#));
    let document = format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "driver": {{"type": "mesh"}}, "pose": {{"type": "pose"}}}}, "nodes": {{
"bent": {{"node": "bend", "mesh": "driver", "angle": 1.5, "length": 1, "transform": {{"rotation_degrees": [10, 20, 30]}}}},
{}}}, "outputs": {{{}}}}}"#,
        nodes.join(",\n"),
        outputs.collect::<Vec<_>>().join(", ")
    );
    let points = (0..36).map(|i| [i % 4, i / 4 % 3, i / 12]);
    let is_outer = |i: &[usize; 3]| [0, 3].contains(&i[0]) || i[1] != 1 || i[2] != 1;
    let points = points.filter(is_outer);
    let points = points.map(|i| [0, 1, 2].map(|a| i[a] as f32 * 0.3 - 0.2));
    let mesh =
        sinew_testkit::meshes::mesh_from("cage", points.collect(), vec![[0, 1, 4], [1, 5, 4]]);
    let asset = one_mesh(mesh);
    let mut worst = Worst::default();
    let poses = poses(&asset, &THIRDS);
    run(&gpu, &asset, &document, &poses, &mut worst).expect("runs");
    let line = worst.line("cages");
    println!("{line}");
    assert!(worst.fits(), "{line}");
}
