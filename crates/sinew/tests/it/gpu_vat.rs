//! Vertex animation textures on the GPU: every format and layout, against the processor.

use crate::common::devices::{NORMALS_DEGREES, angle_degrees, distance, largest};
use crate::common::{Stored, baked};
use sinew::bake::vat::{Mode, Points, VatSettings, bake, read_animation};
use sinew::bake::{MeshFrames, Watch};
use sinew::deform::Par;
use sinew::geom::Mesh;
use sinew::geom::Topology;
use sinew::graph::{BoundGraph, Frame, InputBinding, NoNesting, compile};
use sinew::vat::animation::VertexAnimation;
use sinew::vat::texel::TexelFormat;
use sinew_gpu::GpuGraph;
use std::sync::Arc;

const FORMATS: [TexelFormat; 5] = [
    TexelFormat::Unorm8,
    TexelFormat::Unorm16,
    TexelFormat::TwoUnorm8,
    TexelFormat::Half,
    TexelFormat::Float,
];
/// The mesh moves before it is played: offsets are added to where it is then.
const GRAPH: &str = r#"{"sinew": "1.0",
 "inputs": {"body": {"type": "mesh"}, "a": {"type": "vertex_animation"}},
 "parameters": {"blend": {"type": "bool", "default": true}, "x": {"type": "float", "default": 0.5}},
 "nodes": {
  "moved": {"node": "transform", "mesh": "body", "transform": {"translation": [0.5, 0, 0]}, "weight": "$x"},
  "play": {"node": "vat_playback", "mesh": "moved", "animation": "a", "blend": "$blend", "speed": 0.5, "time_offset_secs": 0.1}},
 "outputs": {"body": "play"}}"#;

fn bound(mesh: &Arc<Mesh>, animation: Arc<VertexAnimation>) -> Arc<BoundGraph> {
    let plan = compile("g.json", GRAPH, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let inputs = [
        InputBinding::Mesh(mesh.clone()),
        InputBinding::VertexAnimation(animation),
    ];
    let graph = BoundGraph::bind(Arc::new(plan), &inputs, &[], Par::Seq);
    Arc::new(graph.unwrap_or_else(|e| panic!("{e}")))
}

/// The largest distance of a vertex and the largest angle of a normal over some frames, two characters at different times.
fn differences(
    gpu: &sinew_gpu::Gpu,
    mesh: &Arc<Mesh>,
    animation: Arc<VertexAnimation>,
    what: &str,
) -> (f64, f64) {
    let graph = bound(mesh, animation);
    let on_gpu = GpuGraph::new(gpu, &graph).expect("a device side");
    let mut on_gpu = on_gpu.instances(2).expect("two");
    let mut on_cpu = [0, 1].map(|_| graph.instance());
    let mut worst = (0.0_f64, 0.0_f64);
    for time_secs in [0.0, 0.4, 1.3, -0.7] {
        let frames = [0.0, 0.61].map(|later| Frame::at(time_secs + later));
        on_gpu.update(&frames).expect("a frame");
        for (instance, (cpu, frame)) in on_cpu.iter_mut().zip(&frames).enumerate() {
            cpu.update(frame, Par::Seq).expect("a frame");
            let a = cpu.mesh_output("body").expect("body");
            let b = on_gpu
                .read_mesh("body", instance)
                .expect("reads")
                .expect("body");
            let places = largest(a.positions, &b.positions, what, distance);
            worst.0 = worst.0.max(places);
            let normals = a.normals.expect("made or baked");
            let other = b.normals.expect("made or baked");
            worst.1 = worst.1.max(largest(normals, &other, what, angle_degrees));
        }
    }
    worst
}

#[test]
fn every_format_and_layout_gives_the_same_numbers_on_both_devices() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    // More vertices than one row has room for.
    let mesh = Arc::new(sinew_testkit::meshes::grid(31, 19));
    for places in FORMATS {
        for (in_columns, offsets) in [(false, false), (true, true), (true, false)] {
            let stored = Stored {
                places,
                normals: Some(places).filter(|_| !offsets),
                in_columns,
                offsets,
            };
            let animation = Arc::new(baked(&mesh.positions, stored));
            let what = format!("{stored:?}");
            let (distance, angle) = differences(&gpu, &mesh, animation, &what);
            assert!(
                distance < 2e-6 * f64::from(mesh.diagonal()),
                "{stored:?}: {distance}"
            );
            // Normals that are made anew magnify rounding of positions.
            let most = if offsets { NORMALS_DEGREES } else { 1e-3 };
            assert!(angle < most, "{stored:?}: {angle} degrees");
        }
    }
}

/// A tetrahedron, its triangles apart so that its edges are hard, turned around the vertical axis.
fn tetrahedron(middle: [f32; 3], angle: f32) -> Vec<[f32; 3]> {
    const CORNERS: [[f32; 3]; 4] = [
        [0.0, 0.6, 0.0],
        [0.5, -0.2, 0.0],
        [-0.3, -0.2, 0.4],
        [-0.3, -0.2, -0.4],
    ];
    let at = |k: usize| {
        let ([x, y, z], (s, c)) = (CORNERS[k], angle.sin_cos());
        [
            middle[0] + c * x + s * z,
            middle[1] + y,
            middle[2] + c * z - s * x,
        ]
    };
    [0, 2, 1, 0, 3, 2, 0, 1, 3, 1, 2, 3].map(at).to_vec()
}

/// Tetrahedra that turn and fly apart; with `grows` one more in each frame.
fn tetrahedra(grows: bool) -> MeshFrames {
    let frame = |f: usize| {
        let count = if grows { 2 + f } else { 5 };
        let all = (0..count).flat_map(|i| {
            let (i, f) = (i as f32, f as f32);
            tetrahedron(
                [1.5 * i + 0.1 * f, 0.2 * f * i, -0.3 * f],
                0.2 * f * (i + 1.0),
            )
        });
        let positions: Vec<[f32; 3]> = all.collect();
        let count = positions.len() as u32;
        let triangles = (0..count / 3)
            .map(|t| [3 * t, 3 * t + 1, 3 * t + 2])
            .collect();
        let topology = Topology::new(count, triangles).expect("in range");
        Mesh::new("tetrahedra", topology, positions)
    };
    MeshFrames::new("tetrahedra", (0..6).map(frame).collect())
}

/// Bakes of the program, read back from their files with the mesh beside them: pieces, and unique points with a lookup.
#[test]
fn pieces_and_unique_points_give_the_same_numbers_on_both_devices() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    for (mode, points) in [
        (Mode::Rigid, Points::Corners),
        (Mode::Remesh, Points::Unique),
    ] {
        let settings = VatSettings {
            mode: Some(mode),
            points,
            ..VatSettings::default()
        };
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("out");
        let frames = tetrahedra(mode == Mode::Remesh);
        bake(
            &frames,
            &settings,
            &folder.path().join("work"),
            &out,
            &Watch::NOBODY,
        )
        .expect("a bake");
        let animation = Arc::new(read_animation(&out).expect("reads"));
        assert_eq!(
            animation.manifest().lookup.is_some(),
            points == Points::Unique
        );
        let carrier = sinew::io::read_any(&out.join("tetrahedra.glb")).expect("reads");
        let mesh = Arc::new(carrier.asset.meshes[0].clone());
        let what = format!("{mode:?} {points:?}");
        let (distance, angle) = differences(&gpu, &mesh, animation, &what);
        assert!(
            distance < 2e-6 * f64::from(mesh.diagonal()),
            "{what}: {distance}"
        );
        assert!(angle < 1e-3, "{what}: {angle} degrees");
    }
}
