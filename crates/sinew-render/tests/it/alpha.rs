//! Transparent backgrounds, and the same picture each time.

use crate::common::{bare, draw, encoded, flat, renderer, scene};
use sinew_picture::Camera;
use sinew_render::{Background, Paint, Renderer, Shot, Surface, SurfaceLook};

#[test]
fn edges_keep_their_colour_on_transparent_backgrounds() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let mesh = sinew_testkit::meshes::sphere(32, 48);
    let surface = Surface::new(&gpu, &mesh).expect("a surface");
    let shot = bare(80, 80, Camera::framing(&mesh.positions, 0.0, 0.0, 1.0));
    let color = [0.7, 0.25, 0.05];
    let look = flat(&surface, Paint::Plain([0.7, 0.25, 0.05, 1.0]));
    let image = draw(&mut renderer, look, &mesh, &shot).expect("a picture");
    let mut counts = [0; 3];
    for &[r, g, b, alpha] in image.pixels() {
        let kind = usize::from(alpha > 0) + usize::from(alpha == 255);
        counts[kind] += 1;
        if kind == 0 {
            assert_eq!([r, g, b], [0; 3], "nothing is black and clear");
            continue;
        }
        for (found, linear) in [r, g, b].into_iter().zip(color) {
            // Premultiplied values of a quarter have steps of 1/255 before they are divided.
            let most = if kind == 2 { 1.0 } else { 3.0 };
            let difference = (f64::from(found) - encoded(linear)).abs();
            assert!(difference <= most, "{:?} at alpha {alpha}", [r, g, b]);
        }
    }
    assert!(
        counts.iter().all(|c| *c > 50),
        "outside, edge, inside: {counts:?}"
    );
    let corner = image.pixel(0, 0).expect("a corner");
    let middle = image.pixel(40, 40).expect("the middle");
    assert_eq!((corner[3], middle[3]), (0, 255));
}

#[test]
fn the_same_scene_gives_the_same_bytes() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let mesh = sinew_samples::creature().expect("a sample").meshes[0].clone();
    let surface = Surface::new(&gpu, &mesh).expect("a surface");
    let look = SurfaceLook::clay(&surface).wireframe(Some(sinew_render::Wireframe {
        color: [0.1; 3],
        width: 1.0,
    }));
    let shot = Shot::studio(
        120,
        90,
        Camera::framing(&mesh.positions, 0.5, 0.3, 4.0 / 3.0),
    );
    let scene = scene(look, mesh.bounds());
    let first = renderer.render(&scene, &shot).expect("a picture");
    // Another size between, so that targets are made anew.
    let mut small = shot;
    small.width = 33;
    renderer.render(&scene, &small).expect("a picture");
    let second = renderer.render(&scene, &shot).expect("a picture");
    assert_eq!(first, second);
    let third = Renderer::new(&gpu)
        .expect("a renderer")
        .render(&scene, &shot);
    assert_eq!(first, third.expect("a picture"));
    assert!(
        first.pixels().iter().all(|p| p[3] == 255),
        "the studio is not transparent"
    );
}

#[test]
fn backgrounds_are_as_given() {
    let Some((_, mut renderer)) = renderer() else {
        return;
    };
    let camera = Camera::framing(&[], 0.0, 0.0, 1.0);
    let shot = |background| {
        let mut shot = bare(10, 40, camera);
        shot.background = background;
        shot
    };
    let empty = sinew_render::Scene::default();
    let plain = renderer.render(&empty, &shot(Background::Plain([0.1, 0.5, 0.9])));
    for &[r, g, b, a] in plain.expect("a picture").pixels() {
        crate::common::assert_near([r, g, b, a], [0.1, 0.5, 0.9].map(encoded), 1.0, "plain");
    }
    let gradient = Background::Gradient([0.8; 3], [0.2; 3]);
    let image = renderer.render(&empty, &shot(gradient)).expect("a picture");
    for y in 0..40 {
        let expected = encoded(0.8 - 0.6 * (y as f64 + 0.5) / 40.0);
        let pixel = image.pixel(5, y).expect("inside");
        crate::common::assert_near(pixel, [expected; 3], 1.0, &format!("row {y}"));
    }
}
