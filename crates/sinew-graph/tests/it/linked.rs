//! What is wrong with the links of parameters, and what the plan says of right ones.

use sinew_deform::Par;
use sinew_geom::{Affine, Joint, LocalTransform, Node, Rig, Trs};
use sinew_graph::{BoundGraph, InputBinding, NoNesting, compile};
use sinew_testkit::meshes;
use std::sync::Arc;

/// A document in which the node `it` is as given.
fn document(it: &str) -> String {
    format!(
        "{{\"sinew\": \"1.0\", \"inputs\": {{\"body\": {{\"type\": \"mesh\"}}, \"pose\": {{\"type\": \"pose\"}}, \"n\": {{\"type\": \"values\", \"count\": 2}}}},
\"nodes\": {{
\"after\": {{\"node\": \"transform\", \"mesh\": \"it\"}},
\"it\": {{{it}}}}},
\"outputs\": {{\"body\": \"after\"}}}}"
    )
}

fn problem(it: &str) -> String {
    match compile("g.json", &document(it), &NoNesting) {
        Ok(plan) => plan.warnings().iter().map(ToString::to_string).collect(),
        Err(found) => {
            assert_eq!(found.0.len(), 1, "{found}");
            found.0[0].to_string()
        }
    }
}

#[test]
fn wrong_links_are_located() {
    let node =
        |weight: &str| format!("\"node\": \"transform\", \"mesh\": \"body\", \"weight\": {weight}");
    let mut wrong = Vec::new();
    for (weight, expected) in [
        (
            "\"m[0]\"",
            "g.json:4:55: there is no input or node 'm'; parameter 'weight' of 'it' takes a number from 0 to 1, or a link; did you mean 'n'?",
        ),
        (
            "\"n[2]\"",
            "g.json:4:55: parameter 'weight' of 'it' takes number 2 of 'n', which has 2; expected an index below 2, or a larger \"count\" of the input",
        ),
        (
            "\"elbow.weights\"",
            "g.json:4:55: there is no input or node 'elbow'; parameter 'weight' of 'it' takes a number from 0 to 1, or a link; sources of numbers are n",
        ),
        (
            "\"n[-1]\"",
            "g.json:4:55: 'weight' is linked to number '-1'; expected a whole number from 0 on, such as \"elbow.weights[2]\"",
        ),
        (
            "\"body\"",
            "g.json:4:55: parameter 'weight' of 'it' follows a number, but 'body' is a mesh; sources of numbers are n",
        ),
        (
            "\"0.5\"",
            "g.json:4:55: 'weight' is \"0.5\"; expected a number from 0 to 1",
        ),
        (
            "{\"joint\": \"head\"}",
            "g.json:4:55: 'weight' cannot follow a joint, because only transforms can; it is a number from 0 to 1; to follow numbers, write {\"link\": \"NODE.PORT\", \"index\": 0}",
        ),
        (
            "0.5, \"transform\": {\"link\": \"n\"}",
            "g.json:4:73: 'transform' cannot follow numbers, because it is a transform; transforms follow joints: {\"joint\": \"NAME\", \"offset\": {...}}",
        ),
        (
            "0.5, \"transform\": {\"joint\": \"head\", \"translation\": [1, 0, 0]}",
            "g.json:4:91: a link has no key 'translation'; write it into the offset: \"offset\": {\"translation\": ...}",
        ),
        (
            "0.5, \"transform\": {\"joint\": \"head\", \"offset\": {\"joint\": \"head\"}}",
            "g.json:4:101: 'transform.offset' cannot follow a joint itself; expected a transform, keys, or $NAME of a parameter of the graph",
        ),
        (
            "0.5, \"transform\": {\"joint\": \"$head\"}",
            "g.json:4:83: there is no parameter 'head'; declare it under \"parameters\": {\"head\": {\"type\": ..., \"default\": ...}}",
        ),
        (
            "{\"link\": \"n\", \"idx\": 1}",
            "g.json:4:69: a link has no key 'idx'; expected link, index, remap, interpolation",
        ),
        (
            "{\"link\": \"n\", \"index\": 0.5}",
            "g.json:4:78: 'index' is 0.5; expected a whole number from 0 to 4294967295",
        ),
        (
            "{\"link\": \"n\", \"remap\": [[1, 0], [0, 1]]}",
            "g.json:4:87: the first numbers in 'remap' of 'weight' must increase, but 0 does not; expected \"remap\": [[from, to], ...] with increasing \"from\"",
        ),
        (
            "{\"link\": \"n\", \"remap\": [[0, 0], [1, 1]], \"interpolation\": \"smoth\"}",
            "g.json:4:113: the interpolation of 'weight' is \"smoth\"; did you mean \"smooth\"? expected \"step\", \"linear\" or \"smooth\"",
        ),
        (
            "{\"link\": \"n\", \"interpolation\": \"step\"}",
            "g.json:4:55: the link of 'weight' has an interpolation, but no remap; add \"remap\": [[from, to], [from, to]], or remove \"interpolation\"",
        ),
        (
            "0.5, \"transform\": {\"joint\": \"head\", \"offset\": {\"move\": 1}}",
            "g.json:4:102: a transform has no key 'move'; expected translation, rotation, rotation_degrees, scale, matrix",
        ),
        (
            "0.5, \"transform\": {\"joint\": \"head\", \"pose\": \"n\"}",
            "g.json:4:99: parameter 'transform' of 'it' takes a pose, but 'n' is values; link an input or an output of type pose",
        ),
    ] {
        let found = problem(&node(weight));
        if found != expected {
            wrong.push(format!("{found}\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let setup = "\"node\": \"smooth\", \"mesh\": \"body\", \"weld_tolerance\": \"n\"";
    assert!(
        problem(setup)
            .contains("'weld_tolerance' is read once, when the graph is bound, and cannot follow"),
        "{}",
        problem(setup)
    );
    for given in ["\"n[0]\"", "{\"link\": \"n\"}"] {
        let said = problem(&format!(
            "\"node\": \"twist\", \"mesh\": \"body\", \"profile\": {given}"
        ));
        assert_eq!(
            said,
            "g.json:4:52: 'profile' is read once, when the graph is bound, and cannot follow anything; expected one of \"linear\", \"smooth\""
        );
    }
}

/// A link to what comes after the node is a loop.
#[test]
fn links_of_parameters_order_the_graph() {
    let text = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
"nodes": {"it": {"node": "drive_morphs", "mesh": "body", "weights": "it", "targets": [""]}}, "outputs": {"w": "it"}}"#;
    let found = compile("g.json", text, &NoNesting)
        .expect_err("a loop")
        .to_string();
    assert!(found.contains("nodes depend on each other"), "{found}");
    let plan = compile(
        "g.json",
        &document("\"node\": \"transform\", \"mesh\": \"body\", \"weight\": \"n[1]\""),
        &NoNesting,
    )
    .expect("valid");
    assert!(
        plan.nodes().iter().all(|n| !n.runs_in_setup),
        "the weight may change in each frame"
    );
    let said = plan.explain();
    assert!(said.contains("weight <- n[1]"), "{said}");
}

/// What binding says of a document around the node `it`, with a cube and a rig of one joint.
fn bind_error(it: &str) -> String {
    let plan = Arc::new(compile("g.json", &document(it), &NoNesting).expect("valid"));
    let node = Node {
        name: "head".into(),
        parent: None,
        local: LocalTransform::Trs(Trs::default()),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let joint = Joint {
        node: 0,
        joint_from_bind: Affine::identity(),
    };
    let rig = Rig::new(vec![node], vec![joint]).expect("valid");
    let inputs = [
        InputBinding::Mesh(Arc::new(meshes::cube())),
        InputBinding::Pose(Arc::new(rig)),
        InputBinding::Values,
    ];
    let bound = BoundGraph::bind(plan, &inputs, &[], Par::Seq);
    bound.expect_err("wrong").to_string()
}

#[test]
fn joints_and_indices_are_checked_when_the_rig_is_known() {
    let joint = r#""node": "transform", "mesh": "body", "transform": {"joint": "heda"}"#;
    let said = bind_error(joint);
    let node = "g.json:4:68: node 'it' (transform): ";
    assert!(said.starts_with(node), "{said}");
    assert!(
        said.contains("joint 'heda'") && said.contains("head"),
        "{said}"
    );
    let index = r#""node": "transform", "mesh": "body", "weight": "d.weights[2]"}, "d": {"node": "pose_driver", "pose": "pose",
 "joints": ["head"], "poses": [{"name": "a", "joints": [{}]}, {"name": "b", "joints": [{"rotation_degrees": [0, 0, 90]}]}]"#;
    assert_eq!(
        bind_error(index),
        format!(
            "g.json:4:55: node 'it' (transform): parameter 'weight': found a link to index 2, expected an index from 0 to 1: there are 2 numbers"
        )
    );
}

#[test]
fn regions_follow_one_joint() {
    let twist = |more: &str| format!("\"node\": \"twist\", \"mesh\": \"body\", {more}");
    assert_eq!(
        problem(&twist(
            "\"follow\": \"head\", \"transform\": {\"joint\": \"head\"}"
        )),
        "g.json:4:41: 'follow' names a joint, but 'transform' follows one already; remove 'follow', or give 'transform' the transform alone"
    );
    assert_eq!(
        problem(&twist("\"folow\": \"head\"")),
        "g.json:4:41: twist has no input or parameter 'folow'; did you mean 'follow'?"
    );
    // Nothing to place.
    assert!(
        problem("\"node\": \"smooth\", \"mesh\": \"body\", \"follow\": \"head\"")
            .contains("smooth has no input or parameter 'follow'")
    );
    let said = bind_error(&twist("\"follow\": \"heda\""));
    assert!(
        said.starts_with("g.json:4:51: node 'it' (twist): ") && said.contains("'head'"),
        "{said}"
    );
}
