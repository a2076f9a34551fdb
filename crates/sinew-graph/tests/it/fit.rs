//! The key `fit`: regions that are found from the rest mesh, against boxes that the tests compute.

use sinew_deform::{Par, ParameterValue, Phase};
use sinew_geom::{Affine, Influences, Joint, LocalTransform, Mesh, Node, Quat, Rig, Trs, Vec3};
use sinew_graph::{BoundGraph, InputBinding, NoNesting, compile};
use sinew_testkit::meshes;
use std::sync::Arc;

/// A tube along x of radius 0.2 over 2 m. The second joint has all vertices beyond x = 0.3, and is rotated.
fn tube() -> (Mesh, Rig) {
    let mut mesh = meshes::tube(20, 12, 2.0, 0.2);
    let count = mesh.vertex_count();
    let rows: Vec<Vec<(u32, f32)>> = (0..count)
        .map(|v| vec![(u32::from(mesh.positions[v][0] > 0.3), 1.0)])
        .collect();
    let rows: Vec<&[(u32, f32)]> = rows.iter().map(Vec::as_slice).collect();
    mesh.influences = Some(
        Influences::from_rows(rows.iter().copied(), 2, 0)
            .expect("valid")
            .0,
    );
    let node = |name: &str, trs: Trs| Node {
        name: name.into(),
        parent: None,
        local: LocalTransform::Trs(trs),
        morph_weights: Vec::new(),
        morph_offset: 0,
    };
    let bind = Trs {
        translation: Vec3::new(0.1, 0.3, -0.2),
        rotation: Quat::from_euler_angles(0.3, -0.8, 0.5),
        scale: Vec3::repeat(1.5),
    };
    let tip = Affine::from_trs(bind.translation, bind.rotation, bind.scale);
    let joints = [Affine::identity(), tip.inverse().expect("regular")];
    let joints = joints
        .into_iter()
        .enumerate()
        .map(|(node, joint_from_bind)| Joint {
            node,
            joint_from_bind,
        });
    let nodes = vec![node("root", Trs::default()), node("tip", bind)];
    (mesh, Rig::new(nodes, joints.collect()).expect("valid"))
}

fn document(it: &str) -> String {
    format!(
        r#"{{"sinew": "1.0", "inputs": {{"body": {{"type": "mesh"}}, "pose": {{"type": "pose"}}, "n": {{"type": "values", "count": 1}}}},
"nodes": {{
"upper": {{"node": "mask", "mesh": "body", "source": "joint", "joints": ["tip"], "pose": "pose"}},
"high": {{"node": "mask", "mesh": "body", "source": "plane", "invert": true, "falloff": 0, "transform": {{"translation": [0.55, 0, 0], "rotation_degrees": [0, 0, -90]}}}},
"none": {{"node": "mask", "mesh": "body", "value": 0}},
"moving": {{"node": "mask", "mesh": "body", "value": "n"}},
"it": {{"mesh": "body", {it}}}}},
"outputs": {{"out": "it", "upper": "upper", "high": "high", "none": "none", "moving": "moving"}}}}"#
    )
}

fn bind(it: &str) -> Result<BoundGraph, String> {
    let plan = compile("g.json", &document(it), &NoNesting).map_err(|e| e.to_string())?;
    let (mesh, rig) = tube();
    let inputs = [
        InputBinding::Mesh(Arc::new(mesh)),
        InputBinding::Pose(Arc::new(rig)),
        InputBinding::Values,
    ];
    BoundGraph::bind(Arc::new(plan), &inputs, &[], Par::Seq).map_err(|e| e.to_string())
}

/// A parameter of the node `it` as bound.
fn value(graph: &BoundGraph, name: &str) -> ParameterValue {
    let all = [Phase::Setup, Phase::Update];
    let mut steps = all.iter().flat_map(|p| graph.program().steps(*p));
    let step = steps.find(|s| s.name == "it").expect("a step");
    let index = step.desc.parameters.iter().position(|p| p.name == name);
    step.values[index.expect("a parameter")].clone()
}

/// The transform of a node's region, and its least and largest corner before that.
fn region(graph: &BoundGraph, kind: &str, axis: usize) -> (Affine<f64>, Vec3<f64>, Vec3<f64>) {
    let placement = match kind {
        "lattice" => "rest_transform",
        _ => "transform",
    };
    let ParameterValue::Transform(transform) = value(graph, placement) else {
        panic!("a transform");
    };
    let (low, high) = match kind {
        "lattice" => {
            let ParameterValue::Vec3(size) = value(graph, "size") else {
                panic!("a size");
            };
            (Vec3::from(size) * -0.5, Vec3::from(size) * 0.5)
        }
        "mask" => (Vec3::repeat(-1.0), Vec3::repeat(1.0)),
        _ => {
            let ParameterValue::Float(length) = value(graph, "length") else {
                panic!("a length");
            };
            let mut high = Vec3::zeros();
            high[axis] = length;
            (Vec3::zeros(), high)
        }
    };
    (transform, low, high)
}

/// The least and largest coordinates of points in a frame with the given rotation.
fn bounds(points: impl Iterator<Item = [f32; 3]>, rotation: Quat<f64>) -> (Vec3<f64>, Vec3<f64>) {
    let (mut low, mut high) = (Vec3::repeat(f64::MAX), Vec3::repeat(f64::MIN));
    for p in points {
        let p = rotation.inverse() * Vec3::from(p.map(f64::from));
        for c in 0..3 {
            low[c] = low[c].min(p[c]);
            high[c] = high[c].max(p[c]);
        }
    }
    (low, high)
}

const NODES: [(&str, &str, usize); 8] = [
    ("lattice", "", 0),
    ("mask", r#", "source": "box""#, 0),
    ("mask", r#", "source": "sphere""#, 0),
    ("bend", r#", "axis": "x""#, 0),
    ("twist", "", 1),
    ("taper", r#", "axis": "z""#, 2),
    ("sine", r#", "axis": "y""#, 1),
    ("squash_stretch", r#", "axis": "z""#, 2),
];

/// Every node finds the box of the chosen vertices, with a margin, along the axes of the joint or of the scene.
#[test]
fn regions_are_the_boxes_of_their_vertices() {
    let (mesh, _) = tube();
    let tip = Quat::from_euler_angles(0.3, -0.8, 0.5);
    let above = |x: f32| mesh.positions.iter().copied().filter(move |p| p[0] > x);
    let scene = Quat::identity();
    for (fit, margin, (low, high), rotation) in [
        (r#""mesh""#, 0.0, bounds(above(-9.0), scene), scene),
        (
            r#"{"margin": 0.05}"#,
            0.05,
            bounds(above(-9.0), scene),
            scene,
        ),
        (
            r#"{"mask": "upper"}"#,
            0.0,
            bounds(above(0.3), scene),
            scene,
        ),
        (
            r#"{"mask": "high.mask", "margin": 0.1}"#,
            0.1,
            bounds(above(0.55), scene),
            scene,
        ),
        (r#"{"joint": "tip"}"#, 0.0, bounds(above(0.3), tip), tip),
        (
            r#"{"joint": "tip", "margin": 0.02}"#,
            0.02,
            bounds(above(0.3), tip),
            tip,
        ),
    ] {
        let (low, high) = (low.add_scalar(-margin), high.add_scalar(margin));
        for follow in ["", r#", "follow": "tip""#] {
            for (kind, more, axis) in NODES {
                let it = format!(r#""node": "{kind}"{more}, "fit": {fit}{follow}"#);
                let graph = bind(&it).unwrap_or_else(|e| panic!("{it}: {e}"));
                let (transform, from, to) = region(&graph, kind, axis);
                let center = (low + high) * 0.5;
                let (mut first, mut last) = (low, high);
                if !matches!(kind, "lattice" | "mask") {
                    (first, last) = (center, center);
                    (first[axis], last[axis]) = (low[axis], high[axis]);
                }
                for (found, expected) in [(from, first), (to, last)] {
                    let off = (transform.point(found) - rotation * expected).norm();
                    assert!(off < 1e-6, "{it}: {off}");
                }
                let notes = graph.notes();
                let note = notes.iter().find(|n| n.node == "it").expect("a note");
                let size = note
                    .note
                    .values
                    .iter()
                    .find(|v| v.0 == "size_x")
                    .expect("x");
                assert!(
                    (size.1 - (high.x - low.x)).abs() < 1e-6,
                    "{}",
                    note.note.text
                );
            }
        }
    }
}

/// A flat mesh has a region a thousandth as thick as long.
#[test]
fn flat_meshes_have_a_region() {
    let plan = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
"nodes": {"it": {"node": "lattice", "mesh": "body", "fit": "mesh"}}, "outputs": {"body": "it"}}"#;
    let plan = compile("g.json", plan, &NoNesting).expect("valid");
    let mesh = meshes::grid(7, 5);
    let (low, high) = bounds(mesh.positions.iter().copied(), Quat::identity());
    let inputs = [InputBinding::Mesh(Arc::new(mesh))];
    let graph = BoundGraph::bind(Arc::new(plan), &inputs, &[], Par::Seq).expect("binds");
    let side = (high - low).max();
    let expected = (high - low).map(|s| s.max(1e-3 * side));
    let ParameterValue::Vec3(size) = value(&graph, "size") else {
        panic!("a size");
    };
    assert!(
        (Vec3::from(size) - expected).norm() < 1e-9,
        "{size:?} {expected}"
    );
}

#[test]
fn wrong_fits_are_located() {
    let mut wrong = Vec::new();
    for (it, expected) in [
        (
            r#""node": "twist", "fit": "mesh", "length": 2"#,
            "g.json:7:56: 'fit' finds 'length', which is given as well; remove one of the two",
        ),
        (
            r#""node": "lattice", "fit": "mesh", "rest_transform": {}"#,
            "'fit' finds 'rest_transform', which is given as well",
        ),
        (
            r#""node": "mask", "source": "plane", "fit": "mesh""#,
            "g.json:7:59: 'fit' is for boxes and spheres; use \"source\": \"box\" or \"sphere\", or remove 'fit'",
        ),
        (
            r#""node": "twist", "fit": "body""#,
            "'fit' is \"body\"; expected \"mesh\", {\"mask\": \"NAME\"}, {\"joint\": \"NAME\"} or {\"margin\": 0.1}",
        ),
        (
            r#""node": "twist", "fit": {"bone": "tip"}"#,
            "'fit' has no key 'bone'; expected",
        ),
        (
            r#""node": "twist", "fit": {"joint": "tip", "mask": "upper"}"#,
            "'fit' has more than one of mask, joint; give one of them",
        ),
        (
            r#""node": "twist", "fit": {"margin": -1}"#,
            "'fit.margin' is -1, which is out of range; expected a number from 0",
        ),
        (
            r#""node": "twist", "fit": {"mask": "uper"}"#,
            "there is no input or node 'uper'; parameter 'fit' of 'it' takes the name of a mask, or a link; did you mean 'upper'?",
        ),
        (
            r#""node": "smooth", "fit": "mesh""#,
            "smooth has no input or parameter 'fit'",
        ),
        (
            r#""node": "twist", "fit": {"mask": "none"}"#,
            "g.json:7:57: node 'it' (twist): parameter 'fit': found a mask without a weight above 0, expected vertices",
        ),
        (
            r#""node": "twist", "fit": {"mask": "moving"}"#,
            "found mask 'moving', which needs data of a frame (input 'n': found no values, expected 1), expected a mask that needs nothing but the mesh and the rest pose",
        ),
        (
            r#""node": "twist", "fit": {"joint": "tipp"}"#,
            "g.json:7:58: node 'it' (twist): parameter 'fit': found joint 'tipp', expected the name of a joint (did you mean 'tip'?)",
        ),
    ] {
        let said = bind(it).err().unwrap_or_default();
        if !said.contains(expected) {
            wrong.push(format!("{said}\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
