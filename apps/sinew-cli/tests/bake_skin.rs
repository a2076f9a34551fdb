//! `sinew bake skin` as a user runs it.

use std::path::Path;
use std::process::{Command, Output};

fn sinew(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(arguments)
        .output()
        .expect("the program starts")
}

fn graph() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/skin_delta_mush.json");
    root.display().to_string()
}

/// A bake, its report, and the comparison that holds the file to it; a claim that is too good ends with 5.
#[test]
fn a_bake_is_what_its_report_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (out, report, color) = (at("arm.glb"), at("report"), at("color.glb"));
    let graph = graph();
    let common = [
        "bake",
        "skin",
        "sample:arm",
        "--graph",
        &graph,
        "--frames",
        "0-100/10",
    ];
    let bake = [
        &common[..],
        &[
            "--correctives",
            "2",
            "-o",
            &out,
            "--report",
            &report,
            "--color",
            &color,
        ],
    ]
    .concat();
    let done = sinew(&bake);
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert!(
        text.starts_with("bend: rms ") && text.contains("the source's linear skinning"),
        "{text}"
    );
    let again = sinew(&[&common[..], &["--verify", &out, "--report", &report]].concat());
    assert!(
        again.status.success(),
        "{}",
        String::from_utf8_lossy(&again.stderr)
    );
    let strict = sinew(&[&common[..], &["--verify", &out, "--limit", "0.000001"]].concat());
    assert_eq!(
        strict.status.code(),
        Some(5),
        "{}",
        String::from_utf8_lossy(&strict.stderr)
    );
    let json = sinew(&[&common[..], &["--verify", &out, "--log-format", "json"]].concat());
    let line: serde_json::Value = serde_json::from_slice(&json.stdout).expect("a line of JSON");
    assert!(
        line["rms_mm"].as_f64() < line["source_rms_mm"].as_f64(),
        "{line}"
    );
}

#[test]
fn wrong_command_lines_say_what_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("arm.glb").display().to_string();
    let graph = graph();
    let told = |more: &[&str], code: i32, words: &str| {
        let all = [
            &["bake", "skin", "sample:arm", "--graph", &graph, "-o", &out],
            more,
        ]
        .concat();
        let done = sinew(&all);
        let text = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(code), "{more:?}: {text}");
        assert!(text.contains(words), "{more:?}: {text}");
        assert!(!Path::new(&out).exists(), "{more:?} writes nothing");
    };
    told(
        &["--clip", "run"],
        2,
        "there is no clip 'run'; there are: bend",
    );
    told(
        &["--influences", "0", "--frames", "0"],
        2,
        "influences is 0, expected 1 to 32",
    );
    told(
        &["--mesh-output", "hair", "--frames", "0"],
        2,
        "there is no mesh output 'hair'",
    );
    told(&["--ranges", "-3"], 2, "");
    told(&["--ranges", "missing.json"], 3, "missing.json");
    told(
        &["--method", "smoothed", "--kappa", "9", "--frames", "0"],
        2,
        "kappa is 9",
    );
    let plain = sinew(&["bake", "skin", "sample:arm", "-o", "arm.obj"]);
    assert_eq!(plain.status.code(), Some(2));
}
