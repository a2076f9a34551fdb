//! A character from a stranger: files that its graph names stay in its folder, whatever kind they are of.

use crate::common::{Place, printed, said};
use std::time::{Duration, Instant};

/// What must not be in any message.
const SECRET: &str = "root-of-all-secrets";
/// Exit codes: a graph or an input that is wrong.
const REFUSED: [i32; 2] = [3, 4];

/// Every kind of file that a graph can name; `NAME` stands for its name.
const KINDS: [(&str, &str); 5] = [
    (
        "nested graph",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "nodes": {"n": {"node": "graph", "file": NAME, "body": "body"}}, "outputs": {"body": "n"}}"#,
    ),
    (
        "kernel",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "nodes": {"n": {"node": "kernel", "domain": "vertex", "mesh": "body", "file": NAME}}, "outputs": {"body": "n"}}"#,
    ),
    (
        "mesh",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh", "file": NAME}},
 "nodes": {"n": {"node": "smooth", "mesh": "body"}}, "outputs": {"body": "n"}}"#,
    ),
    (
        "strands",
        r#"{"sinew": "1.0", "inputs": {"hair": {"type": "strands", "file": NAME}}, "outputs": {"hair": "hair"}}"#,
    ),
    (
        "vertex animation",
        r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}, "bake": {"type": "vertex_animation", "file": NAME}},
 "nodes": {"n": {"node": "vat_playback", "mesh": "body", "animation": "bake"}}, "outputs": {"body": "n"}}"#,
    ),
];

/// A character in `theirs/`, and secrets beside that folder and behind links in it.
struct Stranger {
    place: Place,
}

impl Stranger {
    fn new() -> Self {
        let place = Place::new();
        for folder in ["theirs", "mine"] {
            std::fs::create_dir(place.path(folder)).expect("made");
        }
        for ending in ["json", "wgsl", "obj", "glb", "tfx", "vat.json"] {
            place.put(&format!("mine/secret.{ending}"), SECRET);
        }
        let made = place.sinew(&["run", "square.obj", "-g", "shift.json", "-o", "plain.glb"]);
        assert!(made.status.success(), "{}", said(&made));
        Self { place }
    }

    /// Runs the character with this graph in it; gives the exit code and all that was said.
    fn run(&self, graph: &str, more: &[&str]) -> (Option<i32>, String) {
        let to = self.place.path("theirs/hero.glb");
        sinew::io::gltf_write::embed_graph(&self.place.path("plain.glb"), graph, &to)
            .expect("a graph is text");
        let begun = Instant::now();
        let mut line = vec!["run", "theirs/hero.glb", "--frames", "0", "-o", "out.npz"];
        line.extend_from_slice(more);
        let found = self.place.sinew(&line);
        assert!(begun.elapsed() < Duration::from_secs(20), "{graph}: hangs");
        (found.status.code(), said(&found) + &printed(&found))
    }
}

/// Names that lead out of `theirs/`, for a kind of file with this ending.
fn ways_out(stranger: &Stranger, ending: &str) -> Vec<String> {
    let secret = stranger.place.path(&format!("mine/secret.{ending}"));
    let absolute = secret.to_str().expect("UTF-8").to_owned();
    let mut out = vec![
        absolute,
        format!("../mine/secret.{ending}"),
        format!("./x/../../mine/secret.{ending}"),
    ];
    #[cfg(unix)]
    {
        let link = format!("link.{ending}");
        let at = stranger.place.path(&format!("theirs/{link}"));
        std::os::unix::fs::symlink(&secret, at).expect("a link");
        out.push(link);
        out.extend(["/etc/passwd", "/dev/zero", "/dev/stdin"].map(str::to_owned));
    }
    out
}

fn ending_of(kind: &str) -> &'static str {
    match kind {
        "nested graph" => "json",
        "kernel" => "wgsl",
        "mesh" => "glb",
        "strands" => "tfx",
        _ => "vat.json",
    }
}

#[test]
fn files_of_every_kind_stay_in_the_folder() {
    let stranger = Stranger::new();
    for (kind, graph) in KINDS {
        for name in ways_out(&stranger, ending_of(kind)) {
            let graph = graph.replace("NAME", &format!("{name:?}"));
            let (code, said) = stranger.run(&graph, &[]);
            assert!(
                code.is_some_and(|c| REFUSED.contains(&c)),
                "{kind}, {name}: {code:?}: {said}"
            );
            assert!(
                said.contains("is outside the folder theirs"),
                "{kind}, {name}: {said}"
            );
            assert!(said.contains("--allow-folder"), "{kind}, {name}: {said}");
            assert!(
                !said.contains(SECRET) && !said.contains("root:x"),
                "{kind}, {name}: {said}"
            );
        }
    }
}

/// What is neither in the folder nor a way out of it is found to be so without being opened.
#[test]
#[cfg(unix)]
fn pipes_and_folders_are_not_opened() {
    let stranger = Stranger::new();
    for (kind, graph) in KINDS {
        let ending = ending_of(kind);
        let pipe = stranger.place.path(&format!("theirs/pipe.{ending}"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo runs").success());
        let graph = graph.replace("NAME", &format!("\"pipe.{ending}\""));
        let (code, said) = stranger.run(&graph, &[]);
        assert!(
            code.is_some_and(|c| REFUSED.contains(&c)),
            "{kind}: {code:?}: {said}"
        );
        assert!(said.contains("expected a regular file"), "{kind}: {said}");
    }
}

/// A studio's graphs share what lies elsewhere.
#[test]
fn folders_that_are_allowed_are_read() {
    let stranger = Stranger::new();
    let nested = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "stack": [{"node": "transform", "transform": {"translation": [0, 0, 1]}}]}"#;
    stranger.place.put("mine/lift.json", nested);
    let graph = KINDS[0].1.replace("NAME", "\"../mine/lift.json\"");
    let (code, said) = stranger.run(&graph, &[]);
    assert!(
        code == Some(4) && said.contains("is outside the folder"),
        "{said}"
    );
    let (code, said) = stranger.run(&graph, &["--allow-folder", "mine"]);
    assert_eq!(code, Some(0), "{said}");
    // The same for a graph on the command line: its folder is what counts.
    stranger.place.put("theirs/hero.json", &graph);
    let line = ["check", "theirs/hero.json"];
    let found = stranger.place.sinew(&line);
    assert_eq!(found.status.code(), Some(4), "{}", self::said(&found));
    let found = stranger
        .place
        .sinew(&[&line[..], &["--allow-folder=mine"]].concat());
    assert_eq!(found.status.code(), Some(0), "{}", self::said(&found));
}

/// What a bake and a sequence consist of, beside the file that is named: no link to elsewhere where a manifest names it, and no pipe at all.
#[test]
#[cfg(unix)]
fn files_beside_a_file_are_plain_ones() {
    let place = Place::new();
    let pipe = |name: &str| {
        let made = std::process::Command::new("mkfifo")
            .arg(place.path(name))
            .status();
        assert!(made.expect("mkfifo runs").success());
    };
    let refused = |line: &str, part: &str| {
        let found = place.sinew(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(found.status.code(), Some(3), "{line}: {}", said(&found));
        assert!(said(&found).contains(part), "{line}: {}", said(&found));
    };
    let plain = "expected a regular file";
    for k in 1..4 {
        let z = 0.1 * f64::from(k);
        let text = format!("v 0 0 0\nv 1 0 {z}\nv 0 1 0\nf 1 2 3\n");
        place.put(&format!("wave_{k:04}.obj"), &text);
    }
    let baked = place.sinew(&["bake", "vat", "wave_####.obj", "-o", "bake"]);
    assert!(baked.status.success(), "{}", said(&baked));
    for name in ["wave_offset.png", "wave.glb"] {
        let file = place.path("bake").join(name);
        let away = place.path("elsewhere");
        std::fs::rename(&file, &away).expect("moved");
        std::os::unix::fs::symlink(&away, &file).expect("a link");
        let verify = "vat verify bake wave_####.obj";
        refused(verify, "is outside the folder bake");
        std::fs::remove_file(&file).expect("there");
        pipe(&format!("bake/{name}"));
        refused(verify, plain);
        std::fs::remove_file(&file).expect("there");
        std::fs::rename(&away, &file).expect("moved");
    }
    std::fs::remove_file(place.path("bake/wave.vat.json")).expect("there");
    pipe("bake/wave.vat.json");
    let found = place.sinew(&["bake", "vat", "wave_####.obj", "-o", "bake"]);
    assert_eq!(found.status.code(), Some(6), "{}", said(&found));
    pipe("wave_0004.obj");
    for line in [
        "bake vat wave_####.obj -o new",
        "inspect wave_####.obj",
        "vat size wave_####.obj",
    ] {
        refused(line, plain);
    }
    let grown = place.sinew(&[
        "hair",
        "grow",
        "square.obj",
        "--count",
        "3",
        "-o",
        "fur.tfx",
    ]);
    assert!(grown.status.success(), "{}", said(&grown));
    pipe("fur.tfxbone");
    refused("inspect fur.tfx", plain);
    std::fs::remove_file(place.path("fur.tfxbone")).expect("there");
    std::os::unix::fs::symlink("/etc/hostname", place.path("fur.tfxbone")).expect("a link");
    refused("inspect fur.tfx", "is outside the folder");
}
