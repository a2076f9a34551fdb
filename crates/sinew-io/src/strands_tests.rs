//! Strands in files: what is written comes back, and other programs' rules hold.

use crate::gltf_write::{
    FrameInterpolation, GlbOptions, add_strands, character_glb, read_glb_chunks, write_glb,
};
use crate::npz::reader;
use crate::obj::write_obj;
use crate::ply::{PlyEncoding, PlyOptions, write_ply};
use crate::tressfx::write_tfx_asset;
use crate::{CachedMesh, FrameCache, FrameData, Surface, read_any, write_npz, write_npz_meshes};
use sinew_geom::{
    Affine, Asset, Attribute, GrowAmount, GrowMaps, GrowSettings, Influences, Joint,
    LocalTransform, Mesh, Node, Rig, Selection, Strands, THICKNESS, Topology, Trs, grow,
};
use sinew_testkit::shared_data;

fn hair() -> Mesh {
    let strands = Strands::new([3, 2, 4]).expect("valid");
    let point = |i: u8| [f32::from(i), f32::from(i).sqrt(), -0.5];
    let positions = (0..9).map(point).collect();
    Mesh::new("hair", Topology::from_strands(strands), positions)
}

fn frames(mesh: &Mesh) -> FrameCache<'_> {
    let lifted = |lift: f32| {
        mesh.positions
            .iter()
            .map(move |p| [p[0], p[1] + lift * p[0], p[2]])
    };
    let frame = |lift: f32| FrameData {
        positions: lifted(lift).collect(),
        tangents: Some(vec![[1.0, 0.0, 0.0, 1.0]; mesh.vertex_count()]),
        ..FrameData::default()
    };
    FrameCache {
        meshes: vec![CachedMesh {
            name: "hair".into(),
            mesh,
            frames: [0.0, 0.25, 1.0].map(|lift| frame(lift).into()).into(),
        }],
        times_secs: vec![0.0, 0.5, 1.0],
    }
}

#[test]
fn glb_keeps_strands_and_their_frames() {
    let folder = tempfile::tempdir().expect("writable");
    let path = folder.path().join("hair.glb");
    let mesh = hair();
    let cache = frames(&mesh);
    let options = GlbOptions {
        interpolation: FrameInterpolation::Step,
        ..GlbOptions::default()
    };
    write_glb(&path, &cache, &options).expect("writes");
    let asset = read_any(&path).expect("reads").asset;
    assert!(asset.meshes.is_empty(), "no triangles");
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    let found = &asset.strands[0];
    assert_eq!(found.topology, mesh.topology);
    assert_eq!(found.positions, mesh.positions);
    let lifted = &found.morph_targets[1];
    for (&v, delta) in lifted.vertices.iter().zip(&lifted.positions) {
        assert_eq!(delta[0], 0.0);
        assert!((delta[1] - v as f32).abs() < 1e-6);
    }
    assert_eq!(lifted.vertices.len(), 8, "all but the first move");
}

#[test]
fn text_formats_say_which_vertices_are_joined() {
    let folder = tempfile::tempdir().expect("writable");
    let mesh = hair();
    let surface = Surface::from(&mesh);
    let ply = folder.path().join("hair.ply");
    let ascii = PlyOptions {
        encoding: PlyEncoding::Ascii,
        ..PlyOptions::default()
    };
    write_ply(&ply, &[surface, surface], ascii).expect("writes");
    let text = std::fs::read_to_string(&ply).expect("there");
    let header = "element edge 12\nproperty int vertex1\nproperty int vertex2\n";
    assert!(text.contains(header), "{text}");
    let edges = "7 8\n9 10\n10 11\n12 13\n14 15\n15 16\n16 17\n";
    assert!(text.ends_with(edges), "{text}");
    let obj = folder.path().join("hair.obj");
    write_obj(&obj, &[surface]).expect("writes");
    let text = std::fs::read_to_string(&obj).expect("there");
    assert!(text.ends_with("l 1 2 3\nl 4 5\nl 6 7 8 9\n"), "{text}");
}

#[test]
fn binary_ply_has_two_words_an_edge() {
    let folder = tempfile::tempdir().expect("writable");
    let mesh = hair();
    let path = folder.path().join("hair.ply");
    write_ply(&path, &[Surface::from(&mesh)], PlyOptions::default()).expect("writes");
    let bytes = std::fs::read(&path).expect("there");
    let edges = &bytes[bytes.len() - 6 * 8..];
    let words = edges.as_chunks().0.iter();
    let words: Vec<u32> = words.map(|w| u32::from_le_bytes(*w)).collect();
    assert_eq!(words, [0, 1, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8]);
}

#[test]
fn arrays_have_the_offsets_of_strands() {
    let folder = tempfile::tempdir().expect("writable");
    let path = folder.path().join("hair.npz");
    let mesh = hair();
    let cache = frames(&mesh);
    write_npz(&path, &cache.meshes[0], &cache.times_secs, &[]).expect("writes");
    let bytes = std::fs::read(&path).expect("there");
    let name = b"strand_offsets.npy";
    let at = bytes.windows(name.len()).position(|w| w == name);
    let rest = &bytes[at.expect("an array")..];
    // NPY: the header is text up to a line end, the words follow.
    let end = rest.iter().position(|b| *b == b'\n').expect("a header") + 1;
    let words = rest[end..end + 16].as_chunks().0.iter();
    let words: Vec<u32> = words.map(|w| u32::from_le_bytes(*w)).collect();
    assert_eq!(words, [0, 3, 5, 9]);
}

#[test]
fn tressfx_strands_follow_the_bones_beside_them() {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let asset = read_any(&data.join("hair/Ratboy_mohawk.tfx"));
    let asset = asset.expect("reads").asset;
    let mesh = asset.merged_strands(&Selection::All);
    let mesh = mesh.expect("strands");
    mesh.check().expect("arrays fit");
    let strands = mesh.topology.strands().expect("strands");
    assert_eq!((strands.len(), strands.vertex_count()), (2228, 2228 * 32));
    assert_eq!(asset.rig.joints().len(), 105);
    assert!(asset.joints_are_names);
    let Some(Attribute::Scalar(masses)) = mesh.attributes.get("inverse_mass") else {
        panic!("no masses");
    };
    // The exporter pins the first two vertices of each strand.
    let is_pinned = |first: usize| masses[first..first + 3] == [0.0, 0.0, 1.0];
    assert!(strands.ranges().all(|r| is_pinned(r.start)));
    let influences = mesh.influences.as_ref().expect("bones");
    for range in strands.ranges() {
        let of_root: Vec<_> = influences.row(range.start).collect();
        let of_tip: Vec<_> = influences.row(range.end - 1).collect();
        assert_eq!(of_root, of_tip, "one strand, one row");
        let sum: f32 = of_root.iter().map(|r| r.1).sum();
        assert!((sum - 1.0).abs() < 1e-5);
    }
    let codes: Vec<&str> = asset.warnings.iter().map(|w| w.code).collect();
    assert!(codes.contains(&"weights_not_normalised"), "{codes:?}");
}

#[test]
fn bones_of_other_strands_are_refused() {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let folder = tempfile::tempdir().expect("writable");
    let strands = folder.path().join("a.tfx");
    std::fs::copy(data.join("hair/mh_male_hair.tfx"), &strands).expect("copies");
    let free = read_any(&strands).expect("without bones").asset;
    assert!(free.strands[0].influences.is_none());
    let bones = folder.path().join("a.tfxbone");
    std::fs::copy(data.join("hair/Ratboy_mohawk.tfxbone"), bones).expect("copies");
    let error = read_any(&strands).expect_err("2228 strands").to_string();
    assert!(
        error.contains("a.tfxbone") && error.contains("2228"),
        "{error}"
    );
}

/// Three guides of four vertices on joints of a rig of three, and a follower.
fn bound_hair() -> (Mesh, Rig) {
    let strands = Strands::new([4; 4]).expect("valid");
    let strands = strands.with_guides(vec![0, 1, 2, 1]).expect("valid");
    let point = |i: u8| [f32::from(i), f32::from(i).sqrt(), -0.5];
    let positions: Vec<[f32; 3]> = (0..16).map(point).collect();
    let mut mesh = Mesh::new("hair", Topology::from_strands(strands), positions);
    let rows: [&[(u32, f32)]; 4] = [
        &[(2, 0.75), (0, 0.25)],
        &[(2, 1.0)],
        &[(0, 1.0)],
        &[(2, 1.0)],
    ];
    let rows = (0..16).map(|v| rows[v / 4]);
    mesh.influences = Some(Influences::from_rows(rows, 3, 0).expect("valid").0);
    let thickness = (0..16_u8).map(|v| 0.1 + 0.1 * f32::from(v / 4));
    let thickness = Attribute::Scalar(thickness.collect());
    mesh.attributes.insert("thickness".into(), thickness);
    mesh.uvs = vec![(0..16_u8).map(|v| [f32::from(v / 4) * 0.25, 0.5]).collect()];
    let nodes = ["root", "neck", "head"].map(|name| Node {
        name: name.into(),
        parent: None,
        local: LocalTransform::Trs(Trs::default()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    });
    let joints = (0..3).map(|node| Joint {
        node,
        joint_from_bind: Affine::identity(),
    });
    let rig = Rig::new(nodes.into(), joints.collect()).expect("a rig");
    (mesh, rig)
}

#[test]
fn tressfx_files_of_strands_come_back() {
    let folder = tempfile::tempdir().expect("writable");
    let path = folder.path().join("hair.tfx");
    let (mesh, rig) = bound_hair();
    let warnings = write_tfx_asset(&path, &mesh, &rig).expect("writes");
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].message, "1 follower strands are not written");
    let asset = read_any(&path).expect("reads").asset;
    assert!(asset.warnings.is_empty(), "{:?}", asset.warnings);
    let found = &asset.strands[0];
    assert_eq!(found.positions, mesh.positions[..12]);
    assert_eq!(found.topology.strands().map(Strands::len), Some(3));
    let masses = Attribute::Scalar([0.0, 0.0, 1.0, 1.0].repeat(3));
    assert_eq!(found.attributes.get("inverse_mass"), Some(&masses));
    let Some(Attribute::Scalar(thickness)) = found.attributes.get("thickness") else {
        panic!("thickness");
    };
    assert_eq!(thickness[4..8], [0.2; 4]);
    assert_eq!(found.uvs[0][..], mesh.uvs[0][..12]);
    let names = |v: usize| -> Vec<(String, f32)> {
        let row = found.influences.as_ref().expect("bones").row(v);
        row.map(|(j, w)| (asset.rig.joint_name(j as usize).to_owned(), w))
            .collect()
    };
    assert_eq!(names(3), [("head".into(), 0.75), ("root".into(), 0.25)]);
    assert_eq!(names(8), [("root".into(), 1.0)]);
}

#[test]
fn strands_of_different_lengths_are_no_tressfx_file() {
    let folder = tempfile::tempdir().expect("writable");
    let path = folder.path().join("hair.tfx");
    let error = write_tfx_asset(&path, &hair(), &Rig::default()).expect_err("refused");
    assert!(
        error
            .to_string()
            .contains("a mix of strands with 3 and with 2 vertices"),
        "{error}"
    );
    assert!(!path.exists());
}

/// Strands go into the file of their character, on its joints; nothing else in it changes.
#[test]
fn strands_join_the_file_of_their_character() {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    let folder = tempfile::tempdir().expect("writable");
    let source = data.join("characters/fox.glb");
    let read = read_any(&source).expect("reads");
    let body = read.asset.merged(&Selection::All).expect("a body");
    let normals = vec![[0.0, 1.0, 0.0]; body.vertex_count()];
    let mut settings = GrowSettings::default();
    settings.amount = GrowAmount::Strands(200);
    settings.vertices = 5;
    let hair = grow(&body, &normals, &GrowMaps::default(), &settings).expect("grows");
    let path = folder.path().join("furry.glb");
    let gltf = read.gltf.as_ref().expect("a glTF file");
    add_strands(&source, gltf, &read.asset.rig, &hair, &path).expect("writes");
    let with = read_any(&path).expect("reads").asset;
    assert_eq!(with.meshes.len(), read.asset.meshes.len());
    assert_eq!(with.meshes[0].positions, read.asset.meshes[0].positions);
    assert_eq!(with.clips.len(), read.asset.clips.len());
    let found = with.merged_strands(&Selection::All).expect("strands");
    assert_eq!(found.topology.strands(), hair.topology.strands());
    assert_eq!(
        found.attributes.get("inverse_mass"),
        hair.attributes.get("inverse_mass")
    );
    assert_eq!(found.uvs, hair.uvs);
    for (a, b) in found.positions.iter().zip(&hair.positions) {
        let apart = (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f32::max);
        assert!(
            apart <= 1e-4 * 100.0_f32.max(b[0].abs()) / 100.0,
            "{a:?} {b:?}"
        );
    }
    let rows = |mesh: &Mesh, rig: &Rig, v: usize| -> Vec<(String, f32)> {
        let influences = mesh.influences.as_ref().expect("weights");
        let row = influences.row(v);
        let mut row: Vec<_> = row
            .map(|(j, w)| (rig.joint_name(j as usize).to_owned(), w))
            .collect();
        row.sort_by(|a, b| a.0.cmp(&b.0));
        row
    };
    for v in (0..hair.positions.len()).step_by(7) {
        let (a, b) = (rows(&found, &with.rig, v), rows(&hair, &read.asset.rig, v));
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(&b) {
            assert_eq!(a.0, b.0);
            assert!((a.1 - b.1).abs() < 1e-6);
        }
    }
    // The bind pose of each joint is the body's.
    let joint = found.influences.as_ref().expect("weights").joints()[0] as usize;
    let name = with.rig.joint_name(joint);
    let of_body = read.asset.rig.find_joint(name).expect("the body's");
    let difference = with.rig.joints()[joint].joint_from_bind.linear
        - read.asset.rig.joints()[of_body].joint_from_bind.linear;
    assert!(difference.norm() < 1e-4, "{difference}");
}

/// Nine thicknesses, of which none is like another.
/// A character without a file: its strands are written with it, and follow the same joints.
#[test]
fn strands_of_a_new_character_come_back() {
    let folder = tempfile::tempdir().expect("writable");
    let path = folder.path().join("new.glb");
    let (mut mesh, rig) = bound_hair();
    let comb = Attribute::Vec3(mesh.positions.clone());
    mesh.attributes.insert("comb".into(), comb);
    let asset = Asset {
        strands: vec![mesh.clone()],
        rig: rig.into(),
        ..Asset::default()
    };
    let (glb, _) = character_glb(&path, &asset, None).expect("an asset");
    std::fs::write(&path, glb).expect("a file");
    let read = read_any(&path).expect("reads").asset;
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    let [found] = &read.strands[..] else {
        panic!("{} meshes of strands", read.strands.len());
    };
    assert_eq!(found.positions, mesh.positions);
    assert_eq!(found.uvs, mesh.uvs);
    assert_eq!(found.attributes, mesh.attributes);
    assert_eq!(
        found.topology.strands().map(Strands::offsets),
        Some(&[0, 4, 8, 12, 16][..])
    );
    let rows = |mesh: &Mesh, rig: &Rig, v: usize| -> Vec<(String, f32)> {
        let row = mesh.influences.as_ref().expect("bound").row(v);
        row.map(|(j, w)| (rig.joint_name(j as usize).to_owned(), w))
            .collect()
    };
    for v in 0..16 {
        let expected = rows(&mesh, &asset.rig, v);
        assert_eq!(rows(found, &read.rig, v), expected, "vertex {v}");
    }
}

fn thick_hair() -> (Mesh, Attribute) {
    let mut mesh = hair();
    let thickness = Attribute::Scalar((0..9_u8).map(|v| 1e-4 - 1e-5 * f32::from(v)).collect());
    mesh.attributes.insert(THICKNESS.into(), thickness.clone());
    (mesh, thickness)
}

#[test]
fn glb_holds_how_thick_strands_are() {
    let folder = tempfile::tempdir().expect("writable");
    let path = folder.path().join("hair.glb");
    let (mesh, thickness) = thick_hair();
    write_glb(&path, &frames(&mesh), &GlbOptions::default()).expect("writes");
    let bytes = std::fs::read(&path).expect("there");
    let file = read_glb_chunks(&bytes, &path).expect("a GLB");
    let file: serde_json::Value = serde_json::from_slice(file.json).expect("JSON");
    let primitive = &file["meshes"][0]["primitives"][0];
    let accessor = primitive["attributes"]["_THICKNESS"]
        .as_u64()
        .expect("there");
    let accessor = &file["accessors"][accessor as usize];
    assert_eq!(accessor["type"], "SCALAR");
    assert_eq!(accessor["componentType"], 5126, "single precision");
    assert_eq!(accessor["count"], 9);
    for target in primitive["targets"].as_array().expect("frames") {
        assert!(target.get("_THICKNESS").is_none(), "it does not change");
    }
    let found = read_any(&path).expect("reads").asset;
    assert_eq!(found.strands[0].attributes.get(THICKNESS), Some(&thickness));
    // A surface has none, whatever its attributes are called.
    let mut surface = sinew_testkit::meshes::cube();
    let numbers = Attribute::Scalar(vec![1.0; surface.vertex_count()]);
    surface.attributes.insert(THICKNESS.into(), numbers);
    assert_eq!(surface.strand_thickness(), None);
}

#[test]
fn ply_has_thickness_beside_surfaces_without() {
    let folder = tempfile::tempdir().expect("writable");
    let path = folder.path().join("both.ply");
    let (mesh, thickness) = thick_hair();
    let body = sinew_testkit::meshes::cube();
    let ascii = PlyOptions {
        encoding: PlyEncoding::Ascii,
        ..PlyOptions::default()
    };
    let surfaces = [Surface::from(&body), Surface::from(&mesh)];
    write_ply(&path, &surfaces, ascii).expect("writes");
    let text = std::fs::read_to_string(&path).expect("there");
    let (header, rows) = text.split_once("end_header\n").expect("a header");
    assert!(header.contains("property float thickness\n"), "{header}");
    let count = body.vertex_count();
    let last = |row: &str| -> f32 {
        let last = row.split_whitespace().last().expect("numbers");
        last.parse().expect("a number")
    };
    let found: Vec<f32> = rows.lines().take(count + 9).map(last).collect();
    assert_eq!(found[..count], vec![0.0; count]);
    assert_eq!(Attribute::Scalar(found[count..].to_vec()), thickness);
    let alone = folder.path().join("hair.ply");
    write_ply(&alone, &surfaces[1..], PlyOptions::default()).expect("writes");
    // Edges are not read, so that these are points.
    let found = read_any(&alone).expect("reads").asset;
    assert_eq!(found.meshes[0].attributes.get(THICKNESS), Some(&thickness));
}

#[test]
fn every_mesh_of_an_archive_has_all_its_arrays() {
    let folder = tempfile::tempdir().expect("writable");
    let path = folder.path().join("both.npz");
    let (mesh, thickness) = thick_hair();
    let body = sinew_testkit::meshes::cube();
    let mut cache = frames(&mesh);
    let hair = cache.meshes.remove(0);
    let frame = FrameData {
        positions: body.positions.clone(),
        normals: body.normals.clone(),
        ..FrameData::default()
    };
    let body_frames = || CachedMesh {
        name: "body".into(),
        mesh: &body,
        frames: vec![frame.clone().into(); 3],
    };
    let times = &cache.times_secs;
    write_npz_meshes(&path, &[body_frames(), hair.clone()], times, &[]).expect("writes");
    let found = reader::arrays(&path);
    let names: Vec<&str> = found.keys().map(String::as_str).collect();
    let mut expected = vec![
        "hair_indices",
        "hair_positions",
        "hair_strand_offsets",
        "hair_tangents",
        "hair_thickness",
        "indices",
        "positions",
        "times",
    ];
    if body.normals.is_some() {
        expected.insert(6, "normals");
    }
    assert_eq!(names, expected);
    let kind = |name: &str| (&*found[name].dtype, &*found[name].shape);
    assert_eq!(kind("hair_positions"), ("<f4", &[3, 9, 3][..]));
    assert_eq!(kind("hair_tangents"), ("<f4", &[3, 9, 4][..]));
    assert_eq!(kind("hair_strand_offsets"), ("<u4", &[4][..]));
    assert_eq!(kind("hair_thickness"), ("<f4", &[9][..]));
    let read = found["hair_thickness"].numbers("<f4");
    assert_eq!(Attribute::Scalar(read), thickness);
    // The first one has the plain names, whichever it is.
    write_npz_meshes(&path, &[hair.clone(), body_frames()], times, &[]).expect("writes");
    let found = reader::arrays(&path);
    for name in ["positions", "strand_offsets", "thickness", "body_positions"] {
        assert!(found.contains_key(name), "{name}");
    }
    let taken = crate::ExtraArray {
        name: "body_positions".into(),
        shape: Vec::new(),
        frames: vec![vec![0.0].into(); 3],
    };
    let error = write_npz_meshes(&path, &[hair, body_frames()], times, &[taken]);
    let message = error.expect_err("one name, two arrays").to_string();
    assert!(message.contains("body_positions"), "{message}");
    let error = write_npz_meshes(&path, &[], times, &[]).expect_err("nothing");
    assert!(
        error
            .to_string()
            .contains("expected at least one mesh or array"),
        "{error}"
    );
}
