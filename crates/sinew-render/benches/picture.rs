//! One shaded picture of 1280x720 pixels: light, shadow, occlusion, and the pixels back. A new pose comes with each, as in an animation.
//!
//! Beside it the same picture without shadow and occlusion, and the bytes alone: a copy of the picture from the device. Meshes: the
//! samples' arm, and the shared data's characters where they are there. `SINEW_ADAPTER` chooses the device.
//! `cargo bench -p sinew-render`.

use criterion::{Criterion, criterion_group, criterion_main};
use sinew_geom::{Mesh, Selection};
use sinew_gpu::{Buffer, BufferUse, Gpu, GpuOptions, Readback};
use sinew_picture::Camera;
use sinew_render::{Renderer, Scene, Shot, Surface, SurfaceLook};
use std::time::Duration;

const SIZE: [u32; 2] = [1280, 720];
const CHARACTERS: [&str; 3] = ["mh_male_ge53", "mh_male_ge53_53k", "mh_male_ge53_214k"];

fn meshes() -> Vec<(String, Mesh)> {
    let arm = sinew_samples::arm_with_hand().expect("a sample");
    let arm = arm.merged(&Selection::All).expect("a mesh");
    let mut out = vec![("arm".to_owned(), arm)];
    let Some(shared) = sinew_testkit::shared_data() else {
        return out;
    };
    for name in CHARACTERS {
        let path = shared.join(format!("characters/{name}.glb"));
        if let Ok(file) = sinew_io::read_any(&path) {
            let mesh = file.asset.merged(&Selection::All).expect("a mesh");
            out.push((name.to_owned(), mesh));
        }
    }
    out
}

fn pictures(c: &mut Criterion) {
    let gpu = Gpu::new(&GpuOptions::from_env()).expect("a graphics adapter");
    let mut group = c.benchmark_group(format!("picture on {}", gpu.info().name));
    group
        .measurement_time(Duration::from_secs(3))
        .sample_size(10);
    let mut renderer = Renderer::new(&gpu).expect("a renderer");
    for (name, mesh) in meshes() {
        let mut surface = Surface::new(&gpu, &mesh).expect("a surface");
        let aspect = SIZE[0] as f32 / SIZE[1] as f32;
        let camera = Camera::framing(&mesh.positions, 0.5, 0.2, aspect);
        let studio = Shot::studio(SIZE[0], SIZE[1], camera);
        let mut bare = studio;
        bare.ground = false;
        bare.shadows = false;
        bare.occlusion = false;
        for (kind, shot) in [("shaded", studio), ("bare", bare)] {
            let id = format!("{name} ({} vertices), {kind}", mesh.vertex_count());
            group.bench_function(id, |b| {
                b.iter(|| {
                    let normals = mesh.normals.as_deref();
                    let posed = surface.upload(&gpu, &mesh, &mesh.positions, normals, None);
                    posed.expect("uploaded");
                    let mut scene = Scene::default();
                    scene.surfaces = vec![SurfaceLook::clay(&surface)];
                    scene.bounds = mesh.bounds();
                    renderer.render(&scene, &shot).expect("a picture")
                });
            });
        }
    }
    let pixels = SIZE[0] as usize * SIZE[1] as usize;
    let buffer = Buffer::<u32>::new(&gpu, "pixels", pixels, BufferUse::Storage).expect("a buffer");
    let (mut readback, mut out) = (Readback::new(), vec![0_u32; pixels]);
    group.bench_function("pixels back, nothing drawn", |b| {
        b.iter(|| readback.read(&gpu, &buffer, 0, &mut out).expect("read"));
    });
    group.finish();
}

criterion_group!(benches, pictures);
criterion_main!(benches);
