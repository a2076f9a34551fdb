//! Devices with no more than what WebGPU promises: eight storage buffers a kernel, buffers of 128 MiB bound.

use crate::common::devices::{Worst, graph_files, poses, run};
use crate::common::{Stored, assets, baked, document, on_devices};
use sinew::deform::{Par, REGISTRY};
use sinew::graph::{BoundGraph, InputBinding, NoNesting, compile};
use sinew_gpu::{Gpu, GpuError, GpuGraph, wgpu};
use std::sync::Arc;

/// An engine's device with these limits.
fn with_limits(gpu: &Gpu, required_limits: wgpu::Limits) -> Gpu {
    let instance = wgpu::Instance::default();
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let same = |a: &wgpu::Adapter| a.get_info().name == gpu.info().name;
    let adapter = adapters.into_iter().find(same).expect("the same adapter");
    let device = adapter.request_device(&wgpu::DeviceDescriptor {
        required_limits,
        ..Default::default()
    });
    let (device, queue) = pollster::block_on(device).expect("a device");
    Gpu::from_parts(device, queue).expect("alive")
}

/// Nodes that bind more with their default parameters where a mesh brings normals and tangents: up to 13. `docs/engines.md` says so.
const MORE_THAN_EIGHT: [&str; 5] = ["blend", "direct_delta_mush", "morph", "skin", "wrap"];

#[test]
fn nodes_run_within_the_limits_of_webgpu_or_say_what_they_need() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let gpu = with_limits(&gpu, wgpu::Limits::default());
    assert_eq!(gpu.limits().storage_buffers_per_stage, 8);
    let asset = assets()
        .into_iter()
        .find(|a| a.name == "dressed")
        .expect("dressed");
    let mut documents: Vec<(String, String)> = on_devices()
        .map(|desc| (desc.name.to_owned(), document(desc)))
        .collect();
    documents.extend(graph_files());
    let poses = poses(&asset, &[0.0]);
    let (mut problems, mut refused) = (Vec::new(), Vec::new());
    for (name, text) in documents {
        let mut worst = Worst::default();
        match run(&gpu, &asset, &text, &poses, &mut worst) {
            Ok(()) => assert!(worst.fits(), "{}", worst.line(&name)),
            Err(GpuError::Limit(error)) if error.allowed == 8 && error.found <= 13 => {
                assert!(
                    error.what.starts_with("storage buffers of kernel '"),
                    "{error}"
                );
                refused.push(name);
            }
            Err(error) => problems.push(format!("{name}: {error}")),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let kinds: Vec<&str> = REGISTRY.iter().map(|desc| desc.name).collect();
    refused.retain(|name| kinds.contains(&name.as_str()));
    let unknown = refused
        .iter()
        .find(|name| !MORE_THAN_EIGHT.contains(&name.as_str()));
    assert_eq!(unknown, None, "tell engines about it");
}

#[test]
fn texels_that_no_binding_holds_are_told() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: 1 << 16,
        ..wgpu::Limits::default()
    };
    let gpu = with_limits(&gpu, limits);
    // Three frames of 6 bytes a vertex are more than 64 KiB, its positions less.
    let mesh = sinew_testkit::meshes::grid(64, 64);
    let animation = baked(&mesh.positions, Stored::USUAL);
    let bytes = animation.texels(0).len().next_multiple_of(4) as u64;
    let desc = sinew::deform::find_node("vat_playback").expect("registered");
    let plan = compile("test.json", &document(desc), &NoNesting).expect("correct");
    let inputs = [
        InputBinding::Mesh(Arc::new(mesh)),
        InputBinding::Pose(Arc::default()),
        InputBinding::VertexAnimation(Arc::new(animation)),
    ];
    let graph = BoundGraph::bind(Arc::new(plan), &inputs, &[], Par::Seq).expect("binds");
    let made = GpuGraph::new(&gpu, &Arc::new(graph)).and_then(|g| g.instances(1));
    let Err(GpuError::Limit(error)) = made else {
        panic!("{made:?}");
    };
    assert_eq!(
        error.what,
        "bytes of array 'it.place_texels' in one binding"
    );
    assert_eq!((error.found, error.allowed), (bytes, 1 << 16));
}
