//! Parameters that are linked: to numbers of the caller or of a driver, or to a joint.

use crate::common::allocations::counted_pool;
use crate::common::devices::{Worst, poses, run};
use crate::common::{document_with, inputs, instance, numbers, samples};
use sinew::deform::{NodeDesc, Par, ParameterDesc, ParameterType, ParameterValue, Phase, REGISTRY};
use sinew::geom::{Affine, Asset, Pose, Vec3};
use sinew::graph::{Frame, Instance};

/// Numbers of the input `n`, as [`numbers`] gives them: 0.75, 0.375, 0.25, 0.1875.
const NUMBERS: &str = r#""n": {"type": "values", "count": 4}"#;

fn arm() -> Asset {
    samples()
        .into_iter()
        .find(|a| a.name.starts_with("arm"))
        .expect("arm")
}

/// The document of a node with the parameter as given, the input `n`, and `more` at the head.
fn text(desc: &NodeDesc, given: &str, more: &str) -> String {
    let document = document_with(desc, given);
    let all = match inputs(desc) {
        "" => document.replacen(
            "\"sinew\": \"1.0\", ",
            &format!("\"sinew\": \"1.0\", \"inputs\": {{\"body\": {{\"type\": \"mesh\"}}, \"pose\": {{\"type\": \"pose\"}}, {NUMBERS}}}, "),
            1,
        ),
        _ => document.replacen("\"inputs\": {", &format!("\"inputs\": {{{NUMBERS}, "), 1),
    };
    all.replacen("\"parameters\": {", &format!("\"parameters\": {{{more}"), 1)
}

/// What a parameter of this type is linked to, the value that this is, and its declaration with the default of the node. `None` for
/// types that follow nothing.
fn linked(
    desc: &ParameterDesc,
    asset: &Asset,
    pose: &Pose,
) -> Option<(String, ParameterValue, String)> {
    let default = desc.default_value();
    let (link, value, default) = match (desc.ty, default) {
        (ParameterType::Float { min, max }, ParameterValue::Float(d)) => (
            "\"n[1]\"".to_owned(),
            ParameterValue::Float(0.375_f64.clamp(min, max)),
            format!("\"float\", \"default\": {d}"),
        ),
        (ParameterType::Int { min, max }, ParameterValue::Int(d)) => (
            "\"n\"".to_owned(),
            ParameterValue::Int(1.clamp(min, max)),
            format!("\"int\", \"default\": {d}"),
        ),
        (ParameterType::Bool, ParameterValue::Bool(d)) => (
            "\"n[0]\"".to_owned(),
            ParameterValue::Bool(true),
            format!("\"bool\", \"default\": {d}"),
        ),
        (ParameterType::Vec3, ParameterValue::Vec3(d)) => (
            "{\"link\": \"n\", \"index\": 1}".to_owned(),
            ParameterValue::Vec3([0.375, 0.25, 0.1875]),
            format!("\"vec3\", \"default\": {d:?}"),
        ),
        (ParameterType::Vec4, ParameterValue::Vec4(d)) => (
            "\"n\"".to_owned(),
            ParameterValue::Vec4([0.75, 0.375, 0.25, 0.1875]),
            format!("\"vec4\", \"default\": {d:?}"),
        ),
        (ParameterType::Transform, _) => {
            let joint = asset.rig.find_joint("forearm").expect("a joint of the arm");
            let offset = Affine {
                translation: Vec3::new(0.1, -0.2, 0.05),
                ..Affine::identity()
            };
            let joint = &asset.rig.joints()[joint];
            let value = pose.scene_from_node[joint.node] * (joint.joint_from_bind * offset);
            (
                "{\"joint\": \"forearm\", \"offset\": {\"translation\": [0.1, -0.2, 0.05]}}"
                    .to_owned(),
                ParameterValue::Transform(value),
                "\"transform\", \"default\": {\"translation\": [0.1, -0.2, 0.05]}".to_owned(),
            )
        }
        _ => return None,
    };
    Some((link, value, format!("\"p\": {{\"type\": {default}}}, ")))
}

/// All outputs of an instance.
fn outputs(i: &Instance, desc: &NodeDesc) -> Vec<String> {
    let of = |name: &str| {
        let mesh = i.mesh_output(name).map(|m| format!("{:?}", m.positions));
        let floats = || i.float_output(name).map(|f| format!("{f:?}"));
        let lines = || i.line_output(name).map(|l| format!("{l:?}"));
        let pose = || {
            i.pose_output(name)
                .map(|p| format!("{:?}", p.scene_from_node))
        };
        mesh.or_else(floats)
            .or_else(lines)
            .or_else(pose)
            .unwrap_or_default()
    };
    desc.outputs.iter().map(|o| of(o.name)).collect()
}

fn step(i: &mut Instance, pose: &Pose, frame: usize) {
    let values = numbers(i.plan());
    let values: Vec<(usize, &[f32])> = values.iter().map(|(i, v)| (*i, &**v)).collect();
    let frame = Frame::at(0.1 * frame as f64)
        .dt(0.1)
        .pose(pose)
        .values(&values);
    i.update(&frame, Par::Seq).expect("fits");
}

/// A parameter that follows a number or a joint is one that is set to it in each frame: of every node, of every type that can follow.
#[test]
fn linked_parameters_are_parameters_that_are_set() {
    let asset = arm();
    let (_, pose) = poses(&asset, &[0.5]).remove(0);
    let mut seen = 0;
    for desc in REGISTRY {
        for parameter in desc.parameters.iter().filter(|p| p.phase == Phase::Update) {
            let Some((link, value, declared)) = linked(parameter, &asset, &pose) else {
                continue;
            };
            let name = parameter.name;
            if document_with(desc, "").contains(&format!("\"{name}\": \"$weight\"")) {
                continue;
            }
            let mut follows = instance(&asset, &text(desc, &format!(", \"{name}\": {link}"), ""));
            let given = format!(", \"{name}\": \"$p\"");
            let mut set = instance(&asset, &text(desc, &given, &declared));
            set.set_parameter("p", &value).expect("fits");
            for frame in 0..3 {
                step(&mut follows, &pose, frame);
                step(&mut set, &pose, frame);
            }
            let what = format!("{}.{name}", desc.name);
            let all = outputs(&follows, desc);
            assert!(
                all.iter().any(|o| !o.is_empty()) || desc.name.contains("sdf"),
                "{what}: no output"
            );
            assert!(
                all == outputs(&set, desc),
                "{what} linked is not {what} set"
            );
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} parameters");
}

/// The first vertex of a mesh that `transform` moves along x by `weight`.
fn moved_by(weight: &str, given: [f32; 2]) -> f32 {
    let document = format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "n": {{"type": "values", "count": 2}}}},
 "nodes": {{"it": {{"node": "transform", "mesh": "body", "transform": {{"translation": [1, 0, 0]}}, "weight": {weight}}}}},
 "outputs": {{"body": "it"}}}}"#
    );
    let asset = arm();
    let mut i = instance(&asset, &document);
    let frame = Frame::at(0.0);
    i.update(&frame.values(&[(1, &given)]), Par::Seq)
        .expect("fits");
    let moved = i.mesh_output("body").expect("declared").positions[0][0];
    moved - i.graph().program().meshes()[0].positions[0][0]
}

#[test]
fn curves_map_numbers_by_hand() {
    let near =
        |found: f32, expected: f32| assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    near(moved_by("\"n[1]\"", [0.0, 0.25]), 0.25);
    // Beyond the range of the parameter, 0 to 1.
    near(moved_by("\"n[1]\"", [0.0, 7.0]), 1.0);
    near(moved_by("\"n\"", [-3.0, 0.5]), 0.0);
    let curve = |interpolation: &str, x| {
        let link = format!(
            r#"{{"link": "n", "remap": [[10, 0.2], [20, 0.8], [40, 0.4]], "interpolation": "{interpolation}"}}"#
        );
        moved_by(&link, [x, 0.0])
    };
    near(curve("linear", 15.0), 0.5);
    near(curve("linear", 30.0), 0.6);
    near(curve("linear", -5.0), 0.2);
    near(curve("linear", 99.0), 0.4);
    near(curve("step", 19.9), 0.2);
    // 3 s^2 - 2 s^3 at a quarter of the way.
    near(curve("smooth", 12.5), 0.2 + 0.6 * 0.15625);
}

/// Degrees are converted after the curve.
#[test]
fn angles_in_degrees_follow_numbers_in_degrees() {
    let asset = arm();
    let at = |angle: &str| {
        let document = format!(
            r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "n": {{"type": "values", "count": 4}}}},
 "nodes": {{"it": {{"node": "bend", "mesh": "body", "length": 0.6, {angle}}}}}, "outputs": {{"body": "it"}}}}"#
        );
        let mut i = instance(&asset, &document);
        step(&mut i, &asset.rig.rest_pose(), 0);
        i.mesh_output("body").expect("declared").positions.to_vec()
    };
    let linked = at(r#""angle_degrees": {"link": "n", "remap": [[0, 0], [1, 80]]}"#);
    let given = at(r#""angle_degrees": 60"#);
    for (a, b) in linked.iter().zip(&given) {
        assert!(
            (Vec3::from(*a) - Vec3::from(*b)).norm() < 1e-6,
            "{a:?} {b:?}"
        );
    }
}

/// What a joint does to a thing that follows it: a box about the hand stays about the hand.
const FOLLOWING: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}, "n": {"type": "values", "count": 2}},
 "nodes": {
  "posed": {"node": "skin", "mesh": "body", "pose": "pose"},
  "it": {"node": "twist", "mesh": "posed", "length": 0.4, "angle": {"link": "n", "remap": [[0, 0], [1, 2.5]]},
         "transform": {"joint": "forearm", "offset": {"translation": [0.2, 0.1, 0]}}},
  "lifted": {"node": "transform", "mesh": "body", "transform": {"joint": "forearm"}, "weight": "n[0]"}},
 "outputs": {"body": "it", "lifted": "lifted"}}"#;

/// Of vertices on one joint, skinning does what a transform does that follows the joint.
#[test]
fn a_transform_that_follows_a_joint_is_skinning() {
    let asset = arm();
    let document = FOLLOWING
        .replace("\"weight\": \"n[0]\"", "\"weight\": 1")
        .replace("\"body\": \"it\"", "\"body\": \"posed\"");
    let mut i = instance(&asset, &document);
    let joint = asset.rig.find_joint("forearm").expect("a joint") as u32;
    let influences = asset.meshes[0].influences.as_ref().expect("skinned");
    let rigid: Vec<usize> = (0..asset.meshes[0].vertex_count())
        .filter(|v| influences.row(*v).any(|(j, w)| j == joint && w > 0.999_999))
        .collect();
    assert!(rigid.len() > 20);
    for (frame, (_, pose)) in poses(&asset, &[0.0, 0.4, 0.8]).iter().enumerate() {
        step(&mut i, pose, frame);
        let of = |name: &str| i.mesh_output(name).expect("declared").positions.to_vec();
        let (skinned, lifted) = (of("body"), of("lifted"));
        for &v in &rigid {
            let off = (Vec3::from(skinned[v]) - Vec3::from(lifted[v])).norm();
            assert!(off < 2e-6, "vertex {v}: {off}");
        }
    }
}

#[test]
fn links_give_the_same_numbers_on_both_devices() {
    let Some(gpu) = sinew_gpu::test_support::gpu() else {
        return;
    };
    let asset = arm();
    let mut worst = Worst::default();
    run(
        &gpu,
        &asset,
        FOLLOWING,
        &poses(&asset, &[0.0, 0.3, 0.7]),
        &mut worst,
    )
    .expect("runs");
    println!("{}", worst.line("linked"));
    assert!(worst.fits());
}

#[test]
fn linked_updates_allocate_nothing() {
    let asset = arm();
    let mut i = instance(&asset, FOLLOWING);
    let (_, pose) = poses(&asset, &[0.5]).remove(0);
    let values = numbers(i.plan());
    let values: Vec<(usize, &[f32])> = values.iter().map(|(i, v)| (*i, &**v)).collect();
    let (pool, count) = counted_pool(1);
    pool.install(|| {
        let mut frame = || {
            let frame = Frame::at(0.5).pose(&pose).values(&values);
            i.update(&frame, Par::Seq).expect("fits");
        };
        frame();
        let before = count();
        (0..3).for_each(|_| frame());
        assert_eq!(count(), before);
    });
}

/// A driver's weights drive a parameter, also through a nested graph, and the graph is ordered by that.
#[test]
fn parameters_follow_drivers_and_reach_nested_graphs() {
    let asset = arm();
    let document = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "pose": {"type": "pose"}},
 "nodes": {
  "outer": {"node": "graph", "strength": {"link": "elbow", "index": 1, "remap": [[0, 0.25], [1, 1]]}, "graph": {"sinew": "1.0",
    "inputs": {"body": {"type": "mesh"}}, "parameters": {"strength": {"type": "float", "default": 0, "min": 0.5, "max": 1}},
    "nodes": {"move": {"node": "transform", "mesh": "body", "transform": {"translation": [1, 0, 0]}, "weight": "$strength"}},
    "outputs": {"body": "move"}}},
  "direct": {"node": "transform", "mesh": "body", "transform": {"translation": [1, 0, 0]}, "weight": "elbow.weights[1]"},
  "elbow": {"node": "pose_driver", "pose": "pose", "joints": ["forearm"], "space": "rest", "poses": [
    {"name": "rest", "joints": [{}]}, {"name": "bent", "joints": [{"rotation_degrees": [0, 0, 90]}]}]}},
 "outputs": {"body": "direct", "nested": "outer", "weights": "elbow"}}"#;
    let mut i = instance(&asset, document);
    for (frame, (_, pose)) in poses(&asset, &[0.0, 0.5, 1.0]).iter().enumerate() {
        step(&mut i, pose, frame);
        let weight = i.float_output("weights").expect("declared")[1];
        let rest = i.graph().program().meshes()[0].positions[0][0];
        let moved = |name: &str| i.mesh_output(name).expect("declared").positions[0][0] - rest;
        assert!((moved("body") - weight).abs() < 1e-6);
        // The declared range of the nested parameter holds.
        let mapped = (0.25 + 0.75 * weight).clamp(0.5, 1.0);
        assert!((moved("nested") - mapped).abs() < 1e-6);
    }
}
