//! What `sinew inspect` tells of a character. All numbers are computed by hand from the file below.

use crate::common::{Place, printed, said};
use serde_json::{Value, json};

/// A pixel.
const PNG: &str = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Accessors and bytes of a buffer that grows.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffer {
    fn floats(&mut self, kind: &str, width: usize, numbers: &[f32]) -> usize {
        let bytes = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let mut accessor =
            json!({ "componentType": 5126, "type": kind, "count": numbers.len() / width });
        let column = |c: usize| numbers.iter().skip(c).step_by(width).copied();
        let low: Vec<f32> = (0..width)
            .map(|c| column(c).fold(f32::MAX, f32::min))
            .collect();
        let high: Vec<f32> = (0..width)
            .map(|c| column(c).fold(f32::MIN, f32::max))
            .collect();
        accessor["min"] = json!(low);
        accessor["max"] = json!(high);
        self.add(bytes, accessor)
    }

    fn add(&mut self, bytes: Vec<u8>, mut accessor: Value) -> usize {
        let view =
            json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        accessor["bufferView"] = json!(self.views.len());
        self.views.push(view);
        self.bytes.extend(bytes);
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }
}

/// Hips that are rotated by 90 degrees about z, a knee half a metre along, and a toe of twice the size behind a node that is no joint.
fn write_leg(p: &Place) {
    let mut b = Buffer::default();
    let positions = [0., 0., 0., 1., 0., 0., 1., 2., 0., 0., 1., 0.5];
    let positions = b.floats("VEC3", 3, &positions);
    let weights = [
        1., 0., 0., 0., 0.25, 0.75, 0., 0., 0.5, 0.5, 0., 0., 1., 0., 0., 0.,
    ];
    let weights = b.floats("VEC4", 4, &weights);
    let joints = vec![0, 0, 0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 2, 0, 0, 0];
    let joints = b.add(
        joints,
        json!({ "componentType": 5121, "type": "VEC4", "count": 4 }),
    );
    let corners = vec![0, 1, 2, 1, 2, 3];
    let corners = b.add(
        corners,
        json!({ "componentType": 5121, "type": "SCALAR", "count": 6 }),
    );
    let mask = b.floats("SCALAR", 1, &[0., 0.25, -2., 1.]);
    let morph = b.floats(
        "VEC3",
        3,
        &[0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.3, 0.4],
    );
    #[rustfmt::skip]
    let inverse_binds = b.floats("MAT4", 16, &[
        0., -1., 0., 0., 1., 0., 0., 0., 0., 0., 1., 0., -1., 0., 0., 1.,
        0., -1., 0., 0., 1., 0., 0., 0., 0., 0., 1., 0., -1.5, 0., 0., 1.,
        0., -0.5, 0., 0., 0.5, 0., 0., 0., 0., 0., 0.5, 0., -0.875, -0.125, 0., 1.,
    ]);
    let times = b.floats("SCALAR", 1, &[0.5, 1.5]);
    let turn = b.floats("VEC4", 4, &[0., 0., 0., 1., 0., 0., 0.5, 0.75_f32.sqrt()]);
    let half = 0.5_f32.sqrt();
    let hold = b.floats("VEC4", 4, &[0., 0., half, half, 0., 0., half, half]);
    let weigh = b.floats("SCALAR", 1, &[0., 1.]);
    let part = |material: Value| {
        json!({ "attributes": { "POSITION": positions, "WEIGHTS_0": weights, "JOINTS_0": joints, "_MASK": mask },
            "indices": corners, "targets": [{ "POSITION": morph }], "material": material })
    };
    let sampler = |output: usize| json!({ "input": times, "output": output });
    let channel = |sampler: usize, node: usize, path: &str| json!({ "sampler": sampler, "target": { "node": node, "path": path } });
    let file = json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0, 4] }],
        "nodes": [
            { "name": "hips", "translation": [0, 1, 0], "rotation": [0, 0, half, half], "children": [1] },
            { "name": "knee", "translation": [0.5, 0, 0], "children": [2] },
            { "name": "helper", "translation": [0.25, 0, 0], "children": [3] },
            { "name": "toe", "translation": [0, 0.25, 0], "scale": [2, 2, 2] },
            { "name": "leg", "mesh": 0, "skin": 0 },
        ],
        "skins": [{ "joints": [0, 1, 3], "inverseBindMatrices": inverse_binds }],
        "meshes": [{ "name": "data", "primitives": [part(json!(0)), part(json!(1))],
            "weights": [0.125], "extras": { "targetNames": ["swollen"] } }],
        "materials": [
            { "name": "skin", "alphaMode": "MASK", "alphaCutoff": 0.25, "doubleSided": true,
              "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } }, "normalTexture": { "index": 0 } },
            { "name": "nail" },
        ],
        "textures": [{ "source": 0 }], "images": [{ "name": "pores", "uri": PNG }],
        "animations": [
            { "name": "kick", "samplers": [sampler(turn), sampler(weigh)],
              "channels": [channel(0, 1, "rotation"), channel(1, 4, "weights")] },
            { "name": "hold", "samplers": [sampler(hold)], "channels": [channel(0, 0, "rotation")] },
        ],
        "buffers": [{ "uri": "leg.bin", "byteLength": b.bytes.len() }],
        "bufferViews": b.views, "accessors": b.accessors,
    });
    p.put("leg.gltf", &file.to_string());
    std::fs::write(p.path("leg.bin"), &b.bytes).expect("written");
}

fn report(p: &Place, arguments: &[&str]) -> Value {
    let out = p.sinew(arguments);
    assert!(out.status.success(), "{}", said(&out));
    serde_json::from_str(&printed(&out)).expect("JSON")
}

/// Equal, numbers within rounding to single precision.
fn assert_close(found: &Value, expected: &Value, at: &str) {
    match (found, expected) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().expect("finite"), b.as_f64().expect("finite"));
            assert!((a - b).abs() < 1e-5, "{at}: {a}, expected {b}");
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                assert_close(a, b, &format!("{at}[{i}]"));
            }
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            for (key, b) in b {
                assert_close(&a[key], b, &format!("{at}.{key}"));
            }
        }
        _ => assert_eq!(found, expected, "{at}"),
    }
}

#[test]
fn inspect_tells_joints_clips_materials_and_parts() {
    let p = Place::new();
    write_leg(&p);
    let found = report(&p, &["inspect", "leg.gltf", "--json"]);
    // Both primitives have the same four vertices, which count once.
    let joint = |name: &str, parent: Value, position: [f64; 3], distance: Value, weight: f64| json!({ "name": name, "parent": parent, "position": position, "distance_to_parent": distance, "weight": weight, "vertices": 2 });
    let expected = json!([
        joint("hips", Value::Null, [0.0, 1.0, 0.0], Value::Null, 1.25),
        joint("knee", json!(0), [0.0, 1.5, 0.0], json!(0.5), 1.25),
        joint(
            "toe",
            json!(1),
            [-0.25, 1.75, 0.0],
            json!(0.125_f64.sqrt()),
            1.5
        ),
    ]);
    assert_close(&found["joints"], &expected, "joints");
    let clip = |name: &str, rotation: usize, morphs: usize| {
        json!({ "name": name, "start_secs": 0.5, "end_secs": 1.5, "joints": 1, "other_nodes": 0,
            "translation": 0, "rotation": rotation, "scale": 0, "morph_weights": morphs })
    };
    assert_close(
        &found["clips"],
        &json!([clip("kick", 1, 1), clip("hold", 1, 0)]),
        "clips",
    );
    let materials = json!([
        { "name": "skin", "base_color": [1, 1, 1, 1], "alpha": "mask", "alpha_cutoff": 0.25, "double_sided": true,
          "textures": { "base_color": "pores", "normal": "pores" } },
        { "name": "nail", "base_color": [1, 1, 1, 1], "alpha": "opaque", "alpha_cutoff": null, "double_sided": false, "textures": {} },
    ]);
    assert_close(&found["materials"], &materials, "materials");
    let mesh = &found["meshes"][0];
    assert_eq!(mesh["name"], "leg");
    let targets =
        json!([{ "name": "swollen", "vertices": 1, "largest_movement": 0.5, "weight": 0.125 }]);
    assert_close(&mesh["morph_targets"], &targets, "targets");
    let attributes = json!([{ "name": "MASK", "type": "scalar", "min": [-2.0], "max": [1.0] }]);
    assert_close(&mesh["attributes"], &attributes, "attributes");
    let part = |name: &str| json!({ "name": "leg", "material": name, "vertices": 4, "triangles": 2, "flat_shaded": true });
    assert_close(
        &mesh["parts"],
        &json!([part("skin"), part("nail")]),
        "parts",
    );
    let text = printed(&p.sinew(&["inspect", "leg.gltf"]));
    for line in ["  hips", "    knee", "      toe"] {
        let is_there = |l: &&str| l.strip_prefix(line).is_some_and(|l| l.starts_with(' '));
        assert!(text.lines().any(|l| is_there(&l)), "{line} in {text}");
    }
}

#[test]
fn inspect_tells_one_joint() {
    let p = Place::new();
    write_leg(&p);
    let found = report(&p, &["inspect", "leg.gltf", "--joint", "toe", "--json"]);
    let half = 0.5_f64.sqrt();
    let expected = json!({
        "kind": "joint", "name": "toe", "same_name": null, "parent": "knee", "distance_to_parent": 0.125_f64.sqrt(), "children": [],
        "scene": { "translation": [-0.25, 1.75, 0], "rotation_degrees": [0, 0, 90], "rotation": [0, 0, half, half], "scale": [2, 2, 2] },
        "local": { "translation": [0, 0.25, 0], "rotation_degrees": [0, 0, 0], "rotation": [0, 0, 0, 1], "scale": [2, 2, 2] },
        "weight": 1.5, "vertices": 2, "bounds_min": [0, 1, 0], "bounds_max": [1, 2, 0.5],
        "bounds_center": [0.5, 1.5, 0.25], "bounds_size": [1, 1, 0.5],
        "meshes": [{ "name": "leg", "weight": 1.5, "vertices": 2 }],
        // `hold` has keys of the hips, but they are at rest.
        "clips": [{ "name": "kick", "rotation_degrees": 0, "rotation_axis": null, "rotation_secs": null, "translation": 0, "scale": 0, "parents_move": true }],
    });
    assert_close(&found, &expected, "toe");
    let text = printed(&p.sinew(&["inspect", "leg.gltf", "--joint", "knee"]));
    let row = "kick           60.0000     0.0000   0.0000   1.0000         1.5000";
    assert!(text.contains(row), "{text}");
    let knee = report(&p, &["inspect", "leg.gltf", "--joint", "knee", "--json"]);
    // The last key: a quaternion of 60 degrees about z, from no rotation at rest.
    let clips = json!([{ "name": "kick", "rotation_degrees": 60, "rotation_axis": [0, 0, 1], "rotation_secs": 1.5,
        "translation": 0, "scale": 0, "parents_move": false }]);
    assert_close(&knee["clips"], &clips, "clips");
    let children =
        json!([{ "name": "toe", "position": [-0.25, 1.75, 0], "distance": 0.125_f64.sqrt() }]);
    assert_close(&knee["children"], &children, "children");
}

#[test]
fn inspect_of_an_unknown_joint_suggests_names() {
    let p = Place::new();
    write_leg(&p);
    for (file, joint, expected) in [
        ("leg.gltf", "knees", "did you mean 'knee'?"),
        ("square.obj", "knee", "there are no joints"),
        ("shift.json", "knee", "shift.json has no joints"),
    ] {
        let out = p.sinew(&["inspect", file, "--joint", joint]);
        assert_eq!(out.status.code(), Some(2), "{}", said(&out));
        assert!(said(&out).contains(expected), "{}", said(&out));
    }
}

/// Two hundred fingers at one hand: a readable part, and how many are left out.
#[test]
fn inspect_cuts_long_trees() {
    let p = Place::new();
    let fingers =
        (1..=200).map(|i| json!({ "name": format!("finger_{i}"), "children": [200 + i] }));
    let tips = (1..=200).map(|i| json!({ "name": format!("tip_{i}") }));
    let hand = json!({ "name": "hand", "children": (1..=200).collect::<Vec<_>>() });
    let nodes: Vec<Value> = std::iter::once(hand).chain(fingers).chain(tips).collect();
    let file = json!({ "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": nodes,
        "skins": [{ "joints": (0..401).collect::<Vec<_>>() }] });
    p.put("hand.gltf", &file.to_string());
    let text = printed(&p.sinew(&["inspect", "hand.gltf"]));
    assert!(
        text.contains("joints: 401\n") && text.contains("+400"),
        "{text}"
    );
    assert!(
        text.contains("... 400 more") && text.lines().count() < 100,
        "{text}"
    );
    let all = report(&p, &["inspect", "hand.gltf", "--json"]);
    assert_eq!(all["joints"].as_array().map(Vec::len), Some(401));
}
