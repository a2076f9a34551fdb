//! What must not be taken for triangles that stay the same.

use super::*;
use sinew_vat::prepare::simplify::SimplifySettings;

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
    let topology = Topology::new(RING * TUBE, triangles.collect()).expect("in range");
    Mesh::new("ring", topology, positions.collect())
}

/// Triangles that `chosen` takes are turned over.
fn turned(mesh: &mut Mesh, chosen: impl Fn(usize) -> bool) {
    let triangles = mesh.topology.triangles().iter().enumerate();
    let turned = triangles.map(|(t, &[a, b, c])| match chosen(t) {
        true => [a, c, b],
        false => [a, b, c],
    });
    let count = u32::try_from(mesh.positions.len()).expect("fits");
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

fn fewer_faces() -> VatSettings {
    let mut settings = VatSettings::default();
    settings.prepare.simplify = Some(SimplifySettings {
        target_faces: 60,
        ..SimplifySettings::default()
    });
    settings
}

/// Their places are the same, their normals are not.
#[test]
fn closed_surfaces_that_are_turned_over_are_baked_as_they_are() {
    let settings = VatSettings::default();
    assert_eq!(assert_true(&rings(false), &settings).mode, Mode::Soft);
    for (source, settings) in [
        (rings(true), settings),
        (pieces(), VatSettings::default()),
        (rings(true), fewer_faces()),
    ] {
        assert_eq!(assert_true(&source, &settings).mode, Mode::Remesh);
    }
}

#[test]
fn turned_over_frames_are_named_where_triangles_must_stay_the_same() {
    for (mode, source, number) in [
        (Mode::Soft, rings(true), 2),
        (Mode::Soft, pieces(), 3),
        (Mode::Rigid, pieces(), 3),
    ] {
        let settings = VatSettings {
            mode: Some(mode),
            ..VatSettings::default()
        };
        let folders = Folders::new();
        let watch = &Watch::NOBODY;
        let made = bake(&source, &settings, &folders.work(), &folders.out(), watch);
        let text = made.expect_err("refused").to_string();
        let what = "is turned over against the first frame";
        assert!(
            text.contains(&format!("frame {number}")) && text.contains(what),
            "{text}"
        );
    }
    // A bake of another sequence.
    let settings = VatSettings::default();
    let (folders, _) = baked(&rings(false), &settings);
    let found = verify(&folders.out(), &rings(true), &settings, &Watch::NOBODY);
    assert!(matches!(found, Err(BakeError::NotSoft { number: 2, .. })));
}
