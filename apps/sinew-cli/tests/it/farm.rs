//! What render farms need: chunks of pictures and of simulations, and progress that they read.

use crate::common::sequences::ended;
use crate::common::{Place, said};
use crate::operation::bytes;

const HAIR: &str = r#"{"sinew": "1.0", "inputs": {"pose": {"type": "pose"}, "hair": {"type": "strands"}},
 "nodes": {"sim": {"node": "hair_sim", "strands": "hair", "pose": "pose"}}, "outputs": {"hair": "sim"}}"#;

/// A square with a few strands, and a graph that lets them fall.
fn grown(p: &Place) {
    let line = [
        "hair",
        "grow",
        "square.obj",
        "--count",
        "5",
        "--length",
        "0.3",
        "--vertices",
        "8",
        "-o",
        "hair.glb",
    ];
    ended(&p.sinew(&line), 0, "5 strands");
    p.put("hair.json", HAIR);
}

/// A square that bends away.
#[cfg(feature = "gpu")]
const MOVES: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "stack": [{"node": "bend", "angle": {"keys": [[0, 0], [0.1, 1.5]]}}]}"#;

#[cfg(feature = "gpu")]
#[test]
fn pictures_in_chunks_are_those_of_the_whole_animation() {
    let p = Place::new();
    p.put("moves.json", MOVES);
    let render = |more: &[&str]| {
        let line = ["square.obj", "-g", "moves.json", "--device", "cpu"];
        crate::render::render(&p, &[&line, more, &["--size", "40x30"]].concat())
    };
    let Some(whole) = render(&["--frames", "0-3", "-o", "whole_####.png"]) else {
        return;
    };
    let render = |more: &[&str]| render(more).expect("drawn before");
    ended(&whole, 0, "wrote 4 files, whole_0000.png to whole_0003.png");
    let chunk = ["--frames", "2-3", "-o", "chunk_####.png"];
    ended(&render(&[&chunk[..], &["--fit", "0-3"]].concat()), 0, "");
    ended(&render(&["--frames", "2-3", "-o", "alone_####.png"]), 0, "");
    for frame in 2..4 {
        let of = |name: &str| bytes(&p, &format!("{name}_000{frame}.png"));
        assert_eq!(of("whole"), of("chunk"), "frame {frame}");
        assert_ne!(of("whole"), of("alone"), "the camera fits other frames");
    }
    assert_ne!(bytes(&p, "whole_0002.png"), bytes(&p, "whole_0003.png"));
    // On a sheet, the name is that of one file.
    let sheet = ["--frames", "0-1", "--sheet", "-o", "sheet_##.png"];
    ended(&render(&sheet), 0, "wrote sheet_##.png");
    let turns = ["--turntable", "3", "-o", "turn_#.png"];
    ended(
        &render(&turns),
        0,
        "wrote 3 files, turn_0.png to turn_2.png",
    );
    // A file of another kind is found before anything is drawn.
    p.put("text_1.png", "notes");
    let over = ["--frames", "0-1", "-o", "text_#.png"];
    ended(&render(&over), 2, "text_1.png already exists");
    assert!(!p.path("text_0.png").exists());
}

#[test]
fn it_is_said_what_a_chunk_of_a_simulation_needs() {
    let p = Place::new();
    grown(&p);
    let run = |more: &[&str]| {
        let line = ["run", "hair.glb", "-g", "hair.json", "-o", "x.ply"];
        p.sinew(&[&line, more].concat())
    };
    let said_first = "(node 'sim', hair_sim): frames 0 to 3 are simulated first and not written";
    ended(&run(&["--frames", "4-5"]), 0, said_first);
    let simulated = [bytes(&p, "x_0004.ply"), bytes(&p, "x_0005.ply")];
    assert_ne!(simulated[0], simulated[1], "hair moves");
    let saved = run(&["--frames", "0-3", "--save-state", "3.state"]);
    let resumed = run(&["--frames", "4-5", "--state", "3.state"]);
    for chunk in [&saved, &resumed] {
        ended(chunk, 0, "");
        assert!(!said(chunk).contains("simulated first"), "{}", said(chunk));
    }
    assert!(
        said(&resumed).contains("4 other frames"),
        "{}",
        said(&resumed)
    );
    assert_eq!(
        simulated,
        [bytes(&p, "x_0004.ply"), bytes(&p, "x_0005.ply")]
    );
    let unneeded = [
        "run",
        "square.obj",
        "-g",
        "shift.json",
        "-o",
        "y.npz",
        "--save-state",
        "y.state",
    ];
    ended(
        &p.sinew(&unneeded),
        0,
        "warning: --save-state: this graph does not simulate",
    );

    ended(
        &p.sinew(&["check", "hair.json"]),
        0,
        "simulates (node 'sim', hair_sim)",
    );
    for (graph, solvers) in [
        ("hair.json", r#""solvers":["sim"]"#),
        ("shift.json", r#""solvers":[]"#),
    ] {
        ended(
            &p.sinew(&["check", graph, "--log-format", "json"]),
            0,
            solvers,
        );
    }
    ended(
        &p.sinew(&["inspect", "hair.json"]),
        0,
        r#"solvers: ["sim"]"#,
    );
}

/// A picture that starts from a saved state is the one after all frames before it, byte for byte.
#[cfg(feature = "gpu")]
#[test]
fn pictures_start_from_a_saved_state() {
    let p = Place::new();
    grown(&p);
    let line = ["run", "hair.glb", "-g", "hair.json", "-o", "x.npz"];
    let saving = ["--frames", "0-3", "--save-state", "3.state"];
    ended(&p.sinew(&[&line[..], &saving].concat()), 0, "wrote x.npz");
    let render = |more: &[&str]| {
        let line = ["hair.glb", "-g", "hair.json", "--size", "80x60"];
        crate::render::render(&p, &[&line, more].concat())
    };
    let simulated = ["--frames", "4-5", "--device", "cpu", "-o", "all_#.png"];
    let Some(simulated) = render(&simulated) else {
        return;
    };
    ended(
        &simulated,
        0,
        "frames 0 to 3 are simulated first and not drawn",
    );
    let state = ["--state", "3.state", "-o", "state_#.png", "--frames"];
    let render = |more: &[&str]| render(&[&state, more].concat()).expect("drawn before");
    // Frame 3 is skipped, and frame 5 is fitted before frame 4 is drawn.
    let o = render(&["3-5"]);
    ended(&o, 0, "resumes after frame 3, from 3.state");
    assert!(!said(&o).contains("simulated first"), "{}", said(&o));
    assert!(!p.path("state_3.png").exists());
    let (four, five) = (bytes(&p, "all_4.png"), bytes(&p, "all_5.png"));
    assert_ne!(four, five, "hair moves");
    assert_eq!(
        [bytes(&p, "state_4.png"), bytes(&p, "state_5.png")],
        [four, five]
    );
    for (more, code, message) in [
        (
            &["0-3"][..],
            2,
            "3.state was saved after frame 3, and --frames has no later frame",
        ),
        (
            &["4", "--fit", "0-5"],
            2,
            "--fit begins at frame 0, but 3.state was saved after frame 3",
        ),
        (&["4", "--fps", "24"], 2, "use --fps 30"),
        (&["4", "--device", "gpu"], 3, "use --device cpu"),
    ] {
        ended(&render(more), code, message);
    }
    let compared = ["square.obj", "--compare", "rest,default", "--frames", "4"];
    let compared = crate::render::render(&p, &[&compared[..], &state[..4]].concat());
    let compared = compared.expect("drawn before");
    ended(&compared, 2, "none of the graphs simulates");
    p.put("3.state", "no state");
    ended(&render(&["4"]), 3, "3.state");
}

/// Frames after a state are at the times of its run; another clip is told.
#[test]
fn a_state_goes_on_at_its_rate_and_in_its_clip() {
    let p = Place::new();
    grown(&p);
    let run = |more: &[&str]| {
        let line = ["run", "sample:head", "-g", "example:hair", "-o", "x.npz"];
        p.sinew(&[&line[..], more].concat())
    };
    let first = [
        "--frames",
        "0-2",
        "--clip",
        "shake",
        "--save-state",
        "2.state",
    ];
    ended(&run(&first), 0, "wrote x.npz");
    let later = ["--frames", "3", "--state", "2.state", "--clip"];
    let o = run(&[&later[..], &["shake"]].concat());
    ended(&o, 0, "resumes after frame 2");
    assert!(!said(&o).contains("warning: 2.state"), "{}", said(&o));
    let o = run(&[&later[..], &["shake", "--fps", "24"]].concat());
    ended(
        &o,
        2,
        "2.state was saved after frame 2 at 0.0667 s, but with this --fps the frame is at 0.0833 s; use --fps 30",
    );
    let o = run(&[&later[..], &["turn"]].concat());
    ended(
        &o,
        0,
        "warning: 2.state was saved in clip 'shake', but this run plays clip 'turn': the motion may jump",
    );
}

/// A run that was killed after its last frame, before its state was complete: it has nothing left to write but the state.
#[cfg(unix)]
#[test]
fn the_state_of_a_resumed_run_is_that_after_its_last_frame() {
    use crate::operation::{begun, until};
    let p = Place::new();
    grown(&p);
    let line = |state: &'static str| {
        let line = [
            "run",
            "hair.glb",
            "-g",
            "hair.json",
            "--frames",
            "0-2",
            "--resume",
        ];
        [&line[..], &["-o", "x_#.ply", "--save-state", state]].concat()
    };
    ended(&p.sinew(&line("whole.state")), 0, "");
    let made = std::process::Command::new("mkfifo")
        .arg(p.path("pipe"))
        .status();
    assert!(made.expect("mkfifo").success());
    // Nobody reads the pipe.
    let mut child = begun(&p, &line("pipe"));
    let record = || std::fs::read_to_string(p.path("x.ply.0-2.run.txt")).unwrap_or_default();
    until(|| record().contains("\n2 ") && record().ends_with('\n'));
    child.kill().expect("killed");
    child.wait().expect("ended");
    ended(
        &p.sinew(&line("again.state")),
        0,
        "resumes: 3 frames complete",
    );
    assert_eq!(bytes(&p, "whole.state"), bytes(&p, "again.state"));
}

#[test]
fn farms_read_progress_and_failure() {
    let p = Place::new();
    let line = [
        "run",
        "square.obj",
        "-g",
        "shift.json",
        "--log-format",
        "openjd",
        "-o",
    ];
    let o = p.sinew(&[&line[..], &["x.ply", "--frames", "0-2"]].concat());
    ended(&o, 0, "wrote 3 files");
    let out = String::from_utf8_lossy(&o.stdout).into_owned();
    assert!(
        out.starts_with("openjd_progress: 33.3\nopenjd_status: frames 1 of 3\n"),
        "{out}"
    );
    assert!(
        out.ends_with("openjd_progress: 100.0\nopenjd_status: frames 3 of 3\n"),
        "{out}"
    );
    let o = p.sinew(&[&line[..], &["x.abc"]].concat());
    ended(&o, 2, "error: x.abc: unknown file extension");
    let out = String::from_utf8_lossy(&o.stdout).into_owned();
    assert!(
        out.starts_with("openjd_fail: x.abc: unknown file extension"),
        "{out}"
    );
    assert_eq!(out.lines().count(), 1, "{out}");
}
