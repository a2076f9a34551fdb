//! Small documents written by hand; every expectation follows from the glTF 2.0 text.

use super::*;
use crate::read_gltf;
use sinew_geom::{Affine, Attribute, Real};

#[test]
fn sparse_with_and_without_a_base() {
    let mut b = Builder::triangle();
    let indices = b.view(&shorts(&[2]), None);
    let values = b.view(&floats(&[5.0, 6.0, 7.0]), None);
    let sparse = json!({"count": 1, "indices": {"bufferView": indices, "componentType": 5123},
        "values": {"bufferView": values}});
    b.json["accessors"][0]["sparse"] = sparse.clone();
    let target =
        b.accessor(json!({"componentType": 5126, "count": 3, "type": "VEC3", "sparse": sparse}));
    let zeros = b.accessor(json!({"componentType": 5126, "count": 3, "type": "VEC3"}));
    b.primitive()["targets"] = json!([{"POSITION": target}, {"POSITION": zeros}]);
    b.json["meshes"][0]["extras"] = json!({"targetNames": ["smile"]});
    b.json["meshes"][0]["weights"] = json!([0.25, 0.5]);
    let file = b.read().expect("valid");
    let m = &file.asset.meshes[0];
    assert_eq!(m.positions, [[0.0; 3], [1.0, 0.0, 0.0], [5.0, 6.0, 7.0]]);
    assert_eq!(m.morph_targets[0].name, "smile");
    assert_eq!(m.morph_targets[0].vertices, [2], "only what moves is kept");
    assert_eq!(m.morph_targets[0].positions, [[5.0, 6.0, 7.0]]);
    assert_eq!(m.morph_targets[1].name, "target_1");
    assert!(m.morph_targets[1].vertices.is_empty(), "zeros move nothing");
    assert_eq!(file.asset.rig.nodes()[0].morph_weights, [0.25, 0.5]);
}

#[test]
fn sparse_indices_must_rise_and_fit() {
    for (indices, word) in [
        ([1, 1], "index 1 in entry 1"),
        ([1, 3], "index 3 in entry 1"),
    ] {
        let mut b = Builder::triangle();
        let indices = b.view(&shorts(&indices), None);
        let values = b.view(&floats(&[0.0; 6]), None);
        b.json["accessors"][0]["sparse"] = json!({"count": 2,
            "indices": {"bufferView": indices, "componentType": 5123}, "values": {"bufferView": values}});
        let e = b.error();
        assert!(
            e.contains("accessors[0].sparse.indices") && e.contains(word),
            "{e}"
        );
    }
}

#[test]
fn interleaved_attributes_and_user_attributes() {
    let mut b = Builder::new();
    // Position, UV, one painted number: 24 bytes a vertex, the last vertex without padding after it.
    let mut data = Vec::new();
    for v in 0..3_u8 {
        let f = f32::from(v);
        data.extend(floats(&[f, f + 0.5, -f, f / 4.0, 1.0 - f]));
        data.extend([v * 51, 0, 0, 0]);
    }
    data.truncate(data.len() - 3);
    let view = b.view(&data, Some(24));
    let mut add = |name: &str, offset: u32, component: u32, kind: &str, normalized: bool| {
        let a = b.accessor(json!({"bufferView": view, "byteOffset": offset, "count": 3,
            "componentType": component, "type": kind, "normalized": normalized}));
        b.primitive()["attributes"][name] = a.into();
    };
    add("POSITION", 0, 5126, "VEC3", false);
    add("TEXCOORD_0", 12, 5126, "VEC2", false);
    add("_MASK", 20, 5121, "SCALAR", true);
    let m = b.mesh();
    assert_eq!(m.positions[2], [2.0, 2.5, -2.0]);
    assert_eq!(m.uvs[0][1], [0.25, 0.0]);
    assert_eq!(m.attributes["MASK"], Attribute::Scalar(vec![0.0, 0.2, 0.4]));
    assert_eq!(
        m.topology.triangles(),
        [[0, 1, 2]],
        "no indices: one after another"
    );
    assert!(m.normals.is_none(), "missing normals stay missing");
}

#[test]
fn quantised_positions_come_out_in_scene_space() {
    let mut b = Builder::new();
    let raw: [u16; 12] = [0, 0, 0, 9, 100, 0, 0, 9, 0, 200, 0, 9];
    let view = b.view(&shorts(&raw), Some(8));
    let a =
        b.accessor(json!({"bufferView": view, "componentType": 5123, "count": 3, "type": "VEC3"}));
    b.primitive()["attributes"]["POSITION"] = a.into();
    let normals = b.view(&[0, 0, 127, 0, 90, 90, 0, 0, 0x81, 0, 0, 0], Some(4));
    let n = b.accessor(
        json!({"bufferView": normals, "componentType": 5120, "count": 3, "type": "VEC3",
        "normalized": true}),
    );
    b.primitive()["attributes"]["NORMAL"] = n.into();
    b.json["nodes"][0]["scale"] = json!([0.01, 0.01, 0.01]);
    b.json["nodes"][0]["translation"] = json!([1.0, 2.0, 3.0]);
    b.json["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    b.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    let file = b.read().expect("valid");
    let m = &file.asset.meshes[0];
    let expected = [[1.0, 2.0, 3.0], [2.0, 2.0, 3.0], [1.0, 4.0, 3.0]];
    assert!(
        sinew_testkit::max_distance(&m.positions, &expected) < 1e-6,
        "{:?}",
        m.positions
    );
    let h = std::f32::consts::FRAC_1_SQRT_2;
    let normals = m.normals.as_ref().expect("given");
    assert!(
        sinew_testkit::max_distance(normals, &[[0.0, 0.0, 1.0], [h, h, 0.0], [-1.0, 0.0, 0.0]])
            < 1e-6,
        "unit again after dequantisation: {normals:?}"
    );
    let rest = skinned(m, &file.asset.rig.rest_pose());
    assert!(
        sinew_testkit::max_distance(&rest, &m.positions) < 1e-6,
        "rest is where positions are"
    );
}

#[test]
fn strips_and_fans() {
    for (mode, expected) in [
        (5, vec![[0, 1, 2], [1, 3, 2], [2, 3, 4]]),
        (6, vec![[1, 2, 0], [2, 3, 0], [3, 4, 0]]),
    ] {
        let mut b = Builder::new();
        let view = b.view(&floats(&[0.5; 15]), None);
        let a = b.accessor(
            json!({"bufferView": view, "componentType": 5126, "count": 5, "type": "VEC3"}),
        );
        b.primitive()["attributes"]["POSITION"] = a.into();
        b.primitive()["mode"] = mode.into();
        assert_eq!(b.mesh().topology.triangles(), expected, "mode {mode}");
    }
}

#[test]
fn points_are_skipped_with_a_warning() {
    let mut b = Builder::triangle();
    let points = json!({"attributes": {"POSITION": 0}, "mode": 0});
    b.json["meshes"][0]["primitives"]
        .as_array_mut()
        .expect("list")
        .push(points);
    let asset = b.read().expect("valid").asset;
    assert_eq!(asset.meshes[0].vertex_count(), 3);
    assert_eq!(asset.warnings[0].code, "primitive_skipped");
}

#[test]
fn matrix_nodes_are_baked_and_mirrors_flip_the_winding() {
    let mut b = Builder::triangle();
    // Columns: x mirrored and doubled, sheared y, z as is, then the translation.
    b.json["nodes"] = json!([
        {"mesh": 0, "matrix": [-2, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 10, 0, 0, 1]},
        {"translation": [0, 1, 0], "children": [0]},
    ]);
    let tangents = b.view(&floats(&[1.0, 0.0, 0.0, 1.0].repeat(3)), None);
    let t = b.accessor(
        json!({"bufferView": tangents, "componentType": 5126, "count": 3, "type": "VEC4"}),
    );
    b.primitive()["attributes"]["TANGENT"] = t.into();
    let file = b.read().expect("valid");
    let (m, rig) = (&file.asset.meshes[0], &file.asset.rig);
    assert_eq!(
        m.positions,
        [[10.0, 1.0, 0.0], [8.0, 1.0, 0.0], [10.5, 2.0, 0.0]]
    );
    assert_eq!(m.topology.triangles(), [[0, 2, 1]]);
    assert_eq!(
        m.tangents.as_ref().expect("given")[0],
        [-1.0, 0.0, 0.0, -1.0]
    );
    assert_eq!(rig.nodes()[1].parent, Some(0), "parents come first");
    assert_eq!(file.document.rig_node_of_node, [1, 0]);
    let palette = rig.rest_pose().palette[0].unpack::<f64>();
    assert!(
        (palette.linear - Affine::<f64>::identity().linear).norm() < 1e-6,
        "rest changes nothing"
    );
}

#[test]
fn skin_in_centimetres_is_baked_to_scene_space() {
    let mut b = Builder::triangle();
    let joints = b.view(&[0; 12], None);
    let j = b
        .accessor(json!({"bufferView": joints, "componentType": 5121, "count": 3, "type": "VEC4"}));
    let weights = b.view(&[255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0], None);
    let w = b.accessor(
        json!({"bufferView": weights, "componentType": 5121, "count": 3, "type": "VEC4",
        "normalized": true}),
    );
    b.primitive()["attributes"]["JOINTS_0"] = j.into();
    b.primitive()["attributes"]["WEIGHTS_0"] = w.into();
    // The mesh node moves: without effect on a skinned mesh.
    b.json["nodes"] = json!([{"mesh": 0, "skin": 0, "translation": [9, 9, 9]},
        {"scale": [0.01, 0.01, 0.01], "translation": [1, 0, 0]}]);
    b.json["skins"] = json!([{"joints": [1]}]);
    let file = b.read().expect("valid");
    let m = &file.asset.meshes[0];
    assert!(
        sinew_testkit::max_distance(
            &m.positions,
            &[[1.0, 0.0, 0.0], [1.01, 0.0, 0.0], [1.0, 0.01, 0.0]]
        ) < 1e-6,
        "{:?}",
        m.positions
    );
    let rest = skinned(m, &file.asset.rig.rest_pose());
    assert!(sinew_testkit::max_distance(&rest, &m.positions) < 1e-6);
    assert!(file.asset.warnings.is_empty(), "{:?}", file.asset.warnings);
}

#[test]
fn row_0_second_sets_of_influences_and_texture_coordinates() {
    let mut b = Builder::triangle();
    let mut add = |name: &str, bytes: &[u8], component: u32, kind: &str| {
        let view = b.view(bytes, None);
        let a = b.accessor(
            json!({"bufferView": view, "componentType": component, "count": 3,
            "type": kind}),
        );
        b.primitive()["attributes"][name] = a.into();
    };
    // Vertex 1 follows five joints, vertex 2 names one joint in both sets.
    add(
        "JOINTS_0",
        &[0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0],
        5121,
        "VEC4",
    );
    add(
        "JOINTS_1",
        &[0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0],
        5121,
        "VEC4",
    );
    let first = [1.0, 0.0, 0.0, 0.0, 0.1, 0.15, 0.25, 0.3, 0.5, 0.0, 0.0, 0.0];
    let second = [0.0, 0.0, 0.0, 0.0, 0.2, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0];
    add("WEIGHTS_0", &floats(&first), 5126, "VEC4");
    add("WEIGHTS_1", &floats(&second), 5126, "VEC4");
    add(
        "TEXCOORD_0",
        &floats(&[0.0, 0.0, 1.0, 0.0, 0.0, 1.0]),
        5126,
        "VEC2",
    );
    add(
        "TEXCOORD_1",
        &floats(&[0.5, 0.5, 0.75, 0.5, 0.5, 0.25]),
        5126,
        "VEC2",
    );
    b.json["nodes"] = json!([{"mesh": 0, "skin": 0}, {}, {}, {}, {}, {}]);
    b.json["skins"] = json!([{"joints": [1, 2, 3, 4, 5]}]);
    let m = b.mesh();
    let influences = m.influences.as_ref().expect("skinned");
    let mut row: Vec<(u32, f32)> = influences.row(1).collect();
    row.sort_by_key(|r| r.0);
    let expected = [(0, 0.1), (1, 0.15), (2, 0.25), (3, 0.3), (4, 0.2)];
    assert_eq!(row.len(), 5, "{row:?}");
    for ((joint, weight), (j, w)) in row.into_iter().zip(expected) {
        assert_eq!(joint, j);
        assert!((weight - w).abs() < 1e-6, "joint {joint}: {weight}");
    }
    assert_eq!(influences.row(2).collect::<Vec<_>>(), [(4, 1.0)]);
    assert_eq!(m.uvs.len(), 2);
    assert_eq!(m.uvs[0][2], [0.0, 1.0]);
    assert_eq!(m.uvs[1], [[0.5, 0.5], [0.75, 0.5], [0.5, 0.25]]);
}

#[test]
fn tree_errors_are_named() {
    let mut b = Builder::triangle();
    b.json["nodes"] = json!([{"mesh": 0, "children": [2]}, {"children": [2]}, {}]);
    let e = b.error();
    assert!(
        e.contains("nodes[1].children[0]") && e.contains("already a child of nodes[0]"),
        "{e}"
    );
    let mut b = Builder::triangle();
    b.json["nodes"] = json!([{"mesh": 0, "children": [0]}]);
    assert!(b.error().contains("cycle"), "its own child");
    let mut b = Builder::triangle();
    b.json["nodes"][0]["children"] = json!([7]);
    assert!(b.error().contains("nodes[7], expected an index below 1"));
}

#[test]
fn channels_that_cannot_drive_are_skipped_and_doubles_refused() {
    let document = |channels: Value| {
        let mut b = Builder::triangle();
        let times = b.view(&floats(&[0.0, 1.0]), None);
        b.accessor(
            json!({"bufferView": times, "componentType": 5126, "count": 2, "type": "SCALAR"}),
        );
        let values = b.view(&[0, 0, 0, 127, 0, 127, 0, 0], None);
        b.accessor(
            json!({"bufferView": values, "componentType": 5120, "count": 2, "type": "VEC4",
            "normalized": true}),
        );
        b.json["nodes"] = json!([{"mesh": 0}, {"matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,1]}]);
        b.json["animations"] =
            json!([{"samplers": [{"input": 1, "output": 2}], "channels": channels}]);
        b
    };
    let on = |node: u32| json!({"sampler": 0, "target": {"node": node, "path": "rotation"}});
    let pointer = json!({"sampler": 0, "target": {"path": "pointer",
        "extensions": {"KHR_animation_pointer": {"pointer": "/materials/0/alphaCutoff"}}}});
    let nothing = json!({"sampler": 0, "target": {"path": "rotation"}});
    let asset = document(json!([on(0), on(1), pointer, nothing]))
        .read()
        .expect("valid")
        .asset;
    assert_eq!(asset.clips[0].channels().len(), 1);
    let codes: Vec<_> = asset.warnings.iter().map(|w| w.code).collect();
    let expected = [
        "pointer_channels_skipped",
        "channels_without_node",
        "channels_on_matrix_nodes",
    ];
    assert_eq!(codes, expected);
    let mut pose = asset.rig.rest_pose();
    asset.rig.evaluate(Some(&asset.clips[0]), 1.0, &mut pose);
    let y = pose.palette[0].unpack::<f64>().linear;
    assert!(
        (y[(0, 0)] + 1.0).abs() < 1e-6,
        "half a turn about Y from normalised bytes: {y}"
    );
    let e = document(json!([on(0), on(0)])).error();
    assert!(
        e.contains("animations[0].channels[1]") && e.contains("a second channel for"),
        "{e}"
    );
}

#[test]
fn external_buffers_stay_inside_the_folder() {
    let folder = tempfile::tempdir().expect("folder");
    let inside = folder.path().join("inside");
    std::fs::create_dir(&inside).expect("folder");
    let data = floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    std::fs::write(folder.path().join("secret.bin"), &data).expect("write");
    std::fs::write(inside.join("my data.bin"), &data).expect("write");
    let document = |uri: &str| {
        let mut b = Builder::triangle();
        b.json["buffers"] = json!([{"byteLength": 36, "uri": uri}]);
        let path = inside.join("a.gltf");
        std::fs::write(&path, b.json.to_string()).expect("write");
        read_gltf(&path)
    };
    assert_eq!(
        document("my%20data.bin").expect("valid").asset.meshes[0].vertex_count(),
        3
    );
    #[cfg(unix)]
    std::os::unix::fs::symlink("../secret.bin", inside.join("link.bin")).expect("link");
    for uri in [
        "../secret.bin",
        "%2e%2e/secret.bin",
        "link.bin",
        "/dev/zero",
        "file:///etc/passwd",
    ] {
        let e = document(uri).expect_err("leaves the folder").to_string();
        assert!(
            e.contains("buffers[0].uri") && e.contains("folder of the document"),
            "{uri}: {e}"
        );
    }
    assert!(matches!(document("missing.bin"), Err(IoError::Read { .. })));
}

#[test]
fn unknown_required_extensions_are_refused() {
    let mut b = Builder::triangle();
    b.json["extensionsRequired"] = json!(["KHR_materials_unlit", "KHR_draco_mesh_compression"]);
    let e = b.error();
    assert!(
        e.contains("extensionsRequired[1]") && e.contains("without Draco"),
        "{e}"
    );
}

#[test]
fn counts_are_checked_before_memory_is_taken() {
    let mut b = Builder::triangle();
    b.json["accessors"][0]["count"] = json!(4_000_000_000_u64);
    assert!(b.error().contains("4000000000 elements"), "past the view");
    let mut b = Builder::triangle();
    b.json["accessors"][0] = json!({"componentType": 5126, "count": u64::MAX, "type": "VEC3"});
    assert!(
        b.error().contains("elements and no bufferView"),
        "no view at all"
    );
}

#[test]
fn graph_travels_as_text() {
    let mut b = Builder::triangle();
    b.json["extensions"] = json!({"SINEW_graph": {"version": "1.0", "graph": {"nodes": [1, 2.5]}}});
    let asset = b.read().expect("valid").asset;
    assert_eq!(asset.graph.as_deref(), Some(r#"{"nodes":[1,2.5]}"#));
    let mut b = Builder::triangle();
    b.json["extensions"] = json!({"SINEW_graph": {"version": "2.0", "graph": {}}});
    assert!(b.error().contains("graph version 2.0 is not supported"));
}

#[test]
fn meshes_outside_the_scene_are_skipped() {
    let mut b = Builder::triangle();
    b.json["nodes"] = json!([{"mesh": 0}, {"mesh": 0, "name": "hidden"}]);
    b.json["scenes"] = json!([{"nodes": [0]}]);
    let asset = b.read().expect("valid").asset;
    assert_eq!((asset.meshes.len(), asset.rig.nodes().len()), (1, 2));
    assert_eq!(asset.warnings[0].code, "mesh_outside_scene");
}

#[test]
fn bad_json_is_named() {
    let e = read_gltf_bytes(
        b"{\"asset\":{\"version\":\"2.0\"},\"meshes\":[{}]}".to_vec(),
        None,
        "a.gltf",
    )
    .expect_err("no primitives")
    .to_string();
    assert!(e.contains("meshes[0]") && e.contains("primitives"), "{e}");
    let e = read_gltf_bytes(b"{".to_vec(), None, "a.gltf")
        .expect_err("cut")
        .to_string();
    assert!(e.contains("line 1"), "{e}");
}

/// People know nodes; programs give mesh data names of their own. A selection finds both, nodes first.
#[test]
fn meshes_have_the_names_of_their_nodes() {
    use sinew_geom::Selection;
    let mut b = Builder::triangle();
    let primitives = b.json["meshes"][0]["primitives"].clone();
    b.json["meshes"] = json!([
        { "name": "Cube.125", "primitives": primitives },
        { "name": "Body", "primitives": primitives },
        { "name": "Sword", "primitives": primitives },
        { "primitives": primitives },
    ]);
    b.json["nodes"] = json!([
        { "name": "Body", "mesh": 0 },
        { "name": "Shield", "mesh": 1 },
        { "mesh": 2 },
        { "mesh": 3 },
    ]);
    let asset = b.read().expect("valid").asset;
    let names: Vec<(&str, &str)> = asset
        .meshes
        .iter()
        .map(|m| (m.name.as_str(), m.data_name.as_str()))
        .collect();
    assert_eq!(
        names,
        [
            ("Body", "Cube.125"),
            ("Shield", "Body"),
            ("Sword", ""),
            ("mesh_3", "")
        ]
    );
    let select = |pattern: &str| {
        asset
            .merged(&Selection::Named(pattern.into()))
            .map(|m| m.full_name())
    };
    assert_eq!(select("Body").expect("a node"), "Body (Cube.125)");
    assert_eq!(select("Cube.*").expect("data"), "Body (Cube.125)");
    let error = select("Helmet").expect_err("none").to_string();
    assert!(
        error.contains("Body (Cube.125), Shield (Body), Sword, mesh_3"),
        "{error}"
    );
}

#[test]
fn primitives_without_normals_are_flat() {
    let mut b = Builder::triangle();
    let lacks = b.json["meshes"][0]["primitives"][0].clone();
    assert!(Builder::triangle().mesh().is_flat());
    let view = b.view(
        &floats(&[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]),
        None,
    );
    let normals =
        b.accessor(json!({"bufferView": view, "componentType": 5126, "count": 3, "type": "VEC3"}));
    b.primitive()["attributes"]["NORMAL"] = normals.into();
    let has = b.json["meshes"][0]["primitives"][0].clone();
    b.json["meshes"] = json!([{ "primitives": [has] }, { "primitives": [has, lacks] }]);
    b.json["nodes"] = json!([{ "mesh": 0 }, { "mesh": 1 }]);
    let file = b.read().expect("valid");
    let flat = |m: &Mesh| m.parts.iter().map(|p| p.flat_shaded).collect::<Vec<_>>();
    let found: Vec<Vec<bool>> = file.asset.meshes.iter().map(flat).collect();
    assert_eq!(found, [vec![false], vec![false, true]]);
    // Those of the file stay; the flat primitive has those of its triangle, for nodes to turn.
    let both = file.asset.meshes[1].normals.as_ref().expect("normals");
    let [a, b, c] = [0, 1, 2].map(|v| f64::vec3(file.asset.meshes[1].positions[3 + v]));
    let of_triangle = (b - a).cross(&(c - a)).normalize();
    for v in 0..3 {
        assert_eq!(both[v], [0.0, 0.0, 1.0]);
        assert!((f64::vec3(both[3 + v]) - of_triangle).norm() < 1e-6);
    }
    assert!(file.asset.warnings.is_empty(), "{:?}", file.asset.warnings);
}
