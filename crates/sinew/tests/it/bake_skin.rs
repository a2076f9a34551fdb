//! Skins baked from graphs: what the written file shows, read back, against the graph's frames.

use sinew::bake::Watch;
use sinew::bake::skin::{
    ClipFrames, Portable, SkinBake, SkinBakeError, SkinDrive, SkinMethod, SkinRequest, bake_skin,
    measure_skin, ranges_from_json, ranges_of, write_colored, write_report,
};
use sinew::geom::{Asset, Influences, LocalTransform, Pose, Quat, Real, Vec3};
use sinew::io::read_gltf;
use sinew::play::{Character, Document, PlayInputs, Player, Runner};
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
    let cast = PlayInputs::load(main, &plan, &document.folders).expect("a cast");
    let graph = cast.bind(&plan, &[]).expect("binds");
    let runner = Runner::cpu(&graph);
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
    let mut request = SkinRequest::default();
    request.clips = all_clips(&portable.character.asset, 2);
    request
}

fn baked(portable: &Portable, graph: &str, request: &SkinRequest, out: &Path) -> SkinBake {
    let mut player = player(portable, graph);
    bake_skin(portable, &mut player, request, out, &Watch::NOBODY).expect("bakes")
}

#[test]
fn a_sample_written_anew_is_the_sample() {
    for made in crate::common::samples() {
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
    let mut request = request(&portable);
    request.influences = 8;
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
        let mut request = request(&portable);
        request.helpers = helpers;
        request.correctives = correctives;
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
    let mut request = request(&portable);
    request.method = SkinMethod::Smoothed(settings);
    request.influences = 16;
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
        let mut request = SkinRequest::default();
        request.clips = clips;
        let out = folder.path().join("out.glb");
        let made = baked(&portable, PLAIN_SKIN, &request, &out);
        for clip in &made.report.clips {
            println!("{name}: {}", clip.words());
            assert!(clip.largest_mm < 1e3 * 2e-6 * size, "{name}: {clip:?}");
        }
        let kept = |out: &Path| {
            let file = read_gltf(out).expect("a file");
            assert_eq!(file.asset.clips.len(), character.asset.clips.len());
            let before = character
                .source
                .as_ref()
                .map(|s| s.json["materials"].clone());
            assert_eq!(Some(file.document.json["materials"].clone()), before);
            file.asset
        };
        kept(&out);
        // Plain skinning is written as it was. What delta mush makes is not: weights, joints, targets and keys are written and read.
        request.helpers = 2;
        request.correctives = 2;
        let changed = folder.path().join("changed.glb");
        let made = baked(&portable, MUSH, &request, &changed);
        let sum = |of: &dyn Fn(&sinew::bake::skin::SkinClipReport) -> f64| {
            made.report.clips.iter().map(of).sum::<f64>()
        };
        let (rms, source) = (sum(&|c| c.rms_mm), sum(&|c| c.source_rms_mm));
        println!("{name}, delta mush: rms {rms:.4} mm, the source's {source:.4} mm");
        let asset = kept(&changed);
        // Delta mush does nothing to the flat strip of four quads: what is left of it is rounding.
        let is_flat = name == "simple_skin.gltf";
        assert_eq!(source < 1e3 * 1e-6 * size, is_flat, "{name}: {source}");
        if !is_flat {
            assert!(rms < 0.9 * source, "{name}: {rms} {source}");
            let pairs = asset.meshes.iter().zip(&portable.character.asset.meshes);
            let differ = pairs.filter(|(a, b)| a.influences != b.influences).count();
            assert!(differ > 0, "{name}: weights that were written");
        }
        let nodes = portable.character.asset.rig.nodes().len();
        assert_eq!(asset.rig.nodes().len(), nodes + made.report.helpers.len());
        let mut again = player(&portable, MUSH);
        let measured = measure_skin(&portable, &mut again, &request, &changed, &Watch::NOBODY);
        assert_eq!(measured.expect("measured"), made.report.clips, "{name}");
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
    assert!(wrong(r#"{"tail": {}}"#).starts_with("no vertices follow a joint 'tail'"));
    // Joint ranges alone, without any clip: the file is measured in the same poses.
    let folder = tempfile::tempdir().expect("a folder");
    let mut request = SkinRequest::default();
    request.ranges = all;
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
    let mut stop = Watch::NOBODY;
    stop.is_cancelled = &|| true;
    let stopped = bake_skin(&portable, &mut player, &request(&portable), &out, &stop);
    assert_eq!(
        stopped.expect_err("stopped").to_string(),
        "stopped; nothing was written"
    );
    assert!(!out.exists(), "no file");
    let mut other = request(&portable);
    other.output = Some("hair".into());
    let wrong = bake_skin(&portable, &mut player, &other, &out, &Watch::NOBODY);
    let wrong: SkinBakeError = wrong.expect_err("no such output");
    assert_eq!(
        wrong.to_string(),
        "the graph has no mesh output 'hair'; known: body"
    );
}

#[test]
fn clips_and_numbers_that_make_no_sense_are_told_before_anything_is_played() {
    let portable = Portable::new(&arm()).expect("a file");
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("none.glb");
    let mut player = player(&portable, MUSH);
    let mut told = |change: &dyn Fn(&mut SkinRequest)| {
        let mut wrong = request(&portable);
        change(&mut wrong);
        // Playing would be stopped at once, and told.
        let mut stop = Watch::NOBODY;
        stop.is_cancelled = &|| true;
        let found = bake_skin(&portable, &mut player, &wrong, &out, &stop);
        assert!(!out.exists(), "no file");
        found.expect_err("wrong").to_string()
    };
    let clip = |numbers: &[i64]| ClipFrames {
        clip: 0,
        numbers: numbers.to_vec(),
    };
    assert_eq!(
        told(&|r| r.clips[0].numbers.clear()),
        "clip 'bend': no frames, expected at least one"
    );
    assert_eq!(
        told(&|r| r.clips.push(clip(&[1]))),
        "clip 'bend': listed twice, expected each clip once"
    );
    assert_eq!(
        told(&|r| r.clips[0].numbers = vec![0, 4, 4]),
        "clip 'bend': frame 4 after frame 4, expected increasing frame numbers"
    );
    assert_eq!(
        told(&|r| r.clips[0].numbers = vec![-1, 4]),
        "clip 'bend': frame -1, expected frame numbers from 0"
    );
    assert_eq!(
        told(&|r| r.clips[0].clip = 7),
        "clip 7 does not exist, or an earlier clip has the same name"
    );
    assert_eq!(
        told(&|r| r.held_out = vec![clip(&[1, 2, 3])]),
        "clip 'bend': frame 2 in both the fitted and the held-out frames, expected it in one of them"
    );
    assert_eq!(
        told(&|r| r.correctives = 257),
        "correctives is 257, expected 0 to 256"
    );
    assert_eq!(
        told(&|r| r.helpers = 257),
        "helpers is 257, expected 0 to 256"
    );
    assert_eq!(
        told(&|r| r.tolerance = f64::NAN),
        "tolerance is NaN, expected a distance of 0 m or more"
    );
    assert_eq!(
        told(&|r| r.drive_poses = 1),
        "drive_poses is 1, expected 2 to 256"
    );
    for drive in [SkinDrive::Clips, SkinDrive::Both] {
        let keyless = told(&|r| {
            r.clips.clear();
            r.correctives = 2;
            r.drive = drive;
        });
        assert!(
            keyless.contains("2 correctives without clips"),
            "{drive:?}: {keyless}"
        );
        // Ranges and what is held out have no keys either.
        let ranges = ranges_of(&portable.character.asset, 40.0);
        let keyless = told(&|r| {
            r.held_out = std::mem::take(&mut r.clips);
            r.ranges = ranges.clone();
            (r.helpers, r.drive) = (2, drive);
        });
        assert!(
            keyless.contains("2 helpers and 0 correctives without clips"),
            "{drive:?}: {keyless}"
        );
    }
    let ranges = ranges_from_json(&portable.character.asset, "{}", "r.json");
    assert_eq!(
        ranges.expect_err("empty").to_string(),
        "r.json: found no rotations, expected at least one"
    );
}

/// A second mesh that one joint carries shows the same whatever is fitted; it is coloured, too.
#[test]
fn meshes_that_do_not_change_are_coloured() {
    let mut asset = sinew_samples::arm_with_hand().expect("a sample");
    let mut other = asset.meshes[0].clone();
    other.name = "stone".into();
    other.positions.iter_mut().for_each(|p| p[1] += 3.0);
    other.influences = Some(Influences::rigid(other.positions.len(), 0));
    other.morph_targets.clear();
    other.colors.clear();
    asset.meshes[0].colors.clear();
    asset.meshes.push(other);
    let portable = Portable::new(&Character::from_asset(asset)).expect("a file");
    let folder = tempfile::tempdir().expect("a folder");
    let (out, colored) = (folder.path().join("out.glb"), folder.path().join("c.glb"));
    let mut request = SkinRequest::default();
    request.clips = all_clips(&portable.character.asset, 20);
    request.correctives = 1;
    let made = baked(&portable, MUSH, &request, &out);
    let stone = |asset: &Asset| {
        let found = asset.meshes.iter().position(|m| m.name == "stone");
        found.expect("both meshes")
    };
    let file = read_gltf(&out).expect("a file").asset;
    let (a, b) = (stone(&file), stone(&portable.character.asset));
    let same = (
        &file.meshes[a].influences,
        &portable.character.asset.meshes[b].influences,
    );
    assert_eq!(same.0, same.1, "it does not change");
    write_colored(&portable, &made, &colored).expect("written");
    let colored = read_gltf(&colored).expect("a file").asset;
    assert_eq!(colored.meshes.len(), 2);
    for mesh in &colored.meshes {
        assert_eq!(mesh.colors.len(), 1, "{}", mesh.name);
        assert_eq!(mesh.colors[0].len(), mesh.positions.len(), "{}", mesh.name);
    }
}

#[test]
fn smoothed_weights_take_helpers() {
    let portable = Portable::new(&arm()).expect("a file");
    let folder = tempfile::tempdir().expect("a folder");
    let smoothed = |helpers: usize| {
        let out = folder.path().join(format!("{helpers}.glb"));
        let settings = sinew::deform::direct_delta_mush::SmoothingSettings::default();
        let mut request = request(&portable);
        request.method = SkinMethod::Smoothed(settings);
        request.helpers = helpers;
        let made = baked(&portable, MUSH, &request, &out);
        let clip = made.report.clips[0].clone();
        println!("{helpers} helpers: {}", clip.words());
        assert!(
            made.report.helpers.len() <= helpers,
            "{:?}",
            made.report.helpers
        );
        (made.report.helpers.len(), clip)
    };
    let (none, with) = (smoothed(0), smoothed(3));
    assert_eq!(none.0, 0);
    assert!(with.0 > 0, "helpers");
    assert!(with.1.rms_mm < none.1.rms_mm, "{with:?} {none:?}");
}

/// A clip may have the name of other samples: both are measured, each as what it is.
#[test]
fn a_clip_named_joint_ranges_is_a_clip() {
    let mut asset = sinew_samples::arm_with_hand().expect("a sample");
    asset.clips[0].name = "joint ranges".into();
    let portable = Portable::new(&Character::from_asset(asset)).expect("a file");
    let asset = &portable.character.asset;
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out.glb");
    let mut request = SkinRequest::default();
    request.clips = all_clips(asset, 10);
    request.ranges = ranges_of(asset, 40.0);
    request.influences = 8;
    let made = baked(&portable, PLAIN, &request, &out);
    let clips = &made.report.clips;
    assert_eq!(clips.len(), 2);
    assert!(clips.iter().all(|c| c.name == "joint ranges"));
    assert_eq!((clips[0].clip, clips[1].clip), (Some(0), None));
    // A pose taken for the other kind would be off by centimetres.
    for clip in clips {
        assert!(clip.largest_mm < 1e-2, "{clip:?}");
    }
}

/// A GLB file with other JSON.
fn with_json(glb: &[u8], change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    let word = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().expect("four")) as usize;
    let end = 20 + word(12);
    let mut json = serde_json::from_slice(&glb[20..end]).expect("JSON");
    change(&mut json);
    let mut text = serde_json::to_vec(&json).expect("text");
    text.resize(text.len().next_multiple_of(4), b' ');
    let total = 20 + text.len() + glb.len() - end;
    let mut out = glb[..8].to_vec();
    for n in [total, text.len()] {
        out.extend_from_slice(&(n as u32).to_le_bytes());
    }
    out.extend_from_slice(&glb[16..20]);
    out.extend_from_slice(&text);
    out.extend_from_slice(&glb[end..]);
    out
}

/// Joints that no clip moves are given as matrices: the same character, in clips and in joint ranges, which turn them.
#[test]
fn nodes_with_matrices_are_baked() {
    let plain = Portable::new(&arm()).expect("a file");
    let rig = &plain.character.asset.rig;
    let mut made_matrices = 0;
    let bytes = with_json(&plain.glb, |json| {
        let animated: Vec<u64> = json["animations"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|a| a["channels"].as_array().into_iter().flatten())
            .filter_map(|c| c["target"]["node"].as_u64())
            .collect();
        let nodes = json["nodes"].as_array_mut().expect("nodes");
        for (n, node) in nodes.iter_mut().enumerate() {
            let name = node["name"].as_str().unwrap_or_default().to_owned();
            let is_free = !animated.contains(&(n as u64)) && node["mesh"].is_null();
            let Some(at) = rig.find_node(&name).filter(|_| is_free) else {
                continue;
            };
            let local = rig.nodes()[at].local.to_affine();
            let (l, t) = (local.linear, local.translation);
            let matrix = [
                l[(0, 0)],
                l[(1, 0)],
                l[(2, 0)],
                0.0,
                l[(0, 1)],
                l[(1, 1)],
                l[(2, 1)],
                0.0,
                l[(0, 2)],
                l[(1, 2)],
                l[(2, 2)],
                0.0,
                t.x,
                t.y,
                t.z,
                1.0,
            ];
            for key in ["translation", "rotation", "scale"] {
                node.as_object_mut().expect("an object").remove(key);
            }
            node["matrix"] = serde_json::json!(matrix);
            made_matrices += 1;
        }
    });
    assert!(made_matrices > 0, "some node does not move");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("matrices.glb");
    std::fs::write(&path, bytes).expect("written");
    let character = Character::load(&path).expect("a character");
    let portable = Portable::new(&character).expect("a file");
    let asset = &portable.character.asset;
    let locals = asset.rig.nodes().iter().map(|n| n.local);
    assert!(
        locals
            .into_iter()
            .any(|l| matches!(l, LocalTransform::Matrix(_)))
    );
    for (graph, helpers, most) in [(PLAIN, 0, 1e-2), (MUSH, 2, f64::INFINITY)] {
        let mut request = SkinRequest::default();
        request.clips = all_clips(asset, 10);
        request.ranges = ranges_of(asset, 40.0);
        request.influences = 8;
        request.helpers = helpers;
        let made = baked(&portable, graph, &request, &folder.path().join("out.glb"));
        for clip in &made.report.clips {
            println!("{}", clip.words());
            assert!(clip.largest_mm < most, "{clip:?}");
            assert!(helpers == 0 || clip.rms_mm < clip.source_rms_mm, "{clip:?}");
        }
    }
}

/// The elbow makes the biceps bulge by exp(-d²) of the chord `d` to 120 degrees: known in every pose.
const BULGE: &str = r#"{
  "sinew": "1.0",
  "inputs": { "body": { "type": "mesh" }, "pose": { "type": "pose" } },
  "nodes": {
    "elbow": { "node": "pose_driver", "pose": "pose", "joints": ["forearm"], "space": "rest", "solver": "additive", "width": 1,
      "clamp": "none", "normalize": "none", "poses": [{ "name": "bent", "joints": [{ "rotation": BENT }] }] },
    "bulge": { "node": "drive_morphs", "mesh": "body", "weights": "elbow", "targets": ["biceps_bulge"] },
    "morph": { "node": "morph", "mesh": "body", "weights": "bulge" },
    "skin": { "node": "skin", "mesh": "morph", "pose": "pose", "method": "linear" }
  },
  "outputs": { "body": "skin" }
}"#;

/// A turn of the elbow about the axis that the clip bends it about.
fn turn(asset: &Asset, degrees: f64) -> Quat<f64> {
    let node = asset.rig.find_node("forearm").expect("an elbow");
    let mut pose = asset.rig.rest_pose();
    let rotation = |pose: &Pose| match pose.locals[node] {
        LocalTransform::Trs(trs) => trs.rotation,
        LocalTransform::Matrix(_) => panic!("it moves"),
    };
    let rest = rotation(&pose);
    asset.rig.evaluate(asset.clips.first(), 1.8, &mut pose);
    let axis = (rest.inverse() * rotation(&pose)).scaled_axis();
    Quat::new(axis.normalize() * degrees.to_radians())
}

/// The arm with its elbow bent and all else at rest.
fn bent(asset: &Asset, degrees: f64) -> Pose {
    let mut pose = asset.rig.rest_pose();
    let node = asset.rig.find_node("forearm").expect("an elbow");
    if let LocalTransform::Trs(trs) = &mut pose.locals[node] {
        trs.rotation *= turn(asset, degrees);
    }
    asset.rig.finish(&mut pose);
    pose
}

/// Where formula and linear skinning put the arm.
fn bulging(asset: &Asset, pose: &Pose, degrees: f64) -> Vec<Vec3<f64>> {
    let chord = 2.0 * ((degrees - 120.0).to_radians() / 2.0).sin();
    let weight = (-chord * chord).exp();
    let mesh = &asset.meshes[0];
    let mut rest: Vec<Vec3<f64>> = mesh.positions.iter().map(|p| f64::vec3(*p)).collect();
    let target = mesh.morph_targets.iter().find(|t| t.name == "biceps_bulge");
    let target = target.expect("a bulge");
    for (&v, d) in target.vertices.iter().zip(&target.positions) {
        rest[v as usize] += f64::vec3(*d) * weight;
    }
    let rows = mesh.influences.as_ref().expect("weights");
    let place = |(v, p): (usize, &Vec3<f64>)| {
        let parts = rows.row(v).map(|(j, w)| {
            let joint = &asset.rig.joints()[j as usize];
            (pose.scene_from_node[joint.node] * joint.joint_from_bind).point(*p) * f64::from(w)
        });
        parts.sum()
    };
    rest.iter().enumerate().map(place).collect()
}

/// Plays the graph that a file carries in a pose that no clip has.
fn played(path: &Path, degrees: f64) -> Vec<[f32; 3]> {
    let character = Character::load(path).expect("a character");
    let document = Document::embedded(&character).expect("a graph");
    let plan = Arc::new(document.compile().expect("compiles"));
    let pose = bent(&character.asset, degrees);
    let cast = PlayInputs::load(Arc::new(character), &plan, &document.folders).expect("a cast");
    let graph = cast.bind(&plan, &[]).expect("binds");
    let runner = Runner::cpu(&graph);
    let mut player = Player::new(runner, cast, Vec::new(), None, 30.0).expect("plays");
    player.advance_posed(0, &pose).expect("a frame");
    let outputs = player.read_outputs().expect("outputs");
    match &outputs[0].1 {
        sinew::play::Output::Mesh(mesh) => mesh.positions.clone(),
        _ => panic!("a mesh"),
    }
}

/// Fitted to some frames of the clip, in which the fingers bend, too; played in poses between and with straight fingers.
#[test]
fn correctives_follow_the_pose_as_the_known_function_does() {
    let folder = tempfile::tempdir().expect("a folder");
    // The clip has keys of the bulge, too, which would play beside the formula.
    let plain = Portable::new(&arm()).expect("a file");
    let bytes = with_json(&plain.glb, |json| {
        let channels = json["animations"][0]["channels"].as_array_mut();
        let channels = channels.expect("channels");
        channels.retain(|c| c["target"]["path"] != "weights");
    });
    let path = folder.path().join("arm.glb");
    std::fs::write(&path, bytes).expect("written");
    let portable = Portable::new(&Character::load(&path).expect("a character"));
    let portable = portable.expect("a file");
    let asset = &portable.character.asset;
    let q = turn(asset, 120.0).coords;
    let graph = BULGE.replace("BENT", &format!("[{}, {}, {}, {}]", q.x, q.y, q.z, q.w));
    for drive in [SkinDrive::Pose, SkinDrive::Both] {
        let out = folder.path().join("driven.glb");
        let mut request = SkinRequest::default();
        request.clips = all_clips(asset, 4);
        request.influences = 8;
        // The bulge lies over regions of several joints.
        request.correctives = 6;
        // Weights stay: what is left is the bulge.
        request.hold = 100.0;
        request.tolerance = 1e-5;
        request.drive = drive;
        let made = baked(&portable, &graph, &request, &out);
        let report = &made.report;
        println!(
            "{drive:?}: {} {:?}",
            report.clips[0].words(),
            report.drivers
        );
        assert!(report.targets > 0 && !report.drivers.is_empty());
        for driver in &report.drivers {
            assert!(driver.joints.contains(&"forearm".to_owned()), "{driver:?}");
        }
        for degrees in [0.0, 33.0, 77.0, 101.0, 133.0] {
            let truth = bulging(asset, &bent(asset, degrees), degrees);
            let shown = played(&out, degrees);
            let off = shown.iter().zip(&truth);
            let off = off
                .map(|(a, b)| (f64::vec3(*a) - b).norm())
                .fold(0.0, f64::max);
            println!("{degrees} degrees: off by {:.4} mm at most", off * 1e3);
            // The bulge is 13 mm high.
            assert!(off < 0.02e-3, "{degrees} degrees: {off}");
        }
        let plain = report.clips[0].rms_mm;
        let driven = report.clips[0].driven_rms_mm.expect("a graph");
        match drive {
            // Keys are for others: here there are none.
            SkinDrive::Pose => assert!(driven < 0.1 * plain, "{driven} {plain}"),
            _ => assert!(driven < 0.02 && plain < 0.02, "{driven} {plain}"),
        }
    }
}

/// Joints that share a name cannot be named in a graph: what they would drive is told.
#[test]
fn what_no_pose_drives_is_told() {
    let plain = Portable::new(&arm()).expect("a file");
    let bytes = with_json(&plain.glb, |json| {
        let nodes = json["nodes"].as_array_mut().expect("nodes");
        for node in nodes.iter_mut().filter(|n| n["mesh"].is_null()) {
            node["name"] = "bone".into();
        }
    });
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bones.glb");
    std::fs::write(&path, bytes).expect("written");
    let same = Portable::new(&Character::load(&path).expect("a character"));
    for (portable, can_drive) in [(&same.expect("a file"), false), (&plain, true)] {
        let mut request = SkinRequest::default();
        request.clips = all_clips(&portable.character.asset, 10);
        request.helpers = 1;
        request.correctives = 2;
        request.drive = SkinDrive::Both;
        let made = baked(portable, MUSH, &request, &folder.path().join("out.glb"));
        let report = &made.report;
        assert_eq!(report.drivers.is_empty(), !can_drive, "{report:?}");
        assert_eq!(report.undriven.is_empty(), can_drive, "{report:?}");
        let driven = report.drivers.iter().flat_map(|d| &d.drives);
        let mut all: Vec<&String> = driven.chain(&report.undriven).collect();
        all.sort_unstable();
        let helpers = (0..report.helpers.len()).map(|h| format!("helper_{h}"));
        let targets = (0..report.targets).map(|t| format!("corrective_{t}"));
        let mut added: Vec<String> = helpers.chain(targets).collect();
        added.sort_unstable();
        assert!(!added.is_empty());
        assert_eq!(all, added.iter().collect::<Vec<_>>(), "each once");
    }
}

/// A file that has helpers gets others, and the report says what they are called there.
#[test]
fn a_report_names_helpers_as_the_file_does() {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (folder.path().join("a.glb"), folder.path().join("b.glb"));
    let bake = |character: &Character, out: &Path| {
        let portable = Portable::new(character).expect("a file");
        let mut request = SkinRequest::default();
        request.clips = all_clips(&portable.character.asset, 10);
        request.helpers = 1;
        baked(&portable, MUSH, &request, out).report.helpers
    };
    let of_first = bake(&arm(), &first);
    let again = Character::load(&first).expect("a character");
    let of_second = bake(&again, &second);
    assert_eq!(of_first[0].0, "helper_0");
    let json = read_gltf(&second).expect("a file").document.json.clone();
    let nodes = json["nodes"].as_array().expect("nodes");
    let named = |name: &str| -> Vec<usize> {
        let is_meant = |n: &usize| nodes[*n]["name"] == name;
        (0..nodes.len()).filter(is_meant).collect()
    };
    let (name, parent) = &of_second[0];
    assert_ne!(*name, of_first[0].0);
    let (child, parent) = (named(name), named(parent));
    assert_eq!((child.len(), parent.len()), (1, 1), "{of_second:?}");
    let children = nodes[parent[0]]["children"].as_array().expect("children");
    assert!(children.contains(&child[0].into()), "{of_second:?}");
    assert_eq!(child[0], nodes.len() - 1, "the one that came in");
}

/// What is held out changes nothing but the report, and is measured as it is.
#[test]
fn held_out_frames_take_no_part() {
    let portable = Portable::new(&arm()).expect("a file");
    let asset = &portable.character.asset;
    let folder = tempfile::tempdir().expect("a folder");
    let mut fitted = SkinRequest::default();
    fitted.clips = all_clips(asset, 4);
    fitted.helpers = 2;
    fitted.correctives = 4;
    fitted.drive = SkinDrive::Both;
    let others = all_clips(asset, 4).into_iter().map(|c| ClipFrames {
        numbers: c
            .numbers
            .iter()
            .map(|n| n + 2)
            .take_while(|n| *n <= 98)
            .collect(),
        ..c
    });
    let mut with = fitted.clone();
    with.held_out = others.collect();
    let (a, b) = (folder.path().join("a.glb"), folder.path().join("b.glb"));
    baked(&portable, MUSH, &fitted, &a);
    let made = baked(&portable, MUSH, &with, &b);
    let bytes = |path: &Path| std::fs::read(path).expect("a file");
    assert_eq!(bytes(&a), bytes(&b), "the same file");
    let clips = &made.report.clips;
    for clip in clips {
        println!("{}", clip.words());
        let driven = clip.driven_rms_mm.expect("a graph");
        assert!(driven < 0.5 * clip.source_rms_mm, "{clip:?}");
    }
    let held: Vec<bool> = clips.iter().map(|c| c.held_out).collect();
    assert_eq!(held, [false, true]);
    let mut again = player(&portable, MUSH);
    let measured = measure_skin(&portable, &mut again, &with, &b, &Watch::NOBODY);
    assert_eq!(&measured.expect("measured"), clips);
}
