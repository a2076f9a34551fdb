//! Hair covers what its thickness says, is hidden by what is in front of it, and shades what is behind it.

use crate::common::{bare, flat, front, pixels, quad, renderer};
use sinew_geom::{Attribute, Image, Mesh, Strands, THICKNESS, Topology};
use sinew_render::{Hair, Paint, Scene, Surface, SurfaceLook};

const BOUNDS: ([f32; 3], [f32; 3]) = ([-1.0; 3], [1.0; 3]);

/// Upright strands of that diameter.
fn strands(at: &[[f32; 2]], diameter: f32) -> Mesh {
    let strands = Strands::new(vec![9; at.len()]).expect("strands");
    let points = |&[x, z]: &[f32; 2]| (0..9_u8).map(move |i| [x, f32::from(i) * 0.2 - 0.8, z]);
    let positions: Vec<_> = at.iter().flat_map(points).collect();
    let count = positions.len();
    let mut mesh = Mesh::new("hair", Topology::from_strands(strands), positions);
    let thickness = Attribute::Scalar(vec![diameter; count]);
    mesh.attributes.insert(THICKNESS.into(), thickness);
    mesh
}

/// Mean opacity of the rows between a quarter and three quarters of the height.
fn opacity(image: &Image) -> f64 {
    let rows = image.height() / 4..3 * image.height() / 4;
    let all = pixels(image).filter(|([_, y], _)| rows.contains(y));
    let sum: f64 = all.map(|(_, p)| f64::from(p[3]) / 255.0).sum();
    sum / (image.width() * rows.len()) as f64
}

/// The picture is 120 pixels wide and 2 m high and wide: a strand of 5 pixels covers a 24th, one of a fifth of a pixel a 600th.
#[test]
fn a_strand_covers_its_thickness() {
    let Some((_, mut renderer)) = renderer() else {
        return;
    };
    let pixel = 2.0 / 120.0;
    for (pixels, tolerance) in [(5.0, 0.1), (1.0, 0.1), (0.5, 0.1), (0.2, 0.15)] {
        let mesh = strands(&[[0.004, 0.0]], pixels * pixel);
        let hair = Hair::new(&mesh, &mesh.positions);
        let mut scene = Scene::default();
        (scene.hair, scene.bounds) = (vec![&hair], Some(BOUNDS));
        let shot = bare(120, 120, front(1.0));
        let image = renderer.render(&scene, &shot).expect("a picture");
        let part = opacity(&image) * 120.0 / f64::from(pixels);
        assert!((part - 1.0).abs() < tolerance, "{part} at {pixels}");
        assert_eq!(image.pixels()[0][3], 0, "nothing beside it");
    }
}

#[test]
fn hair_is_behind_what_is_before_it() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let mesh = strands(&[[0.0, 0.0]], 0.2);
    let hair = Hair::new(&mesh, &mesh.positions);
    let shot = bare(60, 60, front(1.0));
    let white = Paint::Plain([1.0; 4]);
    for (z, is_hidden) in [(0.5, true), (-0.5, false)] {
        let wall = Surface::new(&gpu, &quad([0.9, 0.9], z)).expect("a wall");
        let mut scene = Scene::default();
        scene.surfaces = vec![flat(&wall, white)];
        (scene.hair, scene.bounds) = (vec![&hair], Some(BOUNDS));
        let image = renderer.render(&scene, &shot).expect("a picture");
        let middle = image.pixels()[30 * 60 + 30];
        assert_eq!(middle == [255; 4], is_hidden, "{middle:?} at {z}");
    }
}

/// A curtain of hair that covers half of its area takes half of the key light from the wall behind it; a dense one all.
#[test]
fn hair_shades_a_wall_by_the_part_that_it_covers() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let wall = Surface::new(&gpu, &quad([0.9, 0.9], -0.5)).expect("a wall");
    let mut shot = bare(60, 60, front(1.0));
    shot.shadows = true;
    let mut brightness = |count: u16, diameter: f32| {
        let at = |i: u16| [1.8 * (f32::from(i) + 0.5) / f32::from(count) - 0.9, 0.6];
        let mesh = strands(&(0..count).map(at).collect::<Vec<_>>(), diameter);
        let hair = Hair::new(&mesh, &mesh.positions);
        let mut scene = Scene::default();
        let look = SurfaceLook::clay(&wall).paint(Paint::Plain([0.3, 0.3, 0.3, 1.0]));
        scene.surfaces = vec![look];
        (scene.hair, scene.bounds) = (vec![&hair], Some(BOUNDS));
        let image = renderer.render(&scene, &shot).expect("a picture");
        // The light comes from the upper left: what is right of the middle and low is in the shadow, and seen between no strands.
        let row = 44 * 60;
        let some = &image.pixels()[row + 30..row + 50];
        let linear = |p: &[u8; 4]| f64::from(sinew_picture::linear_from_srgb(p[1]));
        let mut all: Vec<f64> = some.iter().map(linear).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    // One thin strand shows the wall in full light.
    let [open, half, closed] = [
        brightness(1, 1e-4),
        brightness(200, 0.0045),
        brightness(200, 0.02),
    ];
    assert!(open > half && half > closed, "{open} {half} {closed}");
}

/// Strands on top of each other look the same whatever their order in the file is.
#[test]
fn the_order_of_strands_does_not_matter() {
    let Some((_, mut renderer)) = renderer() else {
        return;
    };
    let places = [[-0.1, -0.6], [0.0, 0.0], [0.1, 0.5], [0.05, -0.2]];
    let mut reversed = places;
    reversed.reverse();
    let mut picture = |places: &[[f32; 2]]| {
        let mut mesh = strands(places, 0.3);
        // Chances differ by number, colours by place.
        let color = |p: &[f32; 3]| [p[0].abs(), 0.2, 0.5 + 0.5 * p[2], 1.0];
        mesh.colors = vec![mesh.positions.iter().map(color).collect()];
        let hair = Hair::new(&mesh, &mesh.positions);
        let mut scene = Scene::default();
        (scene.hair, scene.bounds) = (vec![&hair], Some(BOUNDS));
        let shot = bare(60, 60, front(1.0));
        renderer.render(&scene, &shot).expect("a picture")
    };
    let (a, b) = (picture(&places), picture(&reversed));
    let alpha = |i: &Image| i.pixels().iter().map(|p| p[3]).collect::<Vec<_>>();
    assert_eq!(alpha(&a), alpha(&b));
    // The nearest, at x = 0.1, has the colour of its place in both: blue.
    let pixel = 30 * 60 + 33;
    for image in [&a, &b] {
        let [r, _, blue, _] = image.pixels()[pixel];
        assert!(blue > r + 30, "{r} {blue}");
    }
}
