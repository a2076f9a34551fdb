//! `sinew psd convert`: what a file keeps, and what is said about the rest.

use crate::common::{Place, said};
use serde_json::{Value, json};
use std::process::Output;

/// A solver with a field of a studio, orients, and numbers with all their digits.
fn psd() -> Value {
    json!({ "about": "a studio's note", "bend_Solver": {
        "DriverObject": "j1", "DrivenObjects": ["j2"], "DrivenJointOrientList": [[-80.0, 2.0, 3.5]],
        "PSDType": 1, "BasisFunction": 3, "GlobalWidth": 60.25, "ClampNegativeWeight": true,
        "NormalizeMethod": 1, "TwistAxis": 0, "IsAutomaticRadius": false, "DistanceMethod": 1,
        "StudioNote": {"kept": [1.0, 2.5, "x", null]},
        "Poses": {
            "a": {"outDriverLocalMatrix": [[1.0,0.0,0.0,0.0],[0.0,1.0,0.0,0.0],[0.0,0.0,1.0,0.0],[0.0,0.0,0.0,1.0]],
                "outDrivenLocalMatrixList": [[1.0,0.0,0.0,0.0, 0.0,1.0,0.0,0.0, 0.0,0.0,1.0,0.0, 0.0,0.0,0.0,1.0]],
                "RawPoseRotation": [-9.774415372647063e-06, 0.00020008505692559357, 1e-4 + 2e-4], "ArtistTag": "keep me"},
            "b": {"outDriverLocalMatrix": [[0.0,1.0,0.0,0.0],[-1.0,0.0,0.0,0.0],[0.0,0.0,1.0,0.0],[0.0,0.0,0.0,1.0]],
                "outDrivenLocalMatrixList": [[1.0,0.0,0.0,0.0, 0.0,1.0,0.0,0.0, 0.0,0.0,1.0,0.0, 0.0,3.0,0.0,1.0]],
                "RawPoseRotation": [0.0, 0.0, 89.99999999999999]}
        } } })
}

/// The same without what a graph has no place for.
fn plain_psd() -> Value {
    let mut out = psd();
    out.as_object_mut().expect("solvers").remove("about");
    let solver = &mut out["bend_Solver"];
    solver["DrivenJointOrientList"] = json!([[0.0, 0.0, 0.0]]);
    solver.as_object_mut().expect("fields").remove("StudioNote");
    solver["Poses"]["a"]
        .as_object_mut()
        .expect("fields")
        .remove("ArtistTag");
    out
}

fn wrangler() -> Value {
    let still = json!([
        1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0
    ]);
    let bent = json!([
        0.0, 1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0
    ]);
    let pose = |driver: &Value, shapes: Value| {
        json!({"drivers": [driver], "controllers": [], "driven": {"j2": still}, "function_type": "DefaultFunctionType",
            "scale_factor": 1.0, "distance_method": "DefaultMethod", "target_enable": true, "blendshape_data": shapes})
    };
    json!({ "bend": {
        "solver_name": "bend", "drivers": ["j1"], "driven_transforms": ["j2"], "controllers": [],
        "driven_attrs": [[], ["body_bs.bend_1"]], "mode": 0, "radius": 45.0, "automaticRadius": false,
        "weightThreshold": 0.001, "distanceMethod": 1, "normalizeMethod": 1, "functionType": 0, "twistAxis": 0,
        "inputMode": "Rotation", "vendorExtra": {"kept": true},
        "poses": { "bend_0": pose(&still, json!([])), "bend_1": pose(&bent, json!([{
            "blendshape_mesh": "bs_mesh", "blendshape_mesh_shape": "bs_meshShape", "orig_mesh": "body", "blendshape": "body_bs",
            "blendshape_mesh_orig_index": 0, "mesh_index": 0, "pose_attr": "bend_1", "pose_index": 1, "sculptor": "anna"}])) } } })
}

fn plain_wrangler() -> Value {
    let mut out = wrangler();
    let solver = out["bend"].as_object_mut().expect("fields");
    solver.remove("vendorExtra");
    solver["driven_attrs"] = json!([[], []]);
    solver["poses"]["bend_1"]["blendshape_data"] = json!([{"blendshape_mesh": "bs_mesh"}]);
    out
}

fn convert(p: &Place, file: &Value, to: &str, more: &[&str]) -> Output {
    p.put("in.json", &file.to_string());
    let arguments = [
        &["psd", "convert", "in.json", "--to", to, "-o", "out.json"],
        more,
    ]
    .concat();
    p.sinew(&arguments)
}

#[track_caller]
fn ends(o: &Output, code: i32) {
    assert_eq!(o.status.code(), Some(code), "{}", said(o));
}

fn written(p: &Place) -> Value {
    serde_json::from_str(&p.text("out.json")).expect("JSON")
}

/// Numbers as doubles: 0 may be written as 0.0.
fn as_doubles(value: &Value) -> Value {
    match value {
        Value::Number(n) => json!(n.as_f64()),
        Value::Array(list) => list.iter().map(as_doubles).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(k, v)| (k.clone(), as_doubles(v)))
            .collect(),
        other => other.clone(),
    }
}

#[test]
fn a_file_keeps_every_field_in_its_own_format() {
    let p = Place::new();
    let mut sidecar = wrangler()["bend"].clone();
    sidecar["export_fbx"] = "bend.fbx".into();
    sidecar["asset_name"] = "hero".into();
    for (file, to) in [
        (psd(), "psd"),
        (wrangler(), "pose-wrangler"),
        (sidecar, "pose-wrangler"),
    ] {
        let o = convert(&p, &file, to, &["--strict"]);
        ends(&o, 0);
        assert!(!said(&o).contains("not_carried"), "{}", said(&o));
        assert_eq!(as_doubles(&written(&p)), as_doubles(&file));
    }
    let graph = "// A note.\n{ \"sinew\": \"1.0\", \"inputs\": { \"rig\": { \"type\": \"pose\" } }, \"nodes\": { \
        \"arm\": { \"node\": \"pose_driver\", \"pose\": \"rig\", \"joints\": [\"a\"], \"poses\": [{ \"name\": \"one\", \"joints\": [{}] }] } }, \
        \"outputs\": { \"w\": \"arm\" } }\n";
    p.put("in.json", graph);
    let o = p.sinew(&["psd", "convert", "in.json", "--strict", "-o", "out.json"]);
    ends(&o, 0);
    assert_eq!(p.text("out.json"), graph);
}

/// Each file is one that loses nothing, with one change: the lost field is named, and only then does --strict fail.
#[test]
fn strict_fails_exactly_where_a_field_is_lost_and_names_it() {
    let p = Place::new();
    let set = |file: fn() -> Value, path: &str, value: Value| {
        let mut out = file();
        match out.pointer_mut(path) {
            Some(place) => *place = value,
            None => {
                let (parent, key) = path.rsplit_once('/').expect("a path");
                out.pointer_mut(parent).expect("an object")[key] = value;
            }
        }
        out
    };
    let (solver, pose) = ("/bend_Solver", "/bend_Solver/Poses/a");
    let shape = "/bend/poses/bend_1/blendshape_data/0";
    let psd = |path: String, value| set(plain_psd, &path, value);
    let wrangler = |path: String, value| set(plain_wrangler, &path, value);
    let mut cases = vec![
        (plain_psd(), None),
        (
            psd(format!("{solver}/StudioNote"), json!(1)),
            Some("StudioNote"),
        ),
        (
            psd(format!("{pose}/ArtistTag"), json!("x")),
            Some("ArtistTag"),
        ),
        (psd("/about".into(), json!("x")), Some("about")),
        (
            psd(
                format!("{solver}/DrivenJointOrientList"),
                json!([[0.0, 0.5, 0.0]]),
            ),
            Some("DrivenJointOrientList"),
        ),
        (psd(format!("{solver}/PSDType"), json!(2)), Some("PSDType")),
        (
            psd(format!("{pose}/RawPoseRotation"), json!([0.0, 5.0, 0.0])),
            Some("RawPoseRotation"),
        ),
        (psd(format!("{solver}/StudioNote"), Value::Null), None),
        (plain_wrangler(), None),
        (
            wrangler("/bend/vendorExtra".into(), json!([])),
            Some("vendorExtra"),
        ),
        (
            wrangler("/bend/driven_attrs".into(), json!([[], ["a.b"]])),
            Some("driven_attrs"),
        ),
        (
            wrangler("/bend/controllers".into(), json!(["ctrl"])),
            Some("controllers"),
        ),
        (
            wrangler("/bend/solver_name".into(), json!("other")),
            Some("solver_name"),
        ),
    ];
    for field in [
        "blendshape_mesh_shape",
        "orig_mesh",
        "blendshape",
        "pose_attr",
        "sculptor",
    ] {
        cases.push((
            wrangler(format!("{shape}/{field}"), json!("x")),
            Some(field),
        ));
    }
    for field in ["blendshape_mesh_orig_index", "mesh_index", "pose_index"] {
        cases.push((wrangler(format!("{shape}/{field}"), json!(1)), Some(field)));
    }
    let samples = json!({"solvers": [{"name": "s", "joint": "j", "rest_rotation_xyzw": [0.0, 0.0, 0.0, 1.0],
        "samples": [{"name": "b", "rotation_xyzw": [1.0, 0.0, 0.0, 0.0]}]}]});
    let mut timed = samples.clone();
    timed["solvers"][0]["samples"][0]["time_in_clip"] = json!(0.5);
    let mut noted = samples.clone();
    noted["solvers"][0]["note"] = json!("x");
    cases.extend([
        (samples, None),
        (timed, Some("time_in_clip")),
        (noted, Some("note")),
    ]);
    for (file, lost) in cases {
        let o = convert(&p, &file, "graph", &["--strict", "--log-format", "json"]);
        let lines: Vec<String> = said(&o).lines().map(str::to_owned).collect();
        let named: Vec<&String> = lines.iter().filter(|l| l.contains("not_carried")).collect();
        match lost {
            None => {
                ends(&o, 0);
                assert!(named.is_empty(), "{file} {named:?}");
            }
            Some(field) => {
                assert_ne!(o.status.code(), Some(0), "{field}");
                assert_eq!(named.len(), 1, "{field}: {named:?}");
                assert!(named[0].contains(field), "{field}: {named:?}");
            }
        }
    }
}

/// Weights for morph targets are all that such a file wants.
#[test]
fn solvers_that_drive_nothing_are_outputs_of_the_graph() {
    let p = Place::new();
    let file = json!({"arm_l_Solver": {"DriverObject": "arm_l", "DrivenObjects": [], "DrivenJointOrientList": [],
        "PSDType": 1, "BasisFunction": 0, "GlobalWidth": 180.0, "ClampNegativeWeight": true, "NormalizeMethod": 0,
        "TwistAxis": 0, "IsAutomaticRadius": false, "DistanceMethod": 0,
        "Poses": {"p0": {"RawPoseRotation": [0.0, 0.0, 0.0]}, "p1": {"RawPoseRotation": [0.0, 120.0, 0.0]}}}});
    ends(&convert(&p, &file, "graph", &["--strict"]), 0);
    assert_eq!(written(&p)["outputs"]["arm_l_Solver"], "arm_l_Solver");
    ends(&p.sinew(&["psd", "check", "out.json"]), 0);
    ends(&p.sinew(&["psd", "plot", "out.json", "-o", "plot.svg"]), 0);
    // And back.
    let o = p.sinew(&[
        "psd",
        "convert",
        "out.json",
        "--to",
        "psd",
        "--strict",
        "-o",
        "back.json",
    ]);
    ends(&o, 0);
    let back: Value = serde_json::from_str(&p.text("back.json")).expect("JSON");
    assert_eq!(back["arm_l_Solver"]["DriverObject"], "arm_l");
}

#[test]
fn numbers_of_kernels_are_those_of_the_order() {
    let p = Place::new();
    for (order, names) in [
        (
            "published",
            ["linear", "exponential", "cubic", "gaussian_of_distance"],
        ),
        (
            "unreal",
            ["gaussian_of_distance", "exponential", "linear", "cubic"],
        ),
    ] {
        for (number, name) in names.into_iter().enumerate() {
            let mut file = plain_psd();
            file["bend_Solver"]["BasisFunction"] = json!(number);
            let order = ["--basis-order", order];
            ends(&convert(&p, &file, "graph", &order), 0);
            assert_eq!(written(&p)["nodes"]["bend_Solver"]["kernel"], name);
            let arguments = [
                &[
                    "psd",
                    "convert",
                    "out.json",
                    "--to",
                    "psd",
                    "-o",
                    "back.json",
                ][..],
                &order,
            ];
            ends(&p.sinew(&arguments.concat()), 0);
            let back: Value = serde_json::from_str(&p.text("back.json")).expect("JSON");
            assert_eq!(back["bend_Solver"]["BasisFunction"], json!(number));
        }
    }
}
