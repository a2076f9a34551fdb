//! Small files that ask for much: thought of while the fuzz target `glb` was written, and measured with it.

use super::*;

/// `count` nodes that share the mesh of node 0.
fn share(b: &mut Builder, count: usize) {
    b.json["nodes"] = vec![json!({"mesh": 0}); count].into();
}

fn refused(b: Builder, location: &str) {
    let e = b.error();
    assert!(
        e.contains(location) && e.contains("more bytes of unpacked data, which exceeds the limit"),
        "names {location}: {e}"
    );
}

#[test]
fn zeros_without_bytes_are_counted_each_time_they_are_read() {
    let mut b = Builder::new();
    let zeros = b.accessor(json!({"componentType": 5126, "count": 1 << 22, "type": "VEC3"}));
    b.primitive()["attributes"]["POSITION"] = zeros.into();
    b.primitive()["attributes"]["NORMAL"] = zeros.into();
    refused(b, "meshes[0].primitives[0].attributes.NORMAL");
}

#[test]
fn shared_meshes_are_counted_for_each_node() {
    let mut b = Builder::new();
    let zeros = b.accessor(json!({"componentType": 5126, "count": 3 << 15, "type": "VEC3"}));
    b.primitive()["attributes"]["POSITION"] = zeros.into();
    share(&mut b, 300);
    refused(b, "meshes[0].primitives[0].attributes.POSITION");
}

#[test]
fn filled_sets_are_counted() {
    let mut b = Builder::triangle();
    let uv = b.accessor(json!({"componentType": 5126, "count": 3, "type": "VEC2"}));
    for set in 0..100 {
        b.primitive()["attributes"][format!("TEXCOORD_{set}")] = uv.into();
    }
    let zeros = b.accessor(json!({"componentType": 5126, "count": 3 << 17, "type": "VEC3"}));
    let plain = json!({"attributes": {"POSITION": zeros}});
    b.json["meshes"][0]["primitives"]
        .as_array_mut()
        .expect("a list")
        .push(plain);
    refused(b, "meshes[0].primitives[1]");
}

#[test]
fn targets_of_shared_meshes_are_counted() {
    let mut b = Builder::triangle();
    b.primitive()["targets"] = vec![json!({}); 3000].into();
    share(&mut b, 3000);
    refused(b, "primitives[0].targets");
}

#[test]
fn small_primitives_of_shared_meshes_are_counted() {
    let mut b = Builder::triangle();
    let first = b.primitive().clone();
    b.json["meshes"][0]["primitives"] = vec![first; 1000].into();
    share(&mut b, 3000);
    refused(b, "meshes[0].primitives[");
}

#[test]
fn targets_without_deltas_take_no_time() {
    // 1.5 million vertices times 5000 targets, without one delta.
    let mut b = Builder::new();
    let zeros = b.accessor(json!({"componentType": 5126, "count": 3 << 19, "type": "VEC3"}));
    b.primitive()["attributes"]["POSITION"] = zeros.into();
    b.primitive()["targets"] = vec![json!({}); 5000].into();
    let m = b.mesh();
    assert_eq!(m.morph_targets.len(), 5000);
    assert!(m.morph_targets.iter().all(|t| t.vertices.is_empty()));
}

#[test]
fn positions_must_stay_finite_in_the_scene() {
    let mut b = Builder::triangle();
    b.json["nodes"] = json!([
        {"scale": [3e38, 3e38, 3e38], "children": [1]},
        {"mesh": 0, "scale": [1e30, 1e30, 1e30]},
    ]);
    let e = b.error();
    assert!(
        e.contains("nodes[1].mesh") && e.contains("positions that are not finite"),
        "{e}"
    );
}

#[test]
fn attributes_of_many_primitives_are_compared_in_one_pass() {
    let mut b = Builder::triangle();
    let one = b.accessor(json!({"componentType": 5126, "count": 3, "type": "SCALAR"}));
    let two = b.accessor(json!({"componentType": 5126, "count": 3, "type": "VEC2"}));
    let primitive = |i: usize| {
        let mut p = json!({"attributes": {"POSITION": 0, "_ALL": one, "_SHAPE": if i == 0 {one} else {two}}});
        p["attributes"][format!("_OWN_{i}")] = one.into();
        p
    };
    b.json["meshes"][0]["primitives"] = (0..2000).map(primitive).collect::<Vec<_>>().into();
    let file = b.read().expect("valid");
    let names: Vec<&String> = file.asset.meshes[0].attributes.keys().collect();
    assert_eq!(names, ["ALL"]);
    let dropped = &file.asset.warnings[0].message;
    assert!(
        dropped.contains("OWN_1999") && dropped.contains("SHAPE"),
        "named"
    );
}

#[test]
fn bind_matrices_must_stay_finite_in_the_scene() {
    // Eight flat nodes below each other shrink x to 1e-296; taking that out of the other joint's matrix overflows.
    let mut b = Builder::triangle();
    let joints = b.view(&[0; 12], None);
    let joints = b
        .accessor(json!({"bufferView": joints, "componentType": 5121, "count": 3, "type": "VEC4"}));
    let weights = b.view(&floats(&[1.0, 0.0, 0.0, 0.0].repeat(3)), None);
    let weights = b.accessor(
        json!({"bufferView": weights, "componentType": 5126, "count": 3, "type": "VEC4"}),
    );
    b.primitive()["attributes"]["JOINTS_0"] = joints.into();
    b.primitive()["attributes"]["WEIGHTS_0"] = weights.into();
    let matrix = |x: f32| {
        let mut m = [0.0; 16];
        (m[0], m[5], m[10], m[15]) = (x, 1.0, 1.0, 1.0);
        m
    };
    let binds = b.view(&floats(&[matrix(1.0), matrix(3e38)].concat()), None);
    let binds =
        b.accessor(json!({"bufferView": binds, "componentType": 5126, "count": 2, "type": "MAT4"}));
    let mut nodes = vec![json!({"mesh": 0, "skin": 0}), json!({"scale": [0, 1, 1]})];
    for k in 2..10 {
        nodes.push(json!({"scale": [1e-37, 1, 1]}));
        if k < 9 {
            nodes[k]["children"] = json!([k + 1]);
        }
    }
    b.json["nodes"] = nodes.into();
    b.json["skins"] = json!([{"joints": [9, 1], "inverseBindMatrices": binds}]);
    let e = b.error();
    assert!(
        e.contains("skins[0].inverseBindMatrices") && e.contains("matrix 1"),
        "{e}"
    );
}
