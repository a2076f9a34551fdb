//! Times a whole character on the GPU: linear skinning with four influences, delta mush with eight passes, normals, on grids
//! of growing size; then crowds. Prints medians of the device's own clock, launch by launch.
//!
//! ```sh
//! cargo run --release -p sinew --features gpu --example 03_gpu_stack -- [VERTICES... | crowds]
//! ```
//!
//! The adapter is the one that `SINEW_ADAPTER` names, else the fastest. The binary needs a Vulkan loader at run time and
//! nothing else.

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use sinew::deform::Par;
use sinew::geom::{Asset, Pose};
use sinew::gpu::{
    Gpu, GpuGraph, GpuInstances, GpuOptions, Samples, SpanSamples, Stopwatch, Timestamps,
};
use sinew::graph::{BoundGraph, Frame, InputBinding, InputType, NoNesting, compile};
use std::error::Error;
use std::sync::Arc;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const FRAMES: usize = 60;
/// Frames of one submission.
const TOGETHER: u32 = 20;
const STACK: &str = r#"{
    "sinew": "1.0",
    "stack": ["skin", { "node": "delta_mush", "iterations": 8 }, "tangent_frames"]
}"#;
/// Cheaper frames and normals.
const LEAN: &str = r#"{
    "sinew": "1.0",
    "stack": ["skin", { "node": "delta_mush", "iterations": 8, "frame": "two_edges" },
        { "node": "tangent_frames", "normals": "area_weighted" }]
}"#;
const MUSH: &str =
    r#"{ "sinew": "1.0", "stack": ["skin", { "node": "delta_mush", "iterations": 8 }] }"#;
const SKIN: &str = r#"{
    "sinew": "1.0",
    "inputs": { "body": { "type": "mesh" }, "pose": { "type": "pose" } },
    "nodes": { "skin": { "node": "skin", "mesh": "body", "pose": "pose" } },
    "outputs": { "body": "skin" }
}"#;

fn main() -> Outcome {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let only_crowds = given.iter().any(|a| a == "crowds");
    let sizes: Vec<u32> = match given.as_slice() {
        [] => vec![10_000, 100_000, 1_000_000],
        _ if only_crowds => Vec::new(),
        given => given.iter().map(|a| a.parse()).collect::<Result<_, _>>()?,
    };
    let gpu = Gpu::new(&GpuOptions::from_env())?;
    println!("{}", gpu.info());
    for size in sizes {
        for (name, document) in [
            ("frames from two edges, normals by area", LEAN),
            ("frames from all neighbours, normals by angle", STACK),
        ] {
            println!("\n{size} vertices, skin + delta mush x8 + normals ({name})");
            measure(&gpu, sheet(size, true)?, document, 1)?;
        }
    }
    if !given.is_empty() && !only_crowds {
        return Ok(());
    }
    for (name, document, normals, count) in [
        ("linear skinning", SKIN, false, 1000),
        ("linear skinning with normals", SKIN, true, 1000),
        ("linear skinning", SKIN, false, 10_000),
        ("linear skinning, delta mush x8", MUSH, false, 10_000),
    ] {
        println!("\ncrowd: {count} characters of 10000 vertices, {name}");
        measure(&gpu, sheet(10_000, normals)?, document, count)?;
    }
    Ok(())
}

/// The rippled sheet of the samples, with normals of its own or without.
fn sheet(vertices: u32, normals: bool) -> Outcome<Asset> {
    let mut asset = sinew_samples::sheet(vertices)?;
    for mesh in asset.meshes.iter_mut().filter(|_| !normals) {
        mesh.normals = None;
    }
    Ok(asset)
}

fn bound(asset: Asset, document: &str) -> Outcome<(Arc<BoundGraph>, Pose)> {
    let plan = Arc::new(compile("stack.json", document, &NoNesting)?);
    let mesh = asset
        .meshes
        .into_iter()
        .next()
        .ok_or("a sample without a mesh")?;
    let (mesh, rig) = (Arc::new(mesh), asset.rig);
    let mut pose = rig.rest_pose();
    for (joint, step) in pose.palette.iter_mut().zip(0_u8..) {
        joint.rows[0][3] = 0.1 * f32::from(step);
    }
    let inputs: Vec<InputBinding> = plan
        .inputs()
        .iter()
        .map(|input| match input.ty {
            InputType::Mesh | InputType::Strands => InputBinding::Mesh(mesh.clone()),
            InputType::Pose => InputBinding::Pose(rig.clone()),
            InputType::Values | InputType::VertexAnimation => InputBinding::Values,
        })
        .collect();
    let graph = BoundGraph::bind(plan, &inputs, &[], Par::Rayon)?;
    Ok((Arc::new(graph), pose))
}

fn measure(gpu: &Gpu, asset: Asset, document: &str, count: usize) -> Outcome {
    let (graph, pose) = bound(asset, document)?;
    let on_gpu = GpuGraph::new(gpu, &graph)?;
    let mut instances = on_gpu.instances(count)?;
    println!(
        "  {:.1} MB shared, {:.1} MB own",
        on_gpu.memory_bytes() as f64 / 1e6,
        instances.memory_bytes() as f64 / 1e6
    );
    let frame = Frame::default().pose(&pose);
    let frames = vec![frame; count];
    if !gpu.capabilities().timestamps_in_encoders {
        println!("  no times: the adapter takes none between commands");
        return Ok(());
    }
    warm_up(gpu, &mut instances, &frames)?;
    whole(gpu, &mut instances, &frames)?;
    each(gpu, &mut instances, &frames)
}

/// Frames for a while, so that device and host run at the speed of work.
fn warm_up(gpu: &Gpu, instances: &mut GpuInstances, frames: &[Frame<'_>]) -> Outcome {
    let watch = Stopwatch::start();
    instances.send(frames)?;
    while watch.elapsed_ns() < 1e9 {
        let submission = gpu.submit("frames", |encoder| {
            (0..TOGETHER).for_each(|_| instances.record(encoder));
            Ok(())
        })?;
        gpu.wait(&submission)?;
    }
    Ok(())
}

/// Whole frames: one by one, each sent and waited for, and one behind another. Alone, a short frame leaves the device at rest for most of
/// the time, and its clocks fall.
fn whole(gpu: &Gpu, instances: &mut GpuInstances, frames: &[Frame<'_>]) -> Outcome {
    let mut times = Timestamps::new(gpu, 1)?;
    let mut host = Samples::new(FRAMES);
    let [mut alone, mut busy] = [Samples::new(FRAMES), Samples::new(FRAMES)];
    for (together, device) in [(TOGETHER, &mut busy), (1, &mut alone)] {
        for _ in 0..FRAMES + 10 {
            let watch = Stopwatch::start();
            instances.send(frames)?;
            let submission = gpu.submit("frames", |encoder| {
                times.begin(gpu, encoder, 0)?;
                (0..together).for_each(|_| instances.record(encoder));
                times.end(gpu, encoder, 0)?;
                times.resolve(gpu, encoder)
            })?;
            if together == 1 {
                host.push(watch.elapsed_ns());
            }
            if let Some(Some(span)) = times.read(gpu, &submission)?.first() {
                device.push(span.duration_ns() / f64::from(together));
            }
        }
    }
    let us = |samples: &mut Samples| samples.median().unwrap_or(f64::NAN) / 1e3;
    println!(
        "  {:>10.1} us a frame on the device, {TOGETHER} one behind another; {:.1} us alone; {:.1} us on the host to send, record and submit",
        us(&mut busy),
        us(&mut alone),
        us(&mut host)
    );
    Ok(())
}

/// Launch by launch; each in a pass of its own, which costs some.
fn each(gpu: &Gpu, instances: &mut GpuInstances, frames: &[Frame<'_>]) -> Outcome {
    let launches: Vec<String> = instances.launch_labels().map(str::to_owned).collect();
    let dispatches = instances.dispatches();
    let mut times = Timestamps::new(gpu, u32::try_from(dispatches.len())?)?;
    let mut samples = SpanSamples::new(dispatches.len(), FRAMES);
    for _ in 0..FRAMES {
        let submission = instances.update_timed(frames, &mut times)?;
        samples.push(times.read(gpu, &submission)?);
    }
    for (i, launch) in dispatches.into_iter().enumerate() {
        if let Some(ns) = samples.median_ns(i) {
            println!("  {:>10.1} us  {}", ns / 1e3, launches[launch]);
        }
    }
    Ok(())
}
