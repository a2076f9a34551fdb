//! What drives hair, against closed forms: wind, and heads that turn too far in a frame.

use super::HairSettings;
use super::test_scene::{Scene, bare, line, on_ball, turned};
use crate::collide::{Capsule, Collider, Contact, Rigid, RigidMotion};
use sinew_geom::{Affine, Strands, Vec3};

const STILL: f32 = 1.0 / 60.0;

/// A limp strand at rest at the angle `a` to gravity `g`: across it, the wind `W = 2u` acts with `W cos a` and gravity with `g sin a`, thus
/// `tan a = 2u / g`, up to dry drag.
#[test]
fn a_limp_strand_hangs_between_wind_and_gravity() {
    for speed in [1.0_f32, 4.905, 12.0] {
        let mut scene = Scene::<f64>::straight([0.0; 3], [0.0, -0.01, 0.0], 10);
        scene.settings = HairSettings {
            damping_per_sec: 2.0,
            gravity: [0.0, -9.81, 0.0],
            wind: [0.6 * speed, 0.0, 0.8 * speed],
            gust_strength: 0.0,
            ..bare()
        };
        scene.settle(12.0, &[]);
        let along = scene.tip() - Vec3::from(scene.positions[2]);
        let found = (along.x * 0.6 + along.z * 0.8).atan2(-along.y);
        let expected = (2.0 * speed / 9.81).atan();
        assert!((found - expected).abs() < 0.006, "{found} {expected}");
    }
}

/// A point without gravity on a rod of a kilometre, across air of speed `u`: `v = (2u - d) / c (1 - exp(-c t))` with drag `c` and dry drag `d`.
/// Where `c` is 2/s, that is the speed of the air less `d / c`.
#[test]
fn hair_without_weight_reaches_the_speed_of_the_air() {
    let strands = Strands::new([2]).expect("valid");
    let rest = line([0.0; 3], [0.0, -1000.0, 0.0], 2);
    let mut scene = Scene::<f64>::new(&strands, &rest, Some(&[0.0, 1.0]));
    scene.settings = HairSettings {
        damping_per_sec: 2.0,
        wind: [3.0, 0.0, 0.0],
        gust_strength: 0.0,
        ..bare()
    };
    scene.frame(&Affine::identity(), 0.0, &[]);
    for frame in 1..=4 * 960 {
        scene.frame(&Affine::identity(), 1.0 / 960.0, &[]);
        let t = f64::from(frame) / 960.0;
        let expected = (6.0 - 0.05) / 2.0 * (1.0 - (-2.0 * t).exp());
        let found = scene.state.velocities().nth(1).expect("a tip").norm();
        assert!((found - expected).abs() < 4e-3, "{t}: {found} {expected}");
    }
}

/// Linear from 120 to 150 degrees, and of a wider angle to 180; of turn and jump the larger share counts.
#[test]
fn the_share_of_a_head_that_turns_rises_with_the_angle() {
    let jump = Vec3::new(0.375, 0.0, 0.0);
    for (limit, degrees, shift, over) in [
        (120.0, 119.0, Vec3::zeros(), 0.0),
        (120.0, 135.0, Vec3::zeros(), 0.5),
        (120.0, 151.0, Vec3::zeros(), 1.0),
        (40.0, 47.5, Vec3::zeros(), 0.75),
        (160.0, 175.0, Vec3::zeros(), 0.75),
        (180.0, 180.0, Vec3::zeros(), 0.0),
        (120.0, 127.5, jump, 0.5),
        (120.0, 142.5, jump, 0.75),
    ] {
        let mut scene = Scene::<f64>::straight([0.0; 3], [0.0, -0.01, 0.0], 4);
        scene.settings.root_motion_share = 0.2;
        scene.settings.teleport_angle = f32::to_radians(limit);
        scene.settle(0.05, &[]);
        let angle = f32::to_radians(degrees);
        scene.frame(&turned(Vec3::new(0.3, 1.0, -0.2), angle, shift), STILL, &[]);
        let (found, expected) = (scene.state.drives[0].share, 0.2 + 0.8 * over);
        assert!((found - expected).abs() < 1e-5, "{degrees}: {found}");
    }
}

/// Hair at rest on a head that turns about the vertical, seen from the head: it swings after 100 degrees, and is carried by 170.
#[test]
fn a_head_that_turns_too_far_in_a_frame_carries_its_hair() {
    for (degrees, limit, is_carried) in [
        (100.0, 120.0, false),
        (170.0, 120.0, true),
        (170.0, 180.0, false),
    ] {
        let (strands, rest) = on_ball(0.1, 20, 16);
        let mut scene = Scene::<f32>::new(&strands, &rest, None);
        scene.settings.root_motion_share = 0.0;
        scene.settings.teleport_distance = 1e9;
        scene.settings.teleport_angle = f32::to_radians(limit);
        scene.settle(2.0, &[]);
        let before = scene.positions.clone();
        let head = turned(Vec3::y(), f32::to_radians(degrees), Vec3::zeros());
        scene.frame(&head, STILL, &[]);
        let off =
            |(a, b): (&[f32; 3], &[f32; 3])| (Vec3::from(*a) - head.point(Vec3::from(*b))).norm();
        let most = scene
            .positions
            .iter()
            .zip(&before)
            .map(off)
            .fold(0.0, f32::max);
        let is_rigid = most < 2e-3;
        assert!(
            is_rigid == is_carried && (is_carried || most > 0.05),
            "{degrees} {limit}: {most}"
        );
    }
}

/// A ball that hair lies on goes with a head that jumps: as what follows the head does, or at its end at once, as the field of a mesh. Either
/// way hair goes rigidly with both, and stays.
#[test]
fn hair_that_jumps_has_nothing_in_its_way() {
    let ball = Capsule::sphere([0.0; 3], 0.1);
    let far = Vec3::new(2.0, 0.0, 0.5);
    for (degrees, shift) in [(0.0_f32, far), (170.0, Vec3::zeros()), (180.0, far)] {
        for follows in [true, false] {
            let (strands, rest) = on_ball(0.1, 24, 16);
            let mut scene = Scene::<f32>::new(&strands, &rest, None);
            scene.settings.root_motion_share = 0.0;
            scene.settings.local_stiffness_hz = 0.3;
            scene.contacts = vec![Contact {
                collider: 0,
                margin: 0.002,
                friction: 0.3,
            }];
            scene.settle(3.0, &[Collider::still(&ball)]);
            let before = scene.positions.clone();
            let head = turned(Vec3::y(), degrees.to_radians(), shift);
            let [from, to] = [Affine::identity(), head].map(|a| Rigid::of(&a));
            for frame in 0..30 {
                let from = if follows && frame == 0 { from } else { to };
                let collider = Collider {
                    shape: &ball,
                    motion: RigidMotion::between(from, to),
                };
                scene.frame(&head, STILL, &[collider]);
                let pairs = scene.positions.iter().zip(&before);
                let off = pairs.map(|(a, b)| (Vec3::from(*a) - head.point(Vec3::from(*b))).norm());
                let most = off.fold(0.0, f32::max);
                assert!(most < 3e-3, "{degrees} {follows} {frame}: {most}");
            }
        }
    }
}
