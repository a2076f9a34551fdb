//! Devices with no more than what WebGPU promises: eight storage buffers a kernel, buffers of 128 MiB bound.

mod common;
mod devices;

use common::{assets, document};
use devices::{Worst, poses, run};
use sinew::deform::REGISTRY;
use sinew_gpu::{Gpu, wgpu};

/// An engine's device with the default limits.
fn modest(gpu: &Gpu) -> Gpu {
    let instance = wgpu::Instance::default();
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let same = |a: &wgpu::Adapter| a.get_info().name == gpu.info().name;
    let adapter = adapters.into_iter().find(same).expect("the same adapter");
    let device = adapter.request_device(&wgpu::DeviceDescriptor {
        required_limits: wgpu::Limits::default(),
        ..Default::default()
    });
    let (device, queue) = pollster::block_on(device).expect("a device");
    Gpu::from_parts(device, queue).expect("alive")
}

#[test]
fn every_node_runs_within_the_limits_of_webgpu() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let gpu = modest(&gpu);
    assert_eq!(gpu.limits().storage_buffers_per_stage, 8);
    let asset = assets()
        .into_iter()
        .find(|a| a.name == "dressed")
        .expect("dressed");
    let mut documents: Vec<(String, String)> = REGISTRY
        .iter()
        .map(|desc| (desc.name.to_owned(), document(desc)))
        .collect();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs");
    for entry in std::fs::read_dir(folder).expect("graphs") {
        let file = entry.expect("readable").path();
        let text = std::fs::read_to_string(&file).expect("text");
        documents.push((file.display().to_string(), text));
    }
    let poses = poses(&asset, &[0.0]);
    let mut problems = Vec::new();
    for (name, text) in documents {
        let mut worst = Worst::default();
        match run(&gpu, &asset, &text, &poses, &mut worst) {
            Ok(()) => assert!(worst.fits(), "{}", worst.line(&name)),
            Err(error) => problems.push(format!("{name}: {error}")),
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
