//! Parameters that are lists of objects, and lists of transforms.

use sinew_deform::{
    BindContext, BoundNode, Choice, DefaultValue, MeshEffect, NodeDesc, NodeDocs, NodeError,
    NodeKind, Par, ParameterDesc, ParameterType, ParameterValue, Phase, PortDesc, PortType,
    UpdateContext,
};
use sinew_geom::{Affine, Vec3};
use sinew_graph::{
    Frame, InputBinding, Instance, NoNesting, ParameterSource, Plan, compile_with_nodes,
};
use sinew_testkit::meshes;
use std::sync::Arc;

const RULES: &[Choice] = &[
    Choice {
        name: "product",
        doc: "Multiplied.",
    },
    Choice {
        name: "minimum",
        doc: "The least.",
    },
];
const FIELDS: &[ParameterDesc] = &[
    ParameterDesc::text("name", "Its name.").required(),
    ParameterDesc::float("at", 0.5, 0.0, 1.0, "Where.").in_setup(),
    ParameterDesc::choice("rule", "minimum", RULES, "How."),
    ParameterDesc::texts("of", "Of what."),
    ParameterDesc::transforms("joints", "Where the joints are."),
];
const PARAMETERS: &[ParameterDesc] = &[
    ParameterDesc::records("poses", FIELDS, "Poses."),
    ParameterDesc::transforms("neutral", "Without any."),
    ParameterDesc::int("slip", 0, 0, 1, "Whether a field is misread."),
];

const IN: &[PortDesc] = &[PortDesc::input("mesh", PortType::Mesh, "A mesh.")];
const OUT: &[PortDesc] = &[PortDesc::mesh_output(MeshEffect::MOVES_POINTS, "A mesh.")];

const fn node(parameters: &'static [ParameterDesc]) -> NodeDesc {
    NodeDesc {
        name: "posed",
        kind: NodeKind::Deformer,
        summary: "Moves a mesh by all that its poses say.",
        docs: NodeDocs::NONE,
        rows: &[],
        inputs: IN,
        outputs: OUT,
        parameters,
        bind,
        restore: None,
    }
}
static POSED: NodeDesc = node(PARAMETERS);

fn bind(context: &BindContext<'_>) -> Result<Box<dyn BoundNode>, NodeError> {
    let mut by = Vec3::zeros();
    for pose in context.parameters.records("poses") {
        let joints = pose.transforms("joints").iter();
        by += joints.map(|j| j.translation).sum::<Vec3<f64>>() * pose.float("at");
        if context.parameters.int("slip") == 1 {
            by.x += pose.float("att");
        }
    }
    Ok(Box::new(Posed(by)))
}

#[derive(Debug)]
struct Posed(Vec3<f64>);

impl BoundNode for Posed {
    fn setup_bytes(&self) -> usize {
        0
    }
    fn update(&self, mut context: UpdateContext<'_>) {
        let input = context.inputs.mesh("mesh").positions;
        if let Some(out) = context.outputs.mesh("mesh").positions {
            for (out, p) in out.iter_mut().zip(input) {
                *out = std::array::from_fn(|c| p[c] + self.0[c] as f32);
            }
        }
    }
}

fn document(parameters: &str) -> String {
    format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}}}, "nodes": {{"it": {{"node": "posed", "mesh": "body"
{parameters}}}}}, "outputs": {{"body": "it"}}}}"#
    )
}

fn compiled(parameters: &str) -> Result<Plan, String> {
    let kinds = [&POSED];
    compile_with_nodes("g.json", &document(parameters), &NoNesting, &kinds)
        .map_err(|e| e.to_string())
}

fn values(plan: &Plan) -> Vec<ParameterValue> {
    let constant = |s: &ParameterSource| match s {
        ParameterSource::Constant(v) => v.clone(),
        other => panic!("{other:?} is no constant"),
    };
    plan.nodes()[0].parameters.iter().map(constant).collect()
}

#[test]
fn fields_are_read_and_missing_ones_take_their_defaults() {
    let plan = compiled(
        r#", "poses": [{"name": "bent", "at": 0.25, "joints": [{"translation": [1, 2, 3]}, {}]},
                       {"of": ["$a", "b"], "rule": "product", "name": "turned"}],
            "neutral": [{"scale": [2, 2, 2]}]"#,
    )
    .expect("holds together");
    let values = values(&plan);
    let ParameterValue::Records(poses) = &values[0] else {
        panic!("{:?} are no records", values[0])
    };
    let text = |t: &str| ParameterValue::Text(t.into());
    let moved = Affine {
        translation: Vec3::new(1.0, 2.0, 3.0),
        ..Affine::identity()
    };
    assert_eq!(
        poses[0].values,
        [
            text("bent"),
            ParameterValue::Float(0.25),
            text("minimum"),
            ParameterValue::Texts(vec![]),
            ParameterValue::Transforms(vec![moved, Affine::identity()]),
        ]
    );
    assert_eq!(
        poses[1].values,
        [
            text("turned"),
            ParameterValue::Float(0.5),
            text("product"),
            ParameterValue::Texts(vec!["$a".into(), "b".into()]),
            ParameterValue::Transforms(vec![]),
        ]
    );
    let ParameterValue::Transforms(neutral) = &values[1] else {
        panic!("{:?} are no transforms", values[1])
    };
    assert_eq!(neutral.len(), 1);
    assert_eq!(neutral[0].linear, Affine::identity().linear * 2.0);
}

#[test]
fn lists_are_empty_where_the_document_is_silent() {
    let values = values(&compiled("").expect("holds together"));
    assert_eq!(values[0], ParameterValue::Records(vec![]));
    assert_eq!(values[1], ParameterValue::Transforms(vec![]));
}

#[test]
fn errors_are_told_at_their_place() {
    // The place of each is the line after the first, and the column that the text after `@` stands in.
    let cases = [
        (
            r#", "poses": [{"name": "a"}, {@"nam": "b"}]"#,
            "'poses[1]' has no field 'nam'; did you mean 'name'?",
        ),
        (
            r#", "poses": [{"name": "a", @"weight": 1}]"#,
            "'poses[0]' has no field 'weight'; its fields are name, at, rule, of, joints",
        ),
        (
            r#", "poses": [@{"at": 1}]"#,
            "'poses[0]' needs the field 'name'; add \"name\": a text: Its name.",
        ),
        (
            r#", "poses": [{"name": @7}]"#,
            "'poses[0].name' is 7; expected a text",
        ),
        (
            r#", "poses": [{"name": "a", "at": @1.5}]"#,
            "'poses[0].at' is 1.5, which is out of range; expected a number from 0 to 1",
        ),
        (
            r#", "poses": [{"name": "a", "at": @"$w"}]"#,
            "'poses[0].at' is \"$w\"; expected a number from 0 to 1",
        ),
        (
            r#", "poses": [{"name": "a", "rule": @"prodct"}]"#,
            "'poses[0].rule' cannot be \"prodct\"; did you mean \"product\"? expected one of \"product\", \"minimum\"",
        ),
        (
            r#", "poses": [{"name": "a", "joints": [{}, {@"rotate": 1}]}]"#,
            "a transform has no key 'rotate'; expected translation, rotation, rotation_degrees, scale, matrix",
        ),
        (
            r#", "poses": [{"name": "a", "joints": [{}, {"rotation_degrees": @[0, 90]}]}]"#,
            "'poses[0].joints[1].rotation_degrees' is a list of 2; expected a list of 3 numbers",
        ),
        (
            r#", "poses": [{"name": "a", "joints": [{"rotation": @[0, 0, 0, 0]}]}]"#,
            "'poses[0].joints[0].rotation' is a quaternion of length 0; expected [x, y, z, w] of length 1",
        ),
        (
            r#", "poses": [{"name": "a", "joints": [@1]}]"#,
            "'poses[0].joints[0]' is 1; expected a transform such as",
        ),
        (
            r#", "poses": [@"a"]"#,
            "'poses[0]' is \"a\"; expected an object, as in [{\"name\": ..., \"at\": ..., \"rule\": ..., \"of\": ..., \"joints\": ...}, ...]",
        ),
        (
            r#", "poses": @{"name": "a"}"#,
            "'poses' is an object; expected a list of objects, [{\"name\": ...",
        ),
        (
            r#", "poses": @{"keys": [[0, []]]}"#,
            "'poses' is read in setup only and cannot have keys; expected a list of objects",
        ),
        (
            r#", "neutral": @{"keys": [[0, []]]}"#,
            "'neutral' is read in setup only and cannot have keys; expected a list of transforms",
        ),
        (
            r#", "poses": @"$p""#,
            "'poses' cannot refer to a parameter of the graph; write the value here: a list of objects",
        ),
        (
            r#", "neutral": [{"matrix": @[1, 2, 3]}]"#,
            "'neutral[0].matrix' is a list of 3; expected a list of 16 numbers",
        ),
    ];
    for (parameters, expected) in cases {
        let column = parameters.find('@').expect("marked") + 1;
        let error = compiled(&parameters.replacen('@', "", 1)).expect_err(expected);
        let expected = format!("g.json:2:{column}: {expected}");
        assert!(error.starts_with(&expected), "{error}\nnot {expected}");
        assert!(!error.contains('\n'), "one slip, one error: {error}");
    }
}

#[test]
fn all_that_is_wrong_is_told() {
    let error = compiled(
        r#", "poses": [{"name": 1, "at": 2}, {"at": 0.5}, {"off": 1}], "neutral": [1, {}, 2]"#,
    )
    .expect_err("six slips");
    assert_eq!(error.lines().count(), 6, "{error}");
}

#[test]
fn graphs_declare_no_such_parameters() {
    for word in ["records", "transforms"] {
        let text = document("").replace(
            "\"nodes\"",
            &format!("\"parameters\": {{\"p\": {{\"type\": \"{word}\"}}}}, \"nodes\""),
        );
        let error = compile_with_nodes("g.json", &text, &NoNesting, &[&POSED]).expect_err(word);
        let expected = format!(
            "g.json:1:85: parameter 'p' cannot be of type '{word}'; write lists of transforms and lists of objects in the node that reads them"
        );
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn a_node_reads_them_by_name() {
    let run = |parameters: &str| {
        let plan = compiled(parameters).unwrap_or_else(|e| panic!("{e}"));
        let mesh = InputBinding::Mesh(Arc::new(meshes::cube()));
        let mut i = Instance::bind(Arc::new(plan), &[mesh], &[], Par::Seq)?;
        i.update(&Frame::default(), Par::Seq).expect("fits");
        let out = i.mesh_output("body").expect("body").positions[0];
        Ok::<_, sinew_graph::BindError>(out)
    };
    let poses = r#", "poses": [{"name": "a", "joints": [{"translation": [1, 2, 3]}, {"translation": [1, 0, 0]}]}, {"name": "b", "at": 1, "joints": [{"translation": [0, 0, 4]}]}]"#;
    let rest = meshes::cube().positions[0];
    let expected = [rest[0] + 1.0, rest[1] + 1.0, rest[2] + 5.5];
    assert_eq!(run(poses).expect("binds"), expected);
    let error = run(&format!("{poses}, \"slip\": 1")).expect_err("a slip");
    assert!(
        error
            .to_string()
            .contains("it reads the parameter 'att' as float"),
        "{error}"
    );
}

/// What was made with one list does not belong to another.
#[test]
fn they_enter_the_key_of_a_bound_graph() {
    let key = |at: f64| {
        let plan = compiled(&format!(r#", "poses": [{{"name": "a", "at": {at}}}]"#));
        let mesh = InputBinding::Mesh(Arc::new(meshes::cube()));
        let bound = Instance::bind(Arc::new(plan.expect("checks")), &[mesh], &[], Par::Seq);
        bound.expect("binds").graph().content_key()
    };
    assert_eq!(key(0.5), key(0.5));
    assert_ne!(key(0.5), key(0.25));
}

/// Descriptions that do not hold together are told as bugs of the node.
#[test]
fn descriptions_are_checked() {
    const INNER: &[ParameterDesc] = &[ParameterDesc::records("inner", FIELDS, "Lists in lists.")];
    const TWICE: &[ParameterDesc] = &[
        ParameterDesc::text("name", "Its name."),
        ParameterDesc::text("name", "Its name."),
    ];
    const OUTSIDE: &[ParameterDesc] = &[ParameterDesc::float("at", 2.0, 0.0, 1.0, "Where.")];
    const fn moving(ty: ParameterType) -> ParameterDesc {
        ParameterDesc {
            name: "list",
            ty,
            default: DefaultValue::Empty,
            unit: "",
            phase: Phase::Update,
            role: sinew_deform::Role::Plain,
            doc: "",
        }
    }
    const LISTS: [&[ParameterDesc]; 5] = [
        &[ParameterDesc::records("poses", INNER, "Poses.")],
        &[ParameterDesc::records("poses", TWICE, "Poses.")],
        &[ParameterDesc::records("poses", OUTSIDE, "Poses.")],
        &[ParameterDesc::text("name", "Its name.").required()],
        &[moving(ParameterType::Transforms)],
    ];
    static NODES: [NodeDesc; 5] = [
        node(LISTS[0]),
        node(LISTS[1]),
        node(LISTS[2]),
        node(LISTS[3]),
        node(LISTS[4]),
    ];
    let expected = [
        "the field 'inner' of 'poses' is itself a list of objects",
        "two fields of 'poses' are called 'name'",
        "in 'poses', the default of 'at' does not fit its type or range",
        "the parameter 'name' has no default, which only fields of records may omit",
        "the parameter 'list' is a list that is read in setup, but is declared for update",
    ];
    for (desc, expected) in NODES.iter().zip(expected) {
        let error = compile_with_nodes("g.json", &document(""), &NoNesting, &[desc]);
        let error = error.expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}\nnot {expected}");
    }
}
