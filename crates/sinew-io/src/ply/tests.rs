use super::*;
use crate::case_files::case_file;
use crate::{IoError, Surface};
use proptest::prelude::*;
use sinew_geom::{Attribute, Mesh, Polygons, Topology};
use sinew_testkit::{meshes, shared_data};
use std::path::Path;

fn parse(bytes: &[u8]) -> Result<sinew_geom::Asset, IoError> {
    parse_ply(bytes, Path::new("cloud.ply"))
}

fn refuse(text: &str) -> String {
    parse(text.as_bytes()).expect_err("malformed").to_string()
}

const QUAD: &str = "ply\nformat ascii 1.0\ncomment by hand\nelement vertex 4\nproperty double x\nproperty float y\n\
    property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nproperty list uchar int ring\n\
    property short mask\nelement edge 1\nproperty int a\nproperty list int float b\nelement face 2\n\
    property uchar flags\nproperty list uchar uint vertex_index\nend_header\n\
    0 0 0 255 0 0 2 7 8 -1\n1 0 0 0 255 0 0 2\n1 1 0 0 0 255 1 5 3\n0 1 0 51 0 0 0 4\n9 2 .5 .5\n0 4 0 1 2 3\n0 3 0 1 2";

#[test]
fn text_with_everything() {
    let asset = parse(QUAD.as_bytes()).expect("valid");
    let m = &asset.meshes[0];
    assert_eq!(m.name, "cloud");
    assert_eq!(m.topology.triangles(), [[0, 1, 2], [0, 2, 3], [0, 1, 2]]);
    assert_eq!(m.topology.polygons().expect("a quad").offsets, [0, 4, 7]);
    // 51 of 255 by IEC 61966-2-1.
    assert_eq!(m.colors[0][3], [0.033_104_766, 0.0, 0.0, 1.0]);
    assert_eq!(
        m.attributes["mask"],
        Attribute::Scalar(vec![-1.0, 2.0, 3.0, 4.0])
    );
    assert_eq!(asset.warnings[0].code, "vertex_lists_skipped");
}

const WEDGES: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
    property uchar red\nproperty uchar green\nproperty uchar blue\nproperty float mask\nelement face 2\n\
    property list uchar float texcoord\nproperty list uchar int vertex_indices\nproperty int texnumber\nend_header\n\
    0 0 0 255 0 0 .5\n1 0 0 0 255 0 .25\n1 1 0 0 0 255 .125\n0 1 0 255 255 255 1\n\
    6 0 0 1 0 1 1 3 0 1 2 0\n6 .5 .5 1 1 0 .25 3 0 2 3 0\n";

#[test]
fn texture_coordinates_of_corners_split_vertices() {
    let asset = parse(WEDGES.as_bytes()).expect("valid");
    let m = &asset.meshes[0];
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    assert_eq!(m.topology.triangles(), [[0, 1, 2], [4, 2, 3]]);
    // v of the file points up: 1 - v.
    let uvs = [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.75], [0.5, 0.5]];
    assert_eq!(m.uvs, [uvs]);
    assert_eq!(m.positions[4], m.positions[0]);
    assert_eq!(m.colors[0][4], [1.0, 0.0, 0.0, 1.0]);
    let mask = Attribute::Scalar(vec![0.5, 0.25, 0.125, 1.0, 0.5]);
    assert_eq!(m.attributes["mask"], mask);
    m.check().expect("as long as the positions");
    let short = WEDGES.replace("6 .5 .5 1 1 0 .25", "4 .5 .5 1 1");
    let asset = parse(short.as_bytes()).expect("valid");
    assert!(asset.meshes[0].uvs.is_empty());
    assert_eq!(asset.warnings[0].code, "texture_coordinates_incomplete");
    let message = &asset.warnings[0].message;
    assert!(message.starts_with("1 of 2 faces"), "{message}");
    let outside = WEDGES.replace("3 0 2 3 0", "3 0 2 9 0");
    assert!(
        refuse(&outside).contains("vertex 9"),
        "{}",
        refuse(&outside)
    );
    let colored = WEDGES.replace("int texnumber", "uchar red");
    let asset = parse(colored.as_bytes()).expect("valid");
    assert_eq!(asset.warnings[0].code, "face_colors_skipped");
    if let Some(path) = case_file("sequences/13_ply_face_texcoords/triangle_wedge_uv.ply") {
        let asset = read_ply(&path).expect("valid");
        assert_eq!(asset.meshes[0].uvs, [[[0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]]);
        assert_eq!(asset.warnings.len(), 1, "{:?}", asset.warnings);
    }
}

/// Bytes and floats of OBJ are sRGB, floats of PLY and alpha linear; numbers by IEC 61966-2-1 in double precision.
#[test]
fn colours_are_linear_in_meshes() {
    let header = |kind: &str| {
        format!(
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n\
             property {kind} red\nproperty {kind} green\nproperty {kind} blue\nproperty {kind} alpha\nend_header\n0 0 0 "
        )
    };
    let near = |found: [f32; 4], expected: [f32; 4]| {
        let is_near = |(a, b): (f32, f32)| (a - b).abs() < 1e-6;
        assert!(
            found.into_iter().zip(expected).all(is_near),
            "{found:?} of {expected:?}"
        );
    };
    for (kind, numbers, expected) in [
        (
            "uchar",
            "127 187 254 128",
            [0.212_230_76, 0.496_933, 0.991_102_1, 0.501_960_8],
        ),
        (
            "ushort",
            "32639 48059 65278 32896",
            [0.212_230_76, 0.496_933, 0.991_102_1, 0.501_960_8],
        ),
        ("float", "0.5 0.25 1.5 0.125", [0.5, 0.25, 1.5, 0.125]),
        ("double", "0.5 0.25 1.5 0.125", [0.5, 0.25, 1.5, 0.125]),
    ] {
        let asset = parse((header(kind) + numbers).as_bytes()).expect("valid");
        near(asset.meshes[0].colors[0][0], expected);
    }
    let mut mesh = Mesh::new(
        "x",
        Topology::new(1, Vec::new()).expect("valid"),
        vec![[0.0; 3]],
    );
    // Linear 0.5 is 187.516 of 255 in sRGB.
    mesh.colors = vec![vec![[0.5, 0.0, 1.0, 0.5]]];
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("x.ply");
    let text = |float_colors| {
        let options = PlyOptions {
            encoding: PlyEncoding::Ascii,
            float_colors,
        };
        write_ply(&path, &[Surface::from(&mesh)], options).expect("written");
        std::fs::read_to_string(&path).expect("text")
    };
    assert!(
        text(false).ends_with("0 0 0 188 0 255 128\n"),
        "{}",
        text(false)
    );
    assert!(
        text(true).ends_with("0 0 0 0.5 0 1 0.5\n"),
        "{}",
        text(true)
    );
    let path = dir.path().join("x.obj");
    crate::obj::write_obj(&path, &[Surface::from(&mesh)]).expect("written");
    let written = std::fs::read_to_string(&path).expect("text");
    let line = written
        .lines()
        .find(|l| l.starts_with("v "))
        .expect("a vertex");
    let red: f64 = line
        .split(' ')
        .nth(4)
        .and_then(|n| n.parse().ok())
        .expect("red");
    assert!((red - 0.735_356_98).abs() < 1e-6, "{line}");
    for name in ["quad.ply", "quad.obj"] {
        let case = format!("sequences/02_vertex_colours_srgb/{name}");
        let Some(path) = case_file(&case) else {
            continue;
        };
        let colors = &crate::read_mesh(&path).expect("valid").meshes[0].colors[0];
        let expected = [
            [0.212, 0.0, 0.0],
            [0.497; 3],
            [0.0, 0.212, 0.991],
            [0.05, 0.1, 0.799],
        ];
        for (found, expected) in colors.iter().zip(expected) {
            let is_near = |c: usize| (found[c] - expected[c]).abs() < 0.01;
            assert!((0..3).all(is_near) && found[3] == 1.0, "{name}: {found:?}");
        }
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_header() {
    let marked = [b"\xEF\xBB\xBF", QUAD.as_bytes()].concat();
    assert_eq!(
        parse(&marked).expect("valid").meshes[0].positions[1],
        [1.0, 0.0, 0.0]
    );
}

/// The same values in both byte orders, made by hand from the format's description.
#[test]
fn all_types_in_both_byte_orders() {
    let types = [
        "char", "uint8", "int16", "ushort", "int", "uint32", "float", "float64",
    ];
    let values: [f64; 8] = [-5.0, 200.0, -300.0, 60000.0, -70000.0, 4e9, 0.5, -0.25];
    for big in [false, true] {
        let order = if big { "big" } else { "little" };
        let mut bytes =
            format!("ply\r\nformat binary_{order}_endian 1.0\r\nelement vertex 1\r\n").into_bytes();
        for c in ["x", "y", "z"] {
            bytes.extend(format!("property float {c}\r\n").bytes());
        }
        for (i, t) in types.iter().enumerate() {
            bytes.extend(format!("property {t} a{i}\r\n").bytes());
        }
        bytes.extend(b"end_header\r\n");
        let mut put = |le: &[u8]| {
            let mut b = le.to_vec();
            if big {
                b.reverse();
            }
            bytes.extend(b);
        };
        for c in [1.0_f32, 2.0, 3.0] {
            put(&c.to_le_bytes());
        }
        put(&(values[0] as i8).to_le_bytes());
        put(&(values[1] as u8).to_le_bytes());
        put(&(values[2] as i16).to_le_bytes());
        put(&(values[3] as u16).to_le_bytes());
        put(&(values[4] as i32).to_le_bytes());
        put(&(values[5] as u32).to_le_bytes());
        put(&(values[6] as f32).to_le_bytes());
        put(&values[7].to_le_bytes());
        let asset = parse(&bytes).expect("valid");
        let m = &asset.meshes[0];
        assert_eq!(m.positions, [[1.0, 2.0, 3.0]]);
        for (i, v) in values.iter().enumerate() {
            assert_eq!(
                m.attributes[&format!("a{i}")],
                Attribute::Scalar(vec![*v as f32]),
                "{order} {i}"
            );
        }
    }
}

#[test]
fn errors_name_the_place() {
    let head = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n";
    let faces = "element face 1\nproperty list uchar int vertex_indices\nend_header\n";
    for (text, expected) in [
        ("plx\n".into(), "header line 1: found 'plx', expected 'ply'"),
        ("ply\nformat ascii 2.0\n".into(), "header line 2: found 'format ascii 2.0'"),
        ("ply\nelement vertex -1\n".into(), "header line 2: found 'element vertex -1', expected element NAME COUNT"),
        ("ply\nformat ascii 1.0\n".into(), "header line 3: found end of file, expected end_header"),
        (format!("{head}end_header\n0 zero 0\n"), "vertex 0, property y: found 'zero', expected a number"),
        (format!("{head}end_header\n0 nan 0\n"), "vertex 0: found [0.0, NaN, 0.0], expected finite coordinates"),
        (format!("{head}{faces}0 0 0\n3 0 0 -1\n"), "face 0, property vertex_indices: found -1, expected a vertex index"),
        (format!("{head}{faces}0 0 0\n3 0 0 7\n"), "polygon 0 is invalid: it refers to vertex 7, but the mesh has 1 vertices"),
        (format!("{head}{faces}0 0 0\n4000000000 0 0 0\n"), "face 0, property vertex_indices: found end of file, expected a list item"),
        (
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n".into(),
            "element vertex: found no x, y, z, expected x, y and z",
        ),
        (
            "ply\nformat ascii 1.0\nelement vertex 99999999999\nend_header\n".into(),
            "element vertex: found no x, y, z, expected x, y and z",
        ),
        (
            "ply\nformat ascii 1.0\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n1 1\n".into(),
            "element tristrips: a triangle strip is not supported; export faces instead",
        ),
    ] {
        let error = refuse(&text);
        assert!(error.contains(expected), "{error}\n{expected}");
    }
}

#[test]
fn files_come_back_bit_for_bit() {
    let dir = tempfile::tempdir().expect("temp");
    let polygons = Polygons {
        offsets: vec![0, 4, 7],
        indices: vec![0, 1, 2, 3, 0, 1, 4],
    };
    let mut quad = Mesh::new(
        "x",
        Topology::from_polygons(5, polygons).expect("valid"),
        (0..5).map(|i| [i as f32 / 3.0, 1e-20, -4e7]).collect(),
    );
    // 51 of 255 by IEC 61966-2-1; alpha is as it is.
    quad.colors = vec![vec![[0.0, 0.033_104_766, 1.0, 0.4]; 5]];
    quad.uvs = vec![vec![[0.5, 0.25]; 5]];
    quad.normals = Some(vec![[0.0, 0.6, 0.8]; 5]);
    quad.attributes
        .insert("mask".into(), Attribute::Scalar(vec![0.1; 5]));
    quad.attributes
        .insert("velocity".into(), Attribute::Vec3(vec![[0.1, 0.2, 0.3]; 5]));
    quad.attributes
        .insert("pair".into(), Attribute::Vec2(vec![[0.1, 0.2]; 5]));
    quad.attributes.insert(
        "rest".into(),
        Attribute::Vec4(vec![[0.1, 0.2, 0.3, 0.4]; 5]),
    );
    let many = Mesh::new(
        "x",
        Topology::from_polygons(
            300,
            Polygons {
                offsets: vec![0, 300],
                indices: (0..300).collect(),
            },
        )
        .expect("valid"),
        (0..300).map(|i| [i as f32, 0.0, 0.0]).collect(),
    );
    let cloud = Mesh::new(
        "x",
        Topology::new(3, Vec::new()).expect("valid"),
        vec![[1.0; 3]; 3],
    );
    for mesh in [quad, many, cloud, meshes::degenerate()] {
        for encoding in [PlyEncoding::Binary, PlyEncoding::Ascii] {
            for float_colors in [false, true] {
                let path = dir.path().join("x.ply");
                let options = PlyOptions {
                    encoding,
                    float_colors,
                };
                write_ply(&path, &[Surface::from(&mesh)], options).expect("written");
                let asset = read_ply(&path).expect("read");
                let back = &asset.meshes[0];
                assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
                assert_eq!(back.positions, mesh.positions);
                assert_eq!(back.topology, mesh.topology);
                assert_eq!(back.normals, mesh.normals);
                assert_eq!(back.uvs, mesh.uvs);
                assert_eq!(back.colors, mesh.colors, "bytes hold these colours exactly");
                assert_eq!(back.attributes, mesh.attributes);
            }
        }
    }
}

#[test]
fn malformed_file_with_a_huge_count_is_refused_at_once() {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let error =
        read_ply(&data.join("malformed/ply_header_1e9_vertices.ply")).expect_err("three vertices");
    assert!(
        error
            .to_string()
            .contains("element vertex: found 1000000000 entries in"),
        "{error}"
    );
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn any_header_and_body_are_read_or_refused(
        format in "(ascii|binary_little_endian|binary_big_endian)",
        properties in prop::collection::vec("(element (vertex|face|edge) [0-9]{1,10}|property (float|list (uchar|int|float) (int|double)|double|char) (x|y|z|nx|vertex_indices|a_x|a_y|s|t))", 0..12),
        body in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let mut bytes = format!("ply\nformat {format} 1.0\n{}\nend_header\n", properties.join("\n")).into_bytes();
        bytes.extend(body);
        let _ = parse(&bytes);
    }

    #[test]
    fn changed_bytes_are_read_or_refused(at in 0..QUAD.len(), byte: u8) {
        let mut bytes = QUAD.as_bytes().to_vec();
        bytes[at] = byte;
        let _ = parse(&bytes);
    }
}

#[test]
fn thousands_of_attributes_do_not_look_for_each_other() {
    let mut text = "ply\nformat ascii 1.0\nelement vertex 1\n".to_owned();
    for name in ["x", "y", "z"] {
        text += &format!("property float {name}\n");
    }
    for i in 0..5000 {
        text += &format!("property float a{i}_x\n");
    }
    text += "property float b_x\nproperty float b_y\nend_header\n";
    text += &"1 ".repeat(5005);
    let mesh = &parse(text.as_bytes()).expect("valid").meshes[0];
    assert_eq!(mesh.attributes.len(), 5001);
    assert_eq!(mesh.attributes["a7_x"], Attribute::Scalar(vec![1.0]));
    assert_eq!(mesh.attributes["b"], Attribute::Vec2(vec![[1.0, 1.0]]));
}

#[test]
fn of_properties_with_one_name_the_first_counts() {
    let text = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n\
        property float m\nproperty float m\nend_header\n0 0 0 1 2\n";
    let mesh = &parse(text.as_bytes()).expect("valid").meshes[0];
    assert_eq!(mesh.attributes["m"], Attribute::Scalar(vec![1.0]));
}

#[test]
fn doubles_far_away_are_counted_from_an_origin_or_warned_of() {
    let text = "ply\nformat ascii 1.0\nelement vertex 3\nproperty double x\nproperty uchar mask\nproperty double y\nproperty double z\nelement face 1\n\
        property list uchar int vertex_indices\nend_header\n512345.7125 7 5401234.3375 1\n512346.7125 7 5401234.3375 1\n512345.7125 7 5401235.3375 1\n3 0 1 2\n";
    let path = Path::new("far.ply");
    let (asset, of_file) = parse_ply_from(text.as_bytes(), path, [0.0; 3]).expect("valid");
    assert!(of_file.loss > 0.1, "{}", of_file.loss);
    assert_eq!(asset.warnings[0].code, "positions_rounded");
    let origin = of_file.origin().expect("far away");
    let (asset, of_file) = parse_ply_from(text.as_bytes(), path, origin).expect("valid");
    assert!(asset.warnings.is_empty() && of_file.loss < 1e-7);
    let mesh = &asset.meshes[0];
    assert_eq!(mesh.positions[0], [-0.2875, -0.6625, 0.0]);
    assert_eq!(mesh.attributes["mask"], Attribute::Scalar(vec![7.0; 3]));
    // Single precision loses nothing more of what was single precision.
    let single = text.replace("double", "float");
    let (asset, of_file) = parse_ply_from(single.as_bytes(), path, [0.0; 3]).expect("valid");
    assert!(asset.warnings.len() <= 1 && of_file.has_vertices());
    // Split vertices know their points.
    assert_eq!(
        parse(WEDGES.as_bytes()).expect("valid").meshes[0].points,
        [0, 1, 2, 3, 0]
    );
}
