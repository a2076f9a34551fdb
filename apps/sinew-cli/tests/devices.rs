//! `sinew run --device`.

use std::path::PathBuf;
use std::process::{Command, Output};
use tempfile::TempDir;

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
const SHIFT: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "parameters": {"w": {"type": "float", "default": 1, "min": 0, "max": 1}},
 "stack": [{"node": "transform", "transform": {"translation": [0, 0, 1]}, "weight": "$w"}]}"#;

struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(TempDir::new().expect("a temporary folder"));
        std::fs::write(place.path("square.obj"), SQUARE).expect("write");
        std::fs::write(place.path("shift.json"), SHIFT).expect("write");
        place
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    fn run(&self, device: &str, adapter: Option<&str>) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(["run", "square.obj", "-g", "shift.json", "--set", "w=0.5"]);
        command.args(["-o", "out.obj", "--device", device]);
        command.current_dir(self.0.path());
        if let Some(adapter) = adapter {
            command.env("SINEW_ADAPTER", adapter);
        }
        command.output().expect("the program starts")
    }
    fn vertices(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path("out.obj")).expect("written");
        let vertices = text.lines().filter(|l| l.starts_with("v "));
        vertices.map(str::to_owned).collect()
    }
}

fn said(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

const MOVED: [&str; 4] = ["v 0 0 0.5", "v 1 0 0.5", "v 1 1 0.5", "v 0 1 0.5"];

#[test]
fn a_graphics_device_gives_the_same_file() {
    let p = Place::new();
    let o = p.run("gpu", None);
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
    assert_eq!(p.vertices(), MOVED);
}

#[test]
fn without_the_adapter_gpu_fails_and_auto_takes_the_processor() {
    let p = Place::new();
    let o = p.run("gpu", Some("no such adapter"));
    assert_eq!(o.status.code(), Some(7), "{}", said(&o));
    assert!(!p.path("out.obj").exists(), "nothing is written");
    let o = p.run("auto", Some("no such adapter"));
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    assert_eq!(p.vertices(), MOVED);
    assert!(!said(&o).contains("runs on"), "{}", said(&o));
}

#[expect(clippy::print_stdout, reason = "tests say what they skip")]
fn println_skipped() {
    println!("skipped: no graphics adapter");
}
