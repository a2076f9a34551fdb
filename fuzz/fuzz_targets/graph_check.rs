//! Graph documents: parsing, checking, compiling, binding to a small character and one frame of it. An input may hold
//! several documents (see `documents::SEPARATOR`) that name each other.
#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use sinew::deform::{Par, ParameterType, ParameterValue};
use sinew::geom::{Asset, Mesh, Pose};
use sinew::graph::{
    BindOptions, BoundGraph, Frame, InputBinding, InputType, Instance, ParameterSource, Plan,
    UpdateError, compile, to_plain_json,
};
use sinew_fuzz::characters;
use sinew_fuzz::documents::{Bundle, SEPARATOR};
use sinew_fuzz::memory::{Counting, MIB, limited};
use sinew_fuzz::mutate::{self, Random};
use std::sync::{Arc, LazyLock};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

struct Character {
    asset: Asset,
    mesh: Arc<Mesh>,
    pose: Pose,
}

static CHARACTER: LazyLock<Character> = LazyLock::new(|| {
    let asset = characters::sheet();
    Character {
        mesh: Arc::new(asset.meshes[0].clone()),
        pose: asset.rig.rest_pose(),
        asset,
    }
});

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    LazyLock::force(&CHARACTER);
    // Documents may name each other many times; the checker bounds how often.
    let base = if text.contains(SEPARATOR) { 1024 } else { 64 };
    limited(text.len(), base * MIB, 4096, || {
        let bundle = Bundle::new(text);
        if let Ok(plain) = to_plain_json("0.json", bundle.root())
            && let Err(error) = serde_json::from_str::<serde_json::Value>(&plain)
        {
            let error = error.to_string();
            // serde_json stops at 128 levels, the document's parser at 512.
            assert!(error.contains("recursion"), "plain JSON is JSON: {error}");
        }
        match compile("0.json", bundle.root(), &bundle) {
            Ok(plan) => {
                check_plan(&plan);
                for warning in plan.warnings() {
                    check_place(warning);
                }
                run(plan);
            }
            Err(diagnostics) => {
                assert!(!diagnostics.0.is_empty(), "a refusal says why");
                diagnostics.0.iter().for_each(check_place);
                // Each message, not all texts around them.
                for d in diagnostics.0.iter().take(20) {
                    assert!(!d.to_string().is_empty(), "problems say something");
                }
            }
        }
    });
});

fn check_place(d: &sinew::graph::Diagnostic) {
    assert!(
        // Also rules out places inside a character.
        d.text.get(d.span.clone()).is_some(),
        "{} is at {:?} of {} bytes",
        d.code,
        d.span,
        d.text.len()
    );
}

/// Sources come before what reads them, ports exist, parameters have the declared number.
fn check_plan(plan: &Plan) {
    use sinew::graph::Source;
    let check = |source: Source, before: usize| match source {
        Source::Input(i) => assert!(i < plan.inputs().len(), "inputs exist"),
        Source::Node { node, port } => {
            assert!(node < before, "nodes come after what they read");
            let ports = plan.nodes()[node].desc.outputs;
            assert!(port < ports.len(), "ports exist");
        }
    };
    for (index, node) in plan.nodes().iter().enumerate() {
        assert_eq!(node.inputs.len(), node.desc.inputs.len(), "one a port");
        assert_eq!(
            node.parameters.len(),
            node.desc.parameters.len(),
            "one a parameter"
        );
        for source in node.inputs.iter().flatten() {
            check(*source, index);
        }
        for source in &node.parameters {
            if let ParameterSource::Parameter(p) = source {
                assert!(*p < plan.parameters().len(), "parameters exist");
            }
        }
    }
    assert!(!plan.outputs().is_empty(), "a graph has outputs");
    for output in plan.outputs() {
        check(output.source, plan.nodes().len());
    }
}

/// What a document may rightly ask for in megabytes or seconds is left out: it costs the fuzzer time and finds nothing.
fn is_heavy(plan: &Plan) -> bool {
    let values: usize = plan.inputs().iter().map(|i| i.count).sum();
    let large = |v: &ParameterValue| match v {
        ParameterValue::Int(n) => n.unsigned_abs() > 64,
        ParameterValue::Int3(n) => n.iter().any(|n| n.unsigned_abs() > 8),
        _ => false,
    };
    let large_source = |s: &ParameterSource| match s {
        ParameterSource::Constant(v) => large(v),
        ParameterSource::Keyed(k) => k.values.iter().any(large),
        ParameterSource::Linked(_) | ParameterSource::FrameTime => false,
        ParameterSource::Parameter(p) => {
            let p = &plan.parameters()[*p];
            large(&p.default) || p.keyed.iter().flat_map(|k| &k.values).any(large)
        }
    };
    // Defaults of the nodes are no choice of the document.
    let asks = |node: &sinew::graph::PlanNode| {
        node.parameters
            .iter()
            .zip(node.desc.parameters)
            .any(|(s, d)| {
                let is_default =
                    matches!(s, ParameterSource::Constant(v) if *v == d.default_value());
                !is_default
                    && matches!(d.ty, ParameterType::Int { .. } | ParameterType::Int3 { .. })
                    && large_source(s)
            })
    };
    values > 1 << 16 || plan.nodes().len() > 64 || plan.nodes().iter().any(asks)
}

fn run(plan: Plan) {
    if is_heavy(&plan) {
        return;
    }
    let plan = Arc::new(plan);
    let inputs: Vec<InputBinding> = plan
        .inputs()
        .iter()
        .map(|i| match i.ty {
            InputType::Mesh | InputType::Strands => InputBinding::Mesh(CHARACTER.mesh.clone()),
            InputType::Pose => InputBinding::Pose(CHARACTER.asset.rig.clone()),
            InputType::Values | InputType::VertexAnimation => InputBinding::Values,
        })
        .collect();
    let mut instance = match Instance::bind(plan.clone(), &inputs, &[], Par::Seq) {
        Ok(instance) => instance,
        Err(error) => {
            assert!(!error.to_string().is_empty(), "refusals say something");
            return;
        }
    };
    for time_secs in [0.0, 0.7] {
        let frame = Frame::at(time_secs).dt(0.7).pose(&CHARACTER.pose);
        match instance.update(&frame, Par::Seq) {
            Ok(()) => {}
            Err(error @ UpdateError::Node { .. }) => {
                panic!("a node misreads its document: {error}")
            }
            // The frame has no values for inputs of that kind.
            Err(error) => assert!(!error.to_string().is_empty(), "refusals say something"),
        }
    }
    for output in plan.outputs() {
        if let Some(mesh) = instance.mesh_output(&output.name) {
            let n = CHARACTER.mesh.vertex_count();
            assert_eq!(mesh.positions.len(), n, "one position a vertex");
        }
    }
    let cache = instance.graph().setup_cache();
    let options = BindOptions::from(Par::Seq).cache(cache.as_slice());
    if let Err(error) = BoundGraph::bind(plan, &inputs, &[], options) {
        panic!("a setup cache that was just made is refused: {error}");
    }
}

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random::new(seed);
    let documents: Option<Vec<&str>> = std::str::from_utf8(&data[..size])
        .ok()
        .map(|t| t.split(SEPARATOR).collect());
    let new = match (random.below(4), documents) {
        (0, _) | (_, None) => return fuzzer_mutate(data, size, max_size),
        (_, Some(documents)) => {
            let mut documents: Vec<String> = documents.into_iter().map(str::to_owned).collect();
            let chosen = random.below(documents.len());
            let Ok(mut root) = serde_json::from_str(&documents[chosen]) else {
                return fuzzer_mutate(data, size, max_size);
            };
            for _ in 0..=random.below(3) {
                mutate::json(&mut root, &mut random);
            }
            documents[chosen] = root.to_string();
            if random.below(50) == 0 {
                documents.push(documents[random.below(documents.len())].clone());
            }
            documents.join(SEPARATOR).into_bytes()
        }
    };
    mutate::store(data, max_size, &new).unwrap_or(size)
});
