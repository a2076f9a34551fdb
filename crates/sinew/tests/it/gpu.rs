//! The conformance loop on the GPU: every node of the registry and every graph in `graphs/`, on every sample and on awkward
//! meshes, against the processor.

use crate::common::devices::{Worst, angle_degrees, distance, graph_files, poses, run};
use crate::common::{assets, document, on_devices};
use sinew_gpu::{AdapterKind, GpuError};

/// Where in a clip.
const THIRDS: [f64; 3] = [0.0, 1.0 / 3.0, 2.0 / 3.0];

/// A name and a document: the registry's nodes with their defaults, then the files.
fn documents() -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = on_devices()
        .map(|desc| (desc.name.to_owned(), document(desc)))
        .collect();
    out.extend(graph_files());
    out
}

/// What is no direction is never the same as one.
#[test]
fn wrong_directions_are_noticed() {
    let up = [0.0, 1.0, 0.0];
    for wrong in [
        [0.0; 3],
        [0.0, 2.0, 0.0],
        [f32::NAN, 1.0, 0.0],
        [0.0, f32::INFINITY, 0.0],
    ] {
        assert!(angle_degrees(up, wrong).is_infinite(), "{wrong:?}");
        assert!(angle_degrees(wrong, up).is_infinite(), "{wrong:?}");
    }
    assert!(distance(up, [f32::NAN; 3]).is_infinite());
    assert!((angle_degrees(up, [1.0, 0.0, 0.0]) - 90.0).abs() < 1e-9);
}

#[test]
fn every_node_gives_the_same_numbers_on_both_devices() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let only = std::env::var("SINEW_ONLY").ok();
    let mut table = String::new();
    let mut wrong = Vec::new();
    let assets = assets();
    // A software driver compiles the kernels of a node for each mesh anew: there each node has the one that holds most, and one of the others in turn.
    let has_all = gpu.info().kind != AdapterKind::Software || sinew_testkit::is_soak();
    for (turn, (name, text)) in documents().into_iter().enumerate() {
        if only
            .as_ref()
            .is_some_and(|only| !name.contains(only.as_str()))
        {
            continue;
        }
        let mut worst = Worst::default();
        for (i, asset) in assets.iter().enumerate() {
            let holds_most = asset.name == "dressed";
            if !(has_all || holds_most || i == turn % assets.len()) {
                continue;
            }
            match run(&gpu, asset, &text, &poses(asset, &THIRDS), &mut worst) {
                Ok(()) => {}
                Err(error @ GpuError::NoDeviceSide { .. }) => {
                    wrong.push(format!("{name}: {error}"));
                    break;
                }
                Err(error) => {
                    wrong.push(format!("{name} on {}: {error}", asset.name));
                    break;
                }
            }
        }
        table += &worst.line(&name);
        if !worst.fits() {
            wrong.push(format!("{name}: differs by more than it may"));
        }
    }
    println!("{}\n{table}", gpu.info().name);
    assert!(wrong.is_empty(), "{}\n{table}", wrong.join("\n"));
}
