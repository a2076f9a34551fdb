//! Nothing of the user's is lost: outputs over inputs, devices and links, full disks, two runs at once, runs that are stopped or killed.

use crate::common::sequences::{ended, sequence};
use crate::common::{Place, SKIN, said};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) fn bytes(place: &Place, name: &str) -> Vec<u8> {
    std::fs::read(place.path(name)).expect("read")
}

/// The program in the folder, begun.
pub(crate) fn begun(place: &Place, arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(arguments).current_dir(place.path(""));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn until(mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "it never comes");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A character in `hero.glb`.
fn hero(place: &Place) {
    let made = place.sinew(&["run", "square.obj", "-g", "shift.json", "-o", "hero.glb"]);
    ended(&made, 0, "wrote hero.glb");
}

#[test]
fn outputs_replace_no_input_and_no_file_of_another_kind() {
    let p = Place::new();
    hero(&p);
    p.put("nested.json", r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "nodes": {"n": {"node": "graph", "file": "shift.json", "body": "body"}}, "outputs": {"body": "n"}}"#);
    p.put("notes.txt", "weeks of work");
    p.put("notes.npz", "weeks of work");
    p.put("notes.png", "weeks of work");
    std::fs::create_dir(p.path("folder.npz")).expect("made");
    sequence(&p, "clip", &[2, 2, 2]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("hero.glb", p.path("link.glb")).expect("linked");
    let run = ["run", "hero.glb", "-g", "shift.json", "--frames", "0"];
    let other = "already exists: found";
    let same = "by the same command";
    let cases: &[(&[&str], &str, &str)] = &[
        (&["-o", "x.npz", "--cache", "hero.glb"], "hero.glb", same),
        (&["-o", "x.npz", "--cache", "notes.txt"], "notes.txt", other),
        (
            &["-o", "x.npz", "--save-state", "shift.json"],
            "shift.json",
            same,
        ),
        (
            &["-o", "x.npz", "--save-state", "notes.txt"],
            "notes.txt",
            other,
        ),
        (&["-o", "hero.glb"], "hero.glb", same),
        (&["-o", "./folder.npz/../hero.glb"], "hero.glb", same),
        #[cfg(unix)]
        (&["-o", "link.glb"], "hero.glb", same),
        (&["-o", "x.npz", "-o", "notes.npz"], "notes.npz", other),
    ];
    for (more, file, part) in cases {
        let before = bytes(&p, file);
        let line = [&run[..], more].concat();
        ended(&p.sinew(&line), 2, part);
        assert_eq!(bytes(&p, file), before, "{more:?}");
        assert!(
            !p.path("x.npz").exists(),
            "{more:?}: refused before any work"
        );
        // Who wants it gets it.
        let forced = [&line[..], &["--force"]].concat();
        ended(&p.sinew(&forced), 0, "");
        assert_ne!(bytes(&p, file), before, "{more:?} --force");
        std::fs::write(p.path(file), before).expect("put back");
        let _ = std::fs::remove_file(p.path("x.npz"));
    }
    // What a graph names is read, too, and so are the frames of a sequence.
    let nested = ["run", "hero.glb", "-g", "nested.json", "--frames", "0"];
    let line = [&nested[..], &["-o", "x.npz", "--save-state", "shift.json"]].concat();
    ended(&p.sinew(&line), 2, "shift.json already exists");
    let frame = "clip/clip_0001.ply";
    ended(
        &p.sinew(&["run", "clip", "-g", "shift.json", "-o", frame]),
        2,
        same,
    );
    ended(
        &p.sinew(&["run", "clip/clip_####.ply", "-g", "shift.json", "-o", frame]),
        2,
        same,
    );
    ended(
        &p.sinew(&["embed", "hero.glb", "-g", "shift.json", "-o", "hero.glb"]),
        2,
        same,
    );
    ended(
        &p.sinew(&[
            "hair", "grow", "hero.glb", "--length", "1", "-o", "hero.glb",
        ]),
        2,
        same,
    );
    ended(
        &p.sinew(&["render", "hero.glb", "-o", "notes.png"]),
        2,
        other,
    );
    ended(&p.sinew(&["init", "notes.txt", "--force"]), 0, "wrote");
    // A folder is no file.
    ended(
        &p.sinew(&[&run[..], &["-o", "folder.npz"]].concat()),
        6,
        "a folder, expected a file",
    );
    // What was written before is written again.
    for _ in 0..2 {
        let all = [
            "-o",
            "a.npz",
            "-o",
            "a.glb",
            "-o",
            "a.obj",
            "-o",
            "a.pc2",
            "-o",
            "a.mdd",
            "-o",
            "a.ply",
            "--cache",
            "a.cache",
            "--save-state",
            "a.state",
        ];
        ended(&p.sinew(&[&run[..], &all].concat()), 0, "wrote a.ply");
    }
}

#[test]
fn folders_are_made_and_what_cannot_be_written_is_said_before_the_work() {
    let p = Place::new();
    hero(&p);
    let run = ["run", "hero.glb", "-g", "shift.json", "--frames", "0"];
    let made = [
        &run[..],
        &[
            "-o",
            "new/a/out.npz",
            "-o",
            "new/b.obj",
            "--cache",
            "new/c/x.cache",
            "--save-state",
            "new/d/x.state",
        ],
    ];
    ended(&p.sinew(&made.concat()), 0, "wrote");
    for name in [
        "new/a/out.npz",
        "new/b.obj",
        "new/c/x.cache",
        "new/d/x.state",
    ] {
        assert!(p.path(name).is_file(), "{name}");
    }
    ended(
        &p.sinew(&["embed", "hero.glb", "-g", "shift.json", "-o", "more/e.glb"]),
        0,
        "wrote",
    );
    ended(&p.sinew(&["init", "more/graph.json"]), 0, "wrote");
    // A million frames, of which none is evaluated.
    let long = [
        "run",
        "hero.glb",
        "-g",
        "shift.json",
        "--frames",
        "0-999999",
    ];
    let places = ["shift.json/a.npz", "square.obj/x/a.obj"];
    for place in places {
        for option in ["-o", "--save-state", "--cache"] {
            let line = [&long[..], &["-o", "z.npz", option, place]].concat();
            ended(&p.sinew(&line), 6, "is not a folder");
        }
    }
    ended(
        &p.sinew(&["bake", "vat", "square.obj", "-o", "shift.json/o"]),
        6,
        "is not a folder",
    );
    assert!(!p.path("z.npz").exists());
    // Where nothing comes of it, no folder stays.
    ended(
        &p.sinew(&["run", "hero.glb", "-g", "none.json", "-o", "empty/a.npz"]),
        4,
        "none.json",
    );
    assert!(!p.path("empty").exists());
}

/// Frames of an earlier, longer run are told of.
#[test]
fn frames_of_an_earlier_run_are_told_of() {
    let p = Place::new();
    let run = |frames: &str| {
        p.sinew(&[
            "run",
            "square.obj",
            "-g",
            "shift.json",
            "--frames",
            frames,
            "-o",
            "x.obj",
        ])
    };
    p.put("x_final.obj", "v 0 0 0\n");
    let told = |o| said(&o).contains("of an earlier run");
    assert!(!told(run("0-9")) && !told(run("0-9")));
    let found = run("0-4");
    ended(
        &found,
        0,
        "found 5 files of an earlier run, for example x_0005.obj",
    );
    assert_eq!(
        p.files().iter().filter(|n| n.starts_with("x_0")).count(),
        10
    );
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_devices_written_through() {
    use std::io::Read;
    use std::os::unix::fs::{FileTypeExt, symlink};
    let p = Place::new();
    hero(&p);
    let run = ["run", "hero.glb", "-g", "shift.json", "--frames", "0"];
    std::fs::create_dir(p.path("disk")).expect("made");
    symlink("disk/real.npz", p.path("link.npz")).expect("linked");
    for _ in 0..2 {
        ended(
            &p.sinew(&[&run[..], &["-o", "link.npz"]].concat()),
            0,
            "wrote",
        );
        let link = p.path("link.npz").symlink_metadata().expect("there");
        assert!(link.is_symlink() && p.path("disk/real.npz").is_file());
        assert_eq!(bytes(&p, "disk/real.npz")[..2], *b"PK");
    }
    // A pipe gets the same bytes as a file, and stays.
    let pipe = p.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
    assert!(made.success());
    let writer = begun(
        &p,
        &[&run[..], &["-o", "x.npz", "--save-state", "pipe"]].concat(),
    );
    let mut found = Vec::new();
    let mut reader = std::fs::File::open(&pipe).expect("opened");
    reader.read_to_end(&mut found).expect("read");
    ended(&writer.wait_with_output().expect("ended"), 0, "");
    ended(
        &p.sinew(&[&run[..], &["-o", "x.npz", "--save-state", "file"]].concat()),
        0,
        "",
    );
    assert!(found == bytes(&p, "file") && !found.is_empty());
    assert!(
        pipe.symlink_metadata()
            .expect("there")
            .file_type()
            .is_fifo()
    );
    ended(
        &p.sinew(&[&run[..], &["-o", "x.npz", "--save-state", "/dev/null"]].concat()),
        0,
        "",
    );
    let null = Path::new("/dev/null").symlink_metadata().expect("there");
    assert!(null.file_type().is_char_device());
    // Links that lead to each other lead nowhere.
    symlink("round.npz", p.path("round.npz")).expect("linked");
    ended(
        &p.sinew(&[&run[..], &["-o", "round.npz"]].concat()),
        6,
        "too many links",
    );
    assert!(
        !p.files().iter().any(|n| n.ends_with(".tmp")),
        "{:?}",
        p.files()
    );
}

/// The way to an output may lead over folders that are made, and two outputs are two files.
#[test]
fn outputs_are_inputs_on_any_way_to_them() {
    let p = Place::new();
    hero(&p);
    let before = bytes(&p, "hero.glb");
    let run = ["run", "hero.glb", "-g", "shift.json", "--frames", "0"];
    for more in [
        &["-o", "new/../hero.glb"][..],
        &["-o", "a/b/../../hero.glb"],
        &["-o", "x.npz", "--cache", "new/../shift.json"],
        &["-o", "x.npz", "--save-state", "new/.././new/../hero.glb"],
    ] {
        let found = p.sinew(&[&run[..], more].concat());
        ended(&found, 2, "by the same command");
        assert_eq!(p.files(), ["hero.glb", "shift.json", "square.obj"]);
    }
    for more in [
        &["-o", "x.npz", "-o", "./x.npz"][..],
        &["-o", "x.npz", "--cache", "new/../x.npz"],
    ] {
        ended(&p.sinew(&[&run[..], more].concat()), 2, "is written twice");
    }
    assert_eq!(bytes(&p, "hero.glb"), before);
    ended(
        &p.sinew(&[&run[..], &["-o", "new/../y.glb"]].concat()),
        0,
        "wrote",
    );
    assert!(p.path("y.glb").is_file());
}

/// A bake is written into a folder that the user named, not through links in it, nor over what no bake makes.
#[test]
#[cfg(unix)]
fn bakes_replace_nothing_behind_links_and_no_other_kind() {
    use std::os::unix::fs::symlink;
    let p = Place::new();
    sequence(&p, "clip", &[3; 4]);
    let bake = ["bake", "vat", "clip", "-o", "out"];
    p.put("precious", "mine");
    for name in ["clip.glb", "clip_position.png"] {
        std::fs::create_dir(p.path("out")).expect("made");
        p.put(&format!("out/{name}"), "my notes");
        ended(
            &p.sinew(&bake),
            2,
            "already exists: found file of an unknown kind",
        );
        assert_eq!(p.text(&format!("out/{name}")), "my notes");
        std::fs::remove_dir_all(p.path("out")).expect("gone");
    }
    ended(&p.sinew(&bake), 0, "wrote");
    for name in ["clip.three.js", "clip.wgsl"] {
        std::fs::remove_file(p.path("out").join(name)).expect("there");
        symlink(p.path("precious"), p.path("out").join(name)).expect("linked");
    }
    ended(&p.sinew(&bake), 0, "wrote");
    assert!(p.text("out/clip.wgsl").contains("player") && !p.path("out/clip.wgsl").is_symlink());
    // The same in a work folder, and of it.
    let scan = ["vat", "scan", "clip", "--work", "w"];
    ended(&p.sinew(&scan), 0, "");
    for name in ["plan.json", "frames/000002.frame"] {
        let _ = std::fs::remove_file(p.path("w").join(name));
        symlink(p.path("precious"), p.path("w").join(name)).expect("linked");
    }
    ended(
        &p.sinew(&["bake", "vat", "clip", "-o", "out", "--work", "w"]),
        0,
        "wrote",
    );
    assert_eq!(p.text("precious"), "mine");
    std::fs::create_dir(p.path("frames")).expect("made");
    p.put("frames/000000.frame", "mine");
    std::fs::remove_dir_all(p.path("w/frames")).expect("there");
    symlink(p.path("frames"), p.path("w/frames")).expect("linked");
    ended(&p.sinew(&scan), 2, "a folder in which frames is a link");
    assert_eq!(p.text("frames/000000.frame"), "mine");
    std::fs::create_dir(p.path("disk")).expect("made");
    symlink(p.path("disk"), p.path("out.work")).expect("linked");
    ended(&p.sinew(&bake), 0, "wrote");
}

/// `/dev/full` takes nothing.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_and_files_that_take_nothing_end_with_6() {
    let p = Place::new();
    hero(&p);
    let full = || {
        std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .expect("Linux")
    };
    let all: &[&[&str]] = &[
        &["schema"],
        &["nodes"],
        &["man"],
        &["completions", "bash"],
        &["inspect", "hero.glb"],
        &["inspect", "hero.glb", "--json"],
        &["check", "shift.json", "--explain"],
        &["nodes", "skin"],
    ];
    for line in all {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(*line).current_dir(p.path("")).stdout(full());
        let found = command.output().expect("starts");
        ended(&found, 6, "cannot write to standard output: No space left");
        // A reader that has enough closes the pipe: that is no failure.
        let mut child = begun(&p, line);
        drop(child.stdout.take());
        assert!(child.wait().expect("ended").success(), "{line:?}");
    }
    for file in ["out.npz", "out.glb", "out.pc2", "out.obj"] {
        std::os::unix::fs::symlink("/dev/full", p.path(file)).expect("linked");
        let line = [
            "--log-format",
            "json",
            "run",
            "hero.glb",
            "-g",
            "shift.json",
            "--frames",
            "0",
            "-o",
            file,
        ];
        let found = p.sinew(&line);
        ended(&found, 6, "No space left");
        for line in said(&found).lines() {
            serde_json::from_str::<serde_json::Value>(line).expect("lines are JSON");
        }
    }
}

/// A disk that is full in the middle of a file, as a limit of its size: the message names the file that was asked for, and nothing stays.
#[test]
#[cfg(target_os = "linux")]
fn files_that_find_no_room_are_told_by_their_own_names() {
    let p = Place::new();
    hero(&p);
    for file in ["long.npz", "long.glb", "long.pc2"] {
        let limited =
            format!("ulimit -f 8; exec \"$0\" run hero.glb -g shift.json --frames 0-400 -o {file}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &limited, env!("CARGO_BIN_EXE_sinew")]);
        let found = shell.current_dir(p.path("")).output().expect("a shell");
        ended(&found, 6, "File too large");
        let said = said(&found);
        assert!(said.contains(file) && !said.contains(".sinew-"), "{said}");
        assert_eq!(p.files(), ["hero.glb", "shift.json", "square.obj"]);
    }
}

#[cfg(unix)]
mod signals {
    use super::*;

    fn send(child: &Child, signal: &str) {
        let pid = child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status();
        assert!(sent.expect("kill").success());
    }

    fn ignores_hang_ups() -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|l| l.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        ignored.is_some_and(|mask| mask & 1 == 1)
    }

    #[test]
    fn stopped_runs_say_how_much_they_have_written() {
        for signal in ["-INT", "-TERM", "-HUP"] {
            // Behind `nohup` the program heeds it as little as this test does.
            if signal == "-HUP" && ignores_hang_ups() {
                continue;
            }
            let p = Place::new();
            let line = [
                "run",
                "square.obj",
                "-g",
                "shift.json",
                "--frames",
                "0-30000",
                "-o",
                "x.obj",
                "--no-sync",
            ];
            let child = begun(&p, &line);
            let count = || p.files().iter().filter(|n| n.starts_with("x_")).count();
            until(|| p.path("x_0030.obj").exists());
            send(&child, signal);
            let found = child.wait_with_output().expect("ended");
            ended(&found, 130, "stopped; ");
            let said = said(&found);
            assert!(
                said.contains(&format!("stopped; {} files were already written", count())),
                "{signal}: {said}"
            );
        }
        let p = Place::new();
        let child = begun(
            &p,
            &[
                "run",
                "square.obj",
                "-g",
                "shift.json",
                "--frames",
                "0-999999",
                "-o",
                "x.npz",
            ],
        );
        std::thread::sleep(Duration::from_millis(500));
        send(&child, "-INT");
        ended(
            &child.wait_with_output().expect("ended"),
            130,
            "stopped; nothing was written",
        );
        assert_eq!(p.files(), ["shift.json", "square.obj"]);
    }

    /// A reader of a pipe that nobody writes to never looks whether it should stop.
    #[test]
    fn the_second_ctrl_c_ends_at_once() {
        let p = Place::new();
        let made = Command::new("mkfifo").arg(p.path("pipe")).status();
        assert!(made.expect("mkfifo").success());
        let mut child = begun(
            &p,
            &[
                "run",
                "square.obj",
                "-g",
                "shift.json",
                "-o",
                "x.npz",
                "--state",
                "pipe",
            ],
        );
        std::thread::sleep(Duration::from_millis(500));
        send(&child, "-INT");
        std::thread::sleep(Duration::from_millis(200));
        assert!(
            child.try_wait().expect("known").is_none(),
            "it waits for the pipe"
        );
        send(&child, "-INT");
        let mut code = None;
        until(|| {
            code = child.try_wait().expect("known");
            code.is_some()
        });
        assert_eq!(code.and_then(|c| c.code()), Some(130));
    }

    /// As scripts begin it in the background.
    #[test]
    fn background_commands_heed_ctrl_c() {
        let p = Place::new();
        let line = format!(
            "trap '' INT; exec {} -q run square.obj -g shift.json --frames 0-999999 -o x.npz",
            env!("CARGO_BIN_EXE_sinew")
        );
        let mut command = Command::new("sh");
        let command = command.args(["-c", &line]).current_dir(p.path(""));
        let mut child = command.spawn().expect("sh");
        std::thread::sleep(Duration::from_millis(500));
        send(&child, "-INT");
        assert_eq!(child.wait().expect("ended").code(), Some(130));
    }

    /// As `nohup` begins it.
    #[test]
    fn hang_ups_that_are_ignored_stay_so() {
        let p = Place::new();
        let line = format!(
            "trap '' HUP; exec {} run square.obj -g shift.json --frames 0-2000 -o x.obj --no-sync",
            env!("CARGO_BIN_EXE_sinew")
        );
        let mut command = Command::new("sh");
        let child = command
            .args(["-c", &line])
            .current_dir(p.path(""))
            .spawn()
            .expect("sh");
        until(|| p.path("x_0001.obj").exists());
        send(&child, "-HUP");
        assert!(child.wait_with_output().expect("ended").status.success());
        assert!(p.path("x_2000.obj").exists());
    }

    /// Kills of a command; many in `cargo xtask soak`.
    fn kills() -> u32 {
        if sinew_testkit::is_soak() { 200 } else { 20 }
    }

    /// A bake into the folder of an earlier one, killed a little later each time: what is there is whole, the old bake or the new one.
    #[test]
    fn killed_bakes_leave_an_old_bake_or_a_new_one() {
        let p = Place::new();
        sequence(&p, "old", &[3; 6]);
        sequence(&p, "new", &[40; 6]);
        let line = |of| {
            [
                "-q",
                "bake",
                "vat",
                of,
                "--name",
                "clip",
                "-o",
                "out",
                "--no-sync",
            ]
        };
        let begun_at = Instant::now();
        ended(&p.sinew(&line("new")), 0, "");
        let takes = begun_at.elapsed();
        for kill in 0..kills() {
            let _ = std::fs::remove_dir_all(p.path("out"));
            ended(&p.sinew(&line("old")), 0, "");
            let mut child = begun(&p, &line("new"));
            std::thread::sleep(takes * kill / kills());
            let _ = child.kill();
            let _ = child.wait();
            if p.path("out/clip.vat.json").exists() {
                let [old, new] =
                    ["old", "new"].map(|of| p.sinew(&["-q", "vat", "verify", "out", of]));
                let whole = [&old, &new].map(|o| o.status.success());
                assert!(
                    whole[0] != whole[1],
                    "kill {kill}: {whole:?}: {}{}",
                    said(&old),
                    said(&new)
                );
            }
        }
        ended(&p.sinew(&line("new")), 0, "");
        assert_eq!(p.files(), ["new", "old", "out", "shift.json", "square.obj"]);
    }

    /// Each command is killed a little later each time, over files of an earlier run: they are those of before, or whole new ones.
    #[test]
    fn killed_commands_leave_whole_files() {
        let p = Place::new();
        p.put("skin.json", SKIN);
        ended(
            &p.sinew(&[
                "bake",
                "skin",
                "sample:arm",
                "-g",
                "skin.json",
                "--frames",
                "0-3",
                "-o",
                "arm.glb",
            ]),
            0,
            "",
        );
        let all: &[(&[&str], &[&str])] = &[
            (
                &[
                    "run",
                    "arm.glb",
                    "-g",
                    "skin.json",
                    "--frames",
                    "0-9",
                    "-o",
                    "a.glb",
                    "-o",
                    "a.npz",
                    "--cache",
                    "a.cache",
                ],
                &["a.glb", "a.npz", "a.cache"],
            ),
            (
                &[
                    "run",
                    "arm.glb",
                    "-g",
                    "skin.json",
                    "--frames",
                    "0-3",
                    "-o",
                    "b.obj",
                    "-o",
                    "b.pc2",
                ],
                &["b_0000.obj", "b_0003.obj", "b.pc2"],
            ),
            (
                &[
                    "hair", "grow", "arm.glb", "--count", "200", "--length", "0.1", "-o", "h.glb",
                    "-o", "h.tfx",
                ],
                &["h.glb", "h.tfx"],
            ),
            (
                &[
                    "bake",
                    "skin",
                    "arm.glb",
                    "-g",
                    "skin.json",
                    "--frames",
                    "0-3",
                    "-o",
                    "s.glb",
                ],
                &["s.glb"],
            ),
            (
                &["embed", "a.glb", "-g", "skin.json", "-o", "e.glb"],
                &["e.glb"],
            ),
        ];
        for (line, files) in all {
            let line = [&["-q", "--no-sync"], *line].concat();
            let begun_at = Instant::now();
            ended(&p.sinew(&line), 0, "");
            let takes = begun_at.elapsed();
            let whole: Vec<Vec<u8>> = files.iter().map(|f| bytes(&p, f)).collect();
            for kill in 0..kills() {
                // Of another run, and of the same kind.
                for (file, bytes) in files.iter().zip(&whole) {
                    std::fs::write(p.path(file), [bytes, &b"old"[..]].concat()).expect("written");
                }
                let mut child = begun(&p, &line);
                std::thread::sleep(takes * kill / kills());
                let _ = child.kill();
                let _ = child.wait();
                for (file, new) in files.iter().zip(&whole) {
                    let found = bytes(&p, file);
                    let is_old = found.strip_suffix(b"old") == Some(new);
                    assert!(is_old || found == *new, "{line:?}, kill {kill}: {file}");
                }
            }
            ended(&p.sinew(&line), 0, "");
        }
    }
}

/// The system refuses every thread: the work is done by one.
#[cfg(unix)]
#[test]
fn where_there_are_no_threads_one_does_the_work() {
    let p = Place::new();
    sequence(&p, "clip", &[3; 4]);
    hero(&p);
    let refused = |line: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        // Stacks of more than there are addresses.
        command
            .args(line)
            .current_dir(p.path(""))
            .env("RUST_MIN_STACK", "200000000000000");
        command.output().expect("starts")
    };
    ended(
        &refused(&["bake", "vat", "clip", "-o", "out"]),
        0,
        "clip.vat.json",
    );
    ended(
        &refused(&[
            "run",
            "hero.glb",
            "-g",
            "shift.json",
            "-o",
            "x.npz",
            "--threads",
            "9",
        ]),
        0,
        "wrote",
    );
    ended(
        &refused(&["hair", "grow", "hero.glb", "--length", "1", "-o", "h.glb"]),
        0,
        "wrote",
    );
    ended(&refused(&["check", "shift.json"]), 0, "");
}

#[test]
fn a_folder_that_a_bake_works_in_is_its_own() {
    let p = Place::new();
    sequence(&p, "clip", &[30; 12]);
    let line = ["-q", "bake", "vat", "clip", "-o", "out"];
    let scan = ["-q", "vat", "scan", "clip", "--work", "out.work"];
    let held = sinew::io::FolderLock::alone(&p.path("out.work")).expect("free");
    let process = format!("out.work is in use by process {}", std::process::id());
    ended(&p.sinew(&line), 6, &process);
    ended(&p.sinew(&scan), 6, &process);
    assert!(!p.path("out").exists());
    drop(held);
    let shared = sinew::io::FolderLock::shared(&p.path("out.work")).expect("free");
    ended(&p.sinew(&line), 6, "out.work is in use by");
    ended(&p.sinew(&scan), 0, "");
    drop(shared);
    // Two at once: one of them does it, the other one as well or it says who is there.
    for _ in 0..5 {
        let _ = std::fs::remove_dir_all(p.path("out"));
        let both = [(); 2].map(|()| begun(&p, &line));
        let both = both.map(|child| child.wait_with_output().expect("ended"));
        let done = both.iter().filter(|o| o.status.success()).count();
        for refused in both.iter().filter(|o| !o.status.success()) {
            ended(refused, 6, "out.work is in use by");
        }
        assert!(done > 0);
        ended(&p.sinew(&["vat", "verify", "out", "clip"]), 0, "");
        assert_eq!(p.files(), ["clip", "out", "shift.json", "square.obj"]);
    }
}

#[test]
fn plans_that_were_edited_are_refused() {
    let p = Place::new();
    sequence(&p, "clip", &[3; 4]);
    let all = ["scan", "plan"];
    ended(&p.sinew(&["vat", all[0], "clip", "--work", "w"]), 0, "");
    ended(&p.sinew(&["vat", all[1], "--work", "w"]), 0, "");
    let plan = p.text("w/plan.json");
    let places: Vec<usize> = plan
        .char_indices()
        .filter(|(_, c)| c.is_ascii_digit())
        .map(|(i, _)| i)
        .collect();
    assert!(places.len() > 40, "{plan}");
    for at in places {
        let mut text = plan.clone().into_bytes();
        text[at] = if text[at] == b'9' { b'1' } else { text[at] + 1 };
        p.put("w/plan.json", std::str::from_utf8(&text).expect("digits"));
        let found = p.sinew(&["vat", "bake", "--work", "w"]);
        ended(&found, 3, "plan.json");
    }
    p.put("w/plan.json", &plan);
    ended(&p.sinew(&["vat", "bake", "--work", "w"]), 0, "");
    ended(
        &p.sinew(&["vat", "assemble", "--work", "w", "-o", "o"]),
        0,
        "",
    );
}
