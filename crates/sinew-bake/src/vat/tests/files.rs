//! Sequences of files: vertices that exporters split otherwise in each frame, coordinates far from the origin, empty files, materials.

use super::*;
use crate::{CarrierMaterial, FileFrames, FrameSource, LoadOrder, LoadedFrame};
use sinew_geom::MeshPart;
use sinew_geom::vec3::{cross, sub};
use std::fmt::Write as _;

const SIDE: usize = 5;

fn codes_of(summary: &Summary) -> Vec<&str> {
    summary.not_kept.iter().map(|n| n.0.as_str()).collect()
}

/// Writes frames as files and finds them again; `+Y` is up.
fn files(folder: &Path, frames: &[String], ending: &str) -> FileFrames {
    for (k, text) in frames.iter().enumerate() {
        std::fs::write(folder.join(format!("wave_{k:04}.{ending}")), text).expect("written");
    }
    FileFrames::new(sinew_io::find_sequence(folder).expect("a sequence"), false)
}

/// A grid in the plane of x and z that waves more and more, each quad with the normal of its own; each distinct normal is written once, as Blender does.
fn flat_shaded(frame: usize) -> String {
    let place = |i: usize, j: usize| {
        // Points at height 0 are still flat and have one normal.
        let waves = i + frame >= SIDE;
        let lift = 0.1 * frame as f32 * ((i as f32 + 0.3 * frame as f32).sin() + (j as f32).cos());
        let lift = if waves { lift } else { 0.0 };
        [i as f32, lift, j as f32]
    };
    let mut text = String::new();
    for (i, j) in cells(SIDE) {
        let [x, y, z] = place(i, j);
        let _ = writeln!(text, "v {x} {y} {z}");
    }
    let mut normals: Vec<[i32; 3]> = Vec::new();
    let mut faces = String::new();
    for (i, j) in cells(SIDE - 1) {
        let corner = |di: usize, dj: usize| place(i + di, j + dj);
        let (a, b, c, d) = (corner(0, 0), corner(0, 1), corner(1, 1), corner(1, 0));
        // Four digits, as exporters write them.
        let normal = cross(sub(c, a), sub(b, d)).map(|n| (n * 1e4).round() as i32);
        let known = normals.iter().position(|n| *n == normal);
        let n = known.unwrap_or_else(|| {
            normals.push(normal);
            normals.len() - 1
        }) + 1;
        let v = |di: usize, dj: usize| (i + di) * SIDE + j + dj + 1;
        let [a, b, c, d] = [v(0, 0), v(0, 1), v(1, 1), v(1, 0)];
        let _ = writeln!(faces, "f {a}//{n} {b}//{n} {c}//{n} {d}//{n}");
    }
    for [x, y, z] in normals {
        let _ = writeln!(text, "vn {x} {y} {z}");
    }
    text + &faces
}

fn cells(side: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..side).flat_map(move |i| (0..side).map(move |j| (i, j)))
}

#[test]
fn flat_shaded_files_that_number_normals_anew_keep_their_triangles() {
    for first in [0, 1] {
        let folder = tempfile::tempdir().expect("a folder");
        let frames: Vec<String> = (first..first + 5).map(flat_shaded).collect();
        let source = files(folder.path(), &frames, "obj");
        let counts = meshes_of(&source);
        let counts: Vec<usize> = counts.iter().map(Mesh::vertex_count).collect();
        assert!(counts.iter().any(|c| *c != counts[0]), "{counts:?}");
        let settings = VatSettings::default();
        let (folders, summary) = baked(&source, &settings);
        assert_eq!(summary.plan.mode(), Mode::Soft, "from frame {first} on");
        let tears = summary.plan.tears().expect("vertices are split");
        assert!(tears.are_edges, "{tears:?}");
        assert!(!tears.words().contains("cloth"), "{}", tears.words());
        let manifest = folders.manifest();
        assert!(manifest.splits_are_edges);
        // Each quad has four vertices of its own where its neighbours have other normals in some frame.
        assert!(manifest.layout.vertices <= 4 * 16, "{:?}", manifest.layout);
        assert!(manifest.layout.vertices > 25, "{:?}", manifest.layout);
        let found = folders.verified(&source, &settings);
        assert!(found.is_same(1e-4), "{found:?}");
    }
}

#[test]
fn equal_lists_of_faces_over_other_points_are_other_triangles() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut frames: Vec<String> = (1..5).map(flat_shaded).collect();
    // The last frame has its faces in another order.
    let (head, faces) = frames[3].split_at(frames[3].find("\nf ").expect("faces") + 1);
    let faces: Vec<&str> = faces.lines().rev().collect();
    frames[3] = format!("{head}{}\n", faces.join("\n"));
    let source = files(folder.path(), &frames, "obj");
    let (_, summary) = baked(&source, &VatSettings::default());
    assert_eq!(summary.plan.mode(), Mode::Remesh);
}

/// A sheet of a survey: +Z up, metres east, north and up, with millimetres; three frames.
fn survey(at: [f64; 3]) -> Vec<String> {
    let frame = |f: usize| {
        let mut text = format!(
            "ply\nformat ascii 1.0\nelement vertex {}\nproperty double x\nproperty double y\nproperty double z\nelement face {}\n\
             property list uchar int vertex_indices\nend_header\n",
            SIDE * SIDE,
            (SIDE - 1) * (SIDE - 1)
        );
        for (i, j) in cells(SIDE) {
            let lift = 0.05 * ((i + f) as f64).sin();
            let place = [0.137 * i as f64, 0.211 * j as f64, lift];
            let [x, y, z]: [f64; 3] = std::array::from_fn(|k| at[k] + place[k]);
            let _ = writeln!(text, "{x:.4} {y:.4} {z:.4}");
        }
        for (i, j) in cells(SIDE - 1) {
            let v = |di: usize, dj: usize| (i + di) * SIDE + j + dj;
            let _ = writeln!(text, "4 {} {} {} {}", v(0, 0), v(1, 0), v(1, 1), v(0, 1));
        }
        text
    };
    (0..3).map(frame).collect()
}

const FAR: [f64; 3] = [512_345.7, 5_401_234.3, 312.5];

#[test]
fn surveys_far_from_the_origin_are_baked_from_a_near_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let near_folder = tempfile::tempdir().expect("a folder");
    let settings = VatSettings::default();
    for (k, (far, near)) in survey(FAR).iter().zip(survey([-0.3, 0.3, 0.5])).enumerate() {
        std::fs::write(folder.path().join(format!("scan_{k}.ply")), far).expect("written");
        std::fs::write(near_folder.path().join(format!("scan_{k}.ply")), near).expect("written");
    }
    let of =
        |folder: &Path| FileFrames::new(sinew_io::find_sequence(folder).expect("a sequence"), true);
    let (source, near) = (of(folder.path()), of(near_folder.path()));
    assert_eq!(near.origin(), None);
    // +Z up becomes +Y up, and north -Z.
    let origin = [512_346.0, 313.0, -5_401_235.0];
    assert_eq!(source.origin(), Some(origin));
    let loaded = source.load(1).expect("reads");
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    assert!(loaded.read_loss < 1e-6, "{}", loaded.read_loss);
    // The same sheet, but for where it is.
    let expected = near.load(1).expect("reads").mesh;
    let shift: [f32; 3] =
        std::array::from_fn(|k| expected.positions[0][k] - loaded.mesh.positions[0][k]);
    for (found, expected) in loaded.mesh.positions.iter().zip(&expected.positions) {
        let back = std::array::from_fn(|k| found[k] + shift[k]);
        assert!(distance(back, *expected) < 1e-5, "{back:?} {expected:?}");
    }
    let (folders, summary) = baked(&source, &settings);
    let plan = &summary.plan;
    assert_eq!((plan.mode(), summary.origin), (Mode::Soft, Some(origin)));
    assert!(summary.read_loss.0 < 1e-6);
    let codes = codes_of(&summary);
    assert_eq!(codes, ["origin_moved"]);
    assert!(summary.warnings.is_empty(), "{:?}", summary.warnings);
    let manifest = folders.manifest();
    assert_eq!(manifest.origin, Some(origin));
    let found = folders.verified(&source, &settings);
    assert!(found.is_same(1e-4), "{found:?}");
    // A bake of the same sheet elsewhere is another one.
    let other = folders.verify(&near, &settings);
    let error = other.expect_err("another origin").to_string();
    assert!(error.contains("positions are counted from"), "{error}");
}

#[test]
fn what_reading_loses_is_part_of_every_accuracy() {
    let folder = tempfile::tempdir().expect("a folder");
    // The first frame is near, the others are not: their origin does not help them.
    let mut frames = survey([0.0; 3]);
    frames[1..].clone_from_slice(&survey(FAR)[1..]);
    let source = files(folder.path(), &frames, "ply");
    let settings = VatSettings {
        mode: Some(Mode::Soft),
        ..with_format(Quantity::Position, TexelFormat::Float)
    };
    let (folders, summary) = baked(&source, &settings);
    assert_eq!(summary.origin, None);
    let (loss, frame) = summary.read_loss;
    assert!(loss > 0.1 && frame > 0, "{loss} in {frame}");
    assert!(summary.errors.position.largest < 1e-3);
    assert!(summary.position_errors().iter().all(|e| *e >= loss));
    let codes: Vec<&str> = summary.warnings.iter().map(|w| w.0.as_str()).collect();
    assert_eq!(codes, ["positions_rounded"]);
    let found = folders.verified(&source, &settings);
    assert!(found.position_errors().iter().all(|e| *e >= loss));
    assert!(folders.report().contains("when files were read"));
}

#[test]
fn an_empty_file_between_others_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut frames: Vec<String> = (0..5).map(flat_shaded).collect();
    frames[2].clear();
    let source = files(folder.path(), &frames, "obj");
    let (_, summary) = baked(&source, &VatSettings::default());
    let found = summary.not_kept.iter();
    let found: Vec<_> = found
        .filter(|n| n.0 == "frames_without_triangles")
        .collect();
    assert_eq!(found.len(), 1, "{:?}", summary.not_kept);
    assert!(found[0].1.contains("'wave_0002.obj'"), "{}", found[0].1);
    // At the end it is an end.
    frames.swap(2, 4);
    let folder = tempfile::tempdir().expect("a folder");
    let source = files(folder.path(), &frames, "obj");
    let (_, summary) = baked(&source, &VatSettings::default());
    assert!(!codes_of(&summary).contains(&"frames_without_triangles"));
}

/// The flag, its first half of one material and the rest of another.
struct Painted(MeshFrames);

impl FrameSource for Painted {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn frame_count(&self) -> usize {
        self.0.frame_count()
    }
    fn number(&self, frame: usize) -> i64 {
        self.0.number(frame)
    }
    fn key(&self, frame: usize) -> Result<String, BakeError> {
        self.0.key(frame)
    }
    fn order(&self) -> LoadOrder {
        self.0.order()
    }
    fn materials(&self) -> Vec<CarrierMaterial> {
        let material = |name: &str, base_color| CarrierMaterial {
            name: name.into(),
            base_color,
        };
        vec![
            material("red", [1.0, 0.0, 0.0, 1.0]),
            material("blue", [0.0, 0.0, 1.0, 0.5]),
        ]
    }
    fn load(&self, frame: usize) -> Result<LoadedFrame, BakeError> {
        let mut loaded = self.0.load(frame)?;
        let count = loaded.mesh.topology.triangles().len();
        let part = |material, triangles| MeshPart {
            name: String::new(),
            source_mesh: 0,
            material: Some(material),
            vertices: 0..30,
            triangles,
            flat_shaded: false,
        };
        loaded.mesh.parts = vec![part(0, 0..count / 2), part(1, count / 2..count)];
        Ok(loaded)
    }
}

#[test]
fn carriers_have_a_primitive_for_each_material() {
    let source = Painted(flag());
    let settings = with_mode(Mode::Soft);
    let (folders, summary) = baked(&source, &settings);
    assert_eq!(summary.not_kept, []);
    let manifest = folders.manifest();
    let carrier = sinew_io::read_gltf(&folders.out().join(&manifest.carrier)).expect("reads");
    let json = &carrier.document.json;
    let primitives = json["meshes"][0]["primitives"].as_array().expect("a list");
    assert_eq!(primitives.len(), 2);
    // Over the same vertices, so that their numbers are those of texels.
    assert_eq!(primitives[0]["attributes"], primitives[1]["attributes"]);
    let mesh = &carrier.asset.meshes[0];
    assert_eq!(mesh.vertex_count(), manifest.layout.vertices as usize);
    let materials: Vec<Option<usize>> = mesh.parts.iter().map(|p| p.material).collect();
    assert_eq!(materials, [Some(0), Some(1)]);
    assert_eq!(json["materials"][0]["name"], "red");
    assert_eq!(
        json["materials"][1]["pbrMetallicRoughness"]["baseColorFactor"][3],
        0.5
    );
    let found = folders.verified(&source, &settings);
    assert!(found.is_same(1e-4), "{found:?}");
    // Loose triangles show one material after another.
    let settings = with_mode(Mode::Remesh);
    let (_, summary) = baked(&source, &settings);
    let codes = codes_of(&summary);
    assert!(codes.contains(&"materials_lost"), "{codes:?}");
}
