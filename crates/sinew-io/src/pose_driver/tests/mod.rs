mod malformed;
mod matrices;
mod round_trips;
mod samples;

use super::*;

fn path() -> &'static Path {
    Path::new("a.json")
}

fn refused<T: std::fmt::Debug>(result: Result<T, PoseDriverFileError>) -> String {
    result.expect_err("refused").to_string()
}

/// With a comment, a trailing comma, fields that are missing, and fields that the format does not have at every level.
const PSD: &str = r#"// Made by hand.
{
  "version": 3, /* no solver */
  "arm_l_Solver": {
    "Maker": {"name": "hand", "list": [1, 2.5, null]},
    "DriverObject": "arm_l",
    "DrivenObjects": ["half_l", "twist_l"],
    "DrivenJointOrientList": [[0, 0, 0], [-80, 2, 3.5]],
    "PSDType": 1, "BasisFunction": 3,
    "GlobalWidth": 60.5,
    "Poses": {
      "rest": {
        "RawPoseRotation": [-9.774415372647063e-06, 0.1, -119.99999999999999],
        "note": "kept",
      },
      "bent": {
        "outDrivenLocalMatrixList": [
          [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [4, 5, 6, 1]],
          [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 7, 8, 9, 1],
        ],
        "outDriverLocalMatrix": [[[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 1, 0], [1, 2, 3, 1]]],
      },
    },
    "NormalizeMethod": 0,
    "ClampNegativeWeight": false
  },
  "leg_Solver": {"DriverObject": "leg", "Poses": {}}
}
"#;

/// Two drivers; a pose with every field and one with few, a joint that is not driven, unknown fields at every level.
const WRANGLER: &str = r#"{
  "hand_l_UERBFSolver": {
    "solver_name": "hand_l_UERBFSolver",
    "drivers": ["hand_l", "thumb_l"],
    "driven_transforms": ["helper_l"],
    "controllers": ["hand_l_ctrl"],
    "poses": {
      "default": {
        "drivers": [
          [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
          [0, 1, 0, 0, -1, 0, 0, 0, 0, 0, 1, 0, 1.5, 2.5, -3.5, 1]
        ],
        "controllers": [[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]],
        "driven": {
          "helper_l": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1e-7, 0, 0, 1],
          "another": [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1]
        },
        "function_type": "Gaussian",
        "scale_factor": 0.75,
        "distance_method": "SwingAngle",
        "target_enable": false,
        "blendshape_data": [{
          "blendshape_mesh": "bent_mesh", "blendshape_mesh_shape": "bent_meshShape", "orig_mesh": "body",
          "blendshape": "body_blendShape", "blendshape_mesh_orig_index": 2, "mesh_index": null,
          "pose_attr": "hand_l_UERBFSolver.targets[1].targetName", "pose_index": 1, "added": true
        }],
        "colour": [1, 2]
      },
      "fist": {"drivers": [
        [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
        [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
      ]}
    },
    "driven_attrs": [[], ["body_blendShape.fist", "body_blendShape.fist2"]],
    "mode": 1,
    "weightThreshold": 0.0001,
    "distanceMethod": 2,
    "normalizeMethod": 0,
    "functionType": "Linear",
    "twistAxis": 0,
    "inputMode": "Rotation",
    "quality": {"of": "life"}
  },
  "comment": "no solver"
}
"#;

const SIDECAR: &str = r#"{
  "solver_name": "calf_l_UERBFSolver", "drivers": ["calf_l"], "driven_transforms": [], "controllers": [],
  "poses": {}, "driven_attrs": [], "mode": 0, "radius": 30, "automaticRadius": true,
  "export_fbx": "rigs/calf_l.fbx", "asset_name": "Runner", "extra": 12345678901234567890
}"#;
