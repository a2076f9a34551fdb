use super::*;
use crate::{CachedFrame, CachedMesh, FrameData, IoError, MeshFormat, Surface, write_npz};
use proptest::prelude::*;
use sinew_geom::Mesh;
use sinew_testkit::meshes;
use std::path::{Path, PathBuf};

fn all(path: &Path) -> Vec<Vec<[f32; 3]>> {
    let mut reader = PointCacheReader::open(path).expect("opens");
    let mut sample = |k| {
        let mut out = Vec::new();
        reader.read(k, &mut out).expect("reads");
        out
    };
    let mut out = Vec::new();
    while out.len() < PointCacheReader::open(path).expect("opens").samples() {
        out.push(sample(out.len()));
    }
    out
}

fn refused(path: &Path, bytes: &[u8]) -> String {
    let opened = PointCacheReader::of_bytes(path, bytes.to_vec());
    opened.expect_err("refused").to_string()
}

/// The mesh in frame `k`: numbers that text files keep.
fn moved(mesh: &Mesh, k: usize) -> Vec<[f32; 3]> {
    let moved = |p: &[f32; 3]| [p[0], p[1] + k as f32 / 4.0, p[2] * 1.5];
    mesh.positions.iter().map(moved).collect()
}

#[test]
fn both_formats_come_back_and_have_the_documented_bytes() {
    let mesh = meshes::cube();
    // Two meshes after each other.
    let fill = |mut writer: PointCacheWriter| {
        for k in 0..3 {
            let positions = moved(&mesh, k);
            let both = [&positions[..], &positions[..]];
            writer.frame(both.into_iter()).expect("written");
        }
        writer.finish().expect("there");
    };
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("x.pc2");
    fill(PointCacheWriter::pc2(&path, 48, 3, 1.0, 0.5).expect("starts"));
    let bytes = std::fs::read(&path).expect("file");
    assert_eq!(bytes.len(), 32 + 3 * 48 * 12);
    assert_eq!(bytes[..20], *b"POINTCACHE2\0\x01\0\0\0\x30\0\0\0");
    assert_eq!(bytes[20..32], [0, 0, 0x80, 0x3f, 0, 0, 0, 0x3f, 3, 0, 0, 0]);
    let reader = PointCacheReader::open(&path).expect("opens");
    let expected = PointTiming::Sampled {
        start_frame: 1.0,
        sample_rate: 0.5,
    };
    assert_eq!((reader.timing(), reader.points()), (&expected, 48));
    assert_eq!(all(&path)[2][24..], moved(&mesh, 2));
    let path = dir.path().join("x.mdd");
    fill(PointCacheWriter::mdd(&path, 48, &[0.0, 0.5, 1.0]).expect("starts"));
    let bytes = std::fs::read(&path).expect("file");
    assert_eq!(
        bytes[..16],
        [0, 0, 0, 3, 0, 0, 0, 48, 0, 0, 0, 0, 0x3f, 0, 0, 0]
    );
    let reader = PointCacheReader::open(&path).expect("opens");
    assert_eq!(*reader.timing(), PointTiming::Seconds(vec![0.0, 0.5, 1.0]));
    assert_eq!(all(&path)[2][24..], moved(&mesh, 2));
    refused(&path, &bytes[..bytes.len() - 1]);
}

fn numbered(dir: &Path, ending: &str, frames: &[Mesh]) -> PathBuf {
    for (k, mesh) in frames.iter().enumerate() {
        let path = dir.join(format!("sim_{:03}.{ending}", 10 + k));
        let format = MeshFormat::of(&path).expect("known");
        format
            .write(&path, &[Surface::from(mesh)])
            .expect("written");
    }
    dir.join(format!("sim_###.{ending}"))
}

/// A mesh of points without seams, in three frames.
fn frames() -> Vec<Mesh> {
    let mut mesh = meshes::grid(4, 3);
    (mesh.normals, mesh.uvs) = (None, Vec::new());
    let frame = |k| Mesh {
        positions: moved(&mesh, k),
        ..mesh.clone()
    };
    (0..3).map(frame).collect()
}

#[test]
fn numbered_files_and_npz_are_point_caches_too() {
    let dir = tempfile::tempdir().expect("temp");
    let frames = frames();
    let expected: Vec<_> = frames.iter().map(|f| f.positions.clone()).collect();
    for ending in ["obj", "ply"] {
        let path = numbered(dir.path(), ending, &frames);
        assert_eq!(all(&path), expected, "{ending}");
        let reader = PointCacheReader::open(&path).expect("opens");
        assert_eq!(*reader.timing(), PointTiming::Numbered(vec![10, 11, 12]));
    }
    let path = dir.path().join("x.npz");
    let cached = |mesh: &Mesh| {
        CachedFrame::from(FrameData {
            positions: mesh.positions.clone(),
            ..FrameData::default()
        })
    };
    let mesh = CachedMesh {
        name: "body".into(),
        mesh: &frames[0],
        frames: frames.iter().map(cached).collect(),
    };
    write_npz(&path, &mesh, &[0.0, 0.25, 0.5], &[]).expect("written");
    assert_eq!(all(&path), expected);
    let reader = PointCacheReader::open(&path).expect("opens");
    assert_eq!(*reader.timing(), PointTiming::Seconds(vec![0.0, 0.25, 0.5]));
    let bytes = std::fs::read(&path).expect("file");
    for end in 0..bytes.len() {
        refused(&path, &bytes[..end]);
    }
}

#[test]
fn numpy_writes_what_the_reader_reads() {
    let dir = tempfile::tempdir().expect("temp");
    let made = crate::npz::reader::python(
        &dir.path().join("x.npz"),
        "import sys, numpy as n; p = sys.argv[1]; a = n.arange(24.0).reshape(2, 4, 3)\n\
         n.savez(p, positions=a); n.savez_compressed(p + 'c.npz', positions=a)\n\
         n.savez(p + 'f.npz', positions=n.asfortranarray(a)); n.savez(p + 's.npz', positions=a[0])",
    );
    if !made {
        return;
    }
    let path = |more: &str| dir.path().join(format!("x.npz{more}"));
    let expected: Vec<[f32; 3]> = (12_u8..24)
        .map(f32::from)
        .collect::<Vec<_>>()
        .as_chunks()
        .0
        .to_vec();
    assert_eq!(all(&path(""))[1], expected);
    for (file, part) in [
        ("c.npz", "numpy.savez_compressed"),
        ("f.npz", "Fortran order"),
        ("s.npz", "frames, points, 3"),
    ] {
        let error = PointCacheReader::open(&path(file)).expect_err("refused");
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[test]
fn files_with_other_faces_are_named() {
    let dir = tempfile::tempdir().expect("temp");
    let mut frames = frames();
    frames[2] = meshes::grid(3, 4);
    let path = numbered(dir.path(), "ply", &frames);
    let mut reader = PointCacheReader::open(&path).expect("opens");
    reader.read(1, &mut Vec::new()).expect("the same faces");
    let error = reader.read(2, &mut Vec::new()).expect_err("other faces");
    let error = error.to_string();
    assert!(
        error.contains("sim_012.ply") && error.contains("same topology"),
        "{error}"
    );
}

#[test]
fn a_cache_that_is_not_finished_leaves_nothing() {
    let dir = tempfile::tempdir().expect("temp");
    let path = dir.path().join("x.pc2");
    let start = || PointCacheWriter::pc2(&path, 2, 2, 0.0, 1.0).expect("starts");
    let refused = |points: &[[f32; 3]], part: &str| {
        let error = start().frame([points].into_iter()).expect_err("refused");
        assert!(error.to_string().contains(part), "{error}");
    };
    refused(&[[0.0; 3]], "points of a frame: found 1, expected 2");
    refused(&[[0.0; 3], [0.0, f32::NAN, 0.0]], "vertex 1");
    let mut writer = start();
    writer
        .frame([&[[0.0; 3]; 2][..]].into_iter())
        .expect("written");
    let error = writer.finish().expect_err("one frame of two").to_string();
    assert!(error.contains("frames: found 1, expected 2"), "{error}");
    assert_eq!(std::fs::read_dir(dir.path()).expect("reads").count(), 0);
}

fn pc2_bytes(points: i32, rate: f32, numbers: &[f32]) -> Vec<u8> {
    let mut out = b"POINTCACHE2\0\x01\0\0\0".to_vec();
    out.extend(points.to_le_bytes());
    out.extend([3.0, rate].map(f32::to_le_bytes).as_flattened());
    out.extend((numbers.len() as i32 / 3 / points.max(1)).to_le_bytes());
    out.extend(numbers.iter().flat_map(|n| n.to_le_bytes()));
    out
}

#[test]
fn wrong_caches_are_refused_with_frame_and_point() {
    let pc2 = Path::new("x.pc2");
    let mut numbers = [0.5_f32; 12];
    numbers[9] = f32::NAN;
    let mut reader = PointCacheReader::of_bytes(pc2, pc2_bytes(2, 1.0, &numbers)).expect("opens");
    let mut out = Vec::new();
    reader.read(0, &mut out).expect("finite");
    let error = reader.read(1, &mut out).expect_err("NaN").to_string();
    assert!(error.contains("sample 1 (frame 4), point 1"), "{error}");
    assert!(reader.read(2, &mut out).is_err(), "there are two samples");
    let error = refused(pc2, &pc2_bytes(2, 0.0, &numbers));
    assert!(error.contains("frames per sample: found 0"), "{error}");
    let error = refused(pc2, &pc2_bytes(0, 1.0, &[]));
    assert!(error.contains("points: found 0"), "{error}");
    // Found by fuzzing: two frames of no points, two times.
    let bytes = [0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 186];
    refused(Path::new("x.mdd"), &bytes);
    let mut bytes = vec![0, 0, 0, 2, 0, 0, 0, 1];
    bytes.extend([1.0_f32, 1.0].map(f32::to_be_bytes).as_flattened());
    bytes.extend([0; 24]);
    let error = refused(Path::new("x.mdd"), &bytes);
    assert!(error.contains("time of sample 1: found 1"), "{error}");
    let error = PointCacheReader::open(Path::new("x.abc")).expect_err("unknown");
    assert!(matches!(error, IoError::Unsupported { .. }), "{error}");
}

#[test]
fn frames_find_their_samples() {
    let blend = |before, after, share| SampleBlend {
        before,
        after,
        share,
    };
    let every_second = PointTiming::Sampled {
        start_frame: 2.0,
        sample_rate: 2.0,
    };
    let at = |number| every_second.blend(3, number, 0.0);
    assert_eq!(
        [0, 2, 3, 6, 9].map(at),
        [
            blend(0, 0, 0.0),
            blend(0, 0, 0.0),
            blend(0, 1, 0.5),
            blend(2, 2, 0.0),
            blend(2, 2, 0.0),
        ]
    );
    assert_eq!(every_second.frames(3, 30.0), (2, 6));
    let numbered = PointTiming::Numbered(vec![1, 2, 6]);
    let at = |number| numbered.blend(3, number, 0.0);
    assert_eq!(
        [-5, 1, 3, 6, 7].map(at),
        [
            blend(0, 0, 0.0),
            blend(0, 0, 0.0),
            blend(1, 2, 0.25),
            blend(2, 2, 0.0),
            blend(2, 2, 0.0),
        ]
    );
    assert_eq!(numbered.frames(3, 30.0), (1, 6));
    // Single precision rounds times: every frame still is a sample, also after hours.
    let times: Vec<f32> = (0..400_000_u32)
        .map(|k| (f64::from(k) / 24.0) as f32)
        .collect();
    let seconds = PointTiming::Seconds(times);
    for k in [0, 1, 7, 23, 1001, 86_399, 399_999] {
        let found = seconds.blend(400_000, k, k as f64 / 24.0);
        assert_eq!(found, blend(k as usize, k as usize, 0.0), "frame {k}");
    }
    assert_eq!(seconds.frames(400_000, 24.0), (0, 399_999));
    let half = seconds.blend(400_000, 0, 2.5 / 24.0);
    assert_eq!((half.before, half.after), (2, 3));
    assert!((half.share - 0.5).abs() < 1e-6, "{half:?}");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100), header: bool) {
        let mut all = if header { b"POINTCACHE2\0\x01\0\0\0".to_vec() } else { Vec::new() };
        all.extend(bytes);
        for name in ["x.pc2", "x.mdd", "x.npz"] {
            let opened = PointCacheReader::of_bytes(Path::new(name), all.clone());
            if let Ok(mut reader) = opened {
                let _ = reader.read(0, &mut Vec::new());
            }
        }
    }
}

#[test]
fn rates_are_those_of_evenly_spaced_times() {
    let rate = |times: &[f32]| PointTiming::Seconds(times.to_vec()).samples_per_second();
    let at_30: Vec<f32> = (10..100_u8).map(|k| f32::from(k) / 30.0).collect();
    let found = rate(&at_30).expect("even");
    assert!((found - 30.0).abs() < 1e-3, "{found}");
    for none in [&[][..], &[1.0], &[0.0, 0.1, 0.3]] {
        assert_eq!(rate(none), None);
    }
    assert_eq!(PointTiming::Numbered(vec![1, 2]).samples_per_second(), None);
}
