//! Whoever binds hears how far it is, may stop it, and says on how many threads nodes work.

use sinew_deform::{
    BindContext, BoundNode, MeshEffect, NodeDesc, NodeDocs, NodeError, NodeKind, Par,
    ParameterDesc, PortDesc, PortType, UpdateContext,
};
use sinew_graph::{
    BindError, BindOptions, BoundGraph, InputBinding, NoNesting, Plan, SetupProgress, SetupWatch,
    compile_with_nodes,
};
use sinew_testkit::meshes;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Setup in steps.
static SLOW: NodeDesc = NodeDesc {
    name: "slow",
    kind: NodeKind::Deformer,
    summary: "Takes its time in setup.",
    docs: NodeDocs::NONE,
    rows: &[],
    inputs: &[PortDesc::input("mesh", PortType::Mesh, "A mesh.")],
    outputs: &[PortDesc::mesh_output(MeshEffect::MOVES_FRAMES, "A mesh.")],
    parameters: &[
        ParameterDesc::int("steps", 0, 0, 1000, "How many steps."),
        ParameterDesc::bool(
            "threads",
            false,
            "Whether threads report, each in its own order.",
        ),
        ParameterDesc::bool("deaf", false, "Whether it goes on when it is told to stop."),
        ParameterDesc::bool("sulks", false, "Whether it fails in its own words then."),
        ParameterDesc::float("w", 0.0, 0.0, 1.0, "Anything."),
    ],
    bind: bind_slow,
    restore: None,
};

fn bind_slow(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let steps = context.parameters.int("steps") as usize;
    let watch = context.watch;
    if context.parameters.bool("threads") {
        assert_eq!(context.par, Par::Rayon, "the test binds on threads");
        std::thread::scope(|scope| {
            for first in 0..4 {
                let order = (first..steps).step_by(4).rev();
                scope.spawn(move || order.for_each(|k| _ = watch.step(k as f64 / steps as f64)));
            }
        });
        return Ok(Box::new(Still));
    }
    for k in 0..steps {
        match watch.step(k as f64 / steps as f64) {
            Err(_) if context.parameters.bool("deaf") => {}
            Err(_) if context.parameters.bool("sulks") => {
                return Err(NodeError::Bind("it got none of it".into()));
            }
            other => other?,
        }
    }
    Ok(Box::new(Still))
}

#[derive(Debug)]
struct Still;

impl BoundNode for Still {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        if let Some(out) = context.outputs.mesh("mesh").positions {
            out.copy_from_slice(context.inputs.mesh("mesh").positions);
        }
    }
}

/// `a` and `b` run in setup, `c` in each frame.
fn plan(a: &str, b: &str, c: &str) -> Arc<Plan> {
    let text = format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}}}, "parameters": {{"w": {{"type": "float", "default": 1}}}},
 "nodes": {{"a": {{"node": "slow", "mesh": "body"{a}}}, "b": {{"node": "slow", "mesh": "a"{b}}}, "c": {{"node": "slow", "mesh": "b", "w": "$w"{c}}}}},
 "outputs": {{"body": "c"}}}}"#
    );
    let plan = compile_with_nodes("g.json", &text, &NoNesting, &[&SLOW]);
    Arc::new(plan.unwrap_or_else(|e| panic!("{e}")))
}

type Heard = Vec<(String, f64)>;

/// Binds; stops when it was asked `stop_at` times.
fn bind(plan: &Arc<Plan>, par: Par, stop_at: usize) -> (Result<BoundGraph, BindError>, Heard) {
    let (heard, asked) = (Mutex::new(Heard::new()), AtomicUsize::new(0));
    let report = |p: SetupProgress<'_>| {
        let mut heard = heard.lock().expect("no panic");
        heard.push((p.node.to_owned(), p.done));
    };
    let is_stopped = || asked.fetch_add(1, Ordering::Relaxed) >= stop_at;
    let watch = SetupWatch::new(&report, &is_stopped);
    let inputs = [InputBinding::Mesh(Arc::new(meshes::cube()))];
    let options = BindOptions::from(par).watch(watch);
    let bound = BoundGraph::bind(plan.clone(), &inputs, &[], options);
    (bound, heard.into_inner().expect("no panic"))
}

#[test]
fn progress_rises_over_all_nodes_and_ends_at_one() {
    let plan = plan(r#", "steps": 4"#, "", r#", "steps": 2"#);
    let (bound, heard) = bind(&plan, Par::Seq, usize::MAX);
    bound.expect("binds");
    // Three nodes to bind and two to run.
    let fifths = |name: &str, n: f64| (name.to_owned(), n / 5.0);
    let expected = [
        fifths("a", 0.0),
        fifths("a", 0.0),
        fifths("a", 0.25),
        fifths("a", 0.5),
        fifths("a", 0.75),
        fifths("b", 1.0),
        fifths("c", 2.0),
        fifths("c", 2.0),
        fifths("c", 2.5),
        fifths("a", 3.0),
        fifths("b", 4.0),
        fifths("c", 5.0),
    ];
    assert_eq!(heard, expected);
}

#[test]
fn reports_of_threads_never_fall() {
    let plan = plan(r#", "steps": 1000, "threads": true"#, "", "");
    let (bound, heard) = bind(&plan, Par::Rayon, usize::MAX);
    bound.expect("binds");
    assert!(heard.windows(2).all(|w| w[0].1 <= w[1].1), "{heard:?}");
    assert_eq!(heard.last().map(|h| h.1), Some(1.0));
}

#[test]
fn a_stop_is_heard_wherever_it_comes() {
    for manner in ["", r#", "sulks": true"#] {
        let slow = format!(r#", "steps": 3{manner}"#);
        let plan = plan(&slow, &slow, &slow);
        // Four times a node to bind, once for each of those that run.
        let asked = [
            "a", "a", "a", "a", "b", "b", "b", "b", "c", "c", "c", "c", "a", "b",
        ];
        for (at, expected) in asked.into_iter().enumerate() {
            let (bound, heard) = bind(&plan, Par::Seq, at);
            let error = bound.expect_err("stopped");
            assert_eq!(
                error.to_string(),
                format!("setup was stopped at node '{expected}'")
            );
            assert!(matches!(&error, BindError::Stopped { node } if node == expected));
            assert!(
                heard.len() == at && heard.iter().all(|h| h.1 < 1.0),
                "{heard:?}"
            );
        }
        assert!(bind(&plan, Par::Seq, asked.len()).0.is_ok());
    }
}

#[test]
fn a_node_that_does_not_listen_is_followed_by_none() {
    let plan = plan(r#", "steps": 9, "deaf": true"#, "", "");
    let error = bind(&plan, Par::Seq, 3).0.expect_err("stopped");
    assert_eq!(error.to_string(), "setup was stopped at node 'b'");
}
