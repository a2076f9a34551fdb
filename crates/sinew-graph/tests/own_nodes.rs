//! Nodes that are not in the registry.

use sinew_deform::{
    BindContext, BoundNode, MeshEffect, NodeDesc, NodeError, NodeKind, Par, ParameterDesc,
    PortDesc, PortType, UpdateContext,
};
use sinew_geom::Mesh;
use sinew_graph::{BindError, Frame, InputBinding, Instance, NoNesting, compile_with_nodes};
use sinew_testkit::meshes;
use std::sync::Arc;

fn bind(text: &str, mesh: Mesh, nodes: &[&'static NodeDesc]) -> Result<Instance, BindError> {
    let all: Vec<&'static NodeDesc> = nodes
        .iter()
        .chain(sinew_deform::REGISTRY)
        .copied()
        .collect();
    let plan =
        compile_with_nodes("g.json", text, &NoNesting, &all).unwrap_or_else(|e| panic!("{e}"));
    let inputs: Vec<InputBinding> = plan
        .inputs()
        .iter()
        .map(|_| InputBinding::Mesh(Arc::new(mesh.clone())))
        .collect();
    Instance::bind(Arc::new(plan), &inputs, &[], Par::Seq)
}

const INPUTS: &str = r#""sinew": "1.0", "inputs": {"body": {"type": "mesh"}}, "parameters": {"w": {"type": "float", "default": 1}}"#;

/// A node that does not do what it declares: each word of `mode` is another slip.
static SLIP: NodeDesc = NodeDesc {
    name: "slip",
    kind: NodeKind::Deformer,
    summary: "Reads what it does not declare.",
    page: "",
    rows: &[],
    inputs: &[PortDesc::input("mesh", PortType::Mesh, "A mesh.")],
    outputs: &[PortDesc::mesh_output(MeshEffect::MOVES_FRAMES, "A mesh.")],
    parameters: &[
        ParameterDesc::float("mode", 0.0, 0.0, 9.0, "Which slip."),
        ParameterDesc::bool("in_bind", false, "When."),
    ],
    bind: bind_slip,
    restore: None,
};

fn bind_slip(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    if context.parameters.bool("in_bind") && !context.is_linked("mesch") {
        context.mesh("mesch")?;
    }
    Ok(Box::new(Slip))
}

#[derive(Debug)]
struct Slip;

impl BoundNode for Slip {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        match context.parameters.float("mode") as u32 {
            1 => _ = context.parameters.float("wieght"),
            2 => _ = context.parameters.int("mode"),
            3 => _ = context.inputs.mesh("mseh"),
            4 => _ = context.inputs.pose("mesh"),
            5 => _ = context.outputs.mesh("mehs"),
            _ => {}
        }
    }
}

#[test]
fn misspelt_names_in_nodes_are_errors_in_every_build() {
    let text = |mode: u32, w: &str| {
        format!(
            r#"{{{INPUTS}, "nodes": {{"s": {{"node": "slip", "mesh": "body", "mode": {mode}}}, "t": {{"node": "transform", "mesh": "s", "weight": {w}}}}}, "outputs": {{"body": "t"}}}}"#
        )
    };
    // Constant: the node runs in setup.
    let expected = [
        "the parameter 'wieght' as float",
        "the parameter 'mode' as int",
        "the input 'mseh' as mesh",
        "the input 'mesh' as pose",
        "the output 'mehs' as mesh",
    ];
    for (mode, what) in (1..).zip(expected) {
        let error = bind(&text(mode, "1"), meshes::cube(), &[&SLIP]).expect_err("a slip");
        assert_eq!(
            error.to_string(),
            format!(
                "node 's' (slip): this is a bug in the node: it reads {what}, but does not declare it so"
            )
        );
    }
    // Driven: it runs each frame, and each frame says so.
    let driven = text(0, "1").replace("\"mode\": 0", "\"mode\": \"$w\"");
    let mut i = bind(&driven, meshes::cube(), &[&SLIP]).expect("binds");
    for _ in 0..2 {
        let error = i.update(&Frame::default(), Par::Seq).expect_err("a slip");
        assert!(
            error
                .to_string()
                .starts_with("node 's' (slip): this is a bug"),
            "{error}"
        );
    }
    // In setup the slip is told, not the nonsense that follows from it.
    let early = text(0, "1").replace("\"mode\": 0", "\"in_bind\": true");
    let error = bind(&early, meshes::cube(), &[&SLIP]).expect_err("a slip");
    assert!(
        error.to_string().contains("the input 'mesch' as a port"),
        "{error}"
    );
}
