//! The node: spaces, poses that do not take part, errors.

use super::published::{about, assert_near};
use crate::pose_driver::joints::{Joints, Space, rest_of};
use crate::pose_driver::node::far_from_rest;
use crate::pose_driver::{DESC, DriverPose, DriverValue};
use crate::{
    BindContext, BindInput, BindWarnings, BoundNode, InputValue, Inputs, NodeError, OutputValue,
    Outputs, Par, ParameterType, ParameterValue, Parameters, ReadLog, Record, UpdateContext,
};
use sinew_geom::{Affine, LocalTransform, Node, Pose, Quat, Rig, Trs, Vec3};

/// Root, arm (resting at 30 degrees about z), hand.
fn rig() -> Rig {
    let node = |name: &str, parent, degrees| Node {
        name: name.into(),
        parent,
        local: LocalTransform::Trs(Trs {
            translation: Vec3::new(0.0, 1.0, 0.0),
            rotation: about([0.0, 0.0, 1.0], degrees),
            ..Trs::default()
        }),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let nodes = vec![
        node("root", None, 0.0),
        node("arm", Some(0), 30.0),
        node("hand", Some(1), 0.0),
    ];
    Rig::new(nodes, Vec::new()).expect("parents first")
}

struct Setting(&'static str, ParameterValue);

fn texts(list: &[&str]) -> ParameterValue {
    ParameterValue::Texts(list.iter().map(|t| (*t).to_owned()).collect())
}

fn pose(name: &str, rotations: &[Quat<f64>], enabled: bool) -> Record {
    let desc = DESC.parameter("poses").expect("declared");
    let ParameterType::Records(fields) = desc.ty else {
        panic!("poses are records");
    };
    let joints = rotations
        .iter()
        .map(|q| Affine::from_trs(Vec3::zeros(), *q, Vec3::repeat(1.0)));
    let joints: Vec<Affine<f64>> = joints.collect();
    let value = |f: &crate::ParameterDesc| match f.name {
        "name" => ParameterValue::Text(name.into()),
        "joints" => ParameterValue::Transforms(joints.clone()),
        "enabled" => ParameterValue::Bool(enabled),
        _ => f.default_value(),
    };
    Record {
        fields,
        values: fields.iter().map(value).collect(),
    }
}

fn bind(rig: &Rig, settings: Vec<Setting>) -> Result<Box<dyn BoundNode>, NodeError> {
    let mut values: Vec<ParameterValue> =
        DESC.parameters.iter().map(|d| d.default_value()).collect();
    for Setting(name, value) in settings {
        let index = DESC.parameters.iter().position(|d| d.name == name);
        values[index.expect("declared")] = value;
    }
    let log = ReadLog::new();
    let fixed = vec![true; values.len()];
    let out = (DESC.bind)(&BindContext {
        inputs: &[Some(BindInput::Pose(rig))],
        ports: DESC.inputs,
        parameters: Parameters {
            descs: DESC.parameters,
            values: &values,
            log: &log,
        },
        fixed: &fixed,
        warnings: &BindWarnings::new(),
        par: crate::Par::Seq,
        watch: crate::BindWatch::NONE,
    });
    log.check().expect("every name is declared");
    out
}

fn ask(bound: &dyn BoundNode, pose: &Pose) -> Vec<f64> {
    let mut weights = vec![f32::NAN; bound.output_len("weights")];
    let log = ReadLog::new();
    let mut scratch = bound.new_scratch();
    bound.update(UpdateContext {
        time_secs: 0.0,
        dt_secs: 0.0,
        is_first: true,
        reach: None,
        par: Par::Seq,
        parameters: Parameters {
            descs: &[],
            values: &[],
            log: &log,
        },
        inputs: Inputs {
            values: &[Some(InputValue::Pose(pose))],
            ports: DESC.inputs,
            log: &log,
        },
        outputs: Outputs {
            values: [Some(OutputValue::Values(&mut weights))]
                .into_iter()
                .collect(),
            ports: DESC.outputs,
            log: &log,
        },
        scratch: &mut *scratch,
    });
    log.check().expect("every name is declared");
    weights.into_iter().map(f64::from).collect()
}

/// The rig with its arm turned by `degrees` from rest.
fn bent(rig: &Rig, degrees: f64) -> Pose {
    let mut pose = rig.rest_pose();
    if let LocalTransform::Trs(arm) = &mut pose.locals[1] {
        arm.rotation *= about([0.0, 0.0, 1.0], degrees);
    }
    rig.finish(&mut pose);
    pose
}

fn poses(list: Vec<Record>) -> Setting {
    Setting("poses", ParameterValue::Records(list))
}

fn in_parent() -> Setting {
    Setting("space", ParameterValue::Text("parent".into()))
}

#[test]
fn spaces() {
    let rig = rig();
    let z = |degrees| about([0.0, 0.0, 1.0], degrees);
    // The same two poses as each space shows them: in the parent's, from rest, and from the hand, which does not turn itself.
    let turned = |a: f64, b: f64| vec![pose("rest", &[z(a)], true), pose("bent", &[z(b)], true)];
    let word = |w: &str| ParameterValue::Text(w.into());
    for (space, list) in [
        ("parent", turned(30.0, 120.0)),
        ("rest", turned(0.0, 90.0)),
        ("joint", turned(30.0, 120.0)),
    ] {
        let settings = vec![
            Setting("joints", texts(&["arm"])),
            Setting("space", word(space)),
            Setting("reference", word("root")),
            poses(list),
        ];
        let bound = bind(&rig, settings).expect(space);
        assert_near(&ask(&*bound, &bent(&rig, 0.0)), &[1.0, 0.0], 1e-6);
        assert_near(&ask(&*bound, &bent(&rig, 90.0)), &[0.0, 1.0], 1e-6);
        let between = ask(&*bound, &bent(&rig, 45.0));
        assert!(
            (between[0] - between[1]).abs() < 1e-6 && between[0] > 0.4,
            "{space}: {between:?}"
        );
    }
}

#[test]
fn poses_that_do_not_take_part_weigh_nothing() {
    let rig = rig();
    let z = |degrees| about([0.0, 0.0, 1.0], degrees);
    let list = vec![
        pose("rest", &[z(0.0)], true),
        pose("off", &[z(45.0)], false),
        pose("bent", &[z(90.0)], true),
    ];
    let settings = vec![Setting("joints", texts(&["arm"])), poses(list)];
    let bound = bind(&rig, settings).expect("two poses");
    assert_near(&ask(&*bound, &bent(&rig, 90.0)), &[0.0, 0.0, 1.0], 1e-6);
}

/// The arm rests at 30 degrees.
#[test]
fn poses_that_are_all_far_from_rest_are_told() {
    let rig = rig();
    let rest = Space::Rest(vec![rest_of(&rig, 1)]);
    for (space, degrees, nearest) in [
        (Space::Parent, [30.0, 120.0], None),
        (Space::Parent, [-14.0, 120.0], None),
        (Space::Parent, [-20.0, 120.0], Some(50.0)),
        (rest.clone(), [0.0, 90.0], None),
        (rest, [50.0, 140.0], Some(50.0)),
        (Space::Node(0), [120.0, 210.0], None),
    ] {
        let joints = Joints {
            nodes: vec![1],
            space,
        };
        let pose = |d: f64| DriverPose {
            name: format!("{d} degrees"),
            values: vec![DriverValue::rotation(about([0.0, 0.0, 1.0], d))],
            scale: 1.0,
            metric: None,
            kernel: None,
            curve: None,
        };
        let found = far_from_rest(&degrees.map(pose), &joints, &rig);
        assert_eq!(found.len(), usize::from(nearest.is_some()), "{found:?}");
        if let Some(away) = nearest {
            let words = format!(
                "joint 'arm': pose '{} degrees' is the pose nearest to rest and is {away:.1} degrees away from it",
                degrees[0]
            );
            assert!(found[0].starts_with(&words), "{found:?}");
        }
    }
}

#[test]
fn without_joints_and_poses_there_are_no_weights() {
    let rig = rig();
    let bound = bind(&rig, Vec::new()).expect("the beginning of a document");
    assert_eq!(ask(&*bound, &rig.rest_pose()), [0.0; 0]);
}

#[test]
fn wrong_names_and_counts() {
    let rig = rig();
    let one = || poses(vec![pose("rest", &[Quat::identity()], true)]);
    let wrong = |settings| bind(&rig, settings).expect_err("wrong").to_string();
    for (text, words) in [
        (wrong(vec![one()]), "'joints': found none"),
        (
            wrong(vec![Setting("joints", texts(&["amr"])), one()]),
            "found 'amr', expected a joint of the rig; known: root, arm, hand",
        ),
        (
            wrong(vec![Setting("joints", texts(&["hnd"])), one()]),
            "found 'hnd', expected a joint of the rig; did you mean 'hand'?",
        ),
        (
            wrong(vec![Setting("joints", texts(&["arm", "hand"])), one()]),
            "pose 'rest' has 1 driver values, expected 2, one for each joint",
        ),
        (wrong(vec![Setting("joints", texts(&["arm"]))]), "no poses"),
        (
            wrong(vec![
                Setting("joints", texts(&["arm"])),
                Setting("kernel", ParameterValue::Text("curve".into())),
                one(),
            ]),
            "curve: found 0 numbers, expected pairs",
        ),
    ] {
        assert!(text.contains(words), "'{text}' lacks '{words}'");
    }
}

const SIGNS: [[f64; 3]; 8] = [
    [1.0, 1.0, 1.0],
    [-1.0, 1.0, 1.0],
    [1.0, -1.0, 1.0],
    [1.0, 1.0, -1.0],
    [-1.0, -1.0, 1.0],
    [-1.0, 1.0, -1.0],
    [1.0, -1.0, -1.0],
    [-1.0, -1.0, -1.0],
];

/// Rotations of no symmetry, at right angles, and past half a turn.
fn turns() -> [Quat<f64>; 5] {
    [
        about([0.0, 0.0, 1.0], 0.0),
        about([0.0, 0.6, 0.8], 40.0),
        about([1.0, 0.0, 0.0], 90.0),
        about([0.48, -0.6, 0.64], 130.0),
        about([0.0, 0.8, -0.6], -75.0),
    ]
}

/// A root, and an arm with that transform at rest.
fn rig_of(arm: Trs) -> Rig {
    let node = |name: &str, parent, local| Node {
        name: name.into(),
        parent,
        local: LocalTransform::Trs(local),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let nodes = vec![
        node("root", None, Trs::default()),
        node("arm", Some(0), arm),
    ];
    Rig::new(nodes, Vec::new()).expect("parents first")
}

fn scaled(rotation: Quat<f64>, signs: [f64; 3]) -> Trs {
    Trs {
        rotation,
        scale: Vec3::from(signs).component_mul(&Vec3::new(1.5, 0.5, 2.0)),
        ..Trs::default()
    }
}

fn record_of(index: usize, joint: Affine<f64>) -> Record {
    let mut out = pose(&format!("p{index}"), &[], true);
    let place = out.fields.iter().position(|f| f.name == "joints");
    out.values[place.expect("declared")] = ParameterValue::Transforms(vec![joint]);
    out
}

/// Weights with the arm at each of `clip`.
fn ask_each(rig: &Rig, settings: Vec<Setting>, clip: &[Trs]) -> Vec<Vec<f64>> {
    let bound = bind(rig, settings).unwrap_or_else(|e| panic!("{e}"));
    let at = |trs: &Trs| {
        let mut pose = rig.rest_pose();
        pose.locals[1] = LocalTransform::Trs(*trs);
        rig.finish(&mut pose);
        ask(&*bound, &pose)
    };
    clip.iter().map(at).collect()
}

fn assert_one_hot(found: &[Vec<f64>], what: &str) {
    for (i, weights) in found.iter().enumerate() {
        for (j, weight) in weights.iter().enumerate() {
            let expected = if i == j { 1.0 } else { 0.0 };
            assert!((weight - expected).abs() < 1e-6, "{what}, {i}: {weights:?}");
        }
    }
}

/// The poses are matrices, the clip has the same matrices taken apart with any signs of scale.
#[test]
fn mirrored_joints_are_in_their_poses_however_their_matrices_are_taken_apart() {
    for signs in SIGNS {
        let clip = turns().map(|q| scaled(q, signs));
        let matrix = |t: &Trs| Affine::from_trs(t.translation, t.rotation, t.scale);
        let records = (0..).zip(&clip).map(|(i, t)| record_of(i, matrix(t)));
        let records: Vec<Record> = records.collect();
        for metric in ["arc", "chord", "euler"] {
            let settings = vec![
                Setting("joints", texts(&["arm"])),
                in_parent(),
                Setting("metric", ParameterValue::Text(metric.into())),
                poses(records.clone()),
            ];
            // The rig rests in another pose and another form than the clip.
            let rest = scaled(about([0.0, 0.0, 1.0], 20.0), signs).in_one_form();
            let found = ask_each(&rig_of(rest), settings, &clip);
            assert_one_hot(&found, &format!("{signs:?}, {metric}"));
        }
    }
}

/// A pose without scale is the joint's rotation as its file has it, where the joint mirrors.
#[test]
fn poses_without_scale_fit_joints_that_mirror() {
    let mirrors = |signs: &[f64; 3]| signs.iter().product::<f64>() < 0.0;
    for signs in SIGNS.into_iter().filter(mirrors) {
        let clip = turns().map(|q| scaled(q, signs));
        let records = turns().into_iter().enumerate();
        let records = records.map(|(i, q)| pose(&format!("p{i}"), &[q], true));
        let settings = vec![
            Setting("joints", texts(&["arm"])),
            in_parent(),
            poses(records.collect()),
        ];
        let rig = rig_of(scaled(Quat::identity(), signs));
        assert_one_hot(&ask_each(&rig, settings, &clip), &format!("{signs:?}"));
    }
}

/// From rest a joint turns about its own axes as the file has them, whatever the clip's signs are.
#[test]
fn turns_from_rest_do_not_depend_on_the_signs_of_a_clip() {
    let rest_turn = about([0.36, 0.48, 0.8], 50.0);
    for signs in SIGNS {
        let rig = rig_of(scaled(rest_turn, signs));
        let records = turns().into_iter().enumerate();
        let records = records.map(|(i, q)| pose(&format!("p{i}"), &[q], true));
        let records: Vec<Record> = records.collect();
        let as_filed = turns().map(|q| scaled(rest_turn * q, signs));
        for clip in [as_filed, as_filed.map(Trs::in_one_form)] {
            let settings = vec![
                Setting("joints", texts(&["arm"])),
                Setting("space", ParameterValue::Text("rest".into())),
                poses(records.clone()),
            ];
            assert_one_hot(&ask_each(&rig, settings, &clip), &format!("{signs:?}"));
        }
    }
}

/// The same drivers without the mirror: arcs between `R diag(s)` are those between the `R`.
#[test]
fn weights_between_poses_are_those_of_the_joint_that_does_not_mirror() {
    let between = turns().map(|q| q * about([0.8, 0.0, 0.6], 25.0));
    let weights = |signs: [f64; 3]| {
        let matrix = |q| {
            let t = scaled(q, signs);
            Affine::from_trs(t.translation, t.rotation, t.scale)
        };
        let records = turns().into_iter().enumerate();
        let records = records.map(|(i, q)| record_of(i, matrix(q)));
        let settings = vec![
            Setting("joints", texts(&["arm"])),
            in_parent(),
            poses(records.collect()),
        ];
        let clip = between.map(|q| scaled(q, signs));
        ask_each(&rig_of(scaled(Quat::identity(), signs)), settings, &clip)
    };
    let plain = weights(SIGNS[0]);
    for signs in SIGNS {
        for (found, expected) in weights(signs).iter().zip(&plain) {
            assert_near(found, expected, 1e-6);
        }
    }
}
