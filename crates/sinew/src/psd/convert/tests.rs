//! Files of joints that mirror.

use super::{from_psd, from_samples, graph_text, solvers_of_plan};
use crate::deform::pose_driver::{DriverValue, PoseDriverBind};
use crate::geom::{Affine, Mat3, Quat, Vec3};
use crate::graph::{NoNesting, compile};
use crate::io::pose_driver::psd::{BasisOrder, PsdDistance, PsdMatrix, PsdPose, PsdSolver};
use crate::io::pose_driver::{MayaMatrix, MayaScene, PsdDocument, parse_samples};
use std::path::Path;

fn turns() -> [[f64; 3]; 4] {
    [
        [0.0, 0.0, 0.0],
        [0.9, -0.4, 0.3],
        [-1.2, 0.7, 1.9],
        [0.0, 2.2, 0.0],
    ]
}

/// Poses of a file are matrices; whichever signs of scale they are made of, the solver has its weight of 1 where the joint has that matrix.
#[test]
fn poses_of_files_are_rotations_of_one_form() {
    let scene = MayaScene::default();
    for pattern in 0..8_usize {
        let scale = Vec3::from_fn(|axis, _| if pattern >> axis & 1 == 1 { -1.0 } else { 1.0 });
        let matrices = turns().map(|t| {
            let linear = Quat::from_scaled_axis(Vec3::from(t)).to_rotation_matrix();
            Affine {
                linear: linear.into_inner() * Mat3::from_diagonal(&scale),
                translation: Vec3::new(0.1, 0.0, 0.2),
            }
        });
        let pose = |(i, a): (usize, &Affine<f64>)| PsdPose {
            name: format!("p{i}"),
            driver_matrix: Some(PsdMatrix::from(MayaMatrix::from_affine(a, &scene))),
            driven_matrices: None,
            raw_pose_rotation_degrees: None,
            ..PsdPose::default()
        };
        let solver = PsdSolver {
            name: "s".into(),
            driver: "arm".into(),
            distance_method: 1,
            poses: matrices.iter().enumerate().map(pose).collect(),
            ..PsdSolver::default()
        };
        assert_eq!(solver.distance(), Some(PsdDistance::Quaternion));
        let document = PsdDocument {
            solvers: vec![solver],
            ..PsdDocument::default()
        };
        let (solvers, losses) = from_psd(&document, &scene, BasisOrder::Published);
        assert_eq!(losses.0, []);
        let (text, _) = graph_text(&solvers);
        let plan = compile("g.json", &text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
        let (back, _) = solvers_of_plan(&plan).expect("our own nodes");
        let bind = PoseDriverBind::new(&back[0].driver).expect("can be solved");
        for (i, matrix) in matrices.iter().enumerate() {
            // The same matrix, as the joint of a clip shows it: rotation and signs of scale.
            let weights = bind.weights(&[DriverValue::from(matrix)]);
            for (j, weight) in weights.iter().enumerate() {
                let expected = f64::from(u8::from(i == j));
                assert!(
                    (weight - expected).abs() < 1e-9,
                    "{scale:?} {i} {weights:?}"
                );
            }
        }
    }
}

/// Samples are rotations without a scale; the node knows how to read them, so nothing is added here.
#[test]
fn samples_tell_what_a_solver_does_not_hold() {
    let text = r#"{"solvers": [{"name": "elbow", "joint": "tip", "rest_rotation_xyzw": [0,0,0,1], "artist": "x",
      "samples": [{"name": "bend", "rotation_xyzw": [0,0,1,0], "time_in_clip": 0.5, "mood": 1}]}], "version": 3}"#;
    let document = parse_samples(text, Path::new("s.json")).expect("correct");
    let (_, losses) = from_samples(&document);
    let found: Vec<&str> = losses.0.iter().map(|l| l.what.as_str()).collect();
    assert_eq!(
        found,
        [
            "the field 'version'",
            "the field 'artist'",
            "sample 'bend': the field 'time_in_clip'",
            "sample 'bend': the field 'mood'"
        ]
    );
}
