//! Whole bakes of small sequences; the truth is the sequence.

pub(super) mod decoded;
mod empty_frames;
mod ends;
mod far;
mod faults;
mod files;
pub(super) mod fixture;
mod held_back;
mod kept;
mod points;
mod retriangulated_files;
mod shapes;
mod simplified;
mod spaces;
mod tearing_files;

use super::*;
use crate::{MeshFrames, Watch};
use fixture::*;
use sinew_geom::vec3::distance;
use sinew_geom::{Mesh, Topology};
use sinew_testkit::files_in as content;
use sinew_testkit::meshes::mesh_from;
use sinew_vat::manifest;
use sinew_vat::quantity::Quantity;
use sinew_vat::texel::TexelFormat;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Tetrahedra that fly apart, one more each frame up to frame 5, then fewer; frame 8 is empty.
fn swarm() -> MeshFrames {
    let frames = (0..9).map(|f: u32| {
        let count = if f <= 5 { f + 1 } else { 8 - f };
        let at = |i: u32| {
            let (angle, far) = (i as f32 * 0.9, 1.0 + f as f32 * 0.15);
            let at = [angle.cos() * far, angle.sin() * far, f as f32 * 0.1];
            (at, 0.3)
        };
        let mut mesh = tetrahedra("swarm", &(0..count).map(at).collect::<Vec<_>>());
        let hue = |v: u32| [(v % 5) as f32 / 4.0, (v % 3) as f32 / 2.0, 0.2, 1.0];
        mesh.colors = vec![(0..4 * count).map(hue).collect()];
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

fn assert_true(source: &dyn FrameSource, settings: &VatSettings) -> Summary {
    let (folders, summary) = baked(source, settings);
    let found = folders.verified(source, settings);
    assert_eq!(
        (found.lost, found.invented, found.first_wrong),
        (0, 0, None)
    );
    assert_eq!(found.frames, source.frame_count());
    assert!(found.errors.position.samples() > 0);
    assert!(found.is_same(allowed(&found)), "{found:?}");
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
        assert_eq!(summary.plan.mode(), Mode::Remesh);
        assert!(summary.plan.triangles >= 24);
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
    let found = folders.verified(&flag(), &settings);
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
        mesh_from("sheets", positions, triangles)
    });
    let source = MeshFrames::new("sheets", frames.collect());
    for points in [Points::Corners, Points::Unique] {
        let settings = VatSettings {
            points,
            ..with_format(Quantity::Position, TexelFormat::Unorm8)
        };
        let (folders, _) = baked(&source, &settings);
        let found = folders.verified(&source, &settings);
        assert_eq!((found.lost, found.invented), (0, 0), "{found:?}");
        let largest = found.errors.position.largest;
        assert!(largest <= allowed(&found) * 1.01, "{found:?}");
    }
}

#[test]
fn what_a_sequence_is_decides_the_mode() {
    assert_eq!(mode_of(&flag(), &VatSettings::default()), Mode::Soft);
    let forced = assert_true(&flag(), &with_mode(Mode::Remesh));
    assert_eq!(forced.plan.mode(), Mode::Remesh);
    assert_eq!(
        refused(&swarm(), &with_mode(Mode::Soft)).to_string(),
        "frame 1: 8 vertices, the first frame has 4; mode remesh takes frames whose triangles change"
    );
}

/// A bake of each kind: what it is called, its sequence and its settings.
fn kinds() -> Vec<(&'static str, MeshFrames, VatSettings)> {
    let usual = VatSettings::default;
    let unique = VatSettings {
        points: Points::Unique,
        ..usual()
    };
    vec![
        ("soft", flag(), usual()),
        // Its truth is what is left of the frames by one collapse.
        ("soft", flag(), to_faces(24, usual())),
        ("remesh", swarm(), usual()),
        ("unique", swarm(), unique),
        ("rigid", shapes::boxes(5), usual()),
        ("particles", shapes::fountain(true), usual()),
    ]
}

#[test]
fn chunks_and_threads_do_not_matter() {
    let (cloth, by_motion) = (tearing_files::cloth(), shapes::fountain(false));
    let more = [("tears", cloth), ("by motion", by_motion)];
    let more = more.map(|(what, source)| (what, source, VatSettings::default()));
    for (_, source, settings) in kinds().into_iter().chain(more) {
        assert_chunks_do_not_matter(&source, &settings);
    }
    // Manifest, report, carrier, two textures, six files of players.
    let (folders, _) = baked(&swarm(), &VatSettings::default());
    assert_eq!(content(&folders.out()).len(), 11);
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
        let (settings, work, out) = (VatSettings::default(), folders.work(), folders.out());
        match bake(&source, &settings, &work, &out, &watch) {
            Ok(_) => break,
            Err(BakeError::Cancelled) => stops += 1,
            Err(other) => panic!("{other}"),
        }
        assert!(!out.exists(), "half a bake after {patience} steps");
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
            let again = folders.bake(&source, &VatSettings::default());
            again.unwrap_or_else(|e| panic!("{name}, byte {at}: {e}"));
            assert_eq!(content(&folders.out()), expected, "{name}, byte {at}");
        }
    }
    let other = VatSettings {
        frames_per_second: 30.0,
        ..VatSettings::default()
    };
    folders.bake(&source, &other).expect("bakes");
    let clip = &folders.manifest().clips[0];
    assert_eq!(clip.frames.frames_per_second, 30.0);
}

#[test]
fn steps_say_what_is_missing_before_them() {
    let (source, folders) = (swarm(), Folders::new());
    let job = VatJob::begin(&folders.work(), &source, &VatSettings::default()).expect("begins");
    let chunk = |text: &str| text.parse().expect("a chunk");
    let nobody = &Watch::NOBODY;
    let misses = |error: Option<BakeError>, what: &str| {
        let text = error.expect("something is missing").to_string();
        assert!(text.contains(what), "{text}");
    };
    scan(&job, &source, chunk("1/3"), nobody).expect("scans");
    misses(plan(&job, nobody).err(), "no scans of frames 4-8");
    misses(texels(&job, Chunk::ALL, nobody).err(), "no plan");
    scan(&job, &source, Chunk::ALL, nobody).expect("scans");
    plan(&job, nobody).expect("plans");
    texels(&job, chunk("2/3"), nobody).expect("texels");
    let made = assemble(&job, &folders.out(), nobody);
    misses(made.err(), "no texels of frames 0-2, 6-8");
    assert!(!folders.out().exists());
}

#[test]
fn frames_with_fewer_triangles_collapse_the_rest_and_empty_ones_are_legal() {
    let (folders, summary) = baked(&swarm(), &VatSettings::default());
    let animation = folders.animation();
    let live = |frame: u32| {
        let frame = frame * animation.manifest().frame_step();
        let corner = |slot: u32, k: u32| animation.vector(0, 3 * slot + k, frame);
        let is_live = |slot: &u32| {
            corner(*slot, 0) != corner(*slot, 1) || corner(*slot, 0) != corner(*slot, 2)
        };
        (0..summary.plan.triangles).filter(is_live).count()
    };
    let counts: Vec<usize> = (0..9).map(live).collect();
    assert_eq!(counts, [4, 8, 12, 16, 20, 24, 8, 4, 0]);
    assert!(animation.manifest().can_blend);
    let nothing = MeshFrames::new("none", vec![Mesh::new("", Topology::default(), Vec::new())]);
    let error = refused(&nothing, &VatSettings::default());
    assert_eq!(error.to_string(), "none of the 1 frames has a triangle");
}

/// Nothing is seen on its way over an empty frame, so that as many slots do as the fullest frame has triangles.
#[test]
fn an_empty_frame_between_full_ones_takes_no_slots() {
    let empty = Mesh::new("", Topology::default(), Vec::new());
    let mut all = meshes_of(&swarm());
    let [four, five] = [3, 4].map(|f| std::mem::take(&mut all[f]));
    let source = MeshFrames::new("swarm", vec![five.clone(), four, empty, five]);
    let made = assert_true(&source, &VatSettings::default());
    assert_eq!(made.plan.triangles, 5 * 4);
}

/// Textures that are too small are told with the side that does.
#[test]
fn too_large_bakes_propose_a_side() {
    let within = |largest_side, settings| VatSettings {
        largest_side,
        ..settings
    };
    let openvat = VatSettings {
        mode: Some(Mode::Soft),
        ..like_openvat(false)
    };
    for (source, settings) in [
        (swarm(), within(4, VatSettings::default())),
        (flag(), within(2, with_mode(Mode::Soft))),
        (flag(), within(32, openvat)),
    ] {
        let error = refused(&source, &settings);
        let found = matches!(error, BakeError::TooLarge { proposal, .. } if proposal == Some(("WebGL 2", 2048)));
        assert!(found, "{error:?}");
        let (message, end) = (error.to_string(), "--max-side 2048 does (WebGL 2)");
        assert!(message.ends_with(end), "{message}");
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
        let mut frames = meshes_of(&swarm())[1..5].to_vec();
        let places = frames.iter_mut().flat_map(|mesh| &mut mesh.positions);
        places.for_each(|p| *p = [0, 1, 2].map(|k| p[k] * scale[k]));
        MeshFrames::new("swarm", frames)
    };
    let flat = with_order(TriangleOrder::File);
    for (source, settings) in [
        (scaled([1.0, 0.0, 1.0]), flat.clone()),
        (scaled([1e-5; 3]), flat),
        (shapes::fountain(true), VatSettings::default()),
    ] {
        let (folders, _) = baked(&source, &settings);
        let (low, high) = folders.carrier().bounds().expect("not empty");
        let bounds = folders.manifest().bounds;
        assert!(
            (0..3).all(|k| bounds.0[k] <= low[k] && high[k] <= bounds.1[k]),
            "{low:?} to {high:?} in {bounds:?}"
        );
        let found = folders.verified(&source, &settings);
        assert_eq!(found.faults, []);
    }
}

/// Each tetrahedron ends where it is in the next frame, those that go away in a point; edges stay shut and normals those of sides.
#[test]
fn blends_go_to_where_things_are_in_the_next_frame() {
    let settings = with_format(Quantity::Position, TexelFormat::Float);
    let source = swarm();
    let (folders, summary) = baked(&source, &settings);
    let animation = folders.animation();
    assert_eq!(animation.manifest().frame_step(), 2);
    let vector = |texture, vertex, row| animation.vector(texture, vertex, row);
    let frames = meshes_of(&source);
    for frame in 0..8_u32 {
        let [now, next] = [0, 1].map(|k| &frames[frame as usize + k]);
        for vertex in 0..summary.plan.triangles * 3 {
            let [start, stop] = [0, 1].map(|row| vector(0, vertex, 2 * frame + row));
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
                    assert!(off < 1e-3, "frame {frame}, vertex {v}: {off} m");
                    let [a, b] = [0, 1].map(|row| vector(1, vertex, 2 * frame + row));
                    assert!(distance(a, b) < 1e-3, "frame {frame}, vertex {v}: normal");
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
    for slot in 0..summary.plan.triangles {
        let grows =
            |end: u32| (1..3).any(|k| vector(0, 3 * slot + k, end) != vector(0, 3 * slot, end));
        if !grows(0) && grows(1) {
            points.push(vector(0, 3 * slot, 0).map(f32::to_bits));
        }
    }
    points.sort_unstable();
    points.dedup();
    assert_eq!(points.len(), 1, "frame 1 has one more: {points:?}");
}

#[test]
fn soft_carriers_keep_texture_coordinates_and_add_theirs() {
    let (folders, _) = baked(&flag(), &VatSettings::default());
    let (read, mesh) = (folders.manifest(), folders.carrier());
    assert_eq!((read.mode, read.uv_set), (manifest::Mode::Soft, 1));
    assert_eq!((mesh.positions.len(), mesh.uvs.len()), (30, 2));
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
    let [offset, normal] =
        ["offset", "normal"].map(|q| folders.out().join(format!("flag_{q}.png")));
    std::fs::copy(offset, normal).expect("copied");
    let error = read_animation(&manifest_path).expect_err("another texture");
    assert!(error.to_string().contains("flag_normal.png"), "{error}");
    let settings = VatSettings {
        frames_per_second: f32::NAN,
        ..VatSettings::default()
    };
    let text = refused(&flag(), &settings).to_string();
    assert!(text.contains("frames_per_second is NaN"), "{text}");
}

#[test]
fn numbers_that_are_none_or_too_far_are_named() {
    let wrong = |change: &dyn Fn(&mut Mesh)| {
        let mut mesh = flag().load(0).expect("there").mesh;
        change(&mut mesh);
        let source = MeshFrames::new("flag", vec![mesh]);
        refused(&source, &VatSettings::default()).to_string()
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
