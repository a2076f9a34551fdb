//! Strands in files: what is written comes back, and other programs' rules hold.

use crate::gltf_write::{FrameInterpolation, GlbOptions, write_glb};
use crate::obj::write_obj;
use crate::ply::{PlyEncoding, PlyOptions, write_ply};
use crate::{CachedMesh, FrameCache, FrameData, Surface, read_any, write_npz};
use sinew_geom::{Attribute, Mesh, Strands, Topology};
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
            frames: [0.0, 0.25, 1.0].map(frame).into(),
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
    let mesh = asset.merged_strands(&sinew_geom::Selection::All);
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
