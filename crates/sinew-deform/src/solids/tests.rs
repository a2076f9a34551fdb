use super::*;
use crate::collide::{Distance, FieldCollider};
use crate::sdf::FieldWords;
use crate::{BindWarnings, Outputs, Par, ParameterValue, ReadLog, Record};

fn bound(
    capsules: Vec<Vec<ParameterValue>>,
    planes: Vec<Vec<ParameterValue>>,
) -> Result<Box<dyn BoundNode>, NodeError> {
    let records = |fields, values: Vec<Vec<ParameterValue>>| {
        let record = |values| Record { fields, values };
        ParameterValue::Records(values.into_iter().map(record).collect())
    };
    let values = [
        records(CAPSULE_FIELDS, capsules),
        records(PLANE_FIELDS, planes),
        ParameterValue::Text(String::new()),
    ];
    let log = ReadLog::new();
    let bound = (DESC.bind)(&BindContext {
        inputs: &[None],
        ports: DESC.inputs,
        parameters: Parameters {
            descs: DESC.parameters,
            values: &values,
            log: &log,
        },
        fixed: &[true; 3],
        warnings: &BindWarnings::new(),
        par: crate::Par::Seq,
        watch: crate::BindWatch::NONE,
    });
    log.check().expect("reads what it declares");
    bound
}

/// Distance and gradient at a point.
fn measured(node: &dyn BoundNode, point: [f32; 3]) -> (f32, [f32; 3]) {
    let mut words = vec![0; node.output_len("field")];
    let log = ReadLog::new();
    let mut scratch = node.new_scratch();
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
        inputs: crate::Inputs {
            values: &[None],
            ports: DESC.inputs,
            log: &log,
        },
        outputs: Outputs {
            values: [Some(crate::OutputValue::Field(&mut words))]
                .into_iter()
                .collect(),
            ports: DESC.outputs,
            log: &log,
        },
        scratch: scratch.as_mut(),
    });
    let collider = FieldCollider::new(FieldWords::read(&words)).expect("a field");
    collider.distance_and_gradient(point)
}

fn vector(v: [f64; 3]) -> ParameterValue {
    ParameterValue::Vec3(v)
}

#[test]
fn the_nearest_solid_counts() {
    let ball = vec![
        vector([0.0, 2.0, 0.0]),
        vector([0.0, 2.0, 0.0]),
        ParameterValue::Float(0.5),
        ParameterValue::Float(-1.0),
    ];
    let floor = vec![vector([0.0, -1.0, 0.0]), vector([0.0, 3.0, 0.0])];
    let node = bound(vec![ball], vec![floor]).expect("valid");
    let (distance, gradient) = measured(node.as_ref(), [0.0, 1.0, 0.0]);
    assert!((distance - 0.5).abs() < 1e-6, "half a metre below the ball");
    assert_eq!(gradient, [0.0, -1.0, 0.0]);
    let (distance, gradient) = measured(node.as_ref(), [3.0, -1.25, 0.0]);
    assert!((distance + 0.25).abs() < 1e-6, "under the floor");
    assert_eq!(gradient, [0.0, 1.0, 0.0]);
}

#[test]
fn nothing_and_planes_without_direction_are_refused() {
    let error = bound(vec![], vec![]).expect_err("no solid").to_string();
    assert!(error.contains("at least one capsule or plane"), "{error}");
    let flat = vec![vector([0.0; 3]), vector([0.0; 3])];
    let error = bound(vec![], vec![flat])
        .expect_err("no normal")
        .to_string();
    assert!(
        error.contains("plane 0") && error.contains("a vector of any length except 0"),
        "{error}"
    );
}
