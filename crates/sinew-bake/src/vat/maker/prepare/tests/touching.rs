use super::super::testing::{cube, distance, mesh, moved, placed, sphere};
use super::super::touching::{Plane, Surface, TouchingReport, TouchingSettings};
use super::super::vector::wide;
use super::{PrepareSettings, run};
use sinew_geom::Mesh;
use sinew_geom::vec3::{add, scale};

fn touch(mesh: &Mesh, touching: TouchingSettings) -> (Mesh, TouchingReport) {
    let settings = PrepareSettings {
        touching: Some(touching),
        ..PrepareSettings::default()
    };
    let (out, report) = run(mesh, &settings);
    (out, report.touching.expect("asked for"))
}

fn floor(height: f32) -> Plane {
    Plane {
        point: [3.0, height, -5.0],
        normal: [0.0, 2.0, 0.0],
    }
}

#[test]
fn a_box_on_a_plane_loses_its_bottom() {
    let on_floor = TouchingSettings {
        planes: vec![floor(-1.0005)],
        ..Default::default()
    };
    let (out, report) = touch(&cube(4), on_floor);
    assert_eq!((report.faces_deleted, report.on_planes), (32, vec![32]));
    assert_eq!(
        out.positions,
        cube(4).positions[25..],
        "the bottom comes first"
    );
    let below = TouchingSettings {
        planes: vec![floor(-1.002)],
        ..Default::default()
    };
    assert_eq!(touch(&cube(4), below).1.faces_deleted, 0, "2 mm away");
}

#[test]
fn a_tilted_plane_touches_a_tilted_box() {
    let (sin, cos) = 0.4_f32.sin_cos();
    let turn = |p: [f32; 3]| [cos * p[0] - sin * p[1], sin * p[0] + cos * p[1], p[2]];
    let plane = Plane {
        point: turn([0.3, -1.0, 7.0]),
        normal: turn([0.0, 1.0, 0.0]),
    };
    let settings = TouchingSettings {
        planes: vec![plane],
        distance: 1e-5,
        ..Default::default()
    };
    assert_eq!(touch(&moved(cube(4), turn), settings).1.faces_deleted, 32);
}

#[test]
fn what_sank_into_the_floor_goes_when_asked() {
    let sunk = |behind_planes: bool| {
        let planes = vec![floor(-0.4)];
        touch(
            &cube(4),
            TouchingSettings {
                planes,
                behind_planes,
                ..Default::default()
            },
        )
        .1
    };
    assert_eq!(sunk(false).faces_deleted, 0);
    // The bottom and one row of four on each side: 32 + 4 * 8.
    assert_eq!(sunk(true).faces_deleted, 64);
}

#[test]
fn a_quad_acts_like_a_plane_where_it_reaches() {
    let quad = |half: f32| Surface {
        positions: [[-half, -half], [half, -half], [half, half], [-half, half]]
            .map(|[x, z]| [x, -1.0, z])
            .to_vec(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    };
    let with = |half: f32| {
        let surfaces = vec![Surface::default(), quad(half)];
        touch(
            &cube(4),
            TouchingSettings {
                surfaces,
                ..Default::default()
            },
        )
        .1
    };
    assert_eq!(with(2.0).on_surfaces, [0, 32]);
    assert_eq!(with(0.5).faces_deleted, 8, "the middle four squares");
}

#[test]
fn the_tree_agrees_with_brute_force() {
    let (ball, wall) = (sphere(4), placed(sphere(3), 0.8, [0.5, 0.2, 0.1]));
    for distance_allowed in [0.1_f32, 0.2, 0.4] {
        let surfaces = vec![Surface::from(&wall)];
        let settings = TouchingSettings {
            surfaces,
            distance: distance_allowed,
            ..Default::default()
        };
        let touches = |t: &&[u32; 3]| {
            let corners = t.map(|v| wide(ball.positions[v as usize]));
            let middle = scale(add(add(corners[0], corners[1]), corners[2]), 1.0 / 3.0);
            let mut points = corners.into_iter().chain([middle]);
            points.all(|p| distance(&wall, p) <= f64::from(distance_allowed))
        };
        let expected = ball.topology.triangles().iter().filter(touches).count();
        assert!(expected > 0, "something touches");
        assert_eq!(touch(&ball, settings).1.faces_deleted, expected);
    }
}

#[test]
fn surfaces_without_area_are_their_edges() {
    let needle = Surface {
        positions: vec![[-2.0, -1.0, 0.0], [0.0, -1.0, 0.0], [2.0, -1.0, 0.0]],
        triangles: vec![[0, 1, 2], [1, 1, 1]],
    };
    let strip = mesh(
        vec![[0.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.5, -0.9, 0.0]],
        vec![[0, 1, 2]],
    );
    let settings = |distance| TouchingSettings {
        surfaces: vec![needle.clone()],
        distance,
        ..Default::default()
    };
    assert_eq!(touch(&strip, settings(0.11)).1.faces_deleted, 1);
    assert_eq!(touch(&strip, settings(0.09)).1.faces_deleted, 0);
}

#[test]
fn bad_planes_and_surfaces_are_named() {
    let say = |touching: TouchingSettings| {
        let settings = PrepareSettings {
            touching: Some(touching),
            ..Default::default()
        };
        settings.check().expect_err("refused").to_string()
    };
    let flat = Plane {
        point: [0.0; 3],
        normal: [0.0; 3],
    };
    let planes = vec![floor(0.0), flat];
    assert!(
        say(TouchingSettings {
            planes,
            ..Default::default()
        })
        .starts_with("plane 1 has"),
        "1"
    );
    let bad = Surface {
        positions: vec![[0.0; 3]; 3],
        triangles: vec![[0, 1, 2], [0, 1, 3]],
    };
    let surfaces = vec![bad];
    let told = say(TouchingSettings {
        surfaces,
        ..Default::default()
    });
    assert!(told.starts_with("triangle 1 of surface 0"), "{told}");
}
