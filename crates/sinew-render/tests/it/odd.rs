//! Bad input gives typed errors or a picture, never a panic.

use crate::common::{bare, covered, draw, flat, front, quad, renderer, scene};
use sinew_geom::{Mesh, Topology};
use sinew_gpu::GpuError;
use sinew_picture::{Camera, ColorMap, Lens};
use sinew_render::{
    Background, Layer, Paint, RenderError, Scene, Shot, Skeleton, Surface, SurfaceLook, ValueScale,
};

const SCALE: ValueScale = ValueScale {
    min: 0.0,
    max: 1.0,
    map: ColorMap::Viridis,
};

#[test]
fn sizes_without_pixels_and_beyond_limits_are_refused() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let empty = Scene::default();
    let shot = |width, height| bare(width, height, front(1.0));
    for (width, height) in [(0, 0), (0, 9), (9, 0)] {
        let error = renderer
            .render(&empty, &shot(width, height))
            .expect_err("no pixels");
        assert!(matches!(error, RenderError::NoPixels { .. }), "{error:?}");
        assert!(
            error.to_string().contains(&format!("{width} x {height}")),
            "{error}"
        );
    }
    let allowed = gpu.device().limits().max_texture_dimension_2d;
    for (width, height) in [(allowed + 1, 2), (2, allowed + 1), (u32::MAX, u32::MAX)] {
        let error = renderer
            .render(&empty, &shot(width, height))
            .expect_err("too large");
        let RenderError::Gpu(GpuError::Limit(limit)) = &error else {
            panic!("{error:?}");
        };
        assert_eq!(limit.allowed, u64::from(allowed));
        assert_eq!(limit.found, u64::from(width.max(height)));
    }
    // And the renderer draws on.
    let image = renderer.render(&empty, &shot(3, 1)).expect("a picture");
    assert_eq!((image.width(), image.height()), (3, 1));
}

#[test]
fn arrays_of_another_length_are_refused() {
    let Some((gpu, _)) = renderer() else {
        return;
    };
    let mesh = quad([1.0, 1.0], 0.0);
    let mut surface = Surface::new(&gpu, &mesh).expect("a surface");
    let (three, four) = (vec![[0.0; 3]; 3], vec![[0.0; 3]; 4]);
    let colors = vec![[1.0; 4]; 5];
    let no_mesh = Mesh {
        positions: three.clone(),
        ..mesh.clone()
    };
    let bad_uvs = Mesh {
        uvs: vec![vec![[0.0; 2]; 9]],
        ..mesh.clone()
    };
    let other = sinew_testkit::meshes::grid(3, 3);
    let errors = [
        (3, surface.upload(&gpu, &mesh, &three, None, None)),
        (3, surface.upload(&gpu, &mesh, &four, Some(&three), None)),
        (5, surface.upload(&gpu, &mesh, &four, None, Some(&colors))),
        (2, surface.upload_values(&gpu, &[0.0; 2])),
        (3, surface.upload_other_positions(&gpu, &three)),
        (3, Surface::new(&gpu, &no_mesh).map(drop)),
        (9, Surface::new(&gpu, &bad_uvs).map(drop)),
        (16, surface.upload(&gpu, &other, &four, None, None)),
    ];
    for (number, (given, result)) in errors.into_iter().enumerate() {
        match result {
            Err(RenderError::Length {
                found, expected, ..
            }) => {
                assert_eq!((found, expected), (given, 4), "case {number}");
            }
            other => panic!("case {number}: {other:?}"),
        }
    }
}

#[test]
fn paints_without_what_they_need_are_refused() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let bare_mesh = Mesh {
        uvs: Vec::new(),
        ..quad([1.0, 1.0], 0.0)
    };
    let surface = Surface::new(&gpu, &bare_mesh).expect("a surface");
    for (paint, needs) in [
        (Paint::Values(SCALE), "values"),
        (
            Paint::Distance {
                scale: SCALE,
                factor: 1.0,
            },
            "other positions",
        ),
        (Paint::Checker, "texture coordinates"),
        (Paint::Colors, "colors"),
    ] {
        let shot = bare(8, 8, front(1.0));
        let error = draw(&mut renderer, flat(&surface, paint), &bare_mesh, &shot);
        let error = error.expect_err(needs);
        assert!(
            matches!(error, RenderError::Missing { what, .. } if what == needs),
            "{error:?}"
        );
        assert_eq!(
            error.to_string(),
            format!("surface 'quad' has no {needs}, which its paint needs")
        );
    }
}

#[test]
fn empty_meshes_leave_the_background() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let camera = Camera::framing(&[], 0.0, 0.3, 1.0);
    let shot = Shot::studio(24, 24, camera);
    let expected = renderer
        .render(&Scene::default(), &shot)
        .expect("a picture");
    let no_triangles = Topology::new(4, Vec::new()).expect("none");
    let points = Mesh::new("points", no_triangles, quad([1.0, 1.0], 0.0).positions);
    for mesh in [Mesh::default(), points] {
        let surface = Surface::new(&gpu, &mesh).expect("a surface");
        let all = [
            SurfaceLook::clay(&surface),
            SurfaceLook::clay(&surface).layer(Layer::Overlay),
        ];
        for look in all {
            let image = renderer
                .render(&scene(look, None), &shot)
                .expect("a picture");
            assert_eq!(image, expected, "{}", mesh.name);
        }
    }
}

#[test]
fn cameras_may_stand_anywhere() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let mesh = sinew_testkit::meshes::sphere(24, 36);
    let surface = Surface::new(&gpu, &mesh).expect("a surface");
    let look = SurfaceLook::clay(&surface);
    let lens = Lens::Perspective {
        tan_half_height: 0.5,
    };
    let looking = |eye, at| Camera::look_at(eye, at, lens, 1.0).expect("two places");
    let mut inside = Shot::studio(40, 40, looking([0.1, 0.0, 0.0], [1.0, 0.0, 0.0]));
    inside.background = Background::Transparent;
    inside.ground = false;
    let image = draw(&mut renderer, look, &mesh, &inside).expect("a picture");
    assert_eq!(covered(&image), 1600, "walls all around");
    let mut away = inside;
    away.camera = looking([0.0, 0.0, 5.0], [0.0, 0.0, 9.0]);
    let image = draw(&mut renderer, look, &mesh, &away).expect("a picture");
    assert_eq!(covered(&image), 0, "looks away");
    for bad in [f32::NAN, f32::INFINITY, 1e30] {
        let camera = Camera::framing(&[[bad; 3], [0.0; 3]], bad, 0.0, 1.0);
        let mut shot = inside;
        shot.ground = true;
        shot.camera = camera;
        draw(&mut renderer, look, &mesh, &shot).expect("a picture");
        shot.camera = Camera::framing(&mesh.positions, 0.0, 0.0, bad);
        draw(&mut renderer, look, &mesh, &shot).expect("a picture");
    }
    let bounds = Some(([f32::NAN; 3], [f32::INFINITY; 3]));
    renderer
        .render(&scene(look, bounds), &inside)
        .expect("a picture");
}

#[test]
fn size_does_not_matter() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let unit = sinew_samples::creature().expect("a sample").meshes[0].clone();
    let mut counts = Vec::new();
    for scale in [1.0, 1e6, 1e-4] {
        let mut mesh = unit.clone();
        for p in &mut mesh.positions {
            *p = p.map(|c| c * scale);
        }
        let mut surface = Surface::new(&gpu, &mesh).expect("a surface");
        // Normals of the device, too.
        surface
            .upload(&gpu, &mesh, &mesh.positions, None, None)
            .expect("positions");
        let camera = Camera::framing(&mesh.positions, 0.5, 0.3, 1.0);
        let mut shot = Shot::studio(100, 100, camera);
        shot.background = Background::Transparent;
        shot.ground = false;
        let image = draw(&mut renderer, SurfaceLook::clay(&surface), &mesh, &shot);
        let image = image.expect("a picture");
        let light: u64 = image.pixels().iter().map(|p| u64::from(p[0])).sum();
        counts.push((covered(&image) as f64, light as f64));
    }
    for &(count, light) in &counts[1..] {
        assert!((count / counts[0].0 - 1.0).abs() < 0.01, "{counts:?}");
        assert!((light / counts[0].1 - 1.0).abs() < 0.02, "{counts:?}");
    }
    assert!(counts[0].0 > 1000.0, "{counts:?}");
}

#[test]
fn positions_that_are_not_finite_take_their_triangles_along_and_no_more() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let mesh = sinew_testkit::meshes::sphere(16, 24);
    let shot = bare(60, 60, Camera::framing(&mesh.positions, 0.0, 0.0, 1.0));
    let mut surface = Surface::new(&gpu, &mesh).expect("a surface");
    for bad in [f32::NAN, f32::INFINITY] {
        let mut positions = mesh.positions.clone();
        positions[0] = [bad; 3];
        surface
            .upload(&gpu, &mesh, &positions, None, None)
            .expect("positions");
        let image = draw(&mut renderer, SurfaceLook::clay(&surface), &mesh, &shot);
        let count = covered(&image.expect("a picture"));
        assert!((2000..2900).contains(&count), "{count}");
    }
}

#[test]
fn joints_of_files_are_skeletal_and_nodes_of_their_lone_meshes_are_not() {
    let Some(data) = sinew_testkit::shared_data() else {
        println!("skipped: no shared data");
        return;
    };
    for (name, count) in [
        ("cesium_man.gltf", 19),
        ("fox.glb", 24),
        ("kaykit_knight.glb", 41),
        ("simple_skin.gltf", 2),
    ] {
        let path = data.join("characters").join(name);
        let asset = sinew_io::read_any(&path)
            .unwrap_or_else(|e| panic!("{e}"))
            .asset;
        let nodes = sinew_render::skeletal_nodes(&asset.rig, &asset.meshes);
        assert_eq!(nodes.len(), count, "{name}");
        let skeleton = Skeleton::new(&asset.rig, nodes);
        let mesh = skeleton.mesh(&asset.rig.rest_pose());
        assert!(
            mesh.positions.iter().flatten().all(|c| c.is_finite()),
            "{name}"
        );
    }
}

#[test]
fn skeletons_shine_through() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let asset = sinew_samples::arm_with_hand().expect("a sample");
    let body = &asset.meshes[0];
    let nodes = sinew_render::skeletal_nodes(&asset.rig, &asset.meshes);
    assert!(nodes.len() > 10, "{nodes:?}");
    let skeleton = Skeleton::new(&asset.rig, nodes);
    let mut pose = asset.rig.rest_pose();
    let bones = skeleton.mesh(&pose);
    let mut surface = Surface::new(&gpu, &bones).expect("a surface");
    let skin = Surface::new(&gpu, body).expect("a surface");
    let shot = bare(96, 96, Camera::framing(&body.positions, 0.4, 0.3, 1.0));
    let mut picture = |surface: &Surface, layer| {
        let bones = flat(surface, Paint::Colors).layer(layer);
        let mut scene = Scene::default();
        scene.surfaces = vec![flat(&skin, Paint::Plain([0.0, 0.0, 0.0, 1.0])), bones];
        scene.bounds = body.bounds();
        let image = renderer.render(&scene, &shot).expect("a picture");
        image
            .pixels()
            .iter()
            .filter(|p| p[..3].iter().any(|c| *c > 60))
            .count()
    };
    let (hidden, shown) = (
        picture(&surface, Layer::Scene),
        picture(&surface, Layer::Overlay),
    );
    assert!(shown > 150 && hidden * 3 < shown, "{hidden} {shown}");
    asset.rig.evaluate(asset.clips.first(), 0.5, &mut pose);
    let (mut positions, mut normals) = (Vec::new(), Vec::new());
    skeleton.positions_into(&pose, &mut positions, &mut normals);
    let colors = Some(bones.colors[0].as_slice());
    surface
        .upload(&gpu, &bones, &positions, Some(&normals), colors)
        .expect("the same count");
    assert!(picture(&surface, Layer::Overlay) > 100, "in another pose");
}
