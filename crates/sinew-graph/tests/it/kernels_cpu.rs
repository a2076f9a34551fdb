//! Custom kernels on the CPU, against closed forms. The same kernels on the CPU and the GPU: `crates/sinew/tests/it/kernels.rs`.

use sinew_deform::{Par, ParameterValue};
use sinew_graph::{Frame, InputBinding, Instance, NoNesting, compile};
use std::sync::Arc;

/// A cube; `more` are keys of the node.
fn instance(parameters: &str, more: &str, text: &str, outputs: &str) -> Instance {
    let text = serde_json::to_string(text).expect("text");
    let document = format!(
        r#"{{ "sinew": "1.0", "inputs": {{ "body": {{ "type": "mesh" }} }}, "parameters": {{ {parameters} }},
"nodes": {{ "mine": {{ "node": "kernel", "domain": "vertex", {more}, "text": {text} }} }}, "outputs": {{ {outputs} }} }}"#
    );
    let plan = compile("g.json", &document, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let mesh = Arc::new(sinew_testkit::meshes::cube());
    let inputs = vec![InputBinding::Mesh(mesh); plan.inputs().len()];
    Instance::bind(Arc::new(plan), &inputs, &[], Par::Seq).unwrap_or_else(|e| panic!("{e}"))
}

const MESH: &str = r#""inputs": { "mesh": { "type": "mesh", "link": "body" } }"#;
const UP: &str = r#""up": { "type": "float", "default": 0.5 }"#;

fn update(instance: &mut Instance, par: Par) {
    instance
        .update(&Frame::default(), par)
        .unwrap_or_else(|e| panic!("{e}"));
}

/// In each frame, with the parameters of the frame and the rest shape of the instance.
#[test]
fn a_kernel_moves_vertices() {
    let more = format!(
        r#"{MESH}, "outputs": {{ "mesh": {{ "type": "mesh", "writes": ["positions"] }} }}, "parameters": {{ "up": {{ "type": "float", "value": "$up" }} }}"#
    );
    let text = "write_mesh_positions(index, 2.0 * read_mesh_positions(index) - read_mesh_rest_positions(index) + vec3f(0.0, up(), 0.0));";
    let mut moved = instance(UP, &more, text, r#""body": "mine""#);
    let rest = sinew_testkit::meshes::cube().positions;
    let offsets = vec![[0.25, 0.0, -0.5]; rest.len()];
    for (up, offset) in [(0.5_f32, [0.0; 3]), (2.0, [0.0; 3]), (2.0, offsets[0])] {
        let value = ParameterValue::Float(up.into());
        moved.set_parameter("up", &value).expect("a parameter");
        let offsets = vec![offset; rest.len()];
        moved.set_rest_offsets("body", &offsets).expect("fits");
        for par in [Par::Seq, Par::Rayon] {
            update(&mut moved, par);
            let out = moved.mesh_output("body").expect("a mesh");
            for (p, q) in rest.iter().zip(out.positions) {
                assert_eq!([p[0] + offset[0], p[1] + up, p[2] + offset[2]], *q);
            }
        }
    }
}

/// Buffers of all elements, one kernel after the other.
#[test]
fn buffers_hold_all_elements() {
    let node = |name: &str, element: &str, write: &str, read: &str| {
        format!(
            r#""{name}": {{ "node": "kernel", "domain": "vertex", {MESH}, "text": "write_out(index, {write});",
  "outputs": {{ "out": {{ "type": "buffer", "element": "{element}" }} }} }},
"read_{name}": {{ "node": "kernel", "domain": "vertex", "text": "write_out(index, f32({read})); write_count(0u, f32(count_it) + f32(has_none));",
  "inputs": {{ "mesh": {{ "type": "mesh", "link": "body" }}, "it": {{ "type": "buffer", "element": "{element}", "link": "{name}" }},
    "none": {{ "type": "mask", "optional": true }} }},
  "outputs": {{ "out": {{ "type": "buffer", "element": "float" }}, "count": {{ "type": "buffer", "element": "float", "per": "mesh" }} }} }}"#
        )
    };
    let elements = [
        ("a", "float", "f32(index)", "read_it(index)"),
        ("b", "int", "-i32(index)", "-read_it(index)"),
        ("c", "uint", "index", "read_it(index)"),
        ("d", "vec2", "vec2f(9.0, f32(index))", "read_it(index).y"),
        (
            "e",
            "vec3",
            "vec3f(9.0, 8.0, f32(index))",
            "read_it(index).z",
        ),
        (
            "f",
            "vec4",
            "vec4f(9.0, 8.0, 7.0, f32(index))",
            "read_it(index).w",
        ),
    ];
    let nodes: Vec<String> = elements
        .iter()
        .map(|(n, e, w, r)| node(n, e, w, r))
        .collect();
    let outputs =
        elements.map(|(n, ..)| format!(r#""{n}": "read_{n}", "count_{n}": "read_{n}.count""#));
    let document = format!(
        r#"{{ "sinew": "1.0", "inputs": {{ "body": {{ "type": "mesh" }} }}, "nodes": {{ {} }}, "outputs": {{ {} }} }}"#,
        nodes.join(",\n"),
        outputs.join(", ")
    );
    let plan = compile("g.json", &document, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let mesh = Arc::new(sinew_testkit::meshes::cube());
    let vertices = mesh.vertex_count();
    let bound = Instance::bind(Arc::new(plan), &[InputBinding::Mesh(mesh)], &[], Par::Seq);
    let mut bound = bound.unwrap_or_else(|e| panic!("{e}"));
    update(&mut bound, Par::Seq);
    for (name, ..) in elements {
        let out = bound.float_output(name).expect("floats");
        assert!(
            out.iter().enumerate().all(|(i, v)| *v == i as f32),
            "{name}: {out:?}"
        );
        let count = bound
            .float_output(&format!("count_{name}"))
            .expect("floats");
        assert_eq!(count, [vertices as f32], "{name}");
    }
}

/// One element written by all: the last vertex wins, for any number of threads. Loops without end stop and mark positions.
#[test]
fn results_do_not_depend_on_threads() {
    let more = format!(
        r#"{MESH}, "parameters": {{ "up": {{ "type": "float", "value": "$up" }} }},
"outputs": {{ "mesh": {{ "type": "mesh", "writes": ["positions"] }}, "last": {{ "type": "buffer", "element": "float", "per": "mesh" }} }}"#
    );
    let text = "write_last(0u, f32(index) + up()); if index == 3u { loop { } } write_mesh_positions(index, vec3f(up()));";
    let mut all = instance(UP, &more, text, r#""body": "mine", "last": "mine.last""#);
    for par in [Par::Seq, Par::Rayon, Par::Rayon] {
        update(&mut all, par);
        let out = all.mesh_output("body").expect("a mesh");
        let last = out.positions.len() as f32 - 0.5;
        for (i, p) in out.positions.iter().enumerate() {
            assert!(
                if i == 3 {
                    p[0].is_nan()
                } else {
                    *p == [0.5; 3]
                },
                "{i}: {p:?}"
            );
        }
        assert_eq!(all.float_output("last"), Some(&[last][..]));
    }
}

/// Strands of 3, 2 and 4 vertices, each at x = its index.
fn hair() -> sinew_geom::Mesh {
    let strands = sinew_geom::Strands::new([3, 2, 4]).expect("valid");
    sinew_geom::Mesh {
        positions: (0..9).map(|i| [i as f32, 0.0, 0.0]).collect(),
        topology: sinew_geom::Topology::from_strands(strands).into(),
        ..sinew_geom::Mesh::default()
    }
}

/// Strands sum their vertices, a count sums the strands; both at the time of the frame.
#[test]
fn kernels_run_over_strands_and_counts() {
    let document = r#"{ "sinew": "1.0", "inputs": { "hair": { "type": "strands" } },
"nodes": {
  "sums": { "node": "kernel", "domain": "strand", "inputs": { "hair": { "type": "mesh", "link": "hair" } },
    "outputs": { "sum": { "type": "buffer", "element": "float", "per": "strand" } },
    "text": ["var sum = 0.0;",
      "for (var k = 0u; k < hair_strand_length(index); k++) { sum += read_hair_positions(hair_strand_first(index) + k).x; }",
      "write_sum(index, sum + frame_time());"] },
  "table": { "node": "kernel", "domain": { "count": 5 },
    "inputs": { "hair": { "type": "mesh", "link": "hair" }, "sums": { "type": "buffer", "element": "float", "link": "sums" } },
    "outputs": { "out": { "type": "buffer", "element": "float", "per": "mesh", "count": 5 } },
    "text": "write_out(index, read_sums(index) + 100.0 * f32(count_sums) + f32(hair_strand_length(index)));" } },
"outputs": { "sums": "sums", "table": "table" } }"#;
    let plan = Arc::new(compile("g.json", document, &NoNesting).unwrap_or_else(|e| panic!("{e}")));
    let bind = |mesh| {
        let inputs = [InputBinding::Mesh(Arc::new(mesh))];
        Instance::bind(plan.clone(), &inputs, &[], Par::Seq)
    };
    let mut bound = bind(hair()).unwrap_or_else(|e| panic!("{e}"));
    for time in [0.0, 0.25] {
        bound.update(&Frame::at(time), Par::Rayon).expect("fits");
        let t = time as f32;
        let sums = [3.0 + t, 7.0 + t, 26.0 + t];
        assert_eq!(bound.float_output("sums"), Some(&sums[..]));
        let table = [306.0 + t, 309.0 + t, 330.0 + t, 300.0, 300.0];
        assert_eq!(bound.float_output("table"), Some(&table[..]));
    }
}

#[test]
fn a_mesh_without_strands_is_refused() {
    let more = r#""inputs": { "mesh": { "type": "mesh", "link": "body" } },
"outputs": { "out": { "type": "buffer", "element": "float", "per": "strand" } }"#;
    let text = r#"{ "sinew": "1.0", "inputs": { "body": { "type": "mesh" } },
"nodes": { "mine": { "node": "kernel", "domain": "strand", MORE, "text": "write_out(index, 1.0);" } }, "outputs": { "out": "mine" } }"#;
    let text = text.replace("MORE", more);
    let plan = compile("g.json", &text, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let inputs = [InputBinding::Mesh(Arc::new(sinew_testkit::meshes::cube()))];
    let refused = Instance::bind(Arc::new(plan), &inputs, &[], Par::Seq).expect_err("no strands");
    assert_eq!(
        refused.to_string(),
        "g.json:2:12: node 'mine' (kernel): input 'mesh': the mesh has no strands, but the kernel runs over strands or writes a buffer per strand"
    );
}

/// Five rounds: what a round writes is what the next one reads. What no round is fed by is that of the last round; sums begin at zero in
/// each round.
#[test]
fn rounds_read_what_the_round_before_wrote() {
    let start = r#""start": { "node": "kernel", "domain": "vertex", "inputs": { "mesh": { "type": "mesh", "link": "body" } },
  "outputs": { "x": { "type": "buffer", "element": "float" } }, "text": "write_x(index, f32(index + 1u));" }"#;
    let rounds = r#""rounds": { "node": "kernel", "domain": "vertex", "repeat": 5,
  "inputs": { "mesh": { "type": "mesh", "link": "body" }, "rest": { "type": "mesh", "link": "body" },
    "x": { "type": "buffer", "element": "float", "link": "start" },
    "sum": { "type": "buffer", "element": "int", "optional": true } },
  "outputs": { "mesh": { "type": "mesh", "writes": ["positions"] }, "x": { "type": "buffer", "element": "float" },
    "sum": { "type": "buffer", "element": "int", "per": "mesh", "write": "atomic_add" },
    "seen": { "type": "buffer", "element": "float" } },
  "text": ["write_mesh_positions(index, read_mesh_positions(index) + read_rest_positions(index));",
    "write_x(index, 3.0 * read_x(index));", "add_sum(0u, 1 + 2 * read_sum(0u));",
    "write_seen(index, f32(read_sum(0u)));"] }"#;
    let document = format!(
        r#"{{ "sinew": "1.0", "inputs": {{ "body": {{ "type": "mesh" }} }}, "nodes": {{ {start}, {rounds} }},
"outputs": {{ "body": "rounds", "x": "rounds.x", "seen": "rounds.seen" }} }}"#
    );
    let plan = compile("g.json", &document, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<&str> = plan.nodes().iter().map(|n| n.name.as_str()).collect();
    let expected = "start rounds/1 rounds/2 rounds/3 rounds/4 rounds";
    assert_eq!(names.join(" "), expected);
    let mesh = Arc::new(sinew_testkit::meshes::cube());
    let count = mesh.vertex_count() as f32;
    let inputs = [InputBinding::Mesh(mesh.clone())];
    let bound = Instance::bind(Arc::new(plan), &inputs, &[], Par::Seq);
    let mut bound = bound.unwrap_or_else(|e| panic!("{e}"));
    update(&mut bound, Par::Seq);
    let out = bound.mesh_output("body").expect("a mesh");
    for (p, q) in mesh.positions.iter().zip(out.positions) {
        assert_eq!(p.map(|x| 6.0 * x), *q);
    }
    let x = bound.float_output("x").expect("floats");
    assert!(
        x.iter()
            .enumerate()
            .all(|(i, x)| *x == 243.0 * (i as f32 + 1.0))
    );
    // Each round adds 1 + 2 s for every vertex to zero, where s is the sum of the round before; the last one sees that of four rounds.
    let sum = (0..4).fold(0.0, |s, _| count * (1.0 + 2.0 * s));
    let seen = bound.float_output("seen").expect("floats");
    assert!(seen.iter().all(|s| *s == sum), "{seen:?}, {sum}");
}

/// Each frame doubles what the frame before left and adds one, for half of the vertices; the others keep what they had. A maximum of all
/// frames comes from an atomic buffer.
const PAST: &str = r#""inputs": { "mesh": { "type": "mesh", "link": "body" } },
"parameters": { "reset": { "type": "bool", "value": "$reset" }, "by": { "type": "int", "value": "$by" } },
"outputs": { "x": { "type": "buffer", "element": "float", "persistent": true },
  "most": { "type": "buffer", "element": "int", "per": "mesh", "write": "atomic_max", "persistent": true },
  "seen": { "type": "buffer", "element": "float" } },
"text": ["if index % 2u == 0u { write_x(index, 2.0 * last_x(index) + 1.0); }",
  "max_most(0u, by());",
  "write_seen(index, last_x((index + 2u) % vertex_count) + f32(last_most(0u)));"]"#;

#[test]
fn persistent_buffers_keep_their_values() {
    let document = format!(
        r#"{{ "sinew": "1.0", "inputs": {{ "body": {{ "type": "mesh" }} }},
"parameters": {{ "reset": {{ "type": "bool", "default": false }}, "by": {{ "type": "int", "default": 0 }} }},
"nodes": {{ "mine": {{ "node": "kernel", "domain": "vertex", {PAST} }} }}, "outputs": {{ "x": "mine.x", "seen": "mine.seen" }} }}"#
    );
    let plan = Arc::new(compile("g.json", &document, &NoNesting).unwrap_or_else(|e| panic!("{e}")));
    assert_eq!(plan.solvers().count(), 1);
    let mesh = Arc::new(sinew_testkit::meshes::cube());
    let new = || {
        let inputs = [InputBinding::Mesh(mesh.clone())];
        let bound = Instance::bind(plan.clone(), &inputs, &[], Par::Seq);
        bound.unwrap_or_else(|e| panic!("{e}"))
    };
    let mut bound = new();
    let (mut x, mut most) = (0.0_f32, i32::MIN);
    for (frame, by) in [3, -7, 12, 5, 1, 2, 20, 4].into_iter().enumerate() {
        let (reset, restored) = (frame == 3 || frame == 5, frame == 6);
        match frame {
            // As a parameter, as at a cut.
            3 | 4 => {
                let value = ParameterValue::Bool(frame == 3);
                bound.set_parameter("reset", &value).expect("a parameter");
            }
            5 => bound.reset(),
            _ => {}
        }
        if restored {
            let saved = bound.save_state();
            bound = new();
            bound
                .restore_state(&saved)
                .unwrap_or_else(|e| panic!("{e}"));
        }
        if reset {
            (x, most) = (0.0, i32::MIN);
        }
        bound
            .set_parameter("by", &ParameterValue::Int(by.into()))
            .expect("a parameter");
        update(&mut bound, [Par::Seq, Par::Rayon][frame % 2]);
        let seen = x + most as f32;
        (x, most) = (2.0 * x + 1.0, most.max(by));
        let out = bound.float_output("x").expect("floats");
        let expected = |i: usize| if i.is_multiple_of(2) { x } else { 0.0 };
        assert!(
            out.iter().enumerate().all(|(i, v)| *v == expected(i)),
            "{frame}: {out:?}"
        );
        let out = bound.float_output("seen").expect("floats");
        assert_eq!(out[0], seen, "{frame}");
    }
    let other = document.replace("\"per\": \"mesh\"", "\"per\": \"mesh\", \"count\": 2");
    let other = compile("g.json", &other, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let inputs = [InputBinding::Mesh(mesh.clone())];
    let other = Instance::bind(Arc::new(other), &inputs, &[], Par::Seq);
    let mut other = other.unwrap_or_else(|e| panic!("{e}"));
    assert!(other.restore_state(&bound.save_state()).is_err());
}

/// A ball and a plane. The kernel that looks them up runs in setup, as they never change.
#[test]
fn fields_are_looked_up() {
    let document = r#"{ "sinew": "1.0", "inputs": { "body": { "type": "mesh" } }, "nodes": {
  "ball": { "node": "solids", "capsules": [{ "from": [0.5, 1, 2], "to": [0.5, 1, 2], "radius": 0.25 }] },
  "floor": { "node": "solids", "planes": [{ "point": [0, -3, 0], "normal": [0, 0, 5] }] },
  "look": { "node": "kernel", "domain": "vertex",
    "inputs": { "mesh": { "type": "mesh", "link": "body" }, "ball": { "type": "field", "link": "ball" },
      "floor": { "type": "field", "link": "floor" } },
    "outputs": { "out": { "type": "buffer", "element": "float", "count": 4 } },
    "text": ["let p = read_mesh_positions(index); let slope = gradient_ball(p);",
      "write_out(4u * index, sample_ball(p)); write_out(4u * index + 1u, sample_floor(p));",
      "write_out(4u * index + 2u, slope.x); write_out(4u * index + 3u, gradient_floor(p).z);"] } },
"outputs": { "out": "look" } }"#;
    let plan = compile("g.json", document, &NoNesting).unwrap_or_else(|e| panic!("{e}"));
    let mesh = Arc::new(sinew_testkit::meshes::cube());
    let inputs = [InputBinding::Mesh(mesh.clone())];
    let bound = Instance::bind(Arc::new(plan), &inputs, &[], Par::Seq);
    let mut bound = bound.unwrap_or_else(|e| panic!("{e}"));
    update(&mut bound, Par::Seq);
    let out = bound.float_output("out").expect("floats");
    for (p, found) in mesh.positions.iter().zip(out.chunks_exact(4)) {
        let off = [p[0] - 0.5, p[1] - 1.0, p[2] - 2.0];
        let length = off.iter().map(|v| v * v).sum::<f32>().sqrt();
        for (found, expected) in found
            .iter()
            .zip([length - 0.25, p[2], off[0] / length, 1.0])
        {
            assert!((found - expected).abs() < 1e-6, "{p:?}: {found} {expected}");
        }
    }
}
