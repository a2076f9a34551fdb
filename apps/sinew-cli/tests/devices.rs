//! `sinew run --device`.

mod common;

use common::{Place, said};
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
fn a_graphics_device_gives_the_same_file() {
    let p = Place::new();
    let o = run(&p, "gpu", None);
    if !cfg!(feature = "gpu") {
        assert_eq!(o.status.code(), Some(7), "{}", said(&o));
        return;
    }
    if o.status.code() == Some(7) && said(&o).contains("no graphics adapter") {
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
fn without_the_adapter_gpu_fails_and_auto_takes_the_processor() {
    let p = Place::new();
    let o = run(&p, "gpu", Some("no such adapter"));
    assert_eq!(o.status.code(), Some(7), "{}", said(&o));
    assert!(!p.path("out.obj").exists(), "nothing is written");
    let o = run(&p, "auto", Some("no such adapter"));
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    assert_eq!(vertices(&p), MOVED);
    assert!(!said(&o).contains("runs on"), "{}", said(&o));
}

#[expect(clippy::print_stdout, reason = "tests say what they skip")]
fn println_skipped() {
    println!("skipped: no graphics adapter");
}
