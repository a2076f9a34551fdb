//! Closed forms and properties of motion without contacts.

use super::test_scene::{Scene, bare, followers, line, on_ball, period, turned};
use super::{HairSettings, HairState, HairStateError, place_followers};
use crate::Par;
use crate::collide::{Capsule, Collider, Contact};
use sinew_geom::{Affine, Strands, Vec3};

const STILL: f32 = 1.0 / 60.0;

/// A weight on a massless rod that swings a little: `sqrt(g / l)`.
#[test]
fn a_weight_on_a_rod_swings_at_its_frequency() {
    let strands = Strands::new([2]).expect("valid");
    let (length, g, h) = (0.1_f64, 9.81, 1.0 / 1920.0);
    let rest = line([0.0; 3], [0.0, -length as f32, 0.0], 2);
    let mut scene = Scene::<f64>::new(&strands, &rest, Some(&[0.0, 1.0]));
    scene.settings = HairSettings {
        gravity: [0.0, -g as f32, 0.0],
        ..bare()
    };
    scene.frame(&Affine::identity(), 0.0, &[]);
    scene.put(&[Vec3::zeros(), Vec3::new(0.05 * length, -length, 0.0)]);
    let mut samples = Vec::new();
    for _ in 0..2 * 1920 {
        scene.frame(&Affine::identity(), h as f32, &[]);
        samples.push(scene.state.positions[1].x);
    }
    let expected = std::f64::consts::TAU / (g / length).sqrt();
    let found = period(&samples, h);
    assert!((found / expected - 1.0).abs() < 0.002, "{found} {expected}");
}

/// Without gravity, a weight on a rod slows down by drag `c` and dry drag `d`: `(v + d / c) exp(-c t) - d / c`, until it stops.
#[test]
fn drag_slows_a_weight_on_a_rod_down_and_stops_it() {
    let strands = Strands::new([2]).expect("valid");
    let rest = line([0.0; 3], [0.0, -0.1, 0.0], 2);
    for drag in [0.5_f64, 4.0] {
        let mut scene = Scene::<f64>::new(&strands, &rest, Some(&[0.0, 1.0]));
        scene.settings = HairSettings {
            damping_per_sec: drag as f32,
            ..bare()
        };
        scene.frame(&Affine::identity(), 0.0, &[]);
        scene.state.kept[1].velocity = Vec3::new(0.2, 0.0, 0.0);
        let dry = (0.025 * drag).min(0.05) / drag;
        for frame in 1..=8 * 960 {
            scene.frame(&Affine::identity(), 1.0 / 960.0, &[]);
            let t = f64::from(frame) / 960.0;
            let expected = ((0.2 + dry) * (-drag * t).exp() - dry).max(0.0);
            let found = scene.state.velocities().nth(1).expect("a tip").norm();
            assert!(
                (found - expected).abs() < 4e-3,
                "{drag}: {t}: {found} {expected}"
            );
        }
        let left = scene.state.velocities().nth(1).expect("a tip").norm();
        assert!(left < 1e-6, "{drag}: {left}");
    }
}

/// Implicit steps lose energy, and never gain any: from all angles, for chains and rods.
#[test]
fn a_free_strand_never_gains_energy() {
    for (angle, hz) in [(0.2_f64, 0.0), (1.4, 0.0), (2.6, 0.0), (1.4, 1.0)] {
        let along = [
            angle.sin() as f32 * 0.0125,
            -angle.cos() as f32 * 0.0125,
            0.0,
        ];
        let mut scene = Scene::<f64>::straight([0.0; 3], along, 17);
        scene.settings = HairSettings {
            gravity: [0.0, -9.81, 0.0],
            local_stiffness_hz: hz,
            ..bare()
        };
        scene.frame(&Affine::identity(), 0.0, &[]);
        let mut before = f64::INFINITY;
        for frame in 0..1200 {
            scene.frame(&Affine::identity(), 1.0 / 240.0, &[]);
            let bound = &scene.bind.vertices;
            let of = |(i, v): (usize, Vec3<f64>)| {
                let mass = f64::from(bound[i].mass);
                mass * (0.5 * v.norm_squared() + 9.81 * scene.state.positions[i].y)
            };
            let motion: f64 = scene.state.velocities().enumerate().map(of).sum();
            // Bends of a rod hold energy, too: all of it is checked where there is none. Where a whip
            // cracks, a step gains up to a thousandth of what there is.
            if hz == 0.0 {
                let crack = if angle > 2.0 { 0.02 } else { 1e-9 };
                assert!(
                    motion <= before + crack,
                    "{angle}: frame {frame}: {motion} {before}"
                );
            }
            before = motion;
        }
        assert!(scene.stretch() < 1e-5);
    }
}

/// Values of the Laguerre polynomials up to degree `n`.
fn laguerre(n: usize, x: f64) -> Vec<f64> {
    let mut l = vec![1.0, 1.0 - x];
    for k in 1..n {
        let k1 = k as f64;
        l.push(((2.0 * k1 + 1.0 - x) * l[k] - k1 * l[k - 1]) / (k1 + 1.0));
    }
    l
}

/// A hanging chain of n equal beads swings at `sqrt(x g / l)`, x the zeros of the Laguerre polynomial of degree n; bead k
/// from the free end is displaced by the polynomial of degree k.
#[test]
fn hanging_chain_swings_at_its_analytic_frequency() {
    let (beads, l, g) = (16, 0.0125_f64, 9.81);
    let (mut low, mut high) = (0.0, 1.6 / beads as f64);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if laguerre(beads, middle)[beads] > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let expected = std::f64::consts::TAU / (low * g / l).sqrt();
    let shape = laguerre(beads, low);
    let strands = Strands::new([beads + 1]).expect("valid");
    let mut masses = vec![1.0; beads + 1];
    masses[0] = 0.0;
    // Half a segment hangs on the last one.
    masses[beads] = 0.5;
    let rest = line([0.0; 3], [0.0, -l as f32, 0.0], beads + 1);
    let mut scene = Scene::<f64>::new(&strands, &rest, Some(&masses));
    scene.settings = HairSettings {
        gravity: [0.0, -g as f32, 0.0],
        ..bare()
    };
    scene.frame(&Affine::identity(), 0.0, &[]);
    let shape = |i: usize| Vec3::new(0.003 * shape[beads - i], -l * i as f64, 0.0);
    let shape: Vec<Vec3<f64>> = (0..=beads).map(shape).collect();
    scene.put(&shape);
    let mut samples = Vec::new();
    for _ in 0..360 {
        scene.frame(&Affine::identity(), STILL, &[]);
        samples.push(scene.state.positions[beads].x);
    }
    let found = period(&samples, f64::from(STILL));
    assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    let last = samples[300..].iter().fold(0.0_f64, |m, s| m.max(s.abs()));
    // No energy comes in; steps take about 0.13 per second of this swing's amplitude.
    assert!((0.001_2..0.003).contains(&last), "swings by {last}");
}

#[test]
fn bending_frequency_is_the_one_set_and_does_not_depend_on_vertices() {
    for vertices in [12, 24, 48] {
        let mut scene =
            Scene::<f64>::straight([0.0; 3], [0.2 / (vertices - 1) as f32, 0.0, 0.0], vertices);
        scene.settings = HairSettings {
            local_stiffness_hz: 3.0,
            ..bare()
        };
        scene.frame(&Affine::identity(), 0.0, &[]);
        // The clamp is in the middle of the first segment, which is pinned.
        let free = 1.0 - 0.5 / (vertices - 1) as f64;
        let bent = |i: usize| {
            let x = 0.2 * i as f64 / (vertices - 1) as f64;
            let s = ((x / 0.2 - (1.0 - free)) / free).max(0.0);
            Vec3::new(x, 0.002 * s * s * (6.0 - 4.0 * s + s * s) / 3.0, 0.0)
        };
        let bent: Vec<Vec3<f64>> = (0..vertices).map(bent).collect();
        scene.put(&bent);
        let (h, mut samples) = (1.0 / 1920.0, Vec::new());
        for _ in 0..2 * 1920 {
            scene.frame(&Affine::identity(), h as f32, &[]);
            samples.push(scene.state.positions[vertices - 1].y);
        }
        let expected = 1.0 / 3.0;
        let found = period(&samples, h);
        assert!(
            (found / expected - 1.0).abs() < 0.01,
            "{vertices}: {found} {expected}"
        );
    }
}

#[test]
fn rest_pose_without_gravity_stays() {
    let (strands, rest) = on_ball(0.1, 20, 16);
    let mut scene = Scene::<f32>::new(&strands, &rest, None);
    scene.settings.gravity = [0.0; 3];
    scene.settle(1.0, &[]);
    for (a, b) in scene.positions.iter().zip(&rest) {
        assert!(
            (Vec3::from(*a) - Vec3::from(*b)).norm() < 1e-5,
            "{a:?} {b:?}"
        );
    }
}

#[test]
fn curls_keep_their_shape_without_gravity_and_turn_with_the_head() {
    for (turn, vertices, hz) in [
        (0.3, 30, 8.0),
        (0.6, 30, 8.0),
        (0.6, 60, 20.0),
        (1.0, 48, 3.0),
        (1.5, 40, 8.0),
    ] {
        let coil = |i: usize| {
            let a = i as f32 * turn;
            [0.02 * a.cos(), -0.004 * i as f32, 0.02 * a.sin()]
        };
        let rest: Vec<[f32; 3]> = (0..vertices).map(coil).collect();
        let strands = Strands::new([vertices]).expect("valid");
        let mut scene = Scene::<f32>::new(&strands, &rest, None);
        scene.settings = HairSettings {
            gravity: [0.0; 3],
            global_stiffness_hz: 0.0,
            local_stiffness_hz: hz,
            root_motion_share: 0.0,
            ..HairSettings::default()
        };
        let head = turned(Vec3::new(0.3, 1.0, 0.2), 1.2, Vec3::new(0.2, 0.1, 0.0));
        scene.frame(&Affine::identity(), STILL, &[]);
        // Tight curls come back later.
        let secs = if turn > 0.9 { 15 } else { 10 };
        for _ in 0..60 * secs {
            scene.frame(&head, STILL, &[]);
        }
        let off =
            |(a, b): (&[f32; 3], &[f32; 3])| (Vec3::from(*a) - head.point(Vec3::from(*b))).norm();
        let worst = scene
            .positions
            .iter()
            .zip(&rest)
            .map(off)
            .fold(0.0, f32::max);
        assert!(worst < 1e-3, "{turn}: {worst}");
    }
}

#[test]
fn a_chain_hangs_straight_down_without_stretching() {
    let mut scene = Scene::<f32>::straight([0.0, 1.0, 0.0], [0.01, 0.0, 0.0], 24);
    scene.settings = HairSettings {
        global_stiffness_hz: 0.0,
        local_stiffness_hz: 0.0,
        damping_per_sec: 6.0,
        ..HairSettings::default()
    };
    scene.settle(10.0, &[]);
    for (i, p) in scene.positions.iter().enumerate().skip(2) {
        let expected = Vec3::new(0.01, 1.0 - 0.01 * (i - 1) as f32, 0.0);
        assert!(
            (Vec3::from(*p) - expected).norm() < 1e-3,
            "{p:?} {expected:?}"
        );
    }
    assert!(scene.stretch() < 1e-5, "{}", scene.stretch());
    assert!(scene.fastest() < 1e-3, "{}", scene.fastest());
}

#[test]
fn settled_hair_moves_rigidly_where_the_root_hands_on_all_motion() {
    let (strands, rest) = on_ball(0.1, 20, 16);
    let mut scene = Scene::<f32>::new(&strands, &rest, None);
    scene.settings.gravity = [0.0; 3];
    scene.settings.root_motion_share = 1.0;
    scene.frame(&Affine::identity(), STILL, &[]);
    for i in 1..=30 {
        let t = i as f32 / 30.0;
        let head = turned(
            Vec3::new(0.2, 1.0, 0.1),
            2.0 * t,
            Vec3::new(t, 0.3 * t, 0.0),
        );
        scene.frame(&head, STILL, &[]);
        for (a, b) in scene.positions.iter().zip(&rest) {
            let expected = head.point(Vec3::from(*b));
            assert!(
                (Vec3::from(*a) - expected).norm() < 1e-4,
                "{i}: {a:?} {expected:?}"
            );
        }
    }
}

/// Hair that swings on a head that turns, and takes part in all of that motion, swings in the head's frame as on a still
/// head: velocities turn, too.
#[test]
fn swinging_hair_swings_on_in_the_frame_of_the_head() {
    let scene = || {
        let (strands, rest) = on_ball(0.1, 12, 12);
        let mut scene = Scene::<f64>::new(&strands, &rest, None);
        scene.settings.gravity = [0.0; 3];
        scene.settings.root_motion_share = 1.0;
        scene.settings.damping_per_sec = 0.0;
        scene.frame(&Affine::identity(), 0.0, &[]);
        for (i, kept) in scene.state.kept.iter_mut().enumerate() {
            let t = (i % 12) as f64 / 12.0;
            kept.velocity = Vec3::new(0.3, 0.1, -0.4) * (t * t);
        }
        scene
    };
    let (mut still, mut turning) = (scene(), scene());
    for i in 1..=30 {
        let head = turned(Vec3::new(0.2, 1.0, 0.1), 0.1 * i as f32, Vec3::zeros());
        still.frame(&Affine::identity(), STILL, &[]);
        turning.frame(&head, STILL, &[]);
        for (a, b) in turning.positions.iter().zip(&still.positions) {
            let off = Vec3::from(*a) - head.point(Vec3::from(*b));
            assert!(off.norm() < 1e-4, "{i}: {off:?}");
        }
    }
}

#[test]
fn a_jump_of_the_head_moves_hair_rigidly() {
    let (strands, rest) = on_ball(0.1, 20, 16);
    let mut scene = Scene::<f32>::new(&strands, &rest, None);
    scene.settings.root_motion_share = 0.0;
    scene.settle(2.0, &[]);
    let before = scene.positions.clone();
    let jump = Vec3::new(100.0, 0.0, 20.0);
    scene.frame(&turned(Vec3::y(), 0.0, jump), STILL, &[]);
    for (a, b) in scene.positions.iter().zip(&before) {
        let off = Vec3::from(*a) - Vec3::from(*b) - jump;
        assert!(off.norm() < 2e-3, "{off:?}");
    }
}

fn shaken(t: f64) -> Affine<f32> {
    let angle = 0.8 * (t * 7.0).sin();
    let shift = Vec3::new(
        0.05 * (t * 9.0).sin() as f32,
        0.0,
        0.1 * (t * 4.0).cos() as f32,
    );
    turned(Vec3::new(0.1, 1.0, 0.0), angle as f32, shift)
}

/// Hair on a ball that is shaken for two seconds in the wind, with so many frames a second; the ball is a solid if it `collides`.
fn shaken_at(rate: u32, collides: bool) -> Vec<[f32; 3]> {
    let (strands, rest) = on_ball(0.1, 12, 16);
    let ball = Capsule::sphere([0.0; 3], 0.1);
    let mut scene = Scene::<f32>::new(&strands, &rest, None);
    scene.settings.wind = [1.5, 0.0, 0.5];
    if collides {
        scene.contacts = vec![Contact {
            collider: 0,
            margin: 0.002,
            friction: 0.3,
        }];
    }
    let mut before = crate::collide::Rigid::of(&shaken(0.0));
    // Frames after the first one, which begins at rest.
    for i in 0..=rate * 2 {
        let head = shaken(f64::from(i) / f64::from(rate));
        let now = crate::collide::Rigid::of(&head);
        let motion = crate::collide::RigidMotion::between(before, now);
        let shape = &ball;
        before = now;
        let collider = [Collider { shape, motion }];
        let colliders = if collides { collider.as_slice() } else { &[] };
        scene.frame(&head, 1.0 / rate as f32, colliders);
    }
    scene.positions
}

/// Difference between vertices after the same second at another frame rate: the largest, and the mean. What is left is that heads go by
/// arcs between fewer poses, and where strands begin to touch.
#[test]
fn frame_rate_does_not_change_the_motion() {
    for (collides, most) in [
        (false, [(60, 0.003, 0.0005), (30, 0.01, 0.002)]),
        (true, [(60, 0.003, 0.0005), (30, 0.01, 0.002)]),
    ] {
        let finest = shaken_at(120, collides);
        for (rate, largest, mean) in most {
            let found = shaken_at(rate, collides);
            let off = |(a, b): (&[f32; 3], &[f32; 3])| (Vec3::from(*a) - Vec3::from(*b)).norm();
            let all: Vec<f32> = found.iter().zip(&finest).map(off).collect();
            let worst = all.iter().copied().fold(0.0, f32::max);
            let middle = all.iter().sum::<f32>() / all.len() as f32;
            println!("{rate} Hz, collides {collides}: {worst} at most, {middle} in the mean");
            assert!(worst < largest, "{rate} Hz: {worst}");
            assert!(middle < mean, "{rate} Hz: {middle}");
        }
    }
}

#[test]
fn violent_motion_stretches_nothing() {
    let (strands, rest) = on_ball(0.1, 40, 32);
    let ball = Capsule::sphere([0.0; 3], 0.1);
    let mut scene = Scene::<f32>::new(&strands, &rest, None);
    scene.settings.root_motion_share = 0.0;
    scene.contacts = vec![Contact {
        collider: 0,
        margin: 0.002,
        friction: 0.3,
    }];
    let mut before = crate::collide::Rigid::of(&shaken(0.0));
    for i in 0..120 {
        let head = shaken(f64::from(i) * 0.05);
        let now = crate::collide::Rigid::of(&head);
        let collider = Collider {
            shape: &ball,
            motion: crate::collide::RigidMotion::between(before, now),
        };
        before = now;
        scene.frame(&head, STILL, &[collider]);
        assert!(scene.stretch() < 1e-3, "{i}: {}", scene.stretch());
    }
}

#[test]
fn wind_pushes_with_the_wind_and_not_along_the_strand() {
    let mut scene = Scene::<f32>::straight([0.0; 3], [0.0, -0.01, 0.0], 20);
    scene.settings.wind = [2.0, 0.0, 0.0];
    scene.settings.gust_strength = 0.0;
    scene.settle(6.0, &[]);
    assert!(scene.tip().x > 0.01, "{:?}", scene.tip());
    let mut along = Scene::<f32>::straight([0.0; 3], [0.0, -0.01, 0.0], 20);
    along.settings.wind = [0.0, 2.0, 0.0];
    along.settings.gust_strength = 0.0;
    along.settle(2.0, &[]);
    assert!(along.tip().x.abs() < 1e-5, "{:?}", along.tip());
    assert!((along.tip().y + 0.19).abs() < 1e-4, "{:?}", along.tip());
}

/// With a head of twice the size roots are twice as far off. Segments lead away so that tips would be three times that, were they not as
/// long as the guide's.
#[test]
fn followers_spread_towards_the_tip() {
    let guide = Strands::new([6]).expect("valid");
    let rest = line([0.0, 0.0, 0.1], [0.0, 0.0, 0.01], 6);
    let (strands, all) =
        place_followers(&guide, &rest, &followers(2, 0.01, 0.0, 7), None).expect("places");
    let mut scene = Scene::<f32>::new(&strands, &all, None);
    scene.settings = HairSettings {
        tip_separation: 2.0,
        ..bare()
    };
    let mut head = Affine::identity();
    head.linear = sinew_geom::Mat3::from_diagonal(&Vec3::new(2.0, 2.0, 2.0));
    scene.frame(&head, STILL, &[]);
    for (v, p) in scene.positions.iter().enumerate() {
        let i = v % 6;
        let offset = Vec3::from(all[v]) - Vec3::from(all[i]);
        let off = Vec3::from(*p) - Vec3::from(scene.positions[i]);
        let along = Vec3::new(0.0, 0.0, 0.02);
        let aslant = along + offset * (2.0 * 2.0 / 5.0);
        let segment = aslant.normalize() * 0.02;
        let expected = offset * 2.0 + (segment - along) * i as f32;
        assert!((off - expected).norm() < 1e-6, "{v}: {off:?} {expected:?}");
    }
}

/// A guide beside a wall, and followers behind it: out of it but for the first two vertices, which are on the skin; or all where they are
/// laid.
#[test]
fn followers_stay_out_of_solids_but_for_their_roots() {
    let wall = crate::collide::Plane {
        normal: [1.0, 0.0, 0.0],
        offset: 0.0,
    };
    let guide = line([0.002, 0.0, 0.0], [0.0, -0.01, 0.0], 8);
    let follower = line([-0.004, 0.0, 0.0], [0.0, -0.01, 0.0], 8);
    let strands = Strands::new([8; 2]).and_then(|s| s.with_guides(vec![0, 0]));
    let strands = strands.expect("valid");
    for collide in [true, false] {
        let rest = [guide.clone(), follower.clone()].concat();
        let mut scene = Scene::<f32>::new(&strands, &rest, None);
        scene.settings.collide_followers = collide;
        scene.contacts = vec![Contact {
            collider: 0,
            margin: 0.0,
            friction: 0.0,
        }];
        scene.frame(&Affine::identity(), STILL, &[Collider::still(&wall)]);
        let x: Vec<f32> = scene.positions[8..].iter().map(|p| p[0]).collect();
        assert!(x[..2].iter().all(|x| (x + 0.004).abs() < 1e-6), "{x:?}");
        let is_out = x[3..].iter().all(|x| *x > -1e-5);
        assert_eq!(is_out, collide, "{x:?}");
    }
}

/// The first step of a segment in wind aslant: across it all of the wind counts, along it nothing.
#[test]
fn wind_has_no_hold_along_a_segment() {
    let h = 1.0 / 240.0;
    let settings = HairSettings {
        wind: [1.5, 2.0, -1.0],
        gust_strength: 0.0,
        ..bare()
    };
    let strands = Strands::new([2]).expect("valid");
    let rest = line([0.0; 3], [0.0, -0.01, 0.0], 2);
    let mut scene = Scene::<f64>::new(&strands, &rest, Some(&[0.0, 1.0]));
    scene.settings = settings;
    scene.frame(&Affine::identity(), 0.0, &[]);
    scene.frame(&Affine::identity(), h, &[]);
    let tip = scene.state.velocities().nth(1).expect("a tip") * 240.0;
    assert!((tip - Vec3::new(3.0, 0.0, -2.0)).norm() < 0.02, "{tip:?}");
}

#[test]
fn gusts_repeat_with_the_seed() {
    let tip = |seed: u32| {
        let mut scene = Scene::<f32>::straight([0.0; 3], [0.0, -0.01, 0.0], 20);
        scene.settings.wind = [2.0, 0.0, 0.0];
        scene.settings.seed = seed;
        scene.settle(1.0, &[]);
        scene.tip()
    };
    assert_eq!(tip(1), tip(1));
    assert_ne!(tip(1), tip(2));
}

fn moving_scene() -> Scene<f32> {
    let (strands, rest) = on_ball(0.1, 70, 12);
    let (strands, rest) =
        place_followers(&strands, &rest, &followers(2, 0.01, 1.0, 5), None).expect("places");
    let mut scene = Scene::<f32>::new(&strands, &rest, None);
    scene.settings.wind = [1.5, 0.0, 0.5];
    // So low that the roots' velocities of the last frame matter.
    scene.settings.teleport_distance = 3e-4;
    scene.contacts = vec![Contact {
        collider: 0,
        margin: 0.002,
        friction: 0.3,
    }];
    scene
}

fn run_scene(scene: &mut Scene<f32>, frames: std::ops::Range<i32>) {
    let ball = Capsule::sphere([0.0; 3], 0.1);
    for i in frames {
        scene.frame(
            &shaken(f64::from(i) / 60.0),
            STILL,
            &[Collider::still(&ball)],
        );
    }
}

#[cfg(feature = "rayon")]
#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let run = |threads: Option<usize>| {
        let mut scene = moving_scene();
        match threads {
            None => run_scene(&mut scene, 0..20),
            Some(count) => {
                scene.par = Par::Rayon;
                let pool = rayon::ThreadPoolBuilder::new().num_threads(count);
                let pool = pool.build().expect("starts");
                pool.install(|| run_scene(&mut scene, 0..20));
            }
        }
        (scene.positions, scene.tangents)
    };
    let expected = run(None);
    for threads in 1..=3 {
        assert_eq!(run(Some(threads)), expected, "{threads} threads");
    }
}

#[test]
fn a_restored_state_goes_on_with_the_same_bits() {
    let mut scene = moving_scene();
    run_scene(&mut scene, 0..10);
    let bytes = scene.state.save();
    run_scene(&mut scene, 10..20);
    let mut other = moving_scene();
    other.state.restore(&bytes).expect("fits");
    assert_eq!(other.state.save(), bytes);
    run_scene(&mut other, 10..20);
    assert_eq!(scene.positions, other.positions);
}

#[test]
fn states_that_do_not_fit_are_refused() {
    let mut scene = moving_scene();
    run_scene(&mut scene, 0..2);
    let bytes = scene.state.save();
    let refused = |bytes: &[u8]| moving_scene().state.restore(bytes).expect_err("refused");
    assert_eq!(refused(b"nothing"), HairStateError::Format);
    assert_eq!(refused(&[1; 100]), HairStateError::Format);
    let mut other = bytes.clone();
    other[4] = 9;
    let version = HairStateError::Version {
        found: 9,
        expected: 3,
    };
    assert_eq!(refused(&other), version);
    let mut other = bytes.clone();
    other[8] += 1;
    let message = refused(&other).to_string();
    assert_eq!(
        message,
        "found a state of 71 guides with 840 vertices, expected 70 guides with 840"
    );
    let short = refused(&bytes[..bytes.len() - 1]);
    assert!(matches!(short, HairStateError::Length { .. }), "{short}");
}

#[test]
fn reset_begins_anew() {
    let mut scene = moving_scene();
    run_scene(&mut scene, 0..3);
    let first = scene.positions.clone();
    run_scene(&mut scene, 3..20);
    scene.state.reset();
    run_scene(&mut scene, 0..3);
    assert_eq!(scene.positions, first);
}

#[test]
fn pre_roll_shows_settled_hair_at_once() {
    let scene = |pre_roll_secs| {
        let mut scene = Scene::<f32>::straight([0.0, 1.0, 0.0], [0.01, 0.0, 0.0], 16);
        scene.settings.pre_roll_secs = pre_roll_secs;
        scene.settings.damping_per_sec = 8.0;
        scene
    };
    let mut rolled = scene(6.0);
    rolled.frame(&Affine::identity(), STILL, &[]);
    assert!(rolled.fastest() < 1e-2, "{}", rolled.fastest());
    let mut plain = scene(0.0);
    plain.settle(6.0, &[]);
    assert!(
        (rolled.tip() - plain.tip()).norm() < 1e-3,
        "as far as without"
    );
}

/// Without speed: what comes out of a solid is not thrown.
#[test]
fn hair_that_begins_in_a_solid_is_out_of_it_in_the_first_frame() {
    let ball = Capsule {
        ends: [[0.0; 3]; 2],
        radii: [0.1; 2],
    };
    let colliders = [Collider::still(&ball)];
    // Through the ball beside its middle.
    let mut scene = Scene::<f32>::straight([-0.3, 0.01, 0.02], [0.025, 0.0, 0.0], 24);
    scene.contacts = vec![Contact {
        collider: 0,
        margin: 0.01,
        friction: 0.2,
    }];
    scene.frame(&Affine::identity(), 0.0, &colliders);
    let depth = |p: &[f32; 3]| 0.11 - Vec3::from(*p).norm();
    let deepest = scene.positions.iter().map(depth).fold(0.0, f32::max);
    assert!(deepest < 1e-3, "{deepest} deep");
    assert!(scene.stretch() < 1e-4, "stretched by {}", scene.stretch());
    assert_eq!(scene.fastest(), 0.0);
    // It stays where it was put, but for gravity: nothing is thrown.
    let first = scene.positions.clone();
    scene.frame(&Affine::identity(), 1.0 / 240.0, &colliders);
    let moved = |(a, b): (&[f32; 3], &[f32; 3])| (Vec3::from(*a) - Vec3::from(*b)).norm();
    let farthest = (first.iter().zip(&scene.positions))
        .map(moved)
        .fold(0.0, f32::max);
    // Half of a segment.
    assert!(farthest < 0.0125, "moved by {farthest}");
}

/// Lengths as in real assets: zero, 7e-6, a millimetre beside a tenth of a micrometre; and two vertices, and one point.
#[test]
fn degenerate_strands_stay_finite() {
    let strands = Strands::new([4, 5, 2, 3, 6]).expect("valid");
    let mut rest = vec![[0.1, 0.2, 0.3]; 4];
    rest.extend(line([0.0; 3], [0.0, 1.75e-6, 0.0], 5));
    rest.extend([[0.0; 3], [0.0, 0.1, 0.0]]);
    rest.extend([[0.0; 3]; 3]);
    rest.extend([0.0, 1e-3, 1.0001e-3, 2e-3, 0.05, 0.05].map(|y| [0.0, y, 0.0]));
    let mut scene = Scene::<f32>::new(&strands, &rest, None);
    scene.settings.wind = [1.5, 0.0, 0.5];
    let ball = Capsule::sphere([0.0; 3], 0.01);
    scene.contacts = vec![Contact {
        collider: 0,
        margin: 0.001,
        friction: 0.5,
    }];
    for i in 0..200 {
        scene.frame(
            &shaken(f64::from(i) / 60.0),
            STILL,
            &[Collider::still(&ball)],
        );
        let numbers = scene.positions.iter().chain(&scene.tangents).flatten();
        assert!(numbers.into_iter().all(|c| c.is_finite()), "frame {i}");
        let unit = |t: &[f32; 3]| (Vec3::from(*t).norm() - 1.0).abs() < 1e-4;
        assert!(scene.tangents.iter().all(unit), "frame {i}");
    }
}

#[test]
fn skins_that_are_no_motions_are_survived() {
    let mut scene = Scene::<f32>::straight([0.0, 1.0, 0.0], [0.01, 0.0, 0.0], 16);
    let scaled = |s: [f32; 3]| {
        let mut head = Affine::identity();
        head.linear = sinew_geom::Mat3::from_diagonal(&Vec3::from(s));
        head
    };
    for s in [
        [1.0; 3],
        [2.0; 3],
        [1.0, 0.0, 1.0],
        [-1.0, 1.0, 1.0],
        [f32::NAN; 3],
        [0.0; 3],
    ] {
        for _ in 0..10 {
            scene.frame(&scaled(s), STILL, &[]);
        }
        assert!(
            scene.positions.iter().flatten().all(|c| c.is_finite()),
            "{s:?}"
        );
    }
    for _ in 0..10 {
        scene.frame(&scaled([2.0; 3]), STILL, &[]);
    }
    let length = (scene.tip() - Vec3::from(scene.positions[14])).norm();
    assert!(
        (length - 0.02).abs() < 1e-5,
        "lengths follow the size: {length}"
    );
}

#[test]
fn followers_turn_with_the_head() {
    let guide = Strands::new([8]).expect("valid");
    let rest = line([0.0, 0.0, 0.1], [0.0, 0.0, 0.01], 8);
    let (strands, all) =
        place_followers(&guide, &rest, &followers(3, 0.01, 0.5, 7), None).expect("places");
    let mut scene = Scene::<f32>::new(&strands, &all, None);
    scene.settings.gravity = [0.0; 3];
    scene.settings.root_motion_share = 1.0;
    scene.frame(&Affine::identity(), STILL, &[]);
    let head = turned(Vec3::y(), 1.5, Vec3::zeros());
    scene.frame(&head, STILL, &[]);
    for (p, r) in scene.positions.iter().zip(&all) {
        let expected = head.point(Vec3::from(*r));
        assert!(
            (Vec3::from(*p) - expected).norm() < 1e-4,
            "{p:?} {expected:?}"
        );
    }
}

/// A strand that falls over bends by over 90 degrees. Followers bend with it: angles between their segments and the guide's stay as at
/// rest, curls and locks keep their shape.
#[test]
fn followers_keep_their_shape_along_a_bent_guide() {
    let guide = Strands::new([16]).expect("valid");
    let rest = line([0.0; 3], [0.0, 0.01, 0.001], 16);
    let settings = crate::hair_sim::FollowerSettings {
        curl: 0.004,
        curl_length: 0.05,
        length_variation: 0.3,
        ..followers(12, 0.01, 0.5, 7)
    };
    let (strands, all) = place_followers(&guide, &rest, &settings, None).expect("places");
    let mut scene = Scene::<f32>::new(&strands, &all, None);
    scene.settings.gravity = [0.0, -9.81, 3.0];
    scene.settings.local_stiffness_hz = 0.5;
    scene.settle(1.0, &[]);
    let segments = |points: &[[f32; 3]], s: usize| -> Vec<Vec3<f32>> {
        let points = &points[strands.range(s)];
        let pairs = points.windows(2);
        pairs.map(|w| Vec3::from(w[1]) - Vec3::from(w[0])).collect()
    };
    let now = segments(&scene.positions, 0);
    assert!(now[14].y < 0.0, "{:?}: it hangs over", now[14]);
    let before = segments(&all, 0);
    for s in 1..strands.len() {
        let of_follower = segments(&scene.positions, s);
        for (i, (at_rest, bent)) in segments(&all, s).iter().zip(&of_follower).enumerate() {
            assert!((at_rest.norm() - bent.norm()).abs() < 1e-6);
            let [was, is] = [at_rest.angle(&before[i]), bent.angle(&now[i])];
            assert!((was - is).abs() < 2e-3, "{s} {i}: {was} {is}");
        }
    }
}

#[test]
fn single_and_double_precision_agree_on_the_first_frames() {
    let (strands, rest) = on_ball(0.1, 30, 24);
    let mut single = Scene::<f32>::new(&strands, &rest, None);
    let mut double = Scene::<f64>::new(&strands, &rest, None);
    for i in 0..30 {
        let head = shaken(f64::from(i) / 60.0);
        single.frame(&head, STILL, &[]);
        double.frame(&head, STILL, &[]);
        for (a, b) in single.positions.iter().zip(&double.positions) {
            let off = (Vec3::from(*a) - Vec3::from(*b)).norm();
            assert!(off < 2e-4, "frame {i}: {off}");
        }
    }
}

#[test]
fn wrong_lengths_are_errors() {
    let strands = Strands::new([3]).expect("valid");
    let error = super::HairBind::new(&strands, &[[0.0; 3]; 2], None).expect_err("short");
    assert_eq!(
        error.to_string(),
        "found 2 rest positions, expected one for each of 3 strand vertices"
    );
    let error = super::HairBind::new(&strands, &[[0.0; 3]; 3], Some(&[0.0, -1.0, 1.0]));
    let message = error.expect_err("negative").to_string();
    assert_eq!(
        message,
        "inverse mass of strand vertex 1 is -1, expected 0 (pinned) or more"
    );
    let bind = super::HairBind::new(&strands, &[[0.0; 3]; 3], None).expect("valid");
    let mut state = HairState::<f32>::new(&bind);
    let job = super::HairJob {
        bind: &bind,
        transforms: &[],
        dt_secs: STILL,
        settings: &HairSettings::default(),
        colliders: &[],
        contacts: &[],
        state: &mut state,
        positions: &mut [[0.0; 3]; 3],
        tangents: None,
        par: Par::Seq,
    };
    assert_eq!(
        job.run().expect_err("none").to_string(),
        "found 0 transforms, expected one for each of 1 strands"
    );
}

/// Eight at a time, and in order where a strand has places without direction.
#[test]
fn tangents_are_the_mean_directions_of_segments() {
    for count in [2, 3, 9, 10, 11, 32] {
        for folded in [false, true] {
            let mut points: Vec<[f32; 3]> = (0..count)
                .map(|i| i as f32)
                .map(|i| [i.sin(), 0.3 * i, (0.5 * i).cos()])
                .collect();
            if folded && count > 4 {
                points[3] = points[2];
            }
            let mut found = vec![[0.0; 3]; count];
            super::write_tangents(&points, &mut found);
            let is_plain = super::strands_out::inner_tangents(&points, &mut found.clone());
            assert_eq!(is_plain, !folded || count <= 4, "{count}");
            let unit = |a: usize, b: usize| {
                let d = Vec3::from(points[b]) - Vec3::from(points[a]);
                d.try_normalize(0.0).unwrap_or_default()
            };
            for (i, t) in found.iter().enumerate() {
                let before = if i > 0 { unit(i - 1, i) } else { Vec3::zeros() };
                let after = if i + 1 < count {
                    unit(i, i + 1)
                } else {
                    Vec3::zeros()
                };
                let off = Vec3::from(*t) - (before + after).normalize();
                assert!(off.norm() < 1e-6, "{i} of {count}: {off:?}");
            }
        }
    }
}
