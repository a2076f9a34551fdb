use super::*;
use sinew_geom::{Quat, Vec3};

const LENSES: [Lens; 2] = [
    Lens::Perspective {
        tan_half_height: 0.4,
    },
    Lens::Orthographic { half_height: 1.3 },
];

#[track_caller]
fn assert_near(found: [f32; 3], expected: [f32; 3]) {
    let fits = (0..3).all(|c| (found[c] - expected[c]).abs() < 1e-5);
    assert!(fits, "{found:?}, expected {expected:?}");
}

/// Right-handed, unit axes at right angles.
#[track_caller]
fn assert_axes(camera: &Camera) {
    let axes = [camera.right(), camera.up(), camera.backward()];
    for (i, a) in axes.into_iter().enumerate() {
        for (j, b) in axes.into_iter().enumerate() {
            let expected = if i == j { 1.0 } else { 0.0 };
            assert!((dot(a, b) - expected).abs() < 1e-5, "{camera:?}");
        }
    }
    assert_near(cross(axes[0], axes[1]), axes[2]);
}

#[test]
fn look_at_puts_the_target_in_the_middle_and_up_upwards() {
    for lens in LENSES {
        for (eye, target) in [
            ([0.0, 0.0, 5.0], [0.0; 3]),
            ([3.0, -2.0, 1.0], [-1.0, 4.0, 0.5]),
            ([0.5, 9.0, 0.0], [0.0; 3]),
        ] {
            let camera = Camera::look_at(eye, target, lens, 2.0).expect("two places");
            assert_axes(&camera);
            let length = dot(sub(target, eye), sub(target, eye)).sqrt();
            let [x, y, depth] = camera.project(target, 200.0, 100.0).expect("before it");
            assert_near([x / 100.0, y / 100.0, depth / length], [1.0, 0.5, 1.0]);
            let above = [target[0], target[1] + 0.1, target[2]];
            let [x, higher, _] = camera.project(above, 200.0, 100.0).expect("before it");
            assert!((x - 100.0).abs() < 1e-3 && higher < y, "{x} {higher} {y}");
            assert_eq!(
                (camera.eye(), camera.lens(), camera.aspect()),
                (eye, lens, 2.0)
            );
        }
    }
}

#[test]
fn look_at_along_the_vertical_turns_as_if_tilted_from_looking_along_minus_z() {
    let lens = Lens::default();
    let down = Camera::look_at([1.0, 5.0, 2.0], [1.0, 0.0, 2.0], lens, 1.0).expect("two places");
    assert_axes(&down);
    assert_near(down.up(), [0.0, 0.0, -1.0]);
    let up = Camera::look_at([1.0, 0.0, 2.0], [1.0, 5.0, 2.0], lens, 1.0).expect("two places");
    assert_axes(&up);
    assert_near(up.up(), [0.0, 0.0, 1.0]);
    for camera in [down, up] {
        assert_near(camera.right(), [1.0, 0.0, 0.0]);
    }
}

#[test]
fn look_at_nothing_is_refused() {
    let lens = Lens::default();
    let bad = [[0.0; 3], [f32::NAN, 0.0, 1.0], [f32::INFINITY, 0.0, 0.0]];
    for eye in bad {
        assert_eq!(Camera::look_at(eye, [0.0; 3], lens, 1.0), None, "{eye:?}");
        assert_eq!(Camera::look_at([0.0; 3], eye, lens, 1.0), None, "{eye:?}");
    }
}

fn turned(scale: f64) -> Affine<f64> {
    let rotation = Quat::from_euler_angles(0.3, -1.1, 0.7);
    Affine::from_trs(Vec3::new(1.0, 2.0, -3.0), rotation, Vec3::repeat(scale))
}

#[test]
fn cameras_of_files_see_along_their_minus_z_and_keep_their_vertical_angle() {
    let projection = Projection::Perspective {
        fov_y: 0.9,
        aspect: Some(5.0),
        near: 0.1,
        far: None,
    };
    for scale in [1.0, 0.01] {
        let node = turned(scale);
        let camera = Camera::from_projection(&node, projection, 1.5).expect("axes");
        assert_axes(&camera);
        // Places in the space of the node without its scale: ahead, at the upper rim, at the right rim.
        let rigid = turned(1.0);
        let place = |x: f64, y: f64, z: f64| {
            let p = rigid.point(Vec3::new(x, y, z));
            [p.x as f32, p.y as f32, p.z as f32]
        };
        let rim = 4.0 * 0.45_f64.tan();
        for (p, expected) in [
            (place(0.0, 0.0, -4.0), [150.0, 100.0, 4.0]),
            (place(0.0, rim, -4.0), [150.0, 0.0, 4.0]),
            (place(1.5 * rim, 0.0, -4.0), [300.0, 100.0, 4.0]),
        ] {
            let found = camera.project(p, 300.0, 200.0).expect("before it");
            assert!(
                (0..3).all(|c| (found[c] - expected[c]).abs() < 2e-3),
                "{found:?} {expected:?}"
            );
        }
        assert_eq!(
            camera.project(place(0.0, 0.0, 4.0), 300.0, 200.0),
            None,
            "behind"
        );
    }
}

#[test]
fn orthographic_cameras_of_files_keep_their_height() {
    let projection = Projection::Orthographic {
        half_size: [9.0, 2.0],
        near: 0.1,
        far: 10.0,
    };
    let camera = Camera::from_projection(&turned(1.0), projection, 1.0).expect("axes");
    assert_eq!(camera.lens(), Lens::Orthographic { half_height: 2.0 });
    let top = turned(1.0).point(Vec3::new(0.0, 2.0, -7.0));
    let [x, y, depth] = camera
        .project([top.x as f32, top.y as f32, top.z as f32], 100.0, 100.0)
        .expect("before it");
    assert!((x - 50.0).abs() < 1e-3 && y.abs() < 1e-3 && (depth - 7.0).abs() < 1e-4);
}

#[test]
fn cameras_of_flat_nodes_are_refused() {
    let projection = Projection::Perspective {
        fov_y: 0.9,
        aspect: None,
        near: 0.1,
        far: None,
    };
    let nowhere = Affine {
        translation: Vec3::new(f64::NAN, 0.0, 0.0),
        ..Affine::identity()
    };
    for node in [turned(0.0), nowhere] {
        assert_eq!(Camera::from_projection(&node, projection, 1.0), None);
    }
}

#[test]
fn turntables_go_around_at_one_distance() {
    let points = Camera::corners([-1.0, 0.0, 2.0], [0.5, 3.0, 2.4]);
    let cameras = Camera::turntable(&points, 0.2, 0.3, 1.2, 8);
    assert_eq!(cameras.len(), 8);
    let middle = [-0.25, 1.5, 2.2];
    let mut fullest = 0.0_f32;
    for (i, camera) in cameras.iter().enumerate() {
        assert_axes(camera);
        let [x, y, depth] = camera.project(middle, 2.4, 2.0).expect("before it");
        assert_near([x, y, depth], [1.2, 1.0, cameras[0].distance]);
        // Each further to the right by an eighth of a turn.
        let yaw = camera.backward()[0].atan2(camera.backward()[2]);
        let expected = 0.2 + std::f32::consts::TAU * i as f32 / 8.0;
        assert!(
            (yaw - expected).sin().abs() < 1e-5 && (yaw - expected).cos() > 0.0,
            "{yaw}"
        );
        for p in points {
            let [x, y, _] = camera.project(p, 2.0, 2.0).expect("before it");
            fullest = fullest.max((x - 1.0).abs()).max((y - 1.0).abs());
        }
    }
    assert!(
        (0.85..=0.93).contains(&fullest),
        "all fit, the widest fills it: {fullest}"
    );
    assert!(Camera::turntable(&points, 0.0, 0.0, 1.0, 0).is_empty());
}

#[test]
fn clip_space_and_pixels_agree() {
    let (near, far) = (0.5, 20.0);
    for lens in LENSES {
        let camera = Camera::look_at([3.0, 2.0, 6.0], [0.5, 1.0, -0.5], lens, 1.6);
        let camera = camera.expect("two places");
        let rows = camera.clip_from_scene(near, far);
        for p in Camera::corners([-1.0, -0.5, -2.0], [1.5, 2.0, 1.0]) {
            let clip = rows.map(|r| r[0] * p[0] + r[1] * p[1] + r[2] * p[2] + r[3]);
            let [x, y, z] = [clip[0], clip[1], clip[2]].map(|c| c / clip[3]);
            let found = [80.0 * (x + 1.0), 50.0 * (1.0 - y)];
            let [px, py, depth] = camera.project(p, 160.0, 100.0).expect("before it");
            assert!(
                (found[0] - px).abs() < 1e-3 && (found[1] - py).abs() < 1e-3,
                "{found:?}"
            );
            assert!((camera.depth(p) - depth).abs() < 1e-6);
            let expected = match lens {
                Lens::Perspective { .. } => far * (depth - near) / (depth * (far - near)),
                Lens::Orthographic { .. } => (depth - near) / (far - near),
            };
            assert!((z - expected).abs() < 1e-5, "{z} {expected}");
        }
    }
}

#[test]
fn depths_run_from_near_to_far() {
    for lens in LENSES {
        let camera = Camera::look_at([0.0, 0.0, 5.0], [0.0; 3], lens, 1.0).expect("two places");
        let rows = camera.clip_from_scene(2.0, 9.0);
        let depth = |z: f32| {
            let [zc, wc] = [rows[2], rows[3]].map(|r| r[2] * z + r[3]);
            zc / wc
        };
        assert!(
            depth(3.0).abs() < 1e-6 && (depth(-4.0) - 1.0).abs() < 1e-6,
            "{lens:?}"
        );
    }
}

#[test]
fn framing_fits_what_is_tiny_and_what_has_no_size() {
    for scale in [1e-6, 1e-4, 1.0, 1e6] {
        let points = Camera::corners([-scale; 3], [scale, 2.0 * scale, scale]);
        let camera = Camera::framing(&points, 0.4, 0.3, 1.0);
        let reach = points.iter().map(|p| {
            let [x, y, _] = camera.project(*p, 2.0, 2.0).expect("before it");
            (x - 1.0).abs().max((y - 1.0).abs())
        });
        let reach = reach.fold(0.0, f32::max);
        assert!((0.85..=0.93).contains(&reach), "{scale}: {reach}");
    }
    for p in [[0.0; 3], [0.1, 0.7, -3.0], [1e4, 0.0, 1e4]] {
        let camera = Camera::framing(&[p, p], 0.4, 0.3, 1.0);
        assert!(camera.project(p, 2.0, 2.0).is_some(), "{p:?}");
    }
}
