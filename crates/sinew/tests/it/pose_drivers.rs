//! Pose drivers from files to frames: conversion, and a whole character.

use crate::common::bindings;
use sinew::deform::Par;
use sinew::deform::pose_driver::{DriverValue, PoseDriverBind, PoseDriverJob, PoseDriverScratch};
use sinew::geom::{Affine, Asset, Pose, Quat, Rig};
use sinew::graph::{BoundGraph, Frame, NoNesting, Plan, compile};
use sinew::io::pose_driver::psd::BasisOrder;
use sinew::io::pose_driver::{
    MayaScene, parse_pose_wrangler, parse_psd, parse_samples, read_samples,
};
use sinew::psd::convert::{
    Solver, from_pose_wrangler, from_psd, from_samples, graph_text, solvers_of_plan,
    to_pose_wrangler, to_psd,
};
use std::path::Path;
use std::sync::Arc;

const PSD: &str = r#"{
  // A comment.
  "arm": {
    "DriverObject": "lower", "DrivenObjects": ["helper"], "DrivenJointOrientList": [[0, 0, 10]],
    "PSDType": 1, "BasisFunction": 2, "GlobalWidth": 120.0, "ClampNegativeWeight": true,
    "NormalizeMethod": 1, "TwistAxis": 2, "IsAutomaticRadius": false, "DistanceMethod": 1,
    "Poses": {
      "rest": { "RawPoseRotation": [0, 0, 0],
        "outDrivenLocalMatrixList": [[1,0,0,0, 0,1,0,0, 0,0,1,0, 1,2,3,1]] },
      "bent": { "RawPoseRotation": [0, 0, 90],
        "outDriverLocalMatrix": [[0,1,0,0], [-1,0,0,0], [0,0,1,0], [10,0,0,1]],
        "outDrivenLocalMatrixList": [[1,0,0,0, 0,1,0,0, 0,0,1,0, 4,2,3,1]], },
    },
  },
}"#;

const WRANGLER: &str = r#"{ "leg": {
  "solver_name": "leg_UERBFSolver", "drivers": ["thigh", "calf"], "driven_transforms": [], "controllers": [],
  "mode": "Additive", "radius": 50.0, "automaticRadius": false, "weightThreshold": 0.001,
  "distanceMethod": "Swing", "normalizeMethod": 3, "functionType": 4, "twistAxis": 1, "inputMode": "Rotation",
  "driven_attrs": [[], []],
  "poses": {
    "default": { "drivers": [[1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1], [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,50,0,1]] },
    "up": { "drivers": [[0,0,-1,0, 0,1,0,0, 1,0,0,0, 0,0,0,1], [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,50,0,1]],
      "function_type": "Linear", "scale_factor": 0.5, "distance_method": "DefaultMethod",
      "blendshape_data": [{"blendshape_mesh": "leg_up_shape"}] }
  } } }"#;

fn from(text: &str, is_psd: bool) -> Vec<Solver> {
    let (path, scene) = (Path::new("test.json"), MayaScene::default());
    if is_psd {
        from_psd(
            &parse_psd(text, path).expect("a correct file"),
            &scene,
            BasisOrder::Published,
        )
        .0
    } else {
        let document = parse_pose_wrangler(text, path).expect("a correct file");
        from_pose_wrangler(&document, &scene).0
    }
}

fn ask(solver: &Solver, rotations: &[Quat<f64>]) -> Vec<f32> {
    let bind = PoseDriverBind::new(&solver.driver).expect("poses that differ");
    let mut weights = vec![0.0; bind.pose_count()];
    let values: Vec<DriverValue> = rotations
        .iter()
        .map(|q| DriverValue::rotation(*q))
        .collect();
    PoseDriverJob {
        bind: &bind,
        values: &values,
        scratch: &mut PoseDriverScratch::new(&bind),
        weights: &mut weights,
    }
    .run();
    weights
}

fn about_y(degrees: f64) -> Quat<f64> {
    Quat::from_scaled_axis(sinew::geom::Vec3::new(0.0, degrees.to_radians(), 0.0))
}

/// Weights by the formulas of the document, written out: a rotation of 30 degrees of 90 about z, cubic, width 120 degrees.
#[test]
fn a_psd_file_gives_the_documents_weights() {
    let solvers = from(PSD, true);
    let [solver] = solvers.as_slice() else {
        panic!("one solver")
    };
    assert_eq!(
        (&*solver.joints[0], &*solver.driven_joints[0]),
        ("lower", "helper")
    );
    // Centimetres and row vectors.
    let helper = solver.driven_transforms[1][0].translation;
    assert!((helper - sinew::geom::Vec3::new(0.04, 0.02, 0.03)).norm() < 1e-12);
    let phi = |degrees: f64| 1.0 - (degrees / 120.0).powi(3);
    let (k, v) = (phi(90.0), [phi(30.0), phi(60.0)]);
    let det = 1.0 - k * k;
    let w = [(v[0] - k * v[1]) / det, (v[1] - k * v[0]) / det].map(|w: f64| w.max(0.0));
    let sum = w[0] + w[1];
    let z = Quat::from_scaled_axis(sinew::geom::Vec3::new(0.0, 0.0, 30_f64.to_radians()));
    let found = ask(solver, &[z]);
    for (f, e) in found.iter().zip(w) {
        assert!((f64::from(*f) - e / sum).abs() < 1e-6, "{found:?} {w:?}");
    }
}

/// How the numbers of a PSD file could be read.
#[derive(Clone, Copy)]
struct Reading {
    row_vectors: bool,
    degrees: bool,
    x_first: bool,
    cubic: bool,
    clamps_first: bool,
}

/// Columns of the rotation by angles in degrees, the first axis first.
fn turned([x, y, z]: [f64; 3], x_first: bool) -> [[f64; 3]; 3] {
    let about = |axis: usize, degrees: f64| {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut m = [[0.0; 3]; 3];
        m[axis][axis] = 1.0;
        (m[a][a], m[b][b], m[a][b], m[b][a]) = (cos, cos, sin, -sin);
        m
    };
    let times = |p: [[f64; 3]; 3], q: [[f64; 3]; 3]| {
        q.map(|column| [0, 1, 2].map(|r| (0..3).map(|k| p[k][r] * column[k]).sum()))
    };
    let [x, y, z] = [about(0, x), about(1, y), about(2, z)];
    match x_first {
        true => times(times(z, y), x),
        false => times(times(x, y), z),
    }
}

/// Weights of three poses by the document's formulas in double precision, with Cramer's rule.
fn weights_by_hand(
    matrix: [[f64; 3]; 3],
    angles: [f64; 3],
    asked: [f64; 3],
    how: Reading,
) -> [f64; 3] {
    let bent = match how.row_vectors {
        // Rows of the file are what the axes become: columns here.
        true => matrix,
        false => [0, 1, 2].map(|c| [0, 1, 2].map(|r| matrix[r][c])),
    };
    let poses = [turned([0.0; 3], true), bent, turned(angles, how.x_first)];
    let angle = |p: &[[f64; 3]; 3], q: &[[f64; 3]; 3]| {
        let trace: f64 = (0..9).map(|i| p[i / 3][i % 3] * q[i / 3][i % 3]).sum();
        ((trace - 1.0) / 2.0).clamp(-1.0, 1.0).acos()
    };
    let width = if how.degrees {
        120_f64.to_radians()
    } else {
        120.0
    };
    let kernel = |d: f64| match how.cubic {
        true => (1.0 - (d / width).powi(3)).max(0.0),
        false => (1.0 - d / width).max(0.0),
    };
    let k = poses.map(|p| poses.map(|q| kernel(angle(&p, &q))));
    let now = turned(asked, true);
    let v = poses.map(|p| kernel(angle(&p, &now)));
    let det = |m: [[f64; 3]; 3]| -> f64 {
        (0..3)
            .map(|c| {
                let (a, b) = ((c + 1) % 3, (c + 2) % 3);
                m[0][c] * (m[1][a] * m[2][b] - m[1][b] * m[2][a])
            })
            .sum()
    };
    let mut w = [0, 1, 2].map(|i| {
        let mut replaced = k;
        replaced[i] = v;
        det(replaced) / det(k)
    });
    let clamp = |w: [f64; 3]| w.map(|w| w.max(0.0));
    if how.clamps_first {
        w = clamp(w);
    }
    let sum: f64 = w.iter().sum();
    clamp(w.map(|w| if sum > 1.0 { w / sum } else { w }))
}

/// Matrices with row vectors, angles in degrees and x first, the second kernel cubic, clamped before the sum is brought down to one: each other
/// reading gives other numbers for this file, so that it tells them apart.
#[test]
fn defect_32_units_and_orders_of_psd_json() {
    let (bent, angles, asked) = (
        [30.0, 30.0, -90.0],
        [-40.0, 10.0, -10.0],
        [50.0, -60.0, 20.0],
    );
    let matrix = turned(bent, true);
    let text = format!(
        r#"{{ "arm": {{ "DriverObject": "lower", "DrivenObjects": [], "PSDType": 1, "BasisFunction": 2, "GlobalWidth": 120.0,
  "ClampNegativeWeight": true, "NormalizeMethod": 0, "TwistAxis": 0, "IsAutomaticRadius": false, "DistanceMethod": 1,
  "Poses": {{ "rest": {{ "RawPoseRotation": [0, 0, 0] }},
    "bent": {{ "RawPoseRotation": {bent:?}, "outDriverLocalMatrix": [{}, [0, 0, 0, 1]] }},
    "both": {{ "RawPoseRotation": {angles:?} }} }} }} }}"#,
        matrix
            .map(|row| format!("[{}, {}, {}, 0]", row[0], row[1], row[2]))
            .join(", "),
    );
    let solvers = from(&text, true);
    let [x, y, z] = asked.map(f64::to_radians);
    let found = ask(&solvers[0], &[Quat::from_euler_angles(x, y, z)]);
    let right = Reading {
        row_vectors: true,
        degrees: true,
        x_first: true,
        cubic: true,
        clamps_first: true,
    };
    let near = |expected: [f64; 3]| {
        let off = found
            .iter()
            .zip(expected)
            .map(|(f, e)| (f64::from(*f) - e).abs());
        off.fold(0.0, f64::max)
    };
    let expected = weights_by_hand(matrix, angles, asked, right);
    assert!(near(expected) < 1e-6, "{found:?} {expected:?}");
    let others = [
        (
            "column vectors",
            Reading {
                row_vectors: false,
                ..right
            },
        ),
        (
            "radians",
            Reading {
                degrees: false,
                ..right
            },
        ),
        (
            "z first",
            Reading {
                x_first: false,
                ..right
            },
        ),
        (
            "linear",
            Reading {
                cubic: false,
                ..right
            },
        ),
        (
            "normalised first",
            Reading {
                clamps_first: false,
                ..right
            },
        ),
    ];
    for (name, reading) in others {
        let other = weights_by_hand(matrix, angles, asked, reading);
        assert!(near(other) > 1e-3, "{name}: {other:?} {found:?}");
    }
}

/// Two joints, additive, a pose with a kernel and a radius of its own; the sum stays below one.
#[test]
fn a_pose_wrangler_file_gives_unreals_weights() {
    let solvers = from(WRANGLER, false);
    let [solver] = solvers.as_slice() else {
        panic!("one solver")
    };
    assert_eq!(solver.name, "leg_UERBFSolver");
    assert_eq!(solver.morph_targets, ["", "leg_up_shape"]);
    // The twist axis is y, so a turn about z is all swing: 40 degrees from the first pose. The second one is a turn about y: all
    // twist, so that its swing is that of the first.
    let z = Quat::from_scaled_axis(sinew::geom::Vec3::new(0.0, 0.0, 40_f64.to_radians()));
    let found = ask(solver, &[z, Quat::identity()]);
    let expected = [1.0 - 0.8_f64.powi(5), 0.0];
    for (f, e) in found.iter().zip(expected) {
        assert!((f64::from(*f) - e).abs() < 1e-6, "{found:?}");
    }
    let near = ask(solver, &[about_y(10.0), Quat::identity()]);
    assert_eq!(
        near,
        [0.5, 0.5],
        "both are 1, and Unreal divides sums above one away"
    );
}

fn plan_of(solvers: &[Solver]) -> Plan {
    let (text, losses) = graph_text(solvers);
    assert_eq!(losses.0, [], "a graph has a place for all of it");
    compile("converted.json", &text, &NoNesting).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// What comes back from another form is what went in, but for its name and rounding.
fn assert_same(found: &[Solver], expected: &[Solver]) {
    assert_eq!(found.len(), expected.len());
    let near = |a: &Affine<f64>, b: &Affine<f64>| {
        (a.linear - b.linear).amax() < 1e-12 && (a.translation - b.translation).amax() < 1e-12
    };
    for (f, e) in found.iter().zip(expected) {
        for (a, b) in [
            (&f.driver_transforms, &e.driver_transforms),
            (&f.driven_transforms, &e.driven_transforms),
        ] {
            let [a, b] = [a, b].map(|t| t.concat());
            assert_eq!(a.len(), b.len());
            assert!(a.iter().zip(&b).all(|(a, b)| near(a, b)), "{a:?} {b:?}");
        }
        let mut plain = [f.clone(), e.clone()];
        for s in &mut plain {
            s.driver_transforms.clear();
            s.driven_transforms.clear();
            s.name.clear();
            s.driver.poses.iter_mut().for_each(|p| p.values.clear());
            if let sinew::deform::pose_driver::Width::Given(w) = &mut s.driver.width {
                *w = (*w * 1e9).round() / 1e9;
            }
        }
        assert_eq!(plain[0], plain[1]);
    }
}

#[test]
fn solvers_become_graphs_and_come_back() {
    for (text, is_psd) in [(PSD, true), (WRANGLER, false)] {
        let solvers = from(text, is_psd);
        let (back, losses) = solvers_of_plan(&plan_of(&solvers)).expect("our own nodes");
        assert_eq!(losses.0, []);
        assert_same(&back, &solvers);
    }
}

/// A pose may leave out where the driven joints are.
#[test]
fn poses_without_driven_matrices_are_as_in_the_first() {
    let start = PSD
        .rfind("\"outDrivenLocalMatrixList\"")
        .expect("the second pose has it");
    let end = start + PSD[start..].find("]],").expect("its end") + 3;
    let text = format!("{}{}", &PSD[..start], &PSD[end..]);
    let document = parse_psd(&text, Path::new("test.json")).expect("a correct file");
    let (solvers, losses) = from_psd(&document, &MayaScene::default(), BasisOrder::Published);
    let list = losses.0.iter().map(|l| l.what.as_str());
    let said = list.filter(|l| l.starts_with("pose 'bent' has no matrices of its 1 driven joints"));
    assert_eq!(said.count(), 1, "{losses:?}");
    let [rest, bent] = solvers[0].driven_transforms.as_slice() else {
        panic!("two poses")
    };
    assert_eq!(rest, bent);
}

/// Whatever a graph says beyond what a solver is.
#[test]
fn what_a_graph_says_besides_is_told() {
    let text = r#"{ "sinew": "1.0",
      "inputs": { "body": { "type": "mesh" }, "pose": { "type": "pose" } },
      "nodes": {
        "arm": { "node": "pose_driver", "pose": "pose", "joints": ["lower"], "swing_tolerance": 0.3,
          "poses": [{ "name": "a", "joints": [{}] }, { "name": "b", "joints": [{ "rotation_degrees": [0, 0, 90] }] }] },
        "helpers": { "node": "drive_joints", "pose": "pose", "weights": "arm", "joints": ["twist"], "rotation": "nlerp",
          "poses": [{ "name": "a", "joints": [{}] }, { "name": "b", "joints": [{}] }] },
        "shapes": { "node": "drive_morphs", "mesh": "body", "weights": "arm", "pose": "pose", "clamp": true, "gain": { "keys": [[0.0, 1.0], [1.0, 2.0]] },
          "targets": ["", "bulge"], "mix": [{ "target": "basis", "weights": [0, 1] }] },
        "shaped": { "node": "morph", "mesh": "body", "weights": "shapes" },
        "skin": { "node": "skin", "mesh": "shaped", "pose": "helpers" }
      },
      "outputs": { "body": "skin", "weights": "arm" } }"#;
    let plan = compile("test.json", text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let (solvers, losses) = solvers_of_plan(&plan).expect("a correct graph");
    let mut found: Vec<&str> = losses.0.iter().map(|l| l.what.as_str()).collect();
    found.sort_unstable();
    let mut expected = [
        "the output 'weights', which has its weights",
        "drive_joints 'helpers': 'rotation'",
        "drive_joints 'helpers': \"space\": \"rest\"; its poses are converted as relative to the parent joints",
        "drive_morphs 'shapes': 'gain' over time; its first key is used instead",
        "drive_morphs 'shapes': 'clamp'",
        "drive_morphs 'shapes': 'mix'",
        "drive_morphs 'shapes': the link 'pose'",
    ];
    expected.sort_unstable();
    assert_eq!(found, expected);
    // What a solver has comes back.
    let (text, _) = graph_text(&solvers);
    assert!(text.contains("\"swing_tolerance\": 0.3"), "{text}");
}

/// Poses that take no part keep what is their own.
#[test]
fn poses_that_are_left_out_come_back_whole() {
    let mut solvers = from(WRANGLER, false);
    solvers[0].enabled[1] = false;
    assert!(
        solvers[0].driver.poses[1].kernel.is_some(),
        "something of its own"
    );
    let (back, losses) = solvers_of_plan(&plan_of(&solvers)).expect("our own nodes");
    assert_eq!(losses.0, []);
    assert_same(&back, &solvers);
}

#[test]
fn solvers_become_files_and_come_back() {
    let scene = MayaScene::default();
    let solvers = from(PSD, true);
    let (document, losses) = to_psd(&solvers, &scene, BasisOrder::Published);
    assert_eq!(losses.0, []);
    let text = document.to_json_string().expect("a correct document");
    assert_same(&from(&text, true), &solvers);
    let solvers = from(WRANGLER, false);
    let (document, losses) = to_pose_wrangler(&solvers, &scene);
    assert_eq!(losses.0, []);
    let text = document.to_json_string().expect("a correct document");
    assert_same(&from(&text, false), &solvers);
}

#[test]
fn what_cannot_be_carried_is_listed() {
    let scene = MayaScene::default();
    let solvers = from(WRANGLER, false);
    let (document, losses) = to_psd(&solvers, &scene, BasisOrder::Published);
    assert!(document.solvers.is_empty());
    assert!(losses.0[0].what.contains("2 driver joints"), "{losses:?}");
    let (_, losses) = to_pose_wrangler(&from(PSD, true), &scene);
    let all: Vec<&str> = losses.0.iter().map(|l| l.what.as_str()).collect();
    assert!(
        all.iter().any(|w| w.contains("rules other than 'unreal'")),
        "{all:?}"
    );
    let (path, text) = (
        Path::new("bad.json"),
        PSD.replace("\"BasisFunction\": 2", "\"BasisFunction\": 7"),
    );
    let (_, losses) = from_psd(
        &parse_psd(&text, path).expect("a number"),
        &scene,
        BasisOrder::Published,
    );
    let all: Vec<&str> = losses.0.iter().map(|l| l.what.as_str()).collect();
    assert!(all.iter().any(|w| w.contains("BasisFunction 7")), "{all:?}");
    assert!(
        all.iter().any(|w| w.contains("DrivenJointOrientList")),
        "{all:?}"
    );
}

#[test]
fn samples_become_a_graph() {
    let text = r#"{"solvers": [{"name": "elbow", "joint": "tip", "rest_rotation_xyzw": [0,0,0,1], "radius": 1.2,
      "samples": [{"name": "bend90", "rotation_xyzw": [0,0,0.70710678,0.70710678]}]}]}"#;
    let document = parse_samples(text, Path::new("s.json")).expect("correct");
    let (solvers, losses) = from_samples(&document);
    assert_eq!(losses.0, []);
    assert_eq!(solvers[0].morph_targets, ["", "bend90"]);
    let (back, _) = solvers_of_plan(&plan_of(&solvers)).expect("our own nodes");
    assert_same(&back, &solvers);
}

/// A character of ../shared/data with its samples.
struct Character {
    asset: Asset,
    solvers: Vec<Solver>,
    /// Name of each corrective and when the clip shows it.
    samples: Vec<(String, f64)>,
}

#[expect(clippy::print_stdout, reason = "tests say what they skip")]
fn male() -> Option<Character> {
    let Some(data) = sinew_testkit::shared_data() else {
        println!("skipped: no shared data");
        return None;
    };
    let read = sinew::io::read_any(&data.join("psd/mh_male_psd.glb"));
    let document = read_samples(&data.join("psd/mh_male_psd_samples.json")).expect("samples");
    let samples = document.solvers.iter().flat_map(|s| &s.samples);
    let samples = samples.map(|s| (s.name.clone(), s.time_in_clip_secs.expect("a time")));
    Some(Character {
        asset: read.expect("a character").asset,
        samples: samples.collect(),
        solvers: from_samples(&document).0,
    })
}

/// The converted graph, with the weights of morph targets as a second output.
fn graph_of(character: &Character) -> (Arc<BoundGraph>, Vec<String>) {
    let (text, _) = graph_text(&character.solvers);
    let text = text.replace(
        "\"outputs\": {\n    \"body\": \"skin\"",
        "\"outputs\": {\n    \"weights\": \"hand_l_psd_morphs\",\n    \"body\": \"skin\"",
    );
    let plan = compile("male.json", &text, &NoNesting).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let bound = BoundGraph::bind(
        Arc::new(plan.clone()),
        &bindings(&character.asset, &plan),
        &[],
        Par::Seq,
    );
    let mesh = &character.asset.meshes[0];
    let names = mesh.morph_targets.iter().map(|t| t.name.clone()).collect();
    (Arc::new(bound.expect("a correct graph")), names)
}

fn pose_at(asset: &Asset, rig: &Rig, seconds: f64) -> Pose {
    let mut pose = rig.rest_pose();
    rig.evaluate(asset.find_clip(Some("psd_poses")), seconds, &mut pose);
    pose
}

/// At each sample its target weighs 1 and all others 0, and the mesh is skinned with that morph alone.
#[test]
fn the_male_shows_each_corrective_in_its_pose() {
    let Some(character) = male() else { return };
    let (graph, names) = graph_of(&character);
    let mut instance = graph.instance();
    let morph_and_skin = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "w": {"type": "values", "count": 8}},
      "nodes": {"morph": {"node": "morph", "mesh": "body", "weights": "w"}, "skin": {"node": "skin", "mesh": "morph", "pose": "pose", "method": "linear"}},
      "outputs": {"body": "skin"}}"#;
    let plan = compile("plain.json", morph_and_skin, &NoNesting).expect("correct");
    let bound = BoundGraph::bind(
        Arc::new(plan.clone()),
        &bindings(&character.asset, &plan),
        &[],
        Par::Seq,
    );
    let mut plain = Arc::new(bound.expect("correct")).instance();
    assert_eq!(character.samples.len(), 8);
    for (name, seconds) in &character.samples {
        let pose = pose_at(&character.asset, &character.asset.rig, *seconds);
        let frame = Frame::at(*seconds).pose(&pose);
        instance.update(&frame, Par::Seq).expect("a frame");
        let weights = instance.float_output("weights").expect("an output");
        let one_hot: Vec<f32> = names
            .iter()
            .map(|n| f32::from(u8::from(n == name)))
            .collect();
        for (i, (w, e)) in weights.iter().zip(&one_hot).enumerate() {
            assert!((w - e).abs() < 1e-4, "at {name}: {} weighs {w}", names[i]);
        }
        let values = [(2, one_hot.as_slice())];
        plain
            .update(&frame.values(&values), Par::Seq)
            .expect("a frame");
        let [a, b] =
            [&instance, &plain].map(|i| i.mesh_output("body").expect("a mesh").positions.to_vec());
        let worst = a
            .as_flattened()
            .iter()
            .zip(b.as_flattened())
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        assert!(worst < 1e-5, "at {name}: {worst} m off");
    }
}

/// Along the clip no weight jumps: between neighbours of 1/480 s no step is larger than 0.05, and steps shrink with the time between them.
#[test]
fn the_males_weights_are_smooth_along_the_clip() {
    let Some(character) = male() else { return };
    let (graph, _) = graph_of(&character);
    let mut instance = graph.instance();
    let mut largest_step = |parts: u32| {
        let mut before: Vec<f32> = Vec::new();
        let mut largest = 0.0_f32;
        for i in parts / 30..parts * 161 / 30 {
            let pose = pose_at(
                &character.asset,
                &character.asset.rig,
                f64::from(i) / f64::from(parts),
            );
            let frame = Frame::default().pose(&pose);
            instance.update(&frame, Par::Seq).expect("a frame");
            let weights = instance.float_output("weights").expect("an output");
            for (a, b) in before.iter().zip(weights) {
                largest = largest.max((a - b).abs());
            }
            before = weights.to_vec();
        }
        largest
    };
    let [coarse, fine] = [120, 480].map(&mut largest_step);
    assert!(fine < 0.05, "a step of {fine}");
    assert!(
        fine < 0.3 * coarse,
        "steps of {coarse} at 120 Hz, {fine} at 480 Hz: a jump would stay"
    );
}

/// With the elbow at 140 degrees the upper arm is lifted by 25, and the biceps has its full bulge; straight, there is nothing of both.
#[test]
fn the_example_bulges_and_lifts() {
    let asset = sinew_samples::arm_with_hand().expect("a sample");
    let text = sinew::deform::find_example("pose_driver")
        .expect("there")
        .graph;
    let text = text.replace(
        "\"body\": \"skin\"",
        "\"body\": \"skin\", \"bulge\": \"bulge\", \"lift\": \"lift\"",
    );
    let plan = compile("pose_driver.json", &text, &NoNesting).expect("an example");
    let bound = BoundGraph::bind(
        Arc::new(plan.clone()),
        &bindings(&asset, &plan),
        &[],
        Par::Seq,
    );
    let mut instance = Arc::new(bound.expect("an example")).instance();
    let upper_arm = asset.rig.find_node("upper_arm").expect("a joint");
    let mut pose = asset.rig.rest_pose();
    for (seconds, weight, degrees) in [(0.0, 0.0, 0.0), (1.8, 1.0, 25.0)] {
        asset.rig.evaluate(asset.clips.first(), seconds, &mut pose);
        let frame = Frame::default().pose(&pose);
        instance.update(&frame, Par::Seq).expect("a frame");
        let bulge = instance.float_output("bulge").expect("weights")[0];
        assert!((bulge - weight).abs() < 1e-4, "at {seconds} s: {bulge}");
        let lifted = instance.pose_output("lift").expect("a pose");
        let turned = |p: &Pose| DriverValue::from(&p.scene_from_node[upper_arm]).rotation;
        let angle = turned(lifted).angle_to(&turned(&pose)).to_degrees();
        assert!((angle - degrees).abs() < 0.02, "at {seconds} s: {angle}");
    }
}
