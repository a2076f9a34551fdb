//! `sinew psd extract`: a bent strip in a GLB file, a sculpt in an OBJ file, and what comes out.

use crate::common::{Place, printed, said};
use serde_json::{Value, json};
use sinew::deform::Par;
use sinew::graph::Frame;
use sinew::io::Folders;
use sinew::play::{Character, Document, PlayInputs};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

const SKIN: &str = r#"{"sinew": "1.0", "stack": [{"node": "skin", "method": "linear"}]}"#;
/// The second joint is one metre along X and turns by this about Z until second 1.
const ANGLE: f64 = 1.1;
const COUNT: usize = 10;

/// Rest positions: two rows along X.
fn rest(v: usize) -> [f64; 3] {
    [(v / 2) as f64 * 0.5, (v % 2) as f64 * 0.25, 0.0]
}

/// Share of the second joint.
fn share(v: usize) -> f64 {
    (v / 2) as f64 * 0.25
}

/// Some corrective.
fn corrective(v: usize) -> [f64; 3] {
    if v < 4 {
        return [0.0; 3];
    }
    let t = v as f64;
    [0.02 * t.sin(), 0.03 * (2.0 * t).cos(), 0.01 * t]
}

/// Linear skinning at second 1, by hand: still, and turned about (1, 0, 0).
fn posed(v: usize, p: [f64; 3]) -> [f64; 3] {
    let (sin, cos) = ANGLE.sin_cos();
    let x = p[0] - 1.0;
    let turned = [1.0 + cos * x - sin * p[1], sin * x + cos * p[1], p[2]];
    std::array::from_fn(|c| p[c] * (1.0 - share(v)) + turned[c] * share(v))
}

/// A GLB file of the strip with a skin, a clip and a material.
fn character() -> Vec<u8> {
    let vertices = 0..COUNT;
    let positions: Vec<f32> = vertices
        .clone()
        .flat_map(|v| rest(v).map(|c| c as f32))
        .collect();
    let joints: Vec<u8> = vertices.clone().flat_map(|_| [0, 1, 0, 0]).collect();
    let weights = vertices.flat_map(|v| [1.0 - share(v) as f32, share(v) as f32, 0.0, 0.0]);
    let identity = |x: f32| {
        let mut m = [0.0_f32; 16];
        (m[0], m[5], m[10], m[15], m[12]) = (1.0, 1.0, 1.0, 1.0, x);
        m
    };
    let half = (ANGLE / 2.0).sin_cos();
    let turn = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half.0 as f32, half.1 as f32];
    let triangles: Vec<u8> = (0..COUNT as u8 - 2)
        .flat_map(|v| [v, v + 1, v + 2])
        .flat_map(|v| [v, 0])
        .collect();
    let floats = |f: &[f32]| -> Vec<u8> { f.iter().flat_map(|f| f.to_le_bytes()).collect() };
    let weights: Vec<f32> = weights.collect();
    let binds = [identity(0.0), identity(-1.0)].concat();
    let blocks = [
        (
            floats(&positions),
            json!({ "componentType": 5126, "count": COUNT, "type": "VEC3", "min": [0, 0, 0], "max": [2, 0.25, 0] }),
        ),
        (
            joints,
            json!({ "componentType": 5121, "count": COUNT, "type": "VEC4" }),
        ),
        (
            floats(&weights),
            json!({ "componentType": 5126, "count": COUNT, "type": "VEC4" }),
        ),
        (
            floats(&binds),
            json!({ "componentType": 5126, "count": 2, "type": "MAT4" }),
        ),
        (
            floats(&[0.0, 1.0]),
            json!({ "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [1] }),
        ),
        (
            floats(&turn),
            json!({ "componentType": 5126, "count": 2, "type": "VEC4" }),
        ),
        (
            triangles,
            json!({ "componentType": 5123, "count": (COUNT - 2) * 3, "type": "SCALAR" }),
        ),
    ];
    let (mut views, mut accessors, mut binary) = (Vec::new(), Vec::new(), Vec::new());
    for (bytes, mut accessor) in blocks {
        accessor["bufferView"] = views.len().into();
        views.push(json!({ "buffer": 0, "byteOffset": binary.len(), "byteLength": bytes.len() }));
        accessors.push(accessor);
        binary.extend(bytes);
        binary.resize(binary.len().next_multiple_of(4), 0);
    }
    let root = json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0, 1] }],
        "nodes": [{ "name": "strip", "mesh": 0, "skin": 0 }, { "name": "upper", "children": [2] },
            { "name": "lower", "translation": [1, 0, 0] }],
        "meshes": [{ "name": "strip", "primitives": [{ "attributes": { "POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2 },
            "indices": 6, "material": 0 }] }],
        "skins": [{ "joints": [1, 2], "inverseBindMatrices": 3 }],
        "materials": [{ "name": "skin", "pbrMetallicRoughness": { "baseColorFactor": [0.8, 0.5, 0.4, 1] } }],
        "animations": [{ "name": "bend", "samplers": [{ "input": 4, "output": 5 }],
            "channels": [{ "sampler": 0, "target": { "node": 2, "path": "rotation" } }] }],
        "accessors": accessors, "bufferViews": views, "buffers": [{ "byteLength": binary.len() }],
    });
    let mut text = root.to_string();
    while !text.len().is_multiple_of(4) {
        text.push(' ');
    }
    let mut out = b"glTF".to_vec();
    let word = |n: usize| u32::try_from(n).expect("small").to_le_bytes();
    out.extend(
        [
            word(2),
            word(28 + text.len() + binary.len()),
            word(text.len()),
        ]
        .concat(),
    );
    out.extend(b"JSON");
    out.extend(text.as_bytes());
    out.extend(word(binary.len()));
    out.extend(b"BIN\0");
    out.extend(binary);
    out
}

fn sculpt() -> Vec<[f64; 3]> {
    let moved = |v: usize| {
        let (r, d) = (rest(v), corrective(v));
        posed(v, std::array::from_fn(|c| r[c] + d[c]))
    };
    (0..COUNT).map(moved).collect()
}

/// The character, its graph, and the sculpt in OBJ.
fn place() -> Place {
    let p = Place::new();
    std::fs::write(p.path("strip.glb"), character()).expect("write");
    p.put("skin.json", SKIN);
    let mut text = String::new();
    for s in sculpt() {
        let _ = writeln!(text, "v {} {} {}", s[0], s[1], s[2]);
    }
    for v in 1..COUNT - 1 {
        let _ = writeln!(text, "f {} {} {}", v, v + 1, v + 2);
    }
    p.put("bent.obj", &text);
    p
}

/// What the file shows at second 1 with its first morph target at full weight.
fn played(path: &Path) -> Vec<[f32; 3]> {
    let character = Arc::new(Character::load(path).expect("valid"));
    let document = Document::of_character(&character);
    let plan = Arc::new(document.compile().expect("a correct document"));
    let mut cast = PlayInputs::load(character, &plan, &Folders::default()).expect("assembles");
    cast.pose(Some("bend"), 1.0);
    let mut pose = cast.poses()[0].clone();
    pose.morph_weights[0] = 1.0;
    let mut instance = cast.bind(&plan, &[]).expect("binds").instance();
    let frame = Frame::default().pose(&pose);
    instance.update(&frame, Par::Seq).expect("a frame");
    instance
        .mesh_output("body")
        .expect("output")
        .positions
        .to_vec()
}

#[test]
fn a_sculpt_becomes_a_morph_target_of_the_file() {
    let p = place();
    let o = p.sinew(&[
        "psd",
        "extract",
        "strip.glb",
        "--graph",
        "skin.json",
        "--sculpt",
        "elbow=bent.obj@30",
        "-o",
        "out.glb",
        "--log-format",
        "json",
    ]);
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    assert!(said(&o).contains("no_morph"), "{}", said(&o));
    let report: Value = serde_json::from_str(&printed(&o)).expect("a JSON line");
    assert_eq!(
        (&report["name"], &report["frame"]),
        (&json!("elbow"), &json!(30))
    );
    assert_eq!(
        (&report["reached"], &report["moved"]),
        (&json!(true), &json!(COUNT - 4))
    );
    for (found, expected) in played(&p.path("out.glb")).iter().zip(sculpt()) {
        for c in 0..3 {
            assert!(
                (f64::from(found[c]) - expected[c]).abs() < 1e-5,
                "{found:?} {expected:?}"
            );
        }
    }
    let (before, after) = (
        Character::load(&p.path("strip.glb")),
        Character::load(&p.path("out.glb")),
    );
    let (before, after) = (before.expect("valid"), after.expect("valid"));
    let target = &after.asset.meshes[0].morph_targets[0];
    assert_eq!(target.name, "elbow");
    assert_eq!(target.vertices, [4, 5, 6, 7, 8, 9]);
    for (&v, found) in target.vertices.iter().zip(&target.positions) {
        let expected = corrective(v as usize);
        for c in 0..3 {
            assert!(
                (f64::from(found[c]) - expected[c]).abs() < 1e-5,
                "{v}: {found:?} {expected:?}"
            );
        }
    }
    let json = |c: &Character| c.source.as_ref().expect("glTF").json.clone();
    for kept in ["nodes", "skins", "materials", "animations", "scenes"] {
        assert_eq!(json(&before)[kept], json(&after)[kept], "{kept}");
    }
}

#[test]
fn exit_codes_tell_what_is_wrong() {
    let p = place();
    let run = |rest: &[&str]| {
        p.sinew(&[&["psd", "extract", "strip.glb", "-o", "out.glb"], rest].concat())
    };
    let cases: [(&[&str], i32, &str); 6] = [
        (
            &["--sculpt", "square.obj@30"],
            3,
            "the sculpt has 4 vertices, expected 10",
        ),
        (
            &["--sculpt", "bent.obj"],
            2,
            "the frame is missing, expected FILE@FRAME or --frame",
        ),
        (&["--sculpt", "none.obj@1"], 3, "none.obj"),
        (
            &["--sculpt", "a=bent.obj@1", "--sculpt", "a=bent.obj@2"],
            2,
            "'a' already; choose another name",
        ),
        (
            &["--sculpt", "bent.obj@1", "--clip", "walk"],
            2,
            "no clip 'walk'",
        ),
        (
            &[
                "--sculpt",
                "bent.obj@1",
                "--graph",
                "shift.json",
                "--of",
                "head",
            ],
            2,
            "no mesh output 'head'",
        ),
    ];
    for (arguments, code, message) in cases {
        let o = run(arguments);
        assert_eq!(o.status.code(), Some(code), "{arguments:?}: {}", said(&o));
        assert!(said(&o).contains(message), "{arguments:?}: {}", said(&o));
        assert!(!p.path("out.glb").exists(), "{arguments:?}");
    }
    let o = p.sinew(&[
        "psd",
        "extract",
        "strip.glb",
        "--sculpt",
        "a=bent.obj@30",
        "--sculpt",
        "b=bent.obj@30",
        "-o",
        "out.glb",
    ]);
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    assert!(
        printed(&o).contains("b (frame 30): 6 of 10 vertices move"),
        "{}",
        printed(&o)
    );
    let o = p.sinew(&[
        "psd",
        "extract",
        "out.glb",
        "--sculpt",
        "a=bent.obj@30",
        "-o",
        "again.glb",
    ]);
    assert_eq!(o.status.code(), Some(2), "{}", said(&o));
}
