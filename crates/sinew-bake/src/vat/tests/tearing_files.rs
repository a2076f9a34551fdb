//! Cloth that tears: taken by what it is, and every corner of every frame comes back from the files.

use crate::vat::maker::error::angle_between;
use crate::vat::maker::normals::{DEFAULT_CREASE, corner_normals};
use crate::vat::{
    Convention, Mode, OpenVat, SideFx, Space, Summary, TextureChoice, VatJob, VatSettings,
    assemble, bake, blend_error, plan, read_animation, read_manifest, scan, texels, verify,
};
use crate::{FileFrames, FrameSource, MeshFrames, NumberRange, RangedFrames, Watch};
use sinew_geom::{Mesh, Topology};
use sinew_testkit::{TearingCloth, renumbered, shared_data};
use sinew_vat::playback::AtEnd;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const CLOTH: TearingCloth = TearingCloth {
    quads: 12,
    cut: 5,
    rows_per_frame: 3,
};

fn cloth() -> MeshFrames {
    MeshFrames::new("cloth", (0..6).map(|f| CLOTH.frame(f)).collect())
}

struct Folders(tempfile::TempDir);

impl Folders {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }
    fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }
    fn out(&self) -> PathBuf {
        self.0.path().join("out")
    }
}

fn baked(source: &dyn FrameSource, settings: &VatSettings) -> (Folders, Summary) {
    let folders = Folders::new();
    let made = bake(
        source,
        settings,
        &folders.work(),
        &folders.out(),
        &Watch::NOBODY,
    );
    (folders, made.expect("bakes"))
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let read = |e: std::io::Result<std::fs::DirEntry>| {
        let e = e.expect("an entry");
        let name = e.file_name().to_string_lossy().into_owned();
        (name, std::fs::read(e.path()).expect("a file"))
    };
    entries.map(read).collect()
}

fn with_mode(mode: Mode) -> VatSettings {
    VatSettings {
        mode: Some(mode),
        ..VatSettings::default()
    }
}

/// Decodes a bake of triangles that stay the same from its files: the largest distance of a corner from its frame (metres) and the largest angle
/// of its normal (radians), each triangle compared with the one of the same number.
fn farthest(folders: &Folders, source: &dyn FrameSource) -> (f64, f64) {
    let animation = read_animation(&folders.out()).expect("reads");
    let (path, manifest) = read_manifest(&folders.out()).expect("reads");
    let carrier = sinew_io::read_any(&path.with_file_name(&manifest.carrier)).expect("reads");
    let carrier = &carrier.asset.meshes[0];
    let texture = |q: Quantity| manifest.texture(&q).expect("a texture");
    let (offsets, normals) = (texture(Quantity::Offset), texture(Quantity::Normal));
    let (mut far, mut turned) = (0.0_f64, 0.0_f64);
    for f in 0..source.frame_count() {
        let frame = source.load(f).expect("a frame").mesh;
        let truth = corner_normals(&frame.topology, &frame.positions, DEFAULT_CREASE);
        let pairs = frame.topology.triangles().iter();
        let shown = carrier.topology.triangles();
        assert_eq!(pairs.len(), shown.len(), "frame {f}");
        for ((own, shown), normal) in pairs.zip(shown).zip(&truth) {
            for k in 0..3 {
                let vector = |t| [0, 1, 2].map(|c| animation.value(t, shown[k], f as u32, c));
                let (offset, place) = (vector(offsets), frame.positions[own[k] as usize]);
                let rest = carrier.positions[shown[k] as usize];
                let squares = (0..3).map(|c| f64::from(rest[c] + offset[c] - place[c]).powi(2));
                far = far.max(squares.sum::<f64>().sqrt());
                turned = turned.max(angle_between(vector(normals), normal[k]));
            }
        }
    }
    (far, turned)
}

#[test]
fn row_124_cloth_that_tears_is_taken_as_one_that_stays_the_same() {
    let (folders, summary) = baked(&cloth(), &VatSettings::default());
    assert_eq!((summary.mode, summary.triangles), (Mode::Soft, 288));
    let split = summary.tears.map(|t| t.split_vertices);
    assert_eq!(split, Some(13), "the whole column");
    let (_, manifest) = read_manifest(&folders.out()).expect("reads");
    assert_eq!(manifest.split_vertices, Some(13));
    assert_eq!(manifest.layout.vertices, 169 + 13, "one texel a vertex");
    assert!(manifest.can_blend && !manifest.has_ends);
    let (far, turned) = farthest(&folders, &cloth());
    // Half a step of 16 bits in a range of less than a metre; half one of 8 bits in each coordinate of a normal.
    assert!(far < 3.0_f64.sqrt() * 0.5 / 65535.0 + 1e-6, "{far}");
    assert!(turned.to_degrees() < 0.4, "{}", turned.to_degrees());
    let found = verify(
        &folders.out(),
        &cloth(),
        &VatSettings::default(),
        &Watch::NOBODY,
    );
    let found = found.expect("verifies");
    let promised = found.promised.iter().map(|p| p * p).sum::<f64>().sqrt();
    assert!(found.is_same(promised + 1e-6), "{found:?}");
    assert_eq!(found.errors.position.samples(), 6 * 288 * 3);
    let report = std::fs::read_to_string(folders.out().join("cloth.report.html"));
    let report = report.expect("a report");
    assert!(report.contains("cloth that tears: 13 vertices split"));
}

/// Truth that knows nothing of vertices: a bake of another sequence is not the same.
#[test]
fn verify_sees_a_tear_that_the_bake_does_not_have() {
    let (folders, _) = baked(&cloth(), &VatSettings::default());
    let mut frames: Vec<Mesh> = (0..6).map(|f| CLOTH.frame(f)).collect();
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
    let found = verify(
        &folders.out(),
        &other,
        &VatSettings::default(),
        &Watch::NOBODY,
    );
    let found = found.expect("compares");
    assert!(!found.is_same(1e-3), "{found:?}");
    assert!((found.errors.position.largest - 0.05).abs() < 1e-3);
}

#[test]
fn modes_can_be_asked_for() {
    let (folders, summary) = baked(&cloth(), &with_mode(Mode::Remesh));
    assert_eq!((summary.mode, summary.tears), (Mode::Remesh, None));
    let found = verify(
        &folders.out(),
        &cloth(),
        &with_mode(Mode::Remesh),
        &Watch::NOBODY,
    );
    assert_eq!(found.expect("verifies").lost, 0);
    let (_, summary) = baked(&cloth(), &with_mode(Mode::Soft));
    assert_eq!(summary.tears.map(|t| t.split_vertices), Some(13));
    // Shreds are believed only where they are asked for.
    let shreds = MeshFrames::new("shreds", vec![CLOTH.frame(0), exploded(&CLOTH.frame(1))]);
    assert_eq!(baked(&shreds, &VatSettings::default()).1.mode, Mode::Remesh);
    let (_, summary) = baked(&shreds, &with_mode(Mode::Soft));
    // All but two, which have one triangle only.
    assert_eq!(summary.tears.map(|t| t.split_vertices), Some(169 - 2));
}

/// Each triangle with vertices of its own.
fn exploded(mesh: &Mesh) -> Mesh {
    let corners = mesh.topology.triangles().iter().flatten();
    let places: Vec<_> = corners.map(|v| mesh.positions[*v as usize]).collect();
    let count = places.len() as u32;
    let triangles = (0..count / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    let topology = Topology::new(count, triangles.collect()).expect("in range");
    Mesh::new("", topology, places)
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
    assert_eq!(baked(&source, &VatSettings::default()).1.mode, Mode::Remesh);
    let folders = Folders::new();
    let error = bake(
        &source,
        &with_mode(Mode::Soft),
        &folders.work(),
        &folders.out(),
        &Watch::NOBODY,
    );
    let text = error.expect_err("not the same").to_string();
    assert!(
        text.starts_with("frame 1: triangle 0 is not that of the first frame"),
        "{text}"
    );
}

#[test]
fn chunks_and_threads_give_the_same_bytes() {
    let source = cloth();
    let (whole, _) = baked(&source, &VatSettings::default());
    let expected = files(&whole.out());
    for (of, threads) in [(1, 1), (3, 2), (6, 4)] {
        let folders = Folders::new();
        let chunk = |i: usize| format!("{i}/{of}").parse().expect("a chunk");
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(|| {
            let job = VatJob::begin(&folders.work(), &source, &VatSettings::default());
            let job = job.expect("begins");
            for i in (1..=of).rev() {
                scan(&job, &source, chunk(i), &Watch::NOBODY).expect("scans");
            }
            let job = VatJob::open(&folders.work()).expect("opens");
            plan(&job, &Watch::NOBODY).expect("plans");
            for i in (1..=of).rev() {
                texels(&job, chunk(i), &Watch::NOBODY).expect("texels");
            }
            assemble(&job, &folders.out(), &Watch::NOBODY).expect("assembles");
        });
        assert_eq!(files(&folders.out()), expected, "{of} chunks");
        // Without the carrier's record nothing is guessed.
        std::fs::remove_file(folders.work().join("slots/000000.carrier")).expect("there");
        let job = VatJob::open(&folders.work()).expect("opens");
        let error = assemble(&job, &folders.out(), &Watch::NOBODY).expect_err("missing");
        let text = error.to_string();
        assert!(text.contains("no vertices of a carrier"), "{text}");
    }
}

#[test]
fn clips_loops_and_spaces() {
    let ranges: Vec<NumberRange> = ["heals=3..5", "tears=0..4"]
        .iter()
        .map(|r| r.parse().expect("a range"))
        .collect();
    let source = RangedFrames::new(cloth(), &ranges).expect("frames");
    for space in [Space::default(), Space::ZUpLeftHandedCentimeters] {
        let settings = VatSettings {
            at_end: AtEnd::SeamlessLoop,
            space,
            ..VatSettings::default()
        };
        let (folders, summary) = baked(&source, &settings);
        assert_eq!(summary.mode, Mode::Soft, "{space}");
        // Frame 3 is the first one: nine rows are split there already.
        let split = summary.tears.map(|t| t.split_vertices);
        assert_eq!(split, Some(4), "{space}");
        let found = verify(&folders.out(), &source, &settings, &Watch::NOBODY);
        let found = found.expect("verifies");
        assert!(found.is_same(2e-5), "{space}: {found:?}");
        assert!(found.errors.normal.largest.to_degrees() < 0.4, "{space}");
    }
}

#[test]
fn conventions_and_other_quantities() {
    for convention in [
        Convention::OpenVat(OpenVat {
            packed_normals: false,
        }),
        Convention::SideFx(SideFx {
            compressed_normals: false,
        }),
    ] {
        let settings = VatSettings {
            convention,
            ..VatSettings::default()
        };
        let (_, summary) = baked(&cloth(), &settings);
        assert_eq!(summary.mode, Mode::Soft);
        let far = summary.errors.position.largest;
        assert!(far < 1e-3, "{convention:?}: {far}");
        let turned = summary.errors.normal.largest.to_degrees();
        assert!(turned < 0.5, "{convention:?}: {turned}");
    }
    let choice = |quantity, format| TextureChoice { quantity, format };
    let settings = VatSettings {
        textures: vec![
            choice(Quantity::Position, TexelFormat::Float),
            choice(Quantity::Uv(0), TexelFormat::Unorm16),
            choice(Quantity::Attribute("side".into()), TexelFormat::Unorm8),
        ],
        ..VatSettings::default()
    };
    let (folders, summary) = baked(&cloth(), &settings);
    assert_eq!(summary.mode, Mode::Soft);
    let found = verify(&folders.out(), &cloth(), &settings, &Watch::NOBODY);
    let found = found.expect("verifies");
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
    let found = blend_error(
        &source,
        &VatSettings::default(),
        folder.path(),
        &Watch::NOBODY,
    );
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
    let frames = (0..source.frame_count()).map(|f| {
        let mesh = source.load(f).expect("a frame").mesh;
        renumbered(&torn(&mesh, f), f as u32)
    });
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
    let count = places.len() as u32;
    Mesh::new(
        "",
        Topology::new(count, triangles).expect("in range"),
        places,
    )
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
    assert_eq!(summary.mode, Mode::Soft);
    let (_, manifest) = read_manifest(&folders.out()).expect("reads");
    // The whole column, though quads are cut along other diagonals as they bend.
    let split = summary.tears.map(|t| t.split_vertices).expect("tears");
    assert_eq!((split, manifest.layout.vertices), (49, 2401 + 49));
    let vertices = manifest.layout.vertices;
    let found = verify(&folders.out(), &source, &settings, &Watch::NOBODY);
    let found = found.expect("verifies");
    let promised = found.promised.iter().map(|p| p * p).sum::<f64>().sqrt();
    println!(
        "soft: {vertices} vertices, {split} split, {:?} texels, {} bytes; position {:.3e} m (promised {promised:.3e}), normal {:.3} degrees",
        summary.size,
        summary.texture_bytes,
        found.errors.position.largest,
        found.errors.normal.largest.to_degrees(),
    );
    assert!(found.is_same(promised * 1.001 + 1e-6), "{found:?}");
    assert!(found.errors.normal.largest.to_degrees() < 0.4);
    let (_, loose) = baked(&source, &with_mode(Mode::Remesh));
    println!(
        "remesh: {} triangles, {:?} texels, {} bytes",
        loose.triangles, loose.size, loose.texture_bytes
    );
    assert!(summary.texture_bytes * 8 < loose.texture_bytes);
}
