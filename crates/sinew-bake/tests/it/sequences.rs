//! Real sequences, where they are: `shared/data/sequences` beside the project. Otherwise the tests say that they were skipped.

#![expect(
    clippy::print_stdout,
    reason = "says what was skipped and what was measured"
)]

use crate::fixture::{Baked, with_textures};
use sinew_bake::vat::{Mode, Points, Summary, TriangleOrder, VatSettings, blend_error};
use sinew_bake::{FileFrames, FrameSource, MeshFrames, Watch};
use sinew_geom::vec3::length;
use sinew_io::SequenceFiles;
use sinew_testkit::meshes::exploded;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use std::path::PathBuf;

/// Frames of a sequence that most tests take, from its middle; `cargo xtask soak` takes all.
const USUAL_FRAMES: usize = 24;

fn sequence(name: &str) -> Option<FileFrames> {
    let mut files = files(name)?;
    if files.files.len() > USUAL_FRAMES && !sinew_testkit::is_soak() {
        let first = (files.files.len() - USUAL_FRAMES) / 2;
        files.files.drain(..first);
        files.files.truncate(USUAL_FRAMES);
    }
    Some(FileFrames::new(files, false))
}

fn files(name: &str) -> Option<SequenceFiles> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../../../shared/data/sequences").join(name);
    if !path.is_dir() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    Some(sinew_io::find_sequence(&path).expect("a sequence"))
}

/// Bakes and compares every frame of the files with the source.
fn assert_true(name: &str, settings: &VatSettings, mode: Mode) -> Option<Summary> {
    let source = sequence(name)?;
    let baked = Baked::new(&source, settings);
    let found = baked.verified(&source, settings);
    let summary = baked.summary;
    println!(
        "{name}: {} frames, {} triangles, {:?} texels; position {:.3e} m at most (promised {:?}), normal {:.3} degrees; {:.1} % of slots empty",
        summary.frames,
        summary.plan.triangles,
        summary.plan.layout.size,
        found.errors.position.largest,
        found.promised,
        found.errors.normal.largest.to_degrees(),
        summary.plan.empty_slots * 100.0,
    );
    assert_eq!(
        (found.lost, found.invented),
        (0, 0),
        "{:?}",
        found.first_wrong
    );
    assert_eq!(
        (found.frames, summary.plan.mode()),
        (source.frame_count(), mode)
    );
    let promised = length(found.promised);
    // Roundings of single precision: a few parts in ten million of some metres.
    assert!(found.errors.position.largest <= promised * 1.001 + 1e-6);
    assert!(found.errors.normal.largest.to_degrees() < 0.4);
    Some(summary)
}

fn in_format(format: TexelFormat) -> VatSettings {
    with_textures(&[(Quantity::Position, format), (Quantity::Normal, format)])
}

fn float() -> VatSettings {
    VatSettings {
        order: TriangleOrder::File,
        ..in_format(TexelFormat::Float)
    }
}

#[test]
fn splash() {
    assert_true("liquid_splash", &VatSettings::default(), Mode::Remesh);
}

/// Both variants of one bake: bytes of all textures, and bytes for each triangle of a frame.
#[test]
fn unique_points_of_the_splash_are_smaller() {
    let settings = |points| VatSettings {
        points,
        ..VatSettings::default()
    };
    let baked = [Points::Corners, Points::Unique]
        .map(|points| assert_true("liquid_splash", &settings(points), Mode::Remesh));
    let [Some(corners), Some(unique)] = baked else {
        return;
    };
    let points = unique.plan.points().expect("of points");
    let shown =
        f64::from(unique.plan.triangles) * unique.frames as f64 * (1.0 - unique.plan.empty_slots);
    println!(
        "liquid_splash: corners {:?} {} bytes; unique points, {} at most, {} in all, {:?} ({:.1} % unused), lookup {:?} {} bytes, {} bytes in all; {shown:.0} triangles, {:.2} and {:.2} bytes each",
        corners.plan.layout.size,
        corners.texture_bytes,
        points.layout.vertices,
        points.all,
        points.layout.size,
        points.unused_texels() * 100.0,
        unique.plan.layout.size,
        unique.plan.layout.texels() * 3,
        unique.texture_bytes,
        corners.texture_bytes as f64 / shown,
        unique.texture_bytes as f64 / shown,
    );
    // 27 bytes a corner triangle against 9 of the lookup and half a point of 9: a half, were no edge hard and no slot empty. Corners have two rows a frame.
    assert!(unique.texture_bytes < unique.plan.corner_bytes() * 3 / 4);
    assert!(unique.texture_bytes < corners.texture_bytes / 2);
}

#[test]
fn boolean_cut() {
    assert_true("boolean_cut", &VatSettings::default(), Mode::Remesh);
    assert_true("boolean_cut", &float(), Mode::Remesh);
}

/// Corners a code apart from others that are theirs: the nearest first would leave triangles alone that all have their own.
#[test]
fn boolean_cut_in_eight_bits() {
    let settings = in_format(TexelFormat::Unorm8);
    assert_true("boolean_cut", &settings, Mode::Remesh);
}

#[test]
fn cloth() {
    assert_true("cloth_drape", &VatSettings::default(), Mode::Soft);
    assert_true("cloth_drape", &float(), Mode::Soft);
}

/// Every second frame is held back: rms of blends and of steps.
fn held_back(name: &str, order: TriangleOrder) -> Option<[f64; 2]> {
    // All frames: how near blends come is a mean.
    let source = FileFrames::new(files(name)?, false);
    let settings = VatSettings {
        order,
        ..VatSettings::default()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let found = blend_error(&source, &settings, folder.path(), &Watch::NOBODY).expect("compares");
    let (blended, stepped) = (found.blended, found.stepped);
    println!(
        "{name}, {} frames held back, {:?}: blended rms {:.3} mm, {:.1} mm at most; stepped rms {:.3} mm, {:.1} mm at most; unmatched rms {:?} mm",
        found.frames,
        settings.order,
        blended.rms() * 1e3,
        blended.max * 1e3,
        stepped.rms() * 1e3,
        stepped.max * 1e3,
        found.unmatched.map(|u| u.rms() * 1e3),
    );
    if let (Some(unmatched), TriangleOrder::Match) = (found.unmatched, order) {
        assert!(
            blended.rms() <= unmatched.rms() / 2.0,
            "matching halves the error at least"
        );
    }
    Some([blended.rms(), stepped.rms()])
}

/// A bake without matching cannot be blended and shows the frame before: blends must halve what that is away from the truth.
#[test]
fn blends_of_the_splash_are_near_the_frames_that_were_held_back() {
    let Some([closed, stepped]) = held_back("liquid_splash", TriangleOrder::Match) else {
        return;
    };
    assert!(closed < stepped / 2.0, "{closed} of {stepped}");
    let file = held_back("liquid_splash", TriangleOrder::File);
    let [file, stepping] = file.expect("it is there");
    assert_eq!(file, stepping, "frames as in the file are not blended");
    // The frame before is the same surface in whatever order its triangles are.
    assert!((stepping - stepped).abs() < 2e-6, "{stepping} {stepped}");
}

#[test]
fn blends_of_the_cloth_are_near_the_frames_that_were_held_back() {
    let found = held_back("cloth_drape", TriangleOrder::Match);
    let Some([blended, stepped]) = found else {
        return;
    };
    assert!(blended < stepped / 2.0, "{blended} of {stepped}");
}

/// Each triangle with vertices of its own, as flat shading and many exporters leave them: numbers say nothing then, places do.
#[test]
fn loose_triangles_of_a_cut_blend_as_well_as_joined_ones() {
    let Some(joined) = sequence("boolean_cut") else {
        return;
    };
    let loose = |frame: usize| exploded(&joined.load(frame).expect("reads").mesh);
    let frames = (0..joined.frame_count()).map(loose).collect();
    let apart = MeshFrames::new("loose", frames);
    let off = |source: &dyn FrameSource| {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = VatSettings::default();
        blend_error(source, &settings, folder.path(), &Watch::NOBODY).expect("compares")
    };
    let [joined, apart] = [off(&joined), off(&apart)];
    let [a, b] = [joined.blended.rms(), apart.blended.rms()];
    println!(
        "boolean_cut: blended rms {:.3} mm, loose triangles {:.3} mm",
        a * 1e3,
        b * 1e3
    );
    assert!((a - b).abs() < 0.02 * a, "{a} and {b}");
    assert!(b < apart.stepped.rms() / 2.0);
}
