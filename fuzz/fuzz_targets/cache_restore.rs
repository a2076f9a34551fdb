//! Setup caches: the container, and every node's `restore` with bytes from anywhere, followed by two frames.
//!
//! An input is one byte that chooses node and configuration, and the bytes that the node is to restore from; from 128
//! on, the rest is the whole cache file instead.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sinew::deform::Par;
use sinew::geom::Pose;
use sinew::graph::{
    BindOptions, BoundGraph, Frame, InputBinding, InputType, Instance, Plan, UpdateError,
};
use sinew_fuzz::memory::{Counting, MIB, limited};
use sinew_fuzz::{characters, documents};
use std::sync::{Arc, LazyLock};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Case {
    plan: Arc<Plan>,
    inputs: Vec<InputBinding>,
    /// Everything of a valid cache in front of the payload's hash.
    head: Vec<u8>,
    /// Its payload.
    entries: Vec<Entry>,
    /// The one whose results are the input.
    at: usize,
}

/// Base key, names of parameters, key, results, warnings: what `sinew-graph` saves of a node.
type Entry = (
    [u8; 32],
    Vec<String>,
    [u8; 32],
    Option<Vec<u8>>,
    Vec<String>,
);

struct Cases {
    cases: Vec<Case>,
    pose: Pose,
    vertices: usize,
}

static CASES: LazyLock<Cases> = LazyLock::new(|| {
    let asset = characters::sheet();
    let mesh = Arc::new(asset.meshes[0].clone());
    let cases_of = |document: &String| {
        let plan = sinew::graph::compile("fuzz.json", document, &sinew::graph::NoNesting);
        let plan = Arc::new(plan.expect("a valid document"));
        let inputs: Vec<_> = plan
            .inputs()
            .iter()
            .map(|i| match i.ty {
                InputType::Mesh | InputType::Strands => InputBinding::Mesh(mesh.clone()),
                InputType::Pose => InputBinding::Pose(asset.rig.clone()),
                InputType::Values | InputType::VertexAnimation => InputBinding::Values,
            })
            .collect();
        let instance =
            Instance::bind(plan.clone(), &inputs, &[], Par::Seq).expect("binds to the sheet");
        let cache = instance.graph().setup_cache();
        let entries: Vec<Entry> = postcard::from_bytes(&cache[72..]).expect("a cache just made");
        let case = |at| Case {
            plan: plan.clone(),
            inputs: inputs.clone(),
            head: cache[..40].to_vec(),
            entries: entries.clone(),
            at,
        };
        (0..entries.len()).map(case).collect::<Vec<_>>()
    };
    Cases {
        cases: documents::cached().iter().flat_map(cases_of).collect(),
        vertices: mesh.vertex_count(),
        pose: asset.rig.rest_pose(),
    }
});

fuzz_target!(|data: &[u8]| {
    let [choice, rest @ ..] = data else { return };
    let case = &CASES.cases[usize::from(*choice & 127) % CASES.cases.len()];
    limited(data.len(), 64 * MIB, 1024, || {
        if *choice >= 128 {
            run(case, rest);
            return;
        }
        let mut entries = case.entries.clone();
        entries[case.at].3 = Some(rest.to_vec());
        let payload = postcard::to_stdvec(&entries).expect("plain bytes");
        let mut cache = case.head.clone();
        cache.extend_from_slice(blake3::hash(&payload).as_bytes());
        cache.extend_from_slice(&payload);
        run(case, &cache);
    });
});

fn run(case: &Case, cache: &[u8]) {
    let options = BindOptions::from(Par::Seq).cache(cache);
    let bound = BoundGraph::bind(case.plan.clone(), &case.inputs, &[], options);
    let mut instance = match bound {
        Ok(graph) => std::sync::Arc::new(graph).instance(),
        Err(error) => {
            assert!(!error.to_string().is_empty(), "refusals say something");
            return;
        }
    };
    for time_secs in [0.0, 0.5] {
        let frame = Frame::at(time_secs).dt(0.5).pose(&CASES.pose);
        match instance.update(&frame, Par::Seq) {
            Ok(()) => {}
            Err(error @ UpdateError::Node { .. }) => panic!("a restored node misreads: {error}"),
            // The frame has no values for inputs of that kind.
            Err(error) => assert!(!error.to_string().is_empty(), "refusals say something"),
        }
    }
    for output in case.plan.outputs() {
        if let Some(mesh) = instance.mesh_output(&output.name) {
            assert_eq!(mesh.positions.len(), CASES.vertices, "one a vertex");
        }
    }
    let _ = (instance.memory_bytes(), instance.graph().setup_cache());
}
