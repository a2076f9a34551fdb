//! The binary as its users meet it: exit codes, messages, files.

use crate::common::{Place, SHIFT, SKIN, printed, said};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[track_caller]
fn expect(o: &Output, code: i32, message: &str) {
    assert_eq!(o.status.code(), Some(code), "{}", said(o));
    assert!(
        said(o).contains(message),
        "expected '{message}' in:\n{}",
        said(o)
    );
}

#[test]
fn run_deforms_and_writes() {
    let p = Place::new();
    expect(
        &p.sinew(&[
            "run",
            "square.obj",
            "-g",
            "shift.json",
            "--set",
            "w=0.5",
            "-o",
            "out.obj",
        ]),
        0,
        "wrote out.obj",
    );
    let vertices: Vec<String> = p
        .text("out.obj")
        .lines()
        .filter(|l| l.starts_with("v "))
        .map(str::to_owned)
        .collect();
    assert_eq!(
        vertices,
        ["v 0 0 0.5", "v 1 0 0.5", "v 1 1 0.5", "v 0 1 0.5"]
    );
}

#[test]
fn run_compresses_glb_files_and_names_the_error() {
    let p = Place::new();
    let run = |compress: &str, file: &str| {
        let frames = ["--frames", "0-6/2", "--compress", compress, "-o", file];
        p.sinew(&[&["run", "sample:ball"][..], &frames].concat())
    };
    expect(&run("meshopt", "x.npz"), 2, "--compress is for .glb files");
    assert!(
        !p.files().contains(&"x.npz".to_owned()),
        "nothing is written"
    );
    expect(&run("none", "plain.glb"), 0, "wrote plain.glb");
    let size = |file: &str| std::fs::metadata(p.path(file)).expect("written").len();
    for compress in ["quantize", "meshopt"] {
        let out = run(compress, "small.glb");
        expect(&out, 0, "small.glb: positions are rounded by at most 0.0");
        assert!(size("small.glb") * 10 < size("plain.glb") * 7, "{compress}");
        let json = p.sinew(&["inspect", "small.glb", "--json"]);
        assert!(printed(&json).contains("bounce"), "{}", printed(&json));
    }
}

/// The first file is the rest mesh. In the last frame, vertex 1 is 3 m along x, and the graph moves all by 1 m along z.
#[test]
fn run_tells_what_it_wrote() {
    let p = Place::new();
    for x in 1..=3 {
        let name = format!("wave_{x:04}.obj");
        p.put(
            &name,
            &format!("v 0 0 0\nv {} 0 0\nv 0 1 0\nf 1 2 3\n", 2 * x),
        );
    }
    let run = |more: &[&str]| {
        let line = ["run", "wave_####.obj", "-g", "shift.json", "-o", "out.obj"];
        p.sinew(&[&line[..], &["-o", "out.pc2", "--force"], more].concat())
    };
    let metres = 17.0_f64.sqrt();
    let words = "largest movement from rest: 4.1231 m, frame 3, vertex 1 of output 'body'";
    expect(&run(&[]), 0, words);
    expect(&run(&[]), 0, "3 frames in 4 files, ");
    let lines = said(&run(&["--log-format", "json"]));
    let lines = lines.lines().map(serde_json::from_str::<serde_json::Value>);
    let mut lines = lines.map(|l| l.expect("JSON"));
    let found = lines.find(|l| l["event"] == "summary").expect("told");
    let files = ["out_0001.obj", "out_0002.obj", "out_0003.obj", "out.pc2"];
    let size = |f: &&str| std::fs::metadata(p.path(f)).expect("written").len();
    assert_eq!(found["bytes"], files.iter().map(size).sum::<u64>());
    assert_eq!((&found["frames"], &found["files"]), (&3.into(), &4.into()));
    let largest = &found["largest_movement"];
    let of = largest["metres"].as_f64().expect("a number");
    assert!((of - metres).abs() < 1e-6, "{of}");
    assert_eq!(
        (&largest["frame"], &largest["vertex"]),
        (&3.into(), &1.into())
    );
    assert!(found["seconds"].as_f64().is_some_and(|s| s > 0.0));
    assert_eq!(said(&run(&["--quiet"])), "");
}

#[test]
fn run_takes_lists_of_frames() {
    let p = Place::new();
    let run = |frames: &str, out: &str| {
        let line = ["run", "square.obj", "-g", "shift.json", "-o", out];
        p.sinew(&[&line[..], &["--frames", frames]].concat())
    };
    expect(&run("0,5,10-14/2", "out.obj"), 0, "5 frames in 5 files");
    let files = p.files();
    let ours = files.iter().filter(|f| f.starts_with("out_"));
    let numbers = ["0000", "0005", "0010", "0012", "0014"].map(|n| format!("out_{n}.obj"));
    assert!(ours.eq(&numbers), "{files:?}");
    expect(&run("3,1", "x.npz"), 2, "frame 1 comes after frame 3");
    expect(
        &run("0,1,5", "x.pc2"),
        2,
        "x.pc2 has one step between all frames",
    );
    expect(&run("0,5,10", "even.pc2"), 0, "wrote even.pc2");
}

#[test]
fn run_plays_sequences_that_keep_their_triangles() {
    let p = Place::new();
    for (name, x) in [("wave_0001.obj", 1), ("wave_0002.obj", 2)] {
        p.put(name, &format!("v 0 0 0\nv {x} 0 0\nv 0 1 0\nf 1 2 3\n"));
    }
    let arguments = ["run", "wave_####.obj", "-g", "shift.json", "-o", "out.obj"];
    expect(&p.sinew(&arguments), 0, "out_0001.obj to out_0002.obj");
    let second = std::fs::read_to_string(p.path("out_0002.obj")).expect("written");
    let moved = second.lines().filter_map(|l| l.strip_prefix("v "));
    assert_eq!(moved.collect::<Vec<_>>()[1], "2 0 1", "{second}");

    p.put(
        "wave_0003.obj",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n",
    );
    let why = "wave_0003.obj: points: found 4, expected 3 as in wave_0001.obj";
    expect(&p.sinew(&arguments), 3, why);
}

#[test]
fn every_format_is_written_at_once() {
    let p = Place::new();
    let names = ["o.glb", "o.npz", "o.pc2", "o.mdd", "o.ply"];
    let mut arguments = vec!["run", "square.obj", "-g", "shift.json", "--frames", "0-2"];
    names.iter().for_each(|n| arguments.extend(["-o", n]));
    expect(
        &p.sinew(&arguments),
        0,
        "wrote 3 files, o_0000.ply to o_0002.ply",
    );
    let files = p.files();
    for name in [
        "o.glb",
        "o.npz",
        "o.pc2",
        "o.mdd",
        "o_0000.ply",
        "o_0002.ply",
    ] {
        assert!(files.iter().any(|f| f == name), "{name} in {files:?}");
    }
    let inspected = printed(&p.sinew(&["inspect", "o.pc2", "--json"]));
    let report: serde_json::Value = serde_json::from_str(&inspected).expect("JSON");
    assert_eq!(
        (&report["frames"], &report["points"]),
        (&3.into(), &4.into())
    );
}

#[test]
fn exit_codes_tell_what_is_wrong() {
    let p = Place::new();
    let run = |rest: &[&str]| p.sinew(&[&["run"], rest].concat());
    let before = p.files();
    expect(
        &run(&["square.obj", "-g", "shift.json", "-o", "out.fbx"]),
        2,
        "unknown file extension, expected .glb, .npz",
    );
    expect(
        &run(&[
            "square.obj",
            "-g",
            "shift.json",
            "--frames",
            "5-1",
            "-o",
            "out.obj",
        ]),
        2,
        "--frames",
    );
    expect(
        &run(&[
            "square.obj",
            "-g",
            "shift.json",
            "--clip",
            "walk",
            "-o",
            "out.obj",
        ]),
        2,
        "no clip 'walk'",
    );
    expect(
        &run(&[
            "square.obj",
            "-g",
            "shift.json",
            "--set",
            "w=3",
            "-o",
            "out.obj",
        ]),
        2,
        "out of range",
    );
    expect(
        &run(&[
            "square.obj",
            "-g",
            "shift.json",
            "--set",
            "v=3",
            "-o",
            "out.obj",
        ]),
        2,
        "known: w",
    );
    expect(
        &run(&["missing.glb", "-g", "shift.json", "-o", "out.obj"]),
        3,
        "missing.glb",
    );
    p.put("bad.json", "{\"sinew\": \"1.0\", \"stack\": [\"skn\"]}");
    expect(
        &run(&["square.obj", "-g", "bad.json", "-o", "out.obj"]),
        4,
        "there is no node kind 'skn'",
    );
    p.put("skin.json", "{\"sinew\": \"1.0\", \"stack\": [\"skin\"]}");
    expect(
        &run(&["square.obj", "-g", "skin.json", "-o", "out.obj"]),
        5,
        "node 'skin'",
    );
    expect(
        &run(&["square.obj", "-g", "shift.json", "-o", "square.obj/out.obj"]),
        6,
        "square.obj is not a folder",
    );
    std::fs::remove_file(p.path("bad.json")).expect("remove");
    std::fs::remove_file(p.path("skin.json")).expect("remove");
    assert_eq!(p.files(), before, "nothing was left behind");
}

/// A square with one morph target, which moves it by 1 along z, and a graph that takes its weight as a value.
fn with_target() -> Place {
    let p = Place::new();
    p.put(
        "keyed.json",
        &SHIFT.replace("\"$w\"", r#"{"keys": [[0, 0], [1, 1]]}"#),
    );
    let glb = ["run", "square.obj", "-g", "keyed.json", "--fps", "1"];
    let rest = ["--frames", "0-1", "-o", "target.glb"];
    expect(&p.sinew(&[&glb[..], &rest].concat()), 0, "wrote target.glb");
    p.put(
        "morph.json",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "w": {"type": "values", "count": 1}},
 "stack": [{"node": "morph", "weights": "w"}]}"#,
    );
    p
}

#[test]
fn values_come_from_files() {
    let p = with_target();
    let run = |values: &str, frames: &str, out: &str| {
        let all = ["run", "target.glb", "-g", "morph.json", "--values", values];
        p.sinew(&[&all[..], &["--frames", frames, "-o", out]].concat())
    };
    let heights = |name: &str| -> Vec<String> {
        let text = p.text(name);
        let lines = text.lines().filter(|l| l.starts_with("v "));
        lines
            .filter_map(|l| l.split(' ').nth(3).map(str::to_owned))
            .collect()
    };
    p.put("one.json", "[0.5]");
    expect(&run("w=one.json", "7", "a.obj"), 0, "wrote a.obj");
    assert_eq!(heights("a.obj"), ["0.5"; 4]);
    // One number a frame, by the number of the frame, in each of the three ways to write it.
    p.put("list.json", "[0, 0.25, 0.5, 0.75]");
    p.put("rows.json", "[[0], [0.25], [0.5], [0.75]]");
    let mut npy = b"\x93NUMPY\x01\0\x40\0".to_vec();
    npy.extend(
        format!(
            "{:<63}\n",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 1), }"
        )
        .as_bytes(),
    );
    npy.extend(
        [0.0_f32, 0.25, 0.5, 0.75]
            .iter()
            .flat_map(|v| v.to_le_bytes()),
    );
    std::fs::write(p.path("rows.npy"), npy).expect("write");
    for file in ["list.json", "rows.json", "rows.npy"] {
        expect(&run(&format!("w={file}"), "2-3", "b.obj"), 0, "wrote");
        assert_eq!(heights("b_0002.obj"), ["0.5"; 4], "{file}");
        assert_eq!(heights("b_0003.obj"), ["0.75"; 4], "{file}");
    }
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let p = with_target();
    p.put("two.json", "[[1, 2], [3, 4]]");
    p.put("list.json", "[0, 0.25, 0.5, 0.75]");
    p.put("text.json", "[\"x\"]");
    p.put("huge.json", "[1e39]");
    let run = |rest: &[&str]| {
        let all = ["run", "target.glb", "-g", "morph.json", "-o", "out.obj"];
        p.sinew(&[&all[..], rest].concat())
    };
    let before = p.files();
    for (rest, code, message) in [
        (
            &[][..],
            2,
            "input 'w' (values, count 1) is not given; add --values w=FILE",
        ),
        (&["--values", "w"], 2, "expected NAME=FILE"),
        (
            &["--values", "v=list.json"],
            2,
            "no values input 'v'; known: w",
        ),
        (
            &[
                "--values",
                "w=list.json",
                "--values",
                "w=list.json",
                "--frames",
                "0",
            ],
            2,
            "'w' is given twice",
        ),
        (&["--values", "w=none.json"], 3, "none.json"),
        (
            &["--values", "w=text.json"],
            3,
            "text.json: row 0, column 0: found '\"x\"', expected a number",
        ),
        (&["--values", "w=huge.json"], 3, "expected a finite number"),
        (&["--values", "w=square.obj"], 3, "use .json or .npy"),
        (
            &["--values", "w=two.json"],
            5,
            "input 'w': two.json: found 2 values per frame, expected 1",
        ),
        (
            &["--values", "w=list.json", "--frames", "2-4"],
            5,
            "found 4 rows, expected one for each frame from 0 to 4",
        ),
    ] {
        expect(&run(rest), code, message);
    }
    assert_eq!(p.files(), before, "nothing was written");
}

#[test]
fn graph_problems_are_underlined() {
    let p = Place::new();
    p.put(
        "bad.json",
        "{\n  \"sinew\": \"1.0\",\n  \"stack\": [{\"node\": \"transform\", \"wieght\": 1}]\n}",
    );
    let o = p.sinew(&["check", "bad.json"]);
    expect(&o, 4, "bad.json:3:35");
    assert!(
        said(&o).contains("^^^^^^^^") && said(&o).contains("did you mean 'weight'?"),
        "{}",
        said(&o)
    );
}

#[test]
fn nested_graphs_are_relative_to_the_document_that_names_them() {
    let p = Place::new();
    std::fs::create_dir_all(p.path("graphs/parts")).expect("folders");
    let nest = |file: &str| {
        format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}}}, "nodes": {{"n": {{"node": "graph", "file": "{file}", "body": "body"}}}}, "outputs": {{"body": "n"}}}}"#
        )
    };
    p.put("graphs/main.json", &nest("parts/arm.json"));
    p.put("graphs/parts/arm.json", &nest("finger.json"));
    p.put("graphs/parts/finger.json", SHIFT);
    // A decoy where a wrong rule would look.
    p.put("graphs/finger.json", "{}");
    expect(
        &p.sinew(&[
            "run",
            "square.obj",
            "-g",
            "graphs/main.json",
            "-o",
            "out.obj",
        ]),
        0,
        "wrote",
    );
    assert!(
        p.text("out.obj").contains("v 1 1 1"),
        "{}",
        p.text("out.obj")
    );
    p.put("graphs/parts/finger.json", &nest("arm.json"));
    expect(
        &p.sinew(&["check", "graphs/main.json"]),
        4,
        "contains itself",
    );
}

#[test]
fn json_logs_are_json() {
    let p = Place::new();
    let o = p.sinew(&[
        "run",
        "square.obj",
        "-g",
        "shift.json",
        "--frames",
        "0-3",
        "-o",
        "out.obj",
        "--log-format",
        "json",
    ]);
    let lines: Vec<serde_json::Value> = said(&o)
        .lines()
        .map(|l| serde_json::from_str(l).expect("one object a line"))
        .collect();
    assert!(
        lines
            .iter()
            .any(|l| l["event"] == "progress" && l["done"] == 4 && l["total"] == 4),
        "{lines:?}"
    );
    let o = p.sinew(&[
        "run",
        "missing.glb",
        "-g",
        "shift.json",
        "-o",
        "out.obj",
        "--log-format",
        "json",
    ]);
    let last: serde_json::Value =
        serde_json::from_str(said(&o).lines().last().expect("a line")).expect("JSON");
    assert_eq!(last["exit"], 3);
}

#[test]
fn the_starter_graph_is_valid_and_kept() {
    let p = Place::new();
    expect(&p.sinew(&["init", "mine.json"]), 0, "wrote mine.json");
    expect(&p.sinew(&["check", "mine.json"]), 0, "no errors");
    expect(&p.sinew(&["init", "mine.json"]), 2, "--force");
    let explained = printed(&p.sinew(&["check", "mine.json", "--explain"]));
    assert!(
        explained.contains("update (each frame):") && explained.contains("blend = $blend"),
        "{explained}"
    );
}

/// `sample:head` has morph targets, a skin and strands; a plain mesh has nothing to move.
#[test]
fn starter_graphs_are_made_for_a_character() {
    let p = Place::new();
    let nodes = |character: &str| {
        let o = p.sinew(&["init", "--force", "mine.json", "--for", character]);
        expect(&o, 0, &format!("sinew run {character} --graph mine.json"));
        expect(
            &p.sinew(&["check", "mine.json", "--character", character]),
            0,
            "no errors",
        );
        let text = std::fs::read_to_string(p.path("mine.json")).expect("written");
        ["morph", "skin", "delta_mush"].map(|n| text.contains(&format!(r#""node": "{n}""#)))
    };
    assert_eq!(nodes("sample:arm"), [true; 3]);
    assert_eq!(nodes("sample:head"), [false, true, true]);
    assert_eq!(nodes("square.obj"), [false; 3]);
    expect(
        &p.sinew(&["init", "--force", "--for", "none.glb"]),
        3,
        "none.glb",
    );
}

#[test]
fn outputs_that_no_file_holds_are_told() {
    let p = Place::new();
    p.put("f.json", r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
 "nodes": {"skin": {"node": "skin", "mesh": "body", "pose": "pose"}, "field": {"node": "sdf", "mesh": "skin", "cells": 16},
  "rods": {"node": "solids", "capsules": [{"from": [0, 0, 0], "to": [1, 0, 0], "radius": 0.1}]}},
 "outputs": {"body": "skin", "field": "field", "rods": "rods", "pose": "pose"}}"#);
    let run = |out: &str| {
        p.sinew(&[
            "run",
            "sample:arm",
            "-g",
            "f.json",
            "--frames",
            "3",
            "-o",
            out,
        ])
    };
    let obj = run("a.obj");
    expect(
        &obj,
        0,
        "output 'field' is not written: it is a field, which can be stored in .npz only",
    );
    let npz = run("a.npz");
    let told = said(&npz);
    assert!(!told.contains("'field'"), "{told}");
    for left in [
        "output 'rods' is not written: it is a field of solids",
        "output 'pose' is not written: it is a pose",
    ] {
        assert!(told.contains(left), "{told}");
    }
    let bytes = std::fs::read(p.path("a.npz")).expect("written");
    for name in ["field.npy", "field_matrix.npy"] {
        assert!(
            bytes.windows(name.len()).any(|w| w == name.as_bytes()),
            "{name}"
        );
    }
}

#[test]
fn run_needs_no_graph() {
    let p = Place::new();
    let run = |rest: &[&str]| p.sinew(&[&["run"], rest, &["--frames", "12"]].concat());
    expect(&run(&["square.obj", "-o", "plain.obj"]), 0, "plain.obj");
    expect(&run(&["sample:arm", "-o", "arm.obj"]), 0, "arm.obj");
    p.put(
        "skin.json",
        r#"{"sinew": "1.0", "stack": ["morph", {"node": "skin", "method": "linear"}]}"#,
    );
    expect(
        &run(&["sample:arm", "-g", "skin.json", "-o", "skin.obj"]),
        0,
        "skin.obj",
    );
    let read = |name: &str| std::fs::read(p.path(name)).expect("written");
    assert_eq!(read("arm.obj"), read("skin.obj"));
}

#[test]
fn what_a_clip_animates_and_no_node_reads_is_a_warning() {
    let p = Place::new();
    let graph = |nodes: &str| {
        p.put(
            "g.json",
            &format!(r#"{{"sinew": "1.0", "stack": [{nodes}]}}"#),
        );
        said(&p.sinew(&["check", "g.json", "--character", "sample:arm"])).to_owned()
    };
    let smooth = graph(r#"{"node": "smooth", "weld_tolerance": 0}"#);
    assert!(
        smooth.contains("clip 'bend' moves joints of mesh"),
        "{smooth}"
    );
    let skin = graph(r#""skin""#);
    assert!(skin.contains("1 of the 1 morph targets"), "{skin}");
    let skin = graph(r#""morph", "skin""#);
    assert!(!skin.contains("no node reads"), "{skin}");
}

#[test]
fn setup_is_cached_and_damage_is_noticed() {
    let p = Place::new();
    p.put("smooth.json", r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "parameters": {"s": {"type": "float", "default": 0.5}}, "stack": [{"node": "smooth", "pin_border": false, "blend": "$s"}]}"#);
    let run = |out: &str| {
        p.sinew(&[
            "run",
            "square.obj",
            "-g",
            "smooth.json",
            "--cache",
            "setup.bin",
            "-o",
            out,
        ])
    };
    expect(&run("a.obj"), 0, "setup written");
    expect(&run("b.obj"), 0, "setup read");
    assert_eq!(p.text("a.obj"), p.text("b.obj"));
    let mut bytes = std::fs::read(p.path("setup.bin")).expect("read");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(p.path("setup.bin"), &bytes).expect("write");
    expect(&run("c.obj"), 0, "damaged");
    assert_eq!(p.text("a.obj"), p.text("c.obj"));
}

#[test]
fn the_registry_is_listed() {
    let p = Place::new();
    let list = printed(&p.sinew(&["nodes"]));
    for word in ["skin", "delta_mush", "lattice", "wrap"] {
        assert!(list.lines().any(|l| l.starts_with(word)), "{word}");
    }
    assert!(
        printed(&p.sinew(&["nodes", "skin"])).contains("dual_quaternion"),
        "page"
    );
    expect(&p.sinew(&["nodes", "skni"]), 2, "there is no node");
    let schema: serde_json::Value =
        serde_json::from_str(&printed(&p.sinew(&["schema"]))).expect("JSON");
    assert!(schema["$defs"]["node_skin"].is_object(), "schema");
    for arguments in [&["doctor"][..], &["man"], &["completions", "bash"]] {
        let o = p.sinew(arguments);
        assert!(o.status.success() && !o.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_doctor_speaks_json() {
    let p = Place::new();
    let o = p.sinew(&["doctor", "--log-format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&printed(&o)).expect("JSON");
    assert!(report["threads"].as_u64() > Some(0), "{report}");
    let adapters = report["gpu"]["adapters"].as_array().expect("a list");
    let taken = adapters.iter().filter(|a| a["taken"] == true).count();
    if cfg!(feature = "gpu") && !adapters.is_empty() && std::env::var("SINEW_ADAPTER").is_err() {
        assert_eq!(taken, 1, "{report}");
        let limits = &adapters[0]["limits"];
        assert!(limits["buffer_bytes"].as_u64() > Some(0), "{report}");
        let speed = &report["gpu"]["copy_bandwidth"]["gb_per_s"];
        assert!(speed.as_f64() > Some(0.0), "{report}");
    }
}

#[test]
fn the_doctor_lists_adapters_where_the_wanted_one_is_missing() {
    let p = Place::new();
    let o = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["doctor", "--log-format", "json"])
        .env("SINEW_ADAPTER", "no such adapter")
        .current_dir(p.path("."))
        .output()
        .expect("the program starts");
    let report: serde_json::Value = serde_json::from_str(&printed(&o)).expect("JSON");
    let gpu = &report["gpu"];
    let adapters = gpu["adapters"].as_array().expect("a list");
    assert!(adapters.iter().all(|a| a["taken"] == false), "{gpu}");
    if let Some(first) = adapters.first() {
        let message = gpu["message"].as_str().expect("a message");
        assert!(message.contains("'no such adapter'"), "{message}");
        let name = first["name"].as_str().expect("a name");
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn the_doctor_says_what_to_install() {
    let p = Place::new();
    // No Vulkan driver in either way of naming them.
    let o = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .arg("doctor")
        .env("VK_DRIVER_FILES", p.path("none.json"))
        .env("VK_ICD_FILENAMES", p.path("none.json"))
        .output()
        .expect("the program starts");
    assert!(o.status.success(), "{}", said(&o));
    if cfg!(all(feature = "gpu", target_os = "linux")) {
        assert!(printed(&o).contains("adapters none"), "{}", printed(&o));
        assert!(
            said(&o).contains("mesa-vulkan-drivers libvulkan1"),
            "{}",
            said(&o)
        );
    }
}

#[test]
fn the_docs_pages_are_those_of_the_registry() {
    let p = Place::new();
    expect(&p.sinew(&["nodes", "--pages", "pages"]), 0, "wrote");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/nodes");
    for page in std::fs::read_dir(p.path("pages")).expect("list") {
        let page = page.expect("entry").path();
        let name = page.file_name().expect("a name");
        let stored = std::fs::read_to_string(docs.join(name)).unwrap_or_default();
        assert!(
            stored == std::fs::read_to_string(&page).expect("read"),
            "docs/nodes/{} is old: sinew nodes --pages docs/nodes",
            name.display()
        );
    }
}

#[test]
fn malformed_files_end_in_a_message() {
    let Some(folder) = shared() else {
        return println_skipped();
    };
    let p = Place::new();
    let repaired = ["gltf_weights_sum_0_7.glb", "gltf_zero_weight_vertices.glb"];
    for file in std::fs::read_dir(folder.join("malformed")).expect("list") {
        let path = file.expect("entry").path();
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let known = ["glb", "gltf", "obj", "ply"]
            .iter()
            .any(|e| name.ends_with(e));
        if !known {
            continue;
        }
        let o = p.sinew(&["inspect", &path.to_string_lossy()]);
        let fine = name.starts_with('_') || repaired.contains(&name.as_str());
        assert_eq!(
            o.status.code(),
            Some(if fine { 0 } else { 3 }),
            "{name}: {}",
            said(&o)
        );
        assert!(fine || said(&o).contains(&name), "{name}: {}", said(&o));
    }
    let o = p.sinew(&[
        "inspect",
        &folder.join("characters/cesium_man.gltf").to_string_lossy(),
    ]);
    assert!(
        o.status.success() && printed(&o).contains("210"),
        "{}",
        printed(&o)
    );
}

fn shared() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    path.is_dir().then_some(path)
}

#[expect(clippy::print_stdout, reason = "a skip is said aloud")]
fn println_skipped() {
    println!("skipped: no shared data");
}

/// What is wrong with the character is an input's fault, what is wrong with the place of the result an output's.
#[test]
fn embed_says_whose_fault_it_is() {
    let p = Place::new();
    let embed = |character: &str, output: &str| {
        p.sinew(&["embed", character, "-g", "shift.json", "-o", output])
    };
    expect(&embed("none.glb", "out.glb"), 3, "cannot read none.glb");
    expect(
        &embed("square.obj", "out.glb"),
        3,
        "square.obj: byte 0: found 'v 0 ', expected 'glTF'",
    );
    let made = p.sinew(&["run", "square.obj", "-g", "shift.json", "-o", "made.glb"]);
    expect(&made, 0, "wrote made.glb");
    expect(
        &embed("made.glb", "square.obj/out.glb"),
        6,
        "square.obj is not a folder",
    );
    expect(&embed("made.glb", "out.glb"), 0, "wrote out.glb");
}

/// A sample with a graph in it is the character and the graph that it was made from, strands included.
#[test]
fn embed_takes_built_in_samples() {
    let p = Place::new();
    p.put("skin.json", crate::common::SKIN);
    let run = |arguments: &[&str]| expect(&p.sinew(arguments), 0, "wrote");
    run(&["embed", "sample:arm", "-g", "skin.json", "-o", "arm.glb"]);
    run(&["run", "arm.glb", "-f", "20", "-o", "embedded.ply"]);
    let beside = ["run", "sample:arm", "-g", "skin.json", "-f", "20"];
    run(&[&beside[..], &["-o", "beside.ply"]].concat());
    let read = |name: &str| sinew::io::read_mesh(&p.path(name)).expect("a mesh");
    let (embedded, beside) = (read("embedded.ply"), read("beside.ply"));
    let pairs = embedded.meshes[0].positions.iter();
    let pairs = pairs.zip(&beside.meshes[0].positions);
    assert!(pairs.len() > 1_000, "{}", pairs.len());
    for (a, b) in pairs {
        let apart = (0..3).map(|k| (a[k] - b[k]).abs()).fold(0.0, f32::max);
        assert!(apart < 1e-6, "{a:?} and {b:?}");
    }
    run(&["embed", "sample:head", "-g", "skin.json", "-o", "head.glb"]);
    let head = sinew::play::Character::load(&p.path("head.glb")).expect("a character");
    let strands = head.asset.strands[0].topology.strands();
    assert_eq!(strands.map(sinew::geom::Strands::len), Some(900));
    let other = ["embed", "sample:leg", "-g", "skin.json", "-o", "leg.glb"];
    expect(
        &p.sinew(&other),
        2,
        "there is no sample 'leg'; known: sample:arm",
    );
}

/// Three errors that do not depend on each other: two names, and an index into the numbers of a node that is right.
#[test]
fn check_with_a_character_lists_the_errors_of_all_nodes() {
    let p = Place::new();
    let poses = r#"[{"name": "rest", "joints": [{}]}, {"name": "bent", "joints": [{"rotation_degrees": [0, 0, 90]}]}]"#;
    let driver = |joint: &str| {
        format!(
            r#"{{"node": "pose_driver", "pose": "pose", "joints": ["{joint}"], "poses": {poses}}}"#
        )
    };
    let graph = format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}}}, "nodes": {{
 "good": {}, "wrong": {},
 "needs": {{"node": "morph", "mesh": "body", "weights": "wrong.weights"}},
 "moved": {{"node": "transform", "mesh": "needs", "transform": {{"joint": "hnd"}}}},
 "twisted": {{"node": "twist", "mesh": "moved", "angle": "good.weights[7]"}}}}, "outputs": {{"body": "twisted"}}}}"#,
        driver("forearm"),
        driver("forarm")
    );
    p.put("g.json", &graph);
    let alone = p.sinew(&["check", "g.json"]);
    expect(&alone, 0, "are not checked: add --character FILE");
    let with = ["check", "g.json", "--character", "sample:arm"];
    let found = p.sinew(&with);
    expect(&found, 5, "found 'forarm'");
    let text = said(&found);
    let errors: Vec<&str> = text.lines().filter(|l| l.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 3, "{text}");
    for (error, words) in errors.iter().zip([
        ["g.json:2", "did you mean 'forearm'?"],
        ["node 'moved'", "did you mean 'hand'?"],
        [
            "node 'twisted'",
            "an index from 0 to 1: there are 2 numbers",
        ],
    ]) {
        assert!(
            words.iter().all(|w| error.contains(w)),
            "{error}: {words:?}"
        );
    }
    let clip = p.sinew(&[&with[..], &["--clip", "bent"]].concat());
    expect(&clip, 2, "did you mean 'bend'?");
    p.put("skin.json", SKIN);
    let frames = [
        "check",
        "skin.json",
        "--character",
        "sample:arm",
        "--frames",
        "0-500",
    ];
    expect(&p.sinew(&frames), 0, "clip 'bend' ends at frame 100");
    expect(&p.sinew(&frames), 0, "1 node, no errors\n");
}
