//! `sinew psd compress`: a tube with correctives that are alike, with its graph beside it and inside.

use crate::common::{Place, printed, said};
use serde_json::{Value, json};
use sinew::geom::MorphTarget;
use sinew::play::{Character, Document};
use sinew_testkit::{TubeFile, meshes};

const POSES: usize = 7;

fn half(pose: usize) -> (f64, f64) {
    (pose as f64 * 0.125).sin_cos()
}

fn targets() -> Vec<String> {
    (1..POSES).map(|p| format!("bent_{p}")).collect()
}

/// Six correctives of two shapes.
fn tube(graph: Option<Value>) -> Vec<u8> {
    let mut mesh = meshes::tube(40, 16, 1.0, 0.1);
    let corrective = |pose: usize| {
        let shares = (pose as f32 * 0.01, (pose * pose) as f32 * 0.002);
        let moved = |p: &[f32; 3]| {
            let near = (1.0 - ((p[0] - 0.5) * 5.0).powi(2)).max(0.0);
            [shares.1 * near * p[1] * 5.0, shares.0 * near, 0.0]
        };
        let all = (0_u32..).zip(mesh.positions.iter().map(moved));
        let (vertices, positions) = all.filter(|(_, d)| *d != [0.0; 3]).unzip();
        MorphTarget {
            name: format!("bent_{pose}"),
            vertices,
            positions,
            ..MorphTarget::default()
        }
    };
    mesh.morph_targets = (1..POSES).map(corrective).collect();
    let turn = |p: usize| [0.0, 0.0, half(p).0 as f32, half(p).1 as f32];
    let file = TubeFile {
        mesh,
        rotations: (0..POSES).map(turn).collect(),
        weights: None,
        rest_weights: None,
        graph,
    };
    file.glb()
}

fn graph() -> Value {
    let pose = |p| json!({ "name": format!("p{p}"), "joints": [{ "rotation": [0, 0, half(p).0, half(p).1] }] });
    let mut names = targets();
    names.insert(0, String::new());
    json!({
        "sinew": "1.0",
        "inputs": { "body": { "type": "mesh" }, "pose": { "type": "pose" } },
        "nodes": {
            "elbow": { "node": "pose_driver", "pose": "pose", "joints": ["lower"], "space": "rest",
                "poses": (0..POSES).map(pose).collect::<Vec<_>>() },
            "drive": { "node": "drive_morphs", "mesh": "body", "weights": "elbow", "targets": names },
            "shaped": { "node": "morph", "mesh": "body", "weights": "drive" },
            "skin": { "node": "skin", "mesh": "shaped", "pose": "pose" },
        },
        "outputs": { "body": "skin" },
    })
}

fn place() -> Place {
    let p = Place::new();
    std::fs::write(p.path("tube.glb"), tube(None)).expect("write");
    std::fs::write(p.path("whole.glb"), tube(Some(graph()))).expect("write");
    p.put("tube.json", &graph().to_string());
    p.put("skin.json", r#"{"sinew": "1.0", "stack": ["skin"]}"#);
    let clamped = graph().to_string().replace(
        "\"mesh\":\"body\",\"weights\":\"elbow\"",
        "\"mesh\":\"body\",\"weights\":\"elbow\",\"clamp\":true",
    );
    p.put("clamped.json", &clamped);
    p
}

fn names(p: &Place, file: &str) -> Vec<String> {
    let character = Character::load(&p.path(file)).expect("a character");
    let targets = character.asset.meshes[0].morph_targets.iter();
    targets.map(|t| t.name.clone()).collect()
}

#[test]
fn six_correctives_become_two() {
    let p = place();
    let o = p.sinew(&[
        "psd",
        "compress",
        "tube.glb",
        "--graph",
        "tube.json",
        "-o",
        "out.glb",
        "--tolerance",
        "1e-6",
        "--log-format",
        "json",
    ]);
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    let report: Value = serde_json::from_str(&printed(&o)).expect("a JSON line");
    assert_eq!(
        (&report["node"], &report["driver"]),
        (&json!("drive"), &json!("elbow"))
    );
    assert_eq!(
        (&report["changed"], &report["unchanged"]),
        (&json!(true), &Value::Null)
    );
    let basis = &report["basis"];
    assert_eq!(basis["targets"], json!(["elbow_basis_0", "elbow_basis_1"]));
    assert_eq!(
        (&basis["rank"], &basis["reached"]),
        (&json!(2), &json!(true))
    );
    assert_eq!(
        basis["singular_values_m"].as_array().map(Vec::len),
        Some(POSES - 1)
    );
    assert!(
        basis["largest_m"].as_f64().is_some_and(|e| e <= 1e-6),
        "{basis}"
    );
    assert!(
        basis["bytes_after"].as_u64() < basis["bytes_before"].as_u64(),
        "{basis}"
    );
    assert!(
        report["targets"]
            .as_array()
            .is_some_and(|t| t.contains(&basis["worst"]))
    );
    // Beside the file, and nothing in it.
    assert_eq!(names(&p, "out.glb"), ["elbow_basis_0", "elbow_basis_1"]);
    assert!(
        p.text("out.json").contains("\"mix\": ["),
        "{}",
        p.text("out.json")
    );
    let o = p.sinew(&[
        "run", "out.glb", "--graph", "out.json", "--clip", "poses", "--frames", "40", "-o",
        "out.ply",
    ]);
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    let character = Character::load(&p.path("out.glb")).expect("a character");
    assert!(Document::embedded(&character).is_none());
}

#[test]
fn graphs_in_files_stay_in_them() {
    let p = place();
    let o = p.sinew(&[
        "psd",
        "compress",
        "whole.glb",
        "-o",
        "out.glb",
        "--tolerance",
        "1e-6",
    ]);
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    let text = printed(&o);
    for part in [
        "drive (driver 'elbow')",
        "targets  6 become 2 (elbow_basis_0 .. elbow_basis_1)",
        "m RMS",
        "singular values (m): ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!p.path("out.json").exists());
    let o = p.sinew(&[
        "run", "out.glb", "--clip", "poses", "--frames", "40", "-o", "out.ply",
    ]);
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    // Once more there is nothing left to do, and that is said.
    let o = p.sinew(&[
        "psd",
        "compress",
        "out.glb",
        "-o",
        "again.glb",
        "--tolerance",
        "1e-6",
        "--graph-output",
        "again.json",
    ]);
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    assert!(
        printed(&o).contains("unchanged: it already has a 'mix'"),
        "{}",
        printed(&o)
    );
    assert_eq!(names(&p, "again.glb"), names(&p, "out.glb"));
    assert!(p.text("again.json").contains("elbow_basis_0"));
}

#[test]
fn too_few_components_are_a_warning() {
    let p = place();
    let o = p.sinew(&[
        "psd",
        "compress",
        "whole.glb",
        "-o",
        "out.glb",
        "--tolerance",
        "1e-6",
        "--components",
        "1",
    ]);
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    assert!(
        said(&o).contains(" m with 1 components, above the tolerance of 1e-6 m"),
        "{}",
        said(&o)
    );
    assert_eq!(names(&p, "out.glb"), ["elbow_basis_0"]);
    let o = p.sinew(&[
        "psd",
        "compress",
        "tube.glb",
        "--graph",
        "clamped.json",
        "-o",
        "out.glb",
        "--tolerance",
        "1e-6",
    ]);
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    assert!(
        printed(&o).contains("unchanged: 'drive' clamps"),
        "{}",
        printed(&o)
    );
    assert_eq!(names(&p, "out.glb"), targets());
}

#[test]
fn exit_codes_tell_what_is_wrong() {
    let p = place();
    let cases: [(&[&str], i32, &str); 9] = [
        (&["whole.glb", "-o", "out.glb"], 2, "--tolerance"),
        (
            &["whole.glb", "-o", "out.glb", "--tolerance", "-1"],
            2,
            "tolerance",
        ),
        (
            &[
                "whole.glb",
                "-o",
                "out.glb",
                "--tolerance",
                "1e-4",
                "--components",
                "0",
            ],
            2,
            "'components' is 0",
        ),
        (
            &[
                "whole.glb",
                "-o",
                "out.glb",
                "--tolerance",
                "1e-4",
                "--drop-share",
                "2",
            ],
            2,
            "'drop_share' is 2",
        ),
        (
            &["whole.glb", "-o", "out.gltf", "--tolerance", "1e-4"],
            2,
            "ends in .glb",
        ),
        (
            &["none.glb", "-o", "out.glb", "--tolerance", "1e-4"],
            3,
            "none.glb",
        ),
        (
            &[
                "whole.glb",
                "--graph",
                "tube.json",
                "-o",
                "out.glb",
                "--tolerance",
                "1e-4",
            ],
            3,
            "contains another graph, which uses the morph target 'bent_1'",
        ),
        (
            &[
                "tube.glb",
                "--graph",
                "skin.json",
                "-o",
                "out.glb",
                "--tolerance",
                "1e-4",
            ],
            4,
            "no node 'drive_morphs'",
        ),
        (
            &[
                "whole.glb",
                "-o",
                "skin.json/out.glb",
                "--tolerance",
                "1e-4",
            ],
            6,
            "skin.json is not a folder",
        ),
    ];
    let before = p.files();
    for (arguments, code, message) in cases {
        let o = p.sinew(&[&["psd", "compress"], arguments].concat());
        assert_eq!(o.status.code(), Some(code), "{arguments:?}: {}", said(&o));
        assert!(said(&o).contains(message), "{arguments:?}: {}", said(&o));
        assert_eq!(p.files(), before, "{arguments:?}");
    }
}
