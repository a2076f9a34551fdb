//! Strands lose energy and come to rest, whatever way they fold.

use super::step::{HELD_SPEED, MOST_REST_DRAG, REST_DRAG, REST_SPEED, UNMOVED_SPEED};
use super::test_scene::{Scene, bare};
use super::{HairReal, HairSettings};
use crate::collide::{Capsule, Collider, Contact, Plane};
use sinew_geom::{Affine, Strands, Vec3};

const STILL: f32 = 1.0 / 60.0;
const GRAVITY: f64 = 9.81;

/// Strands of the sample's head that leave the crown upwards and bend over by 130 degrees within three segments: all of their weight turns
/// them about sharp bends.
const HOOKED: [usize; 10] = [37, 152, 291, 324, 338, 403, 522, 725, 805, 861];

fn head() -> (Strands, Vec<[f32; 3]>) {
    let head = sinew_samples::head().expect("made");
    let hair = &head.strands[0];
    let strands = hair.topology.strands().expect("strands").clone();
    (strands, hair.positions.clone())
}

fn hooked() -> (Strands, Vec<[f32; 3]>) {
    let (strands, rest) = head();
    let rest = HOOKED.map(|s| rest[strands.range(s)].to_vec()).concat();
    (Strands::new([16; HOOKED.len()]).expect("valid"), rest)
}

/// What moves in a strand, and what it fell: energies over the mass of a vertex.
fn energies<R: HairReal>(scene: &Scene<R>, rest: &[[f32; 3]], strand: usize) -> (f64, f64) {
    let (mut moving, mut fallen) = (0.0, 0.0);
    for i in scene.bind.strands().range(strand) {
        let (v, y) = (scene.state.velocities[i], scene.state.positions[i].y);
        moving += 0.5 * f64::from(v.norm_squared().to_single());
        fallen += GRAVITY * (f64::from(rest[i][1]) - f64::from(y.to_single()));
    }
    (moving, fallen)
}

/// Strands that begin at rest and in their rest shape can move by what they fell alone: the energy of their shape is not less than at the
/// beginning.
#[test]
fn strands_move_by_what_they_fell_alone() {
    let (strands, rest) = hooked();
    for hz in [1.0, 2.0, 8.0, 20.0] {
        let mut scene = Scene::<f64>::new(&strands, &rest, None);
        scene.settings.local_stiffness_hz = hz;
        for frame in 0..120 {
            scene.frame(&Affine::identity(), STILL, &[]);
            for (k, strand) in HOOKED.iter().enumerate() {
                let (moving, fallen) = energies(&scene, &rest, k);
                // What steps add is little beside all that a strand can fall.
                let all = 14.0 * GRAVITY * 2.0 * f64::from(scene.bind.reaches[k]);
                assert!(
                    moving <= fallen + 0.05 * all,
                    "{hz} Hz, frame {frame}, strand {strand}: moves by {moving}, fell {fallen} of {all}"
                );
            }
        }
    }
}

/// A strand that stands almost straight up and is soft folds over. All that it can lose is `2 g L` for each vertex, and a swing that is
/// damped by `exp(-d t)` in velocity dies by `exp(-d t / 2)`: no vertex is faster than all of that energy in it alone would make it.
#[test]
fn a_soft_strand_that_stands_up_folds_over_and_comes_to_rest() {
    let (vertices, step, secs) = (16, 0.01_f32, 12.0_f32);
    let tilted = [step * 0.02, step, 0.0];
    for hz in [0.1, 0.3, 0.6] {
        let mut scene = Scene::<f64>::straight([0.0; 3], tilted, vertices);
        scene.settings = HairSettings {
            damping_per_sec: 2.0,
            gravity: [0.0, -9.81, 0.0],
            local_stiffness_hz: hz,
            ..bare()
        };
        scene.settle(secs, &[]);
        assert!(scene.tip().y < 0.0, "{hz} Hz: folds over");
        let free = (vertices - 2) as f32;
        let length = step * (vertices - 1) as f32;
        let most = (free * 4.0 * 9.81 * length).sqrt() * (-secs).exp();
        let fastest = scene.fastest();
        assert!(fastest < most, "{hz} Hz: {fastest} m/s, at most {most}");
    }
}

/// Rest shape and gravity are all that moves this hair.
fn all_of_the_head_rests<R: HairReal>(strands: &Strands, rest: &[[f32; 3]]) {
    let mut scene = Scene::<R>::new(strands, rest, None);
    scene.settle(10.0, &[]);
    let fastest = scene.fastest();
    assert!(fastest < 1e-3, "{fastest} m/s after ten seconds");
    let deepest = Vec3::from(rest[0]).norm() + 1.0;
    let lost = scene
        .positions
        .iter()
        .find(|p| Vec3::from(**p).norm() > deepest);
    assert_eq!(lost, None, "strands stay where they grow");
}

#[test]
fn all_strands_of_the_head_come_to_rest() {
    let (strands, rest) = head();
    assert_eq!(strands.len(), 900, "of the sample");
    all_of_the_head_rests::<f32>(&strands, &rest);
}

#[test]
fn hooked_strands_of_the_head_come_to_rest_in_double_precision() {
    let (strands, rest) = hooked();
    all_of_the_head_rests::<f64>(&strands, &rest);
}

/// The same at 3 g, and where shape is stiffer or steps are longer: places where a strand whirls move with all three.
#[test]
fn hooked_strands_come_to_rest_at_all_settings() {
    let (strands, rest) = hooked();
    for (hz, g, rate) in [
        (2.0, 30.0, 240.0),
        (2.0, 9.81, 120.0),
        (8.0, 9.81, 240.0),
        (20.0, 9.81, 240.0),
        (40.0, 9.81, 240.0),
    ] {
        let mut scene = Scene::<f32>::new(&strands, &rest, None);
        scene.settings.local_stiffness_hz = hz;
        scene.settings.gravity = [0.0, -g, 0.0];
        scene.settings.substeps_per_sec = rate;
        scene.settle(10.0, &[]);
        let fastest = scene.fastest();
        assert!(
            fastest < 1e-3,
            "{hz} Hz, {g} m/s^2, {rate} steps: {fastest} m/s"
        );
    }
}

/// A loose strand that glides over a smooth floor while its root is brought out of it by a micrometre glides on as fast: nothing pushes it
/// along.
fn glides_on<R: HairReal>(depth: f64) -> Scene<R> {
    let floor = Plane {
        normal: [0.0, 1.0, 0.0],
        offset: 0.0,
    };
    let strands = Strands::new([8]).expect("valid");
    let rest = super::test_scene::line([0.0; 3], [0.0, 0.01, 0.0], 8);
    let mut scene = Scene::<R>::new(&strands, &rest, Some(&[1.0; 8]));
    scene.settings = HairSettings {
        exempt: 0,
        ..bare()
    };
    scene.contacts = vec![Contact {
        collider: 0,
        margin: 0.0,
        friction: 0.0,
    }];
    scene.frame(&Affine::identity(), 0.0, &[Collider::still(&floor)]);
    scene.state.positions[0].y -= R::from_double(depth);
    let speed = Vec3::new(
        R::from_double(0.5),
        R::from_double(0.0),
        R::from_double(0.0),
    );
    scene.state.velocities.fill(speed);
    scene.frame(&Affine::identity(), 1.0 / 240.0, &[Collider::still(&floor)]);
    scene
}

fn slowest<R: HairReal>(scene: &Scene<R>) -> f32 {
    let speeds = scene.state.velocities.iter().map(|v| v.x.to_single());
    speeds.fold(f32::INFINITY, f32::min)
}

#[test]
fn a_root_that_is_brought_out_a_little_stops_no_strand() {
    for depth in [1e-6, 1e-5, 1e-4, 1e-3] {
        for slowest in [
            slowest(&glides_on::<f32>(depth)),
            slowest(&glides_on::<f64>(depth)),
        ] {
            assert!((slowest - 0.5).abs() < 1e-3, "{depth}: {slowest} m/s");
        }
    }
    // Half of a segment is far: what lengths then do to the strand is no motion.
    assert_eq!(slowest(&glides_on::<f64>(0.006)), 0.0, "is at rest");
}

/// A loose strand after one step, which moved at `speed` while the skin at its root moves at `skin`, and what it should move at.
fn slowed<R: HairReal>(speed: f64, skin: f64) -> [f64; 2] {
    const DAMPING: f64 = 2.0;
    let h = 1.0 / 240.0;
    let strands = Strands::new([8]).expect("valid");
    let rest = super::test_scene::line([0.0; 3], [0.0, 0.01, 0.0], 8);
    let mut scene = Scene::<R>::new(&strands, &rest, Some(&[1.0; 8]));
    scene.settings = HairSettings {
        damping_per_sec: DAMPING as f32,
        ..bare()
    };
    let mut head = Affine::identity();
    scene.frame(&head, 0.0, &[]);
    scene
        .state
        .velocities
        .fill(R::vec3([speed as f32, 0.0, 0.0]));
    head.translation.x = (skin * h) as f32;
    scene.frame(&head, h as f32, &[]);
    let seen = speed * (-DAMPING * h).exp() - skin;
    let slow = (1.0 - (seen / REST_SPEED).powi(2)).max(0.0);
    let drag = MOST_REST_DRAG.min(REST_DRAG * DAMPING) * slow;
    let found = scene.state.velocities[3].x.to_single();
    [f64::from(found), skin + seen / (1.0 + drag * h)]
}

/// What is slow loses its motion, as the skin sees it, and nothing else does.
#[test]
fn slow_strands_lose_what_is_left_of_their_motion() {
    for (speed, skin) in [
        (0.001, 0.0),
        (0.002, 0.0),
        (0.0029, 0.0),
        (0.0035, 0.0),
        (0.5, 0.0),
        (0.01, 0.01),
        (0.0, 0.002),
    ] {
        for [found, expected] in [slowed::<f32>(speed, skin), slowed::<f64>(speed, skin)] {
            assert!(
                (found - expected).abs() < 1e-5,
                "{speed}, skin {skin}: {found} m/s, expected {expected}"
            );
        }
    }
}

/// A loose strand that stands on a floor of some friction, two micrometres deep, after one step from `speed` along it. How far the step
/// takes its vertices but for the lowest.
fn way_on_floor<R: HairReal>(speed: f64, friction: f32, damping: f32) -> [f32; 2] {
    let floor = Plane {
        normal: [0.0, 1.0, 0.0],
        offset: 0.0,
    };
    let strands = Strands::new([8]).expect("valid");
    let rest = super::test_scene::line([0.0; 3], [0.0, 0.01, 0.0], 8);
    let mut scene = Scene::<R>::new(&strands, &rest, Some(&[1.0; 8]));
    scene.settings = HairSettings {
        damping_per_sec: damping,
        exempt: 0,
        ..bare()
    };
    scene.contacts = vec![Contact {
        collider: 0,
        margin: 0.0,
        friction,
    }];
    let colliders = [Collider::still(&floor)];
    scene.frame(&Affine::identity(), 0.0, &colliders);
    scene.state.positions[0].y -= R::from_double(2e-6);
    let before = scene.state.positions.clone();
    let speed = Vec3::new(R::from_double(speed), R::zero(), R::zero());
    scene.state.velocities.fill(speed);
    scene.frame(&Affine::identity(), 1.0 / 240.0, &colliders);
    let ways = before.iter().zip(&scene.state.positions).skip(1);
    let ways: Vec<f32> = ways.map(|(a, b)| (b - a).norm().to_single()).collect();
    let least = ways.iter().copied().fold(f32::INFINITY, f32::min);
    [least, ways.into_iter().fold(0.0, f32::max)]
}

/// What touches something with friction stays to the bit where a step would take it no farther than a speed in proportion to the friction;
/// what is faster, touches without friction or moves without damping goes its way.
#[test]
fn what_hardly_moves_stays_where_it_touches() {
    let each = |speed, friction, damping| {
        [
            way_on_floor::<f32>(speed, friction, damping),
            way_on_floor::<f64>(speed, friction, damping),
        ]
    };
    for friction in [0.2_f32, 0.4] {
        let limit = HELD_SPEED * f64::from(friction);
        for found in each(limit * 0.9, friction, 2.0) {
            assert_eq!(found, [0.0; 2], "friction {friction}");
        }
        for [least, most] in each(limit * 1.2, friction, 2.0) {
            let way = (limit * 1.2 / 240.0) as f32;
            assert!(
                least > way * 0.8 && most < way * 1.2,
                "friction {friction}: {least} to {most} m of {way}"
            );
        }
    }
    let way = (HELD_SPEED * 0.1 / 240.0) as f32;
    for [least, most] in [
        each(HELD_SPEED * 0.1, 0.0, 2.0),
        each(HELD_SPEED * 0.1, 0.2, 0.0),
    ]
    .concat()
    {
        assert!(least > way * 0.8 && most < way * 1.2, "{least} to {most} m");
    }
}

/// In the air what is slower than rounding stays, and nothing else.
#[test]
fn what_hangs_free_goes_on_however_slow() {
    for (share, stays) in [(0.9, true), (1.2, false), (10.0, false)] {
        let speed = UNMOVED_SPEED * share;
        let found = way_in_air::<f64>(speed);
        let way = speed / 240.0;
        if stays {
            assert_eq!(found, 0.0, "{speed} m/s");
        } else {
            assert!((found / way - 1.0).abs() < 0.05, "{speed} m/s: {found} m");
        }
    }
}

/// How far a loose strand goes in a step.
fn way_in_air<R: HairReal>(speed: f64) -> f64 {
    let strands = Strands::new([8]).expect("valid");
    let rest = super::test_scene::line([0.0; 3], [0.0, 0.01, 0.0], 8);
    let mut scene = Scene::<R>::new(&strands, &rest, Some(&[1.0; 8]));
    scene.settings = HairSettings {
        damping_per_sec: 2.0,
        ..bare()
    };
    scene.frame(&Affine::identity(), 0.0, &[]);
    let before = scene.state.positions[3];
    let speed = Vec3::new(R::from_double(speed), R::zero(), R::zero());
    scene.state.velocities.fill(speed);
    scene.frame(&Affine::identity(), 1.0 / 240.0, &[]);
    let way = scene.state.positions[3] - before;
    f64::from(way.norm().to_single())
}

/// A loose strand lies on a slope of 30 degrees and slides down it from rest as Coulomb's law says: static friction holds nothing that is
/// steep.
#[test]
fn hair_slides_down_a_slope_from_rest() {
    const DAMPING: f64 = 2.0;
    const FRICTION: f64 = 0.2;
    let (sine, cosine) = 30.0_f32.to_radians().sin_cos();
    let slope = Plane {
        normal: [sine, cosine, 0.0],
        offset: 0.0,
    };
    let strands = Strands::new([8]).expect("valid");
    let rest = super::test_scene::line([0.0; 3], [cosine * 0.01, -sine * 0.01, 0.0], 8);
    let mut scene = Scene::<f32>::new(&strands, &rest, Some(&[1.0; 8]));
    scene.settings = HairSettings {
        damping_per_sec: DAMPING as f32,
        gravity: [0.0, -GRAVITY as f32, 0.0],
        exempt: 0,
        ..bare()
    };
    scene.contacts = vec![Contact {
        collider: 0,
        margin: 0.0,
        friction: FRICTION as f32,
    }];
    let secs = 0.5;
    scene.settle(secs as f32, &[Collider::still(&slope)]);
    let along = |v: Vec3<f32>| f64::from(v.x * cosine - v.y * sine);
    let push = GRAVITY * (f64::from(sine) - FRICTION * f64::from(cosine));
    let expected = push / DAMPING * (1.0 - (-DAMPING * secs).exp());
    for v in &scene.state.velocities {
        let found = along(*v);
        assert!(
            (found / expected - 1.0).abs() < 0.06,
            "{found} m/s, expected {expected}"
        );
    }
}

/// Strands that stand straight out from a ball, of some lengths in metres and numbers of vertices: with short segments gravity alone takes
/// a vertex a good part of a segment in a step.
const FINE: [(f32, usize); 9] = [
    (0.02, 64),
    (0.03, 16),
    (0.03, 32),
    (0.05, 32),
    (0.06, 64),
    (0.12, 64),
    (0.2, 64),
    (0.2, 128),
    (0.2, 256),
];

/// Twenty four of them.
fn fine(length: f32, vertices: usize) -> (Strands, Vec<[f32; 3]>) {
    let strands = Strands::new([vertices; 24]).expect("valid");
    let mut rest = Vec::new();
    for k in 0..24_u8 {
        let y = 1.0 - (f32::from(k) + 0.5) / 12.0;
        let (r, a) = ((1.0 - y * y).sqrt(), f32::from(k) * 2.399_963);
        let out = [r * a.cos(), y, r * a.sin()];
        let step = out.map(|c| c * length / (vertices - 1) as f32);
        rest.extend(super::test_scene::line(
            out.map(|c| c * 0.1),
            step,
            vertices,
        ));
    }
    (strands, rest)
}

fn fine_strands_rest<R: HairReal>(colliders: &[Collider<'_>]) {
    let mut moving = Vec::new();
    for (length, vertices) in FINE {
        let (strands, rest) = fine(length, vertices);
        let mut scene = Scene::<R>::new(&strands, &rest, None);
        if !colliders.is_empty() {
            scene.contacts = vec![Contact {
                collider: 0,
                margin: 0.0,
                friction: 0.2,
            }];
        }
        scene.settle(10.0, colliders);
        let fastest = fastest_way(&mut scene, colliders);
        // Very many vertices that touch go on trembling, by hundredths of a millimetre.
        let trembles = vertices > 128 && !colliders.is_empty();
        let most = if trembles { 5e-3 } else { 1e-3 };
        if fastest.is_nan() || fastest >= most {
            moving.push((length, vertices, fastest));
        }
    }
    assert_eq!(moving, [], "lengths, vertices, m/s");
}

#[test]
fn strands_of_short_segments_come_to_rest() {
    fine_strands_rest::<f32>(&[]);
}

#[test]
fn strands_of_short_segments_come_to_rest_in_double_precision() {
    fine_strands_rest::<f64>(&[]);
}

/// Strands that lie down on a ball of a decimetre as soon as they leave it, in directions all around.
fn lying(lean_degrees: f32, vertices: usize) -> (Strands, Vec<[f32; 3]>) {
    let (count, length) = (32_u8, 0.15);
    let strands = Strands::new(vec![vertices; usize::from(count)]).expect("valid");
    let (sine, cosine) = lean_degrees.to_radians().sin_cos();
    let mut rest = Vec::new();
    for k in 0..count {
        let y = 1.0 - (f32::from(k) + 0.5) / f32::from(count) * 2.0;
        let (r, a) = ((1.0 - y * y).sqrt(), f32::from(k) * 2.399_963);
        let out = Vec3::new(r * a.cos(), y, r * a.sin());
        let side = out.cross(&Vec3::new(0.3, 0.5, 0.81)).normalize();
        let (s, c) = (f32::from(k) * 1.7).sin_cos();
        let along = out * cosine + (side * c + out.cross(&side) * s) * sine;
        let step = along * (length / (vertices - 1) as f32);
        rest.extend(super::test_scene::line(
            (out * 0.1).into(),
            step.into(),
            vertices,
        ));
    }
    (strands, rest)
}

/// Largest speed in a tenth of a second, of places.
fn fastest_way<R: HairReal>(scene: &mut Scene<R>, colliders: &[Collider<'_>]) -> f32 {
    let mut fastest = 0.0_f32;
    for _ in 0..6 {
        let before = scene.positions.clone();
        scene.frame(&Affine::identity(), STILL, colliders);
        for (a, b) in before.iter().zip(&scene.positions) {
            fastest = fastest.max((Vec3::from(*a) - Vec3::from(*b)).norm() / STILL);
        }
    }
    fastest
}

/// Were all of the margin asked for behind the skin, short segments would have to stand up there, and strands would whirl by metres a
/// second.
#[test]
fn strands_that_leave_the_skin_flat_come_to_rest() {
    let ball = Capsule::sphere([0.0; 3], 0.1);
    let colliders = [Collider::still(&ball)];
    for (lean, vertices) in [(60.0, 64), (80.0, 64), (88.0, 32), (88.0, 64)] {
        let (strands, rest) = lying(lean, vertices);
        let mut scene = Scene::<f32>::new(&strands, &rest, None);
        scene.contacts = vec![Contact {
            collider: 0,
            margin: 0.002,
            friction: 0.2,
        }];
        scene.settle(6.0, &colliders);
        let fastest = fastest_way(&mut scene, &colliders);
        assert!(
            fastest < 0.05,
            "{lean} degrees, {vertices} vertices: {fastest} m/s"
        );
    }
}

/// What is deeper than the tolerance is brought out at once: were the tolerance more than what a step falls, strands would tremble by as
/// much.
#[test]
fn strands_of_short_segments_come_to_rest_on_a_head() {
    let ball = Capsule::sphere([0.0; 3], 0.1);
    fine_strands_rest::<f32>(&[Collider::still(&ball)]);
}
