//! `sinew run --device`.

use crate::common::{Place, said};
use std::process::{Command, Output};

fn run(p: &Place, device: &str, adapter: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(["run", "square.obj", "-g", "shift.json", "--set", "w=0.5"]);
    command.args(["-o", "out.obj", "--device", device]);
    command.current_dir(p.path("."));
    if let Some(adapter) = adapter {
        command.env("SINEW_ADAPTER", adapter);
    }
    command.output().expect("the program starts")
}

fn vertices(p: &Place) -> Vec<String> {
    let text = p.text("out.obj");
    let vertices = text.lines().filter(|l| l.starts_with("v "));
    vertices.map(str::to_owned).collect()
}

const MOVED: [&str; 4] = ["v 0 0 0.5", "v 1 0 0.5", "v 1 1 0.5", "v 0 1 0.5"];

#[test]
fn a_gpu_gives_the_same_file() {
    let p = Place::new();
    let o = run(&p, "gpu", None);
    if !cfg!(feature = "gpu") {
        assert_eq!(o.status.code(), Some(7), "{}", said(&o));
        return;
    }
    if o.status.code() == Some(7) && said(&o).contains("no GPU adapter") {
        let required = std::env::var("SINEW_REQUIRE_GPU").is_ok_and(|v| v == "1");
        assert!(!required, "{}", said(&o));
        println_skipped();
        return;
    }
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    assert!(said(&o).contains("runs on "), "{}", said(&o));
    assert_eq!(vertices(&p), MOVED);
}

#[test]
fn without_the_adapter_gpu_fails_and_auto_takes_the_cpu() {
    let p = Place::new();
    let o = run(&p, "gpu", Some("no such adapter"));
    assert_eq!(o.status.code(), Some(7), "{}", said(&o));
    assert!(!p.path("out.obj").exists(), "nothing is written");
    let o = run(&p, "auto", Some("no such adapter"));
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    assert_eq!(vertices(&p), MOVED);
    assert!(!said(&o).contains("runs on"), "{}", said(&o));
}

const KERNEL: &str = r#"{ "sinew": "1.0", "inputs": { "body": { "type": "mesh" } }, "nodes": {
  "shift": { "node": "kernel", "domain": "vertex", "inputs": { "mesh": { "type": "mesh", "link": "body" } },
    "outputs": { "mesh": { "type": "mesh", "writes": ["positions"] } }, "file": "shift.wgsl" } },
  "outputs": { "body": "shift" } }"#;

fn run_kernel(device: &str, adapter: Option<&str>) -> (Place, Output) {
    let p = Place::new();
    p.put("kernel.json", KERNEL);
    p.put(
        "shift.wgsl",
        "write_mesh_positions(index, read_mesh_positions(index) + vec3f(0.0, 0.0, 0.5));",
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args([
        "run",
        "square.obj",
        "-g",
        "kernel.json",
        "-o",
        "out.obj",
        "--device",
        device,
    ]);
    command.current_dir(p.path("."));
    if let Some(adapter) = adapter {
        command.env("SINEW_ADAPTER", adapter);
    }
    let output = command.output().expect("the program starts");
    (p, output)
}

#[test]
fn custom_kernels_run_on_the_cpu() {
    for (device, adapter) in [
        ("cpu", None),
        ("auto", None),
        ("auto", Some("no such adapter")),
    ] {
        let (p, o) = run_kernel(device, adapter);
        assert_eq!(o.status.code(), Some(0), "{device}: {}", said(&o));
        assert_eq!(vertices(&p), MOVED, "{device}");
    }
}

#[test]
fn custom_kernels_run_on_any_gpu() {
    let (p, o) = run_kernel("gpu", None);
    if o.status.code() == Some(7) {
        let required = std::env::var("SINEW_REQUIRE_GPU").is_ok_and(|v| v == "1");
        assert!(!required || !cfg!(feature = "gpu"), "{}", said(&o));
        println_skipped();
        return;
    }
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    assert_eq!(vertices(&p), MOVED);
}

#[test]
fn wrong_kernels_are_shown_in_their_file() {
    let p = Place::new();
    p.put("kernel.json", KERNEL);
    p.put(
        "shift.wgsl",
        "let p = read_mesh_positions(index);\nwrite_mesh_positions(index, q);",
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    let o = command
        .args(["check", "kernel.json"])
        .current_dir(p.path("."));
    let o = o.output().expect("the program starts");
    assert_eq!(o.status.code(), Some(4), "{}", said(&o));
    assert!(said(&o).contains("shift.wgsl:2:29"), "{}", said(&o));
}

#[expect(clippy::print_stdout, reason = "tests say what they skip")]
fn println_skipped() {
    println!("skipped: no GPU adapter");
}

/// Frames 0 to 1 save a state, 0 to 3 go on from it.
fn run_in_pieces(p: &Place, saving: &str, going_on: &str) -> [Output; 2] {
    let common = ["run", "square.obj", "-g", "shift.json", "-o"];
    let first = ["a.npz", "--frames", "0-1", "--save-state", "a.state"];
    let second = ["b.npz", "--frames", "0-3", "--state", "a.state"];
    [
        p.sinew(&[&common[..], &first, &["--device", saving]].concat()),
        p.sinew(&[&common[..], &second, &["--device", going_on]].concat()),
    ]
}

#[test]
fn states_go_on_where_they_were_saved() {
    let p = Place::new();
    let [o, _] = run_in_pieces(&p, "gpu", "gpu");
    if o.status.code() == Some(7) {
        let required = std::env::var("SINEW_REQUIRE_GPU").is_ok_and(|v| v == "1");
        assert!(!required || !cfg!(feature = "gpu"), "{}", said(&o));
        println_skipped();
        return;
    }
    for (saving, going_on, refused) in [
        ("gpu", "gpu", None),
        ("gpu", "auto", None),
        ("cpu", "cpu", None),
        ("cpu", "auto", None),
        (
            "gpu",
            "cpu",
            Some(
                "was saved on the GPU and can resume only there, but this run is on the CPU; use --device gpu",
            ),
        ),
        (
            "cpu",
            "gpu",
            Some(
                "was saved on the CPU and can resume only there, but this run is on the GPU; use --device cpu",
            ),
        ),
    ] {
        let p = Place::new();
        let [first, second] = run_in_pieces(&p, saving, going_on);
        assert_eq!(first.status.code(), Some(0), "{}", said(&first));
        let said = said(&second);
        match refused {
            None => {
                assert_eq!(second.status.code(), Some(0), "{saving} {going_on}: {said}");
                assert!(said.contains("resumes after frame 1"), "{said}");
                assert_eq!(said.contains("runs on "), saving == "gpu", "{said}");
            }
            Some(message) => {
                assert_eq!(second.status.code(), Some(3), "{saving} {going_on}: {said}");
                assert!(said.contains(message), "{said}");
                assert!(!p.path("b.npz").exists(), "nothing is written");
            }
        }
    }
    let p = Place::new();
    run_in_pieces(&p, "gpu", "gpu");
    let mut bytes = std::fs::read(p.path("a.state")).expect("saved");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(p.path("a.state"), &bytes).expect("write");
    let common = [
        "run",
        "square.obj",
        "-g",
        "shift.json",
        "-o",
        "b.npz",
        "--frames",
        "0-3",
    ];
    let o = p.sinew(&[&common[..], &["--state", "a.state", "--device", "gpu"]].concat());
    assert_eq!(o.status.code(), Some(3), "{}", said(&o));
    assert!(
        said(&o).contains("a.state: the saved state is damaged"),
        "{}",
        said(&o)
    );
}
