//! Cloth that tears: taken by what it is, and every corner of every frame comes back from the files.

use super::*;
use crate::vat::maker::error::angle_between;
use crate::vat::maker::normals::{DEFAULT_CREASE, corner_normals};
use crate::{FileFrames, NumberRange, RangedFrames};
use sinew_testkit::meshes::exploded;
use sinew_testkit::{TearingCloth, renumbered, shared_data};
use sinew_vat::playback::AtEnd;
use std::collections::BTreeMap;

const CLOTH: TearingCloth = TearingCloth {
    quads: 12,
    cut: 5,
    rows_per_frame: 3,
};

pub(super) fn cloth() -> MeshFrames {
    MeshFrames::new("cloth", (0..6).map(|f| CLOTH.frame(f)).collect())
}

/// Decodes a bake of triangles that stay the same from its files: the largest distance of a corner from its frame (metres) and the largest angle
/// of its normal (radians), each triangle compared with the one of the same number.
fn farthest(folders: &Folders, source: &dyn FrameSource) -> (f64, f64) {
    let (animation, carrier) = (folders.animation(), folders.carrier());
    let normals = animation.manifest().texture(&Quantity::Normal);
    let normals = normals.expect("normals");
    let (mut far, mut turned) = (0.0_f64, 0.0_f64);
    for (f, frame) in meshes_of(source).iter().enumerate() {
        let seen = seen(&animation, &carrier, f);
        let truth = corner_normals(&frame.topology, &frame.positions, DEFAULT_CREASE);
        let [own, shown] = [frame, &seen].map(|m| m.topology.triangles());
        assert_eq!(own.len(), shown.len(), "frame {f}");
        let corners = own.iter().flatten().zip(shown.iter().flatten());
        for ((own, shown), truth) in corners.zip(truth.iter().flatten()) {
            let places = [
                frame.positions[*own as usize],
                seen.positions[*shown as usize],
            ];
            let [a, b] = places.map(|p| p.map(f64::from));
            far = far.max(distance(a, b));
            let normal = animation.vector(normals, *shown, f as u32);
            turned = turned.max(angle_between(normal, *truth));
        }
    }
    (far, turned)
}

#[test]
fn row_124_cloth_that_tears_is_taken_as_one_that_stays_the_same() {
    let (folders, summary) = baked(&cloth(), &VatSettings::default());
    let plan = &summary.plan;
    assert_eq!((plan.mode(), plan.triangles), (Mode::Soft, 288));
    let split = summary.plan.tears().map(|t| t.split_vertices);
    assert_eq!(split, Some(13), "the whole column");
    let manifest = folders.manifest();
    assert_eq!(manifest.split_vertices, Some(13));
    assert_eq!(manifest.layout.vertices, 169 + 13, "one texel a vertex");
    assert!(manifest.can_blend && !manifest.has_ends);
    let (far, turned) = farthest(&folders, &cloth());
    // Half a step of 16 bits in a range of less than a metre; half one of 8 bits in each coordinate of a normal.
    assert!(far < 3.0_f64.sqrt() * 0.5 / 65535.0 + 1e-6, "{far}");
    assert!(turned.to_degrees() < 0.4, "{}", turned.to_degrees());
    let found = folders.verified(&cloth(), &VatSettings::default());
    assert!(found.is_same(allowed(&found)), "{found:?}");
    assert_eq!(found.errors.position.samples(), 6 * 288 * 3);
    let words = "cloth that tears: 13 vertices split";
    assert!(folders.report().contains(words));
}

/// Truth that knows nothing of vertices: a bake of another sequence is not the same.
#[test]
fn verify_sees_a_tear_that_the_bake_does_not_have() {
    let (folders, _) = baked(&cloth(), &VatSettings::default());
    let mut frames = meshes_of(&cloth());
    // One corner of the last frame goes away from the others at its vertex.
    let last = frames.last_mut().expect("frames");
    let mut triangles = last.topology.triangles().to_vec();
    let mut place = last.positions[triangles[100][1] as usize];
    place[2] += 0.05;
    triangles[100][1] = last.positions.len() as u32;
    last.positions.push(place);
    last.uvs[0].push([0.0; 2]);
    last.attributes.clear();
    let count = last.positions.len() as u32;
    last.topology = Topology::new(count, triangles).expect("in range").into();
    let other = MeshFrames::new("cloth", frames);
    let found = folders.verified(&other, &VatSettings::default());
    assert!(!found.is_same(1e-3), "{found:?}");
    assert!((found.errors.position.largest - 0.05).abs() < 1e-3);
}

#[test]
fn modes_can_be_asked_for() {
    let (folders, summary) = baked(&cloth(), &with_mode(Mode::Remesh));
    let plan = &summary.plan;
    assert_eq!((plan.mode(), plan.tears()), (Mode::Remesh, None));
    let found = folders.verified(&cloth(), &with_mode(Mode::Remesh));
    assert_eq!(found.lost, 0);
    let (_, summary) = baked(&cloth(), &with_mode(Mode::Soft));
    assert_eq!(summary.plan.tears().map(|t| t.split_vertices), Some(13));
    // Shreds are believed only where they are asked for.
    let shreds = MeshFrames::new("shreds", vec![CLOTH.frame(0), exploded(&CLOTH.frame(1))]);
    assert_eq!(mode_of(&shreds, &VatSettings::default()), Mode::Remesh);
    let (_, summary) = baked(&shreds, &with_mode(Mode::Soft));
    // All but two, which have one triangle only.
    let plan = &summary.plan;
    assert_eq!(plan.tears().map(|t| t.split_vertices), Some(169 - 2));
}

#[test]
fn equally_many_triangles_that_are_others_are_no_cloth() {
    let first = CLOTH.frame(0);
    let mut triangles = first.topology.triangles().to_vec();
    // The same surface in another order and with other numbers, as a program that remeshes might write it.
    triangles.rotate_left(97);
    let mut other = first.clone();
    other.topology = Topology::new(169, triangles).expect("in range").into();
    let other = renumbered(&other, 9);
    let source = MeshFrames::new("remeshed", vec![first, other]);
    assert_eq!(mode_of(&source, &VatSettings::default()), Mode::Remesh);
    let text = refused(&source, &with_mode(Mode::Soft)).to_string();
    let begin = "frame 1: triangle 0 is not that of the first frame";
    assert!(text.starts_with(begin), "{text}");
}

/// Without the carrier's record nothing is guessed.
#[test]
fn a_missing_record_of_the_carrier_is_named() {
    let (folders, _) = baked(&cloth(), &VatSettings::default());
    std::fs::remove_file(folders.work().join("slots/000000.carrier")).expect("there");
    let job = VatJob::open(&folders.work()).expect("opens");
    let error = assemble(&job, &folders.out(), &Watch::NOBODY).expect_err("missing");
    let text = error.to_string();
    assert!(text.contains("no vertices of a carrier"), "{text}");
}

#[test]
fn clips_loops_and_spaces() {
    let ranges = ["heals=3..5", "tears=0..4"];
    let ranges: [NumberRange; 2] = ranges.map(|r| r.parse().expect("a range"));
    let source = RangedFrames::new(cloth(), &ranges).expect("frames");
    for space in [Space::default(), Space::ZUpLeftHandedCentimeters] {
        let settings = VatSettings {
            at_end: AtEnd::SeamlessLoop,
            space,
            ..VatSettings::default()
        };
        let (folders, summary) = baked(&source, &settings);
        assert_eq!(summary.plan.mode(), Mode::Soft, "{space}");
        // Frame 3 is the first one: nine rows are split there already.
        let split = summary.plan.tears().map(|t| t.split_vertices);
        assert_eq!(split, Some(4), "{space}");
        let found = folders.verified(&source, &settings);
        assert!(found.is_same(2e-5), "{space}: {found:?}");
        assert!(found.errors.normal.largest.to_degrees() < 0.4, "{space}");
    }
}

#[test]
fn conventions_and_other_quantities() {
    for settings in [like_openvat(false), like_sidefx(false)] {
        let convention = settings.convention;
        let (_, summary) = baked(&cloth(), &settings);
        assert_eq!(summary.plan.mode(), Mode::Soft);
        let far = summary.errors.position.largest;
        assert!(far < 1e-3, "{convention:?}: {far}");
        let turned = summary.errors.normal.largest.to_degrees();
        assert!(turned < 0.5, "{convention:?}: {turned}");
    }
    let settings = with_textures(&[
        (Quantity::Position, TexelFormat::Float),
        (Quantity::Uv(0), TexelFormat::Unorm16),
        (Quantity::Attribute("side".into()), TexelFormat::Unorm8),
    ]);
    let (folders, summary) = baked(&cloth(), &settings);
    assert_eq!(summary.plan.mode(), Mode::Soft);
    let found = folders.verified(&cloth(), &settings);
    assert_eq!(found.quantities.len(), 2);
    assert!(found.is_same(1e-6), "{found:?}");
}

#[test]
fn in_betweens_are_nearer_than_frames() {
    let finer = TearingCloth {
        rows_per_frame: 1,
        ..CLOTH
    };
    let source = MeshFrames::new("cloth", (0..11).map(|f| finer.frame(f)).collect());
    let folder = tempfile::tempdir().expect("a folder");
    let settings = VatSettings::default();
    let found = blend_error(&source, &settings, folder.path(), &Watch::NOBODY);
    let found = found.expect("compares");
    let (blended, stepped) = (found.blended.rms(), found.stepped.rms());
    println!("blended {blended:.2e} m, stepped {stepped:.2e} m (rms)");
    assert!(blended < stepped / 2.0, "{blended} of {stepped}");
}

/// The simulated cloth, with a tear cut into it: vertices of the middle column are split two rows a frame and pulled aside.
fn torn_drape() -> Option<MeshFrames> {
    let path = shared_data()?.join("sequences/cloth_drape");
    let files = sinew_io::find_sequence(&path).ok()?;
    let source = FileFrames::new(files, false);
    let frames = meshes_of(&source).into_iter().enumerate();
    let frames = frames.map(|(f, mesh)| renumbered(&torn(&mesh, f), f as u32));
    Some(MeshFrames::new("torn_drape", frames.collect()))
}

/// Splits the vertices between quads left and right of the middle (by the order of the triangles of the grid) for a number of rows.
fn torn(mesh: &Mesh, frame: usize) -> Mesh {
    const SIDE: usize = 48;
    let triangles = mesh.topology.triangles();
    assert_eq!(triangles.len(), 2 * SIDE * SIDE);
    let quads: Vec<&[[u32; 3]]> = triangles.chunks(2).collect();
    let rows = frame.saturating_sub(10).min(SIDE);
    let (mut triangles, mut places) = (triangles.to_vec(), mesh.positions.clone());
    let mut copies = BTreeMap::new();
    for row in 0..rows {
        let (left, right) = (row * SIDE + SIDE / 2 - 1, row * SIDE + SIDE / 2);
        let of_left: Vec<u32> = quads[left].iter().flatten().copied().collect();
        for t in [2 * right, 2 * right + 1] {
            for v in &mut triangles[t] {
                // The tip stays one: it is in the next row's quads, too.
                let below = (row + 1 == rows && rows < SIDE)
                    .then(|| quads[left + SIDE].iter().flatten().any(|w| w == v));
                if of_left.contains(v) && below != Some(true) {
                    *v = *copies.entry(*v).or_insert_with(|| {
                        let mut place = places[*v as usize];
                        place[0] += 0.002 * (rows - row) as f32;
                        places.push(place);
                        places.len() as u32 - 1
                    });
                }
            }
        }
    }
    mesh_from("", places, triangles)
}

#[test]
fn row_124_simulated_cloth_with_a_tear_comes_back() {
    let Some(source) = torn_drape() else {
        println!("skipped: no sequence cloth_drape");
        return;
    };
    // By itself it would be loose: with the first frame's diagonals its surface is millimetres off.
    let settings = with_mode(Mode::Soft);
    let (folders, summary) = baked(&source, &settings);
    assert_eq!(summary.plan.mode(), Mode::Soft);
    let manifest = folders.manifest();
    // The whole column, though quads are cut along other diagonals as they bend.
    let split = summary.plan.tears().expect("tears").split_vertices;
    assert_eq!((split, manifest.layout.vertices), (49, 2401 + 49));
    let vertices = manifest.layout.vertices;
    let found = folders.verified(&source, &settings);
    let promised = allowed(&found);
    println!(
        "soft: {vertices} vertices, {split} split, {:?} texels, {} bytes; position {:.3e} m (promised {promised:.3e}), normal {:.3} degrees",
        summary.plan.layout.size,
        summary.texture_bytes,
        found.errors.position.largest,
        found.errors.normal.largest.to_degrees(),
    );
    assert!(found.is_same(promised), "{found:?}");
    assert!(found.errors.normal.largest.to_degrees() < 0.4);
    let (_, loose) = baked(&source, &with_mode(Mode::Remesh));
    println!(
        "remesh: {} triangles, {:?} texels, {} bytes",
        loose.plan.triangles, loose.plan.layout.size, loose.texture_bytes
    );
    assert!(summary.texture_bytes * 8 < loose.texture_bytes);
}
