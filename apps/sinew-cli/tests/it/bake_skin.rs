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
    "example:skin_delta_mush".into()
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
    // An altered file is not what its report says because one frame of it is, or none.
    let altered = at("altered.glb");
    let worse = [&common[..], &["--hold", "100", "-o", &altered]].concat();
    assert!(sinew(&worse).status.success());
    let others: [(&[&str], &str); 3] = [
        (
            &["--frames", "0"],
            "was measured in 1 samples, but the report has 11",
        ),
        (
            &["--no-clips", "--ranges", "1"],
            "the report has clip 'bend' (clip 0), which was not measured",
        ),
        (
            &["--fps", "29"],
            "measured at 29 frames per second, but the report is for 30",
        ),
    ];
    for (more, words) in others {
        let start = ["bake", "skin", "sample:arm", "--graph", &graph];
        let verify = ["--verify", &altered, "--report", &report];
        let done = sinew(&[&start[..], &verify, more].concat());
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(5), "{more:?}: {told}");
        assert!(told.contains(words), "{more:?}: {told}");
    }
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
    told(&["--clip", "run"], 2, "there is no clip 'run'; known: bend");
    told(
        &["--influences", "0", "--frames", "0"],
        2,
        "influences is 0, expected 1 to 32",
    );
    told(
        &["--mesh-output", "hair", "--frames", "0"],
        2,
        "the graph has no mesh output 'hair'",
    );
    told(&["--ranges", "-3"], 2, "");
    told(
        &["--frames", "0", "--correctives", "257"],
        2,
        "correctives is 257, expected 0 to 256",
    );
    told(
        &["--no-clips", "--ranges", "30", "--helpers", "2"],
        2,
        "--helpers and --correctives need clips for their keys, but --no-clips leaves none",
    );
    let held = [
        "--hold-out",
        "bend",
        "--ranges",
        "30",
        "--helpers",
        "2",
        "--drive",
        "both",
    ];
    told(&held, 2, "--hold-out leaves none to fit; use --drive pose");
    told(
        &["--drive", "both"],
        2,
        "--drive has no effect without --helpers or --correctives",
    );
    told(
        &["--hold-out", "run"],
        2,
        "there is no clip 'run'; known: bend",
    );
    told(
        &["--hold-out", "bend"],
        2,
        "--hold-out leaves no clip to fit",
    );
    told(
        &["--hold-out", "bend", "--clip", "bend"],
        2,
        "is both fitted (--clip) and held out (--hold-out)",
    );
    let empty = folder.path().join("ranges.json");
    std::fs::write(&empty, "{}").expect("written");
    let empty = empty.display().to_string();
    told(
        &["--ranges", &empty],
        3,
        "found no rotations, expected at least one",
    );
    told(&["--ranges", "missing.json"], 3, "missing.json");
    told(
        &["--method", "smoothed", "--kappa", "9", "--frames", "0"],
        2,
        "kappa is 9",
    );
    let plain = sinew(&["bake", "skin", "sample:arm", "-o", "arm.obj"]);
    assert_eq!(plain.status.code(), Some(2));
}

/// Drivers in the file: measured, held to their claims, and played by `sinew run` without a graph of its own.
#[test]
fn a_bake_can_follow_the_pose() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (out, report, frame) = (at("arm.glb"), at("report"), at("frame.npz"));
    let graph = graph();
    let common = [
        "bake",
        "skin",
        "sample:arm",
        "--graph",
        &graph,
        "--frames",
        "0-100/10",
        "--hold-every",
        "3",
        "--drive",
        "both",
    ];
    let bake = [
        &common[..],
        &["--correctives", "4", "-o", &out, "--report", &report],
    ]
    .concat();
    let done = sinew(&bake);
    let (text, reporter) = (
        String::from_utf8_lossy(&done.stdout).into_owned(),
        String::from_utf8_lossy(&done.stderr).into_owned(),
    );
    assert!(done.status.success(), "{reporter}");
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].starts_with("bend: rms "),
        "{text}"
    );
    assert!(lines[1].starts_with("bend (held out): rms "), "{text}");
    assert!(
        lines.iter().all(|l| l.contains("; driven by pose: rms ")),
        "{text}"
    );
    assert!(reporter.contains(" pose drivers of "), "{reporter}");
    let verify = [&common[..], &["--verify", &out, "--report", &report]].concat();
    let again = sinew(&verify);
    assert!(
        again.status.success(),
        "{}",
        String::from_utf8_lossy(&again.stderr)
    );
    let path = Path::new(&report).join("report.json");
    let json = std::fs::read_to_string(&path).expect("a report");
    let mut json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    // A limit between both ways of playing, whichever is worse.
    let worst = |key: &str| {
        let clips = json["clips"].as_array().into_iter().flatten();
        clips.filter_map(|c| c[key].as_f64()).fold(0.0, f64::max)
    };
    let (plain, driven) = (worst("rms_mm"), worst("driven_rms_mm"));
    assert!(plain < driven, "keys are nearer: {plain} {driven}");
    let limit = (0.5 * (plain + driven)).to_string();
    let limited = sinew(&[&common[..], &["--verify", &out, "--limit", &limit]].concat());
    let told = String::from_utf8_lossy(&limited.stderr).into_owned();
    assert_eq!(limited.status.code(), Some(5), "{told}");
    assert!(
        told.contains("driven by the pose has an error of"),
        "{told}"
    );
    // A report that says less of what follows the pose alone.
    let claimed = json["clips"][0]["driven_rms_mm"]
        .as_f64()
        .expect("a number");
    json["clips"][0]["driven_rms_mm"] = (claimed * 0.5 - 0.01).into();
    std::fs::write(&path, json.to_string()).expect("written");
    let less = sinew(&verify);
    let told = String::from_utf8_lossy(&less.stderr).into_owned();
    assert_eq!(less.status.code(), Some(5), "{told}");
    assert!(
        told.contains("driven by the pose has an error of"),
        "{told}"
    );
    let run = sinew(&["run", &out, "--frames", "55", "-o", &frame]);
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}
