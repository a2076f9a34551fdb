//! `sinew run --resume`: what is kept of a run that was interrupted.

use crate::common::Place;
use crate::common::sequences::ended;
use crate::operation::{begun, bytes, until};

/// A record of other frames, or with a line that was cut off, never keeps a frame that was not made.
#[test]
fn records_of_other_runs_keep_nothing() {
    let p = Place::new();
    let run = |more: &[&str]| {
        let line = [
            "run",
            "square.obj",
            "-g",
            "shift.json",
            "--frames",
            "0-2",
            "--resume",
        ];
        p.sinew(&[&line, more].concat())
    };
    const OTHER_RUN: &str = "ply\nformat ascii 1.0\nelement vertex 0\nend_header\n";
    let record = "x.ply.0-2.run.txt";
    let ply = ["-o", "x_##.ply"];
    ended(&run(&ply), 0, "no list of an interrupted run");
    let made: Vec<Vec<u8>> = (0..3).map(|k| bytes(&p, &format!("x_0{k}.ply"))).collect();
    let damage = |text: &str| {
        p.put(record, text);
        (0..3).for_each(|k| p.put(&format!("x_0{k}.ply"), OTHER_RUN));
    };
    damage("sinew run 1 0123\n0\n1\n");
    ended(&run(&ply), 0, "the record of another run");
    let again: Vec<Vec<u8>> = (0..3).map(|k| bytes(&p, &format!("x_0{k}.ply"))).collect();
    assert_eq!(made, again);
    // A text of the user's that happens to have that name stays.
    p.put(record, "notes\n");
    ended(&run(&ply), 2, "expected record of a run");
    assert_eq!(p.text(record), "notes\n");
    ended(&run(&[&ply[..], &["--force"]].concat()), 0, "");
    // A record lists the frames whose files are complete.
    let mut child = begun(
        &p,
        &[
            "run",
            "square.obj",
            "-g",
            "shift.json",
            "--frames",
            "0-20000",
            "--resume",
            "-o",
            "long_#.ply",
            "--no-sync",
        ],
    );
    until(|| p.path("long_3.ply").exists());
    let second = [
        "run",
        "square.obj",
        "-g",
        "shift.json",
        "--frames",
        "0-20000",
        "--resume",
        "-o",
        "long_#.ply",
    ];
    let _ = child.kill();
    let _ = child.wait();
    // Of two runs into the same files, the second is refused.
    let held = std::fs::File::open(p.path("long.ply.0-20000.run.txt")).expect("there");
    held.lock().expect("free");
    let message = "long.ply.0-20000.run.txt is in use: another run writes these frames now";
    ended(&p.sinew(&second), 6, message);
    drop(held);
    let text = p.text("long.ply.0-20000.run.txt");
    let hash = blake3::hash(&bytes(&p, "long_2.ply")).to_hex();
    assert!(
        text.starts_with("sinew run 2 ") && text.contains(&format!(" hash {}", &hash[..32])),
        "{text}"
    );
    // Frames whose files were changed since are written again.
    let third = bytes(&p, "long_2.ply");
    p.put("long_2.ply", OTHER_RUN);
    std::fs::remove_file(p.path("long_1.ply")).expect("removed");
    let mut child = begun(&p, &second);
    until(|| bytes(&p, "long_2.ply") == third);
    let _ = child.kill();
    let told = child.wait_with_output().expect("ended");
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.contains("files of 2 complete frames"), "{told}");
    let found = p.sinew(&[
        "run",
        "square.obj",
        "-g",
        "shift.json",
        "--resume",
        "-o",
        "x.npz",
    ]);
    ended(&found, 2, "--resume needs outputs with one file per frame");
}

/// Runs that are killed and go on until they end: each file is that of a run that nobody stopped, and what is there is not made again.
#[cfg(unix)]
#[test]
fn killed_runs_resume_to_the_same_files() {
    let p = Place::new();
    let line = |name: &'static str| {
        [
            "run",
            "square.obj",
            "-g",
            "shift.json",
            "--frames",
            "0-1500",
            "--no-sync",
            "--resume",
            "-o",
            name,
        ]
    };
    ended(&p.sinew(&line("whole/x_####.ply")), 0, "");
    let whole = p.files_of("whole");
    assert_eq!(
        (whole.len(), &*whole[7]),
        (1501, "whole/x_0007.ply"),
        "no record is left"
    );
    let made_at = || {
        let first = std::fs::metadata(p.path("part/x_0000.ply"));
        first.and_then(|m| m.modified()).expect("times")
    };
    let (mut runs, mut made) = (0, None);
    loop {
        let mut child = begun(&p, &line("part/x_####.ply"));
        let target = format!("part/x_{:04}.ply", 400 * (runs + 1));
        until(|| p.path(&target).exists() || child.try_wait().expect("asked").is_some());
        runs += 1;
        let killed = child.kill().is_ok() && !child.wait().expect("ended").success();
        if !killed {
            break;
        }
        assert!(
            p.path("part/x.ply.0-1500.run.txt").exists(),
            "the record stays"
        );
        assert_eq!(*made.get_or_insert(made_at()), made_at());
    }
    assert_eq!(made, Some(made_at()), "frame 0 was made once");
    for name in &whole {
        let part = name.replace("whole", "part");
        assert_eq!(bytes(&p, name), bytes(&p, &part), "{part}");
    }
    assert!(!p.path("part/x.ply.0-1500.run.txt").exists());
}
