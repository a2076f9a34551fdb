//! Several clips in one bake, sizes before the bake, and quantities that differ, as their users meet them.

mod common;

use common::Place;
use common::sequences::{colored, ended};
use sinew::vat::manifest::Manifest;

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
        "a sequence of 3 frames, the bake has 6",
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
    ended(&p.sinew(&frames), 2, "--frames is for one clip");
    let range = [
        "bake",
        "vat",
        "sample:creature",
        "-o",
        "out",
        "--range",
        "a=0..1",
    ];
    ended(&p.sinew(&range), 2, "--range is for folders");
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
    ended(&published, 0, "texture   3390 x 300, one row a frame");
    for part in [
        "with closed in-betweens, two rows a frame: 3390 x 600",
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
    ended(&p.sinew(&["vat", "size", "--frames", "3"]), 2, "--vertices");
}
