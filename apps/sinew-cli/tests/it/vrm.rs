//! VRM avatars: expressions, what is kept, what is refused.

use crate::common::sequences::ended;
use crate::common::{Place, SHIFT, said};
use serde_json::{Value, json};
use sinew::geom::{Affine, LocalTransform};
use sinew::geom::{Asset, Influences, Joint, Mesh, MorphTarget, Node, Rig, Topology, Trs};
use sinew::io::gltf_write::{character_glb, read_glb_chunks};
use std::path::Path;
use std::sync::Arc;

/// A triangle whose vertex 1 `smile` moves up by 4 m and whose vertex 2 `jaw` moves up by 2 m.
fn triangle() -> Asset {
    let topology = Topology::new(3, vec![[0, 1, 2]]).expect("in range");
    let positions = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let mut mesh = Mesh::new("face", topology, positions);
    mesh.influences = Some(Influences::rigid(3, 0));
    let target = |name: &str, vertex, up| MorphTarget {
        name: name.into(),
        vertices: vec![vertex],
        positions: vec![[0.0, up, 0.0]],
        ..MorphTarget::default()
    };
    mesh.morph_targets = vec![target("smile", 1, 4.0), target("jaw", 2, 2.0)];
    let node = Node {
        name: "head".into(),
        parent: None,
        local: LocalTransform::Trs(Trs::default()),
        morph_weights: vec![0.25, 0.0],
        morph_offset: 0,
    };
    let joint = Joint {
        node: 0,
        joint_from_bind: Affine::identity(),
    };
    Asset {
        meshes: vec![mesh],
        rig: Arc::new(Rig::new(vec![node], vec![joint]).expect("valid")),
        ..Asset::default()
    }
}

fn vrm() -> Value {
    let bind = |index: usize, weight: f64| json!({ "node": 0, "index": index, "weight": weight });
    json!({
        "specVersion": "1.0",
        "humanoid": { "humanBones": { "head": { "node": 0 } } },
        "expressions": { "preset": {
            "happy": { "morphTargetBinds": [bind(0, 0.5)], "overrideMouth": "block" },
            "aa": { "morphTargetBinds": [bind(1, 1.0)] },
        } },
    })
}

fn document(path: &Path) -> Value {
    let bytes = std::fs::read(path).expect("there");
    let glb = read_glb_chunks(&bytes, path).expect("a GLB");
    serde_json::from_slice(glb.json).expect("JSON")
}

/// A folder with `a.vrm`.
fn place() -> Place {
    let p = Place::new();
    let path = p.path("a.vrm");
    let (bytes, _) = character_glb(&path, &triangle(), None).expect("written");
    let glb = read_glb_chunks(&bytes, &path).expect("a GLB");
    let mut root: Value = serde_json::from_slice(glb.json).expect("JSON");
    root["extensionsUsed"] = json!(["VRMC_vrm"]);
    root["extensions"] = json!({ "VRMC_vrm": vrm() });
    let mut text = root.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut out = b"glTF".to_vec();
    let total = 20 + text.len() + glb.rest.len();
    for word in [2, total, text.len()] {
        out.extend((word as u32).to_le_bytes());
    }
    out.extend(b"JSON");
    out.extend(text);
    out.extend(glb.rest);
    std::fs::write(path, out).expect("written");
    p
}

/// Heights of the vertices of frame 0.
fn heights(p: &Place, more: &[&str]) -> Vec<f32> {
    let run = ["run", "a.vrm", "--frames", "0", "-o", "f.obj"];
    ended(&p.sinew(&[&run[..], more].concat()), 0, "wrote f.obj");
    let text = p.text("f.obj");
    let lines = text.lines().filter(|l| l.starts_with("v "));
    lines
        .filter_map(|l| l.split(' ').nth(2)?.parse().ok())
        .collect()
}

#[test]
fn expressions_add_to_the_weights_of_the_file() {
    let p = place();
    // 4 m times the rest weight of 0.25.
    assert_eq!(heights(&p, &[]), [0.0, 1.0, 1.0]);
    let happy = ["--expression", "happy=0.5"];
    assert_eq!(heights(&p, &happy), [0.0, 2.0, 1.0], "and 4 m x 0.5 x 0.5");
    assert_eq!(heights(&p, &["--expression", "happy=9"]), [0.0, 3.0, 1.0]);
    let aa = ["--expression", "aa=0.25"];
    assert_eq!(heights(&p, &aa), [0.0, 1.0, 1.5]);
    let both = [&happy[..], &aa].concat();
    assert_eq!(
        heights(&p, &both),
        [0.0, 2.0, 1.0],
        "happy blocks the mouth"
    );
}

#[test]
fn wrong_expressions_are_told() {
    let p = place();
    let run = |text: &str| p.sinew(&["run", "a.vrm", "-o", "f.glb", "--expression", text]);
    let expected = "--expression: a.vrm has no expression 'hapy'; did you mean 'happy'?";
    ended(&run("hapy=1"), 2, expected);
    ended(&run("happy"), 2, "expected NAME=WEIGHT");
    ended(&run("happy=high"), 2, "expected NAME=WEIGHT");
    ended(&run("happy=nan"), 2, "expected a number from 0 to 1");
    p.put("shift.json", SHIFT);
    let unread = [
        "run",
        "a.vrm",
        "-g",
        "shift.json",
        "-o",
        "f.obj",
        "--frames",
        "0",
    ];
    let out = p.sinew(&[&unread[..], &["--expression", "aa=1"]].concat());
    ended(&out, 0, "expressions 'aa' have no effect");
    let skin = [
        "bake",
        "skin",
        "a.vrm",
        "-o",
        "s.vrm",
        "--expression",
        "aa=1",
    ];
    ended(&p.sinew(&skin), 2, "a skin is baked for all expressions");
}

#[test]
fn an_avatar_stays_one() {
    let p = place();
    ended(
        &p.sinew(&["convert", "a.vrm", "-o", "c.vrm"]),
        0,
        "wrote c.vrm",
    );
    assert_eq!(document(&p.path("c.vrm")), document(&p.path("a.vrm")));
    p.put("shift.json", SHIFT);
    let embed = ["embed", "c.vrm", "-g", "shift.json", "-o", "e.vrm"];
    ended(&p.sinew(&embed), 0, "wrote e.vrm");
    assert_eq!(document(&p.path("e.vrm"))["extensions"]["VRMC_vrm"], vrm());
    ended(&p.sinew(&["check", "e.vrm"]), 0, "");
    let hair = ["hair", "grow", "a.vrm", "--count", "3", "-o", "h.vrm"];
    ended(&p.sinew(&hair), 0, "wrote h.vrm");
    assert_eq!(document(&p.path("h.vrm"))["extensions"]["VRMC_vrm"], vrm());
    let run = p.sinew(&["run", "a.vrm", "--frames", "0", "-o", "f.glb"]);
    ended(
        &run,
        0,
        "f.glb has the frames and materials, but no VRM data",
    );
    let run = p.sinew(&["run", "a.vrm", "--frames", "0", "-o", "f.vrm"]);
    ended(&run, 2, "new frames do not fit into a VRM avatar");
    let sample = ["embed", "sample:arm", "-g", "shift.json", "-o", "e.vrm"];
    ended(&p.sinew(&sample), 2, "arm_with_hand has no VRM data");
}

#[test]
fn inspect_lists_expressions_and_bones() {
    let p = place();
    let out = p.sinew(&["inspect", "a.vrm", "--json"]);
    let report: Value =
        serde_json::from_slice(&out.stdout).unwrap_or_else(|_| panic!("{}", said(&out)));
    assert_eq!(report["vrm"], "1.0");
    let happy = report["expressions"].as_array().expect("a list");
    let happy = happy.iter().find(|e| e["name"] == "happy").expect("there");
    assert_eq!(happy["override_mouth"], "block");
    assert_eq!(
        happy["targets"],
        json!([{ "mesh": "head", "target": "smile", "amount": 0.5 }])
    );
    assert_eq!(
        report["humanoid_bones"],
        json!([{ "name": "head", "node": "head" }])
    );
    let text = p.sinew(&["inspect", "a.vrm"]);
    ended(&text, 0, "happy");
}
