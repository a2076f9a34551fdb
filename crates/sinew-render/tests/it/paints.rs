//! Colours of pixels lead back to the numbers at the vertices.

use crate::common::{
    Eye, assert_near, bare, double, draw, flat, pixels, renderer, sub, unit, whole_pixel,
};
use sinew_geom::{Image, Mesh, MeshPart, Topology};
use sinew_picture::{Camera, ColorMap, Lens};
use sinew_render::{Paint, Shot, Surface, ValueScale};

/// A bent sheet, seen from near at an angle: depths differ much within triangles.
fn sheet() -> (Mesh, Vec<f32>, Shot) {
    let mut mesh = sinew_testkit::meshes::grid(4, 3);
    for p in &mut mesh.positions {
        *p = [2.0 * p[0] - 1.0, 0.2 * (3.0 * p[0]).sin(), 1.5 - 3.0 * p[1]];
    }
    mesh.normals = None;
    let values = (0..mesh.vertex_count()).map(|v| (v * 7 % 20) as f32 * 0.1 - 0.5);
    let lens = Lens::Perspective {
        tan_half_height: 0.5,
    };
    let camera = Camera::look_at([0.4, 1.2, 2.2], [0.0, 0.0, 0.3], lens, 1.5).expect("two places");
    (mesh.clone(), values.collect(), bare(150, 100, camera))
}

/// Places in the table that have the colour of a pixel, or are nearest to it.
fn steps(table: &[[u8; 3]; 256], pixel: [u8; 4]) -> Vec<usize> {
    let distance = |c: &[u8; 3]| {
        (0..3)
            .map(|k| i32::from(c[k].abs_diff(pixel[k])).pow(2))
            .sum::<i32>()
    };
    let least = table.iter().map(distance).min().unwrap_or(0);
    assert!(least <= 3, "{pixel:?} is no colour of the map");
    (0..256).filter(|&i| distance(&table[i]) == least).collect()
}

/// Compares each pixel within one triangle with numbers of vertices through a map.
#[track_caller]
fn assert_values(image: &Image, mesh: &Mesh, shot: &Shot, values: &[f64], scale: ValueScale) {
    let (eye, table) = (Eye::of(shot), scale.map.table());
    let (min, max) = (f64::from(scale.min), f64::from(scale.max));
    let mut seen = 0;
    for (at, pixel) in pixels(image) {
        let Some((corners, weights)) = whole_pixel(&eye, mesh, &mesh.positions, at) else {
            continue;
        };
        seen += 1;
        let value: f64 = (0..3)
            .map(|k| weights[k] * values[corners[k] as usize])
            .sum();
        let step = ((value - min) / (max - min)).clamp(0.0, 1.0) * 255.0;
        let found = steps(&table, pixel);
        let fits = found.iter().any(|&i| (i as f64 - step).abs() <= 1.0);
        assert!(
            fits,
            "{:?} {at:?}: step {step:.2}, pixel {pixel:?} is {found:?}",
            scale.map
        );
    }
    assert!(seen > 2000, "{seen} pixels within a triangle");
}

#[test]
fn numbers_of_vertices_are_read_back_from_every_map() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let (mesh, values, shot) = sheet();
    let mut surface = Surface::new(&gpu, &mesh).expect("a surface");
    surface.upload_values(&gpu, &values).expect("one a vertex");
    let exact: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
    for map in ColorMap::ALL {
        // All of the numbers, and a part of them: the others have the colours of the ends.
        for (min, max) in [(-0.5, 1.4), (0.1, 0.7)] {
            let scale = ValueScale { min, max, map };
            let look = flat(&surface, Paint::Values(scale));
            let image = draw(&mut renderer, look, &mesh, &shot).expect("a picture");
            assert_values(&image, &mesh, &shot, &exact, scale);
        }
    }
}

#[test]
fn distances_are_read_back() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let (mesh, values, shot) = sheet();
    let aside = |(p, v): (&[f32; 3], &f32)| [p[0] + 0.01 * v, p[1] - 0.02 * v, p[2] + 0.005];
    let other: Vec<[f32; 3]> = mesh.positions.iter().zip(&values).map(aside).collect();
    let mut surface = Surface::new(&gpu, &mesh).expect("a surface");
    surface
        .upload_other_positions(&gpu, &other)
        .expect("one a vertex");
    let distance = |(p, q): (&[f32; 3], &[f32; 3])| {
        let d = sub(double(*p), double(*q));
        1000.0 * d.iter().map(|c| c * c).sum::<f64>().sqrt()
    };
    let millimetres: Vec<f64> = mesh.positions.iter().zip(&other).map(distance).collect();
    let scale = ValueScale {
        min: 0.0,
        max: 40.0,
        map: ColorMap::Magma,
    };
    let look = flat(
        &surface,
        Paint::Distance {
            scale,
            factor: 1000.0,
        },
    );
    let image = draw(&mut renderer, look, &mesh, &shot).expect("a picture");
    assert_values(&image, &mesh, &shot, &millimetres, scale);
}

#[test]
fn what_is_no_number_is_grey() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let (mesh, mut values, shot) = sheet();
    let mut surface = Surface::new(&gpu, &mesh).expect("a surface");
    values[9] = f32::NAN;
    surface.upload_values(&gpu, &values).expect("one a vertex");
    let eye = Eye::of(&shot);
    // A range without extent has the middle of the map for every number, and grey for none.
    for (min, max) in [(-0.5, 1.4), (0.3, 0.3)] {
        let scale = ValueScale {
            min,
            max,
            map: ColorMap::Turbo,
        };
        let look = flat(&surface, Paint::Values(scale));
        let image = draw(&mut renderer, look, &mesh, &shot).expect("a picture");
        let (mut grey, mut colored) = (0, 0);
        for (at, pixel) in pixels(&image) {
            let Some((corners, _)) = whole_pixel(&eye, &mesh, &mesh.positions, at) else {
                continue;
            };
            let is_grey = pixel[..3] == ColorMap::NOT_A_NUMBER;
            assert_eq!(is_grey, corners.contains(&9), "{at:?}: {pixel:?}");
            (grey, colored) = (grey + usize::from(is_grey), colored + usize::from(!is_grey));
        }
        assert!(grey > 100 && colored > 100, "{grey} {colored}");
    }
}

/// Pixels at the rim have their middle outside of the triangle that covers a part of them.
#[test]
fn no_pixel_shows_a_number_beyond_those_of_the_vertices() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let mesh = sinew_testkit::meshes::sphere(24, 36);
    let mut surface = Surface::new(&gpu, &mesh).expect("a surface");
    let values: Vec<f32> = (0..mesh.vertex_count())
        .map(|v| [0.4, 0.6][v * 5 % 7 % 2])
        .collect();
    surface.upload_values(&gpu, &values).expect("one a vertex");
    let scale = ValueScale {
        min: 0.0,
        max: 1.0,
        map: ColorMap::Turbo,
    };
    let look = flat(&surface, Paint::Values(scale));
    let shot = bare(120, 120, Camera::framing(&mesh.positions, 0.3, 0.4, 1.0));
    let image = draw(&mut renderer, look, &mesh, &shot).expect("a picture");
    let table = ColorMap::Turbo.table();
    let beyond = |pixel: &[u8; 4]| {
        let distance = |c: &[u8; 3]| {
            (0..3)
                .map(|k| i32::from(c[k].abs_diff(pixel[k])).pow(2))
                .sum::<i32>()
        };
        let within = table[100..=155].iter().map(distance).min();
        let outside = [&table[..85], &table[170..]]
            .into_iter()
            .flatten()
            .map(distance)
            .min();
        pixel[3] >= 128 && outside < within
    };
    let beyond = image.pixels().iter().filter(|p| beyond(p)).count();
    assert_eq!(beyond, 0, "pixels");
}

#[test]
fn normals_are_read_back_from_a_sphere() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let mesh = sinew_testkit::meshes::sphere(96, 192);
    let surface = Surface::new(&gpu, &mesh).expect("a surface");
    let shot = bare(128, 128, Camera::framing(&mesh.positions, 0.5, 0.3, 1.0));
    let look = flat(&surface, Paint::Normals);
    let image = draw(&mut renderer, look, &mesh, &shot).expect("a picture");
    let eye = Eye::of(&shot);
    let mut seen = 0;
    for ([x, y], pixel) in pixels(&image) {
        let (from, along) = eye.ray([x as f64 + 0.5, y as f64 + 0.5]);
        let along = unit(along);
        let (b, c) = (
            crate::common::dot(from, along),
            crate::common::dot(from, from) - 1.0,
        );
        let inner = b * b - c;
        if inner < 0.1 {
            continue;
        }
        seen += 1;
        let normal: [f64; 3] = std::array::from_fn(|k| from[k] + along[k] * (-b - inner.sqrt()));
        let expected = normal.map(|n| (n * 0.5 + 0.5) * 255.0);
        assert_near(pixel, expected, 1.5, &format!("pixel {x} {y}"));
    }
    assert!(seen > 5000, "{seen}");
}

/// A roof of two sides that share the vertices of its ridge: flat, each side shows its own normal, `(-1, 0, 2) / sqrt(5)` and `(1, 0, 2) / sqrt(5)`; smooth, they
/// meet in `(0, 0, 1)`.
#[test]
fn flat_meshes_show_the_normals_of_their_triangles() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let triangles = vec![[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]];
    let heights = [0.0, 0.5, 0.0];
    let at = |i: usize| {
        [
            (i % 3) as f32 - 1.0,
            (i / 3) as f32 * 2.0 - 1.0,
            heights[i % 3],
        ]
    };
    let topology = Topology::new(6, triangles).expect("valid");
    let mut mesh = Mesh::new("roof", topology, (0..6).map(at).collect());
    let lens = Lens::Perspective {
        tan_half_height: 0.2,
    };
    let camera = Camera::look_at([0.0, 0.0, 6.0], [0.0; 3], lens, 1.0).expect("two places");
    let shot = bare(64, 64, camera);
    let mut colors = |mesh: &Mesh| {
        let surface = Surface::new(&gpu, mesh).expect("a surface");
        let look = flat(&surface, Paint::Normals);
        let image = draw(&mut renderer, look, mesh, &shot).expect("a picture");
        let row = pixels(&image).filter(|([_, y], _)| *y == 32);
        let row: Vec<[u8; 4]> = row.map(|(_, pixel)| pixel).collect();
        [16, 31, 33, 48].map(|x| row[x])
    };
    let near_the_ridge = colors(&mesh)[1];
    assert_near(near_the_ridge, [127.5, 127.5, 255.0], 6.0, "smooth");
    let part = |flat_shaded, triangles| MeshPart {
        name: "roof".into(),
        source_mesh: 0,
        material: None,
        vertices: 0..6,
        triangles,
        flat_shaded,
    };
    // Half of it is flat, with smooth normals in its vertices: the other half looks as before.
    let before = colors(&mesh);
    mesh.normals = Some(sinew_geom::smooth_normals(
        &mesh.positions,
        mesh.topology.triangles(),
    ));
    mesh.parts = vec![part(true, 0..2), part(false, 2..4)];
    let half = colors(&mesh);
    assert_near(
        half[2],
        before[2]
            .map(f64::from)
            .first_chunk()
            .copied()
            .expect("three"),
        1.5,
        "smooth half",
    );
    assert_near(
        half[1],
        [
            (1.0 - 1.0 / 5.0_f64.sqrt()) * 127.5,
            127.5,
            (1.0 + 2.0 / 5.0_f64.sqrt()) * 127.5,
        ],
        1.5,
        "flat half",
    );
    mesh.normals = None;
    mesh.parts = vec![part(true, 0..4)];
    let shown = colors(&mesh);
    for (pixel, side) in shown.into_iter().zip([-1.0, -1.0, 1.0, 1.0]) {
        let expected = [side / 5.0_f64.sqrt(), 0.0, 2.0 / 5.0_f64.sqrt()];
        let expected = expected.map(|n| (n * 0.5 + 0.5) * 255.0);
        assert_near(pixel, expected, 1.5, "flat");
    }
}

#[test]
fn vertex_colors_and_plain_colors_are_as_given() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let (mut mesh, values, shot) = sheet();
    let color = |v: &f32| [0.5 + 0.3 * v, 0.4, 0.3 - 0.2 * v, 0.5];
    mesh.colors = vec![values.iter().map(color).collect()];
    let surface = Surface::new(&gpu, &mesh).expect("a surface");
    let eye = Eye::of(&shot);
    let image =
        draw(&mut renderer, flat(&surface, Paint::Colors), &mesh, &shot).expect("a picture");
    let plain = Paint::Plain([0.2, 0.5, 0.05, 1.0]);
    let even = draw(&mut renderer, flat(&surface, plain), &mesh, &shot).expect("a picture");
    for (at, pixel) in pixels(&image) {
        let Some((corners, weights)) = whole_pixel(&eye, &mesh, &mesh.positions, at) else {
            continue;
        };
        let mixed = |c: usize| -> f64 {
            let of = |k: usize| f64::from(mesh.colors[0][corners[k] as usize][c]);
            crate::common::encoded((0..3).map(|k| weights[k] * of(k)).sum())
        };
        assert_near(
            pixel,
            [mixed(0), mixed(1), mixed(2)],
            1.0,
            &format!("{at:?}"),
        );
        assert_eq!(pixel[3], 255, "alpha of colours means nothing");
        let even = even.pixel(at[0], at[1]).expect("the same size");
        assert_near(
            even,
            [0.2, 0.5, 0.05].map(crate::common::encoded),
            1.0,
            "plain",
        );
    }
}
