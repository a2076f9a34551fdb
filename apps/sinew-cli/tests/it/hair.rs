//! `sinew hair` and `sinew field` as their users meet them.

use crate::common::{Place, said};
use sinew::geom::{Selection, Strands};
use sinew::io::{read_any, read_png};

#[track_caller]
fn ran(o: &std::process::Output) {
    assert_eq!(o.status.code(), Some(0), "{}", said(o));
}

#[test]
fn hair_grows_into_every_format_and_is_simulated() {
    let p = Place::new();
    let out = p.sinew(&[
        "hair",
        "grow",
        "sample:head",
        "--density",
        "scalp",
        "--comb",
        "comb",
        "--count",
        "60",
        "--length",
        "0.1",
        "--vertices",
        "8",
        "--curl",
        "0.004",
        "-o",
        "h.tfx",
        "-o",
        "h.glb",
        "-o",
        "h.ply",
        "-o",
        "h.obj",
        "-o",
        "h.npz",
    ]);
    ran(&out);
    assert!(
        said(&out).contains("60 strands of 8 vertices"),
        "{}",
        said(&out)
    );
    for name in ["h.tfx", "h.tfxbone", "h.glb", "h.ply", "h.obj", "h.npz"] {
        assert!(p.path(name).is_file(), "{name}");
    }
    // In a GLB, new hair takes the place of that of the sample.
    for (name, counts) in [("h.tfx", &[60][..]), ("h.glb", &[60][..])] {
        let asset = read_any(&p.path(name)).expect("reads").asset;
        let found = asset.strands.iter();
        let found = found.filter_map(|s| s.topology.strands().map(Strands::len));
        assert_eq!(found.collect::<Vec<_>>(), counts, "{name}");
    }
    let whole = read_any(&p.path("h.glb")).expect("reads").asset;
    assert!(whole.rig.find_joint("head").is_some(), "joints are kept");
    assert!(!whole.clips.is_empty(), "clips are kept");
    p.put(
        "hair.json",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "hair": {"type": "strands", "file": "h.tfx", "joints": "pose"}},
 "nodes": {"skin": {"node": "skin", "mesh": "body", "pose": "pose"}, "field": {"node": "sdf", "mesh": "skin", "cells": 40},
  "sim": {"node": "hair_sim", "strands": "hair", "pose": "pose", "colliders": "field"}},
 "outputs": {"hair": "sim", "body": "skin", "field": "field"}}"#,
    );
    ran(&p.sinew(&[
        "run",
        "sample:head",
        "-g",
        "hair.json",
        "--frames",
        "0-3",
        "-o",
        "sim.glb",
        "-o",
        "sim.npz",
    ]));
    let moved = read_any(&p.path("sim.glb")).expect("reads").asset;
    let strands = &moved.strands[0];
    assert_eq!(strands.morph_targets.len(), 3);
    // One frame alone is the same as that frame in play.
    ran(&p.sinew(&[
        "run",
        "sample:head",
        "-g",
        "hair.json",
        "--frames",
        "3",
        "-o",
        "third.glb",
    ]));
    let third = read_any(&p.path("third.glb")).expect("reads").asset;
    let target = &strands.morph_targets[2];
    let mut expected = strands.positions.clone();
    for (&v, d) in target.vertices.iter().zip(&target.positions) {
        expected[v as usize] = std::array::from_fn(|c| strands.positions[v as usize][c] + d[c]);
    }
    for (a, b) in third.strands[0].positions.iter().zip(&expected) {
        let apart = (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f32::max);
        assert!(apart < 1e-6, "{a:?} {b:?}");
    }
    ran(&p.sinew(&[
        "field",
        "sample:head",
        "-g",
        "hair.json",
        "--frame",
        "2",
        "-o",
        "slice.png",
        "--size",
        "64",
    ]));
}

#[test]
fn a_mesh_without_joints_is_written_with_its_hair() {
    let p = Place::new();
    p.put(
        "sheet.obj",
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n",
    );
    let out = p.sinew(&[
        "hair",
        "grow",
        "sheet.obj",
        "--count",
        "20",
        "-o",
        "sheet.glb",
    ]);
    ran(&out);
    assert!(!said(&out).contains("warning"), "{}", said(&out));
    let asset = read_any(&p.path("sheet.glb")).expect("reads").asset;
    let [sheet] = asset.meshes.as_slice() else {
        panic!("{} meshes", asset.meshes.len());
    };
    assert_eq!(sheet.topology.triangles().len(), 2);
    let hair = asset.merged_strands(&Selection::All).expect("strands");
    assert_eq!(hair.topology.strands().map(Strands::len), Some(20));
    // Roots are on the sheet.
    for root in hair.positions.iter().step_by(16) {
        assert!(root[2].abs() < 1e-6, "{root:?}");
    }
}

/// A ball of 10 cm with its flat sides at least 9.98 cm from its middle, as OBJ.
fn ball() -> String {
    let (rings, columns) = (64, 128);
    let mut text = String::new();
    for ring in 1..rings {
        let polar = f64::from(ring) / f64::from(rings) * std::f64::consts::PI;
        for column in 0..columns {
            let around = f64::from(column) / f64::from(columns) * std::f64::consts::TAU;
            let (x, z) = (polar.sin() * around.cos(), polar.sin() * around.sin());
            text += &format!("v {} {} {}\n", 0.1 * x, 0.1 * polar.cos(), 0.1 * z);
        }
    }
    text += "v 0 0.1 0\nv 0 -0.1 0\n";
    let at = |ring: i32, column: i32| ring * columns + column % columns + 1;
    let (north, south) = (at(rings - 1, 0), at(rings - 1, 1));
    for c in 0..columns {
        text += &format!("f {north} {} {}\n", at(0, c + 1), at(0, c));
        let last = rings - 2;
        text += &format!("f {south} {} {}\n", at(last, c), at(last, c + 1));
        for r in 0..last {
            let quad = [at(r, c), at(r, c + 1), at(r + 1, c + 1), at(r + 1, c)];
            text += &format!("f {} {} {} {}\n", quad[0], quad[1], quad[2], quad[3]);
        }
    }
    text
}

#[test]
fn grown_hair_stays_out_of_the_mesh() {
    let p = Place::new();
    p.put("ball.obj", &ball());
    let grown = |extra: &[&str]| {
        let asked = [
            "hair", "grow", "ball.obj", "--count", "300", "--lean", "88", "--droop", "1",
            "--length", "0.15", "-o",
        ];
        ran(&p.sinew(&[&asked[..], &["ball.glb"], extra].concat()));
        let asset = read_any(&p.path("ball.glb")).expect("reads").asset;
        let hair = asset.merged_strands(&Selection::All).expect("strands");
        let strands: Vec<_> = hair.positions.chunks(16).map(<[_]>::to_vec).collect();
        assert_eq!(strands.len(), 300);
        strands
    };
    let length = |v: [f32; 3]| v.iter().map(|c| c * c).sum::<f32>().sqrt();
    // How much nearer to the ball than a clearance, which grows by a quarter of the way from the root, the nearest vertex is.
    let lack = |strands: &[Vec<[f32; 3]>], clearance: f32| {
        let mut most = f32::MIN;
        for strand in strands {
            let mut way = 0.0;
            for w in strand.windows(2) {
                way += length(std::array::from_fn(|c| w[1][c] - w[0][c]));
                let kept = clearance.min(0.25 * way);
                most = most.max(0.1 + kept - length(w[1]));
            }
        }
        most
    };
    let segments = |strands: &[Vec<[f32; 3]>]| -> Vec<f32> {
        let pairs = strands.iter().flat_map(|s| s.windows(2));
        pairs
            .map(|w| length(std::array::from_fn(|c| w[1][c] - w[0][c])))
            .collect()
    };
    let (through, kept_out, far) = (
        grown(&["--no-clearance"]),
        grown(&[]),
        grown(&["--clearance", "0.005"]),
    );
    assert!(lack(&through, 0.002) > 0.001, "{}", lack(&through, 0.002));
    // A tenth of a cell of the field, a millimetre, and the flatness of the ball's sides.
    assert!(lack(&kept_out, 0.002) < 3e-4, "{}", lack(&kept_out, 0.002));
    assert!(lack(&far, 0.005) < 3e-4, "{}", lack(&far, 0.005));
    for (a, b) in through.iter().zip(&kept_out) {
        assert_eq!(a[0], b[0], "roots stay");
    }
    // Segments are chords: on an arc with a radius of 1.4 segments, the sharpest bend, they are shorter by 1 / (24 * 1.4^2).
    for (a, b) in segments(&through).iter().zip(segments(&kept_out)) {
        assert!((1.0 - b / a).abs() < 0.022, "{a} {b}");
    }
    for wrong in ["nan", "inf"] {
        let out = p.sinew(&[
            "hair",
            "grow",
            "ball.obj",
            "--clearance",
            wrong,
            "-o",
            "no.glb",
        ]);
        assert_eq!(out.status.code(), Some(2), "{}", said(&out));
        assert!(said(&out).contains("expected 0 or more"), "{}", said(&out));
    }
}

#[test]
fn hair_that_cannot_grow_says_why() {
    let p = Place::new();
    for (arguments, code, message) in [
        (
            &["--density", "scalpp"][..],
            2,
            "has no scalar attribute 'scalpp'; known: scalp",
        ),
        (
            &["--comb", "scalp"],
            2,
            "has no vector attribute 'scalp'; known: comb",
        ),
        (
            &["--vertices", "1"],
            5,
            "the number of vertices of a strand is 1, expected 2 to 4096",
        ),
        (
            &["--length", "-1"],
            5,
            "the length is -1, expected a number above 0",
        ),
        (&["--mesh", "body"], 2, "has the name 'body'"),
        (
            &["-o", "h.fbx"],
            2,
            "unknown file extension, expected .glb, .vrm, .tfx",
        ),
    ] {
        let all = [&["hair", "grow", "sample:head", "-o", "h.ply"], arguments].concat();
        let out = p.sinew(&all);
        assert_eq!(
            out.status.code(),
            Some(code),
            "{arguments:?} {}",
            said(&out)
        );
        assert!(said(&out).contains(message), "{arguments:?} {}", said(&out));
        assert!(!p.path("h.ply").exists());
    }
    // Formats that cannot hold it.
    let out = p.sinew(&[
        "hair",
        "grow",
        "sample:head",
        "--vertices",
        "10",
        "-o",
        "h.tfx",
    ]);
    assert_eq!(out.status.code(), Some(2), "{}", said(&out));
    assert!(
        said(&out).contains("use 4, 8, 16, 32 or 64"),
        "{}",
        said(&out)
    );
}

#[test]
fn fields_are_drawn_and_turned_into_surfaces() {
    let p = Place::new();
    let out = p.sinew(&[
        "field",
        "sample:ball",
        "--cells",
        "30",
        "-o",
        "slice.png",
        "-o",
        "ball.ply",
        "--size",
        "120",
    ]);
    ran(&out);
    assert!(
        said(&out).contains("bricks hold distances"),
        "{}",
        said(&out)
    );
    let picture = read_png(&p.path("slice.png")).expect("a picture");
    assert_eq!(picture.width().max(picture.height()), 120);
    // The middle of the ball is blue, a corner red.
    let (w, h) = (picture.width(), picture.height());
    let at = |x: usize, y: usize| picture.pixels()[y * w + x];
    assert!(
        at(w / 2, h / 2 + 3)[2] > at(w / 2, h / 2 + 3)[0],
        "blue inside"
    );
    assert!(at(2, 2)[0] > at(2, 2)[2], "red outside");
    // The ball of 0.25 m in its first frame; a level of 0.05 m is one of 0.3 m.
    let radius = |name: &str| {
        let ball = read_any(&p.path(name)).expect("reads").asset;
        let points = &ball.meshes[0].positions;
        let n = points.len() as f32;
        let middle: [f32; 3] =
            std::array::from_fn(|c| points.iter().map(|p| p[c]).sum::<f32>() / n);
        let far = |p: &[f32; 3]| {
            (0..3)
                .map(|c| (p[c] - middle[c]).powi(2))
                .sum::<f32>()
                .sqrt()
        };
        points.iter().map(far).sum::<f32>() / n
    };
    assert!(
        (radius("ball.ply") - 0.25).abs() < 0.002,
        "{}",
        radius("ball.ply")
    );
    ran(&p.sinew(&[
        "field",
        "sample:ball",
        "--cells",
        "30",
        "--level",
        "0.05",
        "-o",
        "more.ply",
    ]));
    assert!(
        (radius("more.ply") - 0.30).abs() < 0.003,
        "{}",
        radius("more.ply")
    );
    for (arguments, code, message) in [
        (
            &["--level", "9", "-o", "x.ply"][..],
            6,
            "no surface at --level 9",
        ),
        (&["--at", "2", "-o", "x.png"], 2, "expected 0 to 1"),
        (&["-o", "x.exr"], 2, ".png (a slice)"),
        (
            &["-g", "shift.json", "-o", "x.png"],
            5,
            "no field among its outputs",
        ),
    ] {
        let out = p.sinew(&[&["field", "sample:ball"], arguments].concat());
        assert_eq!(
            out.status.code(),
            Some(code),
            "{arguments:?} {}",
            said(&out)
        );
        assert!(said(&out).contains(message), "{arguments:?} {}", said(&out));
    }
}

/// One strand of three vertices, (0, 0, 0) (3, 0, 0) (3, 2, 0), and one of two, (0, 0, 1) (0, 0, 2).
const TWO_STRANDS: &str = r#"{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
 "meshes": [{"primitives": [{"mode": 3, "attributes": {"POSITION": 0}}, {"mode": 3, "attributes": {"POSITION": 1}}]}],
 "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [3, 2, 0]},
  {"bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC3", "min": [0, 0, 1], "max": [0, 0, 2]}],
 "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 24}],
 "buffers": [{"byteLength": 60, "uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAABAQAAAAAAAAAAAAABAQAAAAEAAAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAAAAABA"}]}"#;

#[test]
fn strands_have_the_thickness_that_the_document_gives_them() {
    let p = Place::new();
    p.put("hair.gltf", TWO_STRANDS);
    p.put(
        "thick.json",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"},
  "hair": {"type": "strands", "file": "hair.gltf", "thickness": {"root": 0.001, "tip": 0.0005}}},
 "outputs": {"body": "body", "hair": "hair"}}"#,
    );
    let arguments = ["run", "square.obj", "-g", "thick.json", "--frames", "0"];
    let outputs = ["-o", "out.glb", "-o", "out.ply", "-o", "out.npz"];
    ran(&p.sinew(&[&arguments[..], &outputs].concat()));
    // At 0, 3/5 and all of its length: the square root is 1, 4/5 and 0.
    let expected = [0.001, 0.0009, 0.0005, 0.001, 0.0005];
    let check = |found: &[f32], name: &str| {
        assert_eq!(found.len(), 5, "{name}");
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() < 1e-9, "{name}: {found:?}");
        }
    };
    let glb = read_any(&p.path("out.glb")).expect("reads").asset;
    check(glb.strands[0].strand_thickness().expect("there"), "glb");
    let ply = p.text_of_bytes("out.ply");
    assert!(ply.contains("property float thickness\n"), "{ply}");
    let npz = p.text_of_bytes("out.npz");
    for name in [
        "hair_positions.npy",
        "hair_strand_offsets.npy",
        "hair_thickness.npy",
    ] {
        assert!(npz.contains(name), "{name}");
    }
}
