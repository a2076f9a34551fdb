use super::*;
use crate::gltf_write::tests::validate;
use crate::read_gltf;
use std::path::PathBuf;
use tempfile::TempDir;

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// A triangle on a node of scale 2, with a point beside it, a target that moves nothing, and a clip that drives it.
fn document() -> (Value, Vec<u8>) {
    let mut bytes = floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    bytes.extend(floats(&[0.0, 1.0]));
    bytes.extend(floats(&[0.25, 0.75]));
    let accessor = |view: usize, count: usize, ty: &str| json!({ "bufferView": view, "componentType": 5126, "count": count, "type": ty });
    let mut positions = accessor(0, 3, "VEC3");
    (positions["min"], positions["max"]) = (json!([0.0, 0.0, 0.0]), json!([1.0, 1.0, 0.0]));
    let mut times = accessor(1, 2, "SCALAR");
    (times["min"], times["max"]) = (json!([0.0]), json!([1.0]));
    let zeros = json!({ "componentType": 5126, "count": 3, "type": "VEC3", "min": [0.0, 0.0, 0.0], "max": [0.0, 0.0, 0.0] });
    let primitive = |mode: usize| json!({ "mode": mode, "attributes": { "POSITION": 0 }, "targets": [{ "POSITION": 3 }], "material": 0 });
    let root = json!({
        "asset": { "version": "2.0", "generator": "by hand" },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0, "scale": [2.0, 2.0, 2.0] }],
        "meshes": [{ "primitives": [primitive(0), primitive(4)] }],
        "materials": [{ "name": "skin" }],
        "animations": [{ "name": "smile", "samplers": [{ "input": 1, "output": 2 }],
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }] }],
        "accessors": [positions, times, accessor(2, 2, "SCALAR"), zeros],
        "bufferViews": [{ "buffer": 0, "byteLength": 36 }, { "buffer": 0, "byteOffset": 36, "byteLength": 8 },
            { "buffer": 0, "byteOffset": 44, "byteLength": 8 }],
        "buffers": [{ "byteLength": 52 }],
        "extras": { "kept": 1.1 },
    });
    (root, bytes)
}

fn write(folder: &TempDir, root: &Value, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join("in.glb");
    let mut file = AtomicFile::create(&path).expect("a file");
    let text = serde_json::to_vec(root).expect("JSON");
    put_grown(&mut file, &text, [bytes, &[], &[]]).expect("written");
    file.commit().expect("written");
    path
}

fn target(name: &str, deltas: &[(u32, [f32; 3])]) -> NewTarget {
    let (vertices, positions) = deltas.iter().copied().unzip();
    let name = name.into();
    NewTarget {
        mesh: 0,
        target: MorphTarget {
            name,
            vertices,
            positions,
            ..MorphTarget::default()
        },
    }
}

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

#[test]
fn targets_are_added_and_all_else_stays() {
    let folder = folder();
    let (root, bytes) = document();
    let path = write(&folder, &root, &bytes);
    let out = folder.path().join("out.glb");
    let source = read_gltf(&path).expect("valid").document;
    let all = [
        (0, [1.0, 0.0, 0.0]),
        (1, [0.0, 2.0, 0.0]),
        (2, [0.0, 0.0, 3.0]),
    ];
    let new = [
        target("fist", &[(2, [0.0, -0.5, 4.0])]),
        target("wave", &all),
        target("none", &[]),
    ];
    add_morph_targets(&path, &source, &new, &out).expect("written");
    validate(&out);
    let file = read_gltf(&out).expect("valid");
    let found = &file.asset.meshes[0].morph_targets;
    let names: Vec<&str> = found.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["target_0", "fist", "wave", "none"]);
    // Deltas are in the space of the scene on both sides, in the file half as long.
    for (found, new) in found[1..].iter().zip(&new) {
        assert_eq!(found, &new.target);
    }
    let sparse = &file.document.json["accessors"][7];
    assert_eq!(sparse["sparse"]["count"], 1);
    assert_eq!(
        (&sparse["min"], &sparse["max"]),
        (&json!([0.0, -0.25, 0.0]), &json!([0.0, 0.0, 2.0]))
    );
    assert_eq!(file.asset.rig.nodes()[0].morph_weights, [0.0; 4]);
    let mut pose = file.asset.rig.rest_pose();
    file.asset
        .rig
        .evaluate(file.asset.find_clip(None), 1.0, &mut pose);
    assert_eq!(pose.morph_weights, [0.75, 0.0, 0.0, 0.0]);
    let now = &file.document.json;
    for kept in ["asset", "scene", "scenes", "nodes", "materials", "extras"] {
        assert_eq!(now[kept], root[kept], "{kept}");
    }
    for list in ["accessors", "bufferViews"] {
        let count = root[list].as_array().expect("a list").len();
        assert_eq!(
            now[list].as_array().expect("a list")[..count],
            root[list].as_array().expect("a list")[..]
        );
    }
    let binary = file.document.buffers[0].as_ref().expect("bytes").bytes();
    assert_eq!(binary[..bytes.len()], bytes[..]);
}

#[test]
fn what_cannot_take_a_target_is_told() {
    let folder = folder();
    let refused = |root: &Value, bytes: &[u8], new: NewTarget| {
        let path = write(&folder, root, bytes);
        let source = read_gltf(&path).expect("valid").document;
        let out = folder.path().join("out.glb");
        let error = add_morph_targets(&path, &source, &[new], &out).expect_err("refused");
        assert!(!out.exists(), "nothing half done");
        error.to_string()
    };
    let (root, bytes) = document();
    let up = [0.0, 1.0, 0.0];
    let error = refused(&root, &bytes, target("far", &[(3, up)]));
    assert!(error.contains("vertices below 3"), "{error}");
    let mut shared = root.clone();
    shared["nodes"] = json!([{ "mesh": 0 }, { "mesh": 0 }]);
    shared["scenes"] = json!([{ "nodes": [0, 1] }]);
    let error = refused(&shared, &bytes, target("shared", &[(0, up)]));
    assert!(error.contains("2 nodes share"), "{error}");
    let mut strided = root;
    strided["bufferViews"][2]["byteStride"] = 4.into();
    let error = refused(&strided, &bytes, target("strided", &[(0, up)]));
    assert!(
        error.contains("animations[0].samplers[0].output"),
        "{error}"
    );
}
