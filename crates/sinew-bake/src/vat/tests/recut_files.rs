//! Quads that frames cut along the other diagonal: what the files show is each frame's own surface, or as far from it as is said.

use crate::vat::maker::error::angle_between;
use crate::vat::maker::matching::{SurfaceTree, surface_distance};
use crate::vat::maker::normals::corner_normals;
use crate::vat::maker::prepare::simplify::SimplifySettings;
use crate::vat::{
    Mode, Summary, VatSettings, Verified, bake, read_animation, read_manifest, verify,
};
use crate::{FileFrames, FrameSource, MeshFrames, Watch};
use sinew_geom::{Mesh, Topology};
use sinew_testkit::shared_data;
use sinew_vat::quantity::Quantity;
use std::path::PathBuf;

const QUADS: u32 = 6;

/// A blanket that is bent into saddles, each frame more than the one before; frames after the first cut some quads along the other diagonal.
fn blanket() -> MeshFrames {
    let side = QUADS + 1;
    let frames = (0..5_u32).map(|f| {
        let at = |v: u32| {
            let (x, y) = (v % side, v / side);
            let up = if (x + y) % 2 == 0 { 1.0 } else { -1.0 };
            [0.1 * x as f32, 0.1 * y as f32, 0.004 * f as f32 * up]
        };
        let mut triangles = Vec::new();
        for q in 0..QUADS * QUADS {
            let a = q / QUADS * side + q % QUADS;
            let [b, c, d] = [a + 1, a + side + 1, a + side];
            // A third of them, others in each frame but the first.
            match f > 0 && (q + f) % 3 == 0 {
                false => triangles.extend([[a, b, c], [a, c, d]]),
                true => triangles.extend([[b, c, d], [d, a, b]]),
            }
        }
        let topology = Topology::new(side * side, triangles).expect("in range");
        let mut mesh = Mesh::new("blanket", topology, (0..side * side).map(at).collect());
        mesh.uvs = vec![mesh.positions.iter().map(|p| [p[0], p[1]]).collect()];
        mesh
    });
    MeshFrames::new("blanket", frames.collect())
}

/// The middle of one diagonal of a saddle of side `s` and height `h` from the planes at the other one: `2 h / sqrt(1 + (2 h / (s / sqrt 2))^2)`.
fn by_hand(height: f64) -> f64 {
    let slope = 2.0 * height / (0.1 / 2.0_f64.sqrt());
    2.0 * height / (1.0 + slope * slope).sqrt()
}

struct Baked {
    folder: tempfile::TempDir,
    summary: Summary,
}

impl Baked {
    fn new(source: &dyn FrameSource, settings: &VatSettings) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (work, out) = (folder.path().join("work"), folder.path().join("out"));
        let summary = bake(source, settings, &work, &out, &Watch::NOBODY).expect("bakes");
        Self { folder, summary }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn verified(&self, source: &dyn FrameSource, settings: &VatSettings) -> Verified {
        verify(&self.out(), source, settings, &Watch::NOBODY).expect("verifies")
    }
}

fn promised(found: &Verified) -> f64 {
    found.promised.iter().map(|p| p * p).sum::<f64>().sqrt() * 1.001 + 1e-6
}

/// Decoded from the files alone and held against each frame's own triangles: how far surfaces are apart, metres, and the largest angle between a normal of
/// the frame's own smooth surface and that of a vertex that is shown there, radians.
fn off_of_files(baked: &Baked, source: &dyn FrameSource) -> (f64, f64) {
    let animation = read_animation(&baked.out()).expect("reads");
    let (path, manifest) = read_manifest(&baked.out()).expect("reads");
    let carrier = sinew_io::read_any(&path.with_file_name(&manifest.carrier)).expect("reads");
    let carrier = &carrier.asset.meshes[0];
    let places = manifest.texture(&Quantity::Offset).expect("offsets");
    let normals = manifest.texture(&Quantity::Normal).expect("normals");
    let (mut far, mut turned) = (0.0_f64, 0.0_f64);
    for f in 0..source.frame_count() {
        let frame = source.load(f).expect("a frame").mesh;
        let vector = |t, v| [0, 1, 2].map(|c| animation.value(t, v, f as u32, c));
        let place = |v: u32| {
            let (rest, offset) = (carrier.positions[v as usize], vector(places, v));
            [0, 1, 2].map(|k| rest[k] + offset[k])
        };
        let shown = carrier.topology.triangles().iter().map(|t| t.map(place));
        let shown: Vec<_> = shown.collect();
        let own = frame.topology.triangles().iter();
        let own: Vec<_> = own
            .map(|t| t.map(|v| frame.positions[v as usize]))
            .collect();
        far = far.max(farthest(&shown, &own)).max(farthest(&own, &shown));
        let truth = corner_normals(&frame.topology, &frame.positions, std::f32::consts::PI);
        let of_vertex = |v: u32| (place(v), vector(normals, v));
        let vertices: Vec<_> = (0..manifest.layout.vertices).map(of_vertex).collect();
        let mut seen = vec![false; frame.positions.len()];
        for (t, truth) in frame.topology.triangles().iter().zip(truth) {
            for (v, truth) in t.iter().zip(truth) {
                if std::mem::replace(&mut seen[*v as usize], true) {
                    continue;
                }
                let at = frame.positions[*v as usize];
                let here = vertices
                    .iter()
                    .filter(|(p, _)| (0..3).all(|k| (p[k] - at[k]).abs() < 1e-4));
                let angle = here
                    .map(|(_, n)| angle_between(*n, truth))
                    .fold(f64::INFINITY, f64::min);
                turned = turned.max(angle);
            }
        }
    }
    (far, turned)
}

fn farthest(from: &[[[f32; 3]; 3]], to: &[[[f32; 3]; 3]]) -> f64 {
    let surface = SurfaceTree::new(to);
    let weights = [
        [1.0, 0.0, 0.0],
        [0.5, 0.5, 0.0],
        [0.0, 0.5, 0.5],
        [0.5, 0.0, 0.5],
        [1.0 / 3.0; 3],
        [0.25, 0.25, 0.5],
    ];
    let points = from.iter().flat_map(|t| {
        weights.map(|w: [f32; 3]| [0, 1, 2].map(|k| (0..3).map(|c| w[c] * t[c][k]).sum::<f32>()))
    });
    let off = points.map(|p| surface.distance(p).expect("triangles"));
    off.fold(0.0, f64::max)
}

#[test]
fn row_128_quads_that_are_cut_otherwise_are_shown_as_each_frame_has_them() {
    let (source, settings) = (blanket(), VatSettings::default());
    let baked = Baked::new(&source, &settings);
    let summary = &baked.summary;
    assert_eq!(summary.mode, Mode::Soft);
    let recut = summary.recut.as_ref().expect("frames are cut otherwise");
    assert_eq!(
        (recut.frames, recut.quads, recut.middles.len()),
        (4, 36, 36)
    );
    assert_eq!((recut.off, summary.warnings.len()), (0.0, 0));
    // One vertex more for each quad, and two triangles.
    let manifest = read_manifest(&baked.out()).expect("reads").1;
    assert_eq!(
        (manifest.layout.vertices, summary.triangles),
        (49 + 36, 4 * 36)
    );
    assert_eq!((manifest.middles.len(), manifest.surface_off), (72, None));
    let (far, turned) = off_of_files(&baked, &source);
    let found = baked.verified(&source, &settings);
    let allowed = promised(&found);
    assert!(far <= allowed, "{far} of {allowed}");
    assert!(turned.to_degrees() < 0.4, "{}", turned.to_degrees());
    assert!(found.is_same(allowed), "{found:?}");
    // No triangle of a frame is one of the carrier's: all quads have middles.
    assert_eq!((found.surface.frames, found.surface.triangles), (5, 5 * 72));
    assert!(found.surface.largest <= allowed, "{:?}", found.surface);
    let words = found.surface.words();
    let said = "; 5 frames cut faces otherwise than the carrier (360 triangles in all): what is shown there is within ";
    assert!(
        words.starts_with(said) && words.contains(" mm of their surface (allowed "),
        "{words}"
    );
    let report = std::fs::read_to_string(baked.out().join("blanket.report.html"));
    assert!(
        report
            .expect("a report")
            .contains("36 quads have a vertex in their middle")
    );
}

/// With a tolerance that is wide enough quads keep the first frame's diagonal; how far that is off is said by the bake, its report and its manifest, and judged.
#[test]
fn row_128_a_wide_tolerance_keeps_diagonals_and_says_what_that_costs() {
    let source = blanket();
    let settings = VatSettings {
        recut_tolerance: Some(1.0),
        ..VatSettings::default()
    };
    let truth = by_hand(0.016);
    let baked = Baked::new(&source, &settings);
    let recut = baked.summary.recut.as_ref().expect("cut otherwise");
    assert_eq!((recut.quads, recut.middles.len(), recut.worst), (36, 0, 4));
    assert!(
        (recut.off - truth).abs() < 1e-6,
        "{} and by hand {truth}",
        recut.off
    );
    let (path, mut manifest) = read_manifest(&baked.out()).expect("reads");
    assert_eq!(manifest.surface_off, Some(recut.off));
    let (far, _) = off_of_files(&baked, &source);
    let found = baked.verified(&source, &settings);
    assert!(
        (far - truth).abs() < 2.0 * promised(&found),
        "{far} {truth}"
    );
    assert!(found.is_same(promised(&found)), "{found:?}");
    assert!((found.surface.largest - truth).abs() < promised(&found));
    let report = std::fs::read_to_string(baked.out().join("blanket.report.html"));
    let words = format!("surface within {:.4} mm", truth * 1e3);
    assert!(report.expect("a report").contains(&words), "{words}");
    // A bake that claims to be nearer than it is.
    manifest.surface_off = Some(truth / 2.0);
    let text = serde_json::to_string(&manifest).expect("a text");
    std::fs::write(path, text).expect("writes");
    let found = baked.verified(&source, &settings);
    // Half as high it is a little more than half as far.
    assert_eq!(found.surface.first_wrong, Some(2), "{:?}", found.surface);
    assert!(!found.is_same(f64::INFINITY));
}

fn to_faces(target_faces: usize) -> VatSettings {
    let mut out = VatSettings::default();
    out.prepare.simplify = Some(SimplifySettings {
        target_faces,
        ..SimplifySettings::default()
    });
    out
}

/// Corners of triangles as the files show them in a frame, and as the frame has them.
fn shown_and_own(baked: &Baked, source: &dyn FrameSource, f: usize) -> [Vec<[[f32; 3]; 3]>; 2] {
    let animation = read_animation(&baked.out()).expect("reads");
    let (path, manifest) = read_manifest(&baked.out()).expect("reads");
    let carrier = sinew_io::read_any(&path.with_file_name(&manifest.carrier)).expect("reads");
    let carrier = &carrier.asset.meshes[0];
    let places = manifest.texture(&Quantity::Offset).expect("offsets");
    let shown = carrier.topology.triangles().iter().map(|t| {
        t.map(|v| {
            let rest = carrier.positions[v as usize];
            [0, 1, 2].map(|k| rest[k] + animation.value(places, v, f as u32, k))
        })
    });
    let frame = source.load(f).expect("a frame").mesh;
    let own = frame.topology.triangles().iter();
    let own = own.map(|t| t.map(|v| frame.positions[v as usize]));
    [shown.collect(), own.collect()]
}

/// How far files are from the frames' own surfaces, both ways, metres: the measure that bakes tell of simplification.
fn largest_distance(baked: &Baked, source: &dyn FrameSource) -> f64 {
    let of_frame = |f| {
        let [shown, own] = shown_and_own(baked, source, f);
        let inside = surface_distance(&shown, &own).and(&surface_distance(&own, &shown));
        let corners = |of: &[[[f32; 3]; 3]], from: &[[[f32; 3]; 3]]| {
            let surface = SurfaceTree::new(from);
            let away = of.iter().flatten().filter_map(|p| surface.distance(*p));
            away.fold(0.0, f64::max)
        };
        let tips = corners(&shown, &own).max(corners(&own, &shown));
        inside.max.max(tips)
    };
    (0..source.frame_count()).map(of_frame).fold(0.0, f64::max)
}

/// No collapse has quads to keep: all frames have the triangles that are left, and how far these are from each frame's own surface is told.
#[test]
fn fewer_faces_are_those_of_one_collapse_however_frames_cut_quads() {
    let (source, settings) = (blanket(), to_faces(48));
    let baked = Baked::new(&source, &settings);
    let summary = &baked.summary;
    assert_eq!((summary.mode, &summary.recut), (Mode::Soft, &None));
    assert!(
        (24..=48).contains(&summary.triangles),
        "{}",
        summary.triangles
    );
    assert_eq!(summary.not_kept, []);
    let manifest = read_manifest(&baked.out()).expect("reads").1;
    assert_eq!((manifest.middles.len(), manifest.surface_off), (0, None));
    // A corner that is shown is the same vertex of the sequence in all frames.
    let of_frame = |f: usize| {
        let frame = source.load(f).expect("a frame").mesh;
        let [shown, _] = shown_and_own(&baked, &source, f);
        let vertex = move |corner: [f32; 3]| {
            let is_here = |p: &[f32; 3]| (0..3).all(|k| (p[k] - corner[k]).abs() < 1e-4);
            frame.positions.iter().position(is_here)
        };
        let corners = shown.into_iter().flatten().map(vertex);
        corners.map(|v| v.expect("a vertex")).collect::<Vec<_>>()
    };
    for f in 1..source.frame_count() {
        assert_eq!(of_frame(f), of_frame(0), "frame {f}");
    }
    let found = baked.verified(&source, &settings);
    let allowed = promised(&found);
    let said = summary.simplified.expect("told");
    let truth = largest_distance(&baked, &source);
    assert!((said.largest - truth).abs() < allowed, "{said:?}, {truth}");
    assert!(said.is_shared && said.largest > 0.01, "{said:?}");
    assert!(found.is_same(allowed), "{found:?}");
    assert_eq!((found.frames, found.surface.triangles), (5, 0));
    // It is not the sequence itself.
    let other = verify(
        &baked.out(),
        &source,
        &VatSettings::default(),
        &Watch::NOBODY,
    );
    assert!(!other.is_ok_and(|v| v.is_same(f64::INFINITY)));
}

/// With as many faces as there are nothing is simplified: quads are exact, and what that takes beyond the number is told.
#[test]
fn quads_stay_exact_where_there_are_few_enough_faces() {
    let (source, settings) = (blanket(), to_faces(72));
    let baked = Baked::new(&source, &settings);
    let summary = &baked.summary;
    assert_eq!((summary.mode, summary.triangles), (Mode::Soft, 144));
    assert_eq!(summary.simplified, None);
    let (code, message) = &summary.not_kept[0];
    assert_eq!(code, "more_triangles");
    let begin = "the carrier has 144 triangles, 72 were asked for: quads that frames cut";
    assert!(message.starts_with(begin), "{message}");
    let found = baked.verified(&source, &settings);
    let (far, _) = off_of_files(&baked, &source);
    assert!(far <= promised(&found), "{far}");
    assert!(found.is_same(promised(&found)), "{found:?}");
    let wide = VatSettings {
        recut_tolerance: Some(1.0),
        ..settings
    };
    let kept = Baked::new(&source, &wide).summary;
    assert_eq!((kept.triangles, kept.not_kept), (72, Vec::new()));
}

/// A saddle that keeps its two faces, as a flat patch beside it has enough that cost nothing: all frames get the diagonal of one. The middle of a triangle is `4 h / 3` above
/// or below the fold at the other diagonal, `4 h / 3 / sqrt(1 + (2 h / L)^2)` from its planes; `L` is half a diagonal.
#[test]
fn what_one_diagonal_for_all_frames_costs_is_told() {
    let frames = (0..3_u32).map(|f| {
        let h = 0.02 * f as f32;
        let mut positions = vec![
            [0.1, 0.0, h],
            [0.0, 0.1, -h],
            [-0.1, 0.0, h],
            [0.0, -0.1, -h],
        ];
        let mut triangles = match f {
            0 => vec![[0, 1, 2], [0, 2, 3]],
            _ => vec![[0, 1, 3], [1, 2, 3]],
        };
        // Eight faces, of which two are enough.
        let patch = |v: u32| [0.4 + 0.05 * (v % 3) as f32, 0.05 * (v / 3) as f32, 0.0];
        positions.extend((0..9).map(patch));
        for a in [4, 5, 7, 8] {
            triangles.extend([[a, a + 1, a + 4], [a, a + 4, a + 3]]);
        }
        Mesh::new(
            "saddle",
            Topology::new(13, triangles).expect("in range"),
            positions,
        )
    });
    let source = MeshFrames::new("saddle", frames.collect());
    let settings = to_faces(4);
    let baked = Baked::new(&source, &settings);
    let summary = &baked.summary;
    assert_eq!((summary.mode, summary.triangles), (Mode::Soft, 4));
    let truth = 4.0 * 0.04 / 3.0 / (1.0 + (0.08_f64 / 0.1).powi(2)).sqrt();
    let said = summary.simplified.expect("told");
    assert!(
        (said.largest - truth).abs() < 1e-6,
        "{said:?}, by hand {truth}"
    );
    assert_eq!((said.frame, summary.not_kept.len()), (2, 0));
    let found = baked.verified(&source, &settings);
    assert!(found.is_same(promised(&found)), "{found:?}");
}

#[test]
fn a_tolerance_between_warns_of_nothing_that_is_within_it_and_of_what_is_beyond() {
    // Pieces cannot have vertices in the middles of quads: saddles that move as one, cut along either diagonal.
    let still = blanket();
    let frames = (0..4).map(|f| {
        let shape = still.load(4).expect("a frame").mesh;
        let (away, first) = (f as f32 * 0.1, still.load(0).expect("a frame").mesh);
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for piece in 0..2 {
            let base = positions.len() as u32;
            positions.extend(
                shape
                    .positions
                    .iter()
                    .map(|p| [p[0] + away, p[1], p[2] + piece as f32]),
            );
            let cut = if f == 2 { &shape } else { &first };
            triangles.extend(cut.topology.triangles().iter().map(|t| t.map(|v| v + base)));
        }
        let topology = Topology::new(positions.len() as u32, triangles).expect("in range");
        Mesh::new("pieces", topology, positions)
    });
    let source = MeshFrames::new("pieces", frames.collect());
    for (tolerance, is_warned) in [(None, true), (Some(0.04), false)] {
        let settings = VatSettings {
            recut_tolerance: tolerance,
            // By itself it would be soft, which shows quads as each frame has them.
            mode: Some(Mode::Rigid),
            ..VatSettings::default()
        };
        let baked = Baked::new(&source, &settings);
        let recut = baked.summary.recut.as_ref().expect("cut otherwise");
        assert_eq!((baked.summary.mode, recut.middles.len()), (Mode::Rigid, 0));
        assert!((recut.off - by_hand(0.016)).abs() < 1e-6, "{}", recut.off);
        let warning = baked.summary.warnings.iter().find(|w| w.0 == "recut_faces");
        assert_eq!(warning.is_some(), is_warned);
        if let Some((_, text, _)) = warning {
            assert!(
                text.contains("off by 29.") && text.contains("--mode soft"),
                "{text}"
            );
        }
        let found = baked.verified(&source, &settings);
        let position = promised(&found) + found.promised_beyond;
        assert!(found.is_same(position), "{found:?}");
        assert!((found.surface.largest - by_hand(0.016)).abs() < position);
    }
}

/// 866 quads over 48 of its 60 frames, 142 of them different ones, are cut otherwise; kept as in the first frame they were 20.004 mm off (a search in double
/// precision by other means, numpy).
#[test]
fn row_128_a_draped_cloth_is_shown_as_each_frame_has_it() {
    let Some(folder) = shared_data().map(|d| d.join("sequences/cloth_drape")) else {
        println!("skipped: no cloth_drape");
        return;
    };
    let source = FileFrames::new(sinew_io::find_sequence(&folder).expect("a sequence"), false);
    let settings = VatSettings::default();
    let baked = Baked::new(&source, &settings);
    let recut = baked.summary.recut.as_ref().expect("cut otherwise");
    assert_eq!((recut.frames, recut.quads), (48, 142));
    assert!(recut.off <= recut.tolerance, "{recut:?}");
    let (far, turned) = off_of_files(&baked, &source);
    let found = baked.verified(&source, &settings);
    println!(
        "cloth_drape: {} middles, {:.4} mm off elsewhere; decoded surfaces within {:.4} mm, normals within {:.3} degrees; verify: {:?}",
        recut.middles.len(),
        recut.off * 1e3,
        far * 1e3,
        turned.to_degrees(),
        found.surface
    );
    assert!(far <= promised(&found) + recut.off, "{far}");
    assert!(turned.to_degrees() < 0.4, "{}", turned.to_degrees());
    assert!(found.is_same(promised(&found)), "{found:?}");
    let wide = VatSettings {
        recut_tolerance: Some(1.0),
        ..VatSettings::default()
    };
    let kept = Baked::new(&source, &wide);
    let off = kept.summary.recut.as_ref().map_or(0.0, |r| r.off);
    assert!((off - 20.003_55e-3).abs() < 1e-6, "{off}");
    assert_eq!(kept.summary.warnings.len(), 0);
}
