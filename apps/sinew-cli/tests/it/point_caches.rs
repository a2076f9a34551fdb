//! Point caches on the command line: the same frames by `run`, from every kind of cache, and bakes of them.

use crate::common::{Place, printed, said};
use std::process::Output;

const SMOOTH: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "stack": [{"node": "smooth", "iterations": 2, "pin_border": false}]}"#;

/// A square, numbered files of it that move, and a graph.
fn place() -> Place {
    let place = Place::new();
    place.put("smooth.json", SMOOTH);
    for k in 0..4 {
        let corners = format!("v 0 0 {k}\nv 1 {k} 0\nv {} 1 0\nv 0 1 0.5\n", k + 1);
        place.put(
            &format!("sim_{:04}.obj", k + 2),
            &format!("{corners}f 1 2 3 4\n"),
        );
    }
    place
}

fn succeeds(place: &Place, arguments: &[&str]) -> Output {
    let run = place.sinew(arguments);
    assert!(run.status.success(), "{arguments:?}: {}", said(&run));
    run
}

#[test]
fn every_kind_of_cache_gives_the_same_frames() {
    let place = place();
    let run = |rest: &str, more: &[&str]| {
        let graph = ["-g", "smooth.json", "-o", "out.pc2"];
        succeeds(&place, &[&["run", rest], &graph[..], more].concat());
        std::fs::read(place.path("out.pc2")).expect("written")
    };
    let expected = run("sim_####.obj", &[]);
    // Start frame and number of samples: the numbers in the names.
    assert_eq!(expected[20..24], 2.0_f32.to_le_bytes());
    assert_eq!(expected[28..32], 4_i32.to_le_bytes());
    let copies = [
        "-o", "copy.pc2", "-o", "copy.mdd", "-o", "copy.npz", "-o", "copy.ply",
    ];
    let sequence = ["--point-cache", "sim_####.obj"];
    place.put(
        "pass.json",
        &SMOOTH.replace("\"iterations\": 2", "\"iterations\": 0"),
    );
    let graph = ["run", "square.obj", "-g", "pass.json"];
    succeeds(&place, &[&graph[..], &sequence, &copies].concat());
    for cache in [
        "copy.pc2",
        "copy.mdd",
        "copy.npz",
        "copy_####.ply",
        "body=copy.pc2",
    ] {
        assert_eq!(
            run("square.obj", &["--point-cache", cache]),
            expected,
            "{cache}"
        );
    }
}

#[test]
fn frames_outside_a_cache_are_held_with_a_warning() {
    let place = place();
    let frames = [
        "run",
        "sim_####.obj",
        "-g",
        "smooth.json",
        "-f",
        "0-9",
        "-o",
        "o.pc2",
    ];
    let run = succeeds(&place, &frames);
    let text = said(&run);
    assert!(
        text.contains("has the frames 2 to 5, but frames 0 to 9"),
        "{text}"
    );
}

#[test]
fn wrong_caches_end_with_their_exit_codes() {
    let place = place();
    let ends = |more: &[&str], code: i32, part: &str| {
        let run = place.sinew(&[&["run"], more, &["-g", "smooth.json", "-o", "o.pc2"]].concat());
        let text = said(&run);
        assert_eq!(run.status.code(), Some(code), "{text}");
        assert!(text.contains(part), "{text}");
    };
    ends(&["square.obj", "--point-cache", "none.pc2"], 3, "none.pc2");
    let pose = ["square.obj", "--point-cache", "pose=sim_####.obj"];
    ends(&pose, 2, "no mesh input 'pose'");
    let ball = ["sample:ball", "--point-cache", "sim_####.obj"];
    ends(&ball, 5, "has 4 points, but the mesh of");
    place.put(
        "sim_0005.obj",
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 4 3 2\n",
    );
    ends(&["sim_####.obj"], 3, "sim_0005.obj");
}

#[test]
fn bakes_and_reports_take_caches() {
    let place = place();
    let bake = ["bake", "vat", "square.obj", "--point-cache", "sim_####.obj"];
    succeeds(
        &place,
        &[&bake[..], &["-g", "smooth.json", "-o", "baked"]].concat(),
    );
    let verify = [
        "vat",
        "verify",
        "baked",
        "square.obj",
        "--point-cache",
        "sim_####.obj",
    ];
    succeeds(&place, &[&verify[..], &["-g", "smooth.json"]].concat());
    let skin = [
        "bake",
        "skin",
        "sample:ball",
        "--point-cache",
        "sim_####.obj",
        "-o",
        "s.glb",
    ];
    assert_eq!(place.sinew(&skin).status.code(), Some(5), "other points");
    succeeds(
        &place,
        &["run", "sim_####.obj", "-g", "smooth.json", "-o", "o.npz"],
    );
    let text = printed(&succeeds(&place, &["inspect", "o.npz"]));
    assert!(
        text.contains("point cache") && text.contains("frames: 4"),
        "{text}"
    );
}

/// An MDD stores seconds: a bake's 24 frames per second are not the 30 that `run` wrote.
#[test]
fn another_rate_than_that_of_the_cache_is_told() {
    let place = place();
    let copy = ["--point-cache", "sim_####.obj", "-o", "copy.mdd"];
    let graph = ["run", "square.obj", "-g", "smooth.json"];
    succeeds(&place, &[&graph[..], &copy].concat());
    let run = |fps: &str| {
        let line = ["--point-cache", "copy.mdd", "--fps", fps, "-o", "x.pc2"];
        said(&succeeds(&place, &[&graph[..], &line].concat()))
    };
    let told = "copy.mdd has 30 samples per second, but --fps is 24: frames between samples are interpolated; use --fps 30";
    assert!(run("24").contains(told), "{}", run("24"));
    for fps in ["30", "15", "60"] {
        assert!(!run(fps).contains("samples per second"), "{fps}");
    }
}
