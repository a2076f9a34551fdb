//! Where `sinew hair grow` grows strands on a file that has no painted attributes, and how it combs them.

use crate::common::{Place, said};
use crate::render::render;
use sinew::geom::Mesh;
use sinew::io::{read_any, read_png};

/// Grows 200 strands of 8 vertices, and gives each as its points.
fn grown(p: &Place, character: &str, more: &[&str]) -> Vec<Vec<[f32; 3]>> {
    let all = [
        "hair",
        "grow",
        character,
        "--count",
        "200",
        "--vertices",
        "8",
        "--no-clearance",
        "-o",
        "h.ply",
        "-o",
        "h.glb",
    ];
    let out = p.sinew(&[&all[..], more].concat());
    assert_eq!(out.status.code(), Some(0), "{more:?}: {}", said(&out));
    // Strands that the character had come first.
    let asset = read_any(&p.path("h.glb")).expect("reads").asset;
    let hair: &Mesh = asset.strands.last().expect("strands");
    hair.positions.chunks(8).map(<[_]>::to_vec).collect()
}

#[test]
fn joints_boxes_and_masks_say_where_hair_grows() {
    let p = Place::new();
    // The sample's skin weights change from neck to head between these heights; above, all is of the head.
    let of_head = grown(&p, "sample:head", &["--joint", "head"]);
    let lowest = of_head.iter().map(|s| s[0][1]).fold(f32::MAX, f32::min);
    assert!(
        lowest > 0.12,
        "the box of the head begins at 0.125 m: {lowest}"
    );
    let all = grown(&p, "sample:head", &[]);
    assert!(all.iter().any(|s| s[0][1] < 0.05), "the bust has hair, too");
    let boxed = grown(
        &p,
        "square.obj",
        &["--box", "0.75,2,1,0.25,0.5,-1", "--box", "0,0,0,0,0,0"],
    );
    assert!(!boxed.is_empty());
    p.put("grid.obj", &grid(8));
    let boxed = grown(&p, "grid.obj", &["--box", "0.75,2,1,0.25,0.5,-1"]);
    // Density is 1 at vertices in the box and falls to 0 at the next ones, an eighth farther.
    for root in boxed.iter().map(|s| s[0]) {
        assert!(
            root[0] > 0.124 && root[0] < 0.876 && root[1] > 0.374,
            "{root:?}"
        );
    }
    p.put(
        "mask.json",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "nodes": {"m": {"node": "mask", "mesh": "body", "source": "box",
 "transform": {"translation": [0, 0.5, 0], "scale": [0.25, 4, 4]}, "falloff": 0}}, "outputs": {"body": "body", "left": "m"}}"#,
    );
    let masked = grown(&p, "grid.obj", &["--graph", "mask.json", "--mask", "left"]);
    assert!(
        masked.iter().all(|s| s[0][0] < 0.4),
        "the box ends at 0.25 or before"
    );
}

/// The unit square in n by n quads.
fn grid(n: usize) -> String {
    let mut text = String::new();
    let at = |i: usize| i as f64 / n as f64;
    for y in 0..=n {
        for x in 0..=n {
            text += &format!("v {} {} 0\n", at(x), at(y));
        }
    }
    for y in 0..n {
        for x in 0..n {
            let a = y * (n + 1) + x + 1;
            text += &format!("f {a} {} {} {}\n", a + 1, a + n + 2, a + n + 1);
        }
    }
    text
}

#[test]
fn hair_is_combed_in_a_direction_and_along_a_curve() {
    let p = Place::new();
    let end = |s: &[[f32; 3]]| -> [f32; 3] { std::array::from_fn(|c| s[7][c] - s[6][c]) };
    let straight = ["--length-variation", "0", "--lean", "0", "--length", "0.7"];
    let combed = grown(
        &p,
        "square.obj",
        &[&straight[..], &["--comb", "0,-1,0"]].concat(),
    );
    for s in &combed {
        // The last segment is a tenth of a metre long and lies along the direction.
        let [x, y, z] = end(s);
        assert!(
            (y + 0.1).abs() < 1e-4 && x.abs() < 1e-4 && z.abs() < 1e-4,
            "{:?}",
            end(s)
        );
    }
    let along = ["--guide", "0.5,0.5,0 0.5,0.5,0.1 3,0.5,0.1"];
    let guided = grown(&p, "square.obj", &[&straight[..], &along].concat());
    for s in &guided {
        let [x, ..] = end(s);
        assert!(x > 0.099, "parallel to the end of the curve: {:?}", end(s));
    }
    for (more, code, expected) in [
        (
            &["sample:arm", "--joint", "forarm"][..],
            2,
            "did you mean 'forearm'?",
        ),
        (&["square.obj", "--joint", "head"], 2, "there are no joints"),
        (
            &["square.obj", "--box", "5,5,5,6,6,6"],
            5,
            "no vertex is in a box",
        ),
        (
            &["square.obj", "--box", "1,2,3"],
            2,
            "expected 6 finite numbers",
        ),
        (
            &["square.obj", "--gather", "1"],
            2,
            "--gather needs a curve",
        ),
        (
            &["square.obj", "--comb-strength", "0.5"],
            2,
            "--comb-strength needs",
        ),
        (
            &["square.obj", "--guide", "square.obj"],
            2,
            "the file has no curves",
        ),
        (
            &["square.obj", "--guide", "0,0,0 0,0,0"],
            5,
            "no finite length",
        ),
        (&["square.obj", "--mask", "m"], 2, "--graph"),
    ] {
        let all = [&["hair", "grow", "-o", "n.ply"], more].concat();
        let out = p.sinew(&all);
        assert_eq!(out.status.code(), Some(code), "{more:?} {}", said(&out));
        assert!(said(&out).contains(expected), "{more:?} {}", said(&out));
        assert!(!p.path("n.ply").exists());
    }
}

/// TressFX strands refer to joints of the character by name: a focus on a joint keeps them in the picture.
#[test]
fn a_focus_keeps_the_hair_of_its_joint_in_the_picture() {
    let p = Place::new();
    let long = [
        "--joint",
        "head",
        "--box",
        "-1,0.3,-1,1,1,1",
        "--comb",
        "0,1,0",
        "--length",
        "0.6",
    ];
    let all = [
        &[
            "hair",
            "grow",
            "sample:head",
            "--count",
            "20",
            "--no-clearance",
            "-o",
            "h.tfx",
        ],
        &long[..],
    ]
    .concat();
    let out = p.sinew(&all);
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    p.put(
        "g.json",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "hair": {"type": "strands", "file": "h.tfx"}},
 "nodes": {"skin": {"node": "skin", "mesh": "body", "pose": "pose"}, "moved": {"node": "skin", "mesh": "hair", "pose": "pose"}},
 "outputs": {"body": "skin", "hair": "moved"}}"#,
    );
    let flat = [
        "--background",
        "transparent",
        "--no-ground",
        "--size",
        "96x96",
        "--yaw",
        "0",
        "--pitch",
        "0",
    ];
    let draw = [
        "sample:head",
        "-g",
        "g.json",
        "--focus",
        "head",
        "-o",
        "o.png",
    ];
    let Some(out) = render(&p, &[&draw[..], &flat].concat()) else {
        return;
    };
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    let image = read_png(&p.path("o.png")).expect("a picture");
    let width = image.width();
    // Strands stand up by 0.6 m: the first rows are free, and something is in the upper half.
    let row = |y: usize| (0..width).any(|x| image.pixels()[y * width + x][3] > 0);
    assert!(!row(0), "the tips are not cut off");
    assert!((1..30).any(row), "and not far below the edge");
}

/// Presets need no other option: they grow where the sample is painted, replace its own hair, and give thickness and colour. Other options
/// override them.
#[test]
fn presets_grow_hair_that_has_thickness_and_color() {
    let p = Place::new();
    let roots_of = |preset: &str| {
        let options = ["--preset", preset, "--color", "#ff0000,#0000ff"];
        let roots: Vec<[f32; 3]> = grown(&p, "sample:head", &options)
            .iter()
            .map(|s| s[0])
            .collect();
        assert_eq!(roots.len(), 200, "{preset}: --count overrides it");
        roots
    };
    for preset in ["short", "long_straight", "curly", "fur", "ponytail"] {
        for root in roots_of(preset) {
            assert!(root[1] > 0.24, "{preset} grows on the scalp: {root:?}");
        }
        let asset = read_any(&p.path("h.glb")).expect("reads").asset;
        assert_eq!(asset.strands.len(), 1, "the sample's own hair is gone");
        let hair = &asset.strands[0];
        let thickness = hair.strand_thickness().expect("thickness");
        assert!(thickness[0] > thickness[7] && thickness[7] > 0.0);
        assert_eq!(hair.colors[0][0][..3], [1.0, 0.0, 0.0]);
        assert_eq!(hair.colors[0][7][..3], [0.0, 0.0, 1.0]);
    }
    let all = [
        "hair",
        "grow",
        "square.obj",
        "--preset",
        "short",
        "--count",
        "9",
        "-o",
        "s.ply",
    ];
    let out = p.sinew(&all);
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    assert!(said(&out).contains("hair_everywhere") || said(&out).contains("grows everywhere"));
    let out = p.sinew(&[
        "hair",
        "grow",
        "sample:head",
        "--preset",
        "mullet",
        "-o",
        "s.ply",
    ]);
    assert_eq!(out.status.code(), Some(2), "{}", said(&out));
}
