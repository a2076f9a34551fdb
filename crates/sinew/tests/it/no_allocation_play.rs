//! A player's frames allocate nothing: poses, values and lists of them keep their memory.

use crate::common::allocations::counted_pool;
use sinew::geom::Asset;
use sinew::io::point_cache::PointCacheWriter;
use sinew::io::{Folders, ValueTable};
use sinew::play::{
    Character, Document, InputFiles, PlayInputs, Player, PointCacheFile, Runner, Values,
};
use std::sync::Arc;

/// Skinning, and weights of the one morph target from the caller.
const DOCUMENT: &str = r#"{
    "sinew": "1.0",
    "inputs": {
        "body": { "type": "mesh" },
        "pose": { "type": "pose" },
        "bulge": { "type": "values", "count": 1 }
    },
    "stack": [{ "node": "morph", "weights": "bulge" }, "skin"]
}"#;

fn bulging_arm() -> Player {
    let arm = sinew_samples::arm_with_hand().expect("a sample");
    let arm = Arc::new(Character::from_asset(arm));
    let document = Document::from_text("bulge.json", DOCUMENT, "");
    let plan = Arc::new(document.compile().expect("a correct document"));
    let cast = PlayInputs::load(arm, &plan, &document.folders).expect("no file");
    let graph = cast.bind(&plan, &[]).expect("binds");
    let table = ValueTable {
        values: (0..10_u8).map(|i| f32::from(i) / 10.0).collect(),
        columns: 10,
        is_list: true,
    };
    let values = Values::of_table(&plan, "bulge", table, "ten", 9).expect("fits");
    let runner = Runner::cpu(&graph);
    Player::new(runner, cast, vec![values], None, 30.0).expect("plays")
}

/// A head that turns: its field is built anew in each frame, and its hair is simulated in steps and kept out of it.
fn hairy_head() -> Player {
    let head = sinew_samples::head().expect("a sample");
    let head = Arc::new(Character::from_asset(head));
    let text = sinew::deform::find_example("hair").expect("there").graph;
    let document = Document::from_text("hair.json", text, "");
    let plan = Arc::new(document.compile().expect("a correct document"));
    let cast = PlayInputs::load(head, &plan, &document.folders).expect("no file");
    let graph = cast.bind(&plan, &[]).expect("binds");
    let runner = Runner::cpu(&graph);
    Player::new(runner, cast, Vec::new(), None, 30.0).expect("plays")
}

/// A ball that a point cache moves, smoothed: frames are read and blended.
fn cached_ball() -> (tempfile::TempDir, Player) {
    let folder = tempfile::TempDir::new().expect("temp");
    let ball = sinew_testkit::meshes::sphere(8, 12);
    let path = folder.path().join("ball.pc2");
    let count = ball.vertex_count();
    let mut writer = PointCacheWriter::pc2(&path, count, 6, 0.0, 2.0).expect("starts");
    for k in 0..6_u8 {
        let moved = |p: &[f32; 3]| [p[0] + f32::from(k), p[1], p[2] * f32::from(k)];
        let frame: Vec<_> = ball.positions.iter().map(moved).collect();
        writer.frame([&frame[..]].into_iter()).expect("written");
    }
    writer.finish().expect("there");
    let rest = Arc::new(Character::from_asset(Asset {
        meshes: vec![ball],
        ..Asset::default()
    }));
    let text = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "stack": ["smooth"]}"#;
    let plan = Document::from_text("smooth.json", text, "").compile();
    let plan = Arc::new(plan.expect("a correct document"));
    let caches = [PointCacheFile::new(None, path)];
    let mut given = InputFiles::default();
    given.point_caches = &caches;
    let inputs = PlayInputs::load_with(rest, &plan, &Folders::default(), &given).expect("fits");
    let graph = inputs.bind(&plan, &[]).expect("binds");
    let runner = Runner::cpu(&graph);
    let player = Player::new(runner, inputs, Vec::new(), None, 30.0).expect("plays");
    (folder, player)
}

/// What every output holds, as bits: vertices or the words of a field.
fn outputs(player: &mut Player) -> Vec<Vec<u32>> {
    let Runner::Cpu(instance) = player.runner() else {
        panic!("on the processor")
    };
    let bits = |name: &str| match instance.field_output(name) {
        Some(words) => words.to_vec(),
        None => {
            let mesh = instance.mesh_output(name).expect("a mesh");
            mesh.positions
                .as_flattened()
                .iter()
                .map(|c| c.to_bits())
                .collect()
        }
    };
    let graph = instance.graph().clone();
    graph
        .plan()
        .outputs()
        .iter()
        .map(|o| bits(&o.name))
        .collect()
}

#[test]
fn given_positions_allocate_nothing() {
    let (_folder, mut player) = cached_ball();
    let rest = player.inputs().main().asset.meshes[0].positions.clone();
    let (pool, count) = counted_pool(1);
    pool.install(|| {
        let mut frame = |number: i64| {
            player.set_positions("body", &rest).expect("fits");
            player.advance(number).expect("a frame");
        };
        (0..4).for_each(&mut frame);
        let before = count();
        (4..10).for_each(&mut frame);
        assert_eq!(count() - before, 0);
    });
}

#[test]
fn advancing_allocates_nothing() {
    let (_folder, ball) = cached_ball();
    for (name, mut player, threads) in [
        ("ball", ball, 1),
        ("arm", bulging_arm(), 1),
        ("head", hairy_head(), 1),
        ("head", hairy_head(), 2),
    ] {
        // Inside a pool: from outside, its queue allocates now and then.
        let (pool, count) = counted_pool(threads);
        pool.install(|| {
            // The queues of rayon grow once.
            for number in 0..4 {
                player.advance(number).expect("a frame");
            }
            let begin = outputs(&mut player);
            let before = count();
            for number in 4..10 {
                player.advance(number).expect("a frame");
            }
            let found = count() - before;
            assert!(
                begin.iter().zip(outputs(&mut player)).all(|(a, b)| *a != b),
                "{name} moved"
            );
            assert_eq!(found, 0, "allocations of {name} on {threads} threads");
        });
    }
}
