//! Sequences whose triangles stay the same and are simplified: by one collapse, which is for all frames. The truth is the sequence.

use super::*;
use crate::vat::maker::prepare::prepare;
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

fn exact(target_faces: usize) -> VatSettings {
    let exact = with_format(Quantity::Position, TexelFormat::Float);
    to_faces(target_faces, exact)
}

fn bits(place: [f32; 3]) -> [u32; 3] {
    place.map(f32::to_bits)
}

#[test]
fn triangles_that_stay_the_same_still_do_when_there_are_fewer() {
    let frames = cloth();
    let source = MeshFrames::new("cloth", frames.clone());
    let (folders, summary) = baked(&source, &exact(200));
    assert_eq!(summary.plan.mode(), Mode::Soft);
    let triangles = summary.plan.triangles;
    assert!((150..=200).contains(&triangles), "{triangles}");
    // In every frame each vertex of the bake is a vertex of the sequence, the same one.
    let animation = folders.animation();
    let places = animation.manifest().positions().expect("positions");
    let source_of = |vertex: u32, f: u32| {
        let at = bits(animation.vector(places, vertex, f));
        let mut all = frames[f as usize].positions.iter();
        all.position(|p| bits(*p) == at)
    };
    let mut all = BTreeSet::new();
    for vertex in 0..animation.manifest().layout.vertices {
        let first = source_of(vertex, 0).expect("a vertex of the sequence");
        for f in 1..FRAMES {
            assert_eq!(source_of(vertex, f), Some(first), "{vertex} in frame {f}");
        }
        all.insert(first);
    }
    assert_eq!(all.len(), animation.manifest().layout.vertices as usize);
    assert!(folders.verified(&source, &exact(200)).is_same(1e-6));
    // Other faces than it was made with.
    let other = folders.verify(&source, &exact(90));
    assert!(!other.is_ok_and(|v| v.is_same(1e-6)));
}

/// The first frame says nothing of the ridge: where it rises there must be vertices all the same.
#[test]
fn the_shape_of_later_frames_is_kept() {
    let source = MeshFrames::new("cloth", cloth());
    let (folders, summary) = baked(&source, &exact(200));
    let animation = folders.animation();
    let places = animation.manifest().positions().expect("positions");
    let (carrier, last) = (folders.carrier(), FRAMES - 1);
    // Middles of triangles against the closed form; the ridge is 260 mm high.
    let off = |t: &[u32; 3]| {
        let corners = t.map(|v| animation.vector(places, v, last));
        let middle: [f32; 3] =
            std::array::from_fn(|k| corners.iter().map(|c| c[k]).sum::<f32>() / 3.0);
        (middle[2] - height(middle[0], last)).abs()
    };
    let triangles = carrier.topology.triangles().iter();
    let worst = triangles.map(off).fold(0.0, f32::max);
    assert!(worst < 0.06, "{worst} m off the ridge of the last frame");
    let said = summary.simplified.expect("told");
    let is_little = said.largest < 0.06 && said.rms > 0.0;
    assert!(said.is_shared && is_little, "{said:?}");
    let words = "Simplified all frames by one collapse; distance to the source: ";
    assert!(folders.report().contains(words));
}

#[test]
fn chunks_of_simplified_frames_give_the_same_bytes() {
    let source = MeshFrames::new("cloth", cloth());
    let settings = exact(150);
    let (whole, _) = baked(&source, &settings);
    let parts = Folders::new();
    for chunk in ["3/3", "1/3", "2/3"] {
        // Each on a machine of its own, as far as it knows; records are put together.
        let own = Folders::new();
        let job = VatJob::begin(&own.work(), &source, &settings).expect("begins");
        let chunk: Chunk = chunk.parse().expect("a chunk");
        scan(&job, &source, chunk, &Watch::NOBODY).expect("scans");
        std::fs::create_dir_all(parts.work().join("frames")).expect("made");
        let frames = content(&own.work().join("frames")).into_keys();
        let frames = frames.map(|file| format!("frames/{file}"));
        for file in frames.chain(["job.json".into()]) {
            std::fs::copy(own.work().join(&file), parts.work().join(&file)).expect("copied");
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
    let settings = to_faces(4, with_mode(Mode::Soft));
    assert_eq!(
        refused(&swarm(), &settings).to_string(),
        "frame 1: 8 vertices, the first frame has 4, so that it cannot be simplified (--faces, prepare.simplify) as the first frame is; mode remesh simplifies each frame by itself"
    );
    // By itself such a sequence is simplified frame by frame.
    let (_, summary) = baked(&swarm(), &to_faces(4, VatSettings::default()));
    assert_eq!(summary.plan.mode(), Mode::Remesh);
    // A frame that was not looked at before has other triangles.
    let mut frames = cloth();
    let odd = 4;
    assert!(!crate::vat::maker::prepare::simplify::shared_frames(frames.len()).contains(&odd));
    let half = frames[odd].topology.triangles()[..600].to_vec();
    frames[odd].topology = Topology::new(SIDE * SIDE, half).expect("in range").into();
    let source = MeshFrames::new("cloth", frames);
    let message = refused(&source, &exact(200)).to_string();
    let begin = "frame 4: triangle 600 is not that of the first frame, so that";
    assert!(message.starts_with(begin), "{message}");
    let forced = VatSettings {
        mode: Some(Mode::Remesh),
        ..exact(200)
    };
    let (folders, _) = baked(&source, &forced);
    assert!(folders.verified(&source, &exact(200)).is_same(1e-6));
}

#[test]
fn carriers_that_are_larger_than_what_was_asked_for_say_so() {
    let settings = to_faces(20, VatSettings::default());
    let (_, matched) = baked(&swarm(), &settings);
    let in_order = VatSettings {
        order: TriangleOrder::File,
        ..settings
    };
    let (_, in_order) = baked(&swarm(), &in_order);
    assert!(in_order.plan.triangles <= 20 && in_order.not_kept.is_empty());
    let codes = matched.not_kept.iter().map(|n| n.0.as_str());
    let expected: &[&str] = if matched.plan.triangles > 20 {
        &["more_slots"]
    } else {
        &[]
    };
    assert_eq!(codes.collect::<Vec<_>>(), expected);
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
    let triangles: Vec<_> = (0..count).flat_map(of_cube).collect();
    let frame = |f: u32| {
        let at = |v: u32| {
            let [x, y, z] = [0, 1, 2].map(|k| (v >> k & 1) as f32);
            [x + 3.0 * (v / 8) as f32, y + 0.5 * f as f32, z]
        };
        mesh_from("cubes", (0..8 * count).map(at).collect(), triangles.clone())
    };
    MeshFrames::new("cubes", (0..3).map(frame).collect())
}

#[test]
fn pieces_of_which_nothing_is_left_are_warned_of() {
    for mode in [None, Some(Mode::Remesh)] {
        let settings = |faces| VatSettings {
            mode,
            ..exact(faces)
        };
        let (folders, summary) = baked(&cubes(7), &settings(20));
        let animation = folders.animation();
        let places = animation.manifest().positions().expect("positions");
        // Cubes by where they are in the files, frame 0.
        let shown: Vec<_> = match summary.plan.mode() {
            Mode::Rigid => folders.carrier().positions,
            _ => (0..animation.manifest().layout.vertices)
                .map(|v| animation.vector(places, v, 0))
                .collect(),
        };
        let left: BTreeSet<_> = shown.iter().map(|p| (p[0] / 3.0).floor() as i64).collect();
        assert!(left.len() < 7, "{mode:?}: this test needs lost cubes");
        let message = summary.not_kept.iter().find(|n| n.0 == "lost_pieces");
        let message = &message.expect("a warning").1;
        let part = format!("in 3 frames: of {} of 7 in frame 0;", 7 - left.len());
        assert!(message.contains(&part), "{mode:?}, no {part} in {message}");
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
    let (folders, _) = baked(&MeshFrames::new("cloth", cloth()), &exact(200));
    let animation = folders.animation();
    let places = animation.manifest().positions().expect("positions");
    let left = 0..animation.manifest().layout.vertices;
    let left = left.map(|v| bits(animation.vector(places, v, 0)));
    let left: BTreeSet<_> = left.collect();
    let flat = (16..22).flat_map(|x| (5..20).map(move |y| x * SIDE + y));
    let mut gone = flat.filter(|v| !left.contains(&bits(frames[0].positions[*v as usize])));
    let spike = gone.next().expect("a vertex that goes");
    frames[frame].positions[spike as usize][2] = 1.0;
    let source = MeshFrames::new("cloth", frames);
    let (_folders, summary) = baked(&source, &exact(200));
    let moved = summary.simplified.expect("simplified");
    assert_eq!(moved.frame, frame as i64);
    assert!((0.98..=1.001).contains(&moved.largest), "{}", moved.largest);
    let words = "; distance to the source: ";
    assert!(moved.words().contains(words));
}

/// Tetrahedra in a row, as many as each frame says, the first one the largest.
fn rows(counts: &[u32]) -> MeshFrames {
    let frames = counts.iter().zip(0_u8..).map(|(count, f)| {
        let at = |i: u32| {
            let side = if i == 0 { 1.0 } else { 0.1 };
            ([2.0 * i as f32, 0.1 * f32::from(f), 0.0], side)
        };
        tetrahedra("rows", &(0..*count).map(at).collect::<Vec<_>>())
    });
    MeshFrames::new("rows", frames.collect())
}

#[test]
fn frames_that_are_simplified_to_the_same_indices_have_no_same_triangles() {
    let (source, settings) = (rows(&[2, 3, 2, 4]), exact(4));
    let indices = meshes_of(&source).into_iter().map(|mesh| {
        let prepared = prepare(&mesh, &settings.prepare).expect("prepares");
        prepared.0.topology.triangles().to_vec()
    });
    let indices: Vec<_> = indices.collect();
    assert!(indices.iter().all(|i| *i == indices[0]), "{indices:?}");
    let (folders, summary) = baked(&source, &settings);
    assert_eq!(summary.plan.mode(), Mode::Remesh);
    assert!(!summary.simplified.expect("simplified").is_shared);
    let found = folders.verified(&source, &settings);
    assert!(found.is_same(1e-6), "{found:?}");
}

#[test]
fn words_say_why_there_is_nothing() {
    let found = refused(&rows(&[0, 1, 2]), &with_mode(Mode::Rigid)).to_string();
    assert!(found.starts_with("frame 0: no triangle, so"), "{found}");
    let found = refused(&rows(&[2, 3]), &exact(1)).to_string();
    let expected = "preparation left no triangle in any of the 2 frames, which had 12 at most;";
    assert!(found.starts_with(expected), "{found}");
}
