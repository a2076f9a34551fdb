//! Nodes that are not in the registry.

use sinew_deform::{
    AttributeRead, BindContext, BoundNode, InputValue, MeshEffect, MeshReads, NodeDesc, NodeDocs,
    NodeError, NodeKind, Par, ParameterDesc, PortDesc, PortType, REGISTRY, UpdateContext,
};
use sinew_geom::{Affine, Influences, Joint, LocalTransform, Mesh, Node, Rig, Trs};
use sinew_graph::{
    BindError, BoundGraph, DataRef, Frame, HostSteps, InputBinding, Instance, NoNesting,
    OutputData, ParameterState, compile_with_nodes,
};
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
    docs: NodeDocs::NONE,
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
                "g.json:1:120: node 's' (slip): this is a bug in the node: it reads {what}, but does not declare it that way"
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

/// Pushes points along the normals of a second mesh. Each word is one variant of what it declares.
const fn push(name: &'static str, reads: MeshReads) -> NodeDesc {
    NodeDesc {
        name,
        kind: NodeKind::Deformer,
        summary: "Pushes points along normals.",
        docs: NodeDocs::NONE,
        rows: &[],
        inputs: PUSH_INPUTS[match reads.normals {
            AttributeRead::Always => 0,
            AttributeRead::WithOutput => 1,
            AttributeRead::Never => match reads.tangents {
                AttributeRead::Always => 2,
                _ => 3,
            },
        }],
        outputs: PUSHED,
        parameters: &[],
        bind: |_| Ok(Box::new(Push)),
        restore: None,
    }
}

const MESH: PortDesc = PortDesc::input("mesh", PortType::Mesh, "Mesh to push.");
const ALONG: PortDesc = PortDesc::input("along", PortType::Mesh, "Mesh with the normals.");
const TANGENTS: MeshReads = MeshReads {
    tangents: AttributeRead::Always,
    ..MeshReads::POSITIONS
};
static PUSH_INPUTS: [&[PortDesc]; 4] = [
    &[MESH, ALONG.reading(MeshReads::NORMALS)],
    &[MESH, ALONG.reading(MeshReads::MIXED)],
    &[MESH, ALONG.reading(TANGENTS)],
    &[MESH, ALONG],
];
const PUSHED: &[PortDesc] = &[PortDesc::mesh_output(
    MeshEffect::MOVES_POINTS,
    "The pushed mesh.",
)];
static PUSH: NodeDesc = push("push", MeshReads::NORMALS);
static PUSH_TANGENTS: NodeDesc = push("push_tangents", TANGENTS);
static PUSH_UNDECLARED: NodeDesc = push("push_undeclared", MeshReads::POSITIONS);
const PUSHES: &[&NodeDesc] = &[&PUSH, &PUSH_TANGENTS, &PUSH_UNDECLARED];

#[derive(Debug)]
struct Push;

impl BoundNode for Push {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let input = context.inputs.mesh("mesh").positions;
        let along = context.inputs.mesh("along");
        let Some(out) = context.outputs.mesh("mesh").positions else {
            return;
        };
        for (v, (out, p)) in out.iter_mut().zip(input).enumerate() {
            let n = along.normals.map_or([0.0; 3], |n| n[v]);
            let t = along.tangents.map_or([0.0; 4], |t| t[v]);
            *out = std::array::from_fn(|c| p[c] + n[c] + t[c]);
        }
    }
}

fn positions(nodes: &str, mesh: Mesh) -> Vec<[f32; 3]> {
    let text = format!(r#"{{{INPUTS}, "nodes": {{{nodes}}}, "outputs": {{"body": "end"}}}}"#);
    let mut i = bind(&text, mesh, PUSHES).unwrap_or_else(|e| panic!("{e}"));
    i.update(&Frame::default(), Par::Seq).expect("fits");
    i.mesh_output("body").expect("body").positions.to_vec()
}

#[test]
fn a_node_reads_normals_that_fit_the_positions() {
    // Smoothing moves points only; with $w it runs each frame, with 1 in setup.
    for w in ["\"$w\"", "1"] {
        let smooth = format!(
            r#""soft": {{"node": "smooth", "mesh": "body", "iterations": 3, "pin_border": false, "blend": {w}}}"#
        );
        let implicit = positions(
            &format!(r#"{smooth}, "end": {{"node": "push", "mesh": "soft", "along": "soft"}}"#),
            meshes::cube(),
        );
        let explicit = positions(
            &format!(
                r#"{smooth}, "t": {{"node": "tangent_frames", "mesh": "soft"}}, "end": {{"node": "push", "mesh": "t", "along": "t"}}"#
            ),
            meshes::cube(),
        );
        assert_eq!(implicit, explicit, "{w}");
        let undeclared = positions(
            &format!(
                r#"{smooth}, "t": {{"node": "tangent_frames", "mesh": "soft"}}, "end": {{"node": "push_undeclared", "mesh": "t", "along": "t"}}"#
            ),
            meshes::cube(),
        );
        let soft = positions(&smooth.replace("soft", "end"), meshes::cube());
        assert_eq!(undeclared, soft, "what is not declared is not there");
        let moved = implicit.iter().zip(&soft).all(|(a, b)| {
            let d: f32 = (0..3).map(|c| (a[c] - b[c]).powi(2)).sum();
            (d - 1.0).abs() < 1e-5
        });
        assert!(moved, "each point moved by a unit normal");
    }
}

#[test]
fn normals_that_are_read_are_made_or_missed_with_a_place() {
    let graph = r#""end": {"node": "push", "mesh": "body", "along": "body"}"#;
    let mut bare = meshes::grid(2, 2);
    bare.normals = None;
    let plane = bare.positions[0];
    let found = positions(graph, bare);
    let moved: f32 = (0..3).map(|c| (found[0][c] - plane[c]).abs()).sum();
    assert!(
        (moved - 1.0).abs() < 1e-6,
        "pushed off its plane by 1: {moved}"
    );
    let points = Mesh::new(
        "points",
        sinew_geom::Topology::new(2, Vec::new()).expect("valid"),
        vec![[0.0; 3]; 2],
    );
    let text = |kind: &str| {
        format!(
            "{{{INPUTS},\n \"nodes\": {{\"p\": {{\"node\": \"{kind}\", \"mesh\": \"body\", \"along\": \"body\"}}}},\n \"outputs\": {{\"body\": \"p\"}}}}"
        )
    };
    let error =
        |kind: &str, mesh: Mesh| bind(&text(kind), mesh, PUSHES).expect_err(kind).to_string();
    assert_eq!(
        error("push", points),
        "g.json:2:12: node 'p' (push): input 'along': the node reads normals, but the mesh 'points' has none and no triangles to make them from"
    );
    let mut cube = meshes::cube();
    (cube.uvs, cube.tangents) = (Vec::new(), None);
    assert_eq!(
        error("push_tangents", cube),
        "g.json:2:12: node 'p' (push_tangents): input 'along': the node reads tangents, but the mesh 'cube' has none and no texture coordinates to make them from"
    );
}

#[test]
fn normals_stay_until_the_last_node_has_read_them() {
    let turn = |name: &str, mesh: &str| {
        format!(
            r#""{name}": {{"node": "transform", "mesh": "{mesh}", "weight": "$w", "transform": {{"rotation_degrees": [0, 0, 90]}}}}"#
        )
    };
    let chain = [
        turn("a", "body"),
        turn("b", "a"),
        turn("c", "b"),
        turn("d", "c"),
    ]
    .join(", ");
    let nodes = format!(r#"{chain}, "end": {{"node": "push", "mesh": "d", "along": "a"}}"#);
    let cube = meshes::cube();
    let found = positions(&nodes, cube.clone());
    let normals = cube.normals.as_ref().expect("normals");
    for ((p, q), n) in found.iter().zip(&cube.positions).zip(normals) {
        // Four quarter turns, then along the normal after one.
        let expected = [q[0] - n[1], q[1] + n[0], q[2] + n[2]];
        for c in 0..3 {
            assert!((p[c] - expected[c]).abs() < 1e-5, "{p:?} {expected:?}");
        }
    }
}

#[test]
fn tangents_without_texture_coordinates_are_kept() {
    let mut mesh = meshes::cube();
    mesh.uvs.clear();
    let normals = mesh.normals.clone().expect("normals");
    // Authored tangents: any direction in the face.
    let authored: Vec<[f32; 4]> = normals.iter().map(|n| [n[1], n[2], n[0], -1.0]).collect();
    mesh.tangents = Some(authored.clone());
    for (node, w) in ["project", "none"].into_iter().zip(["\"$w\"", "1"]) {
        let text = format!(
            r#"{{{INPUTS}, "nodes": {{"t": {{"node": "transform", "mesh": "body", "weight": {w}}},
             "f": {{"node": "tangent_frames", "mesh": "t", "tangents": "{node}"}}}}, "outputs": {{"body": "f"}}}}"#
        );
        let mut i = bind(&text, mesh.clone(), &[]).expect("binds");
        i.update(&Frame::default(), Par::Seq).expect("fits");
        let found = i.mesh_output("body").expect("body").tangents.expect(node);
        if node == "project" {
            assert!(
                found
                    .iter()
                    .zip(&authored)
                    .all(|(a, b)| (0..4).all(|c| (a[c] - b[c]).abs() < 1e-5)),
                "at rest they are the authored ones"
            );
        }
        for (t, n) in found.iter().zip(&normals) {
            let dot: f32 = (0..3).map(|c| t[c] * n[c]).sum();
            assert!(dot.abs() < 1e-5, "{node}: {t:?} on {n:?}");
        }
    }
    // Behind a node that only moves points, they are carried along instead of lost.
    let text = format!(
        r#"{{{INPUTS}, "nodes": {{"s": {{"node": "smooth", "mesh": "body", "iterations": 0, "blend": "$w"}}}}, "outputs": {{"body": "s"}}}}"#
    );
    let mut i = bind(&text, mesh, &[]).expect("binds");
    i.update(&Frame::default(), Par::Seq).expect("fits");
    let found = i.mesh_output("body").expect("body").tangents.expect("kept");
    assert!(
        found
            .iter()
            .zip(&authored)
            .all(|(a, b)| (0..4).all(|c| (a[c] - b[c]).abs() < 1e-5)),
        "nothing moved: {:?} {:?}",
        found[0],
        authored[0]
    );
}

/// Three numbers.
static THREE: NodeDesc = NodeDesc {
    name: "three",
    kind: NodeKind::Driver,
    summary: "Three numbers.",
    docs: NodeDocs::NONE,
    rows: &[],
    inputs: &[],
    outputs: &[PortDesc::output("values", PortType::Values, "1, 2, 3.")],
    parameters: &[],
    bind: |_| Ok(Box::new(Three)),
    restore: None,
};

#[derive(Debug)]
struct Three;

impl BoundNode for Three {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn output_len(&self, _port: &str) -> usize {
        3
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        if let Some(out) = context.outputs.floats("values") {
            out.copy_from_slice(&[1.0, 2.0, 3.0]);
        }
    }
}

#[test]
fn values_of_a_node_must_be_as_many_as_a_nested_graph_declares() {
    let text = |count: u8| {
        format!(
            "{{{INPUTS},\n \"nodes\": {{\"n\": {{\"node\": \"three\"}},\n  \"g\": {{\"node\": \"graph\", \"v\": \"n\", \"graph\": {{\"inputs\": {{\"v\": {{\"type\": \"values\", \"count\": {count}}}}}, \"outputs\": {{\"v\": \"v\"}}}}}}}},\n \"outputs\": {{\"v\": \"g\"}}}}"
        )
    };
    let mut i = bind(&text(3), meshes::cube(), &[&THREE]).expect("three");
    i.update(&Frame::default(), Par::Seq).expect("fits");
    assert_eq!(i.float_output("v"), Some(&[1.0, 2.0, 3.0][..]));
    let error = bind(&text(2), meshes::cube(), &[&THREE]).expect_err("two");
    assert_eq!(
        error.to_string(),
        "g.json:3:31: input 'v' of 'g' takes 2 values, found 3"
    );
}

/// Goes halfway to the incoming pose: a pose as the output of a node.
static HALF: NodeDesc = NodeDesc {
    name: "half",
    kind: NodeKind::Driver,
    summary: "Halves how far the joints moved.",
    docs: NodeDocs::NONE,
    rows: &[],
    inputs: &[PortDesc::input("pose", PortType::Pose, "A pose.")],
    outputs: &[PortDesc::output("pose", PortType::Pose, "Half of it.")],
    parameters: &[],
    bind: |_| Ok(Box::new(Half)),
    restore: None,
};

#[derive(Debug)]
struct Half;

impl BoundNode for Half {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let (Some(pose), Some(out)) = (context.inputs.pose("pose"), context.outputs.pose("pose"))
        else {
            return;
        };
        out.clone_from(pose);
        for joint in &mut out.palette {
            joint.rows.iter_mut().for_each(|row| row[3] *= 0.5);
        }
    }
}

fn one_joint() -> Rig {
    let joint = Joint {
        node: 0,
        joint_from_bind: Affine::identity(),
    };
    Rig::new(
        vec![Node {
            name: "root".into(),
            parent: None,
            local: LocalTransform::Trs(Trs::default()),
            morph_weights: Vec::new(),
            morph_offset: 0,
        }],
        vec![joint],
    )
    .expect("valid")
}

#[test]
fn a_node_can_give_a_pose() {
    let text = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
     "nodes": {"half": {"node": "half", "pose": "pose"}, "quarter": {"node": "half", "pose": "half"},
               "skin": {"node": "skin", "mesh": "body", "pose": "quarter"}},
     "outputs": {"body": "skin", "quarter": "quarter", "pose": "pose"}}"#;
    let nodes: Vec<&'static NodeDesc> = [&HALF]
        .into_iter()
        .chain(REGISTRY.iter().copied())
        .collect();
    let plan = compile_with_nodes("g.json", text, &NoNesting, &nodes).expect("valid");
    let rig = one_joint();
    let mut mesh = meshes::cube();
    mesh.influences = Some(Influences::rigid(mesh.vertex_count(), 0));
    let rest = mesh.positions.clone();
    let mut pose = rig.rest_pose();
    let inputs = [
        InputBinding::Mesh(Arc::new(mesh)),
        InputBinding::Pose(Arc::new(rig)),
    ];
    let mut i = Instance::bind(Arc::new(plan), &inputs, &[], Par::Seq).expect("binds");
    pose.palette[0].rows[0][3] = 4.0;
    let frame = Frame::default().pose(&pose);
    i.update(&frame, Par::Seq).expect("fits");
    let moved = i.mesh_output("body").expect("body").positions[0][0] - rest[0][0];
    assert_eq!(moved, 1.0);
    let quarter = i.pose_output("quarter").expect("made by a node");
    assert_eq!(quarter.palette[0].rows[0][3], 1.0);
    assert!(i.pose_output("pose").is_none(), "the caller has it");
    assert!(i.pose_output("body").is_none(), "a mesh");
}

/// Beside a GPU the host runs drivers without kernels, and those alone.
#[test]
fn the_host_runs_drivers_for_a_device() {
    let text = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
     "nodes": {"half": {"node": "half", "pose": "pose"}, "three": {"node": "three"},
               "skin": {"node": "skin", "mesh": "body", "pose": "half"},
               "slip": {"node": "slip", "mesh": "skin"}},
     "outputs": {"body": "slip", "half": "half", "three": "three"}}"#;
    let nodes: Vec<&'static NodeDesc> = [&HALF, &THREE, &SLIP]
        .into_iter()
        .chain(REGISTRY.iter().copied())
        .collect();
    let plan = compile_with_nodes("g.json", text, &NoNesting, &nodes).expect("valid");
    let rig = one_joint();
    let mut mesh = meshes::cube();
    mesh.influences = Some(Influences::rigid(mesh.vertex_count(), 0));
    let mut pose = rig.rest_pose();
    let inputs = [
        InputBinding::Mesh(Arc::new(mesh)),
        InputBinding::Pose(Arc::new(rig)),
    ];
    let graph = BoundGraph::bind(Arc::new(plan), &inputs, &[], Par::Seq).expect("binds");
    let graph = Arc::new(graph);
    let program = graph.program();
    let all: Vec<(&str, bool)> = program
        .all_steps()
        .map(|s| (s.name.as_str(), s.runs_on_host()))
        .filter(|(name, _)| !name.starts_with("frames"))
        .collect();
    let expected = [
        ("three", true),
        ("half", true),
        ("skin", false),
        ("slip", false),
    ];
    assert_eq!(all, expected);
    let skin = program.all_steps().find(|s| s.name == "skin");
    let skin = skin.expect("it runs");

    pose.palette[0].rows[0][3] = 4.0;
    let frame = Frame::default().pose(&pose);
    let mut host = HostSteps::new(&graph);
    host.update(&frame, &ParameterState::new(&graph))
        .expect("fits");
    let ports = skin.desc.inputs.iter().map(|p| p.name);
    for (port, value) in ports.zip(&*host.inputs(skin, &frame)) {
        match (port, value) {
            ("pose", Some(InputValue::Pose(pose))) => assert_eq!(pose.palette[0].rows[0][3], 2.0),
            (port, value) => assert!(port != "pose" && value.is_none(), "{port}: {value:?}"),
        }
    }
    let OutputData::Floats(DataRef::Setup(three)) = program.outputs()[2] else {
        panic!("made in setup: {:?}", program.outputs()[2]);
    };
    let bytes = [1.0_f32, 2.0, 3.0].map(f32::to_ne_bytes).concat();
    assert_eq!(graph.host_setup_bytes(three), Some(bytes.as_slice()));
    let OutputData::Pose(half) = program.outputs()[1] else {
        panic!("a pose: {:?}", program.outputs()[1]);
    };
    assert!(program.is_on_host(half) && host.pose(half).is_some());
}

const NUMBER: &[ParameterDesc] = &[ParameterDesc::float("w", 0.5, 0.0, 1.0, "A number.")];

/// Descriptions that do not hold together.
const fn wrong(inputs: &'static [PortDesc], outputs: &'static [PortDesc]) -> NodeDesc {
    NodeDesc {
        name: "wrong",
        kind: NodeKind::Deformer,
        summary: "Wrong.",
        docs: NodeDocs::NONE,
        rows: &[],
        inputs,
        outputs,
        parameters: NUMBER,
        bind: |_| Ok(Box::new(Half)),
        restore: None,
    }
}

const MANY: [PortDesc; 17] = [PortDesc::output("x", PortType::Values, "One."); 17];
const NO_EFFECT: PortDesc = PortDesc::output("mesh", PortType::Mesh, "A mesh.");
const W: PortDesc = PortDesc::optional("w", PortType::Values, "Values.");
const BAKE: PortDesc = PortDesc::output("a", PortType::VertexAnimation, "A bake.");
static WRONGS: [NodeDesc; 7] = [
    wrong(&[], &MANY),
    wrong(&[MESH], &[NO_EFFECT]),
    wrong(
        &[PortDesc::optional("mesh", PortType::Mesh, "A mesh.")],
        PUSHED,
    ),
    wrong(&[W], &[PortDesc::output("v", PortType::Values, "Values.")]),
    wrong(&[], &[PortDesc::output("m", PortType::Mask, "A mask.")]),
    wrong(&[MESH], &[PortDesc::output("p", PortType::Pose, "A pose.")]),
    wrong(&[MESH], &[BAKE]),
];

#[test]
fn descriptions_that_do_not_hold_together_are_told_where_the_node_is_used() {
    let said = [
        "it has 17 outputs, but at most 16 are allowed",
        "its mesh output 'mesh' declares no effect",
        "its mesh output 'mesh' is derived from 'mesh', which is not a required mesh input",
        "two inputs or parameters are called 'w'",
        "its mask output 'm' needs a required mesh input",
        "its pose output 'p' needs a required pose input",
        "its output 'a' is a vertex animation, which only inputs of a graph can give",
    ];
    for (desc, said) in WRONGS.iter().zip(said) {
        let text = "{\"sinew\": \"1.0\",\n \"nodes\": {\"n\": {\"node\": \"wrong\"}}}";
        let error = compile_with_nodes("g.json", text, &NoNesting, &[desc]).expect_err(said);
        let first = error.to_string();
        assert!(
            first.contains(&format!(
                "the description of node kind 'wrong' is inconsistent: {said}"
            )),
            "{first}"
        );
        assert!(first.contains("g.json:2:26"), "{first}");
    }
}
