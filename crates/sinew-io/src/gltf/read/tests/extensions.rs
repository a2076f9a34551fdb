//! Extensions that are used and not required, members that may be left out.

use super::*;
use crate::case_files::case_file;
use crate::{read_any, read_gltf};
use sinew_geom::ChannelTarget;

pub(super) fn messages(file: &GltfFile) -> Vec<&str> {
    let warnings = file.asset.warnings.iter();
    warnings.map(|w| w.message.as_str()).collect()
}

/// A triangle on a node that turns; `channel` is what of the animation's channel stands beside the sampler.
fn turning(target: Value) -> Builder {
    let mut b = Builder::triangle();
    let times = b.view(&floats(&[0.0, 1.0]), None);
    b.accessor(json!({"bufferView": times, "componentType": 5126, "count": 2, "type": "SCALAR"}));
    // Half a turn about Y.
    let turns = b.view(&floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]), None);
    b.accessor(json!({"bufferView": turns, "componentType": 5126, "count": 2, "type": "VEC4"}));
    b.json["animations"] = json!([{"name": "turn", "samplers": [{"input": 1, "output": 2}],
        "channels": [{"sampler": 0, "target": target}]}]);
    b
}

fn pointer(to: &str) -> Value {
    json!({"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": to}}})
}

#[test]
fn a_scene_may_have_no_nodes() {
    let mut b = Builder::triangle();
    b.json["scenes"] = json!([{"nodes": [0]}, {"name": "empty"}]);
    assert_eq!(b.mesh().positions.len(), 3);
    let mut b = Builder::triangle();
    b.json["scenes"] = json!([{"name": "empty"}]);
    let file = b.read().expect("valid");
    assert!(file.asset.meshes.is_empty(), "the scene shows nothing");
    assert_eq!(
        file.document.json["scenes"],
        json!([{"name": "empty"}]),
        "as it was"
    );
    let mut b = Builder::triangle();
    b.json["scenes"] = json!([{"nodes": 7}]);
    assert!(b.error().contains("scenes[0].nodes"));
    if let Some(path) = case_file("characters/09_second_scene_without_nodes/s1_empty_scene.glb") {
        let file = read_gltf(&path).expect("valid");
        assert_eq!((file.asset.meshes.len(), messages(&file).len()), (1, 0));
    }
}

/// All that glTF 2.0 requires, and nothing else: every other member may be missing.
#[test]
fn optional_members_may_be_missing() {
    let text = json!({
        "asset": {"version": "2.0"},
        "scenes": [{}],
        "nodes": [{}],
        "textures": [{}],
        "samplers": [{}],
        "images": [{}],
        "materials": [{}, {"normalTexture": {"index": 0}, "occlusionTexture": {"index": 0},
            "pbrMetallicRoughness": {}}],
        "cameras": [{"type": "perspective", "perspective": {"yfov": 1.0, "znear": 0.1}}],
        "buffers": [],
        "accessors": [{"componentType": 5126, "count": 3, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "skins": [{"joints": [0]}],
        "animations": [{"samplers": [], "channels": []}],
    });
    let text = serde_json::to_vec(&text).expect("JSON");
    read_gltf_bytes(text, None, "least.gltf").expect("valid");
}

#[test]
fn names_of_targets_may_be_with_the_primitives() {
    let named = |mesh: Value, primitive: Value| {
        let mut b = Builder::triangle();
        b.primitive()["targets"] = json!([{"POSITION": 0}, {"POSITION": 0}]);
        b.primitive()["extras"] = primitive;
        b.json["meshes"][0]["extras"] = mesh;
        let targets = b.mesh().morph_targets;
        targets.into_iter().map(|t| t.name).collect::<Vec<_>>()
    };
    let [a, b] = [
        json!({"targetNames": ["a", "b"]}),
        json!({"targetNames": ["c", "d"]}),
    ];
    assert_eq!(named(json!({}), b.clone()), ["c", "d"]);
    assert_eq!(named(a, b), ["a", "b"], "the mesh's own first");
    assert_eq!(named(json!({}), json!({})), ["target_0", "target_1"]);
    if let Some(path) = case_file("characters/07_target_names_of_vrm/b1_vrm_names.glb") {
        let file = read_gltf(&path).expect("valid");
        let names = &file.asset.meshes[0].morph_targets;
        assert_eq!(
            [&names[0].name, &names[1].name],
            ["Fcl_MTH_A", "Fcl_EYE_Close"]
        );
        assert_eq!(names[2].name.chars().count(), 2);
    }
}

#[test]
fn draco_without_another_copy_is_refused() {
    let document = |with_copy: bool, required: bool| {
        let mut b = Builder::triangle();
        if !with_copy {
            let accessor = b.json["accessors"][0].as_object_mut().expect("an object");
            accessor.remove("bufferView");
        }
        b.json["extensionsUsed"] = json!(["KHR_draco_mesh_compression"]);
        if required {
            b.json["extensionsRequired"] = json!(["KHR_draco_mesh_compression"]);
        }
        b.primitive()["extensions"] = json!({"KHR_draco_mesh_compression": {"bufferView": 0,
            "attributes": {"POSITION": 0}}});
        b
    };
    let help = "export the file without Draco compression";
    for required in [false, true] {
        let error = document(false, required).error();
        assert!(
            error.contains("KHR_draco_mesh_compression") && error.contains(help),
            "{error}"
        );
    }
    let error = document(false, false).error();
    assert!(
        error.contains("meshes[0].primitives[0].extensions"),
        "{error}"
    );
    let file = document(true, false)
        .read()
        .expect("a copy that can be read");
    assert_eq!(file.asset.meshes[0].positions[1], [1.0, 0.0, 0.0]);
    assert_eq!(messages(&file), [""; 0]);
    if let Some(path) = case_file("characters/08_draco_not_required/e3_draco_not_required.glb") {
        let error = read_gltf(&path).expect_err("no copy").to_string();
        assert!(error.contains(help), "{error}");
    }
}

#[test]
fn extensions_that_are_not_read_are_told_once_each() {
    let mut b = Builder::triangle();
    b.json["nodes"] = json!([
        {"name": "fence", "mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 1}}}},
        {"name": "helper", "extensions": {"VRMC_node_constraint": {}}},
        {"extensions": {"VRMC_node_constraint": {}}},
    ]);
    b.accessor(json!({"componentType": 5126, "count": 5, "type": "VEC3"}));
    b.json["extensionsUsed"] = json!([
        "EXT_mesh_gpu_instancing",
        "VRMC_node_constraint",
        "ACME_wind",
        "ACME_wind",
        "VRMC_materials_mtoon",
        "KHR_texture_transform",
        "EXT_lights_ies",
        "KHR_xmp_json_ld",
        "EXT_mesh_features"
    ]);
    let file = b.read().expect("valid");
    let found = messages(&file);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].contains("ACME_wind is not supported"), "{found:?}");
    let instances = "EXT_mesh_gpu_instancing of node 'fence' (5 instances)";
    assert!(found[1].contains(instances), "{found:?}");
    let joints = "VRMC_node_constraint of nodes 'helper', 'node_2'";
    assert!(found[2].contains(joints), "{found:?}");
    for (case, part) in [
        (
            "characters/11_gpu_instancing/e1_instancing_used.glb",
            instances,
        ),
        (
            "sequences/16_vrm_node_constraint/roll.glb",
            "VRMC_node_constraint of node 'helper'",
        ),
    ] {
        if let Some(path) = case_file(case) {
            let file = read_gltf(&path).expect("valid");
            assert!(messages(&file)[0].contains(part), "{:?}", messages(&file));
        }
    }
}

#[test]
fn vrm_is_a_glb_file() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a.vrm");
    std::fs::write(
        &path,
        serde_json::to_vec(&Builder::new().json).expect("JSON"),
    )
    .expect("write");
    let error = read_any(&path).expect_err("no positions").to_string();
    assert!(error.contains("no POSITION"), "{error}");
}

#[test]
fn clips_of_one_name_can_be_told_apart() {
    let mut b = turning(json!({"node": 0, "path": "rotation"}));
    let clip = b.json["animations"][0].clone();
    let names = ["walk", "walk", "walk#2", "run", "walk"];
    let named = names.map(|name| {
        let mut clip = clip.clone();
        clip["name"] = name.into();
        clip
    });
    b.json["animations"] = json!(named);
    let file = b.read().expect("valid");
    let found: Vec<&str> = file.asset.clips.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(found, ["walk", "walk#3", "walk#2", "run", "walk#4"]);
    assert!(
        messages(&file)[0].contains("'walk#3', 'walk#4'"),
        "{:?}",
        messages(&file)
    );
    assert_eq!(
        file.document.json["animations"][1]["name"], "walk",
        "as it was"
    );
    if let Some(path) = case_file("characters/10_clips_of_one_name/j2_mixamo.glb") {
        let file = read_gltf(&path).expect("valid");
        for (name, seconds) in [
            ("mixamo.com", 0.5),
            ("mixamo.com#2", 1.0),
            ("mixamo.com#3", 1.5),
        ] {
            let clip = file.asset.find_clip(Some(name)).expect(name);
            let times = clip.channels()[0].times();
            assert_eq!(times.last(), Some(&seconds), "{name}");
        }
        assert_eq!(messages(&file).len(), 1);
    }
}

#[test]
fn pointers_to_transforms_are_channels() {
    let x_after = |b: Builder| {
        let asset = b.read().expect("valid").asset;
        let mut pose = asset.rig.rest_pose();
        asset.rig.evaluate(asset.find_clip(None), 1.0, &mut pose);
        let codes: Vec<&str> = asset.warnings.iter().map(|w| w.code).collect();
        (skinned(&asset.meshes[0], &pose)[1][0], codes.concat())
    };
    // Half a turn about Y takes x = 1 to -1.
    assert_eq!(
        x_after(turning(pointer("/nodes/0/rotation"))),
        (-1.0, String::new())
    );
    for other in [
        "/materials/0/alphaCutoff",
        "/nodes/0/rotation/1",
        "/nodes/-1/rotation",
        "/nodes/0",
    ] {
        let skipped = (1.0, "pointer_channels_skipped".to_owned());
        assert_eq!(x_after(turning(pointer(other))), skipped, "{other}");
    }
    let error = turning(pointer("/nodes/9/rotation")).error();
    assert!(
        error.contains("channels[0].target.node: found nodes[9]"),
        "{error}"
    );
    let weights = |target: Value| {
        let mut b = Builder::triangle();
        b.primitive()["targets"] = json!([{"POSITION": 0}]);
        let times = b.view(&floats(&[0.0, 1.0]), None);
        b.accessor(
            json!({"bufferView": times, "componentType": 5126, "count": 2, "type": "SCALAR"}),
        );
        b.json["animations"] = json!([{"samplers": [{"input": 1, "output": 1}],
            "channels": [{"sampler": 0, "target": target}]}]);
        let asset = b.read().expect("valid").asset;
        asset.clips[0].channels()[0].target
    };
    assert_eq!(weights(pointer("/nodes/0/weights")), ChannelTarget::Weights);
    if let Some(path) = case_file("characters/12_animation_pointer_to_a_rotation/c2_pointer.glb") {
        let asset = read_gltf(&path).expect("valid").asset;
        let mut pose = asset.rig.rest_pose();
        asset
            .rig
            .evaluate(asset.find_clip(Some("bend")), 1.0, &mut pose);
        let highest = |all: &[[f32; 3]]| all.iter().map(|p| p[1]).fold(f32::MIN, f32::max);
        assert_eq!(highest(&asset.meshes[0].positions), 2.0);
        let bent = highest(&skinned(&asset.meshes[0], &pose));
        assert!(bent < 1.4, "the elbow at 1 m bends by 100 degrees: {bent}");
        assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    }
}
