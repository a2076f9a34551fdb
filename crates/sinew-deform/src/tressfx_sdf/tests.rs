//! The field by itself, and the same numbers through the node and its readers.

mod independent;

use super::field::key;
use super::*;
use crate::collide::{Distance, FieldCollider, GradientMode, tressfx_response};
use crate::sdf::{FieldView, FieldWords, NO_BRICK, slice};
use crate::{
    BindContext, BindInput, BindWarnings, BoundNode, InputValue, Inputs, MeshView, NodeError,
    OutputValue, Outputs, Par, ParameterValue, Parameters, ReadLog, UpdateContext,
};
use sinew_geom::{
    Affine, Joint, LocalTransform, Mesh, Node, PackedAffine, Pose, Quat, Rig, Topology, Trs, Vec3,
};
use sinew_testkit::meshes;

#[test]
fn compatibility_field_of_a_sphere() {
    let mesh = meshes::sphere(24, 48);
    let mut field = CompatibilityField::new(&mesh.positions, 20).expect("extent");
    assert!((field.cell - 0.1).abs() < 1e-3);
    assert!(
        field.nodes.iter().all(|&n| n == 52 || n == 51),
        "{:?}",
        field.nodes
    );
    field.build(&mesh.topology, &mesh.positions);
    assert!((field.sample([1.05, 0.0, 0.0]) - 0.05).abs() < 0.01);
    assert_eq!(field.sample([0.0; 3]), UNSET, "nothing reaches the middle");
    let g = field.forward_gradient([1.02, 0.01, 0.0]);
    assert!(g[0] > 0.9 && g[1].abs() < 0.3, "{g:?}");
    // The step is a tenth of the cell in world units, yet added to a coordinate of 0 to 1: values change by c too little.
    let m = field.mixed_gradient([1.02, 0.01, 0.0]).expect("set");
    assert!((m[0] / field.cell - g[0]).abs() < 0.2, "{m:?}");
    let written = field.written();
    field.move_to([5.0, 0.0, 0.0]);
    field.build(&mesh.topology, &mesh.positions);
    assert!(field.written() < written / 4, "the mesh has left the box");
    assert_eq!(
        CompatibilityField::new(&[], 20),
        Err(CompatibilityError::NoExtent)
    );
    assert!(CompatibilityField::new(&mesh.positions, 4000).is_err());
}

#[test]
fn compatibility_prefers_the_positive_of_equals() {
    let falling = [UNSET, -2.0, 2.0, -1e-3, 1e-3, -0.0, 0.0];
    assert!(falling.windows(2).all(|w| key(w[0]) > key(w[1])));
}

fn bound(
    mesh: &Mesh,
    rig: Option<&Rig>,
    cells: i64,
    follow: &str,
) -> Result<Box<dyn BoundNode>, NodeError> {
    let values = [
        ParameterValue::Int(cells),
        ParameterValue::Text(follow.into()),
    ];
    let log = ReadLog::new();
    let bound = (DESC.bind)(&BindContext {
        inputs: &[Some(BindInput::Mesh(mesh)), rig.map(BindInput::Pose)],
        ports: DESC.inputs,
        parameters: Parameters {
            descs: DESC.parameters,
            values: &values,
            log: &log,
        },
        fixed: &[true; 2],
        warnings: &BindWarnings::new(),
        par: crate::Par::Seq,
        watch: crate::BindWatch::NONE,
    });
    log.check().expect("reads what it declares");
    bound
}

/// Runs one frame; `words` are those of the frame before.
fn update(node: &dyn BoundNode, positions: &[[f32; 3]], pose: Option<&Pose>, words: &mut [u32]) {
    let log = ReadLog::new();
    let mut scratch = node.new_scratch();
    let view = MeshView {
        positions,
        ..MeshView::default()
    };
    node.update(UpdateContext {
        time_secs: 0.0,
        dt_secs: 0.0,
        is_first: true,
        reach: None,
        par: Par::Seq,
        parameters: Parameters {
            descs: DESC.parameters,
            values: &[],
            log: &log,
        },
        inputs: Inputs {
            values: &[Some(InputValue::Mesh(view)), pose.map(InputValue::Pose)],
            ports: DESC.inputs,
            log: &log,
        },
        outputs: Outputs {
            values: [Some(OutputValue::Field(words))].into_iter().collect(),
            ports: DESC.outputs,
            log: &log,
        },
        scratch: scratch.as_mut(),
    });
    log.check().expect("reads what it declares");
}

fn view(words: &[u32]) -> FieldView<'_> {
    match FieldWords::read(words) {
        FieldWords::Grid(view) => view,
        other => panic!("{other:?}"),
    }
}

/// A sphere, the TressFX field of it moved, and the words of the node for the same.
fn sphere() -> (Mesh, Vec<[f32; 3]>, CompatibilityField, Vec<u32>) {
    let mesh = meshes::sphere(24, 48);
    let turn = Quat::from_euler_angles(0.3, 0.9, -0.4);
    let move_one = |p: &[f32; 3]| (turn * Vec3::from(*p) + Vec3::new(0.2, -0.1, 0.3)).into();
    let moved: Vec<[f32; 3]> = mesh.positions.iter().map(move_one).collect();
    let mut field = CompatibilityField::new(&mesh.positions, 20).expect("extent");
    field.build(&mesh.topology, &moved);
    let node = bound(&mesh, None, 20, "").expect("binds");
    // Whatever was there before does not matter.
    let mut words = vec![7; node.output_len("field")];
    update(node.as_ref(), &moved, None, &mut words);
    (mesh, moved, field, words)
}

/// All but the last layer of nodes on each axis, which the TressFX look-up refuses.
fn assert_same_nodes(field: &CompatibilityField, view: &FieldView<'_>) -> [usize; 2] {
    let mut counts = [0; 2];
    let [nx, ny, nz] = field.nodes;
    for node in (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k]))) {
        let last = (0..3).any(|c| node[c] + 1 == field.nodes[c]);
        let expected = if last {
            UNSET
        } else {
            field.values[field.index(node)]
        };
        let found = view.node(node);
        let off = (found - expected).abs();
        assert!(
            off <= expected.abs() * 3e-7,
            "{node:?}: {found} for {expected}"
        );
        counts[usize::from(expected == UNSET)] += 1;
    }
    counts
}

#[test]
fn the_node_has_the_tressfx_value_at_each_node() {
    let (_, _, field, words) = sphere();
    let view = view(&words);
    assert_eq!(view.shape.origin, field.origin);
    let [set, unset] = assert_same_nodes(&field, &view);
    assert_eq!(set, field.written());
    assert!(set > 5_000 && unset > 100_000, "{set} {unset}");
    let left_out = view.table.iter().filter(|s| **s == NO_BRICK).count();
    assert!(left_out > view.table.len() / 4, "bricks without distances");
    // The hole in the middle of the middle layer.
    let layer = slice(&view, 2, field.nodes[2] / 2);
    let inside = layer.values.iter().filter(|v| **v < 0.0).count();
    assert!(inside > 50, "{inside}");
    assert!(view.sample(field.center()) > 0.9 * UNSET);
}

/// Points on a lattice that is none of the grid's.
fn points(field: &CompatibilityField) -> impl Iterator<Item = [f32; 3]> {
    let (low, cell, nodes) = (field.origin, field.cell, field.nodes);
    let count = 40_u32;
    let all = (0..count)
        .flat_map(move |k| (0..count).flat_map(move |j| (0..count).map(move |i| [i, j, k])));
    all.map(move |at| {
        let share = |c: usize| (at[c] as f32 + 0.37) / count as f32;
        std::array::from_fn(|c| low[c] + share(c) * cell * nodes[c] as f32)
    })
}

#[test]
fn look_ups_agree_with_the_published_ones() {
    let (_, _, field, words) = sphere();
    let view = view(&words);
    let (mut set, mut unset) = (0, 0);
    for p in points(&field) {
        let expected = field.sample(p);
        match view.sample_set(p) {
            Some(found) => {
                assert!((found - expected).abs() < 2e-6, "{p:?}: {found} {expected}");
                set += 1;
            }
            None => {
                assert_eq!(expected, UNSET, "{p:?}");
                unset += 1;
            }
        }
    }
    assert!(set > 500 && unset > 10_000, "{set} {unset}");
}

/// The response worked out with the dense field alone.
fn expected_response(field: &CompatibilityField, p: [f32; 3], gradient: [f32; 3]) -> [f32; 3] {
    let margin = 0.5 * field.cell;
    let gradient = Vec3::from(gradient);
    let away = gradient / gradient.norm() * (margin - field.sample(p));
    (Vec3::from(p) + away).into()
}

#[test]
fn responses_agree_with_the_published_ones() {
    let (_, _, field, words) = sphere();
    let collider = FieldCollider::new(FieldWords::read(&words)).expect("a field");
    assert_eq!(collider.grid_origin(), Some(field.origin));
    let margin = 0.5 * field.cell;
    let mut pushed = [0; 2];
    for p in points(&field) {
        let mixed = GradientMode::Mixed { origin: [9.0; 3] };
        for (i, mode) in [GradientMode::Forward, mixed].into_iter().enumerate() {
            let found = tressfx_response(&collider, p, margin, mode);
            if field.sample(p) >= margin {
                assert_eq!(found, None, "{p:?}");
                continue;
            }
            let gradient = match mode {
                GradientMode::Forward => field.forward_gradient(p),
                _ => field.mixed_gradient(p).expect("set"),
            };
            let expected = expected_response(&field, p, gradient);
            let found = found.expect("too close");
            let off = (Vec3::from(found) - Vec3::from(expected)).norm();
            // Differences over a tenth of a cell lose three digits, those of the mixed scheme two more.
            assert!(
                off < [2e-4, 5e-3][i],
                "{mode:?} {p:?}: {found:?} {expected:?}"
            );
            pushed[i] += 1;
        }
    }
    assert!(pushed[0] > 100 && pushed[1] > 100, "{pushed:?}");
    // Deep inside nothing is known, and nothing is done.
    let deep = field
        .origin
        .map(|o| o + 0.5 * field.cell * field.nodes[0] as f32);
    assert_eq!(
        tressfx_response(&collider, deep, margin, GradientMode::Forward),
        None
    );
}

#[test]
fn the_box_follows_its_joint_and_nothing_turns_it() {
    let mesh = meshes::sphere(24, 48);
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
    let bound = bound(&mesh, Some(&rig), 20, "head").expect("binds");
    let mut pose = rig.rest_pose();
    let turn = Quat::from_euler_angles(0.5, 2.0, 0.1);
    let head = Affine::from_trs(Vec3::new(4.0, 1.0, -2.0), turn, Vec3::new(1.0, 1.0, 1.0));
    pose.palette[0] = PackedAffine::from(head);
    let moved: Vec<[f32; 3]> = (mesh.positions.iter())
        .map(|p| head.point(Vec3::from(*p)).into())
        .collect();
    let mut field = CompatibilityField::new(&mesh.positions, 20).expect("extent");
    field.move_to([100.0; 3]);
    field.move_to(head.point(Vec3::from(field.center())).into());
    field.build(&mesh.topology, &moved);
    let mut words = vec![0; bound.output_len("field")];
    update(bound.as_ref(), &moved, Some(&pose), &mut words);
    let [set, _] = assert_same_nodes(&field, &view(&words));
    assert!(set > 5_000, "{set}");
}

#[test]
fn what_cannot_be_built_is_told() {
    let sphere = meshes::sphere(8, 16);
    let message = |mesh: &Mesh, cells: i64| bound(mesh, None, cells, "").expect_err("refused");
    let points = Mesh::new(
        "points",
        Topology::new(3, Vec::new()).expect("valid"),
        vec![[0.0; 3], [1.0; 3], [2.0; 3]],
    );
    let found = message(&points, 50);
    assert!(
        matches!(found, NodeError::Input { port: "mesh", .. }),
        "{found}"
    );
    let mut flat = sphere.clone();
    flat.positions.fill([1.0; 3]);
    let found = message(&flat, 50);
    assert!(found.to_string().contains("no extent"), "{found}");
    let found = message(&sphere, 4096);
    assert!(
        found
            .to_string()
            .contains("nodes, but at most 268435456 are allowed"),
        "{found}"
    );
    let found = bound(&sphere, None, 50, "head").expect_err("refused");
    assert!(matches!(found, NodeError::Input { .. }), "{found}");
}

/// A mesh that leaves its box, and one without numbers, are frames like others.
#[test]
fn awkward_frames_leave_nodes_unset() {
    let (mesh, moved, _, mut words) = sphere();
    let node = bound(&mesh, None, 20, "").expect("binds");
    let far: Vec<[f32; 3]> = moved.iter().map(|p| [p[0] + 50.0, p[1], p[2]]).collect();
    update(node.as_ref(), &far, None, &mut words);
    assert!(
        view(&words).table.iter().all(|s| *s == NO_BRICK),
        "all bricks are left out"
    );
    update(
        node.as_ref(),
        &vec![[f32::NAN; 3]; far.len()],
        None,
        &mut words,
    );
    assert!(
        view(&words).node([0; 3]) > 0.9 * UNSET,
        "no number near a corner"
    );
}
