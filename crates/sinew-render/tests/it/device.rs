//! A graph's output is drawn where its kernels wrote it.

use crate::common::{bare, draw, flat, renderer};
use sinew_deform::Par;
use sinew_geom::{Asset, Image, Mesh, Selection};
use sinew_gpu::{Gpu, GpuGraph, GpuInstances, GpuMesh};
use sinew_graph::{BoundGraph, Frame, InputBinding, InputType, NoNesting, compile};
use sinew_picture::{Camera, ColorMap};
use sinew_render::{Paint, Renderer, Shot, Surface, SurfaceLook, ValueScale};
use std::sync::Arc;

const WITH_NORMALS: &str = r#"{"sinew": "1.0", "stack": ["skin", "tangent_frames"]}"#;
const BARE: &str = r#"{"sinew": "1.0", "stack": ["skin"]}"#;

fn instances(gpu: &Gpu, asset: &Asset, mesh: &Mesh, text: &str, count: usize) -> GpuInstances {
    let plan = Arc::new(compile("stack.json", text, &NoNesting).expect("a graph"));
    let mesh = Arc::new(mesh.clone());
    let bind = |ty: InputType| match ty {
        InputType::Mesh | InputType::Strands => InputBinding::Mesh(mesh.clone()),
        InputType::Pose => InputBinding::Pose(asset.rig.clone()),
        InputType::Values | InputType::VertexAnimation => InputBinding::Values,
    };
    let inputs: Vec<InputBinding> = plan.inputs().iter().map(|i| bind(i.ty)).collect();
    let graph = BoundGraph::bind(plan, &inputs, &[], Par::Seq).expect("inputs that fit");
    let graph = GpuGraph::new(gpu, &Arc::new(graph)).expect("kernels");
    graph.instances(count).expect("memory")
}

fn send(asset: &Asset, instances: &mut GpuInstances, times: &[f64]) {
    let poses: Vec<_> = times
        .iter()
        .map(|&time_secs| {
            let mut pose = asset.rig.rest_pose();
            asset
                .rig
                .evaluate(asset.clips.first(), time_secs, &mut pose);
            pose
        })
        .collect();
    let frame = |pose| Frame::default().pose(pose);
    let frames: Vec<_> = poses.iter().map(frame).collect();
    instances.update(&frames).expect("a frame");
}

fn picture(renderer: &mut Renderer, surface: &Surface, mesh: &Mesh) -> Image {
    let shot = Shot::studio(120, 120, Camera::framing(&mesh.positions, 0.5, 0.3, 1.0));
    draw(renderer, SurfaceLook::clay(surface), mesh, &shot).expect("a picture")
}

fn uploaded(gpu: &Gpu, mesh: &Mesh, read: &GpuMesh) -> Surface {
    let mut surface = Surface::new(gpu, mesh).expect("a surface");
    let normals = read.normals.as_deref();
    surface
        .upload(gpu, mesh, &read.positions, normals, read.colors.as_deref())
        .expect("lengths");
    surface
}

#[test]
fn outputs_are_drawn_where_they_are() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let asset = sinew_samples::arm_with_hand().expect("a sample");
    let authored = asset.merged(&Selection::All).expect("a mesh");
    // Without normals of the file, the first graph brings none.
    let bare_mesh = Mesh {
        normals: None,
        ..authored.clone()
    };
    for (text, mesh) in [(BARE, &bare_mesh), (WITH_NORMALS, &authored)] {
        let mut instances = instances(&gpu, &asset, mesh, text, 2);
        let mut bound = Surface::new(&gpu, mesh).expect("a surface");
        let mut pictures = Vec::new();
        // Current and previous change places with each frame.
        for times in [[0.2, 0.9], [0.4, 1.1], [0.6, 1.3]] {
            send(&asset, &mut instances, &times);
            for instance in 0..2 {
                let output = instances.mesh_output("body").expect("an output");
                bound
                    .bind(&gpu, mesh, &output, instance)
                    .expect("the same mesh");
                let direct = picture(&mut renderer, &bound, mesh);
                let read = instances.read_mesh("body", instance).expect("a device");
                let other = uploaded(&gpu, mesh, &read.expect("an output"));
                assert!(
                    direct == picture(&mut renderer, &other, mesh),
                    "{text}, {times:?}, {instance}"
                );
                assert!(
                    !pictures.contains(&direct),
                    "each pose has a picture of its own"
                );
                pictures.push(direct);
            }
        }
        // Back to its own arrays.
        bound
            .upload(&gpu, mesh, &mesh.positions, mesh.normals.as_deref(), None)
            .expect("lengths");
        let rest = GpuMesh {
            positions: mesh.positions.clone(),
            normals: mesh.normals.clone(),
            ..GpuMesh::default()
        };
        let other = uploaded(&gpu, mesh, &rest);
        assert!(
            picture(&mut renderer, &bound, mesh) == picture(&mut renderer, &other, mesh),
            "rest"
        );
    }
}

#[test]
fn distances_to_outputs_and_numbers_of_kernels_are_drawn_where_they_are() {
    let Some((gpu, mut renderer)) = renderer() else {
        return;
    };
    let asset = sinew_samples::arm_with_hand().expect("a sample");
    let mesh = asset.merged(&Selection::All).expect("a mesh");
    let mut instances = instances(&gpu, &asset, &mesh, BARE, 2);
    send(&asset, &mut instances, &[0.2, 0.9]);
    let mut bound = Surface::new(&gpu, &mesh).expect("a surface");
    let mut other = bound.clone();
    let scale = ValueScale {
        min: 0.0,
        max: 0.3,
        map: ColorMap::Inferno,
    };
    let shot = bare(100, 100, Camera::framing(&mesh.positions, 0.5, 0.3, 1.0));
    let mut shown = |surface: &Surface, paint| {
        draw(&mut renderer, flat(surface, paint), &mesh, &shot).expect("a picture")
    };
    for instance in 0..2 {
        let output = instances.mesh_output("body").expect("an output");
        bound
            .bind_other_positions(&output, instance)
            .expect("the same mesh");
        let read = instances
            .read_mesh("body", instance)
            .expect("a device")
            .expect("an output");
        other
            .upload_other_positions(&gpu, &read.positions)
            .expect("lengths");
        let paint = Paint::Distance { scale, factor: 1.0 };
        assert!(
            shown(&bound, paint) == shown(&other, paint),
            "instance {instance}"
        );
    }
    // Any floats of the device are numbers of vertices: here, what the coordinates of the second half are.
    let output = instances.mesh_output("body").expect("an output");
    let first = 3 * mesh.vertex_count() + 5;
    bound.bind_values(output.positions, first).expect("enough");
    let all: Vec<f32> =
        bytemuck::cast_slice(&output.positions.read(&gpu).expect("a device")).to_vec();
    other
        .upload_values(&gpu, &all[first..first + mesh.vertex_count()])
        .expect("lengths");
    let paint = Paint::Values(scale);
    assert!(shown(&bound, paint) == shown(&other, paint), "values");
    let too_far = output.positions.len() - mesh.vertex_count() + 1;
    assert!(
        bound.bind_values(output.positions, too_far).is_err(),
        "one too few"
    );
    let small = crate::common::quad([1.0, 1.0], 0.0);
    let mut small_surface = Surface::new(&gpu, &small).expect("a surface");
    assert!(
        small_surface.bind(&gpu, &small, &output, 0).is_err(),
        "another mesh"
    );
    assert!(
        small_surface.bind_other_positions(&output, 0).is_err(),
        "another mesh"
    );
}
