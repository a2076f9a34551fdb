//! Lines have their width in pixels and are behind what is before them.

use crate::common::{bare, covered, flat, front, pixels, quad, renderer};
use sinew_deform::Line;
use sinew_geom::Image;
use sinew_picture::{Camera, Lens};
use sinew_render::{Layer, Lines, LinesLook, Paint, Scene, Surface};

const BOUNDS: ([f32; 3], [f32; 3]) = ([-1.0; 3], [1.0; 3]);

fn line(from: [f32; 3], to: [f32; 3]) -> Line {
    Line {
        from,
        to,
        color: [1.0, 0.2, 0.0, 1.0],
    }
}

fn look(lines: &Lines, width: f32) -> LinesLook<'_> {
    LinesLook::new(lines, width)
}

fn alone(look: LinesLook<'_>) -> Scene<'_> {
    let mut scene = Scene::default();
    scene.lines = vec![look];
    scene.bounds = Some(BOUNDS);
    scene
}

/// Distance of a place from the segment, pixels.
fn distance(at: [f64; 2], from: [f64; 2], to: [f64; 2]) -> f64 {
    let along = [to[0] - from[0], to[1] - from[1]];
    let offset = [at[0] - from[0], at[1] - from[1]];
    let part =
        (offset[0] * along[0] + offset[1] * along[1]) / (along[0].powi(2) + along[1].powi(2));
    let part = part.clamp(0.0, 1.0);
    (offset[0] - part * along[0]).hypot(offset[1] - part * along[1])
}

#[test]
fn lines_cover_their_width_in_pixels() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let lens = Lens::Perspective {
        tan_half_height: 0.5,
    };
    let near = Camera::look_at([0.0, 0.0, 2.5], [0.0; 3], lens, 1.5).expect("two places");
    // So far that one metre before the camera is nothing.
    let far = Camera::look_at(
        [0.0, 0.0, 40.0],
        [0.0; 3],
        Lens::Orthographic { half_height: 1.0 },
        1.5,
    );
    for camera in [front(1.5), near, far.expect("two places")] {
        let shot = bare(120, 80, camera);
        let eye = crate::common::Eye::of(&shot);
        for (from, to) in [
            ([-0.8, 0.0, 0.0], [0.8, 0.0, 0.0]),
            ([0.1, -0.7, 0.0], [0.1, 0.6, 0.0]),
            ([-0.7, -0.6, 0.3], [0.9, 0.5, -0.4]),
        ] {
            let lines = Lines::new(&gpu, &[line(from, to)]).expect("lines");
            let image = renderer
                .render(&alone(look(&lines, 5.0)), &shot)
                .expect("a picture");
            let ends = [eye.pixel_of(from), eye.pixel_of(to)];
            let mut inside = 0;
            for ([x, y], pixel) in pixels(&image) {
                let d = distance([x as f64 + 0.5, y as f64 + 0.5], ends[0], ends[1]);
                if d < 1.5 {
                    inside += 1;
                    assert_eq!(pixel[3], 255, "{from:?} {to:?} {camera:?}: {d} at {x} {y}");
                }
                // Square ends reach farther at their corners.
                assert!(
                    pixel[3] == 0 || d < 2.5 * 2.0_f64.sqrt() + 1.0,
                    "{d} at {x} {y}"
                );
            }
            assert!(inside > 50, "{inside}");
        }
        // Along a row the edges are sharp: the sum is the width.
        let lines = Lines::new(&gpu, &[line([-0.8, 0.0, 0.0], [0.8, 0.0, 0.0])]).expect("lines");
        let image = renderer
            .render(&alone(look(&lines, 5.0)), &shot)
            .expect("a picture");
        let column = (0..80)
            .filter_map(|y| image.pixel(60, y))
            .map(|p| f64::from(p[3]) / 255.0);
        let width: f64 = column.sum();
        assert!((width - 5.0).abs() <= 1.0, "{width}");
    }
}

/// How many pixels in the middle column have the colour of the line, and how many some of it.
fn seen(image: &Image) -> (usize, usize) {
    let column = || (0..image.height()).filter_map(|y| image.pixel(20, y));
    let full = column().filter(|p| p[0] > 240).count();
    (full, column().filter(|p| p[0] > 80).count())
}

#[test]
fn surfaces_hide_lines_as_far_as_they_are_told() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let wall = quad([0.9, 0.9], 0.5);
    let surface = Surface::new(&gpu, &wall).expect("a surface");
    let wall = flat(&surface, Paint::Plain([0.0, 0.0, 0.3, 1.0]));
    let lines = |z: f32| Lines::new(&gpu, &[line([-0.5, 0.0, z], [0.5, 0.0, z])]).expect("lines");
    let mut drawn = |lines: &Lines, behind: f32, layer: Layer| {
        let look = look(lines, 5.0).behind(behind).layer(layer);
        let mut scene = alone(look);
        scene.surfaces = vec![wall];
        seen(
            &renderer
                .render(&scene, &bare(40, 40, front(1.0)))
                .expect("a picture"),
        )
    };
    let (before, on, after) = (lines(0.8), lines(0.5), lines(0.0));
    let all = (5, 5);
    let near = |found: (usize, usize)| found.0.abs_diff(all.0) <= 1 && found.1.abs_diff(all.1) <= 1;
    let shown = drawn(&before, 0.0, Layer::Scene);
    assert!(near(shown), "before: {shown:?}");
    let shown = drawn(&on, 0.0, Layer::Scene);
    assert!(near(shown), "on it: {shown:?}");
    assert_eq!(drawn(&after, 0.0, Layer::Scene), (0, 0), "behind");
    let (full, some) = drawn(&after, 0.3, Layer::Scene);
    assert!(
        full == 0 && some.abs_diff(5) <= 1,
        "behind, a little: {full} {some}"
    );
    let shown = drawn(&after, 0.0, Layer::Overlay);
    assert!(near(shown), "over everything: {shown:?}");
}

#[test]
fn translucent_lines_are_no_more_opaque_where_they_are_in_front() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let clear = Line {
        color: [1.0, 1.0, 1.0, 0.5],
        ..line([-0.8, 0.0, 0.0], [0.8, 0.0, 0.0])
    };
    let lines = Lines::new(&gpu, &[clear]).expect("lines");
    let image = renderer.render(&alone(look(&lines, 8.0)), &bare(40, 40, front(1.0)));
    let middle = image.expect("a picture").pixel(20, 20).expect("inside");
    assert!(middle[3].abs_diff(128) <= 1, "{middle:?}");
}

#[test]
fn lines_that_pass_the_camera_stay_lines() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let lens = Lens::Perspective {
        tan_half_height: 0.5,
    };
    let camera = Camera::look_at([0.0, 0.3, 2.0], [0.0, 0.3, 0.0], lens, 1.0).expect("two places");
    let shot = bare(60, 60, camera);
    // Begins on the left before the camera and ends behind it: stays in the left and lower part.
    let passing = line([-0.4, 0.0, 0.0], [-0.4, 0.0, 9.0]);
    for turned in [passing, line(passing.to, passing.from)] {
        let lines = Lines::new(&gpu, &[turned]).expect("lines");
        let image = renderer
            .render(&alone(look(&lines, 3.0)), &shot)
            .expect("a picture");
        let count = covered(&image);
        assert!((20..400).contains(&count), "{count}");
        let aside = pixels(&image)
            .filter(|([x, y], p)| p[3] > 0 && (*x > 32 || *y < 28))
            .count();
        assert_eq!(aside, 0, "pixels where the line is not");
    }
    let behind = Lines::new(&gpu, &[line([0.0, 0.0, 3.0], [1.0, 0.0, 9.0])]).expect("lines");
    let image = renderer
        .render(&alone(look(&behind, 3.0)), &shot)
        .expect("a picture");
    assert_eq!(covered(&image), 0, "all of it behind the camera");
}

#[test]
fn odd_lines_do_no_harm() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let shot = bare(40, 40, front(1.0));
    let odd = [
        line([f32::NAN; 3], [0.0; 3]),
        line([0.0; 3], [f32::INFINITY, 0.0, 0.0]),
        line([0.0; 3], [1e30, 0.0, 0.0]),
    ];
    let lines = Lines::new(&gpu, &odd).expect("lines");
    renderer
        .render(&alone(look(&lines, 5.0)), &shot)
        .expect("a picture");
    let point = Lines::new(&gpu, &[line([0.0; 3], [0.0; 3])]).expect("lines");
    let image = renderer
        .render(&alone(look(&point, 5.0)), &shot)
        .expect("a picture");
    assert!(covered(&image) <= 49, "a dot at most: {}", covered(&image));
    let none = Lines::new(&gpu, &[]).expect("no lines");
    assert!(none.is_empty());
    let image = renderer
        .render(&alone(look(&none, 5.0)), &shot)
        .expect("a picture");
    assert_eq!(covered(&image), 0);
    assert_eq!(lines.len(), 3);
}
