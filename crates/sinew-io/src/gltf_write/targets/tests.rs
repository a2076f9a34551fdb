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

/// A target may only have what its primitive has; without normals the primitive is flat.
#[test]
fn targets_of_flat_primitives_have_no_normals() {
    let folder = folder();
    let (root, bytes) = document();
    let path = write(&folder, &root, &bytes);
    let out = folder.path().join("out.glb");
    let file = read_gltf(&path).expect("valid");
    let mut fist = target("fist", &[(2, [0.0, -0.5, 4.0])]).target;
    fist.normals = vec![[0.0, 1.0, 0.0]];
    let change = TargetChange {
        mesh: 0,
        base: &file.asset.meshes[0],
        removed: vec![0],
        added: vec![fist],
        weights: vec![vec![1.0]],
    };
    let graphs = GraphTexts::default();
    replace_morph_targets(&path, &file.document, &[change], graphs, &out).expect("written");
    validate(&out);
    let json = read_gltf(&out).expect("valid").document.json;
    let target = json["meshes"][0]["primitives"][1]["targets"][0].as_object();
    let names: Vec<&String> = target.expect("a target").keys().collect();
    assert_eq!(names, ["POSITION"]);
}

/// VRM 0.x keeps names with primitives; weights may be animated by a pointer. Both are what they were, with the new target behind.
#[test]
fn names_of_primitives_and_pointers_to_weights_go_along() {
    let folder = folder();
    let (mut root, bytes) = document();
    root["meshes"][0]["primitives"][0]["extras"] = json!({ "targetNames": ["joy"] });
    let pointer = json!({ "KHR_animation_pointer": { "pointer": "/nodes/0/weights" } });
    root["animations"][0]["channels"][0]["target"] =
        json!({ "path": "pointer", "extensions": pointer });
    root["extensionsUsed"] = json!(["KHR_animation_pointer"]);
    let path = write(&folder, &root, &bytes);
    let out = folder.path().join("out.glb");
    let source = read_gltf(&path).expect("valid").document;
    let new = [target("fist", &[(2, [0.0, -0.5, 4.0])])];
    add_morph_targets(&path, &source, &new, &out).expect("written");
    let asset = read_gltf(&out).expect("valid").asset;
    let targets = &asset.meshes[0].morph_targets;
    assert_eq!([&targets[0].name, &targets[1].name], ["joy", "fist"]);
    let mut pose = asset.rig.rest_pose();
    asset.rig.evaluate(asset.find_clip(None), 1.0, &mut pose);
    assert_eq!(pose.morph_weights, [0.75, 0.0]);
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

/// The document with three targets of full weight; sparse ones, and one of them in the middle that shares its deltas with a target that stays.
fn with_targets(folder: &TempDir) -> PathBuf {
    let (root, bytes) = document();
    let path = write(folder, &root, &bytes);
    let source = read_gltf(&path).expect("valid").document;
    let new = [
        target("a", &[(0, [1.0, 0.0, 0.0]), (1, [0.5, 0.0, 0.0])]),
        target("b", &[(2, [0.0, -0.5, 4.0])]),
        target("c", &[(0, [2.0, 0.0, 0.0])]),
    ];
    let grown = folder.path().join("grown.glb");
    add_morph_targets(&path, &source, &new, &grown).expect("written");
    grown
}

fn change(mesh: &sinew_geom::Mesh) -> TargetChange<'_> {
    let added = |name: &str, x: f32| {
        let mut t = target(name, &[(0, [x, 0.0, 0.0]), (1, [0.0, x, 0.0])]).target;
        t.name = name.into();
        t
    };
    TargetChange {
        mesh: 0,
        base: mesh,
        removed: vec![0, 1, 3],
        added: vec![added("x", 1.0), added("y", 2.0)],
        weights: vec![vec![0.5, 1.0, 2.0], vec![-1.0, 0.25, 0.0]],
    }
}

#[test]
fn targets_are_replaced_and_weights_follow() {
    let folder = folder();
    let path = with_targets(&folder);
    let file = read_gltf(&path).expect("valid");
    let out = folder.path().join("out.glb");
    let change = change(&file.asset.meshes[0]);
    let graph = GraphTexts {
        embedded: Some(r#"{"sinew": "1.0"}"#),
        beside: None,
    };
    replace_morph_targets(
        &path,
        &file.document,
        std::slice::from_ref(&change),
        graph,
        &out,
    )
    .expect("written");
    validate(&out);
    let after = read_gltf(&out).expect("valid");
    let found = &after.asset.meshes[0].morph_targets;
    assert_eq!(found[0], file.asset.meshes[0].morph_targets[2], "b stays");
    assert_eq!(found[1..], change.added);
    // The clip drives the first target, by 0.75 at its end.
    let mut pose = after.asset.rig.rest_pose();
    let clip = after.asset.find_clip(None);
    after.asset.rig.evaluate(clip, 1.0, &mut pose);
    assert_eq!(pose.morph_weights, [0.0, 0.375, -0.75]);
    after.asset.rig.evaluate(clip, 0.5, &mut pose);
    assert_eq!(pose.morph_weights, [0.0, 0.25, -0.5]);
    let (old, new) = (&file.document.json, &after.document.json);
    for kept in ["asset", "scene", "scenes", "nodes", "materials", "extras"] {
        assert_eq!(new[kept], old[kept], "{kept}");
    }
    assert_eq!(new["accessors"][0], old["accessors"][0]);
    assert_eq!(new["extensions"]["SINEW_graph"]["graph"]["sinew"], "1.0");
    assert!(!new.to_string().contains("null"), "{new}");
    // No byte is nobody's: views cover the chunk, but for what fills up to four.
    let views = new["bufferViews"].as_array().expect("views");
    let bytes: u64 = views
        .iter()
        .filter_map(|v| v["byteLength"].as_u64())
        .map(|n| n.next_multiple_of(4))
        .sum();
    assert_eq!(new["buffers"][0]["byteLength"].as_u64(), Some(bytes));
}

/// Targets 0, 1 and 3 of four become two: see `change`.
#[test]
fn expressions_of_vrm_follow_their_targets() {
    let folder = folder();
    let path = with_targets(&folder);
    let bytes = std::fs::read(&path).expect("bytes");
    let glb = read_glb_chunks(&bytes, &path).expect("a GLB file");
    let mut root: Value = serde_json::from_slice(glb.json).expect("JSON");
    let bind = |index: usize, weight: f64| json!({ "node": 0, "index": index, "weight": weight });
    let happy = |binds: Value| json!({ "VRMC_vrm": { "expressions": { "preset": { "happy": { "morphTargetBinds": binds } } } } });
    root["extensionsUsed"] = json!(["VRMC_vrm"]);
    root["extensions"] = happy(json!([bind(2, 1.0), bind(0, 0.5)]));
    let (binary, _) = glb.split_binary().expect("a chunk");
    let path = write(&folder, &root, binary);
    let file = read_gltf(&path).expect("valid");
    let out = folder.path().join("avatar.glb");
    let changes = [change(&file.asset.meshes[0])];
    let warnings =
        replace_morph_targets(&path, &file.document, &changes, GraphTexts::default(), &out)
            .expect("written");
    let codes: Vec<&str> = warnings.iter().map(|w| w.code).collect();
    assert_eq!(codes, ["vrm_weight_beyond"]);
    let after = read_gltf(&out).expect("valid");
    let expected = happy(json!([bind(0, 1.0), bind(1, 0.25), bind(2, -0.5)]));
    assert_eq!(after.document.json["extensions"], expected);
}

#[test]
fn nothing_to_replace_is_a_copy() {
    let folder = folder();
    let path = with_targets(&folder);
    let file = read_gltf(&path).expect("valid");
    let out = folder.path().join("out.glb");
    replace_morph_targets(&path, &file.document, &[], GraphTexts::default(), &out)
        .expect("written");
    let after = read_gltf(&out).expect("valid");
    assert_eq!(after.document.json, file.document.json);
    assert_eq!(
        after.asset.meshes[0].morph_targets,
        file.asset.meshes[0].morph_targets
    );
}

#[test]
fn what_cannot_be_replaced_is_told() {
    let folder = folder();
    let path = with_targets(&folder);
    let bytes = std::fs::read(&path).expect("bytes");
    let glb = read_glb_chunks(&bytes, &path).expect("a GLB file");
    let root: Value = serde_json::from_slice(glb.json).expect("JSON");
    let binary = glb.split_binary().expect("a chunk").0;
    let refused = |root: &Value| {
        let path = write(&folder, root, binary);
        let file = read_gltf(&path).expect("valid");
        let out = folder.path().join("out.glb");
        let change = change(&file.asset.meshes[0]);
        let error = replace_morph_targets(
            &path,
            &file.document,
            &[change],
            GraphTexts::default(),
            &out,
        );
        assert!(!out.exists(), "nothing half done");
        error.expect_err("refused").to_string()
    };
    let mut strided = root.clone();
    let output = strided["animations"][0]["samplers"][0]["output"]
        .as_u64()
        .expect("an index");
    let view = strided["accessors"][output as usize]["bufferView"]
        .as_u64()
        .expect("an index");
    strided["bufferViews"][view as usize]["byteStride"] = 4.into();
    let error = refused(&strided);
    assert!(
        error.contains("animations[0].samplers[0].output") && error.contains("clip 'smile'"),
        "{error}"
    );
    let mut coloured = root.clone();
    let delta = coloured["meshes"][0]["primitives"][1]["targets"][0]["POSITION"].clone();
    coloured["meshes"][0]["primitives"][1]["targets"][0]["COLOR_0"] = delta;
    let error = refused(&coloured);
    assert!(error.contains("a morph target with COLOR_0"), "{error}");
    let mut numbered = root.clone();
    numbered["extensionsUsed"] = json!(["KHR_animation_pointer"]);
    let error = refused(&numbered);
    assert!(
        error.contains("KHR_animation_pointer, which refers to them by index"),
        "{error}"
    );
}

/// A binary chunk need not be a whole number of words, to us: the last view of this one ends in the middle of a word, and goes.
#[test]
fn chunks_of_any_length_are_changed() {
    let folder = folder();
    let (mut root, mut bytes) = document();
    bytes.extend([0, 0]);
    // Its last delta is that of nobody but the target: two bytes an index, of which there is one.
    root["buffers"][0]["byteLength"] = 66.into();
    bytes.truncate(52);
    bytes.extend(floats(&[0.0, 0.0, 0.5]));
    bytes.extend([1, 0]);
    let views = root["bufferViews"].as_array_mut().expect("views");
    views.push(json!({ "buffer": 0, "byteOffset": 52, "byteLength": 12 }));
    views.push(json!({ "buffer": 0, "byteOffset": 64, "byteLength": 2 }));
    root["accessors"][3]["sparse"] = json!({ "count": 1,
        "indices": { "bufferView": 4, "componentType": 5123 }, "values": { "bufferView": 3 } });
    root["accessors"][3]["max"] = json!([0.0, 0.0, 0.5]);
    let path = write_unpadded(&folder, &root, &bytes);
    let file = read_gltf(&path).expect("readers take it");
    let out = folder.path().join("out.glb");
    let change = TargetChange {
        mesh: 0,
        base: &file.asset.meshes[0],
        removed: vec![0],
        added: vec![target("x", &[(2, [0.0, 3.0, 0.0])]).target],
        weights: vec![vec![1.0]],
    };
    let graphs = GraphTexts::default();
    replace_morph_targets(&path, &file.document, &[change], graphs, &out).expect("written");
    validate(&out);
    let after = read_gltf(&out).expect("valid").asset;
    let found = &after.meshes[0].morph_targets;
    assert_eq!((found.len(), found[0].positions[0]), (1, [0.0, 3.0, 0.0]));
    let grown = folder.path().join("grown.glb");
    let new = [target("y", &[(0, [1.0, 0.0, 0.0])])];
    add_morph_targets(&path, &file.document, &new, &grown).expect("written");
    let after = read_gltf(&grown).expect("valid").asset;
    let found = &after.meshes[0].morph_targets;
    assert_eq!((found.len(), found[0].positions[0]), (2, [0.0, 0.0, 1.0]));
    assert_eq!(found[1].positions, [[1.0, 0.0, 0.0]]);
}

/// A GLB file whose last chunk is as long as its bytes.
fn write_unpadded(folder: &TempDir, root: &Value, binary: &[u8]) -> PathBuf {
    let mut json = serde_json::to_vec(root).expect("JSON");
    json.resize(json.len().next_multiple_of(4), b' ');
    let total = 12 + 8 + json.len() + 8 + binary.len();
    let mut out = b"glTF".to_vec();
    let mut word = |n: usize| out.extend((n as u32).to_le_bytes());
    word(2);
    word(total);
    word(json.len());
    out.extend(b"JSON");
    out.extend(&json);
    out.extend((binary.len() as u32).to_le_bytes());
    out.extend(b"BIN\0");
    out.extend(binary);
    let path = folder.path().join("unpadded.glb");
    std::fs::write(&path, out).expect("written");
    path
}

/// Two triangles over four stored vertices, two primitives; `split` gives the second one texture coordinates, so that each becomes vertices of its own.
fn two_primitives(split: bool) -> (Value, Vec<u8>) {
    let mut bytes = floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0]);
    bytes.extend([0, 1, 2, 2, 1, 3, 0, 0]);
    bytes.extend([0; 32]);
    let indices = |offset: usize| json!({ "bufferView": 1, "byteOffset": offset, "componentType": 5121, "count": 3, "type": "SCALAR" });
    let primitive = |indices: usize| json!({ "attributes": { "POSITION": 0 }, "indices": indices });
    let mut second = primitive(2);
    if split {
        second["attributes"]["TEXCOORD_0"] = 3.into();
    }
    let root = json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }], "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [primitive(1), second] }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0.0, 0.0, 0.0], "max": [1.0, 1.0, 0.0] },
            indices(0), indices(3), { "bufferView": 2, "componentType": 5126, "count": 4, "type": "VEC2" }],
        "bufferViews": [{ "buffer": 0, "byteLength": 48 }, { "buffer": 0, "byteOffset": 48, "byteLength": 6 },
            { "buffer": 0, "byteOffset": 56, "byteLength": 32 }],
        "buffers": [{ "byteLength": 88 }],
    });
    (root, bytes)
}

#[test]
fn primitives_over_one_buffer_get_targets_at_their_vertices() {
    for split in [false, true] {
        let folder = folder();
        let (root, bytes) = two_primitives(split);
        let path = write(&folder, &root, &bytes);
        let out = folder.path().join("out.glb");
        let before = read_gltf(&path).expect("valid");
        // The second triangle's vertices are 1, 2, 3 of the buffer; of their own they are 3, 4, 5.
        let last = if split { 5 } else { 3 };
        assert_eq!(before.asset.meshes[0].vertex_count(), last as usize + 1);
        let new = [target("tip", &[(last, [0.0, 0.0, 4.0])])];
        add_morph_targets(&path, &before.document, &new, &out).expect("written");
        validate(&out);
        let file = read_gltf(&out).expect("valid");
        assert_eq!(file.asset.meshes[0].morph_targets[0], new[0].target);
        let primitives = &file.document.json["meshes"][0]["primitives"];
        let shared = primitives[0]["targets"] == primitives[1]["targets"];
        assert_eq!(shared, !split);
        // Replaced by one of the first triangle, which the file keeps at row 1.
        let base = &file.asset.meshes[0];
        let change = TargetChange {
            mesh: 0,
            base,
            removed: vec![0],
            added: vec![target("root", &[(1, [0.5, 0.0, 0.0])]).target],
            weights: vec![vec![0.0]],
        };
        let again = folder.path().join("again.glb");
        let changes = [change];
        replace_morph_targets(
            &out,
            &file.document,
            &changes,
            GraphTexts::default(),
            &again,
        )
        .expect("written");
        let replaced = read_gltf(&again).expect("valid").asset;
        assert_eq!(replaced.meshes[0].morph_targets, changes[0].added);
    }
}
