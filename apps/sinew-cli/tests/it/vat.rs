//! `sinew bake vat` and `sinew vat` as their users meet them.

use crate::common::sequences::{ended, sequence};
use crate::common::{Place, SHIFT, SKIN, printed, said};
use sinew_testkit::files_in as content;
use std::path::Path;

#[test]
fn a_sequence_becomes_textures_a_carrier_and_players() {
    let p = Place::new();
    sequence(&p, "drops", &[9, 12, 15, 10, 0, 11]);
    let out = p.sinew(&["bake", "vat", "drops", "-o", "out", "--fps", "12"]);
    ended(&out, 0, "6 frames, triangles change");
    let names: Vec<_> = content(&p.path("out")).into_keys().collect();
    for name in [
        "drops.glb",
        "drops.vat.json",
        "drops_position.png",
        "drops_normal.png",
        "drops.wgsl",
        "drops.three.js",
        "drops.html",
        "drops.gdshader",
        "drops.unity.hlsl",
        "drops.unreal.ush",
    ] {
        assert!(names.iter().any(|n| n == name), "no {name} in {names:?}");
    }
    assert!(!p.path("out.work").exists(), "the work folder is gone");
    ended(
        &p.sinew(&["vat", "inspect", "out"]),
        0,
        "6 frames from 0 on, 12 per second",
    );
    ended(
        &p.sinew(&["vat", "verify", "out", "drops"]),
        0,
        "0 triangles lost, 0 invented",
    );
    sequence(&p, "others", &[9, 12, 15, 10, 1, 11]);
    ended(
        &p.sinew(&["vat", "verify", "out", "others"]),
        5,
        "1 triangle lost",
    );
    sequence(&p, "short", &[9, 12]);
    ended(
        &p.sinew(&["vat", "verify", "out", "short"]),
        3,
        "the sequence has 2 frames, the bake has 6",
    );
}

#[test]
fn farms_bake_in_chunks_to_the_same_bytes() {
    let p = Place::new();
    sequence(&p, "drops", &[9, 12, 15, 10, 9]);
    ended(
        &p.sinew(&["bake", "vat", "drops", "-o", "whole", "--work", "kept"]),
        0,
        "wrote",
    );
    assert!(p.path("kept").join("job.json").is_file());
    ended(&p.sinew(&["vat", "plan", "--work", "none"]), 3, "job.json");
    let scan = |chunk: &str| p.sinew(&["vat", "scan", "drops", "--work", "w", "--chunk", chunk]);
    ended(&scan("2/2"), 0, "3 of 5 frames");
    ended(
        &p.sinew(&["vat", "plan", "--work", "w"]),
        5,
        "no scans of frame 1; run `scan` first",
    );
    ended(&scan("1/2"), 0, "2 of 5 frames");
    ended(&p.sinew(&["vat", "plan", "--work", "w"]), 0, "textures of");
    for chunk in ["1/3", "2/3", "3/3"] {
        if chunk == "3/3" {
            ended(
                &p.sinew(&["vat", "assemble", "--work", "w", "-o", "parts"]),
                5,
                "no texels of frames 3-4",
            );
        }
        ended(
            &p.sinew(&["vat", "bake", "--work", "w", "--chunk", chunk]),
            0,
            "texels of",
        );
    }
    assert!(!p.path("parts").exists());
    ended(
        &p.sinew(&["vat", "assemble", "--work", "w", "-o", "parts"]),
        0,
        "wrote",
    );
    assert_eq!(content(&p.path("parts")), content(&p.path("whole")));
    ended(&scan("3/2"), 2, "no chunk");
}

/// Frames a second and clips are in the manifest; a bake at another rate has other frames.
#[test]
fn bakes_are_verified_at_their_own_rate() {
    let p = Place::new();
    let bake = ["bake", "vat", "sample:creature", "--fps", "7", "-o", "out"];
    ended(&p.sinew(&bake), 0, "frames");
    ended(
        &p.sinew(&["vat", "verify", "out", "sample:creature"]),
        0,
        "frames",
    );
    let other = ["vat", "verify", "out", "sample:creature", "--fps", "24"];
    ended(&p.sinew(&other), 3, "'walk' at 7 per second");
    // Of every second frame half as many are shown a second.
    let second = ["--frames", "0-6/2"];
    ended(&p.sinew(&[&bake[..], &second].concat()), 0, "4 frames");
    let manifest: serde_json::Value = p.text("out/walk.vat.json").parse().expect("JSON");
    assert_eq!(manifest["clips"][0]["frames_per_second"], 3.5);
    let verify = ["vat", "verify", "out", "sample:creature"];
    ended(&p.sinew(&[&verify[..], &second].concat()), 0, "4 frames");
    let head = [
        "vat",
        "verify",
        "out",
        "sample:head",
        "--mesh-output",
        "body",
    ];
    let o = p.sinew(&head);
    assert!(
        said(&o).contains("of clip 'walk', but the character has no such clip"),
        "{}",
        said(&o)
    );
}

/// The animation of a file of morph targets, beside the frames that it was made of.
#[test]
fn morph_animation_is_baked_to_the_frames_it_shows() {
    let p = Place::new();
    p.put("skin.json", SKIN);
    std::fs::create_dir(p.path("truth")).expect("a folder");
    let graph = [
        "run",
        "sample:creature",
        "--graph",
        "skin.json",
        "--fps",
        "30",
    ];
    let frames = ["--frames", "0-6", "-o", "morphs.glb", "-o", "truth/f.ply"];
    ended(&p.sinew(&[&graph[..], &frames].concat()), 0, "");
    let bake = ["bake", "vat", "morphs.glb", "--fps", "30", "-o", "out"];
    let texture = ["--texture", "position:float"];
    let baked = p.sinew(&[&bake[..], &texture].concat());
    ended(&baked, 0, "7 frames, triangles stay the same");
    // Single precision of offsets and sums, of a creature of two metres.
    let verify =
        |tolerance: &str| p.sinew(&["vat", "verify", "out", "truth", "--tolerance", tolerance]);
    ended(&verify("1e-5"), 0, "0 triangles lost");
    std::fs::copy(p.path("truth/f_0001.ply"), p.path("truth/f_0004.ply")).expect("copied");
    ended(&verify("1e-5"), 5, "differs");
}

/// A bake whose manifest was changed: plain words, and the code for what differs.
#[test]
fn facts_of_a_manifest_are_verified() {
    let p = Place::new();
    sequence(&p, "drops", &[9, 12, 15]);
    let verify = || p.sinew(&["vat", "verify", "bake", "drops"]);
    ended(
        &p.sinew(&["bake", "vat", "drops", "-o", "bake"]),
        0,
        "wrote",
    );
    ended(&verify(), 0, "0 triangles lost");
    let path = p.path("bake/drops.vat.json");
    let text = std::fs::read_to_string(&path).expect("a manifest");
    let changed = text.replace("\"can_blend\": true", "\"can_blend\": false");
    assert_ne!(changed, text);
    std::fs::write(&path, changed).expect("writes");
    let words = "differs from its sequence: `can_blend` is false: frames have ends to go to";
    ended(&verify(), 5, words);
}

/// A clip of a graph is baked; the node plays the bake, and what it shows is the bake.
#[test]
fn a_character_is_baked_and_played_back() {
    let p = Place::new();
    let bake = |out: &str| {
        p.sinew(&[
            "bake",
            "vat",
            "sample:creature",
            "--frames",
            "0-6",
            "--crease",
            "180",
            "-o",
            out,
        ])
    };
    ended(&bake("out"), 0, "7 frames, triangles stay the same");
    let files = content(&p.path("out"));
    let manifest = files
        .keys()
        .find(|n| n.ends_with(".vat.json"))
        .expect("a manifest");
    let name = manifest.trim_end_matches(".vat.json");
    p.put(
        "play.json",
        &format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "baked": {{"type": "vertex_animation", "file": "out/{manifest}"}}}},
 "nodes": {{"play": {{"node": "vat_playback", "mesh": "body", "animation": "baked"}}}}, "outputs": {{"body": "play"}}}}"#
        ),
    );
    let carrier = format!("out/{name}.glb");
    let verify = [
        "vat",
        "verify",
        "out",
        &carrier,
        "--graph",
        "play.json",
        "--frames",
        "0-6",
        "--crease",
        "180",
        "--tolerance",
        "1e-5",
    ];
    ended(&p.sinew(&verify), 0, "0 triangles lost");
    let against_source = [
        "vat",
        "verify",
        "out",
        "sample:creature",
        "--frames",
        "0-6",
        "--crease",
        "180",
    ];
    ended(&p.sinew(&against_source), 0, "7 frames");
}

#[test]
fn mistakes_are_named() {
    let p = Place::new();
    sequence(&p, "drops", &[9, 12]);
    let bake = |source: &str| p.sinew(&["bake", "vat", source, "-o", "out"]);
    ended(&bake("nothing"), 3, "cannot read nothing");
    std::fs::create_dir(p.path("shots")).expect("a folder");
    p.put("shots/walk.abc", "");
    ended(&bake("shots"), 3, "found 1 .abc files");
    ended(&bake("shots/walk.abc"), 3, "use OBJ or PLY");
    ended(
        &p.sinew(&[
            "bake",
            "vat",
            "drops",
            "-o",
            "out",
            "--texture",
            "position:png",
        ]),
        2,
        "is not a texture",
    );
    let offsets = [
        "bake",
        "vat",
        "drops",
        "-o",
        "out",
        "--texture",
        "offset:unorm16",
    ];
    ended(&p.sinew(&offsets), 2, "take positions");
    ended(
        &p.sinew(&["bake", "vat", "drops", "-o", "out", "--mode", "soft"]),
        5,
        "mode remesh",
    );
    ended(
        &p.sinew(&["bake", "vat", "drops", "-o", "out", "--max-side", "4"]),
        5,
        "a texture of 4 x 4 cannot hold them; --max-side 2048 does (WebGL 2)",
    );
    ended(
        &p.sinew(&["bake", "vat", "drops", "-o", "out", "--fps", "0"]),
        2,
        "frames_per_second is 0",
    );
    ended(
        &p.sinew(&["bake", "vat", "drops", "-o", "out", "--clip", "walk"]),
        2,
        "--clip",
    );
    let missing = [
        "bake",
        "vat",
        "drops",
        "-o",
        "out",
        "--texture",
        "position:float",
        "--texture",
        "color0:unorm8",
    ];
    ended(&p.sinew(&missing), 3, "frame 0: no color0");
    assert!(!p.path("out").exists());
    p.put("wrong.json", r#"{"frames_per_secnd": 3}"#);
    ended(
        &p.sinew(&[
            "bake",
            "vat",
            "drops",
            "-o",
            "out",
            "--settings",
            "wrong.json",
        ]),
        3,
        "frames_per_secnd",
    );
}

/// What was done stays beside the output and is spoken of; a file in its place is noticed before the work.
#[test]
fn work_that_is_kept_and_outputs_that_cannot_be_are_spoken_of() {
    let p = Place::new();
    sequence(&p, "drops", &[9, 12]);
    // A file where a folder of records has to be, as if the disk were full.
    std::fs::create_dir(p.path("out.work")).expect("a folder");
    p.put("out.work/texels", "");
    // With a file of the user's in it, and no word that it is for work, the folder is somebody else's.
    let foreign = p.sinew(&["bake", "vat", "drops", "-o", "out"]);
    ended(
        &foreign,
        2,
        "a folder with other files in it (out.work/texels)",
    );
    p.put("out.work/job.json", r#"{"format": "sinew_vat_work"}"#);
    p.put("out.work/mine.txt", "of the user");
    let full = p.sinew(&["bake", "vat", "drops", "-o", "out"]);
    ended(&full, 6, "intermediate results are kept in out.work");
    std::fs::remove_file(p.path("out.work/texels")).expect("there");
    ended(
        &p.sinew(&["bake", "vat", "drops", "-o", "out"]),
        0,
        "out.work is kept, because it has files that no bake made",
    );
    // All of the bake's own is gone.
    let left = std::fs::read_dir(p.path("out.work")).expect("there");
    let left: Vec<_> = left.flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, ["mine.txt"]);
    // The same command will never do that.
    let soft = p.sinew(&["bake", "vat", "drops", "-o", "soft", "--mode", "soft"]);
    ended(&soft, 5, "mode remesh");
    assert!(
        !said(&soft).contains("intermediate results"),
        "{}",
        said(&soft)
    );
    assert!(!p.path("soft.work").exists());
    // What was there before is nobody's to take away.
    std::fs::create_dir(p.path("soft.work")).expect("a folder");
    ended(
        &p.sinew(&["bake", "vat", "drops", "-o", "soft", "--mode", "soft"]),
        5,
        "mode remesh",
    );
    assert!(p.path("soft.work").is_dir());
    p.put("taken", "");
    let taken = p.sinew(&["bake", "vat", "drops", "-o", "taken"]);
    ended(&taken, 6, "taken is not a folder");
    assert!(
        !said(&taken).contains("intermediate results"),
        "nothing was"
    );
    let scan = |crease: &str| p.sinew(&["vat", "scan", "drops", "--work", "w", "--crease", crease]);
    let words = "earlier scans are discarded, because they are of other settings (crease_degrees);";
    assert!(!said(&scan("60")).contains(words));
    ended(&scan("30"), 0, words);
    assert!(!said(&scan("30")).contains(words));
}

/// Another format has files of other names: those of the bake before are not left beside them.
#[test]
fn a_bake_into_the_folder_of_another_leaves_none_of_its_files() {
    let p = Place::new();
    sequence(&p, "drops", &[9, 12]);
    let bake = |more: &[&str]| {
        let command = [&["bake", "vat", "drops", "-o", "out"], more].concat();
        ended(&p.sinew(&command), 0, "wrote");
    };
    bake(&["--texture", "position:float", "--points", "unique"]);
    p.put("out/notes.txt", "of the user");
    bake(&[]);
    let names: Vec<_> = content(&p.path("out")).into_keys().collect();
    ended(
        &p.sinew(&["bake", "vat", "drops", "-o", "fresh_out"]),
        0,
        "wrote",
    );
    let mut expected: Vec<_> = content(&p.path("fresh_out")).into_keys().collect();
    expected.push("notes.txt".into());
    expected.sort();
    assert_eq!(names, expected);
    std::fs::remove_file(p.path("out/drops_normal.png")).expect("there");
    ended(
        &p.sinew(&["vat", "inspect", "out"]),
        3,
        "missing files: drops_normal.png",
    );
}

/// Names that were given are looked for; Godot gets what it reads; the carrier as OBJ where it is asked for.
#[test]
fn names_that_are_missing_are_errors_and_godot_gets_textures_that_it_reads() {
    let p = Place::new();
    sparks(&p, "sparks", 0.0);
    let bake =
        |name: &str, more: &[&str]| p.sinew(&[&["bake", "vat", name, "-o", "out"], more].concat());
    ended(
        &bake("sparks", &["--point-sizes", "radius"]),
        3,
        "no scalar attribute 'radius'",
    );
    ended(
        &bake("sparks", &["--point-ids", "nope"]),
        3,
        "no scalar attribute 'nope'",
    );
    sequence(&p, "drops", &[9, 12]);
    ended(&bake("drops", &["--for", "godot", "--obj"]), 0, "wrote");
    for name in ["drops_position.png", "drops_position2.png", "drops.obj"] {
        assert!(p.path("out").join(name).is_file(), "no {name}");
    }
    ended(&bake("drops", &[]), 0, "wrote");
    assert!(!p.path("out/drops.obj").exists());
    let alone = bake("drops", &["--texture", "normal:unorm8", "--mode", "remesh"]);
    ended(&alone, 2, "add position:unorm16");
}

/// A setting of another mode is not passed over in silence.
#[test]
fn flags_of_other_modes_are_named() {
    let p = Place::new();
    sequence(&p, "drops", &[9, 12]);
    sequence(&p, "same", &[9, 9]);
    let bake =
        |name: &str, more: &[&str]| p.sinew(&[&["bake", "vat", name, "-o", "out"], more].concat());
    ended(
        &bake("drops", &["--no-blend"]),
        0,
        "--no-blend has no effect: it is for mode rigid",
    );
    ended(
        &bake("drops", &["--point-scale", "3"]),
        0,
        "--point-scale has no effect",
    );
    let unique = bake("same", &["--points", "unique", "--mode", "auto"]);
    ended(&unique, 0, "--points has no effect: it is for mode remesh");
    ended(
        &bake("drops", &["--order", "file", "--velocity", "v"]),
        0,
        "--velocity has no effect: it is for order match",
    );
    assert!(!said(&bake("drops", &[])).contains("without effect"));
}

/// A work folder knows what its frames came from, files that the graph's document only names included.
#[test]
fn a_graph_that_changed_within_is_baked_anew() {
    let p = Place::new();
    p.put(
        "outer.json",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "stack": [{"node": "graph", "file": "shift.json"}]}"#,
    );
    let source = [
        "sample:creature",
        "--graph",
        "outer.json",
        "--frames",
        "0-1",
    ];
    let baked = || {
        let bake = ["bake", "vat", "-o", "out", "--work", "kept"];
        ended(&p.sinew(&[&bake[..], &source].concat()), 0, "2 frames");
    };
    let verified = || p.sinew(&[&["vat", "verify", "out"][..], &source].concat());
    baked();
    ended(&verified(), 0, "2 frames");
    p.put("shift.json", &SHIFT.replace("[0, 0, 1]", "[0, 0, 2]"));
    ended(&verified(), 5, "differs");
    baked();
    ended(&verified(), 0, "2 frames");
}

/// Frames of two boxes, flat-shaded (24 vertices each): the second turns by `degrees` a frame around y; `bend` moves one of its vertices in frame 2.
fn boxes(p: &Place, name: &str, degrees: f64, bend: f64) {
    std::fs::create_dir_all(p.path(name)).expect("a folder");
    for frame in 0..4 {
        let mut text = String::from(
            "ply\nformat ascii 1.0\nelement vertex 48\nproperty double x\nproperty double y\nproperty double z\nelement face 12\nproperty list uchar int vertex_indices\nend_header\n",
        );
        for i in 0..2 {
            let angle = f64::from(i) * (degrees * f64::from(frame)).to_radians();
            for side in 0..6 {
                for (u, v) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
                    let mut at = [0.0; 3];
                    let sign = if side % 2 == 0 { -1.0 } else { 1.0 };
                    at[side / 2] = 0.5 * sign;
                    (at[(side / 2 + 1) % 3], at[(side / 2 + 2) % 3]) = (u * sign, v);
                    let is_bent = frame == 2 && i == 1 && at == [0.5, 0.5, 0.5];
                    let x = at[0] * angle.cos() + at[2] * angle.sin();
                    let z = at[2] * angle.cos() - at[0] * angle.sin();
                    let y = at[1] + if is_bent { bend } else { 0.0 };
                    text += &format!("{} {y} {z}\n", x + 3.0 * f64::from(i));
                }
            }
        }
        for side in 0..12 {
            let base = 4 * side;
            text += &format!("4 {} {} {} {}\n", base, base + 1, base + 2, base + 3);
        }
        p.put(&format!("{name}/{name}_{frame:04}.ply"), &text);
    }
}

#[test]
fn row_126_pieces_are_baked_and_verified_and_what_bends_is_refused() {
    let p = Place::new();
    boxes(&p, "boxes", 40.0, 0.0);
    let out = p.sinew(&["bake", "vat", "boxes", "-o", "out"]);
    ended(&out, 0, "4 frames, pieces keep their shape");
    ended(&out, 0, "2 pieces keep their shape within 0.000");
    ended(
        &out,
        0,
        "the largest turn between two frames is 40.0 degrees",
    );
    for name in ["boxes_position.png", "boxes_rotation.png", "boxes.glb"] {
        assert!(p.path("out").join(name).is_file(), "no {name}");
    }
    ended(&p.sinew(&["vat", "inspect", "out"]), 0, "rigid");
    let inspected = printed(&p.sinew(&["inspect", "out"]));
    assert!(
        inspected.contains("\npieces    2\n") && !inspected.contains("vertices"),
        "{inspected}"
    );
    ended(
        &p.sinew(&["vat", "verify", "out", "boxes"]),
        0,
        "0 triangles lost",
    );
    boxes(&p, "bent", 40.0, 0.1);
    let verified = p.sinew(&["vat", "verify", "out", "bent"]);
    ended(&verified, 5, "differs");
    let rigid = |name: &str| p.sinew(&["bake", "vat", name, "-o", "other", "--mode", "rigid"]);
    ended(&rigid("bent"), 5, "frame 2: piece 1 bends");
    boxes(&p, "fast", 178.0, 0.0);
    ended(
        &rigid("fast"),
        5,
        "frame 1: piece 1 turns by 178.0 degrees or more",
    );
    let stepping = [
        "bake",
        "vat",
        "fast",
        "-o",
        "other",
        "--mode",
        "rigid",
        "--no-blend",
    ];
    ended(&p.sinew(&stepping), 0, "2 pieces");
    ended(
        &p.sinew(&["bake", "vat", "fast", "-o", "third"]),
        0,
        "triangles stay the same",
    );
    let unknown = [
        "bake", "vat", "boxes", "-o", "none", "--mode", "rigid", "--pieces", "shard",
    ];
    ended(&p.sinew(&unknown), 5, "no scalar attribute 'shard'");
}

/// Points with numbers: point `f` is born in frame `f` and lives for three.
fn sparks(p: &Place, name: &str, shift: f32) {
    std::fs::create_dir_all(p.path(name)).expect("a folder");
    for frame in 0..6_i32 {
        let alive: Vec<i32> = (0..4).filter(|i| (*i..*i + 3).contains(&frame)).collect();
        let mut text = format!(
            "ply\nformat ascii 1.0\nelement vertex {}\nproperty int id\nproperty float x\nproperty float y\nproperty float z\nproperty float size\nend_header\n",
            alive.len()
        );
        for i in alive {
            let age = (frame - i) as f32;
            text += &format!("{i} {} {} {shift} 0.05\n", i as f32, 0.3 * age);
        }
        p.put(&format!("{name}/{name}_{frame:04}.ply"), &text);
    }
}

#[test]
fn row_125_points_are_baked_and_verified() {
    let p = Place::new();
    sparks(&p, "sparks", 0.5);
    let bake = [
        "bake",
        "vat",
        "sparks",
        "-o",
        "out",
        "--texture",
        "attribute=size:half",
    ];
    ended(&p.sinew(&bake), 0, "6 frames, points; 8 quads, textures of");
    ended(
        &p.sinew(&["vat", "scan", "sparks", "--work", "w"]),
        0,
        "6 of 6",
    );
    let plan = p.sinew(&["vat", "plan", "--work", "w"]);
    ended(&plan, 0, "8 quads, textures of");
    for name in ["sparks_position.png", "sparks_size.exr", "sparks.gdshader"] {
        assert!(p.path("out").join(name).is_file(), "no {name}");
    }
    ended(&p.sinew(&["vat", "inspect", "out"]), 0, "particles");
    // At most three points at a time, and squares for the corners of a box.
    ended(&p.sinew(&["inspect", "out"]), 0, "\nquads     8\n");
    ended(
        &p.sinew(&["vat", "verify", "out", "sparks"]),
        0,
        "0 points lost, 0 invented",
    );
    sparks(&p, "others", 0.6);
    ended(
        &p.sinew(&["vat", "verify", "out", "others"]),
        5,
        "points lost",
    );
    sequence(&p, "drops", &[9, 12]);
    let alone = [
        "bake",
        "vat",
        "drops",
        "-o",
        "none",
        "--texture",
        "normal:half",
    ];
    ended(&p.sinew(&alone), 2, "without positions");
    let normals = [
        "bake",
        "vat",
        "sparks",
        "-o",
        "none",
        "--mode",
        "particles",
        "--texture",
        "position:half",
        "--texture",
        "normal:half",
    ];
    ended(
        &p.sinew(&normals),
        2,
        "mode particles has no texture of normal",
    );
}

#[test]
fn bakes_are_made_for_engines_and_in_files_of_other_tools() {
    let p = Place::new();
    sequence(&p, "drops", &[9, 9, 9]);
    let bake = |more: &[&str]| {
        let base = ["bake", "vat", "drops", "-o", "out"];
        p.sinew(&[&base, more].concat())
    };
    ended(&bake(&["--for", "unreal"]), 0, "3 frames");
    ended(&p.sinew(&["vat", "inspect", "out"]), 0, "centimetres");
    ended(
        &p.sinew(&["vat", "verify", "out", "drops"]),
        0,
        "0 triangles lost",
    );
    ended(&bake(&["--convention", "openvat"]), 0, "remap_info.json");
    ended(&bake(&["--convention", "sidefx"]), 0, "drops_data.json");
    ended(
        &bake(&["--packed-normals"]),
        2,
        "--packed-normals needs --convention openvat",
    );
    ended(
        &bake(&["--convention", "openvat", "--compressed-normals"]),
        2,
        "--convention sidefx",
    );
    ended(
        &bake(&["--convention", "openvat", "--for", "unity"]),
        2,
        "one space",
    );
    sequence(&p, "drops", &[9, 12, 9]);
    ended(
        &bake(&["--convention", "openvat"]),
        5,
        "triangles that stay the same",
    );
}

#[test]
fn pieces_and_points_are_made_for_engines() {
    let p = Place::new();
    boxes(&p, "boxes", 40.0, 0.0);
    sparks(&p, "sparks", 0.5);
    for (engine, space) in [
        ("unity", "metres, left-handed, +Y up"),
        ("unreal", "centimetres, left-handed, +Z up"),
        ("blender", "metres, right-handed, +Z up"),
    ] {
        for (name, is) in [("boxes", "pieces keep their shape"), ("sparks", "points")] {
            let out = format!("{name}_{engine}");
            let bake = p.sinew(&["bake", "vat", name, "-o", &out, "--for", engine]);
            ended(&bake, 0, is);
            ended(&p.sinew(&["vat", "inspect", &out]), 0, space);
            let verified = p.sinew(&["vat", "verify", &out, name]);
            ended(&verified, 0, "0 invented");
            // Squares of particles need two sets of texture coordinates, which no OBJ has.
            let has_obj = p.path(&out).join(format!("{name}.obj")).exists();
            assert_eq!(has_obj, engine == "unity" && name == "boxes", "{out}");
        }
    }
}

/// Swaps codes of a PNG of three channels: those of `count` texels from column and row `a` on with those from `b` on.
fn swap_texels(path: &Path, [a, b]: [[usize; 2]; 2], count: usize) {
    use sinew::io::texture::{TexelRow, TextureChannels, TextureFormat, TextureWriter};
    use sinew::io::{Texels, read_texture};
    let picture = read_texture(path).expect("a texture");
    let (width, height) = (picture.width, picture.height);
    let (format, mut codes): (_, Vec<u16>) = match picture.texels {
        Texels::Codes8(codes) => (
            TextureFormat::Png8,
            codes.into_iter().map(u16::from).collect(),
        ),
        Texels::Codes16(codes) => (TextureFormat::Png16, codes),
        Texels::Floats(_) => panic!("PNG has codes"),
    };
    let at = |[x, y]: [usize; 2]| 3 * (y * width + x);
    for code in 0..3 * count {
        codes.swap(at(a) + code, at(b) + code);
    }
    let rgb = TextureChannels::Rgb;
    let mut out = TextureWriter::create(path, format, width, height, rgb).expect("made");
    for row in codes.chunks(3 * width) {
        let narrow: Vec<u8> = row.iter().map(|c| (*c & 255) as u8).collect();
        let row: TexelRow<'_> = match format {
            TextureFormat::Png8 => narrow[..].into(),
            _ => row.into(),
        };
        out.write_row(row).expect("written");
    }
    out.finish().expect("written");
}

/// The number behind `ends within`.
fn millimetres_of_ends(o: &std::process::Output) -> f64 {
    let text = said(o) + &printed(o);
    let behind = text.split("; ends within ").nth(1).expect("ends");
    let number = behind.split(' ').next().expect("a number");
    number.parse().expect("a number")
}

/// Nine level triangles rise by 0.1 m a frame, and go aside by as much. What is wrong is where blends go, and nothing else.
#[test]
fn blends_that_go_elsewhere_end_with_5() {
    let p = Place::new();
    sequence(&p, "drops", &[9, 9, 9]);
    let of_slots = "of the triangles that follow";
    let of_ends = "of the next frame's surface";
    for (options, file, texels, count, part, off) in [
        // Ends of the first and of the second frame.
        (
            &[][..],
            "drops_position.png",
            [[0, 1], [0, 3]],
            27,
            of_ends,
            99.8..141.6,
        ),
        // Two triangles of the second frame in each other's slots, 0.7 m apart.
        (
            &["--points", "unique"][..],
            "drops_lookup.png",
            [[0, 1], [3, 1]],
            3,
            of_slots,
            699.8..700.2,
        ),
    ] {
        let common = ["drops", "--mode", "remesh"];
        let bake = [&["bake", "vat", "-o", "out"][..], &common, options].concat();
        ended(&p.sinew(&bake), 0, "3 frames");
        let verify = [&["vat", "verify", "out"][..], &common, options].concat();
        let found = p.sinew(&verify);
        ended(&found, 0, part);
        assert!(millimetres_of_ends(&found) < 0.2);
        swap_texels(&p.path("out").join(file), texels, count);
        let found = p.sinew(&verify);
        ended(&found, 5, part);
        assert!(off.contains(&millimetres_of_ends(&found)));
        ended(&found, 5, "0 triangles lost, 0 invented");
        ended(&found, 5, "first in frame 0");
        let as_json = [&["--log-format", "json"][..], &verify].concat();
        ended(&p.sinew(&as_json), 5, part);
    }
}

/// A turn of 12 frames with a 13th that is the first again, as most programs write it: the loop has twelve.
#[test]
fn a_frame_that_closes_a_loop_is_left_out() {
    let p = Place::new();
    std::fs::create_dir_all(p.path("turn")).expect("a folder");
    for f in 0..13 {
        let (y, x) = (std::f64::consts::TAU * f64::from(f % 12) / 12.0).sin_cos();
        let corner = |dx: f64, dy: f64| format!("v {:.6} {:.6} 0\n", x + dx, y + dy);
        let text = corner(0.0, 0.0) + &corner(0.2, 0.0) + &corner(0.0, 0.2) + "f 1 2 3\n";
        p.put(&format!("turn/turn_{f:04}.obj"), &text);
    }
    let frames = |more: &[&str]| {
        let o = p.sinew(&[&["bake", "vat", "turn", "-o", "out"], more].concat());
        assert_eq!(o.status.code(), Some(0), "{}", said(&o));
        let manifest: serde_json::Value =
            serde_json::from_str(&p.text("out/turn.vat.json")).expect("JSON");
        let count = manifest["clips"][0]["count"].clone();
        (count, said(&o).contains("equals the first one"))
    };
    assert_eq!(frames(&["--at-end", "seamless-loop"]), (12.into(), true));
    let verified = ["vat", "verify", "out", "turn"];
    let first = p.sinew(&verified);
    ended(&first, 0, "12 frames");
    assert!(
        !said(&first).contains("equals the first one"),
        "told by the bake"
    );
    let clamped = [&verified[..], &["--at-end", "clamp"]].concat();
    ended(
        &p.sinew(&clamped),
        3,
        "the sequence has 13 frames, the bake has 12",
    );
    assert_eq!(frames(&[]), (12.into(), true));
    assert_eq!(frames(&["--range", "all=0..12"]), (13.into(), true));
    assert_eq!(frames(&["--at-end", "clamp"]), (13.into(), false));
    ended(&p.sinew(&verified), 0, "13 frames");
}
