//! The node through its description, and its place in the scene.

use super::tests::sample;
use super::*;
use crate::local_frame::Axis;
use crate::local_frame::test_support::{Kernel, moved, run};
use crate::{
    BindContext, BindInput, BindWarnings, Inputs, OutputValue, Outputs, Par, ParameterValue,
    ReadLog, UpdateContext,
};
use sinew_geom::{Affine, Quat, Vec3, index32};

/// Points without triangles.
fn mesh_of(positions: Vec<[f32; 3]>) -> sinew_geom::Mesh {
    let count = index32(positions.len());
    let topology = sinew_geom::Topology::new(count, Vec::new()).expect("valid");
    sinew_geom::Mesh::new("points", topology, positions)
}

const CORNERS: [[f32; 3]; 3] = [[0.5, 0.25, -0.5], [-0.5, 0.5, 0.5], [0.1, 2.0, 0.0]];

/// Runs the node through its description with some parameters set.
fn run_node(set: &[(&str, ParameterValue)]) -> (Vec<[f32; 3]>, Vec<Line>) {
    let values: Vec<ParameterValue> = DESC
        .parameters
        .iter()
        .map(|d| {
            let given = set.iter().find(|(name, _)| *name == d.name);
            given.map_or_else(|| d.default_value(), |(_, v)| v.clone())
        })
        .collect();
    let log = ReadLog::new();
    let parameters = Parameters {
        descs: DESC.parameters,
        values: &values,
        log: &log,
    };
    let mesh = mesh_of(CORNERS.to_vec());
    let inputs = [Some(BindInput::Mesh(&mesh)), None];
    let context = BindContext {
        inputs: &inputs,
        ports: DESC.inputs,
        parameters,
        fixed: &[],
        warnings: &BindWarnings::new(),
        par: crate::Par::Seq,
        watch: crate::BindWatch::NONE,
    };
    let bound = (DESC.bind)(&context).expect("binds");
    let mut positions = vec![[9.0; 3]; 3];
    let mut lines = vec![Line::default(); bound.output_len("debug")];
    let view = crate::MeshView {
        positions: &CORNERS,
        ..Default::default()
    };
    let outputs = [
        Some(OutputValue::Mesh(crate::MeshViewMut {
            positions: Some(&mut positions),
            ..Default::default()
        })),
        Some(OutputValue::Lines(&mut lines)),
    ];
    bound.update(UpdateContext {
        time_secs: 0.0,
        dt_secs: 0.0,
        is_first: true,
        reach: None,
        par: Par::Seq,
        parameters,
        inputs: Inputs {
            values: &[Some(crate::InputValue::Mesh(view)), None],
            ports: DESC.inputs,
            log: &log,
        },
        outputs: Outputs {
            values: outputs.into_iter().collect(),
            ports: DESC.outputs,
            log: &log,
        },
        scratch: &mut (),
    });
    log.check().expect("reads what it declares");
    (positions, lines)
}

#[test]
fn any_local_axis_of_any_frame() {
    // The sample's point (1, 1, 0.5) laid along each axis.
    let turn = Affine::from_trs(
        Vec3::new(3.0, -1.0, 2.0),
        Quat::from_euler_angles(0.5, 0.2, -1.0),
        Vec3::repeat(1.0),
    );
    for (axis, order) in [
        (Axis::X, [1, 2, 0]),
        (Axis::Y, [2, 0, 1]),
        (Axis::Z, [0, 1, 2]),
    ] {
        let lay = |p: [f64; 3]| {
            let mut q = Vec3::zeros();
            for c in 0..3 {
                q[order[c]] = p[c];
            }
            turn.point(q).map(|v| v as f32).into()
        };
        let s = SquashStretch {
            cross_bias: 0.25,
            ..sample()
        };
        let from = [0.3, 0.9, 0.5];
        let mesh = mesh_of(vec![lay(from)]);
        let placement = Placement {
            transform: turn,
            axis,
        };
        let out = run(s, placement, MaskWeight::ONE, &mesh, Kernel::Fast(Par::Seq));
        let expected = lay(moved(&s, from));
        let error = sinew_testkit::max_distance(&out.positions, &[expected]);
        assert!(error < 2e-6, "{axis:?}: {error}");
    }
}

#[test]
fn debug_lines_show_axis_limits_and_widest_section() {
    let (positions, lines) = run_node(&[
        ("mode", ParameterValue::Text("published".into())),
        ("stretch", ParameterValue::Float(2.0)),
        ("length", ParameterValue::Float(2.0)),
        ("limit_bottom", ParameterValue::Float(0.1)),
        ("limit_top", ParameterValue::Float(0.1)),
        ("axis_bias", ParameterValue::Float(0.2)),
        ("debug_size", ParameterValue::Float(0.5)),
    ]);
    assert!(
        (positions[2][1] - 3.6).abs() < 1e-6,
        "the mesh moves as well: {positions:?}"
    );
    assert_eq!(lines.len(), 19);
    assert_eq!((lines[0].from, lines[0].to), ([0.0; 3], [0.0, 2.0, 0.0]));
    let height = |plane: usize| lines[1 + 6 * plane].from[1];
    // Stretched limits, and the published place of the widest section: low + (1 - b(1/2)) span S.
    for (plane, expected) in [(0, 0.2), (1, 3.4), (2, 0.2 + (1.0 - 0.777_01) * 3.2)] {
        assert!(
            (height(plane) - expected).abs() < 1e-4,
            "plane {plane}: {}",
            height(plane)
        );
        for line in &lines[1 + 6 * plane..7 + 6 * plane] {
            assert!((line.from[1] - line.to[1]).abs() < 1e-6, "flat: {line:?}");
        }
    }
    let reach = lines[13..]
        .iter()
        .map(|l| l.to[0].abs())
        .fold(0.0, f32::max);
    assert!(
        (reach - 0.5 / 2.0_f32.sqrt()).abs() < 1e-5,
        "section scale 1/sqrt(2): {reach}"
    );
}

#[test]
fn debug_lines_are_finite_at_extremes() {
    for mode in [Mode::Even, Mode::Published, Mode::VolumePreserving] {
        let mut lines = [Line::default(); debug::LINES];
        let s = SquashStretch {
            mode,
            stretch: 0.0,
            axis_bias: 0.0,
            cross_bias: 1.0,
            ..sample()
        };
        debug::draw(&s, &Placement::default(), 0.3, &mut lines);
        let all = lines.iter().flat_map(|l| l.from.iter().chain(&l.to));
        assert!(all.clone().all(|c| c.is_finite()), "{lines:?}");
    }
}

#[test]
fn defect_12_stretch_one_is_rest_and_half_at_rest_is_a_choice() {
    for (convention, stretch) in [("one_at_rest", 1.0), ("half_at_rest", 0.5)] {
        let (positions, _) = run_node(&[
            ("mode", ParameterValue::Text("published".into())),
            (
                "stretch_convention",
                ParameterValue::Text(convention.into()),
            ),
            ("stretch", ParameterValue::Float(stretch)),
        ]);
        assert_eq!(positions, CORNERS);
    }
}

/// Away from rest: half the factor means the same, and a height above the lower limit (1e-4 of a length of one) is multiplied by it.
#[test]
fn defect_12_conventions_mean_the_same_away_from_rest() {
    let run = |convention: &str, stretch: f64| {
        let text = |v: &str| ParameterValue::Text(v.into());
        run_node(&[
            ("mode", text("published")),
            ("stretch_convention", text(convention)),
            ("stretch", ParameterValue::Float(stretch)),
            ("length", ParameterValue::Float(1.0)),
        ])
        .0
    };
    for factor in [0.1, 0.35, 0.8, 1.7] {
        let half = run("half_at_rest", factor);
        assert_eq!(half, run("one_at_rest", 2.0 * factor), "{factor}");
        let expected = 1e-4 + (0.25 - 1e-4) * 2.0 * factor;
        let found = f64::from(half[0][1]);
        assert!(
            (found - expected).abs() < 1e-6,
            "{factor}: {found}, {expected}"
        );
    }
}
