//! `sinew::play`: from files and samples to frames.

use sinew::geom::{Asset, Channel, ChannelTarget, Clip, Interpolation, MorphTarget, Pose, Rig};
use sinew::graph::{BoundGraph, ParameterError, Plan, UpdateError};
use sinew::io::{Folders, ValueTable};
use sinew::play::{
    Character, Document, InputFiles, Output, PlayError, PlayInputs, Player, RunError, Runner,
    Values, ValuesError, parse_settings,
};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use tempfile::TempDir;

/// A unit square, two triangles, without normals.
const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
/// Moves the mesh by the parameter's share of a metre.
const SHIFT: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "parameters": {"w": {"type": "float", "default": 1, "min": 0, "max": 1}},
 "stack": [{"node": "transform", "transform": {"translation": [0, 0, 1]}, "weight": "$w"}]}"#;
/// Moves the mesh twice as far as single precision nearly reaches.
const FAR: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "parameters": {"w": {"type": "float", "default": 1, "min": 0, "max": 1}},
 "stack": [{"node": "transform", "transform": {"translation": [0, 0, 3e38]}, "weight": "$w"},
  {"node": "transform", "transform": {"translation": [0, 0, 3e38]}, "weight": "$w"}]}"#;
/// Weights of morph targets from the caller.
const MORPH: &str = r#"{"sinew": "1.0",
 "inputs": {"body": {"type": "mesh"}, "w": {"type": "values", "count": 1}},
 "stack": [{"node": "morph", "weights": "w"}]}"#;

/// Made once: it takes its time.
static ARM: LazyLock<Arc<Character>> = LazyLock::new(|| {
    let asset = sinew_samples::arm_with_hand().expect("a sample");
    Arc::new(Character::from_asset(asset))
});

fn arm() -> Arc<Character> {
    ARM.clone()
}

/// A temporary folder with the square in it.
fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    put(&folder, "square.obj", SQUARE);
    folder
}

fn put(folder: &TempDir, name: &str, text: &str) {
    std::fs::write(folder.path().join(name), text).expect("write");
}

fn square(folder: &TempDir) -> Arc<Character> {
    let path = folder.path().join("square.obj");
    Arc::new(Character::load(&path).expect("a correct file"))
}

fn plan(document: &Document) -> Arc<Plan> {
    Arc::new(document.compile().expect("a correct document"))
}

/// Compiles and binds.
fn bound(character: &Arc<Character>, document: &Document) -> (PlayInputs, Arc<BoundGraph>) {
    let plan = plan(document);
    let cast = PlayInputs::load(character.clone(), &plan, &document.folders).expect("assembles");
    let graph = cast.bind(&plan, &[]).expect("binds");
    (cast, graph)
}

fn player(character: &Arc<Character>, document: &Document) -> Player {
    let (cast, graph) = bound(character, document);
    let runner = Runner::cpu(&graph);
    Player::new(runner, cast, Vec::new(), None, 30.0).expect("plays")
}

fn positions(player: &Player) -> Vec<[f32; 3]> {
    let Runner::Cpu(instance) = player.runner() else {
        panic!("on the processor");
    };
    let body = instance.mesh_output("body").expect("output 'body'");
    body.positions.to_vec()
}

fn normals(player: &Player) -> Option<Vec<[f32; 3]>> {
    let Runner::Cpu(instance) = player.runner() else {
        panic!("on the processor");
    };
    let body = instance.mesh_output("body").expect("output 'body'");
    body.normals.map(<[_]>::to_vec)
}

fn table(values: &[f32], columns: usize) -> ValueTable {
    ValueTable {
        values: values.to_vec(),
        columns,
        is_list: true,
    }
}

/// One of its frames in place of all of them would be a wrong result.
#[test]
fn sequences_move_inputs_frame_by_frame() {
    let folder = folder();
    put(&folder, "wave_0001.obj", SQUARE);
    put(
        &folder,
        "wave_0002.obj",
        &SQUARE.replace("v 1 1 0", "v 1 1 3"),
    );
    let path = folder.path().join("wave_####.obj");
    let wave = Arc::new(Character::load(&path).expect("a sequence"));
    let plan = plan(&Document::from_text("shift.json", SHIFT, ""));
    let main = PlayInputs::load(wave, &plan, &folder.path().into());
    let files = [("body".to_owned(), path.clone())];
    let mut given = InputFiles::default();
    given.files = &files;
    let named = PlayInputs::load_with(arm(), &plan, &folder.path().into(), &given);
    for inputs in [main, named] {
        let mut inputs = inputs.expect("plays");
        for (frame, z) in [(1, 0.0), (2, 3.0)] {
            inputs.read_point_caches(frame, 0.0).expect("reads");
            let positions: Vec<_> = inputs.moved_positions().collect();
            assert_eq!(positions.len(), 1);
            assert_eq!(positions[0].1[2], [1.0, 1.0, z], "frame {frame}");
        }
    }
}

#[test]
fn characters_come_from_files() {
    let folder = folder();
    let square = square(&folder);
    assert_eq!(square.path, folder.path().join("square.obj"));
    assert_eq!(square.asset.meshes[0].vertex_count(), 4);
    assert!(square.source.is_none(), "OBJ has no glTF document");
    let none = Character::load(&folder.path().join("none.glb"));
    let error = none.expect_err("there is no such file");
    assert!(matches!(error, PlayError::Io(_)), "{error}");
    assert!(error.to_string().contains("none.glb"), "{error}");
}

#[test]
fn default_documents_play_every_sample() {
    let mut assets = crate::common::samples();
    assets.push(sinew_samples::sheet(300).expect("a sample"));
    for asset in assets {
        let character = Arc::new(Character::from_asset(asset));
        let name = &character.asset.name;
        let document = Document::of_character(&character);
        let mut player = player(&character, &document);
        player.advance(0).expect(name);
        let rest = positions(&player);
        player.advance(24).expect(name);
        assert_ne!(positions(&player), rest, "{name} moves");
        assert!(normals(&player).is_some(), "{name} has normals");
    }
}

#[test]
fn starter_documents_play_every_sample() {
    for asset in crate::common::samples() {
        let character = Arc::new(Character::from_asset(asset));
        for document in [Document::starter_for(&character), Document::starter()] {
            if character.asset.meshes.is_empty() {
                continue;
            }
            let mut player = player(&character, &document);
            player.advance(0).expect("a frame");
            let rest = positions(&player);
            player.advance(24).expect("a frame");
            assert_ne!(positions(&player), rest, "{}", character.asset.name);
            let unread = player.inputs().unread(&plan(&document));
            assert!(unread.is_empty(), "{unread:?}");
        }
    }
}

/// One vertex that a clip lifts by a morph target, on a rig without joints of its own.
#[test]
fn targets_that_a_clip_animates_and_nothing_reads_are_named() {
    let mut asset = arm().asset.clone();
    asset.meshes.truncate(1);
    let mut nodes = asset.rig.nodes().to_vec();
    nodes[0].morph_weights = vec![0.0, 0.0];
    asset.rig = Arc::new(Rig::new(nodes, asset.rig.joints().to_vec()).expect("a rig"));
    let target = |name: &str| MorphTarget {
        name: name.into(),
        vertices: vec![0],
        positions: vec![[0.0, 1.0, 0.0]],
        ..MorphTarget::default()
    };
    asset.meshes[0].morph_targets = vec![target("still"), target("lifted")];
    let channel = Channel::new(
        0,
        ChannelTarget::Weights,
        Interpolation::Linear,
        vec![0.0, 1.0],
        vec![0.0, 0.0, 0.0, 1.0],
        2,
    );
    asset.clips = vec![Clip::new("talk", vec![channel.expect("a channel")])];
    let character = Arc::new(Character::from_asset(asset));
    let unread = |text: &str| {
        let plan = plan(&Document::from_text("g.json", text, ""));
        let cast = PlayInputs::load(character.clone(), &plan, &Folders::default()).expect("inputs");
        cast.unread(&plan)
    };
    let skin = unread(r#"{"sinew": "1.0", "stack": [{"node": "skin"}]}"#);
    assert_eq!(skin.len(), 1, "{skin:?}");
    assert_eq!(skin[0].code, "unread_morph_targets");
    let expected = "clip 'talk' animates 1 of the 2 morph targets";
    assert!(skin[0].message.contains(expected), "{skin:?}");
    let both = unread(r#"{"sinew": "1.0", "stack": ["morph", "skin"]}"#);
    assert!(both.is_empty(), "{both:?}");
    let starter = unread(&Document::starter_for(&character).text);
    assert!(starter.is_empty(), "{starter:?}");
    // A driver's weight takes the place of the clip's, but only for the targets that it names.
    for (target, expected) in [("lifted", 0), ("still", 1)] {
        let driven = unread(&format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}}},
 "nodes": {{"driver": {{"node": "pose_driver", "pose": "pose", "joints": ["forearm"], "poses": [{{"name": "rest", "joints": [{{}}]}}]}},
  "weights": {{"node": "drive_morphs", "mesh": "body", "weights": "driver", "targets": ["{target}"]}},
  "shaped": {{"node": "morph", "mesh": "body", "weights": "weights"}},
  "skin": {{"node": "skin", "mesh": "shaped", "pose": "pose"}}}}, "outputs": {{"body": "skin"}}}}"#
        ));
        assert_eq!(driven.len(), expected, "{target}: {driven:?}");
        let said = driven.first().map_or("", |w| &w.message);
        assert!(
            said.is_empty() || said.contains("to use the clip"),
            "{said}"
        );
    }
}

#[test]
fn default_document_of_the_arm_is_linear_skinning() {
    let arm = arm();
    let mut default = player(&arm, &Document::of_character(&arm));
    let example = Document::from_text(
        "skin_linear",
        sinew::deform::find_example("skin_linear")
            .expect("there")
            .graph,
        "",
    );
    let mut example = player(&arm, &example);
    for number in [0, 20, 54] {
        default.advance(number).expect("a frame");
        example.advance(number).expect("a frame");
        assert_eq!(positions(&default), positions(&example), "frame {number}");
    }
}

#[test]
fn default_document_passes_a_plain_mesh_through() {
    let folder = folder();
    let square = square(&folder);
    let document = Document::of_character(&square);
    assert!(plan(&document).nodes().is_empty(), "{}", document.text);
    let mut player = player(&square, &document);
    player.advance(3).expect("a frame");
    assert_eq!(positions(&player), square.asset.meshes[0].positions);
    let normals = normals(&player).expect("made when the graph is bound");
    assert_eq!(normals, [[0.0, 0.0, 1.0]; 4]);
}

#[test]
fn default_document_leaves_out_what_cannot_bind() {
    // Morph targets without weights in a rig; joint weights on one of two meshes only.
    let mut asset = arm().asset.clone();
    let mut prop = asset.meshes[0].clone();
    prop.influences = None;
    asset.meshes.push(prop);
    let some_bound = Arc::new(Character::from_asset(asset.clone()));
    asset.meshes.truncate(1);
    asset.meshes[0].influences = None;
    asset.rig = Arc::default();
    asset.clips.clear();
    asset.meshes[0].morph_targets = vec![MorphTarget {
        name: "lifted".into(),
        vertices: vec![0],
        positions: vec![[0.0, 1.0, 0.0]],
        ..MorphTarget::default()
    }];
    let no_rig = Arc::new(Character::from_asset(asset));
    for (character, nodes) in [(some_bound, 1), (no_rig, 0)] {
        let document = Document::of_character(&character);
        assert_eq!(plan(&document).nodes().len(), nodes, "{}", document.text);
        player(&character, &document).advance(0).expect("a frame");
    }
}

#[test]
fn embedded_documents_come_first() {
    let folder = folder();
    let mut character = Character::load(&folder.path().join("square.obj")).expect("a file");
    assert_eq!(Document::embedded(&character), None);
    character.asset.graph = Some(SHIFT.to_owned());
    let document = Document::of_character(&character);
    assert_eq!(Document::embedded(&character).as_ref(), Some(&document));
    assert_eq!(document.folders.own(), folder.path());
    assert!(document.name.ends_with("square.obj (embedded graph)"));
    let mut player = player(&Arc::new(character), &document);
    player.advance(0).expect("a frame");
    assert_eq!(positions(&player)[2], [1.0, 1.0, 1.0]);
}

#[test]
fn problems_of_documents_are_told_with_their_place() {
    let document = Document::from_text("wrong.json", r#"{"sinew": "1.0", "stack": ["skim"]}"#, "");
    let problems = document.compile().expect_err("no such node");
    assert_eq!(problems.0[0].code, "unknown_node");
    assert!(problems.to_string().starts_with("wrong.json:1:"));
}

#[test]
fn inputs_take_other_files_once() {
    let folder = folder();
    put(
        &folder,
        "two.json",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"},
 "other": {"type": "mesh", "file": "square.obj"}, "again": {"type": "pose", "file": "square.obj"}},
 "outputs": {"body": "body", "other": "other"}}"#,
    );
    let document = Document::from_file(&folder.path().join("two.json")).expect("a file");
    let arm = arm();
    let (cast, graph) = bound(&arm, &document);
    let loaded: Vec<&Path> = cast.loaded().iter().map(|c| c.path.as_path()).collect();
    assert_eq!(loaded, [folder.path().join("square.obj")]);
    assert!(Arc::ptr_eq(cast.main(), &arm), "shared, not copied");
    assert_eq!((cast.characters().len(), cast.poses().len()), (2, 2));
    let posed: Vec<(usize, &Pose)> = cast.posed_inputs().collect();
    assert!(matches!(posed[..], [(2, pose)] if std::ptr::eq(pose, &cast.poses()[1])));
    let runner = Runner::cpu(&graph);
    let mut player = Player::new(runner, cast, Vec::new(), None, 30.0).expect("plays");
    player.advance(0).expect("a frame");
    let outputs = player.read_outputs().expect("outputs");
    let names: Vec<&str> = outputs.iter().map(|o| o.0.as_str()).collect();
    assert_eq!(names, ["body", "other"]);
    assert!(matches!(&outputs[1].1, Output::Mesh(m) if m.positions.len() == 4));
}

#[test]
fn inputs_that_cannot_be_had_are_errors() {
    let arm = arm();
    let assemble = |input: &str| {
        let text = format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {input}}}, "outputs": {{"body": "body"}}}}"#
        );
        let plan = plan(&Document::from_text("test.json", text, ""));
        PlayInputs::load(arm.clone(), &plan, &Folders::default()).expect_err(input)
    };
    let error = assemble(r#"{"type": "mesh", "select": "Leg*"}"#);
    assert!(matches!(error, PlayError::Selection { .. }), "{error}");
    let error = assemble(r#"{"type": "mesh", "file": "nowhere.glb"}"#);
    assert!(matches!(error, PlayError::Io(_)), "{error}");
}

#[test]
fn players_of_one_character_share_it() {
    let arm = arm();
    let document = Document::of_character(&arm);
    let (cast, graph) = bound(&arm, &document);
    let new = || {
        let runner = Runner::cpu(&graph);
        Player::new(runner, cast.clone(), Vec::new(), None, 30.0).expect("plays")
    };
    let (mut early, mut late) = (new(), new());
    assert_eq!((early.clip(), early.frame()), (Some("bend"), None));
    for number in 0..3 {
        early.advance(number).expect("a frame");
        late.advance(number + 30).expect("a frame");
    }
    assert_eq!((early.frame(), late.frame()), (Some(2), Some(32)));
    assert_eq!(late.time_secs(15), 0.5);
    assert!(Arc::ptr_eq(early.inputs().main(), late.inputs().main()));
    assert!(Arc::ptr_eq(early.graph(), late.graph()));
    let mut alone = player(&arm, &document);
    for (player, number) in [(&early, 2), (&late, 32)] {
        alone.advance(number).expect("a frame");
        assert_eq!(positions(player), positions(&alone), "frame {number}");
    }
}

#[test]
fn read_outputs_are_copies_of_the_borrowed_ones() {
    let arm = arm();
    let mut player = player(&arm, &Document::of_character(&arm));
    player.advance(12).expect("a frame");
    let outputs = player.read_outputs().expect("outputs");
    let [(name, Output::Mesh(mesh))] = &outputs[..] else {
        panic!("one mesh, found {} outputs", outputs.len());
    };
    assert_eq!(name, "body");
    assert_eq!(mesh.positions, positions(&player));
    assert_eq!(mesh.normals, normals(&player));
}

/// The distances of a ball of radius 0.5 around (3, 0, 0), node by node where the matrix says that nodes are.
#[test]
fn fields_are_read_as_grids() {
    let mut ball = sinew_testkit::meshes::sphere(48, 96);
    for p in &mut ball.positions {
        *p = [3.0 + 0.5 * p[0], 0.5 * p[1], 0.5 * p[2]];
    }
    let asset = Asset {
        name: "ball".into(),
        meshes: vec![ball],
        ..Asset::default()
    };
    let character = Arc::new(Character::from_asset(asset));
    let text = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "nodes": {"field": {"node": "sdf", "mesh": "body", "cells": 24}, "rods": {"node": "solids", "capsules": [{"from": [0, 0, 0], "to": [1, 0, 0], "radius": 0.1}]}},
 "outputs": {"field": "field", "rods": "rods"}}"#;
    let mut player = player(&character, &Document::from_text("field.json", text, ""));
    player.advance(0).expect("a frame");
    let fields = player.read_fields().expect("fields");
    let [(name, grid)] = &fields[..] else {
        panic!("one grid, found {}", fields.len());
    };
    assert_eq!(name, "field");
    let [nx, ny, nz] = grid.nodes;
    let mut distances = grid.distances.iter();
    let mut near = 0;
    for (i, j, k) in
        (0..nx).flat_map(|i| (0..ny).flat_map(move |j| (0..nz).map(move |k| (i, j, k))))
    {
        let node = [i as f32, j as f32, k as f32, 1.0];
        let at = grid
            .scene_from_node
            .map(|row| (0..4).map(|c| row[c] * node[c]).sum::<f32>());
        let expected = ((at[0] - 3.0).powi(2) + at[1].powi(2) + at[2].powi(2)).sqrt() - 0.5;
        let found = *distances.next().expect("a distance for each node");
        if expected.abs() < 0.05 {
            near += 1;
            // The facets of the ball are that far inside of it.
            assert!(
                (found - expected).abs() < 2e-3,
                "{at:?}: {found} {expected}"
            );
        }
    }
    assert!(near > 500 && distances.next().is_none(), "{near}");
}

#[test]
fn restarted_players_are_as_new() {
    let arm = arm();
    let mut player = player(&arm, &Document::of_character(&arm));
    let previous = |player: &Player| {
        let Runner::Cpu(instance) = player.runner() else {
            panic!("on the processor");
        };
        let body = instance.mesh_output("body").expect("output 'body'");
        body.previous_positions.to_vec()
    };
    player.advance(0).expect("a frame");
    player.advance(30).expect("a frame");
    assert_ne!(previous(&player), positions(&player));
    player.restart();
    assert_eq!(player.frame(), None);
    player.advance(30).expect("a frame");
    assert_eq!(previous(&player), positions(&player));
}

#[test]
fn wrong_clips_are_refused() {
    let arm = arm();
    assert_eq!(
        arm.find_clip_name(None).expect("the first"),
        Some("bend".to_owned())
    );
    let error = arm.find_clip_name(Some("walk")).expect_err("no such clip");
    let PlayError::NoClip { name, known, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(
        (name.as_str(), known.len()),
        ("walk", arm.asset.clips.len())
    );
    assert!(
        error
            .to_string()
            .contains("has no clip 'walk'; known: bend")
    );
    let (cast, graph) = bound(&arm, &Document::of_character(&arm));
    let runner = Runner::cpu(&graph);
    let refused = Player::new(runner, cast, Vec::new(), Some("walk"), 30.0);
    assert!(matches!(refused, Err(PlayError::NoClip { .. })));
    let still = Character::from_asset(Asset::default());
    assert_eq!(still.find_clip_name(None).expect("none"), None);
}

/// The square's corner 0 goes up by 2 m, half of it at full expression.
#[test]
fn expressions_add_to_clips_and_poses() {
    let folder = folder();
    let mut character = Character::clone(&square(&folder));
    let mesh = &mut character.asset.meshes[0];
    mesh.morph_targets = vec![MorphTarget {
        name: "up".into(),
        vertices: vec![0],
        positions: vec![[0.0, 0.0, 2.0]],
        ..MorphTarget::default()
    }];
    let node = sinew::geom::Node {
        name: "face".into(),
        parent: None,
        local: sinew::geom::LocalTransform::Trs(sinew::geom::Trs::default()),
        morph_weights: vec![0.25],
        morph_offset: 0,
    };
    character.asset.rig = Arc::new(Rig::new(vec![node], Vec::new()).expect("valid"));
    character.asset.expressions = vec![sinew::geom::Expression {
        name: "happy".into(),
        targets: vec![sinew::geom::ExpressionTarget {
            weight: 0,
            amount: 0.5,
        }],
        ..sinew::geom::Expression::default()
    }];
    let text = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}}, "stack": [{"node": "morph"}]}"#;
    let mut player = player(&Arc::new(character), &Document::from_text("g", text, ""));
    player.advance(0).expect("a frame");
    assert_eq!(positions(&player)[0][2], 0.5);
    player.set_expression("happy", 1.0).expect("known");
    player.advance(1).expect("a frame");
    assert_eq!(positions(&player)[0][2], 1.5);
    player.advance(1).expect("a frame");
    assert_eq!(positions(&player)[0][2], 1.5, "added once");
    let mut pose = player.inputs().main().asset.rig.rest_pose();
    pose.morph_weights[0] = 1.0;
    player.advance_posed(2, &pose).expect("a frame");
    assert_eq!(positions(&player)[0][2], 3.0);
    let error = player.set_expression("hapy", 1.0).expect_err("unknown");
    assert!(
        error.to_string().contains("did you mean 'happy'?"),
        "{error}"
    );
    let error = player
        .set_expression("happy", f32::NAN)
        .expect_err("no number");
    assert!(
        matches!(error, PlayError::ExpressionWeight { .. }),
        "{error}"
    );
    player.advance(3).expect("a frame");
    assert_eq!(positions(&player)[0][2], 1.5, "errors change nothing");
}

#[test]
fn wrong_settings_are_refused() {
    let folder = folder();
    let square = square(&folder);
    let plan = plan(&Document::from_text("shift.json", SHIFT, ""));
    let cast = PlayInputs::load(square, &plan, &Folders::default()).expect("assembles");
    let set = parse_settings(&plan, &[("w", "0.25")]).expect("fits");
    let graph = cast.bind(&plan, &set).expect("binds");
    let runner = Runner::cpu(&graph);
    let mut player = Player::new(runner, cast, Vec::new(), None, 30.0).expect("plays");
    player.advance(0).expect("a frame");
    assert_eq!(positions(&player)[0], [0.0, 0.0, 0.25]);
    let error = parse_settings(&plan, &[("w", "1"), ("v", "1")]).expect_err("no such parameter");
    assert!(matches!(
        &error,
        PlayError::Setting { name, source: ParameterError::Unknown { .. }, .. } if name == "v"
    ));
    let error = parse_settings(&plan, &[("w", "5")]).expect_err("too large");
    assert!(
        error.to_string().starts_with("w=5: parameter 'w': "),
        "{error}"
    );
}

#[test]
fn wrong_speeds_are_refused() {
    let folder = folder();
    let square = square(&folder);
    let (cast, graph) = bound(&square, &Document::of_character(&square));
    for fps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let runner = Runner::cpu(&graph);
        let refused = Player::new(runner, cast.clone(), Vec::new(), None, fps);
        assert!(matches!(refused, Err(PlayError::Fps { .. })), "{fps}");
    }
}

#[test]
fn values_come_row_by_row_or_once() {
    let plan = plan(&Document::from_text("morph.json", MORPH, ""));
    let rows = Values::of_table(&plan, "w", table(&[0.0, 1.0, 2.0], 3), "list", 2);
    let rows = rows.expect("three frames");
    assert_eq!((rows.input(), rows.of_frame(2)), (1, &[2.0][..]));
    assert!(rows.of_frame(3).is_empty() && rows.of_frame(-1).is_empty());
    let once = Values::of_table(&plan, "w", table(&[0.5], 1), "list", 100).expect("constant");
    assert_eq!(once.of_frame(77), [0.5]);
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let plan = plan(&Document::from_text("morph.json", MORPH, ""));
    let of = |name: &str, table: ValueTable, last_frame: i64| {
        let values = Values::of_table(&plan, name, table, "list", last_frame);
        values.expect_err("does not fit")
    };
    let pairs = ValueTable {
        is_list: false,
        ..table(&[0.0, 1.0], 2)
    };
    assert!(matches!(
        of("v", table(&[0.0], 1), 0),
        ValuesError::NoInput { .. }
    ));
    assert!(matches!(
        of("body", table(&[0.0], 1), 0),
        ValuesError::NoInput { .. }
    ));
    assert_eq!(
        of("w", pairs, 0).to_string(),
        "input 'w': list: found 2 values per frame, expected 1"
    );
    assert_eq!(
        of("w", table(&[0.0, 1.0], 2), 2).to_string(),
        "input 'w': list: found 2 rows, expected one for each frame from 0 to 2"
    );
}

#[test]
fn missing_values_are_refused() {
    let arm = arm();
    let (cast, graph) = bound(&arm, &Document::from_text("morph.json", MORPH, ""));
    let plan = graph.plan();
    let error = Values::read_all(plan, &[], 0).expect_err("one is missing");
    assert_eq!(
        error.to_string(),
        "input 'w' (values, count 1) is not given"
    );
    let new = |values: Vec<Values>| {
        let runner = Runner::cpu(&graph);
        Player::new(runner, cast.clone(), values, None, 30.0)
    };
    let refused = new(Vec::new());
    assert!(matches!(
        refused,
        Err(PlayError::Values(ValuesError::Missing { .. }))
    ));
    // Frames behind the last row are refused when they come, and the player goes on after that.
    let rows = Values::of_table(plan, "w", table(&[0.0, 1.0], 2), "list", 1).expect("fits");
    let mut player = new(vec![rows]).expect("plays");
    player.advance(1).expect("the last row");
    let error = player.advance(2).expect_err("there is no row");
    let PlayError::Update { frame: 2, source } = &error else {
        panic!("{error}");
    };
    let fits = matches!(source, RunError::Frame(UpdateError::ValueCount { .. }));
    assert!(fits, "{error}");
    assert_eq!(player.frame(), Some(1));
    player.advance(0).expect("back again");
}

#[test]
fn values_come_from_files() {
    let folder = folder();
    put(&folder, "w.json", "[0, 0.5]");
    let plan = plan(&Document::from_text("morph.json", MORPH, ""));
    let file = folder.path().join("w.json");
    let read = Values::read_all(&plan, &[("w", &file)], 1).expect("fits");
    assert_eq!(read[0].of_frame(1), [0.5]);
    let twice = Values::read_all(&plan, &[("w", &file), ("w", &file)], 1);
    assert!(matches!(
        twice,
        Err(PlayError::Values(ValuesError::Twice { .. }))
    ));
    let none = folder.path().join("none.json");
    let none = Values::read_all(&plan, &[("w", &none)], 1);
    assert!(matches!(none, Err(PlayError::Io(_))));
}

#[test]
fn positions_that_are_not_finite_are_errors() {
    let folder = folder();
    let square = square(&folder);
    let mut player = player(&square, &Document::from_text("far.json", FAR, ""));
    let error = player.advance(4).expect_err("beyond single precision");
    let PlayError::NotFinite {
        frame,
        output,
        vertex,
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!((*frame, output.as_str(), *vertex), (4, "body", 0));
    let again = player.read_outputs().expect_err("still");
    assert_eq!(again.to_string(), error.to_string());
}

#[cfg(feature = "gpu")]
mod graphics {
    use super::*;

    /// Metres; arm and hand are about one metre long, and the devices round differently.
    const TOLERANCE: f32 = 1e-5;

    #[test]
    fn players_share_the_callers_device() {
        let Some(gpu) = sinew_gpu::test_support::gpu() else {
            return;
        };
        let arm = arm();
        let document = Document::of_character(&arm);
        let (cast, graph) = bound(&arm, &document);
        let new = || {
            let runner = Runner::gpu(&gpu, &graph).expect("runs on the device");
            Player::new(runner, cast.clone(), Vec::new(), None, 30.0).expect("plays")
        };
        let mut on_processor = player(&arm, &document);
        for (mut on_device, number) in [(new(), 12), (new(), 54)] {
            on_device.advance(0).expect("a frame");
            on_device.advance(number).expect("a frame");
            on_processor.advance(number).expect("a frame");
            let expected = positions(&on_processor);
            check(&mut on_device, &expected);
            on_device.restart();
            on_device.advance(number).expect("a frame");
            check(&mut on_device, &expected);
        }
    }

    fn check(player: &mut Player, expected: &[[f32; 3]]) {
        let outputs = player.read_outputs().expect("outputs");
        let [(_, Output::Mesh(mesh))] = &outputs[..] else {
            panic!("one mesh, found {} outputs", outputs.len());
        };
        let found = mesh.positions.as_flattened().iter();
        let pairs = found.zip(expected.as_flattened());
        let most = pairs.fold(0.0_f32, |most, (a, b)| most.max((a - b).abs()));
        assert_eq!(mesh.positions.len(), expected.len());
        assert!(most < TOLERANCE, "frame {:?}: {most}", player.frame());
    }

    #[test]
    fn frames_that_do_not_fit_are_the_same_error() {
        let Some(gpu) = sinew_gpu::test_support::gpu() else {
            return;
        };
        let arm = arm();
        let (cast, graph) = bound(&arm, &Document::from_text("morph.json", MORPH, ""));
        let rows = Values::of_table(graph.plan(), "w", table(&[0.0, 1.0], 2), "list", 1);
        let runner = Runner::gpu(&gpu, &graph).expect("runs on the device");
        let values = vec![rows.expect("fits")];
        let mut player = Player::new(runner, cast, values, None, 30.0).expect("plays");
        player.advance(1).expect("the last row");
        let error = player.advance(2).expect_err("there is no row");
        assert!(matches!(
            error,
            PlayError::Update {
                frame: 2,
                source: RunError::Frame(UpdateError::ValueCount { .. })
            }
        ));
    }

    #[test]
    fn positions_that_are_not_finite_are_found_when_they_are_read() {
        let Some(gpu) = sinew_gpu::test_support::gpu() else {
            return;
        };
        let folder = folder();
        let square = square(&folder);
        let (cast, graph) = bound(&square, &Document::from_text("far.json", FAR, ""));
        let runner = Runner::gpu(&gpu, &graph).expect("runs on the device");
        let mut player = Player::new(runner, cast, Vec::new(), None, 30.0).expect("plays");
        player.advance(4).expect("nothing is read back");
        let error = player.read_outputs().expect_err("beyond single precision");
        assert!(
            matches!(error, PlayError::NotFinite { frame: 4, .. }),
            "{error}"
        );
    }
}

/// A solver sees every frame on the way; nodes that remember nothing are asked for one.
#[test]
fn solvers_are_played_up_to_the_frame() {
    let head = Arc::new(Character::from_asset(
        sinew_samples::head().expect("a head"),
    ));
    let text = r#"{"sinew": "1.0",
 "inputs": {"pose": {"type": "pose"}, "hair": {"type": "strands"}},
 "nodes": {"sim": {"node": "hair_sim", "strands": "hair", "pose": "pose"}}, "outputs": {"hair": "sim"}}"#;
    let mut played = player(&head, &Document::from_text("hair.json", text, ""));
    let seek = |player: &mut Player, number| -> Vec<i64> {
        let mut way = Vec::new();
        let found = player.seek(number, |n| -> Result<(), PlayError> {
            way.push(n);
            Ok(())
        });
        found.expect("plays");
        way
    };
    assert_eq!(seek(&mut played, 3), [0, 1, 2, 3]);
    assert_eq!(seek(&mut played, 5), [4, 5]);
    assert_eq!(
        seek(&mut played, 2),
        [0, 1, 2],
        "back is from the beginning"
    );
    let shape = |p: &Player| {
        let Runner::Cpu(instance) = p.runner() else {
            panic!("on the processor")
        };
        instance
            .mesh_output("hair")
            .expect("hair")
            .positions
            .to_vec()
    };
    let back = shape(&played);
    let mut other = player(&head, &Document::from_text("hair.json", text, ""));
    for n in 0..3 {
        other.advance(n).expect("plays");
    }
    assert_eq!(back, shape(&other));
    let mut plain = player(&arm(), &Document::of_character(&arm()));
    assert_eq!(seek(&mut plain, 7), [7]);
}

/// A mesh or a camera with the name of a joint, before it in the file, changes no graph that names the joint.
#[test]
fn nodes_with_the_names_of_joints_change_nothing() {
    let plain = arm();
    let mut asset = plain.asset.clone();
    let rig = asset.rig.clone();
    let named: Vec<usize> = rig.joints().iter().map(|j| j.node).collect();
    let count = named.len();
    let still = |n: &usize| sinew::geom::Node {
        parent: None,
        local: sinew::geom::LocalTransform::Trs(sinew::geom::Trs::default()),
        morph_weights: Vec::new(),
        ..rig.nodes()[*n].clone()
    };
    let mut nodes: Vec<_> = named.iter().map(still).collect();
    nodes.extend(rig.nodes().iter().cloned().map(|mut n| {
        n.parent = n.parent.map(|p| p + count);
        n
    }));
    let joints = rig.joints().iter().cloned().map(|mut j| {
        j.node += count;
        j
    });
    asset.rig = Arc::new(Rig::new(nodes, joints.collect()).expect("a rig"));
    for clip in &mut asset.clips {
        let channels = clip.channels().iter().cloned().map(|mut c| {
            c.node += count;
            c
        });
        *clip = Clip::new(clip.name.clone(), channels.collect());
    }
    let shadowed = Arc::new(Character::from_asset(asset));
    let of_arm = sinew::deform::examples().filter(|e| e.sample == "arm");
    for example in of_arm {
        let document = Document::from_text(example.name, example.graph, "");
        let found = [&plain, &shadowed].map(|character| {
            let mut player = player(character, &document);
            [0, 6, 12, 24].iter().for_each(|f| {
                player
                    .seek(*f, |_| Ok::<(), PlayError>(()))
                    .expect(example.name);
            });
            positions(&player)
        });
        assert_eq!(found[0], found[1], "{}", example.name);
    }
}

/// No node loses a pose whose joints are matrices: `advance_posed` gives what the clip gives.
#[test]
fn poses_of_matrices_give_the_same_as_the_clip() {
    let arm = arm();
    let rig = &arm.asset.rig;
    let mut pose = rig.rest_pose();
    for example in sinew::deform::examples().filter(|e| e.sample == "arm") {
        let document = Document::from_text(example.name, example.graph, "");
        let (mut by_clip, mut by_pose) = (player(&arm, &document), player(&arm, &document));
        for frame in [0, 6, 12, 24] {
            by_clip.advance(frame).expect(example.name);
            let clip = arm.asset.find_clip(by_clip.clip());
            rig.evaluate(clip, by_clip.time_secs(frame), &mut pose);
            let scene = pose.scene_from_node.clone();
            rig.pose_in_scene(|node| Some(scene[node]), &mut pose);
            by_pose.advance_posed(frame, &pose).expect(example.name);
            let both = positions(&by_clip).into_iter().zip(positions(&by_pose));
            let off = |(a, b): ([f32; 3], [f32; 3])| {
                (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f32::max)
            };
            let most = both.map(off).fold(0.0, f32::max);
            assert!(most < 1e-6, "{} in frame {frame}: {most}", example.name);
        }
    }
}
