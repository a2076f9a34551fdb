//! The node: names, spaces, what it begins with.

use super::*;
use crate::{
    BindContext, BindInput, BindWarnings, BoundNode, InputValue, Inputs, NodeError, OutputValue,
    Outputs, ParameterDesc, ParameterType, ParameterValue, Parameters, ReadLog, Record,
    UpdateContext,
};
use sinew_geom::{Affine, Joint, LocalTransform, Node, Pose, Rig, Trs};

/// Two joints of the skin, resting at 30 degrees about z, and a node beside them.
fn rig() -> Rig {
    let node = |name: &str, parent| Node {
        name: name.into(),
        parent,
        local: LocalTransform::Trs(Trs {
            rotation: about([0.0, 0.0, 1.0], 30.0).rotation,
            ..Trs::default()
        }),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let nodes = vec![
        node("upper", None),
        node("lower", Some(0)),
        node("tip", Some(1)),
        node("beside", None),
    ];
    let joint = |node| Joint {
        node,
        joint_from_bind: Affine::identity(),
    };
    Rig::new(nodes, vec![joint(0), joint(1), joint(2)]).expect("parents first")
}

/// With the lower joint turned by `degrees` from rest.
fn bent(degrees: f64) -> Pose {
    let rig = rig();
    let mut pose = rig.rest_pose();
    if let LocalTransform::Trs(t) = &mut pose.locals[1] {
        t.rotation *= about([0.0, 0.0, 1.0], degrees).rotation;
    }
    rig.finish(&mut pose);
    pose
}

fn record(name: &str, target: &str, degrees: &[f64]) -> Record {
    let desc = DESC.parameter("poses").expect("declared");
    let ParameterType::Records(fields) = desc.ty else {
        panic!("poses are records");
    };
    let joint = |degrees: &f64| {
        let turn = about([0.0, 0.0, 1.0], *degrees).rotation;
        Affine::from_trs(Vec3::zeros(), turn, Vec3::repeat(1.0))
    };
    let value = |f: &ParameterDesc| match f.name {
        "name" => ParameterValue::Text(name.into()),
        "target" => ParameterValue::Text(target.into()),
        _ => ParameterValue::Transforms(degrees.iter().map(joint).collect()),
    };
    Record {
        fields,
        values: fields.iter().map(value).collect(),
    }
}

type Setting = (&'static str, ParameterValue);

fn text(name: &'static str, word: &str) -> Setting {
    (name, ParameterValue::Text(word.into()))
}

fn texts(list: &[&str]) -> Setting {
    let list = list.iter().map(|t| (*t).to_owned()).collect();
    ("joints", ParameterValue::Texts(list))
}

fn poses(list: Vec<Record>) -> Setting {
    ("poses", ParameterValue::Records(list))
}

fn values(settings: Vec<Setting>) -> Vec<ParameterValue> {
    let mut values: Vec<ParameterValue> =
        DESC.parameters.iter().map(|d| d.default_value()).collect();
    for (name, value) in settings {
        let index = DESC.parameters.iter().position(|d| d.name == name);
        values[index.expect("declared")] = value;
    }
    values
}

fn bind(mesh: &Mesh, values: &[ParameterValue]) -> Result<Box<dyn BoundNode>, NodeError> {
    bind_to(mesh, &rig(), values)
}

fn bind_to(
    mesh: &Mesh,
    rig: &Rig,
    values: &[ParameterValue],
) -> Result<Box<dyn BoundNode>, NodeError> {
    let log = ReadLog::new();
    let fixed = vec![true; values.len()];
    let out = (DESC.bind)(&BindContext {
        inputs: &[
            Some(BindInput::Mesh(mesh)),
            Some(BindInput::Pose(rig)),
            None,
        ],
        ports: DESC.inputs,
        parameters: Parameters {
            descs: DESC.parameters,
            values,
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

fn update(mesh: &Mesh, bound: &dyn BoundNode, values: &[ParameterValue], pose: &Pose) -> Moved {
    let mut out = Moved::nowhere(mesh.vertex_count());
    let (log, mut scratch) = (ReadLog::new(), bound.new_scratch());
    bound.update(UpdateContext {
        time_secs: 0.0,
        dt_secs: 0.0,
        is_first: true,
        reach: None,
        par: Par::Seq,
        parameters: Parameters {
            descs: DESC.parameters,
            values,
            log: &log,
        },
        inputs: Inputs {
            values: &[
                Some(InputValue::Mesh(view(mesh))),
                Some(InputValue::Pose(pose)),
                None,
            ],
            ports: DESC.inputs,
            log: &log,
        },
        outputs: Outputs {
            values: [Some(OutputValue::Mesh(out.view()))].into_iter().collect(),
            ports: DESC.outputs,
            log: &log,
        },
        scratch: &mut *scratch,
    });
    log.check().expect("every name is declared");
    out
}

#[test]
fn spaces() {
    let mesh = mesh(&["a"]);
    let rest = Moved {
        positions: mesh.positions.clone(),
        normals: mesh.normals.clone().expect("normals"),
        tangents: mesh.tangents.clone().expect("tangents"),
    };
    for (space, [straight, turned]) in [
        ("parent", [30.0, 120.0]),
        ("rest", [0.0, 90.0]),
        ("joint", [30.0, 120.0]),
    ] {
        let values = values(vec![
            texts(&["lower"]),
            text("space", space),
            text("reference", "upper"),
            poses(vec![
                record("neutral", "", &[straight]),
                record("bent", "a", &[turned]),
            ]),
        ]);
        let bound = bind(&mesh, &values).expect(space);
        let out = update(&mesh, &*bound, &values, &bent(0.0));
        assert!(worst(&out.positions, &rest.positions) < 1e-6, "{space}");
        let out = update(&mesh, &*bound, &values, &bent(90.0));
        for (&v, d) in mesh.morph_targets[0]
            .vertices
            .iter()
            .zip(&mesh.morph_targets[0].positions)
        {
            // The first joint's own column and the last row do not follow the lower joint.
            let v = v as usize;
            let d = if v.is_multiple_of(12) || v + 12 >= 84 {
                [0.0; 3]
            } else {
                *d
            };
            let expected: [f32; 3] = std::array::from_fn(|c| mesh.positions[v][c] + d[c]);
            assert!(
                worst(&out.positions[v..=v], &[expected]) < 1e-6,
                "{space}, {v}"
            );
        }
    }
}

#[test]
fn without_joints_and_poses_the_mesh_passes() {
    let mesh = mesh(&[]);
    let values = values(Vec::new());
    let bound = bind(&mesh, &values).expect("the beginning of a document");
    let out = update(&mesh, &*bound, &values, &bent(50.0));
    assert_eq!(out.positions, mesh.positions);
    assert_eq!(Some(out.normals), mesh.normals);
    assert_eq!(Some(out.tangents), mesh.tangents);
    assert_eq!(bound.setup_bytes() + bound.scratch_bytes(), 0);
}

#[test]
fn bytes_are_those_of_what_moves() {
    let mesh = mesh(&["a"]);
    let values = values(vec![
        texts(&["lower"]),
        poses(vec![
            record("neutral", "", &[0.0]),
            record("bent", "a", &[90.0]),
        ]),
    ]);
    let bound = bind(&mesh, &values).expect("binds");
    // 84 vertices, less the first ten, the last row, and those of the column that does not follow.
    let blocks = (84 - 10 - 12 - 5_usize).div_ceil(8);
    let coefficients = 2 * 3 * 3 * 4 * 8;
    let least = blocks * coefficients;
    let bytes = bound.setup_bytes();
    assert!((least..least + blocks * 200).contains(&bytes), "{bytes}");
    assert_eq!(bound.scratch_bytes(), size_of::<DriverValue>() + 2 * 4);
}

#[test]
fn wrong_names() {
    let mesh = mesh(&["a"]);
    let one = || poses(vec![record("neutral", "", &[0.0])]);
    let wrong = |settings| {
        let values = values(settings);
        bind(&mesh, &values).expect_err("wrong").to_string()
    };
    for (text, words) in [
        (wrong(vec![one()]), "'joints': found none"),
        (
            wrong(vec![texts(&["lowr"]), one()]),
            "found 'lowr', expected a joint of the rig; did you mean 'lower'?",
        ),
        (
            wrong(vec![texts(&["beside"]), one()]),
            "found 'beside', which is not a joint of the skin, expected joints of the skin",
        ),
        (
            wrong(vec![
                texts(&["lower"]),
                text("space", "joint"),
                text("reference", "uper"),
                one(),
            ]),
            "parameter 'reference': found 'uper'",
        ),
        (wrong(vec![texts(&["lower"])]), "no poses"),
        (
            wrong(vec![texts(&["lower", "tip"]), one()]),
            "pose 'neutral' has 1 driver values, expected 2, one for each joint",
        ),
        (
            wrong(vec![
                texts(&["lower"]),
                poses(vec![record("p", "b", &[0.0])]),
            ]),
            "pose 'p': the mesh has no morph target 'b'; did you mean 'a'?",
        ),
    ] {
        assert!(text.contains(words), "'{text}' lacks '{words}'");
    }
    let values = values(vec![texts(&["beside"]), text("influence", "equal"), one()]);
    assert!(bind(&mesh, &values).is_ok(), "nobody asks for its skin");
}

/// Every word of documents means something else.
#[test]
fn words_of_influence() {
    let Some(ParameterType::Choice(words)) = DESC.parameter("influence").map(|p| p.ty) else {
        panic!("a choice");
    };
    let meanings: Vec<JointInfluence> = words
        .iter()
        .map(|w| JointInfluence::from_word(w.name))
        .collect();
    assert_eq!(meanings, [JointInfluence::Skin, JointInfluence::Equal]);
}

/// Bound at a pose of a joint whose scale is negative throughout, the mesh shows that pose's target, whole.
#[test]
fn mirrored_joints_show_the_targets_of_their_poses() {
    let turned = about([0.48, -0.6, 0.64], 70.0).rotation;
    for signs in [
        [-1.0, -1.0, -1.0],
        [1.0, 1.0, -1.0],
        [1.0, -1.0, -1.0],
        [-1.0, 1.0, 1.0],
    ] {
        let signs = Vec3::from(signs);
        let mut nodes = rig().nodes().to_vec();
        let trs = |rotation| Trs {
            rotation,
            scale: signs,
            ..Trs::default()
        };
        nodes[1].local = LocalTransform::Trs(trs(Quat::identity()));
        let rig = Rig::new(nodes, rig().joints().to_vec()).expect("parents first");
        let of_pose = |name: &str, target: &str, rotation| {
            let mut out = record(name, target, &[]);
            let place = out.fields.iter().position(|f| f.name == "joints");
            let joint = Affine::from_trs(Vec3::zeros(), rotation, signs);
            out.values[place.expect("declared")] = ParameterValue::Transforms(vec![joint]);
            out
        };
        let values = values(vec![
            texts(&["lower"]),
            text("space", "parent"),
            text("influence", "equal"),
            poses(vec![
                of_pose("neutral", "", Quat::identity()),
                of_pose("bent", "a", turned),
            ]),
        ]);
        let mesh = mesh(&["a"]);
        let bound = bind_to(&mesh, &rig, &values).unwrap_or_else(|e| panic!("{e}"));
        let mut pose = rig.rest_pose();
        pose.locals[1] = LocalTransform::Trs(trs(turned));
        rig.finish(&mut pose);
        let found = update(&mesh, &*bound, &values, &pose).positions;
        let target = &mesh.morph_targets[0];
        for (&v, delta) in target.vertices.iter().zip(&target.positions) {
            let rest = mesh.positions[v as usize];
            for axis in 0..3 {
                let expected = rest[axis] + delta[axis];
                let at = found[v as usize][axis];
                assert!(
                    (at - expected).abs() < 1e-5,
                    "{signs:?}, {v}: {at} {expected}"
                );
            }
        }
    }
}
