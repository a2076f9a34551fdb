//! Whole characters.

use super::{noise, noisy, options, target};
use serde_json::{Value, json};
use sinew::deform::Par;
use sinew::geom::{Quat, Vec3};
use sinew::graph::Frame;
use sinew::io::Folders;
use sinew::play::{Character, Document, PlayInputs};
use sinew::psd::{
    CompressError, CompressOptions, Compression, GraphPlaces, Kept, Unchanged, compress,
    write_compressed,
};
use sinew_testkit::{TubeFile, max_distance, meshes};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const POSES: usize = 12;
/// Poses of the tube's second joint: about Z and Y, radians. The first is at rest.
fn rotation(pose: usize) -> Quat<f64> {
    let (row, column) = (pose % 4, pose / 4);
    let about_z = Quat::from_scaled_axis(Vec3::z() * 0.5 * row as f64);
    about_z * Quat::from_scaled_axis(Vec3::y() * 0.4 * column as f64)
}

fn xyzw(q: Quat<f64>) -> [f32; 4] {
    [q.i as f32, q.j as f32, q.k as f32, q.w as f32]
}

fn name(pose: usize) -> String {
    format!("bent_{pose}")
}

/// Bulges around the bend, smooth in the pose's angles: of few shapes nearly, of none exactly.
fn bulge(p: [f32; 3], pose: usize) -> [f64; 3] {
    let p = p.map(f64::from);
    let (z, y) = ((pose % 4) as f64 * 0.5, (pose / 4) as f64 * 0.4);
    let near = |centre: f64, reach: f64| (1.0 - ((p[0] - centre) / reach).powi(2)).max(0.0);
    let (a, b) = (near(0.5, 0.2), near(0.5 + 0.05 * z, 0.15));
    [
        0.004 * b * z * (9.0 * p[1]).sin(),
        0.01 * a * (1.0 - z.cos()) + 0.002 * b * (3.0 * z * y).sin(),
        0.02 * a * y.sin() * p[2] / 0.1,
    ]
}

/// The tube with a target for each pose but the first.
fn tube() -> TubeFile {
    let mut mesh = meshes::tube(60, 24, 1.0, 0.1);
    mesh.morph_targets = (1..POSES)
        .map(|pose| {
            let offsets = mesh.positions.iter().map(|&p| bulge(p, pose)).collect();
            let mut out = target(offsets);
            out.name = name(pose);
            out.normals = out
                .positions
                .iter()
                .map(|d| [d[1] * 5.0, d[0] * 5.0, 0.0])
                .collect();
            out
        })
        .collect();
    TubeFile {
        mesh,
        rotations: (0..POSES).map(|p| xyzw(rotation(p))).collect(),
        weights: None,
        rest_weights: None,
        graph: None,
    }
}

/// Its graph; `nodes` go over those that there are.
fn graph(nodes: Value) -> Value {
    let poses: Vec<Value> = (0..POSES)
        .map(|p| {
            let q = rotation(p);
            json!({ "name": format!("p{p}"), "joints": [{ "rotation": [q.i, q.j, q.k, q.w] }] })
        })
        .collect();
    let targets: Vec<String> = (0..POSES)
        .map(|p| if p == 0 { String::new() } else { name(p) })
        .collect();
    let mut out = json!({
        "sinew": "1.0",
        "inputs": { "body": { "type": "mesh" }, "pose": { "type": "pose" } },
        "nodes": {
            "elbow": { "node": "pose_driver", "pose": "pose", "joints": ["lower"], "space": "rest", "poses": poses },
            "drive": { "node": "drive_morphs", "mesh": "body", "weights": "elbow", "pose": "pose", "targets": targets },
            "shaped": { "node": "morph", "mesh": "body", "weights": "drive" },
            "skin": { "node": "skin", "mesh": "shaped", "pose": "pose", "method": "linear" },
        },
        "outputs": { "body": "skin", "weights": "elbow" },
    });
    for (key, node) in nodes.as_object().into_iter().flatten() {
        for (field, value) in node.as_object().into_iter().flatten() {
            out["nodes"][key][field] = value.clone();
        }
    }
    out
}

fn put(folder: &TempDir, file: &TubeFile) -> PathBuf {
    let path = folder.path().join("tube.glb");
    std::fs::write(&path, file.glb()).expect("write");
    path
}

fn document(graph: &Value) -> Document {
    Document::from_text("tube.json", graph.to_string(), "")
}

fn load(path: &Path) -> Arc<Character> {
    Arc::new(Character::load(path).expect("a character"))
}

struct Played {
    positions: Vec<Vec<[f32; 3]>>,
    normals: Vec<Vec<[f32; 3]>>,
    weights: Vec<Vec<f32>>,
}

fn play(path: &Path, document: &Document, clip: Option<&str>, times: &[f64]) -> Played {
    let plan = Arc::new(
        document
            .compile()
            .unwrap_or_else(|e| panic!("{e}\n{}", document.text)),
    );
    let mut cast = PlayInputs::load(load(path), &plan, &Folders::default()).expect("assembles");
    let mut instance = cast.bind(&plan, &[]).expect("binds").instance();
    let mut out = Played {
        positions: Vec::new(),
        normals: Vec::new(),
        weights: Vec::new(),
    };
    for &time_secs in times {
        cast.pose(clip, time_secs);
        let frame = Frame::at(time_secs).pose(cast.poses().first());
        instance.update(&frame, Par::Seq).expect("a frame");
        let mesh = instance.mesh_output("body").expect("a mesh");
        out.positions.push(mesh.positions.to_vec());
        out.normals.push(mesh.normals.expect("normals").to_vec());
        let weights = instance.float_output("weights").unwrap_or_default();
        out.weights.push(weights.to_vec());
    }
    out
}

fn compressed(path: &Path, document: &Document, tolerance: f64) -> Compression {
    compress(&load(path), document, &options(tolerance)).unwrap_or_else(|e| panic!("{e}"))
}

/// Both files played; the reduced one with its own graph.
fn play_both(
    folder: &TempDir,
    file: &TubeFile,
    graph: &Value,
    tolerance: f64,
    times: &[f64],
) -> (Compression, [Played; 2]) {
    let (path, out) = (put(folder, file), folder.path().join("out.glb"));
    let found = compressed(&path, &document(graph), tolerance);
    write_compressed(&load(&path), &found, &out, GraphPlaces::default()).expect("written");
    let after = Document {
        text: found.graph.clone(),
        ..document(graph)
    };
    let played = [
        play(&path, &document(graph), Some("poses"), times),
        play(&out, &after, Some("poses"), times),
    ];
    (found, played)
}

/// Rounding of positions about a metre away.
const ROUNDING: f64 = 3e-7;

/// At each pose no vertex is off by more than the tolerance, anywhere else by no more than the tolerance times the weights.
#[test]
fn the_whole_graph_plays_within_the_tolerance() {
    let folder = TempDir::new().expect("a folder");
    let at_poses: Vec<f64> = (0..POSES).map(|p| p as f64).collect();
    let between: Vec<f64> = (0..=110).map(|i| f64::from(i) * 0.1).collect();
    for tolerance in [1e-3, 1e-4, 1e-5] {
        let (found, [a, b]) = play_both(&folder, &tube(), &graph(json!({})), tolerance, &at_poses);
        let group = &found.groups[0];
        let basis = group.basis.as_ref().expect("a basis");
        assert!(group.unchanged.is_none(), "{group:?}");
        assert!(
            basis.names.len() < POSES - 1 && basis.report.reached,
            "{group:?}"
        );
        assert_eq!(basis.names[0], "elbow_basis_0");
        for p in 0..POSES {
            let off = max_distance(&a.positions[p], &b.positions[p]);
            assert!(off <= tolerance + ROUNDING, "pose {p}: {off}");
        }
        let (_, [a, b]) = play_both(&folder, &tube(), &graph(json!({})), tolerance, &between);
        let mut most = 0.0_f64;
        for i in 0..between.len() {
            // The neutral pose drives nothing.
            let sum: f64 = a.weights[i][1..].iter().map(|w| f64::from(w.abs())).sum();
            let off = max_distance(&a.positions[i], &b.positions[i]);
            most = most.max(off);
            assert!(off <= tolerance * sum + ROUNDING, "{i}: {off}, {sum}");
            assert!(max_distance(&a.normals[i], &b.normals[i]) < 0.05, "{i}");
        }
        assert!(most > 0.0, "something is left out");
    }
}

/// Weights that a clip animates and those at rest go to the basis, splines and steps like straight lines.
#[test]
fn animated_weights_play_the_same() {
    let times: Vec<f64> = (0..=88).map(|i| f64::from(i) * 0.125).collect();
    let count = POSES - 1;
    let mut next = noise(3);
    for interpolation in ["LINEAR", "STEP", "CUBICSPLINE"] {
        let rows = POSES * if interpolation == "CUBICSPLINE" { 3 } else { 1 };
        let numbers: Vec<f32> = (0..rows * count).map(|_| next() as f32).collect();
        let file = TubeFile {
            weights: Some((interpolation, numbers)),
            rest_weights: Some((0..count).map(|_| next() as f32).collect()),
            ..tube()
        };
        let folder = TempDir::new().expect("a folder");
        let tolerance = 1e-6;
        let (found, [a, b]) = play_both(&folder, &file, &graph(json!({})), tolerance, &times);
        assert!(found.groups[0].unchanged.is_none(), "{:?}", found.groups);
        for ((a, b), time) in a.positions.iter().zip(&b.positions).zip(&times) {
            let off = max_distance(a, b);
            // Splines with such tangents weigh up to three.
            assert!(off < 20.0 * tolerance, "{interpolation}, {time}: {off}");
        }
        // Without a clip the weights at rest.
        let after = Document {
            text: found.graph.clone(),
            ..document(&graph(json!({})))
        };
        let still = [
            play(
                &folder.path().join("tube.glb"),
                &document(&graph(json!({}))),
                None,
                &[0.0],
            ),
            play(&folder.path().join("out.glb"), &after, None, &[0.0]),
        ];
        assert!(max_distance(&still[0].positions[0], &still[1].positions[0]) < 20.0 * tolerance);
    }
}

#[test]
fn the_file_loses_the_targets_bytes_and_nothing_else() {
    let folder = TempDir::new().expect("a folder");
    let (path, out) = (put(&folder, &tube()), folder.path().join("out.glb"));
    let found = compressed(&path, &document(&graph(json!({}))), 1e-4);
    let beside = folder.path().join("out.json");
    let mut places = GraphPlaces::default();
    places.embed = true;
    places.beside = Some(&beside);
    write_compressed(&load(&path), &found, &out, places).expect("written");
    let basis = found.groups[0].basis.as_ref().expect("a basis");
    let size = |p: &Path| std::fs::metadata(p).expect("a file").len() as usize;
    let graph_bytes = size(&beside) + 200;
    let saved = basis.bytes_before - basis.bytes_after;
    assert!(
        size(&path) + graph_bytes > size(&out) + saved,
        "{} {}",
        size(&path),
        size(&out)
    );
    assert_eq!(std::fs::read_to_string(&beside).expect("text"), found.graph);
    let (before, after) = (load(&path), load(&out));
    let names: Vec<&str> = after.asset.meshes[0]
        .morph_targets
        .iter()
        .map(|t| &*t.name)
        .collect();
    assert_eq!(names, basis.names);
    let (a, b) = (&before.asset.meshes[0], &after.asset.meshes[0]);
    assert_eq!((&a.positions, &a.normals), (&b.positions, &b.normals));
    assert_eq!(a.topology.triangles(), b.topology.triangles());
    assert_eq!(a.influences, b.influences);
    let json = |c: &Character| c.source.as_ref().expect("glTF").json.clone();
    for kept in ["nodes", "skins", "materials", "animations", "scenes"] {
        assert_eq!(json(&before)[kept], json(&after)[kept], "{kept}");
    }
    // The graph in the file is the graph.
    let embedded = Document::embedded(&after).expect("a graph in it");
    let played = [
        play(&out, &embedded, None, &[4.5]),
        play(
            &out,
            &Document::from_text("out.json", &*found.graph, ""),
            None,
            &[4.5],
        ),
    ];
    assert_eq!(played[0].positions, played[1].positions);
}

/// What is written in the nodes that stay is as it was, comments included.
#[test]
fn the_document_keeps_its_text() {
    let folder = TempDir::new().expect("a folder");
    let path = put(&folder, &tube());
    let text = serde_json::to_string_pretty(&graph(json!({}))).expect("JSON");
    let text = text.replace("\"shaped\": {", "// Before skinning.\n    \"shaped\": {");
    let found = compressed(&path, &Document::from_text("g.json", &*text, ""), 1e-4);
    let list = text.find("\"targets\": [").expect("targets");
    let end = list + text[list..].find(']').expect("its end") + 1;
    assert!(found.graph.starts_with(&text[..list]), "{}", found.graph);
    assert!(found.graph.ends_with(&text[end..]), "{}", found.graph);
    let mix = &found.graph[list..];
    assert!(
        mix.starts_with("\"mix\": [\n        { \"target\": \"elbow_basis_0\", \"weights\": [0, "),
        "{mix}"
    );
}

/// Each with what the graph has and what the report says.
#[test]
fn what_must_stay_stays() {
    let folder = TempDir::new().expect("a folder");
    let path = put(&folder, &tube());
    let run = |nodes: Value| {
        compressed(&path, &document(&graph(nodes)), 1e-4)
            .groups
            .remove(0)
    };
    let node = || "drive".to_owned();
    // Targets.
    let group = run(
        json!({ "drive": { "in_betweens": [{ "target": "bent_1", "of": "bent_2", "at": 0.5 }],
        "combinations": [{ "target": "bent_3", "of": ["bent_4", "bent_5"] }] } }),
    );
    let between = |name: &str| (name.to_owned(), Kept::InBetween { node: node() });
    let combined = |name: &str| (name.to_owned(), Kept::Combination { node: node() });
    let expected = [
        between("bent_1"),
        between("bent_2"),
        combined("bent_3"),
        combined("bent_4"),
        combined("bent_5"),
    ];
    assert_eq!(group.kept, expected);
    assert!(
        group.unchanged.is_none() && group.targets.len() == 6,
        "{group:?}"
    );
    // A node that is no driver's names it.
    let by_vertex = json!({ "node": "pose_space_deformation", "mesh": "shaped", "pose": "pose", "joints": ["lower"], "space": "rest",
        "influence": "equal", "poses": [{ "name": "straight", "joints": [{}] },
            { "name": "turned", "target": "bent_6", "joints": [{ "rotation_degrees": [0, 0, 50] }] }] });
    let nodes = json!({ "by_vertex": by_vertex, "skin": { "mesh": "by_vertex" } });
    let group = run(nodes.clone());
    let by = Kept::NamedBy {
        node: "by_vertex".into(),
    };
    assert_eq!(group.kept, [("bent_6".to_owned(), by)]);
    let document_with = document(&graph(nodes));
    let found = compressed(&path, &document_with, 1e-4);
    assert!(found.groups[0].unchanged.is_none());
    let out = folder.path().join("named.glb");
    let mut nowhere = GraphPlaces::default();
    nowhere.embed = false;
    nowhere.beside = None;
    write_compressed(&load(&path), &found, &out, nowhere).expect("written");
    let after = Document {
        text: found.graph,
        ..document_with
    };
    play(&out, &after, None, &[0.0]);
    // Whole groups.
    let group = run(json!({ "drive": { "clamp": true } }));
    assert_eq!(group.unchanged, Some(Unchanged::Clamps { node: node() }));
    let clamps = json!({ "node": "drive_morphs", "mesh": "body", "weights": "elbow", "base": "drive", "clamp": true,
        "mix": [{ "target": "bent_1", "weights": vec![0.0; POSES] }] });
    let graph_of = json!({ "behind": clamps, "shaped": { "weights": "behind" } });
    let groups = compressed(&path, &document(&graph(graph_of)), 1e-4).groups;
    let group = |name: &str| groups.iter().find(|g| g.node == name).expect("the node");
    let behind = Unchanged::Clamps {
        node: "behind".into(),
    };
    assert_eq!(group("drive").unchanged, Some(behind));
    assert_eq!(group("behind").unchanged, Some(Unchanged::HasMix));
    let mut read = graph(json!({}));
    read["outputs"]["drive"] = "drive".into();
    let found = compressed(&path, &document(&read), 1e-4);
    let by = "output 'drive'".to_owned();
    assert_eq!(
        found.groups[0].unchanged,
        Some(Unchanged::ReadByPlace { by })
    );
    assert!(found.meshes.is_empty());
    assert_eq!(found.graph, read.to_string(), "as it was");
}

#[test]
fn names_and_places_that_must_not_change() {
    let folder = TempDir::new().expect("a folder");
    // One name for two targets.
    let mut file = tube();
    file.mesh.morph_targets[1].name = name(1);
    let mut targets: Vec<String> = (0..POSES).map(name).collect();
    (targets[0], targets[2]) = (String::new(), String::new());
    let path = put(&folder, &file);
    let graph_of = graph(json!({ "drive": { "targets": targets } }));
    let found = compressed(&path, &document(&graph_of), 1e-4);
    let mesh = "tube".to_owned();
    assert_eq!(found.groups[0].kept, [(name(1), Kept::Twice { mesh })]);
    assert_eq!(found.groups[0].targets.len(), POSES - 3);
    assert!(found.groups[0].unchanged.is_none());
    assert_eq!(found.meshes[0].removed[0], 2, "both stay");
    // Plain numbers for the same mesh.
    let path = put(&folder, &tube());
    let mut read =
        graph(json!({ "plain": { "node": "morph", "mesh": "body", "weights": "numbers" } }));
    read["inputs"]["numbers"] = json!({ "type": "values", "count": POSES - 1 });
    read["outputs"]["plain"] = "plain".into();
    let found = compressed(&path, &document(&read), 1e-4);
    let by = "node 'plain'".to_owned();
    assert_eq!(
        found.groups[0].unchanged,
        Some(Unchanged::ReadByPlace { by })
    );
    // A list that is a parameter of the graph.
    let mut asked = graph(json!({ "drive": { "targets": "$names" } }));
    let mut names: Vec<String> = (0..POSES).map(name).collect();
    names[0].clear();
    asked["parameters"] = json!({ "names": { "type": "texts", "default": names, "setup": true } });
    let found = compressed(&path, &document(&asked), 1e-4);
    let parameter = "targets";
    assert_eq!(
        found.groups[0].unchanged,
        Some(Unchanged::NotOwn { parameter })
    );
}

#[test]
fn both_nodes_of_a_target_keep_it() {
    let folder = TempDir::new().expect("a folder");
    let path = put(&folder, &tube());
    let other = json!({ "node": "drive_morphs", "mesh": "body", "weights": "elbow", "targets": vec!["bent_7"; POSES] });
    let graph = graph(json!({ "other": other, "drive": { "base": "other" } }));
    let found = compressed(&path, &document(&graph), 1e-4);
    for (node, by) in [("drive", "other"), ("other", "drive")] {
        let group = found
            .groups
            .iter()
            .find(|g| g.node == node)
            .expect("the node");
        let kept = (
            "bent_7".to_owned(),
            Kept::OtherNode {
                node: by.to_owned(),
            },
        );
        assert_eq!(group.kept, [kept], "{node}");
    }
    let other = found
        .groups
        .iter()
        .find(|g| g.node == "other")
        .expect("the node");
    assert_eq!(other.unchanged, Some(Unchanged::NoTarget));
}

#[test]
fn tolerances_that_leave_nothing_and_bases_that_do_not_pay() {
    let folder = TempDir::new().expect("a folder");
    let path = put(&folder, &tube());
    let found = compressed(&path, &document(&graph(json!({}))), 0.5);
    let Some(Unchanged::NothingLeft { largest, .. }) = found.groups[0].unchanged else {
        panic!("{:?}", found.groups)
    };
    assert!((0.005..0.05).contains(&largest), "{largest}");
    assert!(found.meshes.is_empty());
    // All poses alike but for noise: every one is a component of its own.
    let mut file = tube();
    file.mesh.morph_targets = noisy(POSES - 1, 200);
    for (t, target) in file.mesh.morph_targets.iter_mut().enumerate() {
        target.name = name(t + 1);
    }
    let path = put(&folder, &file);
    let found = compressed(&path, &document(&graph(json!({}))), 1e-6);
    let Some(Unchanged::NotSmaller {
        components,
        before,
        after,
    }) = found.groups[0].unchanged
    else {
        panic!("{:?}", found.groups)
    };
    assert!(
        components == POSES - 1 && after >= before,
        "{components}, {before}, {after}"
    );
    // The copy plays all the same.
    let out = folder.path().join("same.glb");
    write_compressed(&load(&path), &found, &out, GraphPlaces::default()).expect("written");
    assert_eq!(
        load(&out).asset.meshes[0].morph_targets,
        load(&path).asset.meshes[0].morph_targets
    );
}

#[test]
fn what_is_wrong_is_told() {
    let folder = TempDir::new().expect("a folder");
    let path = put(&folder, &tube());
    let run = |graph: &Value, options: CompressOptions| {
        let error = compress(&load(&path), &document(graph), &options).expect_err("refused");
        error.to_string()
    };
    let (plain, fine) = (graph(json!({})), options(1e-4));
    assert!(run(&plain, options(f64::NAN)).contains("'tolerance' is NaN"));
    assert!(run(&plain, options(-1.0)).contains("'tolerance' is -1"));
    let mut none = fine;
    none.components = Some(0);
    assert!(run(&plain, none).contains("'components' is 0, expected 1 or more"));
    let mut share = fine;
    share.drop_share = 1.5;
    assert!(run(&plain, share).contains("'drop_share' is 1.5, expected 0 to 1"));
    let wrong = graph(json!({ "drive": { "targets": vec!["bent_99"; POSES] } }));
    assert!(
        run(&wrong, fine).contains("no morph target 'bent_99'"),
        "{}",
        run(&wrong, fine)
    );
    let skinned = json!({ "sinew": "1.0", "stack": [{ "node": "skin", "method": "linear" }] });
    assert!(run(&skinned, fine).contains("no node 'drive_morphs'"));
    // Lists of numbers in objects, told at their places.
    let mixed = |weights: Value| {
        let mix = json!([{ "target": "bent_1", "weights": weights }]);
        let graph = graph(json!({ "drive": { "mix": mix } }));
        document(&graph).compile().map(|_| ())
    };
    assert!(mixed(json!(vec![0.5; POSES])).is_ok());
    let error = mixed(json!([0, "a"])).expect_err("a text").to_string();
    assert!(
        error.contains("tube.json:1:") && error.contains("'mix[0].weights' is a list"),
        "{error}"
    );
    assert!(error.contains("expected a list of numbers"), "{error}");
    // A file with another graph that needs the targets.
    let file = TubeFile {
        graph: Some(plain.clone()),
        ..tube()
    };
    let path = put(&folder, &file);
    let error = compress(&load(&path), &document(&plain), &fine).expect_err("refused");
    assert!(
        matches!(&error, CompressError::OtherGraph { target, .. } if target == "bent_1"),
        "{error}"
    );
    let character = load(&path);
    let own = Document::embedded(&character).expect("a graph");
    assert!(
        compress(&character, &own, &fine).is_ok(),
        "its own is what is reduced"
    );
}

#[test]
fn neither_file_appears_where_one_cannot() {
    let folder = TempDir::new().expect("a folder");
    let path = put(&folder, &tube());
    let found = compressed(&path, &document(&graph(json!({}))), 1e-4);
    let (good, bad) = (folder.path().join("out"), path.join("out"));
    for (glb, beside) in [(&good, &bad), (&bad, &good)] {
        let mut places = GraphPlaces::default();
        places.embed = false;
        places.beside = Some(beside);
        write_compressed(&load(&path), &found, glb, places).expect_err("a file is no folder");
        assert!(!good.exists());
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("list").count(), 1);
}

/// A character of ../shared/data: each corrective is played alone, before and after.
#[test]
fn the_males_correctives() {
    let Some(data) = sinew_testkit::shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let samples = sinew::io::pose_driver::read_samples(&data.join("psd/mh_male_psd_samples.json"));
    let (solvers, _) = sinew::psd::convert::from_samples(&samples.expect("samples"));
    let (text, _) = sinew::psd::convert::graph_text(&solvers);
    let document = Document::from_text("male.json", text, "");
    let path = data.join("psd/mh_male_psd.glb");
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().join("out.glb");
    let times: Vec<f64> = (0..=160).map(|i| f64::from(i) / 30.0).collect();
    for tolerance in [1e-3, 1e-4] {
        let found = compressed(&path, &document, tolerance);
        write_compressed(&load(&path), &found, &out, GraphPlaces::default()).expect("written");
        for group in &found.groups {
            let basis = group.basis.as_ref().expect("a basis");
            println!(
                "{tolerance:e} {}: {} to {}, {} to {} bytes, {:?}, {:?}",
                group.node,
                group.targets.len(),
                basis.names.len(),
                basis.bytes_before,
                basis.bytes_after,
                basis.report.error,
                group.unchanged
            );
            assert!(basis.report.reached, "{group:?}");
            assert_eq!(
                group.unchanged.is_none(),
                basis.bytes_after < basis.bytes_before
            );
        }
        // Poses that have little in common make a basis no smaller, but for short offsets.
        let is_smaller = found.groups.iter().any(|g| g.unchanged.is_none());
        assert_eq!(is_smaller, tolerance == 1e-3, "{:?}", found.groups);
        let after = Document {
            text: found.graph.clone(),
            ..document.clone()
        };
        let [a, b] = [(&path, &document), (&out, &after)]
            .map(|(path, document)| play(path, document, Some("psd_poses"), &times));
        // Eight targets, of which two drivers at most are far from rest at once: weights add up to less than three.
        for ((a, b), time) in a.positions.iter().zip(&b.positions).zip(&times) {
            let off = max_distance(a, b);
            assert!(off <= 3.0 * tolerance, "{tolerance}, {time}: {off}");
        }
    }
}
