use super::*;
use crate::case_files::case_file;
use crate::{IoError, Surface};
use proptest::prelude::*;
use sinew_geom::{Mesh, Polygons, Topology};
use sinew_testkit::{meshes, shared_data};
use std::path::Path;

fn parse(text: &str) -> Mesh {
    let asset = parse_obj(text.as_bytes(), Path::new("folder/thing.obj")).expect("valid");
    asset.meshes.into_iter().next().expect("one mesh")
}

fn refuse(text: &str) -> String {
    parse_obj(text.as_bytes(), Path::new("bad.obj"))
        .expect_err("malformed")
        .to_string()
}

#[test]
fn polygons_negative_indices_and_continuations() {
    let m = parse(
        "v 0 0 0\nv 1 0 0\r\nv 1 1 0 # corner\nv 0 1 0\nf -4 -3 \\\n-2 -1\nusemtl red\nf 1 2 3\n",
    );
    assert_eq!(m.topology.triangles(), [[0, 1, 2], [0, 2, 3], [0, 1, 2]]);
    let polygons = m.topology.polygons().expect("the quad is kept");
    assert_eq!(polygons.offsets, [0, 4, 7]);
    assert_eq!(m.name, "thing", "no o line: the file's stem");
}

#[test]
fn splits_only_where_faces_disagree_and_keeps_order() {
    let m = parse(
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt .5 .5\n\
         f 1/1 2/2 3/3\nf 1/5 3/3 4/4\n",
    );
    assert_eq!(m.positions.len(), 5, "vertex 1 has two texture coordinates");
    assert_eq!(m.topology.triangles(), [[0, 1, 2], [4, 2, 3]]);
    assert_eq!(m.positions[4], m.positions[0]);
    assert_eq!(
        m.uvs[0],
        [[0., 1.], [1., 1.], [1., 0.], [0., 0.], [0.5, 0.5]]
    );
}

#[test]
fn colours_names_and_parts() {
    let m = parse(
        "o a\nv 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 1 1 0 0 0 .5\nf 1 2 3\no b\nv 0 0 1 1 1 1\nv 1 0 1 1 1 1\nv 1 1 1 1 1 1\nf 4 5 6\n",
    );
    // 0.5 of sRGB by IEC 61966-2-1.
    assert_eq!(m.colors[0][2], [0.0, 0.0, 0.214_041_14, 1.0]);
    assert_eq!(m.parts.len(), 2);
    assert_eq!(
        (m.parts[1].name.as_str(), m.parts[1].vertices.clone()),
        ("b", 3..6)
    );
    assert_eq!(m.parts[1].triangles, 1..2);
}

#[test]
fn errors_name_the_line() {
    for (text, expected) in [
        (
            "v 0 0 0\nv 1 x 0\n",
            "bad.obj: line 2: found 'x', expected three numbers (x y z), optionally followed by a weight or a colour",
        ),
        (
            "v 0 0\n",
            "bad.obj: line 1: found 'end of line', expected three numbers (x y z), optionally followed by a weight or a colour",
        ),
        (
            "v 0 0 nan\n",
            "bad.obj: line 1: found '[0.0, 0.0, NaN]', expected finite coordinates",
        ),
        (
            "v 0 0 0\nf 1 1 0\n",
            "bad.obj: line 2: found '0', expected a vertex index: 1 are defined up to this line, counted from 1",
        ),
        (
            "v 0 0 0\nf 1/2 1 1\n",
            "bad.obj: line 2: found '1/2', expected a texture coordinate index: 0 are defined up to this line, counted from 1",
        ),
        (
            "v 0 0 0\nf 1/1/1/1 1 1\n",
            "bad.obj: line 2: found '1/1/1/1', expected a texture coordinate index: 0 are defined up to this line, counted from 1",
        ),
        (
            "v 0 0 0\n\nf -2 1 1\n",
            "bad.obj: line 3: found '-2', expected a vertex index: 1 are defined up to this line, counted from 1",
        ),
    ] {
        assert_eq!(refuse(text), expected, "{text:?}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_statement() {
    let quad = "\u{feff}v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 9 9 9\nf 1 2 3 4\n";
    let m = parse(quad);
    assert_eq!(m.positions.len(), 5);
    assert_eq!(m.topology.triangles(), [[0, 1, 2], [0, 2, 3]]);
    if let Some(path) = case_file("sequences/12_obj_byte_order_mark/quad_bom.obj") {
        assert_eq!(read_obj(&path).expect("valid").meshes[0].positions.len(), 5);
    }
}

#[test]
fn repairs_are_counted() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nvn 0 0 0\nvn 0 0 2\nf 1//1 2//2 3//2\nf 1 2\nvt 0 0\n";
    let asset = parse_obj(text.as_bytes(), Path::new("a.obj")).expect("valid");
    let codes: Vec<&str> = asset.warnings.iter().map(|w| w.code).collect();
    assert_eq!(codes, ["faces_skipped", "normals_without_direction"]);
    let normals = asset.meshes[0].normals.as_ref().expect("kept");
    assert_eq!(normals[..2], [[0., 1., 0.], [0., 0., 1.]]);
}

#[test]
fn files_come_back_bit_for_bit() {
    let dir = tempfile::tempdir().expect("temp");
    let mut mesh = meshes::sphere(7, 9);
    mesh.colors = vec![vec![[0.1, 0.2, 0.3, 1.0]; mesh.positions.len()]];
    mesh.uvs = vec![mesh.positions.iter().map(|p| [p[0], 0.25]).collect()];
    let polygons = Polygons {
        offsets: vec![0, 4, 7],
        indices: vec![0, 1, 2, 3, 0, 1, 4],
    };
    let quad = Mesh::new(
        "quad",
        Topology::from_polygons(5, polygons).expect("valid"),
        (0..5).map(|i| [i as f32 / 3.0, 1e-20, -4e7]).collect(),
    );
    for mesh in [mesh, quad, meshes::degenerate(), meshes::cube()] {
        let path = dir.path().join("x.obj");
        write_obj(&path, &[Surface::from(&mesh)]).expect("written");
        let back = &read_obj(&path).expect("read").meshes[0];
        assert_eq!(back.name, mesh.name);
        assert_eq!(back.positions, mesh.positions);
        assert_eq!(back.topology, mesh.topology, "{}", mesh.name);
        assert_eq!(back.colors.len(), mesh.colors.len());
        let colors = back.colors.iter().flatten().flatten();
        for (found, expected) in colors.zip(mesh.colors.iter().flatten().flatten()) {
            assert!((found - expected).abs() < 1e-6, "{found} of {expected}");
        }
        assert_eq!(back.normals, mesh.normals);
        assert_eq!(back.uvs.len(), mesh.uvs.len());
    }
    let two = [meshes::cube(), meshes::cube()];
    let path = dir.path().join("two.obj");
    write_obj(&path, &[Surface::from(&two[0]), Surface::from(&two[1])]).expect("written");
    let back = &read_obj(&path).expect("read").meshes[0];
    assert_eq!(back.parts.len(), 2);
    assert_eq!(back.parts[1].vertices, 24..48);
}

#[test]
fn real_files_have_the_documented_counts() {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    for (name, vertices, triangles) in [
        ("spot", 3225, 5856),
        ("mh_head_open", 4402, 8748),
        ("mh_head_closed", 4403, 8802),
        ("mh_head_capped", 4402, 8800),
        ("mh_head_voxel", 21852, 43644),
        ("suzanne", 507, 968),
        ("sintel_bust", 3135, 5952),
        ("sintel_eyeballs", 738, 1408),
        ("thin_cup_open", 1025, 1920),
        ("thin_cup_solid", 2050, 4096),
    ] {
        let asset = read_obj(&data.join(format!("collision/{name}.obj"))).expect("valid");
        let mesh = &asset.meshes[0];
        assert_eq!(mesh.vertex_count(), vertices, "{name}");
        assert_eq!(mesh.topology.triangles().len(), triangles, "{name}");
        assert!(asset.warnings.is_empty(), "{name}: {:?}", asset.warnings);
    }
    let bad = data.join("malformed/obj_face_out_of_range.obj");
    let error = read_obj(&bad).expect_err("face refers to vertex 12");
    assert!(matches!(error, IoError::Malformed { .. }), "{error}");
    assert!(error.to_string().contains("line 4: found '12'"), "{error}");
}

/// What a vertex animation texture is played on: no vertex may be merged, split or moved to another location.
#[test]
fn loose_triangles_keep_their_vertices() {
    let mesh = meshes::loose_triangles(10_000);
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("carrier.obj");
    write_obj(&path, &[Surface::from(&mesh)]).expect("written");
    let read = &read_obj(&path).expect("valid").meshes[0];
    assert_eq!(read.positions, mesh.positions);
    assert_eq!(read.normals, mesh.normals);
    assert_eq!(read.uvs, mesh.uvs[..1], "OBJ has one set");
    assert_eq!(read.topology.triangles(), mesh.topology.triangles());
    assert_eq!(read.topology.triangles()[9_999], [29_997, 29_998, 29_999]);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse_obj(&bytes, Path::new("x.obj"));
    }

    #[test]
    fn any_statements_are_read_or_refused(
        lines in prop::collection::vec("(v|vt|vn|f|o|g|l|#)( (-?[0-9]{1,3}|[0-9]?/[0-9]?/-?[0-9]|1e39|nan|a)){0,6}\\\\?", 0..40)
    ) {
        let _ = parse_obj(lines.join("\n").as_bytes(), Path::new("x.obj"));
    }
}

#[test]
fn split_vertices_know_their_points() {
    let m = parse(
        "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nvn 0 1 0\nf 1//1 2//1 3//1\nf 1//2 3//2 4//2\n",
    );
    assert_eq!(m.positions.len(), 6);
    assert_eq!(m.points, [0, 1, 2, 3, 0, 2]);
    let points = |t: &[u32; 3]| t.map(|v| m.point_of(v));
    let triangles: Vec<[u32; 3]> = m.topology.triangles().iter().map(points).collect();
    assert_eq!(triangles, [[0, 1, 2], [0, 2, 3]]);
    let whole = parse("v 0 0 0\nv 1 0 0\nv 1 1 0\nvn 0 0 1\nf 1//1 2//1 3//1\n");
    assert_eq!((whole.points.len(), whole.point_of(2)), (0, 2));
}

#[test]
fn coordinates_far_away_are_counted_from_an_origin_or_warned_of() {
    let text = "v 512345.7125 5401234.3375 1\nv 512346.7125 5401234.3375 1\nv 512345.7125 5401235.3375 1\nf 1 2 3\n";
    let path = Path::new("far.obj");
    let (asset, of_file) = parse_obj_from(text.as_bytes(), path, [0.0; 3]).expect("valid");
    let lost = 0.1625_f64.hypot(0.0);
    assert!((of_file.loss - lost).abs() < 0.02, "{}", of_file.loss);
    let found = &asset.warnings[0];
    assert_eq!(found.code, "positions_rounded");
    assert!(
        found.message.contains("'far.obj'") && found.message.contains(" mm"),
        "{}",
        found.message
    );
    let origin = of_file.origin().expect("far away");
    assert_eq!(origin, [512_346.0, 5_401_235.0, 1.0]);
    let (asset, of_file) = parse_obj_from(text.as_bytes(), path, origin).expect("valid");
    assert!(asset.warnings.is_empty() && of_file.loss < 1e-7);
    assert_eq!(asset.meshes[0].positions[0], [-0.2875, -0.6625, 0.0]);
}
