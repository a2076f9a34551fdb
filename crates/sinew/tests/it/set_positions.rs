//! Callers move mesh inputs of a player.

use sinew::geom::{Asset, Mesh};
use sinew::graph::Plan;
use sinew::io::Folders;
use sinew::io::point_cache::PointCacheWriter;
use sinew::play::{
    Character, Document, InputFiles, Output, PlayError, PlayInputs, Player, PointCacheFile, Runner,
};
use sinew_testkit::meshes;
use std::path::Path;
use std::sync::Arc;

type Points = Vec<[f32; 3]>;

const SMOOTH: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "parameters": {"amount": {"type": "float", "default": 0.25}},
 "stack": [{"node": "smooth", "iterations": 5, "step": "$amount"}]}"#;
const MUSH: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "stack": [{"node": "delta_mush", "iterations": 10}]}"#;
/// Simulated hair.
const HAIR: &str = r#"{"sinew": "1.0", "inputs": {"hair": {"type": "strands"}, "pose": {"type": "pose"}},
 "nodes": {"body": {"node": "hair_sim", "strands": "hair", "pose": "pose"}}, "outputs": {"body": "body"}}"#;
const SKIN: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
 "stack": ["skin"]}"#;

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

fn player_of(rest: &Arc<Character>, text: &str, caches: &[PointCacheFile]) -> Player {
    let plan = plan(text);
    let mut files = InputFiles::default();
    files.point_caches = caches;
    let inputs = PlayInputs::load_with(rest.clone(), &plan, &Folders::default(), &files);
    let inputs = inputs.expect("fits");
    let graph = inputs.bind(&plan, &[]).expect("binds");
    Player::new(Runner::cpu(&graph), inputs, Vec::new(), None, 30.0).expect("plays")
}

fn player(rest: &Arc<Character>, text: &str) -> Player {
    player_of(rest, text, &[])
}

/// Positions and normals of `body` in a frame.
fn body(player: &mut Player, frame: i64) -> (Points, Points) {
    player.advance(frame).expect("a frame");
    let mut outputs = player.read_outputs().expect("reads");
    match outputs.remove(0).1 {
        Output::Mesh(mesh) => (mesh.positions, mesh.normals.expect("made")),
        _ => panic!("a mesh"),
    }
}

/// Stretched, sheared and moved.
fn affine(p: [f32; 3], k: usize) -> [f32; 3] {
    let s = 1.0 + k as f32 / 2.0;
    [s * p[0] + p[1], p[1] + k as f32 / 4.0, p[2] - p[0]]
}

fn moved(points: &[[f32; 3]], k: usize) -> Points {
    points.iter().map(|p| affine(*p, k)).collect()
}

fn assert_near(found: &[[f32; 3]], expected: &[[f32; 3]], most: f32) {
    assert_eq!(found.len(), expected.len());
    for (v, (a, b)) in found.iter().zip(expected).enumerate() {
        let off = (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f32::max);
        assert!(off <= most, "vertex {v}: {a:?}, not {b:?}");
    }
}

/// A ball with bumps, which smoothing changes.
fn ball() -> Mesh {
    let mut mesh = meshes::sphere(12, 16);
    for p in &mut mesh.positions {
        let bump = 1.0 + 0.05 * (p[0] * 9.0 + p[1] * 7.0).sin();
        *p = p.map(|c| c * bump);
    }
    mesh
}

fn pc2(path: &Path, frames: &[Points]) -> PointCacheFile {
    let writer = PointCacheWriter::pc2(path, frames[0].len(), frames.len(), 0.0, 1.0);
    let mut writer = writer.expect("starts");
    for frame in frames {
        writer.frame([&frame[..]].into_iter()).expect("written");
    }
    writer.finish().expect("there");
    PointCacheFile::new(None, path)
}

/// Means of neighbours with weights of the rest mesh commute with affine maps.
#[test]
fn smoothing_an_affine_image_is_the_image_of_smoothing() {
    let rest = character(vec![ball()]);
    let mut still = player(&rest, SMOOTH);
    let (smooth, _) = body(&mut still, 0);
    assert!(smooth != rest.asset.meshes[0].positions);
    let mut own = player(&rest, SMOOTH);
    for k in 0..4 {
        let given = moved(&rest.asset.meshes[0].positions, k);
        own.set_positions("body", &given).expect("fits");
        assert_near(&body(&mut own, k as i64).0, &moved(&smooth, k), 2e-6);
    }
    // They stay.
    assert_near(&body(&mut own, 9).0, &moved(&smooth, 3), 2e-6);
}

/// Linear blend skinning, computed here in `f64`.
#[test]
fn skinning_moves_what_is_given() {
    let arm = Arc::new(Character::from_asset(
        sinew_samples::arm_with_hand().expect("a sample"),
    ));
    let mut own = player(&arm, SKIN);
    let mesh = own.inputs().bindings()[0].mesh().expect("a mesh").clone();
    let influences = mesh.influences.as_ref().expect("weights");
    let given = moved(&mesh.positions, 2);
    own.set_positions("body", &given).expect("fits");
    for frame in [0, 12, 24] {
        let (found, _) = body(&mut own, frame);
        let palette = &own.inputs().poses()[0].palette;
        let skinned = given.iter().enumerate().map(|(v, p)| {
            let mut sum = [0.0_f64; 3];
            for (joint, weight) in influences.row(v) {
                for (c, row) in palette[joint as usize].rows.iter().enumerate() {
                    let rotated: f64 = (0..3).map(|k| f64::from(row[k] * p[k])).sum();
                    sum[c] += f64::from(weight) * (rotated + f64::from(row[3]));
                }
            }
            sum.map(|c| c as f32)
        });
        assert_near(&found, &skinned.collect::<Points>(), 1e-5);
    }
}

#[test]
fn given_positions_and_a_point_cache_are_the_same_bits() {
    let dir = tempfile::TempDir::new().expect("temp");
    for (index, text) in [SMOOTH, MUSH].into_iter().enumerate() {
        // Two meshes, one after the other.
        let rest = character(vec![ball(), meshes::cube()]);
        let all = player(&rest, text);
        let all = all.inputs().bindings()[0].mesh().expect("joined").clone();
        let count: usize = rest.asset.meshes.iter().map(Mesh::vertex_count).sum();
        assert_eq!(all.vertex_count(), count);
        let frames: Vec<Points> = (0..8).map(|k| moved(&all.positions, k % 3)).collect();
        let cache = pc2(&dir.path().join(format!("{index}.pc2")), &frames);
        let mut cached = player_of(&rest, text, &[cache]);
        let mut own = player(&rest, text);
        for (k, frame) in frames.iter().enumerate() {
            own.set_positions("body", frame).expect("fits");
            assert_eq!(body(&mut own, k as i64), body(&mut cached, k as i64));
        }
        // And in place of the cache.
        cached.set_positions("body", &frames[4]).expect("fits");
        own.set_positions("body", &frames[4]).expect("fits");
        assert_eq!(body(&mut own, 8), body(&mut cached, 8));
        cached.clear_positions("body").expect("is there");
        own.set_positions("body", &frames[7]).expect("fits");
        assert_eq!(body(&mut own, 9), body(&mut cached, 9));
    }
}

/// No call after the first restarts a simulation: it goes as with a point cache.
#[test]
fn simulated_strands_keep_their_state() {
    let dir = tempfile::TempDir::new().expect("temp");
    let head = sinew_samples::head().expect("a sample");
    let head = Arc::new(Character::from_asset(head));
    let mut own = player(&head, HAIR);
    let hair = own.inputs().bindings()[0].mesh().expect("strands").clone();
    // Lifted step by step.
    let lifted = |k: u8| -> Points {
        let up = |p: &[f32; 3]| [p[0], p[1] + f32::from(k) / 64.0, p[2]];
        hair.positions.iter().map(up).collect()
    };
    let frames: Vec<Points> = (0..8).map(lifted).collect();
    let cache = pc2(&dir.path().join("hair.pc2"), &frames);
    let mut cached = player_of(&head, HAIR, &[cache]);
    let mut last = player(&head, HAIR);
    for (k, frame) in (0..).zip(&frames) {
        own.set_positions("hair", frame).expect("fits");
        let [a, b] = [&mut own, &mut cached].map(|player| strands(player, k));
        assert_eq!(a, b, "frame {k}");
    }
    last.set_positions("hair", &frames[7]).expect("fits");
    assert_ne!(strands(&mut last, 8), strands(&mut own, 8), "no memory");
}

fn strands(player: &mut Player, frame: i64) -> Points {
    player.advance(frame).expect("a frame");
    match player.read_outputs().expect("reads").remove(0).1 {
        Output::Mesh(mesh) => mesh.positions,
        _ => panic!("strands"),
    }
}

#[test]
fn cleared_positions_are_those_of_the_rest_mesh() {
    let rest = character(vec![ball()]);
    let mut still = player(&rest, SMOOTH);
    let mut own = player(&rest, SMOOTH);
    own.clear_positions("body").expect("nothing to do");
    own.set_positions("body", &moved(&rest.asset.meshes[0].positions, 2))
        .expect("fits");
    let changed = body(&mut own, 0);
    assert_ne!(changed, body(&mut still, 0));
    own.clear_positions("body").expect("is there");
    assert_eq!(body(&mut own, 1), body(&mut still, 1));
}

#[test]
fn parameters_stay_when_the_first_positions_come() {
    let rest = character(vec![ball()]);
    let mut own = player(&rest, SMOOTH);
    let Runner::Cpu(instance) = own.runner_mut() else {
        panic!("on the CPU")
    };
    let none = sinew::deform::ParameterValue::Float(0.0);
    instance.set_parameter("amount", &none).expect("fits");
    let given = moved(&rest.asset.meshes[0].positions, 1);
    own.set_positions("body", &given).expect("fits");
    assert_eq!(body(&mut own, 0).0, given, "no smoothing");
}

#[test]
fn positions_that_do_not_fit_are_refused() {
    let rest = character(vec![ball()]);
    let mut own = player(&rest, SMOOTH);
    let mut given = moved(&rest.asset.meshes[0].positions, 1);
    let before = body(&mut own, 0);
    let error = own.set_positions("bodi", &given).expect_err("no such");
    assert_eq!(
        error.to_string(),
        "the graph has no mesh input 'bodi'; known: body"
    );
    let error = own
        .set_positions("body", &given[1..])
        .expect_err("one less");
    let expected = given.len();
    assert!(
        matches!(error, PlayError::PositionCount { found, expected: e, .. } if found == expected - 1 && e == expected),
        "{error}"
    );
    given[7][2] = f32::NAN;
    let error = own.set_positions("body", &given).expect_err("NaN");
    assert!(
        matches!(error, PlayError::PositionNotFinite { vertex: 7, .. }),
        "{error}"
    );
    let error = own.clear_positions("pose").expect_err("no mesh");
    assert!(matches!(error, PlayError::NoMeshInput { .. }), "{error}");
    assert_eq!(body(&mut own, 1), before, "nothing changed");
}

#[cfg(feature = "gpu")]
#[test]
fn the_gpu_takes_positions_as_the_cpu_does() {
    use crate::common::devices::{NORMALS_DEGREES, angle_degrees, distance, largest};
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let rest = character(vec![ball()]);
    for text in [SMOOTH, MUSH] {
        let mut cpu = player(&rest, text);
        let inputs = cpu.inputs().clone();
        let runner = Runner::gpu(&gpu, cpu.graph()).expect("runs");
        let mut on_gpu = Player::new(runner, inputs, Vec::new(), None, 30.0).expect("plays");
        for k in 0..6 {
            let given = moved(&rest.asset.meshes[0].positions, k % 4);
            for player in [&mut cpu, &mut on_gpu] {
                match k {
                    0 => {}
                    5 => player.clear_positions("body").expect("is there"),
                    _ => player.set_positions("body", &given).expect("fits"),
                }
            }
            let (expected, found) = (body(&mut cpu, k as i64), body(&mut on_gpu, k as i64));
            let off = largest(&expected.0, &found.0, "positions", distance);
            assert!(off < 1e-5, "frame {k}: {off}");
            let off = largest(&expected.1, &found.1, "normals", angle_degrees);
            assert!(off < NORMALS_DEGREES, "frame {k}: {off} degrees");
        }
    }
}

/// Names in running order, and parts of what the whole frame took. The binding that moves a mesh adds a step.
#[test]
fn nodes_are_timed() {
    let rest = character(vec![ball()]);
    let mut own = player(&rest, MUSH);
    assert!(own.node_times().is_empty() && !own.is_profiled());
    own.set_profile(true).expect("a clock");
    let given = moved(&rest.asset.meshes[0].positions, 1);
    own.set_positions("body", &given).expect("fits");
    assert!(own.is_profiled() && own.node_times().is_empty());
    let begun = std::time::Instant::now();
    own.advance(0).expect("a frame");
    let whole = begun.elapsed().as_secs_f64();
    let names: Vec<&str> = own.node_times().iter().map(|t| t.0.as_str()).collect();
    assert_eq!(names[..2], ["points (body)", "delta_mush"]);
    let sum: f64 = own.node_times().iter().map(|t| t.1).sum();
    assert!(sum > 0.0 && sum <= whole, "{sum} of {whole} s");
    own.set_profile(false).expect("nothing to do");
    assert!(own.node_times().is_empty());
}

#[cfg(feature = "gpu")]
#[test]
fn nodes_on_the_gpu_are_timed_by_launch() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let head = Arc::new(Character::from_asset(
        sinew_samples::head().expect("a sample"),
    ));
    let cpu = player(&head, HAIR);
    let runner = Runner::gpu(&gpu, cpu.graph()).expect("runs");
    let mut timed =
        Player::new(runner, cpu.inputs().clone(), Vec::new(), None, 30.0).expect("plays");
    if let Err(error) = timed.set_profile(true) {
        assert!(!gpu.capabilities().timestamps, "{error}");
        return;
    }
    for frame in 0..3 {
        let begun = std::time::Instant::now();
        timed.advance(frame).expect("a frame");
        let whole = begun.elapsed().as_secs_f64();
        let times = timed.node_times();
        assert!(times.iter().any(|t| t.0.contains("body")), "{times:?}");
        let sum: f64 = times.iter().map(|t| t.1).sum();
        assert!(sum > 0.0 && sum <= whole, "{sum} of {whole} s");
    }
}
