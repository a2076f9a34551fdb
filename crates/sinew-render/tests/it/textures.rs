//! Images on surfaces.

use crate::common::{
    assert_near, bare, draw, encoded, flat, front, linear, pixels, quad, renderer,
};
use sinew_geom::{AlphaMode, Appearance, Image, Material, Mesh, MeshPart, Texture, Wrap};
use sinew_gpu::Gpu;
use sinew_picture::{Camera, Lens};
use sinew_render::{Background, Materials, Paint, RenderError, Scene, Surface, SurfaceLook};

/// Three by two pixels, all different.
fn image() -> Image {
    let pixels = vec![
        [255, 0, 0, 255],
        [0, 255, 0, 255],
        [0, 0, 255, 255],
        [250, 200, 20, 255],
        [120, 120, 120, 255],
        [20, 230, 240, 255],
    ];
    Image::from_pixels(3, 2, pixels)
}

fn texture() -> Texture {
    Texture {
        image: 0,
        uv_set: 0,
        image_from_uv: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        wrap: [Wrap::Repeat; 2],
        nearest: true,
    }
}

fn textured(texture: Texture) -> Material {
    Material {
        base_color_texture: Some(texture),
        ..Material::default()
    }
}

/// A mesh with one part of that material.
fn with_material(mut mesh: Mesh) -> Mesh {
    mesh.parts = vec![MeshPart {
        name: String::new(),
        source_mesh: 0,
        material: Some(0),
        vertices: 0..mesh.vertex_count(),
        triangles: 0..mesh.topology.triangles().len(),
        flat_shaded: false,
    }];
    mesh
}

fn materials(gpu: &Gpu, material: Material, image: Option<Image>) -> Materials {
    let appearance = Appearance {
        materials: vec![material],
        ..Appearance::default()
    };
    Materials::new(gpu, &appearance, &[image]).expect("materials")
}

/// The pixel of an image at a place, its distance to a border of pixels (in pixels) and whether it is within the image.
fn texel(image: &Image, texture: &Texture, uv: [f64; 2]) -> ([u8; 4], f64) {
    let size = [image.width() as f64, image.height() as f64];
    let mut at = [0; 2];
    let mut margin = f64::INFINITY;
    for c in 0..2 {
        let row = texture.image_from_uv[c].map(f64::from);
        let place = (row[0] * uv[0] + row[1] * uv[1] + row[2]) * size[c];
        margin = margin.min((place - place.round()).abs());
        let (index, count) = (place.floor() as i64, size[c] as i64);
        at[c] = match texture.wrap[c] {
            Wrap::Repeat => index.rem_euclid(count),
            Wrap::Clamp => index.clamp(0, count - 1),
            Wrap::Mirrored => {
                let index = index.rem_euclid(2 * count);
                index.min(2 * count - 1 - index)
            }
        } as usize;
    }
    (image.pixel(at[0], at[1]).expect("wrapped"), margin)
}

/// A picture of a square whose texture coordinates are three times as far as it is long, from -1 to 2.
fn wide_square() -> Mesh {
    let mut mesh = with_material(quad([1.0, 1.0], 0.0));
    for uv in &mut mesh.uvs[0] {
        *uv = uv.map(|c| 3.0 * c - 1.0);
    }
    mesh
}

#[test]
fn pixels_of_images_are_where_texture_coordinates_say() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let mesh = wide_square();
    let surface = Surface::new(&gpu, &mesh).expect("a surface");
    let shot = bare(96, 96, front(1.0));
    // As KHR_texture_transform: translation * rotation * scale.
    let (sine, cosine) = 0.6_f32.sin_cos();
    let turned = [
        [cosine * 0.8, sine * 0.5, 0.3],
        [-sine * 0.8, cosine * 0.5, -0.2],
    ];
    for wrap in [Wrap::Repeat, Wrap::Mirrored, Wrap::Clamp] {
        for other in [Wrap::Repeat, Wrap::Mirrored, Wrap::Clamp] {
            for image_from_uv in [texture().image_from_uv, turned] {
                let texture = Texture {
                    wrap: [wrap, other],
                    image_from_uv,
                    ..texture()
                };
                let all = materials(&gpu, textured(texture), Some(image()));
                let look = flat(&surface, Paint::Material(&all));
                let drawn = draw(&mut renderer, look, &mesh, &shot).expect("a picture");
                let mut seen = 0;
                for ([x, y], pixel) in pixels(&drawn) {
                    let uv = [x, y].map(|c| (c as f64 + 0.5) / 96.0 * 3.0 - 1.0);
                    let (expected, margin) = texel(&image(), &texture, uv);
                    if margin > 0.05 {
                        seen += 1;
                        let [r, g, b, _] = expected.map(f64::from);
                        assert_near(pixel, [r, g, b], 1.0, &format!("{texture:?}, {x} {y}"));
                    }
                }
                assert!(seen > 5000, "{seen}");
            }
        }
    }
}

#[test]
fn factors_and_vertex_colours_multiply() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let mut mesh = with_material(quad([1.0, 1.0], 0.0));
    mesh.colors = vec![vec![[1.0, 0.5, 0.25, 1.0]; 4]];
    let surface = Surface::new(&gpu, &mesh).expect("a surface");
    let material = Material {
        base_color: [0.5, 0.8, 1.0, 1.0],
        ..textured(texture())
    };
    let all = materials(&gpu, material.clone(), Some(image()));
    let shot = bare(48, 48, front(1.0));
    let drawn = draw(
        &mut renderer,
        flat(&surface, Paint::Material(&all)),
        &mesh,
        &shot,
    );
    let factor = [0.5, 0.4, 0.25];
    for ([x, y], pixel) in pixels(&drawn.expect("a picture")) {
        let uv = [x, y].map(|c| (c as f64 + 0.5) / 48.0);
        let (texel, margin) = texel(&image(), &texture(), uv);
        if margin > 0.05 {
            let expected = std::array::from_fn(|c| encoded(linear(texel[c]) * factor[c]));
            assert_near(pixel, expected, 1.0, &format!("{x} {y}"));
        }
    }
    // An image that is not there: the factor alone.
    let all = materials(&gpu, material, None);
    let drawn = draw(
        &mut renderer,
        flat(&surface, Paint::Material(&all)),
        &mesh,
        &shot,
    );
    let middle = drawn.expect("a picture").pixel(24, 24).expect("inside");
    assert_near(middle, factor.map(encoded), 1.0, "without the image");
}

/// White, with four by four squares of alpha 0 and 200.
fn holes() -> Image {
    let square = |i: usize| {
        if (i / 4 + i % 4).is_multiple_of(2) {
            0
        } else {
            200
        }
    };
    Image::from_pixels(4, 4, (0..16).map(|i| [255, 255, 255, square(i)]).collect())
}

#[test]
fn alpha_means_what_the_material_says() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let mesh = with_material(quad([1.0, 1.0], 0.0));
    let surface = Surface::new(&gpu, &mesh).expect("a surface");
    let mut shot = bare(64, 64, front(1.0));
    shot.background = Background::Plain([0.0, 0.2, 0.6]);
    let part = f64::from(200_u8) / 255.0;
    for (alpha, open, solid) in [
        (AlphaMode::Opaque, [1.0; 3], [1.0; 3]),
        (AlphaMode::Mask(0.5), [0.0, 0.2, 0.6], [1.0; 3]),
        (
            AlphaMode::Blend,
            [0.0, 0.2, 0.6],
            [0.0, 0.2, 0.6].map(|c| c + (1.0 - c) * part),
        ),
    ] {
        let all = materials(
            &gpu,
            Material {
                alpha,
                ..textured(texture())
            },
            Some(holes()),
        );
        let look = flat(&surface, Paint::Material(&all));
        let drawn = draw(&mut renderer, look, &mesh, &shot).expect("a picture");
        for ([x, y], pixel) in pixels(&drawn) {
            let uv = [x, y].map(|c| (c as f64 + 0.5) / 64.0);
            let (texel, margin) = texel(&holes(), &texture(), uv);
            if margin > 0.1 {
                let expected = if texel[3] == 0 { open } else { solid };
                assert_near(
                    pixel,
                    expected.map(encoded),
                    1.5,
                    &format!("{alpha:?}, {x} {y}"),
                );
            }
        }
        // On nothing, what is there is there, unless it is to be seen through.
        let clear = bare(64, 64, front(1.0));
        let drawn = draw(&mut renderer, look, &mesh, &clear).expect("a picture");
        let solid = drawn.pixel(24, 8).expect("inside")[3];
        let open = drawn.pixel(8, 8).expect("inside")[3];
        let expected = match alpha {
            AlphaMode::Opaque => (255, 255),
            AlphaMode::Mask(_) => (0, 255),
            AlphaMode::Blend => (0, 200),
        };
        assert_eq!((open, solid), expected, "{alpha:?}");
    }
}

/// How much darker the ground is than nothing, summed over the picture.
fn shade(image: &Image) -> u64 {
    image.pixels().iter().map(|p| u64::from(p[3])).sum()
}

#[test]
fn holes_let_light_through() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    // Lies flat, half a metre above the ground.
    let mut mesh = with_material(quad([0.5, 0.5], 0.0));
    for p in &mut mesh.positions {
        *p = [p[0], 0.5, -p[1]];
    }
    mesh.normals = Some(vec![[0.0, 1.0, 0.0]; 4]);
    let surface = Surface::new(&gpu, &mesh).expect("a surface");
    let lens = Lens::Perspective {
        tan_half_height: 0.4,
    };
    let camera = Camera::look_at([0.5, 2.0, 3.0], [0.0, 0.3, 0.0], lens, 1.0).expect("two places");
    let mut shot = bare(128, 128, camera);
    shot.ground = true;
    shot.shadows = true;
    let bounds = Some(([-0.5, 0.0, -0.5], [0.5, 0.5, 0.5]));
    let mut shades = |cutoff: f32| {
        let material = Material {
            alpha: AlphaMode::Mask(cutoff),
            ..textured(texture())
        };
        let all = materials(&gpu, material, Some(holes()));
        let mut scene = Scene::default();
        scene.surfaces = vec![SurfaceLook::clay(&surface).paint(Paint::Material(&all))];
        scene.bounds = bounds;
        renderer.render(&scene, &shot).expect("a picture")
    };
    let (solid, holed, gone) = (shades(0.0), shades(0.5), shades(2.0));
    let mut empty = Scene::default();
    empty.bounds = bounds;
    let nothing = renderer.render(&empty, &shot).expect("a picture");
    assert_eq!(gone, nothing, "all of it cut away");
    // The shadow on the ground alone: the picture's lower right, which the square does not hide.
    let ground = |image: &Image| {
        let shown = |&([x, y], _): &([usize; 2], [u8; 4])| {
            solid
                .pixel(x, y)
                .is_some_and(|p| p[3] > 0 && p[..3] == [0, 0, 0])
        };
        pixels(image)
            .filter(shown)
            .map(|(_, p)| u64::from(p[3]))
            .sum::<u64>()
    };
    let (dark, half) = (ground(&solid), ground(&holed));
    assert!(dark > 10_000, "a shadow: {dark}");
    let part = half as f64 / dark as f64;
    assert!((0.3..0.7).contains(&part), "half of the shadow: {part}");
    assert_eq!(shade(&nothing), 0, "no shadow of nothing");
}

#[test]
fn translucent_paint_lets_what_is_behind_through_in_any_order() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let (near, far) = (quad([0.5, 0.5], 1.0), quad([0.9, 0.9], -1.0));
    let glass = Surface::new(&gpu, &near).expect("a surface");
    let wall = Surface::new(&gpu, &far).expect("a surface");
    let (clear, solid) = ([0.9, 0.1, 0.1, 0.25], [0.1, 0.3, 0.8, 1.0]);
    let glass = flat(&glass, Paint::Plain(clear));
    let wall = flat(&wall, Paint::Plain(solid));
    let expected =
        std::array::from_fn(|c| encoded(f64::from(clear[c]) * 0.25 + f64::from(solid[c]) * 0.75));
    for surfaces in [vec![glass, wall], vec![wall, glass]] {
        let mut scene = Scene::default();
        scene.surfaces = surfaces;
        scene.bounds = Some(([-1.0; 3], [1.0; 3]));
        let drawn = renderer
            .render(&scene, &bare(40, 40, front(1.0)))
            .expect("a picture");
        let middle = drawn.pixel(20, 20).expect("inside");
        assert_near(middle, expected, 1.0, "glass before the wall");
        assert_eq!(middle[3], 255);
    }
}

#[test]
fn materials_that_are_not_there_are_clay() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let mut mesh = with_material(quad([1.0, 1.0], 0.0));
    mesh.parts[0].material = Some(7);
    let surface = Surface::new(&gpu, &mesh).expect("a surface");
    let all = materials(&gpu, Material::default(), None);
    let shot = bare(16, 16, front(1.0));
    let drawn = draw(
        &mut renderer,
        flat(&surface, Paint::Material(&all)),
        &mesh,
        &shot,
    );
    let clay = draw(&mut renderer, flat(&surface, Paint::CLAY), &mesh, &shot);
    assert_eq!(drawn.expect("a picture"), clay.expect("a picture"));
    // Texture coordinates or an image that the texture names and nobody has.
    let lost = Texture {
        uv_set: 3,
        image: 9,
        ..texture()
    };
    let all = materials(&gpu, textured(lost), Some(image()));
    let mesh = with_material(quad([1.0, 1.0], 0.0));
    let surface = Surface::new(&gpu, &mesh).expect("a surface");
    let drawn = draw(
        &mut renderer,
        flat(&surface, Paint::Material(&all)),
        &mesh,
        &shot,
    );
    let middle = drawn.expect("a picture").pixel(8, 8).expect("inside");
    assert_eq!(middle, [255; 4], "the factor alone");
}

#[test]
fn images_without_pixels_are_none_or_refused() {
    let Some((gpu, _)) = renderer() else {
        return;
    };
    let appearance = Appearance {
        materials: vec![textured(texture())],
        ..Appearance::default()
    };
    for (width, height) in [(0, 0), (0, 5), (5, 0)] {
        let image = Image::from_pixels(width, height, Vec::new());
        let made: Result<Materials, RenderError> =
            Materials::new(&gpu, &appearance, &[Some(image)]);
        assert!(made.is_ok(), "{width} x {height}: {made:?}");
    }
}
