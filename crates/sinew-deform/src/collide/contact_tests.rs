//! What contacts do to positions and velocities, in closed forms.

use super::contact::{ContactVertex, push_out};
use super::placed::Solids;
use super::ports::{Contacts, Fields, Placements};
use super::settle::settle_lengths;
use super::test_shapes::Grid;
use super::{
    Capsule, CollideJob, CollideScratch, CollideSettings, Collider, Contact, FieldCollider,
    MAX_COLLIDERS, Plane, Rigid, RigidMotion,
};
use crate::Par;
use crate::hair_sim::HairReal;
use crate::hair_sim::test_scene::{Scene, line, turned};
use crate::sdf::{FieldFrame, FieldWords, SolidsView};
use sinew_geom::{Affine, Strands, Vec3};

fn contact(margin: f32, friction: f32) -> Contact {
    Contact {
        collider: 0,
        margin,
        friction,
    }
}

/// Where the last pass turns one segment out of a floor, the strand beyond it follows towards where it was: an offset across the strand
/// dies away with the first segment (to second order), and the tip is not thrown about. Were it carried along rigidly, the tip would move
/// as far as the segment was deep.
#[test]
fn a_turn_near_the_root_does_not_throw_the_tip() {
    let (length, depth) = (0.1_f64, 0.01);
    // Level, but for one vertex, which is below the floor.
    let heights = (0..16).map(|i| if i == 2 { -depth } else { 0.005 });
    let mut x = 0.0;
    let mut before = 0.005;
    let strand = heights.enumerate().map(|(i, height)| {
        let rise: f64 = height - before;
        before = height;
        x += if i == 0 {
            0.0
        } else {
            (length * length - rise * rise).sqrt()
        };
        ContactVertex::<f64> {
            x: Vec3::new(x, height, 0.0),
            start: Vec3::new(x, height, 0.0),
            inverse_mass: if i == 0 { 0.0 } else { 1.0 },
            length,
            ..Default::default()
        }
    });
    let mut strand: Vec<_> = strand.collect();
    let was = strand.clone();
    let (colliders, contacts) = ([Collider::still(&FLOOR)], [contact(0.0, 0.0)]);
    let mut placements = [Default::default(); 1];
    let solids = Solids::place(&colliders, &contacts, &mut placements, [0.0, 1.0]);
    settle_lengths(&solids, &mut strand, 1);
    let moved = |i: usize| (strand[i].x - was[i].x).norm();
    assert!(moved(2) > 0.9 * depth, "the segment is out: {}", moved(2));
    assert!(strand.iter().all(|v| v.x.y > -1e-4));
    for i in 4..strand.len() {
        assert!(moved(i) < 0.3 * depth, "vertex {i}: {}", moved(i));
    }
}

const FLOOR: Plane = Plane {
    normal: [0.0, 1.0, 0.0],
    offset: 0.0,
};

/// A pair of vertices that nothing holds and no force moves.
fn loose<R: HairReal>(rest: &[[f32; 3]], contacts: Vec<Contact>) -> Scene<R> {
    let strands = Strands::new([2]).expect("valid");
    let mut scene = Scene::<R>::new(&strands, rest, Some(&[1.0; 2]));
    scene.settings.gravity = [0.0; 3];
    scene.settings.damping_per_sec = 0.0;
    scene.settings.global_stiffness_hz = 0.0;
    scene.settings.local_stiffness_hz = 0.0;
    scene.settings.exempt = 0;
    // It begins where it is, in solids or not.
    scene.frame(&Affine::identity(), 0.0, &[]);
    scene.contacts = contacts;
    scene
}

/// A point in a corner ends at the margin of the one wall from it, and at that of the other from the other.
#[test]
fn each_solid_keeps_its_own_margin() {
    let wall = Plane {
        normal: [1.0, 0.0, 0.0],
        offset: 0.0,
    };
    let colliders = [Collider::still(&FLOOR), Collider::still(&wall)];
    let strands = Strands::new([2]).expect("valid");
    let mut points = line([-0.1, -0.1, 0.0], [0.0, 0.0, 0.01], 2);
    CollideJob {
        strands: &strands,
        settings: &CollideSettings {
            exempt: 0,
            iterations: 1,
        },
        colliders: &colliders,
        contacts: &[
            contact(0.004, 0.0),
            Contact {
                collider: 1,
                margin: 0.01,
                friction: 0.0,
            },
        ],
        previous: None,
        positions: &mut points,
        scratch: &mut CollideScratch::new(&strands, 2),
        par: Par::Seq,
    }
    .run();
    for p in points {
        assert!((p[0] - 0.01).abs() < 1e-5, "{p:?}");
        assert!((p[1] - 0.004).abs() < 1e-5, "{p:?}");
    }
}

/// Out of a wedge of two planes by the one, then by the other: each push leads back into the other plane by the cosine between the
/// normals, so that after `k` iterations the depth is that cosine to the power `2 k - 1`.
#[test]
fn iterations_go_on_where_one_solid_leads_into_another() {
    let (cosine, sine) = (0.8_f32, 0.6);
    let slope = Plane {
        normal: [sine, -cosine, 0.0],
        offset: 0.0,
    };
    let colliders = [Collider::still(&FLOOR), Collider::still(&slope)];
    let both = || {
        let other = Contact {
            collider: 1,
            ..contact(0.0, 0.0)
        };
        vec![contact(0.0, 0.0), other]
    };
    let depth = 0.001;
    // On the floor, and that far behind the slope.
    let rest = line([-depth / sine, 0.0, 0.0], [0.0, 0.0, 0.01], 2);
    for iterations in 1..4 {
        let expected = depth * cosine.powi(2 * iterations as i32 - 1);
        let mut points = rest.clone();
        let strands = Strands::new([2]).expect("valid");
        CollideJob {
            strands: &strands,
            settings: &CollideSettings {
                exempt: 0,
                iterations,
            },
            colliders: &colliders,
            contacts: &both(),
            previous: None,
            positions: &mut points,
            scratch: &mut CollideScratch::new(&strands, 2),
            par: Par::Seq,
        }
        .run();
        let left = -points[0][1];
        assert!((left / expected - 1.0).abs() < 0.01, "{iterations}: {left}");
        let mut scene = loose::<f32>(&rest, both());
        scene.settings.collision_iterations = iterations;
        scene.frame(&Affine::identity(), 1.0 / 240.0, &colliders);
        let left = -scene.positions[0][1];
        assert!((left / expected - 1.0).abs() < 0.01, "{iterations}: {left}");
    }
}

/// Two vertices beside a ball, and the segment between them `depth` deep in it: pushed out, without the last pass. `share` is where
/// the ball is, and `slides` how far the step moved the segment along itself.
fn pushed_off_a_ball(share: f64, held: bool, slides: f64, friction: f32) -> [Vec3<f64>; 2] {
    let ball = Capsule::sphere([0.0, -0.01, 0.0], 0.01);
    let length = 0.1;
    let vertex = |x: f64, inverse_mass: f64| ContactVertex::<f64> {
        x: Vec3::new(x, -DEPTH, 0.0),
        start: Vec3::new(x - slides, 0.001, 0.0),
        inverse_mass,
        length,
        ..Default::default()
    };
    let from = -share * length;
    let before = [
        vertex(from, if held { 0.0 } else { 1.0 }),
        vertex(from + length, 1.0),
    ];
    let mut strand = before;
    let (colliders, contacts) = ([Collider::still(&ball)], [contact(0.0, friction)]);
    let mut placements = [Default::default(); 1];
    let solids = Solids::place(&colliders, &contacts, &mut placements, [0.0, 1.0]);
    push_out(&solids, &mut strand, 0);
    [0, 1].map(|i| strand[i].x - before[i].x)
}

const DEPTH: f64 = 0.002;

/// A push at the share `s` of a segment moves its ends by `1 - s` and `s` of an impulse that brings that place out.
#[test]
fn a_peak_between_two_vertices_moves_both() {
    for share in [0.25, 0.5, 0.75] {
        let [a, b] = pushed_off_a_ball(share, false, 0.0, 0.0);
        let out = a.y * (1.0 - share) + b.y * share;
        assert!((out / DEPTH - 1.0).abs() < 0.1, "{share}: out by {out}");
        let ratio = a.y / b.y * share / (1.0 - share);
        assert!((ratio - 1.0).abs() < 0.15, "{share}: {a:?} and {b:?}");
    }
    let [a, b] = pushed_off_a_ball(0.5, true, 0.0, 0.0);
    assert_eq!(a, Vec3::zeros(), "held");
    assert!(
        (0.5 * b.y / DEPTH - 1.0).abs() < 0.1,
        "all by the other end: {b:?}"
    );
}

/// Friction takes back up to its coefficient times the push of the way along, for segments as for vertices.
#[test]
fn friction_holds_segments_too() {
    let slides = 0.004;
    let [free, _] = pushed_off_a_ball(0.5, false, slides, 0.0);
    for friction in [0.2, 0.4] {
        let back = free - pushed_off_a_ball(0.5, false, slides, friction)[0];
        let expected = f64::from(friction) * DEPTH;
        assert!(
            (back.norm() / expected - 1.0).abs() < 0.1,
            "{friction}: {back:?}"
        );
    }
    let held = free - pushed_off_a_ball(0.5, false, slides, 10.0)[0];
    assert!(
        (held.norm() / slides - 1.0).abs() < 0.1,
        "no further than it slid: {held:?}"
    );
}

/// Velocity after one step of a pair that meets the floor with `velocity`, while the floor rises and the root, whose motion the pair
/// shares, goes down.
fn landed<R: HairReal>(velocity: Vec3<f64>, rises: f32, root_falls: f32) -> Vec3<f64> {
    let step = 1.0 / 240.0;
    let rest = line([0.0, 0.001, 0.0], [0.0, 0.0, 0.01], 2);
    let mut scene = loose::<R>(&rest, vec![contact(0.0, 0.0)]);
    scene.settings.root_motion_share = 1.0;
    for v in &mut scene.state.velocities {
        *v = velocity.map(R::from_double);
    }
    let at = |y: f32| turned(Vec3::y(), 0.0, Vec3::new(0.0, y, 0.0));
    let floor = Collider {
        shape: &FLOOR,
        motion: RigidMotion::between(Rigid::of(&at(0.0)), Rigid::of(&at(rises * step))),
    };
    scene.frame(&at(-root_falls * step), step, &[floor]);
    let [a, b] = [0, 1].map(|i| scene.state.velocities[i].map(R::to_double));
    assert!((a - b).norm() < 1e-3, "{a:?} {b:?}");
    a
}

/// Half of the way down is free, and the velocity of that half would be left if it were taken from positions. Velocities count from
/// what the root hands on.
#[test]
fn what_meets_a_floor_has_its_velocity_across_and_keeps_that_along() {
    let down = Vec3::new(0.3, -0.5, 0.2);
    for (velocity, rises, root_falls, expected) in [
        (down, 0.0, 0.0, Vec3::new(0.3, 0.0, 0.2)),
        (down, 0.4, 0.0, Vec3::new(0.3, 0.4, 0.2)),
        (Vec3::zeros(), 0.0, 0.5, Vec3::new(0.0, 0.5, 0.0)),
        (down, 0.4, 0.1, Vec3::new(0.3, 0.5, 0.2)),
    ] {
        let found = [
            landed::<f32>(velocity, rises, root_falls),
            landed::<f64>(velocity, rises, root_falls),
        ];
        for v in found {
            assert!((v - expected).norm() < 2e-3, "{v:?}, not {expected:?}");
        }
    }
}

/// A level pair falls onto a ball between its ends.
fn fallen_onto_a_ball<R: HairReal>() -> [f64; 2] {
    let ball = Capsule::sphere([0.0, -0.03, 0.0], 0.03);
    let rest = line([-0.05, 0.001, 0.0], [0.1, 0.0, 0.0], 2);
    let mut scene = loose::<R>(&rest, vec![contact(0.0, 0.0)]);
    for v in &mut scene.state.velocities {
        v.y = R::from_double(-1.0);
    }
    let collider = [Collider::still(&ball)];
    scene.frame(&Affine::identity(), 1.0 / 240.0, &collider);
    [0, 1].map(|i| scene.state.velocities[i].y.to_double())
}

/// The ball takes what leads into it of the velocity where it touches: of both ends together, here; turning is free.
#[test]
fn what_falls_across_a_peak_stops_there() {
    for [a, b] in [fallen_onto_a_ball::<f32>(), fallen_onto_a_ball::<f64>()] {
        assert!((a + b).abs() < 0.06, "{a} {b}");
        assert!((a - b).abs() < 0.4, "{a} {b}");
    }
}

/// In the corner of a floor and a wall a vertex that slides into the wall is held back by the wall's friction, not by the floor's.
#[test]
fn each_solid_has_its_own_friction() {
    let wall = Plane {
        normal: [1.0, 0.0, 0.0],
        offset: 0.0,
    };
    let strands = Strands::new([2]).expect("valid");
    let start = line([0.01, 1.0, 0.0], [0.0, 0.0, 0.01], 2);
    let mut points = line([-0.01, 0.98, 0.0], [0.0, 0.0, 0.01], 2);
    CollideJob {
        strands: &strands,
        settings: &CollideSettings {
            exempt: 0,
            iterations: 1,
        },
        colliders: &[Collider::still(&FLOOR), Collider::still(&wall)],
        contacts: &[
            contact(0.0, 0.0),
            Contact {
                collider: 1,
                margin: 0.0,
                friction: 0.5,
            },
        ],
        previous: Some(&start),
        positions: &mut points,
        scratch: &mut CollideScratch::new(&strands, 2),
        par: Par::Seq,
    }
    .run();
    // The wall pushes by 0.01, which takes back 0.005 of 0.02.
    let [x, y, _] = points[0];
    assert!(x.abs() < 1e-5 && (y - 0.985).abs() < 1e-5, "{points:?}");
}

/// Fields at the first and at the third port of a node, none at the second.
#[test]
fn fields_keep_the_margins_and_frictions_of_their_ports() {
    let words = FieldWords::Solids(SolidsView {
        solids: &[],
        frame: FieldFrame::default(),
    });
    let field = FieldCollider::new(words).expect("a field");
    let fields: Fields<'_> = [(0, field), (2, field)].into_iter().collect();
    let mut numbers: Contacts = [(9.0, 9.0); MAX_COLLIDERS];
    (numbers[0], numbers[2]) = ((0.1, 0.2), (0.3, 0.4));
    let (colliders, contacts) = Placements::default().colliders(&fields, &numbers);
    assert_eq!(colliders.len(), 2);
    let second = Contact {
        collider: 1,
        ..contact(0.3, 0.4)
    };
    assert_eq!(contacts.as_slice(), [contact(0.1, 0.2), second]);
}

/// Velocity after one step of the end of a pair, 10 cm long, that begins with (0.3, 0, 0) `depth` below a floor and as far behind a wall in
/// z. Nothing moves the other vertex out.
fn brought_out<R: HairReal>(depth: f32) -> Vec3<f64> {
    let wall = Plane {
        normal: [0.0, 0.0, 1.0],
        offset: 0.0,
    };
    let colliders = [Collider::still(&FLOOR), Collider::still(&wall)];
    let other = Contact {
        collider: 1,
        ..contact(0.0, 0.5)
    };
    let rest = line([0.0, -depth, -depth], [0.1, 0.0, 0.0], 2);
    let mut scene = loose::<R>(&rest, vec![contact(0.0, 0.5), other]);
    scene.settings.exempt = 1;
    for v in &mut scene.state.velocities {
        v.x = R::from_double(0.3);
    }
    scene.frame(&Affine::identity(), 1.0 / 240.0, &colliders);
    scene.state.velocities[1].map(R::to_double)
}

/// The way out of solids is no motion: it gives no velocity, in a corner no more than before a wall, and it is no pressure that friction
/// could hold on to. Where that way, out of both, is longer than half a segment, everything begins at rest. (The rest is the segment,
/// longer by 0.1 mm at first.)
#[test]
fn what_is_brought_out_of_solids_gains_no_velocity() {
    for v in [brought_out::<f32>(0.003), brought_out::<f64>(0.003)] {
        assert!((v - Vec3::new(0.3, 0.0, 0.0)).norm() < 0.03, "{v:?}");
    }
    for v in [brought_out::<f32>(0.04), brought_out::<f64>(0.04)] {
        assert_eq!(v, Vec3::zeros());
    }
}

/// Two balls in one solid, each a quarter of a segment from the vertex between: what the first segment's push lifts that vertex brings the
/// second segment out, but for a tenth, and it is pushed by that alone.
#[test]
fn a_push_counts_for_the_next_segment() {
    let ball = |x: f32, p: [f32; 3]| Vec3::new(p[0] - x, p[1] + 0.03, p[2]).norm() - 0.03;
    let balls = Grid::new([-0.08, -0.08, -0.05], [0.08, 0.02, 0.05], 0.0025, |p| {
        ball(-0.025, p).min(ball(0.025, p))
    });
    let mut strand = [-0.1, 0.0, 0.1].map(|x| ContactVertex::<f64> {
        x: Vec3::new(x, -DEPTH, 0.0),
        start: Vec3::new(x, -DEPTH, 0.0),
        inverse_mass: 1.0,
        length: 0.1,
        ..Default::default()
    });
    let (colliders, contacts) = ([Collider::still(&balls)], [contact(0.0, 0.0)]);
    let mut placements = [Default::default(); 1];
    let solids = Solids::place(&colliders, &contacts, &mut placements, [0.0, 1.0]);
    push_out(&solids, &mut strand, 0);
    let [a, b, c] = strand.map(|v| v.x.y);
    let (first, second) = (0.25 * a + 0.75 * b, 0.75 * b + 0.25 * c);
    assert!(
        (0.0..0.3 * DEPTH).contains(&(first + 0.1 * DEPTH)),
        "{first}"
    );
    assert!((second / DEPTH).abs() < 0.3, "{second}");
}
