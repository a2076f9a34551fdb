//! Pieces that simplification would leave nothing of: counted by where triangles are.

use super::super::simplify::{
    Method, SharedCollapse, SimplifyReport, SimplifySettings, without_stand_ins,
};
use super::super::testing::{bumpy, corners, edge_counts, merged, mesh, placed, sphere, volume};
use super::super::vector::{Point, centroid};
use super::{PrepareSettings, run};
use sinew_geom::Mesh;
use sinew_geom::vec3::{area_vector, cross, dot};

fn reduce(mesh: &Mesh, target_faces: usize) -> (Mesh, SimplifyReport) {
    let settings = PrepareSettings {
        simplify: Some(SimplifySettings {
            target_faces,
            ..SimplifySettings::default()
        }),
        ..PrepareSettings::default()
    };
    let (out, report) = run(mesh, &settings);
    (out, report.simplify.expect("asked for"))
}

/// A large bumpy sphere, and drops in a row three metres above it, one a metre, the later the larger.
fn splash(drops: u32, drop: &Mesh) -> Mesh {
    let add = |sum: Mesh, i: u32| {
        let size = 0.02 + 1e-3 * i as f32;
        merged(&sum, &placed(drop.clone(), size, [i as f32, 3.0, 0.0]))
    };
    (0..drops).fold(bumpy(4), add)
}

/// Corners of the triangles of each drop.
fn of_drops(mesh: &Mesh, drops: u32) -> Vec<Vec<[Point; 3]>> {
    let mut out = vec![Vec::new(); drops as usize];
    for t in corners(mesh).filter(|t| t[0][1] > 2.0) {
        out[centroid(&t)[0].round() as usize].push(t);
    }
    out
}

fn volume_of(triangles: &[[Point; 3]]) -> f64 {
    let part = |t: &[Point; 3]| dot(t[0], cross(t[1], t[2])) / 6.0;
    triangles.iter().map(part).sum()
}

#[test]
fn closed_drops_stay_closed_and_none_is_gone() {
    let (drops, target) = (20, 300);
    let mesh = splash(drops, &sphere(2));
    let without = without_stand_ins(&mesh, target);
    let gone = of_drops(&without, drops)
        .iter()
        .filter(|d| d.is_empty())
        .count();
    assert!(gone > 3, "{gone}: this test needs drops that go");
    let (out, report) = reduce(&mesh, target);
    let faces = out.topology.triangles().len();
    assert!((280..=target).contains(&faces), "{faces}: {report:?}");
    assert!(report.stand_ins >= gone, "{gone} {report:?}");
    assert_eq!(edge_counts(&out)[1..], [0, 3 * faces / 2, 0], "closed");
    for (i, drop) in of_drops(&out, drops).iter().enumerate() {
        assert!(drop.len() >= 4, "drop {i}: {} faces", drop.len());
        // A tetrahedron within a ball has at most 0.1225 of its volume (2 / (3 pi sqrt 3)), one of far points not much less.
        let ball = 4.0 / 3.0 * std::f64::consts::PI * f64::from(0.02 + 1e-3 * i as f32).powi(3);
        let share = volume_of(drop) / ball;
        assert!(
            (0.05..1.0).contains(&share),
            "drop {i}: {share} of its ball"
        );
    }
    // Each vertex is one of those that came in.
    assert!(out.positions.iter().all(|p| mesh.positions.contains(p)));
}

#[test]
fn hollows_stay_hollows() {
    let mut drop = sphere(2);
    let turned = drop.topology.triangles().iter().map(|&[a, b, c]| [a, c, b]);
    drop = mesh(drop.positions.clone(), turned.collect());
    let (out, report) = reduce(&splash(12, &drop), 150);
    assert!(report.stand_ins > 0, "{report:?}");
    for (i, drop) in of_drops(&out, 12).iter().enumerate() {
        assert!(volume_of(drop) < 0.0, "drop {i} has turned inside out");
    }
}

#[test]
fn open_pieces_keep_a_triangle_that_faces_their_way() {
    // Flakes: fans of eight triangles that face up.
    let rim = |k: u32| {
        let turn = std::f32::consts::TAU * (k % 8) as f32 / 8.0;
        [turn.sin(), 0.0, turn.cos()]
    };
    let points = std::iter::once([0.0; 3]).chain((0..8).map(rim));
    let fan = (0..8).map(|k| [0, 1 + k, 1 + (k + 1) % 8]);
    let flake = mesh(points.collect(), fan.collect());
    let many = splash(25, &flake);
    let without = without_stand_ins(&many, 60);
    let gone = of_drops(&without, 25)
        .iter()
        .filter(|d| d.is_empty())
        .count();
    let (out, report) = reduce(&many, 60);
    println!("{gone} gone, {report:?}");
    assert!(gone > 0 && report.stand_ins >= gone, "{gone} {report:?}");
    for (i, flake) in of_drops(&out, 25).iter().enumerate() {
        assert!(!flake.is_empty(), "flake {i} is gone");
        assert!(
            flake.iter().all(|t| area_vector(*t)[1] > 0.0),
            "flake {i} lies on its back"
        );
    }
}

#[test]
fn where_there_are_too_many_the_largest_are_kept_with_half_of_the_faces() {
    let (drops, target) = (60, 80);
    let (out, report) = reduce(&splash(drops, &sphere(2)), target);
    let faces = out.topology.triangles().len();
    assert!(faces <= target, "{faces}");
    // Half of 80, four each.
    assert_eq!(report.stand_ins, 10, "{report:?}");
    let drops = of_drops(&out, drops);
    let is_left: Vec<bool> = drops.iter().map(|d| !d.is_empty()).collect();
    assert!(is_left[50..].iter().all(|left| *left), "{is_left:?}");
    // The large body has the other half.
    let body = volume(&out) - drops.iter().map(|d| volume_of(d)).sum::<f64>();
    let before = volume(&bumpy(4));
    assert!((body / before - 1.0).abs() < 0.5, "{body} of {before}");
    assert!(report.method >= Method::Collapses);
}

#[test]
fn pieces_without_extent_have_nothing_that_stands_for_them() {
    let point = mesh(vec![[0.5; 3], [0.5; 3], [0.5; 3]], vec![[0, 1, 2]]);
    let line = [[0.0; 3], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]];
    let line = mesh(line.to_vec(), vec![[0, 1, 2]]);
    let all = merged(&merged(&bumpy(3), &point), &line);
    let (out, report) = reduce(&all, 40);
    assert!(
        out.topology.triangles().len() <= 40 && report.stand_ins == 0,
        "{report:?}"
    );
}

/// A piece that grows out of a point is one in the frame that the collapse starts from; its shape is that of the frame where it is largest.
#[test]
fn pieces_that_are_a_point_at_first_keep_a_tetrahedron() {
    let drops = 6;
    let grown = splash(drops, &sphere(2));
    let is_drop = |p: &[f32; 3]| p[1] > 2.0;
    let shrunk = |p: &[f32; 3]| match is_drop(p) {
        true => [p[0].round(), 3.0, 0.0],
        false => *p,
    };
    let first = Mesh {
        positions: grown.positions.iter().map(shrunk).collect(),
        ..grown.clone()
    };
    for hard_edge_angle in [None, Some(1.0)] {
        let settings = SimplifySettings {
            target_faces: 200,
            hard_edge_angle,
        };
        let frames = [first.clone(), grown.clone()];
        let shared = SharedCollapse::new(&frames, &settings).expect("alike");
        let mut last = grown.clone();
        let report = shared.apply(&mut last);
        assert!(report.faces_after <= 200, "{report:?}");
        assert_eq!(report.stand_ins, drops as usize, "{report:?}");
        assert!(report.stand_in_share > 0.0 && report.stand_in_share < 0.5);
        for (i, drop) in of_drops(&last, drops).iter().enumerate() {
            let radius = f64::from(0.02 + 1e-3 * i as f32);
            let share = volume_of(drop) / (4.0 / 3.0 * std::f64::consts::PI * radius.powi(3));
            assert!(
                (0.05..1.0).contains(&share),
                "drop {i}: {share} of its ball"
            );
        }
        // One face fewer than there are: all but one of the drops stay whole.
        let faces = grown.topology.triangles().len();
        let settings = SimplifySettings {
            target_faces: faces - 1,
            ..settings
        };
        let shared = SharedCollapse::new(&frames, &settings).expect("alike");
        let mut last = grown.clone();
        let report = shared.apply(&mut last);
        assert_eq!(report.stand_ins, 1, "{report:?}");
        let of_one = sphere(2).topology.triangles().len();
        let left = of_drops(&last, drops);
        let whole = left.iter().filter(|d| d.len() == of_one).count();
        assert_eq!(whole, drops as usize - 1);
    }
}
