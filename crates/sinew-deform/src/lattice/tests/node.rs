//! The node as the graph sees it.

use super::*;
use crate::{
    BindInput, BindWarnings, InputValue, Inputs, Line, OutputValue, Outputs, ParameterValue,
    Parameters, ReadLog,
};
use sinew_geom::Mesh;

fn values(set: &[(&str, ParameterValue)]) -> Vec<ParameterValue> {
    let value = |d: &ParameterDesc| {
        let given = set.iter().find(|(name, _)| *name == d.name);
        given.map_or_else(|| d.default_value(), |(_, v)| v.clone())
    };
    DESC.parameters.iter().map(value).collect()
}

fn bind_node(mesh: &Mesh, values: &[ParameterValue]) -> Result<Box<dyn BoundNode>, NodeError> {
    let log = ReadLog::new();
    let bound = (DESC.bind)(&BindContext {
        inputs: &[Some(BindInput::Mesh(mesh)), None],
        ports: DESC.inputs,
        parameters: Parameters {
            descs: DESC.parameters,
            values,
            log: &log,
        },
        fixed: &[],
        warnings: &BindWarnings::new(),
        par: crate::Par::Seq,
        watch: crate::BindWatch::NONE,
    });
    log.check()?;
    bound
}

fn update(
    node: &dyn BoundNode,
    mesh: &Mesh,
    values: &[ParameterValue],
    par: Par,
) -> (Vec<[f32; 3]>, Vec<Line>) {
    let mut positions = vec![[0.0; 3]; mesh.positions.len()];
    let mut lines = vec![Line::default(); node.output_len("cage")];
    let view = MeshView {
        positions: &mesh.positions,
        normals: mesh.normals.as_deref(),
        ..MeshView::default()
    };
    let mut scratch = node.new_scratch();
    let log = ReadLog::new();
    node.update(UpdateContext {
        time_secs: 0.0,
        dt_secs: 0.0,
        is_first: true,
        reach: None,
        par,
        parameters: Parameters {
            descs: DESC.parameters,
            values,
            log: &log,
        },
        inputs: Inputs {
            values: &[Some(InputValue::Mesh(view)), None],
            ports: DESC.inputs,
            log: &log,
        },
        outputs: Outputs {
            values: [
                Some(OutputValue::Mesh(MeshViewMut {
                    positions: Some(&mut positions),
                    ..MeshViewMut::default()
                })),
                Some(OutputValue::Lines(&mut lines)),
            ]
            .into_iter()
            .collect(),
            ports: DESC.outputs,
            log: &log,
        },
        scratch: scratch.as_mut(),
    });
    log.check().expect("reads what it declares");
    (positions, lines)
}

fn lifted(by: f64) -> ParameterValue {
    let bind = bound(LatticeConfig::default());
    let points = rest_points(&bind).into_iter();
    ParameterValue::Points(points.map(|[x, y, z]| [x, y + by, z]).collect())
}

#[test]
fn control_points_are_animated_without_a_new_setup() {
    let mesh = sinew_testkit::meshes::cube();
    let node = bind_node(&mesh, &values(&[])).expect("binds");
    assert_eq!(
        update(node.as_ref(), &mesh, &values(&[]), Par::Seq).0,
        mesh.positions
    );
    for by in [0.25, -0.5] {
        let (out, _) = update(
            node.as_ref(),
            &mesh,
            &values(&[("points", lifted(by))]),
            Par::Seq,
        );
        for (o, p) in out.iter().zip(&mesh.positions) {
            assert!(
                distance(wide(*p) + Vec3::new(0.0, by, 0.0), *o) < 1e-6,
                "lifted by {by}"
            );
        }
    }
}

#[test]
fn a_wrong_number_of_points_is_refused_at_setup_and_rests_later() {
    let mesh = sinew_testkit::meshes::cube();
    let wrong = values(&[("points", ParameterValue::Points(vec![[0.0; 3]; 8]))]);
    let message = bind_node(&mesh, &wrong).expect_err("refused").to_string();
    assert!(message.contains('8') && message.contains("64"), "{message}");
    let node = bind_node(&mesh, &values(&[])).expect("binds");
    assert_eq!(
        update(node.as_ref(), &mesh, &wrong, Par::Seq).0,
        mesh.positions
    );
}

#[test]
fn a_flat_box_is_refused_at_setup_and_rests_later() {
    let mesh = sinew_testkit::meshes::cube();
    let mut flat = Affine::<f64>::identity();
    flat.linear[(1, 1)] = 0.0;
    let flat = [
        ("rest_transform", ParameterValue::Transform(flat)),
        ("points", lifted(0.3)),
    ];
    let message = bind_node(&mesh, &values(&flat))
        .expect_err("refused")
        .to_string();
    assert!(message.contains("linear part is 0"), "{message}");
    let node = bind_node(&mesh, &values(&[])).expect("binds");
    assert_eq!(
        update(node.as_ref(), &mesh, &values(&flat), Par::Seq).0,
        mesh.positions
    );
    let size = values(&[("size", ParameterValue::Vec3([1.0, 0.0, 1.0]))]);
    assert!(bind_node(&mesh, &size).is_err(), "zero size");
}

#[test]
fn the_cage_shows_every_edge() {
    let mesh = sinew_testkit::meshes::cube();
    let values = values(&[("points", lifted(0.25))]);
    let node = bind_node(&mesh, &values).expect("binds");
    let (_, lines) = update(node.as_ref(), &mesh, &values, Par::Seq);
    assert_eq!(lines.len(), 3 * 3 * 4 * 4);
    for line in &lines {
        let length = (wide(line.to) - wide(line.from)).norm();
        assert!((length - 1.0 / 3.0).abs() < 1e-6, "{line:?}");
        assert!(line.from[1] > -0.2501 && line.to[1] < 0.7501, "{line:?}");
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let mesh = sinew_testkit::meshes::tube(200, 60, 1.0, 0.4);
    for word in ["bernstein", "catmull_rom", "cell_eased"] {
        let bind = bound(LatticeConfig::default());
        let values = values(&[
            ("points", ParameterValue::Points(shaken(&bind, 0.1))),
            ("interpolation", ParameterValue::Text(word.into())),
        ]);
        let node = bind_node(&mesh, &values).expect("binds");
        let [a, b] = [Par::Seq, Par::Rayon].map(|par| update(node.as_ref(), &mesh, &values, par).0);
        assert_eq!(a, b, "{word}");
    }
}

/// Every word of every choice reaches the setup.
#[test]
fn every_choice_binds() {
    let mesh = sinew_testkit::meshes::cube();
    for desc in DESC.parameters {
        if let ParameterType::Choice(words) = desc.ty {
            for word in words {
                let values = values(&[
                    (desc.name, ParameterValue::Text(word.name.into())),
                    ("points", lifted(0.1)),
                ]);
                let node = bind_node(&mesh, &values).expect("binds");
                let (out, _) = update(node.as_ref(), &mesh, &values, Par::Seq);
                assert!(
                    out.iter().flatten().all(|v| v.is_finite()),
                    "{} {}",
                    desc.name,
                    word.name
                );
            }
        }
    }
}
