//! The node: spaces, poses that do not take part, errors.

use super::published::{about, assert_near};
use crate::pose_driver::DESC;
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
        pose("rest", &[z(30.0)], true),
        pose("off", &[z(75.0)], false),
        pose("bent", &[z(120.0)], true),
    ];
    let settings = vec![Setting("joints", texts(&["arm"])), poses(list)];
    let bound = bind(&rig, settings).expect("two poses");
    assert_near(&ask(&*bound, &bent(&rig, 90.0)), &[0.0, 0.0, 1.0], 1e-6);
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
            "found 'amr', expected a joint of the rig; there are root, arm, hand",
        ),
        (
            wrong(vec![Setting("joints", texts(&["hnd"])), one()]),
            "found 'hnd', expected a joint of the rig; did you mean 'hand'?",
        ),
        (
            wrong(vec![Setting("joints", texts(&["arm", "hand"])), one()]),
            "pose 'rest' has 1 driver values, the driver has 2 joints",
        ),
        (wrong(vec![Setting("joints", texts(&["arm"]))]), "no poses"),
        (
            wrong(vec![
                Setting("joints", texts(&["arm"])),
                Setting("kernel", ParameterValue::Text("curve".into())),
                one(),
            ]),
            "curve: 0 numbers",
        ),
    ] {
        assert!(text.contains(words), "'{text}' lacks '{words}'");
    }
}
