//! Sequences whose triangles stay the same and are simplified: by one collapse, which is for all frames. The truth is the sequence.

use super::*;
use crate::Chunk;
use crate::vat::maker::prepare::simplify::SimplifySettings;
use crate::vat::{VatJob, assemble, plan, read_animation, scan, texels, verify};
use sinew_testkit::files_in as content;
use std::collections::BTreeSet;

const SIDE: u32 = 25;
const FRAMES: u32 = 14;

/// Height of the cloth: flat at first, then a ridge rises along x = 0.3.
fn height(x: f32, frame: u32) -> f32 {
    let away = (x - 0.3) / 0.06;
    0.02 * frame as f32 * (-away * away).exp()
}

/// A square of one metre that lies flat in the first frame.
fn cloth() -> Vec<Mesh> {
    let quads = (0..SIDE - 1).flat_map(|x| (0..SIDE - 1).map(move |y| x * SIDE + y));
    let triangles: Vec<_> = quads
        .flat_map(|v| [[v, v + SIDE, v + SIDE + 1], [v, v + SIDE + 1, v + 1]])
        .collect();
    let topology = Topology::new(SIDE * SIDE, triangles).expect("in range");
    let side = (SIDE - 1) as f32;
    let frame = |f: u32| {
        let at = |v: u32| {
            let (x, y) = ((v / SIDE) as f32 / side, (v % SIDE) as f32 / side);
            [x, y, height(x, f)]
        };
        let positions = (0..SIDE * SIDE).map(at).collect();
        Mesh::new("cloth", topology.clone(), positions)
    };
    (0..FRAMES).map(frame).collect()
}

fn to_faces(target_faces: usize) -> VatSettings {
    let mut settings = with_format(Quantity::Position, TexelFormat::Float);
    settings.prepare.simplify = Some(SimplifySettings {
        target_faces,
        ..SimplifySettings::default()
    });
    settings
}

fn bits(place: [f32; 3]) -> [u32; 3] {
    place.map(f32::to_bits)
}

#[test]
fn triangles_that_stay_the_same_still_do_when_there_are_fewer() {
    let frames = cloth();
    let source = MeshFrames::new("cloth", frames.clone());
    let (folders, summary) = baked(&source, &to_faces(200));
    assert_eq!(summary.mode, Mode::Soft);
    assert!(
        (150..=200).contains(&summary.triangles),
        "{}",
        summary.triangles
    );
    // In every frame each vertex of the bake is a vertex of the sequence, the same one.
    let animation = read_animation(&folders.out()).expect("a bake");
    let places = animation.manifest().positions().expect("positions");
    let at = |vertex: u32, frame: u32| {
        std::array::from_fn(|k| animation.value(places, vertex, frame, k))
    };
    let all: BTreeSet<_> = (0..animation.manifest().layout.vertices)
        .map(|vertex| {
            let of = |f: u32| {
                frames[f as usize]
                    .positions
                    .iter()
                    .position(|p| bits(*p) == bits(at(vertex, f)))
            };
            let first = of(0).expect("a vertex of the sequence");
            for f in 1..FRAMES {
                assert_eq!(of(f), Some(first), "vertex {vertex} in frame {f}");
            }
            first
        })
        .collect();
    assert_eq!(all.len(), animation.manifest().layout.vertices as usize);
    let verified = verify(&folders.out(), &source, &to_faces(200), &Watch::NOBODY);
    assert!(verified.expect("compares").is_same(1e-6));
    // Other faces than it was made with.
    let other = verify(&folders.out(), &source, &to_faces(90), &Watch::NOBODY);
    assert!(other.is_err() || !other.expect("compares").is_same(1e-6));
}

/// The first frame says nothing of the ridge: where it rises there must be vertices all the same.
#[test]
fn the_shape_of_later_frames_is_kept() {
    let source = MeshFrames::new("cloth", cloth());
    let (folders, summary) = baked(&source, &to_faces(200));
    let animation = read_animation(&folders.out()).expect("a bake");
    let places = animation.manifest().positions().expect("positions");
    let carrier = sinew_io::read_any(&folders.out().join("cloth.glb")).expect("readable");
    let triangles = carrier.asset.meshes[0].topology.triangles().to_vec();
    let last = FRAMES - 1;
    let at = |v: u32| -> [f32; 3] { std::array::from_fn(|k| animation.value(places, v, last, k)) };
    // Middles of triangles against the closed form; the ridge is 260 mm high.
    let off = |t: &[u32; 3]| {
        let corners = t.map(at);
        let middle: [f32; 3] =
            std::array::from_fn(|k| corners.iter().map(|c| c[k]).sum::<f32>() / 3.0);
        (middle[2] - height(middle[0], last)).abs()
    };
    let worst = triangles.iter().map(off).fold(0.0, f32::max);
    assert!(worst < 0.06, "{worst} m off the ridge of the last frame");
    let said = summary.simplified.expect("told");
    assert!(
        said.is_shared && said.largest < 0.06 && said.rms > 0.0,
        "{said:?}"
    );
    let page = std::fs::read_to_string(folders.out().join("cloth.report.html")).expect("there");
    assert!(page.contains("Simplified all frames by one collapse; surfaces moved by "));
}

#[test]
fn chunks_of_simplified_frames_give_the_same_bytes() {
    let source = MeshFrames::new("cloth", cloth());
    let settings = to_faces(150);
    let (whole, _) = baked(&source, &settings);
    let parts = Folders::new();
    for chunk in ["3/3", "1/3", "2/3"] {
        // Each on a machine of its own, as far as it knows; records are put together.
        let own = Folders::new();
        let job = VatJob::begin(&own.work(), &source, &settings).expect("begins");
        let chunk: Chunk = chunk.parse().expect("a chunk");
        scan(&job, &source, chunk, &Watch::NOBODY).expect("scans");
        std::fs::create_dir_all(parts.work().join("frames")).expect("made");
        for name in ["job.json", "frames"] {
            let path = own.work().join(name);
            let files = match path.is_dir() {
                true => content(&path)
                    .into_keys()
                    .map(|f| format!("{name}/{f}"))
                    .collect(),
                false => vec![name.to_owned()],
            };
            for file in files {
                std::fs::copy(own.work().join(&file), parts.work().join(&file)).expect("copied");
            }
        }
    }
    let job = VatJob::open(&parts.work()).expect("a job");
    plan(&job, &Watch::NOBODY).expect("plans");
    texels(&job, Chunk::ALL, &Watch::NOBODY).expect("encodes");
    assemble(&job, &parts.out(), &Watch::NOBODY).expect("writes");
    assert_eq!(content(&parts.out()), content(&whole.out()));
}

#[test]
fn frames_with_other_triangles_are_named_with_what_asked_for_it() {
    let mut settings = VatSettings {
        mode: Some(Mode::Soft),
        ..VatSettings::default()
    };
    settings.prepare.simplify = Some(SimplifySettings {
        target_faces: 4,
        ..SimplifySettings::default()
    });
    let folders = Folders::new();
    let made = bake(
        &swarm(),
        &settings,
        &folders.work(),
        &folders.out(),
        &Watch::NOBODY,
    );
    let message = made.expect_err("triangles change").to_string();
    assert_eq!(
        message,
        "frame 1: 8 vertices, the first frame has 4, so that it cannot be simplified (--faces, prepare.simplify) as the first frame is; mode remesh simplifies each frame by itself"
    );
    // By itself such a sequence is simplified frame by frame.
    let (_, summary) = baked(
        &swarm(),
        &VatSettings {
            mode: None,
            ..settings.clone()
        },
    );
    assert_eq!(summary.mode, Mode::Remesh);
    // A frame that was not looked at before has other triangles.
    let mut frames = cloth();
    let odd = 4;
    assert!(!crate::vat::maker::prepare::simplify::shared_frames(frames.len()).contains(&odd));
    let half = frames[odd].topology.triangles()[..600].to_vec();
    frames[odd].topology = Topology::new(SIDE * SIDE, half).expect("in range").into();
    let folders = Folders::new();
    let made = bake(
        &MeshFrames::new("cloth", frames.clone()),
        &to_faces(200),
        &folders.work(),
        &folders.out(),
        &Watch::NOBODY,
    );
    let message = made.expect_err("triangles change").to_string();
    assert!(
        message.starts_with("frame 4: triangle 600 is not that of the first frame, so that"),
        "{message}"
    );
    let forced = VatSettings {
        mode: Some(Mode::Remesh),
        ..to_faces(200)
    };
    let (folders, _) = baked(&MeshFrames::new("cloth", frames.clone()), &forced);
    let verified = verify(
        &folders.out(),
        &MeshFrames::new("cloth", frames),
        &to_faces(200),
        &Watch::NOBODY,
    );
    assert!(verified.expect("compares").is_same(1e-6));
}

#[test]
fn carriers_that_are_larger_than_what_was_asked_for_say_so() {
    let mut settings = VatSettings::default();
    settings.prepare.simplify = Some(SimplifySettings {
        target_faces: 20,
        ..SimplifySettings::default()
    });
    let (_, matched) = baked(&swarm(), &settings);
    let in_order = VatSettings {
        order: TriangleOrder::File,
        ..settings
    };
    let (_, in_order) = baked(&swarm(), &in_order);
    assert!(in_order.triangles <= 20 && in_order.not_kept.is_empty());
    let codes: Vec<_> = matched.not_kept.iter().map(|n| n.0.as_str()).collect();
    assert_eq!(
        codes,
        if matched.triangles > 20 {
            vec!["more_slots"]
        } else {
            vec![]
        }
    );
}

/// Unit cubes in a row, which rise.
fn cubes(count: u32) -> MeshFrames {
    let faces = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let halves = |[a, b, c, d]: [u32; 4]| [[a, b, c], [a, c, d]];
    let of_cube = |i: u32| faces.map(move |f| halves(f.map(|v| v + 8 * i))).concat();
    let topology = Topology::new(8 * count, (0..count).flat_map(of_cube).collect());
    let topology = topology.expect("in range");
    let frame = |f: u32| {
        let at = |v: u32| {
            let corner = [0, 1, 2].map(|k| (v >> k & 1) as f32);
            [
                corner[0] + 3.0 * (v / 8) as f32,
                corner[1] + 0.5 * f as f32,
                corner[2],
            ]
        };
        Mesh::new("cubes", topology.clone(), (0..8 * count).map(at).collect())
    };
    MeshFrames::new("cubes", (0..3).map(frame).collect())
}

#[test]
fn pieces_of_which_nothing_is_left_are_warned_of() {
    for mode in [None, Some(Mode::Remesh)] {
        let settings = |faces| VatSettings {
            mode,
            ..to_faces(faces)
        };
        let (folders, summary) = baked(&cubes(7), &settings(20));
        let animation = read_animation(&folders.out()).expect("a bake");
        let places = animation.manifest().positions().expect("positions");
        // Cubes by where they are in the files, frame 0.
        let vertices = 0..animation.manifest().layout.vertices;
        let carrier = sinew_io::read_gltf(&folders.out().join("cubes.glb")).expect("a carrier");
        let x = |v: u32| {
            let seen = animation.value(places, v, 0, 0);
            match summary.mode {
                Mode::Rigid => carrier.asset.meshes[0].positions[v as usize][0],
                _ => seen,
            }
        };
        let count = match summary.mode {
            Mode::Rigid => 0..carrier.asset.meshes[0].positions.len() as u32,
            _ => vertices,
        };
        let left: BTreeSet<_> = count.map(|v| (x(v) / 3.0).floor() as i64).collect();
        assert!(left.len() < 7, "{mode:?}: this test needs lost cubes");
        let message = summary.not_kept.iter().find(|n| n.0 == "lost_pieces");
        let message = &message.expect("a warning").1;
        let part = format!("in 3 frames: of {} of 7 in frame 0;", 7 - left.len());
        assert!(
            message.contains(&part),
            "{mode:?}, no \"{part}\" in {message}"
        );
        let (_folders, summary) = baked(&cubes(7), &settings(83));
        assert_eq!(summary.not_kept, [], "{mode:?}");
    }
}

/// The tip of a spike in a frame that the collapse was not made from is as far off as it is high.
#[test]
fn spikes_that_are_gone_are_as_far_off_as_they_are_high() {
    let mut frames = cloth();
    let chosen = crate::vat::maker::prepare::simplify::shared_frames(frames.len());
    let frame = (1..frames.len()).find(|f| !chosen.contains(f));
    let frame = frame.expect("a frame that nothing was made from");
    // In the flat part, one that the collapse takes away.
    let (folders, _) = baked(&MeshFrames::new("cloth", cloth()), &to_faces(200));
    let animation = read_animation(&folders.out()).expect("a bake");
    let places = animation.manifest().positions().expect("positions");
    let at = |v: u32| std::array::from_fn(|k| animation.value(places, v, 0, k));
    let left = 0..animation.manifest().layout.vertices;
    let left: BTreeSet<_> = left.map(|v| bits(at(v))).collect();
    let flat = (16..22).flat_map(|x| (5..20).map(move |y| x * SIDE + y));
    let mut gone = flat.filter(|v| !left.contains(&bits(frames[0].positions[*v as usize])));
    let spike = gone.next().expect("a vertex that goes");
    frames[frame].positions[spike as usize][2] = 1.0;
    let source = MeshFrames::new("cloth", frames);
    let (_folders, summary) = baked(&source, &to_faces(200));
    let moved = summary.simplified.expect("simplified");
    assert_eq!(moved.frame, frame as i64);
    assert!((0.98..=1.001).contains(&moved.largest), "{}", moved.largest);
    assert!(
        moved
            .words()
            .contains("at the farthest of all vertices and of points between them")
    );
}

/// Tetrahedra in a row, as many as each frame says, the first one the largest.
fn rows(counts: &[u32]) -> MeshFrames {
    let frames = counts.iter().zip(0_u8..).map(|(count, f)| {
        let (mut positions, mut triangles) = (Vec::new(), Vec::new());
        for i in 0..*count {
            let side = if i == 0 { 1.0 } else { 0.1 };
            let at = [2.0 * i as f32, 0.1 * f32::from(f), 0.0];
            for corner in [
                [0.0, 0.0, 0.0],
                [side, 0.0, 0.0],
                [0.0, side, 0.0],
                [0.0, 0.0, side],
            ] {
                positions.push(std::array::from_fn(|k| at[k] + corner[k]));
            }
            let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
            triangles.extend(faces.map(|t| t.map(|v| v + 4 * i)));
        }
        let topology = Topology::new(4 * count, triangles).expect("in range");
        Mesh::new("rows", topology, positions)
    });
    MeshFrames::new("rows", frames.collect())
}

#[test]
fn frames_that_are_simplified_to_the_same_indices_have_no_same_triangles() {
    let (source, settings) = (rows(&[2, 3, 2, 4]), to_faces(4));
    let indices = (0..4).map(|f| {
        let mesh = source.load(f).expect("a frame").mesh;
        let prepared =
            crate::vat::maker::prepare::prepare(&mesh, &settings.prepare).expect("prepares");
        prepared.0.topology.triangles().to_vec()
    });
    let indices: Vec<_> = indices.collect();
    assert!(
        indices.iter().all(|i| *i == indices[0]),
        "this test needs indices that are the same: {indices:?}"
    );
    let (folders, summary) = baked(&source, &settings);
    assert_eq!(summary.mode, Mode::Remesh);
    assert!(!summary.simplified.expect("simplified").is_shared);
    let found = verify(&folders.out(), &source, &settings, &Watch::NOBODY).expect("verifies");
    assert!(found.is_same(1e-6), "{found:?}");
}

#[test]
fn words_say_why_there_is_nothing() {
    let message = |source: &MeshFrames, settings: &VatSettings| {
        let folders = Folders::new();
        let (work, out) = (folders.work(), folders.out());
        let error = bake(source, settings, &work, &out, &Watch::NOBODY);
        error.expect_err("nothing to bake").to_string()
    };
    let rigid = VatSettings {
        mode: Some(Mode::Rigid),
        ..VatSettings::default()
    };
    let found = message(&rows(&[0, 1, 2]), &rigid);
    assert!(found.starts_with("frame 0: no triangle, so"), "{found}");
    let found = message(&rows(&[2, 3]), &to_faces(1));
    let expected = "preparation left no triangle in any of the 2 frames, which had 12 at most;";
    assert!(found.starts_with(expected), "{found}");
}
