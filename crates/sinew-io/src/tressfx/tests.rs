//! Files made here word by word, the wrong ones by name, and real ones.

use super::*;
use crate::{IoError, read_any};
use proptest::prelude::*;
use sinew_geom::{Influences, LocalTransform, Mesh, Node, Rig, Topology, Trs};
use sinew_testkit::shared_data;
use std::path::Path;

/// Header and body of a `.tfx` file, as the format describes them.
fn tfx(words: [u32; 7], body: &[f32]) -> Vec<u8> {
    let mut out = 4.0_f32.to_le_bytes().to_vec();
    out.extend(words.iter().flat_map(|w| w.to_le_bytes()));
    out.extend([0; 128]);
    out.extend(body.iter().flat_map(|f| f.to_le_bytes()));
    out
}

/// Three strands of four vertices along +X with UVs; the last one has no length.
fn three() -> Vec<u8> {
    let vertex = |strand: usize, v: usize| {
        let along = if strand == 2 { 0.0 } else { v as f32 * 0.5 };
        [along, strand as f32, -1.0, if v < 2 { 0.0 } else { 1.0 }]
    };
    let vertices = (0..3).flat_map(|s| (0..4).flat_map(move |v| vertex(s, v)));
    let uvs = (0..3).flat_map(|s| [s as f32 * 0.25, 1.0]);
    let body: Vec<f32> = vertices.chain(uvs).collect();
    tfx([3, 4, 160, 160 + 3 * 4 * 16, 0, 0, 0], &body)
}

fn strands(bytes: &[u8]) -> Result<TfxStrands, IoError> {
    parse_tfx(bytes, Path::new("hair.tfx"))
}

#[track_caller]
fn refused(result: Result<impl Sized, IoError>, words: &str) {
    let text = result.err().expect("malformed").to_string();
    assert!(text.contains(words), "'{text}' lacks '{words}'");
}

fn codes(warnings: &[sinew_geom::Warning]) -> Vec<&str> {
    warnings.iter().map(|w| w.code).collect()
}

#[test]
fn strands_are_what_the_words_say() {
    let found = strands(&three()).expect("valid");
    assert_eq!((found.strand_count(), found.vertices_per_strand), (3, 4));
    let second = found.strands().nth(1).expect("three");
    assert_eq!(second[3], [1.5, 1.0, -1.0, 1.0]);
    assert_eq!(
        found.root_uvs.as_deref(),
        Some(&[[0.0, 1.0], [0.25, 1.0], [0.5, 1.0]][..])
    );
    assert_eq!(
        (&found.vertex_uvs, &found.thickness, &found.colors),
        (&None, &None, &None)
    );
    assert_eq!(codes(&found.warnings), ["strands_without_length"]);
}

#[test]
fn all_lists_come_back_byte_for_byte() {
    let (s, v) = (2, 4);
    let sizes = [s * v * 4, s * 2, s * v * 2, s, s * v * 4];
    let mut offsets = [160_u32; 5];
    for i in 1..5 {
        offsets[i] = offsets[i - 1] + 4 * sizes[i - 1] as u32;
    }
    let body: Vec<f32> = (0..sizes.iter().sum()).map(|i| i as f32 * 0.37).collect();
    let [a, b, c, d, e] = offsets;
    let bytes = tfx([s as u32, v as u32, a, b, c, d, e], &body);
    let found = strands(&bytes).expect("valid");
    assert_eq!(found.thickness.as_ref().map(Vec::len), Some(s));
    assert_eq!(
        found.colors.as_ref().expect("colours")[7][3],
        body[body.len() - 1]
    );
    assert_eq!(written(&found), bytes);
}

fn written(strands: &TfxStrands) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.tfx");
    write_tfx(&path, strands).expect("writes");
    std::fs::read(path).expect("there")
}

/// The exporter's mistake: the header counts curves that the body leaves out.
#[test]
fn strands_that_are_not_there_are_a_warning() {
    let full = three();
    let mut short = full[..160 + 2 * 4 * 16].to_vec();
    short.extend(&full[160 + 3 * 4 * 16..160 + 3 * 4 * 16 + 2 * 8]);
    let found = strands(&short).expect("two of three");
    assert_eq!(found.strand_count(), 2);
    assert_eq!(
        found.root_uvs.as_deref(),
        Some(&[[0.0, 1.0], [0.25, 1.0]][..])
    );
    assert_eq!(codes(&found.warnings), ["fewer_strands"]);
    // Without UVs, too.
    let mut plain = full[..160 + 2 * 4 * 16].to_vec();
    plain[16..20].fill(0);
    assert_eq!(strands(&plain).expect("two of three").strand_count(), 2);
}

#[test]
fn wrong_strands_are_refused_with_their_place() {
    let with = |at: usize, word: u32| {
        let mut bytes = three();
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        strands(&bytes)
    };
    refused(strands(&three()[..90]), "hair.tfx: header: found 90 bytes");
    refused(
        strands(&three()[..300]),
        "bytes 12 to 15, vertices: found a file of 300 bytes, expected 352 bytes",
    );
    refused(with(0, 3.0_f32.to_bits()), "version 3");
    refused(with(0, f32::NAN.to_bits()), "version NaN");
    refused(with(4, 1 << 31), "strands");
    refused(
        with(8, 0),
        "bytes 8 to 11, vertices per strand: found 0, expected at least 2",
    );
    refused(with(8, u32::MAX), "expected");
    refused(with(12, 8), "offset 8, expected an offset of at least 160");
    refused(with(16, u32::MAX), "texture coordinates of roots");
    refused(with(28, 4), "colours of vertices: found offset 4");
    refused(
        with(160 + 8, f32::INFINITY.to_bits()),
        "byte 168, vertices: found inf",
    );
    let mut longer = three();
    longer.extend([1, 2, 3]);
    let warnings = strands(&longer).expect("valid").warnings;
    assert!(
        codes(&warnings).contains(&"bytes_behind_the_end"),
        "{warnings:?}"
    );
}

#[test]
fn what_cannot_be_read_again_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.tfx");
    let good = strands(&three()).expect("valid");
    let fail = |s: TfxStrands, words: &str| refused(write_tfx(&path, &s), words);
    fail(
        TfxStrands {
            vertices_per_strand: 6,
            ..good.clone()
        },
        "resample",
    );
    let mut odd = good.clone();
    odd.vertices.pop();
    fail(odd, "vertices: found 11, expected 8");
    fail(
        TfxStrands {
            thickness: Some(vec![1.0]),
            ..good.clone()
        },
        "thickness of strands: found 1, expected 3",
    );
    let mut infinite = good;
    infinite.vertices[0][0] = f32::NAN;
    fail(infinite, "NaN");
    assert!(!path.exists());
}

/// Bones "root" and "head"; strand 0 half and half with a sum of 0.8, strand 1 on none.
fn bone_file() -> Vec<u8> {
    let mut out = Vec::new();
    let mut word = |n: i32| out.extend(n.to_le_bytes());
    word(2);
    word(0);
    word(5);
    out.extend(b"root\0");
    out.extend(1_i32.to_le_bytes());
    out.extend(5_i32.to_le_bytes());
    out.extend(b"head\0");
    out.extend(2_i32.to_le_bytes());
    let strands: [[(i32, f32); 4]; 2] = [
        [(1, 0.4), (0, 0.4), (0, 0.0), (-1, 0.0)],
        [(-1, 0.0), (-1, 0.0), (-1, 0.0), (-1, 0.0)],
    ];
    for (index, strand) in (0_i32..).zip(strands) {
        out.extend(index.to_le_bytes());
        for (bone, weight) in strand {
            out.extend(bone.to_le_bytes());
            out.extend(weight.to_le_bytes());
        }
    }
    out
}

fn bones(bytes: &[u8]) -> Result<TfxBones, IoError> {
    parse_tfx_bones(bytes, Path::new("hair.tfxbone"))
}

#[test]
fn bones_and_their_weights() {
    let found = bones(&bone_file()).expect("valid");
    assert_eq!(found.bones, ["root", "head"]);
    assert_eq!(
        found.strands[0][0],
        BoneWeight {
            bone: 1,
            weight: 0.4
        }
    );
    let influences = found.influences().expect("in range");
    let rows: Vec<Vec<(u32, f32)>> = (0..2).map(|v| influences.row(v).collect()).collect();
    let mut first = rows[0].clone();
    first.sort_by_key(|i| i.0);
    assert_eq!(first, [(0, 0.5), (1, 0.5)]);
    assert_eq!(rows[1], [(0, 1.0)], "without any weight");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("out.tfxbone");
    write_tfx_bones(&path, &found).expect("writes");
    assert_eq!(std::fs::read(&path).expect("there"), bone_file());
    let mut wrong = found;
    wrong.strands[0][0].bone = 2;
    refused(write_tfx_bones(&path, &wrong), "strand 0, bone 0: found 2");
}

#[test]
fn wrong_bones_are_refused_with_their_place() {
    let with = |at: usize, word: i32| {
        let mut bytes = bone_file();
        bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
        bones(&bytes)
    };
    let second_strand = bone_file().len() - 36;
    refused(bones(&[]), "byte 0, number of bones: found 0 bytes");
    refused(
        with(0, i32::MAX),
        "number of bones: found 2147483647, expected 0 to",
    );
    refused(with(0, -1), "found -1");
    refused(with(4, 7), "index of bone 0: found 7, expected 0");
    refused(
        with(8, 0),
        "name of bone 0: found '', expected a name that ends with a zero",
    );
    refused(with(8, 1 << 20), "name of bone 0");
    refused(with(8, 4), "expected a name that ends with a zero");
    refused(
        with(second_strand - 40, 3),
        "number of strands: found 3, expected 0 to 2",
    );
    refused(
        with(second_strand, 5),
        "index of strand 1: found 5, expected 1",
    );
    refused(
        with(second_strand + 4, 2),
        "strand 1, bone 0: found 2, expected -1 for none, or a bone index below 2",
    );
    refused(
        with(second_strand + 8, (-1.0_f32).to_bits() as i32),
        "strand 1, weight 0: found -1",
    );
    refused(
        with(second_strand + 8, f32::NAN.to_bits() as i32),
        "strand 1, weight 0: found NaN",
    );
    let mut longer = bone_file();
    longer.push(0);
    assert_eq!(
        codes(&bones(&longer).expect("valid").warnings),
        ["bytes_behind_the_end"]
    );
}

const MESH: &str = "# by hand\nnumOfBones 2\n0 root\n1 left hand\n\nnumOfVertices 3\n# vertices\n\
    0 0 0 0 0 0 1 1 0 0 0 0.5 0.25 0 0\n1 1 0 0 0 0 1 -1 1 0 0 0.5 1 0 0\n2 0 1e+00 0 0 0 2 0 0 0 0 1 0 0 0\n\
    numOfTriangles 1e+00\n0 0 1 2\n";

fn mesh(text: &str) -> Result<sinew_geom::Asset, IoError> {
    parse_tfx_mesh(text.as_bytes(), Path::new("skull.tfxmesh"))
}

#[test]
fn collision_meshes_are_skinned_meshes() {
    let asset = mesh(MESH).expect("valid");
    let m = &asset.meshes[0];
    assert_eq!(
        (m.name.as_str(), m.topology.triangles()),
        ("skull", &[[0, 1, 2]][..])
    );
    assert_eq!(m.positions[2], [0.0, 1.0, 0.0]);
    assert_eq!(m.normals.as_ref().expect("normals")[2], [0.0, 0.0, 1.0]);
    let names: Vec<&str> = asset.rig.nodes().iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["root", "left hand"]);
    let influences = m.influences.as_ref().expect("skinned");
    let mut row: Vec<(u32, f32)> = influences.row(0).collect();
    row.sort_by_key(|i| i.0);
    let third = 1.0 / 3.0;
    assert!(
        (row[0].1 - third).abs() < 1e-6 && (row[1].1 - 2.0 * third).abs() < 1e-6,
        "{row:?}"
    );
    assert_eq!(
        influences.row(1).collect::<Vec<_>>(),
        [(1, 1.0)],
        "-1 is no bone"
    );
    assert_eq!(codes(&asset.warnings), ["weights_not_normalised"]);
    // With the line ends of another system.
    assert_eq!(
        mesh(&MESH.replace('\n', "\r\n")).expect("valid").meshes[0].positions,
        m.positions
    );
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_collision_mesh() {
    let marked = mesh(&["\u{feff}", MESH].concat()).expect("valid");
    assert_eq!(marked.meshes[0].vertex_count(), 3);
}

#[test]
fn wrong_collision_meshes_are_refused_with_their_line() {
    let with = |from: &str, to: &str| mesh(&MESH.replacen(from, to, 1));
    refused(
        mesh(""),
        "end of the file: found no more lines, expected numOfBones",
    );
    refused(
        with("numOfBones 2", "numOfBones two"),
        "line 2: found 'numOfBones two'",
    );
    refused(with("numOfBones 2", "numOfBones -2"), "line 2");
    refused(with("numOfBones 2", "numOfBones 3"), "line 6");
    refused(with("numOfVertices 3", "numOfVertices 1e+09"), "line 11");
    refused(with("1 left hand", "1"), "a bone name in UTF-8");
    refused(with("\n1 1 0 0", "\n2 1 0 0"), "line 9");
    refused(with("0 0 0 0 0 0 1 1 0", "0 0 x 0 0 0 1 1 0"), "line 8");
    refused(with("0.5 0.25 0 0", "0.5 0.25 0"), "14 numbers");
    refused(with("0.5 0.25 0 0", "0.5 nan 0 0"), "line 8");
    refused(
        with("1 -1 1 0 0", "1 -2 1 0 0"),
        "line 9: found '-2', expected -1 for none, or a bone index below 2",
    );
    refused(
        with("1 -1 1 0 0", "1 2 1 0 0"),
        "line 9: found '2', expected -1 for none, or a bone index below 2",
    );
    refused(with("0 0 1 2\n", "0 0 1 3\n"), "line 12");
    refused(
        mesh(&format!("{MESH}more\n")),
        "the end of the file after the triangles",
    );
}

#[test]
fn meshes_come_back_and_say_what_is_lost() {
    let names = ["a", "b", "c", "d", "e"];
    let node = |name: &&str| Node {
        name: (*name).to_owned(),
        parent: None,
        local: LocalTransform::Trs(Trs::default()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let joint = |node| sinew_geom::Joint {
        node,
        joint_from_bind: sinew_geom::Affine::identity(),
    };
    let rig = Rig::new(
        names.iter().map(node).collect(),
        (0..5).map(joint).collect(),
    )
    .expect("a rig");
    let topology = Topology::new(3, vec![[0, 2, 1]]).expect("a triangle");
    let mut m = Mesh::new(
        "m",
        topology,
        vec![[0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [-1e-7, 5e8, 0.0]],
    );
    refused(
        write_tfx_mesh(Path::new("no.tfxmesh"), &m, &rig),
        "normals and joint weights",
    );
    m.normals = Some(vec![[0.0, 0.0, 1.0]; 3]);
    let rows: [&[(u32, f32)]; 3] = [
        &[(0, 0.1), (1, 0.3), (2, 0.2), (3, 0.25), (4, 0.15)],
        &[(4, 1.0)],
        &[(3, 0.5), (1, 0.5)],
    ];
    m.influences = Some(
        Influences::from_rows(rows.into_iter(), 5, 0)
            .expect("in range")
            .0,
    );
    m.uvs = vec![vec![[0.0; 2]; 3]];
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.tfxmesh");
    let warnings = write_tfx_mesh(&path, &m, &rig).expect("writes");
    assert_eq!(codes(&warnings), ["influences_left_out", "not_in_tfxmesh"]);
    let back = read_any(&path).expect("reads").asset;
    let b = &back.meshes[0];
    assert_eq!(
        (&b.positions, b.topology.triangles()),
        (&m.positions, m.topology.triangles())
    );
    let influences = b.influences.as_ref().expect("skinned");
    let mut row: Vec<(u32, f32)> = influences.row(0).collect();
    row.sort_by_key(|i| i.0);
    let expected = [(1, 0.3), (2, 0.2), (3, 0.25), (4, 0.15)];
    for (found, expected) in row.iter().zip(expected) {
        assert!(
            found.0 == expected.0 && (found.1 - expected.1 / 0.9).abs() < 1e-6,
            "{row:?}"
        );
    }
    assert_eq!(influences.row(1).collect::<Vec<_>>(), [(4, 1.0)]);
    let mut unnamed = Rig::new(vec![node(&"")], vec![joint(0)]).expect("a rig");
    refused(write_tfx_mesh(&path, &m, &unnamed), "joint 0: found ''");
    unnamed = Rig::new(vec![node(&"a")], vec![joint(0)]).expect("a rig");
    refused(
        write_tfx_mesh(&path, &m, &unnamed),
        "expected a joint below 1",
    );
}

proptest! {
    /// Whatever is changed or cut: a result or an error, never a panic.
    #[test]
    fn broken_files_are_no_panic(at in 0..400_usize, byte in any::<u8>(), end in 0..400_usize) {
        for file in [three(), bone_file(), MESH.as_bytes().to_vec()] {
            let mut bytes = file;
            if let Some(b) = bytes.get_mut(at) {
                *b = byte;
            }
            bytes.truncate(end.max(at + 1));
            let path = Path::new("any");
            let _ = parse_tfx(&bytes, path);
            let _ = parse_tfx_bones(&bytes, path).map(|b| b.influences().expect("checked"));
            let _ = parse_tfx_mesh(&bytes, path);
        }
    }
}

#[test]
fn real_files_come_back() {
    let Some(data) = shared_data() else {
        return;
    };
    let hair = data.join("hair");
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("out");
    // Counts as the notes beside the files give them.
    for (name, count, has_uvs) in [
        ("Ratboy_mohawk.tfx", 2228, true),
        ("sintel_hair.tfx", 228, false),
        ("mh_male_hair.tfx", 600, true),
    ] {
        let path = hair.join(name);
        let found = read_tfx(&path).expect(name);
        assert_eq!(
            (found.strand_count(), found.vertices_per_strand),
            (count, 32),
            "{name}"
        );
        assert_eq!(found.root_uvs.is_some(), has_uvs, "{name}");
        write_tfx(&out, &found).expect(name);
        assert!(
            std::fs::read(&out).expect("out") == std::fs::read(&path).expect(name),
            "{name}"
        );
    }
    for (name, bone_count, count) in [
        ("Ratboy_mohawk.tfxbone", 105, 2228),
        ("mh_male_hair.tfxbone", 53, 600),
    ] {
        let path = hair.join(name);
        let found = read_tfx_bones(&path).expect(name);
        assert_eq!(
            (found.bones.len(), found.strands.len()),
            (bone_count, count),
            "{name}"
        );
        found.influences().expect(name);
        write_tfx_bones(&out, &found).expect(name);
        assert!(
            std::fs::read(&out).expect("out") == std::fs::read(&path).expect(name),
            "{name}"
        );
    }
    for (name, bones, vertices, triangles) in [
        ("Ratboy_body.tfxmesh", 86, 12_909, 25_814),
        ("Ratboy_left_hand.tfxmesh", 16, 1_247, 2_490),
        ("mh_male_body.tfxmesh", 53, 14_517, 26_756),
    ] {
        let asset = read_tfx_mesh(&hair.join(name)).expect(name);
        let mesh = &asset.meshes[0];
        let counts = (
            asset.rig.joints().len(),
            mesh.vertex_count(),
            mesh.topology.triangles().len(),
        );
        assert_eq!(counts, (bones, vertices, triangles), "{name}");
        write_tfx_mesh(&out, mesh, &asset.rig).expect(name);
        let back = read_tfx_mesh(&out).expect(name);
        assert_eq!(back.meshes[0].positions, mesh.positions, "{name}");
        assert_eq!(
            back.meshes[0].topology.triangles(),
            mesh.topology.triangles(),
            "{name}"
        );
    }
}

#[test]
fn malformed_files_are_refused_with_their_place() {
    let Some(data) = shared_data() else {
        return;
    };
    let folder = data.join("malformed");
    let refuse = |name: &str, words: &str| {
        let path = folder.join(name);
        match path.extension().and_then(|e| e.to_str()) {
            Some("tfx") => refused(read_tfx(&path), words),
            Some("tfxbone") => refused(read_tfx_bones(&path), words),
            _ => refused(read_tfx_mesh(&path), words),
        }
    };
    read_tfx(&folder.join("_valid_base.tfx")).expect("valid");
    read_tfx_bones(&folder.join("_valid_base.tfxbone")).expect("valid");
    refuse(
        "tfx_2e31_strands.tfx",
        "found 2147483648 strands in a file of 1792 bytes, expected at most 12 strands",
    );
    refuse("tfx_truncated.tfx", "vertices: found a file of 700 bytes");
    refuse("tfx_verts_per_strand_0.tfx", "vertices per strand: found 0");
    refuse(
        "tfxbone_index_out_of_range.tfxbone",
        "strand 3, bone 0: found 77, expected -1 for none, or a bone index below 8",
    );
    refuse(
        "tfxmesh_fewer_vertices.tfxmesh",
        "expected line 4 of the 9 of numOfVertices",
    );
}

#[test]
fn repeated_points_are_told_with_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hair.tfx");
    // Two strands of four vertices along +X; the last one of the second is there twice.
    let vertex = |s: usize, v: usize| {
        let along = if s == 1 { v.min(2) } else { v };
        [along as f32 * 0.1, s as f32, 0.0, 1.0]
    };
    let vertices = (0..2).flat_map(|s| (0..4).flat_map(move |v| vertex(s, v)));
    let body: Vec<f32> = vertices.collect();
    std::fs::write(&path, tfx([2, 4, 160, 0, 0, 0, 0], &body)).expect("written");
    let asset = read_tfx_asset(&path).expect("valid");
    assert_eq!(codes(&asset.warnings), ["points_repeated"]);
    let message = &asset.warnings[0].message;
    let words = "1 point repeats the previous point in 1 strand of 'hair' (first: strand 1)";
    assert!(message.starts_with(words), "{message}");
    // Without length at all is another matter, and has a warning of its own.
    std::fs::write(&path, three()).expect("written");
    let asset = read_tfx_asset(&path).expect("valid");
    assert_eq!(codes(&asset.warnings), ["strands_without_length"]);
}
