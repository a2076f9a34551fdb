//! Hair in graphs: strands, fields and colliders together, as documents say it.

use crate::common::hair_held::truth::Depths;
use crate::common::hair_held::{
    DEEPEST, DEEPEST_IN_MESH, FRAMES_AT_REST, MEAN_REST_SPEED, MOST_RESTLESS, MOST_STRETCHED,
    Measured, REST_SPEED, RESTLESS_SPEED, Scene, frames, margins, rest_frames,
};
use sinew::deform::collide::{Distance, FieldCollider};
use sinew::deform::hair_sim::{FollowerSettings, place_followers};
use sinew::deform::sdf::FieldWords;
use sinew::deform::{Par, ParameterValue, Phase};
use sinew::geom::{Mesh, Strands, Topology, Vec3};
use sinew::graph::{
    BindError, BoundGraph, Frame, InputBinding, InputType, Instance, NoNesting, compile,
};
use sinew::play::{Character, Document, PlayInputs, Player, Runner};
use sinew_testkit::meshes;
use std::sync::Arc;

/// Strands that hang from a grid of roots, `across` of them a side, from above onto the origin.
fn hair(across: u8, vertices: usize) -> Mesh {
    let count = usize::from(across) * usize::from(across);
    let strands = Strands::new(std::iter::repeat_n(vertices, count)).expect("valid");
    let at = |i: u8| 0.4 * (f32::from(i) / f32::from(across - 1) - 0.5);
    let roots = (0..across).flat_map(|x| (0..across).map(move |z| [at(x), 1.2, at(z)]));
    let down = |[x, y, z]: [f32; 3]| (0..vertices).map(move |k| [x, y - 0.04 * k as f32, z]);
    let positions = roots.flat_map(down).collect();
    Mesh::new("hair", Topology::from_strands(strands), positions)
}

fn bind(text: &str, hair: &Mesh, body: &Mesh) -> Result<Arc<BoundGraph>, BindError> {
    let plan = compile("hair.json", text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let input = |ty| match ty {
        InputType::Strands => InputBinding::Mesh(Arc::new(hair.clone())),
        InputType::Mesh => InputBinding::Mesh(Arc::new(body.clone())),
        InputType::Pose => InputBinding::Pose(Arc::default()),
        InputType::Values | InputType::VertexAnimation => InputBinding::Values,
    };
    let inputs: Vec<InputBinding> = plan.inputs().iter().map(|i| input(i.ty)).collect();
    BoundGraph::bind(Arc::new(plan), &inputs, &[], Par::Seq).map(Arc::new)
}

fn document(nodes: &str, colliders: &str) -> String {
    format!(
        r#"{{"sinew": "1.0", "inputs": {{"hair": {{"type": "strands"}}, "body": {{"type": "mesh"}}}},
 "nodes": {{{nodes} "sim": {{"node": "hair_sim", "strands": "hair", {colliders}}}}}, "outputs": {{"hair": "sim"}}}}"#
    )
}

const BALL: &str = r#""ball": {"node": "solids", "capsules": [{"from": [0, 0.5, 0], "to": [0, 0.5, 0], "radius": 0.3}]},"#;

fn frame(number: u32) -> Frame<'static> {
    Frame::at(f64::from(number) / 60.0).dt(if number == 0 { 0.0 } else { 1.0 / 60.0 })
}

fn positions(instance: &Instance) -> Vec<[f32; 3]> {
    instance
        .mesh_output("hair")
        .expect("there")
        .positions
        .to_vec()
}

fn run(instance: &mut Instance, numbers: std::ops::Range<u32>, par: Par) -> Vec<[f32; 3]> {
    for number in numbers {
        instance.update(&frame(number), par).expect("fits");
    }
    positions(instance)
}

#[test]
fn strands_rest_on_a_ball() {
    let hair = hair(5, 24);
    let graph = bind(
        &document(BALL, r#""colliders": "ball", "local_stiffness": 0"#),
        &hair,
        &meshes::cube(),
    );
    let mut instance = graph.expect("binds").instance();
    let found = run(&mut instance, 0..180, Par::Seq);
    let distance = |p: &[f32; 3]| (p[0].powi(2) + (p[1] - 0.5).powi(2) + p[2].powi(2)).sqrt() - 0.3;
    let deepest = found.iter().map(distance).fold(f32::INFINITY, f32::min);
    assert!(deepest > -1e-3, "a vertex is {deepest} deep");
    let touching = found.iter().filter(|p| distance(p) < 0.01).count();
    assert!(touching > 50, "{touching} vertices lie on it");
    let out = instance.mesh_output("hair").expect("there");
    let tangents = out.tangents.expect("made");
    assert!(
        tangents
            .iter()
            .all(|t| ((t[0] * t[0] + t[1] * t[1] + t[2] * t[2]).sqrt() - 1.0).abs() < 1e-3)
    );
}

/// A grid of distances to a mesh in place of the ball gives the same picture.
#[test]
fn a_grid_holds_strands_as_the_solid_does() {
    let hair = hair(5, 24);
    let mut ball = meshes::sphere(24, 48);
    for p in &mut ball.positions {
        *p = [0.3 * p[0], 0.5 + 0.3 * p[1], 0.3 * p[2]];
    }
    let text = document(
        r#""field": {"node": "sdf", "mesh": "body", "cells": 48},"#,
        r#""colliders": ["field"], "local_stiffness": 0"#,
    );
    let mut instance = bind(&text, &hair, &ball).expect("binds").instance();
    assert_eq!(
        instance.graph().program().steps(Phase::Setup).len(),
        1,
        "what stands still is built once"
    );
    let found = run(&mut instance, 0..120, Par::Seq);
    let cell = 0.6 / 48.0;
    let distance = |p: &[f32; 3]| (p[0].powi(2) + (p[1] - 0.5).powi(2) + p[2].powi(2)).sqrt() - 0.3;
    let deepest = found.iter().map(distance).fold(f32::INFINITY, f32::min);
    // The mesh itself lies up to 0.002 inside the ball.
    assert!(deepest > -0.002 - 0.1 * cell, "a vertex is {deepest} deep");
}

#[test]
fn margins_belong_to_pairs() {
    let hair = hair(3, 24);
    let two =
        format!(r#"{BALL} "wall": {{"node": "solids", "planes": [{{"point": [0, 0.45, 0]}}]}},"#);
    let lowest = |margins: &str| {
        let text = document(
            &two,
            &format!(
                r#""colliders": ["ball", "wall"], "margins": {margins}, "local_stiffness": 0, "damping": 8"#
            ),
        );
        let mut instance = bind(&text, &hair, &meshes::cube())
            .expect("binds")
            .instance();
        let found = run(&mut instance, 0..240, Par::Seq);
        let to_ball =
            |p: &[f32; 3]| (p[0].powi(2) + (p[1] - 0.5).powi(2) + p[2].powi(2)).sqrt() - 0.3;
        let least =
            |of: &dyn Fn(&[f32; 3]) -> f32| found.iter().map(of).fold(f32::INFINITY, f32::min);
        [least(&to_ball), least(&|p| p[1] - 0.45)]
    };
    let [ball, wall] = lowest("[0.05, 0.1]");
    assert!((ball - 0.05).abs() < 2e-3 && wall > 0.098, "{ball} {wall}");
    let [ball, wall] = lowest("[0.1, 0]");
    assert!((ball - 0.1).abs() < 2e-3 && wall > -2e-3, "{ball} {wall}");
}

#[test]
fn threads_saved_states_and_resets_change_nothing() {
    let hair = hair(7, 16);
    let text = document(BALL, r#""colliders": "ball", "wind": [1.5, 0, 0.5]"#);
    let graph = bind(&text, &hair, &meshes::cube()).expect("binds");
    let mut one = graph.instance();
    let expected = run(&mut one, 0..30, Par::Seq);
    let saved = one.save_state();
    let later = run(&mut one, 30..45, Par::Seq);
    for threads in [2, 3] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let mut other = graph.instance();
        let found = pool.install(|| run(&mut other, 0..30, Par::Rayon));
        assert!(found == expected, "{threads} threads");
    }
    let mut other = graph.instance();
    run(&mut other, 0..3, Par::Seq);
    other.restore_state(&saved).expect("of this graph");
    assert!(run(&mut other, 30..45, Par::Seq) == later, "goes on");
    other.reset();
    assert!(run(&mut other, 0..30, Par::Seq) == expected, "begins again");
}

#[test]
fn what_does_not_fit_is_told() {
    let hair = hair(3, 8);
    let cube = meshes::cube();
    let error = |text: &str, hair: &Mesh| bind(text, hair, &cube).expect_err("refused").to_string();
    let plain = document("", r#""damping": 1"#);
    let found = error(&plain, &cube);
    assert_eq!(
        found,
        "input 'hair' takes strands, but the bound mesh has none"
    );
    let of_body = plain.replace(r#""strands": "hair""#, r#""strands": "body""#);
    let found = error(&of_body, &hair);
    assert!(
        found.contains(
            "node 'sim' (hair_sim): input 'strands': found a mesh of triangles, expected strands"
        ),
        "{found}"
    );
    let found = error(
        &document(BALL, r#""colliders": "ball", "margins": [0.1, 0.2]"#),
        &hair,
    );
    assert!(found.contains("'margins': found 2 numbers, expected no number, one for all colliders, or one for each collider (1)"), "{found}");
    let found = error(
        &document(
            r#""field": {"node": "sdf", "mesh": "hair"},"#,
            r#""colliders": "field""#,
        ),
        &hair,
    );
    assert!(found.contains("the mesh has no triangles"), "{found}");
    let check = |text: &str| {
        compile("hair.json", text, &NoNesting)
            .expect_err("refused")
            .to_string()
    };
    let nine = [r#""ball""#; 9].join(", ");
    let found = check(&document(BALL, &format!(r#""colliders": [{nine}]"#)));
    assert!(
        found.contains("input 'colliders' of 'sim' has 9 links"),
        "{found}"
    );
    let found = check(&document(
        BALL,
        r#""colliders": ["ball", "ball"], "colliders_2": "ball""#,
    ));
    assert!(found.contains("would replace another link"), "{found}");
    let found = check(&document(BALL, r#""colliders": ["body"]"#));
    assert!(
        found.contains("input 'colliders' of 'sim' takes a field, but 'body' is a mesh"),
        "{found}"
    );
    let skin = |name: &str| {
        let followers =
            format!(r#""type": "strands", "followers": {{"count": 1, "skin": "{name}"}}"#);
        document("", r#""damping": 1"#).replace(r#""type": "strands""#, &followers)
    };
    compile("hair.json", &skin("body"), &NoNesting).expect("a mesh input");
    let found = check(&skin("bodyy"));
    assert!(
        found.contains("input 'hair': there is no mesh input 'bodyy'"),
        "{found}"
    );
    assert!(found.contains("did you mean 'body'?"), "{found}");
}

/// Nodes that remember the frame before begin anew where `reset` is true: that frame is a first one, and later ones go on from it.
#[test]
fn a_reset_is_a_first_frame() {
    let hair = hair(4, 16);
    let cut = r#""parameters": {"cut": {"type": "bool", "default": false}}, "inputs""#;
    let sim = document(BALL, r#""colliders": "ball", "reset": "$cut""#);
    let collide = r#"{"sinew": "1.0", "inputs": {"hair": {"type": "strands"}},
 "nodes": {"ball": {"node": "solids", "capsules": [{"from": [0, 0.5, 0], "to": [0, 0.5, 0], "radius": 0.3}]},
  "moved": {"node": "transform", "mesh": "hair", "transform": {"keys": [[0, {"translation": [0, 0, 0]}], [1, {"translation": [0.4, 0, 0]}]]}},
  "sim": {"node": "collide", "strands": "moved", "colliders": "ball", "reset": "$cut"}}, "outputs": {"hair": "sim"}}"#;
    let documented = sim.replace("hair_sim", "tressfx_hair");
    for text in [sim.as_str(), documented.as_str(), collide] {
        let text = text.replacen(r#""inputs""#, cut, 1);
        let graph = bind(&text, &hair, &meshes::cube()).expect("binds");
        let mut first = graph.instance();
        let begin = run(&mut first, 20..21, Par::Seq);
        let mut cut = graph.instance();
        run(&mut cut, 0..20, Par::Seq);
        let on = |yes| ParameterValue::Bool(yes);
        let plain = run(&mut graph.instance(), 0..21, Par::Seq);
        cut.set_parameter("cut", &on(true)).expect("a switch");
        let found = run(&mut cut, 20..21, Par::Seq);
        assert!(plain != begin, "{text}: no other frame");
        assert!(found == begin, "{text}");
        cut.set_parameter("cut", &on(false)).expect("a switch");
        let next = run(&mut cut, 21..22, Par::Seq);
        assert!(next == run(&mut first, 21..22, Par::Seq), "{text}: goes on");
    }
}

/// A frame with a reset is the rest pose, however long the step to it; without colliders nothing else moves hair there.
#[test]
fn a_reset_shows_hair_at_rest() {
    let hair = hair(3, 12);
    let text = document("", r#""reset": "$cut""#).replacen(
        r#""inputs""#,
        r#""parameters": {"cut": {"type": "bool", "default": false}}, "inputs""#,
        1,
    );
    let graph = bind(&text, &hair, &meshes::cube()).expect("binds");
    let mut cut = graph.instance();
    run(&mut cut, 0..10, Par::Seq);
    cut.set_parameter("cut", &ParameterValue::Bool(true))
        .expect("a switch");
    for (found, rest) in run(&mut cut, 10..11, Par::Seq).iter().zip(&hair.positions) {
        assert!(
            (Vec3::from(*found) - Vec3::from(*rest)).norm() < 1e-6,
            "{found:?} {rest:?}"
        );
    }
}

/// The TressFX field has a hole that hair stays in, the other one has not; states go on, wrong values are told.
#[test]
fn the_tressfx_nodes_are_reached_from_documents() {
    let hair = hair(5, 24);
    let mut ball = meshes::sphere(24, 48);
    for p in &mut ball.positions {
        *p = [0.3 * p[0], 0.5 + 0.3 * p[1], 0.3 * p[2]];
    }
    let text = |field: &str, more: &str| {
        let nodes = format!(r#""field": {{"node": "{field}", "mesh": "body", "cells": 50}},"#);
        document(&nodes, &format!(r#""colliders": "field"{more}"#))
            .replace("hair_sim", "tressfx_hair")
    };
    let depth = |p: &[f32; 3]| 0.3 - (p[0].powi(2) + (p[1] - 0.5).powi(2) + p[2].powi(2)).sqrt();
    for (field, holds) in [("sdf", true), ("tressfx_sdf", false)] {
        let graph = bind(&text(field, r#", "gravity": 9.81"#), &hair, &ball).expect("binds");
        let mut one = graph.instance();
        let expected = run(&mut one, 0..10, Par::Seq);
        let deepest = expected.iter().map(depth).fold(0.0, f32::max);
        assert!(
            (deepest < 0.02) == holds && (deepest > 0.2) != holds,
            "{field}: {deepest}"
        );
        let saved = one.save_state();
        let later = run(&mut one, 10..20, Par::Seq);
        let mut other = graph.instance();
        other.restore_state(&saved).expect("of this graph");
        assert!(run(&mut other, 10..20, Par::Rayon) == later, "goes on");
        assert!(other.restore_state(&saved[..saved.len() - 1]).is_err());
        other.reset();
        assert!(
            run(&mut other, 0..10, Par::Rayon) == expected,
            "begins again"
        );
    }
    let refused = |more: &str| {
        let text = text("tressfx_sdf", more);
        let error = compile("hair.json", &text, &NoNesting).expect_err("refused");
        error.to_string()
    };
    for (more, name) in [
        (r#", "global_stiffness": 2"#, "global_stiffness"),
        (r#", "length_iterations": -1"#, "length_iterations"),
        (r#", "gradient": "backward""#, "gradient"),
        (r#", "wind": [1, 0, 0]"#, "wind"),
    ] {
        let found = refused(more);
        assert!(found.contains(name), "{found}");
    }
    let fine = text("tressfx_sdf", "").replace(r#""cells": 50"#, r#""cells": 4096"#);
    let found = bind(&fine, &hair, &ball).expect_err("refused").to_string();
    assert!(
        found.contains("nodes, but at most 268435456 are allowed"),
        "{found}"
    );
}

/// Followers beside the guides collide as guides do; without their collision they are laid into the ball.
#[test]
fn guides_and_followers_are_both_corrected() {
    let mut hair = hair(4, 20);
    let guides = hair.topology.strands().expect("strands").clone();
    let settings = FollowerSettings {
        per_guide: 3,
        radius: 0.05,
        tip_separation: 0.5,
        seed: 1,
        ..FollowerSettings::default()
    };
    let (all, positions) =
        place_followers(&guides, &hair.positions, &settings, None).expect("places");
    hair.topology = Arc::new(Topology::from_strands(all.clone()));
    hair.positions = positions;
    let deepest = |followers: bool, more: &str| {
        let text = document(BALL, &format!(r#""colliders": "ball"{more}"#));
        let graph = bind(&text, &hair, &meshes::cube()).expect("binds");
        let mut instance = graph.instance();
        let found = run(&mut instance, 0..90, Par::Seq);
        let of_that_sort = (0..all.len()).filter(|s| all.is_guide(*s) != followers);
        let vertices = of_that_sort.flat_map(|s| all.range(s).skip(2));
        let depth = |v: usize| {
            let [x, y, z] = found[v];
            0.3 - (x * x + (y - 0.5).powi(2) + z * z).sqrt()
        };
        vertices.map(depth).fold(f32::NEG_INFINITY, f32::max)
    };
    for followers in [false, true] {
        let depth = deepest(followers, "");
        assert!(depth < 2e-3, "followers {followers}: {depth} deep");
    }
    let depth = deepest(true, r#", "collide_followers": false"#);
    assert!(depth > 0.01, "they would be {depth} deep");
}

/// A ball on one joint: what moves with the grid's joint is not built again, what moves in it is.
#[test]
fn a_field_is_built_again_only_where_its_mesh_moved() {
    let ball = Arc::new(Character::from_asset(
        sinew_samples::ball().expect("a ball"),
    ));
    let words = |follow: &str, frames: std::ops::Range<i64>| -> Vec<Vec<u32>> {
        let text = format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}}},
 "nodes": {{"skin": {{"node": "skin", "mesh": "body", "pose": "pose"}},
  "field": {{"node": "sdf", "mesh": "skin", "pose": "pose", "cells": 24{follow}}}}}, "outputs": {{"field": "field"}}}}"#
        );
        let document = Document::from_text("ball.json", text, "");
        let plan = Arc::new(document.compile().unwrap_or_else(|e| panic!("{e}")));
        let cast = PlayInputs::load(ball.clone(), &plan, &document.folders).expect("assembles");
        let graph = cast.bind(&plan, &[]).expect("binds");
        let runner = Runner::cpu(&graph);
        let mut player = Player::new(runner, cast, Vec::new(), None, 30.0).expect("plays");
        frames
            .map(|n| {
                player.advance(n).expect("plays");
                let Runner::Cpu(instance) = player.runner() else {
                    panic!("on the processor")
                };
                instance.field_output("field").expect("a field").to_vec()
            })
            .collect()
    };
    // The frame that the field lives in is words 1 to 13; the rest is the grid.
    let grid = |words: &[u32]| words[14..].to_vec();
    let followed = words(r#", "follow": "center""#, 0..6);
    for (n, w) in followed.iter().enumerate().skip(1) {
        assert_eq!(grid(w), grid(&followed[0]), "frame {n}: the same bits");
        assert_ne!(w[1..14], followed[n - 1][1..14], "frame {n}: it moves");
    }
    let free = words("", 0..6);
    for n in 1..6 {
        assert_ne!(grid(&free[n]), grid(&free[n - 1]), "frame {n}");
        assert_eq!(
            free[n][1..14],
            free[0][1..14],
            "frame {n}: it stays in the scene"
        );
    }
    // Both say the same about the same places.
    let centre = |n: i64| {
        let [x, y, z] = ball_centre(&ball, n);
        Vec3::new(x, y, z)
    };
    for n in [1, 5] {
        for words in [&followed[n], &free[n]] {
            let field = FieldCollider::new(FieldWords::read(words)).expect("built");
            for offset in [Vec3::new(0.0, 0.25, 0.0), Vec3::new(0.15, 0.0, 0.1)] {
                let p = field.placement().inverse_point(centre(n as i64) + offset);
                let expected = offset.norm() - 0.25;
                let found = field.distance(p.into());
                assert!(
                    (found - expected).abs() < 0.01,
                    "frame {n}: {found} for {expected}"
                );
            }
        }
    }
}

/// The middle of the ball's skinned vertices.
fn ball_centre(ball: &Arc<Character>, number: i64) -> [f32; 3] {
    let document = Document::of_character(ball);
    let plan = Arc::new(document.compile().unwrap_or_else(|e| panic!("{e}")));
    let cast = PlayInputs::load(ball.clone(), &plan, &document.folders).expect("assembles");
    let graph = cast.bind(&plan, &[]).expect("binds");
    let runner = Runner::cpu(&graph);
    let mut player = Player::new(runner, cast, Vec::new(), None, 30.0).expect("plays");
    // The clip's dent would move it.
    player.advance(number).expect("plays");
    let Runner::Cpu(instance) = player.runner() else {
        panic!("on the processor")
    };
    let p = instance.mesh_output("body").expect("a body").positions;
    let bounds = sinew::geom::bounds(p).expect("vertices");
    std::array::from_fn(|c| (bounds.0[c] + bounds.1[c]) / 2.0)
}

/// A collision mesh in a file of its own, with bones of its own names, follows the character's joints.
#[test]
fn a_collider_comes_in_a_file_of_its_own() {
    let folder = tempfile::tempdir().expect("writable");
    let (bones, mesh) = tetrahedron("head");
    std::fs::write(folder.path().join("skull.tfxmesh"), mesh + &bones).expect("writes");
    let text = r#"{"sinew": "1.0",
 "inputs": {"pose": {"type": "pose"}, "skull": {"type": "mesh", "file": "skull.tfxmesh", "joints": "pose"}},
 "nodes": {"skin": {"node": "skin", "mesh": "skull", "pose": "pose"}, "field": {"node": "sdf", "mesh": "skin", "cells": 20}},
 "outputs": {"field": "field", "skull": "skin"}}"#;
    let head = Arc::new(Character::from_asset(
        sinew_samples::head().expect("a head"),
    ));
    let document = Document::from_text("skull.json", text, folder.path());
    let plan = Arc::new(document.compile().unwrap_or_else(|e| panic!("{e}")));
    let cast = PlayInputs::load(head, &plan, &document.folders).expect("assembles");
    let graph = cast.bind(&plan, &[]).expect("binds");
    let runner = Runner::cpu(&graph);
    let mut player = Player::new(runner, cast, Vec::new(), None, 30.0).expect("plays");
    let mut places = Vec::new();
    for n in [0, 8] {
        player.advance(n).expect("plays");
        let Runner::Cpu(instance) = player.runner() else {
            panic!("on the processor")
        };
        let p = instance.mesh_output("skull").expect("a mesh").positions;
        let middle: [f32; 3] = std::array::from_fn(|c| p.iter().map(|p| p[c]).sum::<f32>() / 4.0);
        let words = instance.field_output("field").expect("a field");
        let field = FieldCollider::new(FieldWords::read(words)).expect("built");
        let distance =
            |p: [f32; 3]| field.distance(field.placement().inverse_point(p.into()).into());
        assert!(distance(middle) < -0.01, "inside at frame {n}");
        for corner in p {
            assert!(
                distance(*corner).abs() < 0.01,
                "on the surface at frame {n}"
            );
        }
        places.push(p.to_vec());
    }
    assert_ne!(places[0], places[1], "it follows the head");
}

/// A `.tfxmesh` of one tetrahedron on one bone, without its head: what its tables hold.
fn tetrahedron(bone: &str) -> (String, String) {
    let corners = [
        [0.0, 0.42, 0.0],
        [0.1, 0.25, 0.1],
        [-0.1, 0.25, 0.1],
        [0.0, 0.25, -0.12],
    ];
    let mut mesh = format!("numOfBones 1\n# bone index, bone name\n0 {bone}\nnumOfVertices 4\n");
    for (i, [x, y, z]) in corners.into_iter().enumerate() {
        mesh += &format!("{i} {x} {y} {z} 0 1 0 0 -1 -1 -1 1 0 0 0\n");
    }
    let triangles = "numOfTriangles 4\n0 0 2 1\n1 0 1 3\n2 0 3 2\n3 1 2 3\n".to_owned();
    (triangles, mesh)
}

/// Guides and followers, in the field and in the mesh itself, while the head shakes and while it is still after that.
#[test]
fn a_mohawk_stays_out_of_the_head_that_shakes_it() {
    hold_mohawk(0.0, DEEPEST_IN_MESH);
}

/// As the documentation has it: 2 mm off the body, which is more than fields are wrong.
#[test]
fn a_mohawk_keeps_off_the_head_that_shakes_it() {
    hold_mohawk(0.002, f64::from(DEEPEST));
}

#[expect(clippy::print_stdout, reason = "says what was measured")]
fn hold_mohawk(margin: f32, deepest_in_mesh: f64) {
    let Some(scene) = Scene::mohawk(margin) else {
        return;
    };
    let mut playing = scene.play(Runner::cpu(&scene.graph));
    let (mut worst, mut in_mesh) = (Measured::default(), Depths::default());
    let (shaken, all) = (frames(), frames() + rest_frames());
    let mut rest = Measured::default();
    for number in 0..=all {
        playing.advance(number);
        let last = playing.measure(&playing.field());
        worst.add(&last, &last);
        if number > all - FRAMES_AT_REST {
            rest.fastest = rest.fastest.max(last.fastest);
            rest.restless = rest.restless.max(last.restless);
            rest.speed = rest.speed.max(last.speed);
        }
        if number > shaken && (number - shaken) % 30 == 0 {
            println!(
                "still for {} s: {} m/s at most, {} strands faster than {REST_SPEED} m/s",
                (number - shaken) as f64 / 60.0,
                last.fastest,
                last.restless
            );
        }
        // Slow: a few frames of each run.
        if number % (all / 8).max(1) == 0 {
            in_mesh.add(&playing.depths(f64::from(DEEPEST * playing.cell())));
        }
    }
    let cell = f64::from(playing.cell());
    println!(
        "margin {margin} m, {shaken} frames shaken, {} still: {worst:?}",
        all - shaken
    );
    println!("in the mesh, cells of {cell} m: {in_mesh:?}");
    println!(
        "last {FRAMES_AT_REST} frames: {} m/s in the mean, {} at most, {} strands faster than {REST_SPEED} m/s",
        rest.speed, rest.fastest, rest.restless
    );
    assert!(worst.deepest < DEEPEST, "{} cells deep", worst.deepest);
    assert!(worst.deepest_follower < DEEPEST, "{worst:?}");
    assert!(worst.stretch < MOST_STRETCHED, "{}", worst.stretch);
    for (what, depth) in [("guides", in_mesh.guides), ("followers", in_mesh.followers)] {
        assert!(depth < deepest_in_mesh * cell, "{what}: {depth} m deep");
    }
    // Nearer than the depth that vertices may have: skins bend, and weights between three vertices are no exact place of theirs.
    assert!(in_mesh.roots < f64::from(DEEPEST) * cell, "{in_mesh:?}");
    assert!(worst.follower_stretch < MOST_STRETCHED, "{worst:?}");
    assert!(rest.restless <= MOST_RESTLESS, "{rest:?}");
    assert!(rest.fastest < RESTLESS_SPEED, "{rest:?}");
    assert!(rest.speed < MEAN_REST_SPEED, "{rest:?}");
}

#[test]
fn two_hairs_keep_their_own_margins_in_one_update() {
    margins::each_keeps_its_own(Runner::cpu);
}

/// The node against the job, with state: the same places, and nothing passes through a thin wall that is moved over hair in one frame.
#[test]
fn strands_that_something_else_moves_are_kept_out() {
    let hair = hair(3, 16);
    let text = r#"{"sinew": "1.0", "inputs": {"hair": {"type": "strands"}},
 "parameters": {"shift": {"type": "float", "default": 0, "min": 0, "max": 1}},
 "nodes": {"ball": {"node": "solids", "capsules": [{"from": [0, 0.9, 0], "to": [0, 0.9, 0], "radius": 0.1}]},
  "moved": {"node": "transform", "mesh": "hair", "transform": {"translation": [1, 0, 0]}, "weight": "$shift"},
  "out": {"node": "collide", "strands": "moved", "colliders": "ball", "margins": [0.01], "exempt": 1}}, "outputs": {"hair": "out"}}"#;
    let graph = bind(text, &hair, &meshes::cube()).expect("binds");
    let strands = hair.topology.strands().expect("strands");
    let mut instance = graph.instance();
    let depth = |p: &[f32; 3]| 0.11 - (p[0] * p[0] + (p[1] - 0.9).powi(2) + p[2] * p[2]).sqrt();
    for (number, shift) in [0.0, 0.05, 0.4].into_iter().enumerate() {
        instance
            .set_parameter("shift", &ParameterValue::Float(shift))
            .expect("a parameter");
        let found = run(&mut instance, number as u32..number as u32 + 1, Par::Seq);
        for range in strands.ranges() {
            for v in range.start + 1..range.end {
                assert!(
                    depth(&found[v]) < 1e-3,
                    "frame {number}, vertex {v}: {}",
                    depth(&found[v])
                );
                let length = |p: &[[f32; 3]]| (Vec3::from(p[v]) - Vec3::from(p[v - 1])).norm();
                assert!((length(&found) - length(&hair.positions)).abs() < 1e-5);
            }
            let root = hair.positions[range.start];
            assert!(
                (found[range.start][0] - root[0] - shift as f32).abs() < 1e-6,
                "roots stay"
            );
        }
    }
    // A state goes on with the same bits.
    let state = instance.save_state();
    let on = run(&mut instance, 3..5, Par::Seq);
    let mut other = graph.instance();
    other
        .set_parameter("shift", &ParameterValue::Float(0.4))
        .expect("a parameter");
    other.restore_state(&state).expect("its own");
    assert_eq!(run(&mut other, 3..5, Par::Seq), on);
    assert!(other.restore_state(&state[..state.len() - 3]).is_err());
}
