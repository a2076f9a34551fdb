//! Kernels of a stranger: what would keep a driver busy for ever is refused, and what may not run unseen asks first.

use crate::common::{Place, said};
use std::process::Output;
use std::time::{Duration, Instant};

/// A graph with one kernel.
fn graph(text: &str) -> String {
    let kernel = serde_json::json!({
        "node": "kernel", "domain": "vertex", "text": text,
        "inputs": { "mesh": { "type": "mesh", "link": "body" } },
        "outputs": { "mesh": { "type": "mesh", "writes": ["positions"] } },
    });
    serde_json::json!({
        "sinew": "1.0", "inputs": { "body": { "type": "mesh" } }, "nodes": { "k": kernel }, "outputs": { "body": "k" },
    })
    .to_string()
}

/// Functions of which each calls the next twice.
fn doubling() -> String {
    let functions: String = (1..30)
        .map(|i| {
            let next = i - 1;
            format!("fn f{i}(p: vec3f) -> vec3f {{ return f{next}(p) - f{next}(p.yzx); }}\n")
        })
        .collect();
    format!(
        "fn f0(p: vec3f) -> vec3f {{ return p * 1.5; }}\n{functions}fn kernel(index: u32) {{ write_mesh_positions(index, f29(vec3f())); }}"
    )
}

/// Shapes that took a driver minutes or all memory, and what is said of them.
fn shapes() -> [(String, &'static str); 4] {
    let kernel = "fn kernel(index: u32) { let p = read_mesh_positions(index); t[index].x = p.x; write_mesh_positions(index, t[index + 1u].xyz + p); }";
    let array =
        |space: &str, count: u32| format!("var<{space}> t: array<vec4f, {count}>;\n{kernel}");
    let local = kernel.replacen('{', "{ var t: array<vec4f, 1000>;", 1);
    [
        (
            array("private", 1000),
            "private variables take 16000 bytes, but at most 2048 are allowed",
        ),
        (local, "take 16000 bytes, with those of its calls"),
        (
            array("workgroup", 5000),
            "a kernel cannot use workgroup memory",
        ),
        (doubling(), "operations, but at most 32768 are allowed"),
    ]
}

#[test]
fn heavy_kernels_are_refused_before_a_driver_sees_them() {
    let place = Place::new();
    let run = "run square.obj -g heavy.json --device gpu -o out.npz";
    for (text, message) in shapes() {
        place.put("heavy.json", &graph(&text));
        for line in ["check heavy.json", run] {
            let begun = Instant::now();
            let found = place.sinew(&line.split(' ').collect::<Vec<_>>());
            assert!(begun.elapsed() < Duration::from_secs(20), "{line}: {text}");
            let said = said(&found);
            assert_eq!(found.status.code(), Some(4), "{line}: {said}");
            assert!(said.contains(message), "{line}: {said}");
            assert!(said.contains("heavy.json:1:"), "{line}: {said}");
        }
    }
}

/// Whether a run failed for want of an adapter, where that is allowed.
fn has_no_adapter(found: &Output) -> bool {
    let missing = found.status.code() == Some(7) && said(found).contains("no GPU adapter");
    let required = std::env::var("SINEW_REQUIRE_GPU").is_ok_and(|v| v == "1");
    assert!(!missing || !required, "{}", said(found));
    missing
}

#[test]
fn a_loop_without_end_ends_and_is_told() {
    let place = Place::new();
    let text = graph("loop { } write_mesh_positions(index, vec3f(1.0));");
    place.put("endless.json", &text);
    let found = place.sinew(&["check", "endless.json"]);
    assert_eq!(found.status.code(), Some(0), "{}", said(&found));
    let line = "run square.obj -g endless.json --device gpu -o out.npz";
    let begun = Instant::now();
    let found = place.sinew(&line.split(' ').collect::<Vec<_>>());
    if has_no_adapter(&found) {
        return;
    }
    assert!(begun.elapsed() < Duration::from_secs(60));
    let said = said(&found);
    assert_eq!(found.status.code(), Some(5), "{said}");
    let told = "loops in its kernels with too many iterations";
    assert!(said.contains(told), "{said}");
    assert!(!place.path("out.npz").exists());
}

/// Puts a graph with this kernel into a character.
fn embed(place: &Place, text: &str, name: &str) {
    let from = place.path("plain.glb");
    sinew::io::gltf_write::embed_graph(&from, &graph(text), &place.path(name))
        .expect("a graph is text");
}

#[test]
fn graphs_within_characters_can_be_checked() {
    let place = Place::new();
    let made = place.sinew(&["run", "square.obj", "-g", "shift.json", "-o", "plain.glb"]);
    assert!(made.status.success(), "{}", said(&made));
    embed(
        &place,
        "write_mesh_positions(index, vec3f(1.0));",
        "hero.glb",
    );
    let [(heavy, message), ..] = shapes();
    embed(&place, &heavy, "heavy.glb");
    for (name, code, part) in [
        ("hero.glb", 0, "1 node, no errors"),
        ("heavy.glb", 4, message),
        ("plain.glb", 4, "the file has no embedded graph"),
    ] {
        let found = place.sinew(&["check", name]);
        assert_eq!(found.status.code(), Some(code), "{name}: {}", said(&found));
        assert!(said(&found).contains(part), "{name}: {}", said(&found));
    }
}

/// Software runs them without `--trust`; what hardware does is a unit test of `sinew-gpu`.
#[test]
fn kernels_within_characters_run_in_software_or_ask() {
    let place = Place::new();
    let made = place.sinew(&["run", "square.obj", "-g", "shift.json", "-o", "plain.glb"]);
    assert!(made.status.success(), "{}", said(&made));
    embed(
        &place,
        "write_mesh_positions(index, vec3f(1.0));",
        "hero.glb",
    );
    for trust in ["", " --trust"] {
        let line = format!("run hero.glb --frames 0 --device gpu -o out.npz{trust}");
        let found = place.sinew(&line.split(' ').collect::<Vec<_>>());
        if has_no_adapter(&found) {
            return;
        }
        let said = said(&found);
        let asks = found.status.code() == Some(2) && said.contains("add --trust");
        let in_software = said.contains("llvmpipe");
        let asks = asks && trust.is_empty() && !in_software;
        assert!(found.status.success() || asks, "{trust}: {said}");
    }
}
