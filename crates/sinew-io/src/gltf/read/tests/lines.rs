//! Lines as strands; expectations follow from the glTF 2.0 text on modes 1 to 3.

use super::*;
use sinew_geom::Attribute;

/// Six points on the x axis with a number each, drawn as `mode` with `indices`.
fn points(mode: u32, indices: Option<&[u16]>) -> Builder {
    let mut b = Builder::new();
    let data: Vec<f32> = (0..6_u8).flat_map(|i| [f32::from(i), 0.0, 0.0]).collect();
    let view = b.view(&floats(&data), None);
    let positions =
        b.accessor(json!({"bufferView": view, "componentType": 5126, "count": 6, "type": "VEC3"}));
    let numbers: Vec<f32> = (0..6_u8).map(|i| f32::from(i) / 8.0).collect();
    let view = b.view(&floats(&numbers), None);
    let numbers = b
        .accessor(json!({"bufferView": view, "componentType": 5126, "count": 6, "type": "SCALAR"}));
    b.primitive()["attributes"] = json!({"POSITION": positions, "_STIFF": numbers});
    b.primitive()["mode"] = mode.into();
    if let Some(indices) = indices {
        let view = b.view(&shorts(indices), None);
        let accessor = b.accessor(json!({"bufferView": view, "componentType": 5123,
            "count": indices.len(), "type": "SCALAR"}));
        b.primitive()["indices"] = accessor.into();
    }
    b
}

/// The points of each strand, by their x.
fn strands(b: Builder) -> Vec<Vec<f32>> {
    let asset = b.read().expect("valid").asset;
    assert!(asset.meshes.is_empty(), "no triangles");
    let mesh = &asset.strands[0];
    let strands = mesh.topology.strands().expect("strands");
    let Some(Attribute::Scalar(stiff)) = mesh.attributes.get("STIFF") else {
        panic!("attribute {:?}", mesh.attributes.keys());
    };
    mesh.check().expect("as long as the positions");
    let x = |v: usize| {
        assert_eq!(stiff[v] * 8.0, mesh.positions[v][0], "attributes go along");
        mesh.positions[v][0]
    };
    strands.ranges().map(|r| r.map(x).collect()).collect()
}

#[test]
fn segments_that_go_on_become_strands() {
    let found = strands(points(1, Some(&[0, 1, 1, 2, 3, 4, 4, 5])));
    assert_eq!(found, [vec![0.0, 1.0, 2.0], vec![3.0, 4.0, 5.0]]);
    let found = strands(points(1, None));
    assert_eq!(found, [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]);
}

#[test]
fn strips_and_loops_are_one_strand_each() {
    let found = strands(points(3, None));
    assert_eq!(found, [[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]]);
    let found = strands(points(3, Some(&[5, 3, 3, 0])));
    assert_eq!(found, [[5.0, 3.0, 3.0, 0.0]]);
    let found = strands(points(2, Some(&[1, 4, 2])));
    assert_eq!(found, [[1.0, 4.0, 2.0, 1.0]]);
}

#[test]
fn a_vertex_of_two_strands_is_there_twice() {
    let found = strands(points(1, Some(&[2, 1, 1, 0, 2, 3, 3, 4])));
    assert_eq!(found, [[2.0, 1.0, 0.0], [2.0, 3.0, 4.0]]);
}

#[test]
fn lines_and_triangles_of_one_mesh_come_apart() {
    let mut b = points(3, None);
    let mut faces = b.primitive().clone();
    faces["mode"] = 4.into();
    let primitives = b.json["meshes"][0]["primitives"].as_array_mut();
    primitives.expect("a list").push(faces);
    let asset = b.read().expect("valid").asset;
    assert_eq!(asset.meshes[0].topology.triangles().len(), 2);
    assert_eq!(
        asset.strands[0].topology.strands().map(|s| s.len()),
        Some(1)
    );
    assert_eq!(
        asset.strands[0]
            .influences
            .as_ref()
            .map(|i| i.vertex_count()),
        Some(6)
    );
}

#[test]
fn broken_lines_are_told() {
    let e = points(1, Some(&[0, 1, 1])).error();
    assert!(
        e.contains("primitives[0].indices") && e.contains("3 indices"),
        "{e}"
    );
    let e = points(3, Some(&[0, 9])).error();
    assert!(e.contains("vertex 9 as index 1"), "{e}");
}

#[test]
fn a_line_of_one_vertex_is_told() {
    for mode in [2, 3] {
        let mut b = points(mode, Some(&[2]));
        let mut long = b.primitive().clone();
        long.as_object_mut().expect("an object").remove("indices");
        let primitives = b.json["meshes"][0]["primitives"].as_array_mut();
        primitives.expect("a list").push(long);
        let asset = b.read().expect("valid").asset;
        let strands = asset.strands[0].topology.strands();
        assert_eq!(strands.map(|s| s.len()), Some(1));
        assert_eq!(asset.warnings.len(), 1);
        let message = &asset.warnings[0].message;
        assert!(
            message.contains("meshes[0].primitives[0] is a line with a single vertex"),
            "{message}"
        );
        let alone = points(mode, Some(&[2])).read().expect("valid").asset;
        assert!(alone.strands.is_empty() && alone.meshes.is_empty());
    }
    if let Some(path) = crate::case_files::case_file("sequences/15_one_vertex_strand/strands.glb") {
        let asset = crate::read_gltf(&path).expect("valid").asset;
        let strands = asset.strands.iter().filter_map(|m| m.topology.strands());
        assert_eq!(strands.map(|s| s.len()).sum::<usize>(), 3);
        assert_eq!(asset.warnings.len(), 1, "{:?}", asset.warnings);
    }
}

#[test]
fn repeated_points_are_told_with_counts() {
    // A strip whose last point is there three times.
    let asset = points(3, Some(&[0, 1, 2, 2, 2]))
        .read()
        .expect("valid")
        .asset;
    assert_eq!(asset.strands[0].vertex_count(), 5);
    let found = &asset.warnings[0];
    assert_eq!(found.code, "points_repeated");
    let words = "2 points repeat the previous point in 1 strand";
    assert!(found.message.starts_with(words), "{}", found.message);
}

#[test]
fn a_node_far_away_tells_what_single_precision_loses() {
    let warnings = |x: f64| {
        let mut b = Builder::triangle();
        b.json["nodes"][0] = json!({ "name": "survey", "mesh": 0, "translation": [x, 0.0, 0.0], "rotation": [0.0, 0.1305262, 0.0, 0.9914449] });
        b.read().expect("valid").asset.warnings
    };
    assert!(warnings(10.0).is_empty());
    let found = warnings(5_401_234.3);
    assert_eq!(found[0].code, "positions_rounded");
    assert!(
        found[0].message.contains("node 'survey'"),
        "{}",
        found[0].message
    );
}
