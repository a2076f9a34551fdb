//! Real characters on the GPU, against the CPU and against the references in double precision.

use crate::common::devices::{
    NORMALS_DEGREES, POSITIONS, VertexNormal, Worst, angle_degrees, graph_files, largest, posed,
    poses, run, vertex_normals,
};
use crate::common::{bindings, on_devices};
use sinew::deform::delta_mush::{DeltaMushBind, DeltaMushConfig, reference};
use sinew::deform::laplacian::{LaplacianConfig, Smoother, reference as laplacian};
use sinew::deform::{MaskWeight, Par, PortType};
use sinew::geom::{Asset, Mesh, Pose, Vec3, WeldMap};
use sinew::graph::{BoundGraph, Frame, NoNesting, compile};
use sinew_gpu::{AdapterKind, GpuGraph};
use std::path::PathBuf;
use std::sync::Arc;

/// In `bend_test` of the MakeHuman figures: elbows at 140 degrees, an arm up with the wrist turned by 170.
const SHARES: [f64; 2] = [1.0 / 6.0, 2.0 / 3.0];
/// Characters of more vertices run the stack only: software devices are slow.
fn all_nodes_up_to() -> usize {
    if sinew_testkit::is_soak() {
        20_000
    } else {
        8_000
    }
}

/// Every character that is there.
#[expect(clippy::print_stdout, reason = "tests say what they skip")]
fn characters() -> Vec<Asset> {
    let Some(data) = sinew_testkit::shared_data() else {
        println!("skipped: no shared data");
        return Vec::new();
    };
    let files = |folder: &str| {
        let entries = std::fs::read_dir(data.join(folder)).into_iter().flatten();
        entries.filter_map(|e| Some(e.ok()?.path()))
    };
    let mut paths: Vec<PathBuf> = ["characters", "hair", "morph", "psd"]
        .into_iter()
        .flat_map(files)
        .filter(|p| p.extension().is_some_and(|e| e == "glb" || e == "gltf"))
        .collect();
    paths.sort();
    let only = std::env::var("SINEW_ONLY").unwrap_or_default();
    let read = |path: &PathBuf| {
        let file = sinew::io::read_any(path).unwrap_or_else(|e| panic!("{e}"));
        let mut asset = file.asset;
        asset.name = path.file_stem().expect("a file").display().to_string();
        asset
    };
    let read = paths.iter().map(read);
    let found: Vec<Asset> = read.filter(|a| a.name.contains(only.as_str())).collect();
    assert!(!found.is_empty(), "no character in {}", data.display());
    found
}

fn vertex_count(asset: &Asset) -> usize {
    asset.meshes.iter().map(Mesh::vertex_count).sum()
}

fn is_skinned(asset: &Asset) -> bool {
    asset.meshes.iter().any(|m| m.influences.is_some())
}

/// A mesh whose vertices are all split, and one that is not manifold.
const AWKWARD: [&str; 2] = ["fox", "mh_arm_nonmanifold"];

/// Names and documents for a character. A software driver compiles the kernels of a node for each mesh anew: there (`has_all` false) most nodes have
/// the awkward ones only.
fn documents(asset: &Asset, has_all: bool) -> Vec<(String, String)> {
    let pose_node = if is_skinned(asset) { "skin" } else { "morph" };
    let is_awkward = AWKWARD.contains(&asset.name.as_str());
    let is_small = vertex_count(asset) <= all_nodes_up_to() && (has_all || is_awkward);
    let mut out = Vec::new();
    for desc in on_devices() {
        // Skinning needs joints, morphing targets.
        let fits = match desc.name {
            "skin" => is_skinned(asset),
            "direct_delta_mush" => is_small && is_skinned(asset),
            "morph" | "drive_morphs" => asset.meshes.iter().any(|m| !m.morph_targets.is_empty()),
            "delta_mush" => true,
            "smooth" | "tangent_frames" => {
                vertex_count(asset) < 100_000 || sinew_testkit::is_soak()
            }
            _ => is_small,
        };
        if !fits {
            continue;
        }
        out.push((desc.name.to_owned(), posed(desc, pose_node, false)));
        let meshes = desc.inputs.iter().filter(|p| p.ty == PortType::Mesh);
        if meshes.count() > 1 {
            out.push((desc.name.to_owned(), posed(desc, pose_node, true)));
        }
    }
    // Every variant of every node; with `has_all` false on one of the two.
    if is_awkward {
        let is_fox = asset.name == "fox";
        let graphs = graph_files().into_iter().enumerate();
        let graphs = graphs.filter(|(turn, (name, _))| match name.as_str() {
            // Points five centimetres off triangles of a millimetre: see `docs/dev/devices.md`.
            "wrap.json" => is_fox,
            _ => has_all || is_fox == (turn % 2 == 0),
        });
        out.extend(graphs.map(|(_, graph)| graph));
    }
    out
}

#[test]
fn characters_give_the_same_numbers_on_both_devices() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let mut all: std::collections::BTreeMap<String, Worst> = std::collections::BTreeMap::new();
    let has_all = gpu.info().kind != AdapterKind::Software || sinew_testkit::is_soak();
    for asset in characters() {
        let poses = poses(&asset, &SHARES);
        for (name, text) in documents(&asset, has_all) {
            let worst = all.entry(name.clone()).or_default();
            let ran = run(&gpu, &asset, &text, &poses, worst);
            ran.unwrap_or_else(|e| panic!("{name} on {}: {e}", asset.name));
        }
    }
    let table: String = all.iter().map(|(name, worst)| worst.line(name)).collect();
    println!("{}\n{table}", gpu.info().name);
    assert!(all.values().all(Worst::fits), "{table}");
}

/// Linear skinning, smoothing, delta mush and normals of one character, in three ways.
const STAGES: &str = r#"{"sinew": "1.0",
 "nodes": {
  "skin": {"node": "skin", "mesh": "body", "pose": "pose", "method": "linear"},
  "smooth": {"node": "smooth", "mesh": "skin", "iterations": 8, "step": 0.5},
  "mush": {"node": "delta_mush", "mesh": "skin", "iterations": 8, "step": 0.5},
  "normals": {"node": "tangent_frames", "mesh": "mush", "tangents": "none"}},
 "outputs": {"skin": "skin", "smooth": "smooth", "mush": "mush", "body": "normals"}}"#;

/// Sum of weighted joint matrices times the point, in double precision.
fn skinned(mesh: &Mesh, pose: &Pose) -> Vec<Vec3<f64>> {
    let influences = mesh.influences.as_ref().expect("skinned");
    let vertex = |(v, p): (usize, &[f32; 3])| {
        let point = [f64::from(p[0]), f64::from(p[1]), f64::from(p[2]), 1.0];
        let row = |r: usize| {
            let sum = influences.row(v).map(|(joint, weight)| {
                let m = &pose.palette[joint as usize].rows[r];
                let moved: f64 = (0..4).map(|c| f64::from(m[c]) * point[c]).sum();
                moved * f64::from(weight)
            });
            sum.sum::<f64>()
        };
        Vec3::new(row(0), row(1), row(2))
    };
    mesh.positions.iter().enumerate().map(vertex).collect()
}

fn single(points: &[Vec3<f64>]) -> Vec<[f32; 3]> {
    let narrow = |p: &Vec3<f64>| [p.x as f32, p.y as f32, p.z as f32];
    points.iter().map(narrow).collect()
}

/// Vertices at whose place all authored normals are the same.
fn soft(mesh: &Mesh) -> Vec<bool> {
    let Some(normals) = &mesh.normals else {
        return vec![true; mesh.vertex_count()];
    };
    let classes = WeldMap::by_position(&mesh.positions, 0.0).class_of_vertex;
    let mut first = vec![None; mesh.vertex_count()];
    let mut soft = vec![true; mesh.vertex_count()];
    for (&class, &normal) in classes.iter().zip(normals) {
        let first = *first[class as usize].get_or_insert(normal);
        soft[class as usize] &= angle_degrees(first, normal) < 0.1;
    }
    classes.iter().map(|&class| soft[class as usize]).collect()
}

/// Reference, processor, device: all three pairs within the table.
#[test]
fn reference_processor_and_device_agree_on_characters() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    for asset in characters().iter().filter(|a| is_skinned(a)) {
        let mesh = asset.merged(&Default::default()).expect("a mesh");
        let plan =
            Arc::new(compile("g.json", STAGES, &NoNesting).unwrap_or_else(|e| panic!("{e}")));
        let graph = BoundGraph::bind(plan.clone(), &bindings(asset, &plan), &[], Par::Seq);
        let graph = Arc::new(graph.unwrap_or_else(|e| panic!("{}: {e}", asset.name)));
        let on_gpu = GpuGraph::new(&gpu, &graph).unwrap_or_else(|e| panic!("{e}"));
        let mut on_gpu = on_gpu.instances(1).unwrap_or_else(|e| panic!("{e}"));
        let mut on_cpu = graph.instance();
        let pose = &poses(asset, &SHARES)[0].1;
        let frame = Frame::default().pose(pose);
        on_cpu
            .update(&frame, Par::Seq)
            .unwrap_or_else(|e| panic!("{e}"));
        on_gpu.update(&[frame]).unwrap_or_else(|e| panic!("{e}"));

        let skin = skinned(&mesh, pose);
        let input = single(&skin);
        let (smoother, ..) = Smoother::bind(&mesh, &LaplacianConfig::default()).expect("finite");
        let layout = smoother.layout();
        let points = laplacian::gather::<f64>(layout, &input);
        let moved = laplacian::smooth(layout, &points, 0.5, 8);
        let smooth: Vec<Vec3<f64>> = (0..input.len())
            .map(|v| moved[layout.slot_of_vertex()[v] as usize])
            .collect();
        let config = DeltaMushConfig {
            iterations: 8,
            step: 0.5,
            ..DeltaMushConfig::default()
        };
        let bind = DeltaMushBind::new(&mesh, &config).expect("finite");

        let mush = reference::deform::<f64>(&bind, &input, 1.0, 1.0, &MaskWeight::ONE);

        let size = f64::from(mesh.diagonal());
        let mut line = asset.name.clone();
        for (name, expected) in [("skin", &skin), ("smooth", &smooth), ("mush", &mush)] {
            let cpu = on_cpu.mesh_output(name).expect("there").positions.to_vec();
            let device = on_gpu.read_mesh(name, 0).expect("reads").expect("there");
            let expected = single(expected);
            let apart = |a: &[[f32; 3]], b: &[[f32; 3]]| sinew_testkit::max_distance(a, b) / size;
            let [a, b, c] = [
                apart(&expected, &cpu),
                apart(&expected, &device.positions),
                apart(&cpu, &device.positions),
            ];
            line += &format!("  {name} {a:.1e} {b:.1e} {c:.1e}");
            assert!(a.max(b).max(c) <= POSITIONS, "{line}");
        }
        let cpu = on_cpu.mesh_output("body").expect("there");
        let device = on_gpu.read_mesh("body", 0).expect("reads").expect("there");
        let soft = soft(&mesh);
        // Of the positions that each has: what rounding of positions does to normals is in the other test.
        for (which, positions, found) in [
            ("cpu", cpu.positions, cpu.normals.expect("made")),
            (
                "device",
                &device.positions,
                device.normals.as_deref().expect("made"),
            ),
        ] {
            let expected = vertex_normals(&mesh, positions);
            // Hard edges have a normal on either side; where the triangles around a point cancel or are needles there is none
            // to compare.
            let clear = |n: &VertexNormal| n.sum.norm() > 0.1 && !n.has_needle;
            let whole = (0..expected.len()).filter(|&v| soft[v] && clear(&expected[v]));
            let whole: Vec<usize> = whole.collect();
            let units = whole.iter().map(|&v| expected[v].sum.normalize());
            let units: Vec<Vec3<f64>> = units.collect();
            let found: Vec<[f32; 3]> = whole.iter().map(|&v| found[v]).collect();
            let angle = largest(&single(&units), &found, which, angle_degrees);
            line += &format!("  normals {which} {angle:.1e}");
            assert!(angle <= NORMALS_DEGREES, "{line}");
        }
        println!("{line}");
    }
}
