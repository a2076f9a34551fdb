//! Whole bakes of small sequences; the truth is the sequence.

pub(super) mod decoded;
mod empty_frames;
mod ends;
mod far;
mod faults;
mod files;
mod held_back;
mod kept;
mod points;
mod recut_files;
mod shapes;
mod simplified;
mod spaces;
mod tearing_files;

use super::*;
use crate::{MeshFrames, Watch};
use sinew_geom::vec3::distance;
use sinew_geom::{Mesh, Topology};
use sinew_testkit::files_in as content;
use sinew_vat::manifest;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tetrahedra that fly apart, one more each frame up to frame 5, then fewer; frame 8 is empty.
fn swarm() -> MeshFrames {
    let frames = (0..9).map(|f: u32| {
        let count = if f <= 5 { f + 1 } else { 8 - f };
        let mut positions = Vec::new();
        let mut triangles = Vec::new();
        for i in 0..count {
            let (at, far) = (i as f32 * 0.9, 1.0 + f as f32 * 0.15);
            let center = [at.cos() * far, at.sin() * far, f as f32 * 0.1];
            let base = 4 * i;
            for corner in [
                [0.0, 0.0, 0.0],
                [0.3, 0.0, 0.0],
                [0.0, 0.3, 0.0],
                [0.0, 0.0, 0.3],
            ] {
                positions.push(std::array::from_fn(|k| center[k] + corner[k]));
            }
            for t in [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
                triangles.push(t.map(|v| v + base));
            }
        }
        let vertices = positions.len() as u32;
        let topology = Topology::new(vertices, triangles).expect("in range");
        let mut mesh = Mesh::new("swarm", topology, positions);
        let hue = |v: u32| [(v % 5) as f32 / 4.0, (v % 3) as f32 / 2.0, 0.2, 1.0];
        mesh.colors = vec![(0..vertices).map(hue).collect()];
        mesh
    });
    MeshFrames::new("swarm", frames.collect())
}

/// A grid of 6 x 5 vertices that waves.
fn flag() -> MeshFrames {
    let quads = (0..5_u32).flat_map(|x| (0..4_u32).map(move |y| x * 5 + y));
    let triangles: Vec<_> = quads
        .flat_map(|v| [[v, v + 5, v + 6], [v, v + 6, v + 1]])
        .collect();
    let topology = Topology::new(30, triangles).expect("in range");
    let frames = (0..7).map(|f| {
        let at = |v: u32| {
            let (x, y) = ((v / 5) as f32 * 0.2, (v % 5) as f32 * 0.2);
            [x, y, 0.1 * (x * 4.0 + f as f32 * 0.5).sin()]
        };
        let mut mesh = Mesh::new("flag", topology.clone(), (0..30).map(at).collect());
        mesh.uvs = vec![
            (0..30)
                .map(|v| [(v / 5) as f32 / 5.0, (v % 5) as f32 / 4.0])
                .collect(),
        ];
        mesh
    });
    MeshFrames::new("flag", frames.collect())
}

fn with_order(order: TriangleOrder) -> VatSettings {
    VatSettings {
        order,
        ..VatSettings::default()
    }
}

fn with_format(quantity: Quantity, format: TexelFormat) -> VatSettings {
    let normal = TextureChoice {
        quantity: Quantity::Normal,
        format,
    };
    VatSettings {
        textures: vec![TextureChoice { quantity, format }, normal],
        ..VatSettings::default()
    }
}

/// A folder to work in and one for the result.
struct Folders(tempfile::TempDir);

impl Folders {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }
    fn work(&self) -> std::path::PathBuf {
        self.0.path().join("work")
    }
    fn out(&self) -> std::path::PathBuf {
        self.0.path().join("out")
    }
}

fn baked(source: &dyn FrameSource, settings: &VatSettings) -> (Folders, Summary) {
    let folders = Folders::new();
    let summary = bake(
        source,
        settings,
        &folders.work(),
        &folders.out(),
        &Watch::NOBODY,
    );
    (folders, summary.expect("bakes"))
}

fn assert_true(source: &dyn FrameSource, settings: &VatSettings) -> Summary {
    let (folders, summary) = baked(source, settings);
    let found = verify(&folders.out(), source, settings, &Watch::NOBODY).expect("verifies");
    assert_eq!(
        (found.lost, found.invented, found.first_wrong),
        (0, 0, None)
    );
    assert_eq!(found.frames, source.frame_count());
    let promised = found.promised.iter().map(|p| p * p).sum::<f64>().sqrt();
    let allowed = promised * 1.001 + 1e-6;
    assert!(found.errors.position.samples() > 0);
    assert!(found.is_same(allowed), "{found:?}");
    assert!(
        found.errors.position.largest <= allowed,
        "{found:?}, allowed {allowed}"
    );
    // What the bake says of itself is what is found in its files.
    let said = summary.errors.position.largest;
    assert!(
        (said - found.errors.position.largest).abs() < 1e-6,
        "{said} {found:?}"
    );
    let angle = found.errors.normal.largest;
    assert!((summary.errors.normal.largest - angle).abs() < 1e-6);
    // Three channels of 8 bits: 0.37 degrees are published.
    assert!(angle.to_degrees() < 0.4, "{}", angle.to_degrees());
    summary
}

#[test]
fn every_order_shows_every_triangle() {
    for order in [TriangleOrder::File, TriangleOrder::Match] {
        let summary = assert_true(&swarm(), &with_order(order));
        assert_eq!(summary.mode, Mode::Remesh);
        assert!(summary.triangles >= 24);
    }
}

#[test]
fn every_format_holds_what_it_promises() {
    use TexelFormat::{Float, Half, TwoUnorm8, Unorm8, Unorm16};
    for format in [Unorm16, TwoUnorm8, Float] {
        assert_true(&swarm(), &with_format(Quantity::Position, format));
        assert_true(&flag(), &with_format(Quantity::Offset, format));
        assert_true(&flag(), &with_format(Quantity::Position, format));
    }
    // Triangles that are a few steps of 8 bits large are found again; halves promise eleven bits, which `promised` does not know.
    assert_true(&flag(), &with_format(Quantity::Offset, Unorm8));
    let (folders, _) = baked(&flag(), &with_format(Quantity::Offset, Half));
    let settings = with_format(Quantity::Offset, Half);
    let found = verify(&folders.out(), &flag(), &settings, &Watch::NOBODY).expect("verifies");
    assert!(found.errors.position.largest < 0.2 / 2048.0);
}

/// Sheets that lie nearer to each other than the codes of 8 bits tell apart: each slot may show a triangle of many sheets, and all are there.
#[test]
fn sheets_within_a_code_of_each_other_are_all_found() {
    let frames = (0..3_u32).map(|f| {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for sheet in 0..12_u32 {
            // A code is 1 / 255 of the side; sheets are a few tenths of one apart, at odds with them.
            let up = (sheet * 7 % 12) as f32 * 0.37 / 255.0 + 0.001 * f as f32;
            for i in 0..3 + f {
                let (base, x) = (positions.len() as u32, i as f32 * 0.2);
                positions.extend([[x, up, 0.0], [x + 0.15, up, 0.0], [x, up, 0.2]]);
                triangles.push([base, base + 1, base + 2]);
            }
        }
        // What makes the box a cube of one metre.
        let base = positions.len() as u32;
        positions.extend([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]);
        triangles.push([base, base + 1, base + 2]);
        let topology = Topology::new(base + 3, triangles).expect("in range");
        Mesh::new("sheets", topology, positions)
    });
    let source = MeshFrames::new("sheets", frames.collect());
    for points in [Points::Corners, Points::Unique] {
        let settings = VatSettings {
            points,
            ..with_format(Quantity::Position, TexelFormat::Unorm8)
        };
        let (folders, _) = baked(&source, &settings);
        let found = verify(&folders.out(), &source, &settings, &Watch::NOBODY).expect("verifies");
        assert_eq!((found.lost, found.invented), (0, 0), "{found:?}");
        let promised = found.promised.iter().map(|p| p * p).sum::<f64>().sqrt();
        assert!(
            found.errors.position.largest <= promised * 1.01 + 1e-6,
            "{found:?}"
        );
    }
}

#[test]
fn what_a_sequence_is_decides_the_mode() {
    assert_eq!(baked(&flag(), &VatSettings::default()).1.mode, Mode::Soft);
    let forced = VatSettings {
        mode: Some(Mode::Remesh),
        ..VatSettings::default()
    };
    assert_eq!(assert_true(&flag(), &forced).mode, Mode::Remesh);
    let wrong = VatSettings {
        mode: Some(Mode::Soft),
        ..VatSettings::default()
    };
    let folders = Folders::new();
    let error = bake(
        &swarm(),
        &wrong,
        &folders.work(),
        &folders.out(),
        &Watch::NOBODY,
    );
    let text = error.expect_err("not soft").to_string();
    assert_eq!(
        text,
        "frame 1: 8 vertices, the first frame has 4; mode remesh takes frames whose triangles change"
    );
    assert!(!folders.out().exists());
}

#[test]
fn chunks_and_threads_do_not_matter() {
    let source = swarm();
    let (whole, _) = baked(&source, &VatSettings::default());
    let expected = content(&whole.out());
    // Manifest, report, carrier, two textures, six files of players.
    assert_eq!(expected.len(), 11, "{:?}", expected.keys());
    for (of, threads) in [(1, 1), (3, 2), (9, 4), (20, 1)] {
        let folders = Folders::new();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        let chunk = |i: usize| format!("{i}/{of}").parse().expect("a chunk");
        pool.install(|| {
            let job = VatJob::begin(&folders.work(), &source, &VatSettings::default());
            let job = job.expect("begins");
            for i in (1..=of).rev() {
                scan(&job, &source, chunk(i), &Watch::NOBODY).expect("scans");
            }
            // Steps behind the scan know the job by its folder alone.
            let job = VatJob::open(&folders.work()).expect("opens");
            plan(&job, &Watch::NOBODY).expect("plans");
            for i in 1..=of {
                texels(&job, chunk(i), &Watch::NOBODY).expect("texels");
            }
            assemble(&job, &folders.out(), &Watch::NOBODY).expect("assembles");
        });
        assert_eq!(
            content(&folders.out()),
            expected,
            "{of} chunks, {threads} threads"
        );
    }
}

#[test]
fn a_bake_that_was_stopped_goes_on() {
    let source = swarm();
    let (whole, _) = baked(&source, &VatSettings::default());
    let expected = content(&whole.out());
    let folders = Folders::new();
    let mut stops = 0;
    // Stopped after ever more steps until it comes to an end.
    for patience in (1..200).step_by(3) {
        let asked = AtomicUsize::new(0);
        let watch = Watch {
            is_cancelled: &|| asked.fetch_add(1, Ordering::Relaxed) >= patience,
            progress: &|_, _, _| {},
        };
        match bake(
            &source,
            &VatSettings::default(),
            &folders.work(),
            &folders.out(),
            &watch,
        ) {
            Ok(_) => break,
            Err(BakeError::Cancelled) => stops += 1,
            Err(other) => panic!("{other}"),
        }
        assert!(
            !folders.out().exists(),
            "half a bake after {patience} steps"
        );
    }
    assert!(stops > 3, "stopped {stops} times");
    assert_eq!(content(&folders.out()), expected);
}

#[test]
fn damaged_and_stale_records_are_made_anew() {
    let source = swarm();
    let (folders, _) = baked(&source, &VatSettings::default());
    let expected = content(&folders.out());
    for name in [
        "frames/000003.frame",
        "frames/000002.match",
        "slots/000005.slots",
        "texels/000001.texels",
        "texels/000004.texels",
    ] {
        let path = folders.work().join(name);
        let bytes = std::fs::read(&path).expect(name);
        for at in [0, bytes.len() / 2, bytes.len() - 9, bytes.len() - 1] {
            // Only hashes can tell.
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            std::fs::write(&path, damaged).expect("written");
            for stale in ["plan.json", "texels/000003.texels"] {
                let _ = std::fs::remove_file(folders.work().join(stale));
            }
            let again = bake(
                &source,
                &VatSettings::default(),
                &folders.work(),
                &folders.out(),
                &Watch::NOBODY,
            );
            again.unwrap_or_else(|e| panic!("{name}, byte {at}: {e}"));
            assert_eq!(content(&folders.out()), expected, "{name}, byte {at}");
        }
    }
    let other = VatSettings {
        frames_per_second: 30.0,
        ..VatSettings::default()
    };
    bake(
        &source,
        &other,
        &folders.work(),
        &folders.out(),
        &Watch::NOBODY,
    )
    .expect("bakes");
    let (_, read) = read_manifest(&folders.out()).expect("reads");
    assert_eq!(read.clips[0].frames.frames_per_second, 30.0);
}

#[test]
fn steps_say_what_is_missing_before_them() {
    let (source, folders) = (swarm(), Folders::new());
    let job = VatJob::begin(&folders.work(), &source, &VatSettings::default()).expect("begins");
    scan(
        &job,
        &source,
        "1/3".parse().expect("a chunk"),
        &Watch::NOBODY,
    )
    .expect("scans");
    let error = plan(&job, &Watch::NOBODY)
        .expect_err("scans are missing")
        .to_string();
    assert!(error.contains("no scans of frames 4-8"), "{error}");
    let error = texels(&job, Chunk::ALL, &Watch::NOBODY)
        .expect_err("no plan")
        .to_string();
    assert!(error.contains("no plan"), "{error}");
    scan(&job, &source, Chunk::ALL, &Watch::NOBODY).expect("scans");
    plan(&job, &Watch::NOBODY).expect("plans");
    texels(&job, "2/3".parse().expect("a chunk"), &Watch::NOBODY).expect("texels");
    let error = assemble(&job, &folders.out(), &Watch::NOBODY).expect_err("texels are missing");
    assert!(
        error.to_string().contains("no texels of frames 0-2, 6-8"),
        "{error}"
    );
    assert!(!folders.out().exists());
}

#[test]
fn frames_with_fewer_triangles_collapse_the_rest_and_empty_ones_are_legal() {
    let (folders, summary) = baked(&swarm(), &VatSettings::default());
    let animation = read_animation(&folders.out()).expect("reads");
    let live = |frame: u32| {
        let frame = frame * animation.manifest().frame_step();
        let corner =
            |slot: u32, k: u32| [0, 1, 2].map(|c| animation.value(0, 3 * slot + k, frame, c));
        let is_live = |slot: &u32| {
            corner(*slot, 0) != corner(*slot, 1) || corner(*slot, 0) != corner(*slot, 2)
        };
        (0..summary.triangles).filter(is_live).count()
    };
    let counts: Vec<usize> = (0..9).map(live).collect();
    assert_eq!(counts, [4, 8, 12, 16, 20, 24, 8, 4, 0]);
    assert!(animation.manifest().can_blend);
    let nothing = MeshFrames::new("none", vec![Mesh::new("", Topology::default(), Vec::new())]);
    let folders = Folders::new();
    let error = bake(
        &nothing,
        &VatSettings::default(),
        &folders.work(),
        &folders.out(),
        &Watch::NOBODY,
    );
    assert_eq!(
        error.expect_err("nothing").to_string(),
        "none of the 1 frames has a triangle"
    );
}

/// Nothing is seen on its way over an empty frame, so that as many slots do as the fullest frame has triangles.
#[test]
fn an_empty_frame_between_full_ones_takes_no_slots() {
    let empty = Mesh::new("", Topology::default(), Vec::new());
    let (five, four) = (swarm().load(4), swarm().load(3));
    let [five, four] = [five, four].map(|f| f.expect("there").mesh);
    let frames = vec![five.clone(), four, empty, five];
    let source = MeshFrames::new("swarm", frames);
    assert_eq!(
        assert_true(&source, &VatSettings::default()).triangles,
        5 * 4
    );
}

/// Textures that are too small are told with the side that does.
#[test]
fn too_large_bakes_propose_a_side() {
    let settings = |largest_side| VatSettings {
        largest_side,
        ..VatSettings::default()
    };
    let openvat = |largest_side| VatSettings {
        mode: Some(Mode::Soft),
        convention: Convention::OpenVat(OpenVat {
            packed_normals: false,
        }),
        ..settings(largest_side)
    };
    let pieces = VatSettings {
        mode: Some(Mode::Soft),
        ..settings(2)
    };
    for (source, settings) in [
        (swarm(), settings(4)),
        (flag(), pieces),
        (flag(), openvat(32)),
    ] {
        let folders = Folders::new();
        let (work, out) = (folders.work(), folders.out());
        let made = bake(&source, &settings, &work, &out, &Watch::NOBODY);
        let error = made.expect_err("too small");
        let found = matches!(error, BakeError::TooLarge { proposal, .. } if proposal == Some(("WebGL 2", 2048)));
        assert!(found, "{error:?}");
        let message = error.to_string();
        assert!(
            message.ends_with("cannot hold them; --max-side 2048 does (WebGL 2)"),
            "{message}"
        );
    }
    let error = sinew_vat::layout::LayoutError::TooLarge {
        vertices: 300_000,
        frames: 1000,
        limit: 16384,
    };
    let message = BakeError::TooLarge {
        error,
        proposal: None,
    }
    .to_string();
    assert!(
        message.ends_with("fewer frames would (--range), or fewer triangles (--faces)"),
        "{message}"
    );
}

/// Engines cull by `bounds`: the carrier is not to reach out of it, however flat or small a sequence is.
#[test]
fn carriers_stay_in_bounds() {
    let scaled = |scale: [f32; 3]| {
        let frames = (1..5).map(|f| {
            let mut mesh = swarm().load(f).expect("there").mesh;
            let places = mesh.positions.iter_mut();
            places.for_each(|p| *p = [0, 1, 2].map(|k| p[k] * scale[k]));
            mesh
        });
        MeshFrames::new("swarm", frames.collect())
    };
    let flat = with_order(TriangleOrder::File);
    for (source, settings) in [
        (scaled([1.0, 0.0, 1.0]), flat.clone()),
        (scaled([1e-5; 3]), flat),
        (shapes::fountain(true), VatSettings::default()),
    ] {
        let (folders, _) = baked(&source, &settings);
        let (path, manifest) = read_manifest(&folders.out()).expect("reads");
        let carrier = sinew_io::read_any(&path.with_file_name(&manifest.carrier)).expect("reads");
        let (low, high) = carrier.asset.meshes[0].bounds().expect("not empty");
        let bounds = manifest.bounds;
        assert!(
            (0..3).all(|k| bounds.0[k] <= low[k] && high[k] <= bounds.1[k]),
            "{low:?} to {high:?} in {bounds:?}"
        );
        let found = verify(&folders.out(), &source, &settings, &Watch::NOBODY).expect("verifies");
        assert_eq!(found.faults, []);
    }
}

/// Each tetrahedron ends where it is in the next frame, those that go away in a point; edges stay shut and normals those of sides.
#[test]
fn blends_go_to_where_things_are_in_the_next_frame() {
    let settings = VatSettings {
        textures: [Quantity::Position, Quantity::Normal]
            .map(|quantity| TextureChoice {
                quantity,
                format: TexelFormat::Float,
            })
            .into(),
        ..VatSettings::default()
    };
    let source = swarm();
    let (folders, summary) = baked(&source, &settings);
    let animation = read_animation(&folders.out()).expect("reads");
    assert_eq!(animation.manifest().frame_step(), 2);
    let vector = |texture: usize, vertex: u32, frame: u32| {
        [0, 1, 2].map(|c| animation.value(texture, vertex, frame, c))
    };
    for frame in 0..8_u32 {
        let now = source.load(frame as usize).expect("a frame").mesh;
        let next = source.load(frame as usize + 1).expect("a frame").mesh;
        for vertex in 0..summary.triangles * 3 {
            let (start, stop) = (
                vector(0, vertex, 2 * frame),
                vector(0, vertex, 2 * frame + 1),
            );
            let slot = vertex / 3 * 3;
            let is_live =
                (1..3).any(|k| vector(0, slot + k, 2 * frame) != vector(0, slot, 2 * frame));
            if !is_live {
                continue;
            }
            let source_vertex = now.positions.iter().position(|p| *p == start);
            let v = source_vertex.expect("a vertex of the frame");
            match next.positions.get(v) {
                Some(there) => {
                    let off = distance(stop, *there);
                    assert!(
                        off < 1e-3,
                        "frame {frame}, vertex {v}: {off} m from {there:?}"
                    );
                    let turned = distance(
                        vector(1, vertex, 2 * frame),
                        vector(1, vertex, 2 * frame + 1),
                    );
                    assert!(
                        turned < 1e-3,
                        "frame {frame}, vertex {v}: normal off by {turned}"
                    );
                }
                None => {
                    let tetrahedron = v / 4 * 4;
                    let all = &now.positions[tetrahedron..tetrahedron + 4];
                    let far = all.iter().map(|p| distance(stop, *p)).fold(0.0, f32::max);
                    assert!(far < 0.5, "frame {frame}, vertex {v} goes {far} m far");
                }
            }
        }
    }
    // New ones grow out of one point each: four triangles with the same one.
    let mut points: Vec<[u32; 3]> = Vec::new();
    for slot in 0..summary.triangles {
        let grows =
            |end: u32| (1..3).any(|k| vector(0, 3 * slot + k, end) != vector(0, 3 * slot, end));
        if !grows(0) && grows(1) {
            points.push(vector(0, 3 * slot, 0).map(f32::to_bits));
        }
    }
    points.sort_unstable();
    points.dedup();
    assert_eq!(
        points.len(),
        1,
        "frame 1 has one tetrahedron more: {points:?}"
    );
}

#[test]
fn soft_carriers_keep_texture_coordinates_and_add_theirs() {
    let (folders, _) = baked(&flag(), &VatSettings::default());
    let (path, read) = read_manifest(&folders.out()).expect("reads");
    assert_eq!((read.mode, read.uv_set), (manifest::Mode::Soft, 1));
    let carrier = sinew_io::read_any(&path.with_file_name(&read.carrier))
        .expect("reads")
        .asset;
    let mesh = &carrier.meshes[0];
    assert_eq!(mesh.positions.len(), 30);
    assert_eq!(mesh.uvs.len(), 2);
    let [width, height] = read.layout.size.map(|s| s as f32);
    for (v, uv) in mesh.uvs[1].iter().enumerate() {
        let [x, y] = read.layout.texel(v as u32, 0).map(|t| t as f32);
        assert!((uv[0] * width - x - 0.5).abs() < 1e-3 && (uv[1] * height - y - 0.5).abs() < 1e-3);
    }
}

#[test]
fn wrong_files_are_named() {
    let (folders, _) = baked(&flag(), &VatSettings::default());
    let manifest_path = folders.out().join("flag.vat.json");
    let text = std::fs::read_to_string(&manifest_path).expect("there");
    let wrong = |from: &str, to: &str, part: &str| {
        assert!(text.contains(from), "{from}");
        std::fs::write(&manifest_path, text.replacen(from, to, 1)).expect("written");
        let error = read_animation(&folders.out()).expect_err(part).to_string();
        assert!(error.contains(part), "{error} has no {part}");
    };
    wrong("\"version\": 1", "\"version\": 9", "`version` is 9");
    wrong("\"flag_normal.png\"", "\"flag_offset.png\"", "16 bits");
    wrong("\"flag_normal.png\"", "\"flag_none.png\"", "flag_none.png");
    wrong("\"version\"", "\"versoin\"", "line 3");
    std::fs::write(&manifest_path, &text).expect("written");
    std::fs::copy(
        folders.out().join("flag_offset.png"),
        folders.out().join("flag_normal.png"),
    )
    .expect("copied");
    let error = read_animation(&manifest_path)
        .expect_err("another texture")
        .to_string();
    assert!(error.contains("flag_normal.png"), "{error}");
    let settings = VatSettings {
        frames_per_second: f32::NAN,
        ..VatSettings::default()
    };
    let error = VatJob::begin(&folders.work(), &flag(), &settings).expect_err("no rate");
    assert!(
        error.to_string().contains("frames_per_second is NaN"),
        "{error}"
    );
}

#[test]
fn numbers_that_are_none_or_too_far_are_named() {
    let wrong = |change: &dyn Fn(&mut Mesh)| {
        let mut mesh = flag().load(0).expect("there").mesh;
        change(&mut mesh);
        let (source, folders) = (MeshFrames::new("flag", vec![mesh]), Folders::new());
        let made = bake(
            &source,
            &VatSettings::default(),
            &folders.work(),
            &folders.out(),
            &Watch::NOBODY,
        );
        made.expect_err("refused").to_string()
    };
    let uv = wrong(&|m| m.uvs[0][3][1] = f32::NAN);
    assert_eq!(uv, "frame 0, vertex 3: NaN is no finite texture coordinate");
    let heat = sinew_geom::Attribute::Scalar((0..30).map(|v| 1.0 / (v - 7) as f32).collect());
    let heat = wrong(&|m| drop(m.attributes.insert("heat".into(), heat.clone())));
    assert_eq!(heat, "frame 0, vertex 7: inf is no finite heat");
    // Squares of such places do not fit into single precision.
    let far = wrong(&|m| m.positions[7][1] = -2e19);
    let what = "a coordinate of -2e19 metres, expected 1e8 at most";
    assert_eq!(far, format!("frame 0, vertex 7: {what}"));
    let points = wrong(&|m| {
        m.topology = std::sync::Arc::new(Topology::new(30, Vec::new()).expect("points"));
        m.positions[29][0] = 2e19;
    });
    assert!(points.starts_with("frame 0, vertex 29: "), "{points}");
}
