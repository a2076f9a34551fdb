//! Several clips in one bake, sizes before the bake, and quantities that differ, as their users meet them.

use crate::common::sequences::{colored, ended};
use crate::common::{Place, SKIN, printed, said};
use sinew::vat::manifest::{Manifest, Mode};

fn manifest(p: &Place, file: &str) -> Manifest {
    let text = std::fs::read_to_string(p.path(file)).expect("a manifest");
    serde_json::from_str(&text).expect("a manifest")
}

fn clips(manifest: &Manifest) -> Vec<(&str, u32, u32)> {
    let clips = manifest.clips.iter();
    clips
        .map(|c| (c.name.as_str(), c.frames.first, c.frames.count))
        .collect()
}

#[test]
fn ranges_of_a_folder_are_clips_of_one_bake() {
    let p = Place::new();
    colored(&p, "drops", &[4, 5, 6, 3, 4, 4], |_| 9);
    let with = |ranges: &[&str]| {
        let mut args = vec!["bake", "vat", "drops", "-o", "out"];
        ranges.iter().for_each(|r| args.extend(["--range", r]));
        p.sinew(&args)
    };
    ended(&with(&["rise=3..5", "fall=0..2"]), 0, "6 frames");
    let made = manifest(&p, "out/drops.vat.json");
    assert_eq!(clips(&made), [("rise", 0, 3), ("fall", 3, 3)]);
    let player = std::fs::read_to_string(p.path("out/drops.gdshader")).expect("a player");
    assert!(player.contains("rise") && player.contains("fall"));
    let verify = ["vat", "verify", "out", "drops", "--range", "rise=3..5"];
    ended(
        &p.sinew(&verify),
        3,
        "the sequence has 3 frames, the bake has 6",
    );
    let both = [&verify[..], &["--range", "fall=0..2"]].concat();
    ended(&p.sinew(&both), 0, "0 triangles lost, 0 invented");
    ended(&with(&["rise=3..9"]), 2, "rise=3..9");
    ended(&with(&["rise=3..4", "rise=0..1"]), 2, "'rise' twice");
    ended(&with(&["rise"]), 2, "NAME=FIRST..LAST");
}

#[test]
fn clips_of_a_character_are_in_one_bake() {
    let p = Place::new();
    let source = [
        "sample:head",
        "--mesh-output",
        "body",
        "--fps",
        "6",
        "--clip",
        "turn",
        "--clip",
        "shake",
    ];
    let bake = [&["bake", "vat", "-o", "out"][..], &source].concat();
    ended(&p.sinew(&bake), 0, "triangles stay the same");
    let made = manifest(&p, "out/head.vat.json");
    let [("turn", 0, turn), ("shake", first, shake)] = clips(&made)[..] else {
        panic!("{:?}", made.clips);
    };
    assert_eq!((turn, turn + shake), (first, made.layout.frames));
    let verify = [&["vat", "verify", "out"][..], &source].concat();
    ended(&p.sinew(&verify), 0, "0 triangles lost");
    // Clips and rate are in the manifest.
    let open = [
        "vat",
        "verify",
        "out",
        "sample:head",
        "--mesh-output",
        "body",
    ];
    ended(&p.sinew(&open), 0, "0 triangles lost");
    let twice = [&bake[..], &["--clip", "turn"]].concat();
    ended(&p.sinew(&twice), 2, "'turn' twice");
    let frames = [
        "bake",
        "vat",
        "sample:creature",
        "-o",
        "out",
        "--frames",
        "0-1",
        "--clip",
        "a",
        "--clip",
        "b",
    ];
    ended(&p.sinew(&frames), 2, "--frames works for one clip only");
    let range = [
        "bake",
        "vat",
        "sample:creature",
        "-o",
        "out",
        "--range",
        "a=0..1",
    ];
    ended(
        &p.sinew(&range),
        2,
        "--range works for folders of files only",
    );
}

#[test]
fn colours_that_differ_are_found() {
    let p = Place::new();
    colored(&p, "drops", &[4, 5, 6], |t| 40 * t as u8);
    let textures = [
        "--texture",
        "position:unorm16",
        "--texture",
        "color0:unorm8",
    ];
    let bake = ["bake", "vat", "drops", "-o", "out"];
    ended(&p.sinew(&[&bake[..], &textures].concat()), 0, "3 frames");
    ended(
        &p.sinew(&["vat", "verify", "out", "drops"]),
        0,
        "; color0 within",
    );
    colored(&p, "others", &[4, 5, 6], |t| {
        40 * t as u8 + u8::from(t == 5) * 9
    });
    let differs = p.sinew(&["vat", "verify", "out", "others"]);
    ended(&differs, 5, "3 corners beyond that; ends within");
    ended(&differs, 5, "; first in frame 2");
}

/// The sizes that the method was published with, and what devices promise.
#[test]
fn sizes_are_proposed() {
    let p = Place::new();
    let published = p.sinew(&["vat", "size", "--triangles", "1130", "--frames", "300"]);
    ended(&published, 0, "texture   3390 x 300, one row per frame");
    for part in [
        "with end poses, two rows per frame: 3390 x 600",
        "texels    1017000 in all, 0 unused (0.00 %)",
        // 1,017,000 texels of three bytes and of three times two.
        "unorm8     3051000 bytes",
        "unorm16    6102000 bytes",
        "float      12204000 bytes",
        "WebGL 2 (2048)    no; with --max-side 2048 it is",
        "WebGPU (8192)     yes",
        "desktop (16384)   yes",
    ] {
        ended(&published, 0, part);
    }
    let padded = [
        "vat",
        "size",
        "--vertices",
        "3390",
        "--frames",
        "300",
        "--largest-side",
        "8192",
        "--power-of-two",
    ];
    ended(&p.sinew(&padded), 0, "texture   4096 x 512");
    ended(&p.sinew(&padded), 0, "1080152 unused (51.51 %)");
    let huge = [
        "vat",
        "size",
        "--triangles",
        "100000",
        "--frames",
        "1000",
        "--max-side",
        "16384",
    ];
    ended(&p.sinew(&huge), 5, "cannot hold them");
    let large = ["vat", "size", "--vertices", "100000", "--frames", "300"];
    ended(&p.sinew(&large), 5, "; --max-side 8192 does (WebGPU)");
    let few = ["vat", "size", "--vertices", "10", "--frames", "3"];
    let clip = p.sinew(&[&few[..], &["--clip", "walk"]].concat());
    ended(&clip, 2, "need a sequence; name it as well");
    let words = ["vat", "size", "--vertices", "10", "--frames", "0-3"];
    ended(&p.sinew(&words), 2, "--frames 0-3: expected a number");
    ended(&p.sinew(&["vat", "size", "--frames", "3"]), 2, "--vertices");
    // Faces are triangles.
    let faces = p.sinew(&["vat", "size", "--faces", "1130", "--frames", "300"]);
    ended(&faces, 0, "texture   3390 x 300, one row per frame");
}

/// What a size is proposed for is what a bake makes then, whatever the sequence is.
#[test]
fn sizes_of_sequences_are_those_of_their_bakes() {
    let p = Place::new();
    colored(&p, "change", &[10, 13, 11, 12], |_| 9);
    colored(&p, "same", &[5, 5, 5], |_| 9);
    p.put("file.json", r#"{"order": "file"}"#);
    let cases: [(&str, &[&str], &[&str], &str); 5] = [
        ("change", &[], &[], "mode      remesh"),
        (
            "change",
            &["--settings", "file.json"],
            &["--settings", "file.json"],
            "39 x 4",
        ),
        (
            "change",
            &["--max-side", "32"],
            &["--max-side", "32"],
            "a frame is a block of",
        ),
        ("same", &["--power-of-two"], &["--power-of-two"], "in all"),
        (
            "same",
            &["--mode", "soft"],
            &["--mode", "soft"],
            "vertices  15",
        ),
    ];
    for (i, (name, asked, settings, part)) in cases.into_iter().enumerate() {
        let size = p.sinew(&[&["vat", "size", name], asked].concat());
        ended(&size, 0, part);
        let folder = format!("out{i}");
        let bake = [&["bake", "vat", name, "-o", &folder], settings].concat();
        ended(&p.sinew(&bake), 0, "; wrote ");
        let made = manifest(&p, &format!("{folder}/{name}.vat.json"));
        let [width, height] = made.layout.size;
        ended(&size, 0, &format!("texture   {width} x {height}, "));
        let texels = match made.mode {
            Mode::Rigid => "pieces",
            _ => "vertices",
        };
        let texels = format!("{texels:<10}{}\n", made.layout.vertices);
        ended(&size, 0, &texels);
        let frames = if name == "change" { 4 } else { 3 };
        ended(&size, 0, &format!("frames    {frames}\n"));
    }
    let both = ["vat", "size", "same", "--frames", "3"];
    ended(&p.sinew(&both), 2, "--frames");
    ended(&p.sinew(&["vat", "size", "none"]), 3, "cannot read none");
}

/// In-betweens are measured by a command of their own.
#[test]
fn in_betweens_are_measured() {
    let p = Place::new();
    colored(&p, "drops", &[4, 5, 6, 5, 4], |_| 9);
    let measure = ["vat", "blend-error", "drops", "--work", "b"];
    let alone = p.sinew(&[&measure[..], &["-o", "strip.png"]].concat());
    ended(&alone, 0, "2 frames left out; error of blending: rms");
    // Frame, stepping, unmatched and blending, each 420 wide.
    let strip = sinew::io::read_png(&p.path("strip.png")).expect("a picture");
    assert!(
        strip.width() > 4 * 420 && strip.width() < 5 * 420,
        "{}",
        strip.width()
    );
    colored(&p, "two", &[4, 5], |_| 9);
    let two = p.sinew(&["vat", "blend-error", "two", "--work", "c"]);
    ended(&two, 3, "2 frames, expected 3 at least");
    let bake = ["bake", "vat", "drops", "-o", "out", "--blend-error"];
    ended(&p.sinew(&bake), 2, "unexpected argument '--blend-error'");
}

/// Nobody said how wide points are: a metre is what few are.
#[test]
fn points_without_widths_are_warned_of() {
    let p = Place::new();
    let frames = |name: &str, size: &str| {
        std::fs::create_dir(p.path(name)).expect("a folder");
        for frame in 0..3 {
            let property = if size.is_empty() {
                ""
            } else {
                "property float size\n"
            };
            let text = format!(
                "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\nproperty float z\n{property}end_header\n0 {frame} 0 {size}\n5 {frame} 0 {size}\n"
            );
            p.put(&format!("{name}/{name}_{frame}.ply"), &text);
        }
    };
    frames("bare", "");
    frames("sized", "0.02");
    let warning = "in 3 frames: points have no scalar attribute 'size' and are 1 m wide";
    let bare = ["bake", "vat", "bare", "-o", "out"];
    ended(&p.sinew(&bare), 0, warning);
    let report = std::fs::read_to_string(p.path("out/bare.report.html")).expect("a report");
    assert!(report.contains("default_width"));
    for asked in [
        &[&bare[..], &["--point-scale", "0.1"]].concat()[..],
        &["bake", "vat", "sized", "-o", "sized_vat"],
    ] {
        let made = p.sinew(asked);
        ended(&made, 0, "3 frames, points");
        assert!(!said(&made).contains("m wide"), "{}", said(&made));
    }
}

/// A bake is no graph: `sinew inspect` says what `sinew vat inspect` does.
#[test]
fn bakes_are_inspected_as_such() {
    let p = Place::new();
    colored(&p, "drops", &[4, 5], |_| 9);
    ended(
        &p.sinew(&["bake", "vat", "drops", "-o", "out"]),
        0,
        "; wrote ",
    );
    let known = p.sinew(&["vat", "inspect", "out/drops.vat.json"]);
    for path in ["out", "out/drops.vat.json"] {
        let found = p.sinew(&["inspect", path]);
        ended(&found, 0, "remesh");
        // The folder itself is not in the text, the manifest is.
        assert_eq!(printed(&found), printed(&known), "{path}");
    }
    let json = p.sinew(&["inspect", "out/drops.vat.json", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&printed(&json)).expect("JSON");
    assert_eq!(value["format"], "sinew_vat");
    std::fs::remove_file(p.path("out/drops_normal.png")).expect("there");
    ended(
        &p.sinew(&["inspect", "out"]),
        3,
        "missing files: drops_normal.png",
    );
}

#[test]
fn names_of_all_scripts_stay_and_never_take_each_others_place() {
    let p = Place::new();
    for name in ["W\u{e4}sche", "W\u{f6}sche", "take 1", "take.1"] {
        colored(&p, name, &[4, 5], |_| 9);
    }
    let bake =
        |name: &str, more: &[&str]| p.sinew(&[&["bake", "vat", name, "-o", "out"], more].concat());
    ended(&bake("W\u{e4}sche", &[]), 0, "2 frames");
    ended(&bake("W\u{f6}sche", &[]), 0, "2 frames");
    for name in ["W\u{e4}sche", "W\u{f6}sche"] {
        let made = manifest(&p, &format!("out/{name}.vat.json"));
        assert_eq!(made.name, name);
        for file in made.textures.iter().flat_map(|t| &t.files) {
            assert!(p.path("out").join(file).is_file(), "no {file}");
        }
        let verify = ["vat", "verify", &format!("out/{name}.vat.json"), name];
        ended(&p.sinew(&verify), 0, "0 triangles lost");
    }
    ended(&bake("take 1", &[]), 0, "take_1.vat.json");
    let before = sinew_testkit::files_in(&p.path("out"));
    let refused = bake("take.1", &[]);
    ended(&refused, 6, "the bake of 'take 1'");
    ended(&refused, 6, "--name");
    assert_eq!(sinew_testkit::files_in(&p.path("out")), before);
    ended(&bake("take.1", &["--name", "second"]), 0, "second.vat.json");
    let again = bake("take.1", &["--name", "take_1"]);
    ended(&again, 0, "an earlier bake of 'take 1'");
    ended(&bake("take.1", &["--name", "a/b"]), 2, "name is 'a/b'");
    ended(&bake("take.1", &["--name", ""]), 2, "name is ''");
}

#[test]
fn too_many_threads_are_refused_before_there_is_one() {
    let p = Place::new();
    colored(&p, "drops", &[4, 5], |_| 9);
    p.put("skin.json", SKIN);
    let commands: [&[&str]; 6] = [
        &["bake", "vat", "drops", "-o", "out"],
        &["vat", "bake", "--work", "w"],
        &["vat", "verify", "out", "drops"],
        &["vat", "size", "drops"],
        &["run", "sample:creature", "-o", "a.npz"],
        &["bench", "skin.json", "sample:creature"],
    ];
    for command in commands {
        for threads in ["99999", "1025", "-1", "many"] {
            let said = p.sinew(&[command, &["--threads", threads]].concat());
            ended(&said, 2, threads);
        }
    }
    let fine = [commands[0], &["--threads", "3"]].concat();
    ended(&p.sinew(&fine), 0, "2 frames");
}

/// Fewer triangles of a clip that keeps its triangles: the bake has one texel a vertex still.
#[test]
fn clips_with_fewer_faces_stay_soft() {
    let p = Place::new();
    let source = ["sample:creature", "--frames", "0-6"];
    let faces = ["--faces", "300"];
    let bake = [&["bake", "vat"], &source[..], &faces, &["-o", "out"]].concat();
    let made = p.sinew(&bake);
    ended(&made, 0, "triangles stay the same");
    ended(
        &made,
        0,
        "all frames by one collapse; distance to the source:",
    );
    let verify = [&["vat", "verify", "out"], &source[..], &faces].concat();
    ended(&p.sinew(&verify), 0, "0 triangles lost");
    let without = p.sinew(&[&["vat", "verify", "out"], &source[..]].concat());
    ended(&without, 5, "verify needs the bake's own (--faces,");
    colored(&p, "drops", &[4, 5], |_| 9);
    let forced = ["bake", "vat", "drops", "-o", "x", "--mode", "soft"];
    let forced = p.sinew(&[&forced[..], &["--faces", "3"]].concat());
    ended(&forced, 5, "--faces");
}

/// A sequence and numbers ask for the same, each in its own way; one in the words of the other is told which.
#[test]
fn sizes_with_unique_points_are_asked_for_as_bakes_are() {
    let p = Place::new();
    colored(&p, "drops", &[4, 5, 6], |_| 9);
    let size = |args: &[&str]| p.sinew(&[&["vat", "size"], args].concat());
    let of_sequence = size(&["drops", "--points", "unique", "--up", "z"]);
    ended(&of_sequence, 0, "the texture above is the lookup");
    let baked = ["bake", "vat", "drops", "--points", "unique", "-o", "out"];
    ended(&p.sinew(&baked), 0, "unique points");
    let [width, height] = manifest(&p, "out/drops.vat.json").layout.size;
    ended(&of_sequence, 0, &format!("{width} x {height}"));
    ended(
        &size(&["drops", "--points", "corners"]),
        0,
        "two rows per frame",
    );
    ended(
        &size(&["drops", "--points", "9"]),
        2,
        "--points 9: expected unique",
    );
    let numbers = ["--triangles", "6", "--frames", "3"];
    let with = |points: &str| size(&[&numbers[..], &["--points", points]].concat());
    ended(&with("18"), 0, "unique points: textures of");
    ended(&with("unique"), 2, "give the number of unique points");
    ended(&with("some"), 2, "or a number without one");
    let vertices = ["--vertices", "6", "--frames", "3", "--points", "9"];
    ended(&size(&vertices), 2, "--points NUMBER needs --triangles");
    ended(&size(&["drops", "--frames", "3"]), 2, "--frames");
}

/// Words of people, and work that is kept apart from results.
#[test]
fn single_frames_and_folders_of_bakes_are_spoken_of_as_such() {
    let p = Place::new();
    colored(&p, "drop", &[1], |_| 9);
    let bake = |work: &str| p.sinew(&["bake", "vat", "drop", "-o", "out", "--work", work]);
    ended(&bake("out"), 2, "--work and -o name the same folder");
    ended(
        &bake("w"),
        0,
        "1 frame, triangles stay the same; 1 triangle,",
    );
    let inspected = p.sinew(&["vat", "inspect", "out"]);
    for part in [
        "soft",
        "1 frame from 0 on",
        "offset    unorm16, 3 channels",
        ", loop",
    ] {
        ended(&inspected, 0, part);
    }
    ended(
        &p.sinew(&["vat", "verify", "out", "drop"]),
        0,
        "1 frame: 0 triangles lost",
    );
    let among = ["bake", "vat", "drop", "-o", "other", "--work", "out"];
    ended(&p.sinew(&among), 2, "the folder of a bake");
    assert!(!p.path("out/job.json").exists() && !p.path("other").exists());
}

/// Files of other tools come with a report, too.
#[test]
fn other_conventions_have_reports() {
    let p = Place::new();
    for (convention, files) in [
        ("openvat", ["c_vat.png", "c-remap_info.json", "c.glb"]),
        ("sidefx", ["c_pos.exr", "c_data.json", "c_mesh.glb"]),
    ] {
        let bake = [
            "bake",
            "vat",
            "sample:creature",
            "--frames",
            "0-6",
            "--name",
            "c",
        ];
        let as_asked = ["--convention", convention, "-o", convention];
        ended(&p.sinew(&[&bake[..], &as_asked].concat()), 0, "7 frames");
        let page = p.path(convention).join("c.report.html");
        let page = std::fs::read_to_string(page).expect("a report");
        assert!(page.contains("Position error per frame") && page.contains("<img"));
        for file in files {
            assert!(
                page.contains(file),
                "no {file} in the report of {convention}"
            );
            assert!(p.path(convention).join(file).is_file(), "no {file}");
        }
    }
}

/// Characters are played as bakes play them.
#[test]
fn sizes_of_clips_are_those_of_their_bakes() {
    let p = Place::new();
    let source = ["sample:creature", "--frames", "0-6", "--threads", "1"];
    let size = p.sinew(&[&["vat", "size"], &source[..]].concat());
    let bake = [&["bake", "vat"], &source[..], &["--name", "a", "-o", "out"]].concat();
    ended(&p.sinew(&bake), 0, "7 frames");
    let layout = manifest(&p, "out/a.vat.json").layout;
    let [width, height] = layout.size;
    ended(&size, 0, "frames    7\n");
    ended(&size, 0, &format!("vertices  {}\n", layout.vertices));
    ended(&size, 0, &format!("texture   {width} x {height}, "));
}

/// What is asked for and makes no sense is named, with what would do.
#[test]
fn faults_of_work_folders_names_and_numbers_are_told_in_few_words() {
    let p = Place::new();
    colored(&p, "drops", &[4, 5], |_| 9);
    std::fs::create_dir_all(p.path("empty")).expect("a folder");
    for step in ["plan", "bake"] {
        let none = p.sinew(&["vat", step, "--work", "empty"]);
        ended(&none, 3, "no job.json, so no work folder; run `scan` first");
    }
    let bake = |more: &[&str]| p.sinew(&[&["bake", "vat", "drops", "-o", "out"], more].concat());
    ended(&bake(&["--name", "con"]), 2, "Windows keeps this one");
    ended(
        &bake(&["--retriangulate-tolerance", "-1"]),
        2,
        "retriangulate_tolerance is -1, expected a number of metres",
    );
    let scan = |more: &[&str]| p.sinew(&[&["vat", "scan", "drops", "--work", "w"], more].concat());
    ended(&scan(&[]), 0, "2 frames");
    let other = scan(&["--crease", "12"]);
    ended(
        &other,
        0,
        "w: earlier scans are discarded, because they are of other settings (crease_degrees); use the same for all chunks",
    );
}
