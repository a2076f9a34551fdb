//! Strands against solids of known shape.

use super::test_shapes::{Grid, cuboid, cup, spike};
use super::{
    Capsule, CollideJob, CollideScratch, CollideSettings, Collider, Contact, Distance,
    FieldCollider, GradientMode, Plane, Rigid, RigidMotion, tressfx_gradient, tressfx_response,
};
use crate::Par;
use crate::hair_sim::test_scene::{Scene, line, on_ball, turned};
use crate::sdf::{FieldFrame, FieldWords, SolidsView};
use sinew_geom::nalgebra::{Quaternion, Unit};
use sinew_geom::{Affine, Quat, Strands, Vec3};

const STILL: f32 = 1.0 / 60.0;

fn contact(margin: f32, friction: f32) -> Contact {
    Contact {
        collider: 0,
        margin,
        friction,
    }
}

fn distance_of(shape: &dyn Distance, p: Vec3<f32>) -> f32 {
    shape.distance(p.into())
}

/// Least distance of any point of the strands from the solid, from vertex `first` on, at `samples` places a segment.
fn closest(
    strands: &Strands,
    points: &[[f32; 3]],
    shape: &dyn Distance,
    first: usize,
    samples: usize,
) -> f32 {
    let mut least = f32::MAX;
    for range in strands.ranges() {
        for i in range.start + first..range.end {
            let b = Vec3::from(points[i]);
            least = least.min(distance_of(shape, b));
            if i > range.start + first {
                let a = Vec3::from(points[i - 1]);
                for k in 1..samples {
                    let p = a + (b - a) * (k as f32 / samples as f32);
                    least = least.min(distance_of(shape, p));
                }
            }
        }
    }
    least
}

fn collide(strands: &Strands, points: &mut [[f32; 3]], shape: &dyn Distance, margin: f32) {
    let contacts = [contact(margin, 0.0)];
    CollideJob {
        strands,
        settings: &CollideSettings { exempt: 2 },
        colliders: &[Collider::still(shape)],
        contacts: &contacts,
        previous: None,
        positions: points,
        scratch: &mut CollideScratch::new(strands, 1),
        par: Par::Seq,
    }
    .run();
}

fn lengths(points: &[[f32; 3]]) -> Vec<f32> {
    let pairs = points.windows(2);
    pairs
        .map(|w| (Vec3::from(w[1]) - Vec3::from(w[0])).norm())
        .collect()
}

#[test]
fn round_cones_have_the_distances_of_their_parts() {
    let cone = Capsule {
        ends: [[0.0; 3], [0.0, 4.0, 0.0]],
        radii: [2.0, 1.0],
    };
    // Below and above the tangent cone: the balls.
    assert!(
        (cone.distance([0.0, -3.0, 0.0]) - 1.0).abs() < 1e-6,
        "below"
    );
    assert!((cone.distance([0.0, 6.0, 0.0]) - 1.0).abs() < 1e-6, "above");
    // Nothing but a dense set of balls of interpolated radius makes the same solid.
    for p in [
        [3.0, 1.0, 0.0],
        [0.5, 2.0, 0.1],
        [2.0, 3.9, 1.0],
        [1.5, 0.2, -2.0],
    ] {
        let ball = |k: i32| {
            let t = k as f32 / 4000.0;
            (Vec3::from(p) - Vec3::new(0.0, 4.0 * t, 0.0)).norm() - (2.0 - t)
        };
        let expected = (0..=4000).map(ball).fold(f32::MAX, f32::min);
        let (d, g) = cone.distance_and_gradient(p);
        assert!((d - expected).abs() < 1e-4, "{p:?}: {d} {expected}");
        for c in 0..3 {
            let mut q = p;
            q[c] += 1e-2;
            let up = cone.distance(q);
            q[c] -= 2e-2;
            let slope = (up - cone.distance(q)) / 2e-2;
            assert!((slope - g[c]).abs() < 1e-2, "{p:?} {c}: {slope} {g:?}");
        }
    }
    let inside = Capsule {
        ends: [[0.0; 3], [0.0, 0.5, 0.0]],
        radii: [2.0, 0.1],
    };
    assert!(
        (inside.distance([0.0, 3.0, 0.0]) - 1.0).abs() < 1e-6,
        "one ball holds the other"
    );
}

#[test]
fn motions_are_screws() {
    let turn = |angle: f32| Quat::from_axis_angle(&Vec3::y_axis(), angle);
    let center = Vec3::new(1.0, 2.0, 3.0);
    let at = |angle: f32, slide: f32| Rigid {
        rotation: turn(angle),
        translation: center - turn(angle) * center + Vec3::new(0.0, slide, 0.0),
    };
    for angle in [1e-6, 0.01, 1.0, 3.0] {
        let motion = RigidMotion::between(at(0.0, 0.0), at(angle, 0.5));
        for t in [0.0, 0.25, 0.7, 1.0] {
            let p = Vec3::new(0.3, -0.2, 0.9);
            let (found, expected) = (motion.at(t).point(p), at(angle * t, 0.5 * t).point(p));
            assert!(
                (found - expected).norm() < 1e-5,
                "{angle} {t}: {found:?} {expected:?}"
            );
        }
    }
}

/// A field is where its frame is, however far it has turned: half a turn is nothing special.
#[test]
fn colliders_are_where_their_frames_are() {
    let solids = [[0; crate::sdf::SOLID_WORDS]; 0];
    for axis in [
        Vec3::x_axis(),
        Vec3::y_axis(),
        Vec3::z_axis(),
        Unit::new_normalize(Vec3::new(1.0, -2.0, 0.5)),
    ] {
        for degrees in [0.0_f32, 90.0, 120.0, 179.9, 180.0, 181.0, 270.0] {
            let turn = match degrees {
                // Without the rounding of pi.
                180.0 => Quat::new_unchecked(Quaternion::from_imag(axis.into_inner())),
                _ => Quat::from_axis_angle(&axis, degrees.to_radians()),
            };
            let frame = FieldFrame::new(turn, 1.0, [0.1, 0.2, 0.3]).expect("finite");
            let view = SolidsView {
                solids: &solids,
                frame,
            };
            let collider = FieldCollider::new(FieldWords::Solids(view)).expect("solids");
            let p = Vec3::new(0.3, -0.2, 0.9);
            let (found, expected) = (
                collider.placement().point(p),
                frame.point_to_scene(p.into()),
            );
            let off = (found - Vec3::from(expected)).norm();
            assert!(off < 1e-5, "{degrees} degrees: {found:?} {expected:?}");
        }
    }
}

/// Strands that begin above a solid and lead through it.
fn through(count: usize, vertices: usize, height: f32, length: f32) -> (Strands, Vec<[f32; 3]>) {
    let strands = Strands::new(vec![vertices; count]).expect("valid");
    let mut points = Vec::new();
    for i in 0..count {
        let x = -0.03 + 0.06 * i as f32 / count as f32;
        let step = [0.1, -1.0, 0.05].map(|c| c * length / (vertices - 1) as f32);
        points.extend(line([x, height, 0.01 - x * 0.3], step, vertices));
    }
    (strands, points)
}

#[test]
fn no_vertex_and_no_segment_is_left_in_a_solid() {
    let ball = Capsule::sphere([0.0; 3], 0.1);
    let capsule = Capsule {
        ends: [[-0.1, 0.0, 0.0], [0.1, 0.02, 0.0]],
        radii: [0.08, 0.05],
    };
    let plane = Plane {
        normal: [0.0, 1.0, 0.0],
        offset: 0.0,
    };
    let peak = Grid::new([-0.2, -0.05, -0.2], [0.2, 0.25, 0.2], 0.01, |p| {
        spike(p, 0.12, 0.05)
    });
    let block = Grid::new([-0.2; 3], [0.2; 3], 0.01, |p| cuboid(p, [0.1, 0.08, 0.1]));
    let shapes: [(&str, &dyn Distance, f32); 5] = [
        ("ball", &ball, 0.01),
        ("capsule", &capsule, 0.01),
        ("plane", &plane, 0.01),
        ("spike", &peak, 0.01),
        ("box", &block, 0.01),
    ];
    for (name, shape, cell) in shapes {
        for vertices in [6, 12, 40] {
            let (strands, mut points) = through(9, vertices, 0.14, 0.3);
            let before = lengths(&points);
            collide(&strands, &mut points, shape, 0.003);
            let least = closest(&strands, &points, shape, 2, 16);
            assert!(
                least > 0.003 - 0.1 * cell,
                "{name}, {vertices} vertices: {least}"
            );
            for range in strands.ranges() {
                let now = lengths(&points[range.clone()]);
                let then = &before[range.start..range.end - 1];
                for (a, b) in now.iter().zip(then) {
                    assert!((a / b - 1.0).abs() < 1e-4, "{name}: {a} {b}");
                }
            }
        }
    }
}

/// The skin is inside its own field's margin: vertices that sit on it stay there.
#[test]
fn the_first_vertices_of_a_strand_are_exempt() {
    let ball = Capsule {
        ends: [[0.0; 3]; 2],
        radii: [0.1; 2],
    };
    // Along the surface, just below it, with its root on the pole.
    let strands = Strands::new([6]).expect("valid");
    let authored: Vec<[f32; 3]> = (0..6).map(|i| [0.01 * i as f32, 0.097, 0.0]).collect();
    for exempt in [1, 2] {
        let mut points = authored.clone();
        CollideJob {
            strands: &strands,
            settings: &CollideSettings { exempt },
            colliders: &[Collider::still(&ball)],
            contacts: &[contact(0.0, 0.0)],
            previous: None,
            positions: &mut points,
            scratch: &mut CollideScratch::new(&strands, 1),
            par: Par::Seq,
        }
        .run();
        assert_eq!(points[..exempt], authored[..exempt], "{exempt} stay");
        // One behind the last that stays may be out of reach.
        for (i, &p) in points.iter().enumerate().skip(exempt + 1) {
            let d = distance_of(&ball, p.into());
            assert!(d > -2e-3, "vertex {i} of {exempt} exempt is {d} deep");
        }
        assert_ne!(points[exempt..], authored[exempt..], "the others move");
    }
}

/// Margins grow by a quarter of the way along the strand from the last exempt vertex: on a plane every vertex of a strand that lies down is
/// as high as that.
#[test]
fn margins_grow_from_the_last_exempt_vertex() {
    let floor = Plane {
        normal: [0.0, 1.0, 0.0],
        offset: 0.0,
    };
    let (margin, step) = (0.01, 0.006);
    let strands = Strands::new([16]).expect("valid");
    for height in [0.0, 0.004, -0.003] {
        for exempt in [1, 2] {
            let mut points = line([0.0, height, 0.0], [step, 0.0, 0.0], 16);
            let contacts = [contact(margin, 0.0)];
            CollideJob {
                strands: &strands,
                settings: &CollideSettings { exempt },
                colliders: &[Collider::still(&floor)],
                contacts: &contacts,
                previous: None,
                positions: &mut points,
                scratch: &mut CollideScratch::new(&strands, 1),
                par: Par::Seq,
            }
            .run();
            for (i, p) in points.iter().enumerate().skip(exempt) {
                let way = step * (i + 1 - exempt) as f32;
                let grown = margin.min(height.max(0.0) + 0.25 * way);
                assert!(
                    p[1] > grown - 1e-4 && p[1] < grown + 2e-3,
                    "{height} high, {exempt} exempt, vertex {i}: {} for {grown}",
                    p[1]
                );
            }
        }
    }
}

#[test]
fn pockets_are_left_with_all_of_the_strand() {
    let (half, center) = ([0.12, 0.1, 0.12], [0.0, 0.1, 0.0]);
    let bowl = Grid::new([-0.2, -0.2, -0.2], [0.2, 0.3, 0.2], 0.01, |p| {
        cup(p, half, center, 0.07)
    });
    let mut scene = Scene::<f32>::straight([0.0, 0.22, 0.0], [0.0, -0.012, 0.001], 24);
    scene.contacts = vec![contact(0.002, 0.2)];
    scene.settle(6.0, &[Collider::still(&bowl)]);
    let least = closest(scene.bind.strands(), &scene.positions, &bowl, 2, 8);
    assert!(least > 0.001, "{least}");
    assert!(scene.stretch() < 1e-3, "{}", scene.stretch());
    assert!(scene.fastest() < 0.05, "{}", scene.fastest());
}

#[test]
fn hair_that_begins_deep_inside_comes_out_without_flying_off() {
    let block = Grid::new([-0.3; 3], [0.3; 3], 0.01, |p| cuboid(p, [0.1, 0.1, 0.1]));
    let mut scene = Scene::<f32>::straight([0.0, 0.12, 0.0], [0.004, -0.01, 0.002], 20);
    scene.contacts = vec![contact(0.002, 0.3)];
    scene.settings.global_stiffness_hz = 0.0;
    let collider = [Collider::still(&block)];
    for i in 0..240 {
        scene.frame(&Affine::identity(), STILL, &collider);
        // Bent around the edge of the block it springs straight, and comes to rest; what is thrown moves at the speed limit of 50 m/s.
        let most = if i < 30 { 5.0 } else { 1.0 };
        assert!(scene.fastest() < most, "{i}: {}", scene.fastest());
    }
    assert!(scene.fastest() < 0.05, "{}", scene.fastest());
    let least = closest(scene.bind.strands(), &scene.positions, &block, 2, 8);
    assert!(least > 0.001, "{least}");
}

/// The head turns by 180 degrees in one frame, with an ear-like fin that sweeps over all hair.
#[test]
fn a_fast_turn_leaves_nothing_behind_the_surface() {
    let fin = Grid::new([-0.25; 3], [0.25; 3], 0.01, |p| {
        let ball = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2]).sqrt() - 0.1;
        let q = [p[0] - 0.12, p[1], p[2]];
        ball.min(cuboid(q, [0.06, 0.08, 0.015]))
    });
    for share in [0.0, 0.5, 1.0] {
        let (strands, rest) = on_ball(0.1, 60, 16);
        let mut scene = Scene::<f32>::new(&strands, &rest, None);
        scene.settings.root_motion_share = share;
        scene.settings.teleport_distance = 1e9;
        scene.settings.teleport_angle = std::f32::consts::PI;
        scene.contacts = vec![contact(0.002, 0.2)];
        scene.settle(1.0, &[Collider::still(&fin)]);
        let head = |angle: f32| turned(Vec3::y(), angle, Vec3::zeros());
        let mut before = 0.0;
        for angle in [3.0_f32, 3.1, 3.1, 3.1] {
            let (from, to) = (Rigid::of(&head(before)), Rigid::of(&head(angle)));
            let collider = Collider {
                shape: &fin,
                motion: RigidMotion::between(from, to),
            };
            scene.frame(&head(angle), STILL, &[collider]);
            before = angle;
            let local: Vec<[f32; 3]> = scene
                .positions
                .iter()
                .map(|p| to.inverse_point(Vec3::from(*p)).into())
                .collect();
            let least = closest(&strands, &local, &fin, 2, 4);
            // A fin that comes at 30 m/s.
            assert!(least > -0.001, "share {share}: {least}");
            assert!(scene.stretch() < 1e-3, "{}", scene.stretch());
        }
    }
}

/// A fin thinner than one step of a fast strand stops it all the same.
#[test]
fn nothing_passes_through_a_thin_wall() {
    let wall = Grid::new([-0.1, -0.4, -0.4], [0.1, 0.4, 0.4], 0.01, |p| {
        cuboid(p, [0.012, 0.35, 0.35])
    });
    // It hangs before the wall, and is led through it.
    let strands = Strands::new([5]).expect("valid");
    let mut start = line([-0.05, 0.1, 0.0], [0.0, -0.03, 0.0], 5);
    let mut end = line([-0.05, 0.1, 0.0], [0.03, 0.0, 0.0], 5);
    let contacts = [contact(0.002, 0.0)];
    let run = |previous: Option<&[[f32; 3]]>, points: &mut [[f32; 3]]| {
        CollideJob {
            strands: &strands,
            settings: &CollideSettings { exempt: 1 },
            colliders: &[Collider::still(&wall)],
            contacts: &contacts,
            previous,
            positions: points,
            scratch: &mut CollideScratch::new(&strands, 1),
            par: Par::Seq,
        }
        .run();
    };
    run(Some(&start), &mut end);
    assert!(end.iter().all(|p| p[0] < -0.012), "{end:?}");
    run(None, &mut start);
    let expected = line([-0.05, 0.1, 0.0], [0.0, -0.03, 0.0], 5);
    for (found, expected) in start.iter().zip(&expected) {
        let off = (Vec3::from(*found) - Vec3::from(*expected)).norm();
        assert!(off < 1e-6, "free: {start:?}");
    }
}

#[test]
fn each_hair_keeps_its_own_margin() {
    let ball = Capsule::sphere([0.0; 3], 0.1);
    let (strands, points) = through(5, 12, 0.14, 0.2);
    for margin in [0.0, 0.01, 0.03] {
        let mut own = points.clone();
        collide(&strands, &mut own, &ball, margin);
        let least = closest(&strands, &own, &ball, 2, 8);
        assert!((least - margin).abs() < 1e-3, "{margin}: {least}");
    }
}

#[test]
fn defect_27_margins_are_metres_whatever_the_size_of_cells() {
    // In the TressFX code a margin counts cells: half the cell size, half the margin.
    let ball = |p: [f32; 3]| p.iter().map(|c| c * c).sum::<f32>().sqrt() - 0.1;
    let (strands, points) = through(5, 12, 0.14, 0.2);
    for cell in [0.004, 0.008] {
        let grid = Grid::new([-0.3; 3], [0.3; 3], cell, ball);
        let mut own = points.clone();
        collide(&strands, &mut own, &grid, 0.02);
        let least = closest(&strands, &own, &grid, 2, 8);
        assert!((least - 0.02).abs() < 1e-3, "cells of {cell}: {least}");
    }
}

#[test]
fn several_solids_hold_at_once() {
    let (a, b) = (
        Capsule::sphere([-0.05, 0.0, 0.0], 0.08),
        Capsule::sphere([0.06, 0.0, 0.0], 0.06),
    );
    let (strands, rest) = through(5, 16, 0.2, 0.3);
    let mut scene = Scene::<f32>::new(&strands, &rest, None);
    scene.contacts = vec![
        contact(0.004, 0.1),
        Contact {
            collider: 1,
            margin: 0.001,
            friction: 0.0,
        },
    ];
    scene.settle(2.0, &[Collider::still(&a), Collider::still(&b)]);
    for (shape, margin) in [(&a, 0.004), (&b, 0.001)] {
        let least = closest(&strands, &scene.positions, shape, 2, 8);
        assert!(least > margin - 1e-3, "{least} {margin}");
    }
}

#[test]
fn hair_on_a_ball_comes_to_rest() {
    let ball = Capsule::sphere([0.0; 3], 0.1);
    for friction in [0.0, 0.3, 1.0] {
        let (strands, rest) = on_ball(0.1, 24, 24);
        let mut scene = Scene::<f32>::new(&strands, &rest, None);
        scene.settings.damping_per_sec = 4.0;
        scene.contacts = vec![contact(0.002, friction)];
        scene.settle(10.0, &[Collider::still(&ball)]);
        let before = scene.positions.clone();
        assert!(
            scene.fastest() < 0.02,
            "friction {friction}: {}",
            scene.fastest()
        );
        scene.settle(0.5, &[Collider::still(&ball)]);
        let moved = before.iter().zip(&scene.positions);
        let moved = moved.map(|(a, b)| (Vec3::from(*a) - Vec3::from(*b)).norm());
        let worst = moved.fold(0.0, f32::max);
        assert!(worst < 5e-4, "friction {friction}: {worst}");
        let least = closest(&strands, &scene.positions, &ball, 2, 8);
        assert!(least > 0.001, "friction {friction}: {least}");
    }
}

/// A weight on a slope, on a level rod of one metre, holds where the slope's tangent is below the coefficient, and slides with
/// g (sin - mu cos) where it is not.
#[test]
fn friction_is_coulombs() {
    let (sine, cosine) = (0.6_f32, 0.8);
    let slope = Plane {
        normal: [sine, cosine, 0.0],
        offset: 0.0,
    };
    let strands = Strands::new([2]).expect("valid");
    let rest = line([0.0; 3], [0.0, 0.0, 1.0], 2);
    let slid = |friction: f32, frames: usize| {
        let mut scene = Scene::<f64>::new(&strands, &rest, Some(&[0.0, 1.0]));
        scene.settings.global_stiffness_hz = 0.0;
        scene.settings.local_stiffness_hz = 0.0;
        scene.settings.damping_per_sec = 0.0;
        scene.contacts = vec![contact(0.0, friction)];
        scene.frame(&Affine::identity(), 0.0, &[Collider::still(&slope)]);
        let before = scene.tip();
        for _ in 0..frames {
            scene.frame(&Affine::identity(), 1.0 / 480.0, &[Collider::still(&slope)]);
        }
        (scene.tip() - before).norm()
    };
    // What friction holds gives way by some hundredths of a millimetre, and stays there.
    let (soon, late) = (slid(0.8, 48), slid(0.8, 480));
    assert!(
        soon < 3e-4 && (late - soon).abs() < 1e-5,
        "holds: {soon} {late}"
    );
    for friction in [0.0, 0.3] {
        let expected = 0.5 * 9.81 * (sine - friction * cosine) * 0.01;
        assert!(
            (slid(friction, 48) / expected - 1.0).abs() < 0.04,
            "{} {expected}",
            slid(friction, 48)
        );
    }
}

#[test]
fn a_moving_floor_takes_hair_along() {
    let floor = Plane {
        normal: [0.0, 1.0, 0.0],
        offset: 0.0,
    };
    let strands = Strands::new([2]).expect("valid");
    let rest = line([0.0; 3], [0.0, 0.0, 1.0], 2);
    let mut scene = Scene::<f32>::new(&strands, &rest, Some(&[0.0, 1.0]));
    scene.settings.global_stiffness_hz = 0.0;
    scene.settings.local_stiffness_hz = 0.0;
    scene.contacts = vec![contact(0.0, 1.0)];
    let at = |x: f32| Rigid::of(&turned(Vec3::y(), 0.0, Vec3::new(x, 0.0, 0.0)));
    for i in 0..20 {
        let x = i as f32 * 0.01;
        let collider = Collider {
            shape: &floor,
            motion: RigidMotion::between(at(x), at(x + 0.01)),
        };
        scene.frame(&Affine::identity(), STILL, &[collider]);
    }
    let x = scene.tip().x;
    // At first it slips: `v^2 / (2 mu g)`.
    assert!(x > 0.17 && x < 0.185, "{x}");
}

#[test]
fn schemes_of_tressfx() {
    let slab = Grid::new([-1.0; 3], [1.0; 3], 0.25, |p| p[1] - 0.1);
    let p = [0.1, 0.05, 0.3];
    for mode in [
        GradientMode::Analytic,
        GradientMode::Forward,
        GradientMode::Mixed { origin: [-1.0; 3] },
    ] {
        let g = tressfx_gradient(&slab, p, slab.distance(p), mode);
        assert!(
            (g[1] / g[1].abs() - 1.0).abs() < 1e-3 && g[0].abs() < 1e-3,
            "{mode:?} {g:?}"
        );
        let out = tressfx_response(&slab, p, 0.2, mode).expect("too close");
        assert!((out[1] - 0.3).abs() < 1e-5, "{mode:?} {out:?}");
    }
    assert_eq!(
        tressfx_response(&slab, [0.0, 0.5, 0.0], 0.2, GradientMode::Forward),
        None
    );
}
