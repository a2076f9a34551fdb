//! Which outputs of a graph are written or drawn, and numbers of values outputs as CSV.

use crate::common::{Place, printed, said};
use crate::render::render;

/// A mesh that stays and one that is pushed up by a metre, and two numbers.
const TWO: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "drive, left": {"type": "values", "count": 2}},
 "nodes": {"pushed": {"node": "transform", "mesh": "body", "transform": {"translation": [0, 1, 0]}}},
 "outputs": {"still": "body", "pushed": "pushed", "drive, left": "drive, left"}}"#;

fn place() -> Place {
    let p = Place::new();
    p.put("two.json", TWO);
    p.put("drive.json", "[[0.25, -1], [0.5, 2], [0.125, 0]]");
    p
}

const RUN: [&str; 8] = [
    "run",
    "square.obj",
    "-g",
    "two.json",
    "--values",
    "drive, left=drive.json",
    "--frames",
    "0-2",
];

#[test]
fn only_the_chosen_outputs_are_written() {
    let p = place();
    let run = |more: &[&str]| p.sinew(&[&RUN[..], more].concat());
    let out = run(&["--only", "pushed", "-o", "a_####.obj"]);
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    assert!(!said(&out).contains("is not written"), "{}", said(&out));
    let heights = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|l| l.starts_with("v "));
        lines
            .filter_map(|l| l.split(' ').nth(2).map(str::to_owned))
            .collect()
    };
    assert_eq!(heights(&p.text("a_0001.obj")), ["1", "1", "2", "2"]);
    // Without the option both meshes are there.
    run(&["-o", "b_####.obj"]);
    assert_eq!(heights(&p.text("b_0001.obj")).len(), 8);
    let wrong = run(&["--only", "still,pused", "-o", "c.glb"]);
    let expected = "no output 'pused'; did you mean 'pushed'? known: still, pushed, drive, left";
    assert_eq!(wrong.status.code(), Some(2), "{}", said(&wrong));
    assert!(said(&wrong).contains(expected), "{}", said(&wrong));
    assert!(!p.path("c.glb").exists());
}

#[test]
fn values_are_written_as_csv_and_summed_up() {
    let p = place();
    let out = p.sinew(&[&RUN[..], &["-o", "n.csv"]].concat());
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
    let expected = "frame,time,\"drive, left[0]\",\"drive, left[1]\"\n0,0,0.25,-1\n1,0.033333335,0.5,2\n2,0.06666667,0.125,0\n";
    assert_eq!(p.text("n.csv"), expected);
    assert!(
        said(&out).contains("values: 'drive, left' -1 to 2"),
        "{}",
        said(&out)
    );
    let json = p.sinew(&[&["--log-format", "json"], &RUN[..], &["-o", "m.csv"]].concat());
    let range = r#""values":[{"output":"drive, left","min":[0.125,-1.0],"max":[0.5,2.0]}]"#;
    let told = said(&json) + &printed(&json);
    assert!(told.contains(range), "{told}");
    let none = p.sinew(&["run", "square.obj", "-g", "shift.json", "-o", "none.csv"]);
    assert_eq!(none.status.code(), Some(5), "{}", said(&none));
    assert!(
        said(&none).contains("the graph has none"),
        "{}",
        said(&none)
    );
    assert!(!p.path("none.csv").exists());
}

#[test]
fn a_file_with_z_up_looks_as_the_same_with_y_up() {
    let p = place();
    p.put("y.obj", "v 0 0 0\nv 1 0 0.25\nv 1 2 0.25\nf 1 2 3\n");
    p.put("z.obj", "v 0 0 0\nv 1 -0.25 0\nv 1 -0.25 2\nf 1 2 3\n");
    let draw = |file: &str, more: &[&str], out: &str| {
        render(&p, &[&[file, "--size", "64x64", "-o", out], more].concat())
    };
    let Some(y) = draw("y.obj", &[], "y.png") else {
        return;
    };
    assert_eq!(y.status.code(), Some(0), "{}", said(&y));
    for (more, same) in [(&["--up", "z"][..], true), (&[], false)] {
        draw("z.obj", more, "z.png");
        let read = |name: &str| std::fs::read(p.path(name)).expect("drawn");
        assert_eq!(read("y.png") == read("z.png"), same, "{more:?}");
    }
    for (input, expected) in [
        ("sample:ball", "has Y up"),
        ("z.obj", "without a graph only"),
    ] {
        let wrong = draw(input, &["--up", "z", "-g", "shift.json"], "w.png").expect("an adapter");
        assert_eq!(wrong.status.code(), Some(2), "{}", said(&wrong));
        assert!(said(&wrong).contains(expected), "{}", said(&wrong));
    }
}

#[test]
fn examples_on_samples_do_not_warn_of_what_they_leave_out() {
    let p = Place::new();
    let bent = p.sinew(&[
        "run",
        "sample:arm",
        "-g",
        "example:bend",
        "--frames",
        "3",
        "-o",
        "a.obj",
    ]);
    assert_eq!(bent.status.code(), Some(0), "{}", said(&bent));
    assert!(!said(&bent).contains("no node reads"), "{}", said(&bent));
    // The same graph in a file is somebody's own.
    p.sinew(&["init", "own.json", "--example", "bend"]);
    let own = p.sinew(&[
        "run",
        "sample:arm",
        "-g",
        "own.json",
        "--frames",
        "3",
        "-o",
        "b.obj",
    ]);
    assert!(said(&own).contains("no node reads"), "{}", said(&own));
}

#[test]
fn a_bound_graph_is_explained_in_one_list() {
    let p = Place::new();
    let explain = |more: &[&str]| {
        let out = p.sinew(&[&["check", "example:hair", "--explain"], more].concat());
        assert_eq!(out.status.code(), Some(0), "{}", said(&out));
        printed(&out)
    };
    let (plain, bound) = (explain(&[]), explain(&["--character", "sample:head"]));
    for line in plain.lines() {
        let found = bound.lines().filter(|l| *l == line).count();
        assert_eq!(found, 1, "{line}: {bound}");
    }
    assert!(
        bound.contains("memory: ") && !plain.contains("memory: "),
        "{bound}"
    );
}
