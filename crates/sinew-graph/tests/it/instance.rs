//! Binding and running plans.

use sinew_deform::{Par, ParameterValue};
use sinew_geom::{Affine, Joint, LocalTransform, Node, Pose, Rig, Trs};
use sinew_geom::{Mesh, MeshPart};
use sinew_graph::{
    BindError, Frame, InputBinding, Instance, NoNesting, ParameterError, UpdateError, compile,
};
use sinew_testkit::meshes;
use std::sync::Arc;

fn instance(text: &str, mesh: Mesh) -> Instance {
    let plan = compile("g.json", text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let inputs: Vec<InputBinding> = plan
        .inputs()
        .iter()
        .map(|i| match i.ty {
            sinew_graph::InputType::Mesh | sinew_graph::InputType::Strands => {
                InputBinding::Mesh(Arc::new(mesh.clone()))
            }
            sinew_graph::InputType::Pose => InputBinding::Pose(Arc::default()),
            sinew_graph::InputType::Values | sinew_graph::InputType::VertexAnimation => {
                InputBinding::Values
            }
        })
        .collect();
    Instance::bind(Arc::new(plan), &inputs, &[], Par::Seq).unwrap_or_else(|e| panic!("{e}"))
}

fn at(instance: &mut Instance, time_secs: f64) -> Vec<[f32; 3]> {
    instance
        .update(&Frame::at(time_secs), Par::Seq)
        .expect("fits");
    instance
        .mesh_output("body")
        .expect("body")
        .positions
        .to_vec()
}

/// A shift by 1 in x, whose weight is the parameter `w`, then a constant shift by 10 in y.
const SHIFTS: &str = r#"{"sinew": "1.0",
 "parameters": {"w": {"type": "float", "default": 1, "min": 0, "max": 1}},
 "stack": [{"node": "transform", "transform": {"translation": [0, 10, 0]}},
           {"node": "transform", "transform": {"translation": [1, 0, 0]}, "weight": "$w"}]}"#;

/// glTF: a mesh without normals is flat. Smooth normals are made where a node of the document makes them.
#[test]
fn flat_meshes_stay_without_normals() {
    let mut flat = meshes::cube();
    let part = |flat_shaded, triangles: std::ops::Range<usize>| MeshPart {
        name: "cube".into(),
        source_mesh: 0,
        material: None,
        vertices: 0..24,
        triangles,
        flat_shaded,
    };
    flat.normals = None;
    flat.parts = vec![part(true, 0..12)];
    let normals = |stack: &str, mesh: &Mesh| {
        let text = format!(r#"{{"sinew": "1.0", "stack": [{stack}]}}"#);
        let mut i = instance(&text, mesh.clone());
        at(&mut i, 0.0);
        i.mesh_output("body")
            .expect("body")
            .normals
            .map(<[_]>::to_vec)
    };
    let (moved, made) = (r#""transform""#, r#""tangent_frames""#);
    assert_eq!(normals(moved, &flat), None);
    for stack in [format!("{moved}, {made}"), format!("{made}, {moved}")] {
        let found = normals(&stack, &flat).expect("made");
        let [x, y, z] = found[0];
        assert!((x * x + y * y + z * z - 1.0).abs() < 1e-5, "{stack}");
    }
    flat.parts.clear();
    assert!(
        normals(moved, &flat).is_some(),
        "smooth, as OBJ without normals"
    );
    // One part of two: the other's normals go on, and readers of the output know which is flat.
    flat.normals = meshes::cube().normals;
    flat.parts = vec![part(true, 0..6), part(false, 6..12)];
    assert_eq!(normals(moved, &flat), flat.normals, "a shift turns nothing");
    for (stack, expected) in [(moved, [true, false]), (made, [false, false])] {
        let text = format!(r#"{{"sinew": "1.0", "stack": [{stack}]}}"#);
        let i = instance(&text, flat.clone());
        let program = i.graph().program();
        let shown = program.shown_mesh(&program.outputs()[0]).expect("a mesh");
        let found: Vec<bool> = shown.parts.iter().map(|p| p.flat_shaded).collect();
        assert_eq!(found, expected, "{stack}");
    }
}

#[test]
fn constant_nodes_run_in_setup_and_parameters_in_update() {
    let mut i = instance(SHIFTS, meshes::cube());
    let phases: Vec<bool> = i.plan().nodes().iter().map(|n| n.runs_in_setup).collect();
    assert_eq!(phases, [true, false]);
    let rest = meshes::cube().positions;
    let p = at(&mut i, 0.0);
    assert_eq!(p[3], [rest[3][0] + 1.0, rest[3][1] + 10.0, rest[3][2]]);
    i.set_parameter("w", &ParameterValue::Float(0.5))
        .expect("in range");
    assert_eq!(at(&mut i, 0.0)[3][0], rest[3][0] + 0.5);
    let out = i.mesh_output("body").expect("body");
    assert_eq!(
        out.previous_positions[3][0],
        rest[3][0] + 1.0,
        "the frame before is kept"
    );
    assert_eq!(
        out.normals.map(<[_]>::len),
        Some(24),
        "normals pass through"
    );
}

#[test]
fn previous_follows_frame_by_frame() {
    let mut i = instance(SHIFTS, meshes::cube());
    let rest = meshes::cube().positions[3][0];
    let mut before = None;
    for w in [1.0_f32, 0.5, 0.25, 0.0] {
        i.set_parameter("w", &ParameterValue::Float(f64::from(w)))
            .expect("in range");
        at(&mut i, 0.0);
        let out = i.mesh_output("body").expect("body");
        assert_eq!(out.positions[3][0], rest + w);
        assert_eq!(out.previous_positions[3][0], rest + before.unwrap_or(w));
        before = Some(w);
    }
}

#[test]
fn previous_equals_current_after_the_first_update() {
    let mut i = instance(SHIFTS, meshes::cube());
    let p = at(&mut i, 0.0);
    assert_eq!(i.mesh_output("body").expect("body").previous_positions, p);
}

#[test]
fn wrong_parameters_are_refused() {
    let mut i = instance(SHIFTS, meshes::cube());
    assert_eq!(
        i.set_parameter("v", &ParameterValue::Float(0.5)),
        Err(ParameterError::Unknown {
            name: "v".into(),
            known: vec!["w".into()],
            nodes: Box::default(),
        })
    );
    let error = i
        .set_parameter("w", &ParameterValue::Float(f64::NAN))
        .expect_err("NaN");
    assert_eq!(
        error.to_string(),
        "parameter 'w': found NaN, expected a number from 0 to 1"
    );
}

/// Who names a parameter of a node learns how to make it one of the graph.
#[test]
fn parameters_of_nodes_are_told_apart() {
    let text = r#"{"sinew": "1.0", "parameters": {"passes": {"type": "int", "default": 2}}, "stack": [
        {"node": "smooth", "iterations": "$passes", "step": 0.5}, {"node": "smooth", "name": "last"}]}"#;
    let mut i = instance(text, meshes::cube());
    let mut error = |name: &str| {
        let refused = i.set_parameter(name, &ParameterValue::Float(0.5));
        refused.expect_err("unknown").to_string()
    };
    let lacks = |name: &str| format!("the graph has no parameter '{name}'; known: passes");
    let declare = "only parameters of the graph can be set: write \"step\": \"$step\" at the node, and under \"parameters\" \"step\": {\"type\": \"float\", \"default\": ...}";
    assert_eq!(error("glow"), lacks("glow"));
    assert_eq!(error("other.step"), lacks("other.step"));
    assert_eq!(
        error("step"),
        format!(
            "{}; 'step' is a parameter of nodes 'smooth', 'last'; {declare}",
            lacks("step")
        )
    );
    assert_eq!(
        error("last.step"),
        format!(
            "{}; 'step' is a parameter of node 'last'; {declare}",
            lacks("last.step")
        )
    );
    assert_eq!(
        error("smooth.iterations"),
        format!(
            "{}; 'iterations' is a parameter of nodes 'smooth', 'last'; the graph sets it by 'passes': set 'passes' instead",
            lacks("smooth.iterations")
        )
    );
}

/// Two triangles whose common edge is open by a rounding error: nodes that weld name it, with the tolerance that closes it.
#[test]
fn seams_that_are_open_by_rounding_are_told_by_node() {
    let positions = vec![
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [1.0, 0.0, 3e-7],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 3e-7],
    ];
    let mesh = meshes::mesh_from("split", positions, vec![[0, 1, 2], [3, 4, 5]]);
    let told = |tolerance: &str| -> Vec<(String, String)> {
        let text = format!(
            r#"{{"sinew": "1.0", "stack": [{{"node": "smooth"{tolerance}}}, {{"node": "delta_mush", "name": "mush"{tolerance}}}]}}"#
        );
        let instance = instance(&text, mesh.clone());
        let warnings = instance.graph().warnings().iter();
        warnings
            .map(|w| (w.node.clone(), w.message.clone()))
            .collect()
    };
    let message = "2 pairs of border points are at most 3.0e-7 m apart, but not welded: the node treats each side as an open border. To close these seams, set \"weld_tolerance\": 4e-7";
    let expected = ["smooth", "mush"].map(|node| (node.to_owned(), message.to_owned()));
    assert_eq!(told(""), expected);
    assert_eq!(told(r#", "weld_tolerance": 4e-7"#), []);
}

#[test]
fn keyed_values_follow_time() {
    let text = r#"{"sinew": "1.0", "stack": [{"node": "transform", "transform": {"translation": [8, 0, 0]},
        "weight": {"keys": [[0, 0], [2, 1]]}}]}"#;
    let mut i = instance(text, meshes::cube());
    let rest = meshes::cube().positions[0][0];
    let x: Vec<f32> = [0.0, 0.5, 1.0, 5.0]
        .map(|t| at(&mut i, t)[0][0] - rest)
        .to_vec();
    assert_eq!(x, [0.0, 2.0, 4.0, 8.0]);
}

#[test]
fn buffers_are_shared_along_a_chain() {
    let step = r#"{"node": "transform", "weight": "$w"}"#;
    let chain = |n: usize| {
        format!(
            r#"{{"sinew": "1.0", "parameters": {{"w": {{"type": "float", "default": 1}}}}, "stack": [{}]}}"#,
            vec![step; n].join(", ")
        )
    };
    let (three, ten) = (
        instance(&chain(3), meshes::cube()),
        instance(&chain(10), meshes::cube()),
    );
    assert_eq!(
        three.memory_bytes(),
        ten.memory_bytes(),
        "ten steps need no more memory than three"
    );
}

#[test]
fn the_number_of_inputs_is_checked() {
    let plan = Arc::new(compile("g.json", SHIFTS, &NoNesting).expect("valid"));
    let error = Instance::bind(plan, &[], &[], Par::Seq).expect_err("no inputs");
    assert!(
        matches!(
            error,
            BindError::InputCount {
                found: 0,
                expected: 2
            }
        ),
        "{error}"
    );
}

#[test]
fn masks_must_fit_their_mesh() {
    let text = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "other": {"type": "mesh"}},
     "nodes": {"m": {"node": "mask", "mesh": "other"}, "t": {"node": "transform", "mesh": "body", "mask": "m"}},
     "outputs": {"body": "t"}}"#;
    let plan = Arc::new(compile("g.json", text, &NoNesting).expect("valid"));
    let mesh = |m: Mesh| InputBinding::Mesh(Arc::new(m));
    let error = Instance::bind(
        plan,
        &[mesh(meshes::cube()), mesh(meshes::grid(2, 2))],
        &[],
        Par::Seq,
    )
    .expect_err("9 values for 24 vertices");
    assert_eq!(
        error.to_string(),
        "g.json:2:56: node 't' (transform): input 'mask': the mask has 9 weights, but the mesh has 24 vertices; make the mask from the same mesh"
    );
}

/// A rig of that many joints, each on its own node, with that many morph weights on the first node.
fn rig(joints: usize, morph_weights: usize) -> Arc<Rig> {
    let mut nodes: Vec<Node> = (0..joints)
        .map(|i| Node {
            name: format!("joint {i}"),
            parent: None,
            local: LocalTransform::Trs(Trs::default()),
            morph_weights: Vec::new(),
            morph_offset: 0,
        })
        .collect();
    nodes[0].morph_weights = vec![0.0; morph_weights];
    let joint = |node| Joint {
        node,
        joint_from_bind: Affine::identity(),
    };
    Arc::new(Rig::new(nodes, (0..joints).map(joint).collect()).expect("valid"))
}

/// Skin, then morph by one value: both kinds of input that come with a frame.
fn posed() -> Instance {
    let text = r#"{"sinew": "1.0",
     "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "w": {"type": "values", "count": 1}},
     "nodes": {"skin": {"node": "skin", "mesh": "body", "pose": "pose"},
               "morph": {"node": "morph", "mesh": "skin", "weights": "w"}},
     "outputs": {"body": "morph"}}"#;
    let plan = Arc::new(compile("g.json", text, &NoNesting).expect("valid"));
    let mut mesh = meshes::cube();
    mesh.influences = Some(sinew_geom::Influences::rigid(mesh.vertex_count(), 1));
    mesh.morph_targets = vec![sinew_geom::MorphTarget {
        vertices: vec![0],
        positions: vec![[1.0, 0.0, 0.0]],
        ..Default::default()
    }];
    let inputs = [
        InputBinding::Mesh(Arc::new(mesh)),
        InputBinding::Pose(rig(3, 2)),
        InputBinding::Values,
    ];
    Instance::bind(plan, &inputs, &[], Par::Seq).unwrap_or_else(|e| panic!("{e}"))
}

fn frame<'a>(pose: &'a Pose, values: &'a [(usize, &'a [f32])]) -> Frame<'a> {
    Frame::default().pose(pose).values(values)
}

#[test]
fn frames_that_do_not_fit_are_refused_and_change_nothing() {
    let mut i = posed();
    let pose = rig(3, 2).rest_pose();
    i.update(&frame(&pose, &[(2, &[0.5])]), Par::Seq)
        .expect("fits");
    let before = i.mesh_output("body").expect("body").positions.to_vec();
    let mut said = |frame: &Frame<'_>| match i.update(frame, Par::Seq) {
        Err(e) => e.to_string(),
        Ok(()) => "no problem".into(),
    };
    let two = rig(2, 2).rest_pose();
    let other_weights = rig(3, 1).rest_pose();
    let half = Pose {
        locals: Vec::new(),
        ..pose.clone()
    };
    let good: &[(usize, &[f32])] = &[(2, &[0.5])];
    let found = [
        said(&Frame::default().values(good)),
        said(&frame(&two, good)),
        said(&frame(&other_weights, good)),
        said(&frame(&half, good)),
        said(&frame(&pose, &[])),
        said(&frame(&pose, &[(2, &[0.5, 0.5])])),
        said(&frame(&pose, &[(2, &[f32::NAN])])),
        said(&frame(&pose, &[(0, &[0.5])])),
        said(&frame(&pose, &[(3, &[0.5])])),
        said(&frame(&pose, good).poses(&[(2, &pose)])),
        said(&frame(&pose, good).poses(&[(1, &two)])),
    ];
    assert_eq!(
        found,
        [
            "input 'pose': found no pose, expected a pose of 3 joints",
            "input 'pose': found a pose with 2 joints, expected 3; the pose belongs to another rig",
            "input 'pose': found a pose with 1 morph weights, expected 2; the pose belongs to another rig",
            "input 'pose': found a pose with 0 nodes, expected 3; the pose belongs to another rig",
            "input 'w': found no values, expected 1",
            "input 'w': found 2 values, expected 1",
            "input 'w': value 0 is NaN, expected a finite number",
            "input 'body': found values, expected a mesh",
            "the frame names input 3, but the graph has 3 inputs, counted from 0",
            "input 'w': found a pose, expected values",
            "input 'pose': found a pose with 2 joints, expected 3; the pose belongs to another rig",
        ]
    );
    assert_eq!(i.mesh_output("body").expect("body").positions, before);
    assert_eq!(
        i.update(&frame(&pose, &[]), Par::Seq),
        Err(UpdateError::MissingValues {
            input: "w".into(),
            expected: 1
        })
    );
}

#[test]
fn inputs_that_nothing_reads_may_be_left_out() {
    // The document declares no input, so there is a pose, which the stack does not use.
    let mut i = instance(SHIFTS, meshes::cube());
    assert_eq!(i.update(&Frame::default(), Par::Seq), Ok(()));
}

#[test]
fn meshes_made_by_hand_are_checked() {
    let plan = Arc::new(compile("g.json", SHIFTS, &NoNesting).expect("valid"));
    let mut mesh = meshes::cube();
    mesh.positions.pop();
    let inputs = [
        InputBinding::Mesh(Arc::new(mesh)),
        InputBinding::Pose(Arc::default()),
    ];
    let error = Instance::bind(plan, &inputs, &[], Par::Seq).expect_err("23 positions");
    assert_eq!(
        error.to_string(),
        "input 'body': positions: found 23 elements, expected one for each of 24 vertices"
    );
}

/// What follows a node binds to the authored rest mesh, so that it does not matter how the node got its values:
/// written as a constant, as the default of a parameter, or set later.
#[test]
fn constants_and_parameters_of_equal_value_give_the_same() {
    let followers = [
        r#"{"node": "delta_mush", "iterations": 4, "pin_border": false}"#,
        r#"{"node": "smooth", "iterations": 4, "pin_border": false}"#,
        r#"{"node": "wrap", "mesh": "body", "driver": "bent"}"#,
        r#"{"node": "wrap", "mesh": "bent", "driver": "body"}"#,
        r#"{"node": "lattice", "bind_to": "rest", "resolution": [2, 2, 2], "points_are": "offsets", "points": [[0,0,0],[0,1,0],[0,0,0],[0,0,0],[0,0,0],[0,0,0],[1,0,0],[0,0,0]]}"#,
        r#"{"node": "tangent_frames", "normals": "keep_authored_delta"}"#,
    ];
    let before = [
        r#""node": "transform", "transform": {"translation": [0, 2, 0], "scale": [1, 3, 1]}, "weight""#,
        r#""node": "smooth", "iterations": 3, "pin_border": false, "blend""#,
    ];
    for follower in followers {
        let follower = if follower.contains("\"mesh\"") {
            follower.to_owned()
        } else {
            follower.replacen('{', "{\"mesh\": \"bent\", ", 1)
        };
        for before in before {
            let graph = |value: &str, default: u8| {
                format!(
                    r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}}},
                     "parameters": {{"w": {{"type": "float", "default": {default}}}}},
                     "nodes": {{"bent": {{"mesh": "body", {before}: {value}}}, "it": {follower},
                                "end": {{"node": "transform", "mesh": "it", "weight": "$w"}}}},
                     "outputs": {{"body": "end"}}}}"#
                )
            };
            let result = |value: &str, default: u8| {
                let mut i = instance(&graph(value, default), meshes::tube(6, 8, 1.0, 0.3));
                i.set_parameter("w", &ParameterValue::Float(1.0))
                    .expect("in range");
                let positions = at(&mut i, 0.0);
                let normals = i
                    .mesh_output("body")
                    .and_then(|m| m.normals)
                    .map(<[_]>::to_vec);
                (positions, normals.expect("normals"))
            };
            let constant = result("1", 1);
            assert!(
                constant == result("\"$w\"", 1),
                "constant and default: {before} {follower}"
            );
            assert!(
                constant == result("\"$w\"", 0),
                "constant and set later: {before} {follower}"
            );
        }
    }
}

#[test]
fn the_rest_of_an_output_is_the_authored_mesh() {
    let text =
        r#"{"sinew": "1.0", "stack": [{"node": "smooth", "iterations": 5, "pin_border": false}]}"#;
    let mut i = instance(text, meshes::cube());
    at(&mut i, 0.0);
    let out = i.mesh_output("body").expect("body");
    assert_eq!(out.rest.positions, meshes::cube().positions);
    assert_eq!(out.rest.normals, meshes::cube().normals);
    assert_ne!(out.positions, meshes::cube().positions);
    assert_ne!(
        out.normals.expect("normals"),
        meshes::cube().normals.expect("normals")
    );
}

/// Three parts with one morph target each, along x, y and z; their weights are numbers 1, 2 and 4 of the pose.
fn parts() -> sinew_geom::Asset {
    let part = |(axis, morph_offset): (usize, usize)| {
        let mut mesh = meshes::cube();
        mesh.name = ["left", "middle", "right"][axis].into();
        let mut delta = [0.0; 3];
        delta[axis] = 1.0;
        mesh.morph_targets = vec![sinew_geom::MorphTarget {
            vertices: vec![0],
            positions: vec![delta],
            ..Default::default()
        }];
        mesh.morph_offset = morph_offset;
        mesh
    };
    sinew_geom::Asset {
        meshes: [(2, 4), (1, 2), (0, 1)].map(part).to_vec(),
        rig: rig(1, 5),
        ..Default::default()
    }
}

#[test]
fn morph_weights_of_meshes_left_out_are_not_demanded() {
    let asset = parts();
    let run = |select: &str, link: &str, pose: &Pose, values: &[f32]| {
        let text = format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}, "w": {{"type": "values", "count": {}}}}},
             "nodes": {{"m": {{"node": "morph", "mesh": "body", {link}}}}}, "outputs": {{"body": "m"}}}}"#,
            values.len()
        );
        let plan = Arc::new(compile("g.json", &text, &NoNesting).expect("valid"));
        let mesh = asset
            .merged(&sinew_geom::Selection::Named(select.into()))
            .expect("found");
        let rest = mesh.positions.clone();
        let inputs = [
            InputBinding::Mesh(Arc::new(mesh)),
            InputBinding::Pose(asset.rig.clone()),
            InputBinding::Values,
        ];
        let mut i = Instance::bind(plan, &inputs, &[], Par::Seq).map_err(|e| e.to_string())?;
        i.update(&frame(pose, &[(2, values)]), Par::Seq)
            .map_err(|e| e.to_string())?;
        let out = i.mesh_output("body").expect("body");
        Ok::<_, String>([0, 24].map(|v| {
            let (p, r) = (out.positions.get(v)?, rest.get(v)?);
            Some([0, 1, 2].map(|c| p[c] - r[c]))
        }))
    };
    let mut pose = asset.rig.rest_pose();
    pose.morph_weights = vec![9.0, 0.5, 9.0, 9.0, 0.25];
    // `right` comes first in the file; the targets are in the order of the weights.
    let expected = Ok([Some([0.0, 0.0, 0.25]), Some([0.5, 0.0, 0.0])]);
    assert_eq!(run("*t", "\"pose\": \"pose\"", &pose, &[1.0]), expected);
    assert_eq!(
        run("*t", "\"weights\": \"w\"", &pose, &[0.5, 0.25]),
        expected
    );
    assert_eq!(
        run("right", "\"weights\": \"w\"", &pose, &[0.25]),
        Ok([Some([0.0, 0.0, 0.25]), None])
    );
    let error = run("*t", "\"weights\": \"w\"", &pose, &[0.0; 5]).expect_err("five for two");
    assert!(
        error.contains("found 5 morph weights, expected 2, one for each target of the mesh"),
        "{error}"
    );
}

#[test]
fn instances_of_one_bound_graph_move_on_their_own() {
    let mut a = instance(SHIFTS, meshes::cube());
    let graph = a.graph().clone();
    let mut b = graph.instance();
    a.set_parameter("w", &ParameterValue::Float(0.25))
        .expect("in range");
    let rest = meshes::cube().positions[0];
    assert_eq!(
        at(&mut a, 0.0)[0],
        [rest[0] + 0.25, rest[1] + 10.0, rest[2]]
    );
    assert_eq!(at(&mut b, 0.0)[0], [rest[0] + 1.0, rest[1] + 10.0, rest[2]]);
    assert_eq!(
        a.mesh_output("body").expect("body").positions[0][0],
        rest[0] + 0.25
    );
    // The setup step's positions are there once, its normals not at all: a constant shift keeps them.
    let shared = 12 * meshes::cube().vertex_count();
    assert!(graph.memory_bytes() >= shared, "{}", graph.memory_bytes());
    a.reset();
    a.set_parameter("w", &ParameterValue::Float(1.0))
        .expect("in range");
    at(&mut a, 0.0);
    let out = a.mesh_output("body").expect("body");
    assert_eq!(
        out.positions, out.previous_positions,
        "the first frame after a reset"
    );
}

/// A lattice of two points an axis, moved by the parameter or by keys.
fn lattice(points: &str) -> String {
    format!(
        r#"{{"sinew": "1.0", "parameters": {{"cage": {{"type": "points", "default": []}}}},
 "stack": [{{"node": "lattice", "resolution": [2, 2, 2], "size": [4, 4, 4], "points_are": "offsets", "points": {points}}}]}}"#
    )
}

#[test]
fn a_list_of_another_length_than_setup_found_is_refused() {
    let mut i = instance(&lattice("\"$cage\""), meshes::cube());
    let rest = meshes::cube().positions;
    let shift = |n| ParameterValue::Points(vec![[1.0, 0.0, 0.0]; n]);
    i.set_parameter("cage", &shift(8)).expect("eight points");
    let moved = at(&mut i, 0.0);
    assert!((moved[0][0] - rest[0][0] - 1.0).abs() < 1e-6);
    let error = i
        .set_parameter("cage", &shift(7))
        .expect_err("seven points");
    assert_eq!(
        error.to_string(),
        "parameter 'cage': node 'lattice' (lattice): found 7 control points, expected 8 for resolution [2, 2, 2] (or none for the lattice at rest)"
    );
    assert_eq!(at(&mut i, 0.0), moved, "nothing changed");
    i.set_parameter("cage", &shift(0)).expect("at rest");
    // Keys are checked before anything runs: by the compiler where the grid is written out, else when it is known.
    let keys = lattice(r#"{"keys": [[0, []], [1, [[0, 0, 0]]]]}"#);
    let error = compile("g.json", &keys, &NoNesting).expect_err("one point");
    assert!(error.to_string().contains("has 1 points"), "{error}");
    let grid = r#""parameters": {"grid": {"type": "int3", "default": [2, 2, 2], "setup": true}, "#;
    let keys = keys.replace(r#""parameters": {"#, grid);
    let keys = keys.replace(r#""resolution": [2, 2, 2]"#, r#""resolution": "$grid""#);
    let plan = Arc::new(compile("g.json", &keys, &NoNesting).unwrap_or_else(|e| panic!("{e}")));
    let inputs = [
        InputBinding::Mesh(Arc::new(meshes::cube())),
        InputBinding::Pose(Arc::default()),
    ];
    let error = Instance::bind(plan, &inputs, &[], Par::Seq).expect_err("one point");
    assert!(error.to_string().contains("1 control points"), "{error}");
}

#[test]
fn poses_that_are_not_finite_are_refused() {
    let mut i = posed();
    let good = rig(3, 2).rest_pose();
    let mut said = |change: &dyn Fn(&mut Pose)| {
        let mut pose = good.clone();
        change(&mut pose);
        match i.update(&frame(&pose, &[(2, &[0.5])]), Par::Seq) {
            Ok(()) => String::new(),
            Err(e) => e.to_string(),
        }
    };
    assert_eq!(said(&|_| ()), "");
    assert_eq!(
        said(&|p| p.palette[1].rows[2][0] = f32::NAN),
        "input 'pose': joint 1 of the pose is NaN or infinite"
    );
    assert_eq!(
        said(&|p| p.scene_from_node[2].translation.x = f64::INFINITY),
        "input 'pose': node 2 of the pose is NaN or infinite"
    );
}
