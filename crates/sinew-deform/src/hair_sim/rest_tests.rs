//! What strands do that lie on something: they come to rest, outside of it, as long as they were.

use super::HairQuality;
use super::test_scene::{Scene, line, turned};
use crate::collide::test_shapes::{Grid, cup};
use crate::collide::{Capsule, Collider, Contact, Distance, Rigid, RigidMotion};
use sinew_geom::{Affine, Strands, Vec3};

/// Metres per second.
const REST: f32 = 1e-3;

/// Strands around a ball, each at an angle into it.
fn led_in(degrees: f32, vertices: usize, length: f32) -> Scene {
    let strands = Strands::new([vertices; 8]).expect("valid");
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let mut rest = Vec::new();
    for i in 0..8 {
        let (s, c) = (i as f32 * 0.785).sin_cos();
        let (up, tilt) = (0.5_f32, 0.75_f32.sqrt());
        let out = Vec3::new(c * tilt, up, s * tilt);
        let down = Vec3::new(c * up, -tilt, s * up);
        let along = (down * cosine - out * sine) * (length / (vertices - 1) as f32);
        rest.extend(line((out * 0.1).into(), along.into(), vertices));
    }
    let mut scene = Scene::new(&strands, &rest, None);
    scene.contacts = vec![Contact {
        collider: 0,
        margin: 5e-4,
        friction: 0.2,
    }];
    scene
}

/// The deepest vertex after the pins, and the deepest of some points between these.
fn deepest(scene: &Scene, shape: &dyn Distance) -> [f32; 2] {
    let mut out = [0.0_f32; 2];
    for range in scene.bind.strands().ranges() {
        for i in range.start + 2..range.end {
            let [a, b] = [i - 1, i].map(|v| Vec3::from(scene.positions[v]));
            out[0] = out[0].max(-shape.distance(b.into()));
            for k in 1..8 {
                let point = a + (b - a) * (k as f32 / 8.0);
                if i > range.start + 2 {
                    out[1] = out[1].max(-shape.distance(point.into()));
                }
            }
        }
    }
    out
}

/// Shakes the ball for a second, then leaves it alone; checks each strand five seconds later.
fn shake_and_rest(name: &str, scene: &mut Scene, shape: &dyn Distance) {
    let head = |t: f32| turned(Vec3::y(), 0.6 * (6.0 * t).sin() * (1.0 - t), Vec3::zeros());
    for frame in 0..60 {
        let [before, now] = [frame, frame + 1].map(|f| head(f as f32 / 60.0));
        let collider = Collider {
            shape,
            motion: RigidMotion::between(Rigid::of(&before), Rigid::of(&now)),
        };
        scene.frame(&now, 1.0 / 60.0, &[collider]);
    }
    for second in 0..5 {
        scene.settle(1.0, &[Collider::still(shape)]);
        let [vertex, segment] = deepest(scene, shape);
        assert!(
            vertex < 1e-5 && segment < 2e-3,
            "{name}, {second}: {vertex} {segment}"
        );
    }
    let speeds: Vec<f32> = scene.state.velocities().map(|v| v.norm()).collect();
    let fastest = speeds.iter().fold(0.0_f32, |a, &b| a.max(b));
    assert!(fastest < REST, "{name}: {fastest} m/s");
    assert!(scene.stretch() < 1e-4, "{name}: {}", scene.stretch());
}

#[test]
fn strands_that_are_led_into_a_ball_come_to_rest() {
    let ball = Capsule::sphere([0.0; 3], 0.1);
    for degrees in [10.0, 30.0, 60.0] {
        for vertices in [8, 16, 64] {
            let mut scene = led_in(degrees, vertices, 0.2);
            shake_and_rest(&format!("{degrees} degrees, {vertices}"), &mut scene, &ball);
        }
    }
}

#[test]
fn strands_with_wide_margins_come_to_rest() {
    let ball = Capsule::sphere([0.0; 3], 0.1);
    for vertices in [16, 64] {
        let mut scene = led_in(0.0, vertices, 0.2);
        scene.contacts[0].margin = 0.01;
        shake_and_rest(&format!("{vertices} vertices"), &mut scene, &ball);
    }
}

#[test]
fn every_quality_comes_to_rest() {
    let ball = Capsule::sphere([0.0; 3], 0.1);
    for quality in [HairQuality::Game, HairQuality::Standard, HairQuality::Film] {
        let mut scene = led_in(20.0, 16, 0.2);
        scene.settings.quality = quality;
        shake_and_rest(&format!("{quality:?}"), &mut scene, &ball);
    }
}

/// A narrow cup that strands stand in: they cannot get out.
#[test]
fn strands_in_a_pocket_come_to_rest() {
    let (half, center) = ([0.12, 0.1, 0.12], [0.0, 0.1, 0.0]);
    let bowl = Grid::new([-0.2, -0.2, -0.2], [0.2, 0.3, 0.2], 0.01, |p| {
        cup(p, half, center, 0.07)
    });
    let strands = Strands::new([16; 8]).expect("valid");
    let rest = (0..8).flat_map(|i| {
        let x = 0.01 * (i as f32 - 3.5);
        line([x, 0.16, 0.02], [0.002, -0.012, 0.001 * i as f32], 16)
    });
    let mut scene = Scene::<f32>::new(&strands, &rest.collect::<Vec<_>>(), None);
    scene.contacts = vec![Contact {
        collider: 0,
        margin: 1e-3,
        friction: 0.2,
    }];
    scene.settle(8.0, &[Collider::still(&bowl)]);
    let fastest = scene.fastest();
    assert!(fastest < REST, "{fastest} m/s");
    assert!(scene.stretch() < 1e-4);
}

/// From rest on a slope of 30 degrees, with friction far below its tangent.
#[test]
fn hair_slides_down_a_slope_from_rest() {
    let slope = crate::collide::Plane {
        normal: [0.5, 0.75_f32.sqrt(), 0.0],
        offset: 0.0,
    };
    let strands = Strands::new([2]).expect("valid");
    let rest = line([0.0; 3], [0.0, 0.0, 0.3], 2);
    let mut scene = Scene::<f32>::new(&strands, &rest, Some(&[0.0, 1.0]));
    scene.settings.global_stiffness_hz = 0.0;
    scene.settings.local_stiffness_hz = 0.0;
    scene.contacts = vec![Contact {
        collider: 0,
        margin: 0.0,
        friction: 0.2,
    }];
    for _ in 0..12 {
        scene.frame(&Affine::identity(), 1.0 / 60.0, &[Collider::still(&slope)]);
    }
    let slid = scene.tip().x / 0.75_f32.sqrt();
    // g (sin - mu cos) t^2 / 2, less for the drag of the air.
    let expected = 0.5 * 9.81 * (0.5 - 0.2 * 0.75_f32.sqrt()) * 0.04;
    assert!(
        slid > 0.8 * expected && slid < 1.02 * expected,
        "{slid} {expected}"
    );
}
