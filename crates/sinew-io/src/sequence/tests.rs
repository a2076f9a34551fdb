use super::*;
use crate::case_files::case_file;
use sinew_geom::Mesh;
use sinew_testkit::{meshes, shared_data};

#[test]
fn names_are_split_at_their_numbers() {
    let split = |name: &str| {
        let all = patterns(name).into_iter();
        let each = |p: Pattern| (p.to_string(), p.number_in(name).expect("a number"));
        all.map(each).collect::<Vec<_>>()
    };
    let expected = |all: &[(&str, i64)]| {
        let all = all.iter().map(|(p, n)| ((*p).to_owned(), *n));
        all.collect::<Vec<_>>()
    };
    for (name, all) in [
        ("a_0012.ply", &[("a_#.ply", 12)][..]),
        ("take2.007.obj", &[("take#.007.obj", 2), ("take2.#.obj", 7)]),
        ("a.ply", &[]),
        ("a.mp4", &[]),
        ("a_-003.ply", &[("a_#.ply", -3)]),
        ("-003.ply", &[("#.ply", -3)]),
        ("a-003.ply", &[("a-#.ply", 3)]),
        ("a--3_b.ply", &[("a-#_b.ply", -3)]),
        (
            "99999999999999999999_1.ply",
            &[("99999999999999999999_#.ply", 1)],
        ),
        ("\u{e9}1\u{e9}.ply", &[("\u{e9}#\u{e9}.ply", 1)]),
    ] {
        assert_eq!(split(name), expected(all), "{name}");
    }
    let fits = |pattern: &str, name: &str| hash_pattern(pattern)?.number_in(name);
    assert_eq!(fits("a_##.ply", "a_-0123.ply"), Some(-123));
    assert_eq!(fits("a##.ply", "a-0123.ply"), None);
    assert_eq!(fits("a_#_b.ply", "a_0123_b.ply"), Some(123));
    assert_eq!(fits("a_#_b.ply", "a_b.ply"), None);
    assert_eq!(hash_pattern("a#b#.ply"), None);
}

/// Numbers of the sequence that `path` leads to, in a folder of files with these names; `.` for the folder.
fn numbers_of(names: &[&str], path: &str) -> Result<Vec<i64>, String> {
    let dir = tempfile::tempdir().expect("temp");
    for name in names {
        std::fs::write(dir.path().join(name), "v 0 0 0\n").expect("write");
    }
    let found = find_sequence(&dir.path().join(path));
    let found = found.map_err(|e| e.to_string())?;
    for (number, path) in &found.files {
        let digits = number.unsigned_abs().to_string();
        assert!(path.to_string_lossy().contains(&digits), "{path:?}");
    }
    Ok(found.files.into_iter().map(|f| f.0).collect())
}

#[test]
fn negative_numbers_come_first() {
    let names = ["s_-001.obj", "s_-010.obj", "s_0000.obj", "s_0002.obj"];
    for path in [".", "s_-001.obj", "s_0002.obj", "s_####.obj"] {
        assert_eq!(numbers_of(&names, path), Ok(vec![-10, -1, 0, 2]), "{path}");
    }
    let said = |numbers: &[i64]| gaps(numbers).remove(0).message;
    assert_eq!(
        said(&[-10, -1, 0, 2, 9]),
        "frame numbers -9 to -2, 1, 3-8 are missing"
    );
    assert_eq!(said(&[-3, -1]), "frame number -2 is missing");
    let widest = "frame numbers -9223372036854775807 to 9223372036854775806 are missing";
    assert_eq!(said(&[i64::MIN, i64::MAX]), widest);
    let folder = "sequences/10_names_negative_frames";
    for path in ["", "/splash_-003.ply", "/splash_####.ply"] {
        let Some(folder) = case_file(folder) else {
            return;
        };
        let path = PathBuf::from(format!("{}{path}", folder.display()));
        let asset = read_sequence(&path).expect("a sequence");
        let sequence = asset.sequence.expect("a sequence");
        assert_eq!(sequence.numbers, [-3, -2, -1, 0, 1, 2, 3]);
        let middle = |mesh: &Mesh| {
            let x = mesh.positions.iter().map(|p| p[0]);
            x.sum::<f32>() / mesh.vertex_count() as f32
        };
        let step = middle(&sequence.frames[1]) - middle(&sequence.frames[0]);
        assert!((step - 0.25).abs() < 1e-5, "{step}");
    }
}

#[test]
fn numbers_may_be_anywhere() {
    let names = ["f_1_mesh.obj", "f_2_mesh.obj", "f_10_mesh.obj"];
    for path in [".", "f_2_mesh.obj", "f_##_mesh.obj"] {
        assert_eq!(numbers_of(&names, path), Ok(vec![1, 2, 10]), "{path}");
    }
    // What differs counts, not what stands last.
    let versions = ["f_1_v2.obj", "f_2_v2.obj", "f_3_v2.obj"];
    assert_eq!(numbers_of(&versions, "."), Ok(vec![1, 2, 3]));
    assert_eq!(numbers_of(&versions, "f_3_v2.obj"), Ok(vec![1, 2, 3]));
    // A file beside a sequence is none, whatever its name has in the middle.
    let beside = ["f_1.obj", "f_2.obj", "f_2_backup.obj", "notes_3.txt"];
    assert_eq!(numbers_of(&beside, "."), Ok(vec![1, 2]));
    let two = [
        "take1_01.obj",
        "take1_02.obj",
        "take2_01.obj",
        "take2_02.obj",
    ];
    let error = numbers_of(&two, ".").expect_err("two");
    assert!(error.contains("found take1_#.obj, take2_#.obj"), "{error}");
    assert_eq!(numbers_of(&two, "take2_01.obj"), Ok(vec![1, 2]));
    if let Some(folder) = case_file("sequences/11_names_number_in_the_middle") {
        for path in ["", "Frame_#####_mesh.ply", "Frame_00002_mesh.ply"] {
            let files = find_sequence(&folder.join(path)).expect("a sequence");
            let numbers: Vec<i64> = files.files.iter().map(|f| f.0).collect();
            assert_eq!((numbers, files.name.as_str()), (vec![0, 1, 2, 3], "Frame"));
        }
    }
}

#[test]
fn two_files_of_one_number_are_refused() {
    for path in [".", "a_1.obj", "a_#.obj"] {
        let error = numbers_of(&["a_1.obj", "a_01.obj", "a_2.obj"], path).expect_err("two");
        let expected = "found 'a_01.obj' and 'a_1.obj' with the same frame number 1, expected one file per frame number";
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn empty_frames_between_full_ones_are_told() {
    let read = |texts: &[&str]| {
        let dir = tempfile::tempdir().expect("temp");
        for (k, text) in texts.iter().enumerate() {
            std::fs::write(dir.path().join(format!("w_{k}.obj")), text).expect("write");
        }
        let warnings = read_sequence(dir.path()).expect("a sequence").warnings;
        let all = warnings.into_iter().map(|w| w.message);
        all.collect::<Vec<_>>()
    };
    let full = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let points = "v 0 0 0\n";
    let found = read(&[points, full, points, full, full, points, points]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("frame 2 ('w_2.obj') has no triangles"),
        "{found:?}"
    );
    let found = read(&[full, points, points, full]);
    assert!(
        found[0].starts_with("frames 1 ('w_1.obj'), 2 ('w_2.obj') have no"),
        "{found:?}"
    );
    assert_eq!(read(&[points; 3]), [""; 0]);
    // Nothing at all is told wherever it is.
    let found = read(&[full, full, " \n"]);
    assert!(
        found[0].contains("w_2.obj") && found[0].contains("is empty"),
        "{found:?}"
    );
    if let Some(folder) = case_file("sequences/17_empty_file_in_sequence") {
        let warnings = read_sequence(&folder).expect("a sequence").warnings;
        let all: Vec<&str> = warnings.iter().map(|w| w.message.as_str()).collect();
        assert!(
            all.iter().any(|m| m.contains("frame 3 ('w_003.obj')")),
            "{all:?}"
        );
    }
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
            assert_eq!(
                asset.warnings[0].message,
                "frame numbers 11, 13-19 are missing"
            );
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
        (
            "alone/out.ply",
            "expected a sequence: a frame number in the name",
        ),
        ("alone/out_01.abc", "use OBJ or PLY"),
        (
            "alone",
            "1 .abc files, 1 .ply files without a frame number, 1 folders",
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
