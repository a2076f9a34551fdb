//! Binding and running plans.

use sinew_deform::{Par, ParameterValue};
use sinew_geom::Mesh;
use sinew_graph::{BindError, Frame, InputBinding, Instance, NoNesting, ParameterError, compile};
use sinew_testkit::meshes;
use std::sync::Arc;

fn instance(text: &str, mesh: Mesh) -> Instance {
    let plan = compile("g.json", text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let inputs: Vec<InputBinding> = plan
        .inputs()
        .iter()
        .map(|i| match i.ty {
            sinew_graph::InputType::Mesh => InputBinding::Mesh(Arc::new(mesh.clone())),
            sinew_graph::InputType::Pose => InputBinding::Pose(Arc::default()),
            sinew_graph::InputType::Values => InputBinding::Values,
        })
        .collect();
    Instance::bind(Arc::new(plan), &inputs, &[], Par::Seq).unwrap_or_else(|e| panic!("{e}"))
}

fn at(instance: &mut Instance, time_secs: f64) -> Vec<[f32; 3]> {
    instance.update(
        &Frame {
            time_secs,
            ..Frame::default()
        },
        Par::Seq,
    );
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
            known: vec!["w".into()]
        })
    );
    let error = i
        .set_parameter("w", &ParameterValue::Float(f64::NAN))
        .expect_err("NaN");
    assert_eq!(
        error.to_string(),
        "parameter 'w': found Float(NaN), expected a number from 0 to 1"
    );
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
        "node 't' (transform): input 'mask': the mask has 9 values, the mesh has 24 vertices; make the mask from the same mesh"
    );
}
