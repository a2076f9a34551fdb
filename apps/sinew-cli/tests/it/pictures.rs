//! What `sinew render` draws, against small pictures in `tests/pictures`: every example graph and every look. TESTING.md says how to bless.

use sinew::deform::{Example, examples};
use sinew::geom::Image;
use sinew::io::{read_png, write_png};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Mutex;

/// Cameras that stand still: one that frames what it sees would follow a wrong deformation.
const ARM: &str = "--eye 0.2,0.3,1.1 --target 0.13,0.11,0 --fov 24";
const HOSE: &str = "--eye 0.4,0.4,1.8 --target 0.2,0.25,0 --fov 25";
const BALL: &str = "--eye 0.4,0.6,1.2 --target 0,0.25,0 --fov 26";
const TALL: &str = "--eye 0.5,0.8,2 --target 0,0.42,0 --fov 28";
const CREATURE: &str = "--eye 1.6,0.9,1.2 --target 0,0.42,0 --fov 30";
const HEAD: &str = "--eye 0.25,0.42,1.5 --target 0,0.22,0 --fov 17";
/// Frame 54 has the elbow at 140 degrees and the wrist at 120; deformers over time are done at frame 24.
const BENT: &str = "--frames 54 --background white --no-ground";
const DONE: &str = "--frames 24 --background white --no-ground";
/// Hair lies where it falls.
const FALLEN: &str = "--frames 60 --background white --no-ground";

/// Examples that need more than [`by_sample`] gives them.
const OTHERWISE: [(&str, &[&str]); 10] = [
    (
        "pose_space_deformation",
        &[
            "--look difference --lighting flat --range 0,15 --against docs/pose_drivers/skin.json",
            ARM,
        ],
    ),
    ("difference", &["--look colors --lighting flat", ARM]),
    ("bend", &[HOSE]),
    ("squash_stretch", &[TALL]),
    ("masked_transform", &[TALL]),
    ("debug_lines", &[TALL]),
    ("expression", &[TALL]),
    ("curve", &[TALL]),
    ("spring_speed", &[HOSE]),
    ("spring_joints", &[HOSE]),
];

/// How an example of a node is drawn, by the sample that it is for.
fn by_sample(example: &Example) -> String {
    let otherwise = OTHERWISE.iter().find(|o| o.0 == example.name);
    let camera = match (otherwise, example.sample) {
        (Some((_, parts)), _) => parts.join(" "),
        (None, "arm") => ARM.into(),
        (None, "ball") => BALL.into(),
        (None, "head") => HEAD.into(),
        (None, _) => CREATURE.into(),
    };
    format!(
        "sample:{} --graph example:{} {camera} --frames {} --background white --no-ground",
        example.sample, example.name, example.frame
    )
}

/// All pictures: name, and what `sinew render` makes it of.
fn all() -> Vec<(String, String)> {
    let of_node = |e: &Example| (e.name.to_owned(), by_sample(e));
    let others = PICTURES.iter().map(|(name, parts)| {
        let graph = format!("--graph examples/{name}.json");
        (name.to_string(), parts.join(" ").replace("GRAPH", &graph))
    });
    examples().map(of_node).chain(others).collect()
}

/// Other pictures; `GRAPH` is the example of its name in the folder `examples`.
const PICTURES: &[(&str, &[&str])] = &[
    (
        "vat_playback",
        &[
            "examples/vat/ripple.obj GRAPH",
            "--eye 0.7,0.8,1.5 --target 0,-0.03,0 --fov 36",
            "--frames 6 --background white --no-ground",
        ],
    ),
    (
        "hair_spike",
        &[
            "examples/hair_cases/spike.obj GRAPH",
            "--eye 0.72,0.45,0.04 --target 0,0.135,0 --fov 21",
            FALLEN,
        ],
    ),
    (
        "hair_pocket",
        &[
            "examples/hair_cases/pocket.obj GRAPH",
            "--eye 0.3,0.55,0.85 --target 0,0.05,0 --fov 26",
            FALLEN,
        ],
    ),
    (
        "hair_deep",
        &[
            "examples/hair_cases/block.obj GRAPH",
            "--eye 0.45,0.45,0.7 --target 0,0.16,0 --fov 26",
            "--frames 0 --background white --no-ground",
        ],
    ),
    (
        "hair_margins",
        &[
            "examples/hair_cases/log.obj GRAPH",
            "--eye 0.1,0.2,3 --target 0,0.1,0 --fov 6",
            FALLEN,
        ],
    ),
    (
        "custom_kernels",
        &["sample:arm GRAPH --device gpu", ARM, BENT],
    ),
    // Of its distances, a picture shows nothing; the tests of kernels compare them.
    ("kernel_sdf", &["sample:arm GRAPH", ARM, BENT]),
    (
        "on_a_device",
        &[
            "sample:arm --graph example:skin_delta_mush --device gpu",
            ARM,
            "--frames 54",
        ],
    ),
    ("shaded", &["sample:creature --frames 9", CREATURE]),
    (
        "transparent",
        &[
            "sample:creature --background transparent --frames 9",
            CREATURE,
        ],
    ),
    (
        "matcap",
        &[
            "sample:creature --look matcap --no-ground --frames 9",
            CREATURE,
        ],
    ),
    (
        "normals",
        &[
            "sample:arm --graph example:skin_delta_mush --look normals",
            ARM,
            BENT,
        ],
    ),
    ("uv", &["sample:ball --look uv", BALL, DONE]),
    ("weights", &["sample:arm --look weights", ARM, BENT]),
    (
        "weight",
        &["sample:arm --look weights:forearm --map magma", ARM, BENT],
    ),
    (
        "difference_mm",
        &[
            "sample:arm --graph example:smooth --look difference --range 0,20",
            ARM,
            BENT,
        ],
    ),
    (
        "morph_mm",
        &[
            "sample:arm --graph example:morph --look difference --lighting flat --range 0,10",
            ARM,
            BENT,
        ],
    ),
    (
        "blend_mm",
        &[
            "sample:arm --graph example:blend --look difference --lighting flat --range 0,15",
            ARM,
            BENT,
        ],
    ),
    (
        "skeleton",
        &["sample:creature --skeleton --frames 9", CREATURE],
    ),
    (
        "dots",
        &["sample:ball --graph example:lattice --dots", TALL, DONE],
    ),
    (
        "wireframe",
        &["sample:arm --wireframe --look clay", ARM, BENT],
    ),
];

/// Levels by which a pixel of another driver may differ without being counted.
const LEVELS: u8 = 8;

/// What is let pass. On software drivers a few pixels at edges differ between versions; other rasterisers place samples
/// differently and shade with other roundings.
#[derive(Clone, Copy)]
struct Tolerance {
    mean: f64,
    /// Of pixels that differ by more than [`LEVELS`].
    share: f64,
}
const SOFTWARE: Tolerance = Tolerance {
    mean: 0.1,
    share: 0.003,
};
const HARDWARE: Tolerance = Tolerance {
    mean: 0.6,
    share: 0.03,
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn stored(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures");
    folder.join(format!("{name}.png"))
}

fn render(line: &str, to: &Path, adapter: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    // What comes later counts: device and size may be said.
    command.args(["render", "--quiet", "--size", "96x96", "-o"]);
    command.arg(to).args(line.split_whitespace());
    if !line.contains("--device") {
        command.args(["--device", "cpu"]);
    }
    if let Some(adapter) = adapter {
        command.env("SINEW_ADAPTER", adapter);
    }
    let command = command.current_dir(root());
    command.output().expect("the program starts")
}

/// Mean difference of all channels, and share of the pixels that differ by more than [`LEVELS`]; and a picture of the differences.
fn compare(a: &Image, b: &Image) -> (f64, f64, Image) {
    let mut pixels = Vec::new();
    let (mut sum, mut count) = (0u64, 0usize);
    for (a, b) in a.pixels().iter().zip(b.pixels()) {
        let d: [u8; 4] = std::array::from_fn(|c| a[c].abs_diff(b[c]));
        sum += d.iter().map(|&x| u64::from(x)).sum::<u64>();
        count += usize::from(d.iter().any(|&x| x > LEVELS));
        let shown = d.map(|x| x.saturating_mul(8));
        pixels.push([shown[0].max(shown[3]), shown[1], shown[2], 255]);
    }
    let n = a.pixels().len() as f64;
    let difference = Image::from_pixels(a.width(), a.height(), pixels);
    (sum as f64 / (4.0 * n), count as f64 / n, difference)
}

/// What is wrong with one picture, if anything.
fn check(name: &str, line: &str, adapter: Option<&str>, allowed: Tolerance) -> Option<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = |what: &str| folder.join(format!("{name}_{what}.png"));
    let output = render(line, &path("actual"), adapter);
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Some(format!("{name}: {}: {said}", output.status));
    }
    let bless = std::env::var("SINEW_BLESS").is_ok_and(|v| v == "1");
    let store = || std::fs::copy(path("actual"), stored(name)).expect("stored");
    if bless && !stored(name).exists() {
        store();
    }
    let actual = read_png(&path("actual")).expect("a picture was drawn");
    let expected = match read_png(&stored(name)) {
        Ok(image) => image,
        Err(error) => return Some(format!("{name}: {error}; SINEW_BLESS=1 stores it")),
    };
    let size = |i: &Image| [i.width(), i.height()];
    if size(&actual) != size(&expected) {
        let sizes = [size(&actual), size(&expected)];
        return Some(format!(
            "{name}: size {:?}, expected {:?}",
            sizes[0], sizes[1]
        ));
    }
    let (mean, share, difference) = compare(&actual, &expected);
    if mean <= allowed.mean && share <= allowed.share {
        return None;
    }
    // A picture that is right is not stored again: other drivers make other bytes.
    if bless {
        store();
        return None;
    }
    write_png(&path("difference"), &difference).expect("written");
    std::fs::copy(stored(name), path("expected")).expect("copied");
    Some(format!(
        "{name}: mean difference {mean:.3} of 255 (at most {}), {:.2} % of pixels differ by more than {LEVELS} (at most {} %); see {}",
        allowed.mean,
        100.0 * share,
        100.0 * allowed.share,
        path("*").display()
    ))
}

/// The adapter to ask for and what to let pass there: software where there is one; `None` where there is no adapter at all.
fn adapter() -> Option<(Option<&'static str>, Tolerance)> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let probe = |adapter| {
        let to = folder.join("probe.png");
        let output = render("sample:ball", &to, adapter);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), said)
    };
    if std::env::var_os("SINEW_ADAPTER").is_none_or(|v| v == "software") {
        let (code, said) = probe(Some("software"));
        if code == Some(0) {
            return Some((Some("software"), SOFTWARE));
        }
        assert_eq!(code, Some(7), "{said}");
    }
    match probe(None) {
        (Some(0), _) => Some((None, HARDWARE)),
        (Some(7), said) => {
            let required = std::env::var("SINEW_REQUIRE_GPU").is_ok_and(|v| v == "1");
            assert!(!required, "{said}");
            None
        }
        (code, said) => panic!("{code:?}: {said}"),
    }
}

#[test]
fn pictures_are_those_stored() {
    if !cfg!(feature = "gpu") {
        return;
    }
    let Some((adapter, allowed)) = adapter() else {
        println!("skipped: no GPU adapter");
        return;
    };
    let all = all();
    let waiting = Mutex::new(all.iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = waiting.lock().expect("no panic").next();
                    let Some((name, line)) = next else { break };
                    let found = check(name, line, adapter, allowed);
                    wrong.lock().expect("no panic").extend(found);
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().expect("no panic");
    wrong.sort();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_example_and_node_has_a_picture() {
    let mut nodes = BTreeSet::new();
    for entry in std::fs::read_dir(root().join("examples")).expect("examples") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|e| e != "json") {
            continue;
        }
        let name = path.file_stem().expect("a name").to_string_lossy();
        let drawn = |p: &&(&str, &[&str])| p.0 == name && p.1[0].contains("GRAPH");
        assert!(
            PICTURES.iter().any(|p| drawn(&p)),
            "no picture of examples/{name}.json"
        );
        let document = sinew::play::Document::from_file(&path).expect("a document");
        let plan = document.compile().expect("a graph");
        nodes.extend(plan.nodes().iter().map(|n| n.desc.name));
    }
    for example in examples() {
        let document = sinew::play::Document::from_text(example.name, example.graph, "");
        let plan = document.compile().expect("a graph");
        nodes.extend(plan.nodes().iter().map(|n| n.desc.name));
    }
    for node in sinew::deform::REGISTRY {
        assert!(nodes.contains(node.name), "no picture shows {}", node.name);
    }
}

#[test]
fn stored_pictures_are_small_and_drawn() {
    let drawn = all();
    let folder = stored("x").with_file_name("");
    for entry in std::fs::read_dir(folder).expect("pictures") {
        let entry = entry.expect("an entry");
        let file = entry.file_name().to_string_lossy().into_owned();
        let bytes = entry.metadata().expect("a size").len();
        assert!(bytes <= 12_000, "{file} has {bytes} bytes");
        let name = file.trim_end_matches(".png");
        assert!(drawn.iter().any(|p| p.0 == name), "nothing draws {file}");
    }
}
