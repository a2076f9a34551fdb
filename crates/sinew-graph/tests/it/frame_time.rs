//! Parameters that are the time of the frame unless the document says something else.

use sinew_deform::{
    BindContext, BoundNode, DefaultValue, MeshEffect, NodeDesc, NodeDocs, NodeError, NodeKind, Par,
    ParameterDesc, ParameterType, Phase, PortDesc, PortType, UpdateContext,
};
use sinew_graph::{
    Frame, InputBinding, Instance, NoNesting, ParameterSource, Plan, compile_with_nodes,
};
use sinew_testkit::meshes;
use std::sync::Arc;

const INPUTS: &[PortDesc] = &[PortDesc::input("mesh", PortType::Mesh, "A mesh.")];
const OUTPUTS: &[PortDesc] = &[PortDesc::mesh_output(MeshEffect::MOVES_POINTS, "A mesh.")];

const fn node(name: &'static str, parameters: &'static [ParameterDesc]) -> NodeDesc {
    NodeDesc {
        name,
        kind: NodeKind::Deformer,
        summary: "Moves along x, one metre a second.",
        docs: NodeDocs::NONE,
        rows: &[],
        inputs: INPUTS,
        outputs: OUTPUTS,
        parameters,
        bind,
        restore: None,
    }
}

static DRIFT: NodeDesc = node(
    "drift",
    &[ParameterDesc::frame_time("time", "Where it is then.")],
);

fn bind(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    Ok(Box::new(Drift {
        time_at_setup: context.parameters.float("time"),
        is_fixed: context.is_fixed("time"),
    }))
}

#[derive(Debug)]
struct Drift {
    time_at_setup: f64,
    is_fixed: bool,
}

impl BoundNode for Drift {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let time = context.parameters.float("time");
        assert!(!self.is_fixed || time == self.time_at_setup, "fixed");
        let input = context.inputs.mesh("mesh").positions;
        if let Some(out) = context.outputs.mesh("mesh").positions {
            for (out, p) in out.iter_mut().zip(input) {
                *out = [p[0] + time as f32, p[1], p[2]];
            }
        }
    }
}

/// The document with `time` of the node as given.
fn plan(time: &str) -> Plan {
    let text = format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}}},
 "parameters": {{"t": {{"type": "float", "default": 7}}}},
 "nodes": {{"before": {{"node": "transform", "mesh": "body"}},
  "drift": {{"node": "drift", "mesh": "before"{time}}},
  "after": {{"node": "transform", "mesh": "drift"}}}},
 "outputs": {{"body": "after"}}}}"#
    );
    let kinds: Vec<&'static NodeDesc> = [&DRIFT]
        .into_iter()
        .chain(sinew_deform::REGISTRY.iter().copied())
        .collect();
    compile_with_nodes("g.json", &text, &NoNesting, &kinds).unwrap_or_else(|e| panic!("{e}"))
}

/// How far the mesh is along x at these times.
fn places(plan: Plan, times: [f64; 3]) -> [f32; 3] {
    let mesh = meshes::cube();
    let start = mesh.positions[0][0];
    let inputs = [InputBinding::Mesh(Arc::new(mesh))];
    let mut i = Instance::bind(Arc::new(plan), &inputs, &[], Par::Seq).expect("binds");
    times.map(|time_secs| {
        let frame = Frame::at(time_secs);
        i.update(&frame, Par::Seq).expect("fits");
        i.mesh_output("body").expect("declared").positions[0][0] - start
    })
}

const TIMES: [f64; 3] = [1.0, 4.0, 2.5];

#[test]
fn it_is_the_time_where_the_document_is_silent() {
    let silent = plan("");
    let phases: Vec<bool> = silent.nodes().iter().map(|n| n.runs_in_setup).collect();
    assert_eq!(phases, [true, false, false], "and so is all behind it");
    assert_eq!(
        silent.nodes()[1].parameters[0],
        ParameterSource::FrameTime,
        "the plan says so"
    );
    let said = silent.explain();
    assert!(said.contains("time = time of the frame"), "{said}");
    assert_eq!(places(silent, TIMES), [1.0, 4.0, 2.5]);
}

#[test]
fn it_is_what_the_document_gives() {
    let constant = plan(r#", "time": 3"#);
    assert!(constant.nodes().iter().all(|n| n.runs_in_setup));
    assert_eq!(places(constant, TIMES), [3.0; 3]);
    assert_eq!(places(plan(r#", "time": "$t""#), TIMES), [7.0; 3]);
    let keyed = r#", "time": {"keys": [[0, 0], [2, 1]]}"#;
    assert_eq!(places(plan(keyed), TIMES), [0.5, 1.0, 1.0]);
}

#[test]
fn wrong_descriptions_are_told() {
    const IN_SETUP: ParameterDesc = ParameterDesc::frame_time("time", "").in_setup();
    const NO_NUMBER: ParameterDesc = ParameterDesc {
        ty: ParameterType::Text,
        phase: Phase::Update,
        ..IN_SETUP
    };
    const FIELDS: &[ParameterDesc] = &[ParameterDesc::frame_time("time", "")];
    static NODES: [NodeDesc; 3] = [
        node("drift", &[IN_SETUP]),
        node("drift", &[NO_NUMBER]),
        node("drift", &[ParameterDesc::records("list", FIELDS, "")]),
    ];
    let expected = [
        "the parameter 'time' defaults to the time of the frame, but is read in setup",
        "'time' defaults to the time of the frame, but is not a float",
        "the field 'time' of 'list' defaults to the time of the frame, but lists are read in setup",
    ];
    let text = r#"{"sinew": "1.0", "stack": ["drift"]}"#;
    for (desc, expected) in NODES.iter().zip(expected) {
        let error = compile_with_nodes("g.json", text, &NoNesting, &[desc]).expect_err(expected);
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert_eq!(IN_SETUP.default, DefaultValue::FrameTime);
}
