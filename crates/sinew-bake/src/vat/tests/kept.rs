//! What must not be taken for triangles that stay the same.

use super::*;
use sinew_geom::index32;
use sinew_testkit::MeshTruth;

/// Around the ring and around its tube.
const RING: u32 = 12;
const TUBE: u32 = 6;

/// A ring of 72 vertices and 144 triangles, closed, around z, that gets thicker from frame to frame on one side.
fn ring(f: u32, at: f32) -> Mesh {
    let turn = |i: u32, all: u32| i as f32 * std::f32::consts::TAU / all as f32;
    let positions = (0..RING * TUBE).map(|v| {
        let (around, along) = (turn(v / TUBE, RING), turn(v % TUBE, TUBE));
        let thick = 0.3 + 0.03 * f as f32 * around.sin().max(0.0);
        let far = 1.0 + thick * along.cos();
        [
            at + far * around.cos(),
            far * around.sin(),
            thick * along.sin(),
        ]
    });
    let quads = (0..RING).flat_map(|i| (0..TUBE).map(move |j| (i, j)));
    let triangles = quads.flat_map(|(i, j)| {
        let (next, above) = ((i + 1) % RING, (j + 1) % TUBE);
        let [a, b] = [i * TUBE + j, next * TUBE + j];
        let [c, d] = [next * TUBE + above, i * TUBE + above];
        [[a, b, c], [a, c, d]]
    });
    mesh_from("ring", positions.collect(), triangles.collect())
}

/// Triangles that `chosen` takes are turned over.
fn turned(mesh: &mut Mesh, chosen: impl Fn(usize) -> bool) {
    let triangles = mesh.topology.triangles().iter().enumerate();
    let turned = triangles.map(|(t, &[a, b, c])| match chosen(t) {
        true => [a, c, b],
        false => [a, b, c],
    });
    let count = index32(mesh.positions.len());
    let topology = Topology::new(count, turned.collect()).expect("in range");
    mesh.topology = std::sync::Arc::new(topology);
}

fn rings(are_turned: bool) -> MeshFrames {
    let frames = (0..5).map(|f| {
        let mut mesh = ring(f, 0.0);
        turned(&mut mesh, |_| are_turned && (2..4).contains(&f));
        mesh
    });
    MeshFrames::new("ring", frames.collect())
}

/// Two rings that do not bend and part; one is turned over in frame 3.
fn pieces() -> MeshFrames {
    let frames = (0..5).map(|f| {
        let (mut mesh, other) = (ring(0, 0.0), ring(0, 3.0 + f as f32));
        mesh.positions.extend(other.positions);
        let own = mesh.topology.triangles();
        let shifted = own.iter().map(|t| t.map(|v| v + RING * TUBE));
        let triangles = own.iter().copied().chain(shifted).collect();
        let topology = Topology::new(2 * RING * TUBE, triangles).expect("in range");
        mesh.topology = std::sync::Arc::new(topology);
        turned(&mut mesh, |t| f == 3 && t >= 2 * (RING * TUBE) as usize);
        mesh
    });
    MeshFrames::new("pieces", frames.collect())
}

/// Their places are the same, their normals are not.
#[test]
fn closed_surfaces_that_are_turned_over_are_baked_as_they_are() {
    let settings = VatSettings::default();
    assert_eq!(
        assert_true(&rings(false), &settings).plan.mode(),
        Mode::Soft
    );
    for (source, settings) in [
        (rings(true), settings),
        (pieces(), VatSettings::default()),
        (rings(true), to_faces(60, VatSettings::default())),
    ] {
        assert_eq!(assert_true(&source, &settings).plan.mode(), Mode::Remesh);
    }
}

#[test]
fn turned_over_frames_are_named_where_triangles_must_stay_the_same() {
    for (mode, source, number) in [
        (Mode::Soft, rings(true), 2),
        (Mode::Soft, pieces(), 3),
        (Mode::Rigid, pieces(), 3),
    ] {
        let text = refused(&source, &with_mode(mode)).to_string();
        let (frame, what) = (
            format!("frame {number}"),
            "is turned over against the first frame",
        );
        assert!(text.contains(&frame) && text.contains(what), "{text}");
    }
    // A bake of another sequence.
    let settings = VatSettings::default();
    let (folders, _) = baked(&rings(false), &settings);
    let found = folders.verify(&rings(true), &settings);
    assert!(matches!(found, Err(BakeError::NotSoft { number: 2, .. })));
}

/// A strip of 6 x 3 pentagons in a bent surface, each a fan of three triangles around its corner `from`.
fn pentagons(from: impl Fn(u32) -> u32) -> Mesh {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for i in 0..18 {
        let base = positions.len() as u32;
        let [x, y] = [i % 6, i / 6].map(|n| n as f32 * 0.3);
        for k in 0..5 {
            let angle = k as f32 * std::f32::consts::TAU / 5.0;
            let height = [0.0, 0.1, 0.0, 0.08, 0.0][k];
            positions.push([x + 0.15 * angle.cos(), y + 0.15 * angle.sin(), height]);
        }
        let corner = |k: u32| base + (from(i) + k) % 5;
        triangles.extend((1..4).map(|k| [corner(0), corner(k), corner(k + 1)]));
    }
    mesh_from("pentagons", positions, triangles)
}

/// Each frame fans its pentagons around other corners; all of them bend a little.
fn fans() -> MeshFrames {
    let frames = (0..5_u32).map(|f| {
        let mut mesh = pentagons(|i| if f == 0 { 0 } else { (i + f) % 5 });
        let places = mesh.positions.iter_mut();
        places.for_each(|p| p[2] += 0.02 * f as f32 * (p[0] * 2.0).sin());
        mesh
    });
    MeshFrames::new("pentagons", frames.collect())
}

/// Greatest distance of `parts` x `parts` points of each triangle of one surface from the whole of the other.
fn one_way(mesh: &Mesh, [from, to]: [&Topology; 2], parts: u32) -> f64 {
    let to = MeshTruth::new(&mesh.positions, to.triangles());
    let shares = (0..=parts).flat_map(|i| (0..=parts - i).map(move |j| [i, j, parts - i - j]));
    let shares = shares.map(|s| s.map(|n| f64::from(n) / f64::from(parts)));
    let points = shares.flat_map(|share| {
        from.triangles().iter().map(move |t| {
            let corner = |k: usize, c: usize| f64::from(mesh.positions[t[k] as usize][c]);
            [0, 1, 2].map(|c| (0..3).map(|k| share[k] * corner(k, c)).sum())
        })
    });
    points
        .map(|p| to.distance(p, f64::INFINITY))
        .fold(0.0, f64::max)
}

/// How far the frames' surfaces are from the first one's triangles at their places, both ways.
fn true_gap(source: &MeshFrames) -> f64 {
    let frames = meshes_of(source);
    let gaps = frames[1..].iter().map(|mesh| {
        let [shown, own] = [&*frames[0].topology, &*mesh.topology];
        one_way(mesh, [shown, own], 8).max(one_way(mesh, [own, shown], 8))
    });
    gaps.fold(0.0, f64::max)
}

/// Fans around other corners are another surface, which a carrier with one list of triangles does not show.
#[test]
fn surfaces_that_would_be_far_off_are_loose_unless_asked_for() {
    let (source, settings) = (fans(), VatSettings::default());
    let made = assert_true(&source, &settings);
    assert_eq!((made.plan.mode(), made.warnings.len()), (Mode::Remesh, 0));
    let why = made.plan.remesh_fallback().expect("said").fallback_words();
    assert!(why.contains("--mode soft") && why.contains("frame 4"));
    let (_, asked) = baked(&source, &with_mode(Mode::Soft));
    assert_eq!(
        (asked.plan.mode(), asked.plan.remesh_fallback()),
        (Mode::Soft, None)
    );
    let (code, message, _) = &asked.warnings[0];
    assert_eq!(code, "retriangulated_faces");
    assert!(message.ends_with("exact: --mode remesh"), "{message}");
    // Little enough is shown as in the first frame, and so is what is said to be near enough.
    let mut flat = meshes_of(&source);
    let places = flat.iter_mut().flat_map(|mesh| &mut mesh.positions);
    places.for_each(|p| p[2] *= 0.01);
    let flat = MeshFrames::new("pentagons", flat);
    assert!(true_gap(&flat) > 1e-4);
    assert_ne!(mode_of(&flat, &settings), Mode::Remesh);
    let near = VatSettings {
        retriangulate_tolerance: Some(0.2),
        ..settings
    };
    assert_eq!(mode_of(&source, &near), Mode::Soft);
    // Textures that loose triangles have not are asked for: the surface is warned of.
    let offsets = with_format(Quantity::Offset, TexelFormat::Unorm16);
    let (_, offsets) = baked(&source, &offsets);
    assert_eq!(
        (offsets.plan.mode(), offsets.warnings.len()),
        (Mode::Soft, 1)
    );
}

/// Every edge of a closed surface may be turned, as long as no other has the same ends: `count` of them, the same for the same seed.
fn flipped(mesh: &mut Mesh, count: usize, seed: u64) {
    let mut state = seed;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut triangles = mesh.topology.triangles().to_vec();
    let mut done = 0;
    while done < count {
        let (t, k) = (random(triangles.len()), random(3));
        let [a, b, c] = [0, 1, 2].map(|i| triangles[t][(k + i) % 3]);
        let turns = |t: [u32; 3]| (0..3).map(move |k| [0, 1, 2].map(|i| t[(i + k) % 3]));
        let behind = (0..triangles.len()).find_map(|o| {
            let found = turns(triangles[o]).find(|t| t[0] == b && t[1] == a);
            found.map(|t| (o, t[2]))
        });
        let Some((other, d)) = behind else { continue };
        if triangles.iter().any(|t| t.contains(&c) && t.contains(&d)) {
            continue;
        }
        (triangles[t], triangles[other]) = ([c, a, d], [d, b, c]);
        done += 1;
    }
    let vertices = index32(mesh.positions.len());
    mesh.topology = std::sync::Arc::new(Topology::new(vertices, triangles).expect("in range"));
}

/// Quads that overlap have been measured one by one, each as if nothing else were there.
#[test]
fn how_far_surfaces_are_off_is_measured_against_the_whole_surface() {
    let frames = (0..5).map(|f| {
        let mut mesh = ring(f, 0.0);
        flipped(&mut mesh, if f == 0 { 0 } else { 60 }, u64::from(f));
        mesh
    });
    let source = MeshFrames::new("flips", frames.collect());
    let settings = VatSettings {
        mode: Some(Mode::Soft),
        // No quad has a vertex in its middle.
        retriangulate_tolerance: Some(1.0),
        ..VatSettings::default()
    };
    let plan = baked(&source, &settings).1.plan;
    let kept = plan.retriangulated().expect("cut otherwise");
    assert!(kept.middles.is_empty());
    let settings = with_mode(Mode::Soft);
    let (folders, made) = baked(&source, &settings);
    let said = made.plan.retriangulated().expect("cut otherwise").off;
    let truth = true_gap(&source);
    let found = folders.verified(&source, &settings);
    assert!(said < 1.05 * truth, "{said}, by hand {truth}");
    let off = (found.surface.largest - said).abs();
    assert!(
        off < 2e-4 && found.surface.first_wrong.is_none(),
        "{found:?}"
    );
}
