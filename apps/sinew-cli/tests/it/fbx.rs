//! FBX characters wherever a GLB goes: a strip of quads that a joint bends.

use crate::common::{Place, SKIN, printed, said};

/// Two rows of points along X, in centimetres; the second joint is at 1 m.
const COUNT: usize = 10;
/// Turn of the second joint about Z at second 1, in degrees.
const ANGLE: f64 = 60.0;

fn rest(v: usize) -> [f64; 2] {
    [(v / 2) as f64 * 0.5, (v % 2) as f64 * 0.25]
}

/// Share of the second joint.
fn share(v: usize) -> f64 {
    (v / 2) as f64 * 0.25
}

/// Linear skinning at second 1, by hand: still, and turned about (1, 0).
fn posed(v: usize) -> [f64; 2] {
    let (sin, cos) = ANGLE.to_radians().sin_cos();
    let [x, y] = rest(v);
    let turned = [1.0 + cos * (x - 1.0) - sin * y, sin * (x - 1.0) + cos * y];
    let mix = |a: f64, b: f64| a * (1.0 - share(v)) + b * share(v);
    [mix(x, turned[0]), mix(y, turned[1])]
}

fn list(numbers: impl Iterator<Item = f64>) -> String {
    let all: Vec<String> = numbers.map(|n| n.to_string()).collect();
    format!("*{} {{\n a: {}\n}}", all.len(), all.join(","))
}

fn cluster(id: u32, weights: [f64; COUNT], x: f64) -> String {
    let matrix = |x: f64| {
        list(
            [
                1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, x, 0.0, 0.0, 1.0,
            ]
            .into_iter(),
        )
    };
    format!(
        "Deformer: {id}, \"SubDeformer::\", \"Cluster\" {{\nIndexes: {}\nWeights: {}\nTransform: {}\nTransformLink: {}\n}}\n",
        list((0..COUNT).map(|v| v as f64)),
        list(weights.into_iter()),
        matrix(-x),
        matrix(x)
    )
}

/// The file, as text.
fn strip() -> String {
    let points = (0..COUNT).flat_map(|v| [rest(v)[0] * 100.0, rest(v)[1] * 100.0, 0.0]);
    let quads = (0..4).flat_map(|q| {
        let v = f64::from(2 * q);
        [v, v + 2.0, v + 3.0, -(v + 1.0) - 1.0]
    });
    let weights: [f64; COUNT] = std::array::from_fn(share);
    let lcl = |x: f64| {
        format!(
            "Properties70: {{\nP: \"Lcl Translation\", \"Lcl Translation\", \"\", \"A\",{x},0,0\n}}\n"
        )
    };
    let mut out =
        String::from("; FBX 7.4.0 project file\nFBXHeaderExtension: {\nFBXVersion: 7400\n}\n");
    out += "GlobalSettings: {\nProperties70: {\nP: \"UnitScaleFactor\", \"double\", \"Number\", \"\",1\n}\n}\nObjects: {\n";
    out += &format!(
        "Geometry: 1, \"Geometry::strip\", \"Mesh\" {{\nVertices: {}\nPolygonVertexIndex: {}\n}}\n",
        list(points),
        list(quads)
    );
    out += "Model: 2, \"Model::strip\", \"Mesh\" {\n}\n";
    out += &format!(
        "Model: 3, \"Model::root\", \"LimbNode\" {{\n{}}}\n",
        lcl(0.0)
    );
    out += &format!(
        "Model: 4, \"Model::tip\", \"LimbNode\" {{\n{}}}\n",
        lcl(100.0)
    );
    out += "Material: 5, \"Material::paint\", \"\" {\nProperties70: {\nP: \"DiffuseColor\", \"Color\", \"\", \"A\",1,0,0\n}\n}\n";
    out += "Deformer: 6, \"Deformer::\", \"Skin\" {\nVersion: 101\n}\n";
    out += &cluster(7, weights.map(|w| 1.0 - w), 0.0);
    out += &cluster(8, weights, 100.0);
    out += "AnimationStack: 9, \"AnimStack::root|bend\", \"\" {\nProperties70: {\nP: \"LocalStop\", \"KTime\", \"Time\", \"\",46186158000\n}\n}\n";
    out += "AnimationLayer: 10, \"AnimLayer::base\", \"\" {\n}\nAnimationCurveNode: 11, \"AnimCurveNode::R\", \"\" {\n}\n";
    out += &format!(
        "AnimationCurve: 12, \"AnimCurve::\", \"\" {{\nKeyTime: *2 {{\na: 0,46186158000\n}}\nKeyValueFloat: *2 {{\na: 0,{ANGLE}\n}}\n\
         KeyAttrFlags: *1 {{\na: 4\n}}\nKeyAttrDataFloat: *4 {{\na: 0,0,0,0\n}}\nKeyAttrRefCount: *1 {{\na: 2\n}}\n}}\n}}\nConnections: {{\n"
    );
    for (child, parent) in [
        (1, 2),
        (2, 0),
        (3, 0),
        (4, 3),
        (5, 2),
        (6, 1),
        (7, 6),
        (8, 6),
        (3, 7),
        (4, 8),
        (10, 9),
        (11, 10),
    ] {
        out += &format!("C: \"OO\",{child},{parent}\n");
    }
    out + "C: \"OP\",11,4, \"Lcl Rotation\"\nC: \"OP\",12,11, \"d|Z\"\n}\n"
}

/// A folder with the strip and a graph.
fn place() -> Place {
    let p = Place::new();
    p.put("strip.fbx", &strip());
    p.put("skin.json", SKIN);
    p
}

fn succeeds(p: &Place, arguments: &[&str]) -> String {
    let o = p.sinew(arguments);
    assert!(o.status.success(), "{arguments:?}: {}", said(&o));
    printed(&o)
}

/// Positions at second 1.
fn bent(p: &Place, character: &str) -> Vec<[f64; 3]> {
    succeeds(
        p,
        &[
            "run",
            character,
            "-g",
            "skin.json",
            "--fps",
            "2",
            "--frames",
            "2",
            "-o",
            "bent.obj",
            "--force",
        ],
    );
    let text = p.text("bent.obj");
    let numbers = text.lines().filter_map(|l| l.strip_prefix("v ")).map(|l| {
        let mut all = l.split(' ').map(|n| n.parse().expect("a number"));
        std::array::from_fn(|_| all.next().expect("three"))
    });
    numbers.collect()
}

fn check(found: &[[f64; 3]]) {
    assert_eq!(found.len(), COUNT);
    for (v, p) in found.iter().enumerate() {
        let [x, y] = posed(v);
        assert!(
            (p[0] - x).abs() < 1e-5 && (p[1] - y).abs() < 1e-5,
            "{v}: {p:?}, expected {x} {y}"
        );
    }
}

#[test]
fn a_strip_in_centimetres_bends_as_calculated() {
    let p = place();
    check(&bent(&p, "strip.fbx"));
    let report = succeeds(&p, &["inspect", "strip.fbx"]);
    for words in ["strip", "paint", "tip", "bend"] {
        assert!(report.contains(words), "{words}: {report}");
    }
    // The four quads are in the file.
    assert_eq!(
        p.text("bent.obj")
            .lines()
            .filter(|l| l.starts_with("f "))
            .count(),
        4
    );
}

#[test]
fn commands_that_edit_a_glb_write_an_fbx_character_as_glb() {
    let p = place();
    for arguments in [
        &["embed", "strip.fbx", "-g", "skin.json", "-o", "made.glb"][..],
        &[
            "bake",
            "skin",
            "strip.fbx",
            "-g",
            "skin.json",
            "--frames",
            "0-30/10",
            "-o",
            "made.glb",
            "--force",
        ],
    ] {
        succeeds(&p, arguments);
        check(&bent(&p, "made.glb"));
        assert!(
            p.text_of_bytes("made.glb").contains("paint"),
            "the material stays"
        );
    }
    // A sculpt of the last frame, 0.1 m higher.
    let points: Vec<String> = (0..COUNT)
        .map(|v| format!("v {} {} 0.1\n", posed(v)[0], posed(v)[1]))
        .collect();
    p.put(
        "sculpt.obj",
        &(points.concat() + "f 1 3 4 2\nf 3 5 6 4\nf 5 7 8 6\nf 7 9 10 8\n"),
    );
    succeeds(
        &p,
        &[
            "psd",
            "extract",
            "strip.fbx",
            "-g",
            "skin.json",
            "--fps",
            "2",
            "--sculpt",
            "up=sculpt.obj@2",
            "-o",
            "up.glb",
        ],
    );
    let report = succeeds(&p, &["inspect", "up.glb"]);
    assert!(
        report.contains("up") && report.contains("0.1000"),
        "{report}"
    );
    succeeds(
        &p,
        &[
            "run",
            "strip.fbx",
            "-g",
            "skin.json",
            "--frames",
            "0-2",
            "-o",
            "played.glb",
        ],
    );
    assert!(
        p.text_of_bytes("played.glb").contains("paint"),
        "the material stays"
    );
}

#[test]
fn a_damaged_file_is_named_with_the_location() {
    let p = place();
    p.put("cut.fbx", &strip()[..300]);
    p.put("other.fbx", "solid stl\n");
    for (file, words) in [("cut.fbx", "byte"), ("other.fbx", "expected an FBX file")] {
        let o = p.sinew(&["inspect", file]);
        assert_eq!(o.status.code(), Some(3), "{}", said(&o));
        assert!(
            said(&o).contains(file) && said(&o).contains(words),
            "{}",
            said(&o)
        );
    }
}
