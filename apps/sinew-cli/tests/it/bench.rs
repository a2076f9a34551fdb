//! `sinew bench`.

use crate::common::{Place, printed, said};
use serde_json::Value;

/// Moves a square in two steps, the first one with a parameter.
const TWO: &str = r#"{"sinew": "1.0", "inputs": {"body": {"type": "mesh"}},
 "parameters": {"w": {"type": "float", "default": 1, "min": 0, "max": 1}, "n": {"type": "int", "default": 2}},
 "nodes": {"shift": {"node": "transform", "mesh": "body", "transform": {"translation": [0, 0, 1]}, "weight": "$w"},
           "soft": {"node": "smooth", "mesh": "shift", "iterations": "$n"}},
 "outputs": {"body": "soft"}}"#;

/// Whether there is an adapter; a missing one fails where one is required.
fn has_gpu(message: &str) -> bool {
    let missing = message.contains("no GPU adapter") || message.contains("without GPU support");
    let required = std::env::var("SINEW_REQUIRE_GPU").is_ok_and(|v| v == "1");
    assert!(!(missing && required && cfg!(feature = "gpu")), "{message}");
    !missing
}

fn json(p: &Place, arguments: &[&str]) -> (Value, String) {
    let mut all = vec!["bench"];
    all.extend_from_slice(arguments);
    all.extend_from_slice(&["--log-format", "json", "--frames", "3"]);
    let o = p.sinew(&all);
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    let report = serde_json::from_str(&printed(&o)).expect("JSON");
    (report, said(&o))
}

#[test]
fn every_node_is_timed_on_both_devices() {
    let p = Place::new();
    p.put("two.json", TWO);
    let (report, message) = json(
        &p,
        &["two.json", "square.obj", "--threads", "1", "--set", "n=5"],
    );
    assert_eq!(report["vertices"], 4);
    assert_eq!(report["threads"], 1);
    assert_eq!(report["frames"], 3);
    let positive = |v: &Value| v.as_f64().is_some_and(|v| v > 0.0);
    let cpu = &report["cpu"];
    assert!(positive(&cpu["us"]), "{cpu}");
    let names: Vec<&str> = cpu["nodes"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|n| n["node"].as_str())
        .collect();
    assert_eq!(names[..2], ["shift (transform)", "soft (smooth)"]);
    // Four vertices of twelve bytes in, as many out.
    assert_eq!(cpu["nodes"][0]["bytes"], 96);
    if !has_gpu(&message) {
        assert!(report["gpu"].is_null() && report["faster"].is_null());
        return;
    }
    let gpu = &report["gpu"];
    assert!(
        positive(&gpu["us"]) && positive(&gpu["host_us"]) && positive(&gpu["copy_gb_per_s"]),
        "{gpu}"
    );
    let faster = if gpu["us"].as_f64() < cpu["us"].as_f64() {
        "gpu"
    } else {
        "cpu"
    };
    assert_eq!(report["faster"], faster);
    if gpu["device_us"].is_null() {
        return;
    }
    let launches = gpu["launches"].as_array().expect("a list");
    let dispatches = |name: &str| -> u64 {
        let of = launches
            .iter()
            .filter(|l| l["launch"].as_str().is_some_and(|l| l.starts_with(name)));
        of.filter_map(|l| l["dispatches"].as_u64()).sum()
    };
    assert_eq!(dispatches("shift"), 1, "{gpu}");
    assert!(dispatches("soft.smooth") >= 1, "{gpu}");
}

#[test]
fn people_get_tables() {
    let p = Place::new();
    p.put("two.json", TWO);
    let o = p.sinew(&[
        "bench",
        "two.json",
        "square.obj",
        "--frames",
        "2",
        "--threads",
        "2",
    ]);
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    let text = printed(&o);
    assert!(
        text.starts_with("two.json on square.obj: 4 vertices, medians of 2 frames\n"),
        "{text}"
    );
    assert!(text.contains("\nCPU, 2 threads: "), "{text}");
    assert!(text.contains("  soft (smooth)\n"), "{text}");
    if has_gpu(&said(&o)) {
        assert!(
            text.contains("\nGPU, ") && text.contains("on the CPU"),
            "{text}"
        );
        assert!(text.contains(" times faster per frame: "), "{text}");
    }
}

#[test]
fn the_crossover_needs_neither_graph_nor_character() {
    let p = Place::new();
    let o = p.sinew(&[
        "bench",
        "--crossover=2000",
        "--frames",
        "1",
        "--log-format",
        "json",
    ]);
    if !has_gpu(&said(&o)) {
        assert_eq!(o.status.code(), Some(7), "{}", said(&o));
        return;
    }
    assert_eq!(o.status.code(), Some(0), "{}", said(&o));
    let report: Value = serde_json::from_str(&printed(&o)).expect("JSON");
    let sizes = report["crossover"]["sizes"].as_array().expect("a list");
    let vertices: Vec<u64> = sizes
        .iter()
        .filter_map(|s| s["vertices"].as_u64())
        .collect();
    assert_eq!(vertices, [992, 1980]);
    assert!(report["cpu"].is_null());
}

#[test]
fn what_is_missing_is_said() {
    let p = Place::new();
    for (arguments, code, message) in [
        (&["bench"][..], 2, "GRAPH"),
        (&["bench", "shift.json"], 2, "CHARACTER"),
        (
            &["bench", "shift.json", "square.obj", "--frames", "0"],
            2,
            "0 is not in 1..=100000",
        ),
        (&["bench", "nothing.json", "square.obj"], 4, "nothing.json"),
        (&["bench", "shift.json", "nothing.obj"], 3, "nothing.obj"),
        (
            &["bench", "shift.json", "square.obj", "--set", "v=1"],
            2,
            "v",
        ),
    ] {
        let o = p.sinew(arguments);
        assert_eq!(o.status.code(), Some(code), "{arguments:?}: {}", said(&o));
        assert!(said(&o).contains(message), "{arguments:?}: {}", said(&o));
    }
}
