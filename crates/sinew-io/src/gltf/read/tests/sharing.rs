//! Primitives over one vertex buffer.

use super::*;

/// Eight vertices in a row of zigzags, one triangle of corners `k`, `k + 1`, `k + 2` for each of `firsts`, each a primitive of its own over the same accessors.
/// A target lifts vertices 2 and 7.
fn zigzag(firsts: &[u16]) -> Builder {
    let mut b = Builder::new();
    let positions: Vec<f32> = (0..8)
        .flat_map(|v| [v as f32, f32::from(v as u8 % 2), 0.0])
        .collect();
    let mut accessor = |values: &[f32], kind: &str| {
        let view = b.view(&floats(values), None);
        b.accessor(json!({"bufferView": view, "componentType": 5126, "count": 8, "type": kind}))
    };
    let positions = accessor(&positions, "VEC3");
    let uvs: Vec<f32> = (0..16).map(|v| v as f32).collect();
    let uvs = accessor(&uvs, "VEC2");
    let mut lift = [0.0; 24];
    (lift[7], lift[22]) = (1.0, 2.0);
    let lift = accessor(&lift, "VEC3");
    let primitives: Vec<Value> = firsts
        .iter()
        .zip(0..)
        .map(|(&k, material)| {
            let view = b.view(&shorts(&[k, k + 1, k + 2]), None);
            let indices = b.accessor(
                json!({"bufferView": view, "componentType": 5123, "count": 3, "type": "SCALAR"}),
            );
            json!({ "attributes": {"POSITION": positions, "TEXCOORD_0": uvs}, "indices": indices,
                "targets": [{"POSITION": lift}], "material": material % 2 })
        })
        .collect();
    b.json["materials"] = json!([{}, {}]);
    b.json["meshes"][0]["primitives"] = primitives.into();
    b
}

#[test]
fn primitives_over_the_same_accessors_are_parts_of_one_run_of_vertices() {
    let file = zigzag(&[0, 3, 1]).read().expect("valid");
    let mesh = &file.asset.meshes[0];
    // As of a single primitive, which keeps vertices that it does not use.
    assert_eq!(mesh.vertex_count(), 8);
    assert_eq!(mesh.topology.triangles(), [[0, 1, 2], [3, 4, 5], [1, 2, 3]]);
    let parts: Vec<_> = mesh
        .parts
        .iter()
        .map(|p| (p.vertices.clone(), p.triangles.clone(), p.material))
        .collect();
    assert_eq!(
        parts,
        [
            (0..8, 0..1, Some(0)),
            (0..8, 1..2, Some(1)),
            (0..8, 2..3, Some(0))
        ]
    );
    assert_eq!(mesh.morph_targets[0].vertices, [2, 7]);
    assert_eq!(mesh.influences.as_ref().map(|i| i.vertex_count()), Some(8));
    mesh.check().expect("lists fit");
}

#[test]
fn accessors_that_read_the_same_bytes_are_the_same() {
    let mut b = zigzag(&[0, 3]);
    let copy = b.json["accessors"][0].clone();
    let copy = b.accessor(copy);
    b.json["meshes"][0]["primitives"][1]["attributes"]["POSITION"] = copy.into();
    assert_eq!(b.mesh().vertex_count(), 8);
}

#[test]
fn of_a_buffer_that_is_shared_in_part_unused_vertices_are_dropped() {
    let mut b = zigzag(&[0, 3, 4]);
    // The last two do without texture coordinates, and one of them without the target's deltas: three runs over the same positions.
    for p in 1..3 {
        let primitive = &mut b.json["meshes"][0]["primitives"][p];
        primitive["attributes"]
            .as_object_mut()
            .expect("attributes")
            .remove("TEXCOORD_0");
    }
    b.json["meshes"][0]["primitives"][1]["targets"] = json!([{}]);
    b.json["meshes"][0]["primitives"][0]["indices"] = json!(null);
    // Sparse: entries of rows that are read are found, others not.
    let view = b.view(&shorts(&[1, 6]), None);
    let values = b.view(&floats(&[0.0, 0.0, 5.0, 0.0, 0.0, 6.0]), None);
    let sparse = b.accessor(
        json!({"componentType": 5126, "count": 8, "type": "VEC3", "sparse": {"count": 2,
        "indices": {"bufferView": view, "componentType": 5123}, "values": {"bufferView": values}}}),
    );
    b.json["meshes"][0]["primitives"][2]["targets"] = json!([{ "POSITION": sparse }]);
    b.json["meshes"][0]["primitives"][0]
        .as_object_mut()
        .expect("a primitive")
        .remove("indices");
    b.json["accessors"][0]["count"] = 6.into();
    b.json["accessors"][1]["count"] = 6.into();
    b.json["accessors"][2]["count"] = 6.into();
    for p in 1..3 {
        let positions = b.json["accessors"][0].clone();
        let copy = b.accessor(positions);
        b.json["accessors"][copy]["count"] = 8.into();
        let primitive = &mut b.json["meshes"][0]["primitives"][p];
        primitive["attributes"]["POSITION"] = copy.into();
    }
    let file = b.read().expect("valid");
    let mesh = &file.asset.meshes[0];
    // The first has a buffer of its own (six vertices of it); the others three vertices each.
    assert_eq!(mesh.vertex_count(), 6 + 3 + 3);
    assert_eq!(
        mesh.topology.triangles(),
        [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    );
    let x: Vec<f32> = mesh.positions[6..].iter().map(|p| p[0]).collect();
    assert_eq!(x, [3.0, 4.0, 5.0, 4.0, 5.0, 6.0]);
    let target = &mesh.morph_targets[0];
    assert_eq!(target.vertices, [2, 11]);
    assert_eq!(target.positions[1], [0.0, 0.0, 6.0]);
    let places = &file.document.primitives_of_mesh[0];
    assert_eq!(places[2].vertices, 9..12);
    assert_eq!(places[2].row_of(11), Some(6));
    assert_eq!(places[2].row_of(8), None);
    let spread: Vec<usize> = places[2].vertex_of_rows().collect();
    assert_eq!(spread, [9, 9, 9, 9, 9, 10, 11, 11]);
}

#[test]
fn lines_and_other_meshes_over_the_buffer_take_what_they_use() {
    let mut b = zigzag(&[0, 4]);
    b.json["meshes"][0]["primitives"][1]["mode"] = 3.into();
    let again = b.json["meshes"][0]["primitives"][0].clone();
    let mesh = b.push("meshes", json!({ "primitives": [again] }));
    b.push("nodes", json!({ "mesh": mesh }));
    let file = b.read().expect("valid");
    let counts: Vec<usize> = file.asset.meshes.iter().map(Mesh::vertex_count).collect();
    assert_eq!(counts, [3, 3]);
    let strands = &file.asset.strands[0];
    assert_eq!(strands.vertex_count(), 3);
    assert_eq!(strands.positions[0][0], 4.0);
}

#[test]
fn many_primitives_over_one_buffer_cost_what_one_does() {
    // With a copy of the vertices for each this would pass the memory that a file may ask for.
    let firsts: Vec<u16> = (0..3000).map(|k| k % 6).collect();
    let mut b = zigzag(&firsts);
    let count = 1 << 16;
    let view = b.view(&vec![0; count * 12], None);
    b.json["accessors"][0] =
        json!({"bufferView": view, "componentType": 5126, "count": count, "type": "VEC3"});
    for primitive in b.json["meshes"][0]["primitives"]
        .as_array_mut()
        .expect("a list")
    {
        primitive["attributes"] = json!({ "POSITION": 0 });
        primitive["targets"] = json!([]);
    }
    let mesh = b.mesh();
    assert_eq!(mesh.vertex_count(), count);
    assert_eq!(mesh.parts.len(), 3000);
}
