use super::*;
use crate::gltf_write::packed_glb;
use crate::gltf_write::tests::validate;
use crate::{GltfFile, read_gltf_bytes};
use sinew_geom::{Influences, Mat3, Pose, Quat, Vec3};
use std::path::Path;

fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Two triangles of one mesh on two nodes, the first of scale 2, with a target that a clip drives, and a graph. The buffer is a data URI.
fn document() -> Value {
    let mut bytes = floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    bytes.extend(floats(&[0.0, 1.0]));
    bytes.extend(floats(&[0.25, 0.75]));
    let accessor = |view: usize, count: usize, ty: &str| json!({ "bufferView": view, "componentType": 5126, "count": count, "type": ty });
    let mut positions = accessor(0, 3, "VEC3");
    (positions["min"], positions["max"]) = (json!([0.0, 0.0, 0.0]), json!([1.0, 1.0, 0.0]));
    let mut times = accessor(1, 2, "SCALAR");
    (times["min"], times["max"]) = (json!([0.0]), json!([1.0]));
    let zeros = json!({ "componentType": 5126, "count": 3, "type": "VEC3", "min": [0.0, 0.0, 0.0], "max": [0.0, 0.0, 0.0] });
    let uri = {
        use base64::Engine;
        let text = base64::engine::general_purpose::STANDARD.encode(&bytes);
        format!("data:application/octet-stream;base64,{text}")
    };
    json!({
        "asset": { "version": "2.0", "generator": "by hand" },
        "scene": 0,
        "scenes": [{ "nodes": [0, 1] }],
        "nodes": [{ "name": "big", "mesh": 0, "scale": [2.0, 2.0, 2.0] }, { "name": "small", "mesh": 0, "translation": [5.0, 0.0, 0.0] }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 }, "targets": [{ "POSITION": 3 }], "material": 0 }] }],
        "materials": [{ "name": "skin" }],
        "animations": [{ "name": "smile", "samplers": [{ "input": 1, "output": 2 }],
            "channels": [{ "sampler": 0, "target": { "node": 0, "path": "weights" } }] }],
        "accessors": [positions, times, accessor(2, 2, "SCALAR"), zeros],
        "bufferViews": [{ "buffer": 0, "byteLength": 36 }, { "buffer": 0, "byteOffset": 36, "byteLength": 8 },
            { "buffer": 0, "byteOffset": 44, "byteLength": 8 }],
        "buffers": [{ "byteLength": 52, "uri": uri }],
        "extensionsUsed": ["SINEW_graph"],
        "extensions": { "SINEW_graph": { "version": "1.0", "graph": {} } },
        "extras": { "kept": 1.1 },
    })
}

/// The document as one GLB file, and what reading that gives.
fn packed() -> (Vec<u8>, GltfFile) {
    let text = serde_json::to_vec(&document()).expect("JSON");
    let read = read_gltf_bytes(text, None, "in.gltf").expect("a file");
    let (glb, warnings) = packed_glb(&read.document).expect("packs");
    assert!(warnings.is_empty(), "{warnings:?}");
    let file = read_gltf_bytes(glb.clone(), None, "in.glb").expect("a file");
    (glb, file)
}

fn rows(all: &[&[(u32, f32)]]) -> Influences {
    Influences::from_rows(all.iter().copied(), 64, 0)
        .expect("weights")
        .0
}

fn shift(x: f64, y: f64) -> Affine<f64> {
    Affine {
        linear: Mat3::identity(),
        translation: Vec3::new(x, y, 0.0),
    }
}

/// Below the node of scale 2; from its place at (2, 0, 0) of the scene it goes up by one in the clip.
fn helper() -> (HelperJoint, ClipKeys) {
    let at = |y: f64| Trs {
        translation: Vec3::new(1.0, 0.5 * y, 0.0),
        rotation: Quat::identity(),
        scale: Vec3::repeat(0.5),
    };
    let joint = HelperJoint {
        name: "big".into(),
        parent: 0,
        rest: at(0.0),
        joint_from_bind: shift(-2.0, 0.0),
    };
    let keys = ClipKeys {
        clip: 0,
        times_secs: vec![0.0, 0.5, 2.0],
        helpers: vec![vec![at(0.0), at(1.0), at(1.0)]],
        weights: vec![vec![vec![0.0], vec![1.0], vec![-0.5]]],
    };
    (joint, keys)
}

fn edit() -> SkinEdit {
    let (joint, keys) = helper();
    let joints = 2;
    SkinEdit {
        meshes: vec![MeshSkin {
            mesh: 0,
            influences: rows(&[&[(0, 1.0)], &[(0, 0.25), (joints, 0.75)], &[(joints, 1.0)]]),
            targets: vec![MorphTarget {
                name: "corrective".into(),
                vertices: vec![2],
                positions: vec![[0.0, 0.0, 4.0]],
                ..MorphTarget::default()
            }],
            colors: None,
        }],
        helpers: vec![joint],
        clips: vec![keys],
    }
}

fn edited(change: &SkinEdit) -> GltfFile {
    let (glb, file) = packed();
    let bytes = edit_skins(&glb, &file.asset, &file.document, change).expect("edits");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.glb");
    std::fs::write(&path, &bytes).expect("written");
    validate(&path);
    read_gltf_bytes(bytes, None, "out.glb").expect("a file")
}

/// Places of a mesh in the clip: targets, then joints.
fn shown(file: &GltfFile, mesh: usize, time: f64) -> Vec<[f64; 3]> {
    let mut pose: Pose = file.asset.rig.rest_pose();
    let clip = file.asset.clips.first().filter(|_| time >= 0.0);
    file.asset.rig.evaluate(clip, time, &mut pose);
    let mesh = &file.asset.meshes[mesh];
    let mut rest: Vec<Vec3<f64>> = mesh
        .positions
        .iter()
        .map(|p| Vec3::from(p.map(f64::from)))
        .collect();
    for (t, target) in mesh.morph_targets.iter().enumerate() {
        let w = pose.morph_weights[mesh.morph_weight_index(t)];
        for (&v, d) in target.vertices.iter().zip(&target.positions) {
            rest[v as usize] += Vec3::from(d.map(f64::from)) * f64::from(w);
        }
    }
    let rows = mesh.influences.as_ref().expect("weights");
    let place = |(v, p): (usize, &Vec3<f64>)| {
        let parts = rows
            .row(v)
            .map(|(j, w)| pose.palette[j as usize].unpack::<f64>().point(*p) * f64::from(w));
        parts.sum::<Vec3<f64>>().into()
    };
    rest.iter().enumerate().map(place).collect()
}

fn near(found: &[[f64; 3]], expected: &[[f64; 3]]) {
    let off = found
        .iter()
        .flatten()
        .zip(expected.iter().flatten())
        .map(|(a, b)| (a - b).abs());
    assert!(off.fold(0.0, f64::max) < 1e-6, "{found:?} {expected:?}");
}

/// By hand: the triangle is (0,0,0), (2,0,0), (0,2,0) in the scene; the helper lifts the second by three quarters and the third by one at half a second.
#[test]
fn helpers_and_targets_play_as_by_hand() {
    let file = edited(&edit());
    near(
        &shown(&file, 0, -1.0),
        &[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]],
    );
    near(
        &shown(&file, 0, 0.5),
        &[[0.0, 0.0, 0.0], [2.0, 0.75, 0.0], [0.0, 3.0, 4.0]],
    );
    near(
        &shown(&file, 0, 2.0),
        &[[0.0, 0.0, 0.0], [2.0, 0.75, 0.0], [0.0, 3.0, -2.0]],
    );
    // Halfway from the second key to the third: the target goes from 1 to -0.5.
    near(&shown(&file, 0, 1.25)[2..], &[[0.0, 3.0, 1.0]]);
    // The other node's mesh, which was the same one, is as it was.
    near(
        &shown(&file, 1, 0.5),
        &[[5.0, 0.0, 0.0], [6.0, 0.0, 0.0], [5.0, 1.0, 0.0]],
    );
    assert_eq!(file.asset.meshes[1].morph_targets.len(), 1);
}

#[test]
fn all_else_stays_and_the_graph_goes() {
    let file = edited(&edit());
    let root = &file.document.json;
    assert_eq!(root["extras"]["kept"], 1.1);
    assert_eq!(root["materials"][0]["name"], "skin");
    assert!(
        file.asset.graph.is_none() && root.get("extensionsUsed").is_none(),
        "{root}"
    );
    // Names are unique, for programs that find bones by them.
    assert_eq!(root["nodes"][2]["name"], "big_2");
    // The old target keeps its curve: 0.25 at the start, 0.75 from one second on, linear between.
    let mut pose = file.asset.rig.rest_pose();
    for (time, weight) in [(0.0, 0.25), (0.5, 0.5), (1.0, 0.75), (2.0, 0.75)] {
        file.asset
            .rig
            .evaluate(file.asset.clips.first(), time, &mut pose);
        let found = pose.morph_weights[file.asset.meshes[0].morph_offset];
        assert!((found - weight).abs() < 1e-6, "{time}: {found}");
    }
}

#[test]
fn more_than_four_joints_take_a_second_set() {
    let (joint, _) = helper();
    let row: Vec<(u32, f32)> = (0..7)
        .map(|k| (if k == 0 { 0 } else { k + 1 }, 1.0 / 7.0))
        .collect();
    let change = SkinEdit {
        meshes: vec![MeshSkin {
            mesh: 0,
            influences: rows(&[&row, &row, &row]),
            targets: Vec::new(),
            colors: Some(vec![[1.0, 0.0, 0.0, 1.0]; 3]),
        }],
        helpers: vec![joint; 6],
        clips: Vec::new(),
    };
    let file = edited(&change);
    let rows = file.asset.meshes[0].influences.as_ref().expect("weights");
    assert_eq!(rows.max_per_vertex(), 7);
    let mesh = &file.document.json["nodes"][0]["mesh"];
    let primitive =
        &file.document.json["meshes"][mesh.as_u64().expect("a mesh") as usize]["primitives"][0];
    assert!(
        primitive["attributes"]["JOINTS_1"].is_u64()
            && primitive["attributes"]["WEIGHTS_1"].is_u64()
    );
    assert!(primitive.get("material").is_none() && primitive["attributes"]["COLOR_0"].is_u64());
    near(
        &shown(&file, 0, -1.0),
        &[[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]],
    );
}

#[test]
fn what_does_not_fit_is_named() {
    let (glb, file) = packed();
    let told = |change: &SkinEdit| {
        let error = edit_skins(&glb, &file.asset, &file.document, change);
        error.expect_err("wrong").to_string()
    };
    let mut few = edit();
    few.meshes[0].influences = rows(&[&[(0, 1.0)]]);
    assert!(
        told(&few).contains("1 weight rows for 3 vertices"),
        "{}",
        told(&few)
    );
    let mut none = edit();
    none.helpers.clear();
    none.clips.clear();
    assert!(told(&none).contains("helper 0"), "{}", told(&none));
    let mut lost = edit();
    lost.helpers[0].parent = 77;
    assert!(
        told(&lost).contains("node 77 of the rig"),
        "{}",
        told(&lost)
    );
    let mut later = edit();
    later.clips[0].clip = 9;
    assert!(told(&later).contains("clip 9"), "{}", told(&later));
    let mut short = edit();
    short.clips[0].helpers[0].pop();
    assert!(
        told(&short).contains("a number of keys of clip 0 that is not 3"),
        "{}",
        told(&short)
    );
    let mut back = edit();
    back.clips[0].times_secs[1] = 9.0;
    assert!(told(&back).contains("do not increase"), "{}", told(&back));
    let other = edit_skins(&glb[..40], &file.asset, &file.document, &edit());
    assert!(other.is_err(), "half a file");
    let path = Path::new("x.glb");
    assert!(
        crate::gltf_write::character_glb(path, &Asset::default(), None).is_err(),
        "nothing to write"
    );
}

/// One sampler drives the weights of both nodes, whose mesh is one: the node that gets no target keeps its numbers.
#[test]
fn a_sampler_of_two_nodes_is_widened_for_one() {
    let mut root = document();
    root["animations"][0]["channels"] = json!([
        { "sampler": 0, "target": { "node": 0, "path": "weights" } },
        { "sampler": 0, "target": { "node": 1, "path": "weights" } },
    ]);
    let text = serde_json::to_vec(&root).expect("JSON");
    let read = read_gltf_bytes(text, None, "in.gltf").expect("a file");
    let (glb, _) = packed_glb(&read.document).expect("packs");
    let file = read_gltf_bytes(glb.clone(), None, "in.glb").expect("a file");
    let target = || MorphTarget {
        name: "corrective".into(),
        vertices: vec![2],
        positions: vec![[0.0, 0.0, 4.0]],
        ..MorphTarget::default()
    };
    let skin = |mesh: usize, targets: Vec<MorphTarget>| MeshSkin {
        mesh,
        influences: rows(&[&[(mesh as u32, 1.0)][..]; 3]),
        targets,
        colors: None,
    };
    let wider = skin(0, vec![target()]);
    let twice = skin(1, vec![target(), target()]);
    for meshes in [vec![wider.clone()], vec![wider, twice]] {
        let change = SkinEdit {
            meshes,
            ..SkinEdit::default()
        };
        let bytes = edit_skins(&glb, &file.asset, &file.document, &change).expect("edits");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("out.glb");
        std::fs::write(&path, &bytes).expect("written");
        validate(&path);
        let out = read_gltf_bytes(bytes, None, "out.glb")
            .expect("a file")
            .asset;
        let mut pose = out.rig.rest_pose();
        for (time, weight) in [(0.0, 0.25), (0.5, 0.5), (1.0, 0.75)] {
            out.rig.evaluate(out.clips.first(), time, &mut pose);
            for mesh in &out.meshes {
                let weights = (0..mesh.morph_targets.len())
                    .map(|t| pose.morph_weights[mesh.morph_weight_index(t)]);
                let mut expected = vec![0.0; mesh.morph_targets.len()];
                expected[0] = weight;
                assert_eq!(
                    weights.collect::<Vec<f32>>(),
                    expected,
                    "{} at {time}",
                    mesh.name
                );
            }
        }
    }
}

/// Three stored vertices on two primitives: over the same accessors, or (`split`) with texture coordinates in one of them.
fn shared_vertices(split: bool) -> GltfFile {
    let mut root = document();
    let mut second = root["meshes"][0]["primitives"][0].clone();
    if split {
        second["attributes"]["TEXCOORD_0"] = 4.into();
        let uvs = json!({ "componentType": 5126, "count": 3, "type": "VEC2" });
        push(&mut root["accessors"], uvs);
    }
    push(&mut root["meshes"][0]["primitives"], second);
    root["nodes"] = json!([{ "name": "big", "mesh": 0, "scale": [2.0, 2.0, 2.0] }]);
    root["scenes"][0]["nodes"] = json!([0]);
    let text = serde_json::to_vec(&root).expect("JSON");
    read_gltf_bytes(text, None, "in.gltf").expect("a file")
}

#[test]
fn primitives_over_one_buffer_get_weights_at_their_vertices() {
    for (split, count) in [(false, 3), (true, 6)] {
        let read = shared_vertices(split);
        let (glb, _) = packed_glb(&read.document).expect("packs");
        let file = read_gltf_bytes(glb.clone(), None, "in.glb").expect("a file");
        assert_eq!(file.asset.meshes[0].vertex_count(), count);
        let joint = file.asset.meshes[0]
            .influences
            .as_ref()
            .expect("rigid")
            .joints()[0];
        let helper_joint = index32_of(file.asset.rig.joints().len());
        // Each vertex its own share of the helper.
        let all: Vec<Vec<(u32, f32)>> = (0..count)
            .map(|v| {
                vec![
                    (helper_joint, 0.125 * v as f32),
                    (joint, 1.0 - 0.125 * v as f32),
                ]
            })
            .collect();
        let all: Vec<&[(u32, f32)]> = all.iter().map(Vec::as_slice).collect();
        let change = SkinEdit {
            meshes: vec![MeshSkin {
                mesh: 0,
                influences: rows(&all),
                targets: Vec::new(),
                colors: None,
            }],
            helpers: vec![helper().0],
            clips: Vec::new(),
        };
        let out = edit_skins(&glb, &file.asset, &file.document, &change).expect("written");
        let out = read_gltf_bytes(out, None, "out.glb").expect("valid");
        let mesh = &out.asset.meshes[0];
        assert_eq!(mesh.vertex_count(), count);
        let found = mesh.influences.as_ref().expect("weights");
        for v in 0..count {
            let helpers = found.row(v).filter(|r| {
                let node = out.asset.rig.joints()[r.0 as usize].node;
                out.asset.rig.nodes()[node].parent.is_some()
            });
            let weight: f32 = helpers.map(|r| r.1).sum();
            assert_eq!(weight, 0.125 * v as f32, "vertex {v}");
        }
        let primitives = &out.document.json["meshes"][0]["primitives"];
        let shared =
            primitives[0]["attributes"]["WEIGHTS_0"] == primitives[1]["attributes"]["WEIGHTS_0"];
        assert_eq!(shared, !split);
    }
}

fn index32_of(count: usize) -> u32 {
    u32::try_from(count).expect("few")
}
