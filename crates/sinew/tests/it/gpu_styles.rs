//! Launches in tiles and launches that are written out: what large devices run, here on any, against the processor.

use crate::common::devices::{Worst, graph_files, poses, run_in};
use crate::common::{assets, bindings};
use sinew::deform::Par;
use sinew::graph::{BoundGraph, NoNesting, compile};
use sinew_gpu::{Access, AdapterKind, GpuGraph, GpuInstances, LaunchStyle};
use std::sync::Arc;

/// Smoothing in one stack with what is before and behind it; the mask and the blend keep the posed points alive.
const STACKS: [(&str, &str); 2] = [
    (
        "stack",
        r#"{"sinew": "1.0", "stack": ["skin", {"node": "delta_mush", "iterations": 5}, "tangent_frames"]}"#,
    ),
    (
        "mixed",
        r#"{"sinew": "1.0", "parameters": {"b": {"type": "float", "default": 0.6}}, "nodes": {
 "skin": {"node": "skin", "mesh": "body", "pose": "pose"},
 "near": {"node": "mask", "mesh": "body", "source": "sphere"},
 "smooth": {"node": "smooth", "mesh": "skin", "mask": "near", "iterations": 3, "blend": "$b"},
 "mush": {"node": "delta_mush", "mesh": "smooth", "iterations": 2, "frame": "two_edges"},
 "frames": {"node": "tangent_frames", "mesh": "mush", "normals": "fixed_point"}},
 "outputs": {"body": "frames", "between": "smooth"}}"#,
    ),
];
/// Of the graphs in `graphs/` those whose kernels read neighbours or arrays that come with each frame. The samples: with seams, hard edges and joints, that are
/// open and have no seams. A driver in software compiles each anew; there a graph has the first two, and one of the others in turn.
const GRAPHS: [&str; 4] = [
    "delta_mush_uv.json",
    "lattice_many.json",
    "skin_methods.json",
    "tangent_frames.json",
];
const SAMPLES: [&str; 5] = ["dressed", "degenerate", "ball", "grid", "arm_with_hand"];

#[test]
fn every_style_of_launches_gives_the_same_numbers() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let stacks = STACKS.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let graphs = graph_files().into_iter();
    let graphs = graphs.filter(|(name, _)| GRAPHS.contains(&name.as_str()));
    let documents: Vec<(String, String)> = stacks.into_iter().chain(graphs).collect();
    let made = assets();
    let assets = SAMPLES.map(|name| made.iter().find(|a| a.name == name).expect("a sample"));
    let has_all = gpu.info().kind != AdapterKind::Software || sinew_testkit::is_soak();
    let mut wrong = Vec::new();
    for (turn, (name, text)) in documents.iter().enumerate() {
        let of_graph = |k: usize| has_all || k < 2 || k == 2 + turn % 3;
        for style in [LaunchStyle::Plain, LaunchStyle::Tiled] {
            let mut worst = Worst::default();
            for (k, asset) in assets.into_iter().enumerate() {
                let is_run = match name.ends_with("json") {
                    true => of_graph(k),
                    false => ["dressed", "arm_with_hand"].contains(&asset.name.as_str()),
                };
                if !is_run {
                    continue;
                }
                let result = run_in(
                    &gpu,
                    style,
                    asset,
                    text,
                    &poses(asset, &[0.3, 0.45, 0.6]),
                    &mut worst,
                );
                result.unwrap_or_else(|e| panic!("{name}, {style:?}, {}: {e}", asset.name));
            }
            let line = worst.line(&format!("{name} {style:?}"));
            print!("{line}");
            if !worst.fits() {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A whole stack is one launch in tiles; written out it is one for each time that points read their neighbours.
#[test]
fn tiles_join_passes_that_read_neighbours() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = assets().into_iter().find(|a| a.name == "dressed");
    let asset = asset.expect("a sample");
    let plan = Arc::new(compile("stack.json", STACKS[0].1, &NoNesting).expect("compiles"));
    let inputs = bindings(&asset, &plan);
    let graph = Arc::new(BoundGraph::bind(plan, &inputs, &[], Par::Seq).expect("binds"));
    let labels = |style| -> Vec<String> {
        let graph = GpuGraph::with_style(&gpu, &graph, style).expect("fits");
        let mut instances = graph.instances(1).expect("fits");
        whole_bindings(&mut instances);
        instances.launch_labels().map(str::to_owned).collect()
    };
    let tiled = labels(LaunchStyle::Tiled);
    let whole = "skin + delta_mush.gather + 5 x delta_mush.smooth + delta_mush.detail + delta_mush.place + ";
    assert!(tiled.len() == 1 && tiled[0].starts_with(whole), "{tiled:?}");
    // Skinning, five times smoothing, detail, frames.
    let plain = labels(LaunchStyle::Plain);
    assert_eq!(plain.len(), 8, "{plain:?}");
}

/// Several characters share workgroups where their matrices have room in workgroup memory.
#[test]
fn characters_share_workgroups() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    for (name, characters, shares) in [
        ("arm_with_hand", 5, true),
        ("arm_with_hand", 1, false),
        ("dressed", 5, false),
    ] {
        let asset = assets().into_iter().find(|a| a.name == name);
        let asset = asset.expect("a sample");
        let skin = r#"{"sinew": "1.0", "stack": ["skin"]}"#;
        let plan = Arc::new(compile("skin.json", skin, &NoNesting).expect("compiles"));
        let graph = BoundGraph::bind(plan.clone(), &bindings(&asset, &plan), &[], Par::Seq);
        let graph = Arc::new(graph.expect("binds"));
        let graph = GpuGraph::with_style(&gpu, &graph, LaunchStyle::Plain).expect("fits");
        let kernels = graph.instances(characters).expect("fits").kernels();
        let found = kernels.iter().any(|k| k.wgsl.contains("sinew_member"));
        assert_eq!(found, shares, "{name}, {characters}");
    }
}

/// What kernels bind can be had as bytes, as many as they say.
fn whole_bindings(instances: &mut GpuInstances) {
    for (k, kernel) in instances.kernels().iter().enumerate() {
        for binding in &kernel.bindings {
            let bytes = instances
                .read_binding(k, binding.slot)
                .expect("reads")
                .expect("bound");
            assert!(
                binding.bytes > 0 && bytes.len() as u64 >= binding.bytes,
                "{binding:?}: {}",
                bytes.len()
            );
            let is_constant = binding.access == Access::Read && binding.holds.contains("ring");
            assert!(!is_constant || bytes.iter().any(|b| *b != 0), "{binding:?}");
        }
        let none = instances.read_binding(k, 99).expect("reads");
        assert_eq!(none, None);
    }
    assert_eq!(instances.read_binding(999, 0).expect("reads"), None);
}
