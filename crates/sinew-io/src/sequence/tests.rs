use super::*;
use sinew_testkit::{meshes, shared_data};

#[test]
fn names_are_split_at_the_last_digits() {
    let split = |name: &str| numbered(name).map(|(p, n)| (p.prefix, n, p.suffix));
    assert_eq!(split("a_0012.ply"), Some(("a_".into(), 12, ".ply".into())));
    assert_eq!(
        split("take2.007.obj"),
        Some(("take2.".into(), 7, ".obj".into()))
    );
    assert_eq!(split("a.ply"), None);
    assert_eq!(
        hash_pattern("a_##.ply").map(|p| p.prefix),
        Some("a_".into())
    );
    assert_eq!(hash_pattern("a#b#.ply"), None);
}

#[test]
fn sequences_come_back_with_numbers_and_gaps() {
    let dir = tempfile::tempdir().expect("temp");
    let sequence = MeshSequence {
        frames: vec![
            meshes::cube(),
            meshes::grid(2, 3),
            meshes::sphere(4, 5),
            meshes::cube(),
        ],
        numbers: vec![9, 10, 12, 20],
    };
    for name in ["out_##.ply", "out.obj"] {
        let folder = dir.path().join(&name[name.len() - 3..]);
        std::fs::create_dir(&folder).expect("folder");
        let path = folder.join(name);
        let format = MeshFormat::of(&path).expect("known");
        write_mesh_sequence(&path, format, &sequence).expect("written");
        let first = if name.contains('#') {
            "out_09.ply"
        } else {
            "out_0009.obj"
        };
        let pattern = if name.contains('#') {
            "out_#.ply"
        } else {
            "out_####.obj"
        };
        for by in [folder.clone(), folder.join(first), folder.join(pattern)] {
            let asset = read_sequence(&by).expect("read");
            let back = asset.sequence.expect("a sequence");
            assert_eq!(asset.name, "out");
            assert_eq!(back.numbers, sequence.numbers);
            for (a, b) in back.frames.iter().zip(&sequence.frames) {
                assert_eq!((&a.positions, &a.topology), (&b.positions, &b.topology));
            }
            assert_eq!(asset.warnings.len(), 1, "{:?}", asset.warnings);
            assert_eq!(asset.warnings[0].message, "numbers 11, 13-19 are missing");
        }
    }
    std::fs::write(dir.path().join("ply/other_1.obj"), "").expect("write");
    let error = find_sequence(&dir.path().join("ply"))
        .expect_err("two sequences")
        .to_string();
    assert!(error.contains("other_#.obj, out_#.ply"), "{error}");
    find_sequence(&dir.path().join("ply/nothing_###.ply")).expect_err("no file");
    let fault = |name: &str| {
        let found = find_sequence(&dir.path().join(name));
        found.expect_err("no sequence").to_string()
    };
    let missing = fault("ply/out_0011.ply");
    assert!(missing.starts_with("cannot read"), "{missing}");
    for (name, part) in [
        ("alone/out.ply", "expected a number or ####"),
        ("alone/out_01.abc", "OBJ and PLY are read"),
        (
            "alone",
            "1 .abc files, 1 .ply files without a number, 1 folders",
        ),
        ("alone/within", "found nothing"),
    ] {
        std::fs::create_dir_all(dir.path().join("alone/within")).expect("folder");
        for file in ["alone/out.ply", "alone/out_01.abc"] {
            std::fs::write(dir.path().join(file), "").expect("write");
        }
        let error = fault(name);
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn frames_of_a_cache_become_files() {
    let dir = tempfile::tempdir().expect("temp");
    let mesh = meshes::cube();
    let frame = |k: f32| crate::FrameData {
        positions: mesh
            .positions
            .iter()
            .map(|p| [p[0] + k, p[1], p[2]])
            .collect(),
        ..crate::FrameData::default()
    };
    let cached = |name: &str| crate::CachedMesh {
        name: name.into(),
        mesh: &mesh,
        frames: vec![frame(0.0), frame(1.0)],
    };
    let cache = FrameCache {
        meshes: vec![cached("a"), cached("b")],
        times_secs: vec![0.0, 0.1],
    };
    for name in ["x.ply", "x.obj"] {
        let path = dir.path().join("new").join(name);
        let format = MeshFormat::of(&path).expect("known");
        write_frame_sequence(&path, format, &cache, 1).expect("written");
        let ending = name.replace('.', "_0002.");
        let asset = read_sequence(&dir.path().join("new").join(ending)).expect("read");
        let frames = asset.sequence.expect("a sequence").frames;
        assert_eq!(frames.len(), 2);
        assert_eq!(
            frames[1].positions[24..],
            cache.meshes[1].frames[1].positions
        );
        assert_eq!(frames[1].topology.triangles().len(), 24);
    }
}

#[test]
fn real_sequences_have_the_documented_counts() {
    let Some(data) = shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    for (name, frames, vertices, triangles) in [
        ("liquid_splash", 60, 3608..=4976, 7212..=9948),
        ("cloth_drape", 60, 2401..=2401, 4608..=4608),
        ("boolean_cut", 40, 640..=736, 1280..=1472),
        ("particles", 60, 1..=654, 0..=0),
    ] {
        let asset = read_sequence(&data.join("sequences").join(name)).expect("valid");
        assert!(asset.warnings.is_empty(), "{name}: {:?}", asset.warnings);
        let s = asset.sequence.expect("a sequence");
        assert_eq!((s.frames.len(), s.numbers[0]), (frames, 1), "{name}");
        let counts = |count: fn(&Mesh) -> usize| {
            let all = || s.frames.iter().map(count);
            all().min().unwrap_or(0)..=all().max().unwrap_or(0)
        };
        assert_eq!(counts(Mesh::vertex_count), vertices, "{name}");
        assert_eq!(
            counts(|m| m.topology.triangles().len()),
            triangles,
            "{name}"
        );
        let sum: usize = s.frames.iter().map(|m| m.topology.triangles().len()).sum();
        if name == "liquid_splash" {
            assert_eq!(sum, 502_856);
        }
        if name == "particles" {
            let keys: Vec<&String> = s.frames[9].attributes.keys().collect();
            assert_eq!(keys, ["age", "id", "size", "velocity"]);
        }
    }
}
