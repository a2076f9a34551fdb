//! Point caches move mesh inputs of graphs.

use sinew::geom::{Asset, Mesh, Topology};
use sinew::graph::{Plan, UpdateError};
use sinew::io::point_cache::PointCacheWriter;
use sinew::io::{
    CachedFrame, CachedMesh, Folders, FrameData, MeshFormat, PointCacheReader, Surface, write_npz,
};
use sinew::play::{
    Character, Document, InputFiles, PlayError, PlayInputs, Player, PointCacheFile, RunError,
    Runner,
};
use sinew_testkit::meshes;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

type Points = Vec<[f32; 3]>;

/// Smoothing in no steps: positions pass through.
const PASS: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "stack": [{"node": "smooth", "iterations": 0}]}"#;
const MUSH: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "stack": [{"node": "delta_mush", "iterations": 10}]}"#;

fn character(meshes: Vec<Mesh>) -> Arc<Character> {
    Arc::new(Character::from_asset(Asset {
        name: "rest".into(),
        meshes,
        ..Asset::default()
    }))
}

fn plan(text: &str) -> Arc<Plan> {
    let document = Document::from_text("test.json", text, "");
    Arc::new(document.compile().unwrap_or_else(|e| panic!("{e}")))
}

fn given(input: Option<&str>, path: &Path) -> PointCacheFile {
    PointCacheFile::new(input.map(str::to_owned), path.to_owned())
}

fn inputs(
    rest: &Arc<Character>,
    plan: &Plan,
    caches: &[PointCacheFile],
) -> Result<PlayInputs, PlayError> {
    let mut files = InputFiles::default();
    files.point_caches = caches;
    PlayInputs::load_with(rest.clone(), plan, &Folders::default(), &files)
}

fn player(rest: &Arc<Character>, text: &str, cache: &Path) -> Player {
    let plan = plan(text);
    let inputs = inputs(rest, &plan, &[given(None, cache)]).expect("fits");
    let graph = inputs.bind(&plan, &[]).expect("binds");
    let runner = Runner::cpu(&graph);
    Player::new(runner, inputs, Vec::new(), None, 30.0).expect("plays")
}

fn body(player: &mut Player, frame: i64) -> Points {
    player.advance(frame).expect("a frame");
    let Runner::Cpu(instance) = player.runner() else {
        panic!("on the CPU")
    };
    let mesh = instance.mesh_output("body").expect("body");
    mesh.positions.to_vec()
}

fn pc2(path: &Path, frames: &[Points], start: f32, rate: f32) -> PathBuf {
    let writer = PointCacheWriter::pc2(path, frames[0].len(), frames.len(), start, rate);
    let mut writer = writer.expect("starts");
    for frame in frames {
        writer.frame([&frame[..]].into_iter()).expect("written");
    }
    writer.finish().expect("there");
    path.to_owned()
}

/// The rest mesh, stretched and moved in frame `k` by numbers that text files keep.
fn affine(rest: &Mesh, k: usize) -> Points {
    let s = 1.0 + k as f32 / 2.0;
    let moved = |p: &[f32; 3]| [s * p[0] + p[1], p[1] + k as f32 / 4.0, p[2] - p[0]];
    rest.positions.iter().map(moved).collect()
}

/// A grid of 5 by 4 points at multiples of a quarter, without seams.
fn grid() -> Mesh {
    let mut mesh = meshes::grid(4, 3);
    for p in &mut mesh.positions {
        *p = p.map(|c| (c * 8.0).round() / 8.0);
    }
    (mesh.normals, mesh.uvs) = (None, Vec::new());
    mesh
}

#[test]
fn an_affine_motion_passes_through_and_is_interpolated() {
    let dir = TempDir::new().expect("temp");
    let mesh = grid();
    let frames: Vec<Points> = (0..3).map(|k| affine(&mesh, k)).collect();
    let path = pc2(&dir.path().join("sim.pc2"), &frames, 4.0, 2.0);
    let rest = character(vec![mesh.clone()]);
    let mut player = player(&rest, PASS, &path);
    for (frame, expected) in [(4, &frames[0]), (8, &frames[2]), (6, &frames[1])] {
        assert_eq!(body(&mut player, frame), *expected, "frame {frame}");
    }
    // Halfway, and held outside.
    let half: Points = (0..mesh.positions.len())
        .map(|v| std::array::from_fn(|c| (frames[1][v][c] + frames[2][v][c]) / 2.0))
        .collect();
    assert_eq!(body(&mut player, 7), half);
    assert_eq!(body(&mut player, 0), frames[0]);
    assert_eq!(body(&mut player, 100), frames[2]);
    let found: Vec<_> = player.inputs().point_cache_frames(30.0).collect();
    assert_eq!(found, [(path.as_path(), (4, 8))]);
}

/// Delta mush follows rigid motions: the details of the rest mesh, rotated and moved.
#[test]
fn delta_mush_of_a_rigid_motion_is_the_rigid_motion() {
    let dir = TempDir::new().expect("temp");
    let mut mesh = meshes::sphere(12, 16);
    for (v, p) in mesh.positions.iter_mut().enumerate() {
        let bump = 1.0 + 0.05 * (p[0] * 9.0 + p[1] * 7.0).sin() + v as f32 * 0.0;
        *p = p.map(|c| c * bump);
    }
    let rigid = |k: usize| -> Points {
        let (sin, cos) = (0.4 * k as f32).sin_cos();
        let moved = |p: &[f32; 3]| {
            [
                cos * p[0] - sin * p[1] + k as f32,
                sin * p[0] + cos * p[1],
                p[2] + 0.5,
            ]
        };
        mesh.positions.iter().map(moved).collect()
    };
    let frames: Vec<Points> = (0..3).map(rigid).collect();
    let path = pc2(&dir.path().join("sim.pc2"), &frames, 0.0, 1.0);
    let mut player = player(&character(vec![mesh.clone()]), MUSH, &path);
    for (k, expected) in frames.iter().enumerate() {
        let found = body(&mut player, k as i64);
        let off = found.as_flattened().iter().zip(expected.as_flattened());
        let worst = off.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 3e-6, "frame {k}: {worst}");
    }
}

/// Skinning and smoothing at once, or skinning to a file and smoothing from it: the same bits.
#[test]
fn half_a_graph_from_a_cache_is_the_whole_graph() {
    let dir = TempDir::new().expect("temp");
    let arm = sinew_samples::arm_with_hand().expect("a sample");
    let arm = Arc::new(Character::from_asset(arm));
    let graph = |nodes: &str| {
        format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}}},
             "stack": [{nodes}]}}"#
        )
    };
    let [skin, smooth] = [
        r#"{"node": "skin"}"#,
        r#"{"node": "smooth", "pose": "pose"}"#,
    ];
    let whole = |nodes: &str| -> Vec<Points> {
        let plan = plan(&graph(nodes));
        let inputs = inputs(&arm, &plan, &[]).expect("no file");
        let bound = inputs.bind(&plan, &[]).expect("binds");
        let runner = Runner::cpu(&bound);
        let mut player = Player::new(runner, inputs, Vec::new(), None, 30.0).expect("plays");
        (0..4).map(|k| body(&mut player, 5 * k)).collect()
    };
    let path = pc2(&dir.path().join("skinned.pc2"), &whole(skin), 0.0, 5.0);
    let mut second = player(&arm, &graph(smooth), &path);
    let expected = whole(&format!("{skin}, {smooth}"));
    assert_ne!(expected[1], expected[3], "the arm moves");
    for (k, expected) in expected.iter().enumerate() {
        assert!(
            body(&mut second, 5 * k as i64) == *expected,
            "frame {}",
            5 * k
        );
    }
}

#[test]
fn all_kinds_of_caches_give_the_same() {
    let dir = TempDir::new().expect("temp");
    let mesh = grid();
    let frames: Vec<Points> = (0..4).map(|k| affine(&mesh, k)).collect();
    let of_frame = |positions: &Points| Mesh {
        positions: positions.clone(),
        ..mesh.clone()
    };
    let times = [0.0, 1.0, 2.0, 3.0].map(|k| k / 30.0);
    let path = |name: &str| dir.path().join(name);
    pc2(&path("sim.pc2"), &frames, 0.0, 1.0);
    let mut mdd = PointCacheWriter::mdd(&path("sim.mdd"), 20, &times).expect("starts");
    for (k, positions) in frames.iter().enumerate() {
        mdd.frame([&positions[..]].into_iter()).expect("written");
        for ending in ["obj", "ply"] {
            let path = path(&format!("sim_{k:04}.{ending}"));
            let format = MeshFormat::of(&path).expect("known");
            let frame = of_frame(positions);
            format
                .write(&path, &[Surface::from(&frame)])
                .expect("written");
        }
    }
    mdd.finish().expect("there");
    let cached = |positions: &Points| {
        CachedFrame::from(FrameData {
            positions: positions.clone(),
            ..FrameData::default()
        })
    };
    let npz = CachedMesh {
        name: "body".into(),
        mesh: &mesh,
        frames: frames.iter().map(cached).collect(),
    };
    write_npz(&path("sim.npz"), &npz, &times, &[]).expect("written");
    let rest = character(vec![mesh.clone()]);
    let smooth = PASS.replace('0', "3").replace("\"1.3\"", "\"1.0\"");
    let mut first = player(&rest, &smooth, &path("sim.pc2"));
    let expected: Vec<Points> = (0..4).map(|k| body(&mut first, k)).collect();
    assert_ne!(expected[2], frames[2], "smoothed");
    for name in ["sim.mdd", "sim.npz", "sim_####.obj", "sim_####.ply"] {
        let mut player = player(&rest, &smooth, &path(name));
        for (k, expected) in expected.iter().enumerate() {
            assert_eq!(body(&mut player, k as i64), *expected, "{name}, frame {k}");
        }
    }
    // A sequence alone: its first file is the rest mesh.
    let alone = Character::load_rest(&path("sim_####.obj")).expect("loads");
    let (alone, plan) = (Arc::new(alone), plan(&smooth));
    let inputs = inputs(&alone, &plan, &[]).expect("plays its files");
    let graph = inputs.bind(&plan, &[]).expect("binds");
    let runner = Runner::cpu(&graph);
    let mut player = Player::new(runner, inputs, Vec::new(), None, 30.0).expect("plays");
    assert_eq!(body(&mut player, 3), expected[3]);
}

/// A cube with a normal per face: 24 vertices of 8 points. Caches of modelling programs have the points.
#[test]
fn points_move_all_vertices_that_were_split_from_them() {
    let dir = TempDir::new().expect("temp");
    let mut cube = meshes::cube();
    cube.uvs = Vec::new();
    let mut points: Points = Vec::new();
    let mut text = String::new();
    let mut of_vertex = Vec::new();
    for p in &cube.positions {
        let known = points.iter().position(|q| q == p);
        of_vertex.push(known.unwrap_or(points.len()));
        if known.is_none() {
            points.push(*p);
            text += &format!("v {} {} {}\n", p[0], p[1], p[2]);
        }
    }
    for n in cube.normals.iter().flatten() {
        text += &format!("vn {} {} {}\n", n[0], n[1], n[2]);
    }
    for t in cube.topology.triangles() {
        let corner = |v: &u32| format!(" {}//{}", of_vertex[*v as usize] + 1, v + 1);
        text += &format!("f{}\n", t.iter().map(corner).collect::<String>());
    }
    let rest = dir.path().join("cube.obj");
    std::fs::write(&rest, text).expect("written");
    let rest = Arc::new(Character::load(&rest).expect("loads"));
    let mesh = &rest.asset.meshes[0];
    assert_eq!(
        (mesh.vertex_count(), mesh.point_count(), points.len()),
        (24, 8, 8)
    );
    let moved = |p: &[f32; 3]| [p[0] + p[1], 2.0 * p[1], -p[2]];
    let frame: Points = points.iter().map(moved).collect();
    let path = pc2(&dir.path().join("sim.pc2"), &[frame], 0.0, 1.0);
    let expected: Points = mesh.positions.iter().map(moved).collect();
    assert_eq!(body(&mut player(&rest, PASS, &path), 0), expected);
    // What Sinew writes has the vertices.
    let path = pc2(
        &dir.path().join("all.pc2"),
        std::slice::from_ref(&expected),
        0.0,
        1.0,
    );
    assert_eq!(body(&mut player(&rest, PASS, &path), 0), expected);
}

#[test]
fn an_input_takes_the_points_of_its_meshes_or_its_own_cache() {
    let dir = TempDir::new().expect("temp");
    let [mut a, mut b] = [grid(), meshes::cube()];
    (a.name, b.name) = ("cloth".into(), "box".into());
    let both: Points = [affine(&a, 1), affine(&b, 2)].concat();
    let whole = pc2(&dir.path().join("both.pc2"), &[both], 0.0, 1.0);
    let own = pc2(&dir.path().join("own.pc2"), &[affine(&b, 3)], 0.0, 1.0);
    let rest = character(vec![a, b.clone()]);
    let text = PASS.replace(r#""mesh"}"#, r#""mesh", "select": "box"}"#);
    assert_eq!(body(&mut player(&rest, &text, &whole), 0), affine(&b, 2));
    let plan = plan(&text);
    let inputs = inputs(
        &rest,
        &plan,
        &[given(None, &whole), given(Some("body"), &own)],
    );
    let inputs = inputs.expect("fits");
    let graph = inputs.bind(&plan, &[]).expect("binds");
    let runner = Runner::cpu(&graph);
    let mut player = Player::new(runner, inputs, Vec::new(), None, 30.0).expect("plays");
    assert_eq!(body(&mut player, 0), affine(&b, 3));
}

#[test]
fn documents_name_caches_in_their_folder() {
    let dir = TempDir::new().expect("temp");
    let own = dir.path().join("own");
    std::fs::create_dir(&own).expect("made");
    let mesh = grid();
    pc2(&own.join("sim.pc2"), &[affine(&mesh, 1)], 0.0, 1.0);
    pc2(&dir.path().join("other.pc2"), &[affine(&mesh, 1)], 0.0, 1.0);
    let path = own.join("sim_01.ply");
    let frame = Mesh {
        positions: affine(&mesh, 2),
        ..mesh.clone()
    };
    let format = MeshFormat::of(&path).expect("known");
    format
        .write(&path, &[Surface::from(&frame)])
        .expect("written");
    let rest = character(vec![mesh.clone()]);
    let load = |name: &str| {
        let text = PASS.replace(
            r#""mesh"}"#,
            &format!(r#""mesh", "point_cache": "{name}"}}"#),
        );
        let plan = plan(&text);
        let inputs = PlayInputs::load(rest.clone(), &plan, &own.clone().into())?;
        let graph = inputs.bind(&plan, &[])?;
        Player::new(Runner::cpu(&graph), inputs, Vec::new(), None, 30.0)
    };
    let mut found = load("sim.pc2").expect("plays");
    assert_eq!(body(&mut found, 0), affine(&mesh, 1));
    for name in ["sim_##.ply", "sim_01.ply"] {
        let mut found = load(name).expect("plays");
        assert_eq!(body(&mut found, 1), affine(&mesh, 2));
    }
    for name in ["../other.pc2", "../own2/sim_##.ply"] {
        let error = load(name).expect_err("outside").to_string();
        assert!(error.contains("is outside the folder"), "{error}");
    }
}

#[test]
fn wrong_caches_say_what_is_wrong() {
    let dir = TempDir::new().expect("temp");
    let mesh = grid();
    let rest = character(vec![mesh.clone()]);
    let plan = plan(PASS);
    let mut frames: Vec<Points> = (0..3).map(|k| affine(&mesh, k)).collect();
    let path = pc2(&dir.path().join("sim.pc2"), &frames, 0.0, 1.0);
    let error = inputs(&rest, &plan, &[given(Some("pose"), &path)]).expect_err("no such input");
    assert!(matches!(error, PlayError::NoMeshInput { .. }), "{error}");
    let cube = character(vec![meshes::cube()]);
    let error = inputs(&cube, &plan, &[given(None, &path)]).expect_err("other points");
    assert!(
        matches!(error, PlayError::PointCount { found: 20, .. }),
        "{error}"
    );
    // A NaN is found when its frame is read; the frames before play.
    frames[1][7][2] = f32::NAN;
    let mut bytes = std::fs::read(&path).expect("a file");
    let at = 32 + 12 * (20 + 7) + 8;
    bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    std::fs::write(&path, bytes).expect("written");
    let mut player = player(&rest, PASS, &path);
    player.advance(0).expect("a frame");
    let error = player.advance(1).expect_err("NaN");
    assert!(
        matches!(error, PlayError::PointCache { frame: 1, .. }),
        "{error}"
    );
    let error = error.to_string();
    assert!(error.contains("sample 1 (frame 1), point 7"), "{error}");
    player.advance(2).expect("the frame after");
    assert!(PointCacheReader::open(&dir.path().join("none.pc2")).is_err());
}

/// Callers that give frames themselves.
#[test]
fn frames_are_checked_against_animated_meshes() {
    use sinew::deform::Par;
    use sinew::graph::{BoundGraph, Frame, InputBinding};
    let mesh = Arc::new(grid());
    let bind = |binding| {
        let graph = BoundGraph::bind(plan(PASS), &[binding], &[], Par::Seq).expect("binds");
        Arc::new(graph).instance()
    };
    let mut animated = bind(InputBinding::AnimatedMesh(mesh.clone()));
    let mut still = bind(InputBinding::Mesh(mesh.clone()));
    let mut points = affine(&mesh, 1);
    let update = |instance: &mut sinew::graph::Instance, positions: &[(usize, &[[f32; 3]])]| {
        let frame = Frame::default().positions(positions);
        instance.update(&frame, Par::Seq)
    };
    update(&mut animated, &[(0, &points)]).expect("fits");
    let error = update(&mut animated, &[]).expect_err("none");
    assert!(matches!(
        error,
        UpdateError::MissingPositions { expected: 20, .. }
    ));
    let error = update(&mut animated, &[(0, &points[1..])]).expect_err("too few");
    assert!(matches!(
        error,
        UpdateError::PositionCount { found: 19, .. }
    ));
    let error = update(&mut still, &[(0, &points)]).expect_err("not animated");
    assert!(matches!(error, UpdateError::NotAnimated { .. }));
    let error = update(&mut animated, &[(3, &points)]).expect_err("no such input");
    assert!(matches!(error, UpdateError::NoSuchInput { found: 3, .. }));
    points[5][0] = f32::INFINITY;
    let error = update(&mut animated, &[(0, &points)]).expect_err("infinite");
    assert!(matches!(
        error,
        UpdateError::PositionNotFinite { vertex: 5, .. }
    ));
    let error: RunError = error.into();
    assert!(error.to_string().contains("vertex 5"), "{error}");
}

/// The CPU and the GPU, a mesh with seams, normals recomputed; the frame before is kept.
#[cfg(feature = "gpu")]
#[test]
fn the_gpu_plays_caches_as_the_cpu_does() {
    use crate::common::devices::{NORMALS_DEGREES, angle_degrees, distance, largest};
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let dir = TempDir::new().expect("temp");
    let mesh = meshes::sphere(12, 16);
    let frames: Vec<Points> = (0..4).map(|k| affine(&mesh, k)).collect();
    let path = pc2(&dir.path().join("sim.pc2"), &frames, 0.0, 2.0);
    let rest = character(vec![mesh]);
    for text in [PASS, MUSH] {
        let plan = plan(text);
        let inputs = inputs(&rest, &plan, &[given(None, &path)]).expect("fits");
        let graph = inputs.bind(&plan, &[]).expect("binds");
        let new = |runner| Player::new(runner, inputs.clone(), Vec::new(), None, 30.0);
        let mut cpu = new(Runner::cpu(&graph)).expect("plays");
        let mut on_gpu = new(Runner::gpu(&gpu, &graph).expect("runs")).expect("plays");
        for frame in [0, 1, 2, 5, 6] {
            let expected = body(&mut cpu, frame);
            on_gpu.advance(frame).expect("a frame");
            let outputs = [&mut cpu, &mut on_gpu].map(|p| p.read_outputs().expect("reads"));
            let [a, b] = outputs.map(|o| match &o[0].1 {
                sinew::play::Output::Mesh(mesh) => mesh.clone(),
                _ => panic!("a mesh"),
            });
            let off = largest(&expected, &b.positions, "positions", distance);
            assert!(off < 1e-5, "frame {frame}: {off}");
            let [a, b] = [a, b].map(|m| m.normals.expect("made"));
            let off = largest(&a, &b, "normals", angle_degrees);
            assert!(off < NORMALS_DEGREES, "frame {frame}: {off} degrees");
        }
    }
}

#[test]
fn a_sequence_in_memory_is_refused() {
    let mut asset = Asset {
        meshes: vec![Mesh::new("a", Topology::default(), Vec::new())],
        ..Asset::default()
    };
    asset.sequence = Some(sinew::geom::MeshSequence::default());
    let rest = Arc::new(Character::from_asset(asset));
    let error = inputs(&rest, &plan(PASS), &[]).expect_err("refused");
    assert!(matches!(error, PlayError::Sequence { .. }), "{error}");
}
