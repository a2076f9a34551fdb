//! Setup as users of the command line meet it: progress, Ctrl-C, the file of `--cache`.

use crate::common::{Place, said};
use std::fmt::Write as _;
use std::process::Output;

/// A bumpy sheet of `side` x `side` points.
fn sheet(side: usize) -> String {
    let mut out = String::new();
    for (y, x) in (0..side * side).map(|i| (i / side, i % side)) {
        let height = ((x * 7 + y * 13) % 5) as f64 * 0.1;
        writeln!(out, "v {x} {height} {y}").expect("a string");
    }
    for (y, x) in (0..side * side).map(|i| (i / side, i % side)) {
        if x + 1 < side && y + 1 < side {
            let first = y * side + x + 1;
            let second = first + side;
            writeln!(out, "f {first} {} {} {second}", first + 1, second + 1).expect("a string");
        }
    }
    out
}

fn mush(iterations: usize) -> String {
    format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}}}, "parameters": {{"w": {{"type": "float", "default": 1}}}},
 "stack": [{{"node": "smooth", "iterations": 2, "blend": "$w"}}, {{"node": "delta_mush", "iterations": {iterations}, "blend": "$w"}}]}}"#
    )
}

#[track_caller]
fn succeeded(o: &Output) -> String {
    assert_eq!(o.status.code(), Some(0), "{}", said(o));
    said(o)
}

/// How far virtual bones are off is told when they are bound.
#[test]
fn what_setup_found_is_told() {
    let p = Place::new();
    let node = r#"{"node": "direct_delta_mush", "virtual_bones": 24}"#;
    p.put(
        "bones.json",
        &format!(r#"{{"sinew": "1.0", "stack": [{node}]}}"#),
    );
    let arguments = [
        "check",
        "bones.json",
        "--character",
        "sample:arm",
        "--explain",
    ];
    let o = p.sinew(&arguments);
    let text = succeeded(&o);
    let found = "(direct_delta_mush): 24 virtual bones, at most 4 per vertex: ";
    assert!(text.contains(found), "{text}");
    let explained = String::from_utf8_lossy(&o.stdout);
    assert!(explained.contains("24 virtual bones"), "{explained}");
    let json = [&arguments[..], &["--log-format", "json"]].concat();
    let lines = succeeded(&p.sinew(&json));
    let mut lines = lines
        .lines()
        .filter_map(|l| serde_json::from_str::<serde_json::Value>(l).ok());
    let note = lines.find(|l| l["event"] == "setup_note").expect("a note");
    assert_eq!(note["level"], "info");
    assert_eq!(note["kind"], "direct_delta_mush");
    assert_eq!(note["values"]["virtual_bones"], 24.0);
    let value = |name: &str| note["values"][name].as_f64().expect("a number");
    assert!(value("max_metres") > value("rms_metres") && value("rms_metres") > 0.0);
    assert!(value("bytes_per_vertex") > 0.0);
}

#[cfg(unix)]
mod interrupt {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    /// Runs until a line of progress of setup, then presses Ctrl-C; gives the exit code and what was said.
    fn stopped(p: &Place, arguments: &[&str]) -> (Option<i32>, Vec<serde_json::Value>) {
        let mut child: Child = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args(arguments)
            .args(["--log-format", "json"])
            .current_dir(p.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        // Graphics drivers write to standard error, too.
        let mut lines =
            lines.filter_map(|l| serde_json::from_str::<serde_json::Value>(&l.expect("text")).ok());
        let mut said = Vec::new();
        for line in lines.by_ref() {
            let is_progress = line["event"] == "progress";
            said.push(line);
            if is_progress {
                break;
            }
        }
        let id = child.id().to_string();
        let killed = Command::new("kill").args(["-INT", &id]).status();
        assert!(killed.expect("kill is there").success());
        said.extend(lines);
        (child.wait().expect("ends").code(), said)
    }

    #[test]
    fn ctrl_c_ends_setup() {
        let p = Place::new();
        p.put("sheet.obj", &sheet(200));
        p.put("mush.json", &mush(10_000));
        let commands: [&[&str]; 3] = [
            &[
                "run",
                "sheet.obj",
                "-g",
                "mush.json",
                "-o",
                "out.obj",
                "--cache",
                "setup.bin",
            ],
            &["check", "mush.json", "--character", "sheet.obj"],
            &["bench", "mush.json", "sheet.obj", "--frames", "1"],
        ];
        for arguments in commands {
            let (code, lines) = stopped(&p, arguments);
            assert_eq!(code, Some(130), "{arguments:?}: {lines:?}");
            let last = lines.last().expect("lines");
            assert_eq!(last["event"], "failed");
            let message = last["message"].as_str().expect("text");
            assert!(
                message.starts_with("setup was stopped at node 'delta_mush"),
                "{message}"
            );
            let done: Vec<u64> = lines.iter().filter_map(|l| l["done"].as_u64()).collect();
            assert!(!done.is_empty() && done.is_sorted(), "{lines:?}");
            assert!(
                done.iter().all(|d| *d < 100),
                "it was stopped before the end: {done:?}"
            );
        }
        let files = p.files();
        assert!(
            !files.iter().any(|f| f == "out.obj" || f == "setup.bin"),
            "{files:?}"
        );
        assert_eq!(files.len(), 4, "nothing half-written: {files:?}");
    }

    /// What setup of a sheet with so many vertices along a side says of its progress. Setup that is done within half a second says nothing.
    fn told(p: &Place, side: usize) -> Vec<serde_json::Value> {
        p.put("sheet.obj", &sheet(side));
        p.put("mush.json", &mush(3_000));
        let o = p.sinew(&[
            "check",
            "mush.json",
            "--character",
            "sheet.obj",
            "--log-format",
            "json",
        ]);
        let lines = succeeded(&o);
        let lines = lines
            .lines()
            .map(|l| serde_json::from_str::<serde_json::Value>(l).expect("JSON"));
        lines.filter(|l| l["event"] == "progress").collect()
    }

    #[test]
    fn progress_is_told_as_json_to_the_end() {
        let p = Place::new();
        // More work where the machine is too fast for less.
        let mut tried = [150, 300, 600, 1_200].into_iter();
        let found = tried.find_map(|n| Some(told(&p, n)).filter(|t| !t.is_empty()));
        let progress = found.expect("long setup says how far it is");
        let last = &progress[progress.len() - 1];
        assert_eq!((&last["done"], &last["total"]), (&100.into(), &100.into()));
        assert_eq!(progress[0]["what"], "setup");
        assert_eq!(progress[0]["node"], "delta_mush");
        let done: Vec<u64> = progress.iter().filter_map(|l| l["done"].as_u64()).collect();
        assert_eq!(done.len(), progress.len());
        assert!(done.is_sorted(), "{done:?}");
    }
}

/// Bytes of a file, to see whether it was written again.
fn bytes(p: &Place, name: &str) -> Vec<u8> {
    std::fs::read(p.path(name)).expect("read")
}

#[test]
fn the_cache_keeps_what_did_not_change() {
    let p = Place::new();
    p.put("sheet.obj", &sheet(6));
    p.put("mush.json", &mush(5));
    p.put("other.json", &mush(6));
    let run = |graph: &str, more: &[&str], out: &str| {
        let arguments = [
            "run",
            "sheet.obj",
            "-g",
            graph,
            "--cache",
            "setup.bin",
            "-o",
            out,
        ];
        succeeded(&p.sinew(&[&arguments[..], more].concat()))
    };
    assert!(run("mush.json", &[], "a.obj").contains("setup written to setup.bin"));
    let first = bytes(&p, "setup.bin");
    // Values of the update are none of its business.
    let told = run("mush.json", &["--set", "w=0.5"], "b.obj");
    assert!(
        told.contains("setup read from setup.bin") && !told.contains("written to setup"),
        "{told}"
    );
    assert_eq!(bytes(&p, "setup.bin"), first);
    let plain = succeeded(&p.sinew(&[
        "run",
        "sheet.obj",
        "-g",
        "mush.json",
        "--set",
        "w=0.5",
        "-o",
        "c.obj",
    ]));
    assert!(!plain.contains("setup"), "{plain}");
    assert_eq!(p.text("b.obj"), p.text("c.obj"));
    assert_ne!(p.text("a.obj"), p.text("b.obj"));
    // One node is another now, the others are kept.
    let told = run("other.json", &[], "d.obj");
    assert!(
        told.contains("setup of 2 of 3 nodes read") && told.contains("setup written"),
        "{told}"
    );
    // A file that is no cache stays as it is.
    p.put("setup.bin", "something else");
    let refused = [
        "run",
        "sheet.obj",
        "-g",
        "mush.json",
        "--cache",
        "setup.bin",
        "-o",
        "e.obj",
    ];
    let refused = p.sinew(&refused);
    assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
    assert_eq!(p.text("setup.bin"), "something else");
    // One that is damaged, or is asked for, is told and written over.
    p.put("setup.bin", "SNWC something else");
    let told = run("mush.json", &[], "e.obj");
    assert!(
        told.contains("warning: setup.bin: this is not a setup cache")
            && told.contains("setup written"),
        "{told}"
    );
    assert_eq!(p.text("a.obj"), p.text("e.obj"));
    assert_eq!(bytes(&p, "setup.bin"), first);
}

#[test]
fn bakes_take_setup_from_the_cache() {
    let p = Place::new();
    p.put(
        "mush.json",
        r#"{"sinew": "1.0", "stack": ["skin", {"node": "delta_mush", "iterations": 3}]}"#,
    );
    let bake = |out: &str| {
        let arguments = [
            "bake",
            "vat",
            "sample:arm",
            "-g",
            "mush.json",
            "--frames",
            "0-2",
            "--cache",
            "setup.bin",
            "-o",
            out,
        ];
        succeeded(&p.sinew(&arguments))
    };
    assert!(bake("one").contains("setup written to setup.bin"));
    let told = bake("two");
    assert!(
        told.contains("setup read from setup.bin") && !told.contains("setup written"),
        "{told}"
    );
}
