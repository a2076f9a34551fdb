use super::super::hidden::HiddenSettings;
use super::super::testing::{bowl, corners, cube, exploded, merged, placed, sphere};
use super::super::vector::{Point, centroid};
use super::{PrepareReport, PrepareSettings, run};
use sinew_geom::Mesh;
use sinew_geom::vec3::length;

fn hide(mesh: &Mesh, resolution: u32) -> (Mesh, PrepareReport) {
    let hidden = HiddenSettings {
        resolution,
        ..HiddenSettings::default()
    };
    let settings = PrepareSettings {
        hidden: Some(hidden),
        ..PrepareSettings::default()
    };
    run(mesh, &settings)
}

#[test]
fn a_sphere_inside_a_sphere_goes_and_the_outer_one_stays() {
    let (outer, inner) = (sphere(4), placed(sphere(3), 0.5, [0.2, 0.1, -0.1]));
    let (out, report) = hide(&merged(&outer, &inner), 128);
    assert_eq!(
        out.positions, outer.positions,
        "all of the outer and nothing else"
    );
    assert_eq!(out.topology.triangles(), outer.topology.triangles());
    let hidden = report.hidden.expect("asked for");
    assert_eq!((hidden.faces_deleted, hidden.directions), (512, 64));
}

#[test]
fn a_ball_half_sunk_into_a_box_loses_what_is_inside() {
    // The ball's lower half is in the box, and a disc of the box's top is in the ball.
    let ball = placed(sphere(4), 0.5, [0.0, 1.0, 0.0]);
    let (out, report) = hide(&merged(&ball, &cube(16)), 256);
    let pixel = report.hidden.expect("asked for").pixel;
    let margin = 4.0 * pixel;
    let inside_box = |p: &Point| p.iter().all(|c| c.abs() < 1.0 - margin);
    let inside_ball = |p: &Point| length([p[0], p[1] - 1.0, p[2]]) < 0.5 - margin;
    let buried = |t: &[Point; 3]| t.iter().all(inside_box) || t.iter().all(inside_ball);
    assert_eq!(
        corners(&out).filter(buried).count(),
        0,
        "nothing deep inside is left"
    );
    // What is outside of both by its centroid can be seen.
    let outside = |t: &[Point; 3]| {
        let p = centroid(t);
        p.iter().any(|c| c.abs() > 0.9999) && length([p[0], p[1] - 1.0, p[2]]) > 0.495
    };
    let open = |mesh: &Mesh| corners(mesh).filter(outside).count();
    let all = merged(&ball, &cube(16));
    assert_eq!(open(&out), open(&all), "nothing outside is lost");
    assert!(
        all.topology.triangles().len() - out.topology.triangles().len() > 800,
        "half a ball"
    );
}

#[test]
fn an_open_bowl_keeps_its_inside() {
    let alone = bowl(4);
    let (out, _) = hide(&alone, 128);
    assert_eq!(out.positions, alone.positions);
    // A ball in the bowl is seen from above and, past the rim, from the sides.
    let filled = merged(&alone, &placed(sphere(3), 0.4, [0.0, 0.1, 0.0]));
    let (out, _) = hide(&filled, 256);
    let kept_of_bowl = corners(&out).filter(|t| length(centroid(t)) > 0.9).count();
    assert_eq!(kept_of_bowl, alone.topology.triangles().len());
}

#[test]
fn faces_smaller_than_a_pixel_are_not_lost() {
    let fine = sphere(5);
    let (out, _) = hide(&fine, 12);
    assert_eq!(
        out.topology.triangles().len(),
        fine.topology.triangles().len()
    );
}

#[test]
fn loose_triangles_leave_no_gap() {
    let nested = merged(&sphere(4), &placed(sphere(3), 0.5, [0.2, 0.1, -0.1]));
    let (out, _) = hide(&exploded(&nested), 200);
    assert_eq!(out.topology.triangles().len(), 2048);
}

#[test]
fn threads_do_not_matter() {
    let mesh = merged(&cube(6), &placed(sphere(3), 0.7, [0.5, 0.5, 0.5]));
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        pool.install(|| hide(&mesh, 96))
    };
    let (one, three) = (with(1), with(3));
    assert_eq!(one.0.positions, three.0.positions);
    assert_eq!(one.1, three.1);
}
