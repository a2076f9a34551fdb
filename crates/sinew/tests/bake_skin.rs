//! Skins baked from graphs: what the written file shows, read back, against the graph's frames.

use sinew::bake::Watch;
use sinew::bake::skin::{
    ClipFrames, Portable, SkinBake, SkinBakeError, SkinMethod, SkinRequest, bake_skin,
    measure_skin, ranges_from_json, ranges_of, write_colored, write_report,
};
use sinew::geom::Asset;
use sinew::io::read_gltf;
use sinew::play::{Cast, Character, Document, Player, Runner};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MUSH: &str = r#"{
  "sinew": "1.0",
  "stack": [{ "node": "skin", "method": "linear" }, { "node": "delta_mush", "iterations": 10 }]
}"#;
const PLAIN: &str = r#"{
  "sinew": "1.0",
  "stack": ["morph", { "node": "skin", "method": "linear" }]
}"#;

fn arm() -> Character {
    Character::from_asset(sinew_samples::arm_with_hand().expect("a sample"))
}

#[expect(clippy::print_stdout, reason = "tests say what they skip")]
fn shared(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/characters");
    let path = path.join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not there", path.display());
    None
}

fn player(portable: &Portable, document: &str) -> Player {
    let document = Document::from_text("test.json", document, "");
    let plan = Arc::new(document.compile().expect("a graph"));
    let main = portable.character.clone();
    let cast = Cast::assemble(main, &plan, &document.folder).expect("a cast");
    let graph = cast.bind(&plan, &[]).expect("binds");
    let runner = Runner::processor(&graph).expect("runs");
    Player::new(runner, cast, Vec::new(), None, 30.0).expect("plays")
}

/// All clips, every `step`th frame.
fn all_clips(asset: &Asset, step: usize) -> Vec<ClipFrames> {
    let frames = |(clip, of): (usize, &sinew::geom::Clip)| {
        let last = (of.range().1 * 30.0).round() as i64;
        ClipFrames {
            clip,
            numbers: (0..=last).step_by(step).collect(),
        }
    };
    asset.clips.iter().enumerate().map(frames).collect()
}

fn request(portable: &Portable) -> SkinRequest {
    SkinRequest {
        clips: all_clips(&portable.character.asset, 2),
        ..SkinRequest::default()
    }
}

fn baked(portable: &Portable, graph: &str, request: &SkinRequest, out: &Path) -> SkinBake {
    let mut player = player(portable, graph);
    bake_skin(portable, &mut player, request, out, &Watch::NOBODY).expect("bakes")
}

#[test]
fn a_sample_written_anew_is_the_sample() {
    for made in sinew_samples::all().expect("samples") {
        let original = Character::from_asset(made);
        let portable = Portable::new(&original).expect("a file");
        let (a, b) = (&original.asset, &portable.character.asset);
        assert_eq!(a.meshes.len(), b.meshes.len());
        assert_eq!(a.clips.len(), b.clips.len(), "{}", a.name);
        let (mut pose, mut other) = (a.rig.rest_pose(), b.rig.rest_pose());
        for clip in 0..a.clips.len().max(1) {
            for time in [0.0, 0.31, 0.77] {
                a.rig.evaluate(a.clips.get(clip), time, &mut pose);
                b.rig.evaluate(b.clips.get(clip), time, &mut other);
                for (m, n) in a.meshes.iter().zip(&b.meshes) {
                    assert_eq!(m.positions, n.positions, "{}", a.name);
                    assert_eq!(m.morph_targets.len(), n.morph_targets.len());
                    let (Some(rows), Some(others)) = (&m.influences, &n.influences) else {
                        continue;
                    };
                    for v in (0..m.positions.len()).step_by(17) {
                        let shown = |rows: &sinew::geom::Influences, pose: &sinew::geom::Pose| {
                            let parts = rows.row(v).map(|(j, w)| {
                                let m = pose.palette[j as usize].unpack::<f64>();
                                m.point(sinew::geom::Vec3::from(n.positions[v].map(f64::from)))
                                    * f64::from(w)
                            });
                            parts.sum::<sinew::geom::Vec3<f64>>()
                        };
                        let off = (shown(rows, &pose) - shown(others, &other)).norm();
                        assert!(off < 1e-5, "{} vertex {v}: {off}", a.name);
                    }
                }
                assert_eq!(pose.morph_weights, other.morph_weights, "{}", a.name);
            }
        }
    }
}

#[test]
fn linear_skinning_stays_as_it_is() {
    let portable = Portable::new(&arm()).expect("a file");
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("same.glb");
    // Some vertices have five joints.
    let request = SkinRequest {
        influences: 8,
        ..request(&portable)
    };
    let made = baked(&portable, PLAIN, &request, &out);
    for clip in &made.report.clips {
        assert!(clip.largest_mm < 1e-3, "{clip:?}");
    }
    let file = read_gltf(&out).expect("a file").asset;
    let (before, after) = (&portable.character.asset.meshes[0], &file.meshes[0]);
    let (a, b) = (before.influences.as_ref(), after.influences.as_ref());
    let (a, b) = (a.expect("weights"), b.expect("weights"));
    for v in 0..before.positions.len() {
        for (joint, w) in a.row(v) {
            let found = b.row(v).find(|r| r.0 == joint).map_or(0.0, |r| r.1);
            assert!(
                (found - w).abs() < 1e-3,
                "vertex {v}, joint {joint}: {found} {w}"
            );
        }
    }
}

#[test]
fn delta_mush_on_the_arm_comes_nearer_than_authored_weights() {
    let portable = Portable::new(&arm()).expect("a file");
    let folder = tempfile::tempdir().expect("a folder");
    let mut rms = Vec::new();
    for (name, helpers, correctives) in [("weights", 0, 0), ("helpers", 4, 0), ("all", 4, 6)] {
        let out = folder.path().join(format!("{name}.glb"));
        let request = SkinRequest {
            helpers,
            correctives,
            ..request(&portable)
        };
        let made = baked(&portable, MUSH, &request, &out);
        for clip in &made.report.clips {
            println!("{name}: {}", clip.words());
            assert!(clip.rms_mm < clip.source_rms_mm, "{clip:?}");
        }
        rms.push(made.report.clips.iter().map(|c| c.rms_mm).sum::<f64>());
        // An independent look at the file says the same.
        let mut again = player(&portable, MUSH);
        let measured = measure_skin(&portable, &mut again, &request, &out, &Watch::NOBODY);
        assert_eq!(measured.expect("measured"), made.report.clips);
        let report = folder.path().join("report");
        write_report(&report, &made.report, &made.triangles, &made.moments).expect("written");
        assert!(report.join("report.html").exists() && report.join("report.json").exists());
        let colored = folder.path().join("colored.glb");
        write_colored(&portable, &made, &colored).expect("written");
        let colored = read_gltf(&colored).expect("a file").asset;
        assert!(
            colored.meshes.iter().any(|m| !m.colors.is_empty()),
            "colours"
        );
    }
    println!("RMS summed over clips, mm: {rms:?}");
    assert!(rms[1] < rms[0] && rms[2] < rms[1], "{rms:?}");
}

#[test]
fn smoothed_weights_are_those_of_direct_delta_mush() {
    let portable = Portable::new(&arm()).expect("a file");
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("smoothed.glb");
    let settings = sinew::deform::direct_delta_mush::SmoothingSettings::default();
    let request = SkinRequest {
        method: SkinMethod::Smoothed(settings),
        influences: 16,
        ..request(&portable)
    };
    baked(&portable, MUSH, &request, &out);
    let file = read_gltf(&out).expect("a file").asset;
    let mesh = &portable.character.asset.meshes[0];
    let joints = portable.character.asset.rig.joints().len();
    let truth = sinew::deform::direct_delta_mush::moments(
        mesh,
        joints,
        &settings,
        sinew::deform::Par::Seq,
        &sinew::deform::BindWatch::NONE,
    );
    let truth = truth.expect("moments");
    let rows = file.meshes[0].influences.as_ref().expect("weights");
    for v in 0..mesh.positions.len() {
        let (of, pairs) = truth.row(v);
        for (joint, pair) in of.iter().zip(pairs).filter(|p| p.1.weight > 1e-5) {
            let found = rows.row(v).find(|r| r.0 == *joint).map_or(0.0, |r| r.1);
            assert!(
                (found - pair.weight).abs() < 1e-4,
                "vertex {v}: {found} {}",
                pair.weight
            );
        }
    }
}

/// Files with transforms of nodes, buffers beside them, other units, several meshes.
#[test]
fn every_kind_of_file_comes_out_right() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in [
        "simple_skin.gltf",
        "cesium_man.gltf",
        "fox.glb",
        "kaykit_knight.glb",
    ] {
        let Some(path) = shared(name) else { continue };
        let character = Character::load(&path).expect("a character");
        let portable = Portable::new(&character).expect("a file");
        let size = portable.character.asset.meshes.iter().map(|m| m.diagonal());
        let size = f64::from(size.fold(0.0, f32::max));
        let mut clips = all_clips(&portable.character.asset, 6);
        clips.truncate(2);
        let request = SkinRequest {
            clips,
            ..SkinRequest::default()
        };
        let out = folder.path().join("out.glb");
        let made = baked(&portable, PLAIN_SKIN, &request, &out);
        for clip in &made.report.clips {
            println!("{name}: {}", clip.words());
            assert!(clip.largest_mm < 1e3 * 2e-6 * size, "{name}: {clip:?}");
        }
        let file = read_gltf(&out).expect("a file");
        assert_eq!(file.asset.clips.len(), character.asset.clips.len());
        let before = character
            .source
            .as_ref()
            .map(|s| s.json["materials"].clone());
        assert_eq!(Some(file.document.json["materials"].clone()), before);
    }
}
const PLAIN_SKIN: &str = r#"{ "sinew": "1.0", "stack": [{ "node": "skin", "method": "linear" }] }"#;

#[test]
fn joint_ranges_come_from_degrees_or_text() {
    let portable = Portable::new(&arm()).expect("a file");
    let asset = &portable.character.asset;
    let all = ranges_of(asset, 30.0);
    assert!(
        all.len().is_multiple_of(6) && !all.is_empty(),
        "{}",
        all.len()
    );
    let name = asset.rig.nodes()[all[0].node].name.clone();
    let text = format!(r#"{{"{name}": {{"x": [10, 20]}}, "*": {{"z": [-5]}}}}"#);
    let some = ranges_from_json(asset, &text, "r.json").expect("ranges");
    assert_eq!(some.len(), 2 + all.len() / 6 - 1);
    assert_eq!((some[1].degrees, some[1].axis), (20.0, 0));
    let wrong = |text: &str| {
        ranges_from_json(asset, text, "r.json")
            .expect_err("wrong")
            .to_string()
    };
    assert_eq!(
        wrong("[]"),
        "r.json: found no object, expected a JSON object of joints"
    );
    let axis = format!(r#"{{"{name}": {{"w": [1]}}}}"#);
    assert_eq!(
        wrong(&axis),
        format!("r.json: '{name}': found axis 'w', expected x, y or z")
    );
    assert!(wrong(r#"{"tail": {}}"#).starts_with("there is no joint 'tail'"));
    // Joint ranges alone, without any clip: the file is measured in the same poses.
    let folder = tempfile::tempdir().expect("a folder");
    let request = SkinRequest {
        ranges: all,
        ..SkinRequest::default()
    };
    let made = baked(&portable, MUSH, &request, &folder.path().join("ranges.glb"));
    let clip = &made.report.clips[0];
    println!("{}", clip.words());
    assert_eq!(clip.name, "joint ranges");
    assert!(clip.rms_mm < clip.source_rms_mm, "{clip:?}");
}

#[test]
fn stopped_work_leaves_no_file() {
    let portable = Portable::new(&arm()).expect("a file");
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("none.glb");
    let mut player = player(&portable, MUSH);
    let stop = Watch {
        is_cancelled: &|| true,
        ..Watch::NOBODY
    };
    let stopped = bake_skin(&portable, &mut player, &request(&portable), &out, &stop);
    assert_eq!(
        stopped.expect_err("stopped").to_string(),
        "stopped; nothing was written"
    );
    assert!(!out.exists(), "no file");
    let other = SkinRequest {
        output: Some("hair".into()),
        ..request(&portable)
    };
    let wrong = bake_skin(&portable, &mut player, &other, &out, &Watch::NOBODY);
    let wrong: SkinBakeError = wrong.expect_err("no such output");
    assert_eq!(
        wrong.to_string(),
        "there is no mesh output 'hair'; there are: body"
    );
}
