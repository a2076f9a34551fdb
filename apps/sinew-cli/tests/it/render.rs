//! `sinew render`: kinds of pictures, cameras, looks, wrong input. What they look like is in pictures.rs.

use crate::common::{Place, said};
use sinew::geom::Image;
use sinew::picture::ColorMap;
use std::process::Output;

/// Draws; `None` where there is no adapter, which is said.
pub(crate) fn render(p: &Place, arguments: &[&str]) -> Option<Output> {
    let o = p.sinew(&[&["render"], arguments].concat());
    if o.status.code() == Some(7) && said(&o).contains("no GPU adapter") {
        let required = std::env::var("SINEW_REQUIRE_GPU").is_ok_and(|v| v == "1");
        assert!(!required, "{}", said(&o));
        #[expect(clippy::print_stdout, reason = "tests say what they skip")]
        {
            println!("skipped: no GPU adapter");
        }
        return None;
    }
    Some(o)
}

/// Draws to `out.png` and reads it.
fn picture(p: &Place, arguments: &[&str]) -> Option<Image> {
    let o = render(p, &[arguments, &["-o", "out.png"]].concat())?;
    assert_eq!(o.status.code(), Some(0), "{arguments:?}: {}", said(&o));
    Some(sinew::io::read_png(&p.path("out.png")).expect("a picture"))
}

fn size(image: &Image) -> [usize; 2] {
    [image.width(), image.height()]
}

/// A red square from (0, 0) to (1, 1) in the plane z = 0, and a camera that sees two metres of that plane, with its middle in the
/// middle of the picture.
const SCENE: &str = r#"{"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 1]}],
 "nodes": [{"mesh": 0}, {"camera": 0, "name": "front", "translation": [0.5, 0.5, 2]}],
 "cameras": [{"type": "orthographic", "orthographic": {"xmag": 1, "ymag": 1, "znear": 0.1, "zfar": 10}}],
 "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]}}],
 "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
 "buffers": [{"byteLength": 60, "uri": "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAACAPwAAgD8AAAAAAAAAAAAAgD8AAAAAAAABAAIAAAACAAMA"}],
 "bufferViews": [{"buffer": 0, "byteLength": 48}, {"buffer": 0, "byteOffset": 48, "byteLength": 12}],
 "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
  {"bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR"}]}"#;

#[test]
fn a_camera_of_the_file_sees_what_it_should() {
    let p = Place::new();
    p.put("scene.gltf", SCENE);
    let flat = [
        "--lighting",
        "flat",
        "--background",
        "transparent",
        "--no-ground",
    ];
    let arguments = [
        &["scene.gltf", "--size", "100x80", "--camera", "front"][..],
        &flat,
    ]
    .concat();
    let Some(image) = picture(&p, &arguments) else {
        return;
    };
    assert_eq!(size(&image), [100, 80]);
    // Two metres are 80 pixels: the square is 40 of them, around the middle.
    for y in 0..80 {
        for x in 0..100 {
            let inside = (30..70).contains(&x) && (20..60).contains(&y);
            let expected = if inside { [255, 0, 0, 255] } else { [0; 4] };
            assert_eq!(image.pixel(x, y), Some(expected), "pixel {x}, {y}");
        }
    }
    // The same by hand: 2 m before the plane, half the height is one metre.
    let by_hand = [
        "--eye",
        "0.5,0.5,2",
        "--target",
        "0.5,0.5,0",
        "--fov",
        "53.1301",
    ];
    let arguments = [&["scene.gltf", "--size", "100x80"][..], &by_hand, &flat].concat();
    let again = picture(&p, &arguments).expect("drawn before");
    assert_eq!(again.pixel(50, 40), Some([255, 0, 0, 255]));
    let covered = again.pixels().iter().filter(|p| p[3] > 127).count();
    assert!((1500..1700).contains(&covered), "{covered} of 1600 pixels");
}

#[test]
fn differences_are_millimetres() {
    let p = Place::new();
    // Half a metre, of one: the colour in the middle of the map.
    let arguments = [
        "square.obj",
        "-g",
        "shift.json",
        "--set",
        "w=0.5",
        "--look",
        "difference",
        "--against",
        "rest",
        "--range",
        "0,1000",
        "--lighting",
        "flat",
        "--map",
        "cividis",
        "--size",
        "64x64",
    ];
    let Some(image) = picture(&p, &arguments) else {
        return;
    };
    let table = ColorMap::Cividis.table();
    let of = |i: usize| {
        let [r, g, b] = table[i];
        image
            .pixels()
            .iter()
            .filter(|p| **p == [r, g, b, 255])
            .count()
    };
    assert!(of(127) + of(128) > 300, "{} pixels", of(127) + of(128));
}

#[test]
fn kinds_of_pictures() {
    let p = Place::new();
    let Some(one) = picture(&p, &["sample:ball"]) else {
        return;
    };
    assert_eq!(size(&one), [1280, 720], "the default");
    let small = |more: &[&str]| {
        let arguments = [&["sample:ball", "--size", "40x30"][..], more].concat();
        size(&picture(&p, &arguments).expect("drawn before"))
    };
    assert_eq!(small(&[]), [40, 30]);
    let [width, height] = small(&["--compare", "rest,linear,default"]);
    assert!(
        width > 120 && (30..100).contains(&height),
        "three in a row: {width} x {height}"
    );
    let [width, height] = small(&["--frames", "0-3", "--columns", "2"]);
    assert!(
        (80..120).contains(&width) && height > 60,
        "two by two: {width} x {height}"
    );
    let [width, height] = small(&["--turntable", "6", "--columns", "6"]);
    assert!(
        width > 240 && height < 100,
        "six in a row: {width} x {height}"
    );
    let [width, height] = small(&["--compare", "rest,linear", "--frames", "0-2"]);
    assert!(
        (80..120).contains(&width) && height > 90,
        "frames below each other: {width} x {height}"
    );
}

/// Number of frames in an APNG: the first field of its chunk `acTL`.
fn frames_of_apng(bytes: &[u8]) -> u32 {
    let at = bytes
        .windows(4)
        .position(|w| w == b"acTL")
        .expect("an animation");
    u32::from_be_bytes(bytes[at + 4..at + 8].try_into().expect("four bytes"))
}

#[test]
fn animations_hold_every_frame() {
    let p = Place::new();
    let arguments = [
        "sample:ball",
        "--size",
        "24x24",
        "--frames",
        "0-8/2",
        "-o",
        "out.apng",
    ];
    let Some(o) = render(&p, &arguments) else {
        return;
    };
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    let bytes = std::fs::read(p.path("out.apng")).expect("written");
    assert_eq!(frames_of_apng(&bytes), 5);
    let o = p.sinew(&[
        "render",
        "sample:ball",
        "--size",
        "24x24",
        "--turntable",
        "3",
        "-o",
        "t.gif",
    ]);
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    let bytes = std::fs::read(p.path("t.gif")).expect("written");
    assert!(bytes.starts_with(b"GIF89a"), "a GIF");
}

#[test]
fn the_same_command_gives_the_same_bytes() {
    let p = Place::new();
    let arguments = ["sample:creature", "--frames", "9", "--size", "96x96"];
    if picture(&p, &arguments).is_none() {
        return;
    }
    let first = std::fs::read(p.path("out.png")).expect("written");
    picture(&p, &arguments);
    let second = std::fs::read(p.path("out.png")).expect("written");
    assert!(first == second, "two runs differ");
}

#[test]
fn devices_agree() {
    let p = Place::new();
    let draw = |device: &str| {
        let common = [
            "sample:arm",
            "--frames",
            "54",
            "--size",
            "160x120",
            "--device",
            device,
        ];
        picture(
            &p,
            &[&common[..], &["--compare", "delta_mush,dual_quaternion"]].concat(),
        )
    };
    let Some(cpu) = draw("cpu") else {
        return;
    };
    let gpu = draw("gpu").expect("drawn before");
    assert_eq!(size(&cpu), size(&gpu));
    let pairs = cpu.as_bytes().iter().zip(gpu.as_bytes());
    let different = pairs.filter(|(a, b)| a.abs_diff(**b) > 3).count();
    assert!(
        different * 1000 < cpu.as_bytes().len(),
        "{different} bytes differ"
    );
}

#[test]
fn a_sequence_with_changing_topology_is_drawn() {
    let p = Place::new();
    p.put("grow_0001.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    p.put(
        "grow_0002.obj",
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n",
    );
    let flat = [
        "--lighting",
        "flat",
        "--background",
        "transparent",
        "--no-ground",
        "--size",
        "64x64",
    ];
    let view = ["--yaw", "0", "--pitch", "0"];
    let covered = |frame: &str| {
        let arguments = [&["grow_####.obj", "--frames", frame][..], &flat, &view].concat();
        let image = picture(&p, &arguments)?;
        Some(image.pixels().iter().filter(|p| p[3] > 127).count())
    };
    let (Some(one), Some(two)) = (covered("1"), covered("2")) else {
        return;
    };
    assert!(
        one > 1000 && two > 2 * one - 200 && two < 2 * one + 200,
        "{one}, then {two}"
    );
    let o = p.sinew(&["render", "grow_####.obj", "--frames", "3", "-o", "out.png"]);
    assert_eq!(o.status.code(), Some(2), "{}", said(&o));
    assert!(
        said(&o).contains("no frame 3; it has 2 frames from 1 to 2"),
        "{}",
        said(&o)
    );
}

#[test]
fn wrong_input_is_told_and_leaves_nothing() {
    let p = Place::new();
    p.put("scene.gltf", SCENE);
    if picture(&p, &["square.obj", "--size", "8x8"]).is_none() {
        return;
    }
    std::fs::remove_file(p.path("out.png")).expect("it is there");
    let before = p.files();
    let cases: &[(&[&str], i32, &str)] = &[
        (
            &["square.obj", "-o", "a.jpg"],
            2,
            "unknown file extension, expected .png, .apng, .gif",
        ),
        (&["nofile.glb", "-o", "a.png"], 3, "nofile.glb"),
        (&["sample:leg", "-o", "a.png"], 2, "sample:arm"),
        (
            &["square.obj", "-o", "a.png", "--look", "shiny"],
            2,
            "expected shaded, clay",
        ),
        (
            &["square.obj", "-o", "a.png", "--look", "attribute:heat"],
            2,
            "no attribute 'heat'; known: none",
        ),
        (
            &["square.obj", "-o", "a.png", "--look", "output:mask"],
            2,
            "no mask or values output 'mask'",
        ),
        (
            &["square.obj", "-o", "a.png", "--look", "uv"],
            2,
            "no texture coordinates",
        ),
        (
            &["sample:arm", "-o", "a.png", "--look", "weights:foot"],
            2,
            "no joint 'foot'",
        ),
        (
            &["sample:arm", "-o", "a.png", "--focus", "foot"],
            2,
            "no joint 'foot'",
        ),
        (
            &["square.obj", "-o", "a.png", "--size", "0x8"],
            2,
            "WIDTHxHEIGHT",
        ),
        (
            &["square.obj", "-o", "a.png", "--size", "400000x8"],
            7,
            "400000 needed",
        ),
        (
            &[
                "sample:arm",
                "-o",
                "a.png",
                "--frames",
                "0-9999",
                "--size",
                "999x999",
            ],
            2,
            "at most",
        ),
        (
            &["square.obj", "-o", "a.png", "--compare", "linear,mush"],
            2,
            "'mush' is not a variant",
        ),
        (&["square.obj", "-o", "a.png", "--set", "x=1"], 2, "'x'"),
        (
            &["square.obj", "-o", "a.png", "--map", "rainbow"],
            2,
            "viridis",
        ),
        (
            &["square.obj", "-o", "a.png", "--background", "pink"],
            2,
            "#rrggbb",
        ),
        (
            &["square.obj", "-o", "a.png", "--range", "1,x"],
            2,
            "2 finite numbers",
        ),
        (
            &[
                "square.obj",
                "-o",
                "a.png",
                "--eye",
                "1,1,1",
                "--target",
                "1,1,1",
            ],
            2,
            "same point",
        ),
        (
            &["scene.gltf", "-o", "a.png", "--camera", "side"],
            2,
            "there is no such camera; known: front",
        ),
        (
            &["square.obj", "-o", "a.png", "--turntable", "0"],
            2,
            "1 to 10000",
        ),
        (
            &["square.obj", "-o", "a.png", "-g", "nofile.json"],
            4,
            "nofile.json",
        ),
        (
            &[
                "square.obj",
                "-o",
                "a.png",
                "--look",
                "difference",
                "--against",
                "rigid",
            ],
            5,
            "",
        ),
        (
            &[
                "square.obj",
                "-o",
                "a.png",
                "--look",
                "difference",
                "--range",
                "5,1",
            ],
            2,
            "lower number",
        ),
        (
            &["square.obj", "-o", "a.png", "--map", "magma"],
            2,
            "--map needs a --look with numbers",
        ),
        (
            &["square.obj", "-o", "a.png", "--against", "rest"],
            2,
            "--against needs --look difference",
        ),
        (
            &["square.obj", "-o", "a.gif", "--sheet"],
            2,
            "--sheet needs a .png output",
        ),
        (
            &["square.obj", "-o", "a.gif", "--rate", "0"],
            2,
            "--rate is 0",
        ),
        (
            &[
                "square.obj",
                "-o",
                "a.png",
                "-g",
                "shift.json",
                "--compare",
                "rest,linear",
            ],
            2,
            "--graph is not used",
        ),
        (
            &["square.obj", "-o", "a.png", "--look", "weights"],
            2,
            "joint weights",
        ),
        (
            &[
                "square.obj",
                "-o",
                "a.png",
                "--size",
                "4294967295x4294967295",
                "--compare",
                "rest,default",
            ],
            2,
            "at most",
        ),
        (&["square.obj", "-o", "a.png", "--yaw", "nan"], 2, "finite"),
        (
            &[
                "scene.gltf",
                "-o",
                "a.png",
                "--camera",
                "front",
                "--turntable",
                "3",
            ],
            2,
            "--turntable",
        ),
    ];
    for (arguments, code, text) in cases {
        let o = p.sinew(&[&["render"], *arguments].concat());
        assert_eq!(o.status.code(), Some(*code), "{arguments:?}: {}", said(&o));
        assert!(said(&o).contains(text), "{arguments:?}: {}", said(&o));
        assert_eq!(p.files(), before, "{arguments:?} left something");
    }
}

#[test]
fn odd_but_right_input_gives_a_picture() {
    let p = Place::new();
    p.put("points.obj", "v 0 0 0\nv 1 0 0\n");
    let Some(o) = render(&p, &["points.obj", "--size", "16x16", "-o", "out.png"]) else {
        return;
    };
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    assert!(said(&o).contains("no triangles"), "{}", said(&o));
    // From within the ball its inside is all there is.
    let within = [
        "sample:ball",
        "--eye",
        "0,0.25,0",
        "--target",
        "1,0.25,0",
        "--size",
        "16x16",
    ];
    let image = picture(
        &p,
        &[&within[..], &["--background", "transparent"]].concat(),
    );
    let image = image.expect("drawn before");
    assert!(image.pixels().iter().all(|p| p[3] == 255), "holes");
    // A graph of one's own beside the character's clip and numbers.
    let image = picture(
        &p,
        &[
            "square.obj",
            "-g",
            "shift.json",
            "--compare",
            "w=0,w=1",
            "--size",
            "32x32",
        ],
    );
    assert!(image.is_some_and(|i| i.width() > 64), "two side by side");
}

#[test]
fn without_an_adapter_it_says_what_to_install() {
    let p = Place::new();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_sinew"));
    command
        .args(["render", "square.obj", "-o", "a.png"])
        .current_dir(p.path("."));
    command.env("SINEW_ADAPTER", "no such adapter");
    let o = command.output().expect("the program starts");
    assert_eq!(o.status.code(), Some(7), "{}", said(&o));
    assert!(!p.path("a.png").exists(), "nothing is written");
}

/// A graph with a second mesh from another file, beside the first.
fn with_second(file: &str) -> String {
    format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "more": {{"type": "mesh", "file": "{file}"}}}},
 "nodes": {{"aside": {{"node": "transform", "mesh": "more", "transform": {{"translation": [1.5, 0, 0]}}}}}},
 "outputs": {{"body": "body", "more": "aside"}}}}"#
    )
}

#[test]
fn a_mesh_of_another_file_has_the_materials_of_that_file() {
    let p = Place::new();
    p.put("scene.gltf", SCENE);
    p.put("red_second.json", &with_second("scene.gltf"));
    p.put("red_first.json", &with_second("square.obj"));
    let view = [
        "--yaw",
        "0",
        "--pitch",
        "0",
        "--size",
        "100x40",
        "--lighting",
        "flat",
    ];
    let draw = |input: &str, graph: &str| {
        picture(
            &p,
            &[
                &[input, "-g", graph][..],
                &view,
                &["--background", "black", "--no-ground"],
            ]
            .concat(),
        )
    };
    let (Some(red_second), Some(red_first)) = (
        draw("square.obj", "red_second.json"),
        draw("scene.gltf", "red_first.json"),
    ) else {
        return;
    };
    let (red, clay) = ([255, 0, 0, 255], [195, 190, 183, 255]);
    for (image, left, right) in [(red_second, clay, red), (red_first, red, clay)] {
        let near = |x: usize, expected: [u8; 4]| {
            let found = image.pixel(x, 20).expect("inside");
            assert!(
                found.iter().zip(expected).all(|(a, b)| a.abs_diff(b) <= 1),
                "pixel {x}: {found:?}, expected {expected:?}"
            );
        };
        near(25, left);
        near(75, right);
    }
}

#[test]
fn values_go_to_the_graphs_that_want_them() {
    let p = Place::new();
    p.put(
        "pushed.json",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "w": {"type": "values", "count": 1}},
 "nodes": {"t": {"node": "transform", "mesh": "body", "transform": {"translation": [0, 0, 1]}}}, "outputs": {"body": "t", "w": "w"}}"#,
    );
    p.put("w.json", "[0.5]");
    let arguments = [
        "square.obj",
        "-g",
        "pushed.json",
        "--values",
        "w=w.json",
        "--size",
        "32x32",
    ];
    let compared = [&arguments[..], &["--compare", "graph,rest"]].concat();
    if picture(&p, &compared).is_none() {
        return;
    }
    let difference = [
        &arguments[..],
        &["--look", "difference", "--against", "rest"],
    ]
    .concat();
    let o = render(&p, &[&difference[..], &["-o", "out.png"]].concat()).expect("drawn before");
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    assert!(said(&o).contains("1000 mm at vertex"), "{}", said(&o));
    let wrong = [&arguments[..], &["--values", "v=w.json", "-o", "out.png"]].concat();
    let o = p.sinew(&[&["render"], &wrong[..]].concat());
    assert_eq!(o.status.code(), Some(2), "{}", said(&o));
    assert!(
        said(&o).contains("none of the graphs has a values input 'v'; known: w"),
        "{}",
        said(&o)
    );
}

#[test]
fn a_wrong_name_is_reported_before_what_is_missing_because_of_it() {
    let p = Place::new();
    p.put(
        "two.json",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "smile": {"type": "values", "count": 1}, "frown": {"type": "values", "count": 1}},
 "outputs": {"body": "body", "smile": "smile", "frown": "frown"}}"#,
    );
    let begin = [
        "square.obj",
        "-g",
        "two.json",
        "--values",
        "smille=none.json",
    ];
    let expected = "values input 'smille'; did you mean 'smile'? known: ";
    // The file does not exist, and both inputs are not given: the name comes first.
    let run = p.sinew(&[&["run"], &begin[..], &["-o", "o.obj"]].concat());
    assert_eq!(run.status.code(), Some(2), "{}", said(&run));
    assert!(said(&run).contains(expected), "{}", said(&run));
    if let Some(o) = render(&p, &[&begin[..], &["-o", "o.png"]].concat()) {
        assert_eq!(o.status.code(), Some(2), "{}", said(&o));
        assert!(said(&o).contains(expected), "{}", said(&o));
    }
}

#[test]
fn a_standing_camera_turns_around_its_target() {
    let p = Place::new();
    p.put("scene.gltf", SCENE);
    // From the side the square is a line.
    let arguments = [
        "scene.gltf",
        "--eye",
        "0.5,0.5,4",
        "--target",
        "0.5,0.5,0",
        "--turntable",
        "4",
        "--columns",
        "4",
        "--size",
        "40x40",
        "--lighting",
        "flat",
        "--background",
        "transparent",
        "--no-ground",
    ];
    let Some(sheet) = picture(&p, &arguments) else {
        return;
    };
    let quarter = sheet.width() / 4;
    let red = |turn: usize| {
        let columns = turn * quarter..(turn + 1) * quarter;
        let rows = (0..sheet.height()).flat_map(|y| columns.clone().map(move |x| (x, y)));
        rows.filter(|&(x, y)| sheet.pixel(x, y) == Some([255, 0, 0, 255]))
            .count()
    };
    assert!(red(0) > 200 && red(2) > 200, "{} and {}", red(0), red(2));
    assert!(red(1) < 20 && red(3) < 20, "{} and {}", red(1), red(3));
}

#[test]
fn differences_are_measured_between_outputs_of_one_name() {
    let p = Place::new();
    let graph = |outputs: &str| {
        format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}}},
 "nodes": {{"up": {{"node": "transform", "mesh": "body", "transform": {{"translation": [0, 0, 1]}}}}}}, "outputs": {{{outputs}}}}}"#
        )
    };
    p.put("two.json", &graph(r#""a": "body", "b": "up""#));
    p.put("turned.json", &graph(r#""b": "up", "a": "body""#));
    p.put("other.json", &graph(r#""a": "up", "b": "body""#));
    let draw = |against: &str| {
        let difference = [
            "--look",
            "difference",
            "--against",
            against,
            "--size",
            "16x16",
        ];
        render(
            &p,
            &[
                &["square.obj", "-g", "two.json", "-o", "out.png"][..],
                &difference,
            ]
            .concat(),
        )
    };
    let Some(o) = draw("turned.json") else {
        return;
    };
    assert!(said(&o).contains(": 0 mm at vertex"), "{}", said(&o));
    let o = draw("other.json").expect("drawn before");
    assert!(said(&o).contains(": 1000 mm at vertex"), "{}", said(&o));
}

#[test]
fn positions_that_are_not_finite_are_told_on_every_device() {
    let p = Place::new();
    p.put(
        "burst.json",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "stack": [
 {"node": "transform", "transform": {"scale": [1e30, 1e30, 1e30]}},
 {"node": "transform", "transform": {"scale": [1e30, 1e30, 1e30]}}]}"#,
    );
    for device in ["cpu", "gpu"] {
        let arguments = [
            "square.obj",
            "-g",
            "burst.json",
            "--device",
            device,
            "-o",
            "out.png",
        ];
        let Some(o) = render(&p, &arguments) else {
            return;
        };
        assert_eq!(o.status.code(), Some(5), "{device}: {}", said(&o));
        assert!(said(&o).contains("not finite"), "{device}: {}", said(&o));
        assert!(!p.path("out.png").exists(), "{device}: nothing is written");
    }
}
