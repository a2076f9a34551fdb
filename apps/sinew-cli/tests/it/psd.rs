//! `sinew psd` as its users meet it.

use crate::common::{Place, printed, said};
use serde_json::Value;
use std::process::Output;

/// An arm's driver with a pose too many, and one that cannot be solved.
const ARM: &str = r#"{
  // Poses of an arm.
  "sinew": "1.0",
  "inputs": { "rig": { "type": "pose" } },
  "nodes": {
    "arm": {
      "node": "pose_driver", "pose": "rig", "joints": ["upper"], "space": "rest", "metric": "arc", "kernel": "linear",
      "poses": [
        { "name": "neutral", "joints": [{}] }, // first
        { "name": "half < way", "joints": [{ "rotation_degrees": [0, 0, 45] }] },
        { "name": "up & over", "joints": [{ "rotation_degrees": [0, 0, 90] }] }, // last
      ]
    }
  },
  "outputs": { "weights": "arm" }
}
"#;
const BROKEN: &str = r#"{ "sinew": "1.0", "inputs": { "rig": { "type": "pose" } }, "nodes": {
  "bad": { "node": "pose_driver", "pose": "rig", "joints": ["a"], "poses": [
    { "name": "one", "joints": [{}] }, { "name": "two", "joints": [{}] }] },
  "tight": { "node": "pose_driver", "pose": "rig", "joints": ["a"], "width": 1, "poses": [
    { "name": "one", "joints": [{}] }, { "name": "two", "joints": [{ "rotation_degrees": [0, 0, 3] }] }] } },
  "outputs": { "v": "bad", "w": "tight" } }"#;

fn place() -> Place {
    let place = Place::new();
    place.put("arm.json", ARM);
    place.put("broken.json", BROKEN);
    place.put(
        "tight.json",
        &BROKEN.replace(
            r#""name": "two", "joints": [{}]"#,
            r#""name": "two", "joints": [{ "rotation_degrees": [90, 0, 0] }]"#,
        ),
    );
    place
}

#[track_caller]
fn expect(o: &Output, code: i32, message: &str) {
    assert_eq!(o.status.code(), Some(code), "{}", said(o));
    assert!(
        said(o).contains(message),
        "expected '{message}' in:\n{}",
        said(o)
    );
}

#[test]
fn check_reports_every_driver_and_fails_where_one_has_no_solution() {
    let p = place();
    let o = p.sinew(&["psd", "check", "arm.json"]);
    expect(&o, 0, "");
    let text = printed(&o);
    for part in [
        "arm (arm.json:6:5)",
        "interpolative",
        "is positive definite",
        "1.0472 rad (60.00 degrees)",
        // K = [[1, 1/4, 0], [1/4, 1, 1/4], [0, 1/4, 1]]; 21/32 of the way to the second pose the third's weight is -0.25 * 0.9375 / 0.875 of that.
        "the weight of 'up & over' falls to -0.176",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let o = p.sinew(&["psd", "check", "broken.json"]);
    expect(&o, 4, "1 of 2 drivers have problems");
    let text = printed(&o);
    assert!(
        text.contains("poses 'one' and 'two' are the same"),
        "{text}"
    );
    assert!(
        text.contains("overlap: they are 3.00 degrees apart"),
        "{text}"
    );
    expect(&p.sinew(&["psd", "check", "tight.json"]), 0, "");
    let strict = p.sinew(&["psd", "check", "tight.json", "--strict"]);
    expect(&strict, 4, "1 of 2 drivers have problems");
    expect(
        &p.sinew(&["psd", "check", "shift.json"]),
        4,
        "the graph has no node 'pose_driver', expected at least one",
    );
    expect(&p.sinew(&["psd", "check", "none.json"]), 4, "none.json");
}

#[test]
fn check_speaks_json_lines() {
    let p = place();
    let o = p.sinew(&["psd", "check", "broken.json", "--log-format", "json"]);
    expect(&o, 4, "\"exit\":4");
    let lines: Vec<Value> = printed(&o)
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
    let of = |name: &str| lines.iter().find(|l| l["driver"] == name).expect("there");
    assert_eq!(of("bad")["severity"], "error");
    assert_eq!(of("bad")["findings"][0]["code"], "cannot_solve");
    let tight = of("tight");
    assert_eq!(tight["widths"], serde_json::json!([1.0, 1.0]));
    assert_eq!(tight["positive_definite"], true);
    assert_eq!(tight["poses"], serde_json::json!(["one", "two"]));
}

/// Tags close in the order in which they open, and texts have no bare signs; the texts.
fn texts_of(svg: &str) -> Vec<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut texts = Vec::new();
    let mut rest = svg;
    while let Some((before, behind)) = rest.split_once('<') {
        assert!(!before.contains('>'), "a bare > in {before}");
        if open.last() == Some(&"text") {
            texts.push(before.trim().to_owned());
        }
        let (tag, next) = behind.split_once('>').expect("a tag ends");
        rest = next;
        let name = tag.trim_start_matches('/').split_whitespace().next();
        let name = name.expect("a name").trim_end_matches('/');
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') && !tag.starts_with(['?', '!']) {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0], "all tags are closed");
    texts
}

#[test]
fn plots_are_svg_with_all_names() {
    let p = place();
    for more in [
        &[][..],
        &["--sphere"],
        &["--from", "neutral", "--to", "up & over", "--solved"],
    ] {
        let arguments = [
            &[
                "psd", "plot", "arm.json", "-o", "a.svg", "--size", "640x400",
            ],
            more,
        ]
        .concat();
        expect(&p.sinew(&arguments), 0, "wrote a.svg");
        let svg = p.text("a.svg");
        assert!(
            svg.starts_with("<svg width=\"640\" height=\"400\" viewBox="),
            "{}",
            &svg[..80]
        );
        let texts = texts_of(&svg);
        for name in ["neutral", "half &lt; way", "up &amp; over"] {
            assert!(texts.iter().any(|t| t == name), "{name} in {texts:?}");
        }
    }
}

#[test]
fn plots_are_png_of_the_size() {
    let p = place();
    for more in [&[][..], &["--sphere", "--joint", "upper"]] {
        let arguments = [
            &[
                "psd", "plot", "arm.json", "-o", "a.PNG", "--size", "400x300",
            ],
            more,
        ]
        .concat();
        expect(&p.sinew(&arguments), 0, "wrote a.PNG");
        let picture = sinew::io::read_png(&p.path("a.PNG")).expect("a picture");
        assert_eq!((picture.width(), picture.height()), (400, 300));
        let drawn = picture.pixels().iter().filter(|c| **c != [255; 4]).count();
        assert!(drawn > 2000, "{drawn} pixels are drawn");
    }
}

#[test]
fn plots_say_what_is_wrong_and_write_nothing() {
    let p = place();
    let before = p.files();
    let plot = |rest: &[&str]| p.sinew(&[&["psd", "plot"], rest].concat());
    expect(
        &plot(&["arm.json", "-o", "a.jpg"]),
        2,
        "a.jpg: unknown file extension, expected .svg or .png",
    );
    expect(
        &plot(&["arm.json", "-o", "a.svg", "--driver", "leg"]),
        2,
        "there is no driver 'leg'; known: arm",
    );
    expect(
        &plot(&["broken.json", "-o", "a.svg"]),
        2,
        "the graph has several drivers; select one with --driver: ",
    );
    expect(
        &plot(&["broken.json", "-o", "a.svg", "--driver", "bad"]),
        4,
        "are the same for this metric",
    );
    expect(
        &plot(&[
            "arm.json", "-o", "a.svg", "--from", "neutral", "--to", "down",
        ]),
        2,
        "has no enabled pose 'down'; the poses are neutral, half < way",
    );
    expect(
        &plot(&["arm.json", "-o", "a.svg", "--from", "neutral"]),
        2,
        "--to",
    );
    expect(
        &plot(&["arm.json", "-o", "a.svg", "--sphere", "--joint", "leg"]),
        2,
        "no driver joint 'leg'; known: upper",
    );
    expect(
        &plot(&["arm.json", "-o", "a.svg", "--size", "10x10"]),
        2,
        "200 to 4000",
    );
    assert_eq!(p.files(), before);
}

#[test]
fn fit_removes_what_the_others_predict_and_keeps_comments() {
    let p = place();
    p.put("values.json", "[0, 0.5, 1]");
    let fit =
        |rest: &[&str]| p.sinew(&[&["psd", "fit", "arm.json", "-o", "out.json"], rest].concat());
    let o = fit(&["--values", "values.json", "--log-format", "json"]);
    expect(&o, 0, "wrote out.json");
    let lines: Vec<Value> = printed(&o)
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
    assert_eq!(lines[0]["removed"], "half < way");
    assert_eq!(
        lines[1]["kept"],
        serde_json::json!(["neutral", "up & over"])
    );
    let width = &lines[1]["width"];
    let expected = ARM
        .replace("        { \"name\": \"half < way\", \"joints\": [{ \"rotation_degrees\": [0, 0, 45] }] },\n", "")
        .replace("      \"poses\"", &format!("      \"width\": {width},\n      \"poses\""));
    assert_eq!(p.text("out.json"), expected);
    expect(&p.sinew(&["psd", "check", "out.json"]), 0, "");
    // No weights of two of them make the third: every pose is needed.
    p.put("values.json", "[[0], [1], [-1]]");
    let o = fit(&["--values", "values.json"]);
    expect(&o, 0, "wrote out.json");
    assert!(printed(&o).contains("kept     3 of 3"), "{}", printed(&o));
}

#[test]
fn fit_says_what_is_wrong_and_writes_nothing() {
    let p = place();
    p.put("two.json", "[1, 2]");
    let before = p.files();
    let fit = |rest: &[&str]| p.sinew(&[&["psd", "fit"], rest].concat());
    expect(
        &fit(&["arm.json", "-o", "out.glb"]),
        2,
        "out.glb: expected a graph document, which ends in .json",
    );
    expect(
        &fit(&["arm.json", "-o", "out.json", "--values", "two.json"]),
        5,
        "found 2 rows, expected 3",
    );
    expect(
        &fit(&["arm.json", "-o", "out.json", "--values", "arm.json"]),
        3,
        "arm.json",
    );
    expect(
        &fit(&["broken.json", "-o", "out.json", "--driver", "bad"]),
        4,
        "expected 3 or more",
    );
    expect(
        &fit(&["arm.json", "-o", "out.json", "--tolerance=-1"]),
        2,
        "tolerance is -1",
    );
    assert_eq!(p.files(), before);
}
